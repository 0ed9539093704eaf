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

from noisewright import unsafe
from noisewright.core.audit import Audit
from noisewright.core.certificate import Certificate
from noisewright.core.channel import Channel
from noisewright.core.compose import Accountant
from noisewright.core.errors import NoisewrightError
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
    Product,
    Table,
)
from noisewright.core.version import VERSION
from noisewright.files import load, save
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
from noisewright.mechanisms.laplace import laplace
from noisewright.mechanisms.planar import planar_laplace
from noisewright.mechanisms.planar_geometric import planar_geometric
from noisewright.mechanisms.realising import metric_realising
from noisewright.mechanisms.remap import Grid, Polygon
from noisewright.mechanisms.response import randomised_response
from noisewright.mechanisms.sanitise import OutputPerturbation, SanitisedDatabase, sanitise
from noisewright.mechanisms.snapped import snapped, snapped_laplace
from noisewright.mechanisms.spherical import product_laplace, spherical_laplace
from noisewright.mechanisms.staircase import staircase
from noisewright.mechanisms.uniform import uniform

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
    "Grid",
    "Guarantee",
    "Hamming",
    "Line",
    "Manhattan",
    "Mechanism",
    "Metric",
    "NoisewrightError",
    "OutputPerturbation",
    "Polygon",
    "Product",
    "SanitisedDatabase",
    "Table",
    "approximate_laplace",
    "audit",
    "curve",
    "explicit_fair",
    "exponential",
    "gaussian",
    "geo_laplace",
    "geometric",
    "laplace",
    "load",
    "mechanism",
    "metric_realising",
    "planar_geometric",
    "planar_laplace",
    "product_laplace",
    "randomised_response",
    "sanitise",
    "save",
    "snapped",
    "snapped_laplace",
    "spherical_laplace",
    "staircase",
    "truncated_laplace",
    "uniform",
    "unsafe",
]
