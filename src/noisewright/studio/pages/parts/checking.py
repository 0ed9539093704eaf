"""Check a release that someone brings."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from nicegui import ui

from noisewright.releases.output.proving import Verification
from noisewright.studio.answers.releases.checking import checked_folder, unpacked
from noisewright.studio.answers.releases.ledgers import LEDGERS
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.live import beside
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.look.uploads import file_button
from noisewright.studio.task import Task
from noisewright.studio.visits import from_this_machine, visit_here

__all__ = ["ReleaseCheck"]


class ReleaseCheck:
    """The part of the page; ``path``: the release that a link names, which only its person opens."""

    def __init__(self, path: str) -> None:
        self.path, self.visit, self.here = path, visit_here(), from_this_machine()
        self.thing: tuple[str, str] | None = None
        self.ledger: tuple[str, str] = ("", "")

    def build(self) -> None:
        """Where the release is, and the proof of it."""
        with ui.element("div").classes("nw-stack"):
            with ui.element("section").classes("nw-panel nw-fields").props('aria-label="Which release"'):
                ui.html("<h2>Which release</h2>", sanitize=False)
                with ui.element("div").classes("nw-row"):
                    file_button("Open a release (.zip)", (".zip",), self._packed, self._refuse)
                    file_button("Open a certificate", (".json",), self._certificate, self._refuse)
                    file_button("Also ask a ledger", LEDGERS, self._book, self._refuse)
                if self.here:
                    with ui.element("div").classes("nw-row"):
                        field = ui.input("or the path of its folder on this machine", value=self.path)
                        field.props("outlined dense").on("keydown.enter", lambda: self._open(field.value or ""))
                        button("Open the path", lambda: self._open(field.value or ""))
                self.which = ui.html(
                    words.note(
                        "Nothing in it is believed but claims and whole numbers; all of them are checked again."
                    ),
                    sanitize=False,
                ).props('role="status"')
            with (
                ui.element("section")
                .classes("nw-panel")
                .props('aria-label="What is proved" aria-live="polite"') as panel
            ):
                ui.html("<h2>What is proved</h2>", sanitize=False)
                self.found = ui.html("", sanitize=False)
            self.panel = panel
            self.panel.set_visibility(False)
            self.elsewhere = SameElsewhere()
        self._show_elsewhere(self.path or "released")

    async def _packed(self, name: str, where: Path) -> None:
        folder = await beside(self._refuse, unpacked, where, self.visit.place("unpacked"))
        if folder is not None:
            self.visit.names[name] = folder
            await self._check(str(folder), name)

    async def _certificate(self, name: str, where: Path) -> None:
        await self._check(str(where), name)

    async def _book(self, name: str, where: Path) -> None:
        self.ledger = (str(where), name)
        if self.thing is not None:
            await self._check(*self.thing)

    async def _open(self, path: str) -> None:
        where = os.path.expanduser(path.strip() or ".")
        await self._check(where, where)

    async def _check(self, path: str, name: str) -> None:
        self.thing = (path, name)
        ledger = self.ledger[0] if Path(path).is_dir() else ""
        found = await beside(self._refuse, checked_folder, path, ledger)
        if found is None:
            return
        book = f", beside the ledger {self.ledger[1]}" if ledger else ""
        self.which.content = words.note(f"Opened: {name}{book}")
        self._show(found)
        self._show_elsewhere(name)

    def _refuse(self, sentence: str) -> None:
        self.panel.set_visibility(False)
        self.which.content = words.alarm(self.visit.said(sentence))

    def _show(self, found: Verification) -> None:
        sentences = [self.visit.said(one) for one in found.sentences]
        verdict = words.said("Proved, in whole numbers, just now.") if found.proved else words.alarm("NOT proved.")
        unchecked = [] if found.folder is None else [self.visit.said(one) for one in found.folder.unchecked]
        self.found.content = verdict + words.listed(sentences)
        self.found.content += words.listed(unchecked, "Not checked") if unchecked else ""
        self.panel.set_visibility(True)

    def _show_elsewhere(self, name: str) -> None:
        packed = name.lower().endswith(".zip")
        folder = f"{name[:-4]}/release" if packed else name
        options = {"ledger": self.ledger[1]} if self.ledger[1] else {}
        book = f", ledger={self.ledger[1]!r}" if self.ledger[1] else ""
        code = f"import noisewright as nw\n\nprint(nw.verify({folder!r}{book}))"
        shown = {"release": name} if self.here and Path(name).is_absolute() else {}
        command = Task("", ("verify", folder), options).command
        if packed:
            command = f"{shlex.join(['unzip', name, '-d', name[:-4]])}\n{command}"
        self.elsewhere.show(Task("/release/check", ("verify", folder), {}, shown), code, command)
