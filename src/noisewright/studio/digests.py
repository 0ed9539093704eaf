"""Digests by which a link names a file without telling anything of it.

A plain hash of a table in a link would confirm guesses of its content to anyone who gets the link. These digests are
keyed (HMAC) with a key that only this user has, so they distinguish files on this machine alone.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import suppress

from noisewright.files.inputs import open_input, read_input
from noisewright.files.places import user_data

__all__ = ["digest_of", "own_key"]

DIGITS = 32
CHUNK = 1 << 20
OWN = "_NOISEWRIGHT_STUDIO_KEY"
"""Variable with the key of a server that cannot keep one, which its jobs need, too."""


def digest_of(path: str | os.PathLike[str]) -> str:
    """Return the keyed digest of a file; an empty text for a folder or a database."""
    if not os.path.isfile(path):
        return ""
    found = hmac.new(own_key(), digestmod=hashlib.sha256)
    with open_input(path) as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()[:DIGITS]


def own_key() -> bytes:
    """Read the key of this user, which the first call makes."""
    path = user_data("studio") / "link.key"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        whole = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        if not path.exists():
            try:
                descriptor = os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(secrets.token_bytes(32))
                with suppress(FileExistsError):
                    os.link(whole, path)  # of two that begin at once, one key wins
            finally:
                whole.unlink(missing_ok=True)
        return read_input(path)
    except OSError:
        return bytes.fromhex(os.environ.setdefault(OWN, secrets.token_hex(32)))
