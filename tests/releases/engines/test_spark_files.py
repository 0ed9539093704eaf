"""Public files on Spark: shipped once, by digest; workers find them there, and draw what the local engine draws."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import resource_support
from resource_support import SEED, column, forget_places, write_table

from noisewright.engines.local import LocalEngine
from noisewright.engines.spark import SparkEngine
from noisewright.engines.spark_session import ship
from noisewright.exceptions import DataError, ResourceError
from noisewright.planning.column_plan import ColumnPlan, compile_column
from noisewright.policy.policy import Policy, UnitPolicy
from noisewright.resources import Resource
from noisewright.tables.reading import source_of

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.usefixtures("coded_afresh")]
ROWS = 5_000
NOBODY = UnitPolicy()
TABLE = pa.table({"x": [i % 10 for i in range(ROWS)]})


@pytest.fixture(scope="module")
def engine(spark_session: Any) -> SparkEngine:
    spark_session.sparkContext.addPyFile(str(resource_support.__file__))  # workers import the class of the mechanism
    return SparkEngine(session=spark_session)


def plan_of(path: Path, **more: Any) -> ColumnPlan:
    columns = [column(table=path, **more)]
    policy = Policy.from_dict({"dataset": "codes", "budget": {"epsilon": 5}, "columns": columns})
    return compile_column(policy.columns[0], 0, {"x": pa.int64()}, policy)


def drawn(engine: SparkEngine | LocalEngine, plan: ColumnPlan, seed: int | None) -> list[int]:
    found = engine.frame(source_of(TABLE), [plan], NOBODY, seed)
    table = found if isinstance(found, pa.Table) else found.toArrow()
    return [int(value) for value in table.column(0).to_pylist()]


def test_a_plan_lists_its_files_and_travels_without_them(tmp_path: Path) -> None:
    path = write_table(tmp_path / "code.bin")
    plan = plan_of(path)
    assert plan.resources == (Resource.at(path),)
    content = pickle.dumps(plan)
    assert str(tmp_path).encode() not in content
    assert path.read_bytes() not in content
    forget_places()
    with pytest.raises(ResourceError, match=r"column 'x': the public file 'code.bin' \(sha256"):
        pickle.loads(content).perturb([TABLE.column(0)])


def test_workers_draw_with_the_file_what_is_drawn_here(engine: SparkEngine, tmp_path: Path) -> None:
    plan = plan_of(write_table(tmp_path / "code.bin", seed=3), seed=SEED)
    engine.check_values(source_of(TABLE), [plan], NOBODY)
    assert drawn(engine, plan, 7) == drawn(LocalEngine(), plan, 7)
    assert drawn(engine, plan, 7) != drawn(LocalEngine(), plan, 8)
    fresh = drawn(engine, plan, None)
    assert len(fresh) == ROWS
    assert set(fresh) == set(range(10))


def test_workers_need_nothing_but_what_was_shipped(engine: SparkEngine, tmp_path: Path) -> None:
    path = write_table(tmp_path / "code.bin", seed=4)
    plan = plan_of(path)
    expected = drawn(LocalEngine(), plan, 7)
    assert ship(engine.session, plan.resources) == 1
    assert ship(engine.session, plan.resources) == 0
    path.unlink()
    forget_places()
    assert drawn(engine, plan, 7) == expected


def test_a_file_that_is_not_here_is_not_shipped(engine: SparkEngine, tmp_path: Path) -> None:
    path = write_table(tmp_path / "code.bin", seed=5)
    plan = plan_of(path)
    path.write_bytes(bytes(10))
    with pytest.raises(ResourceError, match=r"'code.bin' was changed"):
        ship(engine.session, plan.resources)
    with pytest.raises((ResourceError, DataError), match=r"'code.bin' was changed"):
        engine.check_values(source_of(TABLE), [plan], NOBODY)


def test_values_are_still_checked_by_the_workers(engine: SparkEngine, tmp_path: Path) -> None:
    plan = plan_of(write_table(tmp_path / "code.bin", seed=6))
    with pytest.raises(DataError, match="column 'x'"):
        engine.check_values(source_of(pa.table({"x": [1, 2, 12]})), [plan], NOBODY)
