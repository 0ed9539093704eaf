"""Claims in plain words: what a certificate states in exact terms, as a person reads it. ``--json`` keeps the exact terms.

>>> plainly("epsilon = 0.5 per unit of 1/5 * line")
'epsilon 0.5 for each 5 of difference'
>>> plainly("epsilon = 1 between neighbours (1/7 * line at most 1), delta = 1e-6")
'epsilon 1 between two answers at most 7 apart, delta = 1e-6'
>>> plainly("any two places within 500 of each other (metres around (53, -2) between points of the lattice 2^-2)")
'any two places within 500 of each other (metres around (53, -2), rounded to steps of 0.25)'
"""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from fractions import Fraction
from functools import partial
from typing import cast

__all__ = ["STYLES", "meaning_of", "part_plainly", "plainly", "things_of"]

STYLES = {"holds (exact)": "green", "holds within tol": "green", "fails (witness)": "red", "undecided": "yellow"}

PICTURES = ("pixel-", "faces")
"""How the names of mechanisms for pictures begin."""

CLAIM = re.compile(
    r"epsilon = (?P<epsilon>[0-9.e+-]+) (?:per unit of (?P<metric>.+?)|between neighbours \((?P<near>.+?) at most 1\))"
    r"(?P<more>(?:; |, (?:delta|in steps|over|between|unless|for|and|any|if)\b).*)?"
)
LEVEL = re.compile(r".*; level = (?P<epsilon>[0-9.e+-]+) (?P<between>between any two \S+ within .+? of each other).*")
LATTICE = re.compile(r" between points of the lattice 2\^(-?[0-9]+)")
FROM_TO = re.compile(r"from (-?\d{1,15}) to (-?\d{1,15})(?![\d.])")
NUMBER_APART = re.compile(r"(?<=at most )\S+(?= apart)|(?<=within )\S+(?= of each other)")
PROTECTED = re.compile(r"(?:any two values|at most (?P<length>\S+(?: [a-z]+)*))(?P<more>.*)")


def things_of(mechanism: str) -> str:
    """What a mechanism protects, in a word; it is not loaded for it.

    >>> things_of("pixel-laplace"), things_of("randomised-response")
    ('pictures', 'answers')
    """
    return "pictures" if mechanism.startswith(PICTURES) else "answers"


def plainly(claim: str, mechanism: str = "") -> str:
    """A claim in plain words; what is none is left as it is, but for lattices and for the line of numbers.

    >>> plainly("epsilon = 200 per unit of discrete", "pixel-windows")
    'epsilon 200 between any two pictures'
    """
    from noisewright.core.certificates.checker.checker import NotProved
    from noisewright.core.certificates.claims import metric_called
    from noisewright.core.errors import NoisewrightError
    from noisewright.core.exact import figure
    from noisewright.core.guarantee import Guarantee, Scope
    from noisewright.core.metrics.metric import Metric

    steps = [f", rounded to steps of {figure(2.0 ** int(power))}" for power in LATTICE.findall(claim)]
    found = CLAIM.fullmatch(claim)
    if found is None:
        return LATTICE.sub(lambda _: steps.pop(0), claim).replace(" apart (line)", " apart")
    level = (found["more"] or "").partition("; level = ")[2]
    if level:
        return f"epsilon {level}"  # a level is the epsilon of a whole radius, which says more than that of a metre
    exact, scope = LATTICE.sub("", found["metric"] or found["near"]), "metric" if found["metric"] else "adjacent"
    try:
        metric = metric_called(exact)
    except (NoisewrightError, NotProved):  # of a name that says more than a metric
        metric = Metric()
        metric.name = exact
    promise = Guarantee(float(found["epsilon"]), metric, scope=cast(Scope, scope))
    return promise.reading(things=things_of(mechanism)) + "".join(steps) + (found["more"] or "")


def part_plainly(between: str, protects: str, *, known: bool) -> str:
    """Between which values a part of a release is proved, in the unit of its column.

    A proof is about numbers, such as the seconds of a time; ``protects`` says what they are. ``known``: that follows from the
    policy in the lock. In a certificate alone it is stated, and only its number was compared.

    >>> part_plainly("values at most 3600 apart (line)", "at most 1 hour", known=True)
    'values at most 1 hour apart'
    >>> part_plainly("values at most 3600 apart (line)", "at most 1 hour", known=False)
    'values at most 3600 apart (stated: 1 hour)'
    """
    words, said = plainly(between), PROTECTED.fullmatch(protects)
    if said is None:  # an answer: what one unit changes is a number
        return words
    length, more = said["length"] or "", said["more"] if known else ""
    if " " not in length:
        return words + (more if not length else "")
    if known:
        number = NUMBER_APART.search(words)
        named = words if number is None else FROM_TO.sub(partial(_moments, length, number[0]), words)
        return NUMBER_APART.sub(length, named, count=1) + more
    return f"{words} (stated: {length})" if words.endswith(" apart") else words  # the metric of places has its unit


def _moments(length: str, number: str, ends: re.Match[str]) -> str:
    """Two ends of a range of dates or of times, if ``number`` is the days or the seconds of ``length``.

    >>> FROM_TO.sub(partial(_moments, "7 days", "7"), "for answers from 20095 to 20300")
    'for answers from 2025-01-07 to 2025-07-31'
    >>> FROM_TO.sub(partial(_moments, "7 days", "604800"), "for answers from 0 to 5400")
    'for answers from 1970-01-01 00:00:00 to 1970-01-01 01:30:00'
    """
    many, _, unit = length.partition(" ")
    seconds = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}.get(unit.removesuffix("s"))
    if seconds is None or Fraction(many) * seconds not in (86_400 * Fraction(number), Fraction(number)):
        return ends[0]
    days = Fraction(many) * seconds == 86_400 * Fraction(number)
    start = datetime(1970, 1, 1)
    try:
        low, high = (start + timedelta(**{"days" if days else "seconds": int(end)}) for end in ends.groups())
    except OverflowError:
        return ends[0]
    return f"from {low.date()} to {high.date()}" if days else f"from {low} to {high}"


def meaning_of(claim: str, reading: str) -> str:
    """What a claim means: for places within their radius, and otherwise as it was read.

    >>> claim = "epsilon = 0.005 per unit of euclidean; level = 1 between any two points within 200 of each other"
    >>> meaning_of(claim, "")[:113]
    'Whatever the output, the odds between any two points within 200 of each other change by a factor of at most 2.72.'
    """
    from noisewright.core.exact import percent, upward
    from noisewright.core.guarantee import Guarantee
    from noisewright.core.metrics.metric import Discrete

    found = LEVEL.fullmatch(claim)
    if found is None:
        return plainly(reading)
    promise = Guarantee(float(found["epsilon"]), Discrete())
    things = found["between"].split()[3]
    factor = f"e^{upward(promise.epsilon, 4)}" if promise.epsilon > 20 else upward(math.exp(promise.epsilon), 3)
    return (
        f"Whatever the output, the odds {found['between']} change by a factor of at most {factor}. A belief of 50 % in one of "
        f"two such {things} can become at most {percent(promise.posterior(0.5))}."
    )
