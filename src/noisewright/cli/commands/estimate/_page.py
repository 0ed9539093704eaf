"""Output of ``noisewright estimate``: whose reports were counted, the shares, and how good they are."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.cli.shared.output import LABEL_LENGTH, facts, heading, label, plural, printable
from noisewright.render import short

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from rich.console import RenderableType
    from rich.table import Table

    from noisewright.estimation.population.mixture import Mixture
    from noisewright.estimation.population.result import Estimate
    from noisewright.releases.recipient.estimating import ColumnEstimate
    from noisewright.releases.recipient.received import Received

__all__ = ["estimate_page", "parts_json", "release_page", "shares_table"]

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
    """Each mechanism's reports and guarantee as plain data; a part is a table, or a name in the column of ``--by``."""
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
    files: Sequence[str], found: Estimate, mixture: Mixture, picture: Path | None, output: str | None = None
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
    if output is not None:
        rows.append(("Table", f"written to {output}"))
    yield facts((what, printable(value)) for what, value in rows)
    for warning in found.warnings:
        yield Text(f"note: {printable(warning)}", style="yellow")


def release_page(
    folder: str, received: Received, found: Sequence[ColumnEstimate], output: Path | None
) -> Iterator[RenderableType]:
    """The columns of a release, one after another."""
    from rich.text import Text

    from noisewright.releases.recipient.words import in_lines

    yield heading(
        folder, f"the table before, estimated from {received.rows or 0:,} released rows; 95 % intervals in brackets"
    )
    for one in found:
        for place, line in enumerate(in_lines(one)):
            yield Text(f"  {printable(line)}", style="" if place else "bold")
    if output is not None:
        count = sum(len(one.shares) for one in found)
        yield Text(f"  {plural(count, 'share')} written to {output}")


def shares_table(found: Estimate) -> pa.Table:
    """All shares as a table, in the order of the page; the parts of a place have columns of their own."""
    import pyarrow as pa

    order = _order(found)
    secrets = [found.secrets[int(i)] for i in order]
    parts = [secret if isinstance(secret, tuple) else (secret,) for secret in secrets]
    names = ["secret"] if len(parts[0]) == 1 else [f"secret {place + 1}" for place in range(len(parts[0]))]
    own: dict[str, Any] = {name: [_cell(part[place]) for part in parts] for place, name in enumerate(names)}
    own |= {"share": found.probabilities[order], "people": found.counts[order]}
    for name, values in (("unbiased", found.unbiased), ("low", found.low), ("high", found.high)):
        if values is not None:
            own[name] = values[order]
    return pa.table(own)


def _cell(value: Hashable) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _order(found: Estimate) -> NDArray[np.int64]:
    """Numbers and places in their own order, so that neighbours are neighbours; everything else by share."""
    import numpy as np

    first = found.secrets[0]
    parts = first if isinstance(first, tuple) else (first,)
    if all(isinstance(part, (int, float)) and not isinstance(part, bool) for part in parts):
        return np.arange(len(found.secrets))
    return np.argsort(-found.probabilities, kind="stable")


def _whose(mixture: Mixture) -> Table:
    """Whose reports are whose, and the guarantee to those who gave them."""
    from rich.text import Text

    table = _table(("Reports of", "Mechanism", "Number", "Promise of each report"), right=("Number",))
    for part in mixture.parts:
        promise = short(part.promise) if part.promise else "none is known"
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
    largest = set(np.argsort(-found.probabilities, kind="stable")[:MOST_SHOWN].tolist())
    shown = [int(i) for i in _order(found) if int(i) in largest]
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
        yield Text(f"  and {plural(rest, 'more secret')}, with {share:.4f} together (-o FILE.csv writes all)")


def _secret(value: Hashable) -> str:
    """A name that fits in the table; text is given apart by its end too."""
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
    """A mixture guarantees no one the best of its mechanisms: each report has the guarantee of its own."""
    if len({part.promise for part in mixture.parts if part.rows}) == 1:
        promise = f"of each report: {short(found.promise or '')}"
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
