"""The panel at the end of every page: the same in Python, at the command line, and as a link."""

from __future__ import annotations

import json

from nicegui import ui

from noisewright.studio.look import words
from noisewright.studio.task import LONGEST_LINK, LONGEST_VALUE, Task

__all__ = ["SameElsewhere"]


class SameElsewhere:
    """Shows a task as code, command and link; :meth:`show` changes them, and the address of the page."""

    def __init__(self) -> None:
        self._panel = ui.element("section").classes("nw-panel").props('aria-label="The same elsewhere"')
        with self._panel:
            ui.html("<h2>Show me the code</h2>", sanitize=False)
            self._code = ui.html("", sanitize=False)
            ui.html("<h2>Show me the command</h2>", sanitize=False)
            self._command = ui.html("", sanitize=False)
            self._link = ui.html("", sanitize=False)
        self.hide()

    def hide(self) -> None:
        """There is nothing on the page that could be done elsewhere."""
        self._panel.set_visibility(False)

    def show(self, task: Task, code: str, command: str | None = None) -> None:
        """Show another task, and let the address of the page bring it back; ``command``: where it takes several lines."""
        from html import escape

        self._panel.set_visibility(True)
        self._code.content = words.code(code, "Python")
        self._command.content = words.code(command or task.command, "command line")
        fits = len(task.link) <= LONGEST_LINK and all(len(text) <= LONGEST_VALUE for text in task.shown.values())
        self._link.content = (
            f'<p class="nw-note"><a class="plain" href="{escape(task.link)}">A link to this page as it is</a></p>'
            if fits
            else words.note("What is typed here is too long for a link: it goes with this page.")
        )
        ui.run_javascript(f"history.replaceState(null, '', {json.dumps(task.link if fits else task.page)})")
