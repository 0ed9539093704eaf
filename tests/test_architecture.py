"""The page about the architecture says what is there: its rooms, its picture, its walks and its paths."""

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
from docs.make_architecture import SOURCE, architecture, draw, heights, reduced, rooms, sub_packages

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PICTURES = ROOT / "docs" / "pictures"
AGAIN = "run python docs/make_architecture.py"


def section(title: str) -> str:
    """The text below a heading, up to the next one."""
    _, found, rest = PAGE.partition(f"\n## {title}\n")
    assert found, title
    return rest.partition("\n## ")[0]


def table_rows(text: str) -> Iterator[list[str]]:
    """The cells of every row of the tables in a text, headings left out."""
    for line in text.splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


# Rooms --------------------------------------------------------------------------------------------------------------------


def test_the_rooms_and_sub_packages_of_the_page_are_those_of_the_source() -> None:
    listed = {
        row[0].strip("`"): re.findall(r"`(\w+)`", row[2]) for row in table_rows(section("Packages and public API"))
    }
    assert listed == {room: sub_packages(SOURCE, room) for room in rooms(SOURCE)}
    assert all(row[1] for row in table_rows(section("Packages and public API")))


def test_every_path_on_the_page_exists() -> None:
    named = re.findall(r"`([\w./-]+)`", PAGE)
    paths = {name for name in named if name.endswith((".py", "/")) and not name.startswith(("_name", "__init__"))}
    assert {"core/loading/doors.py", "tests/test_layers.py", "releases/kinds/"} <= paths
    outside = {"checker.py"}
    assert [
        path for path in sorted(paths - outside) if not (SOURCE / path).exists() and not (ROOT / path).exists()
    ] == []


# The picture --------------------------------------------------------------------------------------------------------------


def test_the_picture_is_drawn_from_the_imports() -> None:
    kept = (PICTURES / "architecture.json").read_text(encoding="utf-8")
    assert json.loads(kept) == architecture(), AGAIN
    assert hashlib.sha256(kept.encode()).hexdigest() in (PICTURES / "architecture.svg").read_text(), AGAIN
    assert "](pictures/architecture.svg)" in PAGE


def test_the_picture_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    house = {
        "attic": {"imports": ["cellar"], "parts": {"box": [], "lid": ["box"]}},
        "cellar": {"imports": [], "parts": {}},
    }
    draw(house, tmp_path / "small.svg")
    draw({"cellar": house["cellar"]}, tmp_path / "smaller.svg")
    sizes = [(tmp_path / name).stat().st_size for name in ("small.svg", "smaller.svg")]
    assert sizes[0] > sizes[1] > 1000


def test_imports_are_found_between_rooms_and_within_them(tmp_path: Path) -> None:
    files = {
        "core/a/__init__.py": "",
        "core/a/x.py": "def f():\n    from noisewright.core.b import y\n",
        "core/b/__init__.py": "if TYPE_CHECKING:\n    from noisewright.core.a import x\nelse:\n    door = 1\n",
        "core/__init__.py": "",
        "__init__.py": "from noisewright.core.a import x\n",
        "noise.py": "from .core.a.x import f\nimport numpy\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert architecture(tmp_path) == {
        "core": {"imports": [], "parts": {"a": ["b"], "b": []}},
        "noise": {"imports": ["core"], "parts": {}},
    }


def test_arrows_that_follow_from_others_are_left_out() -> None:
    graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": {"a"}}
    assert reduced(graph) == {"a": set(), "b": {"a"}, "c": {"b"}, "d": {"a"}}
    assert heights(graph) == {"a": 0, "b": 1, "c": 2, "d": 1}


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
    spend, draw_ = "releases/ledger/ledger.py Ledger.spend", "noise/bits.py SystemBits.words"
    assert calls_of_release.index(spend) < calls_of_release.index(draw_)


def test_a_certificate_walks_through_verify_as_the_page_says(calls_of_verify: list[str]) -> None:
    steps = walk("One certificate through `verify`")
    assert len(steps) > 10
    assert first_missing(steps, calls_of_verify) is None


def test_steps_in_another_order_would_be_found() -> None:
    assert first_missing(["a", "b"], ["x", "a", "b"]) is None
    assert first_missing(["b", "a"], ["x", "a", "b"]) == "a"
    assert first_missing(["a", "c"], ["x", "a", "b"]) == "c"


# The seam -----------------------------------------------------------------------------------------------------------------


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
