"""Columns in the type that a policy states, value by value and without loss, or not at all.

The type of a column decides on the lattice, the unit and the output of a mechanism. Were it read off the values, one person's
cell could change all of that for everyone. Therefore data without types of their own (CSV, JSON lines, pandas) is put into the
types of the policy, and a value that does not fit refuses the whole release.

>>> recast(pa.array([31.0, None]), pa.int64()).to_pylist(), recast(pa.array([7, 8]), pa.string()).to_pylist()
([31, None], ['7', '8'])
>>> recast(pa.array([31.5]), pa.int64())
Traceback (most recent call last):
ValueError: a value is not of this type
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from noisewright.mechanisms.arrow import arrow_scalar, pc
from noisewright.releases.kinds.dates import DATE, TIME, ZONED
from noisewright.releases.kinds.kind import Kind
from noisewright.releases.kinds.numbers import NUMBER
from noisewright.releases.kinds.registry import kind_of
from noisewright.releases.kinds.texts import TEXT

__all__ = ["fits", "fits_json", "recast"]


def recast(column: Any, wanted: pa.DataType) -> Any:
    """A column in the wanted type; ``ValueError``, which shows no value, if one of its values is not of that type.

    Times keep their unit and their zone.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    own = column.type
    if own == wanted or (pa.types.is_timestamp(own) and pa.types.is_timestamp(wanted)):
        return column
    have, want = kind_of(own), kind_of(wanted)
    try:
        if pa.types.is_null(own) or have is want or (pa.types.is_decimal(own) and want is not None and want.coordinate):
            return column.cast(wanted)
        return _converted(column, have, want, wanted)
    except (pa.ArrowException, ValueError):
        raise ValueError("a value is not of this type") from None


def _converted(column: Any, have: Kind | None, want: Kind | None, wanted: pa.DataType) -> Any:
    """A column of one kind as one of another, if every value allows it."""
    own = column.type
    if have is None or want is None or have.name not in want.castable:
        raise ValueError
    if (have is TIME and own.tz is not None) or (have is DATE and wanted == ZONED):
        raise ValueError  # a day begins at another moment in every place
    if have is TEXT and not want.fits(_in_one_piece(column.cast(pa.string())), wanted):
        raise ValueError
    if have is NUMBER and want is not None and want.plain == TEXT.plain:
        column = column.cast(pa.int64())  # integers that a frame holds as floats, as it does next to a missing one
    found = column.cast(wanted)
    if have is TIME and not found.cast(own).equals(column):
        raise ValueError
    return found


def fits(cells: pa.Array, type_: pa.DataType) -> bool:
    """Return whether every cell of text that is not missing is a plain form of a value of this type.

    >>> fits(pa.array(["1", "-20", None]), pa.int64()), fits(pa.array(["1", "007"]), pa.int64())
    (True, False)
    """
    kind = kind_of(type_)
    return kind is not None and kind.fits(cells, type_)


def fits_json(cells: pa.Array, type_: pa.DataType) -> bool:
    """Return whether every value that is not missing, as JSON writes it, is of this type; dates and times are text there.

    >>> [fits_json(pa.array(["31", text]), pa.int64()) for text in ("40", "31.5", '"40"', None)]
    [True, False, False, True]
    """
    kind = kind_of(type_)
    cells = pc.if_else(pc.equal(cells, arrow_scalar("null", cells.type)), arrow_scalar(None, cells.type), cells)
    return kind is not None and kind.fits_json(cells, type_)


def _in_one_piece(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
