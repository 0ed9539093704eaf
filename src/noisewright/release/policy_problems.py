"""All problems of a policy at once, although Pydantic looks at rules between keys only when the keys themselves are right.

Keys with problems are taken out and the rest is looked at again; then parts that cannot be repaired so are replaced by harmless
ones, so that the rules for the policy as a whole are looked at too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from noisewright.release.locate import Path
from noisewright.release.policy_errors import Keys, problems_of
from noisewright.release.policy_kinds import Problem

__all__ = ["all_problems"]

Validate = Callable[[Any], Any]

DECIDING = ("keep", "mechanism", "within", "values", "bins")
"""Without one of these keys, another one may only seem to be missing."""


def all_problems(data: dict[str, Any], error: ValidationError, validate: Validate, keys: Keys) -> list[Problem]:
    """What ``error`` tells, and what is wrong beside it."""
    found = problems_of(error, keys)
    fresh, cut = found, set[Path]()
    for _ in range(4):
        owners = {_owner(path) for path, told in fresh if not _absent(told)} - cut
        if not owners:
            break
        cut |= owners
        hidden = {path[:-1] for path in cut if path[-1] in DECIDING}
        fresh = [
            (path, told)
            for path, told in _again(_without(data, cut), validate, keys)
            if not (_absent(told) and path[:-1] in hidden) and _owner(path) not in cut
        ]
        found = [*found, *(problem for problem in fresh if problem not in found)]
    whole = _again(_repaired(_without(data, cut), found), validate, keys)
    told_of = {path for path, _ in found}
    return [*found, *(problem for problem in whole if problem[0] not in told_of and not _absent(problem[1]))]


def _again(data: Any, validate: Validate, keys: Keys) -> list[Problem]:
    try:
        validate(data)
    except ValidationError as error:
        return problems_of(error, keys)
    return []


def _absent(told: str) -> bool:
    return told.startswith("is missing")


def _owner(path: Path) -> Path:
    """The key of a table that a problem belongs to: ``columns[1].within`` for ``columns[1].within[0]``."""
    return path[:3] if len(path) > 1 and isinstance(path[1], int) else path[:2]


def _without(data: Any, cut: set[Path]) -> Any:
    """A copy of nested data without the keys at some paths; elements of lists stay, so that positions do."""
    gone = {path[0] for path in cut if len(path) == 1}

    def rest(step: Any) -> set[Path]:
        return {path[1:] for path in cut if len(path) > 1 and path[0] == step}

    if isinstance(data, dict):
        return {key: _without(value, rest(key)) for key, value in data.items() if key not in gone}
    if isinstance(data, (list, tuple)) and cut:
        return [_without(value, rest(position)) for position, value in enumerate(data)]
    return data


def _repaired(data: dict[str, Any], found: list[Problem]) -> dict[str, Any]:
    """The policy with a harmless part in the place of each part that has a problem."""
    broken = {path[:2] if path[:1] in (("columns",), ("queries",)) else path[:1] for path, _ in found}
    repaired = {"dataset": "any", **{key: value for key, value in data.items() if (key,) not in broken}}
    if ("unit",) in broken:
        repaired["unit"] = {"column": "any"}
    for kind, harmless in (("columns", {"keep": True}), ("queries", {"aggregate": "count", "epsilon": 1})):
        parts = repaired.get(kind, ())
        repaired[kind] = [
            {**harmless, "name": _name(part, position)} if (kind, position) in broken else part
            for position, part in enumerate(parts if isinstance(parts, (list, tuple)) else ())
        ]
    if "budget" not in repaired or any(path[0] == "queries" for path in broken if path):
        repaired["budget"] = {"epsilon": 1e300, "delta": 0.999}
    return repaired


def _name(part: Any, position: int) -> Any:
    """The name of a part that has a problem, which may be that of another part; or one that nothing else has."""
    given = part.get("name") if isinstance(part, dict) else None
    return given if given else f"part {position} of the policy"
