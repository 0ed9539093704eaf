"""The numbered facts of information flow and metric privacy that concern channels, hypers and metrics.

The numbers are written down as fractions, the channels are built by hand.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as Fr

import numpy as np
import pytest
from core_support import random_matrix, random_metric, randomised_response, truncated_geometric

from noisewright.channels.audit import d_leakage, d_vulnerability
from noisewright.channels.channel import Channel
from noisewright.channels.hyper import Hyper
from noisewright.metrics.base import Discrete, Euclidean, Hamming, Line, Manhattan, Table
from noisewright.metrics.sensitivity import closure, induced_metric, sensitivity

close = pytest.approx

G = Channel([[Fr(2, 3), Fr(1, 6), Fr(1, 6)], [Fr(1, 3)] * 3, [Fr(1, 6), Fr(1, 6), Fr(2, 3)]])
R = Channel([[Fr(3, 5) if x == y else Fr(1, 5) for y in range(3)] for x in range(3)])
C = Channel([[Fr(3, 5), Fr(2, 5)], [Fr(1, 2), Fr(1, 2)], [Fr(1, 4), Fr(3, 4)]])
D = Channel([[0.25, 0.25, 0.5], [0.25, 0.25, 0.5], [0.5, 0.5, 0.0]])


def bayes(channel: Channel, prior: list[float] | None = None) -> float:
    """The chance of guessing the secret in one try, from the joint distribution."""
    return float(channel.push(prior).joint().max(axis=0).sum())


def test_05_f03_bayes_posterior_of_a_symmetric_channel() -> None:
    channel = Channel([[0.9, 0.1], [0.1, 0.9]])
    assert bayes(channel) == close(0.9)
    assert bayes(channel, [0.99, 0.01]) == close(0.99)
    assert channel.push([0.99, 0.01]).inners[:, 0] == close([0.891 / 0.892, 0.001 / 0.892])


def test_05_f04_identity_leaks_all_and_three_constant_channels_are_equivalent() -> None:
    assert bayes(Channel.identity(range(3))) == close(1.0)
    thirds = Channel(np.full((3, 3), 1 / 3))
    one = Channel([[1.0, 0, 0]] * 3)
    fifths = Channel(np.full((3, 5), 1 / 5))
    for channel in (thirds, one, fifths):
        assert bayes(channel) == close(1 / 3)
        assert channel.epsilon().value == 0
        assert channel.equivalent(thirds)
        assert channel.reduce().shape == (3, 1)
    assert not Channel.identity(range(3)).equivalent(thirds)


@pytest.mark.parametrize("s", [0.1, 0.3])
def test_05_f05_sigma_channel_outers_and_leakage(s: float) -> None:
    channel = Channel([[s, 0.5, 0.5 - s], [0, 0.5, 0.5], [0, 0.5, 0.5]])
    hyper = channel.push()
    assert hyper.outers == close([s / 3, 1 / 2, 1 / 2 - s / 3])
    assert bayes(channel) == close(1 / 3 + s / 3)
    assert 3 * bayes(channel) == close(1 + s)
    assert hyper.inners.max() == close(1.0)


def test_05_f06_hyper_weights_and_merging_the_last_two_columns() -> None:
    c1 = Channel([[0.5, 0, 0.5], [0, 0.5, 0.5], [0.5, 0.5, 0]])
    c2 = Channel([[0.5, 0, 0, 0.5], [0, 0.5, 0.5, 0], [0.5, 0.5, 0, 0]])
    assert c1.push().outers == close([1 / 3] * 3)
    assert c2.push().outers == close([1 / 3, 1 / 3, 1 / 6, 1 / 6])
    merge = Channel.deterministic(lambda y: min(y, 2), range(4))
    assert np.allclose((c2 @ merge).matrix, c1.matrix)
    assert not c2.equivalent(c1)


def test_05_f07_channel_of_a_hyper() -> None:
    posteriors = [[1 / 2, 0, 1 / 2], [0, 1 / 2, 1 / 2], [0, 1, 0], [1, 0, 0]]
    hyper = Hyper.from_posteriors([1 / 6, 1 / 2, 1 / 12, 1 / 4], posteriors)
    assert hyper.prior == close([1 / 3] * 3)
    c3 = hyper.channel()
    assert np.allclose(c3.matrix, [[1 / 4, 0, 0, 3 / 4], [0, 3 / 4, 1 / 4, 0], [1 / 4, 3 / 4, 0, 0]], atol=1e-15)
    assert hyper.equivalent(c3.push())


def test_05_f10_true_epsilons_of_four_channels() -> None:
    for channel, line, discrete in ((G, 2, 4), (R, 3, 3), (C, 2, 2.4)):
        assert math.exp(channel.epsilon(Line()).value) == close(line, rel=1e-13)
        assert math.exp(channel.epsilon(Discrete()).value) == close(discrete, rel=1e-13)
    assert D.epsilon(Line()).value == math.inf
    assert D.epsilon().value == math.inf
    assert D.distinguishability()[0, 1] == 0


def test_05_f11_distinguishability_and_where_it_is_tight() -> None:
    assert np.exp(G.distinguishability()) == close(np.array([[1, 2, 4], [2, 1, 2], [4, 2, 1]]))
    assert np.exp(R.distinguishability()) == close(np.array([[1, 3, 3], [3, 1, 3], [3, 3, 1]]))
    logs = np.abs(np.diff(G.logs, axis=0))
    assert logs == close(np.full((2, 3), math.log(2)))
    apart = np.exp(np.abs(G.logs[0] - G.logs[2]))
    assert apart == close([4, 1, 4])


def test_05_f12_one_prior_is_no_certificate() -> None:
    channel = Channel([[0.9, 0.1], [0.1, 0.9]])
    assert (channel.push().inners / 0.5).max() == close(1.8)
    assert math.log(1.8) == close(0.588, abs=1e-3)
    assert channel.epsilon().value == close(math.log(9))


def test_05_f13_induced_metrics() -> None:
    bits = list(itertools.product((0, 1), repeat=3))
    counted = induced_metric(sum, bits, Hamming())
    assert counted.matrix(range(4)).tolist() == Line().matrix(range(4)).tolist()
    ternary = induced_metric(sum, list(itertools.product(range(3), repeat=2)), Hamming())
    expected = [[0, 1, 1, 2, 2], [1, 0, 1, 1, 2], [1, 1, 0, 1, 1], [2, 1, 1, 0, 1], [2, 2, 1, 1, 0]]
    assert ternary.matrix(range(5)).tolist() == expected
    assert sensitivity(sum, bits, Hamming()) == 1.0


def test_05_f14_d_vulnerability() -> None:
    value = d_vulnerability(np.array([0.5, 0.25, 0.25]), Discrete(), range(3))
    assert value == close(math.log(2), rel=1e-14)
    assert d_vulnerability(np.array([1.0, 0, 0]), Discrete(), range(3)) == math.inf
    assert d_vulnerability(np.full(3, 1 / 3), Discrete(), range(3)) == 0


def test_05_f15_the_order_depends_on_the_metric() -> None:
    assert R.epsilon(Line()).value > G.epsilon(Line()).value
    assert G.epsilon(Discrete()).value > R.epsilon(Discrete()).value
    d_g, d_r = G.distinguishability(), R.distinguishability()
    assert not (d_g >= d_r).all()
    assert not (d_r >= d_g).all()


def test_05_f16_the_witness_metric_is_the_first_channels_own() -> None:
    own = Table(G.distinguishability())
    assert G.epsilon(own).value == close(1.0)
    assert R.epsilon(own).value == close(math.log2(3)) == close(1.58496, abs=1e-5)
    other = Table(R.distinguishability())
    assert G.epsilon(other).value == close(1.26186, abs=1e-5)
    assert R.epsilon(other).value == close(1.0)


def test_05_f17_a_fixed_metric_order_does_not_survive_a_query() -> None:
    query = {"a": 0, "b": 2}
    unit = Discrete()  # the two secrets are at distance 1
    assert R.after(query, "ab").epsilon(unit).value == close(math.log(3)) == close(1.0986, abs=1e-4)
    assert G.after(query, "ab").epsilon(unit).value == close(math.log(4)) == close(1.3863, abs=1e-4)


def test_05_f18_swapped_rows_have_one_metric_and_different_posteriors() -> None:
    a = Channel([[Fr(4, 5), Fr(1, 5)], [Fr(2, 5), Fr(3, 5)]])
    b = Channel(a.matrix[::-1])
    for channel in (a, b):
        assert channel.distinguishability()[0, 1] == close(math.log(3))
    hyper = a.push()
    assert hyper.outers == close([3 / 5, 2 / 5])
    assert hyper.inners[:, 0] == close([2 / 3, 1 / 3])
    assert hyper.inners[:, 1] == close([1 / 4, 3 / 4])
    assert not a.equivalent(b)


def test_05_f19_outers() -> None:
    a = Channel([[3 / 4, 0, 1 / 4, 0], [3 / 4, 1 / 4, 0, 0], [0, 1 / 4, 1 / 4, 1 / 2]])
    assert a.push().outers == close([1 / 2, 1 / 6, 1 / 6, 1 / 6])


def test_05_f22_privacy_join_and_triangle_repair() -> None:
    smaller = np.minimum(G.distinguishability(), R.distinguishability())
    join = np.exp(closure(smaller).distances)
    assert (join[0, 1], join[1, 2], join[0, 2]) == close((2, 2, 3))
    meet = np.exp(np.maximum(G.distinguishability(), R.distinguishability()))
    assert (meet[0, 1], meet[1, 2], meet[0, 2]) == close((3, 3, 4))
    repaired = closure([[0, 1, 5], [1, 0, 1], [5, 1, 0]]).distances
    assert repaired.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_05_f24_over_truncated_geometric_keeps_epsilon() -> None:
    for a, rows in (
        (Fr(1, 4), [[Fr(4, 5), Fr(1, 5)], [Fr(1, 5), Fr(4, 5)], [Fr(1, 20), Fr(19, 20)]]),
        (Fr(1, 2), [[Fr(2, 3), Fr(1, 3)], [Fr(1, 3), Fr(2, 3)], [Fr(1, 6), Fr(5, 6)]]),
    ):
        channel = Channel(rows, inputs=[1, 2, 3])
        assert channel.epsilon(Line()).value == close(-math.log(a))


def exponential(n: int, nominal: float) -> Channel:
    i = np.arange(n)
    return Channel(np.exp(-nominal / 2 * np.abs(i[:, None] - i)), normalise=True)


def test_05_f26_example_matrices_and_true_epsilons() -> None:
    three = exponential(3, math.log(4))
    assert three.matrix == close(np.array([[4 / 7, 2 / 7, 1 / 7], [1 / 4, 1 / 2, 1 / 4], [1 / 7, 2 / 7, 4 / 7]]))
    assert three.epsilon(Line()).value == close(math.log(16 / 7))
    four = exponential(4, math.log(4))
    assert four.matrix[0] == close(np.array([8, 4, 2, 1]) / 15)
    assert four.matrix[1] == close(np.array([2, 4, 2, 1]) / 9)
    assert four.epsilon(Line()).value == close(math.log(12 / 5))
    response = randomised_response(4, math.log(12 / 5))
    assert np.diag(response.matrix) == close(4 / 9)
    assert response.matrix[0, 1] == close(5 / 27)
    losses = np.exp(four.distinguishability())
    assert losses[0, 2] == close(4.8)
    assert losses[1, 2] == close(2.0)
    assert randomised_response(3, math.log(2)).matrix[0] == close([1 / 2, 1 / 4, 1 / 4])


def test_05_ch4_program_is_a_partition() -> None:
    program = Channel.deterministic(lambda x: x % 4, range(64))
    assert program.shape == (64, 4)
    assert program.reduce().push().outers == close([1 / 4] * 4)
    assert program.epsilon().value == math.inf


def test_05_vu6_the_capacity_is_reached_at_the_uniform_prior() -> None:
    rng = np.random.default_rng(505)
    for _ in range(100):
        n, m = rng.integers(2, 5, 2)
        matrix, metric = rng.dirichlet(np.ones(m), n), Line()
        epsilon = Channel(matrix).epsilon(metric).value
        assert d_leakage(matrix, np.full(n, 1 / n), metric, range(n)) == close(epsilon)
        for prior in rng.dirichlet(np.ones(n), 20):
            assert d_leakage(matrix, prior, metric, range(n)) <= epsilon * (1 + 1e-9) + 1e-12


def test_05_mp4_one_mechanism_on_every_coordinate_is_private_for_manhattan() -> None:
    line = truncated_geometric(4, 0.7)
    grid = list(itertools.product(range(4), repeat=2))
    both = Channel(np.kron(line.matrix, line.matrix), inputs=grid, outputs=grid)
    assert both.epsilon(Manhattan()).value == close(0.7)


def test_05_mp10_geo_indistinguishability_on_a_grid() -> None:
    grid = list(itertools.product(range(4), repeat=2))
    channel = Channel(np.exp(-0.3 * Euclidean().matrix(grid)), inputs=grid, outputs=grid, normalise=True)
    assert 0.3 <= channel.epsilon(Euclidean()).value <= 0.6


def test_05_me1_the_geometric_is_tight_for_every_pair() -> None:
    wide = truncated_geometric(41, 0.5)
    assert wide.distinguishability() == close(0.5 * Line().matrix(range(41)))


def test_05_me2_the_truncated_geometric_at_no_privacy_loss() -> None:
    flat = Channel([[0.5, 0, 0, 0.5]] * 4)
    assert flat.epsilon(Line()).value == 0
    assert flat.reduce().shape == (4, 1)


def test_05_me4_warner_on_one_bit() -> None:
    p = 0.5
    channel = Channel([[(1 + p) / 2, (1 - p) / 2], [(1 - p) / 2, (1 + p) / 2]])
    assert channel.epsilon().value == close(math.log(3))


def test_05_me5_true_epsilon_lies_between_half_and_all_of_the_nominal() -> None:
    for n in (2, 3, 10, 100):
        for nominal in (0.01, 1.0, 5.0):
            b = math.exp(-nominal / 2)
            sums = [(1 + b - b ** (x + 1) - b ** (n - x)) / (1 - b) for x in (0, 1)]
            assert exponential(n, nominal).epsilon(Line()).value == close(
                nominal / 2 + math.log(sums[1] / sums[0]), rel=1e-9
            )


@pytest.mark.parametrize("c", [1 / math.e, 0.5])
def test_05_me6_the_metric_realising_channel_has_the_metric_it_was_given(c: float) -> None:
    rng = np.random.default_rng(606)
    for _ in range(60):
        n = int(rng.integers(2, 6))
        distances = random_metric(rng, n)
        weights = c / n * np.exp(-distances)
        channel = Channel(np.c_[weights, 1 - weights.sum(axis=1)])
        assert channel.distinguishability() == close(distances, rel=1e-9, abs=1e-12)


def test_05_me6_a_heavier_share_of_real_outputs_fails() -> None:
    worst = 0.0
    for gap in np.linspace(0.05, 3, 40):
        distances = np.array([[0, gap, gap], [gap, 0, 2 * gap], [gap, 2 * gap, 0]])
        weights = 0.8 / 3 * np.exp(-distances)
        channel = Channel(np.c_[weights, 1 - weights.sum(axis=1)])
        worst = max(worst, channel.epsilon(Table(distances)).value)
    assert worst > 1.001


def test_05_mp5_the_exact_rule_can_be_below_the_sum() -> None:
    rng = np.random.default_rng(55)
    first, second = random_matrix(rng, 2, 3), random_matrix(rng, 2, 3)
    product = Channel(first).compose(Channel(second))
    d1, d2 = Channel(first).directed(), Channel(second).directed()
    assert product.distinguishability() == close(np.maximum(d1 + d2, (d1 + d2).T))
