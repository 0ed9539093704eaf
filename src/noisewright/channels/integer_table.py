"""Integer privacy: the smallest private majorant of integer weights, and the exact check of an integer table.

For secrets at exact distances ``d`` and a budget ``epsilon`` let ``b(x, x')`` be an integer with
``b / 2**bits <= e^(epsilon d(x, x'))``. A table of integers is *private* when ``T[x,y] 2**bits <= b(x,x') T[x',y]`` for all
pairs and outputs: then it is private for the real ``e^(epsilon d)`` too. Everything here is integer arithmetic on arrays of
Python integers; no comparison has a tolerance.

The smallest private table above given weights is ``max_x' W[x',y] / b(x,x')``. On a line two sweeps compute it, for one
distance between all pairs a column maximum does; only a general table takes every pair.

``certify(channel, epsilon, metric)`` returns a table of integers whose rows sum to a power of two and for which
``T[x,y] <= e^(epsilon d(x,x')) T[x',y]`` was proved for all pairs and outputs by integer comparison. The sampler draws
from that very table, so the guarantee is about the numbers that are drawn.

How a channel that is private only up to rounding (or up to a solver's tolerance) becomes one that is private:

1. its entries are taken as exact binary fractions, and raised to their smallest private majorant, which needs no
   tolerance and touches only the entries that broke the guarantee;
2. columns are rescaled so that rows sum to one again. Rescaling a column changes no ratio in it, so privacy stays, and even
   entries near ``e^-100`` keep their relative accuracy;
3. what is left over from rounding, a few units, is spread over the whole row in amounts that differ between rows by no more
   than the allowed factor. The sum of two private tables is private;
4. the final table is checked, integer against integer.

If this moves more than ``max_change`` of any row's probability the channel did not have the guarantee to begin with, and it
is refused, naming the pair.

>>> from noisewright.channels.channel import Channel
>>> from noisewright.metrics.base import Line
>>> certified = Channel([[4, 1, 1], [2, 2, 2], [1, 1, 4]], normalise=True).certify("0.7", Line())
>>> sum(certified.table[0]) == 2**certified.width, certified.change < 1e-12
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Integers
from noisewright._utils.validation import is_number
from noisewright.claims.figures import ceil_div, exp_bounds, float_up, upward
from noisewright.exceptions import ChannelError, GuaranteeError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.metrics.base import Metric
from noisewright.metrics.distances import Distances, LineDistances, UniformDistances
from noisewright.numerics.exact import Exact, log_bounds, positive_fraction

if TYPE_CHECKING:
    from noisewright.channels.channel import Channel

__all__ = ["LARGEST_EPSILON", "Breach", "CertifiedChannel", "Envelope", "Integers", "certify", "check_budget"]


Breach = tuple[int, int, int]
"""Rows ``x`` and ``x'`` and a column ``y`` with ``T[x,y] > e^(epsilon d) T[x',y]``."""


class Envelope:
    """Lower bounds of the allowed factors ``e^(epsilon d)`` at a given precision."""

    def __init__(self, distances: Distances, epsilon: Fraction, bits: int) -> None:
        self.distances, self.epsilon, self.bits = distances, epsilon, bits
        self._pairs: list[tuple[int, int, int]] | None = None
        self._factors: dict[Fraction, int] = {}

    def factor(self, distance: Fraction) -> int:
        """The largest factor that is allowed at a distance, rounded down, over ``2**bits``."""
        known = self._factors.get(distance)
        if known is None:
            known = self._factors[distance] = self._factor(distance)
        return known

    def _factor(self, distance: Fraction) -> int:
        # No entry of a table exceeds another by more than 2**width, so beyond that a larger factor proves nothing more.
        return exp_bounds(min(self.epsilon * distance, Fraction(self.bits)), self.bits)[0]

    def shrink(self, distance: Fraction) -> int:
        """The inverse of :meth:`factor`, over ``2**bits``."""
        return (1 << (2 * self.bits)) // self.factor(distance)

    def majorant(self, weights: Integers) -> Integers:
        """The smallest private table above ``weights`` (up to one unit, because divisions are rounded down)."""
        if isinstance(self.distances, LineDistances):
            return self._swept(weights)
        if isinstance(self.distances, UniformDistances):
            floor = (weights.max(axis=0) * self.shrink(self.distances.distance)) >> self.bits
            return np.asarray(np.maximum(weights, floor))
        result, changed = weights, True
        # One pass is enough for a metric; distances that break the triangle inequality by a rounding error need more.
        while changed:
            raised = self._raised(result)
            changed = bool(((raised - result) > (raised >> (self.bits // 2))).any())
            result = raised
        return result

    def violation(self, table: Integers) -> Breach | None:
        """The first place where the table is not private, or None: the proof that it is, in integers."""
        if isinstance(self.distances, UniformDistances):
            allowed = table.min(axis=0) * self.factor(self.distances.distance)
            broken = np.flatnonzero((table.max(axis=0) << self.bits) > allowed)
            if not len(broken):
                return None
            column = int(broken[0])
            return int(table[:, column].argmax()), int(table[:, column].argmin()), column
        for i, j, factor in self.pairs():
            for x, other in ((i, j), (j, i)):
                broken = np.flatnonzero((table[x] << self.bits) > table[other] * factor)
                if len(broken):
                    return x, other, int(broken[0])
        return None

    def growth(self, values: list[int]) -> int:
        """The smallest amount that, added to all of ``values``, makes each at most the allowed factor times any other."""
        one = 1 << self.bits
        needed = 0
        if isinstance(self.distances, UniformDistances):
            low, high = min(values), max(values)
            candidates = [(high, low, self.factor(self.distances.distance))] if self.distances.size > 1 else []
        else:
            candidates = [(max(values[i], values[j]), min(values[i], values[j]), f) for i, j, f in self.pairs()]
        for high, low, factor in candidates:
            if high > low:
                needed = max(needed, -(-(high * one - low * factor) // (factor - one)))
        return needed

    def smallest_factor(self) -> int:
        """The smallest factor among pairs at a distance above zero, or twice one if there is no such pair."""
        if isinstance(self.distances, UniformDistances):
            return self.factor(self.distances.distance)
        smallest = min((d for _, _, d in self.distances.pairs() if d > 0), default=None)
        return 2 << self.bits if smallest is None else self.factor(smallest)

    def pairs(self) -> Iterator[tuple[int, int, int]]:
        """Pairs that together imply all others, each with its factor."""
        if self._pairs is None:
            self._pairs = [(i, j, self.factor(d)) for i, j, d in self.distances.pairs()]
        return iter(self._pairs)

    def _swept(self, weights: Integers) -> Integers:
        result = weights.copy()
        steps = [(i, j, self.shrink(d)) for i, j, d in self.distances.pairs()]
        for left, right, shrink in steps:
            result[right] = np.maximum(result[right], (result[left] * shrink) >> self.bits)
        for left, right, shrink in reversed(steps):
            result[left] = np.maximum(result[left], (result[right] * shrink) >> self.bits)
        return result

    def _raised(self, weights: Integers) -> Integers:
        """One pass over all pairs. Floats only choose which entries are worth computing; the computed entries are
        exact.
        """
        size = len(weights)
        given = [[self.distances.between(x, z) for z in range(size)] for x in range(size)]
        apart = np.array([[math.inf if d is None else float(d) for d in row] for row in given])
        logs = np.array([[math.log(v) if v else -math.inf for v in row] for row in weights.tolist()])
        with np.errstate(over="ignore"):
            losses = float(self.epsilon) * apart
        result = weights.copy()
        for x in range(size):
            shrinks = np.array([0 if d is None else self.shrink(d) for d in given[x]], dtype=object)
            with np.errstate(invalid="ignore"):
                # Entries more than a millionth below their bound cannot rise: logarithms are far more accurate.
                z, y = np.nonzero(logs - losses[x][:, None] > logs[x] - 1e-6)
            np.maximum.at(result[x], y, (weights[z, y] * shrinks[z]) >> self.bits)
        return result


# Certified ----------------------------------------------------------------------------------------------------------------
#
# Certificates: from a channel in floats to an integer table whose guarantee holds exactly.


_LN2 = log_bounds(Fraction(2), 64)[0]

LARGEST_EPSILON = 10_000
"""Finite mechanisms refuse an epsilon that allows their nearest secrets a loss beyond this; see :func:`check_budget`."""

LARGEST_WIDTH = 1 << 16
"""Probabilities below ``2**-LARGEST_WIDTH`` are not made into integers; a table of such entries would take for ever."""

_TOO_SMALL = (
    f"some outputs have, or would need, probabilities below 2^-{LARGEST_WIDTH}, too small for a table of integers; choose a "
    "smaller epsilon or fewer secrets."
)

SIGNIFICANT_BITS = 44
"""Even the smallest entry of a table is kept to this many bits, where the channel allows it."""


@dataclass(frozen=True, eq=False)
class CertifiedChannel:
    """An integer table with a proved guarantee: the probability of output ``y`` is ``table[x, y] / 2**width``."""

    table: Integers
    width: int
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]
    epsilon: Fraction
    metric: Metric
    distances: Distances
    precision: int
    change: float

    @property
    def guarantee(self) -> Guarantee:
        """The proved guarantee."""
        return Guarantee.exactly(self.epsilon, self.metric)

    def probability(self, secret: Hashable, output: Hashable) -> Fraction:
        """The exact probability of one output for one secret."""
        try:
            place = self.inputs.index(secret), self.outputs.index(output)
        except ValueError:
            raise ChannelError("there is no such secret or no such output; see .inputs and .outputs.") from None
        return Fraction(self.table[place], 1 << self.width)

    def channel(self) -> Channel:
        """The table as floats, for analysis."""
        from noisewright.channels.channel import Channel

        logs = np.full(self.table.shape, -np.inf)
        seen = self.table > 0
        shift = self.width * math.log(2)
        logs[seen] = [_log(int(v)) - shift for v in self.table[seen]]
        return Channel.from_logs(logs, self.inputs, self.outputs)

    def __repr__(self) -> str:
        rows, columns = self.table.shape
        return f"CertifiedChannel({rows} x {columns} integers of {self.width} bits, {self.guarantee})"


def certify(channel: Channel, epsilon: Exact, metric: Metric, *, max_change: float = 1e-6) -> CertifiedChannel:
    """The integer table of a channel with an exact guarantee; see the head of this module."""
    if not is_number(max_change):
        raise ParameterError(f"max_change must be a number above 0 and at most 1, not {type(max_change).__name__}.")
    if not 0 < max_change <= 1:
        raise ParameterError(f"max_change must be above 0 and at most 1, not {max_change}.")
    max_change = float(max_change)
    distances = metric.exact(channel.inputs)
    budget = check_budget(epsilon, _closest(distances))
    weights, scale = exact_weights(channel)
    twins = distances.twins()  # secrets at distance 0 must look alike: treat them as one, then copy
    distinct = sorted(set(twins))
    groups = [[i for i, t in enumerate(twins) if t == k] for k in distinct]
    merged = np.array([weights[group].max(axis=0) for group in groups], dtype=object)

    raised, width, raised_scale, envelope = _raise(merged, scale, distances.merge(groups), budget)
    balanced = _balance(raised, raised_scale, width, limit=max_change / 4)
    table = _settle(balanced, width, envelope)
    place = {t: k for k, t in enumerate(distinct)}
    full: Integers = table[[place[t] for t in twins]]
    change = _moved(full, width, weights, scale)
    if change > max_change:
        raise GuaranteeError(_refusal(channel, metric, budget))
    full.flags.writeable = False
    return CertifiedChannel(
        full, width, channel.inputs, channel.outputs, budget, metric, distances, envelope.bits, change
    )


def check_budget(epsilon: object, closest: Fraction = Fraction(1)) -> Fraction:
    """The exact epsilon of a finite mechanism whose nearest secrets are ``closest`` apart.

    An epsilon that allows even them a factor of e^10000 is refused: it hides nothing, and its integers would have
    thousands of digits.
    """
    budget = positive_fraction(epsilon, "epsilon")
    if budget * closest > LARGEST_EPSILON or budget > 10**300:
        raise ParameterError(
            f"epsilon allows even the nearest secrets a loss above {LARGEST_EPSILON}, which hides nothing; "
            "choose a smaller epsilon."
        )
    return budget


def _closest(distances: Distances) -> Fraction:
    """Return the smallest distance above zero; 1 if no distance is positive."""
    if isinstance(distances, UniformDistances):
        return distances.distance
    return min((d for _, _, d in distances.pairs() if d > 0), default=Fraction(1))


def exact_weights(channel: Channel) -> tuple[Integers, int]:
    """The channel's floats as integers over ``2**scale``, without rounding; underflowed entries come from their logs."""
    mantissas, exponents = np.frexp(channel.matrix)
    present = mantissas > 0
    logs = channel.logs
    hidden = np.isfinite(logs) & (channel.matrix < 1e-290)
    lowest = int(exponents[present].min())
    if hidden.any():
        lowest = min(lowest, math.floor(float(logs[hidden].min()) / math.log(2)) - 1)
    if -lowest > LARGEST_WIDTH:
        raise ParameterError(_TOO_SMALL)
    scale = max(53, 53 - lowest)
    whole = np.ldexp(mantissas, 53).astype(np.int64).astype(object)
    weights: Integers = whole << np.maximum(exponents + scale - 53, 0).astype(object)
    weights[hidden] = [_exp(v, scale) for v in logs[hidden].tolist()]
    return weights, scale


def _raise(
    weights: Integers, scale: int, distances: Distances, epsilon: Fraction
) -> tuple[Integers, int, int, Envelope]:
    """The private majorant, and a width at which its smallest entry and the corrections to come are both resolved."""
    closest = _closest(distances)
    fine = max(0, ceil_div((epsilon * closest).denominator, (epsilon * closest).numerator).bit_length())
    columns = weights.shape[1]
    room = SIGNIFICANT_BITS + fine + columns.bit_length() + 4
    weights, scale = (
        weights << (room + 64),
        scale + room + 64,
    )  # enough at once, unless the majorant has new small entries
    while True:
        envelope = Envelope(distances, epsilon, scale + fine + 64)
        raised = envelope.majorant(weights)
        smallest = min(v.bit_length() for v in raised.ravel() if v)
        width = max(64, scale - smallest + room)
        if scale >= width + 32:
            return raised, width, scale, envelope
        if scale - smallest > LARGEST_WIDTH:
            raise ParameterError(_TOO_SMALL)
        weights, scale = weights << (width + 64 - scale), width + 64


def _balance(weights: Integers, scale: int, width: int, limit: float) -> Integers:
    """Rescale columns until rows sum to one, within a unit of ``2**-width`` where that is possible.

    A linear system solved in floats and refined against exact integer residuals. It only ever rescales columns, so it can
    lose accuracy but not privacy; where no rescaling does it, the best one found is returned.
    """
    from scipy.sparse.linalg import lsqr

    one = 1 << scale
    matrix = (weights / one).astype(np.float64)
    gaps = one - weights.sum(axis=1)
    worst = max(abs(g) for g in gaps)
    for _ in range(60):
        if worst >> (scale - width) == 0:
            break
        direction = lsqr(
            matrix, (gaps / worst).astype(np.float64), atol=1e-13, btol=1e-13, iter_lim=4 * max(matrix.shape)
        )[0]
        if not np.isfinite(direction).all() or np.abs(direction).max() * (worst / one) > limit:
            break
        changes = np.array([(round(h * 2.0**60) * worst) >> 60 for h in direction.tolist()], dtype=object)
        # weights * (1 + change), leaving out the low bits of the weights that the small change does not reach.
        skip = max(0, scale - max(abs(c) for c in changes).bit_length())
        rescaled = weights + (((weights >> skip) * changes) >> (scale - skip))
        gaps_after = one - rescaled.sum(axis=1)
        worst_after = max(abs(g) for g in gaps_after)
        if 2 * worst_after > worst:
            break
        weights, gaps, worst = rescaled, gaps_after, worst_after
    return weights


def _settle(weights: Integers, width: int, envelope: Envelope) -> Integers:
    """Integers whose rows sum to ``2**width`` exactly and that are private exactly.

    A row is its weights rounded down, plus ``base`` units in every column, plus its remaining deficit ``e_x`` shared out by
    one distribution that is the same for all rows. Rounding costs each column at most a few units, which ``base`` makes
    good: ``base (B - 1) >= 2 B + 1`` for the smallest allowed factor ``B``; and ``e_x <= B e_x'`` is arranged by leaving
    every row enough to share.
    """
    one, total = 1 << envelope.bits, 1 << width
    groups = envelope.distances.components()
    possible = {g: (weights[np.array(groups) == g] > 0).any(axis=0) for g in set(groups)}
    support = np.array([possible[g] for g in groups])
    counts = support.sum(axis=1).astype(int).tolist()
    largest = max(weights.sum(axis=1))
    smallest = envelope.smallest_factor()
    base = ceil_div(2 * smallest + one, smallest - one)
    spare = base * max(counts)
    for _ in range(64):
        if spare >= total:
            break
        floor = weights * (total - spare) // largest
        deficits = (total - floor.sum(axis=1)).tolist()
        rest = [d - base * c for d, c in zip(deficits, counts, strict=True)]
        short = max(0, -min(rest)) + envelope.growth(rest)
        if short == 0:
            table = floor + base * support.astype(object) + _shares(floor, support, groups, rest)
            if envelope.violation(table) is None:
                settled: Integers = table
                return settled
            short = spare
        spare += short + 1
    raise GuaranteeError(
        "no integer table of this channel could be proved private; this is a defect, please report it."
    )


def _shares(floor: Integers, support: NDArray[np.bool_], groups: list[int], rest: list[int]) -> Integers:
    """Share ``rest[x]`` out over the columns of row x in proportions that are the same for all rows of a group."""
    shares: Integers = np.zeros(floor.shape, dtype=object)
    for group in sorted(set(groups)):
        rows = np.flatnonzero(np.array(groups) == group)
        amounts = np.array([rest[x] for x in rows], dtype=object)[:, None]
        profile = floor[rows].sum(axis=0)
        shares[rows] = amounts * profile // profile.sum()
        columns = np.flatnonzero(support[rows[0]])
        for x in rows:
            left = rest[x] - shares[x].sum()
            shares[x, columns[:left]] += 1
    return shares


def _moved(table: Integers, width: int, weights: Integers, scale: int) -> float:
    """The largest total variation distance between a row of the channel and its row of the table, rounded up."""
    apart = np.abs((table << scale) - (weights << width)).sum(axis=1).max()
    return float_up(Fraction(int(apart), 2 << (width + scale)))


def _refusal(channel: Channel, metric: Metric, epsilon: Fraction) -> str:
    audit = channel.epsilon(metric)
    pair = f"{audit.pair[0]!r} and {audit.pair[1]!r} (output {audit.output!r})" if audit.pair else "no pair"
    if math.isinf(audit.value):
        needs = "no finite epsilon holds"
        advice = "an output that one of them can give must be possible for the other too"
    else:
        needs = f"it needs {upward(audit.value)}"
        advice = "ask for that, or design the channel for the smaller epsilon"
    return (
        f"this channel cannot be certified at epsilon = {float(epsilon):g} for the {metric} metric: "
        f"{needs}, because of secrets {pair}; {advice}."
    )


def _exp(exponent: float, scale: int) -> int:
    """``e**exponent * 2**scale`` for a negative exponent, to the accuracy of the float that it is given as."""
    power, rest = divmod(int(math.ldexp(exponent, 64)), _LN2)
    mantissa = int(math.ldexp(math.exp(math.ldexp(float(rest), -64)), 52))
    shift = power + scale - 52
    return mantissa << shift if shift >= 0 else mantissa >> -shift


def _log(value: int) -> float:
    """The natural logarithm of a large integer."""
    shift = max(0, value.bit_length() - 64)
    return math.log(value >> shift) + shift * math.log(2)
