"""The AttGAN-style network: the published sizes, what a narrow one learns, attributes and pose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from noisewright import images as networks
from noisewright.exceptions import ParameterError
from noisewright.images import AttGan, LatentObfuscator, PublicFaces, cartoon_faces, critic_of, open_model
from noisewright.images.faces.generators import _AttGanLearner as _Learner
from noisewright.images.faces.network import attributes_in

FULL = {"height": 128, "width": 128, "channels": 3, "scale": 1.0, "code": 2048}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def shapes(layers: Any, given: Any, kind: Any) -> list[tuple[int, ...]]:
    """What comes out of every layer of a kind: channels, rows, columns."""
    found = []
    for layer in layers:
        given = layer(given)
        if isinstance(layer, kind):
            found.append(tuple(given.shape[1:]))
    return found


def millions(module: Any) -> float:
    return sum(parameter.numel() for parameter in module.parameters()) / 1e6


def test_the_whole_network_has_the_published_sizes() -> None:
    with torch.device("meta"):  # no memory, no arithmetic: sizes alone
        net, critic = AttGan.built(FULL, 3), critic_of(FULL, 1, 2)
        down = shapes(net["encoder"], torch.zeros(2, 3, 128, 128), torch.nn.Conv2d)
        up = shapes(net["decoder"], torch.zeros(2, 2051), torch.nn.ConvTranspose2d)
        seen = critic["trunk"](torch.zeros(2, 3, 128, 128))
    assert [size[0] for size in down] == [64, 128, 256, 512, 1024, 1024, 2048]
    assert [size[1:] for size in down] == [(side, side) for side in (64, 32, 16, 8, 4, 2, 1)]
    assert [size[0] for size in up] == [1024, 1024, 1024, 512, 256, 128, 3]
    assert [size[1:] for size in up] == [(side, side) for side in (2, 4, 8, 16, 32, 64, 128)]
    assert seen.shape == (2, 4 * 4 * 1024)
    heads = [critic[name] for name in ("judge", "categories", "numbers")]
    assert [head[-1].out_features for head in heads] == [1, 1, 2]
    counts = [millions(net["encoder"]), millions(net["decoder"]), millions(critic["trunk"]), sum(map(millions, heads))]
    assert [round(count) for count in counts] == [36, 53, 11, 50]


def test_the_whole_network_learns_where_it_is_put() -> None:
    """A turn of the critic and one of the generator at full size, on a device that computes shapes alone: what is left on the
    processor would not fit together with it."""
    faces = PublicFaces(
        cartoon_faces(2, size=128)[0],
        None,
        {"gender": list("fmfmfmfm"), "yaw": np.arange(8.0), "pitch": np.arange(8) / 2},
    )
    with torch.device("meta"):
        net, critic = AttGan.built(FULL, 4), critic_of(FULL, 2, 2)
    known = attributes_in(faces.attributes)
    learner = _Learner(net, critic, faces, known, 2e-4, batch=8, seed=0, critic_turns=1)
    learner.epoch(0, 1)
    for name, module in (("generator's adam", net), ("critic's adam", critic)):
        assert len(learner.optimisers[name].state) == len(list(module.parameters()))  # all of it has learned
    noise = networks.TrainingNoise(np.random.default_rng(1).normal(size=(60, 2048)), "meta")
    assert noise(torch.zeros(8, 2048, device="meta"), np.random.default_rng(1)).shape == (8, 2048)


@pytest.mark.parametrize("side", [16, 24, 32, 48, 64])
def test_other_sizes_have_fewer_steps_to_a_code_of_one_by_one(side: int) -> None:
    about = {"height": side, "width": side, "channels": 1, "scale": 1 / 64, "code": 32}
    net = AttGan.built(about, 2).eval()
    codes = net["encoder"](torch.zeros(3, 1, side, side))
    assert codes.shape == (3, 32)
    assert net["decoder"](torch.cat([codes, torch.zeros(3, 2)], 1)).shape == (3, 1, side, side)
    for wrong in (8, 20, 40):
        with pytest.raises(ParameterError, match="32, 48, 64 or 128"):
            AttGan.built({**about, "height": wrong, "width": wrong}, 2)


def turned_faces(people: int) -> PublicFaces:
    """Faces moved to one side, as if they looked there, some of them darker: a pose and a category that pixels show."""
    pictures, who = cartoon_faces(people, size=24, seed=1)
    rng = np.random.default_rng(1)
    turns, dark = rng.integers(-4, 5, len(pictures)), rng.random(len(pictures)) < 0.5
    moved = np.stack([np.roll(picture, turn, 1) for picture, turn in zip(pictures, turns, strict=True)])
    moved[dark] = moved[dark] // 2
    labels = {"light": np.where(dark, "dark", "bright"), "yaw": turns.astype(float)}
    return PublicFaces(moved, who, labels, source="drawn in code")


FACES = turned_faces(20)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("models") / "attgan.nwm"
    networks.train_attgan(path, FACES, scale=1 / 16, epochs=30, batch=16, rate=2e-3, critic_turns=2)
    return open_model(path, keep=["light", "yaw"])


def centre(pictures: Any) -> Any:
    """How far to the right the face is."""
    ink = pictures.max((1, 2, 3), keepdims=True) - pictures.astype(float)
    return (ink.sum((1, 3)) * np.arange(24)).sum(1) / ink.sum((1, 2, 3))


def test_it_draws_faces_again(model: Any) -> None:
    drawn = model.decode(model.encode(FACES.pictures), model.rows_of(FACES.attributes)).astype(float)
    mean = FACES.pictures.mean(0)
    assert np.abs(drawn - FACES.pictures).mean() < 0.7 * np.abs(mean - FACES.pictures).mean()


def test_attributes_and_pose_are_drawn_as_they_are_asked_for(model: Any) -> None:
    codes = np.repeat(model.encode(FACES.pictures[:10]), 2, 0)
    bright = model.decode(codes, model.rows_of({"light": ["bright", "dark"] * 10, "yaw": np.zeros(20)}))
    light = bright.reshape(10, 2, -1).mean(2)
    assert (light[:, 0] > light[:, 1] + 3).all()
    turned = centre(model.decode(codes, model.rows_of({"light": ["bright"] * 20, "yaw": np.tile([-4.0, 4.0], 10)})))
    assert (turned.reshape(10, 2)[:, 1] > turned.reshape(10, 2)[:, 0] + 1).all()  # of eight pixels that were asked for


def test_its_output_is_a_function_of_code_and_attributes(model: Any) -> None:
    codes = model.encode(FACES.pictures[:1])
    rows = model.rows_of({"light": ["dark"], "yaw": [1.0]})
    first = model.decode(codes, rows)
    model.encode(FACES.pictures[1:40])
    assert (model.decode(codes, rows) == first).all()
    pixels = torch.rand(2, 3, 24, 24, requires_grad=True)
    module = model._opened.module
    seen = module["encoder"](pixels)
    drawn = module["decoder"](torch.cat([seen.detach().requires_grad_(True), torch.zeros(2, 3)], 1))
    assert torch.autograd.grad(drawn.sum(), pixels, allow_unused=True)[0] is None
    hidden = LatentObfuscator(model, epsilon=300)
    assert hidden.certificate().document["in_the_clear"] == [
        {"called": f"the {name} of a face, as the model reads it or its owner states it"} for name in ("light", "yaw")
    ]


def test_a_stopped_duel_of_two_networks_ends_as_if_it_were_not(tmp_path: Path) -> None:
    few = PublicFaces(FACES.pictures[:12], None, {name: values[:12] for name, values in FACES.attributes.items()})

    def train(name: str, progress: Any = None) -> Any:
        more = {"scale": 1 / 128, "epochs": 3, "batch": 6, "critic_turns": 1}
        return networks.train_attgan(tmp_path / name, few, progress=progress, **more)

    def stop(done: int, total: int | None) -> None:
        if done == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        train("stopped.nwm", stop)
    assert train("stopped.nwm").resource == train("whole.nwm").resource
