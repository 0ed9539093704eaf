"""``report.html``: what a release did and promises, for somebody who signs for it and need not know mathematics.

One page that holds everything it shows: no scripts, nothing loaded from elsewhere, readable in light, dark and print, and by
screen readers. It is made from the plan, the ledger's balance, and the released output; the true data take no part in it.
Everything that comes from a policy or a table is spelled as text, never as HTML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING

import pyarrow as pa

from noisewright.core import VERSION
from noisewright.core.certificates.certificate import RELEASE_RANDOMNESS, SIMULATION_RANDOMNESS
from noisewright.core.exact import upward
from noisewright.releases.ledger.ledger import downward
from noisewright.releases.queries.readable import shown
from noisewright.releases.report import _layout as html
from noisewright.releases.report import _words as say
from noisewright.releases.report.charts import chart, spelled
from noisewright.releases.report.marginals import Marginal

if TYPE_CHECKING:
    from noisewright.releases.ledger.ledger import Balance
    from noisewright.releases.plan import Plan

__all__ = ["Made", "report"]

MOST_ROWS = 60
"""More rows of an answer are in its file, not on the page."""


@dataclass(frozen=True)
class Made:
    """How a release was made: what the page says beside the plan.

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
    body = "".join(
        [
            _opening(plan, made, heading),
            _released(plan),
            _conclusions(plan),
            _columns(plan, made, marginals),
            _answers(plan, answers or {}),
            _remains(plan),
            _budget(plan, balance),
            _randomness(made),
            _verification(plan, made),
            _glossary(),
        ]
    )
    return html.page(heading, body, banner if made.simulated else "")


# Sections -----------------------------------------------------------------------------------------------------------------


def _opening(plan: Plan, made: Made, heading: str) -> str:
    at = made.at.astimezone(UTC)
    meta = [f"Made on {at.day} {at:%B %Y} at {at:%H:%M} UTC by Noisewright {VERSION}"]
    if made.rows is not None:
        meta.append(f"{made.rows:,} rows")
    whole = say.promise(plan.epsilon, plan.delta)
    if not plan.parts:
        sentences = ["Nothing is protected: every released column is kept as it is."]
    else:
        sentences = [
            f"This release protects {_whose(plan)}.",
            "Protected means: whoever sees the release, whatever else they know, can move their odds between two possibilities "
            f"by a limited factor only. The two possibilities are {plan.between}.",
            f"All parts together cost {say.price(plan.epsilon, plan.delta)}. {say.odds(whole)}",
            *([plan.not_proved] if plan.floating else []),
        ]
    if plan.kept:
        sentences.append(f"Not protected at all: {say.listed(plan.kept)}, released unchanged.")
    if plan.order == "kept":
        sentences.append("Not protected either: the order of the rows, which is that of the table.")
    inner = "".join(f"<p>{spelled(sentence)}</p>" for sentence in sentences)
    return f'<h1>{spelled(heading)}</h1><p class="soft">{spelled(" · ".join(meta))}</p><div class="short">{inner}</div>'


def _whose(plan: Plan) -> str:
    unit = plan.policy.unit
    if unit.column is None:
        return "every row by itself: a row is what belongs to one person or thing"
    most = "one row" if unit.rows == 1 else f"at most {unit.rows} rows"
    return f"each {unit.column}: all rows with the same value of that column count as one ({most} each)"


def _released(plan: Plan) -> str:
    rows = []
    for column in plan.columns:
        name = say.listed(column.names) + (
            f" (as {say.listed(column.outputs)})" if tuple(column.outputs) != tuple(column.names) else ""
        )
        if column.keep:
            rows.append((name, "kept unchanged: NOT protected", "nothing", "none", "none"))
        else:
            rows.append(
                (
                    name,
                    say.done(column),
                    say.apart(column.protects),
                    say.price(column.price, column.delta),
                    say.error(column),
                )
            )
    rows += [(q.name, say.asked(plan, q), q.protects, say.price(q.price, q.delta), say.error(q)) for q in plan.queries]
    unnamed = ["every column that the policy does not name"]
    dropped = f"<p>Not released at all: {spelled(say.listed([*plan.dropped, *unnamed]))}.</p>" if plan.columns else ""
    head = ("Part", "What was done", "Between", "Price for one unit", "Expected error")
    caption = "Every part of the release. An epsilon says nothing alone: it holds between what the third column says."
    return f"<h2>What was released</h2>{html.table(caption, head, rows)}{dropped}"


def _conclusions(plan: Plan) -> str:
    if not plan.parts:
        return ""
    rows = [(say.title(part), *say.beliefs(say.promise(part.price, part.delta))) for part in plan.parts]
    if len(plan.parts) > 1:
        rows.append(("Everything together", *say.beliefs(say.promise(plan.epsilon, plan.delta))))
    head = (
        "Who sees",
        "Odds change at most",
        *(f"A belief of {100 * prior:g} % becomes at most" for prior in say.PRIORS),
    )
    caption = (
        "The most that anybody can conclude about one unit, between two possibilities that the part is about, "
        "if they know everything else in the table. All numbers are rounded up."
    )
    some_delta = any(part.delta for part in plan.parts)
    note = (
        "<p>Where a part has a delta, no belief is bounded for every single output. The table then says how often somebody who "
        "guesses between two equally likely possibilities is right at most.</p>"
        if some_delta
        else ""
    )
    example = (
        "<p>An example of how to read it: somebody who thinks that one of two possibilities for a person has a chance of "
        f"{100 * say.PRIORS[1]:g} % may, after seeing one part of the release, hold it for as likely as the row says, and no "
        "likelier.</p>"
    )
    table = html.table(caption, head, rows, numbers=range(1, 5), last_is_total=len(plan.parts) > 1)
    return f"<h2>What somebody can conclude</h2>{table}{example}{note}"


def _columns(plan: Plan, made: Made, marginals: Sequence[Marginal]) -> str:
    found = {marginal.name: marginal for marginal in marginals}
    sections = []
    for number, column in enumerate(plan.columns):
        marginal = found.get(", ".join(column.outputs))
        if column.keep:
            facts = [("What was done", "Nothing: the column is released unchanged, and is NOT protected.")]
        else:
            facts = [
                ("What was done", say.done(column)),
                ("Between", say.apart(column.protects)),
                ("Noise promises", say.noise(column)),
                ("Price for one unit", say.price(column.price, column.delta) + say.times(plan)),
                ("What it means", say.odds(say.promise(column.price, column.delta))),
                ("Expected error", say.error(column)),
            ]
            facts += [("In the clear", f"{say.listed(column.in_the_clear)}: NOT protected")] * bool(column.in_the_clear)
            facts += [("Measured on public data", "; ".join(column.measured))] * bool(column.measured)
        sections.append(
            f"<h3>{spelled(say.listed(column.outputs))}</h3>{html.facts(facts)}{_figure(marginal, number, made.rows)}"
        )
    note = (
        "<p>The pictures show the released values, and an estimate of what the table looked like before. The estimate is "
        "computed from the released table and the public law of the noise, as anybody could who has the released table. It costs "
        "nothing of the budget, and the true table was not looked at for it. Whiskers show how far off it may be: in 19 of 20 "
        "releases all whiskers of a picture hold what they are about.</p>"
        if any(marginal.estimated is not None for marginal in marginals)
        else ""
    )
    return f"<h2>Columns, one by one</h2>{note}{''.join(sections)}" if sections else ""


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
        unit = " days" if marginal.kind == "dates" else ""
        words += (
            f" In the estimate a value less than {marginal.blend / 2:.3g}{unit} from an edge counts partly for the bar beside "
            "it, since the noise hides on which side it was."
        )
    if marginal.reason:
        words += f" No estimate of the table before is shown: {spelled(marginal.reason)}."
    if marginal.missing:
        words += f" {marginal.missing:,} values are missing."
    return f"<figure>{chart(marginal, number)}<figcaption>{words}</figcaption></figure>"


def _answers(plan: Plan, answers: Mapping[str, pa.Table]) -> str:
    sections = []
    for query in plan.queries:
        facts = [
            ("Question", say.asked(plan, query)),
            ("Between", query.protects),
            ("Price for one unit", say.price(query.price, query.delta)),
            ("What it means", say.odds(say.promise(query.price, query.delta))),
            ("Expected error", say.error(query)),
        ]
        table, page = answers.get(query.name), ""
        if table is not None:
            more = f" The first {MOST_ROWS} of {table.num_rows:,} rows." if table.num_rows > MOST_ROWS else ""
            head, rows = shown(table, query.name, MOST_ROWS)
            numbers = [
                k for k, name in enumerate(head) if name not in table.column_names or say.is_number(table[name].type)
            ]
            page = html.table(f"The released answer: {query.name}.{more}", head, rows, numbers)
        sections.append(f"<h3>{spelled(query.name)}</h3>{html.facts(facts)}{page}")
    return f"<h2>Answers, one by one</h2>{''.join(sections)}" if sections else ""


def _remains(plan: Plan) -> str:
    policy = plan.policy
    items = [
        "What is true of many people can be learned, and may be applied to each of them. A release can show that smoking harms; "
        "that is what it is for, and it holds whether or not a certain person is in the table."
    ]
    if plan.kept:
        items.append(f"{say.listed(plan.kept)}: everybody can read the true values, and link them with other sources.")
    near = [c for c in plan.columns if not c.keep and c.protects.startswith("at most")]
    if near:
        items.append(
            f"Values that are farther apart than stated ({'; '.join(f'{say.listed(c.names)}: {c.protects}' for c in near)}) are "
            "protected less: twice as far apart, twice the epsilon or more. Large differences can be seen."
        )
    if len(plan.parts) > 1:
        items.append(
            "Parts can be combined. Columns that say much the same about a person each give a little away; the last row of the "
            "table above bounds what all of them give away together."
        )
    if policy.neighbours == "replace":
        items.append("Who is in the table, and how many rows it has, is not hidden; the values are.")
    if plan.order == "random":
        items.append(
            "Released rows stand in a random order, drawn anew: their places tell nothing about the order of the table."
        )
    if any(not column.keep and column.missing == "keep" for column in policy.columns):
        kept = [say.listed(column.names) for column in policy.columns if not column.keep and column.missing == "keep"]
        items.append(f"{say.listed(kept)}: whether a value is missing is shown as it is.")
    if policy.unit.column is not None and policy.unit.excess == "first":
        items.append(f"Rows beyond the first {policy.unit.rows} of one {policy.unit.column} were left out.")
    if plan.delta:
        items.append(
            f"Odds are bounded up to an extra probability of {upward(plan.delta, 3)} (delta), which may fall on outputs that "
            "give a unit away. It is not the probability that odds change more than the factor says, which can be larger."
        )
    if policy.floating:
        items.append(
            "The policy allows mechanisms that draw in floats. What is promised for those is a theorem, not a proof."
        )
    items.append(
        "Later releases about the same people add to what can be concluded; the budget below limits their sum."
    )
    items += list(plan.warnings)
    inner = "".join(f"<li>{spelled(item)}</li>" for item in items)
    return f"<h2>What remains possible</h2><ul>{inner}</ul>"


def _budget(plan: Plan, balance: Balance | None) -> str:
    if balance is None:
        allowed = say.price(plan.policy.budget.epsilon, plan.policy.budget.delta)
        words = f"The policy allows {allowed} over all releases together. "
        return f"<h2>Budget</h2><p>{spelled(words)}No ledger has recorded this release.</p>"
    before, before_delta = balance.spent_epsilon - plan.epsilon, balance.spent_delta - plan.delta
    rows = [
        ("Spent before", upward(before), upward(before_delta)),
        ("This release", upward(plan.epsilon), upward(plan.delta)),
        ("Left", downward(balance.left_epsilon), downward(balance.left_delta)),
        ("Budget", upward(balance.epsilon), upward(balance.delta)),
    ]
    caption = (
        f"What all releases of {plan.policy.dataset} may cost one unit, and what is left. Between {balance.between}."
    )
    if balance.scope == "unit":
        caption += " For a unit that took part in every release; others have more left."
    with_delta = bool(balance.delta or balance.spent_delta)
    head = ("", "Epsilon", "Delta") if with_delta else ("", "Epsilon")
    shown = [row if with_delta else row[:2] for row in rows]
    table = html.table(caption, head, shown, numbers=(1, 2), last_is_total=True)
    key = (
        '<p class="soft"><span class="key spent"></span>spent before <span class="key"></span>this release '
        '<span class="key left"></span>left</p>'
    )
    return f"<h2>Budget</h2>{_bar(before, plan.epsilon, balance.epsilon)}{key}{table}"


def _bar(before: Fraction, now: Fraction, whole: Fraction) -> str:
    """The budget as one bar."""
    first, second = (float(part / whole) * 720 for part in (before, now))
    words = f"{100 * float(before / whole):.0f} % spent before, {100 * float(now / whole):.0f} % by this release"
    return (
        '<svg viewBox="0 0 720 18" role="img" aria-labelledby="budget-title"><title id="budget-title">'
        f'Budget: {words}</title><rect class="left" width="720" height="18" rx="4"/>'
        f'<rect class="spent" width="{min(720, first):.1f}" height="18" rx="4"/>'
        f'<rect class="now" x="{min(720, first):.1f}" width="{max(1.0, min(second, 720 - first)):.1f}" height="18" rx="4"/></svg>'
    )


def _randomness(made: Made) -> str:
    if made.simulated:
        words = (
            f"{SIMULATION_RANDOMNESS}. The noise came from a generator with a known seed, so that the run can be repeated. "
            "Do not hand this output to anybody."
        )
    else:
        words = (
            f"{RELEASE_RANDOMNESS}. The noise came from the operating system's cryptographic random numbers. It was not stored, "
            "and cannot be drawn again."
        )
    return f"<h2>Where the noise came from</h2><p>{spelled(words[0].upper() + words[1:])}</p>"


def _verification(plan: Plan, made: Made) -> str:
    floating = "Parts that draw in floats are named as not proved. " if plan.policy.floating else ""
    files = (
        f"<p>Files of this release: {', '.join(f'<code>{spelled(name)}</code>' for name in made.files)}.</p>"
        if made.files
        else ""
    )
    facts = [("Engine", made.engine), ("Digest of certificate.json", made.certificate)]
    return (
        "<h2>How to verify it</h2><p>The file <code>certificate.json</code> holds the claim of every part and the whole numbers "
        "that its noise was drawn from. A small program proves each claim again from those numbers, and that the prices add up "
        f"to the total. {floating}That alone is not yet about this table: whoever rewrites the certificate can leave a part out. "
        "So check the whole folder that holds this page (here called FOLDER): that its files are those that were written and "
        "belong together, and the certificate with them. Whoever keeps the ledger checks besides that it recorded this very "
        "release:</p><pre>noisewright verify FOLDER\n\nnoisewright verify FOLDER --ledger LEDGER</pre>"
        "<p>Without Noisewright, any Python 3.9 or later proves the certificate, though not that it is about this table:</p>"
        "<pre>noisewright verify --export-checker checker.py\n"
        f"python checker.py FOLDER/certificate.json</pre>{html.facts(facts)}{files}"
    )


def _glossary() -> str:
    words = [
        ("Unit", "Whose data are protected as a whole: one row, or all rows of one person."),
        (
            "Epsilon",
            "How much odds may change: by a factor of at most 2.72 (e) for 1, 7.4 for 2, 1.11 for 0.1. Smaller is safer.",
        ),
        ("Delta", "A small probability that the bound of epsilon fails."),
        ("Price", "The epsilon and delta that a part takes from the budget of each unit."),
        ("Expected error", "How far a released value or answer is from the true one, on average."),
    ]
    return f"<h2>Words</h2>{html.facts(words)}"
