"""Changes that a forger makes in a release: parts, prices, units, neighbours, names, and what is said not to be protected."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tests.attack.forge_changes import CHANGES, METRICS, SPELLINGS, anywhere, exchange, from_another, nudged, randomness
from tests.attack.forge_honest import Document, honest, sealed

__all__ = ["changed"]

UNITS = [
    None,
    "day",
    "hour",
    "minute",
    "second",
    "metre",
    "kilometre",
    "year",
    "pixel",
    "step",
    "code unit",
    "differing bit",
]
TYPES = ["number", "date", "time", "place", "picture", "face", "hash", "text", None]


def changed(document: Document, rng: random.Random) -> Document:
    """Return a copy with one to three changes, and digests that fit."""
    made = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 2, 3])):
        change = rng.choice(RELEASED if "total" in made else CHANGES) if rng.random() < 0.55 else anywhere
        for one in (change, anywhere):
            try:
                one(made, rng)
            except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
                continue  # an earlier change took away what this one is about
            break
    return resealed(made, rng)


def resealed(document: Document, rng: random.Random) -> Document:
    """Return the document with digests that fit; as often as not, prices and the total follow from the parts."""
    if isinstance(document.get("parts"), list):
        for part in document["parts"]:
            if isinstance(part, dict) and isinstance(part.get("certificate"), dict):
                part["certificate"] = sealed(part["certificate"])
                if rng.random() < 0.2:
                    _priced(part)
        if isinstance(document.get("total"), dict) and rng.random() < 0.6:
            try:
                for to, of in (("epsilon", "price"), ("delta", "delta")):
                    document["total"][to] = str(sum(Fraction(part[of]) for part in document["parts"]))
            except (LookupError, TypeError, ValueError, ArithmeticError):
                pass
    return sealed(document)


def _priced(part: Document) -> None:
    """State the price that follows from the distance, if that is a number."""
    try:
        claim = part["certificate"]["claim"]
        part["price"] = str(part["times"] * Fraction(claim["epsilon"]) * Fraction(part["distance"]))
    except (LookupError, TypeError, ValueError, ArithmeticError):
        pass


# Changes of a release -----------------------------------------------------------------------------------------------------


def inside_part(document: Document, rng: random.Random) -> None:
    """Change the certificate of a part."""
    rng.choice(CHANGES)(rng.choice(document["parts"])["certificate"], rng)


def neighbours(document: Document, rng: random.Random) -> None:
    """State other neighbours, of either version."""
    relation = document["neighbours"]
    units = [None, "patient", *SPELLINGS]
    if isinstance(relation, str):
        document["neighbours"] = rng.choice(["replace", "add-remove", "same-rows"])
        document["unit"] = {"column": rng.choice(units), "rows": rng.choice([1, 1, 2, 3, 0])}
        return
    name = rng.choice(list(relation))
    choices: dict[str, list[Any]] = {
        **{"relation": ["same-rows", "add-remove", "replace", "any", None], "rows": [1, 2, 3, 0, 10**9, True, "1"]},
        "unit": units,
    }
    relation[name] = rng.choice(choices.get(name, units))


def protects(document: Document, rng: random.Random) -> None:
    """State other values that a column protects: farther apart, in another unit, any two."""
    part = rng.choice([part for part in document["parts"] if part["kind"] == "column"])
    own = part["protects"]
    if isinstance(own, str):  # of version 1, in English
        others = [
            own.replace("at most 5", "at most 50"),
            "any two values",
            f"{own} days",
            f"{own} kilometres",
            own.upper(),
        ]
        part["protects"] = rng.choice(
            [*others, f"{own} (whether one is missing is shown)", "at most 5 days", "at most 5e0"]
        )
        return
    dice = rng.randrange(10)
    if dice in (0, 8, 9):
        own["unit"] = rng.choice(UNITS)
    elif dice == 1:
        own["type"] = rng.choice(TYPES)
        own["unit"] = rng.choice(UNITS)
    elif dice == 2:
        own["distance"] = nudged(own.get("distance", "1"), rng)
    elif dice == 3:
        part["protects"] = rng.choice(
            [{"kind": "any"}, {"kind": "any", "range": "stated"}, {"kind": "none", "hidden": ["x"]}]
        )
    elif dice == 4:
        own["metric"] = rng.choice(METRICS)
    elif dice == 5:
        own["missing"] = rng.choice(["shown", "hidden", None])
    elif dice == 6:
        own["other"] = copy.deepcopy(
            rng.choice([*SPELLINGS, True, 1, 1.0, {"fraction": "1/2"}, {"tuple": ["a", 1]}, None])
        )
    else:
        own.pop(rng.choice(list(own)))
    if rng.random() < 0.2:
        own["unit"] = None
        own.pop("unit")


def taken(document: Document, rng: random.Random) -> None:
    """Take values from beyond the ends of a certificate as they are, or move them to the ends."""
    rng.choice(document["parts"])["certificate"]["outside"] = rng.choice(["keep", "keep", "clamp", "refuse"])


def priced(document: Document, rng: random.Random) -> None:
    """State another distance, price, number of times or delta of a part."""
    part = rng.choice(document["parts"])
    name = rng.choice(["distance", "price", "times", "delta"])
    if name == "distance":
        part[name] = rng.choice(["any", "radius", nudged(part[name], rng), "1", "1/2", "0", "10"])
    elif name == "times":
        part[name] = rng.choice([0, 1, 2, 3, -1, True, 1.0])
    else:
        part[name] = nudged(part[name], rng)


def titled(document: Document, rng: random.Random) -> None:
    """State names of parts, columns and statistics that look like more than a name."""
    part = rng.choice(document["parts"])
    name = rng.choice(["name", "columns", "statistic", "kind"])
    if name == "columns" and "columns" in part:
        part[name] = rng.sample(SPELLINGS, rng.choice([1, 1, 2, 3]))
    elif name == "kind":
        part[name] = rng.choice(["column", "query", "other"])
    elif name in part:
        part[name] = rng.choice([*SPELLINGS, None])


def unprotected(document: Document, rng: random.Random) -> None:
    """State other things that are not protected: kept, exact, without an epsilon, the order of rows."""
    name = rng.choice(["kept", "exact", "context_aware", "order", "order"])
    if name == "order":
        document["order"] = rng.choice(["random", "kept", "unsaid", None, "sorted"])
    elif name == "context_aware":
        document[name] = from_another(name, rng, [])
        if document[name] and rng.random() < 0.7:
            inside = rng.choice([document[name][0], document[name][0]["measured"]])
            last = rng.choice(list(inside))
            inside[last] = rng.choice([nudged(inside[last], rng), rng.sample(SPELLINGS, 2), False, inside[last]])
    else:
        document[name] = rng.choice([[], ["age"], rng.sample(SPELLINGS, 2), None])


def other_certificate(document: Document, rng: random.Random) -> None:
    """Put the certificate of another mechanism in the place of a part's own, for the same price or for its own."""
    part = rng.choice(document["parts"])
    donors = [one for name, one in honest().items() if "total" not in one and not name.startswith("version 1")]
    part["certificate"] = copy.deepcopy(rng.choice(donors))
    if rng.random() < 0.7:
        part["distance"] = rng.choice(["1", "2", "10", "any", "any", "radius"])
        epsilon = Fraction(part["certificate"]["claim"]["epsilon"])
        part["price"] = str(epsilon * part["times"] * rng.choice([1, 2, 10, 100]))
        part["delta"] = str(Fraction(part["certificate"]["claim"]["delta"]) * part["times"])


def listed(document: Document, rng: random.Random) -> None:
    """Leave parts out, double or exchange them."""
    parts = document["parts"]
    dice = rng.randrange(4)
    if dice == 0:
        parts.pop(rng.randrange(len(parts)))
    elif dice == 1:
        parts.append({**copy.deepcopy(rng.choice(parts)), "name": "again"})
    elif dice == 2:
        document["parts"] = from_another("parts", rng, parts)
    else:
        document["floating"] = not document["floating"]


def all_random(document: Document, rng: random.Random) -> None:
    """State another source of random bits, in all parts at once."""
    randomness(document, rng)
    for part in document["parts"]:
        part["certificate"]["randomness"] = document["randomness"]


RELEASED: list[Callable[[Document, random.Random], None]] = [
    *(
        inside_part,
        inside_part,
        neighbours,
        neighbours,
        protects,
        protects,
        protects,
        priced,
        priced,
        titled,
        unprotected,
    ),
    *(other_certificate, other_certificate, listed, all_random, exchange, taken),
]
