"""Changes that a forger makes in a certificate: numbers, codes, secrets, conditions, names, and what belongs to other documents.

A general change is made anywhere in a document; the others know what a field means, and try what a careless checker would let
through. Those of releases are in :mod:`tests.attack.forge_releases`.
"""

from __future__ import annotations

import copy
import math
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from tests.attack.forge_honest import Document, honest

__all__ = ["CHANGES", "METRICS", "SPELLINGS", "anywhere", "exchange", "from_another", "nudged"]
__all__ += ["one_change", "paths", "randomness"]

NUDGES = (Fraction(1, 1 << 60), Fraction(1, 1 << 52), Fraction(1, 1 << 50), Fraction(1, 10**13), Fraction(4, 10**13))
METRICS: list[dict[str, Any]] = [
    *({"base": name} for name in ("discrete", "line", "euclidean", "manhattan", "hamming", "angular")),
    *(
        {"called": "my own"},
        {"called": "line"},
        {"called": 'it\'s "mine"'},
        {"called": "x) change by a factor of at most 1. And ("},
        {"base": "line", "called": "line"},
    ),
    *({"base": "line", "lattice": -2}, {"base": "discrete", "factor": "1/2"}, {"base": "line", "factor": "2"}),
    *({"base": "largest", "count": 3}, {"base": "sum", "count": 3}, {"base": "metres", "around": ["1", "2"]}),
    *({"base": "line", "unit": "kilometre"}, {"base": "manhattan", "lattice": 0}, {"base": "words", "file": "0" * 12}),
]
EARLIER_METRICS = [
    *("discrete", "line", "euclidean", "manhattan", "hamming", "angular", "my own", "2 * line", "1/2 * discrete"),
    *(
        "line between points of the lattice 2^-2",
        "largest of 3 differences",
        "sum of 3 differences",
        "metres around (1, 2)",
    ),
]
PADS = [
    " {}",
    "{} ",
    "*{}",
    "1 * {}",
    "1.0 * {}",
    "{}\t",
    "{}\u200b",
    "2*{}",
    "{} * 1",
    "'{}'",
    "({})",
    "0.5 * {}",
    "{}, or less",
]
NAMES = [
    *(
        "faces-recognised",
        "pixel-x",
        "pixel-laplace",
        "private-documents",
        "lshrr",
        "hashed-sets",
        "geometric",
        "unary-encoding",
    ),
    *("geo-laplace", "noisy-codes", "picture", "optimal", "a mechanism of mine", "x\n", "", "between two faces"),
]
SPELLINGS = [
    *(
        'age": epsilon = 0 for any two values that differ, "b',
        "age, by any two values in income",
        "x\n  kept as they are",
        "age",
    ),
    *("patient (at most 1) and anybody", "one row", "\u202eyear", "\\", "a\\", 'a\\"', "day and night", "x" * 999, ""),
]
FIELDS = [
    *(
        "notes",
        "oracle",
        "about",
        "scope",
        "simulated",
        "inputs",
        "secrets",
        "answers",
        "step",
        "level",
        "within",
        "change",
    ),
    *(
        "norm",
        "clamp",
        "secret",
        "conditions",
        "hashing",
        "in_the_clear",
        "measured",
        "unit",
        "factor",
        "lattice",
        "seed",
    ),
]
CODES = [
    *(
        "everything",
        "word-count",
        "word-order",
        "unknown-words",
        "file-names",
        "outside-regions",
        "places",
        "metadata",
        "nothing",
    ),
]
ODD: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    1.5,
    "",
    "x",
    [],
    {},
    [[]],
    {"tuple": [1]},
    {"fraction": "1", "tuple": [1]},
    "1e400",
]


# A change anywhere --------------------------------------------------------------------------------------------------------


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the places of a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from paths(one, (*path, key))


CLAIMED = (
    "price",
    "epsilon",
    "distance",
    "metric",
    "times",
    "step",
    "secret",
    "neighbours",
    "protects",
    "count",
    "total",
)


def anywhere(document: Document, rng: random.Random) -> None:
    """Change one thing, most likely in a claim."""
    places = [path for path in paths(document) if path[-1] != "digest"]
    claimed = [
        path for path in places if "claim" in path or path[-1] in CLAIMED or "secret" in path or "protects" in path
    ]
    *way, last = rng.choice(claimed if claimed and rng.random() < 0.45 else places)
    inside: Any = document
    for key in way:
        inside = inside[key]
    one_change(inside, last, rng)


def one_change(inside: Any, last: Any, rng: random.Random) -> None:
    """Take out, add, double, exchange, replace or nudge."""
    value, dice = inside[last], rng.random()
    if dice < 0.06:
        inside.pop(last)
    elif dice < 0.1 and isinstance(inside, dict):
        inside[rng.choice(FIELDS)] = copy.deepcopy(rng.choice([value, *ODD]))
    elif dice < 0.14 and isinstance(inside, list):
        inside.insert(last, copy.deepcopy(rng.choice(inside)))
    elif dice < 0.19 and isinstance(inside, list):
        rng.shuffle(inside)
    elif dice < 0.26:
        inside[last] = from_another(last, rng, value)
    elif dice < 0.31:
        inside[last] = copy.deepcopy(rng.choice([*ODD, [value], {"tuple": [value]}, str(value)]))
    elif last == "metric":
        inside[last] = renamed(value, rng)
    else:
        inside[last] = nudged(value, rng)


def from_another(last: Any, rng: random.Random, otherwise: Any) -> Any:
    """Return the value of another document under the same name."""
    found: Any = rng.choice(list(honest().values()))
    same = [path for path in paths(found) if path[-1] == last]
    if not same:
        return otherwise
    for key in rng.choice(same):
        found = found[key]
    return copy.deepcopy(found)


def renamed(metric: Any, rng: random.Random) -> Any:
    """Return another metric: of version 1 by its name, or one that looks like that."""
    if not isinstance(metric, str):
        return other_metric(metric, rng)
    head, star, base = metric.rpartition(" * ")
    choice = rng.randrange(5)
    if choice == 0:
        return rng.choice(PADS).format(metric)
    if choice == 1 and star:
        near = float(Fraction(head))
        return f"{rng.choice([repr(near), f'{near:.12g}', str(nudged(head, rng))])} * {base}"
    if choice == 2:
        return re.sub("2\\^(-?[0-9]+)", lambda m: f"2^{int(m[1]) + rng.choice([-1, 1])}", metric)
    return f"{nudged('1', rng)} * {base}" if choice == 3 else rng.choice(EARLIER_METRICS)


def other_metric(metric: Any, rng: random.Random) -> Any:
    """Return another record of a metric, or this one with another field."""
    if not isinstance(metric, dict) or rng.random() < 0.3:
        return copy.deepcopy(rng.choice(METRICS))
    made = dict(metric)
    field = rng.choice(["factor", "factor", "factor", "lattice", "order", "count", "around", "called", "base"])
    if field == "factor":
        made["factor"] = nudged(made.get("factor", "1"), rng)
    elif field == "lattice":
        made["lattice"] = rng.choice([made.get("lattice", 0), 0]) + rng.choice([-1, 0, 1])
    elif field == "base":
        made["base"] = rng.choice(["line", "manhattan", "euclidean", "discrete", "hamming", "largest"])
    else:
        made[field] = {"order": rng.choice(["matched", "aligned", "any"]), "count": 2, "around": ["1", "2"]}.get(
            field, "line"
        )
    if rng.random() < 0.15:
        made.pop(rng.choice(list(made)))
    return made


def nudged(value: Any, rng: random.Random) -> Any:
    """Return a number a little or a lot different; text in other words."""
    if isinstance(value, bool) or value is None or isinstance(value, (dict, list)):
        return rng.choice([value, None, not value])
    if isinstance(value, int):
        floating = float(value) if abs(value) < 1 << 53 else 0
        return rng.choice([value + 1, value - 1, 2 * value, -value, 0, value << 64, str(value), floating])
    if isinstance(value, float):
        return rng.choice([math.nextafter(value, math.inf), 2 * value, -value, str(value), int(value)])
    if re.fullmatch("[0-9a-f]{9,}", value):  # an entry of a table
        return f"{max(int(value, 16) + rng.choice([-1, 1, 1 << 20, -(1 << 20), int(value, 16)]), 0):x}"
    try:
        return _nudged_number(Fraction(value), rng)
    except (ValueError, ZeroDivisionError):
        more = ["any", "radius", "adjacent", "steps", "uniform", "exact", "floating", *SPELLINGS[:4]]
        return rng.choice([value.upper(), f" {value}", f"{value} ", value[:-1], f"{value}\u200b", *more])


def _nudged_number(number: Fraction, rng: random.Random) -> Any:
    way = rng.choice([-1, 1])
    made = rng.choice(
        [
            *(number * (1 + way * rng.choice(NUDGES)), number * (1 + way * Fraction(1, 10**6)), number + way, -number),
            *(
                number * 2,
                number / 2,
                number * rng.randint(2, 1000),
                Fraction(float(number)),
                Fraction(f"{float(number):.12g}"),
            ),
            Fraction(math.nextafter(float(number), way * math.inf)),
        ]
    )
    return rng.choice([str(made), str(made), str(made), str(made), f"{float(made)!r}", f"0{made}", int(made)])


# Changes of a mechanism ---------------------------------------------------------------------------------------------------


def weaker(document: Document, rng: random.Random) -> None:
    """Leave room to spare in a claim, so that the other changes are not refused for its sake."""
    claim = document["claim"]
    claim["epsilon"] = str(Fraction(claim["epsilon"]) * rng.choice([2, 10, 1000]))
    if rng.random() < 0.3:
        claim["delta"] = rng.choice(["1/1000", "0.1", "0"])


def a_hair(document: Document, rng: random.Random) -> None:
    """Make an epsilon, a delta, a distance or a level a little too good."""
    claim = document["claim"]
    name = rng.choice([name for name in ("epsilon", "delta", "level", "radius") if name in claim])
    claim[name] = str(Fraction(claim[name]) * (1 + rng.choice([-1, -1, 1]) * rng.choice(NUDGES)))


def metric(document: Document, rng: random.Random) -> None:
    """State another metric."""
    document["claim"]["metric"] = renamed(document["claim"]["metric"], rng)


def secret(document: Document, rng: random.Random) -> None:
    """State secrets of another kind, counted otherwise, or of which fewer draws can show one person."""
    own = document["claim"].get("secret")
    if own is None or rng.random() < 0.25:
        kinds: list[dict[str, Any]] = [
            *(
                {"kind": "picture"},
                {"kind": "picture", "unit": "pixel", "channels": 3},
                {"kind": "picture", "unit": "step"},
            ),
            *({"kind": "face", "steps": 8192}, {"kind": "hash", "family": "minhash", "bits": 7, "answers": 2}),
            *({"kind": "document"}, {"kind": "word"}, {"kind": "record"}, {"kind": "table"}, {"kind": "place"}),
        ]
        document["claim"]["secret"] = dict(rng.choice(kinds))
        return
    dice = rng.randrange(6)
    if dice == 0:
        own["unit"], own["channels"] = rng.choice([("pixel", 3), ("pixel", 1), ("step", None), (None, 3)])
        document["claim"]["secret"] = {name: value for name, value in own.items() if value is not None}
    elif dice == 1:
        own["draws"] = rng.choice([1, 2, 3, 6, 12, 36, 108])
        own["touching"] = rng.choice([1, 1, 2, own["draws"], own["draws"] + 1])
        own.setdefault("inside", "place")
        own.setdefault("count", rng.choice([1, 3, own["draws"]]))
    elif dice == 2:
        own["touching"] = own.get("touching", 1) + rng.choice([-1, -1, 1])
    elif dice == 3:
        own["inside"], own["count"] = (
            rng.choice(["region", "mask", "place", "track", "house"]),
            rng.choice([0, 1, 2, 1000]),
        )
    elif dice == 4:
        name = rng.choice(list(own))
        own[name] = nudged(own[name], rng)
    else:
        own.pop(rng.choice(list(own)))


def conditions(document: Document, rng: random.Random) -> None:
    """State other conditions of the claim, known or unknown."""
    known = ["not-a-training-record", "simulation", "floats", "parts", "stated-distances", "within"]
    chosen = [{"code": code} for code in rng.sample(known, rng.choice([1, 1, 2]))]
    document["claim"]["conditions"] = rng.choice([[], [{"code": "not-a-training-record"}], chosen, None])


def clear(document: Document, rng: random.Random) -> None:
    """State other things in the clear, or fewer."""
    listed = document.setdefault("in_the_clear", [])
    if listed and rng.random() < 0.5:
        listed.pop(rng.randrange(len(listed)))
        return
    names: list[Any] = [{"called": name} for name in SPELLINGS] + [
        {"code": "attribute", "name": name} for name in SPELLINGS
    ]
    listed.append(rng.choice([{"code": rng.choice(CODES)}, rng.choice(names), rng.choice(SPELLINGS)]))


def mechanism(document: Document, rng: random.Random) -> None:
    """State another name, which must not mean anything."""
    document["mechanism"] = rng.choice(NAMES)


def randomness(document: Document, rng: random.Random) -> None:
    """State another source of random bits; a simulation must be said to be one."""
    texts = ["numpy generator: simulation, not for release", "system seed, AES-256-CTR", "a simulation", "dice"]
    document["randomness"] = rng.choice([*texts, {"lots": "a simulation"}, {"lots": "dice", "more": 1}, None])


def shape(document: Document, rng: random.Random) -> None:
    """State distances of another shape: each pair, neighbours, or steps."""
    stated = document["claim"]["distances"]
    stated["shape"] = rng.choice(["adjacent", "steps", "uniform", "line", "table", "product", "words"])
    if rng.random() < 0.5:
        stated["distance"] = rng.choice(["1", "1/2", "2", stated.get("distance", "0")])


def product_part(document: Document, rng: random.Random) -> None:
    """State parts of a product more often, or others."""
    parts = document["proof"]["parts"]
    part = rng.choice(parts)
    dice = rng.randrange(5)
    if dice == 0:
        part["count"] = rng.choice([None, 0, 1, 2, 3, part["count"], 10**6])
    elif dice == 1:
        donor = rng.choice(list(honest().values()))
        part.update({name: copy.deepcopy(donor[name]) for name in ("mechanism", "claim", "proof")})
    elif dice == 2:
        part["outside"] = rng.choice(["keep", "clamp", "refuse"])
    elif dice == 3:
        a_hair(part, rng)
    else:
        parts.append(copy.deepcopy(part)) if rng.random() < 0.5 else parts.pop()


def stated(document: Document, rng: random.Random) -> None:
    """State other measurements, hashes, public files or another seed."""
    name = rng.choice(
        [name for name in ("measured", "hashing", "resources", "seed") if name in document] or ["hashing"]
    )
    if rng.random() < 0.2:
        document.pop(name)
    elif name == "hashing" and rng.random() < 0.7:
        made = document.get("hashing", {"family": "minhash", "dimension": 5, "zero": "fixed"})
        own = {"family": rng.choice(["projection", "minhash", "my own"]), "dimension": rng.choice([1, 0, 10**9])}
        document["hashing"] = {**made, **dict([rng.choice(list(own.items()))])}
    elif name in document:
        inside = document[name]
        places = list(paths(inside))
        if not places:
            document[name] = from_another(name, rng, inside)
            return
        *way, last = rng.choice(places)
        for key in way:
            inside = inside[key]
        inside[last] = rng.choice([nudged(inside[last], rng), rng.choice(SPELLINGS), from_another(last, rng, None)])
    else:
        document[name] = from_another(name, rng, {})


def ends(document: Document, rng: random.Random) -> None:
    """State other ends of ranges, and another treatment of values outside."""
    name = rng.choice(
        [name for name in ("within", "answers", "outside", "step", "scope", "snapped_to") if name in document]
    )
    if name == "outside":
        document[name] = rng.choice(["keep", "clamp", "refuse"])
    elif name in ("step", "scope"):
        document[name] = rng.choice(["adjacent", "metric"]) if name == "scope" else nudged(document[name], rng)
    else:
        value = document[name]
        document[name] = rng.choice([[["0", "1"]], [[None, None]], [["0", None]], value[:1], [*value, ["20", "30"]]])


def exchange(document: Document, rng: random.Random) -> None:
    """Take a whole field from another document."""
    name = rng.choice([name for name in document if name not in ("digest", "format")])
    document[name] = from_another(name, rng, document[name])


CHANGES: list[Callable[[Document, random.Random], None]] = [
    *(weaker, weaker, a_hair, metric, secret, secret, conditions, clear, mechanism, randomness, shape, product_part),
    *(stated, ends, exchange),
]
