"""Our samplers and mechanisms at work, with cryptographic bits throughout."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

import noisewright as nw
from bench.work import Work
from noisewright.sampling import TableSampler, discrete_gaussian, discrete_laplace

__all__ = [
    "gaussian",
    "geometric_release",
    "laplace",
    "laplace_stream",
    "response",
    "table_draws",
    "table_release",
    "table_stream",
]

CHUNK = 1 << 20


def laplace(scale: int, size: int) -> Work:
    """Exact discrete Laplace noise added to a vector of integers."""
    values = _integers(size)
    return Work(lambda: values + discrete_laplace(scale, size), size, lambda noisy: _mean_error(noisy, values))


def geometric_release(scale: int, size: int) -> Work:
    """The same as a mechanism: the checks of its input included."""
    values = _integers(size)
    mechanism = nw.geometric(epsilon=Fraction(1, scale))
    return Work(lambda: mechanism.release(values), size, lambda noisy: _mean_error(noisy, values))


def gaussian(sigma: int, size: int) -> Work:
    """Exact discrete Gaussian noise added to a vector of integers."""
    values = _integers(size)
    return Work(lambda: values + discrete_gaussian(sigma, size), size, lambda noisy: _mean_error(noisy, values))


def table_draws(n: int, size: int) -> Work:
    """Draws from the certified table of a truncated geometric, secrets given as row numbers."""
    certified = nw.geometric(epsilon=1, within=(0, n - 1)).channel().certify(1, nw.metrics.Line())
    sampler = TableSampler(certified.table, certified.width)
    secrets = np.random.default_rng(1).integers(0, n, size)
    return Work(lambda: sampler.draw(secrets), size, lambda drawn: _mean_error(drawn, secrets))


def table_release(n: int, size: int) -> Work:
    """The same as a mechanism: labels are looked up on the way in and on the way out."""
    mechanism = nw.mechanism(nw.geometric(epsilon=1, within=(0, n - 1)).channel(), epsilon=1, metric=nw.metrics.Line())
    secrets = np.random.default_rng(1).integers(0, n, size)
    mechanism.release(secrets[:1])  # the sampler is built at the first release; that is set-up
    return Work(lambda: mechanism.release(secrets), size, lambda drawn: _mean_error(drawn, secrets))


def response(categories: int, size: int) -> Work:
    """k-ary randomised response; the answer is how often the truth was kept."""
    mechanism = nw.randomised_response(categories, epsilon=1)
    secrets = np.random.default_rng(1).integers(0, categories, size)
    return Work(lambda: mechanism.release(secrets), size, lambda drawn: float((drawn == secrets).mean()))


def laplace_stream(scale: int, size: int) -> Work:
    """Discrete Laplace noise in chunks that are used and dropped."""

    def run() -> float:
        total = 0
        for start in range(0, size, CHUNK):
            total += int(np.abs(discrete_laplace(scale, min(CHUNK, size - start))).sum())
        return total / size

    return Work(run, size, float)


def table_stream(n: int, size: int) -> Work:
    """Draws from a certified table in chunks that are used and dropped."""
    certified = nw.geometric(epsilon=1, within=(0, n - 1)).channel().certify(1, nw.metrics.Line())
    sampler = TableSampler(certified.table, certified.width)
    secrets = np.random.default_rng(1).integers(0, n, CHUNK)

    def run() -> float:
        total = 0
        for start in range(0, size, CHUNK):
            part = secrets[: min(CHUNK, size - start)]
            total += int(np.abs(sampler.draw(part) - part).sum())
        return total / size

    return Work(run, size, float)


def _integers(size: int) -> Any:
    return np.random.default_rng(1).integers(-1000, 1000, size)


def _mean_error(noisy: Any, values: Any) -> float:
    return float(np.abs(noisy - values).mean())
