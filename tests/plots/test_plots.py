"""Pictures: what is drawn is the mechanism's law, and files are whole or absent."""

import numpy as np
import pytest

import noisewright as nw
from noisewright.exceptions import ParameterError
from noisewright.plotting.mechanisms import draw, draw_matrix, save_picture
from noisewright.resources import Seed

MECHANISMS = {
    "range": lambda: nw.geometric(epsilon=1, within=(0, 20)),
    "unbounded": lambda: nw.geometric(epsilon=1),
    "categories": lambda: nw.randomised_response(["a", "b", "c"], epsilon=1),
    "half line": lambda: nw.laplace(epsilon=1, within=(0, None)),
    "gap": lambda: nw.laplace(epsilon=1, excluding=((3, 5),)),
    "plane": lambda: nw.planar_laplace(epsilon=1),
    "curve": lambda: nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=range(6)),
    "vectors": lambda: nw.mechanisms.product_laplace(epsilon=1, dimension=3),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_picture_is_drawn_with_the_guarantee_in_its_title(name, tmp_path):
    mechanism = MECHANISMS[name]()
    axes = draw(mechanism).axes[0]
    assert " ".join(axes.get_title().split()) == f"{mechanism.name}: {mechanism.guarantee.reading()}"
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert axes.lines or axes.images or axes.patches or axes.collections
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


def test_categories_are_no_numbers_on_an_axis_whatever_they_are_called():
    for mechanism in (nw.randomised_response(60, epsilon=2), nw.mechanisms.hadamard_response(7, epsilon=1)):
        axes = draw(mechanism).axes[0]
        assert axes.images
        assert not axes.lines


def test_reports_of_sets_are_named_by_their_bits():
    axes = draw(nw.mechanisms.unary_encoding(["car", "bike", "foot"], epsilon=1)).axes[0]
    named = [label.get_text() for label in axes.get_xticklabels()]
    assert named[:4] == ["000", "100", "010", "110"]
    assert axes.get_xlabel() == "report: a bit for each category, in their order"


def test_what_is_moved_to_a_wall_is_said_and_the_density_beside_it_is_seen():
    """Half of the noise about 0 is negative; beside the wall the density is that of Laplace noise of scale 1, at most 1/2."""
    mechanism = nw.mechanisms.snapped_laplace(epsilon=1, within=(0, 10))
    axes = draw(mechanism).axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "true value 0; 50 % at 0",
        "true value 5; 0.337 % at 0 and 0.337 % at 10",
    ]
    assert max(patch.get_data()[0].max() for patch in axes.patches) < 0.52


@pytest.mark.parametrize(
    ("make", "promise", "circles"),
    [
        (
            lambda: nw.planar_laplace(epsilon=1, radius=200),
            "planar-laplace: epsilon 1 between any two points within 200 of each other, rounding included",
            ["half within 336", "95 % within 950"],
        ),
        (
            lambda: nw.mechanisms.geo_laplace(epsilon=1, radius=500, reference=(48.85, 2.35)),
            "geo-laplace: epsilon 1 between any two places within 500 m of each other, rounding included, if the map makes at "
            "most 505.000001 m of that (stated, not proved here)",
            ["half within 848 m", "95 % within 2,400 m"],
        ),
    ],
)
def test_places_are_drawn_with_their_radius_and_exact_circles(make, promise, circles):
    """Of 4,000 simulated places with a fixed seed 95 % lie in the outer circle, up to 0.02 (six standard deviations)."""
    axes = draw(make()).axes[0]
    assert axes.get_title().replace("\n", " ") == promise
    assert [text.get_text() for text in axes.get_legend().get_texts()][1:] == circles
    cloud, outer = axes.lines[0], axes.lines[-1]
    far = np.hypot(cloud.get_xdata(), cloud.get_ydata())
    assert (far <= np.hypot(outer.get_xdata(), outer.get_ydata()).max()).mean() == pytest.approx(0.95, abs=0.02)


def test_bands_of_a_curve_hold_half_and_nearly_all_of_its_points():
    """20,000 simulated points with a fixed seed; 0.02 is more than five standard deviations."""
    mechanism = nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=range(4))
    drawn = np.abs(np.asarray(mechanism.release(np.zeros((5000, 4)), np.random.default_rng(3))))
    for band, share in zip(draw(mechanism).axes[0].collections, (0.5, 0.95), strict=True):
        reach = band.get_paths()[0].vertices[:, 1].max()
        assert (drawn <= reach).mean() == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: nw.mechanisms.selection(candidates=["soup", "salad"], epsilon=1), "depends on the scores"),
        (
            lambda: nw.matching.lshrr(epsilon=1, dimension=3, bits=4, seed=Seed.fresh()),
            "what comes out are codes",
        ),
    ],
)
def test_what_has_no_law_over_numbers_is_refused_with_the_reason(make, why):
    with pytest.raises(ParameterError, match=f"there is no picture of this .*: .*{why}"):
        draw(make())


def test_a_matrix_says_what_white_means():
    assert draw_matrix(nw.Channel([[1, 0], [0.5, 0.5]])).axes[0].get_xlabel() == "output (white: never)"
