"""Parts that all pictures share: an empty figure, its colours, and the way to a file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from noisewright.core.errors import MissingPartError, ParameterError
from noisewright.files.atomic import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "blank_figure", "check_suffix", "save_figure"]

SUFFIXES = (".png", ".svg", ".pdf")
COLOURS = ("#2a7f62", "#c8553d", "#33658a", "#e3a72f", "#6a4c93")


def blank_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPartError("pictures need matplotlib; install noisewright[plots].") from None
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a ``.png``, ``.svg`` or ``.pdf`` file, whole or not at all."""
    target = Path(path)
    check_suffix(target)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=target.suffix.lower()[1:], dpi=130)
    write_atomically(target, buffer.getvalue())
    return target


def check_suffix(target: Path) -> None:
    """Refuse a file name that is not one of a picture."""
    if target.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"{target.name}: a picture is written to a {', '.join(SUFFIXES)} file.")
