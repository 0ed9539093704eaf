"""A button that takes a file. The file goes to the folder of this visit, under a name that the server made up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from nicegui import events, ui

from noisewright.core.errors import NoisewrightError
from noisewright.studio.look.buttons import button
from noisewright.studio.visits import visit_here

__all__ = ["file_button"]


def file_button(
    label: str,
    allowed: tuple[str, ...],
    taken: Callable[[str, Path], Awaitable[None] | None],
    refused: Callable[[str], None],
) -> None:
    """``taken(name, where)`` is called with what the person calls the file and where it is; ``refused`` with a sentence."""
    visit = visit_here()

    async def arrived(event: events.UploadEventArguments) -> None:
        hidden.reset()
        try:
            where = visit.keep(event.file.name, await event.file.read(), allowed)
            answer = taken(Path(event.file.name).name, where)
            if answer is not None:
                await answer
        except NoisewrightError as problem:
            refused(str(problem))

    hidden = ui.upload(on_upload=arrived, auto_upload=True).classes("nw-hidden")
    hidden.props(f'accept="{",".join(allowed)}" aria-hidden=true tabindex=-1')
    button(label, lambda: hidden.run_method("pickFiles"), icon="upload_file")
