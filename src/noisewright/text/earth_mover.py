r"""Lifting a mechanism from words to bags of words, and the audit of what that guarantees, by enumeration.

A mechanism K on members becomes K* on bags: every member is drawn by itself, and the order is forgotten,

.. math:: K^*(b)\{c\} = \sum_{\sigma} \prod_i K(b_i)\{c_{\sigma(i)}\}

over the different orders of c. If K is :math:`\epsilon d`-private, K* is :math:`\epsilon N E_d`-private between bags
of one size N, with the Earth Mover's distance E over d: align the bags by their best matching, bound each term by the
product, and add up. Bags of different sizes are distinguished by their sizes alone, so nothing is guaranteed between
them.

>>> from noisewright.mechanisms import geometric
>>> word = geometric(epsilon=1, within=(0, 2)).channel()
>>> bags = lift(word, 2)
>>> bags.inputs[:3], len(bags.outputs)
(((0, 0), (0, 1), (0, 2)), 6)
>>> found = audit_lifted(word, 2, epsilon=1)
>>> found.holds, round(found.tightness, 9)
(True, 1.0)

For bags :math:`\langle x_i^{a_i} \rangle` and :math:`\langle y_j^{b_j} \rangle` it is the minimum of
:math:`\sum_{ij} d(x_i, y_j) F_{ij}` over flows :math:`F \ge 0` with row sums :math:`a_i / |X|` and column sums
:math:`b_j / |Y|`. Between bags of one size N some best flow is a matching (Birkhoff and von Neumann):

.. math:: E(X, Y) = \frac{1}{N} \min_\sigma \sum_i d(x_i, y_{\sigma(i)}).

Therefore ``total``, which is N E, is the cost of the whole matching, and a document whose words are each drawn with
``epsilon`` for each unit of distance loses at most ``epsilon * total`` against another one. It is never multiplied by
N a second time.

Between bags of different sizes the distance is defined, but is not a measure of privacy: a bag and its doubled copy
are at distance 0, and a mechanism that draws word by word distinguishes them by their sizes. ``total`` is None there.

>>> found = earth_movers([[0.0], [10.0]], [[11.0], [0.0]])
>>> found.mean, found.total, found.flow.tolist()
(0.5, 1.0, [[0, 1], [1, 0]])

Reference: Kusner, Sun, Kolkin and Weinberger, "From word embeddings to document distances", ICML 2015.

Each of N vectors in n dimensions gets noise whose length is Gamma(n, 1/epsilon). Members stay matched to themselves, so the
Earth
Mover's distance is at most the mean length, and a sum of N such lengths is Gamma(nN, 1/epsilon). For every radius

.. math:: \Pr[E(b, \mathit{out}) \le \Delta] \;\ge\; P(nN, \epsilon N \Delta) = 1 - e^{-a} \sum_{i < nN} a^i / i!,
   \quad a = \epsilon N \Delta,

with the regularised incomplete gamma function P, and with equality where all vectors of the bag coincide. The radius
has no condition. (A printed version sums to n - 1 in place of nN - 1, which is false for more than one vector: it
guarantees 0.26 where the probability is 0.037.)

The bound is about vectors. After decoding to the nearest word the distance is usually far smaller.

>>> round(hit_rate(1, 2, epsilon=1, radius=0.15), 4)
0.0369
>>> round(hit_radius(300, 100, epsilon=10, chance=0.5), 2)
30.0

*Matched*: the cheapest matching counts, whatever the order of words: for bags of one size N this is N times their Earth
Mover's
distance. *Aligned*: the first word is matched to the first, the second to the second, and so on, for outputs that keep the
order.
A word without a partner costs the **diameter**, a public number that no distance of two words exceeds: twice the largest norm.
Where the number of words comes out as it is (``sized=False``), documents of different lengths are infinitely far apart.

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwe")
>>> tiny = write_embedding(path, ["tea", "coffee", "ship"], np.array([[1, 0], [1, 0.5], [-3, 4]]), licence="CC0-1.0")
>>> bags, lines = MatchedWords(tiny), AlignedWords(tiny)
>>> bags.distance(("tea", "ship"), ("ship", "coffee")), round(lines.distance(("tea", "ship"), ("ship", "coffee")), 3)
(0.5, 10.972)
>>> bags.distance(("tea",), ("tea", "ship")) == diameter_of(tiny) == 10
True
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright.channels.channel import Channel
from noisewright.claims.phrases import base_name
from noisewright.exceptions import DataError, MetricError, MissingPartError, ParameterError
from noisewright.metrics.base import Line, Metric, as_metric
from noisewright.metrics.composite import EarthMovers
from noisewright.text.embedding import Embedding
from noisewright.text.nearest_words import WordDistance, single_products

__all__ = [
    "AlignedWords",
    "LiftedAudit",
    "MatchedWords",
    "Transport",
    "audit_lifted",
    "diameter_of",
    "earth_movers",
    "hit_radius",
    "hit_rate",
    "lift",
    "lower_bound",
    "vector_distances",
]


MOST_BAGS = 3000
"""Bags of secrets times bags of outputs are compared, so there must not be more of either."""
ROUNDING = 1e-9
"""Sums of products of floats may be off by this much of a log-ratio; the verdict says so."""


@dataclass(frozen=True)
class LiftedAudit:
    """Result of enumeration of a lifted mechanism."""

    size: int
    epsilon: float
    """The smallest epsilon for each unit of N times the Earth Mover's distance that all pairs of bags keep, up to rounding."""
    claimed: float
    pair: tuple[Hashable, Hashable] | None
    """Two bags that come closest to the claim; None where no two bags are distinguished."""

    @property
    def tightness(self) -> float:
        """The smallest epsilon divided by the claimed one: 1 where the claim is reached."""
        return self.epsilon / self.claimed

    @property
    def holds(self) -> bool:
        """Return whether every pair keeps the claim, up to the rounding of floats."""
        return self.epsilon <= self.claimed * (1 + ROUNDING) + ROUNDING


def lift(channel: Channel, size: int) -> Channel:
    """The channel of K* between bags of ``size`` members; bags are sorted tuples, in the order of the labels."""
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise ParameterError("the size of a bag is a whole number from 1 on.")
    secrets, outputs = len(channel.inputs), len(channel.outputs)
    if max(math.comb(secrets + size - 1, size), math.comb(outputs + size - 1, size)) > MOST_BAGS:
        raise ParameterError(
            f"there are more than {MOST_BAGS} bags of {size} members; enumerate fewer members or smaller bags."
        )
    matrix = np.asarray(channel.matrix, dtype=np.float64)
    rows = list(combinations_with_replacement(range(secrets), size))
    columns = list(combinations_with_replacement(range(outputs), size))
    place = {bag: number for number, bag in enumerate(columns)}
    lifted = np.zeros((len(rows), len(columns)))
    for number, bag in enumerate(rows):  # the law of a bag grows by one member at a time
        law: dict[tuple[int, ...], float] = {(): 1.0}
        for member in bag:
            grown: dict[tuple[int, ...], float] = {}
            for drawn, chance in law.items():
                for output in np.flatnonzero(matrix[member]):
                    key = tuple(sorted((*drawn, int(output))))
                    grown[key] = grown.get(key, 0.0) + chance * matrix[member, output]
            law = grown
        for drawn, chance in law.items():
            lifted[number, place[drawn]] = chance
    return Channel(
        lifted / lifted.sum(axis=1, keepdims=True),
        inputs=[tuple(channel.inputs[i] for i in bag) for bag in rows],
        outputs=[tuple(channel.outputs[j] for j in bag) for bag in columns],
    )


def audit_lifted(channel: Channel, size: int, *, epsilon: float, metric: Metric | None = None) -> LiftedAudit:
    """Return whether K* keeps ``epsilon`` for each unit of N times the Earth Mover's distance over ``metric``
    (default: the line)."""
    if not (isinstance(epsilon, int | float) and math.isfinite(epsilon) and epsilon > 0):
        raise ParameterError("the epsilon that is claimed is a finite number above 0.")
    lifted = lift(channel, size)
    found = lifted.epsilon(metric=EarthMovers(as_metric(metric, Line())))
    return LiftedAudit(size, found.value / size, float(epsilon), found.pair)


# Moving -------------------------------------------------------------------------------------------------------------------
#
# The Earth Mover's distance between two bags of words: the least mean distance over which one is moved to the other.


LARGEST = 1e150
"""Coordinates beyond this have squares that cannot be added up."""


@dataclass(frozen=True, eq=False)
class Transport:
    """Optimal movement of one bag to another."""

    mean: float
    """The Earth Mover's distance."""
    total: float | None
    """The cost of the whole matching, which is the size of the bags times ``mean``; None for bags of different sizes."""
    flow: NDArray[np.int64]
    """Members that are matched, as pairs of their places in the two bags."""
    mass: Floats
    """Share of the whole mass for each pair of ``flow``."""


def earth_movers(first: Any, second: Any, *, embedding: Embedding | None = None) -> Transport:
    """The Earth Mover's distance of two bags, each an array of vectors; with an ``embedding``, each a list of its words.

    Bags of one size are matched by an assignment; others need POT (the extra ``transport``).
    """
    with single_products():  # documents are short
        if embedding is None:
            costs = vector_distances(first, second)
        else:
            costs = embedding.distances(_rows(first, embedding), _rows(second, embedding))
    return moved(costs)


def moved(costs: Floats) -> Transport:
    """The best way to move one bag to another, from the distances between their members."""
    rows, columns = costs.shape
    if rows == columns:
        from scipy.optimize import linear_sum_assignment

        pairs = linear_sum_assignment(costs)
        total = float(costs[pairs].sum())
        return Transport(total / rows, total, np.column_stack(pairs).astype(np.int64), np.full(rows, 1 / rows))
    try:
        import ot
    except ImportError:
        raise MissingPartError(
            "documents of different sizes are compared with POT; install noisewright[transport], or give them one size."
        ) from None
    plan, log = ot.emd(np.full(rows, 1 / rows), np.full(columns, 1 / columns), costs, numItermax=10_000_000, log=True)
    if log.get("warning"):
        raise DataError("the transport problem was not solved to its end; compare shorter documents.")
    flow = np.argwhere(plan)
    return Transport(float(log["cost"]), None, flow.astype(np.int64), plan[flow[:, 0], flow[:, 1]])


def lower_bound(first: ArrayLike, second: ArrayLike) -> float:
    """A number that the Earth Mover's distance of two bags of vectors is not below, without a transport problem.

    The larger of the distance between the mean vectors and the mean distance to the nearest member of the other bag.

    >>> lower_bound([[0.0], [10.0]], [[11.0], [0.0]])
    0.5
    """
    a, b = _vectors(first), _vectors(second)
    costs = vector_distances(a, b)
    nearest = max(costs.min(axis=1).mean(), costs.min(axis=0).mean())
    return float(max(nearest, np.linalg.norm(a.mean(axis=0) - b.mean(axis=0))))


def vector_distances(first: ArrayLike, second: ArrayLike) -> Floats:
    """The Euclidean distances between the members of two bags of vectors, by one matrix product.

    What the product loses is put right where two members nearly coincide: their difference is taken itself.
    """
    a, b = _vectors(first), _vectors(second)
    if a.shape[1] != b.shape[1]:
        raise DataError(f"the vectors of one bag have {a.shape[1]} coordinates, those of the other {b.shape[1]}.")
    x, y = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
    squares = x[:, None] + y[None, :]
    near = squares * 1e-9
    squares -= 2 * (a @ b.T)
    rows, columns = np.nonzero(squares <= near)
    squares[rows, columns] = ((a[rows] - b[columns]) ** 2).sum(axis=1)
    return np.asarray(np.sqrt(squares, out=squares))


def _vectors(bag: ArrayLike) -> Floats:
    try:
        found = np.asarray(bag, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("a bag of vectors is an array of numbers, one row for each vector.") from None
    if found.ndim != 2 or not found.size:
        raise DataError("a bag of vectors is an array with a row for each vector, at least one.")
    if not (np.abs(found) <= LARGEST).all():
        raise DataError("the vectors of a bag are finite numbers; take out what is missing first.")
    return found


def _rows(bag: Sequence[str], embedding: Embedding) -> NDArray[np.int64]:
    if isinstance(bag, str) or not len(bag):
        raise DataError("a bag of words is a list of words, at least one.")
    rows = embedding.rows(bag)
    if (rows < 0).any():
        raise DataError(
            f"{int((rows < 0).sum())} of {len(rows)} words are not in the embedding {embedding.name}; take them out first."
        )
    return rows


# Noisy bags ---------------------------------------------------------------------------------------------------------------
#
# Distance of a noisy bag of vectors from the true one: a probability that holds for every bag.


def hit_rate(dimension: int, size: int, *, epsilon: float, radius: float) -> float:
    """A probability with which a noisy bag of ``size`` vectors lies within ``radius`` of the true one."""
    from scipy.special import gammainc

    shape = _shape(dimension, size, epsilon)
    if not radius >= 0:
        raise ParameterError("a radius is a number from 0 on.")
    return float(gammainc(shape, float(epsilon) * size * float(radius)))


def hit_radius(dimension: int, size: int, *, epsilon: float, chance: float) -> float:
    """The radius within which a noisy bag lies at least with probability ``chance``, by :func:`hit_rate`."""
    from scipy.special import gammaincinv

    shape = _shape(dimension, size, epsilon)
    if not 0 <= chance < 1:
        raise ParameterError("a chance is a number from 0 on and below 1.")
    return float(gammaincinv(shape, float(chance))) / (float(epsilon) * size)


def _shape(dimension: int, size: int, epsilon: float) -> int:
    for name, count in (("dimension", dimension), ("size", size)):
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ParameterError(f"the {name} is a whole number from 1 on.")
    if not (epsilon > 0 and math.isfinite(epsilon)):
        raise ParameterError("epsilon is a finite number above 0, for each unit of distance.")
    return dimension * size


# Matched ------------------------------------------------------------------------------------------------------------------
#
# Distance of two documents: the words of one are matched to those of the other, and the distances add up.


def diameter_of(embedding: Embedding) -> float:
    """A public number that no distance of two words exceeds: twice the largest norm, rounded up."""
    return 2 * float(np.ceil(np.sqrt(float(embedding.norms.max())))) * embedding.step


@dataclass(frozen=True)
class MatchedWords(Metric):
    """The cost of the cheapest matching of the words of two documents, each a sequence of words of the embedding."""

    embedding: Embedding
    sized: bool = True
    """Whether documents of every length come out as long as each other."""

    @property
    def secret(self) -> dict[str, Any]:
        """Documents, of the same length where that comes out as it is."""
        return {"kind": "document", **({} if self.sized else {"same_length": True})}

    @property
    def finite(self) -> bool:  # type: ignore[override]
        """Return whether every distance is."""
        return self.sized

    @property
    def name(self) -> str:  # type: ignore[override]
        return base_name(self.record())

    def record(self) -> dict[str, Any]:
        return {**WordDistance(self.embedding).record(), "order": "matched"}

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between documents."""
        bags = [self._rows(point) for point in points]
        result = np.zeros((len(bags), len(bags)))
        for i, first in enumerate(bags):
            for j in range(i + 1, len(bags)):
                comparable = self.sized or len(first) == len(bags[j])
                result[i, j] = result[j, i] = self._cost(first, bags[j]) if comparable else np.inf
        return result

    def _cost(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
        longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
        costs = np.full((len(longer), len(longer)), diameter_of(self.embedding))
        costs[:, : len(shorter)] = self.embedding.distances(longer, shorter)
        return moved(costs).mean * len(longer) if len(longer) else 0.0

    def _rows(self, point: Any) -> NDArray[np.int64]:
        if isinstance(point, str) or not isinstance(point, Sequence) or not all(isinstance(w, str) for w in point):
            raise MetricError("the distance of documents is between sequences of words; split texts into words first.")
        rows = self.embedding.rows(point)
        if (rows < 0).any():
            raise MetricError(f"some words are not in the vocabulary of {self.embedding.name!r}.")
        return rows


@dataclass(frozen=True)
class AlignedWords(MatchedWords):
    """The sum of the distances between the words at the same places of two documents."""

    def record(self) -> dict[str, Any]:
        return {**WordDistance(self.embedding).record(), "order": "aligned"}

    def _cost(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
        both = min(len(first), len(second))
        apart = self.embedding.distances(first[:both], second[:both]).diagonal().sum() if both else 0.0
        return float(apart) + diameter_of(self.embedding) * abs(len(first) - len(second))
