"""The arithmetic and the pages of the benchmark, on made-up measurements: no peer, no clock."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from bench.__main__ import chosen, exit_code
from bench.measure import Outcome, Round, Settings, Side, agreement, ratio, verdict
from bench.report import as_json, as_markdown, as_table, notes, show, write_whole
from bench.rows import MB, Row, Task, all_rows
from rich.console import Console


def side(*rates: float, above: int = 0, answer: float = 1.0) -> Side:
    """A side with one round of two seconds for each rate."""
    rounds = [Round(seconds=2.0, cpu=2.0, runs=4, items=int(2 * r), answer=answer, peak=above) for r in rates]
    return Side(rounds=rounds, above=above, packages={"thing": "1.2"})


def row(name: str = "fake", target: float | None = 50.0, limit: int | None = None, unit: str = "values") -> Row:
    return Row(name, "this with that", "7 values", Task("a:b"), Task("c:d"), target, limit, unit=unit)


MET = Outcome(row("quick one"), side(400, 600, 500), side(10, 12, 9))
MISSED = Outcome(row("slow one"), side(100), side(10))
FAILED = Outcome(row("lost one"), side(100), None, problem="peer: no answer within 9 s")
INFORMS = Outcome(row("plain one", target=None), side(100), side(200))


def test_best_round_counts_on_both_sides() -> None:
    assert MET.ours is not None
    assert MET.ours.rate == 600
    assert ratio(MET) == pytest.approx(600 / 12)
    assert MET.ours.seconds == pytest.approx(0.5)  # two seconds for four runs


def test_ratio_needs_both_sides() -> None:
    assert ratio(FAILED) is None
    assert ratio(Outcome(row(), side(5), Side())) is None


@pytest.mark.parametrize(
    ("outcome", "expected"), [(MET, "met"), (MISSED, "missed"), (FAILED, "failed"), (INFORMS, "measured")]
)
def test_verdict(outcome: Outcome, expected: str) -> None:
    assert verdict(outcome) == expected


@pytest.mark.parametrize(("peer", "expected"), [(30.0, "met"), (31.0, "missed")])
def test_a_target_below_one_is_a_ratio_too(peer: float, expected: str) -> None:
    assert verdict(Outcome(row(target=1 / 3), side(10), side(peer))) == expected


@pytest.mark.parametrize(("above", "expected"), [(300 * MB, "met"), (300 * MB + 1, "missed")])
def test_memory_limit_is_inclusive(above: int, expected: str) -> None:
    outcome = Outcome(row(target=None, limit=300 * MB), side(10, above=above))
    assert verdict(outcome) == expected
    assert len(notes([outcome])) == (expected == "missed")


@pytest.mark.parametrize(("rate", "expected"), [(3e6, "met"), (2.9e6, "missed")])
def test_a_rate_of_our_own_is_a_target_too(rate: float, expected: str) -> None:
    outcome = Outcome(replace(row(target=None, unit="pixels"), least_rate=3e6), side(rate))
    assert verdict(outcome) == expected
    assert notes([outcome]) == ([] if expected == "met" else ["missed: fake: 2.9 Mpixels/s, target 3 Mpixels/s"])
    assert "3 M/s" in as_markdown([outcome], Settings())


def test_a_memory_limit_can_spoil_a_ratio_that_was_met() -> None:
    outcome = Outcome(row(limit=MB), side(600, above=2 * MB), side(10))
    assert verdict(outcome) == "missed"
    assert notes([outcome]) == ["missed: fake: memory 2 MB, limit 1 MB"]


def test_sides_that_computed_different_things_are_reported() -> None:
    assert agreement(Outcome(row(), side(1, answer=10.0), side(1, answer=10.4))) is None
    assert "differ" in str(agreement(Outcome(row(), side(1, answer=10.0), side(1, answer=20.0))))
    assert "differ" in str(agreement(Outcome(row(), side(1, answer=float("nan")), side(1, answer=1.0))))


def test_table_says_met_missed_and_failed() -> None:
    console = Console(file=StringIO(), width=160)
    show(console, [MET, MISSED, FAILED, INFORMS])
    assert isinstance(console.file, StringIO)
    lines = console.file.getvalue().splitlines()

    def line(name: str) -> str:
        return next(text for text in lines if text.strip().startswith(name))

    assert line("quick one").split()[-1] == "met"
    assert "600 /s" in line("quick one")
    assert "12 /s" in line("quick one")
    assert line("quick one").count("50x") == 2  # the ratio and the target
    assert line("slow one").split()[-1] == "missed"
    assert line("lost one").split()[-1] == "failed"
    assert line("plain one").split()[-1] == "measured"
    assert "missed: slow one: ratio 10x, target 50x" in [text.strip() for text in lines]
    assert "failed: lost one: peer: no answer within 9 s" in [text.strip() for text in lines]


def test_one_run_is_shown_in_seconds() -> None:
    table = as_table([Outcome(row(unit="audits", target=None), side(2))])
    console = Console(file=StringIO(), width=160)
    console.print(table)
    assert isinstance(console.file, StringIO)
    assert "2 /s (500 ms)" in console.file.getvalue()


def test_json_holds_every_field() -> None:
    data = json.loads(json.dumps(as_json([MET, FAILED], Settings()), allow_nan=False))
    assert set(data) == {"format", "date", "quick", "rounds", "machine", "packages", "rows"}
    assert set(data["machine"]) == {"cores", "system", "architecture", "python", "load"}
    assert data["packages"] == {"ours": {"thing": "1.2"}, "peers": {"thing": "1.2"}}
    met, failed = data["rows"]
    assert set(met) == {
        *("name", "compares", "size", "unit", "ours", "peer", "ratio", "target", "least_rate", "memory_limit"),
        *("result", "problem"),
    }
    assert set(met["ours"]) == {
        *("rate", "seconds", "answer", "setup_seconds", "baseline_bytes", "above_baseline_bytes", "rounds")
    }
    assert (met["ratio"], met["target"], met["result"], met["problem"]) == (50.0, 50.0, "met", None)
    assert [r["items"] for r in met["ours"]["rounds"]] == [800, 1200, 1000]
    assert (failed["peer"], failed["ratio"], failed["result"]) == (None, None, "failed")


def test_markdown_has_one_line_a_row_and_the_problems() -> None:
    page = as_markdown([MET, MISSED, FAILED], Settings())
    table = [line for line in page.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 3
    assert all(line.count("|") == table[0].count("|") for line in table)
    assert "* missed: slow one" in page
    assert "* failed: lost one" in page


def test_a_short_run_shows_the_size_it_used() -> None:
    short = Row("n", "c", "1e8 draws", Task("a:b", {"size": 100}, {"size": 5000}))
    assert Outcome(short, quick=True).size == "size = 5,000"
    assert Outcome(short).size == "1e8 draws"
    assert (short.ours.given(True), short.ours.given(False)) == ({"size": 5000}, {"size": 100})


def test_exit_code_counts_failures_not_misses() -> None:
    assert exit_code([MET, MISSED, INFORMS]) == 0
    assert exit_code([MET, FAILED]) == 1


BOTH = "bench.startup:"
"""Whole processes are started alike on both sides."""


def test_every_row_is_well_formed() -> None:
    rows = all_rows()
    assert len(rows) == len({r.name for r in rows})
    for r in rows:
        assert r.target is None or (r.peer is not None and r.target > 0)
        assert r.ours.function.startswith(("bench.ours.", BOTH))
        assert r.peer is None or r.peer.function.startswith(("bench.ours." if r.own_peer else "bench.peers.", BOTH))
    assert chosen(rows, ["LAPLACE"]) == [r for r in rows if "laplace" in r.name.lower()]
    assert chosen(rows, None) == rows
    assert chosen(rows, ["no such row"]) == []


def test_files_are_written_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "page.md", "text")
    assert [p.name for p in tmp_path.iterdir()] == ["page.md"]
