r"""Audit of noise on word vectors after decoding: enumerated for a few words in the plane, and bounded from below for
many.

Decoding only post-processes, so the true epsilon of noisy words is at most the noise's epsilon; how much decoding
takes away has no closed form. On a line or in a plane the probability that noise from a word lands in a cell is an
integral that can be added up: :func:`enumerated` does, and the channel's own epsilon is the smallest that holds. In
many dimensions two facts bound it from below. A word y comes out of itself with a probability that draws measure, and
out of a word x at distance D with at most the probability that noise goes further than D / 2 in one direction, since
it must pass the middle:

.. math:: \epsilon \ge \frac{\ln \Pr[y \to y] - \ln \Pr[\langle v, u \rangle \ge D / 2]}{D}.

>>> import numpy as np, pathlib, tempfile
>>> from noisewright.text import write_embedding
>>> from noisewright.text.words import laplace_words
>>> path = pathlib.Path(tempfile.mkdtemp(), "tiny.nwe")
>>> tiny = write_embedding(path, ["tea", "coffee", "ship"], np.array([[1, 0], [1, 0.5], [-3, 4]]), licence="CC0-1.0")
>>> words = laplace_words(tiny, epsilon=2)
>>> round(enumerated(words).epsilon(metric=words.guarantee.metric).value, 2)
1.32
>>> 0 < least_epsilon(words, rng=np.random.default_rng(1)) < 1.32
True
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import NoChannelError
from noisewright.noise.bits import Rng
from noisewright.text.words.noisy import LAPLACE, NoisyWords

__all__ = ["enumerated", "least_epsilon"]

MOST_WORDS = 20
RAYS, STEPS, LONGEST = 720, 100, 60
"""Number of directions in the plane, of lengths along each of them, and their maximum in units of 1 / epsilon."""
PROBES = 20
"""Number of words that are sampled from: those with the longest vectors, which are far from others and often come out
as themselves."""
PLACES, GRID = 120, 2000
"""Distances, and lengths of noise for each of them, at which tails are computed."""


def enumerated(mechanism: NoisyWords) -> Channel:
    """All probabilities of noisy words, for at most 20 words with at most 2 dimensions: sums along rays around each word.

    A ray is cut where two words are equally far, so that on every piece the order of words by distance stays the same, and the
    noise on the piece has a closed form. What is left to be summed are directions, and for Vickrey the pieces.
    """
    from scipy.special import gammaincc

    embedding = mechanism.embedding
    size, dimension = embedding.size, embedding.dimension
    if size > MOST_WORDS or dimension > 2:
        raise NoChannelError(f"probabilities are enumerated for at most {MOST_WORDS} words in at most 2 dimensions.")
    rate, rays = mechanism.rays(_circle(dimension))
    vectors = embedding.vectors().astype(np.float64)
    first, second = np.triu_indices(size, 1)
    steps = np.broadcast_to(np.linspace(0, LONGEST / rate, STEPS + 1), (len(rays), STEPS + 1))
    table = np.zeros((size, size))
    for row, vector in enumerate(vectors):
        from_here = vectors - vector
        squares, along = (from_here**2).sum(axis=1), 2 * rays @ from_here.T
        with np.errstate(divide="ignore", invalid="ignore"):
            cuts = (squares[first] - squares[second]) / (along[:, first] - along[:, second])
        cuts = np.where((cuts > 0) & np.isfinite(cuts), cuts, 0)
        ends = np.sort(np.concatenate([steps, cuts], axis=1), axis=1)
        mass = gammaincc(dimension, rate * ends)
        mass = mass - np.append(mass[:, 1:], np.zeros((len(rays), 1)), axis=1)  # the last piece has no end
        middles = np.append((ends[:, 1:] + ends[:, :-1]) / 2, ends[:, -1:] + 1 / rate, axis=1)
        apart = np.sqrt(
            np.maximum(
                middles[..., None] ** 2 * (rays**2).sum(axis=1)[:, None, None]
                - middles[..., None] * along[:, None]
                + squares,
                0,
            )
        )
        table[row] = mass.ravel() @ mechanism.shares(apart.reshape(-1, size)) / len(rays)
    names = embedding.words()
    return Channel(table / table.sum(axis=1, keepdims=True), names, names)


def least_epsilon(mechanism: NoisyWords, draws: int = 400, confidence: float = 0.99, rng: Rng = None) -> float:
    """An epsilon that spherical noise with decoding does not go below, with this confidence; 0 where draws show nothing."""
    from scipy.special import betaincinv

    if mechanism.name != LAPLACE:
        raise NoChannelError("an epsilon is bounded from below for laplace-words; the others have no such formula.")
    embedding = mechanism.embedding
    probes = np.argsort(-embedding.norms, kind="stable")[:PROBES].astype(np.int64)
    out = mechanism.release_rows(np.repeat(probes, draws), rng).reshape(len(probes), draws)
    kept = (out == probes[:, None]).sum(axis=1)
    surely = np.where(kept > 0, betaincinv(np.maximum(kept, 1), draws - kept + 1, (1 - confidence) / len(probes)), 0)
    apart = embedding.distances(probes, np.arange(embedding.size))
    grid = np.linspace(0, apart.max(), PLACES)
    beyond = _log_beyond(float(mechanism.epsilon), embedding.dimension, grid / 2)
    # Beyond a place of the grid there is more than beyond the next one, so the place before stands for the values
    # between.
    passing = beyond[np.maximum(np.searchsorted(grid, apart, side="right") - 1, 0)]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(apart > 0, (np.log(surely)[:, None] - passing) / apart, 0)
    return max(0.0, float(found.max()))


def _circle(dimension: int) -> Floats:
    if dimension == 1:
        return np.array([[1.0], [-1.0]])
    angles = (np.arange(RAYS) + 0.5) * (2 * np.pi / RAYS)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _log_beyond(epsilon: float, dimension: int, places: Floats) -> NDArray[np.float64]:
    """The logarithm of the probability that spherical noise goes at least so far in one direction: over all its lengths."""
    from scipy.special import betainc, gammaln

    if dimension == 1:
        return np.asarray(-epsilon * places - np.log(2))
    longest = (dimension + 60 * np.sqrt(dimension)) / epsilon
    found = np.empty(len(places))
    for number, place in enumerate(places.tolist()):
        lengths = np.linspace(place, place + longest, GRID + 1)[1:]
        with np.errstate(divide="ignore"):
            directions = np.log(betainc((dimension - 1) / 2, 0.5, 1 - (place / lengths) ** 2) / 2)
        density = dimension * np.log(epsilon) - gammaln(dimension) - epsilon * lengths
        logs = density + (dimension - 1) * np.log(lengths) + directions
        found[number] = logs.max() + np.log(np.exp(logs - logs.max()).sum() * (longest / GRID))
    return found
