r"""Snapping: noise first, then the nearest valid output. Private whatever the valid set looks like.

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
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.checker.checker import digest
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import NoChannelError, NoLossError, ParameterError
from noisewright.core.exact import Exact, float_down, float_up
from noisewright.core.guarantee import Guarantee
from noisewright.core.loading.guided import guided
from noisewright.core.loading.parameters import EPSILON, LATTICE, OUTSIDE, SCOPE, SENSITIVITY, WITHIN
from noisewright.core.mechanism import Mechanism, Takes, as_mechanism
from noisewright.mechanisms.foreign_columns import in_kind
from noisewright.mechanisms.laws.additive import LaplaceLaw
from noisewright.mechanisms.laws.feasible import Feasible
from noisewright.mechanisms.losses import expected_loss
from noisewright.mechanisms.numbers.additive import (
    AdditiveMechanism,
    Within,
    additive,
    additive_of,
    check_scope,
    checked,
    choose_lattice,
)
from noisewright.mechanisms.registry import Entry
from noisewright.noise.lattice import Lattice

__all__ = ["SnappedMechanism", "snapped", "snapped_laplace", "unsnapped"]


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

    >>> from noisewright.mechanisms.numbers.geometric import geometric
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


ENTRY = Entry(
    "snapped-laplace",
    snapped_laplace,
    Takes("number", budget="sensitivity", within=True, lattice=True, scope=True),
    summary="Laplace noise, then the nearest valid number",
    words="numbers",
    rebuild=partial(additive_of, LaplaceLaw.of),
)
