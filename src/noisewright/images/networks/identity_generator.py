r"""A network that draws people by number: identities, expressions and genders in, faces out.

A person is one of the K public people that it learned, or a mixture of them. A first layer turns the K weights of a mixture
into the code z; attributes have first layers of their own; all of it together is drawn by steps of doubling and convolution.
Noise is put on z: on the weights themselves, it would only blend public people.

A face that it never saw is fitted first: weights of at least 0 that add up to 1 and whose mixture of public people has the
least absolute deviation from the face, in features of the model's own reader (:mod:`noisewright.images.faces.identities`).
They are a function of the secret face, found before the noise; their code is protected as any other.

**Condition.** The guarantee is about z, given the network and the attributes that are kept. A network that was trained
on the people who must be hidden is not public, and nothing protects them in its file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.images.faces.identities import identity_weights
from noisewright.images.faces.models.gallery import Gallery
from noisewright.images.faces.models.public_faces import PublicFaces
from noisewright.images.networks._course import Progress, batches, cosine, run_course, seeded
from noisewright.images.networks._layers import doubling, from_mean, halvings, normal_start
from noisewright.images.networks._readers import Reader, reads_attribute, reads_people
from noisewright.images.networks._torch import Module, Tensor, device_called, device_of, float_tensor, nn, torch
from noisewright.images.networks.attributes import Attribute, attributes_in
from noisewright.images.networks.network import Arrays, NetworkFaces, Opened, pixels_of, write_network
from noisewright.images.pictures.reading import Picture

__all__ = ["IdentityGenerator", "train_identities"]

RATE = 2e-3
BRANCH = 32
"""Number of outputs of the first layer of an attribute."""
WIDTHS = (64, 48, 32, 16, 16, 16, 16, 16)
"""Channels before the first doubling, and after each."""


class IdentityGenerator(NetworkFaces):
    """A generator of people in a file; make one with :meth:`at` or :func:`train_identities`."""

    kind = "identities"

    @staticmethod
    def built(about: Mapping[str, Any], attributes: int) -> Module:
        """First layers, and the rest."""
        height, width, channels, code = (about[name] for name in ("height", "width", "channels", "code"))
        count = halvings(height, width)
        rows, columns = height >> count, width >> count
        widths = [one["values"] for one in about["attributes"]]
        branches = [_first(max(1, len(values)), BRANCH) for values in widths]
        drawing = nn.Sequential(
            nn.Linear(code + BRANCH * len(branches), WIDTHS[0] * rows * columns),
            nn.LeakyReLU(0.2),
            nn.Unflatten(1, (WIDTHS[0], rows, columns)),
            *doubling(list(WIDTHS[: count + 1]), channels),
        )
        return nn.ModuleDict(
            {"identity": _first(len(about["people"]), code), "branches": nn.ModuleList(branches), "drawing": drawing}
        )

    @property
    def people(self) -> tuple[str, ...]:
        """The public people that it learned."""
        return tuple(self._opened.about["people"])

    @property
    def identities(self) -> Floats:
        """The codes of these people, one in each row."""
        return self.mixtures(np.eye(len(self.people)))

    def mixtures(self, weights: Floats) -> Floats:
        """The codes of mixtures of these people: a weight for each in every row."""
        with torch.inference_mode():
            return np.asarray(self._opened.module["identity"](float_tensor(weights)).numpy(), np.float64)

    def weights_of(self, pictures: Picture) -> Floats:
        """The mixtures of public people that faces are fitted by: a weight for each person in every row."""
        arrays = self._opened.arrays
        features = Reader(arrays["people.slopes"], arrays["people.offsets"])(self._checked(pictures))
        found = [identity_weights(arrays["people.features"], face, simplex=True).weights for face in features]
        return np.array(found).reshape(-1, len(self.people))

    def _codes(self, pictures: Picture) -> Floats:
        return self.mixtures(self.weights_of(pictures))

    def _drawn(self, codes: Floats, attributes: Tensor) -> Tensor:
        whole = np.tile(self._opened.arrays["mean"], (len(codes), 1))
        whole[:, : codes.shape[1]] = codes
        return _drawn(self._opened.module, float_tensor(whole), attributes, self.attributes)

    def _fitted(self, about: dict[str, Any], arrays: Arrays) -> Opened:
        opened, many = super()._fitted(about, arrays), len(about["people"])
        features = arrays["people.features"]
        if arrays["low"].shape != (about["code"],) or arrays["mean"].shape != (about["code"],) or len(features) != many:
            raise ValueError("people")
        if arrays["people.slopes"].shape != (np.prod(opened.shape), features.shape[1]):
            raise ValueError("people")
        if not all(np.isfinite(arrays[name]).all() for name in ("mean", "people.slopes", "people.features")):
            raise ValueError("people")
        return opened


def _first(given: int, wide: int) -> Module:
    return nn.Sequential(nn.Linear(given, wide), nn.LeakyReLU(0.2))


def _drawn(module: Module, codes: Tensor, attributes: Tensor, known: tuple[Attribute, ...]) -> Tensor:
    columns = attributes.split([attribute.width for attribute in known], 1) if known else []
    beside = [branch(column) for branch, column in zip(module["branches"], columns, strict=True)]
    return module["drawing"](torch.cat([codes, *beside], 1))


class _Learner:
    def __init__(self, module: Module, faces: PublicFaces, who: Any, beside: Any, known: Any, batch: int, seed: int):
        self.modules = {"net": module}
        self.optimisers = {"adam": torch.optim.Adam(module.parameters(), lr=RATE)}
        self._device = device_of(module)
        self._faces, self._known, self._batch, self._seed = faces, known, batch, seed
        self._who, self._beside = who.to(self._device), beside.to(self._device)

    def epoch(self, number: int, of: int) -> None:
        module, adam, rng = self.modules["net"], self.optimisers["adam"], np.random.default_rng([self._seed, number])
        for place, some in enumerate(parts := list(batches(len(self._who), self._batch, rng))):
            for group in adam.param_groups:
                group["lr"] = cosine(RATE, (number + place / len(parts)) / of)
            drawn = _drawn(module, module["identity"](self._who[some]), self._beside[some], self._known)
            loss = torch.nn.functional.mse_loss(drawn, pixels_of(self._faces.pictures[some], self._device))
            adam.zero_grad()
            loss.backward()
            adam.step()


def train_identities(
    path: str | os.PathLike[str],
    faces: PublicFaces,
    *,
    code: int = 128,
    epochs: int = 80,
    batch: int = 64,
    seed: int = 0,
    device: str = "cpu",
    progress: Progress | None = None,
) -> IdentityGenerator:
    """A generator of *public* people, written to a file; a training that was stopped goes on where it was.

    ``code`` is the length of codes. Every face needs the name of its person; attributes get branches of their own. ``device`` is
    where it learns: ``cuda`` is a graphics card.
    """
    for name, value in (("code", code), ("batch", batch)):
        if not is_whole(value) or not 2 <= value <= 4096:
            raise ParameterError(f"{name} is a whole number from 2 to 4096.")
    if faces.people is None:
        raise DataError("a generator of people learns from faces whose people are known; name them.")
    names, who = np.unique(np.asarray(faces.people), return_inverse=True)
    if len(names) < 2:
        raise DataError("a generator of people learns from two people or more.")
    attributes = attributes_in(faces.attributes)
    about: dict[str, Any] = dict(zip(("height", "width", "channels"), faces.pictures.shape[1:], strict=True))
    about |= {
        "code": code,
        "people": [str(name) for name in names],
        "attributes": [one.to_json() for one in attributes],
    }
    rows = [one.rows(faces.attributes[one.name]) for one in attributes]
    beside = float_tensor(np.hstack([np.empty((len(who), 0)), *rows]))
    with seeded(seed):
        module = IdentityGenerator.built(about, beside.shape[1])
        normal_start(module)
    from_mean(module["drawing"], faces.pictures)
    module = module.to(device_called(device))
    about |= {"batch": batch, "seed": seed}
    learner = _Learner(module, faces, float_tensor(np.eye(len(names)))[who], beside, attributes, batch, seed)
    setup = {**about, "kind": IdentityGenerator.kind, "learned": faces.digest}
    checkpoint = run_course(learner, path, epochs, setup, progress)
    module = module.cpu()
    codes = _most_telling_first(module, len(names))
    readers = {one.name: reads_attribute(one, faces.pictures, faces.attributes[one.name]) for one in attributes}
    reader = reads_people(faces.pictures, who)
    features = reader(faces.pictures)
    told = {**about, "epochs": epochs, "faces": len(who), "source": faces.source}
    arrays = {"low": codes.min(0), "high": codes.max(0), "spreads": codes.std(0), "mean": codes.mean(0)}
    arrays |= {"people.features": np.stack([features[who == number].mean(0) for number in range(len(names))])}
    arrays |= {"people.slopes": reader.slopes, "people.offsets": reader.offsets}
    arrays |= Gallery.of(codes).arrays()
    resource = write_network(path, IdentityGenerator.kind, told, module, readers, arrays)
    checkpoint.unlink()
    return IdentityGenerator(resource)


def _most_telling_first(module: Module, people: int) -> Floats:
    """The codes of all people, after the elements of codes were put in the order of their spreads."""
    with torch.no_grad():
        codes = module["identity"](torch.eye(people)).numpy().astype(np.float64)
        order = np.argsort(-codes.std(0), kind="stable")
        first, drawing = module["identity"][0], module["drawing"][0]
        first.weight.copy_(first.weight[order].clone())
        first.bias.copy_(first.bias[order].clone())
        drawing.weight[:, : len(order)] = drawing.weight[:, : len(order)][:, order].clone()
    return np.asarray(codes[:, order])
