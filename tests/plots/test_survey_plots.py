"""Pictures of plans show the plan's own numbers."""

from __future__ import annotations

import numpy as np
import pytest

from noisewright.estimate.region import Region
from noisewright.estimate.survey import survey
from noisewright.plots.figure import save_figure
from noisewright.plots.survey import draw_survey


def test_the_wheel_the_region_and_the_margins_are_those_of_the_plan(tmp_path):
    plan = survey(epsilon=1, delta="0.1", respondents=1000, prevalence="0.1", target_margin="0.05")
    figure = draw_survey(plan)
    wheel, place, margins = figure.axes
    total, truth, forced = plan.device.cases()
    angles = [(wedge.theta2 - wedge.theta1) / 360 for wedge in wheel.patches]
    assert angles == pytest.approx([truth / total, *(f / total for f in forced)])
    texts = [text.get_text() for text in wheel.texts]
    assert any(f"{truth} of {total}" in text for text in texts)
    informative = [(x, y) for x, y in Region.of(epsilon=1, delta="0.1").corners() if x + y > 1 - 1e-9]
    assert len(informative) == 5
    np.testing.assert_allclose(place.patches[0].get_xy()[:-1], informative)
    marks = {line.get_label(): line.get_xydata() for line in place.lines}
    assert marks["recommended device"].tolist() == [[float(plan.device.design.p00), float(plan.device.design.p11)]]
    assert marks["best design"].tolist() == [[float(plan.ideal.p00), float(plan.ideal.p11)]]
    curve = next(line for line in margins.lines if line.get_label() == "recommended device")
    at = np.exp(np.interp(np.log(1000), np.log(curve.get_xdata()), np.log(curve.get_ydata())))
    assert at == pytest.approx(plan.margin)
    assert any(f"± {plan.margin:.4f}" in text.get_text() for text in margins.texts)
    assert str(plan.guarantee) in figure.get_suptitle()
    path = save_figure(figure, tmp_path / "plan.png")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_more_answers_are_bars_and_many_are_one_part_of_the_wheel():
    for count in (5, 12):
        plan = survey(epsilon=1, respondents=100, categories=count)
        wheel, place, _ = draw_survey(plan).axes
        assert len(wheel.patches) == (6 if count == 5 else 2)
        heights = [bar.get_height() for bar in place.patches]
        design = plan.device.design
        assert heights[1] == pytest.approx(float(design.p11))
        assert heights[3] == pytest.approx(float(1 - design.p00))


def test_asking_everybody_directly_has_no_curve():
    plan = survey(epsilon=1, respondents=100, prevalence="0.1", whole_population=True)
    labels = [line.get_label() for line in draw_survey(plan).axes[2].lines]
    assert "direct question" not in labels
    assert "recommended device" in labels
