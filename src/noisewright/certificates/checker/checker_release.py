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
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __name__ == "noisewright.certificates.checker.checker_release":
    from noisewright.certificates.checker.checker import (
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
        number,
        prove,
        public_of,
        simulated,
        unit_of,
        value_of,
        whole,
    )

FORMAT = "noisewright-release"
VERSION = 2
MOST_PARTS = 10_000
HASHED = {"lshrr": ("projection", "fast-projection", "sampling", "minhash"), "hashed-sets": ("minhash",)}
HEAD = {"format", "version", "made_by", "numerics", "randomness", "digest"}  # what a product states once, for all parts
FIELDS = (
    "format version made_by dataset neighbours floating parts kept context_aware exact order total randomness digest"
)
CHANGED = {"columns", "measured", "resources"}  # without an epsilon
MEASURED = {"private", "accuracy", "prior", "distortion", "most_distortion", "adversaries", "rows", "converged"}
PART = {"name", "kind", "times", "distance", "price", "delta", "certificate"}
KINDS = {"column": {"columns", "protects"}, "query": {"statistic"}}  # and the fields that each has beside those
RELATIONS = ("same-rows", "add-remove")
NOBODY = "no two values that differ are as near as the distance that is paid for."
# Of a protected distance: by the type of the column, how many of the certificate's own unit each one is.
UNITS: dict[str, dict[Any, int]] = {
    "number": {None: 1},
    "date": {"day": 1},
    "time": {"second": 1, "minute": 60, "hour": 3600, "day": 86400},
    "place": {"metre": 1},
    "picture": {None: 1, "pixel": 1, "step": 1},
    "face": {"code unit": 1},
    "hash": {"differing bit": 1, "differing answer": 1},
}
MEASURES = {  # metrics that distances of columns with a unit of their own may be in
    "date": {"line"},
    "time": {"line"},
    "place": {"metres"},
    "picture": {"hamming", "manhattan"},
    "face": {"manhattan"},
    "hash": {"hamming"},
}


# A product ----------------------------------------------------------------------------------------------------------------


def check_product(document: Any) -> list[dict[str, Any]]:
    """Parts that are drawn independently, each from a coordinate of its own: probabilities multiply, so losses add up.

    A part is a claim with its proof. It stands for `count` coordinates that are drawn alike, or, if that is null, for any number
    of them. Which losses are added up depends on the metric between two secrets (times a factor, perhaps):
      hamming    the number of coordinates that differ; each may be any two values of its part;
      manhattan  the sum of the differences of numbers, rounded to the lattice of the parts if it has one;
      discrete   1 between any two secrets: all coordinates may differ, each by any two values, and deltas add up as well;
      words, matched   the sum of the distances of words that are matched, for outputs whose order is forgotten:
                 whatever the matching, the loss is at most the sum over its pairs, for the output in each of its orders, if
                 all words are drawn alike: there is one part;
      words, aligned   the same for the words at the same places.
    Words that a longer document loses, or that a shorter one gets, are drawn by a public rule, alike for any two documents.
    Where their number is not fixed it comes out as it is, and so does the order of aligned words: both must be said to.
    """
    claim, parts = document["claim"], document["proof"]["parts"]
    epsilon, delta = budget_of(claim)
    factor, base = unit_of(claim["metric"])
    check_fields(document)
    if claim["distances"] != {"shape": "product"} or not set(claim) <= CLAIM | {"secret"}:
        raise NotProved(
            "a product claims an epsilon, a delta and a metric; distances and labels are those of its parts."
        )
    name, order = base.get("base"), base.get("order")
    if name not in ("hamming", "discrete", "manhattan") and order is None:
        raise NotProved("a product is proved for hamming, manhattan, discrete, or the words of documents.")
    if not isinstance(parts, list) or not 0 < len(parts) <= MOST_PARTS:
        raise NotProved(f"the parts of a product must be a list of 1 to {MOST_PARTS}.")
    if order == "matched" and len(parts) > 1:
        raise NotProved(
            "words in another order are at distance 0, so all must be drawn alike: matched words have one part."
        )
    if sum(whole(part["proof"].get("precision", 0)) ** 2 for part in parts) > 1 << 35:
        raise NotProved("so many parts at such a precision would take too long.")
    largest, total, deltas = Fraction(0), Fraction(0), Fraction(0)
    found: list[Any] = []
    files, seed = document.get("resources", []), document.get("seed")
    for place, part in enumerate(parts):
        unsaid = any(file not in files for file in part.get("resources", [])) or part.get("seed", seed) != seed
        if unsaid or HEAD & set(part):
            raise NotProved(
                f"part {place} says on its own how it is drawn, or uses a public file or seed that the whole does not state."
            )
        count, (loss, extra) = part["count"], part_loss(place, part, base)
        if count is None if name == "discrete" else extra:
            raise NotProved(
                f"part {place} has no count, or a delta; a delta is proved for any two secrets, by the counts."
            )
        if count is not None and whole(count) < 1:
            raise NotProved(f"part {place} must be drawn at least once.")
        stated = check_claim(part)
        if name not in ("hamming", "discrete"):  # those are about any two values, whatever their distance is called
            found = found or [stated]
            if stated != found[0]:
                raise NotProved("the parts are about different lattices, or about different answers.")
        largest, total, deltas = max(largest, loss), total + loss * (count or 1), deltas + extra * (count or 1)
    if (total if name == "discrete" else largest) > epsilon * factor or deltas > delta:
        raise NotProved("the losses of the parts add up to more than the claim.")
    many = None if any(part["count"] is None for part in parts) else sum(part["count"] for part in parts)
    facts = [one for one in (found or [[]])[0] if one["code"] in FACTS]
    limits = [one for one in (found or [[]])[0] if one["code"] not in FACTS]
    clear, measured = check_clear(document.get("in_the_clear", [])), document.get("measured")
    shows = ({"word-count"} if many is None else set()) | ({"word-order"} if order == "aligned" else set())
    if order is not None and not shows <= {one.get("code") for one in clear}:
        raise NotProved("the number of words, or their order, comes out as it is, and is not said to be in the clear.")
    found = [*facts, {"code": "parts", "count": many}, *limits]
    found += [{"code": "clear", "what": clear}] if clear else []
    found += [check_faces(measured)] if measured is not None else []
    if "hashing" in document or document["mechanism"] in HASHED:
        found.append(check_hashing(document))
    if "secret" in claim:
        check_secret(claim["secret"], base, parts)
    return found


def check_secret(secret: Any, base: Any, parts: Any) -> None:
    """Check that the secrets of a claim fit the proof: the unit of distances, the largest distance, and the number of draws.

    Distances of pictures are in whole pictures, in pixels of `channels` values, or in steps of colour; opposite corners of the
    box of codes of faces are `steps` apart. Every part is drawn alike for each of the `draws`, so that `touching` of them
    lose that share of the whole; both are stated, or neither is. Distances in pixels or steps do not tell draws apart.
    """
    kind, name, draws = secret["kind"], base.get("base"), whole(secret.get("draws", 1))
    counts = [part["count"] for part in parts]
    fits = kind in SECRETS and set(secret) - {"kind"} <= SECRETS[kind] | INSIDE and None not in counts
    fits = fits and 1 <= whole(secret.get("touching", 1)) <= draws and not any(count % draws for count in counts)
    if "inside" in secret:
        fits = fits and secret["inside"] in ("region", "mask", "place", "track") and whole(secret["count"]) >= 1
    elif set(secret) & INSIDE:
        fits = False
    drawn = {"draws", "touching"} & set(secret)
    fits = fits and (not drawn or (len(drawn) == 2 and "unit" not in secret))
    if fits and kind == "picture":
        unit, channels = secret.get("unit"), secret.get("channels")
        fits = name in {None: ("discrete",), "step": ("manhattan",), "pixel": ("hamming", "manhattan")}.get(unit, ())
        fits = fits and (whole(channels) >= 1 if unit == "pixel" else channels is None) and "lattice" not in base
    elif fits:
        spans = [whole(part["proof"]["clamp"][1]) - whole(part["proof"]["clamp"][0]) for part in parts]
        fits = base == {"base": "manhattan"} and sum(map(int.__mul__, spans, counts)) == whole(secret["steps"]) * draws
    if not fits:
        raise NotProved("what the claim protects is not stated as this checker knows it, or does not fit the proof.")


FACTS = ("steps", "level")
SECRETS: dict[str, set[str]] = {"picture": {"unit", "channels"}, "face": {"steps"}}  # and the fields of each
INSIDE = {"inside", "count", "draws", "touching"}
SHOWN = (  # what an output may show as it is, by codes without a name
    "everything word-count word-order unknown-words file-names file-count picture-size outside-regions outside-places places "
    "outlines missed motion metadata training-records"
)
CLEAR = {**{code: set() for code in SHOWN.split()}, "attribute": {"name"}}


def check_clear(stated: Any) -> list[Any]:
    """Check what an output shows as it is: known codes, or quoted names."""
    listed: list[Any] = stated if type(stated) is list and len(stated) <= MOST_PARTS else [{"code": None}]
    for one in listed:
        fields = set(one) - {"code"}
        if fields != (CLEAR[one["code"]] if "code" in one else {"called"}) or not all(
            is_text(one[name]) for name in fields
        ):
            raise NotProved("what is in the clear is not stated as this checker knows it.")
    return listed


def check_faces(stated: Any) -> dict[str, Any]:
    """Check what was measured among public faces: it is stated in full, and not proved."""
    if set(stated) == {"texts"} and are_texts(stated["texts"]):
        return {"code": "measured", **stated}
    fields = {"people", "components", "typical", "closest", "best", "chance", "source"}
    if not fields <= set(stated) <= fields | {"same"} or not is_text(stated["source"]):
        raise NotProved("what was measured on public faces is not stated as this checker knows it.")
    pairs = [stated[name] for name in ("typical", "closest", "same") if name in stated]
    numbers = [number(pair[name]) for pair in pairs for name in ("apart", "loss")]
    numbers += [number(stated[name]) for name in ("best", "chance")]
    if any(set(pair) != {"apart", "loss"} for pair in pairs) or min(numbers) < 0:
        raise NotProved("what was measured on public faces cannot be.")
    whole(stated["people"]), whole(stated["components"])
    return {"code": "measured", **stated}


def check_hashing(document: Any) -> dict[str, Any]:
    """Check what is hashed before it is answered: the proof holds for all hashes of the public seed."""
    stated, parts = document.get("hashing"), document["proof"]["parts"]
    fits = type(stated) is dict and set(stated) == {"family", "dimension", "zero"} and "seed" in document
    hamming = document["claim"]["metric"] == {"base": "hamming"}
    if not fits or document["mechanism"] not in HASHED or not hamming or len(parts) != 1:
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
    return {"code": "hashes", "dimension": dimension, "family": family}


def part_loss(place: int, part: Any, base: Any) -> tuple[Fraction, Fraction]:
    """What a part may lose in one coordinate, if its claim holds: between any two values, or for one unit of the line; and its
    delta."""
    distances = part["claim"]["distances"]
    (epsilon, delta), (factor, name) = budget_of(part["claim"]), unit_of(part["claim"]["metric"])
    if part["proof"]["kind"] == "product":
        raise NotProved(f"part {place} is a product itself.")
    if base["base"] not in ("hamming", "discrete"):
        one = {key: value for key, value in base.items() if key != "order"}
        alike = [one, {**one, "base": "line"}] if base["base"] == "manhattan" else [one]
        if name not in alike or distances["shape"] == "adjacent":
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
    if not stated or document["claim"]["metric"] != {"base": "discrete"}:
        raise NotProved("only an oracle has the field 'oracle', and it says what is known of its kind.")
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


def check_release(document: Any) -> dict[str, Any]:
    """Prove a release certificate (a dict as read from JSON) and return the record of what it proves, or raise NotProved."""
    found = examine(document)
    unproved = [part["name"] for part in found["parts"] if not part["proved"]]
    if unproved:
        raise NotProved(
            f"floating: everything is proved but {', '.join(map(repr, unproved))}, where a theorem holds for real numbers, and "
            "nothing is proved about the floats that are drawn."
        )
    if not found["parts"]:
        raise NotProved("no epsilon is claimed, so there is nothing to prove.")
    return found


def examine(document: Any) -> dict[str, Any]:
    """Check everything. The record says of each part whether it is proved: floating ones are not, where the file allows them."""
    if document.get("format") != FORMAT or type(document["version"]) is not int or document["version"] != VERSION:
        raise NotProved(f"this is not a release certificate of version {VERSION}.")
    if document.get("digest") != digest(document):
        raise NotProved("the file was changed or cut after it was written: its digest does not match its content.")
    kept, exact, floating, order = document["kept"], document["exact"], document["floating"], document["order"]
    neighbours, total = document["neighbours"], document["total"]
    unit, rows, relation = neighbours["unit"], whole(neighbours["rows"]), neighbours["relation"]
    if not 1 <= rows <= (1 if unit is None else rows) or len(neighbours) != 3 or type(floating) is not bool:
        raise NotProved("the neighbours are not stated properly.")
    if relation not in RELATIONS or not (unit is None or is_text(unit)):
        raise NotProved("this checker does not know such neighbours.")
    if not isinstance(kept, list) or not isinstance(exact, list) or not all(map(is_name, kept + exact)):
        raise NotProved("what is not protected is not listed properly.")
    if not isinstance(document["parts"], list) or len(document["parts"]) > MOST_PARTS:
        raise NotProved(f"the parts must be a list of at most {MOST_PARTS}.")
    known = set(document) == set(FIELDS.split()) and (total is None or set(total) == {"epsilon", "delta"})
    if not known or not all(is_text(document[name]) for name in ("made_by", "dataset")):
        raise NotProved("it has fields that this checker does not know, or lacks some, or they are not short texts.")
    changed = document["context_aware"]
    if not isinstance(changed, list) or len(changed) > MOST_PARTS:
        raise NotProved("what is changed without an epsilon is not listed properly.")
    for one in changed:
        if set(one) != CHANGED or not are_texts(one["columns"]):
            raise NotProved("what is changed without an epsilon is not listed properly.")
        public_of(one)
        check_measured(one["measured"])
    unprotected = [*kept, *(name for one in changed for name in one["columns"])]
    rowwise = bool(unprotected) or any(part["kind"] == "column" for part in document["parts"])
    if order not in ("random", "kept", "unsaid") if rowwise else order is not None:
        raise NotProved("the order of the rows is not stated properly.")
    if rowwise and relation != "same-rows" and document["parts"]:
        raise NotProved("released rows show how many there are, so neighbours have the same rows.")

    titles: set[str] = set()
    parts = []
    for part in document["parts"]:
        title = title_of(part)
        if title in titles:
            raise NotProved(f"there are two parts called {title}.")
        titles.add(title)
        if part["kind"] == "column" and (part["times"] != rows or set(part["columns"]) & set(unprotected)):
            raise NotProved(
                f"{title}: a column is protected once for each row that a unit may have ({rows}), and is not kept beside that."
            )
        try:
            parts.append(check_part(part, floating))
        except NotProved as why:
            raise NotProved(f"{title}: {why}") from None

    if bool(parts) != (total is not None):
        raise NotProved("a total is stated where there are parts, and only there: nothing else is protected.")
    epsilon, delta = (None, None) if total is None else (number(total["epsilon"]), number(total["delta"]))
    if parts and (
        epsilon != sum(number(part["price"]) for part in parts) or delta != sum(number(part["delta"]) for part in parts)
    ):
        raise NotProved("the total is not the sum of the parts: a part is missing, or a price was changed.")
    if any(part["certificate"]["randomness"] != document["randomness"] for part in document["parts"]):
        raise NotProved("the parts were not all drawn with the randomness that the release states.")
    return {
        "epsilon": None if epsilon is None else str(epsilon),
        "delta": None if delta is None else str(delta),
        "neighbours": neighbours,
        "parts": parts,
        "kept": kept,
        "context_aware": changed,
        "exact": exact,
        "order": order,
        "simulated": simulated(document["randomness"]),
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


def are_texts(names: Any) -> bool:
    return isinstance(names, list) and 0 < len(names) <= MOST_PARTS and all(map(is_name, names))


def check_part(part: Any, floating: bool) -> dict[str, Any]:
    """Prove the certificate of a part, and that its price covers what the certificate allows."""
    if set(part) != PART | KINDS[part["kind"]]:
        raise NotProved("it has fields that this checker does not know, or lacks some.")
    certificate, times = part["certificate"], whole(part["times"])
    if "inside" in certificate["claim"].get("secret", {}):
        raise NotProved("its certificate is about parts of pictures, and a release is about whole ones.")
    price, delta, proved = number(part["price"]), number(part["delta"]), certificate["numerics"] != "floating"
    if proved:
        conditions = prove(certificate)["conditions"]
    elif not floating:
        raise NotProved("it is floating, and this release does not allow floating parts.")
    elif certificate["digest"] != digest(certificate):
        raise NotProved("its certificate was changed or cut after it was written.")
    else:
        conditions = [{"code": "floats"}]
    loss, pair = loss_of(certificate, part["distance"])
    lost = number(certificate["claim"]["delta"])
    if times < 1 or loss < 0 or lost < 0 or price < times * loss or delta < times * lost:
        raise NotProved("its price is too low for what its certificate allows at the stated distance.")
    if part["kind"] == "column":
        check_protected(part["protects"], part["distance"], certificate)
        if not are_texts(part["columns"]):
            raise NotProved("its columns are not listed properly.")
    return {
        **{name: part[name] for name in ("name", "kind", "times", *sorted(KINDS[part["kind"]]))},
        "price": str(price),
        "delta": str(delta),
        "loss": str(loss),
        "proved": proved,
        "pair": pair,
        "conditions": [one for one in conditions if one["code"] != "simulation"],
    }


def loss_of(certificate: Any, distance: Any) -> tuple[Fraction, dict[str, Any]]:
    """The most that the certificate allows between two values that are so far apart, and which two values these are.

    The distance is a number in units of the certificate's metric; or "any", for every two values that the certificate is about;
    or "radius", for places within the radius of its level. Between neighbours a claim is about distances of at most 1; a larger
    one is made of steps of at most 1 each, if every value between the two may occur.
    """
    claim, proof = certificate["claim"], certificate["proof"]
    epsilon, stated, shape = number(claim["epsilon"]), claim["distances"], claim["distances"]["shape"]
    factor, base = unit_of(claim["metric"])
    if distance == "radius":
        if proof["kind"] != "planar":
            raise NotProved("only a certificate about noise in the plane has a radius.")
        ends = {name: str(number(claim[name])) for name in ("radius", "on_map") if name in claim}
        return number(claim["level"]), {"code": "radius", "metric": base, **ends}
    if distance == "any":
        apart, pair = span(stated, proof, factor, base)
    else:
        apart, near = number(distance), nearest_squared(certificate)
        pair = {"code": "apart", "whole": about_integers(stated, proof, factor), "distance": str(apart / factor)}
        pair["nearest_squared"] = str(near / factor**2)
        if apart**2 < near:
            raise NotProved(NOBODY)
    if apart <= 0:
        raise NotProved(NOBODY)
    if shape == "uniform" or base == {
        "base": "discrete"
    }:  # all values are equally far apart, and all of them are paid for
        most, pair = span(stated, proof, factor, base)
        apart = max(apart, most)
    if shape == "adjacent":
        unbroken = proof["kind"] == "law" or (proof["kind"] == "ranged" and len(proof["inputs"]) == 1)
        if apart > 1 and (number(claim["delta"]) or not unbroken):
            raise NotProved("its certificate says nothing about values that are so far apart.")
        apart = Fraction(math.ceil(apart))
    return epsilon * apart, {**pair, "metric": base or claim["metric"]}


def nearest_squared(document: Any) -> Fraction:
    """No two values that differ are nearer than the root of this, by what the claim is about; 0 where they may be as near as
    they like. Distances in the file may be below those of the labels, and those are the ones that are said."""
    stated, proof = document["claim"]["distances"], document["proof"]
    factor, base = unit_of(document["claim"]["metric"])
    labels = labels_of(document.get("inputs"), None) if stated["shape"] in ("line", "table") else None
    name = base.get("base") if set(base) == {"base"} else None
    if name == "discrete" and stated["shape"] != "uniform":
        return factor**2
    if stated["shape"] == "product":
        if name == "hamming":  # values that differ do so in one coordinate at least
            return factor**2
        units = [(nearest_squared(part), unit_of(part["claim"]["metric"])[0]) for part in proof["parts"]]
        return min(square / unit**2 for square, unit in units) * factor**2
    if stated["shape"] == "uniform":
        return length_of(stated) ** 2
    if stated["shape"] == "words":  # vectors that differ do so by a step at least
        return number(proof["step"]) ** 2 if proof["kind"] == "words" else Fraction(0)
    if labels and name in ("line", "euclidean", "manhattan", "hamming"):
        points = labels if name == "hamming" else [coordinates(label) for label in labels]
        points = sorted(points) if name == "line" else points
        pairs = zip(points, points[1:]) if name == "line" else combinations(points, 2)
        squares = [factor**2 * apart_squared(name, *pair) for pair in pairs]
    elif stated["shape"] == "line":
        places = sorted(number(place) for place in stated["places"])
        squares = [(after - before) ** 2 for before, after in zip(places, places[1:])]
    elif stated["shape"] == "table":
        squares = [number(value) ** 2 for value in stated["distances"] if value != "inf"]
    else:
        lattice = stated["shape"] == "steps" and proof["kind"] != "half line"
        return number(stated["distance"]) ** 2 if lattice else Fraction(0)
    return min((square for square in squares if square > 0), default=Fraction(0))


def span(stated: Any, proof: Any, factor: Fraction, base: Any) -> tuple[Fraction, dict[str, Any]]:
    """The largest distance between two values that a certificate is about, and what these values are."""
    ends: Any = None
    if stated["shape"] in ("uniform", "line", "table"):
        uniform, most = stated["shape"] == "uniform", farthest(stated)
        if most is not None:
            return most, {"code": "any" if uniform else "any-listed"}
    elif stated["shape"] == "product" and base == {"base": "discrete"}:
        return factor, {"code": "any"}
    elif stated["shape"] == "product" and base == {"base": "hamming"} and all(part["count"] for part in proof["parts"]):
        return factor * sum(part["count"] for part in proof["parts"]), {"code": "any-listed"}
    elif proof["kind"] == "law":
        ends = proof.get("clamp")
    elif proof["kind"] == "ranged":
        ends = [proof["inputs"][0][0], proof["inputs"][-1][1]]
    if ends is None or None in ends:
        raise NotProved("its certificate is not about values within bounds, so any two of them may be far apart.")
    low, high, step = whole(ends[0]), whole(ends[1]), number(stated["distance"])
    if low > high:
        raise NotProved("the values that its certificate is about end before they begin.")
    many = 1 if proof.get("norm") == "sup" else whole(proof.get("coordinates", 1))  # each may differ by all of it
    range_ = [str(low * step / factor), str(high * step / factor)]
    whole_numbers = about_integers(stated, proof, factor)
    return many * (high - low) * step, {"code": "range", "whole": whole_numbers, "ends": range_}


def about_integers(stated: Any, proof: Any, factor: Fraction) -> bool:
    """Whether a certificate is about integers, where it takes that for granted: a law in steps of 1 is."""
    if stated["shape"] == "product":
        claims = [(part["claim"], part["proof"]) for part in proof["parts"]]
        return any(about_integers(claim["distances"], its, unit_of(claim["metric"])[0]) for claim, its in claims)
    return bool(stated["shape"] == "steps" and number(stated["distance"]) == factor and proof["kind"] == "law")


# What a column protects ---------------------------------------------------------------------------------------------------


def check_protected(protects: Any, distance: Any, certificate: Any) -> None:
    """Check that a column protects no more than the distance that is paid for, in a unit that fits its type.

    Any two values are protected only where the certificate has ends, and takes no values from beyond them. Otherwise they are
    those of a range that the file does not hold, and the column must say so.
    """
    fields = set(protects) - {"missing", "other"}
    if "other" in protects:
        value_of(protects["other"])
    if protects.get("missing", "shown") != "shown" or protects["kind"] not in ("any", "near"):
        raise NotProved("what it protects is not stated as this checker knows it.")
    claim, proof = certificate["claim"], certificate["proof"]
    factor, base = unit_of(claim["metric"])
    if protects["kind"] == "any":
        stated, paid = protects.get("range") == "stated", distance == "any"
        if not paid and distance != "radius":
            try:
                paid = number(distance) >= span(claim["distances"], proof, factor, base)[0]
            except NotProved:  # noise without bounds
                paid = stated
        inside = stated or certificate.get("outside") != "keep"
        if fields != {"kind", *(["range"] if stated else [])} or not paid or not inside:
            raise NotProved("any two values are protected only if all of their distances are paid for.")
        return
    type_, unit = str(protects["type"]), protects.get("unit")
    if not {"kind", "type", "distance"} <= fields <= {"kind", "type", "distance", "unit", "metric"}:
        raise NotProved("what it protects has fields that this checker does not know, or lacks some.")
    if (
        type_ not in UNITS
        or unit not in UNITS[type_]
        or base.get("base") not in MEASURES.get(type_, {base.get("base")})
    ):
        raise NotProved("the unit of its distance is none that its type and its metric have.")
    if "metric" in protects and protects["metric"] not in (
        {name: value for name, value in base.items() if name != "lattice"} or claim["metric"],
    ):
        raise NotProved("it states another metric than its certificate.")
    size = number(protects["distance"]) * unit_size(type_, unit, factor, claim)
    if size <= 0:
        raise NotProved("no two values that differ are as near as the distance that it says to protect.")
    if distance != "any" and size > (number(claim["radius"]) if distance == "radius" else number(distance) / factor):
        raise NotProved("what it says to protect is not what the distance that is paid for covers.")


def unit_size(type_: str, unit: Any, factor: Fraction, claim: Any) -> Fraction:
    """Return the size of a unit of the column in units of the certificate's base; that of codes and pixels is in the secret.

    Certificates of version 1 state no secret: there, a code unit or a pixel is one unit of the metric.
    """
    if unit not in ("code unit", "pixel"):
        return Fraction(UNITS[type_][unit])
    if "secret" not in claim:
        return 1 / factor
    secret, values = claim["secret"], 255 if claim["metric"]["base"] == "manhattan" else 1
    return Fraction(whole(secret["steps"]) if type_ == "face" else whole(secret["channels"]) * values)


def title_of(part: Any) -> str:
    if part["kind"] not in KINDS:
        raise NotProved(f"unknown kind of part {part['kind']!r:.40}.")
    names = [part["name"], *([part["statistic"]] if part.get("statistic") is not None else [])]
    if not all(map(is_name, names)):
        raise NotProved("a part is not named properly.")
    return f"{part['kind']} {', '.join(map(repr, names))}"


def is_name(name: Any) -> bool:
    """Whether this may be the name of a column or an answer: a text of at most 1,000 characters, quoted where it is shown."""
    return type(name) is str and 0 < len(name) <= 1000
