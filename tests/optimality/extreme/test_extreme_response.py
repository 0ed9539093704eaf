"""The optimal mechanism for categories: its numbers, its guarantee, and that nothing is better."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from scipy.optimize import linprog

from noisewright.design.closed_forms import optimal_response
from noisewright.design.polytopes.enumeration import LocalPolytope
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.categorical.randomised_response import randomised_response
from noisewright.numerics.linear_algebra import solve
from noisewright.testing import check_mechanism

LN2 = "0.693147180559945309417232121458"


def best_error(m: int, n: int, q: float, delta: float) -> float:
    """The smallest largest expected number of changed entries, over all mechanisms on tables of n rows, by linear program."""
    tables = list(product(range(m), repeat=n))
    apart = np.array([[sum(a != b for a, b in zip(x, y, strict=True)) for y in tables] for x in tables])
    size = len(tables)
    near = [(i, k) for i, k in permutations(range(size), 2) if apart[i, k] == 1]
    width = size * size + len(near) * size + 1
    rows, right = [], []
    for p, (i, k) in enumerate(near):
        for y in range(size):
            row = np.zeros(width)
            row[i * size + y], row[k * size + y], row[size * size + p * size + y] = 1, -q, -1
            rows.append(row)
            right.append(0.0)
        row = np.zeros(width)
        row[size * size + p * size : size * size + (p + 1) * size] = 1
        rows.append(row)
        right.append(delta)
    for i in range(size):
        row = np.zeros(width)
        row[i * size : (i + 1) * size], row[-1] = apart[i], -1
        rows.append(row)
        right.append(0.0)
    equal = np.hstack([np.kron(np.eye(size), np.ones((1, size))), np.zeros((size, width - size * size))])
    goal = np.zeros(width)
    goal[-1] = 1
    return float(linprog(goal, np.array(rows), right, equal, np.ones(size), method="highs").fun)


def test_03_f15_numbers():
    four = optimal_response(4, epsilon=LN2, delta="0.1")
    assert abs(float(four.lie_probability) - 0.18) < 1e-12
    assert abs(float(four.keep_probability) - 0.46) < 1e-12
    assert abs(four.error() - 0.54) < 1e-12
    assert abs(float(optimal_response(5, epsilon=1, delta="0.05").lie_probability) - 0.1414052) < 5e-8


@pytest.mark.parametrize(("m", "delta", "error"), [(4, "0", 0.6), (4, "0.1", 0.54), (2, "0", 1 / 3), (2, "0.1", 0.3)])
def test_03_f5_smallest_error_of_one_value(m, delta, error):
    assert abs(best_error(m, 1, 2.0, float(delta)) - error) < 1e-9
    assert abs(optimal_response(m, epsilon=LN2, delta=delta).error() - error) < 1e-9


@pytest.mark.parametrize(
    ("m", "n", "q", "delta", "value"),
    [(2, 2, "2", "0", 2 / 3), (2, 2, "2", "0.2", 0.53333333), (2, 3, "1.5", "0.1", 1.08), (3, 2, "2", "0.1", 0.9)],
)
def test_03_f16_best_over_all_mechanisms_on_tables(m, n, q, delta, value):
    assert abs(best_error(m, n, float(q), float(delta)) - value) < 1e-7
    ours = optimal_response(m, epsilon=math.log(float(q)), delta=delta)
    assert abs(n * ours.error() - value) < 1e-7


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("delta", ["1/10", "3/5"])
def test_03_cat5_maximises_the_trace_exactly(m, delta):
    d, q = Fraction(delta), Fraction(3)
    best = LocalPolytope(m, factor=q, delta=d).best([[Fraction(i != j, m) for j in range(m)] for i in range(m)])
    assert best.status == "holds (exact)"
    assert best.value == (m - 1) * (1 - d) / (q + m - 1)


@pytest.mark.parametrize("m", [2, 3, 5])
def test_03_cat5_is_the_only_minimiser(m):
    """The inequalities that the bound adds up, all with equality, and equal errors determine the channel."""
    q, d = Fraction(5, 2), Fraction(1, 7)
    rows, right = [], []
    for i in range(m):
        rows.append([int(n // m == i) for n in range(m * m)])
        right.append(Fraction(1))
    for i, k in permutations(range(m), 2):
        row = [Fraction(0)] * (m * m)
        row[i * m + i], row[k * m + i] = Fraction(1), -q
        rows.append(row)
        right.append(d)
    for i in range(m - 1):
        rows.append([int(n == i * m + i) - int(n == (i + 1) * (m + 1)) for n in range(m * m)])
        right.append(Fraction(0))
    lie = (1 - d) / (q + m - 1)
    assert solve(rows, right) == [q * lie + d if i == j else lie for i in range(m) for j in range(m)]


@pytest.mark.parametrize(
    ("m", "epsilon", "delta"),
    [(2, "1", "0"), (3, "1/100", "0"), (4, "2", "1/10"), (7, "0", "1e-30"), (5, "300", "1/2"), (3, "1", "0.999999")],
)
def test_the_guarantee_holds_in_integers_and_the_gap_is_rounding(m, epsilon, delta):
    ours = optimal_response(m, epsilon=epsilon, delta=delta)
    total = 1 << ours.width
    assert ours.keep + (m - 1) * ours.other == total
    low = sum(
        (Fraction(epsilon) ** n / math.factorial(n) for n in range(1500 if epsilon == "300" else 60)), Fraction(0)
    )
    assert ours.keep <= low * ours.other + ours.delta * total  # a cut of the series is below e^epsilon
    assert 0 <= ours.gap < Fraction(m, 1 << 60)
    assert ours.keep > ours.other


def test_the_float_channel_needs_the_promised_delta():
    channel = optimal_response(4, epsilon="0.5", delta="0.2").channel()
    assert abs(channel.delta("0.5") - 0.2) < 1e-12


def test_it_is_a_mixture_of_the_truth_and_plain_randomised_response():
    plain, mixed = randomised_response(6, epsilon=1), optimal_response(6, epsilon=1, delta="1/4")
    assert abs(Fraction(1, 4) + Fraction(3, 4) * plain.keep_probability - mixed.keep_probability) < Fraction(1, 1 << 60)


def test_conformance_without_delta():
    report = check_mechanism(
        optimal_response(["a", "b", "c"], epsilon=1),
        secrets=["a", "b", "c"],
        unknown=["wxyz"],
        refused=[lambda: optimal_response(1, epsilon=1), lambda: optimal_response(3, epsilon=-1)],
    )
    assert {"guarantee", "certificate", "law", "pickling", "forking"} <= set(report.passed)


def test_with_a_delta_draws_follow_the_law():
    ours = optimal_response(3, epsilon=1, delta="0.3")
    drawn = ours.release(np.full(200_000, 1), np.random.default_rng(7))
    share = float((drawn == 1).mean())
    keep = float(ours.keep_probability)
    assert abs(share - keep) < 6 * math.sqrt(keep * (1 - keep) / 200_000)  # one failure in 10^8 seeds
    assert pickle.loads(pickle.dumps(ours)) == ours
    assert ours.error("absolute") > ours.error()


def test_the_certificate_with_a_delta_proves_both_numbers():
    ours = optimal_response(4, epsilon=LN2, delta="0.1")
    assert ours.certificate().verify() == "epsilon = 0.693148 per unit of discrete, delta = 0.1"
    assert optimal_response(4, epsilon=2).certificate().verify() == "epsilon = 2 per unit of discrete"


@pytest.mark.parametrize("delta", [0, "0.05", "1e-9"])
def test_it_conforms(delta):
    ours = optimal_response(["a", "b", "c"], epsilon=1, delta=delta)
    assert "law" in check_mechanism(ours, secrets=["a", "b", "c"], unknown=["d"]).passed


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: optimal_response(1, epsilon=1), "at least 2 categories, not 1"),
        (lambda: optimal_response(["a", "a"], epsilon=1), "must be different from each other"),
        (lambda: optimal_response(3, epsilon=-1), "epsilon must be from 0"),
        (lambda: optimal_response(3, epsilon=20_000), "epsilon must be from 0"),
        (lambda: optimal_response(3, epsilon=1, delta=1), "promises nothing"),
        (lambda: optimal_response(3, epsilon=1, delta=-0.1), "delta must be from 0"),
        (lambda: optimal_response(3, epsilon=0), "both 0"),
        (lambda: optimal_response(3, epsilon=float("nan")), "finite number"),
        (lambda: optimal_response(3, epsilon=1).error("cubic"), "no loss called"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(call, words):
    with pytest.raises(ParameterError, match=words) as caught:
        call()
    assert str(caught.value).endswith(".")


def test_unknown_values_are_refused_without_showing_them():
    with pytest.raises(DataError) as caught:
        optimal_response(["a", "b"], epsilon=1).release(["a", "secret"])
    assert "secret" not in str(caught.value).replace("secrets", "")
