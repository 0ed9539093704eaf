"""What help and what a missing word look like, for every command."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from noisewright.cli.shared.parameters import parameters_of
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
    options = parameters_of(registry.registry[name].make)
    assert [option.name for option in options if not option.help.split("Default:")[0].strip()] == []
