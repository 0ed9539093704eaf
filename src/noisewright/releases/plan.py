"""Plans: guarantee, privacy cost and accuracy of a release, before anything is sampled.

The privacy cost of a release is the sum of the privacy costs of its columns and answers: whatever is published about
one unit composes. It is stated between *neighbours*, two tables that differ in the data of one unit, by at most the
protected distance in each column. :attr:`Plan.between` says that in words, and no epsilon is shown without it.

>>> import pyarrow as pa
>>> from noisewright.policy.policy import as_policy
>>> policy = as_policy({"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [
...     {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
...     {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": "1/2"}]})
>>> plan = make_plan(policy, {"age": pa.int64(), "smoker": pa.bool_(), "note": pa.string()})
>>> plan.epsilon, list(plan.types)
(Fraction(3, 2), ['age', 'smoker'])
>>> print(plan.between)
two tables with the same number of rows that differ in the values of one row: by any two values in smoker, by at most 5 in age
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa

from noisewright.claims import phrases, totals
from noisewright.claims.figures import figure, float_down, float_up, percent, upward
from noisewright.columns.registry import visible_type
from noisewright.exceptions import GuaranteeError, ParameterError
from noisewright.guarantees import Guarantee, card
from noisewright.mechanisms.registry import registry
from noisewright.metrics.composite import Neighbours
from noisewright.numerics.exact import as_fraction
from noisewright.planning.column_plan import ColumnPlan, compile_column
from noisewright.planning.columns import check_stated, used_columns
from noisewright.policy.policy import Order, Policy
from noisewright.queries.answers import QueryPlan, error_beside
from noisewright.queries.compile import compile_query
from noisewright.resources import Resource

__all__ = ["LARGE_EPSILON", "BudgetLeft", "Plan", "left_over", "listed", "make_plan", "solve", "title"]


NO_EPSILON = "no epsilon is claimed"
LARGE_EPSILON = 10
"""Above this, odds may change more than twenty thousandfold, and a warning says so."""
NO_PROMISE = 50
"""Epsilon from which no one could distinguish the guarantee from none; a warning states that."""
BEYOND_SENSE = 700
"""A part that costs more is refused: the odds that it allows are beyond the range of a float, e^709."""
LIKE_A_GUESS = 0.9
"""A category that is wrong this often, next to how often a blind guess is, shows hardly anything."""


@dataclass(frozen=True)
class BudgetLeft:
    """Statement of a ledger before a release: the rest of the budget of its dataset, and whether the release fits."""

    epsilon: Fraction
    delta: Fraction
    releases: int = 0
    """Number of releases recorded until now."""
    recorded: bool = False
    """True if the ledger has the dataset; otherwise all of the budget is left."""
    refusal: str | None = None
    """The sentence with which the ledger would refuse the release."""

    @property
    def fits(self) -> bool:
        """True if the ledger would take the release."""
        return self.refusal is None


@dataclass(frozen=True)
class Plan:
    """Everything that is decided before the first draw; build it with :func:`~noisewright.releases.release.plan`."""

    policy: Policy
    columns: tuple[ColumnPlan, ...]
    queries: tuple[QueryPlan, ...]
    dropped: tuple[str, ...]
    """The columns that the policy uses and does not release; it may name the unit by one, or filter by one."""
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    """Types of the columns that the policy uses: all that is published of the table's schema."""
    warnings: tuple[str, ...] = field(default=())
    """Warnings that a person should think about before signing."""
    budget: BudgetLeft | None = None
    """Budget that is left; None where no ledger was asked."""
    refusal: str | None = None
    """Why these data could not be released as they are, such as missing values; for the curator's eyes."""

    @property
    def fits(self) -> bool:
        """True if a release would be made: the data are such as the policy states, and the ledger would take it."""
        return self.refusal is None and (self.budget is None or self.budget.fits)

    @property
    def parts(self) -> tuple[ColumnPlan | QueryPlan, ...]:
        """Parts that cost something or could: perturbed columns and answers, in the order of the policy."""
        return (*(c for c in self.columns if c.protected), *self.queries)

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that are passed through, unprotected."""
        return tuple(name for column in self.columns if column.keep for name in column.names)

    @property
    def context_aware(self) -> tuple[ColumnPlan, ...]:
        """The columns that are changed without any epsilon."""
        return tuple(column for column in self.columns if column.context_aware is not None)

    @property
    def only_answers(self) -> tuple[str, ...]:
        """The columns that are not released, and that answers use."""
        return tuple(name for name in self.dropped if name != self.policy.unit.column)

    @property
    def order(self) -> Order | None:
        """In which order the rows are released; None without rows."""
        return self.policy.order if self.columns else None

    @property
    def output_types(self) -> dict[str, pa.DataType]:
        """The released columns and their types, in their order."""
        return {name: kind for c in self.columns for name, kind in zip(c.outputs, c.output_types, strict=True)}

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The public files that the mechanisms of columns need, each once."""
        return tuple(dict.fromkeys(resource for column in self.columns for resource in column.resources))

    @property
    def epsilon(self) -> Fraction:
        """Privacy cost of the whole release for one unit, exactly."""
        return sum((part.price for part in self.parts), Fraction(0))

    @property
    def delta(self) -> Fraction:
        """The extra probability of the whole release, exactly."""
        return sum((part.delta for part in self.parts), Fraction(0))

    @property
    def claims(self) -> bool:
        """True if an epsilon is claimed at all: something that is released has noise with a certificate."""
        noisy = any(statistic.noise is not None for query in self.queries for statistic in query.statistics)
        return noisy or any(column.protected for column in self.columns)

    @property
    def total(self) -> str:
        """Privacy cost of the whole release for one unit, in words and rounded up."""
        if not self.claims:
            return NO_EPSILON
        return totals.total(self.epsilon, self.delta)

    @property
    def neighbours(self) -> str:
        """Units, and the difference of two neighbours: all releases of a dataset must have these in common to add up."""
        return phrases.neighbours(self.policy.relation)

    @property
    def between(self) -> str:
        """The pairs of tables that the total is about: neighbours that are at most the protected distances apart."""
        return phrases.between(self.policy.relation, self._distances, self._same)

    @property
    def brief(self) -> str:
        """The total and the pairs of tables that it is about, in one line."""
        return f"{self.total} between {self.between}" if self.claims else self.total

    @property
    def _distances(self) -> list[tuple[Mapping[str, Any], tuple[str, ...]]]:
        """Describe the differences of neighbours, column by column."""
        return [(column.protection or {}, column.names) for column in self.columns if column.protected]

    @property
    def _same(self) -> tuple[str, ...]:
        """The columns that are released without protection, in which neighbours do not differ."""
        return (*self.kept, *(name for column in self.context_aware for name in column.names))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole release, between neighbours and no others: the sum of its parts."""
        if not self.claims:
            raise GuaranteeError(f"{NO_EPSILON}: {self.in_words()}")
        near = Neighbours(self.policy.relation, self._distances, self._same)
        return Guarantee.exactly(self.epsilon, near, min(self.delta, Fraction(1)), scope="adjacent", radius=1.0)

    @property
    def floating(self) -> tuple[str, ...]:
        """The parts that are drawn in floats: a theorem holds for real numbers, and nothing is proved about the draws."""
        return tuple(
            title(part) for part in self.parts if any(c.numerics != "exact" for c in part.certificates(simulated=False))
        )

    def in_words(self) -> str:
        """Describe the conclusions open to someone who knows everything but one unit's data, in plain words."""
        if not self.claims:
            return totals.unprotected(bool(self.columns), bool(self.context_aware), bool(self.queries))
        return f"{totals.meaning(self.epsilon, self.delta)} {self.not_proved}".rstrip()

    @property
    def not_proved(self) -> str:
        """Notes next to the odds: what they leave out, and which parts are floating; nothing where all parts are exact."""
        found = []
        if self.context_aware:
            names = listed([name for column in self.context_aware for name in column.names])
            found.append(f"That leaves out {names}: changed without an epsilon, so what it tells is not bounded.")
        if self.floating:
            found.append(
                "That is a theorem about real numbers; nothing is proved about the floats that are drawn for "
                f"{listed(self.floating)}."
            )
        return " ".join(found)

    def __repr__(self) -> str:
        fits = "; the data would be REFUSED" if self.refusal is not None else ""
        if self.budget is not None and not self.budget.fits:
            fits += "; does NOT fit the budget"
        elif self.budget is not None and not fits:
            fits = "; fits"
        count = f"{len(self.parts)} part{'' if len(self.parts) == 1 else 's'}"
        return f"<Plan of {self.policy.dataset!r}: {count}, {self.brief}{fits}>"

    def _repr_html_(self) -> str:
        facts = [("total", self.total)]
        facts += [("between", self.between), ("in words", self.in_words())]
        if self.budget is not None:
            facts.append(("fits", "yes" if self.fits else f"NO: {self.refusal or self.budget.refusal}"))
        facts += [("kept", f"{listed(self.kept)}: {phrases.OPEN}")] if self.kept else []
        facts += [("think about", warning) for warning in self.warnings]
        return card(f"Plan of {self.policy.dataset}", facts, *self.listed_parts())

    def listed_parts(self, digits: int = 6) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the head and the rows of a table of all parts; ``digits``: of an epsilon, which is rounded up."""
        rows: list[tuple[str, ...]] = []
        for part in self.parts:
            price = upward(part.price, digits) + (f", delta {upward(part.delta)}" if part.delta else "")
            rows.append((title(part), _method(part), price, part.protects, error_beside(part.error_words)))
        return ("column or answer", "mechanism", "epsilon", "between", "expected error"), rows

    def to_json(self) -> dict[str, Any]:
        """The plan as plain data."""
        found = {
            "dataset": self.policy.dataset,
            "unit": self.policy.unit.model_dump(mode="json"),
            "neighbours": self.policy.neighbours,
            "epsilon": float_up(self.epsilon) if self.claims else None,
            "delta": float_up(self.delta) if self.claims else None,
            "between": self.between,
            "reading": self.in_words(),
            "columns": [
                {
                    "names": list(c.names),
                    "kept": c.keep,
                    "mechanism": None if c.mechanism is None else c.mechanism.name,
                    **_common(c),
                    **({"measured": list(c.measured)} if c.measured else {}),
                    **(
                        {}
                        if c.context_aware is None
                        else {"epsilon": None, "delta": None, "context_aware": c.context_aware}
                    ),
                }
                for c in self.columns
            ],
            "queries": [{"name": q.name, **_common(q)} for q in self.queries],
            "dropped": list(self.dropped),
            "order": self.order,
            "warnings": list(self.warnings),
        }
        if self.budget is None:
            return found
        return {**found, "fits": self.fits, "refusal": self.refusal, "budget": _budget(self.policy, self.budget)}


def _method(part: ColumnPlan | QueryPlan) -> str:
    """Return how a part is protected: the mechanism, after the aggregate of an answer."""
    if isinstance(part, ColumnPlan):
        return part.mechanism.name if part.mechanism else "kept"
    return f"{part.query.aggregate}, {part.mechanism}"


def make_plan(
    policy: Policy, types: Mapping[str, pa.DataType], rows: int | None = None, *, counts_are_public: bool = True
) -> Plan:
    """Compile a policy for a table with columns of the given types, and its number of rows where that is known.

    The number of rows is used only where it is public. What follows from it (a mean's expected error) is published, too.
    ``counts_are_public`` is False for releases of version 1, which drew noise for numbers of rows that neighbours share.
    """
    types = _used(types, policy)
    check_stated(policy, types)
    rows = _public(rows, policy)
    columns = tuple(compile_column(c, place, types, policy) for place, c in enumerate(policy.columns))
    queries = tuple(
        compile_query(q, place, types, policy, rows, counts_are_public) for place, q in enumerate(policy.queries)
    )
    named = {name for column in columns for name in column.names}
    dropped = tuple(name for name in types if name not in named) if columns else ()
    plan = Plan(policy, columns, queries, dropped, {name: visible_type(kind) for name, kind in types.items()})
    budget = policy.budget
    if plan.epsilon > budget.epsilon or plan.delta > budget.delta:
        asked = f"epsilon {upward(plan.epsilon)}" + (f" and delta {upward(plan.delta)}" if plan.delta else "")
        allowed = f"epsilon {upward(budget.epsilon)}" + (f" and delta {upward(budget.delta)}" if plan.delta else "")
        key = "epsilon" if plan.epsilon > budget.epsilon else "delta"
        raise GuaranteeError(
            f"{policy.line('budget', key)}: this release would cost one unit {asked}, but the budget of {policy.dataset!r} is "
            f"{allowed}; lower some epsilons, or leave columns or answers out."
        )
    if not policy.floating:
        for part in plan.parts:
            if any(c.numerics != "exact" for c in part.certificates(simulated=False)):
                kind = "columns" if isinstance(part, ColumnPlan) else "queries"
                raise GuaranteeError(
                    f"{policy.line(kind, part.position, 'mechanism')}: {title(part)}: what this mechanism draws is not proved "
                    "(its numerics are floating); choose an exact mechanism, or say floating = true in the policy."
                )
    return replace(plan, warnings=tuple(_warnings(plan)))


def solve(
    policy: Policy, types: Mapping[str, pa.DataType], targets: Mapping[str, Any], rows: int | None = None
) -> Policy:
    """The policy with the smallest epsilons that reach the wanted expected errors.

    ``targets`` maps the name of a column (joint columns: with commas between) or of an answer to an error in the unit that
    the plan shows. The epsilons are found by bisection and rounded up to three digits.
    """
    types = _used(types, policy)
    check_stated(policy, types)
    changed, rows = policy, _public(rows, policy)
    for name, wanted in targets.items():
        goal = as_fraction(wanted, f"the wanted error of {name}")
        if goal <= 0:
            raise ParameterError(f"the wanted error of {name} must be above 0; say for example {name}=2.5.")
        changed = _solve_one(changed, types, name, float(goal), rows)
    return changed


def _used(types: Mapping[str, pa.DataType], policy: Policy) -> dict[str, pa.DataType]:
    """The columns that the policy names, by name: neither the others nor the order of all is anyone's business."""
    return {name: types[name] for name in sorted(used_columns(policy)) if name in types}


def _public(rows: int | None, policy: Policy) -> int | None:
    """The number of rows, if neighbours have the same number: not where a unit may be there or not, or own several."""
    return rows if has_public_rows(policy) else None


def has_public_rows(policy: Policy) -> bool:
    """Return whether neighbours have the same number of rows, which is public then."""
    return policy.neighbours == "replace" and policy.unit.column is None


def _solve_one(policy: Policy, types: Mapping[str, pa.DataType], name: str, goal: float, rows: int | None) -> Policy:
    where = _find(policy, name)

    def error(epsilon: Fraction) -> float:
        tried = _with_epsilon(policy, where, epsilon)
        kind, place = where
        found = (
            compile_column(tried.columns[place], place, types, tried).error
            if kind == "columns"
            else compile_query(tried.queries[place], place, types, tried, rows).error
        )
        if found is None:
            raise ParameterError(
                f"the error of {name} depends on the data, so no epsilon can be solved for; choose one."
            )
        return found

    low, high = Fraction(1, 1000), Fraction(1000)
    if error(high) > goal:
        raise ParameterError(
            f"no epsilon up to {high} brings the expected error of {name} down to {goal:g}; ask for a larger error."
        )
    if error(low) <= goal:
        return _with_epsilon(policy, where, low)
    while high / low > Fraction(1001, 1000):
        middle = _three_digits(Fraction(float(low * high) ** 0.5))
        if not low < middle < high:
            break
        low, high = (low, middle) if error(middle) <= goal else (middle, high)
    return _with_epsilon(policy, where, high)


def _find(policy: Policy, name: str) -> tuple[str, int]:
    for place, column in enumerate(policy.columns):
        if name == ",".join(column.names) and not column.keep and registry[column.mechanism or ""].takes.claims:
            return "columns", place
    for place, query in enumerate(policy.queries):
        if name == query.name:
            return "queries", place
    known = [",".join(c.names) for c in policy.columns if not c.keep] + [q.name for q in policy.queries]
    raise ParameterError(f"there is no perturbed column or query called {name!r}; choose one of {', '.join(known)}.")


def _with_epsilon(policy: Policy, where: tuple[str, int], epsilon: Fraction) -> Policy:
    kind, place = where
    parts = list(getattr(policy, kind))
    parts[place] = parts[place].model_copy(update={"epsilon": epsilon})
    return policy.model_copy(update={kind: tuple(parts)})


def _three_digits(value: Fraction) -> Fraction:
    return Fraction(upward(value, 3))


def _warnings(plan: Plan) -> list[str]:
    """Return the warnings to think about before signing; those that need the data are found by the engine."""
    found = []
    for part in plan.parts:
        if part.price >= NO_PROMISE:
            found.append(totals.weak(title(part), part.price, none=True))
        elif part.price > LARGE_EPSILON:
            found.append(totals.weak(title(part), part.price, none=False))
    if len(plan.parts) > 1 and plan.epsilon > LARGE_EPSILON >= max(part.price for part in plan.parts):
        found.append(totals.together(plan.epsilon))
    found += [warning for column in plan.columns for warning in _thin(column)]
    found += _drowned(plan.columns)
    shown = [listed(c.names) for c in plan.columns if not c.keep and c.missing == "keep" and c.fill is None]
    if shown:
        found.append(f"{listed(shown)}: whether a value is missing is shown as it is, which may itself be a secret.")
    for column in plan.columns:
        if column.in_the_clear:
            found.append(f"{listed(column.names)}: in the clear, so {phrases.OPEN}: {listed(column.in_the_clear)}.")
    if plan.kept:
        found.append(totals.kept_warning(listed(plan.kept)))
    for column in plan.context_aware:
        found.append(totals.context_aware(listed(column.names)))
        promise: Any = None if column.mechanism is None else column.mechanism.guarantee
        if not promise.converged:
            found.append(
                f"{listed(column.names)}: the training of this privatiser did NOT come to rest with its budget spent; train it "
                "again with more epochs, or as noisewright learn train says."
            )
    perturbed = [listed(c.names) for c in plan.columns if c.protected]
    if plan.order == "kept":
        found.append(
            "the rows keep the order of the table, so the order is public: where it follows from values, or from who came when, "
            'it tells them, whatever the noise; remove order = "kept" to release the rows in a random order.'
        )
    if len(perturbed) > 1 and plan.policy.neighbours == "replace":
        found.append(
            f"{listed(perturbed)} are perturbed one by one: where they say the same about a person (a postcode and a "
            "place, an age and a year of birth), each gives the others away a little, and their prices add up."
        )
    asked = {q.column for q in plan.policy.queries if q.column} & {
        n for c in plan.columns if not c.keep for n in c.names
    }
    if asked:
        found.append(
            f"{listed(sorted(asked))}: both released row by row and asked about; the rows may already answer the question."
        )
    return found


def _thin(column: ColumnPlan) -> list[str]:
    """A warning where the protected distance is tiny next to the lattice of the outputs, or next to the declared range."""
    if column.protect is None or column.mechanism is None:
        return []
    step, width = getattr(getattr(column.mechanism, "lattice", None), "step", None), column.width
    fine = [Fraction(step)] if isinstance(step, (int, Fraction)) else []
    fine += [width / 1000] if width is not None else []
    if not any(column.protect < size for size in fine):
        return []
    words = phrases.size(column.protection or {})
    return [
        f"{title(column)}: values farther apart than {words} are hardly protected, and that is a tiny distance here."
    ]


def _drowned(columns: Sequence[ColumnPlan]) -> list[str]:
    """One warning for all columns of which a released value is hardly better than a guess that looks at no data."""
    found = [(column, guess) for column in columns if (guess := _like_a_guess(column)) is not None]
    if not found:
        return []
    wide = any(column.protect is None and column.width is not None for column, _ in found)
    nearer = "protect a smaller distance, " if wide else ""
    if len(found) == 1:
        [(column, guess)] = found
        what = f"{title(column)}: noise no better than a guess: a released value is {guess}. Only"
    else:
        each = "; ".join(f"{title(column)}, {guess}" for column, guess in found)
        what = f"noise no better than a guess in {len(found)} columns: {each}. Only"
    return [
        f"{what} numbers over very many rows will tell anything; {nearer}spend a larger epsilon, or ask for an answer (queries) "
        "instead of releasing rows."
    ]


def _like_a_guess(column: ColumnPlan) -> str | None:
    """Compare the error of a released value with a guess without any data, if that guess is hardly worse.

    Anyone who says the middle of a range of width w is off by w / 4 on average, if all values are equally common;
    anyone who names one of k categories is wrong (k - 1) / k of the time.
    """
    error = column.error
    if error is None or column.mechanism is None:
        return None
    if column.lies:
        count = column.choices
        if count < 2 or error < LIKE_A_GUESS * (count - 1) / count:
            return None
        return f"wrong {percent(error)} of the time, and a blind guess {percent(1 - 1 / count)}"
    if column.width is None or error < column.width / 4:
        return None
    return f"off by up to {figure(error)} on average, and the middle of the range by {figure(column.width / 4)}"


def _budget(policy: Policy, left: BudgetLeft) -> dict[str, Any]:
    return {
        "epsilon": float(policy.budget.epsilon),
        "delta": float(policy.budget.delta),
        "left_epsilon": left_over(left.epsilon),
        "left_delta": left_over(left.delta),
        "releases": left.releases,
        "fits": left.fits,
        "refusal": left.refusal,
    }


def left_over(value: Fraction) -> float:
    """Return the rest of a budget as a float that, written as a decimal, is not above it: a policy may ask for that much.

    >>> from fractions import Fraction
    >>> left_over(Fraction(9, 10)), left_over(Fraction(5, 3)), float(Fraction(5, 3))
    (0.9, 1.6666666666666665, 1.6666666666666667)
    """
    nearest = float(value)
    return nearest if Fraction(str(nearest)) <= value else float_down(value)


def _common(part: ColumnPlan | QueryPlan) -> dict[str, Any]:
    return {
        "epsilon": float_up(part.price),
        "delta": float_up(part.delta),
        "protects": part.protects,
        "error": part.error,
        "error_words": part.error_words,
    }


def title(part: ColumnPlan | QueryPlan) -> str:
    """A part of a release by its name."""
    return listed(part.names) if isinstance(part, ColumnPlan) else part.name


def listed(names: Sequence[str]) -> str:
    """Names in a sentence."""
    names = list(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
