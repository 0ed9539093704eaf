r"""The conformance suite of kinds: what every kind of column must satisfy, ours and anyone's.

>>> import pyarrow as pa
>>> from noisewright.releases.kinds import INTEGER
>>> from noisewright.testing import check_kind
>>> report = check_kind(INTEGER, pa.int8(), [5, -3, 127], others=[pa.float64(), pa.string()])
>>> report.passed[:4]
['words', 'types', 'reading and writing', 'missing values']
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from noisewright.core.errors import NoisewrightError
from noisewright.releases.kinds.kind import BLOCK, Form, Kind
from noisewright.releases.kinds.rows import as_array, restore, take_present
from noisewright.testing.report import Check, Report, require, run

__all__ = ["check_kind"]

FORMS: tuple[Form, ...] = ("numpy", "arrow")


def check_kind(
    kind: Kind,
    type_: pa.DataType,
    values: Sequence[Any],
    *,
    others: Sequence[pa.DataType] = (),
    size: int | None = None,
    refused: Sequence[pa.Array] = (),
) -> Report:
    """Run every check and return the report.

    ``values`` are a few different ones that a column of ``type_`` holds; ``others`` are types that the kind must not hold;
    ``size`` is that of a value with several numbers, where the type does not state it; ``refused`` are columns of the kind
    that must not be read, and of which no value may be shown.
    """
    column = pa.array(list(values), type_)
    checks: list[Check] = [
        ("words", lambda: _words(kind)),
        ("types", lambda: _types(kind, type_, others)),
        ("reading and writing", lambda: _round_trip(kind, column, size)),
        ("missing values", lambda: _missing(kind, column, size)),
        ("chunks", lambda: _chunks(kind, column, size)),
        ("blocks", lambda: _blocks(kind, type_, size)),
        ("spelling", lambda: _spelling(kind, values)),
        ("refused values", lambda: _refused(kind, refused, size)),
        ("pickling", lambda: _pickling(kind, column, size)),
    ]
    return run(checks)


def _words(kind: Kind) -> str | None:
    require(isinstance(kind, Kind), "words: a kind is an instance of a subclass of Kind.")
    plain = kind.name.isidentifier() or kind.name.replace("-", "_").isidentifier()
    require(plain and kind.name == kind.name.lower(), "words: the name is one word in lower case, as a policy has it.")
    require(bool(kind.words and kind.one), "words: a kind says in words what a column and what one value is.")
    require(not kind.whole or kind.numeric, "words: only a number can be whole.")
    return None


def _types(kind: Kind, type_: pa.DataType, others: Sequence[pa.DataType]) -> str | None:
    require(kind.holds(type_), f"types: the kind does not hold {type_}.")
    require(kind.holds(kind.plain), "types: the kind does not hold its own plain type.")
    for other in (pa.null(), pa.struct([pa.field("x", type_)]), *others):
        require(not kind.holds(other), f"types: the kind holds {other}, which is not its own.")
    out = kind.output_type(type_)
    require(kind.holds(out), f"types: what comes out of {type_} is {out}, which the kind does not hold.")
    require(kind.output_type(out) == out, "types: a released column that is released again has another type.")
    return None


def _round_trip(kind: Kind, column: pa.Array, size: int | None) -> str | None:
    out = kind.output_type(column.type)
    for form in FORMS:
        found = kind.read(column, form, size)
        require(len(found) == len(column), f"reading and writing: {form}: not one value for each row.")
        require(
            isinstance(found, np.ndarray if form == "numpy" else pa.Array), f"reading and writing: no {form} array."
        )
        back = kind.write(found, out)
        require(back.type == out, f"reading and writing: written as {back.type}, not as {out}.")
        if _comparable(column, out):
            require(
                back.equals(column.cast(out)), f"reading and writing: {form}: values do not come back as they were."
            )
        require(
            len(kind.read(column.slice(0, 0), form, size)) == 0, f"reading and writing: {form}: no rows are not none."
        )
    return None


def _comparable(column: pa.Array, out: pa.DataType) -> bool:
    """Return whether the output is the input, in another type at most; not for paths, in whose place are files."""
    if column.type == out:
        return True
    try:
        column.cast(out)
    except pa.ArrowException:
        return False
    return not (pa.types.is_binary(out) or pa.types.is_large_binary(out))


def _missing(kind: Kind, column: pa.Array, size: int | None) -> str | None:
    require(
        kind.present(column) is None or bool(np.all(kind.present(column))), "missing values: a value counts as missing."
    )
    holed = as_array(pa.chunked_array([pa.nulls(1, column.type), column, pa.nulls(2, column.type)]))
    mask, wanted = kind.present(holed), np.array([False, *[True] * len(column), False, False])
    require(mask is not None and bool((mask == wanted).all()), "missing values: not the nulls are what is missing.")
    out = kind.output_type(column.type)
    back = restore(kind.write(kind.read(take_present(holed, mask), "numpy", size), out), mask)
    require(back.type == out and back.null_count == 3, "missing values: they do not stay missing.")
    require((~np.asarray(back.is_null()) == wanted).all(), "missing values: they are not in their places.")
    return None


def _chunks(kind: Kind, column: pa.Array, size: int | None) -> str | None:
    out = kind.output_type(column.type)
    whole = kind.write(kind.read(column, "numpy", size), out)
    middle = len(column) // 2
    pieces = [kind.write(kind.read(column.slice(*part), "numpy", size), out) for part in ((0, middle), (middle,))]
    require(pa.concat_arrays(pieces).equals(whole), "chunks: a column in two pieces is not the column in one.")
    chunked = as_array(pa.chunked_array([column.slice(0, middle), column.slice(middle)]))
    require(
        kind.write(kind.read(chunked, "numpy", size), out).equals(whole), "chunks: a chunked column reads otherwise."
    )
    return None


def _blocks(kind: Kind, type_: pa.DataType, size: int | None) -> str | None:
    rows = kind.block_rows(type_, size)
    require(isinstance(rows, int) and 1 <= rows <= BLOCK, f"blocks: a block has from 1 to {BLOCK} rows.")
    return None


def _spelling(kind: Kind, values: Sequence[Any]) -> str | None:
    if not kind.typeless:
        require(not kind.fits(pa.array(["x"]), kind.plain), "spelling: no text spells this kind, yet one fits.")
        return "files without types cannot hold it"
    try:
        cells = pa.array(list(values), kind.plain).cast(pa.string())
    except pa.ArrowException:
        return "the values are not of the plain type"
    require(kind.fits(cells, kind.plain), "spelling: a value in text does not fit.")
    require(kind.fits(pa.array([None], pa.string()), kind.plain), "spelling: a missing cell does not fit.")
    back = cells.cast(kind.plain)
    require(back.cast(pa.string()).equals(cells), "spelling: a value is spelled otherwise the second time.")
    return None


def _refused(kind: Kind, refused: Sequence[pa.Array], size: int | None) -> str | None:
    if not refused:
        return "no such columns were given"
    for column in refused:
        try:
            kind.read(column, "numpy", size)
        except NoisewrightError as problem:
            shown = [value for value in _leaves(column.to_pylist()) if value and value in str(problem)]
            require(not shown, "refused values: the message shows a value.")
            require(problem.__cause__ is None, "refused values: the error carries another one, which may show a value.")
        else:
            require(False, "refused values: a column that must be refused was read.")
    return None


def _leaves(values: Sequence[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        elif value is not None:
            yield value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _pickling(kind: Kind, column: pa.Array, size: int | None) -> str | None:
    copy = pickle.loads(pickle.dumps(kind))
    out = kind.output_type(column.type)
    same = copy == kind and copy.write(copy.read(column, "numpy", size), out).equals(
        kind.write(kind.read(column, "numpy", size), out)
    )
    require(same, "pickling: a copy in another process is another kind.")
    return None
