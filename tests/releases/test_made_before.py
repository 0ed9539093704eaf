"""The same data under the same policy: found again wherever the output went, copied for nothing, and never paid for unasked."""

from __future__ import annotations

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.exceptions import BudgetError, ParameterError
from noisewright.releases import release as run

AGE = {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}
POLICY: dict[str, Any] = {"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [AGE]}
VISITS = "age\n31\n47\n58\n"


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text(VISITS)
    return tmp_path / "visits.csv"


def spent(folder: Path) -> int:
    return nw.Ledger(folder / "ledger").remaining("clinic").releases


def test_it_is_found_in_another_place_under_another_name(visits: Path, tmp_path: Path) -> None:
    how: dict[str, Any] = {"ledger": tmp_path / "ledger"}
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    first = nw.release(POLICY, visits, output=tmp_path / "here" / "out", **how)
    copy = nw.release(
        POLICY, visits.rename(tmp_path / "renamed.csv"), output=tmp_path / "there" / "out", format="csv", **how
    )
    assert copy.converted == first.folder
    assert copy.data.equals(first.data)
    with pytest.raises(ParameterError, match=r"here/out is the release of these data .* --again\.$"):
        nw.release(POLICY, tmp_path / "renamed.csv", output=tmp_path / "there" / "more", **how)
    (tmp_path / "here" / "out").rename(tmp_path / "there" / "moved")
    (tmp_path / "there" / "out").rename(tmp_path / "away")
    again = nw.release(POLICY, tmp_path / "renamed.csv", output=tmp_path / "there" / "more", format="arrow", **how)
    assert again.converted == tmp_path / "there" / "moved"
    assert spent(tmp_path) == 1


def test_where_nothing_is_left_of_it_a_new_draw_asks(visits: Path, tmp_path: Path) -> None:
    how: dict[str, Any] = {"ledger": tmp_path / "ledger"}
    (tmp_path / "here").mkdir()
    nw.release(POLICY, visits, output=tmp_path / "here" / "out", **how)
    (tmp_path / "here").rename(tmp_path / "away")
    for output in (tmp_path / "out", None):
        with pytest.raises(
            ParameterError, match=r"here/out, where it is no more as it was\), and a new draw .* --again\.$"
        ):
            nw.release(POLICY, visits, output=output, **how)
    (caution,) = [one for one in nw.plan(POLICY, visits, **how).warnings if "already" in one]
    assert "here/out" in caution
    assert spent(tmp_path) == 1
    assert not nw.release(POLICY, visits, output=tmp_path / "out", again=True, **how).reread
    assert spent(tmp_path) == 2


def test_so_it_is_in_memory(tmp_path: Path) -> None:
    table, how = pa.table({"age": [31, 47, 58]}), {"ledger": tmp_path / "ledger"}
    nw.release(POLICY, table, **how)
    with pytest.raises(
        ParameterError, match=r"already \(20.*, into memory\), and a new draw would cost its price again: draw"
    ):
        nw.release(POLICY, table, **how)
    done = nw.release(POLICY, table, output=tmp_path / "out", again=True, **how)
    reread = nw.release(POLICY, table, **how)
    assert reread.reread
    assert reread.data.equals(done.data)
    assert spent(tmp_path) == 2


def test_other_data_and_other_policies_are_others(visits: Path, tmp_path: Path) -> None:
    how: dict[str, Any] = {"ledger": tmp_path / "ledger"}
    nw.release(POLICY, visits, output=tmp_path / "one", **how)
    visits.write_text(VISITS.replace("58", "59"))
    assert not [one for one in nw.plan(POLICY, visits, **how).warnings if "already" in one]
    assert not nw.release(POLICY, visits, output=tmp_path / "two", **how).reread
    less = {**POLICY, "columns": [{**AGE, "epsilon": "1/2"}]}
    assert not nw.release(less, visits, output=tmp_path / "three", **how).reread
    assert spent(tmp_path) == 3
    with pytest.raises(BudgetError):
        nw.release(POLICY, visits, output=tmp_path / "four", again=True, **how)


def test_a_release_that_broke_off_is_no_release(visits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(phase: str) -> None:
        if phase == "drawn":
            raise OSError("a disk")

    with monkeypatch.context() as patch:
        patch.setattr(run, "reached", broken)
        with pytest.raises(OSError, match="a disk"):
            nw.release(POLICY, visits, output=tmp_path / "out", ledger=tmp_path / "ledger")
    assert not nw.release(POLICY, visits, output=tmp_path / "out", ledger=tmp_path / "ledger").reread
    assert spent(tmp_path) == 2


def test_the_ledger_keeps_no_plain_digest(visits: Path, tmp_path: Path) -> None:
    """Nothing in it follows from the data alone: two ledgers of one release have no digest in common."""
    kept = []
    for name in ("one", "two"):
        nw.release(POLICY, visits, output=tmp_path / f"out-{name}", ledger=tmp_path / name)
        with closing(sqlite3.connect(tmp_path / name)) as db:
            kept.append(db.execute("SELECT digest FROM inputs").fetchall())
    assert [len(rows) for rows in kept] == [1, 1]
    assert kept[0] != kept[1]


def test_other_bytes_under_the_same_policy_are_paid_for_and_said_to_be(visits: Path, tmp_path: Path) -> None:
    """The same rows in another file have other bytes, and so have those of the next month."""
    how: dict[str, Any] = {"ledger": tmp_path / "ledger"}
    first = nw.release(POLICY, visits, output=tmp_path / "out", **how)
    assert not any("under this policy before" in caution for caution in first.warnings)
    packed = tmp_path / "visits.csv.gz"
    with gzip.open(packed, "wt") as file:
        file.write(VISITS)
    said: list[str] = []
    second = nw.release(POLICY, packed, output=tmp_path / "next", warn=said.append, **how)
    assert said[0] == second.warnings[0]
    assert f"to {tmp_path}/out), from other bytes, and a release costs its price again" in said[0]
    assert str(tmp_path) not in (tmp_path / "next" / "report.html").read_text()
    (tmp_path / "more.csv").write_text(VISITS + "60\n")
    assert "from other bytes" in nw.plan(POLICY, tmp_path / "more.csv", **how).warnings[-1]
    assert "these data were released under this policy already" in nw.plan(POLICY, packed, **how).warnings[-1]
    third = nw.release(POLICY, packed, output=tmp_path / "third", again=True, **how)
    assert not any("under this policy before" in caution for caution in third.warnings)
