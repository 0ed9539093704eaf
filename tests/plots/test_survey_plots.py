"""Pictures of plans show the plan's own numbers."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from noisewright.plotting.estimates import draw_survey
from noisewright.plotting.mechanisms import save_figure
from noisewright.surveys.designs import Region
from noisewright.surveys.planning import survey


def test_the_wheel_the_region_and_the_margins_are_those_of_the_plan(tmp_path):
    plan = survey(epsilon=1, delta="0.1", respondents=1000, prevalence="0.1", target_margin="0.05")
    figure = draw_survey(plan)
    wheel, place, margins, below = figure.axes
    total, truth, forced = plan.device.cases()
    angles = [(wedge.theta2 - wedge.theta1) / 360 for wedge in wheel.patches]
    assert angles == pytest.approx([truth / total, *(f / total for f in forced)])
    assert [text.get_text() for text in below.get_legend().get_texts()] == [
        f"the truth: {truth} of {total}",
        f'say "no": {forced[0]} of {total}',
        f'say "yes": {forced[1]} of {total}',
    ]
    informative = [(x, y) for x, y in Region.of(epsilon=1, delta="0.1").corners() if x + y > 1 - 1e-9]
    assert len(informative) == 5
    np.testing.assert_allclose(place.patches[0].get_xy()[:-1], informative)
    marks = {line.get_label(): line.get_xydata() for line in place.lines}
    assert marks["recommended device"].tolist() == [[float(plan.device.design.p00), float(plan.device.design.p11)]]
    assert marks["best design"].tolist() == [[float(plan.ideal.p00), float(plan.ideal.p11)]]
    curve = next(line for line in margins.lines if line.get_label() == "recommended device")
    at = np.exp(np.interp(np.log(1000), np.log(curve.get_xdata()), np.log(curve.get_ydata())))
    assert at == pytest.approx(plan.margin)
    assert any(f"± {100 * plan.margin:.3g} %" in text.get_text() for text in margins.texts)
    assert plan.guarantee.reading() in figure.get_suptitle()
    path = save_figure(figure, tmp_path / "plan.png")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_more_answers_are_bars_and_many_are_one_part_of_the_wheel():
    for count in (5, 12):
        plan = survey(epsilon=1, respondents=100, categories=count)
        wheel, place, *_ = draw_survey(plan).axes
        assert len(wheel.patches) == (6 if count == 5 else 2)
        heights = [bar.get_height() for bar in place.patches]
        design = plan.device.design
        assert heights[1] == pytest.approx(float(design.p11))
        assert heights[3] == pytest.approx(float(1 - design.p00))


def overlapping(figure) -> list[tuple[str, str]]:
    """Pairs of words on each other, and words that reach out of the picture; numbers beside the axes are left to matplotlib."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    ticks = [t for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for t in axis.get_ticklabels(which="both")]
    drawn = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    words = [text for text in drawn if text not in ticks and "mathdefault" not in text.get_text()]
    boxes = [(text.get_text(), text.get_window_extent().shrunk(0.95, 0.8)) for text in words]
    width, height = canvas.get_width_height()
    out = [name for name, box in boxes if min(box.x0, box.y0) < 0 or box.x1 > width or box.y1 > height]
    return [(a, b) for (a, x), (b, y) in combinations(boxes, 2) if x.overlaps(y)] + [(name, "edge") for name in out]


LONG = [f"I have done this {n} times in the last twelve months, or nearly so" for n in range(8)]


@pytest.mark.parametrize(
    "options",
    [
        {"epsilon": 1, "prevalence": "0.1"},
        {"epsilon": 1, "delta": "0.4", "prevalence": "0.1", "target_margin": "0.03"},
        {"epsilon": "0.003", "respondents": 10},
        {"epsilon": 700, "respondents": 1},
        {"epsilon": 6, "prevalence": "0.5"},
        {"epsilon": 4, "categories": 8},
        {"epsilon": 2, "categories": 100},
        {"epsilon": 1, "categories": LONG},
        {"epsilon": 3, "categories": LONG[:2], "respondents": 10**6},
        {"epsilon": 0, "delta": "0.2"},
    ],
    ids=["usual", "delta", "tiny", "huge", "six", "eight", "hundred", "long", "two long", "no epsilon"],
)
def test_no_words_are_on_each_other(options):
    plan = survey(**{"respondents": 500, **options})
    assert overlapping(draw_survey(plan)) == []


def test_answers_that_the_font_lacks_or_that_are_cut_alike_are_numbered():
    for answers in (["\u85ac", "no"], ["x" * 60 + "1", "x" * 60 + "2"]):
        plan = survey(epsilon=1, respondents=100, categories=answers)
        names = [text.get_text() for text in draw_survey(plan).axes[3].get_legend().get_texts()]
        assert names[1:] == ['say "answer 1": 3 of 11', 'say "answer 2": 3 of 11']


def test_signs_of_money_are_no_mathematics(tmp_path):
    plan = survey(epsilon=1, respondents=100, categories=["$x$", "$\\frac{$"])
    assert save_figure(draw_survey(plan), tmp_path / "a.png").stat().st_size > 0


def test_no_error_at_all_is_said_and_not_drawn():
    options = {"delta": "0.99", "prevalence": 0, "whole_population": True, "allow_certain_disclosure": True}
    margins = draw_survey(survey(epsilon=1, respondents=10, **options)).axes[2]
    assert not margins.lines
    assert "leave no doubt" in margins.texts[0].get_text()


def test_asking_everybody_directly_has_no_curve():
    plan = survey(epsilon=1, respondents=100, prevalence="0.1", whole_population=True)
    labels = [line.get_label() for line in draw_survey(plan).axes[2].lines]
    assert "direct question" not in labels
    assert "recommended device" in labels
