"""The proofs of what is made of parts. Standard library only; lay it beside checker.py and run that.

A product is a mechanism whose secrets have coordinates, and whose parts are drawn independently, each from a coordinate of its
own and each with a proof of its own. Proved: that the losses of the parts, which add up, stay within the claim; see
check_product.

A release has parts: columns that were perturbed row by row, and answers about the whole table. Each part carries an ordinary
certificate, says how far apart two values may be that it makes look alike (`distance`), how often one unit is in it (`times`: as
often as a unit may have rows, for a column), and what it costs a unit (`price`, `delta`). A unit is a row, or all rows with one
value of a column. Proved here, with fractions alone:

  every part   its certificate, by checker.py, and price >= times * loss, loss being the most that the certificate allows at that
               distance, and delta >= times * the certificate's delta;
  the whole    total = the sum of all prices and of all deltas of the parts that the file lists; without parts nothing is
               protected, so there is no total, and nothing to prove.

Losses add up because the parts are drawn independently. What this file cannot prove, it says: that the released table was drawn
so, that the file lists everything that was released (somebody who rewrites all of it can leave a part out), that one unit changes
an answer by no more than the stated distance, and anything about columns that were kept as they are.
The fields of an oracle, whose reports are not categories, are held to its proof: see check_oracle.
To judge one product read check_product and part_loss, and of checker.py what its parts need; to judge one release read examine,
check_part and loss_of.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __name__ == "noisewright.core.certificates.checker.checker_release":
    from noisewright.core.certificates.checker.checker import (
        CLAIM,
        ORACLES,
        NotProved,
        apart_squared,
        budget_of,
        check_claim,
        check_fields,
        coordinates,
        digest,
        farthest,
        hexadecimal,
        is_text,
        labels_of,
        length_of,
        metric_in_words,
        number,
        prove,
        public_of,
        restated,
        rounded,
        simulated,
        unit_of,
        whole,
    )
else:
    from checker import (
        CLAIM,
        ORACLES,
        NotProved,
        apart_squared,
        budget_of,
        check_claim,
        check_fields,
        coordinates,
        digest,
        farthest,
        hexadecimal,
        is_text,
        labels_of,
        length_of,
        metric_in_words,
        number,
        prove,
        public_of,
        restated,
        rounded,
        simulated,
        unit_of,
        whole,
    )

FORMAT = "noisewright-release"
VERSION = 1
MOST_PARTS = 10_000
HASHED = {"lshrr": ("projection", "fast-projection", "sampling", "minhash"), "hashed-sets": ("minhash",)}
HEAD = {"format", "version", "made_by", "numerics", "randomness", "digest"}  # what a product states once, for all parts
FIELDS = {
    "format",
    "version",
    "made_by",
    "dataset",
    "unit",
    "neighbours",
    "between",
    "floating",
    "parts",
    "kept",
    "exact",
    "total",
    "randomness",
    "digest",
}
CHANGED = {"columns", "promise", "measured", "resources"}  # without an epsilon
MEASURED = {"private", "accuracy", "prior", "distortion", "most_distortion", "adversaries", "rows", "converged"}
PART = {"name", "kind", "protects", "times", "distance", "price", "delta", "certificate"}
KINDS = {"column": "columns", "query": "statistic"}  # and the field that each has beside those
NEIGHBOURS = {"replace": "that differ in one unit", "add-remove": "one of which has one unit more"}
NOBODY = "no two values that differ are as near as the distance that is paid for."
LENGTHS = {"minute": 60, "hour": 3600}  # seconds; days are dates', or more than the number that is compared
SHOWN = " (whether one is missing is shown)"
OTHER = r' \(what is not declared counts as ("([^"\\]|\\.)*"|[-+.0-9e]+|true|false)\)$'  # mapped before the noise
ABOUT = {
    "unary-encoding": "the bits of any two categories; all other bits have one law under both, and are independent of these",
    "hadamard-response": "halves of blocks, uniform inside: every output has one of two probabilities, in this proportion",
    "local-hashing": "the buckets of any two categories, whatever the hash function, whose law is the same under both",
    "subset-selection": "any two categories; given which of them are in the set, the rest of it is uniform under both",
}


# A product ----------------------------------------------------------------------------------------------------------------


def check_product(document: Any) -> tuple[str, str]:
    """Parts that are drawn independently, each from a coordinate of its own: probabilities multiply, so losses add up.

    A part is a claim with its proof. It stands for `count` coordinates that are drawn alike, or, if that is null, for any number
    of them. Which losses are added up depends on the metric between two secrets (times a factor, perhaps):
      hamming    the number of coordinates that differ; each may be any two values of its part;
      manhattan  the sum of the differences of numbers, rounded to the lattice of the parts if its name says so;
      discrete   1 between any two secrets: all coordinates may differ, each by any two values, and deltas add up as well;
      matched ... between word vectors  the sum of the distances of words that are matched, for outputs whose order is forgotten:
                 whatever the matching, the loss is at most the sum over its pairs, for the output in each of its orders, if
                 all words are drawn alike: there is one part;
      aligned ... between word vectors  the same for the words at the same places.
    Words that a longer document loses, or that a shorter one gets, are drawn by a public rule, alike for any two documents.
    Where their number is not fixed it comes out as it is, and so does the order of aligned words: both must be said to.
    """
    claim, parts = document["claim"], document["proof"]["parts"]
    epsilon, delta = budget_of(claim)
    factor, base = unit_of(claim["metric"])
    check_fields(document)
    if claim["distances"] != {"shape": "product"} or not set(claim) <= CLAIM:
        raise NotProved(
            "a product claims an epsilon, a delta and a metric; distances and labels are those of its parts."
        )
    if base not in ("hamming", "discrete") and not base.startswith(("manhattan", "matched ", "aligned ")):
        raise NotProved(f"a product is proved for hamming, manhattan or discrete, not for the metric {base!r}.")
    if not isinstance(parts, list) or not 0 < len(parts) <= MOST_PARTS:
        raise NotProved(f"the parts of a product must be a list of 1 to {MOST_PARTS}.")
    if base.startswith("matched ") and len(parts) > 1:
        raise NotProved(
            "words in another order are at distance 0, so all must be drawn alike: matched words have one part."
        )
    if sum(whole(part["proof"].get("precision", 0)) ** 2 for part in parts) > 1 << 35:
        raise NotProved("so many parts at such a precision would take too long.")
    largest, total, deltas, said = Fraction(0), Fraction(0), Fraction(0), set()
    files, seed = document.get("resources", []), document.get("seed")
    for place, part in enumerate(map(restated, parts)):
        unsaid = any(file not in files for file in part.get("resources", [])) or part.get("seed", seed) != seed
        if unsaid or HEAD & set(part):
            raise NotProved(
                f"part {place} says on its own how it is drawn, or uses a public file or seed that the whole does not state."
            )
        count, (loss, extra) = part["count"], part_loss(place, part, base)
        if count is None if base == "discrete" else extra:
            raise NotProved(
                f"part {place} has no count, or a delta; a delta is proved for any two secrets, by the counts."
            )
        if count is not None and whole(count) < 1:
            raise NotProved(f"part {place} must be drawn at least once.")
        words = check_claim(part)
        if base not in ("hamming", "discrete"):  # those are about any two values, whatever their distance is called
            said.add(words)
        largest, total, deltas = max(largest, loss), total + loss * (count or 1), deltas + extra * (count or 1)
    if (total if base == "discrete" else largest) > epsilon * factor or deltas > delta:
        raise NotProved("the losses of the parts add up to more than the claim.")
    if len(said) > 1:
        raise NotProved("the parts are about different lattices, or about different answers.")
    more, only = said.pop() if said else ("", "")
    many = "any number of" if any(part["count"] is None for part in parts) else sum(part["count"] for part in parts)
    clear, measured = document.get("in_the_clear", []), document.get("measured", [])
    if type(clear) is not list or type(measured) is not list or not all(map(is_text, [*clear, *measured])):
        raise NotProved("what is in the clear, or was measured, is not a list of short texts in one line.")
    shows = {"the number of words"} if many == "any number of" else set()
    shows |= {"the order of words"} if base.startswith("aligned ") else set()
    if base.startswith(("matched ", "aligned ")) and not shows <= set(clear):
        raise NotProved("the number of words, or their order, comes out as it is, and is not said to be in the clear.")
    only += f"; in the clear, as stated: {', '.join(map(shown, clear))}" if clear else ""
    only += f"; measured on public data, as stated: {', '.join(map(shown, measured))}" if measured else ""
    if "hashing" in document or document["mechanism"] in HASHED:
        only += check_hashing(document)
    return f"{more}, over {many} independent parts", only


def check_hashing(document: Any) -> str:
    """What is hashed before it is answered, in words: the proof is about the hashes of the public seed, whatever they are."""
    stated, parts = document.get("hashing"), document["proof"]["parts"]
    fits = type(stated) is dict and set(stated) == {"family", "dimension", "zero"} and "seed" in document
    if not fits or document["mechanism"] not in HASHED or document["claim"]["metric"] != "hamming" or len(parts) != 1:
        raise NotProved(
            "hashes that are answered state their family, their dimension and their seed, and no other mechanism does."
        )
    family, dimension, sizes = stated["family"], stated["dimension"], parts[0]["proof"].get("size")
    if family not in HASHED[document["mechanism"]] or stated["zero"] not in ("refuse", "fixed"):
        raise NotProved("this checker does not know such hashes.")
    if whole(dimension) < 1 or parts[0]["proof"]["kind"] != "response" or parts[0]["count"] is None:
        raise NotProved("hashes have a whole number of answers, each by randomised response.")
    if document["mechanism"] == "lshrr" and sizes != 2:
        raise NotProved("a bit has two answers.")
    return f"; between hashes of vectors of {dimension} numbers ({family}), as stated"


def part_loss(place: int, part: Any, base: str) -> tuple[Fraction, Fraction]:
    """What a part may lose in one coordinate, if its claim holds: between any two values, or for one unit of the line; and its
    delta."""
    distances = part["claim"]["distances"]
    (epsilon, delta), (factor, name) = budget_of(part["claim"]), unit_of(part["claim"]["metric"])
    if part["proof"]["kind"] == "product":
        raise NotProved(f"part {place} is a product itself.")
    if base not in ("hamming", "discrete"):
        one = base.replace("manhattan", "line", 1).removeprefix("matched ").removeprefix("aligned ")
        if name not in ({one, base} if "manhattan" in base else {one}) or distances["shape"] == "adjacent":
            raise NotProved(f"part {place} is not about every distance on the line, rounded to the same lattice.")
        return epsilon * factor, delta
    span = farthest(distances) if distances["shape"] in ("uniform", "line", "table") else None
    proof, single = part["proof"], part["proof"].get("coordinates", 1) == 1 and "norm" not in part["proof"]
    inside = proof["kind"] == "law" and proof.get("clamp") is not None and part.get("outside") in ("refuse", "clamp")
    if inside and single and distances["shape"] == "steps":  # whole numbers between two ends, and none beyond them
        low, high = map(whole, proof["clamp"])
        span = (high - low) * length_of(distances)
    if span is None:
        raise NotProved(f"part {place} is not about finitely many values with a largest distance.")
    return epsilon * span, delta


# An oracle ----------------------------------------------------------------------------------------------------------------


def check_oracle(document: Any) -> None:
    """That what an oracle states of its categories and reports fits the integers that are proved.

    A proof is about any two of its categories: the halves or buckets of a response, two bits of many, or whether each of the two
    is in the set. What else there is in a report has one law under both.
    """
    name, proof, oracle = document["mechanism"], document["proof"], document.get("oracle")
    reads = {"hadamard-response": {"length"}, "local-hashing": {"prime"}}.get(name, set())
    stated = name in ORACLES and type(oracle) is dict and set(oracle) == {"domain"} | reads
    if not stated or document.get("about") != ABOUT[name] or document["claim"]["metric"] != "discrete":
        raise NotProved("only an oracle has the fields 'oracle' and 'about', and it says what is known of its kind.")
    domain = oracle["domain"]
    count = whole(domain) if type(domain) is int else len(labels_of(domain, None) or [])
    table: Any = proof.get("table", [[0, 0, 0, 0]])
    labels, fits = [["one category", "another category"]], count >= 2
    if name == "hadamard-response":
        blocks = whole(proof["size"]) // 2
        fits &= proof["size"] == 2 * blocks > 0 and whole(oracle["length"]) == 1 << (-(-count // blocks)).bit_length()
    elif name == "local-hashing":
        fits &= whole(proof["size"]) >= 2 and whole(oracle["prime"]) >= 2
    elif name == "unary-encoding":
        half, rows = whole(proof["width"]) // 2, [[hexadecimal(entry) for entry in row] for row in table]
        own, other = (rows[0][0] + rows[0][1]) >> half, (rows[0][0] + rows[0][2]) >> half
        one, two = (own, (1 << half) - own), (other, (1 << half) - other)
        fits &= proof["width"] == 2 * half and rows == [
            [a * b for a in x for b in y] for x, y in ((one, two), (two, one))
        ]
        labels.append(["both bits 1", "1 and 0", "0 and 1", "both bits 0"])
    else:
        total, (both, first, *_) = whole(proof["total"]) // (count - 1), map(whole, table[0])
        held = (both + first) // (count - 1)
        size = both // held + 1 if held else 0
        cases = [held * (size - 1), held * (count - size), (total - held) * size, (total - held) * (count - 1 - size)]
        fits &= 1 <= size < count and proof["total"] == total * (count - 1)
        fits &= table == [cases, [cases[0], cases[2], cases[1], cases[3]]]
        labels.append(["both in the set", "only the first", "only the second", "neither"])
    named = [document[field] for field in ("inputs", "outputs") if field in document]
    if not fits or named != (labels if len(labels) > 1 else []) or "answers" in document:
        raise NotProved("what the oracle states of its categories and reports does not fit its proof.")


# A release ----------------------------------------------------------------------------------------------------------------


def check_release(document: Any) -> str:
    """Prove a release certificate (a dict as read from JSON) and return what it proves in words, or raise NotProved."""
    return verdict(examine(document))


ORDERS = {
    "kept": "the order of the rows is that of the table",
    "unsaid": "the order of the rows is not stated: take it for that of the table",
}


def verdict(found: dict[str, Any]) -> str:
    """What was examined, in words, if every part is proved; otherwise NotProved says what is, and what is not."""
    count = len(found["parts"])
    lines = [f"{found['claim']}; {count} part{'s' if count != 1 else ''}:"] if count else []
    lines += [f"  {part['title']}: {part['words']}" for part in found["parts"]]
    for what, names in (("kept as they are", found["kept"]), ("answered exactly", found["exact"])):
        if names:
            lines.append(f"  {what}, NOT protected: {', '.join(map(shown, names))}")
    for one in found["context_aware"]:
        names = ", ".join(map(shown, one["columns"]))
        lines.append(f"  changed without an epsilon, NOT protected (context-aware, which is not proved): {names}")
        lines.append(f"    its owner says: {one['promise']}")
        lines.append(f"    measured, as stated: {measured_words(one['measured'])}")
    if found["order"] in ORDERS:
        lines.append(f"  {ORDERS[found['order']]}, NOT protected")
    if found["simulated"]:
        lines.append("  a simulation with a known seed: NOT FOR RELEASE")
    unproved = [part["title"] for part in found["parts"] if not part["proved"]]
    if unproved:
        raise NotProved(
            f"floating: everything is proved but {', '.join(unproved)}, where a theorem holds for real numbers, but nothing is "
            "proved about the floats that are drawn. If that theorem is believed: " + "\n".join(lines)
        )
    if not count:
        raise NotProved("\n".join([f"{found['claim']}.", *lines]))
    return "\n".join(lines)


def examine(document: Any) -> dict[str, Any]:
    """Check everything. The result says of each part whether it is proved: floating ones are not, where the file allows them."""
    if document.get("format") != FORMAT or type(document["version"]) is not int or document["version"] != VERSION:
        raise NotProved(f"this is not a release certificate of version {VERSION}.")
    if document.get("digest") != digest(document):
        raise NotProved("the file was changed or cut after it was written: its digest does not match its content.")
    unit, kept, exact, floating = document["unit"], document["kept"], document["exact"], document["floating"]
    rows, neighbours, total = whole(unit["rows"]), document["neighbours"], document["total"]
    if not 1 <= rows <= (rows if unit["column"] else 1) or neighbours not in NEIGHBOURS or type(floating) is not bool:
        raise NotProved("the unit or the neighbours are not stated properly.")
    if not isinstance(kept, list) or not isinstance(exact, list) or not all(map(shown, kept + exact)):
        raise NotProved("what is not protected is not listed properly.")
    if not isinstance(document["parts"], list) or len(document["parts"]) > MOST_PARTS:
        raise NotProved(f"the parts must be a list of at most {MOST_PARTS}.")
    known = set(document) - {"order", "context_aware"} == FIELDS
    known = known and set(unit) == {"column", "rows"} and (total is None or set(total) == {"epsilon", "delta"})
    if not known or not all(is_text(document[name]) for name in ("made_by", "dataset", "randomness")):
        raise NotProved("it has fields that this checker does not know, or lacks some, or they are not short texts.")
    order = document.get("order", "unsaid")  # as in certificates from before there was a choice
    changed = document.get("context_aware", [])
    if not isinstance(changed, list) or len(changed) > MOST_PARTS or ("context_aware" in document and not changed):
        raise NotProved("what is changed without an epsilon is not listed properly.")
    for one in changed:
        if set(one) != CHANGED or not is_text(one["promise"]) or not are_texts(one["columns"]):
            raise NotProved("what is changed without an epsilon is not listed properly.")
        public_of(one)
        check_measured(one["measured"])
    unprotected = [*kept, *(name for one in changed for name in one["columns"])]
    rowwise = bool(unprotected) or any(part["kind"] == "column" for part in document["parts"])
    if "order" in document and (order not in ("random", "kept") or not rowwise):
        raise NotProved("the order of the rows is not stated properly.")

    titles: set[str] = set()
    parts = []
    for part in document["parts"]:
        title = title_of(part)
        if title in titles:
            raise NotProved(f"there are two parts called {title}.")
        titles.add(title)
        if part["kind"] == "column" and (
            neighbours != "replace" or part["times"] != rows or set(part["columns"]) & set(unprotected)
        ):
            raise NotProved(
                f"{title}: a column is protected where one unit's values are replaced, once for each row that a unit may have "
                f"({rows}), and is not kept as it is beside that."
            )
        try:
            parts.append(
                {"title": title, **check_part(part, floating), "randomness": part["certificate"]["randomness"]}
            )
            check_words(part, unit, neighbours)
        except NotProved as why:
            raise NotProved(f"{title}: {why}") from None

    if bool(parts) != (total is not None):
        raise NotProved("a total is stated where there are parts, and only there: nothing else is protected.")
    epsilon, delta = (None, None) if total is None else (number(total["epsilon"]), number(total["delta"]))
    if parts and (epsilon != sum(part["price"] for part in parts) or delta != sum(part["delta"] for part in parts)):
        raise NotProved("the total is not the sum of the parts: a part is missing, or a price was changed.")
    if any(part["randomness"] != document["randomness"] for part in parts):
        raise NotProved("the parts were not all drawn with the randomness that the release states.")
    if document["between"] != between_of(document):
        raise NotProved("which tables the release makes look alike is not what its parts say.")
    whose = (
        "a unit is one row"
        if unit["column"] is None
        else f"a unit is all rows with one value of {shown(unit['column'])}"
    )
    return {
        "parts": parts,
        "kept": kept,
        "context_aware": changed,
        "exact": exact,
        "order": order if rowwise else None,
        "epsilon": epsilon,
        "delta": delta,
        "simulated": simulated(document["randomness"]),
        "claim": "no epsilon is claimed, so there is nothing to prove"
        if epsilon is None
        else f"epsilon = {rounded(epsilon)}{f', delta = {rounded(delta)}' if delta else ''} between two tables "
        f"{NEIGHBOURS[neighbours]} ({whose}{f', at most {rows} of them' if rows > 1 else ''}), for values as far apart as the "
        "parts say",
    }


def check_measured(stated: Any) -> None:
    """That what was measured of columns without an epsilon is stated in full; none of it is proved."""
    if set(stated) != MEASURED or not are_texts(stated["private"]) or not are_texts(stated["adversaries"]):
        raise NotProved("what was measured of columns without an epsilon is not stated properly.")
    prior, accuracy, spent, most = (
        number(stated[name]) for name in ("prior", "accuracy", "distortion", "most_distortion")
    )
    if not 0 <= prior <= accuracy <= 1 or not 0 <= spent <= most or whole(stated["rows"]) < 1:
        raise NotProved("what was measured of columns without an epsilon cannot be.")
    if type(stated["converged"]) is not bool:
        raise NotProved("what was measured of columns without an epsilon is not stated properly.")


def measured_words(stated: Any) -> str:
    """The same in one line."""
    return (
        f"{', '.join(map(shown, stated['private']))} guessed right at most {stated['accuracy']} of the time ({stated['prior']} "
        f"without the release) on {stated['rows']} rows, by {', '.join(map(shown, stated['adversaries']))}; distortion "
        f"{stated['distortion']}, at most {stated['most_distortion']}"
        + ("" if stated["converged"] else "; NOT converged")
    )


def are_texts(names: Any) -> bool:
    return isinstance(names, list) and 0 < len(names) <= MOST_PARTS and all(map(shown, names))


def check_part(part: Any, floating: bool) -> dict[str, Any]:
    """Prove the certificate of a part, and that its price covers what the certificate allows."""
    certificate, times = part["certificate"], whole(part["times"])
    price, delta, proved = number(part["price"]), number(part["delta"]), certificate["numerics"] != "floating"
    only = ""
    if proved:
        claim, only = prove(certificate)
    elif not floating:
        raise NotProved("it is floating, and this release does not allow floating parts.")
    elif certificate["digest"] != digest(certificate):
        raise NotProved("its certificate was changed or cut after it was written.")
    else:
        claim = "nothing is proved about the floats that are drawn"
    loss, between = loss_of(restated(certificate), part["distance"])
    claim, between = claim + only, between + only
    lost = number(certificate["claim"]["delta"])
    if times < 1 or loss < 0 or lost < 0 or price < times * loss or delta < times * lost:
        raise NotProved("its price is too low for what its certificate allows at the stated distance.")
    if part["kind"] == "query":
        between += ", the most that one unit changes the answer (stated)"
    words = f"epsilon = {rounded(price)}{f', delta = {rounded(delta)}' if delta else ''} for {between}"
    words += (f", {times} times {rounded(loss)}" if times > 1 else "") + public_of(certificate)
    return {"price": price, "delta": delta, "proved": proved, "claim": claim, "words": words, "between": between}


def loss_of(certificate: Any, distance: Any) -> tuple[Fraction, str]:
    """The most that the certificate allows between two values that are so far apart, and how far that is in words.

    The distance is a number in units of the certificate's metric; or "any", for every two values that the certificate is about;
    or "radius", for places within the radius of its level. Between neighbours a claim is about distances of at most 1; a larger
    one is made of steps of at most 1 each, if every value between the two may occur.
    """
    claim, proof = certificate["claim"], certificate["proof"]
    epsilon, stated, shape = number(claim["epsilon"]), claim["distances"], claim["distances"]["shape"]
    factor, base = unit_of(claim["metric"])
    name = base or metric_in_words(claim["metric"])
    if distance == "radius":
        if proof["kind"] != "planar":
            raise NotProved("only a certificate about noise in the plane has a radius.")
        on_map = (
            f", if the map makes at most {plain(number(claim['on_map']))} of that (stated)" if "on_map" in claim else ""
        )
        radius = plain(number(claim["radius"]))
        return number(claim["level"]), f"any two places within {radius} of each other ({name}){on_map}"
    if distance == "any":
        apart, between = span(stated, proof, factor, base, name)
    else:
        apart, near = number(distance), nearest_squared(certificate)
        said = plain(apart / factor)
        if (number(said) * factor) ** 2 < near <= apart**2:  # rounded, it would be about nobody
            said = str(apart / factor)
        between = f"{noun(stated, proof, factor)} at most {said} apart ({name})"
        if apart**2 < near:
            raise NotProved(NOBODY)
    if apart <= 0:
        raise NotProved(NOBODY)
    if shape == "uniform" or base == "discrete":  # all values are equally far apart, and all of them are paid for
        most, between = span(stated, proof, factor, base, name)
        apart = max(apart, most)
    if shape == "adjacent":
        unbroken = proof["kind"] == "law" or (proof["kind"] == "ranged" and len(proof["inputs"]) == 1)
        if apart > 1 and (number(claim["delta"]) or not unbroken):
            raise NotProved("its certificate says nothing about values that are so far apart.")
        apart = Fraction(math.ceil(apart))
    return epsilon * apart, between


def nearest_squared(document: Any) -> Fraction:
    """No two values that differ are nearer than the root of this, by what the claim is about; 0 where they may be as near as
    they like. Distances in the file may be below those of the labels, and those are the ones that are said."""
    stated, proof = document["claim"]["distances"], document["proof"]
    factor, base = unit_of(document["claim"]["metric"])
    labels = labels_of(document.get("inputs"), None) if stated["shape"] in ("line", "table") else None
    if base == "discrete" and stated["shape"] != "uniform":
        return factor**2
    if stated["shape"] == "product":
        if base == "hamming":  # values that differ do so in one coordinate at least
            return factor**2
        units = [(nearest_squared(part), unit_of(part["claim"]["metric"])[0]) for part in proof["parts"]]
        return min(square / unit**2 for square, unit in units) * factor**2
    if stated["shape"] == "uniform":
        return length_of(stated) ** 2
    if stated["shape"] == "words":  # vectors that differ do so by a step at least
        return number(proof["step"]) ** 2 if proof["kind"] == "words" else Fraction(0)
    if labels and base in ("line", "euclidean", "manhattan", "hamming"):
        points = labels if base == "hamming" else [coordinates(label) for label in labels]
        points = sorted(points) if base == "line" else points
        pairs = zip(points, points[1:]) if base == "line" else combinations(points, 2)
        squares = [factor**2 * apart_squared(base, *pair) for pair in pairs]
    elif stated["shape"] == "line":
        places = sorted(number(place) for place in stated["places"])
        squares = [(after - before) ** 2 for before, after in zip(places, places[1:])]
    elif stated["shape"] == "table":
        squares = [number(value) ** 2 for value in stated["distances"] if value != "inf"]
    else:
        lattice = stated["shape"] == "steps" and proof["kind"] != "half line"
        return number(stated["distance"]) ** 2 if lattice else Fraction(0)
    return min((square for square in squares if square > 0), default=Fraction(0))


def span(stated: Any, proof: Any, factor: Fraction, base: str, name: str) -> tuple[Fraction, str]:
    """The largest distance between two values that a certificate is about, and what these values are."""
    ends: Any = None
    if stated["shape"] in ("uniform", "line", "table"):
        uniform, most = stated["shape"] == "uniform", farthest(stated)
        if most is not None:
            return most, "any two values that differ" if uniform else f"any two of its values ({name})"
    elif stated["shape"] == "product" and base == "discrete":
        return factor, "any two values that differ"
    elif stated["shape"] == "product" and base == "hamming" and None not in (part["count"] for part in proof["parts"]):
        return factor * sum(part["count"] for part in proof["parts"]), f"any two of its values ({name})"
    elif proof["kind"] == "law":
        ends = proof.get("clamp")
    elif proof["kind"] == "ranged":
        ends = [proof["inputs"][0][0], proof["inputs"][-1][1]]
    if ends is None or None in ends:
        raise NotProved("its certificate is not about values within bounds, so any two of them may be far apart.")
    low, high, step = whole(ends[0]), whole(ends[1]), number(stated["distance"])
    if low > high:
        raise NotProved("the values that its certificate is about end before they begin.")
    unit = step / factor
    first, last = plain(low * unit, ROUND_CEILING), plain(high * unit)
    if math.floor(number(last) / unit) <= math.ceil(number(first) / unit):
        first, last = str(low * unit), str(high * unit)  # rounded, no two values would be between them
    many = 1 if proof.get("norm") == "sup" else whole(proof.get("coordinates", 1))  # each may differ by all of it
    return many * (high - low) * step, f"any two {noun(stated, proof, factor)} from {first} to {last} ({name})"


def noun(stated: Any, proof: Any, factor: Fraction) -> str:
    """What a certificate is about, where its own words take that for granted: a law in steps of 1 is about whole numbers."""
    if stated["shape"] == "product":
        claims = [(part["claim"], part["proof"]) for part in proof["parts"]]
        nouns = {noun(claim["distances"], its, unit_of(claim["metric"])[0]) for claim, its in claims}
        return "whole numbers" if "whole numbers" in nouns else "values"
    whole_steps = stated["shape"] == "steps" and number(stated["distance"]) == factor
    return "whole numbers" if whole_steps and proof["kind"] == "law" else "values"


# Words --------------------------------------------------------------------------------------------------------------------


def check_words(part: Any, unit: Any, neighbours: str) -> None:
    """That a part has the fields of its kind, and says of what it protects no more than the distance that is paid for."""
    if set(part) != PART | {KINDS[part["kind"]]}:
        raise NotProved("it has fields that this checker does not know, or lacks some.")
    protects = part["protects"]
    if part["kind"] == "query":
        there = "there or not" if neighbours == "add-remove" else "with any other values"
        said = protects == f"{one_of(unit)}, {there}"
    else:
        if not isinstance(part["columns"], list) or not part["columns"] or not all(map(shown, part["columns"])):
            raise NotProved("its columns are not listed properly.")
        words = re.sub(OTHER, "", protects).removesuffix(SHOWN)
        said = words_are_paid(words, part["distance"], restated(part["certificate"]))
    if not said:
        raise NotProved("what it says to protect is not what the distance that is paid for covers.")


def words_are_paid(words: str, distance: Any, certificate: Any) -> bool:
    """Whether "any two values", or "at most 7 days", is no more than the distance; a unit of the line is at least one second."""
    claim, proof = certificate["claim"], certificate["proof"]
    factor, base = unit_of(claim["metric"])
    found = re.fullmatch(r"any two values|at most ([^ ]+)( [a-z]+(?: [a-z]+)?)?( \([^()]+\))?", words)
    metric = (found[3] or " ()")[2:-1] if found else ""
    if found is None or distance == "any" or not (base or claim["metric"]).startswith(metric):
        return distance == "any" and found is not None
    if found[1]:
        apart = number(claim["radius"]) if distance == "radius" else number(distance) / factor
        return number(found[1]) * LENGTHS.get((found[2] or "").strip().removesuffix("s"), 1) <= apart
    try:
        return distance != "radius" and number(distance) >= span(claim["distances"], proof, factor, base, base)[0]
    except NotProved:
        return True  # noise without bounds: the values are those of the policy's range, which is in the lock, not here


def one_of(unit: Any) -> str:
    return "one row" if unit["column"] is None else f"the rows of one {unit['column']} (at most {unit['rows']})"


def between_of(document: Any) -> str:
    """Which tables look alike, in the words of the parts."""
    alike: dict[str, list[str]] = {}
    for part in document["parts"]:
        if part["kind"] == "column":
            alike.setdefault(part["protects"], []).append(" with ".join(part["columns"]))
    listed = [(words, ", ".join(names[:-1])) for words, names in alike.items()]
    ways = [f"by {words} in {f'{first} and ' if first else ''}{alike[words][-1]}" for words, first in listed]
    there = ", there or not" if document["neighbours"] == "add-remove" else ""
    return f"two tables that differ in {one_of(document['unit'])}{there}{': ' if ways else ''}{', '.join(ways)}"


def title_of(part: Any) -> str:
    if part["kind"] not in KINDS:
        raise NotProved(f"unknown kind of part {part['kind']!r:.40}.")
    statistic = f", {shown(part['statistic'])}" if part.get("statistic") is not None else ""
    return f"{part['kind']} {shown(part['name'])}{statistic}"


def shown(name: Any) -> str:
    """A name from the file in quotation marks, with nothing in it that a terminal would obey."""
    if type(name) is not str or not 0 < len(name) <= 1000:
        raise NotProved("a name is not a short text.")
    return '"' + "".join(c if c.isprintable() and c != '"' else repr(c)[1:-1] for c in name) + '"'


def plain(value: Fraction, way: str = ROUND_FLOOR) -> str:
    """A number as it is, or in twelve digits where it is long: rounded down, or another way."""
    return str(value) if value.denominator == 1 else rounded(value, way, 12)
