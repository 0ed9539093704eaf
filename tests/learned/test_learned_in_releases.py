"""A trained privatiser in a policy: rows are changed on both engines, nothing is charged, and everything says so."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.exceptions import NoisewrightError, ParameterError
from noisewright.guarantees import ContextAware
from noisewright.learning import GAPPrivatiser, changed_columns
from noisewright.ledger.export import document as ledger_document
from noisewright.mechanisms.registry import names
from noisewright.releases.certificate import certificate_bytes, examined
from noisewright.releases.folder import verify_folder
from noisewright.resources import Resource

QUICK = {"epochs": 3, "adversary_steps": 1, "hidden": 8, "adversary_hidden": 8}
FEW = ["nearest neighbours"]
NAMES = ["height", "town", "age"]


def people(rows: int = 500, seed: int = 1) -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    towns = np.array(["Bonn", "Ulm"], dtype=object)[np.where(rng.random(rows) < 0.3, 1 - y, y)]
    ages = (40 + 8 * y + 9 * rng.normal(size=rows)).astype(np.int64)
    return {"height": 1.7 + 0.1 * y + 0.1 * rng.normal(size=rows), "town": towns, "age": ages}, y


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    columns, y = people()
    made = GAPPrivatiser([0.5, 1.0], settings=QUICK, attackers=FEW).fit(columns, {"ill": y})
    one = made.at(1.0)
    one.points_ = (replace(one.points_[0], rested=False),)  # as after a training that was too short
    one.save(folder / "p.nwm")
    made.save(folder / "curve.nwm")
    GAPPrivatiser(0.5, given="xy", settings=QUICK, attackers=FEW).fit(columns, y).save(folder / "both.nwm")
    return folder


def policy(folder: Path, **column: Any) -> dict[str, Any]:
    own = {"name": NAMES, "mechanism": "learned", "model": str(folder / "p.nwm"), **column}
    visits = {"name": "visits", "mechanism": "geometric", "within": [0, 20], "protect": 1, "epsilon": 1}
    return {"dataset": "people", "budget": {"epsilon": 2}, "columns": [own, visits]}


def table() -> pa.Table:
    columns, _ = people(300, seed=2)
    return pa.table({**columns, "visits": np.arange(300) % 20})


def test_rows_are_changed_and_nothing_is_charged(trained: Path, tmp_path: Path) -> None:
    done = nw.release(policy(trained), table(), output=tmp_path / "out", ledger=tmp_path / "l.sqlite")
    out = pq.read_table(tmp_path / "out" / "data.parquet")
    assert out.schema.types == [pa.float64(), pa.string(), pa.int64(), pa.int64()]
    assert not set(out["height"].to_pylist()) & set(table()["height"].to_pylist())
    assert done.plan.epsilon == 1  # of the other column
    assert done.balance is not None
    assert done.balance.left_epsilon == 1
    (changed,) = done.plan.context_aware
    assert changed.names == tuple(NAMES)
    assert isinstance(changed.mechanism.guarantee, ContextAware)  # type: ignore[union-attr]
    assert any("promises no epsilon" in warning for warning in done.plan.warnings)
    assert any("did NOT come to rest" in warning for warning in done.plan.warnings)
    for words in (done.in_words(), done.plan.in_words()):
        assert "That leaves out height, town and age: changed without an epsilon" in words


def test_certificate_report_ledger_and_verify_say_that_there_is_no_epsilon(trained: Path, tmp_path: Path) -> None:
    nw.release(policy(trained), table(), output=tmp_path / "out", ledger=tmp_path / "l.sqlite")
    document = json.loads((tmp_path / "out" / "certificate.json").read_text())
    (stated,) = document["context_aware"]
    assert stated["columns"] == NAMES
    assert stated["resources"] == [Resource.at(trained / "p.nwm").to_json()]
    promise, measured = GAPPrivatiser.load(trained / "p.nwm").guarantee, stated["measured"]
    assert (measured["private"], measured["rows"], measured["converged"]) == (["ill"], promise.rows, False)
    assert measured["adversaries"] == [*FEW, "the adversary of the training"]
    for name in ("accuracy", "prior", "distortion", "most_distortion"):
        assert float(measured[name]) == pytest.approx(getattr(promise, name), abs=1e-3)
    assert (document["kept"], document["total"]["epsilon"], len(document["parts"])) == ([], "1", 1)
    said = checker.check(document)
    assert "changed without an epsilon, NOT protected (context-aware, which is not proved): " in said
    page = (tmp_path / "out" / "report.html").read_text()
    assert "changed by a learned privatiser: no epsilon" in page
    ledger = nw.Ledger(tmp_path / "l.sqlite")
    entries = {entry.name: entry for entry in ledger.entries("people")}
    assert entries["town"].epsilon == 0
    assert entries["town"].guarantee == "changed by a learned privatiser: context-aware, no epsilon"
    assert not verify_folder(tmp_path / "out").problems
    assert '"ill" guessed right at most' in said
    assert "NOT converged" in said
    assert "did NOT come to rest with its budget spent" in page
    worst = [
        {"accuracy": "1.1"},
        {"prior": "1"},
        {"rows": 0},
        {"converged": 1},
        {"private": []},
        {"distortion": "9"},
        {"x": 1},
    ]
    for wrong in worst:
        worse = {**document, "context_aware": [{**stated, "measured": {**measured, **wrong}}]}
        worse["digest"] = checker.digest(worse)
        with pytest.raises(checker.NotProved, match="what was measured of columns without an epsilon"):
            checker.check(worse)
    for key in ("columns", "resources", "measured"):
        worse = {**document, "context_aware": [{name: v for name, v in stated.items() if name != key}]}
        worse["digest"] = checker.digest(worse)
        with pytest.raises(checker.NotProved, match="without an epsilon is not listed properly"):
            checker.check(worse)
    hidden = {name: value for name, value in document.items() if name != "context_aware"}
    hidden["digest"] = checker.digest(hidden)
    (tmp_path / "out" / "certificate.json").write_text(json.dumps(hidden))
    assert any("context_aware" in problem for problem in verify_folder(tmp_path / "out").problems)


def test_a_simulation_is_the_same_on_every_cut_and_takes_text_without_types(trained: Path, tmp_path: Path) -> None:
    csv.write_csv(table(), tmp_path / "people.csv")
    for name, data in (("a", table()), ("b", tmp_path / "people.csv")):
        nw.release(policy(trained), data, output=tmp_path / name, seed=5)
    first, second = (pq.read_table(tmp_path / name / "data.parquet") for name in "ab")
    assert first.equals(second)


@pytest.mark.xdist_group("spark")
def test_spark_releases_the_same_rows(trained: Path, tmp_path: Path, spark_session: Any) -> None:
    pq.write_table(table(), tmp_path / "people.parquet")
    here = nw.release(policy(trained), table(), seed=5).data
    there = nw.release(policy(trained), spark_session.read.parquet(str(tmp_path / "people.parquet")), seed=5).data
    assert [tuple(row) for row in there.collect()] == [tuple(row.values()) for row in here.to_pylist()]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ({"name": ["age", "town", "height"]}, "trained on the columns height, town, age"),
        ({"name": ["height", "town"]}, "trained on the columns height, town, age"),
        ({"model": "curve.nwm"}, "several budgets (0.5, 1); say which with distortion"),
        ({"model": "curve.nwm", "distortion": 0.7}, "this curve has the budgets 0.5, 1"),
        ({"model": "both.nwm"}, "is given the private values as well"),
        ({"model": "none.nwm"}, "none.nwm"),
        ({"epsilon": 1}, "does nothing here: learned promises none of it"),
        ({"protect": 1}, "does nothing here: learned promises none of it"),
        ({"delta": 0.1}, "delta"),
        ({"models": "p.nwm"}, "did you mean model"),
    ],
)
def test_bad_policies_are_refused_in_a_sentence(trained: Path, column: dict[str, Any], said: str) -> None:
    given = {**column, **({"model": str(trained / column["model"])} if "model" in column else {})}
    with pytest.raises(NoisewrightError) as caught:
        nw.plan(policy(trained, **given), table())
    assert said in str(caught.value)


def test_values_that_it_was_not_trained_for_refuse_the_release(trained: Path, tmp_path: Path) -> None:
    strange = table().set_column(1, "town", pa.array(["Rome"] * 300))
    with pytest.raises(NoisewrightError, match="was not there when the privatiser was fitted"):
        nw.release(policy(trained), strange, output=tmp_path / "out", ledger=tmp_path / "l.sqlite")
    assert not (tmp_path / "out").exists()
    missing = table().set_column(0, "height", pa.array([None] + [1.7] * 299))
    with pytest.raises(NoisewrightError, match="missing values"):
        nw.release(policy(trained), missing, output=tmp_path / "out", ledger=tmp_path / "l.sqlite")


def test_it_is_no_mechanism_like_the_others(trained: Path) -> None:
    made = changed_columns(Resource.at(trained / "curve.nwm"), distortion=0.5)
    assert "learned" not in names()
    assert len(pickle.dumps(made)) < 500
    assert pickle.loads(pickle.dumps(made)).columns == tuple(NAMES)
    with pytest.raises(ParameterError, match="no certificate"):
        made.certificate()
    assert made.map(1) == float("inf")
    assert (made.kinds, made.hidden) == (("number", "text", "integer"), ("ill",))


def test_a_column_that_is_hidden_is_not_kept_beside(trained: Path, tmp_path: Path) -> None:
    columns, y = people(300, seed=2)
    beside = policy(trained)
    beside["columns"][1] = {"name": "ill", "keep": True}
    with pytest.raises(ParameterError, match="these columns hide 'ill', which the policy keeps"):
        nw.release(beside, pa.table({**columns, "ill": y}), output=tmp_path / "out", ledger=tmp_path / "l.sqlite")
    assert not (tmp_path / "out").exists()


def test_learned_columns_alone_claim_no_epsilon(trained: Path, tmp_path: Path) -> None:
    alone = policy(trained)
    del alone["columns"][1]
    done = nw.release(alone, table(), output=tmp_path / "out", ledger=tmp_path / "l.sqlite")
    document = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert (document["total"], document["parts"]) == (None, [])
    assert (done.plan.to_json()["epsilon"], done.plan.total) == (None, "no epsilon is claimed")
    assert done.plan.to_json()["columns"][0]["epsilon"] is None
    assert "No epsilon is claimed. Nothing is protected" in (tmp_path / "out" / "report.html").read_text()
    with pytest.raises(NoisewrightError, match="no epsilon is claimed"):
        _ = done.guarantee
    found = examined(certificate_bytes(tmp_path / "out"), tmp_path / "out", tmp_path / "l.sqlite")
    assert (found.proved, found.claim, found.facts["epsilon"]) == (False, None, None)
    assert found.sentences == ("no epsilon is claimed, so there is nothing to prove.",)
    told = {entry["name"]: (entry["kind"], entry["epsilon"]) for entry in _entries(tmp_path / "l.sqlite")}
    assert told == dict.fromkeys(NAMES, ("changed", None))
    document["total"] = {"epsilon": "0", "delta": "0"}  # as if nothing could be told from it
    document["digest"] = checker.digest(document)
    with pytest.raises(checker.NotProved, match="a total is stated where there are parts, and only there"):
        checker.check(document)


def _entries(path: Path) -> list[dict[str, Any]]:
    return list(ledger_document(nw.Ledger(path))["datasets"][0]["entries"])


def test_two_columns_of_numbers_are_reported(tmp_path: Path) -> None:
    columns, y = people(300, seed=4)
    two = {name: columns[name] for name in ("height", "age")}
    GAPPrivatiser(0.5, settings=QUICK, attackers=FEW).fit(two, y).save(tmp_path / "two.nwm")
    own = {"name": ["height", "age"], "mechanism": "learned", "model": str(tmp_path / "two.nwm")}
    nw.release(
        {"dataset": "people", "budget": {"epsilon": 2}, "columns": [own]},
        pa.table(two),
        output=tmp_path / "out",
        ledger=tmp_path / "l.sqlite",
    )
    assert "height" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
