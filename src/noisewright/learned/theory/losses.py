r"""Losses of an adversary who guesses Y from a release, and what each of them measures.

An adversary who has seen the output ``k`` states a belief ``b`` about Y and loses, when Y is ``y``,

.. math:: \ell_\alpha(b, y) = \frac{\alpha}{\alpha-1}\bigl(1 - b_y^{1-1/\alpha}\bigr).

The *order* ``alpha`` runs from 1 (its limit, the **log loss** ``-ln b_y``) to infinity (the **0-1 loss** ``1 - b_y``
of a random guess). The best belief is the tilted posterior ``P(y|k)^alpha`` up to a factor; the loss with it, for
``J[y, k] = P(y, k)``, is

.. math:: L^* = \frac{\alpha}{\alpha-1}\Bigl(1 - \sum_k \lVert J_{\cdot k} \rVert_\alpha\Bigr),

the conditional entropy ``H(Y|K)`` at order 1, and one minus the accuracy of the best guess at infinity. Arimoto's conditional
entropy is a growing function of it, :math:`\frac{\alpha}{1-\alpha} \ln(1 - \frac{\alpha-1}{\alpha} L^*)`, not the same number.
Everything is in nats.

Private values that are numbers may be guessed with the **squared loss** (:class:`SquaredLoss`): the best guess is the
conditional mean, and the loss with it is the mean squared error ``mmse(Y|K)``.

>>> joint = [[0.30, 0.05], [0.10, 0.55]]  # a row for each y, a column for each output
>>> round(map_accuracy(joint), 4), round(mutual_information(joint), 4)
(0.85, 0.2504)
>>> round(AdversaryLoss(2.0).smallest(joint), 4), round(AdversaryLoss(2.0).information(joint), 4)
(0.263, 0.325)
>>> round(SquaredLoss((10.0, 20.0)).smallest(joint), 4)  # of a variance of 22.75
12.0833

Reference: Liao, Kosut, Sankar and Calmon, *A tunable measure for information leakage* (2018); Arimoto (1977).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats, Integers
from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError
from noisewright.core.exact import fraction_or_none, log_bounds
from noisewright.learned.theory.joint import TOLERANCE, Joint

__all__ = [
    "AdversaryLoss",
    "SquaredLoss",
    "as_adversary_loss",
    "conditional_entropy",
    "information_bounds",
    "map_accuracy",
    "mutual_information",
]

NEARLY_LOG = 1e-6
"""Orders this near to 1 are 1: the formula would divide by next to nothing."""


@dataclass(frozen=True)
class AdversaryLoss:
    """The alpha loss of an order from 1 (log loss) to infinity (0-1 loss)."""

    order: float

    def __post_init__(self) -> None:
        if not is_number(self.order) or not self.order >= 1:
            given = self.order if is_number(self.order) else type(self.order).__name__
            raise ParameterError(
                f"the order of an adversary's loss is a number of 1 or more, or infinite, not {given}."
            )
        object.__setattr__(self, "order", 1.0 if self.order - 1 < NEARLY_LOG else float(self.order))

    @property
    def is_squared(self) -> bool:
        """Return whether numbers are guessed, not classes."""
        return False

    @property
    def is_log(self) -> bool:
        """Return whether this is the log loss."""
        return self.order == 1

    @property
    def is_zero_one(self) -> bool:
        """Return whether this is the 0-1 loss."""
        return math.isinf(self.order)

    def __str__(self) -> str:
        return "log" if self.is_log else "zero-one" if self.is_zero_one else f"alpha:{self.order:g}"

    def of(self, belief: Any) -> Floats:
        """Return the loss if the truth had this posterior probability."""
        given = np.asarray(belief, dtype=np.float64)
        if self.is_zero_one:
            return np.asarray(1 - given)
        with np.errstate(divide="ignore"):
            logs = np.log(given)
        return np.asarray(-logs if self.is_log else -np.expm1((1 - 1 / self.order) * logs) / (1 - 1 / self.order))

    def gain(self, belief: Any) -> Floats:
        """``b``, ``b^(1 - 1/alpha)`` or ``ln b``: the adversary's gain by a belief, which a mechanism keeps small."""
        given = np.asarray(belief, dtype=np.float64)
        if self.is_zero_one:
            return given
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(given) if self.is_log else given ** (1 - 1 / self.order))

    def best_response(self, joint: Any) -> Floats:
        """The adversary's best belief after each output: ``b[y, k]``. Ties of the 0-1 loss are shared evenly."""
        table = joint_of_outputs(joint)
        largest = table.max(axis=0, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            tilted = (table == largest) if self.is_zero_one else (table / largest) ** self.order
            found = tilted / tilted.sum(axis=0, keepdims=True)
        return np.where(largest > 0, found, 1 / len(table))

    def objective(self, joint: Any) -> float:
        """The adversary's expected gain with the best belief: convex in the joint law, and minimised by a mechanism."""
        table = joint_of_outputs(joint)
        if self.is_zero_one:
            return float(table.max(axis=0).sum())
        if self.is_log:
            from scipy.special import rel_entr

            return float(rel_entr(table, table.sum(axis=0, keepdims=True)).sum())
        largest = table.max(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.where(largest > 0, table / largest, 0.0)
        return float((largest * (shares**self.order).sum(axis=0) ** (1 / self.order)).sum())

    def smallest(self, joint: Any) -> float:
        """The least expected loss of an adversary who sees the output."""
        return self.from_objective(self.objective(joint))

    def from_objective(self, objective: float) -> float:
        """The expected loss that goes with an expected gain."""
        if self.is_log:
            return -objective
        return 1 - objective if self.is_zero_one else (1 - objective) / (1 - 1 / self.order)

    def information(self, joint: Any) -> float:
        """Arimoto's information of this order: mutual information at 1, ``ln(accuracy / prior accuracy)`` at infinity."""
        table = joint_of_outputs(joint)
        before, after = self.objective(table.sum(axis=1, keepdims=True)), self.objective(table)
        if self.is_log:
            return max(0.0, after - before)
        factor = 1.0 if self.is_zero_one else self.order / (self.order - 1)
        return max(0.0, factor * math.log(after / before))


@dataclass(frozen=True)
class SquaredLoss(AdversaryLoss):
    """``(guess - y)^2`` for private values that are these numbers. A belief is a guess: one number for each output."""

    values: tuple[float, ...]

    def __init__(self, values: Sequence[Any]) -> None:
        if any(not is_number(value) or not math.isfinite(value) for value in values):
            raise ParameterError("the squared loss is for private values that are finite numbers; these are labels.")
        object.__setattr__(self, "order", math.nan)
        object.__setattr__(self, "values", tuple(float(value) for value in values))

    @property
    def is_squared(self) -> bool:
        """Numbers are guessed."""
        return True

    def __str__(self) -> str:
        return "squared"

    def of(self, belief: Any) -> Floats:
        """Return the loss of each private value (a row) by the guesses."""
        return np.asarray((np.array(self.values)[:, None] - np.asarray(belief, dtype=np.float64).reshape(1, -1)) ** 2)

    def gain(self, belief: Any) -> Floats:
        """The loss with a minus."""
        return -self.of(belief)

    def best_response(self, joint: Any) -> Floats:
        """The conditional means, in one row; for outputs that never occur the mean."""
        table, values = joint_of_outputs(joint), np.array(self.values)
        sums = table.sum(axis=0)
        found = np.where(sums > 0, values @ table / np.where(sums > 0, sums, 1.0), values @ table.sum(axis=1))
        return np.asarray(found[None, :])

    def objective(self, joint: Any) -> float:
        """Minus the least mean squared error."""
        table = joint_of_outputs(joint)
        return -float((table * self.of(self.best_response(table))).sum())

    def from_objective(self, objective: float) -> float:
        """The expected loss that goes with an expected gain."""
        return -objective

    def information(self, joint: Any) -> float:
        """Return the information in nats under a normal law: ``-ln(1 - explained) / 2`` for the share of the variance
        that is explained."""
        table = joint_of_outputs(joint)
        before, after = self.smallest(table.sum(axis=1, keepdims=True)), self.smallest(table)
        return 0.0 if before == 0 else math.inf if after <= 0 else max(0.0, 0.5 * math.log(before / after))


def as_adversary_loss(loss: object, private: Sequence[Any] = ()) -> AdversaryLoss:
    """``"zero-one"``, ``"log"``, ``"alpha:2"``, ``"squared"`` (for these private values), an order, or the loss itself."""
    if isinstance(loss, str) and loss == "squared":
        if not private:
            raise ParameterError("the squared loss is for finite games whose private values are numbers.")
        return SquaredLoss(private)
    if isinstance(loss, AdversaryLoss):
        return loss
    if is_number(loss):
        return AdversaryLoss(loss)
    if loss == "zero-one":
        return AdversaryLoss(math.inf)
    if loss == "log":
        return AdversaryLoss(1.0)
    if isinstance(loss, str) and loss.startswith("alpha:"):
        order = fraction_or_none(loss.removeprefix("alpha:"))
        if order is not None:
            return AdversaryLoss(float(order))
    shown = repr(loss[:40]) if isinstance(loss, str) else f"a thing of type {type(loss).__name__}"
    raise ParameterError(
        f"the adversary's loss is 'zero-one', 'log', 'squared' or 'alpha:' and an order such as 'alpha:2', not {shown}."
    )


def map_accuracy(joint: Any) -> float:
    """Return how often the best guess of Y from the output is right: the sum over outputs of the largest ``P(y, k)``."""
    return AdversaryLoss(math.inf).objective(joint)


def conditional_entropy(joint: Any) -> float:
    """``H(Y|K)`` in nats."""
    return AdversaryLoss(1.0).smallest(joint)


def mutual_information(joint: Any) -> float:
    """``I(Y;K)`` in nats, in floats; :func:`information_bounds` encloses it."""
    return AdversaryLoss(1.0).information(joint)


def information_bounds(joint: Any, bits: int = 64) -> tuple[Fraction, Fraction]:
    """Two fractions between which the mutual information of ``P(y, k)`` lies, for certain.

    Floats count as the fractions that they are; every logarithm is enclosed in integers. A table of integers (of
    Python's, in an array of objects) is taken in proportion.

    >>> low, high = information_bounds([[0.375, 0.125], [0.125, 0.375]])
    >>> float(low), float(high - low) < 1e-18
    (0.13081203594113697, True)
    """
    given = np.asarray(joint)
    whole: Integers = given if given.dtype == object else Joint(given).whole
    rows, columns, total = whole.sum(axis=1), whole.sum(axis=0), int(whole.sum())
    low = high = 0
    for y, k in zip(*np.nonzero(whole), strict=True):
        mass = int(whole[y, k])
        least, most = log_bounds(Fraction(mass * total, int(rows[y]) * int(columns[k])), bits)
        low, high = low + mass * least, high + mass * most
    unit = total << bits
    return max(Fraction(low, unit), Fraction(0)), Fraction(high, unit)


def joint_of_outputs(joint: Any) -> Floats:
    """A table of ``P(y, k)``, checked."""
    try:
        table = np.asarray(joint, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("a joint law of private values and outputs is a table of numbers.") from None
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all() or (table < 0).any():
        raise ParameterError(
            "a joint law of private values and outputs is a table of finite numbers that are 0 or more."
        )
    if abs(float(table.sum()) - 1) > TOLERANCE:
        raise ParameterError(
            f"the probabilities of private values and outputs must sum to 1, not to {float(table.sum()):.12g}."
        )
    return table
