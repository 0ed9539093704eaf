"""Private naive Bayes: sensitivities, budget, scikit-learn manners, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noisewright as nw
from noisewright.claims.figures import float_up
from noisewright.learning import naive_bayes
from noisewright.learning.naive_bayes import STD_MECHANISMS, PrivateGaussianNB
from noisewright.mechanisms.composite import neighbour_loss, rounds_at_random
from noisewright.mechanisms.numeric.geometric import GeometricMechanism
from noisewright.metrics.composite import AddRemove

BOUNDS = (0.0, 10.0)


def table(records=600, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(records) % 3
    centres = np.array([[2, 5, 8], [5, 2, 5], [8, 8, 2]], dtype=float)
    return rng.normal(centres[y], 1.0).clip(*BOUNDS), np.array(["a", "b", "c"])[y]


def model(**given):
    return PrivateGaussianNB(**{"epsilon": 5, "bounds": BOUNDS, "classes": ["a", "b", "c"], **given})


# -- sensitivities ----------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1), min_size=0, max_size=12), st.floats(0, 1), st.integers(1, 14))
def test_adding_a_record_moves_no_parameter_by_more_than_its_sensitivity(records, extra, size):
    """Whatever the noisy class size m: fewer records are filled up with middles, more are averaged over more."""
    before = np.array(records, dtype=np.float64).reshape(-1, 1)
    after = np.vstack([before, [[extra]]])
    (mean, std), (mean_after, std_after) = (naive_bayes._moments(rows, size) for rows in (before, after))
    assert abs(mean_after[0] - mean[0]) <= float(naive_bayes._mean_sensitivity(size))
    assert abs(std_after[0] - std[0]) <= float(naive_bayes._std_sensitivity(size))
    # The same in units of the sensitivity, which is what gets the noise of sensitivity 1.
    for now, then, unit in (
        (mean_after, mean, naive_bayes._mean_sensitivity),
        (std_after, std, naive_bayes._std_sensitivity),
    ):
        by = float_up(unit(size))
        assert abs(Fraction(float(now[0] / by)) - Fraction(float(then[0] / by))) <= 1


@pytest.mark.parametrize("n", [1, 3, 6, 10])
def test_the_sensitivities_are_attained(n):
    """n equal records and one at the other end: mean 1/(n+1), deviation sqrt(n)/(n+1)."""
    before, after = np.zeros((n, 1)), np.vstack([np.zeros((n, 1)), [[1.0]]])
    moments = [naive_bayes._moments(rows, n) for rows in (before, after)]
    assert moments[1][0][0] - moments[0][0][0] == pytest.approx(1 / (n + 1), rel=1e-12)
    assert moments[1][1][0] - moments[0][1][0] == pytest.approx(math.sqrt(n) / (n + 1), rel=1e-12)
    assert naive_bayes._std_sensitivity(n) >= Fraction(math.sqrt(n) / (n + 1))
    assert float(naive_bayes._std_sensitivity(n)) == pytest.approx(math.sqrt(n) / (n + 1), rel=1e-9)


@pytest.mark.parametrize("n", [3, 6, 10])
def test_01_population_deviation_replacing_one(n):
    """Replace-one sensitivity (u-l) sqrt(N-1)/N: attained, and not exceeded by random search."""
    bound = math.sqrt(n - 1) / n
    assert np.std(np.r_[1.0, np.zeros(n - 1)]) == pytest.approx(bound)
    rng = np.random.default_rng(n)
    first = rng.choice([0.0, 1.0, 0.5, 0.2], (5000, n))
    second = first.copy()
    second[:, 0] = rng.choice([0.0, 1.0], 5000)
    assert np.abs(first.std(axis=1) - second.std(axis=1)).max() <= bound + 1e-12


def test_float_moments_are_accurate_enough_for_the_slack():
    rng = np.random.default_rng(1)
    rows = rng.random((200_000, 3))
    means, stds = naive_bayes._moments(rows, 1)
    for k in range(3):
        exact = math.fsum(rows[:, k]) / len(rows)
        assert abs(means[k] - exact) < float(naive_bayes.SLACK) / 8
        spread = math.sqrt(math.fsum((rows[:, k] - exact) ** 2) / len(rows))
        assert abs(stds[k] - spread) < float(naive_bayes.SLACK) / 8


# -- budget -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["classes", "all"])
@pytest.mark.parametrize("weights", [None, {"count": 1, "mean": 2, "std": "1/2"}])
def test_released_epsilons_add_up_to_the_promise(split, weights):
    X, y = table()
    made = model(epsilon="7/3", split=split, weights=weights).fit(X, y, np.random.default_rng(0))
    assert len(made._mechanisms) == 9  # count, means, deviations of three classes
    spent = []
    for k in range(3):
        counting, averaging, spreading = made._mechanisms[3 * k : 3 * k + 3]
        assert isinstance(counting, GeometricMechanism)
        spent.append(counting.epsilon + 3 * averaging.epsilon + 3 * spreading.epsilon)
    total = max(spent) if split == "classes" else sum(spent)
    assert total == Fraction(7, 3)
    assert made.guarantee.epsilon == float_up(Fraction(7, 3))
    assert made.guarantee.scope == "adjacent"
    assert str(made.guarantee.metric) == ("records added or removed" if split == "classes" else "hamming")
    if weights is None:  # the even split of the published recipe: eps / (2KA + K)
        assert made._mechanisms[0].epsilon == Fraction(7, 3) / (7 if split == "classes" else 21)


def test_everything_released_is_certified():
    X, y = table()
    made = model(epsilon=3).fit(X, y)
    for certificate in made.certificates():
        assert certificate.numerics == "exact"
        assert certificate.verify().startswith("epsilon = 0.4285")
        assert "not for release" not in certificate.randomness
    simulated = model(epsilon=3).fit(X, y, np.random.default_rng(0)).certificates()
    assert all("not for release" in certificate.randomness for certificate in simulated)


@pytest.mark.parametrize("kind", STD_MECHANISMS)
@pytest.mark.parametrize("epsilon", ["1/7", "1/150"])
def test_rounding_to_a_lattice_costs_no_more_than_the_share(kind, epsilon):
    """At a small epsilon the noise is wide and its lattice coarse; it must not become coarser than the sensitivity.

    Asymmetric noise rounds its input at random, and promises its epsilon between numbers as they are.
    """
    made = naive_bayes._named_std(kind, Fraction(epsilon))
    assert neighbour_loss(made) == Fraction(epsilon)
    assert rounds_at_random(made) == (kind == "asymmetric")
    if rounds_at_random(made):
        assert made.map(1.0) <= float_up(Fraction(epsilon))
        return
    apart = np.abs(made.lattice.indices(np.linspace(0, 3, 301)) - made.lattice.indices(np.linspace(1, 4, 301)))
    assert made.map(1.0) <= float_up(Fraction(epsilon))
    assert apart.max() * made.lattice.step <= max(1, made.lattice.step if made.guarantee.scope == "adjacent" else 0)


def test_asymmetric_noise_at_a_small_budget():
    """Wine-shaped data, 3 classes and 13 attributes: each deviation gets 0.1/81, on a lattice coarser than the sensitivity."""
    rng = np.random.default_rng(4)
    X, y = rng.random((178, 13)), np.arange(178) % 3
    given = {"epsilon": "0.1", "bounds": (0, 1), "classes": [0, 1, 2], "split": "all"}
    made = PrivateGaussianNB(**given, std_mechanism="asymmetric").fit(X, y, rng)
    spreading = made._mechanisms[2]
    assert spreading.epsilon == Fraction(1, 810)
    assert spreading.lattice.step > 1
    assert made.certificates()[2].verify().startswith("epsilon = 0.00123457 per unit of line")
    assert made.guarantee.epsilon == float_up(Fraction(1, 10))


WEAK = {
    "delta": (
        lambda epsilon, sensitivity: nw.mechanisms.gaussian(epsilon=1, sensitivity=sensitivity, delta="0.2"),
        "a delta|up to a",
    ),
    "epsilon": (lambda epsilon, sensitivity: nw.laplace(epsilon=100), "promises epsilon = 100 between numbers one"),
    "twice": (
        lambda epsilon, sensitivity: nw.laplace(epsilon=2 * epsilon, sensitivity=sensitivity),
        "its share of the",
    ),
    "sensitivity": (lambda epsilon, sensitivity: nw.laplace(epsilon=epsilon, sensitivity="0.99"), "its share of the"),
    "lattice": (
        lambda epsilon, sensitivity: nw.laplace(epsilon=epsilon, sensitivity=sensitivity, scope="metric", lattice=4),
        "its share of the",
    ),
    "a hair": (
        lambda epsilon, sensitivity: nw.laplace(epsilon=epsilon * (1 + Fraction(1, 10**15)), sensitivity=sensitivity),
        "its share of the",
    ),
}


@pytest.mark.parametrize("weak", WEAK)
def test_a_mechanism_that_promises_less_than_its_share_is_refused(weak):
    """Before anything is drawn, and when the guarantee is asked for."""
    X, y = table()
    constructor, says = WEAK[weak]
    made = model(std_mechanism=constructor)
    with pytest.raises(nw.exceptions.GuaranteeError, match=says):
        _ = made.guarantee
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    with pytest.raises(nw.exceptions.GuaranteeError, match=says):
        made.fit(X, y, rng)
    assert rng.bit_generator.state == before
    assert not hasattr(made, "theta_")
    assert not repr(made).startswith("UNSAFE")


def test_a_promise_for_another_metric_is_refused():
    made = model(std_mechanism=lambda epsilon, sensitivity: nw.mechanisms.product_laplace(epsilon=epsilon, dimension=3))
    with pytest.raises(nw.exceptions.GuaranteeError, match="a promise for the metric manhattan"):
        _ = made.guarantee


@pytest.mark.parametrize(
    "constructor",
    [
        nw.laplace,
        lambda epsilon, sensitivity: nw.laplace(epsilon=epsilon / 3, sensitivity=2 * sensitivity, within=(0, None)),
        lambda epsilon, sensitivity: nw.mechanisms.snapped_laplace(
            epsilon=epsilon, sensitivity=sensitivity, within=(0, None)
        ),
        lambda epsilon, sensitivity: nw.laplace(
            epsilon=epsilon, sensitivity=sensitivity, within=(0, None), scope="metric"
        ),
    ],
)
@pytest.mark.parametrize("epsilon", ["7/3", "1/10"])
def test_a_mechanism_that_promises_its_share_is_accepted(constructor, epsilon):
    X, y = table()
    made = model(std_mechanism=constructor, epsilon=epsilon)
    assert made.guarantee == made.fit(X, y, np.random.default_rng(0)).guarantee
    assert made.guarantee.epsilon == float_up(Fraction(epsilon))


def test_the_guarantee_is_that_of_what_was_fitted():
    X, y = table()
    made = model(epsilon=5).fit(X, y, np.random.default_rng(0)).set_params(epsilon="1/2")
    assert made.guarantee.epsilon == 5
    assert made.fit(X, y, np.random.default_rng(0)).guarantee.epsilon == 0.5


def test_add_remove_metric():
    metric = AddRemove()
    assert metric.matrix([("a", "b"), ("a", "b", "c"), ("b", "b")]).tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]


# -- behaviour --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STD_MECHANISMS)
def test_a_large_budget_recovers_the_plain_classifier(kind):
    from sklearn.naive_bayes import GaussianNB

    X, y = table(3000)
    made = model(epsilon=1000, std_mechanism=kind).fit(X, y, np.random.default_rng(3))
    plain = GaussianNB().fit(X, y)
    np.testing.assert_allclose(made.theta_, plain.theta_, atol=0.02)
    np.testing.assert_allclose(made.std_, np.sqrt(plain.var_), atol=0.05)
    np.testing.assert_allclose(made.class_prior_, plain.class_prior_, atol=0.01)
    assert np.mean(made.predict(X) == plain.predict(X)) > 0.98
    assert made.score(X, y) == pytest.approx(plain.score(X, y), abs=0.02)


@pytest.mark.parametrize("kind", STD_MECHANISMS)
def test_noise_is_where_it_should_be(kind):
    X, y = table()
    fits = [model(epsilon=1, std_mechanism=kind, std_floor=0.02).fit(X, y) for _ in range(2)]
    assert len({fit.theta_.tobytes() for fit in fits}) == 2  # fresh noise without a seed
    for fit in fits:
        assert (fit.std_ >= 0.02 * 10).all()
        assert ((fit.theta_ >= 0) & (fit.theta_ <= 10)).all()
        assert (fit.counts_ >= 1).all()
        assert fit.class_prior_.sum() == pytest.approx(1)
        proba = fit.predict_proba(X)
        np.testing.assert_allclose(proba.sum(axis=1), 1)
        assert (fit.classes_[proba.argmax(axis=1)] == fit.predict(X)).all()


def test_one_seed_gives_one_classifier():
    X, y = table()
    fits = [model().fit(X, y, np.random.default_rng(9)) for _ in range(2)]
    assert (fits[0].std_ == fits[1].std_).all()
    assert (fits[0].theta_ == fits[1].theta_).all()


def test_scikit_learn_can_clone_it():
    from sklearn.base import clone

    made = model(std_mechanism="snapped", split="all")
    copy = clone(made)
    assert copy is not made
    assert copy.get_params() == made.get_params()
    assert copy.set_params(epsilon=2).epsilon == 2
    with pytest.raises(nw.NoisewrightError, match="no parameter 'depth'"):
        copy.set_params(depth=3)
    with pytest.raises(nw.NoisewrightError, match="epsilon must be greater than 0"):
        copy.set_params(epsilon=-2)


def test_an_unsafe_mechanism_is_labelled_and_promises_nothing():
    X, y = table()
    made = model(std_mechanism=nw.unsafe.variable_scale_laplace).fit(X, y, np.random.default_rng(0))
    assert repr(made).startswith("UNSAFE PrivateGaussianNB")
    assert not repr(model()).startswith("UNSAFE")
    with pytest.raises(nw.NoisewrightError, match="UNSAFE"):
        _ = made.guarantee
    with pytest.raises(nw.NoisewrightError, match="UNSAFE"):
        made.certificates()
    assert made.score(X, y) > 0.5


def test_values_on_the_bounds_are_inside_whatever_floats_do():
    """low + (high - low) need not be high in floats; the end itself must still be accepted."""
    rng = np.random.default_rng(0)
    ends = np.sort(rng.normal(size=(2, 200)) * 10.0 ** rng.integers(-3, 4, 200), axis=0)
    assert (ends[0] + (ends[1] - ends[0]) != ends[1]).any()
    made = PrivateGaussianNB(epsilon=9, bounds=ends.T, classes=[0, 1]).fit(ends, [0, 1], rng)
    assert ((made.theta_ >= ends[0] - 1e-9) & (made.theta_ <= ends[1] + 1e-9)).all()


def test_an_empty_class_and_an_empty_table_still_work():
    """Class sizes are private: a class without records must not show in an error."""
    X, y = table()
    only = y != "c"
    made = model(epsilon=50).fit(X[only], y[only], np.random.default_rng(1))
    assert made.counts_[2] <= 5
    assert model().fit(np.empty((0, 3)), np.array([], dtype=str)).theta_.shape == (3, 3)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"epsilon": 0}, "epsilon must be greater than 0"),
        ({"bounds": (1, 1)}, "bounds must be public pairs"),
        ({"bounds": (0, math.inf)}, "bounds must be public pairs"),
        ({"bounds": "wide"}, "bounds must be public pairs"),
        ({"classes": ["a"]}, "two or more different labels"),
        ({"classes": ["a", "a"]}, "two or more different labels"),
        ({"std_mechanism": "gaussian"}, "no std_mechanism 'gaussian'"),
        ({"std_floor": 0}, "std_floor is a share"),
        ({"split": "even"}, "split must be 'classes' or 'all', not 'even'"),
        ({"outside": "drop"}, "outside must be 'refuse' or 'clamp', not 'drop'"),
        ({"weights": {"mean": 1}}, "weights must give a number for each"),
        ({"weights": {"mean": 1, "std": -1, "count": 1}}, "weight of std"),
    ],
)
def test_bad_parameters_are_refused_at_construction(given, says):
    with pytest.raises(nw.NoisewrightError, match=says):
        model(**given)


def test_bad_data_is_refused_without_showing_it():
    X, y = table()
    odd = X.copy()
    odd[3, 1] = 77.5
    missing = X.copy()
    missing[0, 0] = math.nan
    for bad_X, bad_y, says in (
        (odd, y, "outside the declared bounds"),
        (missing, y, "finite numbers"),
        (X[0], y, "one row a record"),
        (X, y[:-1], "one row for each record"),
        (X, np.where(y == "c", "d", y), "not one of the declared"),
        (X[:, :2].astype(str), y, "table of finite numbers"),
    ):
        with pytest.raises(nw.NoisewrightError, match=says) as problem:
            model().fit(bad_X, bad_y)
        assert "77.5" not in str(problem.value)
    assert model(outside="clamp").fit(odd, y).theta_.shape == (3, 3)
    with pytest.raises(nw.NoisewrightError, match="bounds has 2 pairs for 3 attributes"):
        model(bounds=[BOUNDS, BOUNDS]).fit(X, y)
    with pytest.raises(nw.NoisewrightError, match="not fitted yet"):
        model().predict(X)
    with pytest.raises(nw.NoisewrightError, match="fitted on 3 attributes"):
        model().fit(X, y).predict(X[:, :2])
