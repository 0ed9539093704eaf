"""Recomputation of statements about public files, where the files are here: the last step of ``verify``.

A proof that rests on a number about a public file, such as the slope of an embedding, says that the number is stated.
Anyone who has the file need not believe it. Parts of products and of releases are examined too, and what several of
them state alike is computed once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.product import parts_of
from noisewright.core.errors import NoisewrightError
from noisewright.core.loading.addresses import Addresses
from noisewright.core.resource import Resource, in_place, look_in
from noisewright.mechanisms.registry import registry

__all__ = ["Recomputed", "look_everywhere", "public_files", "recomputed"]

FOLDERS = Addresses(
    "noisewright.resource_folders",
    "folder of public files",
    {
        "embeddings": "noisewright.text.embeddings.places:embedding_folders",
        "faces": "noisewright.images.faces.models.model:model_folders",
    },
)
"""Functions that return the folders where public files of a domain lie."""
UNASKED = 5.0
"""Duration in seconds beyond which a computation runs only on request."""


@dataclass(frozen=True)
class Recomputed:
    """Results in words: agreements, checks that would have taken too long, and failures."""

    agreed: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    wrong: str | None = None


def look_everywhere() -> None:
    """Register the folders of public files of all domains, those of other packages included."""
    look_in(*(folder for name in FOLDERS for folder in FOLDERS.load(name)()))


def public_files(document: Mapping[str, Any]) -> list[Resource]:
    """The public files that a certificate, or the parts of a release's certificate, state."""
    certificates = [document, *(part["certificate"] for part in document.get("parts", []))]
    return list(dict.fromkeys(Resource.from_json(file) for one in certificates for file in one.get("resources", [])))


def recomputed(document: Mapping[str, Any], however_long: bool = False) -> Recomputed:
    """Compute again the statements of a proved certificate about public files that are here."""
    agreed: list[str] = []
    unchecked: list[str] = []
    for certificate in _single(document):
        words = certificate.document["proof"]["kind"] == "words"  # whatever it is called
        entry = registry.get("exact-words" if words else certificate.document["mechanism"])
        try:
            if words and entry is not None and entry.rebuild is not None:
                entry.rebuild(certificate)  # the file has its step and its words
            stated = None if entry is None or entry.stated is None else entry.stated(certificate)
            if stated is None:
                continue
            if stated.seconds > UNASKED and not however_long:
                unchecked.append(f"{stated.what}: about {_in_words(stated.seconds)}; --recompute does that")
            else:
                agreed.append(stated.again())
        except NoisewrightError as problem:
            return Recomputed(wrong=str(problem))
    return Recomputed(tuple(agreed), tuple(unchecked))


def _single(document: Mapping[str, Any]) -> Iterator[Certificate]:
    """The certificates inside of one whose files are all here, each once."""
    seen = set()
    for whole in [part["certificate"] for part in document["parts"]] if "parts" in document else [document]:
        if not whole.get("resources") or in_place(public_files(whole))[1]:
            continue
        certificate = Certificate.from_document(dict(whole))
        product = whole["proof"]["kind"] == "product"
        for one in [certificate, *(part.certificate for part in (parts_of(certificate) if product else ()))]:
            about = json.dumps([one.document[key] for key in ("mechanism", "claim", "proof")], sort_keys=True)
            if about not in seen:
                seen.add(about)
                yield one


def _in_words(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"
