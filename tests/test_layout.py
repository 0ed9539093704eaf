"""How many modules there are, how long, how deep; and the public names, one reviewed line each.

``python -m tests.test_layout`` writes ``tests/public_api.txt`` again: a new line there is a new public name, for review.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import noisewright

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "noisewright"
PUBLIC = ROOT / "tests" / "public_api.txt"

MOST_FILES = 340
"""Modules and packages' ``__init__`` together."""
LEAST_LINES, MOST_LINES, NEVER_ABOVE = 150, 600, 900
DEEPEST = 3
"""Folders from ``noisewright`` down to a module, itself included."""
MOST_NAMES = 530
"""350 once doors are tables of what users need."""

SMALL = {
    "__main__.py",
    "_typing.py",
    "_version.py",
    "certificates/checker/checker_words.py",
    "exceptions.py",
    "render/claims.py",
}
"""Modules that may be shorter: everybody imports them, or they are the one place of something."""
LARGE = {
    "attacks/inferential_privacy.py",
    "base.py",
    "certificates/checker/checker.py",
    "certificates/checker/checker_release.py",
    "claims/phrases.py",
    "cli/app.py",
    "cli/commands/images_obfuscate.py",
    "cli/commands/release.py",
    "cli/commands/text.py",
    "context_aware/distributions.py",
    "context_aware/gaussian.py",
    "ledger/database.py",
    "ledger/ledger.py",
    "matching/mechanisms.py",
    "numerics/polyhedra.py",
    "planning/columns.py",
    "qif/refinement/closed_forms.py",
    "releases/checks.py",
    "releases/marginals.py",
    "studio/components.py",
    "studio/pages/release.py",
    "tables/duckdb.py",
    "tables/files.py",
}
"""Modules that may be longer: one argument, or one page, that is read as a whole."""

FILES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))}
MODULES = {name: path for name, path in FILES.items() if path.name != "__init__.py"}
PACKAGES = {name: path for name, path in FILES.items() if path.name == "__init__.py"}


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_there_are_few_files_and_none_is_deep() -> None:
    assert len(FILES) <= MOST_FILES
    assert [name for name in FILES if len(Path(name).parts) > DEEPEST] == []


def test_modules_are_neither_short_nor_long() -> None:
    sizes = {name: lines(path) for name, path in MODULES.items()}
    assert {name: size for name, size in sizes.items() if size < LEAST_LINES and name not in SMALL} == {}
    assert {name: size for name, size in sizes.items() if size > MOST_LINES and name not in LARGE} == {}
    assert {name: size for name, size in sizes.items() if size > NEVER_ABOVE} == {}


def test_the_exceptions_are_exceptions() -> None:
    assert {name for name in SMALL if name not in MODULES or lines(MODULES[name]) >= LEAST_LINES} == set()
    assert {name for name in LARGE if name not in MODULES or lines(MODULES[name]) <= MOST_LINES} == set()


def test_modules_and_packages_have_a_docstring() -> None:
    assert [name for name, path in FILES.items() if not ast.get_docstring(ast.parse(path.read_text("utf-8")))] == []


def test_no_module_is_named_for_what_it_is_not() -> None:
    vague = {"utils", "util", "shared", "words", "misc", "helpers", "common"}
    assert [name for name in FILES if vague & {part.removesuffix(".py") for part in Path(name).parts}] == []


# Public names -------------------------------------------------------------------------------------------------------------


def public_names() -> list[str]:
    """Return the public names of all packages, sorted: what each has in ``__all__``."""
    found = []
    for name in PACKAGES:
        package = ".".join(["noisewright", *Path(name).parts[:-1]])
        found += [f"{package}.{one}" for one in getattr(import_module(package), "__all__", [])]
    return sorted(found)


def test_the_public_names_are_the_reviewed_ones() -> None:
    kept = PUBLIC.read_text(encoding="utf-8").splitlines()
    assert kept == sorted(set(kept))
    assert public_names() == kept, "run python -m tests.test_layout, and have the new lines reviewed"
    assert len(kept) <= MOST_NAMES
    assert f"{noisewright.__name__}.release" in kept


def main() -> None:
    """Write the public names again."""
    PUBLIC.write_text("".join(f"{name}\n" for name in public_names()), encoding="utf-8")


if __name__ == "__main__":
    main()
