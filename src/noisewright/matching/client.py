r"""A client: turns a profile into a noisy code where the profile is, so that no one else ever sees it.

It needs Python, NumPy and the public scheme of the service. Random bits come from the operating system, directly; large
batches of codes take them through AES, as releases do, where a cipher is installed.

>>> from noisewright.core.seed import Seed
>>> from noisewright.matching.hashing.scheme import Scheme
>>> client = Client(Scheme(dimension=3, bits=64, epsilon=1, seed=Seed.from_hex("00" * 32)))
>>> code = client.encode([5.0, 0.0, 3.0])
>>> code.shape, code.dtype.name
((8,), 'uint8')
>>> print(client.promise)  # doctest: +NORMALIZE_WHITESPACE
Whatever is sent, profiles whose hashes differ in k bits are told apart by a factor of at most e^(1 k), and
any two profiles by at most e^64.

**Every code costs.** Who sends n codes of one profile under one scheme can be distinguished n times as well. Send one,
and keep it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from noisewright.claims.readings import hashes
from noisewright.core.errors import ParameterError
from noisewright.matching.hashing.codes import Codes
from noisewright.matching.hashing.scheme import Scheme
from noisewright.matching.responses.flipping import DeviceBits, flipped
from noisewright.noise.bits import Rng

__all__ = ["Client"]

MANY = 1 << 16
"""Bytes of codes from which on it pays to load a cipher."""


@dataclass(frozen=True)
class Client:
    """Client for a person's device: ``encode(profile)`` under a public scheme."""

    scheme: Scheme

    def __post_init__(self) -> None:
        if not isinstance(self.scheme, Scheme):
            raise ParameterError(
                f"a client needs a public Scheme, not {type(self.scheme).__name__}; Client.at(path) reads one."
            )

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Client:
        """The client of the service whose public scheme is in this file."""
        return cls(Scheme.at(path))

    def encode(self, profiles: Any, rng: Rng = None) -> Codes:
        """The noisy code of a profile, or of each of many: bytes, a row for each.

        Every bit is a bit of the public hash, flipped with probability ``scheme.flip`` exactly, by a coin of its own.
        ``rng`` is for simulations alone.
        """
        single = self._single(profiles)
        hashed = self.scheme.hash([profiles] if single else profiles)
        noisy = flipped(hashed, self.scheme.bits, self.scheme.flip, _source(hashed.size) if rng is None else rng)
        return noisy[0] if single else noisy

    def _single(self, profiles: Any) -> bool:
        """Return whether this is one profile: numbers in one dimension, or items."""
        if self.scheme.dimension is not None:
            return not hasattr(profiles, "tocsr") and not isinstance(profiles, str) and _depth(profiles) == 1
        if isinstance(profiles, (set, frozenset)):
            return True
        return isinstance(profiles, (list, tuple)) and any(
            isinstance(item, (str, int, np.integer)) for item in profiles
        )

    @property
    def promise(self) -> str:
        """Guarantee for everything that is sent, now that the seed is known, in words."""
        return hashes(self.scheme.epsilon, self.scheme.bits)


def _source(size: int) -> Rng:
    """Return where the random bits of codes of a number of bytes come from."""
    try:
        fast = size >= MANY and find_spec("cryptography") is not None
    except ImportError:
        fast = False
    return None if fast else DeviceBits()


def _depth(profiles: Any) -> int:
    """1 for a row of numbers; rows of different lengths, and no rows at all, are more."""
    try:
        found = np.asarray(profiles)
    except ValueError:
        return 2
    return found.ndim if found.size else 2
