"""A page with pictures before and after, side by side, for their owner alone."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path

from noisewright.cli.shared.output import plural
from noisewright.cli.shared.targets import target_file
from noisewright.core.errors import ParameterError
from noisewright.images.obfuscation import Obfuscated

__all__ = ["contact_sheet", "left_out", "sheet_file"]

STYLE = """\
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2733; --line: #d5dce2; --alarm: #a51d2d; }
@media (prefers-color-scheme: dark) { :root { --paper: #14191e; --ink: #e6ebf0; --line: #36424d; --alarm: #c9304a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
.banner { margin: 0; padding: .6rem 1.25rem; background: var(--alarm); color: #fff; }
main { max-width: 80rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; }
ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(22rem, 1fr)); gap: 1rem; }
ul { list-style: none; margin: 0; padding: 0; }
li { border: 1px solid var(--line); border-radius: .4rem; padding: .75rem; overflow-wrap: anywhere; }
li div { display: flex; gap: .5rem; } img { max-width: 50%; height: auto; image-rendering: pixelated; }
"""


def sheet_file(sheet: str | None, replace: bool) -> Path | None:
    """Return the path of the page, if one is wanted; it is not passed on."""
    if sheet is None:
        return None
    target = target_file(sheet, "a contact sheet", (".html",), replace=replace)
    if any(target.parent.glob("certificate*.json")):
        raise ParameterError(
            f"{sheet} shows originals, and would be in a folder of pictures that may be passed on; name another place."
        )
    return target


def left_out(others: dict[str, int]) -> list[tuple[str, str]]:
    """A line about files whose endings are not those of pictures, if there are some."""
    if not others:
        return []
    listed = ", ".join(f"{many} {ending}" for ending, many in others.items())
    return [("left out", f"{plural(sum(others.values()), 'file')} of other kinds, not looked at: {listed}")]


def contact_sheet(done: Sequence[Obfuscated], promise: str) -> str:
    """The page."""
    shown = [one for one in done if one.thumbnails is not None]
    rest = f" {len(shown)} of {len(done)} are shown." if len(shown) < len(done) else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"/>"
        f"<title>Before and after</title><style>{STYLE}</style></head><body>"
        '<p class="banner" role="alert">This page shows originals. It is for their owner; do not pass it on.</p>'
        f"<main><h1>Before and after</h1><p>{escape(promise)}{rest}</p>"
        f"<ul>{''.join(map(_pair, shown))}</ul></main></body></html>\n"
    )


def _pair(one: Obfuscated) -> str:
    assert one.thumbnails is not None
    assert one.target is not None
    sides = zip(("before", "after"), one.thumbnails, strict=True)
    pictures = "".join(
        f'<img alt="{escape(one.source.name)}, {side}" src="data:image/png;base64,{base64.b64encode(small).decode()}"/>'
        for side, small in sides
    )
    as_it_is = "" if one.places else "; nothing was hidden in it"
    return f"<li><div>{pictures}</div>{escape(one.source.name)} as {escape(one.target.name)}{as_it_is}</li>"
