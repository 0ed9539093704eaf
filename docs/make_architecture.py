"""Read packages and their imports from the source, and draw them.  Run:  python docs/make_architecture.py

Every import counts: at the top of a file, inside a function, and under ``if TYPE_CHECKING``; the tables of lazily loaded names do
not. The result is written to ``pictures/architecture.json`` and drawn in ``pictures/architecture.svg``. Arrows that follow from
others are omitted: if a package imports a second one, and the second a third, the arrow to the third is not drawn.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PACKAGE = "noisewright"
DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "src" / PACKAGE
FRONT = {"__init__", "__main__"}

Graph = dict[str, set[str]]


# What imports what ---------------------------------------------------------------------------------------------------------


def imports(path: Path, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Line numbers and full names of everything that a file imports; ``from a import b`` is ``a.b``. Doors are left out."""
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


def rooms(source: Path) -> list[str]:
    """Return the names of all packages, auxiliary ones included."""
    return sorted(
        path.stem
        for path in source.iterdir()
        if (path / "__init__.py").exists() or (path.suffix == ".py" and path.stem not in FRONT)
    )


def sub_packages(source: Path, room: str) -> list[str]:
    return sorted(path.parent.name for path in (source / room).glob("*/__init__.py"))


def architecture(source: Path = SOURCE) -> dict[str, Any]:
    """Return packages, subpackages and imports, in the form of ``pictures/architecture.json``."""
    between: Graph = {room: set() for room in rooms(source)}
    within: dict[str, Graph] = {room: {part: set() for part in sub_packages(source, room)} for room in between}
    for path, _, name in all_imports(source):
        here, there = path.with_suffix("").parts, name.split(".")[1:]
        if not name.startswith(f"{PACKAGE}.") or here[0] not in between or there[0] not in between:
            continue
        if here[0] != there[0]:
            between[here[0]].add(there[0])
        elif len(there) > 1 and here[1] != there[1] and {here[1], there[1]} <= set(within[here[0]]):
            within[here[0]][here[1]].add(there[1])
    return {
        room: {
            "imports": sorted(between[room]),
            "parts": {part: sorted(others) for part, others in within[room].items()},
        }
        for room in between
    }


def as_text(house: Mapping[str, Any]) -> str:
    """Return the text of ``pictures/architecture.json``."""
    return json.dumps(house, indent=1) + "\n"


def reduced(graph: Mapping[str, set[str]]) -> Graph:
    """The graph without the arrows that follow from others."""
    return {
        node: {one for one in others if not any(one in reach(graph, other) for other in others - {one})}
        for node, others in graph.items()
    }


def reach(graph: Mapping[str, set[str]], node: str) -> set[str]:
    found: set[str] = set()
    left = [node]
    while left:
        new = set(graph[left.pop()]) - found
        found |= new
        left += new
    return found


def heights(graph: Mapping[str, set[str]]) -> dict[str, int]:
    """Return the length of the longest downward path from each node."""
    found: dict[str, int] = {}

    def height(node: str) -> int:
        if node not in found:
            found[node] = 1 + max((height(other) for other in graph[node]), default=-1)
        return found[node]

    for node in graph:
        height(node)
    return found


# The picture ---------------------------------------------------------------------------------------------------------------

INK, QUIET, ROOM, PART, ARROW = "#22303c", "#5d6b77", "#f1f4f6", "#ffffff", "#3b6ea5"
LEFT, NAME, STEP, BOX, ROW, GAP = 0.82, 1.5, 1.16, 0.94, 0.37, 0.12
"""Sizes in inches: start of the bands, width of a package's name, step between boxes, width of a box, rows and gaps."""


def draw(house: Mapping[str, Any], path: Path) -> None:
    """Draw packages as bands, the lowest layer at the bottom; subpackages as boxes, to the right of their imports."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = PACKAGE
    import matplotlib.pyplot as plt
    from matplotlib.patches import FancyBboxPatch

    between: Graph = {room: set(known["imports"]) for room, known in house.items()}
    level = heights(between)
    bands = sorted(house, key=lambda room: (level[room], room))
    columns = max(1 + max(heights(_parts(house, room)).values(), default=0) for room in house)
    width = LEFT + NAME + columns * STEP
    bottoms, middles, top = {}, {}, 0.1
    for room in bands:
        size = GAP + ROW * max((len(stack) for stack in _stacks(_parts(house, room))), default=0.6)
        bottoms[room], middles[room] = (top, size), top + size / 2
        top += size + GAP
    figure = plt.figure(figsize=(width + 0.1, top))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width + 0.1), ylim=(0, top))
    axes.axis("off")
    for room in bands:
        bottom, size = bottoms[room]
        band = (LEFT, bottom), width - LEFT, size
        axes.add_patch(FancyBboxPatch(*band, boxstyle="round,pad=0,rounding_size=0.07", fc=ROOM, ec="none", zorder=0))
        axes.text(LEFT + 0.12, middles[room], room, size=12, weight="bold", color=INK, va="center")
        _draw_parts(axes, _parts(house, room), middles[room])
    _draw_lanes(axes, reduced(between), middles)
    # Identifies the data; without a date, the same data give the same file.
    drawn = {"Date": None, "Source": f"sha256 {hashlib.sha256(as_text(house).encode()).hexdigest()}"}
    figure.savefig(path, metadata=drawn if path.suffix == ".svg" else None)
    plt.close(figure)


def _parts(house: Mapping[str, Any], room: str) -> Graph:
    return {part: set(others) for part, others in house[room]["parts"].items()}


def _stacks(graph: Graph) -> list[list[str]]:
    """Sub-packages by height; those with the same one lie above each other, near what they need."""
    level = heights(graph)
    stacks: list[list[str]] = [[] for _ in range(1 + max(level.values(), default=-1))]
    place: dict[str, float] = {}
    for node in sorted(graph, key=lambda node: (level[node], node)):
        stacks[level[node]].append(node)
    for stack in stacks:
        near = {node: [place[other] for other in graph[node]] or [0.0] for node in stack}
        stack.sort(key=lambda node: (sum(near[node]) / len(near[node]), node))
        place.update({node: row - (len(stack) - 1) / 2 for row, node in enumerate(stack)})
    return stacks


def _draw_parts(axes: Any, graph: Graph, middle: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    centre: dict[str, tuple[float, float]] = {}
    for column, stack in enumerate(_stacks(graph)):
        for row, part in enumerate(stack):
            x, y = LEFT + NAME + column * STEP, middle + (row - (len(stack) - 1) / 2) * ROW
            shape = "round,pad=0,rounding_size=0.05"
            axes.add_patch(
                FancyBboxPatch((x, y - 0.13), BOX, 0.26, boxstyle=shape, fc=PART, ec=QUIET, lw=0.8, zorder=3)
            )
            axes.text(x + BOX / 2, y - 0.01, part, size=10, color=INK, ha="center", va="center", zorder=4)
            centre[part] = (x, y)
    for part, others in reduced(graph).items():
        for other in sorted(others):
            (x, y), (left, down) = centre[part], centre[other]
            between = [height for place, height in centre.values() if left < place < x]
            if not between:
                _arrow(axes, (x, y), (left + BOX, down))
            elif all(abs(height - down) > 0.17 for height in between):  # between the boxes
                corner = x - STEP + BOX
                axes.plot([x, corner], [y, down], color=ARROW, lw=1.1, zorder=2)
                _arrow(axes, (corner, down), (left + BOX, down))
            else:  # around them
                side = 1 if down > y else -1
                _arrow(axes, (x + 0.15, y + 0.13 * side), (left + BOX, down), 0.22 * side)


def _draw_lanes(axes: Any, graph: Graph, middles: Mapping[str, float]) -> None:
    """Draw arrows between packages, to the left of the bands; arrows to the same package share a lane."""
    starts = {room: [middles[one] for one, others in graph.items() if room in others] for room in graph}
    lanes: list[list[tuple[float, float]]] = []
    for room in sorted((room for room in starts if starts[room]), key=lambda room: max(starts[room]) - middles[room]):
        high, low = max(starts[room]) - 0.05, middles[room] + 0.05
        free = (place for place, lane in enumerate(lanes) if all(high < end or low > start for start, end in lane))
        place = next(free, len(lanes))
        if place == len(lanes):
            lanes.append([])
        lanes[place].append((high, low))
        x = LEFT - 0.2 - 0.14 * place
        for start in starts[room]:
            axes.plot([LEFT, x, x], [start - 0.05, start - 0.05, low], color=ARROW, lw=1.1, solid_joinstyle="round")
            axes.plot([x], [start - 0.05], ".", color=ARROW, ms=5)
        _arrow(axes, (x, low), (LEFT, low))


def _arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], bend: float = 0.0) -> None:
    look = {"arrowstyle": "-|>,head_width=0.14,head_length=0.28", "color": ARROW, "lw": 1.1, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops={**look, "connectionstyle": f"arc3,rad={bend}"}, zorder=2)


def main() -> None:
    pictures = DOCS / "pictures"
    house = architecture()
    (pictures / "architecture.json").write_text(as_text(house), encoding="utf-8")
    draw(house, pictures / "architecture.svg")


if __name__ == "__main__":
    main()
