"""What a notebook and a prompt show: short, in plain words, and escaped."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.core.verdict import card

EVIL = "<script>alert(1)</script>&"
POLICY = {
    "dataset": EVIL,
    "budget": {"epsilon": 3},
    "columns": [
        {"name": "x", "mechanism": "randomised-response", "categories": [EVIL, "b"], "epsilon": 1, "rename": EVIL}
    ],
}
TABLE = pa.table({"x": [EVIL, "b"] * 10})
RESPONSE = nw.randomised_response([EVIL, "b"], epsilon=1)

SHOWN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "plan": (
        lambda folder: nw.plan(POLICY, TABLE, ledger=folder / "ledger"),
        f"<Plan of {EVIL!r}: 1 part, epsilon = 1 between two tables that differ in one row (by any two values in x); fits>",
    ),
    "release": (lambda _: nw.release(POLICY, TABLE, seed=1), "20 rows, epsilon = 1 between two tables"),
    "guarantee": (lambda _: RESPONSE.guarantee, "<Guarantee: epsilon 1 between any two answers>"),
    "audit": (lambda _: nw.audit(RESPONSE), "epsilon 1 between any two answers; worst pair"),
    "comparison": (
        lambda _: nw.compare(RESPONSE, nw.randomised_response([EVIL, "b"], epsilon=2), names=(EVIL, "b")),
        f"{EVIL} may replace b against every adversary",
    ),
    "estimate": (lambda _: nw.estimate({EVIL: 30, "b": 20}, RESPONSE, intervals="asymptotic"), "50 reports"),
    "survey": (
        lambda _: nw.survey(epsilon=1, respondents=1000, categories=[EVIL, "b"]),
        "<Survey: 11 cards, epsilon 1 between any two answers, ± 0.0682 with 1,000 respondents>",
    ),
}


class Tags(HTMLParser):
    """All tags are closed in order, and have no attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert attrs == []
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", SHOWN)
def test_what_is_shown(name: str, tmp_path: Path) -> None:
    make, words = SHOWN[name]
    thing = make(tmp_path)
    assert words in repr(thing)
    assert len(repr(thing)) < 260
    assert Tags(thing._repr_html_()).seen <= {"div", "b", "table", "tr", "th", "td", "thead", "tbody"}
    assert "per unit of" not in thing._repr_html_()


def test_a_card_is_text() -> None:
    made = card(EVIL, [(EVIL, EVIL)], (EVIL,), [(EVIL,)])
    assert Tags(made).seen <= {"div", "b", "table", "tr", "th", "td", "thead", "tbody"}
    assert made.count("&lt;script&gt;") == 5
