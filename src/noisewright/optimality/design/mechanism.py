r"""The optimal mechanism as it is used: drawn from, certified, and able to say how good it is and why.

It releases *actions* of its loss. Behind it is an integer table, or a geometric or a randomised response whose output
``y`` is answered with the action ``remap[y]``; answering is post-processing and costs no privacy, so the certificate
is that of the source.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats, Indices
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.exact import float_up, upward
from noisewright.core.guarantee import Guarantee
from noisewright.core.labels import encode_label
from noisewright.core.metrics.metric import Metric
from noisewright.mechanisms.categories.finite import FiniteMechanism
from noisewright.mechanisms.categories.response import ResponseMechanism
from noisewright.mechanisms.losses import LOSSES, expected_loss
from noisewright.mechanisms.numbers.geometric import GeometricMechanism
from noisewright.mechanisms.values import Labels, check_dense
from noisewright.optimality.design._structured import LineKernel, Moments
from noisewright.optimality.extreme.response import OptimalResponse
from noisewright.optimality.losses.loss import Loss

__all__ = ["OptimalMechanism"]


MOST_LABELS = 10_000
"""Certificates of more secrets than this state how many there are, not what they are called."""


@dataclass(frozen=True, eq=False)
class OptimalMechanism:
    """The best mechanism for a loss; build it with :func:`~noisewright.optimality.design.optimal.optimal`.

    ``loss_value`` is its expected loss (of the worst secret for ``minimax``), ``bound`` what no private mechanism
    goes below. ``path`` says which way it was found and ``why`` what shows how good it is; ``status`` is a theorem, a dual
    solution (evaluated in floats), a conjecture, or "not proved" where the bound is too loose to mean much.
    """

    source: GeometricMechanism | ResponseMechanism | OptimalResponse | FiniteMechanism
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
    rank: Indices | None = None
    places: Indices | None = None
    step: Fraction | None = None
    delta: Fraction = Fraction(0)
    shape: tuple[str, ...] = ()
    shapes: Mapping[str, float] = field(default_factory=dict)
    """By how much each shape is missed at most, in the probabilities that are drawn from."""
    dilation: float = 1.0

    @property
    def name(self) -> str:
        """The name in certificates."""
        return "optimal"

    @property
    def actions(self) -> tuple[Hashable, ...]:
        """What can be released."""
        return self.loss.actions

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` for the metric, and ``delta`` if one was asked for."""
        return Guarantee(float_up(self.epsilon), self.metric, float_up(self.delta))

    @property
    def gap(self) -> float:
        """How much smaller the loss of another private mechanism could be, up to rounding: 0 for a theorem (unless points are
        even up to rounding only), ``inf`` for a conjecture.
        """
        return max(0.0, self.loss_value - self.bound)

    @property
    def remap(self) -> tuple[Hashable, ...]:
        """The action for each output of the source; for a table the actions themselves."""
        return self.actions if self.places is None else tuple(self.actions[w] for w in self.places.tolist())

    def in_words(self) -> str:
        """What it is, how good, why, and what is promised, in plain words."""
        which = "expected loss" if self.objective == "bayes" else "loss of the worst secret"
        shaped = f" that is {' and '.join(self.shape)}" if self.shape else ""
        if np.isinf(self.gap):
            claim = f"No mechanism with this promise{shaped} is known to have a smaller {which} than"
        elif self.status == "not proved":
            claim = f"It is not proved that no mechanism with this promise{shaped} has a much smaller {which} than"
        elif self.gap == 0:
            claim = f"No mechanism with this promise{shaped} has a smaller {which} than"
        else:
            claim = f"No mechanism with this promise{shaped} can improve by more than {self.gap:.3g} on the {which} of"
        floats = ", in floats" if "floats" in self.status else ""
        held = f" {self.shapes_in_words}" if self.shapes else ""
        return (
            f"{claim} {self.loss_value:.6g} ({self.loss.made}{floats}): {self.path}; {self.why}.{held} "
            f"{self.guarantee.in_words()}"
        )

    @property
    def shapes_in_words(self) -> str:
        """How exactly the table that is drawn from has its shapes."""
        exact = [name for name, apart in self.shapes.items() if apart == 0]
        rest = [f"{name} to within {upward(apart)}" for name, apart in self.shapes.items() if apart > 0]
        parts = [*([f"{' and '.join(exact)} exactly"] if exact else []), *rest]
        return f"The probabilities that are drawn from are {', '.join(parts)}."

    # Drawing ---------------------------------------------------------------------------------------------------------------

    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One action for every secret."""
        if isinstance(self.source, FiniteMechanism):
            return self.source.release(values, rng)
        codes, form = self._inputs.encode(values)
        start = codes if self.rank is None else self.rank[codes]
        drawn = np.asarray(self.source.release(start, rng), dtype=np.intp)
        assert self.places is not None
        return self._outputs.decode(self.places[drawn], form)

    def map(self, distance: float) -> float:
        """The largest log-ratio of output probabilities for two secrets at this distance."""
        return self.guarantee.bound(distance)

    # What is proved --------------------------------------------------------------------------------------------------------

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The claim and its proof: the integers that are drawn from, and how the output is answered."""
        if isinstance(self.source, FiniteMechanism):
            return Certificate.of(self.source.certified, self.name, simulated=rng is not None)
        document = self.source.certificate(rng).document
        distances = dict(document["claim"]["distances"])
        if self.step is not None:
            distances = {"shape": "steps", "distance": str(self.step)}
        return Certificate.build(
            mechanism=self.name,
            epsilon=self.epsilon,
            delta=self.delta,
            metric=str(self.metric),
            distances=distances,
            proof=document["proof"],
            simulated=rng is not None,
            answers=self._answers(),
            **self._labels(),
        )

    def _labels(self) -> dict[str, Any]:
        """The secrets in the order of the source's inputs, unless they are its inputs or very many."""
        order = np.arange(len(self.secrets)) if self.rank is None else np.argsort(self.rank)
        secrets = [self.secrets[x] for x in order.tolist()]
        if len(secrets) > MOST_LABELS or secrets == list(range(len(secrets))):
            return {}
        return {"secrets" if self.rank is not None else "inputs": [encode_label(x) for x in secrets]}

    def _answers(self) -> list[Any]:
        """Where the action changes along the outputs: ``[output, action]`` from that output on."""
        assert self.places is not None
        changes = np.flatnonzero(np.concatenate([[True], np.diff(self.places) != 0]))
        return [[int(y), encode_label(self.actions[self.places[y]])] for y in changes.tolist()]

    # What it costs ---------------------------------------------------------------------------------------------------------

    def channel(self) -> Channel:
        """The channel onto the actions."""
        return self._channel

    @cached_property
    def _channel(self) -> Channel:
        if isinstance(self.source, FiniteMechanism):
            return self.source.channel()
        check_dense(len(self.secrets))
        check_dense(len(self.actions))
        assert self.places is not None
        if isinstance(self.source, GeometricMechanism):
            kernel = LineKernel(np.full(len(self.secrets) - 1, float(1 / self.source.scale)))
            return Channel.from_logs(
                kernel.merged(self.places, len(self.actions))[self.rank], self.secrets, self.actions
            )
        raw = self.source.channel().logs
        logs = np.full((len(self.actions), len(raw)), -np.inf)
        for y, w in enumerate(self.places.tolist()):
            np.logaddexp(logs[w], raw[:, y], out=logs[w])
        return Channel.from_logs(logs.T, self.secrets, self.actions)

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
        if len(self.secrets) > 1000 and loss in LOSSES and self._on_line:
            return self._line_error(loss)
        return expected_loss(self.channel(), loss)

    @property
    def _on_line(self) -> bool:
        """Whether actions are the secrets of an even line, in order, and answers do not go down."""
        if self.step is None or self.places is None or self.rank is None or self.actions != self.secrets:
            return False
        ordered = self.rank[self.places]
        return bool((np.diff(ordered) >= 0).all())

    def _line_error(self, loss: str) -> float:
        """Sums over the outputs below and above each secret, in linear time."""
        assert self.rank is not None
        assert self.places is not None
        n, rate = len(self.secrets), float(1 / self.source.scale)  # type: ignore[union-attr]
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

    @cached_property
    def _inputs(self) -> Labels:
        return Labels(self.secrets)

    @cached_property
    def _outputs(self) -> Labels:
        return Labels(self.actions)

    def __getstate__(self) -> dict[str, Any]:
        """What it was made of; everything else is built again where it is used."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __repr__(self) -> str:
        return f"optimal({len(self.secrets)} secrets to {len(self.actions)} actions, {self.guarantee}, {self.path})"
