"""Frequencies from oracles: unbiased, with exactly the stated variance; nw.estimate, certificates, files and refusals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy.linalg import hadamard
from scipy.stats import binom, chi2

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.estimation.frequencies import SupportTally, combine, shares, variance
from noisewright.estimation.operators import HadamardOperator, walsh_hadamard
from noisewright.exceptions import CertificateError, DataError, ParameterError
from noisewright.mechanisms.categorical.frequency_oracle import Support
from noisewright.mechanisms.from_certificate import oracle_of

MAKERS: dict[str, Callable[..., Any]] = {
    "unary": nw.mechanisms.unary_encoding,
    "symmetric": lambda names, *, epsilon: nw.mechanisms.unary_encoding(names, epsilon=epsilon, variant="symmetric"),
    "hashing": nw.mechanisms.local_hashing,
    "subset": nw.mechanisms.subset_selection,
}
TRUE = np.array([0.55, 0.2, 0.15, 0.07, 0.03, 0.0])
ERROR_RATE = 1e-6


def estimates(mechanism: Any, people: int, repeats: int, fixed: bool) -> NDArray[np.float64]:
    """Estimates of repeated surveys, of fresh people or of the same ones."""
    rng = np.random.default_rng(11)
    count = len(TRUE)
    if fixed:
        values = np.tile(np.repeat(np.arange(count), np.round(TRUE * people).astype(int)), repeats)
    else:
        values = rng.choice(count, people * repeats, p=TRUE)
    reports = mechanism.release(values, rng)
    parts = [mechanism.support(reports[i * people : (i + 1) * people]) for i in range(repeats)]
    return np.array([shares(part, mechanism) for part in parts])


@pytest.mark.parametrize("fixed", [False, True], ids=["sampled", "fixed"])
@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_estimates_are_unbiased_with_the_stated_variance(kind: str, fixed: bool) -> None:
    """400 surveys of 1000 people, fixed seed; a right estimator fails one of the twelve checks with probability below 2e-5."""
    repeats, people = 400, 1000
    mechanism = MAKERS[kind](len(TRUE), epsilon=2)
    found = estimates(mechanism, people, repeats, fixed)
    stated = variance(TRUE, people, mechanism, population="fixed" if fixed else "sampled")
    off = (found.mean(axis=0) - TRUE) / np.sqrt(stated / repeats)
    assert np.abs(off).max() < 4.9  # 1e-6 for one category
    ratio = found.var(axis=0, ddof=1) / stated * (repeats - 1)
    assert (ratio > chi2.isf(1 - ERROR_RATE, repeats - 1)).all()
    assert (ratio < chi2.isf(ERROR_RATE, repeats - 1)).all()


def test_the_variance_tells_the_two_populations_apart() -> None:
    """For a common category the sampled variance is larger, by exactly f (1 - f) / N; at 0 they agree."""
    page = nw.mechanisms.unary_encoding(10, epsilon=2)
    for f in (0.0, 0.3, 1.0):
        apart = float(variance(f, 50, page) - variance(f, 50, page, population="fixed"))
        assert apart == pytest.approx(f * (1 - f) / 50, abs=1e-15)


@pytest.mark.parametrize("epsilon", ["1/2", "2"])
def test_hadamard_estimates_are_unbiased_with_the_stated_variance(epsilon: str) -> None:
    """The same for Hadamard response, in one block and in several, by its own formula (error rate below 1e-5)."""
    repeats, people = 400, 1000
    mechanism = nw.mechanisms.hadamard_response(len(TRUE), epsilon=epsilon)
    assert mechanism.blocks == (1 if epsilon == "1/2" else 4)
    operator = HadamardOperator(mechanism)
    rng = np.random.default_rng(12)
    reports = mechanism.release(rng.choice(len(TRUE), people * repeats, p=TRUE), rng).reshape(repeats, people)
    found = np.array([operator.inverse().left(np.bincount(r, minlength=mechanism.outputs) / people) for r in reports])
    keep, other = map(float, mechanism.half_probabilities)
    block = np.arange(len(TRUE)) // (mechanism.length - 1)
    mass = np.bincount(block, TRUE)[block]
    stated = (2 * other / (keep - other) ** 2 + mass / (keep - other) - TRUE**2) / people
    assert np.abs((found.mean(axis=0) - TRUE) / np.sqrt(stated / repeats)).max() < 4.9
    ratio = found.var(axis=0, ddof=1) / stated * (repeats - 1)
    assert ((ratio > chi2.isf(1 - ERROR_RATE, repeats - 1)) & (ratio < chi2.isf(ERROR_RATE, repeats - 1))).all()


@pytest.mark.parametrize(("size", "epsilon"), [(5, "1/2"), (6, "2"), (37, "1"), (40, "3")])
def test_the_walsh_operator_is_the_channel(size: int, epsilon: str) -> None:
    """Products, rows and inverse against the dense matrix, also for batches; M W is the identity."""
    mechanism = nw.mechanisms.hadamard_response(size, epsilon=epsilon)
    operator, matrix = HadamardOperator(mechanism), mechanism.channel().matrix
    rng = np.random.default_rng(size)
    p, r = rng.dirichlet(np.ones(size), 3), rng.random((3, mechanism.outputs))
    np.testing.assert_allclose(operator.forward(p), p @ matrix, rtol=0, atol=operator.forward_error(p) + 1e-17)
    np.testing.assert_allclose(operator.backward(r), r @ matrix.T, rtol=0, atol=operator.backward_error(r) + 1e-16)
    np.testing.assert_allclose(operator.rows(np.arange(size)), matrix, rtol=1e-12)
    inverse = operator.inverse()
    wide = inverse.right(np.eye(size)).T
    assert inverse.shape == wide.shape == (mechanism.outputs, size)
    np.testing.assert_allclose(matrix @ wide, np.eye(size), atol=1e-10)
    np.testing.assert_allclose(inverse.left(r), r @ wide, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(inverse.squares(r), r @ wide**2, rtol=1e-9)
    assert inverse.amplification >= np.abs(wide).sum(axis=1).max() * (1 - 1e-12)


def test_the_transform_is_the_hadamard_matrix() -> None:
    values = np.random.default_rng(1).random((2, 64))
    np.testing.assert_allclose(walsh_hadamard(values), values @ hadamard(64), rtol=1e-12, atol=1e-12)
    assert walsh_hadamard(np.array([3.0])).tolist() == [3.0]


@pytest.mark.parametrize("kind", sorted(MAKERS))
def test_intervals_cover_as_often_as_they_say(kind: str) -> None:
    """300 surveys at 90 %: the count of covered shares of one category is binomial (error rate 1e-6 for each of two)."""
    mechanism, rng, repeats = MAKERS[kind](4, epsilon=1), np.random.default_rng(13), 300
    true = np.array([0.5, 0.3, 0.2, 0.0])
    covered = np.zeros(4)
    for _ in range(repeats):
        reports = mechanism.release(rng.choice(4, 400, p=true), rng)
        found = combine([reports], [mechanism])
        low, high = found.unbiased - 1.6449 * found.standard_errors, found.unbiased + 1.6449 * found.standard_errors
        covered += (low <= true) & (true <= high)
    assert covered[:2].min() >= binom.ppf(ERROR_RATE, repeats, 0.9)
    assert covered[:2].max() <= binom.isf(ERROR_RATE, repeats, 0.9)


@pytest.mark.parametrize("kind", [*sorted(MAKERS), "hadamard"])
def test_estimate_takes_mechanisms_and_certificates(kind: str) -> None:
    names = ["no", "yes", "rather not"]
    mechanism = (nw.mechanisms.hadamard_response if kind == "hadamard" else MAKERS[kind])(names, epsilon=2)
    rng = np.random.default_rng(2)
    reports = mechanism.release(rng.choice(names, 20_000, p=[0.6, 0.3, 0.1]), rng)
    found = nw.estimate(reports, mechanism, intervals="asymptotic")
    assert found.secrets == tuple(names)
    np.testing.assert_allclose(found.probabilities, [0.6, 0.3, 0.1], atol=0.05)
    assert found.probabilities.sum() == pytest.approx(1)
    assert found.low is not None
    assert found.high is not None
    assert (found.low <= found.probabilities).all()
    assert (found.high >= found.probabilities).all()
    assert found.promise == "epsilon = 2 per unit of discrete"
    again = nw.estimate(reports, nw.Certificate.from_json(mechanism.certificate().to_json()))
    assert again.probabilities.tolist() == found.probabilities.tolist()
    text = json.dumps(found.to_json(), allow_nan=False)
    assert mechanism.name in text
    if kind == "hadamard":
        assert found.method == "mle"
        assert "certified" in str(found)
        assert found.average([0, 1, 2]).value == pytest.approx(0.5, abs=0.06)
    else:
        assert found.method == "inversion"
        assert "no likelihood is computed" in str(found)
        with pytest.raises(ParameterError, match="standard errors of single shares only"):
            found.average([0, 1, 2])


def test_batches_add_up() -> None:
    page = nw.mechanisms.local_hashing(20, epsilon=1)
    reports = page.release(np.arange(5000) % 20)
    tally = SupportTally(page)
    for start in range(0, 5000, 700):
        tally.add(reports[start : start + 700])
    whole = page.support(reports)
    assert tally.result().counts.tolist() == whole.counts.tolist()
    assert tally.result().reports == 5000
    assert nw.estimate(tally.result(), page).unbiased is not None
    np.testing.assert_array_equal(nw.estimate(whole, page).unbiased, shares(whole, page))


def test_several_oracles_in_one_data_set() -> None:
    """The average is weighted by precision, and its variance is the smallest of all weights."""
    first, second = nw.mechanisms.unary_encoding(3, epsilon=1), nw.mechanisms.subset_selection(3, epsilon=3)
    one = Support(np.array([400, 300, 300]), 1000)
    two = Support(np.array([900, 50, 50]), 1000)
    found = nw.estimate([one, two], [first, second])
    v1, v2 = (float(variance(0.0, 1000, m)) for m in (first, second))
    expected = (shares(one, first) * v2 + shares(two, second) * v1) / (v1 + v2)
    np.testing.assert_allclose(found.unbiased, expected, rtol=1e-12)
    assert found.reports == 2000
    assert found.mechanism == "unary-encoding, subset-selection"
    with pytest.raises(ParameterError, match="the same secrets"):
        nw.estimate([one, two], [first, nw.mechanisms.unary_encoding(["a", "b", "c"], epsilon=1)])
    with pytest.raises(ParameterError, match="a list of as many columns"):
        nw.estimate([one], [first, second])


def test_refusals() -> None:
    page = nw.mechanisms.unary_encoding(10, epsilon=1)
    good = page.release(np.arange(10))
    bad = np.vstack([good, [[255, 255]]]).astype(np.uint8)
    with pytest.raises(DataError, match=r"^1 of 11 reports are not reports of this mechanism; check that"):
        nw.estimate(bad, page)
    dropped = nw.estimate(bad, page, outside="drop")
    assert dropped.dropped == 1
    assert "1 of 11 reports were left out" in dropped.warnings[0]
    with pytest.raises(DataError, match="there are no reports"):
        nw.estimate(good[:0], page)
    with pytest.raises(DataError, match="there are no reports"):
        shares(Support(np.zeros(10, dtype=np.int64), 0), page)
    with pytest.raises(DataError, match="are not reports of this mechanism"):
        nw.estimate(bad[-1:], page, outside="drop")
    for method in ("ibu", "mle"):
        with pytest.raises(ParameterError, match="choose method='inversion'"):
            nw.estimate(good, page, method=method)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="not for counts of support"):
        nw.estimate(good, page, intervals="bootstrap")
    with pytest.raises(ParameterError, match="7 counts for 10 categories"):
        nw.estimate(Support(np.zeros(7, dtype=np.int64), 5), page)
    with pytest.raises(DataError, match="from 0 to the number of reports"):
        nw.estimate(Support(np.full(10, 9), 5), page)
    mute = nw.mechanisms.unary_encoding(10, epsilon="1e-30")
    with pytest.raises(ParameterError, match="tell nearly nothing"):
        nw.estimate(mute.release(np.arange(10)), mute)
    with pytest.raises(ParameterError, match="tell nearly nothing"):
        variance(0.5, 10, mute)
    with pytest.raises(ParameterError, match="a share is a number from 0 to 1"):
        variance(1.5, 10, page)
    with pytest.raises(ParameterError, match="a whole number from 1"):
        variance(0.5, 0, page)
    with pytest.raises(ParameterError, match="population"):
        variance(0.5, 5, page, population="other")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mechanism", "change"),
    [
        (nw.mechanisms.unary_encoding(5, epsilon=1), {"other": "1"}),
        (nw.mechanisms.unary_encoding(5, epsilon=1), {"domain": [1, 2, 3, 3]}),
        (nw.mechanisms.subset_selection(5, epsilon=1), {"size": 3}),
        (nw.mechanisms.subset_selection(5, epsilon=1), {"domain": 9}),
        (nw.mechanisms.local_hashing(5, epsilon=1), {"prime": 2**31 - 3}),
        (nw.mechanisms.hadamard_response(5, epsilon=1), {"length": 2}),
        (nw.mechanisms.hadamard_response(5, epsilon=1), {"domain": "five"}),
    ],
    ids=lambda x: x if isinstance(x, str) else getattr(x, "name", "change"),
)
def test_a_certificate_that_describes_another_mechanism_estimates_nothing(mechanism: Any, change: Any) -> None:
    """The digest is made right again; but what it says of the reports does not fit the proof."""
    document = json.loads(mechanism.certificate().to_json())
    document["oracle"].update(change)
    document["digest"] = checker.digest(document)
    forged = nw.Certificate.from_json(json.dumps(document))
    with pytest.raises((CertificateError, ParameterError)):
        oracle_of(forged)


def test_a_certificate_of_another_mechanism_is_not_an_oracle() -> None:
    assert oracle_of(nw.randomised_response(3, epsilon=1).certificate()) is None


@pytest.mark.parametrize("kind", ["unary", "hashing", "subset"])
def test_the_command_line_estimates_from_a_file(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import noisewright.cli

    names = ["bus", "car", "foot"]
    mechanism, rng = MAKERS[kind](names, epsilon=3), np.random.default_rng(3)
    reports = mechanism.release(pa.array(rng.choice(names, 20_000, p=[0.5, 0.4, 0.1]).tolist()), rng)
    pq.write_table(pa.table({"report": reports}), tmp_path / "reports.parquet")
    (tmp_path / "m.json").write_text(mechanism.certificate(rng).to_json(), encoding="utf-8")
    order = ["estimate", str(tmp_path / "reports.parquet"), "--mechanism", str(tmp_path / "m.json")]
    assert noisewright.cli.run([*order, "--json", "--intervals", "asymptotic"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["reports"] == 20_000
    np.testing.assert_allclose(found["probabilities"], [0.5, 0.4, 0.1], atol=0.05)
    np.testing.assert_array_equal(found["unbiased"], nw.estimate(reports, mechanism).unbiased)
    assert noisewright.cli.run(order) == 0
    assert "no likelihood is computed" in " ".join(capsys.readouterr().out.split())
    assert noisewright.cli.run([*order, "--engine", "spark"]) != 0
    assert "counted by the engine local" in " ".join(capsys.readouterr().err.split())


def test_zero_standard_errors_do_not_occur() -> None:
    """A category that nobody supports still has the error of a rare one."""
    page = nw.mechanisms.unary_encoding(3, epsilon=1)
    found = combine([Support(np.array([0, 500, 100]), 1000)], [page])
    assert found.standard_errors[0] == pytest.approx(math.sqrt(float(variance(0.0, 1000, page))))


def test_intervals_cover_for_few_reports() -> None:
    """400 surveys of five people at epsilon 6, at 95 %: covered ones are binomial (error rate 1e-6 for each share).

    Where nobody's report supports a category, an interval from the variance that the reports suggest would be a point.
    """
    rng, true = np.random.default_rng(11), np.array([0.1, 0.6, 0.3])
    page = nw.mechanisms.unary_encoding(["a", "b", "c"], epsilon=6)
    covered = np.zeros(3)
    for _ in range(400):
        people = rng.choice(["a", "b", "c"], size=5, p=true)
        found = nw.estimate(page.release(people, rng=rng), page, intervals="asymptotic")
        assert found.low is not None
        assert found.high is not None
        covered += (found.low <= true) & (true <= found.high)
    assert covered.min() >= binom.ppf(ERROR_RATE, 400, 0.95)
