"""Channels as exact numbers, where they are given as such.

Refinement is decided by signs that floats get wrong, so everything that has exact probabilities is read exactly:

=====================================  ==============================================================================
nested lists of fractions, ints, text  ``[["1/3", "2/3"], [1, 0]]``: as written; rows must sum to one exactly
certified tables and their mechanisms  the integers that are drawn from
members of a family                    their fractions, where the family's decay is a fraction
channels and nested lists of floats    floats, except where every entry is a multiple of ``2^-16`` and rows sum to one:
                                       halves and quarters are exact, 0.1 is not
=====================================  ==============================================================================

>>> read([["1/3", "2/3"], [1, 0]]).exact
((Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 1), Fraction(0, 1)))
>>> read([[0.1, 0.9], [0.5, 0.5]]).exact is None, read([[0.25, 0.75], [0.5, 0.5]]).exact is None
(True, False)

>>> from noisewright.mechanisms.numeric.laplace import laplace
>>> fine, coarse = (laplace(epsilon=1, within=(0, 10), lattice=step) for step in ("1/64", "1/32"))
>>> print(lattice_for_both(fine, coarse))             # of at most 200 secrets
1/16
>>> lattice_for_both(fine, "another thing") is None
True

>>> import numpy as np
>>> nearest, distance = distance_to_hull(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.array([0.0, 0.0, 1.0]))
>>> nearest.round(9).tolist(), round(distance**2, 9)
([0.5, 0.5, 0.0], 1.5)

Reference: Lawson and Hanson, *Solving least squares problems* (1974), for non-negative least squares.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from noisewright._typing import Floats, Integers
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import CertifiedChannel
from noisewright.design.mechanism import OptimalMechanism
from noisewright.exceptions import ChannelError, NoisewrightError, ParameterError
from noisewright.mechanisms.categorical.base import FiniteMechanism
from noisewright.mechanisms.categorical.randomised_response import ResponseMechanism
from noisewright.mechanisms.from_certificate import mechanism_of
from noisewright.mechanisms.numeric.feasible_sets import Feasible
from noisewright.mechanisms.numeric.geometric import GeometricMechanism
from noisewright.numerics.exact import as_fraction
from noisewright.numerics.linear_algebra import Rows
from noisewright.sampling.lattice import Lattice

__all__ = [
    "Read",
    "common_secrets",
    "distance_to_hull",
    "exact_channel",
    "hull_weights",
    "lattice_for_both",
    "lattice_step",
    "read",
    "whole_columns",
]


"""A matrix of fractions, row by row."""

PLAIN_BITS = 16
"""Floats that are multiples of ``2**-PLAIN_BITS`` are taken as meant exactly."""

SMALLEST = Fraction(1, 10**290)
"""Probabilities below this are kept as logarithms."""

LARGEST_EXACT = 250_000
"""Matrices with more entries than this are not made into fractions."""

SMALLEST_LOG = -700.0
"""Below this a probability has not all its digits as a float, and is taken from its logarithm."""

MOST_BITS = 1 << 29
"""Logarithms are made into integers where these take no more bits than this in all."""


@dataclass(frozen=True, eq=False)
class Read:
    """A channel as floats, and as fractions where they are known; ``channel`` is the same with all it can do.

    Without fractions, ``rounded_from`` is the thing whose probabilities the floats are near to, such as a mechanism with a
    power of e in them; None where the floats themselves were given. Equal floats then do not make equal channels.
    """

    floats: Floats
    exact: Rows | None
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    name: str
    channel: Channel
    rounded_from: Any = None

    @cached_property
    def faint(self) -> bool:
        """Whether, without fractions, some probabilities are known by their logarithms alone."""
        logs = self.channel.logs if self.channel.has_logs else None
        return self.exact is None and logs is not None and bool((np.isfinite(logs) & (logs < SMALLEST_LOG)).any())

    @cached_property
    def lost(self) -> bool:
        """Return whether :attr:`whole` leaves out probabilities that are not zero: their integers would be too long."""
        return self.faint and self.floats.size * self._places > MOST_BITS

    @cached_property
    def _places(self) -> int:
        logs = self.channel.logs
        return 53 - math.floor(float(logs[np.isfinite(logs)].min()) / math.log(2))

    @cached_property
    def whole(self) -> tuple[Integers, int]:
        """The probabilities as integers over one denominator, without rounding; floats as the binary fractions they are.

        Where some are too small for floats, all are the powers that their logarithms say, to 53 bits.
        """
        if self.exact is not None:
            return whole_columns(self.exact)
        if self.faint and not self.lost:
            return self._powers()
        mantissas, exponents = np.frexp(self.floats)
        present = mantissas > 0
        scale = max(53, 53 - int(exponents[present].min()))
        numbers: Integers = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
        numbers[present] = numbers[present] << (exponents[present] + scale - 53).astype(object)
        return numbers, 1 << scale

    def _powers(self) -> tuple[Integers, int]:
        doublings = self.channel.logs / math.log(2)
        present = np.isfinite(doublings)
        exponents = np.floor(np.where(present, doublings, 0.0))
        found: Integers = np.zeros(doublings.shape, dtype=object)
        rest = np.exp2(doublings[present] - exponents[present])
        found[present] = np.ldexp(rest, 53).astype(np.int64).astype(object)
        shifts = (exponents[present] + (self._places - 53)).astype(np.int64).astype(object)
        found[present] = found[present] << shifts
        return found, 1 << self._places

    @cached_property
    def heights(self) -> list[int]:
        """The sums of the columns of :attr:`whole`."""
        sums: list[int] = self.whole[0].sum(axis=0).tolist()
        return sums


def read(thing: Any, name: str = "") -> Read:
    """A channel from a :class:`Channel`, a mechanism, a certificate, a member of a family, or nested lists of numbers."""
    if isinstance(thing, Read):
        return thing
    if isinstance(thing, Channel):
        return _from_channel(thing, None, name)
    if isinstance(thing, Certificate):
        behind = mechanism_of(thing)
        thing = behind.certified if isinstance(behind, FiniteMechanism) else behind
    if isinstance(thing, CertifiedChannel):
        return _from_table(thing, name)
    if isinstance(thing, OptimalMechanism) and isinstance(thing.source, FiniteMechanism):
        return _from_table(thing.source.certified, name or thing.name)
    if isinstance(thing, FiniteMechanism):
        return _from_table(thing.certified, name or thing.name)
    if isinstance(thing, ResponseMechanism):
        return _from_channel(thing.channel(), _response(thing), name or thing.name, thing)
    if not isinstance(thing, type) and callable(getattr(thing, "channel", None)):
        rows = thing.rows() if callable(getattr(thing, "rows", None)) else None
        channel = thing.channel()
        if not isinstance(channel, Channel):
            raise ParameterError(
                f"{type(thing).__name__} has no channel of finitely many secrets and outputs to compare."
            )
        made = channel is getattr(thing, "made", None)  # a user's family gives the channel itself
        return _from_channel(channel, rows, name or str(getattr(thing, "name", "")), None if made else thing)
    return _from_numbers(thing, name)


def exact_channel(rows: Iterable[Iterable[Fraction]], inputs: Iterable[Hashable], outputs: Iterable[Hashable]) -> Read:
    """A channel of fractions with names for its secrets and outputs."""
    plain = _from_numbers(rows, "")
    assert plain.exact is not None
    found, build = plain.channel, Channel.from_logs if plain.channel.has_logs else Channel
    channel = build(found.logs if found.has_logs else found.matrix, inputs, outputs)
    return Read(plain.floats, plain.exact, channel.inputs, channel.outputs, "", channel)


def common_secrets(a: Read, b: Read) -> None:
    """Refuse channels that are about different secrets, and say which differ."""
    if a.inputs == b.inputs:
        return
    only_a, only_b = _missing(a.inputs, b.inputs), _missing(b.inputs, a.inputs)
    if not only_a and not only_b:
        i = next(k for k, (x, y) in enumerate(zip(a.inputs, b.inputs, strict=True)) if x != y)
        raise ChannelError(
            f"the two channels have the same secrets in different orders (the first has {a.inputs[i]!r} where the "
            f"second has {b.inputs[i]!r}); put their rows in one order."
        )
    parts = [f"{_few(only_a)} in the first only"] if only_a else []
    parts += [f"{_few(only_b)} in the second only"] if only_b else []
    raise ChannelError(
        f"channels are compared over the same secrets, and these differ: {' and '.join(parts)}; name the secrets of both "
        "alike, or restrict them to common ones."
    )


def whole_columns(rows: Sequence[Sequence[Fraction]]) -> tuple[Integers, int]:
    """Fractions as integers over their common denominator."""
    denominator = math.lcm(*{v.denominator for row in rows for v in row})
    whole = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        whole[i] = [v.numerator * (denominator // v.denominator) for v in row]
    return whole, denominator


def _from_channel(channel: Channel, rows: Rows | None, name: str, near: Any = None) -> Read:
    """``near`` is the channel that this one is a rounding of, where its rows are not known in fractions."""
    if rows is None:
        exact = _plain(channel) if near is None else None
        return Read(channel.matrix, exact, channel.inputs, channel.outputs, name, channel, near)
    exact = tuple(tuple(row) for row in rows)
    return Read(channel.matrix, exact, channel.inputs, channel.outputs, name, channel)


def _from_table(table: CertifiedChannel, name: str) -> Read:
    total = 1 << table.width
    exact: Rows | None = None
    if table.table.size <= LARGEST_EXACT:
        exact = tuple(tuple(Fraction(int(v), total) for v in row) for row in table.table)
    return _from_channel(table.channel(), exact, name, table)


def _response(mechanism: ResponseMechanism) -> Rows | None:
    size, total = len(mechanism.categories), 1 << mechanism.width
    if size * size > LARGEST_EXACT:
        return None
    keep, other = Fraction(mechanism.keep, total), Fraction(mechanism.other, total)
    return tuple(tuple(keep if i == j else other for j in range(size)) for i in range(size))


def _plain(channel: Channel) -> Rows | None:
    """The fractions that floats with few binary digits are; None where some entry has more, or a row misses one."""
    matrix = channel.matrix
    if channel.has_logs or matrix.size > LARGEST_EXACT:
        return None
    scaled = matrix * 2.0**PLAIN_BITS
    if (scaled != np.floor(scaled)).any() or (scaled.sum(axis=1) != 2.0**PLAIN_BITS).any():
        return None
    return tuple(tuple(Fraction(v) for v in row) for row in matrix.tolist())


def _from_numbers(thing: Any, name: str) -> Read:
    """Nested numbers: fractions where no float is among them."""
    try:
        if isinstance(thing, (str, bytes, dict, set, frozenset)):
            raise TypeError  # which would be taken apart into letters or keys
        rows = [list(row) for row in thing]
    except TypeError:
        raise ParameterError(
            "a channel to compare is a Channel, a mechanism with finitely many secrets, a certificate or rows of numbers, "
            f"not {type(thing).__name__}."
        ) from None
    entries = [v for row in rows for v in row]
    if not entries or len({len(row) for row in rows}) != 1:
        raise ChannelError("a channel needs at least one row and one column, and rows of one length.")
    if any(_is_float(v) for v in entries):
        return _from_channel(Channel([[_number(v) for v in row] for row in rows]), None, name)
    exact = tuple(tuple(as_fraction(v, "a probability") for v in row) for row in rows)
    for x, row in enumerate(exact):
        if any(v < 0 for v in row):
            raise ChannelError(f"row {x} has a negative entry; probabilities are 0 or more.")
        if sum(row) != 1:
            raise ChannelError(f"row {x} sums to {float(sum(row)):.12g}, not to exactly 1; correct it, or use floats.")
    return _from_channel(_in_floats(exact), exact, name)


def _in_floats(rows: Rows) -> Channel:
    """The nearest floats; logarithms too where some are too small for that."""
    if any(0 < v < SMALLEST for row in rows for v in row):
        logs = [[math.log(v.numerator) - math.log(v.denominator) if v else -math.inf for v in row] for row in rows]
        return Channel.from_logs(logs)
    return Channel([[float(v) for v in row] for row in rows])


def _is_float(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, numbers.Rational))


def _number(value: Any) -> float:
    return float(as_fraction(value, "a probability")) if isinstance(value, (str, Fraction)) else value


def _missing(ours: Iterable[Hashable], theirs: Iterable[Hashable]) -> list[Hashable]:
    known = set(theirs)
    return [x for x in ours if x not in known]


def _few(labels: list[Hashable]) -> str:
    shown = ", ".join(repr(x) for x in labels[:3])
    return shown if len(labels) <= 3 else f"{shown} and {len(labels) - 3} more"


# Lattices -----------------------------------------------------------------------------------------------------------------
#
# Mechanisms on different lattices have different secrets: which step works for both?


MOST_POINTS = 200
"""Secrets that are compared without a long wait."""


def lattice_step(thing: Any) -> Fraction | None:
    """The step of the lattice that a mechanism for numbers rounds to, 1 for integers; None for anything else."""
    if isinstance(thing, GeometricMechanism):
        return Fraction(1)
    lattice = getattr(thing, "lattice", getattr(getattr(thing, "inner", None), "lattice", None))
    return lattice.step if isinstance(lattice, Lattice) else None


def lattice_for_both(first: Any, second: Any) -> Fraction | None:
    """Return the finest step on which both mechanisms have the same few secrets, no finer than they are now; None if no
    step does.
    """
    steps = [step for thing in (first, second) if (step := lattice_step(thing)) is not None]
    answers = _answers(first)
    if len(steps) < 2 or answers is None or answers != _answers(second):
        return None
    low, high = answers.components[0][0], answers.components[-1][1]
    if low is None or high is None:
        return None
    step = max(steps)
    while (high - low) / step > MOST_POINTS:
        step *= 2
    whole = any(isinstance(thing, GeometricMechanism) for thing in (first, second))
    try:
        answers.on(Lattice.with_step(step))
    except NoisewrightError:  # too coarse for gaps or ends
        return None
    return None if whole and step != 1 else step


def _answers(thing: Any) -> Feasible | None:
    found = getattr(thing, "feasible", getattr(thing, "within", None))
    if isinstance(thing, GeometricMechanism) and found is not None:
        return Feasible(((Fraction(found[0]), Fraction(found[1])),))
    return found if isinstance(found, Feasible) else None


# Nearest ------------------------------------------------------------------------------------------------------------------
#
# The point of a hull that is nearest to another point: how far outside a belief is.


def distance_to_hull(points: Floats, target: Floats) -> tuple[Floats, float]:
    """The point of the hull of the columns of ``points`` that is nearest to ``target``, and how far it is.

    Non-negative least squares with a heavy row for the sum of the weights, then the active set solved again without it.
    """
    weights = hull_weights(points, target)
    nearest = points @ weights
    return nearest, float(np.linalg.norm(target - nearest))


def hull_weights(points: Floats, target: Floats) -> Floats:
    """The weights of the columns of ``points`` in the nearest point: 0 or more, and of sum one."""
    heavy = 1e3
    weights = _nnls(np.vstack([points, np.full(points.shape[1], heavy)]), np.r_[target, heavy])
    weights = weights / weights.sum()
    used = np.flatnonzero(weights > 1e-9)
    base, rest = points[:, used[0]], points[:, used[1:]] - points[:, used[:1]]
    if len(used) > 1:
        moved = np.linalg.lstsq(rest, target - base, rcond=None)[0]
        polished = np.r_[1 - moved.sum(), moved]
        if (polished >= 0).all():
            better = np.zeros_like(weights)
            better[used] = polished
            if np.linalg.norm(points @ better - target) <= np.linalg.norm(points @ weights - target):
                return np.asarray(better)
    return np.asarray(weights)


def _nnls(matrix: Floats, target: Floats) -> Floats:
    from scipy.optimize import lsq_linear, nnls

    try:
        return np.asarray(nnls(matrix, target)[0])
    except RuntimeError:  # too many iterations
        return np.asarray(np.clip(lsq_linear(matrix, target, bounds=(0, np.inf)).x, 0.0, None))
