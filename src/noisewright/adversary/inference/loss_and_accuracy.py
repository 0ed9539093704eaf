r"""Privacy loss and accuracy: one release, one property that should stay private, one that should come out.

Raw states have a prior ``pi``; a private property ``S`` and a useful property ``U`` put them into blocks. For a release ``M``:

- *privacy loss* ``V_S[pi > M] / V_S(pi)``: how many times as likely the private block is guessed with the release as
  without it; 1 means that the release reveals nothing about it;
- *accuracy* ``V_U[pi > M]``: how likely the useful block is guessed from the release; 1 means always.

Both are about the best guesser there can be, who knows the prior and the release. A release with a small epsilon can have a large
privacy loss, where the property goes with many records; see :mod:`noisewright.adversary.inference.no_free_lunch`.

>>> import noisewright as nw
>>> tally = nw.geometric(epsilon="1.0986122886681098", within=(0, 2)).channel()  # ln 3
>>> answers = [(0, 0), (1, 0), (0, 1), (1, 1)]
>>> found = inference(tally.after(sum, answers), secret=lambda who: who[0], useful=sum)
>>> print(found)
private: guessed with probability 0.5 before the release, 0.666667 after it (1.33333 times as often)
useful: guessed with probability 0.5 before the release, 0.625 after it
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisewright.adversary.inference.correlation import Correlation
from noisewright.adversary.measures.gallery import Blocks, Gain, identity, partition
from noisewright.adversary.measures.vulnerability import as_channel
from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.mechanism import Mechanism
from noisewright.optimality.priors import as_prior

__all__ = ["Guess", "Inference", "accuracy", "best_guess", "guess", "guess_through", "inference", "privacy_loss"]


ROUNDING = 1e-12
"""Chances that differ by less than this differ by rounding only; a release with such a difference does not leak."""


@dataclass(frozen=True)
class Guess:
    """Probabilities of guessing a property in one try: ``before`` the release, and ``after`` it, and the best
    guesses.
    """

    before: float
    after: float
    first: Hashable
    by_output: Mapping[Hashable, Hashable]

    @property
    def ratio(self) -> float:
        """Ratio of the probabilities of the right guess after and before the release; at least 1."""
        return self.after / self.before

    @property
    def leaks(self) -> bool:
        """Return whether the release helps at all to guess this property."""
        return self.after - self.before > ROUNDING


@dataclass(frozen=True)
class Inference:
    """Information that a release gives about a private and about a useful property."""

    secret: Guess
    useful: Guess

    @property
    def privacy_loss(self) -> float:
        """Ratio of the probabilities of guessing the private property, with and without the release; 1 means no
        inference.
        """
        return self.secret.ratio

    @property
    def accuracy(self) -> float:
        """Probability of guessing the useful property from the release."""
        return self.useful.after

    def to_json(self) -> dict[str, Any]:
        """The numbers as plain data."""
        return {
            "privacy_loss": self.privacy_loss,
            "accuracy": self.accuracy,
            "secret": {"before": self.secret.before, "after": self.secret.after},
            "useful": {"before": self.useful.before, "after": self.useful.after},
        }

    def __str__(self) -> str:
        told = f"{self.privacy_loss:.6g} times as often" if self.secret.leaks else "the release tells nothing about it"
        return (
            f"private: guessed with probability {self.secret.before:.6g} before the release, {self.secret.after:.6g} after it "
            f"({told})\nuseful: guessed with probability {self.useful.before:.6g} before the release, "
            f"{self.useful.after:.6g} after it"
        )


def inference(channel: Channel | Mechanism, secret: Blocks, useful: Blocks, prior: object = None) -> Inference:
    """Measure the information of a release of raw states about a private and a useful property, at this prior (uniform
    if none).
    """
    return Inference(guess(channel, secret, prior), guess(channel, useful, prior))


def privacy_loss(channel: Channel | Mechanism, secret: Blocks, prior: object = None) -> float:
    """``V_S[pi > M] / V_S(pi)``, 1 or more: how many times as likely the block of the state is guessed with the release.

    >>> from noisewright.core.channels.channel import Channel
    >>> privacy_loss(Channel.identity(range(4)), [{0, 1}, {2, 3}])
    2.0
    """
    return guess(channel, secret, prior).ratio


def accuracy(channel: Channel | Mechanism, useful: Blocks, prior: object = None) -> float:
    """``V_U[pi > M]``: how likely the block of the state is guessed from the release.

    >>> from noisewright.core.channels.channel import Channel
    >>> accuracy(Channel.constant(range(4)), [{0}, {1, 2, 3}])
    0.75
    """
    return guess(channel, useful, prior).after


def guess(channel: Channel | Mechanism, blocks: Blocks, prior: object = None) -> Guess:
    """The best guesses of the block of the state. Sums over blocks, then the largest for each output: ``O(n m)``."""
    seen = as_channel(channel)
    belief = as_prior(prior, seen.inputs).probabilities
    gain = partition(seen.inputs, blocks)
    return best_guess(gain.expected(belief[:, None] * seen.matrix), gain, seen.outputs)


def guess_through(correlation: Correlation, channel: Channel | Mechanism) -> Guess:
    """The best guesses of the secret of a correlation from a release about its inputs (the Dalenius form)."""
    after = correlation.after(channel)
    return best_guess(after.joint, identity(correlation.secrets), after.inputs)


def best_guess(joint: Floats, gain: Gain, outputs: tuple[Hashable, ...]) -> Guess:
    """The best guesses from the joint distribution of blocks and outputs, one row for each action of ``gain``."""
    first = joint.sum(axis=1)
    best = joint.argmax(axis=0)
    largest = joint[best, np.arange(len(best))]
    before = float(first.max())
    by_output = {y: gain.actions[w] for y, w, p in zip(outputs, best.tolist(), largest, strict=True) if p > 0}
    # Both sums round; knowledge after the release is never less than knowledge before it.
    return Guess(before, max(before, float(largest.sum())), gain.actions[int(first.argmax())], by_output)
