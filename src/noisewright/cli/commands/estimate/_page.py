"""What ``noisewright estimate`` prints: whose reports were counted, the shares, and how good they are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.cli.shared.output import LABEL_LENGTH, facts, heading, label, plural, printable
from noisewright.cli.shared.words import plainly

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from noisewright.estimation.population.mixture import Mixture
    from noisewright.estimation.population.result import Estimate

__all__ = ["estimate_page", "parts_json"]

MOST_SHOWN = 20
"""Secrets in the table of shares."""
MOST_NAMED = 3
"""Tables that the heading names."""

HOW = {
    "mle": "a most likely population",
    "ibu": "iterative Bayesian update",
    "inversion": "unbiased estimate, projected",
}


def parts_json(mixture: Mixture, files: Sequence[str | None], mechanisms: Sequence[str]) -> list[dict[str, Any]]:
    """Each mechanism's reports and promise as plain data; a part is a table, or a name in the column of ``--by``."""
    return [
        {
            "name": None if file is not None else part.name,
            "file": file,
            "mechanism": part.maker.name,
            "mechanism_file": mechanism,
            "promise": part.promise,
            "reports": part.reports,
            "dropped": part.dropped,
        }
        for part, file, mechanism in zip(mixture.parts, files, mechanisms, strict=True)
    ]


def estimate_page(
    files: Sequence[str], found: Estimate, mixture: Mixture, picture: Path | None
) -> Iterator[RenderableType]:
    """The page for a person."""
    from rich.text import Text

    name = ", ".join(files) if len(files) <= MOST_NAMED else f"{len(files)} tables"
    yield heading(name, f"{found.reports:,} reports of {found.mechanism}, {plural(len(found.secrets), 'secret')}")
    if len(mixture.parts) > 1:
        yield _whose(mixture)
        yield Text("")
    yield from _shares(found)
    steps = f", {plural(found.iterations, 'step')}" if found.iterations else ""
    rows = [("Method", f"{HOW[found.method]}{steps}"), ("Likelihood", found.certificate())]
    if found.intervals:
        rows.append(("Intervals", f"{found.intervals}, {found.scope}"))
    rows += [("Left out", words) for words in _left_out(found, mixture)]
    if found.promise:
        rows.append(("Privacy", _privacy(found, mixture)))
    if picture is not None:
        rows.append(("Picture", f"drawn to {picture}"))
    yield facts((what, printable(value)) for what, value in rows)
    for warning in found.warnings:
        yield Text(f"note: {printable(warning)}", style="yellow")


def _whose(mixture: Mixture) -> Table:
    """Whose reports are whose, and what was promised to those who gave them."""
    from rich.text import Text

    table = _table(("Reports of", "Mechanism", "Number", "Promise of each report"), right=("Number",))
    for part in mixture.parts:
        promise = plainly(part.promise) if part.promise else "none is known"
        cells = (label(part.name), part.maker.name, f"{part.reports:,}", promise)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _shares(found: Estimate) -> Iterable[RenderableType]:
    import numpy as np
    from rich.text import Text

    unbiased = ["Unbiased"] if found.unbiased is not None else []
    interval = [f"{found.confidence_in_words} interval"] if found.low is not None else []
    numbers = ("Share", "People", *unbiased, *interval)
    table = _table(("Secret", *numbers), right=numbers)
    shown = np.sort(np.argsort(-found.probabilities, kind="stable")[:MOST_SHOWN])
    for i in shown:
        cells = [_secret(found.secrets[int(i)]), f"{found.probabilities[i]:.4f}", f"{found.counts[i]:,.0f}"]
        if found.unbiased is not None:
            cells.append(f"{found.unbiased[i]:.4f}")
        if found.low is not None and found.high is not None:
            cells.append(f"{found.low[i]:.4f} to {found.high[i]:.4f}")
        table.add_row(*cells)
    yield table
    rest = len(found.secrets) - len(shown)
    if rest:
        share = max(1 - float(found.probabilities[shown].sum()), 0.0)
        yield Text(f"  and {plural(rest, 'more secret')}, with {share:.4f} together (--json has all)")


def _secret(value: Hashable) -> str:
    """A name that fits in the table; text is told apart by its end too."""
    from noisewright.estimation.population.result import short_name

    return short_name(value, LABEL_LENGTH) if isinstance(value, str) else label(value)


def _left_out(found: Estimate, mixture: Mixture) -> Iterator[str]:
    outside = found.dropped - mixture.unnamed
    if outside:
        what = "report that is no output" if outside == 1 else "reports that are no outputs"
        yield f"{outside:,} {what} of {'the' if len(mixture.parts) == 1 else 'their'} mechanism"
    if mixture.unnamed:
        yield f"{mixture.unnamed:,} row{'s that name' if mixture.unnamed > 1 else ' that names'} none of the mechanisms"


def _privacy(found: Estimate, mixture: Mixture) -> str:
    """A mixture promises nobody the best of its mechanisms: each report has the promise of its own."""
    if len({part.promise for part in mixture.parts if part.rows}) == 1:
        promise = f"of each report: {plainly(found.promise or '')}"
    else:
        promise = "of each report: that of its own mechanism, as listed"
    several = "; several reports of one person add up" if len(mixture.parts) > 1 else ""
    return f"{promise}{several}; estimation does not change it"


def _table(titles: Sequence[str], right: Sequence[str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in titles:
        table.add_column(title, justify="right" if title in right else "left")
    return table
