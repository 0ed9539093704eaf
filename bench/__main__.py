"""``python -m bench``: measure this library beside its peers, in one run.

The exit code is 0 when every row was measured, whether its target was met or missed; 1 when a side was missing, crashed,
ran out of time or computed something else; 2 when no row was asked for.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bench.environment import ROOT, PeersError, peers_python
from bench.measure import Outcome, Settings, measure, verdict
from bench.report import as_json, as_markdown, show, write_whole
from bench.rows import Row, all_rows

__all__ = ["bench", "main"]


def bench(
    only: Annotated[list[str] | None, typer.Option(help="Rows whose name holds this text; may be repeated.")] = None,
    quick: Annotated[bool, typer.Option(help="A short run: two rounds, smaller sizes where a row has them.")] = False,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each side; the best counts.")] = 5,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write everything measured to this file.")] = None,
    names: Annotated[bool, typer.Option("--list", help="Only list the rows.")] = False,
) -> None:
    """Measure this library beside its peers. A full run also writes bench/RESULTS.md and bench/results.json."""
    rows = chosen(all_rows(), only)
    out, progress = Console(width=None if sys.stdout.isatty() else 170), Console(stderr=True)
    if names or not rows:
        for row in rows:
            out.print(f"{row.name}: {row.compares}", markup=False, highlight=False)
        if not rows:
            progress.print("no row has such a name; see --list", markup=False)
        raise typer.Exit(0 if rows else 2)
    settings = Settings(2, 0.1, True) if quick else Settings(rounds)
    outcomes = run(rows, settings, progress)
    show(out, outcomes)
    data = json.dumps(as_json(outcomes, settings), indent=1) + "\n"
    if json_file is not None:
        write_whole(json_file, data)
    if not quick and not only:
        write_whole(ROOT / "bench" / "results.json", data)
        write_whole(ROOT / "bench" / "RESULTS.md", as_markdown(outcomes, settings))
    raise typer.Exit(exit_code(outcomes))


def chosen(rows: Sequence[Row], only: Sequence[str] | None) -> list[Row]:
    """The rows whose name holds one of the texts, all where none is given."""
    return [row for row in rows if not only or any(text.lower() in row.name.lower() for text in only)]


def run(rows: Sequence[Row], settings: Settings, progress: Console) -> list[Outcome]:
    """Measure the rows one after the other."""
    with progress.status("starting") as status:

        def announce(text: str) -> None:
            status.update(text)
            if not progress.is_terminal:  # this takes minutes, and no spinner turns
                progress.print(text, markup=False, highlight=False)

        peers = None
        if any(row.peer and not row.own_peer for row in rows):
            try:
                peers = peers_python(announce)
            except PeersError as problem:
                progress.print(str(problem), markup=False, style="bold red")
        outcomes = []
        for number, row in enumerate(rows, 1):
            head = f"{number} of {len(rows)}: {row.name}"
            status.update(head)

            def say(text: str, head: str = head) -> None:
                status.update(f"{head}: {text}")

            outcomes.append(measure(row, peers, settings, say))
            if not progress.is_terminal:
                progress.print(f"{head}: {verdict(outcomes[-1])}", markup=False, highlight=False)
    return outcomes


def exit_code(outcomes: Sequence[Outcome]) -> int:
    """0 when everything was measured; a missed target is a measurement too."""
    return 1 if any(verdict(outcome) == "failed" for outcome in outcomes) else 0


def main() -> None:
    """Run the command line."""
    typer.run(bench)


if __name__ == "__main__":
    main()
