"""One place words a claim, and none parses one: no other module has a sentence about a guarantee, or reads one.

A guarantee is worded by ``noisewright.claims`` and laid out by ``noisewright.render``. Texts of other modules are collected
from their syntax trees (strings and f-strings that are no docstrings), and none of them may have the words of a claim.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "noisewright"
MAY_WORD = ("claims/", "render/")
MAY_PARSE = ("certificates/checker/checker_version1.py",)
CLAIMS = {
    "odds": r"\bodds\b.{0,80}\bchanges?\b|\bchanges? .{0,20}\bodds\b|changes? by a factor",
    "events": r"times as likely under",
    "beliefs": r"belief of \d+ ?%|can become at most",
    "pairs": r"\bany two (secrets|tables|pictures|values|answers|documents|profiles|places|records|faces|points|vectors|words)\b",
    "tables": r"\btwo (such )?tables\b|differ in (one|the rows)",
    "units": r"\bper unit of\b|\bbetween neighbours \(",
    "losses": r"\blos(e|es|ing) (at most |up to )?(an? )?epsilon\b|\bcosts? (an? )?epsilon\b(?! of)",
    "unprotected": r"\b[Nn](ot|OT) protected\b|[Nn]othing is (promised|protected)|\bprotects (each|every)\b|are protected less",
    "refused": r"\bno guarantee for\b",
    "alike": r"indistinguishabl|cannot be told apart|(keeps?|told apart|apart) .{0,40}\bfactor\b|more than e\^",
    "promises": r"guarantee holds|promises no epsilon|no differential privacy(?! budget)|nobody (can|could) tell",
    "limits": r"\b[Nn]o epsilon is promised|promise (may|does|need) not hold|[Tt]he same holds for",
    "guarantees": r"epsilon = \{\}(,| between| per| for one)|epsilon \{\} (between|for (each|any|every|one|all)\b)",
}
PARSING = (
    r"(verify\(\)|in_words\(\)|reading\(\)|\b(claim|words|promise|between|protects|guarantee))"
    r"\.(r?partition|r?split|splitlines|startswith|removeprefix)\(\s*f?[\"'][^\"']*[a-z;]|"
    r"[!=]= f?[\"']epsilon = |"
    r"startswith\(\s*f?[\"'](any two|at most|epsilon =|two tables|between)"
    r"|removeprefix\(\s*f?[\"'](epsilon|at most|any two)"
)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module with their lines, without docstrings and without what only names an error to a caller."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[int] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                skipped.add(id(statement.value))
        if isinstance(node, ast.Raise):
            skipped |= {id(inner) for inner in ast.walk(node)}
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(value) for value in node.values}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (str(one.value) if isinstance(one, ast.Constant) else "{}" for one in node.values)
            yield node.lineno, "".join(parts)


def worded(source: Path) -> dict[str, list[str]]:
    """The texts that word a claim, by module."""
    found: dict[str, list[str]] = {}
    for path in sorted(source.rglob("*.py")):
        name = path.relative_to(source).as_posix()
        if name.startswith(MAY_WORD) or name.startswith("certificates/checker/"):
            continue
        for line, text in texts(path):
            for what, pattern in CLAIMS.items():
                if re.search(pattern, text):
                    found.setdefault(name, []).append(f"{name}:{line}: {what}: {text[:90]}")
                    break
    return found


def parsing(source: Path) -> list[str]:
    """The lines that read a sentence about a guarantee."""
    found = []
    for path in sorted(source.rglob("*.py")):
        name = path.relative_to(source).as_posix()
        if name not in MAY_PARSE:
            lines = path.read_text(encoding="utf-8").splitlines()
            found += [
                f"{name}:{number}"
                for number, line in enumerate(lines, 1)
                if re.search(PARSING, line) and ">>>" not in line
            ]
    return found


def test_no_other_place_words_a_claim() -> None:
    listed = worded(SOURCE)
    found = [line for name, lines in listed.items() for line in lines if name not in NO_CLAIMS]
    assert found == []


def test_exceptions_are_still_there() -> None:
    assert set(NO_CLAIMS) <= set(worded(SOURCE))


def test_no_place_parses_a_claim() -> None:
    assert parsing(SOURCE) == []


@pytest.mark.parametrize(
    "line",
    [
        'x = f"epsilon = {e} for one person, at most"\n',
        'x = f"epsilon {e} between any two {things}"\n',
        'x = "The odds between two secrets change by a factor of 3."\n',
        'x = "for any two pictures of this size"\n',
        'x = f"epsilon {e:.3g} keeps such neighbours within a factor of {times}"\n',
        'x = f"nothing was hidden in {names}: there is no guarantee for it"\n',
        'x = f"{names}: released as it is, NOT protected"\n',
        'x = "Both tables are indistinguishable."\n',
        'x = "This release protects every row by itself."\n',
        'x = "It promises no epsilon."\n',
        'x = ("Epsilon", "what is released changes the odds between the two by a factor of at most e^epsilon")\n',
        'x = f"{many}; who is in several of them loses epsilon for each"\n',
        'x = f"{delta}: with a probability of up to that the promise may not hold at all"\n',
        'x = " The same holds for pictures of every other size."\n',
        'x = f"Not protected at all: {names}, released unchanged."\n',
    ],
)
def test_a_planted_sentence_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "page.py").write_text(line)
    assert list(worded(tmp_path)) == ["page.py"]


@pytest.mark.parametrize(
    "line",
    [
        'if words.startswith("any two values"):\n    pass\n',
        'x = certificate.verify().partition(";")[0]\n',
        'x = promise.words.partition(" Measured on public faces")[0]\n',
        'x = claim == "epsilon = 0.5 per unit"\n',
    ],
)
def test_planted_parsing_is_found(tmp_path: Path, line: str) -> None:
    (tmp_path / "page.py").write_text(line)
    assert parsing(tmp_path) == ["page.py:1"]


def test_docstrings_and_refusals_are_no_claims(tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text('"""Any two secrets."""\nraise ValueError("any two secrets must differ")\n')
    assert worded(tmp_path) == {}


NO_CLAIMS: dict[str, str] = {
    "learning/policy_mechanism.py": "refuses to make a certificate",
    "policy/validation.py": "refuses a policy that protects any two values without a range",
}
"""Modules with such words that are not about a guarantee, and why."""
