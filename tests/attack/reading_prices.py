"""A small reader of short readings and of prices: every number in a sentence is on the safe side of what follows from a record.

``read_short`` reads half a line about one mechanism, ``read_prices`` what plans and reports say of the price of a part or of a
whole release, and ``read_rest`` the other sentences with numbers in them. The numbers are read back from the English and held
against fractions, and against powers of e in 60 digits; nothing of ``noisewright.claims`` takes part in that. A float may be
called by its name: 0.1 stands for the float that is larger by 5.6e-18. Nothing else may be on the wrong side, however near.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from noisewright.claims import readings, totals
from tests.attack.reading import Reader, read_conditions, read_neighbours, read_shares, read_ways, things
from tests.attack.truth import Document, UntrueError, dec
from tests.attack.truth_claims import metric_of, need

__all__ = ["CLAIMS", "prices_of", "read_level", "read_prices", "read_rest", "read_screen", "read_short", "read_whole"]

CLAIMS = SimpleNamespace(readings=readings, totals=totals)
"""The two modules that are read; :func:`tests.attack.mutants.planted_claims` gives copies of them with a defect."""
FIGURE = re.compile(
    r"(-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)( (?:million|billion|trillion)\b)?"
)
WORDS = {"": 1, " million": 10**6, " billion": 10**9, " trillion": 10**12}
SAFE = 1 - Decimal("1e-50")
LARGEST = Decimal(100_000)
"""Powers of e beyond this are taken for this one: a percentage is 100 % in all digits long before."""
MEASURES = {
    "matched": "the distances of matched words, added up",
    "aligned": "the distances of words at the same place, added up",
}


def read_number(reader: Reader) -> Fraction:
    """Read a number, with digits set apart by commas or a word for a million."""
    found = FIGURE.match(reader.text, reader.place)
    need(found, f"{reader.text[reader.place : reader.place + 30]!r} in place of a number")
    assert found is not None
    reader.place = found.end()
    return Fraction(found[1].replace(",", "")) * WORDS[found[2] or ""]


def read_up(reader: Reader, least: Any, digits: int = 6) -> None:
    """Read a number that is at least this one, and at most one unit of its last digit more."""
    said, exact = read_number(reader), Fraction(least)
    need(
        exact <= said <= exact * (1 + Fraction(10) ** (1 - digits)) or _called(said, exact),
        f"{said} in place of at least {exact}",
    )


def _called(said: Fraction, exact: Fraction) -> bool:
    """Return whether a decimal is what Python calls this very float, as 0.1 is for one that is larger by 5.6e-18."""
    return abs(said) < 10**300 and Fraction(float(said)) == exact


def read_down(reader: Reader, most: Any, digits: int = 6) -> Fraction:
    """Read a number that is at most this one, and at most one unit of its last digit less."""
    said, exact = read_number(reader), Fraction(most)
    need(
        exact * (1 - Fraction(10) ** (1 - digits)) <= said <= exact or _called(said, exact),
        f"{said} in place of at most {exact}",
    )
    return said


def read_power(reader: Reader, loss: Fraction, digits: int = 3) -> None:
    """Read a factor that is at least e^loss: as a number, or as a power."""
    if reader.says("e^"):
        read_up(reader, loss, 4)
        return
    with localcontext() as context:
        context.prec = 60
        real, said = dec(loss).exp(), dec(read_number(reader))
        need(real * SAFE <= said <= real * (1 + Decimal(10) ** (1 - digits)), f"{said} in place of a factor of {real}")


def read_percent(reader: Reader, real: Decimal) -> None:
    """Read a percentage that is at least this share."""
    if reader.says("practically 100 %"):
        need(real > Decimal("0.9999"), f"practically certain, where it is {real}")
        return
    said = dec(read_number(reader))
    reader.expect(" %")
    need(100 * real * SAFE <= said <= 101 * real, f"{said} % in place of at least {real}")
    need(said <= 100, "more than certain")


# One mechanism --------------------------------------------------------------------------------------------------------------


def read_short(text: str, record: Document, document: Document) -> None:
    """Read the claim of one mechanism in half a line: for how much of which distance its epsilon is, and all conditions."""
    reader, secret, near = Reader(text), record.get("secret"), record["scope"] == "adjacent"
    scale, base = metric_of(record["metric"])
    name, epsilon = base.get("base"), Fraction(record["epsilon"])
    unit, many = _unit(base, secret)
    step = scale * many  # of the metric, in one unit that people count
    reader.expect("epsilon ")
    said = read_number(reader)
    reader.expect(" ")
    if name == "discrete" and (not near or step <= 1):
        reader.expect(f"between any two {'answers' if secret is None else things(secret)}")
        least = epsilon if near else epsilon * step
    elif near:
        reader.expect(f"between two {_answers(base, secret)} at most ")
        size = _size(reader, unit)
        reader.expect(" apart")
        need(size * step <= 1 or _called(size, 1 / step), "farther apart than neighbours")
        least = epsilon
    else:
        size = _each(reader, record, base, secret, unit)
        called = _called(size, 1 / step)
        need(0 < size * step <= 1 or called, "a size that is not that of one unit of the metric")
        least = epsilon if called else epsilon * step * size
    need(
        least <= said <= least * (1 + Fraction(3, 1000)) or _called(said, least),
        f"epsilon {said} in place of at least {least}",
    )
    if Fraction(record["delta"]):
        reader.expect(", delta ")
        read_up(reader, record["delta"], 3)
    if "lattice" in base:
        reader.expect(", rounded to steps of ")
        read_up(reader, Fraction(2) ** base["lattice"], 3)
    if secret is not None and secret.get("draws", 1) > 1:
        read_shares(reader, secret, document)
    read_conditions(reader, record["conditions"])
    reader.end()


def read_whole(text: str, record: Document) -> None:
    """Read the claim of a whole release in half a line."""
    reader = Reader(text)
    reader.expect("epsilon ")
    read_up(reader, record["epsilon"], 4)
    reader.expect(" between ")
    read_neighbours(reader, record["neighbours"])
    read_ways(reader, record)
    if Fraction(record["delta"]):
        reader.expect(", delta ")
        read_up(reader, record["delta"], 3)
    reader.end()


def _unit(base: Document, secret: Document | None) -> tuple[str, Fraction]:
    """Return the unit that people count a distance in, and how many units of the metric's base it is."""
    own, kind = secret or {}, (secret or {}).get("kind")
    many = Fraction(int(own.get("steps", 1)))
    if own.get("unit") == "pixel":
        many = Fraction(int(own["channels"]) * (255 if base["base"] == "manhattan" else 1))
    if kind == "hash":
        return ("differing bit" if own["answers"] == 2 else "differing answer"), many
    if kind == "face":
        return "code unit", many
    return ("metre" if base.get("base") == "metres" else str(own.get("unit", ""))), many


def _answers(base: Document, secret: Document | None) -> str:
    if secret is not None:
        return "answers" if secret["kind"] == "value" else things(secret)
    if base.get("base") == "words":
        return "documents" if "order" in base else "words"
    return "places" if base.get("base") == "metres" else "answers"


def _size(reader: Reader, unit: str) -> Fraction:
    """Read a distance with its unit; a unit alone is one of it."""
    if unit and reader.says(unit):
        return Fraction(1)
    size = read_number(reader)
    if unit:
        reader.expect(f" {unit}")
        reader.says("s")
    return size


def _each(reader: Reader, record: Document, base: Document, secret: Document | None, unit: str) -> Fraction:
    """Read the distance that an epsilon is for, and how it is measured."""
    reader.expect("for each ")
    name = base.get("base")
    if name == "hamming" and secret is None:
        if reader.says("place that differs"):
            return Fraction(1)
        size = read_number(reader)
        reader.expect(" places that differ")
        return size
    size = _size(reader, unit)
    if name == "line":
        reader.expect(" of difference")
        return size
    reader.expect(" of distance")
    if secret is not None:
        if "inside" in secret:
            reader.expect(f" between two {things(secret)}")
        return size
    if name in ("euclidean", "metres"):
        return size
    reader.expect(" (")
    if "called" in base or not base:
        called = record["metric"]["called"]
        if not reader.says(called) or not re.fullmatch(r"\w+([.-]\w+)*", called):
            reader.python_name(called)
    elif base.get("order") in MEASURES:
        reader.expect(MEASURES[base["order"]])
    else:
        reader.expect(
            f"euclidean between word vectors (sha256 {base['file']})"
            if name == "words"
            else f"{name} of {base['count']} differences"
            if "count" in base
            else str(name)
        )
    reader.expect(")")
    return size


def read_level(short: str, meaning: str, level: Document) -> None:
    """Read the two sentences about a level within a radius."""
    loss = Fraction(level["level"])
    reader = Reader(short)
    reader.expect("epsilon ")
    read_up(reader, loss)
    reader.expect(" between any two ")
    _near(reader, level)
    reader.end()
    reader = Reader(meaning)
    reader.expect("Whatever the output, the odds between any two ")
    _near(reader, level)
    reader.expect(", change by a factor of at most ")
    read_power(reader, loss)
    reader.expect(
        f". A belief of 50 % in one of two such {'places' if 'on_map' in level else 'points'} can become at most "
    )
    read_percent(reader, _belief(loss, Fraction(1, 2)))
    reader.expect(".")
    reader.end()


def _near(reader: Reader, level: Document) -> None:
    reader.expect(f"{'places' if 'on_map' in level else 'points'} within ")
    read_down(reader, level["radius"])
    reader.expect(f"{' m' if 'on_map' in level else ''} of each other, rounding included")
    if "on_map" in level:
        reader.expect(", if the map makes at most ")
        read_down(reader, level["on_map"], 12)
        reader.expect(" m of that (stated, not proved here)")


# Prices -----------------------------------------------------------------------------------------------------------------------


def _belief(loss: Fraction, prior: Fraction) -> Decimal:
    """Return the posterior probability that a prior one becomes at most: odds are multiplied by e^loss."""
    with localcontext() as context:
        context.prec = 60
        odds = min(dec(loss), LARGEST).exp() * dec(prior) / dec(1 - prior)
        return odds / (1 + odds)


def _guess(loss: Fraction, delta: Fraction) -> Decimal:
    """Return how often a guess between two equally likely possibilities is right at most, from P <= e^loss Q + delta."""
    with localcontext() as context:
        context.prec = 60
        factor = min(dec(loss), LARGEST).exp()
        return min(Decimal(1), (factor + dec(delta)) / (factor + 1))


def read_prices(epsilon: Fraction, delta: Fraction, tool: Any = CLAIMS) -> None:
    """Read every sentence about a price."""
    for text, read in _sentences(epsilon, delta, tool.totals):
        reader = Reader(text)
        try:
            read(reader)
            reader.end()
        except UntrueError as why:
            raise UntrueError(f"{why} in {text!r} for {epsilon} and {delta}") from None


def prices_of(record: Document) -> list[tuple[Fraction, Fraction]]:
    """Return the epsilons and deltas of a release: of the whole, of each part, and of one row in a part."""
    parts = [(Fraction(part["price"]), Fraction(part["delta"]), int(part["times"])) for part in record["parts"]]
    rows = [(epsilon / times, delta / times) for epsilon, delta, times in parts]
    return [(Fraction(record["epsilon"]), Fraction(record["delta"])), *(part[:2] for part in parts), *rows]


PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))


def _sentences(epsilon: Fraction, delta: Fraction, totals: Any) -> Iterator[tuple[str, Callable[[Reader], None]]]:
    yield totals.price(epsilon, delta), lambda reader: _price(reader, epsilon, delta, " ", 3)
    yield totals.total(epsilon, delta), lambda reader: _price(reader, epsilon, delta, " = ", 6)
    yield totals.promise(epsilon, delta, "any two", 3), lambda reader: _promise(reader, epsilon, delta)
    yield totals.belief(epsilon, delta), lambda reader: _bound(reader, epsilon, delta)
    yield totals.odds(epsilon, delta), lambda reader: _odds(reader, epsilon, delta)
    yield totals.meaning(epsilon, delta), lambda reader: _meaning(reader, epsilon, delta)
    yield totals.together(epsilon), lambda reader: _together(reader, epsilon)
    yield totals.weak("mean age", epsilon, none=False), lambda reader: _weak(reader, epsilon, none=False)
    yield totals.weak("mean age", epsilon, none=True), lambda reader: _weak(reader, epsilon, none=True)
    if not delta:
        yield totals.beliefs(epsilon, PRIORS), lambda reader: _beliefs(reader, epsilon)
    else:
        yield totals.extra(delta), lambda reader: _extra(reader, delta)


def _price(reader: Reader, epsilon: Fraction, delta: Fraction, join: str, digits: int) -> None:
    reader.expect(f"epsilon{join}")
    read_up(reader, epsilon)
    if delta:
        reader.expect(f", delta{join}")
        read_up(reader, delta, digits)


def _promise(reader: Reader, epsilon: Fraction, delta: Fraction) -> None:
    _price(reader, epsilon, delta, " ", 3)
    reader.expect(" between any two, for each of 3 rows")


def _bound(reader: Reader, epsilon: Fraction, delta: Fraction) -> None:
    if not delta:
        read_percent(reader, _belief(epsilon, Fraction(1, 2)))
        return
    reader.expect("right at most ")
    read_percent(reader, _guess(epsilon, delta))
    reader.expect(" of the time")


def _odds(reader: Reader, epsilon: Fraction, delta: Fraction) -> None:
    reader.expect(
        "Somebody who guesses between two such possibilities, equally likely before, is "
        if delta
        else "A belief of 50 % in one of two such possibilities can become at most "
    )
    _bound(reader, epsilon, delta)
    reader.expect(".")


def _meaning(reader: Reader, epsilon: Fraction, delta: Fraction) -> None:
    if delta:
        reader.expect("Between two such tables no event is more than ")
        read_power(reader, epsilon)
        reader.expect(" times as likely under one as under the other, plus ")
        read_up(reader, delta, 3)
        reader.expect(". Somebody who guesses between them is right at most ")
        read_percent(reader, _guess(epsilon, delta))
        reader.expect(" of the time.")
        return
    reader.expect(
        "Whatever is released, and whatever else somebody knows, the odds between two such tables change by a factor of at most "
    )
    read_power(reader, epsilon)
    reader.expect(": a belief of 1 % can become at most ")
    read_percent(reader, _belief(epsilon, Fraction(1, 100)))
    reader.expect(", one of 50 % at most ")
    read_percent(reader, _belief(epsilon, Fraction(1, 2)))
    reader.expect(".")


def _together(reader: Reader, epsilon: Fraction) -> None:
    reader.expect("all parts together cost epsilon ")
    read_up(reader, epsilon)
    reader.expect(": somebody who combines them can change their odds by a factor of up to e^")
    read_up(reader, epsilon, 3)
    reader.expect(".")


def _weak(reader: Reader, epsilon: Fraction, none: bool) -> None:
    reader.expect("mean age costs epsilon ")
    read_up(reader, epsilon)
    reader.expect(
        ", which promises nothing: odds may change by a factor of e^"
        if none
        else ": odds may change by a factor of up to e^"
    )
    read_up(reader, epsilon, 3)
    reader.expect(
        ", so whoever sees the output may be certain; an epsilon of 1 is usual."
        if none
        else ", which is close to no protection; an epsilon of 1 is usual, above 10 is not."
    )


def _beliefs(reader: Reader, epsilon: Fraction) -> None:
    reader.expect("Odds change by a factor of at most ")
    read_power(reader, epsilon)
    for prior, join in zip(PRIORS, (": ", ", ", " and "), strict=True):
        reader.expect(f"{join}a belief of {100 * prior} % at most ")
        read_percent(reader, _belief(epsilon, prior))
    reader.expect(".")


def _extra(reader: Reader, delta: Fraction) -> None:
    reader.expect("Odds are bounded up to an extra probability of ")
    read_up(reader, delta, 3)
    reader.expect(
        " (delta), which may fall on outputs that give a unit away. It is not the probability that odds change more than the "
        "factor says, which can be larger."
    )


def read_screen(text: str, total: tuple[Fraction, Fraction], parts: list[tuple[Fraction, Fraction]]) -> int:
    """Read every sentence about a price in a page or on a screen; how many there are.

    Sentences about two tables and about all parts are held against the total; a warning about one part against some part.
    """
    found = 0
    for start, read, of in _PLACES:
        for one in re.finditer(start, text):
            found += 1
            problems = [_problem(text, one.start(), read, *price) for price in ([total] if of == "total" else parts)]
            if problems and all(problems):
                raise UntrueError(f"{problems[0]} in {text[one.start() : one.start() + 200]!r} for {of}")
    return found


def _problem(text: str, place: int, read: Callable[[Reader, Fraction, Fraction], None], *price: Fraction) -> str:
    reader = Reader(text)
    reader.place = place
    try:
        read(reader, *price)
    except UntrueError as why:
        return str(why)
    return ""


def _costs(reader: Reader, epsilon: Fraction, delta: Fraction) -> None:
    reader.expect("All parts together cost ")
    _price(reader, epsilon, delta, " ", 3)
    reader.expect(". ")
    _odds(reader, epsilon, delta)


def _weakly(reader: Reader, epsilon: Fraction, delta: Fraction) -> None:
    reader.expect(" costs epsilon ")
    read_up(reader, epsilon)
    reader.expect(": odds may change by a factor of up to e^" if epsilon < 20 else ", which promises nothing")


_PLACES: tuple[tuple[str, Callable[[Reader, Fraction, Fraction], None], str], ...] = (
    ("Whatever is released, and", _meaning, "total"),
    ("Between two such tables", _meaning, "total"),
    ("All parts together cost", _costs, "total"),
    ("Odds change by a factor of at", lambda reader, epsilon, _: _beliefs(reader, epsilon), "total"),
    ("all parts together cost", lambda reader, epsilon, _: _together(reader, epsilon), "total"),
    ("Odds are bounded up to", lambda reader, _, delta: _extra(reader, delta), "total"),
    (" costs epsilon ", _weakly, "part"),
)


# Other sentences with numbers -------------------------------------------------------------------------------------------------


def read_rest(epsilon: Fraction, bits: int, delta: Fraction, radius: Fraction, tool: Any = CLAIMS) -> None:
    """Read the sentences about hashes, seeds, draws of one person and measured claims, for numbers that may be any."""
    for text, read in _others(epsilon, bits, delta, radius, tool.readings):
        reader = Reader(text)
        try:
            read(reader)
            reader.end()
        except UntrueError as why:
            raise UntrueError(f"{why} in {text!r} for {epsilon}, {bits} and {delta}") from None


def _others(
    epsilon: Fraction, bits: int, delta: Fraction, radius: Fraction, readings: Any
) -> Iterator[tuple[str, Callable[[Reader], None]]]:
    whole = epsilon * bits
    near = float(f"{float(epsilon):.6g}")  # a float, whose last digits are not shown
    yield (
        readings.hashes(epsilon, bits),
        lambda reader: _filled(
            reader,
            "Whatever is sent, profiles whose hashes differ in k bits are told apart by a factor of at most e^({} k), and any "
            "two profiles by at most e^{}.",
            (epsilon, 4),
            (whole, 4),
        ),
    )
    yield (
        readings.hashes_in_short(epsilon, bits, "8 degrees", near),
        lambda reader: _filled(
            reader,
            "two profiles at most 8 degrees apart: a loss of {}; any two profiles: a loss of {} at most, whatever is known",
            (Fraction(near), 4),
            (whole, 4),
        ),
    )
    yield (
        readings.one_person(bits, epsilon, whole),
        lambda reader: _filled(
            reader,
            f"epsilon = {{}} ({bits:,} draw{'' if bits == 1 else 's'}) if they are followed once; they may be several of the "
            "faces followed, and lose up to {}",
            (epsilon, 6),
            (whole, 6),
        ),
    )
    for about, words in (
        (
            "seed",
            "except for seeds that are unlucky with probability {delta}, no code is more than e^{loss} times as likely",
        ),
        (
            "both",
            "but with probability {delta} over seed and noise, the code that is sent is no more than e^{loss} times as likely",
        ),
        ("event", "no event of seed and code is more than e^{loss} times as likely"),
    ):
        seed = {
            "loss": epsilon / 2,
            "delta": delta,
            "distance": radius,
            "within": True,
            "measure": "angle",
            "epsilon": epsilon,
            "bits": bits,
            "about": about,
        }
        numbers = [(delta, 6), (epsilon / 2, 4)] if about != "event" else [(epsilon / 2, 4), (delta, 6)]
        text = words.format(delta="{}", loss="{}") + " under one as under the other" + ", plus {}" * (about == "event")
        yield (
            readings.seed_meaning(seed),
            lambda reader, text=text, numbers=numbers: _seed(reader, text, numbers, radius, epsilon, whole),
        )
    for rows in (None, 1000):
        spread = min(Fraction(99, 100), delta)
        measured = {
            "data": "pairs",
            "private": ("who",),
            "accuracy": spread,
            "prior": spread / 2,
            "distortion": epsilon,
            "converged": False,
            "rows": rows,
            "adversary": "a network",
            "information": epsilon,
        }
        said = (
            ", as measured on 1000 records held out (with confidence 95 %), and perhaps more by others" if rows else ""
        )
        yield (
            readings.context_line(measured),
            lambda reader, said=said, spread=spread, rows=rows: _filled(
                reader,
                "context-aware: who is guessed right at most {} % of the time ({} % without a release)"
                f"{said}, at a distortion of {{}}; its training did NOT converge",
                (100 * spread, 4),
                (50 * spread, 4),
                (epsilon, 4 if rows else 6),
            ),
        )
        yield (
            readings.context_meaning(measured),
            lambda reader, said=said, spread=spread: _filled(
                reader,
                f"Of pairs, who is guessed right at most {{}} % of the time by a network{said}; without a release it is {{}} %. "
                "A release tells at most {} nats about it. The training of the mechanism did NOT come to rest with its budget "
                "spent. This holds on average over that population: single records may be released as they are, more than one "
                "release of a record tells more, and it is not differential privacy.",
                (100 * spread, 4),
                (50 * spread, 4),
                (epsilon, 4),
            ),
        )


def _filled(reader: Reader, words: str, *numbers: tuple[Any, int]) -> None:
    """Read a sentence with numbers that are rounded up in it."""
    first, *others = words.split("{}")
    reader.expect(first)
    for (least, digits), after in zip(numbers, others, strict=True):
        read_up(reader, least, digits)
        reader.expect(after)


def _seed(reader: Reader, words: str, numbers: Any, radius: Fraction, epsilon: Fraction, whole: Fraction) -> None:
    reader.expect("For any two profiles within ")
    read_down(reader, radius)
    reader.expect(" (angle) that were fixed before the seed was drawn: ")
    _filled(reader, words, *numbers)
    _filled(
        reader,
        ". Two profiles that are chosen when the seed is known can be told apart by a factor of e^{} for every bit in which "
        "their hashes differ, and of e^{} if all do.",
        (epsilon, 4),
        (whole, 4),
    )
