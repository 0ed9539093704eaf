"""Correlated secrets: the information that a release about one thing gives about another.

A release is drawn from ``x``; someone is after ``z``, which is not in the release at all, but goes with ``x``. The
joint distribution ``Pi[z, x]`` says how. The *Dalenius vulnerability* is what an adversary who is after ``z`` gains
from the release:

    ``V_g^D(Pi, C) = sum_y max_w sum_z g[w, z] (Pi C)[z, y]``

with a gain ``g`` on ``Z`` (one guess of ``z`` unless another is given). It is the vulnerability of the marginal of ``z`` under
the channel "first ``x`` given ``z``, then the release", written without a division. If ``B`` refines ``A`` on average, then
``V_g^D(Pi, B) <= V_g^D(Pi, A)`` for *every* correlation and gain.

>>> import noisewright as nw
>>> smoking_and_illness = Correlation([[0.60, 0.10], [0.05, 0.25]], ["well", "ill"], ["no", "yes"])
>>> asked = nw.randomised_response(["no", "yes"], epsilon=2)
>>> round(dalenius_vulnerability(smoking_and_illness, asked), 4)  # 0.70 before: guess "well"
0.7666

Reference: Bordenabe and Smith, *Correlated secrets in quantitative information flow* (2016).

A table is a pyarrow table or record batch, a pandas or Polars frame, or a mapping from names to columns. Values are counted
column by column, never row by row in Python.

>>> people = {"vote": ["red", "blue", "red", "red"], "age": [30, 30, 40, 40]}
>>> found = cross_table(people, "vote", "age")
>>> found.rows, found.columns, found.counts.tolist()
(('blue', 'red'), (30, 40), [[1, 0], [1, 2]])

Numbers, dates and true/false come in their own order, and so do ordered categories; text comes in alphabetical order, which
means nothing: ``found.rows_ordered`` says whether the order does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import one_of
from noisewright.base import Mechanism
from noisewright.channels.channel import Channel
from noisewright.channels.hyper import Prior, as_prior
from noisewright.exceptions import DataError, MetricError, ParameterError
from noisewright.metrics.base import as_labels
from noisewright.qif.gains import Blocks, as_gain, identity, partition
from noisewright.qif.vulnerability import as_channel

__all__ = [
    "Correlation",
    "CrossTable",
    "arrow_column",
    "as_correlation",
    "cross_table",
    "dalenius_vulnerability",
    "states_of",
]


Names = tuple[Hashable, ...]

SUM_TOLERANCE = 1e-9
"""A joint distribution may miss a sum of one by this much and is then renormalised; beyond it it is refused."""


class Correlation:
    """The joint distribution ``joint[z, x]`` of a secret ``z`` and of the ``x`` that a release is drawn from; immutable.

    ``secrets`` names the rows (the ``z``), ``inputs`` the columns (the ``x``); both default to ``0, 1, 2, ...``.
    """

    __slots__ = ("inputs", "joint", "secrets")

    joint: Floats
    secrets: Names
    inputs: Names

    def __init__(
        self, joint: ArrayLike, secrets: Iterable[Hashable] | None = None, inputs: Iterable[Hashable] | None = None
    ) -> None:
        values = _as_joint(joint)
        for name, value in (
            ("joint", values),
            ("secrets", _names(secrets, values.shape[0], "secrets", "rows")),
            ("inputs", _names(inputs, values.shape[1], "inputs", "columns")),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_table(cls, table: Any, secret: str, useful: str, *, missing: str = "refuse") -> Correlation:
        """The empirical correlation of two columns of a table: what someone expects of a new row who knows the old
        ones.

        The table is a pyarrow table, a pandas or Polars frame, or a mapping of columns. A row without a value is refused, or
        left out with ``missing="drop"``.

        >>> people = {"vote": ["red", "blue", "red", "red"], "age": [30, 30, 40, 40]}
        >>> Correlation.from_table(people, secret="vote", useful="age").joint.tolist()
        [[0.25, 0.0], [0.25, 0.5]]
        """
        found = cross_table(table, secret, useful, missing=missing)
        return cls(found.counts / found.total, found.rows, found.columns)

    @classmethod
    def from_partitions(
        cls, prior: object, secret: Blocks, useful: Blocks, states: Iterable[Hashable] | None = None
    ) -> Correlation:
        """``Pi[s, u] = prior(s and u)`` for two ways to put raw states into blocks: by a private and by a useful property.

        Blocks are a mapping or a function from states to blocks, or a list of sets. States are those that the
        prior names, unless they are given; ``prior=None`` is the uniform one.

        >>> answers = [(0, 0), (1, 0), (0, 1), (1, 1)]
        >>> Correlation.from_partitions(None, lambda who: who[0], sum, answers).joint.tolist()
        [[0.25, 0.25, 0.0], [0.0, 0.25, 0.25]]
        """
        names = states_of(prior) if states is None else as_labels(states, "states")
        belief = as_prior(prior, names).probabilities
        rows, columns = partition(names, secret), partition(names, useful)
        return cls(rows.expected(belief[:, None] * columns.matrix.T), rows.actions, columns.actions)

    @property
    def prior(self) -> Floats:
        """Probability of each secret: the marginal on ``z``."""
        return np.asarray(self.joint.sum(axis=1))

    @property
    def input_prior(self) -> Floats:
        """Probability of each input: the marginal on ``x``."""
        return np.asarray(self.joint.sum(axis=0))

    def turned(self) -> Correlation:
        """Exchange the two sides: the information that ``z`` gives about ``x``."""
        return Correlation(self.joint.T, self.inputs, self.secrets)

    def channel(self) -> Channel:
        """The channel from ``z`` to ``x``: the law of the input given the secret. Secrets of probability 0 have no row."""
        kept = self.prior > 0
        names = [z for z, there in zip(self.secrets, kept, strict=True) if there]
        return Channel(self.joint[kept], names, self.inputs, normalise=True)

    def after(self, channel: Channel | Mechanism) -> Correlation:
        """The correlation of the secret with the output of a release: ``Pi C``."""
        seen = as_channel(channel)
        return Correlation(self._pushed(seen), self.secrets, seen.outputs)

    def _pushed(self, seen: Channel) -> Floats:
        known = set(seen.inputs)
        odd = sum(x not in known for x in self.inputs)
        if odd:  # which ones is not said: they may be values of someone's table
            raise ParameterError(
                f"{odd} of the {len(self.inputs)} inputs of the correlation {'are' if odd > 1 else 'is'} no input of the "
                "channel; name both alike (see .inputs)."
            )
        return np.asarray(self.joint @ seen.matrix[seen.positions(self.inputs)])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Correlation does not change; build a new one.")

    def __reduce__(self) -> tuple[Any, ...]:
        return Correlation, (np.array(self.joint), self.secrets, self.inputs)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Correlation)
            and (self.secrets, self.inputs) == (other.secrets, other.inputs)
            and bool(np.array_equal(self.joint, other.joint))
        )

    def __hash__(self) -> int:
        return hash((self.secrets, self.inputs))

    def __repr__(self) -> str:
        return f"Correlation({len(self.secrets)} secrets with {len(self.inputs)} inputs)"


def dalenius_vulnerability(
    correlation: Correlation | ArrayLike, channel: Channel | Mechanism, gain: object = None
) -> float:
    """Return the gain of an adversary who is after ``z`` and sees the release about ``x``.

    ``gain`` is on the secrets ``z``; without one it is the chance to guess ``z`` in one try. A bare matrix ``Pi[z, x]`` has its
    columns in the order of the channel's inputs.

    >>> from noisewright.channels.channel import Channel
    >>> dalenius_vulnerability([[0.5, 0.0], [0.0, 0.5]], Channel([[0.75, 0.25], [0.25, 0.75]]))
    0.75
    """
    seen = as_channel(channel)
    known = as_correlation(correlation, seen)
    try:
        wanted = identity(known.secrets) if gain is None else as_gain(gain, known.secrets)
    except MetricError:  # its sentence names a point, which may be a value of someone's table
        raise ParameterError(
            "this metric does not measure the secrets of the correlation; choose one that does, such as metric:discrete."
        ) from None
    return float(wanted.expected(known._pushed(seen)).max(axis=0).sum())


def as_correlation(correlation: Correlation | ArrayLike, channel: Channel) -> Correlation:
    """The correlation itself, or the correlation of a bare matrix whose columns are the channel's inputs."""
    if isinstance(correlation, Correlation):
        return correlation
    values = _as_joint(correlation)
    if values.shape[1] != len(channel.inputs):
        raise ParameterError(
            f"a correlation with a channel of {len(channel.inputs)} inputs has as many columns, not {values.shape[1]}."
        )
    return Correlation(values, None, channel.inputs)


def states_of(prior: object) -> Names:
    """The states that a prior names; a bare list of probabilities is about 0, 1, 2, ... ."""
    if isinstance(prior, Prior):
        return prior.secrets
    if isinstance(prior, Mapping):
        return as_labels(prior, "states")
    if prior is None or isinstance(prior, str):
        raise ParameterError("name the states: states=[...], or a prior that maps each state to its probability.")
    return tuple(range(np.asarray(prior).size))


def _as_joint(joint: ArrayLike) -> Floats:
    try:
        values = np.array(joint, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("a correlation needs a matrix of probabilities with rows of one length.") from None
    if values.ndim != 2 or 0 in values.shape:
        raise ParameterError(
            f"a correlation needs a matrix with a row for each secret and a column for each input, not shape {values.shape}."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise ParameterError("a correlation needs finite probabilities that are 0 or more.")
    with np.errstate(over="ignore"):
        total = values.sum()
    if abs(total - 1) > SUM_TOLERANCE:
        raise ParameterError(f"a correlation must sum to 1, not to {total:.12g}; divide it by its sum.")
    if total != 1:
        values /= total
    values.flags.writeable = False
    return values


def _names(names: Iterable[Hashable] | None, size: int, what: str, of: str) -> Names:
    labels = tuple(range(size)) if names is None else as_labels(names, what)
    if len(labels) != size:
        raise ParameterError(f"{len(labels)} {what} were named for a correlation with {size} {of}.")
    if len(set(labels)) < size:
        raise ParameterError(f"the {what} of a correlation must be different from each other.")
    return labels


# Cross table --------------------------------------------------------------------------------------------------------------
#
# Joint frequencies of two columns of a table: the counts behind a correlation.


MOST_VALUES = 10_000
"""Maximum number of different values of a column that is taken for an attribute with categories; a column with more is
rejected.
"""
MOST_CELLS = 4_000_000
"""Tables of counts with more cells than this are not built."""


@dataclass(frozen=True, eq=False)
class CrossTable:
    """``counts[i, j]`` rows have the value ``rows[i]`` in the first column and ``columns[j]`` in the second.

    ``rows_ordered`` and ``columns_ordered`` say whether the order of the values means something. ``left_out`` rows had no value
    in one of the two columns and were dropped.
    """

    counts: NDArray[np.int64]
    rows: Names
    columns: Names
    rows_ordered: bool = True
    columns_ordered: bool = True
    left_out: int = 0

    def __post_init__(self) -> None:
        try:
            counts = np.asarray(self.counts)
        except ValueError:
            raise ParameterError("counts must be a matrix of whole numbers with rows of one length.") from None
        if counts.ndim != 2 or counts.dtype.kind not in "iu" or (counts < 0).any() or not counts.any():
            raise ParameterError("counts must be a matrix of whole numbers that are 0 or more, and not all 0.")
        rows, columns = as_labels(self.rows, "rows"), as_labels(self.columns, "columns")
        if counts.shape != (len(rows), len(columns)):
            raise ParameterError(
                f"a matrix of {counts.shape[0]} by {counts.shape[1]} counts has {len(rows)} names of rows and {len(columns)} "
                "of columns; name each row and each column once."
            )
        if len(set(rows)) < len(rows) or len(set(columns)) < len(columns):
            raise ParameterError("a value of a table of counts is named twice; name each once.")
        fixed = np.array(counts, dtype=np.int64)
        fixed.flags.writeable = False
        for name, value in (("counts", fixed), ("rows", rows), ("columns", columns)):
            object.__setattr__(self, name, value)

    @property
    def total(self) -> int:
        """Number of rows that were counted."""
        return int(self.counts.sum())


def cross_table(
    table: Any,
    first: str,
    second: str,
    *,
    first_order: Iterable[Hashable] | None = None,
    second_order: Iterable[Hashable] | None = None,
    missing: str = "refuse",
) -> CrossTable:
    """Count the pairs of values of two columns.

    ``first_order`` and ``second_order`` list the values of a column in the order that they are to have, all of them; values
    that do not occur may be listed too. A row without a value in one of the columns is refused, or left out with
    ``missing="drop"``.
    """
    one_of(missing, "missing", ("refuse", "drop"))
    columns = [arrow_column(table, first), arrow_column(table, second)]
    if len(columns[0]) != len(columns[1]):
        raise DataError(
            f"the columns {first!r} and {second!r} differ in length; a table has one value for each row in each."
        )
    absent = pc.or_(_absent(columns[0]), _absent(columns[1]))
    gaps = int(pc.sum(absent).as_py() or 0)
    if gaps and missing == "refuse":
        raise DataError(
            f"some rows have no value in {first!r} or {second!r}; complete them, or leave them out with missing='drop'."
        )
    if gaps:
        columns = [column.filter(pc.invert(absent)) for column in columns]
    if not len(columns[0]):
        raise DataError(f"no row has a value in both {first!r} and {second!r}; there is nothing to count.")
    codes_of_rows, rows, rows_ordered = _coded(columns[0], first, first_order)
    codes_of_columns, names, columns_ordered = _coded(columns[1], second, second_order)
    if len(rows) * len(names) > MOST_CELLS:
        raise DataError(
            f"the columns {first!r} and {second!r} have too many different values to count all pairs; put them into classes "
            "first, such as ranges."
        )
    cells = codes_of_rows * len(names) + codes_of_columns
    counts = np.bincount(cells, minlength=len(rows) * len(names)).reshape(len(rows), len(names))
    return CrossTable(counts, rows, names, rows_ordered, columns_ordered, gaps)


# Columns -----------------------------------------------------------------------------------------------------------------


def arrow_column(table: Any, name: str) -> pa.ChunkedArray:
    """One column as Arrow holds it, whatever kind of table it is in."""
    if hasattr(table, "collect"):  # a lazy frame of Polars
        table = table.collect()
    if isinstance(table, (pa.Table, pa.RecordBatch)):
        known = table.schema.names
    elif isinstance(table, Mapping) or hasattr(table, "columns"):
        known = list(table if isinstance(table, Mapping) else table.columns)
    else:
        raise ParameterError(
            f"a table is a pyarrow table, a pandas or Polars frame or a mapping of columns, not {type(table).__name__}."
        )
    if name not in known:
        raise DataError(f"the table has no column {name!r}; name one that it has.")
    if known.count(name) > 1:
        raise DataError(f"the table has more than one column {name!r}; give its columns different names.")
    values = table.column(name) if isinstance(table, (pa.Table, pa.RecordBatch)) else table[name]
    try:
        if hasattr(values, "to_arrow"):  # a column of Polars
            values = values.to_arrow()
        elif not isinstance(values, (pa.Array, pa.ChunkedArray)):
            values = pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        raise DataError(f"the column {name!r} mixes values of different kinds; give it one kind.") from None
    column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    if pa.types.is_dictionary(column.type) and not column.type.ordered:
        return column.cast(column.type.value_type)  # a missing value may hide among the categories
    return column


def _absent(column: pa.ChunkedArray) -> pa.ChunkedArray:
    nan = pa.types.is_floating(column.type)
    return pc.is_null(column, nan_is_null=nan)


def _coded(
    column: pa.ChunkedArray, name: str, order: Iterable[Hashable] | None
) -> tuple[NDArray[np.intp], Names, bool]:
    """The number of each row's value, the values by number, and whether their order means something."""
    given = column.type
    ordered = bool(pa.types.is_dictionary(given) and given.ordered)
    try:
        encoded = (column if pa.types.is_dictionary(given) else column.dictionary_encode()).unify_dictionaries()
    except pa.ArrowException:
        raise DataError(f"the column {name!r} is of type {given}, which has no categories to count.") from None
    whole = encoded.combine_chunks()
    values, indices = whole.dictionary.to_pylist(), np.asarray(whole.indices.to_numpy(zero_copy_only=False), np.intp)
    if len(values) > MOST_VALUES:
        raise DataError(
            f"the column {name!r} has more than {MOST_VALUES} different values; put them into classes first, such as ranges."
        )
    labels = as_labels(values, f"the values of {name!r}", DataError)
    if order is None:
        if not ordered:
            seen = sorted(np.unique(indices).tolist(), key=lambda i: labels[i])
            ordered = _has_order(whole.dictionary.type)
        else:
            seen = list(range(len(labels)))
        wanted = tuple(dict.fromkeys(labels[i] for i in seen))  # 0.0 and -0.0 are one value
    else:
        wanted, ordered = as_labels(order, f"the order of {name!r}"), True
        if len(set(wanted)) < len(wanted):
            raise ParameterError(f"the order of {name!r} lists a value twice; list each once.")
    place = {label: i for i, label in enumerate(wanted)}
    number = np.array([place.get(label, -1) for label in labels], dtype=np.intp)
    codes = number[indices]
    if (codes < 0).any():
        raise DataError(f"the column {name!r} has a value that the order given for it leaves out; list all values.")
    return codes, wanted, ordered


def _has_order(kind: pa.DataType) -> bool:
    """Return whether values of a type come in an order that means something: numbers, moments, and true and false."""
    named = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_temporal, pa.types.is_boolean)
    return any(of_kind(kind) for of_kind in named)
