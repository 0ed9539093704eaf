"""A small reader of what ``verify`` prints: every number is on the safe side of the record, and every fact of it is said.

A reader goes through a text from left to right with the record beside it. It has wordings of its own; where it meets another one,
a number that claims more than the record, a name that is not in quotation marks as a whole, or words that are left over, it
raises an UntrueError. ``read_line`` reads the claim of one mechanism, ``read_release`` all lines of a release.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from tests.attack.truth import Document, dec
from tests.attack.truth_claims import need, whole_loss

__all__ = [
    "Reader",
    "read_conditions",
    "read_line",
    "read_neighbours",
    "read_release",
    "read_shares",
    "read_ways",
    "things",
]

NUMBER = r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?(?:/[0-9]+)?"
CLOSE = Fraction(1, 1000)
"""The largest share of a number that rounding may change; a safe number that is farther off is taken for another fact."""
PARTS = {
    "region": ("the region", "the {} regions"),
    "mask": ("the mask", "the {} masks"),
    "place": ("the hidden place", "the {} hidden places"),
    "track": ("the places of the face that is followed", "the places of the {} faces that are followed"),
}
CLEAR = {
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
}


class Reader:
    """Read a text from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0

    def says(self, words: str) -> bool:
        """Read these words if they come next."""
        found = self.text.startswith(words, self.place)
        self.place += len(words) * found
        return found

    def expect(self, words: str) -> None:
        """Read words that must come next."""
        need(self.says(words), f"{self.text[self.place : self.place + 60]!r} in place of {words!r}")

    def number(self, value: Any, way: str) -> None:
        """Read a number that is at least ("up"), at most ("down") or exactly ("is") this one, and near it."""
        found = re.compile(NUMBER).match(self.text, self.place)
        need(found, f"{self.text[self.place : self.place + 30]!r} in place of a number")
        assert found is not None
        self.place = found.end()
        said, exact = Fraction(found[0].replace(",", "")), Fraction(value)
        safe = {"up": said >= exact, "down": said <= exact, "is": said == exact}[way]
        need(safe and abs(said - exact) <= CLOSE * abs(exact), f"{said} in place of {exact}, {way}")

    def name(self, name: str) -> None:
        """Read a name in quotation marks that ends where they end."""
        found = re.compile(r'"((?:[^"\\]|\\.)*)"').match(self.text, self.place)
        need(found, f"{self.text[self.place : self.place + 60]!r} in place of a name in quotation marks")
        assert found is not None
        self.place = found.end()
        need(
            found[1].isprintable() and (found[1] == name or _unescaped(found[1]) == name),
            f"{found[1]!r} in place of {name!r}",
        )

    def plain_name(self, name: str) -> None:
        """Read a name: in quotation marks, unless it is one word that could be nothing else."""
        if re.fullmatch(r"\w+([.-]\w+)*", name):
            self.expect(name)
        else:
            self.name(name)

    def python_name(self, name: str) -> None:
        """Read a name as Python spells it."""
        spelled = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"").match(self.text, self.place)
        need(spelled, "no name in quotation marks")
        assert spelled is not None
        self.place = spelled.end()
        need(ast.literal_eval(spelled[0]) == name, "another name")

    def listed(self, items: Sequence[Any], read: Callable[[Any], None], joined: str = ", ", last: str = "") -> None:
        """Read several things, with commas, and perhaps with a word before the last."""
        for place, item in enumerate(items):
            if place:
                self.expect(last if last and place == len(items) - 1 else joined)
            read(item)

    def end(self) -> None:
        """Refuse a text of which something is left."""
        need(self.place == len(self.text), f"left over: {self.text[self.place : self.place + 80]!r}")


def _unescaped(text: str) -> str:
    try:
        return str(ast.literal_eval(f'"{text}"'))
    except (SyntaxError, ValueError):
        return text


# One mechanism ------------------------------------------------------------------------------------------------------------


def read_line(text: str, record: Document, document: Document) -> None:
    """Read the claim of one mechanism, with the costs of one person and all conditions."""
    reader, metric, secret = Reader(text), record["metric"], record.get("secret", {})
    reader.expect("epsilon = ")
    reader.number(record["epsilon"], "up")
    if record["scope"] == "adjacent":
        reader.expect(" between neighbours (")
        _metric(reader, metric)
        reader.expect(" at most 1)")
    else:
        reader.expect(" per unit of ")
        _metric(reader, metric)
    if secret and secret["kind"] != "hash":
        reader.expect(f" between two {things(secret)}")
    _delta(reader, record["delta"])
    if secret.get("draws", 1) > 1:
        read_shares(reader, secret, document)
    read_conditions(reader, record["conditions"])
    reader.end()


def _delta(reader: Reader, delta: Any) -> None:
    if Fraction(delta):
        reader.expect(", delta = ")
        reader.number(delta, "up")


def things(secret: Document) -> str:
    """Return the name of secrets, and outside of which places they are alike."""
    kind = secret.get("kind", "value")
    if kind == "hash":
        return "sets" if secret["family"] == "minhash" else "vectors"
    if "inside" in secret:
        one, many = PARTS[secret["inside"]]
        inside = one if secret["count"] == 1 else many.format(f"{secret['count']:,}")
        return f"pictures that are alike outside of {inside}"
    own = {
        "picture": "pictures of one size",
        "face": "faces",
        "document": "documents",
        "word": "words",
        "place": "places",
    }
    return own.get(kind, "secrets")


def _metric(reader: Reader, metric: Document) -> None:
    if "called" in metric:
        reader.python_name(metric["called"])
        return
    factor = Fraction(metric.get("factor", 1))
    if str(metric.get("factor", "1")) != "1":
        reader.number(factor, "is" if len(str(metric["factor"])) <= 40 else "up")
        reader.expect(" * ")
    base = metric["base"]
    if base in ("largest", "sum"):
        reader.expect(f"{base} of {metric['count']} differences")
    elif base == "metres":
        reader.expect(f"metres around ({metric['around'][0]}, {metric['around'][1]})")
    elif base == "words":
        reader.expect(f"{metric['order']} " if "order" in metric else "")
        reader.expect(f"euclidean between word vectors (sha256 {metric['file']})")
    else:
        reader.expect(base)
    if "lattice" in metric:
        reader.expect(f" between points of the lattice 2^{metric['lattice']}")


def read_shares(reader: Reader, secret: Document, document: Document) -> None:
    """Read the cost of one person whom some of the draws can show: all of the loss of these draws, whatever they show."""
    uniform = document["claim"]["metric"].get("base") == "discrete"
    with localcontext() as context:
        context.prec = 60
        each = Fraction(whole_loss(document)) / secret["draws"]
    stated = Fraction(document["claim"]["delta"]) / secret["draws"]
    touching = secret.get("touching", 1)
    reader.expect("; ")
    _cost_of(reader, each * touching, stated * touching)
    draws = secret["draws"]
    many = f"all {draws:,}" if touching == draws else f"at most {touching:,} of the {draws:,}"
    reader.expect(f" for a person who is in {many} draws")
    if not uniform:
        reader.expect(", and ")
        _cost_of(reader, each * secret["draws"], stated * secret["draws"])
        reader.expect(" for all draws together")


def _cost_of(reader: Reader, least: Fraction, delta: Fraction) -> None:
    """Read an epsilon and a delta that are at least these, and may be more where more is claimed."""
    _at_least(reader, "epsilon = ", least)
    if delta:
        _at_least(reader, ", delta = ", delta)


def _at_least(reader: Reader, words: str, least: Fraction) -> None:
    reader.expect(words)
    found = re.compile(NUMBER).match(reader.text, reader.place)
    need(found, "no number")
    assert found is not None
    reader.place = found.end()
    need(
        dec(Fraction(found[0])) * (1 + Decimal("1e-45")) >= dec(least),
        f"a person costs more: {found[0]} in place of {float(least)}",
    )


def read_conditions(reader: Reader, records: Sequence[Document]) -> None:
    public = [one for one in records if one["code"] in ("public-file", "public-seed")]
    for one in records:
        if one not in public:
            _condition(reader, one)
    if public:
        reader.expect("; uses ")
        reader.listed(public, lambda one: _public(reader, one), " and ")
        reader.expect(", as stated")


def _public(reader: Reader, one: Document) -> None:
    if one["code"] == "public-seed":
        reader.expect(f"the public seed {one['seed'][:12]}...")
        return
    reader.expect("the public file ")
    reader.python_name(one["name"])
    reader.expect(f" (sha256 {one['sha256'][:12]}...)")


def _condition(reader: Reader, one: Document) -> None:
    code = one["code"]
    if code in ("steps", "points-in-steps"):
        reader.expect(", in steps of " if code == "steps" else ", between points in steps of ")
        reader.number(one["step"], "is")
    elif code == "intervals" and len(one["ends"]) > 9:
        reader.expect(f", for answers in the {len(one['ends'])} intervals that the file states")
    elif code == "intervals":
        reader.expect(", for answers ")
        reader.listed(one["ends"], lambda ends: _interval(reader, *ends), " or ")
    elif code == "level":
        reader.expect("; level = ")
        reader.number(one["level"], "up")
        reader.expect(f" between any two {'places' if 'on_map' in one else 'points'} within ")
        reader.number(one["radius"], "down")
        reader.expect(f"{' m' if 'on_map' in one else ''} of each other, rounding included")
        if "on_map" in one:
            reader.expect(", if the map makes at most ")
            reader.number(one["on_map"], "down")
            reader.expect(" m of that (stated, not proved here)")
    elif code == "parts":
        many = "any number of" if one["count"] is None else one["count"]
        reader.expect(f", over {many} independent parts")
    elif code == "infinitely-apart":
        reader.expect(f", nothing between {one['pairs']} of {one['of']} pairs, infinitely far apart")
    elif code == "stated-distances":
        reader.expect("; distances as stated in the file")
    elif code == "word-file":
        reader.expect(
            f"; distances are those of the file's first {one['words']} words, if their vectors are whole multiples of "
        )
        reader.number(one["step"], "is")
        reader.expect(" (stated)")
    elif code == "slope":
        _slope(reader, one)
    elif code == "hashes":
        reader.expect(f"; between hashes of vectors of {one['dimension']} numbers ({one['family']}), as stated")
    elif code == "clear":
        reader.expect("; in the clear, as stated: ")
        reader.listed(one["what"], lambda what: _clear(reader, what))
    elif code == "measured":
        _measured(reader, one)
    else:
        reader.expect(
            {
                "simulation": "; a simulation with a known seed: NOT FOR RELEASE",
                "not-a-training-record": ", for records that the privatiser was not trained on",
                "floats": ", if the theorem for real numbers holds for the floats that are drawn (not proved)",
            }.get(code, "a condition that nobody knows")
        )


def _interval(reader: Reader, low: str | None, high: str | None) -> None:
    """Read an interval, which is not longer than that of the record."""
    for words, value, way in (("from ", low, "up"), (" to ", high, "down")):
        reader.expect(words)
        if value is None:
            reader.expect("-inf" if way == "up" else "inf")
        elif reader.text[reader.place :].startswith("0") and not Fraction(value):
            reader.expect("0")
        else:
            reader.number(value, way)


def _slope(reader: Reader, one: Document) -> None:
    reader.expect(", and that their log-sums of weights differ by at most ")
    reader.number(one["slope"], "up")
    reader.expect(" per unit, ")
    reader.number(one["rounding"], "up")
    reader.expect(" for rounding included, is stated, not proved without the file")
    if one["without"] is not None:
        reader.expect(" (proved without it: epsilon = ")
        reader.number(one["without"], "up")
        reader.expect(")")


def _clear(reader: Reader, what: Document) -> None:
    if "called" in what:
        reader.name(what["called"])
    elif what["code"] == "attribute":
        reader.expect("the attribute ")
        reader.name(what["name"])
    else:
        reader.expect(CLEAR[what["code"]])


def _measured(reader: Reader, one: Document) -> None:
    reader.expect("; measured on public data, as stated: ")
    if "texts" in one:
        reader.listed(one["texts"], reader.name)
        return
    reader.expect(f"{one['people']} people in ")
    reader.name(one["source"])
    reader.expect(f", {one['components']:,} component{'' if one['components'] == 1 else 's'}")
    for who, key in (("two typical people", "typical"), ("the closest two", "closest"), ("two faces of one", "same")):
        if key in one:
            reader.expect(f"; {who}: {one[key]['apart']} apart, odds change by up to ")
            odds(reader, Fraction(one[key]["loss"]))
    reader.expect(f"; the best attacker on one release names {one['best']} % of them (chance: {one['chance']} %)")


def odds(reader: Reader, loss: Fraction) -> None:
    """Read a factor that is at least e^loss, in digits or as a power."""
    if reader.says("e^"):
        reader.number(loss, "up")
        return
    found = re.compile(NUMBER).match(reader.text, reader.place)
    need(found, "no factor")
    assert found is not None
    reader.place = found.end()
    with localcontext() as context:
        context.prec = 60
        need(Decimal(found[0].replace(",", "")) >= dec(loss).exp() * (1 - Decimal("1e-50")), "a factor that is too low")


# Releases -----------------------------------------------------------------------------------------------------------------


def read_release(text: str, record: Document) -> None:
    """Read all lines of a release: total, neighbours, parts, and everything that is not protected."""
    reader, relation = Reader(text), record["neighbours"]
    parts = record["parts"]
    if not parts:
        reader.expect("no epsilon is claimed, so there is nothing to prove.")
    else:
        _cost(reader, record["epsilon"], record["delta"])
        reader.expect(" between ")
        read_neighbours(reader, relation)
        read_ways(reader, record)
        reader.expect(f"; {len(parts):,} part{'' if len(parts) == 1 else 's'}:")
    for part in parts:
        reader.expect(f"\n  {part['kind']} ")
        reader.name(part["name"])
        if part.get("statistic") is not None:
            reader.expect(", ")
            reader.name(part["statistic"])
        reader.expect(": ")
        _part(reader, part)
    if parts and relation["relation"] == "same-rows":
        reader.expect("\n  the number of rows")
        if relation["unit"] is not None:
            reader.expect(", in all and of each ")
            reader.plain_name(relation["unit"])
        reader.expect(": NOT protected")
    for words, names in (("kept as they are", record["kept"]), ("answered exactly", record["exact"])):
        if names:
            reader.expect(f"\n  {words}, NOT protected: ")
            reader.listed(names, reader.name)
    for one in record["context_aware"]:
        _context(reader, one)
    if record["order"] in ("kept", "unsaid"):
        words = {"kept": "that of the table", "unsaid": "not stated: take it for that of the table"}[record["order"]]
        reader.expect(f"\n  the order of the rows is {words}, NOT protected")
    if record["simulated"]:
        reader.expect("\n  a simulation with a known seed: NOT FOR RELEASE")
    reader.end()


def _cost(reader: Reader, epsilon: Any, delta: Any) -> None:
    reader.expect("epsilon = ")
    reader.number(epsilon, "up")
    _delta(reader, delta)


def read_neighbours(reader: Reader, relation: Document) -> None:
    unit, rows, there = relation["unit"], relation["rows"], relation["relation"] == "add-remove"
    if unit is None and there:
        reader.expect("two tables that are alike except for one row, which only one of them has")
    elif unit is None:
        reader.expect("two tables with the same number of rows that differ in the values of one row")
    elif there:
        reader.expect("two tables that are alike except for the rows of one ")
        reader.plain_name(unit)
        reader.expect(f" (at most {rows}), which only one of them has")
    else:
        reader.expect("two tables with the same rows of every ")
        reader.plain_name(unit)
        reader.expect(", in which the rows of one ")
        reader.plain_name(unit)
        reader.expect(f" (at most {rows}) have other values")


def read_ways(reader: Reader, record: Document) -> None:
    """Read by how much each column may differ: columns that are protected alike together, then those without protection."""
    left = [part for part in record["parts"] if part["kind"] == "column"]
    start = ": by "
    while left:
        reader.expect(start)
        alike = [part for part in left if _sized(part["protects"]) == _sized(left[0]["protects"])]
        left = [part for part in left if part not in alike]
        _protected(reader, alike[0]["protects"])
        reader.expect(" in ")
        reader.listed(alike, lambda part: reader.listed(part["columns"], reader.plain_name, " with "), last=" and ")
        start = ", by "
    same = [*record["kept"], *(name for one in record["context_aware"] for name in one["columns"])]
    if same:  # neighbours do not differ there, since nothing is protected there
        reader.expect(f"{start}nothing in ")
        reader.listed(same, reader.plain_name, last=" and ")


def _sized(protects: Document) -> str:
    """Return the protection as a text, with its distance as a fraction."""
    size = Fraction(protects["distance"]) if "distance" in protects else None
    return json.dumps({**{name: value for name, value in protects.items() if name != "type"}, "distance": str(size)})


PLURAL = {"code unit": "code units", "differing bit": "differing bits", "differing answer": "differing answers"}


def _protected(reader: Reader, protects: Document) -> None:
    if protects["kind"] == "any":
        reader.expect("any two values" + (" of the stated range" if "range" in protects else ""))
    else:
        reader.expect("at most ")
        size, unit = Fraction(protects["distance"]), protects.get("unit")
        reader.number(size, "is")
        if unit is not None:
            reader.expect(f" {unit if size == 1 else PLURAL.get(unit, f'{unit}s')}")
        if "metric" in protects:
            reader.expect(" (")
            _metric(reader, protects["metric"])
            reader.expect(")")
    if "missing" in protects:
        reader.expect(" (whether one is missing is shown)")
    if "other" in protects:
        reader.expect(" (what is not declared counts as ")
        other = protects["other"]
        if isinstance(other, str):
            reader.name(other)
        else:
            reader.expect(str(other).lower() if isinstance(other, bool) else str(other))
        reader.expect(")")


def _part(reader: Reader, part: Document) -> None:
    _cost(reader, part["price"], part["delta"])
    reader.expect(" for ")
    _pair(reader, part["pair"])
    public = [one for one in part["conditions"] if one["code"] in ("public-file", "public-seed")]
    read_conditions(reader, [one for one in part["conditions"] if one not in public])
    if part["kind"] == "query":
        reader.expect(", the most that one unit changes the answer (stated)")
    if part["times"] > 1:
        reader.expect(f", {part['times']} times ")
        reader.number(part["loss"], "up")
    read_conditions(reader, public)


def _pair(reader: Reader, pair: Document) -> None:
    things_ = "whole numbers" if pair.get("whole") else "values" if "whole" in pair else ""
    if pair["code"] == "any":
        reader.expect("any two values that differ")
        return
    if pair["code"] == "any-listed":
        reader.expect("any two of its values")
    elif pair["code"] == "radius":
        reader.expect("any two places within ")
        reader.number(pair["radius"], "down")
        reader.expect(" of each other")
    elif pair["code"] == "range":
        reader.expect(f"any two {things_} ")
        _interval(reader, *pair["ends"])
    else:
        reader.expect(f"{things_} at most ")
        start = reader.place
        reader.number(pair["distance"], "down")
        said = Fraction(reader.text[start : reader.place])
        need(not said**2 < Fraction(pair["nearest_squared"]) <= Fraction(pair["distance"]) ** 2, "a distance of nobody")
        reader.expect(" apart")
    reader.expect(" (")
    _metric(reader, pair["metric"])
    reader.expect(")")
    if "on_map" in pair:
        reader.expect(", if the map makes at most ")
        reader.number(pair["on_map"], "down")
        reader.expect(" of that (stated)")


def _context(reader: Reader, one: Document) -> None:
    stated = one["measured"]
    reader.expect("\n  changed without an epsilon, NOT protected (context-aware, which is not proved): ")
    reader.listed(one["columns"], reader.name)
    reader.expect("\n    measured, as stated: ")
    reader.listed(stated["private"], reader.name)
    reader.expect(f" guessed right at most {stated['accuracy']} of the time ({stated['prior']} without the release)")
    reader.expect(f" on {stated['rows']} rows, by ")
    reader.listed(stated["adversaries"], reader.name)
    reader.expect(f"; distortion {stated['distortion']}, at most {stated['most_distortion']}")
    if not stated["converged"]:
        reader.expect("; NOT converged")
