r"""Attack on k-same: two releases whose clusters overlap, and someone who knows who is not in the picture.

Its 1/k holds for one release and an attacker who knows nothing. Two organisations that release overlapping galleries without
asking each other put a person into two clusters, and the person is in both: the *intersection* is often the person alone.

>>> shared = intersections([[1, 2, 3], [4, 5, 6]], [[1, 4, 7], [2, 3, 8]], [1])
>>> shared, without([1, 2, 3, 4], [3, 4])
([[1]], [1, 2])
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import DataError
from noisewright.images.attackers.recogniser import Recogniser
from noisewright.images.pictures.reading import Picture

__all__ = ["composed_guesses", "intersections", "without"]


def intersections(
    one: Sequence[Collection[Any]], other: Sequence[Collection[Any]], people: Sequence[Any] | NDArray[Any]
) -> list[list[Any]]:
    """Return for each of the people who is in the same cluster in both releases: at best for privacy everyone of a cluster."""
    first, second = _cluster_of(one), _cluster_of(other)
    if not all(person in first and person in second for person in people):
        raise DataError("people who are in both releases are asked for; somebody is not.")
    return [sorted(first[person] & second[person]) for person in people]


def without(cluster: Collection[Any], impossible: Collection[Any]) -> list[Any]:
    """Return the members of a cluster who remain if some are known not to be in the picture; a guess is then right
    once in the size of the rest."""
    left = sorted(set(cluster) - set(impossible))
    if not left:
        raise DataError("nobody of the cluster is left; somebody who is in the picture was excluded.")
    return left


def composed_guesses(
    recogniser: Recogniser, first: Picture, second: Picture, candidates: Sequence[Collection[Any]]
) -> NDArray[Any]:
    """The most likely of the candidates by both releases of each person: scores are added up."""
    if not len(first) == len(second) == len(candidates):
        raise DataError("both releases have one face for each person, with the candidates for it.")
    scores = recogniser.scores(first) + recogniser.scores(second)
    allowed = np.array([np.isin(recogniser.people, list(those)) for those in candidates])
    if not allowed.any(1).all():
        raise DataError("the recogniser knows none of the candidates for somebody; let it learn all people.")
    return np.asarray(recogniser.people[np.where(allowed, scores, -1).argmax(1)])


def _cluster_of(clusters: Sequence[Collection[Any]]) -> dict[Any, set[Any]]:
    return {person: set(cluster) for cluster in clusters for person in cluster}
