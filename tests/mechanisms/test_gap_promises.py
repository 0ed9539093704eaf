"""A promise between neighbours ends at one sensitivity where the true answers leave gaps, and why it must."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import noisewright as nw
from noisewright.cli.certificates import claimed
from noisewright.core.errors import NoisewrightError
from noisewright.core.guarantee import Guarantee
from noisewright.core.metric import Line
from noisewright.release.policy import as_policy

FAR = ((0, 0.5), (5, 5.5))


def losses(mechanism: nw.Mechanism) -> tuple[np.ndarray, np.ndarray]:
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
    assert "Nothing is promised" in mechanism.guarantee.reading(5)


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
    mechanism = nw.snapped_laplace(epsilon=1, within=FAR)
    assert mechanism.map(5) == 5


def test_an_audit_and_a_certificate_tell_the_same_end() -> None:
    mechanism = nw.laplace(epsilon=1, within=FAR, lattice="1/64")
    assert nw.audit(mechanism).value <= 1 + 1e-9
    document = json.loads(mechanism.certificate().to_json())
    assert claimed(document) == Guarantee(1.0, claimed(document).metric, scope="adjacent", radius=1.0)
    unbroken = json.loads(nw.laplace(epsilon=1, within=(0, 6)).certificate().to_json())
    assert claimed(unbroken).radius is None


def test_a_delta_does_not_extend_by_chains() -> None:
    promise = Guarantee(1.0, Line(), delta=1e-6, scope="adjacent")
    assert promise.bound(1) == 1
    assert promise.bound(1.5) == math.inf
    assert promise.guess(2) == 1
    assert Guarantee(1.0, Line(), scope="adjacent").bound(1.5) == 2


def test_a_policy_protects_the_whole_range_of_a_column_with_gaps_as_one_step() -> None:
    """``protect = "any"`` makes the whole width one sensitivity, so nothing has to be chained."""
    import pyarrow as pa

    from noisewright.release.columns import compile_column

    column = {"name": "x", "mechanism": "laplace", "within": [0, 6], "excluding": [[1, 5]], "epsilon": 1}
    policy = as_policy({"dataset": "d", "budget": {"epsilon": 1}, "columns": [column]})
    plan = compile_column(policy.columns[0], 0, {"x": pa.float64()}, policy)
    assert plan.price == 1
    assert plan.mechanism is not None
    assert plan.mechanism.map(1) == 1


def test_a_charge_beyond_the_end_is_refused() -> None:
    from fractions import Fraction

    from noisewright.release.prices import charge

    mechanism = nw.laplace(epsilon=1, within=FAR)
    assert charge(mechanism, Fraction(1)) == (1, 1)
    with pytest.raises(NoisewrightError, match="nothing is promised beyond a distance of 1"):
        charge(mechanism, Fraction(5))
