"""Columns of a policy: every registered mechanism through Arrow, honest prices, and errors that tell no value."""

from __future__ import annotations

import datetime
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from columns_support import CASES, DAY, column, pair, plan_of, plan_of_case, policy_of
from hypothesis import given
from hypothesis import strategies as st

from noisewright.exceptions import DataError, NoisewrightError, ParameterError
from noisewright.mechanisms.categorical.frequency_oracle import ORACLES
from noisewright.mechanisms.registry import names, registry
from noisewright.mechanisms.spatial.geographic import LocalMetres
from noisewright.planning.calibration import charge, diameter
from noisewright.planning.column_plan import compile_column


def test_every_registered_mechanism_is_tried():
    domains = {
        name
        for name in names()
        if registry[name].make.__module__.startswith(("noisewright.text", "noisewright.matching", "noisewright.images"))
    }  # their own tests have those
    assert set(names()) - {"selection"} - ORACLES - domains <= {name.split(",")[0] for name in CASES}


def test_a_mechanism_that_gives_no_value_for_each_is_refused():
    scores = {"name": ["x", "y"], "mechanism": "selection", "candidates": ["a", "b"], "protect": 1, "epsilon": 1}
    with pytest.raises(ParameterError, match="selection takes scores and gives no value for each"):
        plan_of(scores, pa.int64(), pa.int64())


@pytest.mark.parametrize("name", CASES)
def test_the_law_is_that_of_the_mechanism(name):
    plan, (_, values, arrays) = plan_of_case(name), CASES[name]
    released = plan.perturb(arrays, np.random.default_rng(5))
    by_hand = plan.mechanism.release(values, np.random.default_rng(5))
    assert [len(a) for a in released] == [len(values)] * len(arrays)
    assert [a.type for a in released] == list(plan.output_types)
    by_column = list(zip(*by_hand, strict=True)) if len(arrays) > 1 else [by_hand]
    for got, wanted, given_ in zip(released, by_column, arrays, strict=True):
        if pa.types.is_float32(given_.type):
            assert got.to_pylist() == [float(np.float32(v)) for v in wanted]
        else:
            assert got.to_pylist() == list(wanted)


@pytest.mark.parametrize("name", CASES)
def test_the_price_follows_from_the_certificate_and_is_within_epsilon(name):
    stated = CASES[name][0]
    for rows in (1, 3):
        plan = plan_of_case(name, rows)
        epsilon = Fraction(str(stated.get("epsilon", 0)))
        assert plan.price == rows * plan.certificate().epsilon * plan.distance
        assert plan.price <= rows * epsilon
        assert plan.price > rows * epsilon * Fraction(99, 100) or not epsilon
        assert plan.delta == rows * Fraction(str(stated.get("delta", 0)))
    assert plan.certificate(simulated=True).randomness.endswith("not for release")
    if name != "spherical-laplace":
        assert "epsilon = " in plan.certificate().verify()
    else:
        assert plan.certificate().numerics == "floating"


@pytest.mark.parametrize("name", CASES)
def test_a_plan_can_be_sent_to_another_process(name):
    plan, arrays = plan_of_case(name), CASES[name][2]
    plan.perturb(arrays, np.random.default_rng(1))  # whatever it keeps for later
    sent = pickle.loads(pickle.dumps(plan))
    assert sent.price == plan.price
    wanted = plan.perturb(arrays, np.random.default_rng(2))
    assert sent.perturb(arrays, np.random.default_rng(2)) == wanted
    assert b"Generator" not in pickle.dumps(plan)


@pytest.mark.parametrize("name", CASES)
def test_empty_columns_keep_their_types(name):
    plan, arrays = plan_of_case(name), CASES[name][2]
    released = plan.perturb([array.slice(0, 0) for array in arrays])
    assert [len(a) for a in released] == [0] * len(arrays)
    assert [a.type for a in released] == list(plan.output_types)


FINITE = [
    ("geometric, any", math.inf),
    ("geometric", 5),
    ("laplace, whole", 3),
    ("exponential", math.inf),
    ("explicit-fair", math.inf),
    ("randomised-response", math.inf),
    ("snapped-laplace", math.inf),
    ("staircase", 3),
    ("planar-geometric", 2),
    ("exponential, plane", math.inf),
]


@pytest.mark.parametrize(("name", "protect"), FINITE)
def test_no_two_protected_values_are_told_apart_by_more_than_epsilon(name, protect):
    """The channel itself, compared pair by pair, in place of everything that the price is computed from."""
    plan = plan_of_case(name)
    channel = plan.mechanism.channel()
    with np.errstate(divide="ignore"):
        logs = np.log(channel.matrix)
    losses = [
        float(np.abs(logs[i] - logs[j]).max())
        for i, x in enumerate(channel.inputs)
        for j, y in enumerate(channel.inputs[:i])
        if protect == math.inf or math.dist(np.atleast_1d(x), np.atleast_1d(y)) <= protect
    ]
    epsilon = float(Fraction(str(CASES[name][0]["epsilon"])))
    assert max(losses) <= epsilon * (1 + 1e-6)
    assert max(losses) > 0.5 * epsilon


def test_a_protected_distance_counts_rounding_to_the_lattice():
    """On a lattice of step 1/4 two numbers 0.3 apart may land two steps apart, so these two steps cost epsilon."""
    plan = plan_of(column("truncated-laplace", within=[0, 9], protect=0.3, epsilon=1, lattice=0.25), pa.float64())
    assert (plan.mechanism.sensitivity, plan.claim, plan.distance) == (Fraction(1, 2), 1, 1)
    channel = plan.mechanism.channel()
    two_steps = np.log(channel.matrix[4] / channel.matrix[6])
    assert math.isclose(np.abs(two_steps).max(), 1, rel_tol=1e-9)


def test_the_width_of_a_range_is_that_of_its_floats():
    """The floats written 0.1 and 1.1 are farther apart than 1, and so is what has to be hidden."""
    plan = plan_of(column("laplace", within=[0.1, 1.1], epsilon=1), pa.float64())
    assert plan.mechanism.sensitivity == Fraction(1.1) - Fraction(0.1) > 1
    assert plan.protects == "any two values"


def test_metres_on_the_globe_cost_what_they_were_stated_to():
    plan = plan_of(pair("geo-laplace", protect=200, epsilon="1.4", reference=[48.85, 2.35]), pa.float64(), pa.float64())
    assert plan.price == Fraction(7, 5)
    assert plan.distance > Fraction(202)
    assert (plan.protects, plan.error_words) == (
        "values at most 200 metres apart",
        "half within 242 m, 95 % within 685 m",
    )


def test_the_mechanism_has_the_last_word_about_a_distance():
    class Pessimist:
        guarantee = plan_of_case("geometric").mechanism.guarantee

        def certificate(self, rng=None):
            return plan_of_case("geometric").certificate()

        def map(self, distance):
            return 4.0 * distance

    claim, distance = charge(Pessimist(), Fraction(5))
    assert claim * distance == 4


def test_diameters():
    from noisewright.metrics.base import Discrete, Euclidean, Line

    assert diameter(2 * Line(), [0, 5, 0.5]) == 10
    assert diameter(Discrete(), ["a", "b"]) == 1
    assert 5 <= diameter(Euclidean(), [(0, 0), (3, 4), (1, 1)]) < 5 + Fraction(1, 10**9)


# Kinds of columns ---------------------------------------------------------------------------------------------------


WHOLE = [
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.uint64(),
    pa.decimal128(5, 0),
]


@pytest.mark.parametrize("mechanism", ["geometric", "laplace", "staircase", "snapped-laplace"])
@pytest.mark.parametrize("kind", WHOLE, ids=str)
def test_whole_numbers_stay_whole_numbers_of_their_type(mechanism, kind):
    plan = plan_of(column(mechanism, within=[0, 100], protect=4, epsilon=1), kind)
    released = plan.perturb(
        [pa.array([Decimal(v) if pa.types.is_decimal(kind) else v for v in [0, 7, 100] * 50], kind)],
        np.random.default_rng(3),
    )[0]
    assert released.type == kind
    values = {int(v) for v in released.to_pylist()}
    assert values <= set(range(101))
    assert len(values) > 10
    assert getattr(plan.mechanism, "lattice", None) is None or plan.mechanism.lattice.step == 1


def test_noise_beyond_a_type_goes_to_its_end():
    plan = plan_of(column("geometric", protect=100, epsilon=1), pa.uint8())
    values = plan.perturb([pa.array([1, 254] * 500, pa.uint8())], np.random.default_rng(1))[0].to_pylist()
    assert min(values) == 0
    assert max(values) == 255


SEASON = {"within": [DAY(2024, 1, 1), DAY(2024, 12, 31)], "excluding": [[DAY(2024, 3, 4), DAY(2024, 3, 10)]]}


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns")], ids=str)
def test_closed_days_never_come_out_and_open_ones_beside_them_do(kind):
    protect = 3 if pa.types.is_date(kind) else "3 days"
    plan = plan_of(column("laplace", protect=protect, epsilon=1, **SEASON), kind)
    days = pa.array([DAY(2024, 3, 3), DAY(2024, 3, 11), DAY(2024, 1, 1)] * 700)
    released = plan.perturb([days.cast(kind)], np.random.default_rng(4))[0]
    assert released.type == kind
    seen = {
        v if isinstance(v, DAY) and not isinstance(v, datetime.datetime) else v.date() for v in released.to_pylist()
    }
    assert min(seen) >= DAY(2024, 1, 1)
    assert max(seen) <= DAY(2024, 12, 31)
    assert not any(DAY(2024, 3, 4) <= day <= DAY(2024, 3, 10) for day in seen)
    assert {DAY(2024, 3, 3), DAY(2024, 3, 11)} <= seen
    assert plan.price == 1
    assert plan.protects == "values at most 3 days apart"


def test_a_date_as_the_high_end_of_a_range_of_times_is_its_last_second():
    plan = plan_of(
        column("laplace", within=[DAY(2024, 1, 1), DAY(2024, 1, 2)], protect="1 minute", epsilon=1), pa.timestamp("ms")
    )
    assert plan.mechanism.feasible.high - plan.mechanism.feasible.low == 2 * 86400 - 1


def test_times_with_a_zone_need_ends_with_an_offset():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    ends = [datetime.datetime(2024, 1, 1, tzinfo=zone), datetime.datetime(2024, 6, 1, tzinfo=zone)]
    plan = plan_of(column("laplace", within=ends, protect="1 minute", epsilon=1), pa.timestamp("us", tz="Europe/Paris"))
    start = pa.array([ends[0]] * 200, plan.types[0])
    released = plan.perturb([start], np.random.default_rng(1))[0]
    assert released.type == plan.types[0]
    assert min(released.to_pylist()) >= ends[0]
    with pytest.raises(ParameterError, match="with an offset"):
        plan_of(column("laplace", protect="1 minute", epsilon=1, **SEASON), pa.timestamp("us", tz="UTC"))
    with pytest.raises(ParameterError, match="without an offset"):
        plan_of(column("laplace", within=ends, protect="1 minute", epsilon=1), pa.timestamp("us"))


def test_fractions_of_a_second_are_protected_as_whole_seconds():
    plan = plan_of(column("laplace", protect="0.5 seconds", epsilon=1), pa.timestamp("ms"))
    assert plan.mechanism.sensitivity == 1


def test_labels_of_dates_and_ranges_of_labels():
    plan = plan_of(column("randomised-response", categories=[DAY(2024, 1, 1), DAY(2024, 7, 1)], epsilon=1), pa.date32())
    out = plan.perturb([pa.array([DAY(2024, 1, 1)] * 100)], np.random.default_rng(1))[0]
    assert set(out.to_pylist()) == {DAY(2024, 1, 1), DAY(2024, 7, 1)}
    ages = plan_of(column("exponential", points="0..20", epsilon=4), pa.int8())
    assert ages.distance == 20
    assert len(ages.mechanism.channel().inputs) == 21


def test_the_extra_output_of_a_metric_realising_column_of_numbers_is_null():
    plan = plan_of(column("metric-realising", points=[0, 1, 5], metric="line", epsilon=1), pa.int16())
    out = plan.perturb([pa.array([0, 1, 5] * 100, pa.int16())], np.random.default_rng(1))[0]
    assert out.type == pa.int16()
    assert set(out.to_pylist()) == {0, 1, 5, None}


# What a plan says ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "protects", "words"),
    [
        ("geometric", "values at most 5 apart", "expected error at most 4.97"),
        ("randomised-response", "any two values", "wrong at most 42.4 % of the time"),
        ("planar-laplace", "values at most 200 (euclidean) apart", "expected distance at most 286"),
        ("product-laplace", "values at most 2 (manhattan) apart", "expected distance at most 4.01"),
        ("uniform", "any two values", "wrong at most 50 % of the time"),
    ],
)
def test_words(name, protects, words):
    plan = plan_of_case(name)
    assert (plan.protects, plan.error_words) == (protects, words)


def test_an_error_that_depends_on_the_data_is_not_made_up():
    plan = plan_of(pair("planar-laplace", protect=20, epsilon=1, remap=[[0, 0], [50, 50]]), pa.float64(), pa.float64())
    assert plan.error is None
    assert plan.error_words == "expected error not known without the data"
    assert set(plan.perturb([pa.array([1.0, 40.0]), pa.array([2.0, 44.0])])[0].to_pylist()) <= {0.0, 50.0}


def test_shapes_of_places():
    square = {"polygon": [[0, 0], [9, 0], [9, 9], [0, 9]]}
    plan = plan_of(pair("planar-laplace", protect=5, epsilon=1, remap=square), pa.float64(), pa.float64())
    out = plan.perturb([pa.array([4.0] * 200), pa.array([4.0] * 200)], np.random.default_rng(1))
    assert all(-1e-9 <= v <= 9 + 1e-9 for a in out for v in a.to_pylist())
    grid = {"columns": 3, "rows": 2, "step": 10, "origin": [0, 0]}
    town = plan_of(pair("planar-geometric", points=grid, protect=10, epsilon=1), pa.int32(), pa.int32())
    assert len(town.mechanism.points) == 6


def test_a_kept_column_is_passed_through_and_costs_nothing():
    policy = policy_of({"name": "note", "keep": True, "rename": "remark"})
    plan = compile_column(policy.columns[0], 0, {"note": pa.binary()}, policy)
    given_ = pa.chunked_array([[b"a", None], [b"c"]])
    assert plan.perturb([given_])[0].to_pylist() == [b"a", None, b"c"]
    assert (plan.keep, plan.price, plan.delta, plan.outputs, plan.certificates()) == (True, 0, 0, ("remark",), ())
    assert (plan.error, plan.error_words) == (None, "kept as it is")


# Missing values -----------------------------------------------------------------------------------------------------


def test_missing_values_are_refused_kept_or_filled():
    stated = column("geometric", within=[0, 9], protect=1, epsilon=1)
    holes = [pa.array([1, None, 3], pa.int8())]
    with pytest.raises(DataError, match="column 'x' has missing values; say missing = \"keep\""):
        plan_of(stated, pa.int8()).perturb(holes)
    kept = plan_of({**stated, "missing": "keep"}, pa.int8()).perturb(holes, np.random.default_rng(1))[0]
    assert [v is None for v in kept.to_pylist()] == [False, True, False]
    filled = plan_of({**stated, "fill": 9}, pa.int8())
    same = filled.perturb([pa.array([1, 9, 3], pa.int8())], np.random.default_rng(1))
    assert filled.perturb(holes, np.random.default_rng(1)) == same


def test_nan_is_missing_and_comes_back_as_null():
    stated = column("laplace", within=[0, 9], protect=1, epsilon=1)
    holes = [pa.array([1.0, math.nan, None, 4.0])]
    with pytest.raises(DataError, match="missing values"):
        plan_of(stated, pa.float64()).perturb(holes)
    kept = plan_of({**stated, "missing": "keep"}, pa.float64()).perturb(holes)[0]
    assert [v is None for v in kept.to_pylist()] == [False, True, True, False]
    filled = plan_of({**stated, "fill": 2}, pa.float64()).perturb(holes)[0]
    assert filled.null_count == 0
    assert not np.isnan(filled.to_numpy()).any()


def test_a_place_with_half_of_it_missing_is_missing_as_a_whole():
    plan = plan_of({**pair("planar-laplace", protect=5, epsilon=1), "missing": "keep"}, pa.float64(), pa.float64())
    x, y = plan.perturb([pa.array([1.0, 2.0, None]), pa.array([math.nan, 5.0, 6.0])])
    assert [v is None for v in x.to_pylist()] == [v is None for v in y.to_pylist()] == [True, False, True]


def test_filling_text_dates_and_dictionaries():
    words = column("randomised-response", categories=["a", "b"], epsilon=9, fill="b")
    holes = pa.array(["a", None, "a"])
    for form in (holes, holes.dictionary_encode(), holes.cast(pa.large_string()), holes.cast(pa.string_view())):
        out = plan_of(words, form.type).perturb([form], np.random.default_rng(1))[0]
        assert out.to_pylist() == ["a", "b", "a"]
        assert out.type == pa.string()
    dates = column("laplace", protect=1, epsilon=50, fill=DAY(2024, 2, 29))
    out = plan_of(dates, pa.date32()).perturb([pa.array([None], pa.date32())], np.random.default_rng(1))[0]
    assert out.to_pylist() == [DAY(2024, 2, 29)]


@pytest.mark.parametrize(
    ("stated", "kind", "words"),
    [
        (column("geometric", within=[0, 9], epsilon=1, fill=10), pa.int8(), "fill is not a value"),
        (column("geometric", within=[0, 9], epsilon=1, fill=1000), pa.int8(), "that the column can hold"),
        (column("geometric", within=[0, 9], epsilon=1, fill="a"), pa.int8(), "that the column can hold"),
        (column("geometric", within=[0, 9], epsilon=1, fill=1.5), pa.int8(), "that the column can hold"),
        (column("randomised-response", categories=["a", "b"], epsilon=1, fill="c"), pa.string(), "fill is not a value"),
    ],
)
def test_a_filling_is_checked_before_any_data(stated, kind, words):
    with pytest.raises(ParameterError, match=words) as refused:
        plan_of(stated, kind)
    assert str(refused.value).startswith("policy: column 'x': ")


# Refusals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "types", "error", "words"),
    [
        (
            column("geometric", within=[0, 9], epsilon=1),
            [pa.string()],
            DataError,
            "column 'x' is text, but geometric takes whole numbers; choose a mechanism for categories, such as "
            "randomised-response, or convert the column.",
        ),
        (
            column("laplace", within=[0, 9], epsilon=1),
            [pa.decimal128(9, 2)],
            DataError,
            "column 'x' is decimals with 2 places, which cannot be perturbed exactly; make it a double, or whole numbers of "
            "its smallest unit (cents), before the release.",
        ),
        (
            column("laplace", within=[0, 9], epsilon=1),
            [pa.list_(pa.int8())],
            DataError,
            "column 'x' is vectors, but laplace takes numbers; choose another mechanism, or convert the column.",
        ),
        (
            pair("geo-laplace", protect=1, epsilon=1, reference=[0, 0]),
            [pa.float64(), pa.date32()],
            DataError,
            "column 'y' is dates, but geo-laplace takes latitude, longitude; choose another mechanism, or convert the column.",
        ),
        (
            pair("geometric", within=[0, 9], epsilon=1),
            [pa.int8(), pa.int8()],
            ParameterError,
            "columns 'x' and 'y': geometric takes one column of whole numbers, not 2; name each alone.",
        ),
        (
            column("randomised-response", categories=["a", "b"], epsilon=1),
            [pa.bool_()],
            ParameterError,
            "column 'x': randomised-response was declared for other values than the data hold (true/false); name as many "
            "columns as a value has parts, and declare values of the kind of the columns.",
        ),
        (
            column("randomised-response", categories=[1, 300], epsilon=1),
            [pa.int8()],
            ParameterError,
            "column 'x': a declared value does not fit into a column of type int8; leave it out.",
        ),
        (
            column("randomised-response", categories=["a", "b"], epsilon=1, protect=2),
            [pa.string()],
            ParameterError,
            "column 'x': randomised-response makes any two values look alike, near or far; leave protect out.",
        ),
        (
            pair("spherical-laplace", epsilon=1),
            [pa.float64(), pa.float64()],
            ParameterError,
            "columns 'x' and 'y': protect = \"any\" needs a largest distance; say protect = ..., the distance within which "
            "two values are to look alike.",
        ),
        (
            column("exponential", points=["a", "b"], epsilon=1),
            [pa.string()],
            ParameterError,
            "column 'x': such points need a metric; say for example metric = \"euclidean\".",
        ),
        (
            column("geometric", within=[DAY(2024, 1, 1), DAY(2024, 2, 1)], epsilon=1),
            [pa.int8()],
            ParameterError,
            "column 'x': within has a date, but the column is whole numbers; write it as in the column.",
        ),
        (
            column("laplace", within=[0, 9], epsilon=1, lattice=0.3),
            [pa.float64()],
            ParameterError,
            "column 'x': the lattice step must be a power of two, not 0.3; try 0.25.",
        ),
    ],
)
def test_what_cannot_be_followed_is_refused_before_any_data(stated, types, error, words):
    with pytest.raises(error) as refused:
        plan_of(stated, *types)
    assert str(refused.value) == f"policy: {words}"


def test_a_column_that_is_not_there():
    policy = policy_of(column("geometric", within=[0, 9], epsilon=1))
    with pytest.raises(DataError, match="there is no column 'x' in the data") as refused:
        compile_column(policy.columns[0], 0, {"secret name": pa.int8()}, policy)
    assert "secret" not in str(refused.value)


SENTINEL = 987_654_321
WORD = "sentinel987654321"
SCALARS = {
    "int64": (pa.int64(), st.just(SENTINEL)),
    "int32": (pa.int32(), st.just(SENTINEL)),
    "float64": (pa.float64(), st.sampled_from([float(SENTINEL), SENTINEL + 0.5, -float(SENTINEL), math.inf])),
    "string": (pa.string(), st.just(WORD)),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), st.just(WORD)),
    "date": (pa.date32(), st.just(DAY(9876, 5, 4))),
    "time": (pa.timestamp("us"), st.just(datetime.datetime(9876, 5, 4, 3, 2, 1))),
    "decimal": (pa.decimal128(30, 0), st.just(987_654_321_987_654_321_987)),
    "uint64": (pa.uint64(), st.just(18_446_744_073_709_551_615)),
}
TRIED = [
    "geometric",
    "laplace",
    "randomised-response",
    "explicit-fair",
    "exponential",
    "staircase",
    "truncated-laplace",
]


@given(data=st.data(), kind=st.sampled_from(sorted(SCALARS)), mechanism=st.sampled_from(TRIED))
def test_an_error_never_tells_a_value(data, kind, mechanism):
    """Values outside the range, undeclared, of another type, or missing: the message has none of them, and no row number."""
    type_, bad = SCALARS[kind]
    text = pa.types.is_dictionary(type_) or pa.types.is_string(type_)
    labels = ["a", "b"] if text else [0, 1, 2, 3, 4, 5]
    key = {"randomised-response": "categories", "exponential": "points"}.get(mechanism)
    more = {key: labels} if key else {"within": [0, 5]}
    if mechanism == "exponential" and text:
        more["metric"] = "discrete"
    values = data.draw(st.lists(st.one_of(bad, st.none()), min_size=1, max_size=3))
    with pytest.raises(NoisewrightError) as refused:
        plan_of(column(mechanism, epsilon=1, **more), type_).perturb([pa.array(values, type_)])
    told = str(refused.value)
    assert told.startswith(("column 'x'", "policy: column 'x'"))
    assert not any(part in told for part in ("987", "1844", "sentinel"))
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_data_of_another_type_than_planned_for():
    plan = plan_of_case("geometric")
    with pytest.raises(DataError, match="column 'x' has another type than planned for"):
        plan.perturb([pa.array(["a"])])


def test_chunked_and_sliced_columns():
    plan = plan_of_case("geometric")
    whole = pa.array(range(90), pa.int8())
    wanted = plan.perturb([whole], np.random.default_rng(8))
    chunks = pa.chunked_array([whole.slice(a, b - a) for a, b in pairwise([0, 7, 7, 50, 90])])
    assert plan.perturb([chunks], np.random.default_rng(8)) == wanted
    shifted = pa.concat_arrays([pa.array([99], pa.int8()), whole]).slice(1)
    assert plan.perturb([shifted], np.random.default_rng(8)) == wanted


def test_the_metric_of_a_place_is_still_in_metres():
    """The words and the price of places rest on this class; a change of it must be noticed here."""
    plan = plan_of_case("geo-laplace")
    assert isinstance(plan.mechanism.metric, LocalMetres)
    assert plan.mechanism.map(200.0) == pytest.approx(1.4, rel=1e-12)
