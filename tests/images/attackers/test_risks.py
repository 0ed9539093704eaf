"""Risk tables: what they say of methods whose risk is known, and how a trial is set up from a folder."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from noisewright.attacks import Attribute, FaceAttacks, LabelledFaces, Risk, Trial
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images import (
    BayesAttacker,
    LatentObfuscator,
    Recogniser,
    cartoon_faces,
    k_clusters,
    k_same_pixels,
    pixel_exponential,
    pixel_laplace,
    pixel_windows,
    png_of,
    train_eigenfaces,
)

MANY = 20


def attacks(copies: int = 4) -> FaceAttacks:
    faces, who = cartoon_faces(MANY, seed=8)
    asked = np.arange(len(faces)) % 4 == 2
    bright = faces.mean((1, 2, 3)) > np.median(faces.mean((1, 2, 3)))
    told = Attribute(Recogniser().fit(faces[~asked], bright[~asked]), bright[asked])
    known = LabelledFaces(faces[~asked], who[~asked])
    return FaceAttacks(known, LabelledFaces(faces[asked], who[asked]), {"bright": told}, copies, taught=2)


def folder_of(faces: np.ndarray, who: np.ndarray, place: Path) -> Path:
    for number, (face, person) in enumerate(zip(faces, who, strict=True)):
        own = place / f"person-{person:02}"
        own.mkdir(parents=True, exist_ok=True)
        (own / f"{number:03}.png").write_bytes(png_of(face))
    return place


def test_the_risk_is_the_strongest_attack_on_one_release() -> None:
    risk = Risk("some", {"naive": 0.1, "parrot": 0.3, "best": 0.2, "reverse": 0.9, "composed": 0.8}, {})
    assert (risk.strongest, risk.risk) == ("parrot", 0.3)
    luck = {"best": (0.19, 0.21), "parrot": (0.15, 0.5)}  # few draws were lucky for the parrot
    assert replace(risk, intervals=luck).strongest == "parrot"
    assert replace(risk, attacks={**risk.attacks, "best": 0.3}).strongest == "best"


def test_faces_as_they_are_and_one_face_for_all_are_the_ends_of_the_scale() -> None:
    found = attacks()
    same, nothing = found.fixed(lambda face: face, "same"), found.fixed(lambda face: face * 0 + 7, "nothing")
    assert same.attacks["naive"] == found.clean().attacks["naive"] >= 0.95
    assert (same.attacks["best"], same.kept["ssim"], same.kept["mse"]) == (1, pytest.approx(1), 0)
    assert same.kept == found.clean().kept
    assert nothing.attacks["best"] == nothing.attacks["naive"] == 1 / MANY  # the same name for everybody
    assert nothing.kept["ssim"] < 0.2
    assert nothing.kept["bright"] in (
        found.attributes["bright"].truth.mean(),
        1 - found.attributes["bright"].truth.mean(),
    )


def test_noise_on_codes_is_attacked_by_the_best_attacker_and_stays_below_its_bound(tmp_path: Path) -> None:
    model = train_eigenfaces(tmp_path / "public.nwm", cartoon_faces(60, 2, seed=7)[0])
    found = attacks(10)
    risks = {epsilon: found.codes(LatentObfuscator(model, epsilon=epsilon, components=8), "") for epsilon in (8, 400)}
    for risk in risks.values():
        assert risk.components == 8
        assert risk.bound is not None
        slack = 4 * 0.5 / math.sqrt(10 * MANY)
        assert max(risk.attacks[name] for name in ("naive", "parrot")) <= risk.attacks["best"] + slack
        assert risk.attacks["best"] <= risk.bound + slack
        assert risk.attacks["composed"] <= risk.attacks["best of two"] + slack
    assert risks[8].risk < 0.4
    assert risks[400].risk > 0.9
    assert risks[8].kept["mse"] > risks[400].kept["mse"]
    assert found.codes(LatentObfuscator(model, epsilon=8, components=8), "") == risks[8]  # draws are repeated


def test_the_best_attacker_is_asked_often_even_where_pictures_are_few(tmp_path: Path) -> None:
    """Its share is known to about a hundredth; the image attackers, asked 20 times, do not beat it beyond their intervals."""
    model = train_eigenfaces(tmp_path / "public.nwm", cartoon_faces(60, 2, seed=7)[0])
    found, hidden = attacks(1), LatentObfuscator(model, epsilon=40, components=8)
    risk = found.codes(hidden, "")
    low, high = risk.intervals["best"]
    assert low < risk.attacks["best"] < high < low + 0.02
    codes = model.encode(found.asked.pictures, 8)
    again = BayesAttacker(hidden.codes, codes).success(4000, np.random.default_rng(77))  # 80,000 draws
    assert low - 0.005 < again < high + 0.005
    for name in ("naive", "parrot"):
        assert risk.intervals[name][0] <= high
        assert risk.intervals[name][1] - risk.intervals[name][0] > 0.1
    assert "reverse" not in risk.intervals


def test_noise_on_pixels_is_attacked_by_the_best_attacker_on_the_sums_of_blocks() -> None:
    """Ragged blocks included: the least sum of distances, drawn by hand, is what the attacker has."""
    found = attacks(2)
    made = pixel_laplace(epsilon=200, width=24, height=24, block=10)
    risk = found.pixels(made, "")
    sums = made.blocks.sums(found.asked.pictures).reshape(MANY, -1).astype(float)
    right, rng = 0, np.random.default_rng(5)
    for _ in range(400):
        noisy = sums + rng.laplace(0, float(made.scale), sums.shape)
        apart = np.abs(noisy[:, None] - sums[None]).sum(2)
        right += int((apart.argmin(1) == np.arange(MANY)).sum())
    low, high = risk.intervals["best"]
    assert low - 0.02 < right / (400 * MANY) < high + 0.02  # 8,000 draws: 0.02 is more than three deviations
    assert 0.2 < risk.risk < 0.95
    assert risk.strongest == "best"
    assert risk.bound is not None
    assert low <= risk.bound <= 1
    other = found.pixels(pixel_windows(epsilon=3, width=24, height=24, block=8), "")
    assert other.bound == pytest.approx(1 / (1 + (MANY - 1) * math.exp(-3)))
    assert max(low for low, _ in other.intervals.values()) <= other.bound
    third = found.pixels(pixel_exponential(epsilon=3, width=24, height=24, block=8), "")
    assert third.bound == other.bound
    assert max(low for low, _ in third.intervals.values()) <= third.bound


def test_k_same_is_attacked_as_by_hand() -> None:
    found = attacks()
    risk = found.k_same(lambda faces, rng: k_same_pixels(faces, 4, rng=rng), "k-same")
    assert risk.attacks["best"] == pytest.approx(5 / MANY)  # five clusters of four
    assert max(risk.attacks["naive"], risk.attacks["parrot"]) <= risk.attacks["best"]
    assert risk.attacks["background"] > risk.attacks["best"]
    assert 1 / 4 < risk.attacks["composed"] <= risk.attacks["best of two"]
    assert risk.left is not None
    assert 1 <= risk.left < 4

    def all_in_one(faces: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
        return np.repeat(faces[:1], len(faces), 0), k_clusters(faces.reshape(len(faces), -1), len(faces))

    one = found.k_same(all_in_one, "one cluster")
    assert (one.attacks["best"], one.attacks["naive"]) == pytest.approx((1 / MANY, 1 / MANY))
    assert one.left == MANY - 2 * (MANY // 7)
    assert one.attacks["background"] == pytest.approx(1 / (MANY - (MANY - 1) // 2))


def test_attacks_refuse_what_they_cannot_use() -> None:
    found = attacks()
    twice = LabelledFaces(found.known.pictures, found.known.people)
    with pytest.raises(DataError, match="one face of each person"):
        FaceAttacks(found.known, twice)
    with pytest.raises(DataError, match="of the same people"):
        FaceAttacks(found.known, LabelledFaces(found.asked.pictures[:3], np.asarray(found.asked.people)[:3]))
    with pytest.raises(ParameterError, match="copies, taught and draws"):
        FaceAttacks(found.known, found.asked, copies=0)


def test_a_whitened_recogniser_is_a_plain_one_on_components_of_one_size() -> None:
    faces, who = cartoon_faces(9)
    white = Recogniser(12, 0.2, whitened=True).fit(faces, who)
    basis = white._basis
    sized = basis.forward(faces.reshape(len(faces), -1) / 255) / basis.spreads
    assert sized.std(0) == pytest.approx(np.ones(12))
    means = np.array([sized[who == person].mean(0) for person in range(9)])
    away = sized - means[who]
    covariance = away.T @ away / len(away)
    covariance = 0.8 * covariance + 0.2 * covariance.trace() / 12 * np.eye(12)
    apart = sized[:, None] - means[None]
    far = np.einsum("fpi,ij,fpj->fp", apart, np.linalg.inv(covariance), apart)
    true = np.exp(-far / 2)
    assert white.scores(faces) == pytest.approx(true / true.sum(1, keepdims=True), abs=1e-9)


def test_a_trial_of_a_folder_hides_half_of_the_people_or_all_where_there_is_a_model(tmp_path: Path) -> None:
    faces, who = cartoon_faces(9, seed=3)
    place = folder_of(faces, who, tmp_path / "faces")
    trial = Trial.of(place, size=24, copies=2)
    assert (trial.people, trial.chance) == (5, 1 / 5)
    assert trial.model_words == "eigenfaces of 16 faces of 4 other people"
    assert trial.known == "of whom 3 faces each are known and one is asked about"
    assert sorted(trial.attacks.asked.people) == [f"person-{n:02}" for n in range(4, 9)]
    assert (trial.attacks.asked.pictures == faces[16::4]).all()  # the first face of each
    risk = trial.noisy(Fraction(200), 3)
    assert (risk.method, risk.components) == ("epsilon 200", 3)
    assert trial.k_same(2).attacks["best"] == pytest.approx(2 / 5)
    model = train_eigenfaces(tmp_path / "some.nwm", faces)
    given = Trial.of(place, tmp_path / "some.nwm", copies=2)
    assert given.people == 9
    assert given.model_words == f"some.nwm, {len(model.low)} elements"


def test_folders_that_make_no_trial_are_refused(tmp_path: Path) -> None:
    faces, who = cartoon_faces(4, 2)
    with pytest.raises(FileFormatError, match="no folder"):
        Trial.of(tmp_path / "gone")
    few = folder_of(faces[:6], who[:6], tmp_path / "few")
    with pytest.raises(FileFormatError, match="four people or more"):
        Trial.of(few)
    (tmp_path / "loose").mkdir()
    (tmp_path / "loose" / "some.png").write_bytes(png_of(faces[0]))
    with pytest.raises(FileFormatError, match="whose faces are whose"):
        Trial.of(tmp_path / "loose")


def test_attributes_of_a_table_are_told_by_who_learned_them_from_others(tmp_path: Path) -> None:
    faces, who = cartoon_faces(16, seed=3)
    place = folder_of(faces, who, tmp_path / "faces")
    bright = faces.mean((1, 2, 3)) > np.median(faces.mean((1, 2, 3)))
    rows = [
        f"person-{person:02}/{number:03}.png,p{person:02},{light},0.5"
        for number, (person, light) in enumerate(zip(who, bright, strict=True))
    ]
    (place / "labels.csv").write_text("\n".join(["file,person,bright,yaw", *rows]) + "\n")
    trial = Trial.of(place, size=24, copies=1)
    assert set(trial.attacks.attributes) == {"bright"}
    assert trial.attacks.attributes["bright"].truth.tolist() == [str(light) for light in bright[32::4]]
    assert trial.attacks.clean().kept["bright"] >= 0.75
