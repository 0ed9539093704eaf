"""PyTorch, an optional part that networks alone import, and the way between its modules and arrays with names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.errors import MissingPartError, ParameterError

__all__ = ["Module", "Tensor", "arrays_of", "device_called", "device_of", "filled", "float_tensor", "nn", "torch"]

try:
    torch: Any = import_module("torch")
except ImportError:
    raise MissingPartError(
        "networks of faces need PyTorch; install it with pip install 'noisewright[networks]'."
    ) from None

nn: Any = torch.nn
Tensor = Any
Module = Any
COUNTERS = "num_batches_tracked"
"""Counter of a normalising layer that is never used."""


def float_tensor(array: NDArray[Any], device: Any = None) -> Tensor:
    """A copy of an array in single precision: arrays of files are read-only, which a tensor cannot be."""
    copy = torch.from_numpy(np.array(array, np.float32))
    return copy if device is None else copy.to(device)


def device_called(name: str) -> Any:
    """The processor or graphics card of this name, such as ``cpu`` or ``cuda``."""
    try:
        found = torch.device(name)
        torch.zeros(1, device=found).cpu()
    except (AssertionError, NotImplementedError, RuntimeError, TypeError):
        raise ParameterError(f"there is no device {name!r} here that can train; cpu is always there.") from None
    return found


def device_of(module: Module) -> Any:
    """Return where a module is."""
    return next((parameter.device for parameter in module.parameters()), torch.device("cpu"))


def arrays_of(module: Module) -> dict[str, NDArray[Any]]:
    """Everything that a module has learned, by name."""
    return {
        name: tensor.detach().cpu().numpy().copy()
        for name, tensor in module.state_dict().items()
        if not name.endswith(COUNTERS)
    }


def filled(module: Module, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Return whether the arrays match the parameters of the module; if so it has them now. The module may be without
    memory yet."""
    wanted = {name: tensor for name, tensor in module.state_dict().items() if not name.endswith(COUNTERS)}
    if {name: tuple(tensor.shape) for name, tensor in wanted.items()} != {name: a.shape for name, a in arrays.items()}:
        return False
    if not all(array.dtype == np.float32 and np.isfinite(array).all() for array in arrays.values()):
        return False
    module.load_state_dict({name: float_tensor(array) for name, array in arrays.items()}, strict=False, assign=True)
    module.eval()
    module.requires_grad_(False)
    return True
