"""Rows that stand out, and rows that two tables have in common: k-anonymity and the linkage attack.

*Quasi-identifiers* are columns that identify no one alone but name someone together, such as postcode, date of birth
and sex. A table is **k-anonymous** in them if every combination that occurs is that of ``k`` rows or more. A **linkage
attack** joins it with a table of known people on those columns: where a combination belongs to one row of each, the two
rows are taken for the same person.

>>> released = {"post": ["A1", "A1", "B2"], "born": [1970, 1970, 1980], "illness": ["flu", "none", "cancer"]}
>>> print(anonymity(released, ["post", "born"]))
k = 1: 2 combinations of post, born among 3 rows; 1 row has one of its own.
>>> known = {"name": ["Ann", "Bob"], "post": ["B2", "A1"], "born": [1980, 1970]}
>>> print(link(released, known, ["post", "born"]))
1 row is linked to one known row: its post, born occur once in each; 2 more rows agree with some known row.
>>> link(released, known, ["post", "born"]).pairs.tolist()
[[2, 0]]

k-anonymity is not a privacy guarantee: rows that agree in everything known may agree in the secret, too. Two releases
of one table that are both k-anonymous need not be so together. References: Sweeney, *k-anonymity* (2002); Dwork and
Roth (2014), chapter 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from noisewright.adversary.inference.cross_table import arrow_column
from noisewright.core.errors import DataError, ParameterError

__all__ = ["Anonymity", "Linked", "anonymity", "link"]

ROW = "row of "
"""Before the names of columns that hold the numbers of rows; it keeps them apart from columns of the tables."""


@dataclass(frozen=True)
class Anonymity:
    """Numbers of rows that share each combination of some columns. A missing value is a value like any other."""

    columns: tuple[str, ...]
    rows: int
    sizes: NDArray[np.int64] = field(repr=False)
    """Number of rows with each combination that occurs, in rising order."""

    @property
    def k(self) -> int:
        """The largest ``k`` for which the table is k-anonymous."""
        return int(self.sizes[0])

    def rows_below(self, k: int) -> int:
        """Return the number of rows that share their combination with fewer than ``k - 1`` others; unique rows for
        ``k = 2``.
        """
        return int(self.sizes[self.sizes < k].sum())

    def to_json(self) -> dict[str, Any]:
        """The counts as plain data."""
        return {
            "columns": list(self.columns),
            "rows": self.rows,
            "combinations": len(self.sizes),
            "k": self.k,
            "rows_alone": self.rows_below(2),
        }

    def __str__(self) -> str:
        names, alone = ", ".join(self.columns), self.rows_below(2)
        many = f"{len(self.sizes)} {'combination' if len(self.sizes) == 1 else 'combinations'}"
        own = f"{alone} {'row has' if alone == 1 else 'rows have'} one of {'its' if alone == 1 else 'their'} own"
        return f"k = {self.k}: {many} of {names} among {self.rows} rows; {own}."


@dataclass(frozen=True)
class Linked:
    """Result of a join of two tables on some columns."""

    columns: tuple[str, ...]
    rows: int
    pairs: NDArray[np.int64] = field(repr=False)
    """The numbers of two rows, of the released and of the known table, whose combination occurs once in each."""
    possible: int
    """Numbers of rows of the released table that agree with some known row, for the released rows of the pairs."""
    left_out: int
    """Number of rows of either table that miss a value in one of the columns, and agree with nothing."""

    def to_json(self) -> dict[str, Any]:
        """The counts as plain data, without the pairs."""
        return {
            "columns": list(self.columns),
            "rows": self.rows,
            "linked": len(self.pairs),
            "possible": self.possible,
            "left_out": self.left_out,
        }

    def __str__(self) -> str:
        count, more = len(self.pairs), self.possible - len(self.pairs)
        linked = (
            "1 row is linked to one known row: its"
            if count == 1
            else f"{count} rows are linked to one known row each: their"
        )
        also = f"{more} more {'row agrees' if more == 1 else 'rows agree'} with some known row"
        return f"{linked} {', '.join(self.columns)} occur once in each; {also}."


def anonymity(table: Any, columns: Sequence[str]) -> Anonymity:
    """Return how far rows are alike in these columns; ``table`` is an Arrow table, a pandas or Polars frame, or a
    mapping of columns.
    """
    read = _read(table, columns)
    sizes = read.group_by(read.schema.names, use_threads=False).aggregate([([], "count_all")])
    return Anonymity(tuple(read.schema.names), read.num_rows, np.sort(sizes.column("count_all").to_numpy()))


def link(released: Any, known: Any, on: Sequence[str]) -> Linked:
    """Join two tables on the columns ``on``, which both have, and find the rows that can belong to one person only."""
    first, second = _read(released, on), _read(known, on)
    names = first.schema.names
    second = second.cast(pa.schema([_common(first, second, name) for name in names]))
    first = first.cast(second.schema)
    whole = [table.filter(_complete(table)) for table in (_numbered(first, 0), _numbered(second, 1))]
    left_out = first.num_rows + second.num_rows - sum(table.num_rows for table in whole)
    one, other = (
        table.group_by(names, use_threads=False).aggregate([(f"{ROW}{i}", "min"), ([], "count_all")])
        for i, table in enumerate(whole)
    )
    joined = one.join(other.rename_columns([*names, "row", "count"]), names, join_type="inner", use_threads=False)
    here, there = joined.column("count_all").to_numpy(), joined.column("count").to_numpy()
    alone = (here == 1) & (there == 1)
    pairs = np.column_stack([joined.column(name).to_numpy()[alone] for name in (f"{ROW}0_min", "row")])
    return Linked(tuple(names), first.num_rows, pairs[np.argsort(pairs[:, 0])], int(here.sum()), left_out)


def _read(table: Any, columns: Sequence[str]) -> pa.Table:
    """Columns of a table, as Arrow holds them."""
    if isinstance(columns, str) or not columns or not all(isinstance(name, str) for name in columns):
        raise ParameterError("name the columns in a list, one or more, such as ['postcode', 'born', 'sex'].")
    if len(set(columns)) < len(columns):
        raise ParameterError("a column is named twice; name each once.")
    found = [arrow_column(table, name) for name in columns]
    if len({len(column) for column in found}) > 1:
        raise DataError("the columns differ in length; a table has one value for each row in each.")
    if not len(found[0]):
        raise DataError("the table has no rows, so there is nothing to attack.")
    plain = [column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column for column in found]
    return pa.table(plain, names=list(columns))


def _common(first: pa.Table, second: pa.Table, name: str) -> pa.Field:
    """Return one type for both: numbers are compared as numbers, and other values only with their own type."""
    kinds = first.schema.field(name).type, second.schema.field(name).type
    numbers = [pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds]
    text = [pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in kinds]
    if kinds[0] == kinds[1]:
        return pa.field(name, kinds[0])
    if all(text):
        return pa.field(name, pa.large_string())
    if all(numbers):
        return pa.field(name, pa.int64() if all(pa.types.is_integer(kind) for kind in kinds) else pa.float64())
    raise DataError(
        f"the column {name!r} is of another kind in each table, {kinds[0]} and {kinds[1]}; give both one kind."
    )


def _numbered(table: pa.Table, which: int) -> pa.Table:
    return table.append_column(f"{ROW}{which}", pa.array(np.arange(table.num_rows)))


def _complete(table: pa.Table) -> Any:
    absent = [pc.is_null(c, nan_is_null=pa.types.is_floating(c.type)) for c in table.columns]
    found = absent[0]
    for other in absent[1:]:
        found = pc.or_(found, other)
    return pc.invert(found)
