"""``noisewright embeddings info``: what an embedding holds, and how far apart its words are."""

from __future__ import annotations

from typing import Annotated

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, heading, working

__all__ = ["COMMAND", "info"]


def info(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="An embedding, by its path or its name; small is the one that comes along."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Show the words, dimension, step, fingerprint and licence of an embedding, and how far apart its words are.

    An epsilon per unit of distance is to be read against the distance from a word to the nearest other one.
    """
    from noisewright.text.embeddings.finding import find_embedding
    from noisewright.text.embeddings.measuring import QUANTILES, summary

    embedding = find_embedding(file)
    with working("measuring distances"):
        found = summary(embedding)
    levels = [f"{quantile:.0%}" for quantile in QUANTILES]
    data = {
        "path": str(embedding.resource.place()),
        "name": embedding.name,
        "words": embedding.size,
        "dimension": embedding.dimension,
        "step": embedding.step,
        "sha256": embedding.resource.sha256,
        "bytes": embedding.resource.size,
        "licence": embedding.licence,
        "source": embedding.source,
        "norms": dict(zip(levels, found.norms, strict=True)),
        "nearest": dict(zip(levels, found.nearest, strict=False)),
        "nearest_sample": found.sample,
    }
    first = ", ".join(embedding.words(range(min(8, embedding.size))))
    rows = [
        ("words", f"{embedding.size:,} in {embedding.dimension} dimensions; the first: {first}"),
        ("licence", embedding.licence or "not stated"),
        ("source", embedding.source or "not stated"),
        ("step", f"{embedding.step:.6g}"),
        ("norms", _in_words(levels, found.norms)),
        ("nearest other word", f"{_in_words(levels, found.nearest)} (of {found.sample} words)"),
        ("sha256", embedding.resource.sha256),
    ]
    emit(data, lambda: [heading(embedding.name, f"{embedding.resource.size:,} bytes"), facts(rows)], as_json)


def _in_words(levels: list[str], values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.3g} ({level})" for level, value in zip(levels, values, strict=False)) or "none"


COMMAND = Command(info)
