"""policy.lock: what a release was made with, and whether its files are still what they were."""

from __future__ import annotations

import hashlib
import json
import sys
from datetime import UTC, datetime, timedelta, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from release_samples import sample_plan

from noisewright.core.errors import FileFormatError, ParameterError
from noisewright.core.version import VERSION
from noisewright.release.lock import Lock, file_digest
from noisewright.release.policy import Policy

POLICY = sample_plan().policy


def locked(**changes: Any) -> Lock:
    given = {"policy": POLICY, "fingerprint": "f" * 64, "engine": "local", "simulated": False, "outputs": {}, **changes}
    return Lock.build(**given)


@pytest.fixture
def outputs(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "released.csv").write_bytes(b"age\n31\n")
    folder = tmp_path / "parts"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.parquet").write_bytes(b"one")
    (folder / "deep" / "b.parquet").write_bytes(b"two")
    (folder / "_SUCCESS").write_bytes(b"")
    (folder / ".part.crc").write_bytes(b"x")
    return {name: tmp_path / name for name in ("released.csv", "parts")}


def test_what_it_holds(outputs: dict[str, Path]) -> None:
    at = datetime(2026, 1, 5, 10, 30, 15, 999, tzinfo=timezone(timedelta(hours=2)))
    document = locked(outputs=outputs, at=at).document
    assert document["made_by"] == f"noisewright {VERSION}"
    assert document["at"] == "2026-01-05T08:30:15Z"
    assert document["data"] == "f" * 64
    assert document["policy_digest"] == POLICY.digest()
    assert set(document["versions"]) == {"python", "numpy", "pyarrow", "duckdb"}
    assert document["versions"]["numpy"] == metadata.version("numpy")
    assert (
        document["outputs"]["released.csv"]
        == f"sha256:{hashlib.sha256(b'age' + bytes([10]) + b'31' + bytes([10])).hexdigest()}"
    )
    assert "seed" not in document
    assert document["randomness"].startswith("system seed")
    assert "pyspark" in locked(engine="spark").document["versions"]


def test_it_is_read_back(outputs: dict[str, Path]) -> None:
    lock = locked(outputs=outputs)
    again = Lock.from_json(lock.to_json())
    assert again == lock
    assert Policy.from_dict(again.document["policy"]).digest() == POLICY.digest()
    assert not again.simulated


def test_it_matches_the_same_policy_and_data_only() -> None:
    lock = locked()
    assert lock.matches(POLICY.digest(), "f" * 64)
    assert not lock.matches(POLICY.digest(), "e" * 64)
    assert not lock.matches(sample_plan(dataset="another").policy.digest(), "f" * 64)


def test_a_simulation_has_its_seed_and_a_release_none() -> None:
    lock = locked(simulated=True, seed=7)
    assert lock.document["seed"] == 7
    assert lock.simulated
    assert "not for release" in lock.document["randomness"]
    with pytest.raises(ParameterError, match="has no seed"):
        locked(seed=7)


@pytest.mark.parametrize("change", ["edit", "remove", "deep edit", "another file"])
def test_changed_files_are_found(outputs: dict[str, Path], tmp_path: Path, change: str) -> None:
    lock = locked(outputs=outputs)
    assert lock.changed(tmp_path) == []
    (tmp_path / "parts" / "_started").write_bytes(b"a note of a program")
    assert lock.changed(tmp_path) == []
    if change == "edit":
        (tmp_path / "released.csv").write_bytes(b"age\n32\n")
    elif change == "remove":
        (tmp_path / "released.csv").unlink()
    elif change == "deep edit":
        (tmp_path / "parts" / "deep" / "b.parquet").write_bytes(b"tw0")
    else:
        (tmp_path / "parts" / "c.parquet").write_bytes(b"three")
    assert lock.changed(tmp_path) == (["released.csv"] if change in ("edit", "remove") else ["parts"])


def test_names_that_lead_outside_are_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"x")
    inside = tmp_path / "inside"
    inside.mkdir()
    document = dict(locked().document)
    digest = file_digest(outside)
    lock = Lock({**document, "outputs": {"../outside": digest, str(outside): digest}})
    assert lock.changed(inside) == ["../outside", str(outside)]


def test_a_large_file_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    content = bytes(range(256)) * 10_000
    (tmp_path / "large").write_bytes(content)
    assert file_digest(tmp_path / "large") == f"sha256:{hashlib.sha256(content).hexdigest()}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ('{"format": "noisewright-lock"', "not JSON"),
        ("[]", "not a policy.lock"),
        ('{"format": "noisewright-release"}', "not a policy.lock"),
        ('{"format": "noisewright-lock", "version": 2}', "version 1"),
        ('{"format": "noisewright-lock", "version": 1}', "incomplete"),
    ],
)
def test_what_is_no_lock_is_refused(text: str, words: str) -> None:
    with pytest.raises(FileFormatError, match=words):
        Lock.from_json(text)


@pytest.mark.parametrize("name", ["policy", "data", "outputs", "randomness"])
def test_a_field_of_another_kind_is_refused(name: str) -> None:
    document = {**json.loads(locked().to_json()), name: 1}
    with pytest.raises(FileFormatError, match=name):
        Lock.from_json(json.dumps(document))


def test_the_time_is_now_in_utc() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    stated = datetime.fromisoformat(locked().document["at"])
    assert before <= stated <= datetime.now(UTC)
