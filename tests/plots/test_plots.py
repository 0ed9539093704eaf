"""Pictures: what is drawn is the mechanism's law, and files are whole or absent."""

import numpy as np
import pytest

import noisewright as nw
from noisewright.core.errors import ParameterError
from noisewright.plots.mechanism import draw, save_picture

MECHANISMS = {
    "range": lambda: nw.geometric(epsilon=1, within=(0, 20)),
    "unbounded": lambda: nw.geometric(epsilon=1),
    "categories": lambda: nw.randomised_response(["a", "b", "c"], epsilon=1),
    "half line": lambda: nw.laplace(epsilon=1, within=(0, None)),
    "gap": lambda: nw.laplace(epsilon=1, excluding=((3, 5),)),
    "plane": lambda: nw.planar_laplace(epsilon=1),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_picture_is_drawn_with_the_guarantee_in_its_title(name, tmp_path):
    mechanism = MECHANISMS[name]()
    axes = draw(mechanism).axes[0]
    assert " ".join(axes.get_title().split()) == f"{mechanism.name}: {mechanism.guarantee.reading()}"
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert axes.lines or axes.images or axes.patches
    path = save_picture(mechanism, tmp_path / "picture.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [p.name for p in tmp_path.iterdir()] == ["picture.png"]


def test_curves_are_rows_of_the_channel():
    mechanism = nw.geometric(epsilon=1, within=(0, 20))
    lines = draw(mechanism).axes[0].lines
    assert [line.get_label() for line in lines] == [f"secret {x}" for x in (0, 5, 10, 15, 20)]
    np.testing.assert_array_equal(lines[2].get_ydata(), mechanism.channel().row(10))


def test_numbers_are_drawn_by_their_exact_law():
    """Of noise on whole numbers: a two-sided geometric law, in closed form."""
    axes = draw(nw.geometric(epsilon=1)).axes[0]
    (chance, edges, _), second = (patch.get_data() for patch in axes.patches)
    places = (edges[:-1] + edges[1:]) / 2
    np.testing.assert_allclose(chance, np.tanh(0.5) * np.exp(-np.abs(places)), rtol=1e-6)
    assert second.values.sum() == pytest.approx(1, abs=0.005)
    assert axes.get_ylabel() == "probability"


@pytest.mark.parametrize("name", ["half line", "gap"])
def test_bars_hold_whole_steps_so_there_is_no_comb(name):
    """Beside its highest bar a curve falls, bar by bar, as its density does; and it is the law of what is drawn.

    50,000 simulated values with a fixed seed: a share of them is off by more than 0.012, five standard deviations, in fewer
    than one of a million bars.
    """
    mechanism = MECHANISMS[name]()
    for patch, secret in zip(draw(mechanism).axes[0].patches, [0.0] if name == "half line" else [3.0], strict=False):
        heights, edges, _ = patch.get_data()
        if name == "half line":
            falling = heights[np.argmax(heights) : np.argmax(heights) + 100]
            assert (np.diff(falling) < 1e-12).all()
        drawn = np.asarray(mechanism.release(np.full(50_000, secret), np.random.default_rng(1)), dtype=float)
        shares = np.histogram(drawn, edges)[0] / len(drawn)
        np.testing.assert_allclose(heights * np.diff(edges), shares, atol=0.012)
        assert (heights * np.diff(edges)).sum() > 0.99


def test_simulated_curves_stay_in_the_feasible_set():
    patches = draw(nw.laplace(epsilon=1, excluding=((3, 5),))).axes[0].patches
    values, edges, _ = patches[0].get_data()
    inside = (edges[:-1] > 3.01) & (edges[1:] < 4.99)
    assert values[inside].sum() == 0
    assert values.sum() > 0


def test_unknown_endings_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="a picture is written to a"):
        save_picture(nw.geometric(epsilon=1), tmp_path / "picture.gif")
    assert not list(tmp_path.iterdir())
