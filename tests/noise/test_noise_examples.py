from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import noisewright.sampling

MODULES = [
    "noisewright.sampling",
    *(m.name for m in pkgutil.walk_packages(noisewright.sampling.__path__, "noisewright.sampling.") if not m.ispkg),
]


@pytest.mark.parametrize("name", [m for m in MODULES if not m.endswith("blocks")])
def test_the_examples_in_the_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted > 0


def test_the_room_has_a_public_surface() -> None:
    assert all(hasattr(noisewright.sampling, name) for name in noisewright.sampling.__all__)
    assert noisewright.sampling.__all__ == sorted(noisewright.sampling.__all__)
