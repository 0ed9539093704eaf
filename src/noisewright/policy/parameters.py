"""Parameters of a column for its mechanism, read from the signature of the mechanism's constructor.

A mechanism that is new in the registry is known here at once: its parameters may be written in a policy under their own
names, except for those that the policy sets itself (:data:`SET_BY`).

>>> accepted = accepts("randomised-response")
>>> accepted.allowed, accepted.required
(('categories',), ('categories',))
>>> tidy("laplace", {"within": ("0.5", 2), "scope": "metric"})
({'within': (Fraction(1, 2), 2), 'scope': 'metric'}, [])
"""

from __future__ import annotations

import datetime
import inspect
import math
import os
import typing
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from pydantic_core import PydanticCustomError

from noisewright.base import (
    DELTA,
    EPSILON,
    RADIUS,
    SENSITIVITY,
    Entry,
    Parameter,
    Takes,
    described_parameters,
    hints_of,
    is_choice,
    parameters_of,
    plain_types,
    public_parts,
)
from noisewright.exceptions import ParameterError, ResourceError
from noisewright.mechanisms.registry import entries, registry
from noisewright.metrics.base import named_metric
from noisewright.numerics.exact import whole_or_fraction
from noisewright.policy.fields import PUBLIC_RANGE, Problem, inner_problems, label, number, place, wrong
from noisewright.resources import Resource, Seed

__all__ = ["EAST", "NORTH", "SET_BY", "Accepts", "accepts", "beside", "offered", "tidy"]


NORTH, EAST = ("lat", "latitude"), ("lon", "lng", "long", "longitude")
"""Names of columns of latitudes and of longitudes."""

_SHARED = {"epsilon": EPSILON, "delta": DELTA, "sensitivity": SENSITIVITY, "radius": RADIUS, "level": EPSILON}
SET_BY = {name: note.policy_key for name, note in _SHARED.items() if note.policy_key is not None}
"""Parameters of constructors and fields of certificates that a policy sets by another key, and that key."""

FILE = Parameter("Public file: a path relative to the policy.", 'FILE = "words.vec"')
PUBLIC_SEED = Parameter("Public seed: 64 hexadecimal digits.", f'SEED = "{"0123456789abcdef" * 4}"')
"""Descriptions of parameters whose constructor has none."""


@dataclass(frozen=True)
class Accepts:
    """The parameters of one mechanism, as a policy sees them, and what it takes."""

    takes: Takes
    allowed: tuple[str, ...]
    required: tuple[str, ...]
    exact: frozenset[str]
    choices: Mapping[str, tuple[Any, ...]]
    files: frozenset[str]
    """Those that are public files."""
    seeds: frozenset[str]
    """Those that are public seeds."""
    described: Mapping[str, Parameter]
    """Meaning of each allowed parameter, where that is known."""

    def example(self, name: str) -> str:
        """Return a line of a policy that sets a parameter."""
        note = self.described.get(name)
        return note.example if note is not None and note.example else f"{name} = ..."


def offered() -> list[str]:
    """Return the mechanisms that a policy may name; reports of a frequency oracle are not values of a column."""
    return [entry.name for entry in entries() if entry.takes.purpose != "report"]


def accepts(mechanism: str) -> Accepts:
    """Return the parameters that the constructor of a registered mechanism takes."""
    return _read(registry[mechanism])


@lru_cache(maxsize=256)
def _read(entry: Entry) -> Accepts:
    hints, found, described = hints_of(entry.make), parameters_of(entry.make), described_parameters(entry.make)
    elsewhere = {name for name, note in described.items() if note.policy_key not in (None, name)} | set(SET_BY)
    allowed = tuple(name for name in found if name not in elsewhere)
    files, seeds = public_parts(entry.make, Resource), public_parts(entry.make, Seed)
    needed = [name for name in allowed if found[name].default is inspect.Parameter.empty]
    return Accepts(
        takes=entry.takes,
        allowed=allowed,
        required=tuple(name for name in needed if not (entry.takes.dimension and name == "dimension")),
        exact=frozenset(name for name in allowed if Fraction in plain_types(hints.get(name))),
        choices={name: typing.get_args(hints[name]) for name in allowed if is_choice(hints.get(name))},
        files=files,
        seeds=seeds,
        described={name: note for name in allowed if (note := described.get(name) or _public(name, files, seeds))},
    )


def _public(name: str, files: frozenset[str], seeds: frozenset[str]) -> Parameter | None:
    if name in files:
        return replace(FILE, example=FILE.example.replace("FILE", name, 1))
    return replace(PUBLIC_SEED, example=PUBLIC_SEED.example.replace("SEED", name, 1)) if name in seeds else None


def beside(data: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """Return a policy as it was given, with paths of public files relative to this folder; other values
    are unchanged.
    """
    columns = data.get("columns")
    if not isinstance(columns, (list, tuple)):
        return dict(data)
    return {**data, "columns": [_beside(c, folder) if isinstance(c, Mapping) else c for c in columns]}


def _beside(column: Mapping[str, Any], folder: str) -> Mapping[str, Any]:
    mechanism = column.get("mechanism")
    if not isinstance(mechanism, str) or mechanism not in registry:
        return column
    paths = {
        name: os.path.join(folder, os.path.expanduser(column[name]))
        for name in accepts(mechanism).files
        if isinstance(column.get(name), (str, os.PathLike)) and os.fspath(column[name])
    }
    return {**column, **paths} if paths else column


def tidy(mechanism: str, given: Mapping[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """The parameters of a mechanism in one form, and their problems.

    Exact parameters become integers and fractions, labels become integers and floats (as data are), the ends of
    ranges may be dates, and an open end is None. Parameters that the mechanism does not take are left out.
    """
    accepted = accepts(mechanism)
    found: dict[str, Any] = {}
    problems: list[Problem] = []
    for name in (name for name in given if name in accepted.allowed):
        try:
            found[name] = _in_form(name, given[name], accepted)
        except PydanticCustomError as error:
            problems += inner_problems(error, name)
    return found, problems


def _in_form(name: str, value: Any, accepted: Accepts) -> Any:
    if name in ("within", "excluding"):
        return _ranges(value, gaps=name == "excluding")
    if name in accepted.files:
        return _file(value)
    if name in accepted.seeds:
        return _seed(value)
    if name == "metric":
        return _metric(value)
    if name in accepted.choices and value not in accepted.choices[name]:
        raise wrong(f"must be {_either(accepted.choices[name])}")
    return _numbers(value, exact=name in accepted.exact)


def _file(value: Any) -> Resource:
    """A public file: a path, or its name, digest and size as a lock has them."""
    if isinstance(value, Resource):
        return value
    try:
        if isinstance(value, dict):
            size = value.get("bytes")
            return Resource.from_json({**value, "bytes": int(size) if isinstance(size, Decimal) else size})
        if isinstance(value, str):
            return Resource.at(value)
    except (ParameterError, ResourceError) as error:
        raise wrong(f"is refused: {str(error).rstrip('.')}") from None
    raise wrong('must be the path of a public file; write text such as "words.vec", relative to the policy')


def _seed(value: Any) -> Seed:
    if isinstance(value, Seed):
        return value
    try:
        return Seed.from_hex(value)
    except ParameterError:
        raise wrong("must be a public seed: text of 64 hexadecimal digits") from None


def _metric(value: Any) -> str:
    if not isinstance(value, str):
        raise wrong('must be the name of a metric; write text such as "line" or "discrete"')
    try:
        named_metric(value)
    except ParameterError as error:
        raise wrong(f"is refused: {str(error).rstrip('.')}") from None
    return value


def _numbers(value: Any, exact: bool) -> Any:
    """Exact numbers, or labels as data have them."""
    if isinstance(value, tuple):
        return tuple(_numbers(part, exact) for part in value)
    if isinstance(value, dict):
        if exact:
            raise wrong("must be a number or a list of numbers, not a table")
        return {key: _numbers(part, exact) for key, part in value.items()}
    if value is None:
        raise wrong("must not be null; remove the key")
    if not isinstance(value, (Decimal, Fraction)) and not (exact and isinstance(value, str)):
        return value
    if not exact:
        return label(value)
    try:
        return whole_or_fraction(number(value))
    except PydanticCustomError:
        if isinstance(value, str):  # a word such as "auto"
            return value
        raise


MOST_INTERVALS = 1_000


def _ranges(value: Any, gaps: bool) -> Any:
    """An interval or several, with ends that are exact numbers, dates, or None where the interval is open."""
    teach = "write gaps such as [[213, 244]]" if gaps else "write the lower end first, such as [0, 120]"
    if isinstance(value, str) and not gaps:
        raise wrong(PUBLIC_RANGE)
    if not isinstance(value, tuple):
        raise wrong(f"must be a list of ends; {teach}")
    if len(value) > MOST_INTERVALS:
        raise wrong(f"has {len(value):,} intervals, and {MOST_INTERVALS:,} are the most; {teach}")
    if value and all(isinstance(part, tuple) for part in value):
        for position, part in enumerate(value):
            if len(part) != 2 or any(isinstance(end, tuple) for end in part):
                raise wrong(((position,), f"must be a list of two ends; {teach}"))
        return tuple(_interval(part, (position,), gaps) for position, part in enumerate(value))
    if gaps or len(value) != 2 or any(isinstance(part, tuple) for part in value):
        raise wrong(f"must be {'' if gaps else 'two ends or '}a list of pairs of ends; {teach}")
    return _interval(value, (), gaps)


def _interval(pair: tuple[Any, ...], path: tuple[int, ...], gaps: bool) -> tuple[Any, Any]:
    low, high = _end(pair[0], -math.inf, path), _end(pair[1], math.inf, path)
    if low is None or high is None:
        return low, high
    days = isinstance(low, datetime.date) and not isinstance(low, datetime.datetime)
    try:
        # A gap of dates is given by its first and its last day, which may be the same day.
        rising = bool(low <= high if gaps and days else low < high)
    except TypeError:  # a number and a date, a date and a time, or a local time and one with an offset
        raise wrong((path, "must have two ends of one kind; write two numbers, two dates or two times")) from None
    if not rising:
        raise wrong((path, "must have its lower end first; write a range such as [0, 120]"))
    return low, high


def _end(value: Any, open_at: float, path: tuple[int, ...]) -> Any:
    if value is None or (isinstance(value, Decimal) and value == Decimal(open_at)):
        return None
    try:
        found = place(value)
        return whole_or_fraction(found) if isinstance(found, Fraction) else found
    except PydanticCustomError:
        words = "must have ends that are numbers or dates (inf for an open upper end, -inf for an open lower one)"
        raise wrong((path, words)) from None


def _either(choices: tuple[Any, ...]) -> str:
    words = [f'"{choice}"' for choice in choices]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
