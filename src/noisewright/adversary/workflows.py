r"""Placement of the noise: on the answer of a trusted curator, or on each datum before anyone collects it.

*Oblivious*: a curator asks a query ``f`` of the whole secret and runs a channel ``H`` on the answer. Privacy is a property of
``K = H o f`` under the metric on the secrets; utility is a property of ``H`` alone. With the metric that ``f`` induces on its
answers (:func:`~noisewright.core.metrics.spaces.induced_metric`) both can be read from ``H``: its smallest epsilon there is
that of ``K``.

*Local*: every datum goes through ``H`` on its own, and anything may be done with the results afterwards. The epsilon of ``H``
for one datum is kept, for the sum of the distances over the data.

>>> from noisewright.core.metrics.metric import Hamming
>>> from noisewright.mechanisms.numbers.geometric import geometric
>>> from noisewright.mechanisms.categories.response import randomised_response
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
import numbers
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noisewright.adversary.measures.vulnerability import as_channel
from noisewright.core.arrays import Floats
from noisewright.core.channels.audit import Audit
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.labels import as_labels
from noisewright.core.mechanism import Mechanism
from noisewright.core.metrics.algebra import Product
from noisewright.core.metrics.metric import Discrete, Metric, Table, as_metric
from noisewright.core.metrics.spaces import induced_metric
from noisewright.optimality.evaluate import Remapped, posterior_loss
from noisewright.optimality.priors import Prior, as_prior

__all__ = ["Local", "Oblivious"]

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
