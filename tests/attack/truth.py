"""The loss of a proof from definitions alone, in decimals of 60 digits; nothing here is the checker's.

The integers of a proof are taken for what they are, a table of probabilities or the law of noise, and the largest log-ratio is
computed: over all pairs and outputs where there are few, otherwise over a stretch of whole numbers after which the law repeats
itself. :mod:`tests.attack.truth_claims` holds records of claims against it, :mod:`tests.attack.truth_release` those of releases.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

__all__ = [
    "Claim",
    "Document",
    "TooLargeError",
    "UntrueError",
    "any_two",
    "apart",
    "at_most",
    "dec",
    "holds",
    "law_loss",
    "rows_of",
]

Document = dict[str, Any]
SLACK = Decimal("1e-45")
"""The error that decimals of 60 digits may have; a forgery is nudged by 2^-60 at the least."""
LISTED = ("table", "response", "chances", "constant")


class UntrueError(Exception):
    """Something that is said is not so, or is not understood here, which counts as not so."""


class TooLargeError(UntrueError):
    """It would take too long here to find out whether something is so."""


@dataclass(frozen=True)
class Claim:
    """An epsilon for each unit of factor times a base, or between neighbours, at most 1 apart; ``step`` is that of the noise."""

    epsilon: Fraction
    delta: Fraction
    factor: Fraction
    base: dict[str, Any]
    step: Fraction
    near: bool


def dec(value: Fraction | int) -> Decimal:
    """Return a fraction as a decimal."""
    return Decimal(Fraction(value).numerator) / Decimal(Fraction(value).denominator)


def at_most(loss: Decimal, allowed: Fraction) -> bool:
    """Return whether a loss is allowed, up to the error that decimals may have."""
    return loss <= dec(allowed) * (1 + SLACK)


def _ln(a: Fraction | int, b: Fraction | int) -> Decimal:
    if not a or not b:
        return Decimal(0) if a == b else Decimal("inf")
    return abs((dec(a) / dec(b)).ln())


# One certificate ----------------------------------------------------------------------------------------------------------


def holds(claim: Claim, document: Document) -> bool:
    """Return whether a claim is true, for every certificate except products and words."""
    proof, base = document["proof"], claim.base
    if proof["kind"] == "weights":  # with many outputs both ratios come as near to their bound as one likes
        stated = Fraction(document["claim"]["distances"]["distance"])
        if base not in ({}, {"base": "discrete"}):
            raise UntrueError("weights have no labels that could be so far apart")
        return at_most(2 * _ln(proof["most"], proof["least"]), claim.epsilon * (claim.factor if base else stated))
    if proof["kind"] in LISTED:
        rows = rows_of(document)
        if proof["kind"] == "constant":
            return claim.epsilon >= 0 and claim.delta >= 0
        distance = apart(claim.factor, base, document, len(rows))
        pairs = itertools.permutations(range(len(rows)), 2)
        return all(
            (far := distance(x, y)) is None or alike(rows[x], rows[y], claim.epsilon * far, claim.delta)
            for x, y in pairs
        )
    return _noise_holds(claim, document)


def _noise_holds(claim: Claim, document: Document) -> bool:
    proof, base, step, epsilon = document["proof"], claim.base, claim.step, claim.epsilon
    name, many = base.get("base"), proof.get("coordinates", proof.get("candidates", 1))
    if proof["kind"] == "planar":
        around = base.get("around")
        if name not in ("euclidean", "metres") or around != proof.get("around") or claim.near or claim.delta:
            raise UntrueError("noise in the plane is about the plane")
        return at_most(dec(Fraction(proof["rate"])), epsilon * claim.factor * step)
    if name not in ("line", "manhattan", "largest", "sum") or (name == "line" and many > 1):
        raise UntrueError("noise on numbers is about numbers")
    if base.get("count", many) != many or (proof["kind"] != "law" and name not in ("line", "manhattan")):
        raise UntrueError("another number of numbers")
    if claim.near:  # how many steps two numbers are apart at most that are at most 1 apart before they are rounded
        count = math.ceil(1 / (claim.factor * step))
        if proof["kind"] == "ranged":
            return not claim.delta and _ranged_near(epsilon, 1 / claim.factor, step, document)
        if proof["kind"] != "law" or (name == "manhattan" and many > 1):
            raise UntrueError("neighbours of another kind")
        if proof["law"] == "discrete laplace":
            count = {"sum": count + many - 1, "largest": count * many}.get(str(name), count)
        elif many > 1 and proof["law"] != "exponential choice":
            raise UntrueError("several numbers with a law for one")
        return (
            law_delta(epsilon, claim.delta, count, proof) if claim.delta else at_most(law_loss(count, proof), epsilon)
        )
    per_step = epsilon * claim.factor * step
    if claim.delta:
        return False
    if proof["kind"] == "ranged":
        points = _points(proof["inputs"])
        return all(at_most(_ranged_loss(i, j, proof), per_step * (j - i)) for i, j in itertools.pairwise(points))
    if proof["kind"] == "half line":
        return _half_line(per_step, proof)
    if proof["kind"] != "law":
        raise UntrueError(f"a proof of the kind {proof['kind']}")
    if name in ("largest", "sum") and proof["law"] != "exponential choice":
        raise UntrueError("a distance that grows between many numbers")
    return all(at_most(law_loss(n, proof), per_step * n) for n in (1, 2, 3, 7))


def any_two(document: Document) -> tuple[Decimal, Fraction]:
    """Return the largest loss between any two values that a certificate is about, with its delta; infinite without ends."""
    proof, claim = document["proof"], document["claim"]
    if proof["kind"] == "weights":
        return 2 * _ln(proof["most"], proof["least"]), Fraction(0)
    if proof["kind"] in LISTED:
        rows, delta = rows_of(document), Fraction(claim["delta"])
        pairs = list(itertools.permutations(rows, 2))
        if not delta:
            return max(max(map(_ln, x, y)) for x, y in pairs), delta
        epsilon = Fraction(claim["epsilon"]) * Fraction(claim["distances"]["distance"])
        return (dec(epsilon) if all(alike(x, y, epsilon, delta) for x, y in pairs) else Decimal("inf")), delta
    single = proof.get("coordinates", 1) == 1 and "norm" not in proof
    if proof["kind"] == "law" and proof.get("clamp") and document.get("outside") in ("refuse", "clamp") and single:
        return law_loss(proof["clamp"][1] - proof["clamp"][0], proof), Fraction(0)
    if proof["kind"] == "ranged" and None not in (proof["inputs"][0][0], proof["inputs"][-1][1]):
        return _ranged_loss(proof["inputs"][0][0], proof["inputs"][-1][1], proof), Fraction(0)
    return Decimal("inf"), Fraction(0)


# Tables of probabilities --------------------------------------------------------------------------------------------------


def rows_of(document: Document) -> list[list[Fraction]]:
    """Return the probabilities of outputs, secret by secret; those of an oracle as its reports are drawn."""
    proof, oracle = document["proof"], document.get("oracle")
    if proof["kind"] == "constant":
        return [[Fraction(1)]] * 2
    if proof["kind"] == "chances":
        rows = [[Fraction(entry, proof["total"]) for entry in row] for row in proof["table"]]
    elif proof["kind"] == "table":
        rows = [[Fraction(int(entry, 16), 1 << proof["width"]) for entry in row] for row in proof["table"]]
    else:
        keep, other = (Fraction(int(proof[name], 16), 1 << proof["width"]) for name in ("keep", "other"))
        size = min(proof["size"], 6)  # all others are alike
        if keep + (proof["size"] - 1) * other != 1:
            raise UntrueError("no probabilities")
        rows = [[keep if x == y else other for y in range(size)] for x in range(size)]
        rows = rows if size == proof["size"] else [[*row, 1 - sum(row, Fraction(0))] for row in rows]
    if any(sum(row) != 1 or min(row) < 0 for row in rows) or len(rows) < 2:
        raise UntrueError("no probabilities, or those of one secret")
    return rows if oracle is None else _reports(document["mechanism"], oracle, proof, rows)


def _reports(name: str, oracle: Document, proof: Document, rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """Return the channel from categories to reports, for few of both."""
    domain = oracle["domain"]
    count = domain if isinstance(domain, int) else len(domain)
    size = min(count, 5)
    if name == "local-hashing":
        return rows
    if name == "hadamard-response":
        length, blocks = oracle["length"], proof["size"] // 2
        if length > 4096:
            raise TooLargeError("too many reports")
        if blocks * (length - 1) < count:
            raise UntrueError("blocks that do not hold the categories")
        keep, other = rows[0][0], rows[0][1]
        found = []
        for code in range(size):
            block, row = divmod(code, length - 1)
            halves = [(b, bin((row + 1) & spot).count("1") % 2) for b in range(blocks) for spot in range(length)]
            found.append([(keep if (b, odd) == (block, 0) else other) / (length // 2) for b, odd in halves])
        return found
    if name == "unary-encoding":
        own, foreign = rows[0][0] + rows[0][1], rows[0][0] + rows[0][2]
        every = list(itertools.product((0, 1), repeat=size))
        chances = [[own if c == x else foreign for c in range(size)] for x in range(size)]
        return [
            [
                math.prod((p if bit else 1 - p for p, bit in zip(row, bits, strict=True)), start=Fraction(1))
                for bits in every
            ]
            for row in chances
        ]
    held = rows[0][0] + rows[0][1]
    chosen = next((d for d in range(1, min(count, 10)) if held * (d - 1) == rows[0][0] * (count - 1)), None)
    if name == "subset-selection" and count > 9:
        raise TooLargeError("too many sets")
    if name != "subset-selection" or chosen is None:
        raise UntrueError("no oracle that is known here")
    sets = list(itertools.combinations(range(count), chosen))
    inside, outside = math.comb(count - 1, chosen - 1), math.comb(count - 1, chosen)
    return [[held / inside if x in s else (1 - held) / outside for s in sets] for x in range(count)]


def apart(factor: Fraction, base: Document, document: Document, size: int) -> Callable[[int, int], Fraction | None]:
    """Return the distance of two rows, None if it is infinite; a square root is rounded by so little that it does not matter."""
    stated, name = document["claim"]["distances"], base.get("base")
    if name == "discrete":
        return lambda x, y: factor
    if not base and stated["shape"] == "uniform":
        return lambda x, y: Fraction(stated["distance"])
    if not base and stated["shape"] == "line":
        places = [Fraction(place) for place in stated["places"]]
        return lambda x, y: abs(places[x] - places[y])
    if not base:
        known = dict(zip(itertools.combinations(range(size), 2), stated["distances"], strict=True))
        return lambda x, y: None if known[min(x, y), max(x, y)] == "inf" else Fraction(known[min(x, y), max(x, y)])
    points = [_label(label) for label in document["inputs"]]
    if len(points) != size or "lattice" in base:
        raise UntrueError("other labels than rows, or labels that are rounded")
    if name == "hamming":
        return lambda x, y: factor * sum(a != b for a, b in zip(points[x], points[y], strict=True))
    flat = [point if isinstance(point, tuple) else (point,) for point in points]
    if name not in ("line", "manhattan", "euclidean") or (name == "line" and any(len(point) != 1 for point in flat)):
        raise UntrueError(f"labels that are apart by {name}")

    def distance(x: int, y: int) -> Fraction:
        between = [abs(a - b) for a, b in zip(flat[x], flat[y], strict=True)]
        if name == "euclidean":
            return factor * Fraction(dec(sum((b * b for b in between), Fraction(0))).sqrt())
        return factor * sum(between, Fraction(0))

    return distance


def _label(label: Any) -> Any:
    if isinstance(label, dict):
        (key,) = label
        return tuple(map(_label, label["tuple"])) if key == "tuple" else Fraction(label[key])
    return Fraction(label) if isinstance(label, (int, float)) and not isinstance(label, bool) else label


def alike(here: Iterable[Fraction], there: Iterable[Fraction], allowed: Fraction, delta: Fraction) -> bool:
    """Return whether one row is at most e^allowed times another, up to delta."""
    if not delta:
        return all(a == b or at_most(_ln(a, b), allowed) for a, b in zip(here, there, strict=True))
    if allowed > 10**5:
        return True
    most = dec(allowed).exp()
    excess = sum((max(dec(a) - most * dec(b), Decimal(0)) for a, b in zip(here, there, strict=True)), Decimal(0))
    return excess <= dec(delta) * (1 + SLACK) + SLACK


# Laws ---------------------------------------------------------------------------------------------------------------------


def _weight(k: int, proof: Document) -> Decimal:
    """Return the logarithm of the probability of a whole number, up to a constant."""
    if proof["law"] == "discrete laplace":
        return -abs(k) / dec(Fraction(proof["scale"]))
    if proof["law"] == "staircase":
        return -dec(Fraction(proof["rate"])) * int((abs(k) + proof["width"] - proof["first"]) // proof["width"])
    return -(Decimal(k) ** 2) / (2 * dec(Fraction(proof["sigma"])) ** 2)


def law_loss(steps: int, proof: Document) -> Decimal:
    """Return the largest log-ratio of the law and the law that many steps away."""
    if proof["law"] == "exponential choice":
        return 2 * steps * dec(Fraction(proof["rate"]))
    if proof["law"] == "discrete gaussian":
        return Decimal("inf") if steps else Decimal(0)
    if proof["law"] == "discrete laplace":
        return steps / dec(Fraction(proof["scale"]))
    if steps <= proof["width"]:  # the level rises once at most on the way, and does so somewhere
        return dec(Fraction(proof["rate"]))
    far = steps + 2 * proof["width"] + 2
    if far > 40_000:
        raise TooLargeError("too far")
    return max(abs(_weight(k, proof) - _weight(k - steps, proof)) for k in range(-far, far + 1))


def law_delta(epsilon: Fraction, delta: Fraction, steps: int, proof: Document) -> bool:
    """Return whether no event has more than delta beyond e^epsilon times what it has that many steps away; by sums."""
    if proof["law"] == "discrete laplace" and at_most(law_loss(steps, proof), epsilon):
        return True
    spread = float(Fraction(proof["scale"] if "scale" in proof else proof["sigma"]))
    far = steps + math.ceil((130 if "scale" in proof else 16) * spread) + 10
    if far > 60_000 or proof["law"] not in ("discrete laplace", "discrete gaussian"):
        raise TooLargeError("too far, or another law")
    logs = [_weight(k, proof) for k in range(-far - steps, far + steps + 1)]
    odds = [log.exp() if log > -150 else Decimal(0) for log in logs]
    total, most = sum(odds), dec(epsilon).exp()
    excess = sum(max(odds[k - steps] - most * odds[k], Decimal(0)) for k in range(steps, len(odds))) / total
    return excess <= dec(delta) * (1 + SLACK) + Decimal("1e-50")


# Noise cut to ranges ------------------------------------------------------------------------------------------------------


def _points(ranges: Any) -> list[int]:
    """Return the whole numbers of ranges; of a half line, the first hundred beside its wall, where the loss changes."""
    found: list[int] = []
    for lo, hi in ranges:
        found += range(hi - 100 if lo is None else lo, (lo + 100 if hi is None else hi) + 1)
        if len(found) > 5000:
            raise TooLargeError("too many")
    return found


def _normaliser(i: int, proof: Document) -> Decimal:
    return _normaliser_of(i, Fraction(proof["rate"]), tuple(map(tuple, proof["ranges"])))


@cache
def _normaliser_of(i: int, rate: Fraction, ranges: tuple[Any, ...]) -> Decimal:
    """Return the sum of e^(-rate |i - j|) over all outputs j."""
    a, total = (-dec(rate)).exp(), Decimal(0)
    for lo, hi in ranges:
        first, last = (None if lo is None else lo - i), (None if hi is None else hi - i)
        below = (first, -1 if last is None or last > -1 else last)
        above = (0 if first is None or first < 0 else first, last)
        for low, high in (below, above):
            if low is not None and high is not None and low > high:
                continue
            mirrored = high is not None and high < 0
            near, far = (-high, None if low is None else -low) if mirrored else (low, high)  # type: ignore[operator]
            total += a**near * (1 if far is None else 1 - a ** (far - near + 1)) / (1 - a)  # type: ignore[operator]
    return total


def _ranged_loss(i: int, j: int, proof: Document) -> Decimal:
    """Return the log-ratio at the outputs i and j, one of which has the largest."""
    return dec(Fraction(proof["rate"])) * abs(i - j) + abs((_normaliser(i, proof) / _normaliser(j, proof)).ln())


def _ranged_near(epsilon: Fraction, reach: Fraction, step: Fraction, document: Document) -> bool:
    """Compare all pairs of inputs that two true answers at most ``reach`` apart can be rounded to."""
    proof = document["proof"]
    cells = []
    for (lo, hi), (first, last) in zip(document["answers"], proof["inputs"], strict=True):
        ends = [None if end is None else Fraction(end) for end in (lo, hi)]
        for i in _points([[first, last]]):
            low = ends[0] if i == first else (i - Fraction(1, 2)) * step
            high = ends[1] if i == last else (i + Fraction(1, 2)) * step
            cells.append((i, low, high, i == first, i == last))
    if len(cells) > 400:
        raise TooLargeError("too many")
    for (i, _, high, _, closed), (j, low, _, open_, _) in itertools.combinations(cells, 2):
        if high is None or low is None:
            continue
        gap = low - high
        if (gap < reach or (gap == reach and closed and open_)) and not at_most(_ranged_loss(i, j, proof), epsilon):
            return False
    return True


def _half_line(budget: Fraction, proof: Document) -> bool:
    """Compare neighbours: inputs between two points are rounded at random, so ratios are at most 1 + budget."""
    tail, rates = dec(Fraction(proof["tail"])), [dec(Fraction(rate)) for rate in proof["near"]]
    if len(rates) > 400:
        raise TooLargeError("too many")
    a, allowed = (-tail).exp(), 1 + dec(budget) * (1 + SLACK)

    def weights(i: int) -> tuple[list[Decimal], Decimal]:
        b = (-rates[min(i, len(rates)) - 1]).exp() if i else Decimal(0)
        below = [b ** (i - j) for j in range(i)]
        return [*below, Decimal(1), a, a * a], sum(below, Decimal(0)) + 1 / (1 - a)

    for i in range(len(rates) + 6):
        (here, z), (there, w) = weights(i), weights(i + 1)
        for p, q in zip(here, there, strict=False):
            if max(p / z * w / q, q / w * z / p) > allowed:
                return False
    return 1 / a <= allowed
