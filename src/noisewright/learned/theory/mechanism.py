r"""A finite context-aware mechanism: drawn from integers, and measured on exactly those.

The table has a row for each public value, or for each pair of a public and a private one, of integers over 2^52;
floats hold them, so that :meth:`ContextMechanism.channel` is the sampled law, bit for bit. Accuracy and distortion are
fractions, computed from the table and the joint law without rounding; mutual information is enclosed.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from noisewright.core.arrays import Floats, Integers
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import Exact, downward, float_up, upward
from noisewright.core.guarantee import ContextAware
from noisewright.core.metrics.metric import Metric
from noisewright.learned.theory.bounds import BITS, DualCertificate
from noisewright.learned.theory.joint import whole_floats
from noisewright.learned.theory.losses import AdversaryLoss, information_bounds, mutual_information
from noisewright.mechanisms.categories import finite
from noisewright.mechanisms.label_columns import Labels
from noisewright.noise.table import TableSampler

if TYPE_CHECKING:
    from noisewright.learned.theory.games import FiniteGame

__all__ = ["ContextMechanism"]

MOST_RELEASES = 2_000_000
"""More sequences of outputs (up to their order) times rows than this are not summed over."""


@dataclass(frozen=True, eq=False)
class ContextMechanism:
    """A mechanism of a finite game; :meth:`~noisewright.learned.theory.games.FiniteGame.optimum` makes the best one.

    ``dual`` shows how good it is, where it was found as an optimum.
    """

    table: Integers
    game: FiniteGame
    budget: Fraction
    loss: AdversaryLoss
    dual: DualCertificate | None

    # Leakage ---------------------------------------------------------------------------------------------------------

    @cached_property
    def whole_joint(self) -> Integers:
        """Integers in exactly the proportions of ``P(y, output)``."""
        law = self.game.joint.whole
        if self.game.given == "x":
            found: Integers = law.T @ self.table
            return found
        pairs = self.table.reshape(*law.shape, -1)
        return np.asarray((law[:, :, None] * pairs).sum(axis=0))

    @cached_property
    def joint(self) -> Floats:
        """``P(y, output)``: a row for each private value."""
        whole = self.whole_joint
        return np.asarray(whole / int(whole.sum()), dtype=np.float64)

    @cached_property
    def accuracy(self) -> Fraction:
        """Return how often the best guess of the private value from one release is right, exactly."""
        whole = self.whole_joint
        return Fraction(int(whole.max(axis=0).sum()), int(whole.sum()))

    @cached_property
    def spent(self) -> Fraction:
        """The expected distortion, exactly."""
        law = self.game.joint.whole
        masses = law.sum(axis=1) if self.game.given == "x" else law.ravel()
        costs, scale = whole_floats(self.game.distances)
        costs = costs if self.game.given == "x" else np.repeat(costs, law.shape[1], axis=0)
        total = int((masses * (self.table * costs).sum(axis=1)).sum())
        return Fraction(total, int(masses.sum()) << (BITS + scale))

    @property
    def information(self) -> float:
        """The mutual information between the private value and one release, in nats, in floats."""
        return mutual_information(self.joint)

    def information_bounds(self) -> tuple[Fraction, Fraction]:
        """Two fractions that the mutual information lies between."""
        return information_bounds(self.whole_joint)

    @property
    def prior_accuracy(self) -> Fraction:
        """Return how often the private value is guessed without any release."""
        law = self.game.joint.whole
        return Fraction(int(law.sum(axis=0).max()), int(law.sum()))

    # How good it is --------------------------------------------------------------------------------------------------------

    @property
    def loss_value(self) -> float:
        """Mean loss of the best adversary, in the loss of the game; a mechanism tries to make it large."""
        return float(1 - self.accuracy) if self.loss.is_zero_one else self.loss.smallest(self.joint)

    @property
    def bound(self) -> float:
        """No mechanism within the budget makes the best adversary lose more than this; infinite where nothing was shown."""
        if self.dual is None:
            return math.inf
        return max(self.loss.from_objective(self.dual.objective), self.loss_value)

    @property
    def gap(self) -> float:
        """Return how much more another mechanism within the budget could make her lose, at most."""
        return self.bound - self.loss_value

    @property
    def saturated(self) -> bool:
        """True if the best guess is no better than a blind one (by 1e-8). The release may still leak information."""
        return self.accuracy <= self.prior_accuracy + Fraction(1, 10**8)

    # Drawing ---------------------------------------------------------------------------------------------------------------

    def release(self, public: Any, private: Any = None, rng: np.random.Generator | None = None) -> Any:
        """One output for every public value, drawn exactly from the table.

        A mechanism that is given both values needs the private ones as well; one that is given X alone never looks at
        them.
        """
        codes, form = self._public.encode(public)
        if self.game.given == "xy":
            if private is None:
                raise DataError("this mechanism is given the private value as well; pass it as the second argument.")
            others, _ = self._private.encode(private)
            if np.shape(others) != np.shape(codes):
                raise DataError("public and private values must be as many as each other.")
            codes = np.asarray(codes * len(self._private) + others)
        return self._outputs.decode(np.asarray(self._sampler.draw(codes, rng)), form)

    def channel(self) -> Channel:
        """Return the channel from inputs to releases; its floats are the integers that are drawn from."""
        public, private = self.game.joint.public, self.game.joint.private
        inputs: list[Hashable] = list(public) if self.game.given == "x" else [(x, y) for x in public for y in private]
        return Channel(np.ldexp(self.table.astype(np.float64), -BITS), inputs, self.game.outputs)

    def private_channel(self) -> Channel:
        """Return the channel from the private value to the release, as an adversary about Y sees it. Private values of
        probability 0 are left out."""
        seen = np.flatnonzero(self.joint.sum(axis=1))
        names = [self.game.joint.private[y] for y in seen]
        return Channel(self.joint[seen], names, self.game.outputs, normalise=True)

    def certified(self, epsilon: Exact | None = None, metric: Metric | None = None) -> finite.FiniteMechanism:
        """The mechanism with a metric guarantee proved about its integers; an error that names a pair where it has none."""
        return finite.mechanism(self.channel(), epsilon=epsilon, metric=metric, name="context-aware")

    def accuracy_after(self, releases: int) -> float:
        """Return how often the best guess is right after several releases of one record, each drawn afresh.

        Fresh noise averages out, so this grows to the leakage of the raw record: protect a record once, and repeat the
        same release.
        """
        if not is_whole(releases) or releases < 1:
            raise ParameterError("the number of releases is a whole number of 1 or more.")
        law, outputs = self.game.joint.probabilities, self.table.shape[1]
        if math.comb(outputs + releases - 1, releases) * len(self.table) > MOST_RELEASES:
            raise ParameterError("so many releases of so many outputs are not summed over; ask for fewer.")
        with np.errstate(divide="ignore"):
            logs = np.log(np.ldexp(self.table.astype(np.float64), -BITS))
        right = 0.0
        for counts in _multisets(outputs, releases):
            ways = math.lgamma(releases + 1) - sum(math.lgamma(c + 1) for c in counts)
            used = [k for k, c in enumerate(counts) if c]
            rows = np.exp(ways + logs[:, used] @ np.array([counts[k] for k in used], dtype=np.float64))
            joint = law.T @ rows if self.game.given == "x" else (law * rows.reshape(law.shape)).sum(axis=0)
            right += float(joint.max())
        return min(right, 1.0)

    # In words --------------------------------------------------------------------------------------------------------------

    @property
    def guarantee(self) -> ContextAware:
        """Guarantee: about this population, on average, and against every adversary who sees one release."""
        joint = self.game.joint
        return ContextAware(
            accuracy=float_up(self.accuracy),
            prior=float_up(self.prior_accuracy),
            distortion=float_up(self.spent),
            adversary="everybody who knows the joint law and the mechanism, and sees one release",
            data=f"records drawn from the stated joint law of {joint.shape[0]} public and {joint.shape[1]} private values",
            information=float_up(self.information_bounds()[1]),
        )

    def in_words(self) -> str:
        """Return its purpose, quality and guarantee, in words."""
        what = {"x": "given the public value alone", "xy": "given both values"}[self.game.given]
        good = ""
        if self.dual is not None:
            shown = "exact" if self.dual.exact else "in floats"
            good = (
                " No other one within the budget makes the best adversary lose more by more than "
                f"{upward(self.gap, 3)} ({self.loss} loss; a dual solution, {shown})."
            )
        if self.dual is not None and self.spent < self.budget * Fraction(999, 1000):
            good += f" The budget of {downward(float(self.budget))} is more than is needed: {upward(self.spent)} do."
        return f"A mechanism {what}, of expected distortion {upward(self.spent)}.{good} {self.guarantee.in_words()}"

    def __repr__(self) -> str:
        rows, outputs = self.table.shape
        return f"ContextMechanism({rows} rows to {outputs} outputs, accuracy {float(self.accuracy):.6g})"

    @cached_property
    def _public(self) -> Labels:
        return Labels(self.game.joint.public)

    @cached_property
    def _private(self) -> Labels:
        return Labels(self.game.joint.private)

    @cached_property
    def _outputs(self) -> Labels:
        return Labels(self.game.outputs)

    @cached_property
    def _sampler(self) -> TableSampler:
        return TableSampler(self.table, BITS)


def _multisets(kinds: int, size: int) -> Iterator[tuple[int, ...]]:
    """All ways to draw ``size`` things of several kinds, without their order."""
    if kinds == 1:
        yield (size,)
        return
    for first in range(size + 1):
        for rest in _multisets(kinds - 1, size - first):
            yield (first, *rest)
