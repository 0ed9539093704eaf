"""Theory is reached by name: every sub-package of the theory packages is shown by its package, and on a page."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import noisewright as nw
from noisewright._utils.lazy import homes

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "noisewright"
THEORY = ("design", "qif", "attacks")
PARTS = [
    (package, part.name)
    for package in THEORY
    for part in sorted((SOURCE / package).iterdir())
    if (part / "__init__.py").exists()
]
PAGES = "\n".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


def test_the_theory_packages_are_shown_at_the_top() -> None:
    for package in THEORY:
        assert getattr(nw, package).__name__ == f"noisewright.{package}"
    assert {("design", "polytopes"), ("qif", "refinement")} <= set(PARTS)


@pytest.mark.parametrize(("package", "part"), PARTS)
def test_each_part_is_shown_by_its_package_and_on_a_page(package: str, part: str) -> None:
    found = getattr(getattr(nw, package), part)
    assert found.__name__ == f"noisewright.{package}.{part}"
    assert found.__doc__
    assert len(found.__doc__.strip().splitlines()) <= 3
    named = rf"(noisewright|nw)\.{package}\.{part}\b|from noisewright\.{package} import [\w, ]*\b{part}\b"
    assert re.search(named, PAGES), f"no page names nw.{package}.{part}"


@pytest.mark.parametrize("theory", THEORY)
def test_what_only_a_user_can_want_is_on_a_page(theory: str) -> None:
    """A public function that nothing in the package calls is there for readers, who find it on a page."""
    inside, on_pages = words_of_modules(), set(re.findall(r"\w+", PAGES))
    lost = []
    for package in (
        f"noisewright.{theory}",
        *(f"noisewright.{theory}.{part}" for home, part in PARTS if home == theory),
    ):
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
    """Return the words of every module, but for the names that an ``__init__`` shows."""
    return {
        path: set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
        for path in SOURCE.rglob("*.py")
        if path.name != "__init__.py"
    }
