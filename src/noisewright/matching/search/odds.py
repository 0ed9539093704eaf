r"""Probability that a returned neighbour is a true one: known before a service ships, from distances alone.

Each code differs from the one that is searched with in a binomial number of bits (:mod:`~noisewright.matching.search.debiasing`),
a smaller one for nearer profiles. Among equals the search chooses at random, as if every code had a lot :math:`u` from 0 to 1
behind its number of bits. A code with :math:`h` bits and lot :math:`u` is returned among the first :math:`k` if fewer than
:math:`k` others come before it, and another one at distance :math:`d_g` does with the chance :math:`F_g(h - 1) + u\,p_g(h)`: its
number of bits is smaller, or equal with a smaller lot. So

.. math:: \Pr[\text{returned}] = \sum_h p(h) \int_0^1
          \Pr\Bigl[\sum_g \mathrm{Bin}\bigl(m_g, F_g(h-1) + u\,p_g(h)\bigr) < k\Bigr] du ,

a finite sum of binomials; the integrand is a polynomial, integrated by a Gauss-Legendre rule, with an error below one
in a million. Distances are given, ties are counted, and nothing is simulated.

**What is assumed.** Numbers of bits are taken to be independent between candidates. They share the directions and the
query code. For profiles at right angles to each other that changes nothing about any two of them; where candidates are
near each other, they come in or stay out together. For two candidates, :mod:`noisewright.matching.promises.ranking`
does without that assumption.

>>> sure = returned_odds([0.05, 0.5], [1, 999], neighbours=1, bits=128, flip=0.1)
>>> [float(p.round(6)) for p in sure]
[0.999715, 0.0]
>>> float(round(true_odds([0.2] * 10, [0.45] * 990, neighbours=10, bits=128, flip=0.1), 3))
0.802
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.matching.search.debiasing import differing

__all__ = ["returned_odds", "true_odds"]

MOST_NEIGHBOURS = 400
"""Beyond it, chances on the way are too small for floats."""
TINY = 1e-14
"""Numbers of bits that are less likely than this for everyone are left out."""
RULES = ((1.0, 8), (8.0, 16), (32.0, 32), (math.inf, 64))
"""Number of points at which a tie is evaluated, by the expected number ranked before because of it."""


def true_odds(
    true: ArrayLike, others: ArrayLike, *, neighbours: int, bits: int, flip: float, step: float = 0.0
) -> float:
    """The chance that one of the returned ``neighbours`` is at one of the distances ``true``.

    ``others`` are the distances of everyone else. With as many true ones as are returned this is the mean recall.
    ``step``: distances are rounded to its multiples first, which makes a long list of them short.
    """
    near, far = (np.asarray(part, dtype=np.float64).ravel() for part in (true, others))
    if not near.size:
        raise ParameterError("give the distance of one true neighbour or more.")
    apart = np.concatenate([near, far])
    if step:
        apart = np.rint(apart / step) * step
    places, group = np.unique(apart, return_inverse=True)
    counts = np.bincount(group, minlength=len(places))
    which, often = np.unique(group[: len(near)], return_counts=True)
    chances = _returned(places, counts, which, neighbours, bits, flip)
    return float(chances @ often / min(neighbours, len(apart)))


def returned_odds(distances: ArrayLike, counts: ArrayLike, *, neighbours: int, bits: int, flip: float) -> Floats:
    """Return for each distance the chance that one of the ``counts`` profiles there is among the ``neighbours`` returned."""
    apart, many = np.asarray(distances, dtype=np.float64).ravel(), np.asarray(counts, dtype=np.int64).ravel()
    if apart.shape != many.shape or not np.all(many >= 1):
        raise ParameterError("every distance has a count of 1 or more.")
    return _returned(apart, many, np.arange(len(apart)), neighbours, bits, flip)


def _returned(
    apart: Floats, many: NDArray[np.int64], which: NDArray[np.int64], neighbours: int, bits: int, flip: float
) -> Floats:
    """The chance for one member of each of some groups."""
    if not is_whole(neighbours) or not 1 <= neighbours <= MOST_NEIGHBOURS:
        raise ParameterError(f"odds are for 1 to {MOST_NEIGHBOURS} neighbours, as a whole number.")
    if not is_whole(bits) or bits < 1:
        raise ParameterError("a code has 1 bit or more, as a whole number.")
    law = binomial_law(bits, differing(apart, flip))
    if many.sum() <= neighbours:
        return np.ones(len(which))
    before = np.cumsum(law, axis=1) - law
    expected, tied = many @ before, many @ law
    # Beyond this expected number before it, a code is not returned; up to there the polynomial in the lot is smooth.
    most = neighbours + 12 * math.sqrt(neighbours) + 40
    live = np.flatnonzero((expected < most) & (law[which].max(axis=0) > TINY))
    reach = np.minimum(1.0, (most - expected[live]) / np.maximum(tied[live], 1e-300))
    rows, lots, weights = _places(live, reach, tied[live] * reach)
    chance = np.clip(before[:, rows] + lots * law[:, rows], 0.0, 1.0)
    return np.asarray((law[which][:, rows] * weights * _fewer(many, chance, which, neighbours)).sum(axis=1))


def _places(live: NDArray[np.int64], reach: Floats, spread: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Numbers of bits, lots and weights over which the sum and the integral are taken."""
    parts = []
    least = -1.0
    for most, number in RULES:
        chosen = np.flatnonzero((spread > least) & (spread <= most))
        places, weights = _gauss(number)
        lots, heavy = (np.outer(reach[chosen], part).ravel() for part in ((places + 1) / 2, weights / 2))
        parts.append((np.repeat(live[chosen], number), lots, heavy))
        least = most
    rows, lots, heavy = (np.concatenate(part) for part in zip(*parts, strict=True))
    return rows, lots, heavy


@cache
def _gauss(number: int) -> tuple[Floats, Floats]:
    places, weights = np.polynomial.legendre.leggauss(number)
    return places, weights


def binomial_law(bits: int, chance: Floats) -> Floats:
    """The binomial law of each chance, one in each row."""
    from scipy.special import gammaln, xlog1py, xlogy

    h = np.arange(bits + 1)
    ways = gammaln(bits + 1) - gammaln(h + 1) - gammaln(bits - h + 1)
    p = chance[:, None]
    return np.asarray(np.exp(ways + xlogy(h, p) + xlog1py(bits - h, -p)))


def _fewer(many: NDArray[np.int64], chance: Floats, which: NDArray[np.int64], k: int) -> Floats:
    """Return for some groups the chance that fewer than ``k`` come before one of its members, who is not counted."""
    nobody = np.zeros((k, chance.shape[1]))
    nobody[0] = 1.0
    rest = nobody
    for group in np.setdiff1d(np.arange(len(many)), which):
        rest = _sum(rest, _numbers(int(many[group]), chance[group], k))
    left, right = [rest], [nobody]  # all before a group, and all after it
    for one, last in zip(which[:-1], which[:0:-1], strict=True):
        left.append(_sum(left[-1], _numbers(int(many[one]), chance[one], k)))
        right.append(_sum(right[-1], _numbers(int(many[last]), chance[last], k)))
    found = []
    for group, below, above in zip(which, left, right[::-1], strict=True):
        own = _numbers(int(many[group]) - 1, chance[group], k)
        found.append(_sum(_sum(below, own), above).sum(axis=0))
    return np.array(found)


def _numbers(count: int, chance: Floats, k: int) -> Floats:
    """The chances of 0 to k - 1 successes among ``count``; fewer rows where there are fewer."""
    rest, last = 1 - chance, min(k - 1, count)
    law = np.empty((last + 1, len(chance)))
    law[0] = 1.0
    for j in range(1, last + 1):
        law[j] = law[j - 1] * chance * ((count - j + 1) / j)
    power = rest ** (count - last)
    for j in range(last, -1, -1):
        law[j] *= power
        power *= rest
    return law


def _sum(one: Floats, two: Floats) -> Floats:
    """The law of a sum, as far as the first is known."""
    k = len(one)
    out = np.zeros_like(one)
    for j in range(min(len(two), k)):
        out[j:] += two[j] * one[: k - j]
    return out
