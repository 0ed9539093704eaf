"""The privacy order: does B have every guarantee that A has, for every metric? And the weaker order for one fixed metric.

``A <=prv B`` holds exactly when ``d_A >= d_B`` for every pair of secrets, where
``d_C(x, x') = max_y |ln C[x,y] / C[x',y]|``; exactly when B is ``d_A``-private; and exactly when the smallest epsilon
of B is at most A's for every metric. It survives any query in front. For one metric d, ``A <=d B`` compares only the
two smallest epsilons: it follows from the privacy order and does not survive queries.

Where it fails, **the witness is A's own metric**: A is private for it with epsilon 1, and B is not. (B's own metric
shows nothing.) Exact channels are compared by the ratios themselves, in fractions, and members of families with powers
of e within bounds that decide; for floats a pair counts as failing only beyond rounding.

>>> geometric = [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]
>>> response = [["3/5", "1/5", "1/5"], ["1/5", "3/5", "1/5"], ["1/5", "1/5", "3/5"]]
>>> found = privacy_refined(geometric, response)
>>> print(found.status, found.witness.pair, round(found.witness.before, 9), round(found.witness.after, 5))
fails (witness) (0, 1) 1.0 1.58496
>>> print(metric_refined(response, geometric, "line").status, metric_refined(geometric, response, "line").status)
holds (exact) fails (witness)

Reference: Chatzikokolakis, Fernandes and Palamidessi, *Comparing systems: max-case refinement orders and application to
differential privacy* (2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright.channels.audit import Audit
from noisewright.claims.figures import upward
from noisewright.claims.readings import smallest_of_two
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN
from noisewright.metrics.base import Metric, Table, as_metric, named_metric
from noisewright.numerics.exact import Number, log_bounds, sign_of
from noisewright.qif.refinement.closed_forms import CLOSED, closed_private, closeness, member_distances
from noisewright.qif.refinement.decisions import FORWARD, check_tolerance
from noisewright.qif.refinement.exact_channel import Read, common_secrets, read
from noisewright.qif.refinement.families import Member, as_member
from noisewright.qif.refinement.reduced_channel import Refinement
from noisewright.qif.refinement.witness import OWN, MetricWitness

__all__ = ["metric_refined", "privacy_refined"]


ROUNDING = 2.0**-46
"""Largest error of floats in a log-ratio of probabilities, relative to the logarithms."""

PRECISIONS = (128, 1024, 8192)
"""Bits to which two logarithms are compared, one after the other."""

MOST_CLOSE = 50_000
"""Pairs of secrets that floats leave open are compared in fractions up to this many."""


def privacy_refined(a: Any, b: Any, tol: float = 1e-8, *, direction: str = FORWARD) -> Refinement:
    """Return whether every guarantee of ``a``, for whatever metric, is one of ``b``; ``tol`` is in units of epsilon,
    for floats.
    """
    check_tolerance(tol)
    member, other = as_member(a), as_member(b)
    closed = None if member is None or other is None else closed_private(member, other)
    if closed is not None and closed.status != UNDECIDED:
        return replace(closed, direction=direction)
    first, second = read(a), read(b)
    common_secrets(first, second)

    def answer(status: str, reason: str, residual: float | None, witness: MetricWitness | None = None) -> Refinement:
        return Refinement("privacy", direction, status, reason, residual, witness)

    known = _Known(first, _closed(member)), _Known(second, _closed(other))
    mine, theirs = known[0].distances(), known[1].distances()
    proved = known[0].provable and known[1].provable
    with np.errstate(invalid="ignore"):
        excess = np.where(np.isinf(mine), -np.inf, theirs - mine)
    np.fill_diagonal(excess, -np.inf)
    worst = float(excess.max(initial=-math.inf))
    noise = ROUNDING * (1 + np.where(np.isfinite(mine), mine, 0.0) + _largest_log(first, second))
    place = np.unravel_index(int(excess.argmax()), excess.shape)
    x, y = int(place[0]), int(place[1])
    if (excess > noise).any() and (worst > tol or proved):
        return answer(FAILS, _WHY, None, _own_metric(known[0], second, mine, x, y))
    close = np.argwhere(np.triu(np.abs(excess) <= noise, 1))
    if proved and len(close) <= MOST_CLOSE:
        signs = [_sign(*known, i, j) for i, j in close.tolist()]
        if 1 in signs:
            i, j = close[signs.index(1)].tolist()
            return answer(FAILS, _WHY, None, _own_metric(known[0], second, mine, i, j))
        if None not in signs:
            how = "in fractions" if _exact(first, second) else "within bounds that tell"
            return answer(EXACT, f"no pair of secrets is told apart better by the new one, {how}", 0.0)
    if worst <= max(tol, 0.0):
        reason = f"no pair of secrets is told apart better by the new one, within {max(worst, 0.0):.2g}"
        return answer(WITHIN, reason, max(worst, 0.0))
    return answer(UNDECIDED, f"a pair of secrets may be told apart better by the new one, by {worst:.2g}", worst)


_WHY = "the new one tells a pair of secrets apart better than the old one"


@dataclass(frozen=True)
class _Known:
    """Known facts about the distances of a channel: ``member`` where they have a closed form."""

    given: Read
    member: Member | None

    @property
    def provable(self) -> bool:
        """Return whether two distances can be compared beyond floats."""
        return self.given.exact is not None or self.member is not None

    def distances(self) -> Floats:
        return self.given.channel.distinguishability() if self.member is None else member_distances(self.member)

    def closeness(self, i: int, j: int, bits: int) -> Number:
        """``e^(-d)``, as a fraction where the channel is exact, otherwise within bounds."""
        if self.given.exact is None and self.member is not None:
            return closeness(self.member, i, j, bits)
        ratio = _ratio(self.given, i, j)
        return Fraction(0) if isinstance(ratio, float) else 1 / ratio


def _closed(member: Member | None) -> Member | None:
    return member if member is not None and member.made is None and member.family in CLOSED else None


def _sign(first: _Known, second: _Known, i: int, j: int) -> int | None:
    """1 where the pair is farther apart in the second, -1 or 0 where it is not, None where that stays open."""
    return sign_of(lambda bits: first.closeness(i, j, bits) - second.closeness(i, j, bits))


def metric_refined(a: Any, b: Any, metric: Metric | str, tol: float = 1e-8, *, direction: str = FORWARD) -> Refinement:
    """Return whether the smallest epsilon of ``b`` for ``metric`` is at most that of ``a``."""
    check_tolerance(tol)
    measure = named_metric(metric) if isinstance(metric, str) else as_metric(metric)
    first, second = read(a), read(b)
    common_secrets(first, second)
    mine, theirs = first.channel.epsilon(measure), second.channel.epsilon(measure)

    def answer(status: str, reason: str, residual: float | None) -> Refinement:
        pair = theirs.pair or (first.inputs[0], first.inputs[0])
        # The difference may be proved in fractions and too small for floats.
        after = max(theirs.value, math.nextafter(mine.value, math.inf))
        witness = MetricWitness(measure, pair, theirs.output, mine.value, after) if status == FAILS else None
        return Refinement("metric", direction, status, reason, residual, witness)

    words = smallest_of_two(measure, _in_words(mine), _in_words(theirs))
    noise = ROUNDING * (1 + (mine.value if math.isfinite(mine.value) else 0.0))
    noise += ROUNDING * (1 + _largest_log(first, second)) / _least_distance(measure, first)
    if math.isinf(mine.value):
        return answer(EXACT, words, 0.0)
    excess = theirs.value - mine.value
    exact = _exact(first, second)
    if excess > noise and (exact or excess > tol):
        return answer(FAILS, words, excess)
    if exact:
        above = True if excess < -noise else _at_least(first, second, measure)
        if above is not None:
            return answer(EXACT if above else FAILS, words, 0.0 if above else max(excess, 0.0))
    if excess <= tol:
        return answer(WITHIN, words, max(excess, 0.0))
    return answer(UNDECIDED, words, excess)


def _exact(first: Read, second: Read) -> bool:
    return first.exact is not None and second.exact is not None


def _largest_log(first: Read, second: Read) -> float:
    """The size of the logarithms that the losses are differences of."""
    return max(float(np.abs(logs[np.isfinite(logs)]).max()) for logs in (first.channel.logs, second.channel.logs))


def _least_distance(metric: Metric, given: Read) -> float:
    """Return the smallest positive distance, by which a rounding of a loss is multiplied in an epsilon; 1 if all are
    zero.
    """
    distances = metric.matrix(given.inputs)
    return float(distances[(distances > 0) & np.isfinite(distances)].min(initial=1.0))


def _ratio(given: Read, i: int, j: int) -> Fraction | float:
    """The largest ratio between two rows, either way round, exactly; infinite where one has a zero that the other has not."""
    whole, logs = given.whole[0], given.channel.logs
    both = whole[i].astype(bool)
    if (both != whole[j].astype(bool)).any():
        return math.inf
    apart = np.abs(logs[i, both] - logs[j, both])
    slack = ROUNDING * (1 + np.abs(logs[i, both]).max(initial=0.0))  # floats find the outputs, integers the ratio
    top, bottom = 1, 1
    for y in np.flatnonzero(both)[~(apart < apart.max(initial=0.0) - 2 * slack)].tolist():
        small, large = sorted((whole[i, y], whole[j, y]))
        if large * bottom > top * small:
            top, bottom = large, small
    return Fraction(int(top), int(bottom))


def _own_metric(known: _Known, second: Read, mine: Floats, i: int, j: int) -> MetricWitness:
    """The first channel's metric with its two epsilons, and the output of the second at which the pair shows.

    For its own metric a channel needs epsilon 1 by definition, or 0 where no two secrets are at a finite distance
    greater than 0. The pair is known to be farther apart in the second, if only by less than floats show.
    """
    first = known.given
    table = Table(np.maximum(mine, mine.T), first.inputs, name=OWN)
    logs = second.channel.logs
    with np.errstate(invalid="ignore"):
        apart = np.abs(np.nan_to_num(logs[i] - logs[j], nan=0.0, posinf=np.inf, neginf=-np.inf))
    together = mine[i, j] == 0 if first.exact is None else _ratio(first, i, j) == 1
    before = 1.0 if (np.isfinite(mine) & (mine > 0)).any() else 0.0
    after = math.inf if together else max(float(second.channel.epsilon(table).value), math.nextafter(1.0, 2.0))
    output = int(apart.argmax())
    swap = logs[i, output] < logs[j, output]
    pair = (first.inputs[j], first.inputs[i]) if swap else (first.inputs[i], first.inputs[j])
    return MetricWitness(table, pair, second.outputs[output], before, after)


Needs = dict[Fraction, Fraction]
"""The largest ratio between secrets at each distance."""


def _at_least(first: Read, second: Read, metric: Metric) -> bool | None:
    """Return whether ``max ln(ratio) / d`` of the first is at least the same of the second; None where it takes too
    long to decide.
    """
    needs: list[Needs] = []
    for given in (first, second):
        found = _needs(given, metric)
        if found is None:  # no epsilon is enough
            return given is first
        needs.append(found)
    mine, theirs = needs
    if len(mine) * len(theirs) > MOST_CLOSE:
        return None
    answers = [[_compare(have, need) for have in mine.items()] for need in theirs.items()]
    if all(any(row) for row in answers):
        return True
    return False if any(all(one is False for one in row) for row in answers) else None


def _needs(given: Read, metric: Metric) -> Needs | None:
    """Return the epsilon that pairs of secrets at each distance need; None where some pair needs an infinite
    epsilon.
    """
    distances = metric.exact(given.inputs)
    found: Needs = {}
    for i in range(len(given.inputs)):
        for j in range(i):
            apart = distances.between(i, j)
            if apart is None or (ratio := _ratio(given, i, j)) == 1:
                continue
            if apart == 0 or isinstance(ratio, float):
                return None
            found[apart] = max(ratio, found.get(apart, Fraction(1)))
    return found


def _compare(have: tuple[Fraction, Fraction], need: tuple[Fraction, Fraction]) -> bool | None:
    """Return whether ``ln r / d >= ln s / e`` for ``(d, r)`` and ``(e, s)``."""
    (d, r), (e, s) = have, need
    if d == e:
        return r >= s
    for bits in PRECISIONS:
        low, high = log_bounds(r, bits), log_bounds(s, bits)
        if low[0] * e >= high[1] * d:
            return True
        if low[1] * e < high[0] * d:
            return False
    # As near as thousands of bits: equal exactly when r^e = s^d, which whole powers decide where they are small.
    quotient = e / d
    p, q = quotient.numerator, quotient.denominator
    return True if max(p, q) <= 4096 and r**p == s**q else None


def _in_words(audit: Audit) -> str:
    return "infinite" if math.isinf(audit.value) else upward(audit.value)
