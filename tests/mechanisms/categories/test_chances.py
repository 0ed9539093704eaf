"""Small tables of chances: their privacy is decided exactly, both ways, and certificates cannot be forged."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker.checker import NotProved, check, digest
from noisewright.exceptions import GuaranteeError, ParameterError
from noisewright.mechanisms.categorical.probability_table import Chances, check_promise

LN3 = "1.0986122886681096913952452369225257046474905578227"  # and then 494517...


def table(*rows: tuple[int, ...]) -> Chances:
    names = tuple(range(len(rows)))
    return Chances(tuple(rows), sum(rows[0]), names, tuple(range(len(rows[0]))))


@st.composite
def tables(draw: st.DrawFn) -> Chances:
    size, columns = draw(st.integers(2, 4)), draw(st.integers(2, 4))
    total = draw(st.integers(4, 60))
    rows = []
    for _ in range(size):
        cuts = sorted(draw(st.lists(st.integers(0, total), min_size=columns - 1, max_size=columns - 1)))
        rows.append(tuple(b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)))
    return table(*rows)


def test_a_factor_of_three_is_decided_at_the_fiftieth_digit_of_ln_3():
    coins = table((3, 1), (1, 3))
    assert coins.private(f"{LN3}4946")
    assert not coins.private(f"{LN3}4945")


def test_equality_is_private():
    assert table((3, 1), (2, 2)).private(0, "1/4")
    assert not table((3, 1), (2, 2)).private(0, "0.2499999999999999999999")
    assert table((1, 1), (0, 2)).private(5, "1/2")  # the answer that only one truth gives: epsilon drops out
    assert not table((1, 1), (0, 2)).private(5, "0.4999999999999999999")


@given(tables(), st.fractions(0, 2, max_denominator=20), st.fractions(0, 1, max_denominator=20))
def test_the_decision_is_that_of_every_event(chances, epsilon, delta):
    """All sets of outputs, in floats; only cases that rounding does not decide."""
    outputs = range(len(chances.outputs))
    events = list(chain.from_iterable(combinations(outputs, k) for k in range(1, len(chances.outputs) + 1)))
    q = math.exp(epsilon)
    worst = max(
        sum(a[y] for y in event) - q * sum(b[y] for y in event)
        for a in chances.rows
        for b in chances.rows
        for event in events
    )
    gap = worst / chances.total - float(delta)
    if abs(gap) > 1e-9:
        assert chances.private(epsilon, delta) == (gap < 0)
    assert abs(chances.smallest_delta(epsilon) - max(0.0, worst / chances.total)) < 1e-12


@given(tables(), st.fractions(0, 1, max_denominator=20))
def test_the_smallest_epsilon_is_enough_and_nothing_less_is(chances, delta):
    smallest = chances.smallest_epsilon(delta)
    if math.isinf(smallest):
        assert not chances.private(10_000, delta)
        return
    assert chances.private(smallest, delta)
    if smallest > 0:
        assert not chances.private(Fraction(smallest) * (1 - Fraction(1, 10**12)), delta)
    channel = chances.channel()
    assert abs(channel.epsilon_at(delta).value - smallest) < 1e-9


def test_what_gives_the_truth_away():
    assert table((1, 1), (0, 2)).discloses()
    assert not table((3, 1), (1, 3)).discloses()
    assert not table((3, 0, 1), (1, 0, 3)).discloses()  # an answer that nobody gives


def test_a_certificate_proves_the_claim_and_a_forged_one_does_not():
    coins = table((3, 1), (1, 3))
    made = coins.certificate("coins", epsilon=1, delta="0.08")
    assert made.verify() == "epsilon = 1 per unit of discrete, delta = 0.08"
    assert Certificate.from_json(made.to_json()).verify() == made.verify()
    with pytest.raises(GuaranteeError, match=r"need epsilon = 1\.0"):
        coins.certificate("coins", epsilon=1, delta="0.07")
    document = json.loads(made.to_json())
    forgeries = (
        {"table": [[30, 1], [1, 30]], "total": 31},
        {"table": [[3, 1], [1, 4]]},
        {"table": [[5, -1], [1, 3]]},
        {"table": [[3, 1], [4]]},
        {"table": []},
        {"table": [[0, 0], [0, 0]], "total": 0},
        {"table": [["3", 1], [1, 3]]},
        {"table": [[1.5, 2.5], [2, 2]]},
        {"precision": 8},
    )
    for forged in forgeries:
        bad = {**document, "proof": {**document["proof"], **forged}}
        with pytest.raises(NotProved):
            check({**bad, "digest": digest(bad)})
    weaker = {**document, "claim": {**document["claim"], "delta": "7/100"}}
    with pytest.raises(NotProved, match="broken between rows"):
        check({**weaker, "digest": digest(weaker)})
    far = {**document, "claim": {**document["claim"], "distances": {"shape": "uniform", "distance": "2"}}}
    with pytest.raises(NotProved, match="larger than those of the discrete metric"):
        check({**far, "digest": digest(far)})
    huge = {**document, "proof": {**document["proof"], "table": [[1] * 4] * 3000, "total": 4}}
    with pytest.raises(NotProved, match="few enough"):
        check({**huge, "digest": digest(huge)})


def test_the_checker_agrees_with_the_decision_on_many_tables():
    rng = np.random.default_rng(11)
    seen = set()
    for _ in range(200):
        rows = [tuple(int(v) for v in rng.multinomial(24, [0.3, 0.3, 0.4])) for _ in range(3)]
        chances = table(*rows)
        epsilon, delta = Fraction(int(rng.integers(0, 12)), 5), Fraction(int(rng.integers(0, 12)), 24)
        document = Certificate.build(
            mechanism="a table",
            epsilon=epsilon,
            delta=delta,
            metric="discrete",
            distances={"shape": "uniform", "distance": "1"},
            proof={"kind": "chances", "total": 24, "precision": 200, "table": [list(row) for row in rows]},
        ).document
        try:
            check(dict(document))
            proved = True
        except NotProved:
            proved = False
        assert proved == chances.private(epsilon, delta)
        seen.add(proved)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: table((1, 2), (2, 2)), "sum to the total"),
        (lambda: table((3, -1), (1, 1)), "0 or more"),
        (lambda: Chances(((1, 1),), 2, ("a", "b"), ("a", "b")), "one name for each row"),
        (lambda: Chances((), 2, (), ()), "from 1 to 100 rows"),
        (lambda: check_promise(-1), "epsilon must be from 0"),
        (lambda: check_promise(10**6), "epsilon must be from 0"),
        (lambda: check_promise(1, "1.5"), "between 0 and 1"),
        (lambda: check_promise("nan"), "not a number"),
        (lambda: check_promise(float("inf")), "finite"),
    ],
)
def test_bad_tables_and_promises_are_refused(call, words):
    with pytest.raises(ParameterError, match=words):
        call()


def test_many_answers_that_are_alike_are_decided_as_one_pair():
    size, keep, other = 60, 41, 1
    rows = tuple(tuple(keep if x == y else other for y in range(size)) for x in range(size))
    response = table(*rows)
    assert response.smallest_epsilon() == pytest.approx(math.log(41), rel=1e-12)
    assert response.channel().epsilon().value == pytest.approx(response.smallest_epsilon(), rel=1e-9)
    odd = table(*rows[:-1], tuple(reversed(rows[0])))  # the last row is still that of a response
    assert odd.smallest_epsilon() == response.smallest_epsilon()
    broken = table(*rows[:-1], (*rows[0][1:-1], rows[0][0] - 1, 2))
    assert broken.smallest_epsilon() > 0
    assert broken.smallest_delta(0) == pytest.approx(broken.channel().delta(0))
