"""The one number that makes a member of a family: ``a = e^(-epsilon)``, known exactly or to any requested number of
bits.

A decay is given as a fraction (``1/2`` is ``epsilon = ln 2``) or by a rational epsilon. Two of them are compared without
rounding: ``e^(-epsilon)`` for a rational ``epsilon > 0`` is never a fraction (Hermite and Lindemann), so bounds decide.

>>> half, one = Decay.of(decay="1/2"), Decay.of(epsilon=1)
>>> half.compare(one), half.epsilon_up() >= 0.6931471805599453
(1, True)
>>> Decay.of(epsilon="0.1").compare(Decay.of(epsilon=0.1))  # the float 0.1 is a little above one tenth
1

``e^(-epsilon) = b s_0/s_1``, where ``s_0 = 1 + b + .. + b^(n-1)`` and ``s_1 = s_0 + b - b^(n-1)``; each epsilon has one ``b``.

>>> from noisewright.qif.refinement.families import Decay
>>> low, high = exponential_weight(Decay.of(decay="7/16"), 3, 100).ends()  # it is 1/2
>>> bool(low < Fraction(1, 2) < high), bool(high - low < Fraction(1, 2**90))
(True, True)

On the secrets ``0 .. n-1``, with ``a = e^(-epsilon)``:

* **geometric** (truncated): ``c_y a^|x-y|``, where ``c_y`` is ``1/(1+a)`` at the two ends and ``(1-a)/(1+a)`` between them;
* **response** (randomised response): ``1/(1+(n-1)a)`` for the truth, ``a`` times that for every other answer;
* **exponential**: ``b^|x-y| / s_x`` with ``s_x`` the sum of row ``x``. Its epsilon is the *true* one, the epsilon of
  the neighbours at an end: ``e^(-epsilon) = b s_0/s_1``. The sums ``s_x`` are concave in ``x``, so no other neighbours
  are farther apart, and ``1/b + (1 - b^(n-2))/s_0`` falls in ``b``, so each epsilon has one ``b``;
* **over-truncated**: geometric noise clamped to a range of outputs that need not hold the secrets.

The probabilities are fractions where ``a`` (for an exponential, ``b``) is one, and lie between two fractions otherwise.

>>> member = Member("geometric", Decay.of(decay="1/2"), 3, (0, 1, 2))
>>> [[str(p) for p in row] for row in member.rows()]
[['2/3', '1/6', '1/6'], ['1/3', '1/3', '1/3'], ['1/6', '1/6', '2/3']]
>>> low, high = Member("geometric", Decay.of(epsilon=1), 3, (0, 1, 2)).bounds(64)
>>> 0 < high[0][0] - low[0][0] < 2**-60, round(float(low[0][0]), 6)  # 1/(1 + 1/e)
(True, 0.731059)

Members of the families **geometric**, **response**, **exponential** and **over-truncated** are given by their ``epsilon`` or
by
``decay = e^(-epsilon)``; what their probabilities are, :mod:`~noisewright.qif.refinement.families` says. A family of your
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

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from noisewright._typing import Floats
from noisewright.channels.channel import Channel
from noisewright.claims.figures import float_down, float_up, upward
from noisewright.claims.readings import per_unit
from noisewright.exceptions import ChannelError, ParameterError
from noisewright.mechanisms.categorical.randomised_response import ResponseMechanism
from noisewright.mechanisms.numeric.geometric import GeometricMechanism
from noisewright.metrics.base import Discrete, Line, Metric
from noisewright.numerics.exact import Enclosure, Exact, Number, as_fraction, ends_of, log_bounds
from noisewright.numerics.linear_algebra import Rows

__all__ = [
    "EXPONENTIAL",
    "FAMILIES",
    "GEOMETRIC",
    "LARGEST_EPSILON",
    "OVER_TRUNCATED",
    "RESPONSE",
    "Decay",
    "Family",
    "Member",
    "as_exact",
    "as_family",
    "as_member",
    "exponential_family",
    "exponential_weight",
    "from_callable",
    "geometric_family",
    "over_truncated_family",
    "response_family",
]


LARGEST_EPSILON = 10_000
"""Beyond this nothing is hidden, and the probabilities have thousands of digits."""
SMALLEST_EPSILON = Fraction(1, 10**100)
"""Below this, and greater than 0, no feasible number of outputs reveals anything."""


@dataclass(frozen=True)
class Decay:
    """A number greater than 0 and at most 1: ``exact``, or ``e**-rate`` for a fraction ``rate``; one of the two is
    None.
    """

    exact: Fraction | None
    rate: Fraction | None

    @classmethod
    def of(cls, *, epsilon: Exact | None = None, decay: Exact | None = None) -> Decay:
        """The decay of an epsilon of 0 or more, or a fraction greater than 0 and at most 1; give one of the two."""
        if (epsilon is None) == (decay is None):
            raise ParameterError(
                "a member of a family needs either epsilon or decay (e to the minus epsilon), not both."
            )
        if decay is not None:
            value = as_fraction(decay, "decay")
            if not 0 < value <= 1:
                raise ParameterError("decay is e to the minus epsilon: it must be above 0 and at most 1.")
            if value < Fraction(1, 10**4000) or 1 - SMALLEST_EPSILON < value < 1:
                raise ParameterError(f"decay is too near to 0 or 1; epsilon is 0, or from 1e-100 to {LARGEST_EPSILON}.")
            return cls(value, None)
        rate = as_fraction(epsilon, "epsilon")
        if rate != 0 and not SMALLEST_EPSILON <= rate <= LARGEST_EPSILON:
            raise ParameterError(f"epsilon must be 0, or between 1e-100 and {LARGEST_EPSILON}, to compare families.")
        return cls(Fraction(1), None) if rate == 0 else cls(None, rate)

    def number(self, bits: int) -> Number:
        """The decay itself where it is a fraction, otherwise an enclosure; it and one minus it have at least the given
        number of significant bits.
        """
        if self.exact is not None:
            return self.exact
        assert self.rate is not None
        return Enclosure.of_exp(-self.rate, bits + self.fine)

    @property
    def fine(self) -> int:
        """Number of bits that one minus the decay needs beyond the decay: the bits of ``1/epsilon``."""
        return math.ceil(1 / Fraction(-self.log)).bit_length() if self.log else 0

    @property
    def log(self) -> float:
        """The logarithm ``-epsilon`` as the nearest float, or a neighbouring float."""
        if self.rate is not None:
            return -float(self.rate)
        low, high = self._epsilon_ends()
        return -float((low + high) / 2)

    def epsilon_up(self) -> float:
        """The epsilon, rounded up."""
        return float_up(self._epsilon_ends()[1])

    def epsilon_down(self) -> float:
        """The epsilon, rounded down."""
        return max(0.0, float_down(self._epsilon_ends()[0]))

    def compare(self, other: Decay) -> int:
        """-1, 0 or 1 as this decay is below, equal to or above the other, that is: more, equally or less revealing."""
        if self.exact is not None and other.exact is not None:
            return (self.exact > other.exact) - (self.exact < other.exact)
        if self.rate is not None and other.rate is not None:
            return (self.rate < other.rate) - (self.rate > other.rate)
        bits = 64
        while True:  # a fraction and a power of e are different numbers, so enough bits distinguish them
            sign = (Enclosure.of_fraction(0, bits) + self.number(bits) - other.number(bits)).sign()
            if sign is not None:
                return sign
            bits *= 2

    def _epsilon_ends(self) -> tuple[Fraction, Fraction]:
        if self.rate is not None:
            return self.rate, self.rate
        assert self.exact is not None
        if self.exact == 1:
            return Fraction(0), Fraction(0)
        fine = 1 / (1 - self.exact)  # an epsilon near 0 keeps its leading digits
        bits = 128 + math.ceil(fine).bit_length()
        low, high = log_bounds(1 / self.exact, bits)
        return Fraction(low, 1 << bits), Fraction(high, 1 << bits)


# Exponential --------------------------------------------------------------------------------------------------------------
#
# The ``b`` of the exponential mechanism on ``0 .. n-1`` that has a given true epsilon, enclosed as tightly as asked for.


@lru_cache(maxsize=256)
def exponential_weight(decay: Decay, size: int, bits: int) -> Number:
    """The ``b`` of the exponential mechanism with this true decay, enclosed and checked at both ends.

    ``h(b) = 1/b + (1 - b^(n-2))/s_0 - 1/a`` falls in ``b`` and is zero at the answer. Steps with a slope of float accuracy add
    about fifty bits each; the two ends are then moved apart until ``h`` is above zero at one and below zero at the other.
    """
    if decay.exact == 1:
        return Fraction(1)
    bits += decay.fine  # so that one minus the answer has as many
    work = bits + 32
    target = 1 / _enclosed(decay.number(work), work)

    def excess(b: Fraction) -> Enclosure:
        point = Enclosure.of_fraction(b, work)
        total = (1 - point**size) / (1 - point)
        return 1 / point + (1 - point ** (size - 2)) / total - target

    low_log, high_log = decay.log, decay.log / 2  # t/2 <= epsilon <= t
    for _ in range(60):
        middle = (low_log + high_log) / 2
        total = math.expm1(size * middle) / math.expm1(middle)
        more = -math.exp(middle) * math.expm1((size - 2) * middle) / total
        if math.log1p(more) - middle > -decay.log:
            low_log = middle
        else:
            high_log = middle
    b = _rounded_exp(low_log, work)
    step = min(b, 1 - b) / 2**24
    ends = [excess(b - step).ends()[0], excess(b + step).ends()[1]]
    slope = (ends[1] - ends[0]) / (2 * step)
    for _ in range(2 + work // 20):
        low, high = excess(b).ends()
        before, b = b, Enclosure.of_fraction(b - (low + high) / 2 / slope, work).ends()[0]
        if abs(b - before) * 2**work < b:
            break
    width = b / 2**bits
    while excess(b - width).sign() != 1 or excess(b + width).sign() != -1:
        width *= 4
    left, right = Enclosure.of_fraction(b - width, work), Enclosure.of_fraction(b + width, work)
    scale = min(left.scale, right.scale)
    return Enclosure(left.low << (left.scale - scale), right.high << (right.scale - scale), scale, bits)


def _rounded_exp(exponent: float, bits: int) -> Fraction:
    low, high = Enclosure.of_exp(Fraction(exponent), bits).ends()
    return (low + high) / 2


def _enclosed(number: Number, bits: int) -> Enclosure:
    return number if isinstance(number, Enclosure) else Enclosure.of_fraction(number, bits)


# Member -------------------------------------------------------------------------------------------------------------------
#
# One member of a family of mechanisms: its probabilities as fractions, as enclosures and as floats.


LARGEST_EXACT = 250_000
"""Entries of a member that is made into fractions as a whole."""
GEOMETRIC, RESPONSE, EXPONENTIAL, OVER_TRUNCATED = "geometric", "response", "exponential", "over-truncated"


@dataclass(frozen=True)
class Member:
    """One mechanism of a family; :meth:`Family.member` makes it.

    ``decay`` is ``e^(-epsilon)`` for its true epsilon. ``weight`` is the ``b`` of the exponential family where it was given
    as a fraction, ``within`` the outputs of the over-truncated one, ``made`` the channel of a user's family.
    """

    family: str
    decay: Decay
    size: int
    secrets: tuple[Hashable, ...]
    weight: Decay | None = None
    within: tuple[int, int] | None = None
    made: Channel | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Name of the member: its family, epsilon and size."""
        return str(self)

    @property
    def epsilon(self) -> float:
        """The true epsilon for :attr:`metric`, rounded up."""
        return self.decay.epsilon_up()

    @property
    def metric(self) -> Metric | None:
        """The metric that the epsilon is counted in; a user's family does not say."""
        if self.made is not None:
            return None
        return Discrete() if self.family == RESPONSE else Line()

    @property
    def exact(self) -> bool:
        """Return whether the probabilities are fractions."""
        known = self.decay if self.family != EXPONENTIAL or self.size == 2 else self.weight
        return self.made is None and ((known is not None and known.exact is not None) or self.decay.exact == 1)

    @property
    def no_leak(self) -> bool:
        """Return whether all rows are known to be equal: epsilon is 0, or there is one output."""
        return self.made is None and (self.decay.exact == 1 or len(self.outputs) == 1)

    @property
    def inputs(self) -> tuple[Hashable, ...]:
        """The secrets."""
        return self.secrets

    @property
    def outputs(self) -> tuple[Hashable, ...]:
        """The outputs: the secrets themselves, or the range that the noise is clamped to."""
        if self.made is not None:
            return self.made.outputs
        return self.secrets if self.within is None else tuple(range(self.within[0], self.within[1] + 1))

    def channel(self) -> Channel:
        """The channel of floats."""
        return self.made if self.made is not None else Channel.from_logs(self.logs(), self.inputs, self.outputs)

    def rows(self) -> Rows | None:
        """The probabilities as fractions, where the decay (the weight of an exponential) is one; None otherwise.

        Also None beyond ``LARGEST_EXACT`` of them: a thousand secrets would make millions of long integers.
        """
        if not self.exact or self.size * len(self.outputs) > LARGEST_EXACT:
            return None
        base = self.base(64)
        assert base is not None
        columns = range(len(self.outputs))
        return tuple(tuple(as_exact(self.entry(base, x, y)) for y in columns) for x in range(self.size))

    def bounds(self, bits: int) -> tuple[Rows, Rows] | None:
        """Fractions below and above every probability, to the given number of significant bits; None for a user's
        family.
        """
        base = self.base(bits)
        if base is None:
            return None
        columns = range(len(self.outputs))
        ends = [[ends_of(self.entry(base, x, y)) for y in columns] for x in range(self.size)]
        low, high = (tuple(tuple(pair[k] for pair in row) for row in ends) for k in (0, 1))
        return low, high

    def base(self, bits: int) -> Number | None:
        """The number that the entries are made of: ``b`` for the exponential family, ``a`` for the others."""
        if self.made is not None:
            return None
        if self.family != EXPONENTIAL or self.size == 2:  # on two secrets the three families are one
            return self.decay.number(bits)
        return self.weight.number(bits) if self.weight is not None else exponential_weight(self.decay, self.size, bits)

    def entry(self, base: Number, x: int, y: int) -> Number:
        """The probability of output number ``y`` for secret number ``x``, in the arithmetic of ``base``."""
        if self.family == RESPONSE:
            return (1 if x == y else base) / (1 + (self.size - 1) * base)
        if self.family == EXPONENTIAL:
            return base ** abs(x - y) / self.row_sum(base, x)
        if self.family == GEOMETRIC:
            ends = y in (0, self.size - 1)
            return (1 if ends else 1 - base) * base ** abs(x - y) / (1 + base)
        low, high = self.within or (0, 0)
        if low == high:
            return Fraction(1)
        if low < low + y < high:
            return (1 - base) * base ** abs(x - low - y) / (1 + base)
        past = low - x if y == 0 else x - high  # greater than 0 for a secret beyond that end
        return 1 - base ** (past + 1) / (1 + base) if past > 0 else base ** (-past) / (1 + base)

    def row_sum(self, base: Number, x: int) -> Number:
        """``s_x`` of the exponential family: the sum of ``b^|x-y|`` over all ``y``."""
        if base == 1:
            return Fraction(self.size)
        return (1 + base - base ** (x + 1) - base ** (self.size - x)) / (1 - base)

    def log_base(self) -> float:
        """The logarithm of :meth:`base` as a float."""
        if self.family != EXPONENTIAL or self.size == 2:
            return self.decay.log
        if self.weight is not None:
            return self.weight.log
        low, high = ends_of(exponential_weight(self.decay, self.size, 160))
        middle = (low + high) / 2
        if middle > Fraction(1, 2):
            return math.log1p(-float(1 - middle))
        return math.log(middle.numerator) - math.log(middle.denominator)  # which may be too small for a float

    def log_sums(self) -> Floats:
        """The logarithms of ``s_x`` of the exponential family."""
        rate, x = self.log_base(), np.arange(self.size)
        if rate == 0:
            return np.full(self.size, math.log(self.size))
        left, right = -np.expm1((x + 1) * rate), -math.exp(rate) * np.expm1((self.size - 1 - x) * rate)
        return np.asarray(np.log((left + right) / -math.expm1(rate)))  # one logarithm: two would cancel near rate 0

    def logs(self) -> Floats:
        """The logarithms of the probabilities, as floats."""
        if self.made is not None:
            return self.made.logs
        rate, x, n = self.log_base(), np.arange(self.size), self.size
        if self.family == RESPONSE:
            lie = rate - math.log1p((n - 1) * math.exp(rate))
            return np.asarray(np.where(np.eye(n, dtype=bool), lie - rate, lie))
        if self.family == EXPONENTIAL:
            return np.asarray(rate * np.abs(x[:, None] - x[None, :]) - self.log_sums()[:, None])
        low, high = self.within or (0, n - 1)
        if low == high:
            return np.zeros((n, 1))
        logs = rate * np.abs(x[:, None] - np.arange(low, high + 1)[None, :]) - math.log1p(math.exp(rate))
        logs[:, 1:-1] += math.log(-math.expm1(rate)) if rate < 0 else -np.inf
        for column, past in ((0, low - x), (-1, x - high)):
            beyond = past > 0
            logs[beyond, column] = np.log1p(-np.exp(rate * (past[beyond] + 1)) / (1 + math.exp(rate)))
        return np.asarray(logs)

    def __str__(self) -> str:
        kind = f" {self._unit()}" if self.metric is not None else ""
        return f"{self.family}(epsilon={upward(self.epsilon)}{kind}, size={self.size})"

    def _unit(self) -> str:
        return "for discrete" if self.family == RESPONSE else per_unit("line")


def as_exact(number: Number) -> Fraction:
    """Return a number that is not an enclosure as the fraction it is."""
    assert not isinstance(number, Enclosure)
    return Fraction(number)


# Families -----------------------------------------------------------------------------------------------------------------
#
# Families of mechanisms with one parameter, so that their members can be compared exactly.


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

    >>> from noisewright.mechanisms.numeric.geometric import geometric
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
