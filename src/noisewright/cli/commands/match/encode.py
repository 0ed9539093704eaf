"""``noisewright match encode``: profiles in, noisy codes out; runs where the profiles are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, counting, emit, facts, heading, plural
from noisewright.cli.shared.targets import target_file

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["COMMAND", "encode"]

BLOCK = 1 << 14


def encode(
    profiles: Annotated[
        str, typer.Argument(metavar="PROFILES", help="Rows of numbers: a .npy, .npz (sparse), .parquet or .csv file.")
    ],
    public: Annotated[str, typer.Option(metavar="FILE.json", help="The public scheme of the service.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE.nwc", help="Where the codes go.")],
    names: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column with names. \\[default: the first, if it holds texts]"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Turn profiles into noisy codes, which are all that a server is sent; this runs where the profiles are.

    Every code that is sent costs: encode a profile once, and send the same code again if need be.
    """
    import numpy as np

    from noisewright.matching.client import Client
    from noisewright.matching.profiles import read_profiles
    from noisewright.matching.search.code_file import SUFFIX, CodeFile, write_codes

    target = target_file(output, "a file of codes", (SUFFIX,), new=True)
    client = Client.at(public)
    given = read_profiles(profiles, names=names)
    parts = [np.empty((0, client.scheme.code_bytes), dtype=np.uint8)]
    with counting("profiles encoded", "profiles") as progress:
        for start in range(0, len(given), BLOCK):
            parts.append(client.encode(given.rows[start : start + BLOCK]))
            if progress is not None:
                progress(min(start + BLOCK, len(given)), len(given))
    digest = write_codes(
        target, CodeFile(client.scheme.fingerprint, client.scheme.bits, given.names, np.concatenate(parts))
    )
    data = {
        "profiles": len(given),
        "file": output,
        "sha256": digest,
        "scheme": client.scheme.fingerprint,
        "bits": client.scheme.bits,
        "epsilon_for_each_bit": str(client.scheme.epsilon),
        "flip": float(client.scheme.flip),
        "promise": client.promise,
        "in_the_clear": ["names", "the order of the profiles", "how many there are"],
    }
    rows = [
        ("promise", client.promise),
        ("scheme", f"{client.scheme} ({client.scheme.fingerprint[:12]}...)"),
        ("in the clear", "the names, their order, and how many there are"),
        ("sha256", digest),
    ]

    def page() -> list[RenderableType]:
        return [heading(output, f"the codes of {plural(len(given), 'profile')}"), facts(rows)]

    emit(data, page, as_json)


COMMAND = Command(encode)
