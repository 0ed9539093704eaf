"""Codes of a column of vectors in a release: both engines, prices, zeros, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.exceptions import NoisewrightError
from noisewright.mechanisms.registry import registry
from noisewright.testing import check_entry

SEED = "5e" * 32
COLUMN: dict[str, Any] = {"name": "taste", "mechanism": "lshrr", "dimension": 6, "bits": 40, "seed": SEED, "epsilon": 8}


def policy(**more: Any) -> dict[str, Any]:
    return {"dataset": "profiles", "budget": {"epsilon": 100}, "columns": [{**COLUMN, **more}]}


def people(rows: int = 300) -> pa.Table:
    vectors = np.random.default_rng(3).normal(size=(rows, 6))
    taste = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel(), pa.float32()), 6)
    return pa.table({"taste": taste, "name": [f"user {i}" for i in range(rows)]})


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("lshrr", {"bits": 37}),
        ("lshrr", {"bits": 16, "family": "minhash", "zero": "fixed"}),
        ("hashed-sets", {"hashes": 13, "answer_bits": 3}),
        ("laplace-hash", {"bits": 37, "protect": 1}),
    ],
)
def test_entries_conform(name: str, more: dict[str, Any]) -> None:
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.random.default_rng(0).normal(size=120)), 3)
    report = check_entry(registry[name], {"epsilon": 2, "dimension": 3, "seed": SEED, **more}, [vectors])
    assert not report.not_applicable


def test_any_two_vectors_cost_the_epsilon_of_the_column_and_few_bits_less() -> None:
    whole = nw.plan(policy(), people())
    assert whole.columns[0].mechanism.epsilon * 40 == 8  # type: ignore[union-attr]
    near = nw.plan(policy(protect=4), people())
    assert near.columns[0].mechanism.epsilon * 4 == 8  # type: ignore[union-attr]
    assert near.columns[0].protects == "values at most 4 differing bits apart"
    with pytest.raises(NoisewrightError, match="protect"):
        nw.plan({**policy(mechanism="laplace-hash"), "floating": True}, people())


def test_a_release_is_proved_and_its_codes_are_as_long_as_declared(tmp_path: Path) -> None:
    pq.write_table(people(), tmp_path / "people.parquet")
    nw.release(policy(), tmp_path / "people.parquet", output=tmp_path / "out", ledger=tmp_path / "ledger")
    assert "epsilon = 8" in str(nw.verify(tmp_path / "out", tmp_path / "ledger"))
    stated = json.loads((tmp_path / "out/certificate.json").read_text())["parts"][0]
    assert (stated["price"], stated["certificate"]["seed"]) == ("8", SEED)
    assert stated["certificate"]["hashing"] == {"family": "projection", "dimension": 6, "zero": "refuse"}
    released = pq.read_table(tmp_path / "out/data.parquet")
    assert released.schema.names == ["taste"]
    assert {len(code) for code in released["taste"].to_pylist()} == {5}


@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("name", ["lshrr", "hashed-sets", "laplace-hash"])
def test_both_engines_draw_alike_under_a_seed(name: str, tmp_path: Path, spark_session: Any) -> None:
    pq.write_table(people(), tmp_path / "people.parquet")
    more = {"hashes": 20, "bits": None} if name == "hashed-sets" else {"protect": 2} if name == "laplace-hash" else {}
    column = {key: value for key, value in {**COLUMN, "mechanism": name, **more}.items() if value is not None}
    asked = {**policy(), "columns": [column], "floating": name == "laplace-hash"}
    local = nw.release(asked, people(), seed=7).data
    spread = nw.release(asked, spark_session.read.parquet(str(tmp_path / "people.parquet")), seed=7)
    assert [bytes(row.taste) for row in spread.data.collect()] == local["taste"].to_pylist()


def test_one_vector_of_zeros_refuses_all_without_telling_which(tmp_path: Path) -> None:
    vectors = np.ones((50, 6))
    vectors[37] = 0
    table = pa.table({"taste": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 6)})
    with pytest.raises(NoisewrightError, match="zeros has no direction") as problem:
        nw.release(policy(), table, output=tmp_path / "out", ledger=tmp_path / "ledger")
    assert "37" not in str(problem.value)
    assert not (tmp_path / "out").exists()
    assert nw.release(policy(zero="fixed"), table, seed=1).data.num_rows == 50


def test_mistakes_in_a_policy_are_named() -> None:
    for more, words in (
        ({"bits": 0}, "bits must be"),
        ({"seed": "00"}, "seed"),
        ({"family": "simhash"}, "family"),
        ({"zero": "drop"}, "zero"),
        ({"dimension": 5}, "made for 5 numbers"),
    ):
        with pytest.raises(NoisewrightError, match=words):
            nw.plan(policy(**more), people())
