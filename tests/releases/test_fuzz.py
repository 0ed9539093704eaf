"""Hundreds of odd inputs to all that reads (``python -m tests.attack fuzz``: at length): an answer, or one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.attack.fuzz import KINDS, SECRET, fuzz, spoken
from tests.attack.fuzz_data import check_bases

from noisewright.exceptions import NoisewrightError

COUNTS = {"data": 70, "policies": 60, "filters": 80, "channels": 80, "arguments": 50, "paths": 20}
COUNTS |= dict.fromkeys(("embeddings", "profiles", "models", "folders"), 200)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_crash_no_trace_and_no_cell_in_a_message(kind: str) -> None:
    assert list(fuzz(kind, COUNTS[kind], seed=14)) == []


def test_the_tables_that_are_damaged_were_good(tmp_path: Path) -> None:
    assert check_bases(tmp_path) == 12


def test_what_the_fuzzer_would_find(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash, a hang and a trace are told apart from a refusal, and the cases after them are tried."""
    found = list(fuzz("self-test", 6, seed=1))
    told = [line.partition(" of seed 1: ")[2].partition(" (")[0] for line in found]
    assert told == [
        "ended the process",
        "took too long",
        "ZeroDivisionError: division by zero",
        f"a message holds {SECRET!r}: 'a {SECRET}'",
    ]


@pytest.mark.parametrize("text", ["", "a\nb", f"the cell {SECRET}", "Traceback (most recent call last)", "x" * 5000])
def test_what_is_no_sentence(text: str) -> None:
    with pytest.raises(AssertionError):
        spoken(text)
    assert issubclass(NoisewrightError, Exception)
