"""Runs a studio of its own, for tests, for measurements and for the pictures of the documentation."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TURNS = itertools.count()
RUN = (
    "import sys; from noisewright.__main__ import main; "
    "sys.argv = ['noisewright', 'studio', '--no-show', *sys.argv[1:]]; main()"
)


@contextmanager
def running(
    folder: Path, *options: str, before: str = "", token: bool = False
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The address of a studio of its own, and its process; ``before``: a line of Python that its process runs first.

    It answers without a token, unless an option names one, or ``token`` lets it make one.
    """
    port = _free_port()
    scratch = folder / "tmp"
    scratch.mkdir(exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "NICEGUI"))} | {
        "TMPDIR": str(scratch),
        "NOISEWRIGHT_LEDGER": str(folder / "ledger.sqlite"),
        "XDG_DATA_HOME": str(folder / "data"),
    }
    options = options if token or "--token" in options else ("--no-token", *options)
    log = folder / "log.txt"
    with log.open("w") as told:
        process = subprocess.Popen(
            [sys.executable, "-c", f"{before}\n{RUN}", "--port", str(port), *options],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
        )
    try:
        for _ in range(6000):
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
            except OSError:
                if process.poll() is not None:
                    raise RuntimeError(f"the studio did not start: {log.read_text()}") from None
                time.sleep(0.1)
        else:
            raise RuntimeError(f"the studio did not answer: {log.read_text()}")
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()


def _free_port() -> int:
    """A port that nobody takes until the studio does: below those that the system gives away, and ten for each process."""
    while True:
        port = 11_000 + (os.getpid() * 10 + next(TURNS)) % 20_000  # browsers do not go to 10080
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                free.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
