r"""Cost of a channel to someone who knows the prior and acts on its output as well as possible.

For a prior ``pi``, a channel ``M`` and a loss ``L[w, x]`` the *posterior loss* is

.. math:: U_l[\pi \triangleright M] = \sum_y \min_w \sum_x \pi_x M_{xy} L_{wx},

and the action that attains the minimum for output ``y`` is the *remap*. Without any output the loss is the *prior
loss* ``U_l(pi) = min_w sum_x pi_x L[w,x]``; no channel makes it larger. With ``g = B - L`` for a constant ``B`` the
gain is ``B - U_l``.

>>> from noisewright.channels.channel import Channel
>>> M = Channel([[4/5, 1/10, 1/10], [1/5, 2/5, 2/5], [1/5, 2/5, 2/5]])
>>> found = posterior_loss(None, M, [[0, 1, 1], [1, 0, 0]])
>>> round(found.value, 9), found.remap
(0.2, (0, 1, 1))

For a prior ``pi``, a channel ``M`` and a loss ``L``

* *face value*: ``sum_x pi_x sum_y M[x,y] L[y,x]``, where the output is taken for the truth (with ``"absolute"`` the
  expected error);
* *Bayes*: ``sum_y min_w sum_x pi_x M[x,y] L[w,x]``, where someone who knows the prior and the mechanism guesses the
  secret as well as possible. It is never above the loss of any fixed way to read the outputs as secrets.

Next to them is the epsilon that each mechanism really has, with its metric: an error is meaningless without its privacy
guarantee.

>>> from noisewright.mechanisms.categorical.exponential import explicit_fair
>>> from noisewright.mechanisms.numeric.geometric import geometric
>>> table = compare_utility([geometric(epsilon="0.5", within=(0, 5)), explicit_fair(epsilon="0.5", within=(0, 5))])
>>> [(row.name, round(row.face["absolute"], 4), round(row.bayes["absolute"], 4)) for row in table.rows]
[('geometric', 1.1466, 1.0605), ('explicit-fair', 1.3461, 1.2676)]

A stronger statement than any single loss is that one mechanism keeps more probability near the truth than another,
whatever "near" means (:func:`compare_concentration`): then every loss that grows with the distance agrees. It is a
partial order, and often neither is ahead.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from noisewright._typing import Floats
from noisewright.base import Mechanism
from noisewright.channels.audit import Audit
from noisewright.channels.channel import Channel
from noisewright.channels.hyper import Prior, as_prior
from noisewright.claims.figures import decimals
from noisewright.claims.phrases import per
from noisewright.claims.readings import counted
from noisewright.design.loss import Loss
from noisewright.design.named_losses import as_loss
from noisewright.exceptions import NoLossError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.audit import audit
from noisewright.metrics.base import Metric, encode_label

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "Concentration",
    "Remapped",
    "UtilityRow",
    "UtilityTable",
    "compare_concentration",
    "compare_utility",
    "face_value_loss",
    "posterior_loss",
    "posterior_losses",
    "prior_loss",
    "secret_losses",
]


@dataclass(frozen=True)
class Remapped:
    """The expected loss after the best remap, and that remap: an action for each output."""

    value: float
    remap: tuple[Hashable, ...]
    places: tuple[int, ...]

    def __float__(self) -> float:
        return self.value


def posterior_loss(prior: object, channel: Channel, loss: object) -> Remapped:
    """The expected loss of acting as well as possible on the channel's output; ``prior=None`` is the uniform one."""
    costs = _costs(prior, channel, loss)
    found, given = costs.sums, costs.loss
    places = found.argmin(axis=0)
    value = float(found[places, np.arange(found.shape[1])].sum())
    return Remapped(value, tuple(given.actions[w] for w in places), tuple(places.tolist()))


def posterior_losses(priors: ArrayLike, channel: Channel, loss: object) -> Floats:
    """The posterior loss at each of several priors, given as the rows of a matrix."""
    _check(channel)
    try:
        many = np.atleast_2d(np.asarray(priors, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            "several priors are the rows of a matrix of numbers, one column for each secret."
        ) from None
    given = as_loss(loss, channel.inputs)
    checked = np.array([as_prior(row, channel.inputs).probabilities for row in many])
    values = np.empty(len(checked))
    for start in range(0, len(checked), step := max(1, 10_000_000 // max(channel.matrix.size, given.matrix.size, 1))):
        joints = checked[start : start + step, :, None] * channel.matrix
        values[start : start + step] = (given.matrix @ joints).min(axis=1).sum(axis=1)
    return values


def prior_loss(prior: object, loss: object, secrets: tuple[Hashable, ...] | None = None) -> Remapped:
    """The loss of the best action without any output."""
    names = secrets if secrets is not None else getattr(prior, "secrets", None) or getattr(loss, "secrets", None)
    if names is None:
        raise ParameterError("the prior loss needs a Prior, a Loss with secrets, or secrets=.")
    given = as_loss(loss, names)
    expected = given.matrix @ as_prior(prior, names).probabilities
    best = int(expected.argmin())
    return Remapped(float(expected[best]), (given.actions[best],), (best,))


def face_value_loss(prior: object, channel: Channel, loss: object) -> float:
    """The expected loss of taking each output at face value: outputs are the actions of the loss."""
    _check(channel)
    weights = as_prior(prior, channel.inputs).probabilities
    return float(weights @ secret_losses(channel, loss))


def secret_losses(channel: Channel, loss: object) -> Floats:
    """The expected loss of each secret when outputs are taken at face value; the largest is the minimax loss."""
    _check(channel)
    given = as_loss(loss, channel.inputs, None if isinstance(loss, Loss) else channel.outputs)
    place = {w: i for i, w in enumerate(given.actions)}
    missing = [y for y in channel.outputs if y not in place]
    if missing:
        raise NoLossError(
            "an output taken at face value must be an action of the loss; use posterior_loss for any other."
        )
    matrix = given.matrix[[place[y] for y in channel.outputs]]
    return np.asarray((channel.matrix * matrix.T).sum(axis=1))


@dataclass(frozen=True)
class _Costs:
    sums: Floats
    loss: Loss


def _costs(prior: object, channel: Channel, loss: object) -> _Costs:
    """The joint cost of each action at each output."""
    _check(channel)
    given = as_loss(loss, channel.inputs)
    joint = as_prior(prior, channel.inputs).probabilities[:, None] * channel.matrix
    return _Costs(given.matrix @ joint, given)


def _check(channel: object) -> None:
    if not isinstance(channel, Channel):
        raise ParameterError(
            f"a loss is evaluated on a Channel, not on {type(channel).__name__}; wrap it in Channel(...)."
        )


# Utility ------------------------------------------------------------------------------------------------------------------
#
# Costs of mechanisms, side by side: the expected loss of an output taken at face value, and after the best guess from
# it.


Thing = Mechanism | Channel

ROUNDING = 1e-12
"""Probabilities that differ by less than this count as equal in the order of concentration."""


@dataclass(frozen=True)
class UtilityRow:
    """Costs of one mechanism at one prior: a number for each loss, at face value (if outputs can be read so) and
    Bayesian.
    """

    name: str
    prior: str
    face: Mapping[str, float | None]
    bayes: Mapping[str, float]
    epsilon: Audit
    remaps: Mapping[str, tuple[Hashable, ...]] = field(repr=False)
    """Best guess for each output, for each loss."""

    @property
    def counted(self) -> str:
        """Unit of the epsilon, in words: each unit of a metric, or two neighbours."""
        adjacent = getattr(self.epsilon, "scope", "metric") == "adjacent"
        unit = self.epsilon.metric
        epsilon, words = counted(Guarantee(1.0, unit, scope="adjacent" if adjacent else "metric").record())
        return words if epsilon == 1 else per(unit.record())  # a multiple of a metric without units

    def to_json(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "name": self.name,
            "prior": self.prior,
            "face": dict(self.face),
            "bayes": dict(self.bayes),
            "epsilon": self.epsilon.to_json(),
            "remaps": {loss: [encode_label(guess) for guess in guesses] for loss, guesses in self.remaps.items()},
        }


@dataclass(frozen=True)
class UtilityTable:
    """Mechanisms side by side; print it, or give it to ``noisewright.plotting.mechanisms.draw_utility``."""

    rows: tuple[UtilityRow, ...]
    losses: tuple[str, ...]
    priors: tuple[str, ...]

    def best(self, loss: str, *, prior: str | None = None, remapped: bool = True) -> UtilityRow:
        """The row with the least loss, after remapping or at face value."""
        if loss not in self.losses or (prior is not None and prior not in self.priors):
            raise ParameterError(
                f"this table has the losses {', '.join(self.losses)} and the priors {', '.join(self.priors)}."
            )
        wanted = [row for row in self.rows if row.prior == (prior or self.priors[0])]
        costs = {row.name: row.bayes[loss] if remapped else row.face[loss] for row in wanted}
        known = [row for row in wanted if costs[row.name] is not None]
        if not known:
            raise ParameterError("no mechanism of this table has outputs that can be taken at face value.")
        return min(known, key=lambda row: float(costs[row.name] or 0.0))

    def to_json(self) -> dict[str, Any]:
        """The table as plain data."""
        return {
            "losses": list(self.losses),
            "priors": list(self.priors),
            "rows": [row.to_json() for row in self.rows],
        }

    def __rich__(self) -> Table:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        several = len(self.priors) > 1
        table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
        table.add_column("mechanism")
        if several:
            table.add_column("prior")
        for loss in self.losses:
            table.add_column(f"{loss}\nat face value", justify="right")
            table.add_column(f"{loss}\nbest guess", justify="right")
        table.add_column("epsilon\nreally", justify="right")
        table.add_column("counted")
        for row in self.rows:
            cells = [row.name, *([row.prior] if several else [])]
            for loss in self.losses:
                face = row.face[loss]
                cells += ["" if face is None else decimals(face), decimals(row.bayes[loss])]
            table.add_row(*cells, _epsilon(row.epsilon), row.counted)
        return table

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=120, no_color=True, highlight=False)
        with console.capture() as captured:
            console.print(self)
        return "\n".join(line.rstrip() for line in captured.get().splitlines())


def compare_utility(
    mechanisms: Iterable[Thing] | Mapping[str, Thing],
    losses: str | Loss | Iterable[Any] | Mapping[str, Any] = ("absolute", "squared"),
    priors: Any = None,
    *,
    metric: Metric | None = None,
) -> UtilityTable:
    """Compare mechanisms (or channels) over the same secrets.

    ``losses`` are names, :class:`~noisewright.design.loss.Loss` objects, or a mapping from names to
    losses of any form. ``priors`` is one prior (nothing for the uniform one), a list of priors, or a mapping from names
    to priors. The epsilon of a mechanism is the smallest one that it has in the terms of its own guarantee; ``metric``
    asks for it in one metric for all, which channels need unless it is the discrete one.
    """
    things = _named_things(mechanisms)
    channels = {name: _channel(name, thing) for name, thing in things.items()}
    secrets = next(iter(channels.values())).inputs
    for name, channel in channels.items():
        if set(channel.inputs) != set(secrets):
            raise ParameterError(
                f"mechanisms are compared over the same secrets; those of {name} are others than the first one's."
            )
    wanted, believed = _named_losses(losses), _named_priors(priors, secrets)
    audits = {name: audit(thing, metric) for name, thing in things.items()}
    rows = []
    for belief, prior in believed.items():
        for name, channel in channels.items():
            found = {key: posterior_loss(prior, channel, loss) for key, loss in wanted.items()}
            rows.append(
                UtilityRow(
                    name,
                    belief,
                    {key: _face(prior, channel, loss) for key, loss in wanted.items()},
                    {key: remapped.value for key, remapped in found.items()},
                    audits[name],
                    {key: remapped.remap for key, remapped in found.items()},
                )
            )
    return UtilityTable(tuple(rows), tuple(wanted), tuple(believed))


@dataclass(frozen=True)
class Concentration:
    """Comparison of two channels: which has its probability closer to the truth, secret by secret.

    Each verdict is ``"first"``, ``"second"``, ``"equal"`` or ``"neither"``.
    """

    by_secret: Mapping[Hashable, str]

    @property
    def overall(self) -> str:
        """The verdict for all secrets together: one channel is ahead if it is ahead or equal for each of them."""
        verdicts = set(self.by_secret.values()) - {"equal"}
        return "equal" if not verdicts else verdicts.pop() if len(verdicts) == 1 else "neither"


def compare_concentration(first: Channel, second: Channel, *, one_sided: bool = False) -> Concentration:
    """Return whether the law of one channel comes from the other's by moving probability towards the truth, for each
    secret.

    That is so exactly if the probability farther than ``t`` from the truth is no larger, for every ``t >= 0``.
    ``one_sided`` asks it on either side of the truth on its own, so that no probability crosses over.
    """
    for channel in (first, second):
        if not isinstance(channel, Channel):
            raise ParameterError(f"the order of concentration compares Channels, not {type(channel).__name__}.")
    if first.inputs != second.inputs:
        raise ParameterError("the order of concentration compares channels over the same secrets in the same order.")
    x, both = _numbers(first.inputs), _numbers(tuple(dict.fromkeys((*first.outputs, *second.outputs))))
    apart = both[None, :] - x[:, None]
    sides = [np.maximum(apart, 0.0), np.maximum(-apart, 0.0)] if one_sided else [np.abs(apart)]
    rows = [_aligned(channel, both) for channel in (first, second)]
    ahead, behind = np.ones(len(x), dtype=bool), np.ones(len(x), dtype=bool)
    for distance in sides:
        change = _tails(rows[0], distance) - _tails(rows[1], distance)
        ahead &= (change <= ROUNDING).all(axis=1)
        behind &= (change >= -ROUNDING).all(axis=1)
    words = np.where(ahead & behind, "equal", np.where(ahead, "first", np.where(behind, "second", "neither")))
    return Concentration(dict(zip(first.inputs, words.tolist(), strict=True)))


def _tails(rows: Floats, distance: Floats) -> Floats:
    """Return for each secret and output the probability farther from the truth than that output."""
    order = np.argsort(-distance, axis=1, kind="stable")
    ranked = np.take_along_axis(distance, order, axis=1)
    sums = np.cumsum(np.take_along_axis(rows, order, axis=1), axis=1)
    beyond = np.pad(sums[:, :-1], ((0, 0), (1, 0)))
    # Outputs at one distance share the mass beyond the first of them.
    new = np.ones(ranked.shape, dtype=bool)
    new[:, 1:] = ranked[:, 1:] < ranked[:, :-1]
    start = np.maximum.accumulate(np.where(new, np.arange(ranked.shape[1])[None, :], 0), axis=1)
    found = np.empty_like(beyond)
    np.put_along_axis(found, order, np.take_along_axis(beyond, start, axis=1), axis=1)
    return found


def _aligned(channel: Channel, outputs: Floats) -> Floats:
    place = {y: i for i, y in enumerate(outputs.tolist())}
    matrix = np.zeros((len(channel.inputs), len(outputs)))
    matrix[:, [place[y] for y in _numbers(channel.outputs).tolist()]] = channel.matrix
    return matrix


def _numbers(labels: tuple[Hashable, ...]) -> Floats:
    try:
        if any(isinstance(v, (str, bytes, bool, tuple)) for v in labels):
            raise TypeError
        return np.array([float(v) for v in labels])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ParameterError("the order of concentration needs secrets and outputs that are numbers.") from None


def _named_things(mechanisms: Iterable[Thing] | Mapping[str, Thing]) -> dict[str, Thing]:
    if isinstance(mechanisms, (Channel, str)) or not isinstance(mechanisms, Iterable):
        raise ParameterError("give a list of mechanisms or channels, or a mapping from names to them.")
    if isinstance(mechanisms, Mapping):
        named = {str(name): thing for name, thing in mechanisms.items()}
    else:
        named = {}
        for thing in mechanisms:
            name = base = str(getattr(thing, "name", "channel"))
            count = 1
            while name in named:
                name, count = f"{base} ({count + 1})", count + 1
            named[name] = thing
    if not named:
        raise ParameterError("there is nothing to compare; give one mechanism or more.")
    return named


def _channel(name: str, thing: Thing) -> Channel:
    if isinstance(thing, Channel):
        return thing
    if isinstance(thing, type) or not callable(getattr(thing, "channel", None)):
        raise ParameterError(f"mechanisms or channels are compared; {name} is of type {type(thing).__name__}.")
    return thing.channel()


def _named_losses(losses: Any) -> dict[str, Any]:
    if isinstance(losses, Mapping):
        found = {str(name): loss for name, loss in losses.items()}
    else:
        single = isinstance(losses, (str, Loss)) or callable(losses)
        listed = [losses] if single else list(losses) if isinstance(losses, Iterable) else []
        unnamed = [loss for loss in listed if not isinstance(loss, (str, Loss)) and not callable(loss)]
        if unnamed:
            raise ParameterError(
                "a loss that is a matrix needs a name in this table: give a mapping from names to losses."
            )
        found = {}
        for loss in listed:
            name = loss if isinstance(loss, str) else str(loss.made) if isinstance(loss, Loss) else loss.__name__
            found[name] = loss
    if not found:
        raise ParameterError("give one loss or more, such as 'absolute'.")
    return found


def _named_priors(priors: Any, secrets: tuple[Hashable, ...]) -> dict[str, Prior]:
    by_name = isinstance(priors, Mapping) and not all(
        np.isscalar(v) and not isinstance(v, str) for v in priors.values()
    )
    if by_name:
        return {str(name): as_prior(prior, secrets) for name, prior in priors.items()}
    several = isinstance(priors, (list, tuple)) or (isinstance(priors, np.ndarray) and priors.ndim == 2)
    if several and any(p is None or isinstance(p, (str, Prior, Mapping)) or np.ndim(p) == 1 for p in priors):
        found: dict[str, Prior] = {}
        for number, given in enumerate(priors, 1):
            belief = as_prior(given, secrets)
            name = "uniform" if belief.is_uniform and "uniform" not in found else f"prior {number}"
            found[name] = belief
        return found
    prior = as_prior(priors, secrets)
    return {"uniform" if prior.is_uniform else "given": prior}


def _face(prior: Prior, channel: Channel, loss: Any) -> float | None:
    """Return the loss at face value, or nothing where an output is not an action of the loss."""
    try:
        return face_value_loss(prior, channel, loss)
    except NoLossError:
        return None


def _epsilon(found: Audit) -> str:
    from noisewright.claims.figures import upward

    return "infinite" if np.isinf(found.value) else upward(found.value)
