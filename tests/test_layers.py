"""The order of the house: rooms import downwards, sub-packages have no cycles, folders are small, and private is private.

Every import counts: at the top of a file, inside a function, and under ``if TYPE_CHECKING``. The order of the rooms, from
the ground up, is in ``FLOORS``; a room may import itself and the rooms on lower floors, never a neighbour on its own floor.
Doors (the ``TYPE_CHECKING`` lists of ``__init__`` files) only point at what lies behind them, and are looked at apart.
"""

from __future__ import annotations

import ast
import importlib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from docs.make_architecture import all_imports

from noisewright.core.loading.doors import homes

PACKAGE = "noisewright"
SOURCE = Path(__file__).parents[1] / "src" / PACKAGE
FLOORS = [
    {"claims"},
    {"core"},
    {"render"},
    {"noise"},
    {"mechanisms"},
    {"optimality"},
    {"adversary"},
    {"estimation"},
    {"text", "matching", "images", "learned"},
    {"releases"},
    {"cli"},
    {"studio"},
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
BESIDE = {
    "files": {"claims", "core", "mechanisms"},
    "testing": {"core", "noise", "mechanisms", "releases"},
    "unsafe": {"core", "noise", "mechanisms"},
    "plots": {"claims", "core", "mechanisms", "optimality", "adversary", "estimation", "files"},
}
"""What stands beside the rooms, and the rooms each of them may import."""
MAY_IMPORT_BESIDE = {
    "files": {"releases", "cli", "studio", "testing", "plots", "text", "matching", "images", "learned"},
    "plots": {"releases", "cli", "studio"},
    "testing": {"cli", "studio"},
    "unsafe": {"cli", "studio", "testing", "learned"},
}
MAY_IMPORT_THE_TOP = {"cli", "studio", "testing"}
FRONT_DOORS = {"__init__", "__main__"}
NOT_IN_CORE = {"pyarrow", "duckdb", "typer", "rich", "matplotlib"}
MOST_ENTRIES = 15
"""About a dozen; a word that a user types is one entry of the folder of commands, however many there are;
rooms are listed above."""


# Rooms --------------------------------------------------------------------------------------------------------------------


def violations(source: Path) -> list[str]:
    found = []
    for path, line, name in all_imports(source):
        room = path.with_suffix("").parts[0]
        problem = why_not(room, name) or foreign(path, name)
        if problem:
            found.append(f"{path}:{line}: {problem}")
    return found


def why_not(room: str, name: str) -> str | None:
    """What is wrong with a file of ``room`` importing ``name``, or None."""
    first, *rest = name.split(".")
    if first != PACKAGE:
        return f"core may not import {first}" if room == "core" and first in NOT_IN_CORE else None
    if room not in FLOOR and room not in BESIDE and room not in FRONT_DOORS:
        return f"{room} has no place in the order of rooms"
    target = rest[0] if rest else None
    if room in FRONT_DOORS:
        return None
    if target in BESIDE:
        return None if room in MAY_IMPORT_BESIDE[target] or room == target else f"{room} may not import {target}"
    if target not in FLOOR:  # ``import noisewright`` or a name from its public surface
        return None if room in MAY_IMPORT_THE_TOP else f"{room} may not import {PACKAGE} itself"
    if room in BESIDE:
        return None if target in BESIDE[room] else f"{room} may not import {target}"
    if target == room or FLOOR[target] < FLOOR[room]:
        return None
    return f"{room} may not import {target}"


def foreign(path: Path, name: str) -> str | None:
    """What is wrong with a file importing a private module or name of a package that it does not live in, or None."""
    first, *rest = name.split(".")
    if first != PACKAGE:
        return None
    for place, part in enumerate(rest):
        if part.startswith("_") and not part.startswith("__") and path.parts[:place] != tuple(rest[:place]):
            inside = path.with_suffix("").parts == tuple(rest[:place])
            return None if inside else f"{'.'.join(rest[: place + 1])} is private to {'.'.join(rest[:place])}"
    return None


def test_rooms_import_downwards_only_and_private_modules_stay_private() -> None:
    assert any((SOURCE / "core").rglob("*.py"))
    assert violations(SOURCE) == []


# Sub-packages -------------------------------------------------------------------------------------------------------------


def part_of(parts: tuple[str, ...], source: Path) -> tuple[str, ...]:
    """The sub-package, or the module directly in a room, that a dotted path leads to."""
    return parts[:2] if len(parts) > 1 and (source / parts[0]).is_dir() else parts[:1]


def part_graph(source: Path) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Which part of a room needs which; a part is a sub-package, or a module directly in the room."""
    graph: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for path, _, name in all_imports(source):
        first, *rest = name.split(".")
        here = path.with_suffix("").parts
        if first != PACKAGE or len(here) < 2 or here[1] == "__init__" or len(rest) < 2 or rest[0] != here[0]:
            continue
        mine, other = part_of(here, source), part_of(tuple(rest), source)
        place = source.joinpath(*other)
        if mine != other and (place.is_dir() or place.with_suffix(".py").exists()):
            graph.setdefault(mine, set()).add(other)
    return graph


def test_sub_packages_have_no_cycles() -> None:
    graph = part_graph(SOURCE)
    assert ("releases", "columns") in graph
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as problem:
        pytest.fail(" -> ".join("/".join(part) for part in problem.args[1]))


# Folders and doors --------------------------------------------------------------------------------------------------------


def entries(folder: Path) -> list[str]:
    """The modules and packages in a folder."""
    return sorted(
        path.stem
        for path in folder.iterdir()
        if (path.is_dir() and (path / "__init__.py").exists())
        or (path.suffix == ".py" and path.stem not in FRONT_DOORS)
    )


PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py"))


def test_folders_are_small() -> None:
    crowded = {
        folder.relative_to(SOURCE).as_posix(): len(entries(folder))
        for folder in PACKAGES
        if len(entries(folder)) > MOST_ENTRIES and folder not in (SOURCE, SOURCE / "cli" / "commands")
    }
    assert crowded == {}


def test_no_folder_is_without_a_word_about_it() -> None:
    assert [f.name for f in PACKAGES if not ast.get_docstring(ast.parse((f / "__init__.py").read_text()))] == []


def dotted(folder: Path) -> str:
    return ".".join([PACKAGE, *folder.relative_to(SOURCE).parts])


WITH_DOORS = [dotted(folder) for folder in PACKAGES if "= door(__name__)" in (folder / "__init__.py").read_text()]


@pytest.mark.parametrize("package", WITH_DOORS)
def test_a_door_shows_what_is_there_and_hides_no_module(package: str) -> None:
    door = importlib.import_module(package)
    folder = Path(str(door.__file__)).parent
    offered = homes(package)
    assert offered
    for name, (home, original) in offered.items():
        place = SOURCE.parent.joinpath(*home.split("."), original)
        if not (place.is_dir() or (home == package and place.with_suffix(".py").exists())):
            assert getattr(door, name) is getattr(importlib.import_module(home), original), name
            # Python binds a module to its name in the package: a function of that name would be lost behind it.
            assert name not in entries(folder), name
    assert set(offered) <= set(dir(door))


@pytest.mark.parametrize("package", WITH_DOORS)
def test_public_modules_are_reached_through_a_door(package: str) -> None:
    """What a module without an underscore offers is offered by its package, by its room or at the top."""
    folder = SOURCE.joinpath(*package.split(".")[1:])
    room = ".".join(package.split(".")[:2])
    shown = {value for door in {package, room, PACKAGE} if door in WITH_DOORS for value in homes(door).values()}
    for stem in entries(folder):
        path = folder / f"{stem}.py"
        if path.exists() and not stem.startswith("_"):
            module = f"{package}.{stem}"
            assert any(module in (home, f"{home}.{name}") for home, name in shown), module


# The test can fail --------------------------------------------------------------------------------------------------------


def plant(folder: Path, files: dict[str, str]) -> Path:
    source = folder / PACKAGE
    for name, text in files.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return source


GOOD = {
    "__init__.py": "from noisewright.mechanisms.laplace import laplace\nfrom noisewright.studio import page\n",
    "core/channel.py": "import numpy\nfrom noisewright.core import VERSION\nfrom noisewright.core.metric import Line\n",
    "noise/bits.py": "from noisewright.core import errors\nfrom noisewright.noise import _search\n",
    "noise/laws/planar.py": "from noisewright.noise._search import bisect\n",
    "mechanisms/laplace.py": "from noisewright.noise.bits import bits\nfrom . import registry\n",
    "files/channels.py": "from noisewright.core.channel import Channel\nfrom noisewright.mechanisms import laplace\n",
    "testing.py": "import noisewright\nfrom noisewright.noise import bits\n",
    "text/words.py": "from noisewright.adversary import gains\n",
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
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from noisewright.releases import plan\n",
            "core/bad.py:3: core may not import releases",
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
        ("mechanisms/bad.py", "from noisewright.noise import _search\n", "noise._search is private to noise"),
        (
            "noise/bad.py",
            "from noisewright.noise.laws._radial import x\n",
            "noise.laws._radial is private to noise.laws",
        ),
        ("cli/bad.py", "from noisewright.core.exact import _hidden\n", "core.exact._hidden is private to core.exact"),
        ("noise/bad.py", "from noisewright.mechanisms import laplace\n", "noise may not import mechanisms"),
        ("text/bad.py", "from noisewright.images import pixels\n", "text may not import images"),
        ("cli/bad.py", "from noisewright.studio import page\n", "cli may not import studio"),
        ("releases/bad.py", "from noisewright.cli import app\n", "releases may not import cli"),
        ("releases/bad.py", "from noisewright import unsafe\n", "releases may not import unsafe"),
        ("files/bad.py", "from noisewright.noise import bits\n", "files may not import noise"),
        ("testing.py", "from noisewright.adversary import gains\n", "testing may not import adversary"),
        ("attic/box.py", "from noisewright.core import channel\n", "attic has no place in the order of rooms"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, name: str, text: str, problem: str) -> None:
    found = violations(plant(tmp_path, {**GOOD, name: text}))
    assert len(found) == 1
    assert problem in found[0]


def test_a_planted_cycle_is_found(tmp_path: Path) -> None:
    files = {
        "core/a/x.py": "from noisewright.core.b.y import y\n",
        "core/b/y.py": "from noisewright.core.c import z\n",
        "core/c.py": "def f():\n    from noisewright.core.a import x\n",
    }
    with pytest.raises(CycleError):
        list(TopologicalSorter(part_graph(plant(tmp_path, files))).static_order())


def test_the_version_is_one() -> None:
    import tomllib

    import noisewright
    from noisewright.core import VERSION

    stated = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert stated == VERSION == noisewright.__version__
