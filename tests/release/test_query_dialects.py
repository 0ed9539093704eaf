"""DuckDB and Spark compute the same whole numbers from the same table, to the last one."""

import decimal
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from query_support import exact_of, plan_of

from noisewright.release.dialects import SPARK
from noisewright.release.engines.session import start_spark

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
        "where": "year(day) = 2022 AND lower(ward) LIKE 'i%' OR coalesce(x, 0.25) * 2 >= 1 AND NOT yes",
    },
    {"aggregate": "count", "where": "ward IS NULL OR x IS NULL OR moment < TIMESTAMP '1971-01-01 00:00:00'"},
]


@pytest.fixture(scope="module")
def spark():
    session, started = start_spark("local[1]")
    yield session
    if started:
        session.stop()


def test_both_engines_find_the_same_numbers(spark, tmp_path):
    table = make_table()
    path = os.fspath(tmp_path / "data.parquet")
    pq.write_table(table, path)
    view = "agreement"
    spark.read.parquet(path).createOrReplaceTempView(view)
    seen = 0
    for query in QUERIES:
        # The squares of a variance hold its lattice indices as well.
        statistic = max(plan_of(query, table).statistics, key=lambda s: s.name == "squares")
        ours = exact_of(statistic, table)
        theirs = statistic.read(spark.sql(statistic.select(view, SPARK)).toArrow())
        assert (ours == theirs).all(), (query, statistic.name)
        seen += int((ours != 0).sum())
    assert seen > 300  # the numbers that were compared are not all empty groups
