"""The JSON schema: what the code generates is what is kept, and it agrees with what is read."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from test_policy_reading import CLINIC

from noisewright.exceptions import PolicyError
from noisewright.mechanisms.categorical.frequency_oracle import ORACLES
from noisewright.mechanisms.registry import names, without_epsilon
from noisewright.policy.parameters import accepts, offered
from noisewright.policy.policy import Policy

ROOT = Path(__file__).parents[3]
SCHEMA = Policy.schema()
CHECK = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
HEAD = {"dataset": "d", "budget": {"epsilon": 3}}
AGE = {"name": "age", "mechanism": "laplace", "within": [0, 120], "epsilon": 1}
MEAN = {"name": "m", "aggregate": "mean", "column": "age", "within": [0, 120], "epsilon": 1}


def as_json(text: str) -> Any:
    """A TOML text as an editor with a schema sees it: dates are text, and an open end is null."""
    data = json.loads(json.dumps(tomllib.loads(text), default=str))
    return json.loads(json.dumps(data).replace("-Infinity", "null").replace("Infinity", "null"))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_in_the_documentation_is_what_the_code_generates() -> None:
    kept = (ROOT / "docs/policy.schema.json").read_text(encoding="utf-8")
    assert json.loads(kept) == SCHEMA


def test_every_key_has_a_title_and_a_description() -> None:
    tables = {"the policy": SCHEMA, **SCHEMA["$defs"]}
    for name, table in tables.items():
        assert table["title"], name
        assert table["description"], name
        for key, described in table["properties"].items():
            assert described["description"].strip(), f"{name}.{key}"
            assert "title" in described or "$ref" in described or key in ("unit", "ledger", "budget"), f"{name}.{key}"


def test_every_parameter_of_every_mechanism_has_words_and_an_example_that_is_read() -> None:
    for mechanism in [*offered(), *without_epsilon()]:
        accepted = accepts(mechanism)
        assert set(accepted.described) == set(accepted.allowed)
        for name, note in accepted.described.items():
            assert note.help.endswith(".")
            assert list(tomllib.loads(note.example)) == [name]


def test_the_mechanisms_are_those_of_the_registry() -> None:
    for table, more in (("ColumnPolicy", ["learned"]), ("QueryPolicy", [])):
        assert SCHEMA["$defs"][table]["properties"]["mechanism"]["enum"] == [
            *(name for name in names() if name not in ORACLES),
            *more,
        ]


EXAMPLES = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").rglob("policy*.toml"))]


@pytest.mark.parametrize("text", [CLINIC, *EXAMPLES])
def test_policies_that_are_read_fit_the_schema(text: str) -> None:
    data = as_json(text)
    assert [error.message for error in CHECK.iter_errors(data)] == []
    assert Policy.from_dict(data).digest() == Policy.from_toml(text).digest()


def test_what_a_policy_writes_fits_the_schema() -> None:
    assert [error.message for error in CHECK.iter_errors(Policy.from_toml(CLINIC).to_json())] == []


@pytest.mark.parametrize(
    "data",
    [
        {"budget": {"epsilon": 1}, "columns": [AGE]},
        HEAD,
        {**HEAD, "columns": [{**AGE, "epsilom": 1}]},
        {**HEAD, "columns": [{**AGE, "epsilon": -1}]},
        {**HEAD, "columns": [{**AGE, "sensitivity": 1}]},
        {**HEAD, "columns": [{**AGE, "categories": ["a"]}]},
        {**HEAD, "columns": [{**AGE, "mechanism": "laplas"}]},
        {**HEAD, "columns": [{**AGE, "within": "data"}]},
        {**HEAD, "columns": [{**AGE, "scope": "both"}]},
        {**HEAD, "columns": [{**AGE, "keep": True}]},
        {**HEAD, "columns": [{"name": "age"}]},
        {**HEAD, "columns": [{"name": "age", "mechanism": "gaussian", "within": [0, 1], "epsilon": 1}]},
        {**HEAD, "columns": [{"name": "age", "mechanism": "randomised-response", "epsilon": 1}]},
        {**HEAD, "columns": [{"name": ["a", "b"], "mechanism": "planar-laplace", "epsilon": 1}]},
        {**HEAD, "queries": [{**MEAN, "aggregate": "median"}]},
        {**HEAD, "queries": [{**MEAN, "within": [0]}]},
        {**HEAD, "queries": [{**MEAN, "weights": [1, 0]}]},
        {**HEAD, "queries": [{**MEAN, "by": ["ward"]}]},
        {**HEAD, "queries": [{k: v for k, v in MEAN.items() if k != "epsilon"}]},
        {**HEAD, "queries": [MEAN], "unit": {"rows": 0}},
        {**HEAD, "queries": [MEAN], "neighbours": "any"},
        {**HEAD, "budget": {"epsilon": 1, "delta": 1}, "queries": [MEAN]},
    ],
)
def test_what_the_schema_refuses_is_refused_by_the_reader_too(data: Any) -> None:
    assert not CHECK.is_valid(data)
    with pytest.raises(PolicyError):
        Policy.from_dict(data)


@pytest.mark.parametrize("name", offered())
def test_a_column_of_every_mechanism_fits_schema_and_reader(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = accepts(name)
    examples = tomllib.loads("\n".join(accepted.example(p) for p in accepted.required))
    monkeypatch.chdir(tmp_path)
    for file in accepted.files & set(examples):
        Path(examples[file]).write_bytes(b"a public file")
    column: dict[str, Any] = {"name": ["a", "b"], "mechanism": name, "protect": 1, **examples}
    if accepted.takes.priced:
        column["epsilon"] = 1
    if accepted.takes.delta:
        column["delta"] = 1e-6
    data = {**HEAD, "budget": {"epsilon": 3, "delta": 1e-5}, "columns": [column]}
    assert [error.message for error in CHECK.iter_errors(data)] == []
    assert Policy.from_dict(data).columns[0].mechanism == name
    for key in accepted.required:
        short = {**data, "columns": [{k: v for k, v in column.items() if k != key}]}
        assert not CHECK.is_valid(short)
        with pytest.raises(PolicyError, match=rf"columns\[0\]\.{key} is missing: {name} needs it"):
            Policy.from_dict(short)
