"""``noisewright attack author``: name the author and the topic of documents, before and after obfuscation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.metrics import check_number
from noisewright.cli.shared.output import AsJson, emit, facts, heading, plural, wants_json, working
from noisewright.cli.shared.word_options import Embedded, Language, Limit, Words, word_options

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.text.attackers.attacker import Attacker, Success
    from noisewright.text.embeddings.embedding import Embedding

__all__ = ["COMMAND"]

SUMMARY = "who wrote a document, and what it is about, before and after its words are obfuscated"
STYLE, WORDS, NEAREST = "style", "words", "nearest"


def command(
    context: typer.Context,
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="A table with a document on each row: .csv, .parquet, .jsonl, ...")
    ],
    text: Annotated[str, typer.Option(metavar="COLUMN", help="The column with the documents.")],
    author: Annotated[str, typer.Option(metavar="COLUMN", help="The column that should not be inferred.")],
    epsilon: Annotated[
        str, typer.Option(metavar="E,E,...", help="The epsilons to try, for each unit of distance between words.")
    ],
    topic: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column that may be inferred, to compare.")
    ] = None,
    size: Annotated[
        int | None, typer.Option(metavar="N", help="How many words come out of every document.", min=1)
    ] = None,
    embedding: Embedded = "small",
    limit: Limit = None,
    words: Words = "exact",
    language: Language = "en",
    seed: Annotated[
        int, typer.Option(metavar="N", help="The seed of attackers and draws, which are a simulation.")
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Attack authorship: every other document of an author is known, and attackers name the authors of the rest.

    By style (n-grams of characters, random subspaces), by words (a linear classifier, with the extra text), by the nearest
    document in the embedding, and with knowledge of the mechanism: learning from noisy copies. The last row has the strongest.
    The numbers are not private.
    """
    import numpy as np

    from noisewright.text.attackers.evaluation import halves, outcomes
    from noisewright.text.documents.reading import Reader
    from noisewright.text.noisy_documents import private_documents

    as_json = wants_json(context, as_json)
    found, language_of = word_options(embedding, language)
    found = found if limit is None else found.first(limit)
    columns = _columns(table, [text, author, *([topic] if topic else [])])
    reader = Reader(found, language=language_of)
    read = [reader.read(value).words for value in columns[text]]
    some = [number for number, document in enumerate(read) if document]
    tasks = {
        name: halves([read[i] for i in some], [columns[name][i] for i in some])
        for name in (author, *([topic] if topic else []))
    }
    makers = attackers(found, seed)
    results: list[tuple[str, dict[str, dict[str, Success]]]] = []
    with working("attacking"):
        results.append(("none", {name: outcomes(task, makers) for name, task in tasks.items()}))
        for value in epsilon.split(","):
            mechanism = private_documents(
                found,
                epsilon=check_number(value.strip(), "--epsilon"),
                size=size,
                words=words,  # type: ignore[arg-type]
                language=None,
            )
            rng = np.random.default_rng(seed)

            def obfuscate(documents: Sequence[Sequence[str]], mechanism: Any = mechanism, rng: Any = rng) -> Any:
                return mechanism.release_words([" ".join(words) for words in documents], rng)

            results.append(
                (
                    value.strip(),
                    {
                        n: outcomes(task, makers, obfuscate, knowing=[n for n in (STYLE, WORDS) if n in makers])
                        for n, task in tasks.items()
                    },
                )
            )
    emit(_data(results, len(read) - len(some)), lambda: _page(results, tasks, len(read) - len(some)), as_json)


def attackers(embedding: Embedding, seed: int) -> dict[str, Callable[[], Attacker]]:
    """The attackers by name; the linear one only where scikit-learn is installed."""
    from importlib.util import find_spec

    from noisewright.text.attackers.linear import LinearWords
    from noisewright.text.attackers.nearest import NearestDocuments
    from noisewright.text.attackers.subspaces import RandomSubspaces

    makers: dict[str, Callable[[], Attacker]] = {STYLE: lambda: RandomSubspaces(seed=seed)}
    if find_spec("sklearn") is not None:
        makers[WORDS] = lambda: LinearWords(seed=seed)
    return {**makers, NEAREST: lambda: NearestDocuments(embedding)}


def strongest(found: Mapping[str, Success]) -> Success:
    """Return the best result of all attackers, chosen in hindsight."""
    return max(found.values(), key=lambda one: one.share)


def _columns(table: str, names: list[str]) -> dict[str, list[str]]:
    """The columns as text; a row that lacks one of them is refused."""
    from noisewright.core.errors import DataError
    from noisewright.releases.sources import source_of

    source = source_of(table)
    source.require(names)
    found: dict[str, list[str]] = {name: [] for name in names}
    for batch in source.batches(names):
        for name in names:
            values = batch.column(batch.schema.get_field_index(name)).to_pylist()
            if any(value is None for value in values):
                raise DataError(f"the column {name!r} has missing values; leave out such rows.")
            found[name] += [str(value) for value in values]
    return found


def _data(results: Any, without: int) -> dict[str, Any]:
    def told(one: Success) -> dict[str, Any]:
        low, high = one.interval()
        return {
            "right": one.right,
            "asked": one.asked,
            "share": one.share,
            "interval": [low, high],
            "chance": one.chance,
        }

    return {
        "without_words": without,
        "results": [
            {"epsilon": value, **{name: {k: told(v) for k, v in of.items()} for name, of in found.items()}}
            for value, found in results
        ],
        "strongest": [
            {"epsilon": value, **{name: told(strongest(of)) for name, of in found.items()}} for value, found in results
        ],
    }


def _page(results: Any, tasks: Any, without: int) -> list[RenderableType]:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    for name, task in tasks.items():
        chance = next(iter(results[0][1][name].values())).chance
        parts.append(heading(name, f"{plural(len(task.asked), 'document')} asked about; a guess is right {chance:.0%}"))
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        table.add_column("attacker")
        for value, _ in results:
            table.add_column("no noise" if value == "none" else f"epsilon {value}", justify="right")
        for attacker in results[-1][1][name]:
            cells = [f"{of[name][attacker].share:.0%}" if attacker in of[name] else "" for _, of in results]
            table.add_row(attacker, *cells)
        table.add_row("strongest of them", *(f"{strongest(of[name]).share:.0%}" for _, of in results), style="bold")
        parts.append(table)
    if without:
        parts.append(facts([("left out", f"{plural(without, 'document')} without a word of the vocabulary")]))
    return [
        *parts,
        Text("\nThese numbers are computed from the documents themselves; keep them as you keep the documents."),
    ]


COMMAND = Command(command, summary=SUMMARY)
