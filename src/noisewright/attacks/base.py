"""Attackers on texts, their success rate, and attackers that know the mechanism.

An attacker is fitted to documents whose labels (authors, topics) it knows, and names the labels of others. A document
is a list of words. The measure is the share of right answers compared with always guessing the most frequent label.

>>> from noisewright.attacks.authorship import RandomSubspaces
>>> known = [["colour", "harbour", "grey"], ["color", "harbor", "gray"]]
>>> sides = ["British", "American"]
>>> attacker = RandomSubspaces(order=3, seed=1).fit(known, sides)
>>> found = success(attacker, [["colours"], ["colors"]], sides)
>>> found.right, found.asked, found.chance
(2, 2, 0.5)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from noisewright.exceptions import DataError, ParameterError

__all__ = ["Attacker", "Document", "Success", "Task", "TrainedOnNoise", "check_known", "halves", "outcomes", "success"]


Document = Sequence[str]
"""The words of a document, in any order."""
Obfuscate = Callable[[Sequence[Document]], Sequence[Document]]
"""A mechanism on documents: one noisy document for each."""


class Attacker(Protocol):
    """Learns labels from documents, and guesses those of others."""

    def fit(self, documents: Sequence[Document], labels: Sequence[str]) -> Self:
        """Learn from documents whose labels are known."""

    def predict(self, documents: Sequence[Document]) -> list[str]:
        """The best guess for each document."""


@dataclass(frozen=True)
class Success:
    """Success rate of an attacker."""

    right: int
    asked: int
    chance: float
    """The share of right answers of anyone who always names the most frequent label."""

    @property
    def share(self) -> float:
        """The share of right answers."""
        return self.right / self.asked

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """An interval that covers the attacker's success on such documents with this confidence (Clopper and Pearson).

        >>> [round(end, 3) for end in Success(7, 20, 0.05).interval()]
        [0.154, 0.592]
        """
        from noisewright.estimation.result import tail_interval

        ends = tail_interval(np.array([self.share]), (0.0, 1.0), self.asked, confidence, either=True)
        return float(ends[0][0]), float(ends[1][0])


class TrainedOnNoise:
    """An attacker that knows the mechanism: it obfuscates its known texts several times, and learns from those.

    Anyone who can download the mechanism can do this, so an honest evaluation includes it.
    """

    def __init__(self, attacker: Attacker, obfuscate: Obfuscate, *, copies: int = 3) -> None:
        if isinstance(copies, bool) or not isinstance(copies, int) or copies < 1:
            raise ParameterError("the number of noisy copies is a whole number from 1 on.")
        self._attacker, self._obfuscate, self._copies = attacker, obfuscate, copies

    def fit(self, documents: Sequence[Document], labels: Sequence[str]) -> Self:
        """Learn from noisy copies of the known texts."""
        check_known(documents, labels)
        noisy = [document for _ in range(self._copies) for document in self._obfuscate(documents)]
        self._attacker.fit(noisy, list(labels) * self._copies)
        return self

    def predict(self, documents: Sequence[Document]) -> list[str]:
        """The guesses of the attacker inside."""
        return self._attacker.predict(documents)


def success(attacker: Attacker, documents: Sequence[Document], labels: Sequence[str]) -> Success:
    """Return how often a fitted attacker names the true labels."""
    check_known(documents, labels)
    right = sum(guess == label for guess, label in zip(attacker.predict(documents), labels, strict=True))
    return Success(right, len(labels), max(Counter(labels).values()) / len(labels))


def check_known(documents: Sequence[Document], labels: Sequence[str]) -> None:
    """Refuse documents without labels, or the other way round, and anything but lists of words."""
    if not len(documents) or len(documents) != len(labels):
        raise DataError(
            f"there are {len(documents)} documents and {len(labels)} labels; every document needs one, and there must be some."
        )
    if any(isinstance(document, str) or not len(document) for document in documents):
        raise DataError("a document is a list of words, at least one; split texts into words first.")
    if any(isinstance(label, float) and math.isnan(label) for label in labels):
        raise DataError("a label is missing; leave out documents without one.")


# Evaluation ---------------------------------------------------------------------------------------------------------------
#
# Success of attackers before and after documents are obfuscated.
#
# All attackers learn from the same known documents and are tested on the same others. Some know the mechanism, and learn
# from noisy copies of their texts. These results are not private: the numbers are computed from the documents
# themselves.


Makers = Mapping[str, Callable[[], Attacker]]
KNOWING = "knows the mechanism: "


@dataclass(frozen=True)
class Task:
    """Documents whose labels an attacker knows, and others whose labels it must name."""

    known: Sequence[Document]
    labels: Sequence[str]
    asked: Sequence[Document]
    truths: Sequence[str]

    def __post_init__(self) -> None:
        check_known(self.known, self.labels)
        check_known(self.asked, self.truths)


def halves(documents: Sequence[Document], labels: Sequence[str]) -> Task:
    """Make every other document of each label known, and attack the rest; labels with a single document are only
    known.

    >>> task = halves([["a"], ["b"], ["c"], ["d"]], ["x", "x", "y", "x"])
    >>> task.labels, task.truths
    (['x', 'y', 'x'], ['x'])
    """
    check_known(documents, labels)
    seen: dict[str, int] = {}
    known: list[tuple[Document, str]] = []
    asked: list[tuple[Document, str]] = []
    for document, label in zip(documents, labels, strict=True):
        (asked if seen.get(label, 0) % 2 else known).append((document, label))
        seen[label] = seen.get(label, 0) + 1
    if len(seen) < 2 or not asked:
        raise DataError("an attack needs two labels or more, and two documents or more of some of them.")
    return Task(
        [d for d, _ in known], [label for _, label in known], [d for d, _ in asked], [label for _, label in asked]
    )


def outcomes(
    task: Task, makers: Makers, obfuscate: Obfuscate | None = None, *, knowing: Sequence[str] = (), copies: int = 2
) -> dict[str, Success]:
    """Return how often each attacker is right about documents that went through ``obfuscate``.

    Those in ``knowing`` are tried a second time, as attackers that learned from noisy copies.
    """
    asked = task.asked if obfuscate is None else obfuscate(task.asked)
    found = {name: success(make().fit(task.known, task.labels), asked, task.truths) for name, make in makers.items()}
    if obfuscate is None:
        return found
    for name in knowing:
        attacker = TrainedOnNoise(makers[name](), obfuscate, copies=copies)
        found[f"{KNOWING}{name}"] = success(attacker.fit(task.known, task.labels), asked, task.truths)
    return found
