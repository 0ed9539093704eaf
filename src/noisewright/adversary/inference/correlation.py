r"""Correlated secrets: the information that a release about one thing gives about another.

A release is drawn from ``x``; someone is after ``z``, which is not in the release at all, but goes with ``x``. The
joint distribution ``Pi[z, x]`` says how. The *Dalenius vulnerability* is what an adversary who is after ``z`` gains
from the release:

    ``V_g^D(Pi, C) = sum_y max_w sum_z g[w, z] (Pi C)[z, y]``

with a gain ``g`` on ``Z`` (one guess of ``z`` unless another is given). It is the vulnerability of the marginal of ``z`` under
the channel "first ``x`` given ``z``, then the release", written without a division. If ``B`` refines ``A`` on average, then
``V_g^D(Pi, B) <= V_g^D(Pi, A)`` for *every* correlation and gain.

>>> import noisewright as nw
>>> smoking_and_illness = Correlation([[0.60, 0.10], [0.05, 0.25]], ["well", "ill"], ["no", "yes"])
>>> asked = nw.randomised_response(["no", "yes"], epsilon=2)
>>> round(dalenius_vulnerability(smoking_and_illness, asked), 4)  # 0.70 before: guess "well"
0.7666

Reference: Bordenabe and Smith, *Correlated secrets in quantitative information flow* (2016).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from noisewright.adversary.measures.gallery import Blocks, as_gain, identity, partition
from noisewright.adversary.measures.vulnerability import as_channel
from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import MetricError, ParameterError
from noisewright.core.labels import as_labels
from noisewright.core.mechanism import Mechanism
from noisewright.optimality.priors import Prior, as_prior

__all__ = ["Correlation", "as_correlation", "dalenius_vulnerability", "states_of"]

Names = tuple[Hashable, ...]

SUM_TOLERANCE = 1e-9
"""A joint distribution may miss a sum of one by this much and is then renormalised; beyond it it is refused."""


class Correlation:
    """The joint distribution ``joint[z, x]`` of a secret ``z`` and of the ``x`` that a release is drawn from; immutable.

    ``secrets`` names the rows (the ``z``), ``inputs`` the columns (the ``x``); both default to ``0, 1, 2, ...``.
    """

    __slots__ = ("inputs", "joint", "secrets")

    joint: Floats
    secrets: Names
    inputs: Names

    def __init__(
        self, joint: ArrayLike, secrets: Iterable[Hashable] | None = None, inputs: Iterable[Hashable] | None = None
    ) -> None:
        values = _as_joint(joint)
        for name, value in (
            ("joint", values),
            ("secrets", _names(secrets, values.shape[0], "secrets", "rows")),
            ("inputs", _names(inputs, values.shape[1], "inputs", "columns")),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def from_table(cls, table: Any, secret: str, useful: str, *, missing: str = "refuse") -> Correlation:
        """The empirical correlation of two columns of a table: what someone expects of a new row who knows the old
        ones.

        The table is a pyarrow table, a pandas or Polars frame, or a mapping of columns. A row without a value is refused, or
        left out with ``missing="drop"``.

        >>> people = {"vote": ["red", "blue", "red", "red"], "age": [30, 30, 40, 40]}
        >>> Correlation.from_table(people, secret="vote", useful="age").joint.tolist()
        [[0.25, 0.0], [0.25, 0.5]]
        """
        from noisewright.adversary.inference.cross_table import cross_table

        found = cross_table(table, secret, useful, missing=missing)
        return cls(found.counts / found.total, found.rows, found.columns)

    @classmethod
    def from_partitions(
        cls, prior: object, secret: Blocks, useful: Blocks, states: Iterable[Hashable] | None = None
    ) -> Correlation:
        """``Pi[s, u] = prior(s and u)`` for two ways to put raw states into blocks: by a private and by a useful property.

        Blocks are a mapping or a function from states to blocks, or a list of sets. States are those that the
        prior names, unless they are given; ``prior=None`` is the uniform one.

        >>> answers = [(0, 0), (1, 0), (0, 1), (1, 1)]
        >>> Correlation.from_partitions(None, lambda who: who[0], sum, answers).joint.tolist()
        [[0.25, 0.25, 0.0], [0.0, 0.25, 0.25]]
        """
        names = states_of(prior) if states is None else as_labels(states, "states")
        belief = as_prior(prior, names).probabilities
        rows, columns = partition(names, secret), partition(names, useful)
        return cls(rows.expected(belief[:, None] * columns.matrix.T), rows.actions, columns.actions)

    @property
    def prior(self) -> Floats:
        """Probability of each secret: the marginal on ``z``."""
        return np.asarray(self.joint.sum(axis=1))

    @property
    def input_prior(self) -> Floats:
        """Probability of each input: the marginal on ``x``."""
        return np.asarray(self.joint.sum(axis=0))

    def turned(self) -> Correlation:
        """Exchange the two sides: the information that ``z`` gives about ``x``."""
        return Correlation(self.joint.T, self.inputs, self.secrets)

    def channel(self) -> Channel:
        """The channel from ``z`` to ``x``: the law of the input given the secret. Secrets of probability 0 have no row."""
        kept = self.prior > 0
        names = [z for z, there in zip(self.secrets, kept, strict=True) if there]
        return Channel(self.joint[kept], names, self.inputs, normalise=True)

    def after(self, channel: Channel | Mechanism) -> Correlation:
        """The correlation of the secret with the output of a release: ``Pi C``."""
        seen = as_channel(channel)
        return Correlation(self._pushed(seen), self.secrets, seen.outputs)

    def _pushed(self, seen: Channel) -> Floats:
        known = set(seen.inputs)
        odd = sum(x not in known for x in self.inputs)
        if odd:  # which ones is not said: they may be values of someone's table
            raise ParameterError(
                f"{odd} of the {len(self.inputs)} inputs of the correlation {'are' if odd > 1 else 'is'} no input of the "
                "channel; name both alike (see .inputs)."
            )
        return np.asarray(self.joint @ seen.matrix[seen.positions(self.inputs)])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Correlation does not change; build a new one.")

    def __reduce__(self) -> tuple[Any, ...]:
        return Correlation, (np.array(self.joint), self.secrets, self.inputs)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Correlation)
            and (self.secrets, self.inputs) == (other.secrets, other.inputs)
            and bool(np.array_equal(self.joint, other.joint))
        )

    def __hash__(self) -> int:
        return hash((self.secrets, self.inputs))

    def __repr__(self) -> str:
        return f"Correlation({len(self.secrets)} secrets with {len(self.inputs)} inputs)"


def dalenius_vulnerability(
    correlation: Correlation | ArrayLike, channel: Channel | Mechanism, gain: object = None
) -> float:
    """Return the gain of an adversary who is after ``z`` and sees the release about ``x``.

    ``gain`` is on the secrets ``z``; without one it is the chance to guess ``z`` in one try. A bare matrix ``Pi[z, x]`` has its
    columns in the order of the channel's inputs.

    >>> from noisewright.core.channels.channel import Channel
    >>> dalenius_vulnerability([[0.5, 0.0], [0.0, 0.5]], Channel([[0.75, 0.25], [0.25, 0.75]]))
    0.75
    """
    seen = as_channel(channel)
    known = as_correlation(correlation, seen)
    try:
        wanted = identity(known.secrets) if gain is None else as_gain(gain, known.secrets)
    except MetricError:  # its sentence names a point, which may be a value of someone's table
        raise ParameterError(
            "this metric does not measure the secrets of the correlation; choose one that does, such as metric:discrete."
        ) from None
    return float(wanted.expected(known._pushed(seen)).max(axis=0).sum())


def as_correlation(correlation: Correlation | ArrayLike, channel: Channel) -> Correlation:
    """The correlation itself, or the correlation of a bare matrix whose columns are the channel's inputs."""
    if isinstance(correlation, Correlation):
        return correlation
    values = _as_joint(correlation)
    if values.shape[1] != len(channel.inputs):
        raise ParameterError(
            f"a correlation with a channel of {len(channel.inputs)} inputs has as many columns, not {values.shape[1]}."
        )
    return Correlation(values, None, channel.inputs)


def states_of(prior: object) -> Names:
    """The states that a prior names; a bare list of probabilities is about 0, 1, 2, ... ."""
    if isinstance(prior, Prior):
        return prior.secrets
    if isinstance(prior, Mapping):
        return as_labels(prior, "states")
    if prior is None or isinstance(prior, str):
        raise ParameterError("name the states: states=[...], or a prior that maps each state to its probability.")
    return tuple(range(np.asarray(prior).size))


def _as_joint(joint: ArrayLike) -> Floats:
    try:
        values = np.array(joint, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError("a correlation needs a matrix of probabilities with rows of one length.") from None
    if values.ndim != 2 or 0 in values.shape:
        raise ParameterError(
            f"a correlation needs a matrix with a row for each secret and a column for each input, not shape {values.shape}."
        )
    if not np.isfinite(values).all() or (values < 0).any():
        raise ParameterError("a correlation needs finite probabilities that are 0 or more.")
    with np.errstate(over="ignore"):
        total = values.sum()
    if abs(total - 1) > SUM_TOLERANCE:
        raise ParameterError(f"a correlation must sum to 1, not to {total:.12g}; divide it by its sum.")
    if total != 1:
        values /= total
    values.flags.writeable = False
    return values


def _names(names: Iterable[Hashable] | None, size: int, what: str, of: str) -> Names:
    labels = tuple(range(size)) if names is None else as_labels(names, what)
    if len(labels) != size:
        raise ParameterError(f"{len(labels)} {what} were named for a correlation with {size} {of}.")
    if len(set(labels)) < size:
        raise ParameterError(f"the {what} of a correlation must be different from each other.")
    return labels
