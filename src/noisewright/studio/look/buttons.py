"""Buttons in the colours of Noisewright."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

__all__ = ["button"]


def button(label: str, on_click: Callable[..., Any], icon: str | None = None, quiet: bool = False) -> ui.button:
    """A button that reads well in both themes; a ``quiet`` one is next to the point of a page."""
    look = "outline" if quiet else "unelevated text-color=accent-ink"
    return ui.button(label, icon=icon, on_click=on_click).props(f"{look} no-caps color=primary")
