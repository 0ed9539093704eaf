"""Marginals for the report: how often each released value occurs, and how often it probably occurred before.

Both come from the released table alone: :mod:`~noisewright.releases.report.bins` counts it after it was written, and
:mod:`~noisewright.releases.report.before` estimates the table before. The true counts are never looked at.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright.releases.report.before import table_before
from noisewright.releases.report.bins import Bins, Perturbed, Shown, bins_of

__all__ = ["Marginal", "counted", "marginal_of", "marginals_of"]

OTHERS = "all others"


@dataclass(frozen=True)
class Marginal:
    """One column as a report shows it. Counts are of released rows; ``estimated`` is scaled to the same number of rows.

    ``labels`` name categories; ``edges`` bound the bars of numbers and dates (in days since 1970), the outermost bars including
    everything beyond. For places ``edges`` run from south to north and ``across`` from west to east, and counts go row by row.
    ``low`` and ``high`` are the ends of whiskers that all hold the table before, at a confidence of 95 %; ``blend`` says over
    which width a bar passes into the next one in the estimate, and ``reason`` why none exists. For places on a ``plane`` the
    first coordinate, along ``edges``, goes across.
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
    plane: bool = False


def marginal_of(plan: Perturbed, bins: Bins, counts: NDArray[np.int64]) -> Marginal:
    """The marginal of counted released values, with an estimate of the table before where there is an honest one."""
    before = table_before(plan, bins, counts[:-1])
    return Marginal(
        bins.name,
        bins.kind,
        tuple(before.bins.bars(counts[:-1]).astype(np.float64).tolist()),
        tuple(_name(label) for label in bins.labels) + _others(bins),
        before.bins.edges,
        bins.across,
        before.estimated,
        before.low,
        before.high,
        int(counts[-1]),
        before.blend,
        before.reason,
        bins.plane,
    )


def marginals_of(columns: Sequence[Any], batches: Iterator[pa.RecordBatch]) -> list[Marginal]:
    """Charts of released rows alone, for the plans of the columns that can be charted."""
    charted = [column for column in columns if column.charted]
    return [
        marginal_of(column, *found) for column, found in zip(charted, counted(charted, batches), strict=True) if found
    ]


def counted(
    columns: Sequence[Perturbed], batches: Iterator[pa.RecordBatch]
) -> list[tuple[Bins, NDArray[np.int64]] | None]:
    """Return the bins of every column, chosen by the first rows, with the count of released values in each; None
    without a chart.
    """
    bins: dict[int, Bins | None] = {}
    counts: dict[int, NDArray[np.int64]] = {}
    for batch in batches:
        for place, column in enumerate(columns):
            arrays = [batch.column(batch.schema.get_field_index(name)) for name in column.outputs]
            if place not in bins:
                bins[place] = bins_of(column, arrays)
            if (cut := bins[place]) is not None:
                found = cut.count(arrays)
                counts[place] = found if place not in counts else counts[place] + found
    return [(cut, counts[place]) if (cut := bins.get(place)) is not None else None for place in range(len(columns))]


def _others(bins: Bins) -> tuple[str, ...]:
    if not bins.others:
        return ()
    return (OTHERS if bins.hidden is None else f"{bins.hidden:,} other{'' if bins.hidden == 1 else 's'}",)


def _name(label: Hashable) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)
