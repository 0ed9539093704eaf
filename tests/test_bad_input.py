"""Bad input gets one typed sentence: what was given, what is allowed, what to do. Never a raw error, never a silent value."""

from __future__ import annotations

import inspect
import json
import math
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from face_support import tiny_model
from word_support import clusters

import noisewright as nw
from noisewright import testing
from noisewright.channels.integer_table import LARGEST_EPSILON
from noisewright.claims.figures import exp_bounds
from noisewright.columns.label_encoder import Labels
from noisewright.exceptions import (
    CertificateError,
    ChannelError,
    DataError,
    FileFormatError,
    GuaranteeError,
    MetricError,
    NoisewrightError,
    NoLossError,
    ParameterError,
)
from noisewright.io.serialization import load_certificate, load_labelled_csv
from noisewright.mechanisms.audit import Neighbours
from noisewright.mechanisms.registry import registry
from noisewright.mechanisms.spatial.geographic import geo_laplace
from noisewright.mechanisms.spatial.planar_geometric import planar_geometric
from noisewright.mechanisms.spatial.planar_laplace import Grid
from noisewright.mechanisms.spatial.vectors import product_laplace, spherical_laplace
from noisewright.metrics.base import decode_label, encode_label, named_metric
from noisewright.metrics.composite import EarthMovers, Scaled, Sum
from noisewright.metrics.sensitivity import closure, essential_pairs, induced_metric, sensitivity
from noisewright.numerics.exact import as_fraction, positive_fraction
from noisewright.resources import Seed
from noisewright.testing import mechanisms as checks

NAN, INF, HUGE, HALF = math.nan, math.inf, 10**400, "\ud800"
CHANNEL = nw.Channel([[0.75, 0.25], [0.5, 0.5]])
SQUARE = [[0, 1], [1, 0]]
TOO_MUCH = r"a loss above 10000, which hides nothing; choose a smaller epsilon"
NO_METRIC = r"a metric must be an object such as Line\(\) or Discrete\(\), not a thing of type (str|int)"


def refuses(kind: type[NoisewrightError], match: str, call: Any) -> None:
    with pytest.raises(kind, match=match) as caught:
        call()
    assert type(caught.value) is kind
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")


# Numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["1_0", "0.2_5", "\u0663", "1/\u0663", "1e1_0", "", " ", "nan", "inf", "1/0", "1e5/2", "0x1", HALF]
)
def test_strings_that_are_no_numbers(text: str) -> None:
    refuses(
        ParameterError, "epsilon = .* is not a number; write it like 0.5 or 1/2", lambda: as_fraction(text, "epsilon")
    )


@pytest.mark.parametrize("text", ["1e10000", "1e-99999999999", "1" * 5000, "1/" + "3" * 4500])
def test_strings_that_would_take_for_ever(text: str) -> None:
    refuses(ParameterError, "epsilon is far too long or too large a number", lambda: as_fraction(text, "epsilon"))


def test_strings_that_are_numbers() -> None:
    assert [as_fraction(t) for t in (" 1/2 ", "+.5", "5.", "1e-3", "-1E+0002")] == [
        Fraction(1, 2),
        Fraction(1, 2),
        5,
        Fraction(1, 1000),
        -100,
    ]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-HUGE, "not a number below -1.8e308"),
        (Fraction(-1, HUGE), "not a negative number"),
        (0, "not 0.0"),
        ("-1e400", "not -1e400"),
    ],
)
def test_numbers_that_are_not_positive(value: Any, words: str) -> None:
    refuses(ParameterError, f"epsilon must be greater than 0, {words}", lambda: positive_fraction(value, "epsilon"))


def test_numbers_that_no_certificate_can_spell() -> None:
    refuses(ParameterError, "far too long or too large", lambda: positive_fraction(10**5000, "epsilon"))


# The geometric mechanism -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("within", "words"),
    [
        ((NAN, 3), "not nan and int"),
        ((0, INF), "not int and inf"),
        ((0, 1, 2), "not 3 of them"),
        (5, "not int"),
        ((None, 5), "not NoneType and int"),
        ((False, True), "not bool and bool"),
        (("0", "5"), "not str and str"),
        ((0.5, 3), "not 0.5 and int"),
        ((3, 0), "not 3 and 0"),
    ],
)
def test_ranges(within: Any, words: str) -> None:
    refuses(
        ParameterError,
        f"within must be two whole numbers, low before high, {words}",
        lambda: nw.geometric(epsilon=1, within=within),
    )


def test_more_about_ranges() -> None:
    refuses(ParameterError, "between -2.53 and 2.53", lambda: nw.geometric(epsilon=1, within=(HUGE, HUGE + 1)))
    assert nw.geometric(epsilon=1, within=(np.int64(0), 5.0)).within == (0, 5)  # type: ignore[arg-type]
    over = nw.geometric(epsilon=1, within=(0, 5), outside="keep")
    refuses(ParameterError, "inputs must be a list", lambda: over.channel(5))  # type: ignore[arg-type]


def test_geometric_epsilons() -> None:
    refuses(ParameterError, "epsilon must be greater than 0", lambda: nw.geometric(epsilon=-HUGE))
    refuses(ParameterError, "epsilon must be below 1e308", lambda: nw.geometric(epsilon=HUGE))
    steep = nw.geometric(epsilon=1e300, sensitivity=1e-100, within=(0, 3))
    assert steep.error() == 0
    refuses(ChannelError, "log-probabilities must be at least", steep.channel)


@pytest.mark.parametrize("value", [2**70, [2**70, 1], [2**63, -1], [-(2**70)], 2.0**63])
def test_values_that_are_too_large_are_called_so(value: Any) -> None:
    refuses(DataError, r"a value is beyond 2\^62 in size", lambda: nw.geometric(epsilon=1).release(value))


def test_values_that_form_no_column() -> None:
    count = nw.geometric(epsilon=1)
    refuses(DataError, "do not form a column", lambda: count.release([[1], [1, 2]]))
    refuses(DataError, "some values are masked", lambda: count.release(np.ma.masked_array([1, 2], [True, False])))
    refuses(DataError, "not whole numbers", lambda: count.release([True, 2**70]))


# Randomised response ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("categories", "words"),
    [
        (3.0, "are a list, or the number of them, not float"),
        (None, "are a list, or the number of them, not NoneType"),
        (True, "are a list, or the number of them, not bool"),
        (np.array(3.5), "are a list, or the number of them, not ndarray"),
        (-1, "the number of them up to 10000000, not -1"),
        (10**12, "the number of them up to 10000000, not more"),
        (1, "needs at least 2 categories, not 1"),
        ([[1], [2]], "must be numbers, strings or tuples; a list cannot be a label"),
        ([HALF, "b"], "a lone surrogate. cannot be a label"),
        ([("a", HALF), "b"], "a lone surrogate. cannot be a label"),
        ([NAN, 1], "NaN cannot be a label"),
        ([1, 1.0], "must be different from each other"),
    ],
)
def test_categories(categories: Any, words: str) -> None:
    refuses(ParameterError, words, lambda: nw.randomised_response(categories, epsilon=1))


def test_categories_of_numpy() -> None:
    assert nw.randomised_response(np.int64(3), epsilon=1).categories == (0, 1, 2)  # type: ignore[arg-type]
    listed = nw.randomised_response(np.array([4, 5]), epsilon=1)
    assert listed.categories == (4, 5)
    assert listed.certificate().verify() == "epsilon = 1 per unit of discrete"


@pytest.mark.parametrize("size", [2, 3, 100, 10**5])
@pytest.mark.parametrize("epsilon", ["1e-30", "1e-20", "1e-18", "1e-9", "0.1", "1", "40", "700", "2000"])
def test_every_epsilon_is_proved_and_drawn(size: int, epsilon: str) -> None:
    response = nw.randomised_response(size, epsilon=epsilon)
    assert response.keep >= response.other > 0
    assert response.keep + (size - 1) * response.other == 1 << response.width
    assert size * response.other <= 1 << response.width
    bits = response.precision + 64
    assert response.keep << bits <= exp_bounds(Fraction(epsilon), bits)[0] * response.other
    response.certificate().verify()
    assert len(response.release([0, 1, 1])) == 3
    if size <= 100:
        found = response.channel().epsilon().value
        assert found == pytest.approx(float(epsilon), rel=1e-6, abs=1e-15)


def test_whole_numbers_beyond_floats_stay_apart() -> None:
    mixed = nw.randomised_response([2**53, 2**53 + 1, 0.5], epsilon=100)
    assert mixed.release([2**53 + 1, 2**53, 0.5]).tolist() == [2**53 + 1, 2**53, 0.5]
    assert mixed.release(2**53 + 1) == 2**53 + 1
    pair = nw.randomised_response([2**60, 2**60 + 1], epsilon=100)
    assert pair.release(np.array([2**60 + 1], dtype=np.uint64)).tolist() == [2**60 + 1]
    assert pair.release(np.array([2.0**60])).tolist() == [2**60]
    for labels, value in (([2.0**53, 0.5], [2**53 + 1]), ([2**60 + 1, 7], [2.0**60]), ([0.5, 2.0**63], [2**63 - 1])):
        refuses(DataError, "not one of the declared secrets", lambda x=labels, v=value: Labels(x).encode(v))


def test_characters_of_code_zero_survive() -> None:
    response = nw.randomised_response(["a\0", "a"], epsilon=100)
    assert response.release(["a\0", "a"]).tolist() == ["a\0", "a"]
    assert response.release("a\0") == "a\0"
    plain = nw.randomised_response(["a", "b"], epsilon=1)
    refuses(DataError, "not one of the declared secrets", lambda: plain.release(["a\0"]))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([HALF], "not one of the declared"),
        (HALF, "not one of the declared"),
        (np.array([HALF]), "not one of the declared"),
        ([["a"], ["a", "b"]], "not of the kind"),
        (([1],), "not of the kind"),
        ([b"a"], "not of the kind"),
        ([None], "some values are missing"),
        (["a", None], "some values are missing"),
        (["a", float("nan")], "some values are missing"),
        (["a", 1], "not of the kind"),
    ],
)
def test_values_among_strings(value: Any, words: str) -> None:
    refuses(DataError, words, lambda: nw.randomised_response(["a", "b"], epsilon=1).release(value))


def test_values_among_tuples() -> None:
    response = nw.randomised_response([(1,), (2,)], epsilon=1)
    refuses(DataError, "not one of the declared", lambda: response.release(([1], 2, {})))


# Large epsilons --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda e: nw.randomised_response(3, epsilon=e),
        lambda e: nw.exponential(range(5), epsilon=e),
        lambda e: nw.mechanisms.metric_realising([0, 1], epsilon=e, metric=nw.metrics.Line()),
        lambda e: nw.mechanisms.explicit_fair(epsilon=e, within=(0, 3)),
        lambda e: nw.mechanism(CHANNEL, epsilon=e),
        CHANNEL.certify,
    ],
)
@pytest.mark.parametrize("epsilon", [LARGEST_EPSILON + 1, 10**6, 1e308, HUGE])
def test_an_epsilon_that_hides_nothing(call: Any, epsilon: Any) -> None:
    refuses(ParameterError, TOO_MUCH, lambda: call(epsilon))


def test_what_counts_is_the_loss_between_the_nearest_secrets() -> None:
    assert nw.exponential([0, 1e-6], epsilon=10**8).certificate().verify() == "epsilon = 100000000 per unit of line"
    refuses(ParameterError, TOO_MUCH, lambda: CHANNEL.certify(1, 20_000 * nw.metrics.Discrete()))
    refuses(ParameterError, "too small for a table of integers", lambda: nw.exponential(range(20), epsilon=10**4))
    refuses(ChannelError, "log-probabilities must be at least", lambda: nw.exponential([0, 1, 1e308], epsilon=100))


def test_audits_of_any_epsilon() -> None:
    for epsilon in (HUGE, "1e500", 1e308, 10**6):
        assert CHANNEL.delta(epsilon) == 0
        assert nw.Channel.identity([0, 1]).delta(epsilon) == 1
    refuses(ParameterError, "epsilon must be 0 or more", lambda: CHANNEL.delta(-HUGE))
    refuses(ParameterError, "delta must be between 0 and 1", lambda: CHANNEL.epsilon_at(HUGE))


# Every constructor in the registry -------------------------------------------------------------------------------

GOOD: dict[str, dict[str, Any]] = {
    **{
        name: {"embedding": clusters(), "epsilon": 2}
        for name in ("exact-words", "laplace-words", "mahalanobis-words", "truncated-exponential-words", "vickrey-words")
    },
    "private-documents": {"embedding": clusters(), "epsilon": 2, "size": 3},
    "lshrr": {"epsilon": 1, "dimension": 3, "bits": 9, "seed": Seed(bytes(32))},
    "hashed-sets": {"epsilon": 1, "dimension": 3, "hashes": 9, "seed": Seed(bytes(32))},
    "laplace-hash": {"epsilon": 1, "dimension": 3, "bits": 9, "seed": Seed(bytes(32))},
    "pixel-laplace": {"epsilon": 50, "width": 8, "height": 6, "block": 2},
    "pixel-exponential": {"epsilon": 50, "width": 8, "height": 6, "block": 2, "levels": 4},
    "pixel-windows": {"epsilon": 50, "width": 8, "height": 6, "block": 2, "window": 2, "levels": 2},
    "faces": {"model": tiny_model(), "epsilon": 60, "components": 3},
    "approximate-laplace": {"epsilon": 1, "delta": "0.01", "within": (0, 5)},
    "curve": {"epsilon": 1, "sensitivity": 1, "grid": [0, 1], "within": (0, 1)},
    "explicit-fair": {"epsilon": 1, "within": (0, 5)},
    "exponential": {"points": [0, 1, 2], "epsilon": 1},
    "gaussian": {"epsilon": 1, "delta": "0.01", "within": (0, 5)},
    "geo-laplace": {"epsilon": 1, "radius": 200, "reference": (48.8566, 2.3522)},
    "geometric": {"epsilon": 1, "within": (0, 5)},
    "hadamard-response": {"categories": ["a", "b"], "epsilon": 1},
    "laplace": {"epsilon": 1, "within": (0, 5)},
    "local-hashing": {"categories": ["a", "b"], "epsilon": 1},
    "metric-realising": {"points": [0, 1], "epsilon": 1, "metric": nw.metrics.Line()},
    "planar-geometric": {"points": [(0, 0), (0, 1), (2, 1)], "epsilon": 1},
    "planar-laplace": {"epsilon": 1},
    "product-laplace": {"epsilon": 1, "dimension": 3},
    "randomised-response": {"categories": ["a", "b"], "epsilon": 1},
    "selection": {"candidates": ["a", "b"], "epsilon": 1},
    "snapped-laplace": {"epsilon": 1, "within": (0, 5)},
    "spherical-laplace": {"epsilon": 1, "dimension": 3},
    "staircase": {"epsilon": 1, "within": (0, 5)},
    "subset-selection": {"categories": ["a", "b", "c"], "epsilon": 1},
    "truncated-laplace": {"epsilon": 1, "within": (0, 5)},
    "unary-encoding": {"categories": ["a", "b"], "epsilon": 1},
    "uniform": {"points": 3},
}  # fmt: skip

NUMBERS = {"epsilon", "sensitivity", "delta", "margin", "lattice", "share", "radius", "dimension"}

ANYTHING: list[Any] = [
    None, True, False, NAN, INF, -INF, -1, 0, HUGE, -HUGE, 1e308, 5e-324, 1j, "", "x", "nan", "1e400", HALF, b"", b"1",
    [], (), {}, set(), [None], [None, None], [[]], [()], [{}], [[1]], [[[1]]], [[1], [2, 3]], ([1], [2]), (0, 1, 2),
    (NAN, NAN), (INF, -INF), (True, False), ("a", "b"), [(0, 1), (NAN, 2)], [(0, 1), None], [(0, 1), (2,)], (set(), set()),
    [HUGE, HUGE + 1], (-1e308, 1e308), (0, 5e-324), {"a": 1}, range(0), object(), abs, int, CHANNEL, nw.metrics.Line(),
    np.array([]), np.array(1.5), np.array([[1, 2]]), np.array([1, NAN]), np.array([None, 1]), np.float64("nan"), np.bool_(True),
    np.ma.masked_array([1, 2], [True, False]), np.datetime64("2020-01-01"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "parameter"),
    [(name, parameter) for name in GOOD for parameter in inspect.signature(registry[name].make).parameters],
)
def test_anything_at_all_as_a_parameter(name: str, parameter: str) -> None:
    """It is taken for what it is, or refused in a sentence; a parameter that is a number is never anything else."""
    constructor = registry[name].make
    signature = inspect.signature(constructor)
    for thing in ANYTHING:
        made, message = attempt(constructor, **{**GOOD[name], parameter: thing})
        if made is None:
            assert message.endswith(".")
            assert "\n" not in message
            assert 20 < len(message) < 400
        elif parameter in NUMBERS and thing is not signature.parameters[parameter].default:
            assert type(thing) in (int, float, str)
            assert as_fraction(thing) >= 0


def test_every_mechanism_is_tried() -> None:
    assert set(GOOD) == set(registry)


def attempt(constructor: Any, **parameters: Any) -> tuple[Any, str]:
    """A mechanism, or the message with which its parameters are refused."""
    try:
        return constructor(**parameters), ""
    except ParameterError as problem:
        return None, str(problem)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nw.planar_laplace(epsilon=1, lattice=np.array([1, 2])), "the lattice step must be a number, not ndarray"),
        (lambda: product_laplace(epsilon=1, dimension=2, lattice=[]), "the lattice step must be a number, not list"),
        (lambda: product_laplace(epsilon=1, dimension=2, lattice=2**100), "too coarse for noise of scale 1/epsilon"),
        (lambda: product_laplace(epsilon=1, dimension=HUGE), "dimension must be from 1 to 1048576, not more"),
        (lambda: spherical_laplace(epsilon=1, dimension=-HUGE), "dimension must be from 1 to 1048576, not less"),
        (lambda: spherical_laplace(epsilon="1e-200", dimension=1), "must be from 1e-100 to 1e100; measure distances in"),
        (lambda: geo_laplace(epsilon=1, radius=1, reference=(0, 0), outside=np.array([1, 2])), "outside must be 'refuse' or"),
        (lambda: geo_laplace(epsilon=1, radius=1, reference=(HUGE, 0)), "reference must be a latitude within -90 and 90"),
        (lambda: geo_laplace(epsilon=1, radius=1, reference="12"), "reference must be two numbers: latitude and longitude"),
        (lambda: planar_geometric(None, epsilon=1), "points must be a grid, or a list of pairs .* type NoneType"),
        (lambda: planar_geometric(5, epsilon=1), "points must be a grid, or a list of pairs .* type int"),
        (lambda: planar_geometric(["12", "34"], epsilon=1), "must be pairs of numbers"),
        (lambda: planar_geometric([(0, HUGE), (0, 1)], epsilon=1), "a coordinate is not an exact float; use whole numbers"),
        (lambda: planar_geometric([(0, 0), (0, 1)], epsilon=10**8), "hides nothing; choose a smaller one"),
        (lambda: planar_geometric(Grid(2**31, 2**31), epsilon=1), "at most 10000000 points; choose a coarser one"),
        (lambda: Grid(HUGE, 2), r"a grid needs 1 to 2\^31 columns, not more"),
        (lambda: Grid(2, 2.5), "a grid needs a whole number of rows, not a thing of type float"),  # type: ignore[arg-type]
        (lambda: Grid(2, 2, step=HUGE), "the step of a grid must be two finite numbers"),
        (lambda: Grid(2, 2, origin=(True, 0)), "the origin of a grid must be two finite numbers"),
        (lambda: nw.planar_laplace(epsilon=1, remap=[(HUGE, 1)]), "the public places must be pairs of finite numbers"),
        (lambda: nw.planar_laplace(epsilon=1, remap=["12", "34"]), "the public places must be pairs of finite numbers"),
    ],
)  # fmt: skip
def test_planes_and_vectors(call: Any, words: str) -> None:
    refuses(ParameterError, words, call)


def test_errors_of_the_smallest_and_the_largest_epsilon_are_numbers() -> None:
    for epsilon in ("1e-100", "1e100"):
        made = (nw.planar_laplace(epsilon=epsilon), product_laplace(epsilon=epsilon, dimension=2**20))
        for mechanism in (*made, spherical_laplace(epsilon=epsilon, dimension=2**20)):
            assert 0 < mechanism.error("squared") < INF
            assert mechanism.error() ** 2 <= mechanism.error("squared") * (1 + 1e-9)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (None, "outputs of the uniform responder are a list, or the number of them, not NoneType"),
        (True, "not bool"),
        (2.0, "not float"),
        (-HUGE, "not a number below -1.8e308"),
        (HUGE, "up to 10000000, not more"),
        ([[1]], "a list cannot be a label"),
        ([NAN, 1], "NaN cannot be a label"),
        (0, "needs one or more outputs, all different"),
        ([], "needs one or more outputs, all different"),
        (["a", "a"], "needs one or more outputs, all different"),
    ],
)
def test_outputs_of_the_uniform_responder(points: Any, words: str) -> None:
    refuses(ParameterError, words, lambda: nw.mechanisms.uniform(points))


@pytest.mark.parametrize("constructor", [nw.laplace, nw.mechanisms.snapped_laplace])
@pytest.mark.parametrize("scope", ["adjacent", "metric"])
def test_sizes_that_floats_can_hardly_hold(constructor: Any, scope: Any) -> None:
    """A mechanism that promises what was asked for, or a sentence; where nothing else is strange, a billionth is fine."""
    built = set()
    sets = [(0, 1e-300), (0, 1e-20), (1e300, 1.1e300), (2.0**60, 2.0**61), (0, 1e300), (0, None), None,
            [(None, 0), (1e-100, None)], [(0, 1), (1e15, 1e16)]]  # fmt: skip
    for number, within in enumerate(sets):
        for size in (1, 1e-300, 1e300, "1e-5"):
            for epsilon in (1e-12, 1e-9, 1, 1e5):
                made, message = attempt(constructor, epsilon=epsilon, sensitivity=size, within=within, scope=scope,
                                        **({"shape": "symmetric"} if constructor is nw.laplace else {}))  # fmt: skip
                if made is None:
                    assert message.endswith(".")
                    continue
                certificate = made.certificate()
                certificate.verify()
                assert Fraction(certificate.document["claim"]["epsilon"]) == Fraction(epsilon)
                assert 0 < made.error() < INF
                built.add((number, size, epsilon))
    assert {(number, 1, epsilon) for number in (5, 6) for epsilon in (1e-9, 1, 1e5)} <= built


# Finite mechanisms -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", ["0.5", None, True])
def test_shares(share: Any) -> None:
    refuses(
        ParameterError,
        "share must be a number above 0 and at most 1/2, not",
        lambda: nw.mechanisms.metric_realising([0, 1], epsilon=1, metric=nw.metrics.Line(), share=share),
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda m: nw.mechanisms.metric_realising([0, 1], epsilon=1, metric=m),
        lambda m: nw.exponential([0, 1], epsilon=1, metric=m),
        lambda m: nw.mechanism(CHANNEL, epsilon=1, metric=m),
        lambda m: nw.audit(CHANNEL, m),
        CHANNEL.epsilon,
        lambda m: CHANNEL.delta(1, m),
        lambda m: CHANNEL.epsilon_at(0.1, m),
        lambda m: CHANNEL.certify(1, m),
        lambda m: nw.certificates.Accountant([0, 1]).epsilon(m),
        lambda m: nw.metrics.Line() + m,
        lambda m: nw.metrics.Line() | m,
        lambda m: nw.metrics.Product((nw.metrics.Line(), m)),
        lambda m: Scaled(m, Fraction(2)),
        EarthMovers,
        lambda m: essential_pairs(m, [1, 2]),
        lambda m: induced_metric(abs, [1, 2], m),
        lambda m: sensitivity(abs, [1, 2], m),
    ],
)
@pytest.mark.parametrize("metric", ["line", 3])
def test_things_that_are_no_metrics(call: Any, metric: Any) -> None:
    refuses(MetricError, NO_METRIC, lambda: call(metric))


def test_a_metric_that_is_missing() -> None:
    missing: Any = None
    refuses(
        MetricError, r"not nothing \(None\)", lambda: nw.mechanisms.metric_realising([0, 1], epsilon=1, metric=missing)
    )


@pytest.mark.parametrize("constructor", [nw.exponential, nw.mechanisms.metric_realising])
def test_points(constructor: Any) -> None:
    for points, words in (
        (5, "not int"),
        ([[0], [1]], "a list cannot be a label"),
        ([NAN, 1], "NaN cannot be a label"),
    ):
        refuses(ParameterError, words, lambda p=points: constructor(p, epsilon=1, metric=nw.metrics.Line()))


def test_things_of_another_kind(tmp_path: Path) -> None:
    thing: Any = [[1, 0], [0, 1]]
    refuses(ChannelError, r"made from a Channel, not from list; wrap it", lambda: nw.mechanism(thing))
    refuses(ParameterError, "needs a Channel or a mechanism, not list", lambda: nw.audit(thing))
    refuses(ParameterError, "needs a Channel or a mechanism, not type", lambda: nw.audit(nw.Channel))  # type: ignore[arg-type]
    refuses(ParameterError, "can be saved, not list", lambda: nw.save(thing, tmp_path / "x.json"))
    refuses(ChannelError, "no such secret", lambda: nw.mechanism(CHANNEL).certified.probability(9, 9))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("labels", [[None, 1], ["1", "2"], [0, 10**400], [(0, "a"), (1, "b")]])
def test_losses_of_labels_that_are_no_numbers(labels: Any) -> None:
    made = nw.mechanism(nw.Channel([[0.7, 0.3], [0.3, 0.7]], labels, labels))
    refuses(NoLossError, "needs secrets and outputs that are numbers; use 'zero-one'", made.error)


def test_losses_beyond_all_floats() -> None:
    made = nw.mechanism(nw.Channel([[0.7, 0.3], [0.3, 0.7]], [0, 1e200], [0, 1e200]))
    refuses(NoLossError, "beyond all floats; rescale them", lambda: made.error("squared"))


# Channels, metrics, accounts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        (5, "inputs must be a list of numbers, strings or tuples, not int"),
        (np.array(5), "inputs must be a list of numbers, strings or tuples, not ndarray"),
        ([HALF, "b"], "a lone surrogate. cannot be a label"),
        ([NAN, "b"], "NaN cannot be a label"),
        ([(1, [2]), "b"], "a list cannot be a label"),
    ],
)
def test_labels_of_channels(inputs: Any, words: str) -> None:
    refuses(ChannelError, words, lambda: nw.Channel(np.eye(2), inputs))
    refuses(ChannelError, words, lambda: nw.Channel.identity(inputs))
    refuses(ChannelError, words.replace("inputs", "secrets"), lambda: CHANNEL.after(lambda _: 0, inputs))


@pytest.mark.parametrize(
    "matrix",
    [
        [["1", "0"]],
        [[b"1"]],
        np.array([[1 + 0j]]),
        np.array([["1", 0]], dtype=object),
        np.ma.masked_array([[1, 0]], [[0, 1]]),
    ],
)
def test_matrices_of_something_else(matrix: Any) -> None:
    refuses(ChannelError, "a matrix of numbers with rows of one length", lambda: nw.Channel(matrix))


def test_channels_with_something_else() -> None:
    other: Any = 5
    refuses(ChannelError, "with a Channel, not with int", lambda: CHANNEL.compose(other))
    refuses(ChannelError, "with a Channel, not with int", lambda: CHANNEL.equivalent(other))
    refuses(ChannelError, "not among the 2 inputs", lambda: CHANNEL.positions(other))


@pytest.mark.parametrize(
    ("within", "words"), [(NAN, "not nan"), (-1, "not -1"), ("a", "not str"), (True, "not bool"), (-INF, "not -inf")]
)
def test_how_far_pairs_may_be_apart(within: Any, words: str) -> None:
    for call in (CHANNEL.delta, CHANNEL.worst_event, CHANNEL.epsilon_at):
        refuses(ParameterError, f"within must be a distance, .*{words}", lambda c=call: c(0, within=within))


def test_pairs_within_a_distance() -> None:
    assert CHANNEL.delta(0, within=INF) == CHANNEL.delta(0, within=Fraction(1)) == 0.25  # type: ignore[arg-type]
    assert CHANNEL.delta(0, within=0) == 0


@pytest.mark.parametrize("change", ["a", None, True])
def test_changes(change: Any) -> None:
    refuses(
        ParameterError,
        "max_change must be a number above 0 and at most 1, not",
        lambda: CHANNEL.certify(1, max_change=change),
    )


@pytest.mark.parametrize("distances", ["abc", None, [[0, 1], [1]], [["0"]], [[0j]], 3, [[HUGE]], []])
def test_tables_that_are_no_matrices(distances: Any) -> None:
    refuses(MetricError, "a table metric needs a square matrix of distances", lambda: nw.metrics.Table(distances))
    refuses(MetricError, "closure needs a square matrix of weights", lambda: closure(distances))


def test_points_and_tolerances_of_tables() -> None:
    table: Any = nw.metrics.Table
    refuses(MetricError, "a list cannot be a label", lambda: table(SQUARE, ([1], [2])))
    refuses(MetricError, "must be a list of numbers, strings or tuples, not int", lambda: table(SQUARE, 5))
    refuses(MetricError, "must be a list of numbers, strings or tuples, not int", lambda: closure(SQUARE, 5))  # type: ignore[arg-type]
    refuses(MetricError, "a list is not one", lambda: table(SQUARE).matrix([[1]]))
    for tolerance in (10, -1, NAN, "a", None, True):
        refuses(MetricError, "must be a number from 0 to 0.01", lambda t=tolerance: table(SQUARE, tolerance=t))


def test_metrics_of_something_else() -> None:
    line: Any = nw.metrics.Line()
    refuses(
        MetricError,
        r"a tuple of metrics such as \(Line\(\), Line\(\)\), not a thing of type Line",
        lambda: nw.metrics.Product(line),
    )
    refuses(MetricError, "a product of metrics needs at least one", lambda: nw.metrics.Product(()))
    refuses(MetricError, "a sum of metrics needs at least one", lambda: Sum(()))
    refuses(MetricError, "added to another metric only, not to a thing of type int", lambda: 1 + line)
    refuses(MetricError, "a maximum is taken of metrics only", lambda: 3 | line)
    refuses(MetricError, "scaled by a number above 0 only, not by a number below -1e300", lambda: -HUGE * line)
    refuses(ParameterError, "a metric's factor must be a number, not NoneType", lambda: line * None)
    refuses(MetricError, "the name of a metric is a string", lambda: named_metric(5))  # type: ignore[arg-type]
    refuses(MetricError, "number vectors of one length", lambda: nw.metrics.Euclidean().distance("1", "2"))
    assert (2**70 * line).distance(0, 1) == 2.0**70
    assert str(HUGE * line) == f"{HUGE} * line"  # exactly, however long
    assert Scaled(line, 0.5).name == "1/2 * line"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "metric", [nw.metrics.Line(), nw.metrics.Discrete(), nw.metrics.Hamming(), nw.metrics.Table(SQUARE)]
)
def test_points_that_are_no_list(metric: nw.metrics.Metric) -> None:
    for points in (5, np.array(5)):
        refuses(MetricError, "measures between a list of points, not", lambda p=points: metric.matrix(p))


def test_distances_that_a_metric_must_not_give() -> None:
    class Odd(nw.metrics.Metric):
        name = "odd"

        def matrix(self, points: Any) -> Any:
            return np.full((len(points),) * 2, NAN)

    refuses(MetricError, "negative or not a number", lambda: Odd().exact([1, 2]))
    assert Neighbours(nw.metrics.Line()).exact([1, 2]).between(0, 1) is not None


def test_accounts() -> None:
    account: Any = nw.certificates.Accountant([0, 1])
    refuses(ParameterError, "adds a Channel or a Guarantee, not int", lambda: account.add(5))
    refuses(ParameterError, "a whole number of times, not float", lambda: account.add(CHANNEL, times=1.5))
    refuses(ParameterError, "a whole number of times, not bool", lambda: account.add(CHANNEL, times=True))
    refuses(ParameterError, "0 or more times, not more than", lambda: account.add(CHANNEL, times=HUGE))
    refuses(
        ParameterError, "must be a list of numbers, strings or tuples, not int", lambda: nw.certificates.Accountant(5)
    )  # type: ignore[arg-type]
    assert account.releases == 0
    assert account.add(CHANNEL, times=np.int64(2)).releases == 2
    assert account.add(nw.Guarantee(1e308, nw.metrics.Line()), times=9).epsilon().value == INF


# Certificates and files ------------------------------------------------------------------------------------------


WHOLE = nw.geometric(epsilon=1).certificate().document


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"numerics": None}, "it has no numerics"),
        ({"randomness": 3}, "it has no randomness"),
        ({"digest": None}, "it has no digest"),
        ({"mechanism": []}, "it has no mechanism"),
        ({"claim": []}, "it has no claim"),
        ({"proof": "x"}, "it has no proof"),
        ({"proof": {}}, "its proof does not say of which kind"),
        ({"claim": {}}, "its claim has no epsilon or no delta"),
        ({"claim": {**WHOLE["claim"], "epsilon": "1_0"}}, "its claim has no epsilon or no delta"),
        ({"claim": {**WHOLE["claim"], "metric": 3}}, "its claim has no metric or no distances"),
        ({"claim": {**WHOLE["claim"], "distances": {}}}, "its claim has no metric or no distances"),
    ],
)
def test_certificates_of_another_shape(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    text = json.dumps({**WHOLE, **change})
    path = tmp_path / "c.json"
    path.write_text(text)
    for call in (lambda: nw.Certificate.from_json(text), lambda: nw.load(path), lambda: load_certificate(path)):
        refuses(CertificateError, f"the certificate is incomplete or malformed: {words}", call)


def test_certificates_that_are_none() -> None:
    refuses(
        CertificateError,
        "incomplete or malformed",
        lambda: nw.Certificate.from_json('{"format":"noisewright-certificate"}'),
    )
    refuses(CertificateError, "it is not JSON", lambda: nw.Certificate.from_json(5))  # type: ignore[arg-type]
    refuses(CertificateError, "not a Noisewright certificate", lambda: nw.Certificate.from_json("[]"))
    assert nw.Certificate.from_json(json.dumps(WHOLE)).epsilon == 1


@pytest.mark.parametrize("path", [None, 5, b"x.json", ["x.json"]])
def test_names_of_another_kind(path: Any) -> None:
    for call in (nw.load, load_certificate, lambda p: nw.save(CHANNEL, p)):
        refuses(ParameterError, "the name of a file is a string or a Path, not", lambda c=call: c(path))


@pytest.mark.parametrize("name", ["a\0.json", f"{HALF}.json"])
def test_names_that_no_file_has(tmp_path: Path, name: str) -> None:
    for call in (nw.load, lambda p: nw.save(CHANNEL, p)):
        refuses(FileFormatError, "cannot be the name of a file", lambda c=call: c(os.fspath(tmp_path) + "/" + name))


@pytest.mark.parametrize("label", [HALF, ("a", HALF), 10**3000, Fraction(1, 10**3000)])
def test_labels_that_no_file_holds(label: Any) -> None:
    refuses(ParameterError, "a label .* cannot be written to a file", lambda: encode_label(label))


@pytest.mark.parametrize("value", [NAN, INF, HALF, {"tuple": [NAN]}, {"fraction": "1_0"}])
def test_labels_that_no_file_should_hold(value: Any) -> None:
    refuses(FileFormatError, "a label in this file", lambda: decode_label(value))


@pytest.mark.parametrize("suffix", [".csv", ".json", ".npz"])
def test_words_that_look_like_numbers_come_back(tmp_path: Path, suffix: str) -> None:
    names = ["NaN", "Infinity", "1e999", "a\0", "1_0"]
    channel = nw.Channel(np.eye(5), names, names)
    assert nw.load(nw.save(channel, tmp_path / f"c{suffix}")).inputs == tuple(names)  # type: ignore[union-attr]


@pytest.mark.parametrize("cell", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_names_in_a_csv_that_are_not_finite(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "c.csv"
    for text in (f",a,{cell}\nx,0.5,0.5\n", f",a,b\n{cell},0.5,0.5\n"):
        path.write_text(text)
        refuses(FileFormatError, "c.csv: a name is NaN or infinite; put it in quotes", lambda: nw.load(path))


@pytest.mark.parametrize("cell", ["0.2_5", "\u0663", "0x1", "", "infinit"])
def test_numbers_in_a_csv(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "c.csv"
    path.write_text(f",a,b\nx,0.75,{cell}\n", encoding="utf-8")
    refuses(FileFormatError, "c.csv: an entry is not a number", lambda: nw.load(path))


def test_infinite_distances_in_a_csv(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(",a,b\na,0,inf\nb,inf, 1e-3\n")
    assert load_labelled_csv(tmp_path / "d.csv")[2] == [[0, INF], [INF, 0.001]]


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": "ab"},
        {"outputs": {"a": 1}},
        {"inputs": [NAN, 1]},
        {"inputs": [HALF, 1]},
        {"matrix": [["1", "0"], ["0", "1"]]},
        {"matrix": [[HUGE, 0], [0, 1]]},
        {"logs": [["0_0", 0], [0, 0]]},
        {"logs": [[-HUGE, 0], [0, "-inf"]]},
    ],
)
def test_channels_in_json(tmp_path: Path, change: dict[str, Any]) -> None:
    path = nw.save(nw.Channel(np.eye(2)), tmp_path / "c.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    refuses(FileFormatError, r"c\.json", lambda: nw.load(path))


def test_damaged_npz_files(tmp_path: Path) -> None:
    path = nw.save(nw.Channel(np.eye(30)), tmp_path / "c.npz")
    content, problems = path.read_bytes(), []
    for place in range(0, len(content), 7):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        try:
            nw.load(path)
        except FileFormatError as problem:
            problems.append(str(problem))
    assert problems
    assert all(message.startswith("c.npz") for message in problems)


# The conformance suite -------------------------------------------------------------------------------------------


class Crashing:
    """Draws in the process that made it, and dies or hangs in any other."""

    def __init__(self, ending: Any) -> None:
        self.home, self.ending = os.getpid(), ending

    def release(self, values: Any, rng: Any = None) -> Any:
        if os.getpid() != self.home:
            self.ending()
        return np.random.default_rng(rng).integers(0, 100, len(values))


def test_a_child_that_crashes_or_hangs_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    import signal

    made: Any = Crashing(lambda: os._exit(3))
    with pytest.raises(testing.ConformanceError, match="forking: a child process ended without drawing"):
        checks._forking(made, [1])
    monkeypatch.setattr(checks, "CHILD_SECONDS", 0.5)
    made = Crashing(signal.pause)
    with pytest.raises(testing.ConformanceError, match=r"forking: a child process did not draw within 0\.5 seconds"):
        checks._forking(made, [1])


def raising(problem: Exception) -> Any:
    def call() -> None:
        raise problem

    return call


def test_bad_parameters_must_raise_the_right_error() -> None:
    assert (
        checks._refused([raising(ParameterError("a long sentence.")), raising(GuaranteeError("a long sentence."))])
        is None
    )
    with pytest.raises(testing.ConformanceError, match="call 0 raises DataError, not ParameterError"):
        checks._refused([raising(DataError("a long sentence."))])
    with pytest.raises(testing.ConformanceError, match="call 0 is refused without a sentence"):
        checks._refused([raising(ParameterError("no"))])


@pytest.mark.parametrize(
    ("message", "value", "shown"),
    [
        ("the value 1234 is unknown.", 1234, True),
        ("the value is 1234.", 1234, True),
        ("the value '1234', is unknown.", "1234", True),
        ("there is (3.25).", 3.25, True),
        ("value=maybe; drop it.", "maybe", True),
        ("it is at (48.8, 181.0).", (48.8, 181.0), True),
        ("longitude 181.0 is wrong.", (48.8, 181.0), True),
        ("'a' is unknown.", "a", True),
        ("a value is unknown.", "a", False),
        ("it is beyond 2^62 in size.", 62, False),
        ("it is beyond 12345.", 1234, False),
        ("it is beyond 0.25.", 25, False),
        ("it is beyond 25.5.", 25, False),
        ("convert the column first.", 10, False),
    ],
)
def test_what_counts_as_showing_a_value(message: str, value: Any, shown: bool) -> None:
    assert checks._shows(message, value) is shown


def test_a_message_with_the_value_fails_the_suite() -> None:
    class Telling:
        def release(self, values: Any, rng: Any = None) -> Any:
            raise DataError(f"the value ({values[0]}), is not known.")

    made: Any = Telling()
    with pytest.raises(testing.ConformanceError, match="the message shows the value"):
        checks._unknown(made, [1234])
