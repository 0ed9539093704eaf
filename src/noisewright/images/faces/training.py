"""One way to train any kind of model of faces.

>>> import pathlib, tempfile
>>> from noisewright.images import PublicFaces, cartoon_faces
>>> faces = PublicFaces(*cartoon_faces(4, 2, size=16))
>>> train_model("eigenfaces", pathlib.Path(tempfile.mkdtemp(), "tiny.nwm"), faces, code=3)
Eigenfaces('tiny.nwm', 16 x 16 pixels in colour, 3 components)
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.validation import is_whole, one_of
from noisewright.base import parameters_of
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.images.faces.eigenfaces import Eigenfaces, train_eigenfaces
from noisewright.images.faces.model import FaceModel
from noisewright.images.faces.network import Module, arrays_of, float_tensor, torch
from noisewright.images.faces.public_faces import PublicFaces
from noisewright.io.model_files import read_model, write_model
from noisewright.resources import Resource

__all__ = ["KINDS", "Learner", "batches", "cosine", "run_course", "seeded", "train_model"]


NETWORKS = {
    "autoencoder": "noisewright.images.faces.autoencoder:train_autoencoder",
    "identities": "noisewright.images.faces.generators:train_identities",
    "attgan": "noisewright.images.faces.generators:train_attgan",
}
KINDS = ("eigenfaces", *NETWORKS)
"""The kinds of models that can be trained."""


def train_model(
    kind: str,
    path: str | os.PathLike[str],
    faces: PublicFaces,
    progress: Callable[[int, int | None], None] | None = None,
    **options: Any,
) -> FaceModel:
    """A model of this kind from *public* faces, written to a file; the options belong to its own trainer.

    ``code`` is the length of codes for all of them but attgan, whose ``scale`` says it. Networks need PyTorch, and go on from a
    checkpoint where there is one.
    """
    name = NETWORKS.get(one_of(kind, "model", KINDS))
    make: Any = _eigenfaces if name is None else _thing_at(name)
    for option in options:
        if option not in parameters_of(make):
            raise ParameterError(f"{option} is not an option of the model {kind}; leave it out.")
    return make(path, faces, progress=progress, **options)  # type: ignore[no-any-return]


def _thing_at(address: str) -> Any:
    module, _, name = address.partition(":")
    return getattr(import_module(module), name)


def _eigenfaces(
    path: str | os.PathLike[str], faces: PublicFaces, *, code: int = 300, progress: object = None
) -> Eigenfaces:
    return train_eigenfaces(path, faces.pictures, people=faces.people, components=code, source=faces.source)


# Course -------------------------------------------------------------------------------------------------------------------
#
# A course of training: epochs one after another, with a checkpoint after each, so that it goes on where it was stopped.
#
# The checkpoint lies next to the model that is to be, as ``model.nwm.part``: arrays and JSON like a model, with the
# state of networks and optimisers, and is gone when the model is there. All randomness in an epoch follows from the seed
# and the number of the epoch, so a course that was stopped and resumed ends with the same model, bit by bit, on the same
# machine. A checkpoint of other faces or other options is refused.


KIND = "checkpoint"
Arrays = dict[str, NDArray[Any]]
Progress = Callable[[int, int | None], None]


class Learner(Protocol):
    """Networks that learn."""

    modules: dict[str, Module]
    optimisers: dict[str, Any]

    def epoch(self, number: int, of: int) -> None:
        """Learn from all faces once; everything random follows from the number."""


def run_course(
    learner: Learner,
    path: str | os.PathLike[str],
    epochs: int,
    setup: Mapping[str, Any],
    progress: Progress | None = None,
) -> Path:
    """Run the given number of epochs, except those in a checkpoint, which ``setup`` identifies. Return the checkpoint."""
    if not is_whole(epochs) or not 1 <= epochs <= 1_000_000:
        raise ParameterError("epochs is a whole number from 1 to 1,000,000.")
    checkpoint = Path(f"{os.fspath(path)}.part")
    stated = {**setup, "epochs": epochs}
    done = _resumed(learner, checkpoint, stated) if checkpoint.exists() else 0
    for number in range(done, epochs):
        if progress is not None:
            progress(number, epochs)
        learner.epoch(number, epochs)
        arrays = _known(learner)
        if not all(np.isfinite(array).all() for array in arrays.values()):
            raise DataError("training went astray and the network has numbers that are not finite; take another seed.")
        write_model(checkpoint, KIND, {"setup": stated, "done": number + 1}, arrays)
    if progress is not None:
        progress(epochs, epochs)
    return checkpoint


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """New networks start from this seed, and nothing else of the process notices."""
    if not is_whole(seed) or not 0 <= seed < 1 << 62:
        raise ParameterError("a seed for training is a whole number from 0 on.")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(seed))
        yield


def batches(many: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Yield all places in random order in batches; the rest goes with the last, so that none is alone."""
    order = rng.permutation(many)
    count = max(1, many // size)
    yield from np.array_split(order, count)


def cosine(rate: float, done: float) -> float:
    """A rate of learning that falls to nothing along a cosine; ``done`` is from 0 to 1."""
    return rate * 0.5 * (1 + math.cos(math.pi * done))


def _known(learner: Learner) -> Arrays:
    found: Arrays = {}
    for name, module in learner.modules.items():
        found |= {f"{name}.{key}": array for key, array in arrays_of(module).items()}
    for name, optimiser in learner.optimisers.items():
        for place, state in optimiser.state_dict()["state"].items():
            found |= {f"{name}.{place}.{key}": tensor.cpu().numpy() for key, tensor in state.items()}
    return found


def _resumed(learner: Learner, checkpoint: Path, setup: Mapping[str, Any]) -> int:
    """Load the checkpoint into the learner; return its number of epochs."""
    try:
        about, arrays = read_model(Resource.at(checkpoint), KIND)
    except FileFormatError:
        raise FileFormatError(
            f"{checkpoint.name} is no checkpoint of a training, or is cut short; remove the file and train anew."
        ) from None
    if about.get("setup") != dict(setup) or not is_whole(about.get("done")):
        raise FileFormatError(
            f"{checkpoint.name} is the checkpoint of another training; finish that one, or remove the file."
        )
    try:
        for name, module in learner.modules.items():
            own = {key: float_tensor(arrays[f"{name}.{key}"]) for key in arrays_of(module)}
            module.load_state_dict(own, strict=False)
        for name, optimiser in learner.optimisers.items():
            state: dict[int, dict[str, Any]] = {}
            for key in arrays:
                if key.startswith(f"{name}."):
                    place, _, what = key.removeprefix(f"{name}.").partition(".")
                    state.setdefault(int(place), {})[what] = float_tensor(arrays[key])
            optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
    except (LookupError, RuntimeError, ValueError):
        raise FileFormatError(f"{checkpoint.name} does not fit this network; remove the file and train anew.") from None
    return int(about["done"])
