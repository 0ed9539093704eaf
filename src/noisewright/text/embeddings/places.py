"""Where fetched embeddings are kept for a user."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["data_folder"]


def data_folder() -> Path:
    """``$XDG_DATA_HOME/noisewright/embeddings``, which is usually ``~/.local/share/noisewright/embeddings``."""
    data = os.environ.get("XDG_DATA_HOME")
    base = Path(data) if data and os.path.isabs(data) else Path.home() / ".local" / "share"
    return base / "noisewright" / "embeddings"
