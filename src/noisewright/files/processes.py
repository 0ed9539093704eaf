"""Identity of the process that made a file: its number, start time, boot and container."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

__all__ = ["alive", "dead", "place", "started"]


def dead(pid: int, begun: str, where: str) -> bool:
    """Return whether a process is provably gone: it ran under this boot in this container, and no process of its number
    began then.
    """
    return where == place() != "0" and started(pid) != begun


def alive(pid: int, begun: str, where: str) -> bool:
    """Return whether a process provably runs: here, and with this beginning."""
    return where == place() != "0" and begun != "0" and started(pid) == begun


def started(pid: int) -> str:
    """Return the start of a process, in clock ticks since the start of the system; 0 if it has ended or no one knows."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = text.rpartition(")")[2].split()  # the name of the process, in brackets, may hold anything
        return "0" if fields[0] in "ZX" else fields[19]  # a process that ended stays listed until someone asks how
    except (OSError, IndexError):
        return "0"


def place() -> str:
    """This boot and this container (its name space of process numbers), as a short hash; 0 where no one knows."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        return hashlib.sha256(f"{boot} {os.readlink('/proc/self/ns/pid')}".encode()).hexdigest()[:12]
    except OSError:
        return "0"
