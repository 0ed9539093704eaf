r"""Text that a spreadsheet would run, made harmless in CSV files and read back as it was.

A cell that starts with ``=``, ``+``, ``-`` or ``@`` is a formula to a spreadsheet: it can fetch addresses and start
programs. Therefore such text is written with an apostrophe before it, which spreadsheets take for "this is text". A text that
has apostrophes before such a sign gets one more, so that nothing is lost: anyone who reads takes one away. Plain
numbers, and a sign alone, are nothing that runs; they stay as they are.

>>> cells = pa.array(["=1+1", "'=1+1", " @sum", "-3", "+", "a-b", None])
>>> harmless(cells).to_pylist()
["'=1+1", "''=1+1", "' @sum", '-3', '+', 'a-b', None]
>>> original(harmless(cells)).equals(cells), original_name(harmless_name("=x"))
(True, '=x')
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from noisewright.mechanisms.arrow import arrow_array, arrow_scalar, pc
from noisewright.releases.kinds.texts import is_text

__all__ = ["FORMULA", "PLAIN", "harmless", "harmless_name", "harmless_rows", "original", "original_name"]

FORMULA = r"^'*[ \t\r\n]*[-=+@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
"""Pattern of text that a spreadsheet might run, after any number of apostrophes; also in the wide signs of East Asian
keyboards.
"""
PLAIN = r"^'*[-+]([0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?)?\z"
"""Pattern of text that only looks like it: a number, or a sign alone."""


def harmless(column: Any) -> Any:
    """A column as CSV files have it: text that might be run with an apostrophe before it."""
    if not is_text(column.type):
        return column
    mark, nothing = arrow_scalar("'", column.type), arrow_scalar("", column.type)
    return pc.if_else(_runs(column), pc.binary_join_element_wise(mark, column, nothing), column)


def original(column: Any) -> Any:
    """A column of a CSV file as it was before :func:`harmless`."""
    if not is_text(column.type):
        return column
    marked = pc.and_(_runs(column), pc.starts_with(column, "'"))
    return pc.if_else(marked, pc.utf8_slice_codeunits(column, 1), column)


def harmless_name(name: str) -> str:
    """The name of a column in the first row of a CSV file."""
    return str(harmless(arrow_array([name]))[0])


def original_name(name: str) -> str:
    """The name that :func:`harmless_name` was given."""
    return str(original(arrow_array([name]))[0])


def harmless_rows(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch as a CSV file has it, names and all."""
    names = [harmless_name(name) for name in batch.schema.names]
    return pa.RecordBatch.from_arrays([harmless(column) for column in batch.columns], names=names)


def _runs(column: Any) -> Any:
    plain = pc.match_substring_regex(column, PLAIN)
    return pc.and_not(pc.match_substring_regex(column, FORMULA), plain)
