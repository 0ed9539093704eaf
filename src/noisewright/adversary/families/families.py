r"""Families of mechanisms with one parameter, so that their members can be compared exactly.

Members of the families **geometric**, **response**, **exponential** and **over-truncated** are given by their ``epsilon`` or by
``decay = e^(-epsilon)``; what their probabilities are, :mod:`~noisewright.adversary.families.member` says. A family of your
own is a
function from epsilon to a channel.

The epsilon of the response family is for the discrete metric, the epsilon of the others per unit of the line.

>>> member = geometric_family.member(decay="1/2", size=3)
>>> [[str(p) for p in row] for row in member.rows()]
[['2/3', '1/6', '1/6'], ['1/3', '1/3', '1/3'], ['1/6', '1/6', '2/3']]
>>> print(exponential_family.member(epsilon=1, size=5))
exponential(epsilon=1 per unit of line, size=5)
>>> print(exponential_family.member(weight="1/2", size=3))  # the textbook would say epsilon = ln 4 = 1.38630
exponential(epsilon=0.826679 per unit of line, size=3)

Reference: Ghosh, Roughgarden and Sundararajan (2009); Warner (1965); McSherry and Talwar (2007).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from noisewright.adversary.families.decay import Decay
from noisewright.adversary.families.member import EXPONENTIAL, GEOMETRIC, OVER_TRUNCATED, RESPONSE, Member, as_exact
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ChannelError, ParameterError
from noisewright.core.exact import Exact, as_fraction
from noisewright.mechanisms.categories.response import ResponseMechanism
from noisewright.mechanisms.numbers.geometric import GeometricMechanism

__all__ = [
    "FAMILIES",
    "Family",
    "as_family",
    "as_member",
    "exponential_family",
    "from_callable",
    "geometric_family",
    "over_truncated_family",
    "response_family",
]

LARGEST_SIZE = 2_000
"""Secrets of one member: its channel is a dense matrix."""


class Family(Protocol):
    """Mechanisms that differ in epsilon alone."""

    @property
    def name(self) -> str:
        """Name of the family in tables."""

    def member(
        self,
        *,
        epsilon: Exact | None = None,
        decay: Exact | None = None,
        size: int | None = None,
        secrets: tuple[Hashable, ...] | None = None,
    ) -> Member:
        """The member with that epsilon (or ``decay = e^(-epsilon)``) on ``size`` secrets, which may be named."""


@dataclass(frozen=True)
class _Shape:
    """A built-in family."""

    name: str
    within: tuple[int, int] | None = None

    def member(
        self,
        *,
        epsilon: Exact | None = None,
        decay: Exact | None = None,
        size: int | None = None,
        secrets: tuple[Hashable, ...] | None = None,
        weight: Exact | None = None,
    ) -> Member:
        """The member with that epsilon, or ``decay = e^(-epsilon)``; an exponential one also by its ``weight = b``."""
        names = tuple(range(_size(size))) if secrets is None else _names(secrets)
        if size is not None and len(names) != size:
            raise ParameterError(f"{len(names)} secrets were named for size = {size}.")
        _size(len(names))
        if weight is None:
            return Member(self.name, Decay.of(epsilon=epsilon, decay=decay), len(names), names, None, self.within)
        if self.name != EXPONENTIAL or epsilon is not None or decay is not None:
            raise ParameterError("weight is for the exponential family, in place of epsilon and decay.")
        base = as_fraction(weight, "weight")
        if not 0 < base <= 1:
            raise ParameterError("weight is the ratio of neighbouring weights: it must be above 0 and at most 1.")
        member = Member(self.name, Decay(base, None), len(names), names, Decay(base, None))
        true = base * as_exact(member.row_sum(base, 0)) / as_exact(member.row_sum(base, 1))
        return replace(member, decay=Decay(true, None))


@dataclass(frozen=True)
class _Made:
    """A user's family: a function from epsilon to a channel."""

    name: str
    function: Callable[[float], Channel]

    def member(
        self,
        *,
        epsilon: Exact | None = None,
        decay: Exact | None = None,
        size: int | None = None,
        secrets: tuple[Hashable, ...] | None = None,
    ) -> Member:
        """The member that the function gives for this epsilon."""
        given = Decay.of(epsilon=epsilon, decay=decay)
        channel = self.function(given.epsilon_down())
        if not isinstance(channel, Channel):
            raise ChannelError(
                f"the family {self.name!r} must give a Channel for every epsilon, not {type(channel).__name__}."
            )
        if (size is not None and size != len(channel.inputs)) or (secrets is not None and secrets != channel.inputs):
            raise ChannelError(f"the family {self.name!r} gave a channel over other secrets than those asked for.")
        return Member(self.name, given, len(channel.inputs), channel.inputs, made=channel)


geometric_family = _Shape(GEOMETRIC)
"""Truncated geometric noise; epsilon per unit of the line."""
response_family = _Shape(RESPONSE)
"""Randomised response; epsilon for the discrete metric (and so also per unit of the line)."""
exponential_family = _Shape(EXPONENTIAL)
"""The exponential mechanism by its true epsilon per unit of the line."""

FAMILIES: dict[str, Family] = {shape.name: shape for shape in (geometric_family, response_family, exponential_family)}
"""The families that can be named, for instance at the command line."""


def over_truncated_family(low: int, high: int) -> Family:
    """Geometric noise on the secrets ``0 .. n-1``, clamped to the outputs ``low .. high``.

    >>> member = over_truncated_family(0, 1).member(decay="1/4", size=3)
    >>> [str(p) for p in member.rows()[2]]
    ['1/20', '19/20']
    """
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, (int, np.integer)):
            raise ParameterError("the outputs of an over-truncated family go from one whole number to another.")
    if low > high or high - low >= LARGEST_SIZE:
        raise ParameterError(f"outputs must go from a low to a high number, over {LARGEST_SIZE} at most.")
    return _Shape(OVER_TRUNCATED, (int(low), int(high)))


def from_callable(name: str, function: Callable[[float], Channel]) -> Family:
    """A user's family: ``function(epsilon)`` is its channel. A smaller epsilon must be at least as safe.

    >>> import math
    >>> noisy = from_callable("coin", lambda e: Channel([[1, math.exp(-e)], [math.exp(-e), 1]], normalise=True))
    >>> noisy.member(epsilon=1).channel().shape
    (2, 2)
    """
    if not callable(function):
        raise ParameterError("a family is made from a function of epsilon that returns a Channel.")
    return _Made(str(name), function)


def as_family(family: object) -> Family:
    """A family, or the one of that name: ``geometric``, ``response`` or ``exponential``."""
    if isinstance(family, str):
        if family.strip() in FAMILIES:
            return FAMILIES[family.strip()]
        raise ParameterError(f"there is no family called {family.strip()[:40]!r}; choose one of {', '.join(FAMILIES)}.")
    if isinstance(family, type) or not callable(getattr(family, "member", None)):
        raise ParameterError(
            f"a family is needed, such as 'geometric' or from_callable(...), not {type(family).__name__}."
        )
    return family  # type: ignore[return-value]


def as_member(thing: Any) -> Member | None:
    """The member that a mechanism is, in the very numbers it draws from; None where it is of no family.

    >>> from noisewright.mechanisms.numbers.geometric import geometric
    >>> print(as_member(geometric(epsilon=1, within=(0, 4))))
    geometric(epsilon=1 per unit of line, size=5)
    """
    if isinstance(thing, Member):
        return thing
    if isinstance(thing, GeometricMechanism) and thing.within is not None and thing.outside != "keep":
        low, high = thing.within
        rate = 1 / thing.scale
        if 2 <= high - low + 1 <= LARGEST_SIZE and rate <= 10_000:
            return geometric_family.member(epsilon=rate, secrets=tuple(range(low, high + 1)))
    if isinstance(thing, ResponseMechanism) and len(thing.categories) <= LARGEST_SIZE:
        return response_family.member(decay=Fraction(thing.other, thing.keep), secrets=thing.categories)
    return None


def _names(secrets: object) -> tuple[Hashable, ...]:
    """Different names of secrets; text is one name and not several."""
    try:
        found = () if isinstance(secrets, (str, bytes)) else tuple(secrets)  # type: ignore[arg-type]
        different = len(set(found)) == len(found) >= 1
    except TypeError:
        different = False
    if not different:
        raise ParameterError("secrets are a list of different names, such as ('low', 'middle', 'high').")
    return found


def _size(size: object) -> int:
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not 2 <= size <= LARGEST_SIZE:
        raise ParameterError(f"size is the number of secrets, from 2 to {LARGEST_SIZE}.")
    return int(size)
