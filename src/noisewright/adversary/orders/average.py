r"""The average-case order: may B replace A against every adversary who plays the average over outputs?

``A <= B`` holds exactly when ``A R = B`` for some channel R (post-processing), and exactly when ``V_g[pi > A] >= V_g[pi >
B]`` for every gain and every prior. It implies the max-case order, which implies the privacy order. Answers come from the
cheapest of:

1. one secret, equal channels, or a B that reveals nothing; a closed form, where A is of a family that has one;
2. two secrets: the curves of the best tests (:mod:`~noisewright.adversary.orders._roc`);
3. a direction that separates a column of B from the cone of A's (:mod:`~noisewright.adversary.orders._separation`);
4. independent columns of A: the only candidate for R, solved for;
5. a linear program; for exact channels its answer is a hint for one in fractions.

**Exactness.** For exact channels the answer is ``holds (exact)`` or ``fails (witness)`` unless the sizes are too large
for fractions. For floats it is ``holds within tol`` (with the post-processing and its error, measured again),
``fails (witness)`` (an adversary whose advantage, computed exactly from the given floats, is beyond the effect of rows
that sum to one only up to rounding), or ``undecided``.

>>> geometric = [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]
>>> response = [["3/5", "1/5", "1/5"], ["1/5", "3/5", "1/5"], ["1/5", "1/5", "3/5"]]
>>> found = average_refined(geometric, response)
>>> print(found.status, found.witness.gap)
fails (witness) 1/30
>>> print(average_refined(geometric, [["1/2", "1/2"], ["1/2", "1/2"], ["1/2", "1/2"]]))
average: B may replace A: holds (exact): the new one tells nothing about the secret

Reference: Blackwell (1953); McIver, Morgan, Smith, Espinoza and Meinicke, *Abstract channels and their robust
information-leakage ordering* (2014).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from noisewright.adversary.exact.program import TooLargeError, stochastic
from noisewright.adversary.orders._answering import FORWARD, Decision, answered, trivial
from noisewright.adversary.orders._columns import post_processing
from noisewright.adversary.orders._directions import bet, gap_of_bet, rounding_slack, shorten
from noisewright.adversary.orders._pair import Pair
from noisewright.adversary.orders._roc import better_test, curtain, curtain_in_floats
from noisewright.adversary.orders.deficiency import best_gain, least_total, least_worst
from noisewright.adversary.refinement import Refinement
from noisewright.adversary.witness import GainWitness, PostProcessing, gain_witness
from noisewright.core.arrays import Floats
from noisewright.core.verdict import EXACT, FAILS, UNDECIDED, WITHIN

__all__ = ["average_refined"]

MOST_UNKNOWNS = 60_000
"""Linear programs with more unknowns than this are not started."""

MOST_ENTRIES = 1_000_000
"""The largest table of fractions that the exact program starts from."""


def average_refined(
    a: Any, b: Any, tol: float = 1e-8, *, direction: str = FORWARD, pair: Callable[[], Pair] | None = None
) -> Refinement:
    """Return whether ``b`` may replace ``a`` against every gain and prior; a channel, a mechanism, a member or rows of
    numbers each.

    ``tol`` is the largest entry that may be off where floats are compared. The witness is a :class:`PostProcessing` where
    it holds and a :class:`GainWitness` where it fails.
    """
    return answered("average", _decide, a, b, tol, direction, pair)


def _decide(pair: Pair) -> Decision:
    known = trivial(pair)
    if known is not None:
        return EXACT, known[0], 0.0, known[1]
    if not pair.exact and pair.guess is not None:
        return _within(pair.guess)
    a, b = pair.a, pair.b
    if len(a.given.inputs) == 2:
        answer = _two_secrets(pair)
        if answer is not None:
            return answer
    found = pair.separation
    if found.direction is not None:
        witness = bet(found.direction, a.given, b.given)
        if pair.exact or _clear(witness, pair):
            return FAILS, _LOST, None, witness
    if pair.exact and found.independent and found.weights is not None:
        return EXACT, _SOLVED, 0.0, post_processing(a, b, found.weights)
    if found.proved and found.near is not None:
        return EXACT, _ENCLOSED, 0.0, post_processing(a, b, found.near)
    if found.near is not None and found.independent:
        made = post_processing(a, b, found.near)
        if made.residual <= pair.tol and not pair.exact:
            return _within(made)
    return _by_program(pair)


_LOST = "an adversary who bets on some secrets or passes gains more from the new one"
_ENCLOSED = "the only post-processing there can be has entries proved to be above 0"
_SOLVED = "the new one is a post-processing of the old one, solved in fractions"


def _within(made: PostProcessing) -> Decision:
    """The answer that a post-processing within the tolerance gives."""
    return WITHIN, f"the post-processing misses by {made.residual:.2g}", made.residual, made


def _clear(witness: GainWitness, pair: Pair) -> bool:
    """Return whether a gap in floats is beyond rounding and shows a miss of more than ``tol`` in some entry.

    A gain in ``[0, 1]`` gains at most ``k/2`` times the worst entry by which B, with k outputs, misses a refinement.
    """
    if witness.gap <= rounding_slack(pair.a.given, pair.b.given):
        return False
    return 2 * witness.gap / len(pair.b.given.outputs) > Fraction(pair.tol)


def _two_secrets(pair: Pair) -> Decision | None:
    a, b = pair.a, pair.b
    test = better_test(a, b)
    short = None if test is None else shorten(test, lambda h: gap_of_bet(h, a.given, b.given))
    if short is not None:
        witness = bet(short[1], a.given, b.given)
        if pair.exact or _clear(witness, pair):
            return FAILS, "a test of one secret against the other does better with the new one", None, witness
    if pair.exact:
        return (
            EXACT,
            "the curve of best tests of the old one is nowhere below",
            0.0,
            post_processing(a, b, curtain(a, b)),
        )
    made = post_processing(a, b, curtain_in_floats(a, b))
    if made.residual <= pair.tol:
        return _within(made)
    return None


def _by_program(pair: Pair) -> Decision:
    """Linear programs, in floats, and in fractions where both channels are exact."""
    a, b, found = pair.a, pair.b, pair.separation
    unknowns = len(a.groups) * len(b.groups)
    if unknowns > MOST_UNKNOWNS:
        return UNDECIDED, f"a linear program of {unknowns} unknowns is too large", None, None
    between, gain = least_total(a.floats, b.floats)
    witness = best_gain(gain, a, b)
    if found.direction is not None:
        other = bet(found.direction, a.given, b.given)
        witness = other if witness is None or other.gap > witness.gap else witness
    if witness is not None and (pair.exact or _clear(witness, pair)):
        return FAILS, "an adversary gains more from the new one", None, witness
    if pair.exact:
        proved = _in_fractions(pair, between)
        if proved is not None:
            return proved
    made = _better(pair, between)
    if made.residual <= pair.tol:
        return _within(made)
    if witness is not None and witness.gap > rounding_slack(a.given, b.given):
        return FAILS, "an adversary gains more from the new one", made.residual, witness
    return UNDECIDED, f"the best post-processing found misses by {made.residual:.2g}", made.residual, made


def _better(pair: Pair, between: Floats) -> PostProcessing:
    """The post-processing of a solver; where it misses by more than ``tol``, the one that misses least in the worst entry."""
    made = post_processing(pair.a, pair.b, between)
    if made.residual <= pair.tol:
        return made
    again = post_processing(pair.a, pair.b, least_worst(pair.a.floats, pair.b.floats)[0])
    return min(made, again, key=lambda one: one.residual)


def _in_fractions(pair: Pair, hints: Floats) -> Decision | None:
    """The decision by the exact program; None if it would take too long."""
    found = pair.separation.elimination
    if found is None:
        return None
    rank, free = len(found.pivots), found.unknowns - len(found.pivots)
    if (rank * found.right + free) * (free * (found.right - 1) + 2) > MOST_ENTRIES:
        return None
    try:
        holds, rows = stochastic(found, hints)
    except TooLargeError:
        return None
    if holds:
        return EXACT, _SOLVED, 0.0, post_processing(pair.a, pair.b, rows)
    actions = [pair.b.given.outputs[group[0]] for group in pair.b.groups]
    return (
        FAILS,
        "an adversary gains more from the new one",
        None,
        gain_witness(rows, actions, pair.a.given, pair.b.given),
    )
