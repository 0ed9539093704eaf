r"""Frequencies from reports that support categories: unary encoding, local hashing, subset selection.

A report supports the truth with probability ``p`` and every other category with probability ``q``, both exact fractions of the
mechanism. With ``C_v`` the number of ``N`` reports that support ``v``,

.. math:: \hat f_v = \frac{C_v / N - q}{p - q}

is unbiased. Its variance is exact too. For ``N`` people drawn from a population with share ``f`` of a category it is
:math:`\pi (1 - \pi) / (N (p - q)^2)` with :math:`\pi = f p + (1 - f) q`; for a fixed group of people with that share, whose
coins alone are random, it is :math:`(f p (1-p) + (1-f) q (1-q)) / (N (p - q)^2)`. Both are ``q (1-q) / (N (p-q)^2)`` at
``f = 0``, the figure by which oracles are usually compared.

>>> from noisewright.mechanisms.unary import unary_encoding
>>> page = unary_encoding(["home", "news", "help"], epsilon=1)
>>> rng = np.random.default_rng(1)
>>> tally = SupportTally(page)
>>> for _ in range(10):  # batch by batch; only counts are kept
...     tally.add(page.release(rng.choice(["home", "news", "help"], 10_000, p=[0.6, 0.3, 0.1]), rng))
>>> shares(tally.result(), page).round(2).tolist()
[0.6, 0.28, 0.11]
>>> round(float(np.sqrt(variance(0.6, 100_000, page))), 4)
0.0067

References: Wang, Blocki, Li and Jha (2017); Ye and Barg (2018).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright.core.certificate import Certificate
from noisewright.core.choices import one_of
from noisewright.core.errors import CertificateError, DataError, NoisewrightError, ParameterError
from noisewright.core.exact import upward
from noisewright.estimate.intervals import quantile
from noisewright.estimate.inverses import WORST_CONDITION
from noisewright.estimate.inversion import project
from noisewright.mechanisms.hadamard import HadamardMechanism
from noisewright.mechanisms.local_hashing import MOST_BUCKETS, LocalHashingMechanism
from noisewright.mechanisms.oracle import Oracle, Support, read_domain
from noisewright.mechanisms.response import ResponseMechanism
from noisewright.mechanisms.subset import SubsetMechanism
from noisewright.mechanisms.unary import UnaryMechanism

__all__ = ["Combined", "SupportTally", "as_oracles", "certified_oracle", "combine", "shares", "variance"]

Floats = NDArray[np.float64]
Population = Literal["sampled", "fixed"]

HARDLY = 0.5
"""From this standard error on, a 95 % interval covers all shares there are."""


def as_oracles(things: Sequence[object]) -> list[Oracle] | None:
    """The oracles whose reports are counted by support, from mechanisms or their certificates; None if any is of another kind."""
    read = (certified_oracle(thing) if isinstance(thing, Certificate) else thing for thing in things)
    found = [thing for thing in read if not isinstance(thing, type) and isinstance(thing, Oracle)]
    return found if found and len(found) == len(things) else None


def shares(support: Support, oracle: Oracle) -> Floats:
    """The unbiased estimate of every category's share; it may be negative, and need not sum to 1."""
    if not support.reports:
        raise DataError("there are no reports to estimate from.")
    _, q, lift = _probabilities(oracle)
    return np.asarray((support.counts / support.reports - q) / lift)


def variance(share: ArrayLike, reports: int, oracle: Oracle, *, population: Population = "sampled") -> Floats:
    """The exact variance of :func:`shares` for a category with this true ``share``.

    ``population="sampled"``: people are drawn from a population with that share. ``"fixed"``: it is the share among the people
    who report, and only their coins are random.
    """
    one_of(population, "population", ("sampled", "fixed"))
    if isinstance(reports, bool) or not isinstance(reports, (int, np.integer)) or reports < 1:
        raise ParameterError("a variance needs the number of reports, a whole number from 1.")
    f = np.asarray(share, dtype=np.float64)
    if not ((f >= 0) & (f <= 1)).all():
        raise ParameterError("a share is a number from 0 to 1.")
    p, q, lift = _probabilities(oracle)
    if population == "fixed":
        spread = f * (p * (1 - p)) + (1 - f) * (q * (1 - q))
    else:
        held = f * p + (1 - f) * q
        spread = held * (1 - held)
    return np.asarray(spread / (lift**2 * int(reports)))


class SupportTally:
    """Counts of support that grow batch by batch."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self._found = Support(np.zeros(len(oracle.categories), dtype=np.int64), 0)

    def add(self, reports: Any) -> None:
        """Count a batch of reports, or add what was counted of one."""
        counted = self._checked(reports) if isinstance(reports, Support) else self.oracle.support(reports)
        self._found = self._found + counted

    def result(self, outside: str = "refuse") -> Support:
        """What was counted; refused if some are no reports of this mechanism, unless they are to be dropped."""
        one_of(outside, "outside", ("refuse", "drop"))
        found = self._found
        if not found.reports and not found.outside:
            raise DataError("there are no reports to estimate from.")
        if found.outside and (outside == "refuse" or not found.reports):
            raise DataError(
                f"{found.outside} of {found.reports + found.outside} reports are not reports of this mechanism; check that it is "
                "the one that made them, or drop such reports (outside: drop)."
            )
        return found

    def _checked(self, counted: Support) -> Support:
        size, counts = len(self.oracle.categories), np.asarray(counted.counts)
        if counts.shape != (size,):
            raise ParameterError(f"there are {counts.size} counts for {size} categories.")
        if (
            counts.dtype.kind not in "iu"
            or (counts < 0).any()
            or (counts > counted.reports).any()
            or counted.outside < 0
        ):
            raise DataError("counts of support must be whole numbers from 0 to the number of reports.")
        return counted


@dataclass(frozen=True, eq=False)
class Combined:
    """Shares of all categories from the reports of one or several oracles, with their standard errors."""

    secrets: Sequence[Hashable]
    unbiased: Floats
    standard_errors: Floats
    reports: int
    dropped: int
    groups: Sequence[tuple[float, Support, Oracle]]
    """What was counted of each oracle, and its weight in the average."""

    @property
    def probabilities(self) -> Floats:
        """The nearest distribution."""
        return project(self.unbiased)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the shares alone should know."""
        worst = float(self.standard_errors.max())
        if worst < HARDLY:
            return ()
        return (
            f"these reports tell hardly anything: the standard error of a share is up to {upward(worst, 3)}; ask more people, or "
            "choose a larger epsilon.",
        )

    def intervals(self, level: float) -> tuple[Floats, Floats]:
        """Confidence intervals of every category alone, cut to [0, 1].

        They are Agresti and Coull's, who add a few reports of either kind: where all reports are alike, the variance that they
        suggest is 0, and the true one is not.
        """
        more = quantile(level) ** 2
        centre, spread = np.zeros(len(self.secrets)), np.zeros(len(self.secrets))
        for weight, support, oracle in self.groups:
            _, q, lift = _probabilities(oracle)
            size = support.reports + more
            held = (support.counts + more / 2) / size
            centre += weight * (held - q) / lift
            spread += (weight / lift) ** 2 * held * (1 - held) / size
        wide = np.sqrt(more * spread)
        low, high = np.clip(centre - wide, 0, 1), np.clip(centre + wide, 0, 1)
        return np.minimum(low, self.probabilities), np.maximum(high, self.probabilities)


def combine(reports: Sequence[Any], oracles: Sequence[Oracle], outside: str = "refuse") -> Combined:
    """The shares behind the reports of several oracles over the same categories.

    Each gives an unbiased estimate; they are averaged with weights in proportion to their precision for a rare category, which do
    not depend on what was reported, so the average is unbiased too.
    """
    if not oracles or len(reports) != len(oracles):
        raise ParameterError(f"a list of {len(oracles)} mechanisms needs a list of as many columns of reports.")
    names = oracles[0].categories
    if any(oracle.categories != names for oracle in oracles[1:]):
        raise ParameterError("mechanisms in one data set must be about the same secrets, in the same order.")
    counted = [_counted(one, oracle, outside) for one, oracle in zip(reports, oracles, strict=True)]
    precise = [_precision(s.reports, o) for s, o in zip(counted, oracles, strict=True)]
    weights = [float(one / sum(precise)) for one in precise]
    found = [shares(support, oracle) for support, oracle in zip(counted, oracles, strict=True)]
    mean = np.asarray(sum(w * one for w, one in zip(weights, found, strict=True)))
    likely = np.clip(mean, 0, 1)
    spread = sum(w**2 * variance(likely, s.reports, o) for w, s, o in zip(weights, counted, oracles, strict=True))
    total, dropped = sum(s.reports for s in counted), sum(s.outside for s in counted)
    groups = list(zip(weights, counted, oracles, strict=True))
    return Combined(names, mean, np.sqrt(spread), total, dropped, groups)


def certified_oracle(certificate: Certificate) -> Oracle | HadamardMechanism | None:
    """The oracle behind a certificate, which is proved first; None for a certificate of another mechanism.

    The oracle is read from the integers of the proof, and then its own certificate must say the same: the claim, which another
    metric would make another one, the proof, and how reports are read.
    """
    document = certificate.document
    build = _BUILDERS.get(str(document["mechanism"]))
    if build is None:
        return None
    certificate.verify()
    try:
        found = build(document["proof"], certificate.epsilon, read_domain(document["oracle"]["domain"]))
        own = found.certificate().document
    except NoisewrightError:
        raise
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise CertificateError("the certificate does not name its categories or its integers properly.") from None
    if any(_spelled(own[part]) != _spelled(document[part]) for part in ("claim", "proof", "oracle")):
        raise CertificateError("the certificate does not describe the mechanism that it proves.")
    return found  # type: ignore[no-any-return]


def _probabilities(oracle: Oracle) -> tuple[float, float, float]:
    """``p``, ``q`` and their difference, which is taken in fractions: for a small epsilon they are nearly the same."""
    p, q = oracle.support_probabilities
    if (p - q) * int(WORST_CONDITION) < 1:
        raise ParameterError(
            "these reports tell nearly nothing: the truth is hardly supported more often than any other category; choose a "
            "larger epsilon."
        )
    return float(p), float(q), float(p - q)


def _counted(reports: Any, oracle: Oracle, outside: str) -> Support:
    tally = SupportTally(oracle)
    tally.add(reports)
    return tally.result(outside)


def _precision(reports: int, oracle: Oracle) -> Fraction:
    """One over the variance for a rare category; in fractions, as for a large epsilon the variance is 0 in floats."""
    p, q = oracle.support_probabilities
    return reports * (p - q) ** 2 / (q * (1 - q))


def _spelled(part: Any) -> str:
    """As JSON, in which 2, 2.0 and true are told apart."""
    return json.dumps(part, sort_keys=True)


def _unary(proof: Any, epsilon: Fraction, names: tuple[Hashable, ...]) -> UnaryMechanism:
    """The table of two bits has the probability of the truth's bit in its first two entries, and of the other in every second."""
    width = proof["width"] // 2
    both, first, second, _ = (int(entry, 16) for entry in proof["table"][0])
    one, other = (both + first) >> width, (both + second) >> width
    variant = "optimised" if 2 * one == 1 << width else "symmetric"
    if not 0 < other < one < 1 << width or (variant == "symmetric" and one + other != 1 << width):
        raise ValueError("no probabilities of unary encoding")
    return UnaryMechanism(names, epsilon, variant, width, proof["precision"], one, other)


def _subset(proof: Any, epsilon: Fraction, names: tuple[Hashable, ...]) -> SubsetMechanism:
    both, first, _, _ = proof["table"][0]
    inside, whole = (both + first) // (len(names) - 1), proof["total"] // (len(names) - 1)
    size = both // inside + 1
    if not 1 <= size < len(names) or inside * len(names) <= size * whole:
        raise ValueError("no sets that hold the truth more often than others")
    return SubsetMechanism(names, epsilon, size, whole.bit_length() - 1, inside)


def _hashing(proof: Any, epsilon: Fraction, names: tuple[Hashable, ...]) -> LocalHashingMechanism:
    return LocalHashingMechanism(names, _response(proof, epsilon, MOST_BUCKETS))


def _hadamard(proof: Any, epsilon: Fraction, names: tuple[Hashable, ...]) -> HadamardMechanism:
    if proof["size"] % 2:
        raise ValueError("no halves")
    return HadamardMechanism(names, _response(proof, epsilon, 4 * len(names)))


def _response(proof: Any, epsilon: Fraction, most: int) -> ResponseMechanism:
    size, keep, other = proof["size"], int(proof["keep"], 16), int(proof["other"], 16)
    if size > most or keep <= other:
        raise ValueError("no response that an oracle uses")
    return ResponseMechanism(tuple(range(size)), epsilon, proof["width"], proof["precision"], keep, other)


_BUILDERS: dict[str, Callable[[Any, Fraction, tuple[Hashable, ...]], Any]] = {
    "unary-encoding": _unary,
    "local-hashing": _hashing,
    "subset-selection": _subset,
    "hadamard-response": _hadamard,
}
