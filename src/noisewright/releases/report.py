"""The words of a report: what was done, its privacy cost, what it means, for someone without mathematical training.

>>> strength(Fraction(2)), listed(["age", "ward", "day"])
('1 to 3', 'age, ward and day')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from noisewright._version import VERSION
from noisewright.claims import phrases, totals
from noisewright.claims.figures import figure, numeral, upward
from noisewright.ledger.records import downward
from noisewright.mechanisms.registry import registry
from noisewright.queries.answers import error_beside, shown
from noisewright.render import html
from noisewright.render.charts import Marginal, chart, spelled
from noisewright.sampling.random_bits import RELEASE_RANDOMNESS, SIMULATION_RANDOMNESS

if TYPE_CHECKING:
    from noisewright.ledger.records import Balance
    from noisewright.planning.column_plan import ColumnPlan
    from noisewright.queries.answers import QueryPlan
    from noisewright.releases.plan import Plan

__all__ = [
    "LEAD",
    "PRIORS",
    "SCALE",
    "Made",
    "asked",
    "budget",
    "capital",
    "done_to",
    "error",
    "glossary",
    "is_number",
    "listed",
    "not_released",
    "promised",
    "randomness",
    "remains",
    "report",
    "signing",
    "strength",
    "verification",
]


PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))
"""Prior beliefs for which a report states the possible posteriors."""


SCALE = (
    ("Below 1", "strong, for tables that differ as stated above; for larger differences it is weaker"),
    ("1 to 3", "usual for published data; an adversary can become much surer about one unit"),
    ("3 to 10", "modest; rely on something else as well, such as a contract, or few recipients"),
    ("Above 10", "weak; an adversary who looks for one person may come close to certainty"),
)
"""Usual judgements of totals, from the strongest to the weakest."""
LEAD = (
    "Whether that is acceptable is your decision, and depends on what is in the table and who sees it. As a guide, this is how "
    "totals of epsilon are usually judged:"
)


def strength(epsilon: Fraction) -> str:
    """Return the place of a total on the scale."""
    return SCALE[sum(epsilon >= end for end in (1, 3))][0] if epsilon <= 10 else SCALE[3][0]


def promised(column: ColumnPlan) -> str:
    """Describe the guarantee of one row, and the cost of all rows of a unit."""
    return totals.promise(column.price / column.times, column.delta / column.times, column.protects, column.times)


def capital(words: str) -> str:
    """A sentence with its first letter."""
    return words[:1].upper() + words[1:]


def not_released(plan: Plan) -> str:
    """List columns not released row by row: columns that only answers use, the column of the unit, and everything unnamed."""
    asked = plan.only_answers
    unit = [f"{name} (says which rows belong together)" for name in plan.dropped if name not in asked]
    words = f"Not released at all: {listed([*unit, 'every column that the policy does not name'])}."
    return words + (f" Used only for answers: {listed(asked)}." if asked else "")


def done_to(column: ColumnPlan) -> str:
    """Describe the treatment of a column: the mechanism's name and its description in the registry."""
    name = "" if column.mechanism is None else column.mechanism.name
    summary = registry[name].summary if name in registry else ""
    return f"{summary} ({name})" if summary else str(name)


def asked(plan: Plan, plan_of_query: QueryPlan) -> str:
    """The question that an answer answers."""
    query = next(q for q in plan.policy.queries if q.name == plan_of_query.name)
    words = f"{query.aggregate} of {query.column}" if query.column else query.aggregate
    if query.quantile is not None:
        words = f"{query.aggregate} {_plain(query.quantile)} of {query.column}"
    if query.within is not None:
        words += f", values within {' to '.join(map(_plain, query.within))}"
    if query.by:
        words += f", for each {listed(list(query.by))}"
    return words + (f", where {query.where}" if query.where else "")


def error(part: Any) -> str:
    """The expected error in words, which stand below or next to a heading that states so already."""
    return error_beside(part.error_words)


def title(part: Any) -> str:
    """The name of a column or an answer."""
    return str(part.name) if hasattr(part, "name") else listed(part.outputs)


def _plain(value: Any) -> str:
    return numeral(value) if isinstance(value, Fraction) else str(value)


def is_number(kind: pa.DataType) -> bool:
    """Return whether a column of an answer is set to the right."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    names = list(names)
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"


# Ending -------------------------------------------------------------------------------------------------------------------
#
# The later sections of a report: what remains possible, the budget, random bits, how to verify, and who signs.


def remains(plan: Plan) -> str:
    """Describe the risks that the guarantee does not prevent."""
    policy = plan.policy
    items = [
        "What is true of many people can be learned, and may be applied to each of them. A release can show that smoking harms; "
        "that is what it is for, and it holds whether or not a certain person is in the table."
    ]
    if plan.kept:
        items.append(f"{listed(plan.kept)}: everybody can read the true values, and link them with other sources.")
    near = [c for c in plan.columns if c.protected and (c.protection or {}).get("kind") == "near"]
    if near:
        items.append(totals.farther("; ".join(f"{listed(c.names)}: {c.protects}" for c in near)))
    if len(plan.parts) > 1:
        items.append(
            "Parts can be combined. Columns that say much the same about a person each give a little away; the last row of the "
            "first table bounds what all of them give away together."
        )
    if shown := phrases.public_facts(policy.relation):
        items.append(f"Not hidden: who is in the table, and {shown}. The values are.")
    if plan.order == "random":
        items.append(
            "Released rows stand in a random order, drawn anew: their places tell nothing about the order of the table."
        )
    if policy.unit.column is not None and policy.unit.excess == "first":
        items.append(f"Rows beyond the first {policy.unit.rows} of one {policy.unit.column} were left out.")
    if plan.delta:
        items.append(totals.extra(plan.delta))
    if policy.floating:
        items.append(
            "The policy allows mechanisms that draw in floats. What is promised for those is a theorem, not a proof."
        )
    items.append(
        "Later releases about the same people add to what can be concluded; the budget below limits their sum."
    )
    items += list(plan.warnings)
    inner = "".join(f"<li>{spelled(item)}</li>" for item in items)
    return f"<ul>{inner}</ul>"


def budget(plan: Plan, balance: Balance | None) -> str:
    """Describe the statements of the ledger: spent before, by this release, and left."""
    if balance is None:
        allowed = totals.price(plan.policy.budget.epsilon, plan.policy.budget.delta)
        words = f"The policy allows {allowed} over all releases together. "
        return f"<p>{spelled(words)}No ledger has recorded this release.</p>"
    before, before_delta = balance.spent_epsilon - plan.epsilon, balance.spent_delta - plan.delta
    rows = [
        ("Spent before", upward(before), upward(before_delta)),
        ("This release", upward(plan.epsilon), upward(plan.delta)) if plan.claims else ("This release", *["none"] * 2),
        ("Left", downward(balance.left_epsilon), downward(balance.left_delta)),
        ("Budget", upward(balance.epsilon), upward(balance.delta)),
    ]
    alike = plan.between == balance.recorded
    between = plan.between if alike else balance.between
    caption = f"What all releases of {plan.policy.dataset} may cost one unit, and what is left. Between {between}."
    if balance.scope == "unit":
        caption += " For a unit that took part in every release; others have more left."
    if plan.claims and not alike:
        caption += f" This release is between {plan.between}."
    with_delta = bool(balance.delta or balance.spent_delta)
    head = ("", "Epsilon", "Delta") if with_delta else ("", "Epsilon")
    shown = [row if with_delta else row[:2] for row in rows]
    table = html.table(caption, head, shown, numbers=(1, 2), last_is_total=True)
    key = (
        '<p class="soft"><span class="key spent"></span>spent before <span class="key"></span>this release '
        '<span class="key left"></span>left</p>'
    )
    return f"{_bar(before, plan.epsilon, balance.epsilon)}{key}{table}"


def _bar(before: Fraction, now: Fraction, whole: Fraction) -> str:
    """The budget as one bar."""
    first, second = (float(part / whole) * 720 for part in (before, now))
    words = f"{upward(100 * before / whole, 3)} % spent before, {upward(100 * now / whole, 3)} % by this release"
    return (
        '<svg viewBox="0 0 720 18" role="img" aria-labelledby="budget-title"><title id="budget-title">'
        f'Budget: {words}</title><rect class="left" width="720" height="18" rx="4"/>'
        f'<rect class="spent" width="{min(720, first):.1f}" height="18" rx="4"/>'
        f'<rect class="now" x="{min(720, first):.1f}" width="{max(1.0, min(second, 720 - first)):.1f}" height="18" rx="4"/></svg>'
    )


def randomness(made: Made) -> str:
    """Describe the source of random bits."""
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
    return f"<p>{spelled(capital(words))}</p>"


def verification(plan: Plan, made: Made) -> str:
    """Describe the proof of the certificate, and for anyone with the folder, that it belongs to it."""
    floating = "Parts that draw in floats are named as not proved. " if plan.policy.floating else ""
    files = (
        f"<p>Files of this release: {', '.join(f'<code>{spelled(name)}</code>' for name in made.files)}.</p>"
        if made.files
        else ""
    )
    facts = [("Engine", made.engine), ("Digest of certificate.json", made.certificate)]
    return (
        "<p>The file <code>certificate.json</code> holds the claim of every part and the whole numbers "
        "that its noise was drawn from. A small program proves each claim again from those numbers, and that the prices add up "
        f"to the total. {floating}That alone is not yet about this table: whoever rewrites the certificate can leave a part out. "
        "So check the whole folder that holds this page (here called FOLDER): that its files are those that were written and "
        "belong together, and the certificate with them. Whoever keeps the ledger checks besides that it recorded this very "
        "release:</p><pre>noisewright verify FOLDER\n\nnoisewright verify FOLDER --ledger LEDGER</pre>"
        "<p>Without Noisewright, any Python 3.9 or later proves the certificate, though not that it is about this table:</p>"
        "<pre>noisewright verify --export-checker checker.py\n"
        f"python checker.py FOLDER/certificate.json</pre>{html.facts(facts)}{files}"
    )


def signing(plan: Plan, made: Made) -> str:
    """Return the statement of the person who signs, and its place; nothing to sign on a simulation."""
    if made.simulated:
        return "<p>Nothing: this is a simulation, and must not be released.</p>"
    checks = ["I have read what was released, between what it is protected, and what remains possible."]
    if plan.claims:
        checks.append(
            "All ranges, categories and bins in the policy are public knowledge, and were not read off the data."
        )
        checks.append(f"What is protected as one is what should be: the promise is between {plan.between}.")
        checks.append(
            f"The total of {totals.price(plan.epsilon, plan.delta)} is acceptable for those who will see this."
        )
    if plan.kept:
        checks.append(f"{listed(plan.kept)}: released unprotected, and points to nobody.")
    for column in plan.context_aware:
        checks.append(f"{listed(column.names)}: changed without an epsilon; attackers were tried on what comes out.")
    inner = "".join(f"<li>{spelled(check)}</li>" for check in checks)
    lines = "".join(f"<dt>{name}</dt><dd></dd>" for name in ("Name", "Role", "Date", "Signature"))
    return (
        f"<p>To be filled in by whoever answers for this release, on paper or in your own records; the page itself must stay "
        f'as it is, or it no longer agrees with its lock.</p><ul class="checks">{inner}</ul><dl class="sign">{lines}</dl>'
    )


def glossary() -> str:
    """The words that the page uses."""
    words = [
        ("Unit", "Whose data are protected as a whole: one row, or all rows of one person."),
        *totals.GLOSSARY.items(),
        ("Price", "The epsilon and delta that a part takes from the budget of each unit."),
        ("Expected error", "How far a released value or answer is from the true one, on average."),
    ]
    return html.facts(words)


# Page ---------------------------------------------------------------------------------------------------------------------
#
# ``report.html``: what a release did and guarantees, for someone who signs for it and need not know mathematics.
#
# One page that holds everything it shows: no scripts, nothing loaded from elsewhere, readable in light, dark and print, and by
# screen readers. It is made from the plan, the ledger's balance, and the released output; the true data take no part in it.
# Everything that comes from a policy or a table is written as text, never as HTML.


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
    :func:`noisewright.releases.marginals.marginal_of`. ``answers``: of the queries, by name.
    """
    banner = "NOT FOR RELEASE: a simulation with a known seed. Anybody who knows the seed can remove the noise."
    heading = f"Release of {plan.policy.dataset}"
    sections = [
        ("What was released", _released(plan)),
        ("How to judge the total", _judging(plan)),
        ("Columns, one by one", _columns(plan, made, marginals)),
        ("Answers, one by one", _answers(plan, answers or {})),
        ("What remains possible", remains(plan)),
        ("Budget", budget(plan, balance)),
        ("Where the noise came from", randomness(made)),
        ("How to verify it", verification(plan, made)),
        ("Who signs", signing(plan, made)),
        ("Words", glossary()),
    ]
    return html.page(heading, _opening(plan, made, heading) + html.sections(sections), banner if made.simulated else "")


# Sections -----------------------------------------------------------------------------------------------------------------


def _opening(plan: Plan, made: Made, heading: str) -> str:
    at = made.at.astimezone(UTC)
    meta = [f"Made on {at.day} {at:%B %Y} at {at:%H:%M} UTC by Noisewright {VERSION}"]
    if made.rows is not None:
        meta.append(f"{made.rows:,} rows")
    if not plan.claims:
        sentences = [f"{capital(plan.total)}. {plan.in_words()}"]
    else:
        sentences = [
            totals.whose(plan.policy.unit.column),
            f"{totals.PROTECTED} The two possibilities are {plan.between}.",
            f"All parts together cost {totals.price(plan.epsilon, plan.delta)}. "
            f"{totals.odds(plan.epsilon, plan.delta)}",
            *([plan.not_proved] if plan.not_proved else []),
        ]
    if plan.kept:
        sentences.append(totals.kept(listed(plan.kept)))
    if exact := [query.name for query in plan.queries if query.exact]:
        sentences.append(totals.exact(listed(exact)))
    for column in plan.context_aware:
        sentences.append(f"{totals.trained(listed(column.names))} {column.context_aware}")
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
        rows.append((query.name, asked(plan, query), query.protects, price, belief, error(query)))
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
    dropped = f"<p>{spelled(not_released(plan))}</p>" if plan.columns else ""
    return f"{table}{note}{dropped}"


def _row(column: ColumnPlan) -> tuple[str, ...]:
    renamed = f" (as {listed(column.outputs)})" if tuple(column.outputs) != tuple(column.names) else ""
    name = listed(column.names) + renamed
    if column.keep:
        return name, f"kept unchanged: {phrases.OPEN}", "nothing", "none", "certainty", "none"
    if column.context_aware is not None:
        done = "changed by a learned privatiser: no epsilon"
        return name, done, "nothing", "none", "not bounded", column.error_words
    belief = totals.belief(column.price, column.delta)
    return name, done_to(column), column.protects, _price(column), belief, error(column)


def _price(part: ColumnPlan | QueryPlan) -> str:
    return totals.price(part.price, part.delta)


def _judging(plan: Plan) -> str:
    """Describe the total in comparison with usual totals."""
    if not plan.claims:
        return ""
    total = totals.price(plan.epsilon, plan.delta)
    first = (
        f"Somebody who sees everything at once is bounded by the total, {total}, and not by any single part. "
        + ("" if plan.delta else totals.beliefs(plan.epsilon, PRIORS))
        + " That is the worst case: it is reached only by somebody who knows all of the table but one unit, and asks about "
        "just those two possibilities that the release tells apart best."
    )
    scale = "".join(
        f'<li class="here">{spelled(f"{name}: {words} (this release)")}</li>'
        if name == strength(plan.epsilon)
        else f"<li>{spelled(f'{name}: {words}')}</li>"
        for name, words in SCALE
    )
    last = (
        "Before you sign, ask three things. Is the unit the right one: is one person one unit, or are there several rows of "
        "each? Are the distances in the table those that matter to people? And who will see this release: "
        "the wider it goes, the less you can lean on anything but the total."
    )
    return f'<p>{spelled(first)}</p><p>{spelled(LEAD)}</p><ul class="scale">{scale}</ul><p>{spelled(last)}</p>'


def _columns(plan: Plan, made: Made, marginals: Sequence[Marginal]) -> str:
    found = {marginal.name: marginal for marginal in marginals}
    sections = []
    for number, column in enumerate(plan.columns):
        marginal = found.get(", ".join(column.outputs))
        facts = []
        if column.keep:
            words = f"Released unchanged: {phrases.OPEN}."
        elif column.context_aware is not None:
            words = f"{totals.trained(listed(column.names))} {column.context_aware}"
        else:
            words = f"{capital(promised(column))}. Expected error: {error(column)}."
            facts += [("In the clear", f"{listed(column.in_the_clear)}: {phrases.OPEN}")] * bool(column.in_the_clear)
            facts += [("Measured on public data", "; ".join(column.measured))] * bool(column.measured)
        more = html.facts(facts) if facts else ""
        sections.append(
            f"<h3>{spelled(listed(column.outputs))}</h3><p>{spelled(words)}</p>{more}{_figure(marginal, number, made.rows)}"
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
        words = f"{capital(asked(plan, query))}. Expected error: {error(query)}."
        table, page = answers.get(query.name), ""
        if table is not None:
            more = f" The first {MOST_ROWS} of {table.num_rows:,} rows." if table.num_rows > MOST_ROWS else ""
            head, rows = shown(table, query.name, MOST_ROWS)
            told = head.index(query.name)  # what stands before it names groups
            numbers = [
                k
                for k, name in enumerate(head)
                if (is_number(table[name].type) if name in table.column_names else k > told)
            ]
            page = html.table(f"The released answer: {query.name}.{more}", head, rows, numbers)
        sections.append(f"<h3>{spelled(query.name)}</h3><p>{spelled(words)}</p>{page}")
    return "".join(sections)
