"""Records of what columns protect: the values between which a claim holds.

A column is perturbed row by row. :mod:`noisewright.planning.calibration` makes the mechanism and says what one row
costs; one unit owns up to ``unit.rows`` rows, each perturbed on its own, so a column is charged once for each row. What a
mechanism is given, and what becomes of its outputs, is for :mod:`noisewright.planning.columns` and the kinds of
the columns.

>>> from noisewright.policy.policy import as_policy
>>> policy = as_policy({"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [
...     {"name": "age", "mechanism": "laplace", "within": [0, 110], "protect": 5, "epsilon": 1}]})
>>> age = compile_column(policy.columns[0], 0, {"age": pa.int8()}, policy)
>>> age.price, age.protects, age.error_words
(Fraction(1, 1), 'values at most 5 apart', 'expected error at most 7.67')
>>> age.perturb([pa.array([31, 107, None], pa.int8()).drop_null()])[0].type
DataType(int8)

Rows have global numbers and are worked on in blocks of :func:`block_rows` of them: 65,536, or fewer where a kind of column has
large values. In a simulation every column draws each of its blocks from a generator of its own, made from the seed, the
position of the column in the policy and the number of the block. Therefore the result depends on the seed and the data
alone, not on who worked on which block, or when. Without a seed all bits come from the operating system, in every
process again.

>>> import pyarrow as pa
>>> from noisewright.planning.column_plan import compile_column
>>> from noisewright.policy.policy import as_policy
>>> policy = as_policy({"dataset": "votes", "budget": {"epsilon": 1}, "columns": [
...     {"name": "vote", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}]})
>>> batch = pa.record_batch({"vote": ["yes", "no", "no"], "name": ["Ada", "Bob", "Cy"]})
>>> plans = [compile_column(policy.columns[0], 0, {"vote": pa.string()}, policy)]
>>> perturb_block(plans, batch, block=0, seed=1).schema.names
['vote']
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

from noisewright.base import Entry, Mechanism, certificate_once, described
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker, checker_release
from noisewright.claims import phrases
from noisewright.claims.figures import figure, percent
from noisewright.columns.arrow import Mask, arrow_array, arrow_scalar, pc
from noisewright.columns.column_type import BLOCK, Kind, Span, largest_unit
from noisewright.columns.nested import plain_text
from noisewright.columns.registry import kind_of, visible, visible_type
from noisewright.exceptions import DataError, NoisewrightError, NoLossError, ParameterError, ResourceError
from noisewright.mechanisms.registry import registry
from noisewright.metrics.base import Metric
from noisewright.numerics.exact import as_fraction
from noisewright.planning.calibration import TooNearError, distance_of, fitted, width_of
from noisewright.planning.columns import Secret, arguments, label, secret_of, title_of
from noisewright.policy.policy import ColumnPolicy, Policy
from noisewright.resources import Resource

__all__ = [
    "ColumnPlan",
    "block_rows",
    "compile_column",
    "distance_said",
    "output_schema",
    "perturb_block",
    "protection_of",
]


def distance_said(certificate: Certificate, distance: Fraction, anything: bool) -> str:
    """Return the protected distance as a part says it: in the plainest words that cost no more than the number."""
    number = str(distance)
    words = ["any"] if anything else ["radius"] if "radius" in certificate.document["claim"] else []
    for word in words:
        try:
            costs = [checker_release.loss_of(certificate.document, said)[0] for said in (word, number)]
        except (checker.NotProved, LookupError):
            continue
        if costs[0] <= costs[1]:
            return word
    return number


def protection_of(column: ColumnPolicy, metric: Metric, secret: Secret, said: str, outside: str) -> dict[str, Any]:
    """Return which values of a column are protected: any two, or those at most a distance apart, in a unit of its type.

    ``said``: the distance as its certificate's part says it; ``outside``: what is done to values outside of the range.
    """
    more: dict[str, Any] = {"missing": "shown"} if column.missing == "keep" else {}
    if column.other is not None:
        more["other"] = column.other
    if column.protect == "any":
        stated = {} if said == "any" and outside != "keep" else {"range": "stated"}
        return {"kind": "any", **stated, **more}
    unit = metric.unit or secret.unit
    size = distance_of(column.protect, secret)
    if isinstance(column.protect, Span):  # in the largest unit of which it is an integer
        size, unit = largest_unit(column.protect.seconds)
    found = {"kind": "near", "type": _type_of(unit, secret), "distance": str(size), **({"unit": unit} if unit else {})}
    named = not unit and (secret.numbers > 1 or metric.record().get("base") == "words")
    return {**found, **({"metric": _unrounded(metric)} if named else {}), **more}


def _type_of(unit: str, secret: Secret) -> str:
    """The type that gives distances their unit, as the checker names it."""
    own = {"day": "date", "second": "time"}.get(secret.unit)
    return own or UNIT_TYPES.get(unit, "number")


UNIT_TYPES = {
    "metre": "place",
    "pixel": "picture",
    "step": "picture",
    "code unit": "face",
    "differing bit": "hash",
    "differing answer": "hash",
}


def _unrounded(metric: Metric) -> dict[str, Any]:
    """Return the record of a metric without its factor and its lattice: the unit of distances between values themselves."""
    return {name: value for name, value in metric.record().items() if name not in ("factor", "lattice")}


# Plan ---------------------------------------------------------------------------------------------------------------------
#
# Columns of a policy as plans: a mechanism for the protection of each, its privacy cost, and its application.


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
    secret: Secret | None = None
    times: int = 1
    claim: Fraction = Fraction(0)
    distance: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    protection: Mapping[str, Any] | None = None
    """The protected distances, as a record; None for unprotected columns."""
    missing: Literal["refuse", "keep"] = "refuse"
    fill: tuple[Any, ...] | None = None
    protect: Fraction | None = None
    """The protected distance in the unit of the values, where it is not that of any two."""
    width: Fraction | None = None
    """The width of the declared range, where there is one."""
    choices: int = 0
    """The number of declared categories, where there are some."""
    other: Any = None
    """The public category that undeclared ones count as."""
    declared: tuple[Any, ...] = ()
    """The declared categories, where undeclared ones count as another."""

    @property
    def protects(self) -> str:
        """Description of the values that are protected from each other."""
        return "nothing" if self.protection is None else phrases.apart(self.protection)

    @property
    def keep(self) -> bool:
        """True if the values of the column are passed through as they are, unprotected."""
        return self.mechanism is None

    @property
    def protected(self) -> bool:
        """True if an epsilon is guaranteed: it is neither kept nor changed by a mechanism that guarantees none."""
        return self.secret is not None and self.secret.takes.claims

    @property
    def context_aware(self) -> str | None:
        """Guarantee in place of an epsilon, in words; None where an epsilon exists, or nothing is guaranteed."""
        if self.mechanism is None or self.protected:
            return None
        return self.mechanism.guarantee.in_words()

    @property
    def price(self) -> Fraction:
        """Privacy cost of the column for one unit, exactly."""
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
    def lies(self) -> bool:
        """True if the expected error is the probability of another value."""
        return self._error[1]

    @property
    def error_words(self) -> str:
        """The expected error in words."""
        size, lies = self._error
        if self.keep:
            return "kept as it is"
        if not self.protected:
            promise: Any = None if self.mechanism is None else self.mechanism.guarantee
            return f"expected distortion {figure(promise.distortion)} (at most {figure(promise.most_distortion)})"
        if size is None:
            return "expected error not known without the data"
        if lies:
            return f"wrong at most {percent(size)} of the time"
        assert self.mechanism is not None
        assert self.secret is not None
        tell = described(self.mechanism).reading
        if tell is not None and (words := tell()):
            return words
        what = "distance" if self.secret.takes.points or len(self.names) > 1 else "error"
        unit = self.mechanism.guarantee.metric.unit or self.secret.unit
        if unit == "second":  # people think of times in larger units
            unit, scale = next((u, n) for u, n in SCALES.items() if size >= 2 * n or n == 1)
            size /= scale
        return f"expected {what} at most {figure(size)}" + (f" {unit}s" if unit else "")

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The public files that the mechanism needs wherever rows are drawn."""
        return () if self.mechanism is None else described(self.mechanism).resources or ()

    @property
    def in_the_clear(self) -> tuple[str, ...]:
        """Facts that its certificate states to come out unprotected, such as the number of words of a document."""
        return tuple(
            phrases.clear(what) for found in self.certificates() for what in found.document.get("in_the_clear", ())
        )

    @property
    def measured(self) -> tuple[str, ...]:
        """Facts about its epsilon that its certificate states as measured on public data, such as distances between
        public faces.
        """
        stated = [found.document["measured"] for found in self.certificates() if "measured" in found.document]
        return tuple(text for one in stated for text in phrases.measured_parts(one))

    @property
    def output_types(self) -> tuple[pa.DataType, ...]:
        """The types of the released columns."""
        return self.types if self.secret is None else self.secret.output_types

    @property
    def kinds(self) -> tuple[Kind | None, ...]:
        """The kinds of the columns; None for a type that can only be kept."""
        return tuple(map(kind_of, self.types)) if self.secret is None else self.secret.kinds

    @property
    def charted(self) -> bool:
        """True if a report shows how often released values occur."""
        return self.secret is not None and all(kind.chart is not None for kind in self.secret.output_kinds)

    @property
    def block_rows(self) -> int:
        """The most rows that are worked on at once, which neither the data nor the engine decides."""
        if self.secret is not None:
            return self.secret.block_rows
        known = (kind.block_rows(t) for kind, t in zip(self.kinds, self.types, strict=True) if kind is not None)
        return min(known, default=BLOCK)

    def certificate(self, simulated: bool = False) -> Certificate | None:
        """The certificate of the mechanism; ``simulated``: its draws are not for release. None where no epsilon is
        guaranteed.
        """
        if self.mechanism is None or not self.protected:
            return None
        return certificate_once(self.mechanism, simulated)

    def certificates(self, simulated: bool = False) -> tuple[Certificate, ...]:
        """All certificates of this part of a release: one, or none where no epsilon is guaranteed."""
        found = self.certificate(simulated)
        return () if found is None else (found,)

    def perturb(
        self, arrays: Sequence[Any], rng: np.random.Generator | None = None, coded: bool = False
    ) -> list[pa.Array]:
        """One draw for every row of the given columns, labels perhaps ``coded``; a :class:`DataError` never shows a value."""
        if self.secret is None:
            return [visible(c.combine_chunks() if isinstance(c, pa.ChunkedArray) else c) for c in arrays]
        given, mask = self._present(arrays, self.secret)
        empty = not len(given[0])
        released = [pa.nulls(0, t) for t in self.output_types] if empty else self._released(given, rng)
        return self.secret.put_back(released if coded else [plain_text(column) for column in released], mask)

    def check(self, arrays: Sequence[Any]) -> None:
        """Refuse columns that :meth:`perturb` would refuse; nothing is drawn that could be released."""
        if self.secret is None or self.mechanism is None:
            return
        with self._saying_where():
            for resource in self.resources:
                resource.open()
        given, _ = self._present(arrays, self.secret)
        if not len(given[0]):
            return
        look = described(self.mechanism).check
        if look is None:
            self._released(given, np.random.default_rng(0))  # a simulation, thrown away
        else:
            with self._saying_where():
                look(self.secret.read(given))

    # Helpers ---------------------------------------------------------------------------------------------------

    def _present(self, columns: Sequence[Any], secret: Secret) -> tuple[list[pa.Array], Mask | None]:
        """The rows where nothing is missing, or everything is filled in, and where they are; None for everywhere."""
        given = secret.arrays(columns)
        mask = secret.there(given)
        if mask is not None and self.fill is not None:
            return self._mapped(secret.filled(given, self.fill)), None
        if mask is not None and self.missing == "refuse":
            raise DataError(
                f'{self.title} has missing values; say missing = "keep" to leave them missing for all to see, or fill = ... '
                "with a public value."
            )
        return self._mapped(secret.taken(given, mask)), mask

    def _mapped(self, given: list[pa.Array]) -> list[pa.Array]:
        """The same columns with every undeclared category counted as the public one: a map of each value alone."""
        if self.other is None:
            return given
        (column,) = map(plain_text, given)
        known = pc.call_function("is_in", [column], pc.SetLookupOptions(arrow_array(list(self.declared), column.type)))
        return [pc.if_else(known, column, arrow_scalar(self.other, column.type))]

    def _released(self, arrays: list[pa.Array], rng: np.random.Generator | None) -> list[pa.Array]:
        """One draw for every row of columns without missing values."""
        assert self.mechanism is not None
        assert self.secret is not None
        with self._saying_where():
            drawn = self.mechanism.release(self.secret.read(arrays), rng)
            return self.secret.write(drawn, len(arrays[0]))

    @contextmanager
    def _saying_where(self) -> Iterator[None]:
        """Raise refusals with the name of the column and without a value."""
        try:
            yield
        except NoisewrightError as problem:
            kind = ResourceError if isinstance(problem, ResourceError) else DataError
            raise kind(f"{self.title}: {problem}") from None
        except pa.ArrowException:  # its own message could show a value
            raise DataError(f"{self.title} cannot be written in its own type; convert the column first.") from None

    @cached_property
    def _error(self) -> tuple[float | None, bool]:
        """The expected error, and whether it is the probability of another value."""
        if self.mechanism is None or self.secret is None or not self.protected:
            return None, False
        listed = any(kind.labels and not kind.numeric for kind in self.secret.kinds)
        words = self.mechanism.guarantee.metric.uniform or listed
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
        return _compiled(column, position, types, policy)
    except NoisewrightError as problem:
        kind, keys = (ParameterError, problem.keys) if isinstance(problem, TooNearError) else (type(problem), ())
        raise kind(f"{policy.line('columns', position, *keys)}: {problem}") from None


def _compiled(column: ColumnPolicy, position: int, types: Mapping[str, pa.DataType], policy: Policy) -> ColumnPlan:
    missing = [name for name in column.names if name not in types]
    if missing:
        raise DataError(f"there is no column {missing[0]!r} in the data; correct the name in the policy, or the data.")
    own = tuple(types[name] for name in column.names)
    if column.keep or column.mechanism is None:
        return ColumnPlan(position, column.names, column.outputs, tuple(map(visible_type, own)))
    entry = registry[column.mechanism]
    secret = secret_of(column.names, own, entry, policy.types, policy.folder_path(column))
    try:
        made = _perturbed if entry.takes.claims else _changed
        plan = made(column, position, secret, entry, policy.unit.rows)
        if not entry.takes.claims:
            _not_beside(plan, policy)
        _try_out(plan, entry)
    except NoisewrightError as problem:
        raise type(problem)(f"{title_of(column.names)}: {problem}") from None
    return plan


def _perturbed(column: ColumnPolicy, position: int, secret: Secret, entry: Entry, times: int) -> ColumnPlan:
    made = fitted(entry, column, secret)
    mechanism, secret = made.mechanism, made.secret
    certificate, metric = certificate_once(mechanism), mechanism.guarantee.metric
    stated, outside = certificate.document["claim"]["delta"], certificate.document.get("outside", "refuse")
    said = distance_said(certificate, made.distance, column.protect == "any")
    return ColumnPlan(
        position,
        column.names,
        column.outputs,
        secret.types,
        mechanism,
        secret,
        times,
        made.claim,
        made.distance,
        # Rows are drawn one by one, so their deltas add up; unlucky public seeds are shared by all of them.
        times * as_fraction(stated, "delta") + Fraction(mechanism.guarantee.seed_failure),
        protection_of(column, metric, secret, said, outside),
        column.missing,
        _fill(column, secret),
        None if column.protect == "any" else distance_of(column.protect, secret),
        width_of(arguments(column.parameters, secret).get("within")),
        _count(column.parameters.get("categories")),
        *((label(column.other, secret), _declared(column, secret)) if column.other is not None else ()),
    )


def _count(categories: Any) -> int:
    return categories if isinstance(categories, int) else len(categories or ())


def _declared(column: ColumnPolicy, secret: Secret) -> tuple[Any, ...]:
    """The declared categories as they stand in the column."""
    return tuple(label(one, secret) for one in column.parameters["categories"])


def _changed(column: ColumnPolicy, position: int, secret: Secret, entry: Entry, times: int) -> ColumnPlan:
    """Columns changed without an epsilon: they cost nothing, and count as not protected."""
    made: Any = entry.make(**arguments(column.parameters, secret))
    if made.columns != column.names:
        raise ParameterError(
            f"{entry.name} was trained on the columns {', '.join(made.columns)}; name these, in this order, and rename what "
            "comes out if you like."
        )
    return ColumnPlan(
        position,
        column.names,
        column.outputs,
        secret.types,
        made,
        secret,
        times,
        protection={"kind": "none", "hidden": list(made.hidden)},
        missing=column.missing,
        fill=_fill(column, secret),
    )


def _not_beside(plan: ColumnPlan, policy: Policy) -> None:
    """Refuse to keep a column that others are changed for, so that it is harder to guess."""
    shown = {name for column in policy.columns if column.keep for name in column.names}
    told = [name for name in getattr(plan.mechanism, "hidden", ()) if name in shown]
    if told:
        raise ParameterError(f"these columns hide {told[0]!r}, which the policy keeps as it is; drop one or the other.")


def _fill(column: ColumnPolicy, secret: Secret) -> tuple[Any, ...] | None:
    if column.fill is None:
        return None
    found = label(column.fill, secret)
    parts = found if isinstance(found, tuple) else (found,)
    for part, kind, type_ in zip(parts, secret.kinds, secret.types, strict=True):
        kind.scalar(part, type_)
    return tuple(parts)


def _try_out(plan: ColumnPlan, entry: Entry) -> None:
    """Refuse before any data is read what could only be refused for all of it: an empty column, and the public filling."""
    assert plan.secret is not None
    try:
        plan._released(plan.secret.empty(), None)
    except DataError:
        raise ParameterError(
            f"{entry.name} was declared for other values than the data hold ({plan.secret.described()}); name as many columns "
            "as a value has parts, and declare values of the kind of the columns."
        ) from None
    if plan.fill is not None:
        try:
            plan._released(plan.secret.filled(plan.secret.missing(), plan.fill), np.random.default_rng(0))
        except DataError:
            raise ParameterError(
                "fill is not a value that the mechanism takes; choose one of the declared ones."
            ) from None


# Blocks -------------------------------------------------------------------------------------------------------------------
#
# One block of a table through all columns of a policy: what every engine does, wherever it runs.


COLUMNS = 1
"""The first number of a column's place among all streams of a seed; other parts of a release have other numbers."""


def block_rows(plans: Sequence[ColumnPlan]) -> int:
    """The rows of a block: the same for every engine, since it follows from the plans alone."""
    return min((plan.block_rows for plan in plans), default=BLOCK)


def perturb_block(
    plans: Sequence[ColumnPlan], batch: pa.RecordBatch, block: int, seed: int | None, coded: bool = False
) -> pa.RecordBatch:
    """The released columns of block number ``block``, in the order of the policy; all other columns are left out.

    ``coded``: labels may have a dictionary, which then holds all that the policy declares.
    """
    most = block_rows(plans)
    if batch.num_rows > most:
        raise ParameterError(f"a block has at most {most} rows, not {batch.num_rows}; cut the table into blocks first.")
    schema = output_schema(plans, batch.schema)
    released: list[pa.Array] = []
    for plan in plans:
        rng = None if seed is None or plan.keep else _generator(seed, plan.position, block)
        released += plan.perturb([batch.column(name) for name in plan.names], rng, coded)
    if coded:
        return pa.RecordBatch.from_arrays(released, names=schema.names)
    return pa.RecordBatch.from_arrays(released, schema=schema)


def output_schema(plans: Sequence[ColumnPlan], schema: pa.Schema) -> pa.Schema:
    """Return the names and types of the released columns; metadata of the input are not passed on."""
    for plan in plans:
        for name in plan.names:
            if schema.names.count(name) != 1:
                raise DataError(f"there must be one column {name!r} in the data; correct the policy, or the data.")
    fields = []
    for plan in plans:
        own = [visible_type(schema.field(name).type) for name in plan.names] if plan.keep else plan.output_types
        fields += [pa.field(name, type_) for name, type_ in zip(plan.outputs, own, strict=True)]
    return pa.schema(fields)


def _generator(seed: int, position: int, block: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(COLUMNS, position, block)))
