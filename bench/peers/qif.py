# mypy: disable-error-code="import-untyped,import-not-found,no-untyped-call,attr-defined"
"""qif: its audit of d-privacy, with its own metrics, which are the fastest that it offers."""

from __future__ import annotations

import numpy as np
import qif

from bench.work import Work

__all__ = ["smallest_epsilon"]


def smallest_epsilon(n: int, metric: str) -> Work:
    """The smallest epsilon of a dense random channel."""
    matrix = np.random.default_rng(1).random((n, n))
    matrix /= matrix.sum(axis=1, keepdims=True)
    distance = {"euclidean": qif.metric.euclidean, "discrete": qif.metric.discrete}[metric](qif.uint)
    return Work(lambda: qif.measure.d_privacy.smallest_epsilon(matrix, distance), 1, float)
