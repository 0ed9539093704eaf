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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError, ParameterError

__all__ = ["Attribute", "attributes_in"]

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
