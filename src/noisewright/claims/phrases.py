"""The phrase table: claim records in, English out. Standard library only; it may lie beside the exported checker.

A claim record holds codes, exact numbers and quoted names. This module is the only one that turns such a record into a
sentence; nothing reads a sentence back. Epsilons and deltas are rounded up, distances down, so that words never claim more.

A record of one mechanism has ``epsilon``, ``delta``, ``metric``, ``scope`` ("metric" or "adjacent"), perhaps ``secret``, and
``conditions``, a list of records with a ``code`` each. A record of a release has ``neighbours`` and ``parts``.

>>> line({"epsilon": "1/2", "delta": "0", "scope": "metric", "metric": {"base": "line"}, "conditions": []})
'epsilon = 0.5 per unit of line'
>>> neighbours({"relation": "add-remove", "unit": "patient", "rows": 3})
'two tables that are alike except for the rows of one patient (at most 3), which only one of them has'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

Record = Mapping[str, Any]

SECRETS = {  # kind of a secret: in the plural
    "value": "secrets",
    "picture": "pictures",
    "face": "faces",
    "document": "documents",
    "word": "words",
    "place": "places",
    "hash": "vectors",
    "table": "tables",
    "record": "records",
}
PARTS = {  # of a picture, outside of which two secrets are alike: one of them, several
    "region": ("the region", "the {count:,} regions"),
    "mask": ("the mask", "the {count:,} masks"),
    "place": ("the hidden place", "the {count:,} hidden places"),
    "track": ("the places of the face that is followed", "the places of the {count:,} faces that are followed"),
}
MEASURED_IN = {  # what a distance between secrets is called, where that is not the name of the metric
    ("picture", "pixel"): "pixels that differ",
    ("picture", "step"): "steps of colour, added up over pixels and channels",
    ("face", None): "distance of codes, 1 between opposite corners of the public box",
    ("document", "matched"): "the distances of matched words, added up",
    ("document", "aligned"): "the distances of words at the same place, added up",
}
CLEAR = {  # what an output shows as it is
    "everything": "everything",
    "word-count": "the number of words",
    "word-order": "the order of words",
    "unknown-words": "everything outside of the vocabulary",
    "file-names": "the names of the files",
    "file-count": "the number of the files",
    "picture-size": "the size of the picture",
    "outside-regions": "everything outside of the regions",
    "outside-places": "everything outside of the hidden places, including parts of a head that reach out of its place",
    "places": "how many places are hidden, where they are, how large and how tilted",
    "outlines": "the outlines of the hidden heads",
    "missed": "every face that was not found",
    "motion": "where each face is in every frame, and how long the video is",
    "metadata": "the author, time, place and camera of each picture, as its file states them (EXIF)",
    "training-records": "what the privatiser reveals about records that it was trained on",
    "attribute": "the attribute {name}",
}
BOUNDARY = {  # what the proof takes from the file, and the condition for it
    "floats": "if the theorem for real numbers holds for the floats that are drawn (not proved)",
    "pair-before-seed": "for two secrets that were chosen before the public seed was drawn",
    "not-a-training-record": "for records that the privatiser was not trained on",
    "seed-failure": "unless the public seed is unlucky (probability {probability})",
    "within": "for pairs at most {distance} apart, and for no others",
}
DISTANCES = {  # of a proof, by their shape
    "uniform": "{distance} between any two secrets",
    "steps": "{distance} for one step of the outputs",
    "adjacent": "neighbours, at most 1 apart; one step of the outputs is {distance}",
    "words": "those of word vectors in its public file",
    "product": "those of its parts, which are drawn independently",
}
STATED = {"level", "word-file", "slope", "floats", "stated-sensitivity"}
"""Codes of conditions that hold only if something that the file states is true."""
OPEN = "NOT protected"
MAX_INTERVALS = 9
LARGEST = 1 << 1023
"""Numbers from here on are not taken for floats, since the largest float is less than twice as large."""
WORD = re.compile(r"\w+([.-]\w+)*")
UNITS = {  # unit of a protected distance: (plural, how many of the certificate's own unit it is, by type of the column)
    "day": ("days", {"date": 1, "time": 86_400}),
    "hour": ("hours", {"time": 3_600}),
    "minute": ("minutes", {"time": 60}),
    "second": ("seconds", {"time": 1}),
    "metre": ("metres", {"place": 1}),
    "pixel": ("pixels", {"picture": 1}),
    "step": ("steps", {"picture": 1}),
    "code unit": ("code units", {"face": 1}),
    "differing bit": ("differing bits", {"hash": 1}),
    "differing answer": ("differing answers", {"hash": 1}),
}


# Numbers and names ----------------------------------------------------------------------------------------------------------


def up(value: Any, digits: int = 6) -> str:
    """Return a number in a few digits, rounded up."""
    return rounded(Fraction(value), ROUND_CEILING, digits)


def down(value: Any, digits: int = 6) -> str:
    """Return a number in a few digits, rounded down."""
    return rounded(Fraction(value), ROUND_FLOOR, digits)


def rounded(value: Fraction, way: str = ROUND_CEILING, digits: int = 6) -> str:
    """Return a number in at most `digits` digits; in seventeen if it is the float beyond a number of fewer digits.

    >>> rounded(Fraction(0.1)), rounded(Fraction(10) ** 400 / 3) == "333334" + "0" * 394
    ('0.10000000000000001', True)
    """
    if abs(value) < LARGEST:
        short = f"{float(value):.{digits}g}"
        beyond = Fraction(short) < value if way == ROUND_CEILING else Fraction(short) > value
        digits = 17 if beyond and Fraction(float(short)) == value else digits
    found = Context(prec=digits, rounding=way).divide(*map(Decimal, value.as_integer_ratio())).normalize()
    return f"{found:f}" if not found or found.adjusted() >= -6 else f"{found:e}"


def plain(value: Any, way: str = ROUND_FLOOR) -> str:
    """Return an integer in full and another number in twelve digits, rounded down, or another way."""
    number = Fraction(value)
    return str(number) if number.denominator == 1 else rounded(number, way, 12)


def quoted(name: str) -> str:
    r"""Return a name from a file in quotation marks, which it cannot end, and without characters that a terminal would obey.

    >>> print(quoted('a "b"\n'))
    "a \x22b\x22\n"
    """
    kept = (c if c.isprintable() and c not in '"\\' else r"\x22" if c == '"' else repr(c)[1:-1] for c in name)
    return f'"{"".join(kept)}"'


def named(name: str) -> str:
    """Return a name from a file as it is where it is one word, and otherwise in quotation marks.

    >>> print(named("age"), named("age, or any two values"))
    age "age, or any two values"
    """
    return name if WORD.fullmatch(name) else quoted(name)


def listed(names: Iterable[str], word: str = "and") -> str:
    """Return names with commas, and a word before the last."""
    *first, last = names
    return f"{', '.join(first)} {word} {last}" if first else last


def number_of(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


# Metrics --------------------------------------------------------------------------------------------------------------------


def metric_name(metric: Record) -> str:
    """Return the name of a metric record.

    >>> metric_name({"base": "line", "factor": "1/5", "lattice": -3}), metric_name({"called": "my metric"})
    ('1/5 * line between points of the lattice 2^-3', "'my metric'")
    """
    if "called" in metric:
        return repr(metric["called"])
    name = base_name(metric)
    factor = str(metric.get("factor", "1"))
    if factor == "1":
        return name
    return f"{factor if len(factor) <= 40 else rounded(Fraction(factor), digits=12)} * {name}"


def base_name(metric: Record) -> str:
    """Return the name of a metric record without its factor."""
    base = metric["base"]
    if base == "tables":
        columns = [(one, names) for one, names in metric["columns"]]
        return between(metric["neighbours"], columns, metric.get("same", ()))
    if base in ("largest", "sum"):
        base = f"{base} of {metric['count']} differences"
    elif base == "metres":
        base = f"metres around ({metric['around'][0]}, {metric['around'][1]})"
    elif base == "words":
        order = f"{metric['order']} " if "order" in metric else ""
        base = f"{order}euclidean between word vectors (sha256 {metric['file']})"
    return f"{base} between points of the lattice 2^{metric['lattice']}" if "lattice" in metric else str(base)


# Claims of one mechanism ----------------------------------------------------------------------------------------------------


def line(record: Record) -> str:
    """Return the claim of one mechanism in one line, in exact terms, with all its conditions."""
    told = "radius" in record and record["metric"].get("base") != "tables"
    near = [{"code": "within", "distance": record["radius"]}] if told else []
    return claim(record) + share(record) + "".join(conditions([*near, *record["conditions"]]))


def claim(record: Record) -> str:
    """Return epsilon, for which distance, between which secrets where that is stated, and delta."""
    name, secret = metric_name(record["metric"]), record.get("secret")
    for_what = f"between neighbours ({name} at most 1)" if record["scope"] == "adjacent" else per(record["metric"])
    if record["metric"].get("base") == "tables":
        for_what = f"between {name}"
    if secret is not None and secret["kind"] != "hash":
        for_what += f" between two {noun(secret['kind'], secret)}"
    extra = f", delta = {up(record['delta'])}" if Fraction(record["delta"]) else ""
    return f"epsilon = {up(record['epsilon'])} {for_what}{extra}"


def per(metric: Record) -> str:
    """Return what an epsilon per unit of a metric is for."""
    return f"per unit of {metric_name(metric)}"


def share(record: Record) -> str:
    """Return what one person costs, and all of them, if several draws are claimed together.

    >>> secret = {"kind": "picture", "inside": "place", "count": 6, "draws": 6, "touching": 1}
    >>> share({"epsilon": "600", "delta": "0", "metric": {"base": "discrete"}, "secret": secret})
    '; epsilon = 100 for a person who is in at most 1 of the 6 draws'
    """
    secret = record.get("secret", {})
    draws, touching = secret.get("draws", 1), secret.get("touching", 1)
    if draws == 1:
        return ""
    uniform = record["metric"].get("base") == "discrete"  # otherwise distances add up over the draws
    each = Fraction(1, draws) if uniform else factor(record["metric"], secret)
    one, every = (
        cost(many * each * Fraction(record["epsilon"]), many * each * Fraction(record["delta"]))
        for many in (touching, draws)
    )
    inside = f"all {draws:,}" if touching == draws else f"at most {touching:,} of the {draws:,}"
    person = f"; {one} for a person who is in {inside} draws"
    return person if uniform else f"{person}, and {every} for all draws together"


# Secrets and how far apart they are -----------------------------------------------------------------------------------------


def kind_of(metric: Record, secret: Record | None) -> str:
    """Return the kind of secret that a metric is about."""
    if secret is not None:
        return str(secret["kind"])
    if metric.get("base") == "words":
        return "document" if "order" in metric else "word"
    return {"metres": "place", "tables": "table"}.get(metric.get("base", ""), "value")


def noun(kind: str, secret: Record | None) -> str:
    """Return what secrets are called in the plural, and outside of what two of them are alike.

    >>> noun("picture", {"kind": "picture", "inside": "place", "count": 6})
    'pictures that are alike outside of the 6 hidden places'
    """
    stated = secret or {}
    name = "sets" if stated.get("family") == "minhash" else SECRETS[kind]
    if "inside" not in stated:
        return "pictures of one size" if kind == "picture" else name
    one, many = PARTS[stated["inside"]]
    name = "pictures" if kind == "face" else name
    return f"{name} that are alike outside of {one if stated['count'] == 1 else many.format(count=stated['count'])}"


def factor(metric: Record, secret: Record | None) -> Fraction:
    """Return how many units of a metric a distance of 1 is, in the unit that people count secrets of this kind in.

    Pixels and codes of faces are counted as a whole, and the metric counts their values or steps.

    >>> factor({"base": "hamming", "factor": "1/3"}, {"kind": "picture", "unit": "pixel", "channels": 3})
    Fraction(1, 1)
    """
    stated, found = secret or {}, Fraction(metric.get("factor", 1))
    if stated.get("unit") == "pixel":
        return found * int(stated["channels"]) * (255 if metric["base"] == "manhattan" else 1)
    return found * int(stated.get("steps", 1))


def unit(metric: Record, secret: Record | None) -> str:
    """Return the unit of the distance between two secrets in the singular; empty where it is that of the secrets themselves."""
    stated = secret or {}
    if stated.get("kind") == "hash":
        return f"differing {'bit' if stated['answers'] == 2 else 'answer'}"
    if stated.get("kind") == "face":
        return "code unit"
    return "metre" if metric.get("base") == "metres" else str(stated.get("unit", ""))


def pairs(metric: Record, secret: Record | None, distance: Fraction) -> str:
    """Return which two secrets are at most so far apart; the distance is rounded down.

    >>> pairs({"base": "line", "factor": "1/5"}, None, Fraction(1)), pairs({"base": "discrete"}, None, Fraction(1))
    ('any two secrets at most 5 apart', 'any two secrets that differ')
    >>> pairs({"base": "hamming", "factor": "1/3"}, {"kind": "picture", "unit": "pixel", "channels": 3}, Fraction(2))
    'any two pictures of one size that differ in at most 2 pixels'
    """
    kind, base = kind_of(metric, secret), metric.get("base")
    things, apart = noun(kind, secret), Fraction(distance) / factor(metric, secret)
    told, step = down(apart), metric.get("lattice")
    rounding = "" if step is None else f", rounded to steps of {down(Fraction(2) ** step, 4)},"
    if base == "tables":
        name = base_name(metric) + "," * bool(metric["columns"])
        return name if distance <= 1 else f"tables farther apart than {name}"
    if kind == "hash":
        return between_hashes(things, secret or {}, apart)
    if kind == "face":
        near = apart < (secret or {}).get("draws", 1)
        away = f" whose codes are within {told} (opposite corners of the public box being 1 apart)"
        return f"any two {things}{away if near else ''}"
    if kind == "document":
        words = "whose matched words are" if metric["order"] == "matched" else "whose words are, place by place,"
        alike = " of the same length" if (secret or {}).get("same_length") else ""
        return f"any two {things}{alike} {words} at most {told} apart in total"
    if base == "metres":
        return f"any two {things} within {told} metre{'' if apart == 1 else 's'} on the map{rounding}"
    if base == "discrete" and apart >= 1:
        return f"any two {things}{'' if secret else ' that differ'}"
    if unit(metric, secret) == "pixel":
        return f"any two {things} that differ in at most {told} pixel{'' if apart == 1 else 's'}"
    if unit(metric, secret) == "step":
        return f"any two {things} that differ by at most {told} step{'' if apart == 1 else 's'} of colour in total"
    if base in ("line", "euclidean"):
        return f"any two {things} at most {told} apart{rounding}"
    return f"any two {things} within {told} ({distance_name(metric, secret)}){rounding}"


def between_hashes(things: str, secret: Record, distance: Fraction) -> str:
    """Return which two vectors or sets have hashes that are at most so far apart."""
    one = "bit" if secret["answers"] == 2 else "answer"
    if distance >= secret["bits"]:
        return f"any two {things}"
    many = f"1 {one}" if distance == 1 else f"{down(distance)} {one}s"
    return f"any two {things} whose hashes differ in at most {many}"


def distance_name(metric: Record, secret: Record | None) -> str:
    """Return what a distance between two secrets themselves is called, whatever a claim scales and rounds.

    >>> distance_name({"base": "line", "factor": "1/5", "lattice": -3}, None)
    'line'
    """
    if (secret or {}).get("kind") == "hash":
        return f"{'bits' if (secret or {})['answers'] == 2 else 'answers'} in which hashes differ"
    detail = metric.get("order", (secret or {}).get("unit"))
    if found := MEASURED_IN.get((kind_of(metric, secret), detail)):
        return found
    if "called" in metric:
        return str(metric["called"]) if WORD.fullmatch(metric["called"]) else repr(metric["called"])
    return base_name({name: value for name, value in metric.items() if name != "lattice"})


def distances(stated: Record) -> str:
    """Return the distances that a proof is about; a metric's name alone does not give them."""
    shape, known = stated["shape"], DISTANCES
    if shape in known:
        return known[shape].format(distance=stated.get("distance"))
    if shape == "line":
        places = sorted(Fraction(place) for place in stated["places"])
        return f"along a line of {len(places)} places, from {short(places[0])} to {short(places[-1])}"
    finite = [Fraction(one) for one in stated["distances"] if one != "inf"]
    span = f", from {short(min(finite))} to {short(max(finite))}" if finite else ""
    return f"a table of {len(stated['distances'])} distances{span}"


def short(value: Fraction) -> str:
    """Return a number in full if it is short."""
    if len(str(value)) <= 12:
        return str(value)
    return f"about {float(value):.6g}" if abs(value) < LARGEST else f"about {rounded(value)}"


def each(metric: Record, secret: Record | None, size: str) -> str:
    """Return the distance that a loss is for.

    >>> each({"base": "line"}, None, "5 years"), each({"base": "manhattan"}, None, "2")
    ('for each 5 years of difference', 'for each 2 of distance (manhattan)')
    >>> each({"base": "manhattan"}, {"kind": "face", "steps": 9, "inside": "place", "count": 1}, "code unit")
    'for each code unit of distance between two pictures that are alike outside of the hidden place'
    """
    base, plain = metric.get("base"), secret is None
    if base == "discrete":
        return f"between any two {noun(str(secret['kind']), secret) if secret is not None else 'answers'}"
    if base == "line":
        return f"for each {size} of difference"
    if base == "hamming" and plain:
        return "for each place that differs" if size == "1" else f"for each {size} places that differ"
    if secret is not None and "inside" in secret:
        return f"for each {size} of distance between two {noun(str(secret['kind']), secret)}"
    with_unit = base in ("euclidean", "metres") or (not plain)
    return f"for each {size} of distance" + ("" if with_unit else f" ({distance_name(metric, secret)})")


def conditions(records: Sequence[Record]) -> list[str]:
    """Return a phrase for each condition, to be added to a sentence; public files and the seed share one."""
    public = [one for one in records if one["code"] in ("public-file", "public-seed")]
    found = [condition(one) for one in records if one not in public]
    return [*found, uses(public)] if public else found


def condition(one: Record) -> str:
    """Return one condition in words, with the comma or semicolon that joins it to a claim."""
    code = one["code"]
    if code == "steps":
        return f", in steps of {one['step']}"
    if code == "points-in-steps":
        return f", between points in steps of {one['step']}"
    if code == "intervals":
        return intervals(one["ends"])
    if code == "level":
        return f"; level = {up(one['level'])} between {within(one)}"
    if code == "parts":
        return f", over {'any number of' if one['count'] is None else one['count']} independent parts"
    if code == "infinitely-apart":
        return f", nothing between {one['pairs']} of {one['of']} pairs, infinitely far apart"
    if code == "stated-distances":
        return "; distances as stated in the file"
    if code == "word-file":
        return (
            f"; distances are those of the file's first {one['words']} words, if their vectors are whole multiples of "
            f"{one['step']} (stated)"
        )
    if code == "slope":
        bare = "" if one["without"] is None else f" (proved without it: epsilon = {up(one['without'])})"
        return (
            f", and that their log-sums of weights differ by at most {up(one['slope'])} per unit, {up(one['rounding'])} for "
            f"rounding included, is stated, not proved without the file{bare}"
        )
    if code == "hashes":
        return f"; between hashes of vectors of {one['dimension']} numbers ({one['family']}), as stated"
    if code == "clear":
        return f"; in the clear, as stated: {', '.join(map(clear, one['what']))}"
    if code == "measured":
        return f"; measured on public data, as stated: {measured(one)}"
    if code == "simulation":
        return "; a simulation with a known seed: NOT FOR RELEASE"
    return f", {boundary(one)}"


def within(level: Record) -> str:
    """Return which points, or places on the globe, a level is about."""
    limit = down(level["radius"])
    if "on_map" not in level:
        return f"any two points within {limit} of each other, rounding included"
    return (
        f"any two places within {limit} m of each other, rounding included, if the map makes at most "
        f"{down(level['on_map'], 12)} m of that (stated, not proved here)"
    )


def odds(who: str, factor: str, such: str, belief: str) -> str:
    """Return what a bound on the odds means for a belief of one half."""
    return (
        f"Whatever the output, the odds between {who} change by a factor of at most {factor}. A belief of 50 % in one of {such} "
        f"can become at most {belief}."
    )


def events(who: str, factor: str, plus: str, such: str, guess: str) -> str:
    """Return what a bound on the probability of events means for somebody who guesses."""
    return (
        f"Between {who.removesuffix(',')}, no event is more than {factor} times as likely under one as under the other, plus "
        f"{plus}. Somebody who guesses between {such}, equally likely before, is right at most {guess} of the time."
    )


def likelier(factor: Any) -> str:
    """Return a claim that is stated as a factor, not as an epsilon."""
    return f"no output is more than {factor} times as likely under one secret as under another"


def nothing(who: str) -> str:
    """Return that a claim says nothing about some secrets."""
    return f"Nothing is promised about {who}."


def broken(alike: bool) -> str:
    """Return why no claim holds: for secrets that must be treated alike, or for an output that only one of two can have."""
    if alike:
        return "No promise holds: two secrets at distance 0 must be treated alike, and these are not."
    return "No promise holds: an output is possible for one of two secrets and impossible for the other."


def holds(records: Sequence[Record]) -> str:
    """Return the conditions of a claim as a sentence, or an empty text.

    >>> holds([{"code": "not-a-training-record"}])
    'This holds for records that the privatiser was not trained on.'
    """
    return f"This holds {'; '.join(map(boundary, records))}." if records else ""


def step(lattice: int) -> str:
    """Return the step of a lattice."""
    return plain(Fraction(2) ** lattice)


def boundary(one: Record) -> str:
    """Return the condition under which a claim holds."""
    values = {"probability": up(one["probability"])} if "probability" in one else {}
    values |= {"distance": plain(one["distance"])} if "distance" in one else {}
    return BOUNDARY[one["code"]].format(**values)


def clear(what: Any) -> str:
    """Return what an output shows as it is: a code of the table, or a name in quotation marks."""
    if "called" in what:
        return quoted(what["called"])
    return CLEAR[what["code"]].format(**{key: quoted(value) for key, value in what.items() if key != "code"})


def measured(one: Record) -> str:
    """Return what was measured on public data."""
    return ", ".join(map(quoted, one["texts"])) if "texts" in one else "; ".join(measured_parts(one))


def measured_parts(one: Record | None) -> list[str]:
    """Return what epsilon means among the public faces of a model, in half sentences; none if nothing was measured."""
    if one is None:
        return []
    if "texts" in one:
        return list(one["texts"])
    rows = [("two typical people", "typical"), ("the closest two", "closest"), ("two faces of one", "same")]
    odds = [
        f"{who}: {one[key]['apart']} apart, odds change by up to {power(one[key]['loss'])}"
        for who, key in rows
        if key in one
    ]
    attack = f"the best attacker on one release names {one['best']} % of them (chance: {one['chance']} %)"
    who = f"{one['people']} people in {quoted(one['source'])}" if "source" in one else f"{one['people']} public people"
    return [f"{who}, {number_of(one['components'], 'component')}", *odds, attack]


def power(loss: str) -> str:
    """Return e to the power of a number, rounded up: in digits where that is readable.

    >>> power("1/2"), power("123.4")
    ('1.65', 'e^123.4')
    """
    if Fraction(loss) >= 20:
        return f"e^{up(loss, 4)}"
    above = Context(prec=40, rounding=ROUND_CEILING).divide(*map(Decimal, Fraction(loss).as_integer_ratio()))
    return up(Fraction(above.exp(Context(prec=40))) + Fraction(1, 10**30), 3)


def uses(public: Sequence[Record]) -> str:
    """Return the public files and the public seed that a draw uses."""
    named = [
        f"the public seed {one['seed'][:12]}..."
        if one["code"] == "public-seed"
        else f"the public file {one['name']!r} (sha256 {one['sha256'][:12]}...)"
        for one in public
    ]
    return f"; uses {' and '.join(named)}, as stated"


def intervals(ends: Sequence[Sequence[Any]]) -> str:
    """Return the intervals of true answers that a claim is about."""
    if len(ends) > MAX_INTERVALS:
        return f", for answers in the {len(ends)} intervals that the file states"
    shown = [
        f"from {'-inf' if low is None else end(low, ROUND_CEILING)} to {'inf' if high is None else end(high)}"
        for low, high in ends
    ]
    return f", for answers {' or '.join(shown)}"


def rests_on_statements(record: Record) -> bool:
    """Return whether a claim holds only if something that the file states is true."""
    return any(one["code"] in STATED and (one["code"] != "level" or "on_map" in one) for one in record["conditions"])


# Releases -------------------------------------------------------------------------------------------------------------------


ONE_UNIT = "two tables that differ in one unit"
"""A budget without stated neighbours."""


def neighbours(record: Record) -> str:
    """Return which two tables a release is about.

    >>> neighbours({"relation": "same-rows", "unit": None, "rows": 1})
    'two tables with the same number of rows that differ in the values of one row'
    >>> print(neighbours({"relation": "same-rows", "unit": "patient", "rows": 3}))
    two tables with the same rows of every patient, in which the rows of one patient (at most 3) have other values
    """
    rows, relation = record["rows"], record["relation"]
    if record["unit"] is None:
        if relation == "add-remove":
            return "two tables that are alike except for one row, which only one of them has"
        return "two tables with the same number of rows that differ in the values of one row"
    unit = named(record["unit"])
    most = f"the rows of one {unit} (at most {rows})"
    if relation == "add-remove":
        return f"two tables that are alike except for {most}, which only one of them has"
    return f"two tables with the same rows of every {unit}, in which {most} have other values"


def corrected(sentence: str) -> str:
    """Return the sentence of a file of version 1, where it claims more than its record.

    >>> corrected("two tables that differ in the rows of one patient (at most 2)")
    'between "two tables that differ in the rows of one patient (at most 2)" is too wide; the claim above is what holds'
    """
    return f"between {quoted(sentence)} is too wide; the claim above is what holds"


def public_facts(record: Record) -> str:
    """Return what neighbouring tables have in common, so that it is not protected.

    >>> public_facts({"relation": "same-rows", "unit": "patient", "rows": 3})
    'the number of rows, in all and of each patient'
    """
    if record["relation"] == "add-remove":
        return ""
    each = "" if record["unit"] is None else f", in all and of each {named(record['unit'])}"
    return f"the number of rows{each}"


def between(record: Record, columns: Sequence[tuple[Record, Sequence[str]]], same: Sequence[str] = ()) -> str:
    """Return which two tables a release is about, and by how much their columns may differ.

    ``same``: the columns that are released without protection, in which the two tables do not differ.

    >>> one_row, age = {"relation": "same-rows", "unit": None, "rows": 1}, {"kind": "near", "type": "number", "distance": "5"}
    >>> print(between(one_row, [(age, ["age"])], ["ward"]))
    two tables with the same number of rows that differ in the values of one row: by at most 5 in age, by nothing in ward
    """
    told = ways(columns, same)
    return f"{neighbours(record)}: {told}" if told else neighbours(record)


def ways(columns: Sequence[tuple[Record, Sequence[str]]], same: Sequence[str] = ()) -> str:
    """Return by how much the released columns of two neighbouring tables may differ."""
    alike: dict[str, list[str]] = {}
    for protected, names in columns:
        alike.setdefault(by(protected), []).append(" with ".join(map(named, names)))
    if same:
        alike["nothing"] = list(map(named, same))
    return ", ".join(f"by {words} in {listed(names)}" for words, names in alike.items())


EXACT = "nothing: answered exactly"


def one_unit(record: Record, same: Sequence[str] = ()) -> str:
    """Return what an answer protects; ``same``: columns in which neighbours do not differ, and that the answer shows.

    >>> one_unit({"relation": "add-remove", "unit": None, "rows": 1})
    'one row, there or not'
    >>> one_unit({"relation": "same-rows", "unit": None, "rows": 1}, ["ward"])
    'one row, with any other values and the same ward'
    """
    unit = record["unit"]
    who = "one row" if unit is None else f"the rows of one {named(unit)} (at most {record['rows']})"
    if record["relation"] == "add-remove":
        return f"{who}, there or not"
    return f"{who}, with any other values" + (f" and the same {listed(map(named, same))}" if same else "")


def exact_answer(columns: Sequence[str]) -> str:
    """Return why an answer without noise reveals nothing that a release does not show.

    >>> exact_answer([]), exact_answer(["ward"])
    ('exact: neighbours have the same number of rows, so it is public', 'exact: neighbours have the same ward, so it is public')
    """
    same = listed(map(named, columns)) if columns else "number of rows"
    return f"exact: neighbours have the same {same}, so it is public"


def size(protected: Record) -> str:
    """Return the distance within which values are protected, with its unit."""
    length, unit = Fraction(protected["distance"]), protected.get("unit")
    many = "" if unit is None else f" {unit if length == 1 else UNITS[unit][0]}"
    return f"{exact(length)}{many}" + (f" ({metric_name(protected['metric'])})" if "metric" in protected else "")


def protected_by(part: Record, relation: Record) -> str:
    """Return what a part of a release protects."""
    return apart(part["protects"]) if part["kind"] == "column" else one_unit(relation)


def by(protected: Record) -> str:
    """Return how far apart two protected values of a column may be.

    >>> by({"kind": "near", "type": "date", "distance": "7", "unit": "day"}), by({"kind": "any"})
    ('at most 7 days', 'any two values')
    """
    if protected["kind"] == "none":
        return f"no two values; {', '.join(protected['hidden'])} is harder to guess"
    found = f"at most {size(protected)}" if protected["kind"] == "near" else any_two(protected)
    return found + remarks(protected)


def any_two(protected: Record) -> str:
    """Return "any two values", or those of the range that only the policy states."""
    return "any two values" + (" of the stated range" if protected.get("range") == "stated" else "")


def apart(protected: Record) -> str:
    """Return between which values of a column a claim is.

    >>> apart({"kind": "near", "type": "number", "distance": "5/2"})
    'values at most 2.5 apart'
    """
    if protected["kind"] != "near":
        return by(protected)
    return f"values at most {size(protected)} apart{remarks(protected)}"


def remarks(protected: Record) -> str:
    """Return what is shown of missing values, and as what undeclared ones count."""
    found = " (whether one is missing is shown)" if protected.get("missing") == "shown" else ""
    return found + (f" (what is not declared counts as {label(protected['other'])})" if "other" in protected else "")


NOT_RECORDED = "; how missing and undeclared values count is stated with each release"
"""After the distances of a dataset in a ledger, which does not record the remarks of each release for all of them."""


def exact(value: Fraction) -> str:
    """Return a number as it is: a decimal fraction where it is one of few digits."""
    decimal = repr(float(value)) if value.denominator > 1 and abs(value) < LARGEST else ""
    return decimal if decimal and Fraction(decimal) == value else str(value)


def label(value: Any) -> str:
    """Return a declared category as a policy writes it."""
    return quoted(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)


def pair(record: Record) -> str:
    """Return which two values the certificate of a part is proved for, at the distance that is paid."""
    code, name = record["code"], metric_name(record["metric"])
    if code == "any":
        return "any two values that differ"
    if code == "any-listed":
        return f"any two of its values ({name})"
    if code == "radius":
        return f"any two places within {plain(record['radius'])} of each other ({name}){on_map(record)}"
    things = "whole numbers" if record["whole"] else "values"
    if code == "range":
        low, high = record["ends"]
        first, last = end(low, ROUND_CEILING), end(high)
        if first == last or (is_number(first) and is_number(last) and Fraction(last) <= Fraction(first)):
            first, last = low, high  # rounded, no two values would be between them
        return f"any two {things} from {first} to {last} ({name})"
    size, nearest = Fraction(record["distance"]), Fraction(record["nearest_squared"])
    said = plain(size)
    if Fraction(said) ** 2 < nearest <= size**2:
        said = str(size)  # rounded, it would be about nobody
    return f"{things} at most {said} apart ({name})"


def on_map(record: Record) -> str:
    """Return the condition that places on the globe add to a pair."""
    return f", if the map makes at most {plain(record['on_map'])} of that (stated)" if "on_map" in record else ""


def end(value: str, way: str = ROUND_FLOOR) -> str:
    """Return an end of an interval: a number, rounded inwards, or a date as it is."""
    return plain(value, way) if is_number(value) else value


def is_number(text: str) -> bool:
    """Return whether this is a number, and not a date."""
    try:
        Fraction(text)
    except ValueError:
        return False
    return True


SENSITIVITY = ", the most that one unit changes the answer (stated)"


def part_title(part: Record) -> str:
    """Return the name of a part of a release."""
    statistic = f", {quoted(part['statistic'])}" if part.get("statistic") is not None else ""
    return f"{part['kind']} {quoted(part['name'])}{statistic}"


def part_line(part: Record) -> str:
    """Return what a part of a release costs, and for which pair of values."""
    words = cost(part["price"], part["delta"]) + f" for {pair(part['pair'])}"
    public = [one for one in part["conditions"] if one["code"] in ("public-file", "public-seed")]
    words += "".join(map(condition, [one for one in part["conditions"] if one not in public]))
    if part["kind"] == "query":
        words += SENSITIVITY
    words += f", {part['times']} times {up(part['loss'])}" if part["times"] > 1 else ""
    return words + (uses(public) if public else "")


def cost(epsilon: Any, delta: Any) -> str:
    """Return an epsilon and a delta."""
    return f"epsilon = {up(epsilon)}" + (f", delta = {up(delta)}" if Fraction(delta) else "")


def release_claim(record: Record) -> str:
    """Return the total of a release and the tables that it is about."""
    if record["epsilon"] is None:
        return "no epsilon is claimed, so there is nothing to prove"
    return f"{cost(record['epsilon'], record['delta'])} between {tables(record)}"


def tables(record: Record) -> str:
    """Return which two tables a release is about."""
    return between(record["neighbours"], ways_of(record), same_in(record))


def ways_of(record: Record) -> list[tuple[Record, Sequence[str]]]:
    """Return the protected distances of a release, column by column."""
    return [(part["protects"], part["columns"]) for part in record["parts"] if part["kind"] == "column"]


def same_in(record: Record) -> list[str]:
    """Return the columns of a release that are not protected, so that neighbours have the same values there."""
    return [*record["kept"], *(name for one in record["context_aware"] for name in one["columns"])]


def release_lines(record: Record) -> list[str]:
    """Return everything that is proved of a release, and what is not protected, line by line."""
    count = len(record["parts"])
    lines = [f"{release_claim(record)}; {number_of(count, 'part')}:"] if count else [f"{release_claim(record)}."]
    lines += [f"  {part_title(part)}: {part_line(part)}" for part in record["parts"]]
    shown = public_facts(record["neighbours"]) if count else ""
    lines += [f"  {shown}: NOT protected"] if shown else []
    for what, names in (("kept as they are", record["kept"]), ("answered exactly", record["exact"])):
        lines += [f"  {what}, NOT protected: {', '.join(map(quoted, names))}"] if names else []
    for one in record["context_aware"]:
        names = ", ".join(map(quoted, one["columns"]))
        lines.append(f"  changed without an epsilon, NOT protected (context-aware, which is not proved): {names}")
        lines.append(f"    measured, as stated: {average_case(one['measured'])}")
    if record["order"] is not None and record["order"] != "random":
        lines.append(f"  the order of the rows is {ORDERS[record['order']]}, NOT protected")
    lines += ["  a simulation with a known seed: NOT FOR RELEASE"] if record["simulated"] else []
    return lines


ORDERS = {"kept": "that of the table", "unsaid": "not stated: take it for that of the table"}


def average_case(stated: Record) -> str:
    """Return what was measured of columns that were changed without an epsilon."""
    return (
        f"{', '.join(map(quoted, stated['private']))} guessed right at most {stated['accuracy']} of the time "
        f"({stated['prior']} without the release) on {stated['rows']} rows, by "
        f"{', '.join(map(quoted, stated['adversaries']))}; distortion {stated['distortion']}, at most "
        f"{stated['most_distortion']}" + ("" if stated["converged"] else "; NOT converged")
    )
