"""Places of public files that a user fetched."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["user_data"]


def user_data(kind: str) -> Path:
    """``$XDG_DATA_HOME/noisewright/KIND``, which is usually ``~/.local/share/noisewright/KIND``."""
    data = os.environ.get("XDG_DATA_HOME")
    base = Path(data) if data and os.path.isabs(data) else Path.home() / ".local" / "share"
    return base / "noisewright" / kind
