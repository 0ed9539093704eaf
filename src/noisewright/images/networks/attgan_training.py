"""Training of :class:`~noisewright.images.networks.attgan.AttGan`: a critic and a generator in turns."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from noisewright.core.choices import is_number, is_whole
from noisewright.core.errors import ParameterError
from noisewright.images.faces.models.public_faces import PublicFaces
from noisewright.images.networks._course import Progress, batches, run_course, seeded
from noisewright.images.networks._readers import reads_attribute
from noisewright.images.networks._torch import Module, Tensor, device_called, device_of, float_tensor, torch
from noisewright.images.networks.attgan import AttGan, code_length, critic_of
from noisewright.images.networks.attributes import Attribute, attributes_in
from noisewright.images.networks.network import encoded, pixels_of, public_codes, write_network
from noisewright.images.networks.noise_aware import TrainingNoise

__all__ = ["train_attgan"]

RECONSTRUCTION, NAMES, POSE, CRITIC_NAMES, CRITIC_POSE, PENALTY = 200.0, 1.0, 30.0, 1.0, 3.0, 10.0
"""Weights of the parts of the losses: the first three for the generator, the others for the critic."""
BETAS = (0.5, 0.999)


class _Learner:
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
    learner = _Learner(module, critic, faces, attributes, rate, batch=batch, seed=seed, critic_turns=critic_turns)
    checkpoint = run_course(learner, path, epochs, {**about, "kind": AttGan.kind, "learned": faces.digest}, progress)
    module.eval()
    readers = {one.name: reads_attribute(one, faces.pictures, faces.attributes[one.name]) for one in attributes}
    told = {**about, "epochs": epochs, "faces": len(faces.pictures), "source": faces.source}
    arrays = public_codes(encoded(module, faces.pictures, centred=True), faces.people)
    resource = write_network(path, AttGan.kind, told, module, readers, arrays)
    checkpoint.unlink()
    return AttGan(resource)
