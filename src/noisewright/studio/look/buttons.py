"""Buttons in the colours of the house."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from noisewright.studio.look.frame import is_dark

__all__ = ["button"]


def button(label: str, on_click: Callable[..., Any], icon: str | None = None, quiet: bool = False) -> ui.button:
    """A button that reads well in both themes; a ``quiet`` one is beside the point of a page."""
    ink = "black" if is_dark() else "white"
    look = "outline no-caps color=primary" if quiet else f"unelevated no-caps color=primary text-color={ink}"
    return ui.button(label, icon=icon, on_click=on_click).props(look)
