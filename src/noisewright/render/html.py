"""Layout of a report: the page around it, lists and tables, and one style sheet for light, dark and paper.

Nothing is loaded from anywhere. Everything that is given as text is written as text.

>>> facts([("Engine", "local & fast")])
'<dl><dt>Engine</dt><dd>local &amp; fast</dd></dl>'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape as _escape

from noisewright._utils.validation import printable
from noisewright.render.charts import spelled

__all__ = [
    "alarm",
    "beliefs_table",
    "code",
    "facts",
    "facts_html",
    "framed",
    "gauge",
    "listed",
    "note",
    "page",
    "proof",
    "said",
    "sections",
    "table",
    "table_html",
    "text",
    "warning",
]


def page(title: str, body: str, banner: str = "") -> str:
    """A whole page; ``body`` is HTML, ``title`` and ``banner`` are text."""
    above = f'<p class="banner" role="alert">{spelled(banner)}</p>' if banner else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>"
        f"<title>{spelled(title)}</title><style>{STYLE}</style></head><body>{above}<main>{body}</main></body></html>\n"
    )


def sections(given: Iterable[tuple[str, str]]) -> str:
    """Sections with contents above them; ``given`` are titles and HTML, and empty ones are left out."""
    found = [(title, f"section-{k}", body) for k, (title, body) in enumerate(given) if body]
    links = "".join(f'<li><a href="#{place}">{spelled(title)}</a></li>' for title, place, _ in found)
    inner = "".join(f'<h2 id="{place}">{spelled(title)}</h2>{body}' for title, place, body in found)
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>{inner}'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and values, one below the other."""
    return f"<dl>{''.join(f'<dt>{spelled(what)}</dt><dd>{spelled(value)}</dd>' for what, value in rows)}</dl>"


def table(
    caption: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Iterable[int] = (),
    last_is_total: bool = False,
    cards: bool = False,
) -> str:
    """A table; ``cards``: on a narrow screen each row becomes a card in which every cell is named."""
    right = set(numbers)

    def cells(row: Sequence[str], tag: str, scope: str) -> str:
        found = []
        for k, value in enumerate(row):
            name = tag if k or tag == "th" else "th"
            where = f' scope="{scope if tag == "th" else "row"}"' if name == "th" else ""
            style = ' class="number"' if k in right else ""
            style += f' data-name="{spelled(head[k])}"' if cards and name == "td" else ""
            found.append(f"<{name}{where}{style}>{spelled(value)}</{name}>")
        return "".join(found)

    total = [' class="total"' if last_is_total and k == len(rows) - 1 else "" for k in range(len(rows))]
    body = "".join(f"<tr{style}>{cells(row, 'td', 'row')}</tr>" for style, row in zip(total, rows, strict=True))
    style = ' class="cards"' if cards else ""
    return (
        f'<div class="scroll"><table{style}><caption>{spelled(caption)}</caption><thead><tr>{cells(head, "th", "col")}</tr>'
        f"</thead><tbody>{body}</tbody></table></div>"
    )


STYLE = """\
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c2733; --soft: #55636f; --line: #d5dce2; --panel: #f4f7f9;
  --released: #2b7bba; --estimated: #c4500b; --accent: #1f6f54; --link: #1a5f96; --alarm: #a51d2d; --alarm-ink: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --paper: #14191e; --ink: #e6ebf0; --soft: #a3b0bc; --line: #36424d;
  --panel: #1d252c; --released: #57a6e0; --estimated: #f5a13d; --accent: #6fcfa9; --link: #7dbbea; --alarm: #c9304a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.75rem 0 .6rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.08rem; margin: 2rem 0 .4rem; overflow-wrap: anywhere; }
p, ul, dl { margin: .5rem 0; }
ul { padding-left: 1.3rem; }
li { margin: .3rem 0; }
.soft, caption, figcaption { color: var(--soft); font-size: .9rem; }
.banner { background: var(--alarm); color: var(--alarm-ink); padding: .9rem 1.25rem; font-weight: 700; margin: 0;
  text-align: center; }
.short { background: var(--panel); border-left: 4px solid var(--accent); padding: .6rem 1.1rem; border-radius: 0 6px 6px 0;
  margin: 1.2rem 0; }
nav ul { columns: 2; list-style: none; padding: 0; }
nav li { margin: 0; padding: .15rem 0; break-inside: avoid; }
a { color: var(--link); }
.scale .here { font-weight: 700; }
.checks { list-style: none; padding-left: 0; }
.checks li { padding-left: 1.7em; text-indent: -1.7em; }
.checks li::before { content: "\\2610"; display: inline-block; width: 1.7em; text-indent: 0; }
.sign dd { border-bottom: 1px solid var(--soft); min-height: 2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .8rem 0; font-size: .93rem; }
caption { text-align: left; padding-bottom: .4rem; }
th, td { text-align: left; vertical-align: top; padding: .45rem .8rem .45rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: break-word; }
th { font-weight: 600; }
thead th { border-bottom: 2px solid var(--line); }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
tr.total > * { font-weight: 700; }
dl { display: grid; grid-template-columns: 11rem 1fr; gap: .3rem 1.2rem; }
dt { font-weight: 600; }
dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font: .9em ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; }
pre { background: var(--panel); padding: .7rem .9rem; border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
figcaption { margin-top: .3rem; }
svg { width: 100%; height: auto; display: block; }
figure svg { max-width: 36rem; }
svg text { font: 13px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--ink); }
svg .tick { fill: var(--soft); }
svg .value { font-variant-numeric: tabular-nums; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .frame { fill: none; stroke: var(--line); }
svg .released, svg .now { fill: var(--released); }
svg .spent { fill: var(--soft); }
svg .left { fill: var(--line); }
svg path.estimated { fill: none; stroke: var(--estimated); stroke-width: 2.2; }
svg line.estimated { stroke: var(--estimated); stroke-width: 2.2; }
svg circle.estimated { fill: var(--estimated); stroke: var(--paper); stroke-width: 1.5; }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .1em; vertical-align: -.05em;
  background: var(--released); }
.key.dot { height: .7em; width: .7em; border-radius: 50%; vertical-align: 0; background: var(--estimated); }
.key.spent { background: var(--soft); }
.key.left { background: var(--line); }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; }
  main { padding: 1.2rem .9rem 3rem; } h1 { font-size: 1.5rem; } nav ul { columns: 1; }
  .cards, .cards caption, .cards tbody, .cards tr, .cards th, .cards td { display: block; }
  .cards thead { display: none; } .cards tr { border-bottom: 2px solid var(--line); padding: .5rem 0; }
  .cards th, .cards td { border: 0; padding: .1rem 0; } .cards td:empty { display: none; }
  .cards td::before { content: attr(data-name) ": "; color: var(--soft); } }
@media print { :root { color-scheme: light; --paper: #fff; --ink: #000; --soft: #444; --line: #bbb; --panel: #f2f2f2;
    --released: #2b7bba; --estimated: #c4500b; --accent: #1f6f54; --alarm: #a51d2d; }
  body { font-size: 10.5pt; } main { max-width: none; padding: 0; } h2, h3 { break-after: avoid; }
  figure, tr, .short, .sign { break-inside: avoid; } nav { display: none; }
  .banner, .key, svg { -webkit-print-color-adjust: exact; print-color-adjust: exact; } }
"""


# Words --------------------------------------------------------------------------------------------------------------------
#
# Pieces of pages as HTML. What is not markup of this file is escaped, so that no name in a table is more than text.


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


def facts_html(rows: Iterable[tuple[str, str]]) -> str:
    """Names and facts, below each other."""
    return f'<dl class="nw-facts">{"".join(f"<dt>{escape(n)}</dt><dd>{escape(v)}</dd>" for n, v in rows)}</dl>'


def table_html(
    head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", numbers: Sequence[int] = ()
) -> str:
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
    return table_html(("believed before", "at most after"), rows, caption, numbers=(0, 1))


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
        return facts_html([("Proof", told)])
    whole = f'<details class="nw-whole"><summary>All that is proved</summary><p>{escape(claim)}</p></details>'
    return facts_html([("Proof", f"{told.partition(';')[0]}.")]) + whole


def note(text: str) -> str:
    """A remark."""
    return f'<p class="nw-note">{escape(text)}</p>'


def warning(text: str) -> str:
    """Format a warning that refuses nothing."""
    return f'<p class="nw-alarm">{escape(text)}</p>'


def alarm(text: str) -> str:
    """Why something cannot be shown."""
    return f'<p class="nw-alarm" role="alert">{escape(text)}</p>'
