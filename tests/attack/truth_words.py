"""Whether a claim about words is true: channels over small vocabularies, listed output by output, in decimals.

The weights of levels are made from their definition, and their SHA-256 must be the one that is stated. A claim that needs no file
must hold for every vocabulary in steps of what is said, one with a slope for each that has the slope which is stated. Documents
of two words are listed whole: ordered pairs for ``aligned``, bags for ``matched``.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

__all__ = ["words_hold"]

Document = dict[str, Any]
Channel = list[list[Decimal]]
SLACK = Decimal("1e-40")
FILE = ((256, 0), (256, 128), (-768, 1024))
"""The codes of the file of the honest certificates."""
VOCABULARIES = (
    FILE,
    ((0, 0), (1, 0), (2, 0), (40, 0)),
    ((0, 0), (1, 1), (8, 7), (9, 8), (1, 1)),  # levels round down here and not there
    ((0, 0), (1, 1), (-1000, -999), (1000, 1000)),
    ((0,), (1,), (3,), (2047,), (-2047,)),
)


def words_hold(
    epsilon: Fraction, order: str, multiple: Fraction, free: Fraction | None, sloped: bool, document: Document
) -> bool:
    """Whether this epsilon holds for each unit between words, or between documents that are ``matched`` or ``aligned``.

    Vectors are whole multiples of ``multiple``. If it is said to be ``sloped`` it need only hold for files with the slope that is
    stated, and ``free`` for all.
    """
    parts = document["proof"]["parts"] if order else [document]
    if any(part["proof"]["kind"] != "words" or not 0 < part["proof"]["width"] < 63 for part in parts):
        return False
    return all(_holds_for(codes, epsilon, order, multiple, free, sloped, parts) for codes in VOCABULARIES)


def _holds_for(
    codes: Sequence[tuple[int, ...]],
    epsilon: Fraction,
    order: str,
    multiple: Fraction,
    free: Fraction | None,
    sloped: bool,
    parts: Sequence[Document],
) -> bool:
    vocabulary = codes[: parts[0]["proof"]["words"]]
    distances, channels, sloping = _distances(vocabulary, multiple), [], True
    for part in parts:
        found = _channel(vocabulary, part["proof"])
        if found is None:
            return False
        channels.append(found[0])
        slope = part["proof"].get("slope")
        sloping &= slope is None or _slopes(found[1], distances, _real(Fraction(slope)), part["proof"])
    wholes = [] if sloped and not sloping else [_real(Fraction(epsilon))]  # otherwise it is not the file that was meant
    for allowed in [*wholes, *([] if free is None else [_real(free)])]:
        if not all(_keeps(allowed, channel, distances) for channel in channels):
            return False
        if order and len(vocabulary) <= 3 and not _documents_keep(allowed, order, channels, distances):
            return False
    return True


def _real(value: Fraction | int) -> Decimal:
    return Decimal(Fraction(value).numerator) / Decimal(Fraction(value).denominator)


def _squares(codes: Sequence[tuple[int, ...]]) -> list[list[int]]:
    return [[sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) for y in codes] for x in codes]


def _distances(codes: Sequence[tuple[int, ...]], step: Fraction) -> Channel:
    return [[_real(step) * Decimal(square).sqrt() for square in row] for row in _squares(codes)]


@cache
def _weights(rate: Fraction, cap: Fraction, width: int) -> tuple[list[int], str]:
    """Whole parts of 2^width e^-min(rate (level + 1/2), cap), up to the cap or 2^16 levels, and their SHA-256."""
    table, log, small = [], _real(rate) / 2, (-_real(rate)).exp()
    value = (-log).exp() * (1 << width)
    for level in range((16 << 12) + 1):
        if rate * level + rate / 2 >= cap:
            table.append(int((-_real(cap)).exp() * (1 << width)))
            break
        table.append(int(value))
        value *= small
    return table, hashlib.sha256(",".join(f"{weight:x}" for weight in table).encode()).hexdigest()


def _channel(codes: Sequence[tuple[int, ...]], proof: Document) -> tuple[Channel, list[Decimal]] | None:
    """Probabilities of words, and the logarithms of the sums of weights; None if other integers are stated."""
    rate = Fraction(proof["beta"]) * Fraction(proof["step"]) / 16
    table, digest = _weights(rate, Fraction(proof["cap"]), proof["width"])
    if digest != proof["weights"]:
        return None
    rows = [[table[min(math.isqrt(256 * square), len(table) - 1)] for square in row] for row in _squares(codes)]
    sums = [sum(row) for row in rows]
    return [[Decimal(w) / z for w in row] for row, z in zip(rows, sums, strict=True)], [Decimal(z).ln() for z in sums]


def _slopes(sums: list[Decimal], distances: Channel, slope: Decimal, proof: Document) -> bool:
    """Whether sums of weights are as alike as is stated, half a level on either side for rounding at the least."""
    rounding = _real(Fraction(proof["beta"]) * Fraction(proof["step"]) / 16)
    pairs = itertools.combinations(range(len(sums)), 2)
    return all(
        not distances[x][y] or abs(sums[x] - sums[y]) + rounding <= slope * distances[x][y] * (1 + SLACK)
        for x, y in pairs
    )


def _alike(here: Sequence[Decimal], there: Sequence[Decimal], allowed: Decimal) -> bool:
    return all(abs((a / b).ln()) <= allowed * (1 + SLACK) + SLACK for a, b in zip(here, there, strict=True))


def _keeps(epsilon: Decimal, channel: Channel, distances: Channel) -> bool:
    pairs = itertools.combinations(range(len(channel)), 2)
    return all(_alike(channel[x], channel[y], epsilon * distances[x][y]) for x, y in pairs)


def _documents_keep(epsilon: Decimal, order: str, channels: list[Channel], distances: Channel) -> bool:
    """Documents of two words, the second drawn by the last part."""
    first, second = channels[0], channels[-1]
    words = range(len(first))
    documents = list(itertools.product(words, repeat=2))

    def outputs(a: int, b: int) -> Iterator[tuple[tuple[int, int], Decimal]]:
        for i, j in documents:
            yield ((i, j) if order == "aligned" or i <= j else (j, i)), first[a][i] * second[b][j]

    laws = []
    for document in documents:
        law: Counter[tuple[int, int]] = Counter()
        for output, chance in outputs(*document):
            law[output] += chance  # type: ignore[assignment]
        laws.append([law[output] for output in sorted(law)])
    for (here, (a, b)), (there, (c, d)) in itertools.combinations(zip(laws, documents, strict=True), 2):
        apart = distances[a][c] + distances[b][d]
        if order == "matched":
            apart = min(apart, distances[a][d] + distances[b][c])
        if not _alike(here, there, epsilon * apart):  # type: ignore[arg-type]
            return False
    return True
