"""Rooms import downwards only.

Every import counts: at the top of a file, inside a function, and under ``if TYPE_CHECKING``. The order of the rooms, from
the ground up, is in ``FLOORS``; a room may import itself and the rooms on lower floors, never a neighbour on its own floor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = "noisewright"
SOURCE = Path(__file__).parents[1] / "src" / PACKAGE
FLOORS = [
    {"core"},
    {"noise"},
    {"mechanisms"},
    {"optimal"},
    {"leakage"},
    {"estimate"},
    {"text", "matching", "images", "learned"},
    {"release"},
    {"cli", "studio"},
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
MODULES = {
    "files": {"core", "mechanisms"},
    "testing": {"core", "noise", "mechanisms"},
    "unsafe": {"core", "noise", "mechanisms"},
    "naive_bayes": {"core", "noise", "mechanisms", "unsafe"},
    "plots": {"core", "mechanisms", "optimal", "leakage", "estimate", "files"},
}
"""Modules beside the rooms, and the rooms each of them may import."""
MAY_IMPORT_MODULES = {
    "files": {"release", "cli", "studio", "testing", "plots"},
    "naive_bayes": {"cli", "studio"},
    "plots": {"release", "cli", "studio"},
    "testing": {"cli", "studio"},
    "unsafe": {"cli", "studio", "testing", "naive_bayes"},
}
MAY_IMPORT_THE_TOP = {"cli", "studio", "testing"}
FRONT_DOORS = {"__init__", "__main__"}
NOT_IN_CORE = {"pyarrow", "duckdb", "typer", "rich", "matplotlib"}


def imports(path: Path, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Line numbers and full names of everything that a file imports; ``from a import b`` is ``a.b``."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += [node.module] if node.module else []
            for alias in node.names:
                yield node.lineno, ".".join([*base, alias.name])


def violations(source: Path) -> list[str]:
    found = []
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        room = parts[0]
        for line, name in imports(path, (PACKAGE, *parts[:-1])):
            problem = why_not(room, name)
            if problem:
                found.append(f"{path.relative_to(source)}:{line}: {problem}")
    return found


def why_not(room: str, name: str) -> str | None:
    """What is wrong with a file of ``room`` importing ``name``, or None."""
    first, *rest = name.split(".")
    if first != PACKAGE:
        return f"core may not import {first}" if room == "core" and first in NOT_IN_CORE else None
    if room not in FLOOR and room not in MODULES and room not in FRONT_DOORS:
        return f"{room} has no place in the order of rooms"
    target = rest[0] if rest else None
    if room in FRONT_DOORS:
        return None
    if target in MODULES:
        return None if room in MAY_IMPORT_MODULES[target] or room == target else f"{room} may not import {target}"
    if target not in FLOOR:  # ``import noisewright`` or a name from its public surface
        return None if room in MAY_IMPORT_THE_TOP else f"{room} may not import {PACKAGE} itself"
    if room in MODULES:
        return None if target in MODULES[room] else f"{room} may not import {target}"
    if target == room or FLOOR[target] < FLOOR[room]:
        return None
    return f"{room} may not import {target}"


def test_rooms_import_downwards_only() -> None:
    assert any((SOURCE / "core").glob("*.py"))
    assert violations(SOURCE) == []


def plant(folder: Path, files: dict[str, str]) -> Path:
    source = folder / PACKAGE
    for name, text in files.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return source


GOOD = {
    "__init__.py": "from noisewright.mechanisms.laplace import laplace\nfrom noisewright.studio import page\n",
    "core/channel.py": "import numpy\nfrom noisewright.core.version import VERSION\nfrom noisewright.core.metric import Line\n",
    "noise/bits.py": "from noisewright.core import errors\n",
    "mechanisms/laplace.py": "from noisewright.noise.bits import bits\nfrom . import registry\n",
    "files.py": "from noisewright.core.channel import Channel\nfrom noisewright.mechanisms import laplace\n",
    "testing.py": "import noisewright\nfrom noisewright.noise import bits\n",
    "text/words.py": "from noisewright.leakage import gains\n",
    "cli/app.py": "import typer\nimport noisewright as nw\nfrom noisewright.files import read\n",
}


def test_a_tidy_house_is_accepted(tmp_path: Path) -> None:
    assert violations(plant(tmp_path, GOOD)) == []


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("core/bad.py", "from noisewright.noise.bits import bits\n", "core/bad.py:1: core may not import noise"),
        ("core/bad.py", "import noisewright.mechanisms\n", "core/bad.py:1: core may not import mechanisms"),
        (
            "core/bad.py",
            "def f():\n    from noisewright.noise import bits\n",
            "core/bad.py:2: core may not import noise",
        ),
        (
            "core/bad.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from noisewright.release import plan\n",
            "core/bad.py:3: core may not import release",
        ),
        ("core/bad.py", "from ..noise import bits\n", "core/bad.py:1: core may not import noise"),
        ("core/bad.py", "from .. import noise\n", "core/bad.py:1: core may not import noise"),
        ("core/deep/bad.py", "from ...cli import app\n", "core/deep/bad.py:1: core may not import cli"),
        ("core/bad.py", "from noisewright import noise\n", "core/bad.py:1: core may not import noise"),
        ("core/bad.py", "import noisewright\n", "core/bad.py:1: core may not import noisewright itself"),
        (
            "core/bad.py",
            "from noisewright import __version__\n",
            "core/bad.py:1: core may not import noisewright itself",
        ),
        ("core/bad.py", "import pyarrow.parquet\n", "core/bad.py:1: core may not import pyarrow"),
        ("core/bad.py", "def f():\n    from rich import print\n", "core/bad.py:2: core may not import rich"),
        ("mechanisms/bad.py", "from noisewright import laplace\n", "mechanisms may not import noisewright itself"),
        ("mechanisms/bad.py", "from noisewright.files import read\n", "mechanisms may not import files"),
        ("noise/bad.py", "from noisewright.mechanisms import laplace\n", "noise may not import mechanisms"),
        ("text/bad.py", "from noisewright.images import pixels\n", "text may not import images"),
        ("cli/bad.py", "from noisewright.studio import page\n", "cli may not import studio"),
        ("release/bad.py", "from noisewright.cli import app\n", "release may not import cli"),
        ("release/bad.py", "from noisewright import unsafe\n", "release may not import unsafe"),
        ("files.py", "from noisewright.noise import bits\n", "files may not import noise"),
        ("testing.py", "from noisewright.leakage import gains\n", "testing may not import leakage"),
        ("attic/box.py", "from noisewright.core import channel\n", "attic has no place in the order of rooms"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, name: str, text: str, problem: str) -> None:
    found = violations(plant(tmp_path, {**GOOD, name: text}))
    assert len(found) == 1
    assert problem in found[0]


def test_the_version_is_one() -> None:
    import tomllib

    import noisewright
    from noisewright.core.version import VERSION

    stated = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert stated == VERSION == noisewright.__version__
