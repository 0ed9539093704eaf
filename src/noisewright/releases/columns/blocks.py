"""One block of a table through all columns of a policy: what every engine does, wherever it runs.

Rows have global numbers and are worked on in blocks of :func:`block_rows` of them: 65,536, or fewer where a kind of column has
large values. In a simulation every column draws each of its blocks from a generator of its own, made from the seed, the
position of the column in the policy and the number of the block. Therefore the result depends on the seed and the data
alone, not on who worked on which block, or when. Without a seed all bits come from the operating system, in every
process again.

>>> import pyarrow as pa
>>> from noisewright.releases.columns.plan import compile_column
>>> from noisewright.releases.policy.policy import as_policy
>>> policy = as_policy({"dataset": "votes", "budget": {"epsilon": 1}, "columns": [
...     {"name": "vote", "mechanism": "randomised-response", "categories": ["yes", "no"], "epsilon": 1}]})
>>> batch = pa.record_batch({"vote": ["yes", "no", "no"], "name": ["Ada", "Bob", "Cy"]})
>>> plans = [compile_column(policy.columns[0], 0, {"vote": pa.string()}, policy)]
>>> perturb_block(plans, batch, block=0, seed=1).schema.names
['vote']
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from noisewright.core.errors import DataError, ParameterError
from noisewright.releases.columns.plan import ColumnPlan
from noisewright.releases.kinds.kept import visible_type
from noisewright.releases.kinds.kind import BLOCK

__all__ = ["block_rows", "output_schema", "perturb_block"]

COLUMNS = 1
"""The first number of a column's place among all streams of a seed; other parts of a release have other numbers."""


def block_rows(plans: Sequence[ColumnPlan]) -> int:
    """The rows of a block: the same for every engine, since it follows from the plans alone."""
    return min((plan.block_rows for plan in plans), default=BLOCK)


def perturb_block(
    plans: Sequence[ColumnPlan], batch: pa.RecordBatch, block: int, seed: int | None, coded: bool = False
) -> pa.RecordBatch:
    """The released columns of block number ``block``, in the order of the policy; all other columns are left out.

    ``coded``: labels may have a dictionary, which then holds all that the policy declares.
    """
    most = block_rows(plans)
    if batch.num_rows > most:
        raise ParameterError(f"a block has at most {most} rows, not {batch.num_rows}; cut the table into blocks first.")
    schema = output_schema(plans, batch.schema)
    released: list[pa.Array] = []
    for plan in plans:
        rng = None if seed is None or plan.keep else _generator(seed, plan.position, block)
        released += plan.perturb([batch.column(name) for name in plan.names], rng, coded)
    if coded:
        return pa.RecordBatch.from_arrays(released, names=schema.names)
    return pa.RecordBatch.from_arrays(released, schema=schema)


def output_schema(plans: Sequence[ColumnPlan], schema: pa.Schema) -> pa.Schema:
    """Return the names and types of the released columns; metadata of the input are not passed on."""
    for plan in plans:
        for name in plan.names:
            if schema.names.count(name) != 1:
                raise DataError(f"there must be one column {name!r} in the data; correct the policy, or the data.")
    fields = []
    for plan in plans:
        own = [visible_type(schema.field(name).type) for name in plan.names] if plan.keep else plan.output_types
        fields += [pa.field(name, type_) for name, type_ in zip(plan.outputs, own, strict=True)]
    return pa.schema(fields)


def _generator(seed: int, position: int, block: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(COLUMNS, position, block)))
