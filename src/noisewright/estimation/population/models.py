r"""Models for an estimator made from a mechanism: its operator, its secrets, and its outputs to be counted.

:func:`model_of` takes a mechanism, a channel, a certificate (which a file holds), or a model. Structure is kept where
there is some: randomised response, the geometric and the planar geometric on a grid need no matrix, however many
secrets they have.

>>> from noisewright.mechanisms.numbers.geometric import geometric
>>> model_of(geometric(epsilon=1, within=(0, 999_999))).operator.shape
(1000000, 1000000)

:func:`independent` is for reports with several parts, each from a mechanism of its own:

>>> both = independent(geometric(epsilon=1, within=(0, 9)), geometric(epsilon=1, within=(0, 4)))
>>> both.operator.shape, both.secrets[7]
((50, 50), (1, 2))

An unbounded geometric has infinitely many outputs, but whatever lies beyond the range of the secrets says no more than
the nearer end does: with ``within`` reports are clamped to it, and nothing is lost.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import NoChannelError, ParameterError
from noisewright.core.exact import Exact, positive_fraction
from noisewright.core.guarantee import Guarantee
from noisewright.core.metrics.metric import Euclidean
from noisewright.estimation.operators.operator import (
    DenseOperator,
    GeometricOperator,
    Operator,
    ProductOperator,
    ResponseOperator,
)
from noisewright.estimation.operators.planar import PlanarOperator
from noisewright.estimation.operators.walsh import HadamardOperator
from noisewright.estimation.population.counts import LabelOutputs, Outputs, PartOutputs, WholeNumbers
from noisewright.mechanisms.categories.response import ResponseMechanism
from noisewright.mechanisms.from_certificate import mechanism_of
from noisewright.mechanisms.numbers.geometric import GeometricMechanism, check_range
from noisewright.mechanisms.oracles.hadamard import HadamardMechanism
from noisewright.mechanisms.oracles.oracle import Oracle
from noisewright.mechanisms.places.planar_geometric import PlanarGeometric
from noisewright.mechanisms.places.remap import Grid

__all__ = ["Model", "independent", "model_of", "models_of", "planar_grid", "same_secrets"]

SMALL = 256
"""Up to this many secrets a dense product is faster than anything structured."""

Within = tuple[int, int] | tuple[tuple[int, int], tuple[int, int]] | None


@dataclass(frozen=True, eq=False)
class Model:
    """Model of the origin of reports: ``operator`` from secrets to outputs, and the names of both."""

    name: str
    operator: Operator
    secrets: Sequence[Hashable]
    outputs: Outputs
    promise: str | None = None
    """The guarantee of a report, in words."""


def model_of(thing: Any, within: Any = None) -> Model:
    """Return the model of a mechanism, a channel or a certificate; ``within`` is the range of the secrets where it does
    not state them.
    """
    if isinstance(thing, Model):
        return _no_range(thing, within)
    if isinstance(thing, Certificate):
        return _certified(thing, within)
    if isinstance(thing, GeometricMechanism):
        return _geometric(1 / thing.scale, thing.within, within, str(thing.guarantee))
    if isinstance(thing, ResponseMechanism):
        return _no_range(_response(thing), within)
    if isinstance(thing, PlanarGeometric):
        return _no_range(_planar(thing), within)
    if isinstance(thing, HadamardMechanism):
        return _no_range(_hadamard(thing), within)
    if isinstance(thing, Channel):
        return _no_range(_channel(thing, "channel", None), within)
    if isinstance(thing, type) or not callable(getattr(thing, "channel", None)):
        raise ParameterError(
            "estimation needs the mechanism that made the reports, its channel or its certificate, not a thing of type "
            f"{type(thing).__name__}."
        )
    promise = getattr(thing, "guarantee", None)
    name = str(getattr(thing, "name", type(thing).__name__.lower()))
    return _no_range(_channel(thing.channel(), name, None if promise is None else str(promise)), within)


def models_of(things: Sequence[Any], within: Any = None) -> list[Model]:
    """Return models of mechanisms in one data set; ``within`` is for mechanisms among them that do not state their
    secrets.
    """
    if within is None or len(things) == 1:
        found = [model_of(thing, within) for thing in things]
    else:
        known = [_known(thing) for thing in things]
        if all(known):
            model_of(known[0], within)  # says that this range is for noise without bounds
        found = [model or model_of(thing, within) for model, thing in zip(known, things, strict=True)]
    same_secrets([model.secrets for model in found])
    return found


def same_secrets(secrets: Sequence[Sequence[Hashable]]) -> None:
    """Refuse mechanisms for one data set that are about different secrets."""
    first = secrets[0]
    for other in secrets[1:]:
        if len(other) != len(first) or (other != first and list(other) != list(first)):
            raise ParameterError("mechanisms in one data set must be about the same secrets, in the same order.")


def planar_grid(grid: Grid, *, epsilon: Exact) -> Model:
    """The model of the planar geometric on a whole grid, without listing its places: a million of them take a second.

    >>> planar_grid(Grid(1000, 800, step=10), epsilon="1/50").operator.shape
    (800000, 800000)
    """
    if not isinstance(grid, Grid) or not isinstance(grid.step, float):
        raise ParameterError("planar_grid needs a grid with the same step along both axes.")
    budget = positive_fraction(epsilon, "epsilon")
    counts = (grid.columns, grid.rows)
    x, y = (grid.origin[a] + grid.step * np.arange(counts[a], dtype=np.float64) for a in (0, 1))
    promise = str(Guarantee.exactly(budget, Euclidean()))
    return _grid(*counts, budget * Fraction(grid.step), (_plain_numbers(x), _plain_numbers(y)), promise)


def independent(*mechanisms: Any) -> Model:
    """The model of reports with several parts, each from its own mechanism."""
    models = [model_of(mechanism) for mechanism in mechanisms]
    return Model(
        name=" and ".join(model.name for model in models),
        operator=ProductOperator([model.operator for model in models]),
        secrets=_Combined([model.secrets for model in models]),
        outputs=PartOutputs([model.outputs for model in models]),
        promise="; ".join(model.promise or "no promise known" for model in models),
    )


class _Combined(Sequence[Hashable]):
    """All combinations of labels, row by row, made on access."""

    def __init__(self, parts: Sequence[Sequence[Hashable]]) -> None:
        self.parts = [tuple(part) if not isinstance(part, range) else part for part in parts]

    def __len__(self) -> int:
        return math.prod(len(part) for part in self.parts)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError("there is no such secret")
        places = np.unravel_index(place % len(self), [len(part) for part in self.parts])
        return tuple(part[int(i)] for part, i in zip(self.parts, places, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Combined) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]


def _known(thing: Any) -> Model | None:
    """Return the model of a mechanism that states its secrets; None for one that needs their range."""
    try:
        return model_of(thing)
    except NoChannelError:
        return None


def _no_range(model: Model, within: Any) -> Model:
    if within is not None:
        raise ParameterError(f"the secrets of {model.name} are known; within is for noise without bounds.")
    return model


def _channel(channel: Channel, name: str, promise: str | None) -> Model:
    outputs: Outputs
    if all(isinstance(label, tuple) and label for label in channel.outputs):
        outputs = PartOutputs.of(channel.outputs)  # type: ignore[arg-type]
    else:
        outputs = LabelOutputs(channel.outputs)
    return Model(name, DenseOperator(channel.matrix), channel.inputs, outputs, promise)


def _geometric(rate: Fraction, own: tuple[int, int] | None, given: Any, promise: str) -> Model:
    if own is None and given is None:
        raise NoChannelError(
            "an unbounded geometric does not tell its secrets; say their range (within, from low to high)."
        )
    if own is not None and given is not None:
        raise ParameterError("the secrets of this geometric are known; within is for noise without bounds.")
    if isinstance(given, tuple) and any(isinstance(part, tuple) for part in given):
        raise ParameterError(
            "the secrets of a geometric have one range (within, from low to high); two are for places."
        )
    low, high = own if own is not None else check_range(given)
    if low == high:
        raise ParameterError("there is nothing to estimate with a single secret.")
    size, loss = high - low + 1, float(min(rate, Fraction(700)))
    operator: Operator = GeometricOperator(size, loss)
    if size <= SMALL:
        operator = DenseOperator(operator.rows(np.arange(size)))
    outputs = WholeNumbers(low, high, clamp=own is None)
    return Model("geometric", operator, range(low, high + 1), outputs, promise)


def _response(mechanism: ResponseMechanism) -> Model:
    scale = 1 << mechanism.width
    size = len(mechanism.categories)
    operator = ResponseOperator(size, mechanism.other / scale, (mechanism.keep - mechanism.other) / scale)
    outputs: Outputs
    names: Sequence[Hashable] = mechanism.categories
    if names == tuple(range(size)) and all(type(name) is int for name in names):  # True is 1 to Python
        names, outputs = range(size), WholeNumbers(0, size - 1)
    elif all(isinstance(label, tuple) and label for label in names):
        outputs = PartOutputs.of(names)  # type: ignore[arg-type]
    else:
        outputs = LabelOutputs(names)
    return Model(mechanism.name, operator, names, outputs, str(mechanism.guarantee))


def _hadamard(mechanism: HadamardMechanism) -> Model:
    outputs = WholeNumbers(0, mechanism.outputs - 1)
    return Model(mechanism.name, HadamardOperator(mechanism), mechanism.categories, outputs, str(mechanism.guarantee))


def _planar(mechanism: PlanarGeometric) -> Model:
    """A whole grid by transforms; other places, and few of them, as a matrix."""
    promise = str(mechanism.guarantee)
    spots = mechanism.offsets - mechanism.offsets.min(axis=0)
    columns, height = (int(n) + 1 for n in spots.max(axis=0))
    if len(spots) <= SMALL or columns * height != len(spots) or min(columns, height) < 2:
        return _channel(mechanism.channel(), mechanism.name, promise)
    xs, ys = (tuple(dict.fromkeys(sorted(axis))) for axis in zip(*mechanism.points, strict=True))
    return _grid(columns, height, mechanism.rate, (xs, ys), promise)


def _grid(
    columns: int, height: int, rate: Fraction, axes: tuple[Sequence[Hashable], Sequence[Hashable]], promise: str
) -> Model:
    return Model(
        name="planar-geometric",
        operator=PlanarOperator(columns, height, float(rate)),
        secrets=_Combined(axes),
        outputs=PartOutputs([LabelOutputs(axis) for axis in axes]),
        promise=promise,
    )


def _plain_numbers(places: NDArray[Any]) -> tuple[int | float, ...]:
    return tuple(int(x) if x.is_integer() else x for x in places.tolist())


def _certified(certificate: Certificate, within: Any) -> Model:
    """The model behind a certificate, which is proved first: a file that was tampered with estimates nothing."""
    promise = certificate.verify()  # the file's words: it may have a delta
    document = certificate.document
    if document["mechanism"] == "planar-geometric":
        return _certified_planar(document, within, promise)
    behind = mechanism_of(certificate)
    if isinstance(behind, (GeometricMechanism, ResponseMechanism, HadamardMechanism)):
        return replace(model_of(behind, within), promise=promise)
    if isinstance(behind, Oracle):
        raise ParameterError(
            f"reports of {behind.name} are not counted by outputs; give the certificate or the mechanism to estimate() alone."
        )
    try:
        channel = behind.channel()
    except NoChannelError:
        raise ParameterError(
            f"nothing is estimated from a certificate of {document['mechanism']}: it does not fix finitely many outputs; give "
            "the channel instead, in a .json, .csv or .npz file."
        ) from None
    return _no_range(_channel(channel, str(document["mechanism"]), promise), within)


def _certified_planar(document: Any, within: Any, promise: str) -> Model:
    if within is None:
        raise ParameterError(
            "a certificate of planar noise does not tell the places; say the grid (within, two ranges)."
        )
    try:
        (left, right), (bottom, top) = within
    except (TypeError, ValueError):
        raise ParameterError("the grid of planar noise needs two ranges of whole numbers (within).") from None
    step = Fraction(document["claim"]["distances"]["distance"])
    axes = []
    for low, high in (check_range((left, right)), check_range((bottom, top))):
        if (Fraction(high - low) / step).denominator != 1:
            raise ParameterError(f"the ranges of the grid must be whole multiples of its step, which is {step}.")
        count = int(Fraction(high - low) / step) + 1
        places = [low + step * i for i in range(count)]
        axes.append(tuple(int(x) if x.denominator == 1 else float(x) for x in places))
    columns, height = len(axes[0]), len(axes[1])
    return _grid(columns, height, Fraction(document["proof"]["rate"]), (axes[0], axes[1]), promise)
