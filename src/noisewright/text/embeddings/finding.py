"""The small embedding that comes with Noisewright, and embeddings by name.

It has 5,500 English words in 50 dimensions, trained on the State of the Union addresses and the definitions of WordNet, and is
there for a first try, for tests and for demonstrations: a release deserves a larger one (``noisewright embeddings get``).

>>> small = shipped()
>>> fever = small.rows(["fever"])
>>> near = small.distances(fever, small.rows(["infection", "cough", "treasury"]))[0]
>>> bool(near[:2].max() < near[2])
True
"""

from __future__ import annotations

import os

from noisewright.text.embeddings._layout import SUFFIX
from noisewright.text.embeddings.embedding import Embedding
from noisewright.text.embeddings.places import COMES_ALONG, data_folder

__all__ = ["find_embedding", "shipped"]

SMALL = "small"


def shipped() -> Embedding:
    """The small embedding that comes with Noisewright."""
    return Embedding.at(COMES_ALONG / f"{SMALL}{SUFFIX}")


def find_embedding(name: str | os.PathLike[str]) -> Embedding:
    """An embedding by its path, or by its name: ``small`` is the one that comes along, others lie in the user's data folder."""
    if os.path.lexists(name) or not isinstance(name, str):
        return Embedding.at(name)
    if name == SMALL:
        return shipped()
    fetched = data_folder() / f"{name}{SUFFIX}"
    return Embedding.at(fetched if fetched.name == f"{name}{SUFFIX}" and fetched.exists() else name)
