"""Ctrl-C at some moments of the commands that write most; ``python -m tests.attack interrupts`` has more of both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import environment, own_signals
from tests.attack.interrupts import interrupt

WHILE_IMPORTING = """
import os, signal, sys, time
from pathlib import Path
Path("slow.py").write_text('''
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
    sum(range(10**5))
except KeyboardInterrupt:
    raise ImportError("as a compiled module says it") from None
''')
sys.path.insert(0, os.getcwd())
from noisewright.__main__ import main
from noisewright.cli import app
def run(words):
    import slow
    time.sleep(60)
if sys.argv[1:]:
    def version():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            sum(range(10**5))
        except KeyboardInterrupt:
            raise RuntimeError("as a compiled function says it") from None
    app.built = lambda *_: version()
else:
    app.run = run
main()
"""


@pytest.mark.parametrize("name", ["release", "plan", "text obfuscate"])
def test_ctrl_c_ends_a_long_command_as_an_interruption_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    assert list(interrupt(name, tmp_path, 3)) == []


@pytest.mark.parametrize("words", [[], ["built"]])
def test_ctrl_c_that_compiled_code_would_replace_is_an_interruption(words: list[str], tmp_path: Path) -> None:
    """It waits for the end of an import, which could end the process; another error that it became is not reported."""
    done = subprocess.run(
        [sys.executable, "-c", WHILE_IMPORTING, *words],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment(),
        preexec_fn=own_signals,
    )
    assert (done.returncode, done.stderr) == (130, "noisewright: interrupted.\n")
