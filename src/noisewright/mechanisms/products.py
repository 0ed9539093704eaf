r"""Independent mechanisms side by side: each coordinate of a secret is drawn by its own, and the losses add up.

==================  ==================================================================  ==============================
metric              between two secrets                                                 epsilon
==================  ==================================================================  ==============================
``"hamming"``       the number of coordinates that differ                               the largest of a coordinate
``"manhattan"``     the sum of the differences of numbers                               the largest for a unit
``"discrete"``      1 between any two                                                   the sum of all coordinates
==================  ==================================================================  ==============================

**Guarantee.** As in the table, proved part by part: see :mod:`noisewright.core.certificates.product` for the proofs
that parts need. The Manhattan distance is between the lattice points that numbers are rounded to, if the parts round.

>>> from noisewright.mechanisms.categories.response import randomised_response
>>> bits = product([(randomised_response([0, 1], epsilon="1/2"), 16)])
>>> bits.release([[0, 1] * 8, [1, 1] * 8]).shape
(2, 16)
>>> print(bits.guarantee, bits.map(3), sep=", at 3: ")
epsilon = 0.5 per unit of hamming, at 3: 1.5
>>> bits.certificate().verify()
'epsilon = 0.5 per unit of hamming, over 16 independent parts'
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.claims import claimed
from noisewright.core.certificates.product import Part, Whole, product_certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import DataError, ParameterError
from noisewright.core.exact import as_fraction
from noisewright.core.guarantee import Guarantee
from noisewright.core.mechanism import Mechanism, as_mechanism, fields_alone
from noisewright.core.metrics.metric import Manhattan
from noisewright.mechanisms.foreign_columns import in_kind
from noisewright.mechanisms.laws.lattice_metrics import LatticePoints
from noisewright.noise.lattice import Lattice

__all__ = ["ProductMechanism", "product", "product_channel"]

LARGEST_PRODUCT = 20_000_000
"""A product with more entries than this is not listed."""


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
