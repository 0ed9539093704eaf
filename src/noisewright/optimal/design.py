r"""``optimal(...)``: the best private mechanism for a loss, why it is the best, and its certificate.

First the closed forms that theory proves to be best are tried (:mod:`~noisewright.optimal.closed_forms`), then the
linear program is solved, made private and certified (:mod:`~noisewright.optimal.program`,
:mod:`~noisewright.optimal.repair`). The result is a mechanism like any other, which releases actions of the loss, and
says how its expected loss compares with the smallest possible one.

>>> counts = optimal(11, epsilon=0.5, loss="absolute")
>>> counts.path, round(counts.loss_value, 6), counts.gap
('closed form: truncated geometric', 1.417356, 0.0)
>>> counts.certificate().verify()
'epsilon = 0.5 per unit of line'
>>> from noisewright.core.metric import Discrete
>>> colours = optimal(["red", "green", "blue"], epsilon=1, metric=Discrete(), loss=[[0, 1, 5], [2, 0, 1], [3, 3, 0]])
>>> colours.path, colours.gap < 1e-8
('linear program', True)

**Guarantee.** ``epsilon`` for the metric, exactly, for all pairs. It does not rest on the optimisation: the numbers
that are drawn from are proved private afterwards. A prior or loss that was taken from the data would itself tell
something about the data; it must be public.

Reference: Ghosh, Roughgarden and Sundararajan, *Universally utility-maximizing privacy mechanisms* (2009); Bordenabe,
Chatzikokolakis and Palamidessi, *Optimal geo-indistinguishable mechanisms for location privacy* (2014).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.certify import CertifiedChannel, check_budget
from noisewright.core.channel import Channel
from noisewright.core.choices import one_of
from noisewright.core.distances import LineDistances, UniformDistances
from noisewright.core.errors import GuaranteeError, ParameterError
from noisewright.core.exact import Exact
from noisewright.core.metric import Line, Metric, as_metric
from noisewright.mechanisms.finite import FiniteMechanism
from noisewright.mechanisms.geometric import geometric
from noisewright.mechanisms.response import randomised_response
from noisewright.mechanisms.values import counted_labels
from noisewright.optimal import shapes
from noisewright.optimal.closed_forms import CONJECTURE, Found, Setting, best_known, line_steps
from noisewright.optimal.losses import as_loss
from noisewright.optimal.mechanism import OptimalMechanism
from noisewright.optimal.priors import as_prior
from noisewright.optimal.program import Objective, Rows, Solution, check_program, solve
from noisewright.optimal.repair import private_logs

__all__ = ["optimal"]

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

MANY_ROWS = 400_000
"""Beyond this many constraints a spanner is used instead of all pairs, unless the caller says otherwise."""

USUAL_DILATION = 1.05

SLACKS = (0.0, 1e-6, 1e-4, 1e-2)
"""How much of epsilon is held back, if the whole of it cannot be certified."""


def optimal(
    points: Iterable[Hashable] | int,
    *,
    epsilon: Exact,
    loss: object,
    metric: Metric | None = None,
    prior: object = None,
    outputs: Iterable[Hashable] | None = None,
    shape: Sequence[str] | str = (),
    objective: Objective = "bayes",
    dilation: float | None = None,
    solver: str = "clarabel",
) -> OptimalMechanism:
    """The mechanism over secrets ``points`` (a list, or a number of them) with the smallest expected loss among all
    ``epsilon``-private ones.

    ``loss``: a name (``"absolute"``, ``"squared"``, ``"zero-one"``, ``"pinball:1,3"``, ``"last-train:5"``,
    ``"parity"``, ``"step:2"``), a matrix of actions by secrets, a function of (action, secret), or a
    :class:`~noisewright.optimal.losses.Loss`. ``outputs``: the actions, if they are not the secrets. ``prior``:
    probabilities of the secrets, uniform if left out. ``objective="minimax"`` makes the loss of the worst secret
    smallest instead, and takes no prior. ``shape``: properties that the mechanism must have besides, such as
    ``"fair"`` or ``"column-monotone"``. ``dilation``: in a plane, how much longer than straight the paths may be
    along which privacy is enforced (1: every pair that matters); chosen by size if left out.
    """
    names = counted_labels(points, "the secrets of an optimal mechanism")
    if len(names) < 2 or len(set(names)) < len(names):
        raise ParameterError(f"an optimal mechanism needs 2 or more different secrets, not {len(set(names))}.")
    one_of(objective, "objective", ("bayes", "minimax"))
    one_of(solver, "solver", ("clarabel", "HiGHS"))
    if objective == "minimax" and prior is not None:
        raise ParameterError(
            "the minimax objective is about the worst secret and takes no prior; leave it out, or use objective='bayes'."
        )
    if dilation is not None and (
        isinstance(dilation, bool) or not isinstance(dilation, (int, float)) or not 1 <= dilation < 100
    ):
        raise ParameterError("dilation must be a number from 1 (every pair that matters) to below 100.")
    measure = as_metric(metric, Line())
    wanted = shapes.as_shapes(shape)
    given = as_loss(loss, names, outputs)
    beliefs = as_prior(prior, names).probabilities
    distances = measure.exact(names)
    budget = check_budget(epsilon, _closest(distances))
    setting = Setting(names, measure, distances, budget, beliefs, given)
    if not wanted:
        known = best_known(setting)
        if known is not None:
            made = _from_closed_form(setting, known)
            if objective == "bayes":
                return made
            if setting.size <= 1_000_000 and known.status != CONJECTURE:
                worst = float(made.secret_losses().max())
                if worst <= made.loss_value * (1 + 1e-9) + 1e-300:
                    return made.as_minimax(worst)
    return _from_program(setting, objective, wanted, dilation, solver)


def _closest(distances: Any) -> Fraction:
    if isinstance(distances, UniformDistances):
        return distances.distance
    if isinstance(distances, LineDistances):
        _, gaps, common = line_steps(distances)
        return min((Fraction(int(gap), common) for gap in set(gaps[gaps > 0].tolist())), default=Fraction(1))
    return min((d for _, _, d in distances.pairs() if d > 0), default=Fraction(1))


# Closed forms -----------------------------------------------------------------------------------------------------------------


def _from_closed_form(setting: Setting, found: Found) -> OptimalMechanism:
    rank = None
    remap: Places | None = found.remap
    if found.line is not None:
        source: Any = geometric(epsilon=setting.epsilon * found.line.step, within=(0, found.line.count - 1))
        rank = found.line.rank
    elif found.response:
        source = randomised_response(len(setting.secrets), epsilon=setting.epsilon)
    else:
        assert found.logs is not None
        channel = Channel.from_logs(found.logs, setting.secrets, setting.loss.actions)
        source, remap = FiniteMechanism(channel.certify(setting.epsilon, setting.metric), "optimal"), None
    return OptimalMechanism(
        source=source,
        secrets=setting.secrets,
        loss=setting.loss,
        prior=setting.prior,
        epsilon=setting.epsilon,
        metric=setting.metric,
        objective="bayes",
        loss_value=found.value,
        bound=found.bound,
        path=f"closed form: {found.name}",
        status=found.status,
        why=found.reason,
        rank=rank,
        places=remap,
        step=None if found.line is None else found.line.step,
    )


# Linear programs --------------------------------------------------------------------------------------------------------------


def _from_program(
    setting: Setting, objective: Objective, wanted: tuple[str, ...], dilation: float | None, solver: str
) -> OptimalMechanism:
    check_program(len(setting.secrets), len(setting.loss.actions))
    from noisewright.optimal.folding import fold

    losses = _losses(setting)
    cost = setting.loss.matrix.T * (setting.prior[:, None] if objective == "bayes" else 1.0)
    further = _further(wanted, setting)
    folding = None if further is not None else fold(losses, cost)
    classes = len(setting.loss.actions) if folding is None else folding.count / len(setting.secrets)
    pairs, stretch = _pairs(setting, losses, dilation, classes)

    def run(held_back: float, stretched: float, accuracy: float = 1e-10) -> Solution:
        return solve(
            losses * (1 - held_back) / stretched,
            cost,
            pairs=pairs,
            objective=objective,
            folding=folding,
            further=further,
            solver=solver,
            accuracy=accuracy,
        )

    for held_back in SLACKS:
        found = run(held_back, stretch)
        certified = _certified(setting, found.matrix, losses, cost, objective, bool(wanted))
        if certified is not None:
            break
    else:
        raise GuaranteeError(
            "no private table could be made from the solver's answer; choose an epsilon that is not as extreme."
        )
    # With the whole epsilon on the same pairs the program asks for less than privacy does: a bound for the true problem.
    bound = found.bound if stretch == 1 and held_back == 0 else run(0.0, 1.0, accuracy=1e-5).bound
    table = FiniteMechanism(certified, "optimal")
    risks = (table.channel().matrix * setting.loss.matrix.T).sum(axis=1)
    value = float(risks @ setting.prior if objective == "bayes" else risks.max())
    note = (
        f", folded from {setting.size} to {folding.count} entries"
        if folding is not None and folding.count < setting.size
        else ""
    )
    note += f", with paths up to {100 * (stretch - 1):.3g} % longer than straight" if stretch > 1 else ""
    return OptimalMechanism(
        source=table,
        secrets=setting.secrets,
        loss=setting.loss,
        prior=found.prior if found.prior is not None else setting.prior,
        epsilon=setting.epsilon,
        metric=setting.metric,
        objective=objective,
        loss_value=value,
        bound=min(bound, value),
        path="linear program",
        status="a dual solution",
        why=(
            f"a program of {found.rows} constraints solved by {found.solver}{note}; its dual shows how much better any "
            "other could be"
        ),
        shape=wanted,
        dilation=stretch,
    )


def _losses(setting: Setting) -> Floats:
    """``epsilon d`` as floats; infinite where nothing is promised."""
    apart = setting.metric.matrix(setting.secrets)
    with np.errstate(over="ignore"):
        return np.where(np.isinf(apart), np.inf, np.minimum(float(setting.epsilon) * apart, 1e300))


def _pairs(setting: Setting, losses: Floats, dilation: float | None, classes: float) -> tuple[Places | None, float]:
    """The pairs whose constraints imply all others, and how much longer than straight their paths are; None for one
    distance.
    """
    if isinstance(setting.distances, UniformDistances):
        return None, 1.0
    if isinstance(setting.distances, LineDistances):
        order = np.array(setting.distances.order)
        return np.stack([order[:-1], order[1:]], axis=1), 1.0
    from noisewright.core.space import essential_pairs
    from noisewright.optimal.spanner import spanner

    every = np.array(essential_pairs(setting.metric, setting.secrets), dtype=np.intp).reshape(-1, 2)
    if dilation is None:
        dilation = 1.0 if 2 * len(every) * classes <= MANY_ROWS else USUAL_DILATION
    if dilation == 1:
        return every, 1.0
    return spanner(losses, dilation)


def _certified(
    setting: Setting, matrix: Floats, losses: Floats, cost: Floats, objective: Objective, shaped: bool
) -> CertifiedChannel | None:
    """The best of a few ways to make the answer private, as a certified table; None if it had to change too much."""
    best, least = None, math.inf
    # Small entries may be a solver's noise; where a shape is wanted they are left alone, because dropping one may break it.
    for snap in (0.0,) if shaped else (1e-6, 1e-8, 0.0):
        if (matrix.max(axis=1) <= snap).any():
            continue
        logs = private_logs(matrix, losses, snap)
        risks = (np.exp(logs) * cost).sum(axis=1)
        value = float(risks.sum() if objective == "bayes" else risks.max())
        if value < least:
            best, least = logs, value
    if best is None:
        return None
    try:
        return Channel.from_logs(best, setting.secrets, setting.loss.actions).certify(setting.epsilon, setting.metric)
    except GuaranteeError:
        return None


def _further(wanted: tuple[str, ...], setting: Setting) -> Rows | None:
    if not wanted:
        return None
    found = shapes.constraints(wanted, setting.secrets, setting.loss.actions)
    return Rows(found.inequalities, found.equalities)
