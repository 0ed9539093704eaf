"""Truncated Laplace, grids and their geometric: LAP-1 to LAP-9, facts F-21 to F-27."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta, kstest

import noisewright as nw
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.numeric.truncated_laplace import (
    ClampedLaplace,
    binned_laplace,
    continuous_loss,
    geometric_to_laplace,
    grid_geometric,
    grid_prior,
    lift,
    loss_gap,
    require_lattice,
    smooth,
    smoothing_density,
)
from noisewright.sampling import Lattice, discrete_laplace

LN16 = 4 * math.log(2)


def least_loss(prior, matrix, loss):
    """The expected loss of the best reader: loss[w, x]."""
    return float((loss @ (prior[:, None] * matrix)).min(axis=0).sum())


def bayes_risk(matrix):
    n = len(matrix)
    return least_loss(np.full(n, 1 / n), matrix, 1 - np.eye(n))


def test_06_f21_grid_geometrics():
    two = np.array([[16, 3, 1], [4, 12, 4], [1, 3, 16]]) / 20
    four = np.array([[16, 4, 2, 1, 1], [8, 8, 4, 2, 2], [4, 4, 8, 4, 4], [2, 2, 4, 8, 8], [1, 1, 2, 4, 16]]) / 24
    np.testing.assert_allclose(grid_geometric(LN16, 2).matrix, two, rtol=1e-12)
    np.testing.assert_allclose(grid_geometric(LN16, 4).matrix, four, rtol=1e-12)
    for n in (2, 4, 8):
        assert grid_geometric(LN16, n).epsilon(nw.metrics.Line()).value == pytest.approx(LN16, rel=1e-9)


def test_06_f22_bayes_risk_on_three_points():
    assert bayes_risk(grid_geometric(LN16, 2).matrix) == pytest.approx(4 / 15)
    assert bayes_risk(grid_geometric(LN16, 4).matrix[[0, 2, 4]]) == pytest.approx(1 / 3)
    # For the Laplace the best guess changes at 1/4 and 3/4, so four bins lose nothing.
    assert bayes_risk(binned_laplace(LN16, 2, 4).matrix) == pytest.approx(1 / 3)


def test_06_f23_a_lifted_coarse_geometric_is_private_but_worse():
    coarse = nw.geometric(epsilon=math.log(2), within=(0, 2)).channel().matrix[[0, 0, 1, 1, 2]]
    assert bayes_risk(grid_geometric(LN16, 4).matrix) == pytest.approx(8 / 15)
    assert bayes_risk(coarse) == pytest.approx(2 / 3)
    lifted = nw.Channel(coarse, [k / 4 for k in range(5)])
    assert lifted.epsilon(nw.metrics.Line()).value == pytest.approx(LN16, rel=1e-9)


def test_06_f24_atoms():
    left, right = ClampedLaplace(LN16).atoms(0.3)
    assert float(left) == pytest.approx(0.2176376, abs=1e-7)
    assert float(right) == pytest.approx(0.0717936, abs=1e-7)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("bins", [1, 2, 3, 4, 5, 6, 8, 12])
def test_06_f25_the_geometric_refines_to_the_binned_laplace(n, bins):
    """R = G^-1 TL is non-negative with rows summing to one, and the closed form gives it."""
    geometric, laplace = grid_geometric(LN16, n), binned_laplace(LN16, n, bins)
    witness = np.linalg.solve(geometric.matrix, laplace.matrix)
    assert witness.min() >= -1e-12
    np.testing.assert_allclose(witness.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(geometric_to_laplace(LN16, n, bins).matrix, witness, atol=1e-12)
    np.testing.assert_allclose((geometric @ geometric_to_laplace(LN16, n, bins)).matrix, laplace.matrix, atol=1e-14)


def test_06_f25_the_reverse_fails():
    """No post-processing of the 8-bin Laplace is the geometric: its Bayes risk is larger, which post-processing cannot undo."""
    assert bayes_risk(binned_laplace(LN16, 2, 8).matrix) > bayes_risk(grid_geometric(LN16, 2).matrix) + 0.05
    from scipy.optimize import linprog

    laplace, geometric = binned_laplace(LN16, 2, 8).matrix, grid_geometric(LN16, 2).matrix
    rows, bins, outputs = 3, 8, 3
    # Minimise the sum of |laplace R - geometric| over stochastic R: variables R, then positive and negative residuals.
    fit = np.kron(laplace, np.eye(outputs))
    equal = np.hstack([fit, np.eye(rows * outputs), -np.eye(rows * outputs)])
    sums = np.hstack([np.kron(np.eye(bins), np.ones(outputs)), np.zeros((bins, 2 * rows * outputs))])
    cost = np.concatenate([np.zeros(bins * outputs), np.ones(2 * rows * outputs)])
    found = linprog(cost, A_eq=np.vstack([equal, sums]), b_eq=np.concatenate([geometric.ravel(), np.ones(bins)]))
    assert found.fun == pytest.approx(0.4, abs=1e-8)


@pytest.mark.parametrize(
    ("epsilon", "loss", "expected"),
    [(1, "absolute", 0.23783), (1, "squared", 0.07799), (LN16, "absolute", 0.19217), (LN16, "squared", 0.05778)],
)
def test_06_f26_laplace_losses_for_a_uniform_prior(epsilon, loss, expected):
    found = continuous_loss(np.ones_like, epsilon=epsilon, loss=loss, cells=1000)
    assert found.value == pytest.approx(expected, abs=2e-5)
    assert found.low <= expected <= found.high
    assert found.high - found.low < 0.006


def test_06_f26_the_geometric_converges_from_below():
    limit = continuous_loss(np.ones_like, epsilon=LN16).value
    found = []
    for n in (2, 4, 8, 16, 32, 64, 128):
        x = np.arange(n + 1) / n
        loss = np.abs(x[:, None] - x[None, :])
        found.append(least_loss(grid_prior(lambda v: v, n), grid_geometric(LN16, n).matrix, loss))
    expected = [0.10000, 0.17708, 0.18794, 0.19096, 0.19188, 0.19209, 0.19215]
    np.testing.assert_allclose(found, expected, atol=6e-6)
    assert found[2] == pytest.approx(0.1879402, abs=5e-8)  # what a linear program finds best for these priors
    assert found[3] == pytest.approx(0.1909616, abs=5e-8)
    assert found == sorted(found)
    assert found[-1] < limit


def test_06_f27_a_step_loss_is_not_monotonic():
    """|w - floor_2(x)| on {0, 1/4, 1/2, 3/4}: no assignment of guesses to places makes it a function of distance."""
    x = np.arange(4) / 4
    loss = np.abs(x[:, None] - np.floor(2 * x)[None, :] / 2)

    def monotonic(theta):
        """Nearer guesses never cost more, and guesses equally near cost the same."""
        for secret in range(4):
            far = np.abs(x[list(theta)] - x[secret])
            for i, j in itertools.permutations(range(4), 2):
                if far[i] == far[j] and loss[i, secret] != loss[j, secret]:
                    return False
                if far[i] < far[j] and loss[i, secret] > loss[j, secret]:
                    return False
        return True

    assert not any(monotonic(theta) for theta in itertools.product(range(4), repeat=4))


def test_06_lap1_law_on_any_interval():
    law = ClampedLaplace(0.7, low=-2, high=5)
    for x in (-2.0, 0.4, 5.0):
        left, right = law.atoms(x)
        inside = quad(lambda y, x=x: float(law.density(y, x)), -2, 5, points=[x])[0]
        assert float(left) + float(right) + inside == pytest.approx(1, abs=1e-9)
        assert float(law.mass(1, 2, x)) == pytest.approx(
            quad(lambda y, x=x: float(law.density(y, x)), 1, 2)[0], abs=1e-9
        )
        assert float(law.mass(-2, 5, x)) == 1
        assert float(law.cdf(-2, x)) == pytest.approx(float(left))
        assert float(law.cdf(5, x)) == 1
        assert float(law.cdf(-2.1, x)) == 0
    with pytest.raises(DataError, match="outside the interval"):
        law.atoms(5.1)


def test_06_lap1_lattice_mechanism_tends_to_the_law():
    mechanism = nw.mechanisms.truncated_laplace(epsilon=4, within=(0, 1), lattice="1/1024")
    row = mechanism.channel().row(0.25)
    law = ClampedLaplace(4)
    assert row[0] == pytest.approx(float(law.atoms(0.25)[0]), rel=3e-3)
    assert row[1:513].sum() == pytest.approx(float(law.mass(0, 0.5, 0.25) - law.atoms(0.25)[0]), rel=3e-3)
    assert nw.audit(mechanism).value == pytest.approx(4, rel=1e-9)


def test_06_lap1_samples_follow_the_continuous_law():
    mechanism = nw.mechanisms.truncated_laplace(epsilon=3, within=(0, 1))
    draws = mechanism.release(np.full(20_000, 0.3), np.random.default_rng(7))
    inside = draws[(draws > 0) & (draws < 1)]
    law = ClampedLaplace(3)
    left, right = (float(a) for a in law.atoms(0.3))
    assert abs((draws == 0).mean() - left) < 5.5 * math.sqrt(left / 20_000)
    conditional = kstest(inside, lambda y: (law.cdf(y, 0.3) - left) / (1 - left - right))
    assert conditional.pvalue > 1e-6


@pytest.mark.parametrize("n", [2, 4, 8])
@pytest.mark.parametrize("epsilon", [1, LN16])
def test_06_lap2_sandwich_for_step_losses(n, epsilon):
    """e^(-epsilon/n) U[pi_n > K] <= U[pi > K] <= e^(epsilon/n) U[pi_n > K] for an n-step loss, Beta(2, 5) prior."""
    prior = grid_prior(lambda v: float(beta.cdf(v, 2, 5)), n)
    assert prior.sum() == pytest.approx(1)
    assert prior[-1] == 0
    grid = np.arange(n + 1) / n
    bins = 16 * n
    discrete = least_loss(prior, binned_laplace(epsilon, n, bins).matrix, np.abs(grid[:, None] - grid[None, :]))
    x = (np.arange(800) + 0.5) / 800
    weights = np.diff(beta.cdf(np.arange(801) / 800, 2, 5))
    edges = np.arange(bins + 1) / bins
    matrix = ClampedLaplace(epsilon).mass(edges[None, :-1], edges[None, 1:], x[:, None])
    stepped = np.abs(grid[:, None] - grid[lift(x, n)][None, :])
    continuous = least_loss(weights, matrix, stepped)
    slack = 1 + 2e-3  # the prior is cut into 800 cells
    assert math.exp(-epsilon / n) * discrete <= continuous * slack
    assert continuous <= math.exp(epsilon / n) * discrete * slack


def test_06_lap3_lifting_is_exact():
    """U_{l_n}[pi > M_n] = U_l[pi_n > M]: lifting mechanism and loss is approximating the prior."""
    n, cells = 4, 64
    x = (np.arange(cells) + 0.5) / cells
    weights = np.diff(beta.cdf(np.arange(cells + 1) / cells, 2, 3))
    grid = np.arange(n + 1) / n
    loss = (grid[:, None] - grid[None, :]) ** 2
    matrix = grid_geometric(2.0, n).matrix
    lifted = least_loss(weights, matrix[lift(x, n)], loss[:, lift(x, n)])
    assert lifted == pytest.approx(
        least_loss(grid_prior(lambda v: float(beta.cdf(v, 2, 3)), n), matrix, loss), rel=1e-12
    )
    assert lift([0.0, 0.24, 0.25, 1.0], 4).tolist() == [0, 0, 1, 3]


@given(st.floats(0.1, 8), st.integers(1, 6), st.floats(0, 1), st.integers(0, 6))
def test_06_lap6_likelihood_of_the_laplace_mixes_two_of_the_geometric(epsilon, n, y, k):
    x, h = min(k, n) / n, 1 / n
    i = min(int(y * n), n - 1)
    low = math.sinh(epsilon * ((i + 1) * h - y)) / math.sinh(epsilon * h)
    high = math.sinh(epsilon * (y - i * h)) / math.sinh(epsilon * h)
    mix = low * math.exp(-epsilon * abs(x - i * h)) + high * math.exp(-epsilon * abs(x - (i + 1) * h))
    assert mix == pytest.approx(math.exp(-epsilon * abs(y - x)), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "h"), [(1.0, 0.5), (LN16, 0.25)])
def test_06_lap6_geometric_plus_smoothing_noise_is_laplace(epsilon, h):
    total = quad(lambda u: float(smoothing_density(u, epsilon, h)), -h, h, points=[0])[0]
    assert total == pytest.approx(1, abs=1e-12)
    a = math.exp(-epsilon * h)
    k = np.arange(-200, 201)
    weights = (1 - a) / (1 + a) * a ** np.abs(k)
    for y in (-0.37, 0.0, 0.11, 1.3):
        density = float(weights @ smoothing_density(y - k * h, epsilon, h))
        assert density == pytest.approx(epsilon / 2 * math.exp(-epsilon * abs(y)), rel=1e-9)
    noise = discrete_laplace(1 / (epsilon * h), 20_000, np.random.default_rng(1)) * h
    smoothed = smooth(noise, epsilon=epsilon, step=h, rng=np.random.default_rng(2))
    assert kstest(smoothed, "laplace", args=(0, 1 / epsilon)).pvalue > 1e-6
    assert kstest(noise, "laplace", args=(0, 1 / epsilon)).pvalue < 1e-6


@settings(max_examples=60)
@given(st.floats(0.2, 12), st.integers(1, 7), st.integers(0, 10**6))
def test_06_lap7_the_gap_is_below_the_bound(epsilon, n, seed):
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(n + 1))
    steps = rng.uniform(-1, 1, (5, n)) / n  # 1-Lipschitz losses
    loss = np.concatenate([np.zeros((5, 1)), steps.cumsum(axis=1)], axis=1) + rng.uniform(0, 0.3, (5, 1))
    fine = least_loss(prior, binned_laplace(epsilon, n, 24 * n).matrix, loss)
    gap = fine - least_loss(prior, grid_geometric(epsilon, n).matrix, loss)
    # Bins can only add to the loss of the Laplace, so allow for what 24 bins a step may add.
    assert -1e-12 <= gap <= loss_gap(epsilon, n) + 0.3 * epsilon / (24 * n)
    assert loss_gap(epsilon, n) <= epsilon / (4 * n)


def test_06_lap8_own_losses_and_bad_priors():
    pinball = continuous_loss(
        np.ones_like,
        epsilon=2,
        loss=lambda w, x: np.maximum(w - x, 0) + 3 * np.maximum(x - w, 0),
        lipschitz=3,
        cells=200,
    )
    assert pinball.low < pinball.value < pinball.high
    plain = continuous_loss(np.ones_like, epsilon=2, cells=200)
    again = continuous_loss(np.ones_like, epsilon=2, loss=lambda w, x: np.abs(w - x), lipschitz=1, cells=200)
    assert again.value == pytest.approx(plain.value, rel=1e-12)
    with pytest.raises(ParameterError, match="lipschitz"):
        continuous_loss(np.ones_like, epsilon=2, loss=lambda w, x: np.abs(w - x))
    with pytest.raises(ParameterError, match="prior density"):
        continuous_loss(lambda x: x - 0.5, epsilon=2)
    with pytest.raises(ParameterError, match="whole number of steps"):
        grid_geometric(1.0, 0)


def truth(masses, places, epsilon, loss, guesses, bins=1500):
    """The least expected loss by brute force: weighted secrets, densities at many outputs, the best of many guesses."""
    law, y = ClampedLaplace(epsilon), (np.arange(bins) + 0.5) / bins
    left, right = law.atoms(places)
    joint = np.column_stack([left, law.density(y[None, :], places[:, None]) / bins, right]) * masses[:, None]
    return float((loss(guesses[:, None], places[None, :]) @ joint).min(axis=0).sum())


def test_a_spike_of_the_prior_is_seen_if_it_is_told_of_and_never_called_certain_otherwise():
    """Half of the prior within 1e-8 of 0.3703, which no grid of cells hits: by the cdf, by the density, and by brute force."""
    place, wide = 0.3703, 5e-9

    def density(x):
        return 0.5 + 0.5 / (2 * wide) * (np.abs(x - place) <= wide)

    def cdf(x):
        return 0.5 * x + 0.5 * min(max((x - place + wide) / (2 * wide), 0), 1)

    x = (np.arange(1000) + 0.5) / 1000
    masses, places = np.append(np.full(1000, 0.5 / 1000), 0.5), np.append(x, place)
    expected = truth(masses, places, 2, lambda w, x: np.abs(w - x), np.append(x, place))
    known = continuous_loss(cdf=cdf, epsilon=2, cells=500)
    told = continuous_loss(density, epsilon=2, cells=500, spikes=[place])
    missed = continuous_loss(density, epsilon=2, cells=500)
    assert known.low <= expected <= known.high
    assert told.low <= expected <= told.high
    assert told.value == pytest.approx(known.value, abs=1e-6)
    assert (known.certain, told.certain, missed.certain) == (True, False, False)
    assert missed.value > expected + 0.05  # as if there were no spike; that is why it is only an estimate


def test_a_loss_of_ones_own_is_bounded_by_what_was_said_of_it_and_by_nothing_else():
    """A guess between two middles may be perfect, and a loss may be negative: both made the bounds false."""

    def dip(w, x):  # the guess 0.12345 is right whatever the secret; 200 cells have their middles elsewhere
        return np.minimum(np.abs(w - 0.12345) * 1e4, 1) + 0 * x

    without = continuous_loss(cdf=lambda x: x, epsilon=2, loss=dip, lipschitz=0, cells=200)
    assert (pytest.approx(without.value), without.low) == (1, -math.inf)
    with_slope = continuous_loss(cdf=lambda x: x, epsilon=2, loss=dip, lipschitz=0, guess_lipschitz=1e4, cells=200)
    assert with_slope.low <= 0 <= with_slope.high
    plain = continuous_loss(cdf=lambda x: x, epsilon=2, cells=200)
    less = continuous_loss(
        cdf=lambda x: x, epsilon=2, loss=lambda w, x: np.abs(w - x) - 5, lipschitz=1, guess_lipschitz=1, cells=200
    )
    exact = continuous_loss(cdf=lambda x: x, epsilon=2, cells=2000).value
    assert less.value == pytest.approx(plain.value - 5)
    assert less.low <= exact - 5 <= less.high
    assert less.high - less.low < 0.15
    for constants in ({"lipschitz": 0.9}, {"lipschitz": 1, "guess_lipschitz": 0.9}):
        with pytest.raises(ParameterError, match=f"faster than its {list(constants)[-1]} constant"):
            continuous_loss(cdf=lambda x: x, epsilon=2, loss=lambda w, x: np.abs(w - x), cells=50, **constants)
    with pytest.raises(ParameterError, match="by its density or by its cdf"):
        continuous_loss(np.ones_like, cdf=lambda x: x, epsilon=2)
    with pytest.raises(ParameterError, match="never falls"):
        continuous_loss(cdf=lambda x: 1 - x, epsilon=2)
    with pytest.raises(ParameterError, match="a spike of the prior is a place"):
        continuous_loss(np.ones_like, epsilon=2, spikes=[2])


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.1, 12),
    st.integers(5, 60),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 1)), min_size=1, max_size=6),
    st.tuples(st.floats(0, 3), st.floats(0, 3), st.floats(-2, 2)),
)
def test_certain_bounds_hold_for_any_prior_with_jumps_and_any_loss_with_its_constants(epsilon, cells, jumps, shape):
    """A prior of weighted points, whose least loss is found by brute force over guesses and outputs far finer than the cells."""
    places, weights = (np.array(part) for part in zip(*jumps, strict=True))
    weights = weights / weights.sum()
    under, over, base = shape

    def loss(w, x):
        return under * np.maximum(x - w, 0) + over * np.maximum(w - x, 0) + base

    def cdf(x):
        return 1.0 if x >= 1 else float(weights[places <= x].sum())

    slope = max(under, over)
    found = continuous_loss(cdf=cdf, epsilon=epsilon, loss=loss, lipschitz=slope, guess_lipschitz=slope, cells=cells)
    fine = truth(weights, places, epsilon, loss, places, bins=2000)  # a pinball loss is least at one of the points
    assert found.certain
    assert found.low <= fine + 1e-5 * (1 + slope)
    assert found.high >= fine - 1e-5 * (1 + slope)
    for name, own in (("absolute", lambda w, x: np.abs(w - x)), ("squared", lambda w, x: (w - x) ** 2)):
        plain = continuous_loss(cdf=cdf, epsilon=epsilon, loss=name, cells=cells)
        guesses = places if name == "absolute" else np.linspace(0, 1, 401)
        assert plain.low - 1e-5 <= truth(weights, places, epsilon, own, guesses, bins=2000) <= plain.high + 1e-5


def test_06_lap9_noise_in_steps_needs_values_on_the_lattice():
    """Between lattice points the outputs of two values never meet, so such a release is refused, or rounded first."""
    with pytest.raises(DataError, match="whole numbers"):
        nw.geometric(epsilon=1).release([0.25, 0.5])
    lattice = Lattice.with_step("1/4")
    assert require_lattice([0.25, 0.5, -1.0], lattice).tolist() == [1, 2, -4]
    with pytest.raises(DataError, match="not on the declared lattice") as caught:
        require_lattice([0.25, 0.3], lattice)
    assert "0.3" not in str(caught.value)
    rounded = nw.mechanisms.snapped_laplace(epsilon=1, lattice=1)
    assert float(rounded.release(0.25)).is_integer()
