r"""Metric privacy behind a learned privatiser: certified mechanisms of the house on what it releases, and then both promises.

What a privatiser releases lies in public ranges and lists of labels. Exact noise on every column then promises ``epsilon``
**between any two records**, whatever the privatiser did before: for outputs ``o`` and noiseless releases ``v``,

.. math:: P(o \mid x) = \sum_v P(v \mid x) \prod_j M_j(o_j \mid v_j) \le e^{\sum_j \epsilon_j} P(o \mid x'),

because every ``M_j`` loses at most :math:`\epsilon_j` between any two values of its range. And noise never makes a private value
easier to guess, so what was measured of the privatiser still holds; the distortion is larger, and is measured again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import Exact, float_up, positive_fraction
from noisewright.core.guarantee import ContextAware, Guarantee, split
from noisewright.core.metrics.metric import Discrete
from noisewright.learned.columns import Number, as_columns, like
from noisewright.mechanisms.categories.response import randomised_response
from noisewright.mechanisms.numbers.laplace import laplace
from noisewright.noise.bits import Rng

__all__ = ["CertifiedPrivatiser", "certified"]


@dataclass(frozen=True)
class CertifiedPrivatiser:
    """A learned privatiser with certified noise behind it; :meth:`GAPPrivatiser.with_epsilon` makes one."""

    privatiser: Any
    mechanisms: Mapping[str, Any]
    """The mechanism of every column."""
    epsilon: Fraction
    distortion: float
    """Of both together, measured."""

    def release(self, X: Any, y: Any = None, rng: Rng = None) -> Any:
        """Changed records with noise on top, in the form of the given ones; numbers come out as numbers of their ranges."""
        changed = as_columns(self.privatiser.release(X, y, rng))
        out = {}
        for column in self.privatiser.columns_.columns:
            noisy = np.asarray(self.mechanisms[column.name].release(_given(column, changed[column.name]), rng))
            whole = isinstance(column, Number) and column.whole
            out[column.name] = np.rint(noisy).astype(np.int64) if whole else noisy
        return like(X, out)

    @property
    def guarantee(self) -> Guarantee:
        """What is proved: epsilon between any two records."""
        return Guarantee(float_up(self.epsilon), Discrete())

    @property
    def guarantees(self) -> tuple[ContextAware, Guarantee]:
        """Both promises: what was measured of the privatiser, and what is proved of the noise."""
        return replace(self.privatiser.guarantee, distortion=self.distortion), self.guarantee

    def certificates(self) -> dict[str, Certificate]:
        """The proof of every column; their epsilons add up to the whole."""
        return {name: mechanism.certificate() for name, mechanism in self.mechanisms.items()}

    def in_words(self) -> str:
        """Both, in words."""
        first, second = self.guarantees
        return f"{first.in_words()} Beside that, proved between any two records: {second.in_words()}"


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
    made = {one.name: _mechanism(one, share) for one, share in zip(columns, shares, strict=True)}
    found = CertifiedPrivatiser(privatiser, made, whole, 0.0)
    spent = privatiser.distortion_of(X, found.release(X, y, np.random.default_rng(0)))  # a simulation, thrown away
    return replace(found, distortion=float(sum(spent.values())))


def _mechanism(column: Any, share: Fraction) -> Any:
    """Exact noise that loses at most ``share`` between any two values of a column."""
    if isinstance(column, Number):
        assert column.low is not None
        assert column.high is not None
        ends = Fraction(column.low), Fraction(column.high)
        return laplace(epsilon=share, sensitivity=ends[1] - ends[0], within=ends, outside="clamp")
    return randomised_response(column.labels, epsilon=share)


def _given(column: Any, values: Any) -> Any:
    return values.astype(np.float64) if isinstance(column, Number) else values
