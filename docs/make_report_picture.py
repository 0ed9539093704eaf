"""Draws the picture of a report for the README: a real release of the clinic's made-up visits.

Run:  python docs/make_report_picture.py    (it needs Chromium, playwright and the extra images)
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import noisewright as nw

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
WIDTH, HEIGHT = 900, 1250


def main() -> None:
    from tools.browser import install

    with tempfile.TemporaryDirectory() as folder:
        visits, out = Path(folder) / "visits.parquet", Path(folder) / "released"
        subprocess.run([sys.executable, str(ROOT / "examples/clinic/make_visits.py"), str(visits)], check=True)
        nw.release(ROOT / "examples/clinic/policy.toml", visits, output=out, ledger=Path(folder) / "ledger.sqlite")
        with sync_playwright() as player:
            browser = player.chromium.launch(executable_path=install(), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
            page.goto((out / "report.html").as_uri())
            shots = [page.screenshot()]
            page.locator("h2", has_text="Columns, one by one").evaluate("title => title.scrollIntoView()")
            shots.append(page.screenshot())
            browser.close()
    sheet = Image.new("RGB", (2 * WIDTH, HEIGHT), "white")
    for k, shot in enumerate(shots):
        sheet.paste(Image.open(io.BytesIO(shot)), (k * WIDTH, 0))
    small = sheet.resize((WIDTH * 2 * 3 // 4, HEIGHT * 3 // 4), Image.Resampling.LANCZOS).quantize(
        256, method=Image.Quantize.MAXCOVERAGE
    )
    small.quantize(256, method=Image.Quantize.MAXCOVERAGE).save(ROOT / "docs/pictures/report.png", optimize=True)


if __name__ == "__main__":
    main()
