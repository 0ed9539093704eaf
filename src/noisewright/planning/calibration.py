"""Privacy cost of the perturbation of one value: the privacy loss between two values at most the protected distance apart.

A mechanism's certificate claims an exact ``epsilon`` for each unit of its metric (or between neighbours one unit apart).
Many mechanisms round a value to a public lattice of step h first, and their claim is about lattice points. Therefore
the distance for which the claim is evaluated is the protected one *after rounding* (``Metric.after_rounding``):

==========================================  ===========================================================
claim                                       distance after rounding, for a protected distance p
==========================================  ===========================================================
between neighbours                          p, in whole sensitivities rounded up (it is made for one)
``discrete``                                1
``line`` between lattice points             p, rounded up to whole steps, and a step more next to gaps off the lattice
``euclidean`` between lattice points        p + sqrt(2) h in the plane, p + n h for n columns
``manhattan`` between lattice points        p, rounded up to whole steps, + (n - 1) h
``metres around`` a place, lattice points   1.01 p + 0.000001 + sqrt(2) h
any other metric                            p
==========================================  ===========================================================

The privacy cost is then ``epsilon`` times that distance, exactly. It is held against what the mechanism itself says of
two values that far apart (:meth:`~noisewright.base.Mechanism.map`), and the larger counts.

>>> from noisewright.mechanisms.numeric.truncated_laplace import truncated_laplace
>>> share = truncated_laplace(epsilon=1, within=(0, 100), sensitivity="0.3", lattice="1/4")
>>> charge(share, Fraction(3, 10))  # two steps of 1/4, in units of 0.3
(Fraction(1, 1), Fraction(5, 3))

``epsilon`` of a column is the loss between two values at most ``protect`` apart. How a mechanism is given is what it declares
(:class:`~noisewright.base.Takes`), so every registered mechanism can be used, now and later:

* within a radius: these are ``epsilon`` and ``protect``;
* for a sensitivity: that is ``protect``, or for ``"any"`` the width of ``within``;
* for a unit of its metric: it gets ``epsilon`` over ``protect``, for ``"any"`` over the largest distance between two of its
  points. A metric that is not named is the line's.

None of this is trusted. The privacy cost is computed from the claim in the mechanism's certificate, with rounding to
its lattice (:mod:`noisewright.planning.calibration`), and where it would be above ``epsilon`` the mechanism is made
again: for a sensitivity of whole lattice steps where it has one, otherwise with a smaller epsilon.

Integers, dates and times stay on integers: where a mechanism for numbers has a lattice and the policy names none,
its step is 1, or its own choice where that is refused.

>>> import pyarrow as pa
>>> from noisewright.mechanisms.registry import registry
>>> from noisewright.planning.columns import secret_of
>>> entry = registry["truncated-laplace"]
>>> column = ColumnPolicy(name="share", mechanism="truncated-laplace", within=[0, 1], protect=0.3, epsilon=1)
>>> made = fitted(entry, column, secret_of(("share",), (pa.float64(),), entry))
>>> made.claim * made.distance, float(made.mechanism.sensitivity)  # a little more: rounding adds up to a step to the distance
(Fraction(1, 1), 0.300048828125)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from noisewright.base import Entry, Mechanism, Takes, certificate_once, described
from noisewright.claims.figures import float_down, float_up, upward
from noisewright.columns.column_type import Span
from noisewright.exceptions import MetricError, ParameterError
from noisewright.metrics.base import Euclidean, Line, Metric
from noisewright.numerics.exact import as_fraction, fraction_or_none
from noisewright.planning.columns import Secret, arguments
from noisewright.policy.policy import ColumnPolicy

__all__ = ["Fitted", "TooNearError", "charge", "diameter", "distance_of", "fitted", "width_of"]


def charge(mechanism: Mechanism, protect: Fraction, columns: int = 1) -> tuple[Fraction, Fraction]:
    """Return the claim for one unit of distance, and the maximum number of units between two values ``protect`` apart.

    Their product bounds the loss between the two values.
    """
    guarantee, claim = mechanism.guarantee, certificate_once(mechanism).epsilon
    metric, factor = guarantee.metric.unscaled()
    if guarantee.scope == "adjacent":
        units = Fraction(math.ceil(protect * factor))
        if guarantee.delta and units > 1:
            raise ParameterError(
                "a promise with a delta is proved for one sensitivity only; protect that distance, or make the sensitivity "
                "larger."
            )
    else:
        units = guarantee.metric.after_rounding(protect, columns)
    if guarantee.radius is not None and units > guarantee.radius:
        most = _number(Fraction(guarantee.radius) / factor)
        if guarantee.scope == "adjacent":
            raise ParameterError(
                "values on two sides of a gap have no values between them, so a promise between neighbours does not reach "
                f"farther than one sensitivity; say protect = {most} or less, make the sensitivity larger, or leave out the gaps."
            )
        raise ParameterError(f"nothing is promised beyond a distance of {most}; say protect = {most} or less.")
    # Mechanisms take exact numbers for floats: a float could be rounded up, and across the end of a lattice step.
    own = mechanism.map(1.0 if metric.uniform else cast("float", protect * factor))
    if math.isinf(own):
        raise ParameterError("nothing is promised at this distance; protect less.")
    # Floats are rounded up, which alone must not make a privacy cost larger than the proved one.
    if claim and Fraction(own) > claim * units * (1 + Fraction(1, 1 << 40)):
        units = Fraction(own) / claim
    return claim, units


def diameter(metric: Metric, points: Sequence[Any]) -> Fraction:
    """Return an upper bound on the distance between two of the points; it is exact on a line."""
    exact = metric.diameter(points)
    if exact is not None:
        return exact
    # Distances in floats have a few rounding errors; 2^-44 of them is more than that.
    largest = float(np.max(metric.matrix(points), initial=0.0))
    if math.isinf(largest):
        raise ParameterError("some points are infinitely far apart, where nothing is promised; say protect = ....")
    return Fraction(float_up(Fraction(largest) * (1 + Fraction(1, 1 << 44))))


def _number(value: Fraction) -> str:
    """A number for a message, exactly where that is short."""
    return str(value) if value.denominator == 1 else f"{float_down(value):.12g}"


# Fitting ------------------------------------------------------------------------------------------------------------------
#
# A mechanism fitted to what a column is to protect, and what it really costs.


MOST_TRIES = 8


class TooNearError(ParameterError):
    """A protected distance within which no value has another: it would protect nothing."""

    keys = ("protect",)
    """Key of it in a column of a policy."""


@dataclass(frozen=True)
class Fitted:
    """A mechanism, its exact claim for one unit of distance, and the protected distance in that unit, rounding included."""

    mechanism: Mechanism
    claim: Fraction
    distance: Fraction
    secret: Secret
    """The columns, with the size of a value that the mechanism is for."""


def fitted(entry: Entry, column: ColumnPolicy, secret: Secret) -> Fitted:
    """The mechanism that costs at most the epsilon of the column."""
    given = _declared(column, secret)
    reach = _reach(column, given, secret)
    _check_reach(reach, column, given, secret)
    found = _within_budget(entry, column, secret, given, reach)
    if found is None and entry.takes.lattice and "lattice" not in given:
        found = _within_budget(entry, column, secret, _on_finer_lattice(entry, column, secret, given, reach), reach)
    if found is None:
        raise ParameterError(
            f"no {entry.name} was found that keeps this epsilon; choose another one, or a coarser lattice."
        )
    return found


def distance_of(protect: Fraction | Span, secret: Secret) -> Fraction:
    """A protected distance in the unit of the values: days for dates, seconds for times.

    >>> import pyarrow as pa
    >>> from noisewright.mechanisms.registry import registry
    >>> from noisewright.planning.columns import secret_of
    >>> visit = secret_of(("visit",), (pa.date32(),), registry["laplace"])
    >>> distance_of(Span(Fraction(7 * 86_400)), visit)
    Fraction(7, 1)
    """
    if len(secret.kinds) == 1:
        return secret.kinds[0].distance(protect)
    if isinstance(protect, Span):
        raise ParameterError(
            f'protect = "{protect}" is for dates and times, not for {len(secret.kinds)} columns; write a number.'
        )
    return Fraction(protect)


# What the policy declares -------------------------------------------------------------------------------------------------


def _declared(column: ColumnPolicy, secret: Secret) -> dict[str, Any]:
    """The parameters that do not depend on the budget."""
    takes, given = secret.takes, arguments(column.parameters, secret)
    _check_labels(given, secret)
    points = _points(given, takes)
    if takes.metric and "metric" not in given and points:
        given["metric"] = _default_metric(points)
    if takes.dimension and "dimension" not in given:
        given["dimension"] = _dimension(secret)
    if takes.delta:
        given["delta"] = column.delta
    return given


def _dimension(secret: Secret) -> int:
    """Return the number of numbers in a secret: the number of columns, or the size that the type of the only one states."""
    if secret.several is None:
        return len(secret.types)
    size = secret.several.size(secret.types[0])
    if size is None:
        raise ParameterError(
            "how many numbers a vector has is told neither by the policy nor by the type of the column; say dimension = ...."
        )
    return size


def _size(mechanism: Mechanism, secret: Secret) -> int | None:
    """Return the number of numbers in a value of the only column, as the mechanism or the type states; never by the values."""
    if secret.several is None:
        return None
    declared = described(mechanism).dimension
    typed = secret.several.size(secret.types[0])
    if declared is not None and typed is not None and declared != typed:
        raise ParameterError(
            f"{mechanism.name} is made for {declared} numbers each, but the column holds {secret.described()}; correct it."
        )
    return typed if declared is None else declared


def _check_labels(given: Mapping[str, Any], secret: Secret) -> None:
    """Refuse declared values that the columns cannot hold: they could come out, but not be written."""
    labels = given.get(secret.takes.secrets or "")
    if not isinstance(labels, tuple):
        return
    for place, (kind, type_) in enumerate(zip(secret.kinds, secret.types, strict=True)):
        parts = [label[place] if isinstance(label, tuple) else label for label in labels]
        numbers = [part for part in parts if isinstance(part, (int, float)) and not isinstance(part, bool)]
        if numbers and not kind.can_hold(numbers, type_):
            raise ParameterError(f"a declared value does not fit into a column of type {type_}; leave it out.")


def _default_metric(points: list[Any]) -> Metric:
    try:
        Line().places(points)
    except MetricError:
        raise ParameterError('such points need a metric; say for example metric = "euclidean".') from None
    return Line()


def _points(given: Mapping[str, Any], takes: Takes) -> list[Any]:
    """The declared points, one by one; none where secrets are not listed as points."""
    if takes.secrets != "points":
        return []
    from noisewright.mechanisms.spatial.planar_laplace import Grid

    points = given.get("points", ())
    if isinstance(points, Grid):
        return [tuple(p) for p in points.at(np.arange(points.columns * points.rows)).tolist()]
    return list(range(points)) if isinstance(points, int) else list(points)


# The protected distance -----------------------------------------------------------------------------------------------------


def _reach(column: ColumnPolicy, given: Mapping[str, Any], secret: Secret) -> Fraction | None:
    """The protected distance in the unit of the values; None where only the built mechanism determines it."""
    takes = secret.takes
    points = _points(given, takes)
    if column.protect != "any":
        reach, nearest = secret.kinds[0].after_reading(distance_of(column.protect, secret)), _nearest(given, secret)
        # Points are floats, and protect = 0.1 is to reach from 0.0 to the float 0.1, which is a little farther.
        within = nearest is not None and reach < nearest <= Fraction(float(reach))
        return nearest if within else reach
    if points and (takes.metric or takes.budget == "radius"):
        return diameter(given.get("metric", Euclidean()), points)
    width = None if takes.points else width_of(given.get("within"))
    if width is None and takes.budget in ("sensitivity", "radius"):
        where = ", or within = [low, high]" if takes.within else ""
        raise ParameterError(
            'protect = "any" needs a range with two ends; say protect = ..., the largest distance between two values that '
            f"are to look alike{where}."
        )
    return width


def _check_reach(reach: Fraction | None, column: ColumnPolicy, given: Mapping[str, Any], secret: Secret) -> None:
    """Refuse a distance within which there is nothing to protect."""
    if reach == 0:
        raise ParameterError(
            "all declared values are at distance 0 from each other; declare at least two that are apart."
        )
    nearest = None if column.protect == "any" else _nearest(given, secret)
    if reach is not None and nearest is not None and reach < nearest:
        least = upward(float_up(nearest))
        least = least if Fraction(least) >= nearest else repr(float_up(nearest))
        raise TooNearError(
            f"protect = {column.protect} protects nothing, because two different values are at least {least} apart; "
            f"say protect = {least} or more."
        )


def _nearest(given: Mapping[str, Any], secret: Secret) -> Fraction | None:
    """Return a lower bound on the distance between any two different values; None where they can be as near as one likes."""
    takes = secret.takes
    points = _points(given, takes)
    if points and takes.metric:
        return _nearest_points(given["metric"], points)
    if takes.unit:  # degrees, for example, and distances in metres
        return None
    whole = takes.kind == "integer" or all(kind.nearest is not None for kind in secret.kinds)
    return Fraction(1) if whole else None


def _nearest_points(metric: Metric, points: Sequence[Any]) -> Fraction | None:
    """The smallest distance positive, rounded up if it is irrational; floats say between which points it may be."""
    apart = metric.matrix(points)
    least = float(np.min(apart, where=apart > 0, initial=math.inf))
    if math.isinf(least):
        return None
    near = np.argwhere(np.triu((apart > 0) & (apart <= least * (1 + 2.0**-40)))).tolist()
    pairs = ((points[i], points[j]) for i, j in (near[:1] if metric.uniform else near))
    return min(found for pair in pairs if (found := _distance_above(metric, pair)) is not None)


def _distance_above(metric: Metric, pair: Sequence[Any]) -> Fraction | None:
    """The distance of two points; an irrational root is stated a little below, where no one is, and here a little above."""
    found, (base, factor) = metric.exact(pair).between(0, 1), metric.unscaled()
    if found is None or not isinstance(base, Euclidean):
        return found
    here, there = (map(as_fraction, point if isinstance(point, Sequence) else (point,)) for point in pair)
    square = factor**2 * sum((a - b) ** 2 for a, b in zip(here, there, strict=True))
    return found if found**2 == square else found * (1 + Fraction(1, 1 << 70))


def width_of(within: Any) -> Fraction | None:
    """The width of a range, or of the range that holds several; None where an end is open or none exists."""
    if not isinstance(within, tuple) or not within:
        return None
    ends = [end for pair in (within if isinstance(within[0], tuple) else (within,)) for end in pair]
    places = [place for end in ends if (place := fraction_or_none(end)) is not None]
    if len(places) < len(ends):
        return None
    # Data are floats, and two floats at the ends of a range can be a little farther apart than the decimals they stand for.
    floats = [Fraction(float(place)) for place in places]
    return max(max(places) - min(places), max(floats) - min(floats))


# The budget -----------------------------------------------------------------------------------------------------------------


def _within_budget(
    entry: Entry, column: ColumnPolicy, secret: Secret, given: Mapping[str, Any], reach: Fraction | None
) -> Fitted | None:
    """The mechanism with these parameters that keeps the epsilon; None where making it again does not get there."""
    target = _target(column, entry)
    told = _told(reach, target, secret)
    for _ in range(MOST_TRIES):
        mechanism = _on_whole_numbers(entry, {**given, **told}, secret)
        sized = replace(secret, size=_size(mechanism, secret))
        if reach is None and mechanism.guarantee.metric.largest is not None:
            reach = mechanism.guarantee.metric.largest
            told = _told(reach, target, secret)
            continue
        _check_metric(mechanism.guarantee.metric, reach, column, entry)
        claim, distance = charge(mechanism, reach or Fraction(1), sized.numbers)
        if claim * distance <= target:
            return Fitted(mechanism, claim, distance, sized)
        told |= _cheaper(mechanism, told, target / (claim * distance), reach, "lattice" in told)
    return None


def _on_finer_lattice(
    entry: Entry, column: ColumnPolicy, secret: Secret, given: Mapping[str, Any], reach: Fraction | None
) -> Mapping[str, Any]:
    """Refine the lattice for long vectors: rounding may add a step for every number, and together these must be less
    than one step.
    """
    mechanism = entry.make(**{**given, **_told(reach, _target(column, entry), secret)})
    step, numbers = mechanism.guarantee.metric.step, replace(secret, size=_size(mechanism, secret)).numbers
    return given if step is None else {**given, "lattice": step / (1 << numbers.bit_length())}


def _target(column: ColumnPolicy, entry: Entry) -> Fraction:
    return column.epsilon if entry.takes.priced and column.epsilon is not None else Fraction(0)


def _told(reach: Fraction | None, target: Fraction, secret: Secret) -> dict[str, Any]:
    """Return the arguments that state to the constructor what may be spent within the protected distance."""
    match secret.takes.budget:
        case "radius":
            return {"epsilon": target, "radius": reach}
        case "sensitivity":
            return {"epsilon": target, "sensitivity": reach}
        case "unit":
            return {"epsilon": target if reach is None else target / reach}
        case _:
            return {}


def _cheaper(
    mechanism: Mechanism, told: Mapping[str, Any], share: Fraction, reach: Fraction | None, in_steps: bool
) -> dict[str, Any]:
    """Return the arguments to give instead, when it would cost 1/share of what may be spent."""
    metric = mechanism.guarantee.metric
    if metric.on_numbers and metric.step is not None and "sensitivity" in told and reach is not None and not in_steps:
        # Its noise is made for whole steps anyway: with a sensitivity of whole steps the claim states so.
        return {"sensitivity": metric.step * math.ceil(reach / metric.step), "lattice": metric.step}
    return {"epsilon": told["epsilon"] * share}


def _check_metric(metric: Metric, reach: Fraction | None, column: ColumnPolicy, entry: Entry) -> None:
    """Refuse a distance where all are the same, and none where they are not."""
    if reach is None and not metric.uniform:
        unit = f" in {metric.unit}s" if metric.unit else ""
        raise ParameterError(
            f'protect = "any" needs a largest distance; say protect = ..., the distance{unit} within which two values are to '
            "look alike."
        )
    if reach is not None and column.protect != "any" and metric.uniform:
        raise ParameterError(f"{entry.name} makes any two values look alike, near or far; leave protect out.")


def _on_whole_numbers(entry: Entry, given: dict[str, Any], secret: Secret) -> Mechanism:
    """The mechanism, on a lattice of step 1 where all values are integers and none was named."""
    whole = len(secret.kinds) == 1 and secret.kinds[0].whole
    if whole and entry.takes.lattice and not entry.takes.points and "lattice" not in given:
        try:
            return entry.make(**given, lattice=1)
        except ParameterError:
            pass  # too coarse for this epsilon, or something else that the constructor says below
    return entry.make(**given)
