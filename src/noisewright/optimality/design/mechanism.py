r"""The optimal mechanism as it is used: drawn from, certified, and able to say how good it is and why.

It releases *actions* of its loss. Its :class:`~noisewright.optimality.design._drawing.Drawing` has the method of
drawing them, from an integer table or by answering the output of a geometric or a randomised response, and the proof of
the guarantee.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.exact import figure, upward
from noisewright.core.guarantee import Guarantee
from noisewright.core.mechanism import BaseMechanism, fields_alone
from noisewright.core.metrics.metric import Metric
from noisewright.mechanisms.foreign_columns import in_kind
from noisewright.optimality.design._drawing import NAME, Drawing, Promise
from noisewright.optimality.losses.loss import Loss

__all__ = ["OptimalMechanism"]


@dataclass(frozen=True, eq=False)
class OptimalMechanism(BaseMechanism):
    """The best mechanism for a loss; build it with :func:`~noisewright.optimality.design.optimal.optimal`.

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
