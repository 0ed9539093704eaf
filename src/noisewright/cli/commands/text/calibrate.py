"""``noisewright text calibrate``: what an epsilon does to the words of one's texts, and which epsilon a wish amounts to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.claims.readings import OF_DOCUMENTS, keeps_within
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.metrics import check_number
from noisewright.cli.shared.output import AsJson, counting, emit, facts, heading, plural
from noisewright.cli.shared.word_options import Embedded, Language, Limit, word_options

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.text.words.measures import Measured

__all__ = ["COMMAND", "calibrate"]

MOST_WORDS = 20_000
"""Maximum number of words of the texts that are measured with, spread over them."""


def calibrate(
    texts: Annotated[
        list[str], typer.Argument(metavar="TEXTS...", help="Text files in UTF-8, or folders with .txt files.")
    ],
    epsilon: Annotated[str, typer.Option(metavar="E,E,...", help="The epsilons to try.")] = "1,2,5,10,20",
    pair: Annotated[
        str | None, typer.Option(metavar="WORD,WORD", help="Two words that are to be within a factor of each other.")
    ] = None,
    factor: Annotated[str, typer.Option(metavar="F", help="That factor. \\[default: e]", show_default=False)] = "",
    embedding: Embedded = "small",
    limit: Limit = None,
    language: Language = "en",
    as_json: AsJson = False,
) -> None:
    """Show how many words stay at which epsilon, and the epsilon at which words that are near in your texts look alike.

    The numbers are computed from the texts as they are, and are for their owner.
    """
    import numpy as np

    from noisewright.core.errors import DataError, ParameterError
    from noisewright.core.exact import positive_fraction
    from noisewright.text.documents.files import text_files, text_of
    from noisewright.text.documents.reading import Reader
    from noisewright.text.words.measures import compare_words, epsilon_between, neighbour_distances
    from noisewright.text.words.true_epsilon import telling

    found, language_of = word_options(embedding, language)
    found = found if limit is None else found.first(limit)
    times = float(positive_fraction(check_number(factor, "--factor"), "--factor")) if factor else math.e
    if not times > 1:
        raise ParameterError(f"--factor is above 1, not {factor}.")
    tried = [check_number(part, "--epsilon") for part in epsilon.split(",")]
    reader = Reader(found, language=language_of)
    wanted = None
    if pair is not None:
        first, comma, second = pair.partition(",")
        if not comma:
            raise ParameterError("--pair needs two words with a comma between them, such as cough,fever.")
        wanted = epsilon_between(found, first.strip(), second.strip(), times)
    words = [word for file in text_files(texts) for word in reader.read(text_of(file)).words]
    if not words:
        raise DataError("the texts have no word of the vocabulary; give others, or another embedding.")
    sample = words[:: -(-len(words) // MOST_WORDS)]
    with counting("comparing all pairs of words", "blocks") as progress, telling(progress):
        nearest = neighbour_distances(found, sample)
        measured = compare_words(found, sample, tried)
    quantiles = [float(q) for q in np.quantile(nearest, (0.05, 0.5, 0.95))]
    typical = math.log(times) / quantiles[1]
    data: dict[str, Any] = {
        "embedding": found.name,
        "vocabulary": found.size,
        "words": len(words),
        "measured_with": len(sample),
        "nearest_distances": dict(zip(("5%", "50%", "95%"), quantiles, strict=True)),
        "typical_epsilon": typical,
        "factor": times,
        "pair": None if wanted is None else {"words": pair, "epsilon": wanted},
        "epsilons": [
            {
                "epsilon": exact.epsilon,
                "exact": {"kept": exact.kept, "distance": exact.distance},
                "laplace": {"kept": noisy.kept, "distance": noisy.distance, "draws": noisy.draws},
                "warning": exact.warning,
            }
            for exact, noisy in measured
        ],
    }
    rows = [
        ("texts", f"{plural(len(words), 'word')} of the vocabulary ({found.name}, {found.size:,} words)"),
        ("nearest word", "{:.3g} (5%), {:.3g} (50%), {:.3g} (95%) away".format(*quantiles)),
        (
            "typical",
            f"{keeps_within(typical, 'such neighbours', times)}, whatever comes out",
        ),
    ]
    if wanted is not None and pair is not None:
        rows.append(("pair", keeps_within(wanted, pair, times)))
    emit(data, lambda: [heading("epsilon for words"), facts(rows), _table(measured), *_warnings(measured)], as_json)


def _table(measured: list[tuple[Measured, Measured]]) -> RenderableType:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from noisewright.core.exact import numeral

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in ("epsilon", "kept,\nexact", "distance,\nexact", "kept,\nlaplace", "distance,\nlaplace"):
        table.add_column(title, justify="right", no_wrap=True)
    for exact, noisy in measured:
        cells = (f"{one.kept:.1%}" if k == 0 else f"{one.distance:.3g}" for one in (exact, noisy) for k in (0, 1))
        table.add_row(numeral(exact.epsilon), *cells)
    return table


def _warnings(measured: list[tuple[Measured, Measured]]) -> list[RenderableType]:
    from rich.text import Text

    told = [exact.warning for exact, _ in measured if exact.warning]
    return [Text(""), *(Text(line, style="yellow") for line in told), Text(OF_DOCUMENTS)]


COMMAND = Command(calibrate)
