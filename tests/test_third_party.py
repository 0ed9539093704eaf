"""A package of somebody else's, installed beside ours: its mechanism and command are used everywhere without a change here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.mechanisms.registry import ADDRESSES, registry
from noisewright.resources import Seed
from noisewright.testing import check_entry

pytestmark = pytest.mark.usefixtures("guests")

SEED = "5e" * 32
POLICY = f"""
dataset = "profiles"
budget = {{ epsilon = 5 }}

[[columns]]
name = "taste"
mechanism = "sign-bits"
dimension = 6
bits = 24
seed = "{SEED}"
epsilon = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = np.random.default_rng(3).normal(size=(500, 6))
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel(), pa.float32()), 6)
    pq.write_table(pa.table({"taste": vectors, "name": [f"user {i}" for i in range(500)]}), tmp_path / "people.parquet")
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


def command(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "noisewright", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_is_found_by_its_entry_points_and_named_as_its_provider() -> None:
    assert ADDRESSES.provider("sign-bits") == "noisewright-signbits 0.1.0"
    assert registry["sign-bits"].takes.gives == "bytes"
    module = Path(__file__).parents[1] / "examples/signbits/signbits/mechanism.py"
    assert str(module.resolve()) == sys.modules["signbits.mechanism"].__file__


def test_it_conforms() -> None:
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.random.default_rng(0).normal(size=120)), 3)
    report = check_entry(registry["sign-bits"], {"epsilon": 2, "dimension": 3, "seed": SEED}, [vectors])
    assert not {"takes", "certificate", "pickling"} & set(report.not_applicable)


@pytest.mark.parametrize("engine", ["local", "spark"])
@pytest.mark.xdist_group("spark")
def test_plan_release_and_verify_on_both_engines(folder: Path, engine: str) -> None:
    plan = json.loads(command(folder, "plan", "policy.toml", "people.parquet", "--ledger", "ledger", "--json"))
    assert plan["epsilon"] == 3
    out = ["release", "policy.toml", "people.parquet", "-o", "out", "--ledger", "ledger", "--engine", engine]
    command(folder, *out)
    assert "proved" in command(folder, "verify", "out", "--ledger", "ledger")
    lock = json.loads((folder / "out/policy.lock").read_text())
    assert "noisewright-signbits 0.1.0" in json.dumps(lock)
    certificate = json.loads((folder / "out/certificate.json").read_text())
    assert certificate["parts"][0]["certificate"]["seed"] == SEED
    released = pq.read_table(folder / "out/data.parquet")
    assert released.schema.names == ["taste"]
    assert released.num_rows == 500
    assert {len(bits) for bits in released["taste"].to_pylist()} == {3}


def test_both_engines_draw_alike_under_a_seed(folder: Path, spark_session: object) -> None:
    table = pq.read_table(folder / "people.parquet")
    policy = folder / "policy.toml"
    local = nw.release(policy, table, seed=7).data
    spread = nw.release(policy, spark_session.read.parquet(str(folder / "people.parquet")), seed=7)  # type: ignore[attr-defined]
    assert [row.taste for row in spread.data.collect()] == local["taste"].to_pylist()


def test_its_law_is_that_of_the_response() -> None:
    made = registry["sign-bits"].make(epsilon=24, dimension=2, seed=Seed.from_hex(SEED), bits=24)
    truth = registry["sign-bits"].make(epsilon=24 * 60, dimension=2, seed=Seed.from_hex(SEED), bits=24)
    vector = np.tile([0.3, -2.0], (4000, 1))
    right = np.unpackbits(np.frombuffer(truth.release(vector[0]), np.uint8))
    drawn = np.unpackbits(np.frombuffer(b"".join(made.release(vector, np.random.default_rng(5))), np.uint8)).reshape(
        -1, 24
    )
    kept = (drawn == right).mean()
    assert abs(kept - np.e / (1 + np.e)) < 5 * 0.5 / np.sqrt(drawn.size)  # five standard errors: one run in a million


def test_its_command_and_its_design(folder: Path) -> None:
    assert len(command(folder, "seed").strip()) == 64
    assert "seed" in command(folder, "--help")
    words = ["design", "sign-bits", "--epsilon", "1", "--dimension", "4", "--seed", SEED, "-o", "bits.json", "--json"]
    assert json.loads(command(folder, *words))["numerics"] == "exact"
    assert json.loads(command(folder, "verify", "bits.json", "--json"))["proved"] is True
