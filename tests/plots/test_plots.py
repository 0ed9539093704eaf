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
    assert str(mechanism.guarantee) in axes.get_title()
    assert axes.lines or axes.images or axes.patches
    path = save_picture(mechanism, tmp_path / "picture.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert [p.name for p in tmp_path.iterdir()] == ["picture.png"]


def test_curves_are_rows_of_the_channel():
    mechanism = nw.geometric(epsilon=1, within=(0, 20))
    lines = draw(mechanism).axes[0].lines
    assert [line.get_label() for line in lines] == [f"secret {x}" for x in (0, 5, 10, 15, 20)]
    np.testing.assert_array_equal(lines[2].get_ydata(), mechanism.channel().row(10))


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
