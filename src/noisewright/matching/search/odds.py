r"""How likely a returned neighbour is a true one: known before a service ships, from distances alone.

Each code differs from the one that is searched with in a binomial number of bits (:mod:`~noisewright.matching.search.debiasing`),
a smaller one for nearer profiles. Among equals the search chooses at random, as if every code had a lot :math:`u` from 0 to 1
behind its number of bits. A code with :math:`h` bits and lot :math:`u` is returned among the first :math:`k` if fewer than
:math:`k` others come before it, and another one at distance :math:`d_g` does with the chance :math:`F_g(h - 1) + u\,p_g(h)`: its
number of bits is smaller, or equal with a smaller lot. So

.. math:: \Pr[\text{returned}] = \sum_h p(h) \int_0^1
          \Pr\Bigl[\sum_g \mathrm{Bin}\bigl(m_g, F_g(h-1) + u\,p_g(h)\bigr) < k\Bigr] du ,

a finite sum of binomials; the integral is that of a polynomial, and is taken by a rule of Gauss and Legendre, with an error below
one in a million. Distances are what they are, ties are counted, and nothing is simulated.

**What is assumed.** Numbers of bits are taken to be independent between candidates. They share the directions and the code
that is searched with. For profiles at right angles to each other that changes nothing about any two of them; where candidates
are near each other, they come in or stay out together. :func:`pair_odds` is the comparison of two candidates without that
assumption, from the distance between them.

>>> sure = returned_odds([0.05, 0.5], [1, 999], neighbours=1, bits=128, flip=0.1)
>>> [float(p.round(6)) for p in sure]
[0.999715, 0.0]
>>> float(round(true_odds([0.2] * 10, [0.45] * 990, neighbours=10, bits=128, flip=0.1), 3))
0.802
>>> round(pair_odds(0.2, 0.3, 0.25, bits=128, flip=0.1), 3)
0.894
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.matching.search.debiasing import check_flip, differing

__all__ = ["pair_odds", "returned_odds", "true_odds"]

NODES = 64
"""Places at which the share of a tie is evaluated."""


def true_odds(
    true: ArrayLike, others: ArrayLike, *, neighbours: int, bits: int, flip: float, step: float = 0.0
) -> float:
    """The chance that one of so many returned ``neighbours`` is one of those at the distances ``true``.

    ``others`` are the distances of everybody else. With as many true ones as are returned this is the mean recall. ``step``:
    distances are rounded to its multiples first, which makes a long list of them short.
    """
    near, far = (np.asarray(part, dtype=np.float64).ravel() for part in (true, others))
    apart = np.concatenate([near, far])
    if step:
        apart = np.rint(apart / step) * step
    places, group = np.unique(apart, return_inverse=True)
    counts = np.bincount(group, minlength=len(places))
    chances = returned_odds(places, counts, neighbours=neighbours, bits=bits, flip=flip)
    return float(chances[group[: len(near)]].sum() / min(neighbours, len(apart)))


def returned_odds(distances: ArrayLike, counts: ArrayLike, *, neighbours: int, bits: int, flip: float) -> Floats:
    """For each distance, the chance that one of the ``counts`` profiles there is among the ``neighbours`` returned."""
    apart, many = np.asarray(distances, dtype=np.float64).ravel(), np.asarray(counts, dtype=np.int64).ravel()
    if not is_whole(neighbours) or neighbours < 1:
        raise ParameterError("a search returns 1 neighbour or more, as a whole number.")
    if not is_whole(bits) or bits < 1:
        raise ParameterError("a code has 1 bit or more, as a whole number.")
    if apart.shape != many.shape or not np.all(many >= 1):
        raise ParameterError("every distance has a count of 1 or more.")
    if many.sum() <= neighbours:
        return np.ones(len(apart))
    law = binomial_law(bits, differing(apart, flip))
    before = np.cumsum(law, axis=1) - law
    places, weights = np.polynomial.legendre.leggauss(NODES)
    expected, tied = many @ before, many @ law
    # Beyond so many expected before it, a code is not returned; up to there the polynomial in the lot is smooth.
    most = neighbours + 12 * math.sqrt(neighbours) + 40
    live = np.flatnonzero(expected < most)
    reach = np.minimum(1.0, (most - expected[live]) / np.maximum(tied[live], 1e-300))
    lots = (places + 1)[:, None] / 2 * reach  # (nodes, h)
    chance = np.clip(before[:, live][:, None] + lots * law[:, live][:, None], 0.0, 1.0)  # (group, nodes, h)
    within = (weights[:, None] / 2 * reach * _fewer(many, chance, neighbours)).sum(axis=1)  # (group, h)
    return np.asarray((law[:, live] * within).sum(axis=1))


def pair_odds(near: float, far: float, between: float, *, bits: int, flip: float) -> float:
    """The chance that of two profiles the nearer one is returned before the other, a tie counting half.

    ``between`` is the distance of the two from each other, which says how often the same bits differ: two profiles that both
    differ from a third one in a bit do not differ from each other, so that happens with the chance ``(near + far - between)/2``.
    """
    f, both = check_flip(flip), (near + far - between) / 2
    if not max(0.0, near + far - 1) - 1e-12 <= both <= min(near, far) + 1e-12:
        raise ParameterError("three distances between profiles obey the triangle inequality, and sum to 2 at most.")
    # Hashes that differ from the searched one in: both, the near one alone, the far one alone, none.
    hashes = np.array([both, near - both, far - both, 1 - near - far + both])
    signs = ((1, 1), (1, 0), (0, 1), (0, 0))
    steps = np.zeros(3)  # the far code gains a bit on the near one, none does, the near one gains
    for weight, (one, two) in zip(hashes, signs, strict=True):
        for own in (0, 1):  # the searched code's own flip counts for both
            p, q = ((1 - f if side ^ own else f) for side in (one, two))
            share = weight * (f if own else 1 - f)
            steps += share * np.array([(1 - p) * q, p * q + (1 - p) * (1 - q), p * (1 - q)])
    law = np.array([1.0])
    for _ in range(bits):
        law = np.convolve(law, steps)
    return float(law[:bits].sum() + law[bits] / 2)


def binomial_law(bits: int, chance: Floats) -> Floats:
    """The binomial law of each chance, one in each row."""
    from scipy.special import gammaln, xlog1py, xlogy

    h = np.arange(bits + 1)
    ways = gammaln(bits + 1) - gammaln(h + 1) - gammaln(bits - h + 1)
    p = chance[:, None]
    return np.asarray(np.exp(ways + xlogy(h, p) + xlog1py(bits - h, -p)))


def _fewer(many: NDArray[np.int64], chance: Floats, k: int) -> Floats:
    """For each group, the chance that fewer than ``k`` come before one of its members, who is not counted."""
    whole = [_numbers(int(m), p, k) for m, p in zip(many, chance, strict=True)]
    nobody = np.zeros((k, *chance.shape[1:]))
    nobody[0] = 1.0
    left, right = [nobody], [nobody]
    for one, last in zip(whole[:-1], whole[:0:-1], strict=True):
        left.append(_sum(left[-1], one))
        right.append(_sum(right[-1], last))
    own = (_numbers(int(m) - 1, p, k) for m, p in zip(many, chance, strict=True))
    return np.array([_sum(_sum(a, b), mine).sum(axis=0) for a, b, mine in zip(left, right[::-1], own, strict=True)])


def _numbers(count: int, chance: Floats, k: int) -> Floats:
    """The chances of 0 to k - 1 successes among ``count``."""
    from scipy.special import gammaln, xlog1py, xlogy

    j = np.arange(k).reshape(-1, *[1] * chance.ndim)
    possible = np.minimum(j, count)
    ways = gammaln(count + 1) - gammaln(possible + 1) - gammaln(count - possible + 1)
    law = np.exp(ways + xlogy(possible, chance) + xlog1py(count - possible, -chance))
    return np.asarray(np.where(j <= count, law, 0.0))


def _sum(one: Floats, two: Floats) -> Floats:
    """The law of a sum, as far as both are known."""
    k = len(one)
    out = np.zeros(np.broadcast_shapes(one.shape, two.shape))
    for j in range(k):
        out[j:] += one[j] * two[: k - j]
    return out
