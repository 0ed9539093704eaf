"""Runs a command and prints which functions of the library were called, in order.  python walk_support.py COMMAND...

Each line of what it prints is ``path function``, the path below the package; the exit code is that of the command. Other
output of the command is thrown away.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import noisewright
from noisewright.cli import run

SOURCE = f"{Path(noisewright.__file__).parent}/"


def main(arguments: list[str]) -> int:
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(SOURCE):
            calls.append(f"{code.co_filename.removeprefix(SOURCE)} {code.co_qualname}")

    with contextlib.redirect_stdout(io.StringIO()):
        threading.setprofile(note)
        sys.setprofile(note)
        code = run(arguments)
        sys.setprofile(None)
    print("\n".join(calls))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
