"""Links to the parts of a page."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from nicegui import ui

__all__ = ["tabs"]


def tabs(path: str, parts: Mapping[str, str], chosen: str, name: str) -> None:
    """The parts below a path by their titles; a part that begins with a slash is another page."""
    links = "".join(
        f'<a href="{_where(path, key)}"{" aria-current=page" if key == chosen else ""}>{escape(title)}</a>'
        for key, title in parts.items()
    )
    ui.html(f'<nav class="nw-tabs" aria-label="{escape(name)}">{links}</nav>', sanitize=False)


def _where(path: str, part: str) -> str:
    return part if part.startswith("/") else f"{path}/{part}".rstrip("/")
