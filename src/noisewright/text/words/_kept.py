"""Cached results about an embedding, in the user's cache folder by fingerprint: slopes, and sums of blocks.

Everything here can be deleted; it is computed again. Files appear whole or not at all, and what cannot be read is not there.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.files.arrays import map_array
from noisewright.files.atomic import whole_file
from noisewright.files.inputs import read_json
from noisewright.text.embeddings.embedding import Embedding

__all__ = ["cache_folder", "keep", "keep_sums", "kept", "kept_sums"]

FORMAT = 1
"""Version, raised when the meaning of cached results changes."""
LARGEST_NOTE = 1 << 20


def cache_folder() -> Path:
    """``$NOISEWRIGHT_CACHE``, or else ``$XDG_CACHE_HOME/noisewright/words``, which is usually ``~/.cache/noisewright/words``."""
    named = os.environ.get("NOISEWRIGHT_CACHE")
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache and os.path.isabs(cache) else Path.home() / ".cache"
    return base / "noisewright" / "words"


def kept(embedding: Embedding, *about: object) -> dict[str, Any] | None:
    """Return the cached results about an embedding under these parameters, or None."""
    try:
        found = read_json(_place(embedding, about, ".json"), LARGEST_NOTE)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def keep(found: dict[str, Any], embedding: Embedding, *about: object) -> None:
    """Cache it; ignore a folder that cannot be written to."""
    _write(_place(embedding, about, ".json"), json.dumps(found).encode())


def kept_sums(embedding: Embedding, shape: tuple[int, int], *about: object) -> NDArray[np.uint64] | None:
    """Sums of blocks, mapped into memory, or None."""
    try:
        found = map_array(_place(embedding, about, ".npy"))
    except (OSError, ValueError):
        return None
    return found if found.shape == shape and found.dtype == np.uint64 else None


def keep_sums(sums: NDArray[np.uint64], embedding: Embedding, *about: object) -> None:
    """Remember the sums of blocks."""
    _write(_place(embedding, about, ".npy"), sums)


def _place(embedding: Embedding, about: tuple[object, ...], suffix: str) -> Path:
    told = "|".join(map(str, (FORMAT, embedding.resource.sha256, embedding.size, *about)))
    return cache_folder() / (hashlib.sha256(told.encode()).hexdigest()[:32] + suffix)


def _write(path: Path, content: bytes | NDArray[np.uint64]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            if isinstance(content, bytes):
                file.write(content)
            else:
                np.save(file, content, allow_pickle=False)
    except OSError:
        return
