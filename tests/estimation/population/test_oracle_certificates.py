"""Certificates of frequency oracles: the integers of the proof are the mechanism, and a changed file estimates nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noisewright as nw
import noisewright.cli
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker
from noisewright.estimation.frequencies import SupportTally, combine
from noisewright.exceptions import CertificateError, DataError, ParameterError
from noisewright.io.serialization import load_channel
from noisewright.mechanisms.categorical.frequency_oracle import Support
from noisewright.mechanisms.from_certificate import oracle_of
from noisewright.plotting.mechanisms import draw

ORACLES: dict[str, Callable[..., Any]] = {
    "unary": nw.mechanisms.unary_encoding,
    "symmetric": lambda names, *, epsilon: nw.mechanisms.unary_encoding(names, epsilon=epsilon, variant="symmetric"),
    "hashing": nw.mechanisms.local_hashing,
    "subset": nw.mechanisms.subset_selection,
    "hadamard": nw.mechanisms.hadamard_response,
}


def changed(mechanism: Any, change: Callable[[Any], object]) -> Certificate:
    """The certificate with something else in it, and a digest that fits again."""
    document = json.loads(mechanism.certificate().to_json())
    change(document)
    document["digest"] = checker.digest(document)
    return Certificate.from_json(json.dumps(document))


@pytest.mark.parametrize("kind", sorted(ORACLES))
@pytest.mark.parametrize("epsilon", ["1e-9", "2", "700"])
@pytest.mark.parametrize(
    "names", [2, ["a", "b", "c"], (0.0, 1.0, 2.0, 3.0, 4.0), 1000], ids=["2", "text", "floats", "1000"]
)
def test_the_mechanism_is_read_back_from_the_proof(kind: str, epsilon: str, names: Any) -> None:
    mechanism = ORACLES[kind](names, epsilon=epsilon)
    found = oracle_of(Certificate.from_json(mechanism.certificate().to_json()))
    assert found == mechanism
    assert [type(x) for x in found.categories] == [type(x) for x in mechanism.categories]


@pytest.mark.parametrize("kind", sorted(ORACLES))
def test_integers_are_stated_in_the_proof_only(kind: str) -> None:
    """Nothing beside the proof says how reports are drawn, so nothing there can say something else than what is proved."""
    stated = ORACLES[kind](5, epsilon=1).certificate().document["oracle"]
    assert set(stated) <= {"domain", "prime", "length"}


@pytest.mark.parametrize("kind", sorted(ORACLES))
def test_a_claim_in_other_units_is_not_taken_for_one_of_the_discrete_metric(kind: str) -> None:
    """Half of epsilon for each unit of twice the metric is true; the promise of the oracle would be half of it."""

    def rescale(document: Any) -> None:
        document["claim"].update(epsilon="1/2", metric="2 * discrete", distances={"shape": "uniform", "distance": "2"})

    mechanism = ORACLES[kind](5, epsilon=1)
    forged = changed(mechanism, rescale)
    with pytest.raises(CertificateError, match="says what is known of its kind"):
        forged.verify()
    with pytest.raises(CertificateError, match="says what is known of its kind"):
        nw.estimate(mechanism.release(np.arange(50) % 5), forged)


def set_in(part: str, **values: Any) -> Callable[[Any], object]:
    return lambda document: document[part].update(values)


def swap_halves(document: Any) -> None:
    proof = document["proof"]
    proof["keep"], proof["other"] = proof["other"], proof["keep"]


def many_parts(document: Any) -> None:
    """A response over very many parts, properly proved."""
    size, width = 10**12, 200
    other = (1 << width) // (size + 1)
    document["proof"].update(size=size, width=width, other=f"{other:x}", keep=f"{(1 << width) - (size - 1) * other:x}")


def another_table(document: Any) -> None:
    """Two bits that are not independent, as private as before."""
    table = document["proof"]["table"]
    for row in table:
        row[0], row[3] = row[3], row[0]


def equal_rows(document: Any) -> None:
    document["proof"]["table"][1] = document["proof"]["table"][0]


@pytest.mark.parametrize(
    ("mechanism", "change"),
    [
        (nw.mechanisms.unary_encoding(5, epsilon=1), set_in("oracle", one="1", other="0")),
        (nw.mechanisms.unary_encoding(5, epsilon=1), set_in("oracle", width=10**12)),
        (nw.mechanisms.unary_encoding(5, epsilon=1), another_table),
        (nw.mechanisms.unary_encoding(5, epsilon=1), equal_rows),
        (nw.mechanisms.unary_encoding(5, epsilon=1), set_in("oracle", domain=5.0)),
        (nw.mechanisms.unary_encoding(5, epsilon=1), set_in("oracle", domain=True)),
        (nw.mechanisms.subset_selection(5, epsilon=1), set_in("oracle", domain=6)),
        (nw.mechanisms.subset_selection(5, epsilon=1), set_in("oracle", size=3)),
        (nw.mechanisms.subset_selection(5, epsilon=1), equal_rows),
        (nw.mechanisms.subset_selection(5, epsilon=1), set_in("proof", table=[[0, 0, 0, 4], [0, 0, 0, 4]], total=4)),
        (nw.mechanisms.local_hashing(5, epsilon="1/2", buckets=2), swap_halves),
        (nw.mechanisms.local_hashing(5, epsilon=1), set_in("oracle", prime=7)),
        (nw.mechanisms.local_hashing(5, epsilon=1), many_parts),
        (nw.mechanisms.hadamard_response(5, epsilon="1/2"), swap_halves),
        (nw.mechanisms.hadamard_response(5, epsilon=1), set_in("oracle", length=16)),
        (nw.mechanisms.hadamard_response(5, epsilon=1), set_in("oracle", length=1 << 100)),
        (nw.mechanisms.hadamard_response(5, epsilon=1), many_parts),
        (nw.mechanisms.hadamard_response(5, epsilon=1), lambda document: document.pop("oracle")),
    ],
)
def test_a_changed_file_estimates_nothing(mechanism: Any, change: Callable[[Any], object]) -> None:
    """These claims are true, and some are proved; but what is drawn is not the mechanism that the file names."""
    forged = changed(mechanism, change)
    with suppress(CertificateError):
        assert forged.verify() == f"epsilon = {'0.5' if mechanism.epsilon < 1 else 1} per unit of discrete"
    with pytest.raises((CertificateError, ParameterError)):
        nw.estimate(mechanism.release(np.arange(50) % 5), forged)


@pytest.mark.parametrize("kind", sorted(ORACLES))
def test_a_smaller_epsilon_is_not_proved(kind: str) -> None:
    forged = changed(ORACLES[kind](5, epsilon=1), set_in("claim", epsilon="999/1000"))
    with pytest.raises(CertificateError, match="promise is broken"):
        oracle_of(forged)


@pytest.mark.parametrize("kind", sorted(ORACLES))
def test_the_audit_of_a_file_is_about_all_categories(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The proof of unary encoding and subset selection is a table of two categories; the channel has all of them."""
    (tmp_path / "m.json").write_text(ORACLES[kind](5, epsilon=1).certificate().to_json(), encoding="utf-8")
    assert noisewright.cli.run(["audit", str(tmp_path / "m.json")]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    expected = {
        "unary": "5 secrets to 32 outputs",
        "symmetric": "5 secrets to 32 outputs",
        "subset": f"5 secrets to {5 if nw.mechanisms.subset_selection(5, epsilon=1).size == 1 else 10} outputs",
        "hadamard": "5 secrets to 8 outputs",
        "hashing": "none to audit: there are 2^62 hash functions",
    }
    assert expected[kind] in shown


def test_there_is_no_picture_of_reports_that_are_no_numbers() -> None:
    """A cloud of bytes would look like one of places."""
    for mechanism in (
        nw.mechanisms.unary_encoding(40, epsilon=1),
        nw.mechanisms.local_hashing(40, epsilon=1),
        nw.mechanisms.subset_selection(40, epsilon=1),
    ):
        with pytest.raises(
            ParameterError, match=f"no picture of this {mechanism.name}: it has too many different reports"
        ):
            draw(mechanism)
    assert len(draw(nw.mechanisms.unary_encoding(3, epsilon=1)).axes) >= 1


@pytest.mark.parametrize("epsilon", [700, 1000, 5000])
def test_a_variance_too_small_for_floats(epsilon: int) -> None:
    """All bits are right but for those of the truth, half of which are 0; two data sets still have weights."""
    page = nw.mechanisms.unary_encoding(4, epsilon=epsilon)
    one, two = Support(np.array([30, 20, 0, 0]), 100), Support(np.array([90, 60, 0, 0]), 300)
    found = combine([one, two], [page, page])
    np.testing.assert_allclose(found.unbiased, [0.6, 0.4, 0, 0], atol=1e-12)
    exact = nw.mechanisms.unary_encoding(4, epsilon=epsilon, variant="symmetric")
    values = np.arange(100) % 4
    np.testing.assert_allclose(nw.estimate(exact.release(values), exact).probabilities, [0.25] * 4, atol=1e-12)


def test_estimates_that_tell_nothing_say_so() -> None:
    page = nw.mechanisms.unary_encoding(4, epsilon="1e-3")
    (warning,) = nw.estimate(page.release(np.arange(1000) % 4, np.random.default_rng(1)), page).warnings
    assert warning.startswith("these reports tell hardly anything: the standard error of a share is up to 63.")
    clear = nw.mechanisms.unary_encoding(4, epsilon=9)
    assert nw.estimate(clear.release(np.arange(1000) % 4), clear).warnings == ()


def test_counts_with_foreign_reports_are_refused_too() -> None:
    page = nw.mechanisms.unary_encoding(3, epsilon=1)
    counted = Support(np.array([10, 10, 5]), 20, 2)
    with pytest.raises(DataError, match=r"^2 of 22 reports are not reports of this mechanism"):
        nw.estimate(counted, page)
    assert nw.estimate(counted, page, outside="drop").dropped == 2
    with pytest.raises(DataError, match="there are no reports"):
        nw.estimate(Support(np.zeros(3, dtype=np.int64), 0), page)
    tally = SupportTally(page)
    for bad in (np.array([0.5, 1, 1]), np.array([np.nan, 1, 1]), np.array([-1, 1, 1])):
        with pytest.raises(DataError, match="whole numbers from 0 to the number of reports"):
            tally.add(Support(bad, 2))


@pytest.mark.parametrize("kind", sorted(ORACLES))
def test_estimates_name_the_categories_as_they_were_given(kind: str) -> None:
    for names in ((0.0, 1.0, 2.0), (False, True)):
        mechanism = ORACLES[kind](names, epsilon=2)
        found = nw.estimate(mechanism.release(list(names) * 20), mechanism)
        assert list(map(repr, found.secrets)) == list(map(repr, names))


@pytest.mark.parametrize("kind", ["hadamard", "subset", "symmetric", "unary"])
def test_a_channel_file_of_an_oracle_has_all_its_categories(kind: str, tmp_path: Path) -> None:
    """The proof is about two categories; the channel that is loaded is the mechanism's own, from the integers of the proof."""
    names = ("bus", "car", "foot", "none")
    mechanism = ORACLES[kind](names, epsilon="3/2")
    found = load_channel(nw.save(mechanism, tmp_path / "oracle.json"))
    assert found.inputs == names
    assert found.outputs == mechanism.channel().outputs
    assert found.matrix.tolist() == mechanism.channel().matrix.tolist()
    assert found.epsilon().value == pytest.approx(1.5, rel=1e-9)


@pytest.mark.parametrize("kind", sorted(ORACLES))
def test_a_channel_file_of_an_oracle_with_many_reports_is_refused(kind: str, tmp_path: Path) -> None:
    path = nw.save(ORACLES[kind](10_000, epsilon=1), tmp_path / "oracle.json")
    with pytest.raises(ParameterError, match=r"is the limit\.$|estimates need no channel\.$"):
        load_channel(path)


def test_a_channel_file_of_a_changed_certificate_is_refused(tmp_path: Path) -> None:
    forged = changed(
        nw.mechanisms.unary_encoding(4, epsilon=1), lambda document: document["oracle"].update(domain=[1, 2, 3, 3])
    )
    with pytest.raises(CertificateError, match="no two alike"):
        load_channel(nw.save(forged, tmp_path / "oracle.json"))
    forged = changed(nw.mechanisms.unary_encoding(4, epsilon=1), lambda document: document["oracle"].update(extra=1))
    with pytest.raises(CertificateError, match="says what is known of its kind"):
        load_channel(nw.save(forged, tmp_path / "oracle.json"))
