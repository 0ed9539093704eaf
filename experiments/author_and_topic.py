"""Who wrote it against what it is about: attackers on mail whose words were obfuscated.

Run:  noisewright reproduce author_and_topic [--quick] [--runs N] [--json] [--plot FILE.png]

Published in a doctoral thesis on metric privacy as counts of right guesses about 20 and 50 authors of fan fiction in two
fandoms, with word vectors of 300 dimensions; neither the stories nor the vectors can be had. Here the texts are those of
public mailing lists (:mod:`experiments.mail`): two lists with ten authors each as in print, and four lists with ten authors
each. The vectors are the 20,000 most frequent words of GloVe in 100 dimensions. Published numbers are shown beside ours and
need not agree; what is compared is the pattern. Each author has a known text of at most 1,500 words and a snippet of at most
200, and snippets are obfuscated.

Two mechanisms have the same epsilon for each unit of distance: the published one, Laplace noise on vectors and the nearest word,
and the exact choice of words. Beside the four published attackers there is one that knows the mechanism, and learns style from
noisy copies of the known texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.mail import Author, Corpus, archive, corpus, place
from experiments.report import Result, Row, Table, command
from noisewright.text.attackers import LinearWords, NearestDocuments, RandomSubspaces
from noisewright.text.attackers.attacker import Attacker, TrainedOnNoise, success
from noisewright.text.documents.reading import Reader
from noisewright.text.embeddings.embedding import Embedding
from noisewright.text.embeddings.finding import find_embedding, shipped
from noisewright.text.embeddings.packages import DEFAULT
from noisewright.text.embeddings.places import data_folder
from noisewright.text.words import exact_words, laplace_words

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
    "laplace": ("30", "20", "15", "10", "8", "6", "4", "2"),
    "exact": ("6", "4", "3", "2.5", "2", "1.5", "1"),
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
MAKERS: dict[str, Callable[..., Any]] = {"laplace": laplace_words, "exact": exact_words}
SECONDS = (15, 240)
MADE_UP = "2 made-up topics, 20 authors"
RUNS = (1, 3)
SOURCE = "the published table, on other texts and vectors"


class Contest:
    """All attackers on one corpus, before and after noise."""

    def __init__(self, texts: Corpus, embedding: Embedding) -> None:
        self.embedding = embedding
        split = [int(0.6 * len(author.words)) for author in texts.authors]
        self.known = [author.words[: min(at, KNOWN)] for author, at in zip(texts.authors, split, strict=True)]
        self.snippets = [author.words[at : at + SNIPPET] for author, at in zip(texts.authors, split, strict=True)]
        self.authors = [author.name for author in texts.authors]
        self.topics = [author.topic for author in texts.authors]
        others, labels = [text for _, text in texts.others], [topic for topic, _ in texts.others]
        self.by_nearest: Attacker = NearestDocuments(embedding).fit(self.known, self.authors)
        self.by_style: Attacker = RandomSubspaces().fit(self.known, self.authors)
        self.near_topic: Attacker = NearestDocuments(embedding, neighbours=5).fit(others, labels)
        self.by_words: Attacker = LinearWords().fit(others, labels)

    def right(self, mechanism: Any = None, seed: int = 0) -> tuple[float, ...]:
        """How many guesses of each attacker are right, and the share of words that are kept."""
        rng = np.random.default_rng(seed)
        noisy = partial(obfuscated, mechanism=mechanism, rng=rng)
        snippets = noisy(self.snippets)
        knowing = TrainedOnNoise(RandomSubspaces(), noisy, copies=1) if mechanism else RandomSubspaces()
        guesses = (
            (self.by_nearest, self.authors),
            (self.near_topic, self.topics),
            (self.by_style, self.authors),
            (self.by_words, self.topics),
            (knowing.fit(self.known, self.authors), self.authors),
        )
        pairs = [
            (a, b) for one, two in zip(self.snippets, snippets, strict=True) for a, b in zip(one, two, strict=True)
        ]
        kept = sum(a == b for a, b in pairs) / len(pairs)
        return (*(float(success(attacker, snippets, truth).right) for attacker, truth in guesses), kept)


def obfuscated(documents: Sequence[Sequence[str]], mechanism: Any, rng: np.random.Generator) -> list[list[str]]:
    """Every word through the mechanism; without one the documents as they are. Attackers use bags, so the order can stay."""
    if mechanism is None:
        return [list(document) for document in documents]
    ends = np.cumsum([len(document) for document in documents])[:-1]
    words = mechanism.release([word for document in documents for word in document], rng)
    return [part.tolist() for part in np.split(words, ends)]


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
    """The corpora by name: two topics as in print, and four."""
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
        found_in = {MADE_UP: Contest(made_up(shipped()), shipped())}
    else:
        found_in = contests(archive(), find_embedding(DEFAULT).resource.place())
    tables, findings = [], {}
    for name, contest in found_in.items():
        rows: dict[str, list[Row]] = {}
        plain = contest.right()
        for way, make in MAKERS.items():
            rows[way] = [Row((way, "none"), plain, _published("none", name), loose=tuple(range(6)))]
            for epsilon in (QUICK if quick else EPSILONS)[way]:
                mechanism = make(contest.embedding, epsilon=epsilon)
                found = np.mean([contest.right(mechanism, seed) for seed in range(draws)], axis=0)
                rows[way].append(
                    Row((way, epsilon), tuple(map(float, found)), _published(epsilon, name), loose=tuple(range(6)))
                )
        tables.append(
            Table(
                f"Right guesses: {name}",
                ("mechanism", "epsilon"),
                NAMES,
                [row for of in rows.values() for row in of],
                SOURCE,
                decimals=2,
            )
        )
        findings |= {
            f"{name}, {way}: {claim}": holds for way, of in rows.items() for claim, holds in _claims(of).items()
        }
    notes = [
        *(
            ["Made-up texts and the small embedding: a whole run fetches mail, and needs noisewright embeddings get."]
            * quick
        ),
        f"Means over {draws} draw{'s' if draws > 1 else ''}; snippets of {SNIPPET} words; counts are out of 20 and 40.",
        "A random guess is right about one author, and about half (two topics) or a quarter (four) of the topics.",
    ]
    return Result(tables, findings, notes)


def _claims(rows: Sequence[Row]) -> dict[str, bool]:
    """The published pattern."""
    plain, last = rows[0].found, rows[-1].found
    middle = min(
        (row.found for row in rows[1:]), key=lambda found: abs(found[5] - 0.5)
    )  # where half of the words are kept
    return {
        "noise takes authors away: at the smallest epsilon style is right at most half as often": last[2]
        <= plain[2] / 2,
        "topics last at least as long as authors": middle[3] / plain[3] >= middle[2] / plain[2],
        "whoever knows the mechanism does at least nearly as well": all(r.found[4] >= r.found[2] - 4 for r in rows),
    }


def _published(epsilon: str, name: str) -> tuple[float | None, ...] | None:
    found = PUBLISHED.get(epsilon) if name.startswith("2") else None
    return None if found is None else (*map(float, found), None, None)


def figure() -> Figure:
    """Author and topic against epsilon, for both mechanisms."""
    from matplotlib.figure import Figure

    here = (data_folder() / f"{DEFAULT}{SUFFIX}").exists() and place().exists()
    tables = result(quick=not here, runs=1).tables
    picture = Figure(figsize=(9, 3.6), layout="constrained")
    for axes, table in zip(np.atleast_1d(picture.subplots(1, max(1, len(tables)))), tables, strict=False):
        for way, style in (("laplace", "--"), ("exact", "-")):
            rows = [row for row in table.rows if row.label[0] == way and row.label[1] != "none"]
            places = [float(row.label[1]) for row in rows]
            for column, colour, label in ((2, "#c4500b", "author, by style"), (3, "#2b7bba", "topic, by words")):
                told = f"{label} ({way})"
                axes.plot(places, [row.found[column] for row in rows], style, color=colour, label=told)
        axes.set(xlabel="epsilon for each unit of distance", ylabel="right guesses", title=table.title)
        axes.legend(frameon=False, fontsize=8)
    return picture


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("author_and_topic", given)


if __name__ == "__main__":
    raise SystemExit(main())
