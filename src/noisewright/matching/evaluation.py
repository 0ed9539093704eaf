r"""Quality of returned neighbours, for anyone who has the true profiles: recall, and the distance that is lost.

*Recall at k* is the share of the k nearest that was returned; a neighbour that is as near as the k-th counts, anyone
who it is. The *utility loss* is how much further away, on average, the returned ones are than the nearest (in units of
the distance, from 0 to 1):

.. math:: U = \frac{1}{k} \sum_{x \in \text{returned}} d(x_0, x) - \frac{1}{k} \sum_{x \in \text{nearest}} d(x_0, x) \ge 0 .

It is more informative than recall where many are about equally near.

>>> profiles = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
>>> found = search_quality(profiles, np.array([[1], [0], [3], [0]]))
>>> found.recall, round(found.loss, 3), round(found.random_recall, 3)
(0.75, 0.109, 0.333)

Each code differs from the one that is searched with in a binomial number of bits
(:mod:`~noisewright.matching.nearest_neighbours`),
a smaller one for nearer profiles. Among equals the search chooses at random, as if every code had a lot :math:`u` from 0 to 1
behind its number of bits. A code with :math:`h` bits and lot :math:`u` is returned among the first :math:`k` if fewer than
:math:`k` others come before it, and another one at distance :math:`d_g` does with the chance :math:`F_g(h - 1) + u\,p_g(h)`:
its
number of bits is smaller, or equal with a smaller lot. So

.. math:: \Pr[\text{returned}] = \sum_h p(h) \int_0^1
          \Pr\Bigl[\sum_g \mathrm{Bin}\bigl(m_g, F_g(h-1) + u\,p_g(h)\bigr) < k\Bigr] du ,

a finite sum of binomials; the integrand is a polynomial, integrated by a Gauss-Legendre rule, with an error below one
in a million. Distances are given, ties are counted, and nothing is simulated.

**What is assumed.** Numbers of bits are taken to be independent between candidates. They share the directions and the
query code. For profiles at right angles to each other that changes nothing about any two of them; where candidates are
near each other, they come in or stay out together. For two candidates, :mod:`noisewright.matching.guarantees`
does without that assumption.

>>> sure = returned_odds([0.05, 0.5], [1, 999], neighbours=1, bits=128, flip=0.1)
>>> [float(p.round(6)) for p in sure]
[0.999715, 0.0]
>>> float(round(true_odds([0.2] * 10, [0.45] * 990, neighbours=10, bits=128, flip=0.1), 3))
0.802

Profiles of a test are encoded as clients would, everyone's neighbours are searched as a server would, and the results
are compared with the true neighbours, with the results of hashing alone, and with what
:mod:`~noisewright.matching.evaluation` says from the distances. Next to it stands the leakage of the codes: how often
someone who knows all profiles names whose a code is.

>>> from noisewright.resources import Seed
>>> rng = np.random.default_rng(0)
>>> first = rng.standard_normal((100, 30))
>>> profiles = np.concatenate([first, first + 0.2 * rng.standard_normal(first.shape)])  # everybody has somebody like them
>>> found = evaluate(Scheme(dimension=30, bits=128, epsilon=2, seed=Seed.from_hex("00" * 32)), profiles, neighbours=1, rng=rng)
>>> found.recall > 0.9, abs(found.recall - found.expected) < 0.05
(True, True)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole
from noisewright.exceptions import DataError, ParameterError
from noisewright.matching.nearest_neighbours import differing, nearest_codes, without_own
from noisewright.matching.scheme import Scheme
from noisewright.matching.service import Client

__all__ = [
    "AS_NEAR",
    "Evaluation",
    "Quality",
    "all_distances",
    "evaluate",
    "members",
    "number_of",
    "returned_odds",
    "search_quality",
    "taken",
    "true_odds",
    "unit_rows",
    "with_direction",
]


TOGETHER = 1 << 23
"""Distances that are held at once."""
AS_NEAR = 1e-9
"""Distances that differ by less are equal except for rounding."""


@dataclass(frozen=True)
class Quality:
    """Quality of a search, on average over the queries; the last two are for neighbours drawn at random."""

    recall: float
    loss: float
    nearest: float
    """The mean distance of the true neighbours."""
    random_recall: float
    random_loss: float


def search_quality(
    profiles: Any,
    returned: NDArray[np.int64],
    queries: NDArray[np.int64] | None = None,
    *,
    family: str = "projection",
) -> Quality:
    """Return the quality of the ``returned`` rows as neighbours of the rows ``queries`` (all of them without it).

    Distances are those that the ``family`` of hashes is made for: angles, unless another one is named.
    """
    k = returned.shape[1]
    asked = np.arange(len(returned)) if queries is None else queries
    sums = np.zeros(5)
    start = 0
    for distances in all_distances(profiles, asked, family):
        rows = np.arange(len(distances))
        distances[rows, asked[start : start + len(rows)]] = np.inf  # no one is an own neighbour
        found = np.take_along_axis(distances, returned[start : start + len(rows)], axis=1)
        nearest = np.partition(distances, k - 1, axis=1)[:, :k]
        distances[rows, asked[start : start + len(rows)]] = 0.0
        others = distances.shape[1] - 1
        within = distances <= nearest.max(axis=1, keepdims=True) + AS_NEAR
        true = nearest.mean(axis=1)
        sums += [
            (found <= nearest.max(axis=1, keepdims=True) + AS_NEAR).mean(axis=1).sum(),
            (found.mean(axis=1) - true).sum(),
            true.sum(),
            ((within.sum(axis=1) - 1) / others).sum(),
            (distances.sum(axis=1) / others - true).sum(),
        ]
        start += len(rows)
    recall, loss, near, random_recall, random_loss = (sums / len(asked)).tolist()
    return Quality(recall, loss, near, random_recall, random_loss)


def all_distances(profiles: Any, queries: NDArray[np.int64], family: str = "projection") -> Iterator[Floats]:
    """The distances, in the distance of the family of hashes, of some profiles to all; in blocks that memory holds."""
    rows = members(profiles) if family in ("minhash", "sampling") else unit_rows(profiles)
    between = {"minhash": _jaccard, "sampling": _alone}.get(family, _angle)
    step = max(1, TOGETHER // rows.shape[0])
    for start in range(0, len(queries), step):
        product = rows[queries[start : start + step]] @ rows.T
        yield between(
            rows, queries[start : start + step], product.toarray() if hasattr(product, "toarray") else product
        )


def _angle(rows: Any, asked: NDArray[np.int64], cosine: Floats) -> Floats:
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)) / np.pi)


def _jaccard(rows: Any, asked: NDArray[np.int64], common: Floats) -> Floats:
    sizes = np.asarray(rows.sum(axis=1)).ravel()
    return np.asarray(1 - common / np.maximum(sizes[asked][:, None] + sizes[None] - common, 1))


def _alone(rows: Any, asked: NDArray[np.int64], common: Floats) -> Floats:
    sizes = np.asarray(rows.sum(axis=1)).ravel()
    return np.asarray((sizes[asked][:, None] + sizes[None] - 2 * common) / rows.shape[1])


def members(profiles: Any) -> Any:
    """Sets as rows of a sparse matrix of ones: collections of items, or the coordinates that are not zero."""
    from scipy.sparse import csr_array

    if hasattr(profiles, "tocsr") or isinstance(profiles, np.ndarray):
        return csr_array(profiles != 0).astype(np.float64)
    known: dict[Any, int] = {}
    columns = [[known.setdefault(item, len(known)) for item in set(items)] for items in profiles]
    ends = np.concatenate([[0], np.cumsum([len(one) for one in columns])])
    flat = np.array([column for one in columns for column in one], dtype=np.int64)
    return csr_array((np.ones(len(flat)), flat, ends), shape=(len(columns), max(1, len(known))))


def unit_rows(profiles: Any) -> Any:
    """Rows of length 1, dense or sparse; a row of zeros has no direction, and is refused."""
    sparse = hasattr(profiles, "tocsr")
    rows: Any = profiles.tocsr().astype(np.float64) if sparse else np.asarray(profiles, dtype=np.float64)
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() if sparse else (rows * rows).sum(axis=1)
    if not np.all(np.isfinite(squares)) or not np.all(squares > 0):
        raise DataError("a profile is all zeros or has a number that is none, and so no direction; leave it out.")
    length = np.sqrt(squares)
    if sparse:
        from scipy.sparse import diags_array

        return (diags_array(1 / length) @ rows).tocsr()
    return rows / length[:, None]


# Odds ---------------------------------------------------------------------------------------------------------------------
#
# Probability that a returned neighbour is a true one: known before a service ships, from distances alone.


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


# Evaluation ---------------------------------------------------------------------------------------------------------------
#
# Evaluation of a scheme on known profiles: for anyone who builds a service, before it ships.


STEP = 1 / 256
"""Distances are rounded to multiples of this before odds are computed."""


@dataclass(frozen=True)
class Evaluation:
    """Quality of a scheme; everything is a mean over all people."""

    people: int
    neighbours: int
    recall: float
    """The share of true neighbours among those returned."""
    expected: float
    """The same from the distances alone, before anything is drawn."""
    hashed_recall: float
    """Without noise, which protects no one."""
    random_recall: float
    loss: float
    """Difference of the mean distances of returned and true neighbours."""
    hashed_loss: float
    random_loss: float
    nearest: float
    """Distance of the true neighbours."""
    named: float
    """Success rate of the best attacker, who knows all profiles and the seed and names the person behind a code;
    blindly 1 / people."""


def evaluate(
    scheme: Scheme, profiles: Any, *, neighbours: int, rng: np.random.Generator, runs: int = 1, sampled: int = 200
) -> Evaluation:
    """Encode all profiles, search for everyone, and compare; the mean of some runs with fresh flips.

    Odds are the mean over ``sampled`` people.
    """
    people = number_of(profiles)
    if people < 2:
        raise DataError("neighbours are found among 2 profiles or more, and there are fewer that are not all zeros.")
    if not 1 <= neighbours < people:
        raise DataError(
            f"{people} people have 1 to {people - 1} neighbours each, not {neighbours}; give more profiles."
        )
    hashed = scheme.hash(profiles)
    client = Client(scheme)
    codes = [hashed, *(client.encode(profiles, rng) for _ in range(runs))]
    own = np.arange(people)
    named = [nearest_codes(hashed, one, 1, rng)[0][:, 0] == own for one in codes[1:]]  # the likeliest person
    plain, *noisy = (search_quality(profiles, _found(one, neighbours, rng), family=scheme.family) for one in codes)
    return Evaluation(
        people,
        neighbours,
        recall=float(np.mean([one.recall for one in noisy])),
        expected=_expected(scheme, profiles, neighbours, rng, min(sampled, people)),
        hashed_recall=plain.recall,
        random_recall=plain.random_recall,
        loss=float(np.mean([one.loss for one in noisy])),
        hashed_loss=plain.loss,
        random_loss=plain.random_loss,
        nearest=plain.nearest,
        named=float(np.mean(named)),
    )


def with_direction(profiles: Any) -> tuple[Any, NDArray[np.int64]]:
    """The profiles that are not all zeros, or empty, and which they are."""
    if not hasattr(profiles, "shape"):
        rows = np.flatnonzero([len(items) > 0 for items in profiles])
    else:
        sparse = hasattr(profiles, "tocsr")
        rows = np.flatnonzero(
            np.diff((profiles.tocsr() != 0).indptr) if sparse else np.any(np.asarray(profiles) != 0, axis=1)
        )
    return taken(profiles, rows), rows


def number_of(profiles: Any) -> int:
    """Return how many profiles there are."""
    return int(profiles.shape[0]) if hasattr(profiles, "shape") else len(profiles)


def taken(profiles: Any, rows: NDArray[np.int64]) -> Any:
    """Some of the profiles."""
    if len(rows) == number_of(profiles):
        return profiles
    return profiles[rows] if hasattr(profiles, "shape") else [profiles[row] for row in rows]


def _found(codes: Any, neighbours: int, rng: np.random.Generator) -> Any:
    """Everyone's neighbours by rows, no one being an own one."""
    return without_own(nearest_codes(codes, codes, neighbours + 1, rng), np.arange(len(codes)))[0]


def _expected(scheme: Scheme, profiles: Any, neighbours: int, rng: np.random.Generator, sampled: int) -> float:
    if scheme.epsilon == 0:
        return float(neighbours / (number_of(profiles) - 1))
    chosen, share = rng.choice(number_of(profiles), sampled, replace=False), float(scheme.words.share)
    found, flip = [], float(scheme.flip)
    for block in all_distances(profiles, chosen, scheme.family):
        for one in share * np.sort(block, axis=1)[:, 1:]:  # without oneself, at a distance of 0
            true = one <= one[neighbours - 1] + AS_NEAR
            found.append(
                true_odds(one[true], one[~true], neighbours=neighbours, bits=scheme.bits, flip=flip, step=STEP)
            )
    return float(np.mean(found))
