"""Bases, the number of components, model files, eigenfaces, and faces through all of it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images import (
    Basis,
    CodeSpace,
    Eigenfaces,
    LatentObfuscator,
    cartoon_faces,
    component_count,
    open_model,
    train_eigenfaces,
)
from noisewright.io import read_model, write_model


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Eigenfaces:
    faces, _ = cartoon_faces(40, 2, seed=9)
    return train_eigenfaces(tmp_path_factory.mktemp("models") / "cartoons.nwm", faces, source="drawn in code")


# Basis --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(40, 9), (9, 40)])
def test_im_fact_10_the_way_back_is_exact_and_the_printed_one_is_not(shape: tuple[int, int]) -> None:
    codes = rng().normal(3, 2, shape)
    basis = Basis.fit(codes)
    there = basis.forward(codes)
    assert np.abs(basis.backward(there) - codes).max() < 1e-13
    if shape[0] > shape[1]:  # the printed inverse multiplies by the same matrix again, and forgets the mean
        assert np.abs(there @ basis.directions.T - codes).max() > 1
    assert np.abs(there.mean(0)).max() < 1e-12
    assert there.min(0).tolist() == pytest.approx(basis.low.tolist(), abs=1e-12)
    assert (basis.ranges > 0).all()


def test_a_basis_is_that_of_another_library() -> None:
    codes = rng().normal(size=(60, 12)) * np.arange(1, 13)
    basis, oracle = Basis.fit(codes, 5), PCA(5, svd_solver="full").fit(codes)
    assert basis.spreads.tolist() == pytest.approx((oracle.singular_values_ / np.sqrt(60)).tolist())
    assert np.abs(np.einsum("ij,ij->i", basis.directions, oracle.components_)).tolist() == pytest.approx([1] * 5)


def test_directions_in_which_nothing_differs_are_left_out() -> None:
    codes = rng().normal(size=(30, 2)) @ rng(2).normal(size=(2, 6)) + 4
    assert Basis.fit(codes).size == 2
    with pytest.raises(DataError, match="all the same"):
        Basis.fit(np.ones((5, 3)))
    for wrong in ([[1.0, 2.0]], [[np.nan], [1.0]], [1.0, 2.0]):
        with pytest.raises(DataError, match="two public codes or more"):
            Basis.fit(wrong)
    with pytest.raises(DataError, match="2 components"):
        Basis.fit(codes).backward(np.ones(3))


# How many components -------------------------------------------------------------------------------------------------------


def corrected_search(spreads: Any, ranges: Any, epsilon: float, alpha: float) -> int:
    """Halving between a count that is fine and one that is not."""
    fine, not_fine = 0, len(spreads) + 1
    while not_fine - fine > 1:
        middle = (fine + not_fine) // 2
        good = all(middle * r / epsilon < alpha * s for r, s in zip(ranges[:middle], spreads[:middle], strict=True))
        fine, not_fine = (middle, not_fine) if good else (fine, middle)
    return fine


def printed_search(spreads: Any, ranges: Any, epsilon: float, alpha: float) -> int:
    """As published: the upper end is a count that failed, and it is what is returned."""
    least, most = 1, len(spreads)
    middle = -(-(least + most) // 2)
    while middle != most:
        good = all(middle * r / epsilon < alpha * s for r, s in zip(ranges[:middle], spreads[:middle], strict=True))
        least, most = (middle, most) if good else (least, middle)
        middle = -(-(least + most) // 2)
    return middle


def test_im_fact_11_the_printed_search_returns_a_count_with_too_much_noise() -> None:
    spreads, ranges = [1.0] * 5, [9.0] * 5
    assert component_count(spreads, ranges, epsilon=25) == 2
    assert printed_search(spreads, ranges, 25, 0.9) == 3
    assert 3 * 9 / 25 > 0.9 > 2 * 9 / 25


def instances(many: int) -> Any:
    random = rng()
    for _ in range(many):
        size = int(random.integers(3, 40))
        yield random.uniform(0.1, 3, size), random.uniform(0.2, 12, size), float(random.uniform(1, 300))


def test_im_fact_12_the_closed_form_is_the_corrected_search_and_the_printed_one_is_refuted() -> None:
    wrong = inner = 0
    for spreads, ranges, epsilon in instances(5000):
        true = corrected_search(spreads, ranges, epsilon, 0.9)
        if not true:
            with pytest.raises(ParameterError, match="even one component"):
                component_count(spreads, ranges, epsilon=epsilon)
            continue
        assert component_count(spreads, ranges, epsilon=epsilon) == true
        if true < len(spreads):
            inner += 1
            wrong += printed_search(spreads, ranges, epsilon, 0.9) == true + 1
    assert wrong == inner > 1000


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.floats(1, 2), st.floats(1, 2))
def test_im_fact_13_more_epsilon_or_alpha_never_means_fewer_components(seed: int, more: float, higher: float) -> None:
    spreads, ranges = rng(seed).uniform(0.5, 1, (2, 12))
    before = component_count(spreads, ranges, epsilon=20, alpha=0.9)
    assert component_count(spreads, ranges, epsilon=20 * more, alpha=0.9) >= before
    assert component_count(spreads, ranges, epsilon=20, alpha=0.9 * higher) >= before


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 8))
def test_im_fact_14_distances_of_fewer_components(seed: int, kept: int) -> None:
    random = rng(seed)
    high, (one, other) = random.uniform(1, 5, 8), random.uniform(0, 5, (2, 8))
    whole, part = CodeSpace.of(np.zeros(8), high), CodeSpace.of(np.zeros(kept), high[:kept])
    assert kept * part.metric.distance(one[:kept], other[:kept]) <= 8 * whole.metric.distance(one, other) + 1e-9


def test_bad_counts_are_refused() -> None:
    for spreads, ranges in (([], []), ([1], [1, 2]), ([0.0], [1]), ([1], [-1])):
        with pytest.raises(ParameterError, match="above 0"):
            component_count(spreads, ranges, epsilon=1)
    for alpha in (0, -1, float("inf"), "much"):
        with pytest.raises(ParameterError, match="alpha"):
            component_count([1], [1], epsilon=1, alpha=alpha)  # type: ignore[arg-type]


# Files --------------------------------------------------------------------------------------------------------------------


def test_damaged_model_files_are_refused_whatever_was_changed(tmp_path: Path) -> None:
    faces, _ = cartoon_faces(5, 1)
    path = tmp_path / "m.nwm"
    train_eigenfaces(path, faces)
    content = path.read_bytes()
    header = content[16 : 16 + int.from_bytes(content[8:16], "little")]
    damaged = [b"", b"PNG", content[:40], content[:-1], content + b"\0", content[:8] + b"\xff" * 8 + content[16:]]
    swaps = [
        (b'"<f4"', b'"<f8"'),
        (b'"format": 2', b'"format": 9'),
        (b'"height": 24', b'"height": 99'),
        (b'"low"', b'"lot"'),
    ]
    swaps += [(b'"|O"', b'"|O"'), (b'"<f8"', b'"|O8"'), (b'"kind"', b'"kine"'), (b"[1728]", b"[-728]")]
    damaged += [content.replace(header, header.replace(*swap)) for swap in swaps if swap[0] in header]
    assert len(damaged) == 13
    for number, bytes_ in enumerate(damaged):
        bad = tmp_path / f"{number}.nwm"
        bad.write_bytes(bytes_)
        with pytest.raises(FileFormatError, match=f"{number}.nwm"):
            Eigenfaces.at(bad)
    about, arrays = read_model(Eigenfaces.at(path).resource, "eigenfaces")
    bad = (
        ("low", np.inf),
        ("spreads", 0.0),
        ("high", -1e9),
        ("directions", np.nan),
        ("directions", 2.0),
        ("mean", 300.0),
    )
    for name, wrong in bad:
        write_model(
            path := tmp_path / f"{name}-{wrong}.nwm", "eigenfaces", about, {**arrays, name: arrays[name] * 0 + wrong}
        )
        with pytest.raises(FileFormatError, match="no eigenfaces"):
            Eigenfaces.at(path)
    for end in ("low", "high"):  # a box that does not hold the public faces of its own file: distances in it would lie
        other = "high" if end == "low" else "low"
        narrow = arrays[end] + 0.01 * (arrays[other] - arrays[end])
        write_model(path := tmp_path / f"narrow-{end}.nwm", "eigenfaces", about, {**arrays, end: narrow})
        with pytest.raises(FileFormatError, match="no eigenfaces"):
            open_model(path)


def test_a_model_is_named_by_its_digest_and_pickled_without_content(model: Eigenfaces) -> None:
    packed = pickle.dumps(model)
    assert len(packed) < 500
    assert pickle.loads(packed) == model
    assert hash(pickle.loads(packed)) == hash(model)
    faces, _ = cartoon_faces(3, 1)
    assert (pickle.loads(packed).encode(faces) == model.encode(faces)).all()
    stated = LatentObfuscator(model, epsilon=300).certificate().document["resources"]
    assert stated == [model.resource.to_json()]


# Faces --------------------------------------------------------------------------------------------------------------------


def test_public_faces_come_back_from_their_codes(model: Eigenfaces) -> None:
    faces, _ = cartoon_faces(40, 2, seed=9)
    assert np.abs(model.decode(model.encode(faces)).astype(int) - faces).max() <= 2
    fewer = model.decode(model.encode(faces)[:, :20])
    assert 2 < np.abs(fewer.astype(int) - faces).mean() < 25


def test_im_fact_30_the_ends_of_epsilon(model: Eigenfaces) -> None:
    faces, _ = cartoon_faces(8, 1, seed=3)
    sharp = LatentObfuscator(model, epsilon=10**9, components=20)
    assert (sharp.release(faces) == sharp.clean(faces)).all()
    blind = LatentObfuscator(model, epsilon="1/1000000", components=20)
    points = blind.space.points(model.encode(faces)[:, :20])
    drawn = np.stack([blind.codes.drawn(points, rng(seed)) for seed in range(100)])
    assert np.isin(drawn, [0, 4096]).mean() > 0.9999  # each element at one of its bounds,
    heads = (drawn == 4096).mean((0, 2))
    assert np.abs(heads - 0.5).max() < 5 * 0.5 / np.sqrt(2000)  # by a fair coin, whoever it is


def test_a_release_is_of_the_shape_given_and_its_noise_is_new_every_time(model: Eigenfaces) -> None:
    hidden = LatentObfuscator(model, epsilon=200)
    faces, _ = cartoon_faces(3, 1, seed=5)
    assert hidden.components == component_count(model.spreads, model.high - model.low, epsilon=200)
    assert hidden.release(faces).shape == faces.shape
    assert hidden.release(faces[0]).shape == faces[0].shape
    assert (hidden.release(faces) != hidden.release(faces)).any()
    assert (hidden.release(faces, rng(4)) == hidden.release(faces, rng(4))).all()
    found = hidden.certificate(rng())
    assert found.epsilon == 200
    assert found.simulated
    assert found.document["proof"]["parts"][0]["count"] == hidden.components
    assert hidden.in_words().endswith("In the clear: only the declared size of pictures.")


def test_many_faces_are_done_in_pieces_and_come_out_in_order(model: Eigenfaces) -> None:
    faces, _ = cartoon_faces(150, 1, seed=6)
    sharp = LatentObfuscator(model, epsilon=10**9, components=20)
    assert (sharp.release(faces) == np.stack([sharp.release(face) for face in faces])).all()
    assert sharp.release(faces[:0]).shape == (0, 24, 24, 3)
    assert np.abs(model.encode(faces, 20) - model.encode(faces)[:, :20]).max() < 1e-2  # in single precision


def test_grey_faces_have_one_channel(tmp_path: Path) -> None:
    faces = cartoon_faces(20, 1)[0][..., :1]
    grey = train_eigenfaces(tmp_path / "grey.nwm", faces)
    assert repr(grey) == "Eigenfaces('grey.nwm', 24 x 24 pixels in grey, 19 components)"
    assert LatentObfuscator(grey, epsilon=100).release(faces).shape == faces.shape


def test_made_up_people_differ_more_than_expressions_do() -> None:
    faces, who = cartoon_faces(30, seed=3)
    flat = faces.reshape(len(faces), -1).astype(float)
    apart = np.abs(flat[:, None] - flat[None]).mean(-1)
    same = who[:, None] == who[None]
    assert apart[same & (apart > 0)].max() < apart[~same].min()
    assert (apart[same] > 0).sum() == 30 * 4 * 3  # every expression is another picture
    assert (cartoon_faces(30, seed=3)[0] == faces).all()
    for wrong in ({"people": 0}, {"people": 1, "expressions": 5}, {"people": 1, "size": 2.5}):
        with pytest.raises(ParameterError, match="expressions"):
            cartoon_faces(**wrong)  # type: ignore[arg-type]


def test_what_a_model_passes_by_the_noise_is_in_the_certificate(model: Eigenfaces) -> None:
    class Posed(Eigenfaces):
        clear = ("the pose of the head",)

    hidden = LatentObfuscator(Posed(model.resource), epsilon=100)
    assert 'in the clear, as stated: "the pose of the head"' in hidden.certificate().verify()
    assert "the pose of the head" in hidden.in_words()


def test_the_odds_of_public_faces(model: Eigenfaces) -> None:
    faces, _ = cartoon_faces(12, 2, seed=9)
    closest, typical = LatentObfuscator(model, epsilon=100).odds(faces)
    assert 0 <= closest < typical < 100
    twice = LatentObfuscator(model, epsilon=200, components=LatentObfuscator(model, epsilon=100).components)
    assert twice.odds(faces) == pytest.approx((2 * closest, 2 * typical))
    with pytest.raises(DataError, match="two faces"):
        twice.odds(faces[0])


def test_faces_and_parameters_that_do_not_fit_are_refused(model: Eigenfaces, tmp_path: Path) -> None:
    faces, _ = cartoon_faces(3, 1)
    hidden = LatentObfuscator(model, epsilon=100)
    for wrong in (faces[:, :-1], faces[..., :1], faces.astype(float), faces[0, 0]):
        with pytest.raises(DataError, match="24 rows, 24 columns and 3 channels"):
            hidden.release(wrong)
    for components in (0, 1000, 2.0):
        with pytest.raises(ParameterError, match="components is a whole number from 1 to the"):
            LatentObfuscator(model, epsilon=1, components=components)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="say components=1"):
        LatentObfuscator(model, epsilon=1)
    for wrong in (faces[..., :2], faces[0], faces[:0]):
        with pytest.raises(DataError, match="one size"):
            train_eigenfaces(tmp_path / "no.nwm", wrong)
    assert not list(tmp_path.iterdir())
