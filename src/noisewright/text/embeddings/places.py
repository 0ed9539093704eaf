"""Locations of embeddings: fetched by a user, or shipped."""

from __future__ import annotations

from pathlib import Path

from noisewright.files.places import user_data

__all__ = ["COMES_ALONG", "data_folder", "embedding_folders"]

COMES_ALONG = Path(__file__).parents[1] / "data"
"""The folder of the small embedding that comes with Noisewright."""


def data_folder() -> Path:
    """``$XDG_DATA_HOME/noisewright/embeddings``, which is usually ``~/.local/share/noisewright/embeddings``."""
    return user_data("embeddings")


def embedding_folders() -> tuple[Path, Path]:
    """Return where an embedding is looked for that is named by its SHA-256 alone."""
    return data_folder(), COMES_ALONG
