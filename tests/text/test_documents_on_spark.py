"""A column of documents on both engines: the same draws under a seed, and the embedding shipped by its digest."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from word_support import clusters

import noisewright as nw


@pytest.mark.xdist_group("spark")
def test_both_engines_draw_the_same_documents_under_a_seed(tmp_path: Any, spark_session: Any) -> None:
    embedding = clusters()
    notes = [" ".join(embedding.word((7 * i + k) % embedding.size) for k in range(i % 6)) for i in range(200)]
    pq.write_table(pa.table({"note": notes}), tmp_path / "notes.parquet")
    column = {"name": "note", "mechanism": "private-documents", "embedding": str(embedding.resource.place())}
    policy = {
        "dataset": "notes",
        "budget": {"epsilon": 10},
        "columns": [{**column, "size": 4, "epsilon": 2, "protect": 1, "language": "en"}],
    }
    local = nw.release(policy, str(tmp_path / "notes.parquet"), seed=7)
    spread = nw.release(policy, spark_session.read.parquet(str(tmp_path / "notes.parquet")), seed=7)
    drawn = local.data["note"].to_pylist()
    assert [len(note.split()) for note in drawn] == [4] * 200
    assert sorted(drawn) == sorted(row.note for row in spread.data.collect())
