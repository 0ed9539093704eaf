r"""Feasible sets: where a true answer can lie, and where an output may lie.

A feasible set ``X`` is a finite union of closed intervals of positive length, the ends exact numbers or open
(unbounded). It is given by the allowed intervals (``within``), by open gaps (``excluding``), or by both:

>>> Feasible.parse((0, 100)).kind
'mixed'
>>> Feasible.parse((0, None)).kind
'single infinite'
>>> season = Feasible.parse(excluding=[(213, 244)])
>>> season.kind, str(season)
('finite gaps', '(-inf, 213] and [244, inf)')

The class of the excluded set decides which noise is private: ``none`` (nothing excluded), ``single infinite`` (one half
line), ``finite gaps`` (bounded gaps in an unbounded set), ``mixed`` (a half line and something else; an interval is the
common case).

On a lattice the set becomes ranges of integers (:meth:`Feasible.on`), and a true answer the nearest lattice point of
the interval it lies in (:meth:`Feasible.place`).

A mechanism that rounds its input to the nearest point of a lattice treats two inputs of one cell alike, and two inputs
on either side of a border as if they were a whole step apart, however close they are. A loss of ``epsilon`` per unit
is then guaranteed for

.. math:: d(x, x') = |\,\mathrm{round}(x) - \mathrm{round}(x')\,|,

and the name of the metric says so. On a line that is less than one step away from ``|x - x'|``; for vectors coordinates are
rounded one by one, and the difference is less than a step for each of them (Manhattan) or the length of a cell's diagonal
(Euclidean).

Answers of a set with gaps stay on their side of a gap: where its ends are not lattice points, an answer next to it may
go to the second nearest point, and two answers land up to one step more apart. The metric is then given the set, and
rounds as the mechanism does:

>>> beside = LatticeLine(Lattice(0), Feasible.parse([(0, 4.9), (5.1, 10)]))
>>> beside.distance(4.9, 5.1), LatticeLine(Lattice(0)).distance(4.9, 5.1)
(2.0, 0.0)

>>> near = LatticeLine(Lattice(-2))
>>> str(near)
'line between points of the lattice 2^-2'
>>> near.matrix([0.124, 0.126, 1.0])[0].tolist()
[0.0, 0.25, 1.0]
>>> from noisewright.metrics.base import Manhattan
>>> plane = LatticePoints(Manhattan(), Lattice(-2))
>>> str(plane), plane.distance((0.124, 0.124), (0.126, 0.126))
('manhattan between points of the lattice 2^-2', 0.5)
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.figures import ceil_div, float_down, float_up
from noisewright.claims.phrases import base_name, metric_name
from noisewright.exceptions import DataError, MetricError, ParameterError
from noisewright.guarantees import Guarantee, Scope
from noisewright.metrics.base import Euclidean, Line, Manhattan, Metric
from noisewright.metrics.composite import Scaled
from noisewright.metrics.distances import Distances
from noisewright.numerics.exact import Exact, as_fraction, in_words
from noisewright.sampling.lattice import LARGEST_INDEX, Lattice, exact_floats
from noisewright.sampling.random_bits import Bits

__all__ = ["Feasible", "Interval", "LatticeLine", "LatticePoints", "Range", "metric_of", "rounding"]


Interval = tuple[Exact | None, Exact | None]
"""Low and high end of an interval; None or an infinity for an open end."""

Range = tuple[int | None, int | None]
"""The first and the last integer of a range; None where it does not end."""

LARGEST_FLOAT = Fraction(sys.float_info.max)
FEW = 8

End = Fraction | None
"""An end of an interval as an exact number; None where it is open."""


@dataclass(frozen=True)
class Feasible:
    """A union of closed intervals, from low to high; build it with :meth:`parse`."""

    components: tuple[tuple[End, End], ...]

    @classmethod
    def parse(cls, within: Any = None, excluding: Iterable[Interval] = ()) -> Feasible:
        """The set inside ``within`` (an interval, several, or a Feasible) and outside every gap of ``excluding``."""
        if isinstance(within, Feasible):
            allowed = list(within.components)
        elif within is None:
            allowed = [(None, None)]
        else:
            allowed = _intervals(within, "within")
        gaps = [] if isinstance(excluding, (tuple, list)) and not excluding else _intervals(excluding, "excluding")
        for before, after in pairwise(gaps):
            if _touches(before, after):
                raise ParameterError(
                    f"the excluded gaps {_text(before)} and {_text(after)} overlap or touch; give them as one gap."
                )
        return cls(_without(allowed, gaps))

    @property
    def kind(self) -> str:
        """``none``, ``single infinite``, ``finite gaps`` or ``mixed``."""
        walls = sum(end is not None for end in (self.low, self.high))
        if walls == 0:
            return "none" if len(self.components) == 1 else "finite gaps"
        return "single infinite" if walls == 1 and len(self.components) == 1 else "mixed"

    @property
    def low(self) -> End:
        """The lowest point, or None."""
        return self.components[0][0]

    @property
    def high(self) -> End:
        """The highest point, or None."""
        return self.components[-1][1]

    @property
    def gaps(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The bounded gaps between the intervals."""
        ends = [e for component in self.components for e in component][1:-1]
        return tuple(zip(ends[::2], ends[1::2], strict=True))  # type: ignore[arg-type]

    @property
    def shortest(self) -> Fraction | None:
        """The length of the shortest bounded interval or gap; None if nothing is bounded."""
        ends, common = self.whole
        lengths = [after - before for before, after in pairwise(ends) if before is not None and after is not None]
        return Fraction(min(lengths), common) if lengths else None

    @cached_property
    def whole(self) -> tuple[tuple[int | None, ...], int]:
        """All ends from low to high as integers over a common denominator, and that denominator.

        The same numbers as in ``components``; there may be many of them, and fractions are slow.
        """
        ends = [e for component in self.components for e in component]
        common = math.lcm(*(e.denominator for e in ends if e is not None))
        return tuple(None if e is None else e.numerator * (common // e.denominator) for e in ends), common

    def as_floats(self) -> Feasible:
        """The same set with every end rounded to the nearest float.

        Data are floats, and the float written 0.9 lies above nine tenths: this is the set that a declared range means for them.
        """
        ends = [e if e is None or _is_float(e) else Fraction(float(e)) for pair in self.components for e in pair]
        floats = [None if e is None else float(e) for e in ends]
        if any(a is not None and b is not None and a >= b for a, b in pairwise(floats)):
            raise ParameterError("an interval or a gap is too short to hold two different floats; rescale the column.")
        return Feasible(tuple(zip(ends[::2], ends[1::2], strict=True)))

    def inner(self, margin: Fraction) -> Feasible:
        """The points at least ``margin`` away from the outer bounds: where the true answers are known to be."""
        if margin == 0:
            return self
        if margin < 0:
            raise ParameterError(f"margin must be 0 or more, not {in_words(margin)}.")
        if self.low is None and self.high is None:
            raise ParameterError("margin is the distance of true answers from a wall, but no half line is excluded.")
        kept = list(self.components)
        if self.low is not None:
            kept[0] = (self.low + margin, kept[0][1])
        if self.high is not None:
            kept[-1] = (kept[-1][0], self.high - margin)
        if any(lo is not None and hi is not None and lo >= hi for lo, hi in kept):
            raise ParameterError(
                f"a margin of {in_words(margin)} leaves no true answers beside a wall; give a smaller one."
            )
        return Feasible(tuple(kept))

    def on(self, lattice: Lattice) -> tuple[Range, ...]:
        """The lattice points of each interval, as ranges of integers.

        Refused when an interval would keep fewer than two points, when a gap would vanish, or when an end is too far out.
        """
        step = lattice.step
        ends, up, unit = self.against(lattice)
        ranges = tuple(
            (None if lo is None else ceil_div(lo << up, unit), None if hi is None else (hi << up) // unit)
            for lo, hi in zip(ends[::2], ends[1::2], strict=True)
        )
        thin = any(lo is not None and hi is not None and hi <= lo for lo, hi in ranges)
        if thin or any(hi is not None and lo is not None and lo - hi < 2 for (_, hi), (lo, _) in pairwise(ranges)):
            assert self.shortest is not None
            finer = Lattice.for_scale(self.shortest, bits=2)
            what = "an interval of the feasible set" if thin else "a gap"
            raise ParameterError(
                f"a lattice of step {float(step):g} is coarser than {what}; a step of {float(finer.step):g} would do."
            )
        if any(end is not None and abs(end) > LARGEST_INDEX for pair in ranges for end in pair):
            raise ParameterError(
                f"an end of the feasible set is more than 2^52 lattice steps of {float(step):g} away from zero; "
                "use a coarser lattice, or shift the column."
            )
        return ranges

    def aligned(self, lattice: Lattice) -> bool:
        """Return whether every end is a lattice point, so that rounding never has to stay on its side of a gap."""
        ends, up, unit = self.against(lattice)
        return all((e << up) % unit == 0 for e in ends if e is not None)

    def against(self, lattice: Lattice) -> tuple[tuple[int | None, ...], int, int]:
        """Integers with ``end / step = (number << up) / unit`` for each end."""
        ends, common = self.whole
        return ends, max(-lattice.exponent, 0), common << max(lattice.exponent, 0)

    def place(
        self, values: Any, lattice: Lattice, ranges: Sequence[Range], outside: str, dither: Bits | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.intp] | None]:
        """Lattice indices of true answers, and the number of the interval each lies in (None when there is only one).

        ``ranges`` are those of :meth:`on` for this very set. A value outside is refused without being shown, or moved to
        the nearer end (``outside="clamp"``, for one interval only). With ``dither``, a source of bits, values are rounded to
        one of the two nearest points at random.
        """
        given = exact_floats(values)  # before any comparison or clipping, which would round wider numbers
        if np.isnan(given).any():
            raise DataError("the values must be finite numbers; drop or replace the others first.")
        lows, highs = self._floats
        if outside == "clamp":
            given = np.clip(given, lows[0], highs[-1])
        if len(lows) == 1:
            component = None
            inside = bool(((given >= lows[0]) & (given <= highs[0])).all())
        else:
            component = _component(lows, given)
            inside = bool(_among(lows, highs, component, given).all())
        if not inside:
            hint = ", clamp with outside='clamp'" if component is None else ""
            raise DataError(f"a value is outside the declared range; widen the range{hint}, or drop such rows.")
        indices = lattice.indices(given) if dither is None else lattice.indices_at_random(given, dither)
        if self.aligned(lattice):  # between two lattice points, the nearest one and its neighbours are so, too
            return indices, component
        firsts = np.array([-(1 << 62) if lo is None else lo for lo, _ in ranges], dtype=np.int64)
        lasts = np.array([1 << 62 if hi is None else hi for _, hi in ranges], dtype=np.int64)
        if component is None:  # the nearest point may lie just beyond an end that is not itself a lattice point
            return np.clip(indices, firsts[0], lasts[0]), None
        return np.minimum(np.maximum(indices, firsts.take(component)), lasts.take(component)), component

    @cached_property
    def _floats(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """All lower and all upper ends as floats.

        Floats compare with these as exact numbers compare with the ends: no float lies between an end and its float.
        """
        lows = np.array([-math.inf if lo is None else float_up(lo) for lo, _ in self.components])
        return lows, np.array([math.inf if hi is None else float_down(hi) for _, hi in self.components])

    def to_json(self) -> list[list[str | None]]:
        """The ends as exact text, None where open."""
        return [[None if e is None else str(e) for e in component] for component in self.components]

    @classmethod
    def from_json(cls, ends: Sequence[Sequence[str | None]]) -> Feasible:
        """The set whose ends :meth:`to_json` gave."""
        return cls.parse(tuple((low, high) for low, high in ends))

    def __str__(self) -> str:
        return " and ".join(_text(component) for component in self.components)


def _among(
    lows: NDArray[np.float64], highs: NDArray[np.float64], component: NDArray[np.intp], values: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return whether each value lies in its interval: with few of them, within the ends of all and in no gap."""
    if len(lows) > FEW:
        return np.asarray((values >= lows.take(component)) & (values <= highs.take(component)))
    inside = (values >= lows[0]) & (values <= highs[-1])
    for end, start in zip(highs[:-1], lows[1:], strict=True):
        inside &= (values <= end) | (values >= start)
    return np.asarray(inside)


def _component(lows: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.intp]:
    """The last interval that begins at or below each value; the first one for values below all."""
    if len(lows) > FEW:
        return np.maximum(np.searchsorted(lows, values, side="right") - 1, 0)
    found = np.zeros(values.shape, dtype=np.intp)
    for low in lows[1:]:  # in a short list this is ten times as fast as a search
        found += values >= low
    return found


def _intervals(given: Any, name: str) -> list[tuple[End, End]]:
    """Intervals in order, checked one by one and against each other."""
    problem = f"{name} must be an interval (low, high) or a list of such intervals, None for an open end."
    if not _is_list(given):
        raise ParameterError(problem)
    listed = list(given)
    if len(listed) == 2 and not any(_is_list(part) for part in listed):
        listed = [listed]
    if not listed:
        raise ParameterError(f"{name} holds no interval, so nothing is feasible; {problem}")
    found: list[tuple[End, End]] = []
    for pair in listed:
        if not _is_list(pair) or len(tuple(pair)) != 2:
            raise ParameterError(problem)
        first, last = pair
        low, high = _end(first, name, -math.inf), _end(last, name, math.inf)
        if low is not None and high is not None and low >= high:
            raise ParameterError(
                f"{name} has an interval from {float(low):g} to {float(high):g}; its low end must be below its high end."
            )
        found.append((low, high))
    found.sort(key=lambda c: -math.inf if c[0] is None else c[0])
    if name == "within":
        for before, after in pairwise(found):
            if _touches(before, after):
                raise ParameterError(
                    f"the intervals {_text(before)} and {_text(after)} overlap or touch; give them as one interval."
                )
    elif any(low is None and high is None for low, high in found):
        raise ParameterError("excluding everything leaves no feasible value; give the gaps that are excluded.")
    return found


def _is_list(value: Any) -> bool:
    """Return whether it has parts; numpy's arrays without any dimension have none, nor have masked values."""
    if type(value) in (tuple, list):
        return True
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and getattr(value, "ndim", 1) > 0


def _end(value: Any, name: str, open_end: float) -> End:
    if value is None:
        return None
    if type(value) is float and math.isfinite(value):  # the most common ends, of which there may be many
        return Fraction(value)
    if isinstance(value, str) and value.strip().lower() in ("inf", "+inf", "-inf"):
        value = float(value)
    if isinstance(value, (float, np.floating)) and math.isinf(value):
        if value != open_end:
            raise ParameterError(f"{name} has an interval whose {'low' if open_end < 0 else 'high'} end is {value:g}.")
        return None
    end = as_fraction(value, f"an end of {name}")
    if abs(end) > LARGEST_FLOAT:
        raise ParameterError(f"an end of {name} is beyond the largest float, about 1.8e308; use None for an open end.")
    return end


def _is_float(end: Fraction) -> bool:
    """Return whether a float holds it exactly; no for some that are near zero or very large."""
    denominator = end.denominator
    return not denominator & (denominator - 1) and end.numerator.bit_length() <= 53 and denominator.bit_length() <= 1000


def _touches(before: tuple[End, End], after: tuple[End, End]) -> bool:
    return before[1] is None or after[0] is None or before[1] >= after[0]


def _without(allowed: list[tuple[End, End]], gaps: list[tuple[End, End]]) -> tuple[tuple[End, End], ...]:
    """The allowed intervals minus the open gaps, which are in order and apart."""
    kept: list[tuple[End, End]] = []
    used: set[int] = set()
    for low, high in allowed:
        start, ended = low, False
        for number, (gap_low, gap_high) in enumerate(gaps):
            if (gap_high is not None and low is not None and gap_high <= low) or (
                gap_low is not None and high is not None and gap_low >= high
            ):
                continue
            used.add(number)
            if gap_low is not None and (start is None or gap_low >= start):
                kept.append((start, gap_low))
            start, ended = gap_high, gap_high is None or (high is not None and gap_high > high)
        if not ended:
            kept.append((start, high))
    if len(used) < len(gaps):
        idle = next(gap for number, gap in enumerate(gaps) if number not in used)
        raise ParameterError(
            f"the gap {_text(idle)} lies outside the allowed range and excludes nothing; leave it out."
        )
    if not kept:
        raise ParameterError("the excluded gaps leave no feasible value; leave some room between them.")
    if any(low is not None and low == high for low, high in kept):
        raise ParameterError(
            "the excluded gaps leave a single point, an interval of length zero; exclude it too, or leave more room."
        )
    return tuple(kept)


def _text(component: tuple[End, End]) -> str:
    low, high = component
    left = "(-inf" if low is None else f"[{float(low):g}"
    return f"{left}, inf)" if high is None else f"{left}, {float(high):g}]"


# Lattice metrics ----------------------------------------------------------------------------------------------------------
#
# The distance that a guarantee about rounded numbers or points is about: between the lattice points that they are
# rounded to.


SQRT2 = Fraction(99, 70)
"""The square root of 2, rounded up: 99^2 = 9801 and 2 * 70^2 = 9800."""


@dataclass(frozen=True)
class LatticeLine(Line):
    """``|round(x) - round(x')|``, rounding to the nearest point of ``lattice``, ties upwards.

    With ``answers`` a point is rounded within the interval of them that it lies in.
    """

    lattice: Lattice
    answers: Feasible | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        return base_name(self.record())

    def record(self) -> dict[str, Any]:
        return {"base": "line", "lattice": self.lattice.exponent}

    def matrix(self, points: Sequence[Any]) -> NDArray[np.float64]:
        return Line().matrix(self._rounded(points))

    def places(self, points: Sequence[Any]) -> NDArray[np.float64]:
        """The lattice points that the points are rounded to."""
        return Line().places(self._rounded(points))

    def exact(self, points: Sequence[Any]) -> Distances:
        return Line().exact(self._rounded(points))

    @property
    def step(self) -> Fraction | None:
        return self.lattice.step

    def after_rounding(self, distance: Fraction, columns: int) -> Fraction:
        """Rounded up to whole steps, and a step more next to gaps off the lattice."""
        return self.lattice.step * self.steps(distance)

    def steps(self, distance: Fraction) -> int:
        """Return how many steps apart two answers at most ``distance`` apart can land."""
        return self.lattice.steps(distance) + (self.answers is not None and distance > 0)

    def _rounded(self, points: Sequence[Any]) -> list[Fraction]:
        if self.answers is None:
            return [nearest(point, self.lattice) for point in points]
        lows = [low for low, _ in self.answers.components if low is not None][self.answers.low is not None :]
        return [_beside_gaps(as_fraction(point, "a point"), self.lattice, self.answers, lows) for point in points]


@dataclass(frozen=True)
class LatticePoints(Metric):
    """The distance ``inner`` (Euclidean or Manhattan) of vectors once each coordinate is rounded to ``lattice``, ties upwards."""

    inner: Metric
    lattice: Lattice

    @property
    def name(self) -> str:  # type: ignore[override]
        return metric_name(self.record())

    def record(self) -> dict[str, Any]:
        return {**self.inner.record(), "lattice": self.lattice.exponent}

    def matrix(self, points: Sequence[Any]) -> NDArray[np.float64]:
        return self.inner.matrix(self._rounded(points))

    def exact(self, points: Sequence[Any]) -> Distances:
        return self.inner.exact(self._rounded(points))

    @property
    def step(self) -> Fraction | None:
        return self.lattice.step

    def after_rounding(self, distance: Fraction, columns: int) -> Fraction:
        """A cell's diagonal more in the plane; whole steps along coordinates; or a step more for each of them."""
        if isinstance(self.inner, Euclidean) and columns == 2:
            return distance + rounding(self.lattice)
        if isinstance(self.inner, Manhattan):
            return self.lattice.step * (self.lattice.steps(distance) + columns - 1)
        return distance + columns * self.lattice.step  # each coordinate is moved by at most half a step

    @property
    def secret(self) -> Mapping[str, Any] | None:
        return self.inner.secret

    def _rounded(self, points: Sequence[Any]) -> list[tuple[Fraction, ...]]:
        try:
            return [tuple(nearest(coordinate, self.lattice) for coordinate in point) for point in points]
        except TypeError:
            raise MetricError(f"the {self.name} metric needs points that are number vectors of one length.") from None


def rounding(lattice: Lattice) -> Fraction:
    """Return how much farther apart two points of the plane can be once both are rounded to the lattice, rounded up."""
    return SQRT2 * lattice.step


def nearest(number: Any, lattice: Lattice) -> Fraction:
    """The lattice point that a number is rounded to, exactly."""
    return ((as_fraction(number, "a point") / lattice.step + Fraction(1, 2)) // 1) * lattice.step


def _beside_gaps(point: Fraction, lattice: Lattice, answers: Feasible, lows: list[Fraction]) -> Fraction:
    """The nearest lattice point of the interval that the point lies in, or of all where it lies in none.

    ``lows`` are the low ends of the intervals after the first one.
    """
    low, high = answers.components[bisect_right(lows, point)]
    place, step = nearest(point, lattice), lattice.step
    if low is not None and low <= point and place < low:
        return place + step
    return place - step if high is not None and point <= high and place > high else place


def loss_before_rounding(guarantee: Guarantee, distance: float, loss: Callable[[Fraction], float]) -> float:
    """The largest log-ratio for two inputs that are ``distance`` apart themselves, before they are rounded.

    The guarantee is about lattice points, and its ``bound`` takes their distance; ``loss`` is the loss of inputs at
    some positive distance, including rounding.
    """
    plain = guarantee.bound(distance)  # rejects an invalid distance
    return plain if plain in (0, math.inf) else loss(as_fraction(distance))


def metric_of(lattice: Lattice, sensitivity: Fraction, scope: Scope, answers: Feasible | None = None) -> Metric:
    """The metric of a guarantee about rounded numbers, one unit being one ``sensitivity``.

    Between neighbours it is the plain line: numbers at most one sensitivity apart are covered, because the noise is made for
    the most steps that they can land apart. ``answers``: the set whose gaps rounding does not cross, where that matters.
    """
    base: Metric = Line() if scope == "adjacent" else LatticeLine(lattice, answers)
    return base if sensitivity == 1 else Scaled(base, 1 / sensitivity)
