"""A figure that is there only while there is something to draw."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from noisewright.studio.look.figures import in_theme
from noisewright.studio.look.frame import is_dark, on_theme

__all__ = ["Plot"]


class Plot:
    """A place for a figure; :meth:`show` draws one, or with None takes it away."""

    def __init__(self, classes: str = "nw-plot") -> None:
        self._place, self._classes = ui.element("div"), classes
        self._drawn: ui.plotly | None = None
        self._figure: dict[str, Any] | None = None
        on_theme(lambda dark: self.show(self._figure))

    def show(self, figure: dict[str, Any] | None) -> None:
        """Draw this now, in the theme of the page; a figure that is there is changed, not replaced."""
        self._figure = figure = None if figure is None else in_theme(figure, is_dark())
        if figure is None:
            self._place.clear()
            self._drawn = None
        elif self._drawn is None:
            with self._place:
                self._drawn = ui.plotly(figure).classes(self._classes)
        else:
            self._drawn.update_figure(figure)
