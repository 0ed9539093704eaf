"""Rows of Spark frames under names of our own, in the order of random keys, or in numbered blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from noisewright.releases.engines._shuffling import order_words

__all__ = ["GROUP", "KEYS", "NUMBER", "ROW", "in_parts", "keyed", "numbered", "places"]

ROW, NUMBER, GROUP = "nw_row", "nw_number", "nw_block"
KEYS = ("nw_key", "nw_key_too")
WITHIN_PARTITION = 33
"""``monotonically_increasing_id`` keeps the number of the row within its partition in this many low bits."""


def places(columns: Sequence[str]) -> list[str]:
    """Return the names of the columns inside Spark."""
    return [f"nw_c{place}" for place in range(len(columns))]


def keyed(drawn: pa.RecordBatch, number: int, seed: int | None) -> pa.RecordBatch:
    """A drawn block under names of our own, with the random keys that it must be sorted by."""
    words = order_words(drawn.num_rows, number, seed)
    keys = [pa.array(next(words)) for _ in KEYS]
    return pa.RecordBatch.from_arrays([*drawn.columns, *keys], [*places(drawn.schema.names), *KEYS])


def in_parts(drawn: Any, parts: int) -> Any:
    """Split keyed rows into partitions: each has an equal share of the possible keys, and all keys below those of the next."""
    from pyspark.sql import functions

    upper = functions.shiftright(functions.col(KEYS[0]), 32) + functions.lit(1 << 31)
    return drawn.repartitionById(parts, functions.shiftright(upper * functions.lit(parts), 32).cast("int"))


def numbered(frame: Any, size: int) -> Any:
    """Whole blocks of ``size`` rows in each partition, in order, with their number in ``nw_block``; for simulations.

    Rows are stored first, because counting partitions and numbering rows must see the same partitions.
    """
    from pyspark.sql import functions

    stored = frame.localCheckpoint(eager=True).withColumn(ROW, functions.monotonically_increasing_id())
    partition = functions.shiftright(ROW, WITHIN_PARTITION)
    counts = dict(stored.groupBy(partition.alias(GROUP)).count().collect())
    starts, start = [], 0
    for place in range(max(counts, default=0) + 1):
        starts.append(functions.lit(start).cast("bigint"))
        start += counts.get(place, 0)
    within = functions.col(ROW).bitwiseAND((1 << WITHIN_PARTITION) - 1)
    number = functions.element_at(functions.array(*starts), partition.cast("int") + 1) + within
    found = stored.withColumn(NUMBER, number).withColumn(GROUP, functions.floor(functions.col(NUMBER) / size)).drop(ROW)
    partitions = max(1, min(stored.rdd.getNumPartitions(), -(-start // size)))
    return found.repartitionByRange(partitions, GROUP).sortWithinPartitions(NUMBER).drop(NUMBER)
