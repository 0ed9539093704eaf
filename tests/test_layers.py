"""The layers: the contracts of ``pyproject.toml`` are kept, and what a release runs loads no optional package.

The contracts are those of import-linter, which counts every import: at the top of a file, in a function, and under
``if TYPE_CHECKING``. What is loaded at run time is looked at in fresh interpreters.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from importlinter.api import read_configuration
from importlinter.application.use_cases import lint_imports

import noisewright
from noisewright._version import VERSION

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "noisewright"
PROJECT = ROOT / "pyproject.toml"
CONTRACTS = {contract["id"]: contract for contract in read_configuration(str(PROJECT))["contracts_options"]}


def dotted(path: Path, source: Path = SOURCE) -> str:
    """Return the name of the module in a file."""
    parts = path.relative_to(source.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# Contracts ----------------------------------------------------------------------------------------------------------------


def test_the_contracts_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """An import that a contract passes over and that is gone is an error too, so the lists of these stay short."""
    kept = lint_imports(str(PROJECT), cache_dir=None, no_logo=True)
    said = capsys.readouterr().out
    assert kept, said
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken." in said


def named(contract: str) -> str:
    return str(CONTRACTS[contract]["name"])


def test_every_package_of_the_core_is_kept_from_the_labs() -> None:
    """The layers above the first lab and those of a release are all the layers that there are."""
    layers = [name.strip() for layer in CONTRACTS["layers"]["layers"] for name in layer.split("|")]
    release = CONTRACTS["release"]
    named_there = [*release["forbidden_modules"], *release["source_modules"]]
    assert sorted(named_there) == sorted(f"noisewright.{layer}" for layer in layers)
    assert layers.index("design") < layers.index("releases")


PLANTED = {
    "layers": ("metrics/planted.py", "from noisewright.policy.policy import Policy\n", "noisewright.metrics.planted"),
    "release": ("ledger/planted.py", "def f():\n    import noisewright.qif.gains\n", "noisewright.ledger.planted"),
    "checker": ("certificates/checker/planted.py", "import numpy\n", "noisewright.certificates.checker.planted"),
    "claims": ("claims/planted.py", "from noisewright import exceptions\n", "noisewright.claims.planted"),
    "mechanisms": (
        "mechanisms/numeric/planted.py",
        "if TYPE_CHECKING:\n    from noisewright.mechanisms.registry import registry\n",
        "noisewright.mechanisms.numeric.planted",
    ),
    "images": ("images/faces/planted.py", "from ..pipeline import video\n", "noisewright.images.faces.planted"),
    "optional": ("policy/planted.py", "def f():\n    from rich import print\n", "noisewright.policy.planted"),
    "acyclic": ("policy/fields.py", "\nfrom noisewright.policy import diagnostics, policy  # planted\n", "fields"),
}
"""For each contract a line that breaks it: the file, the line, and what is named."""


def test_a_planted_violation_of_every_contract_is_found(tmp_path: Path) -> None:
    assert set(PLANTED) == set(CONTRACTS)
    shutil.copytree(SOURCE, tmp_path / "noisewright", ignore=shutil.ignore_patterns("data", "assets", "__pycache__"))
    for name, line, _ in PLANTED.values():
        with (tmp_path / "noisewright" / name).open("a", encoding="utf-8") as file:
            file.write(line)
    code = f"from importlinter.cli import lint_imports; raise SystemExit(lint_imports({str(PROJECT)!r}, no_cache=True))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "400"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    summary, broken, details = done.stdout.partition("Broken contracts\n")
    assert broken
    for contract, (_, _, module) in PLANTED.items():
        assert f"{named(contract)} BROKEN" in summary, contract
        assert module in details


# Names --------------------------------------------------------------------------------------------------------------------


@cache
def imports(path: Path) -> list[tuple[str, str]]:
    """Return the modules that a file imports names from, and the names."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return [
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
    ]


MODULES = sorted(SOURCE.rglob("*.py"))


def test_private_names_stay_in_their_module() -> None:
    shared = {"noisewright._utils", "noisewright._typing", "noisewright._version"}
    assert [
        f"{dotted(path)}: {module}.{name}"
        for path in MODULES
        for module, name in imports(path)
        if module.startswith("noisewright") and name.startswith("_") and not name.startswith("__")
        if f"{module}.{name}" not in shared
    ] == []


def test_no_module_goes_through_a_package_above_it() -> None:
    """What a package shows is imported from where it is defined; only the command reads names of the whole package."""
    found = []
    for path in MODULES:
        if path.name == "__init__.py":
            continue
        for module, name in imports(path):
            package = SOURCE.parent.joinpath(*module.split("."))
            inside = (package / name).is_dir() or (package / f"{name}.py").exists()
            if package.is_dir() and dotted(path).startswith(f"{module}.") and not inside and name != "__version__":
                found.append(f"{dotted(path)}: {module}.{name}")
    assert found == []


def test_the_version_is_one() -> None:
    stated = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["version"]
    assert stated == VERSION == noisewright.__version__


# What is loaded at run time -----------------------------------------------------------------------------------------------

OPTIONAL = {"nicegui", "torch", "PIL", "cv2", "sklearn", "faiss", "typer", "rich", "matplotlib", "pandas", "pyspark"}
TABLES = {"pyarrow", "pydantic", "duckdb", "scipy", "cryptography", "clarabel"}
LOADED: dict[tuple[str, ...], set[str]] = {
    ("releases.certificate", "channels.channel", "channels.audit", "ledger.ledger"): OPTIONAL | TABLES,
    ("mechanisms.registry", "base", "io.serialization", "render.claims"): OPTIONAL | TABLES,
    ("estimation.inverses",): OPTIONAL | TABLES - {"pyarrow"},
    ("releases.release", "releases.report", "engines.local", "estimation.estimate"): OPTIONAL,
}
"""Modules, and the packages that none of them loads."""


@pytest.mark.parametrize("modules", LOADED, ids=lambda modules: modules[0])
def test_a_module_loads_no_package_that_it_does_not_need(modules: tuple[str, ...]) -> None:
    lines = "".join(f"import noisewright.{name}\n" for name in modules)
    assert loaded(lines) & LOADED[modules] == set()


def test_the_packages_that_are_loaded_can_be_told() -> None:
    assert {"pyarrow", "typer"} <= loaded("import pyarrow, typer")


def loaded(code: str) -> set[str]:
    """Return which of the packages a fresh interpreter has loaded after running some code."""
    script = f"{code}\nimport sys\nprint(*(name for name in {sorted(OPTIONAL | TABLES)!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())
