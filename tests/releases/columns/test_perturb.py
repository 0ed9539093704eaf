"""Blocks of a table: one stream of draws for each column and block, stable names and types, and nothing else passed on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from columns_support import CASES, column, plan_of, policy_of

from noisewright.columns import BLOCK
from noisewright.exceptions import DataError, ParameterError
from noisewright.planning.column_plan import compile_column, output_schema, perturb_block

AGES = column("geometric", within=[0, 100], protect=5, epsilon=1) | {"name": "age"}
WARDS = column("randomised-response", categories=["n", "s"], epsilon=1) | {"name": "ward", "rename": "district"}
PLACE = {"name": ["lat", "lon"], "mechanism": "geo-laplace", "protect": 200, "epsilon": 1, "reference": [48.85, 2.35]}
KEPT = {"name": "year", "keep": True}
STATED = [WARDS, KEPT, PLACE, AGES]

TABLE = pa.record_batch(
    {
        "name": pa.array([f"person {i}" for i in range(300)]),
        "age": pa.array([i % 100 for i in range(300)], pa.int16()),
        "lat": pa.array([48.85 + i / 10_000 for i in range(300)]),
        "lon": pa.array([2.35 - i / 10_000 for i in range(300)]),
        "ward": pa.array(["n", "s", "s"] * 100).dictionary_encode(),
        "year": pa.array([2020 + i % 3 for i in range(300)], pa.int16()),
    }
)


def plans():
    policy = policy_of(*STATED)
    types = dict(zip(TABLE.schema.names, TABLE.schema.types, strict=True))
    return [compile_column(c, i, types, policy) for i, c in enumerate(policy.columns)]


def test_columns_come_in_the_order_of_the_policy_and_others_are_dropped():
    released = perturb_block(plans(), TABLE, block=0, seed=1)
    assert released.schema.names == ["district", "year", "lat", "lon", "age"]
    assert released.schema.types == [pa.string(), pa.int16(), pa.float64(), pa.float64(), pa.int16()]
    assert released.schema.metadata is None
    assert released.num_rows == 300
    assert released["year"].equals(TABLE["year"])
    assert not released["age"].equals(TABLE["age"])
    assert not released["lat"].equals(TABLE["lat"])


def test_each_column_and_block_has_its_own_stream():
    made = plans()
    for place, names in ((0, ["ward"]), (2, ["lat", "lon"]), (3, ["age"])):
        rng = np.random.default_rng(np.random.SeedSequence(9, spawn_key=(1, place, 4)))
        wanted = made[place].perturb([TABLE[name] for name in names], rng)
        got = perturb_block(made, TABLE, block=4, seed=9)
        assert [got[name] for name in made[place].outputs] == wanted
    assert not perturb_block(made, TABLE, 4, 9).equals(perturb_block(made, TABLE, 5, 9))
    assert not perturb_block(made, TABLE, 4, 9).equals(perturb_block(made, TABLE, 4, 8))
    assert perturb_block(made, TABLE, 4, 9).equals(perturb_block(made, TABLE, 4, 9))


def test_a_column_does_not_depend_on_what_else_is_released():
    alone = perturb_block(plans()[3:], TABLE, block=2, seed=5)
    assert alone["age"].equals(perturb_block(plans(), TABLE, block=2, seed=5)["age"])


def test_without_a_seed_every_draw_is_fresh():
    made = plans()
    first, second = (perturb_block(made, TABLE, block=0, seed=None) for _ in range(2))
    assert first.schema == second.schema
    assert not first.equals(second)
    assert first["year"].equals(second["year"])


def test_another_process_draws_the_same_from_the_same_seed():
    """A plan is pickled, sent, and used there: byte for byte the same block."""
    import pickle

    program = (
        "import pickle, sys, pyarrow as pa\n"
        "from noisewright.planning.column_plan import perturb_block\n"
        "plans, batch = pickle.loads(sys.stdin.buffer.read())\n"
        "out = perturb_block(plans, batch, 3, 7)\n"
        "sys.stdout.buffer.write(out.schema.serialize().to_pybytes() + out.serialize().to_pybytes())\n"
    )
    made = plans()
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps((made, TABLE)),
        capture_output=True,
        check=True,
        cwd=Path(__file__).parents[2] / "support",
    )
    here = perturb_block(made, TABLE, 3, 7)
    assert done.stdout == here.schema.serialize().to_pybytes() + here.serialize().to_pybytes()


def test_an_empty_block_has_the_same_names_and_types():
    made = plans()
    empty = perturb_block(made, TABLE.slice(0, 0), block=0, seed=None)
    assert empty.num_rows == 0
    assert empty.schema == output_schema(made, TABLE.schema) == perturb_block(made, TABLE, 0, None).schema


@pytest.mark.parametrize("name", CASES)
def test_every_mechanism_writes_what_the_schema_says(name):
    stated, _, arrays = CASES[name]
    plan = plan_of(stated, *(a.type for a in arrays))
    batch = pa.record_batch(arrays, names=list(plan.names))
    released = perturb_block([plan], batch, block=0, seed=3)
    assert released.schema == output_schema([plan], batch.schema)
    released.validate(full=True)


def test_a_block_that_is_too_large_or_lacks_a_column_is_refused():
    made = plans()
    large = pa.record_batch({"age": np.zeros(BLOCK + 1, dtype=np.int16)})
    with pytest.raises(ParameterError, match="at most 65536 rows"):
        perturb_block(made[3:], large, 0, None)
    with pytest.raises(DataError, match="one column 'ward'"):
        perturb_block(made, TABLE.drop_columns(["ward"]), 0, None)
    twice = pa.RecordBatch.from_arrays([TABLE["age"], TABLE["age"]], names=["age", "age"])
    with pytest.raises(DataError, match="one column 'age'"):
        perturb_block(made[3:], twice, 0, None)
