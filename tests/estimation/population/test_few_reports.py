"""Few reports, rare secrets and odd settings: intervals stay honest, and what makes no sense is refused."""

from __future__ import annotations

import numpy as np
import pytest

import noisewright as nw
from noisewright.estimation.bayesian_update import bayesian_update
from noisewright.estimation.counts import Counts, LabelOutputs, model_of
from noisewright.estimation.operators import DenseOperator, GeometricOperator, ProductOperator, ResponseOperator
from noisewright.estimation.result import asymptotic
from noisewright.exceptions import DataError, ParameterError

TRIALS = 2000


@pytest.mark.parametrize("reports", [1, 5, 20, 100])
@pytest.mark.parametrize(
    ("operator", "p"),
    [
        (ResponseOperator(4, 0.0025, 0.99), [0.97, 0.03, 0.0, 0.0]),
        (ResponseOperator(4, 0.15, 0.4), [0.4, 0.3, 0.2, 0.1]),
    ],
    ids=["a rare secret", "much noise"],
)
def test_asymptotic_intervals_cover_with_few_reports(operator, p, reports):
    """A variance taken from the reports alone is 0 where all of them are alike, and such intervals cover nothing.

    With a coverage of 0.95 the rate over 2000 data sets is below 0.925 with a probability below 1e-6; Agresti and Coull's
    interval may be a little below its level for some shares, but not by 0.01.
    """
    rng, law, inverse = np.random.default_rng(8), operator.forward(np.array(p)), operator.inverse()
    covered = np.zeros(len(p))
    for counts in rng.multinomial(reports, law, size=TRIALS):
        low, high = asymptotic(counts / reports, reports, inverse, 0.95)
        covered += (low <= p) & (p <= high)
    assert (covered / TRIALS > 0.92).all()


def test_the_interval_of_a_direct_question_is_agresti_and_coulls():
    low, high = asymptotic(np.array([0.0, 1.0]), 20, DenseOperator(np.eye(2)).inverse(), 0.95)
    z = 1.959963984540054
    centre, size = (z * z / 2) / (20 + z * z), 20 + z * z
    assert high[0] == pytest.approx(centre + z * np.sqrt(centre * (1 - centre) / size), rel=1e-12)
    assert low[0] == 0
    assert high[1] == 1
    assert low[1] == pytest.approx(1 - high[0], rel=1e-12)


@pytest.mark.parametrize(
    "operator",
    [
        DenseOperator([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]]),
        ResponseOperator(5, 0.1, 0.5),
        GeometricOperator(7, 0.4),
        GeometricOperator(2, 0.4),
        ProductOperator([GeometricOperator(3, 0.4), ResponseOperator(2, 0.2, 0.6)]),
        model_of(nw.mechanisms.hadamard_response(6, epsilon=1)).operator,
    ],
    ids=["dense", "response", "geometric", "two", "product", "hadamard"],
)
def test_extremes_are_those_of_the_inverse(operator):
    inverse = operator.inverse()
    table = np.array([inverse.left(one) for one in np.eye(inverse.shape[0])])
    low, high = inverse.extremes()
    assert low == pytest.approx(table.min(axis=0), rel=1e-12)
    assert high == pytest.approx(table.max(axis=0), rel=1e-12)


def test_an_average_of_one_report_is_not_certain():
    coin = nw.randomised_response(["no", "yes"], epsilon=1)
    found = nw.estimate({"yes": 1}, coin).average([0, 1])
    assert found.standard_error == 0
    assert found.low <= 0
    assert found.high >= found.value > 1


def test_06_f31_is_told_wherever_the_update_stopped():
    channel = nw.Channel(np.array([[0.5, 0.3, 0.2], [0.5, 0.2, 0.3], [0.2, 0.4, 0.4]]))
    found = nw.estimate({0: 100}, channel, method="ibu")
    assert found.gap * 100 > 1e-5
    assert any("another population explains these reports just as well" in one for one in found.warnings)


def test_a_bootstrap_of_what_was_stopped_early_says_what_it_leaves_out():
    line = nw.geometric(epsilon=1, within=(0, 5))
    counts = {x: 10 + x for x in range(6)}
    (words,) = nw.estimate(counts, line, intervals="bootstrap", replicates=20).warnings
    assert "not how far stopping early bends it" in words
    assert nw.estimate(counts, line, intervals="asymptotic").warnings == ()
    assert nw.estimate(counts, line, method="mle", intervals="bootstrap", replicates=20).warnings == ()


def test_the_dense_update_survives_a_law_that_underflows():
    """From a start that leaves a report nearly impossible, the law of the first step is 0 in floats."""
    operator = DenseOperator([[1.0, 0.0], [1e-200, 1.0]])
    found = bayesian_update(np.array([0.5, 0.5]), operator, start=np.array([1.0, 1e-320]), iterations=2000)
    assert np.isfinite(found.probabilities).all()
    assert found.probabilities.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "settings",
    [
        {"gap": -1},
        {"gap": float("nan")},
        {"gap": "small"},
        {"smoothing": "much"},
        {"start": ["a", "b", "c"]},
        {"iterations": 0},
        {"confidence": 1.5},
        {"confidence": "high"},
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["ibu", "mle", "inversion"])
def test_settings_are_checked_for_every_method(settings, method):
    with pytest.raises(ParameterError):
        nw.estimate(["a", "b"], nw.randomised_response(["a", "b", "c"], epsilon=1), method=method, **settings)


@pytest.mark.parametrize(
    "counts", [[1.5, 2.0, 3.0], [1.0, float("nan"), 1.0], [-1, 2, 3], [2**62, 2**62, 2**62]], ids=str
)
def test_counts_that_are_none_are_refused(counts):
    with pytest.raises(DataError, match="counts of reports must"):
        nw.estimate(Counts(np.array(counts)), nw.randomised_response(3, epsilon=1))


def test_counts_beyond_64_bits_are_refused():
    coin = nw.randomised_response(["a", "b"], epsilon=1)
    for counts in ({"a": 10**30}, {"a": 9 * 10**18, "b": 9 * 10**18}):
        with pytest.raises(DataError, match="sum to at most"):
            nw.estimate(counts, coin)
    assert nw.estimate({"a": 10**17, "b": 10**17}, coin).probabilities == pytest.approx([0.5, 0.5])


def test_a_geometric_has_one_range():
    with pytest.raises(ParameterError, match="one range"):
        nw.estimate([1, 2], nw.geometric(epsilon=1), within=((0, 3), (0, 3)))


def test_null_is_counted_where_it_is_an_output():
    assert LabelOutputs([None, "a"]).positions(["a", None, "b"]).tolist() == [1, 0, -1]
    found = nw.estimate([None, "a", None], nw.randomised_response([None, "a"], epsilon=2))
    assert found.probabilities[0] > found.probabilities[1]
