"""A promise between neighbours ends at one sensitivity where the true answers leave gaps, and why it must."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import noisewright as nw
from noisewright.certificates.certificate import claimed
from noisewright.certificates.checker.checker_release import loss_of
from noisewright.exceptions import NoisewrightError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.numeric.laplace_distribution import LatticeLaw
from noisewright.planning.calibration import charge
from noisewright.planning.column_plan import compile_column
from noisewright.policy.policy import as_policy

FAR = ((0, 0.5), (5, 5.5))


def losses(mechanism: nw.base.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """The distance and the largest log-ratio of every two inputs."""
    channel = mechanism.channel()
    places, logs = np.array(channel.inputs, dtype=float), np.log(channel.matrix)
    apart = np.abs(places[:, None] - places)
    return apart, np.array([np.abs(row - logs).max(axis=1) for row in logs])


def test_across_a_gap_the_loss_is_twice_what_a_chain_of_neighbours_would_allow() -> None:
    """The noise hides numbers 0.5 apart, so its scale is 0.5; a chain of five steps would promise 5, and the loss is 10."""
    mechanism = nw.laplace(epsilon=1, within=FAR, lattice="1/64")
    apart, loss = losses(mechanism)
    assert loss[apart <= 1].max() <= 1 + 1e-9
    worst = loss[apart == 5].max()
    assert worst == pytest.approx(10, abs=0.01)
    assert worst > 1.9 * math.ceil(5) * mechanism.guarantee.epsilon
    assert mechanism.map(1) == 1
    assert mechanism.map(1.001) == mechanism.map(5) == math.inf
    assert "Nothing is promised" in mechanism.guarantee.in_words(5)


@pytest.mark.parametrize(
    ("within", "pair", "loss"),
    [
        (((0, 0.5), (3, 3.5)), (0.5, 3.0), 4.978),
        (((None, 0), (10, 10 + 2**-10)), (0.0, 10.0), 12.127),
        (((0, 5), (7, 7 + 2**-8)), (5.0, 7.0), 2.509),
    ],
)
def test_chains_across_a_gap_would_promise_too_much(within: Any, pair: tuple[float, float], loss: float) -> None:
    mechanism = nw.laplace(epsilon=1, within=within)
    apart = pair[1] - pair[0]
    assert loss_between(mechanism, list(pair)) == pytest.approx(loss, abs=1e-3)
    assert loss > math.ceil(apart)  # what a chain of neighbours would allow
    assert mechanism.map(apart) == math.inf
    assert nw.certificates.Accountant(pair).add(mechanism.guarantee).epsilon().value == math.inf


@pytest.mark.parametrize(
    "within", [FAR, ((0, 1), (1.75, 3)), ((0, 0.5), (1, 1.5), (2, 2.5)), ((None, 0), (1, None)), ((0, 1), (5, None))]
)
def test_every_finite_promise_holds_and_gaps_end_it_at_one_sensitivity(within: tuple[tuple[float, float], ...]) -> None:
    mechanism = nw.laplace(epsilon=1, within=within, lattice="1/16")
    assert mechanism.guarantee.radius == 1
    assert [mechanism.map(d) for d in (0.0, 0.5, 1.0, 1.5)] == [0, 1, 1, math.inf]
    if all(end is not None for pair in within for end in pair):
        apart, loss = losses(mechanism)
        assert loss[apart <= 1].max() <= 1 + 1e-9


def test_without_gaps_chains_of_neighbours_hold() -> None:
    for within in ((0, 6), (0, 0.5)):
        mechanism = nw.laplace(epsilon=1, within=within, lattice="1/64")
        assert mechanism.guarantee.radius is None
        assert mechanism.map(4.5) == 5
        apart, loss = losses(mechanism)
        assert (loss <= np.ceil(apart) + 1e-9).all()


def test_the_metric_scope_covers_every_distance_with_or_without_gaps() -> None:
    mechanism = nw.laplace(epsilon=1, within=FAR, scope="metric", lattice="1/64")
    assert mechanism.guarantee.radius is None
    apart, loss = losses(mechanism)
    assert (loss <= apart * mechanism.guarantee.epsilon * (1 + 1e-9) + 1e-12).all()


def test_noise_that_is_added_and_then_moved_covers_every_distance_with_gaps_too() -> None:
    """Its promise is that of the noise, which is the same for numbers in a gap; so chains may step into gaps."""
    mechanism = nw.mechanisms.snapped_laplace(epsilon=1, within=FAR)
    assert mechanism.map(5) == 5


def test_an_audit_and_a_certificate_tell_the_same_end() -> None:
    mechanism = nw.laplace(epsilon=1, within=FAR, lattice="1/64")
    assert nw.audit(mechanism).value <= 1 + 1e-9
    document = json.loads(mechanism.certificate().to_json())
    assert claimed(document) == Guarantee(1.0, claimed(document).metric, scope="adjacent", radius=1.0)
    unbroken = json.loads(nw.laplace(epsilon=1, within=(0, 6)).certificate().to_json())
    assert claimed(unbroken).radius is None


def loss_between(mechanism: Any, places: list[float]) -> float:
    """The largest log-ratio between two answers, from the law on the lattice points that they are placed on."""
    indices, which = mechanism.inner.place(places, mechanism.lattice, mechanism.inputs, "refuse")
    law = LatticeLaw(float(mechanism.rate), mechanism.ranges)
    normal = law.log_normaliser(which, indices)
    return float(float(mechanism.rate) * abs(indices[1] - indices[0]) + abs(normal[1] - normal[0]))


@pytest.mark.parametrize(
    ("gap", "more", "steps", "loss"),
    [
        ((4.9, 5.1), {"lattice": 1}, 2, 0.887),
        ((1.0361328125 - 0.001, 1.037), {}, 32, 0.00195116),
        ((0.9, 1.1), {"lattice": 1 / 16}, 4, 0.218463),
    ],
)
def test_answers_beside_a_gap_are_as_far_apart_as_they_are_placed(
    gap: tuple[float, float], more: dict[str, Any], steps: int, loss: float
) -> None:
    """Ends of a gap that are no lattice points: an answer goes to the nearest point on its side, not to the nearest of all."""
    mechanism: Any = nw.laplace(epsilon=1, excluding=(gap,), scope="metric", **more)
    metric, step = mechanism.guarantee.metric, float(mechanism.lattice.step)
    assert metric.distance(*gap) == steps * step
    assert loss_between(mechanism, list(gap)) == pytest.approx(loss, rel=1e-3)
    assert loss <= mechanism.guarantee.bound(metric.distance(*gap))
    assert loss <= mechanism.map(gap[1] - gap[0])


@given(
    st.lists(st.floats(-4, 4), min_size=4, max_size=4, unique=True),
    st.lists(st.floats(-5, 5), min_size=2, max_size=2),
    st.sampled_from(["1", "1/4", "1/64"]),
)
@settings(max_examples=150)
def test_the_metric_rounds_as_the_mechanism_does(ends: list[float], pair: list[float], lattice: str) -> None:
    low, gap_low, gap_high, high = sorted(ends)
    assume(min(gap_low - low, gap_high - gap_low, high - gap_high) > 2 * Fraction(lattice))
    mechanism: Any = nw.laplace(
        epsilon=1, within=((low, gap_low), (gap_high, high)), scope="metric", lattice=lattice, sensitivity="1/3"
    )
    # into one of the two intervals each
    x, y = (min(max(v, low), gap_low) if v < 0 else min(max(v, gap_high), high) for v in pair)
    placed = mechanism.inner.place([x, y], mechanism.lattice, mechanism.inputs, "refuse")[0]
    distance = mechanism.guarantee.metric.distance(x, y)
    assert distance == pytest.approx(3 * abs(placed[0] - placed[1]) * float(Fraction(lattice)), rel=1e-12)
    assert mechanism.guarantee.metric.exact([x, y]).between(0, 1) == 3 * abs(int(placed[0] - placed[1])) * Fraction(
        lattice
    )
    loss = loss_between(mechanism, [x, y])
    assert loss <= mechanism.guarantee.bound(distance) * (1 + 1e-9) + 1e-12
    assert loss <= mechanism.map(3 * abs(Fraction(x) - Fraction(y))) * (1 + 1e-9) + 1e-12


def test_what_a_gap_makes_a_step_farther_apart_costs_that_step() -> None:
    unaligned: Any = nw.laplace(epsilon=1, excluding=((4.9, 5.1),), scope="metric", lattice=1)
    aligned: Any = nw.laplace(epsilon=1, excluding=((4, 6),), scope="metric", lattice=1)
    for protect in (Fraction(1, 5), Fraction(1)):
        claim, units = charge(unaligned, protect)
        assert (claim, units) == (1, 2)
        assert claim * units >= loss_between(unaligned, [4.9, 5.1])
        assert charge(aligned, protect) == (1, 1)


def test_prices_of_whole_steps_are_exact() -> None:
    """21/1024 is a whole number of steps, but its float in sensitivities of 3/10 lies a hair above them."""
    mechanism = nw.mechanisms.snapped_laplace(epsilon=1, sensitivity="3/10", scope="metric", lattice="1/1024")
    for steps in range(1, 308):
        protect = Fraction(steps, 1024)
        assert charge(mechanism, protect) == (1, protect / Fraction(3, 10))
        assert charge(mechanism, protect + Fraction(1, 10**30))[1] == (protect + Fraction(1, 1024)) / Fraction(3, 10)
    assert any(Fraction(float(Fraction(s, 1024) * 10 / 3)) > Fraction(s, 1024) * 10 / 3 for s in range(1, 308))


@pytest.mark.parametrize("protect", ["1/5", 1, 3])
@pytest.mark.parametrize("scope", ["metric", "adjacent"])
def test_a_column_with_gaps_is_priced_as_it_is_proved(scope: str, protect: str | int) -> None:
    column = {"name": "x", "mechanism": "laplace", "within": [[0, 4.9], [5.1, 10]], "scope": scope, "protect": protect}
    policy = as_policy({"dataset": "d", "budget": {"epsilon": 1}, "columns": [{**column, "epsilon": 1}]})
    plan = compile_column(policy.columns[0], 0, {"x": pa.float64()}, policy)
    assert 0.99 < plan.price <= 1
    mechanism: Any = plan.mechanism
    assert plan.price == mechanism.certificate().epsilon * plan.distance
    assert loss_of(dict(mechanism.certificate().document), str(plan.distance))[0] <= plan.price
    apart = [4.9, min(4.9 + float(Fraction(protect)), 10.0)]
    if apart[1] >= 5.1:
        assert loss_between(mechanism, apart) <= plan.price


def test_a_policy_protects_the_whole_range_of_a_column_with_gaps_as_one_step() -> None:
    """``protect = "any"`` makes the whole width one sensitivity, so nothing has to be chained."""
    column = {"name": "x", "mechanism": "laplace", "within": [0, 6], "excluding": [[1, 5]], "epsilon": 1}
    policy = as_policy({"dataset": "d", "budget": {"epsilon": 1}, "columns": [column]})
    plan = compile_column(policy.columns[0], 0, {"x": pa.float64()}, policy)
    assert plan.price == 1
    assert plan.mechanism is not None
    assert plan.mechanism.map(1) == 1


def test_a_charge_beyond_the_end_is_refused() -> None:
    mechanism = nw.laplace(epsilon=1, within=FAR)
    assert charge(mechanism, Fraction(1)) == (1, 1)
    with pytest.raises(NoisewrightError, match=r"two sides of a gap .* say protect = 1 or less"):
        charge(mechanism, Fraction(5))
