"""The parts of training: losses in the right order, constraints with and without slack, steps, and tensors by point."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from noisewright.context_aware import AdversaryLoss
from noisewright.exceptions import ParameterError
from noisewright.learning import (
    Adam,
    AugmentedLagrangian,
    BestResponse,
    LineSearch,
    Penalty,
    Play,
    Settings,
    alpha_loss,
    expected_losses,
)
from noisewright.learning.networks import layers, slopes, through
from noisewright.learning.objectives import accuracies, prior_losses

LOG = AdversaryLoss(1.0)


# Losses -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 20.0, math.inf])
def test_gap_7_losses_are_those_of_the_theory(order: float) -> None:
    beliefs = np.linspace(0.01, 1, 50)
    loss = AdversaryLoss(order)
    found = alpha_loss(torch.log(torch.tensor(beliefs)), loss).numpy()
    assert found == pytest.approx(loss.of(beliefs), abs=1e-12)


def test_gap_7_binary_cross_entropy_and_alpha_loss_of_samples() -> None:
    rng = np.random.default_rng(1)
    y, h = rng.integers(0, 2, 500), rng.uniform(0.05, 0.95, 500)
    beliefs = [torch.log(torch.tensor(np.stack([1 - h, h], axis=1)))[None]]
    play = Play(torch.zeros(1, 500, 1), torch.zeros(1), truth=torch.tensor(y)[None, :, None])
    cross = -np.mean(y * np.log(h) + (1 - y) * np.log(1 - h))
    assert float(expected_losses(play, beliefs, LOG)) == pytest.approx(cross, rel=1e-12)
    power = 1 - 1 / 3
    alpha = 1.5 * np.mean(y * (1 - h**power) + (1 - y) * (1 - (1 - h) ** power))
    assert float(expected_losses(play, beliefs, AdversaryLoss(3.0))) == pytest.approx(alpha, rel=1e-12)
    assert float(accuracies(play, beliefs)) == pytest.approx(np.mean((h > 0.5) == y))


def test_gap_7_the_loss_is_averaged_and_not_the_belief() -> None:
    """At p = 0.5, q = 0.25 and flips of 0.2: 0.6474 is right; with averaged beliefs an adversary undoes the noise (0.5623)."""
    joint = np.array([[0.375, 0.125], [0.125, 0.375]])
    flip = np.array([[0.8, 0.2], [0.2, 0.8]])
    mass = torch.tensor((flip.T @ joint)[None])
    play = Play(torch.zeros(1, 2, 2), torch.zeros(1), mass=[mass])
    best = BestResponse(1.0).log_beliefs(play)
    assert float(expected_losses(play, best, LOG)) == pytest.approx(0.6474, abs=5e-5)

    def wrong(b: float) -> float:
        """The loss of the average belief for an adversary who states ``b`` and ``1 - b``; the noise is undone at the best b."""
        averaged = flip @ np.array([[1 - b, b], [b, 1 - b]])
        return float(-(joint * np.log(averaged.clip(1e-12))).sum())

    undone = minimize_scalar(wrong, bounds=(1e-6, 0.5), method="bounded").fun
    assert undone == pytest.approx(0.5623, abs=5e-5)


@pytest.mark.parametrize("order", [1.0, 2.0, 5.0])
def test_best_responses_and_blind_losses_are_those_of_the_theory(order: float) -> None:
    rng = np.random.default_rng(2)
    joint = rng.dirichlet(np.ones(12)).reshape(3, 4)  # outputs, classes
    loss = AdversaryLoss(order)
    play = Play(torch.zeros(1, 3, 3), torch.zeros(1), mass=[torch.tensor(joint[None])])
    found = float(expected_losses(play, BestResponse(order).log_beliefs(play), loss))
    assert found == pytest.approx(loss.smallest(joint.T), abs=1e-9)
    prior = torch.tensor(joint.sum(axis=0)[None])
    assert float(prior_losses([prior], loss)) == pytest.approx(loss.smallest(joint.sum(axis=0)[:, None]), abs=1e-12)


# Constraints --------------------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(
    excess=st.floats(-3, 3),
    multiplier=st.floats(0, 4),
    rho=st.floats(0.05, 8),
)
def test_fact_32_gap_9_the_slack_free_form_is_the_least_over_all_slacks(
    excess: float, multiplier: float, rho: float
) -> None:
    form = AugmentedLagrangian(1, Settings(penalty=rho), torch.float64)
    form.multiplier = torch.tensor([multiplier], dtype=torch.float64)
    found = float(form.price(torch.tensor([excess], dtype=torch.float64)))

    def with_slack(slack: float) -> float:
        c = excess + slack
        return rho / 2 * c**2 + multiplier * c  # lambda = -mu in the published form

    best = minimize_scalar(with_slack, bounds=(0, 200), method="bounded", options={"xatol": 1e-10}).fun
    assert found == pytest.approx(min(best, with_slack(0)), abs=1e-6)
    slack = max(0.0, -excess - multiplier / rho)
    form.learn(torch.tensor([excess], dtype=torch.float64))
    assert float(form.multiplier) == pytest.approx(multiplier + rho * (excess + slack), abs=1e-9)


def test_gap_8_a_penalty_prices_excess_alone_and_grows_to_its_end() -> None:
    form = Penalty(2, Settings(method="penalty", penalty=1.0, penalty_growth=2.0, most_penalty=3.0))
    assert form.price(torch.tensor([-0.5, 0.5])).tolist() == [0.0, 0.5]
    for rho in (2.0, 3.0, 3.0):
        form.after_epoch(torch.zeros(2))
        assert form.rho == rho


# Steps --------------------------------------------------------------------------------------------------------------------


def test_adam_is_that_of_pytorch_and_points_never_mix() -> None:
    start = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))
    own, theirs = {"w": start.clone().requires_grad_()}, start.clone().requires_grad_()
    ours, other = Adam(own, 0.5, 0.99), torch.optim.Adam([theirs], lr=0.1, betas=(0.5, 0.99))
    scale = torch.tensor([1.0, 10.0, 0.1])[:, None]
    for _ in range(20):
        ours.step(list(torch.autograd.grad((scale * own["w"] ** 2).sum(), [own["w"]])), 0.1)
        other.zero_grad()
        (scale * theirs**2).sum().backward()
        other.step()
    assert torch.allclose(own["w"], theirs, atol=1e-6)


def test_slopes_are_cut_for_each_point_alone() -> None:
    own = {"w": torch.tensor([[3.0, 4.0], [0.3, 0.4]], requires_grad=True)}
    found = slopes((own["w"] ** 2 / 2).sum(), own, 1.0)[0]
    assert found[0].tolist() == pytest.approx([0.6, 0.8], abs=1e-6)
    assert found[1].tolist() == pytest.approx([0.3, 0.4], abs=1e-6)


def test_a_line_search_goes_downhill_for_every_point_alone() -> None:
    """Points with curvatures from 0.01 to 1000: one rate would be too long for one of them and too short for another."""
    curvature = torch.tensor([0.01, 1.0, 1000.0], dtype=torch.float64)[:, None]
    own = {"w": torch.ones(3, 2, dtype=torch.float64, requires_grad=True)}
    search = LineSearch(own, 3, 0.1)

    def value() -> torch.Tensor:
        return (curvature * own["w"] ** 2).sum(dim=1)

    before = value().detach()
    for _ in range(60):
        found = list(torch.autograd.grad(value().sum(), [own["w"]]))
        now = value().detach()
        search.step(found, now, value)
        assert (value() <= now + 1e-15).all()
    assert (value() < 1e-3 * before).all()


def test_networks_of_points_are_the_networks_one_by_one() -> None:
    generator = torch.Generator().manual_seed(3)
    named = {
        name: tensor + torch.randn(tensor.shape, generator=generator)
        for name, tensor in layers(3, (4, 5, 2), generator).items()
    }
    rows = torch.randn(3, 7, 4, generator=generator)
    together = through(named, rows)
    for point in range(3):
        hidden = torch.nn.functional.leaky_relu(rows[point] @ named["w0"][point] + named["b0"][point], 0.2)
        assert torch.allclose(together[point], hidden @ named["w1"][point] + named["b1"][point], atol=1e-5)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"loss": "zero-one"}, "alpha:20"),
        ({"loss": "hinge"}, "zero-one"),
        ({"method": "hope"}, "method"),
        ({"step": "jump"}, "step"),
        ({"epochs": 0}, "epochs"),
        ({"batch": 1.5}, "batch"),
        ({"rate": 0}, "rate"),
        ({"rate": math.nan}, "rate"),
        ({"last_rate": 2}, "last_rate"),
        ({"momentum": 1}, "momentum"),
        ({"patience": 0}, "patience"),
        ({"cap": 1}, "cap"),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(bad: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Settings(**bad)  # type: ignore[arg-type]
