"""The page about the architecture states what is there: its packages, its picture, its walks and its paths."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from docs.make_architecture import EVERYBODY, SOURCE, architecture, draw, layers, packages, sub_packages

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURES = ROOT / "docs" / "pictures"
AGAIN = "run python docs/make_architecture.py"


def section(title: str) -> str:
    """Return the text below a heading, up to the next one."""
    _, found, rest = PAGE.partition(f"\n## {title}\n")
    assert found, title
    return rest.partition("\n## ")[0]


def table_rows(text: str) -> Iterator[list[str]]:
    """Yield the cells of every row of the tables in a text, headings left out."""
    for line in text.splitlines():
        if line.startswith("| ") and not line.startswith(("| file |", "| package |", "| to change |")):
            yield [cell.strip() for cell in line.strip("|").split("|")]


# Packages -----------------------------------------------------------------------------------------------------------------


def test_the_packages_of_the_page_are_those_of_the_source_in_the_order_of_the_layers() -> None:
    rows = list(table_rows(section("Packages and layers")))
    assert {row[0].strip("`"): re.findall(r"`(\w+)`", row[2]) for row in rows} == {
        package: sub_packages(SOURCE, package) for package in packages(SOURCE) if package not in EVERYBODY
    }
    assert [row[0].strip("`") for row in rows] == layers()
    assert all(row[1] for row in rows)


def test_every_path_on_the_page_exists() -> None:
    named = re.findall(r"`([\w./-]+)`", PAGE)
    paths = {name for name in named if name.endswith((".py", "/", ".txt")) and not name.startswith("__init__")}
    assert {"_utils/lazy.py", "tests/test_layers.py", "cli/commands/"} <= paths
    outside = {"checker.py"}
    assert [
        path for path in sorted(paths - outside) if not (SOURCE / path).exists() and not (ROOT / path).exists()
    ] == []


def test_thirty_changes_have_a_file() -> None:
    rows = list(table_rows(section("Where do I change what")))
    assert len(rows) >= 30
    for what, first, second in rows:
        assert what
        assert (SOURCE / first.strip("`")).is_file(), first
        assert not second or (SOURCE / second.strip("`")).is_file(), second
    assert len({row[0] for row in rows}) == len({row[1] for row in rows}) == len(rows)


# The picture --------------------------------------------------------------------------------------------------------------


def test_the_picture_is_drawn_from_the_imports() -> None:
    kept = (PICTURES / "architecture.json").read_text(encoding="utf-8")
    assert json.loads(kept) == architecture(), AGAIN
    assert hashlib.sha256(kept.encode()).hexdigest() in (PICTURES / "architecture.svg").read_text(), AGAIN
    assert "](pictures/architecture.svg)" in PAGE


def test_every_mark_lies_below_the_diagonal() -> None:
    order, found = layers(), architecture()
    assert {
        (package, other)
        for package in order
        for other in set(found[package]["imports"]) - EVERYBODY
        if order.index(other) >= order.index(package)
    } == set()
    labs = set(order[order.index("design") :])
    assert {package for package in set(order) - labs if labs & set(found[package]["imports"])} == set()


def test_the_picture_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = {"attic": {"imports": ["cellar"], "parts": {}}, "cellar": {"imports": [], "parts": {}}}
    draw(found, ["cellar", "attic"], tmp_path / "small.svg")
    draw({"cellar": found["cellar"]}, ["cellar"], tmp_path / "smaller.svg")
    sizes = [(tmp_path / name).stat().st_size for name in ("small.svg", "smaller.svg")]
    assert sizes[0] > sizes[1] > 1000


def test_imports_are_found_between_packages_and_within_them(tmp_path: Path) -> None:
    files = {
        "base/a/__init__.py": "",
        "base/a/x.py": "def f():\n    from noisewright.base.b import y\n",
        "base/b/__init__.py": "if TYPE_CHECKING:\n    from noisewright.base.a import x\nelse:\n    table = 1\n",
        "base/__init__.py": "",
        "__init__.py": "from noisewright.base.a import x\n",
        "noise.py": "from .base.a.x import f\nimport numpy\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert architecture(tmp_path) == {
        "base": {"imports": [], "parts": {"a": ["b"], "b": []}},
        "noise": {"imports": ["base"], "parts": {}},
    }


# Walks --------------------------------------------------------------------------------------------------------------------

POLICY = """
dataset = "clinic"
budget = { epsilon = 3 }

[[columns]]
name = "age"
mechanism = "geometric"
within = [0, 110]
protect = 5
epsilon = 1
"""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clinic")
    (folder / "policy.toml").write_text(POLICY)
    (folder / "visits.csv").write_text("age\n31\n62\n")
    return folder


def called(folder: Path, *arguments: str) -> list[str]:
    """The functions that a command calls, in order."""
    command = [sys.executable, str(ROOT / "tests" / "support" / "walk_support.py"), *arguments, "--ledger", "ledger"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def calls_of_release(clinic: Path) -> list[str]:
    return called(clinic, "release", "policy.toml", "visits.csv", "-o", "out")


@pytest.fixture(scope="module")
def calls_of_verify(clinic: Path, calls_of_release: list[str]) -> list[str]:
    assert calls_of_release
    return called(clinic, "verify", "out")


def first_missing(walk: list[str], calls: list[str]) -> str | None:
    """The first step of a walk that is not called after the one before it."""
    left = iter(calls)
    return next((step for step in walk if step not in left), None)


def walk(title: str) -> list[str]:
    return [f"{row[0].strip('`')} {row[1].strip('`')}" for row in table_rows(section(title))]


def test_a_row_walks_through_a_release_as_the_page_says(calls_of_release: list[str]) -> None:
    steps = walk("One row through `release`")
    assert len(steps) > 20
    assert first_missing(steps, calls_of_release) is None


def test_nothing_is_drawn_from_the_system_before_the_spend_is_recorded(calls_of_release: list[str]) -> None:
    spend, draw_ = "ledger/ledger.py Ledger.spend", "sampling/random_bits.py SystemBits.words"
    assert calls_of_release.index(spend) < calls_of_release.index(draw_)


def test_a_certificate_walks_through_verify_as_the_page_says(calls_of_verify: list[str]) -> None:
    steps = walk("One certificate through `verify`")
    assert len(steps) > 10
    assert first_missing(steps, calls_of_verify) is None


def test_steps_in_another_order_would_be_found() -> None:
    assert first_missing(["a", "b"], ["x", "a", "b"]) is None
    assert first_missing(["b", "a"], ["x", "a", "b"]) == "a"
    assert first_missing(["a", "c"], ["x", "a", "b"]) == "c"


# Entry points -----------------------------------------------------------------------------------------------------------


def test_the_groups_of_entry_points_on_the_page_are_those_of_the_source() -> None:
    tables = [
        ast.literal_eval(node.args[0])
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Addresses" and node.args
    ]
    groups = set(re.findall(r"group `([\w.]+)`", PAGE))
    assert groups <= set(tables)
    # A command with sub-commands has a group of its own for them.
    assert {".".join(group.split(".")[:2]) for group in tables} == groups
