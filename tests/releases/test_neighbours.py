"""Two neighbouring tables, whatever they come from, cannot be told apart by what a release publishes beside its draws."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from tests.attack.neighbours import SOURCES, WAYS, compare

import noisewright as nw
from noisewright.certificates.checker import checker_release
from noisewright.certificates.checker.checker import NotProved, digest
from noisewright.claims import phrases
from noisewright.exceptions import DataError, PolicyError
from noisewright.releases.lock import Lock


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [kind for kind in SOURCES if kind != "spark"])
def test_folders_of_neighbours_differ_in_draws_alone(tmp_path: Path, kind: str, way: str) -> None:
    number = SOURCES.index(kind) + WAYS.index(way)  # which says in what format, too
    assert compare(kind, way, number, tmp_path) == []


def test_so_do_those_of_spark(tmp_path: Path, spark_session: object) -> None:
    assert compare("spark", "unused", 0, tmp_path, spark_session) == []


AGES = {
    "dataset": "clinic",
    "budget": {"epsilon": 3},
    "columns": [
        {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1},
        {"name": "ward", "keep": True},
    ],
}


def test_a_lock_names_no_key_that_one_row_has(tmp_path: Path) -> None:
    lines = [{"age": 31, "ward": "a", "cd4 cells": 350}]
    lines += [{"age": 47, "ward": "b", "hiv clinic": True, "cd4 cells": "refused"}]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    nw.release(AGES, tmp_path / "t.jsonl", output=tmp_path / "out", seed=1)
    lock = Lock.from_json((tmp_path / "out" / "policy.lock").read_text())
    assert lock.types == {"age": pa.int64(), "ward": pa.string()}
    published = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    published += base64.b64decode(lock.document["schema"])
    for word in (b"hiv clinic", b"cd4 cells", b"refused"):  # no digest has a blank or is so long a word
        assert word not in published


def test_a_frame_is_not_refused_for_an_unused_column() -> None:
    frame = pd.DataFrame({"age": [31, 47], "ward": ["a", None], "odd": [object(), 1]})
    done = nw.release(AGES, frame, seed=1)
    assert list(done.data.columns) == ["age", "ward"]
    with pytest.raises(DataError, match=r"'ward'.* or say what it holds in the types of the policy"):
        nw.release(AGES, frame.assign(ward=[1, "a"]).astype({"ward": object}), seed=1)


@pytest.mark.parametrize("cells", [[1, 2, 3], [1, 2, None], [1.5, 2.0, 3.0], [True, False, True]])
def test_a_missing_cell_that_is_left_out_does_not_choose_a_type(cells: list[Any]) -> None:
    """Whole numbers become floats where one is missing; so what is kept has the type of the policy where rows are left out."""
    policy = {
        **AGES,
        "unit": {"column": "who", "rows": 1, "excess": "first"},
        "columns": [{"name": "stay", "keep": True}],
    }
    frame = pd.DataFrame({"who": ["u", "v", "v"], "stay": cells})
    with pytest.raises(
        PolicyError, match=r"'stay' is kept as it is, and pandas chooses .*types = \{ stay = \"integer\" \}"
    ):
        nw.release(policy, frame, seed=1)
    number = "number" if cells[0] == 1.5 else "boolean" if cells[0] is True else "integer"
    done = nw.release({**policy, "types": {"stay": number}}, frame, seed=1).data
    assert sorted(done["stay"]) == sorted(cells[:2])
    assert str(done["stay"].dtype) == {"number": "float64", "boolean": "bool", "integer": "int64"}[number]


def test_words_of_filters_are_no_columns(tmp_path: Path) -> None:
    """A key that is called like a word of a filter is still nobody's business."""
    counted = {"name": "n", "aggregate": "count", "where": "age > 3 and abs(age) < 90", "epsilon": 1}
    asked = {**AGES, "queries": [counted]}
    (tmp_path / "t.jsonl").write_text('{"age": 5, "ward": "a", "and": 1, "abs": 2, "AND": 3}\n')
    done = nw.release(asked, tmp_path / "t.jsonl", seed=1)
    assert list(done.plan.types) == ["age", "ward"]


def test_tables_with_other_rows_of_a_unit_are_no_neighbours(tmp_path: Path) -> None:
    """Released rows tell 3 rows of a patient from 5 with certainty, so no sentence and no certificate may be about those."""
    policy = {
        **AGES,
        "budget": {"epsilon": 9},
        "unit": {"column": "patient", "rows": 5},
        "columns": AGES["columns"][:1],
    }
    for many in (3, 5):
        table = pa.table({"patient": ["p", *["q"] * many], "age": list(range(many + 1))})
        nw.release(policy, table, output=tmp_path / str(many), seed=1)
    locks = [Lock.from_json((tmp_path / name / "policy.lock").read_text()) for name in ("3", "5")]
    assert [lock.rows for lock in locks] == [4, 6]
    document = json.loads((tmp_path / "3" / "certificate.json").read_text())
    assert (tmp_path / "5" / "certificate.json").read_text() == (tmp_path / "3" / "certificate.json").read_text()
    claim = phrases.release_claim(checker_release.examine(document))
    assert (
        "between two tables with the same rows of every patient, in which the rows of one patient (at most 5)" in claim
    )
    document["neighbours"]["relation"] = "add-remove"
    with pytest.raises(NotProved, match="released rows show how many there are"):
        checker_release.examine({**document, "digest": digest(document)})
    with pytest.raises(PolicyError, match="a unit cannot be hidden by leaving it out"):
        nw.plan({**policy, "neighbours": "add-remove"}, table)


@pytest.mark.parametrize("excess", ["refuse", "first"])
def test_what_neighbours_share_is_published_alike(tmp_path: Path, excess: str) -> None:
    """The number of rows and of those in each kept group, in the lock and in exact answers; with other values of one patient."""
    counted = [
        {"name": "visits", "aggregate": "count", "epsilon": 1},
        {"name": "wards", "aggregate": "count", "by": {"ward": ["a", "b"]}, "epsilon": 1},
        {"name": "old", "aggregate": "count", "where": "age > 60", "epsilon": 1},
    ]
    unit = {"column": "patient", "rows": 2, "excess": excess}
    policy = {**AGES, "budget": {"epsilon": 9}, "unit": unit, "queries": counted}
    rows = ["q", "p", "p", *(["p"] if excess == "first" else [])]
    found = []
    for ages in ([10, 20, 30, 40], [10, 99, 98, 97]):
        table = pa.table({"patient": rows, "age": ages[: len(rows)], "ward": ["a", "b", "a", "b"][: len(rows)]})
        done = nw.release(policy, table, seed=3)
        found.append((done.rows, done.answers["visits"], done.answers["wards"], done.plan.to_json()))
    assert found[0] == found[1]
    assert found[0][0] == 3
    assert found[0][2]["wards"].to_pylist() == [2, 1]
    assert "by at most 5 in age, by nothing in ward" in done.plan.between
    shares = {part["name"]: (part["epsilon"], part["protects"]) for part in done.plan.to_json()["queries"]}
    assert shares["visits"] == shares["wards"] == (0.0, "nothing: answered exactly")
    assert shares["old"] == (1.0, "the rows of one patient (at most 2), with any other values")
