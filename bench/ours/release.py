"""Whole releases: a Parquet file in; a folder with the protected table, certificate, report and lock out, and a ledger."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path
from typing import Literal

import pyarrow.compute as pc
import pyarrow.dataset as ds

import noisewright as nw
from bench.clinic import COLUMNS, MADE, POLICY, unsafe_release
from bench.clinic import kept as kept_share
from bench.environment import ROOT
from bench.work import Work, by_processor
from noisewright.releases.release import Release

__all__ = ["kept", "local", "processor", "spark", "unsafe"]

DATA = ROOT / ".bench" / "data"
BYTES_PER_ROW = 25
"""What input and output together take on disk, and twice that."""


def local(rows: int) -> Work:
    """The local engine."""
    return _release(rows, "local")


def kept(rows: int) -> Work:
    """The local engine, with rows in the order of the table."""
    return _release(rows, "local", "kept")


def processor(rows: int, order: Literal["random", "kept"]) -> Work:
    """The local engine, by the processor time of all its threads."""
    return by_processor(_release(rows, "local", order))


def unsafe(rows: int) -> Work:
    """The same table without a promise: numpy's noise, cut off at the ranges; a row group at a time."""
    data = _visits(rows)
    folder = Path(tempfile.mkdtemp(prefix="unsafe-", dir=DATA))

    def run() -> Path:
        unsafe_release(data, folder / "out.parquet")
        return folder / "out.parquet"

    def answer(out: Path) -> float:
        before, after = (
            ds.dataset(path).head(min(rows, MADE), columns=["diagnosis", "smoker"]) for path in (data, out)
        )
        return kept_share(*(pc.equal(b, a).to_numpy() for b, a in zip(before, after, strict=True)))

    weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return by_processor(Work(run, COLUMNS * rows, answer))


def spark(rows: int) -> Work:
    """Spark on two threads of this machine; its start is not timed, as a cluster's is not."""
    from noisewright.engines.spark_session import start_spark

    start_spark("local[2]")
    work = _release(rows, "spark")
    warm = _release(100_000, "spark")
    warm.run()
    return work


def _release(rows: int, engine: Literal["local", "spark"], order: Literal["random", "kept"] = "random") -> Work:
    data = _visits(rows)
    folder = Path(tempfile.mkdtemp(prefix="release-", dir=DATA))

    def run() -> Release:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        policy = {**POLICY, "order": order}
        return nw.release(policy, data, output=folder / "out", ledger=folder / "ledger", engine=engine)

    weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return Work(run, COLUMNS * rows, lambda done: _answer(data, done, rows))


def _visits(rows: int) -> Path:
    """The file of so many rows; it is written by another process, so that its making does not count as memory of this one."""
    path = DATA / f"visits-{rows}.parquet"
    if not path.exists():
        DATA.mkdir(parents=True, exist_ok=True)
        free, needed = shutil.disk_usage(DATA).free, 2 * BYTES_PER_ROW * rows
        if free < needed:
            raise RuntimeError(
                f"{rows:,} rows need {needed >> 20} MB of disk, and {free >> 20} MB are free: not measured"
            )
        partial = path.with_suffix(f".{os.getpid()}.part")
        subprocess.run([sys.executable, "-m", "bench.clinic", str(partial), str(rows)], check=True, cwd=ROOT)
        os.replace(partial, path)
    return path


def _answer(data: Path, done: Release, rows: int) -> float:
    """How much of the categories is kept, in the first rows, released once more in their order; all rows must be there."""
    assert done.rows == rows
    wanted = ["diagnosis", "smoker"]
    before = ds.dataset(data).head(min(rows, MADE), columns=wanted)
    columns = [column for column in POLICY["columns"] if column["name"] in wanted]
    after = nw.release({**POLICY, "columns": columns, "order": "kept"}, before, seed=1).data
    same = [pc.equal(before.column(name), after.column(name)).to_numpy() for name in wanted]
    return kept_share(*same)
