"""Buttons in the colours of the house."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from noisewright.studio.look.frame import is_dark

__all__ = ["button"]


def button(label: str, on_click: Callable[..., Any], icon: str | None = None) -> ui.button:
    """A button that reads well in both themes."""
    ink = "black" if is_dark() else "white"
    return ui.button(label, icon=icon, on_click=on_click).props(f"unelevated no-caps color=primary text-color={ink}")
