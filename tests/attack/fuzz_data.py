"""Tables for the fuzzer: files of every format with bytes changed, tables of false buffers, and files with odd names."""

from __future__ import annotations

import datetime
import gzip
import io
import os
import random
import struct
import tempfile
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq

from noisewright.exceptions import NoisewrightError
from noisewright.releases.release import plan, release
from noisewright.tables.reading import source_of
from tests.attack.fuzz import SECRET, spoken

__all__ = ["check_bases", "damaged", "odd_path"]

ROWS = 40
POLICY = {
    "dataset": "clinic",
    "budget": {"epsilon": 100},
    "unit": {"column": "patient", "rows": 3},
    "types": {"age": "integer"},
    "columns": [
        {"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1},
        {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1, "outside": "clamp"},
        {"name": "note", "keep": True},
    ],
    "queries": [
        {"name": "adults", "aggregate": "count", "where": "age >= 18", "epsilon": 1},
        {"name": "ages", "aggregate": "histogram", "column": "age", "bins": [0, 18, 65, 110], "epsilon": 1},
        {"name": "smokers", "aggregate": "histogram", "column": "smoker", "values": ["yes", "no"], "epsilon": 1},
    ],
}


def _plain() -> pa.Table:
    return pa.table(
        {
            "patient": [f"p{place // 2}" for place in range(ROWS)],
            "smoker": ["yes", "no"] * (ROWS // 2),
            "age": pa.array([place * 2 for place in range(ROWS)], pa.int64()),
            "note": [SECRET if place % 5 else None for place in range(ROWS)],
        }
    )


def _rich() -> pa.Table:
    """Every layout that Arrow has for a column."""
    plain, texts = _plain(), [SECRET * (place % 4) for place in range(ROWS)]
    day = datetime.datetime(2024, 2, 29)
    more = {
        "smoker": plain["smoker"].combine_chunks().dictionary_encode(),
        "patient": plain["patient"].cast(pa.large_string()),
        "note": pa.array(texts, pa.string_view()),
        "list": pa.array([[place] * (place % 3) for place in range(ROWS)], pa.list_(pa.int32())),
        "large": pa.array([[t] for t in texts], pa.large_list(pa.string())),
        "fixed": pa.array([[1.0, 2.0]] * ROWS, pa.list_(pa.float64(), 2)),
        "struct": pa.array([{"a": 1, "b": t} for t in texts]),
        "map": pa.array([[(t, 1)] for t in texts], pa.map_(pa.string(), pa.int8())),
        "flag": [True, None] * (ROWS // 2),
        "money": pa.array([Decimal("1.25")] * ROWS, pa.decimal128(9, 2)),
        "when": pa.array([day] * ROWS, pa.timestamp("us", "UTC")),
        "bytes": pa.array([b"\0\1"] * ROWS, pa.binary()),
        "nothing": pa.nulls(ROWS),
        "runs": pa.RunEndEncodedArray.from_arrays([10, ROWS], ["a", "b"]),
        "choice": pa.UnionArray.from_sparse(
            pa.array([0, 1] * (ROWS // 2), pa.int8()), [pa.array([1] * ROWS), pa.array(texts)]
        ),
    }
    return pa.table({**{name: plain[name] for name in plain.column_names}, **more})


def _ipc(table: pa.Table, compression: str | None) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=16)
    return sink.getvalue()


def _parquet(table: pa.Table, **options: object) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=16, **options)
    return sink.getvalue()


def _csv() -> bytes:
    rows = [("patient", "smoker", "age", "note"), *(r.values() for r in _plain().to_pylist())]
    return "".join(",".join("" if cell is None else str(cell) for cell in row) + "\n" for row in rows).encode()


def _json() -> bytes:
    lines = [str(row).replace("'", '"').replace("None", "null") for row in _plain().to_pylist()]
    return "\n".join(lines).encode()


def _database() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/a.duckdb"
        with duckdb.connect(path) as duck:
            duck.register("given", _plain())
            duck.execute("CREATE TABLE visits AS SELECT * FROM given")
        return Path(path).read_bytes()


BASES: dict[str, Callable[[], bytes]] = {
    "plain.arrow": lambda: _ipc(_plain(), None),
    "rich.arrow": lambda: _ipc(_rich(), None),
    "lz4.arrow": lambda: _ipc(_rich(), "lz4"),
    "zstd.feather": lambda: _ipc(_rich(), "zstd"),
    "plain.parquet": lambda: _parquet(_plain()),
    "rich.parquet": lambda: _parquet(_rich().drop_columns(["runs", "choice"])),
    "other.parquet": lambda: _parquet(_plain(), use_dictionary=False, compression="zstd", data_page_version="2.0"),
    "a.csv": _csv,
    "a.csv.gz": lambda: gzip.compress(_csv(), mtime=0),
    "a.tsv": lambda: _csv().replace(b",", b"\t"),
    "a.jsonl": _json,
    "a.duckdb": _database,
}
NUMBERS = [0, 1, 2, 7, 8, 127, 255, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
WORDS = [
    b"\0",
    b"\xff",
    b'"',
    b"\n",
    b"\r",
    b",",
    b"[",
    b"{",
    b'{"a":' * 50,
    b"[" * 3000,
    b"\xed\xa0\x80",
    b"e999",
    b"-",
]


@cache
def _base(name: str) -> bytes:
    return BASES[name]()


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Bytes flipped, cut, doubled, overwritten by numbers that lengths and offsets could be."""
    made = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 4, 16])):
        if not made:
            break
        place = chance.randrange(len(made))
        match chance.randrange(8):
            case 0:
                made[place] ^= 1 << chance.randrange(8)
            case 1:
                made[place] = chance.randrange(256)
            case 2 | 3:
                size = chance.choice([2, 4, 4, 8, 8])
                place -= place % size
                number = chance.choice(NUMBERS) + chance.randrange(-2, 3)
                made[place : place + size] = struct.pack("<Q", number % 2**64)[:size]
            case 4:
                del made[place:]
            case 5:
                del made[place : place + chance.randrange(1, 64)]
            case 6:
                made[place:place] = made[place : place + chance.randrange(1, 64)] or b"x"
            case _:
                made[place:place] = chance.choice(WORDS)
    return bytes(made)


def check_bases(folder: Path) -> int:
    """How many tables there are to damage; before that, each of them is released."""
    for name in BASES:
        (folder / name).write_bytes(_base(name))
        given = f"visits@{folder / name}" if name.endswith(".duckdb") else folder / name
        assert release(POLICY, given, seed=1).rows == ROWS
        plan(POLICY, given, ledger=folder / "ledger")
    return len(BASES)


def damaged(chance: random.Random, folder: Path) -> None:
    """A release, as a simulation, of a table that is not what it was."""
    if chance.random() < 0.15:
        table = _false_table(chance)
        for given in (table, table.to_reader()):
            _used(given, POLICY, chance, folder)
        return
    name = chance.choice(list(BASES))
    path = folder / name
    path.write_bytes(mutated(_base(name), chance))
    given = f"visits@{path}" if name.endswith(".duckdb") else str(path)
    policy = POLICY
    if name.startswith(("rich", "lz4", "zstd")) and chance.random() < 0.7:
        kept = [
            {"name": other, "keep": True}
            for other in ("list", "large", "struct", "map", "flag", "money", "when", "bytes")
        ]
        policy = {**POLICY, "columns": [*POLICY["columns"], *chance.sample(kept, 3)]}  # type: ignore[misc]
    _used(given, policy, chance, folder)


def _used(given: object, policy: dict[str, object], chance: random.Random, folder: Path) -> None:
    for use in (lambda: plan(policy, given, ledger=folder / "ledger"), lambda: release(policy, given, seed=1)):
        if chance.random() < 0.7:
            try:
                use()
            except NoisewrightError as refusal:
                spoken(str(refusal))


def _false_table(chance: random.Random) -> pa.Table:
    """A table of the right types over buffers that were changed."""
    table = _rich() if chance.random() < 0.7 else _plain()
    columns = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        if chance.random() < 0.3 and not pa.types.is_nested(column.type) and not pa.types.is_null(column.type):
            buffers = [
                pa.py_buffer(mutated(bytes(buffer), chance) + bytes(64))
                if buffer is not None and chance.random() < 0.7
                else buffer
                for buffer in column.buffers()
            ]
            try:
                if isinstance(column, pa.DictionaryArray):
                    codes = pa.Array.from_buffers(pa.int32(), len(column), buffers)
                    column = pa.DictionaryArray.from_arrays(codes, column.dictionary, safe=False)
                else:
                    column = pa.Array.from_buffers(column.type, chance.choice([ROWS, ROWS, ROWS]), buffers)
            except (pa.ArrowException, ValueError, TypeError):
                pass
        columns[name] = column
    return pa.table(columns)


# Names --------------------------------------------------------------------------------------------------------------------

SIGNS = [
    "[",
    "]",
    "*",
    "?",
    "{",
    "}",
    "!",
    "a",
    "b",
    "1",
    "=",
    "'",
    '"',
    ";",
    "\\",
    "\n",
    "%",
    "~",
    "$",
    "@",
    " ",
    "-",
    ",",
    "é",
    "#",
]


def odd_path(chance: random.Random, folder: Path) -> None:
    """A file with an odd name in an odd folder, among others with names that a pattern would find: its rows, and no others."""
    inner = folder / _odd_name(chance)
    inner.mkdir()
    suffix = chance.choice([".csv", ".jsonl", ".parquet", ".arrow", ".csv.gz", ".tsv"])
    name = _odd_name(chance)
    wanted, decoy = pa.table({"a": ["r1", "r2"], "b": ["x", "y"]}), pa.table({"a": ["d"] * 3, "b": ["z"] * 3})
    for other in {"a", "b", "1", "ab", "a1", name.replace("[", "").replace("]", ""), name.replace("*", "a")} - {
        name,
        "",
    }:
        _written(inner / f"{other}{suffix}", decoy)
    _written(inner / f"{name}{suffix}", wanted)
    given = inner / f"{name}{suffix}"
    if chance.random() < 0.3:
        os.chdir(inner)
        given = Path(given.name)
    source = source_of(given)
    assert source.schema.names == ["a", "b"], source.schema.names
    found = pa.Table.from_batches(source.batches(["a", "b"]))
    assert found.to_pydict() == wanted.to_pydict(), f"other rows for {given.name!r}"
    with source.database() as duck:
        assert duck.sql("SELECT * FROM data").fetchall() == [("r1", "x"), ("r2", "y")], f"other rows for {given.name!r}"


def _odd_name(chance: random.Random) -> str:
    return "".join(chance.choice(SIGNS) for _ in range(chance.randrange(1, 8)))


def _written(path: Path, table: pa.Table) -> None:
    rows = [tuple(row.values()) for row in table.to_pylist()]
    content = "".join(",".join(row) + "\n" for row in [("a", "b"), *rows]).encode()
    if path.name.endswith(".parquet"):
        content = _parquet(table)
    elif path.name.endswith(".arrow"):
        content = _ipc(table, None)
    elif path.name.endswith(".jsonl"):
        content = "".join(f'{{"a": "{a}", "b": "{b}"}}\n' for a, b in rows).encode()
    elif path.name.endswith(".gz"):
        content = gzip.compress(content)
    elif path.name.endswith(".tsv"):
        content = content.replace(b",", b"\t")
    path.write_bytes(content)
