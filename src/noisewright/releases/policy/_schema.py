"""The JSON schema of policies: what an editor completes and checks while a policy is written.

Pydantic describes the keys; the registry adds the mechanisms and, for each of them, the parameters it takes. What a schema
cannot say (sums against a budget, names used twice) is left to :class:`~noisewright.releases.policy.policy.Policy`.

>>> from noisewright.releases.policy.policy import Policy
>>> "laplace" in Policy.schema()["$defs"]["ColumnPolicy"]["properties"]["mechanism"]["enum"]
True
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from noisewright.core.loading.parameters import Parameter
from noisewright.mechanisms.registry import registry, without_epsilon
from noisewright.releases.kinds.registry import kind_names
from noisewright.releases.policy._numbers import IS_NUMBER, IS_PLACE
from noisewright.releases.policy.parameters import Accepts, accepts, offered

if TYPE_CHECKING:
    from noisewright.releases.policy.policy import Policy

__all__ = ["policy_schema"]

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
