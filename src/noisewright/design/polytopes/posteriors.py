r"""Potentials: one number for each point, no two of which are farther apart than their points.

Those for which the pairs of *equal* distance connect all points are the corners of the set of all potentials (up to adding a
number). They are grown point by point, each new one at the full distance from one that is there.

>>> sorted(grow_potentials([[0, 1, 2], [1, 0, 1], [2, 1, 0]], [(0, 1), (1, 2)], most=10))
[(0, 1, 0), (0, 1, 2), (1, 0, 1), (2, 1, 0)]

Start from the uniform prior on ``n`` secrets. A channel is ``epsilon d``-private **iff** each of its posteriors ``p`` lies in

.. math:: P = \{\, p > 0,\ \sum_i p_i = 1,\ p_i \le e^{\epsilon d(i,j)} p_j \,\},

and any points of ``P`` with the uniform distribution between them are the posteriors of a private channel. Therefore
the corners of ``P`` are the parts of private mechanisms. With ``x = ln p`` the conditions read
``x_i - x_j <= epsilon d(i,j)``: a point is a corner **iff** the pairs where equality holds connect all secrets. Corners
are found by growing such a potential ``x`` secret by secret; there are at most ``C(2n-2, n-1)``.

>>> from noisewright.metrics.base import Discrete, Line
>>> line = PrivatePosteriors.of(Line(), range(3), factor=2)
>>> len(line.potentials), len(PrivatePosteriors.of(Discrete(), range(4), factor=2).potentials)
(4, 14)
>>> line.potentials[0], line.vertices()[:, 0].tolist()  # in steps of the distance, and as probabilities
((0, 1, 0), [0.25, 0.5, 0.25])
>>> print(line.is_vertex(["1/2", "1/4", "1/4"]))
fails (witness): no pair where a bound is reached joins secret 2 to secret 0, so it is a mix of two other private posteriors.

Distances that are whole multiples of one number are held as those multiples, so ties are exact; others (straight-line
distances in a plane) are compared within a tolerance, and answers then say so.

Reference: Fernandes, McIver, Palamidessi and Ding, *Universal optimality and robust utility bounds for metric differential
privacy* (2022).
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright._utils.validation import as_tolerance
from noisewright.claims.readings import per_unit
from noisewright.design.polytopes.extreme_point import Factor
from noisewright.exceptions import MetricError, ParameterError
from noisewright.guarantees import EXACT, FAILS, WITHIN, Verdict
from noisewright.metrics.base import Metric, as_labels, as_metric
from noisewright.numerics.exact import Exact, as_fraction

__all__ = ["LARGEST_STEPS", "MOST_VERTICES", "Potential", "PrivatePosteriors", "components", "grow_potentials"]


Potential = tuple[float, ...]
"""Logarithms of a posterior, the smallest at 0: integers of steps in an exact space, otherwise losses."""


def grow_potentials(
    apart: Sequence[Sequence[float]], pairs: Sequence[tuple[int, int]], slack: float = 0.0, *, most: int
) -> set[Potential]:
    """All potentials whose tight pairs connect everything, the smallest value at 0."""
    n = len(apart)
    near: list[list[int]] = [[] for _ in range(n)]
    for i, j in pairs:
        near[i].append(j)
        near[j].append(i)
    layer: dict[tuple[float | None, ...], tuple[float | None, ...]] = {}
    start: tuple[float | None, ...] = (0, *([None] * (n - 1)))
    layer[start] = start
    for _ in range(n - 1):
        grown: dict[tuple[float | None, ...], tuple[float | None, ...]] = {}
        for state in layer.values():
            known = [i for i, v in enumerate(state) if v is not None]
            for i in known:
                for j in near[i]:
                    if state[j] is not None:
                        continue
                    for value in (state[i] + apart[i][j], state[i] - apart[i][j]):  # type: ignore[operator]
                        if all(abs(value - state[k]) <= apart[k][j] + slack for k in known):  # type: ignore[operator]
                            new = (*state[:j], value, *state[j + 1 :])
                            # Sums of floats in another order differ in their last bits: those are one potential.
                            key = tuple(None if v is None else round(v / slack / 16) for v in new) if slack else new
                            grown.setdefault(key, new)
        if len(grown) > 4 * most:
            raise ParameterError(
                f"this space of {n} secrets has too many corners to list ({most} is the limit); nw.optimal finds the "
                "best mechanism without them."
            )
        layer = grown
    found = set()
    for state in layer.values():
        least = min(v for v in state if v is not None)
        found.add(tuple(v - least for v in state if v is not None))
    return found


def components(pairs: Iterable[tuple[int, int]], n: int) -> list[int]:
    """Points numbered by component, in order of first appearance."""
    leader = list(range(n))

    def find(i: int) -> int:
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    for i, j in pairs:
        leader[find(i)] = find(j)
    names: dict[int, int] = {}
    return [names.setdefault(find(i), len(names)) for i in range(n)]


# Posteriors ---------------------------------------------------------------------------------------------------------------
#
# Posterior beliefs that an observer may hold: the polytope of private posteriors.


Posterior = Sequence[Any] | Floats
"""Probabilities: floats, or integers, fractions and strings, which are taken exactly."""

LARGEST_STEPS = 200
"""A space is exact if all distances are whole multiples, up to this one, of one number."""

MOST_VERTICES = 20_000
"""More corners than this are not listed."""

MOST_POINTS = 24
"""Corners of spaces with more secrets than this are not looked for."""

NEAR_BITS = 160
"""A factor that is not rational is replaced in computations by one that agrees to this many bits, or more."""

TOLERANCE = 1e-9
"""Two logarithms of floats that are this close count as equal."""


@dataclass(frozen=True, eq=False)
class PrivatePosteriors:
    """The private posteriors of some secrets under a metric and a budget; build it with :meth:`of`."""

    metric: Metric
    points: tuple[Hashable, ...]
    factor: Factor
    distances: tuple[tuple[Fraction, ...], ...]

    @classmethod
    def of(
        cls,
        metric: Metric,
        points: Iterable[Hashable],
        *,
        epsilon: Exact | None = None,
        factor: Exact | None = None,
    ) -> PrivatePosteriors:
        """The space of ``points`` under ``metric``; the budget is ``epsilon``, or ``factor = e^epsilon`` as a rational number."""
        measure = as_metric(metric)
        names = as_labels(points, "points")
        if len(names) < 2 or len(set(names)) < len(names):
            raise ParameterError("private posteriors need two or more points, each named once.")
        budget = Factor.of(epsilon=epsilon, factor=factor)
        if budget.is_one:
            raise ParameterError("epsilon must be greater than 0 here; at 0 the uniform posterior is the only one.")
        exact = measure.exact(names)
        table: list[tuple[Fraction, ...]] = []
        for i in range(len(names)):
            row = [exact.between(i, j) for j in range(len(names))]
            if None in row:
                j = row.index(None)
                raise MetricError(
                    f"{names[i]!r} and {names[j]!r} are infinitely far apart, so nothing ties their posteriors together; "
                    "treat the parts of the space one by one."
                )
            if any(i != j and not d for j, d in enumerate(row)):
                j = next(j for j, d in enumerate(row) if i != j and not d)
                raise MetricError(
                    f"{names[i]!r} and {names[j]!r} are at distance 0, so every private channel treats them alike; leave one of "
                    "them out."
                )
            table.append(tuple(Fraction(d) for d in row if d is not None))
        return cls(measure, names, budget, tuple(table))

    # Numbers -----------------------------------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Number of secrets."""
        return len(self.points)

    @cached_property
    def unit(self) -> Fraction | None:
        """The number that all distances are whole multiples of, or None where that would need too many."""
        apart = [d for row in self.distances for d in row if d]
        common = math.lcm(*(d.denominator for d in apart))
        unit = Fraction(math.gcd(*(int(d * common) for d in apart)), common)
        return unit if max(apart) <= LARGEST_STEPS * unit and self._step_factor(unit) is not None else None

    @cached_property
    def steps(self) -> tuple[tuple[int, ...], ...] | None:
        """Distances in units; None in a space that is not exact."""
        if self.unit is None:
            return None
        return tuple(tuple(int(d / self.unit) for d in row) for row in self.distances)

    def _step_factor(self, unit: Fraction) -> Factor | None:
        if self.factor.exact is None:
            assert self.factor.epsilon is not None
            return Factor.of(epsilon=self.factor.epsilon * unit)
        root = _root(self.factor.exact, unit.denominator)
        return None if root is None else Factor.of(factor=root**unit.numerator)

    @cached_property
    def step_factor(self) -> Factor | None:
        """The factor of one unit; None in a space that is not exact."""
        return None if self.unit is None else self._step_factor(self.unit)

    @property
    def rational(self) -> bool:
        """Return whether all factors are rational numbers, so that every computation is exact."""
        return self.step_factor is not None and self.step_factor.exact is not None

    @cached_property
    def base(self) -> Fraction | None:
        """The factor of one unit, or a rational number next to it whose denominator is a large power of two.

        A polynomial with small whole coefficients that is 0 at such a number is 0 everywhere (its leading coefficient would be
        divisible by the denominator), so identities may be tested there.
        """
        if self.step_factor is None or self.step_factor.exact is not None:
            return None if self.step_factor is None else self.step_factor.exact
        low = self.step_factor.bounds(self.bits)[0]
        return Fraction(int(low * (1 << self.bits)) | 1, 1 << self.bits)

    @cached_property
    def bits(self) -> int:
        """Number of bits to which :attr:`base` agrees with the factor of one unit: more where factors are near 1, or
        very large.
        """
        widest = self.step * max(max(row) for row in self.steps or ((1,),))
        return NEAR_BITS + 20 * max(0, math.ceil(-math.log2(self.step))) + 8 * math.ceil(widest)

    @cached_property
    def rate(self) -> float:
        """The loss of one unit of the metric."""
        if self.factor.epsilon is not None:
            return float(self.factor.epsilon)
        assert self.factor.exact is not None
        return math.log(self.factor.exact.numerator) - math.log(self.factor.exact.denominator)

    @cached_property
    def losses(self) -> Floats:
        """``epsilon d(i, j)``."""
        return self.rate * np.array([[float(d) for d in row] for row in self.distances])

    @cached_property
    def step(self) -> float:
        """Loss that potentials are counted in: the loss of one unit, or 1 in a space that is not exact."""
        return 1.0 if self.unit is None else self.rate * float(self.unit)

    def posterior(self, potential: Potential) -> Floats:
        """The probabilities of a potential."""
        weights = np.exp(self.step * (np.asarray(potential, dtype=np.float64) - max(potential)))
        return np.asarray(weights / weights.sum())

    def weights(self, potential: Potential) -> list[Fraction]:
        """The exact weights of a potential at :attr:`base`, the smallest 1; only in an exact space."""
        assert self.base is not None
        return [self.base ** int(k) for k in potential]

    # Corners -----------------------------------------------------------------------------------------------------------

    @cached_property
    def essential(self) -> tuple[tuple[int, int], ...]:
        """The pairs whose distance is not the sum of two shorter ones; they imply all others."""
        if self.steps is None:
            from noisewright.metrics.sensitivity import essential_pairs

            return tuple(essential_pairs(self.metric, self.points))
        apart, n = self.steps, self.size
        return tuple(
            (i, j)
            for i in range(n)
            for j in range(i + 1, n)
            if not any(apart[i][k] + apart[k][j] == apart[i][j] for k in range(n) if k not in (i, j))
        )

    @cached_property
    def potentials(self) -> tuple[Potential, ...]:
        """All corners, as potentials in increasing order."""
        if self.size > MOST_POINTS:
            raise ParameterError(
                f"the corners of {self.size} secrets are too many to list ({MOST_POINTS} secrets is the limit); nw.optimal finds "
                "the best mechanism without them."
            )
        found = grow_potentials(
            self.steps or self.losses.tolist(), self.essential, 0.0 if self.steps else TOLERANCE, most=MOST_VERTICES
        )
        return tuple(sorted(found))

    def vertices(self) -> Floats:
        """All corners as probabilities, one column each."""
        return np.array([self.posterior(p) for p in self.potentials]).T

    def is_corner(self, potential: Potential) -> bool:
        """Return whether a potential is private and the pairs that reach their bound connect all secrets."""
        apart, slack = self.steps or self.losses.tolist(), 0 if self.steps else TOLERANCE
        over = {(i, j): abs(potential[i] - potential[j]) - apart[i][j] for i in range(self.size) for j in range(i)}
        tight = [pair for pair, excess in over.items() if abs(excess) <= slack]
        return max(over.values()) <= slack and max(components(tight, self.size)) == 0

    def snap(self, posterior: Posterior, tolerance: float = TOLERANCE) -> Potential | None:
        """The corner that a posterior in floats is within ``tolerance`` of (in logarithms), or None."""
        values = np.asarray([float(v) for v in self._read(posterior)])
        if (values <= 0).any():
            return None
        logs = np.log(values)
        logs -= logs.min()
        if self.steps is None:
            near = tuple(logs.tolist())
            return near if self.is_corner(near) else None
        rounded = np.round(logs / self.step)
        if np.abs(logs - self.step * rounded).max() > tolerance * max(1.0, float(np.abs(logs).max())):
            return None
        snapped = tuple(int(k) for k in rounded)
        return snapped if self.is_corner(snapped) else None

    # Questions about one posterior ---------------------------------------------------------------------------------------

    def contains(self, posterior: Posterior, tolerance: float = TOLERANCE) -> Verdict:
        """Return whether a posterior is private. Integers, fractions and strings are taken exactly, floats within
        ``tolerance``.
        """
        given, tolerance = self._read(posterior), as_tolerance(tolerance)
        worst, where = 0.0, (0, 0)
        for i in range(self.size):
            for j in range(self.size):
                excess = self._excess(given, i, j, tolerance)
                if excess > worst:
                    worst, where = excess, (i, j)
        status = EXACT if isinstance(given[0], Fraction) and self.steps is not None else WITHIN
        if not worst:
            return Verdict(status, "every ratio is within its bound.")
        i, j = where
        return Verdict(
            FAILS,
            f"secret {self.points[i]!r} is more likely than {self.points[j]!r} by a factor beyond "
            f"e^({self.losses[i, j]:.6g}), which is what their distance allows.",
            (self.points[i], self.points[j]),
        )

    def is_vertex(self, posterior: Posterior, tolerance: float = TOLERANCE) -> Verdict:
        """Return whether a posterior is a corner; the evidence against a private one is two others that it lies
        between.
        """
        private = self.contains(posterior, tolerance)
        if not private:
            return private
        given = self._read(posterior)
        groups = self.tight_groups(given, tolerance)
        if max(groups) == 0:
            return Verdict(private.status, "the pairs that reach their bound connect all secrets.")
        odd = groups.index(1)
        _, low, high = self.split(given, groups)
        return Verdict(
            FAILS,
            f"no pair where a bound is reached joins secret {self.points[odd]!r} to secret {self.points[0]!r}, so it is a mix of "
            "two other private posteriors.",
            (tuple(float(v) for v in low), tuple(float(v) for v in high)),
        )

    def tight_groups(self, given: Sequence[Any], tolerance: float = TOLERANCE) -> list[int]:
        """Secrets numbered by which of them are connected by pairs that reach their bound."""
        n = self.size
        exact = isinstance(given[0], Fraction) and self.steps is not None
        if exact:
            tight = [[self._sign(given, i, j) == 0 for j in range(n)] for i in range(n)]
        else:
            logs = np.log(np.asarray([float(v) for v in given]))
            apart = logs[:, None] - logs[None, :]
            tight = (np.abs(apart - self.losses) <= tolerance * np.maximum(1.0, self.losses)).tolist()
        return components([(i, j) for i in range(n) for j in range(n) if i != j and tight[i][j]], n)

    def split(self, given: Sequence[Any], groups: Sequence[int]) -> tuple[Any, list[Any], list[Any]]:
        """Return a posterior that is not a corner as ``(1 - t) low + t high``: the secrets of group 0 made more likely
        and less likely.

        Either of the two reaches a bound more, so repeating this ends in corners. Exact if the posterior is given in fractions
        and the factors are rational.
        """
        exact = isinstance(given[0], Fraction) and self.rational
        p: list[Any] = list(given) if exact else [float(v) for v in given]
        inside = [i for i, g in enumerate(groups) if g == 0]
        outside = [j for j, g in enumerate(groups) if g]
        up = min(self.ratio(i, j, exact) * p[j] / p[i] for i in inside for j in outside)
        down = max(p[j] / (self.ratio(i, j, exact) * p[i]) for i in inside for j in outside)
        ends = []
        for scale in (down, up):
            moved = [v * scale if g == 0 else v for v, g in zip(p, groups, strict=True)]
            ends.append((sum(moved), moved))
        (mass_low, low), (mass_high, high) = ends
        share = (1 - down) / (up - down) * mass_high / sum(p)
        return share, [v / mass_low for v in low], [v / mass_high for v in high]

    # Helpers -------------------------------------------------------------------------------------------------------------

    def ratio(self, i: int, j: int, exact: bool) -> Any:
        """``e^(epsilon d(i, j))``: at :attr:`base`, as a fraction, or as a float."""
        if exact:
            assert self.base is not None
            assert self.steps is not None
            return self.base ** self.steps[i][j]
        return math.exp(self.losses[i, j])

    def _read(self, posterior: Posterior) -> list[Any]:
        try:
            values = list(posterior)
        except TypeError:
            values = []
        if len(values) != self.size:
            raise ParameterError(f"a posterior has {self.size} probabilities here, one for each secret.")
        exactly = all(isinstance(v, (numbers.Rational, str)) and not isinstance(v, bool) for v in values)
        if not all(isinstance(v, (numbers.Real, str)) for v in values):
            raise ParameterError("the probabilities of a posterior are numbers; one is not.")
        given: list[Any] = [as_fraction(v, "a probability") if exactly or isinstance(v, str) else v for v in values]
        total = sum(given)
        if not math.isfinite(total) or min(given) < 0 or abs(total - 1) > (0 if exactly else 1e-9):
            raise ParameterError("a posterior consists of probabilities that are 0 or more and sum to 1.")
        return given if exactly else [float(v) for v in given]

    def _sign(self, given: Sequence[Fraction], i: int, j: int) -> int:
        """The sign of ``q^steps p_j - p_i``."""
        assert self.steps is not None
        assert self.step_factor is not None
        power = self.steps[i][j]
        if power == 0:
            return 1
        return self.step_factor.sign([-given[i], *([Fraction(0)] * (power - 1)), given[j]])

    def _excess(self, given: Sequence[Any], i: int, j: int, tolerance: float) -> float:
        """Return by how much the ratio of two probabilities is beyond its bound; 0 where it is not."""
        if i == j or not given[i]:
            return 0.0
        if not given[j]:
            return math.inf
        over = math.log(given[i]) - math.log(given[j]) - float(self.losses[i, j])
        if isinstance(given[0], Fraction) and self.steps is not None:
            return max(over, 1e-300) if self._sign(given, i, j) < 0 else 0.0
        return over if over > tolerance * max(1.0, float(self.losses[i, j])) else 0.0

    def __repr__(self) -> str:
        return f"PrivatePosteriors({self.size} secrets, {self.factor} {per_unit(self.metric)})"


def _root(value: Fraction, degree: int) -> Fraction | None:
    """The root of a rational number where it is rational."""
    if degree == 1:
        return value
    parts = []
    for whole in (value.numerator, value.denominator):
        guess = round(whole ** (1 / degree)) if whole < 10**15 else 0
        if guess**degree != whole:
            return None
        parts.append(guess)
    return Fraction(*parts)
