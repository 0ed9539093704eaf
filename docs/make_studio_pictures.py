"""Draws the pages of the studio for the documentation.  Run:  python -m docs.make_studio_pictures"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from tools.browser import FLAGS, install
from tools.serving import running

PICTURES = Path(__file__).parent / "pictures"
WIDTH, HEIGHT, SHOWN = 1280, 1140, 860
"""Size of the window, and the final width of a picture."""


def planned(page: Page) -> None:
    """Wait for the plan of the example."""
    page.get_by_role("button", name="Release, for epsilon").wait_for(timeout=120_000)


def released(page: Page) -> None:
    """Make the release of the example, and show what came of it."""
    page.get_by_role("button", name="Release, for epsilon 3").click()
    page.get_by_text("rows were released").wait_for(timeout=120_000)
    page.get_by_label("What was released").scroll_into_view_if_needed()


def trained(page: Page) -> None:
    """Train on the example."""
    page.get_by_role("button", name="Train").click()
    page.get_by_role("button", name="Download the privatiser").wait_for(timeout=300_000)


def opened(page: Page) -> None:
    """Read the ledger of this user."""
    page.get_by_role("button", name="Open the path").click()
    page.get_by_text("in records that hold together").wait_for()


PAGES: dict[str, tuple[str, str, Callable[[Page], None] | None]] = {
    "start": ("/", "light", None),
    "design": ("/design/number?mechanism=geometric&epsilon=1&within=0:20", "light", None),
    "places": ("/design/place", "dark", None),
    "compare": ("/compare", "light", None),
    "audit": ("/audit", "light", None),
    "text": ("/text", "light", None),
    "pictures": ("/pictures?method=faces&epsilon=100", "light", None),
    "matching": ("/matching?epsilon=1", "dark", None),
    "learned": ("/learned", "light", trained),
    "release": ("/release?example=clinic", "light", planned),
    "released": ("/release?example=commuters", "light", released),
    "check": ("/release/check", "light", None),
    "ledger": ("/ledger", "light", opened),
    "survey": ("/survey?epsilon=1&respondents=1000&prevalence=0.1&question=Did you ever drive drunk?", "light", None),
    "estimate": ("/survey/estimate?example=sport", "light", None),
}
"""Address, theme and preceding user actions of each picture."""


def spent(ledger: Path) -> None:
    """A ledger with two releases, for the page that reads one."""
    import pyarrow as pa

    import noisewright as nw

    age = {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": "1/2"}
    table = pa.table({"age": [44, 31, 58]})
    for _ in range(2):
        nw.release({"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [age]}, table, ledger=ledger, again=True)


def main() -> None:
    """All of them."""
    folder = Path(tempfile.mkdtemp(prefix="studio-pictures-"))
    spent(folder / "ledger.sqlite")
    with running(folder) as (address, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=install(), args=list(FLAGS))
        for name, (path, theme, act) in PAGES.items():
            context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
            context.add_cookies([{"name": "noisewright-theme", "value": theme, "url": address}])
            page = context.new_page()
            page.goto(address + path)
            page.wait_for_selector("main h1")
            if act is not None:
                act(page)
            page.wait_for_timeout(3000)
            with Image.open(io.BytesIO(page.screenshot())) as taken:
                small = taken.convert("RGB").resize((SHOWN, SHOWN * HEIGHT // WIDTH), Image.Resampling.LANCZOS)
            small.save(PICTURES / f"studio-{name}.webp", quality=72, method=6)
            context.close()
        browser.close()


if __name__ == "__main__":
    main()
