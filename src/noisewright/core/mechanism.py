"""The mechanism protocol: what every mechanism offers, whatever its domain.

A mechanism is a channel that has a guarantee and can be sampled. A third party's mechanism is one as soon as it has
these members; :func:`noisewright.testing.check_mechanism` tests whether it keeps their guarantee.

Its optional members are in :class:`Described`, and are read with :func:`described`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, runtime_checkable

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import NoChannelError, ParameterError
from noisewright.core.guarantee import Guarantee

if TYPE_CHECKING:
    from noisewright.core.channels.audit import Audit
    from noisewright.core.resource import Resource
    from noisewright.core.seed import Seed

__all__ = [
    "BaseMechanism",
    "Described",
    "Mechanism",
    "Takes",
    "as_mechanism",
    "certificate_once",
    "described",
    "fields_alone",
]


@dataclass(frozen=True)
class Takes:
    """Input and output of a mechanism, and the way a budget reaches its constructor. Declared, never guessed."""

    kind: str
    """Type of a secret: the type of a column ("integer", "number", "vector", "image", "document", ...), "category" for
    a value of any listed set, or "place" for the coordinates of a point.
    """
    gives: str | None = None
    """The kind of an output; None: the same."""
    parts: int | None = 1
    """Number of columns that hold one secret; None: one for each coordinate, or for each part of a listed secret."""
    form: Literal["numpy", "arrow"] = "numpy"
    """Input of ``release``: a NumPy array, or an Arrow array (a struct for several columns)."""
    budget: Literal["unit", "sensitivity", "radius", "none"] = "unit"
    """Meaning of epsilon: for each unit of the metric; for a ``sensitivity``; within a ``radius``; not at all."""
    purpose: Literal["column", "report", "choice"] = "column"
    """Purpose of an output: a value for each secret; a report that only a population can be read from; a choice among
    candidates.
    """
    secrets: Literal["categories", "points"] | None = None
    """The parameter that lists the secrets; None: they are not listed."""
    within: bool = False
    """Whether the range of the secrets is declared by ``within``."""
    metric: bool = False
    """Whether the metric is a parameter."""
    lattice: bool = False
    """Whether the step of the lattice is a parameter: integers then stay whole on a step of 1."""
    delta: bool = False
    """Whether a delta is a parameter."""
    scope: bool = False
    """Whether the scope of the guarantee is a parameter: for every distance of the metric, or between neighbours."""
    bounded: bool = False
    """Whether noise stays within ``within`` by its law, also where that has one end only, and not by moving it there."""
    unit: str = ""
    """Unit of distances between secrets, in the singular, where it differs from the unit of the secrets themselves."""
    dimension: bool = False
    """Whether the number of coordinates is a parameter: a policy counts them where it does not say."""
    claims: bool = True
    """Whether there is an epsilon at all. Where not, the guarantee is context-aware: there is no certificate, nothing is
    charged, and the columns count as not protected."""

    @property
    def points(self) -> bool:
        """Return whether a secret is a point of a space, given by its coordinates."""
        return self.kind in ("place", "vector")

    @property
    def priced(self) -> bool:
        """Return whether an epsilon is required; a mechanism that ignores its input has none."""
        return self.budget != "none"


@runtime_checkable
class Mechanism(Protocol):
    """Randomised map from secrets to outputs with a guarantee.

    A class that has these members is a mechanism; :class:`BaseMechanism` has some of them by default.
    """

    @property
    def name(self) -> str:
        """The name in the registry."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee."""

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """Sample an output for each value; a scalar gives a scalar, an array an array of the same shape.

        Without ``rng`` the bits are cryptographic. A numpy generator makes a simulation that can be repeated, and must
        not be used for a real release.
        """

    def map(self, distance: float) -> float:
        """Return the largest log-ratio of output probabilities for two secrets at this distance, rounded up.

        With a delta it holds up to the extra probability that ``guarantee.delta_at`` has for that distance. The distance is
        between the secrets themselves, in the unit of the guarantee's metric. Where that metric is about points that secrets
        are rounded to, this counts rounding in, and ``guarantee.bound`` takes the distance after it.
        """

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """Return the claim and its proof; with an ``rng`` it states that such draws are not for release."""

    def error(self, loss: str = "absolute") -> float:
        """Return the expected loss of an output taken at face value, for the secret where it is largest.

        :class:`~noisewright.core.errors.NoLossError` where the mechanism has no such loss.
        """

    def channel(self) -> Channel:
        """Return the channel, where secrets and outputs are finite.

        Otherwise :class:`~noisewright.core.errors.NoChannelError`.
        """


class BaseMechanism:
    """Base class of mechanisms, with defaults for what most of them share.

    A subclass defines ``name``, ``guarantee``, ``release``, ``certificate`` and ``error``; ``channel`` too, if its secrets and
    outputs are finite.
    """

    no_channel = "secrets or outputs are not finitely many; there is no channel."
    """Message of the error that :meth:`channel` raises."""

    if TYPE_CHECKING:  # a dataclass would take a property of its base for the default of a field

        @property
        def guarantee(self) -> Guarantee:
            """The guarantee."""

    def map(self, distance: float) -> float:
        """Return the largest log-ratio of output probabilities for two secrets at this distance, rounded up.

        With a delta it holds up to the extra probability that ``guarantee.delta_at`` has for that distance.
        """
        return self.guarantee.bound(distance)

    def channel(self) -> Channel:
        """Raise an error that gives the reason why there is no channel, unless a subclass has one."""
        raise NoChannelError(self.no_channel)


class Described(Protocol):
    """Optional members of a mechanism that describe it; :func:`described` gives None for members that it lacks."""

    @property
    def check(self) -> Callable[[Any], None] | None:
        """``check(values)`` draws nothing and refuses what ``release`` would refuse.

        Without it, a table is checked by draws that are thrown away.
        """

    @property
    def audit(self) -> Callable[[], Audit] | None:
        """``audit()``: the smallest epsilon that the mechanism really has.

        ``noisewright.audit`` uses it where there is no channel, or one too large to compare all pairs of rows.
        """

    @property
    def below(self) -> Callable[[Any, Any], Floats] | None:
        """``below(values, places)``: the chance that the output for a value (a row) is below a place (a column).

        It is about the numbers that ``release`` draws, rounding and clamping included, for a mechanism of single numbers.
        """

    @property
    def in_words(self) -> Callable[[], str] | None:
        """``in_words()``: the guarantee in plain words, where the words of the guarantee are not enough."""

    @property
    def reading(self) -> Callable[[], str] | None:
        """``reading()``: how far outputs are from the secret, where that is more informative than their mean distance;
        else empty.
        """

    @property
    def scale(self) -> Any:
        """The scale of the noise, a number."""

    @property
    def noise_error(self) -> float | None:
        """The mean size of noise that does not depend on the secret it is added to, in steps of the lattice.

        Sums and counts of any size can be protected by a mechanism that has one; None where ends bound the output.
        """

    @property
    def dimension(self) -> int | None:
        """Number of coordinates of one secret, for a mechanism that takes vectors, or images of one size."""

    @property
    def reason(self) -> str | None:
        """Reason for the scale, in half a sentence."""

    @property
    def resources(self) -> tuple[Resource, ...] | None:
        """The public files that it needs; its certificate states them, and engines carry them to where it draws."""

    @property
    def seed(self) -> Seed | None:
        """The public seed that its public choices are drawn from; its certificate states it."""


OPTIONAL = tuple(name for name, member in vars(Described).items() if isinstance(member, property))


class _Description:
    """A mechanism's optional members, looked up on access."""

    def __init__(self, mechanism: object) -> None:
        self._mechanism = mechanism

    def __getattr__(self, name: str) -> Any:
        if name not in OPTIONAL:
            raise AttributeError(f"{name!r} is no optional member of a mechanism")
        return getattr(self._mechanism, name, None)


def described(mechanism: Mechanism) -> Described:
    """The optional members of a mechanism; None for each that it does not have.

    >>> from noisewright.mechanisms.numbers.geometric import geometric
    >>> float(described(geometric(epsilon=2)).scale), described(geometric(epsilon=2)).resources
    (0.5, None)
    """
    return cast(Described, _Description(mechanism))


def as_mechanism(thing: object, what: str) -> Mechanism:
    """The mechanism itself; anything else is refused in a sentence in which ``what`` says who needs one."""
    if isinstance(thing, type) or not callable(getattr(thing, "release", None)):
        given = f"the class {thing.__name__}" if isinstance(thing, type) else type(thing).__name__
        raise ParameterError(f"{what} needs a mechanism such as geometric(epsilon=1), not {given}.")
    return thing  # type: ignore[return-value]


_kept: dict[int, tuple[weakref.ref[Mechanism], dict[bool, Certificate]]] = {}
"""Cache by the identity of a mechanism, which is unique while the reference leads to it."""


def certificate_once(mechanism: Mechanism, simulated: bool = False) -> Certificate:
    """``mechanism.certificate()``, made at the first call; ``simulated`` asks for the one of draws that are not for release.

    A plan requests a certificate to compute the privacy cost of a part, to state its delta, to see whether it is exact,
    and to bundle it, and a large table takes long to write out and to hash. Mechanisms never change, so the first
    answer is kept while the mechanism lives.
    """
    place = id(mechanism)
    alive, made = _kept.get(place, (None, {}))
    if alive is None or alive() is not mechanism:
        try:
            alive, made = weakref.ref(mechanism, lambda _: _kept.pop(place, None)), {}
        except TypeError:  # a class with slots, and none for references
            return _certificate(mechanism, simulated)
        _kept[place] = alive, made
    if simulated not in made:
        made[simulated] = _certificate(mechanism, simulated)
    return made[simulated]


def _certificate(mechanism: Mechanism, simulated: bool) -> Certificate:
    return mechanism.certificate(np.random.default_rng(0)) if simulated else mechanism.certificate()


def fields_alone(made: Any) -> dict[str, Any]:
    """Return the fields of a dataclass for pickling, without cached values.

    A class says ``__getstate__ = fields_alone``; the rest is made again where it is used.
    """
    return {field.name: getattr(made, field.name) for field in fields(made)}
