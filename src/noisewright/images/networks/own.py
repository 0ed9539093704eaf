r"""A generator of one's own: an encoder and a decoder given as PyTorch modules.

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
>>> from noisewright.images.faces import PublicFaces, cartoon_faces
>>> faces = PublicFaces(cartoon_faces(8, 2, size=8)[0])
>>> encoder = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(192, 5))
>>> decoder = torch.nn.Sequential(torch.nn.Linear(5, 192), torch.nn.Sigmoid(), torch.nn.Unflatten(1, (3, 8, 8)))
>>> own_faces(pathlib.Path(tempfile.mkdtemp(), "mine.nwm"), encoder, decoder, faces)
OwnFaces('mine.nwm', 8 x 8 pixels in colour, 5 elements)
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from noisewright.core.errors import FileFormatError, ParameterError
from noisewright.core.resource import Resource
from noisewright.images.faces.models.public_faces import PublicFaces
from noisewright.images.networks._torch import Module, arrays_of, float_tensor, nn, torch
from noisewright.images.networks.network import Arrays, EncodedFaces, encoded, pixels_of, public_codes, write_network
from noisewright.images.pictures.reading import Picture

__all__ = ["OwnFaces", "own_faces"]


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
