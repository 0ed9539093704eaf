"""What a notebook and a prompt show: short, in plain words, and escaped."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.guarantees import CELL, card

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
        f"<Plan of {EVIL!r}: 1 part, epsilon = 1 between two tables with the same number of rows that differ "
        "in the values of one row: by any two values in x; fits>",
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
    """All tags are closed in order, and have no attributes but the styles of cells, which nothing shown is part of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert attrs == [] or (tag in ("th", "td") and [name for name, _ in attrs] == ["style"])
        assert all(value in (CELL, f"{CELL};white-space:nowrap") for _, value in attrs)
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


def test_a_card_reads_from_the_left_and_from_the_top() -> None:
    """Notebooks would set its cells to the right, and browsers its names in the middle of what they name."""
    assert "text-align:left" in CELL
    assert "vertical-align:top" in CELL


def test_places_are_shown_in_metres_and_no_lattice() -> None:
    shown = nw.mechanisms.geo_laplace(epsilon=1, radius=500, reference=(48.85, 2.35)).guarantee._repr_html_()
    assert "any two places within 1 metre on the map, rounded to steps of 0.25," in shown
    assert "lattice" not in shown


def test_a_delta_is_called_by_its_name_in_words_too() -> None:
    assert "plus 1e-6. " in nw.mechanisms.gaussian(epsilon=1, delta="1e-6").guarantee.in_words()


def test_a_certificate_is_short() -> None:
    certificate = nw.randomised_response(100, epsilon=1).certificate()
    assert repr(certificate) == (
        "<Certificate of 'randomised-response': claims epsilon 1, metric discrete; verify() proves it>"
    )


def test_an_audit_shows_the_likeliest_of_the_outputs_that_tell_most() -> None:
    """Every output but the ends of the range tells 0 and 1 apart equally well, up to rounding."""
    assert "output 0: 0.731059 against 0.268941" in repr(nw.audit(nw.geometric(epsilon=1, within=(0, 20))))


def test_a_comparison_answers_yes_or_no() -> None:
    shown = nw.compare(nw.geometric(epsilon=1, within=(0, 3)), nw.geometric(epsilon=2, within=(0, 3)))._repr_html_()
    assert "yes, proved" in shown
    assert "no, and shown" in shown
    assert "witness" not in shown


def test_estimated_numbers_stand_in_their_order_and_a_tiny_gap_is_no_power_of_ten() -> None:
    ages = nw.geometric(epsilon=1, within=(0, 4))
    shown = nw.estimate({0: 10, 1: 20, 2: 50, 3: 80, 4: 10}, ages)._repr_html_()
    places = [shown.index(f">{k}</td>") for k in range(5)]
    assert places == sorted(places)
    assert "e-" not in nw.estimate({"a": 300, "b": 200}, nw.randomised_response(["a", "b"], epsilon=1)).certificate()


def test_a_card_is_text() -> None:
    made = card(EVIL, [(EVIL, EVIL)], (EVIL,), [(EVIL,)])
    assert Tags(made).seen <= {"div", "b", "table", "tr", "th", "td", "thead", "tbody"}
    assert made.count("&lt;script&gt;") == 5
