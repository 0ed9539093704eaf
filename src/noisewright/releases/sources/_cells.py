"""Tables of cells without types (sheets, SQLite) as a private CSV file, which is then read as any other: one way to types.

>>> source = from_cells("visits", "", ["age", "note"], iter([["31", "a"], [None, ""]]), {})
>>> source.types, [batch.to_pylist() for batch in source.batches(["age", "note"])]
({'age': DataType(int64), 'note': DataType(string)}, [[{'age': 31, 'note': 'a'}, {'age': None, 'note': ''}]])
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.ipc

from noisewright.files.scratch import Spool
from noisewright.releases.sources.connection import Batches
from noisewright.releases.sources.delimited import read_delimited
from noisewright.releases.sources.duck import check_names, quiet, valid
from noisewright.releases.sources.source import Source, SourceKind, stamps_of

__all__ = ["Cells", "from_cells", "spelled_number", "spooled", "spooled_cells", "used_part"]

Cells = Sequence[str | None]
"""A row: each cell as text, None where it is missing."""
WHOLE = 1 << 53
"""Below this a float holds every integer."""


def from_cells(
    name: str,
    path: str,
    names: Sequence[str],
    rows: Iterator[Cells],
    types: Mapping[str, pa.DataType],
    used: Collection[str] | None = None,
) -> Source:
    """The source of cells from the file at ``path``; ``types`` and ``used`` as for CSV files, but an empty text is a text."""
    check_names(name, names)
    spool = spooled_cells(name, names, rows, used)
    found = read_delimited((spool.path,), types, used, title=name, quoted_missing=False)
    return Source(
        "file",
        name,
        "csv",
        found.schema,
        found.rows,
        (spool.path,),
        found.relation,
        held=spool,
        stamps=stamps_of((spool.path,)),
        guessed=frozenset(names) - set(types),
        origin=(path,),
    )


def spooled_cells(name: str, names: Sequence[str], rows: Iterator[Cells], used: Collection[str] | None = None) -> Spool:
    """A private CSV file with these rows; of columns that are not used it has the names alone."""
    spool = Spool()
    wanted = [used is None or one in used for one in names]
    with (
        quiet(f"{name} cannot be read to its end, or there is no room for a copy in {tempfile.gettempdir()}"),
        open(spool.path, "w", encoding="utf-8", newline="") as file,
    ):
        file.write(",".join(map(_quoted, names)) + "\n")
        for row in rows:
            cells = zip(row, wanted, strict=True)
            file.write(",".join("" if cell is None or not use else _quoted(cell) for cell, use in cells) + "\n")
    return spool


def spelled_number(value: float) -> str:
    """A float as text: without a fraction where it has none, and otherwise so that the same float is read again.

    >>> spelled_number(31.0), spelled_number(0.1), spelled_number(1e300)
    ('31', '0.1', '1e+300')
    """
    return str(int(value)) if abs(value) < WHOLE and value == int(value) else repr(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


# What can be read only once ------------------------------------------------------------------------------------------------


def spooled(
    kind: SourceKind,
    name: str,
    reader: pa.RecordBatchReader | Batches,
    used: Collection[str] | None,
) -> Source:
    """Write a source that can be read once to a temporary file, which goes when the source goes."""
    check_names(name, reader.schema.names, used)
    kept = used_part(reader.schema, used)
    spool, rows = Spool(), 0
    options = pa.ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=True)
    with (
        quiet(f"{name} cannot be read to its end, or there is no room for a copy in {tempfile.gettempdir()}"),
        pa.OSFile(spool.path, "wb") as file,
        pa.ipc.new_file(file, kept, options=options) as writer,
    ):
        for batch in reader:
            rows += batch.num_rows
            writer.write_batch(valid(batch.select(kept.names)))
    return Source(
        kind,
        name,
        "arrow",
        kept.remove_metadata(),
        rows,
        (spool.path,),
        held=spool,
        stamps=stamps_of((spool.path,)),
    )


def used_part(schema: pa.Schema, used: Collection[str] | None) -> pa.Schema:
    """The columns that are used; one at least, to count rows by."""
    return pa.schema([one for one in schema if used is None or one.name in used] or [schema.field(0)])
