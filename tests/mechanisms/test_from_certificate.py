"""The mechanism behind a certificate: proved first, built from its integers, and its certificate is the one that was given."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.base import Entry, Mechanism
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker
from noisewright.exceptions import CertificateError, FileFormatError, ParameterError
from noisewright.io.serialization import load_certificate, load_channel
from noisewright.mechanisms.categorical.probability_table import ChancesMechanism
from noisewright.mechanisms.composite import ProductMechanism, product
from noisewright.mechanisms.from_certificate import AnsweredMechanism, channel_of, mechanism_of, oracle_of
from noisewright.mechanisms.registry import PROOFS, forget, register, registry
from noisewright.sampling.random_bits import RELEASE_RANDOMNESS

KEPT = Path(__file__).parents[1] / "fixtures" / "kept"
MADE = json.loads((KEPT / "made.json").read_text())
FILES = sorted((KEPT / "certificates").glob("*.json"))
RELEASES = [file for file in FILES if json.loads(file.read_text())["format"] == checker.RELEASE]
ALL = [file for file in FILES if file not in RELEASES]
UNNAMED = {"curve", "planar-geometric", "selection", "uniform"}
"""Mechanisms whose certificates do not name what a draw needs."""

VALUES: dict[str, Any] = {
    "geometric": [1, 2, 3],
    "laplace": [1.25, 1.5],
    "staircase": [1.5, 2.5],
    "gaussian": [1.0, 2.0],
    "approximate-laplace": [1.0, 2.0],
    "snapped-laplace": [1.0, 2.0],
    "truncated-laplace": [0.25, 0.5],
    "planar-laplace": [(1.0, 2.0), (3.0, 4.0)],
    "geo-laplace": [(48.8566, 2.3522), (48.85, 2.35)],
    "product-laplace": [(1.0, 2.0, 3.0, 4.0)],
    "spherical-laplace": [(1.0, 2.0, 3.0)],
}


def stem(file: Path) -> str:
    return file.stem


def secrets_of(mechanism: Any, name: str) -> Any:
    """Some values that a mechanism takes."""
    if name in VALUES:
        return VALUES[name]
    if hasattr(mechanism, "categories"):
        return list(mechanism.categories)
    return list(mechanism.channel().inputs)


def test_there_are_kept_certificates_of_every_kind_of_proof() -> None:
    kinds = {json.loads(file.read_text())["proof"]["kind"] for file in ALL}
    assert kinds == set(PROOFS) - {"product", "words", "weights"} | {"theorem"}
    assert len(ALL) > 90


@pytest.mark.parametrize("file", ALL, ids=stem)
def test_every_exact_certificate_is_proved(file: Path) -> None:
    certificate = load_certificate(file)
    if certificate.numerics == "floating":
        with pytest.raises(CertificateError, match="floating"):
            certificate.verify()
    else:
        assert nw.verify(file).claim == certificate.verify()
        assert PROOFS[certificate.document["proof"]["kind"]].covers


@pytest.mark.parametrize("file", ALL, ids=stem)
def test_a_loaded_certificate_draws_and_has_the_same_certificate(file: Path) -> None:
    given = load_certificate(file)
    name = str(given.document["mechanism"])
    if name in UNNAMED:
        with pytest.raises(
            CertificateError, match=f"does not say all that {name} draws from; build the mechanism again"
        ):
            nw.load(file)
        return
    found: Any = nw.load(file)
    assert isinstance(found, Mechanism)
    rng = np.random.default_rng(0) if given.simulated else None
    own = found.certificate(rng)
    if given.randomness.startswith("drawn by each respondent"):  # a computer draws now
        assert own.randomness == RELEASE_RANDOMNESS
        document = {**own.document, "randomness": given.document["randomness"]}
        own = Certificate({**document, "digest": checker.digest(document)})
    assert own.document == given.document
    values = secrets_of(found, name)
    drawn = found.release(values)
    assert len(drawn) == len(values)
    assert found.guarantee.epsilon >= float(given.epsilon)
    again = pickle.loads(pickle.dumps(found))
    assert again.certificate(rng).to_json() == found.certificate(rng).to_json()


EXPRESSIONS = [
    *("laplace_within", "laplace_half_line", "staircase", "gaussian", "optimal_line", "optimal_delta", "exponential"),
    *("snapped_geometric", "unary_encoding", "survey_delta", "survey_categories"),
]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_loaded_mechanism_draws_what_the_first_one_draws(name: str) -> None:
    """With one seed both give the same values, where they draw in the same way; otherwise their channels agree."""
    made = MADE[name]["make"].removesuffix(".certificate()")
    space = {"nw": _Old(), "numpy": np}
    first, again = eval(made, space), nw.load(KEPT / "certificates" / f"{name}.json")
    assert not isinstance(again, nw.Channel)
    if isinstance(again, ChancesMechanism):
        assert np.array_equal(first.device.channel().matrix, again.channel().matrix)
        drawn = np.asarray(again.release([again.chances.inputs[0]] * 20_000, np.random.default_rng(5))).tolist()
        shares = [drawn.count(label) / 20_000 for label in again.chances.outputs]
        assert np.allclose(shares, again.channel().matrix[0], atol=0.02)  # more than five standard deviations
        return
    values = secrets_of(again, str(again.certificate().document["mechanism"]))
    here, there = (np.asarray(one.release(values * 50, np.random.default_rng(5))) for one in (first, again))
    assert np.array_equal(here, there)


class _Old:
    """The top of the house as it was when the fixtures were made: every mechanism and metric by name."""

    def __getattr__(self, name: str) -> Any:
        for room in (nw, nw.mechanisms, nw.metrics):
            if hasattr(room, name):
                return getattr(room, name)
        raise AttributeError(name)


@pytest.mark.parametrize("file", RELEASES, ids=stem)
def test_the_certificate_of_a_release_has_no_single_mechanism(file: Path) -> None:
    for load in (nw.load, load_channel):
        with pytest.raises(FileFormatError, match=r"certificate of a whole release.*prove it with noisewright\.verify"):
            load(file)


# Forgeries ----------------------------------------------------------------------------------------------------------------


def changed(name: str, change: Callable[[dict[str, Any]], None]) -> Certificate:
    document = json.loads((KEPT / "certificates" / f"{name}.json").read_text())
    change(document)
    return Certificate.from_document({**document, "digest": checker.digest(document)})


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("geometric", lambda d: d["proof"].update(scale="1/2"), "does not prove its claim"),
        ("geometric", lambda d: d["proof"].update(scale="2"), "does not describe the mechanism"),
        ("geometric", lambda d: d["claim"].update(epsilon="2"), "does not describe the mechanism"),
        ("geometric", lambda d: d.update(outside="never"), "what is done to values outside"),
        ("geometric", lambda d: d.pop("outside"), "does not name its categories or its integers properly"),
        ("geometric", lambda d: d.update(more=1), "does not know the field 'more'"),
        ("laplace_within", lambda d: d.update(outside="clamp", scope="metric"), "the scope that is stated"),
        ("laplace_within", lambda d: d.update(mechanism="staircase"), "does not prove itself by a ranged"),
        ("laplace_within", lambda d: d.update(mechanism="nobody's"), "does not say all that nobody's draws from"),
        ("gaussian", lambda d: d["proof"].update(stride=2), "does not describe|does not prove"),
        ("optimal_line", lambda d: d.update(secrets=[0, 1, 2, 3, 4, 4.5]), "not as far apart"),
        ("optimal_line", lambda d: d.update(secrets=[0, 1, 2, 3, 5, 4]), "not as far apart"),
        ("optimal_line", lambda d: d.update(answers=[[1, 0]]), "in the order of outputs"),
        ("optimal_line", lambda d: d.update(answers=[[0, 1], [9, 2]]), "in the order of outputs"),
        ("survey_dice", lambda d: d.update(inputs=["no"]), "does not prove its claim"),
        ("randomised_response", lambda d: d["proof"].update(keep="0"), "does not prove its claim"),
        ("unary_encoding", lambda d: d["oracle"].update(domain=2.5), "one label for each row"),
        ("spherical_laplace", lambda d: d["claim"]["distances"].update(dimension=0), "dimension must be"),
    ],
)  # fmt: skip
def test_another_mechanism_cannot_be_put_behind_a_proof(name: str, change: Any, sentence: str) -> None:
    with pytest.raises(CertificateError, match=sentence):
        mechanism_of(changed(name, change))


def test_a_floating_certificate_that_was_changed_is_refused() -> None:
    document = {**load_certificate(KEPT / "certificates" / "spherical_laplace.json").document, "digest": "0"}
    with pytest.raises(CertificateError, match="changed or cut"):
        mechanism_of(Certificate(document))


def test_secrets_may_be_in_any_order_and_farther_apart_than_their_places() -> None:
    wider = changed("optimal_line", lambda d: d.update(secrets=[50, 40, 30, 20, 10, 0]))
    found = mechanism_of(wider)
    assert isinstance(found, AnsweredMechanism)
    assert found.channel().inputs == (50, 40, 30, 20, 10, 0)


# What is done with it -----------------------------------------------------------------------------------------------------


def test_a_product_comes_back() -> None:
    bits = product(
        [(nw.randomised_response([0, 1], epsilon=1), 5), (nw.randomised_response([0, 1], epsilon=2), 2)], name="bits"
    )
    again = mechanism_of(Certificate.from_json(bits.certificate().to_json()))
    assert again == bits
    assert isinstance(again, ProductMechanism)
    given = [[0, 1, 0, 1, 0, 1, 0]] * 4
    assert np.array_equal(again.release(given, np.random.default_rng(3)), bits.release(given, np.random.default_rng(3)))
    assert again.guarantee.metric.name == "hamming"
    assert again.map(3) == 6
    with pytest.raises(nw.NoisewrightError, match="7 coordinates"):
        again.release([[0, 1]])


def test_a_product_of_numbers_and_one_of_any_length() -> None:
    pixels = product([(nw.geometric(epsilon="1/10", within=(0, 255)), None)], metric="manhattan", name="pixels")
    assert pixels.certificate().verify() == "epsilon = 0.1 per unit of manhattan, over any number of independent parts"
    assert pixels.release(np.zeros((2, 3, 4), dtype=int)).shape == (2, 3, 4)
    assert mechanism_of(pixels.certificate()) == pixels
    for ask in (pixels.channel, pixels.error):
        with pytest.raises(ParameterError, match="any number of coordinates"):
            ask()
    with pytest.raises(ParameterError, match="single mechanism"):
        product([(nw.geometric(epsilon=1), None), (nw.geometric(epsilon=1), 2)], metric="manhattan")


@pytest.mark.parametrize("metric", ["hamming", "discrete"])
def test_the_promise_of_a_product_is_met_by_its_channel(metric: Any) -> None:
    pair = product([(nw.randomised_response(["a", "b", "c"], epsilon=1), 2)], metric=metric)
    measured = nw.audit(pair.channel(), nw.metrics.Hamming() if metric == "hamming" else nw.metrics.Discrete()).value
    assert measured == pytest.approx(pair.guarantee.epsilon, rel=1e-9)
    assert measured <= pair.guarantee.epsilon * (1 + 1e-12)
    assert pair.error("zero-one") == pytest.approx(1 - (1 - pair.parts[0][0].error("zero-one")) ** 2)


def test_the_channel_of_a_certificate(tmp_path: Path) -> None:
    count = nw.geometric(epsilon=1, within=(0, 9))
    nw.save(count, tmp_path / "count.json")
    assert load_channel(tmp_path / "count.json") == count.channel()
    found = channel_of(count.certificate())
    assert not isinstance(found, str)
    assert str(found[1]) == "line"
    assert channel_of(nw.geometric(epsilon=1).certificate()) == (
        "an unbounded geometric has infinitely many outputs; give it a range with within=."
    )


def test_only_oracles_are_oracles() -> None:
    assert oracle_of(nw.geometric(epsilon=1).certificate()) is None
    page = nw.mechanisms.unary_encoding(["home", "news"], epsilon=1)
    assert oracle_of(page.certificate()) == page


def test_a_registered_mechanism_says_itself_what_is_behind_its_certificates() -> None:
    made = nw.mechanisms.product([(nw.randomised_response([0, 1], epsilon=1), 3)], name="sign-bits")
    with pytest.raises(KeyError):
        registry["sign-bits"]
    register(Entry("sign-bits", lambda: made, registry["geometric"].takes, "", "", rebuild=lambda certificate: made))
    try:
        assert mechanism_of(made.certificate()) is made
    finally:
        forget("sign-bits")
