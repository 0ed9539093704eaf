"""The numbered facts about refinement orders, in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from refinement_support import exponential, floats, geometric, product, response, rows, worth

from noisewright.channels.channel import Channel
from noisewright.guarantees import EXACT, FAILS
from noisewright.metrics.base import Line, Table
from noisewright.qif.refinement.average_case import average_refined, project
from noisewright.qif.refinement.compare import compare
from noisewright.qif.refinement.exact_channel import read
from noisewright.qif.refinement.max_case import hull_shortfall, max_refined
from noisewright.qif.refinement.privacy import metric_refined, privacy_refined
from noisewright.qif.refinement.reduced_channel import deficiency, shortfall

C1 = rows("1/2 0 1/2; 0 1/2 1/2; 1/2 1/2 0")
C2 = rows("1/2 0 0 1/2; 0 1/2 1/2 0; 1/2 1/2 0 0")
C3 = rows("1/4 0 0 3/4; 0 3/4 1/4 0; 1/4 3/4 0 0")
G = rows("2/3 1/6 1/6; 1/3 1/3 1/3; 1/6 1/6 2/3")
R = rows("3/5 1/5 1/5; 1/5 3/5 1/5; 1/5 1/5 3/5")
A19 = rows("3/4 0 1/4 0; 3/4 1/4 0 0; 0 1/4 1/4 1/2")
B19 = rows("1/2 0 1/2; 1/2 1/2 0; 0 1/2 1/2")


def test_05_f6_merging_columns_refines_and_splitting_does_not() -> None:
    assert Channel(floats(C1)).push().outers == pytest.approx([1 / 3] * 3)
    assert sorted(Channel(floats(C2)).push().outers) == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3])
    forward = average_refined(C2, C1)
    assert forward.status == EXACT
    assert product(C2, forward.witness.exact) == C1
    backward = average_refined(C1, C2)
    assert backward.status == FAILS
    assert worth(backward.witness.exact, C2) - worth(backward.witness.exact, C1) == backward.witness.gap > 0
    assert shortfall(C1, C2) == pytest.approx(1 / 6, abs=1e-9)


def test_05_f7_average_and_max_orders_differ() -> None:
    hyper = Channel(floats(C3)).push()
    assert sorted(hyper.outers) == pytest.approx(sorted([1 / 6, 1 / 2, 1 / 12, 1 / 4]))
    assert hyper.inners @ hyper.outers == pytest.approx([1 / 3] * 3)
    for one, other in ((C3, C1), (C1, C3), (C3, C2), (C2, C3)):
        assert average_refined(one, other).status == FAILS
    assert shortfall(C3, C1) == pytest.approx(1 / 8, abs=1e-9)
    for one, other in ((C3, C1), (C2, C3), (C3, C2)):
        assert max_refined(one, other).status == EXACT


def test_05_f9_programs_are_ordered_as_their_partitions() -> None:
    secrets = range(64)
    reveal = {k: Channel.deterministic(lambda h, k=k: h if h % k == 0 else "other", secrets) for k in (8, 4)}
    low = {k: Channel.deterministic(lambda h, k=k: h % k, secrets) for k in (16, 4)}
    p1, p2, p3, p4 = reveal[8], reveal[4], low[16], low[4]
    bayes = [round(64 * float((c.matrix / 64).max(axis=0).sum())) for c in (p1, p2, p3, p4)]
    assert bayes == [9, 17, 16, 4]
    assert average_refined(p2, p1).status == EXACT
    assert average_refined(p3, p4).status == EXACT
    for one, other in ((p1, p2), (p4, p3), (p1, p3), (p3, p1)):
        found = average_refined(one, other)
        assert found.status == FAILS
        assert found.witness.confirm(read(one), read(other)) == found.witness.gap > 0


def test_05_f15_the_fixed_metric_order_depends_on_the_metric() -> None:
    assert metric_refined(R, G, Line()).status == EXACT
    assert metric_refined(G, R, Line()).status == FAILS
    assert metric_refined(G, R, "discrete").status == EXACT
    assert metric_refined(R, G, "discrete").status == FAILS
    assert privacy_refined(G, R).status == privacy_refined(R, G).status == FAILS


def test_05_f16_the_witness_metric_is_that_of_the_replaced_channel() -> None:
    witness = privacy_refined(G, R).witness
    assert witness.before == pytest.approx(1, abs=1e-12)
    assert witness.after == pytest.approx(math.log2(3), abs=1e-9)
    assert round(witness.after, 5) == 1.58496
    other = Table(Channel(floats(R)).distinguishability())
    assert Channel(floats(G)).epsilon(other).value == pytest.approx(1.26186, abs=5e-6)
    assert Channel(floats(R)).epsilon(other).value == pytest.approx(1, abs=1e-12)


def test_05_f17_the_fixed_metric_order_does_not_survive_a_query() -> None:
    assert metric_refined(R, G, "line").status == EXACT
    behind = [[channel[0], channel[2]] for channel in (R, G)]
    assert Channel(floats(behind[0])).epsilon().value == pytest.approx(math.log(3))
    assert Channel(floats(behind[1])).epsilon().value == pytest.approx(math.log(4))
    assert metric_refined(behind[0], behind[1], "line").status == FAILS


def test_05_f18_rows_swapped() -> None:
    a = rows("4/5 1/5; 2/5 3/5")
    b = (a[1], a[0])
    found = compare(a, b)
    assert {one.status for one in (*found.average, *found.max)} == {FAILS}
    assert {one.status for one in found.privacy} == {EXACT}
    assert hull_shortfall(a, b) == pytest.approx(1 / 12, abs=1e-9)
    assert hull_shortfall(b, a) == pytest.approx(1 / 12, abs=1e-9)
    hyper = Channel(floats(a)).push()
    assert hyper.outers == pytest.approx([3 / 5, 2 / 5])
    assert hyper.inners.T.ravel() == pytest.approx([2 / 3, 1 / 3, 1 / 4, 3 / 4])
    assert Channel(floats(a)).distinguishability()[0, 1] == pytest.approx(math.log(3))


def test_05_f19_max_holds_and_average_fails() -> None:
    found = compare(A19, B19)
    assert found.max.forward.status == EXACT
    assert found.average.forward.status == found.average.backward.status == found.max.backward.status == FAILS
    assert found.max.backward.witness.distance == pytest.approx(math.sqrt(3 / 8), abs=1e-9)
    assert found.max.backward.witness.posterior.tolist() == [0, 0, 1]
    assert shortfall(A19, B19) == pytest.approx(1 / 8, abs=1e-9)
    assert shortfall(B19, A19) == pytest.approx(1 / 6, abs=1e-9)
    assert sorted(Channel(floats(A19)).push().outers) == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])


def test_05_f19_projection() -> None:
    found = project(A19, B19)
    nearest = rows("1/2 1/8 3/8; 1/2 3/8 1/8; 0 1/2 1/2")
    assert found.nearest == pytest.approx(floats(nearest), abs=1e-9)
    assert 8 * found.gain == pytest.approx(np.array([[0, -1, 1], [0, 1, -1], [0, 0, 0]]), abs=1e-8)
    assert (found.before, found.after) == pytest.approx((1 / 48, 1 / 24), abs=1e-9)
    assert found.distance**2 / 3 == pytest.approx(1 / 48, abs=1e-9)
    correlation = found.witness.correlation()
    assert (correlation.before, correlation.after) == pytest.approx((5 / 12, 1 / 2), abs=1e-6)
    assert correlation.gap > 0


def test_05_f19_deficiency() -> None:
    forward, backward = deficiency(A19, B19), deficiency(B19, A19)
    for found, value in ((forward, 1 / 12), (backward, 1 / 6)):
        assert found.value <= value * (1 + 1e-12)
        assert found.value == pytest.approx(value, abs=1e-9)
        assert found.upper == pytest.approx(value, abs=1e-9)
    gain = rows("1 0 0; 0 1 1; 1 0 1")
    assert (worth(gain, A19), worth(gain, B19)) == (Fraction(3, 4), Fraction(5, 6))


def test_05_f20_each_order_implies_the_next() -> None:
    rng = np.random.default_rng(20)
    held = 0
    for _ in range(300):
        n, m, k = (int(v) for v in rng.integers(2, 5, 3))
        a = Channel(rng.dirichlet(np.ones(m), n))
        b = (
            a @ Channel(rng.dirichlet(np.full(k, 3.0), m))
            if rng.random() < 0.5
            else Channel(rng.dirichlet(np.full(k, 9.0), n))
        )
        found = compare(a, b, metric="line")
        answers = [bool(one.forward) for one in (found.average, found.max, found.privacy, found.fixed)]
        assert answers == sorted(answers)  # once an order holds, all weaker ones do
        held += answers[0]
    assert 100 < held < 250


def test_05_f20_the_hull_test_is_the_same_for_every_full_support_prior() -> None:
    rng = np.random.default_rng(21)
    outcomes = set()
    for _ in range(60):
        n, m = int(rng.integers(2, 5)), int(rng.integers(2, 5))
        a, b = Channel(rng.dirichlet(np.ones(m), n)), Channel(rng.dirichlet(np.full(3, 6.0), n))
        prior = rng.dirichlet(np.ones(n))
        moved = []
        for channel in (
            a,
            b,
        ):  # the channel whose posteriors from the uniform prior are those of this one from the prior
            joint = prior[:, None] * channel.matrix
            posteriors = joint / joint.sum(axis=0)
            moved.append(posteriors)
        plain, tilted = bool(max_refined(a, b)), _inside(moved[0], moved[1])
        assert plain == tilted
        outcomes.add(plain)
    assert outcomes == {True, False}


def _inside(points: np.ndarray, targets: np.ndarray) -> bool:
    from scipy.optimize import linprog

    ones = np.ones((1, points.shape[1]))
    return all(
        linprog(np.zeros(points.shape[1]), A_eq=np.vstack([points, ones]), b_eq=np.r_[p, 1.0]).status == 0
        for p in targets.T
    )


def test_05_f24_over_truncation_is_refined_in_the_privacy_order_only() -> None:
    quarter, half = rows("4/5 1/5; 1/5 4/5; 1/20 19/20"), rows("2/3 1/3; 1/3 2/3; 1/6 5/6")
    found = compare(quarter, half)
    assert found.average.forward.status == found.max.forward.status == FAILS
    assert found.privacy.forward.status == EXACT
    gain = rows("1/5 0 4/5; 0 1 0")
    assert (worth(gain, quarter), worth(gain, half)) == (Fraction(1, 3), Fraction(16, 45))
    assert deficiency(quarter, half).value == pytest.approx(1 / 45, abs=1e-9)
    assert found.average.forward.witness.gap <= Fraction(1, 45)


def test_05_f29_failures_that_floats_cannot_see() -> None:
    """The least entry of ``A^-1 B`` for n = 5 is -1.3e-14 at epsilon 8, from the geometric to the exponential mechanism."""
    for epsilon, margin in ((4, -1.1e-7), (6, -3.8e-11), (8, -1.3e-14)):
        a = Fraction(math.exp(-epsilon)).limit_denominator(10**18)
        # The exponential mechanism with true epsilon: its weight b solves t/2 + ln(s_1 / s_0) = epsilon.
        low, high = epsilon / 2, float(epsilon)
        for _ in range(200):
            middle = (low + high) / 2
            b = math.exp(-middle)
            s0, s1 = sum(b**k for k in range(5)), b + sum(b**k for k in range(4))
            low, high = (middle, high) if middle + math.log(s1 / s0) < epsilon else (low, middle)
        tg, e = geometric(5, a), exponential(5, Fraction(math.exp(-low)))
        found = average_refined(tg, e)
        assert found.status == FAILS
        assert worth(found.witness.exact, e) - worth(found.witness.exact, tg) == found.witness.gap > 0
        assert max_refined(tg, e).status == FAILS
        inverse = np.linalg.inv(floats(tg)) @ floats(e)
        if epsilon < 8:
            assert inverse.min() == pytest.approx(margin, rel=0.05, abs=2e-12)
        # At 8 the floats of the same channels cannot be told from a refinement, and are not called a failure.
        if epsilon == 8:
            assert average_refined(Channel(floats(tg)), Channel(floats(e))).status == "holds within tol"


def test_05_f29_response_from_geometric_fails_exactly() -> None:
    for epsilon, margin in ((4, -3.2e-4), (8, -1.1e-7)):
        a = Fraction(math.exp(-epsilon))
        tg, rr = geometric(5, a), response(5, a)
        assert average_refined(tg, rr).status == FAILS
        assert (np.linalg.inv(floats(tg)) @ floats(rr)).min() == pytest.approx(margin, rel=0.05)
