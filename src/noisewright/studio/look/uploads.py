"""A button that takes a file. The file goes to the folder of this visit, under a name that the server made up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from nicegui import events, run, ui

from noisewright.cli.app import sentence
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.security import LARGEST_FILE
from noisewright.studio.visits import visit_here

__all__ = ["file_button"]


def file_button(
    label: str,
    allowed: tuple[str, ...],
    taken: Callable[[str, Path], Awaitable[None] | None],
    refused: Callable[[str], None],
    begun: Callable[[], None] = lambda: None,
) -> None:
    """``taken(name, where)`` is called with what the person calls the file and where it is; ``refused`` with a sentence.

    ``begun`` is called when a file begins to arrive, which the person can cancel.
    """
    visit = visit_here()
    cancelled: list[bool] = []

    def starts() -> None:
        cancelled.clear()
        begun()
        arriving.set_visibility(True)

    async def arrived(event: events.UploadEventArguments) -> None:
        arriving.set_visibility(False)
        hidden.reset()
        try:
            name, content = event.file.name, getattr(event.file, "_path", None) or await event.file.read()
            where = await run.io_bound(visit.keep, name, content, allowed)
            answer = None if where is None else taken(Path(name).name, where)
            if answer is not None:
                await answer
        except Exception as problem:  # every file, whatever its content, leads to a sentence
            refused(sentence(problem))

    def rejected() -> None:
        refused(
            f"a file that ends with {', '.join(allowed)} and has up to {LARGEST_FILE // 2**20} MB is wanted here; the command "
            "line takes larger ones."
        )

    def failed() -> None:
        arriving.set_visibility(False)
        if not cancelled:
            refused(
                "the file did not arrive whole: the connection broke, the disk of this machine is full, or the file is too "
                "large; open it again."
            )

    def cancel() -> None:
        cancelled.append(True)
        arriving.set_visibility(False)
        hidden.run_method("abort")
        hidden.reset()

    hidden = ui.upload(
        on_begin_upload=starts, on_upload=arrived, on_rejected=rejected, auto_upload=True, max_file_size=LARGEST_FILE
    )
    hidden.on("failed", failed, args=[])
    hidden.classes("nw-hidden")
    hidden.props(f'accept="{",".join(allowed)}" aria-hidden=true tabindex=-1')
    button(label, lambda: hidden.run_method("pickFiles"), icon="upload_file")
    arriving: ui.element = ui.element("div").classes("nw-row").props('role="status"')
    with arriving:
        ui.html(words.note("Receiving the file"), sanitize=False)
        button("Cancel", cancel, icon="close", quiet=True)
    arriving.set_visibility(False)
