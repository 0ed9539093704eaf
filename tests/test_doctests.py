"""Every example in a docstring is run."""

import doctest
import importlib
import pkgutil

import pytest

import noisewright

MODULES = [
    "noisewright",
    *(m.name for m in pkgutil.walk_packages(noisewright.__path__, "noisewright.") if not m.name.endswith("__main__")),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_the_main_modules_have_examples():
    for name in (
        "channels.channel",
        "metrics.base",
        "certificates.composition",
        "mechanisms.numeric.geometric",
        "testing.mechanisms",
    ):
        assert doctest.DocTestFinder().find(importlib.import_module(f"noisewright.{name}"))[0].examples
