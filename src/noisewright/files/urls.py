"""URLs of PostgreSQL databases, given where a file is expected; a URL may contain a password.

>>> is_url("postgresql://ann@db.example/team"), is_url("clinic.sqlite")
(True, False)
>>> has_password("postgresql://ann:secret@db.example/team"), has_password("postgresql://ann@db.example/team")
(True, False)
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlsplit

__all__ = ["has_password", "is_url"]


def is_url(name: object) -> bool:
    """Return whether a name is the URL of a database."""
    return isinstance(name, str) and re.match(r"\s*postgres(ql)?:", name, re.IGNORECASE) is not None


def has_password(name: str) -> bool:
    """Return whether the URL of a database holds a password, or might."""
    try:
        parts = urlsplit(name.strip())
        return is_url(name) and (parts.password is not None or "password" in dict(parse_qsl(parts.query.lower())))
    except ValueError:
        return is_url(name)
