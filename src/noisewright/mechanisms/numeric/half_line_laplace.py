"""The continuous law of Laplace noise on a half line whose side towards the bound adapts to the distance from it.

In units of ``sensitivity / epsilon`` let ``s`` be the distance of the true answer from the bound and ``y`` the
distance of the output. The density is ``e^(-(y-s)) / Z(s)`` away from the bound and ``e^(-k(s)(s-y)) / Z(s)`` towards
it, with ``Z(s) = 1 + (1 - e^(-ks))/k``:

* while ``s <= s* = 3.092...``, ``k(s)`` makes the density at the bound exactly ``e^-s``;
* beyond, ``k(s)`` keeps ``Z`` at its largest value ``Z* = 2.2099...``, and tends to 0.8265.

It is the limit of :class:`~noisewright.mechanisms.numeric.half_line_laplace.AsymmetricLaplace` on ever finer lattices, for
analysis;
nothing is
drawn from it.

>>> law = AsymmetricLaw(Feasible.parse((0, None)), scale=1.0)
>>> round(float(law.density(0, 2)), 6), round(math.exp(-2), 6)  # at the wall
(0.135335, 0.135335)
>>> round(float(law.normaliser(5)), 4), round(float(law.cdf(law.quantile(0.3, 5), 5)), 6)
(2.2099, 0.3)

Away from the bound the density falls as ``e^(-d)`` with the distance ``d`` from the true answer, in units of
``sensitivity / epsilon``, and towards the bound as ``e^(-k d)``, where ``k`` depends on how far away the bound is
(:mod:`~noisewright.mechanisms.numeric.half_line_laplace`). All answers share one tail, so no output ever distinguishes two
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
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import fields_alone
from noisewright.base import BaseMechanism, MechanismAudit, check_loss
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker_noise
from noisewright.claims.figures import numeral
from noisewright.columns.adapters import in_kind
from noisewright.exceptions import ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.numeric.calibration import RoundingCells, root
from noisewright.mechanisms.numeric.feasible_sets import Feasible, Range
from noisewright.mechanisms.numeric.laplace_distribution import geometric_moments
from noisewright.metrics.composite import line_in
from noisewright.numerics.exact import Exact, log_bounds
from noisewright.sampling.bounded_laplace import HalfLineSampler
from noisewright.sampling.lattice import Lattice, exact_floats
from noisewright.sampling.random_bits import bits_from

__all__ = ["SWITCH", "AsymmetricLaplace", "AsymmetricLaw", "near_rate"]


@dataclass(frozen=True)
class AsymmetricLaw:
    """The continuous law on a half line with the given ``scale`` (``sensitivity / epsilon``)."""

    feasible: Feasible
    scale: float

    def density(self, x: ArrayLike, mu: ArrayLike) -> Floats:
        """The density of the output ``x`` for the true answer ``mu``."""
        s, y = np.broadcast_arrays(self._units(mu), self._units(x, check=False))
        k = near_rate(s)
        shape = np.where(y >= s, np.exp(-np.abs(y - s)), np.exp(-k * np.abs(s - y)))
        return np.asarray(np.where(y >= 0, shape / (self.normaliser(mu) * self.scale), 0.0))

    def normaliser(self, mu: ArrayLike) -> Floats:
        """``Z(s)``, in scales."""
        s = self._units(mu)
        k = near_rate(s)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(k * s < 1e-12, 1 + s, 1 - np.expm1(-k * s) / k))

    def cdf(self, x: ArrayLike, mu: ArrayLike) -> Floats:
        """The probability of an output of at most ``x``."""
        s, y = np.broadcast_arrays(self._units(mu), np.maximum(self._units(x, check=False), 0.0))
        k = np.maximum(near_rate(s), 1e-300)
        near = -np.exp(-k * np.maximum(s - y, 0.0)) * np.expm1(-k * np.minimum(y, s)) / k
        closer = (near - np.expm1(-np.maximum(y - s, 0.0))) / self.normaliser(mu)  # the outputs between the bound and x
        return np.asarray(closer if self._upwards else 1 - closer)

    def quantile(self, probability: ArrayLike, mu: ArrayLike) -> Floats:
        """The ``x`` with ``cdf(x | mu) = probability``, for probabilities strictly between 0 and 1."""
        p, s = np.broadcast_arrays(np.asarray(probability, dtype=np.float64), self._units(mu))
        if not bool(((p > 0) & (p < 1)).all()):
            raise ParameterError("a quantile needs probabilities strictly between 0 and 1.")
        k, total = np.maximum(near_rate(s), 1e-300), self.normaliser(mu)
        below = (p if self._upwards else 1 - p) * total
        inside = total - 1  # the mass towards the bound
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.log1p(below * k * np.exp(k * s)) / k  # mass up to y is e^(-ks) (e^(ky) - 1) / k
            far = s - np.log1p(-np.minimum(below - inside, 1 - 2.0**-53))
        y = np.where(below <= inside, near, far)
        return np.asarray(self._wall + self._sign * self.scale * y)

    def mean(self, mu: ArrayLike) -> Floats:
        """The mean output."""
        near, far, total = self._moments(mu)
        bias = (far[1] - near[1]) / total * self.scale
        return np.asarray(np.asarray(mu, dtype=np.float64) + self._sign * bias)

    def variance(self, mu: ArrayLike) -> Floats:
        """The variance of the output around its own mean."""
        near, far, total = self._moments(mu)
        return np.asarray(((near[2] + far[2]) / total - ((far[1] - near[1]) / total) ** 2) * self.scale**2)

    def error(self, mu: ArrayLike, loss: str = "absolute") -> Floats:
        """The expected ``|x - mu|`` (``"absolute"``) or ``(x - mu)^2`` (``"squared"``)."""
        if loss not in ("absolute", "squared"):
            raise ParameterError(f"the loss must be 'absolute' or 'squared', not {loss!r}.")
        near, far, total = self._moments(mu)
        order = 1 if loss == "absolute" else 2
        return np.asarray((near[order] + far[order]) / total * self.scale**order)

    @property
    def _upwards(self) -> bool:
        return self.feasible.low is not None

    @property
    def _wall(self) -> float:
        wall = self.feasible.low if self.feasible.low is not None else self.feasible.high
        assert wall is not None
        return float(wall)

    @property
    def _sign(self) -> float:
        return 1.0 if self._upwards else -1.0

    def _units(self, places: ArrayLike, check: bool = True) -> Floats:
        s = np.asarray(self._sign * (np.asarray(places, dtype=np.float64) - self._wall) / self.scale)
        if check and not bool((s >= 0).all()):
            raise ParameterError("a true answer must lie in the feasible set.")
        return s

    def _moments(self, mu: ArrayLike) -> tuple[list[Floats], list[float], Floats]:
        from scipy.special import gammainc

        s = self._units(mu)
        k = np.maximum(near_rate(s), 1e-300)
        near = []
        for p in range(3):  # integrals of d^p e^(-k d) over 0..s; a tiny k leaves the plain power
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                curved = math.gamma(p + 1) * gammainc(p + 1, k * s) / k ** (p + 1)
            near.append(np.where(k * s < 1e-8, s ** (p + 1) / (p + 1), curved))
        return near, [1.0, 1.0, 2.0], near[0] + 1.0


def near_rate(s: ArrayLike) -> Floats:
    """``k(s)`` of the head of this module, for distances from the bound in units of ``sensitivity / epsilon``."""
    given = np.asarray(s, dtype=np.float64)
    distinct, back = np.unique(given, return_inverse=True)
    return np.array([_near_rate(v) for v in distinct.tolist()])[back].reshape(given.shape)


def first_regime(s: float) -> float:
    """The rate that makes the density at the bound ``e^-s``: the root v in (0, s) of ``v + ln Z = s``, over s."""
    if s < 1e-4:
        return s / 2 - s * s / 12
    return root(lambda v: s - v - math.log1p(-s * math.expm1(-v) / v), 1e-6 * s, s) / s


def _near_rate(s: float) -> float:
    if s <= SWITCH:
        return first_regime(s)
    length = _LARGEST - 1  # (1 - e^(-k s)) / k is kept at this
    return root(lambda k: -math.expm1(-k * s) / k - length, 0.1, 1.0)


def _normaliser(s: float, k: float) -> float:
    return 1 + s if k == 0 else 1 - math.expm1(-k * s) / k


def _switch() -> float:
    """Return where Z of the first regime is largest: its derivative there is 0, which ``d(ks)/ds = 1`` says as well."""

    def slope(s: float) -> float:  # along v + ln Z(s, v) = s the derivative dv/ds is 1 exactly where dZ/ds is 0
        v = s * first_regime(s)
        z = 1 - s * math.expm1(-v) / v
        by_s = -math.expm1(-v) / v
        by_v = s * (v * math.exp(-v) + math.expm1(-v)) / v**2
        return by_s + by_v * (1 - by_s / z) / (1 + by_v / z)

    return root(slope, 2.5, 3.5)


SWITCH = _switch()
"""``s*``: up to this distance the density at the bound is ``e^-s``."""

_LARGEST = _normaliser(SWITCH, first_regime(SWITCH))


# Half line ----------------------------------------------------------------------------------------------------------------
#
# Laplace noise on a half line whose side towards the bound adapts to the distance from it.


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
