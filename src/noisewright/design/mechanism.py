"""Sources that an optimal mechanism draws from, in the three possible ways: a table of integers, noise on a line, or a
response.

From a table the actions themselves are drawn. The other two draw an output ``y`` that is answered with the action
``remap[y]``. Answering is post-processing and costs no privacy, so the certificate is the certificate of the source.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from noisewright._typing import Floats, Indices
from noisewright._utils.validation import fields_alone
from noisewright.base import LOSSES, BaseMechanism, expected_loss
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.claims.figures import figure, upward
from noisewright.columns.adapters import in_kind
from noisewright.columns.label_encoder import Labels, check_dense
from noisewright.design.closed_forms import OptimalResponse
from noisewright.design.geometric import LineKernel, Moments
from noisewright.design.loss import Loss
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.categorical.base import FiniteMechanism
from noisewright.mechanisms.categorical.randomised_response import ResponseMechanism
from noisewright.mechanisms.from_certificate import draw_answers
from noisewright.mechanisms.numeric.geometric import GeometricMechanism
from noisewright.metrics.base import Metric, encode_label

__all__ = ["NAME", "Drawing", "FromLine", "FromResponse", "FromTable", "OptimalMechanism", "Promise"]


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


# Mechanism ----------------------------------------------------------------------------------------------------------------
#
# The optimal mechanism as it is used: drawn from, certified, and able to say how good it is and why.
#
# It releases *actions* of its loss. Its :class:`~noisewright.design.mechanism.Drawing` has the method of
# drawing them, from an integer table or by answering the output of a geometric or a randomised response, and the proof of
# the guarantee.


@dataclass(frozen=True, eq=False)
class OptimalMechanism(BaseMechanism):
    """The best mechanism for a loss; build it with :func:`~noisewright.design.optimal.optimal`.

    ``loss_value`` is its expected loss (of the worst secret for ``minimax``), ``bound`` what no private mechanism
    goes below. ``path`` says which way it was found and ``why`` what shows how good it is; ``status`` is a theorem, a dual
    solution (evaluated in floats), a conjecture, or "not proved" where the bound is too loose to mean much.
    """

    name = NAME

    drawing: Drawing
    secrets: tuple[Hashable, ...]
    loss: Loss
    prior: Floats
    epsilon: Fraction
    metric: Metric
    objective: str
    loss_value: float
    bound: float
    path: str
    status: str
    why: str
    delta: Fraction = Fraction(0)
    shape: tuple[str, ...] = ()
    shapes: Mapping[str, float] = field(default_factory=dict)
    """Largest error of each shape, in the probabilities that are drawn from."""
    dilation: float = 1.0

    @property
    def source(self) -> Any:
        """The mechanism whose draws are used: a table, a geometric or a randomised response."""
        return self.drawing.source

    @property
    def actions(self) -> tuple[Hashable, ...]:
        """Actions that can be released."""
        return self.loss.actions

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for the metric, and ``delta`` if one was requested."""
        return Guarantee.exactly(self.epsilon, self.metric, self.delta)

    @property
    def gap(self) -> float:
        """Largest possible difference to the smaller loss of another private mechanism, up to rounding: 0 for a theorem
        (unless points are even up to rounding only), ``inf`` for a conjecture.
        """
        return max(0.0, self.loss_value - self.bound)

    @property
    def remap(self) -> tuple[Hashable, ...]:
        """The action for each output of the source; for a table the actions themselves."""
        return self.drawing.remap

    def in_words(self) -> str:
        """Describe the mechanism, its quality, the reason, and the guarantee, in plain words."""
        which = "expected loss" if self.objective == "bayes" else "loss of the worst secret"
        shaped = f" that is {' and '.join(self.shape)}" if self.shape else ""
        if np.isinf(self.gap):
            claim = f"No mechanism with this promise{shaped} is known to have a smaller {which} than"
        elif self.status == "not proved":
            claim = f"It is not proved that no mechanism with this promise{shaped} has a much smaller {which} than"
        elif self.gap == 0:
            claim = f"No mechanism with this promise{shaped} has a smaller {which}, which is at most"
        else:
            claim = f"No mechanism with this promise{shaped} can improve by more than {upward(self.gap, 3)} on the {which} of"
        floats = ", in floats" if "floats" in self.status else ""
        held = f" {self.shapes_in_words}" if self.shapes else ""
        return (
            f"{claim} {upward(self.loss_value)} ({self.loss.made}{floats}): {self.path}; {self.why}.{held} "
            f"{self.guarantee.in_words()}"
        )

    @property
    def loss_in_words(self) -> tuple[str, str]:
        """Return the name of the loss that was minimised, and its value, rounded up, with how it is measured."""
        which = "Expected loss" if self.objective == "bayes" else "Loss of the worst secret"
        return which, f"{figure(self.loss_value, 4)} ({self.loss.made})"

    @property
    def goodness(self) -> str:
        """Return how much smaller the loss of another private mechanism could be, and how that is known."""
        shaped, which = " of this shape" if self.shape else "", self.loss_in_words[0].lower()
        gap = figure(max(Fraction(self.gap), Fraction(1, 10**6))) if np.isfinite(self.gap) else ""
        if np.isinf(self.gap):
            return f"no private mechanism{shaped} is known to have a smaller {which} (a conjecture)"
        if self.status == "not proved":
            return f"not proved: another private mechanism{shaped} might be better by up to {gap}"
        if self.gap == 0:
            claim = f"no private mechanism{shaped} has a smaller {which}"
        else:
            claim = f"no private mechanism{shaped} is better by more than {gap}"
        return f"{claim} ({'proved by a theorem' if self.status == 'a theorem' else self.status})"

    @property
    def shapes_in_words(self) -> str:
        """Exactness of the shapes of the table that is drawn from, in words."""
        exact = [name for name, apart in self.shapes.items() if apart == 0]
        rest = [f"{name} to within {upward(apart)}" for name, apart in self.shapes.items() if apart > 0]
        parts = [*([f"{' and '.join(exact)} exactly"] if exact else []), *rest]
        return f"The probabilities that are drawn from are {', '.join(parts)}."

    # Drawing ---------------------------------------------------------------------------------------------------------------

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One action for every secret."""
        return self.drawing.release(values, rng)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The claim and its proof: the integers that are drawn from, and how the output is answered."""
        return self.drawing.certificate(Promise(self.epsilon, self.delta, self.metric), rng)

    # What it costs ---------------------------------------------------------------------------------------------------------

    def channel(self) -> Channel:
        """The channel onto the actions."""
        return self._channel

    @cached_property
    def _channel(self) -> Channel:
        return self.drawing.channel()

    def secret_losses(self) -> Floats:
        """The expected loss of each secret."""
        return np.asarray((self.channel().matrix * self.loss.matrix.T).sum(axis=1))

    def as_minimax(self, worst: float) -> OptimalMechanism:
        """The same mechanism as an answer to the minimax question, for which a mechanism that is best at a prior
        and equal there is best.
        """
        why = f"{self.why}; its loss is the same at every secret, so the worst secret cannot fare better either"
        return replace(self, objective="minimax", loss_value=worst, bound=min(self.bound, worst), why=why)

    def error(self, loss: str = "absolute") -> float:
        """The expected loss of an output taken at face value, for the secret where that is largest."""
        return self.drawing.error(loss)

    __getstate__ = fields_alone

    def __repr__(self) -> str:
        return f"optimal({len(self.secrets)} secrets to {len(self.actions)} actions, {self.guarantee}, {self.path})"
