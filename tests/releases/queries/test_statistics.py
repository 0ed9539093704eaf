"""Statistics: their SQL against plain numpy, and their sensitivities against every pair of neighbouring tiny tables."""

import datetime
import decimal
import itertools
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_support import exact_of, plan_of, result_of

from noisewright.exceptions import DataError, ParameterError
from noisewright.queries.filters import parse_filter
from noisewright.queries.sql import DUCKDB, SPARK
from noisewright.queries.statistics import Sensitivity, sensitivity
from noisewright.queries.values import Cells, Steps, Value

# The SQL against numpy ------------------------------------------------------------------------------------------------

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["north", "south", "else'where", None]),
        st.one_of(st.none(), st.floats(allow_infinity=True, allow_nan=True), st.floats(-20, 130)),
        st.integers(-3, 3),
    ),
    max_size=40,
)


def table_of(rows):
    ward, x, k = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table({"ward": pa.array(ward, pa.string()), "x": pa.array(x, pa.float64()), "k": pa.array(k, pa.int64())})


def oracle_index(x, low, high, step):
    """Row by row, in Python: clamp, divide, round half up."""
    return math.floor(Fraction(min(max(x, low), high)) / step + Fraction(1, 2))


@settings(max_examples=40)
@given(ROWS, st.sampled_from([(0, 110), ("-7.3", "0.1"), ("1e9", "1000000001"), ("-1/3", "1/3")]))
def test_sums_and_counts_of_groups_agree_with_python(rows, within):
    table = table_of(rows)
    plan = plan_of(
        {
            "aggregate": "mean",
            "column": "x",
            "within": within,
            "by": {"ward": ["south", "else'where", "nobody"]},
            "where": "k >= 0 AND NOT (k = 2)",
            "missing": "skip",
        },
        table,
    )
    steps = plan.statistics[0].steps
    low, high = float(Fraction(within[0])), float(Fraction(within[1]))
    sums, counts = (
        dict.fromkeys(["south", "else'where", "nobody"], 0),
        dict.fromkeys(["south", "else'where", "nobody"], 0),
    )
    for ward, x, k in rows:
        if ward in sums and k in (0, 1, 3) and x is not None and not math.isnan(x):
            sums[ward] += oracle_index(x, low, high, steps.step) - steps.middle
            counts[ward] += 1
    exact = {s.name: exact_of(s, table) for s in plan.statistics}
    assert exact["sum"].reshape(-1).tolist() == list(sums.values())
    assert exact["count"].reshape(-1).tolist() == list(counts.values())


@settings(max_examples=25)
@given(ROWS)
def test_squares_and_bins_agree_with_python(rows):
    table = table_of(rows)
    variance = plan_of({"aggregate": "variance", "column": "x", "within": (0, 100), "missing": "skip"}, table)
    steps, second = variance.statistics[0].steps, variance.statistics[1]
    values = [x for _, x, _ in rows if x is not None and not math.isnan(x)]
    indices = [oracle_index(x, 0.0, 100.0, steps.step) - steps.middle for x in values]
    assert exact_of(second, table).item() == sum(i * i - second.shift for i in indices)

    edges = [-5, 0, "1/3", 17, 120]
    bins = plan_of({"aggregate": "histogram", "column": "x", "bins": edges, "missing": "skip"}, table)
    finite = [x for x in values if math.isfinite(x)]
    wanted = np.histogram(finite, [float(Fraction(edge)) for edge in edges])[0]
    assert exact_of(bins.statistics[0], table).reshape(-1).tolist() == wanted.tolist()

    equal = plan_of({"aggregate": "histogram", "column": "x", "bins": 7, "within": (0, 70), "missing": "skip"}, table)
    cells = [min(int(min(max(x, 0.0), 70.0) * 7 / 70), 6) for x in values]
    assert exact_of(equal.statistics[0], table).reshape(-1).tolist() == np.bincount(cells, minlength=7).tolist()


def test_whole_numbers_dates_decimals_and_booleans_are_read_exactly():
    day = datetime.date(1970, 1, 11)
    moment = datetime.datetime(1970, 1, 1, 0, 0, 10, 500_000)
    table = pa.table(
        {
            "whole": pa.array([3, -8, 200], pa.int16()),
            "day": pa.array([day, day, datetime.date(1969, 12, 31)], pa.date32()),
            "moment": pa.array([moment] * 3, pa.timestamp("ms")),
            "price": pa.array(
                [decimal.Decimal("0.25"), decimal.Decimal("1.50"), decimal.Decimal("9.99")], pa.decimal128(9, 2)
            ),
            "yes": pa.array([True, False, True]),
            "small": pa.array([0.5, 0.25, 0.75], pa.float32()),
        }
    )

    def total(column, within):
        statistic = plan_of({"aggregate": "sum", "column": column, "within": within}, table).statistics[0]
        return exact_of(statistic, table).item() * statistic.steps.step

    assert total("whole", (0, 100)) == 103
    assert total("day", (-10, 10)) == 19
    assert total("moment", (0, 64)) == Fraction(63, 2)
    assert total("price", (0, 8)) == Fraction("9.75")
    assert total("yes", (0, 1)) == 2
    assert total("small", (0, 1)) == Fraction(3, 2)


def test_sums_do_not_depend_on_order_nor_overflow():
    rng = np.random.default_rng(1)
    x = rng.normal(0, 1e6, 50_000)
    query = {"aggregate": "variance", "column": "x", "within": ("-1e18", "1e18")}
    plan = plan_of(query, {"x": pa.float64()})
    first, again = (exact_of(plan.statistics[1], pa.table({"x": v})).item() for v in (x, rng.permutation(x)))
    assert first == again
    assert abs(first) > 2**50  # about the square of the range for every row


def test_missing_values_refuse_the_answer_or_leave_rows_out():
    table = pa.table({"x": [1.0, None, math.nan, 3.0], "g": ["a", "a", "b", "b"]})
    asked = {"aggregate": "sum", "column": "x", "within": (0, 4)}
    for query in (asked, {**asked, "by": {"g": ["b"]}}, {"aggregate": "histogram", "column": "x", "bins": [0, 5]}):
        with pytest.raises(DataError, match=r"the column 'x' has missing values; say missing = \"skip\""):
            exact_of(plan_of(query, table).statistics[0], table)
    skipped = plan_of({**asked, "missing": "skip"}, table).statistics[0]
    assert exact_of(skipped, table).item() * skipped.steps.step == 4
    only = plan_of({**asked, "where": "x < 2"}, table).statistics[0]  # rows that do not count may lack a value
    assert exact_of(only, table).item() * only.steps.step == 1

    values = {"aggregate": "histogram", "column": "g", "values": ["a", "z"]}
    named = pa.table({"g": ["a", None, "b", "a"]})
    with pytest.raises(DataError, match="'g' has missing values"):
        exact_of(plan_of(values, named).statistics[0], named)
    kept = plan_of({**values, "missing": "skip"}, named).statistics[0]
    assert exact_of(kept, named).reshape(-1).tolist() == [2, 0]


def test_groups_are_the_declared_ones_whatever_the_data_hold():
    table = pa.table(
        {
            "g": pa.array(["b", "b", "c", None]).dictionary_encode(),
            "n": pa.array([1, 2, 2, 2], pa.int8()),
            "d": pa.array([datetime.date(2024, 5, 1)] * 4),
            "t": [True, True, False, False],
        }
    )
    by = {"g": ["a", "b"], "n": [2, 1], "d": ["2024-05-01"], "t": [True]}
    statistic = plan_of({"aggregate": "count", "by": by}, table).statistics[0]
    assert exact_of(statistic, table).reshape(-1).tolist() == [0, 0, 1, 1]
    empty = exact_of(statistic, table.slice(0, 0))
    assert empty.reshape(-1).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("by", "problem"),
    [
        ({"g": [1, 2]}, "the values of 'g' must be text"),
        ({"n": ["a"]}, "the values of 'n' must be whole numbers"),
        ({"n": [300]}, "the values of 'n' must be whole numbers, as the column holds int8"),
        ({"n": [True]}, "the values of 'n' must be whole numbers"),
        ({"x": [1, 1.5, "a"]}, "the values of 'x' must be numbers"),
        ({"d": ["yesterday"]}, "the values of 'd' must be dates"),
        ({"p": ["1.5"]}, r"the column 'p' holds decimal128\(9, 2\), which cannot be counted by its values"),
        ({"g": ["a\0"]}, None),
        ({"n": list(range(100)), "g": [str(i) for i in range(20_000)]}, "2000000 groups and bins together"),
        ({"nothing": ["a"]}, "there is no column 'nothing' in the data"),
    ],
)
def test_groups_that_cannot_be_are_refused(by, problem):
    types = {"g": pa.string(), "n": pa.int8(), "x": pa.float64(), "d": pa.date32(), "p": pa.decimal128(9, 2)}
    with pytest.raises((ParameterError, DataError), match=problem or "code 0"):
        plan_of({"aggregate": "count", "by": by}, types).statistics[0].select("data", DUCKDB)


def test_names_are_quoted_and_texts_escaped_in_both_dialects():
    column = 'ward "a`b'
    table = pa.table({column: ["it's", "x\\y", "${z}"]})
    query = {"aggregate": "histogram", "column": column, "values": ["it's", "x\\y", "${z}", "'; DROP TABLE data; --"]}
    statistic = plan_of(query, table).statistics[0]
    assert exact_of(statistic, table).reshape(-1).tolist() == [1, 1, 1, 0]
    spark = statistic.select("data", SPARK)
    assert '`ward "a``b`' in spark
    assert "${" not in spark
    assert "DROP" not in spark


# The lattice ----------------------------------------------------------------------------------------------------------


@given(st.fractions(-1000, 1000), st.fractions(Fraction(1, 1000), 1000))
def test_the_lattice_is_chosen_from_the_range_alone(low, width):
    value = Value("x", pa.float64(), (low, low + width))
    steps = Steps.of(value)
    assert width / 2**20 <= steps.step * (1 + Fraction(1, 10**9))
    assert steps.step <= width / 2**18
    assert abs(steps.low * steps.step - low) <= steps.step
    assert abs(steps.high * steps.step - low - width) <= steps.step


def test_whole_columns_are_not_cut_finer_than_one():
    assert Steps.of(Value("x", pa.int64(), (Fraction(0), Fraction(120)))) == Steps(0, 0, 120)
    assert Steps.of(Value("x", pa.int64(), (Fraction(0), Fraction(2**30)))).step == 2**11
    with pytest.raises(ParameterError, match="narrower than one step"):
        Steps.of(Value("x", pa.int64(), (Fraction("0.6"), Fraction("0.9"))))


def test_cells_in_sql_are_half_open():
    cells = Cells((Fraction(0), Fraction(1), Fraction(5, 2)), "edges")
    table = pa.table({"x": [-0.1, 0.0, 0.999, 1.0, 2.5, 2.6]})
    plan = plan_of({"aggregate": "histogram", "column": "x", "bins": cells.edges}, table)
    assert exact_of(plan.statistics[0], table).reshape(-1).tolist() == [2, 2]


# Sensitivities, by all neighbours -------------------------------------------------------------------------------------

ROW_VALUES = [
    ("a", -9.0),
    ("a", 1.2),
    ("a", 0.49),
    ("b", 0.51),
    ("b", 1.5),
    ("b", -9.0),
    ("a", 9.0),
    ("b", 9.0),
    ("z", 1.0),
    ("a", None),
]
"""Beyond both ends of the range, on both sides of a rounding border, outside all groups, and missing."""


def all_tables(sizes, units):
    """Every table with so many rows (up to their order, within a unit), as lists of (unit, group, x)."""
    rows = [(unit, *row) for unit in units for row in ROW_VALUES]
    return [t for size in sizes for t in itertools.combinations_with_replacement(rows, size)]


def vectors(query, tables, **more):
    """The statistics of all tables at once: the number of the table is one more group."""
    numbered = [(place, *row) for place, table in enumerate(tables) for row in table]
    place, unit, g, x = zip(*numbered, strict=True)
    data = pa.table({"t": place, "u": pa.array(unit, pa.int64()), "g": g, "x": pa.array(x, pa.float64())})
    by = {"t": list(range(len(tables))), **query.get("by", {})}
    plan = plan_of({**query, "by": by}, data, **more)
    return [exact_of(s, data).reshape(len(tables), -1).astype(np.int64) for s in plan.statistics]


QUERIES = [
    {"aggregate": "count"},
    {"aggregate": "count", "where": "x > 0.5"},
    {"aggregate": "count", "by": {"g": ["a", "b"]}},
    {"aggregate": "histogram", "column": "g", "values": ["a", "b"], "missing": "skip"},
    {"aggregate": "histogram", "column": "x", "bins": [0, "1/2", 1, 2], "missing": "skip"},
    {"aggregate": "sum", "column": "x", "within": (-1, 3), "missing": "skip"},
    {"aggregate": "sum", "column": "x", "within": (1, 3), "missing": "skip"},
    {"aggregate": "sum", "column": "x", "within": (-3, "-1/2"), "by": {"g": ["a", "b"]}, "missing": "skip"},
    {"aggregate": "variance", "column": "x", "within": (0, 3), "missing": "skip"},
    {"aggregate": "variance", "column": "x", "within": (-1, 1), "by": {"g": ["b", "a"]}, "missing": "skip"},
]


@pytest.mark.parametrize("query", QUERIES, ids=lambda q: "-".join(map(str, q.values()))[:60])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_no_neighbours_are_farther_apart_than_the_sensitivity(query, neighbours):
    """Units of at most two rows; the rest of the table cancels, so tables with one unit alone show every difference.

    Neighbours that replace values have the same number of rows; of two others, one has no rows of the unit.
    """
    unit = {"unit": {"column": "u", "rows": 2}, "neighbours": neighbours}
    tables = all_tables([1, 2], units=[1])
    statistics = plan_of(query, {"u": pa.int64(), "g": pa.string(), "x": pa.float64()}, **unit).statistics
    for statistic, found in zip(statistics, vectors(query, tables, **unit), strict=True):
        with_none, rows = np.vstack([found, np.zeros_like(found[:1])]), np.array([*map(len, tables), 0])
        near = rows[:, None] == rows[None, :] if neighbours == "replace" else rows[None, :] == 0
        apart = (
            np.abs(with_none[:, None] - with_none[None, :]) * np.broadcast_to(near, (len(rows), len(rows)))[:, :, None]
        )
        assert apart.max() <= statistic.bounds.largest
        assert (apart > 0).sum(-1).max() <= statistic.bounds.changed
        assert apart.sum(-1).max() == statistic.bounds.l1  # these rows are among the worst there are


@pytest.mark.parametrize(
    ("query", "l1"),
    [
        ({"aggregate": "count"}, 0),
        ({"aggregate": "sum", "column": "x", "within": (1, 3)}, 2),
        ({"aggregate": "sum", "column": "x", "within": (-1, 3)}, 4),
        ({"aggregate": "mean", "column": "x", "within": (-1, 3)}, 4),
        ({"aggregate": "histogram", "column": "x", "bins": 3, "within": (0, 3)}, 2),
    ],
)
def test_a_row_that_stays_changes_a_sum_by_the_width_of_the_range(query, l1):
    tables = [[(0, "a", x)] for x in (-5.0, -0.3, 0.2, 0.49, 0.51, 1.2, 2.9, 4.0)]
    (statistic, *rest) = plan_of(query, {"x": pa.float64()}, neighbours="replace").statistics
    step = 1 if statistic.steps is None else statistic.steps.step
    assert statistic.bounds.l1 * step == l1
    found = vectors(query, tables, neighbours="replace")[0]
    apart = np.abs(found[:, None] - found[None, :]).sum(-1).max()
    assert apart == statistic.bounds.l1
    assert all(other.bounds == Sensitivity(0, 0, 0) and other.noise is None for other in rest)


KEPT = {"columns": [{"name": "g", "keep": True}, {"name": "x", "mechanism": "laplace", "epsilon": 1, "protect": 1}]}
BESIDE_KEPT = [  # a query beside a column that is kept, and which of its statistics neighbours share
    ({"aggregate": "count"}, ["count"]),
    ({"aggregate": "count", "by": {"g": ["a", "b"]}}, ["count"]),
    ({"aggregate": "count", "where": "g = 'a'"}, ["count"]),
    ({"aggregate": "histogram", "column": "g", "values": ["a", "b"], "missing": "skip"}, ["count"]),
    ({"aggregate": "count", "where": "x > 0.5"}, []),
    ({"aggregate": "count", "where": "x > 0.5 and g = 'a'"}, []),
    ({"aggregate": "histogram", "column": "x", "bins": [0, "1/2", 1, 2], "missing": "skip"}, []),
    ({"aggregate": "histogram", "column": "x", "bins": [0, 1, 2], "by": {"g": ["a", "b"]}, "missing": "skip"}, []),
    ({"aggregate": "sum", "column": "x", "within": (1, 3)}, []),
    ({"aggregate": "sum", "column": "x", "within": (-1, 3), "missing": "skip"}, []),
    ({"aggregate": "sum", "column": "x", "within": (1, 3), "by": {"g": ["a", "b"]}}, []),
    ({"aggregate": "mean", "column": "x", "within": (1, 3)}, ["count"]),
    ({"aggregate": "mean", "column": "x", "within": (-1, 3), "by": {"g": ["a", "b"]}}, ["count"]),
    ({"aggregate": "mean", "column": "x", "within": (-1, 3), "by": {"g": ["a", "b"]}, "missing": "skip"}, []),
    ({"aggregate": "variance", "column": "x", "within": (-1, 3), "where": "g = 'a'"}, ["count"]),
]


@pytest.mark.parametrize(("query", "shared"), BESIDE_KEPT, ids=str)
def test_beside_kept_columns_neighbours_are_no_farther_apart_than_the_sensitivity(query, shared):
    """A unit of two rows, whose kept group is the same in both tables and whose values are any: what is exact never differs."""
    more = {"unit": {"column": "u", "rows": 2}, "neighbours": "replace", **KEPT}
    statistics = plan_of(query, {"u": pa.int64(), "g": pa.string(), "x": pa.float64()}, **more).statistics
    assert [s.name for s in statistics if s.noise is None] == shared
    values = [-9.0, 0.49, 0.51, 1.2, 9.0, *([None] if query.get("missing") == "skip" else [])]
    for groups in (["a", "a"], ["a", "b"], ["b", "z"]):
        tables = [
            pa.table({"u": [1, 1], "g": groups, "x": pa.array(x, pa.float64())})
            for x in itertools.product(values, repeat=2)
        ]
        for statistic in statistics:
            found = np.array([exact_of(statistic, table).reshape(-1) for table in tables]).astype(np.int64)
            apart = np.abs(found[:, None] - found[None, :])
            assert apart.sum(-1).max() <= statistic.bounds.l1
            assert apart.max() <= statistic.bounds.largest
            assert (apart > 0).sum(-1).max() <= statistic.bounds.changed


@given(
    st.integers(-9, 9),
    st.integers(0, 9),
    st.integers(1, 3),
    st.sampled_from(["replace", "add-remove"]),
    st.integers(1, 4),
)
def test_the_bounds_are_met_by_some_rows(low, width, rows, neighbours, entries):
    """The worst case of the formulas, built by hand: all rows of the unit at the worst value, in the worst cells."""
    high = low + width
    found = sensitivity(low, high, rows=rows, neighbours=neighbours, entries=entries, always=False)
    worst = max(abs(low), abs(high))
    if neighbours == "add-remove":
        assert found.l1 == rows * worst
    elif entries == 1:
        options = [0, low, high]
        assert found.l1 == rows * max(abs(a - b) for a in options for b in options)
    else:
        assert found.l1 == 2 * rows * worst  # all rows leave one cell and appear in another
    assert found.largest <= found.l1 <= found.largest * max(found.changed, 1)


# Filters --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "condition",
    [
        "x > (SELECT avg(x) FROM data)",
        "x IN (FROM data)",
        "x = max(x) OVER ()",
        "rowid < 5",
        "random() < 0.5",
        "rand() < 0.5",
        "monotonically_increasing_id() % 2 = 0",
        "x > 1; DROP TABLE data",
        "x > 1 -- and more",
        "x > 1 /* and more */",
        "x > 1) OR (1 = 1",
        "(x > 1",
        "x / y > 1",
        "x % 0 = 1",
        "x::INTEGER = 1",
        "name LIKE '5\\%'",
        "unknown = 1",
        '"unknown" = 1',
        "x = $1",
        "x = 'open",
        "",
    ],
)
def test_what_may_look_beyond_its_row_is_refused(condition):
    with pytest.raises(ParameterError, match=r"filter|pattern"):
        parse_filter(condition, {"x": pa.float64(), "y": pa.int64(), "name": pa.string()})


def test_filters_mean_what_they_say():
    table = pa.table(
        {
            "day": pa.array([datetime.date(2024, 5, d) for d in (1, 2, 3, 4)]),
            "Length of stay": [1, 5, None, 7],
            "ward": ["A", "it's", "B b", "/"],
        }
    )

    def count(condition):
        statistic = plan_of({"aggregate": "count", "where": condition}, table).statistics[0]
        assert statistic.where.sql(SPARK).count('"') == 0
        return exact_of(statistic, table).item()

    assert count("day BETWEEN DATE '2024-05-02' AND DATE '2024-05-03'") == 2
    assert count("day(day) >= 3 and year(day) = 2024") == 2
    assert count('"Length of stay" IS NOT NULL AND `Length of stay` % 2 = 1') == 3
    assert count("ward IN ('it''s', '/') OR trim(ward) LIKE 'B%'") == 3
    assert count("coalesce(`Length of stay`, 0) * 2 - 1 >= 1e0 / 2.5") == 3


def test_the_result_has_one_row_for_each_group_with_rows_and_nothing_of_the_rows():
    table = pa.table({"x": np.arange(100.0), "g": ["a", "b"] * 50})
    statistic = plan_of(
        {"aggregate": "sum", "column": "x", "within": (0, 99), "by": {"g": ["a", "q"]}}, table
    ).statistics[0]
    result = result_of(statistic, table)
    assert result.column_names == ["nw_k0", "nw_value", "nw_missing"]
    assert result.num_rows == 1
    assert result.schema.field("nw_value").type == pa.decimal128(38, 0)
