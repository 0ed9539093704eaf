"""A survey with a yes-or-no question: noise on every answer, or noise on the tally.

``N`` people answer; the number of yeses is published. Two ways, with the same guarantee to every participant:

- the *randomised tally*: each answers truthfully with probability ``p`` and otherwise throws a fair coin, and the
  answers are counted. Of ``k`` true yeses it is the sum of two binomials, ``Bin(k, (1+p)/2)`` and
  ``Bin(N-k, (1-p)/2)``;
- the *noisy tally*: someone who is trusted counts, and adds truncated geometric noise with ``a = (1-p)/(1+p)``.

**Guarantee.** Both are exactly ``ln((1+p)/(1-p))``-private for Hamming distance between the lists of answers: ln 3 for
``p = 1/2``. The guarantee is the same, the information is not: seen through the tally alone, the randomised one is a
post-processing of the noisy one, for every ``N`` and ``p``. Therefore it reveals less about everything to everyone.

**Why.** Write laws of tallies as polynomials: a yes is ``A = (1-r) + r z`` and a no ``B = r + (1-r) z`` with ``r =
(1+p)/2``; row
``k`` of the randomised tally is ``A^k B^(N-k)``. The inverse of the truncated geometric has three diagonals, and an inner row
of it times the randomised tally is ``A^(k-1) B^(N-k-1) (A - aB)(B - aA)`` up to a positive factor. ``A - aB`` is a positive
multiple of ``z`` and ``B - aA`` a positive constant, so no coefficient is negative; the first and the last row have one of the
two factors.

>>> survey = TallySurvey(2)
>>> for row in survey.compare():
...     print(f"{row.name}: one participant {row.participant:.4f}, the tally {row.tally:.4f}")
randomised tally: one participant 0.6250, the tally 0.5938
noisy tally: one participant 0.6667, the tally 0.6250
>>> survey.epsilon  # the logarithm of 3, rounded up
1.0986122886681098

Reference: Warner, *Randomized response: a survey technique for eliminating evasive answer bias* (1965).

*Oblivious*: a curator asks a query ``f`` of the whole secret and runs a channel ``H`` on the answer. Privacy is a property of
``K = H o f`` under the metric on the secrets; utility is a property of ``H`` alone. With the metric that ``f`` induces on its
answers (:func:`~noisewright.metrics.sensitivity.induced_metric`) both can be read from ``H``: its smallest epsilon there is
that of ``K``.

*Local*: every datum goes through ``H`` on its own, and anything may be done with the results afterwards. The epsilon of ``H``
for one datum is kept, for the sum of the distances over the data.

>>> from noisewright.metrics.base import Hamming
>>> from noisewright.mechanisms.numeric.geometric import geometric
>>> from noisewright.mechanisms.categorical.randomised_response import randomised_response
>>> households = [(a, b) for a in (0, 1) for b in (0, 1)]
>>> curator = Oblivious(sum, geometric(epsilon=1, within=(0, 2)), households, Hamming())
>>> round(curator.epsilon().value, 6), str(curator.epsilon().metric)
(1.0, 'hamming')
>>> everybody = Local(randomised_response([0, 1], epsilon=1), records=2, then=sum)
>>> everybody.channel().outputs, round(everybody.epsilon().value, 6)
((0, 1, 2), 1.0)

Replacing ``H`` by a channel that is safer in the privacy order (:func:`noisewright.compare`) keeps every such
guarantee, for every query and every metric; a smaller epsilon in one metric on the answers does not.
"""

from __future__ import annotations

import itertools
import math
import numbers
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright.attacks.correlation import Correlation
from noisewright.attacks.inferential_privacy import guess_through
from noisewright.attacks.new_row import binomial
from noisewright.base import Mechanism
from noisewright.channels.audit import Audit
from noisewright.channels.channel import Channel
from noisewright.channels.hyper import Prior, as_prior
from noisewright.claims.figures import float_up
from noisewright.design.utility import Remapped, posterior_loss
from noisewright.exceptions import ParameterError
from noisewright.metrics.base import Discrete, Metric, Table, as_labels, as_metric
from noisewright.metrics.composite import Product
from noisewright.metrics.sensitivity import induced_metric
from noisewright.numerics.exact import Exact, as_fraction, log_bounds
from noisewright.numerics.linear_algebra import Rows
from noisewright.qif.vulnerability import as_channel

__all__ = ["Local", "Oblivious", "TallyRow", "TallySurvey", "noisy_tally", "randomised_tally"]


MOST_PARTICIPANTS = 500
"""Probabilities of a tally are kept as logarithms, since the least of them are too small for a float; that takes its time."""
MOST_STATES = 4_096
"""Maximum number of people for whom all lists of answers are written out."""


@dataclass(frozen=True)
class TallyRow:
    """Leakage of one way to publish a tally: the probability of guessing one participant's answer, and of guessing the
    tally.

    ``participant_before`` and ``tally_before`` are the chances without it.
    """

    name: str
    participant: float
    tally: float
    participant_before: float
    tally_before: float

    @property
    def privacy_loss(self) -> float:
        """Ratio of the probabilities of guessing one participant's answer, with and without the tally."""
        return self.participant / self.participant_before


@dataclass(frozen=True)
class TallySurvey:
    """``participants`` people who answer truthfully with probability ``truth``; each means yes with probability
    ``yes``.

    Numbers are exact: ``"1/3"`` is a third.
    """

    participants: int
    truth: Exact = Fraction(1, 2)
    yes: Exact = Fraction(1, 2)

    def __post_init__(self) -> None:
        if isinstance(self.participants, bool) or not isinstance(self.participants, (int, np.integer)):
            raise ParameterError(f"participants must be a whole number, not {type(self.participants).__name__}.")
        if not 1 <= self.participants <= MOST_PARTICIPANTS:
            raise ParameterError(f"participants must be from 1 to {MOST_PARTICIPANTS}, not {self.participants}.")
        for name in ("truth", "yes"):
            value = as_fraction(getattr(self, name), name)
            if not 0 < value < 1:
                raise ParameterError(f"{name} must be a probability between 0 and 1, both excluded, not {value}.")
            object.__setattr__(self, name, value)

    @property
    def decay(self) -> Fraction:
        """``e^-epsilon``, that is ``(1-p)/(1+p)`` for the probability ``p`` of telling the truth."""
        truth = as_fraction(self.truth)
        return (1 - truth) / (1 + truth)

    @property
    def epsilon(self) -> float:
        """The guarantee to every participant, per answer that differs (Hamming distance), rounded up."""
        return float_up(Fraction(log_bounds(1 / self.decay, 80)[1], 2**80))

    @property
    def tally_prior(self) -> Floats:
        """Probability of each true tally."""
        return _law(self.participants, float(as_fraction(self.yes)))

    @property
    def correlation(self) -> Correlation:
        """One participant's answer and the true tally: ``Pi[b, k] = P(b) P(the others have k - b)``."""
        yes = float(as_fraction(self.yes))
        others = _law(self.participants - 1, yes)
        joint = np.zeros((2, self.participants + 1))
        joint[0, :-1] = (1 - yes) * others
        joint[1, 1:] = yes * others
        return Correlation(joint / joint.sum(), (0, 1), range(self.participants + 1))

    def randomised(self) -> Channel:
        """The randomised tally as a channel from true to published tallies."""
        likely, unlikely = (math.log(1 / (1 + self.decay)), math.log(self.decay / (1 + self.decay)))
        logs = np.zeros((1, 1))  # no one has answered, and the tally is 0
        for _ in range(self.participants):
            # Row k: k of those so far mean yes. One more who means no; and, for a new last row, one more who means yes.
            logs = np.vstack((_one_more(logs, likely, unlikely), _one_more(logs[-1:], unlikely, likely)))
        return Channel.from_logs(logs)

    def noisy(self) -> Channel:
        """The noisy tally as a channel from true to published tallies: the truncated geometric."""
        size, a = self.participants, float(self.decay)
        steps = np.abs(np.subtract.outer(np.arange(size + 1), np.arange(size + 1)))
        weights = np.full(size + 1, (1 - a) / (1 + a))
        weights[[0, -1]] = 1 / (1 + a)
        return Channel.from_logs(np.log(weights) + steps * math.log(a))

    def on_answers(self, tally: Channel) -> Channel:
        """A channel on tallies as one on all lists of answers, for a few participants."""
        if 2**self.participants > MOST_STATES:
            raise ParameterError(
                f"there are 2^{self.participants} lists of answers; spell them out for {MOST_STATES.bit_length() - 1} people "
                "at most, and use the channel on tallies otherwise."
            )
        answers = [tuple(reversed(bits)) for bits in itertools.product((0, 1), repeat=self.participants)]
        return tally.after(sum, answers)

    def compare(self) -> tuple[TallyRow, TallyRow]:
        """The randomised and the noisy tally, in this order."""
        return self._row("randomised tally", self.randomised()), self._row("noisy tally", self.noisy())

    def _row(self, name: str, channel: Channel) -> TallyRow:
        prior, size = self.tally_prior, self.participants + 1
        itself = Correlation(np.diag(prior / prior.sum()), range(size), range(size))
        one, tally = guess_through(self.correlation, channel), guess_through(itself, channel)
        return TallyRow(name, one.after, tally.after, one.before, tally.before)


def randomised_tally(participants: int, truth: Exact = Fraction(1, 2)) -> Rows:
    """The randomised tally in exact fractions, one row for each true tally.

    >>> [str(p) for p in randomised_tally(2)[1]]
    ['3/16', '5/8', '3/16']
    """
    survey = TallySurvey(participants, truth)
    right = 1 / (1 + survey.decay)
    yes, no = (1 - right, right), (right, 1 - right)  # anyone who means yes, anyone who means no: (says no, says yes)
    halves = [(_power(yes, k), _power(no, k)) for k in range(participants + 1)]
    return tuple(_product(halves[k][0], halves[participants - k][1]) for k in range(participants + 1))


def noisy_tally(participants: int, truth: Exact = Fraction(1, 2)) -> Rows:
    """The noisy tally in exact fractions, one row for each true tally.

    >>> [str(p) for p in noisy_tally(2)[0]]
    ['3/4', '1/6', '1/12']
    """
    a = TallySurvey(participants, truth).decay
    inside, end = (1 - a) / (1 + a), 1 / (1 + a)
    return tuple(
        tuple((end if y in (0, participants) else inside) * a ** abs(x - y) for y in range(participants + 1))
        for x in range(participants + 1)
    )


def _one_more(logs: Floats, no: float, yes: float) -> Floats:
    """The distributions of tallies after one more answer, no or yes with these log-probabilities."""
    size = (len(logs), 1)
    silent, counted = np.hstack((logs, np.full(size, -np.inf))), np.hstack((np.full(size, -np.inf), logs))
    return np.asarray(np.logaddexp(silent + no, counted + yes))


def _law(size: int, chance: float) -> Floats:
    """A binomial law over its whole range."""
    part = binomial(size, chance)
    whole = np.zeros(size + 1)
    whole[part.start : part.start + len(part.chances)] = part.chances
    return whole


def _power(pair: tuple[Fraction, Fraction], exponent: int) -> tuple[Fraction, ...]:
    """The binomial law of ``exponent`` draws from a pair of probabilities."""
    first, second = pair
    return tuple(math.comb(exponent, j) * first ** (exponent - j) * second**j for j in range(exponent + 1))


def _product(first: Sequence[Fraction], second: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The law of a sum of two independent numbers."""
    found = [Fraction(0)] * (len(first) + len(second) - 1)
    for i, p in enumerate(first):
        for j, q in enumerate(second):
            found[i + j] += p * q
    return tuple(found)


# Workflows ----------------------------------------------------------------------------------------------------------------
#
# Placement of the noise: on the answer of a trusted curator, or on each datum before anyone collects it.


Query = Callable[[Any], Hashable] | Mapping[Any, Hashable]

LARGEST_PRODUCT = 4_000_000
"""A channel over whole data sets with more entries than this is not built."""

MOST_RECORDS = 10_000
"""More records than this are not counted one by one in a metric."""


@dataclass(frozen=True)
class Oblivious:
    """Ask ``query`` of the secret, then run ``mechanism`` on the answer; ``metric`` is about the secrets."""

    query: Query
    mechanism: Channel | Mechanism
    secrets: tuple[Hashable, ...]
    metric: Metric

    def __post_init__(self) -> None:
        object.__setattr__(self, "secrets", as_labels(self.secrets, "secrets"))
        if not self.secrets:
            raise ParameterError("a workflow is about one secret or more.")
        if not isinstance(self.query, Mapping) and not callable(self.query):
            raise ParameterError(
                f"a query is a function or a mapping from secrets to answers, not {type(self.query).__name__}."
            )
        as_metric(self.metric)
        as_channel(self.mechanism)
        try:
            answers = [self._ask(x) for x in self.secrets]
        except Exception as problem:  # whatever someone else's query raises
            raise ParameterError(f"a query must have an answer for every secret ({type(problem).__name__}).") from None
        as_labels(answers, "the answers of a query")

    def channel(self) -> Channel:
        """``K = H o f``: from secrets to outputs."""
        return as_channel(self.mechanism).after(self.query, self.secrets)

    def epsilon(self, metric: Metric | None = None) -> Audit:
        """The smallest epsilon of the whole workflow, for its own metric or another one on the secrets."""
        return self.channel().epsilon(as_metric(metric, self.metric))

    def utility_channel(self) -> Channel:
        """``H``: from answers to outputs, over the answers that occur."""
        answers = dict.fromkeys(self._ask(x) for x in self.secrets)
        return as_channel(self.mechanism).after(lambda y: y, answers)

    def answers_metric(self) -> Table:
        """The metric that the query induces on its answers: ``H`` has the epsilon there that the workflow has."""
        return induced_metric(self._ask, self.secrets, self.metric)

    def utility(self, loss: object = "absolute", prior: object = None) -> Remapped:
        """The expected loss about the true *answer*, for someone who reads the output as well as possible.

        ``prior`` is over the secrets; the answers inherit theirs from it.
        """
        seen = self.utility_channel()
        belief = as_prior(prior, self.secrets).probabilities
        place = {y: i for i, y in enumerate(seen.inputs)}
        mass = np.zeros(len(place))
        np.add.at(mass, [place[self._ask(x)] for x in self.secrets], belief)
        return posterior_loss(Prior(mass, seen.inputs), seen, loss)

    def with_mechanism(self, mechanism: Channel | Mechanism) -> Oblivious:
        """The same workflow with another mechanism in its place."""
        return replace(self, mechanism=mechanism)

    def _ask(self, secret: Any) -> Hashable:
        return self.query[secret] if isinstance(self.query, Mapping) else self.query(secret)


@dataclass(frozen=True)
class Local:
    """Run ``mechanism`` on each of ``records`` data, then do anything with the outputs (``then``, a function of the tuple
    of them); ``metric`` is about one datum, and data sets are apart by the sum over their data.
    """

    mechanism: Channel | Mechanism
    records: int
    then: Callable[[tuple[Any, ...]], Hashable] | None = None
    metric: Metric | None = None

    def __post_init__(self) -> None:
        as_channel(self.mechanism)
        whole = isinstance(self.records, numbers.Integral) and not isinstance(self.records, bool)
        if not whole or not 1 <= self.records <= MOST_RECORDS:
            raise ParameterError(f"records must be a whole number from 1 to {MOST_RECORDS}.")
        object.__setattr__(self, "records", int(self.records))

    def channel(self) -> Channel:
        """Return the channel from whole data sets (tuples) to the information at the end. It grows with the power of
        the number of records.
        """
        one = as_channel(self.mechanism)
        rows, columns = (size**self.records for size in one.shape)
        if rows * columns > LARGEST_PRODUCT:
            raise ParameterError(
                f"a channel over {self.records} records would have {one.shape[0]}^{self.records} by "
                f"{one.shape[1]}^{self.records} entries, above the limit of "
                f"{LARGEST_PRODUCT}; take fewer records (epsilon() without then= needs no such channel)."
            )
        matrix: Floats = np.ones((1, 1))
        for _ in range(self.records):
            matrix = np.asarray(np.kron(matrix, one.matrix), dtype=np.float64)
        inputs = list(itertools.product(one.inputs, repeat=self.records))
        outputs = list(itertools.product(one.outputs, repeat=self.records))
        if self.then is None:
            return Channel(matrix, inputs, outputs)
        return _merged(matrix, inputs, outputs, self.then)

    def epsilon(self) -> Audit:
        """Return the smallest epsilon for the sum of distances over the data: the epsilon of one datum, or less after
        ``then``.
        """
        one = as_channel(self.mechanism)
        metric = self.data_metric()
        if self.then is not None:
            return self.channel().epsilon(metric)
        # Losses and distances of the records both add up, so no pair of data sets has a larger quotient than one datum.
        found = one.epsilon(self.metric)
        rest = (one.inputs[0],) * (self.records - 1)
        pair = None if found.pair is None else ((found.pair[0], *rest), (found.pair[1], *rest))
        return Audit(found.value, metric, pair, None, None)

    def data_metric(self) -> Product:
        """The sum over the records of the distances of each datum."""
        return Product((as_metric(self.metric, Discrete()),) * self.records)


def _merged(
    matrix: Floats,
    inputs: Iterable[Hashable],
    outputs: list[tuple[Any, ...]],
    then: Callable[[tuple[Any, ...]], Hashable],
) -> Channel:
    """Columns with one result added up."""
    try:
        results = as_labels([then(y) for y in outputs], "the results of then=")
    except ParameterError:
        raise
    except Exception as problem:  # whatever someone else's function raises
        raise ParameterError(
            f"then= must have a result for every tuple of outputs ({type(problem).__name__})."
        ) from None
    labels = list(dict.fromkeys(results))
    place = {label: i for i, label in enumerate(labels)}
    wide = np.zeros((len(labels), len(matrix)))
    np.add.at(wide, [place[r] for r in results], matrix.T)
    return Channel(wide.T, inputs, labels)
