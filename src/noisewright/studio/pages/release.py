"""Release a table: the known facts about it in fields, the plan, the work, and everything that comes of it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from nicegui import ui
from starlette.requests import Request

from noisewright.core.errors import NoisewrightError
from noisewright.core.exact import upward
from noisewright.releases.plan import Plan
from noisewright.studio.answers.releases.kept import releases_folder
from noisewright.studio.answers.releases.ledgers import ledger_path
from noisewright.studio.answers.releases.policies import EMBEDDING, Form, policy_text
from noisewright.studio.answers.releases.release import (
    Given,
    Released,
    code_of,
    commands_of,
    gauge_of,
    make_release,
    planned,
    planned_apart,
    stamp_of,
)
from noisewright.studio.answers.releases.tries import note_tries, too_many
from noisewright.studio.look import words
from noisewright.studio.look.buttons import button
from noisewright.studio.look.fields import choice_field
from noisewright.studio.look.frame import leaving
from noisewright.studio.look.linked import named
from noisewright.studio.look.live import Live
from noisewright.studio.look.proof import SameElsewhere
from noisewright.studio.look.tabs import tabs
from noisewright.studio.look.work import Work
from noisewright.studio.pages.parts.checking import ReleaseCheck
from noisewright.studio.pages.parts.columns import ColumnFields, Trading
from noisewright.studio.pages.parts.outcome import EarlierReleases, Outcome
from noisewright.studio.pages.parts.tables import READING_LIMIT, TableStep, is_large
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
        self.named = asked.get("ledger", "") if self.here and os.path.isabs(asked.get("ledger", "")) else ""
        """The ledger of a link, where it is not this user's."""
        self.made = ""
        """Policy, table, ledger and format of the release that is shown, as :meth:`_wanted` returns them."""
        self.edited, self.warned = False, ""

    def build(self) -> None:
        """All steps; those after the first wait for a table."""
        with ui.element("div").classes("nw-stack"):
            self.table = TableStep(self.asked, self._other_table, self._begin)
            self.table.build()
            self.later = ui.element("div").classes("nw-stack")
            with self.later:
                self._columns_step()
                self._plan_step()
                self._work_step()
            self.outcome = Outcome("5. What was released")
            self.last = ui.element("div").classes("nw-stack")
            with self.last:
                with ui.element("section").classes("nw-panel").props('aria-label="The policy"'):
                    ui.html("<h2>The policy</h2>", sanitize=False)
                    ui.html(words.note("What these fields say, as the file that every command takes."), sanitize=False)
                    self.policy = ui.html("", sanitize=False)
                    button("Download policy.toml", self._download_policy, icon="download")
                self.elsewhere = SameElsewhere()
            self.earlier = EarlierReleases(self._refuse_plan)
            self._there(False)
        self.live = Live(self._planned, self._refuse_plan)
        ui.timer(0, self._look_back, once=True)

    async def _look_back(self) -> None:
        """Show the release that a link names, and list the earlier ones."""
        if self.asked.get("released"):
            await self.outcome.show_kept(self.asked["released"], ledger_path(self.named))
        await self._list_earlier()

    async def _list_earlier(self) -> None:
        if self.here:
            own = self.given is not None and not self.given.example
            await self.earlier.show(self.ledger if own else ledger_path(self.named))

    def _there(self, there: bool) -> None:
        self.later.set_visibility(there)
        self.last.set_visibility(there)

    def _other_table(self) -> None:
        """Forget the table before, while another one is being read."""
        self.given = self.form = self.plan = None
        self.checking.drop()
        self.outcome.hide()
        self._there(False)
        self.edited = False
        self._tell_leaving()

    def _begin(self, given: Given) -> None:
        """Ask about another table."""
        self.given, form = given, given.form
        if self.asked.get("form"):
            try:
                form = form.retyped(self.asked.pop("form"))
                form = form if self.here else replace(form, more="")
            except NoisewrightError as problem:
                self.table.words.content += words.alarm(str(problem))
        self.form = form
        self._there(True)
        self._fill()
        self._ask()

    def _tell_leaving(self) -> None:
        """Let the browser warn before work is lost: a release that is being made, or typed text about a table."""
        lost = self.edited and self.given is not None and not self.given.example and self.made != self._wanted()
        warn = "a release is being made" if self.work.busy else "what was typed is not released" if lost else ""
        if warn != self.warned:
            self.warned = warn
            leaving(warn)

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
            self.fields = ColumnFields(self._held, self._typed)
        self.about.clear()
        with self.about:
            self._about(self.form, self.given)
        self.trading.show()

    def _about(self, form: Form, given: Given) -> None:
        """Show the fields about the table as a whole."""
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
            self.book = ui.input("ledger", value="" if given.example else ledger_path(self.named))
            self.book.props("outlined dense debounce=400").set_visibility(self.here and not given.example)
            self.book.on_value_change(self._ask)
            if self.here and not given.example:
                ui.html(words.note(f"The release is kept in {releases_folder()}."), sanitize=False)
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
        self.form, self.edited = replace(self.form, **typed), True  # type: ignore[arg-type]
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
        self.form, self.edited = form, True
        if other_columns:
            self.trading.show()
        self._ask()

    def _traded(self, form: Form) -> None:
        self.form, self.edited = form, True
        self._ask()

    @property
    def ledger(self) -> str:
        """Ledger of the spends: examples use a ledger that goes with the page."""
        assert self.given is not None
        if self.given.example:
            where = self.visit.names.setdefault("the ledger of this page", self.visit.place("ledger.sqlite"))
            return str(where)
        return ledger_path((self.book.value or "") if self.here else "")

    # The plan ----------------------------------------------------------------------------------------------------------

    def _plan_step(self) -> None:
        with ui.element("section").classes("nw-panel").props('aria-label="The plan"'):
            ui.html("<h2>3. The plan</h2>", sanitize=False)
            self.checking = Work("Checking against the data", self._show_plan, self._refuse_plan, limit=READING_LIMIT)
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
        self.fields.warn(lambda column: too_many(self._stamp(), column))
        self._show_elsewhere()
        self._tell_leaving()
        self.planned_form = form
        if is_large(path):
            self.plan = None
            self.go.set_enabled(False)
            self.promise.content = ""
            self.checking.restart(planned_apart, form, path, ledger, str(folder), more)
        else:
            self.checking.drop()
            self.live.ask(lambda: (form, planned(form, path, ledger, folder, more)))

    def _stamp(self) -> str:
        """Return the mark of the table: its digest, or its path."""
        assert self.given is not None
        return self.given.digest or self.given.path

    def _refuse_plan(self, sentence: str) -> None:
        self.plan = None
        self.promise.content = words.alarm(self.visit.said(sentence))
        self.go.set_enabled(False)
        self.go.text = "Release"

    def _planned(self, answer: tuple[Form, Plan]) -> None:
        self.planned_form, found = answer
        self._show_plan(found)

    def _show_plan(self, found: Plan) -> None:
        if self.given is None:  # another table is being read
            return
        self.plan = found
        made = bool(self.made) and self.made == self._wanted()
        searched = self._searched()
        budget = gauge_of(found, made)
        parts = words.table(*found.listed_parts(), "What each part costs, and how far off it will be", numbers=(2,))
        shown = words.said(found.in_words()) + words.note(f"Between {found.between}.") + parts
        shown += f"<h3>Budget</h3>{words.gauge(budget.shares, budget.words)}"
        refusals = [one for one in (found.refusal, found.budget.refusal if found.budget else None) if one and not made]
        shown += "".join(words.alarm(self.visit.said(one)) for one in refusals)
        shown += words.said("This is released; see below. Drawing it anew would cost its price again.") if made else ""
        folder = self.outcome.done.folder if made and self.outcome.done else ""
        cautions = searched + [self._said(one) for one in found.warnings if not folder or folder not in one]
        self.promise.content = shown + (words.listed(cautions, "To think about") if cautions else "")
        self.go.set_enabled(found.fits and not made and not self.work.busy)
        price = f"for epsilon {upward(found.epsilon)}" if found.claims else "with no epsilon"
        self.go.text = "Released" if made else f"Release, {price}"
        self._tell_leaving()

    def _searched(self) -> list[str]:
        """Count the ranges that this plan tried against the data, and say which columns had too many."""
        form = self.planned_form
        assert self.given is not None
        if self.given.example:
            return []
        note_tries(self._stamp(), form)
        self.fields.warn(lambda column: too_many(self._stamp(), column))
        return [told for column in form.columns if (told := too_many(self._stamp(), column))]

    def _said(self, sentence: str) -> str:
        """A sentence with the names that the person knows; who sits elsewhere is given no folder of this machine."""
        sentence = self.visit.said(sentence)
        return sentence if self.here else sentence.replace(str(releases_folder()), "the folder of the studio")

    # The work ----------------------------------------------------------------------------------------------------------

    def _work_step(self) -> None:
        with ui.element("section").classes("nw-panel nw-fields").props('aria-label="Release"'):
            ui.html("<h2>4. Release</h2>", sanitize=False)
            ui.html(
                words.note(
                    "The price is recorded in the ledger first, and then the rows are drawn. What is recorded stays recorded, "
                    "also where the work is cancelled: something may have been drawn. Work that has begun goes on when this page "
                    "is closed or the studio is stopped."
                ),
                sanitize=False,
            )
            with ui.element("div"):
                self.go = button("Release", self._release, icon="lock")
                self.go.set_enabled(False)
            self.work = Work("Releasing", self._released, self._refuse_work, outlives=True)
            self.trouble = ui.html("", sanitize=False)

    def _release(self) -> None:
        if self.plan is None or self.form is None or self.given is None or self.work.busy:
            return
        text, scratch = policy_text(self.form), str(self.visit.place("policy.toml").parent)
        root = str(self.visit.place("releases")) if self.given.example else str(releases_folder())
        self.trouble.content = ""
        self.go.set_enabled(False)
        self.making = self._wanted()
        self.work.start(make_release, text, self.given.path, root, scratch, self.ledger, self.format, self.raising)
        self._tell_leaving()

    def _wanted(self) -> str:
        """The policy, the table, the ledger and the format of the release that the page asks for."""
        if self.given is None or self.form is None:
            return ""
        try:
            return "\0".join((policy_text(self.form), stamp_of(self.given.path), self.ledger, self.format))
        except NoisewrightError:  # what is typed makes no policy yet
            return ""

    def _refuse_work(self, sentence: str) -> None:
        self.trouble.content = words.alarm(self._said(sentence[:1].upper() + sentence[1:]))
        self._ask()

    async def _released(self, done: Released) -> None:
        assert self.given is not None
        self.made = self.making
        self.outcome.show(done, f"{Path(self.given.name).stem}-release.zip", bool(self.given.example))
        self._ask()
        await self._list_earlier()

    def _download_policy(self) -> None:
        if self.form is not None:
            ui.download.content(policy_text(self.form).encode(), "policy.toml")

    def _show_elsewhere(self) -> None:
        assert self.given is not None
        assert self.form is not None
        name = self.given.name
        if self.given.example:
            kept = {"example": self.given.example}
        elif self.given.path == name:
            kept = {"data": name, "digest": self.given.digest}
        else:
            kept = named(name, self.given.digest)
        kept |= {"released": self.outcome.kept} if self.outcome.kept else {}
        ledger = None if self.given.example or self.ledger == ledger_path("") else self.ledger
        raised = {"raise_budget": ""} if self.raising else {}
        needs = EMBEDDING in policy_text(self.form)
        lines = commands_of(name, ledger, self.format, self.raising, needs)
        kept |= {"ledger": ledger} if ledger and self.here else {}
        kept |= {"format": self.format} if self.format != FORMATS[0] else {}
        link = Task("/release", (), {}, {**kept, **raised, "form": self.form.typed()})
        self.elsewhere.show(link, code_of(name, ledger, self.format, self.raising), lines)
