"""Sources from paths: files of a format, folders and globs of them, and tables of a DuckDB database."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

from noisewright.core.errors import DataError, FileFormatError
from noisewright.releases.kinds.casts import fits_json
from noisewright.releases.sources.delimited import check_spelled, in_sql, misfit, read_delimited
from noisewright.releases.sources.duck import check_names, connected, identifier, literal, quiet
from noisewright.releases.sources.source import BATCH, SUFFIXES, Format, Source, dataset_of, stamps_of

__all__ = ["files_of", "from_arrow", "from_path"]


def from_path(text: str, types: Mapping[str, pa.DataType]) -> Source:
    if "\0" in text:
        raise FileFormatError(f"{text!r} cannot be the name of a file.")
    if re.match(r"[a-z0-9]+://", text):
        return Source("file", text, "remote", pa.schema([]), paths=(text,))
    table, at, file = text.rpartition("@")
    if at and file.endswith((".duckdb", ".db", ".ddb")) and not os.path.exists(text):
        return _from_database(table, file)
    paths = files_of(text)
    name = Path(text).name
    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise FileFormatError(
            f"{name} holds files of more than one format; name the wanted ones, for example {name}/*.parquet."
        )
    stamps = stamps_of(paths)
    (form,) = formats
    if form == "csv":
        found = read_delimited(paths, types)
        guessed = frozenset(found.schema.names) - set(types)
        return Source(
            "file", name, "csv", found.schema, found.rows, paths, found.relation, found.separator, None, stamps, guessed
        )
    if form == "json":
        schema, relation = _from_json(paths, types)
        check_names(name, schema.names)
        guessed = frozenset(schema.names) - set(types)
        return Source("file", name, form, schema, None, paths, relation, stamps=stamps, guessed=guessed)
    schema, rows, relation = _from_parquet(paths) if form == "parquet" else from_arrow(paths)
    check_names(name, schema.names)
    return Source("file", name, form, schema, rows, paths, relation, stamps=stamps)


def files_of(text: str) -> tuple[str, ...]:
    """The files that a path means, in the order of their names."""
    try:
        if os.path.isdir(text):
            inside = sorted(entry.name for entry in os.scandir(text) if entry.is_file())
            paths = [os.path.join(text, name) for name in inside if not name.startswith((".", "_"))]
            if not paths:
                raise FileFormatError(f"the folder {text} holds no files.")
        elif os.path.exists(text):
            paths = [text]
        else:
            paths = sorted(path for path in glob.glob(text, recursive=True) if os.path.isfile(path))
        for path in paths:
            with open(path, "rb"):
                pass
    except OSError as problem:
        raise FileFormatError(f"{text} cannot be read: {problem.strerror}.") from None
    if not paths:
        raise FileFormatError(f"there is no file {text}.")
    return tuple(paths)


def _format(path: str) -> Format:
    name = Path(path).name.lower()
    for suffix, form in SUFFIXES.items():
        if name.endswith(suffix):
            return form
    if name.endswith((".duckdb", ".db", ".ddb")):
        raise FileFormatError(f"{Path(path).name} holds many tables; say which, as in visits@{Path(path).name}.")
    raise FileFormatError(f"{Path(path).name}: tables are read from files ending in {', '.join(SUFFIXES)}.")


def _from_parquet(paths: tuple[str, ...]) -> tuple[pa.Schema, int, str]:
    import pyarrow.parquet

    schema, rows = None, 0
    for path in paths:
        sentence = f"{Path(path).name} is not a Parquet file, or it was cut short"
        with quiet(sentence, FileFormatError), pyarrow.parquet.ParquetFile(path) as file:
            found, rows = file.schema_arrow.remove_metadata(), rows + file.metadata.num_rows
        schema = _same(schema, found, path, paths[0])
    return schema, rows, f"read_parquet([{', '.join(literal(path) for path in paths)}])"


def from_arrow(paths: tuple[str, ...]) -> tuple[pa.Schema, int, str]:
    schema, rows = None, 0
    for path in paths:
        with quiet(f"{Path(path).name} is not an Arrow (Feather) file, or it was cut short", FileFormatError):
            with pa.memory_map(path) as mapped, pa.ipc.open_file(mapped) as file:
                found = file.schema.remove_metadata()
            rows += dataset_of((path,)).count_rows()
        schema = _same(schema, found, path, paths[0])
    return schema, rows, ""


def _from_json(paths: tuple[str, ...], types: Mapping[str, pa.DataType]) -> tuple[pa.Schema, str]:
    """The columns of all rows; those that a policy knows are of its types, and every value of them is looked at."""
    listed = f"[{', '.join(literal(path) for path in paths)}], format='newline_delimited'"
    relation = f"read_json({listed}, sample_size=-1)"
    sentence = f"{Path(paths[0]).name} does not hold one JSON object a line"
    with quiet(sentence, FileFormatError), connected() as duck:
        schema = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
        fixed = {name: types[name] for name in schema.names if name in types}
        check_spelled(fixed, Path(paths[0]).name)
        if not fixed:
            return schema, relation
        raw = ", ".join(f"{literal(name)}: 'JSON'" for name in fixed)
        texts = ", ".join(f"CAST({identifier(name)} AS VARCHAR) AS {identifier(name)}" for name in fixed)
        cells = duck.sql(f"SELECT {texts} FROM read_json({listed}, columns={{{raw}}})")
        for batch in cells.to_arrow_reader(BATCH):
            for name, kind in fixed.items():
                if not fits_json(batch.column(name), kind):
                    raise misfit(name, kind)
        found = duck.sql(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        spelled = {str(row[0]): in_sql(fixed[row[0]]) if row[0] in fixed else str(row[1]) for row in found}
        struct = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in spelled.items())
        relation = f"read_json({listed}, columns={{{struct}}})"
        schema = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
    return schema, relation


def _from_database(table: str, path: str) -> Source:
    files_of(path)
    relation = "source." + ".".join(identifier(part) for part in table.split("."))
    file = Path(path).name
    with connected() as duck:
        with quiet(f"{file} is not a DuckDB database, or another program has it open", FileFormatError):
            duck.execute(f"ATTACH {literal(path)} AS source (READ_ONLY)")
        with quiet(f"{file} has no table {table!r} that can be read"):
            schema = duck.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table().schema
            ((rows,),) = duck.sql(f"SELECT count(*) FROM {relation}").fetchall()
    return Source("file", f"{table}@{file}", "duckdb", schema, rows, (path,), relation, stamps=stamps_of((path,)))


def _same(schema: pa.Schema | None, found: pa.Schema, path: str, first: str) -> pa.Schema:
    if schema is not None and not schema.equals(found):
        raise DataError(
            f"{Path(path).name} has other columns or types than {Path(first).name}; all files need the same ones."
        )
    return found
