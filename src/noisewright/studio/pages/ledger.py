"""Read a ledger: the spends of every budget, the releases, and the rest."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

from nicegui import ui
from starlette.requests import Request

from noisewright.studio.answers.releases.ledgers import HEAD, LEDGERS, Account, accounts, ledger_path
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.linked import Linked, named
from noisewright.studio.look.live import beside
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.look.uploads import file_button
from noisewright.studio.pages.parts.outcome import EarlierReleases
from noisewright.studio.task import Task, read_query
from noisewright.studio.visits import from_this_machine, visit_here

__all__ = ["build"]


def build(request: Request) -> None:
    """A ledger, and every dataset in it."""
    asked = read_query(request.query_params)
    _LedgerPage(asked.get("ledger", ""), Linked(asked)).build()


class _LedgerPage:
    def __init__(self, path: str, linked: Linked) -> None:
        self.path, self.linked, self.visit, self.here = path, linked, visit_here(), from_this_machine()

    def build(self) -> None:
        """Show the place of the ledger, its statements, and another ledger."""
        with ui.element("div").classes("nw-stack"):
            with ui.element("section").classes("nw-panel nw-fields").props('aria-label="Which ledger"'):
                ui.html("<h2>Which ledger</h2>", sanitize=False)
                if self.here:
                    with ui.element("div").classes("nw-row"):
                        field = ui.input("path of a ledger", value=self.path or ledger_path("")).props("outlined dense")
                        field.on("keydown.enter", lambda: self._open(field.value or ""))
                        button("Open the path", lambda: self._open(field.value or ""))
                with ui.element("div").classes("nw-row"):
                    file_button("Open a ledger", LEDGERS, self._taken, self._refuse)
                self.which = ui.html("", sanitize=False).props('role="status"')
            self.found = ui.element("div").classes("nw-stack")
            self.earlier = EarlierReleases(self._refuse)
            self.elsewhere = SameElsewhere()
        if self.linked.name:
            self._refuse(self.linked.waiting)
            self.linked.restore(self.visit, self._taken)
            return
        self._show_elsewhere("")
        if self.here and not self.path and os.path.exists(ledger_path("")):  # a link alone opens no other file
            ui.timer(0, lambda: self._open(""), once=True)
        elif not self.path:
            self.which.content = words.note("This user has no ledger yet; the first release makes one.")

    async def _taken(self, name: str, where: Path) -> None:
        digest = self.visit.digests.get(str(where), "")
        other = self.linked.taken(name, digest)
        await self._load(str(where), name, name, named(name, digest))
        self.which.content += other

    async def _open(self, text: str) -> None:
        path = ledger_path(text)
        await self._load(path, path, "" if path == ledger_path("") else path)

    async def _load(self, path: str, name: str, shown: str, file: dict[str, str] | None = None) -> None:
        found = await beside(self._refuse, accounts, path)
        if found is None:
            return
        several = f"{len(found)} dataset{'' if len(found) == 1 else 's'}"
        self.which.content = words.note(f"{name}: {several}, in records that hold together.")
        self.found.clear()
        with self.found:
            for account in found:
                _panel(account)
        self._show_elsewhere(shown, file)
        if self.here:
            await self.earlier.show(path)

    def _refuse(self, sentence: str) -> None:
        self.found.clear()
        self.which.content = words.alarm(self.visit.said(sentence))

    def _show_elsewhere(self, shown: str, file: dict[str, str] | None = None) -> None:
        """``shown``: the ledger, where it is not this user's; ``file``: what a link says of one that was given."""
        book = repr(shown) if shown else ""
        code = (
            "import noisewright as nw\n\n"
            f"ledger = nw.Ledger({book})\n"
            "for name in ledger.datasets():\n"
            "    print(ledger.remaining(name), ledger.entries(name))"
        )
        link = {"ledger": shown} if os.path.isabs(shown) else file or {}
        self.elsewhere.show(Task("/ledger", ("ledger", "show", *([shown] if shown else [])), {}, link), code)


def _panel(account: Account) -> None:
    with ui.element("section").classes("nw-panel") as panel:
        panel.props["aria-label"] = f"dataset {account.dataset}"
        ui.html(
            f"<h2>{escape(account.dataset)}</h2>"
            + words.gauge((account.share, 0.0), account.words)
            + '<div class="nw-apart">'
            + words.facts(account.facts)
            + "</div>"
            + (words.table(HEAD, account.rows, "Every part of every release", numbers=(2, 3)) if account.rows else ""),
            sanitize=False,
        )
