"""The report: well-formed, alone, escaped, and with the right numbers; and the charts in it."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from datetime import UTC, datetime
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from release_samples import COLUMNS, QUERIES, TYPES, sample_plan

from noisewright.claims.phrases import NOT_RECORDED
from noisewright.ledger.records import Balance, Protected
from noisewright.policy.policy import Policy
from noisewright.queries.answers import shown
from noisewright.releases.marginals import bins_of, marginal_of
from noisewright.releases.plan import make_plan
from noisewright.releases.report import Made, report
from noisewright.render.charts import Marginal, chart, short, spelled, ticks

PLAN = sample_plan()
MADE = Made(
    at=datetime(2026, 1, 5, 9, 30, tzinfo=UTC), engine="local", simulated=False, certificate="ab" * 32, rows=1234
)
VOID = {"meta", "br"}
NAME = "<script>alert('x')<img src=x onerror=alert(1)>&\"'"
EVIL = "<script>alert('x')</script><img src=https://example.org/x.png>\"&\x00\x1b[8m"


class Page(HTMLParser):
    """Every tag is closed in order; what is in it is collected."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.tables: list[list[str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self.tables.append([])
        if self.tables and "table" in self.open:
            self.tables[-1].append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def balance(**changes: Any) -> Balance:
    given = {
        "dataset": "clinic",
        "scope": "dataset",
        "neighbours": PLAN.neighbours,
        "releases": 2,
        "epsilon": Fraction(100),
        "delta": Fraction(0),
        "spent_epsilon": PLAN.epsilon + Fraction(5, 2),
        "spent_delta": Fraction(0),
        **changes,
    }
    return Balance(**given)


def marginals() -> Iterable[Marginal]:
    rng = np.random.default_rng(0)
    columns = {
        "age": [pa.array(rng.integers(0, 110, 2000))],
        "smoker": [pa.array(rng.random(2000) < 0.2)],
        "day": [pa.array(rng.integers(20_100, 20_200, 2000).astype(np.int32)).cast(pa.date32())],
        "latitude": [pa.array(rng.normal(53.45, 0.05, 2000)), pa.array(rng.normal(-2.2, 0.05, 2000))],
    }
    for plan in PLAN.columns:
        if not plan.keep:
            released = plan.perturb(columns[plan.names[0]], rng)
            bins = bins_of(plan, released)
            assert bins is not None
            yield marginal_of(plan, bins, bins.count(released))


ANSWERS = {
    "smokers": pa.table({"smoker": [True, False], "smokers": [401, 1599]}),
    "mean age": pa.table({"mean age": [51.25]}),
}
FULL = report(PLAN, MADE, balance=balance(), marginals=list(marginals()), answers=ANSWERS)


# Form ---------------------------------------------------------------------------------------------------------------------


def test_the_page_is_well_formed_and_alone() -> None:
    page = Page(FULL)
    assert FULL.startswith("<!DOCTYPE html>")
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "form", "base"}
    for _, attributes in page.tags:
        assert not set(attributes) & {"src", "onload", "onclick", "style", "action"}
    ids = {attributes.get("id") for _, attributes in page.tags}
    links = [str(attributes["href"]) for _, attributes in page.tags if "href" in attributes]
    assert len(links) == len(set(links)) == 10
    assert all(link.startswith("#") and link[1:] in ids for link in links)  # the contents lead to places of this page
    outside = set(re.findall(r"[a-z]+://[^\s\"'<)]+", FULL))
    assert outside == {"http://www.w3.org/2000/svg"}  # the name of a language, not a place to load from
    assert "url(" not in FULL
    assert "@import" not in FULL
    ET.fromstring(FULL.removeprefix("<!DOCTYPE html>\n"))  # it is XML as well


def test_it_can_be_read_without_seeing_it() -> None:
    page = Page(FULL)
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in itertools.pairwise(levels))
    assert page.tables
    assert all(table[0] == "caption" and "th" in table for table in page.tables)
    assert dict(page.tags[0][1])["lang"] == "en"
    drawn = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(drawn) == 5  # four columns and the budget
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    for attributes in drawn:
        assert attributes["role"] == "img"
        assert set(str(attributes["aria-labelledby"]).split()) <= set(ids)
    scopes = [attributes.get("scope") for tag, attributes in page.tags if tag == "th"]
    assert set(scopes) == {"col", "row"}


def test_it_is_for_light_dark_and_paper() -> None:
    assert "prefers-color-scheme: dark" in FULL
    assert "@media print" in FULL
    assert "color-scheme: light dark" in FULL


def contrast(first: str, second: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_colours_can_be_told_from_the_paper(theme: int) -> None:
    """WCAG 2: 4.5 for text, 3 for graphics."""
    blocks = re.findall(r":root \{(.*?)\}", FULL, re.DOTALL)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", blocks[0]))
    if theme:
        colours |= dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", blocks[1]))
    for name in ("ink", "soft"):
        assert contrast(colours[name], colours["paper"]) >= 4.5
    assert contrast(colours["ink"], colours["panel"]) >= 4.5
    assert contrast(colours["alarm-ink"], colours["alarm"]) >= 4.5
    for name in ("released", "estimated", "accent"):
        assert contrast(colours[name], colours["paper"]) >= 3


@pytest.mark.parametrize("simulated", [False, True])
def test_markup_from_a_policy_or_a_table_is_only_text(simulated: bool) -> None:
    labels = [EVIL, "b"]
    columns = [
        {"name": "age", "mechanism": "randomised-response", "categories": labels, "epsilon": 1, "rename": NAME + "1"},
        {"name": NAME, "keep": True},
    ]
    queries = [{**QUERIES[0], "name": NAME + "q"}]
    policy = Policy.from_dict({"dataset": NAME, "budget": {"epsilon": 9}, "columns": columns, "queries": queries})
    plan = make_plan(policy, {"age": pa.string(), "smoker": pa.bool_(), NAME: pa.string(), EVIL: pa.string()})
    shown = Marginal(NAME + "1", "categories", (3.0, 4.0), labels=(EVIL, "b"))
    answers = {NAME + "q": pa.table({EVIL: [EVIL], NAME + "q": [1]})}
    made = Made(**{**MADE.__dict__, "simulated": simulated, "files": (EVIL,)})
    text = report(plan, made, balance=balance(neighbours=EVIL), marginals=[shown], answers=answers)
    page = Page(text)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "img"}
    assert not any("onerror" in attributes for _, attributes in page.tags)
    assert "<script" not in text
    assert "\x00" not in text
    assert "\x1b" not in text
    assert "<script>alert('x')</script>" in page.text  # as words
    assert page.text.count("<script>") >= 10
    ET.fromstring(text.removeprefix("<!DOCTYPE html>\n"))


# Content ------------------------------------------------------------------------------------------------------------------


def test_what_it_says() -> None:
    text = Page(FULL).text
    assert "Release of clinic" in text
    assert "Made on 5 January 2026 at 09:30 UTC" in text
    assert "1,234 rows" in text
    assert "This release protects each patient" in text
    assert PLAN.between in text
    assert "Not protected at all: ward" in text
    assert "Not released at all: patient (says which rows belong together) and every column that the policy" in text
    assert "Used only for answers" not in text
    assert "note" not in PLAN.types  # the table has one, which is nobody's business
    assert "noisewright verify FOLDER --ledger LEDGER" in text
    assert "python checker.py FOLDER/certificate.json" in text
    assert "noisewright verify certificate.json" not in text  # proves arithmetic, but not that it is about this table
    assert "--export-checker" in text
    assert "ab" * 32 in text
    assert "System seed, AES-256-CTR" in text
    assert "NOT FOR RELEASE" not in text
    for column in PLAN.columns:
        if column.mechanism is not None:
            assert column.mechanism.name in text
    assert not re.search(
        r"per unit of|lattice 2\^|\* line|discrete", text
    )  # plain words; certificates have the exact ones
    for part in PLAN.parts:
        assert part.protects in text
    assert "the true table was not looked at" in text
    assert "no budget spent" in text
    assert "twice as far apart, twice the epsilon or more" in text
    assert "401" in text
    assert "51.25" in text


def test_no_epsilon_without_what_it_is_between() -> None:
    """Each price stands in a table or list that says between what."""
    page = FULL.partition("What was released")[2]
    table = page.partition("</table>")[0]
    for row in re.findall(r"<tr>(.*?)</tr>", table)[1:]:
        cells = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
        assert len(cells) == 6
        assert cells[2]
        assert cells[3].startswith("epsilon") == (cells[2] != "nothing")
    assert len(Page(FULL).tables) == 4  # all parts, two answers, and the budget


@pytest.mark.parametrize(("epsilon", "rows"), [("1", 1), ("0.1", 1), ("2.5", 1), ("1", 2)])
def test_beliefs_follow_from_bayes(epsilon: str, rows: int) -> None:
    columns = [{**COLUMNS[1], "epsilon": epsilon}]
    unit = {"column": "patient", "rows": rows} if rows > 1 else {}
    policy = Policy.from_dict({"dataset": "d", "budget": {"epsilon": 99}, "unit": unit, "columns": columns})
    text = Page(report(make_plan(policy, TYPES), MADE)).text
    row = text.partition("Odds change by a factor of at most")[2]
    found = [float(number) for number in re.findall(r"(?:^|at most) ([0-9.]+)", row)[:4]]
    factor = math.exp(float(epsilon) * rows)
    part = text.partition("Expected error smoker")[2].partition(" % ")[0].rpartition(" ")[2]
    assert 100 * factor / (factor + 1) <= float(part) <= 100.5 * factor / (factor + 1)
    expected = [factor, *(100 * factor * p / (factor * p + 1 - p) for p in (0.01, 0.1, 0.5))]
    for said, true in zip(found, expected, strict=True):
        assert true <= said <= true * 1.01  # rounded up, in three digits


def test_a_belief_never_reads_as_certain() -> None:
    columns = [{**COLUMNS[1], "epsilon": 9}, {**COLUMNS[0], "epsilon": 9}]
    policy = Policy.from_dict({"dataset": "d", "budget": {"epsilon": 99}, "columns": columns})
    text = Page(report(make_plan(policy, TYPES), MADE)).text
    assert "practically 100 %" in text
    assert "99.99 %" in text  # e^9 to 1, rounded up: 99.9877
    assert not re.search(r"[0-9]{2}\.[0-9]{3,} %", text)
    assert not re.search(r"(?<![0-9.y ])100 %", text)


def test_a_delta_bounds_guesses_and_no_beliefs() -> None:
    columns = [{"name": "age", "mechanism": "gaussian", "protect": 5, "epsilon": 1, "delta": "0.001"}]
    policy = Policy.from_dict({"dataset": "d", "budget": {"epsilon": 9, "delta": "0.01"}, "columns": columns})
    text = Page(report(make_plan(policy, TYPES), MADE)).text
    right = 100 * (math.e + 0.001) / (math.e + 1)
    assert "no belief is bounded for every single output" in text
    shown = re.search(r"right at most ([0-9.]+) % of the time", text)
    assert shown is not None
    assert right <= float(shown[1]) <= right + 0.2
    assert "delta 0.001" in text
    assert "A belief of 50 % in one" not in text


def test_a_simulation_is_loud() -> None:
    made = Made(**{**MADE.__dict__, "simulated": True})
    text = report(PLAN, made)
    assert text.index("NOT FOR RELEASE") < text.index("<h1>")
    assert "Do not hand this output to anybody" in text
    assert "cannot be drawn again" not in text


def test_the_budget_adds_up() -> None:
    text = Page(FULL).text
    table = text.partition("Spent before")[2].partition("Where the noise")[0] if "Spent before" in text else ""
    numbers = [float(number) for number in re.findall(r"(?:^|This release|Left|Budget) ?([0-9.]+)", table.strip())]
    assert numbers == [2.5, float(PLAN.epsilon), 100 - 2.5 - float(PLAN.epsilon), 100]
    without = Page(report(PLAN, MADE)).text
    assert "No ledger has recorded this release" in without
    per_unit = Page(report(PLAN, MADE, balance=balance(scope="unit"))).text
    assert "a unit that took part in every release" in per_unit


def test_the_budget_says_between_which_tables_it_is() -> None:
    """Ages 18 and 77 are told apart e^11.8 times as well as ages 5 apart: no budget stands there without its distances."""
    policy = Policy.from_dict({"dataset": "clinic", "budget": {"epsilon": 9}, "columns": COLUMNS[:1]})
    plan = make_plan(policy, TYPES)
    neighbours = "two tables with the same number of rows that differ in the values of one row"
    assert plan.between == f"{neighbours}: by at most 5 in age"
    same = balance(neighbours=plan.neighbours, protected=(Protected(("age",), Fraction(5)),))
    caption = Page(report(plan, MADE, balance=same)).text.partition(" this release left ")[2].partition(" Epsilon ")[0]
    assert caption == f"What all releases of clinic may cost one unit, and what is left. Between {plan.between}."
    nearer = (Protected(("age",), Fraction(2)), Protected(("sex",), None))  # what earlier releases protected
    other = balance(neighbours=plan.neighbours, protected=nearer)
    caption = Page(report(plan, MADE, balance=other)).text.partition(" this release left ")[2].partition(" Epsilon ")[0]
    assert caption.endswith(
        f"Between {neighbours}: by at most 2 in age, by any two values in sex{NOT_RECORDED}. "
        f"This release is between {plan.between}."
    )


def test_the_picture_of_the_budget_rounds_what_is_spent_up() -> None:
    spent = balance(epsilon=3000, spent_epsilon=PLAN.epsilon + 1)
    (words,) = re.findall(
        "Budget: ([0-9.]+) % spent before, ([0-9.]+) % by this release", report(PLAN, MADE, balance=spent)
    )
    before, now = (Fraction(word) for word in words)
    assert Fraction(100, 3000) <= before <= Fraction(101, 3000)
    assert 100 * PLAN.epsilon / 3000 <= now <= 101 * PLAN.epsilon / 3000


def test_what_remains_possible_depends_on_the_policy() -> None:
    columns = [{**COLUMNS[0], "missing": "keep"}]
    unit = {"column": "patient", "rows": 2, "excess": "first"}
    policy = Policy.from_dict({"dataset": "d", "budget": {"epsilon": 9}, "unit": unit, "columns": columns})
    text = Page(report(make_plan(policy, TYPES), MADE)).text
    assert "age: whether a value is missing is shown as it is" in text
    assert "Rows beyond the first 2 of one patient were left out" in text
    assert "kept unchanged" not in text
    shown = "Not hidden: who is in the table, and the number of rows, in all and of each patient. The values are."
    assert shown in text
    full = Page(FULL).text
    assert "is missing is shown" not in full
    assert "were left out" not in full
    queries = Policy.from_dict({"dataset": "d", "budget": {"epsilon": 9}, "queries": QUERIES})
    asked = Page(report(make_plan(queries, TYPES), MADE)).text
    assert "Not hidden" not in asked
    assert "Columns, one by one" not in asked
    assert "mean of age, values within 0 to 110, where age &gt;= 18".replace("&gt;", ">") in asked


def test_a_release_of_kept_columns_only_says_that_nothing_is_protected() -> None:
    policy = Policy.from_dict({"dataset": "d", "budget": {"epsilon": 9}, "columns": [{"name": "ward", "keep": True}]})
    text = Page(report(make_plan(policy, TYPES), MADE)).text
    assert "Nothing is protected" in text
    assert "What somebody can conclude" not in text


def test_long_answers_are_cut() -> None:
    answers = {"mean age": pa.table({"mean age": [float(k) for k in range(500)]})}
    text = Page(report(PLAN, MADE, answers=answers)).text
    assert "The first 60 of 500 rows" in text
    assert " 61 " not in text.partition("The first 60")[2].partition("What remains")[0]


def test_a_picture_of_some_rows_says_so() -> None:
    marginal = Marginal("age", "numbers", (700.0, 300.0), edges=(0.0, 50.0, 100.0), missing=34)
    part = Page(report(PLAN, MADE, marginals=[marginal])).text
    assert "counted in 1,034 rows that are spread over the released table" in part
    assert "34 values are missing" in part
    whole = Marginal("age", "numbers", (900.0, 300.0), edges=(0.0, 50.0, 100.0), missing=34)
    assert "counted in the released table" in Page(report(PLAN, MADE, marginals=[whole])).text


def test_columns_that_only_answers_use_are_named() -> None:
    policy = {"dataset": "d", "budget": {"epsilon": 9}, "columns": COLUMNS[1:2], "queries": QUERIES[1:]}
    text = Page(report(make_plan(Policy.from_dict(policy), TYPES), MADE)).text
    assert "Used only for answers: age." in text
    assert "Not released at all: every column that the policy does not name." in text


@pytest.mark.parametrize(
    ("epsilon", "place"), [("0.5", "Below 1"), ("1", "1 to 3"), ("3", "3 to 10"), ("10", "3 to 10"), ("11", "Above 10")]
)
def test_the_total_has_its_place_on_the_scale(epsilon: str, place: str) -> None:
    policy = {"dataset": "d", "budget": {"epsilon": 99}, "columns": [{**COLUMNS[1], "epsilon": epsilon}]}
    text = report(make_plan(Policy.from_dict(policy), TYPES), MADE)
    (here,) = re.findall(r'<li class="here">(.*?)</li>', text)
    assert here.startswith(place)
    assert here.endswith("(this release)")


def test_somebody_signs_a_release_and_nobody_a_simulation() -> None:
    text = Page(FULL).text.partition("Who signs To be")[2]
    assert f"The total of epsilon {float(PLAN.epsilon):g} is acceptable" in text
    assert "ward: released unprotected, and points to nobody" in text
    assert f"the promise is between {PLAN.between}." in text
    assert re.search("Name Role Date Signature", text)
    simulated = Page(report(PLAN, Made(**{**MADE.__dict__, "simulated": True}))).text
    assert "Signature" not in simulated


def test_places_are_read_by_how_many_are_near() -> None:
    """For two places within 500 m at level 1.4: the radius of half of all places, from the law of the length of planar noise."""
    epsilon = 1.4 / 505
    half = scipy.optimize.brentq(lambda r: 1 - (1 + epsilon * r) * math.exp(-epsilon * r) - 0.5, 1, 5000)
    found = re.search(r"half within ([0-9]+) m, 95 % within ([0-9.]+) km", Page(FULL).text)
    assert found is not None
    assert float(found[1]) == pytest.approx(half, rel=0.01)


def test_figures_have_sensible_digits() -> None:
    text = Page(FULL).text
    assert not re.search(r"[0-9]e[+-]?[0-9]", text.replace("ab" * 32, ""))
    assert not re.search(r"[0-9]\.[0-9]{4,}", text.replace("53.45", ""))


# Charts -------------------------------------------------------------------------------------------------------------------

SVG = "{http://www.w3.org/2000/svg}"


def drawn(marginal: Marginal) -> ET.Element:
    return ET.fromstring(chart(marginal, 3))


def shapes(picture: ET.Element, tag: str, style: str) -> list[ET.Element]:
    return [e for e in picture.iter(SVG + tag) if style in str(e.get("class")).split()]


def test_bars_are_as_long_as_their_counts() -> None:
    marginal = Marginal("x", "categories", (10.0, 40.0, 0.0), ("a", "b", "c"), estimated=(20.0, 30.0, 0.0))
    picture = drawn(marginal)
    widths = [float(str(e.get("width"))) for e in shapes(picture, "rect", "released")]
    assert widths[1] == pytest.approx(4 * widths[0], rel=0.01)
    assert widths[2] == 0
    places = [float(str(e.get("cx"))) for e in shapes(picture, "circle", "estimated")]
    left = float(str(shapes(picture, "rect", "released")[0].get("x")))
    assert places[0] - left == pytest.approx(2 * widths[0], rel=0.01)
    texts = [e.text for e in picture.iter(SVG + "text")]
    assert {"a", "b", "c", "10", "40", "20", "30", "released", "estimated", "rows"} <= set(texts)


def test_histograms_are_as_high_as_their_counts() -> None:
    ends = {"low": (4.0, 10.0), "high": (9.0, 14.0)}
    marginal = Marginal("x", "numbers", (5.0, 15.0), edges=(0.0, 10.0, 20.0), estimated=(8.0, 12.0), **ends)
    picture = drawn(marginal)
    bars = shapes(picture, "rect", "released")
    heights = [float(str(e.get("height"))) for e in bars]
    assert heights[1] == pytest.approx(3 * heights[0], rel=0.01)
    (axis,) = {round(float(str(e.get("y"))) + float(str(e.get("height"))), 1) for e in bars}  # all stand on it
    unit = heights[0] / 5
    assert [axis - float(str(e.get("cy"))) for e in shapes(picture, "circle", "estimated")] == pytest.approx(
        [8 * unit, 12 * unit], abs=0.2
    )
    whiskers = [str(e.get("d")).partition(" ")[2].split("V") for e in shapes(picture, "path", "estimated")]
    assert [axis - float(end) for both in whiskers for end in both] == pytest.approx(
        [4 * unit, 9 * unit, 10 * unit, 14 * unit], abs=0.2
    )


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ((20_089.0, 20_100.0), "5 Jan"),
        ((20_089.0, 20_450.0), "Mar 2025"),
        ((10_000.0, 20_000.0), "2000"),
    ],
)
def test_dates_on_the_axis(edges: tuple[float, float], expected: str) -> None:
    picture = drawn(Marginal("x", "dates", (5.0,), edges=edges))
    labels = [e.text for e in shapes(picture, "text", "tick")]
    assert expected in labels
    assert 4 <= len(labels) <= 20


def test_axes_have_titles_and_estimates_no_digits_that_their_whiskers_do_not_know() -> None:
    ends = {"estimated": (35_157.0, 64_843.0), "low": (34_500.0, 64_200.0), "high": (35_800.0, 65_400.0)}
    bars = [
        e.text for e in drawn(Marginal("x", "categories", (28_052.0, 71_948.0), ("a", "b"), **ends)).iter(SVG + "text")
    ]
    assert {"28,052", "35,200", "64,800", "rows"} <= set(bars)
    numbers = [e.text for e in drawn(Marginal("age", "numbers", (5.0,), edges=(0.0, 10.0))).iter(SVG + "text")]
    assert {"rows", "age"} <= set(numbers)
    places = Marginal("north, east", "places", (9.0,), edges=(0.0, 1.0), across=(0.0, 1.0))
    assert {"north", "east"} <= {e.text for e in drawn(places).iter(SVG + "text")}


def test_places_are_drawn_with_north_above() -> None:
    marginal = Marginal("x", "places", (0.0, 0.0, 0.0, 9.0), edges=(0.0, 1.0, 2.0), across=(0.0, 1.0, 2.0))
    picture = drawn(marginal)
    (cell,) = shapes(picture, "rect", "released")
    (frame,) = shapes(picture, "rect", "frame")
    assert float(str(cell.get("x"))) > float(str(frame.get("x")))
    assert float(str(cell.get("y"))) == pytest.approx(float(str(frame.get("y"))), abs=0.1)


def test_bins_of_an_answer_are_one_column_and_no_power_of_ten() -> None:
    """The two ends of a bin stand in one cell, so that the interval beside them is seen on a telephone, too."""
    table = pa.table(
        {
            "day_from": [datetime(2025, 3, 1), datetime(2025, 3, 8)],
            "day_to": [datetime(2025, 3, 8), datetime(2025, 3, 15, 12)],
            "days": [7, 8],
            "days_low": [1.0, 2.0],
            "days_high": [13.0, 14.0],
        }
    )
    head, rows = shown(table, "days", 5)
    assert head == ["day", "days", "95 % interval"]
    assert [row[0] for row in rows] == ["2025-03-01 to 2025-03-08", "2025-03-08 to 2025-03-15 12:00:00"]
    assert shown(pa.table({"x": [1], "x_from": [2], "x_to": [3], "n": [4]}), "n", 5)[0] == ["x", "x_from", "x_to", "n"]
    asked = {"name": "big", "aggregate": "sum", "column": "x", "within": [0, 2_000_000], "epsilon": 1}
    plan = make_plan(
        Policy.from_dict({"dataset": "d", "budget": {"epsilon": 9}, "queries": [asked]}), {"x": pa.int64()}
    )
    assert "values within 0 to 2 million" in Page(report(plan, MADE)).text


def test_the_first_coordinate_of_a_plane_goes_across() -> None:
    """Three cells along x, two along y; all is in the one with the largest x and the smallest y: at the right, below."""
    made = chart(
        Marginal("x, y", "places", (0, 0, 0, 0, 9, 0), edges=(0, 1, 2, 3), across=(0, 10_000, 20_000), plane=True)
    )
    (cell,) = re.findall(r'<rect class="released cell" x="([0-9.]+)" y="([0-9.]+)" width="([0-9.]+)"', made)
    assert float(cell[0]) + float(cell[2]) == pytest.approx(78 + 380, abs=0.2)
    assert float(cell[1]) == pytest.approx(26 + 190)
    assert ">10,000<" in made
    assert made.index(">x<") < made.index(">y<")  # the title across comes first


def test_marks_of_an_axis_stand_where_bars_begin() -> None:
    made = chart(Marginal("income", "numbers", (1.0,) * 7, edges=tuple(20_000.0 * k for k in range(8))))
    for mark in ("40,000", "80,000", "120,000"):
        assert f">{mark}<" in made
    assert ">25,000<" not in made


def test_commands_are_wrapped_on_a_narrow_page() -> None:
    (rule,) = re.findall(r"\npre {([^}]*)}", FULL)
    assert "pre-wrap" in rule


def test_a_picture_says_what_it_shows() -> None:
    picture = drawn(Marginal("smoker", "categories", (36.0, 64.0), ("yes", "no")))
    title, words = picture.find(SVG + "title"), picture.find(SVG + "desc")
    assert title is not None
    assert words is not None
    assert title.text == "Released values of smoker"
    assert words.text == "Bars of 2 categories, 100 values. The largest: no: 64; yes: 36."


def test_long_labels_are_cut_and_told_whole() -> None:
    label = "a diagnosis with a very long name indeed, and with more words than there is room for"
    picture = drawn(Marginal("x", "categories", (1.0,), (label,)))
    found = next(e for e in picture.iter(SVG + "text") if e.find(SVG + "title") is not None)
    assert found.findtext(SVG + "title") == label
    assert len("".join(found.itertext()).removeprefix(label)) <= 54


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 12))
def test_ticks_are_round_and_few(low: float, width: float, most: int) -> None:
    high = low + width
    found = ticks(low, high, most)
    assert len(found) <= most
    slack = 1e-6 * width
    assert all(low - slack <= tick <= high + slack for tick in found)
    steps = np.diff(found)
    if len(steps) > 1:
        assert steps.max() - steps.min() <= 1e-6 * width


@given(st.text())
def test_spelled_text_is_text_again(text: str) -> None:
    found = ET.fromstring(f"<p>{spelled(text)}</p>").text or ""
    assert "<" not in spelled(text)
    if text.isprintable():
        assert found == text


def test_short_numbers() -> None:
    assert [short(v) for v in (0, 7, 12.34, 1234.5, 2.5e6, 3e9)] == [
        "0",
        "7",
        "12.3",
        "1,234",
        "2.5 million",
        "3 billion",
    ]
