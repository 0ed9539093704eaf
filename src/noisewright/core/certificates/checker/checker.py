#!/usr/bin/env python3
"""Re-proves a Noisewright certificate. Standard library only; run it alone:  python checker.py FILE...

A certificate claims: whatever the output, its probabilities under two secrets x and x' differ by a factor of at most
e^(epsilon * d(x, x')), where d is the stated distance. This program believes nothing in the file but the claim and the
integers that are drawn from, and proves the one from the other with integers alone. The kinds of proof in this file:

  table     output y has probability table[x][y] / 2^width. Proved: every row sums to 2^width, and for every two secrets and
            every output  table[x][y] <= L * table[x'][y],  L being a fraction below e^(epsilon d).
  response  as a table whose diagonal entries are all `keep` and all others `other`; d is one distance for every pair.
  chances   output y happens in table[x][y] of `total` equally likely cases, as with dice and cards; one distance for every pair.
  law       discrete Laplace noise, added to a number that was rounded to whole steps; perhaps clamped. Proved: the loss for
            one step, or for neighbours, which are at distance at most 1.
  constant  the output does not depend on the secret; nothing is left to prove.

To judge one certificate read prove, then
  for a table               check_table, compare, pairs, exp_below, and check_distances: does the metric's name fit the distances?
  for a response, constant  check_response or check_constant, exp_below, check_distances
  for chances               check_chances, exp_below, check_distances
  for a law                 check_law, allowance, check_step: does the metric's name fit the step?
and the readers of numbers at the end. All other noise is proved in checker_noise.py, and what is made of parts, a product or a
whole release, in checker_release.py. Each must lie beside this file when it is needed, and is looked for only then.

The only analysis used is e^z = 1 + z + z^2/2! + ..., where a cut is below e^z if z >= 0 and misses at most the first term left
out if -1 <= z < 0, and e^z = (e^(z/2))^2. Every bound is a whole number that errs to one known side whatever the precision.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import sys
from collections.abc import Iterator
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from itertools import combinations, permutations
from types import ModuleType
from typing import Any

FORMAT = "noisewright-certificate"
VERSION = 1
CLAIM = {"epsilon", "delta", "metric", "distances"}
NUMBER = re.compile(r"-?[0-9]+/[0-9]+|-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]{1,3})?")
CLOSE = Fraction(1, 1 << 50)  # long factors are named by a float
LATTICE = " between points of the lattice 2^"
SECOND_FILE = "checker_noise.py"
RELEASE_FILE = "checker_release.py"
RELEASE = "noisewright-release"


class NotProved(Exception):
    """The certificate does not prove its claim; the message says where."""


def check(document: Any) -> str:
    """Prove the claim of a certificate (a dict as read from JSON) and return it in words, or raise NotProved."""
    try:
        if isinstance(document, dict) and document.get("format") == RELEASE:
            return str(file_beside(RELEASE_FILE).check_release(document))
        beware = "; a simulation with a known seed: NOT FOR RELEASE"
        claim = "".join(prove(document)) + public_of(document)
        return claim + (beware if simulated(document.get("randomness")) else "")
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, MemoryError, RecursionError) as why:
        raise NotProved(f"the file is incomplete or malformed ({type(why).__name__}: {why}).") from None


def prove(document: Any) -> tuple[str, str]:
    """What is proved, and between which secrets only, if not between all that the metric is about."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise NotProved("this is not a Noisewright certificate.")
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise NotProved(f"this checker reads version {VERSION}, the file says {document.get('version')!r:.40}.")
    if document.get("digest") != digest(document):
        raise NotProved("the file was changed or cut after it was written: its digest does not match its content.")
    if document.get("numerics") != "exact":
        raise NotProved("floating: a theorem holds for real numbers, but nothing is proved about the floats drawn.")
    product = document["proof"]["kind"] == "product"
    more, only = file_beside(RELEASE_FILE).check_product(document) if product else check_claim(document)
    claim = document["claim"]
    metric, delta = spoken(claim["metric"]), number(claim["delta"])
    adjacent = claim["distances"]["shape"] == "adjacent"
    per = f"between neighbours ({metric} at most 1)" if adjacent else f"per unit of {metric}"
    extra = f", delta = {rounded(delta)}" if delta else ""
    return f"epsilon = {rounded(number(claim['epsilon']))} {per}{extra}{more}", only


def check_claim(document: Any) -> tuple[str, str]:
    """Prove a claim by any proof but a product. The result: what else is proved, and between which secrets only."""
    claim, proof = document["claim"], document["proof"]
    distances, metric, kind = claim["distances"], claim["metric"], proof["kind"]
    epsilon, delta, shape = *budget_of(claim), distances["shape"]
    if kind != "planar" and not set(claim) <= CLAIM:
        raise NotProved("it claims more than an epsilon, a delta, a metric and distances; a level is for planes only.")

    kinds = {"table": check_table, "law": check_law, "constant": check_constant}
    other_law = kind == "law" and (proof["law"] != "discrete laplace" or "norm" in proof)
    sizes, names, more, only = (0, 0), ["line", "manhattan"] if shape == "steps" else ["line"], "", ""
    if kind in ("response", "chances"):
        sizes = (check_response if kind == "response" else check_chances)(epsilon, delta, distances, proof)
    elif delta or other_law or kind in ("planar", "ranged", "half line"):
        names, more, only = file_beside(SECOND_FILE).check_noise(epsilon, delta, document)
    else:
        sizes = kinds[kind](epsilon, distances, proof)

    factor, most, base = unit_of(metric)
    labels = [labels_of(document.get(name), size) for name, size in zip(("inputs", "outputs"), sizes)]
    if shape in ("steps", "adjacent"):
        steps, points = check_step(factor, base, names, distances, kind)
        return steps + more, points + only
    return more, check_distances(most, base, distances, labels[0])


def budget_of(claim: Any) -> tuple[Fraction, Fraction]:
    epsilon, delta = number(claim["epsilon"]), number(claim["delta"])
    if not 0 <= epsilon < 10**308 or not 0 <= delta < 1:
        raise NotProved("this checker proves claims with epsilon >= 0 and delta from 0 to below 1 only.")
    return epsilon, delta


def simulated(randomness: Any) -> bool:
    """Whether these words say that the draws are not for release."""
    return bool(re.search("simulation|not for release", str(randomness).lower()))


def public_of(document: Any) -> str:
    """The public files and the public seed that the draw uses, as the certificate states them; no file is looked at here."""
    uses = []
    for file in document.get("resources", []):
        name = file["name"]
        short = type(name) is str and 0 < len(name) <= 255 and name.isprintable()
        if not short or not re.fullmatch("[0-9a-f]{64}", file["sha256"]) or whole(file["bytes"]) < 0 or len(file) != 3:
            raise NotProved("a public file is not stated by a short name, a SHA-256 and a number of bytes.")
        uses.append(f"the public file {name!r} (sha256 {file['sha256'][:12]}...)")
    if "seed" in document:
        if not re.fullmatch("[0-9a-f]{64}", document["seed"]):
            raise NotProved("the public seed is not stated in 64 hexadecimal digits.")
        uses.append(f"the public seed {document['seed'][:12]}...")
    return f"; uses {' and '.join(uses)}, as stated" if uses else ""


# The kinds of proof; each returns how many inputs and outputs there are to label ------------------------------------------


def check_table(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    width, precision = bits_of(proof["width"], 0, 1 << 20), bits_of(proof["precision"], 64, 1 << 17)
    rows = [[hexadecimal(entry) for entry in row] for row in proof["table"]]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise NotProved("the table has rows of different lengths, or none.")
    for x, row in enumerate(rows):
        if sum(row) != 1 << width:
            raise NotProved(f"row {x} of the table does not sum to 2^{width}.")
    if distances["shape"] == "uniform":  # the largest entry of a column against the smallest covers every pair
        columns = list(zip(*rows))
        limit = exp_below(epsilon * length_of(distances), precision)
        compare(list(map(max, columns)), list(map(min, columns)), limit, precision, "two rows")
    else:
        every = list(pairs(distances, len(rows)))
        if precision > 1024 and len({d for _, _, d in every}) * precision**2 > 1 << 35:
            raise NotProved("so many distances at such a precision would take too long.")
        for x, other, distance in every:
            if distance is not None:
                limit = exp_below(epsilon * distance, precision)
                compare(rows[x], rows[other], limit, precision, f"rows {x} and {other}")
    return len(rows), len(rows[0])


def check_response(epsilon: Fraction, delta: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    """Two rows differ at two outputs only, and each row is the larger one at one of them: delta may be used once."""
    width, precision = bits_of(proof["width"], 0, 1 << 20), bits_of(proof["precision"], 64, 1 << 17)
    size, keep, other = whole(proof["size"]), hexadecimal(proof["keep"]), hexadecimal(proof["other"])
    if size < 2 or keep + (size - 1) * other != 1 << width:
        raise NotProved(f"keep + (size - 1) * other is not 2^{width}.")
    if distances["shape"] != "uniform":
        raise NotProved("a response needs one distance for every pair.")
    allowed = exp_below(epsilon * length_of(distances), precision) * min(keep, other) + delta * 2 ** (width + precision)
    if max(keep, other) << precision > allowed:
        raise NotProved("the promise is broken between two rows at the output that is likelier in one of them.")
    return size, size


def check_chances(epsilon: Fraction, delta: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    """What a row has beyond e^(epsilon d) times another, added up over the outputs, is the most that any event has: delta."""
    total, precision = whole(proof["total"]), bits_of(proof["precision"], 64, 1 << 17)
    rows = [[whole(entry) for entry in row] for row in proof["table"]]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise NotProved("the table has rows of different lengths, or none.")
    if total < 1 or any(min(row) < 0 or sum(row) != total for row in rows):
        raise NotProved("the cases of a row do not sum to the total, or some are negative, or there are none.")
    if distances["shape"] != "uniform" or len(rows) ** 2 * len(rows[0]) * precision > 1 << 32:
        raise NotProved("chances need one distance for every pair, and few enough pairs to look at each.")
    limit, allowed = exp_below(epsilon * length_of(distances), precision), delta * total * 2**precision
    for (x, here), (other, there) in permutations(enumerate(rows), 2):
        if sum(max((a << precision) - limit * b, 0) for a, b in zip(here, there)) > allowed:
            raise NotProved(f"the promise is broken between rows {x} and {other}.")
    return len(rows), len(rows[0])


def compare(here: list[int], there: list[int], limit: int, precision: int, rows: str) -> None:
    for y, (a, b) in enumerate(zip(here, there)):
        if max(a, b) << precision > limit * min(a, b):
            raise NotProved(f"the promise is broken between {rows} at output {y}.")


def check_constant(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    """Two equal distributions: any epsilon from 0 on."""
    if distances["shape"] != "uniform" or whole(proof["outputs"]) < 1:
        raise NotProved("a constant needs one distance for every pair, and outputs.")
    return None, whole(proof["outputs"])


def check_law(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    """P(k) ~ e^(-|k|/scale): a step changes the exponent by at most 1/scale. Losses of several coordinates add up, and so do
    Manhattan distances."""
    steps, allowed = allowance(epsilon, distances)
    scale = number(proof["scale"])
    if scale <= 0 or allowed * scale < steps:
        raise NotProved("the scale of the noise is too small for the claim.")
    return 0, 0


def allowance(epsilon: Fraction, distances: Any) -> tuple[int, Fraction]:
    """So many steps are allowed so much: one step its distance, or as many as part neighbours all of epsilon."""
    if distances["shape"] == "steps":
        return 1, epsilon * length_of(distances)
    if distances["shape"] == "adjacent":
        return neighbouring_steps(distances), epsilon
    raise NotProved(f"a law needs distances in steps, not {distances['shape']!r:.40}.")


# A bound of e^x -----------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1 << 14)
def exp_below(exponent: Fraction, precision: int) -> int:
    """An integer at most e^exponent * 2^precision: the series for a small part of the exponent, squared many times."""
    if exponent < -precision:
        return 0
    exponent = min(exponent, Fraction(precision))  # a smaller exponent is still below, and keeps the number short
    halvings = int(abs(exponent)).bit_length() + 4 + math.isqrt(precision)
    work = precision + 2 * halvings + 32
    argument = (exponent.numerator << work) // (exponent.denominator << halvings)
    total, term, order = 0, 1 << work, 0
    while term:
        total, order = total + term, order + 1
        term = (term * argument // order) >> work
    if exponent < 0:  # terms of both signs, each rounded by less than three units; the rest is below three more
        total -= 3 * order + 3
    for _ in range(halvings):
        total = total * total >> work
    return total >> (work - precision)


# What the claim is about --------------------------------------------------------------------------------------------------


def unit_of(metric: Any) -> tuple[Fraction, Fraction, str]:
    """The factor of a name such as "1/5 * line", the most that it may stand for, and the base; other names stand for themselves.

    Long fractions are named by a float next to them, which may be less by 2^-52 of them, but no more.
    """
    if type(metric) is not str or not metric.isascii() or not metric.isprintable() or not 0 < len(metric) <= 1000:
        raise NotProved("the name of the metric is not a short text of printable ASCII.")
    head, star, base = metric.partition(" * ")
    if not star or not NUMBER.fullmatch(head):
        return Fraction(1), Fraction(1), metric
    if (factor := number(head)) <= 0:
        raise NotProved("the factor of a metric must be above 0.")
    return factor, factor * (1 + Fraction("." in head or "e" in head) / 2**52), base


def check_step(factor: Fraction, base: str, names: list[str], distances: Any, kind: str) -> tuple[str, str]:
    """Noise in steps has no labels: the size of a step, in units of the base, is part of the claim.

    The name says it where secrets are rounded to a lattice first and distances are those after it. Otherwise it is said here:
    as a fact where secrets may lie between the steps (neighbours; the random rounding of a half line), or else as a limit of
    the claim, and only a law in steps of 1, which is about whole numbers, goes without saying.
    """
    plain, rounding, power = base.partition(LATTICE)
    if plain not in names or (rounding and (distances["shape"] != "steps" or not re.fullmatch("-?[0-9]{1,4}", power))):
        raise NotProved(f"a proof of this kind says nothing about the metric {base!r}.")
    step = number(distances["distance"]) / factor
    if rounding and abs(step / Fraction(2) ** int(power) - 1) > CLOSE:
        raise NotProved("the lattice in the name of the metric is not the one that the noise lives on.")
    between = distances["shape"] == "adjacent" or kind == "half line"
    shown = str(step) if len(str(step)) <= 40 else f"{float(step):.12g}"  # a factor in floats makes long fractions
    if rounding or (shown == "1" and (between or kind == "law")):
        return "", ""
    return (f", in steps of {shown}", "") if between else ("", f", between points in steps of {shown}")


def check_distances(factor: Fraction, base: str, distances: Any, labels: list[Any] | None) -> str:
    """That no distance is larger than the named metric's between the labels, or a note that the name does not say.

    A smaller distance only makes the promise stronger.
    """
    if base == "discrete":  # one unit between any two rows, whatever their labels
        if (most := farthest(distances)) is None or most > factor:
            raise NotProved("the distances are larger than those of the discrete metric.")
        return ""
    if base not in ("line", "euclidean", "manhattan") or labels is None:
        return "; distances as stated in the file"
    points = [coordinates(label) for label in labels]
    if any(len(point) != (1 if base == "line" else len(points[0])) for point in points):
        raise NotProved("the labels do not have as many coordinates as the metric needs, or not all as many.")
    compared = pairs(distances, len(points))
    if distances["shape"] == "line":
        if base != "line":
            raise NotProved(f"places on a line are not distances of the {base} metric.")
        # Neighbours among the labels: their distances add up to those of the others, and differences of places to no less.
        places = [number(place) for place in distances["places"]]
        order = sorted(range(len(points)), key=points.__getitem__)
        compared = ((x, other, abs(places[x] - places[other])) for x, other in zip(order, order[1:]))
    for x, other, distance in compared:
        apart = [abs(i - j) for i, j in zip(points[x], points[other])]
        square = sum(apart) ** 2 if base == "manhattan" else sum(a * a for a in apart)
        if distance is None or distance**2 > factor**2 * square:
            raise NotProved(f"rows {x} and {other} are nearer in the {base} metric than the file says.")
    return ""


def farthest(distances: Any) -> Fraction | None:
    """The largest distance between two rows; None if it is infinite."""
    if distances["shape"] == "line":
        places = [number(place) for place in distances["places"]]
        return max(places) - min(places)
    if distances["shape"] != "table":
        return length_of(distances)
    values = distances["distances"]
    return None if "inf" in values else max((length_of({"distance": value}) for value in values), default=Fraction(0))


def pairs(distances: Any, size: int) -> Iterator[tuple[int, int, Fraction | None]]:
    """Pairs (x, x', distance) whose losses imply all others; the distance None is infinite."""
    if distances["shape"] == "line":  # distances on a line add up, so neighbours suffice
        places = [number(place) for place in distances["places"]]
        if len(places) != size:
            raise NotProved("there must be one place for each row.")
        order = sorted(range(size), key=places.__getitem__)
        for x, other in zip(order, order[1:]):
            yield x, other, places[other] - places[x]
    elif distances["shape"] == "table":  # the part above the diagonal, row by row
        values = distances["distances"]
        if len(values) != size * (size - 1) // 2:
            raise NotProved("there must be one distance for each pair of rows.")
        for (x, other), value in zip(combinations(range(size), 2), values):
            yield x, other, None if value == "inf" else length_of({"distance": value})
    else:
        raise NotProved(f"unknown shape of distances {distances['shape']!r:.40}, or one that does not fit.")


def labels_of(labels: Any, size: int | None) -> list[Any] | None:
    """The labels as exact numbers, texts and tuples of those: one for each row or column, no two alike."""
    if labels is None:
        return None
    found = [value_of(label) for label in labels] if isinstance(labels, list) else []
    if not found or len(set(found)) < len(found) or size not in (None, len(found)):
        raise NotProved("there must be one label for each row and each column, and no two alike.")
    return found


def value_of(label: Any) -> Any:
    if isinstance(label, dict):
        return tuple(map(value_of, label["tuple"])) if "tuple" in label else number(label["fraction"])
    return label if label is None or isinstance(label, (str, bool)) else Fraction(label)


def coordinates(label: Any) -> list[Any]:
    return [c for part in label for c in coordinates(part)] if isinstance(label, tuple) else [label]


def length_of(distances: Any) -> Fraction:
    """The one distance of a claim, or of one step."""
    if (distance := number(distances["distance"])) < 0:
        raise NotProved("a distance is negative.")
    return distance


def neighbouring_steps(distances: Any) -> int:
    """Numbers at distance at most 1 are at most this many steps apart when both are rounded to steps of that distance."""
    if (step := length_of(distances)) == 0:
        raise NotProved("the distance of one step must be above 0.")
    return -(-1 // step)


# Reading and writing ------------------------------------------------------------------------------------------------------


def number(value: Any) -> Fraction:
    """A whole number, or a text such as "1/3", "0.1" or "1e-9": short, so that no file makes this program run for ever."""
    if type(value) is int and abs(value) < 1 << 1024:
        return Fraction(value)
    if type(value) is str and len(value) <= 4000 and NUMBER.fullmatch(value):
        return Fraction(value)
    raise NotProved(f"the file is incomplete or malformed: {value!r:.40} is not a number like 1, 1/3 or 0.1.")


def whole(value: Any) -> int:
    if type(value) is int and abs(value) < 1 << 128:
        return value
    raise NotProved(f"the file is incomplete or malformed: {value!r:.40} is not a whole number below 2^128.")


def hexadecimal(value: Any) -> int:
    if type(value) is str and re.fullmatch("[0-9a-f]+", value):
        return int(value, 16)
    raise NotProved(f"the file is incomplete or malformed: {value!r:.40} is not a number in hexadecimal digits.")


def bits_of(value: Any, least: int, most: int) -> int:
    if type(value) is int and least <= value <= most:
        return value
    raise NotProved(f"width and precision must be whole numbers of bits, at most {most} and here at least {least}.")


def read(text: str) -> Any:
    """The document of a JSON text. A name that occurs twice is refused, since two readers could see two claims, and so are
    numbers that are not finite or too long. Floats occur in labels only: no field of a claim or proof may be one."""

    def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(members)) < len(members):
            raise ValueError("a name occurs twice.")
        return dict(members)

    def finite(text: str) -> Any:
        if len(text) > 4000 or not math.isfinite(float(text)):
            raise ValueError("a number is not finite, or too long.")
        return float(text) if "." in text or "e" in text.lower() else int(text)

    return json.loads(text, object_pairs_hook=once, parse_constant=finite, parse_float=finite, parse_int=finite)


def rounded(value: Fraction, way: str = ROUND_CEILING, digits: int = 6) -> str:
    """A number in six digits, rounded up (or another way); the float nearest to a decimal of six digits is shown as that."""
    short = f"{float(value):.{digits}g}"
    if Fraction(float(short)) == value:
        return f"{Decimal(short).normalize():f}"
    return f"{Context(prec=digits, rounding=way).divide(*map(Decimal, value.as_integer_ratio())).normalize():f}"


def spoken(name: str) -> str:
    """The name of a metric, in quotation marks where it could be taken for more of the sentence than a name."""
    bare = name
    while (inner := re.sub(r"\([^(;)]*\)", "", bare)) != bare:  # what is in parentheses
        bare = inner
    return name if re.fullmatch(r"[a-zA-Z0-9 .+*/^_-]*", bare) else repr(name)


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of everything but the digest itself, in a fixed spelling."""
    content = {key: value for key, value in document.items() if key != "digest"}
    spelled = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(spelled.encode()).hexdigest()


# The program --------------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=2)
def file_beside(name: str) -> Any:
    """A file beside this one with other kinds of proof: exactly that file, wherever Python looks for modules."""
    if __name__ == "noisewright.core.certificates.checker.checker":
        from noisewright.core.certificates.checker import checker_noise, checker_release

        return checker_release if name == RELEASE_FILE else checker_noise
    path = re.sub(r"[^/\\]*$", "", __file__) + name
    module = ModuleType(name[: -len(".py")])
    sys.modules["checker"] = sys.modules[__name__]  # where it imports from: this very program, whatever it is called
    try:
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), module.__dict__)
    except (OSError, ImportError, SyntaxError, ValueError):
        raise NotProved(
            f"a claim of this kind is proved in a second file, {name}, which must lie beside this program; "
            "noisewright verify --export-checker writes it as well."
        ) from None
    return module


def main(paths: list[str]) -> int:
    failed = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                print(f"{path}: proved: {check(read(file.read()))}")
        except NotProved as problem:
            failed += 1
            print(f"{path}: NOT PROVED: {problem}")
        except (OSError, ValueError, RecursionError) as problem:
            failed += 1
            print(f"{path}: NOT PROVED: it cannot be read as JSON ({type(problem).__name__}).")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
