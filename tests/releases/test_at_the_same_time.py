"""One release that several processes ask for at the same time is drawn once and paid for once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.exceptions import ParameterError
from noisewright.io.atomic import turn
from noisewright.ledger.ledger import Ledger
from noisewright.releases import release as run

POLICY = """
dataset = "clinic"
[budget]
epsilon = 5
[[columns]]
name = "smoker"
mechanism = "randomised-response"
categories = ["yes", "no"]
epsilon = 1
"""
COMMAND = """
    import json, os, sys, time
    from noisewright.cli import run as command
    from noisewright.releases import release as run

    here, words = sys.argv[1], json.loads(sys.argv[2])

    def reached(phase):
        if phase == "recorded":
            open(f"{here}/drawing.{os.getpid()}", "w").close()
            while not os.path.exists(f"{here}/go"):
                time.sleep(0.01)

    run.reached = reached
    sys.exit(command(["release", f"{here}/policy.toml", f"{here}/visits.parquet", *words]))
"""
"""A command that waits for a file between its spend and its first draw."""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    pq.write_table(pa.table({"smoker": ["yes", "no", "no"] * 20}), tmp_path / "visits.parquet")
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "ledgers").mkdir()
    return tmp_path


@contextmanager
def commands(here: Path, count: int, outputs: list[str]) -> Iterator[list[subprocess.Popen[str]]]:
    found = []
    try:
        for number in range(count):
            words = ["-o", f"{here}/{outputs[number % len(outputs)]}", "--ledger", f"{here}/ledgers/ledger"]
            call = [sys.executable, "-c", textwrap.dedent(COMMAND), str(here), json.dumps(words)]
            found.append(subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
        yield found
    finally:
        for one in found:
            one.kill()
            one.communicate()


def until(true: Any) -> None:
    end = time.monotonic() + 200
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def drawing(here: Path) -> list[Path]:
    return list(here.glob("drawing.*"))


def waiting(here: Path) -> int:
    """The number of processes that have the file of a turn open."""
    found = 0
    for entry in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            found += str(here) in (place := os.readlink(entry)) and ".turn" in place
        except OSError:
            continue
    return found


@pytest.mark.parametrize(("outputs", "codes"), [(["out"], [0, 0]), (["one", "two"], [0, 2])])
def test_of_the_same_commands_one_draws_and_the_others_wait(here: Path, outputs: list[str], codes: list[int]) -> None:
    with commands(here, 2, outputs) as begun:
        until(lambda: (drawing(here) and waiting(here) == 2) or any(one.poll() is not None for one in begun))
        (here / "go").touch()
        said = [one.communicate(timeout=200)[0] for one in begun]
    assert sorted(one.returncode for one in begun) == codes, said
    assert len(drawing(here)) == 1
    assert Ledger(here / "ledgers" / "ledger").remaining("clinic").releases == 1
    assert sum("this one waits for its end" in " ".join(one.split()) for one in said) == 1, said
    if codes[-1]:
        assert (
            sum("is the release of these data under this policy already" in " ".join(one.split()) for one in said) == 1
        )
    assert os.listdir(here / "ledgers") == ["ledger"]


def test_when_the_first_is_killed_the_second_goes_on(here: Path) -> None:
    with commands(here, 1, ["out"]) as first:
        until(lambda: drawing(here))
        with commands(here, 1, ["out"]) as second:
            until(lambda: waiting(here) == 2)
            first[0].send_signal(signal.SIGKILL)
            (here / "go").touch()
            said = second[0].communicate(timeout=200)[0]
    assert second[0].returncode == 0, said
    assert Ledger(here / "ledgers" / "ledger").remaining("clinic").releases == 2  # something may have been drawn
    assert "was begun" in said
    assert os.listdir(here / "ledgers") == ["ledger"]


def test_threads_without_an_output_pay_once(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go, begun, said = threading.Event(), threading.Event(), []
    monkeypatch.setattr(run, "reached", lambda phase: (begun.set(), go.wait(60)) if phase == "recorded" else None)

    def call() -> None:
        try:
            said.append(
                nw.release(here / "policy.toml", here / "visits.parquet", ledger=here / "ledgers" / "ledger").rows
            )
        except ParameterError as refused:
            said.append(str(refused))

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
        assert begun.wait(60)
    until(lambda: waiting(here) == 2)
    go.set()
    for thread in threads:
        thread.join(60)
    assert len(said) == 2
    assert 60 in said
    assert sum("were released under this policy already" in str(one) for one in said) == 1
    assert Ledger(here / "ledgers" / "ledger").remaining("clinic").releases == 1


def test_a_refused_release_leaves_no_folder_behind(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOISEWRIGHT_LEDGER", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    pq.write_table(pa.table({"smoker": ["perhaps"]}), tmp_path / "visits.parquet")
    with pytest.raises(nw.NoisewrightError):
        nw.release(here / "policy.toml", here / "visits.parquet")
    assert not (tmp_path / "data").exists()


def test_a_turn_passes_on_without_a_gap(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def take() -> None:
        for _ in range(50):
            with turn(tmp_path / "turn", lambda: None):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0.0005)
                inside[0] -= 1

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (inside, most, os.listdir(tmp_path)) == ([0], [1], [])
    with turn(tmp_path / "missing" / "turn", lambda: None):
        assert not (tmp_path / "missing").exists()
