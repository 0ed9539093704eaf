"""Noise for vectors of integers: any registered mechanism for numbers, calibrated for the change by one unit.

A vector changes by at most ``l1`` in all, by at most ``largest`` in one entry, and in at most ``changed`` entries. Each entry
gets independent noise, so losses add over the entries that change, and there are two sound ways to calibrate:

* a guarantee for the **metric** (``geometric``, ``laplace``, ``snapped-laplace``): a loss of ``epsilon d / l1`` for a change
of
  ``d``, in sum at most ``epsilon``;
* a guarantee between **neighbours** only (``staircase``, ``gaussian``, ``approximate-laplace``), which states nothing
  better about small changes: each entry is private for ``largest`` at ``epsilon / changed`` and ``delta / changed``,
  paid ``changed`` times. (No use is made of the smaller noise that an L2 bound would allow Gaussian noise on many entries.)

For one entry the two are the same. The privacy cost is read off the certificate of the noise, times :attr:`Noise.times`.

>>> from fractions import Fraction
>>> count = calibrate("geometric", epsilon=Fraction(1), l1=2, largest=1, changed=2, floor=0)
>>> count.price, count.times, count.certificate(simulated=False).verify()
(Fraction(1, 1), 1, 'epsilon = 1 per unit of 1/2 * line')
>>> stairs = calibrate("staircase", epsilon=Fraction(1), l1=2, largest=1, changed=2, floor=0)
>>> stairs.price, stairs.times, stairs.certificate(simulated=False).verify()
(Fraction(1, 1), 2, 'epsilon = 0.5 between neighbours (line at most 1)')

A statistic adds up one integer for every row that counts, for each group and cell: 1 (``count``), the lattice index of a
value (``sum``), or the square of that (``squares``). Rows of one unit are at most ``r``, and one row adds a number ``v`` with
``low <= v <= high`` to at most one entry, so between neighbours the vector changes by

==================  ====================================  ================================  ========================
neighbours          entries together (L1)                 one entry                         entries that change
==================  ====================================  ================================  ========================
add-remove          ``r max(|low|, |high|)``              the same                          ``r``
replace, one entry  ``r (max(high, 0) - min(low, 0))``    the same                          1
... every row in    ``r (high - low)``                    the same                          1
replace, several    ``2 r max(|low|, |high|)``            ``r (max(high,0) - min(low,0))``  ``2 r``
==================  ====================================  ================================  ========================

at most ("every row in": no filter, no groups, nothing skipped, so that a row counts whatever it holds; neighbours that
replace values have the same rows).

>>> sensitivity(0, 100, rows=1, neighbours="add-remove", entries=1, always=False)
Sensitivity(l1=100, largest=100, changed=1)
>>> sensitivity(1, 1, rows=2, neighbours="replace", entries=12, always=False)
Sensitivity(l1=4, largest=2, changed=4)
>>> sensitivity(1, 1, rows=1, neighbours="replace", entries=1, always=True)  # the number of rows is public
Sensitivity(l1=0, largest=0, changed=0)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.base import Entry, Mechanism, certificate_once, described, parameters_of
from noisewright.certificates.certificate import Certificate
from noisewright.columns.arrow import arrow_scalar, numpy_array, pc
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.registry import entries, registry
from noisewright.numerics.exact import as_fraction
from noisewright.queries.filters import Filter
from noisewright.queries.sql import Dialect
from noisewright.queries.values import Cells, Key, Steps, Value, missing

__all__ = ["Measure", "Noise", "Sensitivity", "Statistic", "calibrate", "sensitivity", "usable"]


@dataclass(frozen=True)
class Noise:
    """A mechanism on integers (or on scores) and how often its loss counts against one unit."""

    mechanism: Mechanism
    times: int = 1
    where: tuple[int | None, int | None] = (None, None)
    """The public ends between which a noisy number stays by its law; numbers are moved there first."""

    @property
    def price(self) -> Fraction:
        """Privacy cost for one unit, exactly."""
        return self.times * self._claim("epsilon")

    @property
    def delta(self) -> Fraction:
        """The extra probability, exactly."""
        return self.times * self._claim("delta")

    def certificate(self, simulated: bool) -> Certificate:
        """Return the certificate of one entry; one unit of its metric is the change that ``times`` entries together can
        suffer.
        """
        return certificate_once(self.mechanism, simulated)

    @property
    def error(self) -> float:
        """The expected absolute error of one entry, in steps: exact for unbounded noise, at the worst entry for ranges."""
        # Its own figure may include the rounding of numbers between lattice points, and none exist here.
        alone = self._added
        return self.mechanism.error("absolute") if alone is None else alone

    @property
    def added(self) -> bool:
        """True if the noise is the same whatever it is added to."""
        return self._added is not None

    def clamped(self, number: int) -> int:
        """A number moved between the public ends."""
        low, high = self.where
        above = number if low is None else max(number, low)
        return above if high is None else min(above, high)

    @property
    def _added(self) -> float | None:
        """The mean size of noise that is added to whatever is there; None where ends bound the sum."""
        return described(self.mechanism).noise_error

    def add(self, exact: NDArray[np.object_], rng: np.random.Generator | None) -> NDArray[np.object_]:
        """Noisy integers, as Python integers: none is too large to be exact."""
        if self._added is not None:
            noise = np.asarray(self.mechanism.release(np.zeros(exact.shape, dtype=np.int64), rng))
            return np.asarray(exact + noise.astype(np.int64).astype(object), dtype=object)
        released = self.mechanism.release(exact.astype(np.int64), rng)
        return np.asarray(np.rint(released).astype(np.int64).astype(object), dtype=object)

    def _claim(self, name: str) -> Fraction:
        return as_fraction(self.certificate(simulated=False).document["claim"][name], name)


def usable() -> list[str]:
    """The names of registered mechanisms that add noise to numbers for a sensitivity."""
    return [entry.name for entry in entries() if _adds(entry)]


def calibrate(
    name: str,
    *,
    epsilon: Fraction,
    l1: int,
    largest: int,
    changed: int,
    delta: Fraction | None = None,
    floor: int | None = None,
    within: tuple[int, int] | None = None,
) -> Noise:
    """The noise of a mechanism by its name. ``floor``: no entry is below it; ``within``: nor outside of this. Both public."""
    if name not in registry or not _adds(registry[name]):
        raise ParameterError(
            f"an answer cannot be protected by {name!r}; choose one of {', '.join(usable())}, or leave the mechanism out."
        )
    takes = registry[name].takes
    if takes.delta and delta is None:
        raise ParameterError(f"{name} needs a delta above 0, for example delta = 1e-9.")
    if not takes.delta and delta:
        raise ParameterError(f"{name} has no delta; leave delta out, or choose gaussian or approximate-laplace.")
    if not takes.lattice:  # integers as they are
        return _checked(Noise(_build(name, epsilon=epsilon, sensitivity=l1)), epsilon, delta)
    more: dict[str, Any] = {"lattice": 1}
    if takes.bounded and takes.scope:
        return _checked(_bounded_noise(name, epsilon, l1, changed, floor, within), epsilon, delta)
    if takes.scope and changed > 1:
        return _checked(Noise(_build(name, epsilon=epsilon, sensitivity=l1, scope="metric", **more)), epsilon, delta)
    if delta is not None:
        more["delta"] = delta / changed
    made = _build(name, epsilon=epsilon / changed, sensitivity=largest, **more)
    return _checked(Noise(made, changed), epsilon, delta)


def _bounded_noise(
    name: str, epsilon: Fraction, l1: int, changed: int, floor: int | None, within: tuple[int, int] | None
) -> Noise:
    """Noise that stays where the answer can be."""
    where: tuple[int | None, int | None] = within if within is not None else (floor, None)
    scope, free = "adjacent" if changed == 1 else "metric", where == (None, None)
    more: dict[str, Any] = {} if free else {"within": where, "outside": "clamp"}
    if free or where[1] is not None or scope == "adjacent":
        more["lattice"] = 1  # on a half line, noise for the metric chooses its own lattice
    return Noise(_build(name, epsilon=epsilon, sensitivity=l1, scope=scope, **more), where=where)


def _checked(noise: Noise, epsilon: Fraction, delta: Fraction | None) -> Noise:
    """Never more than was requested, whatever a constructor did."""
    if noise.price > epsilon or noise.delta > (delta or 0):
        raise ParameterError(
            f"{noise.mechanism.name} costs more than the epsilon and delta of this answer; choose another."
        )
    return noise


def _build(name: str, **parameters: Any) -> Mechanism:
    return registry[name].make(**parameters)


def _adds(entry: Entry) -> bool:
    """Return whether a mechanism adds noise to a number for a sensitivity, and needs no other argument."""
    takes, known = entry.takes, {"epsilon", "delta", "sensitivity"}
    if takes.purpose != "column" or takes.budget != "sensitivity" or takes.kind not in ("integer", "number"):
        return False
    return {p.name for p in parameters_of(entry.make).values() if p.default is p.empty} <= known


# Statistics ---------------------------------------------------------------------------------------------------------------
#
# Statistics: vectors of integers that SQL computes exactly, each with its sensitivity and its noise.


Measure = Literal["count", "sum", "squares"]
Neighbours = Literal["replace", "add-remove"]


@dataclass(frozen=True)
class Sensitivity:
    """Maximum distance of a statistic between neighbours, in whole steps."""

    l1: int
    largest: int
    changed: int


def sensitivity(low: int, high: int, *, rows: int, neighbours: Neighbours, entries: int, always: bool) -> Sensitivity:
    """The table at the head of this module."""
    size, spread = max(abs(low), abs(high)), max(high, 0) - min(low, 0)
    if neighbours == "add-remove":
        return _bounded(rows * size, rows * size, min(rows, entries))
    if entries == 1:
        spread = high - low if always else spread
        return _bounded(rows * spread, rows * spread, 1)
    return _bounded(2 * rows * size, rows * spread, min(2 * rows, entries))


def _bounded(l1: int, largest: int, changed: int) -> Sensitivity:
    return Sensitivity(l1, largest, changed if l1 else 0)


@dataclass(frozen=True)
class Statistic:
    """One aggregate of a table: its SQL, how to read the result, its sensitivity and its noise (None: exact, at no
    privacy cost).
    """

    name: str
    query: str
    """Name of the query that it belongs to, which messages show."""
    measure: Measure
    bounds: Sensitivity
    noise: Noise | None = None
    value: Value | None = None
    steps: Steps | None = None
    centre: int = 0
    """Subtracted from every index (and half of the largest square from every square) before it is added up."""
    cells: Cells | None = None
    keys: tuple[Key, ...] = ()
    counted: bool = False
    """True if the last key is the column that is counted by its values, and so should have one in every row."""
    where: Filter | None = None
    missing: Literal["refuse", "skip"] = "refuse"

    @property
    def sensitivity(self) -> Fraction:
        """The most by which all entries together change between neighbours, in steps."""
        return Fraction(self.bounds.l1)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it looks at, each once."""
        own = [self.value.column] if self.value is not None else []
        filtered = self.where.columns if self.where is not None else ()
        return tuple(dict.fromkeys([*(key.column for key in self.keys), *own, *filtered]))

    @property
    def entries(self) -> int:
        """The length of the vector: groups times cells."""
        return self.groups * (len(self.cells) if self.cells else 1)

    @property
    def groups(self) -> int:
        """The number of groups, 1 without keys."""
        return prod(len(key) for key in self.keys)

    @property
    def shift(self) -> int:
        """Number subtracted from every square: half of the largest, so that squares count from their middle."""
        if self.measure != "squares" or self.steps is None:
            return 0
        return squares(self.steps, self.centre)[1] // 2

    def select(self, relation: str, dialect: Dialect) -> str:
        """The SQL over a relation (what stands after FROM, written by the engine): one row for each group and cell with rows.

        Its columns are ``nw_k0, nw_k1, ...`` for the keys, ``nw_cell`` if there are cells, ``nw_value`` and ``nw_missing``.
        """
        keys = [f"nw_k{place}" for place in range(len(self.keys))]
        inner = [f"{key.sql(dialect)} AS {name}" for key, name in zip(self.keys, keys, strict=True)]
        gone = self._missing(dialect)
        inner.append(f"CASE WHEN {gone} THEN 1 ELSE 0 END AS nw_m")
        if self.value is not None:
            inner.append(f"CASE WHEN {gone} THEN NULL ELSE {self.value.sql(dialect)} END AS nw_x")
        conditions = [key.condition(dialect) for key in self.keys]
        if self.counted:
            conditions[-1] = f"({conditions[-1]} OR {gone})"
        if self.where is not None:
            conditions.append(f"({self.where.sql(dialect)})")
        rows = f"SELECT {', '.join(inner)} FROM {relation}" + (
            f" WHERE {' AND '.join(conditions)}" if conditions else ""
        )
        middle = [*keys, "nw_m", f"CASE WHEN nw_m = 1 THEN NULL ELSE {self._term()} END AS nw_v"]
        groups = list(keys)
        if self.cells is not None:
            middle.append(f"CASE WHEN nw_m = 1 THEN NULL ELSE {self.cells.sql('nw_x')} END AS nw_cell")
            groups.append("nw_cell")
        total = "COUNT(nw_v)" if self.measure == "count" else "COALESCE(SUM(CAST(nw_v AS DECIMAL(18, 0))), 0)"
        outer = [
            *groups,
            f"CAST({total} AS DECIMAL(38, 0)) AS nw_value",
            "CAST(COALESCE(SUM(nw_m), 0) AS BIGINT) AS nw_missing",
        ]
        text = f"SELECT {', '.join(outer)} FROM (SELECT {', '.join(middle)} FROM ({rows}) AS nw_rows) AS nw_terms"
        return text + (f" GROUP BY {', '.join(groups)}" if groups else "")

    def read(self, table: pa.Table) -> NDArray[np.object_]:
        """The vector of integers (groups by cells) from the result of the SQL; entries without rows are 0.

        Refused as a whole where a value is missing and may not be.
        """
        if self.missing == "refuse" and any(table.column("nw_missing").to_pylist()):
            name = self.value.column if self.value is not None else self.keys[-1].column
            raise DataError(
                f'query {self.query!r}: the column {name!r} has missing values; say missing = "skip" to leave such rows out, or '
                "fill them first."
            )
        cells = len(self.cells) if self.cells is not None else 1
        found = np.zeros((self.groups, cells), dtype=object)
        if self.cells is not None:
            table = table.filter(table.column("nw_cell").is_valid())  # missing values, and numbers outside all bins
        if self.counted:
            table = table.filter(pc.equal(table.column("nw_missing"), arrow_scalar(0)))
        place = np.zeros(table.num_rows, dtype=np.int64)
        for number, key in enumerate(self.keys):
            place = place * len(key) + key.places(table.column(f"nw_k{number}"))
        cell = numpy_array(table.column("nw_cell")).astype(np.int64) if self.cells is not None else 0
        found[place, cell] = [int(value) for value in table.column("nw_value").to_pylist()]
        return found

    def _term(self) -> str:
        """Return the contribution of one row."""
        if self.measure == "count" or self.steps is None:
            return "1"
        index = self.steps.sql("nw_x")
        centred = f"({index} - {_signed(self.centre)})" if self.centre else f"({index})"
        if self.measure == "sum":
            return centred
        return f"({centred} * {centred} - {self.shift})"

    def _missing(self, dialect: Dialect) -> str:
        if self.value is not None:
            return self.value.missing(dialect)
        return missing(self.keys[-1].column, self.keys[-1].type, dialect) if self.counted else "FALSE"


def squares(steps: Steps, centre: int) -> tuple[int, int]:
    """The smallest and the largest square of an index counted from ``centre``."""
    low, high = steps.low - centre, steps.high - centre
    ends = low * low, high * high
    return (0 if low <= 0 <= high else min(ends)), max(ends)


def _signed(number: int) -> str:
    return f"({number})" if number < 0 else str(number)
