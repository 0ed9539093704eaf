"""``noisewright bench``: measure this library next to its peers. The work is done by the package ``bench`` in a checkout."""

from __future__ import annotations

from typing import Annotated

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, write_json

__all__ = ["COMMAND", "bench"]


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

    from noisewright.cli.shared.checkout import from_checkout
    from noisewright.core.errors import ParameterError

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


COMMAND = Command(bench)
