r"""Metric privacy behind a learned privatiser: certified mechanisms on its releases, which then have both guarantees.

What a privatiser releases lies in public ranges and lists of labels. Exact noise on every column then guarantees
``epsilon`` **between any two records**, whatever the privatiser did before: for outputs ``o`` and noiseless releases
``v``,

.. math:: P(o \mid x) = \sum_v P(v \mid x) \prod_j M_j(o_j \mid v_j) \le e^{\sum_j \epsilon_j} P(o \mid x'),

because every ``M_j`` loses at most :math:`\epsilon_j` between any two values of its range. And noise never makes a
private value easier to guess, so the measurement of the privatiser still holds; the distortion is larger, and is
measured again.

**The privatiser must be fixed**: the sum is over one and the same privatiser's changes to ``x`` and to ``x'``. Where
it was trained on the records that it releases, another record would have made another privatiser, which changes all
the other records otherwise; no epsilon covers their leakage then. Guarantee and certificate state this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.claims.record import Condition
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import Exact, positive_fraction
from noisewright.core.guarantee import ContextAware, Guarantee, split
from noisewright.learned.columns import Number, as_columns, like
from noisewright.mechanisms.categories.response import randomised_response
from noisewright.mechanisms.numbers.geometric import geometric
from noisewright.mechanisms.products import ProductMechanism, product

__all__ = ["CertifiedPrivatiser", "certified"]

UNTRAINED = Condition("not-a-training-record")


@dataclass(frozen=True)
class CertifiedPrivatiser:
    """A learned privatiser with certified noise behind it; :meth:`GAPPrivatiser.with_epsilon` makes one."""

    privatiser: Any
    noise: ProductMechanism
    """A mechanism for every column, in their order; numbers are drawn in steps."""
    distortion: float
    """Of both together, measured."""

    def release(self, X: Any, y: Any = None, rng: np.random.Generator | None = None) -> Any:
        """Changed records with noise on top, in the form of the given ones; numbers come out as numbers of their ranges."""
        changed = as_columns(self.privatiser.release(X, y, rng))
        columns, out = self.privatiser.columns_.columns, {}
        for column, (mechanism, _) in zip(columns, self.noise.parts, strict=True):
            values = changed[column.name]
            if not isinstance(column, Number):
                out[column.name] = np.asarray(mechanism.release(values, rng))
                continue
            steps = np.rint(values / column.step).astype(np.int64)
            noisy = np.asarray(mechanism.release(steps, rng))
            out[column.name] = noisy if column.whole else noisy * column.step
        return like(X, out)

    @property
    def guarantee(self) -> Guarantee:
        """Proved guarantee: epsilon between any two records that the privatiser was not trained on."""
        return replace(self.noise.guarantee, conditions=(UNTRAINED,))

    @property
    def guarantees(self) -> tuple[ContextAware, Guarantee]:
        """Both guarantees: the measured one of the privatiser, and the proved one of the noise."""
        stated = replace(self.privatiser.guarantee, distortion=self.distortion, most_distortion=None)
        return stated, self.guarantee

    def certificate(self) -> Certificate:
        """Return the proof, column by column and in all, for records that the privatiser was not trained on."""
        return self.noise.certificate().under([UNTRAINED])

    def in_words(self) -> str:
        """Both, in words."""
        first, second = self.guarantees
        return f"{first.in_words()} In addition, proved: {second.in_words()}"


def certified(privatiser: Any, epsilon: Exact, X: Any, y: Any = None) -> CertifiedPrivatiser:
    """Noise of ``epsilon`` in all behind a fitted privatiser, shared evenly by its columns; distortion is measured on ``X``."""
    whole = positive_fraction(epsilon, "epsilon")
    columns = privatiser.columns_.columns
    open_ended = [one.name for one in columns if isinstance(one, Number) and one.low is None]
    if open_ended:
        raise ParameterError(
            f"noise behind a privatiser needs the public range of every column of numbers, and {open_ended[0]!r} has none; "
            "fit it with bounds."
        )
    if not len(next(iter(as_columns(X).values()), ())):
        raise DataError("the distortion of noise is measured on records; give some.")
    shares = split(whole, len(columns))
    noise = product(
        [(_mechanism(one, share), 1) for one, share in zip(columns, shares, strict=True)], metric="discrete"
    )
    found = CertifiedPrivatiser(privatiser, noise, 0.0)
    spent = privatiser.distortion_of(X, found.release(X, y, np.random.default_rng(0)))  # a simulation, thrown away
    return replace(found, distortion=float(sum(spent.values())))


def _mechanism(column: Any, share: Fraction) -> Any:
    """Exact noise that loses at most ``share`` between any two values of a column."""
    if isinstance(column, Number):
        assert column.low is not None
        assert column.high is not None
        step = Fraction(column.step)
        low, high = math.ceil(Fraction(column.low) / step), math.floor(Fraction(column.high) / step)
        return geometric(epsilon=share / (high - low), within=(low, high), outside="clamp")
    return randomised_response(column.labels, epsilon=share)
