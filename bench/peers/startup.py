"""What it takes to start the peers."""

from __future__ import annotations

from bench.startup import process
from bench.work import Work

__all__ = ["imported"]


def imported(modules: str) -> Work:
    """``import MODULES`` with the interpreter of the peers."""
    return process(["-c", f"import {modules}"])
