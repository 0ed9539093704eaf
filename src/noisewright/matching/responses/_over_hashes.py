"""Base of mechanisms that answer every hash of a public scheme by exact randomised response, each on its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.product import Part, product_certificate
from noisewright.core.errors import NoLossError
from noisewright.core.exact import float_up, log_bounds
from noisewright.core.guarantee import Guarantee
from noisewright.core.mechanism import BaseMechanism, fields_alone
from noisewright.core.resource import public_keys
from noisewright.core.seed import Seed
from noisewright.matching.hashing.scheme import Scheme, checked_dimension
from noisewright.matching.responses._columns import read_vectors
from noisewright.matching.responses.code_metric import CodeDistance, whole_bits
from noisewright.mechanisms.auditing import MechanismAudit
from noisewright.mechanisms.categories.response import ResponseMechanism
from noisewright.noise.response import response_integers

__all__ = ["OverHashes"]


@dataclass(frozen=True)
class OverHashes(BaseMechanism):
    """Noisy hashes under a public scheme, at its epsilon for every hash that differs."""

    no_channel = "there are too many vectors to list; a product of responses has a channel between codes."

    scheme: Scheme
    name: ClassVar[str]

    def __post_init__(self) -> None:
        checked_dimension(self.scheme.dimension)  # collections of items are for clients

    @property
    def epsilon(self) -> Fraction:
        """The cost of a hash that differs."""
        return Fraction(self.scheme.epsilon)

    @property
    def seed(self) -> Seed:
        """The public seed of the hashes."""
        return self.scheme.seed

    @property
    def dimension(self) -> int | None:
        """Return how many numbers a vector has."""
        return self.scheme.dimension

    @property
    def answers(self) -> int:
        """Return how many answers a hash has."""
        return 2

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for every hash that differs."""
        return Guarantee.exactly(self.epsilon, CodeDistance(self.scheme, self.answers))

    @cached_property
    def response(self) -> ResponseMechanism:
        """Response for every hash."""
        found = response_integers(self.answers, self.epsilon)
        names = tuple(range(self.answers))
        return ResponseMechanism(names, self.epsilon, found.width, found.precision, found.keep, found.other)

    def check(self, values: Any) -> None:
        """Refuse what ``release`` would refuse."""
        self.scheme.check(read_vectors(values, self.scheme.dimension)[0])

    def map(self, distance: float) -> float:
        """The largest log-ratio for two secrets of which a number of hashes differ: integers alone."""
        return whole_bits(self.guarantee, distance)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """Return the proof of one response for the number of hashes, and the stated family of hashes."""
        return product_certificate(
            self.name,
            [Part(self.response.certificate(rng), self.scheme.bits)],
            simulated=rng is not None,
            hashing={"family": self.scheme.family, "dimension": self.scheme.dimension, "zero": self.scheme.zero},
            **public_keys(seed=self.seed),
        )

    def audit(self) -> MechanismAudit:
        """The loss of one response, from its integers."""
        ratio = Fraction(self.response.keep, self.response.other)
        loss = 0.0 if ratio == 1 else float_up(Fraction(log_bounds(ratio, 128)[1], 1 << 128))
        words = "every hash that differs between two secrets, and that comes out as one of them has it"
        return MechanismAudit(loss, self.guarantee.metric, None, None, None, words=words)

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: hashes are not vectors."""
        raise NoLossError(
            "codes are not compared with vectors; a server tells how far apart vectors are from their codes."
        )

    __getstate__ = fields_alone
