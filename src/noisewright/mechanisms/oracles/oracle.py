r"""Frequency oracles: mechanisms whose reports each support some categories, so that counts of support estimate the
frequencies.

A report *supports* a category when it counts for it: its bit is 1, its hash is the reported one, it is in the reported
set. If the truth is supported with probability ``p`` and every other category with the same probability ``q < p``,
then ``(count / reports - q) / (p - q)`` is an unbiased estimate of the share of a category, whatever the population.

Such a mechanism has ``categories``, ``support_probabilities`` (``p`` and ``q``, as exact fractions), and ``support(reports)``,
which counts. :mod:`noisewright.estimation.population.oracles` does the rest.

The certificate of an oracle proves the guarantee on the integers that are drawn from, and states them there only; next
to them it names the categories and what else reports are read by, on which the guarantee does not depend.

Reference: Wang, Blocki, Li and Jha (2017), who call these protocols *pure*.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import NoLossError
from noisewright.core.exact import float_up, log_bounds
from noisewright.core.guarantee import Guarantee
from noisewright.core.labels import decode_label, encode_label
from noisewright.core.metrics.metric import Discrete
from noisewright.mechanisms.auditing import MechanismAudit
from noisewright.mechanisms.categories.categorical import OverCategories, discrete_certificate, distinct_categories
from noisewright.mechanisms.categories.response import ResponseMechanism, response_of

__all__ = [
    "ORACLES",
    "Oracle",
    "Support",
    "discrete_audit",
    "domain_json",
    "log_of",
    "no_error",
    "numbered_response",
    "oracle_certificate",
    "rare_variance",
    "read_domain",
]

ORACLES = {"unary-encoding", "local-hashing", "subset-selection", "hadamard-response"}
"""Mechanisms whose reports are not categories: they are for estimates, and cannot replace the values of a column."""

SMALLEST_LOG = -600
"""Probabilities of reports below ``e`` to this power are kept as logarithms in a channel: they may be too small for a float."""


@dataclass(frozen=True)
class Support:
    """Number of reports that support each category, number of reports, and number of invalid reports."""

    counts: NDArray[np.int64]
    reports: int
    outside: int = 0

    def __add__(self, other: Support) -> Support:
        """Counts of two batches together."""
        return Support(self.counts + other.counts, self.reports + other.reports, self.outside + other.outside)


@runtime_checkable
class Oracle(Protocol):
    """A mechanism whose reports support the truth with one probability, and every other category with another."""

    @property
    def name(self) -> str:
        """The name in the registry."""

    @property
    def categories(self) -> tuple[Hashable, ...]:
        """The secrets."""

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of a report."""

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probability that the truth is supported, and that any other given category is."""

    def support(self, reports: Any) -> Support:
        """Return how many reports support each category."""

    def channel(self) -> Channel:
        """All reports with their probabilities, where there are few."""


def oracle_certificate(
    made: OverCategories,
    proof: dict[str, Any],
    rng: np.random.Generator | None,
    *,
    reads: dict[str, Any] | None = None,
    **named: Any,
) -> Certificate:
    """The claim of an oracle for the discrete metric, with its proof and the data needed to read its reports."""
    oracle = {**(reads or {}), "domain": domain_json(made.categories)}
    return discrete_certificate(made, proof, rng, oracle=oracle, **named)


def discrete_audit(ratio: Fraction, words: str) -> MechanismAudit:
    """The logarithm of the largest ratio of probabilities, rounded up, and in words the report that has it."""
    loss = float_up(Fraction(log_bounds(ratio, 128)[1], 1 << 128))
    return MechanismAudit(loss, Discrete(), None, None, None, words=words)


def rare_variance(p: Fraction, q: Fraction) -> Fraction:
    """The variance of the estimate for a category that no one has, for one report: by it oracles are compared."""
    return q * (1 - q) / (p - q) ** 2


def log_of(p: Fraction) -> float:
    """The logarithm of a probability, however near to 0 or to 1."""
    return math.log1p(-float(1 - p)) if 2 * p > 1 else math.log(p.numerator) - math.log(p.denominator)


def no_error(what: str, loss: str) -> NoReturn:
    """Raise `NoLossError`: reports that are not categories have no error of their own."""
    raise NoLossError(
        f"a report of {what} is not a category, so it has no {loss} loss; estimates from many reports have a variance, see "
        "noisewright.estimation.population.oracles.variance."
    )


def domain_json(categories: tuple[Hashable, ...]) -> Any:
    """The categories for a certificate: the number of them where they are 0, 1, 2 and so on."""
    if categories == tuple(range(len(categories))) and all(type(label) is int for label in categories):
        return len(categories)  # 0.0 and False are equal to 0, but other labels
    return [encode_label(label) for label in categories]


def numbered_response(certificate: Certificate, most: int) -> ResponseMechanism:
    """The response over 0, 1, 2 and so on, ``most`` of them at most, that the proof of an oracle is about."""
    proof = certificate.document["proof"]
    if proof["size"] > most or int(proof["keep"], 16) <= int(proof["other"], 16):
        raise ValueError("no response that an oracle uses")
    return response_of(proof, certificate.epsilon, None)


def read_domain(stated: Any) -> tuple[Hashable, ...]:
    """The categories that a certificate names."""
    return distinct_categories(
        stated if isinstance(stated, int) else [decode_label(x) for x in stated], "a certificate"
    )
