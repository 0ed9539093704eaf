"""Every page, in two themes and at two widths: no script fails, nothing runs over, and axe finds nothing serious."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from noisewright.studio.components import PAGES
from noisewright.studio.pages.media import DOORS

pytestmark = pytest.mark.xdist_group("studio")
SERIOUS = ("serious", "critical")
MORE = (
    "/design/category",
    "/design/place",
    "/design/vector?mechanism=spherical-laplace",
    "/design/best",
    "/release?example=clinic",
    "/release/check",
    "/survey?epsilon=1&respondents=1000&said_yes=320&said_no=680",
    "/survey/estimate?example=sport",
    "/pictures?method=faces&epsilon=100",
    "/audit?epsilon=1",
)
"""States of pages beside those that they begin with."""
NOTHING_YET = ("/", "/release")
"""Pages without anything that could be done elsewhere."""
DRAWN = """() => document.querySelectorAll('.nw-plot:not(.hidden)').length
    == document.querySelectorAll('.nw-plot:not(.hidden) .main-svg:first-child').length"""


def violations(page: Page) -> list[tuple[str, list[str]]]:
    """What axe finds serious."""
    found = Axe().run(page).response["violations"]
    return [(v["id"], [n["html"][:160] for n in v["nodes"]]) for v in found if v["impact"] in SERIOUS]


def settled(page: Page, path: str) -> None:
    """Wait until the page has answered and drawn."""
    if path not in NOTHING_YET:
        expect(page.get_by_label("command line")).to_be_visible()
    page.wait_for_function(DRAWN)


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 390)], ids=["light", "dark"])
@pytest.mark.parametrize("path", [*(page.path for page in PAGES), *MORE])
def test_a_page_is_accessible_and_fits(visit: Callable[..., Page], path: str, width: int, dark: bool) -> None:
    page = visit(path, width=width, dark=dark)
    settled(page, path)
    assert violations(page) == []
    assert page.get_by_role("alert").count() == 0
    assert page.locator("h1").count() == page.locator("main").count() == 1
    assert page.evaluate("document.documentElement.lang").startswith("en")
    for wide in (width, 1670 - width):
        page.set_viewport_size({"width": wide, "height": 900})
        page.wait_for_function(f"document.documentElement.scrollWidth <= {wide}")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_an_open_list_of_choices_is_accessible(visit: Callable[..., Page], dark: bool) -> None:
    page = visit("/design", dark=dark)
    settled(page, "/design")
    page.get_by_label("mechanism", exact=True).click()
    expect(page.get_by_role("option", name="staircase")).to_be_visible()
    assert violations(page) == []


def test_the_way_to_every_page_is_on_every_page(visit: Callable[..., Page]) -> None:
    page = visit("/")
    names = page.locator("nav[aria-label=Pages] a").all_inner_texts()
    assert names == [page.title for page in PAGES]


def test_what_somebody_has_leads_to_a_page_with_an_example(visit: Callable[..., Page]) -> None:
    """By keyboard alone: to the card, and in."""
    page = visit("/")
    first, *_ = DOORS.values()
    assert len(first) == 9
    for name, _, path in first:
        page.get_by_role("link", name=name).first.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_label("command line")).to_be_visible()
        assert page.url.partition("://")[2].partition("/")[2].startswith(path.partition("?")[0].strip("/"))
        assert page.get_by_role("alert").count() == 0
        page.goto(page.url.partition("://")[0] + "://" + page.url.partition("://")[2].partition("/")[0])


def test_a_page_by_keyboard_alone(visit: Callable[..., Page]) -> None:
    page = visit("/design/number?mechanism=geometric&epsilon=1&within=0:9")
    expect(page.get_by_label("command line")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    slider = page.get_by_role("slider")
    for _ in range(30):
        page.keyboard.press("Tab")
        if slider.evaluate("e => e === document.activeElement || e.contains(document.activeElement)"):
            break
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("command line")).to_contain_text("--epsilon 1.")
    page.get_by_label("Use the dark theme").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Use the light theme")).to_be_visible()
    expect(page.locator("body.body--dark")).to_be_visible()
