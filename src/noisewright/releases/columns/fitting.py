r"""A mechanism fitted to what a column is to protect, and what it really costs.

``epsilon`` of a column is the loss between two values at most ``protect`` apart. How a mechanism is told depends on the
parameters of its constructor, so every registered mechanism can be used, now and later:

* with a ``level`` and a ``radius``: these are ``epsilon`` and ``protect``;
* with a ``sensitivity``: that is ``protect``, or for ``"any"`` the width of ``within``;
* otherwise its epsilon is for one unit of its metric, so it gets ``epsilon`` over ``protect``, for ``"any"`` over the largest
  distance between two of its points. A metric that is not named is that of the line.

None of this is trusted. The price is computed from the claim in the mechanism's certificate, with rounding to its lattice
(:mod:`noisewright.releases.columns.prices`), and where it would be above ``epsilon`` the mechanism is made again: for a
sensitivity of
whole lattice steps where it has one, otherwise with a smaller epsilon.

Whole numbers, dates and times stay on whole numbers: where a mechanism for numbers has a lattice and the policy names none,
its step is 1, or its own choice where that is refused.

>>> from noisewright.mechanisms.registry import registry
>>> column = ColumnPolicy(name="share", mechanism="truncated-laplace", within=[0, 1], protect=0.3, epsilon=1)
>>> mechanism, claim, distance = fitted(registry["truncated-laplace"], column, (pa.float64(),))
>>> claim * distance, float(mechanism.sensitivity)  # a little more, since rounding adds up to a step to the distance
(Fraction(1, 1), 0.300048828125)
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from noisewright.core.errors import MetricError, ParameterError
from noisewright.core.exact import fraction_or_none, upward
from noisewright.core.mechanism import Mechanism
from noisewright.core.metrics.metric import Discrete, Euclidean, Line, Metric
from noisewright.mechanisms.laws.lattice_metrics import LatticeLine
from noisewright.mechanisms.places.remap import Grid
from noisewright.mechanisms.registry import Entry
from noisewright.mechanisms.signatures import parameters_of
from noisewright.releases.columns.arguments import arguments
from noisewright.releases.columns.prices import charge, diameter, unscaled
from noisewright.releases.kinds import codecs
from noisewright.releases.kinds.spans import Span
from noisewright.releases.policy.policy import ColumnPolicy

__all__ = ["COORDINATES", "TooNearError", "distance_of", "fitted", "width_of"]

COORDINATES = {"level", "dimension", "grid", "reference"}
"""Parameters of mechanisms whose values are rows of coordinates."""

MOST_TRIES = 8

Types = tuple[pa.DataType, ...]

WHOLE = ("whole numbers", "counts")
"""What mechanisms for whole numbers take, whatever the type of the column."""


class TooNearError(ParameterError):
    """A protected distance within which no value has another: it would protect nothing."""

    keys = ("protect",)
    """Where that is written in a column of a policy."""


def fitted(entry: Entry, column: ColumnPolicy, types: Types) -> tuple[Mechanism, Fraction, Fraction]:
    """The mechanism, its exact claim for one unit of distance, and the protected distance in that unit, rounding included."""
    known = set(parameters_of(entry.make))
    given = arguments(column.parameters, types)
    _check_labels(given, types)
    reach = _reach(column, given, known, types)
    if reach == 0:
        raise ParameterError(
            "all declared values are at distance 0 from each other; declare at least two that are apart."
        )
    nearest = None if column.protect == "any" else _nearest(entry, given, known, types)
    if reach is not None and nearest is not None and reach < nearest:
        raise TooNearError(
            f"protect = {column.protect} protects nothing, because two different values are at least {upward(nearest)} apart; "
            f"say protect = {upward(nearest)} or more."
        )
    if "delta" in known:
        given = {**given, "delta": column.delta}
    asked = {"level", "epsilon"} & known
    target = column.epsilon if asked and column.epsilon is not None else Fraction(0)
    key, budget = ("level" if "level" in known else "epsilon"), target
    if "level" in known:
        given = {**given, "radius": reach}
    elif "sensitivity" in known:
        given = {**given, "sensitivity": reach}
    elif reach is not None:
        budget = target / reach
    more: dict[str, Any] = {key: budget} if asked else {}
    for _ in range(MOST_TRIES):
        mechanism = _on_whole_numbers(entry, {**given, **more}, known, types)
        if reach is None and not isinstance(mechanism.guarantee.metric, Discrete):
            raise ParameterError(
                'protect = "any" needs a largest distance; say protect = ..., the distance within which two values are to '
                "look alike."
            )
        if reach is not None and column.protect != "any" and isinstance(mechanism.guarantee.metric, Discrete):
            raise ParameterError(f"{entry.name} makes any two values look alike, near or far; leave protect out.")
        claim, distance = charge(mechanism, reach or Fraction(1), len(types))
        if claim * distance <= target:
            return mechanism, claim, distance
        metric = unscaled(mechanism.guarantee.metric)[0]
        if isinstance(metric, LatticeLine) and "sensitivity" in given and more.get("sensitivity") is None:
            # Its noise is made for whole steps anyway: with a sensitivity of whole steps the claim says so.
            step = metric.lattice.step
            more |= {"sensitivity": step * metric.lattice.steps(given["sensitivity"]), "lattice": step}
        else:
            more[key] *= target / (claim * distance)
    raise ParameterError(
        f"no {entry.name} was found that keeps this epsilon; choose another one, or a coarser lattice."
    )


def distance_of(protect: Fraction | Span, types: Types) -> Fraction:
    """A protected distance in the unit of the values: days for dates, seconds for times.

    >>> distance_of(Span(Fraction(7 * 86_400)), (pa.date32(),)), distance_of(Span(Fraction(60)), (pa.timestamp("us"),))
    (Fraction(7, 1), Fraction(60, 1))
    """
    kind = codecs.kind_of(types[0]) if len(types) == 1 else None
    if not isinstance(protect, Span):
        if kind == "time":
            raise ParameterError(
                f'protect = {protect} does not say of what; the column holds times, so write protect = "7 days", "2 hours" or '
                '"30 seconds".'
            )
        return Fraction(protect)
    if kind == "time":
        return protect.seconds
    if kind == "date" and protect.days is not None:
        return Fraction(protect.days)
    if kind == "date":
        raise ParameterError(
            f'protect = "{protect}" is not a whole number of days, and the column holds dates; write "1 day" or more.'
        )
    words = codecs.in_words(types[0]) if len(types) == 1 else f"{len(types)} columns"
    raise ParameterError(f'protect = "{protect}" is for dates and times, not for {words}; write a number.')


def _reach(column: ColumnPolicy, given: dict[str, Any], known: set[str], types: Types) -> Fraction | None:
    """The protected distance in the unit of the values; None where only the built mechanism can tell."""
    points = _listed(given.get("points", ()))
    if "metric" in known and "metric" not in given and points:
        given["metric"] = _default_metric(points)
    if column.protect != "any":
        reach = distance_of(column.protect, types)
        # Fractions of a second are cut off, so two times land up to a whole number of seconds apart.
        return Fraction(math.ceil(reach)) if codecs.kind_of(types[0]) == "time" else reach
    if points and ("metric" in known or "radius" in known):
        return diameter(given.get("metric", Euclidean()), points)
    width = None if known & COORDINATES else width_of(given.get("within"))
    if width is None and known & {"sensitivity", "radius"}:
        where = ", or within = [low, high]" if "within" in known else ""
        raise ParameterError(
            'protect = "any" needs a range with two ends; say protect = ..., the largest distance between two values that '
            f"are to look alike{where}."
        )
    return width


def _nearest(entry: Entry, given: dict[str, Any], known: set[str], types: Types) -> Fraction | None:
    """At most the distance between any two different values; None where they can be as near as one likes."""
    points = _listed(given.get("points", ()))
    if points and "metric" in known:
        apart = given["metric"].matrix(points)
        least = float(np.min(apart, where=apart > 0, initial=math.inf))
        # Distances in floats have a few rounding errors; 2^-44 of them is more than that.
        return None if math.isinf(least) else Fraction(least) * (1 - Fraction(1, 1 << 44))
    if "reference" in known:  # degrees, and distances in metres
        return None
    whole = entry.words in WHOLE or all(codecs.kind_of(t) in ("whole", "date") for t in types)
    return Fraction(1) if whole else None


def _check_labels(given: dict[str, Any], types: Types) -> None:
    """Refuse declared values that the columns cannot hold: they could come out, but not be written."""
    for labels in (given[name] for name in ("categories", "points") if isinstance(given.get(name), tuple)):
        for place, type_ in enumerate(types):
            parts = [label[place] if isinstance(label, tuple) else label for label in labels]
            numbers = [part for part in parts if isinstance(part, (int, float)) and not isinstance(part, bool)]
            if numbers and not codecs.can_hold(type_, numbers):
                raise ParameterError(f"a declared value does not fit into a column of type {type_}; leave it out.")


def _default_metric(points: list[Any]) -> Metric:
    try:
        Line().places(points)
    except MetricError:
        raise ParameterError('such points need a metric; say for example metric = "euclidean".') from None
    return Line()


def _listed(points: Any) -> list[Any]:
    if isinstance(points, Grid):
        return [tuple(p) for p in points.at(np.arange(points.columns * points.rows)).tolist()]
    return list(range(points)) if isinstance(points, int) else list(points)


def width_of(within: Any) -> Fraction | None:
    """The width of a range, or of the range that holds several; None where an end is open or there is none."""
    if not isinstance(within, tuple) or not within:
        return None
    ends = [end for pair in (within if isinstance(within[0], tuple) else (within,)) for end in pair]
    places = [place for end in ends if (place := fraction_or_none(end)) is not None]
    if len(places) < len(ends):
        return None
    # Data are floats, and two floats at the ends of a range can be a little farther apart than the decimals they stand for.
    floats = [Fraction(float(place)) for place in places]
    return max(max(places) - min(places), max(floats) - min(floats))


def _on_whole_numbers(entry: Entry, given: dict[str, Any], known: set[str], types: Types) -> Mechanism:
    """The mechanism, on a lattice of step 1 where all values are whole numbers and none was named."""
    whole = len(types) == 1 and codecs.kind_of(types[0]) in ("whole", "date", "time")
    if whole and "lattice" in known and not known & COORDINATES and "lattice" not in given:
        try:
            return entry.make(**given, lattice=1)
        except ParameterError:
            pass  # too coarse for this epsilon, or something else that the constructor says below
    return entry.make(**given)
