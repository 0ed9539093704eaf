"""From a constructor's signature to options of the command line.

The type of a parameter decides how its text is read, so a mechanism that is new in the registry has its options at once. A
parameter with a default whose type has no text form is left to Python; a required one makes the mechanism Python-only.
"""

from __future__ import annotations

import csv
import re
import types
import typing
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from noisewright import base as signatures
from noisewright.base import described_parameters
from noisewright.channels.channel import Channel
from noisewright.cli.arguments import METRIC_NAMES, check_number, parse_metric
from noisewright.exceptions import ParameterError
from noisewright.metrics.base import MOST_LABELS, Metric, labels_between
from noisewright.numerics.exact import as_fraction, whole_or_fraction
from noisewright.resources import Resource, Seed

__all__ = ["Option", "options_of", "read_labels"]


_AXIS = r"\s*(-?\d{1,9})\.\.(-?\d{1,9})(?:/([1-9]\d{0,8}))?\s*"
_GRID = re.compile(f"{_AXIS}:{_AXIS}", re.ASCII)

PUBLIC = {
    Resource: "A public file that the mechanism needs; the certificate states its SHA-256.",
    Seed: "A public seed: 64 hexadecimal digits, which the certificate states.",
}
"""Descriptions of public parameters whose constructor has none."""

PAIRS = {"reference": ("LATITUDE:LONGITUDE", "48.85:2.35", "one place")}
"""Pairs of numbers that are not intervals: their notation, an example, and their meaning."""


TEXT_FORMS = {
    "METRIC": METRIC_NAMES,
    "A,B,...|LOW..HIGH": "Coordinates are joined by a colon; 0..800/100:0..500/100 is a grid.",
}
"""Text forms of values of some shapes."""


@dataclass(frozen=True)
class Option:
    """Option for a parameter: how it is shown, and how its text becomes a value."""

    name: str
    shape: str
    help: str
    required: bool
    read: Callable[[str], Any]
    flag: bool = False


def options_of(constructor: Callable[..., Any]) -> list[Option] | str:
    """Return the options for a constructor, or the name of a required parameter that only Python can set."""
    hints, described = signatures.hints_of(constructor), described_parameters(constructor)
    found = []
    for name, parameter in signatures.parameters_of(constructor).items():
        required = parameter.default is parameter.empty
        members = _members(hints.get(name, parameter.annotation))
        form = _form(name, members)
        if form is None:
            if required:
                return name
            continue
        shape, read = form
        if isinstance(parameter.default, str):  # a word such as "auto" among numbers
            read = _or_word(parameter.default, read)
        note = described.get(name)
        words = note.help if note else next((PUBLIC[m] for m in members if m in (Resource, Seed)), "")
        words = f"{words} {TEXT_FORMS[shape]}".strip() if shape in TEXT_FORMS else words
        if not required and parameter.default not in (None, ()):
            words = f"{words} Default: {parameter.default}.".strip()
        found.append(Option(name, shape, words, required, read, flag=shape == "flag"))
    return found


def read_labels(text: str, name: str) -> Sequence[Hashable]:
    """``0..100``, ``a,b,c``, ``1,2.5,4`` or ``0:0,0:1`` as labels; all are numbers, all coordinates, or all strings.

    ``0..800/100:0..500/100`` is a grid of places, every 100 both ways.

    >>> read_labels("0..1:0..4/2", "points")
    [(0, 0), (0, 2), (0, 4), (1, 0), (1, 2), (1, 4)]
    """
    if (between := labels_between(text, name)) is not None:
        return between
    if (grid := _GRID.fullmatch(text)) is not None:
        return _places(grid, text, name)
    items = [item.strip() for item in next(csv.reader([text], skipinitialspace=True), [])]
    if not items or not all(items):
        raise ParameterError(f"{name} = {text!r} must be a list such as a,b,c or a range such as 0..100.")
    for convert in (_number_label, _coordinates):
        values = [convert(item) for item in items]
        if None not in values:
            return values
    return items


def _members(hint: Any) -> tuple[Any, ...]:
    """The types that a parameter accepts, without None."""
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return tuple(part for part in (typing.get_args(hint) if union else (hint,)) if part is not type(None))


def _form(name: str, members: tuple[Any, ...]) -> tuple[str, Callable[[str], Any]] | None:
    """Return the text form of a parameter, and the function that reads it; None for a type without a text form."""
    lists = [m for m in members if typing.get_origin(m) in (Iterable, Sequence, Collection, list)]
    pairs = [m for m in members if typing.get_origin(m) is tuple]
    if any(isinstance(m, type) and issubclass(m, Metric) for m in members):
        return "METRIC", parse_metric
    if any(m is Channel for m in members):
        return "FILE", _load_channel
    if Resource in members:
        return "FILE", Resource.at
    if Seed in members:
        return "HEX", lambda text: Seed.from_hex(text, name)
    if any(typing.get_origin(typing.get_args(m)[0]) is tuple for m in lists if typing.get_args(m)):
        return _pair_form(name, [*pairs, *lists])
    if lists:
        return _list_form(name, lists[0], counted=int in members)
    if pairs:
        return _pair_form(name, pairs)
    if members == (bool,):
        return "flag", bool
    if members and all(map(signatures.is_choice, members)):
        choices = [choice for m in members for choice in typing.get_args(m)]
        return "|".join(map(str, choices)), lambda text: _choice(text, name, choices)
    if members == (str,):
        return "TEXT", str
    if _is_number(members):
        return "NUMBER", lambda text: _number(text, name, members)
    return None


def _pair_form(name: str, hints: list[Any]) -> tuple[str, Callable[[str], Any]] | None:
    """One interval ``LOW:HIGH``, or several with commas between them, as the types allow; ``inf`` where ends may be open."""
    shapes = [typing.get_args(hint) for hint in hints]
    single = [s for s in shapes if len(s) == 2 and s[1] is not Ellipsis and _is_number(_members(s[0]))]
    inner = [typing.get_args(s[0]) for s in shapes if s[1:] in ((), (Ellipsis,))]
    several = [s for s in inner if len(s) == 2 and _is_number(_members(s[0]))]
    if not single and not several:
        return None
    ends = (single or several)[0][0]
    is_open = type(None) in typing.get_args(ends)
    shape, example, what = PAIRS.get(name, ("LOW:HIGH", "0:100", "one interval"))

    def read(text: str) -> Any:
        parts = text.split(",")
        if len(parts) > 1 and not several:
            raise ParameterError(
                f"{name} = {text!r} must be {what} with a colon between its numbers, such as {example}."
            )
        found = tuple(_pair(part, name, is_open, example) for part in parts)
        return found if not single or len(found) > 1 else found[0]

    return (shape if not several else f"{shape},..."), read


def _list_form(name: str, hint: Any, counted: bool) -> tuple[str, Callable[[str], Any]] | None:
    inner = _members((typing.get_args(hint) or (Any,))[0])
    if _is_number(inner):
        return "A,B,...", lambda text: [_number(item, name, inner) for item in text.split(",")]
    if not set(inner) & {Hashable, str, Any, object}:
        return None
    if not counted:
        return "A,B,...|LOW..HIGH", lambda text: read_labels(text, name)
    return "A,B,...|COUNT", lambda text: _count(text, name) if text.strip().isdecimal() else read_labels(text, name)


def _is_number(members: tuple[Any, ...]) -> bool:
    return bool(set(members) & {int, float, Fraction}) and set(members) <= {int, float, str, Fraction}


def _number(text: str, name: str, members: tuple[Any, ...]) -> Any:
    value = as_fraction(check_number(text, name), name)
    if str in members:  # the constructor reads it exactly, and its messages show the text as written
        return text.strip()
    if Fraction in members:
        return value
    if float in members:
        return float(value)
    if value.denominator != 1:
        raise ParameterError(f"{name} must be a whole number, not {text}.")
    return int(value)


def _pair(text: str, name: str, is_open: bool, example: str) -> tuple[int | Fraction | None, int | Fraction | None]:
    low, colon, high = (part.strip() for part in text.partition(":"))
    if not colon:
        raise ParameterError(f"{name} = {text!r} must be two numbers with a colon between them, such as {example}.")
    first = None if is_open and low in ("", "-inf") else whole_or_fraction(as_fraction(check_number(low, name), name))
    second = None if is_open and high in ("", "inf") else whole_or_fraction(as_fraction(check_number(high, name), name))
    return first, second


def _or_word(word: str, read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: word if text == word else read(text)


def _count(text: str, name: str) -> int:
    count = int(check_number(text.strip(), name))
    if count > MOST_LABELS:
        raise ParameterError(f"{name} = {text} is too many; {MOST_LABELS} is the limit.")
    return count


def _choice(text: str, name: str, choices: list[Any]) -> Any:
    for choice in choices:
        if str(choice) == text:
            return choice
    raise ParameterError(f"{name} must be one of {', '.join(map(str, choices))}, not {text!r}.")


def _number_label(item: str) -> int | float | None:
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", item):
        return int(item)
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})\.\d{1,30}", item):
        return float(item)
    return None


def _coordinates(item: str) -> tuple[int | float, ...] | None:
    parts = [_number_label(part.strip()) for part in item.split(":")]
    return tuple(part for part in parts if part is not None) if len(parts) > 1 and None not in parts else None


def _places(grid: re.Match[str], text: str, name: str) -> list[Hashable]:
    first, second = (
        range(int(low), int(high) + 1, int(step or 1)) for low, high, step in (grid.groups()[:3], grid.groups()[3:])
    )
    if not 1 <= len(first) * len(second) <= MOST_LABELS:
        raise ParameterError(f"{name} = {text} must go from low to high numbers, over {MOST_LABELS} places at most.")
    return [(x, y) for x in first for y in second]


def _load_channel(path: str) -> Channel:
    from noisewright.io.serialization import load_channel

    return load_channel(path)
