"""``noisewright embeddings train``: an embedding from public texts of one's own."""

from __future__ import annotations

from typing import Annotated

import typer

from noisewright.cli.commands.embeddings._made import report
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, counting

__all__ = ["COMMAND", "train"]


def train(
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXTS...", help="Text files in UTF-8, or folders with .txt files.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The embedding to write, FILE.nwe.")],
    words: Annotated[int, typer.Option(metavar="N", help="How many of the most frequent words to keep.", min=2)] = 6000,
    dimension: Annotated[int, typer.Option(metavar="N", help="How many numbers a vector has.", min=1)] = 50,
    window: Annotated[int, typer.Option(metavar="N", help="Words so many places apart keep company.", min=1)] = 5,
    least: Annotated[int, typer.Option(metavar="N", help="A word stands in the texts so often at least.", min=1)] = 2,
    keep: Annotated[
        str | None, typer.Option(metavar="FILE", help="Words to keep however rare they are, with spaces between them.")
    ] = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="What to call it; the name of the file if not given.")] = "",
    licence: Annotated[
        str, typer.Option(metavar="TEXT", help="Under which licence it may be used; kept in the file.")
    ] = "",
    source: Annotated[str, typer.Option(metavar="TEXT", help="Which texts these are; kept in the file.")] = "",
    as_json: AsJson = False,
) -> None:
    """Train word vectors on public texts (mutual information and singular values; the same texts give the same vectors).

    The file says which words the texts use, and in which company: train on texts that are public.
    """
    from noisewright.text.documents.files import text_files, text_of
    from noisewright.text.embeddings.training import train_embedding

    files = text_files(texts)
    kept = text_of(keep).split() if keep else []
    with counting("texts read", "texts") as progress:
        made = train_embedding(
            map(text_of, files),
            output,
            words=words,
            dimension=dimension,
            window=window,
            least=least,
            keep=kept,
            name=name,
            licence=licence,
            source=source,
            progress=progress and (lambda done, _: progress(done, len(files))),
        )
    report(made, output, as_json)


COMMAND = Command(train)
