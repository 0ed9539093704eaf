"""The local engine: order, blocks, bounds of units, formats, threads that do not repeat noise, faults."""

from __future__ import annotations

import resource
import threading
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from engine_support import COLUMNS, plans, queries, table
from hypothesis import given
from hypothesis import strategies as st

from noisewright.columns import BLOCK
from noisewright.engines.base import engine_for
from noisewright.engines.blocks import in_blocks
from noisewright.engines.local import LocalEngine
from noisewright.exceptions import DataError, FileFormatError, NoisewrightError, ParameterError, PolicyError
from noisewright.planning.column_plan import perturb_block
from noisewright.policy.policy import UnitPolicy, as_policy
from noisewright.queries.compile import compile_query
from noisewright.releases.release import release
from noisewright.tables.reading import source_of

ROWS = 2 * BLOCK + 1234
ENGINE = LocalEngine()
NOBODY = UnitPolicy()
SECRET = "s3cr3t-cell"
RESPONSE: dict[str, Any] = {"mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}


@pytest.fixture(scope="module")
def visits() -> pa.Table:
    return table(ROWS)


def by_hand(rows: pa.Table, seed: int, **changes: Any) -> pa.Table:
    """What the seed means, without an engine: block by block in row order."""
    found = plans(source_of(rows).types, **changes)
    whole = rows.combine_chunks()
    blocks = [whole.slice(start, BLOCK).to_batches()[0] for start in range(0, whole.num_rows, BLOCK)]
    return pa.Table.from_batches([perturb_block(found, block, place, seed) for place, block in enumerate(blocks)])


@given(st.lists(st.integers(0, 12), max_size=12), st.integers(1, 9))
def test_blocks_hold_the_same_rows_in_the_same_order(sizes: list[int], size: int) -> None:
    whole = pa.table(
        {"x": range(sum(sizes)), "c": pa.array(["ab"[n % 2] for n in range(sum(sizes))]).dictionary_encode()}
    )
    starts = np.cumsum([0, *sizes])
    pieces = [batch for a, n in zip(starts, sizes, strict=False) for batch in whole.slice(a, n).to_batches()]
    found = list(in_blocks(pieces, size))
    assert [block.num_rows for block in found[:-1]] == [size] * max(0, len(found) - 1)
    assert sum(block.num_rows for block in found) == sum(sizes)
    assert [x for block in found for x in block.column("x").to_pylist()] == list(range(sum(sizes)))


@pytest.mark.parametrize("format", ["parquet", "arrow", "csv"])
def test_the_output_is_the_blocks_in_order(tmp_path: Path, visits: pa.Table, format: Any) -> None:
    source = source_of(visits)
    seen: list[tuple[int, int | None]] = []
    target = tmp_path / f"out.{format}"
    rows = ENGINE.perturb(
        source, plans(source.types), NOBODY, target, format, 7, lambda done, all: seen.append((done, all)), "kept"
    )
    expected = by_hand(visits, 7)
    back = source_of(target)
    assert rows == ROWS
    halves = [BLOCK // 2, BLOCK, ROWS // 2, ROWS]  # a row is drawn, and then written
    assert seen == [(done, ROWS) for done in halves]
    found = pa.Table.from_batches(back.batches(back.schema.names))
    if format == "csv":  # which knows fewer types
        found = found.cast(expected.schema)
    assert found.schema.equals(expected.schema)
    assert found.equals(expected)
    assert ENGINE.frame(source, plans(source.types), NOBODY, 7, "kept").equals(expected)


@pytest.mark.parametrize("suffix", ["parquet", "csv", "jsonl", "arrow"])
def test_the_same_rows_in_any_file_give_the_same_release(tmp_path: Path, visits: pa.Table, suffix: str) -> None:
    """Row groups, batches and readers differ; global row numbers do not. Names with dots and quotes are names."""
    chosen = visits.select(["age", "code"]).rename_columns(["a.ge", 'co"de'])
    path = tmp_path / f"in.{suffix}"
    if suffix == "parquet":
        pq.write_table(chosen, path, row_group_size=10_007)
    elif suffix == "csv":
        pa.csv.write_csv(chosen, path)
    elif suffix == "jsonl":
        path.write_text(
            "".join(
                f'{{"a.ge": {a}, "co\\"de": {"null" if c is None else repr(c)}}}\n'.replace("'", '"')
                for a, c in zip(*(column.to_pylist() for column in chosen.columns), strict=True)
            )
        )
    else:
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, chosen.schema) as writer:
            writer.write_table(chosen, max_chunksize=9_999)
    columns = [{**COLUMNS[0], "name": "a.ge"}, {**COLUMNS[5], "name": 'co"de'}]
    source = source_of(path)
    assert ENGINE.frame(source, plans(source.types, columns=columns), NOBODY, 3, "kept").equals(
        by_hand(chosen, 3, columns=columns)
    )


def test_the_dictionary_of_a_written_file_is_the_declared_labels_and_nothing_of_the_data(tmp_path: Path) -> None:
    """Labels of a Parquet file are read, drawn and written with dictionaries: the old one is not passed on, readers see text."""
    one = {"name": "ward", "mechanism": "randomised-response", "categories": ["c", "b", "a"], "epsilon": 50}
    policy = {"dataset": "d", "budget": {"epsilon": 50}, "columns": [one]}
    given = pa.DictionaryArray.from_arrays(pa.array([1, 1, 2, None], pa.int8()), ["secret", "a", "b"])
    for missing, order in (("keep", "kept"), ("keep", "random")):
        pq.write_table(pa.table({"ward": given}), tmp_path / "in.parquet")
        stated = {**policy, "columns": [{**one, "missing": missing}], "order": order}
        done = release(stated, tmp_path / "in.parquet", output=tmp_path / order, seed=1)
        assert done.folder is not None
        assert b"secret" not in (done.folder / "data.parquet").read_bytes()
        assert pq.read_schema(done.folder / "data.parquet") == pa.schema([("ward", pa.string())])
        read = pq.read_table(done.folder / "data.parquet", read_dictionary=["ward"])["ward"].combine_chunks()
        assert read.dictionary.to_pylist() == ["c", "b", "a"]
        assert sorted(read.to_pylist(), key=repr) == ["a", "a", "b", None]  # at epsilon 50 all stay, but for 4e-22


def test_draws_without_a_seed_follow_the_law_and_never_repeat() -> None:
    """Randomised response over 2 categories at epsilon 1 keeps with probability e/(1+e); 200,000 rows in four blocks of equal
    rows. Chance of a false alarm: 1e-11 for the count (6.8 standard deviations), far less for equal blocks."""
    rows = 4 * BLOCK
    source = source_of(pa.table({"vote": pa.array(["yes"] * rows)}))
    found = plans(source.types, columns=[{"name": "vote", **RESPONSE}])
    released = ENGINE.frame(source, found, NOBODY).column("vote")
    kept = pc.sum(pc.equal(released, "yes")).as_py()
    p = float(np.e / (1 + np.e))
    assert abs(kept - rows * p) < 6.8 * (rows * p * (1 - p)) ** 0.5
    blocks = [tuple(released.slice(k * BLOCK, BLOCK).to_pylist()) for k in range(4)]
    again = ENGINE.frame(source, found, NOBODY).column("vote")
    blocks += [tuple(again.slice(k * BLOCK, BLOCK).to_pylist()) for k in range(4)]
    assert len(set(blocks)) == 8


# Units --------------------------------------------------------------------------------------------------------------------


def first_rows(rows: pa.Table, column: str, most: int) -> list[int]:
    """The oracle: a dictionary of counts, row by row."""
    counts: dict[Any, int] = {}
    kept = []
    for place, unit in enumerate(rows.column(column).to_pylist()):
        counts[unit] = counts.get(unit, 0) + 1
        if counts[unit] <= most:
            kept.append(place)
    return kept


@pytest.mark.parametrize("most", [1, 2])
def test_the_first_rows_of_every_unit_are_used(visits: pa.Table, most: int) -> None:
    unit = UnitPolicy(column="patient", rows=most, excess="first")
    source = source_of(visits)
    kept = visits.take(first_rows(visits, "patient", most))
    ENGINE.check_units(source, unit)
    assert ENGINE.frame(source, plans(source.types), unit, 5, "kept").equals(by_hand(kept, 5))
    (count,) = queries(source.types, queries=[{"name": "n", "aggregate": "count", "epsilon": 1}])
    result = ENGINE.aggregate(source, count.statistics[0], unit)
    assert count.statistics[0].read(result).tolist() == [[kept.num_rows]]


def test_units_beyond_the_bound_are_refused(visits: pa.Table) -> None:
    source = source_of(visits)
    ENGINE.check_units(source, UnitPolicy(column="patient", rows=3))
    with pytest.raises(DataError, match=r"somebody has more than 2 rows in the column 'patient'; raise unit.rows"):
        ENGINE.check_units(source, UnitPolicy(column="patient", rows=2))
    with pytest.raises(DataError, match="has no column 'who'"):
        ENGINE.check_units(source, UnitPolicy(column="who"))


def test_every_row_must_say_whose_it_is() -> None:
    source = source_of(pa.table({"who": ["a", None], "x": [1, 2]}))
    for excess in ("refuse", "first"):
        with pytest.raises(DataError, match="'who' is missing in some rows"):
            ENGINE.check_units(source, UnitPolicy(column="who", excess=excess))


def test_units_are_named_once_in_bytes() -> None:
    source = source_of(pa.table({"who": [12, -3, 12, None], "name": ["é", "b", "b", "b"], "x": [0.5, 1, 2, 3]}))
    assert sorted(ENGINE.units(source, UnitPolicy(column="who"))) == [b"-3", b"12"]
    assert sorted(ENGINE.units(source, UnitPolicy(column="name"))) == [b"b", "é".encode()]
    with pytest.raises(DataError, match="named by text, whole numbers or dates"):
        list(ENGINE.units(source, UnitPolicy(column="x")))
    with pytest.raises(NoisewrightError, match=r"need unit.column"):
        list(ENGINE.units(source, NOBODY))


# Aggregates and checks ----------------------------------------------------------------------------------------------------


def test_aggregates_are_exact(visits: pa.Table) -> None:
    source = source_of(visits)
    found = {q.name: [s.read(ENGINE.aggregate(source, s, NOBODY)) for s in q.statistics] for q in queries(source.types)}
    age, code = visits.column("age").to_numpy(), np.array(visits.column("code").to_pylist(), dtype=object)
    assert found["rows"][0].tolist() == [[int(((age >= 18) & ((code == "A") | (code == "é"))).sum())]]
    sums, counts = found["by code"]
    centre = 55
    assert sums.tolist() == [[int((age[code == c] - centre).sum())] for c in "AB"]
    assert counts.tolist() == [[int((code == c).sum())] for c in "AB"]


def test_values_are_checked_before_anything_is_drawn() -> None:
    rows = ["yes"] * (BLOCK + 5)
    columns = [{"name": "vote", **RESPONSE}]
    good = source_of(pa.table({"vote": rows}))
    ENGINE.check_values(good, plans(good.types, columns=columns), NOBODY)
    for bad in (SECRET, None):
        source = source_of(pa.table({"vote": [*rows, bad]}))
        found = plans(source.types, columns=columns)
        for action in (
            lambda s=source, p=found: ENGINE.check_values(s, p, NOBODY),
            lambda s=source, p=found: ENGINE.frame(s, p, NOBODY),
        ):
            with pytest.raises(DataError, match="column 'vote'") as caught:
                action()
            assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_only_rows_that_count_are_checked() -> None:
    source = source_of(pa.table({"who": [1, 1], "vote": ["yes", SECRET]}))
    found = plans(source.types, columns=[{"name": "vote", **RESPONSE}])
    unit = UnitPolicy(column="who", excess="first")
    ENGINE.check_values(source, found, unit)
    assert ENGINE.frame(source, found, unit, 1).num_rows == 1


# Faults -------------------------------------------------------------------------------------------------------------------


def test_a_refused_value_leaves_no_file_and_no_thread(tmp_path: Path) -> None:
    source = source_of(pa.table({"vote": ["yes"] * (20 * BLOCK) + [SECRET]}))
    target = tmp_path / "out.parquet"
    found = plans(source.types, columns=[{"name": "vote", **RESPONSE}])
    with pytest.raises(DataError):
        ENGINE.perturb(source, found, NOBODY, target)
    assert not target.exists()
    assert not [t for t in threading.enumerate() if t.name.startswith("noisewright")]


def test_an_interruption_leaves_no_file(tmp_path: Path, visits: pa.Table) -> None:
    source = source_of(visits)

    def interrupt(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ENGINE.perturb(source, plans(source.types), NOBODY, tmp_path / "out.parquet", "parquet", 1, interrupt)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", ["parquet", "csv", "arrow"])
def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path, visits: pa.Table, format: Any) -> None:
    source = source_of(visits)
    earlier = tmp_path / "earlier"
    earlier.write_text("precious")
    for target in (tmp_path / "no" / "folder", tmp_path, earlier):
        with pytest.raises(FileFormatError, match=f"{target} cannot be written: ") as caught:
            ENGINE.perturb(source, plans(source.types), NOBODY, target, format, 1)
        assert "\n" not in str(caught.value)
    assert earlier.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [earlier]


@pytest.mark.parametrize("format", ["parquet", "csv", "arrow"])
def test_a_disk_that_takes_no_more_is_one_sentence(tmp_path: Path, visits: pa.Table, format: Any) -> None:
    """A limit on the size of files makes writing fail in the middle, as a full disk does."""
    source = source_of(visits)
    target = tmp_path / "out"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(FileFormatError, match=f"{target} cannot be written: ") as caught:
            ENGINE.perturb(source, plans(source.types), NOBODY, target, format, 1, order="kept")
        with pytest.raises(
            FileFormatError, match=r"rows cannot be shuffled in .*: File too large; set TMPDIR"
        ) as other:
            ENGINE.perturb(source, plans(source.types), NOBODY, target, format, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "\n" not in str(caught.value) + str(other.value)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_there(tmp_path: Path) -> None:
    source = source_of(pa.table({"vote": ["yes"]}))
    found = plans(source.types, columns=[{"name": "vote", **RESPONSE}])
    with pytest.raises(DataError, match="'vote'"):
        ENGINE.perturb(source_of(pa.table({"x": [1]})), found, NOBODY, tmp_path / "x")
    with pytest.raises(ParameterError, match="no output format 'ods'"):
        ENGINE.perturb(source, found, NOBODY, tmp_path / "x", "ods")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no engine 'dask'"):
        engine_for("dask", source)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_an_empty_table_stays_empty(tmp_path: Path) -> None:
    source = source_of(pa.table({"vote": pa.array([], pa.string())}))
    found = plans(source.types, columns=[{"name": "vote", **RESPONSE}])
    assert ENGINE.perturb(source, found, NOBODY, tmp_path / "out.parquet") == 0
    assert pq.read_table(tmp_path / "out.parquet").schema.equals(pa.schema([("vote", pa.string())]))


def test_moments_come_back_in_their_time_zone(tmp_path: Path) -> None:
    """Files do not all keep the name of a zone, and DuckDB would give that of the machine."""
    rows = pa.table({"at": pa.array([0, 10**15, None], pa.timestamp("us", tz="Europe/Paris"))})
    policy = {"dataset": "d", "budget": {"epsilon": 1}, "columns": [{"name": "at", "keep": True}]} | {"order": "kept"}
    assert release(policy, rows, seed=1, output=tmp_path / "out").data.equals(rows)


def test_a_query_that_fails_while_it_runs_is_named() -> None:
    """Not the statistic behind it ("count"): a policy can have many, and the person knows the query by its name."""
    query = {"name": "grown up", "aggregate": "count", "where": "age > 17", "epsilon": 1}
    policy = as_policy({"dataset": "d", "budget": {"epsilon": 1}, "queries": [query]})
    (statistic,) = compile_query(policy.queries[0], 0, {"age": pa.int64()}, policy).statistics
    texts = source_of(pa.table({"age": ["a sentinel", "b"]}))  # not the types that were planned for
    with pytest.raises(DataError, match=r"^query 'grown up' stopped at a value") as caught:
        ENGINE.aggregate(texts, statistic, NOBODY)
    assert "sentinel" not in str(caught.value)
    with pytest.raises(PolicyError, match=r"^query 'grown up' cannot be computed from this table"):
        ENGINE.aggregate(source_of(pa.table({"years": [1]})), statistic, NOBODY)
