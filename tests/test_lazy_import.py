"""The package loads what is used, and still looks as if everything were there."""

from __future__ import annotations

import importlib
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import noisewright as nw
from noisewright.core.loading.doors import homes

HEAVY = ("numpy", "scipy", "pyarrow", "duckdb", "clarabel", "cryptography", "pydantic", "matplotlib")
SLOW = {
    "scipy.linalg",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.spatial",
    "scipy.special",
    "pyarrow.dataset",
    "pyspark",
}
"""Parts that take longer to load than a small release takes."""


MORE = ("pandas", "pyarrow.compute", "numpy.random")


def loaded_after(code: str) -> set[str]:
    """Which of the heavy packages a fresh interpreter has loaded after running some code."""
    script = f"{code}\nimport sys\nprint('LOADED', *(m for m in {(*HEAVY, *SLOW, *MORE)!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=900, check=True)
    return set(done.stdout.splitlines()[-1].split()[1:])


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import noisewright") == set()
    assert loaded_after("import numpy, noisewright") == {"numpy"}  # the test can tell


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["plan", "--help"], ["release", "--help"]])
def test_asking_for_the_version_or_for_help_loads_nothing_heavy(words: list[str]) -> None:
    code = f"import noisewright.cli\nassert noisewright.cli.run({words}) == 0"
    assert loaded_after(code) <= (
        {"pydantic"} if len(words) > 1 else set()
    )  # Typer reads options of sub-commands with it


def test_whole_numbers_and_categories_need_no_scipy() -> None:
    code = """
import noisewright as nw
assert 0 <= nw.geometric(epsilon=1, within=(0, 9)).release(4) <= 9
assert nw.randomised_response(["a", "b"], epsilon=1).certificate().verify()
assert nw.mechanisms.snapped_laplace(epsilon=1).release([0.5, 2.0]).shape == (2,)
"""
    assert loaded_after(code) & {"scipy", "duckdb", "clarabel", "pydantic", "matplotlib"} == set()


def test_the_release_room_loads_no_slow_part() -> None:
    assert loaded_after("import noisewright.releases.run") & (SLOW | {"pandas", "matplotlib", "clarabel"}) == set()
    assert loaded_after("import scipy.optimize, pyarrow.dataset") >= {
        "scipy.optimize",
        "scipy.linalg",
        "pyarrow.dataset",
    }


def test_a_release_of_numbers_dates_categories_and_places_loads_no_slow_part() -> None:
    code = """
import datetime, pyarrow as pa
import noisewright as nw
day = datetime.date(2025, 3, 1)
policy = {"dataset": "clinic", "budget": {"epsilon": 5}, "columns": [
    {"name": "age", "mechanism": "geometric", "within": [0, 110], "epsilon": 1},
    {"name": "smoker", "mechanism": "randomised-response", "categories": [True, False], "epsilon": 1},
    {"name": "visit", "mechanism": "laplace", "within": [day, datetime.date(2025, 9, 1)], "epsilon": 1, "protect": 7},
    {"name": ["lat", "lon"], "mechanism": "geo-laplace", "reference": [53.4, -2.2], "epsilon": 1, "protect": 500}]}
places = {"lat": [53.41], "lon": [-2.21]}
done = nw.release(policy, pa.table({"age": [44], "smoker": [True], "visit": [day], **places}), seed=1)
assert done.data.num_rows == 1 and done.certificate.verify()
"""
    assert loaded_after(code) & SLOW == set()


def test_every_public_name_is_there() -> None:
    table = homes("noisewright")
    assert table["release"] == ("noisewright.releases.run", "release")
    for name, (home, original) in table.items():
        assert getattr(nw, name) is (
            importlib.import_module(f"noisewright.{name}")
            if home == "noisewright"
            else getattr(importlib.import_module(home), original)
        )
    assert set(nw.__all__) == set(table) <= set(dir(nw))
    starred: dict[str, object] = {}
    exec("from noisewright import *", starred)
    assert set(nw.__all__) <= set(starred)


def test_a_door_lists_what_is_public_and_nothing_that_it_needs_itself() -> None:
    for package in (nw, nw.releases, importlib.import_module("noisewright.noise")):
        assert [n for n in dir(package) if not n.startswith("__")] == package.__all__
        assert {"__name__", "__doc__", "__file__"} <= set(dir(package))
    assert "__version__" in dir(nw)


def test_the_top_has_about_25_names_and_they_are_plain() -> None:
    names = [name for name in nw.__all__ if not inspect.ismodule(getattr(nw, name))]
    assert len(names) <= 28
    for verb in (
        "audit",
        "compare",
        "estimate",
        "leakage",
        "optimal",
        "plan",
        "release",
        "survey",
        "load",
        "save",
        "mechanism",
    ):
        assert pickle.loads(pickle.dumps(getattr(nw, verb))) is getattr(nw, verb)
        assert inspect.isfunction(getattr(nw, verb))


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="module 'noisewright' has no attribute 'lapalce'"):
        _ = nw.lapalce  # type: ignore[attr-defined]
    code = "import noisewright\nassert 'laplace' in dir(noisewright)\nassert not hasattr(noisewright, 'Laplace')"
    assert loaded_after(code) == set()


SMALL = """
import pathlib, tempfile, duckdb
from noisewright.cli import run
folder = pathlib.Path(tempfile.mkdtemp())
(folder / "policy.toml").write_text('''dataset = "d"
budget = {{ epsilon = 9 }}
columns = [
  {{ name = "age", mechanism = "geometric", within = [0, 110], protect = 5, epsilon = 1 }},
  {{ name = "smoker", mechanism = "randomised-response", categories = [true, false], epsilon = 1 }},
  {{ name = "visit", mechanism = "laplace", within = [2025-01-01, 2025-12-31], protect = 7, epsilon = 1 }},
]
queries = [{{ name = "n", aggregate = "count", epsilon = 1 }}]
''')
rows = "SELECT 20 + i % 50 AS age, i % 3 = 0 AS smoker, DATE '2025-02-01' + i::INTEGER AS visit FROM range(30) AS t(i)"
duckdb.connect().execute(f"COPY ({{rows}}) TO '{{folder}}/small.{form}'")
words = ["{command}", str(folder / "policy.toml"), str(folder / "small.{form}"), "--ledger", str(folder / "l")]
assert run([*words, *(["-o", str(folder / "out")] if "{command}" == "release" else [])]) == 0
"""


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("command", ["plan", "release"])
def test_files_need_no_pandas_and_such_a_plan_no_scipy(command: str, form: str) -> None:
    loaded = loaded_after(SMALL.format(command=command, form=form))
    assert "duckdb" in loaded
    assert "pandas" not in loaded
    assert command == "release" or loaded & {"scipy", "cryptography"} == set()


def test_a_certificate_is_checked_without_tables(tmp_path: Path) -> None:
    file = tmp_path / "proof.json"
    file.write_text(nw.geometric(epsilon=1, within=(0, 9)).certificate().to_json())
    code = f"from noisewright.cli import run\nassert run(['verify', {str(file)!r}]) == 0"
    assert loaded_after(code) & {"pyarrow", "duckdb", "scipy", "pandas", "cryptography"} == set()
