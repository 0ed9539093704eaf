"""Rows about starting: processor time of a whole process, from its start to its end."""

from __future__ import annotations

from bench.rows import Row, Task

__all__ = ["ROWS"]

NEEDED = "numpy, pyarrow, duckdb, pydantic, rich.console, typer"
"""What a plan cannot do without."""


def _command(name: str, words: str, target: float) -> Row:
    return Row(
        name=f"start-up, {name}",
        compares=f"processor time of noisewright {words}, against that of importing {NEEDED}",
        size="one process",
        ours=Task("bench.startup:command", {"words": words}),
        peer=Task("bench.startup:imported", {"modules": NEEDED}),
        target=target,
        unit="processes",
        own_peer=True,
    )


def _import(name: str, modules: str) -> Row:
    return Row(
        name=f"start-up, import, {name}",
        compares=f"processor time of import noisewright, against that of import {modules}",
        size="one process",
        ours=Task("bench.startup:imported", {"modules": "noisewright"}),
        peer=Task("bench.startup:imported", {"modules": modules}),
        target=40.0,
        unit="processes",
    )


ROWS = [
    _import("opendp", "opendp.prelude"),
    _import("diffprivlib", "diffprivlib"),
    _command("version", "--version", 4.0),
    _command("verify", "verify proof.json", 1.1),
    _command("plan, CSV", "plan policy.toml small.csv --ledger none.sqlite", 0.55),
    _command("plan, Parquet", "plan policy.toml small.parquet --ledger none.sqlite", 0.55),
]
