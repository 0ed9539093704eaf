"""Certificates of exact words: what the checker proves, what it says is stated, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.attack.forge import judged
from tests.attack.forge_honest import honest
from word_support import clusters

import noisewright as nw
from noisewright.certificates import Part, product_certificate
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker, checker_noise, checker_release, checker_words
from noisewright.claims import phrases
from noisewright.claims.figures import exp_bounds
from noisewright.exceptions import CertificateError, ParameterError
from noisewright.mechanisms.from_certificate import mechanism_of
from noisewright.text import exact_words, laplace_words, recomputed, truncated_exponential_words


def sealed(document: dict[str, Any]) -> Certificate:
    return Certificate({**document, "digest": checker.digest(document)})


def changed(certificate: Certificate, change: Callable[[dict[str, Any]], None]) -> Certificate:
    import copy

    document = copy.deepcopy(dict(certificate.document))
    change(document)
    return sealed(document)


def test_the_sentence_says_what_is_proved_and_what_is_stated() -> None:
    embedding = clusters()
    words = exact_words(embedding, epsilon=2)
    said = words.certificate().verify()
    assert said.startswith(
        f"epsilon = 2 per unit of euclidean between word vectors (sha256 {embedding.resource.sha256[:12]})"
    )
    assert "is stated, not proved without the file" in said
    assert "first 60 words" in said
    free = truncated_exponential_words(embedding, epsilon=2).certificate().verify()
    assert "stated, not proved" not in free


FORGERIES: list[tuple[str, Callable[[dict[str, Any]], None]]] = [
    ("too large for the claim", lambda d: d["claim"].update(epsilon="199/100")),
    ("too large for the claim", lambda d: d["proof"].update(slope="1/2")),
    ("rounded by more than is said", lambda d: d["proof"].update(eta="0")),
    ("not those of the stated numbers", lambda d: d["proof"].update(beta="3/2")),
    ("not those of the stated numbers", lambda d: d["proof"].update(cap="10")),
    ("not those of the stated numbers", lambda d: d["proof"].update(width=50)),
    ("not those of the stated numbers", lambda d: d["proof"].update(weights="0" * 64)),
    ("SHA-256 of its weights", lambda d: d["proof"].update(weights="zz")),
    ("below 2^63", lambda d: d["proof"].update(words=1 << 40)),
    ("too coarse", lambda d: d["proof"].update(step="1000")),
    ("too coarse", lambda d: d["proof"].update(cap="1000")),
    ("in no other", lambda d: d["resources"][0].update(sha256="0" * 64)),
    ("in no other", lambda d: d["claim"].update(metric={**d["claim"]["metric"], "factor": "2"})),
    ("in no other", lambda d: d["claim"].update(metric={"base": "euclidean"})),
    ("in no other", lambda d: d["claim"].update(distances={"shape": "uniform", "distance": "1"})),
    ("no delta", lambda d: d["claim"].update(delta="1/10")),
    ("beta is too large", lambda d: (d["proof"].pop("slope"), d["proof"].pop("eta"))),
    ("does not know the field", lambda d: d["proof"].update(note="trust me")),
    ("does not prove itself by a words", lambda d: d.update(mechanism="geometric")),
    ("malformed", lambda d: d.pop("resources")),
]


@pytest.mark.parametrize(("says", "forge"), FORGERIES)
def test_a_forged_certificate_is_not_proved(says: str, forge: Callable[[dict[str, Any]], None]) -> None:
    certificate = exact_words(clusters(), epsilon=2).certificate()
    with pytest.raises(CertificateError, match=says.replace("^", r"\^")):
        changed(certificate, forge).verify()


def test_the_stand_alone_checker_proves_it(tmp_path: Path) -> None:
    for module in (checker, checker_noise, checker_release, checker_words, phrases):
        place = Path(str(module.__file__))
        (tmp_path / place.name).write_bytes(place.read_bytes())
    file = tmp_path / "words.json"
    file.write_text(exact_words(clusters(), epsilon=2).certificate().to_json())
    run = subprocess.run(
        [sys.executable, str(tmp_path / "checker.py"), str(file)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout
    assert "proved: epsilon = 2 per unit of euclidean between word vectors" in run.stdout
    (tmp_path / "checker_words.py").unlink()
    run = subprocess.run(
        [sys.executable, str(tmp_path / "checker.py"), str(file)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert "checker_words.py" in run.stdout


@pytest.mark.parametrize(
    ("rate", "cap", "width"), [("1/100", 12, 40), ("1/3", 20, 62), ("1/8000", 7, 30), ("1/100000", 1, 20)]
)
def test_weights_are_whole_numbers_below_what_they_stand_for(rate: str, cap: int, width: int) -> None:
    r = Fraction(rate)
    table, below = checker_words.weights(r, Fraction(cap), width)
    assert len(table) <= checker_words.FARTHEST + 1
    for level in {0, 1, len(table) // 2, len(table) - 2, len(table) - 1}:
        low, high = exp_bounds(-min(r * level + r / 2, Fraction(cap)), 200)
        assert table[level] << 200 <= high << width  # never above
        assert (table[level] + 1) << 200 >= low << width  # and by less than one below
        assert (table[level] << 200) * (1 + below) >= low << width
    assert table == sorted(table, reverse=True)


def test_a_vanishing_weight_is_refused() -> None:
    with pytest.raises(checker.NotProved, match="a weight is 0"):
        checker_words.weights(Fraction(1, 100), Fraction(40), 20)


def test_the_mechanism_behind_a_certificate_and_its_slope_again() -> None:
    words = exact_words(clusters(), epsilon=2)
    assert mechanism_of(words.certificate()) == words
    assert recomputed(words.certificate()) == words.slope
    noise = laplace_words(clusters(), epsilon=2)
    assert mechanism_of(noise.certificate()) == noise
    with pytest.raises(CertificateError, match="needs no file"):
        recomputed(truncated_exponential_words(clusters(), epsilon=2).certificate())
    # A slope that is too small: beta stays, so the checker cannot see it; who has the file can.
    less = str(words.slope - Fraction(1, 100))
    forged = changed(words.certificate(), lambda d: d["proof"].update(slope=less))
    forged.verify()
    with pytest.raises(CertificateError, match="larger than the certificate states"):
        recomputed(forged)


def test_verify_says_what_is_proved(tmp_path: Path) -> None:
    file = tmp_path / "words.json"
    file.write_text(exact_words(clusters(), epsilon=2).certificate().to_json())
    assert "is stated, not proved" in str(nw.verify(file))


def longer_steps(document: dict[str, Any], times: int = 1000) -> None:
    """The same weights, said to be about vectors so many times as long."""
    proof, claim = document["proof"], document["claim"]
    proof.update(beta=str(Fraction(proof["beta"]) / times), step=str(Fraction(proof["step"]) * times))
    claim.update(epsilon=str(Fraction(claim["epsilon"]) / times))


def test_a_step_is_stated_and_held_against_the_file_where_that_is_here() -> None:
    embedding = clusters()
    good = truncated_exponential_words(embedding, epsilon=2).certificate()
    step = Fraction(embedding.step)
    assert f"if their vectors are whole multiples of {step} (stated)" in good.verify()
    assert nw.verify(good).facts["reading"].endswith("All of it if what the claim says to be stated is so.")
    forged = changed(good, longer_steps)
    assert (
        f"epsilon = 0.002 per unit of euclidean between word vectors (sha256 {embedding.resource.sha256[:12]}); "
        in (said := checker.check(dict(forged.document)))
    )
    assert f"whole multiples of {1000 * step} (stated)" in said  # which they are not
    with pytest.raises(CertificateError, match="the file has another step"):
        nw.verify(forged)
    with pytest.raises(CertificateError, match="fewer words"):
        nw.verify(changed(good, lambda d: d["proof"].update(words=embedding.size + 1)))


def test_words_whose_order_is_forgotten_are_drawn_alike() -> None:
    """Documents of the same words in another order are at distance 0; unlike parts would tell them apart."""
    near, far = (truncated_exponential_words(clusters(), epsilon=e) for e in (8, "1/4"))
    a, b = (choice.channel().matrix for choice in (near, far))
    here, there = (
        np.outer(a[0], b[-1]),
        np.outer(a[-1], b[0]),
    )  # the first word and the last one, and the other way round
    loss = np.abs(np.log((here + here.T) / (there + there.T))).max()
    assert loss > 5
    parts = [Part(one.certificate(), 1) for one in (near, far)]
    with pytest.raises(ParameterError, match="must be drawn alike"):
        product_certificate("bags", parts, metric="matched")
    clear = [{"code": "word-order"}]
    aligned = product_certificate("lines", parts, metric="aligned", in_the_clear=clear)
    assert "; in the clear, as stated: the order of words" in aligned.verify()

    def matched(document: dict[str, Any]) -> None:
        document["claim"]["metric"] = {**document["claim"]["metric"], "order": "matched"}

    with pytest.raises(CertificateError, match="matched words have one part"):
        changed(aligned, matched).verify()
    for wrong in ([], [{"called": "nothing"}], [{"called": "the order of words"}]):
        with pytest.raises(CertificateError, match="not said to be in the clear"):
            changed(aligned, lambda d, wrong=wrong: d.update(in_the_clear=wrong)).verify()  # type: ignore[misc]
    spoken = changed(
        aligned, lambda d: d.update(in_the_clear=[*clear, {"called": "nothing; epsilon = 0 is proved"}])
    ).verify()
    assert spoken.partition("; uses")[0].endswith('the order of words, "nothing; epsilon = 0 is proved"')


def test_nobody_pays_for_a_distance_that_no_two_words_have() -> None:
    embedding = clusters()
    certificate = dict(truncated_exponential_words(embedding, epsilon=2).certificate().document)
    step = Fraction(embedding.step)
    assert checker_release.loss_of(certificate, str(step))[0] == 2 * step
    with pytest.raises(checker.NotProved, match="no two values that differ"):
        checker_release.loss_of(certificate, str(step * Fraction(999, 1000)))


def test_the_oracle_of_forgeries_judges_certificates_of_words() -> None:
    """Each is true, and with an epsilon of half as much it is refused."""
    found = {name: one for name, one in honest().items() if name.startswith(("words", "documents"))}
    assert len(found) >= 5
    for document in found.values():
        assert judged(document)[0] == "true"
        less = str(Fraction(document["claim"]["epsilon"]) / 2)
        forged = {**document, "claim": {**document["claim"], "epsilon": less}}
        assert judged({**forged, "digest": checker.digest(forged)})[0] == "refused"
