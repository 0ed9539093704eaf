"""A studio that really runs, and a Chromium that looks at it."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tools.browser import FLAGS
from tools.browser import browser as find_browser
from tools.serving import running

HIDDEN_PLOT = "Resize must be passed a displayed plot div element."
"""What Plotly says of a picture that is hidden in the moment between a resize and its drawing: nobody sees it."""
PATIENCE = 180_000
"""Milliseconds until what a page does not show counts as missing: a busy machine may be slow."""

expect.set_options(timeout=PATIENCE)


def _is_elsewhere(address: str, studio: str) -> bool:
    return not address.startswith((studio, studio.replace("http", "ws", 1), "data:", "blob:", "about:"))


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a studio that all tests of this worker share."""
    with running(tmp_path_factory.mktemp("studio")) as (address, _):
        with urllib.request.urlopen(address, timeout=600) as answer:
            assert answer.status == 200
        yield address


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser that all tests of this worker share."""
    where = find_browser()
    if where is None:
        pytest.fail("no Chromium; python -m tools.browser installs one.")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=where, args=list(FLAGS))
        yield found
        found.close()


@pytest.fixture
def visit(chromium: Browser, studio: str) -> Iterator[Callable[..., Page]]:
    """``visit("/design", width=390, dark=True)``: an open page that fails a test when a script of it fails, or asks elsewhere."""
    opened: list[tuple[Page, list[str]]] = []

    def go(path: str, width: int = 1280, dark: bool = False) -> Page:
        context = chromium.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
        if dark:
            context.add_cookies([{"name": "noisewright-theme", "value": "dark", "url": studio}])
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: problems.append(request.url) if _is_elsewhere(request.url, studio) else None)
        page.goto(studio + path)
        page.wait_for_selector("main h1")
        opened.append((page, problems))
        return page

    yield go
    told = [problem for _, problems in opened for problem in problems if problem != HIDDEN_PLOT]
    for page, _ in opened:
        page.context.close()
    assert not told, told
