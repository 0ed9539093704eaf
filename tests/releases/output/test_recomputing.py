"""What certificates state about an embedding, computed again by ``verify`` where the file is at hand."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from word_support import clusters, written

import noisewright as nw
from noisewright import resources as resource
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker
from noisewright.exceptions import CertificateError
from noisewright.releases import certificate as recomputing
from noisewright.text import exact_words, laplace_words, private_documents, shipped, truncated_exponential_words


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A process that has seen none of the files."""

    def forget() -> None:
        for name, empty in (("_places", {}), ("_mapped", {}), ("_folders", [])):
            monkeypatch.setattr(resource, name, empty)

    return forget


def slope_of(certificate: Certificate) -> dict[str, Any]:
    proof = certificate.document["proof"]
    return proof["parts"][0]["proof"] if proof["kind"] == "product" else proof


def with_proof(certificate: Certificate, change: Callable[[dict[str, Any]], None]) -> Certificate:
    changed = Certificate(copy.deepcopy({k: v for k, v in certificate.document.items() if k != "digest"}))
    change(slope_of(changed))
    return Certificate({**changed.document, "digest": checker.digest(dict(changed.document))})


def smaller(proof: dict[str, Any]) -> None:
    proof["slope"] = str(Fraction(proof["slope"]) - Fraction(1, 1 << 20))


MADE = {
    "words": lambda embedding: exact_words(embedding, epsilon=2).certificate(),
    "documents": lambda embedding: private_documents(embedding, epsilon=2, size=5).certificate(),
}


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_the_stated_slope_is_computed_again(made: Callable[..., Certificate], elsewhere: Callable[[], None]) -> None:
    certificate = made(shipped().first(400))
    elsewhere()  # the file that comes along is found all the same
    found = nw.verify(certificate)
    again = [what for what in found.facts["here"] if "computed again" in what]
    assert len(again) == 1
    assert "small.nwe over 400 words" in again[0]
    assert f"{float(Fraction(slope_of(certificate)['slope'])):.6g}" in again[0]
    assert found.facts["unchecked"] == []


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_a_slope_below_that_of_the_file_is_refused(made: Callable[..., Certificate]) -> None:
    forged = with_proof(made(clusters()), smaller)
    forged.verify()  # without the file it is believed, and said to be stated
    with pytest.raises(CertificateError, match="slope of the file is larger than the certificate states"):
        nw.verify(forged)


def test_a_larger_slope_that_the_claim_has_room_for_is_kept_to() -> None:
    words = exact_words(clusters(), epsilon=2)
    room = words.epsilon - words.beta
    larger = with_proof(words.certificate(), lambda proof: proof.update(slope=str(room)))
    assert room > words.slope  # type: ignore[operator]
    assert nw.verify(larger).proved


def test_what_takes_long_is_done_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recomputing, "UNASKED", 0.0)
    certificate = exact_words(clusters(), epsilon=2).certificate()
    forged = with_proof(certificate, smaller)
    (left,) = nw.verify(forged).facts["unchecked"]
    assert left == "the stated slope of clusters.nwe over 60 words: about 0 seconds; --recompute does that"
    assert nw.verify(certificate, recompute=True).facts["unchecked"] == []
    with pytest.raises(CertificateError, match="larger than the certificate states"):
        nw.verify(forged, recompute=True)


@pytest.mark.parametrize(("seconds", "words"), [(12.3, "12 seconds"), (600, "10 minutes")])
def test_durations_in_words(seconds: float, words: str) -> None:
    assert recomputing._in_words(seconds) == words


def test_without_the_file_nothing_is_computed(tmp_path: Path, elsewhere: Callable[[], None]) -> None:
    import numpy as np

    embedding = written(np.random.default_rng(1).normal(size=(30, 3)), "apart")
    forged = with_proof(exact_words(embedding, epsilon=2).certificate(), smaller)
    place = embedding.resource.place()
    assert place is not None
    place.rename(tmp_path / "moved.nwe")
    elsewhere()
    found = nw.verify(forged)
    assert found.facts["here"] == []
    assert "apart.nwe" in found.facts["unchecked"][0]


def test_mechanisms_that_state_nothing_have_nothing_computed() -> None:
    found = nw.verify(truncated_exponential_words(clusters(), epsilon=2).certificate())
    assert len(found.facts["here"]) == 1
    assert (
        recomputing.recomputed(laplace_words(clusters(), epsilon=2).certificate().document) == recomputing.Recomputed()
    )


def test_a_release_has_it_for_its_folder_and_its_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = clusters().resource.place()
    column = {"name": "word", "mechanism": "exact-words", "embedding": str(place), "epsilon": 1, "protect": 2}
    policy = {"dataset": "notes", "budget": {"epsilon": 100}, "columns": [column]}
    out = tmp_path / "out"
    nw.release(policy, pa.table({"word": ["w1", "w2"]}), output=out, ledger=tmp_path / "ledger")
    for path in (out, out / "certificate.json"):
        told = nw.verify(path)
        here = told.folder.agreed if told.folder else told.facts["here"]
        assert sum("clusters.nwe over 60 words was computed again" in what for what in here) == 1
        assert sum("is here, with this digest" in what for what in here) == 1
    certificate = json.loads((out / "certificate.json").read_text())
    smaller(certificate["parts"][0]["certificate"]["proof"])
    assert recomputing.recomputed(certificate).wrong is not None
    monkeypatch.setattr(recomputing, "UNASKED", 0.0)
    folder = nw.verify(out).folder
    assert folder is not None
    assert any("--recompute" in what for what in folder.unchecked)
