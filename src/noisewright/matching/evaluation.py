"""What a scheme finds among profiles that are known: for whoever builds a service, before it ships.

Profiles of a test are encoded as clients would, everybody's neighbours are searched as a server would, and what comes back is
compared with the true neighbours, with what hashing alone finds, and with what :mod:`~noisewright.matching.search.odds` says
from the distances.

>>> from noisewright.core.seed import Seed
>>> rng = np.random.default_rng(0)
>>> first = rng.standard_normal((100, 30))
>>> profiles = np.concatenate([first, first + 0.2 * rng.standard_normal(first.shape)])  # everybody has somebody like them
>>> found = evaluate(Scheme(dimension=30, bits=128, epsilon=2, seed=Seed.from_hex("00" * 32)), profiles, neighbours=1, rng=rng)
>>> found.recall > 0.9, abs(found.recall - found.expected) < 0.05
(True, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.core.errors import DataError
from noisewright.matching.client import Client
from noisewright.matching.hashing.scheme import Scheme
from noisewright.matching.search.nearest import nearest_codes, without_own
from noisewright.matching.search.odds import true_odds
from noisewright.matching.search.quality import AS_NEAR, all_distances, search_quality

__all__ = ["Evaluation", "evaluate", "with_direction"]

STEP = 1 / 256
"""Distances are rounded to multiples of this before odds are computed."""


@dataclass(frozen=True)
class Evaluation:
    """What a scheme finds; everything is a mean over all people."""

    people: int
    neighbours: int
    recall: float
    """The share of true neighbours among those returned."""
    expected: float
    """The same from the distances alone, before anything is drawn."""
    hashed_recall: float
    """Without noise, which protects nobody."""
    random_recall: float
    loss: float
    """How much further away the returned ones are than the true ones."""
    hashed_loss: float
    random_loss: float
    nearest: float
    """How far away the true ones are."""


def evaluate(
    scheme: Scheme, profiles: Any, *, neighbours: int, rng: np.random.Generator, runs: int = 1, sampled: int = 200
) -> Evaluation:
    """Encode all profiles, search for everybody, and compare; the mean of some runs with fresh flips.

    Odds are the mean over ``sampled`` people.
    """
    people = profiles.shape[0]
    if not 1 <= neighbours < people:
        raise DataError(
            f"{people} people have 1 to {people - 1} neighbours each, not {neighbours}; give more profiles."
        )
    hashed = scheme.hash(profiles)
    plain = search_quality(profiles, _found(hashed, neighbours, rng))
    client = Client(scheme)
    noisy = [search_quality(profiles, _found(client.encode(profiles, rng), neighbours, rng)) for _ in range(runs)]
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
    )


def with_direction(profiles: Any) -> tuple[Any, np.ndarray]:
    """The profiles that are not all zeros, and which they are."""
    sparse = hasattr(profiles, "tocsr")
    there = np.diff(profiles.tocsr().indptr) > 0 if sparse else np.any(np.asarray(profiles) != 0, axis=1)
    rows = np.flatnonzero(there)
    return (profiles if len(rows) == profiles.shape[0] else profiles[rows]), rows


def _found(codes: Any, neighbours: int, rng: np.random.Generator) -> Any:
    """Everybody's neighbours by rows, nobody being an own one."""
    return without_own(nearest_codes(codes, codes, neighbours + 1, rng), np.arange(len(codes)))[0]


def _expected(scheme: Scheme, profiles: Any, neighbours: int, rng: np.random.Generator, sampled: int) -> float:
    if scheme.epsilon == 0:
        return float(neighbours / (profiles.shape[0] - 1))
    chosen = rng.choice(profiles.shape[0], sampled, replace=False)
    found, flip = [], float(scheme.flip)
    for block in all_distances(profiles, chosen):
        for one in np.sort(block, axis=1)[:, 1:]:  # without oneself, at a distance of 0
            true = one <= one[neighbours - 1] + AS_NEAR
            found.append(
                true_odds(one[true], one[~true], neighbours=neighbours, bits=scheme.bits, flip=flip, step=STEP)
            )
    return float(np.mean(found))
