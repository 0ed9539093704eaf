"""The new row in a known table: against enumeration, whole convolutions and the truncated geometric itself."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import noisewright as nw
from noisewright.attacks.correlation import Correlation, CrossTable
from noisewright.attacks.new_row import TAIL, NewRow, binomial, sum_of
from noisewright.exceptions import DataError, ParameterError

tables = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=5)
epsilons = st.floats(0.05, 8)


def attack_on(rows: list[tuple[int, int]], value: int = 0) -> NewRow:
    columns = {"s": [f"s{s}" for s, _ in rows], "v": [v for _, v in rows]}
    return NewRow.from_table(columns, "s", "v", value, order=range(4))


def noise_matrix(size: int, epsilon: float, noise: str) -> np.ndarray:
    if noise == "response":
        return nw.randomised_response(list(range(size)), epsilon=epsilon).channel().matrix
    return nw.geometric(epsilon=epsilon, within=(0, size - 1)).channel().matrix


@given(tables, epsilons, st.integers(0, 3), st.sampled_from(["geometric", "response"]))
@settings(max_examples=40)
def test_05_in7_noise_on_rows_against_all_reports(
    rows: list[tuple[int, int]], epsilon: float, value: int, noise: str
) -> None:
    """Every report that every row, old and new, can make is listed with its probability."""
    matrix = noise_matrix(4, epsilon, noise)
    prior = {pair: rows.count(pair) / len(rows) for pair in set(rows)}
    secret: dict[tuple[int, int], float] = {}
    counted: dict[tuple[bool, int], float] = {}
    for (s, v), p in prior.items():
        for reports in itertools.product((0, 1), repeat=len(rows) + 1):
            chance = p
            for report, true in zip(reports, [*(w for _, w in rows), v], strict=True):
                chance *= matrix[true, value] if report else 1 - matrix[true, value]
            y = sum(reports)
            secret[s, y] = secret.get((s, y), 0.0) + chance
            counted[v == value, y] = counted.get((v == value, y), 0.0) + chance
    ys = range(len(rows) + 2)
    most = max(sum(p for (s, _), p in prior.items() if s == t) for t in range(3))
    loss = sum(max(secret.get((s, y), 0.0) for s in range(3)) for y in ys) / most
    utility = sum(max(counted.get((u, y), 0.0) for u in (False, True)) for y in ys)
    found = attack_on(rows, value).local(epsilon=epsilon, noise=noise)
    assert found.privacy_loss == pytest.approx(loss, abs=1e-6)  # the mechanisms' own tables are certified, so rounded
    assert found.utility == pytest.approx(utility, abs=1e-6)


@pytest.mark.parametrize("noise", ["geometric", "response"])
@pytest.mark.parametrize("value", range(4))
def test_the_vote_of_every_value_is_its_entry_in_the_noise(value: int, noise: str) -> None:
    """One old row, so the noisy count is the sum of two votes: the entries of the mechanism's own table, at every place."""
    chance = noise_matrix(4, 1.0, noise)[:, value]
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    attack = NewRow(Correlation(np.diag(prior)), (1, 0, 0, 0), value)
    others = np.array([1 - chance[0], chance[0]])
    after = np.array([np.convolve(others, (1 - t, t)) for t in chance])
    found = attack.local(epsilon=1, noise=noise)
    assert found.privacy_loss == pytest.approx((prior[:, None] * after).max(axis=0).sum() / 0.4, abs=1e-9)
    inside = prior[value] * after[value]
    rest = (prior[:, None] * after).sum(axis=0) - inside
    assert found.utility == pytest.approx(np.maximum(inside, rest).sum(), abs=1e-9)


@given(tables, epsilons, st.integers(0, 3))
def test_05_in7_noise_on_the_count_against_the_truncated_geometric(
    rows: list[tuple[int, int]], epsilon: float, value: int
) -> None:
    """The geometric on all counts from 0 to N + 1, at the ends of the range too."""
    attack = attack_on(rows, value)
    n, c, a = len(rows), sum(v == value for _, v in rows), math.exp(-epsilon)
    weights = np.array([1 / (1 + a), *[(1 - a) / (1 + a)] * n, 1 / (1 + a)])
    law = [weights * a ** np.abs(np.arange(n + 2) - k) for k in (c, c + 1)]
    joint = attack.correlation.joint
    place = attack.correlation.inputs.index(value)
    inside = joint[:, place]
    outside = joint.sum(axis=1) - inside
    loss = (np.outer(outside, law[0]) + np.outer(inside, law[1])).max(axis=0).sum() / joint.sum(axis=1).max()
    utility = np.maximum(outside.sum() * law[0], inside.sum() * law[1]).sum()
    found = attack.oblivious(epsilon=epsilon)
    assert found.privacy_loss == pytest.approx(loss, abs=1e-12)
    assert found.utility == pytest.approx(utility, abs=1e-12)
    assert found.error == 0


@given(tables, epsilons, st.integers(0, 3), st.sampled_from(["geometric", "response"]))
def test_measures_stay_on_their_scale(rows: list[tuple[int, int]], epsilon: float, value: int, noise: str) -> None:
    attack = attack_on(rows, value)
    limits = attack.limits
    count, local = attack.oblivious(epsilon=epsilon), attack.local(epsilon=epsilon, noise=noise)
    assert 1 <= count.privacy_loss <= limits.privacy_loss + 1e-12 <= limits.full_leak + 2e-12
    assert 1 <= local.privacy_loss <= limits.full_leak + 1e-12
    for found in (count, local):
        assert limits.blind <= found.utility <= 1


def test_whole_convolutions_agree_on_a_table_of_thousands() -> None:
    """Six binomials over their whole range, as scipy has them."""
    counts = np.array([2361, 16, 15, 15, 9288, 15])
    attack = NewRow(Correlation(np.diag(counts) / counts.sum()), tuple(counts), 0)
    for power in (5, 200, 1000):
        a = 1 / power
        chances = (1 / (1 + a)) * a ** np.arange(6)
        law = np.ones(1)
        for n, t in zip(counts, chances, strict=True):
            law = np.convolve(law, stats.binom.pmf(np.arange(n + 1), n, t))
        after = [np.append(law, 0) * (1 - t) + np.append(0, law) * t for t in chances]
        joint = (counts / counts.sum())[:, None] * np.array(after)
        found = attack.local(epsilon=math.log(power))
        assert found.privacy_loss == pytest.approx(joint.max(axis=0).sum() / (9288 / counts.sum()), abs=1e-10)
        utility = np.maximum(joint[0], joint[1:].sum(axis=0)).sum()
        assert found.utility == pytest.approx(utility, abs=1e-10)
        assert found.error < 1e-17


def test_noise_on_rows_can_tell_what_the_exact_count_does_not() -> None:
    """Nobody has the counted value; its neighbours are all of one sensitive kind, and are taken for it now and then."""
    attack = NewRow.from_counts(CrossTable(np.array([[0, 0, 4], [0, 3, 0]]), ("x", "y"), (0, 1, 2)), 0)
    assert attack.limits.privacy_loss == 1
    assert attack.oblivious(epsilon=2).privacy_loss == 1
    assert attack.local(epsilon=2).privacy_loss == pytest.approx(1.0077, abs=1e-4)


def test_a_million_rows_take_the_space_of_thousands() -> None:
    law = sum_of([(1_000_000, 0.3), (500_000, 0.01)])
    assert len(law.chances) < 20_000
    assert law.mean == pytest.approx(305_000, abs=1e-6)
    assert law.chances.sum() == pytest.approx(1, abs=1e-12)
    exact = stats.binom.pmf(np.arange(299_000, 301_000), 1_000_000, 0.3)
    alone = binomial(1_000_000, 0.3)
    assert alone.chances[299_000 - alone.start :][:2000] == pytest.approx(exact, rel=1e-9)


@given(st.lists(st.tuples(st.integers(0, 400), st.floats(0, 1)), min_size=1, max_size=5))
def test_sums_agree_with_whole_convolutions_and_leave_out_what_they_say(parts: list[tuple[int, float]]) -> None:
    whole = np.ones(1)
    for size, chance in parts:
        whole = np.convolve(whole, stats.binom.pmf(np.arange(size + 1), size, chance))
    law = sum_of(parts)
    end = law.start + len(law.chances)
    assert law.chances == pytest.approx(whole[law.start : end], rel=1e-8, abs=1e-15)
    assert whole[: law.start].sum() + whole[end:].sum() <= law.left_out * 1.01 + 1e-300
    assert law.left_out <= 4 * len(parts) * TAIL


@given(st.integers(0, 3000), st.floats(0, 1))
def test_the_binomial_agrees_with_scipy_and_leaves_out_what_it_says(size: int, chance: float) -> None:
    law = binomial(size, chance)
    support = law.start + np.arange(len(law.chances))
    assert law.chances == pytest.approx(stats.binom.pmf(support, size, chance), rel=1e-8, abs=1e-15)
    outside = stats.binom.cdf(law.start - 1, size, chance) + stats.binom.sf(support[-1], size, chance)
    assert outside <= law.left_out * 1.01 + 1e-300
    assert law.left_out in (0.0, TAIL)


# What it is asked about ----------------------------------------------------------------------------------------------------


def test_order_matters_for_geometric_noise_and_not_for_response() -> None:
    table = {"s": ["a"] * 30 + ["b"] * 30, "v": ["red"] * 25 + ["green"] * 5 + ["blue"] * 20 + ["green"] * 10}
    orders = [["red", "green", "blue"], ["green", "red", "blue"]]
    attacks = [NewRow.from_table(table, "s", "v", "red", order=order) for order in orders]
    geometric = [a.local(epsilon=3).utility for a in attacks]
    response = [a.local(epsilon=3, noise="response").utility for a in attacks]
    assert abs(geometric[0] - geometric[1]) > 0.01
    assert response[0] == pytest.approx(response[1], abs=1e-12)
    assert [a.nominal for a in attacks] == [False, False]
    assert NewRow.from_table(table, "s", "v", "red").nominal
    assert not NewRow.from_table({"s": [1, 2], "v": ["no", "yes"]}, "s", "v", "no").nominal


def test_epsilons_come_with_what_they_are_counted_by() -> None:
    attack = attack_on([(0, 0), (1, 2)])
    assert attack.oblivious(epsilon="1/2").per == "for each row that is added or taken away"
    assert attack.local(epsilon=1).per == "for each place between two values in their order"
    assert attack.local(epsilon=1, noise="response").to_json()["per"] == "between any two values of a row"
    assert attack.oblivious(epsilon="1/2").epsilon == 0.5


def test_a_column_with_one_value_tells_nothing() -> None:
    attack = NewRow.from_table({"s": ["a", "b"], "v": [1, 1]}, "s", "v", 1)
    for noise in ("geometric", "response"):
        found = attack.local(epsilon=1, noise=noise)
        assert (found.privacy_loss, found.utility) == (1.0, 1.0)


def test_endless_epsilon_is_no_noise() -> None:
    attack = attack_on([(0, 0), (0, 0), (1, 1), (2, 3), (1, 0)])
    for found in (
        attack.oblivious(epsilon=2000),
        attack.local(epsilon=2000),
        attack.local(epsilon=30, noise="response"),
    ):
        assert found.privacy_loss == pytest.approx(attack.limits.privacy_loss, abs=1e-3)
        assert found.utility == pytest.approx(1, abs=1e-3)


def test_bad_questions_are_refused() -> None:
    pi = Correlation(np.full((2, 2), 0.25))
    with pytest.raises(ParameterError, match="none of the 2 values"):
        NewRow(pi, (1, 1), 7)
    for rows in ((1,), (1, -1), (0.5, 1), "ab"):
        with pytest.raises(ParameterError, match="rows must be 2 whole numbers"):
            NewRow(pi, rows, 0)  # type: ignore[arg-type]
    attack = NewRow(pi, (3, 4), 0)
    for epsilon in (0, -1, float("nan"), "much"):
        with pytest.raises(ParameterError, match="epsilon"):
            attack.oblivious(epsilon=epsilon)
    with pytest.raises(ParameterError, match="noise must be"):
        attack.local(epsilon=1, noise="laplace")
    with pytest.raises(DataError, match="no column"):
        NewRow.from_table({"s": [1]}, "s", "v", 1)
