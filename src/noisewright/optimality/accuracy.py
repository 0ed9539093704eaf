"""The other way round: from the error that someone can live with to the epsilon, or the delta, that it takes."""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError
from noisewright.core.exact import upward
from noisewright.mechanisms.losses import check_loss
from noisewright.mechanisms.registry import build, registry

__all__ = ["delta_for", "epsilon_for"]

EPSILONS = (Fraction(1, 10_000), Fraction(1000))
DELTAS = (Fraction(1, 10**15), Fraction(1, 10))
CLOSE = Fraction(101, 100)


def epsilon_for(name: str, error: float, loss: str = "absolute", **parameters: Any) -> Fraction:
    """The smallest epsilon, to about a hundredth, at which a mechanism's expected loss is at most ``error``.

    The loss is the loss of an output taken at face value, for the secret where it is largest. The number has three
    digits, so that a person can say it.

    >>> epsilon = epsilon_for("geometric", 2.0)
    >>> float(epsilon), build("geometric", epsilon=epsilon).error() <= 2
    (0.484, True)
    """
    if name in registry and not registry[name].takes.priced:
        raise ParameterError(f"{name} has no epsilon to choose.")
    return _smallest(name, "epsilon", EPSILONS, error, loss, parameters)


def delta_for(name: str, error: float, loss: str = "absolute", **parameters: Any) -> Fraction:
    """The smallest delta, to about a hundredth, at which a mechanism of this epsilon has at most this expected loss.

    >>> delta = delta_for("gaussian", 4.0, epsilon=1)
    >>> float(delta), build("gaussian", epsilon=1, delta=delta).error() <= 4
    (1.63e-08, True)
    """
    if name in registry and not registry[name].takes.delta:
        raise ParameterError(f"{name} has no delta to choose.")
    return _smallest(name, "delta", DELTAS, error, loss, parameters)


def _smallest(
    name: str, word: str, ends: tuple[Fraction, Fraction], error: float, loss: str, parameters: dict[str, Any]
) -> Fraction:
    """The smallest value of a parameter, between two ends, at which the error is that small."""
    check_loss(loss)
    if not is_number(error) or not error > 0:
        raise ParameterError("an error that can be lived with is a number above 0.")

    def good(value: Fraction) -> bool:
        return build(name, **{word: value}, **parameters).error(loss) <= error

    low, high = ends
    if good(low):
        return low
    if not good(high):
        raise ParameterError(
            f"no {word} up to {upward(high)} makes this error of {name} that small; allow more, or choose a finer lattice."
        )
    while high > CLOSE * low:
        middle = _said(Fraction(float(low * high) ** 0.5))
        if not low < middle < high:
            break
        low, high = (low, middle) if good(middle) else (middle, high)
    return high


def _said(value: Fraction) -> Fraction:
    """The number in three digits, rounded up."""
    least = Context(prec=3, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(least)
