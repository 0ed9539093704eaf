"""A policy that is being written in fields: one form for each column of a table, and the TOML text that they make.

Typed text stays text. A field that is still empty becomes the library's own mark for it, so the sentence that asks for a
missing value is the library's, too.

>>> column = Column(("age",), "integer", "whole numbers", "geometric", {"low": "0", "high": "", "protect": "5", "epsilon": "1"})
>>> print(policy_text(Form("clinic", "3", (column,))))
dataset = "clinic"
<BLANKLINE>
[budget]
epsilon = 3
<BLANKLINE>
[[columns]]
name = "age"
mechanism = "geometric"
within = [0, "FILL IN"]
protect = 5
epsilon = 1
<BLANKLINE>
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from noisewright.exceptions import ParameterError
from noisewright.mechanisms.registry import foreign
from noisewright.numerics.exact import fraction_or_none
from noisewright.policy.diagnostics import PLACEHOLDER
from noisewright.policy.parameters import accepts, offered
from noisewright.releases.policy_template import Proposal, Start

__all__ = [
    "EMBEDDING",
    "EXAMPLES",
    "KEPT",
    "Column",
    "Example",
    "Field",
    "Form",
    "fields_of",
    "mechanisms_for",
    "policy_text",
    "rebalanced",
    "starting_form",
]


KEPT = "keep"
"""Entry in the place of a mechanism: the column is released as it is."""
LINE = ("integer", "number", "date", "time")
SECRETS = {
    "text": ("category", "document"),
    "boolean": ("category",),
    "place": ("place",),
    "vector": ("vector",),
    "bytes": ("image",),
}
"""The secrets that columns of a type can hold, for types whose values lie on no line."""
EMBEDDING = "small.nwe"
"""The public file of word vectors that documents are drawn with here; it lies next to the policy."""
STEPS = 1000
"""Sliders move epsilons in steps of a thousandth."""

_NUMBER = re.compile(r"[-+]?(\d+(\.\d+)?)([eE][-+]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[-+]\d\d:\d\d)?)?")
_TYPED = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*")


@dataclass(frozen=True)
class Field:
    """Field to fill in: its key in a form, its name, and a description of its value."""

    key: str
    label: str
    hint: str = ""
    public: bool = False
    """True if it must be known without looking at the data."""
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column, or several that form one secret, and typed text about it; without a mechanism it is left out."""

    names: tuple[str, ...]
    kind: str
    words: str
    mechanism: str = ""
    given: Mapping[str, str] | None = None

    @property
    def title(self) -> str:
        """Its name, or its names."""
        return ", ".join(self.names)

    @property
    def has_delta(self) -> bool:
        """True if its mechanism has a delta."""
        return self.protected and accepts(self.mechanism).takes.delta

    @property
    def protected(self) -> bool:
        """True if it has a mechanism, and so a part of the budget."""
        return self.mechanism not in ("", KEPT)

    def value(self, key: str) -> str:
        """Return the typed value, or nothing."""
        return (self.given or {}).get(key, "")

    def having(self, **given: str) -> Column:
        """The same with something else typed."""
        return replace(self, given={**(self.given or {}), **given})


@dataclass(frozen=True)
class Form:
    """Everything that is typed about a release."""

    dataset: str
    budget: str
    columns: tuple[Column, ...]
    delta: str = ""
    """The delta of the budget, for mechanisms that have one."""
    unit: str = ""
    """The column that states whose a row is; every row is someone's own without it."""
    rows: str = ""
    more: str = ""
    """More of the policy, as TOML: answers, say."""

    def having(self, column: Column) -> Form:
        """The same with one column as given."""
        return replace(self, columns=tuple(column if c.names == column.names else c for c in self.columns))

    def typed(self) -> str:
        """All that is typed, in one line, for a link."""
        held = {**asdict(self), "columns": [[c.names, c.mechanism, c.given or {}] for c in self.columns]}
        return json.dumps(held, ensure_ascii=False, separators=(",", ":"))

    def retyped(self, text: str) -> Form:
        """Return this form with the content of a link; the columns are the table's, whatever the link says."""
        try:
            held = json.loads(text)
            columns = {tuple(names): (str(mechanism), given) for names, mechanism, given in held["columns"]}
            found = []
            for column in self.columns:
                mechanism, given = columns.get(column.names, (column.mechanism, column.given or {}))
                known = {f.key for f in fields_of(column.kind, mechanism)}
                fits = mechanism in ("", KEPT, *mechanisms_for(column.kind))
                typed = {str(k): str(v) for k, v in given.items() if k in known}
                found.append(replace(column, mechanism=mechanism, given=typed) if fits else column)
            parts = {key: str(held[key]) for key in ("dataset", "budget", "delta", "unit", "rows", "more")}
            return replace(self, columns=tuple(found), **parts)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise ParameterError("the link holds no policy that could be read; fill in the fields anew.") from None


def starting_form(start: Start, dataset: str, budget: str = "3") -> Form:
    """The fields of a table, as far as the library proposes values."""
    return Form(dataset, budget, tuple(_column(p, start.share) for p in start.proposals))


def _column(proposal: Proposal, share: str) -> Column:
    given = {"epsilon": share, "protect": {"date": "7 days", "time": "1 hour", "place": "500"}.get(proposal.kind, "")}
    if proposal.kind == "boolean":
        given["categories"] = "true,false"
    known = {f.key for f in fields_of(proposal.kind, proposal.mechanism or "")}
    typed = {key: text for key, text in given.items() if key in known and text}
    return Column(proposal.names, proposal.kind, proposal.words, proposal.mechanism or "", typed)


def mechanisms_for(kind: str) -> list[str]:
    """Return the mechanisms of a policy that suit a column of this type, given what can be typed here.

    A mechanism fits if it takes such values and each parameter that it needs has a field of its own here. Mechanisms of
    other packages get a plain field for each further parameter, from its description.
    """
    if kind in LINE:
        wanted = ("number", "integer") if kind == "integer" else ("number",)
        found = [
            name
            for name in offered()
            if (a := accepts(name)).takes.kind in wanted and (a.takes.within or foreign([name]))
        ]
        found += ["randomised-response"] if kind == "integer" else []
    else:
        found = [name for name in offered() if accepts(name).takes.kind in SECRETS.get(kind, ())]
    return [name for name in found if accepts(name).takes.priced and _can_be_typed(kind, name)]


def _can_be_typed(kind: str, mechanism: str) -> bool:
    """Return whether the fields of a mechanism give everything that it needs."""
    accepted = accepts(mechanism)
    if kind == "place" and "reference" not in accepted.allowed:
        return False  # columns of places hold degrees
    further = set(accepted.required) - _OWN_FIELDS
    return not further or (bool(foreign([mechanism])) and not further & accepted.files)


_OWN_FIELDS = frozenset(
    ("categories", "within", "reference", "width", "height", "size", "dimension", "outside", "embedding")
)
"""Parameters that have fields of their own, or none."""


def fields_of(kind: str, mechanism: str) -> list[Field]:
    """Return the fields requested for a column of this kind under this mechanism."""
    if mechanism in ("", KEPT):
        return []
    accepted = accepts(mechanism)
    found: list[Field] = []
    if "categories" in accepted.allowed:
        found.append(Field("categories", "all possible values", "separated by commas", True))
    if "within" in accepted.allowed:
        what = {"date": "day", "time": "time"}.get(kind, "value")
        least, most = ("first", "last") if what != "value" else ("least", "largest")
        example = {"date": "as 2025-01-31", "time": "as 2025-01-31T09:00:00"}.get(kind, "")
        found += [Field("low", f"{least} possible {what}", example, True)]
        found += [Field("high", f"{most} possible {what}", example, True)]
    if "reference" in accepted.allowed:
        found += [Field("latitude", "latitude of a place near all", "in degrees", True)]
        found += [Field("longitude", "longitude of a place near all", "in degrees", True)]
    if "width" in accepted.allowed:
        found += [Field("width", "pixels that pictures are wide", "others are resized", True)]
        found += [Field("height", "pixels that they are high", "", True)]
    if accepted.takes.kind == "document":
        found.append(Field("size", "words that come out of each text", "the same number for all", True))
    if accepted.takes.kind not in ("category", "image"):
        near = {"place": "metres", "date": "as 7 days", "time": "as 1 hour", "text": "in distances of words, as 4"}.get(
            kind, "or any: all values"
        )
        found.append(Field("protect", "values this far apart look alike", near))
    if "dimension" in accepted.allowed and kind == "vector":
        found.append(Field("dimension", "how many numbers each has", "", True))
    if "outside" in accepted.allowed and "within" in accepted.allowed:
        found.append(Field("outside", "a value outside of the range", choices=("refuse", "clamp")))
    found += [
        Field(name, name.replace("_", " "), f"{note.help} {note.example}".strip(), True, accepted.choices.get(name, ()))
        for name, note in accepted.described.items()
        if name in accepted.required and name not in _OWN_FIELDS and name not in accepted.files
    ]
    found.append(Field("missing", "a missing value", choices=("refuse", "keep")))
    if accepted.takes.delta:
        found.append(Field("delta", "delta of this column", "as 1e-6"))
    found.append(Field("epsilon", "epsilon"))
    return found


# The text -----------------------------------------------------------------------------------------------------------------


def policy_text(form: Form) -> str:
    """The policy as a TOML file."""
    lines = [f"dataset = {_text(form.dataset)}", "", "[budget]", f"epsilon = {_literal(form.budget)}"]
    if form.delta.strip():
        lines.append(f"delta = {_literal(form.delta)}")
    if form.unit:
        lines += ["", "[unit]", f"column = {_text(form.unit)}", f"rows = {_literal(form.rows or '1')}"]
    for column in form.columns:
        lines += _lines(column)
    more = form.more.strip()
    if more and not _TYPED.fullmatch(more):
        raise ParameterError("the lines that are added to the policy hold signs that no text has; type them anew.")
    return "\n".join([*lines, *(["", more] if more else []), ""])


def _lines(column: Column) -> Iterator[str]:
    if not column.mechanism:
        return
    names = ", ".join(map(_text, column.names))
    yield from ("", "[[columns]]", f"name = {names}" if len(column.names) == 1 else f"name = [{names}]")
    if column.mechanism == KEPT:
        yield "keep = true"
        return
    yield f"mechanism = {_text(column.mechanism)}"
    takes = accepts(column.mechanism).takes.kind
    yield from {"document": [f"embedding = {_text(EMBEDDING)}"], "image": ['fit = "resize"']}.get(takes, ())
    for field in fields_of(column.kind, column.mechanism):
        value = column.value(field.key).strip()
        if field.key == "categories":
            yield f"categories = [{', '.join(_labels(value, column.kind))}]"
        elif field.key in ("low", "latitude"):
            key, other = ("within", "high") if field.key == "low" else ("reference", "longitude")
            yield f"{key} = [{_literal(value)}, {_literal(column.value(other).strip())}]"
        elif field.choices:
            if value in field.choices[1:] or field.key not in ("outside", "missing"):
                yield f"{field.key} = {_text(value or field.choices[0])}"
        elif field.key in _OWN_FIELDS or "," not in value:
            if field.key not in ("high", "longitude"):
                yield f"{field.key} = {_literal(value)}"
        else:
            yield f"{field.key} = [{', '.join(map(_literal, value.split(',')))}]"


def _labels(text: str, kind: str) -> list[str]:
    line = " ".join(text.split())
    found = [item.strip() for item in next(csv.reader([line], skipinitialspace=True), [])]
    if kind == "boolean":
        return [item if item in ("true", "false") else _text(item) for item in found] or [_text(PLACEHOLDER)]
    return [_literal(item) if kind in LINE else _text(item) for item in found if item] or [_text(PLACEHOLDER)]


def _literal(text: str) -> str:
    """A number or a day as TOML has it; whatever else is typed, as text, of which the library then reports the problem."""
    typed = text.strip()
    if not typed:
        return _text(PLACEHOLDER)
    if _NUMBER.fullmatch(typed):
        return re.sub(r"^([-+]?)0+(?=\d)", r"\1", typed)
    return typed.replace(" ", "T", 1) if _DATE.fullmatch(typed) else _text(typed)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


# What if ------------------------------------------------------------------------------------------------------------------


def rebalanced(shares: Sequence[str], moved: int, wanted: str) -> list[str]:
    """The epsilons when one of them becomes what is wanted and all together stay what they are, in steps of a thousandth.

    The others keep their proportions, and each keeps a step at least.

    >>> rebalanced(["1", "1", "1"], 0, "2")
    ['2', '0.5', '0.5']
    >>> rebalanced(["0.5", "0.25", "0.25"], 1, "0.7")
    ['0.2', '0.7', '0.1']
    """
    given = [fraction_or_none(text) for text in (*shares, wanted)]
    if any(value is None or value <= 0 for value in given):
        raise ParameterError("every epsilon must be a number above 0 before one is traded for another.")
    steps = [max(1, round(value * STEPS)) for value in given if value is not None]
    before, new = steps[:-1], steps[-1]
    total, others = sum(before), [i for i in range(len(before)) if i != moved]
    if not others:
        return [shares[0]]
    new = min(new, total - len(others))
    rest, weight = total - new, sum(before[i] for i in others)
    free = rest - len(others)  # beyond the step that each keeps
    found = {i: 1 + before[i] * free // weight for i in others}
    by_need = sorted(others, key=lambda i: -(before[i] * free % weight))
    for i in by_need[: rest - sum(found.values())]:
        found[i] += 1
    return [_decimal(Fraction(new if i == moved else found[i], STEPS)) for i in range(len(before))]


def _decimal(value: Fraction) -> str:
    return f"{float(value):.3f}".rstrip("0").rstrip(".")


def total_of(shares: Sequence[str]) -> Fraction | None:
    """Return the sum of epsilons, where all of them are numbers."""
    found: Any = [fraction_or_none(text) for text in shares]
    return None if any(value is None for value in found) else sum(found, Fraction(0))


# Examples -----------------------------------------------------------------------------------------------------------------
#
# Two made-up tables to try things with, and the public facts about them. Nothing in them is about a real person.


TOWNS = {"north": (53.52, -2.21), "west": (53.44, -2.29), "south": (53.41, -2.16), "east": (53.38, -2.09)}
DIAGNOSES = ("asthma", "back pain", "diabetes", "fracture", "infection", "other")


@dataclass(frozen=True)
class Example:
    """Table that is made on the spot, with the public facts about it."""

    title: str
    words: str
    make: Callable[[], pa.Table]
    known: Mapping[str, Mapping[str, str]]
    """Public facts, by the names of columns and of fields."""


def _clinic() -> pa.Table:
    """Last visits of patients; the older, the more often diabetes and the less often smoking."""
    rng, rows = np.random.default_rng(2025), 5000
    age = np.clip(rng.normal(52, 21, rows), 0, 104).astype(np.int64)
    town = rng.integers(len(TOWNS), size=rows)
    place = np.array(list(TOWNS.values()))[town] + rng.normal(0, 0.012, (rows, 2))
    usual = rng.integers(len(DIAGNOSES), size=rows)
    diagnosis = np.where((age > 60) & (rng.random(rows) < 0.3), DIAGNOSES.index("diabetes"), usual)
    days = np.datetime64("2025-01-07") + rng.integers(340, size=rows)
    return pa.table(
        {
            "patient_id": pa.array(np.char.add("P", (100_000 + rng.permutation(rows)).astype(str))),
            "age": pa.array(age),
            "town": pa.array(np.array(list(TOWNS))[town]),
            "diagnosis": pa.array(np.array(DIAGNOSES)[diagnosis]),
            "visit_date": pa.array(days),
            "smoker": pa.array(rng.random(rows) < np.where(age > 60, 0.09, 0.23)),
            "latitude": pa.array(place[:, 0].round(5)),
            "longitude": pa.array(place[:, 1].round(5)),
        }
    )


def _commuters() -> pa.Table:
    """Return a table of commuting: minutes of travel by means, and days at home."""
    rng, rows = np.random.default_rng(7), 2000
    means = rng.choice(4, rows, p=[0.45, 0.25, 0.2, 0.1])
    minutes = rng.gamma(4, np.array([8.0, 11.0, 5.0, 4.0])[means])
    return pa.table(
        {
            "means": pa.array(np.array(["car", "train", "bicycle", "on foot"])[means]),
            "minutes": pa.array(np.clip(minutes, 1, 180).round(1)),
            "days_at_home": pa.array(rng.binomial(5, 0.35, rows)),
        }
    )


EXAMPLES = {
    "clinic": Example(
        "A clinic",
        "5,000 made-up patients: age, town, diagnosis, day of the visit, smoking, where they live",
        _clinic,
        {
            "age": {"low": "0", "high": "110", "protect": "5"},
            "town": {"categories": "north,west,south,east"},
            "diagnosis": {"categories": ",".join(DIAGNOSES)},
            "visit_date": {"low": "2025-01-01", "high": "2025-12-31", "protect": "7 days"},
            "latitude": {"latitude": "53.45", "longitude": "-2.2", "protect": "500"},
        },
    ),
    "commuters": Example(
        "Commuters",
        "2,000 made-up people: how they come to work, how long it takes, days at home",
        _commuters,
        {
            "means": {"categories": "car,train,bicycle,on foot"},
            "minutes": {"low": "0", "high": "180", "protect": "15"},
            "days_at_home": {"low": "0", "high": "5", "protect": "1"},
        },
    ),
}
