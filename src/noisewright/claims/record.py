"""Conditions of a claim as Python objects: a code of the phrase table, with parameters.

>>> Condition("seed-failure", probability="1/1000").phrase
'unless the public seed is unlucky (probability 0.001)'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from noisewright.claims import phrases

__all__ = ["Condition", "all_of"]


class Condition:
    """Something under which a claim holds: a code and its parameters; equal conditions compare and hash equal.

    Parameters
    ----------
    code : str
        A code of the phrase table, such as ``"not-a-training-record"``.
    **parameters : str, int or None
        The parameters of that code; numbers are given exactly, as text.
    """

    __slots__ = ("_items", "code")

    def __init__(self, code: str, **parameters: Any) -> None:
        if code not in phrases.BOUNDARY:
            raise ValueError(f"there is no condition {code!r}; choose one of {', '.join(phrases.BOUNDARY)}.")
        self.code = code
        self._items = tuple(sorted(parameters.items()))
        phrases.boundary(self.record())

    def record(self) -> dict[str, Any]:
        """Return the condition as plain data."""
        return {"code": self.code, **dict(self._items)}

    @property
    def phrase(self) -> str:
        """The condition in English."""
        return phrases.boundary(self.record())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and self.record() == other.record()

    def __hash__(self) -> int:
        return hash((self.code, self._items))

    def __repr__(self) -> str:
        return f"Condition({', '.join([repr(self.code), *(f'{name}={value!r}' for name, value in self._items)])})"


def all_of(*several: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return all conditions of several claims, each once."""
    return tuple(dict.fromkeys(one for conditions in several for one in conditions))


def read(record: Mapping[str, Any]) -> Condition:
    """Return the condition of a record."""
    return Condition(record["code"], **{name: value for name, value in record.items() if name != "code"})
