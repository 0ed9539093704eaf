"""What help and what a missing word look like, for every command."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from itertools import pairwise

import pytest
from rich.markup import render

from noisewright.cli.app import COMMANDS as COMMAND_TABLE
from noisewright.cli.app import Table, built, offered
from noisewright.cli.parameters import options_of
from noisewright.mechanisms import registry

COMMANDS = (
    "release",
    "init",
    "plan",
    "design",
    "audit",
    "survey",
    "estimate",
    "compare",
    "verify",
    "reproduce",
    "bench",
    "doctor",
)
SUBCOMMANDS = (
    *(f"ledger {word}" for word in ("show", "export", "backup", "check")),
    "attack inference",
    "attack private-attribute",
    *(f"design {word}" for word in ("optimal", "kernels", "laplace")),
)


@pytest.mark.parametrize("words", [*COMMANDS, *SUBCOMMANDS])
def test_help_has_whole_paragraphs_and_no_types_of_python(call, words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = call(*words.split(), "--help").out
    assert "Usage: noisewright " + words in page
    assert not re.search(r"<(str|bool|int|float|list)|\[\[|Default: \(\)", page)
    lines = [line.strip() for line in page.split("╭")[0].splitlines()]
    for line, after in pairwise(lines):  # a paragraph is broken only where the next word does not fit
        if line and after and not line.startswith("Usage:"):
            assert len(line) + 1 + len(after.split()[0]) > 78, line


def written(table: Table, path: str = "") -> Iterator[tuple[str, str]]:
    """All that commands say of themselves and of their options, as it was written."""
    for name in table:
        command = offered(table, name)
        yield f"{path} {name}", inspect.getdoc(command.run) or ""
        for option in built(name, command).params:
            yield f"{path} {name} {option.name}", getattr(option, "help", None) or ""
        if command.table is not None:
            yield from written(command.table, f"{path} {name}")


def test_what_stands_in_brackets_is_not_taken_for_a_style() -> None:
    lost = [place for place, text in written(COMMAND_TABLE) if render(text).plain != text.replace("\\[", "[")]
    assert lost == []


@pytest.mark.parametrize(
    ("words", "missing"),
    [("release", "POLICY"), ("audit", "FILE"), ("survey", "--epsilon"), ("design laplace", "--epsilon")],
)
def test_what_is_missing_is_named_with_where_to_read_on(call, words, missing):
    answer = call(*words.split())
    assert answer.code == 2
    kind = "option" if missing.startswith("--") else "argument"
    assert answer.err == f"noisewright: missing {kind} '{missing}'; noisewright {words} --help says what to give.\n"


@pytest.mark.parametrize("name", registry.names())
def test_every_option_of_a_mechanism_is_explained(name):
    options = options_of(registry.registry[name].make)
    assert [option.name for option in options if not option.help.split("Default:")[0].strip()] == []
