r"""The best possible attacker on noisy codes, and what epsilon allows any attacker of a gallery.

A decoded face is a function of its noisy code, so no one who sees the face can do better than someone who sees the
code itself. For a known gallery of candidates the likelihood of candidate x given a noisy code z is ``e^(-|x - z| /
t)`` times what all candidates share, at the border of the box as well as inside
(:mod:`noisewright.images.faces.noisy_codes`). Therefore the attacker with the highest chance names the candidate
nearest to what was released; for several releases, the candidate with the least sum of distances. An attack on
pictures that does worse than this has not shown that a face is safe.

Before anything is drawn, the guarantee alone says that the belief in candidate i, all being equally likely, is at most
:math:`1 / \sum_j e^{-\varepsilon d(x_i, x_j)}` (:func:`gallery_risk`).

>>> from noisewright.images.faces import CodeSpace, NoisyCodes
>>> noisy = NoisyCodes(200, CodeSpace.of([0, 0], [1, 1]))
>>> attacker = BayesAttacker(noisy, [[0.1, 0.2], [0.8, 0.4], [0.5, 0.9]])
>>> attacker.guesses(noisy.release([[0.5, 0.9], [0.1, 0.2]], np.random.default_rng(1))).tolist()
[2, 0]
>>> attacker.success(100, np.random.default_rng(1)) <= attacker.bound
True
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, softmax

from noisewright.core.arrays import Floats, Indices
from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import Exact, positive_fraction
from noisewright.images.faces.noisy_codes import NoisyCodes

__all__ = ["BayesAttacker", "gallery_risk"]

TOGETHER = 256
"""Approximate number of noisy codes drawn at once."""


class BayesAttacker:
    """Knows the mechanism, the codes of a gallery, and that all its people are equally likely."""

    def __init__(self, mechanism: NoisyCodes, gallery: ArrayLike) -> None:
        self.mechanism = mechanism
        self.gallery = np.atleast_2d(mechanism.space.points(gallery))
        if len(self.gallery) < 2:
            raise DataError("a gallery has two people or more, with one code for each.")

    @property
    def bound(self) -> float:
        """Largest success probability that the guarantee allows any attacker on one release."""
        return gallery_risk(self.mechanism.space.apart(self.gallery, self.gallery), self.mechanism.epsilon)

    def beliefs(self, *releases: ArrayLike) -> Floats:
        """Return the posterior of each candidate (a column) after noisy codes (a row each), one list of rows for each
        release."""
        return np.asarray(softmax(-self._losses(*releases), axis=1))

    def guesses(self, *releases: ArrayLike) -> Indices:
        """The place of the most likely candidate for each row."""
        return np.asarray(self._losses(*releases).argmin(1))

    def success(self, copies: int, rng: np.random.Generator | None = None, *, releases: int = 1) -> float:
        """The share of right guesses when every person of the gallery is released ``releases`` times, ``copies`` times over."""
        if not all(is_whole(number) and number >= 1 for number in (copies, releases)):
            raise ParameterError("copies and releases are whole numbers from 1 on.")
        space, people, right = self.mechanism.space, len(self.gallery), 0
        together = max(1, TOGETHER // people)
        for start in range(0, copies, together):
            times = min(together, copies - start)
            asked = np.tile(self.gallery, (times, 1))
            drawn = [space.codes(self.mechanism.drawn(asked, rng)) for _ in range(releases)]
            right += int((self.guesses(*drawn) == np.tile(np.arange(people), times)).sum())
        return right / (copies * people)

    def _losses(self, *releases: ArrayLike) -> Floats:
        """Minus the logarithm of the likelihood of each candidate, up to a common term."""
        if not releases:
            raise DataError("an attacker needs one release or more.")
        space = self.mechanism.space
        apart = [space.apart(np.atleast_2d(space.points(codes)), self.gallery) for codes in releases]
        if len({len(rows) for rows in apart}) > 1:
            raise DataError("several releases are of the same people: each has a row for each of them.")
        return np.asarray(sum(apart) * float(self.mechanism.epsilon))


def gallery_risk(distances: ArrayLike, epsilon: Exact) -> float:
    """The largest belief that ``epsilon`` allows in any candidate, by the distances between all of them; a uniform prior.

    No attacker names the right candidate more often. For m releases, m times epsilon.

    >>> round(gallery_risk([[0, 0.1], [0.1, 0]], 10), 4)  # 1 / (1 + 1/e)
    0.7311
    """
    apart = np.asarray(distances, np.float64)
    if apart.ndim != 2 or apart.shape[0] != apart.shape[1] or not apart.size or not (apart >= 0).all():
        raise DataError("the distances between candidates are a square of numbers from 0 on.")
    return float(np.exp(-logsumexp(-float(positive_fraction(epsilon, "epsilon")) * apart, axis=1)).max())
