"""``--log-level``: what is done, on stderr, and nothing of the data at any level."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from noisewright.cli import run

POLICY = """
dataset = "clinic"
budget = { epsilon = 3 }
[[columns]]
name = "note"
keep = true
[[columns]]
name = "age"
mechanism = "geometric"
within = [0, 110]
protect = 5
epsilon = 1
"""


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    ours = logging.getLogger("noisewright")
    before = ours.handlers, ours.propagate, ours.level
    yield
    ours.handlers, ours.propagate = before[:2]
    ours.setLevel(before[2])


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(POLICY)
    Path("visits.csv").write_text("age,note\n31,a secret\n47,another secret\n")
    return ["release", "policy.toml", "visits.csv", "-o", "out", "--ledger", "ledger", "--json"]


def test_the_steps_of_a_release_are_said(call: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--log-level", "debug", *call]) == 0
    said = capsys.readouterr().err
    steps = ["planned clinic", "checked the data", "is recorded", "is drawn", "is written", "is sealed", "is published"]
    places = [said.index(step) for step in steps]
    assert places == sorted(places)
    assert "INFO noisewright.releases.release: " in said
    messages = "".join(line.partition(" noisewright.")[2] for line in said.splitlines())
    for word in ("secret", "31", "47"):
        assert word not in messages.replace(str(Path.cwd()), "")  # folders of tests have numbers


def test_a_level_hides_what_is_below_it(call: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--log-level", "warning", *call]) == 0
    assert capsys.readouterr().err == ""
    assert run([*call[:4], "other", *call[5:], "--format", "csv"]) == 0
    assert capsys.readouterr().err == ""
    assert run(["--log-level", "loud", *call]) == 2
    assert "--log-level must be 'debug', 'info', 'warning' or 'error', not 'loud'" in capsys.readouterr().out


def test_records_of_other_packages_do_not_appear(capsys: pytest.CaptureFixture[str]) -> None:
    """They may quote data: py4j logs every command that it sends."""
    assert run(["--log-level", "debug", "ledger", "--help"]) == 0
    logging.getLogger("py4j").warning("a secret")
    assert "a secret" not in "".join(line for line in capsys.readouterr().err.splitlines() if "noisewright" in line)
    assert [type(one) for one in logging.getLogger("noisewright").handlers] == [logging.StreamHandler]
    assert not logging.getLogger("noisewright").propagate
