"""A small reader of what a claim means, as ``verify`` prints it: between which secrets, and by how much odds change.

The secrets are read as they are named, and how far apart they are is computed from that, in units of the metric of the record.
The factor, the belief and the guess must not be below what follows for two secrets that far apart.
"""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from math import ceil

from tests.attack.reading import Reader, things
from tests.attack.truth import Document, dec
from tests.attack.truth_claims import metric_of, need

__all__ = ["read_meaning"]

SAFE = 1 - Decimal("1e-50")
FIGURE = re.compile(r"(e\^)?([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)")


def read_meaning(text: str, record: Document) -> None:
    """Raise an UntrueError if a meaning is not that of the record, or says less than follows from it."""
    reader, delta = Reader(text), Fraction(record["delta"])
    if reader.says("Nothing is promised about "):
        _pairs(reader, record)
        reader.expect(".")
        reader.end()
        return
    reader.expect("Between " if delta else "Whatever the output, the odds between ")
    distance = _pairs(reader, record)
    epsilon = Fraction(record["epsilon"])
    loss = epsilon * (ceil(distance) if record["scope"] == "adjacent" else distance)
    with localcontext() as context:
        context.prec = 60
        real = min(dec(loss), Decimal(100_000)).exp()
        if delta:
            closed = "lattice" in record["metric"]  # the pairs end with a comma already
            reader.expect(" no event is more than " if closed else ", no event is more than ")
            need(_factor(reader) >= real * SAFE, "a factor that is too low")
            reader.expect(" times as likely under one as under the other, plus ")
            need(_factor(reader) >= dec(delta), "a delta that is too low")
            reader.expect(". Somebody who guesses between two such ")
            _such(reader, record)
            reader.expect(", equally likely before, is right at most ")
            need(_factor(reader) >= min(Decimal(100), 100 * (real + dec(delta)) / (real + 1)) * SAFE, "a guess too low")
            reader.expect(" % of the time.")
        else:
            reader.expect(" change by a factor of at most ")
            need(_factor(reader) >= real * SAFE, "a factor that is too low")
            reader.expect(". A belief of 50 % in one of two such ")
            _such(reader, record)
            reader.expect(" can become at most ")
            need(_factor(reader) >= 100 * real / (1 + real) * SAFE, "a belief that is too low")
            reader.expect(" %.")
    own = [one for one in record["conditions"] if one["code"] == "not-a-training-record"]
    if own:
        reader.expect(" This holds ")
        reader.listed(own, lambda _: reader.expect("for records that the privatiser was not trained on"), "; ")
        reader.expect(".")
    reader.end()


def _factor(reader: Reader) -> Decimal:
    """Read a number, or a power of e."""
    found = FIGURE.match(reader.text, reader.place)
    need(found, "no number")
    assert found is not None
    reader.place = found.end()
    return min(Decimal(found[2]), Decimal(100_000)).exp() if found[1] else Decimal(found[2])


def _kind(record: Document) -> str:
    """Return the name of secrets in the plural."""
    base, secret = record["metric"].get("base"), record.get("secret")
    if secret is not None:
        return things(secret)
    return {"metres": "places", "words": "words"}.get(base, "secrets")


def _such(reader: Reader, record: Document) -> None:
    reader.expect(_kind(record).split(" ")[0])


def _pairs(reader: Reader, record: Document) -> Fraction:
    """Read which two secrets are meant. The result: how far apart they are at most, in the metric of the record."""
    (factor, base), secret = metric_of(record["metric"]), record.get("secret", {})
    name, kind = base.get("base"), secret.get("kind")
    reader.expect(f"any two {_kind(record)}")
    if kind == "hash":
        return _hashes(reader, factor, secret)
    if kind == "face":
        box = factor * int(secret["steps"])
        if not reader.says(" whose codes are within "):
            return box * int(secret.get("draws", 1))
        found = _size(reader, 1 / box) * box
        reader.expect(" (opposite corners of the public box being 1 apart)")
        return found
    if kind == "document":
        reader.expect(" of the same length" if secret.get("same_length") else "")
        matched = base["order"] == "matched"
        reader.expect(" whose matched words are" if matched else " whose words are, place by place,")
        reader.expect(" at most ")
        found = _size(reader, 1 / factor) * factor
        reader.expect(" apart in total")
        return found
    if name == "discrete" and (factor <= 1):
        reader.expect("" if secret else " that differ")
        return factor
    if secret.get("unit") == "pixel":
        pixel = factor * int(secret["channels"]) * (255 if name == "manhattan" else 1)
        reader.expect(" that differ in at most ")
        found = _size(reader, 1 / pixel) * pixel
        reader.expect(" pixel" if pixel == 1 else " pixels")
        return found
    if secret.get("unit") == "step":
        reader.expect(" that differ by at most ")
        found = _size(reader, 1 / factor) * factor
        reader.expect(f" step{'' if factor == 1 else 's'} of colour in total")
        return found
    if name in ("line", "euclidean"):
        reader.expect(" at most ")
        found = _size(reader, 1 / factor) * factor
        reader.expect(" apart")
    else:
        reader.expect(" within ")
        found = _size(reader, 1 / factor) * factor
        _measure(reader, record, factor)
    if "lattice" in base:
        reader.expect(", rounded to steps of ")
        reader.number(Fraction(2) ** base["lattice"], "down")
        reader.expect(",")
    return found if name != "discrete" or found >= factor else Fraction(0)  # otherwise nobody is meant


def _hashes(reader: Reader, factor: Fraction, secret: Document) -> Fraction:
    one = "bit" if secret["answers"] == 2 else "answer"
    if not reader.says(" whose hashes differ in at most "):
        return int(secret["bits"]) * factor
    found = _size(reader, 1 / factor) * factor
    reader.expect(f" {one}" if factor == 1 else f" {one}s")
    return found


def _size(reader: Reader, size: Fraction) -> Fraction:
    """Read a distance that is rounded down."""
    start = reader.place
    reader.number(size, "down")
    return Fraction(reader.text[start : reader.place])


def _measure(reader: Reader, record: Document, factor: Fraction) -> None:
    """Read the measure of a distance, where the secrets do not give it."""
    metric = record["metric"]
    if metric.get("base") == "metres":
        reader.expect(f" metre{'' if factor == 1 else 's'} on the map")
        return
    if "called" in metric:
        reader.expect(" (")
        if re.fullmatch(r"\w+([.-]\w+)*", metric["called"]):
            reader.expect(metric["called"])
        else:
            reader.python_name(metric["called"])
        reader.expect(")")
        return
    words = f" of {metric['count']} differences" if metric["base"] in ("largest", "sum") else ""
    if metric["base"] == "words":
        reader.expect(f" (euclidean between word vectors (sha256 {metric['file']}))")
        return
    scale = str(metric.get("factor", "1"))
    if scale != "1" and reader.says(f" ({scale} * "):
        reader.expect(f"{metric['base']}{words})")
        return
    reader.expect(f" ({metric['base']}{words})")
