"""``noisewright compare --families``: the largest safe epsilon of each family in place of each other one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noisewright.claims.readings import FAMILY_UNITS
from noisewright.cli.shared.output import emit, facts, heading, plural, working
from noisewright.cli.shared.targets import picture_file

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.adversary.replacement.table import ReplacementTable

__all__ = ["families_page"]

POINTS = 16
"""Epsilons in a picture, from none to the largest that was requested."""
MOST_EPSILONS = 50
READING = (
    "Any epsilon up to the one shown is safe: against every average-case adversary (average), every worst-case one (max), or for "
    "every metric (privacy)."
)


def families_page(*, families: str, epsilon: str | None, size: int | None, plot: str | None, as_json: bool) -> None:
    """Print the safe replacements under all three orders, and draw the replacements of the average order to ``plot``.

    ``families`` and ``epsilon`` are lists with commas; nothing is printed or written unless all of it can be.
    """
    from noisewright.adversary.families.families import as_family
    from noisewright.adversary.replacement.replacement import ORDERS
    from noisewright.adversary.replacement.table import replacement_table
    from noisewright.core.errors import ParameterError
    from noisewright.core.exact import positive_fraction

    if epsilon is None or size is None:
        raise ParameterError("families are compared at an epsilon on a number of secrets: give --epsilon and --size.")
    chosen = [as_family(name) for name in families.split(",")]
    wanted = [word.strip() for word in epsilon.split(",")]
    if len(wanted) > MOST_EPSILONS:
        raise ParameterError(f"families are compared at {MOST_EPSILONS} epsilons at most, not at {len(wanted)}.")
    largest = max(positive_fraction(word, "epsilon") for word in wanted)
    picture = picture_file(plot, alone=True)
    with working("comparing families"):
        tables = [replacement_table(chosen, epsilons=wanted, size=size, order=order) for order in ORDERS]
        if picture is not None:
            from noisewright.plots.figure import save_figure
            from noisewright.plots.leakage import draw_replacements

            grid = [largest * k / POINTS for k in range(1, POINTS + 1)]
            curves = replacement_table(chosen, epsilons=grid, size=size, accuracy=1e-4)
            save_figure(draw_replacements(curves), picture)
    rows = [row for table in tables for row in table.to_json()["replacements"]]
    data = {"size": size, "epsilons": wanted, "families": [f.name for f in chosen], "replacements": rows}
    emit({**data, "picture": plot}, lambda: _page(tables, plot), as_json)


def _page(tables: list[ReplacementTable], plot: str | None) -> list[RenderableType]:
    from rich.table import Table

    from noisewright.core.exact import downward

    first = tables[0]
    shown = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("in place of", "epsilon", "may be used", *(f"up to ({table.order})" for table in tables)):
        shown.add_column(name, justify="left" if name in ("in place of", "may be used") else "right")
    for k, epsilon in enumerate(first.epsilons):
        for a, b in first.pairs:
            shown.add_row(a, str(epsilon), b, *(downward(table.cells[k][a, b].epsilon, 4) for table in tables))
    rows: list[tuple[str, str]] = [("Reading", READING), ("Units", FAMILY_UNITS)]
    rows += [] if plot is None else [("Picture", plot)]
    notes: Any = facts(rows, indent=0)
    return [heading("Safe replacement", plural(first.size, "secret")), shown, notes]
