"""The released table as it was written, read back in the types in which it was released.

A CSV file has no types, and cells do not show them: the categories ``"1"`` and ``"2"`` are text, and a column of
true/false is not text. The plan of the release knows; so nothing is guessed here, and a quoted empty cell is an empty
text, not a missing one. Text that a spreadsheet would run comes back as it was: see
:mod:`~noisewright.releases.sources.formulas`.

>>> import tempfile
>>> path = Path(tempfile.mkdtemp()) / "data.csv"
>>> _ = path.write_text('"smoker","ward"\\ntrue,"1"\\n,"2"\\n')
>>> read_written(path, {"smoker": pa.bool_(), "ward": pa.string()}).to_pylist()
[{'smoker': True, 'ward': '1'}, {'smoker': None, 'ward': '2'}]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from noisewright.core.errors import FileFormatError
from noisewright.mechanisms.arrow import arrow_scalar, pc
from noisewright.releases.kinds.registry import kind_of
from noisewright.releases.kinds.texts import is_text
from noisewright.releases.sources.delimited import header_of, in_sql, relation_of
from noisewright.releases.sources.duck import connected, quiet
from noisewright.releases.sources.files import files_of, format_of, from_path
from noisewright.releases.sources.formulas import harmless_name, original, original_name
from noisewright.releases.sources.source import Source, stamps_of

__all__ = ["read_written", "written_batches"]


def read_written(path: Path, types: Mapping[str, pa.DataType]) -> pa.Table:
    """The whole table; ``types`` are those in which its columns were released."""
    batches = list(written_batches(path, types))
    return pa.Table.from_batches(batches, batches[0].schema if batches else pa.schema(list(types.items())))


def written_batches(
    path: Path, types: Mapping[str, pa.DataType], columns: Sequence[str] | None = None, every: int = 1
) -> Iterator[pa.RecordBatch]:
    """Yield its rows in order, some columns of them; with ``every`` about one in ``every`` rows, spread over the table."""
    form = format_of(path.name)
    cells = form == "csv"
    if cells:
        paths = files_of(str(path))
        source = _of_cells(path.name, paths, *header_of(paths[0]), types)
    else:
        source = _of_sheet(path, types) if form == "sheet" else from_path(str(path), {})
    wanted = list(columns) if columns is not None else [_name(name, cells) for name in source.schema.names]
    for batch in source.batches([harmless_name(name) if cells else name for name in wanted], every):
        found = [original(column) if cells else column for column in batch.columns]
        found = [_as_released(column, types.get(name)) for name, column in zip(wanted, found, strict=True)]
        yield pa.RecordBatch.from_arrays(found, wanted)


def _of_sheet(path: Path, types: Mapping[str, pa.DataType]) -> Source:
    from noisewright.releases.sources._cells import spooled_cells
    from noisewright.releases.sources.workbooks import open_sheet

    sheet = open_sheet(str(path))
    spool = spooled_cells(path.name, sheet.names, sheet.rows(blank=True))
    return replace(_of_cells(path.name, (spool.path,), ",", sheet.names, types), held=spool)


def _of_cells(
    name: str, paths: tuple[str, ...], separator: str, names: Sequence[str], types: Mapping[str, pa.DataType]
) -> Source:
    columns = {name: _spelled(types.get(original_name(name), pa.string())) for name in names}
    relation = relation_of(separator, columns, quoted_missing=False)
    with quiet(f"{name} is not as it was written", FileFormatError), connected(paths) as duck:
        schema = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
    return Source("file", name, "csv", schema, None, paths, relation, separator, stamps=stamps_of(paths))


def _spelled(kind: pa.DataType) -> str:
    """Return the type in which DuckDB reads a column: text, where no type of it holds all digits."""
    return "VARCHAR" if pa.types.is_timestamp(kind) and kind.unit == "ns" else in_sql(kind)


def _name(name: str, cells: bool) -> str:
    return original_name(name) if cells else name


def _as_released(column: pa.Array, kind: pa.DataType | None) -> pa.Array:
    """A column in its own width, unit and zone, which not all files keep; as it was read where that does not fit."""
    if kind is None or column.type == kind:
        return column
    try:
        if is_text(column.type) and pa.types.is_duration(kind):
            return column.cast(pa.int64()).cast(kind)
        if is_text(column.type) and pa.types.is_time(kind):
            day = arrow_scalar("1970-01-01", column.type)
            moments = pc.binary_join_element_wise(day, column, arrow_scalar(" ", column.type))
            return moments.cast(pa.timestamp(kind.unit)).cast(kind)
        return column.cast(kind) if is_text(column.type) or kind_of(column.type) is kind_of(kind) else column
    except pa.ArrowException:
        return column
