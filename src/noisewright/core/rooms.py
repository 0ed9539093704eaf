"""Rooms that can be called: ``nw.release(...)`` is a function, although ``noisewright.release`` is also a package.

Python binds a package to its name in the package above as soon as anything inside it is imported, so the function cannot
simply be put there under the same name. Instead the package itself can be called, and hands the call to the function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["make_callable"]


def make_callable(room: str, home: str, function: str) -> None:
    """Let the package ``room`` be called as ``function`` of its module ``home``, which is imported then."""

    def found() -> Callable[..., Any]:
        called: Callable[..., Any] = getattr(import_module(home), function)
        return called

    class CallableRoom(ModuleType):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return found()(*args, **kwargs)

        @property
        def __signature__(self) -> Any:
            import inspect

            return inspect.signature(found())

    sys.modules[room].__class__ = CallableRoom
