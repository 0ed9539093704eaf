"""Uncertainties: closed forms against enumeration, before and after the output."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from adversary_support import random_case, seeds
from hypothesis import given

from noisewright.channels.channel import Channel
from noisewright.design.named_losses import absolute
from noisewright.design.utility import posterior_loss
from noisewright.exceptions import NoisewrightError
from noisewright.qif.vulnerability import bayes_risk, guessing, leakage, shannon, uncertainty

close = pytest.approx
NOISY = Channel([[0.9, 0.1], [0.1, 0.9]])


@given(seeds)
def test_05_vu1_closed_forms_are_the_smallest_expected_losses(seed: int) -> None:
    belief = random_case(seed, most=5).prior
    tries = [sum(belief[x] * (place + 1) for place, x in enumerate(order)) for order in _orders(len(belief))]
    assert guessing(belief) == close(min(tries))
    assert bayes_risk(belief) == close(min(1 - p for p in belief))
    own = sum(-p * np.log2(p) for p in belief if p > 0)
    assert shannon(belief) == close(own, abs=1e-15)
    rng = np.random.default_rng(seed)
    for other in rng.dirichlet(np.ones(len(belief)), 20):  # no belief codes the secret in fewer bits than the right one
        assert -float(belief @ np.log2(other)) >= shannon(belief) - 1e-12


def _orders(n: int) -> list[tuple[int, ...]]:
    return list(itertools.permutations(range(n)))


def test_sure_and_clueless() -> None:
    assert (shannon([1, 0, 0]), guessing([1, 0, 0]), bayes_risk([1, 0, 0])) == (0, 1, 0)
    assert (shannon([0.25] * 4), guessing([0.25] * 4), bayes_risk([0.25] * 4)) == (2, 2.5, 0.75)
    assert shannon({"a": 0.5, "b": 0.5}) == 1


@given(seeds)
def test_the_output_takes_uncertainty_away_and_post_processing_gives_some_back(seed: int) -> None:
    case = random_case(seed)
    for measure in ("shannon", "guessing", "bayes"):
        found = uncertainty(case.channel, case.prior, measure)
        later = uncertainty(case.channel @ case.after, case.prior, measure)
        assert found.prior >= later.posterior - 1e-12
        assert later.posterior >= found.posterior - 1e-12
        assert found.reduction >= 0
    bayes = uncertainty(case.channel, case.prior, "bayes")
    assert bayes.posterior == close(1 - leakage(case.channel, case.prior).posterior, abs=1e-12)


def test_mutual_information_is_symmetric() -> None:
    joint = np.array([[0.3, 0.1], [0.2, 0.4]])
    forwards = uncertainty(Channel(joint, normalise=True), joint.sum(axis=1)).reduction
    backwards = uncertainty(Channel(joint.T, normalise=True), joint.sum(axis=0)).reduction
    assert forwards == close(backwards)
    assert forwards == close(
        sum(p * np.log2(p / (joint.sum(1)[i] * joint.sum(0)[j])) for (i, j), p in np.ndenumerate(joint))
    )


def test_losses_and_functions_are_uncertainties() -> None:
    channel = Channel([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])
    by_name, by_loss = (uncertainty(channel, None, loss) for loss in ("absolute", absolute(range(3))))
    assert by_name == by_loss
    assert by_name.posterior == posterior_loss(None, channel, "absolute").value
    assert by_name.prior == close(2 / 3)
    gini = uncertainty(NOISY, None, lambda p: 1 - float((p**2).sum()))
    assert (gini.prior, gini.posterior) == close((0.5, 0.18))
    assert str(by_name) == "absolute loss: 0.666667 before the output, 0.4 after it, 0.266667 less"
    assert by_name.to_json() == {
        "measure": "absolute loss",
        "prior": close(2 / 3),
        "posterior": close(0.4),
        "reduction": close(2 / 3 - 0.4),
    }


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("shanon", "choose one of shannon, guessing, bayes, absolute"),
        (lambda p: float(max(p)), "not concave"),
        (None, "a loss is needed"),
        (lambda p: float("nan"), "one was NaN"),
    ],
)
def test_other_measures_are_refused(measure: Any, words: str) -> None:
    with pytest.raises(NoisewrightError) as problem:
        uncertainty(NOISY, None, measure)
    assert words in str(problem.value)
