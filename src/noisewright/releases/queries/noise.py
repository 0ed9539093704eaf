r"""Noise for vectors of integers: any registered mechanism for numbers, calibrated for the change by one unit.

A vector changes by at most ``l1`` in all, by at most ``largest`` in one entry, and in at most ``changed`` entries. Each entry
gets independent noise, so losses add over the entries that change, and there are two sound ways to calibrate:

* a guarantee for the **metric** (``geometric``, ``laplace``, ``snapped-laplace``): a loss of ``epsilon d / l1`` for a change of
  ``d``, in sum at most ``epsilon``;
* a guarantee between **neighbours** only (``staircase``, ``gaussian``, ``approximate-laplace``), which states nothing
  better about small changes: each entry is private for ``largest`` at ``epsilon / changed`` and ``delta / changed``,
  paid ``changed`` times. (No use is made of the smaller noise that an L2 bound would allow Gaussian noise on many entries.)

For one entry the two are the same. The privacy cost is read off the certificate of the noise, times :attr:`Noise.times`.

>>> from fractions import Fraction
>>> count = calibrate("geometric", epsilon=Fraction(1), l1=2, largest=1, changed=2, floor=0)
>>> count.price, count.times, count.certificate(simulated=False).verify()
(Fraction(1, 1), 1, 'epsilon = 1 per unit of 1/2 * line')
>>> stairs = calibrate("staircase", epsilon=Fraction(1), l1=2, largest=1, changed=2, floor=0)
>>> stairs.price, stairs.times, stairs.certificate(simulated=False).verify()
(Fraction(1, 1), 2, 'epsilon = 0.5 between neighbours (line at most 1)')
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import ParameterError
from noisewright.core.exact import as_fraction
from noisewright.core.loading.signatures import parameters_of
from noisewright.core.mechanism import Mechanism, certificate_once, described
from noisewright.mechanisms.registry import Entry, entries, registry

__all__ = ["Noise", "calibrate", "usable"]


@dataclass(frozen=True)
class Noise:
    """A mechanism on integers (or on scores) and how often its loss counts against one unit."""

    mechanism: Mechanism
    times: int = 1
    where: tuple[int | None, int | None] = (None, None)
    """The public ends between which a noisy number stays by its law; numbers are moved there first."""

    @property
    def price(self) -> Fraction:
        """Privacy cost for one unit, exactly."""
        return self.times * self._claim("epsilon")

    @property
    def delta(self) -> Fraction:
        """The extra probability, exactly."""
        return self.times * self._claim("delta")

    def certificate(self, simulated: bool) -> Certificate:
        """Return the certificate of one entry; one unit of its metric is the change that ``times`` entries together can
        suffer.
        """
        return certificate_once(self.mechanism, simulated)

    @property
    def error(self) -> float:
        """The expected absolute error of one entry, in steps: exact for unbounded noise, at the worst entry for ranges."""
        # Its own figure may include the rounding of numbers between lattice points, and none exist here.
        alone = self._added
        return self.mechanism.error("absolute") if alone is None else alone

    @property
    def added(self) -> bool:
        """True if the noise is the same whatever it is added to."""
        return self._added is not None

    def clamped(self, number: int) -> int:
        """A number moved between the public ends."""
        low, high = self.where
        above = number if low is None else max(number, low)
        return above if high is None else min(above, high)

    @property
    def _added(self) -> float | None:
        """The mean size of noise that is added to whatever is there; None where ends bound the sum."""
        return described(self.mechanism).noise_error

    def add(self, exact: NDArray[np.object_], rng: np.random.Generator | None) -> NDArray[np.object_]:
        """Noisy integers, as Python integers: none is too large to be exact."""
        if self._added is not None:
            noise = np.asarray(self.mechanism.release(np.zeros(exact.shape, dtype=np.int64), rng))
            return np.asarray(exact + noise.astype(np.int64).astype(object), dtype=object)
        released = self.mechanism.release(exact.astype(np.int64), rng)
        return np.asarray(np.rint(released).astype(np.int64).astype(object), dtype=object)

    def _claim(self, name: str) -> Fraction:
        return as_fraction(self.certificate(simulated=False).document["claim"][name], name)


def usable() -> list[str]:
    """The names of registered mechanisms that add noise to numbers for a sensitivity."""
    return [entry.name for entry in entries() if _adds(entry)]


def calibrate(
    name: str,
    *,
    epsilon: Fraction,
    l1: int,
    largest: int,
    changed: int,
    delta: Fraction | None = None,
    floor: int | None = None,
    within: tuple[int, int] | None = None,
) -> Noise:
    """The noise of a mechanism by its name. ``floor``: no entry is below it; ``within``: nor outside of this. Both public."""
    if name not in registry or not _adds(registry[name]):
        raise ParameterError(
            f"an answer cannot be protected by {name!r}; choose one of {', '.join(usable())}, or leave the mechanism out."
        )
    takes = registry[name].takes
    if takes.delta and delta is None:
        raise ParameterError(f"{name} needs a delta above 0, for example delta = 1e-9.")
    if not takes.delta and delta:
        raise ParameterError(f"{name} has no delta; leave delta out, or choose gaussian or approximate-laplace.")
    if not takes.lattice:  # integers as they are
        return _checked(Noise(_build(name, epsilon=epsilon, sensitivity=l1)), epsilon, delta)
    more: dict[str, Any] = {"lattice": 1}
    if takes.bounded and takes.scope:
        return _checked(_bounded(name, epsilon, l1, changed, floor, within), epsilon, delta)
    if takes.scope and changed > 1:
        return _checked(Noise(_build(name, epsilon=epsilon, sensitivity=l1, scope="metric", **more)), epsilon, delta)
    if delta is not None:
        more["delta"] = delta / changed
    made = _build(name, epsilon=epsilon / changed, sensitivity=largest, **more)
    return _checked(Noise(made, changed), epsilon, delta)


def _bounded(
    name: str, epsilon: Fraction, l1: int, changed: int, floor: int | None, within: tuple[int, int] | None
) -> Noise:
    """Noise that stays where the answer can be."""
    where: tuple[int | None, int | None] = within if within is not None else (floor, None)
    scope, free = "adjacent" if changed == 1 else "metric", where == (None, None)
    more: dict[str, Any] = {} if free else {"within": where, "outside": "clamp"}
    if free or where[1] is not None or scope == "adjacent":
        more["lattice"] = 1  # on a half line, noise for the metric chooses its own lattice
    return Noise(_build(name, epsilon=epsilon, sensitivity=l1, scope=scope, **more), where=where)


def _checked(noise: Noise, epsilon: Fraction, delta: Fraction | None) -> Noise:
    """Never more than was requested, whatever a constructor did."""
    if noise.price > epsilon or noise.delta > (delta or 0):
        raise ParameterError(
            f"{noise.mechanism.name} costs more than the epsilon and delta of this answer; choose another."
        )
    return noise


def _build(name: str, **parameters: Any) -> Mechanism:
    return registry[name].make(**parameters)


def _adds(entry: Entry) -> bool:
    """Return whether a mechanism adds noise to a number for a sensitivity, and needs no other argument."""
    takes, known = entry.takes, {"epsilon", "delta", "sensitivity"}
    if takes.purpose != "column" or takes.budget != "sensitivity" or takes.kind not in ("integer", "number"):
        return False
    return {p.name for p in parameters_of(entry.make).values() if p.default is p.empty} <= known
