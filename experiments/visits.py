"""Made-up visits to places, for experiments: people who mostly go where many go, and where they have been before.

Places are popular by Zipf's law; a visitor makes a log-normal number of visits, and returns to a place of an earlier visit with a
chance of 0.35. This is the shape of check-ins: most people share a few places, and many have a near neighbour. Reference: Song,
Koren, Wang and Barabasi, *Modelling the scaling properties of human mobility* (2010).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

PLACES, RETURN = 20_000, 0.35


def visits(visitors: int, places: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Unit vectors of the visits of so many people to the most popular ``places``; each has been at one of them."""
    popular = 1 / np.arange(1, PLACES + 1)
    chances = np.cumsum(popular / popular.sum())
    rows = np.zeros((visitors, places))
    missing = np.arange(visitors)
    while missing.size:
        numbers = np.maximum(1, np.rint(rng.lognormal(1.5, 1.2, missing.size))).astype(np.int64)
        for row, number in zip(missing.tolist(), numbers.tolist(), strict=True):
            went = np.searchsorted(chances, rng.random(number))
            back = np.flatnonzero(rng.random(number) < RETURN)
            for i in back[back > 0]:
                went[i] = went[rng.integers(i)]
            np.add.at(rows[row], went[went < places], 1.0)
        missing = missing[rows[missing].sum(axis=1) == 0]
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
