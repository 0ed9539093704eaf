"""Checks that parameters share: one of a few words, a number, an integer, a tolerance.

>>> @guided
... def noise(*, epsilon, within=None):
...     return epsilon
>>> noise(1)
Traceback (most recent call last):
noisewright.exceptions.ParameterError: noise takes its parameters by name; write noise(epsilon=1).
>>> noise(epsilon=1, lower=0)
Traceback (most recent call last):
noisewright.exceptions.ParameterError: noise has no parameter 'lower'; write the range as within=(low, high).
>>> noise(eps=1)
Traceback (most recent call last):
noisewright.exceptions.ParameterError: noise has no parameter 'eps'; did you mean epsilon?
>>> noise()
Traceback (most recent call last):
noisewright.exceptions.ParameterError: noise needs epsilon; write noise(epsilon=1).
"""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, Literal, ParamSpec, TypeGuard, TypeVar

from noisewright.exceptions import ParameterError

__all__ = [
    "OutputFormat",
    "as_slack",
    "as_tolerance",
    "did_you_mean",
    "fields_alone",
    "guided",
    "is_number",
    "is_whole",
    "meant",
    "nearest_name",
    "one_of",
    "printable",
    "toml_key",
]


def fields_alone(made: Any) -> dict[str, Any]:
    """Return the fields of a dataclass for pickling, without cached values.

    A class says ``__getstate__ = fields_alone``; the rest is made again where it is used.
    """
    return {field.name: getattr(made, field.name) for field in fields(made)}


def printable(text: str, keep: str = "") -> str:
    """Text with control characters written out: names come from files, and a terminal obeys what it is sent."""
    return text if text.isprintable() else "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)


OutputFormat = Literal["parquet", "csv", "csv.gz", "csv.zst", "arrow", "xlsx"]


def one_of(value: object, name: str, allowed: Sequence[str]) -> str:
    """The value, if it is one of the allowed words; ``name`` is the parameter's, for the message.

    >>> one_of("clamp", "outside", ("refuse", "clamp"))
    'clamp'
    >>> one_of(3, "outside", ("refuse", "clamp"))
    Traceback (most recent call last):
    noisewright.exceptions.ParameterError: outside must be 'refuse' or 'clamp', not a thing of type int.
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


# Guided -------------------------------------------------------------------------------------------------------------------
#
# Constructors that answer a call in other words than theirs with the right ones, in one sentence.


P = ParamSpec("P")
R = TypeVar("R")

ENDS = {
    "lower",
    "upper",
    "low",
    "high",
    "min",
    "max",
    "bounds",
    "range",
    "lower_bound",
    "upper_bound",
    "clip",
    "interval",
}
"""Names of the ends of a range in other libraries."""
SCALES = {"scale", "b"}
"""Names of the width of Laplace noise in other libraries."""
MEANT = {
    "eps": "epsilon",
    "privacy_budget": "epsilon",
    "budget": "epsilon",
    "sens": "sensitivity",
    "l1_sensitivity": "sensitivity",
    "labels": "categories",
    "values": "categories",
    "choices": "categories",
    "domain": "categories",
    "options": "categories",
    "distance": "metric",
    "level": "epsilon",
    "protect": "radius",
    "out": "output",
    "folder": "output",
    "path": "output",
    "overwrite": "replace",
    "force": "replace",
    "output_format": "format",
    "random_state": "seed",
    "rng": "seed",
    "df": "data",
    "table": "data",
    "default": "fill",
    "fillna": "fill",
    "unknown": "other",
}
EXAMPLES = {
    "epsilon": "epsilon=1",
    "categories": "['yes', 'no']",
    "delta": "delta=1e-6",
    "radius": "radius=500",
    "policy": "'policy.toml'",
    "data": "'visits.csv'",
    "reports": "reports",
    "mechanism": "mechanism",
    "thing": "'released'",
}


def guided(make: Callable[P, R]) -> Callable[P, R]:
    """Return the same constructor; a call that does not fit its parameters is a :class:`ParameterError` that names the
    ones that would.
    """
    signature = inspect.signature(make)

    @functools.wraps(make)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            raise ParameterError(_sentence(make.__name__, signature, args, kwargs)) from None
        return make(*args, **kwargs)

    return called


def meant(given: str, known: Sequence[str]) -> str | None:
    """Return the parameter that someone means by a name of another library, or by one that is much like it; None if no
    parameter fits.

    >>> meant("upper", ["within", "outside"]), meant("labels", ["categories"]), meant("epsilom", ["epsilon"])
    ('within', 'categories', 'epsilon')
    """
    guess = "within" if given in ENDS else MEANT.get(given)
    return guess if guess in known else nearest_name(given, known)


def _sentence(name: str, signature: inspect.Signature, args: tuple[object, ...], kwargs: dict[str, object]) -> str:
    known = signature.parameters
    for given in kwargs:
        if given not in known:
            if given in ENDS and "within" in known:
                return f"{name} has no parameter {given!r}; write the range as within=(low, high)."
            if given in SCALES and "sensitivity" in known:
                call = f"{name}(epsilon=1, sensitivity=1)"
                return f"{name} has no parameter {given!r}, which is sensitivity / epsilon; write {call}."
            near = meant(given, list(known))
            hint = f"did you mean {near}?" if near else f"it takes {', '.join(known)}."
            return f"{name} has no parameter {given!r}; {hint}"
    positional = [p.name for p in known.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p.name for p in known.values() if p.default is p.empty]
    call = ", ".join(_example(one, one in positional) for one in needed) or "epsilon=1"
    if len(args) > len(positional):
        return f"{name} takes its parameters by name; write {name}({call})."
    missing = [one for one in needed if one not in kwargs and one not in positional[: len(args)]]
    if missing:
        return f"{name} needs {' and '.join(missing)}; write {name}({call})."
    return f"{name} was given a parameter twice; write {name}({call})."


def _example(name: str, positional: bool) -> str:
    return EXAMPLES.get(name, f"{name}=...") if not positional else EXAMPLES.get(name, "...")
