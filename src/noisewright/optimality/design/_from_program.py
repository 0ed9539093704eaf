r"""The best mechanism by a linear program: solved, made private, certified, and compared with its own lower bound.

A solver's answer is raw material. Three steps follow the program (:mod:`~noisewright.optimality.program.solve`): small
entries are dropped and the smallest private matrix above the rest is taken
(:mod:`~noisewright.optimality.program.repair`); the result becomes a table of integers, whose guarantee is proved
exactly; and where shapes are wanted, the table is moved until they hold (:mod:`~noisewright.optimality.shapes.tables`).
If a table cannot be certified, the program is solved again with a little less of epsilon.

>>> from noisewright.optimality.design.optimal import optimal
>>> fair = optimal(4, epsilon=1, loss="absolute", shape="fair")
>>> fair.path, fair.status, fair.gap < 1e-6
('linear program', 'a dual solution, in floats', True)
>>> fair.certificate().verify()
'epsilon = 1 per unit of line'
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from noisewright.core.arrays import Floats, Indices
from noisewright.core.channels.certified import CertifiedChannel
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import GuaranteeError
from noisewright.core.metrics.distances import LineDistances, UniformDistances
from noisewright.mechanisms.categories.finite import FiniteMechanism
from noisewright.optimality.design._closed_forms import Setting
from noisewright.optimality.design._drawing import NAME, FromTable
from noisewright.optimality.design._reduction import Reduced
from noisewright.optimality.design.mechanism import OptimalMechanism
from noisewright.optimality.program.repair import private_logs
from noisewright.optimality.program.solve import Solution, check_program, constant_regret, solve, uniform_regret
from noisewright.optimality.program.sparse import Objective
from noisewright.optimality.shapes import checks as shapes
from noisewright.optimality.shapes.tables import evened, mended, settled

__all__ = ["from_program"]


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
        from noisewright.optimality.program.folding import fold

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
    from noisewright.core.metrics.spaces import essential_pairs
    from noisewright.optimality.program.spanner import spanner

    every = np.array(essential_pairs(setting.metric, setting.secrets), dtype=np.intp).reshape(-1, 2)
    if dilation is None:
        dilation = 1.0 if 2 * len(every) * classes <= MANY_ROWS else USUAL_DILATION
    if dilation == 1:
        return every, 1.0
    return spanner(losses, dilation)
