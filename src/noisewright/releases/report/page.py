"""``report.html``: what a release did and guarantees, for someone who signs for it and need not know mathematics.

One page that holds everything it shows: no scripts, nothing loaded from elsewhere, readable in light, dark and print, and by
screen readers. It is made from the plan, the ledger's balance, and the released output; the true data take no part in it.
Everything that comes from a policy or a table is written as text, never as HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa

from noisewright.claims import phrases, totals
from noisewright.core import VERSION
from noisewright.core.exact import figure
from noisewright.releases.queries.readable import shown
from noisewright.releases.report import _ending as end
from noisewright.releases.report import _layout as html
from noisewright.releases.report import _words as say
from noisewright.releases.report.charts import chart, spelled
from noisewright.releases.report.marginals import Marginal

if TYPE_CHECKING:
    from noisewright.releases.columns.plan import ColumnPlan
    from noisewright.releases.ledger.ledger import Balance
    from noisewright.releases.plan import Plan
    from noisewright.releases.queries.compile import QueryPlan

__all__ = ["Made", "report"]

MOST_ROWS = 60
"""More rows of an answer are in its file, not on the page."""


@dataclass(frozen=True)
class Made:
    """Circumstances of a release, which the page states next to the plan.

    ``rows``: rows of the released table, if there is one. ``certificate``: the digest of ``certificate.json``.
    """

    at: datetime
    engine: str
    simulated: bool
    certificate: str
    rows: int | None = None
    files: tuple[str, ...] = ()


def report(
    plan: Plan,
    made: Made,
    *,
    balance: Balance | None = None,
    marginals: Sequence[Marginal] = (),
    answers: Mapping[str, pa.Table] | None = None,
) -> str:
    """The page.

    ``balance``: of the ledger, after this release was recorded. ``marginals``: of released columns, see
    :func:`noisewright.releases.report.marginals.marginal_of`. ``answers``: of the queries, by name.
    """
    banner = "NOT FOR RELEASE: a simulation with a known seed. Anybody who knows the seed can remove the noise."
    heading = f"Release of {plan.policy.dataset}"
    sections = [
        ("What was released", _released(plan)),
        ("How to judge the total", _judging(plan)),
        ("Columns, one by one", _columns(plan, made, marginals)),
        ("Answers, one by one", _answers(plan, answers or {})),
        ("What remains possible", end.remains(plan)),
        ("Budget", end.budget(plan, balance)),
        ("Where the noise came from", end.randomness(made)),
        ("How to verify it", end.verification(plan, made)),
        ("Who signs", end.signing(plan, made)),
        ("Words", end.glossary()),
    ]
    return html.page(heading, _opening(plan, made, heading) + html.sections(sections), banner if made.simulated else "")


# Sections -----------------------------------------------------------------------------------------------------------------


def _opening(plan: Plan, made: Made, heading: str) -> str:
    at = made.at.astimezone(UTC)
    meta = [f"Made on {at.day} {at:%B %Y} at {at:%H:%M} UTC by Noisewright {VERSION}"]
    if made.rows is not None:
        meta.append(f"{made.rows:,} rows")
    if not plan.claims:
        sentences = [f"{say.capital(plan.total)}. {plan.in_words()}"]
    else:
        sentences = [
            totals.whose(plan.policy.unit.column),
            f"{totals.PROTECTED} The two possibilities are {plan.between}.",
            f"All parts together cost {totals.price(plan.epsilon, plan.delta)}. "
            f"{totals.odds(plan.epsilon, plan.delta)}",
            *([plan.not_proved] if plan.not_proved else []),
        ]
    if plan.kept:
        sentences.append(totals.kept(say.listed(plan.kept)))
    if exact := [query.name for query in plan.queries if query.exact]:
        sentences.append(totals.exact(say.listed(exact)))
    for column in plan.context_aware:
        sentences.append(f"{totals.trained(say.listed(column.names))} {column.context_aware}")
    if plan.order == "kept":
        sentences.append(totals.ORDER_SHOWN)
    inner = "".join(f"<p>{spelled(sentence)}</p>" for sentence in sentences)
    return f'<h1>{spelled(heading)}</h1><p class="soft">{spelled(" · ".join(meta))}</p><div class="short">{inner}</div>'


def _released(plan: Plan) -> str:
    """The one table of all parts: what was done, between what, at which privacy cost, and the most that someone can
    conclude.
    """
    rows = [_row(column) for column in plan.columns]
    for query in plan.queries:
        belief = "certainty" if query.exact else totals.belief(query.price, query.delta)
        price = "none" if query.exact else _price(query)
        rows.append((query.name, say.asked(plan, query), query.protects, price, belief, say.error(query)))
    if len(plan.parts) > 1:
        whole = totals.belief(plan.epsilon, plan.delta)
        rows.append(("All together", "", "", totals.price(plan.epsilon, plan.delta), whole, ""))
    head = (
        "Part",
        "What was done",
        "Protected between",
        "Price for one unit",
        totals.BELIEF,
        "Expected error",
    )
    caption = (
        "Every part of the release. An epsilon says nothing alone: it holds between the two possibilities that stand beside "
        "it. The belief is what somebody who knows everything else in the table, and holds one of the two for as likely as the "
        "other, can come to at most after seeing the part. Prices and beliefs are rounded up."
    )
    table = html.table(caption, head, rows, numbers=(), last_is_total=len(plan.parts) > 1, cards=True)
    note = f"<p>{totals.GUESSES}</p>" if any(part.delta for part in plan.parts) else ""
    dropped = f"<p>{spelled(say.not_released(plan))}</p>" if plan.columns else ""
    return f"{table}{note}{dropped}"


def _row(column: ColumnPlan) -> tuple[str, ...]:
    renamed = f" (as {say.listed(column.outputs)})" if tuple(column.outputs) != tuple(column.names) else ""
    name = say.listed(column.names) + renamed
    if column.keep:
        return name, f"kept unchanged: {phrases.OPEN}", "nothing", "none", "certainty", "none"
    if column.context_aware is not None:
        done = "changed by a learned privatiser: no epsilon"
        return name, done, "nothing", "none", "not bounded", column.error_words
    belief = totals.belief(column.price, column.delta)
    return name, say.done(column), column.protects, _price(column), belief, say.error(column)


def _price(part: ColumnPlan | QueryPlan) -> str:
    return totals.price(part.price, part.delta)


def _judging(plan: Plan) -> str:
    """Describe the total in comparison with usual totals."""
    if not plan.claims:
        return ""
    total = totals.price(plan.epsilon, plan.delta)
    first = (
        f"Somebody who sees everything at once is bounded by the total, {total}, and not by any single part. "
        + ("" if plan.delta else totals.beliefs(plan.epsilon, say.PRIORS))
        + " That is the worst case: it is reached only by somebody who knows all of the table but one unit, and asks about "
        "just those two possibilities that the release tells apart best."
    )
    scale = "".join(
        f'<li class="here">{spelled(f"{name}: {words} (this release)")}</li>'
        if name == say.strength(plan.epsilon)
        else f"<li>{spelled(f'{name}: {words}')}</li>"
        for name, words in say.SCALE
    )
    last = (
        "Before you sign, ask three things. Is the unit the right one: is one person one unit, or are there several rows of "
        "each? Are the distances in the table those that matter to people? And who will see this release: "
        "the wider it goes, the less you can lean on anything but the total."
    )
    return f'<p>{spelled(first)}</p><p>{spelled(say.LEAD)}</p><ul class="scale">{scale}</ul><p>{spelled(last)}</p>'


def _columns(plan: Plan, made: Made, marginals: Sequence[Marginal]) -> str:
    found = {marginal.name: marginal for marginal in marginals}
    sections = []
    for number, column in enumerate(plan.columns):
        marginal = found.get(", ".join(column.outputs))
        facts = []
        if column.keep:
            words = f"Released unchanged: {phrases.OPEN}."
        elif column.context_aware is not None:
            words = f"{totals.trained(say.listed(column.names))} {column.context_aware}"
        else:
            words = f"{say.capital(say.promised(column))}. Expected error: {say.error(column)}."
            facts += [("In the clear", f"{say.listed(column.in_the_clear)}: {phrases.OPEN}")] * bool(
                column.in_the_clear
            )
            facts += [("Measured on public data", "; ".join(column.measured))] * bool(column.measured)
        more = html.facts(facts) if facts else ""
        sections.append(
            f"<h3>{spelled(say.listed(column.outputs))}</h3><p>{spelled(words)}</p>{more}{_figure(marginal, number, made.rows)}"
        )
    note = (
        "<p>The pictures show the released values, and an estimate of what the table looked like before. The estimate is "
        "computed from the released table and the public law of the noise, as anybody could who has the released table. It costs "
        "nothing of the budget, and the true table was not looked at for it. Whiskers show how far off it may be: in 19 of 20 "
        "releases all whiskers of a picture hold what they are about.</p>"
        if any(marginal.estimated is not None for marginal in marginals)
        else ""
    )
    return f"{note}{''.join(sections)}" if sections else ""


def _figure(marginal: Marginal | None, number: int, rows: int | None) -> str:
    if marginal is None:
        return ""
    counted = int(sum(marginal.counts)) + marginal.missing
    where = (
        f"{counted:,} rows that are spread over the released table"
        if rows is not None and counted < rows
        else "the released table"
    )
    words = f'<span class="key"></span>Released values, counted in {where}.'
    if marginal.estimated is not None:
        words += (
            ' <span class="key dot"></span>Estimate of the table before, from the released table alone; no budget spent. '
            "The whiskers hold the table before, all of them at once, with a confidence of 95 %."
        )
    if marginal.blend:
        near = _length(marginal.blend / 2) if marginal.kind == "dates" else figure(marginal.blend / 2)
        words += (
            f" In the estimate a value less than {near} from an edge counts partly for the bar "
            "beside it, since the noise hides on which side it was."
        )
    if marginal.reason:
        words += f" No estimate of the table before is shown: {spelled(marginal.reason)}."
    if marginal.missing:
        words += f" {marginal.missing:,} values are missing."
    return f"<figure>{chart(marginal, number)}<figcaption>{words}</figcaption></figure>"


def _length(days: float) -> str:
    """A length of time in the largest unit of which there are two."""
    units = {"years": 1 / 365.25, "days": 1.0, "hours": 24.0, "minutes": 1440.0}
    unit = next((unit for unit, many in units.items() if days * many >= 2), "minutes")
    return f"{figure(days * units[unit])} {unit}"


def _answers(plan: Plan, answers: Mapping[str, pa.Table]) -> str:
    sections = []
    for query in plan.queries:
        words = f"{say.capital(say.asked(plan, query))}. Expected error: {say.error(query)}."
        table, page = answers.get(query.name), ""
        if table is not None:
            more = f" The first {MOST_ROWS} of {table.num_rows:,} rows." if table.num_rows > MOST_ROWS else ""
            head, rows = shown(table, query.name, MOST_ROWS)
            told = head.index(query.name)  # what stands before it names groups
            numbers = [
                k
                for k, name in enumerate(head)
                if (say.is_number(table[name].type) if name in table.column_names else k > told)
            ]
            page = html.table(f"The released answer: {query.name}.{more}", head, rows, numbers)
        sections.append(f"<h3>{spelled(query.name)}</h3><p>{spelled(words)}</p>{page}")
    return "".join(sections)
