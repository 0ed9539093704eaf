"""Fields of the studio's release page follow from the constructors of mechanisms, also those of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import pytest

import noisewright as nw
from noisewright.base import EPSILON, Entry, Parameter, Takes
from noisewright.cli.app import run
from noisewright.mechanisms.registry import forget, register
from noisewright.policy.policy import Policy
from noisewright.studio.services.policies import Column, Form, fields_of, mechanisms_for, policy_text

POINTS = Parameter("Number of points of a star.", "points = 5")


def stars(
    *,
    epsilon: Annotated[float, EPSILON],
    points: Annotated[int, POINTS],
    colour: Annotated[Literal["gold", "silver"], Parameter("Colour of a star.", 'colour = "gold"')],
) -> nw.Mechanism:
    return nw.geometric(epsilon=epsilon)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register(Entry("stars", stars, Takes("integer"), summary="stars", words="whole numbers"))
    yield
    forget("stars")


def test_a_registered_mechanism_has_a_field_for_each_parameter() -> None:
    assert "stars" in mechanisms_for("integer")
    hints = {field.key: field.hint for field in fields_of("integer", "stars")}
    assert hints["points"] == "Number of points of a star. points = 5"
    column = Column(("n",), "integer", "whole numbers", "stars", {"points": "6", "epsilon": "1", "protect": "2"})
    text = policy_text(Form("d", "3", (column,)))
    assert [line for line in text.splitlines() if line][-6:] == [
        'name = "n"',
        'mechanism = "stars"',
        "protect = 2",
        "points = 6",
        'colour = "gold"',
        "epsilon = 1",
    ]
    assert Policy.from_toml(text).columns[0].mechanism == "stars"


def test_the_command_line_and_the_schema_describe_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["design", "stars", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "Number of points of a star." in shown
    described = Policy.schema()["$defs"]["ColumnPolicy"]["properties"]
    assert "Number of points of a star. For stars." in described["points"]["description"]
    assert described["colour"]["description"] == 'Colour of a star. For stars. Example: colour = "gold"'
