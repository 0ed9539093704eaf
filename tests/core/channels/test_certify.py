"""Certificates are sound: every integer table is checked again, for all pairs, by decimals with enough digits."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from core_support import (
    Between,
    broken_promise,
    euclidean_below,
    random_matrix,
    random_metric,
    randomised_response,
    seeds,
    truncated_geometric,
    truncated_geometric_logs,
)
from hypothesis import given, settings
from scipy.optimize import linprog

from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import CertifiedChannel
from noisewright.exceptions import CertificateError, GuaranteeError, ParameterError
from noisewright.metrics.base import Discrete, Euclidean, Hamming, Line, Metric, Table
from noisewright.sampling.random_bits import RELEASE_RANDOMNESS


def on_line(places: Sequence[object]) -> Between:
    return lambda i, j: abs(Fraction(places[i]) - Fraction(places[j]))  # type: ignore[arg-type]


def in_table(distances: np.ndarray) -> Between:
    return lambda i, j: None if math.isinf(distances[i, j]) else Fraction(float(distances[i, j]))


def everywhere(i: int, j: int) -> Fraction:
    return Fraction(1)


def assert_sound(certified: CertifiedChannel, between: Between, epsilon: object) -> None:
    """Rows sum to a power of two, no entry is negative, the promise holds for all pairs, and the checker agrees."""
    table = certified.table
    assert all(sum(row) == 1 << certified.width for row in table.tolist())
    assert min(table.ravel()) >= 0
    assert all(isinstance(v, int) for v in table.ravel())
    assert broken_promise(table, between, Fraction(epsilon)) is None  # type: ignore[arg-type]
    certificate = Certificate.from_json(Certificate.of(certified).to_json())
    if len(table) < 2:
        with pytest.raises(CertificateError, match="fewer than two, between which nothing is promised"):
            certificate.verify()
    else:
        assert certificate.verify().startswith("epsilon = ")


def total_variation(certified: CertifiedChannel, channel: Channel) -> Fraction:
    one = 1 << certified.width
    return max(
        sum((abs(Fraction(t, one) - Fraction(v)) for t, v in zip(row, given, strict=True)), Fraction(0)) / 2
        for row, given in zip(certified.table.tolist(), channel.matrix.tolist(), strict=True)
    )


EPSILONS = ["1/1000000", 0.001, 0.1, math.log(2), 1, 5, 50]


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [2, 7, 20])
def test_tight_truncated_geometric(n: int, epsilon: str | float) -> None:
    channel = truncated_geometric(n, float(Fraction(epsilon)))
    certified = channel.certify(epsilon, Line())
    assert_sound(certified, on_line(range(n)), epsilon)
    assert total_variation(certified, channel) <= Fraction(certified.change) <= Fraction(1, 10**9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("n", [2, 9, 30])
def test_tight_randomised_response(n: int, epsilon: str | float) -> None:
    channel = randomised_response(n, float(Fraction(epsilon)))
    certified = channel.certify(epsilon)
    assert_sound(certified, everywhere, epsilon)
    assert certified.change <= 1e-9


@given(seeds)
@settings(max_examples=150)
def test_random_channels_of_every_kind_and_metric(seed: int) -> None:
    """At their own epsilon (as audited), where all kinds of zeros, equal rows and tiny entries meet every shape."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    places = [Fraction(int(p), int(rng.integers(1, 5))) for p in rng.integers(-20, 20, n)]
    places = [p + Fraction(i, 10**6) for i, p in enumerate(places)]
    distances = random_metric(rng, n)
    cases: list[tuple[Metric, Between]] = [
        (Discrete(), everywhere),
        (Line(), on_line(places)),
        (Table(distances, tuple(places)), in_table(distances)),
    ]
    channel = Channel(random_matrix(rng, n, m), inputs=places)
    for metric, between in cases:
        epsilon = channel.epsilon(metric).value
        if math.isinf(epsilon):
            continue
        epsilon = epsilon or 0.5
        certified = channel.certify(epsilon, metric)
        assert_sound(certified, between, epsilon)
        assert ((certified.table > 0) == (channel.matrix > 0)).all()
        # Float rows sum to one only within 2^-52; evening that out may cost as much, divided by the smallest loss allowed.
        known = [between(i, j) for i, j in itertools.combinations(range(n), 2)]
        smallest = float(min((d for d in known if d), default=Fraction(1))) * epsilon
        assert certified.change <= 1e-9 + 2.0**-50 / smallest


@given(seeds)
@settings(max_examples=60)
def test_channels_that_miss_their_epsilon_by_little_are_repaired(seed: int) -> None:
    """What a solver returns: tolerances violated, and a 1e-12 next to a 0."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    epsilon = float(rng.uniform(0.1, 3))
    matrix = truncated_geometric(n, epsilon).matrix * (1 + rng.uniform(-1, 1, (n, n)) * 1e-9)
    matrix = np.c_[matrix, np.where(rng.random(n) < 0.5, 1e-12, 0.0)]
    channel = Channel(matrix, normalise=True)
    certified = channel.certify(epsilon, Line())
    assert_sound(certified, on_line(range(n)), epsilon)
    assert certified.change <= 1e-6


def optimal_by_highs(n: int, epsilon: float) -> np.ndarray:
    """The best channel on 0..n-1 for the mean absolute error, as the solver returns it."""
    cost = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).ravel().astype(float)
    rows = []
    for x, z in itertools.permutations(range(n), 2):
        if abs(x - z) == 1:
            for y in range(n):
                row = np.zeros(n * n)
                row[x * n + y], row[z * n + y] = math.exp(-epsilon), -1.0
                rows.append(row)
    sums = np.kron(np.eye(n), np.ones(n))
    answer = linprog(
        cost, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(n), method="highs-ipm"
    )
    return np.asarray(np.clip(answer.x.reshape(n, n), 0, None))


@pytest.mark.parametrize(("n", "epsilon"), [(6, 0.5), (12, 0.1), (15, 1.0)])
def test_solver_output(n: int, epsilon: float) -> None:
    raw = optimal_by_highs(n, epsilon)
    channel = Channel(raw, normalise=True)
    certified = channel.certify(epsilon, Line())
    assert_sound(certified, on_line(range(n)), epsilon)
    assert certified.change <= 1e-6


def test_zero_columns_stay_zero_and_components_are_independent() -> None:
    far = math.inf
    metric = Table([[0, 1, far, far], [1, 0, far, far], [far, far, 0, 1], [far, far, 1, 0]])
    a = math.exp(-0.5)
    pair = np.array([[1, a], [a, 1]]) / (1 + a)
    matrix = np.zeros((4, 5))
    matrix[:2, :2], matrix[2:, 2:4] = pair, pair
    certified = Channel(matrix).certify(0.5, metric)
    assert_sound(certified, in_table(metric.distances), 0.5)
    assert ((certified.table > 0) == (matrix > 0)).all()


def test_secrets_at_distance_zero_get_the_same_row() -> None:
    metric = Table([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    a = math.exp(-1)
    matrix = np.array([[1, a], [1 - 1e-12, a + 1e-12], [a, 1]])
    channel = Channel(matrix, normalise=True)
    certified = channel.certify(1, metric)
    assert_sound(certified, in_table(metric.distances), 1)
    assert (certified.table[0] == certified.table[1]).all()


def test_secrets_at_distance_zero_whose_distances_to_others_were_rounded_differently() -> None:
    """The smaller of the two distances is the one that counts for both."""
    near = 1 - 1e-10
    metric = Table([[0, 0, 1], [0, 0, near], [1, near, 0]])
    a = math.exp(-1)
    certified = Channel([[1, a], [1, a], [a, 1]], normalise=True).certify(1, metric)
    assert_sound(certified, in_table(metric.distances), 1)


def test_places_unsorted_repeated_and_uneven() -> None:
    places = [Fraction(5, 2), 0, Fraction(1, 3), 7, 1e-3]
    weights = np.exp(-0.4 * np.array([[abs(float(p) - y) for y in range(8)] for p in places]))
    channel = Channel(weights, inputs=places, normalise=True)
    certified = channel.certify("0.8", Line())
    assert_sound(certified, on_line(places), Fraction(4, 5))
    assert certified.change <= 1e-9


def test_a_euclidean_grid_is_proved_for_the_real_distance() -> None:
    grid = list(itertools.product(range(4), repeat=2))
    channel = Channel(np.exp(-0.35 * Euclidean().matrix(grid)), inputs=grid, outputs=grid, normalise=True)
    epsilon = channel.epsilon(Euclidean()).value
    certified = channel.certify(epsilon, Euclidean())
    assert_sound(certified, lambda i, j: euclidean_below(grid[i], grid[j]), epsilon)
    assert certified.change <= 1e-9


def test_rank_deficient_channels() -> None:
    rng = np.random.default_rng(7)
    for _ in range(10):
        thin = rng.dirichlet(np.ones(2), 8) @ rng.dirichlet(np.ones(6), 2)
        channel = Channel(thin)
        epsilon = channel.epsilon().value
        assert_sound(channel.certify(epsilon), everywhere, epsilon)


@pytest.mark.parametrize("distance", [1e-300, 1e-30, 1e30, 1e300])
def test_very_small_and_very_large_distances(distance: float) -> None:
    metric = Table([[0, distance], [distance, 0]])
    epsilon = Fraction(1) / Fraction(distance)
    channel = randomised_response(2, 1.0)
    certified = channel.certify(epsilon, metric)
    assert_sound(certified, in_table(metric.distances), epsilon)
    assert certified.change <= 1e-9


@pytest.mark.parametrize("epsilon", [40, 200, 3000])
def test_the_identity_is_certifiable_when_it_is_allowed(epsilon: int) -> None:
    certified = Channel.identity(range(3)).certify(epsilon)
    assert_sound(certified, everywhere, epsilon)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (4, 1)])
@pytest.mark.parametrize("metric", [Discrete(), Line(), Euclidean()], ids=str)
def test_one_row_or_one_column(shape: tuple[int, int], metric: Metric) -> None:
    certified = Channel(np.full(shape, 1 / shape[1])).certify("1e-12", metric)
    assert_sound(certified, on_line(range(4)), Fraction(1, 10**12))
    assert certified.change <= 1e-9


def test_subnormal_entries() -> None:
    channel = Channel([[1, 5e-324], [1, 1e-323]])
    certified = channel.certify(1)
    assert_sound(certified, everywhere, 1)
    ratio = Fraction(int(certified.table[1, 1]), int(certified.table[0, 1]))
    assert float(ratio) == pytest.approx(2, rel=1e-9)


def test_tiny_entries_keep_forty_significant_bits() -> None:
    channel = truncated_geometric(101, 1.0)
    certified = channel.certify(1, Line())
    assert_sound(certified, on_line(range(101)), 1)
    one = 1 << certified.width
    for x, y in ((0, 100), (100, 0), (0, 99), (50, 0), (0, 0)):
        truth, got = Fraction(channel.matrix[x, y]), Fraction(int(certified.table[x, y]), one)
        assert abs(got - truth) <= truth / 2**40
    apart = np.abs(certified.channel().logs - channel.logs)
    assert apart.max() <= 2.0**-40


@pytest.mark.parametrize(("n", "epsilon"), [(90, 10.0), (40, 25.0)])
def test_channels_that_underflow(n: int, epsilon: float) -> None:
    channel = Channel.from_logs(truncated_geometric_logs(n, epsilon))
    assert (channel.matrix == 0).any()
    certified = channel.certify(epsilon, Line())
    table = certified.table
    assert all(sum(row) == 1 << certified.width for row in table.tolist())
    assert (table > 0).all()
    assert Certificate.of(certified).verify()
    some = sorted({0, 1, n // 2, n - 2, n - 1})
    assert broken_promise(table[some], on_line(some), Fraction(epsilon)) is None
    assert np.abs(certified.channel().logs - channel.logs).max() <= 1e-11
    assert certified.change <= 1e-9


def test_refusals_name_the_pair() -> None:
    with pytest.raises(
        GuaranteeError,
        match=r"at epsilon = 1 for the discrete metric: no finite epsilon holds, because of secrets 'a' and 'b' \(output 'a'\)",
    ):
        Channel.identity("abc").certify(1)
    channel = Channel([[0.8, 0.2], [0.3, 0.7]], inputs=["yes", "no"], outputs=["up", "down"])
    with pytest.raises(
        GuaranteeError, match=r"it needs 1\.25277, because of secrets 'no' and 'yes' \(output 'down'\); ask for that"
    ):
        channel.certify(1)
    assert_sound(channel.certify("1.252763"), everywhere, Fraction("1.252763"))


def test_max_change_is_honoured() -> None:
    channel = truncated_geometric(5, 1.0)
    with pytest.raises(GuaranteeError, match="it needs 1"):
        channel.certify("0.9999", Line())
    loose = channel.certify("0.9999", Line(), max_change=0.01)
    assert_sound(loose, on_line(range(5)), Fraction(9999, 10000))
    assert 1e-6 < loose.change <= 0.01
    assert total_variation(loose, channel) <= Fraction(loose.change)
    for bad in (0, -1, 1.5, math.nan):
        with pytest.raises(ParameterError, match="max_change must be above 0 and at most 1"):
            channel.certify(1, Line(), max_change=bad)


@pytest.mark.parametrize(
    ("epsilon", "message"),
    [
        (0, "epsilon must be greater than 0, not 0"),
        (-1, "epsilon must be greater than 0"),
        (math.inf, "epsilon must be a finite number, not inf"),
        (math.nan, "epsilon must be a finite number, not nan"),
        ("lots", "epsilon = 'lots' is not a number"),
        (None, "epsilon must be a number, not NoneType"),
    ],
)
def test_epsilons_that_are_refused(epsilon: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        randomised_response(2, 1.0).certify(epsilon)  # type: ignore[arg-type]


# Certificates as documents -------------------------------------------------------------------------------------


def test_a_certificate_gives_its_table_back() -> None:
    inputs = [(0, 0), (1, 2), (3, 4)]
    for metric in (Discrete(), Hamming(), Euclidean(), 2 * (Discrete() + Euclidean())):
        channel = Channel(
            [[4, 1, 1], [1, 4, 1], [1, 1, 4]], inputs=inputs, outputs=["a", Fraction(1, 2), True], normalise=True
        )
        certified = channel.certify(2, metric)
        back = Certificate.from_json(Certificate.of(certified, "test").to_json()).table()
        assert (back.table == certified.table).all()
        assert (back.inputs, back.outputs, back.width) == (certified.inputs, certified.outputs, certified.width)
        assert (back.epsilon, back.change, back.precision) == (certified.epsilon, certified.change, certified.precision)
        assert back.distances == certified.distances
        assert back.metric.matrix(inputs) == pytest.approx(metric.matrix(inputs), rel=1e-12)
        assert back.guarantee.epsilon == 2
        assert back.probability((0, 0), "a") == Fraction(int(certified.table[0, 0]), 1 << certified.width)


def test_simulations_say_that_they_are_not_for_release() -> None:
    certified = randomised_response(2, 1.0).certify(1)
    assert Certificate.of(certified).randomness == RELEASE_RANDOMNESS
    assert "AES-256-CTR" in RELEASE_RANDOMNESS
    simulated = Certificate.of(certified, simulated=True)
    assert "not for release" in simulated.randomness
    assert simulated.numerics == "exact"
    assert simulated.epsilon == 1


def resealed(certificate: Certificate, **changes: object) -> Certificate:
    from noisewright.certificates.checker.checker import digest

    document = {**certificate.document, **changes}
    document = {k: v for k, v in document.items() if v is not None}
    return Certificate({**document, "digest": digest(document)})


def test_certificates_that_cannot_be_read() -> None:
    certificate = Certificate.of(randomised_response(2, 1.0).certify(1))
    with pytest.raises(CertificateError, match="not JSON, or it was cut short"):
        Certificate.from_json(certificate.to_json()[:-20])
    with pytest.raises(CertificateError, match="JSON, but not a Noisewright certificate"):
        Certificate.from_json(json.dumps([1, 2]))
    with pytest.raises(CertificateError, match="not JSON"):
        Certificate.from_json(certificate.to_json()[:-1] + ', "digest": "again"}')
    for changes in (
        {"inputs": None},
        {"inputs": 3},
        {"outputs": [[1], [2]]},
        {"change": "x"},
        {"inputs": [{"fraction": "?"}]},
    ):
        with pytest.raises(
            CertificateError,
            match=r"the change of the table|its change properly|one label for each row|malformed|a label is neither",
        ):
            resealed(certificate, **changes).table()
    with pytest.raises(CertificateError, match=r"each row and each column of its table once|one label for each row"):
        resealed(certificate, inputs=[0]).table()
    law = Certificate.build(
        mechanism="laplace",
        epsilon=Fraction(1),
        metric="line",
        distances={"shape": "steps", "distance": "1"},
        proof={"kind": "law", "law": "discrete laplace", "scale": "1"},
    )
    assert law.verify() == "epsilon = 1 per unit of line"
    with pytest.raises(CertificateError, match="about a law, not about a table"):
        law.table()
    with pytest.raises(CertificateError, match="does not prove its claim: the file was changed"):
        Certificate({**certificate.document, "mechanism": "other"}).verify()
