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

__version__ = "0.1.0"

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
from noisewright.files import load, save
from noisewright.mechanisms.exponential import exponential
from noisewright.mechanisms.finite import mechanism
from noisewright.mechanisms.geometric import geometric
from noisewright.mechanisms.realising import metric_realising
from noisewright.mechanisms.response import randomised_response

__all__ = [
    "Accountant",
    "Angular",
    "Audit",
    "Certificate",
    "Channel",
    "Discrete",
    "EarthMovers",
    "Euclidean",
    "Guarantee",
    "Hamming",
    "Line",
    "Manhattan",
    "Mechanism",
    "Metric",
    "NoisewrightError",
    "Product",
    "Table",
    "audit",
    "exponential",
    "geometric",
    "load",
    "mechanism",
    "metric_realising",
    "randomised_response",
    "save",
]


def audit(thing: Channel | Mechanism, metric: Metric | None = None) -> Audit:
    """The smallest epsilon of a channel, or of a mechanism for the metric it promises, with the worst case as evidence."""
    if isinstance(thing, Channel):
        return thing.epsilon(metric)
    return thing.channel().epsilon(metric or thing.guarantee.metric)
