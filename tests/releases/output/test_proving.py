"""``nw.verify``: certificates, files and folders are proved and read out, and what is not proved is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import noisewright as nw
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker
from noisewright.cli import run
from noisewright.exceptions import CertificateError, FileFormatError, ParameterError
from noisewright.releases.certificate import Verification, examined

KEPT = Path(__file__).parents[2] / "fixtures" / "kept"
COUNT = nw.geometric(epsilon=1, within=(0, 100))


def test_a_certificate() -> None:
    found = nw.verify(COUNT.certificate())
    assert isinstance(found, Verification)
    assert found.proved
    assert found.claim == "epsilon = 1 per unit of line"
    assert found.sentences[0] == found.claim
    assert "2.72" in str(found)
    assert found.facts["proof"] == "law"
    assert found.folder is None


def test_a_file_says_what_the_command_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = nw.save(COUNT, tmp_path / "count.json")
    assert run(["verify", str(path), "--json"]) == 0
    (said,) = json.loads(capsys.readouterr().out)["files"]
    assert {"file": str(path), **nw.verify(path).to_json()} == said


def test_what_is_not_proved_is_an_error_with_the_reason() -> None:
    document: dict[str, Any] = json.loads(COUNT.certificate().to_json())
    document["claim"]["epsilon"] = "1/2"
    with pytest.raises(CertificateError, match="does not prove its claim: the file was changed"):
        nw.verify(Certificate(document))
    with pytest.raises(CertificateError, match="does not prove its claim: the scale of the noise is too small"):
        nw.verify(Certificate({**document, "digest": checker.digest(document)}))
    with pytest.raises(CertificateError, match="floating"):
        nw.verify(nw.mechanisms.spherical_laplace(epsilon=1, dimension=2).certificate())


def test_the_certificate_of_a_release() -> None:
    found = nw.verify(KEPT / "certificates" / "release_of_columns.json")
    assert found.proved
    assert len(found.sentences) == 1 + len(found.facts["parts"]) + len(found.facts["limits"])
    assert "Beware: a simulation with a known seed: NOT FOR RELEASE" in found.sentences
    assert found.claim is not None
    assert found.claim.startswith("epsilon = ")
    with pytest.raises(CertificateError, match="floating: everything is proved but"):
        nw.verify(KEPT / "certificates" / "release_floating.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release that a ledger recorded, and that ledger beside it."""
    shutil.copytree(KEPT / "release", tmp_path / "kept")
    return tmp_path / "kept"


def test_a_folder_and_its_ledger(folder: Path) -> None:
    release, ledger = folder / "recorded", folder / "ledger.sqlite"
    found = nw.verify(release)
    assert found.proved
    assert found.folder is not None
    assert found.folder.problems == ()
    assert set(found.folder.agreed) < set(found.sentences)
    assert any("recorded this release" in said for said in nw.verify(release, ledger=ledger).sentences)
    assert any("recorded this release" in said for said in nw.verify(release, nw.Ledger(ledger)).sentences)


def test_a_folder_that_was_changed(folder: Path) -> None:
    release = folder / "recorded"
    (release / "report.html").write_text("another one")
    found = examined((release / "certificate.json").read_bytes(), release)
    assert not found.proved
    assert found.reason is None
    assert found.sentences == ("report.html is missing or was changed after the release.",)
    with pytest.raises(CertificateError, match=r"report\.html is missing or was changed"):
        nw.verify(release)


def test_what_cannot_be_verified_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.json").write_text("not json")
    for path, sentence in (
        (tmp_path / "empty", "no certificate.json in it"),
        (tmp_path / "no.json", "there is no file"),
    ):
        with pytest.raises(FileFormatError, match=sentence):
            nw.verify(path)
    with pytest.raises(CertificateError, match="not JSON"):
        nw.verify(tmp_path / "text.json")
    with pytest.raises(ParameterError, match="not GeometricMechanism"):
        nw.verify(COUNT)  # type: ignore[arg-type]
    for thing in (COUNT.certificate(), nw.save(COUNT, tmp_path / "count.json")):
        with pytest.raises(ParameterError, match="with the folder of one"):
            nw.verify(thing, ledger="book.sqlite")
