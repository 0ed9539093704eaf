r"""Priors: how likely each secret is before anything is released.

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

import numpy as np

from noisewright.core.arrays import Floats
from noisewright.core.channels import hyper
from noisewright.core.errors import ParameterError
from noisewright.core.labels import as_labels

__all__ = ["Prior", "as_prior", "uniform"]


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
            values = np.array(hyper.as_prior(self.probabilities, len(names)))
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
