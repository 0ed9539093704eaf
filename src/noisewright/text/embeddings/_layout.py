"""Layout of the file of an embedding: order and positions of its parts.

``MAGIC``, the length of the header as a little-endian 64-bit integer, the header (JSON), and then, each from the next multiple of
64 bytes on: the keys of the words in order (``<u8``), the rows that they belong to (``<u4``), where each word begins in the text
(``<u4``, one more than words), the words themselves (UTF-8, one after another, in the order of the rows), and the codes
(``<i2``, one row of the dimension's length for each word). Nothing else is in the file, and nothing follows.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from noisewright.core.errors import FileFormatError

__all__ = ["ALIGN", "MAGIC", "MOST_DIMENSIONS", "MOST_WORDS", "NORM_LIMIT", "SUFFIX", "Header", "key_of"]

SUFFIX = ".nwe"
MAGIC = b"\x89NWE\r\n\x1a\n"
"""Like that of PNG: a copy that changed the ends of lines is noticed."""
ALIGN = 64
NORM_LIMIT = 2**22
"""The largest squared norm in code units. Sums of products of codes, whole or in part, are then at most 2^22 by the inequality of
Cauchy and Schwarz, and squared distances at most 2^24: integers that single precision holds exactly, in any order of summing."""
MOST_WORDS = 2**26
MOST_DIMENSIONS = 2**14
LONGEST_HEADER = 2**16
EXPONENTS = range(-100, 101)


@dataclass(frozen=True)
class Header:
    """Header of an embedding, before its words."""

    name: str
    licence: str
    source: str
    words: int
    dimension: int
    exponent: int
    """The step is 2 to this power."""
    text: int
    """Total number of bytes of the words."""
    format: int = 1

    def encode(self) -> bytes:
        """The beginning of a file, filled up to where the keys begin."""
        document = json.dumps(asdict(self), ensure_ascii=False, sort_keys=True).encode()
        start = MAGIC + len(document).to_bytes(8, "little") + document
        return start + bytes(-len(start) % ALIGN)

    def places(self) -> dict[str, int]:
        """The first byte of each part, and the ``end``, by name."""
        sizes = {
            "keys": 8 * self.words,
            "rows": 4 * self.words,
            "starts": 4 * (self.words + 1),
            "text": self.text,
            "codes": 2 * self.words * self.dimension,
        }
        place, found = len(self.encode()), {}
        for part, size in sizes.items():
            found[part] = place
            place += size if part == "codes" else size + -size % ALIGN
        return {**found, "end": place}

    @classmethod
    def decode(cls, content: Any, called: str) -> Header:
        """The header of a file, whose bytes are given; all its sizes are checked."""
        problem = FileFormatError(
            f"{called} is not an embedding of Noisewright, or is cut short; make one with noisewright embeddings import."
        )
        if bytes(content[: len(MAGIC)]) != MAGIC:
            raise problem
        length = int.from_bytes(bytes(content[len(MAGIC) : len(MAGIC) + 8]), "little")
        if length > LONGEST_HEADER:
            raise problem
        try:
            document = json.loads(bytes(content[len(MAGIC) + 8 : len(MAGIC) + 8 + length]))
            found = cls(**document)
            kinds = all(type(getattr(found, field.name)).__name__ == field.type for field in fields(cls))
            if kinds and found.format != 1:
                raise FileFormatError(
                    f"{called} is an embedding of format {found.format}, and this version of Noisewright reads format 1; "
                    "install a newer one."
                )
            sane = kinds and 0 < found.words <= MOST_WORDS and 0 < found.dimension <= MOST_DIMENSIONS
            sane = sane and found.exponent in EXPONENTS and 0 < found.text < 2**32
        except (ValueError, TypeError) as wrong:
            if isinstance(wrong, FileFormatError):
                raise
            raise problem from None
        if not sane or bytes(content[: len(found.encode())]) != found.encode() or found.places()["end"] != len(content):
            raise problem
        return found


def key_of(word: bytes) -> bytes:
    """Eight bytes by which a word is looked up."""
    return hashlib.blake2b(word, digest_size=8).digest()
