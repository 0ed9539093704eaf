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
from noisewright.core.errors import DataError, PolicyError
from noisewright.releases.output.lock import Lock


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
