r"""The true epsilon of the exponential choice of words, :math:`\beta + \mathrm{slope}(\ln Z)`, and the beta for a target.

Two passes over all pairs of words: one adds up the weights of every word, one finds the steepest pair. Both look at several betas
at once, since the matrix product is the dearer part. Nothing in between is rounded towards less privacy: the chosen beta is one
whose own epsilon, with its own rounding, was computed and is within the target.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction

import numpy as np

from noisewright.core.errors import ParameterError
from noisewright.text.embeddings.embedding import Embedding
from noisewright.text.words._kept import keep, kept
from noisewright.text.words._slopes import Slope, slopes
from noisewright.text.words._sums import all_sums
from noisewright.text.words._tiles import Tiles, cores
from noisewright.text.words.weights import Weights

__all__ = ["calibrated", "free", "seconds_for", "slopes_of", "telling", "true_epsilons"]

Progress = Callable[[int, int | None], None]
_TOLD: ContextVar[Progress | None] = ContextVar("told", default=None)
AT_ONCE = 5
"""Maximum number of betas evaluated in one pass."""
PASSES = 3
"""Number of passes after which beta is within (1/2) / 6^3 of the target: a quarter of a percent."""


@contextmanager
def telling(progress: Progress | None) -> Iterator[None]:
    """Report progress of passes over all pairs of words: pairs of blocks done, and their total."""
    token = _TOLD.set(progress)
    try:
        yield
    finally:
        _TOLD.reset(token)


def slopes_of(embedding: Embedding, several: Sequence[Weights], passed: int = 0, passes: int = 1) -> list[Slope]:
    """The slope of the log-sums of each of several tables of weights; ``passed`` of ``passes`` passes were made before."""
    tiles, tell = Tiles(embedding), _TOLD.get()
    each = tiles.count * (tiles.count + 1)  # of both steps
    so_far = passed * each

    def done(more: int) -> None:
        nonlocal so_far
        so_far += more
        if tell is not None:
            tell(so_far, passes * each)

    logs = np.log(all_sums(tiles, several, done=done)[:, :, 0].astype(np.float64))
    return slopes(tiles, logs, [weights.eta for weights in several], done)


def seconds_for(embedding: Embedding) -> float:
    """About how long one table of weights takes on this machine, if it is quiet."""
    return embedding.size**2 / 2 * (10 + embedding.dimension / 20) * 1e-9 / cores()


def true_epsilons(embedding: Embedding, betas: Sequence[Fraction]) -> list[Fraction]:
    """The epsilon of the choice of words for each beta; rounded up."""
    found = slopes_of(embedding, [Weights.of(embedding, beta) for beta in betas])
    return [beta + slope.value for beta, slope in zip(betas, found, strict=True)]


def calibrated(embedding: Embedding, epsilon: Fraction) -> tuple[Weights, Fraction]:
    """Weights whose true epsilon is at most ``epsilon``, nearly the largest, and their slope; kept for the next time."""
    known = _known(embedding, epsilon)
    if known is not None:
        return Weights.of(embedding, known[0]), known[1]
    low, high = free(embedding, epsilon).beta, epsilon
    best: tuple[Weights, Fraction] | None = None
    for number in range(PASSES):
        betas = [_short(low + (high - low) * part / (AT_ONCE + 1)) for part in range(best is not None, AT_ONCE + 1)]
        several = [Weights.of(embedding, beta) for beta in betas]
        for weights, slope in zip(several, slopes_of(embedding, several, number, PASSES), strict=True):
            if weights.beta + slope.value > epsilon:
                high = weights.beta
                break
            low, best = weights.beta, (weights, slope.value)
        if low >= high:
            break
    assert best is not None  # the first beta of all is one that fits whatever the vectors are
    keep({"beta": str(best[0].beta), "slope": str(best[1])}, embedding, "epsilon", epsilon)
    return best


def free(embedding: Embedding, epsilon: Fraction, reach: Fraction | None = None) -> Weights:
    """Weights whose epsilon is within the given one whatever the vectors are: nearly half of it for each unit, up to a reach."""
    beta = epsilon / 2
    for _ in range(4):
        weights = Weights.of(embedding, _short(beta), None if reach is None else _short(beta) * reach)
        if weights.bound <= epsilon:
            return weights
        beta = weights.beta - (weights.bound - epsilon) / 2  # the bound falls by more than twice of that
        if beta <= 0:
            break
    raise ParameterError("epsilon is too small for the steps that this embedding is stored in; choose a larger one.")


def _known(embedding: Embedding, epsilon: Fraction) -> tuple[Fraction, Fraction] | None:
    """The beta and the slope that were kept, if they can belong to this epsilon: a damaged file is computed again."""
    found = kept(embedding, "epsilon", epsilon) or {}
    try:
        beta, slope = Fraction(found["beta"]), Fraction(found["slope"])
    except (LookupError, TypeError, ValueError, ArithmeticError):
        return None
    return (beta, slope) if beta > 0 and slope >= 0 and beta + slope <= epsilon else None


def _short(beta: Fraction) -> Fraction:
    return Fraction(math.floor(beta * (1 << 30)), 1 << 30)
