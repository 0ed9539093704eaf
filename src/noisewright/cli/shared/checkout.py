"""The source around the library: ``experiments`` and ``bench`` are folders of a checkout and are not installed."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["from_checkout"]

PROJECT = "noisewright"


def from_checkout(package: str) -> Any:
    """Import a package of the checkout that this library runs from, or else of the one that the current folder is in.

    The first comes first because its code is sure to fit the library; another one must at least have the same version.
    """
    from noisewright.core.errors import MissingPartError

    if package in sys.modules:
        return sys.modules[package]
    root = _root(package)
    if root is None:
        raise MissingPartError(
            f"{package} comes with the source of Noisewright, not with the installed package; run this inside a copy of "
            "the source, or install one with pip install -e and its folder."
        )
    sys.path.insert(0, str(root))
    return import_module(package)


def _root(package: str) -> Path | None:
    from noisewright import __version__
    from noisewright.core.errors import MissingPartError

    for folder in _candidates():
        if not (folder / package / "__init__.py").is_file():
            continue
        project = _project(folder)
        if project.get("name") != PROJECT:
            continue
        if project.get("version") != __version__:
            raise MissingPartError(
                f"{package} here is that of version {project.get('version')}, and version {__version__} is installed; "
                "install this copy of the source with pip install -e and its folder."
            )
        return folder
    return None


def _candidates() -> Iterator[Path]:
    import noisewright

    yield Path(noisewright.__file__).resolve().parents[2]  # next to src/noisewright
    here = Path.cwd()
    yield from (here, *here.parents)


def _project(folder: Path) -> dict[str, Any]:
    """Return the statements of a folder's project file about the project; nothing if no readable one exists."""
    try:
        return dict(tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("project", {}))
    except (OSError, ValueError, TypeError):
        return {}
