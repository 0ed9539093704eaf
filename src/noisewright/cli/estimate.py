"""``noisewright estimate``: the population behind private reports, with a certificate of how good the fit is."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from noisewright.cli.design import target_file
from noisewright.cli.output import AsJson, emit, facts, heading, label, plural, printable, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.estimate.result import Estimate

__all__ = ["estimate"]

MOST_SHOWN = 20


def estimate(
    reports: Annotated[
        str,
        typer.Argument(
            metavar="REPORTS", help="A .parquet, .csv, .arrow or .jsonl file, a folder of them, or table@file.duckdb."
        ),
    ],
    mechanism: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="The mechanism that made the reports: its certificate (.json), or a channel file."
        ),
    ],
    column: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The column of the reports; for places x,y. Default: the only column."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="auto|inversion|ibu|mle", help="The estimator; auto: mle for categories, ibu for numbers."
        ),
    ] = "auto",
    intervals: Annotated[
        str | None, typer.Option(metavar="asymptotic|bootstrap", help="Add confidence intervals of this kind.")
    ] = None,
    level: Annotated[float, typer.Option(metavar="L", help="The level of the confidence intervals.")] = 0.95,
    within: Annotated[
        str | None,
        typer.Option(
            metavar="LOW:HIGH",
            help="The range of the secrets, for noise without bounds; for places LOW:HIGH,LOW:HIGH.",
        ),
    ] = None,
    outside: Annotated[
        str, typer.Option(metavar="refuse|drop", help="What to do with reports that are no outputs of the mechanism.")
    ] = "refuse",
    iterations: Annotated[int | None, typer.Option(metavar="N", help="The most steps of the ibu.")] = None,
    gap: Annotated[
        float, typer.Option(metavar="G", help="Stop the ibu at this certified gap of log-likelihood.")
    ] = 0.1,
    engine: Annotated[str, typer.Option(metavar="local|spark", help="Who counts the reports.")] = "local",
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Where Spark runs, such as local[2] or spark://host:7077.")
    ] = None,
    plot: Annotated[str | None, typer.Option("--plot", metavar="FILE.png", help="Draw the estimate there.")] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the population of secrets behind private reports.

    Reports are counted where they are, and only counts are used. The answer carries a certificate of how much likelihood any
    other population could gain. Nothing here changes what was promised to those who reported.
    """
    from noisewright.core.choices import one_of
    from noisewright.core.errors import ParameterError
    from noisewright.estimate.models import model_of
    from noisewright.estimate.oracles import as_oracles
    from noisewright.estimate.population import METHODS
    from noisewright.estimate.population import estimate as run
    from noisewright.files import load

    one_of(method, "--method", METHODS)
    one_of(outside, "--outside", ("refuse", "drop"))
    one_of(engine, "--engine", ("local", "spark"))
    if intervals is not None:
        one_of(intervals, "--intervals", ("asymptotic", "bootstrap"))
    if master is not None and engine != "spark":
        raise ParameterError("--master is for Spark; add --engine spark.")
    picture = None if plot is None else target_file(plot, "a picture", (".png", ".svg", ".pdf"))
    with working("reading the mechanism"):
        given = load(mechanism)
        oracles = as_oracles([given])
        if oracles is not None and within is not None:
            raise ParameterError(f"the secrets of {oracles[0].name} are known; --within is for noise without bounds.")
        made_by = model_of(given, _range(within)) if oracles is None else oracles[0]
    from noisewright.cli.reports import counted

    with _progress("counting reports") as progress:
        counts = counted(reports, column, made_by, outside=outside, engine=engine, master=master, progress=progress)
    with _progress("estimating", "steps") as progress:
        found = run(
            counts,
            made_by,
            method=cast(Any, method),
            outside=cast(Any, outside),
            intervals=cast(Any, intervals),
            level=level,
            iterations=iterations,
            gap=gap,
            progress=progress,
        )
    if picture is not None:
        from noisewright.plots.figure import save_figure
        from noisewright.plots.population import draw_estimate

        save_figure(draw_estimate(found), picture)
    document = {"file": reports, **found.to_json(), "picture": None if picture is None else str(picture)}
    emit(document, lambda: _page(reports, found, picture), as_json)


def _range(text: str | None) -> Any:
    """``0:100``, or two such ranges for places."""
    from noisewright.core.errors import ParameterError

    if text is None:
        return None
    found = [re.fullmatch(r"\s*(-?\d{1,16}):(-?\d{1,16})\s*", part, re.ASCII) for part in text.split(",")]
    ends = [(int(one[1]), int(one[2])) for one in found if one is not None]
    if len(ends) < len(found) or len(ends) > 2:
        raise ParameterError(f"--within is LOW:HIGH, or LOW:HIGH,LOW:HIGH for places, not {text!r}.")
    return ends[0] if len(ends) == 1 else tuple(ends)


def _page(file: str, found: Estimate, picture: Path | None) -> Iterable[RenderableType]:
    import numpy as np
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    yield heading(file, f"{found.reports:,} reports of {found.mechanism}, {plural(len(found.secrets), 'secret')}")
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in (
        "Secret",
        "Share",
        "People",
        *([f"{100 * found.level:g} % interval"] if found.low is not None else []),
    ):
        table.add_column(title, justify="left" if title in ("Secret", "") else "right")
    shown = np.sort(np.argsort(-found.probabilities, kind="stable")[:MOST_SHOWN])
    for i in shown:
        cells = [label(found.secrets[int(i)]), f"{found.probabilities[i]:.4f}", f"{found.counts[i]:,.0f}"]
        if found.low is not None and found.high is not None:
            cells.append(f"{found.low[i]:.4f} to {found.high[i]:.4f}")
        table.add_row(*cells)
    yield table
    rest = len(found.secrets) - len(shown)
    if rest:
        share = max(1 - float(found.probabilities[shown].sum()), 0.0)
        yield Text(f"  and {plural(rest, 'more secret')}, with {share:.4f} together (--json has all)")
    how = {
        "mle": "a most likely population",
        "ibu": "iterative Bayesian update",
        "inversion": "unbiased estimate, projected",
    }
    steps = f", {plural(found.iterations, 'step')}" if found.iterations else ""
    rows = [("Method", f"{how[found.method]}{steps}"), ("Likelihood", found.certificate())]
    if found.intervals:
        rows.append(("Intervals", f"{found.intervals}, each for one secret alone"))
    if found.dropped:
        rows.append(("Left out", f"{found.dropped:,} reports that are no outputs of the mechanism"))
    if found.promise:
        rows.append(("Privacy", f"of each report: {found.promise}; estimation does not change it"))
    if picture is not None:
        rows.append(("Picture", f"drawn to {picture}"))
    yield facts((what, printable(value)) for what, value in rows)
    for warning in found.warnings:
        yield Text(f"note: {warning}", style="yellow")


@contextmanager
def _progress(what: str, unit: str = "rows") -> Iterator[Callable[[int, int | None], None] | None]:
    """A progress bar on a terminal's stderr; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
