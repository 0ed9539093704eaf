"""A release that someone brings: its folder, or all of it in one file, proved again."""

from __future__ import annotations

import errno
import shutil
import zipfile
from pathlib import Path, PurePosixPath

from noisewright.core.errors import FileFormatError
from noisewright.files.inputs import open_archive
from noisewright.releases.output.layout import CERTIFICATE
from noisewright.releases.output.proving import Verification, certificate_bytes, examined

__all__ = ["checked_folder", "unpacked"]

MOST_FILES, MOST_BYTES = 10_000, 2**30
"""Maximum number of files, and of bytes, that a file with a release may unpack to."""


TOO_LARGE = "unpacks to more than is taken here; unpack it, and name its folder."
DAMAGED = "cannot be unpacked; it is damaged, or no .zip file."


def checked_folder(path: str, ledger: str = "") -> Verification:
    """Prove the folder of a release, or a certificate; with a ledger, check whether that recorded it."""
    return examined(certificate_bytes(path), path, ledger.strip() or None)


def unpacked(archive: Path, target: Path) -> Path:
    """The folder of the release in a file that holds all of it; nothing is written outside of the target."""
    shutil.rmtree(target, ignore_errors=True)
    try:
        with open_archive(archive, MOST_BYTES) as held:
            members = [one for one in held.infolist() if not one.is_dir()]
            home = _home(members, archive.name)
            for one in members:
                held.extract(one, target)
    except FileFormatError:
        raise
    except OSError as problem:
        if problem.errno == errno.EFBIG:
            raise FileFormatError(f"{archive.name} {TOO_LARGE}") from None
        raise FileFormatError(f"{archive.name} {DAMAGED}") from None
    except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError, ValueError):
        raise FileFormatError(f"{archive.name} {DAMAGED}") from None
    return target / home


def _home(members: list[zipfile.ZipInfo], name: str) -> PurePosixPath:
    """The folder among the files of an archive that holds a release; refused before anything is unpacked."""
    if len(members) > MOST_FILES or sum(one.file_size for one in members) > MOST_BYTES:
        raise FileFormatError(f"{name} {TOO_LARGE}")
    paths = [PurePosixPath(one.filename) for one in members]
    if any(path.is_absolute() or ".." in path.parts or "\\" in str(path) for path in paths):
        raise FileFormatError(f"{name} holds files that would lie outside of its folder; nothing was unpacked.")
    homes = [path.parent for path in paths if path.name == CERTIFICATE]
    if not homes:
        raise FileFormatError(f"{name} holds no release: there is no {CERTIFICATE} in it.")
    return min(homes, key=lambda path: len(path.parts))
