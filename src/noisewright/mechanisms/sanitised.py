r"""Two ways to answer questions about a database, which are easily confused and protect very differently.

:class:`SanitisedDatabase` perturbs **the records, once**. Every answer is computed from that one noisy copy, so any number of
questions, chosen in any way, costs nothing more: they are all functions of a single release.

:class:`OutputPerturbation` perturbs **each answer, afresh**. Every answer is a new release, the losses add up, and
asking one question often enough averages the noise away. It keeps count, and with a ``budget`` it stops in time.

**Guarantee of a sanitised copy.** If a mechanism is private for every two values of a record, then applied to each of
``n`` records independently it is private, with the *same* epsilon and delta, between every two databases that differ
in one record; ``n`` plays no part. (This is an equivalence: the product is private only if the mechanism is.)

>>> from noisewright.mechanisms.categories.response import randomised_response
>>> answers = ["yes"] * 30 + ["no"] * 70
>>> copy = sanitise(answers, randomised_response(["yes", "no"], epsilon=1))
>>> count = lambda records: int((records == "yes").sum())
>>> copy.ask(count) == copy.ask(count)  # asking again tells nothing new
True
>>> print(copy.guarantee)
epsilon = 1 per unit of discrete

>>> from noisewright.mechanisms.numbers.geometric import geometric
>>> desk = OutputPerturbation(answers, geometric(epsilon=1))
>>> for _ in range(3):
...     answer = desk.ask(lambda records: records.count("yes"))
>>> print(desk.guarantee)
epsilon = 3 between neighbours (hamming at most 1)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.accountant import Accountant
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import Exact, float_up, positive_fraction
from noisewright.core.guarantee import Guarantee
from noisewright.core.mechanism import Mechanism, as_mechanism
from noisewright.core.metrics.metric import Discrete, Hamming
from noisewright.mechanisms.numbers.half_line import AsymmetricLaplace
from noisewright.mechanisms.numbers.snapped import unsnapped

__all__ = [
    "OutputPerturbation",
    "SanitisedDatabase",
    "neighbour_loss",
    "product_channel",
    "rounds_at_random",
    "sanitise",
]

LARGEST_PRODUCT = 20_000_000


def sanitise(records: Any, mechanism: Mechanism, rng: np.random.Generator | None = None) -> SanitisedDatabase:
    """Perturb every record once, independently, and keep only the result.

    A second call on the same records is a second release: it costs the mechanism's epsilon again.
    """
    mechanism = as_mechanism(mechanism, "a sanitised copy")
    guarantee = mechanism.guarantee  # an attack target has none, and is refused here before anything is drawn
    released = np.array(mechanism.release(records, rng), copy=True)
    if released.ndim == 0:
        raise DataError("a database is a column of records, not a single value.")
    released.flags.writeable = False
    return SanitisedDatabase(released, guarantee, mechanism.certificate(rng))


@dataclass(frozen=True, eq=False)
class SanitisedDatabase:
    """A noisy copy of a database, without the true records: immutable, and free to ask. Build it with :func:`sanitise`."""

    records: NDArray[Any]
    guarantee: Guarantee
    """For two databases that differ in one record: epsilon times the distance of the two records, whatever their number."""
    certificate: Certificate

    def ask(self, query: Callable[[NDArray[Any]], Any]) -> Any:
        """The answer of any query on the noisy copy. No budget is involved."""
        _check_query(query)
        return query(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __repr__(self) -> str:
        return f"SanitisedDatabase({len(self)} records, drawn once, {self.guarantee})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.records.flags.writeable = False  # unpickled arrays are writeable


class OutputPerturbation:
    """A desk that answers queries on the true records with fresh noise each time, and counts what that costs.

    ``mechanism`` perturbs answers; its sensitivity (one unit of its metric, if it has none) must bound how much replacing
    one record changes the answer of *every* query asked here. Each answer is charged before it is drawn. With ``budget``
    (an epsilon between neighbours) a question that would exceed it is refused.
    """

    def __init__(self, records: Any, mechanism: Mechanism, *, budget: Exact | None = None) -> None:
        promise = as_mechanism(mechanism, "output perturbation").guarantee
        self._records = records
        self.mechanism = mechanism
        self.budget = None if budget is None else positive_fraction(budget, "budget")
        self._price = neighbour_loss(mechanism)
        self._each = Guarantee(float_up(self._price), Discrete(), promise.delta, seed_failure=promise.seed_failure)
        self._releases = 0

    @property
    def releases(self) -> int:
        """How many answers were given (or charged for)."""
        return self._releases

    @property
    def guarantee(self) -> Guarantee:
        """What still holds between databases that differ in one record, after all answers so far."""
        account = Accountant(("this database", "a neighbour")).add(self._each, times=self._releases)
        spent = account.guarantee()
        return Guarantee(spent.epsilon, Hamming(), spent.delta, scope="adjacent")

    def ask(self, query: Callable[[Any], Any], rng: np.random.Generator | None = None) -> Any:
        """A noisy answer: a new release, whether or not the question was asked before."""
        _check_query(query)
        if self.budget is not None and (self.releases + 1) * self._price > self.budget:
            raise ParameterError(
                f"the budget of {float(self.budget):g} is spent after {self.releases} answers; publish a sanitised copy "
                "for more questions."
            )
        self._releases += 1
        return self.mechanism.release(query(self._records), rng)

    def __repr__(self) -> str:
        return f"OutputPerturbation({self.releases} answers given, {self.guarantee})"


def neighbour_loss(mechanism: Mechanism) -> Fraction:
    """What one release costs between answers at most one unit of its metric (one sensitivity) apart, rounding included.

    Exactly where the mechanism says it exactly, so that three times 1/3 is 1.
    """
    loss, exact = mechanism.map(1.0), getattr(unsnapped(mechanism), "epsilon", None)
    if math.isinf(loss):
        raise ParameterError("the mechanism must promise something for answers one sensitivity apart.")
    return exact if isinstance(exact, Fraction) and float_up(exact) == loss else Fraction(loss)


def rounds_at_random(mechanism: Mechanism) -> bool:
    """Whether an answer goes to one of its two lattice neighbours by chance: the promise then covers unrounded answers."""
    return isinstance(mechanism, AsymmetricLaplace)


def _check_query(query: object) -> None:
    if not callable(query):
        raise ParameterError(f"a query is a function of the records, not {type(query).__name__}.")


def product_channel(parents: Channel | Sequence[Channel], rows: int | None = None) -> Channel:
    """The channel on whole databases that applies a channel to every row; secrets and outputs are tuples of rows.

    Give one parent and the number of ``rows``, or one parent for each row. It grows exponentially: for study and tests only.
    """
    if isinstance(parents, Channel):
        if rows is None or rows < 1:
            raise ParameterError("give the number of rows, 1 or more, with a single parent channel.")
        parents = [parents] * rows
    size = np.prod([float(c) for parent in parents for c in parent.shape])
    if not len(parents) or size > LARGEST_PRODUCT:
        raise ParameterError(
            f"a product of {len(parents)} channels has {size:.3g} entries, {LARGEST_PRODUCT:.3g} is the limit; audit the "
            "parent instead: the guarantee is the same."
        )
    matrix: NDArray[Any] = np.ones((1, 1))
    for parent in parents:
        matrix = np.kron(matrix, parent.matrix)
    inputs = list(itertools.product(*(parent.inputs for parent in parents)))
    outputs = list(itertools.product(*(parent.outputs for parent in parents)))
    return Channel(matrix, inputs, outputs, normalise=True)
