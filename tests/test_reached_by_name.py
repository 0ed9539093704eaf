"""Theory that runs is reached by name: every part of the two rooms is behind its room's door, and on a page."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import noisewright as nw
from noisewright.core.loading.doors import homes

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "noisewright"
PARTS = [
    (room, part.name)
    for room in ("optimality", "adversary")
    for part in sorted((SOURCE / room).iterdir())
    if (part / "__init__.py").exists()
]
PAGES = "\n".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize(("room", "part"), PARTS)
def test_each_part_is_behind_its_door_and_on_a_page(room: str, part: str) -> None:
    package = getattr(getattr(nw, room), part)
    assert package.__name__ == f"noisewright.{room}.{part}"
    assert package.__doc__
    assert len(package.__doc__.strip().splitlines()) <= 3
    named = rf"(noisewright|nw)\.{room}\.{part}\b|from noisewright\.{room} import [\w, ]*\b{part}\b"
    assert re.search(named, PAGES), f"no page names nw.{room}.{part}"


@pytest.mark.parametrize("room", ["optimality", "adversary"])
def test_what_only_a_user_can_want_is_on_a_page(room: str) -> None:
    """A public function that nothing in the package calls is there for readers, who find it on a page."""
    inside, on_pages = words_of_modules(), set(re.findall(r"\w+", PAGES))
    lost = []
    for package in (f"noisewright.{room}", *(f"noisewright.{room}.{part}" for home, part in PARTS if home == room)):
        for name, (home, original) in homes(package).items():
            module = SOURCE.parent.joinpath(*home.split(".")).with_suffix(".py")
            if not module.exists() or f"\ndef {original}(" not in module.read_text(encoding="utf-8"):
                continue
            if original in on_pages or any(original in words for path, words in inside.items() if path != module):
                continue
            tree = ast.parse(module.read_text(encoding="utf-8"))
            if all(node.id != original for node in ast.walk(tree) if isinstance(node, ast.Name)):
                lost.append(f"{package}.{name}")
    assert lost == []


@cache
def words_of_modules() -> dict[Path, set[str]]:
    """The words of every module, but for the names that a door re-exports."""
    doors = re.compile(r"^    from noisewright\S* import \w+ as \w+$", re.MULTILINE)
    return {
        path: set(re.findall(r"\w+", doors.sub("", path.read_text(encoding="utf-8")))) for path in SOURCE.rglob("*.py")
    }
