r"""The k-same family: every face is replaced by the mean of a cluster of k faces or more. **No differential guarantee.**

Intended property: a released face is shared by at least k people of the gallery, so that who sees one release and
knows nothing else is right about a person with a chance of 1/k at most. It falls as soon as there are two releases of
overlapping galleries, or an adversary knows who is *not* in the picture
(:mod:`noisewright.images.attackers.on_clusters`). It is here to be compared with and attacked.

* *pixel*: means of aligned pixels, with ghosts (:func:`k_same_pixels`);
* *eigen*, *net*, or of any other model: means of codes, decoded (:func:`k_same_codes`);
* *m*: means of the codes of :class:`~noisewright.images.baselines.appearance.ActiveAppearance` (:func:`cluster_means`);
* *select*: clusters within each of the ``classes``, such as genders, which is needed where the output shows the class;
* *furthest*: clusters of faces that are unlike each other, each new member the one whose nearest so far is farthest.

Clusters are greedy: a face is picked in a given order, with the k - 1 nearest that are left; when fewer than 2k are left,
they are the last cluster.

>>> found = k_clusters(np.array([[0.0], [10], [1], [11], [12]]), 2)
>>> [cluster.tolist() for cluster in found]
[[0, 2], [1, 3, 4]]
>>> cluster_means(np.array([[0.0], [10], [1], [11], [12]]), found).ravel().tolist()
[0.5, 11.0, 0.5, 11.0, 11.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from noisewright.core.arrays import Floats, Indices
from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.images.faces.models.model import FaceModel
from noisewright.images.pictures.reading import Picture
from noisewright.images.pictures.writing import as_pixels

__all__ = ["Clusters", "cluster_means", "k_clusters", "k_same_codes", "k_same_pixels"]

Clusters = list[Indices]
"""The rows of a gallery, cluster by cluster."""


def k_clusters(
    codes: NDArray[Any],
    k: int,
    *,
    classes: Sequence[Any] | None = None,
    furthest: bool = False,
    rng: np.random.Generator | None = None,
) -> Clusters:
    """Clusters of k to 2k - 1 codes, one code for each person; picked in the order given, or at random with ``rng``."""
    given = np.asarray(codes, np.float64)
    if given.ndim != 2 or not len(given) or not np.isfinite(given).all():
        raise DataError("a gallery has one code of finite numbers for each person, one in each row.")
    labels = np.zeros(len(given)) if classes is None else np.asarray(classes)
    if labels.shape != (len(given),):
        raise DataError(f"there are {len(given)} people and {labels.size} classes; every person is in one.")
    found: Clusters = []
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        if not is_whole(k) or not 2 <= k <= len(rows):
            raise ParameterError("k is a whole number from 2 to the size of the gallery, or of its smallest class.")
        order = rows if rng is None else rng.permutation(rows)
        found += [order[cluster] for cluster in _greedy(cdist(given[order], given[order]), k, furthest)]
    return found


def cluster_means(codes: NDArray[Any], clusters: Clusters) -> Floats:
    """NO GUARANTEE: every code replaced by the mean of its cluster."""
    result = np.empty(codes.shape)
    for cluster in clusters:
        result[cluster] = codes[cluster].mean(0)
    return result


def k_same_pixels(faces: Picture, k: int, **options: Any) -> tuple[Picture, Clusters]:
    """NO GUARANTEE: means of pixels, one face for each person; with the clusters. Options are those of :func:`k_clusters`."""
    flat = faces.reshape(len(faces), -1)
    clusters = k_clusters(flat, k, **options)
    return as_pixels(cluster_means(flat, clusters)).reshape(faces.shape), clusters


def k_same_codes(model: FaceModel, faces: Picture, k: int, **options: Any) -> tuple[Picture, Clusters]:
    """NO GUARANTEE: means of the codes of a model, decoded: k-same-eigen where that is eigenfaces."""
    codes = model.encode(faces)
    clusters = k_clusters(codes, k, **options)
    return model.decode(cluster_means(codes, clusters)), clusters


def _greedy(apart: Floats, k: int, furthest: bool) -> Clusters:
    left, found = np.arange(len(apart)), []
    while len(left):
        many = k if len(left) >= 2 * k else len(left)
        if furthest:
            chosen = [int(left[0])]
            for _ in range(many - 1):
                rest = np.setdiff1d(left, chosen)
                chosen.append(int(rest[apart[rest][:, chosen].min(1).argmax()]))
            cluster = np.array(chosen, np.intp)
        else:  # the face itself first, even where another is the same
            nearest = left[1:][np.argsort(apart[left[0], left[1:]], kind="stable")]
            cluster = np.concatenate([left[:1], nearest[: many - 1]])
        found.append(cluster)
        left = left[~np.isin(left, cluster)]
    return found
