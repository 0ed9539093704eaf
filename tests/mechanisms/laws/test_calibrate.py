"""Scales of truncated Laplace noise: the numbered facts, sufficiency, minimality, and an independent library."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranged_support import range_sets, worst_share

from noisewright.certificates.checker import checker, checker_noise
from noisewright.mechanisms.numeric.calibration import continuous, on_lattice, ranged_proof
from noisewright.mechanisms.numeric.feasible_sets import Feasible
from noisewright.mechanisms.numeric.laplace_distribution import TruncatedLaplace
from noisewright.sampling.lattice import Lattice

HALF_LINE = (0, None)


def scale(within=None, excluding=(), **more):
    return continuous(Feasible.parse(within, excluding), **{"epsilon": 1, "scope": "metric", **more}).scale


def adjacent(within=None, excluding=(), **more):
    return scale(within, excluding, scope="adjacent", **more)


def near(value, digits=6):
    return pytest.approx(value, abs=0.6 * 10.0**-digits)


# Facts --------------------------------------------------------------------------------------------------------------


@st.composite
def geometries(draw):
    """A union of intervals, in thousandths, with or without open ends."""
    count = draw(st.integers(1, 4))
    place, found = Fraction(draw(st.integers(-3000, 3000)), 1000), []
    for _ in range(count):
        length = Fraction(draw(st.integers(20, 4000)), 1000)
        found.append((place, place + length))
        place += length + Fraction(draw(st.integers(10, 3000)), 1000)
    ends = draw(st.sampled_from(["none", "low", "high", "both"] if count > 1 else ["none", "low", "high"]))
    if ends in ("low", "both"):
        found[0] = (None, found[0][1])
    if ends in ("high", "both"):
        found[-1] = (found[-1][0], None)
    return Feasible(tuple(found))


def stretched(feasible, factor):
    return Feasible(tuple(tuple(None if e is None else e * factor for e in c) for c in feasible.components))


@given(
    geometries(), st.sampled_from(["metric", "adjacent"]), st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(5)])
)
def test_01_fact01_homogeneity(feasible, scope, epsilon):
    one = continuous(feasible, epsilon=epsilon, sensitivity=1, scope=scope).scale
    many = continuous(stretched(feasible, 7), epsilon=epsilon, sensitivity=7, scope=scope).scale
    assert many == pytest.approx(7 * one, rel=1e-11)
    if scope == "metric":  # only sensitivity / epsilon matters, once the geometry is in those units
        other = continuous(stretched(feasible, Fraction(1, 2)), epsilon=2 * epsilon, sensitivity=1, scope=scope).scale
        assert other == pytest.approx(one / 2, rel=1e-11)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_01_fact02_laplace_without_constraint_loses_exactly_epsilon_d(epsilon):
    law = TruncatedLaplace(Feasible.parse(), scale(epsilon=epsilon, sensitivity=2))
    for d in (0.1, 1.0, 2.0, 30.0):
        assert float(law.loss(5.0, 5.0 + d)) == pytest.approx(float(epsilon) * d / 2, rel=1e-12)


@pytest.mark.parametrize(
    ("width", "wanted"),
    [
        ("0.01", 1.004975),
        ("0.1", 1.047688),
        ("0.5", 1.204607),
        (1, 1.353482),
        (2, 1.564377),
        (3, 1.706034),
        (5, 1.870789),
        (10, 1.987041),
        (20, 1.999909),
    ],
)
def test_01_fact16_single_gap(width, wanted):
    assert scale(excluding=[(0, width)]) == near(wanted)
    c = scale(excluding=[(7, 7 + Fraction(width))])  # the position does not matter
    assert c * (1 + math.exp(-float(Fraction(width)) / c)) == pytest.approx(2, abs=1e-11)


def test_01_fact16_limits():
    assert scale(excluding=[(0, "1e-9")]) == pytest.approx(1, abs=1e-8)
    assert scale(excluding=[(0, 80)]) == pytest.approx(2, abs=1e-12)


@pytest.mark.parametrize(
    ("gaps", "one", "half"),
    [
        ([(0, 1)], 1.353482, 2.409215),
        ([(0, 1), (2, 3)], 1.452655, 2.608218),
        ([(0, 1), ("1.1", 2)], 1.533436, 2.670060),
        ([(0, "0.5"), (1, "1.5"), (2, "2.5")], 1.357106, 2.478665),
    ],
)
def test_01_fact17_several_gaps(gaps, one, half):
    assert scale(excluding=gaps) == near(one)
    assert scale(excluding=gaps, epsilon="0.5") == near(half)


def test_01_fact18_reflection():
    assert scale(excluding=[(-3, "-1.01"), (-1, 0)]) == near(1.703932)
    assert scale(excluding=[(0, 1), ("1.01", 3)]) == near(1.703932)


def test_01_fact19_the_mirrored_jump_is_the_harder_one():
    law = TruncatedLaplace(Feasible.parse(excluding=[(-3, "-1.01"), (-1, 0)]), 1.0)
    assert float(law.log_normaliser(-1.0) - law.log_normaliser(0.0)) == near(-0.719226)


@pytest.mark.parametrize(("width", "loss"), [("0.1", 1.00105), (1, 1.00124), (5, 1.00117), (20, 1.00100)])
def test_01_fact20_a_smaller_scale_violates_next_to_an_end(width, loss):
    feasible = Feasible.parse(excluding=[(0, width)])
    best = continuous(feasible, epsilon=1, scope="metric").scale
    assert 1 < best < 2
    apart = 1e-6
    assert float(TruncatedLaplace(feasible, best).loss(-apart, 0.0)) / apart <= 1 + 1e-8
    assert float(TruncatedLaplace(feasible, 0.999 * best).loss(-apart, 0.0)) / apart == near(loss, 5)


def test_01_fact20_far_away_gaps_hardly_matter():
    assert scale(excluding=[(0, 1), (30, 31)]) == pytest.approx(scale(excluding=[(0, 1)]), abs=1e-9)


@given(geometries().filter(lambda f: f.low is None and f.high is None))
def test_01_fact21_monotone_and_no_jump_binds(feasible):
    best = continuous(feasible, epsilon=1, scope="metric").scale
    assert 1 < best < 2
    ends = np.array([float(e) for c in feasible.components for e in c if e is not None])

    def steepest(width):  # the local loss, by a difference of log-normalisers next to every end, inside the set
        law = TruncatedLaplace(feasible, width)
        inside = np.where(np.arange(ends.size) % 2 == 0, -1e-7, 1e-7)
        return float((law.loss(ends, ends + inside) / 1e-7).max())

    losses = [steepest(best * factor) for factor in (0.7, 0.85, 1.0, 1.2, 1.5)]
    assert losses == sorted(losses, reverse=True)
    assert losses[2] == pytest.approx(1, abs=1e-6)
    law = TruncatedLaplace(feasible, best)
    for low, high in feasible.gaps:
        assert float(law.loss(float(low), float(high))) <= float(high - low) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("within", "excluding"),
    [(HALF_LINE, ()), ((0, 5), ()), (HALF_LINE, [(1, 2)]), (None, [(2, 3), (10, None)])],
)
def test_01_fact22_mixed_constraints_need_twice_the_scale(within, excluding):
    assert scale(within, excluding) == pytest.approx(2, rel=1e-12)
    assert scale(within, excluding, sensitivity=2, epsilon="0.5") == pytest.approx(8, rel=1e-12)


def test_01_fact23_tight_at_the_wall():
    law = TruncatedLaplace(Feasible.parse((0, 5)), 2.0)
    losses = [float(law.loss(0.0, d)) / d for d in (0.5, 0.1, 0.01, 1e-4)]
    assert losses == sorted(losses)
    assert losses[-1] == pytest.approx(1, abs=1e-4)
    assert losses[-1] <= 1


@pytest.mark.parametrize(
    ("epsilon", "wanted"),
    [
        ("0.01", 1.995012),
        ("0.1", 1.951239),
        ("0.5", 1.779804),
        (1, 1.612605),
        ("1.1", 1.584585),
        (2, 1.394913),
        (3, 1.273647),
        (5, 1.159133),
        (10, 1.074472),
    ],
)
def test_01_fact24_half_line_between_neighbours(epsilon, wanted):
    found = adjacent(HALF_LINE, epsilon=epsilon)
    e = float(Fraction(epsilon))
    assert found * e == near(wanted)
    assert found == pytest.approx(1 / math.log((1 + math.exp(e)) / 2), rel=1e-11)
    grid = np.linspace(0, 8, 801)

    def loss(width):
        law = TruncatedLaplace(Feasible.parse(HALF_LINE), width)
        return float(law.loss(grid, grid + 1.0).max())

    assert loss(found) == pytest.approx(e, rel=1e-9)
    assert loss(0.99 * found) > e
    if e == 1:
        assert loss(0.99 * found) == near(1.008558)


@pytest.mark.parametrize(
    ("width", "wanted"),
    [
        (1, (10, 1, 0.333333)),
        ("1.5", (13.291455, 1.290055, 0.401932)),
        (2, (14.916214, 1.413343, 0.417680)),
        (5, (17.817578, 1.588938, 0.424543)),
        (20, (19.234848, 1.612603, 0.424549)),
        (10**8, (19.512393, 1.612605, 0.424549)),
    ],
)
def test_01_fact25_interval_between_neighbours(width, wanted):
    for epsilon, value in zip(("0.1", 1, 3), wanted, strict=True):
        assert adjacent((0, width), epsilon=epsilon) == near(value)


def test_01_fact25_an_interval_shorter_than_the_sensitivity():
    assert adjacent((0, "0.25"), epsilon=1) == pytest.approx(0.25, rel=1e-11)


@pytest.mark.parametrize(("width", "epsilon", "wanted"), [(1, 1, 1.238391), ("0.5", "0.5", 2.179442), (5, 2, 0.697172)])
def test_01_fact26_one_gap_between_neighbours(width, epsilon, wanted):
    found = adjacent(excluding=[(0, width)], epsilon=epsilon)
    assert found == near(wanted)
    q, e = math.exp(-float(Fraction(width)) / found), math.exp(float(Fraction(epsilon)))
    assert (2 * math.exp(1 / found) - 1 + q) / (1 + q) == pytest.approx(e, rel=1e-10)


@pytest.mark.parametrize(
    ("within", "wanted"),
    [([(0, 1), (2, 3)], (2.73295, 1.23077, 0.53160)), ([(0, 1), ("1.5", 4)], (3.24757, 1.53134, 0.68718))],
)
def test_01_fact27_general_sets_between_neighbours(within, wanted):
    for epsilon, value in zip(("0.5", 1, 2), wanted, strict=True):
        assert adjacent(within, epsilon=epsilon) == near(value, 5)


@given(geometries(), st.sampled_from(["0.1", "1", "4"]))
def test_01_fact28_neighbours_never_need_more_than_the_metric_promise(feasible, epsilon):
    both = [continuous(feasible, epsilon=epsilon, scope=scope).scale for scope in ("adjacent", "metric")]
    assert both[0] <= both[1] * (1 + 1e-11)


def test_01_fact28_crossover():
    sides = [adjacent(HALF_LINE, epsilon=e) * float(Fraction(e)) - 1.58595417218 for e in ("1.094973", "1.094975")]
    assert sides[0] > 0 > sides[1]


def test_01_fact29_margin():
    found = continuous(Feasible.parse(HALF_LINE), epsilon=1, scope="metric", margin=1)
    assert found.scale == near(1.302017)
    assert found.scale * (2 - math.exp(-1 / found.scale)) == pytest.approx(2, rel=1e-11)


# Any set, real numbers ----------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(geometries(), st.sampled_from([0.2, 1.0, 3.0]))
def test_the_candidate_pairs_cover_every_pair_of_neighbours(feasible, epsilon):
    """Sufficient on a grid of pairs, and the reported pair reaches epsilon: so no smaller scale would do."""
    found = continuous(feasible, epsilon=epsilon, scope="adjacent")
    law = TruncatedLaplace(feasible, found.scale)
    grid = np.concatenate(
        [
            np.linspace(float(hi) - 3 if lo is None else float(lo), float(lo) + 3 if hi is None else float(hi), 80)
            for lo, hi in feasible.components
        ]
    )
    apart = np.abs(grid[:, None] - grid[None, :])
    losses = np.where(apart <= 1, law.loss(grid[:, None], grid[None, :]), 0.0)
    assert losses.max() <= epsilon * (1 + 1e-9)
    smaller = TruncatedLaplace(feasible, found.scale * (1 - 1e-6))
    pair = [float(v) for v in found.reason.split("pair ")[1].split(" and ")]
    inside = [_into(feasible, v) for v in pair]
    assert float(smaller.loss(*inside)) > epsilon * (1 - 1e-4)


def _into(feasible, value):
    """The reason prints six digits; the nearest feasible number is what it means."""
    ends = [
        (-math.inf if lo is None else float(lo), math.inf if hi is None else float(hi))
        for lo, hi in feasible.components
    ]
    return min((min(max(value, lo), hi) for lo, hi in ends), key=lambda x: abs(x - value))


def log_mass(ends, scale, places):
    """``ln Z`` by its definition, in closed form on each interval and summed up; whole thousandths in, floats out."""
    total = np.zeros(places.size)
    for low, high in ends:
        left = np.inf if low is None else (places - low) / (1000 * scale)
        right = np.inf if high is None else (high - places) / (1000 * scale)
        inside = np.clip(left, 0, None), np.clip(right, 0, None)
        total += np.where((left >= 0) & (right >= 0), 2 - np.exp(-inside[0]) - np.exp(-inside[1]), 0)
        total += np.where(left < 0, np.exp(np.minimum(left, 0)) - np.exp(-inside[1]) * np.isfinite(right), 0)
        total += np.where(right < 0, np.exp(np.minimum(right, 0)) - np.exp(-inside[0]) * np.isfinite(left), 0)
    return np.log(total)


def worst_neighbours(feasible, scale, reach):
    """The largest loss of any two answers at most ``reach`` thousandths apart, many of them exactly so far.

    Answers are whole thousandths: all ends, all places a reach away from an end, one more on either side, and a grid.
    """
    ends = [[None if e is None else int(e * 1000) for e in c] for c in feasible.components]
    known = [e for pair in ends for e in pair if e is not None]
    near = [e + way * reach + step for e in known for way in (-1, 0, 1) for step in (-1, 0, 1)]
    grid = np.unique([*near, *np.linspace(min(known) - 3 * reach, max(known) + 3 * reach, 400).astype(int)])
    grid = np.unique(np.concatenate([grid, grid - reach, grid + reach]))

    def inside(places):
        return np.any([(places >= (lo if lo is not None else -(10**9))) & (places <= (hi if hi is not None else 10**9))
                       for lo, hi in ends], axis=0)  # fmt: skip

    grid = grid[inside(grid)]
    apart = np.abs(grid[:, None] - grid[None, :])
    logs = log_mass(ends, scale, grid)
    losses = apart / (1000 * scale) + np.abs(logs[:, None] - logs[None, :])
    return float(np.where(apart <= reach, losses, 0).max())


def test_a_pair_across_a_gap_that_is_exactly_one_sensitivity_wide():
    """In floats -5.297 + 2.5 falls short of -2.797, and the worst pair of all is not looked at: 7.7768 loses 0.5406."""
    feasible = Feasible.parse((("-5.75", "-3.548"), ("-2.797", None)))
    assert worst_neighbours(feasible, 7.7768, 2500) == pytest.approx(0.5406, abs=5e-5)
    found = continuous(feasible, epsilon="0.5", sensitivity="2.5", scope="adjacent")
    assert found.scale == near(8.518354)
    assert found.reason == "binding at an end of the feasible set, pair -5.297 and -2.797"
    assert worst_neighbours(feasible, found.scale, 2500) == pytest.approx(0.5, rel=1e-12)
    assert worst_neighbours(feasible, found.scale, 2500) <= 0.5


@settings(max_examples=200)
@given(geometries(), st.integers(5, 5000), st.sampled_from(["0.05", "0.5", "1", "3"]))
def test_the_scale_between_neighbours_is_the_smallest_by_brute_force(feasible, reach, epsilon):
    """Over sets with gaps and any sensitivity: no pair loses more than epsilon, and at a scale 1e-6 smaller one does."""
    found = continuous(feasible, epsilon=epsilon, sensitivity=Fraction(reach, 1000), scope="adjacent").scale
    budget = float(epsilon)
    assert worst_neighbours(feasible, found, reach) <= budget * (1 + 1e-12)
    assert worst_neighbours(feasible, found * (1 - 1e-6), reach) > budget


@settings(max_examples=200)
@given(
    geometries(),
    st.fractions(-(10**6), 10**6, max_denominator=10**6) | st.sampled_from([Fraction(1, 3), Fraction(10**25)]),
    st.integers(1, 5000),
    st.sampled_from(["metric", "adjacent"]),
)
def test_moving_the_whole_set_changes_no_digit(feasible, shift, reach, scope):
    moved = Feasible(tuple(tuple(None if e is None else e + shift for e in c) for c in feasible.components))
    known = {"epsilon": "0.7", "sensitivity": Fraction(reach, 1000), "scope": scope}
    assert continuous(moved, **known).scale == continuous(feasible, **known).scale


def test_ends_and_sensitivities_at_the_edge_of_floats():
    """What floats cannot hold counts as open; a tiny epsilon never needs more than twice the unit."""
    far = Feasible.parse((0, Fraction(2) ** 1000))
    assert continuous(far, epsilon=1).scale == pytest.approx(1.612605, abs=1e-6)
    open_end = continuous(
        Feasible.parse((None, Fraction(2) ** 1023)), epsilon=Fraction(2) ** 200, sensitivity=Fraction(2) ** 1023
    )
    assert open_end.scale == pytest.approx(2.0**823)
    tiny = continuous(Feasible.parse((0, None)), epsilon="1e-200").scale
    assert 1.99e200 < tiny <= 2e200 * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 2.5])
@pytest.mark.parametrize("width", [1.0, 1.7, 6.0, 100.0])
def test_agrees_with_an_established_library_on_intervals(epsilon, width):
    from diffprivlib.mechanisms import LaplaceBoundedDomain

    other = LaplaceBoundedDomain(epsilon=epsilon, delta=0.0, sensitivity=1.0, lower=0.0, upper=width)
    assert adjacent((0, width), epsilon=epsilon) == pytest.approx(other._find_scale(), rel=1e-6)


def test_reasons_name_the_wall_and_the_pair():
    half_line = Feasible.parse(HALF_LINE)
    assert continuous(half_line, epsilon=1, scope="adjacent").reason == "binding at the wall at 0, pair 0 and 1"
    assert "2 sensitivity / epsilon" in continuous(half_line, epsilon=1, scope="metric").reason
    assert "nothing is excluded" in continuous(Feasible.parse(), epsilon=1).reason
    assert "an end of the feasible set" in continuous(Feasible.parse(excluding=[(0, 1)]), epsilon=1).reason


# The lattice --------------------------------------------------------------------------------------------------------


def calibrated(ranges, inputs, epsilon, step, scope, reach):
    return on_lattice(ranges, inputs, epsilon=epsilon, step=step, scope=scope, reach=reach, lattice=Lattice(0))


@settings(max_examples=300)
@given(range_sets(), st.sampled_from(["1/10", "1", "3"]), st.integers(1, 12), st.sampled_from(["metric", "adjacent"]))
def test_lattice_scale_is_sufficient_and_minimal_by_brute_force(ranges, epsilon, reach, scope):
    """Every pair of inputs in 60-digit arithmetic: nothing is exceeded, and a rate one millionth larger exceeds."""
    budget, step = Fraction(epsilon), Fraction(1, reach)
    found = calibrated(ranges, ranges, budget, step, scope, reach)
    limit = reach if scope == "adjacent" else None
    known = {"epsilon": budget, "step": step, "reach": limit}
    assert 1 - Decimal("1e-9") < worst_share(found.rate, ranges, ranges, **known) <= 1
    assert worst_share(found.rate * (1 + Fraction(1, 10**6)), ranges, ranges, **known) > 1


@settings(max_examples=60)
@given(range_sets(), st.integers(1, 3), st.sampled_from(["metric", "adjacent"]))
def test_lattice_scale_with_a_margin(ranges, margin, scope):
    inputs = [list(pair) for pair in ranges]
    if inputs[0][0] is not None:
        inputs[0][0] += margin
    if inputs[-1][1] is not None:
        inputs[-1][1] -= margin
    if any(lo is not None and hi is not None and lo >= hi for lo, hi in inputs):
        return
    found = calibrated(ranges, inputs, Fraction(1), Fraction(1, 4), scope, 4)
    known = {"epsilon": Fraction(1), "step": Fraction(1, 4), "reach": 4 if scope == "adjacent" else None}
    assert 1 - Decimal("1e-9") < worst_share(found.rate, ranges, inputs, **known) <= 1


@pytest.mark.parametrize("scope", ["metric", "adjacent"])
@pytest.mark.parametrize(
    ("within", "excluding"),
    [(HALF_LINE, ()), ((0, 5), ()), (None, [(0, 1)]), ([(0, 1), (2, 3)], ()), ([(0, 1), ("1.5", 4)], [("2.5", 3)])],
)
def test_lattice_scale_converges_to_the_continuous_one(within, excluding, scope):
    feasible = Feasible.parse(within, excluding)
    limit = continuous(feasible, epsilon=1, scope=scope).scale
    errors = []
    for exponent in (-3, -6, -9, -12):
        lattice = Lattice(exponent)
        ranges = feasible.on(lattice)
        found = on_lattice(
            ranges, ranges, epsilon=Fraction(1), step=lattice.step, scope=scope, reach=lattice.steps(1), lattice=lattice
        )
        errors.append(abs(float(lattice.step / found.rate) - limit))
    assert errors[-1] < 1e-3 * limit
    if errors[0] > 1e-9:  # where both ends are a whole sensitivity apart the two agree at once
        assert errors[-1] < errors[0] / 100


def test_ten_thousand_gaps_are_calibrated_in_one_pass():
    ends = np.sort(np.random.default_rng(1).choice(10**6, 20_000, replace=False))
    gaps = [(Fraction(int(a), 64), Fraction(int(b), 64)) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    feasible = Feasible(tuple(zip([None, *(hi for _, hi in gaps)], [*(lo for lo, _ in gaps), None], strict=True)))
    for scope in ("metric", "adjacent"):
        found = continuous(feasible, epsilon=1, scope=scope)
        assert 1 < found.scale < 2
        law = TruncatedLaplace(feasible, found.scale)
        if scope == "metric":
            high = np.array([float(hi) for _, hi in gaps])
            assert float(law.loss(high, high + 1e-6).max()) <= 1e-6 * (1 + 1e-6)


# The checker refuses what does not hold -----------------------------------------------------------------------------


def proof_of(rate, ranges=((0, 9),), inputs=None, reach=4):
    return ranged_proof(Fraction(rate), ranges, inputs or ranges, reach)


METRIC = {"shape": "steps", "distance": "1/4"}
ADJACENT = {"shape": "adjacent", "distance": "1/4"}


def test_checker_proves_the_calibrated_rate_and_no_larger_one():
    for distances, scope in ((METRIC, "metric"), (ADJACENT, "adjacent")):
        found = calibrated(((0, 9), (12, None)), ((0, 9), (12, None)), Fraction(1), Fraction(1, 4), scope, 4)
        ranges = ((0, 9), (12, None))
        checker_noise.check_ranged(Fraction(1), distances, proof_of(found.rate, ranges))
        with pytest.raises(checker.NotProved, match="broken between inputs"):
            checker_noise.check_ranged(Fraction(1), distances, proof_of(found.rate * (1 + Fraction(1, 10**9)), ranges))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ranges": [[0, 9], [9, 12]], "inputs": [[0, 9], [9, 12]]}, "not in order"),
        ({"ranges": [[9, 0]], "inputs": [[9, 0]]}, "not in order"),
        ({"ranges": [[0, None], [12, 14]], "inputs": [[0, None], [12, 14]]}, "not in order"),
        ({"inputs": [[-1, 9]]}, "not in order"),
        ({"inputs": [[0, None]]}, "not in order"),
        ({"inputs": []}, "not in order"),
        ({"ranges": [[0, 9.5]], "inputs": [[0, 9.5]]}, "not in order"),
        ({"reach": 3}, "farther apart"),
        ({"rate": "-1/8"}, "rate above 0"),
        ({"rate": "1/2"}, "broken between inputs"),
        ({"precision": -8}, "whole numbers of bits"),
    ],
)
def test_checker_refuses_malformed_ranges(change, message):
    with pytest.raises(checker.NotProved, match=message):
        checker_noise.check_ranged(Fraction(1), ADJACENT, {**proof_of("1/8"), **change})
