r"""``optimal(...)``: the best private mechanism for a loss, why it is the best, and its certificate.

First the closed forms that theory proves to be best are tried (:mod:`~noisewright.optimality.design._closed_forms`), then the
linear program is solved, made private and certified (:mod:`~noisewright.optimality.design._from_program`). The result is a
mechanism
like any other, which releases actions of the loss, and says how its expected loss compares with the smallest possible one.

>>> counts = optimal(11, epsilon=0.5, loss="absolute")
>>> counts.path, round(counts.loss_value, 6), counts.gap
('closed form: truncated geometric', 1.417356, 0.0)
>>> counts.certificate().verify()
'epsilon = 0.5 per unit of line'
>>> from noisewright.core.metrics.metric import Discrete
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

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright.core.channels.certified import check_budget
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import one_of
from noisewright.core.errors import GuaranteeError, ParameterError
from noisewright.core.exact import Exact, as_fraction
from noisewright.core.metrics.distances import LineDistances, UniformDistances
from noisewright.core.metrics.metric import Discrete, Line, Metric, Table, as_metric
from noisewright.mechanisms.categories.finite import FiniteMechanism
from noisewright.mechanisms.categories.response import randomised_response
from noisewright.mechanisms.label_columns import counted_labels
from noisewright.mechanisms.numbers.geometric import geometric
from noisewright.optimality.design._closed_forms import (
    CONJECTURE,
    PRICES,
    THEOREM,
    Found,
    Setting,
    best_known,
    line_steps,
)
from noisewright.optimality.design._drawing import NAME, Drawing, FromLine, FromResponse, FromTable
from noisewright.optimality.design._from_program import from_program
from noisewright.optimality.design._reduction import Reduced, reduced
from noisewright.optimality.design.mechanism import OptimalMechanism
from noisewright.optimality.extreme.response import optimal_response
from noisewright.optimality.losses.gallery import Loss, as_loss
from noisewright.optimality.priors import Prior, as_prior
from noisewright.optimality.program.solve import constant_regret
from noisewright.optimality.program.solvers import UnsolvedError
from noisewright.optimality.program.sparse import Objective
from noisewright.optimality.shapes import checks as shapes

__all__ = ["optimal"]


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
    :class:`~noisewright.optimality.losses.gallery.Loss`. ``outputs``: the actions, if they are not the secrets.
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
