"""Options that commands on texts share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from noisewright.text.embeddings.embedding import Embedding

__all__ = ["Embedded", "Language", "Limit", "Unknown", "Words", "word_options"]

Embedded = Annotated[
    str, typer.Option(metavar="FILE", help="The public embedding, by path or name; small is the one that comes along.")
]
Limit = Annotated[int | None, typer.Option(metavar="N", help="Use its N most frequent words alone.", min=2)]
Words = Annotated[str, typer.Option(metavar="exact|laplace", help="How a word is drawn.")]
Unknown = Annotated[
    str,
    typer.Option(
        metavar="drop|replace|refuse|keep",
        help="What to do with words outside of the vocabulary, numbers and addresses; keep leaves them unprotected.",
    ),
]
Language = Annotated[str, typer.Option(metavar="CODE", help="Whose stop words are left out; none for no language.")]


def word_options(embedding: str, language: str) -> tuple[Embedding, str | None]:
    """The embedding, and the language of the stop words; None for ``none``."""
    from noisewright.text.embeddings.finding import find_embedding

    return find_embedding(embedding), None if language == "none" else language
