"""The meaning of the price of a part, or of a whole release, for a recipient who compares two possibilities.

>>> print(belief(Fraction(1), Fraction(0)), belief(Fraction(1), Fraction(1, 100)), sep=", ")
73.2 %, right at most 73.4 % of the time
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from noisewright.claims.figures import factor_above, figure, float_up, percent, upward

__all__ = [
    "ADD_UP",
    "BELIEF",
    "CHANGED",
    "GLOSSARY",
    "GUESSES",
    "KEPT",
    "ORDER_SHOWN",
    "PROTECTED",
    "become",
    "belief",
    "beliefs",
    "context_aware",
    "exact",
    "extra",
    "farther",
    "given_away",
    "guess",
    "kept",
    "kept_warning",
    "meaning",
    "odds",
    "posterior",
    "price",
    "promise",
    "together",
    "total",
    "trained",
    "unprotected",
    "weak",
    "whose",
]


PROTECTED = (
    "Protected means: a recipient of the release, whatever else they know, can change their odds between two possibilities by a "
    "limited factor only."
)
BELIEF = "A belief of 50 % becomes"
GUESSES = (
    "Where a part has a delta, no belief is bounded for every single output. The table then says how often a recipient who "
    "guesses between two equally likely possibilities is right at most."
)
GLOSSARY = {
    "Belief": "How likely a recipient holds one of two possibilities to be; 50 % is complete uncertainty.",
    "Epsilon": "How much odds may change: by a factor of at most 2.72 (e) for 1, 7.4 for 2, 1.11 for 0.1. Smaller is safer.",
    "Delta": "An extra probability, beyond what epsilon allows, that any event may have; small.",
}
ADD_UP = "All parts and all releases add up."
KEPT = "released as it is, not protected"
"""The entry of a ledger for a column that was released unchanged."""
CHANGED = "changed by a learned privatiser: context-aware, no epsilon"
"""The entry of a ledger for a column without an epsilon."""
ORDER_SHOWN = "Not protected either: the order of the rows, which is that of the table."
LARGEST = 700
"""Beyond this epsilon, a factor is more than all floats, and a posterior probability is 1."""


def posterior(epsilon: Fraction, prior: Fraction) -> Fraction:
    """Return the largest posterior probability of one of two possibilities with this prior probability, rounded up."""
    if epsilon > LARGEST:
        return Fraction(prior > 0)
    factor = factor_above(float_up(epsilon))
    return _certain(factor * prior / (factor * prior + 1 - prior))


def guess(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return how often a guess between two equally likely possibilities is right at most, rounded up."""
    if epsilon > LARGEST:
        return Fraction(1)
    factor = factor_above(float_up(epsilon))
    return _certain(min(Fraction(1), (factor + delta) / (factor + 1)))


def _certain(share: Fraction) -> Fraction:
    """Return a probability, or 1 where no float is between the two."""
    return Fraction(1) if float_up(share) >= 1 else share


def price(epsilon: Fraction, delta: Fraction) -> str:
    """Return an epsilon and a delta, rounded up."""
    return f"epsilon {upward(epsilon)}" + (f", delta {upward(delta, 3)}" if delta else "")


def total(epsilon: Fraction, delta: Fraction) -> str:
    """Return what a whole release costs one unit, rounded up."""
    return f"epsilon = {upward(epsilon)}" + (f", delta = {upward(delta)}" if delta else "")


def promise(epsilon: Fraction, delta: Fraction, between: str, rows: int = 1) -> str:
    """Return what a part of a release promises, perhaps for each of several rows of one unit."""
    return f"{price(epsilon, delta)} between {between}" + (f", for each of {rows} rows" if rows > 1 else "")


def belief(epsilon: Fraction, delta: Fraction) -> str:
    """Return the posterior probability that 50 % becomes at most; with a delta, how often a guess is right at most."""
    if delta:
        return f"right at most {percent(Fraction(guess(epsilon, delta)))} of the time"
    return become(epsilon, HALF)


HALF = Fraction(1, 2)


def become(epsilon: Fraction, prior: Fraction) -> str:
    """Return the posterior probability that a prior probability becomes at most, rounded up."""
    return percent(Fraction(posterior(epsilon, prior)))


def odds(epsilon: Fraction, delta: Fraction) -> str:
    """Return what a price means for two possibilities, in one sentence."""
    if delta:
        return (
            f"Somebody who guesses between two such possibilities, equally likely before, is {belief(epsilon, delta)}."
        )
    return f"A belief of 50 % in one of two such possibilities can become at most {belief(epsilon, delta)}."


def beliefs(epsilon: Fraction, priors: Sequence[Fraction]) -> str:
    """Return how far odds change at most, and the posterior probability that each prior probability becomes at most."""
    high = epsilon > 20
    factor = f"e^{upward(epsilon, 4)}" if high else figure(factor_above(float_up(epsilon)))
    told = [f"a belief of {figure(100 * prior)} % at most {become(epsilon, prior)}" for prior in priors]
    listed = f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else "".join(told)
    return f"Odds change by a factor of at most {factor}: {listed}."


def meaning(epsilon: Fraction, delta: Fraction) -> str:
    """Return what the total of a release means for somebody who compares two neighbouring tables."""
    if delta:
        right = percent(Fraction(guess(epsilon, delta)))
        return (
            f"Between two such tables no event is more than e^{upward(epsilon, 4)} times as likely under one as under the other, "
            f"plus {upward(delta, 3)}. Somebody who guesses between them is right at most {right} of "
            "the time."
        )
    return (
        "Whatever is released, and whatever else somebody knows, the odds between two such tables change by a factor of at most "
        f"e^{upward(epsilon, 4)}: a belief of 1 % can become at most {become(epsilon, Fraction(1, 100))}, one of "
        f"50 % at most {become(epsilon, HALF)}."
    )


def unprotected(columns: bool, changed: bool, answers: bool) -> str:
    """Return that nothing is protected: neither released columns, some changed without an epsilon, nor exact answers."""
    how = "kept as it is" + (", or changed without any epsilon" if changed else "")
    told = [f"every released column is {how}"] if columns else []
    told += ["every answer is exact"] if answers else []
    return f"Nothing is protected: {' and '.join(told)}."


def context_aware(columns: str) -> str:
    """Return what is not promised of columns that a learned privatiser changed."""
    return (
        f"{columns}: changed by a learned privatiser, which promises no epsilon; what is promised is context-aware, costs "
        "nothing of the budget, and is not differential privacy."
    )


def trained(columns: str) -> str:
    """Return that columns have no epsilon, for a report."""
    return f"No epsilon is promised for {columns}, changed by a learned privatiser, as its file says."


def kept(columns: str) -> str:
    """Return that columns are released unchanged, for a report."""
    return f"Not protected at all: {columns}, released unchanged."


def exact(answers: str) -> str:
    """Return that answers have no noise, for a report."""
    return f"Not protected either: {answers}, answered exactly."


def kept_warning(columns: str) -> str:
    """Return what to check before columns are released unchanged."""
    return f"{columns}: kept as it is, so not protected; make sure that it points to nobody."


def farther(columns: str) -> str:
    """Return what is promised beyond the protected distances."""
    return (
        f"Values that are farther apart than stated ({columns}) are protected less: twice as far apart, twice the epsilon or "
        "more. Large differences can be seen."
    )


def whose(unit: str | None) -> str:
    """Return whose data a release protects."""
    if unit is None:
        return "This release protects every row by itself: a row is what belongs to one person or thing."
    return f"This release protects each {unit}: all rows with the same value of that column count as one."


def extra(delta: Fraction, whose: str = "unit") -> str:
    """Return what a delta adds to a bound on the odds."""
    return (
        f"Odds are bounded up to an extra probability of {figure(delta)} (delta), which may fall on outputs that give a {whose} "
        "away. It is not the probability that odds change more than the factor says, which can be larger."
    )


def given_away(delta: Fraction) -> str:
    """Return what a delta means among people, for a person who decides about it."""
    return f"{extra(delta, 'secret')} About one person in {figure(1 / delta, rounding='down')} may be given away so."


def weak(title: str, epsilon: Fraction, none: bool) -> str:
    """Return that a part costs so much that it promises little, or nothing."""
    power = f"e^{upward(epsilon, 3)}"
    if none:
        return (
            f"{title} costs epsilon {upward(epsilon)}, which promises nothing: odds may change by a factor of {power}, so "
            "whoever sees the output may be certain; an epsilon of 1 is usual."
        )
    return (
        f"{title} costs epsilon {upward(epsilon)}: odds may change by a factor of up to {power}, which is close to no "
        "protection; an epsilon of 1 is usual, above 10 is not."
    )


def together(epsilon: Fraction) -> str:
    """Return that all parts of a release together cost so much that they promise little."""
    return (
        f"all parts together cost epsilon {upward(epsilon)}: somebody who combines them can change their odds by a factor of up "
        f"to e^{upward(epsilon, 3)}."
    )
