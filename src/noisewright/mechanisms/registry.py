"""The registry: one line for each mechanism. The command line, policies and reports read it; nothing else lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from noisewright.core.errors import ParameterError
from noisewright.core.mechanism import Mechanism
from noisewright.mechanisms.exponential import exponential
from noisewright.mechanisms.geometric import geometric
from noisewright.mechanisms.realising import metric_realising
from noisewright.mechanisms.response import randomised_response

__all__ = ["Entry", "build", "names", "register", "registry"]


@dataclass(frozen=True)
class Entry:
    """A mechanism in the registry: its constructor, what it is for, and the kind of secrets it takes."""

    name: str
    constructor: Callable[..., Mechanism]
    secrets: str
    summary: str


registry: dict[str, Entry] = {}


def register(name: str, constructor: Callable[..., Mechanism], *, secrets: str, summary: str) -> None:
    """Add a mechanism; a name can be taken once."""
    if name in registry:
        raise ParameterError(f"a mechanism called {name!r} is registered already; choose another name.")
    registry[name] = Entry(name, constructor, secrets, summary)


def build(name: str, *args: Any, **parameters: Any) -> Mechanism:
    """A mechanism by its registered name."""
    if name not in registry:
        raise ParameterError(f"there is no mechanism called {name!r}; choose one of {', '.join(names())}.")
    return registry[name].constructor(*args, **parameters)


def names() -> list[str]:
    """All registered names, in alphabetical order."""
    return sorted(registry)


register("geometric", geometric, secrets="whole numbers", summary="integer noise, unbounded or clamped to a range")
register("randomised-response", randomised_response, secrets="categories", summary="keep the truth or report at random")
register("exponential", exponential, secrets="points", summary="near outputs likelier, calibrated to its true epsilon")
register("metric-realising", metric_realising, secrets="points", summary="realises any finite metric exactly")
