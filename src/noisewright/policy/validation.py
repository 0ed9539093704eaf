"""Rules between the keys of a policy, beyond the kind of each value.

Every rule yields problems (a path from the part it looks at, and the end of a sentence), so that all of them are given at
once.
A sentence about a key that is not there begins with "is missing".

Pydantic describes the keys; the registry adds the mechanisms and, for each of them, the parameters it takes. What a schema
cannot say (sums against a budget, names used twice) is left to :class:`~noisewright.policy.policy.Policy`.

>>> from noisewright.policy.policy import Policy
>>> "laplace" in Policy.schema()["$defs"]["ColumnPolicy"]["properties"]["mechanism"]["enum"]
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from noisewright._utils.inputs import has_password
from noisewright._utils.validation import did_you_mean, is_number, meant
from noisewright.base import Parameter
from noisewright.columns.registry import kind_names
from noisewright.mechanisms.registry import registry, without_epsilon
from noisewright.policy.diagnostics import show, spell
from noisewright.policy.fields import IS_NUMBER, IS_PLACE, Path, Problem
from noisewright.policy.parameters import EAST, NORTH, SET_BY, Accepts, accepts, offered, tidy

if TYPE_CHECKING:
    from noisewright.policy.policy import ColumnPolicy, Policy, QueryPolicy, UnitPolicy

__all__ = ["column_rules", "policy_rules", "policy_schema", "query_rules", "size_rules", "unit_rules"]


MOST = {"columns": 10_000, "queries": 1_000, "types": 100_000}
"""The most parts of a policy of each kind; more would take hours to plan."""
MOST_KEYS = 1_000


def size_rules(data: Mapping[str, Any]) -> Iterator[Problem]:
    """A policy is of a size that can be read and planned; a larger one is not examined any further."""
    for key, most in MOST.items():
        part = data.get(key)
        if isinstance(part, (list, tuple, dict)) and len(part) > most:
            yield (key,), f"has {len(part):,} entries, and {most:,} are the most; divide it into several policies"
    parts: list[tuple[Path, Any]] = [((), data), *(((key,), part) for key, part in data.items() if key not in MOST)]
    for key in ("columns", "queries"):
        listed = data.get(key)
        parts += [
            ((key, place), part) for place, part in enumerate(listed if isinstance(listed, (list, tuple)) else ())
        ]
    for path, part in parts:
        if isinstance(part, Mapping) and len(part) > MOST_KEYS:
            yield path, f"has {len(part):,} keys, and {MOST_KEYS:,} are the most; remove those that are not known"


def unit_rules(unit: UnitPolicy) -> Iterator[Problem]:
    """Rows belong together only by a column that states so."""
    if unit.rows > 1 and unit.column is None:
        yield ("column",), f'is missing: rows = {unit.rows} needs to know whose rows they are; write column = "patient"'


def column_rules(column: ColumnPolicy) -> Iterator[Problem]:
    """A column is kept, or perturbed by a registered mechanism with parameters that it takes."""
    if isinstance(column.rename, tuple) != isinstance(column.name, tuple) and column.rename is not None:
        yield ("rename",), "must have the form of name; write one name for one, or a list for a list"
    elif column.rename is not None and len(column.outputs) != len(column.names):
        yield ("rename",), f"must have {len(column.names)} names, as many as name has"
    if column.keep:
        idle = {key: type(column).model_fields[key].default for key in _PERTURBING}
        for key in (*(k for k, value in idle.items() if getattr(column, k) != value), *(column.model_extra or {})):
            yield (key,), "does nothing to a kept column, which is released as it is; remove it, or remove keep = true"
        return
    if column.fill is not None and column.missing == "keep":
        yield ("fill",), 'does not go with missing = "keep"; remove one of them'
    if column.mechanism is None:
        yield (
            ("mechanism",),
            f'is missing; write mechanism = "laplace" (or {", ".join(n for n in offered() if n != "laplace")}), or '
            "keep = true to release the column unprotected",
        )
    elif column.mechanism not in registry:
        yield ("mechanism",), f"is not a mechanism; {did_you_mean(column.mechanism, offered())}"
    elif registry[column.mechanism].takes.purpose == "report":
        yield ("mechanism",), "gives reports to estimate from, not values of the column; use randomised-response here"
    else:
        yield from _mechanism_rules(column, column.mechanism, accepts(column.mechanism))


_PERTURBING = ("mechanism", "epsilon", "delta", "protect", "missing", "fill", "other", "folder")


def _mechanism_rules(column: ColumnPolicy, mechanism: str, accepted: Accepts) -> Iterator[Problem]:
    own = [key for key in type(column).model_fields if key not in ("keep",)]
    for key in column.model_extra or {}:
        if key in SET_BY:
            yield (key,), f"is set by {SET_BY[key]}; {_instead(SET_BY[key], (column.model_extra or {})[key])}"
        elif key not in accepted.allowed:
            takes = f"{mechanism} takes {', '.join(accepted.allowed) or 'no parameters'}"
            known = [*own, *accepted.allowed]
            near = meant(key, known)
            hint = did_you_mean(key, known) if near is None else f"did you mean {near}?"
            yield (key,), f"is not known here: {takes}; {hint}"
    for key in accepted.required:
        if key not in (column.model_extra or {}):
            yield (key,), f"is missing: {mechanism} needs it; write {accepted.example(key)}"
    if column.epsilon is None and accepted.takes.priced:
        yield (
            ("epsilon",),
            "is missing; write epsilon = 1, the loss between two values that are protected from each other",
        )
    for key in ("epsilon", "protect") if not accepted.takes.claims else ():
        if getattr(column, key) not in (None, "any"):
            yield (key,), f"does nothing here: {mechanism} promises none of it; remove it"
    if accepted.takes.delta and not column.delta:
        yield ("delta",), f"is missing: {mechanism} needs one above 0; write delta = 1e-6"
    if column.delta and not accepted.takes.delta:
        yield ("delta",), f"is not for {mechanism}, which promises a delta of 0; remove it"
    if "reference" in accepted.allowed and [_side(name) for name in column.names] == ["east", "north"]:
        turned = ", ".join(f'"{name}"' for name in reversed(column.names))
        yield ("name",), f"has the longitude first, and {mechanism} takes the latitude first; write name = [{turned}]"
    found, problems = tidy(mechanism, column.model_extra or {})
    yield from problems
    if column.other is not None:
        yield from _other_rules(column, accepted, found)
    if column.protect == "any" and not any(path[0] == "within" for path, _ in problems):
        yield from _reach_rules(column, accepted, found.get("within"))


def _side(name: str) -> str | None:
    return "north" if name.lower() in NORTH else "east" if name.lower() in EAST else None


def _other_rules(column: ColumnPolicy, accepted: Accepts, found: Mapping[str, Any]) -> Iterator[Problem]:
    """Undeclared values can only count as another where values are declared one by one."""
    if accepted.takes.secrets != "categories":
        yield ("other",), f"is for mechanisms with categories, not for {column.mechanism}; remove it"
    elif len(column.names) > 1 or not isinstance(found.get("categories"), tuple):
        yield ("other",), 'needs one column with a list of categories; write categories = ["yes", "no"]'


def _instead(key: str, given: object) -> str:
    """Return the text to write in the place of a parameter of the mechanism: the same number, where it is one."""
    number = show(given) if is_number(given) and given > 0 else None
    means = "the distance within which two values are to look alike"
    means = means if key == "protect" else "the loss between two values that are protected from each other"
    return f"write {key} = {number or 1}, {means}"


def _reach_rules(column: ColumnPolicy, accepted: Accepts, within: object) -> Iterator[Problem]:
    """Protecting any two values needs to know how far apart two values can be."""
    said = "protect" in column.model_fields_set
    if accepted.takes.budget == "radius":
        words = f"{column.mechanism} needs a distance; write protect = 500, within which two places are to look alike"
        yield ("protect",), f"is not enough: {words}" if said else f"is missing: {words}"
    elif accepted.takes.budget == "sensitivity" and not _bounded(within):
        words = "any two values are protected only where they have a range; write within = [0, 120], or a distance"
        yield ("protect",), f"is not enough: {words} such as 5" if said else f"is missing: {words} such as protect = 5"


def _bounded(within: object) -> bool:
    if not isinstance(within, tuple):
        return False
    ends = [end for part in within for end in part] if isinstance(within[0], tuple) else list(within)
    return None not in ends


NEEDS: dict[str, tuple[str, ...]] = {
    "count": (),
    "sum": ("column", "within"),
    "mean": ("column", "within"),
    "variance": ("column", "within"),
    "quantile": ("column", "within", "quantile"),
    "histogram": ("column",),
}
"""The keys that each aggregate needs."""

TAKES = {**NEEDS, "mean": ("column", "within", "weights"), "variance": ("column", "within", "weights")}
TAKES |= {"histogram": ("column", "within", "values", "bins"), "quantile": (*NEEDS["quantile"], "bins")}
"""The keys that each aggregate takes, next to those that all take."""

WEIGHTS = {"mean": ("a sum and a count", 2), "variance": ("a sum of squares, a sum and a count", 3)}

QUERY_EXAMPLES = {"column": 'column = "age"', "within": "within = [0, 120]", "quantile": "quantile = 0.5"}


def query_rules(query: QueryPolicy) -> Iterator[Problem]:
    """Check that an answer has the keys that its aggregate needs, and no others."""
    kind = query.aggregate
    for key in ("column", "within", "quantile", "values", "bins", "weights"):
        given = getattr(query, key) is not None
        if given and key not in TAKES[kind]:
            where = "; use where to choose rows" if (kind, key) == ("count", "column") else ""
            yield (key,), f"is not for aggregate = {kind!r}; remove it{where}".replace("'", '"')
        elif not given and key in NEEDS[kind]:
            yield (key,), f'is missing: aggregate = "{kind}" needs it; write {QUERY_EXAMPLES[key]}'
    if kind == "histogram":
        yield from _histogram_rules(query)
    if query.quantile is not None and not 0 < query.quantile < 1:
        yield ("quantile",), "must be between 0 and 1, without them; write 0.5 for the median"
    if query.weights is not None and kind in WEIGHTS and len(query.weights) != WEIGHTS[kind][1]:
        parts, count = WEIGHTS[kind]
        yield ("weights",), f"must have {count} numbers, because a {kind} is made of {parts}; write {[1] * count}"
    if query.mechanism is not None and query.mechanism not in registry:
        yield ("mechanism",), f"is not a mechanism; {did_you_mean(query.mechanism, offered())}"


def _histogram_rules(query: QueryPolicy) -> Iterator[Problem]:
    if query.values is None and query.bins is None:
        yield (
            ("values",),
            'is missing: a histogram needs public values or bins; write values = ["yes", "no"] or bins = [0, 18, 65, 120]',
        )
    if query.values is not None and query.bins is not None:
        yield ("bins",), "and values exclude each other; remove one of them"
    if isinstance(query.bins, int) and query.within is None:
        yield ("within",), f"is missing: {query.bins} bins of equal width need a range; write within = [0, 120]"
    if query.within is not None and not isinstance(query.bins, int):
        yield ("within",), "is for a number of bins only; remove it, or write bins = 10"


def policy_rules(policy: Policy) -> Iterator[Problem]:
    """Check the rules for the policy as a whole."""
    if not policy.columns and not policy.queries:
        yield ("columns",), "is missing: nothing would be released; write at least one [[columns]] or [[queries]]"
    if policy.columns and policy.neighbours == "add-remove":
        yield (
            ("neighbours",),
            "does not go with [[columns]]: a released table shows how many rows there are, so a unit cannot be "
            'hidden by leaving it out; write neighbours = "replace"',
        )
    if policy.order == "kept" and not policy.columns:
        yield ("order",), "is that of released rows, and there are no [[columns]]; remove it"
    if policy.ledger.scope == "unit" and policy.unit.column is None:
        yield ("ledger", "scope"), 'needs to know the units; write unit.column = "patient", or scope = "dataset"'
    if policy.dataset in policy.budget.also:
        yield ("budget", "also"), "names the dataset itself; name further ones only, or remove it"
    if policy.ledger.path is not None and has_password(policy.ledger.path):
        yield (
            ("ledger",),
            "has a path with a password, and a policy is published; leave it out of the URL, and give it in PGPASSWORD",
        )
    yield from _name_rules(policy)
    yield from _budget_rules(policy)


def _name_rules(policy: Policy) -> Iterator[Problem]:
    inputs: set[str] = set()
    outputs: set[str] = set()
    for position, column in enumerate(policy.columns):
        twice = [name for name in column.names if name in inputs]
        if twice:
            yield ("columns", position, "name"), f'holds "{twice[0]}", which an earlier column holds; name it once'
        elif any(name in outputs for name in column.outputs):
            key = "name" if column.rename is None else "rename"
            yield ("columns", position, key), "gives an output column the name of an earlier one; choose another"
        elif len(set(column.outputs)) < len(column.outputs):
            yield ("columns", position, "rename"), "holds a name twice; write each name once"
        inputs.update(column.names)
        outputs.update(column.outputs)
    asked: set[str] = set()
    for position, query in enumerate(policy.queries):
        if query.name in asked:
            yield ("queries", position, "name"), "is the name of an earlier query; choose another"
        asked.add(query.name)


def _budget_rules(policy: Policy) -> Iterator[Problem]:
    """The stated epsilons and deltas alone may not exceed the budget; the plan states their real cost."""
    rows = policy.unit.rows
    perturbed = [c for c in policy.columns if c.mechanism is not None and accepts(c.mechanism).takes.priced]
    times = f" (each column counts {rows} times, once for each row of a unit)" if rows > 1 and perturbed else ""
    for key, allowed in (("epsilon", policy.budget.epsilon), ("delta", policy.budget.delta)):
        columns = sum((getattr(c, key) or Fraction(0) for c in perturbed), Fraction(0))
        total = rows * columns + sum((getattr(q, key) or Fraction(0) for q in policy.queries), Fraction(0))
        if total > allowed:
            asked = spell(total)
            much = f"the {asked} that" if asked[0].isdigit() else "what"
            yield (
                ("budget", key),
                f"is less than {much} the columns and queries ask for together{times}; lower some of them, leave some "
                "out, or raise the budget",
            )


# Schema -------------------------------------------------------------------------------------------------------------------
#
# The JSON schema of policies: what an editor completes and checks while a policy is written.


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def policy_schema(policy: type[Policy]) -> dict[str, Any]:
    """The schema of a whole policy, with the mechanisms that are registered now."""
    schema = policy.model_json_schema(mode="validation")
    schema["title"] = "Noisewright policy"
    schema["description"] = "What to protect, how, and what it may cost."
    for kind, title in TITLES.items():
        schema["$defs"][kind]["title"] = title
        schema["$defs"][kind]["description"] = schema["$defs"][kind]["description"].partition("\n")[0].replace("``", "")
    _columns(schema["$defs"]["ColumnPolicy"])
    _mechanism(schema["$defs"]["QueryPolicy"], offered())
    schema["properties"]["types"]["additionalProperties"] = {"enum": list(kind_names())}
    schema["anyOf"] = [{"required": ["columns"]}, {"required": ["queries"]}]
    return {"$schema": DIALECT, **schema}


TITLES = {
    "Budget": "Budget",
    "UnitPolicy": "Unit",
    "LedgerPolicy": "Ledger",
    "ColumnPolicy": "Column",
    "QueryPolicy": "Query",
}


def _columns(schema: dict[str, Any]) -> None:
    """Mechanisms with their parameters."""
    named = [*offered(), *without_epsilon()]
    _mechanism(schema, named)
    own = list(schema["properties"])
    takers = {name: accepts(name) for name in named}
    for parameter in sorted({p for accepted in takers.values() for p in accepted.allowed}):
        schema["properties"][parameter] = {
            "title": parameter.replace("_", " ").capitalize(),
            "description": _description(parameter, takers),
            **FORMS.get(parameter, {}),
        }
    schema["additionalProperties"] = False
    kept = {"properties": {"keep": {"const": True}}, "required": ["keep"]}
    schema["allOf"] = [
        {
            "if": kept,
            "then": {"propertyNames": {"enum": ["name", "keep", "rename"]}},
            "else": {"required": ["mechanism"]},
        },
        *(_one(name, own) for name in takers),
    ]


def _description(parameter: str, takers: Mapping[str, Accepts]) -> str:
    """Describe a parameter for each mechanism that takes it, with an example."""
    users: dict[Parameter | None, list[str]] = {}
    for name, taker in takers.items():
        if parameter in taker.allowed:
            users.setdefault(taker.described.get(parameter), []).append(name)
    words = [
        f"{'Parameter of the mechanism.' if note is None else note.help} For {', '.join(names)}."
        for note, names in users.items()
    ]
    examples = dict.fromkeys(note.example for note in users if note is not None and note.example)
    return " ".join([*words, *([f"Example: {' or '.join(examples)}"] if examples else [])])


def _one(name: str, own: list[str]) -> dict[str, Any]:
    """Return the keys that a column must and may have when its mechanism is ``name``."""
    accepted = accepts(name)
    needs = [*(["epsilon"] if accepted.takes.priced else []), *(["delta"] if accepted.takes.delta else [])]
    needs += ["protect"] if accepted.takes.budget == "radius" else []
    choices: dict[str, Any] = {key: {"enum": list(values)} for key, values in accepted.choices.items()}
    choices |= {key: IS_FILE for key in accepted.allowed if key in accepted.files}
    choices |= {key: IS_SEED for key in accepted.allowed if key in accepted.seeds}
    then: dict[str, Any] = {
        "required": [*needs, *accepted.required],
        "propertyNames": {"enum": [*own, *accepted.allowed]},
    }
    if choices:
        then["properties"] = choices
    return {"if": {"properties": {"mechanism": {"const": name}}, "required": ["mechanism"]}, "then": then}


def _mechanism(schema: dict[str, Any], named: list[str]) -> None:
    """The names of mechanisms, and what each of them does."""
    given = schema["properties"]["mechanism"]
    summaries = "; ".join(f"{name}: {registry[name].summary}" for name in named)
    schema["properties"]["mechanism"] = {
        "title": given["title"],
        "description": f"{given['description']} {summaries}.",
        "type": "string",
        "enum": named,
    }


_END = {"anyOf": [*IS_PLACE["anyOf"], {"type": "null"}]}
_INTERVAL = {"type": "array", "items": _END, "minItems": 2, "maxItems": 2}
_SEVERAL = {"type": "array", "items": _INTERVAL, "minItems": 1}
_NAMES = {"type": ["array", "integer", "string", "object"]}

IS_SEED = {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"}
IS_FILE = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                "bytes": {"type": "integer", "minimum": 0},
            },
            "required": ["name", "sha256", "bytes"],
            "additionalProperties": False,
        },
    ]
}
"""A path, or the file by its digest, as a lock names it."""

FORMS: dict[str, dict[str, Any]] = {
    "within": {"anyOf": [_INTERVAL, _SEVERAL]},
    "excluding": _SEVERAL,
    "categories": _NAMES,
    "points": _NAMES,
    "candidates": _NAMES,
    "outside": {"type": "string"},
    "metric": {"type": "string"},
    "dimension": {"type": "integer", "minimum": 1},
    "limit": {"type": "integer", "minimum": 2},
    "margin": IS_NUMBER,
    "lattice": {"anyOf": [{"const": "auto"}, *IS_NUMBER["anyOf"]]},
    "reference": {"type": "array", "items": IS_NUMBER, "minItems": 2, "maxItems": 2},
    "grid": {"type": "array", "minItems": 2},
    "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
}
"""The form of the parameters that are the same in every mechanism."""
