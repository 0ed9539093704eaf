"""Our vulnerabilities, refinement tests and safe replacements at work."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import noisewright as nw
from bench.work import Work
from noisewright.qif.gains import Gain
from noisewright.qif.refinement.average_case import average_refined
from noisewright.qif.refinement.compare import Comparison
from noisewright.qif.refinement.families import as_family
from noisewright.qif.vulnerability import posterior_vulnerability as worth

__all__ = [
    "closed",
    "exact_comparison",
    "matrix_product",
    "posterior_vulnerability",
    "random_pairs",
    "refinement",
    "safe_replacement",
]

Floats = NDArray[np.float64]


def random_pairs(n: int, pairs: int, which: str) -> list[tuple[Floats, Floats]]:
    """Random channels A, and B = A R or a random B."""
    rng = np.random.default_rng(1)
    found = []
    for i in range(pairs):
        a, b = (rng.random((n, n)) for _ in range(2))
        a, b = (m / m.sum(axis=1, keepdims=True) for m in (a, b))
        refines = which == "refining" or (which == "both outcomes" and i % 2 == 0)
        found.append((a, a @ b if refines else b))
    return found


def refinement(n: int, pairs: int, which: str) -> Work:
    """Each pair decided, with its witness; the answer is how many refine."""
    given = random_pairs(n, pairs, which)

    def run() -> int:
        return sum(bool(average_refined(nw.Channel(a), nw.Channel(b))) for a, b in given)

    return Work(run, pairs, lambda held: 1.0 + held)


def exact_comparison(n: int) -> Work:
    """Two exponential mechanisms on a line; the answer counts the orders that hold."""
    first, second = (nw.exponential(range(n), epsilon=e, metric=nw.metrics.Line()) for e in ("1", "1/2"))

    def run() -> Comparison:
        return nw.compare(first, second)

    return Work(run, 1, lambda found: float(sum(bool(one) for both in found.orders().values() for one in both)))


def closed(first: str, second: str, n: int) -> Work:
    """One family's member refined by the same epsilon of another: it fails, with a witness."""
    a, b = (as_family(name).member(epsilon=1, size=n) for name in (first, second))
    return Work(lambda: average_refined(a, b), 1, lambda found: float(found.status.startswith("fails")))


def posterior_vulnerability(n: int) -> Work:
    """A dense channel and a dense gain with as many actions as secrets."""
    channel, gain = _dense(n)
    prior = np.full(n, 1 / n)
    adversary = Gain(gain, range(n), range(n))
    return Work(lambda: worth(prior, channel, adversary), 1, float)


def matrix_product(n: int) -> Work:
    """The product alone."""
    channel, gain = _dense(n)
    joint = channel.matrix / n
    return Work(lambda: gain @ joint, 1, lambda found: float(found.max(axis=0).sum()))


def safe_replacement(n: int) -> Work:
    """The largest epsilon of the exponential mechanism in place of randomised response, under each order."""
    member, family = as_family("response").member(epsilon=1, size=n), as_family("exponential")

    def run() -> float:
        return sum(
            nw.qif.refinement.safe_replacement(member, family, order=order).epsilon
            for order in ("average", "max", "privacy")
        )

    return Work(run, 3, float)


def _dense(n: int) -> tuple[nw.Channel, Floats]:
    rng = np.random.default_rng(1)
    return nw.Channel(rng.random((n, n)), normalise=True), rng.random((n, n))
