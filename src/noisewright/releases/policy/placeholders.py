"""Places of a starting policy that only its owner can fill in, and the sentence that asks for them.

>>> age = {"name": "age", "mechanism": "laplace", "within": [PLACEHOLDER, PLACEHOLDER]}
>>> sex = {"name": "sex", "mechanism": "randomised-response", "categories": [PLACEHOLDER]}
>>> for path, missing in unfilled({"columns": [age, sex]}):
...     print(path, missing)
('columns', 0, 'within') the range of 'age', such as within = [0, 120]
('columns', 1, 'categories') the categories of 'sex', such as categories = ['yes', 'no']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from noisewright.core.errors import PolicyError
from noisewright.mechanisms.registry import registry
from noisewright.releases.policy._locate import Path, Places
from noisewright.releases.policy._values import Problem
from noisewright.releases.policy.parameters import accepts

__all__ = ["PLACEHOLDER", "still_to_fill", "unfilled"]

PLACEHOLDER = "FILL IN"

_WHAT = {"within": "the range", "protect": "the protected distance", "reference": "a public place near all places"}
_EXAMPLES = {"protect": "protect = 5"}
MOST_NAMED = 2


def unfilled(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Return the places still to be filled in, and their content in words."""
    columns = data.get("columns")
    for place, column in enumerate(columns if isinstance(columns, (list, tuple)) else ()):
        if isinstance(column, Mapping):
            for key, value in column.items():
                if key != "name" and _waits(value):
                    what = _WHAT.get(key, f"the {key}")
                    example = _EXAMPLES.get(key) or _example(key, column.get("mechanism"))
                    such = example.replace('"', "'")
                    yield ("columns", place, key), f"{what} of {column.get('name')!r}, such as {such}"


def still_to_fill(name: str, places: Places | None, found: list[Problem]) -> PolicyError:
    """One error for all places, with their lines."""

    def line(path: Path) -> str:
        return "" if places is None else f" in line {places.line(path)}"

    (first, words), others = found[0], found[1:]
    rest = [f"{told.partition(', such as')[0]}{line(path)}" for path, told in others[:MOST_NAMED]]
    rest += [f"{len(others) - MOST_NAMED} more"] if len(others) > MOST_NAMED else []
    also = f"; so are {', '.join(rest)}" if len(rest) > 1 else f"; so is {rest[0]}" if rest else ""
    where = name if places is None else f"{name}, line {places.line(first)}"
    return PolicyError(
        f"{where}: still to be filled in: {words}{also}; write what is known without looking at the data in the place of "
        f'every "{PLACEHOLDER}", or remove the column.'
    )


def _example(key: str, mechanism: object) -> str:
    known = isinstance(mechanism, str) and mechanism in registry
    return accepts(str(mechanism)).example(key) if known else f"{key} = ..."


def _waits(value: Any) -> bool:
    values = value[:2] if isinstance(value, (list, tuple)) else (value,)
    return any(isinstance(one, str) and one == PLACEHOLDER for one in values)
