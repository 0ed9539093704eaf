"""The first step of a release: a table from a file, a path, an example or a link."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from nicegui import ui

from noisewright.studio.answers.examples import EXAMPLES
from noisewright.studio.answers.releases.release import TABLES, Given, given_example, given_table, read_apart
from noisewright.studio.digests import digest_of
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.linked import Linked
from noisewright.studio.look.live import beside
from noisewright.studio.look.uploads import file_button
from noisewright.studio.look.work import Work
from noisewright.studio.visits import from_this_machine, visit_here

__all__ = ["READING_LIMIT", "TableStep", "is_large"]

LARGE = 4 * 2**20
"""A table of more bytes is read by a process of its own, which can be cancelled."""
READING_LIMIT = 600.0
"""Maximum number of seconds for reading or checking a table."""


def is_large(path: str) -> bool:
    """Return whether a table is read in a job: a large file, a folder or a database."""
    return not os.path.isfile(path) or os.path.getsize(path) > LARGE


class TableStep:
    """``begun`` is called when another table is being read, and ``taken`` with it."""

    def __init__(self, asked: dict[str, str], begun: Callable[[], None], taken: Callable[[Given], None]) -> None:
        self.asked, self.visit, self.here = asked, visit_here(), from_this_machine()
        self.begun, self.taken, self.linked = begun, taken, Linked(asked)

    def build(self) -> None:
        """Make the panel, and read the file of a link."""
        with ui.element("section").classes("nw-panel nw-fields").props('aria-label="The table"'):
            ui.html("<h2>1. The table</h2>", sanitize=False)
            with ui.element("div").classes("nw-row"):
                file_button("Open a table", TABLES, self._given, self._refuse, self._begin)
                for key, example in EXAMPLES.items():
                    button(f"Example: {example.title.lower()}", lambda key=key: self._example(key), icon="science")
            if self.here:
                with ui.element("div").classes("nw-row"):
                    path = ui.input("or the path of a file on this machine", value=self.asked.get("data", ""))
                    path.props("outlined dense").on("keydown.enter", lambda: self._open(path.value or ""))
                    button("Open the path", lambda: self._open(path.value or ""))
            self.work = Work("Reading the file", self._read, self._refuse, limit=READING_LIMIT)
            self.words = ui.html(
                words.note("CSV, Parquet, Arrow or JSON lines. It stays on this machine, and goes with this page."),
                sanitize=False,
            ).props('role="status"')
        if self.asked.get("example", "") in EXAMPLES:
            ui.timer(0, lambda: self._example(self.asked["example"]), once=True)
        elif self.linked.name:
            ui.timer(0, self._restore, once=True)
        elif self.here and os.path.isabs(self.asked.get("data", "")):
            ui.timer(0, self._reopen, once=True)

    async def _restore(self) -> None:
        """Read the file of a link, if another page still has it; otherwise ask for it."""
        path = self.linked.found(self.visit)
        if path is None:
            self.words.content = words.alarm(self.linked.waiting)
        else:
            await self._load(str(path), self.linked.name)

    async def _reopen(self) -> None:
        """Read the file at the path of a link, if it has the digest that only a link of this user has; otherwise ask."""
        path, wanted = self.asked["data"], self.asked.get("digest", "")
        found = await beside(self._refuse, digest_of, path) if wanted else ""
        if found is not None and wanted and found == wanted:
            await self._load(path, path)
        elif found is not None:
            differs = " Its content is another one now." if found else ""
            self.words.content = words.alarm(f"This link is about {path}.{differs} Open the path to read it.")

    async def _given(self, name: str, where: Path) -> None:
        await self._load(str(where), name)

    async def _open(self, path: str) -> None:
        if not path.strip():
            self._refuse("name a file, such as /home/me/visits.csv.")
            return
        where = os.path.expanduser(path.strip())
        self._begin()
        await self._load(where, where)

    async def _load(self, path: str, name: str) -> None:
        self.words.content = ""
        if is_large(path):
            self.work.restart(read_apart, path, name)
        else:
            self._read(await beside(self._refuse, given_table, path, name))

    async def _example(self, key: str) -> None:
        self._begin()
        self._read(await beside(self._refuse, given_example, key, self.visit.place("example").parent))

    def _begin(self) -> None:
        """Clear an earlier table and the messages about it."""
        self.work.drop()
        self.words.content = ""
        self.begun()

    def _refuse(self, sentence: str) -> None:
        self.words.content = words.alarm(self.visit.said(sentence))

    def _read(self, given: Given | None) -> None:
        if given is None:
            return
        guessed = " Its file has no types; they were guessed from its first cells." if given.guessed else ""
        columns = len(given.columns)
        self.words.content = words.note(f"{given.name}: {columns} column{'' if columns == 1 else 's'}.{guessed}")
        self.words.content += "" if given.example else self.linked.taken(given.name, given.digest)
        self.taken(given)
