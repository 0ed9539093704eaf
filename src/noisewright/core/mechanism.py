"""The mechanism protocol: what every mechanism offers, whatever its domain.

A mechanism is a channel that knows its guarantee and can be drawn from. A third party's mechanism is one as soon as it has
these members; :func:`noisewright.testing.check_mechanism` tells whether it keeps what they promise.

Three more are optional. ``audit()`` returns an :class:`~noisewright.core.channels.audit.Audit` of the smallest epsilon that
the mechanism
really has; ``noisewright.audit`` uses it where there is no channel, or one too large to compare all pairs of rows.
``check(values)`` draws nothing and refuses what ``release`` would refuse; without it, a table is checked by draws that are
thrown away. A mechanism whose outputs are secrets plus noise that does not depend on them says the mean size of that noise, in
steps of its lattice, as ``noise_error``; sums and counts of any size can then be protected by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.guarantee import Guarantee

__all__ = ["Mechanism", "Takes", "as_mechanism"]


@dataclass(frozen=True)
class Takes:
    """What a mechanism is given, what it gives, and how a budget reaches its constructor. Declared, never guessed."""

    kind: str
    """The kind of a secret: that of a column ("integer", "number", "vector", "image", "document", ...), "category" for a value of
    any listed set, or "place" for the coordinates of a point."""
    gives: str | None = None
    """The kind of an output; None: the same."""
    parts: int | None = 1
    """How many columns hold one secret; None: as many as it has coordinates, or as a listed secret has parts."""
    form: Literal["numpy", "arrow"] = "numpy"
    """What ``release`` is given: a NumPy array, or an Arrow array (a struct for several columns)."""
    budget: Literal["unit", "sensitivity", "level", "none"] = "unit"
    """How epsilon is told: for each unit of the metric; for a ``sensitivity``; as a ``level`` within a ``radius``; not at all."""
    purpose: Literal["column", "report", "choice"] = "column"
    """What an output is: a value for each secret; a report that only a population can be read from; a choice among candidates."""
    secrets: Literal["categories", "points"] | None = None
    """The parameter that lists the secrets; None: they are not listed."""
    within: bool = False
    """Whether the range of the secrets is declared by ``within``."""
    metric: bool = False
    """Whether the metric is a parameter."""
    lattice: bool = False
    """Whether the step of the lattice is a parameter: whole numbers then stay whole on a step of 1."""
    delta: bool = False
    """Whether a delta is a parameter."""
    unit: str = ""
    """The unit of distances between secrets, in the singular, where it is not that of the secrets themselves."""
    dimension: bool = False
    """Whether the number of coordinates is a parameter: a policy counts them where it does not say."""

    @property
    def points(self) -> bool:
        """Whether a secret is a point of a space, given by its coordinates."""
        return self.kind in ("place", "vector")

    @property
    def priced(self) -> bool:
        """Whether an epsilon is asked for; a mechanism that ignores its input has none."""
        return self.budget != "none"


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
