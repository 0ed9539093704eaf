"""Marginals for the report: how often each released value occurs, and how often it probably occurred before.

Both come from the released table alone: :mod:`~noisewright.releases.report.bins` counts it after it was written, and
:mod:`~noisewright.releases.report.before` estimates the table before. The true counts are never looked at.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisewright.releases.report.before import table_before
from noisewright.releases.report.bins import Bins, Perturbed, Shown

__all__ = ["Marginal", "marginal_of"]

OTHER = "all others"


@dataclass(frozen=True)
class Marginal:
    """One column as a report shows it. Counts are of released rows; ``estimated`` is scaled to the same number of rows.

    ``labels`` name categories; ``edges`` bound the bars of numbers and dates (in days since 1970), the outermost bars including
    everything beyond. For places ``edges`` run from south to north and ``across`` from west to east, and counts go row by row.
    ``low`` and ``high`` are the ends of whiskers that all hold the table before, at a confidence of 95 %; ``blend`` says over
    which width a bar passes into the next one in the estimate, and ``reason`` why there is none.
    """

    name: str
    kind: Shown
    counts: tuple[float, ...]
    labels: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()
    across: tuple[float, ...] = ()
    estimated: tuple[float, ...] | None = None
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    missing: int = 0
    blend: float = 0.0
    reason: str = ""


def marginal_of(plan: Perturbed, bins: Bins, counts: NDArray[np.int64]) -> Marginal:
    """The marginal of counted released values, with an estimate of the table before where there is an honest one."""
    before = table_before(plan, bins, counts[:-1])
    return Marginal(
        bins.name,
        bins.kind,
        tuple(before.bins.bars(counts[:-1]).astype(np.float64).tolist()),
        tuple(_name(label) for label in bins.labels) + ((OTHER,) if bins.others else ()),
        before.bins.edges,
        bins.across,
        before.estimated,
        before.low,
        before.high,
        int(counts[-1]),
        before.blend,
        before.reason,
    )


def _name(label: Hashable) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
