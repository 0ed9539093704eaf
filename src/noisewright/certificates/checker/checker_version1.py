"""Certificates of version 1, which state some of their claim in English. Standard library only; for checker.py, which looks for
this file when it meets one.

Each English text of version 1 has a frozen wording. It is read here, written again from what was read, and compared byte for
byte; a text with another wording is refused. What was read becomes a record of version 2, and checker.py proves that. Nothing
is proved in this file, and no sentence of a certificate reaches the output.

Version 1 called two tables neighbours "that differ in the rows of one patient", also where they may have different numbers of
rows. Released rows show these numbers, so that sentence was too wide. The record here says what holds: the same rows, with
other values in the rows of one unit.
"""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __name__ == "noisewright.certificates.checker.checker_version1":
    from noisewright.certificates.checker.checker import NUMBER, PLAIN, RELEASE, SIMULATED, NotProved, digest, number

LATTICE = " between points of the lattice 2^"
DEGREES = r"-?[0-9]{1,3}(?:\.[0-9]{1,17})?(?:e-[0-9]{2})?"
BASE = re.compile(
    rf"(?P<base>discrete|hamming|line|euclidean|manhattan|metres around \((?P<north>{DEGREES}), (?P<east>{DEGREES})\)"
    r"|(?P<norm>largest|sum) of (?P<count>[1-9][0-9]{0,17}) differences"
    r"|((?P<order>matched|aligned) )?euclidean between word vectors \(sha256 (?P<file>[0-9a-f]{12})\))"
    rf"({re.escape(LATTICE)}(?P<lattice>0|-?[1-9][0-9]{{0,3}}))?"
)
LOOKS_LIKE_ONE = re.compile(
    "(" + "|".join(PLAIN) + ")|(metresaround|.*between(pointsofthelattice|wordvectors)|(largest|sum)ofdifferences).*"
)
ABOUT = {
    "unary-encoding": "the bits of any two categories; all other bits have one law under both, and are independent of these",
    "hadamard-response": "halves of blocks, uniform inside: every output has one of two probabilities, in this proportion",
    "local-hashing": "the buckets of any two categories, whatever the hash function, whose law is the same under both",
    "subset-selection": "any two categories; given which of them are in the set, the rest of it is uniform under both",
}
CLEAR = {
    "the number of words": "word-count",
    "the order of words": "word-order",
    "everything outside of the vocabulary": "unknown-words",
    "the names of the files": "file-names",
    "the outlines of the heads that are hidden": "outlines",
    "where each face is in every frame, so how it moves, and how long the video is": "motion",
    "who took each picture, when, where and with what, as their files say (EXIF)": "metadata",
    "what the privatiser tells about records that it was trained on": "training-records",
}
PROTECTS = re.compile(
    r"(?P<any>any two values)?(at most (?P<size>[0-9./e+-]+)( (?P<unit>[a-z]+(?: [a-z]+)?))?"
    r"( \((?P<metric>(?!wh(ether one|at) is )[^()]+)\))?)?"
    r"(?P<shown> \(whether one is missing is shown\))?"
    r'( \(what is not declared counts as (?P<other>"(?:[^"\\]|\\.)*"|[-+.0-9e]+|true|false)\))?'
)
SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}
TYPES = {
    "metre": "place",
    "pixel": "picture",
    "step": "picture",
    "code unit": "face",
    "differing bit": "hash",
    "differing answer": "hash",
}


def upgraded(document: Any) -> Any:
    """The same certificate in version 2, with a digest of its own."""
    if document.get("digest") != digest(document):
        raise NotProved("the file was changed or cut after it was written: its digest does not match its content.")
    found = release(document) if document.get("format") == RELEASE else mechanism(document)
    found["version"] = 2
    return {**found, "digest": digest(found)}


# Mechanisms ---------------------------------------------------------------------------------------------------------------


def mechanism(document: Any) -> Any:
    """A certificate of one mechanism, or a part of a product, in version 2."""
    found, claim, proof = dict(document), dict(document["claim"]), dict(document["proof"])
    step = found.get("step")
    claim["metric"] = metric(claim["metric"], claim["distances"], step)
    if "around" in proof:
        proof["around"] = re.findall(DEGREES, proof["around"])
    if "parts" in proof:
        proof["parts"] = [mechanism(part) for part in proof["parts"]]
    if "lattice" in found:
        power = re.fullmatch(r"multiples of 2\^(0|-?[1-9][0-9]{0,3})", found["lattice"])
        found["lattice"] = int(power[1]) if power else None
    if "about" in found and found.pop("about") != ABOUT.get(found["mechanism"]):
        raise NotProved("only an oracle has the field 'about', and it says what is known of its kind.")
    if "in_the_clear" in found:
        found["in_the_clear"] = [
            {"code": CLEAR[text]} if text in CLEAR else {"called": text} for text in found["in_the_clear"]
        ]
    if "measured" in found:
        found["measured"] = {"texts": found["measured"]}
    if "randomness" in found:
        found["randomness"] = randomness(found["randomness"])
    return {**found, "claim": claim, "proof": proof}


RATE = re.compile(r"names ([0-9]{1,3}(?:\.[0-9]+)?) % of them")


def rate_of(measured: Any) -> str | None:
    """Read how often the best attacker was right, in per cent, from what version 1 measured on public faces; None if unsaid."""
    found = RATE.search(measured["texts"][-1])
    return None if found is None else found[1]


def randomness(text: Any) -> Any:
    """Where random bits come from; every text that mentions a simulation is one."""
    if type(text) is str and text.startswith(BY_HAND):
        return {"lots": text[len(BY_HAND) :]}
    return SIMULATED if re.search("simulation|not for release", str(text).lower()) else text


BY_HAND = "drawn by each respondent with "


def metric(name: Any, distances: Any, step: Any) -> Any:
    """The record of a metric's name. A name is read as a whole and to the letter, or not at all."""
    if type(name) is not str or not name.isascii() or not name.isprintable() or not 0 < len(name) <= 5000:
        raise NotProved("the name of the metric is not a short text of printable ASCII.")
    head, star, base = name.partition(" * ")
    head, base = (head, base) if star else ("1", name)
    found = BASE.fullmatch(base)
    if found is None or not (NUMBER.fullmatch(head) or ROUNDED.fullmatch(head)):
        if LOOKS_LIKE_ONE.fullmatch(re.sub("[^a-z]", "", name.lower())):
            raise NotProved(
                f"the metric is called {name!r:.100}, which only looks like a name that this checker reads."
            )
        return {"called": name}
    record: dict[str, Any] = {"base": found["base"]}
    if found["north"]:
        record = {"base": "metres", "around": [found["north"], found["east"]]}
    elif found["norm"]:
        record = {"base": found["norm"], "count": int(found["count"])}
    elif found["file"]:
        record = {"base": "words", "file": found["file"], **({"order": found["order"]} if found["order"] else {})}
    record |= {"lattice": int(found["lattice"])} if found["lattice"] else {}
    factor = exact_factor(head, found["lattice"], distances, step)
    return {**record, **({"factor": str(factor)} if factor != 1 else {})}


ROUNDED = re.compile("[0-9]+(\\.[0-9]+|(\\.[0-9]+)?e[+-][0-9]{2,3})")


def exact_factor(head: str, power: Any, distances: Any, step: Any) -> Fraction:
    """The exact factor of a metric: where that was long, version 1 wrote the float below it.

    The step of the noise gives the exact factor, and the next float above is one that claims less.
    """
    if not ROUNDED.fullmatch(head):
        return number(head)
    above = math.nextafter(float(head), math.inf)
    exact = Fraction(above)
    if distances["shape"] in ("steps", "adjacent"):
        exact = number(distances["distance"]) / (number(step) if step is not None else Fraction(2) ** int(power or 0))
    if not Fraction(float(head)) <= exact <= Fraction(above):
        raise NotProved("the factor of the metric is not the float below the one that the distances are about.")
    return exact


# Releases -----------------------------------------------------------------------------------------------------------------


def release(document: Any) -> Any:
    """The certificate of a release in version 2."""
    found = dict(document)
    unit, relation = found.pop("unit"), found["neighbours"]
    if set(unit) != {"column", "rows"} or relation not in ("replace", "add-remove"):
        raise NotProved("the unit or the neighbours are not stated properly.")
    if document["between"] != between_of(document):
        raise NotProved("which tables the release is about is not what its parts say.")
    del found["between"]
    found["neighbours"] = {
        "relation": "same-rows" if relation == "replace" else relation,
        "unit": unit["column"],
        "rows": unit["rows"],
    }
    changed = found.get("context_aware", [])
    if "context_aware" in found and not changed:
        raise NotProved("what is changed without an epsilon is not listed properly.")
    found["context_aware"] = [{name: value for name, value in one.items() if name != "promise"} for one in changed]
    rowwise = bool(found["kept"] or changed) or any(part["kind"] == "column" for part in document["parts"])
    found["order"] = found.get("order", "unsaid" if rowwise else None)
    found["randomness"] = randomness(found["randomness"])
    found["parts"] = [part_of(part, document) for part in document["parts"]]
    return found


def part_of(part: Any, document: Any) -> Any:
    """A part of a release in version 2."""
    found, certificate = dict(part), part["certificate"]
    if certificate.get("version") != 1 or certificate.get("digest") != digest(certificate):
        raise NotProved("a certificate in it was changed or cut after it was written.")
    found["certificate"] = upgraded(certificate)
    if part["kind"] != "query":
        found["protects"] = protected(part["protects"], found["distance"], found["certificate"])
        return found
    there = "there or not" if document["neighbours"] == "add-remove" else "with any other values"
    if found.pop("protects") != f"{one_of(document['unit'])}, {there}":
        raise NotProved("what an answer protects is not the unit of the release.")
    found.setdefault("statistic", None)
    return found


def protected(words: Any, distance: Any, certificate: Any) -> Any:
    """Read what a column protects from words such as "at most 7 days (whether one is missing is shown)"."""
    found = PROTECTS.fullmatch(words)
    if found is None or bool(found["any"]) == bool(found["size"]):
        raise NotProved("what it says to protect is not worded as in version 1.")
    record: dict[str, Any] = (
        {"kind": "any"} if found["any"] else {"kind": "near", "distance": str(number(found["size"]))}
    )
    if found["size"]:
        singular = number(found["size"]) == 1
        unit = found["unit"] if found["unit"] is None or singular else found["unit"].removesuffix("s")
        if unit is not None and (unit.endswith("s") or (not singular and unit == found["unit"])):
            raise NotProved("what it says to protect is not worded as in version 1.")
        record["type"] = type_of(unit, number(found["size"]), distance, certificate)
        record |= {"unit": unit} if unit is not None else {}
        if found["metric"]:
            base = {
                name: value
                for name, value in certificate["claim"]["metric"].items()
                if name not in ("factor", "lattice")
            }
            if found["metric"] not in (base.get("base"), base.get("called")):
                raise NotProved("it states another metric than its certificate.")
            record["metric"] = base
    elif distance != "any" or certificate.get("outside") == "keep":
        record["range"] = "stated"  # its certificate has no ends, or takes values from beyond them
    record |= {"missing": "shown"} if found["shown"] else {}
    return {**record, **({"other": json.loads(found["other"])} if found["other"] else {})}


def type_of(unit: Any, size: Fraction, distance: Any, certificate: Any) -> str:
    """The type of a column by its unit; a number of days is one of dates, unless as many seconds are paid for."""
    if unit is None:
        return "number"
    if unit not in SECONDS:
        return TYPES.get(unit, "unknown")
    factor = number(certificate["claim"]["metric"].get("factor", "1"))
    seconds = distance not in ("any", "radius") and size * SECONDS[unit] <= number(distance) / factor
    return "date" if unit == "day" and not seconds else "time"


def one_of(unit: Any) -> str:
    return "one row" if unit["column"] is None else f"the rows of one {unit['column']} (at most {unit['rows']})"


TABLES = re.compile(
    r"two tables that differ in (?:one row|the rows of one (?P<unit>.+) \(at most (?P<rows>[1-9][0-9]{0,17})\))"
    r"(?P<there>, there or not)?"
)


def neighbours(text: str) -> dict[str, Any] | None:
    """Read which tables are neighbours, as ledgers recorded it in version 1; None for a text with another wording."""
    if (found := TABLES.fullmatch(text)) is None:
        return None
    relation = "add-remove" if found["there"] else "same-rows"
    return {"relation": relation, "unit": found["unit"], "rows": int(found["rows"] or 1)}


def between_of(document: Any) -> str:
    """Which tables a release is about, as version 1 worded it."""
    alike: dict[str, list[str]] = {}
    for part in document["parts"]:
        if part["kind"] == "column":
            alike.setdefault(part["protects"], []).append(" with ".join(part["columns"]))
    listed = [(words, ", ".join(names[:-1])) for words, names in alike.items()]
    ways = [f"by {words} in {f'{first} and ' if first else ''}{alike[words][-1]}" for words, first in listed]
    there = ", there or not" if document["neighbours"] == "add-remove" else ""
    return f"two tables that differ in {one_of(document['unit'])}{there}{': ' if ways else ''}{', '.join(ways)}"
