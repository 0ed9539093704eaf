"""Success of attackers before and after documents are obfuscated.

All attackers learn from the same known documents and are tested on the same others. Some know the mechanism, and learn
from noisy copies of their texts. These results are not private: the numbers are computed from the documents
themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from noisewright.core.errors import DataError
from noisewright.text.attackers.attacker import Attacker, Document, Success, TrainedOnNoise, check_known, success

__all__ = ["Task", "halves", "outcomes"]

Makers = Mapping[str, Callable[[], Attacker]]
Obfuscate = Callable[[Sequence[Document]], Sequence[Document]]
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
