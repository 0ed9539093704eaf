"""Independent mechanisms side by side: each coordinate of a secret is drawn by its own, and the losses add up.

==================  ==================================================================  ==============================
metric              between two secrets                                                 epsilon
==================  ==================================================================  ==============================
``"hamming"``       the number of coordinates that differ                               the largest of a coordinate
``"manhattan"``     the sum of the differences of numbers                               the largest for a unit
``"discrete"``      1 between any two                                                   the sum of all coordinates
==================  ==================================================================  ==============================

**Guarantee.** As in the table, proved part by part: see :mod:`noisewright.certificates.composition` for the proofs
that parts need. The Manhattan distance is between the lattice points that numbers are rounded to, if the parts round.

>>> from noisewright.mechanisms.categorical.randomised_response import randomised_response
>>> bits = product([(randomised_response([0, 1], epsilon="1/2"), 16)])
>>> bits.release([[0, 1] * 8, [1, 1] * 8]).shape
(2, 16)
>>> print(bits.guarantee, bits.map(3), sep=", at 3: ")
epsilon = 0.5 per unit of hamming, at 3: 1.5
>>> bits.certificate().verify()
'epsilon = 0.5 per unit of hamming, over 16 independent parts'

:class:`SanitisedDatabase` perturbs **the records, once**. Every answer is computed from that one noisy copy, so any number of
questions, chosen in any way, costs nothing more: they are all functions of a single release.

:class:`OutputPerturbation` perturbs **each answer, afresh**. Every answer is a new release, the losses add up, and
asking one question often enough averages the noise away. It keeps count, and with a ``budget`` it stops in time.

**Guarantee of a sanitised copy.** If a mechanism is private for every two values of a record, then applied to each of
``n`` records independently it is private, with the *same* epsilon and delta, between every two databases that differ
in one record; ``n`` plays no part. (This is an equivalence: the product is private only if the mechanism is.)

>>> from noisewright.mechanisms.categorical.randomised_response import randomised_response
>>> answers = ["yes"] * 30 + ["no"] * 70
>>> copy = sanitise(answers, randomised_response(["yes", "no"], epsilon=1))
>>> count = lambda records: int((records == "yes").sum())
>>> copy.ask(count) == copy.ask(count)  # asking again tells nothing new
True
>>> print(copy.guarantee)
epsilon = 1 per unit of discrete

>>> from noisewright.mechanisms.numeric.geometric import geometric
>>> desk = OutputPerturbation(answers, geometric(epsilon=1))
>>> for _ in range(3):
...     answer = desk.ask(lambda records: records.count("yes"))
>>> print(desk.guarantee)
epsilon = 3 between neighbours (hamming at most 1)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright._utils.validation import fields_alone
from noisewright.base import Mechanism, as_mechanism
from noisewright.certificates.certificate import Certificate, claimed
from noisewright.certificates.composition import Accountant, Part, Whole, product_certificate
from noisewright.channels.channel import Channel, product_channel
from noisewright.claims.figures import float_up
from noisewright.columns.adapters import in_kind
from noisewright.exceptions import DataError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.numeric.feasible_sets import LatticePoints
from noisewright.mechanisms.numeric.half_line_laplace import AsymmetricLaplace
from noisewright.mechanisms.numeric.staircase import unsnapped
from noisewright.mechanisms.registry import registry
from noisewright.metrics.base import Discrete, Hamming, Manhattan
from noisewright.numerics.exact import Exact, as_fraction, positive_fraction
from noisewright.sampling.lattice import Lattice

__all__ = [
    "OutputPerturbation",
    "ProductMechanism",
    "SanitisedDatabase",
    "neighbour_loss",
    "product",
    "rounds_at_random",
    "sanitise",
]


def product(
    parts: Sequence[tuple[Mechanism, int | None]], *, metric: Whole = "hamming", name: str = "product"
) -> ProductMechanism:
    """Mechanisms and how many coordinates each of them draws, from the first coordinate on.

    One mechanism alone may have None in place of a number: it then draws however many coordinates there are.
    """
    given = tuple((as_mechanism(mechanism, "a product"), count) for mechanism, count in parts)
    if len(given) != 1 and any(count is None for _, count in given):
        raise ParameterError(
            "any number of coordinates (None) is for a single mechanism; say how many each of these draws."
        )
    made = ProductMechanism(given, metric, name)
    made.certificate()  # refuses parts that prove nothing for the metric, before any data is seen
    return made


@dataclass(frozen=True)
class ProductMechanism:
    """Independent mechanisms, each for some coordinates; build it with :func:`product`."""

    parts: tuple[tuple[Mechanism, int | None], ...]
    metric: Whole
    name: str

    @property
    def coordinates(self) -> int | None:
        """Return how many coordinates a secret has; None for any number."""
        counts = [count for _, count in self.parts]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def dimension(self) -> int | None:
        """Return how many coordinates a secret has, as those who release vectors ask for it."""
        return self.coordinates

    @cached_property
    def guarantee(self) -> Guarantee:
        """Losses add up along the metric, which is between lattice points where the parts round to them."""
        document = self.certificate().document
        found, stated = claimed(document), document["claim"]["metric"]
        if set(stated) != {"base", "lattice"} or stated["base"] != "manhattan":
            return found
        return replace(found, metric=LatticePoints(Manhattan(), Lattice(stated["lattice"])))

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One draw for every secret: the last axis runs over the coordinates."""
        given = self._rows(values)
        if len(self.parts) == 1:
            return self._drawn(self.parts[0][0], given, rng)
        ends = np.cumsum([count for _, count in self.parts])[:-1]
        drawn = [
            self._drawn(mechanism, columns, rng)
            for (mechanism, _), columns in zip(self.parts, np.split(given, ends, axis=-1), strict=True)
        ]
        if len({part.dtype.kind for part in drawn}) > 1:  # else numbers next to text would become text
            drawn = [part.astype(object) for part in drawn]
        return np.concatenate(drawn, axis=-1)

    def map(self, distance: float) -> float:
        """The largest log-ratio for two secrets at this distance, a step more for each further coordinate that is rounded."""
        metric, plain = self.guarantee.metric, self.guarantee.bound(distance)  # rejects an invalid distance
        if metric.step is None or plain in (0, math.inf):
            return plain
        if self.coordinates is None:
            return math.inf  # of any number of coordinates any number may be rounded apart
        return self.guarantee.bound(metric.after_rounding(as_fraction(distance, "a distance"), self.coordinates))

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The proofs of all parts, and the sum of their losses."""
        parts = [Part(mechanism.certificate(rng), count) for mechanism, count in self.parts]
        return product_certificate(self.name, parts, metric=self.metric, simulated=rng is not None)

    def error(self, loss: str = "absolute") -> float:
        """The sum of the expected losses of all coordinates, each at the value where it is largest."""
        if self.coordinates is None:
            raise ParameterError("the error of any number of coordinates is not known; make a product of so many.")
        if loss == "zero-one":
            right = np.prod([(1 - mechanism.error(loss)) ** (count or 1) for mechanism, count in self.parts])
            return float(1 - right)
        return sum(mechanism.error(loss) * (count or 1) for mechanism, count in self.parts)

    def channel(self) -> Channel:
        """The channel over tuples of values; it grows exponentially, and only a small one is listed."""
        if self.coordinates is None:
            raise ParameterError("any number of coordinates has no channel; make a product of so many.")
        if self.coordinates > 64:
            raise ParameterError(f"a product of {self.coordinates} coordinates has too many secrets to list.")
        return product_channel([mechanism.channel() for mechanism, count in self.parts for _ in range(count or 1)])

    def _rows(self, values: Any) -> NDArray[Any]:
        wanted = self.coordinates
        try:
            given = np.asarray(values)
        except ValueError:  # rows of different lengths
            given = np.asarray(None)
        if given.ndim == 0 or (wanted is not None and given.shape[-1] != wanted):
            raise DataError(
                f"a secret of this product has {'some' if wanted is None else wanted} coordinates, on the last axis; give "
                "each as many."
            )
        return given

    @staticmethod
    def _drawn(mechanism: Mechanism, columns: NDArray[Any], rng: np.random.Generator | None) -> NDArray[Any]:
        flat = columns.reshape(-1)
        values = np.asarray(flat.tolist()) if flat.dtype == object else flat  # of one kind again, where parts differ
        return np.asarray(mechanism.release(values, rng)).reshape(columns.shape)

    __getstate__ = fields_alone


# Sanitised ----------------------------------------------------------------------------------------------------------------
#
# Two ways to answer questions about a database, which are easily confused and protect very differently.


def sanitise(records: Any, mechanism: Mechanism, rng: np.random.Generator | None = None) -> SanitisedDatabase:
    """Perturb every record once, independently, and keep only the result.

    Each index of the first axis is a record. One of several cells, each drawn by itself, is charged for all of them:
    between any two records by the sum over its cells, or along the sum of the differences of its numbers (Manhattan).
    A second call on the same records is a second release: it costs the same again.

    >>> from noisewright.mechanisms.categorical.randomised_response import randomised_response
    >>> print(sanitise([["yes", "no"], ["no", "no"]], randomised_response(["yes", "no"], epsilon=1)).guarantee)
    epsilon = 2 per unit of discrete
    """
    mechanism = as_mechanism(mechanism, "a sanitised copy")
    guarantee = mechanism.guarantee  # an attack target has none, and is refused here before anything is drawn
    drawn = mechanism.release(records, rng)
    shape, released = _drawn_shape(mechanism, records, drawn), np.array(drawn, copy=True)
    if not shape:
        raise DataError("a database is a column of records, not a single value.")
    released.flags.writeable = False
    if (cells := math.prod(shape[1:])) > 1:
        mechanism = _of_records(mechanism, cells)
        guarantee = mechanism.guarantee
    return SanitisedDatabase(released, guarantee, mechanism.certificate(rng))


def _of_records(mechanism: Mechanism, cells: int) -> Mechanism:
    """The mechanism that draws each cell of a record by the given one."""
    try:
        return product([(mechanism, cells)], metric="discrete" if mechanism.guarantee.metric.uniform else "manhattan")
    except ParameterError:
        raise ParameterError(
            f"a record has {cells} cells here, and this mechanism's promise for a cell gives none that is proved for a record; "
            "make a copy of each column by itself, and add up what they cost."
        ) from None


@dataclass(frozen=True, eq=False)
class SanitisedDatabase:
    """A noisy copy of a database, without the true records: immutable, and free to ask. Build it with :func:`sanitise`."""

    records: NDArray[Any]
    guarantee: Guarantee
    """For two databases that differ in one record: epsilon times the distance of the two records, all cells counted, whatever
    the number of records."""
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
    one record changes *each* answer of every query asked here. Every answer is charged before it is shown, and a query that
    gives a list is charged for each member of it; how many it gives must not depend on the records. With ``budget`` (an
    epsilon between neighbours) a question that would exceed it is refused.
    """

    def __init__(self, records: Any, mechanism: Mechanism, *, budget: Exact | None = None) -> None:
        promise = as_mechanism(mechanism, "output perturbation").guarantee
        self._records = records
        self.mechanism = mechanism
        self.budget = None if budget is None else positive_fraction(budget, "budget")
        self._price = neighbour_loss(mechanism)
        self._each = Guarantee.exactly(
            self._price,
            Discrete(),
            promise.stated("delta"),
            seed_failure=promise.seed_failure,
            conditions=promise.conditions,
        )
        self._releases = 0

    @property
    def releases(self) -> int:
        """Return how many answers were given (or charged for)."""
        return self._releases

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee for databases that differ in one record, after all answers so far."""
        account = Accountant(("this database", "a neighbour")).add(self._each, times=self._releases)
        spent = account.guarantee()
        epsilon = self._price * self._releases  # exactly, where the account adds floats, rounded up
        return Guarantee.exactly(
            epsilon, Hamming(), spent.stated("delta"), scope="adjacent", conditions=spent.conditions
        )

    def ask(self, query: Callable[[Any], Any], rng: np.random.Generator | None = None) -> Any:
        """A noisy answer, or a list of them: each is a new release, whether or not the question was asked before."""
        _check_query(query)
        self._charge(1)
        answer = query(self._records)
        drawn = self.mechanism.release(answer, rng)
        self._charge(math.prod(_drawn_shape(self.mechanism, answer, drawn)) - 1)
        return drawn

    def _charge(self, answers: int) -> None:
        if self.budget is not None and (self.releases + answers) * self._price > self.budget:
            more = f", and {answers} more were asked for at once" if self.releases * self._price < self.budget else ""
            raise ParameterError(
                f"the budget of {float(self.budget):g} is spent after {self.releases} answers{more}; publish a sanitised copy "
                "for more questions."
            )
        self._releases += max(0, answers)

    def __repr__(self) -> str:
        return f"OutputPerturbation({self.releases} answers given, {self.guarantee})"


def neighbour_loss(mechanism: Mechanism) -> Fraction:
    """Return the loss of one release between answers at most one unit of its metric (one sensitivity) apart, rounding
    included.

    Exactly where the mechanism says it exactly, so that three times 1/3 is 1.
    """
    loss, exact = mechanism.map(1.0), getattr(unsnapped(mechanism), "epsilon", None)
    if math.isinf(loss):
        raise ParameterError("the mechanism must promise something for answers one sensitivity apart.")
    return exact if isinstance(exact, Fraction) and float_up(exact) == loss else Fraction(loss)


def rounds_at_random(mechanism: Mechanism) -> bool:
    """Return whether an answer goes to one of its two lattice neighbours by chance: the guarantee then covers
    unrounded answers."""
    return isinstance(mechanism, AsymmetricLaplace)


def _drawn_shape(mechanism: Mechanism, given: Any, drawn: Any) -> tuple[int, ...]:
    """The shape in which secrets were given, one for every draw; empty for a single one.

    Outputs have it too, except for those of vectors, which have an axis more, and for reports, which are of any shape.
    """
    if isinstance(drawn, (pa.Array, pa.ChunkedArray)):
        return (len(drawn),)
    inner = unsnapped(mechanism)
    name = getattr(inner, "name", "")
    takes = registry[name].takes if name in registry else None
    if takes is not None and takes.purpose == "report":
        return np.shape(np.asarray(given, dtype=object))
    array = np.asarray(drawn)
    if isinstance(drawn, tuple) or array.ndim == 0:
        return ()
    vectors = takes.points if takes is not None else hasattr(inner, "dimension")
    return array.shape[:-1] if vectors and array.dtype != object else array.shape


def _check_query(query: object) -> None:
    if not callable(query):
        raise ParameterError(f"a query is a function of the records, not {type(query).__name__}.")
