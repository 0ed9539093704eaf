"""Constructors that answer a call in other words than theirs with the right ones, in one sentence.

>>> @guided
... def noise(*, epsilon, within=None):
...     return epsilon
>>> noise(1)
Traceback (most recent call last):
noisewright.core.errors.ParameterError: noise takes its parameters by name; write noise(epsilon=1).
>>> noise(epsilon=1, lower=0)
Traceback (most recent call last):
noisewright.core.errors.ParameterError: noise has no parameter 'lower'; write the range as within=(low, high).
>>> noise(eps=1)
Traceback (most recent call last):
noisewright.core.errors.ParameterError: noise has no parameter 'eps'; did you mean epsilon?
>>> noise()
Traceback (most recent call last):
noisewright.core.errors.ParameterError: noise needs epsilon; write noise(epsilon=1).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from noisewright.core.choices import nearest_name
from noisewright.core.errors import ParameterError

__all__ = ["guided", "meant"]

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
