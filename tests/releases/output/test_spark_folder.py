"""A table that Spark wrote in many files: the lock lists every one, so that nothing passes as a note of Spark's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.ledger.ledger import Ledger
from noisewright.releases.folder import verify_folder

pytestmark = pytest.mark.xdist_group("spark")
POLICY = {
    "dataset": "clinic",
    "budget": {"epsilon": 5},
    "columns": [{"name": "smoker", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}],
}


def test_every_file_of_a_table_of_spark_is_listed_and_no_other_passes(tmp_path: Path, spark_session: Any) -> None:
    pq.write_table(pa.table({"smoker": ["yes", "no", "no"] * 40}), tmp_path / "visits.parquet")
    given = {"output": tmp_path / "out", "ledger": tmp_path / "ledger", "engine": "spark"}
    done = nw.release(POLICY, tmp_path / "visits.parquet", **given)
    ledger, table = Ledger(tmp_path / "ledger"), tmp_path / "out" / "data.parquet"
    assert done.data.num_rows == 120
    listed = json.loads((tmp_path / "out" / "policy.lock").read_text())["outputs"]["data.parquet"]
    assert set(listed) == {path.relative_to(table).as_posix() for path in table.rglob("*") if path.is_file()}
    assert any(name.startswith("part-") for name in listed)
    assert verify_folder(tmp_path / "out", ledger).problems == ()
    assert nw.release(POLICY, tmp_path / "visits.parquet", **given).reread
    (part,) = sorted(name for name in listed if name.startswith("part-"))[:1]
    for name in (
        "_started_1",
        "_committed_1",
        f".{part}.crc.crc",
        "_SUCCESS.txt",
        "part-99999.parquet",
        "_temporary/x",
    ):
        planted = table / name
        planted.parent.mkdir(exist_ok=True)
        planted.write_bytes(b"smuggled")
        said = f"data.parquet/{name.split('/')[0]} is no part of the release."
        assert said in verify_folder(tmp_path / "out", ledger).problems
        planted.unlink()
        if planted.parent != table:
            planted.parent.rmdir()
    for name in (n for n in listed if n.startswith((".", "_"))):
        before = (table / name).read_bytes()
        (table / name).write_bytes(before + b"smuggled")
        assert (
            f"data.parquet/{name} is missing or was changed after the release."
            in verify_folder(tmp_path / "out").problems
        )
        (table / name).write_bytes(before)
