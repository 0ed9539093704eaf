"""Real processes, tiny work: alternating rounds, and what happens when a side crashes, hangs or does something else."""

from __future__ import annotations

import json
import sys
from io import StringIO
from pathlib import Path

import pytest
from bench.measure import Settings, measure, verdict
from bench.rows import Row, Task
from bench.work import Work
from bench.worker import main, run_round

HERE = Path(sys.executable)
SHORT = Settings(rounds=2, least=0.0)
NUMPY = Task("bench.peers.plain_numpy:truncated_geometric", {"n": 5, "size": 20_000})


def test_a_round_counts_runs_and_items() -> None:
    done = []
    reply = run_round(Work(lambda: done.append(1), 10, lambda result: 7.0), least=0.01)
    assert reply["runs"] == len(done) > 1
    assert reply["items"] == 10 * len(done)
    assert reply["answer"] == 7.0
    assert reply["seconds"] >= 0.01


def test_worker_reports_an_error_as_a_reply() -> None:
    replies = StringIO()
    order = json.dumps({"function": "bench.work:Work", "arguments": {"nonsense": 1}, "least": 0.0})
    assert main(order, StringIO(""), replies) == 1
    assert "TypeError" in json.loads(replies.getvalue())["error"]


def test_both_sides_in_alternating_rounds() -> None:
    seen: list[str] = []
    ours = Task("bench.ours.noise:table_draws", {"n": 5, "size": 20_000})
    outcome = measure(Row("tiny", "table draws", "20,000", ours, NUMPY, agree=0.2), HERE, SHORT, seen.append)
    assert outcome.problem is None
    assert outcome.ours is not None
    assert outcome.peer is not None
    assert [text.rsplit(" ", 1)[1] for text in seen] == ["ours", "peer", "ours", "peer"]
    assert len(outcome.ours.rounds) == len(outcome.peer.rounds) == 2
    assert outcome.ours.packages["noisewright"]
    assert outcome.ours.baseline > 0


def test_a_peer_of_our_own_runs_beside_our_library() -> None:
    ours = Task("bench.ours.noise:table_draws", {"n": 5, "size": 20_000})
    row = Row("tiny", "table draws", "20,000", ours, ours, agree=0.2, own_peer=True)
    outcome = measure(row, None, SHORT)  # no peers are installed
    assert outcome.problem is None
    assert outcome.peer is not None
    assert outcome.peer.packages["noisewright"]
    assert measure(Row("tiny", "", "", ours, ours), None, SHORT).problem == "peer: its environment is missing"


@pytest.mark.parametrize(
    ("peer", "problem"),
    [
        (Task("os:_exit", {"status": 3}), "peer: ended with code 3"),
        (Task("bench.peers.plain_numpy:missing"), "peer: AttributeError"),
        (Task("builtins:input"), "peer: no answer within 1 s"),
        (Task("bench.peers.plain_numpy:truncated_geometric", {"n": 2, "size": 20_000}), "the answers differ"),
    ],
)
def test_a_side_that_fails_is_a_failed_row(peer: Task, problem: str) -> None:
    limit = 1.0 if "within" in problem else 60.0
    row = Row("tiny", "numpy with trouble", "20,000", NUMPY, peer, 1.0, agree=0.01, seconds_limit=limit)
    outcome = measure(row, HERE, SHORT)
    assert verdict(outcome) == "failed"
    assert outcome.problem is not None
    assert problem in outcome.problem


def test_a_missing_environment_is_a_failed_row() -> None:
    outcome = measure(Row("tiny", "numpy with nobody", "100", NUMPY, NUMPY), None, Settings(rounds=1, least=0.0))
    assert verdict(outcome) == "failed"
    assert outcome.problem == "peer: its environment is missing"
