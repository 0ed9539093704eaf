"""The API reference is built from the docstrings of all public names, without a warning."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[1] / "docs/reference"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    for name in ("conf.py", "index.rst"):
        shutil.copy(SOURCE / name, folder)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        str(folder),
        str(folder / "html"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")
    return folder / "html"


def test_every_public_name_has_a_page(pages: Path) -> None:
    names = (Path(__file__).parent / "public_api.txt").read_text(encoding="utf-8").split()
    things = [
        name for name in names if not name.startswith(("noisewright.cli", "noisewright.studio")) and not is_module(name)
    ]
    assert len(things) > 300
    assert [name for name in things if not has_page(pages, name)] == []


def is_module(name: str) -> bool:
    package, _, member = name.rpartition(".")
    return isinstance(getattr(importlib.import_module(package), member), ModuleType)


def has_page(pages: Path, name: str) -> bool:
    """Return whether a name has a page, or is a type that the page of its package lists."""
    package, _, member = name.rpartition(".")
    listed = (pages / "packages" / f"{package}.html").read_text(encoding="utf-8")
    return (pages / "generated" / f"{name}.html").exists() or f">{member}</span>" in listed


def test_a_page_has_the_sections_of_its_docstring(pages: Path) -> None:
    text = (pages / "generated" / "noisewright.base.Parameter.html").read_text(encoding="utf-8")
    assert "Parameters" in text
    assert "How a policy sets it" in text
