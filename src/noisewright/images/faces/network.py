"""Attributes of faces that a network can draw: an expression, a gender, a pose. Those that are kept pass around the noise.

A category becomes one number for each of its values, 1 for the one that it has and 0 for the others; a number, such as an
angle, is counted in standard deviations from its public mean. An attribute that is not kept is a public constant: the first
value, or the mean.

>>> gender, yaw = attributes_in({"gender": ["f", "m", "f"], "yaw": [0.5, 1.5, 1.0]})
>>> gender.rows(["m", "f"]).tolist(), yaw.rows([1.5]).round(3).tolist()
([[0.0, 1.0], [1.0, 0.0]], [[1.225]])
>>> gender.constant.tolist(), yaw.constant.tolist()
([1.0, 0.0], [0.0])
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright.exceptions import DataError, FileFormatError, MissingPartError, ParameterError
from noisewright.images.faces.eigenfaces import Basis
from noisewright.images.faces.public_faces import Gallery
from noisewright.images.faces.reidentification import Recogniser
from noisewright.images.pictures import CHANNELS, Picture, as_pixels
from noisewright.io.model_files import read_model, write_model
from noisewright.resources import Resource

__all__ = [
    "Attribute",
    "EncodedFaces",
    "Module",
    "NetworkFaces",
    "Reader",
    "Tensor",
    "arrays_of",
    "attributes_in",
    "device_called",
    "device_of",
    "encoded",
    "filled",
    "float_tensor",
    "nn",
    "pixels_of",
    "public_codes",
    "read_attribute",
    "reads_attribute",
    "reads_people",
    "torch",
    "write_network",
]


MOST_VALUES = 100


@dataclass(frozen=True)
class Attribute:
    """A category with its values, or a number with its public mean and spread."""

    name: str
    values: tuple[str, ...] = ()
    mean: float = 0.0
    spread: float = 1.0

    @property
    def width(self) -> int:
        """Number of values that represent it."""
        return max(1, len(self.values))

    @property
    def constant(self) -> Floats:
        """Constant in its place if it is not kept."""
        return np.eye(self.width)[0] if self.values else np.zeros(1)

    def rows(self, given: Sequence[Any] | NDArray[Any]) -> Floats:
        """Its numbers for each face, one face in each row."""
        if not self.values:
            numbers = np.asarray(given, np.float64)
            if numbers.ndim != 1 or not np.isfinite(numbers).all():
                raise DataError(f"the attribute {self.name} is one finite number for each face.")
            return np.asarray((numbers - self.mean) / self.spread)[:, None]
        places = {value: place for place, value in enumerate(self.values)}
        try:
            return np.asarray(np.eye(self.width)[[places[str(value)] for value in given]].reshape(-1, self.width))
        except KeyError:
            raise DataError(f"the attribute {self.name} is one of {', '.join(self.values)} for each face.") from None

    def to_json(self) -> dict[str, Any]:
        """Return the fields for a file."""
        return {"name": self.name, "values": list(self.values), "mean": self.mean, "spread": self.spread}

    @classmethod
    def from_json(cls, document: Any) -> Attribute:
        """Return the attribute of a file; raise ``ValueError`` if it is not valid."""
        found = cls(**{**document, "values": tuple(document["values"])})
        texts = (found.name, *found.values)
        if not all(isinstance(text, str) for text in texts) or len(set(found.values)) < len(found.values):
            raise ValueError(found.name)
        if len(found.values) > MOST_VALUES or not math.isfinite(found.mean) or not 0 < found.spread < math.inf:
            raise ValueError(found.name)
        return found


def attributes_in(labels: Mapping[str, Sequence[Any] | NDArray[Any]]) -> tuple[Attribute, ...]:
    """The attributes of labelled faces, in the order of their names: floats are numbers, everything else is a category."""
    found = []
    for name, given in sorted(labels.items()):
        column = np.asarray(given)
        if column.dtype.kind == "f":
            if not np.isfinite(column).all() or not column.std() > 0:
                raise DataError(f"the attribute {name} is a finite number for each face that differs between faces.")
            found.append(Attribute(name, (), float(column.mean()), float(column.std())))
            continue
        values = tuple(dict.fromkeys(str(value) for value in column.tolist()))
        if not 2 <= len(values) <= MOST_VALUES:
            raise DataError(f"the attribute {name} has 2 to {MOST_VALUES} values; leave it out.")
        found.append(Attribute(name, values))
    return tuple(found)


def chosen(attributes: Iterable[Attribute], names: Sequence[str]) -> tuple[str, ...]:
    """The names, if all of them are among the attributes and none is there twice."""
    known = [attribute.name for attribute in attributes]
    for name in names:
        if name not in known:
            raise ParameterError(
                f"this model knows no attribute {name!r}; it knows {', '.join(known) if known else 'none'}."
            )
    return tuple(name for name in known if name in names)


# Torch --------------------------------------------------------------------------------------------------------------------
#
# PyTorch, an optional part that networks alone import, and the way between its modules and arrays with names.


try:
    torch: Any = import_module("torch")
except ImportError:
    raise MissingPartError(
        "networks of faces need PyTorch; install it with pip install 'noisewright[networks]'."
    ) from None

nn: Any = torch.nn
Tensor = Any
Module = Any
COUNTERS = "num_batches_tracked"
"""Counter of a normalising layer that is never used."""


def float_tensor(array: NDArray[Any], device: Any = None) -> Tensor:
    """A copy of an array in single precision: arrays of files are read-only, which a tensor cannot be."""
    copy = torch.from_numpy(np.array(array, np.float32))
    return copy if device is None else copy.to(device)


def device_called(name: str) -> Any:
    """The processor or graphics card of this name, such as ``cpu`` or ``cuda``."""
    try:
        found = torch.device(name)
        torch.zeros(1, device=found).cpu()
    except (AssertionError, NotImplementedError, RuntimeError, TypeError):
        raise ParameterError(f"there is no device {name!r} here that can train; cpu is always there.") from None
    return found


def device_of(module: Module) -> Any:
    """Return where a module is."""
    return next((parameter.device for parameter in module.parameters()), torch.device("cpu"))


def arrays_of(module: Module) -> dict[str, NDArray[Any]]:
    """Everything that a module has learned, by name."""
    return {
        name: tensor.detach().cpu().numpy().copy()
        for name, tensor in module.state_dict().items()
        if not name.endswith(COUNTERS)
    }


def filled(module: Module, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Return whether the arrays match the parameters of the module; if so it has them now. The module may be without
    memory yet."""
    wanted = {name: tensor for name, tensor in module.state_dict().items() if not name.endswith(COUNTERS)}
    if {name: tuple(tensor.shape) for name, tensor in wanted.items()} != {name: a.shape for name, a in arrays.items()}:
        return False
    if not all(array.dtype == np.float32 and np.isfinite(array).all() for array in arrays.values()):
        return False
    module.load_state_dict({name: float_tensor(array) for name, array in arrays.items()}, strict=False, assign=True)
    module.eval()
    module.requires_grad_(False)
    return True


# Readers ------------------------------------------------------------------------------------------------------------------
#
# Readers of a model: attributes of a face, and features in which people differ. Linear in the pixels, and public.
#
# Attributes that are kept in the clear come from here where their owner does not say them; nothing else uses them. Features are
# the coordinates in which public people differ while one person hardly does.


COMPONENTS = 100
RIDGE = 1e-3


@dataclass(frozen=True, eq=False)
class Reader:
    """Numbers that are linear in the pixels of a face: ``pixels / 255 @ slopes + offsets``."""

    slopes: NDArray[np.float32]
    offsets: NDArray[np.float32]

    def __call__(self, pictures: Picture) -> Floats:
        """The numbers of each face, one face in each row."""
        flat = pictures.reshape(len(pictures), -1).astype(np.float32)
        return np.asarray(flat @ (self.slopes / np.float32(255)) + self.offsets, np.float64)

    @classmethod
    def of(cls, slopes: Floats, offsets: Floats) -> Reader:
        """Return the reader in single precision, as in files."""
        return cls(slopes.astype(np.float32), offsets.astype(np.float32))


def reads_attribute(attribute: Attribute, pictures: Picture, given: Sequence[Any] | NDArray[Any]) -> Reader:
    """A reader of an attribute, learned from public faces: a score for each value, or the number itself."""
    if attribute.values:
        return Reader.of(*Recogniser(COMPONENTS).fit(pictures, attribute.rows(given).argmax(1)).linear)
    flat = pictures.reshape(len(pictures), -1) / 255.0
    basis = Basis.fit(flat, COMPONENTS)
    places, target = basis.forward(flat), attribute.rows(given)
    products = places.T @ places
    products += RIDGE * np.trace(products) / len(products) * np.eye(len(products))
    slopes = basis.directions.T @ np.linalg.solve(products, places.T @ target)
    return Reader.of(slopes, target.mean(0) - basis.mean @ slopes)


def read_attribute(attribute: Attribute, reader: Reader, pictures: Picture) -> Floats:
    """The numbers of an attribute as its reader sees them: one value of a category, or the number."""
    scores = reader(pictures)
    return np.asarray(np.eye(attribute.width)[scores.argmax(1)]) if attribute.values else scores


def reads_people(pictures: Picture, people: Sequence[Any] | NDArray[Any]) -> Reader:
    """Features in which people differ by their distance in units of how much one person varies."""
    return Reader.of(*Recogniser(COMPONENTS).fit(pictures, people).features)


# Network ------------------------------------------------------------------------------------------------------------------
#
# Base of all networks of faces: a file with weights and public ranges, attributes next to the code, and nothing
# else.
#
# A network is built of plain layers in a row from the fields of its file, on no memory at first, so that a file whose
# arrays do not fit is refused before anything is filled. Encoder and decoder are apart: a decoder is given codes and
# attributes, and there is no other way from a picture into it. In use, layers normalise by what they learned and never
# by the faces that happen to come along.


Arrays = dict[str, NDArray[Any]]
RANGES = ("low", "high", "spreads")
BASIS = ("mean", "directions", *RANGES)
SIZES = ("height", "width", "channels")
MOST_SIDE = 1024
PIXELS = 1 << 17
"""Approximate number of pixels that go through a network together."""


@dataclass(frozen=True, eq=False)
class Opened:
    """Content of a file, checked: sizes, attributes with their readers, the network, and the other arrays."""

    about: dict[str, Any]
    shape: tuple[int, int, int]
    attributes: tuple[Attribute, ...]
    readers: dict[str, Reader]
    module: Module
    arrays: Arrays


class NetworkFaces(ABC):
    """A network of faces in a file; only the attributes in ``kept`` pass around its codes."""

    kind: ClassVar[str]

    def __init__(self, resource: Resource, kept: tuple[str, ...] = (), shown: tuple[tuple[str, str], ...] = ()) -> None:
        if not isinstance(resource, Resource):
            raise ParameterError(f"{type(self).__name__} is read from a path with .at, or from a Resource.")
        self.resource, self._kept, self._shown = resource, kept, shown

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Self:
        """The model in a file, checked."""
        found = cls(Resource.at(path))
        _ = found._opened
        return found

    # What each network is -----------------------------------------------------------------------------------------------

    @staticmethod
    def built(about: Mapping[str, Any], attributes: int) -> Module:
        """Return the network of a file with the given number of values for attributes; raise any error if the file is
        invalid."""
        raise TypeError("a network must define built(about, attributes), or how it is filled.")

    def _network(self, about: Mapping[str, Any], attributes: int, learned: Arrays) -> Module:
        """Return that network with its trained parameters."""
        with torch.device("meta"):  # nothing is filled before everything fits
            module = self.built(about, attributes)
        if not filled(module, learned):
            raise ValueError("the network")
        return module

    @abstractmethod
    def _codes(self, pictures: Picture) -> Floats:
        """The whole codes of faces."""

    @abstractmethod
    def _drawn(self, codes: Floats, attributes: Tensor) -> Tensor:
        """Faces between 0 and 1 (faces, channels, rows, columns) from codes, perhaps shorter ones, and attributes."""

    # What a model of faces is -------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, columns and channels of its pictures."""
        return self._opened.shape

    @property
    def low(self) -> Floats:
        """The low end of each element of a code among public faces."""
        return self._opened.arrays["low"]

    @property
    def high(self) -> Floats:
        """The high ends."""
        return self._opened.arrays["high"]

    @property
    def spreads(self) -> Floats:
        """The standard deviations of elements among public faces."""
        return self._opened.arrays["spreads"]

    @property
    def gallery(self) -> Gallery | None:
        """The codes of some of the public faces that it learned from."""
        return Gallery.kept(self._opened.arrays, self.low, self.high)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Attributes that it can draw in addition to the code."""
        return self._opened.attributes

    @property
    def clear(self) -> tuple[str, ...]:
        """The attributes that are kept, in words."""
        return tuple(f"the {name} of a face, as the model reads it or its owner states it" for name in self._kept)

    def keeping(self, *names: str) -> Self:
        """The same model with these attributes of a face passing around its code, in the clear."""
        kept = chosen(self.attributes, names)
        return self if kept == self._kept else type(self)(self.resource, kept, self._shown)

    def showing(self, **values: str) -> Self:
        """The same model with a public constant for an attribute that is not kept, such as ``expression="3"`` for all faces."""
        chosen(self.attributes, tuple(values))
        for attribute in self.attributes:
            if attribute.name in values and str(values[attribute.name]) not in attribute.values:
                raise ParameterError(
                    f"the attribute {attribute.name} is one of {', '.join(attribute.values) or 'no list'}."
                )
        shown = {**dict(self._shown), **{name: str(value) for name, value in values.items()}}
        return type(self)(self.resource, self._kept, tuple(sorted(shown.items())))

    def rows_of(self, labels: Mapping[str, Sequence[Any] | NDArray[Any]]) -> Floats:
        """The rows of attributes for faces whose owner knows them: a list for each attribute that is kept."""
        missing = [name for name in self._kept if name not in labels]
        if missing or not self._kept:
            wanted = ", ".join(missing) or "an attribute that is kept; see keeping"
            raise ParameterError(f"the attributes of faces lack {wanted}.")
        columns = [attribute.rows(labels[attribute.name]) for attribute in self._keepers]
        if len({len(column) for column in columns}) > 1:
            raise DataError("every attribute has one value for each face.")
        return np.hstack(columns)

    def attributes_of(self, pictures: Picture) -> Floats:
        """The attributes that are kept, as the model reads them off faces."""
        opened = self._opened
        read = [read_attribute(one, opened.readers[one.name], self._checked(pictures)) for one in self._keepers]
        return np.hstack([np.empty((len(pictures), 0)), *read])

    def encode(self, pictures: Picture, elements: int | None = None) -> Floats:
        """The codes of faces, one face in each row; the first ``elements`` of them, or all."""
        return self._codes(self._checked(pictures))[:, :elements]

    def decode(self, codes: Floats, attributes: Floats | None = None) -> Picture:
        """The faces with these codes; elements and attributes that are not given are public constants."""
        given = np.atleast_2d(np.asarray(codes, np.float64))
        if given.shape[1] > len(self.low):
            raise DataError(f"the codes of this model have {len(self.low)} elements; give as many or fewer.")
        beside, drawn = float_tensor(self._beside(len(given), attributes)), [np.empty((0, *self.shape), np.uint8)]
        with torch.inference_mode():
            for some in _pieces(len(given), self.shape):
                face = self._drawn(given[some], beside[some]).permute(0, 2, 3, 1)
                drawn.append(as_pixels(face.numpy() * np.float32(255)))
        return np.concatenate(drawn)

    @property
    def _keepers(self) -> list[Attribute]:
        return [attribute for attribute in self.attributes if attribute.name in self._kept]

    def _beside(self, many: int, kept: Floats | None) -> Floats:
        """Return all attributes: the given values of kept attributes, and constants."""
        width, shown = sum(attribute.width for attribute in self._keepers), dict(self._shown)
        if kept is not None and np.shape(kept) != (many, width):
            raise DataError(f"attributes have a row of {width} numbers for each face here; see rows_of.")
        columns, place = [np.empty((many, 0))], 0
        for attribute in self.attributes:
            if kept is not None and attribute.name in self._kept:
                columns.append(np.asarray(kept)[:, place : place + attribute.width])
                place += attribute.width
            else:
                own = attribute.rows([shown[attribute.name]])[0] if attribute.name in shown else attribute.constant
                columns.append(np.tile(own, (many, 1)))
        return np.hstack(columns)

    def _checked(self, pictures: Picture) -> Picture:
        if pictures.dtype != np.uint8 or pictures.ndim != 4 or pictures.shape[1:] != self.shape:
            rows, columns, channels = self.shape
            raise DataError(
                f"faces have {rows} rows, {columns} columns and {channels} channel{'s' if channels > 1 else ''} of eight bits "
                "here; align and resize them first."
            )
        return pictures

    @cached_property
    def _opened(self) -> Opened:
        about, arrays = read_model(self.resource, self.kind)
        try:
            return self._fitted(about, arrays)
        except FileFormatError:
            raise
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
            raise FileFormatError(
                f"{self.resource.name} has arrays that make no network of faces; train it again."
            ) from None

    def _fitted(self, about: dict[str, Any], arrays: Arrays) -> Opened:
        """The network with its arrays; any error that nonsense leads to."""
        sizes = [about[name] for name in SIZES]
        if not all(type(size) is int and 0 < size <= MOST_SIDE for size in sizes) or sizes[2] not in CHANNELS.values():
            raise ValueError("sizes")
        attributes = tuple(map(Attribute.from_json, about["attributes"]))
        learned = {name.removeprefix("net."): array for name, array in arrays.items() if name.startswith("net.")}
        module = self._network(about, sum(attribute.width for attribute in attributes), learned)
        pixels, readers = sizes[0] * sizes[1] * sizes[2], {}
        for one in attributes:
            readers[one.name] = Reader(arrays[f"reads.{one.name}.slopes"], arrays[f"reads.{one.name}.offsets"])
            if readers[one.name].slopes.shape != (pixels, one.width):
                raise ValueError("a reader")
        box = [arrays[name] for name in RANGES]
        fine = all(array.ndim == 1 and array.dtype == np.float64 and np.isfinite(array).all() for array in box)
        if not fine or not box[0].shape == box[1].shape == box[2].shape or not box[0].size:
            raise ValueError("ranges")
        if not (box[0] < box[1]).all() or not (box[2] > 0).all():
            raise ValueError("ranges")
        if "gallery" in arrays and Gallery.kept(arrays, box[0], box[1]) is None:
            raise ValueError("a gallery")
        return Opened(about, (sizes[0], sizes[1], sizes[2]), attributes, readers, module, arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.resource, self._kept, self._shown)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__reduce__() == self.__reduce__()

    def __hash__(self) -> int:
        return hash((self.resource, self._kept, self._shown))

    def __repr__(self) -> str:
        height, width, channels = self.shape
        colours, kept = (
            "grey" if channels == 1 else "colour",
            f", keeping {', '.join(self._kept)}" if self._kept else "",
        )
        size = f"{width} x {height} pixels in {colours}"
        return f"{type(self).__name__}({self.resource.name!r}, {size}, {len(self.low)} elements{kept})"


class EncodedFaces(NetworkFaces):
    """A network with an encoder, whose codes are then the principal components of the encoder's output."""

    centred: ClassVar[bool] = False
    """Whether its pixels are between -1 and 1, not between 0 and 1."""

    @cached_property
    def basis(self) -> Basis:
        """The components of the codes of public faces."""
        return Basis(**{name: self._opened.arrays[name] for name in BASIS})

    def _codes(self, pictures: Picture) -> Floats:
        return self.basis.forward(encoded(self._opened.module, pictures, centred=self.centred))

    def _drawn(self, codes: Floats, attributes: Tensor) -> Tensor:
        whole = float_tensor(self.basis.backward(codes))
        drawn = self._opened.module["decoder"](torch.cat([whole, attributes], 1))
        return (drawn + 1) / 2 if self.centred else drawn

    def _fitted(self, about: dict[str, Any], arrays: Arrays) -> Opened:
        opened, many = super()._fitted(about, arrays), arrays["low"].size
        code = about["code"]
        if arrays["directions"].shape != (many, code) or arrays["mean"].shape != (code,):
            raise ValueError("a basis")
        if not all(np.isfinite(arrays[name]).all() for name in ("directions", "mean")):
            raise ValueError("a basis")
        return opened


def encoded(module: Module, pictures: Picture, *, centred: bool = False) -> Floats:
    """Return an encoder's output for faces, in batches."""
    parts = []
    with torch.inference_mode():
        for some in _pieces(len(pictures), pictures.shape[1:]):
            pixels = pixels_of(pictures[some], device_of(module))
            parts.append(module["encoder"](2 * pixels - 1 if centred else pixels).cpu().numpy())
    return np.concatenate(parts).astype(np.float64)


def _pieces(many: int, shape: tuple[int, ...]) -> list[slice]:
    """All faces, a few at a time: intermediate arrays stay in the processor's cache. At least one batch."""
    few = max(1, PIXELS // (shape[0] * shape[1]))
    return [slice(start, start + few) for start in range(0, max(1, many), few)]


def public_codes(codes: Floats, people: Sequence[Any] | NDArray[Any] | None) -> Arrays:
    """Return a file's statistics of the codes of public faces: their components with ranges and spreads, and some of them."""
    basis = Basis.fit(codes)
    return {name: getattr(basis, name) for name in BASIS} | Gallery.of(basis.forward(codes), people).arrays()


def pixels_of(pictures: Picture, device: Any = None) -> Tensor:
    """Pictures as a network takes them: between 0 and 1, channels first."""
    return float_tensor(pictures, device).permute(0, 3, 1, 2).contiguous() / 255.0


def write_network(
    path: str | os.PathLike[str],
    kind: str,
    about: Mapping[str, Any],
    module: Module,
    readers: Mapping[str, Reader],
    arrays: Mapping[str, NDArray[Any]],
) -> Resource:
    """The file of a network."""
    named: Arrays = {f"net.{name}": array for name, array in arrays_of(module).items()}
    for name, reader in readers.items():
        named |= {f"reads.{name}.slopes": reader.slopes, f"reads.{name}.offsets": reader.offsets}
    return write_model(path, kind, about, {**named, **arrays})
