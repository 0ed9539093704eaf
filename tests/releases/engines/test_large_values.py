"""Columns of vectors and bytes: through both engines, in and out of files, in blocks that are bounded by bytes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import byte_mechanisms
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.registry import forget, register
from noisewright.planning.column_plan import block_rows
from noisewright.policy import as_policy
from noisewright.releases.plan import make_plan

pytestmark = pytest.mark.xdist_group("spark")
FIXED, LISTED = pa.list_(pa.float32(), 3), pa.list_(pa.float64())
HEAD: dict[str, Any] = {"dataset": "d", "budget": {"epsilon": 10}, "floating": True}


@pytest.fixture(autouse=True)
def entries(spark_session: Any) -> Iterator[None]:
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(byte_mechanisms)
    register(byte_mechanisms.ONE_BYTE)
    register(byte_mechanisms.SIGN)
    yield
    forget("one-byte")
    forget("sign")
    cloudpickle.unregister_pickle_by_value(byte_mechanisms)


def vectors(mechanism: str = "product-laplace", **more: Any) -> dict[str, Any]:
    return {**HEAD, "columns": [{"name": "v", "mechanism": mechanism, "protect": 1, "epsilon": 1, **more}]}


def rows(type_: pa.DataType, count: int = 9, size: int = 3) -> pa.Table:
    numbers = np.random.default_rng(7).integers(-50, 50, (count, size)).tolist()
    return pa.table({"v": pa.array(numbers, type_), "n": range(count)})


@pytest.mark.parametrize("mechanism", ["product-laplace", "spherical-laplace", "curve"])
@pytest.mark.parametrize("type_", [FIXED, LISTED, pa.large_list(pa.int16()), pa.list_(pa.int32(), 3)], ids=str)
def test_a_vector_column_is_drawn_as_columns_of_numbers_are(mechanism: str, type_: pa.DataType) -> None:
    table = rows(type_)
    more: dict[str, Any] = {"grid": [0, 1, 2]} if mechanism == "curve" else {}
    one = nw.release(vectors(mechanism, dimension=3, **more) if not more else vectors(mechanism, **more), table, seed=3)
    parts = pa.table(list(np.array(table["v"].to_pylist()).T.astype(float)), names=["a", "b", "c"])
    policy = {
        **HEAD,
        "columns": [{"name": ["a", "b", "c"], "mechanism": mechanism, "protect": 1, "epsilon": 1, **more}],
    }
    several = nw.release(policy, parts, seed=3)
    assert one.table.schema.field("v").type == type_
    assert one.plan.columns[0].price == several.plan.columns[0].price
    assert one.plan.columns[0].protects == several.plan.columns[0].protects
    drawn = np.column_stack([several.table[name].to_numpy() for name in "abc"])
    found = np.array(one.table["v"].to_pylist())
    assert np.array_equal(
        found, np.rint(drawn) if pa.types.is_integer(type_.value_type) else drawn.astype(found.dtype)
    ) or (type_ == FIXED and np.allclose(found, drawn, rtol=1e-6))


def test_rounding_is_charged_for_every_number_of_a_vector() -> None:
    plan = make_plan(as_policy(vectors(lattice=1, dimension=3)), {"v": LISTED})
    assert plan.columns[0].distance == 3  # one protected unit, and a step for each further number
    assert plan.columns[0].price <= 1


@pytest.mark.parametrize(
    ("type_", "more", "words"),
    [
        (LISTED, {}, "is told neither by the policy nor by the type of the column; say dimension"),
        (FIXED, {"dimension": 2}, "is made for 2 numbers each, but the column holds vectors of 3 numbers"),
        (LISTED, {"dimension": 3, "fill": 1}, "not one of vectors that the column can hold"),
    ],
)
def test_what_is_not_declared_is_refused(type_: pa.DataType, more: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        nw.release(vectors(**more), rows(type_), seed=1)


def test_a_ragged_column_is_refused_without_saying_which_row(tmp_path: Path) -> None:
    table = pa.table({"v": pa.array([[1.0, 2.0], [71.0, 72.0, 73.0]])})
    with pytest.raises(DataError, match="column 'v': a vector does not have the declared 2 numbers") as caught:
        nw.release(vectors(dimension=2), table, output=tmp_path / "out", ledger=tmp_path / "ledger")
    assert "7" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_vectors_do_not_go_with_other_columns_nor_other_mechanisms() -> None:
    both = {**HEAD, "columns": [{"name": ["v", "n"], "mechanism": "product-laplace", "protect": 1, "epsilon": 1}]}
    with pytest.raises(ParameterError, match="takes one column here, not 2"):
        nw.release(both, rows(FIXED), seed=1)
    with pytest.raises(DataError, match="is vectors of 3 numbers, but laplace takes numbers; choose another mechanism"):
        nw.release(vectors("laplace"), rows(FIXED), seed=1)
    with pytest.raises(ParameterError, match="needs numbers, dates, timestamps or booleans"):
        nw.release({**HEAD, "queries": [{"name": "s", "aggregate": "sum", "column": "v", "within": [0, 1], "epsilon": 1}]},
                   rows(FIXED), seed=1)  # fmt: skip


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_vectors_and_bytes_through_files(tmp_path: Path, form: str) -> None:
    table = rows(FIXED).append_column("b", pa.array([bytes([65 + k]) for k in range(9)], pa.binary(1)))
    path = tmp_path / f"x.{form}"
    pq.write_table(table, path) if form == "parquet" else pyarrow.feather.write_feather(table, path)
    others = [{"name": "b", "mechanism": "one-byte", "epsilon": 3}, {"name": "n", "keep": True}]
    policy = {**HEAD, "columns": [*vectors()["columns"], *others]}
    done = nw.release(policy, path, output=tmp_path / "out", format=form, seed=5)
    again = nw.release(policy, table, seed=5)
    assert done.rows == 9
    found = (
        pq.read_table(tmp_path / "out/data.parquet")
        if form == "parquet"
        else pyarrow.feather.read_table(tmp_path / "out/data.arrow")
    )
    assert found.equals(again.table)
    assert found.schema.types == [FIXED, pa.binary(1), pa.int64()]
    assert found["b"].to_pylist() != table["b"].to_pylist()
    lock = (tmp_path / "out/policy.lock").read_text()
    assert '"one-byte": "this program"' in lock


def test_what_a_mechanism_says_that_it_gives_decides_on_the_output() -> None:
    policy = {**HEAD, "columns": [{"name": "v", "mechanism": "sign", "epsilon": 1, "missing": "keep"}]}
    table = pa.table({"v": pa.array([[1.0, 2.0], None, [-1.0, 0.0]], pa.list_(pa.float64(), 2))})
    released = nw.release(policy, table, seed=1).table["v"]
    assert released.type == pa.binary()
    assert released.null_count == 1
    assert set(released.drop_null().to_pylist()) <= {b"\0", b"\1"}


@pytest.mark.parametrize(("name", "text"), [("x.csv", "v,n\n1 2 3,1\n"), ("x.jsonl", '{"v": [1, 2, 3], "n": 1}\n')])
@pytest.mark.parametrize("kind", ["vector", "bytes"])
def test_files_without_types_cannot_spell_them(tmp_path: Path, name: str, text: str, kind: str) -> None:
    (tmp_path / name).write_text(text)
    policy = (
        vectors(dimension=3)
        if kind == "vector"
        else {**HEAD, "columns": [{"name": "v", "mechanism": "one-byte", "epsilon": 1}]}
    )
    with pytest.raises(
        DataError, match=f"the column 'v' holds {kind}s?.* by the policy, which a file without types such as {name}"
    ):
        nw.release(policy, tmp_path / name, seed=1)


def test_an_output_without_types_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="which csv cannot hold"):
        nw.release(vectors(), rows(FIXED), output=tmp_path / "out", format="csv", seed=1)
    assert not (tmp_path / "out").exists()


def test_lists_of_a_pandas_frame() -> None:
    frame = pd.DataFrame({"v": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]})
    assert len(nw.release(vectors(dimension=3), frame, seed=1).table["v"].iloc[0]) == 3


# Blocks -------------------------------------------------------------------------------------------------------------------


def test_blocks_are_cut_by_what_is_declared_and_the_smallest_counts() -> None:
    wide = make_plan(as_policy(vectors(dimension=100_000)), {"v": LISTED})
    assert block_rows(wide.columns) == 10
    kept = {**HEAD, "columns": [*vectors(dimension=3)["columns"], {"name": "w", "keep": True}]}
    assert block_rows(make_plan(as_policy(kept), {"v": LISTED, "w": pa.int8()}).columns) == 65_536
    for type_ in (LISTED, pa.list_(pa.float64(), 9)):  # whether a kept list has a fixed size, Spark does not know
        assert block_rows(make_plan(as_policy(kept), {"v": LISTED, "w": type_}).columns) == 1024


@pytest.mark.parametrize("count", [7, 25])
def test_both_engines_draw_the_same_vectors_and_bytes(tmp_path: Path, spark_session: Any, count: int) -> None:
    size = 100_000  # ten rows a block
    numbers = np.random.default_rng(1).normal(size=(count, size))
    table = pa.table({
        "v": pa.FixedSizeListArray.from_arrays(pa.array(numbers.ravel()), size).cast(LISTED),
        "b": pa.array([bytes([k]) for k in range(count)], pa.binary()),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=6)
    policy = {
        **HEAD,
        "columns": [*vectors(dimension=size)["columns"], {"name": "b", "mechanism": "one-byte", "epsilon": 1}],
    }
    local = nw.release(policy, tmp_path / "x.parquet", seed=11, output=tmp_path / "local")
    spark = nw.release(policy, tmp_path / "x.parquet", seed=11, output=tmp_path / "spark", engine="spark")
    assert local.plan.columns[0].price == spark.plan.columns[0].price
    one, other = (pq.read_table(tmp_path / name / "data.parquet") for name in ("local", "spark"))
    assert one.num_rows == other.num_rows == count
    assert one.column("b").to_pylist() == other.column("b").cast(one.schema.field("b").type).to_pylist()
    assert np.array_equal(np.array(one["v"].to_pylist()), np.array(other["v"].to_pylist()))
    frame = nw.release(policy, spark_session.read.parquet(str(tmp_path / "x.parquet")), engine="spark", seed=11)
    assert frame.table.count() == count
    unseeded = nw.release(
        policy, tmp_path / "x.parquet", output=tmp_path / "u", engine="spark", ledger=tmp_path / "ledger"
    )
    assert unseeded.rows == count


def test_a_fixed_size_is_declared_for_spark(tmp_path: Path, spark_session: Any) -> None:
    pq.write_table(rows(FIXED), tmp_path / "x.parquet")
    with pytest.raises(ParameterError, match="say dimension"):
        nw.release(vectors(), tmp_path / "x.parquet", engine="spark", seed=1)
    one = nw.release(vectors(dimension=3), tmp_path / "x.parquet", engine="spark", output=tmp_path / "out", seed=1)
    local = nw.release(vectors(), tmp_path / "x.parquet", seed=1)
    assert one.rows == 9
    assert pq.read_table(tmp_path / "out/data.parquet")["v"].to_pylist() == local.table["v"].to_pylist()


def test_memory_does_not_grow_with_long_vectors(tmp_path: Path) -> None:
    """1,000 vectors of 100,000 numbers are 800 MB; two cores hold some thirty blocks of 8 MB.

    The peak is ``VmHWM``: ``ru_maxrss`` of a new process begins at the size of the process that started it.
    """
    code = """
        import os, re, sys
        from pathlib import Path
        os.cpu_count = lambda: 2  # blocks that are under way are so many for every core
        import numpy as np, pyarrow as pa, pyarrow.parquet as pq
        import noisewright as nw
        size, path, out = 100_000, sys.argv[1], sys.argv[2]
        type_ = pa.list_(pa.float64())
        with pq.ParquetWriter(path, pa.schema([("v", type_)]), compression="none", use_dictionary=False) as writer:
            for _ in range(100):
                flat = pa.array(np.zeros(10 * size))
                column = pa.ListArray.from_arrays(pa.array(range(0, 11 * size, size), pa.int32()), flat)
                writer.write_table(pa.table({"v": column}))
        policy = {"dataset": "d", "budget": {"epsilon": 1}, "columns": [
            {"name": "v", "mechanism": "product-laplace", "dimension": size, "protect": 1, "epsilon": 1}]}
        done = nw.release(policy, path, output=out, ledger=sys.argv[3])
        assert done.rows == 1000, done.rows
        print(int(re.search(r"VmHWM:\\s*([0-9]+)", Path("/proc/self/status").read_text())[1]) // 1024)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *(str(tmp_path / name) for name in ("x.parquet", "out", "ledger"))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < 1_000, "megabytes"
