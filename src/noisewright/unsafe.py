"""UNSAFE mechanisms: attack targets whose guarantees are false, kept so that audits and tutorials can show how they
fail.

Never release real data with anything in this module. Nothing here is in the registry, has a ``guarantee`` or gives a
certificate: asking for either raises an error. What each *claims* is in ``claimed``, and ``audit()`` shows why the
claim is false.

* :func:`naive_redraw`: ordinary Laplace noise, drawn again until the output is in range;
* :func:`variable_scale_laplace`: a published mechanism whose scale adapts to the distance from a bound;
* :func:`float_laplace`: textbook Laplace noise added in floating point.

>>> from noisewright import unsafe
>>> unsafe.naive_redraw(epsilon=1)
UNSAFE naive_redraw(claims epsilon = 1 between neighbours (line at most 1))
>>> round(unsafe.naive_redraw(epsilon=1).audit().value, 4)
1.4899
>>> unsafe.variable_scale_laplace(epsilon=1).audit().value
inf
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import lambertw

from noisewright._typing import Floats
from noisewright.base import MechanismAudit
from noisewright.channels.channel import Channel
from noisewright.claims.figures import upward
from noisewright.exceptions import DataError, GuaranteeError, NoChannelError, ParameterError
from noisewright.guarantees import Guarantee, Scope
from noisewright.mechanisms.numeric.privacy_loss import (
    LaplaceDensity,
    PairDelta,
    audit_family,
    audit_locations,
    laplace_density,
    pair_delta,
)
from noisewright.metrics.composite import line_in
from noisewright.numerics.exact import Exact, positive_fraction

__all__ = [
    "AttackTarget",
    "FloatLaplace",
    "NaiveRedraw",
    "VariableScaleLaplace",
    "float_laplace",
    "naive_redraw",
    "variable_scale",
    "variable_scale_laplace",
]


_W = float(lambertw(-1 / (2 * math.e)).real)

WALL_SCALE = -1 / (_W * math.e)
r"""``c(0) = -1 / (W_0(-1/(2e)) e)``: the claimed scale at the bound, in units of sensitivity/epsilon."""

TURN = 1 + _W
r"""``t* = 1 + W_0(-1/(2e))``: where ``(2 e^t - 1)/t`` is smallest, and the two branches of the scale meet."""


def naive_redraw(
    *, epsilon: Exact, sensitivity: Exact = 1, within: tuple[float, float] = (0.0, math.inf)
) -> NaiveRedraw:
    """UNSAFE: Laplace noise of scale ``sensitivity/epsilon``, drawn again until the output is within a range.

    Cutting a density and renormalising it makes the normaliser depend on the secret, and so leak it: at a bound the
    loss of a pair one sensitivity apart is ``ln(2 e^epsilon - 1)``, not ``epsilon``. Literal redrawing also takes a
    time that depends on the secret.
    """
    low, high = float(within[0]), float(within[1])
    if not low < high:
        raise ParameterError("within must be two numbers, low before high; an end may be infinite.")
    return NaiveRedraw(positive_fraction(epsilon, "epsilon"), positive_fraction(sensitivity, "sensitivity"), low, high)


def variable_scale_laplace(
    *, epsilon: Exact, sensitivity: Exact = 1, within: tuple[float, float] = (0.0, math.inf)
) -> VariableScaleLaplace:
    """UNSAFE: Laplace noise on a half line with a scale that shrinks away from the bound (published as
    epsilon-private).

    Two tails with different rates have an unbounded likelihood ratio, so no epsilon holds; ``delta()`` says how badly
    it fails.
    """
    low, high = float(within[0]), float(within[1])
    if not math.isfinite(low) or high != math.inf:
        raise ParameterError("this mechanism is defined on a half line: within=(wall, inf).")
    return VariableScaleLaplace(
        positive_fraction(epsilon, "epsilon"), positive_fraction(sensitivity, "sensitivity"), low
    )


def float_laplace(*, epsilon: Exact, sensitivity: Exact = 1) -> FloatLaplace:
    """UNSAFE: textbook Laplace noise in double precision, as ``numpy.random`` draws it, added in floating point.

    The theorem is about real numbers. The float sum keeps traces of the secret in its low bits: many outputs that one
    secret gives can never come from its neighbour, whatever the noise was.
    """
    return FloatLaplace(positive_fraction(epsilon, "epsilon"), positive_fraction(sensitivity, "sensitivity"))


def variable_scale(distance: ArrayLike) -> Floats:
    r"""The scale ``c(s)`` of :func:`variable_scale_laplace`, in units of sensitivity/epsilon, as is ``s``.

    It solves ``c (2 e^(s/c) - 1) = c(0) e^s`` on the branch that makes it fall from ``c(0) = 1.586`` to 1. In
    logarithms nothing overflows, and bisection between the turning point and the end of the branch needs no Lambert
    function, whose argument slips past its branch point near ``s = 1``.
    """
    s = np.asarray(distance, dtype=np.float64)
    if not bool(((s >= 0) & np.isfinite(s)).all()):
        raise ParameterError("a distance from the wall is a finite number that is 0 or more.")
    turn = np.clip(s / TURN, 1.0, WALL_SCALE)
    low, high = np.where(s < 1, turn, 1.0), np.where(s < 1, WALL_SCALE, turn)
    for _ in range(60):
        middle = (low + high) / 2
        t = s / middle
        excess = np.log(middle) + np.log(2 - np.exp(-t)) + t - math.log(WALL_SCALE) - s
        below = np.where(
            s < 1, excess < 0, excess > 0
        )  # the left side rises with c before the turn, and falls after it
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)


@dataclass(frozen=True, repr=False)
class AttackTarget:
    """Base of the attack targets: a claim that is false, and no guarantee, certificate or channel."""

    epsilon: Fraction
    sensitivity: Fraction
    name: ClassVar[str]
    scope: ClassVar[Scope] = "adjacent"

    @property
    def claimed(self) -> Guarantee:
        """Claim, which is false for the sampled law."""
        return Guarantee.exactly(self.epsilon, line_in(self.sensitivity), scope=self.scope)

    @property
    def guarantee(self) -> NoReturn:
        """Raise an error: it has no guarantee."""
        raise GuaranteeError(f"{self.name} is an attack target and guarantees nothing; see its claimed and audit().")

    def certificate(self, rng: np.random.Generator | None = None) -> NoReturn:
        """Refused."""
        raise GuaranteeError(f"{self.name} is an attack target and gets no certificate; audit() shows why.")

    def channel(self) -> Channel:
        """Raise an error: the outputs are continuous, or all floats."""
        raise NoChannelError(f"{self.name} has continuous outputs and no finite channel; use audit().")

    def __repr__(self) -> str:
        return f"{self.name}(claims {self.claimed})"


@dataclass(frozen=True, repr=False)
class NaiveRedraw(AttackTarget):
    """UNSAFE. Build it with :func:`naive_redraw`."""

    low: float
    high: float
    name = "UNSAFE naive_redraw"

    def density(self, secret: float) -> LaplaceDensity:
        """The law of the output for one secret."""
        return laplace_density(secret, scale=float(self.sensitivity / self.epsilon), within=(self.low, self.high))

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """UNSAFE draws, in floats; by inversion, which has the law of redrawing without its endless loop."""
        given, single = _inside(values, self.low, self.high)
        rate = np.full(given.shape, float(self.epsilon / self.sensitivity))
        return _scalar(_cut_draws(given, rate, self.low, self.high, _generator(rng)), single)

    def audit(self, scope: Scope = "adjacent") -> MechanismAudit:
        """The loss it really has: above the claim, at a bound."""
        sensitivity = float(self.sensitivity)
        places = audit_locations((self.low, self.high), sensitivity, reach=20 * max(1.0, 1 / float(self.epsilon)))
        return audit_family(self.density, places, sensitivity=sensitivity, scope=scope)


@dataclass(frozen=True, repr=False)
class VariableScaleLaplace(AttackTarget):
    """UNSAFE. Build it with :func:`variable_scale_laplace`."""

    wall: float
    name = "UNSAFE variable_scale_laplace"
    scope = "metric"

    @property
    def unit(self) -> float:
        """``sensitivity / epsilon``."""
        return float(self.sensitivity / self.epsilon)

    def scale(self, secrets: ArrayLike) -> Floats:
        """The scale of the noise for each secret: what should not depend on it."""
        return self.unit * variable_scale((np.asarray(secrets, dtype=np.float64) - self.wall) / self.unit)

    def density(self, secret: float) -> LaplaceDensity:
        """The law of the output for one secret."""
        return laplace_density(secret, scale=float(self.scale(secret)), within=(self.wall, math.inf))

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """UNSAFE draws, in floats."""
        given, single = _inside(values, self.wall, math.inf)
        return _scalar(_cut_draws(given, 1 / self.scale(given), self.wall, math.inf, _generator(rng)), single)

    def delta(self, epsilon: Exact | None = None) -> PairDelta:
        """The delta that would make it private between neighbours: its worst pair is the bound and one sensitivity
        from it.

        Delta adds up: with m released values the total is about m times as large.
        """
        at = self.epsilon if epsilon is None else positive_fraction(epsilon, "epsilon")
        pair = self.density(self.wall), self.density(self.wall + float(self.sensitivity))
        return pair_delta(*pair, float(at))

    def audit(self) -> MechanismAudit:
        """Infinite, with the outputs that show it and how likely they are."""
        failure = self.delta()
        output = 2 * failure.outputs[-1][0]  # well inside the region where the guarantee is broken
        densities = [float(self.density(place).pdf(output)) for place in failure.pair]
        words = (
            f"the tails of secrets {failure.pair[0]:g} and {failure.pair[1]:g} fall at different rates, so their ratio has no "
            f"bound; the claim is broken at outputs beyond {failure.outputs[-1][0]:.6g}, which come with probability "
            f"{failure.probability:.3g}, and it would take delta = {upward(failure.value, 3)} to repair it"
        )
        pair = (densities[0], densities[1])
        return MechanismAudit(math.inf, self.claimed.metric, failure.pair, output, pair, scope="metric", words=words)


@dataclass(frozen=True, repr=False)
class FloatLaplace(AttackTarget):
    """UNSAFE. Build it with :func:`float_laplace`."""

    name = "UNSAFE float_laplace"
    scope = "metric"

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """UNSAFE draws: value plus float noise."""
        given, single = _inside(values, -math.inf, math.inf)
        scale = float(self.sensitivity / self.epsilon)
        return _scalar(given + _generator(rng).laplace(0.0, scale, given.shape), single)

    def impossible(self, outputs: ArrayLike, secret: float) -> NDArray[np.bool_]:
        """Return where an output cannot come from ``secret``, *whatever float the noise was*.

        A float sum ``secret + noise`` is a multiple of the finer of the two spacings (units in the last place) of its
        terms. Whether an output is one is written in its low bits.
        """
        given = np.asarray(outputs, dtype=np.float64)
        # The noise is within one rounding of output - secret; the spacing just below that is the finest it can have.
        smallest = np.abs(given - secret) - 4 * np.spacing(np.maximum(np.abs(given), abs(secret)))
        finest = np.minimum(np.spacing(np.maximum(smallest, 0.0)), np.spacing(abs(float(secret))))
        return np.asarray(np.fmod(given, finest) != 0)

    def identify(self, outputs: ArrayLike, candidates: Sequence[float]) -> Floats:
        """The attack: for each output the only candidate that can have given it, or NaN where several can.

        >>> target = float_laplace(epsilon=1)
        >>> seen = target.identify(target.release(np.zeros(1000)), candidates=[0, 1])
        >>> bool((seen == 1).any()), bool((seen == 0).mean() > 0.1)  # never wrong, and often certain
        (False, True)
        """
        possible = np.array([~self.impossible(outputs, float(secret)) for secret in candidates])
        found = np.asarray(candidates, dtype=np.float64)[possible.argmax(axis=0)]
        return np.where(possible.sum(axis=0) == 1, found, np.nan)

    def audit(self) -> MechanismAudit:
        """Infinite: an output of secret 0 that its neighbour cannot give, found by drawing."""
        other = float(self.sensitivity)
        draws = self.release(np.zeros(200_000), np.random.default_rng(0))
        telling = self.impossible(draws, other)
        if not telling.any():
            raise ParameterError(
                "no telling output was found in 200,000 draws at this epsilon, which proves nothing; try a larger epsilon."
            )
        share, output = float(telling.mean()), float(draws[telling.argmax()])
        words = (
            f"secret 0 gave the output {output.hex()}, whose low bits no float noise added to {other:g} can produce; "
            f"{100 * share:.2g} % of its outputs tell the two apart with certainty"
        )
        return MechanismAudit(math.inf, self.claimed.metric, (0.0, other), output, None, scope="metric", words=words)


def _generator(rng: np.random.Generator | None) -> np.random.Generator:
    return np.random.default_rng() if rng is None else rng


def _inside(values: Any, low: float, high: float) -> tuple[Floats, bool]:
    given = np.asarray(values)
    if given.dtype.kind not in "iuf":
        raise DataError("the values are not numbers; convert the column first.")
    if not bool((np.isfinite(given) & (given >= low) & (given <= high)).all()):
        raise DataError("a value is outside the declared range or not finite; clamp the column first.")
    return given.astype(np.float64), given.ndim == 0


def _scalar(released: Floats, single: bool) -> Any:
    return float(released) if single else released


def _cut_draws(given: Floats, rate: Floats, low: float, high: float, rng: np.random.Generator) -> Floats:
    """Draws from Laplace densities cut to an interval, by inversion on the side that is drawn first."""
    with np.errstate(over="ignore"):
        below, above = -np.expm1(-rate * (given - low)), -np.expm1(-rate * (high - given))
    left = rng.random(given.shape) * (below + above) < below
    mass = np.where(left, below, above)
    apart = -np.log1p(-rng.random(given.shape) * mass) / rate
    return np.clip(np.where(left, given - apart, given + apart), low, high)
