"""Lazy public members of a package, loaded at first use.

A package lists its public names once, as imports for type checkers::

    if TYPE_CHECKING:
        from noisewright.releases.policy.policy import Policy as Policy
    else:
        __getattr__, __dir__ = door(__name__)

At run time the same lines are the table of modules: :func:`door` reads them from the source of the package when a name
is first requested, and imports only the module that has it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = ["door", "homes", "later"]


def door(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package."""

    def getattribute(name: str) -> Any:
        if name == "__all__":
            return sorted(homes(package))
        if name.startswith("__") or name not in homes(package):
            raise AttributeError(f"module {package!r} has no attribute {name!r}{_nearest(name, package)}")
        home, original = homes(package)[name]
        found = import_module(f"{home}.{original}") if home == package else _member(home, original)
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        own = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*own, *homes(package)})

    return getattribute, names


def _nearest(name: str, package: str) -> str:
    """The public name that someone may have meant."""
    from noisewright.core.choices import nearest_name

    if name.startswith("_"):
        return ""
    inside = {one: f"{room}.{one}" for room in reversed(_rooms(package)) for one in homes(room)}
    if name in inside:
        return f"; it is {inside[name]}"
    near = nearest_name(name, [*homes(package), *inside])
    return "" if near is None else f"; did you mean {near if near in homes(package) else inside[near]}?"


def _rooms(package: str) -> list[str]:
    """Return the lazily loading packages that this one shows; modules are not searched, because that would load
    them.
    """
    near = [f"{home}.{one}" for home, one in homes(package).values() if home in (package, f"{package}.core")]
    specs = [find_spec(name) for name in near]
    return [spec.name for spec in specs if spec is not None and spec.submodule_search_locations is not None]


@cache
def homes(package: str) -> dict[str, tuple[str, str]]:
    """Return the public names of a lazily loading package: the module of each, and its name there."""
    import ast

    loader: Any = import_module(package).__loader__
    tree = ast.parse(loader.get_source(package))
    blocks = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    return {
        alias.asname or alias.name: (str(node.module), alias.name)
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


class _Later(ModuleType):
    def __init__(self, module: str, part: str | None) -> None:
        super().__init__(module)
        self._part = part

    def __getattr__(self, name: str) -> Any:
        found = getattr(import_module(self._part), name, None) if self._part else None
        if found is None:
            found = getattr(import_module(self.__name__), name)
        setattr(self, name, found)
        return found


def later(module: str, part: str | None = None) -> Any:
    """A module of someone else's that is slow to load: it is imported when something of it is first asked for.

    ``part``: a module that loads faster and has some of its names, where it is there.

    >>> later("fractions").Fraction(1, 2)
    Fraction(1, 2)
    """
    return _Later(module, part if part and find_spec(part) else None)


def _member(home: str, name: str) -> Any:
    """Return the target of ``from home import name``: an attribute, or a module inside a package."""
    module = import_module(home)
    try:
        return getattr(module, name)
    except AttributeError:
        return import_module(f"{home}.{name}")
