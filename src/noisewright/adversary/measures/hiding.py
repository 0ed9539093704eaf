r"""Hiding one property while revealing another: the author of a text, against its topic.

A channel is *eps-hiding* for a partition A of the secrets (say, authors) at a prior when the multiplicative leakage
about the block is ``L_A <= 1 + eps``, and *Delta-revealing* for a partition T (say, topics) when ``L_T >= 1 + Delta``.
Therefore the best attacker names the right A-block with probability at most ``(1 + eps) V_A(pi)``, and the best reader
the right T-block with ``(1 + Delta) V_T(pi)``. Post-processing keeps the hidden property hidden, and can only lose the
revealed one.

Not everything can be had. If every A-block lies inside a T-block, anyone who knows A knows T, and

.. math:: L_A \;\ge\; L_T \, \frac{V_T(\pi)}{c \, V_A(\pi)}

with the largest number ``c`` of A-blocks of positive probability in one T-block.

When all A-blocks are equally likely the fraction is 1, and a channel reveals at most as much about T as it fails to hide
about A: ``Delta <= eps``. Without equally likely blocks that is false, even if all secrets are:

>>> from noisewright.core.channels.channel import Channel
>>> topic = Channel.deterministic(lambda x: x in "ab", "abcd")
>>> print(hiding_and_revealing(topic, private=[{"a", "b"}, {"c"}, {"d"}], useful=[{"a", "b"}, {"c", "d"}]))
private: right 0.5 of the time before the output and 0.75 after it, so 0.5-hiding
useful: right 0.5 of the time before the output and 1 after it, so 1-revealing
every private block lies in a useful one, and they are not equally likely: revealing 1 sets no limit to hiding

Two partitions that cross need not conflict:

>>> crossed = hiding_and_revealing(topic, private=[{"a", "c"}, {"b", "d"}], useful=[{"a", "b"}, {"c", "d"}])
>>> crossed.hiding, crossed.revealing
(0.0, 1.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.adversary.measures.gallery import Blocks, Gain, partition
from noisewright.adversary.measures.vulnerability import Leakage, as_channel, leakage
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.mechanism import Mechanism
from noisewright.optimality.priors import Prior, as_prior

__all__ = ["HidingAndRevealing", "Nesting", "hiding", "hiding_and_revealing", "revealing"]

SAME_MASS = 1e-12
"""Blocks whose probabilities differ by no more than this count as equally likely."""


@dataclass(frozen=True)
class Nesting:
    """Position of a private partition within the useful partition that it refines, at a prior.

    ``most`` is the largest number of private blocks of positive probability in one useful block; ``equal`` says whether
    those blocks are all equally likely; ``ratio`` is ``V_T(pi) / (most V_A(pi))``, so that ``L_A >= ratio L_T``.
    """

    most: int
    equal: bool
    ratio: float

    def least_hiding(self, revealing: float) -> float:
        """The smallest eps with which any channel that is ``revealing``-revealing can hide, at this prior."""
        return max(0.0, self.ratio * (1 + revealing) - 1)


@dataclass(frozen=True)
class HidingAndRevealing:
    """Effect of a channel on a private and on a useful partition at one prior; ``nesting`` is None unless every private
    block lies in a useful one.
    """

    private: Leakage
    useful: Leakage
    nesting: Nesting | None

    @property
    def hiding(self) -> float:
        """The smallest eps for which the channel is eps-hiding."""
        return self.private.multiplicative - 1

    @property
    def revealing(self) -> float:
        """The largest Delta for which the channel is Delta-revealing."""
        return self.useful.multiplicative - 1

    def __str__(self) -> str:
        words = "right {:.6g} of the time before the output and {:.6g} after it, so {:.6g}-"
        lines = [
            "private: " + words.format(self.private.prior, self.private.posterior, self.hiding) + "hiding",
            "useful: " + words.format(self.useful.prior, self.useful.posterior, self.revealing) + "revealing",
        ]
        if self.nesting is None:
            lines.append("the private blocks do not lie inside the useful ones, so neither limits the other")
        else:
            likely = "equally likely" if self.nesting.equal else "not equally likely"
            least = self.nesting.least_hiding(self.revealing)
            limit = f"takes hiding no better than {least:.6g}" if least else "sets no limit to hiding"
            lines.append(
                f"every private block lies in a useful one, and they are {likely}: revealing {self.revealing:.6g} {limit}"
            )
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """The findings as plain data."""
        nesting = None
        if self.nesting is not None:
            nesting = {
                "most": self.nesting.most,
                "equal": self.nesting.equal,
                "ratio": self.nesting.ratio,
                "least_hiding": self.nesting.least_hiding(self.revealing),
            }
        return {
            "hiding": self.hiding,
            "revealing": self.revealing,
            "private": self.private.to_json(),
            "useful": self.useful.to_json(),
            "nesting": nesting,
        }


def hiding(channel: Channel | Mechanism, private: Blocks | Gain, prior: object = None) -> float:
    """The smallest eps for which the channel hides the block of the secret: ``L_A - 1``, 0 when nothing is learnt about it."""
    seen = as_channel(channel)
    return leakage(seen, prior, _partition(private, seen, "private")).multiplicative - 1


def revealing(channel: Channel | Mechanism, useful: Blocks | Gain, prior: object = None) -> float:
    """The largest Delta for which the channel reveals the block of the secret: ``L_T - 1``."""
    seen = as_channel(channel)
    return leakage(seen, prior, _partition(useful, seen, "useful")).multiplicative - 1


def hiding_and_revealing(
    channel: Channel | Mechanism, private: Blocks | Gain, useful: Blocks | Gain, prior: object = None
) -> HidingAndRevealing:
    """Measure how much of one partition is hidden and of the other revealed, and whether one limits the other;
    ``prior=None`` is the uniform one over the secrets.
    """
    seen = as_channel(channel)
    given = as_prior(prior, seen.inputs)
    authors, topics = _partition(private, seen, "private"), _partition(useful, seen, "useful")
    return HidingAndRevealing(
        leakage(seen, given, authors), leakage(seen, given, topics), _nesting(authors, topics, given)
    )


def _partition(blocks: Blocks | Gain, channel: Channel, what: str) -> Gain:
    if isinstance(blocks, Gain):
        found = blocks.restrict(channel.inputs)
        if found.blocks is not None:
            return found
        ones = (found.matrix == 1).sum(axis=0)
        if not (ones == 1).all() or (found.matrix != 0).sum() != len(channel.inputs):
            raise ParameterError(f"{what} must be a partition: each secret worth 1 in one block and 0 in the others.")
        return found
    return partition(channel.inputs, blocks)


def _block_of(gain: Gain) -> NDArray[np.intp]:
    """The block of each secret; a partition that is held as such needs no matrix."""
    return gain.matrix.argmax(axis=0) if gain.blocks is None else gain.blocks


def _nesting(private: Gain, useful: Gain, prior: Prior) -> Nesting | None:
    possible_secrets = prior.probabilities > 0
    inner, outer = (_block_of(gain)[possible_secrets] for gain in (private, useful))
    home: dict[int, int] = {}
    for a, t in zip(inner.tolist(), outer.tolist(), strict=True):
        if home.setdefault(a, t) != t:
            return None
    mass = private.expected(prior.probabilities[:, None])[:, 0]
    most = int(np.bincount(list(home.values())).max())
    equal = bool(np.ptp(mass[list(home)]) <= SAME_MASS)
    whole = float(useful.expected(prior.probabilities[:, None]).max())
    return Nesting(most, equal, whole / (most * float(mass.max())))
