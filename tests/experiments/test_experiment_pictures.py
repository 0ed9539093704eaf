"""Pictures of experiments: every axis that is read has a title, and no mark is half a guess."""

from __future__ import annotations

import pytest

from experiments import author_and_topic, learned_histograms, private_hashing


@pytest.mark.parametrize("experiment", [author_and_topic, private_hashing])
def test_axes_have_titles(experiment):
    picture = experiment.figure(quick=True)
    for axes in picture.axes:
        assert axes.get_xlabel()
        assert axes.get_ylabel()
    legends = [*picture.legends, *(axes.get_legend() for axes in picture.axes if axes.get_legend())]
    assert legends
    if experiment is author_and_topic:
        assert all(mark == int(mark) for axes in picture.axes for mark in axes.get_yticks())


def test_histograms_have_a_title_below_and_marks_that_do_not_meet():
    axes = learned_histograms.figure(quick=True).axes
    below = [a.get_xlabel() for a in axes]
    assert below[-2:] == ["public value"] * 2
    assert not any(below[:-2])
    assert all(abs(mark) < 8 for a in axes for mark in a.get_xticks())  # the ends touch those of the next
