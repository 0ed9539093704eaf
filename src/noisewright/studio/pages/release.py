"""Release a table: what is known about it in fields, the plan, the work, and everything that comes of it."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from nicegui import run, ui
from starlette.requests import Request

from noisewright.core.errors import NoisewrightError
from noisewright.core.exact import upward
from noisewright.releases.plan import Plan
from noisewright.studio.answers.examples import EXAMPLES
from noisewright.studio.answers.releases.ledgers import ledger_path
from noisewright.studio.answers.releases.policies import EMBEDDING, Form, policy_text
from noisewright.studio.answers.releases.release import (
    TABLES,
    Given,
    Released,
    code_of,
    commands_of,
    gauge_of,
    given_example,
    given_table,
    make_release,
    planned,
    stamp_of,
    zipped,
)
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.fields import choice_field
from noisewright.studio.look.live import Live, beside
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.look.tabs import tabs
from noisewright.studio.look.uploads import file_button
from noisewright.studio.look.work import Work
from noisewright.studio.pages.parts.checking import ReleaseCheck
from noisewright.studio.pages.parts.columns import ColumnFields, Trading
from noisewright.studio.task import Task, read_query
from noisewright.studio.visits import from_this_machine, visit_here

__all__ = ["build"]

NOBODY = "every row is somebody else's"


FORMATS = ("parquet", "csv", "arrow")
TABS = {"": "Make a release", "check": "Check a release"}


def build(request: Request) -> None:
    """Tabs, and one of the two parts: the steps from a table to a release that is proved, or the proof of another one."""
    part = request.path_params.get("part", "")
    if part not in TABS:
        ui.html(words.alarm("There is no such page about releases."), sanitize=False)
        return
    tabs("/release", TABS, part, "Parts of a release")
    asked = read_query(request.query_params)
    if part:
        ReleaseCheck(asked.get("release", "")).build()
    else:
        _ReleasePage(asked).build()


class _ReleasePage:
    def __init__(self, asked: dict[str, str]) -> None:
        self.asked, self.visit, self.here = asked, visit_here(), from_this_machine()
        self.given: Given | None = None
        self.form: Form | None = None
        self.plan: Plan | None = None
        self.format = asked.get("format", "") if asked.get("format", "") in FORMATS else FORMATS[0]
        self.raising = "raise_budget" in asked
        self.done: Released | None = None

    def build(self) -> None:
        """All steps; those after the first wait for a table."""
        with ui.element("div").classes("nw-stack"):
            self._table_step()
            self.later = ui.element("div").classes("nw-stack")
            with self.later:
                self._columns_step()
                self._plan_step()
                self._work_step()
                self._result_step()
                with ui.element("section").classes("nw-panel").props('aria-label="The policy"'):
                    ui.html("<h2>The policy</h2>", sanitize=False)
                    ui.html(words.note("What these fields say, as the file that every command takes."), sanitize=False)
                    self.policy = ui.html("", sanitize=False)
                    button("Download policy.toml", self._download_policy, icon="download")
                self.elsewhere = SameElsewhere()
            self.later.set_visibility(False)
        self.live = Live(self._show_plan, self._refuse_plan)
        if self.asked.get("example", "") in EXAMPLES:
            ui.timer(0, lambda: self._example(self.asked["example"]), once=True)

    # The table ---------------------------------------------------------------------------------------------------------

    def _table_step(self) -> None:
        with ui.element("section").classes("nw-panel nw-fields").props('aria-label="The table"'):
            ui.html("<h2>1. The table</h2>", sanitize=False)
            with ui.element("div").classes("nw-row"):
                file_button("Open a table", TABLES, self._taken, self._refuse_table)
                for key, example in EXAMPLES.items():
                    button(f"Example: {example.title.lower()}", lambda key=key: self._example(key), icon="science")
            if self.here:
                with ui.element("div").classes("nw-row"):
                    path = ui.input("or the path of a file on this machine", value=self.asked.get("data", ""))
                    path.props("outlined dense").on("keydown.enter", lambda: self._open(path.value or ""))
                    button("Open the path", lambda: self._open(path.value or ""))
            self.table = ui.html(
                words.note("CSV, Parquet, Arrow or JSON lines. It stays on this machine, and goes with this page."),
                sanitize=False,
            ).props('role="status"')

    async def _taken(self, name: str, where: Path) -> None:
        await self._load(str(where), name)

    async def _open(self, path: str) -> None:
        if not path.strip():
            self._refuse_table("name a file, such as /home/me/visits.csv.")
            return
        where = os.path.expanduser(path.strip())
        await self._load(where, where)

    async def _load(self, path: str, name: str) -> None:
        self._begin(await beside(self._refuse_table, given_table, path, name))

    async def _example(self, key: str) -> None:
        self._begin(await beside(self._refuse_table, given_example, key, self.visit.place("example").parent))

    def _refuse_table(self, sentence: str) -> None:
        self.table.content = words.alarm(self.visit.said(sentence))

    def _begin(self, given: Given | None) -> None:
        """Ask about another table."""
        if given is None:
            return
        self.given, form, note = given, given.form, ""
        if self.asked.get("form"):
            try:
                form = form.retyped(self.asked.pop("form"))
                form = form if self.here else replace(form, more="")
            except NoisewrightError as problem:
                note = words.alarm(str(problem))
        self.form = form
        guessed = " Its file has no types; they were guessed from its first cells." if given.guessed else ""
        columns = len(given.columns)
        self.table.content = words.note(f"{given.name}: {columns} column{'' if columns == 1 else 's'}.{guessed}") + note
        self.later.set_visibility(True)
        self.result.set_visibility(False)
        self._fill()
        self._ask()

    # The policy --------------------------------------------------------------------------------------------------------

    def _columns_step(self) -> None:
        with ui.element("section").classes("nw-panel nw-fields").props('aria-label="What is public"'):
            ui.html("<h2>2. What is known without looking at the data</h2>", sanitize=False)
            ui.html(
                words.note(
                    "A policy is published with every release. Ranges and lists of values must therefore be public knowledge: "
                    "what a form allows, what a register lists. Nothing is read off the table for you."
                ),
                sanitize=False,
            )
            self.boxes = ui.element("div")
            self.about = ui.element("div").classes("nw-grid")

    def _fill(self) -> None:
        assert self.form is not None
        assert self.given is not None
        self.boxes.clear()
        with self.boxes:
            ColumnFields(self._held, self._typed)
        self.about.clear()
        with self.about:
            self._about(self.form, self.given)
        self.trading.show()

    def _about(self, form: Form, given: Given) -> None:
        """What concerns the table as a whole."""
        with ui.element("div").classes("nw-box").props('role="group" aria-label="the whole table"'):
            ui.html("<h3>The whole table</h3>", sanitize=False)
            self._whole("dataset", "name in the ledger", form.dataset, "what was spent is remembered under it")
            self._whole("budget", "budget: epsilon of all releases", form.budget, "1 is strict, 10 is a lot")
            unit = ui.select(
                {"": NOBODY, **{name: f"those with the same {name}" for name in given.columns}},
                value=form.unit if form.unit in given.columns else "",
                label="rows of one person",
            ).props("outlined dense")
            unit.on_value_change(lambda e: self._set(unit=e.value))
            self._whole("rows", "the most rows of one person", form.rows, "each costs the whole price")
            self._whole(
                "delta", "budget: delta of all releases", form.delta, "for columns that have a delta; empty: none"
            )
            raising = ui.switch("raise the budget that the ledger has", value=self.raising)
            raising.on_value_change(lambda e: self._raise(bool(e.value)))
        with ui.element("div").classes("nw-box").props('role="group" aria-label="ledger and output"'):
            ui.html("<h3>Ledger and output</h3>", sanitize=False)
            if given.example:
                ui.html(words.note("An example is recorded in a ledger that goes with this page."), sanitize=False)
            self.book = ui.input("ledger", value="" if given.example else ledger_path(""))
            self.book.props("outlined dense debounce=400").set_visibility(self.here and not given.example)
            self.book.on_value_change(self._ask)
            choice_field("format of the released table", FORMATS, self.format, self._choose_format)
            if given.example:
                button(
                    "Download the example",
                    lambda: ui.download.file(given.path, given.name),
                    icon="download",
                    quiet=True,
                )
        if self.here:
            with ui.element("div").classes("nw-box").props('role="group" aria-label="answers"'):
                ui.html("<h3>Answers beside the rows</h3>", sanitize=False)
                more = ui.textarea("more of the policy, as TOML", value=form.more)
                more.props("outlined dense debounce=400 autogrow")
                more.on_value_change(lambda e: self._set(more=e.value or ""))
                ui.html(words.note('Such as [[queries]] name = "mean age" ..., each on a line.'), sanitize=False)

    def _whole(self, key: str, label: str, value: str, hint: str) -> None:
        entry = ui.input(label, value=value).props("outlined dense debounce=300 stack-label")
        entry.props["hint"] = hint
        entry.on_value_change(lambda e: self._set(**{key: e.value or ""}))

    def _set(self, **typed: str) -> None:
        assert self.form is not None
        self.form = replace(self.form, **typed)  # type: ignore[arg-type]
        self._ask()

    def _choose_format(self, name: str) -> None:
        self.format = name
        self._ask()

    def _raise(self, on: bool) -> None:
        self.raising = on
        self._ask()

    def _held(self) -> Form:
        assert self.form is not None
        return self.form

    def _typed(self, form: Form, other_columns: bool) -> None:
        self.form = form
        if other_columns:
            self.trading.show()
        self._ask()

    def _traded(self, form: Form) -> None:
        self.form = form
        self._ask()

    @property
    def ledger(self) -> str:
        """Where spends are recorded: examples in a ledger that goes with the page."""
        assert self.given is not None
        if self.given.example:
            where = self.visit.names.setdefault("the ledger of this page", self.visit.place("ledger.sqlite"))
            return str(where)
        return ledger_path((self.book.value or "") if self.here else "")

    # The plan ----------------------------------------------------------------------------------------------------------

    def _plan_step(self) -> None:
        with ui.element("section").classes("nw-panel").props('aria-label="The plan"'):
            ui.html("<h2>3. The plan</h2>", sanitize=False)
            self.promise = ui.html("", sanitize=False).props('aria-live="polite"')
        with ui.element("section").classes("nw-panel nw-fields").props('aria-label="What if"'):
            ui.html("<h2>What if one column got more?</h2>", sanitize=False)
            self.trading = Trading(self._held, self._traded)

    def _ask(self) -> None:
        if self.form is None or self.given is None:
            return
        form, path, ledger, more = self.form, self.given.path, self.ledger, self.raising
        folder = self.visit.names.setdefault("policy.toml", self.visit.place("policy.toml")).parent
        try:
            text = policy_text(form)
        except NoisewrightError as problem:
            self._refuse_plan(str(problem))
            return
        self.policy.content = words.code(text, "policy.toml")
        self._show_elsewhere()
        self.live.ask(lambda: planned(form, path, ledger, folder, more))

    def _refuse_plan(self, sentence: str) -> None:
        self.plan = None
        self.promise.content = words.alarm(self.visit.said(sentence))
        self.go.set_enabled(False)
        self.go.text = "Release"

    def _show_plan(self, found: Plan) -> None:
        self.plan = found
        folder = self._folder()
        made = self.done is not None and self.done.folder == folder
        budget = gauge_of(found, made)
        parts = words.table(*found.listed_parts(), "What each part costs, and how far off it will be", numbers=(2,))
        shown = words.said(found.in_words()) + words.note(f"Between {found.between}.") + parts
        shown += f"<h3>Budget</h3>{words.gauge(budget.shares, budget.words)}"
        refusals = [one for one in (found.refusal, found.budget.refusal if found.budget else None) if one and not made]
        shown += "".join(words.alarm(self.visit.said(one)) for one in refusals)
        shown += words.said("This is released; see below. Drawing it anew would cost its price again.") if made else ""
        cautions = [self.visit.said(one) for one in found.warnings if folder not in one]
        self.promise.content = shown + (words.listed(cautions, "To think about") if cautions else "")
        self.go.set_enabled(found.fits and not made and not self.work.busy)
        price = f"for epsilon {upward(found.epsilon)}" if found.claims else "with no epsilon"
        self.go.text = "Released" if made else f"Release, {price}"

    # The work ----------------------------------------------------------------------------------------------------------

    def _work_step(self) -> None:
        with ui.element("section").classes("nw-panel nw-fields").props('aria-label="Release"'):
            ui.html("<h2>4. Release</h2>", sanitize=False)
            ui.html(
                words.note(
                    "The price is recorded in the ledger first, and then the rows are drawn. What is recorded stays recorded, "
                    "also where the work is cancelled: something may have been drawn."
                ),
                sanitize=False,
            )
            with ui.element("div"):
                self.go = button("Release", self._release, icon="lock")
                self.go.set_enabled(False)
            self.work = Work("Releasing", self._released, self._refuse_work)
            self.trouble = ui.html("", sanitize=False)

    def _release(self) -> None:
        if self.plan is None or self.form is None or self.given is None or self.work.busy:
            return
        text, folder = policy_text(self.form), self._folder()
        self.trouble.content = ""
        self.go.set_enabled(False)
        self.work.start(make_release, text, self.given.path, folder, self.ledger, self.format, self.raising)

    def _folder(self) -> str:
        """Where this release belongs: the same one always at the same place, so that it is not paid for twice."""
        assert self.given is not None
        assert self.form is not None
        told = "\0".join((policy_text(self.form), stamp_of(self.given.path), self.ledger, self.format))
        return str(self.visit.place(f"release-{hashlib.sha256(told.encode()).hexdigest()[:16]}"))

    def _refuse_work(self, sentence: str) -> None:
        self.trouble.content = words.alarm(self.visit.said(sentence[:1].upper() + sentence[1:]))
        self._ask()

    # What came of it ---------------------------------------------------------------------------------------------------

    def _result_step(self) -> None:
        self.result = ui.element("section").classes("nw-panel nw-fields").props('aria-label="What was released"')
        with self.result:
            ui.html("<h2>5. What was released</h2>", sanitize=False)
            self.outcome = ui.html("", sanitize=False).props('role="status"')
            with ui.element("div").classes("nw-row"):
                button("Download everything", self._download, icon="download")
            self.report = ui.html("", sanitize=False)
        self.result.set_visibility(False)

    def _released(self, done: Released) -> None:
        self.done = done
        what = "Answers were released" if done.rows is None else f"{done.rows:,} rows were released"
        again = " This release was made already: nothing was drawn, and nothing was spent." if done.reread else ""
        proof = "Verified: proved again just now" if done.proved else "NOT proved"
        self.outcome.content = words.said(f"{what}; epsilon {done.left} is left.{again}") + words.listed(
            [self.visit.said(one) for one in done.sentences], proof
        )
        self.report.content = words.framed(done.report, "The report")
        self.result.set_visibility(True)
        self._ask()

    async def _download(self) -> None:
        if self.done is not None and self.given is not None:
            name = f"{Path(self.given.name).stem}-release.zip"
            ui.download.file(await run.io_bound(zipped, self.done) or "", name)

    def _download_policy(self) -> None:
        if self.form is not None:
            ui.download.content(policy_text(self.form).encode(), "policy.toml")

    def _show_elsewhere(self) -> None:
        assert self.given is not None
        assert self.form is not None
        name = self.given.name
        kept = {"example": self.given.example} if self.given.example else {}
        kept |= {"data": name} if self.given.path == name else {}
        ledger = None if self.given.example or self.ledger == ledger_path("") else self.ledger
        raised = {"raise_budget": ""} if self.raising else {}
        needs = EMBEDDING in policy_text(self.form)
        lines = commands_of(name, ledger, self.format, self.raising, needs)
        kept |= {"format": self.format} if self.format != FORMATS[0] else {}
        link = Task("/release", (), {}, {**kept, **raised, "form": self.form.typed()})
        self.elsewhere.show(link, code_of(name, ledger, self.format, self.raising), lines)
