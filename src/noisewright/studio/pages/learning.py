"""Hide a private column with a privatiser that is learned from a table."""

from __future__ import annotations

from pathlib import Path

from nicegui import run, ui
from starlette.requests import Request

from noisewright.claims.figures import figure, percent
from noisewright.claims.readings import NO_EPSILON
from noisewright.exceptions import NoisewrightError
from noisewright.learning.privatiser import KEEP
from noisewright.render import html as words
from noisewright.studio import figures
from noisewright.studio.components import Linked, SameElsewhere, Work, button, file_button, is_dark, leaving, named
from noisewright.studio.figures import Plot
from noisewright.studio.services.learning import (
    EXAMPLE,
    Learned,
    Reached,
    columns_of,
    example_table,
    learning_code,
    learning_commands,
    train_privatiser,
)
from noisewright.studio.services.releases import TABLES
from noisewright.studio.sessions import Task, read_query, visit_here, with_option

__all__ = ["build"]


FIELDS = (
    ("columns", "columns that are changed", "separated by commas; empty: all others"),
    ("distortion", "budgets of distortion *", "squared deviations and shares of changed labels"),
    ("epochs", "epochs", "how often all records are learned from"),
)
KNOWN = ("private", "both", *(key for key, *_ in FIELDS))
HEAD = ("budget", "spent", "best attacker", "who that is", "the optimum")


def build(request: Request) -> None:
    """Build the table, its private column, and the optimum at each distortion."""
    asked = read_query(request.query_params)
    _LearnedPage({key: asked[key] for key in KNOWN if key in asked} or dict(EXAMPLE), Linked(asked)).build()


class _LearnedPage:
    def __init__(self, given: dict[str, str], linked: Linked) -> None:
        self.given, self.linked, self.dark, self.visit = given, linked, is_dark(), visit_here()
        self.file: dict[str, str] = {}
        """Part of a link that names the file."""
        self.path = str(example_table(self.visit.place("example").parent))
        self.name = Path(self.path).name
        self.done: Learned | None = None

    def build(self) -> None:
        """Build the table next to the results of learning."""
        with ui.element("div").classes("nw-columns"):
            with ui.element("section").classes("nw-panel nw-fields").props('aria-label="The table"'):
                ui.html("<h2>The table</h2>", sanitize=False)
                file_button("Open a table", TABLES, self._taken, self._refuse)
                self.which = ui.html(
                    words.note("Loaded: what 1,500 made-up homes use in an evening, and whether somebody is there."),
                    sanitize=False,
                ).props('role="status"')
                self.example = button(
                    "Download the example", lambda: ui.download.file(self.path, self.name), icon="download", quiet=True
                )
                self.private = ui.select([], label="private column *").props("outlined dense")
                self._offer(columns_of(self.path))
                self.private.on_value_change(lambda e: self._change("private", e.value or ""))
                for key, label, hint in FIELDS:
                    entry = ui.input(label, value=self.given.get(key, "")).props(
                        "outlined dense debounce=300 stack-label"
                    )
                    entry.props["hint"] = hint
                    entry.on_value_change(lambda e, key=key: self._change(key, e.value or None))
                both = ui.switch("it is given the private column too", value="both" in self.given)
                both.on_value_change(lambda e: self._change("both", "" if e.value else None))
                self.go = button("Train", self._train, icon="model_training")
                self.work = Work("Training", self._trained, self._refuse, unit="epochs")
            with ui.element("div").classes("nw-stack"):
                with ui.element("section").classes("nw-panel").props('aria-label="What is hidden" aria-live="polite"'):
                    ui.html("<h2>How well it is hidden, at which distortion</h2>", sanitize=False)
                    self.found = ui.html(
                        words.note(
                            "A network learns to change the other columns as little as the budget says, so that another one that "
                            "learns along cannot guess the private column. Press Train; the work is done beside the page."
                        ),
                        sanitize=False,
                    )
                    self.plot = Plot()
                self.promise_panel = (
                    ui.element("section").classes("nw-panel nw-fields").props('aria-label="The promise"')
                )
                with self.promise_panel:
                    ui.html("<h2>The promise</h2>", sanitize=False)
                    self.promise = ui.html("", sanitize=False)
                    with ui.element("div"):
                        button("Download the privatiser", self._download, icon="download")
                self.promise_panel.set_visibility(False)
        self.elsewhere = SameElsewhere()
        if self.linked.name:
            self.which.content = words.alarm(self.linked.waiting)
            self.example.set_visibility(False)
            self.go.set_enabled(False)
            self._offer([])
            self.linked.restore(self.visit, self._taken)
        self._show_elsewhere()

    def _offer(self, columns: list[str]) -> None:
        chosen = self.given.get("private", "")
        self.private.set_options(columns, value=chosen if chosen in columns else None)

    async def _taken(self, name: str, where: Path) -> None:
        columns = await run.io_bound(columns_of, str(where))
        if columns is not None:
            digest = self.visit.digests.get(str(where), "")
            again = bool(digest) and self.linked.digest == digest
            self.path, self.name, self.file = str(where), name, named(name, digest)
            other = self.linked.taken(name, digest)
            self.which.content = words.note(f"Loaded: {name}, {len(columns)} columns.") + other
            self.example.set_visibility(False)
            self.go.set_enabled(not self.work.busy)
            self.given = self.given if again else with_option(self.given, "private", None)
            self._offer(columns)
            self._show_elsewhere()

    def _change(self, name: str, text: str | None) -> None:
        self.given = with_option(self.given, name, text)
        self._show_elsewhere()

    def _train(self) -> None:
        if not self.work.busy and not self.linked.waiting:
            leaving("the privatiser is not downloaded")
            self.found.content = words.note("Training; then five strangers learn to guess from what is released.")
            self.go.set_enabled(False)
            folder = str(self.visit.place("model").parent)
            self.work.start(train_privatiser, self.path, dict(self.given), folder)

    def _refuse(self, sentence: str) -> None:
        self.go.set_enabled(True)
        leaving("" if self.done is None else "the privatiser is not downloaded")
        self.found.content = words.alarm(self.visit.said(sentence[:1].upper() + sentence[1:]))

    def _trained(self, done: Learned) -> None:
        self.done = done
        self.go.set_enabled(True)
        rows = [_row(one) for one in done.reached]
        caption = f"How often the private value is guessed right; blindly {percent(done.blind)}"
        notes = (
            [f"From the records as they are an attacker guesses it right {percent(done.raw)} of the time."]
            if done.raw
            else []
        )
        of = {one.optimum_of for one in done.reached if one.optimum_of}
        notes += [f"The optimum: {text}." for text in sorted(of)]
        notes += [f"Nobody was tried on the records as they are: {done.missing}"] if done.missing else []
        notes += [
            f"At a budget of {one.point.distortion:g} the training did NOT come to rest with its budget spent: "
            f"{one.point.advice}."
            for one in done.reached
            if not one.point.converged
        ]
        self.found.content = words.table_html(HEAD, rows, caption, numbers=(0, 1, 2, 4)) + words.listed(notes)
        self._draw(done)
        self.promise.content = words.facts_html(
            [
                *((f"Distortion {one.point.distortion:g}", one.promise) for one in done.reached),
                ("Adversary", done.against),
                ("Not promised", NO_EPSILON),
                ("Take care", KEEP),
            ]
        )
        self.promise_panel.set_visibility(True)

    def _draw(self, done: Learned) -> None:
        start = [] if done.raw is None else [(0.0, done.raw)]
        reached = sorted(done.reached, key=lambda one: one.point.spent)
        series = (
            ("best attacker", start + [(one.point.spent, one.point.accuracy[0]) for one in reached]),
            ("the optimum", [(one.point.spent, one.optimum) for one in reached if one.optimum is not None]),
        )
        self.plot.show(
            figures.lines(
                [(name, [x for x, _ in curve], [100 * y for _, y in curve]) for name, curve in series if curve],
                "distortion that is spent",
                "guessed right, in percent",
                self.dark,
                marks=True,
                shapes=[figures.level(100 * done.blind)],
            )
        )

    def _download(self) -> None:
        if self.done is not None:
            ui.download.file(self.done.file, Path(self.done.file).name)
            leaving("")

    def _show_elsewhere(self) -> None:
        if self.linked.waiting:
            return
        lines = [Task("", said, options).command for said, options in learning_commands(self.name, self.given)]
        try:
            code = learning_code(self.name, self.given)
        except NoisewrightError as problem:
            code = f"# {problem}"
        self.elsewhere.show(Task("/learned", ("learn",), {}, self.given | self.file), code, "\n".join(lines))


def _row(one: Reached) -> tuple[str, ...]:
    point = one.point
    return (
        f"{point.distortion:g}",
        figure(point.spent),
        _between(point.accuracy[0], point.accuracy_between[0]),
        point.best[0],
        "not known" if one.optimum is None else f"{figure(100 * one.optimum, rounding='nearest')} %",
    )


def _between(right: float, ends: tuple[float, float]) -> str:
    return f"{percent(right)} ({100 * ends[0]:.0f} to {100 * ends[1]:.0f})"
