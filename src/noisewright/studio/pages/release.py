"""The fields of a release: the known facts about every column without looking at the data, and who gets how much of the
budget.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from nicegui import ui
from starlette.requests import Request

from noisewright.claims.figures import upward
from noisewright.claims.phrases import OPEN
from noisewright.exceptions import NoisewrightError
from noisewright.numerics.exact import fraction_or_none
from noisewright.releases.plan import Plan
from noisewright.render import html as words
from noisewright.studio.components import (
    Linked,
    Live,
    SameElsewhere,
    Work,
    beside,
    button,
    choice_field,
    file_button,
    leaving,
    named,
    tabs,
)
from noisewright.studio.pages.audit import EarlierReleases, Outcome, ReleaseCheck
from noisewright.studio.services.audit import ledger_path
from noisewright.studio.services.policies import (
    EMBEDDING,
    EXAMPLES,
    KEPT,
    Column,
    Field,
    Form,
    fields_of,
    mechanisms_for,
    policy_text,
    rebalanced,
    total_of,
)
from noisewright.studio.services.releases import (
    TABLES,
    Given,
    Released,
    code_of,
    commands_of,
    gauge_of,
    given_example,
    given_table,
    make_release,
    note_tries,
    planned,
    planned_apart,
    read_apart,
    stamp_of,
    too_many,
)
from noisewright.studio.sessions import Task, digest_of, from_this_machine, read_query, releases_folder, visit_here

__all__ = ["READING_LIMIT", "ColumnFields", "TableStep", "Trading", "build", "is_large"]


OUT = "left out"
AS_IT_IS = f"released as it is, {OPEN}"
PUBLIC = "public knowledge"
CHOICES = {
    "refuse": "refuse the whole release",
    "clamp": "move it to the nearest end",
    "keep": "leave it missing, for all to see",
}


class ColumnFields:
    """A box for each column of the form that ``held`` gives; ``changed`` gets it as typed now, and whether a budget is new."""

    def __init__(self, held: Callable[[], Form], changed: Callable[[Form, bool], None]) -> None:
        self.held, self.changed = held, changed
        self.notes: dict[tuple[str, ...], ui.html] = {}
        with ui.element("div").classes("nw-grid"):
            for column in held().columns:
                self._box(column)

    def _box(self, column: Column) -> None:
        with ui.element("div").classes("nw-box").props('role="group"') as box:
            box.props["aria-label"] = f"column {column.title}"
            ui.html(f"<h3>{words.text(column.title)}</h3>{words.note(column.words)}", sanitize=False)
            options = {"": OUT, **{name: name for name in mechanisms_for(column.kind)}}
            options |= {KEPT: AS_IT_IS} if len(column.names) == 1 else {}
            pick = ui.select(options, value=column.mechanism, label="what happens to it").props("outlined dense")
            inner = ui.element("div").classes("nw-fields")
        pick.on_value_change(lambda e: self._choose(column.names, e.value, inner))
        self._fill(column.names, inner)

    def warn(self, told: Callable[[Column], str]) -> None:
        """Show next to the range of each column what ``told`` says of it."""
        for names, note in self.notes.items():
            text = told(self._column(names))
            note.content = words.warning(text) if text else ""

    def _column(self, names: tuple[str, ...]) -> Column:
        return next(column for column in self.held().columns if column.names == names)

    def _fill(self, names: tuple[str, ...], inner: ui.element) -> None:
        inner.clear()
        self.notes.pop(names, None)
        column = self._column(names)
        with inner:
            for field in fields_of(column.kind, column.mechanism):
                if field.key != "epsilon":
                    self._field(column, field)
                if field.key == "high":
                    self.notes[names] = ui.html("", sanitize=False).props('role="status"')

    def _field(self, column: Column, field: Field) -> None:
        names, value = column.names, column.value(field.key)
        if field.choices:
            options = {choice: CHOICES.get(choice, choice) for choice in field.choices}
            pick = ui.select(options, value=value or field.choices[0], label=field.label).props("outlined dense")
            pick.on_value_change(lambda e: self._type(names, field.key, e.value))
            return
        hint = "; ".join(filter(None, (PUBLIC if field.public else "", field.hint)))
        entry = ui.input(field.label, value=value).props("outlined dense debounce=300 stack-label")
        entry.props["hint"] = hint
        entry.on_value_change(lambda e: self._type(names, field.key, e.value or ""))

    def _choose(self, names: tuple[str, ...], mechanism: str, inner: ui.element) -> None:
        form, column = self.held(), self._column(names)
        epsilon = column.value("epsilon") or next((c.value("epsilon") for c in form.columns if c.protected), "1")
        self.changed(form.having(replace(column, mechanism=mechanism).having(epsilon=epsilon)), True)
        self._fill(names, inner)

    def _type(self, names: tuple[str, ...], key: str, text: str) -> None:
        self.changed(self.held().having(self._column(names).having(**{key: text})), False)


class Trading:
    """A slider for the epsilon of each protected column; the others give way, so that the total stays."""

    def __init__(self, held: Callable[[], Form], changed: Callable[[Form], None]) -> None:
        self.held, self.changed, self.fixed = held, changed, True
        switch = ui.switch("keep the total: what one column gets, the others give", value=True)
        switch.on_value_change(lambda e: self._keep(bool(e.value)))
        self.total = ui.html("", sanitize=False)
        self.rows = ui.element("div").classes("nw-grid")

    def show(self) -> None:
        """Show the columns that have a part of the budget now."""
        self.numbers: list[ui.input] = []
        self.sliders: list[ui.slider] = []
        self._told = False
        self.rows.clear()
        most = float(total_of(self._shares()) or 3)
        with self.rows:
            for place, column in enumerate(self._parts()):
                self._row(place, column, most)
        self._sum()

    def _parts(self) -> list[Column]:
        return [column for column in self.held().columns if column.protected]

    def _shares(self) -> list[str]:
        return [column.value("epsilon") for column in self._parts()]

    def _row(self, place: int, column: Column, most: float) -> None:
        with ui.element("div").classes("nw-box"):
            number = ui.input(f"epsilon of {column.title}", value=column.value("epsilon"))
            number.props("outlined dense debounce=300")
            slider = ui.slider(min=0.01, max=max(most, 0.02), step=0.01, value=_position(column.value("epsilon"), most))
            slider.props["aria-label"] = f"epsilon of {column.title}"
        number.on_value_change(lambda e: self._type(place, e.value or ""))
        slider.on("update:model-value", lambda e: self._slide(place, float(e.args)), throttle=0.1)
        slider.on(
            "change", lambda e: self._slide(place, float(e.args))
        )  # where the hand came to rest, whatever was skipped
        self.numbers.append(number)
        self.sliders.append(slider)

    def _keep(self, fixed: bool) -> None:
        self.fixed = fixed

    def _slide(self, place: int, position: float) -> None:
        wanted = f"{position:.2f}"
        try:
            shares = rebalanced(self._shares(), place, wanted) if self.fixed else self._shares()
        except NoisewrightError as problem:
            self.total.content = words.alarm(str(problem))
            return
        if not self.fixed:
            shares[place] = wanted
        self._set(shares, but=place)

    def _type(self, place: int, text: str) -> None:
        if self._told or text == self._shares()[place]:
            return
        shares = self._shares()
        shares[place] = text
        self._set(shares)

    def _set(self, shares: list[str], but: int = -1) -> None:
        """Show and report epsilons; the slider that is being moved is left to the person's hand."""
        self._told, form = True, self.held()
        for place, (column, text) in enumerate(zip(self._parts(), shares, strict=True)):
            form = form.having(column.having(epsilon=text))
            self.numbers[place].value = text
            if place != but:
                self.sliders[place].value = _position(text, self.sliders[place]._props["max"])
        self._told = False
        self.changed(form)
        self._sum()

    def _sum(self) -> None:
        found = total_of(self._shares())
        self.total.content = words.note(
            "Every epsilon must be a number." if found is None else f"All columns together: epsilon {upward(found)}."
        )


def _position(text: str, most: float) -> float:
    value = fraction_or_none(text)
    return 0.01 if value is None else min(max(float(value), 0.01), most)


# Tables -------------------------------------------------------------------------------------------------------------------
#
# The first step of a release: a table from a file, a path, an example or a link.


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


# Release ------------------------------------------------------------------------------------------------------------------
#
# Release a table: the known facts about it in fields, the plan, the work, and everything that comes of it.


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
        parts = words.table_html(
            *found.listed_parts(), "What each part costs, and how far off it will be", numbers=(2,)
        )
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
