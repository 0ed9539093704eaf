"""Joins and meets: bounds that are the least and the greatest, also where hulls are thin, and honest refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from noisewright.channels.channel import Channel
from noisewright.exceptions import ChannelError, ParameterError
from noisewright.qif.refinement.families import geometric_family, over_truncated_family, response_family
from noisewright.qif.refinement.lattice import (
    hexagon,
    hull_corners,
    hull_of,
    intersection,
    max_join,
    max_meet,
    positive_weights,
    posteriors,
    privacy_join,
    privacy_meet,
)


def inside(points: np.ndarray, hull: np.ndarray) -> bool:
    """Whether every point is a mixture of the hull's, by a linear program each: nothing of the library's geometry."""
    for point in points:
        equations = np.vstack([hull.T, np.ones(len(hull))])
        slack = np.hstack([equations, np.eye(len(equations)), -np.eye(len(equations))])
        goal = np.r_[np.zeros(len(hull)), np.ones(2 * len(equations))]
        if linprog(goal, A_eq=slack, b_eq=np.append(point, 1.0)).fun > 1e-7:
            return False
    return True


@pytest.mark.parametrize("n", [2, 3, 4])
def test_random_joins_are_least_upper_bounds(n):
    rng = np.random.default_rng(n)
    for _ in range(25):
        a, b = (Channel(rng.dirichlet(np.full(k, 0.7), n)) for k in rng.integers(2, 6, 2))
        join = max_join(a, b)
        one, two = posteriors(a), posteriors(b)
        assert inside(join.posteriors, one)
        assert inside(join.posteriors, two)
        assert join.channel.push(None).prior == pytest.approx(np.full(n, 1 / n), abs=1e-12)
        assert (join.weights > 0).all()
        # The least one: mixtures of either that happen to lie in both hulls lie in the join.
        mixed = np.vstack([rng.dirichlet(np.ones(len(p)), 30) @ p for p in (one, two)])
        mixed = 0.5 * mixed + 0.5 / n
        shared = np.array([p for p in mixed if inside(p[None], one) and inside(p[None], two)])
        if len(shared):
            assert inside(shared, join.posteriors)
        meet = max_meet(a, b)
        assert inside(np.vstack([one, two]), meet.posteriors)
        assert inside(meet.posteriors, np.vstack([one, two]))


@pytest.mark.parametrize(("n", "count"), [(3, 5), (4, 11), (6, 52), (8, 191), (10, 586)])
def test_vertices_of_the_join_of_geometric_and_response(n, count):
    """Each vertex lies on n - 1 faces at least, and on the right side of all of them."""
    a, b = geometric_family.member(decay="1/2", size=n), response_family.member(decay="1/3", size=n)
    join = max_join(a, b)
    assert len(join.posteriors) == count
    coordinates = np.hstack([np.linalg.solve(posteriors(m.channel()).T, join.posteriors.T).T for m in (a, b)])
    assert coordinates.min() > -1e-9
    tight = np.abs(coordinates) < 1e-7
    assert tight.sum(axis=1).min() >= n - 1


def test_hulls_of_lower_dimension():
    clamped = over_truncated_family(0, 1).member(decay="1/4", size=3)
    full = geometric_family.member(decay="1/2", size=3)
    thin = max_join(clamped, full)
    assert thin.posteriors.shape == (2, 3)
    assert inside(thin.posteriors, posteriors(clamped.channel()))
    assert inside(thin.posteriors, posteriors(full.channel()))
    crossing = max_join(clamped, over_truncated_family(1, 2).member(decay="1/4", size=3))
    assert crossing.posteriors == pytest.approx(np.full((1, 3), 1 / 3))
    assert crossing.channel.matrix == pytest.approx(np.ones((3, 1)))
    nothing = Channel.constant(range(3))
    assert max_join(nothing, full).posteriors == pytest.approx(np.full((1, 3), 1 / 3))
    assert len(max_meet(nothing, full).posteriors) == 3
    four = over_truncated_family(0, 2).member(decay="1/4", size=4)
    assert hull_of(posteriors(four.channel())).dimension == 2
    assert max_join(four, four).posteriors == pytest.approx(posteriors(four.channel()), abs=1e-9)


def test_two_secrets_are_intervals():
    a, b = Channel([[0.8, 0.2], [0.4, 0.6]]), Channel([[0.6, 0.4], [0.2, 0.8]])
    ends = max_join(a, b).posteriors[:, 0]
    assert ends.tolist() == pytest.approx([max(0.25, 1 / 3), min(2 / 3, 0.75)])
    assert max_meet(a, b).posteriors[:, 0].tolist() == pytest.approx([0.25, 0.75])


def test_a_hull_contains_what_it_should():
    hull = hull_of(posteriors(geometric_family.member(decay="1/2", size=3).channel()))
    points = np.array([[1 / 3, 1 / 3, 1 / 3], [4 / 7, 2 / 7, 1 / 7], [0.58, 0.28, 0.14], [0.2, 0.2, 0.6]])
    assert hull.contains(points).tolist() == [True, True, False, False]
    square = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.3, 0.5, 0.2], [0.35, 0.35, 0.3]])
    assert len(hull_corners(square)) == 3
    weights = positive_weights(np.eye(4))
    assert weights == pytest.approx(np.full(4, 0.25))
    assert intersection(hull, hull) == pytest.approx(posteriors(geometric_family.member(decay="1/2", size=3).channel()))


def test_too_many_faces_are_refused_in_one_sentence():
    a, b = geometric_family.member(decay="1/2", size=24), response_family.member(decay="1/3", size=24)
    with pytest.raises(ParameterError, match="500000 is the limit; join channels with fewer"):
        max_join(a, b)
    with pytest.raises(ChannelError, match="second only"):
        max_join(geometric_family.member(decay="1/2", size=3), geometric_family.member(decay="1/2", size=4))
    with pytest.raises(ParameterError, match="no positive weights"):
        positive_weights(np.array([[0.9, 0.1], [0.8, 0.2]]))
    with pytest.raises(ParameterError, match="above 1/6"):
        hexagon(share=1)  # type: ignore[arg-type]


def test_privacy_bounds_of_random_channels():
    rng = np.random.default_rng(2)
    for _ in range(40):
        a, b = (Channel(rng.dirichlet(np.ones(4), 5)) for _ in range(2))
        join, meet = privacy_join(a, b), privacy_meet(a, b)
        one, two = a.distinguishability(), b.distinguishability()
        assert (join.metric.distances <= np.minimum(one, two) + 1e-12).all()
        assert (meet.metric.distances >= np.maximum(one, two) - 1e-12).all()
        # Any metric below both is below the join: try closures of shrunken minima.
        lower = np.minimum(one, two) * rng.uniform(0.3, 1, (5, 5))
        lower = np.minimum(lower, lower.T)
        for k in range(5):
            lower = np.minimum(lower, lower[:, [k]] + lower[[k], :])
        assert (lower <= join.metric.distances + 1e-12).all()
        assert join.channel().distinguishability() == pytest.approx(join.metric.distances, abs=1e-9)


def test_infinite_distances_have_bounds_too():
    a, b = Channel([[1.0, 0], [0, 1], [0, 1]]), Channel([[0.5, 0.5], [0.5, 0.5], [0.25, 0.75]])
    assert privacy_join(a, b).metric.distances[0].tolist() == pytest.approx([0, 0, 0])
    assert privacy_meet(a, b).metric.distances[0, 1] == np.inf
