"""Who wrote it against what it is about: attackers on mail whose words were obfuscated.

Run:  noisewright reproduce author_and_topic [--quick] [--runs N] [--json] [--plot FILE.png]

Published in a doctoral thesis on metric privacy as counts of right guesses about 20 and 50 authors of fan fiction in two
fandoms, with word vectors of 300 dimensions; neither the stories nor the vectors can be had. Here the texts are those of
public mailing lists (:mod:`experiments.mail`): two lists with ten authors each as in print, and four lists with ten authors
each. The vectors are the 20,000 most frequent words of GloVe in 100 dimensions. Published numbers are shown beside ours and
need not agree; what is compared is the pattern. Each author has a known text of at most 1,500 words and a snippet of at most
200, and snippets are obfuscated.

Every attacker that the package has is tried on authors and on topics: the nearest document, style (n-grams of characters) and
words (a linear classifier). Style and words are tried a second time by an adversary who knows the mechanism and learns from one
noisy copy of every known text. About authors they learn from the known texts; about topics from those and from the messages
of all others on the lists. The strongest is the one that is right most often, in hindsight.

Two mechanisms are compared: the published one, Laplace noise on vectors and the nearest word, and the exact choice of words. The
epsilon of a row is what is promised for each unit of distance. That of the choice is its true one; the true one of noise
with decoding is not known, and the last table says what it is at least
(:func:`~noisewright.text.least_epsilon`, with a confidence of 99 %). The three bags of words that the source uses
to explain its distance come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.mail import Author, Corpus, archive, corpus, place
from experiments.report import Result, Row, Table, command
from noisewright.attacks import LinearWords, NearestDocuments, RandomSubspaces
from noisewright.attacks.base import Attacker, success
from noisewright.text import earth_movers, exact_words, laplace_words, least_epsilon
from noisewright.text.documents import Reader
from noisewright.text.embedding import Embedding, data_folder, find_embedding, shipped
from noisewright.text.embedding_training import DEFAULT

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
TASKS = ("author", "topic")
NAMES = ("nearest", "style", "words", "style,\nknowing", "words,\nknowing", "strongest", "words\nkept")
NEAREST, STYLE, WORDS, STRONGEST, KEPT = 0, 1, 2, 5, 6
PRINTED = {"author": {NEAREST: 0, STYLE: 2}, "topic": {NEAREST: 1, WORDS: 3}}
"""By task: of an attacker, the place of its published number."""
BAGS = ("president greet press chicago", "chief speaks media illinois", "chef breaks cooking record")
DISTANCES = {(0, 1): 2.816, (0, 2): 4.121, (1, 2): 3.941}
"""Their Earth Mover's distances as published, with other vectors."""
STRONG: tuple[Callable[[], Attacker], ...] = (RandomSubspaces, LinearWords)
"""Attackers that are also tried with knowledge of the mechanism."""
MAKERS: dict[str, Callable[..., Any]] = {"laplace": laplace_words, "exact": exact_words}
SECONDS = (20, 700)
MADE_UP = "2 made-up topics, 20 authors"
RUNS = (1, 2)
ALL, SEED = tuple(range(7)), 11
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
        authors, topics = ([getattr(one, what) for one in texts.authors] for what in ("name", "topic"))
        self.truths = {"author": authors, "topic": topics}
        others = [text for _, text in texts.others]
        self.learned = {
            "author": (self.known, authors),
            "topic": ([*others, *self.known], [*(topic for topic, _ in texts.others), *topics]),
        }
        self.fitted: dict[str, list[Attacker]] = {}
        for task, neighbours in (("author", 1), ("topic", 5)):
            tried: list[Attacker] = [NearestDocuments(embedding, neighbours=neighbours), *(make() for make in STRONG)]
            self.fitted[task] = [one.fit(*self.learned[task]) for one in tried]

    @property
    def blind(self) -> float:
        """Right guesses about topics of an adversary who always names the most frequent one."""
        return float(max(Counter(self.truths["topic"]).values()))

    @property
    def texts(self) -> set[Text]:
        """Everything that noise is put on."""
        return {*self.learned["topic"][0], *self.snippets}

    def right(self, noisy: Mapping[Text, Sequence[str]] | None = None) -> dict[str, tuple[float, ...]]:
        """Return for each task how many guesses of each attacker are right, and the share of words that are kept."""
        snippets = [text if noisy is None else noisy[text] for text in self.snippets]
        found = {}
        for task, truth in self.truths.items():
            texts, labels = self.learned[task]
            copies = texts if noisy is None else [noisy[text] for text in texts]
            knowing: list[Attacker] = [make().fit(copies, labels) for make in STRONG]
            found[task] = tuple(float(success(one, snippets, truth).right) for one in (*self.fitted[task], *knowing))
        pairs = [
            (a, b) for one, two in zip(self.snippets, snippets, strict=True) for a, b in zip(one, two, strict=True)
        ]
        kept = sum(a == b for a, b in pairs) / len(pairs)
        return {task: (*counts, kept) for task, counts in found.items()}


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
    rows: dict[str, dict[str, dict[str, list[Row]]]] = {
        name: {task: {way: [] for way in MAKERS} for task in TASKS} for name in found_in
    }
    texts = sorted({text for contest in found_in.values() for text in contest.texts})
    embedding = next(iter(found_in.values())).embedding
    bounds: list[Row] = []
    spread = 0.0
    for way, make in MAKERS.items():
        for epsilon in ("none", *(QUICK if quick else EPSILONS)[way]):
            mechanism = None if epsilon == "none" else make(embedding, epsilon=epsilon)
            if way == "laplace" and mechanism is not None:
                least = least_epsilon(mechanism, rng=np.random.default_rng(SEED))
                bounds.append(Row((epsilon,), (least,)))
            noisy = [None if mechanism is None else obfuscated(texts, mechanism, seed) for seed in range(draws)]
            noisy = noisy[:1] if mechanism is None else noisy
            for name, contest in found_in.items():
                counted = [contest.right(drawn) for drawn in noisy]
                for task in TASKS:
                    right = np.array([one[task] for one in counted])
                    spread = max(
                        spread, float(right[:, :-1].std(axis=0, ddof=min(1, len(right) - 1)).max()) / len(right) ** 0.5
                    )
                    *found, kept = right.mean(axis=0).tolist()
                    row = Row((way, epsilon), (*found, max(found), kept), _published(epsilon, name, task), loose=ALL)
                    rows[name][task][way].append(row)
    tables += [
        Table(
            f"Right guesses about {task}s: {name}",
            ("mechanism", "epsilon"),
            NAMES,
            [*of["laplace"], *of["exact"]],
            SOURCE,
            decimals=2,
        )
        for name, tasks in rows.items()
        for task, of in tasks.items()
    ]
    promised = "True epsilon of laplace, by what it promises"
    tables.append(Table(promised, ("promised",), ("at least",), bounds, "nobody", decimals=2))
    findings = {
        f"{name}, {way}: {claim}": holds
        for name, tasks in rows.items()
        for way in MAKERS
        for claim, holds in _claims(tasks["author"][way], tasks["topic"][way]).items()
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
        *([f"Standard errors over draws are at most {spread:.1f} guesses."] * (draws > 1)),
        *(
            f"{name}, {way}: {_half_way(*of)} {_outlasting(*of, found_in[name].blind).capitalize()}"
            for name, tasks in rows.items()
            for way in MAKERS
            for of in [(tasks["author"][way], tasks["topic"][way])]
        ),
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


def _claims(authors: Sequence[Row], topics: Sequence[Row]) -> dict[str, bool]:
    """Return the claims about the strongest attackers, and about style, which the source looked at."""
    last = [rows[-1].found[STRONGEST] / rows[0].found[STRONGEST] for rows in (authors, topics)]
    return {
        "noise takes authors away: at the smallest epsilon the strongest attacker names at most half as many": last[0]
        <= 0.5,
        "at the smallest epsilon fewer topics are named than without noise": last[1] < 1,
        "style is not the strongest: at some epsilon another attacker names at least a tenth more of the authors": any(
            row.found[STRONGEST] - row.found[STYLE] >= 0.1 * authors[0].found[STRONGEST] for row in authors[1:]
        ),
    }


def _outlasting(authors: Sequence[Row], topics: Sequence[Row], blind: float) -> str:
    """Return at how many epsilons the strongest attackers keep a larger share of authors than of topics, beyond blind guesses."""
    kept = [
        [(row.found[STRONGEST] - least) / (rows[0].found[STRONGEST] - least) for row in rows[1:]]
        for rows, least in ((authors, 1.0), (topics, blind))
    ]
    more = sum(author > topic for author, topic in zip(*kept, strict=True))
    return (
        f"beyond blind guesses, a larger share of authors than of topics is left at {more} of {len(kept[0])} epsilons."
    )


def _half_way(authors: Sequence[Row], topics: Sequence[Row]) -> str:
    """Return the right guesses of the strongest attackers where about half of the words are kept."""
    place = min(range(1, len(authors)), key=lambda place: abs(authors[place].found[KEPT] - 0.5))
    author, topic = authors[place], topics[place]
    return (
        f"at epsilon {author.label[1]}, where {author.found[KEPT]:.0%} of words are kept, the strongest attackers name "
        f"{author.found[STRONGEST]:.1f} authors ({authors[0].found[STRONGEST]:.0f} without noise) and "
        f"{topic.found[STRONGEST]:.1f} topics ({topics[0].found[STRONGEST]:.0f})."
    )


def _published(epsilon: str, name: str, task: str) -> tuple[float | None, ...] | None:
    found = PUBLISHED.get(epsilon) if name.startswith("2 topics") else None
    printed = PRINTED[task]
    return (
        None if found is None else tuple(float(found[printed[i]]) if i in printed else None for i in range(len(NAMES)))
    )


def figure(quick: bool = False) -> Figure:
    """Author and topic against epsilon, for both mechanisms."""
    from noisewright.plotting.mechanisms import blank_figure

    here = (data_folder() / f"{DEFAULT}{SUFFIX}").exists() and place().exists()
    tables = [table for table in result(quick or not here, runs=1).tables if table.names == NAMES]
    picture = blank_figure(9, 3.6)
    pairs = list(zip(tables[::2], tables[1::2], strict=True))
    for axes, pair in zip(np.atleast_1d(picture.subplots(1, len(pairs))), pairs, strict=True):
        for way, style in (("laplace", "--"), ("exact", "-")):
            for task, table, colour in zip(TASKS, pair, ("#c4500b", "#2b7bba"), strict=True):
                rows = [row for row in table.rows if row.label[0] == way and row.label[1] != "none"]
                places, right = [float(row.label[1]) for row in rows], [row.found[STRONGEST] for row in rows]
                axes.plot(places, right, style, color=colour, label=f"{task}s ({way})")
        title = pair[0].title.partition(": ")[2]
        axes.set(xlabel="epsilon for each unit of distance", ylabel="right guesses of the strongest", title=title)
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.legend(frameon=False, fontsize=8)
    return picture


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("author_and_topic", given)


if __name__ == "__main__":
    raise SystemExit(main())
