"""Checks of the input of a ledger, and its message when a budget does not suffice.

Names of datasets must look as different as they are: anyone who reads a ledger must not take two for one, nor spend one
budget twice under names that look alike.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from fractions import Fraction

from noisewright.core.errors import ParameterError
from noisewright.core.exact import LARGEST_SPELLED, as_fraction, positive_fraction, upward
from noisewright.releases.ledger import _units as ledger_units
from noisewright.releases.ledger._neighbours import stored
from noisewright.releases.ledger.records import Balance, Charge, Protected, Terms, downward

__all__ = ["amount", "check_name", "check_text", "checked", "checked_terms", "refusal"]

LONGEST_NAME = 1000
LOOKALIKES = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "COPTIC", "CHEROKEE", "LISU", "GEORGIAN")
"""Scripts with letters that look the same; a name has letters of one of them at most."""
INVISIBLE = (
    "VARIATION SELECTOR",
    "COMBINING GRAPHEME JOINER",
    "FILLER",
    "KHMER VOWEL INHERENT",
    "BRAILLE PATTERN BLANK",
)


def check_name(value: object, what: str = "the name of a dataset") -> None:
    """Refuse names that could be taken for another one."""
    check_text(value, what)
    assert isinstance(value, str)
    if value != " ".join(value.split()):
        raise ParameterError(f"{what}, {value!r}, begins or ends with a blank or has two in a row; leave it out.")
    if unicodedata.normalize("NFKC", value) != value:
        raise ParameterError(
            f"{what}, {value!a}, has characters that can be written in several ways; write it in its usual form (Unicode NFKC)."
        )
    names = [unicodedata.name(character, "") for character in value]
    if any(name.startswith(INVISIBLE) or name.endswith(INVISIBLE) for name in names):
        raise ParameterError(f"{what}, {value!a}, has an invisible character; leave it out.")
    scripts = sorted({script for script in LOOKALIKES for name in names if name.startswith(f"{script} ")})
    if len(scripts) > 1:
        raise ParameterError(
            f"{what}, {value!a}, mixes letters of several scripts ({', '.join(map(str.capitalize, scripts))}) that look alike; "
            "use letters of one."
        )


def checked_terms(terms: Terms) -> tuple[Fraction, Fraction]:
    """The epsilon and delta of a budget, exactly."""
    check_text(stored(terms.between), "the description of the neighbours")
    if terms.scope not in ("dataset", "unit"):
        raise ParameterError(f"the scope of a ledger is dataset or unit, not {terms.scope!r}.")
    epsilon = positive_fraction(terms.epsilon, "the epsilon of the budget")
    delta = _at_least_zero(terms.delta, "the delta of the budget")
    if delta >= 1:
        raise ParameterError("the delta of the budget must be below 1: with 1, nothing at all is promised.")
    if terms.scope == "unit":
        ledger_units.check_budget(epsilon)
    return epsilon, delta


def checked(item: Charge) -> Charge:
    """A charge with exact numbers."""
    check_text(item.name, "the name of a part")
    epsilon = _at_least_zero(item.epsilon, f"the epsilon of {item.name}")
    delta = _at_least_zero(item.delta, f"the delta of {item.name}")
    return replace(item, epsilon=epsilon, delta=delta, protected=_checked_distance(item.name, item.protected))


def _checked_distance(name: str, protected: Protected | None) -> Protected | None:
    if protected is None or protected.distance is None:
        return protected
    distance = _at_least_zero(protected.distance, f"the protected distance of {name}")
    if not distance:
        raise ParameterError(f"the protected distance of {name} must be above 0.")
    return replace(protected, distance=distance)


def refusal(balance: Balance, epsilon: Fraction, delta: Fraction) -> str:
    """A release that does not fit, in one sentence."""
    advice = (
        "ask for less, or raise the budget, which is recorded: write a larger one into the policy, and say raise_budget=True, "
        "--raise-budget."
    )
    if epsilon > balance.left_epsilon:
        return (
            f"this release asks for epsilon {upward(epsilon)}, but only {downward(balance.left_epsilon)} of the budget of "
            f"{upward(balance.epsilon)} for {balance.dataset!r} is left; {advice}"
        )
    return (
        f"this release asks for delta {upward(delta)}, but only {downward(balance.left_delta)} of the budget of "
        f"{upward(balance.delta)} for {balance.dataset!r} is left; {advice}"
    )


def amount(epsilon: Fraction, delta: Fraction) -> str:
    """A privacy cost or a budget in words."""
    return f"epsilon {upward(epsilon)}" + (f" and delta {upward(delta)}" if delta else "")


def _at_least_zero(value: object, name: str) -> Fraction:
    number = as_fraction(value, name)
    if number < 0:
        raise ParameterError(f"{name} must be at least 0.")
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > LARGEST_SPELLED:
        raise ParameterError(f"{name} is far too long or too large a number; write it like 0.5 or 1/2.")
    return number


def check_text(value: object, what: str) -> None:
    """Refuse anything except a short printable text."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_NAME or not value.isprintable():
        raise ParameterError(f"{what} must be text of 1 to {LONGEST_NAME} printable characters.")
