"""A kind of value that a policy is written in: how it is read, what a schema says of it, and how JSON has it.

A reader raises :func:`wrong` with the end of a sentence, which begins with the key: *must be greater than 0; write ...*
Pydantic carries it to the top, with the path to the key.

>>> def even(value: int) -> int:
...     if value % 2:
...         raise wrong("must be even; write a number such as 2")
...     return value
>>> list(each([2, 4], even))
[2, 4]
>>> try:
...     list(each([2, 3], even))
... except PydanticCustomError as error:
...     inner_problems(error, "doors")
[(('doors', 1), 'must be even; write a number such as 2')]
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from noisewright.core.resource import Resource
from noisewright.core.seed import Seed
from noisewright.releases.kinds.spans import Span
from noisewright.releases.policy._locate import Path

__all__ = ["LONGEST_LIST", "Problem", "ValueType", "each", "inner_problems", "jsonable", "listed", "plain", "wrong"]

Problem = tuple[Path, str]
"""Place of a problem, and the end of the sentence about it."""

LONGEST_LIST = 10_000_000
"""No mechanism takes more labels than this."""


@dataclass(frozen=True, eq=False)
class ValueType:
    """A kind of value for Pydantic: how it is read, how a schema describes it, and how it is written as JSON."""

    read: Callable[[Any], Any]
    schema: dict[str, Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        written = core_schema.plain_serializer_function_ser_schema(jsonable, when_used="json")
        return core_schema.no_info_plain_validator_function(self.read, serialization=written)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: Any) -> dict[str, Any]:
        return dict(self.schema)


def wrong(*problems: Problem | str) -> PydanticCustomError:
    """The error that carries problems through a validation; a string is about the value itself."""
    told = [((), problem) if isinstance(problem, str) else problem for problem in problems]
    return PydanticCustomError("wrong", "see the problems", {"problems": told})


def inner_problems(error: PydanticCustomError, *head: str | int) -> list[Problem]:
    """Return the problems that a :func:`wrong` carries, with paths that begin with ``head``."""
    return [((*head, *path), told) for path, told in (error.context or {})["problems"]]


def each(values: Iterable[Any], read: Callable[[Any], Any]) -> Iterator[Any]:
    """Every value of a list, read; a problem is given with the position it is at."""
    for position, value in enumerate(values):
        try:
            yield read(value)
        except PydanticCustomError as error:
            raise wrong(*inner_problems(error, position)) from None


def listed(value: Any, teach: str) -> Iterable[Any]:
    """A list that is not too long; ``teach`` says what to write instead."""
    value = plain(value)
    if not isinstance(value, (list, tuple, range)) or len(value) > LONGEST_LIST:
        raise wrong(f"must be a list; {teach}")
    return value


def plain(value: Any) -> Any:
    """numpy's numbers and arrays as Python's own."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.item() if isinstance(value, np.generic) else value


def jsonable(value: Any) -> Any:
    """Return the JSON form of a value of a policy: exact numbers are integers or text such as "1/10"."""
    if isinstance(value, (tuple, list)):
        return [jsonable(part) for part in value]
    if isinstance(value, dict):
        return {key: jsonable(part) for key, part in value.items()}
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if isinstance(value, Span):
        return str(value)
    if isinstance(value, Seed):
        return value.hex
    if isinstance(value, Resource):
        return value.to_json()
    return value.isoformat() if isinstance(value, datetime.date) else value
