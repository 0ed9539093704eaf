"""The distance between profiles by their hashes: in how many bits of the public hash they differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.claims import phrases
from noisewright.core.arrays import Floats
from noisewright.core.errors import DataError, MetricError
from noisewright.core.guarantee import Guarantee
from noisewright.core.metrics.metric import Metric
from noisewright.matching.hashing.codes import hamming_matrix
from noisewright.matching.hashing.scheme import Scheme

__all__ = ["CodeDistance", "whole_bits"]


@dataclass(frozen=True)
class CodeDistance(Metric):
    """The Hamming distance of hashes.

    >>> from noisewright.core.seed import Seed
    >>> metric = CodeDistance(Scheme(dimension=2, bits=32, epsilon=1, seed=Seed(bytes(32))))
    >>> metric.distance((1.0, 0.0), (-1.0, 0.0)), metric.distance((1.0, 0.0), (2.0, 0.0))
    (32.0, 0.0)
    """

    scheme: Scheme
    answers: int = 2
    """Number of answers of a hash; with two, it is a bit."""
    name = "hamming"
    finite = True

    @property
    def secret(self) -> dict[str, Any]:
        """The kind of the hashed points and the size of hashes."""
        return {"kind": "hash", "family": self.scheme.family, "bits": self.scheme.bits, "answers": self.answers}

    @property
    def largest(self) -> Fraction:
        """All bits."""
        return Fraction(self.scheme.bits)

    @property
    def unit(self) -> str:
        """Counted objects."""
        return phrases.unit(self.record(), self.secret)

    def record(self) -> dict[str, Any]:
        return {"base": "hamming"}

    def matrix(self, points: Sequence[Any]) -> Floats:
        """All distances between profiles."""
        try:
            if self.answers > 2:
                found = self.scheme.answers(list(points), self.answers)
                return np.asarray((found[:, None] != found[None]).sum(axis=2).astype(np.float64))
            codes = self.scheme.hash(list(points))
        except DataError as problem:
            raise MetricError(str(problem)) from None
        return hamming_matrix(codes, codes).astype(np.float64)


def whole_bits(guarantee: Guarantee, distance: float) -> float:
    """The bound for a distance between hashes, which is an integer: a value between two is rounded up."""
    plain = guarantee.bound(distance)  # rejects an invalid distance
    return plain if math.isinf(distance) else guarantee.bound(math.ceil(distance))
