r"""Laplace noise on a half line whose side towards the bound adapts to the distance from it.

Away from the bound the density falls as ``e^(-d)`` with the distance ``d`` from the true answer, in units of
``sensitivity / epsilon``, and towards the bound as ``e^(-k d)``, where ``k`` depends on how far away the bound is
(:mod:`~noisewright.mechanisms.laws.half_line`). All answers share one tail, so no output ever distinguishes two
answers by more than ``epsilon`` times their distance, while noise with one scale for both sides needs twice
``sensitivity / epsilon`` for that guarantee. Close to the bound the expected error is about half the error of one
scale.

**Guarantee.** ``epsilon`` per ``sensitivity`` units of the line between any two true answers (scope ``metric``). An answer
is rounded to one of its two nearest lattice points at random, in proportion, and the mechanism is drawn from the lattice
version of this law: whole steps, near rates found step by step under the lattice's own conditions, constant from eight
units on. Three outputs decide every pair of neighbouring lattice points, and the certificate's checker proves them in
integers.

>>> import noisewright as nw
>>> spread = nw.laplace(epsilon=1, within=(0, None), scope="metric")
>>> spread.release(0.7) >= 0
True
>>> spread.certificate().verify()
'epsilon = 1 per unit of line, in steps of 1/32'
>>> round(spread.error(), 2)  # two for noise with one scale
1.13
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.checker import checker_noise
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, log_bounds, numeral
from noisewright.core.guarantee import Guarantee
from noisewright.core.mechanism import BaseMechanism, fields_alone
from noisewright.core.metrics.algebra import line_in
from noisewright.mechanisms.auditing import MechanismAudit
from noisewright.mechanisms.foreign_columns import in_kind
from noisewright.mechanisms.laws.feasible import Feasible, Range
from noisewright.mechanisms.laws.half_line import AsymmetricLaw
from noisewright.mechanisms.laws.lattice import geometric_moments
from noisewright.mechanisms.laws.roots import root
from noisewright.mechanisms.laws.worst_answer import RoundingCells
from noisewright.mechanisms.losses import check_loss
from noisewright.noise.bits import bits_from
from noisewright.noise.lattice import Lattice, exact_floats
from noisewright.noise.laws.half_line import HalfLineSampler

__all__ = ["AsymmetricLaplace"]


CONSTANT_FROM = 8
"""From this many units of sensitivity / epsilon on, the near rate stays the same."""

RESOLUTION_BITS = 5
"""A lattice step is between 1/64 and 1/32 of sensitivity / epsilon: one near rate is kept for each step up to the cut."""

MOST_RATES = 4096
PRECISION = 320
SLACK = Fraction(1, 1 << 24)
"""The share of the budget that is left unused, so that rounding the near rates cannot break the guarantee."""


@dataclass(frozen=True)
class AsymmetricLaplace(BaseMechanism):
    """Noise on a half line with a common tail; :func:`noisewright.laplace` builds it for the metric scope."""

    name = "laplace"
    no_channel = "a half line has infinitely many outputs; give it a range with within=(low, high)."

    epsilon: Fraction
    sensitivity: Fraction
    feasible: Feasible
    outside: str
    lattice: Lattice
    tail: Fraction
    near: tuple[Fraction, ...]

    @classmethod
    def build(
        cls, epsilon: Fraction, sensitivity: Fraction, feasible: Feasible, outside: str, lattice: Exact
    ) -> AsymmetricLaplace:
        """Find the near rates on the lattice, and prove them."""
        chosen = Lattice.asked(lattice) or Lattice.for_scale(sensitivity / epsilon, bits=RESOLUTION_BITS)
        feasible.on(chosen)  # refuses a bound that is too far out
        # Inputs are rounded at random, which allows neighbouring steps a factor of 1 + budget; see the checker.
        budget = epsilon * chosen.step / sensitivity
        if budget * MOST_RATES < CONSTANT_FROM:
            coarser = Lattice.for_scale(sensitivity / epsilon, bits=MOST_RATES.bit_length() - 5)
            raise ParameterError(
                f"a lattice of step {float(chosen.step):g} needs too many rates for asymmetric noise; a step of "
                f"{float(coarser.step):g} would do, or use shape='symmetric'."
            )
        tail = Fraction(log_bounds(1 + budget, 160)[0], 1 << 160) * (1 - SLACK)
        near = tuple(_near_rates(float(tail), math.ceil(CONSTANT_FROM / budget)))
        mechanism = cls(epsilon, sensitivity, feasible, outside, chosen, tail, near)
        checker_noise.check_half_line(epsilon, mechanism._distances, mechanism._proof)
        return mechanism

    @property
    def scale(self) -> Fraction:
        """The scale of the tail away from the bound."""
        return self.lattice.step / self.tail

    @property
    def reason(self) -> str:
        """Why the noise is as large as it is."""
        wall = self.feasible.low if self.feasible.low is not None else self.feasible.high
        assert wall is not None
        return (
            f"binding at the wall at {numeral(wall)}: one tail of scale sensitivity / epsilon for all answers, and a side "
            "towards the wall that adapts to the distance from it"
        )

    @property
    def scope(self) -> str:
        """``metric``."""
        return "metric"

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` per ``sensitivity`` units of the line."""
        return Guarantee.exactly(self.epsilon, line_in(self.sensitivity))

    @property
    def law(self) -> AsymmetricLaw:
        """The continuous limit of the law, for analysis."""
        return AsymmetricLaw(self.feasible, float(self.sensitivity / self.epsilon))

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every value."""
        bits = bits_from(rng)
        indices, _ = self.feasible.place(values, self.lattice, self._ranges, self.outside, dither=bits)
        first, last = self._ranges[0]
        away = self._sampler.draw(indices - first if first is not None else (last or 0) - indices, bits)
        released = self.lattice.values(first + away if first is not None else (last or 0) - away)
        return float(released) if released.ndim == 0 else released

    def below(self, values: Any, places: Any) -> Floats:
        """The chance that the output for a value (a row) is below a place (a column): rounding is at random, too."""
        self.check(values)
        first, last = self._ranges[0]
        up, wall = first is not None, float(first if first is not None else last or 0)
        steps = exact_floats(values).reshape(-1) * 2.0**-self.lattice.exponent
        away, cuts = (steps - wall) * (1 if up else -1), self.lattice.first_from(places)
        cuts = cuts - wall if up else wall - cuts + 1  # from a bound above, a point below a place is not nearer than it
        away = np.maximum(away, 0.0)
        whole = np.floor(away).astype(np.int64)
        share = (away - whole).reshape(-1, 1)
        chance = (1 - share) * self._nearer(whole, cuts) + share * self._nearer(whole + 1, cuts)
        return np.asarray(chance if up else 1 - chance)

    def _nearer(self, i: NDArray[np.int64], places: Floats) -> Floats:
        """The chance of an output fewer than the given steps from the bound, for a lattice point ``i`` steps from it."""
        rates = np.array([float(r) for r in (self.near[0], *self.near)])[np.minimum(i, len(self.near))].reshape(-1, 1)
        towards, away = self._sums(i)
        total, rows = (towards[0] + away[0]).reshape(-1, 1), i.astype(np.float64).reshape(-1, 1)
        count = np.clip(places, 0, rows)  # outputs 0..count-1 lie at distances rows..rows-count+1
        near = np.exp(-rates * (rows - count + 1)) * np.expm1(-rates * count) / np.expm1(-rates)
        beyond = np.exp(-float(self.tail) * np.maximum(places - rows, 0)) / -math.expm1(-float(self.tail))
        return np.asarray(np.where(places <= rows, near, total - beyond) / total)

    def check(self, values: Any) -> None:
        """Refuse what :meth:`release` would refuse."""
        self.feasible.place(values, self.lattice, self._ranges, self.outside)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The law on the lattice and the claim it proves."""
        return Certificate.of_mechanism(
            self,
            rng,
            distances=self._distances,
            proof=self._proof,
            step=str(self.lattice.step),
            within=self.feasible.to_json(),
            answers=self.feasible.to_json(),
            outside=self.outside,
        )

    def audit(self) -> MechanismAudit:
        """The largest loss per unit of distance between real answers, which are rounded at random.

        Between the lattice points ``i`` and ``i + 1`` the probability of an output runs straight from ``p`` to ``q``,
        so its logarithm changes fastest next to the smaller: by ``max(p/q, q/p) - 1`` per step. The outputs 0, i and i
        + 1 decide, and far from the bound the tails, ``e^tail - 1``.
        """
        near = np.array([float(rate) for rate in (self.near[0], *self.near, self.near[-1])])
        i, tail = np.arange(near.size, dtype=np.float64), float(self.tail)
        towards = np.exp(-near) * np.expm1(-near * i) / np.expm1(-near)
        logs = -np.log(-1 / math.expm1(-tail) + towards)  # of the probability of the input itself
        changes = np.array(
            [
                (logs[:-1] - near[:-1] * i[:-1]) - (logs[1:] - near[1:] * i[1:]),
                logs[:-1] - (logs[1:] - near[1:]),
                (logs[:-1] - tail) - logs[1:],
            ]
        )
        which, worst = (int(v) for v in np.unravel_index(int(np.abs(changes).argmax()), changes.shape))
        largest = float(np.abs(changes[which, worst]))
        place = (
            f"between {worst} and {worst + 1} steps from the wall, output {(0, worst, worst + 1)[which]} steps from it"
        )
        if largest < tail:
            largest, place = tail, "far from the wall, in the tail"
        # More than the floats above can be off by: they are differences of logarithms, taken over one step.
        value = (math.expm1(largest) + 2.0**-46) / float(self.lattice.step / self.sensitivity) * (1 + 2.0**-40)
        words = f"answers {place}, where rounding at random loses most for the distance"
        return MechanismAudit(value, self.guarantee.metric, None, None, None, words=words)

    def error(self, loss: str = "absolute") -> float:
        """The expected loss against the true answer where it is largest, rounding at random included: closed sums.

        An answer between lattice points never comes out, so ``zero-one`` is 1.
        """
        check_loss(loss)
        if loss == "zero-one":
            return 1.0
        # Beyond the last rate the error only moves towards its limit, which is reached when the bound is forgotten.
        far = int(50 / self.near[-1])
        places = np.unique(np.append(np.arange(len(self.near) + 1), np.linspace(len(self.near), far, 500).astype(int)))
        order = 1 if loss == "absolute" else 2
        (near, away), (next_near, next_away) = self._sides(places), self._sides(places + 1)
        here, there = near[order] + away[order], next_near[order] + next_away[order]
        # At i + t the loss is (1 - t) here + t there + t (1 - t) extra: outputs on the far side are farther away by t
        # from i and by 1 - t from i + 1, the others nearer; i itself counts among the outputs away from the bound.
        if loss == "absolute":
            own = self._own(places)
            extra = (near[0] + 2 * own - away[0]) + (next_away[0] - next_near[0])
        else:
            extra = 1 + 2 * ((next_away[1] - next_near[1]) - (away[1] - near[1]))
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.where(extra > 0, np.clip(0.5 + (there - here) / (2 * extra), 0, 1), 0.0)
        worst = max(float(((1 - t) * here + t * there + t * (1 - t) * extra).max()) for t in (0.0, 1.0, inside))
        # Answers between the bound and the first lattice point go there, and the one at the bound fares worst.
        cells = RoundingCells.of(self.feasible, self.lattice, clipped=True)
        apart = -float(cells.lowest[0]) if self.feasible.low is not None else float(cells.highest[0])
        worst = max(worst, float(here[0]) + apart**order + (2 * apart * float(away[1][0]) if order == 2 else 0.0))
        return worst * float(self.lattice.step) ** order

    def _own(self, places: NDArray[np.int64]) -> Floats:
        """The probability that the output is the lattice point itself."""
        towards, away = self._sums(places)
        return np.asarray(1 / (towards[0] + away[0]))

    def _sides(self, places: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """``E d^p`` for p = 0, 1, 2 over the outputs towards the bound, and over the others, the point itself included."""
        towards, away = self._sums(places)
        total = towards[0] + away[0]
        return np.asarray(towards / total), np.asarray(away / total)

    def _sums(self, places: NDArray[np.int64]) -> tuple[Floats, Floats]:
        rates = np.array([float(r) for r in (self.near[0], *self.near)])[np.minimum(places, len(self.near))]
        towards = geometric_moments(rates, places.astype(np.float64) + 1)
        towards[0] -= 1  # no step at all is on the other side
        return towards, geometric_moments(float(self.tail), np.array([np.inf]))

    @property
    def _ranges(self) -> tuple[Range, ...]:
        return self.feasible.on(self.lattice)

    @property
    def _distances(self) -> dict[str, str]:
        return {"shape": "steps", "distance": str(self.lattice.step / self.sensitivity)}

    @property
    def _proof(self) -> dict[str, Any]:
        return {
            "kind": "half line",
            "tail": str(self.tail),
            "near": [str(r) for r in self.near],
            "precision": PRECISION,
        }

    @cached_property
    def _sampler(self) -> HalfLineSampler:
        return HalfLineSampler(self.tail, self.near)

    __getstate__ = fields_alone


def _near_rates(tail: float, count: int) -> list[Fraction]:
    r"""Near rates for ``1, ..., count`` steps from the bound.

    With ``Z(i, r) = 1/(1 - a) + sum_{d=1}^{i} e^{-r d}``, each rate is the largest for which the bound's probability
    ``e^{-i r} / Z`` falls by no more than ``a`` a step and ``Z`` does not fall.
    """
    q = -math.expm1(-tail)
    wall, least, rates = math.log(q), 1 / q, []

    def normaliser(i: int, rate: float) -> float:
        return 1 / q + math.exp(-rate) * math.expm1(-rate * i) / math.expm1(-rate) if rate > 0 else 1 / q + i

    for i in range(1, count + 1):
        goal = wall - tail
        rate = root(lambda r, i=i, g=goal: -i * r - math.log(normaliser(i, r)) - g, 0.0, tail)  # type: ignore[misc]
        if normaliser(i, rate) < least:
            rate = root(lambda r, i=i, z=least: normaliser(i, r) - z, 1e-12 * tail, tail)  # type: ignore[misc]
        rates.append(Fraction(math.floor(math.ldexp(rate, 64)), 1 << 64))
        found = normaliser(i, float(rates[-1]))
        wall, least = -i * float(rates[-1]) - math.log(found), max(least, found)
    return rates
