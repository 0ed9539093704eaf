"""Generators of one's own: modules of PyTorch, and ONNX files written here byte by byte."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images import (
    Basis,
    LatentObfuscator,
    OwnFaces,
    PublicFaces,
    cartoon_faces,
    onnx_faces,
    open_model,
    own_faces,
)
from noisewright.io import read_model, write_model

FACES = PublicFaces(cartoon_faces(15, 2, size=8, seed=3)[0], source="drawn in code")
PIXELS = 8 * 8 * 3


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def linear() -> tuple[Any, Any]:
    """Ten principal components as two linear layers: what such a model draws is known."""
    flat = FACES.pictures.transpose(0, 3, 1, 2).reshape(len(FACES.pictures), -1) / 255
    basis = Basis.fit(flat, 10)
    encoder, decoder = nn.Linear(PIXELS, 10), nn.Linear(10, PIXELS)
    directions, mean = (torch.from_numpy(array.astype(np.float32)) for array in (basis.directions, basis.mean))
    encoder.load_state_dict({"weight": directions, "bias": -directions @ mean})
    decoder.load_state_dict({"weight": directions.T.clone(), "bias": mean})
    return nn.Sequential(nn.Flatten(), encoder), nn.Sequential(decoder, nn.Unflatten(1, (3, 8, 8)))


def expected() -> Any:
    """The faces drawn from ten components, computed without any of the code under test but the components."""
    flat = FACES.pictures.reshape(len(FACES.pictures), -1).astype(float)
    basis = Basis.fit(flat, 10)
    return np.clip(np.rint(basis.backward(basis.forward(flat))), 0, 255).reshape(FACES.pictures.shape)


def test_modules_of_ones_own_are_a_model(tmp_path: Path) -> None:
    encoder, decoder = linear()
    model = own_faces(tmp_path / "mine.nwm", encoder, decoder, FACES)
    assert repr(model) == "OwnFaces('mine.nwm', 8 x 8 pixels in colour, 10 elements)"
    assert np.abs(model.decode(model.encode(FACES.pictures)) - expected()).max() <= 1
    hidden = LatentObfuscator(model, epsilon=50)
    assert hidden.release(FACES.pictures[0]).shape == (8, 8, 3)
    assert hidden.certificate().document["resources"][0]["sha256"] == model.resource.sha256
    assert model.gallery is not None
    assert len(model.gallery.one_each) == len(FACES.pictures)
    again = OwnFaces.with_modules(tmp_path / "mine.nwm", encoder, decoder)
    assert again == model == pickle.loads(pickle.dumps(model))
    assert (again.encode(FACES.pictures) == model.encode(FACES.pictures)).all()


def test_a_file_is_opened_with_the_modules_that_it_was_made_with_alone(tmp_path: Path) -> None:
    encoder, decoder = linear()
    own_faces(tmp_path / "mine.nwm", encoder, decoder, FACES)
    with pytest.raises(FileFormatError, match=r"open it together with them, by OwnFaces\.with_modules"):
        open_model(tmp_path / "mine.nwm")
    other = linear()[0]
    with torch.no_grad():
        other[1].bias[0] += 1e-4
    for given in ((other, decoder), (encoder, nn.Sequential(*decoder, nn.Sigmoid()))):
        with pytest.raises(FileFormatError, match="was made with other modules than these"):
            OwnFaces.with_modules(tmp_path / "mine.nwm", *given)


class Shortcut(nn.Module):  # type: ignore[misc]
    """An encoder that keeps what it saw where its decoder finds it, as the layers of a U-net do."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.seen = torch.zeros(1, 3, 8, 8)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        self.seen = pixels
        return self.encoder(pixels)  # type: ignore[no-any-return]


class Rejoined(nn.Module):  # type: ignore[misc]
    def __init__(self, decoder: nn.Module, shortcut: Shortcut) -> None:
        super().__init__()
        self.decoder = decoder
        self.shortcut = [shortcut]

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        return self.decoder(codes) + 0.01 * self.shortcut[0].seen  # type: ignore[no-any-return]


def test_a_decoder_that_knows_more_than_the_code_is_refused(tmp_path: Path) -> None:
    encoder, decoder = linear()
    shortcut = Shortcut(encoder)
    with pytest.raises(ParameterError, match="something passes around the code"):
        own_faces(tmp_path / "leaky.nwm", shortcut, Rejoined(decoder, shortcut), FACES)
    assert list(tmp_path.iterdir()) == []
    own_faces(tmp_path / "fine.nwm", shortcut, decoder, FACES)  # keeping it alone does no harm


def test_modules_that_are_none_are_refused(tmp_path: Path) -> None:
    encoder, decoder = linear()
    for given, message in (
        ((lambda x: x, decoder), "modules of PyTorch"),
        ((encoder, nn.Linear(7, 3)), "cannot encode and decode"),
        ((encoder, nn.Linear(10, 12)), "faces as"),
        ((nn.Flatten(0), nn.Identity()), "a row of numbers"),
    ):
        with pytest.raises(ParameterError, match=message):
            own_faces(tmp_path / "no.nwm", *given, FACES)
    assert list(tmp_path.iterdir()) == []


# ONNX ---------------------------------------------------------------------------------------------------------------------
# The format is a protocol buffer: fields with a number and a type, one after another (onnx.proto of the ONNX project).


def number(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def field(place: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return number(place << 3) + number(value)
    content = value.encode() if isinstance(value, str) else value
    return number(place << 3 | 2) + number(len(content)) + content


def tensor(name: str, array: Any) -> bytes:
    kind = 1 if array.dtype == np.float32 else 7
    sizes = b"".join(field(1, size) for size in array.shape)
    return field(5, sizes + field(2, kind) + field(8, name) + field(9, array.tobytes()))


def node(kind: str, given: list[str], out: str, *attributes: bytes) -> bytes:
    inputs = b"".join(field(1, name) for name in given)
    return field(1, inputs + field(2, out) + field(4, kind) + b"".join(attributes))


def value(place: int, name: str, *sizes: int) -> bytes:
    shape = b"".join(field(1, field(1, size)) for size in sizes)
    return field(place, field(1, name) + field(2, field(1, field(1, 1) + field(2, shape))))


def network(*parts: bytes) -> bytes:
    graph = b"".join(parts) + field(2, "graph")
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


TRANSPOSED = field(5, field(1, "transB") + field(3, 1) + field(20, 2))


def onnx_files(folder: Path) -> tuple[Path, Path]:
    encoder, decoder = linear()
    first, last = ({name: array.numpy() for name, array in one.state_dict().items()} for one in (encoder, decoder))
    (folder / "encoder.onnx").write_bytes(
        network(
            node("Flatten", ["face"], "flat"),
            node("Gemm", ["flat", "w", "b"], "code", TRANSPOSED),
            tensor("w", first["1.weight"]),
            tensor("b", first["1.bias"]),
            value(11, "face", 1, 3, 8, 8),
            value(12, "code", 1, 10),
        )
    )
    (folder / "decoder.onnx").write_bytes(
        network(
            node("Gemm", ["code", "w", "b"], "flat", TRANSPOSED),
            node("Reshape", ["flat", "shape"], "face"),
            tensor("w", np.ascontiguousarray(last["0.weight"])),
            tensor("b", last["0.bias"]),
            tensor("shape", np.array([1, 3, 8, 8], np.int64)),
            value(11, "code", 1, 10),
            value(12, "face", 1, 3, 8, 8),
        )
    )
    return folder / "encoder.onnx", folder / "decoder.onnx"


def test_two_onnx_files_are_a_model(tmp_path: Path) -> None:
    model = onnx_faces(tmp_path / "mine.nwm", *onnx_files(tmp_path), FACES)
    for file in tmp_path.glob("*.onnx"):
        file.unlink()  # they are in the model
    again: Any = open_model(tmp_path / "mine.nwm")
    assert repr(again) == "OnnxFaces('mine.nwm', 8 x 8 pixels in colour, 10 components)"
    assert again == model == pickle.loads(pickle.dumps(model))
    assert np.abs(again.decode(again.encode(FACES.pictures)) - expected()).max() <= 1
    codes = own_faces(tmp_path / "own.nwm", *linear(), FACES).encode(FACES.pictures)
    assert np.abs(again.encode(FACES.pictures) - codes).max() < 1e-4  # OpenCV and PyTorch agree
    assert (again.encode(FACES.pictures, 3) == again.encode(FACES.pictures)[:, :3]).all()
    assert again.gallery is not None
    assert np.abs(again.gallery.codes - again.encode(FACES.pictures)).max() < 1e-4
    hidden = LatentObfuscator(again, epsilon=40)
    assert hidden.release(FACES.pictures[:2]).shape == (2, 8, 8, 3)
    assert again.decode(np.empty((0, 10))).shape == (0, 8, 8, 3)


def test_onnx_files_that_are_none_are_refused(tmp_path: Path) -> None:
    encoder, decoder = onnx_files(tmp_path)
    (tmp_path / "text.onnx").write_text("no network")
    with pytest.raises(FileFormatError, match="no ONNX network"):
        onnx_faces(tmp_path / "no.nwm", tmp_path / "text.onnx", decoder, FACES)
    for given, message in (((decoder, encoder), "cannot take"), ((encoder, encoder), "cannot take|no face")):
        with pytest.raises(DataError, match=message):
            onnx_faces(tmp_path / "no.nwm", *given, FACES)
    assert not (tmp_path / "no.nwm").exists()
    model = onnx_faces(tmp_path / "mine.nwm", encoder, decoder, FACES)
    with pytest.raises(DataError, match="8 rows, 8 columns"):
        model.encode(FACES.pictures[:, :4])
    with pytest.raises(ParameterError, match="know no attributes"):
        model.keeping("gender")
    about, arrays = read_model(model.resource, "onnx")
    for place, (told, named) in enumerate(
        [
            ({**about, "height": "x"}, arrays),
            (about, {**arrays, "low": arrays["high"]}),
            (about, {"mean": arrays["mean"]}),
        ]
    ):
        write_model(tmp_path / f"{place}.nwm", "onnx", told, named)
        with pytest.raises(FileFormatError, match="make no model of faces"):
            open_model(tmp_path / f"{place}.nwm")
