"""A release with public files: its certificate and its lock state them, and verifying it says which of them are here."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from resource_support import SEED, coded, column, forget_places, write_table

import noisewright as nw
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker
from noisewright.claims import phrases
from noisewright.exceptions import CertificateError, FileFormatError, ResourceError
from noisewright.ledger.ledger import Ledger
from noisewright.releases.folder import verify_folder
from noisewright.releases.lock import Lock
from noisewright.resources import FOLDERS, Resource, Seed

pytestmark = pytest.mark.usefixtures("coded_afresh")
TABLE = pa.table({"x": [1, 2, 9, 0]})
RULES = "the certificate has the parts and prices that follow from the policy in the lock"


def policy_of(path: Path, **more: Any) -> dict[str, Any]:
    return {"dataset": "codes", "budget": {"epsilon": 50}, "columns": [column(table=path, seed=SEED, **more)]}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write_table(tmp_path / "code.bin")
    return tmp_path


def released(place: Path, **more: Any) -> Path:
    nw.release(policy_of(place / "code.bin", **more), TABLE, output=place / "out", ledger=place / "ledger")
    return place / "out"


def away(place: Path) -> str:
    """The file is gone, and this process has never seen it; the first digits of its digest."""
    digest = hashlib.sha256((place / "code.bin").read_bytes()).hexdigest()
    (place / "code.bin").unlink()
    forget_places()
    return digest[:12]


# Certificates -------------------------------------------------------------------------------------------------------------


def certificate_of(place: Path) -> Certificate:
    return coded(
        epsilon=1, table=Resource.at(place / "code.bin"), within=(0, 9), seed=Seed.from_hex(SEED)
    ).certificate()


def test_a_certificate_states_files_and_seed_and_its_proof_says_so(place: Path) -> None:
    found = certificate_of(place)
    digest = hashlib.sha256((place / "code.bin").read_bytes()).hexdigest()
    assert found.document["resources"] == [{"name": "code.bin", "sha256": digest, "bytes": 10}]
    assert found.document["seed"] == SEED
    assert found.verify() == (
        f"epsilon = 1 per unit of line; uses the public file 'code.bin' (sha256 {digest[:12]}...) and the public seed "
        "5eed5eed5eed..., as stated"
    )
    assert "uses" not in nw.geometric(epsilon=1).certificate().verify()


@pytest.mark.parametrize(
    "change",
    [
        {"seed": "5eed"},
        {"seed": 5},
        {"seed": None},
        {"resources": 3},
        {"resources": {"name": "a"}},
        {"resources": [{"name": "a", "sha256": "0" * 64}]},
        {"resources": [{"name": "a", "sha256": "0" * 63, "bytes": 1}]},
        {"resources": [{"name": "a\x1b[2J", "sha256": "0" * 64, "bytes": 1}]},
        {"resources": [{"name": "a", "sha256": "0" * 64, "bytes": -1}]},
        {"resources": [{"name": "a", "sha256": "0" * 64, "bytes": 1, "more": 1}]},
    ],
)
def test_a_certificate_that_states_them_badly_proves_nothing(place: Path, change: dict[str, Any]) -> None:
    document = {**certificate_of(place).document, **change}
    with pytest.raises(CertificateError):
        Certificate({**document, "digest": checker.digest(document)}).verify()


def test_the_exported_checker_says_the_same(place: Path) -> None:
    found = certificate_of(place)
    (place / "certificate.json").write_text(found.to_json())
    released(place)
    folder = Path(str(checker.__file__)).parent
    for name in ("checker.py", "checker_noise.py", "checker_release.py"):
        (place / name).write_bytes((folder / name).read_bytes())
    (place / "phrases.py").write_bytes(Path(str(phrases.__file__)).read_bytes())
    files = ["certificate.json", "out/certificate.json"]
    done = subprocess.run(
        [sys.executable, "-I", "checker.py", *files], cwd=place, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[0] == f"certificate.json: proved: {found.verify()}"
    assert "uses the public file 'code.bin'" in done.stdout.partition("out/certificate.json")[2]


# Locks --------------------------------------------------------------------------------------------------------------------


def test_the_lock_names_the_files_and_no_folder(place: Path) -> None:
    text = (released(place) / "policy.lock").read_text()
    assert str(place) not in text
    assert Lock.from_json(text).resources == (Resource.at(place / "code.bin"),)
    assert json.loads(text)["resources"][0]["name"] == "code.bin"


def test_a_lock_without_files_has_no_word_of_them(tmp_path: Path) -> None:
    policy = {
        "dataset": "codes",
        "budget": {"epsilon": 5},
        "columns": [{"name": "x", "mechanism": "geometric", "within": [0, 9], "epsilon": 1}],
    }
    nw.release(policy, TABLE, output=tmp_path / "out", ledger=tmp_path / "ledger")
    lock = Lock.from_json((tmp_path / "out" / "policy.lock").read_text())
    assert "resources" not in lock.document
    assert lock.resources == ()
    with pytest.raises(FileFormatError, match="look at resources"):
        _ = Lock({**lock.document, "resources": [{"name": 1}]}).resources


# Drawing ------------------------------------------------------------------------------------------------------------------


def test_a_file_that_went_away_is_missed_before_anything_is_spent(place: Path) -> None:
    policy = nw.Policy.from_dict(policy_of(place / "code.bin"))
    (place / "code.bin").write_bytes(bytes(10))
    with pytest.raises(ResourceError, match=r"column 'x': the public file 'code.bin' was changed"):
        nw.release(policy, TABLE, ledger=place / "ledger")
    (place / "code.bin").unlink()
    with pytest.raises(ResourceError, match=r"column 'x': the public file 'code.bin' \(sha256 .*is not here"):
        nw.release(policy, TABLE, ledger=place / "ledger")
    assert not (place / "ledger").exists()


def test_another_file_is_another_release(place: Path) -> None:
    out = released(place)
    write_table(place / "renamed.bin")
    assert nw.release(policy_of(place / "renamed.bin"), TABLE, output=out, ledger=place / "ledger").reread
    write_table(place / "code.bin", seed=1)
    with pytest.raises(nw.NoisewrightError, match="replace"):
        nw.release(policy_of(place / "code.bin"), TABLE, output=out, ledger=place / "ledger")


# Verifying ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("eager", [False, True])
def test_with_the_file_everything_is_checked(place: Path, eager: bool) -> None:
    found = verify_folder(released(place, eager=eager), Ledger(place / "ledger"))
    assert found.problems == found.unchecked == ()
    assert any(said.startswith("the file code.bin (sha256 ") and said.endswith("digest") for said in found.agreed)
    assert RULES in found.agreed


def test_without_a_file_that_only_drawing_needs_the_rest_is_checked(place: Path) -> None:
    out = released(place)
    digest = away(place)
    found = verify_folder(out, Ledger(place / "ledger"))
    assert found.problems == ()
    assert found.unchecked == (
        f"the file code.bin (sha256 {digest}...) is not here: what depends on its content was not checked",
    )
    assert RULES in found.agreed


def test_without_a_file_that_the_plan_needs_the_files_and_the_seal_are_checked(place: Path) -> None:
    out = released(place, eager=True)
    away(place)
    found = verify_folder(out, Ledger(place / "ledger"))
    assert found.problems == ()
    assert len(found.unchecked) == 1
    assert RULES not in found.agreed
    assert "every file is as it was written, and there is no other" in found.agreed
    assert verify_folder(out, Ledger(place / "another")).problems[0].endswith("it was changed.")
    (out / "certificate.json").write_text("{}")
    assert verify_folder(out).problems


def test_a_file_is_found_again_by_its_digest_under_any_name(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = released(place, eager=True)
    (place / "shelf").mkdir()
    (place / "code.bin").rename(place / "shelf" / "0042")
    forget_places()
    monkeypatch.setenv(FOLDERS, str(place / "shelf"))
    assert verify_folder(out).unchecked == ()
    assert RULES in verify_folder(out).agreed


def relocked(folder: Path, **changes: Any) -> None:
    path = folder / "policy.lock"
    lock = json.loads(path.read_text()) | changes
    lock = {key: value for key, value in lock.items() if value is not None and key not in ("seal", "digest")}
    spelled = json.dumps(lock, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()
    path.write_text(json.dumps({**lock, "digest": f"sha256:{hashlib.sha256(spelled).hexdigest()}"}))


def test_a_lock_that_hides_a_file_is_found_out(place: Path) -> None:
    out = released(place, eager=True)
    relocked(out, resources=None)
    assert verify_folder(out).problems == ("the lock names other public files than its policy gives.",)
    away(place)
    (problem,) = verify_folder(out).problems
    assert "cannot be planned again" in problem
    relocked(out, resources="none")
    assert verify_folder(out).problems == ("the policy.lock is incomplete or malformed: look at resources.",)


def test_a_certificate_about_another_file_is_not_that_of_the_lock(place: Path) -> None:
    out = released(place)
    path = out / "certificate.json"
    whole = json.loads(path.read_text())
    own = whole["parts"][0]["certificate"]
    own["resources"][0]["sha256"] = "0" * 64
    own["digest"] = checker.digest(own)
    whole["digest"] = checker.digest(whole)
    path.write_text(json.dumps(whole))
    assert any("the parts of the certificate are not those" in problem for problem in verify_folder(out).problems)
