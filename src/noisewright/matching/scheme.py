"""A scheme: everything public about a matching service, as one small JSON file for its clients and its server.

It names the family of hashes, how many bits a code has, the public seed that the hashes are drawn from, and epsilon: what
every
bit costs. Clients and servers that have files with the same ``fingerprint`` understand each other; no others do.

>>> from noisewright.resources import Seed
>>> scheme = Scheme(dimension=100, bits=64, epsilon="1/2", seed=Seed.from_hex("00" * 32))
>>> Scheme.from_json(scheme.to_json()) == scheme, scheme.fingerprint[:12]
(True, 'c9341caee755')
>>> round(float(scheme.flip), 4)
0.3775
>>> print(scheme)
64 bits by projection of 100 numbers, epsilon 0.5 for every bit, seed 000000000000...

**Draw the seed after the profiles are there, and never let anyone choose it.** The guarantee for a known seed is
epsilon for every bit in which two codes differ, at most ``bits * epsilon``. What :mod:`noisewright.matching`
says of a distance between profiles is about two of them that were fixed before the seed was drawn.

``MAGIC``, the length of the header as a little-endian 64-bit integer, the header (JSON), where each name begins (``<u8``, one
more than names), the names themselves (UTF-8, one after the other), the codes (one row of bytes each), and the SHA-256 of all
of that. It is data: nothing in it is run. A client writes such a file for the server, and a server keeps its index in one.

The digest detects a file that was truncated or changed in transit. Anyone who can replace a file can replace its
digest as well: against that, keep the digest that :func:`write_codes` returns, and compare it with the file's digest.

>>> import tempfile
>>> from pathlib import Path
>>> path = Path(tempfile.mkdtemp(), "codes.nwc")
>>> digest = write_codes(path, CodeFile("ab" * 32, 12, ["ann", "bob"], np.array([[1, 2], [3, 4]], dtype=np.uint8)))
>>> read_codes(path).names
['ann', 'bob']
>>> _ = path.write_bytes(path.read_bytes().replace(b"ann", b"ian"))
>>> read_codes(path)
Traceback (most recent call last):
noisewright.exceptions.FileFormatError: codes.nwc was changed or cut short after it was written; get it once more.

This is bitwise randomised response. With probability ``p >= 1 / (1 + e^epsilon)`` of a flip, codes that differ in ``d`` bits
differ by at most ``epsilon d`` in the logarithm of the probability of any output. Devices and releases draw from here, with
other sources of random bits.

>>> from fractions import Fraction
>>> codes = np.zeros((1000, 2), np.uint8)
>>> noisy = flipped(codes, 12, Fraction(1, 4), np.random.default_rng(1))
>>> round(float(np.bitwise_count(noisy).sum()) / 12_000, 2), int(noisy[:, 1].max()) < 16
(0.25, True)

Reference: Warner (1965).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.inputs import read_input
from noisewright._utils.validation import fields_alone, is_whole, one_of
from noisewright.certificates.checker import checker
from noisewright.channels.integer_table import LARGEST_EPSILON
from noisewright.claims.figures import upward
from noisewright.claims.readings import of_each_bit
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.io.atomic import file_path, whole_file, write_atomically
from noisewright.matching.hash_functions import (
    Codes,
    FastProjection,
    MinHash,
    Projection,
    Sampling,
    as_codes,
    code_bytes,
)
from noisewright.numerics.exact import Exact, as_fraction, in_words
from noisewright.resources import SHOWN, Seed
from noisewright.sampling.bernoulli_bits import packed_coins, response_integers
from noisewright.sampling.random_bits import Rng

__all__ = [
    "FAMILIES",
    "SUFFIX",
    "ZEROS",
    "CodeFile",
    "DeviceBits",
    "Family",
    "Hashing",
    "Scheme",
    "check_names",
    "checked_bits",
    "checked_dimension",
    "checked_epsilon",
    "flipped",
    "give_codes",
    "read_codes",
    "read_vectors",
    "write_codes",
]


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


SCHEME_FORMAT, VERSION = "noisewright matching scheme", 1
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
        if not isinstance(found, dict) or found.get("format") != SCHEME_FORMAT:
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
            "format": SCHEME_FORMAT,
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


# Code file ----------------------------------------------------------------------------------------------------------------
#
# Codes in a file: who they are from, the fingerprint of the scheme that made them, and a digest of everything.


SUFFIX = ".nwc"
MAGIC = b"\x89NWC\r\n\x1a\n"
FORMAT = 1
LONGEST_HEADER = 1 << 12
MOST_BITS = 1 << 16
LONGEST_NAME = 1000
LARGEST_CODE_FILE = 1 << 30


@dataclass(frozen=True)
class CodeFile:
    """Content of a file of codes."""

    fingerprint: str
    """Digest of the public scheme, in 64 hexadecimal digits: codes of two schemes are not comparable."""
    bits: int
    names: Sequence[str]
    codes: Codes


def write_codes(path: str | os.PathLike[str], given: CodeFile) -> str:
    """Write a file of codes, whole or not at all; its SHA-256 in hexadecimal digits."""
    codes = np.ascontiguousarray(as_codes(given.codes, given.bits))
    check_names(given.names, len(codes))
    spelled = [name.encode() for name in given.names]
    text = b"".join(spelled)
    starts = np.concatenate([[0], np.cumsum([len(name) for name in spelled], dtype=np.int64)]).astype("<u8")
    header = {"bits": given.bits, "codes": len(codes), "format": FORMAT, "scheme": given.fingerprint, "text": len(text)}
    document = json.dumps(header, sort_keys=True).encode()
    digest = hashlib.sha256()
    with whole_file(path) as file:
        for part in (
            MAGIC,
            len(document).to_bytes(8, "little"),
            document,
            starts.tobytes(),
            text,
            codes.tobytes(),
        ):
            digest.update(part)
            file.write(part)
        file.write(digest.digest())
    return digest.hexdigest()


def read_codes(path: str | os.PathLike[str]) -> CodeFile:
    """The codes in a file; one that was changed is refused as a whole."""
    place = file_path(path)
    try:
        content = memoryview(read_input(place, LARGEST_CODE_FILE))
    except OSError as problem:
        raise FileFormatError(f"{place} cannot be read: {problem.strerror}.") from None
    no_codes = FileFormatError(f"{place.name} holds no codes; make them with noisewright match encode.")
    if content[: len(MAGIC)] != MAGIC or len(content) < len(MAGIC) + 40:
        raise no_codes
    if hashlib.sha256(content[:-32]).digest() != content[-32:]:
        raise FileFormatError(f"{place.name} was changed or cut short after it was written; get it once more.")
    length = int.from_bytes(content[len(MAGIC) : len(MAGIC) + 8], "little")
    start = len(MAGIC) + 8
    header = _header(bytes(content[start : start + min(length, LONGEST_HEADER)]))
    if header is None:
        raise no_codes
    if header["format"] != FORMAT:
        raise FileFormatError(f"{place.name} is in another format than this version reads; install a newer one.")
    bits, number, text = int(header["bits"]), int(header["codes"]), int(header["text"])
    width, first = code_bytes(bits), start + length
    if not 0 < bits <= MOST_BITS or first + 8 * (number + 1) + text + number * width + 32 != len(content):
        raise no_codes
    starts = np.frombuffer(content[first : first + 8 * (number + 1)], dtype="<u8").tolist()
    after = first + 8 * (number + 1)
    spelled = bytes(content[after : after + text])
    if starts[0] != 0 or starts[-1] != text or any(a >= b for a, b in pairwise(starts)):
        raise no_codes
    try:
        names = [spelled[a:b].decode() for a, b in pairwise(starts)]
    except UnicodeDecodeError:
        raise no_codes from None
    check_names(names, number)
    codes = np.frombuffer(content[after + text : -32], dtype=np.uint8).reshape(number, width).copy()
    return CodeFile(str(header["scheme"]), bits, names, as_codes(codes, bits))


def check_names(names: Sequence[str], rows: int) -> None:
    """Refuse names that cannot be distinguished, or that are none; no name is quoted."""
    if len(names) != rows:
        raise DataError(f"there are {rows} codes and {len(names)} names; every code has one name.")
    if not all(isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and _is_text(name) for name in names):
        raise DataError(f"names are texts of 1 to {LONGEST_NAME} characters.")
    if len(set(names)) < len(names):
        raise DataError("a name was given twice; every name has one code.")


def _is_text(name: str) -> bool:
    """Return whether it can be written as UTF-8: half a pair of surrogates cannot."""
    try:
        return name.isascii() or bool(name.encode())
    except UnicodeEncodeError:
        return False


def _header(document: bytes) -> dict[str, int | str] | None:
    """Return the header, if it is valid."""
    try:
        found = checker.read(document.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or set(found) != {"bits", "codes", "format", "scheme", "text"}:
        return None
    numbers = [found[name] for name in ("bits", "codes", "format", "text")]
    if not all(type(number) is int and number >= 0 for number in numbers):
        return None
    return found if re.fullmatch("[0-9a-f]{64}", str(found["scheme"])) else None


# Flipping -----------------------------------------------------------------------------------------------------------------
#
# Exact coins for packed bits: every bit of a code is flipped on its own, with an exact probability.


def flipped(codes: Codes, bits: int, p: Fraction, rng: Rng = None) -> Codes:
    """The codes with every one of their ``bits`` bits flipped with probability ``p``, all coins independent."""
    coins = packed_coins(p, -(-codes.size // 8), rng).view(np.uint8)[: codes.size].reshape(codes.shape)
    if bits % 8:
        coins[:, -1] &= np.uint8((1 << bits % 8) - 1)
    coins ^= codes
    return coins


@dataclass(frozen=True)
class DeviceBits:
    """Random bits of the operating system, one by one as they are used: for a device that has Python and NumPy alone."""

    @property
    def for_release(self) -> bool:
        """They are made for that."""
        return True

    @property
    def label(self) -> str:
        """Return where the bits come from."""
        return "random bits of the operating system"

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next words."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


# Columns ------------------------------------------------------------------------------------------------------------------
#
# Input formats of vectors and output formats of codes: arrays of NumPy, or columns of Arrow.


Form = Literal["one", "rows", "arrow"]


def read_vectors(values: Any, dimension: int | None) -> tuple[Any, Form]:
    """Vectors with a row for each, and how their codes are wanted: one alone, as rows of bytes, or as a column of Arrow."""
    import pyarrow as pa  # a client has NumPy alone

    from noisewright.columns.arrow import pc

    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        column = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        numbers = column.flatten() if hasattr(column, "flatten") and pa.types.is_nested(column.type) else None
        if numbers is None or column.null_count or numbers.null_count or not _are_numbers(numbers.type):
            raise DataError(f"a column of vectors holds lists of {dimension} numbers each, none of them missing.")
        lengths = pc.list_value_length(column)
        if len(column) and pc.min_max(lengths).as_py() != {"min": dimension, "max": dimension}:
            raise DataError(f"a column of vectors holds lists of {dimension} numbers each, and these have others.")
        return numbers.to_numpy(zero_copy_only=False).reshape(len(column), dimension or 0), "arrow"
    if hasattr(values, "tocsr"):
        return values, "rows"
    try:
        given = np.asarray(values)
    except ValueError:
        return values, "rows"  # rows of different lengths, which are refused
    return (given[None, :], "one") if given.ndim == 1 and given.size else (values, "rows")


def give_codes(codes: Codes, form: Form) -> Any:
    """One code, an array with a row of bytes for each, or a column of fixed-size binary values."""
    import pyarrow as pa

    if form == "one":
        return codes[0]
    if form == "rows":
        return codes
    kind = pa.binary(codes.shape[1])
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(codes), [None, pa.py_buffer(np.ascontiguousarray(codes))])


def _are_numbers(type_: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(type_) or pa.types.is_integer(type_))
