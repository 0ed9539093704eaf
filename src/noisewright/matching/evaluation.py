"""Evaluation of a scheme on known profiles: for anyone who builds a service, before it ships.

Profiles of a test are encoded as clients would, everyone's neighbours are searched as a server would, and the results
are compared with the true neighbours, with the results of hashing alone, and with what
:mod:`~noisewright.matching.search.odds` says from the distances. Next to it stands the leakage of the codes: how often
someone who knows all profiles names whose a code is.

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
from numpy.typing import NDArray

from noisewright.core.errors import DataError
from noisewright.matching.client import Client
from noisewright.matching.hashing.scheme import Scheme
from noisewright.matching.search.nearest import nearest_codes, without_own
from noisewright.matching.search.odds import true_odds
from noisewright.matching.search.quality import AS_NEAR, all_distances, search_quality

__all__ = ["Evaluation", "evaluate", "number_of", "taken", "with_direction"]

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
