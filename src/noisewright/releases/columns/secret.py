r"""The columns that form one secret: of which kind each is, and the way to the values of a mechanism and back.

The kind of a column is the one that the policy states; or the input of the mechanism, where that kind holds the column's type
(free text is distinguished from text in no other way); or else the kind of its type. What a mechanism is given then
follows from what it declares (:class:`~noisewright.core.mechanism.Takes`), and nothing from the names of its parameters.

>>> from noisewright.mechanisms.registry import registry
>>> place = secret_of(("north", "east"), (pa.float32(), pa.int8()), registry["planar-laplace"])
>>> place.read([pa.array([0.5], pa.float32()), pa.array([7], pa.int8())]).tolist(), place.numbers
([[0.5, 7.0]], 2)
>>> [column.type for column in place.write(np.array([[1.25, 300.0]]), 1)]
[DataType(float), DataType(int8)]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from noisewright.core.errors import DataError, ParameterError
from noisewright.core.mechanism import Takes
from noisewright.mechanisms.arrow import arrow_array, pc
from noisewright.mechanisms.registry import Entry
from noisewright.releases.kinds.kind import Kind
from noisewright.releases.kinds.registry import KINDS, describe, kind_named, kind_of, present
from noisewright.releases.kinds.rows import Mask, as_array, restore, take_present
from noisewright.releases.kinds.texts import TEXT, plain_text

__all__ = ["Secret", "kind_for", "secret_of", "title_of"]


@dataclass(frozen=True)
class Secret:
    """Columns, their types and kinds, and the mechanism's declaration; ``size`` is the length of a value with several
    numbers.
    """

    names: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    kinds: tuple[Kind, ...]
    takes: Takes
    size: int | None = None

    @property
    def numbers(self) -> int:
        """Number of numbers in one secret: one for each column, or the length of the vector of one column."""
        return len(self.types) if self.several is None or self.size is None else self.size

    @property
    def several(self) -> Kind | None:
        """The kind of the only column, where each of its values has several numbers."""
        alone = self.kinds[0] if len(self.kinds) == 1 else None
        return alone if alone is not None and alone.size(self.types[0]) != 1 else None

    @property
    def unit(self) -> str:
        """The unit of the values of a single column, in the singular."""
        return self.kinds[0].unit if len(self.kinds) == 1 else ""

    @property
    def output_kinds(self) -> tuple[Kind, ...]:
        """The kinds of the output: what the mechanism declares, or the columns' own."""
        gives = self.takes.gives
        return self.kinds if gives is None or gives not in KINDS else (kind_named(gives),) * len(self.kinds)

    @property
    def output_types(self) -> tuple[pa.DataType, ...]:
        """The types of the released columns."""
        return tuple(
            kind.output_type(type_ if kind.holds(type_) else kind.plain)
            for kind, type_ in zip(self.output_kinds, self.types, strict=True)
        )

    @property
    def block_rows(self) -> int:
        """The most rows of a block."""
        return min(kind.block_rows(type_, self.size) for kind, type_ in zip(self.kinds, self.types, strict=True))

    @property
    def coded(self) -> bool:
        """True if the columns are of labels, which may come with a dictionary."""
        return self.takes.form == "arrow" and all(kind is TEXT for kind in self.kinds)

    def described(self) -> str:
        """Describe the content of the columns in words."""
        return " and ".join(describe(type_, kind) for type_, kind in zip(self.types, self.kinds, strict=True))

    def arrays(self, columns: Sequence[Any]) -> list[pa.Array]:
        """The columns in one piece each; refused if they are not of the kinds that were planned for."""
        found = [as_array(column) for column in columns]
        if not all(kind.holds(array.type) for kind, array in zip(self.kinds, found, strict=True)):
            raise DataError(
                f"{title_of(self.names)} has another type than planned for; plan the release for these data again."
            )
        return found

    def there(self, arrays: Sequence[pa.Array]) -> Mask | None:
        """Return a mask of the rows without missing values in any column; None where that is everywhere."""
        return present(self.kinds, arrays)

    def filled(self, arrays: Sequence[pa.Array], fill: Sequence[Any]) -> list[pa.Array]:
        """The columns with public values wherever they are missing."""
        found = []
        for array, kind, value in zip(arrays, self.kinds, fill, strict=True):
            plain, mask = plain_text(array), kind.present(array)
            found.append(
                plain if mask is None else pc.if_else(arrow_array(mask), plain, kind.scalar(value, plain.type))
            )
        return found

    def taken(self, arrays: Sequence[pa.Array], mask: Mask | None) -> list[pa.Array]:
        """The rows of a mask."""
        return [take_present(array, mask) for array in arrays]

    def put_back(self, arrays: Sequence[pa.Array], mask: Mask | None) -> list[pa.Array]:
        """Rows in their places again, null where something was missing."""
        return [restore(array, mask) for array in arrays]

    def empty(self) -> list[pa.Array]:
        """Columns without rows."""
        return [pa.nulls(0, self._plain(place)) for place in range(len(self.types))]

    def missing(self) -> list[pa.Array]:
        """Columns of one row in which all is missing."""
        return [pa.nulls(1, self._plain(place)) for place in range(len(self.types))]

    def read(self, arrays: Sequence[pa.Array]) -> Any:
        """Return the inputs of the mechanism, for columns without missing values."""
        parts = [kind.read(array, self.takes.form, self.size) for kind, array in zip(self.kinds, arrays, strict=True)]
        if self.takes.form == "arrow":
            if len(parts) == 1:
                return parts[0]
            return pa.StructArray.from_arrays(
                [plain_text(part) for part in parts], names=list(map(str, range(len(parts))))
            )
        if len(parts) > 1 or (self.takes.points and self.several is None):
            return np.column_stack(parts)
        return parts[0]

    def write(self, drawn: Any, rows: int) -> list[pa.Array]:
        """Convert the output of the mechanism to the types of the released columns."""
        parts = self._parts(drawn)
        if len(parts) != len(self.types) or any(len(part) != rows for part in parts):
            raise DataError("the mechanism does not give one value for each; use it on its own, not for a column.")
        return [
            kind.write(part, type_)
            for kind, part, type_ in zip(self.output_kinds, parts, self.output_types, strict=True)
        ]

    def _parts(self, drawn: Any) -> list[Any]:
        """One array for each column."""
        if isinstance(drawn, pa.StructArray):
            return list(drawn.flatten())
        if isinstance(drawn, tuple):
            return list(drawn)
        if isinstance(drawn, pa.Array):
            return [drawn]
        alone = self.output_kinds[0] if len(self.kinds) == 1 else None
        if (
            alone is not None
            and isinstance(drawn, list)
            and not (alone.numeric or alone.size(self.output_types[0]) != 1)
        ):
            return [drawn]  # bytes, of which numpy would cut off zeros at their ends
        table = np.asarray(drawn)
        if alone is not None and alone.size(self.output_types[0]) != 1:
            return [table]
        parts = [table] if table.ndim <= 1 else list(table.T)
        return parts if all(part.ndim == 1 for part in parts) else []

    def _plain(self, place: int) -> pa.DataType:
        """The type of a column, dictionaries written out."""
        type_ = self.types[place]
        return self.kinds[place].output_type(type_) if pa.types.is_dictionary(type_) else type_


def secret_of(
    names: tuple[str, ...],
    types: tuple[pa.DataType, ...],
    entry: Entry,
    stated: Mapping[str, str] | None = None,
    folder: str | None = None,
) -> Secret:
    """The secret that some columns form for a mechanism; refused where it does not take them.

    ``stated``: the kinds that a policy states; ``folder``: where the files are that the cells name.
    """
    takes, kinds = entry.takes, []
    if takes.purpose == "choice":
        raise ParameterError(
            f"{title_of(names)}: {entry.name} takes {entry.words} and gives no value for each; it cannot perturb a column."
        )
    for name, type_ in zip(names, types, strict=True):
        kind = kind_for(name, type_, takes, stated or {})
        kinds.append(_taken(name, type_, kind, entry))
    try:
        if takes.parts == 1 and len(names) > 1:
            raise ParameterError(f"{entry.name} takes one column of {entry.words}, not {len(names)}; name each alone.")
        if len(names) > 1 and (_gives_another(takes) or any(k.size(t) != 1 for k, t in zip(kinds, types, strict=True))):
            raise ParameterError(f"{entry.name} takes one column here, not {len(names)}; name one that holds it all.")
        kinds = kinds if folder is None else [kind.under(folder) for kind in kinds]
    except ParameterError as problem:
        raise ParameterError(f"{title_of(names)}: {problem}") from None
    return Secret(names, types, tuple(kinds), takes)


def kind_for(name: str, type_: pa.DataType, takes: Takes, stated: Mapping[str, str]) -> Kind | None:
    """The kind of a column: the stated one, the one that the mechanism takes, or its type's."""
    for wanted in (stated.get(name), takes.kind):
        if wanted is not None and wanted in KINDS and kind_named(wanted).holds(type_):
            return kind_named(wanted)
    return kind_of(type_)


def title_of(columns: Sequence[str]) -> str:
    """The columns of one part in a message.

    >>> title_of(["age"]), title_of(["lat", "lon"])
    ("column 'age'", "columns 'lat' and 'lon'")
    """
    if len(columns) == 1:
        return f"column {columns[0]!r}"
    return f"columns {', '.join(map(repr, columns[:-1]))} and {columns[-1]!r}"


def _gives_another(takes: Takes) -> bool:
    return takes.gives is not None and takes.gives in KINDS


def _taken(name: str, type_: pa.DataType, kind: Kind | None, entry: Entry) -> Kind:
    """The kind, if the mechanism takes it."""
    words = f"column {name!r} is {describe(type_, kind)}"
    if kind is None:
        hint = "convert the column first."
        if pa.types.is_decimal(type_):
            hint = "make it a double, or whole numbers of its smallest unit (cents), before the release."
        raise DataError(f"{words}, which cannot be perturbed exactly; {hint}")
    if not _takes(entry.takes, kind):
        wordy = kind.labels and not kind.numeric
        other = "a mechanism for categories, such as randomised-response" if wordy else "another mechanism"
        raise DataError(f"{words}, but {entry.name} takes {entry.words}; choose {other}, or convert the column.")
    return kind


def _takes(takes: Takes, kind: Kind) -> bool:
    """Return whether a mechanism takes columns of a kind."""
    if kind.name == takes.kind or (takes.kind == "record" and (kind.numeric or kind.labels)):
        return True
    if takes.points:
        return kind.coordinate
    if takes.kind == "category":
        return kind.labels
    return kind.numeric and takes.kind in KINDS and kind_named(takes.kind).numeric
