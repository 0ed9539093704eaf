"""The exponential mechanism over scores: its law against decimals and chi-square, its promise against brute force."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

import noisewright as nw
from noisewright.certificates.checker.checker import digest
from noisewright.exceptions import CertificateError, DataError, ParameterError
from noisewright.mechanisms.categorical.selection import _Law

ERROR_RATE = 1e-8


def decimal_thresholds(scores, rate):
    """The cumulative probabilities with 80 digits: another way to compute them."""
    with localcontext() as context:
        context.prec = 80
        weights = [(Decimal(rate.numerator) * (s - max(scores)) / Decimal(rate.denominator)).exp() for s in scores]
        total = sum(weights)
        return [sum(weights[: i + 1]) / total for i in range(len(weights) - 1)]


@given(
    st.lists(st.integers(-60, 60), min_size=2, max_size=12),
    st.fractions(Fraction(1, 40), 3, max_denominator=40),
    st.sampled_from([64, 128]),
)
def test_thresholds_enclose_the_true_ones_closely(scores, rate, width):
    low, high = _Law(rate).enclosure(scores, width)
    for least, most, true in zip(low, high, decimal_thresholds(scores, rate), strict=True):
        scaled = Fraction(true) * (1 << width)
        slack = Fraction(1, 10**35)  # far more than the decimals are off by
        assert least <= scaled + slack
        assert scaled - slack <= most
        assert most - least <= 2
    assert low == sorted(low)
    assert high == sorted(high)


def test_draws_follow_the_law():
    chooser = nw.mechanisms.selection("abcde", epsilon=1, sensitivity=2)
    scores = [3, 0, 7, 7, -4]
    draws = 40_000
    released = chooser.release([scores] * draws, np.random.default_rng(3))
    seen = np.array([(released == name).sum() for name in "abcde"])
    wanted = draws * np.exp(0.25 * (np.array(scores) - 7.0))
    wanted *= draws / wanted.sum()
    assert ((seen - wanted) ** 2 / wanted).sum() < chi2.isf(ERROR_RATE, 4)


class Words:
    """A source that hands out chosen words first, so that a tie comes up at once."""

    for_release, label = False, "chosen words"

    def __init__(self, *words):
        self.words_left = list(words)

    def words(self, count):
        taken, self.words_left = self.words_left[:count], self.words_left[count:]
        return np.array(taken, dtype=np.uint64)


def test_a_tie_is_settled_by_further_bits():
    chooser = nw.mechanisms.selection("abc", epsilon=2)
    head, rest = divmod(math.floor(Fraction(decimal_thresholds([0, 1, 2], chooser.rate)[0]) * (1 << 128)), 1 << 64)
    assert chooser.release([0, 1, 2], Words(head, rest - 1)) == "a"
    assert chooser.release([0, 1, 2], Words(head, rest + 1)) == "b"


def test_the_promise_is_kept_by_all_near_scores_and_nearly_used_up():
    epsilon, sensitivity, values = Fraction(3, 2), 2, range(-2, 3)
    chooser = nw.mechanisms.selection(range(3), epsilon=epsilon, sensitivity=sensitivity)
    vectors = list(itertools.product(values, repeat=3))
    logs = np.log(chooser.channel(vectors).matrix)
    apart = np.abs(np.array(vectors)[:, None] - np.array(vectors)[None, :]).max(-1)
    losses = np.abs(logs[:, None] - logs[None, :]).max(-1)
    allowed = float(epsilon) * apart / sensitivity
    assert (losses <= allowed + 1e-12).all()
    assert 0.7 < (losses[apart > 0] / allowed[apart > 0]).max() <= 1
    assert chooser.guarantee.bound(1.0) == nw.audit(chooser).value == 1.5


@given(st.lists(st.integers(-(2**40), 2**40), min_size=3, max_size=3), st.integers(-(2**60), 2**60))
def test_only_differences_of_scores_matter(scores, shift):
    chooser = nw.mechanisms.selection(range(3), epsilon="1/7")
    moved = [score + shift for score in scores]
    once, again = (chooser.release(s, np.random.default_rng(5)) for s in (scores, moved))
    assert once == again


def test_extreme_scores_and_budgets_are_exact_too():
    far = [2**61, -(2**61)]
    assert nw.mechanisms.selection("ab", epsilon=1).release(far) == "a"
    tiny = nw.mechanisms.selection("ab", epsilon=1e-300).release([[0, 1000]] * 2000, np.random.default_rng(1))
    assert 900 < (tiny == "a").sum() < 1100  # five standard deviations are 112
    assert nw.mechanisms.selection("ab", epsilon=10**307).release([1, 0]) == "a"


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"),
    [("1e307", "0.2"), ("1e-304", 1), ("1e300", "1e300"), ("1e-300", "1e-300"), ("1e-4", "1e300"), (1, "1e-307")],
)
def test_parameters_at_the_ends_of_floats_work(epsilon, sensitivity):
    chooser = nw.mechanisms.selection("ab", epsilon=epsilon, sensitivity=sensitivity)
    assert chooser.certificate().verify().startswith("epsilon = ")
    assert math.isfinite(chooser.shortfall())
    assert chooser.shortfall() == pytest.approx(0.2784645427610738 / float(chooser.rate), rel=1e-9)
    drawn = chooser.release([[0, 1]] * 4000, np.random.default_rng(7))
    likely = 1 / (1 + math.exp(-min(float(chooser.rate), 700.0)))
    assert abs((drawn == "b").mean() - likely) < 5 * math.sqrt(likely * (1 - likely) / 4000) + 1e-12


def test_the_channel_of_far_scores_is_exact():
    chooser = nw.mechanisms.selection("ab", epsilon=1, sensitivity=2**61)
    row = chooser.channel([[2**62, -(2**62)]]).matrix[0]
    assert row == pytest.approx([1 / (1 + math.exp(-2)), 1 / (1 + math.exp(2))])


def test_scalars_columns_and_blocks_agree_under_one_seed():
    chooser = nw.mechanisms.selection(["x", "y", "z"], epsilon=1)
    scores = np.random.default_rng(2).integers(-5, 5, (6, 4, 3))
    block = chooser.release(scores, np.random.default_rng(9))
    flat = chooser.release(scores.reshape(-1, 3), np.random.default_rng(9))
    assert block.shape == (6, 4)
    assert block.reshape(-1).tolist() == flat.tolist()
    assert chooser.release(scores[0, 0], np.random.default_rng(9)) == flat[0]


@settings(max_examples=30)
@given(
    st.sampled_from([2, 7, 300]),
    st.fractions(Fraction(1, 900), 40, max_denominator=900),
    st.integers(0, 2**32),
    st.sampled_from([3, 500, 2**40]),
)
def test_floats_decide_as_integers_do(count, epsilon, seed, spread):
    """Every draw that floats settle is settled alike by the enclosed thresholds; and those with a doubt are settled by them."""
    rng = np.random.default_rng(seed)
    chooser = nw.mechanisms.selection(range(count), epsilon=epsilon)
    scores = rng.integers(-spread, spread, (40, count))
    words = rng.integers(0, 2**64, 40, dtype=np.uint64).tolist()
    drawn = chooser.release(scores, Words(*words, *[1 << 63] * 40))
    for row, word, choice in zip(scores.tolist(), words, drawn, strict=True):
        low, high = _Law(chooser.rate).enclosure(row, 64)
        assert sum(c <= word for c in high) <= choice <= sum(c <= word for c in low)


def test_words_beside_every_threshold_are_settled_right():
    scores = [0, 5, 3, 5, -2, 1]
    chooser = nw.mechanisms.selection(range(6), epsilon="1/3")
    for place, true in enumerate(decimal_thresholds(scores, chooser.rate)):
        nearest = math.floor(Fraction(true) * (1 << 64))
        for away in (0, 1, 2, 1000, 2**20, 2**40, 2**50):
            assert chooser.release(scores, Words(nearest - 1 - away)) == place
            assert chooser.release(scores, Words(nearest + 1 + away)) == place + 1


@pytest.mark.parametrize("count", [2, 5, 1000])
def test_shortfall_is_the_worst_case_over_equal_gaps(count):
    chooser = nw.mechanisms.selection(range(count), epsilon=1, sensitivity=3)
    rate = float(chooser.rate)

    def loss(gap):
        weight = (count - 1) * math.exp(-rate * gap)
        return -gap * weight / (1 + weight)

    found = minimize_scalar(loss, bounds=(0, 40 / rate), method="bounded", options={"xatol": 1e-10})
    assert chooser.shortfall() == pytest.approx(-found.fun, rel=1e-9)
    rng = np.random.default_rng(4)
    for gaps in rng.integers(0, int(20 / rate), (50, count - 1)):
        scores = np.append(0, -gaps)
        law = chooser.channel([scores.tolist()]).matrix[0]
        assert -(law * scores).sum() <= chooser.shortfall() + 1e-12


def test_the_certificate_proves_the_rate_and_no_larger_one():
    certificate = nw.mechanisms.selection("abc", epsilon="1/3", sensitivity=5).certificate()
    assert certificate.document["proof"]["rate"] == "1/30"
    assert certificate.verify() == "epsilon = 0.333334 per unit of 1/5 * largest of 3 differences"
    for rate in ("1/29", "0", "-1/30"):
        forged = {**certificate.document, "proof": {**certificate.document["proof"], "rate": rate}}
        with pytest.raises(CertificateError, match="the rate of the choice is too large for the claim"):
            nw.Certificate({**forged, "digest": digest(forged)}).verify()


@pytest.mark.parametrize(
    "call",
    [
        lambda: nw.mechanisms.selection(["a"], epsilon=1),
        lambda: nw.mechanisms.selection(["a", "a"], epsilon=1),
        lambda: nw.mechanisms.selection(7, epsilon=1),
        lambda: nw.mechanisms.selection([math.nan, 1.0], epsilon=1),
        lambda: nw.mechanisms.selection(["a", "b"], epsilon=0),
        lambda: nw.mechanisms.selection(["a", "b"], epsilon=1, sensitivity=-1),
        lambda: nw.mechanisms.selection(range(100_000), epsilon=1),
        lambda: nw.mechanisms.selection("ab", epsilon="1e300", sensitivity="1e-10"),
        lambda: nw.mechanisms.selection("ab", epsilon="1e-200", sensitivity="1e200"),
        lambda: nw.mechanisms.selection("ab", epsilon=1, sensitivity="1e400"),
        lambda: nw.mechanisms.selection("ab", epsilon=1, sensitivity="1e-400"),
        lambda: nw.mechanisms.selection("ab", epsilon=1).channel(),
        lambda: nw.mechanisms.selection("ab", epsilon=1).channel([0, 1]),
        lambda: nw.mechanisms.selection("ab", epsilon=1).channel(5),
        lambda: nw.mechanisms.selection("ab", epsilon=1).channel([]),
        lambda: nw.mechanisms.selection("ab", epsilon=1).channel([[1, 2, 3]]),
        lambda: nw.mechanisms.selection("ab", epsilon=1).error(),
    ],
)
def test_bad_parameters_are_refused(call):
    with pytest.raises(ParameterError, match=r"\w{3,} .*\.$"):
        call()


@pytest.mark.parametrize("scores", [[1, 2, 3], [0.5, 1.0], 5, [math.nan, 0.0], ["a", "b"], [[1, 2], [3]]])
def test_bad_scores_are_refused_without_being_shown(scores):
    with pytest.raises(DataError) as refused:
        nw.mechanisms.selection("xy", epsilon=1).release(scores)
    assert "0.5" not in str(refused.value)
