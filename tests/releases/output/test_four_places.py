"""Ledger, witness, data and output are four places; whatever makes two of them one is refused before the spend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.exceptions import LedgerError, NoisewrightError, ParameterError
from noisewright.ledger.witness import default_witness

AGE = {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}
POLICY: dict[str, Any] = {"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [AGE]}


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text("age\n31\n47\n58\n")
    return tmp_path / "visits.csv"


def listed(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("there", [False, True], ids=["new ledger", "old ledger"])
@pytest.mark.parametrize(
    ("ledger", "output", "witness", "words"),
    [
        ("out", "out", None, "the ledger, .*, and the output .* are at one place"),
        ("out", "link", None, "are at one place"),
        ("link", "out", None, "are at one place"),
        ("ledger", "ledger-wal", None, "are at one place"),
        ("folder/ledger", "folder", None, "cannot lie inside each other"),
        ("ledger", "ledger/out", None, "would lie inside the ledger, .*, which is a file"),
        ("ledger", "out", "ledger", "the ledger and the witness are one file"),
        ("ledger", "out", "ledger-wal", "the ledger and the witness are one file"),
        ("ledger", "out", "out", "the witness, .* are at one place"),
        ("ledger", "folder", "folder/heads", "the witness, .* cannot lie inside each other"),
        ("ledger", "out", "visits.csv", "the witness and the data are one file"),
        ("visits.csv", "out", None, "the ledger and the data are one file"),
    ],
)
def test_two_places_that_are_one(
    visits: Path, tmp_path: Path, ledger: str, output: str, witness: str | None, words: str, there: bool
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "out")
    (tmp_path / "folder").mkdir()
    if there and ledger in ("ledger", "folder/ledger", "out"):
        nw.Ledger(tmp_path / ledger)
    before, content = listed(tmp_path), visits.read_bytes()
    how: dict[str, Any] = {"ledger": tmp_path / ledger, "witness": witness and tmp_path / witness}
    with pytest.raises(ParameterError, match=words):
        nw.release(POLICY, visits, output=tmp_path / output, replace=True, **how)
    assert (listed(tmp_path), visits.read_bytes()) == (before, content)
    if there and (tmp_path / ledger).is_file() and ledger != "visits.csv":
        assert nw.Ledger(tmp_path / ledger).datasets() == []


def test_the_witness_of_this_user_is_kept_apart_too(visits: Path, tmp_path: Path) -> None:
    own = default_witness()
    assert own is not None
    with pytest.raises(ParameterError, match=r"the witness of this user, .* cannot lie inside each other"):
        nw.release(POLICY, visits, output=own.parent, ledger=tmp_path / "ledger", replace=True)
    with pytest.raises(ParameterError, match="the ledger and the witness of this user are one file"):
        nw.plan(POLICY, visits, ledger=own)
    nw.release(POLICY, visits, ledger=tmp_path / "ledger", witness=own)  # named, it is the same one


def test_a_ledger_that_is_the_policy_is_refused_by_its_content(visits: Path, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(
        'dataset = "clinic"\n[budget]\nepsilon = 1\n[[queries]]\nname = "n"\naggregate = "count"\nepsilon = 1\n'
    )
    before = file.read_bytes()
    for how in ({"ledger": file}, {"ledger": tmp_path / "ledger", "witness": file}):
        with pytest.raises(
            (LedgerError, NoisewrightError), match=r"is not a Noisewright ledger|is not a witness of ledgers"
        ):
            nw.release(str(file), visits, **how)  # type: ignore[arg-type]
    assert file.read_bytes() == before
