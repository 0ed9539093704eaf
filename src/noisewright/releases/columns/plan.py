r"""Columns of a policy as plans: a mechanism made for what is to be protected, what that costs, and how it is applied.

A column is perturbed row by row. :mod:`noisewright.releases.columns.fitting` makes the mechanism and says what one row
costs; one unit
owns up to ``unit.rows`` rows, each perturbed on its own, so a column is charged that many times.

What a mechanism is given depends on the parameters of its constructor: with ``categories`` or ``points`` it takes labels, with a
``level``, a ``dimension``, a ``grid`` or a ``reference`` rows of coordinates, with ``within``, a ``sensitivity`` or a
``lattice`` numbers. :mod:`noisewright.releases.kinds.codecs` turns columns into these and back.

>>> from noisewright.releases.policy.policy import as_policy
>>> policy = as_policy({"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [
...     {"name": "age", "mechanism": "laplace", "within": [0, 110], "protect": 5, "epsilon": 1}]})
>>> age = compile_column(policy.columns[0], 0, {"age": pa.int8()}, policy)
>>> age.price, age.protects, age.error_words
(Fraction(1, 1), 'at most 5', 'expected error at most 7.67')
>>> age.perturb([pa.array([31, 107, None], pa.int8()).drop_null()])[0].type
DataType(int8)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import DataError, NoisewrightError, NoLossError, ParameterError, ResourceError
from noisewright.core.exact import as_fraction, upward
from noisewright.core.mechanism import Mechanism, certificate_once, described
from noisewright.core.metrics.metric import Discrete
from noisewright.core.resource import Resource
from noisewright.mechanisms.arrow import arrow_array
from noisewright.mechanisms.registry import Entry, registry
from noisewright.mechanisms.signatures import parameters_of
from noisewright.releases.columns.arguments import arguments, label
from noisewright.releases.columns.fitting import COORDINATES, TooNearError, distance_of, fitted, width_of
from noisewright.releases.columns.words import protects_words, title_of, unit_of
from noisewright.releases.kinds import codecs
from noisewright.releases.policy.policy import ColumnPolicy, Policy

__all__ = ["ColumnPlan", "Takes", "compile_column"]

Takes = Literal["labels", "coordinates", "numbers", "values"]
"""What a mechanism is given: labels in Arrow, rows of coordinates, a column of numbers, or whatever the column holds."""

LABELS = {"categories", "points"}
NUMBERS = {"within", "sensitivity", "lattice"}
"""Parameters that tell what a mechanism is for; a mechanism with none of them takes whatever a column holds."""

SCALES = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}


@dataclass(frozen=True)
class ColumnPlan:
    """One column, or several that form one secret, ready to be perturbed; build it with :func:`compile_column`.

    ``price`` is exactly ``times * claim * distance``: a unit has up to ``times`` rows, and the certificate claims ``claim`` for
    each unit of its metric, of which two protected values are at most ``distance`` apart. It holds no key and no
    generator, so it can be sent to other processes.
    """

    position: int
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    mechanism: Mechanism | None = None
    takes: Takes = "values"
    times: int = 1
    claim: Fraction = Fraction(0)
    distance: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    protects: str = "nothing"
    missing: Literal["refuse", "keep"] = "refuse"
    fill: tuple[Any, ...] | None = None
    protect: Fraction | None = None
    """The protected distance in the unit of the values, where it is not that of any two."""
    width: Fraction | None = None
    """The width of the declared range, where there is one."""

    @property
    def keep(self) -> bool:
        """Whether the column is passed through as it is, unprotected."""
        return self.mechanism is None

    @property
    def price(self) -> Fraction:
        """What the column costs one unit, exactly."""
        return self.times * self.claim * self.distance

    @property
    def title(self) -> str:
        """The column in a message."""
        return title_of(self.names)

    @property
    def error(self) -> float | None:
        """The expected error of a released value where it is largest, if it is known without the data.

        It is the absolute error, or the distance, where values have one, and otherwise the probability of another value.
        """
        return self._error[0]

    @property
    def error_words(self) -> str:
        """The expected error in words."""
        size, lies = self._error
        if self.keep:
            return "kept as it is"
        if size is None:
            return "expected error not known without the data"
        if lies:
            return f"wrong at most {upward(100 * size, 3)} % of the time"
        what = "distance" if self.takes == "coordinates" or len(self.names) > 1 else "error"
        unit = self._unit
        if unit == "second":  # people think of times in larger units
            unit, scale = next((u, n) for u, n in SCALES.items() if size >= 2 * n or n == 1)
            size /= scale
        return f"expected {what} at most {upward(size, 3)}" + (f" {unit}s" if unit else "")

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The public files that the mechanism needs wherever rows are drawn."""
        return () if self.mechanism is None else described(self.mechanism).resources or ()

    @property
    def output_types(self) -> tuple[pa.DataType, ...]:
        """The types of the released columns."""
        return self.types if self.keep else tuple(codecs.output_type(t) for t in self.types)

    def certificate(self, simulated: bool = False) -> Certificate | None:
        """The certificate of the mechanism; ``simulated`` says that its draws are not for release. None for a kept column."""
        if self.mechanism is None:
            return None
        return certificate_once(self.mechanism, simulated)

    def certificates(self, simulated: bool = False) -> tuple[Certificate, ...]:
        """All certificates of this part of a release: one, or none for a kept column."""
        found = self.certificate(simulated)
        return () if found is None else (found,)

    def perturb(self, arrays: Sequence[Any], rng: np.random.Generator | None = None) -> list[pa.Array]:
        """One draw for every row of the given columns; a :class:`DataError` never tells a value."""
        if self.mechanism is None:
            return [column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column for column in arrays]
        given, mask = self._present(arrays)
        empty = not len(given[0])
        released = [pa.nulls(0, t) for t in self.output_types] if empty else self._released(given, rng)
        return [codecs.restore(column, mask) for column in released]

    def check(self, arrays: Sequence[Any]) -> None:
        """Refuse columns that :meth:`perturb` would refuse; nothing is drawn that could be released."""
        if self.mechanism is None:
            return
        with self._saying_where():
            for resource in self.resources:
                resource.open()
        given, _ = self._present(arrays)
        if not len(given[0]):
            return
        look = described(self.mechanism).check
        if look is None:
            self._released(given, np.random.default_rng(0))  # a simulation, thrown away
        else:
            with self._saying_where():
                look(self._values(given))

    # Helpers ---------------------------------------------------------------------------------------------------

    def _present(self, arrays: Sequence[Any]) -> tuple[list[pa.Array], NDArray[np.bool_] | None]:
        """The rows where nothing is missing, or everything is filled in, and where they are; None for everywhere."""
        given = [codecs.as_array(column) for column in arrays]
        if [codecs.kind_of(a.type) for a in given] != [codecs.kind_of(t) for t in self.types]:
            raise DataError(f"{self.title} has another type than planned for; plan the release for these data again.")
        mask = codecs.present(given)
        if mask is not None and self.fill is not None:
            given = [codecs.fill_missing(array, value) for array, value in zip(given, self.fill, strict=True)]
            mask = None
        elif mask is not None and self.missing == "refuse":
            raise DataError(
                f'{self.title} has missing values; say missing = "keep" to leave them missing for all to see, or fill = ... '
                "with a public value."
            )
        return [codecs.take_present(array, mask) for array in given], mask

    def _released(self, arrays: list[pa.Array], rng: np.random.Generator | None) -> list[pa.Array]:
        """One draw for every row of columns without missing values."""
        assert self.mechanism is not None
        with self._saying_where():
            drawn = self.mechanism.release(self._values(arrays), rng)
            return self._columns(drawn, len(arrays[0]))

    @contextmanager
    def _saying_where(self) -> Iterator[None]:
        """What is refused, with the name of the column and without a value."""
        try:
            yield
        except NoisewrightError as problem:
            kind = ResourceError if isinstance(problem, ResourceError) else DataError
            raise kind(f"{self.title}: {problem}") from None
        except pa.ArrowException:  # its own message could show a value
            raise DataError(f"{self.title} cannot be written in its own type; convert the column first.") from None

    def _values(self, arrays: list[pa.Array]) -> Any:
        """What the mechanism is given."""
        kinds = [codecs.kind_of(array.type) for array in arrays]
        if self.takes == "labels":
            fields = [
                array if kind in ("text", "boolean") else arrow_array(codecs.read_numbers(array))
                for array, kind in zip(arrays, kinds, strict=True)
            ]
            if len(fields) == 1:
                return fields[0]
            return pa.StructArray.from_arrays(
                [codecs.plain_text(field) for field in fields], names=[str(i) for i in range(len(fields))]
            )
        if self.takes == "coordinates" or len(arrays) > 1:
            return np.column_stack([codecs.read_numbers(array) for array in arrays])
        if kinds[0] in ("text", "boolean"):
            return codecs.plain_text(arrays[0]).to_numpy(zero_copy_only=False)
        return codecs.read_numbers(arrays[0])

    def _columns(self, drawn: Any, rows: int) -> list[pa.Array]:
        """What the mechanism gave, in the types of the columns."""
        if isinstance(drawn, pa.StructArray):
            parts: list[Any] = drawn.flatten()
        elif isinstance(drawn, pa.Array):
            parts = [drawn]
        else:
            table = np.asarray(drawn)
            parts = [table] if table.ndim <= 1 else list(table.T)
        if len(parts) != len(self.types) or any(getattr(part, "ndim", 1) != 1 or len(part) != rows for part in parts):
            raise DataError("the mechanism does not give one value for each; use it on its own, not for a column.")
        return [codecs.write(part, type_) for part, type_ in zip(parts, self.output_types, strict=True)]

    @property
    def _unit(self) -> str:
        """The unit of distances, in the singular."""
        return unit_of(None if self.mechanism is None else self.mechanism.guarantee.metric, self.types)

    @cached_property
    def _error(self) -> tuple[float | None, bool]:
        """The expected error, and whether it is the probability of another value."""
        if self.mechanism is None:
            return None, False
        words = isinstance(self.mechanism.guarantee.metric, Discrete) or any(
            codecs.kind_of(t) in ("text", "boolean") for t in self.types
        )
        for loss in ("zero-one",) if words else ("absolute", "zero-one"):
            try:
                return float(self.mechanism.error(loss)), loss == "zero-one"
            except NoLossError:
                continue
        return None, False


def compile_column(column: ColumnPolicy, position: int, types: Mapping[str, pa.DataType], policy: Policy) -> ColumnPlan:
    """The plan for one ``[[columns]]`` of a policy, for a table with columns of the given types.

    A :class:`DataError` says that the table does not fit the policy, a :class:`ParameterError` that the policy cannot be met;
    both begin with the line of the policy.
    """
    try:
        return _compiled(column, position, types, policy.unit.rows)
    except NoisewrightError as problem:
        kind, keys = (ParameterError, problem.keys) if isinstance(problem, TooNearError) else (type(problem), ())
        raise kind(f"{policy.line('columns', position, *keys)}: {problem}") from None


def _compiled(column: ColumnPolicy, position: int, types: Mapping[str, pa.DataType], times: int) -> ColumnPlan:
    missing = [name for name in column.names if name not in types]
    if missing:
        raise DataError(f"there is no column {missing[0]!r} in the data; correct the name in the policy, or the data.")
    own = tuple(types[name] for name in column.names)
    if column.keep or column.mechanism is None:
        return ColumnPlan(position, column.names, column.outputs, own)
    entry = registry[column.mechanism]
    takes = _takes(set(parameters_of(entry.make)))
    if takes == "scores":
        raise ParameterError(
            f"{title_of(column.names)}: {entry.name} takes {entry.words} and gives no value for each; it cannot perturb a "
            "column."
        )
    for name, type_ in zip(column.names, own, strict=True):
        _check_type(name, type_, entry, takes)
    try:
        if takes == "numbers" and len(own) > 1:
            raise ParameterError(f"{entry.name} takes one column of {entry.words}, not {len(own)}; name each alone.")
        plan = _perturbed(column, position, own, takes, times)
        _try_out(plan, entry)
    except NoisewrightError as problem:
        raise type(problem)(f"{title_of(column.names)}: {problem}") from None
    return plan


def _perturbed(
    column: ColumnPolicy, position: int, types: tuple[pa.DataType, ...], takes: Takes, times: int
) -> ColumnPlan:
    mechanism, claim, distance = fitted(registry[column.mechanism or ""], column, types)
    stated = certificate_once(mechanism).document["claim"]["delta"]
    return ColumnPlan(
        position,
        column.names,
        column.outputs,
        types,
        mechanism,
        takes,
        times,
        claim,
        distance,
        # Rows are drawn one by one, so their deltas add up; unlucky public seeds are shared by all of them.
        times * as_fraction(stated, "delta") + Fraction(mechanism.guarantee.seed_failure),
        protects_words(column, mechanism.guarantee.metric, types),
        column.missing,
        _fill(column, types),
        None if column.protect == "any" else distance_of(column.protect, types),
        width_of(arguments(column.parameters, types).get("within")),
    )


def _takes(known: set[str]) -> Takes | Literal["scores"]:
    if "candidates" in known:
        return "scores"
    if known & COORDINATES:
        return "coordinates"
    if known & LABELS:
        return "labels"
    return "numbers" if known & NUMBERS else "values"


def _check_type(name: str, type_: pa.DataType, entry: Entry, takes: Takes) -> None:
    kind, words = codecs.kind_of(type_), f"column {name!r} is {codecs.in_words(type_)}"
    if kind is None:
        hint = "convert the column first."
        if pa.types.is_decimal(type_):
            hint = "make it a double, or whole numbers of its smallest unit (cents), before the release."
        raise DataError(f"{words}, which cannot be perturbed exactly; {hint}")
    wordy = kind in ("text", "boolean")
    if (takes == "numbers" and wordy) or (takes == "coordinates" and kind not in ("whole", "number")):
        other = "a mechanism for categories, such as randomised-response" if wordy else "another mechanism"
        raise DataError(f"{words}, but {entry.name} takes {entry.words}; choose {other}, or convert the column.")


def _fill(column: ColumnPolicy, types: tuple[pa.DataType, ...]) -> tuple[Any, ...] | None:
    if column.fill is None:
        return None
    found = label(column.fill, types)
    parts = found if isinstance(found, tuple) else (found,)
    for part, type_ in zip(parts, types, strict=True):
        codecs.as_scalar(part, type_)
    return tuple(parts)


def _try_out(plan: ColumnPlan, entry: Entry) -> None:
    """Refuse before any data is read what could only be refused for all of it: an empty column, and the public filling."""
    simulated = np.random.default_rng(0)
    types = [codecs.output_type(t) for t in plan.types]
    try:
        plan._released([pa.nulls(0, t) for t in types], simulated)
    except DataError:
        kinds = " and ".join(codecs.in_words(t) for t in plan.types)
        raise ParameterError(
            f"{entry.name} was declared for other values than the data hold ({kinds}); name as many columns as a value has "
            "parts, and declare values of the kind of the columns."
        ) from None
    if plan.fill is not None:
        try:
            plan._released(
                [codecs.fill_missing(pa.nulls(1, t), v) for t, v in zip(types, plan.fill, strict=True)], simulated
            )
        except DataError:
            raise ParameterError(
                "fill is not a value that the mechanism takes; choose one of the declared ones."
            ) from None
