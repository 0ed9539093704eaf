"""Who wrote it against what it is about: attackers on mail whose words were obfuscated.

Run:  noisewright reproduce author_and_topic [--quick] [--runs N] [--json] [--plot FILE.png]

Published in a doctoral thesis on metric privacy as counts of right guesses about 20 and 50 authors of fan fiction in two
fandoms, with word vectors of 300 dimensions; neither the stories nor the vectors can be had. Here the texts are those of
public mailing lists (:mod:`experiments.mail`): two lists with ten authors each as in print, and four lists with ten authors
each. The vectors are the 20,000 most frequent words of GloVe in 100 dimensions. Published numbers are shown beside ours and
need not agree; what is compared is the pattern. Each author has a known text of at most 1,500 words and a snippet of at most
200, and snippets are obfuscated.

Two mechanisms are compared: the published one, Laplace noise on vectors and the nearest word, and the exact choice of words. The
epsilon of a row is what is promised for each unit of distance. That of the choice is its true one; the true one of noise
with decoding is not known, and the last table says what it is at least
(:func:`~noisewright.text.words.least_epsilon`, with a confidence of 99 %). Beside the four published attackers there is one that
knows the mechanism, and learns style from noisy copies of the known texts. The three bags of words that the source
uses to explain its distance come first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.mail import Author, Corpus, archive, corpus, place
from experiments.report import Result, Row, Table, command
from noisewright.text.attackers import LinearWords, NearestDocuments, RandomSubspaces
from noisewright.text.attackers.attacker import Attacker, success
from noisewright.text.documents.reading import Reader
from noisewright.text.embeddings.embedding import Embedding
from noisewright.text.embeddings.finding import find_embedding, shipped
from noisewright.text.embeddings.packages import DEFAULT
from noisewright.text.embeddings.places import data_folder
from noisewright.text.transport import earth_movers
from noisewright.text.words import exact_words, laplace_words, least_epsilon

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIX = ".nwe"
VOCABULARY = 20_000
KNOWN, SNIPPET = 1500, 200
PUBLISHED = {
    "none": (12, 16, 15, 18),
    "30": (8, 18, 16, 18),
    "20": (5, 11, 11, 16),
    "15": (2, 11, 12, 17),
    "10": (0, 15, 11, 19),
}
"""Right guesses about 20 authors: by neighbours, author and topic; by style and by words, author and topic."""
EPSILONS = {
    "laplace": ("30", "20", "15", "10", "9", "8", "6", "4", "2"),
    "exact": ("4", "3", "2.5", "2", "1.85", "1.75", "1.5", "1"),
}
"""The exact choice keeps as many words at a fraction of the epsilon, so its window lies lower."""
QUICK = {"laplace": ("15", "8", "2"), "exact": ("3", "2", "1")}
NAMES = (
    "author,\nnearest",
    "topic,\nnearest",
    "author,\nstyle",
    "topic,\nwords",
    "author,\nknowing",
    "words\nkept",
)
BAGS = ("president greet press chicago", "chief speaks media illinois", "chef breaks cooking record")
DISTANCES = {(0, 1): 2.816, (0, 2): 4.121, (1, 2): 3.941}
"""Their Earth Mover's distances as published, with other vectors."""
MAKERS: dict[str, Callable[..., Any]] = {"laplace": laplace_words, "exact": exact_words}
SECONDS = (15, 240)
MADE_UP = "2 made-up topics, 20 authors"
RUNS = (1, 3)
ALL, SEED = tuple(range(6)), 11
Text = tuple[str, ...]
SOURCE = "the published table, on other texts and vectors"


class Contest:
    """All attackers on one corpus, before and after noise."""

    def __init__(self, texts: Corpus, embedding: Embedding) -> None:
        self.embedding = embedding
        split = [int(0.6 * len(author.words)) for author in texts.authors]
        self.known: list[Text] = [
            author.words[: min(at, KNOWN)] for author, at in zip(texts.authors, split, strict=True)
        ]
        self.snippets: list[Text] = [
            author.words[at : at + SNIPPET] for author, at in zip(texts.authors, split, strict=True)
        ]
        self.authors = [author.name for author in texts.authors]
        self.topics = [author.topic for author in texts.authors]
        others, labels = [text for _, text in texts.others], [topic for topic, _ in texts.others]
        self.by_nearest: Attacker = NearestDocuments(embedding).fit(self.known, self.authors)
        self.by_style: Attacker = RandomSubspaces().fit(self.known, self.authors)
        self.near_topic: Attacker = NearestDocuments(embedding, neighbours=5).fit(others, labels)
        self.by_words: Attacker = LinearWords().fit(others, labels)

    @property
    def texts(self) -> set[Text]:
        """Everything that noise is put on."""
        return {*self.known, *self.snippets}

    def right(self, noisy: Mapping[Text, Sequence[str]] | None = None) -> tuple[float, ...]:
        """How many guesses of each attacker are right, and the share of words that are kept."""
        snippets, known = (
            [text if noisy is None else noisy[text] for text in texts] for texts in (self.snippets, self.known)
        )
        knowing = RandomSubspaces().fit(known, self.authors)
        guesses = (
            (self.by_nearest, self.authors),
            (self.near_topic, self.topics),
            (self.by_style, self.authors),
            (self.by_words, self.topics),
            (knowing, self.authors),
        )
        pairs = [
            (a, b) for one, two in zip(self.snippets, snippets, strict=True) for a, b in zip(one, two, strict=True)
        ]
        kept = sum(a == b for a, b in pairs) / len(pairs)
        return (*(float(success(attacker, snippets, truth).right) for attacker, truth in guesses), kept)


def obfuscated(texts: Sequence[Text], mechanism: Any, seed: int) -> dict[Text, list[str]]:
    """Every word through the mechanism. Attackers use bags, so the order can stay."""
    ends = np.cumsum([len(text) for text in texts])[:-1]
    words = mechanism.release([word for text in texts for word in text], np.random.default_rng(seed))
    return {text: part.tolist() for text, part in zip(texts, np.split(words, ends), strict=True)}


def made_up(embedding: Embedding) -> Corpus:
    """Two topics of 40 words each around a public word, ten authors a topic who prefer some of them; for a quick run."""
    rng = np.random.default_rng(7)
    authors, others = [], []
    for topic in ("war", "trade"):
        near = np.argsort(embedding.distances(embedding.rows([topic]), np.arange(embedding.size))[0])[:40]
        words = np.array(embedding.words(near), dtype=object)
        for number in range(1, 11):
            drawn = rng.choice(words, 500, p=rng.dirichlet(np.full(40, 0.3)))
            authors.append(Author(f"{topic} {number}", topic, tuple(drawn.tolist())))
        others += [(topic, tuple(rng.choice(words, 60).tolist())) for _ in range(20)]
    return Corpus(tuple(authors), tuple(others))


@cache
def contests(mail: Path, vectors: Path) -> dict[str, Contest]:
    """The corpora by name: two topics as in print, and four. The authors of the two are among those of the four."""
    embedding = Embedding.at(vectors).first(VOCABULARY)
    reader = Reader(embedding)
    two, four = ("talk", "Linux"), ("talk", "Linux", "packages", "spam filters")
    return {
        "2 topics, 20 authors": Contest(corpus(mail, two, 10, words=250, reader=reader), embedding),
        "4 topics, 40 authors": Contest(corpus(mail, four, 10, words=200, reader=reader), embedding),
    }


def result(quick: bool = False, runs: int | None = None) -> Result:
    """Both corpora, both mechanisms, all epsilons; mean counts over the draws."""
    draws = runs or RUNS[0 if quick else 1]
    if quick:
        tables, found_in = [], {MADE_UP: Contest(made_up(shipped()), shipped())}
    else:
        vectors = find_embedding(DEFAULT)
        tables, found_in = [bags(vectors)], contests(archive(), vectors.resource.place())
    rows = {name: {way: [_plain(contest, way, name)] for way in MAKERS} for name, contest in found_in.items()}
    texts = sorted({text for contest in found_in.values() for text in contest.texts})
    embedding = next(iter(found_in.values())).embedding
    bounds: list[Row] = []
    spread = np.zeros(len(NAMES))
    for way, make in MAKERS.items():
        for epsilon in (QUICK if quick else EPSILONS)[way]:
            mechanism = make(embedding, epsilon=epsilon)
            if way == "laplace":
                least = least_epsilon(mechanism, rng=np.random.default_rng(SEED))
                bounds.append(Row((epsilon,), (least,)))
            noisy = [obfuscated(texts, mechanism, seed) for seed in range(draws)]
            for name, contest in found_in.items():
                right = np.array([contest.right(drawn) for drawn in noisy])
                spread = np.maximum(spread, right.std(axis=0, ddof=min(1, draws - 1)) / draws**0.5)
                found = right.mean(axis=0).tolist()
                rows[name][way].append(Row((way, epsilon), tuple(found), _published(epsilon, name), loose=ALL))
    tables += [
        Table(
            f"Right guesses: {name}",
            ("mechanism", "epsilon"),
            NAMES,
            [*of["laplace"], *of["exact"]],
            SOURCE,
            decimals=2,
        )
        for name, of in rows.items()
    ]
    promised = "True epsilon of laplace, by what it promises"
    tables.append(Table(promised, ("promised",), ("at least",), bounds, "nobody", decimals=2))
    findings = {
        f"{name}, {way}: {claim}": holds
        for name, ways in rows.items()
        for way, of in ways.items()
        for claim, holds in _claims(of).items()
    }
    if not quick:
        near, mixed, far = (row.found[0] for row in tables[0].rows)
        findings["the bags that say nearly the same are the nearest, and the orders of distances agree"] = (
            near < far < mixed
        )
    notes = [
        *(
            ["Made-up texts and the small embedding: a whole run fetches mail, and needs noisewright embeddings get."]
            * quick
        ),
        f"Means over {draws} draw{'s' if draws > 1 else ''}; snippets of {SNIPPET} words; counts are out of 20 and 40.",
        "A random guess is right about one author, and about half (two topics) or a quarter (four) of the topics.",
        *(
            [
                f"Standard errors over draws are at most {spread[2]:.1f} authors by style and {spread[3]:.1f} topics by words."
            ]
            * (draws > 1)
        ),
        *(f"{name}, {way}: {_half_way(of)}" for name, ways in rows.items() for way, of in ways.items()),
    ]
    return Result(tables, findings, notes)


def bags(embedding: Embedding) -> Table:
    """The Earth Mover's distances of three bags of four words."""
    words = [bag.split() for bag in BAGS]
    rows = [
        Row((BAGS[a], BAGS[b]), (earth_movers(words[a], words[b], embedding=embedding).mean,), (told,), loose=(0,))
        for (a, b), told in DISTANCES.items()
    ]
    return Table("Earth Mover's distances", ("bag", "other"), ("distance",), rows, SOURCE, decimals=3)


def _plain(contest: Contest, way: str, name: str) -> Row:
    return Row((way, "none"), contest.right(), _published("none", name), loose=ALL)


def _claims(rows: Sequence[Row]) -> dict[str, bool]:
    """The published pattern."""
    plain, last = rows[0].found, rows[-1].found
    lost = [(1 - row.found[2] / plain[2], 1 - row.found[3] / plain[3]) for row in rows]
    return {
        "noise takes authors away: at the smallest epsilon style is right at most half as often": last[2]
        <= plain[2] / 2,
        "topics outlast authors: at some epsilon style loses a fifth of its right guesses or more, topics at most half as "
        "large a share": any(author >= 0.2 and topic <= author / 2 for author, topic in lost),
        "whoever knows the mechanism does at least nearly as well": all(r.found[4] >= r.found[2] - 4 for r in rows),
    }


def _half_way(rows: Sequence[Row]) -> str:
    """What is left where about half of the words are."""
    plain, half = rows[0].found, min(rows[1:], key=lambda row: abs(row.found[5] - 0.5))
    return (
        f"at epsilon {half.label[1]}, where {half.found[5]:.0%} of words are kept, style keeps {half.found[2] / plain[2]:.0%} "
        f"of its right guesses about authors, and words keep {half.found[3] / plain[3]:.0%} of those about topics."
    )


def _published(epsilon: str, name: str) -> tuple[float | None, ...] | None:
    found = PUBLISHED.get(epsilon) if name.startswith("2") else None
    return None if found is None else (*map(float, found), None, None)


def figure(quick: bool = False) -> Figure:
    """Author and topic against epsilon, for both mechanisms."""
    from noisewright.plots.figure import blank_figure

    here = (data_folder() / f"{DEFAULT}{SUFFIX}").exists() and place().exists()
    tables = [table for table in result(quick or not here, runs=1).tables if table.names == NAMES]
    picture = blank_figure(9, 3.6)
    for axes, table in zip(np.atleast_1d(picture.subplots(1, len(tables))), tables, strict=True):
        for way, style in (("laplace", "--"), ("exact", "-")):
            rows = [row for row in table.rows if row.label[0] == way and row.label[1] != "none"]
            places = [float(row.label[1]) for row in rows]
            for column, colour, label in ((2, "#c4500b", "author, by style"), (3, "#2b7bba", "topic, by words")):
                told = f"{label} ({way})"
                axes.plot(places, [row.found[column] for row in rows], style, color=colour, label=told)
        axes.set(xlabel="epsilon for each unit of distance", ylabel="right guesses", title=table.title)
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.legend(frameon=False, fontsize=8)
    return picture


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("author_and_topic", given)


if __name__ == "__main__":
    raise SystemExit(main())
