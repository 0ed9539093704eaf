"""The same data under another dataset name have no budget of their own, unless their owner says that the people differ."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.cli import run
from noisewright.exceptions import BudgetError, LedgerError, ParameterError, PolicyError
from noisewright.policy.policy import Policy

AGE = {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1}


def policy(dataset: str, *also: str, epsilon: int = 2, **changes: Any) -> dict[str, Any]:
    budget = {"epsilon": epsilon, **({"also": list(also)} if also else {})}
    return {"dataset": dataset, "budget": budget, "columns": [AGE | changes]}


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    (tmp_path / "visits.csv").write_text("age\n31\n47\n58\n")
    return tmp_path / "visits.csv"


@pytest.fixture
def how(tmp_path: Path, visits: Path) -> dict[str, Any]:
    found = {"ledger": tmp_path / "ledger"}
    nw.release(policy("city"), visits, output=tmp_path / "city", **found)
    return found


def left(how: dict[str, Any]) -> dict[str, int]:
    book = nw.Ledger(how["ledger"])
    return {name: int(book.remaining(name).left_epsilon) for name in book.datasets()}


def test_another_name_is_refused_before_the_spend(how: dict[str, Any], visits: Path, tmp_path: Path) -> None:
    words = r"released as 'city' before \(20.*, and 'feb' would be a second .* also = \[\"city\"\] .* --separate-people"
    renamed = visits.rename(tmp_path / "renamed.csv")
    for other in (policy("feb"), policy("feb", epsilon=1), policy("feb", protect=7)):
        with pytest.raises(LedgerError, match=words):
            nw.release(other, renamed, output=tmp_path / "feb", **how)
        plan = nw.plan(other, renamed, **how)
        assert not plan.fits
        assert "would be a second budget" in str(plan.budget.refusal)  # type: ignore[union-attr]
    assert not (tmp_path / "feb").exists()
    assert left(how) == {"city": 1}
    renamed.write_text("age\n31\n47\n59\n")
    nw.release(policy("feb"), renamed, output=tmp_path / "feb", **how)  # other data
    assert left(how) == {"city": 1, "feb": 1}


def test_a_release_that_broke_off_counts_too(
    how: dict[str, Any], visits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(how["ledger"])) as db:
        assert db.execute("SELECT count(*) FROM finishes").fetchone() == (1,)
    other = visits.with_name("other.csv")
    other.write_text("age\n1\n2\n")
    monkeypatch.setattr("noisewright.releases.release._finish", lambda *_: None)
    nw.release(policy("city"), other, again=True, **how)
    with pytest.raises(LedgerError, match="would be a second budget"):
        nw.release(policy("feb"), other, **how)


def test_also_charges_both_or_none(how: dict[str, Any], visits: Path, tmp_path: Path) -> None:
    both = policy("feb", "city", epsilon=9)
    assert nw.plan(both, visits, **how).fits
    done = nw.release(both, visits, output=tmp_path / "feb", **how)
    assert left(how) == {"city": 0, "feb": 8}
    book = nw.Ledger(how["ledger"])
    assert [e.release_id for e in book.entries("city")][1:] == [e.release_id for e in book.entries("feb")]
    assert book.remaining("city").releases == 2
    assert book.check().records
    for words in ("city", "also"):  # recipients are told nothing of it
        texts = [p.read_text(errors="replace") for p in (tmp_path / "feb").rglob("*.lock")]
        assert not [text for text in texts if f'"{words}"' in text]
    assert nw.release(both, visits, output=tmp_path / "feb", **how).reread
    assert (
        done.certificate.digest
        == nw.release(policy("feb", epsilon=9), visits, output=tmp_path / "feb", **how).certificate.digest
    )
    with pytest.raises(BudgetError, match="but only 0 of the budget of 2 for 'city'"):
        nw.release(both, visits, again=True, **how)
    assert not nw.plan(both, visits, **how).fits
    assert left(how) == {"city": 0, "feb": 8}


def test_an_account_that_holds_all_of_it_is_enough(how: dict[str, Any], visits: Path) -> None:
    """A release under the first name needs no more: it is charged with everything. One under the second alone does."""
    nw.release(policy("feb", "city", epsilon=9), visits, **how)
    nw.release(policy("city", epsilon=9), visits, again=True, raise_budget=True, **how)
    with pytest.raises(LedgerError, match="would be a second budget"):
        nw.release(policy("feb", epsilon=9), visits, again=True, **how)
    with pytest.raises(LedgerError, match="would be a second budget"):  # no one account holds all three
        nw.release(policy("mar", "feb", epsilon=9), visits, **how)
    assert left(how) == {"city": 6, "feb": 8}


def test_separate_people_are_recorded_with_the_reason(
    how: dict[str, Any], visits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {**how, "separate_people": "two cities, same counts"}
    assert nw.plan(policy("feb"), visits, **said).fits
    nw.release(policy("feb"), visits, **said)
    assert left(how) == {"city": 1, "feb": 1}
    with closing(sqlite3.connect(how["ledger"])) as db:
        rows = db.execute("SELECT d.name, o.reason FROM others o JOIN datasets d ON d.number = o.dataset").fetchall()
        assert rows == [("city", "two cities, same counts")]
        assert db.execute("SELECT count(*) FROM chain WHERE kind = 'others'").fetchone() == (1,)
    for dataset in ("city", "feb"):
        assert run(["ledger", "show", str(how["ledger"]), "--dataset", dataset, "--json"]) == 0
        (shown,) = json.loads(capsys.readouterr().out)["datasets"]
        (apart,) = shown["apart"]
        assert (apart["dataset"], apart["other"], apart["reason"]) == ("feb", "city", "two cities, same counts")
        assert run(["ledger", "show", str(how["ledger"]), "--dataset", dataset]) == 0
        page = " ".join(capsys.readouterr().out.split())
        assert "'feb' and 'city': other people, as was said at" in page
        assert "two cities, same counts" in page
    with pytest.raises(LedgerError, match="would be a second budget"):  # it is said every time
        nw.release(policy("feb"), visits, again=True, **how)
    with pytest.raises(ParameterError, match="the reason in separate_people"):
        nw.release(policy("feb"), visits, again=True, **{**how, "separate_people": " "})


def test_what_cannot_be_charged_together_is_refused(how: dict[str, Any], visits: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="knows no dataset 'town'"):
        nw.release(policy("feb", "town"), visits, **how)
    with pytest.raises(LedgerError, match=r"the ledger is new, and has no dataset 'town'"):
        nw.release(policy("feb", "town"), visits, ledger=tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with pytest.raises(LedgerError, match=r"cannot be charged together, because .* keeps the one between"):
        nw.release({**policy("feb", "city"), "unit": {"column": "age"}}, visits, **how)
    with pytest.raises(LedgerError, match="would protect values at most 4 apart"):
        nw.release(policy("feb", "city", protect=4), visits, **how)
    assert left(how) == {"city": 1}


def test_data_that_cannot_be_known_again_are_said_to_be_so(
    visits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a frame of Spark, which has no fingerprint."""
    monkeypatch.setattr("noisewright.releases.release.content_digest", lambda *_: b"")
    for dataset in ("city", "feb"):
        said: list[str] = []
        nw.release(policy(dataset), visits, ledger=tmp_path / "ledger", warn=said.append)
        (one,) = [one for one in said if "will not know visits.csv again" in one]
        assert "get a second budget without a refusal" in one
    simulated: list[str] = []
    nw.release(policy("city"), visits, seed=1, warn=simulated.append)
    assert not [one for one in simulated if "will not know" in one]


@pytest.mark.parametrize(
    ("also", "words"),
    [
        (["feb"], "budget.also = .* names the dataset itself"),
        (["city", "city"], "holds a name twice"),
        ("city", 'must be a list; write \\["city-visits"\\]'),
        ([3], "must be text"),
    ],
)
def test_what_is_wrong_with_also_is_said(also: Any, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        Policy.from_dict({**policy("feb"), "budget": {"epsilon": 1, "also": also}})


def test_a_policy_without_it_has_the_digest_that_it_had() -> None:
    plain, more = Policy.from_dict(policy("feb")), Policy.from_dict(policy("feb", "city"))
    assert "also" not in plain.to_json()["budget"]
    assert (plain.digest(), plain) == (more.digest(), more.published())
    assert Policy.from_dict(more.to_json()) == more


def test_the_command_takes_it(
    how: dict[str, Any], visits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "feb.toml"
    file.write_text(
        'dataset = "feb"\n[budget]\nepsilon = 1\n[[columns]]\nname = "age"\nmechanism = "geometric"\n'
        "within = [0, 110]\nprotect = 5\nepsilon = 1\n"
    )
    words = [str(file), str(visits), "--ledger", str(how["ledger"]), "--json"]
    assert run(["release", *words, "-o", str(tmp_path / "feb")]) == 2
    assert "would be a second budget" in json.loads(capsys.readouterr().out)["error"]
    apart = ["--separate-people", "two cities", "--witness", str(tmp_path / "heads")]
    assert run(["plan", *words, *apart]) == 0
    assert not (tmp_path / "heads").exists()
    assert run(["release", *words, "-o", str(tmp_path / "feb"), *apart]) == 0
    assert len((tmp_path / "heads").read_text().splitlines()) == 2  # the spend and the finish
