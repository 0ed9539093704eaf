"""``noisewright embeddings import``: another program's word vectors as an embedding of Noisewright."""

# ruff: noqa: N999  (the word that users type; nobody imports it by a statement)

from __future__ import annotations

from typing import Annotated

import typer

from noisewright.cli.commands.embeddings._made import report
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, counting

__all__ = ["COMMAND", "import_file"]


def import_file(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Vectors of another program; .gz is unpacked.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The embedding to write, FILE.nwe.")],
    words: Annotated[
        str | None, typer.Option(metavar="FILE", help="For a numpy matrix: its words, one on each line.")
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", help="Keep the first N words alone.", min=1)] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="What to call it; the name of the file if not given.")] = "",
    licence: Annotated[
        str, typer.Option(metavar="TEXT", help="Under which licence it may be used; kept in the file.")
    ] = "",
    source: Annotated[str, typer.Option(metavar="TEXT", help="Where the vectors are from; kept in the file.")] = "",
    as_json: AsJson = False,
) -> None:
    """Import word2vec (text or binary), GloVe, fastText .vec, numpy or wink vectors; the format is seen from the file."""
    from noisewright.text.embeddings.importing import import_embedding

    with counting("words imported", "words") as progress:
        made = import_embedding(
            file, output, words=words, limit=limit, name=name, licence=licence, source=source, progress=progress
        )
    report(made, output, as_json)


COMMAND = Command(import_file)
