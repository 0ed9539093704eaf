"""Pieces of pages as HTML. What is not markup of this file is escaped, so that no name in a table is more than text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as _escape

from noisewright.cli.shared.output import printable

__all__ = [
    "alarm",
    "beliefs_table",
    "code",
    "facts",
    "framed",
    "gauge",
    "listed",
    "note",
    "proof",
    "said",
    "table",
    "text",
    "warning",
]

LONG = 150
"""A proof of more letters is opened by who wants to read it."""


def escape(value: str) -> str:
    """Escape text for HTML: control characters are written out, and a number and its percent sign stay on one line."""
    return _escape(_plain(value)).replace(" %", "\N{NO-BREAK SPACE}%")


def _plain(value: str) -> str:
    """Write out control characters, also those that reverse the order of letters."""
    return printable(value, "\n\t\N{NO-BREAK SPACE}")


def text(value: str) -> str:
    """Return text without markup."""
    return escape(value)


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and facts, below each other."""
    return f'<dl class="nw-facts">{"".join(f"<dt>{escape(n)}</dt><dd>{escape(v)}</dd>" for n, v in rows)}</dl>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", numbers: Sequence[int] = ()) -> str:
    """A table with a caption; ``numbers`` are the columns that are aligned to the right."""

    def cell(kind: str, place: int, text: str) -> str:
        scope = ' scope="col"' if kind == "th" else ""
        right = ' class="number"' if place in numbers else ""
        return f"<{kind}{scope}{right}>{escape(text)}</{kind}>"

    above = "".join(cell("th", i, text) for i, text in enumerate(head))
    below = "".join(f"<tr>{''.join(cell('td', i, t) for i, t in enumerate(row))}</tr>" for row in rows)
    told = f'<p class="nw-caption">{escape(caption)}</p>' if caption else ""
    name = escape(caption or "table")
    return (
        f'{told}<div class="nw-scroll" tabindex="0" role="group" aria-label="{name}"><table class="nw-table" aria-label="{name}">'
        f"<thead><tr>{above}</tr></thead><tbody>{below}</tbody></table></div>"
    )


def beliefs_table(rows: Iterable[tuple[str, str]], caption: str) -> str:
    """Return the table of possible posterior beliefs."""
    return table(("believed before", "at most after"), rows, caption, numbers=(0, 1))


def code(text: str, what: str) -> str:
    """Lines that can be copied."""
    return f'<pre class="nw-code" tabindex="0" role="group" aria-label="{_escape(what)}">{_escape(_plain(text))}</pre>'


def framed(page: str, title: str) -> str:
    """A whole page of its own, which may do nothing: no script, no form, no way out."""
    return f'<iframe class="nw-frame" sandbox="" title="{escape(title)}" srcdoc="{_escape(page)}"></iframe>'


def gauge(shares: Sequence[float], text: str) -> str:
    """Shares of a whole next to each other, and the same in words."""
    parts = "".join(f'<div style="width:{100 * share:.2f}%"></div>' for share in shares)
    return f'<div class="nw-gauge" aria-hidden="true">{parts}</div><p class="nw-note">{escape(text)}</p>'


def listed(sentences: Iterable[str], title: str = "") -> str:
    """Sentences below each other."""
    above = f"<h3>{escape(title)}</h3>" if title else ""
    return f'{above}<ul class="nw-list">{"".join(f"<li>{escape(one)}</li>" for one in sentences)}</ul>'


def said(text: str) -> str:
    """Return the most important fact, in a sentence."""
    return f'<p class="nw-said">{escape(text)}</p>'


def proof(claim: str) -> str:
    """Show the claim that was proved again just now; of a long claim its first part, and the whole on request."""
    told = f"checked again just now: {claim}"
    if len(told) <= LONG:
        return facts([("Proof", told)])
    whole = f'<details class="nw-whole"><summary>All that is proved</summary><p>{escape(claim)}</p></details>'
    return facts([("Proof", f"{told.partition(';')[0]}.")]) + whole


def note(text: str) -> str:
    """A remark."""
    return f'<p class="nw-note">{escape(text)}</p>'


def warning(text: str) -> str:
    """Format a warning that refuses nothing."""
    return f'<p class="nw-alarm">{escape(text)}</p>'


def alarm(text: str) -> str:
    """Why something cannot be shown."""
    return f'<p class="nw-alarm" role="alert">{escape(text)}</p>'
