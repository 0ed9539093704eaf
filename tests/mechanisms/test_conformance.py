"""Every registered mechanism passes the public conformance suite, and broken mechanisms do not."""

import dataclasses
import math

import numpy as np
import pytest

import noisewright as nw
from noisewright.core.errors import DataError
from noisewright.mechanisms import registry
from noisewright.mechanisms.finite import FiniteMechanism
from noisewright.mechanisms.geometric import GeometricMechanism
from noisewright.testing import ConformanceError, check_mechanism

GRID = [(i, j) for i in range(3) for j in range(3)]

CASES = {
    "geometric": (
        lambda: nw.geometric(epsilon="1/2", within=(-3, 12)),
        range(-3, 13),
        [13, 0.5, math.nan],
        [
            lambda: nw.geometric(epsilon=-1),
            lambda: nw.geometric(epsilon=math.inf),
            lambda: nw.geometric(epsilon=1, sensitivity=0),
            lambda: nw.geometric(epsilon=1, within=(5, 5)),
            lambda: nw.geometric(epsilon=1, within=(0.5, 5)),
            lambda: nw.geometric(epsilon=1, within=(0, 5), outside="ignore"),
            lambda: nw.geometric(epsilon=1e-300),
        ],
    ),
    "geometric, sensitivity 3": (lambda: nw.geometric(epsilon=2, sensitivity=3, within=(0, 9)), range(10), [10], []),
    "geometric, unbounded": (lambda: nw.geometric(epsilon=0.3), [-5, 0, 10**6], [0.25], []),
    "randomised-response": (
        lambda: nw.randomised_response(["a", "b", "c"], epsilon=1),
        ["a", "b", "c"],
        ["d", ""],
        [
            lambda: nw.randomised_response(["a"], epsilon=1),
            lambda: nw.randomised_response(["a", "a"], epsilon=1),
            lambda: nw.randomised_response(3, epsilon=0),
        ],
    ),
    "randomised-response, mixed labels": (
        lambda: nw.randomised_response([None, True, "x", (1, 2)], epsilon=2),
        ["x", (1, 2), True],
        ["y"],
        [],
    ),
    "exponential": (
        lambda: nw.exponential([0, 1, 3, 7.5], epsilon=1),
        [0, 1, 3, 7.5],
        [2, math.inf],
        [lambda: nw.exponential([1], epsilon=1), lambda: nw.exponential(["a", "b"], epsilon=1)],
    ),
    "exponential, plane": (
        lambda: nw.exponential(GRID, epsilon=1, metric=nw.Euclidean()),
        GRID,
        [(9, 9)],
        [lambda: nw.exponential(GRID, epsilon=math.nan, metric=nw.Euclidean())],
    ),
    "metric-realising": (
        lambda: nw.metric_realising(range(5), epsilon=1, metric=nw.Line()),
        range(5),
        [5],
        [
            lambda: nw.metric_realising([], epsilon=1, metric=nw.Line()),
            lambda: nw.metric_realising(["*", "b"], epsilon=1, metric=nw.Discrete()),
            lambda: nw.metric_realising(range(3), epsilon=1, metric=nw.Line(), share=0.6),
        ],
    ),
    "channel": (
        lambda: nw.mechanism(nw.Channel([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3]], ["u", "v"], [1, 2, 3])),
        ["u", "v"],
        ["w"],
        [lambda: nw.mechanism(nw.Channel(np.eye(2)), epsilon=1)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_conforms(case):
    make, secrets, unknown, refused = CASES[case]
    report = check_mechanism(make(), secrets=secrets, unknown=unknown, refused=refused)
    needed = {"protocol", "certificate", "shapes", "pickling", "forking", "unknown values"}
    assert needed <= set(report.passed)
    assert "law" in report.passed or case == "geometric, unbounded"


def test_every_registered_mechanism_is_in_the_cases():
    assert set(registry.names()) <= set(CASES)


def test_registry_refuses_a_taken_name_and_an_unknown_one():
    with pytest.raises(nw.NoisewrightError, match="registered already"):
        registry.register("geometric", nw.geometric, secrets="", summary="")
    with pytest.raises(nw.NoisewrightError, match="there is no mechanism called 'laplacian'"):
        registry.build("laplacian", epsilon=1)
    assert isinstance(registry.build("geometric", epsilon=1), GeometricMechanism)


@dataclasses.dataclass(frozen=True)
class Broken(GeometricMechanism):
    """A geometric mechanism with one thing broken."""

    fault: str = ""

    def release(self, values, rng=None):
        if self.fault == "law":
            return super().release(np.clip(np.asarray(values) + 1, 0, 9), rng)
        if self.fault == "shape" and np.ndim(values):
            return super().release(np.append(values, 0), rng)
        if self.fault == "message":
            try:
                return super().release(values, rng)
            except DataError:
                raise DataError(f"the value {np.ravel(values)[0]} is bad") from None
        if self.fault == "fork":
            return super().release(values, rng or np.random.default_rng(0))
        return super().release(values, rng)

    @property
    def guarantee(self):
        promise = super().guarantee
        return dataclasses.replace(promise, epsilon=promise.epsilon / 2) if self.fault == "guarantee" else promise

    def certificate(self, rng=None):
        found = super().certificate(None if self.fault == "simulation" else rng)
        if self.fault == "certificate":
            found = nw.Certificate({**found.document, "proof": {**found.document["proof"], "scale": "1/2"}})
        return found

    def error(self, loss="absolute"):
        return super().error(loss) / (3 if self.fault == "error" else 1)


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("law", "law"),
        ("shape", "law|shapes|released"),
        ("message", "unknown values"),
        ("fork", "pickling|forking"),
        ("guarantee", "guarantee"),
        ("simulation", "certificate"),
        ("certificate", "digest"),
        ("error", "error"),
    ],
)
def test_a_broken_mechanism_does_not_conform(fault, check):
    good = nw.geometric(epsilon=1, within=(0, 9))
    broken = Broken(good.epsilon, good.sensitivity, good.within, good.outside, fault)
    with pytest.raises((ConformanceError, nw.NoisewrightError), match=check):
        check_mechanism(broken, secrets=range(10), unknown=[10])


def test_a_sound_subclass_conforms():
    good = nw.geometric(epsilon=1, within=(0, 9))
    same = Broken(good.epsilon, good.sensitivity, good.within, good.outside)
    assert "law" in check_mechanism(same, secrets=range(10), unknown=[10]).passed


def test_an_accepted_bad_parameter_is_reported():
    with pytest.raises(ConformanceError, match="call 0 was accepted"):
        check_mechanism(nw.geometric(epsilon=1), secrets=[0], refused=[lambda: nw.geometric(epsilon=1)])


def test_finite_mechanism_keeps_its_table_when_pickled():
    import pickle

    mechanism = nw.exponential(range(4), epsilon=1)
    mechanism.release([1, 2])
    copy = pickle.loads(pickle.dumps(mechanism))
    assert isinstance(copy, FiniteMechanism)
    assert copy.certified.table.tolist() == mechanism.certified.table.tolist()
