"""``noisewright text obfuscate``: files of text in, noisy bags of words out, with a page for their owner to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from noisewright.claims.readings import one_word
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.metrics import check_number
from noisewright.cli.shared.output import AsJson, counting, emit, facts, heading, plural
from noisewright.cli.shared.targets import target_file
from noisewright.cli.shared.word_options import Embedded, Language, Limit, Unknown, Words, word_options

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["COMMAND", "obfuscate"]


def obfuscate(
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXTS...", help="Text files in UTF-8, or folders with .txt files.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FOLDER", help="A new folder for what comes out.")],
    epsilon: Annotated[
        str,
        typer.Option(
            metavar="E", help="For each unit of distance between words; noisewright text calibrate finds one."
        ),
    ],
    size: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="How many words come out of every document; without it their number shows.", min=1
        ),
    ] = None,
    embedding: Embedded = "small",
    limit: Limit = None,
    words: Words = "exact",
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Leave words where they were: reads better, promises less.")
    ] = False,
    unknown: Unknown = "drop",
    language: Language = "en",
    keep_names: Annotated[
        bool, typer.Option("--keep-names", help="Call files as they were called, instead of by random numbers.")
    ] = False,
    preview: Annotated[
        str | None,
        typer.Option(metavar="FILE.html", help="Write a page with words before and after; it is for the owner alone."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Obfuscate documents word by word. Whether that hides an author is measured by noisewright attack author.

    Nothing is recorded in a ledger here; a table with a column of documents goes through noisewright release.
    """
    from pathlib import Path

    from noisewright.cli.commands.text._preview import preview as page_of
    from noisewright.core.errors import ParameterError
    from noisewright.files.atomic import write_atomically
    from noisewright.text.documents.files import text_files
    from noisewright.text.embeddings.measuring import QUANTILES, summary
    from noisewright.text.noisy_documents import private_documents
    from noisewright.text.obfuscation import CERTIFICATE, in_the_clear, obfuscate_files, sizes_in_words
    from noisewright.text.words.true_epsilon import telling

    page = None if preview is None else target_file(preview, "a preview", (".html",))
    files = text_files(texts)
    if page is not None and page.resolve() in {Path(output).resolve(), *(file.resolve() for file in files)}:
        raise ParameterError(
            f"{preview}: the preview would take the place of the folder, or of a text; name another file."
        )
    found, language_of = word_options(embedding, language)
    with counting("comparing all pairs of words", "blocks") as progress, telling(progress):
        mechanism = private_documents(
            found,
            epsilon=check_number(epsilon, "--epsilon"),
            size=size,
            words=words,  # type: ignore[arg-type]
            keep_order=keep_order,
            unknown=unknown,  # type: ignore[arg-type]
            language=language_of,
            limit=limit,
        )
    with counting("documents obfuscated", "documents") as progress:
        done = obfuscate_files(mechanism, files, output, keep_names=keep_names, progress=progress)
    promise = mechanism.in_words()
    if page is not None:
        write_atomically(page, page_of(done, promise).encode(errors="backslashreplace"))
    kept, came = sum(one.kept for one in done), sum(len(one.after) for one in done)
    near = summary(mechanism.embedding, 200).nearest[QUANTILES.index(0.5)]
    loss = mechanism.map(near)
    clear = in_the_clear(mechanism, keep_names)
    data = {
        "documents": len(done),
        "words": came,
        "kept": kept,
        "folder": output,
        "certificate": f"{output}/{CERTIFICATE}",
        "preview": preview,
        "guarantee": str(mechanism.guarantee),
        "promise": promise,
        "one_word": {"distance": near, "epsilon": loss},
        "in_the_clear": clear,
        "numerics": mechanism.certificate().numerics,
    }
    rows = [
        ("promise", promise),
        ("one word", one_word(near, loss)),
        ("numerics", _numerics(data["numerics"] == "exact")),
        ("size", sizes_in_words(done)),
        ("unchanged", f"{kept:,} of {came:,} words ({kept / max(came, 1):.0%}); this is for you, and is not published"),
        ("in the clear", ", ".join(clear) or "nothing"),
        ("certificate", f"{output}/{CERTIFICATE}"),
    ]
    if preview:
        rows.append(("preview", f"{preview}, which shows originals: do not pass it on"))

    def shown() -> list[RenderableType]:
        return [heading(output, f"{plural(len(done), 'document')}, {came:,} words"), facts(rows)]

    emit(data, shown, as_json)


def _numerics(exact: bool) -> str:
    if exact:
        return "exact: drawn from the integers that the certificate is about"
    return "floating: a theorem holds for real numbers, and nothing is proved about the floats drawn"


COMMAND = Command(obfuscate)
