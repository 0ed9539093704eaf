"""``noisewright reproduce``: run published experiments again, and show the findings next to the reported results.

The experiments are modules of a checkout (``experiments/``). This command lists them, runs them, and prints their results;
everything that is computed is theirs.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.cli.app import Command
from noisewright.render.text import PAGE_WIDTH, AsJson, block, emit, heading, plural, working, write_json

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = ["BENCH_COMMAND", "REPRODUCE_COMMAND", "bench", "reproduce"]


FEWEST_RUNS = 2
OPEN = "~ marks a number that is only shown, not compared: a program leaves it open, or it is a slip in print."
DIFFERS = "! marks a number that does not agree with the one reported."


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The experiment; without one they are listed.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", metavar="", help="Run all of them.")] = False,
    quick: Annotated[bool, typer.Option("--quick", metavar="", help="A few small cases only.")] = False,
    runs: Annotated[
        int | None,
        typer.Option("--runs", metavar="N", help="Runs of an experiment that draws at random.", show_default=False),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option("--plot", metavar="FILE.png", help="Draw the figure there as well.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run published experiments again, beside their reported numbers; alone: list them.

    Ends with code 1 when a number that was compared does not agree, or a claim does not hold. They come with the source.
    """
    from noisewright.cli.arguments import from_checkout
    from noisewright.exceptions import ParameterError

    if name is not None and everything:
        raise ParameterError("a name and --all were both given; give one of them.")
    if (name is None and not everything) and (quick or runs is not None or plot is not None):
        raise ParameterError("there is nothing to run yet; name an experiment, or give --all.")
    if everything and (runs is not None or plot is not None):
        raise ParameterError("--runs and --plot are for one experiment; name it in place of --all.")
    experiments = from_checkout("experiments")
    if name is not None:
        if name not in experiments.NAMES:
            raise ParameterError(f"there is no experiment called {name!r}; {_nearest(name, experiments.NAMES)}")
        _one(experiments.load(name), quick, runs, plot, as_json)
    elif everything:
        _all(experiments, quick, as_json)
    else:
        _list([experiments.load(each) for each in experiments.NAMES], as_json)


def _nearest(word: str, names: Sequence[str]) -> str:
    """Return the names most similar to the word that someone wrote, or else all names."""
    from difflib import get_close_matches

    plain = word.lower().replace("-", "_").replace(" ", "_")
    inside = [name for name in names if plain and plain in name.lower().replace(" ", "_")]
    found = inside[:3] or get_close_matches(plain, names, 3, 0.5)
    return f"did you mean {' or '.join(found)}?" if found else f"choose one of {', '.join(names)}."


# One experiment -----------------------------------------------------------------------------------------------------------


def _one(experiment: Any, quick: bool, runs: int | None, plot: str | None, as_json: bool) -> None:
    from noisewright.cli.arguments import picture_file

    _check(experiment, runs, plot)
    picture = picture_file(plot, alone=True)
    with working(f"running {experiment.name}"):
        result, seconds = _run(experiment, quick, runs)
        if picture is not None:
            _draw(experiment, quick, picture)
    data = {**_about(experiment), "quick": quick, **_outcome(result, seconds), **_numbers(result), "picture": plot}
    emit(data, lambda: _page(experiment, result, plot), as_json)
    if result.agrees is False:
        raise typer.Exit(1)


def _check(experiment: Any, runs: int | None, plot: str | None) -> None:
    from noisewright.exceptions import ParameterError

    if plot is not None and experiment.figure is None:
        raise ParameterError(f"{experiment.name} has no picture; leave --plot out.")
    if runs is not None and experiment.runs is None:
        raise ParameterError(f"{experiment.name} draws nothing at random; leave --runs out.")
    if runs is not None and runs < FEWEST_RUNS:
        raise ParameterError(f"--runs is {runs}; a spread needs {FEWEST_RUNS} runs or more.")


def _run(experiment: Any, quick: bool, runs: int | None = None) -> tuple[Any, float]:
    start = time.perf_counter()
    more = {} if experiment.runs is None else {"runs": experiment.runs[0 if quick else 1] if runs is None else runs}
    return experiment.result(quick, **more), time.perf_counter() - start


def _draw(experiment: Any, quick: bool, picture: Path) -> None:
    from noisewright.plotting.mechanisms import save_figure

    save_figure(experiment.figure(quick), picture)


def _about(experiment: Any) -> dict[str, Any]:
    return {"name": experiment.name, "summary": experiment.summary}


def _outcome(result: Any, seconds: float) -> dict[str, Any]:
    return {
        "agrees": result.agrees,
        "verdict": result.verdict,
        "compared": result.tally.compared,
        "compared_that_agree": result.tally.agree,
        "only_shown": result.tally.shown,
        "only_shown_that_differ": result.tally.apart,
        "claims": len(result.findings),
        "claims_that_hold": sum(result.findings.values()),
        "seconds": round(seconds, 2),
    }


def _numbers(result: Any) -> dict[str, Any]:
    tables = [
        {
            "title": table.title,
            "columns": table.columns,
            "names": [" ".join(name.split()) for name in table.names],
            "source": table.source,
            "tally": str(table.tally),
            "rows": [
                {"label": r.label, "found": r.found, "reported": r.reported, "loose": r.loose, "agrees": r.verdicts}
                for r in table.rows
            ],
        }
        for table in result.tables
    ]
    findings = [{"claim": claim, "holds": holds} for claim, holds in result.findings.items()]
    return {"tables": tables, "findings": findings, "notes": list(result.notes)}


# Pages --------------------------------------------------------------------------------------------------------------------


def _page(experiment: Any, result: Any, plot: str | None) -> list[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    parts = _prose([f"{experiment.name}: {experiment.summary}."])
    for table in result.tables:
        parts += [Text(), Text(table.title, "bold"), _grid(table)]
        parts += _prose([f"Reported: {table.source}. {sentence(str(table.tally))}"])
    notes = [*result.notes]
    if result.tally.shown:
        notes.append(OPEN)
    if not all(row.agrees for row in result.rows):
        notes.append(DIFFERS)
    if result.findings or notes:
        parts.append(Text())
    parts += _prose([f"{'yes' if holds else 'NO'}: {claim}." for claim, holds in result.findings.items()])
    parts += _prose(notes)
    if plot is not None:
        parts.append(Text(f"The picture is in {printable(plot)}."))
    style = {True: "green", False: "bold red", None: "yellow"}[result.agrees]
    return [*parts, Text(), Padding(heading(experiment.name, result.verdict, style), 0)]


def sentence(text: str) -> str:
    """Return a phrase as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def _prose(sentences: Sequence[str]) -> list[RenderableType]:
    """Sentences that are broken at the width of the page."""
    from rich.padding import Padding
    from rich.text import Text

    return [Padding(Text(sentence), 0) for sentence in sentences]


def _grid(table: Any) -> RenderableType:
    """A table of numbers, each with the reported one next to it, or below it where the page is too narrow."""
    cells = [
        [
            _cell(found, told, good, table.decimals)
            for found, told, good in zip(row.found, row.told, row.verdicts, strict=True)
        ]
        for row in table.rows
    ]
    beside = [[" ".join(parts) for parts in row] for row in cells]
    lines = list(zip(*[[*row.label, *texts] for row, texts in zip(table.rows, beside, strict=True)], strict=True))
    heads = [*table.columns, *table.names]
    width = sum(max(map(len, [*head.split("\n"), *column])) + 3 for head, column in zip(heads, lines, strict=True))
    shown: list[list[Any]] = (
        list(beside) if width <= PAGE_WIDTH else [[block("\n".join(parts)) for parts in row] for row in cells]
    )
    grid = _table(*table.columns)
    for head in table.names:
        grid.add_column(head, justify="right", vertical="bottom", overflow="fold")
    before = None
    for row, texts in zip(table.rows, shown, strict=True):
        if before is not None and before != row.label[:-1]:
            grid.add_section()
        before = row.label[:-1]
        grid.add_row(*row.label, *texts, style=None if row.agrees else "red")
    return grid


def _cell(found: float, told: float | None, agrees: bool | None, decimals: int) -> list[str]:
    here, mark = f"{found:.{decimals}f}", "~" if agrees is None else ""
    return [here] if told is None else [here, f"({mark}{told:.{decimals}f}){' !' if agrees is False else ''}"]


def _table(*titles: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold")  # on a narrow terminal, nothing is cut off
    return table


# All of them --------------------------------------------------------------------------------------------------------------


def _all(experiments: Any, quick: bool, as_json: bool) -> None:
    outcomes = []
    for number, name in enumerate(experiments.NAMES, 1):
        with working(f"{number} of {len(experiments.NAMES)}: {name}"):
            experiment = experiments.load(name)
            outcomes.append({**_about(experiment), **_outcome(*_run(experiment, quick))})
    agrees = all(outcome["agrees"] is not False for outcome in outcomes)
    emit({"quick": quick, "agrees": agrees, "experiments": outcomes}, lambda: _summary(outcomes), as_json)
    if not agrees:
        raise typer.Exit(1)


def _summary(outcomes: list[dict[str, Any]]) -> list[RenderableType]:
    from rich.text import Text

    table = _table("Experiment")
    for title in ("Compared", "Agree", "Only shown", "Claims", "Hold", "Seconds"):
        table.add_column(title, justify="right")
    table.add_column("")
    for o in outcomes:
        claims = (str(o["claims"]), str(o["claims_that_hold"])) if o["claims"] else ("-", "-")
        shown = f"{o['only_shown']} ({o['only_shown_that_differ']} differ)" if o["only_shown"] else "-"
        counts = (str(o["compared"]), str(o["compared_that_agree"])) if o["compared"] else ("-", "-")
        alone = "nothing to compare" if o["agrees"] is None else "claims alone"
        verdict = "DIFFERS" if o["agrees"] is False else "ok" if o["compared"] else alone
        table.add_row(
            o["name"],
            *counts,
            shown,
            *claims,
            f"{o['seconds']:.1f}",
            verdict,
            style="red" if verdict == "DIFFERS" else None,
        )
    some, claimed = (
        [o for o in outcomes if bool(o["compared"]) == has and o["agrees"] is not None] for has in (True, False)
    )
    good = f"{sum(o['agrees'] for o in some)} of {plural(len(some), 'experiment')} come out as reported, in what is compared"
    good += f"; {sum(o['agrees'] for o in claimed)} of {len(claimed)} in claims alone" if claimed else ""
    rest = len(outcomes) - len(some) - len(claimed)
    good += f"; {plural(rest, 'experiment')} with nothing to compare" if rest else ""
    return [table, Text(f"\n{good}.")]


def _list(found: list[Any], as_json: bool) -> None:
    from rich.text import Text

    def page() -> list[RenderableType]:
        table = _table("Experiment", "What is run again", "Quick", "Whole", "Picture")
        for column in ("Quick", "Whole"):
            table.columns[("Quick", "Whole").index(column) + 2].justify = "right"
        table.columns[0].no_wrap = True
        for e in found:
            table.add_row(
                e.name, e.summary, *(f"about {seconds:g} s" for seconds in e.seconds), "yes" if e.figure else "-"
            )
        words = "noisewright reproduce NAME runs one, with --quick a part of it; --all runs all of them."
        return [table, Text(f"\n{words}")]

    data = [
        {
            **_about(e),
            "seconds": {"quick": e.seconds[0], "whole": e.seconds[1]},
            "picture": e.figure is not None,
            "runs": None if e.runs is None else {"quick": e.runs[0], "whole": e.runs[1]},
        }
        for e in found
    ]
    emit({"experiments": data}, page, as_json)


REPRODUCE_COMMAND = Command(reproduce)


# Bench --------------------------------------------------------------------------------------------------------------------
#
# ``noisewright bench``: measure this library next to its peers. The work is done by the package ``bench`` in a checkout.


def bench(
    only: Annotated[
        str | None, typer.Option("--only", metavar="TEXT,...", help="Rows whose name holds a text.", show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", metavar="", help="Two short rounds, and smaller sizes.")] = False,
    rounds: Annotated[int, typer.Option("--rounds", metavar="N", help="Rounds of each side; the best counts.")] = 5,
    names: Annotated[bool, typer.Option("--list", metavar="", help="Only list the rows.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure this library beside its peers, which get an environment of their own.

    A full run without --json also writes bench/RESULTS.md and bench/results.json in the copy of the source.

    Ends with code 1 when a row could not be measured; a missed target is a measurement too.
    """
    from importlib import import_module

    from rich.console import Console

    from noisewright.cli.arguments import from_checkout
    from noisewright.exceptions import ParameterError

    if rounds < 1:
        raise ParameterError(f"--rounds is {rounds}; give 1 or more.")
    from_checkout("bench")
    work, report = import_module("bench.__main__"), import_module("bench.report")
    texts = None if only is None else [only]
    if only is not None and not work.chosen(work.all_rows(), texts):  # no one name holds it with its commas
        texts = [text.strip() for text in only.split(",")]
    rows = work.chosen(work.all_rows(), texts)
    if not rows or (texts and "" in texts):
        raise ParameterError(f"no row has a name with {only!r} in it; noisewright bench --list shows their names.")
    if not as_json:
        work.bench(only=texts, quick=quick, rounds=rounds, json_file=None, names=names)
    elif names:
        write_json({"rows": [{"name": row.name, "compares": row.compares} for row in rows]})
    else:
        settings = work.Settings(2, 0.1, True) if quick else work.Settings(rounds)
        outcomes = work.run(rows, settings, Console(stderr=True, quiet=True))
        write_json(report.as_json(outcomes, settings))
        raise typer.Exit(work.exit_code(outcomes))


BENCH_COMMAND = Command(bench)
