"""Answers as files of cells: text that a spreadsheet would run is harmless there, and comes back as it was."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TextIO

import pyarrow as pa

from noisewright.releases.kinds.texts import is_text
from noisewright.releases.queries.answers import QueryPlan
from noisewright.releases.sources.formulas import harmless, harmless_name, original, original_name
from noisewright.releases.sources.open import source_of

__all__ = ["read_answer", "write_answer", "write_cells"]


def write_answer(table: pa.Table, path: Path) -> None:
    """An answer as a CSV file."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        write_cells(table, file)


def write_cells(table: pa.Table, file: TextIO) -> None:
    """A small table as the cells of a CSV file."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(harmless_name, table.column_names))
    writer.writerows(zip(*(harmless(column).to_pylist() for column in table.columns), strict=True))


def read_answer(path: Path, query: QueryPlan) -> pa.Table:
    """An answer as it was written: its groups are of the types that the policy gives them, and the rest are numbers and
    dates.
    """
    texts = {harmless_name(key.column): pa.string() for key in query.statistics[0].keys if is_text(key.array().type)}
    source = source_of(path, texts)
    table = pa.Table.from_batches(source.batches(source.schema.names), source.schema)
    return pa.table([original(c) for c in table.columns], names=[original_name(name) for name in table.column_names])
