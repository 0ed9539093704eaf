"""Long work on a page: how far it is, a button that ends it, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from noisewright.studio.jobs import Job
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.visits import held_open, visit_here

__all__ = ["Work"]


class Work:
    """One job at a time: ``done``, which may wait, is called with its result, ``refused`` with why it ended otherwise.

    It ends with its page, unless it ``outlives`` the page and the server; and after ``limit`` seconds, where there is a limit.
    """

    def __init__(
        self,
        what: str,
        done: Callable[[Any], Any],
        refused: Callable[[str], None],
        unit: str = "rows",
        *,
        limit: float | None = None,
        outlives: bool = False,
    ) -> None:
        self._done, self._refused, self._unit, self._limit, self._outlives = done, refused, unit, limit, outlives
        self._job: Job | None = None
        self._what = what
        self._panel = ui.element("div").classes("nw-fields").props('role="status"')
        with self._panel:
            self._words = ui.html("", sanitize=False)
            self._bar = ui.linear_progress(value=0, show_value=False).props(f'aria-label="{what}" rounded')
            with ui.element("div"):
                button("Cancel", self.cancel, icon="close")
        self._panel.set_visibility(False)
        self._timer = ui.timer(0.2, self._look, active=False)
        visit = visit_here()
        if outlives:
            visit.awaited.append(self._wait)
            visit.goes_on.append(self._goes_on)
        else:
            visit.before_end.append(self.cancel)

    @property
    def busy(self) -> bool:
        """True if something is at work."""
        return self._job is not None

    def start(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Begin; earlier work goes on alone."""
        if self._job is None:
            held = held_open() if self._outlives else ()
            self._job = Job(function, *arguments, limit=self._limit, outlives=self._outlives, held=held)
            self._bar.value = 0
            self._words.content = words.note(f"{self._what}: beginning")
            self._panel.set_visibility(True)
            self._timer.activate()

    def restart(self, function: Callable[..., Any], *arguments: Any) -> None:
        """End the current work, without a word about it, and begin."""
        self.drop()
        self.start(function, *arguments)

    def drop(self) -> None:
        """End the current work, without a word about it."""
        job, self._job = self._job, None
        if job is not None:
            job.cancel()
        self._timer.deactivate()
        self._panel.set_visibility(False)

    def cancel(self) -> None:
        """End the current work."""
        if self._job is not None:
            self._job.cancel()

    def _goes_on(self) -> bool:
        return self._job is not None and not self._job.look().ended

    def _wait(self) -> None:
        """Wait for work that goes on when its page is closed."""
        if self._job is not None:
            self._job.wait()

    async def _look(self) -> None:
        if self._job is None:
            return
        state = self._job.look()
        if not state.ended:
            self._bar.props["indeterminate"] = not state.of
            if not state.of:
                self._words.content = words.note(f"{self._what}: {int(self._job.seconds)} s")
            else:
                self._bar.value = state.done / state.of
                self._words.content = words.note(f"{self._what}: {int(state.done):,} of {int(state.of):,} {self._unit}")
            return
        self._job = None
        self._timer.deactivate()
        self._panel.set_visibility(False)
        if state.refused is None:
            answer = self._done(state.result)
            if answer is not None:
                await answer
        else:
            self._refused(state.refused)
