"""What the tests of the command share: how a call ended, and the rules that every call is held to."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest


def made_by(files: str) -> list[str]:
    """``--mechanism`` for each of some files, or names of them, between commas."""
    return [word for file in files.split(",") for word in ("--mechanism", file)]


@dataclass(frozen=True)
class Answer:
    """How a call ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """What was printed, without its line breaks."""
        return " ".join(self.out.split())

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def hold_to_the_rules(whole: Answer, arguments: tuple[str, ...]) -> Answer:
    answer = whole
    assert "Traceback" not in answer.out + answer.err
    assert "went wrong inside" not in answer.out + answer.err
    assert all(c.isprintable() or c == "\n" for c in answer.out + answer.err), answer
    if arguments[:1] == ("release",) and "--json" not in arguments:  # what to think about comes first
        lines = answer.err.splitlines(keepends=True)
        answer = replace(answer, err="".join(line for line in lines if not line.startswith("Warning: ")))
    assert answer.code in (0, 1, 2, 130, 141), answer
    if "--json" in arguments:
        assert answer.err == ""
        if answer.code != 130:
            assert answer.out.count("\n") == 1
            document = json.loads(answer.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
            assert isinstance(document, dict)
            assert (list(document) == ["error"]) == (answer.code == 2)
    elif answer.code == 2:
        assert answer.out == ""
        assert answer.err.startswith("noisewright: ")
        assert answer.err.count("\n") == 1
        assert len(answer.err) > 25
    else:
        assert answer.err == ("noisewright: interrupted.\n" if answer.code == 130 else "")
    return whole


def own_signals() -> None:
    """For ``preexec_fn``: a child that answers to signals, whatever the tests were started with (``nohup`` and jobs in the
    background of a shell ignore some, and every child inherits that)."""
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.SIG_DFL)


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NOISEWRIGHT_TRACEBACK")}
    source = str(Path(__file__).parents[2] / "src")
    return {**kept, "PYTHONPATH": source, "PYTHONWARNINGS": "error::DeprecationWarning:noisewright", **more}
