"""Whether the record of a release is true: every part between the values that it names, what is protected, and the sums.

Nothing that a file states of a release may be lost on the way to the record: the neighbours, the columns that are kept, those
that were only measured, and the order of rows.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tests.attack.truth import LISTED, Document, UntrueError, alike, any_two, apart, at_most, dec, law_loss, rows_of
from tests.attack.truth_claims import as_stated, judge_claim, metric_of, need, simulated, whole_loss

__all__ = ["judge_release"]

NOTHING = Decimal("inf")
"""The loss of a claim about nobody: no price is high enough for a part that protects no two values."""
FIELDS = {"epsilon", "delta", "neighbours", "parts", "kept", "context_aware", "exact", "order", "simulated"}
SIZES: dict[
    Any, dict[Any, int]
] = {  # units of a protected distance, by the type of the column: how many of the certificate's own unit each one is
    "number": {None: 1},
    "date": {"day": 1},
    "time": {"second": 1, "minute": 60, "hour": 60 * 60, "day": 24 * 60 * 60},
    "place": {"metre": 1},
    "picture": {None: 1, "pixel": 1, "step": 1},
    "face": {"code unit": 1},
    "hash": {"differing bit": 1, "differing answer": 1},
}
BASES: dict[Any, tuple[str, ...]] = {
    "date": ("line",),
    "time": ("line",),
    "place": ("metres",),
    "face": ("manhattan",),
    "hash": ("hamming",),
}


def judge_release(record: Document, document: Document) -> None:
    """Raise an UntrueError if the record of a release has anything that is not so, or lacks what the file states."""
    need(set(record) == FIELDS, "other fields of a record")
    earlier = document["version"] == 1
    relation = document["neighbours"]
    if earlier:
        unit, relation = document["unit"], {"replace": "same-rows"}.get(relation, relation)
        relation = {"relation": relation, "unit": unit["column"], "rows": unit["rows"]}
    need(record["neighbours"] == relation and set(relation) == {"relation", "unit", "rows"}, "other neighbours")
    rows = relation["rows"]
    need(relation["relation"] in ("same-rows", "add-remove"), "an unknown relation")
    need(type(rows) is int and rows >= 1 and (relation["unit"] is not None or rows == 1), "rows of a unit")
    need(record["kept"] == document["kept"] and record["exact"] == document["exact"], "what is not protected")
    changed = document.get("context_aware", [])
    fields = (
        [{name: value for name, value in one.items() if name != "promise"} for one in changed] if earlier else changed
    )
    need(record["context_aware"] == fields, "what is changed without an epsilon")
    _measured(record["context_aware"])
    rowwise = bool(record["kept"] or changed) or any(part["kind"] == "column" for part in record["parts"])
    need(
        record["order"] == (document.get("order", "unsaid" if rowwise else None) if earlier else document["order"]),
        "the order",
    )
    need(
        (record["order"] is not None) == rowwise and record["order"] in (None, "random", "kept", "unsaid"),
        "which order",
    )
    need(record["simulated"] is simulated(document["randomness"], earlier), "whether it is a simulation")
    open_rows = not rowwise or not record["parts"] or relation["relation"] == "same-rows"
    need(open_rows, "rows that are released, and whose number may differ")
    with localcontext() as context:
        context.prec = 60
        _parts(record, document, relation, earlier)


def _measured(changed: Any) -> None:
    for one in changed:
        stated = one["measured"]
        accuracy, prior, spent, most = (
            Fraction(stated[name]) for name in ("accuracy", "prior", "distortion", "most_distortion")
        )
        need(0 <= prior <= accuracy <= 1 and 0 <= spent <= most and stated["rows"] >= 1, "measurements that cannot be")


def _parts(record: Document, document: Document, relation: Document, earlier: bool) -> None:
    total, deltas = Decimal(0), Fraction(0)
    need(len(record["parts"]) == len(document["parts"]), "another number of parts")
    titles = [(part["kind"], part["name"], part.get("statistic")) for part in record["parts"]]
    need(len(set(titles)) == len(titles), "two parts of one name")
    open_ = {*record["kept"], *(name for one in record["context_aware"] for name in one["columns"])}
    for part, stated in zip(record["parts"], document["parts"], strict=True):
        names = ["name", "kind", "times", *(["columns"] if part["kind"] == "column" else [])]
        need(all(part[name] == stated[name] for name in names), "another name, or number of times")
        need(part["kind"] in ("column", "query") and part["times"] >= 1, "a part of no kind")
        need(part["kind"] == "column" or part["statistic"] == stated.get("statistic"), "another statistic")
        if part["kind"] == "column":
            need(part["times"] == relation["rows"] and not open_ & set(part["columns"]), "times a unit is in a column")
        certificate = as_stated(stated["certificate"])
        floating = certificate["numerics"] == "floating"
        need(part["proved"] is not floating, "whether it is proved")
        loss = _conditions(part, certificate, floating)
        need(at_most(loss, Fraction(part["loss"])), "a loss that is more than is said")
        need(at_most(loss * part["times"], Fraction(part["price"])), "a price that is too low")
        least = Fraction(certificate["claim"]["delta"]) * part["times"]
        need(least <= Fraction(part["delta"]), "a delta that is too low")
        if part["kind"] == "column":
            _protects(part, stated, certificate, loss, earlier)
        total, deltas = total + loss * part["times"], deltas + least
        own = stated["certificate"]["randomness"]
        need(
            own == document["randomness"] or (earlier and record["simulated"] and simulated(own, True)),
            "another randomness",
        )
    if not record["parts"]:
        need(record["epsilon"] is None and record["delta"] is None, "a total of nothing")
        return
    need(at_most(total, Fraction(record["epsilon"])) and deltas <= Fraction(record["delta"]), "a total that is too low")
    for name, of in (("epsilon", "price"), ("delta", "delta")):
        need(
            Fraction(record[name]) == sum(Fraction(part[of]) for part in record["parts"]), "a total that is not the sum"
        )


def _conditions(part: Document, certificate: Document, floating: bool) -> Decimal:
    """Hold the claim of a part's certificate against the truth, then give the loss between the values that the part names."""
    codes = [one["code"] for one in part["conditions"]]
    if floating:
        need(codes == ["floats"], "that it is floating")
        pair, claim = part["pair"], certificate["claim"]
        factor, _ = metric_of(claim["metric"])
        need(pair["code"] == "apart", "which values")
        return dec(Fraction(claim["epsilon"]) * Fraction(pair["distance"]) * factor)
    need("floats" not in codes, "floats of no floating part")
    claim = certificate["claim"]
    own = [one for one in part["conditions"] if one["code"] != "simulation"]
    extra = [{"code": "simulation"}] if simulated(certificate["randomness"], certificate.get("version") == 1) else []
    made = {
        **{"epsilon": claim["epsilon"], "delta": claim["delta"], "metric": claim["metric"], "conditions": own + extra},
        "scope": "adjacent" if claim["distances"]["shape"] == "adjacent" else "metric",
    }
    judge_claim({**made, **_secret(certificate)}, certificate)
    key = json.dumps([part["pair"], certificate], sort_keys=True)
    return _between(key)


def _secret(certificate: Document) -> Document:
    """Return the secrets of a part as its own record has them; the record of a release names the column only."""
    claim, proof = certificate["claim"], certificate["proof"]
    if "order" in claim["metric"]:
        alike_ = any(part["count"] is None for part in proof["parts"])
        return {"secret": {"kind": "document", **({"same_length": True} if alike_ else {})}}
    if "hashing" in certificate:
        (part,), family = proof["parts"], certificate["hashing"]["family"]
        size = part["proof"]["size"]
        return {"secret": {"kind": "hash", "family": family, "bits": part["count"], "answers": size}}
    return {"secret": claim["secret"]} if "secret" in claim else {}


# Between which values -----------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 13)
def _between(key: str) -> Decimal:
    """Return the largest loss between two values that a pair of a record names; infinite if no two values are meant."""
    pair, certificate = json.loads(key)
    claim, proof = certificate["claim"], certificate["proof"]
    factor, base = metric_of(claim["metric"])
    need(pair["metric"] == (base or claim["metric"]), "a pair in another metric")
    if pair["code"] == "radius":
        radius = Fraction(pair.get("on_map", pair["radius"]))
        need(proof["kind"] == "planar" and Fraction(pair["radius"]) <= radius, "a radius of no plane")
        need(("on_map" in pair) == ("around" in proof), "what the map makes of a radius")
        need(Fraction(pair["radius"]) == Fraction(claim["radius"]), "another radius")
        need("on_map" not in pair or Fraction(pair["on_map"]) == Fraction(claim["on_map"]), "another map")
        return dec(Fraction(claim["level"]))
    if proof["kind"] in LISTED:
        return _listed(pair, base, certificate)
    if proof["kind"] in ("product", "words", "weights"):
        return _whole(pair, factor, base, certificate)
    return _of_noise(pair, factor, base, certificate)


def _listed(pair: Document, base: Document, certificate: Document) -> Decimal:
    rows, claim = rows_of(certificate), certificate["claim"]
    pairs: Iterator[tuple[int, int]] = itertools.permutations(range(len(rows)), 2)
    near = list(pairs)
    if pair["code"] == "apart":
        distance = apart(Fraction(1), base, certificate, len(rows))
        near = [(x, y) for x, y in near if (far := distance(x, y)) is not None and far <= Fraction(pair["distance"])]
        if certificate["proof"]["kind"] == "constant" and not base:
            near = [(0, 1)]
    else:
        need(pair["code"] in ("any", "any-listed"), "which values")
        if not base and any(value == "inf" for value in claim["distances"].get("distances", [])):
            raise UntrueError("values that are infinitely far apart")
    if not near:
        return NOTHING
    if Fraction(claim["delta"]):
        epsilon = Fraction(claim["epsilon"]) * Fraction(claim["distances"]["distance"])
        return (
            dec(epsilon)
            if all(alike(rows[x], rows[y], epsilon, Fraction(claim["delta"])) for x, y in near)
            else NOTHING
        )
    return max(_ratio(rows[x], rows[y]) for x, y in near)


def _ratio(here: list[Fraction], there: list[Fraction]) -> Decimal:
    """Return the largest log-ratio of two rows, in the first direction."""
    worst = Decimal(0)
    for a, b in zip(here, there, strict=True):
        if a > b:
            worst = max(worst, (dec(a) / dec(b)).ln() if b else NOTHING)
    return worst


def _whole(pair: Document, factor: Fraction, base: Document, certificate: Document) -> Decimal:
    """Return the loss of products, words and weights, from the largest loss for each unit of the distance."""
    claim, parts = certificate["claim"], certificate["proof"].get("parts", [])
    if pair["code"] in ("any", "any-listed"):
        need(parts or certificate["proof"]["kind"] == "weights", "any two values of an endless set")
        need(all(part["count"] is not None for part in parts), "any number of parts")
        return whole_loss(certificate) if parts else any_two(certificate)[0]
    distance = Fraction(pair["distance"])
    need(pair["code"] == "apart", "which values")
    if base.get("base") == "discrete":
        return NOTHING if distance < 1 else whole_loss(certificate) if parts else any_two(certificate)[0]
    if base.get("base") == "words":
        proofs = [part["proof"] for part in parts] or [certificate["proof"]]
        if distance < min(Fraction(proof["step"]) for proof in proofs):
            return NOTHING  # vectors that differ do so by a step at least
        rate = Fraction(claim["epsilon"]) * factor  # which judge_claim has found to hold
        return dec(rate * distance)
    if base.get("base") == "hamming":
        many = math.floor(distance)
        return many * max(any_two(part)[0] for part in parts) if many else NOTHING
    each = Decimal(0)
    for part in parts:  # of manhattan: all steps in the part that loses most
        inner, own = metric_of(part["claim"]["metric"])
        step = Fraction(part["claim"]["distances"].get("distance", 1)) / inner
        if part["proof"]["kind"] != "law":
            points = apart(Fraction(1), own, part, len(rows_of(part)))
            rows = rows_of(part)
            pairs = itertools.permutations(range(len(rows)), 2)
            each = max(each, *(_ratio(rows[x], rows[y]) / dec(points(x, y) or Fraction(1)) for x, y in pairs))
        else:
            each = max(each, law_loss(1, part["proof"]) / dec(step))
            if distance < step:
                return NOTHING
    return each * dec(distance)


def _of_noise(pair: Document, factor: Fraction, base: Document, certificate: Document) -> Decimal:
    """Return the loss of noise in steps: that of the law itself, or the rate of ranges that judge_claim has found to hold."""
    claim, proof = certificate["claim"], certificate["proof"]
    step = Fraction(claim["distances"]["distance"]) / factor
    near = claim["distances"]["shape"] == "adjacent"
    name, many = base.get("base"), proof.get("coordinates", 1)
    if pair["code"] == "range":
        low, high = (Fraction(end) for end in pair["ends"])
        ends = proof["clamp"] if proof["kind"] == "law" else (proof["inputs"][0][0], proof["inputs"][-1][1])
        need([low, high] == [end * step for end in ends], "other ends")
        size = (high - low) * (1 if proof.get("norm") == "sup" else many)
    else:
        need(pair["code"] == "apart", "which values")
        size = Fraction(pair["distance"])
    need(not pair["whole"] or step == 1, "whole numbers in other steps")
    need(pair["whole"] or near or step != 1 or proof["kind"] != "law", "values of a claim about whole numbers")
    if size <= 0:
        return NOTHING
    if near:
        apart_ = math.ceil(size * factor)  # of steps of at most 1 in the claim, each of which loses epsilon
        if proof["kind"] != "law" or Fraction(claim["delta"]) or name != "line":
            need(
                apart_ == 1 or (not Fraction(claim["delta"]) and len(proof.get("inputs", [0])) == 1),
                "values too far apart",
            )
            return dec(Fraction(claim["epsilon"])) * apart_
        count = math.ceil(size / step)
        return (
            law_loss(count, proof)
            if proof["law"] != "staircase"
            else min(law_loss(count, proof), _chain(apart_, claim))
        )
    count = math.floor(size / step)
    if proof["kind"] == "law" and name in ("line", "manhattan"):
        return law_loss(count, proof) if count else NOTHING
    if proof["kind"] == "half line":
        return dec(Fraction(claim["epsilon"]) * factor * size)
    return dec(Fraction(claim["epsilon"]) * factor * step * count) if count else NOTHING


def _chain(many: int, claim: Document) -> Decimal:
    return many * dec(Fraction(claim["epsilon"]))


# What a column protects ---------------------------------------------------------------------------------------------------


def _protects(part: Document, stated: Document, certificate: Document, loss: Decimal, earlier: bool) -> None:
    """Compare the values that a column protects with those that are paid for, in a unit that its type has."""
    protects, pair = part["protects"], part["pair"]
    need(earlier or protects == stated["protects"], "other values than the file says to protect")
    base = metric_of(certificate["claim"]["metric"])[1]
    known = {"kind", "type", "distance", "unit", "metric", "range", "missing", "other"}
    need(set(protects) <= known and protects.get("missing", "shown") == "shown", "what is not known here")
    inside = certificate["claim"].get("secret", {}).get("inside")
    need(inside is None or "secret" in pair or "secret" in part, "what two values are alike outside of is not said")
    if protects["kind"] == "any":
        need(set(protects) <= {"kind", "range", "missing", "other"}, "any two values, and more")
        if "range" in protects:
            need(protects["range"] == "stated", "a range of no kind")
            return
        need(certificate.get("outside") != "keep", "any two values, and those beyond the ends are taken as well")
        parts = certificate["proof"].get("parts")
        most = whole_loss(certificate) if parts else any_two(certificate)[0]
        if most == NOTHING and pair["code"] in ("any", "any-listed", "range"):
            most = loss
        need(at_most(most, Fraction(part["loss"])), "any two values, of which only some are paid for")
        return
    need(protects["kind"] == "near" and "range" not in protects, "no kind of protection")
    type_, unit = protects["type"], protects.get("unit")
    need(type_ in SIZES and unit in SIZES[type_], "a unit that the type does not have")
    need(base.get("base") in BASES.get(type_, (base.get("base"),)), "a metric that the type does not have")
    if "metric" in protects:
        own = {name: value for name, value in base.items() if name != "lattice"}
        need(protects["metric"] == (own or certificate["claim"]["metric"]), "a distance in another metric")
    size = Fraction(protects["distance"]) * SIZES[type_][unit]
    if unit in ("pixel", "code unit"):  # a pixel has several values, and each of them 255 steps; a code has many steps
        secret = certificate["claim"].get("secret")
        steps = Fraction(1) / Fraction(certificate["claim"]["metric"].get("factor", 1))
        if secret is not None and unit == "pixel":
            steps = Fraction(secret["channels"] * (255 if base["base"] == "manhattan" else 1))
        elif secret is not None:
            steps = Fraction(secret["steps"])
        size *= steps
    need(size > 0, "a distance of nobody")
    if pair["code"] == "apart":
        need(size <= Fraction(pair["distance"]), "more than is paid for")
    elif pair["code"] == "radius":
        need(size <= Fraction(pair["radius"]), "more than the radius")
    else:
        need(pair["code"] in ("any", "any-listed", "range"), "which values")


def nearest_squared(certificate: Document) -> Fraction:
    """Return the least squared distance of two different values, in the metric without its factor; 0 where it is not known."""
    proof, stated = certificate["proof"], certificate["claim"]["distances"]
    factor, base = metric_of(certificate["claim"]["metric"])
    name = base.get("base")
    if certificate["numerics"] == "floating":
        return Fraction(0)
    if name in ("discrete", "hamming"):
        return Fraction(1)
    if proof["kind"] in LISTED and name is not None and proof["kind"] != "constant":
        size = len(rows_of(certificate))
        distance = apart(Fraction(1), base, certificate, size)
        every = [distance(x, y) for x, y in itertools.combinations(range(size), 2)]
        return min((one**2 for one in every if one), default=Fraction(0))
    if proof["kind"] in ("law", "planar", "ranged") and stated["shape"] == "steps":
        return (Fraction(stated["distance"]) / factor) ** 2
    return Fraction(0)
