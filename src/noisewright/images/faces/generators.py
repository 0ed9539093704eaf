"""An encoder and a decoder after AttGAN, with a code of one by one, attributes and pose next to it, and noise while
it learns.

At 128 pixels and full width: convolutions of 4 x 4 and stride 2 with 64, 128, 256, 512, 1024 and 1024 filters, then
one of 2 x 2 to the 2048 numbers of the code; a decoder of transposed convolutions back to 128 pixels; a critic whose
trunk is shared by the judge, the classifier of attributes and the estimator of the pose. At other sizes (two or three
times a power of two) there are fewer steps, and ``scale`` makes all of it narrower: an eighth of it learns on a
processor in minutes, the whole of it needs a graphics card (``device="cuda"``) and the same lines.

Why it is like this:

- The code is one by one: independent noise on a grid of codes would break the correlation of neighbours.
- There is no shortcut from the encoder to the decoder: it would carry the face past the noise.
- The decoder learns from noisy codes (:mod:`noisewright.images.faces.autoencoder`).
- The background is not part of it: give it heads on white.

Losses, with a face x, its attributes a and pose p, a noisy code N(z), and other attributes b and pose q: the critic's
are those of Wasserstein with a penalty on gradients, cross-entropy of attributes and squared error of the pose; the
generator's are 200 times the absolute error of the face drawn from the *clean* code with a and p, and the critic's
output for the face drawn from N(z), b and q: its judgement, 1 times its cross-entropy with b, 30 times its squared
error from q.

References: He, Zuo, Kan, Shan and Chen, *AttGAN* (2019); Gulrajani and others, *Improved training of Wasserstein GANs*
(2017).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from noisewright._typing import Floats
from noisewright._utils.validation import is_number, is_whole
from noisewright.exceptions import DataError, ParameterError
from noisewright.images.faces.autoencoder import TrainingNoise, doubling, from_mean, halvings, normal_start
from noisewright.images.faces.latent_space import identity_weights
from noisewright.images.faces.network import (
    Arrays,
    Attribute,
    EncodedFaces,
    Module,
    NetworkFaces,
    Opened,
    Reader,
    Tensor,
    attributes_in,
    device_called,
    device_of,
    encoded,
    float_tensor,
    nn,
    pixels_of,
    public_codes,
    reads_attribute,
    reads_people,
    torch,
    write_network,
)
from noisewright.images.faces.public_faces import Gallery, PublicFaces
from noisewright.images.faces.training import Progress, batches, cosine, run_course, seeded
from noisewright.images.pictures import Picture

__all__ = ["AttGan", "IdentityGenerator", "critic_of", "train_attgan", "train_identities"]


FIRST, MOST, CODE, HEAD = 64, 1024, 2048, 1024
"""Filters of the first step, of the widest one, numbers of a code, and the width of the heads."""


class AttGan(EncodedFaces):
    """An encoder and a decoder with attributes and pose, in a file; make one with :meth:`at` or :func:`train_attgan`."""

    kind = "attgan"
    centred: ClassVar[bool] = True

    @staticmethod
    def built(about: Mapping[str, Any], attributes: int) -> Module:
        """Encoder and decoder."""
        channels, scale = about["channels"], about["scale"]
        last, filters = _steps(about)
        down, before = [], channels
        for wide in filters:
            down += [nn.Conv2d(before, wide, 4, 2, 1), nn.BatchNorm2d(wide), nn.LeakyReLU(0.2)]
            before = wide
        code = about["code"]
        down += [nn.Conv2d(before, code, last), nn.BatchNorm2d(code), nn.LeakyReLU(0.2), nn.Flatten()]
        before = _narrow(MOST, scale)
        up = [nn.Unflatten(1, (code + attributes, 1, 1)), nn.ConvTranspose2d(code + attributes, before, last)]
        up += [nn.BatchNorm2d(before), nn.LeakyReLU(0.2)]
        for wide in (min(2 * filter_, _narrow(MOST, scale)) for filter_ in reversed(filters[:-1])):
            up += [nn.ConvTranspose2d(before, wide, 4, 2, 1), nn.BatchNorm2d(wide), nn.LeakyReLU(0.2)]
            before = wide
        up += [nn.ConvTranspose2d(before, channels, 4, 2, 1), nn.Tanh()]
        return nn.ModuleDict({"encoder": nn.Sequential(*down), "decoder": nn.Sequential(*up)})


def critic_of(about: Mapping[str, Any], categories: int, numbers: int) -> Module:
    """Return the critic: it judges, classifies attributes and estimates the pose; needed for training alone."""
    last, filters = _steps(about)
    trunk, before = [], about["channels"]
    for wide in filters[:-1]:
        trunk += [nn.Conv2d(before, wide, 4, 2, 1), nn.InstanceNorm2d(wide, affine=True), nn.LeakyReLU(0.2)]
        before = wide
    flat, head = before * (2 * last) ** 2, _narrow(HEAD, about["scale"])
    heads = {"judge": 1, "categories": categories, "numbers": numbers}
    built = {
        name: nn.Sequential(nn.Linear(flat, head), nn.LeakyReLU(0.2), nn.Linear(head, wide))
        for name, wide in heads.items()
        if wide
    }
    return nn.ModuleDict({"trunk": nn.Sequential(*trunk, nn.Flatten()), **built})


def code_length(scale: float) -> int:
    """Return how many numbers a code has."""
    return _narrow(CODE, scale)


def _steps(about: Mapping[str, Any]) -> tuple[int, list[int]]:
    """The side that the last convolution takes in one, and the filters of the steps before it."""
    side, count = about["height"], 0
    while side % 2 == 0 and side > 3:
        side, count = side // 2, count + 1
    if about["width"] != about["height"] or side not in (2, 3) or count < 3:
        raise ParameterError(
            "faces for this network are squares of two or three times a power of two, such as 32, 48, 64 or 128 pixels."
        )
    return side, [_narrow(min(FIRST << step, MOST), about["scale"]) for step in range(count)]


def _narrow(wide: int, scale: float) -> int:
    return max(2, round(wide * scale))


# Identity generator -------------------------------------------------------------------------------------------------------
#
# A network that draws people by number: identities, expressions and genders in, faces out.
#
# A person is one of the K public people that it learned, or a mixture of them. A first layer turns the K weights of a mixture
# into the code z; attributes have first layers of their own; all of it together is drawn by steps of doubling and convolution.
# Noise is put on z: on the weights themselves, it would only blend public people.
#
# A face that it never saw is fitted first: weights of at least 0 that add up to 1 and whose mixture of public people has the
# least absolute deviation from the face, in features of the model's own reader (:mod:`noisewright.images.faces.latent_space`).
# They are a function of the secret face, found before the noise; their code is protected as any other.
#
# **Condition.** The guarantee is about z, given the network and the attributes that are kept. A network that was trained
# on the people who must be hidden is not public, and nothing protects them in its file.


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


class _IdentityLearner:
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
    learner = _IdentityLearner(module, faces, float_tensor(np.eye(len(names)))[who], beside, attributes, batch, seed)
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


# Attgan training ----------------------------------------------------------------------------------------------------------
#
# Training of :class:`~noisewright.images.faces.generators.AttGan`: a critic and a generator in turns.


RECONSTRUCTION, NAMES, POSE, CRITIC_NAMES, CRITIC_POSE, PENALTY = 200.0, 1.0, 30.0, 1.0, 3.0, 10.0
"""Weights of the parts of the losses: the first three for the generator, the others for the critic."""
BETAS = (0.5, 0.999)


class _AttGanLearner:
    def __init__(
        self, module: Module, critic: Module, faces: PublicFaces, known: tuple[Attribute, ...], rate: float, **more: int
    ) -> None:
        self.modules = {"net": module, "critic": critic}
        self.optimisers = {
            "generator's adam": torch.optim.Adam(module.parameters(), lr=rate, betas=BETAS),
            "critic's adam": torch.optim.Adam(critic.parameters(), lr=rate, betas=BETAS),
        }
        self._faces, self._known = faces, known
        self._device = device_of(module)
        self._columns = [float_tensor(one.rows(faces.attributes[one.name]), self._device) for one in known]
        self._batch, self._seed, self._turns = more["batch"], more["seed"], more["critic_turns"]

    def epoch(self, number: int, of: int) -> None:
        module, rng = self.modules["net"], np.random.default_rng([self._seed, number])
        module.eval()
        noise = None
        if number:
            noise = TrainingNoise(encoded(module, self._faces.pictures, centred=True), self._device)
        module.train()
        parts = list(batches(len(self._faces.pictures), self._batch, rng))
        for place, some in enumerate(parts):
            real = 2 * pixels_of(self._faces.pictures[some], self._device) - 1
            true = [column[some] for column in self._columns]
            other = [self._changed(one, column, rng) for one, column in zip(self._known, true, strict=True)]
            self._criticise(real, true, other, noise, rng)
            if (number * len(parts) + place) % self._turns == self._turns - 1:
                self._generate(real, true, other, noise, rng)

    def _changed(self, attribute: Attribute, column: Tensor, rng: np.random.Generator) -> Tensor:
        """Another value of a category, drawn evenly, or a number with a standard deviation more or less."""
        if attribute.values:
            return float_tensor(np.eye(attribute.width)[rng.integers(0, attribute.width, len(column))], self._device)
        return column + float_tensor(rng.normal(size=tuple(column.shape)), self._device)

    def _criticise(self, real: Tensor, true: list[Tensor], other: list[Tensor], noise: Any, rng: Any) -> None:
        module, critic, adam = self.modules["net"], self.modules["critic"], self.optimisers["critic's adam"]
        with torch.no_grad():
            codes = module["encoder"](real)
            made = module["decoder"](torch.cat([codes if noise is None else noise(codes, rng), *other], 1))
        share = float_tensor(rng.random((len(real), 1, 1, 1)), self._device)
        between = (real + share * (made - real)).requires_grad_(True)
        judged = critic["judge"](critic["trunk"](between))
        slope = torch.autograd.grad(judged.sum(), between, create_graph=True)[0].flatten(1).norm(dim=1)
        seen = critic["trunk"](real)
        loss = critic["judge"](critic["trunk"](made)).mean() - critic["judge"](seen).mean()
        loss = loss + PENALTY * ((slope - 1) ** 2).mean()
        names, pose = self._told(seen, true)
        _step(adam, loss + CRITIC_NAMES * names + CRITIC_POSE * pose)

    def _generate(self, real: Tensor, true: list[Tensor], other: list[Tensor], noise: Any, rng: Any) -> None:
        module, critic, adam = self.modules["net"], self.modules["critic"], self.optimisers["generator's adam"]
        codes = module["encoder"](real)
        made = module["decoder"](torch.cat([codes if noise is None else noise(codes, rng), *other], 1))
        again = module["decoder"](torch.cat([codes, *true], 1))
        seen = critic["trunk"](made)
        names, pose = self._told(seen, other)
        loss = RECONSTRUCTION * torch.nn.functional.l1_loss(again, real) - critic["judge"](seen).mean()
        _step(adam, loss + NAMES * names + POSE * pose)

    def _told(self, seen: Tensor, wanted: list[Tensor]) -> tuple[Any, Any]:
        """The cross-entropy of all values of attributes, and the mean squared error of the pose; 0 if no attribute or
        pose exists."""
        critic, names, pose = self.modules["critic"], 0.0, 0.0
        pairs = list(zip(self._known, wanted, strict=True))
        categories = [column for one, column in pairs if one.values]
        numbers = [column for one, column in pairs if not one.values]
        if categories:
            target = torch.cat(categories, 1)
            entropy = torch.nn.functional.binary_cross_entropy_with_logits(critic["categories"](seen), target)
            names = entropy * target.shape[1]  # a sum over values, a mean over faces
        if numbers:
            pose = torch.nn.functional.mse_loss(critic["numbers"](seen), torch.cat(numbers, 1))
        return names, pose


def _step(optimiser: Any, loss: Tensor) -> None:
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def train_attgan(
    path: str | os.PathLike[str],
    faces: PublicFaces,
    *,
    scale: float = 1 / 16,
    epochs: int = 60,
    batch: int = 32,
    rate: float = 2e-4,
    critic_turns: int = 5,
    seed: int = 0,
    device: str = "cpu",
    progress: Progress | None = None,
) -> AttGan:
    """An AttGAN-style network of *public* faces, written to a file; a training that was stopped goes on where it was.

    ``scale`` 1 is the whole width; ``critic_turns`` is how often the critic learns before the generator does once,
    and ``device`` where: ``cuda`` is a graphics card.
    """
    if not is_number(scale) or not 1 / 256 <= scale <= 1 or not is_number(rate) or not 0 < rate < 1:
        raise ParameterError("scale is a number from 1/256 to 1, and rate is a number above 0 and below 1.")
    for name, value in (("batch", batch), ("critic_turns", critic_turns)):
        if not is_whole(value) or not 1 + (name == "batch") <= value <= 4096:
            raise ParameterError(f"{name} is a whole number up to 4096, and a batch has two faces or more.")
    attributes = attributes_in(faces.attributes)
    about: dict[str, Any] = dict(zip(("height", "width", "channels"), faces.pictures.shape[1:], strict=True))
    about |= {"scale": float(scale), "code": code_length(scale), "attributes": [one.to_json() for one in attributes]}
    categories = sum(one.width for one in attributes if one.values)
    numbers = sum(one.width for one in attributes if not one.values)
    with seeded(seed):
        module = AttGan.built(about, categories + numbers)
        critic = critic_of(about, categories, numbers)
    where = device_called(device)
    module, critic = module.to(where), critic.to(where)
    about |= {"batch": batch, "seed": seed, "rate": float(rate), "critic_turns": critic_turns}
    learner = _AttGanLearner(module, critic, faces, attributes, rate, batch=batch, seed=seed, critic_turns=critic_turns)
    checkpoint = run_course(learner, path, epochs, {**about, "kind": AttGan.kind, "learned": faces.digest}, progress)
    module.eval()
    readers = {one.name: reads_attribute(one, faces.pictures, faces.attributes[one.name]) for one in attributes}
    told = {**about, "epochs": epochs, "faces": len(faces.pictures), "source": faces.source}
    arrays = public_codes(encoded(module, faces.pictures, centred=True), faces.people)
    resource = write_network(path, AttGan.kind, told, module, readers, arrays)
    checkpoint.unlink()
    return AttGan(resource)
