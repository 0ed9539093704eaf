"""``noisewright attack author``: name the author and the topic of documents, before and after obfuscation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.app import Command
from noisewright.cli.arguments import (
    Embedded,
    Language,
    Limit,
    Words,
    check_number,
    exit_if_any,
    listed,
    picture_file,
    unread,
    word_options,
)
from noisewright.render.text import AsJson, Details, emit, facts, heading, plural, wants_json, working

if TYPE_CHECKING:
    from fractions import Fraction

    from rich.console import RenderableType

    from noisewright.attacks.base import Attacker, Success
    from noisewright.attacks.face_risk import Risk
    from noisewright.text.embedding import Embedding

__all__ = ["AUTHOR_COMMAND", "FACES_COMMAND"]


AUTHOR_SUMMARY = "who wrote a document, and what it is about, before and after its words are obfuscated"
STYLE, WORDS, NEAREST = "style", "words", "nearest"


def attack_author(
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

    from noisewright.attacks.base import halves, outcomes
    from noisewright.text.document_mechanism import private_documents
    from noisewright.text.documents import Reader

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
    emit(_data(results, len(read) - len(some)), lambda: _author_page(results, tasks, len(read) - len(some)), as_json)


def attackers(embedding: Embedding, seed: int) -> dict[str, Callable[[], Attacker]]:
    """The attackers by name; the linear one only where scikit-learn is installed."""
    from importlib.util import find_spec

    from noisewright.attacks.authorship import LinearWords, NearestDocuments, RandomSubspaces

    makers: dict[str, Callable[[], Attacker]] = {STYLE: lambda: RandomSubspaces(seed=seed)}
    if find_spec("sklearn") is not None:
        makers[WORDS] = lambda: LinearWords(seed=seed)
    return {**makers, NEAREST: lambda: NearestDocuments(embedding)}


def strongest(found: Mapping[str, Success]) -> Success:
    """Return the best result of all attackers, chosen in hindsight."""
    return max(found.values(), key=lambda one: one.share)


def _columns(table: str, names: list[str]) -> dict[str, list[str]]:
    """The columns as text; a row that lacks one of them is refused."""
    from noisewright.exceptions import DataError
    from noisewright.tables.reading import source_of

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


def _author_page(results: Any, tasks: Any, without: int) -> list[RenderableType]:
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


AUTHOR_COMMAND = Command(attack_author, summary=AUTHOR_SUMMARY)


# Faces --------------------------------------------------------------------------------------------------------------------
#
# ``noisewright attack faces``: how often someone names the person behind an obfuscated face, and what such faces keep.


FACES_SUMMARY = "whose an obfuscated face is: attackers on pictures beside the best possible one, and what is kept"
NOT_PRIVATE = "These numbers are computed from the faces themselves; keep them as you keep the faces."
ATTACKS = {
    "naive": "naive ",
    "parrot": "parrot ",
    "best": "best ",
    "background": "back-\nground",
    "reverse": "re-\nverse",
    "composed": "two\nnaive",
    "best of two": "two\nbest",
}
"""The attacks, in the order of columns, with their titles."""
ONE_RELEASE = ("naive", "parrot", "best")
"""Those that see one release, as every page has them."""
SPELLED = {"ssim": "SSIM", "mse": "squared error"}


def attack_faces(
    context: typer.Context,
    faces: Annotated[
        str | None,
        typer.Argument(
            metavar="[FOLDER]",
            help="A folder with a folder of aligned faces for each person, or with labels.csv. Without: made-up faces.",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[
        str, typer.Option(metavar="E,E,...", help="The epsilons to try, for noise on the codes of a model.")
    ] = "10,30,100,300,1000",
    pixels: Annotated[
        str,
        typer.Option(
            metavar="E,E,...", help="The epsilons to try for noise on pixels, by levels and by windows; '' for none."
        ),
    ] = "30,100",
    k: Annotated[str, typer.Option(metavar="K,K,...", help="The sizes of clusters to try for k-same.")] = "2,5,10",
    model: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.nwm",
            help="The model of faces. Without one: eigenfaces of half of the people, and the others are attacked.",
        ),
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(metavar="C", help="How many components are released. Default: by epsilon.", min=1),
    ] = None,
    size: Annotated[
        int, typer.Option(metavar="N", help="How large faces of a folder are made, without a model.", min=16, max=256)
    ] = 48,
    copies: Annotated[int, typer.Option(metavar="N", help="How often every face is released.", min=1)] = 10,
    seed: Annotated[
        int, typer.Option(metavar="N", help="The seed of attackers and draws, which are a simulation.")
    ] = 0,
    plot: Annotated[str | None, typer.Option(metavar="FILE.png", help="Draw risk and what is kept there.")] = None,
    details: Details = False,
    as_json: AsJson = False,
) -> None:
    """Attack faces: one face of everybody is obfuscated, others are known, and attackers name the people.

    Naive learned from clean faces, parrot from faces that it obfuscated itself, reverse the same but is asked about clean ones;
    best inverts the decoder and knows the codes of all candidates. The numbers are not private.
    """
    from noisewright.attacks.face_risk import PIXELS, Trial
    from noisewright.numerics.exact import positive_fraction

    as_json, picture = wants_json(context, as_json), picture_file(plot, alone=True)

    def numbers(given: str, option: str) -> dict[str, Fraction]:
        return {
            word: positive_fraction(check_number(word, option), option) for word in map(str.strip, given.split(","))
        }

    budgets = numbers(epsilon, "--epsilon")
    larger = numbers(pixels, "--pixels") if pixels.strip() else {}
    sizes = [_whole(word) for word in k.split(",")] if k.strip() else []
    with working("reading"):
        trial = Trial.of(faces, model, size=size, copies=copies, seed=seed)
    with working("attacking"):
        clean = trial.attacks.clean()
        others = [*(trial.k_same(size) for size in sizes), *trial.adhoc()]  # first: a k too large is refused
        noisy = {word: trial.noisy(value, components) for word, value in budgets.items()}
        painted = {(kind, word): trial.pixels(kind, value) for kind in PIXELS for word, value in larger.items()}
        if picture is not None:
            from noisewright.plotting.leakage import draw_face_risks
            from noisewright.plotting.mechanisms import save_figure

            rows = [{"epsilon": word, **_flat(risk)} for word, risk in noisy.items()]
            figure = draw_face_risks(
                rows,
                [_flat(risk) for risk in others],
                trial.chance,
                clean.attacks["naive"],
                pixels=[{"epsilon": word, "kind": kind, **_flat(risk)} for (kind, word), risk in painted.items()],
            )
            save_figure(figure, picture)
    data = {
        "faces": trial.source,
        "people": trial.people,
        "known": trial.known,
        "model": trial.model_words,
        "chance": trial.chance,
        "clean": _told(clean),
        "noise_on_codes": [{"epsilon": word, **_told(risk)} for word, risk in noisy.items()],
        "noise_on_pixels": [{"epsilon": word, "kind": kind, **_told(risk)} for (kind, word), risk in painted.items()],
        "without_guarantee": [_told(risk) for risk in others],
        "private": False,
        "note": NOT_PRIVATE,
        "picture": plot,
        "problems": listed(trial.problems),
    }
    emit(data, lambda: _faces_page(data, clean, noisy, painted, others, details), as_json)
    exit_if_any(trial.problems)


def _whole(word: str) -> int:
    from noisewright.exceptions import ParameterError

    if not word.strip().isdecimal():
        raise ParameterError(f"--k is a list of whole numbers such as 2,5,10, not {word.strip()!r:.40}.")
    return int(word)


def _flat(risk: Risk) -> dict[str, Any]:
    return {"method": risk.method, "bound": risk.bound, **risk.attacks, **risk.kept}


def _told(risk: Risk) -> dict[str, Any]:
    return {
        "method": risk.method,
        "components": risk.components,
        "attacks": dict(risk.attacks),
        "intervals": {name: list(ends) for name, ends in risk.intervals.items()},
        "bound": risk.bound,
        "left_after_two_releases": risk.left,
        "strongest": risk.strongest,
        "risk": risk.risk,
        "kept": dict(risk.kept),
    }


def _faces_page(
    data: dict[str, Any],
    clean: Risk,
    noisy: dict[str, Risk],
    painted: dict[tuple[str, str], Risk],
    others: list[Risk],
    details: bool,
) -> list[RenderableType]:
    from rich.text import Text

    about = [
        (
            "attacked",
            f"{data['people']} people, {data['known']}; a blind guess is right {data['chance']:.1%}",
        ),
        ("model", data["model"]),
        ("clean faces", f"{clean.attacks['naive']:.1%} are recognised"),
    ]
    groups: list[tuple[str, tuple[str, ...], list[tuple[tuple[str, ...], Risk]]]] = [
        ("Noise on codes", ("epsilon",), [((word,), risk) for word, risk in noisy.items()]),
        ("Noise on pixels", ("", "epsilon"), list(painted.items())),
        ("NO guarantee", ("",), [((risk.method,), risk) for risk in others]),
    ]
    parts: list[RenderableType] = [heading(data["faces"], "how often somebody names the person"), facts(about)]
    for title, firsts, rows in groups:
        if not rows:
            continue
        if details:
            parts += [Text(""), _table(title, firsts, rows, list(ATTACKS), ())]
            parts += [Text(""), _table(f"{title}: what is kept", firsts, rows, [], tuple(rows[0][1].kept))]
        else:
            parts += [Text(""), _table(title, firsts, rows, [*ONE_RELEASE, "best of two"], ("ssim",))]
    notes = [
        ("*", "the risk: the largest share that was measured on one release; naive is never asked alone"),
        (
            "best",
            "sees what was drawn and knows the code of every candidate, or runs the method on all of them: who is above it "
            "was lucky",
        ),
        ("two", "two releases of a face"),
        ("bound", "what epsilon alone allows anybody, before anything is drawn"),
    ]
    if details:
        notes += [("reverse", "has several releases of everybody"), ("shares", _within(list(noisy.values())))]
    else:
        notes.append(("more", "with --details: all attacks, all that is kept, and how sure the shares are"))
    if data["picture"]:
        notes.append(("picture", f"drawn to {data['picture']}"))
    return [*parts, Text(""), facts(notes), Text(f"\n{NOT_PRIVATE}"), *unread(data["problems"])]


def _within(risks: list[Risk]) -> str:
    """Return the spread that the draws leave in the shares."""
    off = {
        name: max(
            max(risk.attacks[name] - risk.intervals[name][0], risk.intervals[name][1] - risk.attacks[name])
            for risk in risks
        )
        for name in ("best", "naive", "parrot")
    }
    return (
        f"with a confidence of 95 %, those of best are within {off['best']:.3f} of what they are for these people, those of "
        f"attackers on pictures within {max(off['naive'], off['parrot']):.3f}"
    )


def _table(
    title: str,
    firsts: tuple[str, ...],
    rows: list[tuple[tuple[str, ...], Risk]],
    attacks: list[str],
    kept: tuple[str, ...],
) -> RenderableType:
    """Return a table of some attacks, with the bound of each row, and some of the kept columns; never wider than 80 columns."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, title=title, title_justify="left")
    attacks = [name for name in attacks if any(name in risk.attacks for _, risk in rows)]
    bounded = bool(attacks) and any(risk.bound is not None for _, risk in rows)
    sized = not attacks and any(risk.components is not None for _, risk in rows)
    for first in firsts:
        table.add_column(first, vertical="bottom")
    for name in attacks:
        table.add_column(ATTACKS[name], justify="right", vertical="bottom")
    titles = ["bound"] * bounded + ["components"] * sized + [SPELLED.get(name, name) for name in kept]
    for name in titles:
        table.add_column(name, justify="right", vertical="bottom")
    for labels, risk in rows:
        cells = [_share(risk.attacks.get(name)) + _mark(name, risk) for name in attacks]
        cells += [_share(risk.bound)] * bounded + [str(risk.components or "")] * sized
        cells += [f"{risk.kept[name]:,.0f}" if name == "mse" else f"{risk.kept[name]:.3f}" for name in kept]
        table.add_row(*labels, *cells)
    return table


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _mark(attack: str, risk: Risk) -> str:
    """A star for the risk; the other attacks on one release have its place empty."""
    return ("*" if attack == risk.strongest else " ") if attack in ONE_RELEASE else ""


FACES_COMMAND = Command(attack_faces, summary=FACES_SUMMARY)
