"""Columns in the type that a policy says, value by value and without loss, or not at all.

The type of a column decides on the lattice, the unit and the output of a mechanism. Were it read off the values, one person's
cell could change all of that for everybody. So what has no types of its own (CSV, JSON lines, pandas) is put into the
types of the policy, and a value that does not fit refuses the whole release.

>>> recast(pa.array([31.0, None]), pa.int64()).to_pylist(), recast(pa.array([7, 8]), pa.string()).to_pylist()
([31, None], ['7', '8'])
>>> recast(pa.array([31.5]), pa.int64())
Traceback (most recent call last):
ValueError: a value is not of this type
"""

from __future__ import annotations

from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from noisewright.mechanisms.arrow import arrow_array, arrow_scalar
from noisewright.releases.kinds.codecs import kind_of

__all__ = ["ARROW", "ZONED", "TypeName", "fits", "fits_json", "name_of", "recast"]

TypeName = Literal["integer", "number", "date", "time", "text", "boolean"]
ARROW: dict[TypeName, pa.DataType] = {
    "integer": pa.int64(),
    "number": pa.float64(),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
    "text": pa.string(),
    "boolean": pa.bool_(),
}
"""The types that a policy may name, as they are stored."""
ZONED = pa.timestamp("us", "UTC")
"""Times with an offset: moments, whatever the clock of the place shows. A policy calls them times, too."""
LONGEST_WHOLE = 18
WITHOUT_LOSS = {
    ("whole", "number"),
    ("number", "whole"),
    ("whole", "text"),
    ("number", "text"),  # whole numbers that a frame holds as floats, as it does beside a missing one
    ("date", "text"),
    ("time", "date"),
    ("date", "time"),
    ("text", "date"),
    ("text", "time"),
}
"""From what a column may be put into what, if every value allows it."""


def name_of(type_: pa.DataType) -> TypeName | None:
    """What a policy calls a type; None for one that it has no word for."""
    kind = kind_of(type_)
    return "integer" if kind == "whole" else kind


def recast(column: Any, wanted: pa.DataType) -> Any:
    """A column in the wanted type; ``ValueError``, which tells no value, if one of its values is not of that type.

    Times keep their unit and their zone.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    own = column.type
    if own == wanted or (pa.types.is_timestamp(own) and pa.types.is_timestamp(wanted)):
        return column
    have, want = kind_of(own), kind_of(wanted)
    if pa.types.is_decimal(own) and want in ("whole", "number"):
        have = want
    try:
        if pa.types.is_null(own) or have == want:
            return column.cast(wanted)
        if (have, want) not in WITHOUT_LOSS or (pa.types.is_timestamp(own) and own.tz is not None):
            raise ValueError
        if have == "date" and wanted == ZONED:  # a day begins at another moment in every place
            raise ValueError
        if have == "text" and not fits(_in_one_piece(column.cast(pa.string())), wanted):
            raise ValueError
        if (have, want) == ("number", "text"):
            column = column.cast(pa.int64())
        found = column.cast(wanted)
        if have == "time" and not found.cast(own).equals(column):
            raise ValueError
    except (pa.ArrowException, ValueError):
        raise ValueError("a value is not of this type") from None
    return found


def fits(cells: pa.Array, kind: pa.DataType) -> bool:
    """Whether every cell of text that is not missing is a plain spelling of a value of this type.

    >>> fits(pa.array(["1", "-20", None]), pa.int64()), fits(pa.array(["1", "007"]), pa.int64())
    (True, False)
    """
    if pa.types.is_string(kind):
        return True
    if pa.types.is_boolean(kind):
        return _all(pc.is_in(pc.ascii_lower(cells), arrow_array(["true", "false", None])))
    try:
        values = pc.cast(cells, kind)
    except pa.ArrowInvalid:
        return False
    if pa.types.is_integer(kind):
        return _all(pc.equal(pc.cast(values, pa.string()), cells))
    if pa.types.is_floating(kind):
        padded = pc.and_(pc.starts_with(cells, "0"), pc.greater(pc.binary_length(cells), arrow_scalar(1)))
        long = pc.greater(pc.binary_length(cells), arrow_scalar(LONGEST_WHOLE))
        if pc.any(long).as_py() and pc.any(pc.match_substring_regex(cells.filter(long), r"^[-+]?\d+$")).as_py():
            return False  # a long code: as a number it would lose digits
        return _all(pc.or_(pc.invert(padded), pc.starts_with(cells, "0.")))
    if pa.types.is_timestamp(kind):  # an hour without minutes is a time for Arrow alone
        return _all(pc.invert(pc.match_substring_regex(cells, r"[ T]\d\d($|[^\d:])")))
    return True


def fits_json(cells: pa.Array, kind: pa.DataType) -> bool:
    """Whether every value that is not missing, as JSON writes it, is of this type; dates and times are text there.

    >>> [fits_json(pa.array(["31", text]), pa.int64()) for text in ("40", "31.5", '"40"', None)]
    [True, False, False, True]
    """
    cells = pc.if_else(pc.equal(cells, arrow_scalar("null", cells.type)), arrow_scalar(None, cells.type), cells)
    if pa.types.is_string(kind):
        return _all(pc.starts_with(cells, '"'))
    if pa.types.is_boolean(kind):
        return _all(pc.is_in(cells, arrow_array(["true", "false", None])))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _all(pc.invert(pc.starts_with(cells, '"'))) and fits(cells, kind)
    quoted = pc.and_(pc.starts_with(cells, '"'), pc.ends_with(cells, '"'))
    return _all(quoted) and fits(pc.utf8_trim(cells, '"'), kind)


def _all(truths: pa.Array) -> bool:
    return pc.all(truths).as_py() is not False


def _in_one_piece(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
