"""What one comparison says must not contradict itself, nor claim about rounded numbers what holds of exact ones only."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refinement_support import Rows, product, random_rows, rows, worth

import noisewright as nw
from noisewright.channels.channel import Channel
from noisewright.exceptions import ParameterError
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN
from noisewright.qif.refinement.average_case import average_refined, project
from noisewright.qif.refinement.compare import Comparison, compare
from noisewright.qif.refinement.decisions import neighbours
from noisewright.qif.refinement.exact_channel import read
from noisewright.qif.refinement.families import (
    exponential_family,
    from_callable,
    geometric_family,
    over_truncated_family,
    response_family,
)
from noisewright.qif.refinement.lattice import hasse
from noisewright.qif.refinement.max_case import max_refined
from noisewright.qif.refinement.privacy import metric_refined, privacy_refined
from noisewright.qif.refinement.replacement import replacement_table, safe_replacement
from noisewright.qif.refinement.witness import GainWitness, PosteriorWitness

FLAT = rows("1/2 1/2; 1/2 1/2")


def statuses(found: Comparison, way: str = "forward") -> list[str]:
    return [getattr(both, way).status for both in found.orders().values()]


def agrees(found: Comparison) -> bool:
    """No order holds where one that follows from it fails."""
    for way in ("forward", "backward"):
        seen = statuses(found, way)
        if any(s.startswith("holds") and FAILS in seen[k:] for k, s in enumerate(seen)):
            return False
    return True


@pytest.mark.parametrize("family", [geometric_family, response_family, exponential_family])
def test_a_member_that_rounds_to_equal_rows_still_tells_something(family: Any) -> None:
    faint = family.member(epsilon="1e-20", size=2)
    assert np.ptp(faint.channel().matrix, axis=0).max() == 0  # floats do not see it
    found = compare(FLAT, faint)
    assert statuses(found) == [FAILS] * 3
    assert statuses(found, "backward") == [EXACT] * 3
    assert found.privacy.forward.witness.before == 0.0
    assert found.privacy.forward.witness.after == math.inf


def test_members_that_round_to_the_same_floats_are_not_called_equal() -> None:
    clamped = over_truncated_family(0, 1)
    one, more = clamped.member(epsilon=1, size=3), clamped.member(epsilon=1 + Fraction(1, 10**30), size=3)
    assert np.array_equal(one.channel().logs, more.channel().logs)
    assert EXACT not in statuses(compare(one, more))
    # One and the same member is: by its parameters, not by its floats.
    assert statuses(compare(one, clamped.member(epsilon=1, size=3)))[:2] == [EXACT, EXACT]
    assert EXACT not in statuses(compare(FLAT, over_truncated_family(0, 1).member(epsilon="1e-20", size=2)))


def test_the_channel_of_a_users_family_is_taken_as_given() -> None:
    coin = from_callable("coin", lambda _: Channel([[0.75, 0.25], [0.25, 0.75]]))
    assert read(coin.member(epsilon=1)).exact == rows("3/4 1/4; 1/4 3/4")
    assert read(geometric_family.member(epsilon=1, size=3)).rounded_from is not None


def test_a_rare_output_that_tells_all_fails_every_order() -> None:
    """Each entry is within 1e-9 of a refinement, but whoever sees output 1 knows the secret."""
    old, new = Channel([[1.0], [1.0]]), Channel([[1 - 1e-9, 1e-9, 0.0], [1 - 1e-9, 0.0, 1e-9]])
    assert average_refined(old, new).status == WITHIN
    found = compare(old, new)
    assert statuses(found) == [FAILS] * 3
    witness = found.average.forward.witness
    assert isinstance(witness, GainWitness)
    assert witness.confirm(read(old), read(new)) == witness.gap > 0
    assert "misses by" in found.average.forward.reason
    assert "may not replace" in found.in_words()[0]


def test_outputs_known_by_logarithms_alone_count() -> None:
    told = Channel.from_logs([[-800.0, 0.0], [-820.0, 0.0]])
    found = compare(Channel([[0.5, 0.5], [0.5, 0.5]]), told, metric="discrete")
    assert statuses(found) == [FAILS] * 4
    assert isinstance(found.max.forward.witness, PosteriorWitness)
    assert found.max.forward.witness.output == 0
    # The posterior after the rare output of the safer one lies between those of the other.
    sharper, safer = (
        Channel.from_logs([[-800.0, 0.0], [-802.0, 0.0]]),
        Channel.from_logs([[-800.0, 0.0], [-801.0, 0.0]]),
    )
    both = compare(sharper, safer)
    assert statuses(both) == [WITHIN] * 3
    assert statuses(both, "backward") == [FAILS] * 3


def test_logarithms_too_long_for_integers_leave_the_max_order_open() -> None:
    a, b = Channel.from_logs([[-2e8, 0.0], [-3e8, 0.0]]), Channel.from_logs([[-2e8, 0.0], [-2.5e8, 0.0]])
    assert read(a).lost
    found = compare(a, b)
    assert found.max.forward.status == UNDECIDED
    assert statuses(found, "backward") == [FAILS] * 3  # the privacy order sees it, and the others follow


@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([1e-3, 1e-9, 1e-13]), st.sampled_from([1e-8, 0.0]))
def test_implications_hold_within_every_comparison_of_floats(seed: int, n: int, rare: float, tol: float) -> None:
    rng = np.random.default_rng(seed)
    a = np.array(random_rows(rng, n, 4), dtype=float)
    b = a @ np.array(random_rows(rng, 4, 3), dtype=float)
    extra = np.array(random_rows(rng, n, 2), dtype=float)
    found = compare(
        Channel(a, normalise=True), Channel(np.hstack([(1 - rare) * b, rare * extra]), normalise=True), tol=tol
    )
    assert agrees(found)


@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([5.0, 900.0, 3000.0]))
def test_implications_hold_within_every_comparison_of_logarithms(seed: int, n: int, spread: float) -> None:
    rng = np.random.default_rng(seed)

    def channel(rows: int, columns: int) -> Channel:
        logs = -rng.random((rows, columns)) * spread
        logs[np.arange(rows), rng.integers(0, columns, rows)] = 0.0
        return Channel.from_logs(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))

    found = compare(channel(n, 3), channel(n, 4), metric="line")
    assert agrees(found)
    assert json.dumps(found.to_json(), allow_nan=False)


@given(st.integers(0, 10**6), st.integers(2, 4), st.sampled_from([9, 25, 320]))
def test_witnesses_of_the_smallest_differences_show_them(seed: int, n: int, digits: int) -> None:
    rng = np.random.default_rng(seed)
    a = random_rows(rng, n, 3)
    b = [list(row) for row in product(a, random_rows(rng, 3, 3))]
    x, y = int(rng.integers(n)), int(rng.integers(3))
    moved = b[x][y] / 10**digits
    b[x][y] -= moved
    b[x][(y + 1) % 3] += moved
    found = compare(a, b, metric="discrete")
    for way, (old, new) in (("forward", (a, b)), ("backward", (b, a))):
        seen = statuses(found, way)
        assert set(seen[:3]) <= {EXACT, FAILS}
        for both in (found.privacy, found.fixed):
            assert both is not None
            one = getattr(both, way)
            assert one.status != FAILS or one.witness.after > one.witness.before
        average = getattr(found.average, way)
        if average.status == FAILS:
            assert worth(average.witness.exact, new) - worth(average.witness.exact, old) == average.witness.gap > 0
        assert (getattr(found.privacy, way).status == FAILS) == _told_better(old, new)


def _told_better(old: Any, new: Any) -> bool:
    def ratio(channel: Any, i: int, j: int) -> Any:
        pairs = [(u, v) for u, v in zip(channel[i], channel[j], strict=True) if u or v]
        return math.inf if any(not u or not v for u, v in pairs) else max(max(u / v, v / u) for u, v in pairs)

    return any(ratio(new, i, j) > ratio(old, i, j) for i in range(len(old)) for j in range(i))


def test_a_certified_table_is_compared_with_powers_of_e_beyond_floats() -> None:
    """The certified exponential is calibrated to at most epsilon 1 per unit, and the geometric has exactly 1."""
    drawn = nw.exponential([0, 1, 2, 3], epsilon=1)
    exact = nw.geometric(epsilon=1, within=(0, 3))
    assert privacy_refined(exact, drawn).status == EXACT
    assert metric_refined(exact, drawn, "line").status in (EXACT, WITHIN)
    # e^(-1) between two neighbouring fractions: only one of them is as private.
    low = Fraction("0.3678794411714423215955")  # e^(-1) = 0.36787944117144232159552377..
    high = low + Fraction(1, 10**22)
    member = geometric_family.member(epsilon=1, size=2)

    def coin(factor: Fraction) -> Rows:
        return ((1 / (1 + factor), factor / (1 + factor)), (factor / (1 + factor), 1 / (1 + factor)))

    assert privacy_refined(member, coin(high)).status == EXACT
    assert privacy_refined(member, coin(low)).status == FAILS
    assert privacy_refined(coin(low), member).status == EXACT
    failed = privacy_refined(coin(high), member)
    assert failed.status == FAILS
    assert failed.witness.after > failed.witness.before == 1.0


def test_a_certified_table_may_be_replaced_by_a_power_of_e_exactly() -> None:
    drawn, noisy = nw.exponential([0, 1, 2, 3], epsilon=8), nw.geometric(epsilon=1, within=(0, 3))
    assert statuses(compare(drawn, noisy)) == [EXACT] * 3
    made = compare(drawn, noisy).average.forward.witness
    assert made.residual < 1e-12
    assert np.abs(read(drawn).floats @ made.channel.matrix - read(noisy).floats).max() <= made.residual


@pytest.mark.parametrize("family", [geometric_family, response_family, exponential_family])
@pytest.mark.parametrize("epsilon", ["1e-9", "1", "300"])
def test_neighbours_are_on_both_sides_of_a_member(family: Any, epsilon: str) -> None:
    member = family.member(epsilon=epsilon, size=4)
    found = neighbours(member)
    assert found is not None
    sharper, safer = found
    assert sharper.exact
    assert safer.exact
    assert sharper.decay.epsilon_up() >= member.decay.epsilon_down()
    assert safer.decay.epsilon_down() <= member.decay.epsilon_up()
    assert [average_refined(*pair).status for pair in ((sharper, member), (member, safer))] == [EXACT, EXACT]
    assert [average_refined(*pair).status for pair in ((member, sharper), (safer, member))] == [FAILS, FAILS]


@pytest.mark.parametrize("order", ["average", "max"])
def test_safe_replacements_of_exact_channels_are_below_the_limit(order: str) -> None:
    """The response with a = 1/2 on 3 secrets: e + e^2 = 3 at the limit, so e^epsilon = (sqrt(13) - 1) / 2."""
    plain = rows("1/2 1/4 1/4; 1/4 1/2 1/4; 1/4 1/4 1/2")
    found = safe_replacement(plain, "geometric", order=order)
    limit = math.log((math.sqrt(13) - 1) / 2)
    assert limit - 2e-9 < found.epsilon < limit
    assert found.refinement.status == EXACT


@pytest.mark.parametrize("order", ["average", "max"])
@pytest.mark.parametrize(
    "old",
    [
        over_truncated_family(0, 1).member(decay="1/4", size=3),
        rows("1/3 2/3; 1/3 2/3; 1/3 2/3"),
        Channel([[0.3, 0.7]] * 3),
    ],
    ids=["over-truncated", "constant", "constant floats"],
)
def test_05_fact25_only_a_constant_channel_replaces_what_is_rank_deficient(old: Any, order: str) -> None:
    assert safe_replacement(old, "response", order=order).epsilon < 1e-10


def test_witness_metrics_of_members_near_epsilon_0_and_at_it() -> None:
    old, new = (family.member(epsilon="1e-90", size=5) for family in (exponential_family, geometric_family))
    failed = privacy_refined(old, new)
    assert failed.status == FAILS
    assert failed.witness.after == pytest.approx(8 / 7, rel=1e-6)
    silent = privacy_refined(geometric_family.member(epsilon=0, size=3), geometric_family.member(epsilon=1, size=3))
    assert (silent.witness.before, silent.witness.after) == (0.0, math.inf)


def test_sums_of_an_exponential_near_epsilon_0_keep_their_digits() -> None:
    member = exponential_family.member(epsilon="1e-80", size=7)
    assert member.log_sums() == pytest.approx(np.full(7, math.log(7)), abs=1e-15)


def test_an_infinite_epsilon_is_plain_data() -> None:
    found = compare([["1/2", "1/2"], ["1/2", "1/2"]], [[1, 0], [0, 1]], metric="discrete")
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["orders"]["discrete metric"]["forward"]["residual"] == "inf"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: compare(FLAT, FLAT, names=("A",)), "names are two pieces of text"),  # type: ignore[arg-type]
        (lambda: compare(FLAT, FLAT, names="AB"), "names are two pieces of text"),  # type: ignore[arg-type]
        (lambda: compare(FLAT, "1/2"), "not str"),
        (lambda: compare({"a": 1}, FLAT), "not dict"),
        (lambda: privacy_refined(FLAT, FLAT, math.nan), "tol is"),
        (lambda: metric_refined(FLAT, FLAT, "line", -1.0), "tol is"),
        (lambda: max_refined(FLAT, FLAT, True), "tol is"),
        (lambda: geometric_family.member(epsilon=1, secrets=3), "different names"),  # type: ignore[arg-type]
        (lambda: geometric_family.member(epsilon=1, secrets=("a", "a")), "different names"),
        (lambda: geometric_family.member(epsilon=1, secrets="abc"), "different names"),  # type: ignore[arg-type]
        (lambda: geometric_family.member(epsilon=1, secrets=([1], [2])), "different names"),  # type: ignore[arg-type]
        (lambda: replacement_table(epsilons=1, size=3), "epsilons are a list"),  # type: ignore[arg-type]
        (lambda: replacement_table("geometric", epsilons=[1]), "families are a list"),
    ],
)
def test_what_is_no_comparison_is_refused_in_a_sentence(call: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        call()
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_what_refines_is_its_own_projection(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    a = random_rows(rng, n, 3)
    found = project(a, product(a, random_rows(rng, 3, 3)))
    assert found.distance < 1e-12
    assert found.witness is None


@pytest.mark.parametrize("things", [None, ["geometric"], {"one": 3}])
def test_what_is_no_diagram_is_refused_in_a_sentence(things: Any) -> None:
    with pytest.raises(ParameterError, match=r"\.$"):
        hasse(things)
