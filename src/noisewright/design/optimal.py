"""Reduction of a loss to its relevant part: actions that are never worth taking, and amounts that no mechanism can
change, are left out.

An action that costs at least as much as another one at every secret is never needed, and the cost of the cheapest
action at a secret is paid by every mechanism. Without the two, costs are *regrets*: 0 or more, and 0 for some action at
every secret. Therefore, an answer that must never be given may cost 1e12 without drowning the differences that count.

>>> found = relevant(np.array([[5.0, 6.0], [6.0, 5.0], [1e12, 1e12]]), np.array([0.5, 0.5]))
>>> found.kept.tolist(), found.regret.tolist(), found.paid
([0, 1], [[0.0, 1.0], [1.0, 0.0]], 5.0)

A solver's answer is raw material. Three steps follow the program (:mod:`~noisewright.design.solver`): small
entries are dropped and the smallest private matrix above the rest is taken
(:mod:`~noisewright.design.solver`); the result becomes a table of integers, whose guarantee is proved
exactly; and where shapes are wanted, the table is moved until they hold (:mod:`~noisewright.design.shapes`).
If a table cannot be certified, the program is solved again with a little less of epsilon.

>>> from noisewright.design.optimal import optimal
>>> fair = optimal(4, epsilon=1, loss="absolute", shape="fair")
>>> fair.path, fair.status, fair.gap < 1e-6
('linear program', 'a dual solution, in floats', True)
>>> fair.certificate().verify()
'epsilon = 1 per unit of line'

First the closed forms that theory proves to be best are tried (:mod:`~noisewright.design.closed_forms`), then the
linear program is solved, made private and certified (:mod:`~noisewright.design.optimal`). The result is a
mechanism
like any other, which releases actions of the loss, and says how its expected loss compares with the smallest possible one.

>>> counts = optimal(11, epsilon=0.5, loss="absolute")
>>> counts.path, round(counts.loss_value, 6), counts.gap
('closed form: truncated geometric', 1.417356, 0.0)
>>> counts.certificate().verify()
'epsilon = 0.5 per unit of line'
>>> from noisewright.metrics.base import Discrete
>>> colours = optimal(["red", "green", "blue"], epsilon=1, metric=Discrete(), loss=[[0, 1, 5], [2, 0, 1], [3, 3, 0]])
>>> colours.path, colours.gap < 1e-8
('linear program', True)

**Guarantee.** ``epsilon`` for the metric, exactly, for all pairs. It does not rest on the optimisation: the numbers
that are drawn from are proved private afterwards. A prior or loss that was taken from the data would itself reveal
information about the data; it must be public.

Reference: Ghosh, Roughgarden and Sundararajan, *Universally utility-maximizing privacy mechanisms* (2009); Bordenabe,
Chatzikokolakis and Palamidessi, *Optimal geo-indistinguishable mechanisms for location privacy* (2014).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from noisewright._typing import Floats, Indices
from noisewright._utils.validation import one_of
from noisewright.channels.channel import Channel
from noisewright.channels.hyper import Prior, as_prior
from noisewright.channels.integer_table import CertifiedChannel, check_budget
from noisewright.columns.label_encoder import counted_labels
from noisewright.design import shapes
from noisewright.design.closed_forms import (
    CONJECTURE,
    PRICES,
    THEOREM,
    Found,
    Setting,
    best_known,
    line_steps,
    optimal_response,
)
from noisewright.design.linear_program import Objective
from noisewright.design.loss import Loss
from noisewright.design.mechanism import NAME, Drawing, FromLine, FromResponse, FromTable, OptimalMechanism
from noisewright.design.named_losses import as_loss
from noisewright.design.shapes import evened, mended, settled
from noisewright.design.solver import Solution, check_program, constant_regret, private_logs, solve, uniform_regret
from noisewright.exceptions import GuaranteeError, ParameterError
from noisewright.mechanisms.categorical.base import FiniteMechanism
from noisewright.mechanisms.categorical.randomised_response import randomised_response
from noisewright.mechanisms.numeric.geometric import geometric
from noisewright.metrics.base import Discrete, Line, Metric, Table, as_metric
from noisewright.metrics.distances import LineDistances, UniformDistances
from noisewright.numerics.exact import Exact, as_fraction
from noisewright.numerics.polyhedra import UnsolvedError

__all__ = ["Reduced", "Relevant", "from_program", "optimal", "reduced", "relevant"]


MOST_COMPARED = 300_000_000
"""Maximum number of comparisons of numbers for which actions are compared with each other."""


@dataclass(frozen=True)
class Relevant:
    """The actions that are kept, their regrets, and the cost that is paid whatever is done."""

    kept: Indices
    regret: Floats
    paid: float


def relevant(matrix: Floats, prior: Floats, *, drop: bool = True, shift: bool = True) -> Relevant:
    """The part of a loss ``L[w, x]`` that matters at secrets that can occur."""
    occurs = prior > 0
    kept = np.arange(len(matrix))
    if drop and matrix.size * len(matrix) <= MOST_COMPARED:
        columns = matrix[:, occurs]
        kept = np.array([w for w in kept.tolist() if not _dominated(columns, w)], dtype=np.intp)
    least = matrix.min(axis=0) if shift else np.zeros(matrix.shape[1])
    return Relevant(kept, matrix[kept] - least, float(prior @ least))


def _dominated(matrix: Floats, w: int) -> bool:
    """Return whether another action is at least as good everywhere; of several equal ones the first is not."""
    no_worse = (matrix <= matrix[w]).all(axis=1)
    no_worse[w] = False
    if not no_worse.any():
        return False
    equal = (matrix[no_worse] == matrix[w]).all(axis=1)
    return not equal.all() or bool(np.flatnonzero(no_worse)[0] < w)


@dataclass(frozen=True)
class Reduced:
    """A design problem with the relevant part of its loss, and the way back."""

    setting: Setting
    kept: Indices
    actions: int
    paid: float

    def restored(self, found: Found) -> Found:
        """The same mechanism as an answer to the whole problem."""
        gap = found.value - found.bound
        value = found.value + self.paid
        logs = None if found.logs is None else self.widened(found.logs)
        return replace(found, value=value, bound=value - gap, remap=self.kept[found.remap], logs=logs)

    def widened(self, logs: Floats) -> Floats:
        """Log-probabilities with the actions that were left out as impossible outputs."""
        wide = np.full((len(logs), self.actions), -np.inf)
        wide[:, self.kept] = logs
        return wide


def reduced(setting: Setting, *, drop: bool, shift: bool) -> Reduced:
    """The problem without what cannot matter. A shape is about all outputs, so nothing is dropped then; the worst secret is
    about whole costs, so nothing is taken off them then.
    """
    loss = setting.loss
    every = np.arange(len(loss.actions))
    if (
        loss.rule is not None and loss.actions == loss.secrets
    ):  # the truth costs nothing, and nothing else is as good there
        return Reduced(setting, every, len(every), 0.0)
    everywhere = np.ones(len(setting.secrets)) if not shift else setting.prior
    found = relevant(loss.matrix, everywhere, drop=drop, shift=shift)
    if len(found.kept) == len(every) and np.array_equal(found.regret, loss.matrix):
        return Reduced(setting, every, len(every), 0.0)
    actions = tuple(loss.actions[w] for w in found.kept.tolist())
    smaller = Loss(found.regret, actions, loss.secrets, loss.made)
    return Reduced(replace(setting, loss=smaller), found.kept, len(every), found.paid if shift else 0.0)


# From program -------------------------------------------------------------------------------------------------------------
#
# The best mechanism by a linear program: solved, made private, certified, and compared with its own lower bound.


MANY_ROWS = 400_000
"""Beyond this many constraints a spanner is used instead of all pairs, unless the caller says otherwise."""

USUAL_DILATION = 1.05

SLACKS = (0.0, 1e-6, 1e-4, 1e-2)
"""Shares of epsilon that are held back, if the whole of it cannot be certified."""

PROHIBITIVE = (1e6, 1e3)
"""A cost larger than the regret of the best constant action (with a shape: of the uniform response) by this factor is
next to a prohibition. Programs are solved with it capped there, which makes none of their bounds wrong, and without the
actions that have such a cost.
"""

WORTH_A_SHAPE = 1e-6
"""Largest additional cost of a shape that holds exactly over one that holds up to rounding, in terms of the uniform
response's regret.
"""

ROUNDING = 1e-10
"""A shape that is missed by more was not lost by rounding alone, and the table is made in another way."""

PROVED, NOT_PROVED = "a dual solution, in floats", "not proved"

USELESS = 0.1
"""A gap above this share of the best constant action's regret proves nothing worth the name."""


def from_program(
    setting: Setting, core: Reduced, objective: Objective, wanted: tuple[str, ...], dilation: float | None, solver: str
) -> OptimalMechanism:
    """The mechanism with the smallest expected (or largest) loss that the solver and the integers agree on."""
    loss = core.setting.loss
    check_program(len(setting.secrets), len(loss.actions), bool(wanted))
    losses = _losses(setting)
    cost = loss.matrix.T * (setting.prior[:, None] if objective == "bayes" else 1.0)
    floor = 0.0 if objective == "bayes" else float(cost.min())
    level = uniform_regret(cost, objective) if wanted else constant_regret(cost, objective)
    problem = _Problem(setting, core, objective, wanted, dilation, solver, losses, cost)
    answers = problem.answers(floor, level)
    bound = max(answer.bound for answer in answers)
    answer = min(answers, key=lambda found: found.regret)
    certified = problem.shaped(answer, level) if wanted else answer.certified
    regret = problem.regret(certified)
    gap = max(0.0, regret - bound)
    value = regret + core.paid
    proved = gap <= USELESS * max(level, regret - floor)
    reason = (
        "its dual bounds what any other could save"
        if proved
        else "its dual bounds the best loss too loosely to prove much"
    )
    found = answer.solution
    return OptimalMechanism(
        drawing=FromTable(FiniteMechanism(certified, NAME)),
        secrets=setting.secrets,
        loss=setting.loss,
        prior=found.prior if found.prior is not None else setting.prior,
        epsilon=setting.epsilon,
        metric=setting.metric,
        objective=objective,
        loss_value=value,
        bound=value - gap,
        path="linear program",
        status=PROVED if proved else NOT_PROVED,
        why=f"a program of {found.rows} constraints solved by {found.solver}{answer.note}; {reason}",
        shape=wanted,
        shapes=shapes.deviations(wanted, certified) if wanted else {},
        dilation=answer.stretch,
    )


def _missed(wanted: tuple[str, ...], table: CertifiedChannel) -> float:
    return max(shapes.deviations(wanted, table).values())


@dataclass(frozen=True)
class _Answer:
    """A certified table, its regret, and a lower bound for the regret of every mechanism."""

    certified: CertifiedChannel
    matrix: Floats
    """Certified matrix, in floats."""
    regret: float
    bound: float
    solution: Solution
    stretch: float
    note: str


@dataclass(frozen=True)
class _Problem:
    """One linear program, and the criteria for its answers."""

    setting: Setting
    core: Reduced
    objective: Objective
    wanted: tuple[str, ...]
    dilation: float | None
    solver: str
    losses: Floats
    cost: Floats

    def answers(self, floor: float, level: float) -> list[_Answer]:
        """Answers with costs capped at some times ``level`` above ``floor``, and without the actions that have such a cost."""
        found = []
        for times in PROHIBITIVE:
            cap = floor + times * level
            found.append(self.answer(np.minimum(self.cost, cap), np.arange(self.cost.shape[1])))
            if (self.cost <= floor + PROHIBITIVE[-1] * level).all():
                break
            usable = np.flatnonzero((self.cost <= cap).all(axis=0))
            if len(usable) < self.cost.shape[1] and not self.wanted:
                found.append(replace(self.answer(self.cost[:, usable], usable), bound=-math.inf))
        return found

    def shaped(self, answer: _Answer, level: float) -> CertifiedChannel:
        """The table of an answer, moved until it has the shapes that are wanted, as exactly as is worth it."""
        tables = [settled(answer.certified, self.wanted)]
        if _missed(self.wanted, tables[0]) > ROUNDING:
            tables.append(settled(evened(answer.certified, answer.matrix), self.wanted))
        table = min(tables, key=lambda one: _missed(self.wanted, one))
        exact = mended(table, self.wanted)
        return exact if self.regret(exact) <= self.regret(table) + WORTH_A_SHAPE * level else table

    def regret(self, certified: CertifiedChannel) -> float:
        """Return the expected regret of a table, or the regret of the worst secret."""
        loss = self.core.setting.loss
        risks = (certified.channel().matrix[:, self.core.kept] * loss.matrix.T).sum(axis=1)
        return float(risks @ self.setting.prior if self.objective == "bayes" else risks.max())

    def answer(self, cost: Floats, actions: Indices) -> _Answer:
        """The best mechanism for these costs of some of the actions, private and certified."""
        from noisewright.design.linear_program import fold

        secrets, outputs = self.setting.secrets, self.setting.loss.actions
        further = shapes.constraints(self.wanted, secrets, outputs) if self.wanted else None
        folding = None if further is not None else fold(self.losses, cost)
        classes = cost.shape[1] if folding is None else folding.count / len(cost)
        pairs, stretch = _pairs(self.setting, self.losses, self.dilation, classes)

        def run(held_back: float, stretched: float, accuracy: float = 1e-10) -> Solution:
            return solve(
                self.losses * (1 - held_back) / stretched,
                cost,
                pairs=pairs,
                objective=self.objective,
                folding=folding,
                further=further,
                solver=self.solver,
                accuracy=accuracy,
            )

        for held_back in SLACKS:
            found = run(held_back, stretch)
            certified, matrix, regret = self._certified(found.matrix, actions)
            if certified is not None:
                break
        else:
            raise GuaranteeError(
                "no private table could be made from the solver's answer; choose an epsilon that is not as extreme."
            )
        # With the whole epsilon on the same pairs the program asks for less than privacy does: a bound for the true problem.
        bound = found.bound if stretch == 1 and held_back == 0 else run(0.0, 1.0, accuracy=1e-5).bound
        folded = folding is not None and folding.count < cost.size
        note = f", folded from {cost.size} to {folding.count} entries" if folding is not None and folded else ""
        note += f", with paths up to {100 * (stretch - 1):.3g} % longer than straight" if stretch > 1 else ""
        return _Answer(certified, matrix, regret, bound, found, stretch, note)

    def _certified(self, matrix: Floats, actions: Indices) -> tuple[CertifiedChannel | None, Floats, float]:
        """The best of a few ways to make the answer private, as a certified table; None if it had to change too much."""
        best, least = None, math.inf
        cost = self.cost[:, actions]
        dear = cost - cost.min() > PROHIBITIVE[-1] * constant_regret(self.cost, self.objective)
        # Small entries may be a solver's noise; where a shape is wanted they are left alone: dropping one may break it.
        # Where a cost is next to a prohibition, no more is left than privacy needs.
        cheap = [np.where(dear, 0.0, matrix)] if dear.any() and not self.wanted else []
        for snap, given in product((0.0,) if self.wanted else (1e-6, 1e-8, 0.0), [matrix, *cheap]):
            if (given.max(axis=1) <= snap).any():
                continue
            logs = private_logs(given, self.losses, snap, even=bool(self.wanted))
            risks = (np.exp(logs) * cost).sum(axis=1)
            value = float(risks.sum() if self.objective == "bayes" else risks.max())
            if value < least:
                best, least = logs, value
        if best is None:
            return None, matrix, math.inf
        some = np.full((len(best), self.cost.shape[1]), -np.inf)
        some[:, actions] = best
        wide = self.core.widened(some)
        try:
            channel = Channel.from_logs(wide, self.setting.secrets, self.setting.loss.actions)
            return channel.certify(self.setting.epsilon, self.setting.metric), channel.matrix, least
        except GuaranteeError:
            return None, matrix, math.inf


def _losses(setting: Setting) -> Floats:
    """``epsilon d`` as floats; infinite where nothing is guaranteed."""
    apart = setting.metric.matrix(setting.secrets)
    with np.errstate(over="ignore"):
        return np.where(np.isinf(apart), np.inf, np.minimum(float(setting.epsilon) * apart, 1e300))


def _pairs(setting: Setting, losses: Floats, dilation: float | None, classes: float) -> tuple[Indices | None, float]:
    """The pairs whose constraints imply all others, and how much longer than straight their paths are; None for one
    distance.
    """
    if isinstance(setting.distances, UniformDistances):
        return None, 1.0
    if isinstance(setting.distances, LineDistances):
        order = np.array(setting.distances.order)
        return np.stack([order[:-1], order[1:]], axis=1), 1.0
    from noisewright.design.linear_program import spanner
    from noisewright.metrics.sensitivity import essential_pairs

    every = np.array(essential_pairs(setting.metric, setting.secrets), dtype=np.intp).reshape(-1, 2)
    if dilation is None:
        dilation = 1.0 if 2 * len(every) * classes <= MANY_ROWS else USUAL_DILATION
    if dilation == 1:
        return every, 1.0
    return spanner(losses, dilation)


# Optimal ------------------------------------------------------------------------------------------------------------------
#
# ``optimal(...)``: the best private mechanism for a loss, why it is the best, and its certificate.


NEGLIGIBLE, LEFT_OPEN = 1e-8, 1e-10
"""A closed form is taken without solving the linear program if its gap is at most this share of its own regret, or of
the best constant action's, which is as far as a solver in floats sees.
"""


def optimal(
    points: Iterable[Hashable] | int | None = None,
    *,
    epsilon: Exact,
    loss: object,
    delta: Exact = 0,
    metric: Metric | None = None,
    prior: object = None,
    outputs: Iterable[Hashable] | None = None,
    shape: Sequence[str] | str = (),
    objective: Objective = "bayes",
    dilation: float | None = None,
    solver: str = "clarabel",
) -> OptimalMechanism:
    """The mechanism over secrets ``points`` (a list, or a number of them) with the smallest expected loss among all
    ``epsilon``-private ones. The points may be left out where a table of distances, a loss or a prior names them.

    ``loss``: a name (``"absolute"``, ``"squared"``, ``"zero-one"``, ``"pinball:1,3"``, ``"last-train:5"``,
    ``"parity"``, ``"step:2"``), a matrix of actions by secrets, a function of (action, secret), or a
    :class:`~noisewright.design.loss.Loss`. ``outputs``: the actions, if they are not the secrets.
    ``prior``: probabilities of the secrets, uniform if left out. ``objective="minimax"`` makes the loss of the worst
    secret smallest instead, and takes no prior. ``shape``: additional properties that the mechanism must have, such as
    ``"fair"`` or ``"column-monotone"``. ``dilation``: in a plane, how much longer than straight the paths may be along
    which privacy is enforced (1: every pair that matters); chosen by size if left out. ``delta`` greater than 0 is for
    categories (the discrete metric) that are right or wrong (``"zero-one"``) and all equally likely.
    """
    names = _secrets(_named_secrets(metric, loss, prior) if points is None else points)
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
    if as_fraction(delta, "delta") != 0:
        return _with_delta(names, epsilon, delta, measure, given, as_prior(prior, names), objective, wanted)
    distances = measure.exact(names)
    budget = check_budget(epsilon, _closest(distances))
    setting = Setting(names, measure, distances, budget, beliefs, given)
    return _best(setting, objective, wanted, dilation, solver)


def _best(
    setting: Setting, objective: Objective, wanted: tuple[str, ...], dilation: float | None, solver: str
) -> OptimalMechanism:
    """Find the best mechanism by a closed form where one is known and settles it, otherwise by the program."""
    core = reduced(setting, drop=not wanted, shift=objective == "bayes")
    known = None if wanted else best_known(core.setting)
    if known is not None:
        made = _from_closed_form(setting, core.restored(known))
        if objective == "bayes":
            return made if _enough(core, known) else _better(made, setting, core, dilation, solver)
        if setting.size <= 1_000_000 and known.status != CONJECTURE:
            worst = float(made.secret_losses().max())
            if worst <= made.loss_value * (1 + 1e-9) + 1e-300:
                return made.as_minimax(worst)
    return from_program(setting, core, objective, wanted, dilation, solver)


def _secrets(points: Iterable[Hashable] | int) -> tuple[Hashable, ...]:
    """The secrets: two or more, all different."""
    names = counted_labels(points, "the secrets of an optimal mechanism")
    if len(set(names)) < len(names):
        raise ParameterError(
            "the secrets of an optimal mechanism must be different from each other; one was given twice."
        )
    if len(names) < 2:
        raise ParameterError(f"an optimal mechanism needs 2 or more different secrets, not {len(names)}.")
    return names


def _named_secrets(metric: object, loss: object, prior: object) -> tuple[Hashable, ...]:
    """The secrets of the first of these that has some."""
    if isinstance(metric, Table):
        return metric.points
    for given in (loss, prior):
        if isinstance(given, (Loss, Prior)):
            return given.secrets
    raise ParameterError(
        "nothing says what the secrets are; give them first, as in optimal(range(11), ...), or a table of distances or a "
        "loss that names them."
    )


def _closest(distances: Any) -> Fraction:
    if isinstance(distances, UniformDistances):
        return distances.distance
    if isinstance(distances, LineDistances):
        _, gaps, common = line_steps(distances)
        return min((Fraction(int(gap), common) for gap in set(gaps[gaps > 0].tolist())), default=Fraction(1))
    return min((d for _, _, d in distances.pairs() if d > 0), default=Fraction(1))


def _enough(core: Reduced, found: Found) -> bool:
    """Return whether the gap that a closed form leaves open is not worth a linear program."""
    gap = found.value - found.bound
    if found.status != PRICES or gap <= NEGLIGIBLE * abs(found.value):
        return True
    cost = core.setting.loss.matrix.T * core.setting.prior[:, None]
    return gap <= LEFT_OPEN * constant_regret(cost, "bayes")


def _better(
    made: OptimalMechanism, setting: Setting, core: Reduced, dilation: float | None, solver: str
) -> OptimalMechanism:
    """The better one of a closed form and the program's answer, with the better one of their bounds."""
    try:
        other = from_program(setting, core, "bayes", (), dilation, solver)
    except (UnsolvedError, GuaranteeError):  # too large, or too extreme: the closed form and its gap stand
        return made
    best = other if other.loss_value < made.loss_value else made
    return replace(best, bound=min(max(made.bound, other.bound), best.loss_value))


def _with_delta(
    names: tuple[Hashable, ...],
    epsilon: Exact,
    delta: Exact,
    measure: Metric,
    loss: Loss,
    prior: Prior,
    objective: Objective,
    wanted: tuple[str, ...],
) -> OptimalMechanism:
    """Categories that are right or wrong: the response that lies as rarely as any may under ``(epsilon, delta)``."""
    same = len(loss.actions) == len(names) and np.array_equal(loss.matrix, 1 - np.eye(len(names)))
    if not (isinstance(measure, Discrete) and same and prior.is_uniform) or wanted:
        raise ParameterError(
            "with a delta the best mechanism is known for the discrete metric with the zero-one loss, all secrets equally likely "
            "and no shape; ask for that, or leave delta out."
        )
    source = optimal_response(len(names), epsilon=epsilon, delta=delta)
    value = float(1 - source.keep_probability)
    why = "no mechanism with this epsilon and delta lies less often, on average or for the worst secret"
    return OptimalMechanism(
        drawing=FromResponse(source, names, loss.actions, np.arange(len(names))),
        secrets=names,
        loss=loss,
        prior=prior.probabilities,
        epsilon=source.epsilon,
        delta=source.delta,
        metric=measure,
        objective=objective,
        loss_value=value,
        bound=value,
        path="closed form: randomised response with a delta",
        status=THEOREM,
        why=why,
    )


def _from_closed_form(setting: Setting, found: Found) -> OptimalMechanism:
    return OptimalMechanism(
        drawing=_drawing(setting, found),
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
    )


def _drawing(setting: Setting, found: Found) -> Drawing:
    """Return the source of a closed form."""
    names, actions = setting.secrets, setting.loss.actions
    if found.line is not None:
        noise = geometric(epsilon=setting.epsilon * found.line.step, within=(0, found.line.count - 1))
        return FromLine(noise, names, actions, found.remap, found.line.rank, found.line.step)
    if found.response:
        return FromResponse(randomised_response(len(names), epsilon=setting.epsilon), names, actions, found.remap)
    assert found.logs is not None
    channel = Channel.from_logs(found.logs, names, actions)
    return FromTable(FiniteMechanism(channel.certify(setting.epsilon, setting.metric), NAME))
