"""The privacy region and the best design: published cases, and brute force by linear programs and by grids."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from noisewright.exceptions import ParameterError
from noisewright.surveys.designs import (
    Region,
    asymmetric_threshold,
    binary,
    disclosing_threshold,
    four_answer_variance,
    mangat,
    optimal_design,
    violation,
)

EPSILONS = ("0", "0.1", "0.5", "1", "2", "3")
DELTAS = ("0", "0.05", "0.2", "0.4", "0.5", "0.7", "0.95")
PROMISES = [(epsilon, delta) for epsilon in EPSILONS for delta in DELTAS if (epsilon, delta) != ("0", "0")]
SHARES = ("0.02", "0.1", "0.3", "0.5", "0.6", "0.9", "0.99")


def unit_variance(p00, p11, pi):
    d = p00 + p11 - 1
    mu = 1 - p00 + pi * d
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(d) > 1e-9, mu * (1 - mu) / d**2, np.inf)


def corners_by_linear_programs(q: float, delta: float) -> set[tuple[float, float]]:
    """The corners of the region from the definition alone: all events of a 2 x 2 channel, in 180 directions."""
    rows, right = [], []
    # Variables p00, p11; the events {0} and {1} in both orders.
    for a, b, c in ((q, 1, q + delta), (1, q, q + delta), (-1, -q, delta - 1), (-q, -1, delta - 1)):
        rows.append([a, b])
        right.append(c)
    found = set()
    for angle in np.linspace(0, 2 * np.pi, 180, endpoint=False) + 0.0123:
        answer = linprog([-math.cos(angle), -math.sin(angle)], rows, right, bounds=[(0, 1), (0, 1)], method="highs")
        assert answer.status == 0
        found.add((round(float(answer.x[0]), 9) + 0.0, round(float(answer.x[1]), 9) + 0.0))
    return found


@pytest.mark.parametrize("epsilon", ["0", "0.5", "2"])
@pytest.mark.parametrize("delta", ["0", "0.1", "0.5", "0.9"])
def test_03_rr4_corners_and_membership(epsilon, delta):
    region, q, d = Region.of(epsilon=epsilon, delta=delta), math.exp(float(epsilon)), float(delta)
    corners = region.corners()
    if epsilon == "0" and delta == "0":
        assert set(corners) == {(0.0, 1.0), (1.0, 0.0)}
    else:
        assert len(corners) == {(True, True): 4, (True, False): 8, (False, False): 6}[(epsilon != "0", delta == "0")]
        assert {(round(x, 6) + 0.0, round(y, 6) + 0.0) for x, y in corners} == {
            (round(x, 6), round(y, 6)) for x, y in corners_by_linear_programs(q, d)
        }
    grid = [Fraction(i, 20) for i in range(21)]
    for a in grid:
        for b in grid:
            x, y = float(a), float(b)
            slacks = (q * (1 - x) + d - y, q * (1 - y) + d - x, q * y + d - 1 + x, q * x + d - 1 + y)
            if min(abs(s) for s in slacks) > 1e-9:
                assert region.contains(binary(a, b)) == (min(slacks) > 0)


def test_03_f22_numbers_of_corners():
    assert len(Region.of(epsilon="0.7", delta="0.1").corners()) == 8
    assert len(Region.of(epsilon="0", delta="0.1").corners()) == 6
    assert len(Region.of(epsilon="0.7").corners()) == 4


def test_03_rr4_the_tight_edge():
    region = Region.of(epsilon="0.8", delta="0.2")
    q, s = math.exp(0.8), (math.exp(0.8) + 0.2) / (math.exp(0.8) + 1)
    assert region.edge(1) == pytest.approx((s, s))
    assert region.edge(0) == pytest.approx((1 + (0.2 - 0.5) / q, 0.5))
    for t in (0, 0.3, 0.7, 1):
        p00, p11 = region.edge(t)
        assert p11 == pytest.approx(q * (1 - p00) + 0.2)


@pytest.mark.parametrize("epsilon", ["0", "0.5", "2"])
@pytest.mark.parametrize("delta", ["0", "0.1", "0.5", "0.9"])
def test_03_f34_mangat_is_private_exactly_up_to_delta(epsilon, delta):
    region = Region.of(epsilon=epsilon, delta=delta)
    for i in range(101):
        assert region.contains(mangat(Fraction(i, 100))) == (Fraction(i, 100) <= Fraction(delta))


def test_03_rr5_without_delta_it_is_warner_for_every_prevalence():
    for epsilon in ("0.1", "1", "4"):
        q = math.exp(float(epsilon))
        for share in (None, "0.01", "0.5", "0.9"):
            best = optimal_design(epsilon=epsilon, prevalence=share, allow_certain_disclosure=True)
            assert best.branch == "symmetric"
            assert float(best.design.p00) == pytest.approx(q / (q + 1))
            assert best.design.p00 == best.design.p11


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_03_rr7_no_private_design_is_better(epsilon, delta):
    """Brute force: corners found by linear programs (the information is convex), and a fine grid of private designs."""
    q, d = math.exp(float(epsilon)), float(delta)
    corners = np.array(sorted(corners_by_linear_programs(q, d)))
    axis = np.linspace(0, 1, 301)
    x, y = np.meshgrid(axis, axis)
    inside = (y <= q * (1 - x) + d) & (x <= q * (1 - y) + d) & (1 - x <= q * y + d) & (1 - y <= q * x + d)
    for share in SHARES:
        pi = float(share)
        best = optimal_design(epsilon=epsilon, delta=delta, prevalence=share, allow_certain_disclosure=True)
        assert best.region.contains(best.design)
        at_corners = unit_variance(*corners.T, pi).min()
        assert best.variance == pytest.approx(at_corners, rel=1e-6)
        assert unit_variance(x[inside], y[inside], pi).min() >= best.variance * (1 - 1e-9)
        if 0 < pi < 1 and d < 1:
            bound = four_answer_variance(epsilon=epsilon, delta=delta, prevalence=share)
            assert bound <= best.variance * (1 + 1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(e, d) for e, d in [*PROMISES, ("0.5", "0.49")] if float(d) < 0.5])
def test_03_rr6_no_private_design_with_probabilities_of_one_half_or_more_is_better(epsilon, delta):
    q, d = math.exp(float(epsilon)), float(delta)
    axis = np.linspace(0.5, 1, 301)
    x, y = np.meshgrid(axis, axis)
    inside = (y <= q * (1 - x) + d) & (x <= q * (1 - y) + d)
    edge = np.array([Region.of(epsilon=epsilon, delta=delta).edge(t) for t in np.linspace(0, 1, 501)])
    edge = np.vstack([edge, edge[:, ::-1]])
    for share in SHARES:
        best = optimal_design(epsilon=epsilon, delta=delta, prevalence=share)
        assert min(best.design.p00, best.design.p11) >= Fraction(1, 2)
        assert not best.design.discloses
        found = min(
            unit_variance(x[inside], y[inside], float(share)).min(initial=np.inf),
            unit_variance(*edge.T, float(share)).min(),
        )
        assert found >= best.variance * (1 - 1e-9)
        assert unit_variance(*edge.T, float(share)).min() == pytest.approx(best.variance, rel=1e-6)


@pytest.mark.parametrize("disclosing", [False, True])
@pytest.mark.parametrize("epsilon", ["0", "0.1", "1", "3"])
@pytest.mark.parametrize("delta", ["0.01", "0.1", "0.3", "0.5", "0.8"])
@pytest.mark.parametrize("whole", [False, True])
def test_03_rr7_without_a_prevalence_the_worst_case_is_the_least(epsilon, delta, disclosing, whole):
    """The largest variance over a grid of prevalences, for a grid of designs; without disclosure those from one half on."""
    q, d = math.exp(float(epsilon)), float(delta)
    best = optimal_design(epsilon=epsilon, delta=delta, allow_certain_disclosure=disclosing, whole_population=whole)
    axis = np.linspace(0 if disclosing else 0.5, 1, 161)
    x, y = (v.ravel() for v in np.meshgrid(axis, axis))
    region = Region.of(epsilon=epsilon, delta=delta)
    edge = np.array([(1 - (p - d) / q, p) for p in np.linspace(d, float(region.symmetric().p11), 300)])
    if not disclosing:
        edge = edge[(edge >= 0.5).all(axis=1) & (edge[:, 0] < 1)]
    x, y = np.concatenate([x, edge[:, 0]]), np.concatenate([y, edge[:, 1]])
    inside = (y <= q * (1 - x) + d + 1e-12) & (x <= q * (1 - y) + d + 1e-12) & (x + y > 1 + 1e-6)
    shares = np.linspace(0, 1, 201)[:, None]
    variances = unit_variance(x[inside], y[inside], shares) - (shares * (1 - shares) if whole else 0)
    assert variances.max(axis=0).min() >= best.variance * (
        1 - 1e-3
    )  # the grid of prevalences may miss the worst by a little
    if not disclosing:
        assert best.branch == "symmetric"


def test_03_f26_example_1():
    best = optimal_design(epsilon="0.1", prevalence="0.25")
    assert asymmetric_threshold("0.1", 0) == pytest.approx(-9.508, abs=5e-4)
    assert best.variance == pytest.approx(100.104, abs=5e-4)
    assert unit_variance(*Region.of(epsilon="0.1").edge(0), 0.25) == pytest.approx(109.863, abs=5e-4)
    assert best.branch == "symmetric"


def test_03_f27_example_2():
    region = Region.of(epsilon=1, delta="0.4")
    best = optimal_design(epsilon=1, delta="0.4", prevalence="0.1")
    assert asymmetric_threshold(1, "0.4") == pytest.approx(0.12988, abs=5e-6)
    assert region.symmetric().variance("0.1") == pytest.approx(0.385, abs=5e-4)
    assert (float(best.design.p00), float(best.design.p11)) == pytest.approx((0.963212, 0.5), abs=5e-7)
    assert best.variance == pytest.approx(0.355, abs=5e-4)
    assert disclosing_threshold(1, "0.4") == pytest.approx(0.1967, abs=5e-5)
    free = optimal_design(epsilon=1, delta="0.4", prevalence="0.1", allow_certain_disclosure=True)
    assert (free.design.p00, free.design.p11) == (1, Fraction(2, 5))
    assert free.variance == pytest.approx(0.24)
    assert free.variance / best.variance == pytest.approx(0.68, abs=5e-3)
    for design, degree in ((region.symmetric(), 0.366), (best.design, 0.602), (free.design, 1.0)):
        assert violation(design, "0.1") == pytest.approx(degree, abs=5e-4)
    assert four_answer_variance(epsilon=1, delta="0.4", prevalence="0.1") == pytest.approx(0.1985, abs=5e-5)


def test_03_f28_example_3():
    region = Region.of(epsilon="0.5", delta="0.3")
    best = optimal_design(epsilon="0.5", delta="0.3", prevalence="0.9")
    assert asymmetric_threshold("0.5", "0.3") == pytest.approx(0.132, abs=5e-4)
    assert region.symmetric().variance("0.9") == pytest.approx(0.965, abs=5e-4)
    assert (float(best.design.p00), float(best.design.p11)) == pytest.approx((0.5, 0.878694), abs=5e-7)
    assert best.variance == pytest.approx(0.933, abs=5e-4)
    assert best.design.swapped.variance("0.9") == pytest.approx(1.733, abs=5e-4)
    free = optimal_design(epsilon="0.5", delta="0.3", prevalence="0.9", allow_certain_disclosure=True)
    assert (free.design.p00, free.design.p11) == (Fraction(3, 10), 1)
    assert free.variance == pytest.approx(0.3233, abs=5e-5)


TABLE = """
0   | -9.5083 -1.5415 -0.5820 -0.2872 -0.1565 -0.0524 | 0 0 0 0 0 0
0.1 | -0.4684 -0.5888 -0.3187 -0.1776 -0.1023 -0.0358 | 1.2941 0.2428 0.0766 0.0338 0.0172 0.0054
0.2 | 0.3054 -0.1268 -0.1264 -0.0845 -0.0528 -0.0198 | 1.0229 0.3362 0.1301 0.0621 0.0329 0.0107
0.3 | 0.5218 0.1316 0.0183 -0.0047 -0.0076 -0.0042 | 0.8477 0.3749 0.1685 0.0861 0.0472 0.0158
0.4 | 0.6115 0.2905 0.1299 0.0642 0.0340 0.0109 | 0.7348 0.3905 0.1967 0.1065 0.0603 0.0207
0.5 | 0.6571 0.3952 0.2178 0.1240 0.0722 0.0255 | 0.6571 0.3952 0.2178 0.1240 0.0722 0.0255
"""


@pytest.mark.parametrize("line", TABLE.strip().splitlines())
def test_03_f29_thresholds(line):
    delta, g, h = (part.split() for part in line.split("|"))
    for epsilon, one, other in zip(("0.1", "0.5", "1", "1.5", "2", "3"), g, h, strict=True):
        assert asymmetric_threshold(epsilon, delta[0]) == pytest.approx(float(one), abs=5.1e-5)
        assert disclosing_threshold(epsilon, delta[0]) == pytest.approx(float(other), abs=5.1e-5)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("0.1", 0.14189), ("0.5", 0.24261), ("1", 0.28580), ("2", 0.31755), ("3", 0.32771)]
)
def test_03_f30_where_the_asymmetric_design_starts(epsilon, delta):
    assert asymmetric_threshold(epsilon, delta - 6e-6) < 0 < asymmetric_threshold(epsilon, delta + 6e-6)
    x = math.exp(float(epsilon)) - 1
    assert (-3 * x + math.sqrt(9 * x * x + 12 * x)) / 6 == pytest.approx(delta, abs=5.1e-6)


def test_03_f31_the_edge_without_delta_only_falls():
    for epsilon, pi in ((0.3, 0.2), (1.5, 0.7)):
        region, q, h = Region.of(epsilon=epsilon), math.exp(epsilon), 1e-6
        for t in (0.1, 0.5, 0.9):
            slope = (unit_variance(*region.edge(t + h), pi) - unit_variance(*region.edge(t - h), pi)) / (2 * h)
            form = -2 * q * (1 + q) * ((q - 1) * pi + 1) / ((q - 1) * (1 - t + q * (1 + t)) ** 2)
            assert slope == pytest.approx(form, rel=1e-5)
            assert form < 0


def test_03_f32_the_stationary_point_of_an_edge_is_a_maximum():
    for epsilon, d, pi in ((0.5, 0.3, 0.1), (1.0, 0.4, 0.2), (0.2, 0.25, 0.3)):
        q, region = math.exp(epsilon), Region.of(epsilon=epsilon, delta=d)
        top = (1 + q) * (-(q**2) * pi + (1 - pi) * (1 - 2 * d) ** 2 + q * (2 * pi * (1 - 2 * d) + 4 * d - 1))
        t0 = top / ((1 + (q - 1) * pi) * (q - 1 + 2 * d) ** 2)
        bend = -((1 + (q - 1) * pi) ** 4) * (q - 1 + 2 * d) ** 6
        bend /= 32 * q**2 * (1 + q) ** 2 * d**3 * (q - 1 + d) ** 3
        h = 1e-4
        low, mid, high = (float(unit_variance(*region.edge(t0 + k * h), pi)) for k in (-1, 0, 1))
        assert (high - low) / (2 * h) == pytest.approx(0, abs=1e-5)
        assert (high - 2 * mid + low) / h**2 == pytest.approx(bend, rel=1e-3)
        assert bend < 0


def test_03_f33_difference_between_the_ends_of_an_edge_and_between_swapped_edges():
    for epsilon, d, pi in ((0.5, 0.3, 0.1), (1.0, 0.4, 0.45), (2.0, 0.05, 0.2)):
        q, region = math.exp(epsilon), Region.of(epsilon=epsilon, delta=d)
        gap = unit_variance(*region.edge(0), pi) - unit_variance(*region.edge(1), pi)
        form = ((q - 1) * (1 - 3 * d) - 3 * d**2 + pi * (q - 1 + 2 * d) ** 2) / (q - 1 + 2 * d) ** 2
        assert gap == pytest.approx(form, rel=1e-9)
        for t in (0.0, 0.4):
            swap = unit_variance(*region.edge(t), pi) - unit_variance(*region.edge(t)[::-1], pi)
            assert swap == pytest.approx(-(q + 1) * (1 - 2 * pi) * (1 - t) / (q * (1 + t) + 1 - t), rel=1e-9)


@given(
    st.fractions(0, 6, max_denominator=30),
    st.fractions(0, Fraction(29, 30), max_denominator=30),
    st.none() | st.fractions(0, 1, max_denominator=30),
    st.booleans(),
)
def test_the_best_design_is_private_exactly_and_tight(epsilon, delta, share, disclosing):
    assume(epsilon + delta > 0)
    best = optimal_design(epsilon=epsilon, delta=delta, prevalence=share, allow_certain_disclosure=disclosing)
    assert best.region.contains(best.design)
    needed = best.design.chances().smallest_epsilon(delta)
    if best.branch != "disclosing" and epsilon > 0:
        assert needed == pytest.approx(float(epsilon), rel=1e-9)  # nothing is given away for nothing
    if not disclosing:
        assert not best.design.discloses


def test_tiny_and_large_budgets_stay_informative_and_private():
    for epsilon, delta in (("1e-30", 0), ("1e-140", 0), (0, "1e-40"), (700, 0), (10_000, 0), (10_000, "0.3")):
        best = optimal_design(epsilon=epsilon, delta=delta, prevalence="0.2")
        assert best.design.separation > 0
        assert best.region.contains(best.design)
        assert not best.design.discloses
    assert math.isfinite(asymmetric_threshold(5000, "0.1"))
    assert math.isfinite(disclosing_threshold(5000, "0.1"))


@pytest.mark.parametrize(
    ("epsilon", "delta", "g", "h"),
    [
        ("1e-17", "0", -1e17, 0.0),
        ("1e-17", "1e-20", -1e17 / 1.002**2 * (1 - 3e-6), 1e14 / 1.002**2),
        ("0", "1e-200", 0.75, 2.5e199),
        ("1e-200", "0", -1e200, 0.0),
        ("10000", "0.4", 0.0, 0.0),
    ],
)
def test_thresholds_where_floats_would_lose_them(epsilon, delta, g, h):
    """With x = q - 1 = epsilon: g = (x (3 d - 1) + 3 d^2)/(x + 2 d)^2 and h = d (1 + x + d)/(x + 2 d)^2."""
    assert asymmetric_threshold(epsilon, delta) == pytest.approx(g, rel=1e-5, abs=1e-300)
    assert disclosing_threshold(epsilon, delta) == pytest.approx(h, rel=1e-5, abs=1e-300)


def test_the_branch_of_tiny_budgets():
    """Delta far below epsilon: the asymmetric design would not be better, but 1 - e^-epsilon is 0 in floats."""
    assert optimal_design(epsilon="1e-17", delta="1e-20", prevalence="0.1").branch == "symmetric"
    assert optimal_design(epsilon="1e-20", delta="1e-9", prevalence="0.1").branch == "asymmetric"
    for share in (None, "0.1"):
        best = optimal_design(epsilon=1, delta="1e-300", prevalence=share, allow_certain_disclosure=True)
        assert best.branch == "symmetric"
        with pytest.raises(ParameterError, match="a larger epsilon"):
            optimal_design(epsilon=0, delta="1e-200", prevalence=share, allow_certain_disclosure=True)
    assert four_answer_variance(epsilon="1e-17", delta=0, prevalence="0.1") == pytest.approx(1e34)


def test_a_threshold_that_nobody_is_beyond_is_not_told():
    for promise in ({"epsilon": 1, "delta": "0.05"}, {"epsilon": 0, "delta": "0.05", "allow_certain_disclosure": True}):
        assert "for every prevalence" in optimal_design(prevalence="0.1", **promise).why
    assert "a share below 0.1299" in optimal_design(epsilon=1, delta="0.4", prevalence="0.1").why


def test_disclosure_is_offered_only_when_asked_for():
    for delta in ("0.3", "0.5", "0.8"):
        assert optimal_design(epsilon=1, delta=delta, prevalence="0.01").branch != "disclosing"
        assert (
            optimal_design(epsilon=1, delta=delta, prevalence="0.01", allow_certain_disclosure=True).branch
            == "disclosing"
        )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: optimal_design(epsilon=0), "both 0"),
        (lambda: asymmetric_threshold(0, 0), "both 0"),
        (lambda: optimal_design(epsilon="1e-200"), "a larger epsilon"),
        (lambda: optimal_design(epsilon=1, delta=1), "promises nothing"),
        (lambda: optimal_design(epsilon=1, delta="1.1"), "between 0 and 1"),
        (lambda: optimal_design(epsilon=-1), "from 0 to 10000"),
        (lambda: optimal_design(epsilon=1, prevalence="1.1"), "from 0 to 1"),
        (lambda: Region.of(epsilon=1, delta="0.6").half(), "up to 1/2"),
        (lambda: Region.of(epsilon=1).edge(math.nan), "between 0 and 1"),
        (lambda: disclosing_threshold(0, "1e-1000"), "fits no float"),
        (lambda: four_answer_variance(epsilon=1, delta="0.1", prevalence=0), "above 0 and below 1"),
    ],
)
def test_bad_parameters_are_refused(call, words):
    with pytest.raises(ParameterError, match=words):
        call()
