r"""Repair of a solver's answer to a private channel: the smallest private majorant, evened out, then proved in
integers.

A solver's matrix keeps its constraints up to 1e-9 or so, and a 1e-12 next to a 0 is an infinite loss. Three steps make
it private without a tolerance (in real numbers; rounding is left to the certificate, which is exact):

1. ``R[x,w] = max_z e^(-D(x,z)) C[z,w]``, the smallest private matrix above the solver's;
2. its rows have sums ``s_x`` that are a little above 1. With ``S = max s``, ``e_x = S - s_x`` and a distribution
   ``q`` the rows ``R[x] + (e_x + t) q`` all have the sum ``S + t``, and they are private if ``e_x + t`` is, which a
   large enough ``t`` makes it;
3. everything is divided by ``S + t``.

Probabilities below ``e^-1500`` are raised to that, in the whole table alike: it keeps the guarantee, is far below what
any number shows, and keeps the integers of points that are very far apart short.

What that moves is about as much as the solver was off, divided by the loss between the nearest secrets; certification
measures and bounds it.
"""

from __future__ import annotations

import numpy as np

from noisewright.core.arrays import Floats

__all__ = ["LEAST_LOG", "floored", "majorant", "private_logs"]


LEAST_LOG = -1500.0
"""Possible outputs are at least this likely, in logarithms."""

NEGLIGIBLE = 1e-13
"""Sums of rows that agree this well are evened out by the certificate alone."""


def private_logs(matrix: Floats, losses: Floats, snap: float = 0.0, *, even: bool = False) -> Floats:
    """Logarithms of a private channel near ``matrix``, where ``losses[x, z]`` is ``epsilon d(x, z)``.

    Entries of at most ``snap`` count as 0 at first; they come back as far as privacy needs them. ``even``: the missing
    mass of a row is shared out among all outputs alike, which breaks no shape.
    """
    clipped = np.where(matrix > snap, matrix, 0.0)
    with np.errstate(divide="ignore"):
        logs = floored(majorant(np.log(clipped), losses))
    raised = np.exp(logs)
    sums = raised.sum(axis=1)
    missing = sums.max() - sums
    if missing.max() <= NEGLIGIBLE:
        return np.asarray(logs - np.log(sums)[:, None])
    extra = missing + _evened(missing, losses)
    shared = np.ones(raised.shape[1]) if even else raised.mean(axis=0)
    with np.errstate(divide="ignore"):
        logs = np.logaddexp(logs, np.log(extra)[:, None] + np.log(shared / shared.sum()))
    return np.asarray(logs - np.log(sums.max() + extra.max() - missing[extra.argmax()]))


def floored(logs: Floats) -> Floats:
    """Return the logarithms with the least one raised to ``LEAST_LOG``; impossible entries stay so."""
    return np.where(np.isneginf(logs), logs, np.maximum(logs, LEAST_LOG))


def majorant(logs: Floats, losses: Floats) -> Floats:
    """The smallest private matrix above the given one, in logarithms; for losses that obey the triangle inequality."""
    raised = logs.copy()
    for z in range(len(logs)):
        near = np.isfinite(losses[:, z])
        raised[near] = np.maximum(raised[near], logs[z] - losses[near, z, None])
    return raised


def _evened(amounts: Floats, losses: Floats) -> float:
    """The smallest ``t`` for which ``amounts + t`` is private: no amount above the allowed factor times another."""
    apart = losses > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = (np.exp(-losses) * amounts[:, None] - amounts[None, :]) / -np.expm1(-losses)
    return float(needed[apart].max(initial=0.0))
