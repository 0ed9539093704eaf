"""Matrix products on one core each: side by side in threads of our own, or where waiting for a second core costs more."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import Any

__all__ = ["single_products"]


def single_products() -> Any:
    """Products on one core each, while this lasts."""
    found = _libraries()
    return nullcontext() if found is None else found.limit(limits=1, user_api="blas")


@cache
def _libraries() -> Any:
    """The libraries of products that are loaded; looking for them takes longer than a small product."""
    import numpy as np  # noqa: F401  (its library is looked for)

    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # products then share cores among themselves; only slower
        return None
    return ThreadpoolController()
