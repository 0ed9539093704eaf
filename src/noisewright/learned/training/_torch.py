"""PyTorch, an optional part that training alone imports."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from noisewright.core.errors import MissingPartError

__all__ = ["Tensor", "torch"]

try:
    torch: Any = import_module("torch")
except ImportError:
    raise MissingPartError(
        "training a privatiser needs PyTorch; install it with pip install 'noisewright[learned]'. Releases need none."
    ) from None

Tensor = Any
