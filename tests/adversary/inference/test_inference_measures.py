"""Privacy loss, accuracy, and where the noise goes."""

from __future__ import annotations

import numpy as np
import pytest
from adversary_support import seeds
from hypothesis import given

import noisewright as nw
from noisewright.attacks.correlation import Correlation, dalenius_vulnerability
from noisewright.attacks.inferential_privacy import (
    accuracy,
    focus,
    guess,
    guess_through,
    inference,
    insensitive,
    placements,
    privacy_loss,
    secrecy_focussed,
    utility_focussed,
)
from noisewright.channels.channel import Channel
from noisewright.exceptions import ParameterError
from noisewright.guarantees import EXACT, FAILS, WITHIN
from noisewright.qif.refinement.average_case import average_refined


@given(seeds)
def test_measures_are_those_of_a_plain_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 7, 2)
    channel = Channel(rng.dirichlet(np.full(m, 0.5), n), normalise=True)
    prior = rng.dirichlet(np.ones(n))
    block = {x: int(b) for x, b in zip(range(n), rng.integers(0, 3, n), strict=True)}
    before = max(sum(prior[x] for x in block if block[x] == b) for b in range(3))
    after = 0.0
    for y in range(m):
        after += max(sum(prior[x] * channel.matrix[x, y] for x in block if block[x] == b) for b in range(3))
    assert privacy_loss(channel, block, prior) == pytest.approx(max(1.0, after / before), abs=1e-12)
    assert accuracy(channel, block, prior) == pytest.approx(after, abs=1e-12)


def test_the_best_guesses_are_named() -> None:
    channel = Channel([[0.9, 0.1, 0], [0.2, 0.8, 0], [0.2, 0.8, 0]], ["a", "b", "c"], ["low", "high", "never"])
    found = guess(channel, {"a": "A", "b": "B", "c": "B"}, [0.5, 0.25, 0.25])
    assert (found.before, found.first) == (0.5, "A")
    assert dict(found.by_output) == {"low": "A", "high": "B"}
    assert found.leaks
    assert not guess(Channel.constant("abc"), lambda x: x == "a").leaks


def test_numbers_in_words_and_as_data() -> None:
    told = inference(Channel.identity([0, 1, 2, 3]), lambda x: x > 1, lambda x: x % 2)
    assert "0.5 before the release, 1 after it (2 times as often)" in str(told)
    assert told.to_json() == {
        "privacy_loss": 2.0,
        "accuracy": 1.0,
        "secret": {"before": 0.5, "after": 1.0},
        "useful": {"before": 0.5, "after": 1.0},
    }
    silent = inference(Channel.constant([0, 1, 2, 3]), lambda x: x > 1, lambda x: x % 2)
    assert "the release tells nothing about it" in str(silent)


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(ParameterError):
        privacy_loss(Channel.identity("ab"), [{"a"}])
    with pytest.raises(ParameterError):
        accuracy(Channel.identity("ab"), [{"a"}, {"b"}], [0.5, 0.6])
    with pytest.raises(ParameterError, match="not on int"):
        accuracy(7, [{"a"}, {"b"}])  # type: ignore[arg-type]


# Where the noise goes ----------------------------------------------------------------------------------------------------


def test_focus_is_detected() -> None:
    noise = nw.geometric(epsilon=1, within=(0, 2))
    assert focus(utility_focussed(noise, "ab")) == "utility"
    assert focus(secrecy_focussed(noise, "ab")) == "secrecy"
    pairs = [(s, u) for s in (0, 1) for u in "xy"]
    assert focus(Channel.constant(pairs)) == "nothing"
    assert focus(Channel.identity(pairs)) == "both"


@given(seeds)
def test_a_random_change_is_found_and_the_evidence_shows_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noise = Channel(rng.dirichlet(np.ones(3), 4), normalise=True)
    channel = utility_focussed(noise, range(3))
    assert insensitive(channel, "secret").status == EXACT
    matrix = np.array(channel.matrix)
    row = int(rng.integers(len(matrix)))
    matrix[row, 0], matrix[row, 1] = matrix[row, 0] / 2, matrix[row, 1] + matrix[row, 0] / 2
    changed = Channel(matrix, channel.inputs)
    verdict = insensitive(changed, "secret")
    assert verdict.status == FAILS
    pair = verdict.evidence
    assert changed.inputs[row] in (pair.first, pair.second)
    assert pair.first[1] == pair.second[1]
    column = changed.outputs.index(pair.output)
    rows = changed.positions([pair.first, pair.second])
    assert tuple(changed.matrix[rows, column]) == pair.probabilities
    assert pair.probabilities[0] != pair.probabilities[1]


def test_a_tolerance_is_said() -> None:
    channel = Channel([[0.5, 0.5], [0.5 + 1e-12, 0.5 - 1e-12]], [("s", 0), ("t", 0)])
    assert insensitive(channel, "secret").status == FAILS
    assert insensitive(channel, "secret", tol=1e-9).status == WITHIN
    with pytest.raises(ParameterError, match="pairs"):
        insensitive(Channel.identity("ab"), "secret")
    with pytest.raises(ParameterError, match="to must be"):
        insensitive(channel, "both")


def test_probabilities_too_small_for_a_float_count_too() -> None:
    logs = [[0.0, -800.0], [0.0, -900.0]]
    channel = Channel.from_logs(logs, [("s", 0), ("t", 0)])
    assert insensitive(channel, "secret").status == WITHIN
    assert insensitive(Channel.from_logs(logs[:1] * 2, channel.inputs), "secret").status == EXACT


def test_pairs_need_not_be_all_combinations() -> None:
    channel = Channel([[1, 0], [1, 0], [0, 1]], [("s", 0), ("t", 0), ("t", 1)])
    assert focus(channel) == "utility"


@given(seeds)
def test_placements_are_dalenius_vulnerabilities_of_channels_on_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    s, u = rng.integers(2, 5, 2)
    pi = Correlation(rng.dirichlet(np.ones(s * u)).reshape(s, u), [f"s{i}" for i in range(s)], range(u))
    on_useful = Channel(rng.dirichlet(np.ones(3), u), pi.inputs, normalise=True)
    on_secret = Channel(rng.dirichlet(np.ones(3), s), pi.secrets, normalise=True)
    utility, secrecy = placements(pi, on_useful, on_secret)
    prior = {(a, b): pi.joint[i, j] for i, a in enumerate(pi.secrets) for j, b in enumerate(pi.inputs)}
    for placed, channel in (
        (utility, utility_focussed(on_useful, pi.secrets)),
        (secrecy, secrecy_focussed(on_secret, pi.inputs)),
    ):
        whole = inference(channel, lambda pair: pair[0], lambda pair: pair[1], prior)
        assert placed.privacy_loss == pytest.approx(whole.privacy_loss, abs=1e-9)
        assert placed.accuracy == pytest.approx(whole.accuracy, abs=1e-9)
    assert guess_through(pi, on_useful).after == pytest.approx(dalenius_vulnerability(pi, on_useful), abs=1e-12)


def test_05_in4_local_noise_that_is_processed_refines_a_secrecy_focussed_release() -> None:
    """Each of two people randomises an answer; the tally of what they say is a post-processing of what they say."""
    states = [(0, 0), (1, 0), (0, 1), (1, 1)]
    single = nw.randomised_response([0, 1], epsilon=1).channel()
    both = np.kron(single.matrix, single.matrix)
    local = Channel(both, [(a, b) for a in (0, 1) for b in (0, 1)], [(a, b) for a in (0, 1) for b in (0, 1)])
    tally = local @ Channel.deterministic(sum, local.outputs)
    assert average_refined(local, tally)
    assert not average_refined(tally, local)
    assert set(states) == set(local.inputs)
