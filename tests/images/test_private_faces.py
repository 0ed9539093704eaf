"""Faces as a mechanism: files in and out, codes that are the same everywhere, what epsilon means, and draws alone."""

from __future__ import annotations

import json
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from face_support import SIZE, face_files, tiny_model
from photo_support import photo
from picture_support import drawing, small_picture

import noisewright as nw
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker
from noisewright.claims.phrases import measured_parts
from noisewright.exceptions import CertificateError, DataError, FileFormatError, NoisewrightError, ParameterError
from noisewright.images import (
    FaceMethod,
    Gallery,
    LatentObfuscator,
    Region,
    SnappedLaw,
    cartoon_faces,
    chunks_of,
    obfuscate_pictures,
    open_model,
    png_of,
    private_faces,
    read_picture,
    shipped_model,
    sprite_faces,
    train_eigenfaces,
)
from noisewright.images.faces.mechanism import left_out, most_left_out
from noisewright.images.faces.reidentification import measured_on_public_faces
from noisewright.images.pictures import resized
from noisewright.io import read_model, write_model
from noisewright.mechanisms.from_certificate import mechanism_of
from noisewright.releases.certificate import recomputed


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


# Codes --------------------------------------------------------------------------------------------------------------------


def test_a_face_has_the_same_code_alone_and_among_others() -> None:
    """Sums of products are exact: they are those of Python's whole numbers, whatever is added up first."""
    model, (faces, _) = tiny_model(), cartoon_faces(40, 1, size=SIZE, seed=3)
    codes = model.encode(faces)
    for some in (faces[:1], faces[5:7], faces[::-1][:33]):
        places = [int(np.flatnonzero((faces == face).all((1, 2, 3)))[0]) for face in some]
        assert (model.encode(some) == codes[places]).all()
    assert (model.encode(faces, 3) == codes[:, :3]).all()
    directions = np.asarray(model.basis.directions, np.float64)
    whole = [[int(value) for value in np.rint(row * 2**24)] for row in directions]
    assert (directions * 2**24 == whole).all()
    pixels = faces[7].reshape(-1).tolist()
    exact = [Fraction(sum(p * w for p, w in zip(pixels, row, strict=True)), 2**24) for row in whole]
    middle = [float(np.asarray(model.basis.mean, np.float64) @ row) for row in directions]
    assert codes[7].tolist() == [float(code) - m for code, m in zip(exact, middle, strict=True)]


def test_what_is_drawn_is_the_snapped_law_of_the_code() -> None:
    """One element of 4,000 draws: mean and share of the ends within 5 standard errors (error rate below 1e-5)."""
    hidden = private_faces(tiny_model(), epsilon=4, components=1)
    face = cartoon_faces(1, 1, size=SIZE, seed=11)[0][0]
    space, model = hidden.hidden.space, tiny_model()
    place = float(space.points(model.encode(face[None], 1))[0, 0]) / space.steps[0]
    drawn = hidden.release(np.repeat(face[None], 4000, 0), rng())
    assert drawn.shape == (4000, SIZE, SIZE, 3)
    distinct = {picture.tobytes() for picture in drawn}
    low, high = (model.decode(np.array([[end]]))[0].tobytes() for end in (space.low[0], space.high[0]))
    law = SnappedLaw(scale=1 / 4)
    for end, chance in zip((low, high), law.ends(place), strict=True):
        share = np.mean([picture.tobytes() == end for picture in drawn])
        # some codes beside the end are decoded alike, since pixels are rounded: at most 2 % of the range
        near = float(law.ends(np.clip(place, 0.02, 0.98))[0 if end == low else 1]) * 0.1
        assert abs(share - chance) < 5 * np.sqrt(chance * (1 - chance) / 4000) + near
    assert 20 < len(distinct) < 4000


# Files and sizes ----------------------------------------------------------------------------------------------------------


def test_files_come_out_in_the_size_of_the_model_without_metadata() -> None:
    hidden = private_faces(tiny_model(), epsilon=60)
    found = hidden.release(face_files(70), rng())
    assert [chunks_of(content) for content in found] == [["IHDR", "IDAT", "IEND"]] * 70
    assert {read_picture(content).shape for content in found} == {(SIZE, SIZE, 3)}
    one_by_one = rng()
    alone = [hidden.release(content, one_by_one) for content in face_files(3)]
    assert all(isinstance(content, bytes) for content in alone)


def test_other_sizes_are_refused_or_resized() -> None:
    large = face_files(1, size=30)
    for look in (private_faces(tiny_model(), epsilon=60).release, private_faces(tiny_model(), epsilon=60).check):
        with pytest.raises(DataError, match=r"not the size of the model, of 12 x 12 pixels; crop and align"):
            look(large)
    fitting = private_faces(tiny_model(), epsilon=10**9, components=10, fit="resize")
    assert read_picture(fitting.release(large)[0]).shape == (SIZE, SIZE, 3)


def test_the_distance_of_faces_is_that_of_their_codes() -> None:
    hidden = private_faces(tiny_model(), epsilon=60)
    one, other = face_files(2)
    codes = tiny_model().encode(np.stack([read_picture(one), read_picture(other)]), hidden.hidden.components)
    apart = hidden.guarantee.metric.distance(one, other)
    assert apart == hidden.hidden.space.metric.distance(*codes)
    assert 0 < apart < 1
    assert hidden.guarantee.metric.distance(read_picture(one), read_picture(one)) == 0
    assert hidden.map(apart) == pytest.approx(60 * apart)


def test_models_that_do_not_fit_are_refused_in_a_sentence(tmp_path: Path) -> None:
    about, arrays = read_model(tiny_model().resource, "eigenfaces")
    strange = write_model(tmp_path / "strange.nwm", "dreams", about, arrays)
    with pytest.raises(FileFormatError, match=r"strange.nwm is a model of the kind 'dreams'"):
        private_faces(strange, epsilon=60)
    for name, wrong in (
        ("gallery", np.zeros((3, 2))),
        ("people", np.zeros(60)),
        ("gallery", np.full((60, 20), np.nan)),
    ):
        bad = write_model(tmp_path / "bad.nwm", "eigenfaces", about, {**arrays, name: wrong})
        with pytest.raises(FileFormatError, match="no eigenfaces"):
            open_model(bad)
    (tmp_path / "bad.nwm").write_bytes(b"another file")
    with pytest.raises(NoisewrightError, match="was changed"):
        open_model(bad)


# What epsilon means -------------------------------------------------------------------------------------------------------


def test_a_file_keeps_some_faces_of_some_people() -> None:
    gallery = Gallery.of(np.arange(6000.0).reshape(3000, 2), np.repeat(np.arange(300), 10))
    assert len(gallery.codes) == 200 * 4
    assert gallery.codes[4].tolist() == [20, 21]
    assert gallery.one_each[1].tolist() == [20, 21]
    assert Gallery.of(np.ones((5, 2))).people.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(DataError, match="label of its person"):
        Gallery.of(np.ones((5, 2)), [1, 2])


def test_epsilon_is_measured_on_the_public_faces_of_the_model() -> None:
    model = tiny_model()
    public, _ = cartoon_faces(30, 2, size=SIZE, seed=1)
    hidden = LatentObfuscator(model, epsilon=60)
    found = measured_on_public_faces(hidden)
    assert found is not None
    space = hidden.space
    codes = (np.clip(model.encode(public, hidden.components), space.low, space.high) - space.low) / space.ranges
    between = [np.abs(codes[a] - codes[b]).mean() for a in range(0, 60, 2) for b in range(0, a, 2)]
    within = [np.abs(codes[a] - codes[a + 1]).mean() for a in range(0, 60, 2)]
    assert (found.people, found.components) == (30, hidden.components)
    assert found.closest == pytest.approx(min(between), abs=3e-4)
    assert found.typical == pytest.approx(float(np.median(between)), abs=3e-4)
    assert found.faces == pytest.approx(float(np.median(within)), abs=3e-4)
    # another attacker, in floats: Laplace noise of scale c / epsilon, and the nearest in the sum of differences
    noise, right = rng(5), 0
    for _ in range(200):
        noisy = np.clip(codes[::2] + noise.laplace(0, hidden.components / 60, codes[::2].shape), 0, 1)
        right += int((np.abs(noisy[:, None] - codes[None, ::2]).sum(-1).argmin(1) == np.arange(30)).sum())
    assert found.best == pytest.approx(right / 6000, abs=0.04)
    assert found.chance < found.best <= found.bound <= 1
    twice = measured_on_public_faces(LatentObfuscator(model, epsilon=120, components=hidden.components))
    assert twice is not None
    assert twice.best > found.best
    assert twice.typical == found.typical


def test_the_certificate_states_it_and_whoever_has_the_file_measures_it_again(tmp_path: Path) -> None:
    for weights in ("even", "least-error"):
        hidden = private_faces(tiny_model(), epsilon=60, weights=weights)  # type: ignore[arg-type]
        stated = hidden.certificate()
        assert stated.document["measured"] == hidden.measured
        assert hidden.measured["source"] == "tiny.nwm (drawn in code)"
        assert 'measured on public data, as stated: 30 people in "tiny.nwm (drawn in code)"' in stated.verify()
        assert "two typical people" in hidden.in_words()
        again = recomputed(stated.document)
        assert (again.wrong, again.unchecked) == (None, ())
        assert again.agreed == (
            "what epsilon means on the public faces of tiny.nwm was measured again, and is as stated",
        )
        rebuilt = mechanism_of(stated)
        assert rebuilt.certificate().document == stated.document
        for wrong in ({"typical": {"apart": "0.001", "loss": "0.06"}}, {"best": "4"}):
            document = {**stated.document, "measured": {**hidden.measured, **wrong}}
            forged = Certificate({**document, "digest": checker.digest(document)})
            assert "as stated" in forged.verify()  # nothing that is proved rests on it
            assert recomputed(forged.document).wrong == (
                "what epsilon means on the public faces of tiny.nwm is not what the certificate states."
            )
    without = {name: value for name, value in hidden.measured.items() if name != "closest"}
    for bad in (without, {**hidden.measured, "source": "two\nlines"}, {**hidden.measured, "best": "-1"}):
        document = {**stated.document, "measured": bad}
        with pytest.raises(CertificateError, match="measured on public faces"):
            Certificate({**document, "digest": checker.digest(document)}).verify()
    lonely = train_eigenfaces(tmp_path / "lonely.nwm", np.concatenate([read_picture(f)[None] for f in face_files(9)]))
    alone = private_faces(lonely, epsilon=60)
    assert alone.meaning is not None
    assert alone.meaning.faces is None
    assert "same" not in alone.measured


def test_a_proof_about_another_model_is_not_rebuilt() -> None:
    stated = private_faces(tiny_model(), epsilon=60).certificate()
    document = {**stated.document, "resources": [shipped_model().resource.to_json()]}
    assert "is not what the certificate states" in str(
        recomputed(Certificate({**document, "digest": checker.digest(document)}).document).wrong
    )


def test_a_certificate_with_any_number_of_parts_is_not_about_a_model() -> None:
    stated = private_faces(tiny_model(), epsilon=60).certificate()
    parts = [{**part, "count": None} for part in stated.document["proof"]["parts"]]
    document = {**stated.document, "proof": {**stated.document["proof"], "parts": parts}}
    forged = Certificate({**document, "digest": checker.digest(document)})
    with pytest.raises(CertificateError, match="does not fit the proof"):
        forged.verify()
    assert "components is a whole number" in str(recomputed(forged.document).wrong)


# Pictures that a model cannot draw ----------------------------------------------------------------------------------------


def strangers() -> list[bytes]:
    """PNG files of what no model of faces can draw."""
    return [png_of(rng(seed).integers(0, 256, (SIZE, SIZE, 3), dtype=np.uint8)) for seed in range(3)]


def test_a_picture_that_the_model_cannot_draw_is_refused_unless_it_is_to_be_drawn(tmp_path: Path) -> None:
    hidden, told = (
        private_faces(tiny_model(), epsilon=60),
        r"far from what the model tiny\.nwm \(drawn in code\) can draw",
    )
    pixels = np.stack([read_picture(content) for content in strangers()])
    for look in (hidden.release, hidden.check):
        for given in (strangers(), strangers()[0], pixels, pixels[0], [*face_files(2), strangers()[0]]):
            with pytest.raises(DataError, match=told):
                look(given)
        look(face_files(60))
    with pytest.raises(DataError, match='say unlike = "draw"'):
        FaceMethod(hidden).obfuscated(pixels[0])
    anyway = private_faces(tiny_model(), epsilon=60, unlike="draw")
    assert anyway.release(pixels).shape == pixels.shape
    assert anyway.certificate().document == hidden.certificate().document  # neither the choice nor a picture is in it
    with pytest.raises(ParameterError, match="unlike must be"):
        private_faces(tiny_model(), epsilon=60, unlike="shrug")  # type: ignore[arg-type]
    lonely = train_eigenfaces(tmp_path / "lonely.nwm", pixels, people=[0, 0, 0])
    assert (
        private_faces(lonely, epsilon=60, components=1).release(pixels).shape == pixels.shape
    )  # nothing to compare with


def test_faces_of_the_same_kind_are_drawn_and_photographs_are_not() -> None:
    """The shipped model, and one of small photographs: faces that neither has seen."""
    photographs = (np.load(photo("lfw_subset.npy"))[:100] * 255).astype(np.uint8)[..., None]
    model = train_eigenfaces(Path(tempfile.mkdtemp(), "photographs.nwm"), photographs[:60], people=np.arange(60))
    limit = most_left_out(model)
    assert limit is not None
    assert left_out(model, photographs[60:]).max() < 0.9 * limit
    shipped = shipped_model()
    most = most_left_out(shipped)
    assert most is not None
    assert left_out(shipped, sprite_faces().of(range(68, 135)).pictures).max() < 0.95 * most
    large = np.stack([resized(np.repeat(one, 3, axis=2), 48, 48) for one in photographs])
    assert left_out(shipped, large).min() > 1.5 * most


def test_a_release_refuses_what_the_model_cannot_draw(tmp_path: Path) -> None:
    table = pa.table({"badge": pa.array([*face_files(4), strangers()[0]], pa.binary())})
    with pytest.raises(DataError, match=r"column 'badge': a picture lies far .* row 5 of the table"):
        nw.release(policy(), table, output=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    nw.release(policy(unlike="draw"), table, output=tmp_path / "out")
    for path in (tmp_path / "out").iterdir():
        assert b"lies far" not in path.read_bytes()


# Releases -----------------------------------------------------------------------------------------------------------------


def policy(**column: Any) -> dict[str, Any]:
    own = {"name": "badge", "mechanism": "faces", "model": str(tiny_model().resource.place()), "epsilon": 60}
    return {"dataset": "staff", "budget": {"epsilon": 100}, "order": "kept", "columns": [{**own, **column}]}


@pytest.fixture(autouse=True)
def own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOISEWRIGHT_LEDGER", str(tmp_path / "ledger.sqlite"))


def test_a_plan_says_what_epsilon_means_and_protects_what_is_near() -> None:
    types = pa.table({"badge": pa.array(face_files(2), pa.binary())})
    found = nw.plan(policy(), types)
    assert found.columns[0].measured == tuple(measured_parts(private_faces(tiny_model(), epsilon=60).measured))
    assert found.to_json()["columns"][0]["measured"][0].startswith('30 people in "tiny.nwm (drawn in code)"')
    near = nw.plan(policy(protect="0.05", epsilon=2), types).columns[0]
    assert (near.price, near.mechanism.epsilon) == (2, 40)  # type: ignore[union-attr]
    assert near.protects == "values at most 0.05 code units apart"
    assert near.block_rows == 4096  # pictures are small by what is public, not by what they are
    with pytest.raises(NoisewrightError, match="say components=1"):
        nw.plan(policy(epsilon="0.1"), types)


def test_neighbouring_tables_differ_in_the_draws_of_one_row_alone(tmp_path: Path) -> None:
    cells = face_files(20)
    others = [*cells[:13], face_files(1, seed=99)[0], *cells[14:]]
    for name, faces in (("one", cells), ("other", others)):
        table = pa.table({"badge": pa.array(faces, pa.binary())})
        nw.release(policy(), table, output=tmp_path / name, seed=3, format="parquet")
    drawn = [_released(tmp_path / name) for name in ("one", "other")]
    assert [place for place in range(20) if drawn[0][place] != drawn[1][place]] in ([13], [])
    certificates = [(tmp_path / name / "certificate.json").read_bytes() for name in ("one", "other")]
    assert certificates[0] == certificates[1]
    locks = [json.loads((tmp_path / name / "policy.lock").read_text()) for name in ("one", "other")]
    random = {"release", "nonce", "data", "at", "digest", "outputs"}
    one, other = ({k: v for k, v in lock.items() if k not in random} for lock in locks)
    assert one == other
    assert locks[0]["resources"] == [tiny_model().resource.to_json()]


def _released(folder: Path) -> list[bytes]:
    (table,) = folder.glob("**/*.parquet")
    found: list[bytes] = pq.read_table(table)["badge"].to_pylist()
    return found


def test_a_verified_folder_has_measured_again(tmp_path: Path) -> None:
    table = pa.table({"badge": pa.array([*face_files(5), None], pa.binary())})
    nw.release(policy(protect="0.05", epsilon=3, missing="keep"), table, output=tmp_path / "out")
    proved = nw.verify(tmp_path / "out")
    assert proved.proved
    assert proved.folder is not None
    assert any("was measured again" in text for text in proved.folder.agreed)
    report = (tmp_path / "out" / "report.html").read_text()
    assert "Measured on public data" in report
    assert "30 people in &quot;tiny.nwm (drawn in code)&quot;" in report


def test_without_a_model_the_small_one_is_used() -> None:
    column = {key: value for key, value in policy()["columns"][0].items() if key != "model"}
    table = pa.table({"badge": pa.array(face_files(3, size=48), pa.binary())})
    with pytest.raises(
        NoisewrightError, match=r"column 'badge': a picture lies far from what the model drawn-faces\.nwm"
    ):
        nw.release({**policy(), "columns": [column]}, table)
    done = nw.release({**policy(), "columns": [{**column, "unlike": "draw"}]}, table)
    assert done.plan.resources == (shipped_model().resource,)
    assert {read_picture(content).shape for content in done.data["badge"].to_pylist()} == {(48, 48, 3)}


# Folders ------------------------------------------------------------------------------------------------------------------


def test_a_folder_tells_neither_sizes_nor_colours_of_faces(tmp_path: Path) -> None:
    files = [tmp_path / f"{n}.png" for n in range(4)]
    for path, content in zip(
        files,
        [*face_files(1), *face_files(1, size=20), small_picture(1, 30, 9), small_picture(1, 12, 12, 1)],
        strict=True,
    ):
        path.write_bytes(content)
    method = FaceMethod(private_faces(tiny_model(), epsilon=60, fit="resize", unlike="draw"))
    done = obfuscate_pictures(method, files, tmp_path / "out")
    assert {one.size for one in done} == {(SIZE, SIZE, 3)}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "certificate-12x12.json",
        *(f"picture-{n:06}.png" for n in range(1, 5)),
    ]
    strict = FaceMethod(private_faces(tiny_model(), epsilon=60, unlike="draw"))
    done = obfuscate_pictures(strict, files, tmp_path / "strict")
    assert [one.problem is None for one in done] == [True, False, False, True]
    assert "not the size of the model" in str(done[1].problem)


def test_regions_are_faces_of_their_own() -> None:
    photo = drawing(60, 40)
    regions = (Region(2, 3, 12, 12), Region(30, 4, 24, 30))
    method = FaceMethod(private_faces(tiny_model(), epsilon=60, unlike="draw"), regions)
    drawn = method.obfuscated(photo, rng())
    marked = np.zeros(photo.shape[:2], bool)
    marked[3:15, 2:14] = marked[4:34, 30:54] = True
    assert (drawn[~marked] == photo[~marked]).all()
    assert (drawn[marked] != photo[marked]).mean() > 0.5
    (made,) = method.mechanisms(*photo.shape)
    assert made.clear == (
        "the size of pictures, and whether they are grey",
        "everything outside of the regions, and where they are",
    )
    grey = method.obfuscated(photo[..., :1], rng())
    assert grey.shape == (40, 60, 1)
    with pytest.raises(NoisewrightError, match="overlap"):
        FaceMethod(private_faces(tiny_model(), epsilon=60), (Region(0, 0, 9, 9), Region(8, 8, 9, 9)))
    with pytest.raises(NoisewrightError, match="ends beyond"):
        FaceMethod(private_faces(tiny_model(), epsilon=60), (Region(0, 0, 90, 9),)).obfuscated(photo)
