"""What each mechanism does beyond the common suite: laws, errors in closed form, values, large sizes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

import noisewright as nw
from noisewright.base import expected_loss
from noisewright.claims.figures import exp_bounds
from noisewright.exceptions import DataError, ParameterError

RATE = 1e-7  # chance that a correct sampler fails one of the statistical tests below


def test_unbounded_geometric_follows_its_law_in_the_tails():
    draws, scale = 2_000_000, 2
    noise = nw.geometric(epsilon=0.5).release(np.full(draws, 100), np.random.default_rng(5)) - 100
    a = math.exp(-1 / scale)
    for k in (0, 1, 5, 10, 15, 20):
        p = a**k / (1 + a)  # P(Z >= k), and by symmetry P(Z <= -k)
        for hits in ((noise >= k).sum(), (noise <= -k).sum()):
            spread = math.sqrt(draws * p * (1 - p))
            assert abs(hits - draws * p) <= 5.5 * spread + 1


def test_truncated_geometric_matches_its_channel_from_end_to_end():
    mechanism = nw.geometric(epsilon=0.4, within=(0, 20))
    rng = np.random.default_rng(11)
    secrets = np.repeat(np.arange(21), 40_000)
    table = np.zeros((21, 21))
    np.add.at(table, (secrets, mechanism.release(secrets, rng)), 1)
    expected = mechanism.channel().matrix * 40_000
    statistic = float(((table - expected) ** 2 / expected).sum())
    assert statistic <= chi2.isf(RATE, 21 * 20)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("high", [1, 2, 3, 10, 37])
@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one"])
def test_geometric_error_closed_form_equals_the_channel(epsilon, high, loss):
    mechanism = nw.geometric(epsilon=epsilon, within=(0, high))
    assert mechanism.error(loss) == pytest.approx(expected_loss(mechanism.channel(), loss), rel=1e-9)


def test_unbounded_geometric_error():
    a = math.exp(-0.25)
    mechanism = nw.geometric(epsilon=1, sensitivity=4)
    assert mechanism.error() == pytest.approx(2 * a / (1 - a * a))
    assert mechanism.error("squared") == pytest.approx(2 * a / (1 - a) ** 2)
    assert mechanism.error("zero-one") == pytest.approx(1 - (1 - a) / (1 + a))
    with pytest.raises(ParameterError, match="no loss called 'cubic'"):
        mechanism.error("cubic")


def test_geometric_sensitivity_is_in_the_metric():
    mechanism = nw.geometric(epsilon=1, sensitivity=5)
    assert mechanism.scale == 5
    assert str(mechanism.guarantee) == "epsilon = 1 per unit of 1/5 * line"
    assert mechanism.guarantee.metric.distance(0, 5) == pytest.approx(1)
    assert mechanism.map(1.0) == 1.0
    assert mechanism.certificate().verify() == "epsilon = 1 per unit of 1/5 * line"


def test_geometric_clamps_secrets_only_when_told():
    inside = nw.geometric(epsilon=8, within=(0, 10), outside="clamp").release(
        np.array([-50, 5, 99]), np.random.default_rng(1)
    )
    assert inside.min() >= 0
    assert inside.max() <= 10
    with pytest.raises(DataError, match="outside the declared range") as caught:
        nw.geometric(epsilon=8, within=(0, 10)).release(np.array([5, 99]))
    assert "99" not in str(caught.value)


@pytest.mark.parametrize("bad", [["a"], [None], [1 + 2j], [1.5], [math.inf], [2.0**63], "12"])
def test_geometric_refuses_what_is_not_a_whole_number(bad):
    with pytest.raises(DataError):
        nw.geometric(epsilon=1).release(bad)


def test_geometric_shapes_and_types():
    mechanism = nw.geometric(epsilon=1)
    assert type(mechanism.release(3)) is int
    assert mechanism.release(np.zeros((4, 5), dtype=np.int8)).shape == (4, 5)
    assert mechanism.release([1.0, 2.0]).dtype == np.int64
    assert mechanism.release(np.array([], dtype=np.int64)).shape == (0,)


def test_geometric_channel_limits():
    with pytest.raises(ParameterError, match="infinitely many outputs"):
        nw.geometric(epsilon=1).channel()
    with pytest.raises(ParameterError, match="too large"):
        nw.geometric(epsilon=1, within=(0, 10**6)).channel()
    assert 0 <= nw.geometric(epsilon=1, within=(0, 10**6)).release(5 * 10**5) <= 10**6


@pytest.mark.parametrize("size", [2, 5, 1000])
@pytest.mark.parametrize("epsilon", ["0.001", "1", "30"])
def test_response_integers_are_as_large_as_the_promise_allows(size, epsilon):
    """keep <= e^epsilon other holds, and one unit less of `other` would break it: nothing is given away."""
    mechanism = nw.randomised_response(size, epsilon=epsilon)
    low, high = exp_bounds(Fraction(epsilon), 400)
    assert mechanism.keep + (size - 1) * mechanism.other == 1 << mechanism.width
    assert mechanism.keep << 400 <= low * mechanism.other
    fewer = mechanism.other - 1
    assert ((1 << mechanism.width) - (size - 1) * fewer) << 400 > high * fewer
    assert mechanism.other.bit_length() > 40


def test_response_with_a_million_categories():
    mechanism = nw.randomised_response(10**6, epsilon=15)
    values = np.full(200_000, 123_456)
    released = mechanism.release(values, np.random.default_rng(2))
    p = float(mechanism.keep_probability)
    assert p == pytest.approx(math.exp(15) / (math.exp(15) + 10**6 - 1))
    kept = (released == 123_456).mean()
    assert abs(kept - p) <= 5.5 * math.sqrt(p * (1 - p) / len(values))
    others = released[released != 123_456]
    assert abs(others.mean() / 499_999.5 - 1) <= 5.5 / math.sqrt(3 * len(others))
    assert mechanism.certificate().verify() == "epsilon = 15 per unit of discrete"
    with pytest.raises(ParameterError, match="too large"):
        mechanism.channel()


def test_response_values_keep_their_kind():
    words = nw.randomised_response(["no", "yes"], epsilon=1)
    assert words.release("yes") in ("no", "yes")
    assert set(np.unique(words.release(np.array(["no"] * 100)))) == {"no", "yes"}
    numbers = nw.randomised_response([10, 20, 40], epsilon=1)
    assert numbers.release([10, 40, 20]).dtype == np.int64
    assert numbers.release(np.array([[10, 20], [20, 40]])).shape == (2, 2)
    for bad in (["maybe"], [1], [None], [b"yes"]):
        with pytest.raises(DataError):
            words.release(bad)
    for bad in ([11], [10.5], ["10"], [math.nan]):
        with pytest.raises(DataError):
            numbers.release(bad)


def test_response_error_is_the_probability_of_a_lie():
    mechanism = nw.randomised_response(5, epsilon=1)
    assert mechanism.error() == pytest.approx(4 / (math.e + 4))
    assert mechanism.error("absolute") == pytest.approx(expected_loss(mechanism.channel(), "absolute"))


def test_exponential_uses_less_noise_than_the_textbook():
    calibrated = nw.exponential(range(20), epsilon=1)
    from noisewright.mechanisms.categorical.exponential import exponential_channel

    assert calibrated.error() < 0.8 * expected_loss(exponential_channel(range(20), 1.0, nw.metrics.Line()), "absolute")


def test_finite_mechanism_draws_from_the_table_of_its_certificate():
    mechanism = nw.exponential([(0, 0), (0, 1), (1, 0), (3, 3)], epsilon=2, metric=nw.metrics.Euclidean())
    document = mechanism.certificate().document
    table = np.array([[int(v, 16) for v in row] for row in document["proof"]["table"]], dtype=object)
    assert (table == mechanism.certified.table).all()
    rng = np.random.default_rng(3)
    released = mechanism.release([(0, 1)] * 100_000, rng)
    counts = [sum(1 for v in released if v == y) for y in mechanism.certified.outputs]
    expected = np.array([float(mechanism.certified.probability((0, 1), y)) for y in mechanism.certified.outputs]) * 1e5
    assert float(((counts - expected) ** 2 / expected).sum()) <= chi2.isf(RATE, 3)


def test_mechanism_without_epsilon_uses_the_smallest_one():
    channel = nw.Channel([[0.6, 0.4], [0.2, 0.8]])
    assert nw.mechanism(channel).guarantee.epsilon == pytest.approx(math.log(3), rel=1e-12)
    with pytest.raises(nw.NoisewrightError, match="give an epsilon"):
        nw.mechanism(nw.Channel.constant([0, 1]))


def test_error_of_labels_without_numbers():
    mechanism = nw.mechanism(nw.Channel([[0.7, 0.3], [0.3, 0.7]], ["a", "b"], ["a", "b"]))
    assert mechanism.error("zero-one") == pytest.approx(0.3)
    with pytest.raises(ParameterError, match="use 'zero-one'"):
        mechanism.error("absolute")
