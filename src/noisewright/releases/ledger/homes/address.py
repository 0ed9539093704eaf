"""Names of ledgers: a file, or the URL of a PostgreSQL database, whose password is never shown.

>>> address = Address.read("postgresql://ann:secret@db.example/team")
>>> str(address), repr(address)
('postgresql://ann@db.example/team', "Address('postgresql://ann@db.example/team')")
>>> shown("postgresql://ann:secret@db.example/team?schema=clinic"), shown("clinic.sqlite")
('postgresql://ann@db.example/team?schema=clinic', 'clinic.sqlite')
"""

from __future__ import annotations

import getpass
import os
import re
import socket
import ssl
import struct
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from noisewright.core.errors import LedgerError
from noisewright.files.urls import is_url

__all__ = ["REFUSED", "Address", "NoTlsError", "default_path", "shown"]

SCHEMA, PORT = "noisewright", 5432
REFUSED = "did not let this user in; look at the user and the database in the URL, and give the password in PGPASSWORD"
MODES = ("verify-full", "verify-ca", "require", "disable")
LOCAL = ("localhost", "127.0.0.1", "::1")
ASKS_FOR_TLS = struct.pack("!ii", 8, 80877103)
"""The first message to a server that is to speak TLS."""
KEPT_ALIVE = tuple(
    (level, option, value)
    for level, name, value in (
        (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
        (socket.IPPROTO_TCP, "TCP_KEEPIDLE", 10),
        (socket.IPPROTO_TCP, "TCP_KEEPINTVL", 5),
        (socket.IPPROTO_TCP, "TCP_KEEPCNT", 3),
        (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 30_000),
    )
    if (option := getattr(socket, name, None)) is not None
)
"""Options of a socket by which a connection without an end is noticed: in seconds, the last one in milliseconds."""
FORM = "postgresql://USER@HOST:PORT/DATABASE, with the password in PGPASSWORD"


def shown(name: str | os.PathLike[str]) -> str:
    """Return the name of a ledger for people and for files: a database is named without its password."""
    text = os.fspath(name)
    if not is_url(text):
        return text
    try:
        return str(Address.read(text))
    except LedgerError:
        return "postgresql://..."


def default_path() -> Path | str:
    """Return the ledger of this user, wherever a policy names none: ``$NOISEWRIGHT_LEDGER``, or one file in the home folder."""
    named = os.environ.get("NOISEWRIGHT_LEDGER")
    if named:
        return named if is_url(named) else Path(named)
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "noisewright" / "ledger.sqlite"


class NoTlsError(Exception):
    """The server speaks no TLS."""


@dataclass(frozen=True, repr=False)
class Address:
    """The database of a ledger, and who asks for it."""

    user: str
    host: str
    port: int
    database: str
    schema: str = SCHEMA
    tls: str = ""
    roots: str = ""
    password: str | None = field(default=None)

    @classmethod
    def read(cls, url: str) -> Address:
        """Read a URL; the problem is said without quoting it, because a password may stand anywhere in it."""
        try:
            parts = urlsplit(url.strip())
            port = parts.port or PORT
            more = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        except ValueError:
            raise LedgerError(f"the ledger is not a URL of a PostgreSQL database; write it as {FORM}.") from None
        host = more.pop("host", "") or unquote(parts.hostname or "") or "localhost"
        schema, tls, roots = more.pop("schema", SCHEMA), more.pop("sslmode", ""), more.pop("sslrootcert", "")
        user = unquote(parts.username or "") or os.environ.get("PGUSER") or _own_name()
        database = unquote(parts.path.lstrip("/")) or user
        if more or parts.fragment or "/" in database or not parts.scheme.lower().startswith("postgres"):
            raise LedgerError(
                f"the URL of the ledger has a part that is not known; write it as {FORM}, and after a question mark only "
                "schema, sslmode, sslrootcert or host."
            )
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", schema) or schema.startswith("pg_"):
            raise LedgerError("the schema of a ledger has a name of small letters, digits and _; choose such a one.")
        if tls not in ("", *MODES):
            raise LedgerError(f"the sslmode of a ledger is one of {', '.join(MODES)}; choose one of them.")
        texts = (user, host, database, roots)
        if not all(text.isprintable() for text in texts):
            raise LedgerError(f"the URL of the ledger holds characters that cannot be printed; write it as {FORM}.")
        password = None if parts.password is None else unquote(parts.password)
        return cls(user, host, port, database, schema, tls, roots, password)

    def __str__(self) -> str:
        local = self.host.startswith("/")
        port = "" if self.port == PORT else f":{self.port}"
        host = "" if local else f"[{self.host}]" if ":" in self.host else self.host
        asked = [("host", self.host)] if local else []
        asked += [("schema", self.schema)] if self.schema != SCHEMA else []
        asked += [("sslmode", self.tls)] if self.tls else []
        asked += [("sslrootcert", self.roots)] if self.roots else []
        more = "&".join(f"{key}={quote(value, safe='/')}" for key, value in asked)
        return f"postgresql://{quote(self.user)}@{host}{port}/{quote(self.database)}{'?' + more if more else ''}"

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    def connect(self, driver: Any, wait: float) -> Any:
        """Connect; beyond this machine only with TLS and a certificate that fits the host, unless ``sslmode`` says
        otherwise.
        """
        context = self._context()
        sock = self._reached(max(wait, 1))
        try:
            if context is not None:
                sock = _with_tls(sock, context, self.host)
            password = os.environ.get("PGPASSWORD") if self.password is None else self.password
            made = driver.connect(
                self.user,
                host=self.host,
                database=self.database,
                password=password,
                sock=sock,
                ssl_context=False,  # it is there already
                application_name="noisewright",
            )
            sock.settimeout(None)
        except BaseException as problem:
            sock.close()
            if isinstance(
                problem.__cause__, ConnectionError
            ):  # the server closed the line, which is all that the driver says
                raise LedgerError(f"{self} {REFUSED}. If the server is just starting or ending, try again.") from None
            if isinstance(problem, AttributeError):  # the driver has no word for a missing password
                raise LedgerError(f"{self} {REFUSED}.") from None
            raise
        return made

    def _reached(self, wait: float) -> socket.socket:
        """Open a connection that notices within half a minute that the other end is gone."""
        if not self.host.startswith("/"):
            sock = socket.create_connection((self.host, self.port), wait)
            for level, option, value in KEPT_ALIVE:
                sock.setsockopt(level, option, value)
            return sock
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(wait)
            sock.connect(f"{self.host}/.s.PGSQL.{self.port}")
        except BaseException:
            sock.close()
            raise
        return sock

    def _context(self) -> ssl.SSLContext | None:
        """Return whether and how TLS is spoken; None for a socket of this machine, and where nothing is requested on
        this machine.
        """
        if self.host.startswith("/"):
            return None
        stated = self.tls or os.environ.get("PGSSLMODE", "")
        mode = stated if stated in MODES else "disable" if self.host in LOCAL else "verify-full"
        if mode == "disable":
            return None
        roots = self.roots or os.environ.get("PGSSLROOTCERT") or _own_roots()
        try:
            context = ssl.create_default_context(cafile=None if roots in ("", "system") else roots)
        except (OSError, ValueError):  # an ssl.SSLError is an OSError
            raise LedgerError(
                f"the certificates in {roots!r} cannot be read; name a file in PEM form with sslrootcert=FILE or PGSSLROOTCERT."
            ) from None
        context.check_hostname = mode == "verify-full"
        if mode == "require" and not roots:  # as libpq has it: a named authority is checked
            context.verify_mode = ssl.CERT_NONE
        return context


def _with_tls(sock: socket.socket, context: ssl.SSLContext, host: str) -> socket.socket:
    """Ask the server for TLS, and begin it."""
    sock.sendall(ASKS_FOR_TLS)
    if sock.recv(1) != b"S":
        raise NoTlsError
    return context.wrap_socket(sock, server_hostname=host)


def _own_roots() -> str:
    """Return the file in which libpq looks for authorities, if this user has it."""
    with suppress(RuntimeError, OSError):
        own = Path.home() / ".postgresql" / "root.crt"
        return str(own) if own.is_file() else ""
    return ""


def _own_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise LedgerError(f"the URL of the ledger names no user; write it as {FORM}.") from None
