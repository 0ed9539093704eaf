"""A ledger that was put back to an older copy does not spend again: witnesses and locks know what it has forgotten."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import noisewright as nw
from noisewright.cli import run
from noisewright.exceptions import LedgerError
from noisewright.ledger import ledger as ledger_module
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Charge, Protected
from noisewright.ledger.witness import Witness, default_witness
from noisewright.releases.release import release

AGE = {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}
POLICY: dict[str, Any] = {"dataset": "clinic", "budget": {"epsilon": 2}, "columns": [AGE]}
PART = Charge("age", "column", Fraction(1), Fraction(0), "at most 5", Protected(("age",), Fraction(5)))


def lost(evidence: str) -> str:
    """The refusal of an older copy, and who knows better."""
    return rf"has lost records: it is an older copy.*{evidence}.* noisewright ledger adopt\.$"


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    """Three months of a table, each with bytes of its own."""
    paths = [tmp_path / f"month{number}.csv" for number in range(3)]
    for number, path in enumerate(paths):
        path.write_text(f"age\n31\n47\n{58 + number}\n")
    return paths


@pytest.fixture
def restored(tables: list[Path], tmp_path: Path) -> dict[str, Any]:
    """Two releases that spend a budget of 2, and then the ledger as it was after the first."""
    how = {"ledger": tmp_path / "ledger"}
    (tmp_path / "here").mkdir()
    release(POLICY, tables[0], output=tmp_path / "here" / "one", **how)
    shutil.copy(tmp_path / "ledger", tmp_path / "older")
    release(POLICY, tables[1], output=tmp_path / "here" / "two", **how)
    os.replace(tmp_path / "older", tmp_path / "ledger")
    assert nw.Ledger(tmp_path / "ledger").remaining("clinic").left_epsilon == 1
    return how


def forget_witness() -> None:
    own = default_witness()
    assert own is not None
    own.unlink()


def test_a_witness_knows_of_a_spend_that_the_ledger_has_forgotten(
    restored: dict[str, Any], tables: list[Path], tmp_path: Path
) -> None:
    """Three spends of a budget of two: nothing is left beside the ledger that could disprove it."""
    shutil.rmtree(tmp_path / "here")
    with pytest.raises(LedgerError, match=lost(r"witness\.jsonl has seen record")):
        release(POLICY, tables[2], output=tmp_path / "three", **restored)
    assert not (tmp_path / "three").exists()
    found = nw.plan(POLICY, tables[2], **restored)
    assert not found.fits
    assert "has lost records" in str(found.budget.refusal)  # type: ignore[union-attr]
    assert nw.Ledger(tmp_path / "ledger").remaining("clinic").left_epsilon == 1


@pytest.mark.parametrize("place", ["here/three", "elsewhere/three", None])
def test_locks_beside_the_output_and_at_recorded_places_know_it_too(
    restored: dict[str, Any], tables: list[Path], tmp_path: Path, place: str | None
) -> None:
    forget_witness()
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(LedgerError, match=lost("the lock in .*two keeps a later head")):
        release(POLICY, tables[2], output=place and tmp_path / place, **restored)
    found = nw.plan(POLICY, tables[2], **restored)
    assert "has lost records" in str(found.budget.refusal)  # type: ignore[union-attr]


def test_a_lock_beside_the_output_is_enough_where_the_recorded_places_are_gone(
    restored: dict[str, Any], tables: list[Path], tmp_path: Path
) -> None:
    forget_witness()
    (tmp_path / "moved").mkdir()
    (tmp_path / "here" / "two").rename(tmp_path / "moved" / "two")
    with pytest.raises(LedgerError, match=r"the lock in .*moved/two keeps"):
        release(POLICY, tables[2], output=tmp_path / "moved" / "three", **restored)


def test_a_named_witness_knows_it_where_the_home_was_restored_with_the_ledger(tmp_path: Path) -> None:
    path, far = tmp_path / "ledger", tmp_path / "far" / "heads"
    ledger = Ledger(path, witness=far)
    ledger.set_budget("clinic", 2)
    shutil.copy(path, tmp_path / "older")
    ledger.spend("clinic", [PART], "first", "p")
    os.replace(tmp_path / "older", path)
    forget_witness()
    with pytest.raises(LedgerError, match=lost(f"{far} has seen record")):
        Ledger(path, witness=far).spend("clinic", [PART], "second", "p")
    assert Ledger(path).spend("clinic", [PART], "second", "p").left_epsilon == 1  # nobody is left who knows
    assert far.stat().st_mode & 0o777 == 0o600


def test_a_witness_that_is_behind_is_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash between the commit and the witness, and a line that a crash cut off."""
    ledger = Ledger(tmp_path / "ledger")
    ledger.set_budget("clinic", 9)
    own = default_witness()
    assert own is not None
    before = own.read_bytes()

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ledger_module.Witness, "add", crash)
        with pytest.raises(KeyboardInterrupt):
            ledger.spend("clinic", [PART], "first", "p")
    assert own.read_bytes() == before
    assert Ledger(tmp_path / "ledger").remaining("clinic").spent_epsilon == 1  # it is spent all the same
    ledger = Ledger(tmp_path / "ledger")
    ledger.spend("clinic", [PART], "second", "p")
    own.write_bytes(own.read_bytes()[:-20])
    ledger.spend("clinic", [PART], "third", "p")
    ledger.spend("clinic", [PART], "fourth", "p")
    assert ledger.check_witnesses() == 3  # the budget, and the last two
    assert own.read_bytes().startswith(before)


def test_a_witness_that_is_no_witness_or_cannot_be_written_is_refused_before_the_spend(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("these are notes\nof mine\n")
    ledger = Ledger(tmp_path / "ledger")
    ledger.set_budget("clinic", 2)
    for witness, words in (
        (tmp_path / "notes", "notes is not a witness of ledgers"),
        (tmp_path / "notes" / "in", r"cannot be (read|written) \(Not a directory\)"),
        (tmp_path, r"cannot be (read|written) \(Is a directory\)"),
    ):
        with pytest.raises(LedgerError, match=words):
            Ledger(tmp_path / "ledger", witness=witness).spend("clinic", [PART], "first", "p")
    assert Ledger(tmp_path / "ledger").check().releases == 0
    assert (tmp_path / "notes").read_text() == "these are notes\nof mine\n"


def test_a_full_disk_is_noticed_before_the_spend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Ledger(tmp_path / "ledger", witness=tmp_path / "heads")
    ledger.set_budget("clinic", 2)
    real = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_blocks=9, f_bavail=1, f_frsize=real.f_frsize))
    for _ in range(2):
        with pytest.raises(LedgerError, match=r"heads cannot be written \(No space left on device\)"):
            ledger.spend("clinic", [PART], "first", "p")
    monkeypatch.setattr(ledger, "witnesses", ledger.witnesses[:1])  # that of this user only causes a warning
    assert [one for one in ledger.cautions() if "the disk of" in one and "is full" in one]
    assert ledger.spend("clinic", [PART], "first", "p").left_epsilon == 1


@pytest.mark.parametrize("named", [True, False])
def test_a_witness_that_fails_after_the_commit_says_that_the_spend_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, named: bool
) -> None:
    ledger = Ledger(tmp_path / "ledger", witness=tmp_path / "heads" if named else None)
    ledger.set_budget("clinic", 2)
    real = Witness._add

    def full(one: Witness, lines: bytes) -> None:
        if lines and one.needed == named:
            raise OSError(28, "No space left on device")
        real(one, lines)

    monkeypatch.setattr(Witness, "_add", full)
    if named:
        with pytest.raises(LedgerError, match="did not get to know what was recorded, which counts"):
            ledger.spend("clinic", [PART], "first", "p")
    else:
        ledger.spend("clinic", [PART], "first", "p")
        assert "is behind its ledger" in caplog.text
    assert Ledger(tmp_path / "ledger").remaining("clinic").left_epsilon == 1


@pytest.mark.parametrize("tail", [b"\0" * 300, b'{"format": "noise'])
def test_the_end_of_a_witness_that_a_power_cut_spoiled_is_passed_over(tmp_path: Path, tail: bytes) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.set_budget("clinic", 2)
    own = default_witness()
    assert own is not None
    own.write_bytes(own.read_bytes() + tail)
    ledger.spend("clinic", [PART], "first", "p")
    assert ledger.check_witnesses() == 2
    own.write_bytes(own.read_bytes() + b"{}\n")
    with pytest.raises(LedgerError, match="is damaged; restore it, or move it away"):
        ledger.spend("clinic", [PART], "second", "p")
    own.unlink()
    assert ledger.spend("clinic", [PART], "second", "p").left_epsilon == 0


@pytest.mark.parametrize("name", ["a b#c?d%41&e", "\n\x1b[31m", "-x", os.fsdecode(b"\xff"), "file:x", "postgresql:x"])
def test_a_ledger_may_have_any_name_and_a_copy_of_it_is_known(tmp_path: Path, name: str) -> None:
    ledger = Ledger(tmp_path / name)
    ledger.set_budget("clinic", 2)
    shutil.copy(tmp_path / name, tmp_path / "copy")
    ledger.spend("clinic", [PART], "first", "p")
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {name, "copy"}
    with pytest.raises(LedgerError, match=lost("has seen record")):
        Ledger(tmp_path / "copy").spend("clinic", [PART], "second", "p")


def test_a_home_that_cannot_be_written_is_said_and_no_hindrance(
    tables: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    how = {"ledger": tmp_path / "ledger"}
    release(POLICY, tables[0], **how)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "state"))
    said: list[str] = []
    release(POLICY, tables[1], warn=said.append, **how)
    assert [one for one in said if one.startswith("no witness is kept")]
    assert nw.Ledger(tmp_path / "ledger").check().releases == 2


def test_a_ledger_that_no_witness_has_seen_is_said_once(tables: list[Path], tmp_path: Path) -> None:
    """Without witnesses and locks a restore leaves no trace, but the missing witness is one."""
    how = {"ledger": tmp_path / "ledger"}
    heard: list[list[str]] = []
    for number in range(3):
        heard.append([])
        release(POLICY | {"budget": {"epsilon": 9}}, tables[number], warn=heard[-1].append, **how)
        if not number:
            forget_witness()
            planned = nw.plan(POLICY | {"budget": {"epsilon": 9}}, tables[1], **how).warnings
            assert [one for one in planned if one.startswith("no witness has seen")]
    assert [[one for one in said if one.startswith("no witness has seen")] != [] for said in heard] == [
        False,
        True,
        False,
    ]


def test_a_clock_that_goes_back_is_said(tables: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    how = {"ledger": tmp_path / "ledger"}
    release(POLICY, tables[0], **how)

    class Earlier(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime(2001, 2, 3, tzinfo=UTC)

    assert not [one for one in nw.plan(POLICY, tables[1], **how).warnings if "clock" in one]
    monkeypatch.setattr(ledger_module, "datetime", Earlier)
    said: list[str] = []
    release(POLICY, tables[1], warn=said.append, **how)
    (caution,) = [one for one in said if "clock" in one]
    assert caution.startswith("the clock of this machine says 2001-02-03T00:00:00Z, which is before the last record")
    assert nw.Ledger(tmp_path / "ledger").check().releases == 2


# The way out --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["witness", "folder"])
def test_what_was_forgotten_is_charged_again_and_the_ledger_goes_on(
    restored: dict[str, Any], tables: list[Path], tmp_path: Path, source: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, folder = tmp_path / "ledger", tmp_path / "here" / "two"
    if source == "folder":
        forget_witness()
    words = ["ledger", "adopt", str(path), *([str(folder)] if source == "folder" else []), "--json"]
    assert run(words) == 2
    assert "say what happened to the ledger" in capsys.readouterr().out
    assert run([*words, "--reason", "the disk failed"]) == 0
    assert json.loads(capsys.readouterr().out)["charged"] == 1
    assert run([*words, "--reason", "once more"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ledger": str(path), "lost": 0, "charged": 0}
    ledger = nw.Ledger(path)
    assert ledger.remaining("clinic").left_epsilon == 0
    assert {one.distance for one in ledger.protections("clinic")} == {5}
    with pytest.raises(LedgerError, match="but only 0 of the budget of 2"):
        release(POLICY, tables[2], output=tmp_path / "here" / "three", **restored)
    more = {**POLICY, "budget": {"epsilon": 3}}
    release(more, tables[2], output=tmp_path / "here" / "three", raise_budget=True, **restored)
    assert run(["ledger", "check", str(path), str(folder), str(tmp_path / "here" / "three")]) == 0
    assert run(["verify", str(folder), "--ledger", str(path)]) == 0


def test_single_units_cannot_be_charged_again(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.set_budget("panel", 2, scope="unit")
    shutil.copy(ledger.path, tmp_path / "older")
    ledger.spend("panel", [PART], "first", "p", units=[b"1"])
    os.replace(tmp_path / "older", ledger.path)
    again = Ledger(tmp_path / "ledger")
    with pytest.raises(LedgerError, match="was charged to single units of 'panel'"):
        again.adopt(again.forgotten(), "a disk")
    with pytest.raises(LedgerError, match="has lost records"):
        again.check_witnesses()


def test_check_says_what_the_witness_knows(
    restored: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ledger", "check", str(tmp_path / "ledger"), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["agrees"], found["witnessed"]) == (False, 0)
    assert "has lost records" in found["problem"]
    assert run(["ledger", "check", str(tmp_path / "ledger")]) == 1
    assert "NOT the latest copy" in capsys.readouterr().out
