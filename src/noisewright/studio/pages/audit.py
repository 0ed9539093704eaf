"""Audit a channel or a certificate that someone brings."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from html import escape
from pathlib import Path
from urllib.parse import quote

from nicegui import ui
from starlette.requests import Request

from noisewright.channels.channel import Channel
from noisewright.claims.figures import upward
from noisewright.cli.commands.audit import worst_rows
from noisewright.io.serialization import save
from noisewright.releases.certificate import Verification
from noisewright.render import html as words
from noisewright.render.claims import short
from noisewright.studio import figures
from noisewright.studio.components import Linked, SameElsewhere, beside, button, file_button, is_dark, named
from noisewright.studio.figures import Plot
from noisewright.studio.services.audit import (
    HEAD,
    LEDGERS,
    Account,
    Audited,
    accounts,
    audit_code,
    audited,
    checked_folder,
    example_channel,
    ledger_path,
    repaired,
    unpacked,
)
from noisewright.studio.services.releases import Kept, Released, find_kept, kept_of, shown_again, zipped
from noisewright.studio.sessions import Task, from_this_machine, read_query, releases_folder, visit_here

__all__ = ["EarlierReleases", "Outcome", "ReleaseCheck", "build_audit", "build_ledger"]


ALLOWED = (".json", ".csv")


def build_audit(request: Request) -> None:
    """A file, its guarantee, and a way to repair it."""
    asked = read_query(request.query_params)
    _AuditPage(asked.get("metric", ""), asked.get("epsilon", ""), Linked(asked)).build()


class _AuditPage:
    def __init__(self, metric: str, wanted: str, linked: Linked) -> None:
        self.metric, self.wanted, self.linked, self.dark = metric, wanted, linked, is_dark()
        self.repaired_to = ""
        self.thing: Path | Channel = example_channel()
        self.name = "channel.csv"
        self.visit = visit_here()
        self.found: Audited | None = None

    def build(self) -> None:
        with ui.element("div").classes("nw-columns"):
            with ui.element("div").classes("nw-stack"):
                with ui.element("section").classes("nw-panel nw-fields").props('aria-label="What to audit"'):
                    ui.html("<h2>What to audit</h2>", sanitize=False)
                    file_button("Open a channel or certificate", ALLOWED, self._taken, self._refuse)
                    self.which = ui.html(
                        words.note("Loaded: an example that somebody rounded by hand."), sanitize=False
                    )
                    ui.html(
                        words.note(
                            "A channel is a table: a row for each secret, a column for each output, rows that sum to 1, with "
                            "names in the first row and column. A certificate is the .json that design and release write."
                        ),
                        sanitize=False,
                    )
                    self.example = button("Download the example", self._download_example, icon="download", quiet=True)
                    field = ui.input("metric between secrets", value=self.metric, placeholder="line, discrete, ...")
                    field.props("outlined dense debounce=400 stack-label")
                    field.on_value_change(lambda e: self._measure(e.value or ""))
                    ui.html(
                        words.note("Line: by their difference. Discrete: any two alike. Empty: what suits them."),
                        sanitize=False,
                    )
                with ui.element("section").classes("nw-panel nw-fields").props('aria-label="Repair"'):
                    ui.html("<h2>Repair and certify</h2>", sanitize=False)
                    self.epsilon = ui.input("epsilon that it must have", value=self.wanted).props("outlined dense")
                    button("Repair it", self._repair)
                    self.repaired = ui.html("", sanitize=False)
                    self.downloads = ui.element("div").classes("nw-fields")
            with ui.element("div").classes("nw-stack"):
                with (
                    ui.element("section").classes("nw-panel").props('aria-label="What it promises" aria-live="polite"')
                ):
                    ui.html("<h2>What it really promises</h2>", sanitize=False)
                    self.promise = ui.html("", sanitize=False)
                self.map_panel = ui.element("section").classes("nw-panel").props('aria-label="All probabilities"')
                with self.map_panel:
                    ui.html("<h2>All probabilities</h2>", sanitize=False)
                    self.map = Plot()
        self.elsewhere = SameElsewhere()
        if self.linked.name:
            self.which.content = words.note(f"Not loaded: {self.linked.name}")
            self.example.set_visibility(False)
            self._refuse(self.linked.waiting)
            self.linked.restore(self.visit, self._taken)
        else:
            ui.timer(0, self._begin, once=True)

    async def _begin(self) -> None:
        await self._audit()
        if self.wanted:
            await self._repair()

    def _download_example(self) -> None:
        ui.download.file(save(example_channel(), self.visit.place(self.name)), self.name)

    async def _taken(self, name: str, where: Path) -> None:
        self.thing, self.name = where, name
        self.which.content = words.note(f"Loaded: {name}") + self.linked.taken(
            name, self.visit.digests.get(str(where), "")
        )
        self.example.set_visibility(False)
        self._forget()
        await self._audit()

    async def _measure(self, text: str) -> None:
        self.metric = text
        self._forget()
        await self._audit()

    def _forget(self) -> None:
        """Forget the repair: it belonged to another one."""
        self.repaired_to, self.repaired.content = "", ""
        self.downloads.clear()

    def _refuse(self, sentence: str) -> None:
        self.found = None
        self.promise.content = words.alarm(self.visit.said(sentence))
        self.map_panel.set_visibility(False)
        self.elsewhere.hide()

    async def _audit(self) -> None:
        if self.linked.waiting:
            self._refuse(self.linked.waiting)
            return
        found = await beside(self._refuse, audited, self.thing, self.metric)
        if found is None:
            return
        self.found = found
        rows: list[tuple[str, str]] = []
        if found.claim:
            rows.append(("Certificate", f"proved: {short(found.claim)}"))
        if found.reason:
            rows.append(("Certificate" if found.claim is None else "Channel", found.reason))
        if found.found is not None:
            rows += worst_rows(found.found)
        self.promise.content = words.said(found.reading) + words.facts_html(rows)
        self._draw(found.channel)
        self._show_elsewhere()

    def _show_elsewhere(self) -> None:
        asked = {"metric": self.metric} if self.metric.strip() else {}
        shown = {"epsilon": self.repaired_to} if self.repaired_to else {}
        if isinstance(self.thing, Path):
            shown |= named(self.name, self.visit.digests.get(str(self.thing), ""))
        assert self.found is not None
        code = audit_code(self.name, self.metric, self.repaired_to, self.found)
        self.elsewhere.show(Task("/audit", ("audit", self.name), asked, shown), code)

    def _draw(self, channel: Channel | None) -> None:
        self.map_panel.set_visibility(channel is not None and max(channel.shape) <= 200)
        if channel is not None and max(channel.shape) <= 200:
            self.map.show(figures.heat_map(channel, self.dark))

    async def _repair(self) -> None:
        self._forget()
        if self.found is None or self.found.channel is None or self.found.found is None:
            self.repaired.content = words.alarm("There is no channel here to repair.")
            return
        channel, metric, epsilon = self.found.channel, self.found.found.metric, (self.epsilon.value or "").strip()
        made = await beside(self._refuse_repair, repaired, channel, epsilon, metric)
        if made is None:
            return
        self.repaired_to = epsilon
        self.repaired.content = words.note(
            f"Proved: {short(made.proved)}. At most {upward(100 * made.change, 3)} % of the probability of a row had to move."
        )
        content = made.certificate.to_json().encode()
        with self.downloads:
            button(
                "Download the certificate", lambda: ui.download.content(content, "certificate.json"), icon="download"
            )
        self._draw(made.channel)
        self._show_elsewhere()

    def _refuse_repair(self, sentence: str) -> None:
        self.repaired.content = words.alarm(sentence)


# Checking -----------------------------------------------------------------------------------------------------------------
#
# Check a release that someone brings.


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


# Outcome ------------------------------------------------------------------------------------------------------------------
#
# Panels for releases, made just now or earlier: proof, report and download.


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


# Ledger -------------------------------------------------------------------------------------------------------------------
#
# Read a ledger: the spends of every budget, the releases, and the rest.


def build_ledger(request: Request) -> None:
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
            + words.facts_html(account.facts)
            + "</div>"
            + (
                words.table_html(HEAD, account.rows, "Every part of every release", numbers=(2, 3))
                if account.rows
                else ""
            ),
            sanitize=False,
        )
