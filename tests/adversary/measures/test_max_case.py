"""Max-case vulnerability and d-vulnerability, with outputs too rare for a float."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from adversary_support import random_case, seeds, truncated_geometric
from hypothesis import given

from noisewright.channels.channel import Channel
from noisewright.exceptions import NoisewrightError
from noisewright.guarantees import FAILS, UNDECIDED
from noisewright.metrics.base import Discrete, Line, Metric, Table
from noisewright.qif.gains import Gain
from noisewright.qif.max_case import d_leakage, d_vulnerability, max_vulnerability, quasi_convex

close = pytest.approx


@given(seeds)
def test_05_vu5_the_worst_posterior_is_found(seed: int) -> None:
    case = random_case(seed)
    hyper = case.channel.push(case.prior)
    for measure, value in (
        (case.gain, lambda p: float((case.gain @ p).max())),
        (lambda p: 1 - min(p) ** 2, lambda p: 1 - min(p) ** 2),
        ("identity", max),
    ):
        worst = max_vulnerability(case.prior, case.channel, measure)
        assert worst.value == close(max(value(p) for p in hyper.inners.T))
        assert value(worst.posterior) == close(worst.value)
        assert worst.posterior == close(hyper.inners[:, hyper.outputs.index(worst.output)])


@given(seeds)
def test_05_vu5_post_processing_never_makes_the_worst_case_worse(seed: int) -> None:
    case = random_case(seed)
    later = case.channel @ case.after
    for measure in (case.gain, lambda p: 1 - min(p) ** 2, Discrete(), Line()):
        before = max_vulnerability(case.prior, case.channel, measure).value
        assert max_vulnerability(case.prior, later, measure).value <= before * (1 + 1e-9) + 1e-9


def v_d(belief: np.ndarray, distances: np.ndarray) -> float:
    """The definition, pair by pair."""
    largest = 0.0
    for x, p in enumerate(belief):
        for z, q in enumerate(belief):
            if x != z and p > q and distances[x, z] < math.inf:
                gap = math.inf if q == 0 else math.log(p / q)
                largest = max(largest, gap / distances[x, z] if distances[x, z] else math.inf)
    return largest


@given(seeds)
def test_05_vu6_d_vulnerability_is_its_definition(seed: int) -> None:
    case = random_case(seed)
    n = len(case.prior)
    for metric in (Discrete(), Line()):
        distances = metric.matrix(range(n))
        assert d_vulnerability(case.prior, metric) == close(v_d(case.prior, distances), abs=1e-12)
        worst = max_vulnerability(case.prior, case.channel, metric)
        posteriors = case.channel.push(case.prior).inners.T
        assert worst.value == close(max(v_d(p, distances) for p in posteriors), rel=1e-6, abs=1e-6)


@given(seeds)
def test_05_vu6_the_uniform_prior_leaks_most_and_exactly_epsilon(seed: int) -> None:
    case = random_case(seed)
    if (case.prior <= 0).any():
        with pytest.raises(NoisewrightError, match="every secret a probability above 0"):
            d_leakage(case.channel, case.prior)
        return
    for metric in (Discrete(), Line()):
        capacity = case.channel.epsilon(metric).value
        assert d_leakage(case.channel, None, metric) == close(capacity)
        assert d_leakage(case.channel, case.prior, metric) <= capacity * (1 + 1e-9) + 1e-9


def test_05_vu6_edges() -> None:
    assert d_vulnerability([0, 0.5, 0.5]) == math.inf
    assert d_vulnerability([0.5, 0.5]) == 0
    apart = Table([[0, math.inf], [math.inf, 0]])
    assert d_vulnerability([1, 0], apart) == 0  # nothing is asked of secrets infinitely far apart
    twins = Table([[0, 0], [0, 0]])
    assert d_vulnerability([0.6, 0.4], twins) == math.inf
    assert d_vulnerability([0.5, 0.5], twins) == 0


def test_an_output_counts_however_rare_it_is_unless_it_is_impossible() -> None:
    rare = Channel([[1e-300, 1 - 1e-300], [0.0, 1.0]], outputs=["rare", "usual"])
    worst = max_vulnerability(None, rare, "identity")
    assert (worst.value, worst.output) == (1, "rare")
    tiny = max_vulnerability([1e-200, 1 - 1e-200], rare, "identity")  # the joint probability underflows to 0
    assert (tiny.value, tiny.output) == (1, "rare")
    assert max_vulnerability([0, 1], rare, "identity").output == "usual"  # now it cannot occur
    never = Channel([[0, 1], [0, 1]], outputs=["never", "always"])
    assert max_vulnerability(None, never, "identity").value == 0.5


def test_probabilities_below_the_smallest_float_count() -> None:
    epsilon, n = 400.0, 4
    i = np.arange(n)
    logs = -epsilon * np.abs(i[:, None] - i).astype(float)
    channel = Channel.from_logs(logs - np.logaddexp.reduce(logs, axis=1)[:, None])
    assert (channel.matrix == 0).any()
    for metric in (Discrete(), Line(), Line() * 2):
        assert max_vulnerability(None, channel, metric).value == close(channel.epsilon(metric).value)
        assert d_leakage(channel, None, metric) == close(channel.epsilon(metric).value)
    hidden = Channel.from_logs([[-2000, 0.0], [-2003, 0.0]], outputs=["hidden", "plain"])
    worst = max_vulnerability(None, hidden, "identity")
    assert worst.output == "hidden"
    assert worst.value == close(1 / (1 + math.exp(-3)))


def test_a_worst_case_is_told() -> None:
    worst = max_vulnerability([0.5, 0.3, 0.2], truncated_geometric(3, 0.5), Gain([[1, 0, 0], [0, 1, 3]]))
    # posterior of output 2: (1/12, 1/10, 2/15) of 19/60, so the second action is worth (6 + 24) / 19
    assert worst.value == close(30 / 19)
    assert str(worst) == "1.57895 at output 2, after which secret 2 has probability 0.421053"
    assert float(worst) == worst.value
    assert worst.to_json()["posterior"] == worst.posterior.tolist()
    assert max_vulnerability(None, Channel(np.eye(2)), Discrete()).to_json()["value"] == "inf"


def test_functions_that_are_not_quasi_convex_are_caught_with_a_witness() -> None:
    def entropy(p: Any) -> float:
        return float(-(p * np.log(p)).sum())

    found = quasi_convex(entropy, 3)
    assert found.status == FAILS
    first, second, mixed = found.evidence
    assert entropy(mixed) > max(entropy(first), entropy(second))
    # the witness is a channel whose two outputs, once merged, make the worst case worse
    share = np.linalg.lstsq(np.stack([first, second], axis=1), mixed, rcond=None)[0]
    assert share.sum() == close(1)
    assert quasi_convex(lambda p: float(max(p)), 4).status == UNDECIDED
    assert quasi_convex(lambda p: math.inf if min(p) < 0.1 else max(p), 3).status == UNDECIDED


@pytest.mark.parametrize("size", [1, 2.5, True, "3"])
def test_a_size_that_is_none_is_refused(size: Any) -> None:
    with pytest.raises(NoisewrightError, match="2 or more"):
        quasi_convex(max, size)


@pytest.mark.parametrize(("samples", "seed"), [(0, 0), (1.5, 0), (10**400, 0), (10, -1), (10, "x")])
def test_samples_and_seeds_that_are_none_are_refused(samples: Any, seed: Any) -> None:
    with pytest.raises(NoisewrightError, match="must be a whole number"):
        quasi_convex(max, 3, samples=samples, seed=seed)


def test_metrics_must_fit_the_secrets() -> None:
    words = Channel(np.eye(2), inputs=["a", "b"])
    metric: Metric = Line()
    with pytest.raises(NoisewrightError):
        max_vulnerability(None, words, metric)
