"""The truncated Laplace on an interval, and the geometric on ever finer grids that it is the limit of.

On ``[low, high]`` a number ``x`` is released as ``x + Laplace(1/epsilon)``, clamped: density ``epsilon/2 e^(-epsilon |y
- x|)`` inside, and an atom at each end. Among all mechanisms with the same guarantee and outputs in the interval it has
the least expected loss for every continuous prior and every loss that is Lipschitz and grows with distance, absolute
and squared error among them.

**Guarantee.** ``epsilon`` per ``sensitivity`` units of the line, for all pairs. What is drawn is the lattice version:
numbers are rounded to the lattice, discrete Laplace noise is added, and the sum is clamped; so the guarantee is exact
and proved, about distances between the lattice points that numbers are rounded to, as the name of its metric says.

>>> share = truncated_laplace(epsilon=4, within=(0, 1))
>>> 0 <= share.release(0.3) <= 1
True
>>> share.certificate().verify()
'epsilon = 4 per unit of line between points of the lattice 2^-12'

The rest of this module is analysis, in floats, on the interval [0, 1] (for another one scale epsilon by its length):
the continuous law (:class:`ClampedLaplace`), grids ``0, 1/n, ..., 1`` with their geometric (:func:`grid_geometric`),
the Laplace in bins (:func:`binned_laplace`), how to turn the one into the other (:func:`geometric_to_laplace`,
:func:`smooth`), and the loss from it (:func:`loss_gap`, :func:`continuous_loss`).

Reference: Fernandes, McIver and Morgan, *The Laplace mechanism has optimal utility for differential privacy over continuous
queries* (2021).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import guided, is_whole
from noisewright.base import EPSILON, LATTICE, OUTSIDE, SENSITIVITY, WITHIN, Entry, Takes
from noisewright.channels.channel import Channel
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms.numeric.additive import (
    AdditiveMechanism,
    LaplaceLaw,
    additive,
    additive_of,
    checked,
    choose_lattice,
)
from noisewright.mechanisms.numeric.laplace_distribution import from_cdf, from_density
from noisewright.numerics.exact import Exact
from noisewright.sampling.lattice import Lattice

__all__ = [
    "ClampedLaplace",
    "LossBounds",
    "binned_laplace",
    "continuous_loss",
    "geometric_to_laplace",
    "grid_geometric",
    "grid_prior",
    "lift",
    "loss_gap",
    "require_lattice",
    "smooth",
    "smoothing_density",
    "truncated_laplace",
]


@guided
def truncated_laplace(
    *,
    epsilon: Annotated[Exact, EPSILON],
    within: Annotated[tuple[Exact, Exact], WITHIN],
    sensitivity: Annotated[Exact, SENSITIVITY] = 1,
    outside: Annotated[str, OUTSIDE] = "refuse",
    lattice: Annotated[Exact, LATTICE] = "auto",
) -> AdditiveMechanism:
    """The truncated Laplace on the interval ``within``, drawn exactly on a lattice."""
    budget, size, _ = checked(epsilon, sensitivity)
    made = additive(
        "truncated-laplace",
        LaplaceLaw((grid := choose_lattice(lattice, size, size / budget)).steps(size) / budget),
        lattice=grid,
        epsilon=budget,
        sensitivity=size,
        scope="metric",
        within=within,
        outside=outside,
    )
    feasible = made.within
    if feasible is None or len(feasible.components) > 1 or feasible.low is None or feasible.high is None:
        raise ParameterError(
            "within must be one interval (low, high) with two ends; for other sets use snapped_laplace."
        )
    return made


@dataclass(frozen=True)
class ClampedLaplace:
    """The continuous law: Laplace noise of scale ``1/epsilon``, clamped to ``[low, high]``.

    >>> law = ClampedLaplace(4 * math.log(2))
    >>> [round(float(atom), 7) for atom in law.atoms(0.3)]
    [0.2176376, 0.0717936]
    """

    epsilon: float
    low: float = 0.0
    high: float = 1.0

    def atoms(self, x: ArrayLike) -> tuple[Floats, Floats]:
        """The probabilities of the two ends."""
        place = self._inside(x)
        return np.exp(-self.epsilon * (place - self.low)) / 2, np.exp(-self.epsilon * (self.high - place)) / 2

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        """The density at ``y`` strictly inside the interval; 0 elsewhere, where only the atoms have weight."""
        output = np.asarray(y, dtype=np.float64)
        inside = (output > self.low) & (output < self.high)
        return np.where(inside, self.epsilon / 2 * np.exp(-self.epsilon * np.abs(output - self._inside(x))), 0.0)

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        """``P(output <= y)``, atoms included."""
        output = np.asarray(y, dtype=np.float64)
        inside = _laplace_cdf(self.epsilon * (output - self._inside(x)))
        return np.where(output < self.low, 0.0, np.where(output >= self.high, 1.0, inside))

    def mass(self, start: ArrayLike, end: ArrayLike, x: ArrayLike) -> Floats:
        """``P(start <= output < end)``; the last interval takes the atom at the upper end when ``end`` is beyond it or at it."""
        edges = [np.asarray(e, dtype=np.float64) for e in (start, end)]
        below = [
            np.where(
                e <= self.low, 0.0, np.where(e >= self.high, 1.0, _laplace_cdf(self.epsilon * (e - self._inside(x))))
            )
            for e in edges
        ]
        return np.asarray(below[1] - below[0])

    def _inside(self, x: ArrayLike) -> Floats:
        place = np.asarray(x, dtype=np.float64)
        if not bool(((place >= self.low) & (place <= self.high)).all()):
            raise DataError("a value is outside the interval; clamp the column first, as part of the query.")
        return place


# Grids -------------------------------------------------------------------------------------------------------------


def grid_prior(cdf: Callable[[float], float], n: int) -> Floats:
    """The n-approximation of a prior on [0, 1]: point ``k/n`` gets the weight of ``[k/n, (k+1)/n)``, the last point none.

    >>> grid_prior(lambda x: x, 4).tolist()
    [0.25, 0.25, 0.25, 0.25, 0.0]
    """
    edges = np.array([cdf(k / _count(n)) for k in range(n + 1)], dtype=np.float64)
    edges[0], edges[-1] = 0.0, 1.0
    return np.append(np.diff(edges), 0.0)


def lift(x: ArrayLike, n: int) -> NDArray[np.int64]:
    """The grid point that stands for each ``x`` in [0, 1], as k of ``k/n``: ``floor(n x)``, and ``n - 1`` for ``x = 1``.

    A grid mechanism ``M`` becomes a step function on [0, 1] as ``M[lift(x, n)]``, a loss as ``loss[:, lift(x, n)]``;
    the loss of the one with the other for a prior is then exactly the loss of the grid mechanism for the approximated
    prior.
    """
    place = np.asarray(x, dtype=np.float64)
    if not bool(((place >= 0) & (place <= 1)).all()):
        raise DataError("a value is outside [0, 1]; rescale the column first.")
    return np.asarray(np.minimum(np.floor(_count(n) * place), n - 1), dtype=np.int64)


def grid_geometric(epsilon: float, n: int) -> Channel:
    """The truncated geometric on the grid ``0, 1/n, ..., 1`` with ``alpha = e^(-epsilon/n)``: epsilon-private on [0, 1]."""
    places = np.arange(_count(n) + 1)
    rate = epsilon / n
    logs = -rate * np.abs(places[:, None] - places[None, :]) + _column_logs(rate, n)
    labels = [k / n for k in range(n + 1)]
    return Channel.from_logs(logs, labels, labels)


def binned_laplace(epsilon: float, n: int, bins: int) -> Channel:
    """The truncated Laplace from the grid to ``bins`` equal cells of [0, 1]; the end cells hold the atoms."""
    edges = np.arange(_count(bins) + 1) / bins
    x = np.arange(_count(n) + 1) / n
    matrix = ClampedLaplace(epsilon).mass(edges[None, :-1], edges[None, 1:], x[:, None])
    return Channel(matrix, x.tolist(), [(j / bins, (j + 1) / bins) for j in range(bins)])


# From the geometric to the Laplace ---------------------------------------------------------------------------------


def geometric_to_laplace(epsilon: float, n: int, bins: int) -> Channel:
    r"""The post-processing ``R`` with ``grid_geometric @ R = binned_laplace``, in closed form.

    For ``x`` on the grid and ``y`` between the grid points ``ih`` and ``(i+1)h``, ``h = 1/n``,

    .. math:: e^{-\epsilon |y - x|} = \frac{\sinh \epsilon((i+1)h - y)}{\sinh \epsilon h} e^{-\epsilon |x - ih|}
              + \frac{\sinh \epsilon(y - ih)}{\sinh \epsilon h} e^{-\epsilon |x - (i+1)h|},

    so the posterior after ``y`` mixes the posteriors of the geometric after ``i`` and ``i + 1``. All weights are
    non-negative: the geometric reveals everything that the Laplace does.
    """
    h, rate = 1 / _count(n), epsilon / n
    edges = np.arange(_count(bins) + 1) / bins
    weights = np.zeros((n + 1, bins))
    for i in range(n + 1):
        for side in (-1, 1):  # the tent over point i: sinh(epsilon (h - |y - ih|)) / sinh(epsilon h) on either side
            near = np.clip(side * (edges - i * h), 0.0, h)
            if 0 <= i + side <= n:
                tent = (np.cosh(rate) - np.cosh(epsilon * (h - near))) / (2 * math.sinh(rate))
                weights[i] += side * np.diff(tent)
    weights[0, 0] += 0.5
    weights[n, -1] += 0.5
    scaled = weights / np.exp(_column_logs(rate, n))[:, None]
    labels = [k / n for k in range(n + 1)]
    return Channel(scaled, labels, [(j / bins, (j + 1) / bins) for j in range(bins)])


def smoothing_density(u: ArrayLike, epsilon: float, step: float) -> Floats:
    """The density of ``S`` on ``(-step, step)``, where Laplace noise is ``step`` times geometric noise plus ``S``."""
    inner = np.maximum(step - np.abs(np.asarray(u, dtype=np.float64)), 0.0)
    return np.asarray(epsilon * np.sinh(epsilon * inner) / (4 * math.sinh(epsilon * step / 2) ** 2))


def smooth(released: ArrayLike, *, epsilon: float, step: float, rng: np.random.Generator | None = None) -> Floats:
    """Turn geometric releases (multiples of ``step``, before any clamping) into Laplace releases by adding ``S``.

    Post-processing, made in floats: it cannot weaken the guarantee of its input. Clamp afterwards where a range is
    wanted.
    """
    given = np.asarray(released, dtype=np.float64)
    u = (rng or np.random.default_rng()).random(given.shape)
    # The distribution function is (cosh(epsilon (step + u)) - 1) / (2 (cosh(epsilon step) - 1)) up to 0; the rest is symmetric.
    height = 2 * np.minimum(u, 1 - u) * 2 * math.sinh(epsilon * step / 2) ** 2
    inward = np.arccosh(1 + height) / epsilon
    return np.asarray(given + np.where(u < 0.5, inward - step, step - inward))


# What is lost ------------------------------------------------------------------------------------------------------


def loss_gap(epsilon: float, n: int, lipschitz: float = 1.0) -> float:
    """Return the largest advantage of the geometric over the Laplace for values on the grid: ``lipschitz/2
    tanh(epsilon/(2n))``.

    For any prior on the grid and any loss that is Lipschitz in the secret with this constant. A Laplace posterior mixes two
    neighbouring geometric ones, whose total variation is at most ``tanh(epsilon/(2n))``.
    """
    return lipschitz / 2 * math.tanh(epsilon / (2 * _count(n)))


@dataclass(frozen=True)
class LossBounds:
    """An expected loss, and bounds between which the exact one lies; ``-inf`` where nothing is known from below."""

    value: float
    low: float
    high: float
    certain: bool
    """True if the bounds are proved. Otherwise they are an estimate: a density was evaluated at finitely many points."""


def continuous_loss(
    density: Callable[[Floats], ArrayLike] | None = None,
    *,
    epsilon: float,
    loss: str | Callable[[Floats, Floats], ArrayLike] = "absolute",
    lipschitz: float | None = None,
    guess_lipschitz: float | None = None,
    cdf: Callable[[float], float] | None = None,
    spikes: Sequence[float] = (),
    cells: int = 1000,
) -> LossBounds:
    """The least expected loss after a truncated Laplace release on [0, 1], for a reader who knows the prior.

    The prior is a ``cdf``, and the bounds are then certain, or a ``density``: they are an estimate then, which takes
    the error of quadrature in. State where a density has ``spikes`` or jumps; an undeclared one may be overlooked.

    ``loss`` is ``"absolute"``, ``"squared"``, or a function of guesses and secrets (two arrays that broadcast), then with its
    ``lipschitz`` constant in the secret. Guesses are in [0, 1]; for a loss of your own the middles of ``cells`` are tried. How
    much better one between them may be, its ``guess_lipschitz`` constant says; without that there is no lower bound.

    Secrets and outputs are cut into ``cells``. Inside a cell probabilities differ by a factor of at most ``e^(epsilon/cells)``
    and losses by ``lipschitz/cells``, which gives the bounds; for a smooth loss the value is far closer than they say.

    >>> uniform = continuous_loss(cdf=lambda x: x, epsilon=1, cells=400)
    >>> round(uniform.value, 4), uniform.low < 0.23783 < uniform.high, uniform.certain
    (0.2378, True, True)
    """
    if (density is None) == (cdf is None):
        raise ParameterError("a prior is given by its density or by its cdf, and not by both.")
    x = (np.arange(_count(cells)) + 0.5) / cells
    slope = {"absolute": 1.0, "squared": 2.0}.get(loss) if isinstance(loss, str) else lipschitz
    if slope is None:
        raise ParameterError("loss must be 'absolute', 'squared', or a function given with its lipschitz constant.")
    prior = from_cdf(cdf, cells) if cdf is not None else from_density(cast(Any, density), cells, spikes)
    law = ClampedLaplace(epsilon)
    edges = np.arange(cells + 1) / cells
    inner = law.mass(edges[None, :-1], edges[None, 1:], x[:, None])
    left, right = law.atoms(x)
    inner[:, 0] -= left
    inner[:, -1] -= right
    joint = np.column_stack([left, inner, right]) * prior.masses[:, None]
    # What a secret within half a cell changes: its probabilities by this factor, its loss by this much. An output adds a cell.
    wide, shift = math.exp(epsilon / (2 * cells)), slope / (2 * cells)
    spread = wide**3
    if callable(loss):
        table = np.asarray(np.broadcast_to(loss(x[:, None], x[None, :]), (cells, cells)), dtype=np.float64)
        _check_slopes(table, cells, slope, guess_lipschitz)
        costs = table @ joint
        best, column = costs.argmin(axis=0), np.arange(joint.shape[1])
        value, size, largest = float(costs.min(axis=0).sum()), np.abs(table) @ joint, float(np.abs(table).max())
        high = float((costs + (wide - 1) * size)[best, column].sum())
        low = -math.inf
        if guess_lipschitz is not None:
            low = float((costs - (spread - 1) * size).min(axis=0).sum()) - spread * guess_lipschitz / (2 * cells)
    else:
        value, largest = _least_loss(joint, x, loss), 1.0
        high, low = value * wide, value * (2 - spread)
    off = (prior.error + 1e-12) * (largest + shift) * spread
    low -= spread * shift + off
    return LossBounds(value, low if callable(loss) else max(low, 0.0), high + wide * shift + off, prior.certain)


def _check_slopes(table: Floats, cells: int, lipschitz: float, guess_lipschitz: float | None) -> None:
    """Refuse constants that the losses between neighbouring cells already exceed, by more than floats round."""
    if not bool(np.isfinite(table).all()):
        raise ParameterError("a loss is a finite number for every guess and every secret in [0, 1].")
    rounding = 1e-12 * float(np.abs(table).max())
    for axis, name, slope in ((1, "lipschitz", lipschitz), (0, "guess_lipschitz", guess_lipschitz)):
        steepest = float(np.abs(np.diff(table, axis=axis)).max(initial=0.0))
        if slope is not None and steepest > slope / cells * (1 + 1e-9) + rounding:
            raise ParameterError(f"this loss changes faster than its {name} constant says; give a larger one.")


def _least_loss(joint: Floats, x: Floats, loss: str) -> float:
    """The least loss of all guesses: for the squared error that is the mean, for the absolute error a median."""
    if loss == "squared":
        total, first = joint.sum(axis=0), x @ joint
        return float((x * x) @ joint.sum(axis=1) - (first**2 / np.where(total > 0, total, 1.0)).sum())
    below, moments = joint.cumsum(axis=0), (x[:, None] * joint).cumsum(axis=0)
    median = (below >= below[-1] / 2).argmax(axis=0)
    column = np.arange(joint.shape[1])
    return float(
        (x[median] * (2 * below[median, column] - below[-1]) + moments[-1] - 2 * moments[median, column]).sum()
    )


# The guard ---------------------------------------------------------------------------------------------------------


def require_lattice(values: Any, lattice: Lattice) -> NDArray[np.int64]:
    """The lattice indices of values that were declared to lie on the lattice; refused if one does not.

    Noise in whole steps on values *between* lattice points hides nothing: two values less than a step apart have no output in
    common. Round first, as part of the query (the mechanisms of this package do), or declare the lattice and be held to it.
    """
    indices = lattice.indices(values)
    if not np.array_equal(lattice.values(indices), np.asarray(values)):
        raise DataError(
            f"a value is not on the declared lattice ({lattice}), where noise in whole steps would hide nothing; round first."
        )
    return indices


def _laplace_cdf(z: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.where(z < 0, np.exp(np.minimum(z, 0.0)) / 2, 1 - np.exp(-np.maximum(z, 0.0)) / 2)


def _column_logs(rate: float, n: int) -> Floats:
    """Logarithms of the column weights of a truncated geometric: ``1/(1 + a)`` at the ends, ``(1 - a)/(1 + a)`` inside."""
    logs = np.full(n + 1, math.log(math.tanh(rate / 2)))
    logs[[0, -1]] = -math.log1p(math.exp(-rate))
    return logs


def _count(n: int) -> int:
    if not is_whole(n) or n < 1:
        raise ParameterError("a grid needs a whole number of steps, 1 or more.")
    return int(n)


ENTRY = Entry(
    "truncated-laplace",
    truncated_laplace,
    Takes("number", budget="sensitivity", within=True, lattice=True),
    summary="Laplace noise clamped to an interval, for all pairs",
    words="numbers",
    rebuild=partial(additive_of, LaplaceLaw.of),
)
