"""Whether the record that ``verify`` proves is true: each of its fields, against the certificate that it was proved from.

A field is true by arithmetic (:mod:`tests.attack.truth`), or it is what the file states, and then it must be in the record as the
file has it. What is left out of a record counts as well: a simulation, something in the clear, a limit of the claim.
"""

from __future__ import annotations

import json
import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tests.attack.truth import Claim, Document, TooLargeError, UntrueError, any_two, at_most, dec, holds, law_loss
from tests.attack.truth_words import words_hold

__all__ = ["as_stated", "judge_claim", "metric_of", "need", "whole_loss"]

RELEASED = "system seed, AES-256-CTR"
BASES = {"discrete", "hamming", "line", "euclidean", "manhattan", "metres", "largest", "sum", "words"}
FIELDS = {"epsilon", "delta", "scope", "metric", "secret", "conditions"}
EARLIER_CLEAR = {  # what version 1 called them
    "the number of words": "word-count",
    "the order of words": "word-order",
    "everything outside of the vocabulary": "unknown-words",
    "the names of the files": "file-names",
    "the outlines of the heads that are hidden": "outlines",
    "where each face is in every frame, so how it moves, and how long the video is": "motion",
    "who took each picture, when, where and with what, as their files say (EXIF)": "metadata",
    "what the privatiser tells about records that it was trained on": "training-records",
}


def need(fact: Any, why: str) -> None:
    """Raise an UntrueError where something is not so."""
    if not fact:
        raise UntrueError(why)


# What a file states -------------------------------------------------------------------------------------------------------


def metric_of(stated: Any) -> tuple[Fraction, dict[str, Any]]:
    """Return the factor and the base of a metric: a record, or a name of version 1; an empty base for a name of its own."""
    if isinstance(stated, str):
        stated = _named(stated)
    need(isinstance(stated, dict) and stated and set(stated) & {"base", "called"}, "no metric")
    if "called" in stated:
        need(set(stated) <= {"called", "factor"} and Fraction(stated.get("factor", 1)) == 1, "a name with more")
        return Fraction(1), {}
    need(stated["base"] in BASES, "an unknown metric")
    known = {"base", "factor", "lattice", "around", "count", "file", "order"}
    need(set(stated) <= known, "an unknown field of a metric")
    factor = Fraction(stated.get("factor", 1))
    need(factor > 0, "a factor of nothing")
    return factor, {name: value for name, value in stated.items() if name != "factor"}


def _named(name: str) -> dict[str, Any]:
    """Return the record of a name of version 1."""
    number = r"(?:([0-9./e+-]+) \* )?"
    bases = (
        r"(discrete|hamming|line|euclidean|manhattan)",
        r"metres around \(([-0-9.e]+), ([-0-9.e]+)\)",
        r"(largest|sum) of ([0-9]+) differences",
        r"(?:(matched|aligned) )?euclidean between word vectors \(sha256 ([0-9a-f]{12})\)",
    )
    for kind, base in enumerate(bases):
        found = re.fullmatch(f"{number}{base}(?: between points of the lattice 2\\^(-?[0-9]+))?", name)
        if found is None:
            continue
        factor, *inner, power = found.groups()
        made: dict[str, Any] = (
            {"base": inner[0]},
            {"base": "metres", "around": inner},
            {"base": inner[0], "count": int(inner[-1] or 0) if kind == 2 else 0},
            {"base": "words", "file": inner[-1], **({"order": inner[0]} if inner[0] else {})},
        )[kind]
        return made | ({"factor": factor} if factor else {}) | ({"lattice": int(power)} if power else {})
    return {"called": name}


def as_stated(document: Document) -> Document:
    """Return a certificate of version 1 as version 2 would state it, and one of version 2 as it is."""
    if document.get("version", 1) != 1:
        return document
    found = {**document, "claim": {**document["claim"]}, "proof": {**document["proof"]}}
    factor, base = metric_of(document["claim"]["metric"])
    factor = _unrounded(factor, base, document)
    found["claim"]["metric"] = {**base, "factor": str(factor)} if base else {"called": document["claim"]["metric"]}
    if "around" in found["proof"]:
        found["proof"]["around"] = re.findall(r"[-0-9.e]+", document["proof"]["around"])
    if "parts" in found["proof"]:
        found["proof"]["parts"] = [as_stated(part) for part in document["proof"]["parts"]]
    if "in_the_clear" in found:
        clear = document["in_the_clear"]
        found["in_the_clear"] = [
            {"code": EARLIER_CLEAR[one]} if one in EARLIER_CLEAR else {"called": one} for one in clear
        ]
    if "measured" in found:
        found["measured"] = {"texts": document["measured"]}
    return found


def _unrounded(factor: Fraction, base: Document, document: Document) -> Fraction:
    """Return the exact factor, from the step of the noise: version 1 wrote the float below a long one."""
    stated = document["claim"]["distances"]
    if stated["shape"] not in ("steps", "adjacent") or "." not in document["claim"]["metric"]:
        return factor
    step = Fraction(document["step"]) if "step" in document else Fraction(2) ** base.get("lattice", 0)
    exact, below = Fraction(stated["distance"]) / step, Fraction(float(factor))
    return exact if below <= exact <= Fraction(math.nextafter(float(factor), math.inf)) else factor


def simulated(randomness: Any, earlier: bool = False) -> bool:
    """Return whether draws are those of a simulation; in version 1 every text that mentions one is."""
    if earlier and not str(randomness).startswith("drawn by each respondent"):
        return any(words in str(randomness).lower() for words in ("simulation", "not for release"))
    return (
        randomness != RELEASED
        and type(randomness) is not dict
        and not str(randomness).startswith("drawn by each respondent")
    )


# The record ---------------------------------------------------------------------------------------------------------------


def judge_claim(record: Document, document: Document) -> None:
    """Raise an UntrueError if the record of one mechanism has anything that is not so, or lacks what the file states."""
    stated = as_stated(document)
    need(FIELDS - {"secret"} <= set(record) <= FIELDS, "other fields of a record")
    epsilon, delta, scope = Fraction(record["epsilon"]), Fraction(record["delta"]), record["scope"]
    need(epsilon >= 0 and 0 <= delta < 1 and scope in ("metric", "adjacent"), "numbers that are none")
    found: dict[str, list[Document]] = {}
    for one in record["conditions"]:
        found.setdefault(one["code"], []).append({name: value for name, value in one.items() if name != "code"})
    need(
        all(len(many) == 1 for code, many in found.items() if code not in ("public-file", "not-a-training-record")),
        "twice",
    )
    conditions = {code: many[0] for code, many in found.items()}
    _facts(conditions, found, record, stated)
    whole = json.dumps([record, stated["proof"], _labels(stated), stated["claim"]["distances"]], sort_keys=True)
    need(_true(whole), "an epsilon that is too small, or a delta")
    if "secret" in record or "secret" in stated["claim"] or "order" in metric_of(record["metric"])[1]:
        _secret(record.get("secret"), record["metric"], stated)
    need("hashing" not in stated or record.get("secret", {}).get("kind") == "hash", "hashes that are not said to be")


def _labels(document: Document) -> Document:
    names = ("inputs", "outside", "answers", "within", "step", "oracle", "mechanism", "randomness", "format", "version")
    return {name: document[name] for name in names if name in document}


KNOWN = {
    *(
        "steps",
        "points-in-steps",
        "intervals",
        "level",
        "parts",
        "infinitely-apart",
        "stated-distances",
        "word-file",
        "slope",
    ),
    *("hashes", "clear", "measured", "simulation", "public-file", "public-seed", "not-a-training-record"),
}


def _facts(conditions: Document, found: dict[str, list[Document]], record: Document, stated: Document) -> None:
    """Compare every fact of the record with the file: nothing may be added, changed or left out."""
    need(set(conditions) <= KNOWN, "a condition that is not known")
    need(
        ("simulation" in conditions) == simulated(stated["randomness"], stated.get("version") == 1),
        "whether it is a simulation",
    )
    files = [{"name": one["name"], "sha256": one["sha256"]} for one in stated.get("resources", [])]
    need(found.get("public-file", []) == files, "public files")
    need(found.get("public-seed", []) == ([{"seed": stated["seed"]}] if "seed" in stated else []), "the public seed")
    clear, measured, hashing = stated.get("in_the_clear", []), stated.get("measured"), stated.get("hashing")
    need(conditions.get("clear", {}).get("what", []) == clear, "what is in the clear")
    need(conditions.get("measured") == measured, "what was measured")
    hashes = None if hashing is None else {"dimension": hashing["dimension"], "family": hashing["family"]}
    need(conditions.get("hashes") == hashes, "what is hashed")
    own = [{"code": "not-a-training-record"}] * len(found.get("not-a-training-record", []))
    need(stated["claim"].get("conditions", []) == own, "the conditions that the claim states itself")
    base = metric_of(record["metric"])[1]
    need(
        base == metric_of(stated["claim"]["metric"])[1] and (base or record["metric"] == stated["claim"]["metric"]),
        "another metric",
    )
    need(("stated-distances" in conditions) == (not base), "where distances come from")
    values = stated["claim"]["distances"].get("distances", [])
    endless = {"pairs": values.count("inf"), "of": len(values)} if not base and "inf" in values else None
    need(conditions.get("infinitely-apart") == endless, "what is infinitely far apart")
    parts = stated["proof"].get("parts")
    if parts is not None:
        counts = [part["count"] for part in parts]
        need(conditions.get("parts") == {"count": None if None in counts else sum(counts)}, "how many parts there are")
        codes = {one.get("code") for one in clear}
        if "order" in base:
            need(None not in counts or "word-count" in codes, "the number of words is in the clear")
            need(base["order"] != "aligned" or "word-order" in codes, "the order of words is in the clear")
    level = conditions.get("level")
    if level is not None:
        claim = stated["claim"]
        need(all(Fraction(value) == Fraction(claim[name]) for name, value in level.items()), "the level")
        need(
            set(level) == {"level", "radius"} | ({"on_map"} if base.get("base") == "metres" else set()),
            "a level of less",
        )


@lru_cache(maxsize=1 << 13)
def _true(whole: str) -> bool:
    """Return whether the numbers of a record hold for a proof; both are given as JSON, so that results are kept."""
    record, proof, labels, distances = json.loads(whole)
    factor, base = metric_of(record["metric"])
    conditions = {one["code"]: one for one in record["conditions"]}
    document = {**labels, "proof": proof, "claim": {**record, "distances": distances}}
    epsilon, delta, near = Fraction(record["epsilon"]), Fraction(record["delta"]), record["scope"] == "adjacent"
    with localcontext() as context:
        context.prec = 60
        if base.get("base") == "words":
            return _words(epsilon, factor, base, conditions, document)
        if proof["kind"] == "product":
            return not near and _product(Claim(epsilon, delta, factor, base, Fraction(1), False), conditions, document)
        step = _step(factor, base, conditions, document, near)
        claim = Claim(
            epsilon, delta, factor, {name: value for name, value in base.items() if name != "lattice"}, step, near
        )
        return holds(claim, document) and ("level" not in conditions or _level(conditions["level"], step, proof))


def _step(factor: Fraction, base: Document, conditions: Document, document: Document, near: bool) -> Fraction:
    """Return the step of the noise, which the record must give, also as a limit where it is one; 1 for no noise."""
    proof, distances = document["proof"], document["claim"]["distances"]
    said = [Fraction(conditions[code]["step"]) for code in ("steps", "points-in-steps") if code in conditions]
    if "lattice" in base:
        said.append(Fraction(2) ** base["lattice"])
    need(len(said) <= 1, "two steps")
    if proof["kind"] in ("table", "response", "chances", "constant", "weights"):
        need(not said, "a step of no noise")
        return Fraction(1)
    step = Fraction(distances["distance"]) / factor
    need(step > 0 and said in ([step], [] if step != 1 else said or []), "another step")
    need(Fraction(document.get("step", step)) == step, "another step than is stated")
    limit = (
        not near
        and proof["kind"] != "half line"
        and "lattice" not in base
        and not (proof["kind"] == "law" and step == 1)
    )
    need(not limit or "points-in-steps" in conditions, "a limit is missing: points in steps")
    ends = document.get("within", []), document.get("answers", [])
    if proof["kind"] in ("ranged", "half line"):
        intervals = conditions.get("intervals", {}).get("ends")
        same = _ends(ends[0]) == _ends(ends[1]) and len(ends[1]) == 1
        need(intervals is None if same else intervals is not None, "for which answers it is")
        need(intervals is None or _ends(intervals) == _ends(ends[1]), "other answers")
        _rounded(ends, step, proof)
    return step


def _ends(stated: Any) -> list[list[Fraction | None]]:
    return [[None if end is None else Fraction(end) for end in pair] for pair in stated]


def _rounded(ends: Any, step: Fraction, proof: Document) -> None:
    """Compare the lattice points of intervals with those of the proof."""
    for stated, name in zip(ends, ("ranges", "inputs"), strict=True):
        for (low, high), pair in zip(_ends(stated), proof.get(name, []), strict=False):
            inside = [None if low is None else -(-low // step), None if high is None else high // step]
            need(inside == list(pair), "other lattice points")


def _level(level: Document, step: Fraction, proof: Document) -> bool:
    """Compare all differences that two points within the radius can have after each is rounded to its nearest lattice point."""
    radius = Fraction(level["on_map"] if "on_map" in level else level["radius"])
    need(0 < Fraction(level["radius"]) <= radius, "a radius that is none")
    radius, largest = radius / step, 0
    if radius > 20_000:
        raise TooLargeError("a radius that is too far")
    for across in range(int(radius) + 2):
        left = radius**2 - max(across - 1, 0) ** 2
        if left >= 0:  # rounding adds less than a step to each
            root = int(dec(left).sqrt())
            largest = max(largest, across**2 + (root + 1) ** 2)
    return at_most(dec(Fraction(proof["rate"])) * Decimal(largest).sqrt(), Fraction(level["level"]))


def _words(epsilon: Fraction, factor: Fraction, base: Document, conditions: Document, document: Document) -> bool:
    need("word-file" in conditions, "words of no file")
    file, slope = conditions["word-file"], conditions.get("slope")
    parts = document["proof"].get("parts", [document])
    need(all(part["proof"]["kind"] == "words" for part in parts), "documents of no words")
    need(all(part["proof"]["words"] == file["words"] for part in parts), "another number of words")
    need(all(Fraction(part["proof"]["step"]) == Fraction(file["step"]) for part in parts), "another step")
    sloped = {part["proof"].get("slope") for part in parts}
    need(len(sloped) == 1 and (slope is None) == (sloped == {None}), "whether a slope is stated")
    free = None
    if slope is not None:
        need(Fraction(slope["slope"]) == Fraction(parts[0]["proof"]["slope"]), "another slope")
        free = None if slope["without"] is None else Fraction(slope["without"]) * factor
    order = base.get("order", "")
    return words_hold(epsilon * factor, order, Fraction(file["step"]), free, slope is not None, document)


# Products -----------------------------------------------------------------------------------------------------------------


def _product(claim: Claim, conditions: Document, document: Document) -> bool:
    """Add up the losses of independent coordinates: the largest of one for hamming and manhattan, all of them for discrete."""
    name, parts, allowed = claim.base.get("base"), document["proof"]["parts"], claim.epsilon * claim.factor
    need(parts and all(part["count"] is None or part["count"] >= 1 for part in parts), "no parts")
    if name in ("hamming", "discrete"):
        need(not set(conditions) & {"steps", "points-in-steps", "intervals"}, "a step of any two values")
        need("lattice" not in claim.base, "a lattice of any two values")
        found = [any_two(part) for part in parts]
        deltas = sum((delta * (part["count"] or 1) for (_, delta), part in zip(found, parts, strict=True)), Fraction(0))
        if name == "hamming":
            return all(at_most(loss, allowed) and not delta for loss, delta in found)
        need(all(part["count"] is not None for part in parts), "any number of parts")
        return at_most(whole_loss(document), allowed) and deltas <= claim.delta
    need(name == "manhattan", "a product for another metric")
    for part in parts:
        factor, base = metric_of(part["claim"]["metric"])
        scope = part["claim"]["distances"]["shape"] == "adjacent"
        need(base.get("lattice") == claim.base.get("lattice") and not scope, "parts on another lattice")
        need(base.get("base") in ("line", "manhattan"), "parts of another metric")
        known = {code: one for code, one in conditions.items() if code in ("steps", "points-in-steps", "intervals")}
        step = _step(factor, base, known, part, False)
        one = Claim(allowed, Fraction(0), Fraction(1), {"base": base["base"]}, step, False)
        if not holds(one, part):
            return False
    return True


def whole_loss(document: Document) -> Decimal:
    """Return the largest loss between any two secrets of a product, whatever they are: the sum over all of its coordinates."""
    total = Decimal(0)
    for part in document["proof"]["parts"]:
        proof = part["proof"]
        if proof["kind"] == "law" and proof.get("clamp") and proof["law"] == "discrete laplace":
            each = law_loss(proof["clamp"][1] - proof["clamp"][0], proof)
        else:
            each = any_two(part)[0]
        total += each * part["count"]
    return total


def _secret(secret: Document | None, metric: Any, stated: Document) -> None:
    """Compare the secrets with those that the file states, and with the parts."""
    base, own = metric_of(metric)[1], stated["claim"].get("secret")
    need(secret is not None, "what a secret is")
    assert secret is not None
    parts = stated["proof"]["parts"]
    counts = [part["count"] for part in parts]
    if "hashing" in stated or secret["kind"] == "hash":
        (part,), family = parts, stated["hashing"]["family"]
        made = {"kind": "hash", "family": family, "bits": part["count"], "answers": part["proof"]["size"]}
        need(secret == made and part["proof"]["kind"] == "response" and base == {"base": "hamming"}, "hashes")
        need("seed" in stated and type(part["count"]) is int, "hashes without a seed")
        return
    if "order" in base or secret["kind"] == "document":
        need("order" in base, "documents of no words")
        need(secret == {"kind": "document", **({"same_length": True} if None in counts else {})}, "documents")
        return
    need(secret == own, "other secrets than the file states")
    draws, touching = secret.get("draws", 1), secret.get("touching", 1)
    need(all(type(number) is int for number in (draws, touching)), "draws that are not numbers")
    need(None not in counts and 1 <= touching <= draws and not any(count % draws for count in counts), "draws")
    need(draws == 1 or "touching" in secret, "how many draws can show one person is not stated")
    need("inside" in secret or not set(secret) & {"count", "draws", "touching"}, "draws of a whole picture")
    if "inside" in secret:
        need(secret["inside"] in ("region", "mask", "place", "track") and secret["count"] >= 1, "parts of pictures")
    if secret["kind"] == "face":
        spans = sum((part["proof"]["clamp"][1] - part["proof"]["clamp"][0]) * part["count"] for part in parts)
        need(base == {"base": "manhattan"} and spans == secret["steps"] * draws, "the corners of the box")
        need(set(secret) <= {"kind", "steps", "inside", "count", "draws", "touching"}, "faces with more")
        return
    need(secret["kind"] == "picture", "secrets of an unknown kind")
    bases = {None: ("discrete",), "step": ("manhattan",), "pixel": ("hamming", "manhattan")}.get(secret.get("unit"), ())
    need(base.get("base") in bases and "lattice" not in base, "pictures that are counted otherwise")
    channels = secret.get("channels")
    need(type(channels) is int and channels >= 1 if secret.get("unit") == "pixel" else channels is None, "channels")
    need(set(secret) <= {"kind", "unit", "channels", "inside", "count", "draws", "touching"}, "pictures with more")
