"""Real data that are not part of the project: used where somebody has them.

They lie in ``shared/data`` beside the checkout, or in a folder that ``NOISEWRIGHT_RESOURCES`` names.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["shared_data"]


def shared_data(name: str) -> Path | None:
    """The file or folder of this name; None where there is none."""
    folders = [Path(__file__).parents[2] / "shared" / "data"]
    folders += [Path(part) for part in os.environ.get("NOISEWRIGHT_RESOURCES", "").split(os.pathsep) if part]
    return next((folder / name for folder in folders if (folder / name).exists()), None)
