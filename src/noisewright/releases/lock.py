"""Files that rows point to, such as pictures: they belong to the data, so their contents belong to the digest of the data.

A table of paths is the same table after all pictures were replaced. Therefore the contents follow the table in its digest, in
the order of the rows. Anyone who changes a file between that and the end of the drawing is noticed by the file's inode,
size and times, as for the files of a table.

It holds the program's versions, the policy and its digest, the names and types of the columns that it uses (and of no others),
the engine, where random bits came from, the time, and the SHA-256 of every file that was written, also of each file of
a table in many. The data are named by a *keyed* fingerprint only (an HMAC under the ledger's secret key, with a nonce
of its own): a plain hash of a table of which all but one value is known would confirm a guess of that value, and one
without a nonce would show whether the table changed between two releases. The lock of a release ends with a seal,
another HMAC under that key: anyone who changes a file and its hash in the lock cannot make it. It also keeps the head
of the ledger's chain: a ledger that does not know this head has lost what it recorded before.

>>> import tempfile
>>> from noisewright.ledger.ledger import Ledger
>>> ledger = Ledger(tempfile.mkdtemp() + "/ledger.sqlite")
>>> policy = Policy.from_dict({"dataset": "clinic", "budget": {"epsilon": 1}, "queries": [
...     {"name": "patients", "aggregate": "count", "epsilon": 1}]})
>>> nonce = bytes(32)
>>> table = Given(ledger.fingerprint(b"the table", nonce), nonce)
>>> lock = Lock.build(policy, Making("first", "local"), table, {}, sealing=Sealing(ledger.seal))
>>> lock.sealed_by(ledger.seal), lock.document["data"] == ledger.fingerprint(b"the table", lock.nonce)
(True, True)
>>> Lock({**lock.document, "outputs": {"data.csv": "sha256:0"}}).sealed_by(ledger.seal)
False

>>> import tempfile
>>> import pyarrow as pa
>>> from noisewright.tables.reading import source_of
>>> book = Ledger(tempfile.mkdtemp() + "/ledger")
>>> source = source_of(pa.table({"age": [31, 47]}))
>>> content = content_digest(source, References(source, ()))
>>> mark = Mark.new(book, content)
>>> mark.fingerprint == fingerprint(book, content, mark.nonce), mark.fingerprint == Mark.new(book, content).fingerprint
(True, False)
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import json
import os
import platform
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import pyarrow as pa

from noisewright._utils.inputs import check_nesting, open_input, read_input
from noisewright._version import VERSION as PROGRAM
from noisewright.columns.column_type import Kind
from noisewright.columns.registry import KINDS, kind_of
from noisewright.exceptions import DataError, FileFormatError, ParameterError
from noisewright.ledger.ledger import NONCE_BYTES, Ledger
from noisewright.mechanisms.registry import foreign, registry
from noisewright.planning.column_plan import ColumnPlan
from noisewright.policy.policy import Policy
from noisewright.resources import Resource, public_keys
from noisewright.sampling.random_bits import RELEASE_RANDOMNESS, SIMULATION_RANDOMNESS
from noisewright.tables.duckdb import quiet
from noisewright.tables.source import Source

__all__ = [
    "CHUNK",
    "LOCK",
    "Given",
    "Lock",
    "Making",
    "Mark",
    "References",
    "Sealing",
    "content_digest",
    "file_digest",
    "fingerprint",
    "foreign_file",
]


CHUNK = 1 << 20
NOTHING = b"\0"
"""Stands for a cell that names no file which can be read; a release is refused for it later, with the row."""


class References:
    """The files that the rows of a source point to, as the columns of a plan read them."""

    def __init__(self, source: Source, plans: Sequence[ColumnPlan]) -> None:
        self._source = source
        self._kinds: dict[str, Kind] = {
            name: kind
            for plan in plans
            if plan.secret is not None
            for name, kind in zip(plan.names, plan.secret.kinds, strict=True)
            if kind.files
        }
        self._stamps: bytes | None = None

    def contents(self) -> Iterator[bytes]:
        """Yield the SHA-256 of every file in the order of the rows, and note marks of a change."""
        stamps = hashlib.sha256()
        for path in self._paths():
            stamp, content = _read(path)
            stamps.update(stamp)
            yield content
        self._stamps = stamps.digest()

    def check_unchanged(self) -> None:
        """Refuse files that were changed since their contents were read, if they were."""
        if self._stamps is None:
            return
        stamps = hashlib.sha256()
        for path in self._paths():
            stamps.update(_stamp(path))
        if stamps.digest() != self._stamps:
            raise DataError(
                "a file that the table points to was changed while it was read; start again when nothing writes to it."
            )

    def _paths(self) -> Iterator[Path | None]:
        if self._kinds:
            for batch in self._source.batches(list(self._kinds)):
                named = [kind.named(batch.column(name)) for name, kind in self._kinds.items()]
                for row in zip(*(paths for paths in named if paths is not None), strict=True):
                    yield from row


def _read(path: Path | None) -> tuple[bytes, bytes]:
    """The stamp of a file before it is read, and the SHA-256 of its contents."""
    stamp, found = _stamp(path), hashlib.sha256()
    if path is not None:
        try:
            with open_input(path) as file:
                while chunk := file.read(CHUNK):
                    found.update(chunk)
            return stamp, found.digest()
        except OSError:
            pass
    return stamp, NOTHING


def _stamp(path: Path | None) -> bytes:
    try:
        found = None if path is None else os.stat(path)
    except OSError:
        found = None
    if found is None:
        return NOTHING
    return f"{found.st_dev},{found.st_ino},{found.st_size},{found.st_mtime_ns},{found.st_ctime_ns};".encode()


# Lock ---------------------------------------------------------------------------------------------------------------------
#
# ``policy.lock``: what a release was made with, so that it can be distinguished from another one and its files checked.


FORMAT = "noisewright-lock"
VERSION = 4
UNLISTED = 3
"""The version that had one digest for a table in many files; it can still be read."""
LOCK = "policy.lock"
PARTS = {"local": ("numpy", "pyarrow", "duckdb"), "spark": ("numpy", "pyarrow", "duckdb", "pyspark")}
CRC_HEAD, CRC_BYTES, CRC_CHUNK = 8, 4, 512
"""Of Hadoop's checksum files: a head, then a checksum for each chunk of the file."""
FIELDS = {
    "made_by": str,
    "versions": dict,
    "policy": dict,
    "policy_digest": str,
    "release": str,
    "schema": str,
    "nonce": str,
    "data": str,
    "engine": str,
    "randomness": str,
    "at": str,
    "outputs": dict,
    "digest": str,
}


Seal = Callable[[bytes], str]
"""A ledger's :meth:`~noisewright.ledger.ledger.Ledger.seal`."""


@dataclass(frozen=True)
class Given:
    """Input of a release."""

    fingerprint: str
    """The ledger's keyed fingerprint of the data, with the nonce."""
    nonce: bytes
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    """Types of the table's columns that the policy uses."""
    rows: int | None = None
    """Number of rows of the table, where that is public."""
    resources: tuple[Resource, ...] = ()
    """The public files that were used."""


@dataclass(frozen=True)
class Making:
    """Circumstances of a release."""

    release: str
    """Its name in the ledger."""
    engine: str
    simulated: bool = False
    seed: int | None = None
    """Seed of a simulation, never of a release."""
    at: datetime | None = None
    """When; None: now."""

    def __post_init__(self) -> None:
        if self.seed is not None and not self.simulated:
            raise ParameterError("a release for use has no seed; only a simulation has one.")

    @property
    def time(self) -> str:
        """The time as a lock states it."""
        when = datetime.now(UTC) if self.at is None else self.at.astimezone(UTC)
        return when.replace(microsecond=0).isoformat().replace("+00:00", "Z")


@dataclass(frozen=True)
class Sealing:
    """Additions of the ledger to the lock of a release: its seal, and the head of its chain."""

    seal: Seal
    head: str | None = None


@dataclass(frozen=True)
class Lock:
    """A lock as the JSON document it is; build one with :meth:`build`."""

    document: Mapping[str, Any]

    @classmethod
    def build(
        cls,
        policy: Policy,
        making: Making,
        given: Given,
        outputs: Mapping[str, Path],
        *,
        rows: int | None = None,
        sealing: Sealing | None = None,
    ) -> Lock:
        """The lock of a release whose ``outputs`` (name in the folder of the release, where it is now) are written.

        ``rows``: of the released table. A simulation is not sealed.
        """
        seed, types = making.seed, given.types
        document: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "made_by": f"noisewright {PROGRAM}",
            "versions": {"python": platform.python_version(), **_versions(making.engine)},
            "policy": policy.published().to_json(),
            "policy_digest": policy.digest(),
            "release": making.release,
            "schema": _spelled(types),
            "nonce": given.nonce.hex(),
            "data": given.fingerprint,
            "engine": making.engine,
            "randomness": SIMULATION_RANDOMNESS if making.simulated else RELEASE_RANDOMNESS,
            **({"rows": rows} if rows is not None else {}),
            **({"table_rows": given.rows} if given.rows is not None else {}),
            **({"seed": seed} if seed is not None else {}),
            **({"providers": found} if (found := _providers(policy, types)) else {}),
            **public_keys(given.resources),
            "at": making.time,
            "outputs": {name: _digests(path) for name, path in sorted(outputs.items())},
            **({"head": sealing.head} if sealing is not None and sealing.head else {}),
        }
        if sealing is not None:
            document["seal"] = sealing.seal(_canonical(document, "seal", "digest"))
        return cls({**document, "digest": _digest(document)})

    @classmethod
    def from_json(cls, text: str) -> Lock:
        """Read a lock; it is checked for shape."""
        try:
            check_nesting(text.encode())
            document = json.loads(text)
        except (ValueError, RecursionError):
            raise FileFormatError("this is not a policy.lock: it is not JSON, or it was cut short.") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise FileFormatError("this is JSON, but not a policy.lock of Noisewright.")
        if document.get("version") not in (UNLISTED, VERSION):
            raise FileFormatError(
                f"this policy.lock is not of version {UNLISTED} or {VERSION}; read it with the program that wrote it."
            )
        wrong = [name for name, kind in FIELDS.items() if not isinstance(document.get(name), kind)]
        if "outputs" not in wrong and not _are_digests(document["outputs"]):
            wrong.append("outputs")
        if wrong:
            raise FileFormatError(f"the policy.lock is incomplete or malformed: look at {', '.join(wrong)}.")
        return cls(document)

    @classmethod
    def of_folder(cls, folder: Path) -> Lock:
        """Read the lock of a release; :class:`OSError` or :class:`UnicodeError` if it cannot be read."""
        return cls.from_json(read_input(folder / LOCK).decode())

    def to_json(self) -> str:
        """The lock as JSON text."""
        return json.dumps(self.document, indent=1, ensure_ascii=True) + "\n"

    def sealed_by(self, seal: Seal) -> bool:
        """Return whether the ledger with this seal made the lock, and no one changed it since."""
        stated = self.document.get("seal")
        own = seal(_canonical(self.document, "seal", "digest"))
        return isinstance(stated, str) and hmac.compare_digest(stated.encode(), own.encode())

    @property
    def intact(self) -> bool:
        """True if it has the digest that it states. Anyone who changes a lock can state another one; only a seal
        prevents that.
        """
        return bool(self.document["digest"] == _digest(self.document))

    @property
    def nonce(self) -> bytes:
        """Nonce with which the fingerprint of the data begins."""
        try:
            return bytes.fromhex(self.document["nonce"])
        except ValueError:
            raise FileFormatError("the policy.lock is incomplete or malformed: look at nonce.") from None

    @property
    def types(self) -> dict[str, pa.DataType]:
        """The types of the columns of the table that the policy uses; locks of older programs have all columns."""
        try:
            content = base64.b64decode(self.document["schema"], validate=True)
            schema = pa.ipc.read_schema(pa.py_buffer(content))
            return dict(zip(schema.names, schema.types, strict=True))  # names that are not text come out only here
        except (ValueError, OSError, pa.ArrowException):
            raise FileFormatError("the policy.lock is incomplete or malformed: look at schema.") from None

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The public files that were used."""
        try:
            return tuple(Resource.from_json(file) for file in self.document.get("resources", []))
        except (ParameterError, TypeError):
            raise FileFormatError("the policy.lock is incomplete or malformed: look at resources.") from None

    def foreign(self, folder: Path) -> list[str]:
        """Return the names of files and folders in ``folder`` that are not part of this release."""
        return list(_foreign(folder, self))

    def changed(self, folder: Path) -> list[str]:
        """The names of output files in ``folder`` that are missing or are not as they were written; no link was."""
        found = []
        for name, stated in self.files.items():
            path = folder / name
            way = [path, *path.parents[: len(Path(name).parts) - 1]]
            outside = Path(name).is_absolute() or ".." in Path(name).parts or any(one.is_symlink() for one in way)
            old = self.document["version"] == UNLISTED and path.is_dir()
            if outside or not (old or path.is_file()) or (_table_digest if old else file_digest)(path) != stated:
                found.append(name)
        return found

    @property
    def files(self) -> dict[str, str]:
        """Every file that is listed, with its digest; a table in many files has been one file up to version 3."""
        found: dict[str, str] = {}
        for name, stated in self.document["outputs"].items():
            found |= (
                {name: stated} if isinstance(stated, str) else {f"{name}/{file}": own for file, own in stated.items()}
            )
        return found

    @property
    def head(self) -> str | None:
        """The head of the ledger's chain when the lock was made; None in a simulation, and before version 4."""
        found = self.document.get("head")
        return found if isinstance(found, str) else None

    @property
    def rows(self) -> int | None:
        """The rows of the released table, if there is one."""
        found = self.document.get("rows")
        return found if isinstance(found, int) else None

    @property
    def table_rows(self) -> int | None:
        """The rows of the table that was given, where their number is public."""
        found = self.document.get("table_rows")
        return found if isinstance(found, int) else None

    @property
    def simulated(self) -> bool:
        """True if it was a simulation, which is not for release."""
        return bool(self.document["randomness"] != RELEASE_RANDOMNESS)


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    total = hashlib.sha256()
    with open_input(path) as content:
        while chunk := content.read(CHUNK):
            total.update(chunk)
    return f"sha256:{total.hexdigest()}"


def foreign_file(folder: Path) -> str | None:
    """Return the name of something in ``folder`` that is not part of an earlier release there; None if all of it is, or
    it is empty.

    It goes by the names that the lock of that release lists. A folder without such a lock is all foreign.
    """
    try:
        lock = Lock.of_folder(folder)
    except (OSError, UnicodeError, FileFormatError):
        return next((path.name for path in sorted(folder.iterdir())), None)
    return next(_foreign(folder, lock), None)


def _digests(path: Path) -> str | dict[str, str]:
    """Return the digest of a file; of a table in many files, one for each file."""
    if not path.is_dir():
        return file_digest(path)
    files = sorted(file for file in path.rglob("*") if file.is_file())
    return {file.relative_to(path).as_posix(): file_digest(file) for file in files}


def _are_digests(outputs: Mapping[str, Any]) -> bool:
    tables = [stated for stated in outputs.values() if not isinstance(stated, str)]
    return all(isinstance(table, dict) and all(isinstance(own, str) for own in table.values()) for table in tables)


def _foreign(folder: Path, lock: Lock) -> Iterator[str]:
    files, outputs = lock.files, lock.document["outputs"]
    known = {*files, LOCK}
    folders_known = {parent.as_posix() for name in files for parent in Path(name).parents} | (set(outputs) - set(files))
    tables = set(outputs) if lock.document["version"] == UNLISTED else set()
    for place, folders, names in os.walk(folder):
        here = Path(place).relative_to(folder)
        inside = bool({p.as_posix() for p in (here, *here.parents)} & tables)
        for name in sorted(names):
            path = (here / name).as_posix()
            if not (path in known or (inside and (not name.startswith((".", "_")) or _is_note(Path(place) / name)))):
                yield path
        for name in sorted(folders):
            path = (here / name).as_posix()
            if os.path.islink(Path(place) / name) or not (path in folders_known or path in tables or inside):
                yield path
                folders.remove(name)


# Tables in many files, as locks of version 3 list them ---------------------------------------------------------------------


def _table_digest(path: Path) -> str:
    """SHA-256 of the names and digests of all files of a table but the notes that Spark left next to them."""
    total = hashlib.sha256()
    for file in sorted(p for p in path.rglob("*") if p.is_file()):
        name = file.relative_to(path)
        if not any(part.startswith((".", "_")) for part in name.parts):
            total.update(f"{name.as_posix()}\0{file_digest(file)}\n".encode())
    return f"sha256:{total.hexdigest()}"


def _is_note(path: Path) -> bool:
    """Return whether this can only be what Spark leaves: an empty mark of success, or a checksum of the size that its
    file asks for.
    """
    if path.name == "_SUCCESS":
        return path.stat().st_size == 0
    about = path.with_name(path.name[1:].removesuffix(".crc"))
    if not (path.name.startswith(".") and path.suffix == ".crc" and about.is_file()):
        return False
    return path.stat().st_size == CRC_HEAD + CRC_BYTES * -(-about.stat().st_size // CRC_CHUNK)


def _digest(document: Mapping[str, Any]) -> str:
    return f"sha256:{hashlib.sha256(_canonical(document, 'digest')).hexdigest()}"


def _canonical(document: Mapping[str, Any], *without: str) -> bytes:
    """The same bytes for the same content, without some of its keys."""
    content = {key: value for key, value in document.items() if key not in without}
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _spelled(types: Mapping[str, pa.DataType]) -> str:
    """Names and types alone: a schema can carry notes, and those can carry anything."""
    schema = pa.schema([pa.field(name, type_) for name, type_ in types.items()])
    return base64.b64encode(schema.serialize().to_pybytes()).decode("ascii")


def _providers(policy: Policy, types: Mapping[str, pa.DataType]) -> dict[str, dict[str, str]]:
    """Who provides the mechanisms and kinds that are not our own, with their versions; empty where all are."""
    mechanisms = {column.mechanism for column in policy.columns} | {query.mechanism for query in policy.queries}
    used = [name for name in mechanisms if name is not None]
    names = {name for column in policy.columns for name in column.names} | {
        q.column for q in policy.queries if q.column
    }
    kinds = {kind.name for name in names if name in types and (kind := kind_of(types[name])) is not None}
    kinds |= set(policy.types.values())
    kinds |= {kind for name in used for kind in (registry[name].takes.kind, registry[name].takes.gives) if kind}
    found = {"mechanisms": foreign(used), "kinds": KINDS.foreign(kinds)}
    return {what: others for what, others in found.items() if others}


def _versions(engine: str) -> dict[str, str]:
    found = {}
    for name in PARTS.get(engine, PARTS["local"]):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


# Mark ---------------------------------------------------------------------------------------------------------------------
#
# Statement of a lock about the data of a release: a fingerprint under the ledger's key, with a nonce of its own.


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
