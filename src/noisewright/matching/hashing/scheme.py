r"""A scheme: everything public about a matching service, as one small JSON file for its clients and its server.

It names the family of hashes, how many bits a code has, the public seed that the hashes are drawn from, and epsilon: what every
bit costs. Clients and servers that have files with the same ``fingerprint`` understand each other; no others do.

>>> from noisewright.core.seed import Seed
>>> scheme = Scheme(dimension=100, bits=64, epsilon="1/2", seed=Seed.from_hex("00" * 32))
>>> Scheme.from_json(scheme.to_json()) == scheme, scheme.fingerprint[:12]
(True, 'c9341caee755')
>>> round(float(scheme.flip), 4)
0.3775
>>> print(scheme)
64 bits by projection of 100 numbers, epsilon 0.5 for every bit, seed 000000000000...

**Draw the seed after the profiles are there, and never let anyone choose it.** The guarantee for a known seed is
epsilon for every bit in which two codes differ, at most ``bits * epsilon``. What :mod:`noisewright.matching.promises`
says of a distance between profiles is about two of them that were fixed before the seed was drawn.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noisewright.claims.readings import of_each_bit
from noisewright.core.certificates.checker import checker
from noisewright.core.channels.certified import LARGEST_EPSILON
from noisewright.core.choices import is_whole, one_of
from noisewright.core.errors import FileFormatError, ParameterError
from noisewright.core.exact import Exact, as_fraction, in_words, upward
from noisewright.core.mechanism import fields_alone
from noisewright.core.seed import SHOWN, Seed
from noisewright.files.atomic import file_path, write_atomically
from noisewright.files.inputs import read_input
from noisewright.matching.hashing.codes import Codes, code_bytes
from noisewright.matching.hashing.minhash import MinHash
from noisewright.matching.hashing.projection import Projection
from noisewright.matching.hashing.sampling import Sampling
from noisewright.matching.hashing.structured import FastProjection
from noisewright.noise.response import response_integers

__all__ = ["FAMILIES", "ZEROS", "Family", "Hashing", "Scheme", "checked_bits", "checked_dimension", "checked_epsilon"]


@dataclass(frozen=True)
class Family:
    """Descriptions of a family of hashes."""

    distance: str
    """The distance for which it is made, in words."""
    profiles: str
    """Hashed objects."""
    share: Fraction = Fraction(1)
    """A hash differs with this probability times the distance."""
    exact: bool = True
    """Whether it does so for real numbers and truly random choices, independently for each bit."""


FORMAT, VERSION = "noisewright matching scheme", 1
FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "projection": Family("the angle between vectors over pi", "vectors"),
        "fast-projection": Family("about the angle between vectors over pi", "vectors", exact=False),
        "sampling": Family("the share of coordinates that are zero in one vector alone", "vectors"),
        "minhash": Family("the Jaccard distance of sets", "sets", share=Fraction(1, 2)),
    }
)
ZEROS = ("refuse", "fixed")
LARGEST_BITS = 1 << 16
LARGEST_DIMENSION = 1 << 24
LARGEST_FILE = 1 << 16


class Hashing(Protocol):
    """The hash functions of a scheme."""

    @property
    def bits(self) -> int:
        """Return how many there are."""

    def hash(self, profiles: Any) -> Codes:
        """The codes of profiles, a row for each."""


@dataclass(frozen=True)
class Scheme:
    """A hash family, its public seed, and the cost of a bit."""

    dimension: int | None
    """Number of coordinates of a profile; None for collections of items, under ``minhash``."""
    bits: int
    """Number of bits of a code."""
    epsilon: Any
    """Privacy loss of every bit, exactly: a non-negative number, kept as a fraction."""
    seed: Seed = field(default_factory=Seed.fresh)
    """The public seed; by default a new one."""
    family: str = "projection"
    """Family of hashes."""
    zero: str = "refuse"
    """Handling of a profile that is all zeros, or empty: ``refuse`` it, or give all of them one ``fixed`` code."""

    def __post_init__(self) -> None:
        one_of(self.family, "family", tuple(FAMILIES))
        one_of(self.zero, "zero", ZEROS)
        if not isinstance(self.seed, Seed):
            raise ParameterError(f"seed must be a Seed, not {type(self.seed).__name__}; Seed.fresh() makes one.")
        if self.dimension is not None or self.family != "minhash":
            object.__setattr__(self, "dimension", checked_dimension(self.dimension))
        object.__setattr__(self, "bits", checked_bits(self.bits))
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))

    @property
    def code_bytes(self) -> int:
        """Return how many bytes a code has."""
        return code_bytes(self.bits)

    @cached_property
    def flip(self) -> Fraction:
        """The probability that a bit is flipped, exactly: ``1 / (1 + e^epsilon)`` or a little more."""
        return response_integers(2, self.epsilon).flip

    @property
    def words(self) -> Family:
        """Descriptions of the family's hashes."""
        return FAMILIES[self.family]

    @cached_property
    def hashing(self) -> Hashing:
        """The hash functions themselves."""
        if self.family == "minhash":
            return MinHash(self.bits, self.seed, self.dimension, self.zero)
        assert self.dimension is not None
        if self.family == "sampling":
            return Sampling(self.dimension, self.bits, self.seed)
        made = Projection if self.family == "projection" else FastProjection
        return made(self.dimension, self.bits, self.seed, self.zero)

    def hash(self, profiles: Any) -> Codes:
        """Codes without noise, which are **not private**: for one's own profiles, and to study what noise does."""
        return self.hashing.hash(profiles)

    def answers(self, profiles: Any, count: int) -> NDArray[np.uint8]:
        """Return for sets which of ``count`` answers, a power of two, every hash (a column) gives; see :class:`MinHash`."""
        if not isinstance(self.hashing, MinHash):
            raise ParameterError(f"hashes by {self.family} have two answers; those of minhash may have more.")
        return self.hashing.answers(profiles, count)

    def check(self, profiles: Any) -> None:
        """Refuse what ``hash`` would refuse."""
        made = self.hashing
        made.check(profiles) if isinstance(made, Projection) else made.hash(profiles)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the file's content, in hexadecimal digits; files that are laid out otherwise have the same."""
        spelled = json.dumps(self._document(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(spelled.encode()).hexdigest()

    def to_json(self) -> str:
        """The file."""
        return json.dumps(self._document(), indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Scheme:
        """Build it from the output of :meth:`to_json`; refuse anything else."""
        try:
            found = checker.read(text)
        except (TypeError, ValueError, RecursionError):
            raise FileFormatError("this is no public scheme: it is not JSON, or it was cut short.") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise FileFormatError("this is JSON, but no public scheme of matching; noisewright match seed makes one.")
        if found.get("version") != VERSION:
            raise FileFormatError(f"this scheme is not of version {VERSION}; it is from another program.")
        fields = {name: value for name, value in found.items() if name not in ("format", "version")}
        if set(fields) != {"dimension", "bits", "epsilon", "seed", "family", "zero"}:
            raise FileFormatError("this scheme lacks a field, or has one that is not known; have it made again.")
        try:
            return cls(**{**fields, "seed": Seed.from_hex(fields["seed"], "the seed")})
        except ParameterError as problem:
            raise FileFormatError(f"this is no public scheme that can be used: {problem}") from None

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Scheme:
        """The scheme in a file."""
        place = file_path(path)
        try:
            return cls.from_json(read_input(place, LARGEST_FILE).decode())
        except FileFormatError as problem:
            raise FileFormatError(f"{place}: {problem}") from None
        except UnicodeDecodeError:
            raise FileFormatError(f"{place}: this is no public scheme: it is not JSON, or it was cut short.") from None
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or "it is no file"
            raise FileFormatError(f"{place} cannot be read: {reason}.") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file, whole or not at all."""
        write_atomically(path, self.to_json().encode())

    def _document(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "family": self.family,
            "dimension": self.dimension,
            "bits": self.bits,
            "epsilon": str(self.epsilon),
            "zero": self.zero,
            "seed": self.seed.hex,
        }

    __getstate__ = fields_alone

    def __str__(self) -> str:
        what = "items" if self.dimension is None else f"{self.dimension} numbers"
        return (
            f"{self.bits} bits by {self.family} of {what}, {of_each_bit(upward(self.epsilon, 4))}, "
            f"seed {self.seed.hex[:SHOWN]}..."
        )


def checked_bits(bits: object, name: str = "bits") -> int:
    """A number of bits, checked."""
    return _counted(bits, name, LARGEST_BITS)


def checked_dimension(dimension: object) -> int:
    """A number of coordinates, checked."""
    return _counted(dimension, "dimension", LARGEST_DIMENSION)


def _counted(value: object, name: str, most: int) -> int:
    if not is_whole(value) or not 1 <= value <= most:
        shown = type(value).__name__ if not is_whole(value) else "less" if value < 1 else "more"
        raise ParameterError(f"{name} must be a whole number from 1 to {most}, not {shown}.")
    return int(value)


def checked_epsilon(epsilon: Exact) -> Fraction:
    """The cost of a bit, checked: 0 (a fair coin in place of every bit) or more."""
    found = as_fraction(epsilon, "epsilon")
    if not 0 <= found <= LARGEST_EPSILON or found.denominator.bit_length() > 1000:
        raise ParameterError(
            f"epsilon, the price of a bit, must be a number from 0 to {LARGEST_EPSILON}, not {in_words(found)}."
        )
    return found
