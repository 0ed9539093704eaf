"""Checks that parameters share: one of a few words, a number, an integer, a tolerance."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import TypeGuard

from noisewright.core.errors import ParameterError

__all__ = ["as_slack", "as_tolerance", "did_you_mean", "is_number", "is_whole", "nearest_name", "one_of", "toml_key"]


def one_of(value: object, name: str, allowed: Sequence[str]) -> str:
    """The value, if it is one of the allowed words; ``name`` is the parameter's, for the message.

    >>> one_of("clamp", "outside", ("refuse", "clamp"))
    'clamp'
    >>> one_of(3, "outside", ("refuse", "clamp"))
    Traceback (most recent call last):
    noisewright.core.errors.ParameterError: outside must be 'refuse' or 'clamp', not a thing of type int.
    """
    if isinstance(value, str):  # first of all: an array would be compared entry by entry
        if value in allowed:
            return value
        shown = repr(value) if len(value) <= 40 else f"{value[:40]!r}..."
    else:
        shown = "None" if value is None else f"a thing of type {type(value).__name__}"
    words = [repr(word) for word in allowed]
    raise ParameterError(f"{name} must be {', '.join(words[:-1])} or {words[-1]}, not {shown}.")


def did_you_mean(given: str, known: Sequence[str]) -> str:
    """The known word that is most like a word, or all of them.

    >>> did_you_mean("randomized_response", ["laplace", "randomised-response"])
    'did you mean randomised-response?'
    """
    near = nearest_name(given, known)
    return f"choose one of {', '.join(known)}" if near is None else f"did you mean {near}?"


def nearest_name(given: str, known: Sequence[str]) -> str | None:
    """The known word that is most like a word, blanks, cases and strokes aside; None if none is."""
    from difflib import get_close_matches

    plain = {_plain(word): word for word in reversed(known)}
    near = get_close_matches(_plain(given[:100]), plain, n=1, cutoff=0.6)
    return plain[near[0]] if near else None


def toml_key(name: str) -> str:
    """A name as a key of a TOML file, in quotation marks where it needs them.

    >>> toml_key("age"), toml_key("last visit")
    ('age', '"last visit"')
    """
    plain = name.isascii() and name.replace("_", "a").replace("-", "a").isalnum()
    return name if plain else '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _plain(word: str) -> str:
    return word.strip().lower().replace("_", "-")


def is_number(value: object) -> TypeGuard[float]:
    """Return whether this is a real number, of Python, of NumPy or a fraction; a truth value is none."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether this is an integer, of Python or of NumPy; a truth value is none.

    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


LARGEST = 1e-3
"""A larger tolerance would hide the answer."""


def as_tolerance(tolerance: object) -> float:
    """A tolerance, checked.

    >>> as_tolerance(1e-9)
    1e-09
    """
    if not is_number(tolerance) or not 0 < tolerance <= LARGEST:
        raise ParameterError("tolerance must be a number above 0 and at most 0.001.")
    return float(tolerance)


def as_slack(slack: object, refusal: str) -> float:
    """Validate a tolerance from 0 (not at all) to below 1; anything else is rejected in these words.

    >>> as_slack(0, "the slack is a number from 0 to below 1.")
    0.0
    """
    if not is_number(slack) or not 0 <= slack < 1:
        raise ParameterError(refusal)
    return float(slack)
