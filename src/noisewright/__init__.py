"""Noisewright designs, proves, compares and runs privacy mechanisms.

>>> import noisewright as nw
>>> count = nw.geometric(epsilon=1, within=(0, 100))
>>> 0 <= count.release(42) <= 100
True
>>> nw.audit(count).value <= 1.0000001
True
>>> count.certificate().verify()
'epsilon = 1 per unit of line'
"""

from importlib import import_module
from typing import TYPE_CHECKING

from noisewright.core.errors import NoisewrightError
from noisewright.core.version import VERSION

if TYPE_CHECKING:
    from noisewright import unsafe
    from noisewright.core.audit import Audit
    from noisewright.core.certificate import Certificate
    from noisewright.core.channel import Channel
    from noisewright.core.compose import Accountant
    from noisewright.core.guarantee import Guarantee
    from noisewright.core.mechanism import Mechanism
    from noisewright.core.metric import (
        Angular,
        Discrete,
        EarthMovers,
        Euclidean,
        Hamming,
        Line,
        Manhattan,
        Metric,
        Table,
    )
    from noisewright.core.metric_algebra import Product
    from noisewright.estimate.population import estimate
    from noisewright.estimate.survey import survey
    from noisewright.files import load, save
    from noisewright.leakage.compare import compare
    from noisewright.leakage.gains import Gain
    from noisewright.leakage.replacement import safe_replacement
    from noisewright.leakage.vulnerability import leakage
    from noisewright.mechanisms.approximate import approximate_laplace
    from noisewright.mechanisms.auditing import audit
    from noisewright.mechanisms.continuum import truncated_laplace
    from noisewright.mechanisms.exponential import exponential
    from noisewright.mechanisms.fair import explicit_fair
    from noisewright.mechanisms.finite import mechanism
    from noisewright.mechanisms.functional import curve
    from noisewright.mechanisms.gaussian import gaussian
    from noisewright.mechanisms.geography import geo_laplace
    from noisewright.mechanisms.geometric import geometric
    from noisewright.mechanisms.hadamard import hadamard_response
    from noisewright.mechanisms.laplace import laplace
    from noisewright.mechanisms.local_hashing import local_hashing
    from noisewright.mechanisms.planar import planar_laplace
    from noisewright.mechanisms.planar_geometric import planar_geometric
    from noisewright.mechanisms.realising import metric_realising
    from noisewright.mechanisms.remap import Grid, Polygon
    from noisewright.mechanisms.response import randomised_response
    from noisewright.mechanisms.sanitise import OutputPerturbation, SanitisedDatabase, sanitise
    from noisewright.mechanisms.selection import selection
    from noisewright.mechanisms.snapped import snapped, snapped_laplace
    from noisewright.mechanisms.spherical import product_laplace, spherical_laplace
    from noisewright.mechanisms.staircase import staircase
    from noisewright.mechanisms.subset import subset_selection
    from noisewright.mechanisms.unary import unary_encoding
    from noisewright.mechanisms.uniform import uniform
    from noisewright.optimal.design import optimal
    from noisewright.optimal.losses import Loss
    from noisewright.optimal.priors import Prior
    from noisewright.optimal.utility import compare_utility
    from noisewright.release.policy import Policy
    from noisewright.release.run import Release, release

__version__ = VERSION

__all__ = [
    "Accountant",
    "Angular",
    "Audit",
    "Certificate",
    "Channel",
    "Discrete",
    "EarthMovers",
    "Euclidean",
    "Gain",
    "Grid",
    "Guarantee",
    "Hamming",
    "Line",
    "Loss",
    "Manhattan",
    "Mechanism",
    "Metric",
    "NoisewrightError",
    "OutputPerturbation",
    "Policy",
    "Polygon",
    "Prior",
    "Product",
    "Release",
    "SanitisedDatabase",
    "Table",
    "approximate_laplace",
    "audit",
    "compare",
    "compare_utility",
    "curve",
    "estimate",
    "explicit_fair",
    "exponential",
    "gaussian",
    "geo_laplace",
    "geometric",
    "hadamard_response",
    "laplace",
    "leakage",
    "load",
    "local_hashing",
    "mechanism",
    "metric_realising",
    "optimal",
    "planar_geometric",
    "planar_laplace",
    "product_laplace",
    "randomised_response",
    "release",
    "safe_replacement",
    "sanitise",
    "save",
    "selection",
    "snapped",
    "snapped_laplace",
    "spherical_laplace",
    "staircase",
    "subset_selection",
    "survey",
    "truncated_laplace",
    "unary_encoding",
    "uniform",
    "unsafe",
]

# What each module offers here. It is imported when one of its names is first asked for: all of them at once would take a
# second, for scipy and pyarrow, and nobody needs all of them.
_OFFERS = {
    "core.audit": "Audit",
    "core.certificate": "Certificate",
    "core.channel": "Channel",
    "core.compose": "Accountant",
    "core.guarantee": "Guarantee",
    "core.mechanism": "Mechanism",
    "core.metric": "Angular Discrete EarthMovers Euclidean Hamming Line Manhattan Metric Table",
    "core.metric_algebra": "Product",
    "estimate.survey": "survey",
    "files": "load save",
    "leakage.compare": "compare",
    "leakage.gains": "Gain",
    "leakage.replacement": "safe_replacement",
    "mechanisms.approximate": "approximate_laplace",
    "mechanisms.auditing": "audit",
    "mechanisms.continuum": "truncated_laplace",
    "mechanisms.exponential": "exponential",
    "mechanisms.fair": "explicit_fair",
    "mechanisms.finite": "mechanism",
    "mechanisms.functional": "curve",
    "mechanisms.gaussian": "gaussian",
    "mechanisms.geography": "geo_laplace",
    "mechanisms.geometric": "geometric",
    "mechanisms.hadamard": "hadamard_response",
    "mechanisms.laplace": "laplace",
    "mechanisms.local_hashing": "local_hashing",
    "mechanisms.planar": "planar_laplace",
    "mechanisms.planar_geometric": "planar_geometric",
    "mechanisms.realising": "metric_realising",
    "mechanisms.remap": "Grid Polygon",
    "mechanisms.response": "randomised_response",
    "mechanisms.sanitise": "OutputPerturbation SanitisedDatabase sanitise",
    "mechanisms.selection": "selection",
    "mechanisms.snapped": "snapped snapped_laplace",
    "mechanisms.spherical": "product_laplace spherical_laplace",
    "mechanisms.staircase": "staircase",
    "mechanisms.subset": "subset_selection",
    "mechanisms.unary": "unary_encoding",
    "mechanisms.uniform": "uniform",
    "optimal.losses": "Loss",
    "optimal.priors": "Prior",
    "optimal.utility": "compare_utility",
    "release.policy": "Policy",
    "release.run": "Release",
}
_ROOMS = ("estimate", "leakage", "optimal", "release")
"""Packages that can be called themselves; see :mod:`noisewright.core.rooms`."""

_HOMES = {name: f"noisewright.{module}" for module, names in _OFFERS.items() for name in names.split()}


if not TYPE_CHECKING:  # a type checker would take any name for one that is there

    def __getattr__(name):
        if name == "unsafe" or name in _ROOMS:
            return import_module(f"noisewright.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
