r"""Laplace noise for ``(epsilon, delta)``: the exact saving by a small delta.

Continuous Laplace noise of scale ``b`` on numbers at most ``D`` apart has the exact profile ``delta(epsilon) = max(0, 1
- e^((epsilon - D/b)/2))``, so the smallest scale for ``(epsilon, delta)`` is ``b* = D / (epsilon - 2 ln(1 - delta))``.
The older sufficient rule ``D / (epsilon - ln(1 - delta))`` adds more noise than needed.

On the lattice the same is done for the law that is drawn. With ``a = e^(-1/t)``, neighbours ``m`` steps apart and ``s
= floor((m + epsilon t)/2) + 1``, the first output that is more than ``e^epsilon`` times more likely from one of them,

.. math:: \delta(\epsilon) = 1 - \frac{a^{m + 1 - s} + e^{\epsilon} a^{s}}{1 + a} \quad (s \le m), \qquad 0 \text{ otherwise,}

which is how much of the output lies from ``s`` on, in excess. ``t`` is the smallest scale, up to one part in ``2^40``,
for which integers prove it.

**Guarantee.** ``(epsilon, delta)`` between numbers at most ``sensitivity`` apart, exactly; ``epsilon = 0`` is allowed.
Delta is an extra probability that any event may have beyond the factor ``e^epsilon``, not the probability that the
guarantee fails.

>>> income = approximate_laplace(epsilon=1, delta="0.1")
>>> round(income.scale, 4)
0.826
>>> [round(laplace_scale(epsilon=1, delta=0.1, rule=rule), 4) for rule in ("exact", "source")]
[0.826, 0.9047]
>>> income.certificate().verify()
'epsilon = 1 between neighbours (line at most 1), delta = 0.1, in steps of 1/2048'

Reference: Holohan, Leith and Mason, *Differential privacy in metric spaces* (2015), for the sufficient rule.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Annotated

from noisewright.core.choices import one_of
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction, log_bounds
from noisewright.core.loading.guided import guided
from noisewright.core.loading.parameters import DELTA, EPSILON, LATTICE, OUTSIDE, SENSITIVITY, WITHIN, Parameter
from noisewright.core.mechanism import Takes
from noisewright.mechanisms.laws.additive import BITS, LaplaceLaw, lattice_delta
from noisewright.mechanisms.numbers.additive import (
    AdditiveMechanism,
    Within,
    additive,
    additive_of,
    checked,
    choose_lattice,
)
from noisewright.mechanisms.registry import Entry

__all__ = ["approximate_laplace", "laplace_delta", "laplace_scale"]

RULE = Parameter(
    "Calibration of the scale: the smallest that suffices (exact), or an older sufficient rule (source).",
    'rule = "exact"',
)


@guided
def approximate_laplace(
    *,
    epsilon: Annotated[Exact, EPSILON],
    delta: Annotated[Exact, DELTA],
    sensitivity: Annotated[Exact, SENSITIVITY] = 1,
    within: Annotated[Within, WITHIN] = None,
    outside: Annotated[str, OUTSIDE] = "refuse",
    lattice: Annotated[Exact, LATTICE] = "auto",
    rule: Annotated[str, RULE] = "exact",
) -> AdditiveMechanism:
    """Lattice Laplace noise for ``(epsilon, delta)``; ``within`` moves its outputs to the nearest valid number.

    ``rule="exact"`` is the smallest scale; ``rule="source"`` the older sufficient one, which also holds for vectors in
    the Manhattan metric.
    """
    budget, size, failure = checked(epsilon, sensitivity, as_fraction(delta, "delta"), zero_epsilon=True)
    continuous = laplace_scale(epsilon=float(budget), delta=float(failure), rule=rule)
    grid = choose_lattice(lattice, size, size * Fraction(continuous))
    steps = grid.steps(size)
    source = steps / (budget - Fraction(log_bounds(1 - failure, BITS)[1], 1 << BITS))
    unit = Fraction(2) ** (math.frexp(source)[1] - 41)  # a scale with a short fraction; rounding it up is safe
    enough = math.ceil(source / unit)
    scale = unit * (enough if rule == "source" else _smallest(budget, failure, steps, unit, enough))
    return additive(
        "approximate-laplace",
        LaplaceLaw(scale),
        lattice=grid,
        epsilon=budget,
        sensitivity=size,
        delta=failure,
        within=within,
        outside=outside,
    )


def laplace_scale(*, epsilon: float, delta: float, sensitivity: float = 1.0, rule: str = "exact") -> float:
    """The scale of continuous Laplace noise for ``(epsilon, delta)``: the smallest, or the source's sufficient one."""
    one_of(rule, "rule", ("exact", "source"))
    if not 0 <= delta < 1 or not epsilon >= 0 or epsilon + delta == 0:
        raise ParameterError(
            f"epsilon must be 0 or more, delta from 0 to below 1, and not both 0; not {epsilon:g} and {delta:g}."
        )
    return sensitivity / (epsilon - (2 if rule == "exact" else 1) * math.log1p(-delta))


def laplace_delta(*, epsilon: float, scale: float, sensitivity: float = 1.0) -> float:
    """The exact delta of continuous Laplace noise of this scale."""
    return max(0.0, -math.expm1((epsilon - sensitivity / scale) / 2))


def _smallest(epsilon: Fraction, delta: Fraction, steps: int, unit: Fraction, enough: int) -> int:
    """The smallest scale for ``delta``, in units, by halving the interval below one that is ``enough``."""
    low, high = 0, enough  # a scale of 0 is never enough
    while high - low > 1:
        middle = (low + high) // 2
        if lattice_delta(epsilon, middle * unit, steps) <= delta:
            high = middle
        else:
            low = middle
    return high


ENTRY = Entry(
    "approximate-laplace",
    approximate_laplace,
    Takes("number", budget="sensitivity", within=True, lattice=True, delta=True),
    summary="Laplace noise for epsilon and delta",
    words="numbers",
    rebuild=partial(additive_of, LaplaceLaw.of),
)
