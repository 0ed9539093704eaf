"""``python -m tools.nearest``: run the tests nearest to what changed, for about a minute. ``make check`` ends with it.

A change is what the working tree and the branch have beyond ``main`` (or ``--base COMMIT``). Near to a module is a test file of
its name, then one that imports it, directly or through a package's ``__init__``; the fewer other modules a test file imports,
the nearer it is. For a support module or any other file these are the test files that import it, name it, or list its kind.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["changed", "main", "nearest"]

ROOT = Path(__file__).parents[1]
PACKAGE = "noisewright"
SECONDS = 60
FEWEST_LETTERS = 5
"""Shorter names of files occur by chance."""


def main(arguments: list[str]) -> int:
    """Run the nearest tests, or list their files."""
    parser = argparse.ArgumentParser(prog="python -m tools.nearest", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument("--base", default="main", help="the commit to compare with (default: main)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="start no test after this time")
    parser.add_argument("--list", action="store_true", help="list the test files, nearest first, and run none")
    asked = parser.parse_args(arguments)
    files = nearest(ROOT, changed(ROOT, asked.base))
    if asked.list or not files:
        print("\n".join(files) or f"Nothing changed since {asked.base} that a test file is near to.")
        return 0
    import pytest

    limit = _TimeLimit(asked.seconds)
    code = int(pytest.main(["-q", *files], plugins=[limit]))
    print(limit.report(files))
    return 0 if code == pytest.ExitCode.INTERRUPTED and limit.stopped and not limit.failed else code


def changed(root: Path, base: str) -> list[str]:
    """Return the files that differ from the last commit shared with ``base``, new files included."""
    questions = (
        ["diff", "--name-only", f"{base}...HEAD"],
        ["diff", "--name-only", "HEAD"],
        ["ls-files", "--others", "--exclude-standard"],
    )
    found: set[str] = set()
    for words in questions:
        answer = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
        if answer.returncode:
            sys.exit(f"git {' '.join(words)}: {answer.stderr.strip()}")
        found.update(answer.stdout.splitlines())
    return sorted(found)


def nearest(root: Path, paths: Iterable[str]) -> list[str]:
    """Return the test files near to some changed files, nearest first.

    Parameters
    ----------
    root : Path
        The folder with ``src`` and ``tests``.
    paths : iterable of str
        The changed files, relative to ``root``; files that were deleted may be among them.

    Returns
    -------
    list of str
        Test files relative to ``root``. Changed test files come first.
    """
    source = Source(root / "src")
    modules, names, scores = set(), set(), {}
    for path in map(Path, paths):
        if path.parts[0] == "src" and path.suffix == ".py":
            modules.add(source.module_of(root / path))
            names.add(f"test_{path.stem}")
        elif path.parts[0] != "src" and path.suffix == ".py":
            modules |= {path.stem, ".".join(path.with_suffix("").parts)}
            names.add(f"test_{path.stem}")
        else:
            modules |= {f'*{path.suffix}"'} | ({path.name} if len(path.stem) >= FEWEST_LETTERS else set())
    listed = set(paths)
    for test in sorted((root / "tests").rglob("test_*.py")):
        name = test.relative_to(root).as_posix()
        text = test.read_text(encoding="utf-8")
        used = source.used_by(text)
        near = len(used & modules) / max(len(used), 1)
        near = near or 0.01 * any(word in text for word in modules if "." in word and not word.startswith(PACKAGE))
        score = near + (test.stem in names) + 2 * (name in listed)
        if score:
            scores[name] = score
    return sorted(scores, key=lambda name: (-scores[name], name))


class Source:
    """The modules below a folder, and which of them a test file uses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules = {self.module_of(path) for path in folder.rglob("*.py")}
        self._shown: dict[str, dict[str, str]] = {}

    def module_of(self, path: Path) -> str:
        """Return the dotted name of a file, there or not; that of a package for its ``__init__``."""
        parts = path.relative_to(self.folder).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def used_by(self, text: str) -> set[str]:
        """Return the modules that a file uses: imported, or reached as attributes of what is imported."""
        tree, found, aliases = ast.parse(text), set(), {}
        for node in ast.walk(tree):
            for alias, target in _imported(node):
                aliases[alias] = target
                found.add(self.home(target))
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                first, *rest = ast.unparse(node).split(".")
                if first in aliases and all(part.isidentifier() for part in rest):
                    found.add(self.home(".".join([aliases[first], *rest])))
        return found

    def home(self, name: str) -> str:
        """Return the module that a dotted name leads to, through the names that packages show."""
        if not name.startswith(f"{PACKAGE}."):
            return name
        module = name
        while module not in self.modules and "." in module:
            module = module.rpartition(".")[0]
        rest = name[len(module) + 1 :].split(".")
        shown = self._shown_by(module).get(rest[0]) if rest[0] else None
        return self.home(".".join([shown, *rest[1:]])) if shown and shown != name else module

    def _shown_by(self, package: str) -> dict[str, str]:
        if package not in self._shown:
            file = self.folder.joinpath(*package.split("."), "__init__.py")
            tree = ast.parse(file.read_text(encoding="utf-8") if file.exists() else "")
            self._shown[package] = {
                alias: target
                for node in ast.walk(tree)
                for alias, target in _imported(node)
                if target.startswith(f"{package}.")
            }
        return self._shown[package]


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the local name and the full name of everything that an import statement imports."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0], alias.name)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


class _TimeLimit:
    """A plug-in of pytest that starts no further test once the time is over."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.seconds, self.stopped, self.failed = seconds, False, 0
        self.reached: set[str] = set()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed += report.failed

    def pytest_runtest_protocol(self, item: Any) -> None:
        self.reached.add(item.nodeid.partition("::")[0])
        if time.monotonic() > self.end:
            self.stopped = True
            item.session.shouldstop = f"{self.seconds:g} seconds are over"

    def report(self, files: list[str]) -> str:
        """Return how far the run came."""
        if not self.stopped:
            return f"All tests of the {len(files)} nearest test files were run."
        left = [name for name in files if name not in self.reached]
        missing = f"{len(left)} of {len(files)} near test files were not begun"
        return f"Stopped after {self.seconds:g} s: {missing}. `make test` runs all."


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
