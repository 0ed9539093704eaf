"""A finite context-aware mechanism: drawn from integers, and measured on exactly those.

The table has a row for each public value, or for each pair of a public and a private one, of integers over 2^52;
floats hold them, so that :meth:`ContextMechanism.channel` is the sampled law, bit for bit. Accuracy and distortion are
fractions, computed from the table and the joint law without rounding; mutual information is enclosed.

A :class:`FiniteGame` has a joint law of a public value X and a private one Y, the possible releases, and the
distortion of every output. The mechanism is given X alone (``given="x"``: private-data independent) or both
(``given="xy"``: dependent, never worse). It minimises the best adversary's gain, subject to an expected distortion of
at most D: a linear program for the 0-1 loss, a convex one for the log, the alpha and the squared losses. Every answer
comes with a bound that no mechanism goes below (:mod:`~noisewright.context_aware.programs`).

>>> game = FiniteGame(Joint.xor(px1=0.75, flip=0.25))
>>> best = game.optimum("0.1")
>>> round(float(best.accuracy), 6), round(float(best.spent), 6), best.gap < 1e-9
(0.7, 0.1, True)
>>> better = FiniteGame(Joint.xor(px1=0.75, flip=0.25), given="xy").optimum("0.1")
>>> round(float(better.accuracy), 6)
0.65
>>> best.release([0, 1, 1], rng=np.random.default_rng(1)).shape
(3,)

Reference: Huang, Kairouz, Chen, Sankar and Rajagopal, *Context-aware generative adversarial privacy* (2017).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats, Integers
from noisewright._utils.validation import is_whole, one_of
from noisewright.channels.channel import Channel
from noisewright.claims.figures import downward, float_up, upward
from noisewright.columns.label_encoder import Labels
from noisewright.context_aware.distributions import (
    AdversaryLoss,
    Distortion,
    Joint,
    as_adversary_loss,
    as_joint,
    distortion_table,
    information_bounds,
    mutual_information,
    whole_floats,
)
from noisewright.context_aware.interior_point import interior
from noisewright.context_aware.programs import BITS, DualCertificate, GameRows, Raw, independent, least_gain
from noisewright.exceptions import DataError, ParameterError
from noisewright.guarantees import ContextAware
from noisewright.mechanisms.categorical import base as finite
from noisewright.metrics.base import Metric, as_labels
from noisewright.numerics.exact import Exact, as_fraction
from noisewright.numerics.polyhedra import UnsolvedError
from noisewright.sampling.categorical import TableSampler

__all__ = ["ContextMechanism", "FiniteGame", "Given"]


MOST_RELEASES = 2_000_000
"""More sequences of outputs (up to their order) times rows than this are not summed over."""


@dataclass(frozen=True, eq=False)
class ContextMechanism:
    """A mechanism of a finite game; :meth:`~noisewright.context_aware.games.FiniteGame.optimum` makes the best one.

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


# Games --------------------------------------------------------------------------------------------------------------------
#
# The finite game: a mechanism hides a private value, an adversary guesses it, and a budget bounds the distortion.


Given = Literal["x", "xy"]

LARGEST_GAME = 300_000
"""More probabilities (rows times outputs) than this are not given to a solver."""

LARGE, ROUNDS, PATIENCE, CLOSE = 4_000, 40, 5, 3e-7
"""Convex programs of more probabilities than this open a few outputs of each row, and more in a maximum number of rounds."""

STEEP, USED = 30.0, 1e-5
"""Losses of larger orders are too steep to be taken apart; outputs no worse than this may be used by a best mechanism."""

NEARER = 0.8
SHARES = (1.0, 0.9, 0.7)
"""Share of each full step for a solver, one after the other if full steps fail."""

SATURATED, ROUNDING = 1e-7, 1e-11
"""A mechanism whose adversary gains no more than this beyond blind guessing is looked for again among those
independent of the private value."""


@dataclass(frozen=True, eq=False)
class FiniteGame:
    """``distortion`` is ``"hamming"``, ``"squared"``, a function or a table; ``outputs`` are the public values if not named."""

    joint: Joint
    outputs: tuple[Hashable, ...]
    distances: Floats
    given: Given

    def __init__(
        self,
        joint: Any,
        distortion: Distortion = "hamming",
        *,
        outputs: Iterable[Hashable] | None = None,
        given: str = "x",
    ) -> None:
        law = as_joint(joint)
        names = law.public if outputs is None else as_labels(outputs, "outputs")
        if not names or len(set(names)) < len(names):
            raise ParameterError("a game needs one output or more, each named once.")
        one_of(given, "given", ("x", "xy"))
        rows = law.shape[0] * (law.shape[1] if given == "xy" else 1)
        if rows * len(names) > LARGEST_GAME:
            raise UnsolvedError(
                f"a game of {rows} rows and {len(names)} outputs is too large ({LARGEST_GAME} probabilities is the limit); use "
                "fewer values."
            )
        for name, value in (("joint", law), ("outputs", names), ("given", given)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "distances", distortion_table(distortion, law.public, names))

    @cached_property
    def rows(self) -> GameRows:
        """The game as its programs see it."""
        return GameRows.of(self.joint.probabilities, self.distances, self.given == "xy")

    def optimum(self, distortion: Exact, loss: object = "zero-one", *, ties: str = "distortion") -> ContextMechanism:
        """The mechanism with which the best adversary gains least, of expected distortion at most ``distortion``.

        ``loss``: ``"zero-one"`` (a guess; MAP), ``"log"`` (mutual information), ``"alpha:2"``, or ``"squared"`` (she
        guesses a number; mean squared error). Of several mechanisms that are best against guesses,
        ``ties="distortion"`` takes one that distorts least, ``ties="information"`` the one with the least information
        in nats.
        """
        budget, wanted = self._budget(distortion), as_adversary_loss(loss, self.joint.private)
        one_of(ties, "ties", ("distortion", "information"))
        matrix, dual = self._solved(budget, wanted)
        if wanted.is_zero_one and ties == "information":
            # A hair more than the least, or rounding would leave no mechanism at all.
            least = wanted.objective(_joint(self.rows, matrix)) + 1e-9
            matrix = least_gain(self.rows, float(budget), AdversaryLoss(1.0), least).matrix
        if not (wanted.is_zero_one or wanted.is_squared) and self._may_tell_nothing(matrix, wanted, dual):
            found = independent(self.rows)
            if found is not None and self.rows.spent(found[0]) <= float(budget):
                matrix = found[0]
        table = _drawable(self.rows, _cleaned(self.rows, matrix, wanted, dual), budget)
        return ContextMechanism(self._full(table), self, budget, wanted, dual)

    def curve(self, distortions: Iterable[Exact], loss: object = "zero-one") -> list[ContextMechanism]:
        """The optimum for each of several budgets: a convex curve that falls from the raw leakage to blind guessing."""
        return [self.optimum(budget, loss) for budget in distortions]

    def mechanism(self, matrix: Any, loss: object = "zero-one") -> ContextMechanism:
        """Any mechanism for this game as one that can be drawn from and measured: a row for each public value, or for each pair.

        Its budget is its distortion; no optimality is claimed.
        """
        wanted, rows = (
            as_adversary_loss(loss, self.joint.private),
            self.joint.shape[0] * (self.joint.shape[1] if self.given == "xy" else 1),
        )
        table = np.asarray(matrix, dtype=np.float64)
        if table.shape != (rows, len(self.outputs)) or not np.isfinite(table).all() or (table < 0).any():
            raise ParameterError(
                f"this game's mechanism is a table of probabilities with {rows} rows and {len(self.outputs)} columns."
            )
        if np.abs(table.sum(axis=1) - 1).max() > 1e-9:
            raise ParameterError("every row of a mechanism must sum to 1.")
        drawn = _rounded(
            table / table.sum(axis=1, keepdims=True), np.repeat(self.distances, rows // len(self.distances), axis=0)
        )
        found = ContextMechanism(drawn, self, Fraction(0), wanted, None)
        return ContextMechanism(drawn, self, found.spent, wanted, None)

    def _solved(self, budget: Fraction, loss: AdversaryLoss) -> tuple[Floats, DualCertificate]:
        """A mechanism up to a solver's accuracy, and its certificate.

        A large convex program given both values is taken apart. If that does not end near its bound, or cannot be
        decomposed, it is solved over a few outputs of each row: the certificate is about all of them and shows which
        others would help, and these are opened, until none is left that would.
        """
        rows, limit, best = self.rows, float(budget), _Best(self.rows, budget, loss)
        if rows.size <= LARGE or rows.pooled or loss.is_zero_one or loss.is_squared:
            for share in SHARES:
                raw = best.add(least_gain(rows, limit, loss, share=share))
                if raw.finished or best.gap < CLOSE:
                    break
            return best.matrix, best.dual
        opened, reached = _first_open(rows, limit), math.inf
        if rows.private is not None and limit > rows.least:
            mild = AdversaryLoss(min(loss.order, STEEP))
            raw = interior(rows, limit, mild)
            opened |= _used(rows, mild, raw)
            if mild == loss:
                best.add(raw)
                if best.gap < CLOSE:
                    return best.matrix, best.dual
        for number in range(ROUNDS):
            for share in SHARES[:2]:
                raw = best.add(least_gain(replace(rows, open=opened), limit, loss, share=share))
                if raw.finished or best.gap < CLOSE:
                    break
            if best.gap < CLOSE:
                break
            if number == PATIENCE and best.dual.price == 0:
                # The bound is still the blind guess's: an independent release may be affordable.
                found = independent(rows)
                if found is not None and rows.spent(found[0]) <= limit:
                    return found[0], best.dual
            closing = best.gap < NEARER * reached  # otherwise closing outputs would lead round in circles
            opened, reached = _next_open(rows, loss, raw, opened, closing), best.gap
        return best.matrix, best.dual

    def _budget(self, distortion: Exact) -> Fraction:
        budget, least = as_fraction(distortion, "distortion"), _spent(self.rows, _nearest(self.rows))
        if budget < 0:
            raise ParameterError(f"distortion must be 0 or more, not {float(budget):g}.")
        if budget < least:
            raise ParameterError(
                f"no mechanism with these outputs has a distortion of {downward(float(budget))}: the nearest outputs alone have "
                f"{upward(least)}; allow that much, or give more outputs."
            )
        return budget

    def _may_tell_nothing(self, matrix: Floats, loss: AdversaryLoss, dual: DualCertificate) -> bool:
        """Return whether next to nothing is gained, and the bound leaves it open that nothing could be."""
        found = _joint(self.rows, matrix)
        blind = loss.objective(found.sum(axis=1, keepdims=True))
        return loss.objective(found) - blind < SATURATED and dual.objective < blind + ROUNDING

    def _full(self, table: Integers) -> Integers:
        """The table of all rows: those of probability 0 release the nearest output."""
        law = self.joint.probabilities
        pairs = self.given == "xy"
        costs = np.repeat(self.distances, law.shape[1] if pairs else 1, axis=0)
        full: Integers = np.zeros(costs.shape, dtype=object)
        full[np.arange(len(costs)), costs.argmin(axis=1)] = 1 << BITS
        full[np.flatnonzero(law.ravel() if pairs else law.sum(axis=1))] = table
        full.flags.writeable = False
        return full


class _Best:
    """The best mechanism of several attempts, and the best certificate of any of them."""

    def __init__(self, rows: GameRows, budget: Fraction, loss: AdversaryLoss) -> None:
        self.rows, self.budget, self.loss = rows, budget, loss
        self.value = math.inf
        self.matrix: Floats
        self.dual: DualCertificate

    @property
    def gap(self) -> float:
        """Return how much less any mechanism may let an adversary gain."""
        return self.value - self.dual.objective

    def add(self, raw: Raw) -> Raw:
        """One more attempt."""
        dual = DualCertificate.best(self.rows, self.budget, self.loss, raw.beliefs, raw.price)
        matrix = _affordable(self.rows, raw.matrix, float(self.budget))
        value = self.loss.objective(_joint(self.rows, matrix))
        if self.value == math.inf or dual.objective > self.dual.objective:
            self.dual = dual
        if value < self.value:
            self.value, self.matrix = value, matrix
        return raw


def _first_open(rows: GameRows, budget: float) -> NDArray[np.bool_]:
    """The two nearest outputs of each row, and three among those that the budget may well lead to."""
    order = np.argsort(rows.cost, axis=1, kind="stable")
    within = (rows.cost <= 6 * budget).sum(axis=1)
    places = np.stack([0 * within, 0 * within + 1, within // 3, 2 * within // 3, within], axis=1)
    opened = np.zeros(rows.cost.shape, dtype=np.bool_)
    np.put_along_axis(opened, np.take_along_axis(order, np.minimum(places, rows.outputs - 1), axis=1), True, axis=1)
    return opened


def _next_open(
    rows: GameRows, loss: AdversaryLoss, raw: Raw, opened: NDArray[np.bool_], closing: bool
) -> NDArray[np.bool_]:
    """Outputs that are used or nearly so (or all, where none is closed), and up to three of each row that would be better."""
    beliefs = raw.beliefs / np.maximum(raw.beliefs.sum(axis=0), 1e-300)
    terms = rows.worth(np.maximum(loss.gain(beliefs), -1e3)) + raw.price * rows.cost
    worse = terms - np.where(opened, terms, np.inf).min(axis=1, keepdims=True)
    kept = opened & (not closing or (raw.matrix > 1e-6) | (worse < 1e-3 * raw.price * float(rows.cost.max())))
    better = np.zeros_like(opened)
    np.put_along_axis(better, np.argsort(worse, axis=1)[:, :3], True, axis=1)
    nearest = rows.cost == rows.cost.min(axis=1, keepdims=True)  # so that there is a mechanism at all
    return np.asarray(kept | (better & (worse < -1e-10)) | nearest)


def _used(rows: GameRows, loss: AdversaryLoss, raw: Raw) -> NDArray[np.bool_]:
    """Outputs that are about as good for a row as its best one, and the nearest, so that there is a mechanism at all."""
    terms = rows.worth(np.maximum(loss.gain(raw.beliefs), -1e3)) + raw.price * rows.cost
    nearest = rows.cost == rows.cost.min(axis=1, keepdims=True)
    return np.asarray((terms - terms.min(axis=1, keepdims=True) < USED) | nearest)


def _joint(rows: GameRows, matrix: Floats) -> Floats:
    found = rows.joint(matrix)
    return np.asarray(found / found.sum())


def _cleaned(rows: GameRows, matrix: Floats, loss: AdversaryLoss, dual: DualCertificate) -> Floats:
    """The matrix without a solver's residues where no best mechanism has mass.

    A best mechanism uses only outputs at which the terms of the bound are least for a row. In rows so rare that a
    solver hardly sees them, its residue elsewhere would be much of the row.
    """
    terms = rows.worth(loss.gain(dual.beliefs)) + dual.price * rows.cost
    useful = terms - terms.min(axis=1, keepdims=True) <= 1e-4 * (1 + np.abs(terms).max(axis=1, keepdims=True))
    kept = np.where(useful, matrix, 0.0)
    sums = kept.sum(axis=1, keepdims=True)
    found = np.where(sums > 0.5, kept / np.where(sums > 0, sums, 1.0), matrix)
    return found if loss.objective(_joint(rows, found)) <= loss.objective(_joint(rows, matrix)) + 1e-9 else matrix


def _affordable(rows: GameRows, matrix: Floats, budget: float) -> Floats:
    """The matrix, mixed with nearest outputs until it keeps to the budget; a solver may not."""
    spent, least = rows.spent(matrix), rows.least
    if not least < spent > budget:
        return matrix
    still = np.zeros(matrix.shape)
    still[np.arange(len(still)), rows.cost.argmin(axis=1)] = 1.0
    share = min(1.0, (spent - budget) / (spent - least))
    return np.asarray((1 - share) * matrix + share * still)


def _nearest(rows: GameRows) -> Integers:
    """The table that always releases the nearest output."""
    table: Integers = np.zeros(rows.cost.shape, dtype=object)
    table[np.arange(len(table)), rows.cost.argmin(axis=1)] = 1 << BITS
    return table


def _spent(rows: GameRows, table: Integers) -> Fraction:
    """The expected distortion of a table of integers, exactly."""
    masses, costs = whole_floats(rows.law)[0].sum(axis=1), whole_floats(rows.cost)
    total = int((masses * (table * costs[0]).sum(axis=1)).sum())
    return Fraction(total, int(masses.sum()) << (BITS + costs[1]))


def _rounded(matrix: Floats, cost: Floats) -> Integers:
    """Probabilities as integers over 2^52, rounded down; the remainder goes to the nearest output that is possible."""
    whole = np.floor(matrix * 2.0**BITS)
    left = 2.0**BITS - whole.sum(axis=1)  # exact: all are integers below 2^53
    near = np.where(whole > 0, cost, np.inf).argmin(axis=1)
    whole[np.arange(len(whole)), np.where(left < 0, whole.argmax(axis=1), near)] += left
    table: Integers = whole.astype(np.int64).astype(object)
    return table


def _drawable(rows: GameRows, matrix: Floats, budget: Fraction) -> Integers:
    """Integers over 2^52 near a matrix whose distortion is at most the budget, exactly.

    If a solver slightly exceeds the budget, a little of the nearest-output mechanism is mixed in. If that does not
    suffice, only nearest outputs are used.
    """
    nearest = _nearest(rows)
    least = _spent(rows, nearest)
    still, tried = np.asarray(nearest / (1 << BITS), dtype=np.float64), matrix
    for _ in range(40):
        table = _rounded(tried, rows.cost)
        excess = _spent(rows, table) - budget
        if excess <= 0:
            return table
        if budget == least:
            break
        share = min(1.0, float(excess / (excess + budget - least)) * (1 + 1e-6) + 2.0**-50)
        tried = (1 - share) * tried + share * still
    near = np.where(rows.cost == rows.cost.min(axis=1, keepdims=True), matrix, 0.0)
    sums = near.sum(axis=1, keepdims=True)
    table = _rounded(np.where(sums > 0.5, near / np.where(sums > 0, sums, 1.0), still), rows.cost)
    return table if _spent(rows, table) <= budget else nearest
