"""A toy mechanism with a public file and a public seed, in a module that other processes can import."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from noisewright import resources as resource
from noisewright.base import Entry, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.exceptions import NoLossError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.numeric.geometric import GeometricMechanism, geometric
from noisewright.mechanisms.registry import forget, register
from noisewright.resources import Resource, Seed, public_keys

SEED = "5eed" * 16


@dataclass(frozen=True)
class Coded:
    """Geometric noise on 0 to n - 1, then a public code: a file with a permutation, and turns that a seed chooses."""

    inner: GeometricMechanism
    table: Resource
    seed: Seed | None

    name = "coded"

    @property
    def resources(self) -> tuple[Resource, ...]:
        return (self.table,)

    @property
    def scale(self) -> Fraction:
        return self.inner.scale

    @property
    def guarantee(self) -> Guarantee:
        return self.inner.guarantee

    def code(self) -> np.ndarray:
        code = self.table.array("u1")
        return code if self.seed is None else np.roll(code, int(self.seed.generator("turn").integers(len(code), 1)[0]))

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        drawn = self.inner.release(values, rng)
        if not np.size(drawn):
            return drawn
        found = self.code()[drawn].astype(np.int64)
        return found if np.ndim(drawn) else int(found)

    def map(self, distance: float) -> float:
        return self.inner.map(distance)

    def error(self, loss: str = "absolute") -> float:
        raise NoLossError("codes have no error.")

    def channel(self) -> Channel:
        inner, code = self.inner.channel(), self.code()
        return Channel(inner.matrix, inner.inputs, [int(code[i]) for i in inner.outputs])

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        own = self.inner.certificate(rng).document
        return Certificate.build(
            mechanism=self.name,
            epsilon=Fraction(own["claim"]["epsilon"]),
            metric=own["claim"]["metric"],
            distances=own["claim"]["distances"],
            proof=own["proof"],
            simulated=rng is not None,
            **public_keys(self.resources, self.seed),
        )


def coded(
    *,
    epsilon: int | float | str | Fraction,
    table: Resource,
    within: tuple[int, int],
    sensitivity: int | float | str | Fraction = 1,
    seed: Seed | None = None,
    eager: bool = False,
) -> Coded:
    """``eager``: the file is read when the mechanism is made, and not only when it draws."""
    if table.size != within[1] + 1 or within[0] != 0:
        raise ParameterError("the table must have a code for each number from 0 to the end of within.")
    if eager and sorted(table.bytes) != list(range(table.size)):
        raise ParameterError("the table must be a permutation.")
    return Coded(geometric(epsilon=epsilon, within=within, sensitivity=sensitivity), table, seed)


ENTRY = Entry(
    "coded",
    coded,
    Takes("integer", budget="sensitivity", within=True),
    summary="geometric noise in a public code",
    words="whole numbers",
)


@contextmanager
def coded_registered() -> Iterator[Entry]:
    register(ENTRY)
    try:
        yield ENTRY
    finally:
        forget(ENTRY.name)


def write_table(path: Path, seed: int = 0, size: int = 10) -> Path:
    path.write_bytes(np.random.default_rng(seed).permutation(size).astype("u1").tobytes())
    return path


def column(**more: Any) -> dict[str, Any]:
    return {"name": "x", "mechanism": "coded", "within": [0, 9], "epsilon": 2, **more}


def forget_places() -> None:
    """This process as if it had just begun: it knows no file, no folder and no digest."""
    for known in (resource._places, resource._digests, resource._mapped):
        known.clear()
    resource._folders.clear()
