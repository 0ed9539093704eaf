r"""Dual certificates of finite games: an adversary's beliefs and a cost of distortion, which anyone can check.

Fix an adversary who, after output ``k``, believes ``b[., k]`` whatever the mechanism is, and a cost ``lam >= 0``. With
any mechanism W of expected distortion at most D she gains at least

.. math:: \sum_r \min_k \Bigl( \sum_y P(r, y)\, g(b_{yk}) + \lambda P(r)\, d_{rk} \Bigr) - \lambda D,

where ``g`` is the gain of her loss: her gain with W is an average over k of the terms in brackets, minus a cost for
distortion that is at most ``lam D``. The best response gains at least as much. Therefore this number bounds the
optimum from below, however the beliefs were found.

For the 0-1 loss it is computed in integers and is exact; for other losses in floats, less a bound on their rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.exact import float_down
from noisewright.learned.theory._rows import GameRows
from noisewright.learned.theory.joint import whole_floats
from noisewright.learned.theory.losses import AdversaryLoss

__all__ = ["DualCertificate"]

BITS = 52
ONE = 1 << BITS


@dataclass(frozen=True, eq=False)
class DualCertificate:
    """Beliefs ``b[y, k]`` of an adversary, a multiplier of distortion, and the lower bound of the gain that they prove."""

    beliefs: Floats
    price: float
    objective: float
    exact: bool

    @classmethod
    def best(
        cls, rows: GameRows, budget: Fraction, loss: AdversaryLoss, beliefs: Floats, price: float
    ) -> DualCertificate:
        """The better of two certificates: these beliefs at the best multiplier near the given one, or the prior beliefs."""
        settled = _settled(beliefs, loss)
        worth, limit = rows.worth(loss.gain(settled)), float(budget)

        def value(lam: float) -> float:
            return float(rows.mass @ (worth + lam * rows.cost).min(axis=1)) - lam * limit

        prior = rows.joint(np.full(rows.cost.shape, 1 / rows.outputs)).sum(axis=1, keepdims=True)
        blind = _settled(np.repeat(loss.best_response(prior / prior.sum()), rows.outputs, axis=1), loss)
        found = cls.at(rows, budget, loss, settled, _peak(value, max(price, 0.0)))
        return max(found, cls.at(rows, budget, loss, blind, 0.0), key=lambda shown: shown.objective)

    @classmethod
    def at(
        cls, rows: GameRows, budget: Fraction, loss: AdversaryLoss, beliefs: Floats, price: float
    ) -> DualCertificate:
        """The certificate of exactly these beliefs (0 or more, at most one in sum) at this cost."""
        if loss.is_zero_one:
            return cls(beliefs, price, float_down(_exact(rows, budget, beliefs, price)), True)
        gains = loss.gain(beliefs)
        with np.errstate(invalid="ignore"):
            terms = rows.mass[:, None] * (rows.worth(gains) + price * rows.cost)
            sizes = rows.mass[:, None] * (rows.worth(np.abs(gains)) + price * rows.cost)
        least = math.fsum(terms.min(axis=1)) - price * float(budget)
        slack = (
            (rows.privates + len(rows.mass) + 24) * 2.0**-52 * (float(sizes.max(axis=1).sum()) + price * float(budget))
        )
        return cls(beliefs, price, math.nextafter(least - slack, -math.inf), False)


def _settled(beliefs: Floats, loss: AdversaryLoss) -> Floats:
    """Beliefs as multiples of 2^-52 with a sum of at most one; positive where a logarithm is taken; guesses as they are."""
    if loss.is_squared:
        return np.where(np.isfinite(beliefs), beliefs, 0.0)
    safe = np.where(np.isfinite(beliefs), np.maximum(beliefs, 0.0), 0.0)
    sums = safe.sum(axis=0, keepdims=True)
    safe = np.where(sums > 0, safe / np.where(sums > 0, sums, 1.0), 1 / len(safe))
    if loss.is_log:
        safe = (safe + 1e-13) / (1 + 1e-13 * len(safe))
    return np.asarray(
        np.floor(safe * (ONE - 4 * len(safe))) / ONE if not loss.is_log else safe * (1 - len(safe) * 2.0**-51)
    )


def _exact(rows: GameRows, budget: Fraction, beliefs: Floats, price: float) -> Fraction:
    """The bound for the 0-1 loss, without rounding: masses, beliefs, distortions and multiplier are exact fractions."""
    parts = np.asarray((beliefs * ONE).astype(np.int64).astype(object))
    masses, scale = whole_floats(rows.law)
    worth = masses @ parts if rows.private is None else masses * parts[rows.private]
    costs, finer = whole_floats(rows.cost)
    lam = Fraction(price)
    total = masses.sum(axis=1)
    # worth / (2^scale ONE) + lam total costs / 2^(scale + finer), over one common denominator
    unit = Fraction(1, ONE * lam.denominator << (scale + finer))
    terms = worth * (lam.denominator << finer) + (total[:, None] * costs) * (lam.numerator * ONE)
    whole = Fraction(int(masses.sum()), 1 << scale)  # the probabilities are in proportion to these
    return Fraction(int(terms.min(axis=1).sum())) * unit / whole - lam * budget


def _peak(value: Callable[[float], float], start: float) -> float:
    """Return where a concave function of the multiplier is largest, near a first guess: golden sections of an interval
    that holds the peak."""
    step = max(start, 1e-6) * 1e-3
    low, high = max(0.0, start - step), start + step
    while value(high) > value(start) and step < 1e9:
        step *= 4
        high = start + step
    step = max(start, 1e-6) * 1e-3
    while low > 0 and value(low) > value(start):
        step *= 4
        low = max(0.0, start - step)
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(60):
        first, second = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (first, high) if value(first) < value(second) else (low, second)
    return max((low, high, start), key=value)
