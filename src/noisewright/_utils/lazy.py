"""Public names of packages, which are loaded when they are first asked for (PEP 562), and addresses of things.

A package lists its public names twice, for type checkers and for Python; a test compares both::

    if TYPE_CHECKING:
        from noisewright.policy.policy import Policy as Policy
    else:
        __getattr__, __dir__, __all__ = attach(__name__, {"Policy": "policy"})

The table says in which module below the package a name is; ``"policy:Other"`` where it has another name there, and
``"policy:"``
for the module itself.

An address is ``"package.module:NAME"``. Noisewright has its own; other packages add theirs by entry points of a group,
and a program adds things that live only as long as it does. Two providers of one name are an error, never a silent
choice: it is raised to anyone who requests that name, and listed for anyone who lists all (:attr:`Addresses.problems`).
The names of others, and Noisewright's own, are found all the same.

>>> Addresses("noisewright.examples", "example", {"pi": "math:pi"}).load("pi")
3.141592653589793
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from noisewright.exceptions import ParameterError

__all__ = ["Addresses", "attach", "homes", "later"]


_TABLES: dict[str, Mapping[str, str]] = {}


def attach(package: str, table: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package."""
    _TABLES[package] = table

    def getattribute(name: str) -> Any:
        if name not in table:
            raise AttributeError(f"module {package!r} has no attribute {name!r}{_nearest(name, package)}")
        module, colon, member = table[name].partition(":")
        found = import_module(f"{package}.{module}")
        if not colon or member:
            found = getattr(found, member or name)
        setattr(sys.modules[package], name, found)
        return found

    def names() -> list[str]:
        own = (name for name in vars(sys.modules[package]) if name.startswith("__"))
        return sorted({*own, *table})

    return getattribute, names, sorted(table)


def _nearest(name: str, package: str) -> str:
    """The public name that somebody may have meant."""
    from noisewright._utils.validation import nearest_name

    if name.startswith("_"):
        return ""
    inside = {one: f"{room}.{one}" for room in reversed(_below(package)) for one in homes(room)}
    if name in inside:
        return f"; it is {inside[name]}"
    near = nearest_name(name, [*homes(package), *inside])
    return "" if near is None else f"; did you mean {near if near in homes(package) else inside[near]}?"


def _below(package: str) -> list[str]:
    """The packages that a package shows; none is looked for inside modules, which would load them."""
    near = [f"{home}.{one}" for home, one in homes(package).values() if home == package]
    specs = [find_spec(name) for name in near]
    return [spec.name for spec in specs if spec is not None and spec.submodule_search_locations is not None]


def homes(package: str) -> dict[str, tuple[str, str]]:
    """The public names of a package: the module of each, and what it is called there."""
    import_module(package)
    found = {}
    for name, place in _TABLES.get(package, {}).items():
        module, colon, member = place.partition(":")
        full = f"{package}.{module}"
        found[name] = (full, member or name) if not colon or member else tuple(full.rsplit(".", 1))
    return found  # type: ignore[return-value]


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


# Addresses ----------------------------------------------------------------------------------------------------------------
#
# Tables of addresses: things that are found by name and imported when they are first asked for.


OWN = "noisewright"
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
"""Pattern of a name."""


class Addresses:
    """Names and their targets; ``group`` is the group of the entry points, ``what`` is the word for one of them in
    messages.
    """

    def __init__(self, group: str, what: str, own: Mapping[str, str]) -> None:
        self.group, self.what = group, what
        self._own = dict(own)
        self._added: dict[str, Any] = {}
        self._foreign: dict[str, Any] | None = None
        self._problems: dict[str, str] = {}
        self._loaded: dict[str, Any] = {}

    @property
    def own(self) -> tuple[str, ...]:
        """Noisewright's own names, in their order; no other package is asked."""
        return tuple(self._own)

    @property
    def problems(self) -> tuple[str, ...]:
        """Problems of the offers of other packages, in a sentence for each name that is not found because of them."""
        return tuple(self._problems.values()) if self._entry_points is not None else ()

    def load(self, name: str) -> Any:
        """Return the target of a name; raise :class:`KeyError` for a name that no package offers."""
        if name in self._added:
            return self._added[name]
        if name not in self._loaded:
            self._loaded[name] = self._own_thing(name) if name in self._own else self._foreign_thing(name)
        return self._loaded[name]

    def add(self, name: str, thing: Any) -> None:
        """Offer something for the rest of this process."""
        if name in self:
            raise ParameterError(f"a {self.what} called {name!r} is registered already; choose another name.")
        self._added[name] = thing

    def remove(self, name: str) -> None:
        """Take back what :meth:`add` offered."""
        self._added.pop(name, None)

    def provider(self, name: str) -> str:
        """Return who offers a name: a distribution with its version, or this program."""
        if name in self._own:
            return OWN
        if name in self._added:
            return "this program"
        distribution = self._point(name).dist
        return f"{distribution.name} {distribution.version}" if distribution is not None else "an unknown package"

    def foreign(self, names: Iterable[str]) -> dict[str, str]:
        """Return the names that others offer, and their providers."""
        return {name: self.provider(name) for name in sorted(names) if name in self and name not in self._own}

    def __contains__(self, name: object) -> bool:
        """Return whether a request for a name makes sense: also where the answer is an error."""
        return name in self._own or name in self._added or name in self._entry_points or name in self._problems

    def __iter__(self) -> Iterator[str]:
        yield from (*self._own, *self._entry_points, *self._added)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _own_thing(self, name: str) -> Any:
        module, _, member = self._own[name].partition(":")
        return getattr(import_module(module), member)

    def _foreign_thing(self, name: str) -> Any:
        point = self._point(name)
        try:
            return point.load()
        except (Exception, SystemExit) as problem:
            raise ParameterError(
                f"the {self.what} {name!r} of {self.provider(name)} cannot be loaded ({type(problem).__name__}); repair or "
                "remove that package."
            ) from problem

    def _point(self, name: str) -> Any:
        """The entry point of a name."""
        found = self._entry_points.get(name)
        if found is None and name in self._problems:
            raise ParameterError(self._problems[name])
        return self._entry_points[name]

    @property
    def _entry_points(self) -> dict[str, Any]:
        """Offers of other packages, by name; offers that are not possible go to the problems."""
        if self._foreign is None:
            from importlib.metadata import entry_points

            found: dict[str, list[Any]] = {}
            for point in entry_points(group=self.group):
                found.setdefault(point.name, []).append(point)
            for name, points in found.items():
                if not re.fullmatch(NAME, name):
                    self._problems[name] = (
                        f"{_name(points[0])} offers a {self.what} with a name that nobody can type; use letters, digits, '-', "
                        "'_' and '.'."
                    )
                elif name in self._own or len({point.value for point in points}) > 1:
                    providers = sorted({*map(_name, points), *([OWN] if name in self._own else [])})
                    self._problems[name] = (
                        f"two packages offer a {self.what} called {name!r}: {' and '.join(providers)}; remove one of them."
                    )
            self._foreign = {name: points[0] for name, points in found.items() if name not in self._problems}
        return self._foreign


def _name(point: Any) -> str:
    return str(getattr(point.dist, "name", "?"))
