"""The later sections of a report: what remains possible, the budget, random bits, how to verify, and who signs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from noisewright.claims import phrases, totals
from noisewright.core.certificates.certificate import RELEASE_RANDOMNESS, SIMULATION_RANDOMNESS
from noisewright.core.exact import upward
from noisewright.releases.ledger.ledger import downward
from noisewright.releases.report import _layout as html
from noisewright.releases.report import _words as say
from noisewright.releases.report.charts import spelled

if TYPE_CHECKING:
    from noisewright.releases.ledger.ledger import Balance
    from noisewright.releases.plan import Plan
    from noisewright.releases.report.page import Made

__all__ = ["budget", "glossary", "randomness", "remains", "signing", "verification"]


def remains(plan: Plan) -> str:
    """Describe the risks that the guarantee does not prevent."""
    policy = plan.policy
    items = [
        "What is true of many people can be learned, and may be applied to each of them. A release can show that smoking harms; "
        "that is what it is for, and it holds whether or not a certain person is in the table."
    ]
    if plan.kept:
        items.append(f"{say.listed(plan.kept)}: everybody can read the true values, and link them with other sources.")
    near = [c for c in plan.columns if c.protected and (c.protection or {}).get("kind") == "near"]
    if near:
        items.append(totals.farther("; ".join(f"{say.listed(c.names)}: {c.protects}" for c in near)))
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
    return f"<p>{spelled(say.capital(words))}</p>"


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
        checks.append(f"{say.listed(plan.kept)}: released unprotected, and points to nobody.")
    for column in plan.context_aware:
        checks.append(
            f"{say.listed(column.names)}: changed without an epsilon; attackers were tried on what comes out."
        )
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
