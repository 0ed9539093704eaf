"""Panels for releases, made just now or earlier: proof, report and download."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import quote

from nicegui import ui

from noisewright.studio.answers.releases.kept import Kept, find_kept, kept_of, releases_folder, zipped
from noisewright.studio.answers.releases.ledgers import ledger_path
from noisewright.studio.answers.releases.release import Released, shown_again
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.live import beside
from noisewright.studio.visits import from_this_machine, visit_here

__all__ = ["EarlierReleases", "Outcome"]

MOST_SHOWN = 50


class Outcome:
    """The panel; hidden until there is something to show."""

    def __init__(self, heading: str) -> None:
        self.visit, self.here = visit_here(), from_this_machine()
        self.done: Released | None = None
        self.file = ""
        self.kept = ""
        """Name of the shown release in the folder that stays; nothing for an example."""
        self.panel = ui.element("section").classes("nw-panel nw-fields").props('aria-label="What was released"')
        with self.panel:
            ui.html(f"<h2>{escape(heading)}</h2>", sanitize=False)
            self.words = ui.html("", sanitize=False).props('role="status"')
            with ui.element("div").classes("nw-row"):
                self.get = button("Download everything", self._download, icon="download")
            self.report = ui.html("", sanitize=False)
        self.panel.set_visibility(False)

    def hide(self) -> None:
        """Show nothing."""
        self.done, self.kept = None, ""
        self.panel.set_visibility(False)

    def show(self, done: Released, file: str, example: bool) -> None:
        """Show the release of a job; ``file``: its name when it is taken away."""
        what = "Answers were released" if done.rows is None else f"{done.rows:,} rows were released"
        again = " This release was made already: nothing was drawn, and nothing was spent." if done.reread else ""
        self._show(done, file, example, f"{what}; epsilon {done.left} is left.{again}")

    async def show_kept(self, name: str, ledger: str) -> None:
        """Show a release that is kept, proved again next to a ledger; or refuse a name that no kept release has."""
        kept = find_kept(name)
        self.panel.set_visibility(True)
        if kept is None:
            where = f" in {releases_folder()}" if self.here else ""
            self._refuse(f"there is no release {name}{where}; the ledger says which there are.")
            return
        done = await beside(self._refuse, shown_again, kept, ledger)
        if done is not None:
            what = "Answers" if done.rows is None else f"{done.rows:,} rows"
            self._show(done, f"{kept.dataset}-release.zip", False, f"{what}, released on {kept.time} UTC.")

    def _refuse(self, sentence: str) -> None:
        self.words.content, self.report.content = words.alarm(sentence[:1].upper() + sentence[1:]), ""
        self.get.set_visibility(False)

    def _show(self, done: Released, file: str, example: bool, told: str) -> None:
        self.done, self.file = done, file
        self.kept = "" if example else Path(done.folder).name
        where = f"{done.folder}" if self.here else f"the folder of the studio, as {self.kept}"
        stays = (
            "A release of an example goes with this page; download it to keep it."
            if example
            else f"It stays in {where}, also when this page is closed."
        )
        proof = "Verified: proved again just now" if done.proved else "NOT proved"
        self.words.content = (
            words.said(told) + words.note(stays) + words.listed([self.visit.said(one) for one in done.sentences], proof)
        )
        self.report.content = words.framed(done.report, "The report")
        self.get.set_visibility(True)
        self.panel.set_visibility(True)

    async def _download(self) -> None:
        if self.done is not None:
            await take(Path(self.done.folder), self.file, self._refuse)


async def take(folder: Path, name: str, refused: Callable[[str], None]) -> None:
    """Let the browser download everything of a release."""
    made = await beside(refused, zipped, folder, visit_here().place(f"{folder.name}.zip"))
    if made is not None:
        ui.download.file(made, name)


class EarlierReleases:
    """A list of the releases that are kept and that a ledger has, each to be shown or downloaded."""

    def __init__(self, refused: Callable[[str], None]) -> None:
        self.refused, self.visit = refused, visit_here()
        self.panel = ui.element("section").classes("nw-panel").props('aria-label="Earlier releases"')
        self.panel.set_visibility(False)

    async def show(self, ledger: str) -> None:
        """List the releases of a ledger; without any, no list is shown."""
        found = await beside(self.refused, kept_of, ledger)
        own = ledger == ledger_path("") or Path(ledger).is_relative_to(self.visit.folder)
        book = "" if own else f"&ledger={quote(ledger)}"
        self.panel.clear()
        self.panel.set_visibility(bool(found))
        with self.panel:
            ui.html(
                "<h2>Earlier releases</h2>"
                + words.note(f"They stay in {releases_folder()}, under the ids of the ledger."),
                sanitize=False,
            )
            for one in (found or [])[:MOST_SHOWN]:
                self._row(one, book)
            if found and len(found) > MOST_SHOWN:
                ui.html(words.note(f"{len(found) - MOST_SHOWN:,} older ones are in that folder."), sanitize=False)

    def _row(self, one: Kept, book: str) -> None:
        shape = f", as {one.format}" if one.format else ""
        link = f'<a class="plain" href="/release?released={quote(one.name)}{escape(book)}">{escape(one.name)}</a>'
        with ui.element("div").classes("nw-kept"):
            ui.html(f"<p>{escape(one.dataset)}, {one.time} UTC{shape}: {link}</p>", sanitize=False)
            get = button(
                "Download", lambda: take(one.folder, f"{one.name}.zip", self.refused), icon="download", quiet=True
            )
            get.props["aria-label"] = f"Download {one.name}"
