"""Parameters of the constructor of a mechanism, read from its signature; policies and the command line are made from
them.

>>> from noisewright.mechanisms.categories.response import randomised_response
>>> list(parameters_of(randomised_response)), sorted(map(str, plain_types(hints_of(randomised_response)["epsilon"])))[0]
(['categories', 'epsilon'], "<class 'float'>")
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from noisewright.core.resource import Resource
from noisewright.core.seed import Seed

__all__ = ["hints_of", "is_choice", "parameters_of", "plain_types", "public_parts"]


def parameters_of(constructor: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters by name, without ``*args`` and ``**kwargs``."""
    return {
        name: parameter
        for name, parameter in inspect.signature(constructor).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }


def hints_of(constructor: Callable[..., Any], described: bool = False) -> dict[str, Any]:
    """Return the types of the parameters, ``described`` with their annotations.

    The return type may be one that is only imported for type checkers.
    """
    if isinstance(constructor, type):
        return hints_of(constructor.__init__, described)  # type: ignore[misc]
    constructor = inspect.unwrap(constructor)  # its annotations name members of its own module
    named = {key: hint for key, hint in getattr(constructor, "__annotations__", {}).items() if key != "return"}
    try:
        holder = types.SimpleNamespace(__annotations__=named)
        return typing.get_type_hints(holder, globalns=getattr(constructor, "__globals__", {}), include_extras=described)
    except (NameError, TypeError):
        return {}


def is_choice(hint: Any) -> bool:
    """Return whether a type is a list of words."""
    return typing.get_origin(hint) is typing.Literal


def plain_types(hint: Any) -> set[Any]:
    """The plain types that a type is made of."""
    parts = () if is_choice(hint) else typing.get_args(hint)
    return set().union(*map(plain_types, parts)) if parts else {hint if isinstance(hint, type) else None}


def public_parts(constructor: Callable[..., Any], kind: type[Resource] | type[Seed]) -> frozenset[str]:
    """Return the parameters that are public files, or public seeds, by their annotations, perhaps with None.

    >>> def lookup(table: Resource, key: Seed | None = None, size: int = 3) -> None: ...
    >>> public_parts(lookup, Resource), public_parts(lookup, Seed)
    (frozenset({'table'}), frozenset({'key'}))
    """
    return frozenset(name for name, hint in hints_of(constructor).items() if kind in plain_types(hint))
