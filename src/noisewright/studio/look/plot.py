"""A figure that is there only while there is something to draw."""

from __future__ import annotations

from typing import Any

from nicegui import ui

__all__ = ["Plot"]


class Plot:
    """A place for a figure; :meth:`show` draws one, or with None takes it away."""

    def __init__(self, classes: str = "nw-plot") -> None:
        self._place, self._classes = ui.element("div"), classes
        self._drawn: ui.plotly | None = None

    def show(self, figure: dict[str, Any] | None) -> None:
        """Draw this now; a figure that is there is changed, not made anew."""
        if figure is None:
            self._place.clear()
            self._drawn = None
        elif self._drawn is None:
            with self._place:
                self._drawn = ui.plotly(figure).classes(self._classes)
        else:
            self._drawn.update_figure(figure)
