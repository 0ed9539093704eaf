"""Words chosen by their distance from the secret word: the proof behind certificates of the kind "words".

Beside checker.py, which looks for this file by name when such a certificate is read. Output y has the integer weight W[level]
and the probability W[level] / Z(x), Z(x) being the sum of the weights of all words of a public file of vectors. The level of
two words is the whole part of 16 times the distance of their integer code vectors; a code is `step` units of distance. The
table W is not listed: it is made here, in whole numbers, and its SHA-256 must be the stated one of the integers that are
drawn from.

With r = beta step / 16 the weight of a level l is a whole number just below 2^width e^(-min(r (l + 1/2), cap)). Let eta bound
the difference between ln W and ln(2^width) - min(beta d, cap) for every distance d of the level (see `rounding`). Then for
words x, x' at distance d > 0 and every output, by the triangle inequality,

    loss <= beta d + 2 eta + |ln Z(x) - ln Z(x')|   and   |ln Z(x) - ln Z(x')| <= beta d + 2 eta,

and two different code vectors are at least one step apart; words with the same vector have the same weights. So

    without the file   epsilon = 2 beta + 4 eta / step               is proved;
    with a slope       epsilon = beta + slope, if the file is one for which 2 eta + |ln Z(x) - ln Z(x')| <= slope d for all pairs.

The slope is a number about the file, and so is the step: that vectors are whole multiples of it. Both are stated, and said to
be stated: only who has the file can look. (With a step k times too long the same weights would prove a k-th of epsilon.)
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __name__ == "noisewright.certificates.checker.checker_words":
    from noisewright.certificates.checker.checker import NotProved, exp_below, is_digest, number, whole

FINE = 16
"""Levels in one unit of a code."""
GUARD = 64
FARTHEST = FINE << 12
"""The last level: code vectors have norms of at most 2^11, and so distances of at most 2^12."""
SLACK = Fraction(1, 1 << 22)
"""A root in single precision is off by 2^-24 of itself; so are the ends of a level, by less than this."""


def weights(rate: Fraction, cap: Fraction, width: int) -> tuple[list[int], Fraction]:
    """The table for r = `rate`, and the most by which ln W is below ln of what it stands for.

    Level l stands for e^(-r (l + 1/2)), up to the cap or the last level that there is. Both ends of an enclosure are multiplied
    by those of e^-r from level to level; a weight is the whole part of the lower end.
    """
    if not 0 < rate <= 1 or not 1 <= cap <= 64 or not 8 <= width < 63:
        raise NotProved("the weights are too coarse: the rate of a level, the cap or the width is out of its range.")
    capped = -((rate / 2 - cap) // rate)  # the first with r (l + 1/2) >= cap
    levels = min(capped, FARTHEST)
    bits = width + GUARD
    (low, high), (down, up) = enclosure(-rate / 2, bits), enclosure(-rate, bits)
    table, worst = [], Fraction(0)
    for level in range(levels + 1):
        if level == capped:
            low, high = enclosure(-cap, bits)
        weight = low >> GUARD
        if not weight:
            raise NotProved("a weight is 0, and a word that cannot come out tells others apart; make the width larger.")
        table.append(weight)
        worst = max(worst, Fraction(high - (weight << GUARD), weight << GUARD))  # ln(1 + t) <= t
        low, high = low * down >> bits, -(-high * up >> bits)
    return table, worst


def rounding(rate: Fraction, cap: Fraction, below: Fraction) -> Fraction:
    """eta: half a level, what single precision moves the ends of levels by, and what whole numbers miss.

    A level has l <= 16 d / step < l + 1, so that beta d is within r / 2 of r (l + 1/2); cutting both at the cap brings them no
    farther apart. Levels up to the cap end below cap + 2 r.
    """
    return rate / 2 + (cap + 2 * rate) * SLACK + below


def enclosure(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Whole numbers around e^exponent 2^bits: e^z is at least a cut of it, and at most 1 over a cut of e^-z."""
    return exp_below(exponent, bits), -(-(1 << 2 * bits) // exp_below(-exponent, bits))


def fingerprint(table: list[int]) -> str:
    """The SHA-256 of the weights, spelled in hexadecimal digits with commas between."""
    return hashlib.sha256(",".join(f"{weight:x}" for weight in table).encode()).hexdigest()


def check_words(epsilon: Fraction, document: Any) -> list[dict[str, Any]]:
    """Prove a claim about words. The result: what it depends on."""
    claim, proof, files = document["claim"], document["proof"], document["resources"]
    metric = {"base": "words", "file": files[0]["sha256"][:12]}
    if len(files) != 1 or claim["metric"] != metric or claim["distances"] != {"shape": "words"}:
        raise NotProved(
            "words are at the distance of their vectors in the one public file that is stated, in no other."
        )
    if number(claim["delta"]) or not is_digest(proof["weights"], 64):
        raise NotProved("a choice of words has no delta, and states the SHA-256 of its weights.")
    beta, cap, step = number(proof["beta"]), number(proof["cap"]), number(proof["step"])
    width, size = whole(proof["width"]), whole(proof["words"])
    if beta <= 0 or step <= 0 or len(str(step)) > 80 or size < 1 or size << width >= 1 << 63:
        raise NotProved("beta and a short step must be above 0, and the sum of all weights below 2^63.")
    rate = beta * step / FINE
    table, below = weights(rate, cap, width)
    if fingerprint(table) != proof["weights"]:
        raise NotProved("the weights that are drawn from are not those of the stated numbers.")
    eta = rounding(rate, cap, below)
    free = 2 * beta + 4 * eta / step
    found: dict[str, Any] = {"code": "word-file", "words": size, "step": str(step)}
    if "slope" not in proof:
        if epsilon < free:
            raise NotProved("beta is too large for the claim.")
        return [found]
    slope, charged = number(proof["slope"]), number(proof["eta"])
    if charged < eta or slope < 0 or epsilon < beta + slope:
        raise NotProved(
            "beta and the slope are too large for the claim, or the weights are rounded by more than is said."
        )
    without = str(free) if free > epsilon else None
    return [found, {"code": "slope", "slope": str(slope), "rounding": str(2 * eta), "without": without}]
