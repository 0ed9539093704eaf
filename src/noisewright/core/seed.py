r"""Public seeds: 32 public bytes, from which everyone draws the same public choices.

The directions of a projection and the functions of a hash come from one. It is never a source of noise.

>>> Seed.from_hex("00" * 32).generator("projection", 7).integers(10, 5).tolist()
[1, 6, 4, 5, 9]
"""

from __future__ import annotations

import builtins
import hashlib
import re
import secrets
from typing import Self

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import ParameterError

__all__ = ["Seed", "Stream"]

SHOWN = 12
"""Number of digits that a message shows to distinguish seeds."""


class Seed:
    r"""32 public bytes, from which everyone draws the same public choices.

    ``seed.generator(*words)`` is the stream of bytes that is made of blocks of 4096 bytes; block i (the first is 0) is
    the beginning of SHAKE-256 of these bytes, one after the other, all integers being 8 bytes with the lowest first::

        "noisewright-seed-1" (18 bytes of ASCII), the seed (32 bytes), the number of words, for each word its length in
        bytes and its text in UTF-8 (an integer in decimal digits), and i

    Therefore, streams with other words have nothing to do with each other, and a program in any language can repeat
    them.
    """

    __slots__ = ("bytes",)

    bytes: builtins.bytes
    """The seed itself."""

    def __init__(self, content: builtins.bytes) -> None:
        if not isinstance(content, builtins.bytes) or len(content) != 32:
            raise ParameterError("a public seed has 32 bytes; Seed.fresh() makes one.")
        object.__setattr__(self, "bytes", content)

    @classmethod
    def fresh(cls) -> Self:
        """A new seed from the random bits of the system."""
        return cls(secrets.token_bytes(32))

    @classmethod
    def from_hex(cls, text: str, name: str = "a public seed") -> Self:
        """Return the seed that 64 hexadecimal digits write; ``name`` is the parameter's, for the message."""
        if not isinstance(text, str) or not re.fullmatch("[0-9a-fA-F]{64}", text):
            raise ParameterError(f"{name} must be 64 hexadecimal digits; Seed.fresh().hex makes some.")
        return cls(builtins.bytes.fromhex(text))

    @property
    def hex(self) -> str:
        """The seed in 64 hexadecimal digits."""
        return self.bytes.hex()

    def generator(self, *words: str | int) -> Stream:
        """The stream of public choices that goes by these words, from its beginning."""
        spelled = [str(word).encode() for word in words]
        named = b"".join(_eight(len(word)) + word for word in spelled)
        return Stream(b"noisewright-seed-1" + self.bytes + _eight(len(spelled)) + named)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Seed does not change; {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return self.bytes == other.bytes if isinstance(other, Seed) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.bytes)

    def __reduce__(self) -> tuple[type[Seed], tuple[builtins.bytes]]:
        return Seed, (self.bytes,)

    def __repr__(self) -> str:
        return f"Seed({self.hex[:SHOWN]}...)"


class Stream:
    """Public choices in a fixed order; the choices do not depend on the number requested at a time."""

    BLOCK = 4096

    def __init__(self, prefix: builtins.bytes) -> None:
        self._prefix, self._number, self._left = prefix, 0, b""

    def bytes(self, count: int) -> builtins.bytes:
        """The next bytes."""
        if count < 0:
            raise ParameterError("a public stream gives 0 bytes or more, not fewer.")
        parts = [self._left]
        have = len(self._left)
        while have < count:
            parts.append(hashlib.shake_256(self._prefix + _eight(self._number)).digest(self.BLOCK))
            self._number += 1
            have += self.BLOCK
        whole = b"".join(parts)
        self._left = whole[count:]
        return whole[:count]

    def bits(self, count: int) -> NDArray[np.bool_]:
        """Return the bits of the next whole bytes, the lowest of each byte first; unused bits of the last byte are
        discarded.
        """
        if count < 0:
            raise ParameterError("a public stream gives 0 bits or more, not fewer.")
        content = np.frombuffer(self.bytes(-(-count // 8)), dtype=np.uint8)
        return np.unpackbits(content, count=count, bitorder="little").astype(np.bool_)

    def integers(self, below: int, count: int) -> NDArray[np.int64]:
        """Integers from 0 to ``below - 1``, all equally likely.

        Each is made of the next 8 bytes, lowest first, modulo ``below``; a number that is not below the largest multiple of
        ``below`` up to 2^64 is thrown away, and the next 8 bytes are taken.
        """
        if not 0 < below < 1 << 63:
            raise ParameterError("below must be a whole number from 1 to 2^63 - 1.")
        if count < 0:
            raise ParameterError("a public stream gives 0 numbers or more, not fewer.")
        limit = (1 << 64) - (1 << 64) % below
        found: list[NDArray[np.uint64]] = []
        missing = count
        while missing:
            drawn = np.frombuffer(self.bytes(8 * missing), dtype="<u8")
            kept = drawn if limit == 1 << 64 else drawn[drawn < np.uint64(limit)]
            found.append(kept % np.uint64(below))
            missing -= len(kept)
        return np.concatenate(found).astype(np.int64) if found else np.empty(0, np.int64)


def _eight(number: int) -> bytes:
    return number.to_bytes(8, "little")
