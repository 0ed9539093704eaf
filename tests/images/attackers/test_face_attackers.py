"""The best attacker on codes, recognisers on pictures, and how the risk grows with epsilon and with a second release.

Statistical tests have fixed seeds. Their tolerances are four standard errors of the draws or more.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from noisewright.attacks import LabelledFaces, LevelAttacker, WindowAttacker, picture_risks
from noisewright.exceptions import DataError, ParameterError
from noisewright.images import (
    BayesAttacker,
    CodeSpace,
    LatentObfuscator,
    NoisyCodes,
    Recogniser,
    cartoon_faces,
    gallery_risk,
    pixel_exponential,
    pixel_windows,
    train_eigenfaces,
    window_ssim,
)
from noisewright.mechanisms.numeric.geometric import geometric


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def gaussian_gallery(size: int, epsilon: Any, seed: int = 5) -> BayesAttacker:
    codes = rng(seed).normal(size=(67, size))
    return BayesAttacker(NoisyCodes(Fraction(epsilon), CodeSpace.of(codes.min(0), codes.max(0))), codes)


# On codes -----------------------------------------------------------------------------------------------------------------


def test_beliefs_are_those_of_bayes_by_the_law_of_each_element() -> None:
    space = CodeSpace.of([0, 0], [1, 1], steps=5, weights=[2, 3])
    noisy = NoisyCodes(Fraction(3), space)
    assert space.steps == (4, 6)
    gallery = np.array([[0, 2], [4, 6], [1, 3]])
    attacker = BayesAttacker(noisy, space.codes(gallery))
    laws = [geometric(epsilon=1 / noisy.scale, within=(0, top)).channel().matrix for top in space.steps]
    outputs = np.array([[x, y] for x in range(5) for y in range(7)])
    chances = np.array([[laws[0][a, x] * laws[1][b, y] for a, b in gallery] for x, y in outputs])
    true = chances / chances.sum(1, keepdims=True)
    assert np.abs(attacker.beliefs(space.codes(outputs)) - true).max() < 1e-12
    best = float(chances.max(1).sum()) / 3  # the success of the best attacker, over all outputs
    assert attacker.success(4000, rng()) == pytest.approx(best, abs=4 * 0.5 / math.sqrt(12_000))
    assert true.max() <= attacker.bound + 1e-12


def test_im_fact_4_no_output_moves_the_odds_by_more_than_epsilon_times_the_distance() -> None:
    attacker = gaussian_gallery(12, 30)
    space = attacker.mechanism.space
    outputs = space.codes(attacker.mechanism.drawn(np.repeat(attacker.gallery[:20], 20, 0), rng()))
    logs = np.log(attacker.beliefs(outputs))[:, :50]
    allowed = 30 * space.apart(attacker.gallery, attacker.gallery)[:50, :50]
    assert (logs[:, :, None] - logs[:, None, :] - allowed).max() < 1e-9


@pytest.mark.parametrize(("size", "share"), [(16, 0.86), (64, 0.53), (256, 0.18)])
def test_a_longer_code_is_harder_to_attack_at_the_same_epsilon(size: int, share: float) -> None:
    assert gaussian_gallery(size, 100).success(8, rng()) == pytest.approx(share, abs=0.09)


def test_im_fact_6_two_releases_are_weaker_than_one_at_twice_the_epsilon() -> None:
    once, twice = gaussian_gallery(64, 100), gaussian_gallery(64, 200)
    two, one = once.success(15, rng(), releases=2), twice.success(15, rng())
    assert two == pytest.approx(0.81, abs=0.06)
    assert one == pytest.approx(0.95, abs=0.04)
    both = once.mechanism.guarantee.compose(once.mechanism.guarantee)
    assert both == twice.mechanism.guarantee  # although the promise is the same


@pytest.mark.parametrize(
    ("epsilon", "bound", "success"), [(5, 0.057, 0.02), (10, 0.19, 0.05), (20, 0.76, 0.09), (50, 1.0, None)]
)
def test_im_fact_7_the_bound_of_a_gallery_is_above_what_the_best_attacker_reaches(
    epsilon: int, bound: float, success: float | None
) -> None:
    attacker = gaussian_gallery(16, epsilon, seed=0)
    assert attacker.bound == pytest.approx(bound, abs=0.05)
    found = attacker.success(20, rng())
    assert found <= attacker.bound
    if success is not None:
        assert found == pytest.approx(success, abs=0.03)


def test_the_bound_of_a_gallery_at_its_ends() -> None:
    apart = 1 - np.eye(4)
    assert gallery_risk(apart, 10**6) == 1
    assert gallery_risk(apart, "1/1000000000") == pytest.approx(1 / 4)
    assert gallery_risk(np.zeros((4, 4)), 10**6) == pytest.approx(1 / 4)  # four faces with one code
    for wrong in ([[0, 1]], [[-1.0]], [], [[math.nan]]):
        with pytest.raises(DataError, match="square"):
            gallery_risk(wrong, 1)


# On blocks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("block", "levels"), [(1, 256), (2, 4)])
def test_who_knows_the_table_of_levels_is_right_as_often_as_anybody_can_be(block: int, levels: int) -> None:
    """A picture of one block and one channel: the largest entry of each column of the table."""
    made = pixel_exponential(epsilon=5, width=block, height=block, block=block, levels=levels, colours="grey")
    gallery = np.array([0, 80, 200, 255], np.uint8).repeat(block**2).reshape(4, block, block, 1)
    rows = made.table.channel().matrix[[round(shade * (levels - 1) / 255) for shade in (0, 80, 200, 255)]]
    attacker = LevelAttacker(replace(made, blur=2.0), gallery)
    best, two = float(rows.max(0).sum()) / 4, float(np.einsum("ki,kj->kij", rows, rows).max(0).sum()) / 4
    assert 0.4 < best < two <= attacker.bound
    assert attacker.success(1000, rng()) == pytest.approx(best, abs=4 * 0.5 / math.sqrt(4000))
    assert attacker.success(1000, rng(), releases=2) == pytest.approx(two, abs=4 * 0.5 / math.sqrt(4000))


@pytest.mark.parametrize("epsilon", [4, 16])
def test_who_knows_the_law_of_windows_is_right_as_often_as_anybody_can_be(epsilon: int) -> None:
    """One window of four cells in grey, of which all 81 outputs are listed: the likeliest candidate for each."""
    made = pixel_windows(epsilon=epsilon, width=4, height=4, block=2, window=2, levels=3, colours="grey")
    gallery = rng(7).integers(0, 256, (5, 4, 4, 1), dtype=np.uint8)
    true = made.blocks.sums(gallery).reshape(5, 4) / 4
    values = np.array(list(itertools.product((0.0, 128, 255), repeat=4)))
    weights = made.choice.weights(window_ssim(true[:, None], values[None]))
    chances = weights / weights.sum(1, keepdims=True)
    attacker = WindowAttacker(made, gallery)
    best, two = float(chances.max(0).sum()) / 5, float(np.einsum("ki,kj->kij", chances, chances).max(0).sum()) / 5
    assert 0.25 < best < two <= attacker.bound
    assert attacker.success(2000, rng()) == pytest.approx(best, abs=4 * 0.5 / math.sqrt(10_000))
    assert attacker.success(2000, rng(), releases=2) == pytest.approx(two, abs=4 * 0.5 / math.sqrt(10_000))


def test_cells_beside_windows_are_read_as_the_laplace_noise_that_they_have() -> None:
    made = pixel_windows(epsilon=60, width=5, height=4, block=2, window=2, levels=3, colours="grey")
    assert (made.grid.count, made.grid.left_over) == (1, 2)
    gallery = np.full((6, 4, 5, 1), 100, np.uint8)
    gallery[:, :, 4, 0] = rng(4).integers(0, 256, (6, 4))  # people differ there alone
    sums = made.blocks.sums(gallery)[:, :, 2, 0]
    space = CodeSpace((0.0, 0.0), (510.0, 510.0), (510, 510))
    known = BayesAttacker(NoisyCodes(2 * made.share, space), sums).success(2000, rng())
    assert WindowAttacker(made, gallery).success(2000, rng()) == pytest.approx(known, abs=5 * 0.5 / math.sqrt(12_000))


def test_attackers_refuse_what_they_cannot_use() -> None:
    attacker = gaussian_gallery(3, 1)
    codes = attacker.mechanism.space.codes(attacker.gallery)
    with pytest.raises(DataError, match="one release or more"):
        attacker.guesses()
    with pytest.raises(DataError, match="a row for each"):
        attacker.guesses(codes[:3], codes[:2])
    with pytest.raises(DataError, match="two people"):
        BayesAttacker(attacker.mechanism, codes[:1])
    with pytest.raises(ParameterError, match="whole numbers"):
        attacker.success(0)
    windows = pixel_windows(epsilon=1, width=4, height=4, block=1)
    for pictures in (np.zeros((1, 4, 4, 3), np.uint8), np.zeros((2, 4, 5, 3), np.uint8)):
        with pytest.raises(DataError, match="two people"):
            WindowAttacker(windows, pictures)
    with pytest.raises(ParameterError, match="whole numbers"):
        WindowAttacker(windows, np.zeros((2, 4, 4, 3), np.uint8)).success(0)


# On pictures --------------------------------------------------------------------------------------------------------------


def split(people: int, seed: int) -> tuple[LabelledFaces, LabelledFaces]:
    """Three expressions of everybody are known, and one is asked for."""
    faces, who = cartoon_faces(people, seed=seed)
    asked = np.arange(len(faces)) % 4 == 2
    return LabelledFaces(faces[~asked], who[~asked]), LabelledFaces(faces[asked], who[asked])


def test_a_recogniser_is_the_discriminant_of_another_library() -> None:
    faces, who = cartoon_faces(12)
    mine = Recogniser(components=10, shrinkage=0.2).fit(faces, who)
    places = mine._basis.forward(faces.reshape(len(faces), -1) / 255)
    away = places - np.array([places[who == person].mean(0) for person in range(12)])[who]
    covariance = away.T @ away / len(away)
    shrunk = 0.8 * covariance + 0.2 * covariance.trace() / 10 * np.eye(10)

    class Shrunk:
        def fit(self, X: Any) -> Any:
            self.covariance_ = shrunk
            return self

    oracle = LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=Shrunk()).fit(places, who)
    other, _ = cartoon_faces(12, seed=4)
    there = mine._basis.forward(other.reshape(len(other), -1) / 255)
    assert np.abs(mine.scores(other) - oracle.predict_proba(there)).max() < 1e-8


def test_a_recogniser_tells_clean_people_apart_even_by_one_face_each() -> None:
    known, asked = split(60, seed=2)
    assert (Recogniser().fit(known.pictures, known.people).predict(asked.pictures) == asked.people).mean() > 0.98
    once = Recogniser().fit(known.pictures[::3], np.asarray(known.people)[::3])
    assert (once.predict(asked.pictures) == asked.people).mean() > 0.9


def test_risks_rise_with_epsilon_and_none_is_above_that_of_the_best_attacker(tmp_path: Path) -> None:
    public, _ = cartoon_faces(60, 2, seed=7)
    model = train_eigenfaces(tmp_path / "public.nwm", public, source="drawn in code")
    known, asked = split(40, seed=8)
    found: dict[int, dict[str, float]] = {}
    for epsilon in (5, 1000):
        hidden = LatentObfuscator(model, epsilon=epsilon, components=12)
        random = rng()
        found[epsilon] = picture_risks(known, asked, lambda faces, h=hidden, r=random: h.release(faces, r), copies=4)  # type: ignore[misc]
        gallery = BayesAttacker(hidden.codes, model.encode(asked.pictures)[:, :12])
        slack = 4 * 0.5 / math.sqrt(160)
        best, composed = gallery.success(10, rng()), gallery.success(10, rng(), releases=2)
        assert max(found[epsilon][name] for name in ("naive", "parrot")) <= best + slack
        assert found[epsilon]["composed"] <= composed + slack
    assert found[5]["clean"] == found[1000]["clean"] > 0.95
    assert max(found[5][name] for name in ("naive", "parrot", "composed")) < 0.15  # chance is 0.025
    assert found[1000]["parrot"] > 0.6
    assert found[1000]["parrot"] >= found[1000]["naive"] > found[5]["naive"]
    assert found[1000]["reverse"] > 0.6


def test_the_composed_attack_adds_up_two_different_releases() -> None:
    known, asked = split(10, seed=3)
    calls: list[int] = []

    def only_the_third_time(faces: Any) -> Any:
        """Of what is known, then twice of what is asked for: noise that hides all but the last."""
        calls.append(len(faces))
        return faces if len(calls) == 3 else rng(len(calls)).integers(120, 130, faces.shape).astype(np.uint8)

    found = picture_risks(known, asked, only_the_third_time, copies=1)
    assert calls == [30, 10, 10]
    assert found["naive"] < 0.3
    assert found["composed"] > 0.45  # where the first release has no firm opinion, the second decides


def test_recognisers_refuse_what_they_cannot_use() -> None:
    faces, who = cartoon_faces(3)
    with pytest.raises(ParameterError, match="call fit first"):
        Recogniser().predict(faces)
    for labels in (who[:-1], np.zeros(len(faces))):
        with pytest.raises(DataError, match="two people or more"):
            Recogniser().fit(faces, labels)
    with pytest.raises(DataError, match="pictures, rows"):
        Recogniser().fit(faces[:, 0], who)
    for wrong in ({"components": 0}, {"shrinkage": 0}):
        with pytest.raises(ParameterError):
            Recogniser(**wrong)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="label of its person"):
        LabelledFaces(faces, who[1:])
    faces_and_names = LabelledFaces(faces, who)
    with pytest.raises(ParameterError, match="copies"):
        picture_risks(faces_and_names, faces_and_names, lambda given: given, copies=0)


def test_a_recogniser_is_linear_and_its_features_are_what_is_left_without_the_last_step() -> None:
    faces, people = cartoon_faces(8, size=16, seed=4)
    recogniser = Recogniser(20).fit(faces, people)
    flat = faces.reshape(len(faces), -1) / 255
    slopes, offsets = recogniser.linear
    assert np.abs(softmax(flat @ slopes + offsets, axis=1) - recogniser.scores(faces)).max() < 1e-9
    slopes, offsets = recogniser.features
    features = flat @ slopes + offsets
    means = np.stack([features[people == person].mean(0) for person in range(8)])
    nearest = (
        ((features[:, None] - means) ** 2).sum(2).argmin(1)
    )  # with one covariance, the nearest mean is the likeliest
    assert (nearest == recogniser.predict(faces)).all()
