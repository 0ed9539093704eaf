r"""A convolutional auto-encoder that has learned with noise on its codes.

Convolutions of stride 2 down to a code between -1 and 1, and steps of doubling and convolution back up. The codes that
a mechanism sees are the principal components of these, with the ranges and spreads of public faces. While it learns,
it draws every face twice: from its clean code, and from a noisy one (:mod:`noisewright.images.networks.noise_aware`);
the loss is the sum of the mean absolute errors. A decoder that never saw noise makes little of it; this one falls back
to the common part of public faces. The encoder learns from clean codes alone: one that learned from noisy codes would
put people so far apart that the noise no longer hides them, and the same epsilon would mean less.

Attributes of the faces that it learns from go to the decoder next to the code, so that the code need not hold them.
None of them is kept unless :meth:`~noisewright.images.networks.network.NetworkFaces.keeping` says so.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from noisewright.core.choices import is_whole
from noisewright.core.errors import ParameterError
from noisewright.images.faces.models.public_faces import PublicFaces
from noisewright.images.networks._course import Progress, batches, cosine, run_course, seeded
from noisewright.images.networks._layers import doubling, from_mean, halving, halvings
from noisewright.images.networks._readers import reads_attribute
from noisewright.images.networks._torch import Module, device_called, device_of, float_tensor, nn, torch
from noisewright.images.networks.attributes import attributes_in
from noisewright.images.networks.network import EncodedFaces, encoded, pixels_of, public_codes, write_network
from noisewright.images.networks.noise_aware import TrainingNoise

__all__ = ["AutoEncoder", "train_autoencoder"]

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
