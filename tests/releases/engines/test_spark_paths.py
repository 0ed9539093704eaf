"""A path is a path on Spark, too: decoys lie beside every file, and no folder on the way is a column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noisewright.engines.spark import SparkEngine
from noisewright.exceptions import DataError
from noisewright.policy.policy import UnitPolicy
from noisewright.tables.reading import source_of
from noisewright.tables.source import Source

pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture(scope="module")
def engine(spark_session: Any) -> SparkEngine:
    return SparkEngine(session=spark_session)


def units(engine: SparkEngine, source: Source) -> list[bytes]:
    return sorted(engine.units(source, UnitPolicy(column="who")))


def test_signs_in_a_name_are_signs(engine: SparkEngine, tmp_path: Path) -> None:
    folder = tmp_path / "who=decoy" / "x[1]"
    folder.mkdir(parents=True)
    names = ("v[12]", "v*", "{v1,v2}", "v?", "a%20b", "it's")
    for place, name in enumerate(names):
        (folder / f"{name}.csv").write_text(f"who\np{place}\n")
    for name in ("v1", "v2", "va", "a b"):
        (folder / f"{name}.csv").write_text("who\ndecoy\n")
    for place, name in enumerate(names):
        source = source_of(folder / f"{name}.csv")
        assert list(engine.types(source)) == ["who"]
        assert units(engine, source) == [f"p{place}".encode()]


def test_folders_on_the_way_are_no_columns(engine: SparkEngine, tmp_path: Path) -> None:
    folder = tmp_path / "town=york" / "who=decoy"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        pq.write_table(pa.table({"who": [name]}), folder / f"{name}.parquet")
    for source in (source_of(folder), source_of(f"file://{tmp_path}")):  # the address has folders below it
        assert list(engine.types(source)) == ["who"]
        assert units(engine, source) == [b"a", b"b"]


def test_a_file_that_spark_would_pass_over_is_refused(engine: SparkEngine, tmp_path: Path) -> None:
    for name in ("_visits.csv", ".visits.csv"):
        (tmp_path / name).write_text("who\nme\n")
        with pytest.raises(DataError, match=r"passes over files whose names begin with \. or _"):
            units(engine, source_of(tmp_path / name))
