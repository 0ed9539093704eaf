#!/usr/bin/env python3
"""Re-proves a Noisewright certificate. Standard library only; run it alone:  python checker.py FILE...

A certificate claims: whatever the output, its probabilities under two secrets x and x' differ by a factor of at most
e^(epsilon * d(x, x')), where d is the stated distance. This program believes nothing in the file but the claim and the
integers that are drawn from, and proves the one from the other with integers alone. There are three kinds:

  table     output y has probability table[x][y] / 2^width. Proved: every row sums to 2^width, and for every two secrets and
            every output  table[x][y] <= L * table[x'][y],  L being a fraction below e^(epsilon d).
  response  as a table whose diagonal entries are all `keep` and all others `other`; d is one distance for every pair.
  law       integer noise with P(k) proportional to e^(-|k|/scale), added to a number and perhaps clamped; a step of one
            changes log-probabilities by at most 1/scale. Proved: 1/scale <= epsilon * d for one step.

The only analysis used is e^z >= 1 + z + z^2/2! + ... cut anywhere (z >= 0), and e^z = (e^(z/2))^2.
"""

import hashlib
import json
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

FORMAT = "noisewright-certificate"
VERSION = 1


class NotProved(Exception):
    """The certificate does not prove its claim; the message says where."""


def check(document: Any) -> str:
    """Prove the claim of a certificate (a dict as read from JSON) and return it in words, or raise NotProved."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise NotProved("this is not a Noisewright certificate.")
    if document.get("version") != VERSION:
        raise NotProved(f"this checker reads version {VERSION}, the file says {document.get('version')!r}.")
    if document.get("digest") != digest(document):
        raise NotProved("the file was changed or cut after it was written: its digest does not match its content.")
    try:
        claim, proof = document["claim"], document["proof"]
        epsilon = Fraction(claim["epsilon"])
        if epsilon < 0 or Fraction(claim["delta"]) != 0:
            raise NotProved("this checker proves claims with epsilon >= 0 and delta = 0 only.")
        kinds = {"table": check_table, "response": check_response, "law": check_law}
        kinds[proof["kind"]](epsilon, claim["distances"], proof)
        return f"epsilon = {float(epsilon):.6g} per unit of {claim['metric']}"
    except NotProved:
        raise
    except (KeyError, TypeError, ValueError, ArithmeticError, IndexError, AttributeError, MemoryError) as problem:
        raise NotProved(f"the file is incomplete or malformed ({type(problem).__name__}: {problem}).") from None


def check_table(epsilon: Fraction, distances: Any, proof: Any) -> None:
    width, precision = size_of(proof["width"]), size_of(proof["precision"])
    rows = [[int(entry, 16) for entry in row] for row in proof["table"]]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise NotProved("the table has rows of different lengths, or none.")
    for x, row in enumerate(rows):
        if min(row) < 0 or sum(row) != 1 << width:
            raise NotProved(f"row {x} of the table does not sum to 2^{width}, or has a negative entry.")
    if distances["shape"] == "uniform":  # the largest entry of a column against the smallest covers every pair
        limit = exp_below(epsilon * Fraction(distances["distance"]), precision)
        for y, column in enumerate(zip(*rows)):
            compare(max(column), min(column), limit, precision, "two rows", y)
        return
    for x, other, distance in pairs(distances, len(rows)):
        limit = exp_below(epsilon * distance, precision)
        for y in range(len(rows[x])):
            compare(rows[x][y], rows[other][y], limit, precision, f"rows {x} and {other}", y)
            compare(rows[other][y], rows[x][y], limit, precision, f"rows {other} and {x}", y)


def check_response(epsilon: Fraction, distances: Any, proof: Any) -> None:
    width, precision, size = size_of(proof["width"]), size_of(proof["precision"]), int(proof["size"])
    keep, other = int(proof["keep"], 16), int(proof["other"], 16)
    if size < 2 or min(keep, other) < 0 or keep + (size - 1) * other != 1 << width:
        raise NotProved(f"keep + (size - 1) * other is not 2^{width}.")
    if distances["shape"] != "uniform":
        raise NotProved("a response needs one distance for every pair.")
    limit = exp_below(epsilon * Fraction(distances["distance"]), precision)
    compare(keep, other, limit, precision, "two rows", "of the truth")
    compare(other, keep, limit, precision, "two rows", "of the truth")


def check_law(epsilon: Fraction, distances: Any, proof: Any) -> None:
    if proof["law"] != "discrete laplace" or distances["shape"] != "steps":
        raise NotProved(f"unknown law {proof['law']!r}.")
    step, scale = Fraction(distances["distance"]), Fraction(proof["scale"])
    if step <= 0 or scale <= 0 or epsilon * step * scale < 1:
        raise NotProved("the scale of the noise is too small for the claim.")


def pairs(distances: Any, size: int) -> Iterator[tuple[int, int, Fraction]]:
    """Pairs (x, x', distance) whose losses imply all others."""
    if distances["shape"] == "line":  # distances on a line add up, so neighbours suffice
        places = [Fraction(place) for place in distances["places"]]
        if len(places) != size:
            raise NotProved("there must be one place for each row.")
        order = sorted(range(size), key=places.__getitem__)
        for x, other in zip(order, order[1:]):
            yield x, other, places[other] - places[x]
    elif distances["shape"] == "table":  # the part above the diagonal, row by row
        values = distances["distances"]
        if len(values) != size * (size - 1) // 2:
            raise NotProved("there must be one distance for each pair of rows.")
        every = iter(values)
        for x in range(size):
            for other in range(x + 1, size):
                value = next(every)
                if value != "inf":
                    if Fraction(value) < 0:
                        raise NotProved("a distance is negative.")
                    yield x, other, Fraction(value)
    else:
        raise NotProved(f"unknown shape of distances {distances['shape']!r}.")


def size_of(bits: Any) -> int:
    """A number of bits, within reason: a file must not make this program run for ever."""
    if not isinstance(bits, int) or not 0 <= bits <= 1 << 20:
        raise NotProved("width and precision must be whole numbers of bits, at most 2^20.")
    return bits


def compare(larger: int, smaller: int, limit: int, precision: int, rows: str, output: object) -> None:
    if larger << precision > limit * smaller:
        raise NotProved(f"the promise is broken between {rows} at output {output}.")


def exp_below(exponent: Fraction, precision: int) -> int:
    """An integer at most e^exponent * 2^precision, for exponent >= 0; every step is rounded down."""
    exponent = min(exponent, Fraction(precision))  # a smaller exponent is still below, and keeps the number short
    halvings = int(exponent).bit_length() + 8
    work = precision + 2 * halvings + 32
    argument = (exponent.numerator << work) // (exponent.denominator << halvings)
    total, term, order = 0, 1 << work, 0
    while term:
        total, order = total + term, order + 1
        term = (term * argument // order) >> work
    for _ in range(halvings):
        total = total * total >> work
    return total >> (work - precision)


def read(text: str) -> Any:
    """The document of a JSON text; a name that occurs twice is refused, since two readers could see two claims."""

    def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(members)) < len(members):
            raise ValueError("a name occurs twice.")
        return dict(members)

    return json.loads(text, object_pairs_hook=once)


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of everything but the digest itself, in a fixed spelling."""
    content = {key: value for key, value in document.items() if key != "digest"}
    spelled = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(spelled.encode()).hexdigest()


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
