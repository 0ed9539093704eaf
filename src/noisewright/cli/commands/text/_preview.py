"""A page with documents before and after, side by side, for their owner alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

from noisewright.text.obfuscation import Obfuscated, sizes_in_words

__all__ = ["preview"]

MOST = 50
"""Maximum number of documents shown."""

STYLE = """\
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2733; --soft: #55636f; --line: #d5dce2; --same: #fff1c2;
  --alarm: #a51d2d; }
@media (prefers-color-scheme: dark) { :root { --paper: #14191e; --ink: #e6ebf0; --soft: #a3b0bc; --line: #36424d; --same: #5a4a10;
  --alarm: #c9304a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
.banner { margin: 0; padding: .6rem 1.25rem; background: var(--alarm); color: #fff; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1.25rem; }
@media (max-width: 40rem) { .pair { grid-template-columns: 1fr; } }
.pair p { margin: 0; padding: .75rem; border: 1px solid var(--line); border-radius: .4rem; overflow-wrap: anywhere; }
.pair h3 { font-size: .8rem; margin: 0 0 .25rem; color: var(--soft); font-weight: 600; }
mark { background: var(--same); color: inherit; border-radius: .2rem; padding: 0 .1rem; }
.soft { color: var(--soft); }
"""


def preview(documents: Sequence[Obfuscated], promise: str) -> str:
    """The page; words that came through unchanged are marked on both sides."""
    shown = documents[:MOST]
    kept, came = sum(one.kept for one in documents), sum(len(one.after) for one in documents)
    rest = f" The first {MOST} of {len(documents)} are shown." if len(documents) > MOST else ""
    share = f"{kept:,} of {came:,} words that came out had been in their document ({kept / came:.0%})." if came else ""
    parts = [f"<h1>Before and after</h1><p>{escape(promise)}</p><p>{sizes_in_words(documents)}. {share}{rest}</p>"]
    parts += [_pair(one) for one in shown]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>"
        f"<title>Before and after</title><style>{STYLE}</style></head><body>"
        '<p class="banner" role="alert">This page shows originals. It is for their owner; do not pass it on.</p>'
        f"<main>{''.join(parts)}</main></body></html>\n"
    )


def _pair(one: Obfuscated) -> str:
    before, after = _marked(one.before, one.after), _marked(one.after, one.before)
    filled = f", {one.filled} of them to fill it up" if one.filled > 0 else ""
    title = f'{escape(one.source.name)} <span class="soft">as</span> {escape(one.target.name)}'
    return (
        f'<section><h2>{title}</h2><div class="pair"><div><h3>{len(one.before)} words that were read</h3><p>{before}</p></div>'
        f"<div><h3>{len(one.after)} words that came out{filled}</h3><p>{after}</p></div></div></section>"
    )


def _marked(words: Sequence[str], others: Sequence[str]) -> str:
    """Words with a mark on those that the other side has, as often as it has them."""
    left = Counter(others)
    spelled = []
    for word in words:
        same = left[word] > 0
        left[word] -= 1
        spelled.append(f"<mark>{escape(word)}</mark>" if same else escape(word))
    return " ".join(spelled)
