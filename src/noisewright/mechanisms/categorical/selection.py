r"""Selection: the exponential mechanism, which picks one of several public candidates by whole-number scores, exactly.

Every candidate has a score computed from the data, larger being better. Candidate ``i`` is released with probability

.. math:: P(i) = e^{\gamma s_i} \Big/ \sum_j e^{\gamma s_j}, \qquad \gamma = \frac{\epsilon}{2 \cdot \text{sensitivity}}.

**Guarantee.** ``epsilon`` for two lists of scores that nowhere differ by more than ``sensitivity``, and in proportion for all
others (the metric is the largest difference, scaled). *Proof.* If no score moves by more than ``d``, the numerator changes
by a
factor of at most ``e^(gamma d)``, and so does the denominator. These are real numbers, and the draw has exactly their law: a
uniform number is compared with thresholds, and where floats leave a doubt, bit after bit with integers that enclose them.

The best score is missed by at most ``sensitivity 2/epsilon (ln m + t)`` except with probability ``e^-t``, for ``m``
candidates.

>>> best = selection(["red", "green", "blue"], epsilon=2)
>>> best.release([0, 140, 31])
'green'
>>> best.release([[0, 140, 31], [190, 0, 10]]).tolist()
['green', 'red']
>>> best.certificate().verify()
'epsilon = 2 per unit of largest of 3 differences'

Reference: McSherry and Talwar, *Mechanism design via differential privacy* (2007).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import accumulate
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from noisewright._utils.validation import fields_alone
from noisewright.base import EPSILON, SENSITIVITY, BaseMechanism, Entry, MechanismAudit, Parameter, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.claims.figures import ceil_div, exp_bounds, float_up
from noisewright.columns.adapters import in_kind
from noisewright.columns.label_encoder import Labels, whole_numbers
from noisewright.exceptions import DataError, NoChannelError, NoLossError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.metrics.base import Metric, as_labels, encode_label
from noisewright.metrics.composite import Scaled
from noisewright.numerics.exact import Exact, positive_fraction
from noisewright.sampling.categorical import decide
from noisewright.sampling.random_bits import Bits, Rng, bits_from

__all__ = ["MOST_CANDIDATES", "SelectionMechanism", "selection"]


CANDIDATES = Parameter("Public answers of which one is selected.", 'candidates = ["soup", "salad"]')

MOST_CANDIDATES = 1 << 16
AT_ONCE = 1 << 20
"""Thresholds that are held in memory at once."""

LARGEST, SMALLEST = Fraction(10**308), Fraction(1, 10**305)
"""Bound that keeps parameters, the rate and computed numbers within floats."""

DOUBT = 2.0**-32
"""A uniform number this close to a threshold in floats is compared with integers."""


def selection(
    candidates: Annotated[Iterable[Hashable], CANDIDATES],
    *,
    epsilon: Annotated[Exact, EPSILON],
    sensitivity: Annotated[Exact, SENSITIVITY] = 1,
) -> SelectionMechanism:
    """Picks one of ``candidates`` by integer scores of which none changes by more than ``sensitivity`` between neighbours."""
    names = as_labels(candidates, "candidates")
    if not 2 <= len(names) <= MOST_CANDIDATES or len(set(names)) < len(names):
        raise ParameterError(
            f"candidates must be 2 to {MOST_CANDIDATES} different labels, not {len(names)} with {len(set(names))} different."
        )
    for name in names:
        encode_label(name)  # refuses what no certificate could name
    budget, size = positive_fraction(epsilon, "epsilon"), positive_fraction(sensitivity, "sensitivity")
    if budget >= LARGEST:
        raise ParameterError("epsilon must be below 1e308; a larger one hides nothing and cannot be certified.")
    if not 1 / LARGEST < size < LARGEST:
        raise ParameterError("sensitivity must be between 1e-308 and 1e308; use scores of another scale.")
    if not SMALLEST < budget / size < LARGEST:
        raise ParameterError(
            "epsilon / sensitivity must be between 1e-305 and 1e308; beyond that every choice is certain, or all are alike."
        )
    return SelectionMechanism(names, budget, size)


@dataclass(frozen=True)
class SelectionMechanism(BaseMechanism):
    """The exponential mechanism over scores; build it with :func:`selection`."""

    name = "selection"

    candidates: tuple[Hashable, ...]
    epsilon: Fraction
    sensitivity: Fraction

    @property
    def rate(self) -> Fraction:
        """``gamma``: one score more makes a candidate ``e^gamma`` times as likely, against the others."""
        return self.epsilon / (2 * self.sensitivity)

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` per ``sensitivity`` units of the largest difference between two lists of scores."""
        from noisewright.metrics.composite import Differences

        metric: Metric = Differences(len(self.candidates), "sup")
        return Guarantee.exactly(
            self.epsilon, metric if self.sensitivity == 1 else Scaled(metric, 1 / self.sensitivity)
        )

    @in_kind
    def release(self, values: Any, rng: Rng = None) -> Any:
        """One candidate for every list of scores: the last axis runs over the candidates."""
        scores, _ = whole_numbers(values)
        if scores.ndim == 1 and not scores.size:
            return self._labels.decode(np.zeros(0, dtype=np.intp), "array")  # a column without lists
        if scores.ndim == 0 or scores.shape[-1] != len(self.candidates):
            raise DataError(f"there must be one score for each of the {len(self.candidates)} candidates.")
        chosen = self._draw(scores.reshape(-1, scores.shape[-1]), bits_from(rng)).reshape(scores.shape[:-1])
        return self._labels.decode(chosen, "one" if scores.ndim == 1 else "array")

    def certificate(self, rng: Rng = None) -> Certificate:
        """The law of the choice and the claim it proves."""
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": "steps", "distance": str(1 / self.sensitivity)},
            proof={
                "kind": "law",
                "law": "exponential choice",
                "rate": str(self.rate),
                "candidates": len(self.candidates),
            },
        )

    def audit(self) -> MechanismAudit:
        """The loss where one score falls and all others rise: twice the rate a step, in the limit that no candidate is
        likely."""
        words = "one score moves one way and all others the other way; the bound is approached by an unlikely candidate"
        return MechanismAudit(float_up(self.epsilon), self.guarantee.metric, None, None, None, words=words)

    def shortfall(self) -> float:
        r"""The expected distance from the best score, for the scores where that is largest.

        With gaps ``k_i`` it is :math:`\sum k_i e^{-\gamma k_i} / (1 + \sum e^{-\gamma k_i})`, which is largest where all gaps are
        equal, and then :math:`W((m - 1)/e)/\gamma` with Lambert's function.
        """
        import scipy

        return float(scipy.special.lambertw((len(self.candidates) - 1) / math.e).real) / float(self.rate)

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: a candidate is not compared with scores; see :meth:`shortfall`."""
        raise NoLossError(f"a choice by scores has no {loss} loss; shortfall() says how far below the best it falls.")

    def channel(self, inputs: Sequence[Sequence[int]] | None = None) -> Channel:
        """The channel over the given lists of scores, for study; there are infinitely many."""
        import scipy

        if inputs is None:
            raise NoChannelError("there are infinitely many lists of scores; say which ones with inputs=.")
        scores, _ = whole_numbers(inputs)
        if scores.ndim != 2 or not len(scores) or scores.shape[1] != len(self.candidates):
            raise ParameterError(
                f"inputs must be a list of lists, each with one score for each of the {len(self.candidates)} candidates."
            )
        gaps = scores.max(axis=1, keepdims=True).astype(np.uint64) - scores.astype(np.uint64)  # right modulo 2^64
        with np.errstate(over="ignore"):
            logs = -float(self.rate) * gaps.astype(np.float64)
        return Channel.from_logs(
            logs - scipy.special.logsumexp(logs, axis=-1, keepdims=True),
            [tuple(s) for s in scores.tolist()],
            self.candidates,
        )

    # The draw ------------------------------------------------------------------------------------------------------

    def _draw(self, scores: NDArray[np.int64], bits: Bits) -> NDArray[np.intp]:
        """Positions of the chosen candidates; draw ``i`` reads word ``i``, and the few in doubt read words after those.

        A draw is the number of thresholds ``c`` that are at most a uniform ``U``. Floats settle it where ``U`` is far from all of
        them: weights are off by less than 2^-40 of themselves (exponents above -800 by 2^-41), sums of up to 2^16 of them by
        2^-37 more, so thresholds by less than 2^-35. The others, about one in a million, are settled with integers.
        """
        words = bits.words(len(scores))
        chosen = np.empty(len(scores), dtype=np.intp)
        doubtful: list[int] = []
        step, rate = max(1, AT_ONCE // scores.shape[1]), float(self.rate)
        for start in range(0, len(scores), step):
            part = scores[start : start + step].astype(np.uint64)  # differences are right modulo 2^64
            gaps = scores[start : start + step].max(axis=1, keepdims=True).astype(np.uint64) - part
            with np.errstate(over="ignore", under="ignore"):
                below = np.cumsum(np.exp(-np.minimum(rate * gaps.astype(np.float64), 800.0)), axis=1)
            thresholds = below[:, :-1] / below[:, -1:]
            uniform = words[start : start + step, None] * 2.0**-64
            chosen[start : start + step] = (thresholds <= uniform).sum(axis=1)
            doubtful += (start + np.flatnonzero((np.abs(thresholds - uniform) <= DOUBT).any(axis=1))).tolist()
        law = _Law(self.rate)
        for spot in doubtful:
            chosen[spot] = decide(partial(law.enclosure, scores[spot].tolist()), int(words[spot]), 64, bits)
        return chosen

    @cached_property
    def _labels(self) -> Labels:
        return Labels(self.candidates)

    __getstate__ = fields_alone


class _Law:
    """The thresholds ``P(1), P(1) + P(2), ...`` of lists of scores, enclosed by integers."""

    def __init__(self, rate: Fraction) -> None:
        self._rate = rate

    def enclosure(self, scores: list[int], width: int) -> tuple[list[int], list[int]]:
        """``low <= c 2^width <= high`` for each threshold but the last, which is 1."""
        best, bits = max(scores), width + 16 + len(scores).bit_length()
        weights = [exp_bounds(-self._rate * (best - score), bits) for score in scores]
        below = [list(accumulate(w[end] for w in weights)) for end in (0, 1)]
        low, high = [], []
        for least, most in zip(below[0][:-1], below[1][:-1], strict=True):
            # c = C / (C + R) grows with C, the weight so far, and falls with R, the weight of the rest.
            low.append((least << width) // (least + below[1][-1] - most))
            high.append(ceil_div(most << width, most + below[0][-1] - least))
        return low, high


ENTRY = Entry(
    "selection",
    selection,
    Takes("number", parts=None, budget="sensitivity", purpose="choice"),
    summary="picks a candidate by its score: the exponential mechanism",
    words="scores",
)
