r"""Uncertainties: what an adversary is still unsure of, before and after the output.

An uncertainty is the smallest expected loss, ``U_l(pi) = min_w sum_x pi_x l(w, x)``, and every continuous concave function of
the belief is one. Three have closed forms, so that nothing is minimised over endlessly many actions:

=============  ============================================  =======================================================
``bayes``      ``1 - max_x pi_x``                            the probability that the best guess is wrong
``shannon``    ``-sum_x pi_x log2 pi_x``, in bits            actions are beliefs ``w``, and ``l = -log2 w_x``
``guessing``   ``sum_i i pi_(i)``, sorted from the largest   actions are orders to try secrets in; ``l`` counts the tries
=============  ============================================  =======================================================

>>> shannon([1/2, 1/4, 1/4]), guessing([1/2, 1/4, 1/4]), bayes_risk([1/2, 1/4, 1/4])
(1.5, 1.75, 0.5)
>>> from noisewright.core.channels.channel import Channel
>>> coin = Channel([[0.75, 0.25], [0.25, 0.75]])
>>> print(uncertainty(coin, measure="shannon"))
shannon: 1 before the output, 0.811278 after it, 0.188722 less

The last number is the mutual information between secret and output.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.adversary.measures.gallery import is_belief_function
from noisewright.adversary.measures.vulnerability import as_channel, belief_values, secrets_of
from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.mechanism import Mechanism
from noisewright.optimality.evaluate import posterior_loss, prior_loss
from noisewright.optimality.losses.gallery import NAMES, Loss, as_loss
from noisewright.optimality.priors import as_prior

__all__ = ["MEASURES", "Uncertainty", "bayes_risk", "guessing", "shannon", "uncertainty"]


@dataclass(frozen=True)
class Uncertainty:
    """An uncertainty before the output (``prior``) and on average after it (``posterior``)."""

    measure: str
    prior: float
    posterior: float

    @property
    def reduction(self) -> float:
        """Reduction by the output, non-negative; for ``shannon`` the mutual information in bits."""
        return self.prior - self.posterior

    def __str__(self) -> str:
        return f"{self.measure}: {self.prior:.6g} before the output, {self.posterior:.6g} after it, {self.reduction:.6g} less"

    def to_json(self) -> dict[str, Any]:
        """The uncertainty as plain data."""
        return {
            "measure": self.measure,
            "prior": self.prior,
            "posterior": self.posterior,
            "reduction": self.reduction,
        }


def uncertainty(
    channel: Channel | Mechanism, prior: object = None, measure: str | Loss | Callable[[Floats], float] = "shannon"
) -> Uncertainty:
    """An uncertainty about the secret before and after the output; ``prior=None`` is the uniform one.

    ``measure`` is ``"shannon"``, ``"guessing"`` or ``"bayes"``, a loss (its smallest expected value), or a concave function
    of the belief.
    """
    seen = as_channel(channel)
    given = as_prior(prior, seen.inputs)
    if isinstance(measure, str) and measure in MEASURES:
        hyper = seen.push(given.probabilities)
        many = _MANY[measure]
        before = float(many(given.probabilities[None, :])[0])
        after = float(np.dot(hyper.outers, many(hyper.inners.T)))
        return Uncertainty(measure, before, min(before, after))  # concave: only rounding could put it above
    if is_belief_function(measure):
        hyper = seen.push(given.probabilities)
        before = float(belief_values(measure, given.probabilities[None, :])[0])
        after = float(np.dot(hyper.outers, belief_values(measure, hyper.inners.T)))
        name = f"the function {getattr(measure, '__name__', 'given')}"
        if not (math.isfinite(before) and math.isfinite(after)):
            raise ParameterError(
                f"{name} is infinite before or after the output; a concave function of beliefs is finite."
            )
        if after > before + 1e-9 * max(abs(before), 1.0):
            raise ParameterError(
                f"{name} is larger after the output than before it, so it is not concave; an uncertainty is "
                "(for a vulnerability see noisewright.adversary.measures.vulnerability)."
            )
        return Uncertainty(name, before, min(before, after))
    if isinstance(measure, str) and measure.partition(":")[0].replace("_", "-") not in _LOSS_NAMES:
        words = ", ".join((*MEASURES, *NAMES))
        raise ParameterError(f"there is no uncertainty called {measure[:40]!r}; choose one of {words}, or give a Loss.")
    loss = as_loss(measure, seen.inputs)
    before = prior_loss(given, loss).value
    return Uncertainty(str(loss.made), before, min(before, posterior_loss(given, seen, loss).value))


def bayes_risk(belief: object) -> float:
    """The probability that the best single guess is wrong: ``1 - max_x p_x``."""
    return float(_bayes(_belief(belief))[0])


def shannon(belief: object) -> float:
    """The Shannon entropy in bits, ``-sum_x p_x log2 p_x``; an impossible secret adds nothing."""
    return float(_shannon(_belief(belief))[0])


def guessing(belief: object) -> float:
    """The expected number of tries until the secret is found, when the likeliest secrets are tried first."""
    return float(_guessing(_belief(belief))[0])


def _belief(belief: object) -> Floats:
    return as_prior(belief, secrets_of(belief)).probabilities[None, :]


def _bayes(beliefs: Floats) -> Floats:
    return np.asarray(1 - beliefs.max(axis=1))


def _shannon(beliefs: Floats) -> Floats:
    logs = np.log2(beliefs, out=np.zeros_like(beliefs), where=beliefs > 0)
    return np.asarray(np.abs((beliefs * logs).sum(axis=1)))  # a sum of numbers below 0; abs also turns -0.0 into 0


def _guessing(beliefs: Floats) -> Floats:
    tries = np.arange(1, beliefs.shape[1] + 1)
    return np.asarray((-np.sort(-beliefs, axis=1)) @ tries)


_MANY: dict[str, Callable[[Floats], Floats]] = {"shannon": _shannon, "guessing": _guessing, "bayes": _bayes}
"""Each measure for many beliefs at once, one a row."""

MEASURES = tuple(_MANY)
"""The uncertainties that can be named, in addition to the losses."""

_LOSS_NAMES = {name.partition(":")[0] for name in NAMES}
