"""Pictures of attacks show the numbers of the attack."""

from __future__ import annotations

import numpy as np
import pytest

from noisewright.attacks.correlation import Correlation
from noisewright.attacks.new_row import NewRow
from noisewright.plotting.leakage import draw_new_row


@pytest.fixture
def attack() -> NewRow:
    return NewRow(Correlation([[0.5, 0.1, 0.0], [0.0, 0.05, 0.35]]), (50, 15, 35), 2)


@pytest.mark.parametrize("noise", ["geometric", "response"])
def test_marks_and_lines_are_the_numbers(attack: NewRow, noise: str) -> None:
    epsilons = [0.5, 2, 5]
    figure = draw_new_row(attack, [2, "0.5", 5], noise)
    limits = attack.limits
    for axes, measure, ends in zip(
        figure.axes, ("privacy_loss", "utility"), ((1.0, limits.privacy_loss), (limits.blind, 1.0)), strict=True
    ):
        lines = axes.get_lines()
        dashed = [line.get_ydata()[0] for line in lines if line.get_linestyle() == "--"]
        assert dashed == pytest.approx(list(ends))
        marks = [line for line in lines if line.get_marker() == "o"]
        for line, which in zip(marks, (0, 1), strict=True):
            expected = [getattr(pair[which], measure) for pair in attack.sweep(epsilons, noise)]
            assert list(line.get_xdata()) == epsilons
            assert np.asarray(line.get_ydata()) == pytest.approx(expected)
        assert axes.get_xlabel() == "epsilon"
        assert [label.get_text() for label in axes.get_xticklabels()] == ["0.5", "2", "5"]


def test_one_epsilon_has_a_curve_around_it(attack: NewRow) -> None:
    axes = draw_new_row(attack, [2]).axes[0]
    curve = max(axes.get_lines(), key=lambda line: len(line.get_xdata()))
    assert (curve.get_xdata()[0], curve.get_xdata()[-1]) == pytest.approx((0.5, 8))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.5", "2", "8"]


def test_the_ends_of_the_scale_are_named_beside_their_lines(attack: NewRow) -> None:
    for axes in draw_new_row(attack, [1, 2]).axes:
        dashed = [line.get_ydata()[0] for line in axes.get_lines() if line.get_linestyle() == "--"]
        assert [(text.get_text(), text.xy[1]) for text in axes.texts] == list(
            zip(("endless noise", "no noise"), dashed, strict=True)
        )


def test_of_two_curves_that_are_the_same_both_can_be_seen() -> None:
    nothing = NewRow(Correlation([[1.0]]), (5,), 0)
    axes = draw_new_row(nothing, [1, 2]).axes[0]
    first, second = (line for line in axes.get_lines() if len(line.get_xdata()) > 2)
    assert list(first.get_ydata()) == list(second.get_ydata())
    assert first.get_linewidth() > second.get_linewidth() + 1
