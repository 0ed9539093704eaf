"""The words of a report: what was done, what it costs, what it means, for somebody who knows no mathematics.

>>> price(Fraction(3, 2), Fraction(0)), listed(["age", "ward", "day"])
('epsilon 1.5', 'age, ward and day')
>>> odds(promise(Fraction(1), Fraction(0)))
'A belief of 50 % in one of two such possibilities can become at most 73.2 %.'
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from noisewright.core.exact import exp_bounds, float_up, upward
from noisewright.core.guarantee import Guarantee
from noisewright.core.metrics.metric import Discrete
from noisewright.mechanisms.registry import registry

if TYPE_CHECKING:
    from noisewright.releases.columns.plan import ColumnPlan
    from noisewright.releases.plan import Plan
    from noisewright.releases.queries.compile import QueryPlan

__all__ = [
    "PRIORS",
    "apart",
    "asked",
    "beliefs",
    "done",
    "error",
    "is_number",
    "listed",
    "noise",
    "odds",
    "price",
    "promise",
    "times",
    "title",
]

PRIORS = (0.01, 0.1, 0.5)
"""Beliefs before the release, for which a report says what they can become."""


def noise(column: ColumnPlan) -> str:
    """The promise of the mechanism alone, for one value."""
    return "nothing" if column.mechanism is None else str(column.mechanism.guarantee)


def done(column: ColumnPlan) -> str:
    """What was done to a column: the mechanism's name and what the registry says of it."""
    name = "" if column.mechanism is None else column.mechanism.name
    summary = registry[name].summary if name in registry else ""
    return f"{name}: {summary}" if summary else str(name)


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


def apart(protects: str) -> str:
    """Between which values of a column the promise is."""
    words, bracket, shown = protects.partition(" (whether")
    return f"values {words} apart{bracket}{shown}" if protects.startswith("at most") else protects


def error(part: Any) -> str:
    """The expected error in words, which stand below or beside a heading that says so already."""
    words = str(part.error_words or "depends on the data")
    for opening in ("expected absolute error ", "expected error ", "expected "):
        words = words.removeprefix(opening)
    return words


def title(part: Any) -> str:
    """The name of a column or an answer."""
    return str(part.name) if hasattr(part, "name") else listed(part.outputs)


def promise(price: Fraction, delta: Fraction) -> Guarantee:
    """The promise of a part, or of all parts, between two possibilities for one unit."""
    return Guarantee(float_up(price), Discrete(), float_up(min(delta, Fraction(1))))


def odds(promise: Guarantee) -> str:
    """What a promise means, in one sentence."""
    if promise.delta:
        return (
            f"Somebody who guesses between two such possibilities, equally likely before, is right at most "
            f"{upward(100 * promise.guess(), 3)} % of the time."
        )
    return f"A belief of 50 % in one of two such possibilities can become at most {_percent(promise.posterior(0.5))}."


def beliefs(promise: Guarantee) -> tuple[str, ...]:
    """How far odds move at most, and what each of :data:`PRIORS` becomes at most."""
    bound = promise.bound(1)
    factor = f"e^{upward(bound, 4)}" if bound > 20 else f"{_factor(bound)} times"
    if promise.delta:
        return factor, "not bounded", "not bounded", f"right at most {upward(100 * promise.guess(), 3)} % of the time"
    return factor, *(_percent(promise.posterior(prior)) for prior in PRIORS)


def _factor(bound: float) -> str:
    return upward(Fraction(exp_bounds(Fraction(bound), 64)[1], 1 << 64), 3)


def _percent(belief: float) -> str:
    """A belief in percent, rounded up; near certainty by how much is missing, so that it never reads as 100 %."""
    if belief < 0.99:
        return f"{upward(100 * belief, 3)} %"
    return f"{upward(100 * belief, 6)} %" if belief < 0.99999 else "practically 100 %"


def price(epsilon: Fraction, delta: Fraction) -> str:
    """A price, rounded up."""
    return f"epsilon {upward(epsilon)}" + (f", delta {upward(delta, 3)}" if delta else "")


def times(plan: Plan) -> str:
    """That a price counts every row of a unit, where there may be several."""
    rows = plan.policy.unit.rows
    return f" ({rows} rows, each counted)" if rows > 1 else ""


def _plain(value: Any) -> str:
    return f"{float(value):g}" if isinstance(value, Fraction) else str(value)


def is_number(kind: pa.DataType) -> bool:
    """Whether a column of an answer is set to the right."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    names = list(names)
    return "".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"
