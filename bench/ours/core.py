"""Our audits, certificates and the stand-alone checker at work."""

from __future__ import annotations

import json

import numpy as np

import noisewright as nw
from bench.work import Work
from noisewright.certificates.checker import checker
from noisewright.mechanisms.categorical.exponential import exponential_channel

__all__ = ["certify", "check", "design_exponential", "smallest_epsilon"]

METRICS: dict[str, nw.metrics.Metric] = {
    "line": nw.metrics.Line(),
    "euclidean": nw.metrics.Euclidean(),
    "discrete": nw.metrics.Discrete(),
}


def smallest_epsilon(n: int, metric: str) -> Work:
    """The smallest epsilon of a dense random channel, from the bare matrix."""
    matrix = np.random.default_rng(1).random((n, n))
    matrix /= matrix.sum(axis=1, keepdims=True)
    return Work(lambda: nw.Channel(matrix).epsilon(METRICS[metric]), 1, float)


def certify(channel: str, n: int) -> Work:
    """An integer table with a proved guarantee, from a channel in floats; the answer is the proved epsilon."""
    made, metric = _channel(channel, n)
    return Work(lambda: made.certify(1, metric), 1, lambda certified: float(certified.epsilon))


def check(channel: str, n: int) -> Work:
    """The stand-alone checker on the certificate of the same channel, from its JSON text."""
    made, metric = _channel(channel, n)
    text = nw.Certificate.of(made.certify(1, metric)).to_json()
    return Work(lambda: checker.check(json.loads(text)), 1, lambda claim: float(claim.startswith("epsilon = 1 ")))


def design_exponential(n: int) -> Work:
    """The whole construction of the exponential mechanism on an n x n grid: calibration and certificate."""
    points = _grid(n)
    return Work(
        lambda: nw.exponential(points, epsilon=1, metric=nw.metrics.Euclidean()),
        1,
        lambda made: made.parameters["nominal"],
    )


def _channel(name: str, n: int) -> tuple[nw.Channel, nw.metrics.Metric]:
    if name == "truncated geometric":
        return nw.geometric(epsilon=1, within=(0, n - 1)).channel(), nw.metrics.Line()
    return exponential_channel(_grid(n), 1.0, nw.metrics.Euclidean()), nw.metrics.Euclidean()


def _grid(n: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n) for j in range(n)]
