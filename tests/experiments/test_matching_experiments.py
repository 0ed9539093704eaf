"""Published experiments on hashes, on the ratings themselves where they can be fetched; the made-up visits; the attack."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.visits import visits

from experiments import private_hashing, ratings, recall_and_attributes, vanilla_hashing
from noisewright.exceptions import ResourceError
from noisewright.matching.evaluation import all_distances


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> ratings.Ratings:
    with pytest.MonkeyPatch.context() as patch:
        if not ratings.place().exists():
            patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        try:
            return ratings.ratings(ratings.fetched())
        except ResourceError as problem:
            pytest.skip(str(problem))


def nearest(profiles: np.ndarray) -> np.ndarray:
    (away,) = all_distances(profiles, np.arange(len(profiles)))
    np.fill_diagonal(away, np.inf)
    return away.min(axis=1)


def test_lsh_17_the_ratings_are_those_of_the_published_table(films: ratings.Ratings) -> None:
    assert films.ratings.shape == (943, 1422)
    assert films.women.sum() == 273
    for number, mean in ((100, 0.235), (500, 0.306), (1000, 0.323)):
        assert nearest(films.profiles(number)[0]).mean() == pytest.approx(mean, abs=0.001)
    centred, _ = films.profiles(100, centred=True)
    assert np.abs(np.linalg.norm(centred, axis=1) - 1).max() < 1e-12
    assert centred.min() < 0


def test_lsh_17_table_10_1(films: ratings.Ratings) -> None:
    """Eight seeds; the published means are of thirty, and their tolerance is stated."""
    found = vanilla_hashing.run(films.profiles(1000)[0], 8)
    for k, row in found.items():
        assert row == pytest.approx(vanilla_hashing.REPORTED[1000, k], abs=0.005)
    assert vanilla_hashing.Contest(films.profiles(1000)[0]).random == pytest.approx(
        {1: 0.118, 5: 0.105, 10: 0.099}, abs=1e-3
    )


def test_lsh_18_table_10_2() -> None:
    for row in private_hashing.slacks():
        for found, told in zip(row.found, row.told, strict=True):
            assert told is not None
            assert np.floor(found * 1e5) / 1e5 == pytest.approx(told, abs=1e-9)  # it was truncated


def test_lsh_18_at_a_large_loss_bits_are_better_than_vectors(films: ratings.Ratings) -> None:
    contest = vanilla_hashing.Contest(films.profiles(1000)[0])
    flips, before, exact = private_hashing.run(contest, 1000, 20, "0.05", 3)
    assert flips.found[4] < before.found[4] - 0.01
    assert exact.found[3] < flips.found[3] - 0.003
    assert before.found == pytest.approx([contest.random[10]] * 6, abs=0.004)


def test_visits_have_the_shape_of_check_ins() -> None:
    """Mean distance to the nearest, and the share of people who have somebody within 0.1; of one recomputation, loosely."""
    for places, mean, share in ((100, 0.114, 0.43), (500, 0.182, 0.25), (1000, 0.209, 0.20)):
        found = nearest(visits(1000, places, np.random.default_rng(0)))
        assert found.mean() == pytest.approx(mean, abs=0.03)
        assert (found < 0.1).mean() == pytest.approx(share, abs=0.08)


def test_the_attack_tells_what_there_is_to_tell() -> None:
    """Features that say nothing are ranked like a coin, and one that says all is found."""
    rng = np.random.default_rng(8)
    women = rng.random(400) < 0.3
    noise = rng.standard_normal((400, 50))
    # A coin over folds of 24 women and 56 men has a deviation of about 0.03.
    assert recall_and_attributes.ranked_above(noise, women) == pytest.approx(0.5, abs=0.15)
    assert recall_and_attributes.ranked_above(np.column_stack([noise, 10.0 * women]), women) > 0.99
