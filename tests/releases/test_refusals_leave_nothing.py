"""A refused release leaves nothing behind: no ledger, no folder for it, no output, nothing hidden."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.exceptions import LedgerError, NoisewrightError
from noisewright.ledger.ledger import Ledger
from noisewright.releases import release as run

AGE = {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}
PATIENTS = {"name": "patients", "aggregate": "count", "epsilon": "1/4"}
POLICY = {"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [AGE], "queries": [PATIENTS]}
AGES = pa.table({"who": ["a", "b", "c"], "age": [31, 47, 58]})


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place where this user's ledger would be, in folders that are not there yet."""
    monkeypatch.delenv("NOISEWRIGHT_LEDGER", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share" / "data"))
    return tmp_path


REFUSED = {
    "a value that does not fit its type": (POLICY, pa.table({"age": ["31", "x"]})),
    "a column that is not there": (POLICY, AGES.drop_columns("age")),
    "more than the budget": ({**POLICY, "budget": {"epsilon": 1}}, AGES),
    "a unit with too many rows": (
        {**POLICY, "unit": {"column": "who", "rows": 1}},
        pa.table({"who": ["a", "a"], "age": [31, 47]}),
    ),
    "a value outside": (
        {
            **POLICY,
            "columns": [{"name": "who", "mechanism": "randomised-response", "categories": ["a", "b"], "epsilon": 1}],
        },
        AGES,
    ),
    "a name that a ledger does not take": ({**POLICY, "dataset": "clinic  one"}, AGES),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("to_a_folder", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_no_ledger_is_left_by_a_refusal(home, case, to_a_folder, named):
    policy, data = REFUSED[case]
    how = {"output": home / "out"} if to_a_folder else {}
    how |= {"ledger": home / "ledger.sqlite"} if named else {}
    with pytest.raises(NoisewrightError):
        nw.release(policy, data, **how)
    assert everything(home) == []


def test_the_first_release_that_is_not_refused_makes_the_ledger_and_its_folder(home):
    nw.release(POLICY, AGES, seed=1)
    assert everything(home) == []  # a simulation has no ledger
    done = nw.release(POLICY, AGES)
    assert done.balance.left_epsilon == 2  # the number of rows is public here and costs nothing
    assert everything(home) == ["share", "share/data", "share/data/noisewright", "share/data/noisewright/ledger.sqlite"]


def test_a_ledger_that_cannot_be_made_is_refused_before_the_data_are_looked_at(home, monkeypatch):
    monkeypatch.setattr(run, "content_digest", lambda *data: pytest.fail("the data were read"))
    with pytest.raises(LedgerError, match=r"there is no folder .*nowhere; create it, or name another ledger"):
        nw.release(POLICY, AGES, output=home / "out", ledger=home / "nowhere" / "ledger")
    (home / "share").write_text("a file where a folder is wanted")
    with pytest.raises(LedgerError, match="there is no folder"):
        nw.release(POLICY, AGES, output=home / "out")
    assert everything(home) == ["share"]


def test_a_ledger_that_goes_away_meanwhile_is_not_made_anew(home, monkeypatch):
    """Its spends would be forgotten."""
    book = home / "ledger.sqlite"
    nw.release(POLICY, AGES, ledger=book)

    def vanish(*data):
        book.unlink()
        return b"digest"

    monkeypatch.setattr(run, "content_digest", vanish)
    with pytest.raises(LedgerError, match="cannot be opened"):
        nw.release(POLICY, AGES, output=home / "out", ledger=book)
    assert everything(home) == []


def test_a_full_disk_leaves_no_folder_for_a_ledger(home):
    script = """
        import resource, sys
        from noisewright.exceptions import LedgerError
        from noisewright.ledger.ledger import Ledger
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            Ledger()
        except LedgerError as problem:
            print(problem)
        """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=900, check=True
    )
    assert "the disk is full or failing, or a limit on file sizes is reached" in done.stdout
    assert everything(home) == []


def test_two_first_releases_at_once_share_one_ledger(home):
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda _: nw.release(POLICY, AGES, ledger=home / "ledger", again=True), range(2)))
    assert {release.balance.epsilon for release in done} == {3}
    assert Ledger(home / "ledger").remaining("clinic").spent_epsilon == 2
    assert everything(home) == ["ledger"]
