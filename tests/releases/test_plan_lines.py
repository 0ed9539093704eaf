"""What a plan refuses names the line of the policy, in one sentence, before any data is read."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.exceptions import DataError, GuaranteeError, NoisewrightError, ParameterError
from noisewright.ledger.ledger import Ledger
from noisewright.policy.policy import Policy
from noisewright.releases.plan import make_plan, solve

HEAD = 'dataset = "clinic"\n[budget]\nepsilon = 2\n'


def refused(text: str, types: dict[str, pa.DataType]) -> NoisewrightError:
    with pytest.raises(NoisewrightError) as caught:
        make_plan(Policy.from_toml(HEAD + text, "clinic.toml"), types)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


def column(mechanism: str, *more: str, name: str = "age") -> str:
    return "\n".join(["[[columns]]", f'name = "{name}"', f'mechanism = "{mechanism}"', "epsilon = 1", *more, ""])


# A protected distance within which no value has another --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "more", "kind"),
    [
        ("geometric", ["within = [0, 110]"], pa.int64()),
        ("geometric", ["within = [0, 110]"], pa.float64()),  # it takes whole numbers, whatever the column could hold
        ("geometric", ["within = [2024-01-01, 2024-12-31]"], pa.date32()),
        ("explicit-fair", ["within = [0, 11]"], pa.int8()),
        ("laplace", ["within = [0, 110]"], pa.int32()),
        ("truncated-laplace", ["within = [0, 110]"], pa.uint8()),
        ("exponential", ["points = [0, 1, 2]"], pa.int64()),
    ],
)
def test_a_distance_below_that_of_any_two_values_protects_nothing(mechanism, more, kind):
    problem = refused(column(mechanism, *more, "protect = 0.5"), {"age": kind})
    assert type(problem) is ParameterError
    assert str(problem) == (
        "clinic.toml, line 9: column 'age': protect = 1/2 protects nothing, because two different values are at least 1 apart; "
        "say protect = 1 or more."
    )


def test_the_nearest_distance_is_that_of_the_declared_points():
    problem = refused(column("exponential", "points = [0, 3, 10]", "protect = 2"), {"age": pa.float64()})
    assert "two different values are at least 3 apart; say protect = 3 or more" in str(problem)
    policy = Policy.from_toml(HEAD + column("exponential", "points = [0, 3, 10]", "protect = 3"))
    assert make_plan(policy, {"age": pa.float64()}).epsilon == 1


@pytest.mark.parametrize(("mechanism", "kind"), [("geometric", pa.int64()), ("laplace", pa.float64())])
def test_the_smallest_distance_that_protects_something_is_taken(mechanism, kind):
    protect = "protect = 1" if pa.types.is_integer(kind) else "protect = 0.001"
    policy = Policy.from_toml(HEAD + column(mechanism, "within = [0, 110]", protect))
    assert make_plan(policy, {"age": kind}).columns[0].price == 1


def test_metres_between_whole_degrees_are_not_degrees():
    place = '[[columns]]\nname = ["lat", "lon"]\nmechanism = "geo-laplace"\nreference = [48, 2]\nprotect = 0.5\nepsilon = 1\n'
    plan = make_plan(Policy.from_toml(HEAD + place), {"lat": pa.int64(), "lon": pa.int64()})
    assert plan.columns[0].price <= 1


# Lines --------------------------------------------------------------------------------------------------------------------


def test_a_column_that_does_not_fit_its_data():
    text = column("geometric", "within = [0, 110]", "protect = 5")
    assert str(refused(text, {"age": pa.string()})).startswith(
        "clinic.toml, line 4: column 'age' is text, but geometric"
    )
    problem = refused(text, {"years": pa.int64()})
    assert isinstance(problem, DataError)
    assert str(problem).startswith("clinic.toml, line 4: there is no column 'age' in the data")


def test_a_second_column_has_its_own_line():
    text = column("geometric", "within = [0, 110]", "protect = 5") + column(
        "laplace", 'protect = "2 hours"', name="stay"
    )
    problem = refused(text, {"age": pa.int64(), "stay": pa.float64()})
    assert isinstance(problem, ParameterError)
    assert str(problem).startswith("clinic.toml, line 10: column 'stay': protect = \"2 hours\" is for dates and times")


def test_a_query_and_its_filter():
    query = '[[queries]]\nname = "grown up"\naggregate = "count"\nepsilon = 1\nwhere = "age >"\n'
    assert str(refused(query, {"age": pa.int64()})).startswith("clinic.toml, line 8: query 'grown up': the filter")
    other = '[[queries]]\nname = "mean"\naggregate = "mean"\ncolumn = "age"\nwithin = [0, 9]\nepsilon = 1\n'
    assert str(refused(other, {"ages": pa.int64()})).startswith("clinic.toml, line 4: query 'mean': there is no column")
    problem = refused(other.replace("[0, 9]", "[0, 1e301]"), {"age": pa.float64()})
    assert str(problem).startswith("clinic.toml, line 4: query 'mean': within is too wide for 'age'")


def test_a_budget_that_does_not_suffice():
    """A policy counts what it asks for; the plan counts what is charged, here to a budget that was made smaller by hand."""
    policy = Policy.from_toml(HEAD + column("geometric", "within = [0, 110]", "protect = 5"), "clinic.toml")
    small = policy.budget.model_copy(update={"epsilon": Fraction(1, 2)})
    poor = policy.model_copy(update={"budget": small})
    with pytest.raises(
        GuaranteeError, match=r"^clinic\.toml, line 3: this release would cost one unit epsilon 1, but the"
    ):
        make_plan(poor, {"age": pa.int64()})


def test_a_mechanism_whose_draws_are_not_proved():
    text = '[[columns]]\nname = ["a", "b"]\nepsilon = 1\nmechanism = "spherical-laplace"\nprotect = 1\n'
    problem = refused(text, {"a": pa.float64(), "b": pa.float64()})
    assert str(problem).startswith("clinic.toml, line 7: a and b: what this mechanism draws is not proved")


def test_solving_for_an_error_names_the_line_too():
    policy = Policy.from_toml(HEAD + column("geometric", "within = [0, 110]", "protect = 0.5"), "clinic.toml")
    with pytest.raises(ParameterError, match=r"^clinic\.toml, line 9: column 'age': protect = 1/2 protects nothing"):
        solve(policy, {"age": pa.int64()}, {"age": 2})


POINTS = {"dataset": "d", "budget": {"epsilon": 10}}


@pytest.mark.parametrize(
    ("points", "protect", "least"),
    [
        ([0.0, 0.1, 0.4], "0.1", None),  # a decimal stands for the float that it is read as
        ([0.0, 0.1, 0.4], "0.0999999999999999", "0.1"),
        ([0.7, 0.8], "0.1", "0.10000000000000009"),
        ([0.7, 0.8], "0.10000000000000009", None),
    ],
)
def test_a_distance_that_misses_the_nearest_values_by_a_hair(points: list[Any], protect: str, least: str | None):
    """It is paid for and about nobody, so it is refused, with one that is not; what is not refused is proved."""
    asked = {"name": "x", "mechanism": "exponential", "points": points, "epsilon": 1, "protect": protect}
    policy, rows = {**POINTS, "columns": [asked]}, pa.table({"x": points})
    if least is None:
        assert nw.verify(nw.release(policy, rows, seed=1).certificate).proved
    else:
        with pytest.raises(ParameterError, match=re.escape(f"at least {least} apart; say protect = {least} or more")):
            nw.release(policy, rows, seed=1)


@pytest.mark.parametrize("protect", ["1.41421356237309504", "1.4142135623730951", "1.5"])
def test_a_distance_that_just_reaches_an_irrational_one_is_proved(protect: str):
    """The certificate states a root a little below what it is, where nobody is; what is paid for lies above it."""
    asked = {"name": ["x", "y"], "mechanism": "exponential", "points": [[0, 0], [1, 1], [5, 5]], "metric": "euclidean"}
    policy = {**POINTS, "columns": [{**asked, "epsilon": 1, "protect": protect}]}
    assert nw.verify(nw.release(policy, pa.table({"x": [0.0, 1.0], "y": [0.0, 1.0]}), seed=1).certificate).proved
    with pytest.raises(ParameterError, match=r"at least 1\.41422 apart"):
        nw.release(
            {**policy, "columns": [{**asked, "epsilon": 1, "protect": "1.4142135623730950"}]},
            pa.table({"x": [0.0], "y": [0.0]}),
        )


# Gaps ---------------------------------------------------------------------------------------------------------------------

CLOSED = ["within = [2024-01-01, 2024-03-31]", "excluding = [[2024-02-01, 2024-02-10]]", "protect = 7"]


def test_clamping_does_not_go_with_gaps():
    problem = refused(column("laplace", *CLOSED, 'outside = "clamp"'), {"age": pa.date32()})
    assert str(problem).startswith(
        "clinic.toml, line 4: column 'age': outside='clamp' needs a feasible set without gaps"
    )


def test_a_value_on_a_closed_day_refuses_the_release_and_is_not_told():
    policy = Policy.from_toml(HEAD + column("laplace", *CLOSED))
    for day in (datetime.date(2024, 2, 1), datetime.date(2024, 2, 10)):
        with pytest.raises(DataError, match="column 'age': a value is outside the declared range") as caught:
            nw.release(policy, pa.table({"age": [datetime.date(2024, 1, 5), day]}), seed=1)
        assert "2024" not in str(caught.value)
    beside = [datetime.date(2024, 1, 31), datetime.date(2024, 2, 11)] * 200
    released = nw.release(policy, pa.table({"age": beside}), seed=1).data["age"].to_pylist()
    closed = (datetime.date(2024, 2, 1), datetime.date(2024, 2, 10))
    assert not [day for day in released if closed[0] <= day <= closed[1]]
    assert len(set(released)) > 10


# Outputs that everybody can read -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("us")])
def test_dates_stay_within_the_years_that_readers_know(kind):
    """Noise of ten thousand years moves many dates beyond the years 1 to 9999; they come out at the ends, and the report too."""
    first, last = datetime.date(1, 1, 1), datetime.date(9999, 12, 31)
    protect = '"3650000 days"' if pa.types.is_timestamp(kind) else "3650000"
    policy = Policy.from_toml(HEAD + column("geometric", f"protect = {protect}"))
    table = pa.table({"age": pa.array([first, last] * 100, pa.date32()).cast(kind)})
    done = nw.release(policy, table, seed=1)
    released = [day if type(day) is datetime.date else day.date() for day in done.data["age"].to_pylist()]
    assert (min(released), max(released)) == (first, last)
    assert 20 < sum(day == first for day in released) < 120
    assert done.data.schema.field("age").type == kind
    assert "<svg" in done.page


def test_times_beyond_the_years_of_their_own_unit_stay_within_those():
    policy = Policy.from_toml(HEAD + column("geometric", 'protect = "3650000 days"'))
    moments = pa.array([datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)] * 100, pa.timestamp("ns"))
    released = nw.release(policy, pa.table({"age": moments}), seed=1).data["age"].cast(pa.timestamp("s")).to_pylist()
    assert (min(released).year, max(released).year) == (1677, 2262)


def test_a_mean_of_times_beyond_what_their_unit_holds_is_at_its_end():
    """Nanoseconds reach back to 1677; an answer of 1600 must not come out as some other year."""
    query = {"name": "mean", "aggregate": "mean", "column": "x", "epsilon": 1}
    within = [datetime.datetime(1600, 1, 1), datetime.datetime(1690, 1, 1)]
    policy = {"dataset": "d", "budget": {"epsilon": 1}, "queries": [{**query, "within": within}]}
    early = pa.table({"x": pa.array([datetime.datetime(1678, 1, 1)] * 3, pa.timestamp("ns"))})
    for seed in range(8):
        (mean,) = (
            nw.release(policy, early, seed=seed).answers["mean"]["mean"].cast(pa.timestamp("s"), safe=False).to_pylist()
        )
        assert 1677 <= mean.year <= 1690


@pytest.mark.parametrize("epsilon", ["1e-9", "1e-15"])
def test_dates_all_at_the_ends_are_charted(epsilon):
    policy = Policy.from_toml(HEAD + column("geometric", "protect = 1").replace("epsilon = 1", f"epsilon = {epsilon}"))
    done = nw.release(policy, pa.table({"age": [datetime.date(2020, 1, 1)] * 50}), seed=2)
    assert {day.year for day in done.data["age"].to_pylist()} <= {1, 9999}
    assert "<svg" in done.page


def test_whole_numbers_beyond_exact_floats_are_released_and_charted():
    """Beyond 2^53 not every whole number is a float: that must not stop a release whose price is already recorded."""
    policy = Policy.from_toml(HEAD + column("geometric", "protect = 5"))
    large = (1 << 61) + 1
    done = nw.release(policy, pa.table({"age": [large, -large] * 50}), seed=1)
    assert max(abs(abs(value) - large) for value in done.data["age"].to_pylist()) < 200
    assert "<svg" in done.page


@pytest.mark.parametrize(("within", "side"), [([0, 10], 1), ([-10, 0], -1)])
@pytest.mark.parametrize("mechanism", ["geometric", "laplace"])
def test_a_sum_of_values_on_one_side_of_0_stays_there(within, side, mechanism):
    """Without the bound, about half of the answers of an empty table would be on the other side."""
    query = {"name": "all", "aggregate": "sum", "column": "x", "within": within, "epsilon": 1, "mechanism": mechanism}
    policy = {"dataset": "d", "budget": {"epsilon": 1}, "queries": [query]}
    empty = pa.table({"x": pa.array([], pa.float64())})
    sums = [nw.release(policy, empty, seed=seed).answers["all"]["all"][0].as_py() for seed in range(12)]
    assert all(side * value >= 0 for value in sums)
    assert any(value != 0 for value in sums)
    assert make_plan(Policy.from_dict(policy), {"x": pa.float64()}).epsilon == Fraction(1)


# Formats ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "error", "words"),
    [
        ("csv", DataError, "the column 'more' is of type struct<a: int64>, which csv cannot hold"),
        ("xlsx", DataError, "the column 'more' is of type struct<a: int64>, which xlsx cannot hold"),
        ("ods", ParameterError, "no output format"),
    ],
)
def test_a_format_that_cannot_hold_the_table_is_refused_before_anything_is_spent(format, error, words, tmp_path):
    keep = '[[columns]]\nname = "more"\nkeep = true\n'
    policy = Policy.from_toml(
        'order = "kept"\n' + HEAD + column("geometric", "within = [0, 110]", "protect = 5") + keep
    )
    table = pa.table({"age": [1, 2], "more": [{"a": 1}, {"a": 2}]})
    book = tmp_path / "ledger"
    with pytest.raises(error, match=words):
        nw.release(policy, table, output=tmp_path / "out", ledger=book, format=format)
    assert Ledger(book).datasets() == []
    assert not (tmp_path / "out").exists()
    done = nw.release(policy, table, output=tmp_path / "out", ledger=book)
    assert done.data["more"].to_pylist() == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("format", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", [pa.float16(), pa.timestamp("ms", tz="Europe/Berlin"), pa.uint8()])
def test_what_is_read_from_the_folder_has_the_types_that_were_written(format, kind, tmp_path):
    plain = pa.array(np.array([1, 2, 3], np.float16)) if pa.types.is_floating(kind) else pa.array([1, 2, 3]).cast(kind)
    protect = '"2 days"' if pa.types.is_timestamp(kind) else "2"
    policy = Policy.from_toml(HEAD + column("laplace", f"protect = {protect}"))
    done = nw.release(
        policy, pa.table({"age": plain}), output=tmp_path / "out", ledger=tmp_path / "ledger", format=format
    )
    assert done.data.schema.field("age").type == kind
