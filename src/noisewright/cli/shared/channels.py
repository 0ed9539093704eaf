"""Files that hold a channel, or a certificate of one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from noisewright.core.channels.channel import Channel

__all__ = ["load_given", "load_thing"]


def load_thing(file: str) -> Any:
    """Return the content of a file, in exact numbers where it has them."""
    from noisewright.adversary.exact.channels import exact_channel
    from noisewright.core.certificates.claims import prove
    from noisewright.core.channels.channel import Channel
    from noisewright.core.errors import CertificateError, ParameterError
    from noisewright.files.channels import load_either, load_exact_csv
    from noisewright.mechanisms.from_certificate import source_of

    found = load_either(file)
    if isinstance(found, Channel):
        rows = load_exact_csv(file) if Path(file).suffix.lower() == ".csv" else None
        return found if rows is None else exact_channel(rows, found.inputs, found.outputs)
    claim, reason = prove(dict(found.document))
    if claim is None:
        raise CertificateError(f"{file} is not proved: {reason}")
    source = source_of(found)
    if isinstance(source, str):
        raise ParameterError(f"{file} has no channel of finitely many secrets and outputs: {source}")
    return source[0]


def load_given(file: str) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...], Channel | Sequence[Sequence[Any]]]:
    """Return the secrets, outputs and rows of a channel: exact where a ``.csv`` has fractions or decimals that sum to one.

    The integers of a certificate are near to probabilities that may not be fractions, so they count as floats.
    """
    from noisewright.adversary.exact.channels import read

    found = read(load_thing(file))
    exact: Sequence[Sequence[Any]] | None = found.exact if Path(file).suffix.lower() == ".csv" else None
    return found.inputs, found.outputs, found.channel if exact is None else exact
