"""What is shown and written: the table, the lines about misses and failures, JSON, and a page in Markdown."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.measure import Outcome, Settings, Side, ratio, verdict
from bench.rows import MB, Row

__all__ = ["FORMAT", "as_json", "as_markdown", "as_table", "notes", "show", "write_whole"]

FORMAT = "noisewright bench 1"

COLUMNS = ("row", "size", "ours", "peer", "ratio", "target", "memory", "result")
STYLES = {"met": "green", "missed": "bold red", "failed": "bold red", "measured": ""}


def as_table(outcomes: Sequence[Outcome]) -> Table:
    """The outcomes as a Rich table."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in ("row", "size", "result") else "right", overflow="fold")
    for outcome in outcomes:
        *cells, result = _cells(outcome)
        table.add_row(*(Text(cell) for cell in cells), Text(result, style=STYLES[verdict(outcome)]))
    return table


def notes(outcomes: Sequence[Outcome]) -> list[str]:
    """One line for each row that missed its target or failed."""
    lines = []
    for outcome in outcomes:
        row, result = outcome.row, verdict(outcome)
        if result == "failed":
            lines.append(f"failed: {row.name}: {outcome.problem}")
        if result == "missed":
            times, reasons = ratio(outcome), []
            if row.target is not None and (times is None or times < row.target):
                reasons.append(f"ratio {_times(times)}, target {_times(row.target)}")
            if row.least_rate is not None and outcome.ours is not None and outcome.ours.rate < row.least_rate:
                reasons.append(f"{_short(outcome.ours.rate)}{row.unit}/s, target {_short(row.least_rate)}{row.unit}/s")
            if row.memory_limit is not None and outcome.ours is not None and outcome.ours.above > row.memory_limit:
                reasons.append(f"memory {_memory(outcome.ours.above)}, limit {_memory(row.memory_limit)}")
            lines.append(f"missed: {row.name}: {'; '.join(reasons)}")
    return lines


def as_json(outcomes: Sequence[Outcome], settings: Settings) -> dict[str, Any]:
    """Everything that was measured, as plain data."""
    return {
        "format": FORMAT,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "quick": settings.quick,
        "rounds": settings.rounds,
        "machine": _machine(),
        "packages": {"ours": _packages(outcomes, "ours"), "peers": _packages(outcomes, "peer")},
        "rows": [
            {
                "name": o.row.name,
                "compares": o.row.compares,
                "size": o.size,
                "unit": o.row.unit,
                "ours": _side(o.ours),
                "peer": _side(o.peer),
                "ratio": ratio(o),
                "target": o.row.target,
                "least_rate": o.row.least_rate,
                "memory_limit": o.row.memory_limit,
                "result": verdict(o),
                "problem": o.problem,
            }
            for o in outcomes
        ],
    }


def as_markdown(outcomes: Sequence[Outcome], settings: Settings) -> str:
    """The page ``bench/RESULTS.md``."""
    data = as_json(outcomes, settings)
    machine, packages = data["machine"], data["packages"]
    lines = [
        "# Results",
        "",
        "Written by `make bench`; do not edit. What the columns mean is in [README.md](README.md).",
        "",
        f"* date: {data['date']}",
        f"* machine: {machine['cores']} cores, {machine['system']} {machine['architecture']}, "
        f"load when it ended: {machine['load']}",
        f"* Python {machine['python']}, best of {settings.rounds} rounds",
        f"* ours: {_listed(packages['ours'])}",
        f"* peers: {_listed(packages['peers'])}",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *("| " + " | ".join(_cells(outcome)) + " |" for outcome in outcomes),
        "",
        "## What each row compares",
        "",
        *(f"* **{o.row.name}**: {o.row.compares}." for o in outcomes),
        "",
    ]
    problems = notes(outcomes)
    if problems:
        lines += ["## Missed or failed", "", *(f"* {line}" for line in problems), ""]
    return "\n".join(lines)


def write_whole(path: Path, text: str) -> None:
    """Write a file under a temporary name and rename it, so that it is never half there."""
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8")
    os.replace(partial, path)


def show(console: Console, outcomes: Sequence[Outcome]) -> None:
    """Print the table and what went wrong."""
    console.print(as_table(outcomes))
    for line in notes(outcomes):
        console.print(Text(line, style="bold red"))


def _cells(outcome: Outcome) -> list[str]:
    row = outcome.row
    memory = _memory(outcome.ours.above) if outcome.ours is not None else "-"
    if row.memory_limit is not None:
        memory += f" of {_memory(row.memory_limit)}"
    peer = _speed(outcome.peer, row.unit) if row.peer is not None else "none"
    return [
        row.name,
        outcome.size,
        _speed(outcome.ours, row.unit),
        peer,
        _times(ratio(outcome)),
        _target(row),
        memory,
        verdict(outcome),
    ]


def _speed(side: Side | None, unit: str) -> str:
    """Values per second, or the seconds of one run where a run is one thing."""
    if side is None or not side.rounds:
        return "-"
    if unit == "values":
        return f"{_short(side.rate)}/s"
    seconds = side.seconds
    shown = f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"
    return f"{_short(side.rate)}/s ({shown})"


def _short(rate: float) -> str:
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if rate >= size:
            return f"{rate / size:.3g}{letter}"
    return f"{rate:.3g} "


def _times(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}x" if value >= 100 else f"{value:.2g}x" if value < 10 else f"{value:.3g}x"


def _target(row: Row) -> str:
    """The least ratio, the least rate, or both."""
    told = [] if row.target is None else [_times(row.target)]
    told += [] if row.least_rate is None else [f"{_short(row.least_rate)}/s"]
    return ", ".join(told) or "-"


def _memory(size: int) -> str:
    return f"{max(size, 0) / MB:.0f} MB"


def _side(side: Side | None) -> dict[str, Any] | None:
    if side is None or not side.rounds:
        return None
    return {
        "rate": side.rate,
        "seconds": side.seconds,
        "answer": side.answer,
        "setup_seconds": side.setup,
        "baseline_bytes": side.baseline,
        "above_baseline_bytes": side.above,
        "rounds": [{"seconds": r.seconds, "cpu": r.cpu, "runs": r.runs, "items": r.items} for r in side.rounds],
    }


def _packages(outcomes: Sequence[Outcome], which: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for outcome in outcomes:
        side: Side | None = getattr(outcome, which)
        if side is not None:
            found.update(side.packages)
    if which == "ours":
        for peer in ("opendp", "diffprivlib", "scikit-learn", "qif"):
            found.pop(peer, None)  # installed for the tests, not used by what is measured
    return dict(sorted(found.items()))


def _listed(packages: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in packages.items()) or "not measured"


def _machine() -> dict[str, Any]:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "cores": os.cpu_count(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "load": None if load is None else round(load, 1),
    }
