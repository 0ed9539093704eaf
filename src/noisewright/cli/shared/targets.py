"""Places that a command is asked to write to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure
from typing import Annotated

import typer

__all__ = ["Replace", "draw_to", "json_file", "picture_file", "target_file"]

Replace = Annotated[bool, typer.Option("--replace", metavar="", help="Replace files that are there already.")]


def target_file(
    output: str, what: str, suffixes: tuple[str, ...], *, new: bool = False, replace: bool | None = None
) -> Path:
    """Refuse a place that cannot take a file before any work is done; with ``new``, one where something is already.

    With ``replace``, the answer to the option of that name, such a place is refused unless it was given.
    """
    from noisewright.core.errors import ParameterError

    target = Path(output)
    if target.suffix.lower() not in suffixes:
        allowed = " or ".join(suffixes)
        raise ParameterError(f"{output}: {what} is written to a {allowed} file; choose a name that ends in {allowed}.")
    if target.is_dir() or not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise ParameterError(f"{output} cannot be written; name a file in a directory that exists and can be written.")
    if new and os.path.lexists(target):
        raise ParameterError(f"{output} is there already; name a new file, so that nothing is overwritten.")
    if replace is not None:
        from noisewright.files.atomic import check_free

        check_free(target, replace)
    return target


def json_file(output: str | None, what: str = "a certificate") -> Path | None:
    """Return the path at which ``--output`` wants a JSON file, if it was given."""
    return None if output is None else target_file(output, what, (".json",))


def picture_file(plot: str | None, alone: bool = False) -> Path | None:
    """Where ``--plot`` wants a picture, if it was given.

    ``alone``: no other file is written. That nothing can be drawn is said at once then, and not after all the work.
    """
    if plot is None:
        return None
    target = target_file(plot, "a picture", (".png", ".svg", ".pdf"))
    if alone:
        from noisewright.plots.figure import blank_figure

        blank_figure(1, 1)
    return target


def draw_to(picture: Path | None, draw: Callable[[], Figure], written: Path | None = None) -> None:
    """Draw to a file, if one is requested, after all else is written; what cannot be drawn never loses what was ``written``."""
    from noisewright.core.errors import NoisewrightError

    if picture is None:
        return
    try:
        from noisewright.plots.figure import save_figure

        save_figure(draw(), picture)
    except NoisewrightError as problem:
        if written is None:
            raise
        raise type(problem)(f"{problem} Without a picture, {written} was written all the same.") from None
