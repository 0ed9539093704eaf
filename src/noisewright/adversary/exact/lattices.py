"""Mechanisms on different lattices have different secrets: which step works for both?

>>> from noisewright.mechanisms.numbers.laplace import laplace
>>> fine, coarse = (laplace(epsilon=1, within=(0, 10), lattice=step) for step in ("1/64", "1/32"))
>>> print(lattice_for_both(fine, coarse))             # of at most 200 secrets
1/16
>>> lattice_for_both(fine, "another thing") is None
True
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from noisewright.core.errors import NoisewrightError
from noisewright.mechanisms.laws.feasible import Feasible
from noisewright.mechanisms.numbers.geometric import GeometricMechanism
from noisewright.noise.lattice import Lattice

__all__ = ["lattice_for_both", "lattice_step"]

MOST_POINTS = 200
"""Secrets that are compared without a long wait."""


def lattice_step(thing: Any) -> Fraction | None:
    """The step of the lattice that a mechanism for numbers rounds to, 1 for integers; None for anything else."""
    if isinstance(thing, GeometricMechanism):
        return Fraction(1)
    lattice = getattr(thing, "lattice", getattr(getattr(thing, "inner", None), "lattice", None))
    return lattice.step if isinstance(lattice, Lattice) else None


def lattice_for_both(first: Any, second: Any) -> Fraction | None:
    """Return the finest step on which both mechanisms have the same few secrets, no finer than they are now; None if no
    step does.
    """
    steps = [step for thing in (first, second) if (step := lattice_step(thing)) is not None]
    answers = _answers(first)
    if len(steps) < 2 or answers is None or answers != _answers(second):
        return None
    low, high = answers.components[0][0], answers.components[-1][1]
    if low is None or high is None:
        return None
    step = max(steps)
    while (high - low) / step > MOST_POINTS:
        step *= 2
    whole = any(isinstance(thing, GeometricMechanism) for thing in (first, second))
    try:
        answers.on(Lattice.with_step(step))
    except NoisewrightError:  # too coarse for gaps or ends
        return None
    return None if whole and step != 1 else step


def _answers(thing: Any) -> Feasible | None:
    found = getattr(thing, "feasible", getattr(thing, "within", None))
    if isinstance(thing, GeometricMechanism) and found is not None:
        return Feasible(((Fraction(found[0]), Fraction(found[1])),))
    return found if isinstance(found, Feasible) else None
