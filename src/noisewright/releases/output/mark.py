"""Statement of a lock about the data of a release: a fingerprint under the ledger's key, with a nonce of its own.

>>> import tempfile
>>> import pyarrow as pa
>>> from noisewright.releases.sources.open import source_of
>>> book = Ledger(tempfile.mkdtemp() + "/ledger")
>>> source = source_of(pa.table({"age": [31, 47]}))
>>> content = content_digest(source, References(source, ()))
>>> mark = Mark.new(book, content)
>>> mark.fingerprint == fingerprint(book, content, mark.nonce), mark.fingerprint == Mark.new(book, content).fingerprint
(True, False)
"""

from __future__ import annotations

import hashlib
import itertools
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

from noisewright.core.errors import FileFormatError
from noisewright.files.inputs import open_input
from noisewright.releases.ledger.ledger import NONCE_BYTES, Ledger
from noisewright.releases.output.references import CHUNK, References
from noisewright.releases.sources.duck import quiet
from noisewright.releases.sources.source import Source

__all__ = ["Mark", "content_digest", "fingerprint"]


@dataclass(frozen=True)
class Mark:
    """The nonce and the fingerprint of the data, and who seals the lock; a simulation has no ledger."""

    nonce: bytes
    fingerprint: str
    book: Ledger | None

    @classmethod
    def new(cls, book: Ledger | None, content: bytes) -> Mark:
        """Make a mark with a nonce of its own: equal data must not look equal in two releases."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return cls(nonce, fingerprint(book, content, nonce), book)


def fingerprint(book: Ledger | None, content: bytes, nonce: bytes) -> str:
    """The ledger's keyed fingerprint of data with this digest; without a ledger or a digest, one that no other data have."""
    return book.fingerprint(content, nonce) if book is not None and content else f"unknown-{secrets.token_hex(16)}"


def content_digest(source: Source, references: References) -> bytes:
    """SHA-256 of the data, for keyed digests alone: by itself it would confirm guesses. Empty where only Spark can read them.

    Of files it is that of their bytes, whatever they are called, also of those that rows point to. It needs no ledger, so that
    all of the data are read before there is one.
    """
    if source.format in ("spark", "remote"):
        return b""
    found = hashlib.sha256()
    with quiet(f"{source.name} cannot be read to its end", FileFormatError):
        for part in itertools.chain(_content(source), references.contents()):
            found.update(part)
    return found.digest()


def _content(source: Source) -> Iterator[bytes]:
    if not source.paths:
        for batch in source.batches(list(source.types)):
            yield batch.serialize().to_pybytes()
    for path in source.paths:
        yield f"{os.path.getsize(path)}\0".encode()
        with open_input(path) as file:
            while chunk := file.read(CHUNK):
                yield chunk
