"""Whether a sentence of ``verify`` is true, from definitions alone, in decimals of 60 digits; nothing here is the checker's.

A sentence has an epsilon, perhaps a delta, a distance and a step. The integers of the proof are taken for what they are, a table
of probabilities or the law of noise, and the largest log-ratio is computed: over all pairs and outputs where there are few,
otherwise over a stretch of whole numbers after which the law repeats itself.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from tests.attack.truth_words import NOTE, words_hold

__all__ = ["CannotTellError", "is_true"]

Document = dict[str, Any]
SLACK = Decimal("1e-45")
"""What decimals of 60 digits may be wrong by; a forgery is nudged by 2^-60 at the least."""
NAME = r"""'(?:[^'\\]|\\.)*'|"[^"]*"|[^'",;(]*?(?:\([^()]*\)[^',;(]*?)?"""
SHOWN = r'"[^"]*"'
SENTENCE = re.compile(
    rf"epsilon = (?P<epsilon>[0-9.]+) (?:per unit of (?P<metric>{NAME})"
    r"|between neighbours \((?P<near>[^()]*(?:\([^()]*\))?[^()]*) at most 1\))"
    r"(?:, delta = (?P<delta>[0-9.]+))?(?:, in steps of (?P<fine>[0-9/]+))?"
    r"(?:, over (?:any number of|[0-9]+) independent parts)?(?:, between points in steps of (?P<coarse>[0-9/]+))?"
    r"(?P<level>; level = .*?)?(?P<stated>; distances as stated in the file.*?)?(?:, for answers .*?)?"
    rf"(?P<words>{NOTE})?(?:; in the clear, as stated: {SHOWN}(?:, {SHOWN})*)?"
    rf"(?:; measured on public data, as stated: {SHOWN}(?:, {SHOWN})*)?"
    r"(?:; uses .*)?(?:; a simulation with a known seed: NOT FOR RELEASE)?"
)
LEVEL = re.compile(
    r"; level = ([0-9.]+) between any two p[a-z]+ within ([0-9.]+)( m)? of each other, rounding included"
    r"(?:, if the map makes at most ([0-9.]+) m of that)?"
)


class CannotTellError(Exception):
    """The sentence says something that is not understood here; that counts as untrue."""


def is_true(sentence: str, document: Document) -> bool:
    """Whether a sentence about this certificate is true."""
    with localcontext() as context:
        context.prec = 60
        if document["format"] == "noisewright-release":
            return _release(sentence, document)
        said = SENTENCE.fullmatch(sentence)
        if said is None:
            raise CannotTellError(sentence)
        factor, base = _named(said["near"] or said["metric"])
        epsilon, delta = Fraction(said["epsilon"]), Fraction(said["delta"] or 0)
        if said["words"]:
            vectors = f"euclidean between word vectors (sha256 {document['resources'][0]['sha256'][:12]})"
            order, own = base.removesuffix(vectors).rstrip(), base.endswith(vectors)
            return own and order in ("", "matched", "aligned") and words_hold(epsilon * factor, order, said, document)
        if document["proof"]["kind"] == "product":
            return _product(epsilon * factor, delta, base, document)
        if base and said["stated"]:
            raise CannotTellError("a name that is read, and distances that are stated")
        step = Fraction(said["fine"] or said["coarse"] or _lattice(base) or 1)
        return _simple(
            epsilon,
            delta,
            factor,
            base.partition(" between points")[0],
            step,
            bool(said["near"]),
            said["level"],
            document,
        )


def _named(name: str) -> tuple[Fraction, str]:
    """The factor and the base of a metric as it is said; an empty base for a name in quotation marks."""
    if name.startswith(("'", '"')):
        return Fraction(1), ""
    found = re.fullmatch(
        r"(?:([0-9./]+) \* )?([a-z][a-z ]*(?: of [0-9]+ differences| around \([^()]*\)| \(sha256 [0-9a-f]{12}\))?"
        r"(?: between points of the lattice 2\^-?[0-9]+)?)",
        name,
    )
    if found is None:
        raise CannotTellError(name)
    return Fraction(found[1] or 1), found[2]


def _lattice(base: str) -> Fraction | None:
    power = base.partition("lattice 2^")[2]
    return Fraction(2) ** int(power) if power else None


def _dec(value: Fraction | int) -> Decimal:
    return Decimal(Fraction(value).numerator) / Decimal(Fraction(value).denominator)


def _at_most(loss: Decimal, allowed: Fraction) -> bool:
    return loss <= _dec(allowed) * (1 + SLACK)


def _ln(a: Fraction | int, b: Fraction | int) -> Decimal:
    if not a or not b:
        return Decimal(0) if a == b else Decimal("inf")
    return abs((_dec(a) / _dec(b)).ln())


# One certificate ----------------------------------------------------------------------------------------------------------


def _simple(
    epsilon: Fraction,
    delta: Fraction,
    factor: Fraction,
    base: str,
    step: Fraction,
    near: bool,
    level: str | None,
    document: Document,
) -> bool:
    proof = document["proof"]
    if proof["kind"] == "weights":  # with many outputs both ratios come as near to their bound as one likes
        apart_by = Fraction(document["claim"]["distances"]["distance"])
        return not delta and _at_most(
            2 * _ln(proof["most"], proof["least"]), epsilon * min(apart_by, factor if base else apart_by)
        )
    if proof["kind"] in ("table", "response", "chances", "constant"):
        rows = _rows(document)
        apart = _apart(factor, base, document, len(rows))
        return all(
            distance is None or _alike(here, there, epsilon * distance if distance else Fraction(0), delta)
            for (here, there), distance in zip(
                itertools.permutations(rows, 2),
                map(apart, *zip(*itertools.permutations(range(len(rows)), 2), strict=True)),
                strict=True,
            )
        )
    if near:  # how many steps two numbers are apart at most that are at most 1 apart before they are rounded
        size = 1 / (factor * step)
        count = math.ceil(size)
        if base.startswith("sum of"):
            count = count + proof["coordinates"] - 1
        elif base.startswith("largest of") and proof["law"] == "discrete laplace":
            count = count * proof["coordinates"]
        if base.endswith("differences") and int(base.split()[2]) != proof.get("coordinates", proof.get("candidates")):
            return False
        if proof["kind"] == "ranged":
            return _ranged_near(epsilon, 1 / factor, step, document)
        return _law_delta(epsilon, delta, count, proof) if delta else _at_most(_law_loss(count, proof), epsilon)
    if delta:
        return False
    per_step = epsilon * factor * step
    if proof["kind"] == "ranged":
        points = _points(proof["inputs"])
        return all(_at_most(_ranged_loss(i, j, proof), per_step * (j - i)) for i, j in itertools.pairwise(points))
    if proof["kind"] == "half line":
        return _half_line(per_step, proof)
    if proof["kind"] == "planar":
        return _at_most(_dec(Fraction(proof["rate"])), per_step) and (level is None or _level(level, step, proof))
    if base.endswith("differences") and int(base.split()[2]) != proof.get("candidates"):
        return False
    return all(_at_most(_law_loss(n, proof), per_step * n) for n in (1, 2, 3, 7))


def _rows(document: Document) -> list[list[Fraction]]:
    """The probabilities of outputs, secret by secret; of an oracle, from how its reports are drawn."""
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
            raise CannotTellError("no probabilities")
        rows = [
            [keep if x == y else other for y in range(proof["size"] if size == proof["size"] else size)]
            for x in range(size)
        ]
        if size < proof["size"]:
            rows = [[*row, 1 - sum(row)] for row in rows]
    if any(sum(row) != 1 or min(row) < 0 for row in rows):
        raise CannotTellError("no probabilities")
    return rows if oracle is None else _reports(document["mechanism"], oracle, proof, rows)


def _reports(name: str, oracle: Document, proof: Document, rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """The channel from categories to reports, where there are few of both."""
    domain = oracle["domain"]
    size = min(domain if isinstance(domain, int) else len(domain), 5)
    if name == "local-hashing":
        return rows
    if name == "hadamard-response":
        length, blocks = oracle["length"], proof["size"] // 2
        keep, other = rows[0][0], rows[0][1]
        found = []
        for code in range(size):
            block, row = divmod(code, length - 1)
            found.append(
                [
                    (keep if b == block and bin((row + 1) & spot).count("1") % 2 == 0 else other) / (length // 2)
                    for b in range(blocks)
                    for spot in range(length)
                ]
            )
        return found
    if name == "unary-encoding":
        own, foreign = rows[0][0] + rows[0][1], rows[0][0] + rows[0][2]
        return [
            [
                math.prod(
                    (p if bit else 1 - p)
                    for p, bit in zip([own if c == x else foreign for c in range(size)], bits, strict=True)
                )
                for bits in itertools.product((0, 1), repeat=size)
            ]
            for x in range(size)
        ]
    count = domain if isinstance(domain, int) else len(domain)
    held = rows[0][0] + rows[0][1]
    chosen = next((d for d in range(1, count) if held * (d - 1) == rows[0][0] * (count - 1)), None)
    if chosen is None or count > 9:
        raise CannotTellError("no sets")
    sets = list(itertools.combinations(range(count), chosen))
    inside, outside = math.comb(count - 1, chosen - 1), math.comb(count - 1, chosen)
    return [[held / inside if x in s else (1 - held) / outside for s in sets] for x in range(count)]


def _apart(factor: Fraction, base: str, document: Document, size: int) -> Callable[[int, int], Fraction | None]:
    """The distance of two rows; a square root is rounded down so little that it does not matter."""
    stated = document["claim"]["distances"]
    if base == "discrete":
        return lambda x, y: factor
    if not base:
        if stated["shape"] == "uniform":
            return lambda x, y: Fraction(stated["distance"])
        if stated["shape"] == "line":
            places = [Fraction(place) for place in stated["places"]]
            return lambda x, y: abs(places[x] - places[y])
        known = dict(zip(itertools.combinations(range(size), 2), stated["distances"], strict=True))
        return lambda x, y: None if known[min(x, y), max(x, y)] == "inf" else Fraction(known[min(x, y), max(x, y)])
    points = [_label(label) for label in document["inputs"]]
    if base == "hamming":
        return lambda x, y: factor * sum(a != b for a, b in zip(points[x], points[y], strict=True))
    flat = [point if isinstance(point, tuple) else (point,) for point in points]
    if base == "line" and any(len(point) != 1 for point in flat):
        raise CannotTellError("a line of several coordinates")

    def distance(x: int, y: int) -> Fraction:
        between = [abs(a - b) for a, b in zip(flat[x], flat[y], strict=True)]
        if base == "euclidean":
            return factor * Fraction(_dec(sum((b * b for b in between), Fraction(0))).sqrt())
        return factor * sum(between, Fraction(0))

    if base not in ("line", "manhattan", "euclidean"):
        raise CannotTellError(base)
    return distance


def _label(label: Any) -> Any:
    if isinstance(label, dict):
        (key,) = label
        return tuple(map(_label, label["tuple"])) if key == "tuple" else Fraction(label[key])
    return Fraction(label) if isinstance(label, (int, float)) and not isinstance(label, bool) else label


def _alike(here: list[Fraction], there: list[Fraction], allowed: Fraction, delta: Fraction) -> bool:
    if not delta:
        return all(_at_most(_ln(a, b), allowed) or a == b for a, b in zip(here, there, strict=True))
    most = _dec(allowed).exp()
    excess = sum((max(_dec(a) - most * _dec(b), Decimal(0)) for a, b in zip(here, there, strict=True)), Decimal(0))
    return excess <= _dec(delta) * (1 + SLACK) + SLACK


# Noise --------------------------------------------------------------------------------------------------------------------


def _weight(k: int, proof: Document) -> Decimal:
    """The logarithm of the probability of a whole number, up to a constant."""
    if proof["law"] == "discrete laplace":
        return -abs(k) / _dec(Fraction(proof["scale"]))
    if proof["law"] == "staircase":
        return -_dec(Fraction(proof["rate"])) * ((abs(k) + proof["width"] - proof["first"]) // proof["width"])
    return -(Decimal(k) ** 2) / (2 * _dec(Fraction(proof["sigma"])) ** 2)


def _law_loss(steps: int, proof: Document) -> Decimal:
    """The largest log-ratio of the law and the law that many steps away."""
    if proof["law"] == "exponential choice":
        return 2 * steps * _dec(Fraction(proof["rate"]))
    if proof["law"] == "discrete gaussian":
        return Decimal("inf")
    if proof["law"] == "discrete laplace":
        return steps / _dec(Fraction(proof["scale"]))
    if steps <= proof["width"]:  # the level rises once at most on the way, and does so somewhere
        return _dec(Fraction(proof["rate"]))
    far = steps + 2 * proof["width"] + 2
    if far > 40_000:
        raise CannotTellError("too far")
    return max(abs(_weight(k, proof) - _weight(k - steps, proof)) for k in range(-far, far + 1))


def _law_delta(epsilon: Fraction, delta: Fraction, steps: int, proof: Document) -> bool:
    """The most that an event can have beyond e^epsilon times what it has that many steps away; by sums over whole numbers."""
    if proof["law"] == "discrete laplace" and _at_most(_law_loss(steps, proof), epsilon):
        return True
    spread = float(Fraction(proof.get("scale", proof.get("sigma"))))
    far = steps + math.ceil((130 if "scale" in proof else 16) * spread) + 10
    if far > 60_000 or proof["law"] not in ("discrete laplace", "discrete gaussian"):
        raise CannotTellError("too far")
    logs = [_weight(k, proof) for k in range(-far - steps, far + steps + 1)]
    odds = [log.exp() if log > -150 else Decimal(0) for log in logs]
    total, most = sum(odds), _dec(epsilon).exp()
    excess = sum(max(odds[k - steps] - most * odds[k], Decimal(0)) for k in range(steps, len(odds))) / total
    return excess <= _dec(delta) * (1 + SLACK) + Decimal("1e-50")


def _points(ranges: Any) -> list[int]:
    """The whole numbers of ranges; of a half line, the first hundred beside its wall, where the loss changes."""
    found: list[int] = []
    for lo, hi in ranges:
        found += range(hi - 100 if lo is None else lo, (lo + 100 if hi is None else hi) + 1)
    if len(found) > 5000:
        raise CannotTellError("too many")
    return found


def _normaliser(i: int, proof: Document) -> Decimal:
    """The sum of e^(-rate |i - j|) over all outputs j."""
    a, total = (-_dec(Fraction(proof["rate"]))).exp(), Decimal(0)
    for lo, hi in proof["ranges"]:
        first, last = (None if lo is None else lo - i), (None if hi is None else hi - i)
        for low, high in (
            (first, -1 if last is None or last > -1 else last),
            (0 if first is None or first < 0 else first, last),
        ):
            if low is not None and high is not None and low > high:
                continue
            near, far = (-high, None if low is None else -low) if high is not None and high < 0 else (low, high)  # type: ignore[assignment]
            total += a**near * (1 if far is None else 1 - a ** (far - near + 1)) / (1 - a)  # type: ignore[operator]
    return total


def _ranged_loss(i: int, j: int, proof: Document) -> Decimal:
    """At the outputs i and j, one of which has the largest log-ratio."""
    return _dec(Fraction(proof["rate"])) * abs(i - j) + abs((_normaliser(i, proof) / _normaliser(j, proof)).ln())


def _ranged_near(epsilon: Fraction, reach: Fraction, step: Fraction, document: Document) -> bool:
    """Over all pairs of inputs that two true answers at most ``reach`` apart can be rounded to."""
    proof = document["proof"]
    cells = []
    for (lo, hi), (first, last) in zip(document["answers"], proof["inputs"], strict=True):
        ends = [None if end is None else Fraction(end) for end in (lo, hi)]
        for i in _points([[first, last]]):
            low = ends[0] if i == first else (i - Fraction(1, 2)) * step
            high = ends[1] if i == last else (i + Fraction(1, 2)) * step
            cells.append((i, low, high, i == first, i == last))
    for (i, _, high, _, closed), (j, low, _, open_, _) in itertools.combinations(cells, 2):
        if high is None or low is None:
            continue
        gap = low - high
        if (gap < reach or (gap == reach and closed and open_)) and not _at_most(_ranged_loss(i, j, proof), epsilon):
            return False
    return True


def _half_line(budget: Fraction, proof: Document) -> bool:
    """Inputs between two points are rounded at random, so ratios of probabilities of neighbours are at most 1 + budget."""
    tail, rates = _dec(Fraction(proof["tail"])), [_dec(Fraction(rate)) for rate in proof["near"]]
    if len(rates) > 400:
        raise CannotTellError("too many")
    a, allowed = (-tail).exp(), 1 + _dec(budget) * (1 + SLACK)

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


def _level(words: str, step: Fraction, proof: Document) -> bool:
    """Over all differences that two points within the radius can have after each is rounded to its nearest lattice point."""
    found = LEVEL.match(words)
    if found is None:
        raise CannotTellError(words)
    level, radius = Fraction(found[1]), Fraction(found[4] or found[2]) / step
    if radius > 20_000 or Fraction(found[4] or found[2]) < Fraction(found[2]):
        raise CannotTellError("too far")
    largest = 0
    for across in range(math.floor(radius) + 2):
        left = radius**2 - max(across - 1, 0) ** 2
        if left >= 0:
            largest = max(
                largest, across**2 + (math.isqrt(math.floor(left)) + 1) ** 2
            )  # rounding adds less than a step to each
    return _at_most(_dec(Fraction(proof["rate"])) * Decimal(largest).sqrt(), level)


# Products and releases ----------------------------------------------------------------------------------------------------


def _product(epsilon: Fraction, delta: Fraction, base: str, document: Document) -> bool:
    """Losses of independent coordinates add up: the largest of one for hamming and manhattan, all of them for discrete."""
    largest, total, deltas = Decimal(0), Decimal(0), Fraction(0)
    for part in document["proof"]["parts"]:
        proof = part["proof"]
        if proof["kind"] == "weights":
            loss = 2 * _ln(proof["most"], proof["least"])
        elif proof["kind"] == "law" and base in ("hamming", "discrete"):
            if part["outside"] == "keep" or proof["law"] != "discrete laplace" or proof.get("coordinates", 1) != 1:
                raise CannotTellError("values beyond the ends, or several")
            loss = _law_loss(proof["clamp"][1] - proof["clamp"][0], proof)
        elif proof["kind"] == "law":
            step = Fraction(part["claim"]["distances"]["distance"])
            factor, name = _named(part["claim"]["metric"])
            if (
                not base.startswith("manhattan")
                or proof["law"] != "discrete laplace"
                or name.replace("line", "manhattan") != base
            ):
                raise CannotTellError("noise in a product")
            loss = _law_loss(1, proof) / _dec(step / factor)
        else:
            rows, extra = _rows(part), Fraction(part["claim"]["delta"])
            if extra and base != "discrete":
                return False
            deltas += extra * (part["count"] or 1)
            if base.startswith("manhattan"):
                points = [_label(label) for label in part["inputs"]]
                pairs = itertools.combinations(range(len(rows)), 2)
                loss = max(max(map(_ln, rows[x], rows[y])) / _dec(abs(points[x] - points[y])) for x, y in pairs)
            elif extra:
                loss = _dec(Fraction(part["claim"]["epsilon"]) * Fraction(part["claim"]["distances"]["distance"]))
                if not all(_alike(x, y, Fraction(loss), extra) for x, y in itertools.permutations(rows, 2)):
                    return False
            else:
                loss = max(max(map(_ln, x, y)) for x, y in itertools.combinations(rows, 2))
        largest, total = max(largest, loss), total + loss * (part["count"] or 1)
        if part["count"] is None and base == "discrete":
            return False
    return _at_most(total if base == "discrete" else largest, epsilon) and deltas <= delta


PART = re.compile(
    r"  (?:column|query) \".*?\": epsilon = ([0-9.]+)(?:, delta = ([0-9.]+))? for (.*?)"
    r"(, the most that one unit changes the answer \(stated\))?"
    r"(?:, ([0-9]+) times [0-9.]+)?(?:; uses .*)?"
)


def _release(sentence: str, document: Document) -> bool:
    """Every part between the values that its words name, and their sum."""
    head, *lines = sentence.split("\n")
    claimed = re.match(r"epsilon = ([0-9.]+)(?:, delta = ([0-9.]+))? between two tables ", head)
    lines = [line for line in lines if line.startswith(("  column", "  query"))]
    if claimed is None or len(lines) != len(document["parts"]):
        raise CannotTellError(head)
    total, deltas = Decimal(0), Fraction(0)
    for line, part in zip(lines, document["parts"], strict=True):
        said = PART.fullmatch(line)
        if said is None:
            raise CannotTellError(line)
        times = part["times"]
        rows = document["unit"]["rows"]
        if times != int(said[5] or 1) or (part["kind"] == "column" and times != rows):
            return False
        loss, delta = _between(said[3], part["certificate"])
        if not _at_most(loss * times, Fraction(said[1])) or delta * times > Fraction(said[2] or 0):
            return False
        total, deltas = total + loss * times, deltas + delta * times
    return _at_most(total, Fraction(claimed[1])) and deltas <= Fraction(claimed[2] or 0)


def _between(words: str, certificate: Document) -> tuple[Decimal, Fraction]:
    """The largest loss between two values that these words name."""
    proof, claim = certificate["proof"], certificate["claim"]
    delta = Fraction(claim["delta"])
    if proof["kind"] in ("response", "table", "chances", "constant"):
        rows = _rows(certificate)
        pairs = list(itertools.combinations(range(len(rows)), 2))
        found = re.match(r"values at most ([0-9./]+) apart \((line|euclidean|manhattan|discrete|hamming)\)", words)
        if found:
            apart = _apart(Fraction(1), found[2], certificate, len(rows))
            pairs = [(x, y) for x, y in pairs if (apart(x, y) or 0) <= Fraction(found[1])]
        elif not words.startswith(("any two values that differ", "any two of its values")):
            raise CannotTellError(words)
        if not pairs:
            return Decimal("inf"), delta  # nobody is protected by such a price
        if delta:
            epsilon = Fraction(claim["epsilon"])
            holds = all(
                _alike(rows[x], rows[y], epsilon, delta) and _alike(rows[y], rows[x], epsilon, delta) for x, y in pairs
            )
            return (_dec(epsilon) if holds else Decimal("inf")), delta
        return max(max(map(_ln, rows[x], rows[y])) for x, y in pairs), delta
    factor = _named(claim["metric"])[0]
    step = Fraction(claim["distances"]["distance"]) / factor
    whole = re.match(r"any two (?:whole numbers|values) from (-?[0-9./]+) to (-?[0-9./]+) \(line", words)
    some = re.match(
        r"(?:whole numbers|values) at most ([0-9./]+) apart \(([a-z0-9 ]+?)(?: between points of the lattice 2\^-?[0-9]+)?\)",
        words,
    )
    if whole:
        size = Fraction(whole[2]) - Fraction(whole[1])
    elif some and (some[2] in ("line", "manhattan") or some[2].endswith("differences")):
        size = Fraction(some[1])
    else:
        raise CannotTellError(words)
    if claim["distances"]["shape"] == "steps":
        if "whole numbers" in words and step != 1:
            return Decimal("inf"), delta
        if proof["kind"] != "law":
            raise CannotTellError(words)
        count = math.floor(size / step)
        return (_law_loss(count, proof) if count else Decimal("inf")), delta
    count = math.ceil(size / step)
    if proof["kind"] != "law" or delta:
        raise CannotTellError(words)
    if proof["law"] == "staircase":  # neighbours in chains
        return math.ceil(size * factor) * _law_loss(math.ceil(1 / (step * factor)), proof), delta
    return _law_loss(count, proof), delta
