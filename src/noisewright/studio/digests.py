"""Digests by which a link names a file without telling anything of it.

A plain hash of a table in a link would confirm guesses of its content to whoever gets the link. These digests are keyed (HMAC)
with a key that only this user has, so they tell a file from another on this machine alone.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets

from noisewright.files.inputs import open_input, read_input
from noisewright.files.places import user_data

__all__ = ["digest_of"]

DIGITS = 32
CHUNK = 1 << 20
_own: bytes | None = None
"""The key of a server that cannot keep one."""


def digest_of(path: str | os.PathLike[str]) -> str:
    """Return the keyed digest of a file; an empty text for a folder or a database."""
    if not os.path.isfile(path):
        return ""
    found = hmac.new(_key(), digestmod=hashlib.sha256)
    with open_input(path) as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()[:DIGITS]


def _key() -> bytes:
    """Read the key of this user, which the first call makes."""
    global _own  # noqa: PLW0603 - one user a process
    path = user_data("studio") / "link.key"
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        whole = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        if not path.exists():
            descriptor = os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(32))
            try:
                os.link(whole, path)  # of two that begin at once, one key wins
            except FileExistsError:
                pass
            finally:
                whole.unlink()
        return read_input(path)
    except OSError:
        _own = _own or secrets.token_bytes(32)
        return _own
