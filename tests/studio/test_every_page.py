"""Every page, at two widths and in two themes: no script fails, nothing runs over, and axe finds nothing serious."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from noisewright.studio.site import PAGES

pytestmark = pytest.mark.xdist_group("studio")
SERIOUS = ("serious", "critical")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("path", [page.path for page in PAGES])
def test_a_page_is_accessible_and_fits(visit: Callable[..., Page], path: str, width: int, dark: bool) -> None:
    page = visit(path, width=width, dark=dark)
    page.wait_for_timeout(600)
    found = Axe().run(page)
    bad = [
        (v["id"], [n["html"][:160] for n in v["nodes"]]) for v in found.response["violations"] if v["impact"] in SERIOUS
    ]
    assert not bad, bad
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.lang").startswith("en")


def test_the_way_to_every_page_is_on_every_page(visit: Callable[..., Page]) -> None:
    page = visit("/")
    names = page.locator("nav[aria-label=Pages] a").all_inner_texts()
    assert names == [page.title for page in PAGES]
