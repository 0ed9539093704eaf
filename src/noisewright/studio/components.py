"""Fields of forms. What is typed stays text, as at the command line, and the library reads it."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Generic, TypeVar

from nicegui import background_tasks, events, run, ui

from noisewright._utils.inputs import LARGEST_FILE
from noisewright.cli.app import sentence
from noisewright.cli.parameters import Option
from noisewright.render import html as words
from noisewright.studio.sessions import LONGEST_LINK, LONGEST_VALUE, Job, Task, Visit, held_open, still_here, visit_here

__all__ = [
    "EPSILONS",
    "PAGES",
    "Linked",
    "Live",
    "Page",
    "SameElsewhere",
    "Work",
    "beside",
    "button",
    "choice_field",
    "epsilon_field",
    "file_button",
    "frame",
    "is_dark",
    "leaving",
    "named",
    "on_theme",
    "parameter_field",
    "tabs",
]


EPSILONS = (0.01, 10.0)
"""The ends of the slider; the text next to it takes any number."""

Changed = Callable[[str, str | None], None]


def parameter_field(parameter: Option, value: str | None, changed: Changed) -> None:
    """The field of one parameter: a slider for epsilon, a choice, a switch, or a line of text."""
    name, label = parameter.name, parameter.name.replace("_", " ") + (" *" if parameter.required else "")
    if name == "epsilon":
        epsilon_field(label, value or "1", lambda text: changed(name, text))
    elif parameter.flag:
        switch = ui.switch(label, value=value is not None)
        switch.on_value_change(lambda e: changed(name, "" if e.value else None))
    elif (
        "|" in parameter.shape
        and parameter.shape.replace("|", "").replace("-", "").isalnum()
        and parameter.shape.islower()
    ):
        known = parameter.shape.split("|")
        ui.select(
            known, label=label, value=value if value in known else None, clearable=not parameter.required
        ).on_value_change(lambda e: changed(name, e.value or None)).props("outlined dense")
    else:
        field = ui.input(label, value=value or "", placeholder=parameter.shape)
        field.props("outlined dense debounce=300")
        field.on_value_change(lambda e: changed(name, e.value or None))
    if parameter.help:
        ui.html(f'<p class="nw-note">{_escaped(parameter.help)}</p>', sanitize=False)


def choice_field(
    label: str, options: Sequence[str] | Mapping[str, str], value: str, changed: Callable[[str], None]
) -> ui.select:
    """One of a few; a value that a link brings and that is none of them is the first."""
    known = options if isinstance(options, Mapping) else {name: name for name in options}
    pick = ui.select(dict(known), label=label, value=value if value in known else next(iter(known)))
    pick.props("outlined dense").on_value_change(lambda e: changed(e.value))
    return pick


def epsilon_field(label: str, value: str, changed: Callable[[str], None], ends: tuple[float, float] = EPSILONS) -> None:
    """Epsilon: a slider in equal factors, and the number itself as it is typed, ``1/3`` say."""
    low, high = map(math.log10, ends)

    def slid(position: float) -> None:
        text = f"{10**position:.2g}"
        if text != number.value:
            number.value = text

    def typed(text: str) -> None:
        position = _position(text)
        if position is not None and abs(position - slider.value) > 0.005:
            slider.value = min(max(position, low), high)
        changed(text)

    number = ui.input(label, value=value).props("outlined dense debounce=200")
    slider = ui.slider(min=low, max=high, step=0.05, value=min(max(_position(value) or 0.0, low), high))
    slider.props('aria-label="epsilon, from more to less private" :marker-labels="false"')
    slider.on("update:model-value", lambda e: slid(float(e.args)), throttle=0.05)
    number.on_value_change(lambda e: typed(e.value or ""))


def _position(text: str) -> float | None:
    from noisewright.exceptions import NoisewrightError
    from noisewright.numerics.exact import positive_fraction

    try:
        return math.log10(positive_fraction(text, "epsilon"))
    except (NoisewrightError, ValueError, OverflowError):
        return None


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)


# Buttons ------------------------------------------------------------------------------------------------------------------
#
# Buttons in the colours of Noisewright.


def button(label: str, on_click: Callable[..., Any], icon: str | None = None, quiet: bool = False) -> ui.button:
    """A button that reads well in both themes; a ``quiet`` one is next to the point of a page."""
    look = "outline" if quiet else "unelevated text-color=accent-ink"
    return ui.button(label, icon=icon, on_click=on_click).props(f"{look} no-caps color=primary")


# Tabs ---------------------------------------------------------------------------------------------------------------------
#
# Links to the parts of a page.


def tabs(path: str, parts: Mapping[str, str], chosen: str, name: str) -> None:
    """The parts below a path by their titles; a part that begins with a slash is another page."""
    links = "".join(
        f'<a href="{_where(path, key)}"{" aria-current=page" if key == chosen else ""}>{escape(title)}</a>'
        for key, title in parts.items()
    )
    ui.html(f'<nav class="nw-tabs" aria-label="{escape(name)}">{links}</nav>', sanitize=False)


def _where(path: str, part: str) -> str:
    return part if part.startswith("/") else f"{path}/{part}".rstrip("/")


# Frame --------------------------------------------------------------------------------------------------------------------
#
# The frame of every page: the project's name, the way to the other pages, the theme, and what the page is about.


THEME = "noisewright-theme"
PRIMARY = {False: "#1f6f54", True: "#6fcfa9"}
"""The colour of buttons in the light and in the dark theme."""


def is_dark() -> bool:
    """Return whether this page is shown in the dark theme."""
    return bool(getattr(ui.context.client, "_noisewright_dark", False))


def on_theme(change: Callable[[bool], None]) -> None:
    """Call this whenever the theme of the page changes, with whether it is dark then."""
    client = ui.context.client
    client._noisewright_themed = [*getattr(client, "_noisewright_themed", []), change]  # type: ignore[attr-defined]


def leaving(warn: str) -> None:
    """Let the browser warn before the page is left, because of this; nothing: let it go."""
    ui.run_javascript(f"document.body.dataset.unsaved = {json.dumps(warn)}")


@contextmanager
def frame(path: str, heading: str, lead: str, pages: Sequence[tuple[str, str]]) -> Iterator[None]:
    """A page: everything inside is its content; ``pages`` are the paths and titles of all."""
    client = ui.context.client
    dark = ui.dark_mode(value=client.request.cookies.get(THEME) == "dark")
    client._noisewright_dark = dark.value  # type: ignore[attr-defined]
    ui.add_head_html('<link rel="stylesheet" href="/studio/studio.css"><script src="/studio/studio.js" defer></script>')
    ui.colors(primary=PRIMARY[bool(dark.value)])
    with ui.header(elevated=False).classes("nw-header"):
        ui.html('<a class="nw-skip" href="#content">Skip to the page</a>', sanitize=False)
        menu = ui.button(icon="menu").props('flat round dense color=inherit aria-label="Pages"')
        ui.html('<a class="nw-brand" href="/">noise<span>wright</span></a>', sanitize=False)
        ui.element("div").classes("nw-grow")
        switch = ui.button(icon="contrast").props("flat round dense color=inherit")
        switch.on_click(lambda: _switch(dark, switch))
        switch.props["aria-label"] = _offer(bool(dark.value))
    drawer = ui.left_drawer(value=None, bordered=True).classes("nw-nav").props("width=220 breakpoint=1023")
    with drawer, ui.element("nav").props('aria-label="Pages"'):
        for where, title in pages:
            link = ui.link(title, where)
            if where == path:
                link.props('aria-current="page"')
    menu.on_click(drawer.toggle)
    with ui.element("div").classes("nw-main").props('id="content" tabindex="-1"'):
        ui.html(f"<h1>{escape(heading)}</h1><p class='nw-lead'>{escape(lead)}</p>", sanitize=False)
        yield


def _offer(dark: bool) -> str:
    return f"Use the {'light' if dark else 'dark'} theme"


def _switch(mode: ui.dark_mode, switch: ui.button) -> None:
    """Show the page in the other theme, with everything that is on it, and remember the choice in this browser."""
    client, dark = ui.context.client, not mode.value
    mode.value = client._noisewright_dark = dark  # type: ignore[attr-defined]
    switch.props["aria-label"] = _offer(dark)
    theme = "dark" if dark else "light"
    ui.run_javascript(
        f'document.cookie = "{THEME}={theme}; Path=/; SameSite=Strict; Max-Age=31536000";'
        f'document.body.style.setProperty("--q-primary", "{PRIMARY[dark]}");'
    )
    for change in getattr(client, "_noisewright_themed", []):
        change(dark)


# Live ---------------------------------------------------------------------------------------------------------------------
#
# Answers that follow typed text: the latest question is answered, those that were overtaken are not.


T = TypeVar("T")


class Live(Generic[T]):
    """``ask(compute)`` runs ``compute`` next to the page and shows its answer, or the sentence in which it was refused."""

    def __init__(self, show: Callable[[T], None], refuse: Callable[[str], None]) -> None:
        self._show, self._refuse, self._client = show, refuse, ui.context.client
        self._next: Callable[[], T] | None = None
        self._busy = False

    def ask(self, compute: Callable[[], T]) -> None:
        """Answer this as soon as the current computation is done."""
        self._next = compute
        if not self._busy:
            self._busy = True
            background_tasks.create(self._work(), name="studio answer")

    async def _work(self) -> None:
        try:
            while self._next is not None and not self._client.is_deleted:
                compute, self._next = self._next, None
                try:
                    answer = await run.io_bound(compute)
                    if answer is not None and not self._client.is_deleted:
                        with self._client:
                            self._show(answer)
                except Exception as problem:  # what no person should see as a trace is said in a sentence
                    if not self._client.is_deleted:
                        with self._client:
                            self._refuse(sentence(problem))
        finally:
            self._busy = False


async def beside(refuse: Callable[[str], None], compute: Callable[..., T], *arguments: Any) -> T | None:
    """Return the result of ``compute``, run next to the page; None after the sentence in which it was refused."""
    try:
        return await run.io_bound(compute, *arguments)
    except Exception as problem:  # as above
        refuse(sentence(problem))
        return None


# Proof --------------------------------------------------------------------------------------------------------------------
#
# The panel at the end of every page: the same in Python, at the command line, and as a link.


class SameElsewhere:
    """Shows a task as code, command and link; :meth:`show` changes them, and the address of the page."""

    def __init__(self) -> None:
        self._panel = ui.element("section").classes("nw-panel").props('aria-label="The same elsewhere"')
        with self._panel:
            ui.html("<h2>Show me the code</h2>", sanitize=False)
            self._code = ui.html("", sanitize=False)
            ui.html("<h2>Show me the command</h2>", sanitize=False)
            self._command = ui.html("", sanitize=False)
            self._link = ui.html("", sanitize=False)
        self.hide()

    def hide(self) -> None:
        """There is nothing on the page that could be done elsewhere."""
        self._panel.set_visibility(False)

    def show(self, task: Task, code: str, command: str | None = None) -> None:
        """Show another task, and let the address of the page bring it back; ``command``: where it takes several lines."""
        from html import escape

        self._panel.set_visibility(True)
        self._code.content = words.code(code, "Python")
        self._command.content = words.code(command or task.command, "command line")
        fits = len(task.link) <= LONGEST_LINK and all(len(text) <= LONGEST_VALUE for text in task.shown.values())
        self._link.content = (
            f'<p class="nw-note"><a class="plain" href="{escape(task.link)}">A link to this page as it is</a></p>'
            if fits
            else words.note("What is typed here is too long for a link: it goes with this page.")
        )
        ui.run_javascript(f"history.replaceState(null, '', {json.dumps(task.link if fits else task.page)})")


# Linked -------------------------------------------------------------------------------------------------------------------
#
# The file that a link names: by what its person calls it, and by a keyed digest that discloses nothing of it.
#
# A page that is opened by such a link shows that file or asks for it; it never shows an example in its place.


FILE, DIGEST = "file", "digest"


def named(name: str, digest: str, kind: str = "") -> dict[str, str]:
    """Return the part of a link that names a file; ``kind`` distinguishes it from another file of the same page."""
    return {f"{kind}{FILE}": name, f"{kind}{DIGEST}": digest}


class Linked:
    """The file of a link, if it names one."""

    def __init__(self, asked: Mapping[str, str], kind: str = "") -> None:
        self.name = Path(asked.get(f"{kind}{FILE}", "").replace("\\", "/")).name
        self.digest = asked.get(f"{kind}{DIGEST}", "")
        self.waiting = (
            f"This link is about {self.name}, which went with the page that had it; open that file again."
            if self.name
            else ""
        )
        """The sentence that asks for the file, until one is there."""

    def found(self, visit: Visit) -> Path | None:
        """Return the file, if a page that is still open was given it."""
        path = still_here(self.name, self.digest) if self.name else None
        if path is not None:
            visit.borrow(self.name, path, self.digest)
        return path

    def restore(self, visit: Visit, taken: Callable[[str, Path], Any]) -> None:
        """Call ``taken`` with the name and the place of the file, if it is still there."""
        path = self.found(visit)
        if path is not None:
            ui.timer(0, lambda: taken(self.name, path), once=True)

    def taken(self, name: str, digest: str) -> str:
        """Take an opened file for the wanted one; return a warning if it is another one than the link is about."""
        wanted, self.digest, self.waiting = self.digest, "", ""
        if not wanted or wanted == digest:
            return ""
        return words.alarm(
            f"{name} is not the file that the link is about: its content differs, or another user made the link."
        )


# Site ---------------------------------------------------------------------------------------------------------------------
#
# Table of pages: the address of each, its name, and its module.


@dataclass(frozen=True)
class Page:
    """Page: its address, its name in the list of pages, its heading, and its purpose."""

    path: str
    title: str
    heading: str
    lead: str
    builder: str
    """The address of the function that makes its content, given the request."""
    below: str = ""
    """Rest of the path, in the form of the router: ``/{kind}``."""

    @property
    def build(self) -> Callable[..., None]:
        """The function that makes its content."""
        module, _, name = self.builder.partition(":")
        return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]

    def register(self) -> None:
        """Answer requests for it."""
        from nicegui import ui
        from starlette.requests import Request

        def answer(request: Request) -> None:
            with frame(self.path, self.heading, self.lead, [(page.path, page.title) for page in PAGES]):
                self.build(request)

        answer.__annotations__ = {"request": Request, "return": None}
        for path in filter(None, (self.path, self.below and self.path + self.below)):
            ui.page(path, title=f"{self.title} · Noisewright Studio")(answer)


PAGES = (
    Page(
        "/",
        "Start",
        "What do you have?",
        "Choose what is to be protected. Everything stays on this machine.",
        "noisewright.studio.pages.media:build_start",
    ),
    Page(
        "/design",
        "Design",
        "Design a mechanism",
        "Move the sliders, and see what comes out, how wrong it is, and what an adversary can still believe.",
        "noisewright.studio.pages.design:build",
        "/{kind}",
    ),
    Page(
        "/compare",
        "Compare",
        "Compare mechanisms",
        "See whether one may replace another against every adversary, what each costs, and what can be gained from each.",
        "noisewright.studio.pages.compare:build",
    ),
    Page(
        "/audit",
        "Audit",
        "Audit a mechanism",
        "Bring a channel or a certificate, and see what it really promises; repair it, and take the proof with you.",
        "noisewright.studio.pages.audit:build_audit",
    ),
    Page(
        "/text",
        "Text",
        "Obfuscate the words of a text",
        "Every word is drawn again among words of similar meaning. Whether that hides the author must be measured.",
        "noisewright.studio.pages.media:build_text",
    ),
    Page(
        "/pictures",
        "Pictures",
        "Hide what is on a picture",
        "Draw blocks of pixels, or whole faces, anew; slide epsilon, and see what is left.",
        "noisewright.studio.pages.media:build_pictures",
    ),
    Page(
        "/matching",
        "Matching",
        "Match people by noisy codes",
        "Short noisy codes find who is like whom; see whom they find, and how often a code is told from all others.",
        "noisewright.studio.pages.matching:build",
    ),
    Page(
        "/learned",
        "Learned",
        "Hide a private column",
        "Change the other columns within a budget, so that the private one is guessed right less often. No epsilon.",
        "noisewright.studio.pages.learning:build",
    ),
    Page(
        "/release",
        "Release",
        "Release a table",
        "Say what is public about each column, see the promise and cost of a release, and take the table with its certificate.",
        "noisewright.studio.pages.release:build",
        "/{part}",
    ),
    Page(
        "/ledger",
        "Ledger",
        "Read a ledger",
        "What was spent of every budget, when and for what, and what is left.",
        "noisewright.studio.pages.audit:build_ledger",
    ),
    Page(
        "/survey",
        "Survey",
        "Ask a sensitive question",
        "Find coins, dice or cards that randomise answers, print the card, and estimate the truth behind answers.",
        "noisewright.studio.pages.survey:build",
        "/{part}",
    ),
)


# Uploads ------------------------------------------------------------------------------------------------------------------
#
# A button that takes a file. The file goes to the folder of this visit, under a name that the server made up.


def file_button(
    label: str,
    allowed: tuple[str, ...],
    taken: Callable[[str, Path], Awaitable[None] | None],
    refused: Callable[[str], None],
    begun: Callable[[], None] = lambda: None,
) -> None:
    """``taken(name, where)`` is called with what the person calls the file and where it is; ``refused`` with a sentence.

    ``begun`` is called when a file begins to arrive, which the person can cancel.
    """
    visit = visit_here()
    cancelled: list[bool] = []

    def starts() -> None:
        cancelled.clear()
        begun()
        arriving.set_visibility(True)

    async def arrived(event: events.UploadEventArguments) -> None:
        arriving.set_visibility(False)
        hidden.reset()
        try:
            name, content = event.file.name, getattr(event.file, "_path", None) or await event.file.read()
            where = await run.io_bound(visit.keep, name, content, allowed)
            answer = None if where is None else taken(Path(name).name, where)
            if answer is not None:
                await answer
        except Exception as problem:  # every file, whatever its content, leads to a sentence
            refused(sentence(problem))

    def rejected() -> None:
        refused(
            f"a file that ends with {', '.join(allowed)} and has up to {LARGEST_FILE // 2**20} MB is wanted here; the command "
            "line takes larger ones."
        )

    def failed() -> None:
        arriving.set_visibility(False)
        if not cancelled:
            refused(
                "the file did not arrive whole: the connection broke, the disk of this machine is full, or the file is too "
                "large; open it again."
            )

    def cancel() -> None:
        cancelled.append(True)
        arriving.set_visibility(False)
        hidden.run_method("abort")
        hidden.reset()

    hidden = ui.upload(
        on_begin_upload=starts, on_upload=arrived, on_rejected=rejected, auto_upload=True, max_file_size=LARGEST_FILE
    )
    hidden.on("failed", failed, args=[])
    hidden.classes("nw-hidden")
    hidden.props(f'accept="{",".join(allowed)}" aria-hidden=true tabindex=-1')
    button(label, lambda: hidden.run_method("pickFiles"), icon="upload_file")
    arriving: ui.element = ui.element("div").classes("nw-row").props('role="status"')
    with arriving:
        ui.html(words.note("Receiving the file"), sanitize=False)
        button("Cancel", cancel, icon="close", quiet=True)
    arriving.set_visibility(False)


# Work ---------------------------------------------------------------------------------------------------------------------
#
# Long work on a page: how far it is, a button that ends it, and what came of it.


class Work:
    """One job at a time: ``done``, which may wait, is called with its result, ``refused`` with why it ended otherwise.

    It ends with its page, unless it ``outlives`` the page and the server; and after ``limit`` seconds, where there is a limit.
    """

    def __init__(
        self,
        what: str,
        done: Callable[[Any], Any],
        refused: Callable[[str], None],
        unit: str = "rows",
        *,
        limit: float | None = None,
        outlives: bool = False,
    ) -> None:
        self._done, self._refused, self._unit, self._limit, self._outlives = done, refused, unit, limit, outlives
        self._job: Job | None = None
        self._what = what
        self._panel = ui.element("div").classes("nw-fields").props('role="status"')
        with self._panel:
            self._words = ui.html("", sanitize=False)
            self._bar = ui.linear_progress(value=0, show_value=False).props(f'aria-label="{what}" rounded')
            with ui.element("div"):
                button("Cancel", self.cancel, icon="close")
        self._panel.set_visibility(False)
        self._timer = ui.timer(0.2, self._look, active=False)
        visit = visit_here()
        if outlives:
            visit.awaited.append(self._wait)
            visit.goes_on.append(self._goes_on)
        else:
            visit.before_end.append(self.cancel)

    @property
    def busy(self) -> bool:
        """True if something is at work."""
        return self._job is not None

    def start(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Begin; earlier work goes on alone."""
        if self._job is None:
            held = held_open() if self._outlives else ()
            self._job = Job(function, *arguments, limit=self._limit, outlives=self._outlives, held=held)
            self._bar.value = 0
            self._words.content = words.note(f"{self._what}: beginning")
            self._panel.set_visibility(True)
            self._timer.activate()

    def restart(self, function: Callable[..., Any], *arguments: Any) -> None:
        """End the current work, without a word about it, and begin."""
        self.drop()
        self.start(function, *arguments)

    def drop(self) -> None:
        """End the current work, without a word about it."""
        job, self._job = self._job, None
        if job is not None:
            job.cancel()
        self._timer.deactivate()
        self._panel.set_visibility(False)

    def cancel(self) -> None:
        """End the current work."""
        if self._job is not None:
            self._job.cancel()

    def _goes_on(self) -> bool:
        return self._job is not None and not self._job.look().ended

    def _wait(self) -> None:
        """Wait for work that goes on when its page is closed."""
        if self._job is not None:
            self._job.wait()

    async def _look(self) -> None:
        if self._job is None:
            return
        state = self._job.look()
        if not state.ended:
            self._bar.props["indeterminate"] = not state.of
            if not state.of:
                self._words.content = words.note(f"{self._what}: {int(self._job.seconds)} s")
            else:
                self._bar.value = state.done / state.of
                self._words.content = words.note(f"{self._what}: {int(state.done):,} of {int(state.of):,} {self._unit}")
            return
        self._job = None
        self._timer.deactivate()
        self._panel.set_visibility(False)
        if state.refused is None:
            answer = self._done(state.result)
            if answer is not None:
                await answer
        else:
            self._refused(state.refused)
