r"""Policies: protection, mechanisms and budget, as a TOML file.

>>> policy = Policy.from_toml('''
... dataset = "clinic"
... [budget]
... epsilon = 3
... [[columns]]
... name = "smoker"
... mechanism = "randomised-response"
... categories = ["yes", "no"]
... epsilon = 0.1
... ''')
>>> policy.columns[0].names, policy.columns[0].epsilon, policy.neighbours
(('smoker',), Fraction(1, 10), 'replace')

A policy that cannot be followed is refused with one sentence for each problem, and the line it is on:

>>> try:
...     Policy.from_toml('dataset = "clinic"\n[budget]\nepsilon = -1', name="clinic.toml")
... except PolicyError as error:
...     for problem in error.problems:
...         print(problem)
clinic.toml, line 3: budget.epsilon = -1 must be greater than 0; write a number such as 0.5.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from noisewright._utils.inputs import is_url, open_input
from noisewright.exceptions import PolicyError
from noisewright.mechanisms.registry import registry
from noisewright.policy.diagnostics import (
    Places,
    Report,
    all_problems,
    path_text,
    read_toml,
    spell,
    still_to_fill,
    unfilled,
)
from noisewright.policy.fields import (
    Chance,
    Datasets,
    Distance,
    Edges,
    Filling,
    Flag,
    Groups,
    Labels,
    Name,
    Names,
    Number,
    Pair,
    Parameter,
    Path,
    Positive,
    Problem,
    Renames,
    Text,
    Types,
    Weights,
    Whole,
    jsonable,
    wrong,
)
from noisewright.policy.parameters import beside, tidy
from noisewright.policy.validation import column_rules, policy_rules, query_rules, size_rules, unit_rules
from noisewright.resources import Resource

__all__ = [
    "Aggregate",
    "Budget",
    "ColumnPolicy",
    "LedgerPolicy",
    "Order",
    "Policy",
    "QueryPolicy",
    "UnitPolicy",
    "as_policy",
]


Aggregate = Literal["count", "sum", "mean", "variance", "histogram", "quantile"]
Order = Literal["random", "kept"]
"""Order of released rows: a random one, or the table's, which is public then."""

LARGEST_FILE = 2**20
"""A policy file of more bytes is not read: it is something else."""


Part = TypeVar("Part", bound=BaseModel)


class _Strict(BaseModel):
    """No key that is not known, and nothing changed after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Budget(_Strict):
    """Maximum privacy cost of all releases of a dataset together for one unit, over the life of the ledger."""

    epsilon: Positive = Field(description="The most that all releases may cost one unit together.")
    delta: Chance = Field(default=Fraction(0), description="The extra probability they may have together.")
    also: Datasets = Field(
        default=(), description="Further datasets about the same people; their budgets are charged, too."
    )


class UnitPolicy(_Strict):
    """Whose data are protected: every row alone, or all rows with the same value of ``column`` (at most ``rows`` of them)."""

    column: Text | None = Field(default=None, description="Rows with the same value here belong to one unit.")
    rows: Whole = Field(default=1, description="The most rows of one unit that count.")
    excess: Literal["refuse", "first"] = Field(
        default="refuse", description="A unit with more rows: refuse the release, or use its first rows only."
    )

    @model_validator(mode="after")
    def _rules(self) -> UnitPolicy:
        return _checked(self, unit_rules(self))

    @property
    def drops(self) -> bool:
        """True if rows beyond the bound are left out."""
        return self.column is not None and self.excess == "first"


class LedgerPolicy(_Strict):
    """Ledger of the spends, for the dataset as a whole or for every unit."""

    path: Text | None = Field(
        default=None, description="The file of the ledger, or the URL of its database, without a password."
    )
    scope: Literal["dataset", "unit"] = Field(default="dataset", description="Count for the dataset or for each unit.")


class ColumnPolicy(BaseModel):
    """One column (or several that form one secret, such as a place) perturbed row by row, or kept as it is.

    ``epsilon``: the loss between two values that are at most ``protect`` apart; ``protect`` is "any" (every two values of
    the declared range or set) unless said. Everything else is handed to the mechanism by its own parameter names.
    """

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)
    __pydantic_extra__: dict[str, Parameter] = Field(init=False)

    name: Names = Field(description="The column, or the columns that form one secret.")
    keep: Flag = Field(default=False, description="Release the column as it is, unprotected.")
    mechanism: Text | None = Field(default=None, description="The mechanism that perturbs every row.")
    epsilon: Positive | None = Field(
        default=None, description="The loss between two values that are protected from each other."
    )
    delta: Chance | None = Field(default=None, description="The extra probability, for mechanisms that have one.")
    protect: Distance = Field(
        default="any", description="The distance within which two values are to look alike, or any."
    )
    missing: Literal["refuse", "keep"] = Field(
        default="refuse", description="A missing value: refuse the release, or leave it missing for all to see."
    )
    fill: Filling | None = Field(default=None, description="The value that takes the place of a missing one.")
    other: Filling | None = Field(
        default=None,
        description="The public category that undeclared ones count as; it is one of the declared, or added.",
    )
    folder: Text | None = Field(
        default=None,
        description="The folder of the files that the cells name, such as pictures; relative to this file.",
    )
    rename: Renames | None = Field(default=None, description="The name, or names, in the output.")

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the input."""
        return (self.name,) if isinstance(self.name, str) else self.name

    @property
    def outputs(self) -> tuple[str, ...]:
        """The columns of the output."""
        renamed = self.name if self.rename is None else self.rename
        return (renamed,) if isinstance(renamed, str) else renamed

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the mechanism, in the form its constructor takes (dates in ranges are still dates)."""
        found = dict(self.model_extra or {})
        if len(self.names) > 1 and self.mechanism in registry and registry[self.mechanism or ""].takes.dimension:
            found.setdefault("dimension", len(self.names))
        if self.other is not None and self.other not in found.get("categories", ()):
            found["categories"] = (*found.get("categories", ()), self.other)
        return found

    @model_validator(mode="after")
    def _rules(self) -> ColumnPolicy:
        _checked(self, column_rules(self))
        if self.mechanism is not None and self.model_extra is not None:
            self.model_extra.update(tidy(self.mechanism, self.model_extra)[0])
        return self


class QueryPolicy(_Strict):
    """One answer of the curator, or one for each group."""

    name: Name = Field(description="The name of the answer.")
    aggregate: Aggregate = Field(description="What is computed.")
    column: Text | None = Field(default=None, description="The column it is computed of; a count has none.")
    epsilon: Positive = Field(description="What the answer costs one unit.")
    delta: Chance | None = Field(default=None, description="The extra probability, for mechanisms that have one.")
    mechanism: Text | None = Field(default=None, description="The mechanism, where it is not the usual one.")
    within: Pair | None = Field(default=None, description="The public range; values are clamped to it.")
    where: Text | None = Field(default=None, description="A condition in SQL; only rows that meet it count.")
    by: Groups = Field(default_factory=dict, description="One answer for each group: columns and their public values.")
    values: Labels | None = Field(default=None, description="The public values that a histogram counts.")
    bins: Edges | None = Field(
        default=None, description="How many bins of equal width, or their public edges; a quantile is one of them."
    )
    quantile: Number | None = Field(default=None, description="Which quantile: 0.5 is the median.")
    weights: Weights | None = Field(default=None, description="How epsilon is shared among the parts of the answer.")
    missing: Literal["refuse", "skip"] = Field(
        default="refuse", description="A missing value: refuse the release, or leave the row out."
    )

    @model_validator(mode="after")
    def _rules(self) -> QueryPolicy:
        return _checked(self, query_rules(self))


@dataclass(frozen=True)
class _Source:
    """Origin of a policy; two policies with the same content are the same, wherever they were read from."""

    name: str = field(default="policy", compare=False)
    places: Places | None = field(default=None, compare=False)


class Policy(_Strict):
    """A whole policy; read it with :meth:`load`, :meth:`from_toml`, :meth:`from_dict` or :func:`as_policy`."""

    dataset: Name = Field(description="The name under which the ledger remembers what was spent.")
    budget: Budget = Field(description="What all releases together may cost one unit.")
    data: Text | None = Field(
        default=None, description="The table, where the command does not name one; relative to this file."
    )
    unit: UnitPolicy = Field(default_factory=UnitPolicy, description="Whose data are protected.")
    neighbours: Literal["replace", "add-remove"] = Field(
        default="replace",
        description="What may differ: the values of one unit, or whether it is there at all (queries only).",
    )
    ledger: LedgerPolicy = Field(default_factory=LedgerPolicy, description="Where spends are remembered.")
    types: Types = Field(
        default_factory=dict, description="The types of columns, where the policy does not tell them otherwise."
    )
    floating: Flag = Field(default=False, description="Allow mechanisms whose float draws are not proved.")
    order: Order = Field(
        default="random",
        description="The order of released rows: random, or kept as it is in the table, for all to see.",
    )
    columns: tuple[ColumnPolicy, ...] = Field(default=(), description="Columns that are released row by row.")
    queries: tuple[QueryPolicy, ...] = Field(default=(), description="Answers that are released.")

    _source: _Source = PrivateAttr(default=_Source())

    @model_validator(mode="before")
    @classmethod
    def _neighbours(cls, data: Any) -> Any:
        if isinstance(data, dict) and "neighbours" not in data and not data.get("columns"):
            return {**data, "neighbours": "add-remove"}
        return data

    @model_validator(mode="after")
    def _rules(self) -> Policy:
        return _checked(self, policy_rules(self))

    @classmethod
    def from_toml(cls, text: str, name: str = "policy") -> Policy:
        """The policy that a TOML text holds; ``name`` is its name in errors."""
        data, places = read_toml(text, name)
        return _build(data, name, places)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """The policy in a TOML file."""
        name = os.fspath(path)
        return cls.from_toml(_read_file(name), name)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str = "policy") -> Policy:
        """The policy that a dictionary holds; a float in it is the decimal that Python prints for it."""
        if not isinstance(data, Mapping):
            raise PolicyError(f"{name}: a policy is a table of keys, not {type(data).__name__}.")
        return _build(dict(data), name, None)

    @classmethod
    def schema(cls) -> dict[str, Any]:  # type: ignore[override]
        """The JSON schema of policies, with the mechanisms that are registered now; editors complete and check with it."""
        from noisewright.policy.validation import policy_schema

        return policy_schema(cls)

    def to_json(self) -> dict[str, Any]:
        """The content as plain data that :meth:`from_dict` reads again; exact numbers are text such as "1/10"."""
        content: dict[str, Any] = _plain(self)
        return content

    def __repr__(self) -> str:
        """Short: :meth:`to_json` has everything.

        >>> Policy.from_dict({"dataset": "clinic", "budget": {"epsilon": 3}, "queries": [
        ...     {"name": "visits", "aggregate": "count", "epsilon": 1}]})
        <Policy for 'clinic': 0 columns, 1 query, budget epsilon 3>
        """
        counts = [(len(self.columns), "column", "columns"), (len(self.queries), "query", "queries")]
        parts = ", ".join(f"{many} {one if many == 1 else more}" for many, one, more in counts)
        return f"<Policy for {self.dataset!r}: {parts}, budget epsilon {spell(self.budget.epsilon)}>"

    def digest(self) -> str:
        """The SHA-256 of the content: the same for two files that state the same in other words.

        A public file counts with its own SHA-256 alone, wherever it lies and whatever it is called. Which further budgets are
        charged does not count.
        """
        text = json.dumps(_plain(self.published(), named=False), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def published(self) -> Policy:
        """Return the policy as recipients see it: without the names of further datasets."""
        if not self.budget.also:
            return self
        other = self.model_copy(update={"budget": self.budget.model_copy(update={"also": ()})})
        other._source = self._source
        return other

    def ledger_path(self) -> str | None:
        """The ledger that the policy names, from the folder of its file; None for this user's."""
        return self.ledger.path if is_url(self.ledger.path) else self._beside(self.ledger.path)

    def data_path(self) -> str | None:
        """The data that the policy names, from the folder of its file."""
        return self._beside(self.data)

    def folder_path(self, column: ColumnPolicy) -> str | None:
        """The folder of the files that the cells of a column name, from the folder of the policy's file."""
        return self._beside(column.folder)

    def _beside(self, path: str | None) -> str | None:
        folder = os.path.dirname(self._source.name)
        return path if path is None else os.path.join(folder, os.path.expanduser(path))

    @property
    def relation(self) -> dict[str, Any]:
        """Neighbouring datasets as a record: their relation, the unit, and the maximum number of rows of one unit."""
        relation = "same-rows" if self.neighbours == "replace" else "add-remove"
        return {"relation": relation, "unit": self.unit.column, "rows": self.unit.rows}

    def where(self, *path: str | int) -> str:
        """Return the place of a key, for errors that are found later: ``clinic.toml, line 12: columns[1].within``."""
        return f"{self.line(*path)}: {path_text(path)}"

    def line(self, *path: str | int) -> str:
        """The line of a key without its path, for errors that name the part themselves: ``clinic.toml, line 12``."""
        return Report(self._source.name, None, self._source.places).where(path)


def as_policy(policy: Policy | Mapping[str, Any] | str | os.PathLike[str]) -> Policy:
    """A policy, a dictionary or the path of a TOML file, as a policy.

    >>> as_policy({"dataset": "clinic", "budget": {"epsilon": 1}, "queries": [
    ...     {"name": "visits", "aggregate": "count", "epsilon": 0.5}]}).neighbours
    'add-remove'
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str) and "\n" in policy:
        raise PolicyError("a policy given as text must be the path of a file; use Policy.from_toml for TOML itself.")
    if isinstance(policy, (str, os.PathLike)):
        return Policy.load(policy)
    return Policy.from_dict(policy)


def _build(data: dict[str, Any], name: str, places: Places | None) -> Policy:
    if large := list(size_rules(data)):
        raise Report(name, data, places).error(large[:1])
    if waiting := list(unfilled(data)):
        raise still_to_fill(name, places, waiting)
    placed = beside(data, "" if places is None else os.path.dirname(name))
    try:
        policy = Policy.model_validate(placed)
    except ValidationError as error:
        found = all_problems(placed, error, Policy.model_validate, _keys)
    else:
        policy._source = _Source(name, places)
        return policy
    raise Report(name, data, places).error(found)


_TABLES: dict[str, type[BaseModel]] = {
    "budget": Budget,
    "unit": UnitPolicy,
    "ledger": LedgerPolicy,
    "columns": ColumnPolicy,
    "queries": QueryPolicy,
}


def _keys(path: Path) -> list[str]:
    """The keys of the table at a path."""
    return list((_TABLES[str(path[0])] if path else Policy).model_fields)


def _checked(part: Part, problems: Iterator[Problem]) -> Part:
    found = list(problems)
    if found:
        raise wrong(*found)
    return part


def _plain(part: Any, named: bool = True) -> Any:
    """A model as plain data, without the keys that state nothing; ``named``: with the names of public files."""
    if isinstance(part, BaseModel):
        keys = ("name", "keep", "rename") if isinstance(part, ColumnPolicy) and part.keep else type(part).model_fields
        content = {**{key: getattr(part, key) for key in keys}, **(part.model_extra or {})}
        if isinstance(part, Policy) and part.order == "random":
            del content["order"]  # so that policies have the digest that they had before there was a choice
        if isinstance(part, Budget) and not part.also:
            del content["also"]
        return {key: _plain(value, named) for key, value in content.items() if value is not None}
    if isinstance(part, tuple) and part and isinstance(part[0], BaseModel):
        return [_plain(inner, named) for inner in part]
    if isinstance(part, Resource) and not named:
        return part.sha256
    return jsonable(part)


def _read_file(name: str) -> str:
    """The text of a file, or one sentence that states why none exists."""
    try:
        with open_input(name) as file:
            content = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise PolicyError(f"{name} does not exist; name a policy file such as clinic.toml.") from None
    except IsADirectoryError:
        raise PolicyError(f"{name} is a directory; name a policy file in it, such as clinic.toml.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the name is not that of a file"
        raise PolicyError(f"{name!r} cannot be read ({reason}); name a policy file such as clinic.toml.") from None
    if len(content) > LARGEST_FILE:
        raise PolicyError(f"{name} has more than {LARGEST_FILE >> 20} MiB, and a policy has less; name a TOML file.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PolicyError(f"{name}, line {line}: this is not UTF-8 text; save the file as UTF-8.") from None
