"""Checkpoints of training: arrays and JSON like a model, with what both players, their steps and the watcher know."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.choices import is_whole
from noisewright.core.errors import FileFormatError
from noisewright.core.resource import Resource
from noisewright.files.model_file import read_model, write_model
from noisewright.learned.training._torch import torch
from noisewright.learned.training.steps import Adam, LineSearch

if TYPE_CHECKING:
    from noisewright.learned.training.trainer import Trainer

__all__ = ["read_checkpoint", "write_checkpoint"]

KIND = "privatiser-checkpoint"


def write_checkpoint(trainer: Trainer, path: str | os.PathLike[str], setup: dict[str, Any], done: int) -> None:
    """After an epoch; the file is replaced whole."""
    arrays = {name: tensor.detach().numpy() for name, tensor in _tensors(trainer).items()}
    arrays |= {f"best.{name}": tensor.numpy() for name, tensor in trainer.best.items()}
    arrays["history"] = np.stack(trainer.history)
    arrays["best_loss"] = np.nan_to_num(trainer.best_loss, neginf=-1e300)
    counts = [adam.count for adam in _adams(trainer).values()]
    about = {
        "setup": setup,
        "done": done,
        "counts": counts,
        "rho": trainer.constraint.rho,
        "waited": trainer.waited,
        "stopped": trainer.stopped,
    }
    write_model(path, KIND, about, arrays)


def read_checkpoint(trainer: Trainer, path: str | os.PathLike[str], setup: dict[str, Any]) -> int:
    """Load a checkpoint into a trainer; return its number of epochs, 0 without a checkpoint."""
    place = Path(path)
    if not place.exists():
        return 0
    about, arrays = read_model(Resource.at(place), KIND)
    if about.get("setup") != setup or not is_whole(about.get("done")):
        raise FileFormatError(
            f"{place.name} is the checkpoint of another training; finish that one, or remove the file."
        )
    try:
        with torch.no_grad():
            for name, tensor in _tensors(trainer).items():
                tensor.copy_(_tensor(arrays[name]))
        trainer.constraint.multiplier = _tensor(arrays["multiplier"])
        trainer.best = {
            name.removeprefix("best."): _tensor(array) for name, array in arrays.items() if name.startswith("best.")
        }
        trainer.history = list(np.array(arrays["history"]))
        found = np.array(arrays["best_loss"])
        trainer.best_loss = np.where(found <= -1e300, -np.inf, found)
        for adam, count in zip(_adams(trainer).values(), about["counts"], strict=True):
            adam.count = int(count)
        trainer.constraint.rho, trainer.waited = float(about["rho"]), int(about["waited"])
        trainer.stopped = bool(about["stopped"])
    except (LookupError, RuntimeError, TypeError, ValueError):
        raise FileFormatError(f"{place.name} does not fit this training; remove the file and train anew.") from None
    return int(about["done"])


def _tensors(trainer: Trainer) -> dict[str, Any]:
    """All tensors that learn, by name."""
    found = {"multiplier": trainer.constraint.multiplier}
    players = {"family": trainer.family, "adversary": trainer.adversary, "watcher": trainer.watcher}
    for who, player in players.items():
        if player is not None:
            found |= {f"{who}.{name}": tensor for name, tensor in player.parameters.items()}
    for who, adam in _adams(trainer).items():
        for what, named in (("means", adam.means), ("squares", adam.squares)):
            found |= {f"{who}.{what}.{name}": tensor for name, tensor in named.items()}
    if isinstance(trainer.moving, LineSearch):
        found["lengths"] = trainer.moving.lengths
    return found


def _adams(trainer: Trainer) -> dict[str, Adam]:
    named = {"learning": trainer.learning, "moving": trainer.moving, "watching": trainer.watching}
    return {name: adam for name, adam in named.items() if isinstance(adam, Adam)}


def _tensor(array: NDArray[Any]) -> Any:
    return torch.from_numpy(np.array(array))
