"""The words of a report: what was done, its privacy cost, what it means, for someone without mathematical training.

>>> strength(Fraction(2)), listed(["age", "ward", "day"])
('1 to 3', 'age, ward and day')
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from noisewright.claims import totals
from noisewright.core.exact import numeral
from noisewright.mechanisms.registry import registry
from noisewright.releases.queries.readable import error_beside

if TYPE_CHECKING:
    from noisewright.releases.columns.plan import ColumnPlan
    from noisewright.releases.plan import Plan
    from noisewright.releases.queries.compile import QueryPlan

__all__ = [
    "LEAD",
    "PRIORS",
    "SCALE",
    "asked",
    "capital",
    "done",
    "error",
    "is_number",
    "listed",
    "not_released",
    "promised",
    "strength",
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


def done(column: ColumnPlan) -> str:
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
