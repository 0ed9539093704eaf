"""First page: links from the user's data to the page that helps."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from nicegui import ui
from starlette.requests import Request

__all__ = ["build"]

DOORS = {
    "Something to protect": (
        ("A table", "a row for each person, to be released with noise and a proof", "/release?example=clinic"),
        ("A number", "an age, a salary, a count, with the range it lies in", "/design/number"),
        ("Categories", "an answer out of a list, such as yes and no", "/design/category"),
        ("Places", "points of a plane or coordinates on a map", "/design/place"),
        ("Documents", "texts whose words are replaced by similar ones", "/text"),
        ("Pictures", "photographs, or the faces on them", "/pictures"),
        ("Profiles", "of people, to find who is like whom from noisy codes", "/matching"),
        ("A survey question", "that people would rather not answer openly", "/survey"),
        ("A mechanism to check", "a table of probabilities, or a certificate", "/audit"),
    ),
    "Or something else": (
        ("Vectors", "a few numbers that belong together", "/design/vector"),
        ("A private column", "that other columns give away, and records to learn from", "/learned"),
        ("A question", "for which you want the best mechanism there is", "/design/best"),
        ("Several mechanisms", "to see whether one may replace another", "/compare"),
        ("Answers of a survey", "or other private reports, to estimate the truth", "/survey/estimate?example=sport"),
        ("A release", "that somebody gave you, to see what is proved of it", "/release/check"),
        ("A budget", "what was spent of it so far, and what is left", "/ledger"),
    ),
}


def build(request: Request) -> None:
    """Build the links to the pages."""
    del request
    ui.html("".join(_part(title, doors) for title, doors in DOORS.items()), sanitize=False)


def _part(title: str, doors: Sequence[tuple[str, str, str]]) -> str:
    cards = "".join(
        f'<a class="nw-card" href="{escape(path)}"><strong>{escape(name)}</strong><span>{escape(words)}</span></a>'
        for name, words, path in doors
    )
    return f'<h2 class="nw-part">{escape(title)}</h2><div class="nw-cards">{cards}</div>'
