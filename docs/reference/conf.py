"""Configuration of the API reference: a page for each public package, and one for each public name, from their docstrings.

Build: ``make docs``, which writes ``out/reference/html``. Warnings are errors.
"""

from __future__ import annotations

import importlib
import pkgutil
import typing
from pathlib import Path
from types import ModuleType

import noisewright

project = "Noisewright"
author = "The Noisewright developers"
copyright = author
version = release = noisewright.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "sphinx.ext.viewcode", "numpydoc"]
master_doc = "index"
exclude_patterns = ["_build"]
templates_path = ["templates"]
html_theme = "basic"
html_title = "Noisewright: API reference"
autosummary_generate = True
autodoc_typehints = "none"  # the types stand in the parameter lists
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = False
default_role = "code"
add_module_names = False

MODULES = ("noisewright.base", "noisewright.exceptions", "noisewright.guarantees", "noisewright.resources")
LEFT_OUT = ("noisewright.cli", "noisewright.studio")
HERE = Path(__file__).parent


def public_packages() -> list[str]:
    """Return the packages that export names, and the modules next to them, in alphabetical order."""
    found = ["noisewright", *MODULES]
    for module in pkgutil.walk_packages(noisewright.__path__, "noisewright."):
        private = any(part.startswith("_") for part in module.name.split("."))
        if module.ispkg and not private and module.name not in LEFT_OUT:
            members = importlib.import_module(module.name)
            if any(not isinstance(getattr(members, name), ModuleType) for name in getattr(members, "__all__", ())):
                found.append(module.name)
    return sorted(found)


def package_page(package: str) -> str:
    """Return the page of a package: its docstring and a table of its public names."""
    members = importlib.import_module(package)
    public = [name for name in sorted(members.__all__) if not isinstance(getattr(members, name), ModuleType)]
    aliases = [name for name in public if typing.get_origin(getattr(members, name)) is not None]
    names = "\n".join(f"   {name}" for name in public if name not in aliases)
    types = f"Types: {', '.join(f'``{name}``' for name in aliases)}.\n" if aliases else ""
    line = "=" * len(package)
    return (
        f"{package}\n{line}\n\n.. automodule:: {package}\n   :no-members:\n\n.. currentmodule:: {package}\n\n"
        f".. autosummary::\n   :toctree: ../generated\n   :nosignatures:\n\n{names}\n\n{types}"
    )


def write_pages() -> None:
    """Write the pages of all packages; Sphinx makes one for each name."""
    folder = HERE / "packages"
    folder.mkdir(exist_ok=True)
    for package in public_packages():
        (folder / f"{package}.rst").write_text(package_page(package), encoding="utf-8")


write_pages()
