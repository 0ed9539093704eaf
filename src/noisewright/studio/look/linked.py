"""The file that a link names: by what its person calls it, and by a keyed digest that discloses nothing of it.

A page that is opened by such a link shows that file or asks for it; it never shows an example in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from nicegui import ui

from noisewright.studio.look import words
from noisewright.studio.visits import Visit, still_here

__all__ = ["Linked", "named"]

FILE, DIGEST = "file", "digest"


def named(name: str, digest: str, kind: str = "") -> dict[str, str]:
    """Return the part of a link that names a file; ``kind`` distinguishes it from another file of the same page."""
    return {f"{kind}{FILE}": name, f"{kind}{DIGEST}": digest}


class Linked:
    """The file of a link, if it names one."""

    def __init__(self, asked: Mapping[str, str], kind: str = "") -> None:
        self.name = Path(asked.get(f"{kind}{FILE}", "").replace("\\", "/")).name
        self.digest = asked.get(f"{kind}{DIGEST}", "")
        self.waiting = (
            f"This link is about {self.name}, which went with the page that had it; open that file again."
            if self.name
            else ""
        )
        """The sentence that asks for the file, until one is there."""

    def found(self, visit: Visit) -> Path | None:
        """Return the file, if a page that is still open was given it."""
        path = still_here(self.name, self.digest) if self.name else None
        if path is not None:
            visit.borrow(self.name, path, self.digest)
        return path

    def restore(self, visit: Visit, taken: Callable[[str, Path], Any]) -> None:
        """Call ``taken`` with the name and the place of the file, if it is still there."""
        path = self.found(visit)
        if path is not None:
            ui.timer(0, lambda: taken(self.name, path), once=True)

    def taken(self, name: str, digest: str) -> str:
        """Take an opened file for the wanted one; return a warning if it is another one than the link is about."""
        wanted, self.digest, self.waiting = self.digest, "", ""
        if not wanted or wanted == digest:
            return ""
        return words.alarm(
            f"{name} is not the file that the link is about: its content differs, or another user made the link."
        )
