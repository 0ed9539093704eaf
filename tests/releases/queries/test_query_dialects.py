"""DuckDB and Spark compute the same whole numbers from the same table, to the last one."""

import decimal
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from query_support import exact_of, plan_of

from noisewright.exceptions import ParameterError
from noisewright.queries.sql import SPARK

pytestmark = pytest.mark.xdist_group("spark")
ROWS = 5000
WARDS = ["a", "it's", "x\\y", "${spark.app.name}", "é", "nobody"]


def make_table():
    """Every type, with what is awkward in it: not a number, infinite, huge, tiny, missing, quotes and escapes."""
    rng = np.random.default_rng(5)
    x = rng.normal(0.05, 0.6, ROWS)
    x[:50], x[50:60], x[60:62], x[62:70] = np.nan, np.inf, (1e300, -1e300), 5e-324
    return pa.table(
        {
            "x": pa.array(x, mask=rng.random(ROWS) < 0.01),
            "small": pa.array(rng.random(ROWS).astype(np.float32)),
            "large": pa.array(rng.integers(-(2**62), 2**62, ROWS)),
            "k": pa.array(rng.integers(-5, 200, ROWS).astype(np.int32)),
            "day": pa.array(np.datetime64("2020-01-01") + rng.integers(0, 3000, ROWS), pa.date32()),
            "moment": pa.array(rng.integers(0, 2**50, ROWS), pa.timestamp("us")),
            "zoned": pa.array(rng.integers(0, 2**50, ROWS), pa.timestamp("us", tz="UTC")),
            "price": pa.array(
                [decimal.Decimal(int(v)) / 1000 for v in rng.integers(0, 10**6, ROWS)], pa.decimal128(18, 3)
            ),
            "yes": pa.array(rng.random(ROWS) < 0.3),
            "ward": pa.array(rng.choice([*WARDS[:-1], "z"], ROWS), mask=rng.random(ROWS) < 0.02),
        }
    )


RANGES = [
    ("x", ("-0.3", "1.7")),
    ("x", ("1/3", "2/3")),
    ("small", (0, 1)),
    ("large", (-(2**61), 2**60)),
    ("k", (0, 100)),
    ("day", (18262, 20000)),
    ("moment", (0, "1e9")),
    ("zoned", ("1e6", "1e9")),
    ("price", ("0.1", "900.7")),
    ("yes", (0, 1)),
]
QUERIES = [
    *({"aggregate": "variance", "column": c, "within": w, "missing": "skip", "by": {"ward": WARDS}} for c, w in RANGES),
    {"aggregate": "quantile", "column": "x", "within": ("1/3", "2/3"), "missing": "skip", "quantile": "1/3"},
    {"aggregate": "quantile", "column": "k", "within": (0, 100), "quantile": "1/3"},
    {"aggregate": "histogram", "column": "price", "within": ("0.1", "900.7"), "bins": 13},
    {
        "aggregate": "histogram",
        "column": "x",
        "bins": [-1, "-1/3", 0, "0.1", 1],
        "missing": "skip",
        "by": {"yes": [True, False]},
    },
    {"aggregate": "histogram", "column": "ward", "values": WARDS, "missing": "skip", "by": {"k": [1, 2, 3, -1]}},
    {"aggregate": "count", "by": {"day": ["2021-01-05", "2022-02-02"]}},
    {
        "aggregate": "count",
        "where": "k % 7 = 3 AND ward NOT IN ('it''s', 'x\\y') OR day < DATE '2021-03-01' AND x > 0.5",
    },
    {
        "aggregate": "count",
        "where": "year(day) = 2022 AND trim(ward) LIKE 'i%' OR coalesce(x, 0.25) * 2 >= 1 AND NOT yes",
    },
    {"aggregate": "count", "where": "ward IS NULL OR x IS NULL OR moment < TIMESTAMP '1971-01-01 00:00:00'"},
]


def test_both_engines_find_the_same_numbers(spark_session, tmp_path):
    table = make_table()
    path = os.fspath(tmp_path / "data.parquet")
    pq.write_table(table, path)
    view = "agreement"
    spark_session.read.parquet(path).createOrReplaceTempView(view)
    seen = 0
    for query in QUERIES:
        # The squares of a variance hold its lattice indices as well.
        statistic = max(plan_of(query, table).statistics, key=lambda s: s.name == "squares")
        ours = exact_of(statistic, table)
        theirs = statistic.read(spark_session.sql(statistic.select(view, SPARK)).toArrow())
        assert (ours == theirs).all(), (query, statistic.name)
        seen += int((ours != 0).sum())
    assert seen > 300  # the numbers that were compared are not all empty groups


# Filters that engines would take differently, were they left to them ------------------------------------------------------

ODD = pa.table(
    {
        "zero": [0.0, -0.0, -0.0, 1.5, float("nan"), None],
        "small": pa.array([0.1, 0.2, 0.1, 0.3, -7.5, None], pa.float32()),
        "s": ["a ", "A", "ß", "a", "\u00a0a", None],
        "n": [5, -7, 7, 2, 0, None],
        "big": [2**62, 1, 2, 3, -(2**63), None],
        "price": pa.array(
            [decimal.Decimal(v) for v in ("0.10", "0.20", "9.99", "1.00", "-3.50")] + [None], pa.decimal128(9, 2)
        ),
        "whole": pa.array([1, 2, 3, 4, 10**18, None]).cast(pa.decimal128(19, 0)),
        "day": pa.array([0, 1, -1, 365, 20_000, None], pa.date32()),
        "at": pa.array([0, 1, -1, 86_400_000_000, 10**15, None], pa.timestamp("us")),
        "zoned": pa.array([0, 1, -1, 86_400_000_000, 10**15, None], pa.timestamp("us", tz="America/New_York")),
        "yes": [True, False, True, False, None, None],
    }
)
FOUND = {
    "small = 0.1": 0,  # no number of 32 bits is 0.1
    "small > 0.2": 2,  # 0.2 in 32 bits is above
    "zero = 0": 3,
    "zero > 1": 2,  # what is no number is above all numbers
    "s = 'a'": 1,
    "s LIKE 'a%'": 2,
    "length(s) = 1": 3,
    "trim(s) = 'a'": 2,
    "s > 'a'": 3,
    "n / 2 = 2.5": 1,
    "n % 3 = 1": 1,
    "n % 3 = -1": 1,
    "small % 2 = -1.5": 1,
    "ceil(n / 2) = 3": 1,
    "floor(zero * 1e300) > 1e299": 2,
    "abs(n) BETWEEN 5 AND 7": 3,
    "NOT n IN (5, NULL)": 0,
    "n NOT IN (5, -7)": 3,
    "n NOT BETWEEN 0 AND 5": 2,
    "big * 4 > 0": 4,
    "- big > 0": 1,
    "abs(big) * big < 0": 1,
    "big > 99999999999999999999": 0,
    "big + 0.5 > 1": 4,
    "price = 0.1": 1,
    "price * 3 > 2.9": 2,
    "whole * whole >= 1e36": 1,
    "day >= '1970-01-02'": 3,
    "day <= at": 2,
    "at < TIMESTAMP '1970-01-01 00:00:00.000001'": 2,
    "zoned >= '1970-01-02T01:00:00+01:00'": 2,
    "year(zoned) = 1969 AND day(at) = 31": 1,
    "month(day) = 1": 3,
    "yes": 2,
    "NOT yes OR yes IS NULL": 4,
    "(n > 1) = yes": 3,
    "coalesce(n, 9) = 9 OR coalesce(zero, 0.5) = 0.5": 1,
    "zero IS NOT NULL": 5,
}
REFUSED = {
    "s > 5": "compares text with a number",
    "n = '5'": "compares a number with text",
    "s IN ('a', 5)": "compares text with a number",
    "n": "must be a condition",
    "n AND yes": "joins by AND what is no condition",
    "NOT n": "NOT stands before a condition",
    "upper(s) = 'SS'": "uses upper, which is neither",
    "lower(s) = 'ss'": "uses lower, which is neither",
    "s + 1 = 2": "calculates with text",
    "yes > 0": "compares a condition with a number",
    "day = 'tomorrow'": "takes 'tomorrow' for a date",
    "at = s": "compares a column of text with a date",
    "n LIKE 'a'": "LIKE for what is no text",
    "length(n) = 1": "the length of what is no text",
    "year(n) = 2000": "the year of what is neither",
    "abs(n, 2) = 1": "gives 2 values to abs",
    "n = 1 1": "cannot be read at '1'",
    "n >": "cannot be read at 'its end'",
    "n NOT 5": "cannot be read at '5'",
    "big * big * big > 0": "more than 38 digits",
    "n > 1" + 40 * "0": "more than 38 digits",
    "n > 1" + 5000 * "0": "more than 38 digits",
    "zero > 1e999": "a number that is too large",
    "n = " + 50 * "(" + "1" + 50 * ")": "more than 40 brackets",
}


@pytest.mark.parametrize(("condition", "problem"), REFUSED.items(), ids=range(len(REFUSED)))
def test_what_engines_would_convert_is_refused_before_any_row_is_read(condition, problem):
    with pytest.raises(ParameterError, match=problem) as caught:
        plan_of({"aggregate": "count", "where": condition}, ODD)
    assert str(caught.value).startswith("policy: query 'answer': ")


def test_filters_find_the_same_rows_in_both_engines(spark_session, tmp_path):
    """All conditions in one run of Spark; the numbers were counted by hand."""
    path = os.fspath(tmp_path / "odd.parquet")
    pq.write_table(ODD, path)
    spark_session.read.parquet(path).createOrReplaceTempView("odd")
    plans = {text: plan_of({"aggregate": "count", "where": text}, ODD).statistics[0] for text in FOUND}
    assert {text: exact_of(statistic, ODD).item() for text, statistic in plans.items()} == FOUND
    parts = ", ".join(f"COUNT(CASE WHEN {s.where.sql(SPARK)} THEN 1 END) AS c{n}" for n, s in enumerate(plans.values()))
    (theirs,) = spark_session.sql(f"SELECT {parts} FROM odd").collect()
    assert dict(zip(FOUND, theirs, strict=True)) == FOUND


def test_keys_have_one_zero_and_one_width(spark_session, tmp_path):
    path = os.fspath(tmp_path / "odd.parquet")
    pq.write_table(ODD, path)
    spark_session.read.parquet(path).createOrReplaceTempView("odd")
    for by, found in (({"zero": [0.0, 1.5]}, [3, 1]), ({"zero": [-0.0]}, [3]), ({"small": [0.1, 0.2, 7]}, [2, 1, 0])):
        (statistic,) = plan_of({"aggregate": "count", "by": by}, ODD).statistics
        for result in (
            exact_of(statistic, ODD),
            statistic.read(spark_session.sql(statistic.select("odd", SPARK)).toArrow()),
        ):
            assert result.ravel().tolist() == found
