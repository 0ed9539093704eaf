"""What a ledger knows of a folder: releases that died in their last step are completed, and lost records are found out."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.exceptions import LedgerError
from noisewright.ledger.ledger import Ledger
from noisewright.releases import release as run
from noisewright.releases.folder import check_record, complete, sealed_at, sealed_lock, verify_folder

KEPT = Path(__file__).parents[2] / "fixtures" / "kept" / "release"
POLICY: dict[str, Any] = {
    "dataset": "clinic",
    "budget": {"epsilon": 5},
    "columns": [{"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}],
}


class DiedError(BaseException):
    """Stands for a kill: nothing that comes after it is done."""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    pq.write_table(pa.table({"smoker": ["yes", "no", "no"] * 20}), tmp_path / "visits.parquet")
    return tmp_path


def release(here: Path, name: str = "out", **options: Any) -> Any:
    return nw.release(POLICY, here / "visits.parquet", output=here / name, ledger=here / "ledger", **options)


@pytest.fixture
def died(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The output is there, and its last step was never taken."""

    def reached(phase: str) -> None:
        if phase == "published":
            raise DiedError

    monkeypatch.setattr(run, "reached", reached)
    with pytest.raises(DiedError):
        release(here)
    monkeypatch.undo()
    assert Ledger(here / "ledger").entries("clinic")[0].state == "started"
    return here


def test_the_same_release_is_completed_and_not_paid_for_again(died: Path) -> None:
    again = release(died)
    assert again.reread
    assert again.balance.spent_epsilon == 1
    assert {e.state for e in Ledger(died / "ledger").entries("clinic")} == {"finished"}
    assert verify_folder(died / "out", Ledger(died / "ledger")).problems == ()


KILLED = """
    import json, os, sys
    import noisewright as nw
    from noisewright.io import atomic
    from noisewright.releases import release as run
    from noisewright.releases import staging

    here, phase, policy, more = sys.argv[1:]

    def reached(so_far):
        if so_far == phase:
            os._exit(9)

    if phase == "exchanged":
        staging.exchange = lambda *paths: (atomic.exchange(*paths), os._exit(9))
    if phase == "moved aside":
        atomic._system_call = lambda: None
        staging.rename_new = lambda *args: os._exit(9)
    run.reached = reached
    nw.release(json.loads(policy), f"{here}/visits.parquet", output=f"{here}/out", ledger=f"{here}/ledger", **json.loads(more))
"""


def kill(here: Path, phase: str, policy: dict[str, Any] = POLICY, **options: Any) -> None:
    words = [textwrap.dedent(KILLED), str(here), phase, json.dumps(policy), json.dumps(options)]
    assert subprocess.run([sys.executable, "-c", *words], check=False).returncode == 9


@pytest.mark.parametrize(("phase", "spent"), [("sealed", 1), ("written", 2)])
def test_a_release_that_was_whole_when_it_was_killed_is_not_paid_for_again(here: Path, phase: str, spent: int) -> None:
    """Before the lock it is not whole: something may have been drawn, and a new draw costs its price again, which is said."""
    kill(here, phase)
    assert not (here / "out").exists()
    assert len([path for path in here.iterdir() if path.name.endswith(".staging")]) == 1
    said: list[str] = []
    again = release(here, warn=said.append)
    assert (again.reread, again.balance.spent_epsilon) == (spent == 1, spent)
    assert len([one for one in said if "was begun" in one and "not finished" in one]) == spent - 1
    assert not [path for path in here.iterdir() if path.name.endswith(".staging")]
    ledger = Ledger(here / "ledger")
    assert ledger.entries("clinic")[-1].state == "finished"
    assert verify_folder(here / "out", ledger).problems == ()
    assert release(here).reread


@pytest.mark.parametrize("phase", ["sealed", "exchanged", "moved aside"])
def test_a_release_that_was_whole_replaces_the_earlier_one_that_it_was_to_replace(here: Path, phase: str) -> None:
    other = {**POLICY, "columns": [{**POLICY["columns"][0], "epsilon": 2}]}
    release(here)
    kill(here, phase, other, replace=True)
    ledger = Ledger(here / "ledger")
    assert [entry.state for entry in ledger.entries("clinic")] == ["finished", "started"]
    again = nw.release(other, here / "visits.parquet", output=here / "out", ledger=ledger, replace=True)
    assert (again.reread, again.balance.spent_epsilon) == (True, 3)
    assert [entry.state for entry in ledger.entries("clinic")] == ["finished", "finished"]
    assert verify_folder(here / "out", ledger).problems == ()
    assert sorted(path.name for path in here.iterdir()) == ["ledger", "out", "visits.parquet"]


def test_a_whole_release_does_not_replace_what_is_no_release(here: Path) -> None:
    release(here)
    kill(here, "sealed", again=True)
    (here / "out" / "thesis.txt").write_text("years of work")
    with pytest.raises(nw.NoisewrightError, match="thesis"):
        release(here, again=True)
    assert (here / "out" / "thesis.txt").exists()
    (here / "out" / "thesis.txt").unlink()
    assert release(here).balance.spent_epsilon == 2
    assert verify_folder(here / "out", Ledger(here / "ledger")).problems == ()


@pytest.mark.parametrize("phase", ["sealed", "published"])
def test_a_whole_release_is_found_from_any_other_output(here: Path, phase: str) -> None:
    kill(here, phase)
    (here / "elsewhere").mkdir()
    copy = release(here, "elsewhere/copy", format="csv")
    assert (copy.converted, copy.balance.spent_epsilon) == (here / "out", 1)
    assert {entry.state for entry in Ledger(here / "ledger").entries("clinic")} == {"finished"}


def test_another_draw_completes_the_first_one_before_it_is_replaced(died: Path) -> None:
    assert release(died, again=True).balance.spent_epsilon == 2
    assert [e.state for e in Ledger(died / "ledger").entries("clinic")] == ["finished", "finished"]


def test_whoever_verifies_it_completes_it(died: Path) -> None:
    ledger = Ledger(died / "ledger")
    assert verify_folder(died / "out", ledger).problems == ()
    (entry,) = ledger.entries("clinic")
    certificate = json.loads((died / "out" / "certificate.json").read_text())
    assert (entry.state, entry.output) == ("finished", certificate["digest"])
    assert complete(died / "out", ledger) is False


def test_whoever_checks_the_ledger_completes_it(died: Path) -> None:
    ledger = Ledger(died / "ledger")
    first, second = (check_record(died / "out", ledger) for _ in range(2))
    assert (first.problem, first.completed, second.completed) == (None, True, False)
    assert first.record == second.record is not None


@pytest.mark.parametrize("change", ["a file", "the lock", "the certificate"])
def test_what_was_changed_is_not_completed(died: Path, change: str) -> None:
    ledger, out = Ledger(died / "ledger"), died / "out"
    if change == "a file":
        (out / "data.parquet").write_bytes(b"other rows")
    elif change == "the lock":
        document = json.loads((out / "policy.lock").read_text())
        (out / "policy.lock").write_text(json.dumps({**document, "rows": 7}))
    else:
        document = json.loads((out / "certificate.json").read_text())
        (out / "certificate.json").write_text(json.dumps({**document, "digest": "sha256:0"}))
    assert complete(out, ledger) is False
    assert verify_folder(out, ledger).problems
    assert check_record(out, ledger).problem is not None
    assert ledger.entries("clinic")[0].state == "started"


def test_nothing_is_completed_by_a_ledger_that_did_not_seal_it(died: Path) -> None:
    stranger = Ledger(died / "stranger")
    assert complete(died / "out", stranger) is False
    assert check_record(died / "out", stranger).problem == f"it has no policy.lock that {stranger.path} sealed."
    assert not sealed_at(stranger, died / "out")
    assert not sealed_at(None, died / "out")
    assert sealed_at(Ledger(died / "ledger"), died / "out")
    (died / "out" / "note.txt").write_text("mine")
    assert not sealed_at(Ledger(died / "ledger"), died / "out")


def test_a_simulation_sealed_at_no_ledger(here: Path) -> None:
    release(here)
    nw.release(POLICY, here / "visits.parquet", output=here / "simulated", seed=3)
    assert sealed_lock(here / "simulated", Ledger(here / "ledger")) is None


def test_a_ledger_that_is_older_than_the_lock_of_a_release_is_refused(here: Path) -> None:
    release(here)
    shutil.copy(here / "ledger", here / "older")
    release(here, "second", again=True)
    spent = Ledger(here / "ledger").remaining("clinic").spent_epsilon
    shutil.copy(here / "older", here / "ledger")
    for options in ({}, {"again": True}, {"replace": True}):
        with pytest.raises(LedgerError, match=r"has lost records: it is an older copy.*; restore its latest copy"):
            release(here, "second", **options)
    ledger = Ledger(here / "ledger")
    assert ledger.remaining("clinic").spent_epsilon == spent - 1  # nothing was drawn for it
    assert "has lost records" in verify_folder(here / "second", ledger).problems[0]
    assert "has lost records" in str(check_record(here / "second", ledger).problem)
    assert check_record(here / "out", ledger).problem is None


def test_the_locks_of_one_ledger_end_one_after_the_other(here: Path) -> None:
    places = []
    for name in ("a", "b", "c"):
        release(here, name, again=True)
        places.append(check_record(here / name, Ledger(here / "ledger")).record)
    assert places == sorted(set(places))
    heads = {json.loads((here / name / "policy.lock").read_text())["head"] for name in "abc"}
    assert len(heads) == 3
    assert all(len(bytes.fromhex(head)) == 32 for head in heads)


@pytest.mark.parametrize("folder", ["nothing", "empty", "rubbish"])
def test_what_is_no_release_is_said(here: Path, folder: str) -> None:
    if folder != "nothing":
        (here / folder).mkdir()
    if folder == "rubbish":
        (here / folder / "policy.lock").write_bytes(b"\xff{")
    ledger = Ledger(here / "ledger")
    assert check_record(here / folder, ledger).problem == f"it has no policy.lock that {ledger.path} sealed."
    assert complete(here / folder, ledger) is False


def test_releases_of_the_version_before_still_verify_also_after_their_ledger_was_brought_up_to_date(
    tmp_path: Path,
) -> None:
    for name in ("ledger.sqlite", "recorded"):
        source = KEPT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for _ in range(2):
        assert verify_folder(tmp_path / "recorded", ledger).problems == ()
        assert check_record(tmp_path / "recorded", ledger).problem is None
        assert check_record(tmp_path / "recorded", ledger).record is None
        ledger.set_budget("another", 1)  # the second time, the ledger has a chain
    assert ledger.check().records is not None
    assert verify_folder(KEPT / "simulated").problems == ()
