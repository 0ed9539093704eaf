r"""Sources that an optimal mechanism draws from, in the three possible ways: a table of integers, noise on a line, or a
response.

From a table the actions themselves are drawn. The other two draw an output ``y`` that is answered with the action
``remap[y]``. Answering is post-processing and costs no privacy, so the certificate is the certificate of the source.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from noisewright.core.arrays import Indices
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.labels import encode_label
from noisewright.core.mechanism import fields_alone
from noisewright.core.metrics.metric import Metric
from noisewright.mechanisms.categories.answered import draw_answers
from noisewright.mechanisms.categories.finite import FiniteMechanism
from noisewright.mechanisms.categories.response import ResponseMechanism
from noisewright.mechanisms.foreign_columns import in_kind
from noisewright.mechanisms.label_columns import Labels, check_dense
from noisewright.mechanisms.losses import LOSSES, expected_loss
from noisewright.mechanisms.numbers.geometric import GeometricMechanism
from noisewright.optimality.design._structured import LineKernel, Moments
from noisewright.optimality.extreme.response import OptimalResponse

__all__ = ["NAME", "Drawing", "FromLine", "FromResponse", "FromTable", "Promise"]

NAME = "optimal"
"""The name in certificates."""

MOST_LABELS = 10_000
"""Certificates of more secrets than this state their number, not their names."""

SMALL = 1000
"""Maximum number of secrets for which an expected error is read off the channel."""


@dataclass(frozen=True)
class Promise:
    """Claim of a certificate."""

    epsilon: Fraction
    delta: Fraction
    metric: Metric


class Drawing(Protocol):
    """Method of drawing an action for a secret, and proof of the guarantee."""

    @property
    def source(self) -> Any:
        """The mechanism whose draws are used."""

    @property
    def remap(self) -> tuple[Hashable, ...]:
        """The action for each output of the source."""

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None) -> Any:
        """One action for every secret."""

    def certificate(self, promise: Promise, rng: np.random.Generator | None) -> Certificate:
        """The guarantee and its proof: the integers that are drawn from, and how the output is answered."""

    def channel(self) -> Channel:
        """The channel onto the actions."""

    def error(self, loss: str) -> float:
        """The expected loss of an action taken at face value, for the secret where that is largest."""


@dataclass(frozen=True, eq=False)
class FromTable:
    """Actions drawn from a table of integers."""

    source: FiniteMechanism

    @property
    def remap(self) -> tuple[Hashable, ...]:
        """The actions themselves."""
        return self.source.certified.outputs

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None) -> Any:
        """One action for every secret."""
        return self.source.release(values, rng)

    def certificate(self, promise: Promise, rng: np.random.Generator | None) -> Certificate:
        """The table, which was proved to keep the guarantee."""
        return Certificate.of(self.source.certified, NAME, simulated=rng is not None)

    def channel(self) -> Channel:
        """The table as probabilities."""
        return self.source.channel()

    def error(self, loss: str) -> float:
        """The expected loss of the worst secret."""
        return expected_loss(self.channel(), loss)


@dataclass(frozen=True, eq=False)
class _Answered:
    """Shared part of drawing from a line and from a response: output ``y`` is answered with the action
    ``places[y]``.
    """

    source: Any
    secrets: tuple[Hashable, ...]
    actions: tuple[Hashable, ...]
    places: Indices

    @property
    def remap(self) -> tuple[Hashable, ...]:
        """The action for each output of the source."""
        return tuple(self.actions[w] for w in self.places.tolist())

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None) -> Any:
        """One action for every secret."""
        codes, form = self._inputs.encode(values)
        return draw_answers(self.source, self._start(codes), self.places, self._outputs, form, rng)

    def certificate(self, promise: Promise, rng: np.random.Generator | None) -> Certificate:
        """The proof of the source for the guarantee, and how its outputs are answered."""
        document = self.source.certificate(rng).document
        return Certificate.build(
            mechanism=NAME,
            epsilon=promise.epsilon,
            delta=promise.delta,
            metric=str(promise.metric),
            distances=self._distances(document["claim"]["distances"]),
            proof=document["proof"],
            simulated=rng is not None,
            answers=self._answers(),
            **self._labels(),
        )

    def error(self, loss: str) -> float:
        """The expected loss of the worst secret."""
        return expected_loss(self.channel(), loss)

    def channel(self) -> Channel:
        """The channel of the source, with the columns of each action added up."""
        return self._channel

    @cached_property
    def _channel(self) -> Channel:
        raise TypeError(f"{type(self).__name__} must define _channel.")

    def _start(self, codes: Indices) -> Indices:
        """The inputs of the source."""
        return codes

    def _distances(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """The distances of the claim."""
        return dict(known)

    def _labels(self) -> dict[str, Any]:
        """Return the labels of the inputs of the source, unless they are its own or very many."""
        return self._named("inputs", self.secrets)

    @staticmethod
    def _named(what: str, secrets: tuple[Hashable, ...]) -> dict[str, Any]:
        if len(secrets) > MOST_LABELS or secrets == tuple(range(len(secrets))):
            return {}
        return {what: [encode_label(x) for x in secrets]}

    def _answers(self) -> list[Any]:
        """Return where the action changes along the outputs: ``[output, action]`` from that output on."""
        changes = np.flatnonzero(np.concatenate([[True], np.diff(self.places) != 0]))
        return [[int(y), encode_label(self.actions[self.places[y]])] for y in changes.tolist()]

    @cached_property
    def _inputs(self) -> Labels:
        return Labels(self.secrets)

    @cached_property
    def _outputs(self) -> Labels:
        return Labels(self.actions)

    __getstate__ = fields_alone


@dataclass(frozen=True, eq=False)
class FromResponse(_Answered):
    """Answers to the output of a randomised response."""

    source: ResponseMechanism | OptimalResponse

    @cached_property
    def _channel(self) -> Channel:
        check_dense(len(self.secrets))
        check_dense(len(self.actions))
        raw = self.source.channel().logs
        logs = np.full((len(self.actions), len(raw)), -np.inf)
        for y, w in enumerate(self.places.tolist()):
            np.logaddexp(logs[w], raw[:, y], out=logs[w])
        return Channel.from_logs(logs.T, self.secrets, self.actions)


@dataclass(frozen=True, eq=False)
class FromLine(_Answered):
    """Answers to the output of a truncated geometric on secrets ``step`` apart; ``rank`` is the place of each on the line."""

    source: GeometricMechanism
    rank: Indices
    step: Fraction

    @cached_property
    def _channel(self) -> Channel:
        check_dense(len(self.secrets))
        check_dense(len(self.actions))
        kernel = LineKernel(np.full(len(self.secrets) - 1, float(1 / self.source.scale)))
        return Channel.from_logs(kernel.merged(self.places, len(self.actions))[self.rank], self.secrets, self.actions)

    def error(self, loss: str) -> float:
        """The expected loss of the worst secret; among many, without their channel."""
        in_order = self.actions == self.secrets and bool((np.diff(self.rank[self.places]) >= 0).all())
        if len(self.secrets) > SMALL and loss in LOSSES and in_order:
            return self._error_by_sums(loss)
        return expected_loss(self.channel(), loss)

    def _error_by_sums(self, loss: str) -> float:
        """Sums over the outputs below and above each secret, in linear time."""
        n, rate = len(self.secrets), float(1 / self.source.scale)
        answers = self.rank[self.places].astype(np.float64)
        weights = LineKernel(np.full(n - 1, rate)).weights
        x = np.arange(n)
        start, end = (np.searchsorted(answers, x, side=side) for side in ("left", "right"))
        plain = Moments(weights, rate)
        if loss == "zero-one":
            return float((1 - (plain.above(x, start) - plain.above(x, end))).max())
        first = Moments(weights * answers, rate)
        zero = np.zeros(n, dtype=np.intp)
        unit = abs(float(self.secrets[1]) - float(self.secrets[0]))  # type: ignore[arg-type]
        if loss == "absolute":
            above = first.above(x, start) - x * plain.above(x, start)
            return float((2 * above - (first.above(x, zero) - x)).max()) * unit
        second = Moments(weights * answers**2, rate)
        return float((second.above(x, zero) - 2 * x * first.above(x, zero) + x.astype(np.float64) ** 2).max()) * unit**2

    def _start(self, codes: Indices) -> Indices:
        return self.rank[codes]

    def _distances(self, known: Mapping[str, Any]) -> dict[str, Any]:
        return {"shape": "steps", "distance": str(self.step)}

    def _labels(self) -> dict[str, Any]:
        """The secrets in rising order."""
        return self._named("secrets", tuple(self.secrets[x] for x in np.argsort(self.rank).tolist()))
