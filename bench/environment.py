"""The peers' own environment: made once from ``bench/peers.txt``, and again when that file changes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["ROOT", "PeersError", "own_environment", "peers_environment", "peers_python"]

ROOT = Path(__file__).resolve().parents[1]
PLACE = Path(".bench") / "peers"
INSTALL_LIMIT = 1800.0


class PeersError(Exception):
    """The peers could not be installed."""


def peers_python(say: Callable[[str], None], root: Path = ROOT) -> Path:
    """The interpreter of the peers' environment, which is made first where it is missing or out of date."""
    wanted = (root / "bench" / "peers.txt").read_bytes()
    place = root / PLACE
    python = place / "bin" / "python"
    mark = place / ".ready"
    digest = hashlib.sha256(wanted + sys.version.encode()).hexdigest()
    if mark.is_file() and mark.read_text(encoding="ascii").strip() == digest and python.exists():
        return python
    say(f"making the peers' environment in {PLACE} (once)")
    mark.unlink(missing_ok=True)
    _run([sys.executable, "-m", "venv", "--clear", str(place)], root)
    patience = ["--retries", "2", "--timeout", "20"]  # without a network it says so soon
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", *patience, "-r", "bench/peers.txt"]
    _run([str(python), *install], root)
    mark.write_text(digest + "\n", encoding="ascii")
    return python


def own_environment() -> dict[str, str]:
    """Variables for a process that measures this library: the sources come first."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def peers_environment() -> dict[str, str]:
    """Variables for a process that measures a peer: nothing of ours is on its path."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def _run(command: list[str], root: Path) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=peers_environment(),
            capture_output=True,
            text=True,
            timeout=INSTALL_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PeersError(f"the peers were not installed within {INSTALL_LIMIT:.0f} s") from None
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-5:])
        raise PeersError(f"the peers could not be installed:\n{tail}")
