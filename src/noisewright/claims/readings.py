"""Claims for people: half a line, or the name of a distance, from the record of a claim. Exact terms are in ``phrases``.

>>> half = {"epsilon": "1/2", "delta": "0", "scope": "metric", "conditions": [], "metric": {"base": "line", "factor": "1/5"}}
>>> reading(half), reading(half, "year")
('epsilon 0.5 for each 5 of difference', 'epsilon 0.5 for each 5 years of difference')

>>> Condition("seed-failure", probability="1/1000").phrase
'unless the public seed is unlucky (probability 0.001)'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from noisewright.claims import phrases
from noisewright.claims.figures import downward, factor_above, factor_in_words, figure, float_up, rounded_up, upward

__all__ = [
    "FAMILY_UNITS",
    "NOTHING_HIDDEN",
    "NOT_BY_DISTANCE",
    "NO_EPSILON",
    "OF_DOCUMENTS",
    "OF_PICTURES",
    "OF_REGIONS",
    "ROWS",
    "Condition",
    "all_of",
    "context_line",
    "context_meaning",
    "counted",
    "delta_between",
    "hashes",
    "hashes_in_short",
    "keeps_within",
    "level_meaning",
    "level_reading",
    "needs",
    "not_hidden",
    "odds_changed",
    "of_each_bit",
    "of_each_place",
    "one_person",
    "one_word",
    "per_unit",
    "rate",
    "reading",
    "seed_meaning",
    "seed_note",
    "smallest_of_two",
    "told_apart",
    "within_and_beyond",
]


Record = Mapping[str, Any]


def reading(record: Record, unit: str = "") -> str:
    """Return a claim in half a line: its epsilon, what that is for, and all conditions."""
    return f"epsilon {needs(record, unit)}"


def needs(record: Record, unit: str = "") -> str:
    """Return the epsilon of a claim, what it is for, and all conditions.

    Parameters
    ----------
    record : mapping
        The record of a claim.
    unit : str, default ""
        The unit of the values, such as ``"year"``, if the record does not say.
    """
    metric, base, delta = record["metric"], record["metric"].get("base"), Fraction(record["delta"])
    epsilon, words = counted(record, unit)
    size, alone = 1 / phrases.factor(metric, record.get("secret")), record["scope"] == "adjacent"
    text = f"{upward(epsilon, 4)} {words}" + (f", delta {upward(delta, 3)}" if delta else "")
    if "lattice" in metric:
        text += f", rounded to steps of {figure(Fraction(2) ** metric['lattice'])}"
    if "radius" in record and base != "tables":
        text += f", up to {figure(Fraction(record['radius']) * size, 4, 'down')} apart" * (not alone)
        text += ", and for no others" * alone
    return text + phrases.share(record) + "".join(phrases.conditions(record["conditions"]))


def counted(record: Record, unit: str = "") -> tuple[Fraction, str]:
    """Return an epsilon, and for which secrets or how much of their distance it is.

    >>> line = {"epsilon": "1", "delta": "0", "scope": "metric", "conditions": [], "metric": {"base": "line"}}
    >>> counted(line)
    (Fraction(1, 1), 'for each 1 of difference')
    """
    metric, secret, epsilon = record["metric"], record.get("secret"), Fraction(record["epsilon"])
    factor, base = phrases.factor(metric, secret), metric.get("base")
    size, unit = 1 / factor, phrases.unit(metric, secret) or unit
    many = figure(size, 4, "down") + (f" {unit}" + "s" * (size != 1) if unit else "")
    alone = record["scope"] == "adjacent"
    if base == "tables":
        words = f"between {phrases.base_name(metric)}"
    elif base == "discrete" and (not alone or factor <= 1):
        epsilon, words = epsilon if alone else epsilon * factor, phrases.each(metric, secret, many)
    elif alone:
        words = f"between two {_answers(metric, secret)} at most {many} apart"
    else:
        words = phrases.each(metric, secret, many if size != 1 or not unit else unit)
    return epsilon, words


def _answers(metric: Record, secret: Record | None) -> str:
    """Return what two secrets are called that a person compares."""
    kind = phrases.kind_of(metric, secret)
    return "answers" if kind == "value" else phrases.noun(kind, secret)


# A level within a radius ----------------------------------------------------------------------------------------------------


def level_reading(level: Record) -> str:
    """Return the epsilon between any two points within a radius, in half a line."""
    return f"epsilon {phrases.up(level['level'])} between {phrases.within(level)}"


LARGEST = 700.0
"""Bound from which a posterior probability is shown as 100 %; the power of e would be a needlessly long integer."""


def level_meaning(level: Record) -> str:
    """Return what an epsilon between any two points within a radius means.

    >>> print(level_meaning({"code": "level", "level": "1", "radius": "200"}))  # doctest: +NORMALIZE_WHITESPACE
    Whatever the output, the odds between any two points within 200 of each other, rounding included, change by a factor of at
    most 2.72. A belief of 50 % in one of two such points can become at most 73.2 %.
    """
    bound = float_up(Fraction(level["level"]))
    factor = factor_above(min(bound, LARGEST))
    such = f"two such {'places' if 'on_map' in level else 'points'}"
    belief = f"{rounded_up(100 * factor / (factor + 1), 3)} %"
    return phrases.odds(f"{phrases.within(level)},", factor_in_words(bound), such, belief)


# Rates, and pairs of secrets ------------------------------------------------------------------------------------------------

FAMILY_UNITS = (
    "The epsilon of response is between any two answers; that of geometric and exponential for each 1 of difference."
)
OF_PICTURES = (
    f"Between any two {phrases.noun('picture', None)}; for faces, between any two {phrases.noun('face', None)}."
)
OF_REGIONS = (
    f"Privacy loss between any two {phrases.noun('picture', None)}, all regions together, or any two contents of one hidden "
    "place; see --pixels."
)
OF_DOCUMENTS = (
    "Of N words each, two documents lose at most epsilon times the cost of matching them, never N times that."
)
NOTHING_HIDDEN = "None: nothing was hidden, and what came out shows all that the originals show."
ROWS = {  # what an epsilon is counted by, for noise on a count or on the values of a row
    "count": "for each row that is added or taken away",
    "geometric": "for each place between two values in their order",
    "response": "between any two values of a row",
}


NO_EPSILON = "no epsilon and no differential privacy; single records may come out as they are"
NOT_BY_DISTANCE = "nothing is promised by distance for this family"


def not_hidden(names: str) -> str:
    """Return that pictures in which nothing was hidden have no promise."""
    return f"nothing was hidden in {names}: there is no guarantee for it"


def keeps_within(epsilon: float, who: str, times: float) -> str:
    """Return the epsilon, rounded down, at which two words are told apart by a factor at most, rounded up.

    >>> keeps_within(2.3456, "such neighbours", 3)
    'epsilon 2.34 keeps such neighbours within a factor of 3'
    """
    return f"epsilon {downward(epsilon, 3)} keeps {who} within a factor of {upward(times, 3)}"


def per_unit(metric: object) -> str:
    """Return what an epsilon is for that grows with a distance."""
    return f"per unit of {metric}"


def rate(epsilon: Any, metric: object) -> str:
    """Return an epsilon for each unit of a distance."""
    return f"epsilon = {upward(epsilon)} {per_unit(metric)}"


def told_apart(epsilon: str) -> str:
    """Return the largest epsilon between two secrets of a channel."""
    return f"epsilon {epsilon} between the two secrets that it tells apart best"


def smallest_of_two(metric: object, old: str, new: str) -> str:
    """Return the smallest epsilons of a mechanism and of one that may replace it."""
    return f"smallest epsilon {per_unit(metric)}: {old} for the old one, {new} for the new one"


def odds_changed(pair: tuple[Any, Any] | None, before: float, after: float, output: Any, of: str) -> str:
    """Return how the odds of two secrets change at an output of a channel, beside its epsilon."""
    if pair is None:
        return "no odds change: the output tells nothing about the secrets that are possible"
    first, second = pair
    return f"the odds of {first} against {second} change from {before:.6g} to {after:.6g} at output {output}; {of}"


def delta_between(delta: float, epsilon: float, pair: tuple[float, float]) -> str:
    """Return the delta of two locations at an epsilon."""
    return f"delta = {upward(delta)} at epsilon = {upward(epsilon)} between locations {pair[0]:g} and {pair[1]:g}"


def within_and_beyond(per: Any, factor: float, radius: str, most: float, diameter: str, everywhere: Any) -> str:
    """Return what an epsilon for each unit means within a radius, and over a whole range."""
    return (
        f"epsilon = {upward(per)} per unit: the same factor of {upward(factor, 4)} within {radius}, but up to "
        f"{upward(most, 4)} over the whole range of {diameter}; epsilon = {upward(everywhere)} per unit would keep it everywhere"
    )


# Places that are hidden -----------------------------------------------------------------------------------------------------


def one_person(draws: int, epsilon: Any, most: Any) -> str:
    """Return what one person in a video loses if they are followed once, and otherwise.

    >>> one_person(2, 100, 600)
    'epsilon = 100 (2 draws) if they are followed once; they may be several of the faces followed, and lose up to 600'
    """
    return (
        f"epsilon = {upward(epsilon)} ({phrases.number_of(draws, 'draw')}) if they are followed once; they may be several of the "
        f"faces followed, and lose up to {upward(most)}"
    )


def of_each_place(places: int, record: Record) -> str:
    """Return what a person costs who is in several hidden places, or in several pictures."""
    return (
        f"{phrases.number_of(places, 'place')} in a picture at most, with epsilon = {upward(Fraction(record['epsilon']))} for "
        "each; the losses of a person who is in several places, or in several pictures, add up"
    )


def one_word(distance: float, epsilon: float) -> str:
    """Return what one word costs that is replaced by its nearest neighbour."""
    loss = upward(Fraction(epsilon), 3)
    return f"for its nearest neighbour ({distance:.3g} away, in the middle of the vocabulary): epsilon {loss}"


# Hashes ---------------------------------------------------------------------------------------------------------------------


def hashes(epsilon: Fraction, bits: int) -> str:
    """Return what randomised response on every bit of a hash means once the seed is known."""
    return (
        f"Whatever is sent, profiles whose hashes differ in k bits are told apart by a factor of at most e^({upward(epsilon, 4)} "
        f"k), and any two profiles by at most e^{upward(epsilon * bits, 4)}."
    )


def of_each_bit(epsilon: object) -> str:
    """Return the price of a bit of a hash."""
    return f"epsilon {epsilon} for every bit"


def hashes_in_short(epsilon: Fraction, bits: int, radius: str, loss: float | None) -> str:
    """Return the largest losses between two profiles: within a radius, if that is known, and between any two."""
    near = "" if loss is None else f"two profiles at most {radius} apart: a loss of {upward(Fraction(loss), 4)}; "
    return f"{near}any two profiles: a loss of {upward(epsilon * bits, 4)} at most, whatever is known"


def seed_note(radius: str, delta: float) -> str:
    """Return what two losses of a scheme are about: the one at a radius, and the largest."""
    return (
        f"The loss at {radius} holds for two profiles so near that were fixed before the seed was drawn, up to a delta of "
        f"{upward(delta, 3)}; the largest loss is that of any two, whatever is known."
    )


def seed_meaning(record: Record) -> str:
    """Return what a loss between two profiles means that were chosen before the public seed was drawn.

    ``record`` has ``loss``, ``delta``, ``distance``, ``within``, ``measure``, ``epsilon`` and ``bits``, and ``about``: what the
    delta is a probability of, ``"seed"``, ``"both"`` or ``"event"``.
    """
    delta, extra = upward(record["delta"]), ""
    if record["about"] == "seed":
        held = f"except for seeds that are unlucky with probability {delta}, no code is more than"
    elif record["about"] == "both":
        held = f"but with probability {delta} over seed and noise, the code that is sent is no more than"
    else:
        held, extra = "no event of seed and code is more than", f", plus {delta}"
    most, loss = record["epsilon"] * record["bits"], upward(Fraction(record["loss"]), 4)
    return (
        f"For any two profiles {'within' if record['within'] else 'at exactly'} {downward(record['distance'])} "
        f"({record['measure']}) that were fixed before the seed was drawn: {held} e^{loss} times as likely "
        f"under one as under the other{extra}. Two profiles that are chosen when the seed is known can be told apart by a factor "
        f"of e^{upward(record['epsilon'], 4)} for every bit in which their hashes differ, and of e^{upward(most, 4)} if all do."
    )


# Average-case claims --------------------------------------------------------------------------------------------------------

LONGEST_SHOWN = 60


def context_line(record: Record) -> str:
    """Return a context-aware claim in one line: how often a private value is guessed right."""
    measured = record["rows"] is not None
    spent = upward(record["distortion"], 4 if measured else 6)
    return (
        f"context-aware: {_hidden(record, 'a private value')} is guessed right at most {upward(100 * record['accuracy'], 4)} % "
        f"of the time ({upward(100 * record['prior'], 4)} % without a release){_measured(record)}, at a distortion of {spent}"
        + ("" if record["converged"] else "; its training did NOT converge")
    )


def context_meaning(record: Record) -> str:
    """Return a context-aware claim and its limits in full; numbers are rounded up."""
    told = record["information"]
    extra = "" if told is None else f" A release tells at most {upward(Fraction(told), 4)} nats about it."
    if not record["converged"]:
        extra += " The training of the mechanism did NOT come to rest with its budget spent."
    return (
        f"Of {record['data']}, {_hidden(record, 'the private value')} is guessed right at most "
        f"{upward(100 * record['accuracy'], 4)} % of the time by {record['adversary']}{_measured(record)}; without a release it "
        f"is {upward(100 * record['prior'], 4)} %.{extra} This holds on average over that population: single records may be "
        "released as they are, more than one release of a record tells more, and it is not differential privacy."
    )


def _measured(record: Record) -> str:
    """Return on how many records a claim was measured."""
    if record["rows"] is None:
        return ""
    return f", as measured on {record['rows']} records held out (with confidence 95 %), and perhaps more by others"


def _hidden(record: Record, otherwise: str) -> str:
    """Return what is hidden, by name; of several the one that is told most of."""
    if not record["private"]:
        return otherwise
    first, *others = (
        name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}..." for name in record["private"]
    )
    return first + (f" (told most of among {len(record['private'])} private columns)" if others else "")


# Record -------------------------------------------------------------------------------------------------------------------
#
# Conditions of a claim as Python objects: a code of the phrase table, with parameters.


class Condition:
    """Something under which a claim holds: a code and its parameters; equal conditions compare and hash equal.

    Parameters
    ----------
    code : str
        A code of the phrase table, such as ``"not-a-training-record"``.
    **parameters : str, int or None
        The parameters of that code; numbers are given exactly, as text.
    """

    __slots__ = ("_items", "code")

    def __init__(self, code: str, **parameters: Any) -> None:
        if code not in phrases.BOUNDARY:
            raise ValueError(f"there is no condition {code!r}; choose one of {', '.join(phrases.BOUNDARY)}.")
        self.code = code
        self._items = tuple(sorted(parameters.items()))
        phrases.boundary(self.record())

    def record(self) -> dict[str, Any]:
        """Return the condition as plain data."""
        return {"code": self.code, **dict(self._items)}

    @property
    def phrase(self) -> str:
        """The condition in English."""
        return phrases.boundary(self.record())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and self.record() == other.record()

    def __hash__(self) -> int:
        return hash((self.code, self._items))

    def __repr__(self) -> str:
        return f"Condition({', '.join([repr(self.code), *(f'{name}={value!r}' for name, value in self._items)])})"


def all_of(*several: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return all conditions of several claims, each once."""
    return tuple(dict.fromkeys(one for conditions in several for one in conditions))


def read(record: Mapping[str, Any]) -> Condition:
    """Return the condition of a record."""
    return Condition(record["code"], **{name: value for name, value in record.items() if name != "code"})
