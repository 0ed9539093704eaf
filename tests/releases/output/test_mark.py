"""The digest of the data, which ledgers of every age hold: of tables without references it never changes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow as pa

import noisewright as nw
from noisewright.releases.lock import References, content_digest
from noisewright.tables.reading import source_of

POLICY = {
    "dataset": "d",
    "budget": {"epsilon": 1},
    "columns": [{"name": "ward", "mechanism": "randomised-response", "categories": ["a", "b"], "epsilon": 1}],
}


def test_the_digest_of_a_table_without_references_is_that_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("ward\na\nb\n")
    plans = nw.plan(POLICY, path).columns
    digest = hashlib.sha256(b"9\0ward\na\nb\n").digest()
    source = source_of(path)
    assert content_digest(source, References(source, ())) == content_digest(source, References(source, plans)) == digest
    memory = source_of(pa.table({"ward": ["a", "b"]}))
    assert content_digest(memory, References(memory, ())) == content_digest(memory, References(memory, plans))


def test_references_that_were_not_read_are_not_compared(tmp_path: Path) -> None:
    source = source_of(pa.table({"ward": ["a"]}))
    References(source, nw.plan(POLICY, pa.table({"ward": ["a"]})).columns).check_unchanged()
