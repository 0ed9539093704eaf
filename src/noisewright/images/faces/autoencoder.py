"""Noise while a network learns, so that its decoder has seen noisy codes before it is given one.

Noise needs the principal components of codes, and these need the encoder, which changes. Therefore the first epoch is
without noise; at the start of every other one, components, ranges and spreads are found again from the codes of all
public faces. Every batch has an epsilon of its own, drawn evenly from 100 to 1000, and the number of components that
:func:`~noisewright.images.faces.latent_space.component_count` gives for ``alpha`` = 1.3: more noise than in use, where it
is 0.9. Floats are good enough here: the faces are public.

The encoder takes faces (faces, channels, rows, columns) between 0 and 1 to codes (faces, numbers), the decoder takes such
codes to faces. Codes get the principal components, ranges and spreads of public faces, as those of any other model. What the
modules have learned is written to the file, whose SHA-256 certificates name; the modules themselves are programs, which no
file holds: they are given again when it is opened, and are refused if they are not the ones that it was made with.

**No shortcut.** A guarantee about codes does not hold if the decoder has more input than the code. Therefore two faces
are encoded and one code is decoded after each: a decoder that draws something else the second time has remembered the
face, and is refused. That finds state that modules share by accident, such as the kept layers of a U-net; it is not a
proof about malicious modules.

>>> import pathlib, tempfile
>>> import torch
>>> from noisewright.images import PublicFaces, cartoon_faces
>>> faces = PublicFaces(cartoon_faces(8, 2, size=8)[0])
>>> encoder = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 5))
>>> decoder = torch.nn.Sequential(torch.nn.Linear(5, 192), torch.nn.Sigmoid(), torch.nn.Unflatten(1, (3, 8, 8)))
>>> own_faces(pathlib.Path(tempfile.mkdtemp(), "mine.nwm"), encoder, decoder, faces)
OwnFaces('mine.nwm', 8 x 8 pixels in colour, 5 elements)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole
from noisewright.exceptions import FileFormatError, ParameterError
from noisewright.images.faces.eigenfaces import Basis
from noisewright.images.faces.latent_space import component_count
from noisewright.images.faces.network import (
    Arrays,
    EncodedFaces,
    Module,
    Tensor,
    arrays_of,
    attributes_in,
    device_called,
    device_of,
    encoded,
    float_tensor,
    nn,
    pixels_of,
    public_codes,
    reads_attribute,
    torch,
    write_network,
)
from noisewright.images.faces.public_faces import PublicFaces
from noisewright.images.faces.training import Progress, batches, cosine, run_course, seeded
from noisewright.images.pictures import Picture
from noisewright.resources import Resource

__all__ = [
    "AutoEncoder",
    "OwnFaces",
    "TrainingNoise",
    "doubling",
    "from_mean",
    "halving",
    "halvings",
    "normal_start",
    "own_faces",
    "train_autoencoder",
]


ALPHA = 1.3
EPSILONS = (100.0, 1000.0)


class TrainingNoise:
    """Laplace noise on the leading principal components of codes; the others become their mean."""

    def __init__(self, codes: Floats, device: Any = None) -> None:
        self._basis = found = Basis.fit(codes)
        self._mean, self._directions, self._low, self._high = (
            float_tensor(array, device) for array in (found.mean, found.directions, found.low, found.high)
        )

    def components(self, epsilon: float) -> int:
        """Return how many components are kept at an epsilon: at least one."""
        try:
            return component_count(self._basis.spreads, self._basis.ranges, epsilon=str(epsilon), alpha=ALPHA)
        except ParameterError:
            return 1

    def __call__(self, codes: Tensor, rng: np.random.Generator) -> Tensor:
        """Codes of a batch with noise; what an encoder can do against it is learned through it."""
        epsilon = round(float(rng.uniform(*EPSILONS)), 3)
        kept = self.components(epsilon)
        low, high, directions = self._low[:kept], self._high[:kept], self._directions[:kept]
        places = torch.clamp((codes - self._mean) @ directions.T, low, high)
        noise = float_tensor(rng.laplace(size=(len(codes), kept)) * kept / epsilon, codes.device) * (high - low)
        return torch.clamp(places + noise, low, high) @ directions + self._mean


# Layers -------------------------------------------------------------------------------------------------------------------
#
# The layers that networks of faces are built of: halving convolutions down to a code, and doubling ones up to a picture.


SLOPE = 0.2
"""Of leaky rectifiers below 0."""
SMALLEST, LARGEST = 4, 8
"""The side of the grid that convolutions end in is between these."""


def halvings(height: int, width: int) -> int:
    """Return how often pictures of this size are halved until their larger side is at most eight."""
    count = 0
    while max(height, width) >> count > LARGEST:
        count += 1
    if height % (1 << count) or width % (1 << count) or min(height, width) >> count < SMALLEST:
        raise ParameterError(
            f"faces for this network have sides of 4 to 8 times a power of two, such as 48, 64 or 128 pixels, not "
            f"{width} x {height}."
        )
    return count


def halving(channels: int, first: int, count: int) -> list[Module]:
    """Convolutions of 4 x 4 that halve the sides and double the channels, ``first`` of them at first."""
    layers: list[Any] = []
    for place in range(count):
        wide = first << place
        layers += [nn.Conv2d(channels, wide, 4, stride=2, padding=1), nn.BatchNorm2d(wide), nn.LeakyReLU(SLOPE)]
        channels = wide
    return layers


def doubling(widths: list[int], channels: int, *, normal: bool = False) -> list[Module]:
    """Each step doubles the sides and convolves to the given number of channels; the last convolution gives pixels
    between 0 and 1."""
    layers: list[Any] = []
    for before, after in pairwise(widths):
        layers += [nn.Upsample(scale_factor=2), nn.Conv2d(before, after, 3, padding=1)]
        layers += [nn.BatchNorm2d(after), nn.LeakyReLU(SLOPE)] if normal else [nn.LeakyReLU(SLOPE)]
    return [*layers, nn.Conv2d(widths[-1], channels, 3, padding=1), nn.Sigmoid()]


def from_mean(layers: Module, pictures: Picture) -> None:
    """Let the last convolution begin with the mean colour of faces, which is otherwise the first thing to be learned."""
    mean = float_tensor((pictures.mean((0, 1, 2)) / 255).clip(0.01, 0.99))
    with torch.no_grad():
        layers[-2].bias.copy_(torch.logit(mean))


def normal_start(layers: Module) -> None:
    """Let weights begin with normal numbers that keep the size of the signal, and offsets with 0."""
    for layer in layers.modules():
        if isinstance(layer, (nn.Linear, nn.Conv2d)):
            nn.init.kaiming_normal_(layer.weight, a=SLOPE)
            nn.init.zeros_(layer.bias)


# Own ----------------------------------------------------------------------------------------------------------------------
#
# A generator of one's own: an encoder and a decoder given as PyTorch modules.


class OwnFaces(EncodedFaces):
    """Modules of one's own with their file; make one with :func:`own_faces`, and again with :meth:`with_modules`."""

    kind = "modules"

    def __init__(
        self,
        resource: Resource,
        kept: tuple[str, ...] = (),
        shown: tuple[tuple[str, str], ...] = (),
        modules: Module = None,
    ) -> None:
        super().__init__(resource, kept, shown)
        self._modules = modules
        if modules is None:
            raise FileFormatError(
                f"{resource.name} holds what modules of somebody's own have learned; open it together with them, by "
                "OwnFaces.with_modules."
            )

    @classmethod
    def with_modules(cls, path: str | os.PathLike[str], encoder: Module, decoder: Module) -> OwnFaces:
        """The model in a file with the modules that it was made with."""
        found = cls(Resource.at(path), modules=_together(encoder, decoder))
        _ = found.shape
        return found

    def _network(self, about: Mapping[str, Any], attributes: int, learned: Arrays) -> Module:
        own = arrays_of(self._modules)
        same = own.keys() == learned.keys() and all(np.array_equal(own[name], learned[name]) for name in own)
        if not same or about["layers"] != repr(self._modules):
            raise FileFormatError(
                f"{self.resource.name} was made with other modules than these; give those, or make it anew with own_faces."
            )
        return self._modules

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.resource, (), (), self._modules)

    def __eq__(self, other: object) -> bool:
        return self.resource == other.resource if isinstance(other, OwnFaces) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.resource)


def own_faces(path: str | os.PathLike[str], encoder: Module, decoder: Module, faces: PublicFaces) -> OwnFaces:
    """A model made of one's own modules, with the ranges of *public* faces, written to a file.

    They go over to how they work in use (``eval``). Whatever they learned must be in single precision.
    """
    modules = _together(encoder, decoder)
    _check(modules, faces.pictures)
    arrays = public_codes(encoded(modules, faces.pictures), faces.people)
    about: dict[str, Any] = dict(zip(("height", "width", "channels"), faces.pictures.shape[1:], strict=True))
    about |= {"code": len(arrays["mean"]), "attributes": [], "layers": repr(modules)}
    about |= {"faces": len(faces.pictures), "source": faces.source}
    return OwnFaces(write_network(path, OwnFaces.kind, about, modules, {}, arrays), modules=modules)


def _together(encoder: Module, decoder: Module) -> Module:
    if not isinstance(encoder, nn.Module) or not isinstance(decoder, nn.Module):
        raise ParameterError("an encoder and a decoder of one's own are modules of PyTorch, torch.nn.Module.")
    together = nn.ModuleDict({"encoder": encoder, "decoder": decoder})
    together.eval()
    together.requires_grad_(False)
    return together


def _check(modules: Module, pictures: Picture) -> None:
    """Refuse modules with wrong inputs or outputs, and a decoder that remembers the encoder's input."""
    one = pictures[:1]
    others = [one, 255 - one, np.zeros_like(one)]
    drawn = []
    try:
        with torch.inference_mode():
            code = modules["encoder"](pixels_of(one)).clone()
            for picture in others:
                modules["encoder"](pixels_of(picture))
                with torch.random.fork_rng(devices=[]):
                    torch.manual_seed(0)  # a decoder may draw at random
                    drawn.append(modules["decoder"](code).numpy().copy())
    except (AttributeError, RuntimeError, TypeError, ValueError) as problem:
        raise ParameterError(
            f"the modules cannot encode and decode a face ({type(problem).__name__}); try them on one."
        ) from None
    if code.ndim != 2 or drawn[0].shape != tuple(float_tensor(one).permute(0, 3, 1, 2).shape):
        raise ParameterError(
            "an encoder gives a row of numbers for each face, and a decoder faces as (faces, channels, rows, columns)."
        )
    if not all(np.array_equal(drawn[0], again) for again in drawn[1:]):
        raise ParameterError(
            "the decoder draws another face from the same code after the encoder saw another face: something passes around the "
            "code, and no guarantee would hold; remove the shortcut."
        )


# Autoencoder --------------------------------------------------------------------------------------------------------------
#
# A convolutional auto-encoder that has learned with noise on its codes.
#
# Convolutions of stride 2 down to a code between -1 and 1, and steps of doubling and convolution back up. The codes that
# a mechanism sees are the principal components of these, with the ranges and spreads of public faces. While it learns,
# it draws every face twice: from its clean code, and from a noisy one (:mod:`noisewright.images.faces.autoencoder`);
# the loss is the sum of the mean absolute errors. A decoder that never saw noise makes little of it; this one falls back
# to the common part of public faces. The encoder learns from clean codes alone: one that learned from noisy codes would
# put people so far apart that the noise no longer hides them, and the same epsilon would mean less.
#
# Attributes of the faces that it learns from go to the decoder next to the code, so that the code need not hold them.
# None of them is kept unless :meth:`~noisewright.images.faces.network.NetworkFaces.keeping` says so.


RATE = 2e-3


class AutoEncoder(EncodedFaces):
    """A convolutional auto-encoder in a file; make one with :meth:`at` or :func:`train_autoencoder`."""

    kind = "autoencoder"

    @staticmethod
    def built(about: Mapping[str, Any], attributes: int) -> Module:
        """Encoder and decoder."""
        height, width, channels, code, first = (
            about[name] for name in ("height", "width", "channels", "code", "first")
        )
        count = halvings(height, width)
        rows, columns, widest = height >> count, width >> count, first << (count - 1)
        flat = widest * rows * columns
        last = [nn.Flatten(), nn.Linear(flat, code), nn.BatchNorm1d(code, affine=False), nn.Tanh()]
        encoder = nn.Sequential(*halving(channels, first, count), *last)
        widths = [widest, *(max(first // 2, widest >> step) for step in range(1, count + 1))]
        decoder = nn.Sequential(
            nn.Linear(code + attributes, flat),
            nn.BatchNorm1d(flat),
            nn.LeakyReLU(0.2),
            nn.Unflatten(1, (widest, rows, columns)),
            *doubling(widths, channels, normal=True),
        )
        return nn.ModuleDict({"encoder": encoder, "decoder": decoder})


class _Learner:
    def __init__(self, module: Module, faces: PublicFaces, beside: Any, batch: int, seed: int, noisy: bool) -> None:
        self.modules = {"net": module}
        self.optimisers = {"adam": torch.optim.Adam(module.parameters(), lr=RATE)}
        self._faces, self._batch, self._seed, self._noisy = faces, batch, seed, noisy
        self._device = device_of(module)
        self._beside = beside.to(self._device)

    def epoch(self, number: int, of: int) -> None:
        module, adam, rng = self.modules["net"], self.optimisers["adam"], np.random.default_rng([self._seed, number])
        module.eval()
        codes = encoded(module, self._faces.pictures) if self._noisy and number else None
        noise = None if codes is None else TrainingNoise(codes, self._device)
        module.train()
        for place, some in enumerate(parts := list(batches(len(self._beside), self._batch, rng))):
            for group in adam.param_groups:
                group["lr"] = cosine(RATE, (number + place / len(parts)) / of)
            wanted, beside = pixels_of(self._faces.pictures[some], self._device), self._beside[some]
            found = module["encoder"](wanted)
            asked = [found] if noise is None else [found, noise(found.detach(), rng)]
            drawn = module["decoder"](torch.cat([torch.cat(asked), torch.cat([beside] * len(asked))], 1))
            loss = len(asked) * torch.nn.functional.l1_loss(drawn, torch.cat([wanted] * len(asked)))
            adam.zero_grad()
            loss.backward()
            adam.step()


def train_autoencoder(
    path: str | os.PathLike[str],
    faces: PublicFaces,
    *,
    code: int = 64,
    first: int = 32,
    epochs: int = 40,
    batch: int = 32,
    seed: int = 0,
    noisy: bool = True,
    device: str = "cpu",
    progress: Progress | None = None,
) -> AutoEncoder:
    """An auto-encoder of *public* faces, written to a file; a training that was stopped goes on where it was.

    ``code`` is the length of codes, ``first`` the number of channels after the first convolution, ``noisy`` whether it learns
    from noisy codes as well, ``device`` where: ``cuda`` is a graphics card.
    """
    for name, value in (("code", code), ("first", first), ("batch", batch)):
        if not is_whole(value) or not 2 <= value <= 4096:
            raise ParameterError(f"{name} is a whole number from 2 to 4096.")
    attributes = attributes_in(faces.attributes)
    about: dict[str, Any] = dict(zip(("height", "width", "channels"), faces.pictures.shape[1:], strict=True))
    about |= {"code": code, "first": first, "attributes": [one.to_json() for one in attributes]}
    rows = [one.rows(faces.attributes[one.name]) for one in attributes]
    beside = float_tensor(np.hstack([np.empty((len(faces.pictures), 0)), *rows]))
    with seeded(seed):
        module = AutoEncoder.built(about, beside.shape[1])
    from_mean(module["decoder"], faces.pictures)
    module = module.to(device_called(device))
    about |= {"batch": batch, "seed": seed, "noisy": noisy}
    learner = _Learner(module, faces, beside, batch, seed, noisy)
    checkpoint = run_course(
        learner, path, epochs, {**about, "kind": AutoEncoder.kind, "learned": faces.digest}, progress
    )
    module.eval()
    readers = {one.name: reads_attribute(one, faces.pictures, faces.attributes[one.name]) for one in attributes}
    told = {**about, "epochs": epochs, "faces": len(faces.pictures), "source": faces.source}
    arrays = public_codes(encoded(module, faces.pictures), faces.people)
    resource = write_network(path, AutoEncoder.kind, told, module, readers, arrays)
    checkpoint.unlink()
    return AutoEncoder(resource)
