"""policy.lock: what a release was made with, and whether its files are still what they were."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from release_samples import TYPES, sample_plan

from noisewright._version import VERSION
from noisewright.exceptions import FileFormatError, ParameterError
from noisewright.policy.policy import Policy
from noisewright.releases.lock import Given, Lock, Making, Sealing, file_digest, foreign_file

POLICY = sample_plan().policy


def locked(**changes: Any) -> Lock:
    making = {"release": "first", "engine": "local"}
    given = {"fingerprint": "f" * 64, "nonce": bytes(range(32)), "types": TYPES}
    other = {"policy": POLICY, "outputs": {}, "sealing": Sealing(seal)}
    for name, value in changes.items():
        home = making if name in Making.__dataclass_fields__ else given if name in ("nonce", "types") else other
        home[name] = value
    if "table_rows" in other:
        given["rows"] = other.pop("table_rows")
    return Lock.build(making=Making(**making), given=Given(**given), **other)


def seal(content: bytes) -> str:
    return hmac.new(b"a key", content, "sha256").hexdigest()


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
    assert (document["data"], document["release"]) == ("f" * 64, "first")
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


def test_types_and_nonce_are_read_back_exactly() -> None:
    types = {
        "when": pa.timestamp("us", tz="Europe/Berlin"),
        "ward": pa.dictionary(pa.int8(), pa.string()),
        "money": pa.decimal128(12, 2),
        "a \u00e9 name": pa.list_(pa.int8()),
    }
    lock = Lock.from_json(locked(types=types).to_json())
    assert lock.types == types
    assert list(lock.types) == list(types)
    assert lock.nonce == bytes(range(32))
    for name in ("schema", "nonce"):
        broken = Lock({**lock.document, name: "no such thing"})
        with pytest.raises(FileFormatError, match=name):
            print(broken.types, broken.nonce)


@pytest.mark.parametrize(
    "change",
    [
        {"outputs": {}},
        {"data": "e" * 64},
        {"nonce": "00" * 32},
        {"release": "second"},
        {"policy_digest": "another"},
        {"rows": 4},
        {"seal": None},
        {"seal": "0" * 64},
        {"note": "one more"},
    ],
)
def test_a_changed_lock_is_not_sealed(outputs: dict[str, Path], change: dict[str, Any]) -> None:
    lock = Lock.from_json(locked(outputs=outputs, rows=3).to_json())
    assert lock.sealed_by(seal)
    assert not lock.sealed_by(lambda content: hmac.new(b"another key", content, "sha256").hexdigest())
    assert not Lock({**lock.document, **change}).sealed_by(seal)
    assert not locked(sealing=None).sealed_by(seal)


def test_files_that_are_no_part_of_the_release_are_named(outputs: dict[str, Path], tmp_path: Path) -> None:
    lock = locked(outputs=outputs)
    (tmp_path / "policy.lock").write_text(lock.to_json())
    assert lock.foreign(tmp_path) == []  # what Spark noted beside its files was there, and is listed
    assert foreign_file(tmp_path) is None
    spark = (
        "parts/_started_1",
        "parts/_committed_1",
        "parts/deep/.b.parquet.crc",
        "parts/deep/_SUCCESS",
        "parts/c.parquet",
    )
    for name in ("my_notes.txt", "parts/_mine", "parts/deep/.hidden", "answers", "linked", *spark):
        other = tmp_path / name
        if name == "answers":
            other.mkdir()
        elif name == "linked":
            other.symlink_to(tmp_path / "parts", target_is_directory=True)
        else:
            other.write_text("years of work")
        assert lock.foreign(tmp_path) == [name]
        assert foreign_file(tmp_path) == name
        other.rmdir() if name == "answers" else other.unlink()
    (tmp_path / "policy.lock").write_text("{}")
    assert foreign_file(tmp_path) == "parts"  # without a lock nothing tells what is whose
    (tmp_path / "empty").mkdir()
    assert foreign_file(tmp_path / "empty") is None


def test_a_simulation_has_its_seed_and_a_release_none() -> None:
    lock = locked(simulated=True, seed=7)
    assert lock.document["seed"] == 7
    assert lock.simulated
    assert "not for release" in lock.document["randomness"]
    with pytest.raises(ParameterError, match="has no seed"):
        locked(seed=7)


@pytest.mark.parametrize("change", ["edit", "remove", "deep edit", "a note", "a folder for a file"])
def test_changed_files_are_found(outputs: dict[str, Path], tmp_path: Path, change: str) -> None:
    lock = locked(outputs=outputs)
    assert lock.changed(tmp_path) == []
    if change == "edit":
        (tmp_path / "released.csv").write_bytes(b"age\n32\n")
    elif change == "remove":
        (tmp_path / "released.csv").unlink()
    elif change == "deep edit":
        (tmp_path / "parts" / "deep" / "b.parquet").write_bytes(b"tw0")
    elif change == "a note":
        (tmp_path / "parts" / ".part.crc").write_bytes(b"y")
    else:
        (tmp_path / "released.csv").unlink()
        (tmp_path / "released.csv").mkdir()
    names = {"deep edit": "parts/deep/b.parquet", "a note": "parts/.part.crc"}
    assert lock.changed(tmp_path) == [names.get(change, "released.csv")]


def older(outputs: dict[str, Path]) -> Lock:
    """A lock of version 3, which had one digest for a table in many files."""
    parts = hashlib.sha256()
    for name in ("a.parquet", "deep/b.parquet"):
        parts.update(f"{name}\0{file_digest(outputs['parts'] / name)}\n".encode())
    stated = {"released.csv": file_digest(outputs["released.csv"]), "parts": f"sha256:{parts.hexdigest()}"}
    return Lock.from_json(json.dumps({**locked().document, "version": 3, "outputs": stated}))


def test_a_lock_of_the_version_before_is_still_read_and_what_spark_left_is_told_by_its_size(
    outputs: dict[str, Path], tmp_path: Path
) -> None:
    (outputs["parts"] / ".part.crc").unlink()
    (outputs["parts"] / ".a.parquet.crc").write_bytes(b"crc\0" + bytes(8))
    lock = older(outputs)
    (tmp_path / "policy.lock").write_text(lock.to_json())
    assert (lock.changed(tmp_path), lock.foreign(tmp_path), foreign_file(tmp_path)) == ([], [], None)
    for name, content in {
        "_started_1": b"x",
        "_committed_1": b"x",
        "_SUCCESS": b"years of work",
        ".a.parquet.crc": b"crc\0" + bytes(9),
        ".nothing.crc": b"crc\0" + bytes(8),
    }.items():
        path = outputs["parts"] / name
        before = path.read_bytes() if path.exists() else None
        path.write_bytes(content)
        assert lock.foreign(tmp_path) == [f"parts/{name}"]
        path.unlink() if before is None else path.write_bytes(before)
    (outputs["parts"] / "deep" / "b.parquet").write_bytes(b"tw0")
    assert lock.changed(tmp_path) == ["parts"]


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
        ('{"format": "noisewright-lock", "version": 2}', "version 3 or 4"),
        ('{"format": "noisewright-lock", "version": 3}', "incomplete"),
        ('{"format": "noisewright-lock", "version": 4}', "incomplete"),
    ],
)
def test_what_is_no_lock_is_refused(text: str, words: str) -> None:
    with pytest.raises(FileFormatError, match=words):
        Lock.from_json(text)


@pytest.mark.parametrize("name", ["policy", "data", "nonce", "schema", "release", "outputs", "randomness"])
def test_a_field_of_another_kind_is_refused(name: str) -> None:
    document = {**json.loads(locked().to_json()), name: 1}
    with pytest.raises(FileFormatError, match=name):
        Lock.from_json(json.dumps(document))


@pytest.mark.parametrize("stated", [7, None, ["a"], {"a": 7}, {"a": {"b": "c"}}])
def test_outputs_that_are_no_digests_are_refused(stated: Any) -> None:
    document = {**json.loads(locked().to_json()), "outputs": {"parts": stated}}
    with pytest.raises(FileFormatError, match="look at outputs"):
        Lock.from_json(json.dumps(document))


def test_the_head_of_the_ledger_is_kept_and_sealed() -> None:
    lock = Lock.from_json(locked(sealing=Sealing(seal, "ab" * 32)).to_json())
    assert (lock.head, locked().head) == ("ab" * 32, None)
    assert lock.sealed_by(seal)
    assert not Lock({**lock.document, "head": "00" * 32}).sealed_by(seal)


def test_the_time_is_now_in_utc() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    stated = datetime.fromisoformat(locked().document["at"])
    assert before <= stated <= datetime.now(UTC)


def test_names_of_columns_that_are_no_text_are_refused_in_a_sentence() -> None:
    spelled = bytearray(base64.b64decode(locked(types={"ward": pa.int64()}).document["schema"]))
    place = spelled.index(b"ward")
    spelled[place + 1] = 0xAF
    damaged = Lock({**locked().document, "schema": base64.b64encode(bytes(spelled)).decode()})
    with pytest.raises(FileFormatError, match="look at schema"):
        _ = damaged.types
