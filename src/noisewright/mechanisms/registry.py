"""The registry: one line for each mechanism. The command line, policies and reports read it; nothing else lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from noisewright.core.errors import ParameterError
from noisewright.core.mechanism import Mechanism
from noisewright.mechanisms.categories.exponential import exponential
from noisewright.mechanisms.categories.fair import explicit_fair
from noisewright.mechanisms.categories.realising import metric_realising
from noisewright.mechanisms.categories.response import randomised_response
from noisewright.mechanisms.categories.selection import selection
from noisewright.mechanisms.categories.uniform import uniform
from noisewright.mechanisms.numbers.approximate import approximate_laplace
from noisewright.mechanisms.numbers.gaussian import gaussian
from noisewright.mechanisms.numbers.geometric import geometric
from noisewright.mechanisms.numbers.laplace import laplace
from noisewright.mechanisms.numbers.snapped import snapped_laplace
from noisewright.mechanisms.numbers.staircase import staircase
from noisewright.mechanisms.numbers.truncated import truncated_laplace
from noisewright.mechanisms.oracles.hadamard import hadamard_response
from noisewright.mechanisms.oracles.local_hashing import local_hashing
from noisewright.mechanisms.oracles.subset import subset_selection
from noisewright.mechanisms.oracles.unary import unary_encoding
from noisewright.mechanisms.places.curves import curve
from noisewright.mechanisms.places.geography import geo_laplace
from noisewright.mechanisms.places.planar import planar_laplace
from noisewright.mechanisms.places.planar_geometric import planar_geometric
from noisewright.mechanisms.places.vectors import product_laplace, spherical_laplace

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
register("laplace", laplace, secrets="numbers", summary="Laplace noise that stays inside any feasible set, exact")
register("exponential", exponential, secrets="points", summary="near outputs likelier, calibrated to its true epsilon")
register("selection", selection, secrets="scores", summary="picks a candidate by its score: the exponential mechanism")
register("metric-realising", metric_realising, secrets="points", summary="realises any finite metric exactly")
register(
    "planar-laplace", planar_laplace, secrets="points of a plane", summary="private for the straight-line distance"
)
register(
    "planar-geometric",
    planar_geometric,
    secrets="public places",
    summary="planar noise on a finite grid or list of places",
)
register(
    "geo-laplace", geo_laplace, secrets="latitude, longitude", summary="places within a radius in metres look alike"
)
register(
    "spherical-laplace", spherical_laplace, secrets="vectors", summary="Euclidean noise in n dimensions, in floats"
)
register(
    "product-laplace",
    product_laplace,
    secrets="vectors",
    summary="exact noise on each coordinate, for the Manhattan metric",
)
register(
    "curve", curve, secrets="curves on a grid", summary="lattice noise on every point, a guarantee for the function"
)
register("snapped-laplace", snapped_laplace, secrets="numbers", summary="Laplace noise, then the nearest valid number")
register("staircase", staircase, secrets="numbers", summary="the additive noise with the least expected error")
register("gaussian", gaussian, secrets="numbers", summary="discrete Gaussian noise for epsilon and delta")
register("approximate-laplace", approximate_laplace, secrets="numbers", summary="Laplace noise for epsilon and delta")
register(
    "truncated-laplace",
    truncated_laplace,
    secrets="numbers",
    summary="Laplace noise clamped to an interval, for all pairs",
)
register("explicit-fair", explicit_fair, secrets="counts", summary="every count keeps its value equally often")
register("uniform", uniform, secrets="categories", summary="any output with equal probability: the baseline")
register("unary-encoding", unary_encoding, secrets="categories", summary="one private bit for each category")
register("local-hashing", local_hashing, secrets="categories", summary="a private answer about one's own hash function")
register("subset-selection", subset_selection, secrets="categories", summary="a set that holds the truth rather often")
register(
    "hadamard-response", hadamard_response, secrets="categories", summary="one short number from a Hadamard matrix"
)
