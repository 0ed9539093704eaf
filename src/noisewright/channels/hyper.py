"""Hyper-distributions: what an observer believes after the output, and how often.

Pushing a prior through a channel gives, for every possible output ``y``, its probability (the *outer*) and the posterior
over secrets (the *inner*). The inners average to the prior. The hyper of the uniform prior determines the channel up to
the names and the order of its outputs, and so all its leakage for every prior.

A prior that steers the choice of a mechanism must be public or privately obtained: a mechanism that was made best for
the data's own histogram reveals information about the data.

>>> uniform(["a", "b"]).probabilities.tolist()
[0.5, 0.5]
>>> as_prior({"a": 0.25, "b": 0.75}, ["b", "a"]).probabilities.tolist()
[0.75, 0.25]
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats
from noisewright.exceptions import ChannelError, ParameterError
from noisewright.metrics.base import as_labels

if TYPE_CHECKING:
    from noisewright.channels.channel import Channel

__all__ = ["Hyper", "Prior", "as_prior", "prior_weights", "uniform"]


Label = Hashable


@dataclass(frozen=True, eq=False)
class Hyper:
    """Outer probabilities ``outers[y]`` and posteriors ``inners[x, y]`` (one column for every output)."""

    outers: Floats
    inners: Floats
    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]

    @classmethod
    def of(cls, prior: Floats, matrix: Floats, inputs: tuple[Label, ...], outputs: tuple[Label, ...]) -> Hyper:
        """The hyper of a prior and a channel matrix; outputs of probability zero are dropped."""
        joint = prior[:, None] * matrix
        seen = np.asarray(joint.any(axis=0))
        outers = joint.sum(axis=0)[seen]
        inners = joint[:, seen] / outers
        # A column may sum to a subnormal number; scaling by its largest entry first keeps the posterior exact enough.
        tiny = outers < 1e-290
        if tiny.any():
            scaled = joint[:, seen][:, tiny]
            scaled = scaled / scaled.max(axis=0)
            inners[:, tiny] = scaled / scaled.sum(axis=0)
        return cls(outers, inners, inputs, tuple(y for y, kept in zip(outputs, seen, strict=True) if kept))

    @classmethod
    def from_posteriors(cls, outers: ArrayLike, posteriors: ArrayLike, inputs: Iterable[Label] | None = None) -> Hyper:
        """A hyper from weights and a list of posteriors (one row each)."""
        weights = np.asarray(outers, dtype=np.float64)
        inners = np.asarray(posteriors, dtype=np.float64).T
        if weights.ndim != 1 or inners.ndim != 2 or inners.shape[1] != len(weights):
            raise ChannelError("give one weight for each posterior, and one probability for each secret in it.")
        prior_weights(weights, len(weights), "weights")
        for column in inners.T:
            prior_weights(column, len(column), "a posterior")
        names = tuple(range(len(inners))) if inputs is None else tuple(inputs)
        if len(names) != len(inners):
            raise ChannelError(f"{len(names)} secrets were named for posteriors over {len(inners)}.")
        return cls(weights, inners, names, tuple(range(len(weights))))

    @property
    def prior(self) -> Floats:
        """The barycentre of the posteriors, which is the prior they came from."""
        return np.asarray(self.inners @ self.outers)

    def joint(self) -> Floats:
        """The joint distribution of secret and output."""
        return self.inners * self.outers

    def channel(self) -> Channel:
        """The channel that gives this hyper; it needs a prior that leaves no secret out."""
        from noisewright.channels.channel import Channel

        prior = self.prior
        if (prior <= 0).any():
            secret = self.inputs[int(np.argmax(prior <= 0))]
            raise ChannelError(f"secret {secret!r} has probability 0, so its row of the channel is not determined.")
        return Channel(self.joint() / prior[:, None], self.inputs, self.outputs, normalise=True)

    def reduce(self, tolerance: float = 1e-10) -> Hyper:
        """Merge outputs with equal posteriors and sort by posterior: the canonical form."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components
        from scipy.spatial import cKDTree

        pairs = cKDTree(self.inners.T).query_pairs(tolerance, p=np.inf, output_type="ndarray")
        links = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(self.outers),) * 2)
        count, group = connected_components(links, directed=False)
        joint = np.zeros((len(self.inputs), count))
        np.add.at(joint.T, group, self.joint().T)
        reduced = Hyper.of(np.ones(len(self.inputs)), joint, self.inputs, tuple(range(count)))
        order = np.lexsort(np.round(reduced.inners, 9)[::-1])
        return Hyper(reduced.outers[order], reduced.inners[:, order], self.inputs, tuple(range(count)))

    def equivalent(self, other: Hyper, tolerance: float = 1e-9) -> bool:
        """Return whether the two have the same posteriors with the same weights, whatever the order of their
        outputs.
        """
        from scipy.spatial import cKDTree

        mine, theirs = self.reduce(), other.reduce()
        if mine.inners.shape != theirs.inners.shape:
            return False
        gap, match = map(np.asarray, cKDTree(theirs.inners.T).query(mine.inners.T, p=np.inf))
        return bool(
            gap.max() <= tolerance
            and len(set(match.tolist())) == len(match)
            and np.abs(mine.outers - theirs.outers[match]).max() <= tolerance
        )


def prior_weights(prior: ArrayLike | None, size: int, what: str = "a prior") -> Floats:
    """A probability vector of the given size, checked; ``None`` stands for the uniform one."""
    if prior is None:
        return np.full(size, 1.0 / size)
    try:
        values = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ChannelError(f"{what} needs {size} probabilities, one for each secret; these are not numbers.") from None
    if values.shape != (size,):
        raise ChannelError(
            f"{what} needs {size} probabilities, one for each secret, not an array of shape {values.shape}."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise ChannelError(f"{what} needs finite probabilities that are 0 or more.")
    with np.errstate(over="ignore"):
        total = values.sum()
    if abs(total - 1) > 1e-9:
        raise ChannelError(f"{what} must sum to 1, not to {total:.12g}; divide it by its sum.")
    return np.asarray(values / values.sum())


# Priors -------------------------------------------------------------------------------------------------------------------
#
# Priors: how likely each secret is before anything is released.


@dataclass(frozen=True, eq=False)
class Prior:
    """A probability for each secret: 0 or more, with the sum 1 (up to 1e-9)."""

    probabilities: Floats
    secrets: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        names = as_labels(self.secrets, "the secrets of a prior")
        if not names or len(set(names)) < len(names):
            raise ParameterError("a prior is over one or more secrets, each named once.")
        try:
            values = np.array(prior_weights(self.probabilities, len(names)))
        except OverflowError:
            raise ParameterError("a prior needs probabilities from 0 to 1; one is far too large.") from None
        values.flags.writeable = False
        object.__setattr__(self, "probabilities", values)
        object.__setattr__(self, "secrets", names)

    @property
    def is_uniform(self) -> bool:
        """Return whether all secrets are equally likely (up to rounding)."""
        return bool(np.ptp(self.probabilities) <= 1e-12 * self.probabilities.max())

    def __len__(self) -> int:
        return len(self.secrets)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Prior)
            and self.secrets == other.secrets
            and np.array_equal(self.probabilities, other.probabilities)
        )

    def __hash__(self) -> int:
        return hash(self.secrets)

    def __repr__(self) -> str:
        return f"Prior({'uniform' if self.is_uniform else 'given'}, {len(self)} secrets)"


def uniform(secrets: Iterable[Hashable]) -> Prior:
    """All secrets equally likely."""
    names = as_labels(secrets, "the secrets of a prior")
    return Prior(np.full(len(names), 1 / max(len(names), 1)), names)


def as_prior(prior: object, secrets: Sequence[Hashable]) -> Prior:
    """A prior over the given secrets, from nothing (uniform), a list of probabilities, a mapping by label, or a
    :class:`Prior`.
    """
    if prior is None or (isinstance(prior, str) and prior == "uniform"):
        return uniform(secrets)
    if isinstance(prior, Prior):
        if prior.secrets == tuple(secrets):
            return prior
        prior = dict(zip(prior.secrets, prior.probabilities.tolist(), strict=True))
    if isinstance(prior, Mapping):
        unknown = set(prior) - set(secrets)
        if unknown:
            raise ParameterError(
                f"the prior names {len(unknown)} secret{'s' * (len(unknown) > 1)} that {'are' if len(unknown) > 1 else 'is'} not "
                f"among the {len(secrets)} given ones."
            )
        prior = [prior.get(x, 0.0) for x in secrets]
    if isinstance(prior, str):
        raise ParameterError(
            "a prior is 'uniform', a list of probabilities, or a mapping from secrets to probabilities."
        )
    return Prior(prior, tuple(secrets))  # type: ignore[arg-type]
