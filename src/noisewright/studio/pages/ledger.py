"""Read a ledger: what was spent of every budget, by which releases, and what is left."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path

from nicegui import ui
from starlette.requests import Request

from noisewright.studio.answers.releases.ledgers import HEAD, LEDGERS, Account, accounts, ledger_path
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.live import beside
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.look.uploads import file_button
from noisewright.studio.task import Task, read_query
from noisewright.studio.visits import from_this_machine, visit_here

__all__ = ["build"]


def build(request: Request) -> None:
    """A ledger, and every dataset in it."""
    _LedgerPage(read_query(request.query_params).get("ledger", "")).build()


class _LedgerPage:
    def __init__(self, path: str) -> None:
        self.path, self.visit, self.here = path, visit_here(), from_this_machine()

    def build(self) -> None:
        """Where the ledger is, what it says, and the same elsewhere."""
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
            self.elsewhere = SameElsewhere()
        self._show_elsewhere("")
        if self.here and not self.path and os.path.exists(ledger_path("")):  # a link alone opens no other file
            ui.timer(0, lambda: self._open(""), once=True)
        elif not self.path:
            self.which.content = words.note("This user has no ledger yet; the first release makes one.")

    async def _taken(self, name: str, where: Path) -> None:
        await self._load(str(where), name, name)

    async def _open(self, text: str) -> None:
        path = ledger_path(text)
        await self._load(path, path, "" if path == ledger_path("") else path)

    async def _load(self, path: str, name: str, named: str) -> None:
        found = await beside(self._refuse, accounts, path)
        if found is None:
            return
        several = f"{len(found)} dataset{'' if len(found) == 1 else 's'}"
        self.which.content = words.note(f"{name}: {several}, in records that hold together.")
        self.found.clear()
        with self.found:
            for account in found:
                _panel(account)
        self._show_elsewhere(named)

    def _refuse(self, sentence: str) -> None:
        self.found.clear()
        self.which.content = words.alarm(self.visit.said(sentence))

    def _show_elsewhere(self, named: str) -> None:
        """``named``: the ledger, where it is not that of this user."""
        book = repr(named) if named else ""
        code = (
            "import noisewright as nw\n\n"
            f"ledger = nw.Ledger({book})\n"
            "for name in ledger.datasets():\n"
            "    print(ledger.remaining(name), ledger.entries(name))"
        )
        shown = {"ledger": named} if os.path.isabs(named) else {}
        self.elsewhere.show(Task("/ledger", ("ledger", "show", *([named] if named else [])), {}, shown), code)


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
