"""The over-truncated geometric (ME-3, F-24, F-25) and the realised epsilon of the exponential mechanism (BG-2)."""

import itertools
import math

import numpy as np
import pytest

import noisewright as nw
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.categorical.exponential import exponential_channel


def over_truncated(a, inputs, outputs):
    return nw.geometric(epsilon=-math.log(a), within=outputs, outside="keep").channel(inputs)


def test_05_f24_matrices():
    quarter, half = (over_truncated(a, [1, 2, 3], (1, 2)) for a in (1 / 4, 1 / 2))
    np.testing.assert_allclose(quarter.matrix, [[4 / 5, 1 / 5], [1 / 5, 4 / 5], [1 / 20, 19 / 20]], rtol=1e-13)
    np.testing.assert_allclose(half.matrix, [[2 / 3, 1 / 3], [1 / 3, 2 / 3], [1 / 6, 5 / 6]], rtol=1e-13)


def test_05_f24_a_smaller_epsilon_can_tell_an_adversary_more():
    """Gain w1 = (1/5, 0, 4/5), w2 = (0, 1, 0), uniform prior: 1/3 for a = 1/4 (as before looking), 16/45 for a = 1/2."""
    gain = np.array([[1 / 5, 0, 4 / 5], [0, 1, 0]])
    values = [float((gain @ over_truncated(a, [1, 2, 3], (1, 2)).matrix / 3).max(axis=0).sum()) for a in (1 / 4, 1 / 2)]
    assert (gain.sum(axis=1) / 3).max() == pytest.approx(1 / 3)
    assert values == pytest.approx([1 / 3, 16 / 45])
    assert values[1] - values[0] == pytest.approx(1 / 45)


@pytest.mark.parametrize("outputs", [(0, 1), (1, 2), (2, 2), (-3, 1), (1, 9)])
@pytest.mark.parametrize("n", [2, 3, 5])
def test_05_f25_privacy_order_always_holds(n, outputs):
    """Halving epsilon halves what every pair may lose; the bound epsilon |x - x'| holds for all inputs."""
    for a, b in itertools.pairwise((0.1, 0.25, 0.5, 0.8)):
        strong, weak = (over_truncated(t, range(n), outputs) for t in (b, a))
        assert nw.audit(weak, nw.metrics.Line()).value <= -math.log(a) * (1 + 1e-9)
        assert (strong.distinguishability() <= weak.distinguishability() + 1e-12).all()


def test_05_f25_one_output_tells_nothing_and_three_inputs_can_be_rank_deficient():
    assert nw.audit(over_truncated(0.3, range(5), (2, 2))).value == 0
    assert np.linalg.matrix_rank(over_truncated(1 / 4, range(3), (0, 1)).matrix) == 2


def test_05_me3_columns_are_the_tails_of_the_noise():
    """P(Z <= k) = 1 - a^(k+1)/(1+a) for k >= 0 and a^-k/(1+a) below."""
    a, low, high = 0.6, 2, 5
    channel = over_truncated(a, range(9), (low, high))

    def below(k):
        return 1 - a ** (k + 1) / (1 + a) if k >= 0 else a**-k / (1 + a)

    np.testing.assert_allclose(channel.matrix[:, 0], [below(low - x) for x in range(9)], rtol=1e-12)
    np.testing.assert_allclose(channel.matrix[:, -1], [below(x - high) for x in range(9)], rtol=1e-12)
    np.testing.assert_allclose(channel.matrix.sum(axis=1), 1, rtol=1e-12)


def test_draws_of_secrets_beyond_the_range_follow_the_channel():
    mechanism = nw.geometric(epsilon="0.5", within=(1, 4), outside="keep")
    row = mechanism.channel([7]).matrix[0]
    draws = mechanism.release(np.full(40_000, 7), np.random.default_rng(8))
    counts = np.bincount(draws, minlength=5)[1:]
    spread = np.sqrt(40_000 * row * (1 - row))
    assert (np.abs(counts - 40_000 * row) <= 5.5 * spread + 1).all()  # fails with probability below 1e-6
    assert mechanism.certificate().verify() == "epsilon = 0.5 per unit of line"


def test_only_keep_takes_other_secrets():
    with pytest.raises(ParameterError, match="outside='keep'"):
        nw.geometric(epsilon=1, within=(0, 3)).channel(range(9))
    with pytest.raises(DataError):
        nw.geometric(epsilon=1, within=(0, 3)).release([4])
    with pytest.raises(ParameterError, match="low before high"):
        nw.geometric(epsilon=1, within=(3, 3))
    with pytest.raises(ParameterError, match="two whole numbers"):
        nw.geometric(epsilon=1, within=5)


def test_03_bg2_hamming_utility_realises_its_exponent_exactly():
    """weights e^(-k h), k = 0.7, on words of length 3 over 3 letters: realised 0.7 a letter, the factor 2 is not needed."""
    words = list(itertools.product("abc", repeat=3))
    channel = exponential_channel(words, 2 * 0.7, nw.metrics.Hamming())
    found = channel.epsilon(nw.metrics.Hamming())
    assert found.value == pytest.approx(0.7, abs=1e-12)
    neighbours = nw.metrics.Hamming().matrix(words) == 1
    assert channel.distinguishability()[neighbours].max() == pytest.approx(0.7, abs=1e-12)
