"""Recall and utility loss, against a plain reckoning of every angle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from noisewright.exceptions import DataError
from noisewright.matching import evaluation as module
from noisewright.matching.evaluation import all_distances, search_quality


def plainly(profiles: np.ndarray, returned: np.ndarray) -> tuple[float, float]:
    hits, losses = [], []
    for i, row in enumerate(returned):
        angles = [
            np.arccos(np.clip(a @ profiles[i] / np.linalg.norm(a) / np.linalg.norm(profiles[i]), -1, 1)) / np.pi
            for a in profiles
        ]
        best = sorted(angles[:i] + angles[i + 1 :])[: len(row)]
        hits.append(np.mean([angles[j] <= best[-1] + 1e-9 for j in row]))
        losses.append(np.mean([angles[j] for j in row]) - np.mean(best))
    return float(np.mean(hits)), float(np.mean(losses))


@pytest.mark.parametrize("together", [1, 100, 1 << 23])
@pytest.mark.parametrize("sparse", [True, False])
def test_lsh_15_utility_loss_and_recall(sparse: bool, together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TOGETHER", together)
    rng = np.random.default_rng(1)
    profiles = rng.integers(0, 3, (40, 6)).astype(float) + np.eye(40, 6)
    returned = np.array([rng.choice([j for j in range(40) if j != i], 5, replace=False) for i in range(40)])
    found = search_quality(csr_array(profiles) if sparse else profiles, returned)
    assert (found.recall, found.loss) == pytest.approx(plainly(profiles, returned), abs=1e-9)
    assert found.loss > 0


def test_the_best_answer_loses_nothing_and_a_random_one_what_is_said() -> None:
    rng = np.random.default_rng(2)
    profiles = rng.standard_normal((60, 5))
    unit = profiles / np.linalg.norm(profiles, axis=1, keepdims=True)
    best = np.argsort(-(unit @ unit.T), axis=1)[:, 1:4]
    found = search_quality(profiles, best)
    assert (found.recall, found.loss) == pytest.approx((1, 0), abs=1e-12)
    assert found.random_recall == pytest.approx(3 / 59)
    drawn = [
        search_quality(
            profiles, np.array([rng.choice(np.delete(np.arange(60), i), 3, replace=False) for i in range(60)])
        )
        for _ in range(40)
    ]
    assert np.mean([one.loss for one in drawn]) == pytest.approx(found.random_loss, abs=0.01)
    assert np.mean([one.recall for one in drawn]) == pytest.approx(found.random_recall, abs=0.02)


def test_some_queries_only() -> None:
    rng = np.random.default_rng(3)
    profiles = rng.standard_normal((30, 4))
    returned = np.array([rng.choice(np.delete(np.arange(30), i), 2, replace=False) for i in range(30)])
    some = np.array([4, 17])
    parts = [search_quality(profiles, returned[[i]], np.array([i])).loss for i in some]
    assert search_quality(profiles, returned[some], some).loss == pytest.approx(np.mean(parts))


@pytest.mark.parametrize("wrong", [0.0, np.nan])
def test_profiles_without_a_direction_are_refused(wrong: float) -> None:
    profiles = np.ones((3, 2))
    profiles[1] = wrong
    with pytest.raises(DataError, match="no direction; leave it out"):
        search_quality(profiles, np.array([[1], [0], [0]]))


def test_sets_are_compared_by_what_they_have_in_common() -> None:
    sets = [{"tea", "milk"}, {"tea"}, {"tea", "milk", "sugar"}, {7, "tea"}]
    (found,) = all_distances(sets, np.arange(4), "minhash")
    plain = [[1 - len(a & b) / len(a | b) for b in sets] for a in sets]
    np.testing.assert_allclose(found, plain)
    vectors = np.array([[1.0, 0, 2, 0], [0, 0, 5, 0], [1, 1, 1, 1]])
    for rows in (vectors, csr_array(vectors)):
        (found,) = all_distances(rows, np.array([0, 2]), "sampling")
        np.testing.assert_allclose(found, [[0, 0.25, 0.5], [0.5, 0.75, 0]])
