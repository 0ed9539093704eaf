"""Every loss that is shown is at least what it is, by less than one unit of its last digit; so are errors."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.claims import readings, totals
from noisewright.claims.figures import decimals, figure, upward
from noisewright.guarantees import Guarantee
from noisewright.metrics.base import Discrete, Line

epsilons = st.floats(1e-9, 600) | st.sampled_from([0.1, 0.3, 0.7, 1.1, 2.0, 0.1 + 0.2, 3.2500000000000084])
deltas = st.floats(1e-12, 0.99) | st.sampled_from([1e-6, 3e-6, 0.01, 0.05])
exact = st.fractions(Fraction(1, 10**6), 600) | st.floats(1e-9, 600).map(Fraction)


def holds(shown: str, truth: Fraction, digits: int = 17) -> None:
    """Assert that a shown number is the truth, rounded up in at most this number of significant digits."""
    number = Decimal(shown.replace(",", ""))
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    exponent = max(exponent, number.adjusted() - digits + 1)  # the last zeros of an integer do not count
    assert truth <= Fraction(number) < truth + Fraction(10) ** exponent


def said(pattern: str, text: str) -> str:
    """Return the number of a sentence."""
    found = re.search(pattern, text)
    assert found is not None, text
    return found[1].rstrip(".,:")


def named(value: float) -> Fraction:
    """Return the number that states a float: 12 digits."""
    return Fraction(f"{value:.12g}")


@given(epsilons, deltas, st.sampled_from([Discrete(), Line()]))
def test_a_guarantee_of_floats(epsilon: float, delta: float, metric: Discrete | Line) -> None:
    promise = Guarantee(epsilon, metric, delta)
    for text in (str(promise), promise.reading(), readings.needs(promise.record())):
        holds(said(r"^(?:epsilon )?(?:= )?(\S+)", text), named(epsilon))
        holds(said(r"delta (?:= )?(\S+)", text), named(delta))
    holds(said(r", plus (\S+)", promise.in_words()), named(delta))


@given(exact, exact.map(lambda value: value / 601))
def test_a_guarantee_of_exact_numbers(epsilon: Fraction, delta: Fraction) -> None:
    promise = Guarantee.exactly(epsilon, Discrete(), delta)
    assert Fraction(promise.epsilon) >= epsilon
    assert (Fraction(promise.record()["epsilon"]), Fraction(promise.record()["delta"])) == (epsilon, delta)
    holds(said(r"^epsilon (\S+)", promise.reading()), epsilon)
    twice = promise.compose(promise)
    assert twice.stated("epsilon") == 2 * epsilon
    holds(said(r"^epsilon = (\S+)", str(twice)), 2 * epsilon)
    price = totals.price(epsilon, delta)
    holds(said(r"^epsilon (\S+)", price), epsilon)
    holds(said(r"delta (\S+)", price), delta)


@given(st.floats(1e-6, 19) | st.sampled_from([0.1, 1.0, 2.0]))
def test_factors_and_beliefs(epsilon: float) -> None:
    promise = Guarantee(epsilon, Discrete())
    with localcontext() as context:
        context.prec = 60
        factor = Fraction(Decimal(epsilon).exp())
    text = promise.in_words()
    belief = 100 * factor / (factor + 1)
    tiny = Fraction(1, 10**40)  # what Decimal leaves out
    holds(said(r"factor of at most (\S+)", text), factor - tiny, 3)
    holds(said(r"at most (\S+) %", text), belief - tiny)
    shown = totals.belief(Fraction(epsilon), Fraction(0))
    if shown != "practically 100 %":
        holds(shown.removesuffix(" %"), belief - tiny)


@given(exact)
def test_errors_that_are_known_exactly(error: Fraction) -> None:
    assert Fraction(decimals(error)) - Fraction(1, 10**4) < error <= Fraction(decimals(error))
    for text in (figure(error), upward(error)):
        if " " not in text:
            holds(text, error)


def test_a_replaced_number_is_not_stated_as_it_was() -> None:
    from dataclasses import replace

    tenth = Guarantee.exactly(Fraction(1, 10), Discrete(), Fraction(1, 10**6))
    assert replace(tenth, metric=Line()).record()["epsilon"] == "1/10"
    assert Fraction(replace(tenth, epsilon=2.0).record()["epsilon"]) == 2
    assert Fraction(replace(tenth, delta=0.5).record()["delta"]) == Fraction(1, 2)


@pytest.mark.parametrize("value", [0.0, 1.0, 1e-300, math.ulp(0.0)])
def test_the_ends(value: float) -> None:
    holds(said(r"^epsilon (\S+)", Guarantee(value, Discrete()).reading()), named(value))
