r"""The Laplace mechanism for any feasible set, calibrated and drawn exactly on a lattice.

A true answer is moved to the nearest point ``i`` of a public lattice, and lattice point ``j`` of the feasible set is released
with probability ``e^(-|i-j| step/scale) / Z(i)``. Where everything is feasible this is Laplace noise; where it is not the
noise
is cut to the feasible set and renormalised, and the scale is the smallest one for which that is private:

==================  ======================================  =====================================================
feasible set        ``scope="metric"``                      ``scope="adjacent"``
==================  ======================================  =====================================================
everything          sensitivity / epsilon                   the same
bounded gaps        between 1 and 2 times that              a one-dimensional root over O(n) pairs
a half line         asymmetric noise, or 2 times that       ``sensitivity / ln((1 + e^epsilon) / 2)``
anything else       2 times that (less with ``margin``)     a root; on an interval the bounded Laplace mechanism
==================  ======================================  =====================================================

(on the lattice a little less, since the root is found for the lattice law itself).

**Guarantee.** ``scope="adjacent"``: ``epsilon`` for true answers at most one sensitivity apart, and by steps from
neighbour to neighbour for farther ones if the set has no gaps; with gaps nothing for farther ones. ``scope="metric"``:
the first, and for all true answers ``epsilon`` times their distance in sensitivities, measured between the *lattice
points* they are rounded to, as the name of the metric says (between the answers themselves for asymmetric noise, which
rounds at random); an answer is rounded on its side of a gap, and the metric knows the gaps whose ends are not lattice
points; ``map`` takes the distance of the answers themselves, and counts rounding in. Proved in integers about the very
law that is drawn. Condition: true answers lie in the feasible set, ``margin`` away from excluded half lines, and the
certificate states which answers are covered; others are refused, or clamped where the set is one interval, which
brings no two answers farther apart.

>>> share = laplace(epsilon=1, sensitivity=1, within=(0, 100))
>>> 0 <= share.release(97.5) <= 100
True
>>> round(float(share.scale), 3), share.reason
(1.612, 'binding at the wall at 0, pair 0 and 1')
>>> share.certificate().verify()
'epsilon = 1 between neighbours (line at most 1), in steps of 1/1024'

References: Dwork, McSherry, Nissim and Smith, *Calibrating noise to sensitivity in private data analysis* (2006); Holohan et
al.,
*The bounded Laplace mechanism in differential privacy* (2020).

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
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import fields_alone, guided, one_of
from noisewright.base import (
    DELTA,
    EPSILON,
    LATTICE,
    OUTSIDE,
    SCOPE,
    SENSITIVITY,
    WITHIN,
    BaseMechanism,
    Entry,
    Parameter,
    Takes,
    check_loss,
)
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.claims.figures import float_up
from noisewright.columns.adapters import in_kind
from noisewright.columns.label_encoder import check_dense
from noisewright.exceptions import NoChannelError, ParameterError
from noisewright.guarantees import Guarantee, Scope
from noisewright.mechanisms.numeric.additive import (
    BITS,
    AdditiveMechanism,
    LaplaceLaw,
    Within,
    additive,
    additive_of,
    checked,
    choose_lattice,
    lattice_delta,
)
from noisewright.mechanisms.numeric.calibration import RoundingCells, continuous, on_lattice, ranged_proof, worst_answer
from noisewright.mechanisms.numeric.feasible_sets import Feasible, Interval, Range, loss_before_rounding, metric_of
from noisewright.mechanisms.numeric.laplace_distribution import LatticeLaw, TruncatedLaplace
from noisewright.numerics.exact import Exact, as_fraction, log_bounds
from noisewright.sampling.bounded_laplace import RangedSampler
from noisewright.sampling.lattice import LARGEST_INDEX, Lattice

if TYPE_CHECKING:
    from noisewright.mechanisms.numeric.half_line_laplace import AsymmetricLaplace

__all__ = ["LaplaceMechanism", "approximate_laplace", "laplace", "laplace_delta", "laplace_scale"]


EXCLUDING = Parameter("Excluded intervals inside the range, where no output may fall.", "excluding = [[213, 244]]")
MARGIN = Parameter("Known distance of the true values from the bounds.", "margin = 1")
SHAPE = Parameter(
    "Shape of the noise at a bound: symmetric, or asymmetric (half-bounded ranges with scope metric).",
    'shape = "symmetric"',
)


@guided
def laplace(
    *,
    epsilon: Annotated[Exact, EPSILON],
    sensitivity: Annotated[Exact, SENSITIVITY] = 1,
    within: Annotated[Interval | tuple[Interval, ...] | Feasible | None, WITHIN] = None,
    excluding: Annotated[tuple[Interval, ...], EXCLUDING] = (),
    scope: Annotated[Scope, SCOPE] = "adjacent",
    margin: Annotated[Exact, MARGIN] = 0,
    shape: Annotated[Literal["auto", "symmetric", "asymmetric"], SHAPE] = "auto",
    outside: Annotated[Literal["refuse", "clamp"], OUTSIDE] = "refuse",
    lattice: Annotated[Exact, LATTICE] = "auto",
) -> LaplaceMechanism | AsymmetricLaplace:
    """The Laplace mechanism with outputs inside a feasible set; see the head of this module.

    ``within``: an interval ``(low, high)`` with None for an open end, or several; ``excluding``: open gaps.
    ``margin``: distance that true answers are known to keep from excluded half lines. ``shape``: on a half line the
    metric scope uses noise with a steeper far side (``"asymmetric"``) unless stated otherwise. ``lattice``: its step,
    a power of two, or a :class:`~noisewright.sampling.Lattice`; by default at most 1/512 of the scale and of the
    sensitivity, and finer than every interval and gap.
    """
    budget, width, _ = checked(epsilon, sensitivity)
    feasible = Feasible.parse(within, excluding).as_floats()
    distance = as_fraction(margin, "margin")
    inner = feasible if distance == 0 else feasible.inner(distance).as_floats()
    one_of(scope, "scope", ("metric", "adjacent"))
    one_of(shape, "shape", ("auto", "symmetric", "asymmetric"))
    one_of(outside, "outside", ("refuse", "clamp"))
    if outside == "clamp" and len(feasible.components) > 1:
        raise ParameterError(
            "outside='clamp' needs a feasible set without gaps: moving answers out of a gap would bring close ones apart, "
            "and break the sensitivity; use outside='refuse'."
        )
    half_line = feasible.kind == "single infinite" and scope == "metric" and distance == 0
    if shape == "asymmetric" and not half_line:
        raise ParameterError("shape='asymmetric' is for a half line with scope='metric' and no margin; use 'auto'.")
    if half_line and shape != "symmetric":
        from noisewright.mechanisms.numeric.half_line_laplace import AsymmetricLaplace

        return AsymmetricLaplace.build(budget, width, feasible, outside, lattice)
    chosen = _lattice(lattice, feasible, inner, budget, width, scope, distance)
    ranges, inputs = feasible.on(chosen), inner.on(chosen)
    reach = chosen.steps(width)
    if reach > LARGEST_INDEX:
        raise ParameterError(
            f"one sensitivity takes more than 2^52 lattice steps of {float(chosen.step):g}; use a coarser lattice, and no "
            "intervals or gaps that are so much shorter than the sensitivity."
        )
    if len(ranges) > 1 and not (feasible.aligned(chosen) and inner.aligned(chosen)):
        reach += 1  # rounding that has to stay on its side of a gap can move two answers one step farther apart
    # A step counts as 1/reach of a sensitivity, so that also the metric guarantee gives epsilon to real answers that
    # far apart.
    found = on_lattice(
        ranges, inputs, epsilon=budget, step=Fraction(1, reach), scope=scope, reach=reach, lattice=chosen
    )
    if found.rate * LARGEST_INDEX < 64:
        raise ParameterError(
            "the noise would not fit on this lattice; use a coarser one, so that it takes fewer steps."
        )
    return LaplaceMechanism(
        budget, width, feasible, inner, scope, outside, chosen, ranges, inputs, found.rate, reach, found.reason
    )


@dataclass(frozen=True)
class LaplaceMechanism(BaseMechanism):
    """Laplace noise inside a feasible set; build it with :func:`laplace`."""

    name = "laplace"

    epsilon: Fraction
    sensitivity: Fraction
    feasible: Feasible
    inner: Feasible
    scope: Scope
    outside: str
    lattice: Lattice
    ranges: tuple[Range, ...]
    inputs: tuple[Range, ...]
    rate: Fraction
    reach: int
    reason: str

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: the law falls by a factor of e over this distance."""
        return self.lattice.step / self.rate

    @property
    def guarantee(self) -> Guarantee:
        """``epsilon`` between answers at most ``sensitivity`` apart, or per ``sensitivity`` between rounded answers.

        Between neighbours of a set with gaps it ends there: no chain of neighbours leads across a gap, or not with few steps.
        """
        metric = metric_of(self.lattice, self.sensitivity, self.scope, self.inner if self._beside_gaps else None)
        broken = self.scope == "adjacent" and len(self.inner.components) > 1
        return Guarantee.exactly(self.epsilon, metric, scope=self.scope, radius=1.0 if broken else None)

    @property
    def law(self) -> TruncatedLaplace:
        """The continuous limit of the law, for analysis: density, cdf, quantiles, mean, variance."""
        return TruncatedLaplace(self.feasible, float(self.scale))

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One exact draw for every value."""
        indices, which = self.inner.place(values, self.lattice, self.inputs, self.outside)
        drawn = self._sampler.draw(indices, which, rng) if indices.size else indices  # tables only for sampled values
        released = self.lattice.values(drawn)
        return float(released) if released.ndim == 0 else released

    def below(self, values: Any, places: Any) -> Floats:
        """The chance that the output for a value (a row) is below a place (a column).

        >>> laplace(epsilon=1, within=(0, 9)).below([0, 4.5], [0, 4.5, 10]).round(3).tolist()
        [[0.0, 0.942, 1.0], [0.0, 0.5, 1.0]]
        """
        indices, which = self.inner.place(values, self.lattice, self.inputs, self.outside)
        law = LatticeLaw(float(self.rate), self.ranges)
        return law.chances(np.zeros_like(indices) if which is None else which, indices, self.lattice.first_from(places))

    def check(self, values: Any) -> None:
        """Refuse what :meth:`release` would refuse."""
        self.inner.place(values, self.lattice, self.inputs, self.outside)

    def map(self, distance: float) -> float:
        """The largest log-ratio for two true answers that are this many sensitivities apart themselves, rounding included.

        For the metric scope the guarantee is about lattice points: ``guarantee.bound`` takes their distance.
        """
        if self.scope == "adjacent":
            return self.guarantee.bound(distance)

        def loss(apart: Fraction) -> float:
            steps = self.lattice.steps(apart * self.sensitivity) + self._beside_gaps
            return float_up(self.epsilon * steps / self.reach)  # what one step was calibrated for

        return loss_before_rounding(self.guarantee, distance, loss)

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The law on the lattice and the claim it proves."""
        proof: dict[str, Any] = {"kind": "law", "law": "discrete laplace", "scale": str(1 / self.rate), "clamp": None}
        if self.feasible.kind != "none":
            proof = ranged_proof(self.rate, self.ranges, self.inputs, self.reach)
        shape = "adjacent" if self.scope == "adjacent" else "steps"
        return Certificate.of_mechanism(
            self,
            rng,
            distances={"shape": shape, "distance": str(self.lattice.step / self.sensitivity)},
            proof=proof,
            step=str(self.lattice.step),
            within=self.feasible.to_json(),
            answers=self.inner.to_json(),
            outside=self.outside,
            scope=self.scope,
        )

    def error(self, loss: str = "absolute") -> float:
        """The expected loss at the true answer where it is largest, rounding to the lattice included: closed sums.

        It is the loss against the answer itself, at the worst answer of the worst lattice cell. An answer between lattice
        points never comes out, so ``zero-one`` is 1.
        """
        check_loss(loss)
        if loss == "zero-one":
            return 1.0
        law, cells = LatticeLaw(float(self.rate), self.ranges), RoundingCells.of(self.inner, self.lattice, clipped=True)
        worst = worst_answer(cells, float(1 / self.rate), partial(law.expected, loss))
        return worst * float(self.lattice.step) ** (1 if loss == "absolute" else 2)

    def channel(self) -> Channel:
        """The channel over the lattice points, when the feasible set is bounded and has few of them."""
        if self.feasible.low is None or self.feasible.high is None:
            raise NoChannelError("an unbounded feasible set has infinitely many outputs; give it a range with within=.")
        check_dense(sum(hi - lo + 1 for lo, hi in self.ranges if lo is not None and hi is not None))
        outputs, inputs = _points(self.ranges), _points(self.inputs)
        law = LatticeLaw(float(self.rate), self.ranges)
        which = np.repeat(np.arange(len(self.inputs)), [hi - lo + 1 for lo, hi in self.inputs])  # type: ignore[operator]
        normaliser = law.log_normaliser(which, inputs)
        logs = -law.rate * np.abs(inputs[:, None] - outputs[None, :]) - normaliser[:, None]
        return Channel.from_logs(logs, self.lattice.values(inputs).tolist(), self.lattice.values(outputs).tolist())

    @property
    def _beside_gaps(self) -> bool:
        """Return whether rounding that stays on its side of a gap can move two answers one step farther apart."""
        return self.reach > self.lattice.steps(self.sensitivity)

    @cached_property
    def _sampler(self) -> RangedSampler:
        return RangedSampler(self.rate, self.ranges)

    __getstate__ = fields_alone


def _lattice(
    asked: Exact,
    feasible: Feasible,
    inner: Feasible,
    epsilon: Fraction,
    sensitivity: Fraction,
    scope: Scope,
    margin: Fraction,
) -> Lattice:
    """The lattice requested, or one chosen from the public parameters alone."""
    if (given := Lattice.asked(asked)) is not None:
        return given
    lengths = [s for s in (feasible.shortest, inner.shortest) if s is not None]
    finest = Lattice.for_scale(min(lengths), bits=4).exponent if lengths else None
    scale = continuous(feasible, epsilon=epsilon, sensitivity=sensitivity, scope=scope, margin=margin).scale
    exponent = Lattice.for_scale(min(Fraction(scale), sensitivity)).exponent
    if finest is not None:
        exponent = min(exponent, finest)
    # Ends that are short binary fractions become lattice points, where that takes at most a thousandfold finer lattice.
    ends = (e for component in (*feasible.components, *inner.components) for e in component if e is not None)
    powers = {end.denominator.bit_length() - 1 for end in ends}  # the ends are floats, so these are all powers of two
    return Lattice(min(exponent, *(-power for power in powers if power <= -exponent + 10), exponent))


def _points(ranges: tuple[Range, ...]) -> NDArray[np.int64]:
    return np.concatenate([np.arange(lo, hi + 1) for lo, hi in ranges if lo is not None and hi is not None])


def _rebuilt(certificate: Certificate) -> LaplaceMechanism | AsymmetricLaplace:
    """The mechanism behind its certificate: the rate is the one that was proved, and nothing is calibrated again."""
    stated, proof = certificate.document, certificate.document["proof"]
    feasible, inner = (Feasible.from_json(stated[name]) for name in ("within", "answers"))
    lattice, outside = Lattice.with_step(stated["step"]), stated["outside"]
    width = lattice.step / Fraction(stated["claim"]["distances"]["distance"])
    if proof["kind"] == "half line":
        from noisewright.mechanisms.numeric.half_line_laplace import AsymmetricLaplace

        near = tuple(Fraction(rate) for rate in proof["near"])
        return AsymmetricLaplace(certificate.epsilon, width, feasible, outside, lattice, Fraction(proof["tail"]), near)
    rate = Fraction(proof["rate"]) if proof["kind"] == "ranged" else 1 / Fraction(proof["scale"])
    reach = proof["reach"] if proof["kind"] == "ranged" else lattice.steps(width)
    return LaplaceMechanism(
        certificate.epsilon,
        width,
        feasible,
        inner,
        stated["scope"],
        outside,
        lattice,
        feasible.on(lattice),
        inner.on(lattice),
        rate,
        reach,
        "as the certificate states it",
    )


LAPLACE = Entry(
    "laplace",
    laplace,
    Takes("number", budget="sensitivity", within=True, lattice=True, scope=True, bounded=True),
    summary="Laplace noise that stays inside any feasible set, exact",
    words="numbers",
    rebuild=_rebuilt,
)


# Approximate --------------------------------------------------------------------------------------------------------------
#
# Laplace noise for ``(epsilon, delta)``: the exact saving by a small delta.


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


APPROXIMATE_LAPLACE = Entry(
    "approximate-laplace",
    approximate_laplace,
    Takes("number", budget="sensitivity", within=True, lattice=True, delta=True),
    summary="Laplace noise for epsilon and delta",
    words="numbers",
    rebuild=partial(additive_of, LaplaceLaw.of),
)
