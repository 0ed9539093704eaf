"""The JSON of every command that is deterministic, and the options of all commands, stay as they are.

``python -m tests.cli.test_json_outputs`` writes ``tests/fixtures/json`` again, for a review of what differs. Floats are
compared to nine digits; times, versions, digests of locks, and seconds are left out.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from noisewright.cli import run

KEPT = Path(__file__).parents[1] / "fixtures" / "json"
DIGITS = 9
VARYING = {
    "created",
    "seconds",
    "started",
    "finished",
    "python",
    "versions",
    "rows_per_second",
    "when",
    "time",
    "release_id",
}
"""Keys whose values differ from run to run, or from machine to machine."""
COUNTS = ("--metric", "line:0..5", "--epsilon", "1/2")
BUDGET = ("--ledger", "ledger.sqlite")

CALLS: dict[str, tuple[str, ...]] = {
    "attack": ("attack",),
    "attack-author": (
        *("attack", "author", "authors.csv", "--text", "note", "--author", "who", "--epsilon", "2", "--size", "3"),
        *("--embedding", "few.nwe", "--seed", "1"),
    ),
    "attack-inference": (
        *("attack", "inference", "visits.parquet", "--sensitive", "smoker", "--useful", "ward"),
        *("--value", "b", "--epsilon", "1/2,2"),
    ),
    "attack-linkage": ("attack", "linkage", "visits.parquet", "--on", "age,ward"),
    "attack-linkage-known": ("attack", "linkage", "visits.parquet", "known.csv", "--on", "age,ward"),
    "attack-private-attribute": (
        *("attack", "private-attribute", "few.csv", "few.csv", "--private", "smoker"),
        *("--columns", "age", "--seed", "1"),
    ),
    "attack-suppression": ("attack", "suppression", "cells.csv"),
    "audit": ("audit", "line.csv"),
    "audit-certificate": ("audit", "geometric.json"),
    "audit-delta": ("audit", "response.csv", "--epsilon", "1/2", "--delta", "0.1"),
    "audit-gain": ("audit", "line.csv", "--prior", "uniform", "--gain", "metric:line"),
    "audit-table": ("audit", "response.csv", "--metric", "table:distances.csv"),
    "compare": ("compare", "line.csv", "flat.csv", "--metric", "line", "--details"),
    "compare-families": ("compare", "--families", "geometric,response", "--epsilon", "1", "--size", "4"),
    "compare-join": ("compare", "line.csv", "flat.csv", "--join", "max"),
    "compare-meet": ("compare", "line.csv", "flat.csv", "--meet", "privacy"),
    "design": ("design",),
    "design-extreme": ("design", "extreme", "--channel", "response.csv", "--factor", "3"),
    "design-gaussian": ("design", "gaussian", "--epsilon", "1", "--delta", "1e-6", "--sensitivity", "2"),
    "design-geo-laplace": ("design", "geo-laplace", "--epsilon", "1", "--radius", "500", "--reference", "48.85:2.35"),
    "design-geometric": ("design", "geometric", "--epsilon", "1/3", "--within", "0:20"),
    "design-kernels": ("design", "kernels", "--metric", "line:0..2", "--factor", "2"),
    "design-laplace": ("design", "laplace", "--epsilon", "1", "--within", "0:10"),
    "design-optimal": ("design", "optimal", *COUNTS),
    "design-optimal-minimax": ("design", "optimal", *COUNTS, "--objective", "minimax"),
    "design-randomised-response": ("design", "randomised-response", "--epsilon", "1", "--categories", "a,b,c"),
    "design-selection": ("design", "selection", "--epsilon", "1", "--candidates", "soup,salad", "--sensitivity", "1"),
    "design-universal": ("design", "universal", "--metric", "line:0..2", "--epsilon", "1/2", "--loss", "parity"),
    "embeddings-info": ("embeddings", "info", "few.nwe"),
    "estimate": ("estimate", "answers.csv", "--mechanism", "response.json"),
    "estimate-asymptotic": ("estimate", "answers.csv", "--mechanism", "response.json", "--intervals", "asymptotic"),
    "init": ("init", "visits.parquet"),
    "init-from-data": ("init", "visits.parquet", "--from-data"),
    "learn-optimum": ("learn", "optimum", "shares.csv", "--distortion", "0.1"),
    "ledger-check": ("ledger", "check", "ledger.sqlite"),
    "ledger-show": ("ledger", "show", "ledger.sqlite"),
    "match-seed": ("match", "seed", "-o", "scheme.json", "--dimension", "8", "--epsilon", "1/3", "--bits", "8"),
    "plan": ("plan", "policy.toml", "visits.parquet", *BUDGET),
    "plan-target-error": ("plan", "policy.toml", "visits.parquet", *BUDGET, "--target-error", "age=20"),
    "release-simulated": ("release", "policy.toml", "visits.parquet", "-o", "again", *BUDGET, "--seed", "7"),
    "release-simulated-estimate": ("estimate", "simulated", "--column", "age"),
    "reproduce": ("reproduce",),
    "reproduce-survey-tallies": ("reproduce", "survey_tallies", "--quick"),
    "survey": ("survey", "--epsilon", "1", "--respondents", "900", "--prevalence", "0.1"),
    "survey-categories": ("survey", "--epsilon", "1", "--respondents", "90", "--categories", "a,b,c,d"),
    "survey-delta": ("survey", "--epsilon", "1", "--delta", "0.05", "--respondents", "90"),
    "survey-dice": ("survey", "--epsilon", "1.61", "--respondents", "900", "--device", "dice", "--confidence", "0.99"),
    "verify": ("verify", "geometric.json", "response.json"),
    "verify-release": ("verify", "simulated"),
}
WORDS = ("cough", "fever", "clinic", "tired", "happy", "knee", "broken", "summer", "travel")
POLICY = """
dataset = "clinic"
budget = { epsilon = 4 }
columns = [
  { name = "age", mechanism = "geometric", within = [0, 110], protect = 5, epsilon = "1/2" },
  { name = "smoker", mechanism = "randomised-response", categories = ["yes", "no"], epsilon = 1 },
  { name = "ward", keep = true },
]
queries = [
  { name = "visits", aggregate = "count", epsilon = "1/4" },
  { name = "mean age", aggregate = "mean", column = "age", within = [0, 110], epsilon = "1/4" },
]
"""
FILES = {
    "policy.toml": POLICY,
    "response.csv": ",no,yes\nno,0.75,0.25\nyes,0.25,0.75\n",
    "line.csv": ",0,1,2\n0,0.5,0.25,0.25\n1,0.25,0.5,0.25\n2,0.25,0.25,0.5\n",
    "flat.csv": ",0,1,2\n0,0.4,0.3,0.3\n1,0.3,0.4,0.3\n2,0.3,0.3,0.4\n",
    "distances.csv": ",yes,no\nno,2,0\nyes,0,2\n",
    "shares.csv": ",0,1\n0,0.1875,0.0625\n1,0.1875,0.5625\n",
    "cells.csv": "ward,young,old,all\na,,7,12\nb,,,9\nall,8,13,21\n",
    "known.csv": "who,age,ward\nAda,31,a\nBen,62,b\n",
    "answers.csv": "answer\n" + "yes\n" * 40 + "no\n" * 60,
    "few.txt": "".join(f"{word} {place % 3}.5 {place // 3}.25\n" for place, word in enumerate(WORDS)),
    "few.csv": "age,smoker\n" + "".join(f"{20 + 7 * k % 60},{('yes', 'no', 'no')[k % 3]}\n" for k in range(60)),
    "authors.csv": "who,note\n"
    + "".join(f"{'AB'[k % 2]},{WORDS[k % 5]} {WORDS[k % 2]} {WORDS[3 * k % 9]}\n" for k in range(24)),
}


def ask(*arguments: str) -> str:
    """Run a command in the working directory and return what it prints."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(arguments)
    assert code in (0, 1), (arguments, out.getvalue(), err.getvalue())
    return out.getvalue()


def prepare() -> None:
    """Write the files that the calls read to the working directory."""
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    rng = np.random.default_rng(11)
    smoker, ward = (np.array(words)[rng.integers(len(words), size=200)] for words in (["yes", "no"], ["a", "b", "c"]))
    pyarrow.parquet.write_table(
        pa.table({"age": rng.integers(20, 90, 200), "smoker": smoker, "ward": ward}), "visits.parquet"
    )
    ask("embeddings", "import", "few.txt", "-o", "few.nwe", "--name", "few", "--licence", "CC0", "--source", "made up")
    ask("design", "geometric", "--epsilon", "1", "--within", "0:9", "-o", "geometric.json")
    ask("design", "randomised-response", "--categories", "yes,no", "--epsilon", "1", "-o", "response.json")
    ask("release", "policy.toml", "visits.parquet", "-o", "simulated", "--seed", "7", *BUDGET)
    ask("release", "policy.toml", "visits.parquet", "-o", "recorded", *BUDGET)


HEX = re.compile(r"\b[0-9a-f]{64}\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?[\d.+:Z]*")


def steady(value: Any, key: str = "") -> Any:
    """A JSON value without what differs from run to run, and with floats of nine digits."""
    if key in VARYING:
        return "..."
    if isinstance(value, dict):
        return {name: steady(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [steady(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return HEX.sub("...", value.replace(os.getcwd(), "HERE")) if isinstance(value, str) else value


def answer(name: str) -> Any:
    """Run a call in the prepared working directory and return its JSON."""
    return steady(json.loads(ask(*CALLS[name], "--json")))


# The options --------------------------------------------------------------------------------------------------------------


def commands(*words: str) -> Iterator[tuple[str, list[str]]]:
    """All commands below a command, each with its options and the names of its arguments, as help lists them."""
    below: list[str] = []
    found: list[str] = []
    box = ""
    for line in ask(*words, "--help").splitlines():
        if line.startswith("╭─ "):
            box = line.split()[1]
        elif line.startswith("│ ") and box == "Commands" and line[2] != " ":
            below.append(line[2:].split()[0])
        elif (
            line.startswith("│ ") and box == "Options" and (row := re.match(r"│ [* ]? {0,3}((--?[\w-]+[ ,]*)+)", line))
        ):
            found.append(" ".join(re.findall(r"--?[\w-]+", row[1])))
        elif line.startswith("│ ") and box == "Arguments" and (row := re.match(r"│ [* ] {1,4}(\S+)", line)):
            found.append(row[1])
    yield " ".join(words), found
    for word in below:
        yield from commands(*words, word)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("json")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_STATE_HOME", str(folder))
        prepare()
    return folder


@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_the_same_json(name: str, prepared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(prepared)
    monkeypatch.setenv("XDG_STATE_HOME", str(prepared))
    assert answer(name) == json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))


def test_the_kept_answers_are_those_of_the_calls() -> None:
    assert {path.stem for path in KEPT.iterdir()} == {*CALLS, "commands"}


def test_commands_and_options_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert dict(commands()) == json.loads((KEPT / "commands.json").read_text(encoding="utf-8"))


def main() -> None:
    """Write the answers again, without what other packages have registered."""
    sys.path.insert(0, str(KEPT.parents[1] / "support"))
    importlib.import_module("tests.conftest")
    KEPT.mkdir(parents=True, exist_ok=True)
    os.environ["COLUMNS"] = "200"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["XDG_STATE_HOME"] = folder
        prepare()
        answers = {name: answer(name) for name in CALLS} | {"commands": dict(commands())}
    for name, value in answers.items():
        (KEPT / f"{name}.json").write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
