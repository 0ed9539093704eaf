r"""The law of a public value X and a private one Y: what an adversary knows before anything is released.

A joint law is a table of probabilities with a row for each public value and a column for each private one. It must be public:
known, assumed, or counted on other people's records.

>>> law = Joint([[0.375, 0.125], [0.125, 0.375]], public=["low", "high"], private=["well", "ill"])
>>> law.prior.tolist(), law.prior_accuracy
([0.5, 0.5], 0.5)
>>> Joint.xor(px1=0.75, flip=0.25).probabilities.tolist()
[[0.1875, 0.0625], [0.1875, 0.5625]]

``"hamming"`` is 1 where they differ; ``"squared"`` is the squared Euclidean distance of numbers or tuples of numbers,
summed over coordinates (standardise columns first, or a budget means nothing); :class:`Mixed` weighs numeric and
categorical parts of a record; any function ``d(x, output)`` or table with a row for each x will do.

>>> distortion_table("hamming", ["a", "b"], ["a", "b"]).tolist()
[[0.0, 1.0], [1.0, 0.0]]
>>> both = Mixed(weights=(1.0, 2.0), variances=(4.0, None))
>>> both.parts((170.0, "red"), (174.0, "blue")), both((170.0, "red"), (174.0, "blue"))
((4.0, 2.0), 6.0)

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

* :func:`accuracy_interval`: how often an attacker was right on held-out records, by Clopper and Pearson's interval.
* :func:`plug_in`: mutual information of two columns of labels, less the bias of Miller and Madow; :func:`binned` cuts
  numbers at quantiles first.
* :func:`from_beliefs`: ``H(Y)`` minus the cross-entropy of an attacker's beliefs on *held-out* records, a lower bound
  on the information in expectation, with an interval. On records that the attacker was trained on it states too much.
* :func:`nearest_neighbours`: by distances, for releases of one number or several.
* :func:`mixture_beliefs`: the posterior itself where releases are ``f(x, y)`` plus Gaussian noise: records of each class,
  averaged.

Everything is in nats. None of these is an upper bound: a stronger attacker may find more.

>>> rng = np.random.default_rng(0)
>>> y = rng.integers(0, 2, 20_000)
>>> x = np.where(rng.random(20_000) < 0.25, 1 - y, y)
>>> abs(plug_in(x, y) - 0.130812) < 0.01
True
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats, Integers
from noisewright._utils.validation import is_number, is_whole
from noisewright.claims.figures import numeral
from noisewright.exceptions import DataError, ParameterError
from noisewright.metrics.base import as_labels
from noisewright.numerics.exact import fraction_or_none, log_bounds

__all__ = [
    "AdversaryLoss",
    "Distortion",
    "Estimate",
    "Joint",
    "Mixed",
    "SquaredLoss",
    "accuracy_interval",
    "as_adversary_loss",
    "as_joint",
    "binned",
    "chance",
    "conditional_entropy",
    "distortion_table",
    "from_beliefs",
    "information_bounds",
    "map_accuracy",
    "mixture_beliefs",
    "mutual_information",
    "nearest_neighbours",
    "plug_in",
    "whole_floats",
]


TOLERANCE = 1e-9
"""The probabilities may miss a sum of one by this much, and are then divided by their sum."""


@dataclass(frozen=True, eq=False)
class Joint:
    """``probabilities[x, y]``, with a label for every public value (a row) and every private one (a column)."""

    probabilities: Floats
    public: tuple[Hashable, ...]
    private: tuple[Hashable, ...]

    def __init__(
        self, probabilities: Any, public: Iterable[Hashable] | None = None, private: Iterable[Hashable] | None = None
    ) -> None:
        values = _table(probabilities)
        total = float(values.sum())
        if abs(total - 1) > TOLERANCE:
            raise ParameterError(
                f"the probabilities of a joint law must sum to 1, not to {total:.12g}; counts are taken by Joint.from_counts."
            )
        _set(self, values / total, public, private)

    @classmethod
    def from_counts(
        cls, counts: Any, public: Iterable[Hashable] | None = None, private: Iterable[Hashable] | None = None
    ) -> Joint:
        """The law in which every pair is as likely as it was counted."""
        values = _table(counts)
        return cls(values / values.sum(), public, private)

    @classmethod
    def of(cls, public: Iterable[Hashable], private: Iterable[Hashable]) -> Joint:
        """The law of two columns of records, counted. It is as private as the records are."""
        first, second = as_labels(public, "public", DataError), as_labels(private, "private", DataError)
        if len(first) != len(second) or not first:
            raise DataError("public and private must be two columns of one length, with one record or more.")
        rows, columns = (sorted(set(column), key=_order) for column in (first, second))
        places = [{label: place for place, label in enumerate(labels)} for labels in (rows, columns)]
        counts = np.zeros((len(rows), len(columns)))
        np.add.at(counts, ([places[0][x] for x in first], [places[1][y] for y in second]), 1.0)
        return cls.from_counts(counts, rows, columns)

    @classmethod
    def xor(cls, *, px1: float, flip: float) -> Joint:
        """The binary data model: ``X`` is 1 with probability ``px1``, and ``Y`` differs from it with probability ``flip``."""
        p, q = chance(px1, "px1"), chance(flip, "flip")
        return cls([[(1 - p) * (1 - q), (1 - p) * q], [p * q, p * (1 - q)]])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of public values, number of private ones."""
        rows, columns = self.probabilities.shape
        return rows, columns

    @cached_property
    def prior(self) -> Floats:
        """Return how likely each private value is."""
        return np.asarray(self.probabilities.sum(axis=0))

    @cached_property
    def marginal(self) -> Floats:
        """Return how likely each public value is."""
        return np.asarray(self.probabilities.sum(axis=1))

    @property
    def prior_accuracy(self) -> float:
        """Return how often the private value is guessed without seeing anything; no mechanism makes it less."""
        return float(self.prior.max())

    @cached_property
    def whole(self) -> Integers:
        """Integers in exactly the proportions of the probabilities, which are floats and so fractions."""
        return whole_floats(self.probabilities)[0]

    def __repr__(self) -> str:
        return f"Joint({self.shape[0]} public values, {self.shape[1]} private ones)"


def as_joint(law: object) -> Joint:
    """The law itself, or the law of a table of probabilities."""
    return law if isinstance(law, Joint) else Joint(law)


def whole_floats(values: Floats) -> tuple[Integers, int]:
    """Floats of 0 or more as integers over a power of two, without rounding, and that power."""
    mantissas, exponents = np.frexp(values)
    present = mantissas != 0
    lowest = int(exponents[present].min()) if present.any() else 0
    whole = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
    scale = 53 - lowest
    shifted: Integers = whole << np.where(present, exponents - lowest, 0).astype(object)
    if scale < 0:
        return shifted << -scale, 0
    return shifted, scale


def chance(value: object, name: str, *, inside: bool = False) -> float:
    """A probability, checked; ``inside``: neither 0 nor 1."""
    if not is_number(value) or not (0 < value < 1 if inside else 0 <= value <= 1):
        given = value if is_number(value) else f"a thing of type {type(value).__name__}"
        where = "between 0 and 1, and neither of them" if inside else "between 0 and 1"
        raise ParameterError(f"{name} must be a probability {where}, not {given}.")
    return float(value)


def _table(values: Any) -> Floats:
    try:
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("a joint law is a table of numbers with rows of one length.") from None
    if table.ndim != 2 or 0 in table.shape:
        raise ParameterError(
            f"a joint law has a row for each public value and a column for each private one; this has shape {table.shape}."
        )
    if not np.isfinite(table).all() or (table < 0).any():
        raise ParameterError("a joint law needs finite numbers that are 0 or more.")
    if not table.any() or not math.isfinite(float(table.sum())):
        raise ParameterError("a joint law needs numbers whose sum is above 0 and finite.")
    return table


def _set(law: Joint, values: Floats, public: Iterable[Hashable] | None, private: Iterable[Hashable] | None) -> None:
    for name, given, count, which in (
        ("public", public, values.shape[0], "rows"),
        ("private", private, values.shape[1], "columns"),
    ):
        labels = tuple(range(count)) if given is None else as_labels(given, f"the {name} values")
        if len(labels) != count or len(set(labels)) != count:
            raise ParameterError(f"name each {name} value once: there are {count} {which} and {len(labels)} names.")
        object.__setattr__(law, name, labels)
    values.flags.writeable = False
    object.__setattr__(law, "probabilities", values)


def _order(label: Hashable) -> tuple[str, Any]:
    """Labels of one type in their own order, types by name."""
    return ("number", label) if is_number(label) else (type(label).__name__, label)


# Distortions --------------------------------------------------------------------------------------------------------------
#
# Distortions: how far a released value is from the true one.


Distortion = str | Callable[[Any, Any], float] | Floats | Sequence[Sequence[float]]


@dataclass(frozen=True)
class Mixed:
    """For tuples: ``w (x' - x)^2 / variance`` for a numeric part, ``w`` where a category (variance None) differs."""

    weights: tuple[float, ...]
    variances: tuple[float | None, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.variances) or not self.weights:
            raise ParameterError(
                "a mixed distortion needs a weight and a variance (None for a category) for each part."
            )
        if any(not is_number(w) or not 0 <= w < np.inf for w in self.weights):
            raise ParameterError("the weights of a mixed distortion are finite numbers of 0 or more.")
        if any(v is not None and not (is_number(v) and 0 < v < np.inf) for v in self.variances):
            raise ParameterError(
                "a variance is a finite number above 0, or None for a category; drop constant columns."
            )

    def parts(self, x: Any, output: Any) -> tuple[float, ...]:
        """Return the contribution of each part."""
        if not (isinstance(x, tuple) and isinstance(output, tuple) and len(x) == len(output) == len(self.weights)):
            raise ParameterError(f"a mixed distortion compares tuples of {len(self.weights)} parts.")
        found = zip(self.weights, self.variances, x, output, strict=True)
        return tuple(float(w * (a != b) if v is None else w * (b - a) ** 2 / v) for w, v, a, b in found)

    def __call__(self, x: Any, output: Any) -> float:
        return float(sum(self.parts(x, output)))


def distortion_table(distortion: Distortion, public: Sequence[Hashable], outputs: Sequence[Hashable]) -> Floats:
    """The distortion of every output (a column) for every public value (a row)."""
    if isinstance(distortion, str):
        if distortion == "hamming":
            return np.array([[float(x != k) for k in outputs] for x in public])
        if distortion == "squared":
            first, second = _points(public), _points(outputs)
            if first.shape[1] != second.shape[1]:
                raise ParameterError("outputs must have as many coordinates as the public values.")
            return np.asarray(((first[:, None, :] - second[None, :, :]) ** 2).sum(axis=2))
        raise ParameterError(f"the distortion is 'hamming', 'squared', a function or a table, not {distortion[:40]!r}.")
    if callable(distortion):
        try:
            given: Any = [[distortion(x, k) for k in outputs] for x in public]
        except (TypeError, ArithmeticError):
            raise ParameterError("the function of the distortion must take a public value and an output.") from None
    else:
        given = distortion
    try:
        table = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("the distortion must be a table of numbers with rows of one length.") from None
    if table.shape != (len(public), len(outputs)):
        raise ParameterError(
            f"the distortion needs a row for each of {len(public)} public values and a column for each of {len(outputs)} "
            f"outputs; this has shape {table.shape}."
        )
    if not np.isfinite(table).all() or (table < 0).any():
        raise ParameterError("a distortion is a finite number that is 0 or more.")
    return table


def _points(labels: Sequence[Hashable]) -> Floats:
    try:
        found = np.array(
            [label if isinstance(label, tuple) else (label,) for label in labels], dtype=np.float64
        )  # tuples of several lengths make this fail
    except (TypeError, ValueError):
        found = np.full((1, 1), np.nan)
    if not np.isfinite(found).all() or any(isinstance(label, (str, bool)) for label in labels):
        raise ParameterError("the squared distortion needs values that are numbers, or tuples of as many numbers each.")
    return found


# Losses -------------------------------------------------------------------------------------------------------------------
#
# Losses of an adversary who guesses Y from a release, and what each of them measures.


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


# Estimates ----------------------------------------------------------------------------------------------------------------
#
# Estimates of leakage from samples, with intervals: for known records and releases under an unknown law.


@dataclass(frozen=True)
class Estimate:
    """A number from samples, and the interval that covers the estimated value with the stated confidence."""

    value: float
    low: float
    high: float
    confidence: float

    def __str__(self) -> str:
        return (
            f"{self.value:.4f} (between {self.low:.4f} and {self.high:.4f} with confidence {numeral(self.confidence)})"
        )


def accuracy_interval(right: int, tried: int, confidence: float = 0.95) -> Estimate:
    """Return how often an attacker is right, from how often he was: an exact interval for independent records.

    >>> print(accuracy_interval(1500, 2000))
    0.7500 (between 0.7304 and 0.7688 with confidence 0.95)
    """
    from scipy.special import betaincinv

    level = chance(confidence, "confidence", inside=True)
    if not is_whole(right) or not is_whole(tried) or not 0 <= right <= tried or tried < 1:
        raise ParameterError("right and tried are whole numbers, right is from 0 to tried, and tried is 1 or more.")
    tail = (1 - level) / 2
    low = float(betaincinv(right, tried - right + 1, tail)) if right else 0.0
    high = float(betaincinv(right + 1, tried - right, 1 - tail)) if right < tried else 1.0
    return Estimate(right / tried, low, high, level)


def plug_in(outputs: Any, private: Any) -> float:
    """The information of two columns of labels as counted, less ``(outputs - 1)(private - 1) / 2n``; never below 0."""
    first, second = _column(outputs), _column(private)
    if len(first) != len(second) or not len(first):
        raise DataError("outputs and private values must be two columns of one length, with one record or more.")
    (names, one), (others, two) = (np.unique(column, return_inverse=True) for column in (first, second))
    counts = np.zeros((len(others), len(names)))
    np.add.at(counts, (two, one), 1.0)
    bias = (len(names) - 1) * (len(others) - 1) / (2 * len(first))
    return max(0.0, mutual_information(Joint.from_counts(counts).probabilities) - bias)


def binned(values: Any, private: Any, bins: int = 32) -> float:
    """:func:`plug_in` for numbers, cut at their own quantiles."""
    numbers = _numbers(values)
    if numbers.ndim != 1 or not is_whole(bins) or bins < 2:
        raise ParameterError("binned takes a column of numbers and a number of bins of 2 or more.")
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, int(bins) + 1)[1:-1]))
    return plug_in(np.searchsorted(edges, numbers, side="right"), private)


def from_beliefs(believed: Any, private: Any, confidence: float = 0.95) -> Estimate:
    """``H(Y) - cross-entropy`` from the probability that an attacker gave the truth of each held-out record.

    ``private`` are the true classes, whose entropy is counted. The interval is for the mean of the attacker's gain, by the
    normal law.
    """
    from scipy.special import ndtri

    level, truth, given = chance(confidence, "confidence", inside=True), _column(private), _numbers(believed)
    if given.shape != truth.shape or len(truth) < 2 or (given < 0).any() or (given > 1).any():
        raise DataError(
            "give the probability from 0 to 1 that was stated for the true class of each of two records or more."
        )
    _, place, counts = np.unique(truth, return_inverse=True, return_counts=True)
    with np.errstate(divide="ignore"):
        gains = np.log(given) - np.log(counts / len(truth))[place]
    if np.isinf(gains).any():
        return Estimate(-math.inf, -math.inf, math.inf, level)
    side = float(ndtri(0.5 + level / 2)) * float(gains.std(ddof=1)) / math.sqrt(len(gains))
    return Estimate(float(gains.mean()), float(gains.mean()) - side, float(gains.mean()) + side, level)


def nearest_neighbours(values: Any, private: Any, neighbours: int = 3) -> float:
    """The information between a class and a number (or row of numbers), by distances to neighbours of the same class.

    Reference: Ross, *Mutual information between discrete and continuous data sets* (2014).
    """
    from scipy.spatial import cKDTree
    from scipy.special import digamma

    numbers, truth = _numbers(values), _column(private)
    points = numbers[:, None] if numbers.ndim == 1 else numbers
    if points.ndim != 2 or len(points) != len(truth) or not is_whole(neighbours) or neighbours < 1:
        raise ParameterError("give a number or a row of numbers for each private value, and 1 neighbour or more.")
    _, place, counts = np.unique(truth, return_inverse=True, return_counts=True)
    if counts.min() <= neighbours:
        raise DataError("a class has no more records than neighbours are asked for; merge classes, or ask for fewer.")
    radii = np.empty(len(points))
    for y in range(len(counts)):
        mine = points[place == y]
        distances = np.asarray(cKDTree(mine).query(mine, k=int(neighbours) + 1, p=np.inf)[0])
        radii[place == y] = np.nextafter(distances[:, -1], 0)
    around = np.asarray(cKDTree(points).query_ball_point(points, radii, p=np.inf, return_length=True))
    found = (
        digamma(len(points))
        - digamma(counts)[place].mean()
        + digamma(neighbours)
        - digamma(np.maximum(around, 1)).mean()
    )
    return max(0.0, float(found))


def mixture_beliefs(releases: Any, centres: Any, private: Any, sd: float) -> Floats:
    """The posterior of each release, where record ``i`` of class ``private[i]`` releases ``centres[i]`` plus normal noise.

    A row for each release and a column for each class, in sorted order. Give releases of *other* records than the centres are of.
    """
    from scipy.special import logsumexp

    seen, middles, truth = _numbers(releases), _numbers(centres), _column(private)
    seen, middles = (v[:, None] if v.ndim == 1 else v for v in (seen, middles))
    if len(middles) != len(truth) or seen.shape[1] != middles.shape[1] or not sd > 0:
        raise ParameterError(
            "give a centre for each private value, releases with as many numbers, and a deviation above 0."
        )
    classes, place = np.unique(truth, return_inverse=True)
    logs = np.empty((len(seen), len(classes)))
    for start in range(0, len(seen), 256):
        part = seen[start : start + 256]
        distances = ((part[:, None, :] - middles[None, :, :]) ** 2).sum(axis=2) / (-2 * sd**2)
        for y in range(len(classes)):
            logs[start : start + 256, y] = logsumexp(distances[:, place == y], axis=1)
    return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))


def _column(values: Any) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in "biufUS":
        raise DataError("private values and outputs are columns of numbers or texts.")
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        raise DataError("some values are missing or infinite; drop or replace them first.")
    return column


def _numbers(values: Any) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("the values must be numbers, with rows of one length.") from None
    if not numbers.size or not np.isfinite(numbers).all():
        raise DataError(
            "the values must be finite numbers, and there must be some; drop or replace missing ones first."
        )
    return numbers
