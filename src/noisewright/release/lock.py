"""``policy.lock``: what a release was made with, so that it can be told apart from another one and its files checked.

It holds the program's versions, the policy and its digest, the engine, where random bits came from, the time, and the SHA-256 of
every file that was written. The data are named by a *keyed* fingerprint only (an HMAC under the ledger's secret key): a plain
hash of a table of which all but one value is known would confirm a guess of that value.

>>> policy = Policy.from_dict({"dataset": "clinic", "budget": {"epsilon": 1}, "queries": [
...     {"name": "patients", "aggregate": "count", "epsilon": 1}]})
>>> lock = Lock.build(policy=policy, fingerprint="00ff", engine="local", simulated=False, outputs={})
>>> lock.matches(policy.digest(), "00ff"), lock.matches(policy.digest(), "00fe")
(True, False)
"""

from __future__ import annotations

import hashlib
import hmac
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from noisewright.core.certificate import RELEASE_RANDOMNESS, SIMULATION_RANDOMNESS
from noisewright.core.errors import FileFormatError, ParameterError
from noisewright.core.version import VERSION as PROGRAM
from noisewright.release.policy import Policy

__all__ = ["Lock", "file_digest"]

FORMAT = "noisewright-lock"
VERSION = 1
PARTS = {"local": ("numpy", "pyarrow", "duckdb"), "spark": ("numpy", "pyarrow", "duckdb", "pyspark")}
CHUNK = 1 << 20
FIELDS = {
    "made_by": str,
    "versions": dict,
    "policy": dict,
    "policy_digest": str,
    "data": str,
    "engine": str,
    "randomness": str,
    "at": str,
    "outputs": dict,
}


@dataclass(frozen=True)
class Lock:
    """A lock as the JSON document it is; build one with :meth:`build`."""

    document: Mapping[str, Any]

    @classmethod
    def build(
        cls,
        *,
        policy: Policy,
        fingerprint: str,
        engine: str,
        simulated: bool,
        outputs: Mapping[str, Path],
        rows: int | None = None,
        seed: int | None = None,
        at: datetime | None = None,
    ) -> Lock:
        """The lock of a release whose ``outputs`` (name in the folder of the release, where it is now) are written.

        ``fingerprint``: the ledger's keyed fingerprint of the data. ``rows``: of the released table.
        ``seed``: of a simulation, never of a release.
        """
        if seed is not None and not simulated:
            raise ParameterError("a release for use has no seed; only a simulation has one.")
        when = datetime.now(UTC) if at is None else at.astimezone(UTC)
        document: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "made_by": f"noisewright {PROGRAM}",
            "versions": {"python": platform.python_version(), **_versions(engine)},
            "policy": policy.to_json(),
            "policy_digest": policy.digest(),
            "data": fingerprint,
            "engine": engine,
            "randomness": SIMULATION_RANDOMNESS if simulated else RELEASE_RANDOMNESS,
            **({"rows": rows} if rows is not None else {}),
            **({"seed": seed} if seed is not None else {}),
            "at": when.replace(microsecond=0).isoformat().replace("+00:00", "Z"),
            "outputs": {name: file_digest(path) for name, path in sorted(outputs.items())},
        }
        return cls(document)

    @classmethod
    def from_json(cls, text: str) -> Lock:
        """Read a lock; it is checked for shape."""
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            raise FileFormatError("this is not a policy.lock: it is not JSON, or it was cut short.") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise FileFormatError("this is JSON, but not a policy.lock of Noisewright.")
        if document.get("version") != VERSION:
            raise FileFormatError(
                f"this policy.lock is not of version {VERSION}; read it with the program that wrote it."
            )
        wrong = [name for name, kind in FIELDS.items() if not isinstance(document.get(name), kind)]
        if wrong:
            raise FileFormatError(f"the policy.lock is incomplete or malformed: look at {', '.join(wrong)}.")
        return cls(document)

    def to_json(self) -> str:
        """The lock as JSON text."""
        return json.dumps(self.document, indent=1, ensure_ascii=True) + "\n"

    def matches(self, digest: str, fingerprint: str) -> bool:
        """Whether this lock is of a release of the same data under the same policy."""
        same = hmac.compare_digest(self.document["data"].encode(), fingerprint.encode())
        return same and bool(self.document["policy_digest"] == digest)

    def changed(self, folder: Path) -> list[str]:
        """The names of output files in ``folder`` that are missing or are not as they were written."""
        found = []
        for name, stated in self.document["outputs"].items():
            path = folder / name
            if Path(name).is_absolute() or ".." in Path(name).parts or not path.exists() or file_digest(path) != stated:
                found.append(name)
        return found

    @property
    def rows(self) -> int | None:
        """The rows of the released table, if there is one."""
        found = self.document.get("rows")
        return found if isinstance(found, int) else None

    @property
    def simulated(self) -> bool:
        """Whether it was a simulation, which is not for release."""
        return bool(self.document["randomness"] != RELEASE_RANDOMNESS)


def file_digest(path: Path) -> str:
    """SHA-256 of a file; of a folder (a table in many files), of the names and digests of all files in it.

    Names that begin with a dot or an underscore are notes that programs leave beside their data, and do not count.
    """
    total = hashlib.sha256()
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file())
        for file in files:
            name = file.relative_to(path)
            if not any(part.startswith((".", "_")) for part in name.parts):
                total.update(f"{name.as_posix()}\0{file_digest(file)}\n".encode())
    else:
        with path.open("rb") as content:
            while chunk := content.read(CHUNK):
                total.update(chunk)
    return f"sha256:{total.hexdigest()}"


def _versions(engine: str) -> dict[str, str]:
    found = {}
    for name in PARTS.get(engine, PARTS["local"]):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
