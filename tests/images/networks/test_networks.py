"""Networks of faces: what they learn, their files, and that nothing passes around the code but what is kept.

Everything is trained with fixed seeds on made-up faces of 24 pixels, small and short: the numbers asked for leave room for other
versions of the arithmetic underneath.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

import noisewright as nw
from noisewright import images as networks
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images import (
    AutoEncoder,
    IdentityGenerator,
    LatentObfuscator,
    PublicFaces,
    TrainingNoise,
    cartoon_faces,
    open_model,
    png_of,
    read_picture,
    train_eigenfaces,
)
from noisewright.images.faces.network import Attribute, attributes_in
from noisewright.io import read_model, write_model

EXPRESSIONS = ("sad", "doubtful", "neutral", "happy")


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Any:
    """Small networks are slower on several threads, and other tests run beside these."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def cartoons(people: int, seed: int = 1, size: int = 24) -> PublicFaces:
    pictures, who = cartoon_faces(people, size=size, seed=seed)
    return PublicFaces(pictures, who, {"expression": EXPRESSIONS * people}, source="drawn in code")


FACES = cartoons(24)
OTHERS = cartoons(12, seed=2)


def distance(one: Any, other: Any) -> float:
    """The mean absolute difference of pixels."""
    return float(np.abs(one.astype(float) - other.astype(float)).mean())


@pytest.fixture(scope="module")
def auto(tmp_path_factory: pytest.TempPathFactory) -> AutoEncoder:
    path = tmp_path_factory.mktemp("models") / "auto.nwm"
    return networks.train_autoencoder(path, FACES, code=24, first=16, epochs=24, batch=16)


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> IdentityGenerator:
    path = tmp_path_factory.mktemp("models") / "people.nwm"
    return networks.train_identities(path, FACES, code=32, epochs=25, batch=8)


# What they learn ----------------------------------------------------------------------------------------------------------


def test_an_auto_encoder_draws_faces_again_that_it_never_saw(auto: AutoEncoder) -> None:
    mean = FACES.pictures.mean(0)
    for faces, share in ((FACES, 0.7), (OTHERS, 0.9)):
        again = auto.decode(auto.encode(faces.pictures))
        assert again.shape == faces.pictures.shape
        assert distance(again, faces.pictures) < share * distance(mean, faces.pictures)
    assert auto.decode(np.empty((0, 24))).shape == (0, 24, 24, 3)


def test_codes_are_principal_components_in_the_public_box(auto: AutoEncoder) -> None:
    codes = auto.encode(FACES.pictures)
    assert (np.diff(auto.spreads) <= 1e-9).all()
    assert np.abs(codes.min(0) - auto.low).max() < 1e-4
    assert np.abs(codes.max(0) - auto.high).max() < 1e-4
    assert np.abs(np.corrcoef(codes.T) - np.eye(24)).max() < 1e-3
    few = auto.encode(FACES.pictures[:5], 3)
    assert np.abs(few - codes[:5, :3]).max() < 1e-4
    whole = np.zeros((5, 24))
    whole[:, :3] = few
    assert (auto.decode(few) == auto.decode(whole)).all()  # what a code lacks is the mean of public faces


def test_a_decoder_that_learned_with_noise_draws_better_from_noisy_codes(auto: AutoEncoder, tmp_path: Path) -> None:
    deaf = networks.train_autoencoder(tmp_path / "deaf.nwm", FACES, code=24, first=16, epochs=24, batch=16, noisy=False)
    errors = []
    for model in (auto, deaf):
        hidden, rng = LatentObfuscator(model, epsilon=150), np.random.default_rng(1)
        errors.append(np.mean([distance(hidden.release(FACES.pictures, rng), FACES.pictures) for _ in range(3)]))
    assert errors[0] < 0.97 * errors[1]


def test_a_generator_of_people_draws_them_with_their_expressions(people: IdentityGenerator) -> None:
    assert people.people == tuple(sorted(map(str, range(24)), key=int))
    who = np.asarray(FACES.people)
    rows = people.keeping("expression").rows_of(FACES.attributes)
    drawn = people.keeping("expression").decode(people.identities[who], rows)
    assert distance(drawn, FACES.pictures) < 0.65 * distance(FACES.pictures.mean(0), FACES.pictures)
    nearest = np.abs(drawn[:, None].astype(int) - FACES.pictures[None, 2::4]).mean((2, 3, 4)).argmin(1)
    assert (nearest == who).mean() > 0.95


def test_the_codes_of_people_are_the_box(people: IdentityGenerator) -> None:
    codes = people.identities
    assert codes.shape == (24, 32)
    assert np.abs(codes.min(0) - people.low).max() < 1e-6
    assert np.abs(codes.max(0) - people.high).max() < 1e-6
    assert (np.diff(people.spreads) <= 1e-9).all()  # the most telling first
    assert (people.decode(codes[:, :20]) != people.decode(codes)).any()


def test_a_known_face_is_fitted_by_its_person_and_an_unknown_one_by_a_mixture(people: IdentityGenerator) -> None:
    known = people.weights_of(FACES.pictures[:32])
    assert (known.argmax(1) == np.asarray(FACES.people)[:32]).all()
    assert np.abs(people.encode(FACES.pictures[:32]) - people.mixtures(known)).max() < 1e-6
    mixed = people.weights_of(OTHERS.pictures[:16])
    assert ((mixed >= 0).all(), np.abs(mixed.sum(1) - 1).max() < 1e-9) == (True, True)
    assert ((mixed > 0.01).sum(1) >= 2).mean() > 0.8
    hidden = LatentObfuscator(people, epsilon=500, components=32)
    assert hidden.release(OTHERS.pictures[0]).shape == (24, 24, 3)
    assert hidden.certificate().verify().startswith("epsilon = 500 per unit of")


# Nothing passes around the code -------------------------------------------------------------------------------------------


class SameNoise:
    """A decoder's view: whoever the face was, this noisy code came out."""

    def __init__(self, points: Any) -> None:
        self.points = points

    def drawn(self, points: Any, rng: Any = None) -> Any:
        return np.broadcast_to(self.points, points.shape)


@pytest.mark.parametrize("which", ["auto", "people"])
def test_an_output_is_a_function_of_the_code_and_of_kept_attributes_alone(
    which: str, request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(which)
    hidden = LatentObfuscator(model, epsilon=300, components=8)
    points = hidden.space.points(model.encode(FACES.pictures[:1], 8))
    hidden.codes = SameNoise(points)  # type: ignore[assignment]
    hidden.codes.space = LatentObfuscator(model, epsilon=300, components=8).space  # type: ignore[misc]
    drawn = hidden.release(np.concatenate([FACES.pictures[:40], OTHERS.pictures[:20]]))
    assert (drawn == drawn[0]).all()  # sixty faces, one noisy code, one picture
    assert model.clear == ()

    kept = model.keeping("expression")
    assert kept.clear == ("the expression of a face, as the model reads it or its owner states it",)
    codes = np.repeat(model.encode(FACES.pictures[:1]), 4, 0)
    four = kept.decode(codes, kept.rows_of({"expression": EXPRESSIONS}))
    assert all((four[i] != four[0]).any() for i in (1, 2, 3))
    assert (four[0] == model.decode(codes)[0]).all()  # an attribute that is not kept is a public constant
    assert (model.showing(expression="happy").decode(codes)[0] == four[3]).all()


@pytest.mark.parametrize("which", ["auto", "people"])
def test_no_gradient_reaches_a_picture_but_through_the_code(which: str, request: pytest.FixtureRequest) -> None:
    module = request.getfixturevalue(which)._opened.module
    pixels = torch.rand(2, 3, 24, 24, requires_grad=True)
    if which == "auto":
        codes = module["encoder"](pixels)
        through = module["decoder"](torch.cat([codes, torch.zeros(2, 4)], 1)).sum()
        assert torch.autograd.grad(through, pixels, retain_graph=True)[0].abs().sum() > 0
        around = module["decoder"](torch.cat([codes.detach().requires_grad_(True), torch.zeros(2, 4)], 1)).sum()
        assert torch.autograd.grad(around, pixels, allow_unused=True)[0] is None
    else:  # no part of it takes pictures
        assert {layer.in_features for layer in module["identity"] if hasattr(layer, "in_features")} == {24}


def test_the_certificate_names_what_is_kept(people: IdentityGenerator) -> None:
    kept = LatentObfuscator(people.keeping("expression"), epsilon=50, components=4)
    assert kept.certificate().document["in_the_clear"] == [
        {"called": name} for name in people.keeping("expression").clear
    ]
    assert "expression" in kept.in_words()
    plain = LatentObfuscator(people, epsilon=50, components=4).certificate().document
    assert "in_the_clear" not in plain
    assert plain["resources"][0]["sha256"] == people.resource.sha256


def test_attributes_are_read_off_faces_where_the_owner_does_not_state_them(people: IdentityGenerator) -> None:
    kept = people.keeping("expression")
    read, stated = kept.attributes_of(FACES.pictures), kept.rows_of(FACES.attributes)
    assert (read == stated).all(1).mean() > 0.9
    assert people.attributes_of(FACES.pictures).shape == (len(FACES.pictures), 0)
    hidden = LatentObfuscator(kept, epsilon=10**9, components=32)
    by_owner = hidden.release(FACES.pictures[:6], attributes=np.tile(stated[3], (6, 1)))
    assert distance(by_owner, hidden.clean(FACES.pictures[:6], attributes=np.tile(stated[3], (6, 1)))) < 0.5


def test_one_face_is_drawn_the_same_among_others(auto: AutoEncoder) -> None:
    """Layers normalise by what they learned, never by the faces that come along: these would shine through."""
    alone, among = auto.encode(FACES.pictures[:1]), auto.encode(FACES.pictures[:50])[:1]
    assert np.abs(alone - among).max() < 1e-4
    assert np.abs(auto.decode(alone).astype(int) - auto.decode(auto.encode(FACES.pictures[:50]))[:1]).max() <= 1


# Noise while learning -------------------------------------------------------------------------------------------------------


def test_training_noise_keeps_few_components_and_stays_in_the_box() -> None:
    codes = np.random.default_rng(1).normal(size=(400, 10)) * np.arange(10, 0, -1)
    noise = TrainingNoise(codes)
    ratio = max(noise._basis.ranges / noise._basis.spreads)
    assert noise.components(20.0) == pytest.approx(1.3 * 20 / ratio, abs=1)
    assert (noise.components(1000.0), noise.components(0.001)) == (10, 1)
    given = torch.from_numpy(codes.astype(np.float32)).requires_grad_(True)
    noisy = noise(given, np.random.default_rng(2))
    places = noise._basis.forward(noisy.detach().numpy())
    assert (places >= noise._basis.low - 1e-3).all()
    assert (places <= noise._basis.high + 1e-3).all()
    assert np.abs(places - noise._basis.forward(codes)).max() > 1
    assert torch.autograd.grad(noisy.sum(), given)[0].abs().sum() > 0  # the encoder learns through it


# Files and checkpoints ------------------------------------------------------------------------------------------------------


def test_any_model_is_opened_by_its_file_alone(auto: AutoEncoder, people: IdentityGenerator, tmp_path: Path) -> None:
    plain = train_eigenfaces(tmp_path / "plain.nwm", FACES.pictures)
    for model in (plain, auto, people):
        again = open_model(model.resource.place() or "")
        assert type(again) is type(model)
        assert again == model == pickle.loads(pickle.dumps(model))
        assert hash(again) == hash(model)
    kept = open_model(people.resource, keep=["expression"])
    assert kept == people.keeping("expression") == pickle.loads(pickle.dumps(kept)) != people
    assert repr(kept) == "IdentityGenerator('people.nwm', 24 x 24 pixels in colour, 32 elements, keeping expression)"
    with pytest.raises(ParameterError, match="know no attributes"):
        open_model(plain.resource, keep=["gender"])
    with pytest.raises(ParameterError, match="it knows expression"):
        people.keeping("gender")
    with pytest.raises(FileFormatError, match="'lookalikes', which is not known here"):
        open_model(write_model(tmp_path / "o.nwm", "lookalikes", {}, {}))


def test_files_whose_arrays_make_no_network_are_refused(people: IdentityGenerator, tmp_path: Path) -> None:
    about, arrays = read_model(people.resource, "identities")
    nan = {name: array * np.nan if name == "net.drawing.0.weight" else array for name, array in arrays.items()}
    wrong: list[tuple[Any, Any]] = [
        ({**about, "code": 33}, arrays),
        ({**about, "code": -1}, arrays),
        ({**about, "code": "many"}, arrays),
        ({**about, "height": 10**9}, arrays),
        ({**about, "attributes": [{"name": 3}]}, arrays),
        ({**about, "people": 7}, arrays),
        ({**about, "people": about["people"][:-1]}, arrays),
        ({}, arrays),
        (about, nan),
        (about, {**arrays, "low": arrays["high"]}),
        (about, {**arrays, "spreads": np.zeros(32)}),
        (about, {**arrays, "gallery": arrays["gallery"] * np.float32(1.01)}),
        (about, {**arrays, "net.more": np.zeros(3, np.float32)}),
        (about, {name: array for name, array in arrays.items() if name != "people.slopes"}),
        (about, {**arrays, "people.features": arrays["people.features"][:, :3]}),
    ]
    for number, (told, named) in enumerate(wrong):
        write_model(tmp_path / f"{number}.nwm", "identities", told, named)
        with pytest.raises(FileFormatError, match=rf"{number}\.nwm has arrays that make no network"):
            open_model(tmp_path / f"{number}.nwm")


class StoppedError(Exception):
    pass


def test_a_training_that_was_stopped_ends_with_the_same_model(tmp_path: Path) -> None:
    few = cartoons(6, size=16)

    def train(path: Path, **more: Any) -> Any:
        return networks.train_autoencoder(path, few, code=6, first=4, epochs=4, batch=6, **more)

    def stop(done: int, total: int | None) -> None:
        assert total == 4
        if done == 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        train(tmp_path / "stopped.nwm", progress=stop)
    part = tmp_path / "stopped.nwm.part"
    assert part.exists()
    assert not (tmp_path / "stopped.nwm").exists()
    with pytest.raises(FileFormatError, match="the checkpoint of another training"):
        train(tmp_path / "stopped.nwm", seed=1)
    told: list[int] = []
    resumed = train(tmp_path / "stopped.nwm", progress=lambda done, _: told.append(done))
    assert told == [2, 3, 4]  # nothing is done twice
    assert resumed.resource.sha256 == train(tmp_path / "whole.nwm").resource.sha256
    assert not part.exists()
    assert train(tmp_path / "other.nwm", seed=1).resource.sha256 != resumed.resource.sha256


def test_without_torch_other_models_work_and_networks_say_what_is_missing(auto: AutoEncoder, tmp_path: Path) -> None:
    plain = train_eigenfaces(tmp_path / "plain.nwm", FACES.pictures)
    code = f"""
import sys
sys.modules["torch"] = None
from noisewright.exceptions import MissingPartError
from noisewright.images import open_model
print(open_model({str(plain.resource.place())!r}).shape)
try:
    open_model({str(auto.resource.place())!r})
except MissingPartError as problem:
    print(problem)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "(24, 24, 3)",
        "networks of faces need PyTorch; install it with pip install 'noisewright[networks]'.",
    ]


# Bad input ------------------------------------------------------------------------------------------------------------------


def test_attributes_come_back_from_files() -> None:
    found = attributes_in({"gender": ["f", "m"], "yaw": [0.5, 1.5], "age": [30, 40]})
    assert [Attribute.from_json(one.to_json()) for one in found] == list(found)
    assert [one.name for one in found] == ["age", "gender", "yaw"]
    assert [one.values for one in found] == [("30", "40"), ("f", "m"), ()]
    for wrong, message in (({"a": ["x", "x"]}, "2 to 100 values"), ({"a": [1.0, 1.0]}, "differs between faces")):
        with pytest.raises(DataError, match=message):
            attributes_in(wrong)
    with pytest.raises(DataError, match="one of f, m"):
        found[1].rows(["f", "x"])
    with pytest.raises(DataError, match="one finite number"):
        found[2].rows([np.nan])


def test_bad_input_is_refused_in_a_sentence(auto: AutoEncoder, people: IdentityGenerator, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="24 rows, 24 columns and 3 channels"):
        auto.encode(FACES.pictures[:, :16])
    with pytest.raises(DataError, match="24 elements; give as many or fewer"):
        auto.decode(np.zeros((1, 25)))
    with pytest.raises(DataError, match="a row of 4 numbers"):
        people.keeping("expression").decode(people.identities, np.zeros((2, 4)))
    with pytest.raises(ParameterError, match="lack an attribute that is kept"):
        people.rows_of({"expression": ["sad"]})
    with pytest.raises(ParameterError, match="one of sad, doubtful, neutral, happy"):
        people.showing(expression="bored")
    target = tmp_path / "none.nwm"
    with pytest.raises(ParameterError, match="such as 48, 64 or 128 pixels, not 17 x 17"):
        networks.train_autoencoder(target, PublicFaces(np.zeros((4, 17, 17, 3), np.uint8)))
    for more, message in (({"code": 1}, "code is"), ({"epochs": 0}, "epochs is"), ({"seed": -1}, "seed")):
        with pytest.raises(ParameterError, match=message):
            networks.train_autoencoder(target, FACES, **more)
    with pytest.raises(DataError, match="whose people are known"):
        networks.train_identities(target, PublicFaces(FACES.pictures))
    with pytest.raises(DataError, match="two people or more"):
        networks.train_identities(target, PublicFaces(FACES.pictures[:4], [1] * 4))
    assert list(tmp_path.iterdir()) == []


def test_a_network_in_a_release_says_what_is_in_the_clear_and_what_epsilon_means(
    auto: AutoEncoder, tmp_path: Path
) -> None:
    column = {"name": "badge", "mechanism": "faces", "model": str(auto.resource.place()), "attributes": ["expression"]}
    column["unlike"] = "draw"  # this model is too small to draw even its own faces well
    policy = {
        "dataset": "staff",
        "budget": {"epsilon": 60},
        "columns": [{**column, "components": 4, "epsilon": 50}],
    }
    table = pa.table({"badge": pa.array([png_of(face) for face in OTHERS.pictures[:6]], pa.binary())})
    done = nw.release(policy, table, output=tmp_path / "out", ledger=tmp_path / "ledger.sqlite")
    told = "the expression of a face, as the model reads it or its owner states it"
    assert done.plan.columns[0].in_the_clear == (f'"{told}"',)
    assert any(told in warning and "NOT protected" in warning for warning in done.plan.warnings)
    people = len(set(FACES.people))  # type: ignore[arg-type]
    assert done.plan.columns[0].measured[0] == f'{people} people in "auto.nwm (drawn in code)", 4 components'
    assert any("was measured again" in text for text in nw.verify(tmp_path / "out").sentences)
    assert {read_picture(face).shape for face in done.data["badge"].to_pylist()} == {FACES.pictures.shape[1:]}
