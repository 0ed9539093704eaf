"""Words for the fuzzer: policies, conditions of queries, files of channels and certificates, and command lines."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from noisewright.channels.channel import Channel
from noisewright.cli.app import run
from noisewright.io.serialization import load, save
from noisewright.mechanisms.numeric.geometric import geometric
from noisewright.policy.policy import Policy
from noisewright.queries.filters import parse_filter
from noisewright.queries.sql import DUCKDB
from noisewright.releases.release import plan
from noisewright.tables.duckdb import connected
from tests.attack.fuzz import spoken
from tests.attack.fuzz_data import mutated

__all__ = ["arguments", "channel", "condition", "policy"]

TABLE = pa.table(
    {"patient": ["p1", "p2"], "age": [31, 47], "smoker": ["yes", "no"], "ward": ["A", None], "weight": [61.5, 80.0]}
)
POLICY = """\
dataset = "clinic"
neighbours = "replace"
[budget]
epsilon = 30
delta = 1e-6
[unit]
column = "patient"
rows = 2
excess = "first"
[types]
ward = "text"
[[columns]]
name = "smoker"
mechanism = "randomised-response"
categories = ["yes", "no"]
epsilon = 1
[[columns]]
name = ["age", "weight"]
rename = ["a", "w"]
mechanism = "planar-laplace"
protect = 10
epsilon = 0.5
[[columns]]
name = "ward"
keep = true
[[queries]]
name = "adults"
aggregate = "count"
where = "age >= 18 AND ward IS NOT NULL"
epsilon = 1
[[queries]]
name = "mean age"
aggregate = "mean"
column = "age"
within = [0, 110]
by = { smoker = ["yes", "no"] }
weights = [1, 3]
epsilon = "1/3"
[[queries]]
name = "median"
aggregate = "quantile"
quantile = 0.5
column = "weight"
within = [0, 200.5]
bins = 100
epsilon = 1
"""
VALUES = [
    "0", "-1", "1e400", "1e-400", "nan", "inf", "-inf", "true", '""', '"any"', "[]", "{}", "[[]]", "[[[[1]]]]",
    "9" * 50, "1_0", "0x10", '"1/0"', '"1/3"', '"' + "9" * 5000 + '"', "9" * 5000, "1" + "0" * 400 + ".5",
    "2024-02-30", "2024-02-29", "2024-02-29T00:00:00Z", '"\\u0000"', '"\\u202e"', '"\\U0001F600"', "'''\n'''",
    '"../../x"', '"~"', '"http://x/y"', '"7 days"', '"age"', "[0, 1]", "[1, 0]", "[0, nan]", "[-inf, inf]",
    '["a", "a"]', "[1, 1.0, true]", "{ a.b.c = 1 }", '"auto"', '"laplace"', '"selection"', '"sum"',
    "[" * 200 + "]" * 200,
]  # fmt: skip
KEYS = [
    "epsilon", "delta", "within", "categories", "mechanism", "protect", "bins", "quantile", "by", "where", "values",
    "fill", "name", "missing", "outside", "points", "metric", "dimension", "margin", "lattice", "grid", "share",
    "a.b.c", '"\\u0000"', '""', "data", "order",
]  # fmt: skip


def policy(chance: random.Random, folder: Path) -> None:
    """A policy with lines, values or single characters changed, read and planned."""
    lines = POLICY.splitlines()
    for _ in range(chance.choice([1, 1, 2, 3, 6])):
        place = chance.randrange(len(lines))
        key, sign, _ = lines[place].partition(" = ")
        match chance.randrange(8):
            case 0 | 1 | 2 if sign:
                lines[place] = f"{key} = {chance.choice(VALUES)}"
            case 3:
                lines.insert(place, f"{chance.choice(KEYS)} = {chance.choice(VALUES)}")
            case 4:
                del lines[place]
            case 5:
                lines.insert(place, chance.choice(lines))
            case 6:
                lines[place] = mutated(lines[place].encode(), chance).decode("utf-8", "replace")
            case _ if sign:
                lines[place] = f"{chance.choice(KEYS)} = {lines[place].partition(' = ')[2]}"
    text = "\n".join(lines)
    plan(Policy.from_toml(text), TABLE, ledger=folder / "ledger")


# Conditions ---------------------------------------------------------------------------------------------------------------

TYPES = {name: TABLE.schema.field(name).type for name in TABLE.column_names}
TOKENS = [
    "age", "ward", "weight", '"age"', "`ward`", "18", "1.5", "1e3", "'A'", "'it''s'", "NULL", "TRUE", "AND", "OR",
    "NOT", "IN", "BETWEEN", "LIKE", "IS", "(", ")", ",", "+", "-", "*", "/", "%", "=", "<>", "<=", ">", "abs(",
    "length(", "coalesce(", "year(", "DATE '2024-01-01'", "read_csv('x')", "SELECT", "FROM", "getenv('HOME')",
    "random()", ";", "--", "/*", "'", '"', "\\", "\0", "$1", "?", "::", "CAST(age AS TEXT)", "pragma", "COPY",
    "current_user", "rowid", "data", "{", "[", "]", "\u2028", "\u00a0", "'\\'", "E'\\''", "x'00'", "@", "~", "||",
    "->",
]  # fmt: skip
ALLOWED = {
    "abs", "ceil", "coalesce", "day", "floor", "length", "month", "trim", "year", "epoch_us", "+", "-", "*", "/",
    "//", "%", "~~", "!~~", "list_value", "date_part", "isnan", "trunc", "epoch", "row", "make_timestamp", "greatest",
    "least", "strlen", "mod", "date_diff",
}  # fmt: skip


def condition(chance: random.Random, folder: Path) -> None:
    """Words in any order; what is let through is one expression of DuckDB's own parser, with no function but those of filters."""
    if chance.random() < 0.5:
        text = " ".join(chance.choice(TOKENS) for _ in range(chance.randrange(1, 12)))
    else:
        text = f"{_value(chance)} {chance.choice(['=', '<', '>=', '<>'])} {_value(chance)}"
        for _ in range(chance.randrange(3)):
            place = chance.randrange(len(text) + 1)
            text = text[:place] + chance.choice(TOKENS) + text[place:]
    sql = parse_filter(text, TYPES).sql(DUCKDB)
    with connected() as duck:
        duck.register("data", TABLE)
        ((tree,),) = duck.execute("SELECT json_serialize_sql($1::VARCHAR)", [f"SELECT {sql} FROM data"]).fetchall()
        parsed = json.loads(tree)
        assert not parsed["error"], f"{text!r} became what cannot be read"
        assert len(parsed["statements"]) == 1
        selected = parsed["statements"][0]["node"]["select_list"]
        assert len(selected) == 1, f"{text!r} became more than one expression"
        for part in _parts(selected):
            kind = part.get("class")
            assert kind in (
                None,
                "CONJUNCTION",
                "COMPARISON",
                "OPERATOR",
                "FUNCTION",
                "CAST",
                "CONSTANT",
                "COLUMN_REF",
                "TYPE",
            ), kind
            if kind == "FUNCTION":
                assert part["function_name"] in ALLOWED, f"{text!r} calls {part['function_name']}"
            if kind == "COLUMN_REF":
                assert part["column_names"] in [[name] for name in TYPES], f"{text!r} reads {part['column_names']}"


def _value(chance: random.Random) -> str:
    return chance.choice(
        [
            "age",
            "weight",
            "ward",
            "18",
            "2.5",
            "'A'",
            "length(ward)",
            "abs(age - 5)",
            "(age + weight)",
            "-age",
            "age % 7",
        ]
    )


def _parts(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
        for part in tree.values():
            yield from _parts(part)
    elif isinstance(tree, list):
        for part in tree:
            yield from _parts(part)


# Channels -----------------------------------------------------------------------------------------------------------------


@cache
def _channels() -> dict[str, bytes]:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        matrix = Channel(np.array([[0.5, 0.5], [0.25, 0.75]]), ["yes", "no"], ["a", "b"])
        for suffix in ("json", "csv", "npz"):
            save(matrix, folder / f"c.{suffix}")
        save(geometric(epsilon=1, sensitivity=1, within=(0, 4)).certificate(), folder / "g.json")
        return {path.name: path.read_bytes() for path in folder.iterdir()}


def channel(chance: random.Random, folder: Path) -> None:
    """A file of a channel or a certificate, damaged, and loaded."""
    name = chance.choice(sorted(_channels()))
    content = _channels()[name]
    if name.endswith((".json", ".csv")) and chance.random() < 0.6:
        words = content.decode().replace('"', ' " ').replace(",", " , ").split(" ")
        for _ in range(chance.choice([1, 1, 2, 4])):
            words[chance.randrange(len(words))] = chance.choice(
                [*VALUES, "null", "1/3", "0.1", "[", "]", "{", "}", ":", ""]
            )
        content = "".join(words).encode()
    else:
        content = mutated(content, chance)
    (folder / name).write_bytes(content)
    load(folder / name)


# Command lines ------------------------------------------------------------------------------------------------------------

COMMANDS = [
    "release", "plan", "design laplace", "design geometric", "design randomised-response", "design optimal", "audit",
    "survey", "estimate", "compare", "verify", "ledger show", "ledger check", "attack", "seed",
    "design planar-laplace", "design",
]  # fmt: skip
OPTIONS = [
    "--epsilon", "--sensitivity", "--within", "--json", "-o", "--seed", "--engine", "--ledger", "--format",
    "--metric", "--categories", "--column", "--mechanism", "--points", "--prior", "--loss", "--help", "--replace",
    "--by", "--size", "--delta", "--order",
]  # fmt: skip
GIVEN = [
    "1", "0", "-1", "1e999", "nan", "inf", "1/0", "0,1", "0,10", "x", "", "a.csv", "policy.toml", "c.json", "c.csv",
    "c.npz", "/dev/null", "/dev/zero", "pipe.csv", "[a].csv", "*.csv", ".", "..", "~", "\n", "é", "'", '"',
    "from range(1); COPY (SELECT 1) TO 'made.csv'", "a@b.duckdb", "http://x/a.csv", "9" * 400, "1" * 5000, "local",
    "line", "discrete", "json", "yes,no", "{}", "[1,2]", "--", "-", "\udcff.csv",
]  # fmt: skip


def arguments(chance: random.Random, folder: Path) -> None:
    """A command line of words that are right in other places."""
    import os

    (folder / "policy.toml").write_text(POLICY)
    (folder / "a.csv").write_text("patient,age,smoker,ward,weight\np1,31,yes,A,61.5\n")
    for name, content in _channels().items():
        (folder / name).write_bytes(content)
    os.mkfifo(folder / "pipe.csv")
    os.chdir(folder)
    os.environ.update(HOME=str(folder), NOISEWRIGHT_LEDGER=str(folder / "ledger"))
    words = chance.choice(COMMANDS).split()
    for _ in range(chance.randrange(7)):
        words += [chance.choice(OPTIONS)] if chance.random() < 0.4 else [chance.choice(GIVEN)]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    os.chdir("/")
    said = f"{words}: {code}"
    assert code in (0, 1, 2), said
    for word in ("Traceback", "went wrong inside"):
        assert word not in out.getvalue() + err.getvalue(), f"{said} {err.getvalue()[:300]}"
    if code == 2 and "--json" not in words:
        spoken(err.getvalue()[:1900])
        assert not out.getvalue(), said
    assert not (folder / "made.csv").exists(), said
