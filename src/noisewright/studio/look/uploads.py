"""A button that takes a file. The file goes to the folder of this visit, under a name that the server made up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from nicegui import events, ui

from noisewright.cli.app import sentence
from noisewright.studio.look.buttons import button
from noisewright.studio.security import LARGEST_FILE
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
        except Exception as problem:  # whatever is in a file, what comes of it is a sentence
            refused(sentence(problem))

    def rejected() -> None:
        refused(
            f"a file that ends with {', '.join(allowed)} and has up to {LARGEST_FILE // 2**20} MB is wanted here; the command "
            "line takes larger ones."
        )

    hidden = ui.upload(on_upload=arrived, on_rejected=rejected, auto_upload=True, max_file_size=LARGEST_FILE)
    hidden.classes("nw-hidden")
    hidden.props(f'accept="{",".join(allowed)}" aria-hidden=true tabindex=-1')
    button(label, lambda: hidden.run_method("pickFiles"), icon="upload_file")
