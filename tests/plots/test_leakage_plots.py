"""Pictures of leakage and orders: what is drawn are the numbers of the library."""

from __future__ import annotations

import numpy as np
import pytest

from noisewright.exceptions import ChannelError, ParameterError
from noisewright.plotting.leakage import TRIANGLE, draw_hasse, draw_leakage, draw_posteriors, draw_replacements
from noisewright.plotting.mechanisms import save_figure
from noisewright.qif.refinement.families import FAMILIES, geometric_family, response_family
from noisewright.qif.refinement.lattice import hasse, max_join
from noisewright.qif.refinement.replacement import ORDERS, replacement_table
from noisewright.qif.vulnerability import posterior_vulnerability

G = geometric_family.member(decay="1/2", size=3)
R = response_family.member(decay="1/3", size=3)


def test_marks_are_the_posteriors_with_their_weights(tmp_path):
    prior = [0.5, 0.3, 0.2]
    figure = draw_posteriors({"geometric": G, "join": max_join(G, R).channel}, prior)
    axes = figure.axes[0]
    hyper = G.channel().push(prior).reduce()
    marks = axes.collections[0]
    np.testing.assert_allclose(marks.get_offsets(), hyper.inners.T @ TRIANGLE, atol=1e-12)
    np.testing.assert_allclose(marks.get_sizes(), 30 + 240 * hyper.outers)
    cross = axes.lines[-1]
    np.testing.assert_allclose(cross.get_xydata(), [np.array(prior) @ TRIANGLE], atol=1e-12)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["geometric", "join", "prior"]
    assert save_figure(figure, tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_a_channel_that_tells_nothing_is_one_mark():
    marks = draw_posteriors({"nothing": [[1], [1], [1]]}).axes[0].collections[0].get_offsets()
    np.testing.assert_allclose(marks, [np.full(3, 1 / 3) @ TRIANGLE], atol=1e-12)


def test_curves_are_posterior_vulnerabilities():
    epsilons = [0.5, 1.0, 2.0]
    figure = draw_leakage(
        ["geometric", "response"], size=4, epsilons=epsilons, gains={"guess": "identity", "close": "metric:line"}
    )
    assert [axes.get_title() for axes in figure.axes] == ["guess", "close"]
    for axes, gain in zip(figure.axes, ("identity", "metric:line"), strict=True):
        for line, name in zip(axes.lines, ("geometric", "response"), strict=False):
            expected = [
                posterior_vulnerability([0.25] * 4, FAMILIES[name].member(epsilon=e, size=4).channel(), gain)
                for e in epsilons
            ]
            np.testing.assert_allclose(line.get_ydata(), expected)
        assert (np.diff(axes.lines[0].get_ydata()) >= -1e-12).all()
    assert draw_leakage(["geometric"], size=2, epsilons=[1]).axes[0].get_title() == "guess the secret"


def test_thresholds_are_those_of_the_table():
    table = replacement_table(epsilons=[2, "0.5"], size=3, accuracy=1e-5)
    figure = draw_replacements(table)
    assert [axes.get_title() for axes in figure.axes] == [f"in place of {name}" for name in FAMILIES]
    line = figure.axes[1].lines[1]
    assert line.get_label() == "by geometric"
    np.testing.assert_allclose(line.get_xdata(), [0.5, 2.0])
    np.testing.assert_allclose(line.get_ydata(), table.values("response", "geometric")[::-1])


def test_thresholds_that_are_the_same_can_both_be_seen():
    table = replacement_table(epsilons=["0.5", 1, 2], size=4, accuracy=1e-5)
    _, first, second = draw_replacements(table).axes[2].lines
    np.testing.assert_allclose(first.get_ydata(), second.get_ydata(), rtol=1e-4)
    assert first.get_linewidth() > second.get_linewidth() + 1
    assert second.get_linestyle() != "-"


def test_hasse_pictures_have_a_box_for_every_node_and_a_line_for_every_edge():
    things = {f"{n} {e}": FAMILIES[n].member(epsilon=e, size=3) for n in FAMILIES for e in ("1", "2")}
    diagrams = [hasse(things, order=order) for order in ORDERS]
    figure = draw_hasse(diagrams)
    for axes, diagram in zip(figure.axes, diagrams, strict=True):
        assert axes.get_title() == f"{diagram.order} order"
        assert len(axes.lines) == len(diagram.edges)
        assert len(axes.texts) == len(diagram.nodes)
        for line in axes.lines:
            low, high = line.get_ydata()
            assert low < high  # safer is upwards
        places = {tuple(text.get_position()) for text in axes.texts}
        assert len(places) == len(diagram.nodes)


@pytest.mark.parametrize(
    ("words", "make"),
    [
        ("one channel or more", lambda: draw_posteriors({})),
        ("three secrets, not 2", lambda: draw_posteriors({"a": [[1], [1]]})),
        ("one family and one epsilon", lambda: draw_leakage([], size=3, epsilons=[1])),
        ("one diagram or more", lambda: draw_hasse([])),
    ],
)
def test_refusals(words, make):
    with pytest.raises(ParameterError, match=words):
        make()
    with pytest.raises(ChannelError, match="only"):
        draw_posteriors({"a": G, "b": geometric_family.member(decay="1/2", size=4)})
