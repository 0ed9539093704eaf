"""Table of pages: the address of each, its name, and its module."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["PAGES", "Page"]


@dataclass(frozen=True)
class Page:
    """Page: its address, its name in the list of pages, its heading, and its purpose."""

    path: str
    title: str
    heading: str
    lead: str
    module: str
    """The module whose ``build`` makes its content, given the request."""
    below: str = ""
    """Rest of the path, in the form of the router: ``/{kind}``."""

    @property
    def build(self) -> Callable[..., None]:
        """The function that makes its content."""
        return importlib.import_module(f"noisewright.studio.pages.{self.module}").build  # type: ignore[no-any-return]

    def register(self) -> None:
        """Answer requests for it."""
        from nicegui import ui
        from starlette.requests import Request

        from noisewright.studio.look.frame import frame

        def answer(request: Request) -> None:
            with frame(self.path, self.heading, self.lead, [(page.path, page.title) for page in PAGES]):
                self.build(request)

        answer.__annotations__ = {"request": Request, "return": None}
        for path in filter(None, (self.path, self.below and self.path + self.below)):
            ui.page(path, title=f"{self.title} · Noisewright Studio")(answer)


PAGES = (
    Page(
        "/", "Start", "What do you have?", "Choose what is to be protected. Everything stays on this machine.", "start"
    ),
    Page(
        "/design",
        "Design",
        "Design a mechanism",
        "Move the sliders, and see what comes out, how wrong it is, and what an adversary can still believe.",
        "design",
        "/{kind}",
    ),
    Page(
        "/compare",
        "Compare",
        "Compare mechanisms",
        "See whether one may replace another against every adversary, what each costs, and what can be gained from each.",
        "compare",
    ),
    Page(
        "/audit",
        "Audit",
        "Audit a mechanism",
        "Bring a channel or a certificate, and see what it really promises; repair it, and take the proof with you.",
        "audit",
    ),
    Page(
        "/text",
        "Text",
        "Obfuscate the words of a text",
        "Every word is drawn again among words of similar meaning. Whether that hides the author must be measured.",
        "text",
    ),
    Page(
        "/pictures",
        "Pictures",
        "Hide what is on a picture",
        "Draw blocks of pixels, or whole faces, anew; slide epsilon, and see what is left.",
        "pictures",
    ),
    Page(
        "/matching",
        "Matching",
        "Match people by noisy codes",
        "Short noisy codes find who is like whom; see whom they find, and how often a code is told from all others.",
        "matching",
    ),
    Page(
        "/learned",
        "Learned",
        "Hide a private column",
        "Change the other columns within a budget, so that the private one is guessed right less often. No epsilon.",
        "learned",
    ),
    Page(
        "/release",
        "Release",
        "Release a table",
        "Say what is public about each column, see the promise and cost of a release, and take the table with its certificate.",
        "release",
        "/{part}",
    ),
    Page(
        "/ledger",
        "Ledger",
        "Read a ledger",
        "What was spent of every budget, when and for what, and what is left.",
        "ledger",
    ),
    Page(
        "/survey",
        "Survey",
        "Ask a sensitive question",
        "Find coins, dice or cards that randomise answers, print the card, and estimate the truth behind answers.",
        "survey",
        "/{part}",
    ),
)
