r"""Distortions: how far a released value is from the true one.

``"hamming"`` is 1 where they differ; ``"squared"`` is the squared Euclidean distance of numbers or tuples of numbers,
summed over coordinates (standardise columns first, or a budget means nothing); :class:`Mixed` weighs numeric and
categorical parts of a record; any function ``d(x, output)`` or table with a row for each x will do.

>>> distortion_table("hamming", ["a", "b"], ["a", "b"]).tolist()
[[0.0, 1.0], [1.0, 0.0]]
>>> both = Mixed(weights=(1.0, 2.0), variances=(4.0, None))
>>> both.parts((170.0, "red"), (174.0, "blue")), both((170.0, "red"), (174.0, "blue"))
((4.0, 2.0), 6.0)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError

__all__ = ["Distortion", "Mixed", "distortion_table"]

Distortion = str | Callable[[Any, Any], float] | Floats | Sequence[Sequence[float]]


@dataclass(frozen=True)
class Mixed:
    """For tuples: ``w (x' - x)^2 / variance`` for a numeric part, ``w`` where a category (variance None) differs."""

    weights: tuple[float, ...]
    variances: tuple[float | None, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.variances) or not self.weights:
            raise ParameterError(
                "a mixed distortion needs a weight and a variance (None for a category) for each part."
            )
        if any(not is_number(w) or not 0 <= w < np.inf for w in self.weights):
            raise ParameterError("the weights of a mixed distortion are finite numbers of 0 or more.")
        if any(v is not None and not (is_number(v) and 0 < v < np.inf) for v in self.variances):
            raise ParameterError(
                "a variance is a finite number above 0, or None for a category; drop constant columns."
            )

    def parts(self, x: Any, output: Any) -> tuple[float, ...]:
        """Return the contribution of each part."""
        if not (isinstance(x, tuple) and isinstance(output, tuple) and len(x) == len(output) == len(self.weights)):
            raise ParameterError(f"a mixed distortion compares tuples of {len(self.weights)} parts.")
        found = zip(self.weights, self.variances, x, output, strict=True)
        return tuple(float(w * (a != b) if v is None else w * (b - a) ** 2 / v) for w, v, a, b in found)

    def __call__(self, x: Any, output: Any) -> float:
        return float(sum(self.parts(x, output)))


def distortion_table(distortion: Distortion, public: Sequence[Hashable], outputs: Sequence[Hashable]) -> Floats:
    """The distortion of every output (a column) for every public value (a row)."""
    if isinstance(distortion, str):
        if distortion == "hamming":
            return np.array([[float(x != k) for k in outputs] for x in public])
        if distortion == "squared":
            first, second = _points(public), _points(outputs)
            if first.shape[1] != second.shape[1]:
                raise ParameterError("outputs must have as many coordinates as the public values.")
            return np.asarray(((first[:, None, :] - second[None, :, :]) ** 2).sum(axis=2))
        raise ParameterError(f"the distortion is 'hamming', 'squared', a function or a table, not {distortion[:40]!r}.")
    if callable(distortion):
        try:
            given: Any = [[distortion(x, k) for k in outputs] for x in public]
        except (TypeError, ArithmeticError):
            raise ParameterError("the function of the distortion must take a public value and an output.") from None
    else:
        given = distortion
    try:
        table = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("the distortion must be a table of numbers with rows of one length.") from None
    if table.shape != (len(public), len(outputs)):
        raise ParameterError(
            f"the distortion needs a row for each of {len(public)} public values and a column for each of {len(outputs)} "
            f"outputs; this has shape {table.shape}."
        )
    if not np.isfinite(table).all() or (table < 0).any():
        raise ParameterError("a distortion is a finite number that is 0 or more.")
    return table


def _points(labels: Sequence[Hashable]) -> Floats:
    try:
        found = np.array(
            [label if isinstance(label, tuple) else (label,) for label in labels], dtype=np.float64
        )  # tuples of several lengths make this fail
    except (TypeError, ValueError):
        found = np.full((1, 1), np.nan)
    if not np.isfinite(found).all() or any(isinstance(label, (str, bool)) for label in labels):
        raise ParameterError("the squared distortion needs values that are numbers, or tuples of as many numbers each.")
    return found
