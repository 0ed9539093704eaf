"""The mechanism protocol: what every mechanism offers, whatever its domain.

A mechanism is a channel that knows its guarantee and can be drawn from. A third party's mechanism is one as soon as it has
these members; :func:`noisewright.testing.check_mechanism` tells whether it keeps what they promise.

Two more are optional. ``audit()`` returns an :class:`~noisewright.core.channels.audit.Audit` of the smallest epsilon that
the mechanism
really has; ``noisewright.audit`` uses it where there is no channel, or one too large to compare all pairs of rows.
``check(values)`` draws nothing and refuses what ``release`` would refuse; without it, a table is checked by draws that are
thrown away.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.guarantee import Guarantee

__all__ = ["Mechanism", "as_mechanism"]


@runtime_checkable
class Mechanism(Protocol):
    """A randomised map from secrets to outputs with a guarantee."""

    @property
    def name(self) -> str:
        """The name in the registry."""

    @property
    def guarantee(self) -> Guarantee:
        """What is promised."""

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One draw for every value; a scalar gives a scalar, an array an array of the same shape.

        Without ``rng`` the bits are cryptographic. A numpy generator makes a simulation that can be repeated, and must
        not be used for a real release.
        """

    def map(self, distance: float) -> float:
        """The largest log-ratio of output probabilities for two secrets at this distance, rounded up.

        With a delta it holds up to the extra probability that ``guarantee.delta_at`` has for that distance. The distance is
        that of the secrets themselves, in the unit of the guarantee's metric. Where that metric is about points that secrets
        are rounded to, this counts rounding in, and ``guarantee.bound`` takes the distance after it.
        """

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The claim and its proof; with an ``rng`` it says that such draws are not for release."""

    def error(self, loss: str = "absolute") -> float:
        """The expected loss of an output taken at face value, for the secret where that is largest."""

    def channel(self) -> Channel:
        """The channel, where secrets and outputs are finite."""


def as_mechanism(thing: object, what: str) -> Mechanism:
    """The mechanism itself; anything else is refused in a sentence in which ``what`` says who needs one."""
    if isinstance(thing, type) or not callable(getattr(thing, "release", None)):
        given = f"the class {thing.__name__}" if isinstance(thing, type) else type(thing).__name__
        raise ParameterError(f"{what} needs a mechanism such as geometric(epsilon=1), not {given}.")
    return thing  # type: ignore[return-value]
