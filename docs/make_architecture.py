"""Read the packages of Noisewright, and which imports which, from the source; draw them.  Run: python docs/make_architecture.py

Every import counts: at the top of a file, inside a function, and under ``if TYPE_CHECKING``; the lazy names of ``__init__`` files
do not. The result is written to ``pictures/architecture.json`` and drawn in ``pictures/architecture.svg``: a matrix with a row
and a column for each package, in the order of the layer contract in ``pyproject.toml``.
"""

from __future__ import annotations

import ast
import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PACKAGE = "noisewright"
DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "src" / PACKAGE
FRONT = {"__init__", "__main__"}
EVERYBODY = {"_typing", "_version", "exceptions"}
"""Modules that every package may import, so they are not drawn."""

Graph = dict[str, set[str]]


# What imports what ---------------------------------------------------------------------------------------------------------


def imports(path: Path, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Line numbers and full names of everything that a file imports; ``from a import b`` is ``a.b``. Lazy names are left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    shown: set[ast.AST] = set()
    if path.name == "__init__.py":
        for node in tree.body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and node.orelse:
                shown |= set(node.body)
    for part in ast.walk(tree):
        if part in shown:
            continue
        if isinstance(part, ast.Import):
            for alias in part.names:
                yield part.lineno, alias.name
        elif isinstance(part, ast.ImportFrom):
            base = list(package[: len(package) - part.level + 1]) if part.level else []
            base += [part.module] if part.module else []
            for alias in part.names:
                yield part.lineno, ".".join([*base, alias.name])


def all_imports(source: Path) -> Iterator[tuple[Path, int, str]]:
    """Every import in the files below a folder: the file, the line, the full name."""
    for path in sorted(source.rglob("*.py")):
        relative = path.relative_to(source)
        for line, name in imports(path, (PACKAGE, *relative.parts[:-1])):
            yield relative, line, name


def packages(source: Path) -> list[str]:
    """Return the packages, and the modules beside them."""
    return sorted(
        path.stem
        for path in source.iterdir()
        if (path / "__init__.py").exists() or (path.suffix == ".py" and path.stem not in FRONT)
    )


def sub_packages(source: Path, package: str) -> list[str]:
    return sorted(path.parent.name for path in (source / package).glob("*/__init__.py"))


def architecture(source: Path = SOURCE) -> dict[str, Any]:
    """Return packages, sub-packages and imports, as they are kept in ``pictures/architecture.json``."""
    between: Graph = {name: set() for name in packages(source)}
    within: dict[str, Graph] = {name: {part: set() for part in sub_packages(source, name)} for name in between}
    for path, _, name in all_imports(source):
        here, there = path.with_suffix("").parts, name.split(".")[1:]
        if not name.startswith(f"{PACKAGE}.") or here[0] not in between or there[0] not in between:
            continue
        if here[0] != there[0]:
            between[here[0]].add(there[0])
        elif len(there) > 1 and here[1] != there[1] and {here[1], there[1]} <= set(within[here[0]]):
            within[here[0]][here[1]].add(there[1])
    return {
        name: {
            "imports": sorted(between[name]),
            "parts": {part: sorted(others) for part, others in within[name].items()},
        }
        for name in between
    }


def layers(project: Path = DOCS.parent / "pyproject.toml") -> list[str]:
    """Return the packages of the layer contract, the lowest first."""
    tools = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]
    (contract,) = (one for one in tools["importlinter"]["contracts"] if one["id"] == "layers")
    return [name.strip() for layer in reversed(contract["layers"]) for name in layer.split("|")]


def as_text(packages: Mapping[str, Any]) -> str:
    """Return the text of ``pictures/architecture.json``."""
    return json.dumps(packages, indent=1) + "\n"


# The picture ---------------------------------------------------------------------------------------------------------------

INK, LINE, BAND, CORE, LAB = "#22303c", "#d5dce2", "#f1f4f6", "#3b6ea5", "#b3592d"
CELL, NAMES = 0.235, 1.25
"""In inches: the side of a cell, the room for names."""


def draw(packages: Mapping[str, Any], order: list[str], path: Path, first_lab: str = "design") -> None:
    """Draw a matrix: a mark where the package of the row imports that of the column."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = PACKAGE
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    size, labs = len(order), order.index(first_lab) if first_lab in order else len(order)
    width = NAMES + size * CELL + 0.1
    figure = plt.figure(figsize=(width, width))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-NAMES / CELL, size + 0.4), ylim=(size + 0.4, -NAMES / CELL))
    axes.axis("off")
    for row, name in enumerate(order):
        if row % 2:
            axes.add_patch(Rectangle((0, row), size, 1, fc=BAND, ec="none", zorder=0))
        axes.add_patch(Rectangle((row, row), 1, 1, fc=LINE, ec="none", zorder=1))
        colour = LAB if row >= labs else INK
        axes.text(-0.3, row + 0.5, name, size=9, color=colour, ha="right", va="center")
        axes.text(row + 0.5, -0.3, name, size=9, color=colour, ha="center", va="bottom", rotation=90)
        for other in set(packages[name]["imports"]) & set(order):
            column = order.index(other)
            axes.plot(column + 0.5, row + 0.5, "o", ms=6, color=LAB if column >= labs else CORE, zorder=2)
    axes.plot([0, size], [labs, labs], color=LAB, lw=0.8)
    axes.plot([labs, labs], [0, size], color=LAB, lw=0.8)
    # Tells which data were drawn; without a date, the same data give the same file.
    drawn = {"Date": None, "Source": f"sha256 {hashlib.sha256(as_text(packages).encode()).hexdigest()}"}
    figure.savefig(path, metadata=drawn if path.suffix == ".svg" else None)
    plt.close(figure)


def main() -> None:
    """Write the data and the picture."""
    pictures = DOCS / "pictures"
    found = architecture()
    (pictures / "architecture.json").write_text(as_text(found), encoding="utf-8")
    draw(found, layers(), pictures / "architecture.svg")


if __name__ == "__main__":
    main()
