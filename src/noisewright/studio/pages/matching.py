"""Match people by noisy codes."""

from __future__ import annotations

from pathlib import Path

from nicegui import run, ui
from starlette.requests import Request

from noisewright.claims.figures import percent
from noisewright.render import html as words
from noisewright.studio import figures
from noisewright.studio.components import (
    Linked,
    Live,
    SameElsewhere,
    button,
    epsilon_field,
    file_button,
    is_dark,
    named,
)
from noisewright.studio.figures import Plot
from noisewright.studio.services.matching import (
    EXAMPLE,
    Matched,
    Matching,
    example_file,
    example_profiles,
    given_profiles,
    matching_code,
)
from noisewright.studio.sessions import Task, read_query, visit_here, with_option

__all__ = ["build"]


ALLOWED = (".csv", ".parquet", ".npy", ".npz")
FIELDS = (
    ("bits", "bits of a code", "more find more, for attackers too"),
    ("neighbours", "neighbours that are returned", ""),
    ("radius", "profiles this near each other", "the promise by distance is about them"),
    ("delta", "delta of that promise", "how likely it may fail"),
)


def build(request: Request) -> None:
    """Build profiles, the people found by their codes, and the disclosure by the codes."""
    asked = read_query(request.query_params)
    person = asked.pop("person", "")
    _MatchingPage(
        {**EXAMPLE, **{key: text for key, text in asked.items() if key in EXAMPLE}}, person, Linked(asked)
    ).build()


class _MatchingPage:
    def __init__(self, given: dict[str, str], person: str, linked: Linked) -> None:
        self.given, self.person, self.dark, self.visit = given, person, is_dark(), visit_here()
        self.people: Matching = example_profiles()
        self.name, self.linked = "profiles.csv", linked
        self.file: dict[str, str] = {}
        """Part of a link that names the file."""

    def build(self) -> None:
        """Build the profiles next to their results."""
        with ui.element("div").classes("nw-columns"):
            with ui.element("section").classes("nw-panel nw-fields").props('aria-label="The profiles"'):
                ui.html("<h2>The profiles</h2>", sanitize=False)
                file_button("Open profiles", ALLOWED, self._taken, self._refuse)
                self.which = ui.html(
                    words.note("Loaded: how 240 made-up people like 40 films. Yours: names first, then numbers."),
                    sanitize=False,
                )
                self.example = button("Download the example", self._download_example, icon="download", quiet=True)
                epsilon_field(
                    "epsilon of every bit *", self.given["epsilon"], lambda text: self._change("epsilon", text)
                )
                for key, label, hint in FIELDS:
                    entry = ui.input(label, value=self.given[key]).props("outlined dense debounce=300 stack-label")
                    entry.props["hint"] = hint
                    entry.on_value_change(lambda e, key=key: self._change(key, e.value or ""))
                who = ui.input("whose neighbours are shown", value=self.person, placeholder="the first one")
                who.props("outlined dense debounce=300 stack-label")
                who.on_value_change(lambda e: self._choose(e.value or ""))
            with ui.element("div").classes("nw-stack"):
                self._results()
        self.elsewhere = SameElsewhere()
        self.live = Live(self._show, self._refuse)
        if self.linked.name:
            self.which.content = words.note(f"Not loaded: {self.linked.name}")
            self.example.set_visibility(False)
            self.linked.restore(self.visit, self._taken)
        self._ask()

    def _results(self) -> None:
        with ui.element("section").classes("nw-panel").props('aria-label="Before and after" aria-live="polite"'):
            ui.html("<h2>Before and after</h2>", sanitize=False)
            self.shown = ui.html("", sanitize=False)
        self.more = ui.element("div").classes("nw-stack")
        with self.more:
            with ui.element("section").classes("nw-panel").props('aria-label="What is found and given away"'):
                ui.html("<h2>What is found, and what is given away</h2>", sanitize=False)
                self.measured = ui.html("", sanitize=False)
                self.plot = Plot()
            with ui.element("section").classes("nw-panel").props('aria-label="The promise"'):
                ui.html("<h2>The promise</h2>", sanitize=False)
                self.promise = ui.html("", sanitize=False)
        self.more.set_visibility(False)

    async def _taken(self, name: str, where: Path) -> None:
        found = await run.io_bound(given_profiles, where)
        if found is not None:
            digest = self.visit.digests.get(str(where), "")
            chosen = self.person if self.linked.digest and self.linked.digest == digest else ""
            other, self.file = self.linked.taken(name, digest), named(name, digest)
            self.people, self.name, self.person = found, name, chosen
            left = f" {found.left_out:,} more are left out here." if found.left_out else ""
            self.which.content = words.note(f"Loaded: {len(found.profiles):,} profiles of {name}.{left}") + other
            self.example.set_visibility(False)
            self._ask()

    def _download_example(self) -> None:
        ui.download.content(example_file(), "profiles.csv")

    def _change(self, name: str, text: str) -> None:
        self.given = with_option(self.given, name, text)
        self._ask()

    def _choose(self, person: str) -> None:
        self.person = person
        self._ask()

    def _ask(self) -> None:
        if self.linked.waiting:
            self._refuse(self.linked.waiting)
            return
        people, given, person = self.people, dict(self.given), self.person
        self.live.ask(lambda: people.at(given, person))

    def _refuse(self, sentence: str) -> None:
        self.shown.content = words.alarm(self.visit.said(sentence))
        self.more.set_visibility(False)
        self.elsewhere.hide()

    def _show(self, answer: Matched) -> None:
        found = answer.found
        self.more.set_visibility(True)
        true = [(one.name, f"{one.distance:.2f}", "yes" if one.both else "no") for one in answer.true]
        back = [(one.name, f"{one.distance:.2f}", one.known, "yes" if one.both else "no") for one in answer.returned]
        before = words.table_html(
            ("nearest", "distance", "returned"), true, f"True neighbours of {answer.person}", (1,)
        )
        after = words.table_html(
            ("returned", "distance", "as codes tell", "nearest"), back, "Whom codes returned", (1, 2)
        )
        self.shown.content = before + after
        self.measured.content = words.facts_html(
            [
                (
                    "Neighbours found",
                    f"{percent(found.recall)} of the true ones, {percent(found.expected)} expected; "
                    f"{percent(found.hashed_recall)} without noise, {percent(found.random_recall)} by chance",
                ),
                (
                    "Best attacker",
                    f"who knows all {found.people} profiles names the person behind a code {percent(found.named)} of the time; "
                    f"blindly {percent(1 / found.people)}",
                ),
            ]
        )
        at = [epsilon for epsilon, _ in answer.curve]
        series = (
            ("neighbours found", [one.recall for _, one in answer.curve]),
            ("expected", [one.expected for _, one in answer.curve]),
            ("people named by an attacker", [one.named for _, one in answer.curve]),
        )
        self.plot.show(
            figures.lines(
                [(name, at, [100 * value for value in values]) for name, values in series],
                "epsilon of every bit",
                "share of people, in percent",
                self.dark,
                xaxis=figures.in_factors(at[0], at[-1]),
                yaxis={"range": [0, 102]},
                shapes=[figures.upright(answer.epsilon)],
            )
        )
        self.promise.content = words.facts_html(answer.promises)
        shown = ({"person": self.person} if self.person else {}) | self.file
        task = Task("/matching", ("match", "evaluate", self.name), dict(self.given), shown)
        self.elsewhere.show(task, matching_code(self.name, self.given))
