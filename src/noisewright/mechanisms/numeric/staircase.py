"""The staircase mechanism: additive noise with the least expected error between neighbours.

Noise is drawn in whole lattice steps. With a sensitivity of ``m`` steps, a number ``n`` away from the truth has
``level(n) = floor((n + m - g) / m)`` and weight ``e^(-epsilon level(n))``: the first ``g`` sizes weigh most, every
further block of ``m`` sizes weighs ``e^-epsilon`` of the block before. ``g`` is the integer with the least expected
error, close to ``m / (1 + e^(epsilon/2))``.

**Guarantee.** ``epsilon`` between numbers at most ``sensitivity`` apart (``scope="adjacent"``), exactly. *Proof.*
``level`` never falls, and ``level(n + m) = level(n) + 1``; a shift by at most ``m`` changes the size by at most ``m``,
hence the level by at most one, in either direction. Nearer values are *not* guaranteed a smaller loss: for that use a
Laplace law.

As the step shrinks, ``E|noise|`` tends to ``sensitivity / (2 sinh(epsilon/2))``, which is always below Laplace's
``sensitivity / epsilon``, and exponentially so for large epsilon.

>>> answer = staircase(epsilon=3, sensitivity=1)
>>> round(answer.error(), 4), round(1 / (2 * math.sinh(1.5)), 4)  # Laplace noise: 0.3333
(0.2348, 0.2348)
>>> answer.certificate().verify()
'epsilon = 3 between neighbours (line at most 1), in steps of 1/8192'

Reference: Geng and Viswanath, *The optimal noise-adding mechanism in differential privacy* (2016).

``x -> nearest point of X`` applied to a noisy answer looks at only that answer, so the guarantee is the one the noise
had: also when ``X`` has gaps. What it costs is shape: the probability that fell outside piles up at the ends of ``X``.

>>> age = snapped_laplace(epsilon=1, sensitivity=2, within=(0, 120))
>>> 0 <= age.release(31.5) <= 120
True
>>> age.certificate().verify()
'epsilon = 1 between neighbours (1/2 * line at most 1), in steps of 1/512'
>>> visits = snapped_laplace(epsilon=1, within=[(1, 212), (244, 365)], lattice=1)  # closed from day 213 to 243
>>> sorted(set(visits.release([212.0] * 100)) & set(range(213, 244)))
[]

:func:`snapped` does the same to any mechanism with numbers as outputs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import guided
from noisewright.base import (
    EPSILON,
    LATTICE,
    OUTSIDE,
    SCOPE,
    SENSITIVITY,
    WITHIN,
    Entry,
    Mechanism,
    Takes,
    as_mechanism,
    expected_loss,
)
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker.checker import digest
from noisewright.channels.channel import Channel
from noisewright.claims.figures import float_down, float_up
from noisewright.columns.adapters import in_kind
from noisewright.exceptions import NoChannelError, NoLossError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.numeric.additive import (
    AdditiveMechanism,
    Indices,
    LaplaceLaw,
    Within,
    additive,
    additive_of,
    check_scope,
    checked,
    choose_lattice,
)
from noisewright.mechanisms.numeric.feasible_sets import Feasible
from noisewright.numerics.exact import Exact
from noisewright.sampling.laplace import staircase_noise
from noisewright.sampling.lattice import Lattice
from noisewright.sampling.random_bits import Rng

__all__ = [
    "SnappedMechanism",
    "StaircaseLaw",
    "snapped",
    "snapped_laplace",
    "staircase",
    "staircase_density",
    "unsnapped",
]


@guided
def staircase(
    *,
    epsilon: Annotated[Exact, EPSILON],
    sensitivity: Annotated[Exact, SENSITIVITY] = 1,
    within: Annotated[Within, WITHIN] = None,
    outside: Annotated[str, OUTSIDE] = "refuse",
    lattice: Annotated[Exact, LATTICE] = "auto",
) -> AdditiveMechanism:
    """The staircase mechanism on numbers.

    ``within`` (an interval, several, or a :class:`~noisewright.mechanisms.numeric.feasible_sets.Feasible`) snaps outputs to
    the nearest valid number; ``outside`` states the handling of an invalid true value ("refuse", "clamp" or "keep").
    """
    budget, size, _ = checked(epsilon, sensitivity)
    # The noise is about as large as sensitivity / (2 sinh(epsilon/2)), which shrinks like e^(-epsilon/2).
    shrunk = Fraction(1 / (2 * math.sinh(min(float(budget) / 2, 40.0)))) if budget > 1 else 1 / budget
    grid = choose_lattice(lattice, size, size * shrunk)
    law = StaircaseLaw.best(budget, grid.steps(size))
    return additive("staircase", law, lattice=grid, epsilon=budget, sensitivity=size, within=within, outside=outside)


def staircase_density(distance: float, *, epsilon: float, sensitivity: float = 1.0) -> float:
    """The density of the continuous staircase at this distance from the truth: the limit as the step shrinks."""
    gamma = 1 / (1 + math.exp(epsilon / 2))
    level = math.floor(abs(distance) / sensitivity + 1 - gamma)
    return math.sinh(epsilon / 2) / sensitivity * math.exp(-epsilon * level)


@dataclass(frozen=True)
class StaircaseLaw:
    """``P(k)`` proportional to ``e^(-rate level(|k|))``, ``level(n) = floor((n + width - first) / width)``."""

    rate: Fraction
    width: int
    first: int

    @classmethod
    def of(cls, proof: Mapping[str, Any]) -> StaircaseLaw:
        """The law that :meth:`proof` states."""
        return cls(Fraction(proof["rate"]), proof["width"], proof["first"])

    @classmethod
    def best(cls, rate: Fraction, width: int) -> StaircaseLaw:
        """The law with the least expected size among all ``first``; accuracy depends on this choice, privacy does not."""
        q = math.exp(-float(rate))
        tail = q / -math.expm1(-float(rate))
        # E|noise| is (g^2 + b g + c) / (2 g + d), a ratio with one minimum in g; its neighbours as integers decide.
        b = 2 * width * tail - 1
        c = width * (width - 1) * tail + 2 * width * width * tail * tail
        d = 2 * width * tail - 1
        root = (-d + math.sqrt(max(d * d - 2 * (b * d - 2 * c), 0.0))) / 2
        nearby = {min(max(math.floor(root) + i, 1), width) for i in (-1, 0, 1, 2)}
        laws = [cls(rate, width, g) for g in sorted(nearby)]
        return min(laws, key=lambda law: float(law.sums(np.array(np.inf), "absolute")))

    @property
    def spread(self) -> float:
        return self.width * (1 + 1 / float(self.rate))

    @property
    def parameter(self) -> float:
        return 2 * float(self.sums(np.array(np.inf), "absolute"))

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Indices:
        return staircase_noise(self.rate, self.width, self.first, shape, rng)

    def proof(self) -> Mapping[str, Any]:
        return {"law": "staircase", "rate": str(self.rate), "width": self.width, "first": self.first}

    def loss(self, steps: int, delta: Fraction) -> float:
        del delta  # 0
        levels = -(-steps // self.width)
        return float_up(self.rate * levels)

    @property
    def _ratio(self) -> float:
        """``x + x^2 + ...`` with ``x = e^-rate``: all later levels against the present one."""
        return math.exp(-float(self.rate)) / -math.expm1(-float(self.rate))

    @property
    def _total(self) -> float:
        """The sum of the weights ``e^(-rate level(|k|))`` over all integers."""
        return 2 * (self.first + self.width * self._ratio) - 1

    def mass(self, k: Floats) -> Floats:
        level = np.floor((np.abs(k) + self.width - self.first) / self.width)
        return np.asarray(np.exp(-float(self.rate) * level) / self._total)

    def tail(self, k: Floats) -> Floats:
        return np.asarray(self._left(k) / self._total)

    def _left(self, k: Floats) -> Floats:
        """The sum of the weights of ``k, k + 1, ...``: the rest of the present level, then whole levels."""
        level = np.floor((k + self.width - self.first) / self.width)
        end = self.first + level * self.width  # where the next level begins
        return np.asarray(np.exp(-float(self.rate) * level) * (end - k + self.width * self._ratio))

    def sums(self, room: Floats, loss: str) -> Floats:
        # By parts: the sum over k <= r of c(k) P(noise >= k) is that of C(k) P(k) plus C(r) P(noise > r), C(r) = r or r^2.
        far = self.first + self.width * math.ceil(800 / float(self.rate) + 2)
        r = np.minimum(room, far)
        power = 1 if loss == "absolute" else 2
        return np.asarray((self._moment(r, power) + r**power * self._left(r + 1)) / self._total)

    def _moment(self, r: Floats, power: int) -> Floats:
        """``sum of k^power weight(k)`` over ``k = 1..r``."""
        width, first, rate = float(self.width), float(self.first), float(self.rate)
        level = np.floor((r + width - first) / width)
        # Sums over levels 1, 2, ..., level - 1 of x^j times 1, (j - 1) and (j - 1)^2.
        whole = np.maximum(level - 1, 0)
        n0, n1, n2 = _power_sums(rate, whole)
        ones = width * (first + (width - 1) / 2)  # the sum of the sizes of level 1
        squares = width * first * first + first * width * (width - 1) + (width - 1) * width * (2 * width - 1) / 6
        inner = ones * n0 + width * width * n1
        if power == 2:
            inner = squares * n0 + 2 * width * ones * n1 + width**3 * n2
        lowest = np.where(level == 0, r, first - 1)
        begin = first + (level - 1) * width
        last = np.where(level == 0, 0.0, _sum_to(r, power) - _sum_to(np.maximum(begin - 1, 0), power))
        return np.asarray(_sum_to(lowest, power) + np.where(level == 0, 0.0, inner + np.exp(-rate * level) * last))


def _sum_to(n: Floats, power: int) -> Floats:
    """``1 + 2 + ... + n``, or of the squares."""
    return np.asarray(n * (n + 1) / 2 if power == 1 else n * (n + 1) * (2 * n + 1) / 6)


def _power_sums(rate: float, count: Floats) -> tuple[Floats, Floats, Floats]:
    """``sum of x^j (j - 1)^p`` over ``j = 1..count`` for p = 0, 1, 2, with ``x = e^-rate``."""
    x, left, cut = math.exp(-rate), -math.expm1(-rate), np.exp(-rate * count)
    s0 = -np.expm1(-rate * count) / left
    s1 = (x * s0 - count * cut) / left
    s2 = (2 * x * s1 + x * s0 - count * count * cut) / left
    return x * s0, x * s1, x * s2


STAIRCASE = Entry(
    "staircase",
    staircase,
    Takes("number", budget="sensitivity", within=True, lattice=True),
    summary="the additive noise with the least expected error",
    words="numbers",
    rebuild=partial(additive_of, StaircaseLaw.of),
)


# Snapped ------------------------------------------------------------------------------------------------------------------
#
# Snapping: noise first, then the nearest valid output. Private whatever the valid set looks like.


@guided
def snapped_laplace(
    *,
    epsilon: Annotated[Exact, EPSILON],
    sensitivity: Annotated[Exact, SENSITIVITY] = 1,
    within: Annotated[Within, WITHIN] = None,
    outside: Annotated[str, OUTSIDE] = "refuse",
    lattice: Annotated[Exact, LATTICE] = "auto",
    scope: Annotated[str, SCOPE] = "adjacent",
) -> AdditiveMechanism:
    """Unbounded lattice Laplace noise of scale ``sensitivity / epsilon``, then the nearest point of ``within``.

    **Guarantee.** ``epsilon`` between numbers at most ``sensitivity`` apart; with ``scope="metric"`` ``epsilon`` per
    ``sensitivity`` for all pairs of rounded numbers. The noise is the same; the certificate proves the one of the
    requested scope.
    """
    budget, size, _ = checked(epsilon, sensitivity)
    grid = choose_lattice(lattice, size, size / budget)
    law = LaplaceLaw(grid.steps(size) / budget)
    return additive(
        "snapped-laplace",
        law,
        lattice=grid,
        epsilon=budget,
        sensitivity=size,
        scope=check_scope(scope),
        within=within,
        outside=outside,
    )


def snapped(mechanism: Mechanism, within: Within) -> Mechanism:
    """``mechanism`` with its outputs moved to the nearest point of ``within``: post-processing, which costs nothing.

    Noise on a lattice is snapped to lattice points inside ``within``, so its law and error stay exact; any other mechanism is
    wrapped, and its outputs are moved as the floats they are.

    >>> from noisewright.mechanisms.numeric.geometric import geometric
    >>> even = snapped(geometric(epsilon=1), (0, None))
    >>> even.release(0) >= 0
    True
    """
    mechanism = as_mechanism(mechanism, "snapping")
    feasible = Feasible.parse(within).as_floats()
    if isinstance(mechanism, AdditiveMechanism) and mechanism.within is None:
        feasible.on(mechanism.lattice)
        return replace(mechanism, within=feasible, outside="keep")
    return SnappedMechanism(mechanism, feasible)


def unsnapped(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism whose outputs are moved: the subject of the guarantee, since moving them is post-processing."""
    while isinstance(mechanism, SnappedMechanism):
        mechanism = mechanism.inner
    return mechanism


@dataclass(frozen=True)
class SnappedMechanism:
    """A mechanism and the feasible set that its outputs are moved to; build it with :func:`snapped`."""

    inner: Mechanism
    within: Feasible

    @property
    def name(self) -> str:
        """Name of the mechanism whose outputs are snapped."""
        return f"snapped {self.inner.name}"

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the inner mechanism."""
        return self.inner.guarantee

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """The inner release, moved to the nearest valid number."""
        released = self.inner.release(values, rng)
        moved = self._nearest(np.asarray(released))
        return moved.item() if np.ndim(released) == 0 else moved

    def map(self, distance: float) -> float:
        """The loss of the inner mechanism."""
        return self.inner.map(distance)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The inner certificate, with a note of the later processing of outputs."""
        document = {**self.inner.certificate(rng).document, "snapped_to": self.within.to_json()}
        return Certificate({**document, "digest": digest(document)})

    def error(self, loss: str = "absolute") -> float:
        """The expected loss at the worst secret: exact for a finite set of secrets, otherwise an upper bound.

        Secrets that are rounded to a lattice first are less than a step away from the ones of the channel. Without a channel:
        moving an output to the nearest valid number brings it no farther from a valid truth when the set is one interval, and
        at most twice as far when it has gaps.
        """
        try:
            found = expected_loss(self.channel(), loss)
        except (NoChannelError, NoLossError):
            stretch = 1.0 if len(self.within.components) == 1 else 2.0
            return self.inner.error(loss) * {"absolute": stretch, "squared": stretch**2}.get(loss, 1.0)
        lattice = getattr(unsnapped(self), "lattice", None)
        if not isinstance(lattice, Lattice):
            return found
        if loss == "zero-one":
            return 1.0  # a number between lattice points never comes out
        power = 1 if loss == "absolute" else 2
        return float((found ** (1 / power) + float(lattice.step)) ** power)

    def channel(self) -> Channel:
        """The inner channel followed by the move."""
        inner = self.inner.channel()
        try:
            moved = self._nearest(np.array(inner.outputs)).tolist()
        except (TypeError, ValueError):
            raise ParameterError("only a mechanism with numbers as outputs can be snapped.") from None
        to = dict(zip(inner.outputs, moved, strict=True))
        return inner @ Channel.deterministic(to.__getitem__, inner.outputs)

    def _nearest(self, outputs: NDArray[Any]) -> NDArray[Any]:
        if outputs.dtype.kind not in "iuf":
            raise ParameterError("only a mechanism with numbers as outputs can be snapped.")
        lows = np.array([-math.inf if low is None else float_up(low) for low, _ in self.within.components])
        highs = np.array([math.inf if high is None else float_down(high) for _, high in self.within.components])
        component = np.searchsorted((highs[:-1] + lows[1:]) / 2, outputs, side="left")
        moved: NDArray[Any] = np.clip(outputs, lows[component], highs[component])
        whole = outputs.dtype.kind in "iu" and np.array_equal(moved, np.floor(moved))
        return moved.astype(outputs.dtype) if whole else moved


SNAPPED_LAPLACE = Entry(
    "snapped-laplace",
    snapped_laplace,
    Takes("number", budget="sensitivity", within=True, lattice=True, scope=True),
    summary="Laplace noise, then the nearest valid number",
    words="numbers",
    rebuild=partial(additive_of, LaplaceLaw.of),
)
