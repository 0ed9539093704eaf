"""The package loads what is used, and still looks as if everything were there, also without its sources.

A package lists its public names under ``TYPE_CHECKING`` and in a table; both say the same, and every name is found.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import pickle
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import noisewright as nw
from noisewright._utils.lazy import homes

SOURCE = Path(nw.__file__).parent
PACKAGES = {
    ".".join(["noisewright", *path.parent.relative_to(SOURCE).parts]): path for path in SOURCE.rglob("__init__.py")
}
LAZY = sorted(name for name, path in PACKAGES.items() if "= attach(" in path.read_text(encoding="utf-8"))
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


def test_a_release_loads_no_slow_part() -> None:
    assert loaded_after("import noisewright.releases.release") & (SLOW | {"pandas", "matplotlib", "clarabel"}) == set()
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
    assert table["release"] == ("noisewright.releases.release", "release")
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


def test_dir_lists_what_is_public_and_nothing_that_the_package_needs_itself() -> None:
    for package in (nw, nw.releases, importlib.import_module("noisewright.sampling")):
        assert [n for n in dir(package) if not n.startswith("__")] == package.__all__
        assert {"__name__", "__doc__", "__file__"} <= set(dir(package))
    assert "__version__" in dir(nw)


@pytest.mark.parametrize("package", LAZY)
def test_type_checkers_and_python_see_the_same_names(package: str) -> None:
    tree = ast.parse(PACKAGES[package].read_text(encoding="utf-8"))
    (choice,) = (node for node in tree.body if isinstance(node, ast.If))
    assert ast.unparse(choice.test) == "TYPE_CHECKING"
    shown = {}
    for node in choice.body:
        assert isinstance(node, ast.ImportFrom), ast.unparse(node)
        for alias in node.names:
            assert alias.asname is not None, f"{alias.name}: type checkers re-export `name as name` alone"
            shown[alias.asname] = (node.module, alias.name)
    assert shown == homes(package)


@pytest.mark.parametrize("package", LAZY)
def test_every_name_of_a_package_is_found_and_hides_no_module(package: str) -> None:
    found, folder = importlib.import_module(package), PACKAGES[package].parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    for name, (home, original) in homes(package).items():
        value = getattr(found, name)
        if inspect.ismodule(value):
            assert value is importlib.import_module(f"{home}.{original}")
        else:
            assert value is getattr(importlib.import_module(home), original)
            # Python binds a module to its name in the package: another thing of that name would be lost behind it.
            assert name not in modules, name
    assert set(found.__all__) == set(homes(package)) <= set(dir(found))


def test_the_package_works_without_its_sources(tmp_path: Path) -> None:
    """As compiled files alone, which is how some applications ship it: nothing reads a source when it runs."""
    for path in SOURCE.rglob("*"):
        target = tmp_path / "noisewright" / path.relative_to(SOURCE)
        if path.is_dir() or path.parent.name == "__pycache__":
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix != ".py":
            target.symlink_to(path)
            continue
        compiled = Path(importlib.util.cache_from_source(str(path)))
        if compiled.exists() and compiled.stat().st_mtime >= path.stat().st_mtime:
            shutil.copy(compiled, target.with_suffix(".pyc"))
        else:
            py_compile.compile(str(path), str(target.with_suffix(".pyc")), doraise=True)
    code = """
import importlib, noisewright as nw
assert nw.__file__.endswith("__init__.pyc"), nw.__file__
assert 0 <= nw.geometric(epsilon=1, within=(0, 9)).release(4) <= 9
assert "laplace" in dir(nw.mechanisms) and nw.mechanisms.staircase(epsilon=1).certificate().verify()
assert nw.optimal(4, epsilon=1, loss="absolute").channel().shape
from noisewright.mechanisms.registry import ADDRESSES
assert len([ADDRESSES.load(name) for name in ADDRESSES.own]) > 30
from noisewright.cli import run
assert run(["design", "laplace", "--epsilon", "1"]) == run(["release", "--help"]) == 0
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


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
