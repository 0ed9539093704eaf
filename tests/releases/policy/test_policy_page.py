"""The page on policies says what is true: its examples are policies, and its tables name every key."""

from __future__ import annotations

import re
from pathlib import Path

from docs.make_policy import page_text, parameter_rows

from noisewright.policy.policy import Budget, ColumnPolicy, LedgerPolicy, Policy, QueryPolicy, UnitPolicy

PAGE = (Path(__file__).parents[3] / "docs/policy.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, str]:
    """The first two cells of every row of the table whose first heading is ``heading``."""
    table = PAGE.split(f"| {heading} |", 1)[1].split("\n\n", 1)[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE))


def test_the_example_is_a_policy() -> None:
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (policy,) = [Policy.from_toml(text) for language, text in blocks if not language]
    assert [column.outputs for column in policy.columns] == [
        ("age",),
        ("visit",),
        ("lat", "lon"),
        ("smoker_noisy",),
        ("ward",),
    ]
    assert policy.queries[0].by == {"ward": ("north", "south")}


def test_every_key_is_explained_in_the_order_of_the_models() -> None:
    for heading, model in (
        ("key", Policy),
        ("key of `[budget]`", Budget),
        ("key of `[ledger]`", LedgerPolicy),
        ("key of `[unit]`", UnitPolicy),
        ("key of `[[columns]]`", ColumnPolicy),
        ("key of `[[queries]]`", QueryPolicy),
    ):
        assert list(rows(heading)) == list(model.model_fields), heading


def test_the_table_of_parameters_is_that_of_the_constructors() -> None:
    assert page_text(PAGE) == PAGE, "run python docs/make_policy.py"
    assert {row.split("`")[1] for row in parameter_rows()} >= {"within", "categories", "model", "distortion"}
