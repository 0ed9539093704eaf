"""Privacy loss and accuracy: one release, one property that should stay private, one that should come out.

Raw states have a prior ``pi``; a private property ``S`` and a useful property ``U`` put them into blocks. For a release ``M``:

- *privacy loss* ``V_S[pi > M] / V_S(pi)``: how many times as likely the private block is guessed with the release as
  without it; 1 means that the release reveals nothing about it;
- *accuracy* ``V_U[pi > M]``: how likely the useful block is guessed from the release; 1 means always.

Both are about the best guesser there can be, who knows the prior and the release. A release with a small epsilon can have a
large
privacy loss, where the property goes with many records; see :mod:`noisewright.attacks.inferential_privacy`.

>>> import noisewright as nw
>>> tally = nw.geometric(epsilon="1.0986122886681098", within=(0, 2)).channel()  # ln 3
>>> answers = [(0, 0), (1, 0), (0, 1), (1, 1)]
>>> found = inference(tally.after(sum, answers), secret=lambda who: who[0], useful=sum)
>>> print(found)
private: guessed with probability 0.5 before the release, 0.666667 after it (1.33333 times as often)
useful: guessed with probability 0.5 before the release, 0.625 after it

Three impossibility results, as checks. Each returns a :class:`~noisewright.guarantees.Verdict`; where a guarantee is
broken the evidence is a :class:`Counterexample`: a concrete joint distribution of the private and the useful property,
re-evaluated.

1. :func:`check_promise`. *Whatever is useful can be guessed with probability 1 - t, and no secret's chance grows by more than
   t.* If the useful and the private property are the same, ``2 t >= 1 - V(prior)`` is needed: with two equally likely
   states t is at least 1/4.
2. :func:`check_utility_focussed`. *Noise on the useful property leaks least, whatever the secret is.* Only if the release is
   constant: otherwise some two inputs have different laws, and a secret that is a copy of which of them it is leaks.
3. :func:`check_secrecy_focussed`. *No other noise of this epsilon on the secret serves better, whatever is useful.* Never
   for three secrets or more. Post-processing such a release does not help: it is again a release of this epsilon.

**Why 3 holds**, for every metric with positive finite distances. A column of an epsilon-private channel has
``p_x >= v_x p_c`` with ``v_x = e^(-epsilon d(x, c))`` for every centre ``c``, and equals ``p_c v`` if there is equality for
all
``x``. Let ``m_c`` be the mass at ``c`` of the columns that are multiples of ``v``. The channel with the two columns ``k v``
and
``1 - k v`` is epsilon-private for ``k = 1/(1 + e^(-epsilon d_min(c)))``, ``d_min(c)`` being the distance to the nearest other
secret. If ``m_c < k``, that channel is better than the given one at telling whether the secret is ``c``, for a prior that
makes
every other column a bare "no". And ``m_c >= k`` cannot hold for all ``c``: at one end of the closest pair the row would sum to
``k + (1 - k)`` and something for each further secret, which is more than 1. With two secrets it does hold for randomised
response, which is therefore best for every use.

>>> import noisewright as nw
>>> broken = check_secrecy_focussed(nw.geometric(epsilon=1, within=(0, 2)), metric="line")
>>> print(broken.evidence)
with this joint distribution of useful (rows) and private (columns):
  not 1: 0.196612 0        0.196612
  1:     0        0.606776 0
accuracy is 0.606776 with the given mechanism and 0.731059 with one of the same epsilon

A release about people with a private property ``s`` and a useful property ``u`` is a channel on pairs ``(s, u)``. Two ways to
place the noise:

- *utility-focussed*: the noise is on ``u``, and ``s`` is not looked at (the release is insensitive to ``s``). The useful
  property comes out as well as epsilon allows; its information about ``s`` depends on how the two go together.
- *secrecy-focussed*: the noise is on ``s``, and ``u`` is not looked at. What is known about ``s`` is bounded by epsilon; the
  useful property is guessed from ``s`` alone. Noise on each record that is counted later is of this kind, post-processed.

:func:`focus` says which of them a channel is, :func:`placements` compares the two on one correlation.

>>> import noisewright as nw
>>> together = Correlation([[0.45, 0.05], [0.10, 0.40]], ["healthy", "ill"], ["no drug", "drug"])
>>> on_useful = nw.randomised_response(together.inputs, epsilon=1)
>>> on_secret = nw.randomised_response(together.secrets, epsilon=1)
>>> for placed in placements(together, on_useful, on_secret):
...     print(f"{placed.focus}: privacy loss {placed.privacy_loss:.4f}, accuracy {placed.accuracy:.4f}")
utility: privacy loss 1.3235, accuracy 0.7311
secrecy: privacy loss 1.4621, accuracy 0.6617
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from noisewright._typing import Floats
from noisewright._utils.validation import as_slack, one_of
from noisewright.attacks.correlation import Correlation, as_correlation, dalenius_vulnerability, states_of
from noisewright.base import Mechanism
from noisewright.channels.channel import Channel
from noisewright.channels.hyper import as_prior
from noisewright.claims.readings import rate
from noisewright.exceptions import ParameterError
from noisewright.guarantees import EXACT, FAILS, UNDECIDED, WITHIN, Verdict
from noisewright.metrics.base import Discrete, Metric, as_labels, as_metric, named_metric
from noisewright.numerics.exact import Exact, as_fraction
from noisewright.qif.gains import Blocks, Gain, identity, partition
from noisewright.qif.vulnerability import as_channel, prior_vulnerability

__all__ = [
    "Counterexample",
    "Guess",
    "Inference",
    "Placement",
    "SensitivePair",
    "accuracy",
    "best_guess",
    "check_promise",
    "check_secrecy_focussed",
    "check_utility_focussed",
    "focus",
    "guess",
    "guess_through",
    "inference",
    "insensitive",
    "placements",
    "privacy_loss",
    "secrecy_focussed",
    "smallest_promise",
    "utility_focussed",
]


ROUNDING = 1e-12
"""Chances that differ by less than this differ by rounding only; a release with such a difference does not leak."""


@dataclass(frozen=True)
class Guess:
    """Probabilities of guessing a property in one try: ``before`` the release, and ``after`` it, and the best
    guesses.
    """

    before: float
    after: float
    first: Hashable
    by_output: Mapping[Hashable, Hashable]

    @property
    def ratio(self) -> float:
        """Ratio of the probabilities of the right guess after and before the release; at least 1."""
        return self.after / self.before

    @property
    def leaks(self) -> bool:
        """Return whether the release helps at all to guess this property."""
        return self.after - self.before > ROUNDING


@dataclass(frozen=True)
class Inference:
    """Information that a release gives about a private and about a useful property."""

    secret: Guess
    useful: Guess

    @property
    def privacy_loss(self) -> float:
        """Ratio of the probabilities of guessing the private property, with and without the release; 1 means no
        inference.
        """
        return self.secret.ratio

    @property
    def accuracy(self) -> float:
        """Probability of guessing the useful property from the release."""
        return self.useful.after

    def to_json(self) -> dict[str, Any]:
        """The numbers as plain data."""
        return {
            "privacy_loss": self.privacy_loss,
            "accuracy": self.accuracy,
            "secret": {"before": self.secret.before, "after": self.secret.after},
            "useful": {"before": self.useful.before, "after": self.useful.after},
        }

    def __str__(self) -> str:
        told = f"{self.privacy_loss:.6g} times as often" if self.secret.leaks else "the release tells nothing about it"
        return (
            f"private: guessed with probability {self.secret.before:.6g} before the release, {self.secret.after:.6g} after it "
            f"({told})\nuseful: guessed with probability {self.useful.before:.6g} before the release, "
            f"{self.useful.after:.6g} after it"
        )


def inference(channel: Channel | Mechanism, secret: Blocks, useful: Blocks, prior: object = None) -> Inference:
    """Measure the information of a release of raw states about a private and a useful property, at this prior (uniform
    if none).
    """
    return Inference(guess(channel, secret, prior), guess(channel, useful, prior))


def privacy_loss(channel: Channel | Mechanism, secret: Blocks, prior: object = None) -> float:
    """``V_S[pi > M] / V_S(pi)``, 1 or more: how many times as likely the block of the state is guessed with the release.

    >>> from noisewright.channels.channel import Channel
    >>> privacy_loss(Channel.identity(range(4)), [{0, 1}, {2, 3}])
    2.0
    """
    return guess(channel, secret, prior).ratio


def accuracy(channel: Channel | Mechanism, useful: Blocks, prior: object = None) -> float:
    """``V_U[pi > M]``: how likely the block of the state is guessed from the release.

    >>> from noisewright.channels.channel import Channel
    >>> accuracy(Channel.constant(range(4)), [{0}, {1, 2, 3}])
    0.75
    """
    return guess(channel, useful, prior).after


def guess(channel: Channel | Mechanism, blocks: Blocks, prior: object = None) -> Guess:
    """The best guesses of the block of the state. Sums over blocks, then the largest for each output: ``O(n m)``."""
    seen = as_channel(channel)
    belief = as_prior(prior, seen.inputs).probabilities
    gain = partition(seen.inputs, blocks)
    return best_guess(gain.expected(belief[:, None] * seen.matrix), gain, seen.outputs)


def guess_through(correlation: Correlation, channel: Channel | Mechanism) -> Guess:
    """The best guesses of the secret of a correlation from a release about its inputs (the Dalenius form)."""
    after = correlation.after(channel)
    return best_guess(after.joint, identity(correlation.secrets), after.inputs)


def best_guess(joint: Floats, gain: Gain, outputs: tuple[Hashable, ...]) -> Guess:
    """The best guesses from the joint distribution of blocks and outputs, one row for each action of ``gain``."""
    first = joint.sum(axis=1)
    best = joint.argmax(axis=0)
    largest = joint[best, np.arange(len(best))]
    before = float(first.max())
    by_output = {y: gain.actions[w] for y, w, p in zip(outputs, best.tolist(), largest, strict=True) if p > 0}
    # Both sums round; knowledge after the release is never less than knowledge before it.
    return Guess(before, max(before, float(largest.sum())), gain.actions[int(first.argmax())], by_output)


# No free lunch ------------------------------------------------------------------------------------------------------------
#
# No free lunch: guarantees about inference that no mechanism can keep for every correlation, each with one that
# breaks it.


RESOLUTION = 1e-12
"""Chances are sums of floats; a difference below this is not taken for one."""
SAME_RAY = 1e-9
"""Columns whose normalised entries differ by less than this count as proportional. Taking more columns for proportional makes
the violating distribution weaker, never wrong: it is evaluated afterwards."""

LARGEST_MARGIN = 1e6
"""A prior is no more lopsided than this."""
MOST_COMPARED = 1_000_000_000
"""Maximum number of pairs of entries for which rows are compared two by two."""
FEW = 24
"""Number of centres that are examined before all others."""
MOST_SHOWN = 10
"""Maximum number of rows or columns of a joint distribution that is written out in text."""


@dataclass(frozen=True)
class Counterexample:
    """A joint distribution that breaks a guarantee, and the two numbers that show it.

    ``promised`` is the requirement of the guarantee (or the value of a better mechanism), and ``found`` is the value of
    the given mechanism. ``instead`` is the channel that does better, where the guarantee is about being best.
    """

    correlation: Correlation
    measure: str
    found: float
    promised: float
    instead: Channel | None = None

    def __str__(self) -> str:
        rows = [f"{row}:" for row in self.correlation.secrets]
        width = max(map(len, rows))
        cells = [" ".join(f"{p:<8.6g}" for p in line).rstrip() for line in self.correlation.joint]
        shown = "\n".join(f"  {row:<{width}} {line}" for row, line in zip(rows, cells, strict=True))
        found, other = f"{self.found:.6g}", f"{self.promised:.6g}"
        if self.instead is None:
            end = f"{self.measure} is {found}, where the promise is {other}"
        else:
            end = f"{self.measure} is {found} with the given mechanism and {other} with one of the same epsilon"
        what = (
            "private (rows) and useful (columns)"
            if self.measure == "inference"
            else "useful (rows) and private (columns)"
        )
        if max(self.correlation.joint.shape) > MOST_SHOWN:
            shown = f"  ({len(rows)} by {len(self.correlation.inputs)}; see .correlation)"
        return f"with this joint distribution of {what}:\n{shown}\n{end}"


def smallest_promise(prior: object, blocks: Blocks | None = None, states: Iterable[Hashable] | None = None) -> float:
    """The smallest ``t`` that any mechanism can guarantee when the useful property is the private one:
    ``(1 - V(prior)) / 2``.

    *Accuracy at least 1 - t, and inference at most t above the prior* cannot hold below it.

    >>> smallest_promise([0.5, 0.5])
    0.25
    """
    names = states_of(prior) if states is None else as_labels(states, "states")
    gain = identity(names) if blocks is None else partition(names, blocks)
    return (1 - prior_vulnerability(prior, gain, names)) / 2


def check_promise(
    channel: Channel | Mechanism, t: Exact, blocks: Blocks | None = None, prior: object = None
) -> Verdict:
    """Return whether a mechanism keeps both halves of the guarantee for a property that is useful and private at once.

    *It is guessed from the release with probability at least 1 - t, and at most t more often than before.* The property is
    which block the state is in, or which state it is.

    >>> import noisewright as nw
    >>> print(check_promise(nw.randomised_response(["no", "yes"], epsilon=1), 0.2))
    fails (witness): accuracy is 0.731059, and 0.8 was promised
    """
    seen = as_channel(channel)
    short = float(as_fraction(t, "t"))
    if not 0 <= short <= 1:
        raise ParameterError(
            "t must be a number from 0 to 1: by how much the two halves of the promise may fall short."
        )
    belief = as_prior(prior, seen.inputs).probabilities
    gain = identity(seen.inputs) if blocks is None else partition(seen.inputs, blocks)
    found = best_guess(gain.expected(belief[:, None] * seen.matrix), gain, seen.outputs)
    if found.after < 1 - short - RESOLUTION:
        broken = ("accuracy", 1 - short)
    elif found.after > found.before + short + RESOLUTION:
        broken = ("inference", found.before + short)
    else:
        within = min(abs(found.after - (1 - short)), abs(found.after - found.before - short)) <= RESOLUTION
        reason = f"guessed with probability {found.before:.6g} before and {found.after:.6g} after the release"
        return Verdict(WITHIN if within else EXACT, reason, found)
    mass = gain.expected(belief[:, None])[:, 0]
    same = Correlation(np.diag(mass), gain.actions, gain.actions)
    violation = Counterexample(same, broken[0], found.after, broken[1])
    return Verdict(FAILS, f"{broken[0]} is {found.after:.6g}, and {broken[1]:.6g} was promised", violation)


def check_utility_focussed(channel: Channel | Mechanism) -> Verdict:
    """Return whether no release leaks less than this one, whatever secret goes with its input: true of constant ones
    only.

    The evidence otherwise is the secret that states which of two inputs it is. The two inputs are the most
    distinguishable ones, or in a very large channel two that are easily distinguished. The constant release leaves it
    at 1/2.

    >>> import noisewright as nw
    >>> broken = check_utility_focussed(nw.randomised_response([0, 1], epsilon=0.6931471805599453)).evidence
    >>> broken.correlation.joint.tolist(), round(broken.found, 6), broken.promised
    ([[0.5, 0.0], [0.0, 0.5]], 0.666667, 0.5)
    """
    seen = as_channel(channel)
    matrix = seen.matrix
    if (matrix == matrix[0]).all():
        return Verdict(EXACT, "the release does not depend on its input, and tells nothing about anything")
    low, high = _farthest(matrix)
    joint = np.zeros((2, len(seen.inputs)))
    joint[0, low] = joint[1, high] = 0.5
    names = (seen.inputs[low], seen.inputs[high])
    pair = Correlation(joint[:, [low, high]], names, names)
    found = dalenius_vulnerability(pair, seen)
    if found <= 0.5 + RESOLUTION:
        return Verdict(UNDECIDED, "the laws of the output differ by no more than rounding")
    reason = (
        f"a secret that tells {names[0]!r} from {names[1]!r} is guessed with probability {found:.6g} instead of 1/2"
    )
    return Verdict(FAILS, reason, Counterexample(pair, "inference", found, 0.5))


def _farthest(matrix: Floats) -> tuple[int, int]:
    """The two rows that are farthest apart in total variation; in a large matrix two that are far apart."""
    if len(matrix) * matrix.size <= MOST_COMPARED:
        distances = cdist(matrix, matrix, "cityblock")
        first, second = (int(i) for i in np.unravel_index(int(distances.argmax()), distances.shape))
    else:  # the farthest from the first row, and the farthest from that
        first = int(np.abs(matrix - matrix[0]).sum(axis=1).argmax())
        second = int(np.abs(matrix - matrix[first]).sum(axis=1).argmax())
    return min(first, second), max(first, second)


def check_secrecy_focussed(channel: Channel | Mechanism, metric: Metric | str | None = None) -> Verdict:
    """Return whether no noise of the same epsilon on the secret is more accurate, whatever useful property goes with
    it.

    The epsilon is the smallest that the channel has for the metric (discrete unless given). For three secrets or more the
    answer is no; the evidence has the correlation, and the mechanism that is better there as ``instead``.

    >>> import noisewright as nw
    >>> bool(check_secrecy_focussed(nw.randomised_response("ab", epsilon=1)))
    True
    >>> bool(check_secrecy_focussed(nw.randomised_response("abc", epsilon=1)))
    False
    """
    seen = as_channel(channel)
    measure = named_metric(metric) if isinstance(metric, str) else as_metric(metric, Discrete())
    distances = measure.matrix(seen.inputs)
    size = len(seen.inputs)
    apart = distances[~np.eye(size, dtype=bool)]
    if size > 1 and not (np.isfinite(apart).all() and (apart > 0).all()):
        raise ParameterError("this check needs distances between secrets that are finite and greater than 0.")
    epsilon = 0.0 if size == 1 else seen.epsilon(measure).value
    if math.isinf(epsilon):
        raise ParameterError(
            "the channel has no finite epsilon for this metric, so no promise of it is to be compared."
        )
    if (seen.matrix == seen.matrix[0]).all():
        return Verdict(EXACT, "with epsilon 0 every mechanism tells nothing")
    best = _best_violation(seen, -epsilon * distances)
    gap = best.promised - best.found
    if gap > RESOLUTION:
        reason = (
            f"another mechanism with {rate(epsilon, measure)} tells {best.correlation.secrets[1]!r} "
            f"from the rest with accuracy {best.promised:.6g}, this one with {best.found:.6g}"
        )
        return Verdict(FAILS, reason, best)
    if size == 2:
        return Verdict(
            WITHIN, "it is randomised response on two secrets, which every mechanism of this epsilon refines"
        )
    return Verdict(UNDECIDED, "the mechanisms that are better by the theorem are so by less than rounding", best)


def _best_violation(seen: Channel, log_peaks: Floats) -> Counterexample:
    """The widest gap among a few centres that guarantee most; among all of them if those have none."""
    size = len(log_peaks)
    # A column that is a multiple of the peak at c is largest at c, so this is at least the mass of such columns.
    at_most = np.bincount(seen.matrix.argmax(axis=0), seen.matrix.max(axis=0), minlength=size)
    nearest = np.exp(np.where(np.eye(size, dtype=bool), -np.inf, log_peaks).max(axis=1))
    order = np.argsort(at_most - 1 / (1 + nearest), kind="stable").tolist()

    def widest(centres: list[int]) -> Counterexample:
        return max((_better_at(seen, c, log_peaks[c]) for c in centres), key=lambda one: one.promised - one.found)

    best = widest(order[:FEW])
    return best if best.promised - best.found > RESOLUTION or size <= FEW else widest(order)


def _better_at(seen: Channel, centre: int, log_peak: Floats) -> Counterexample:
    """The mechanism ``(k v, 1 - k v)`` at one centre, and a correlation at which it is better if the peak's mass is below k.

    The useful property is whether the secret is the centre. A column that is not a multiple of the peak must not be a
    reason to say yes. The prior is the one at which the most likely such column gives "yes" and "no" equally.
    """
    peak = np.exp(log_peak)
    others = np.arange(len(peak)) != centre
    k = 1 / (1 + float(peak[others].max()))
    # In logarithms, since a probability that a float takes for 0 would be an infinite loss.
    better = Channel.from_logs(
        np.column_stack((math.log(k) + log_peak, np.log1p(-k * peak))),
        seen.inputs,
        [seen.inputs[centre], ("not", seen.inputs[centre])],
    )
    columns = seen.matrix[:, seen.matrix[centre] > 0]
    with np.errstate(over="ignore"):  # a column with next to nothing at the centre is as far away as can be
        excess = columns[others] / columns[centre] - peak[others, None]
    away = excess.sum(axis=0)[excess.max(axis=0) > SAME_RAY]
    margin = float(np.clip(away.min(), 0.0, LARGEST_MARGIN)) if len(away) else 0.0
    weights = np.ones(len(peak))
    weights[centre] = peak[others].sum() + margin
    joint = np.vstack((np.where(others, weights, 0.0), np.where(others, 0.0, weights))) / weights.sum()
    names: tuple[Hashable, ...] = (f"not {seen.inputs[centre]}", seen.inputs[centre])
    useful = Correlation(joint, names, seen.inputs)
    return Counterexample(
        useful, "accuracy", dalenius_vulnerability(useful, seen), dalenius_vulnerability(useful, better), better
    )


# Insensitive --------------------------------------------------------------------------------------------------------------
#
# Placement of the noise: on the useful property, or on the secret.


SECRET, USEFUL = 0, 1
PARTS = {"secret": SECRET, "useful": USEFUL}


@dataclass(frozen=True)
class SensitivePair:
    """Two inputs that differ in one component only, and an output whose probability differs between them."""

    first: tuple[Hashable, Hashable]
    second: tuple[Hashable, Hashable]
    output: Hashable
    probabilities: tuple[float, float]


@dataclass(frozen=True)
class Placement:
    """A way to place the noise, and its result at one correlation."""

    focus: str
    inference: Inference

    @property
    def privacy_loss(self) -> float:
        """Ratio of the probabilities of guessing the private property, with and without the release."""
        return self.inference.privacy_loss

    @property
    def accuracy(self) -> float:
        """Probability of guessing the useful property from the release."""
        return self.inference.accuracy


def utility_focussed(mechanism: Channel | Mechanism, secrets: Iterable[Hashable]) -> Channel:
    """The channel on pairs ``(s, u)`` that runs ``mechanism`` on ``u`` and does not look at ``s``."""
    seen = as_channel(mechanism)
    pairs = [(s, u) for s in as_labels(secrets, "secrets") for u in seen.inputs]
    return seen.after(lambda pair: pair[USEFUL], pairs)


def secrecy_focussed(mechanism: Channel | Mechanism, useful: Iterable[Hashable]) -> Channel:
    """The channel on pairs ``(s, u)`` that runs ``mechanism`` on ``s`` and does not look at ``u``."""
    seen = as_channel(mechanism)
    names = as_labels(useful, "useful")
    return seen.after(lambda pair: pair[SECRET], [(s, u) for s in seen.inputs for u in names])


def insensitive(channel: Channel | Mechanism, to: str, tol: float = 0.0) -> Verdict:
    """Return whether a channel on pairs ``(s, u)`` gives the same law whatever the ``to`` component is: ``"secret"`` or
    ``"useful"``.

    Entries count as the floats they are; ``tol`` allows a difference. If it fails the evidence is a :class:`SensitivePair`.

    >>> import noisewright as nw
    >>> both = utility_focussed(nw.randomised_response([0, 1], epsilon=1), "ab")
    >>> bool(insensitive(both, "secret")), insensitive(both, "useful").evidence.second
    (True, ('a', 1))
    """
    as_slack(tol, "tol is how far two probabilities may be apart: a number from 0 to below 1.")
    seen = as_channel(channel)
    changing = PARTS[one_of(to, "to", tuple(PARTS))]
    kept = _components(seen)[1 - changing]
    groups = {label: i for i, label in enumerate(dict.fromkeys(kept))}
    group = np.array([groups[label] for label in kept], dtype=np.intp)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(groups)))
    rows = seen.matrix[order]
    spread = np.maximum.reduceat(rows, starts, axis=0) - np.minimum.reduceat(rows, starts, axis=0)
    worst = float(spread.max())
    logs = seen.logs[order]  # these also distinguish probabilities that a float takes for 0
    same = np.maximum.reduceat(logs, starts, axis=0) == np.minimum.reduceat(logs, starts, axis=0)
    if same.all():
        return Verdict(EXACT, f"the law of the output does not depend on the {to} component", worst)
    if worst <= tol:
        return Verdict(WITHIN, f"the {to} component changes a probability by {worst:.3g} at most", worst)
    which, column = np.unravel_index(int(spread.argmax()), spread.shape)
    members = np.flatnonzero(group == which)
    values = seen.matrix[members, column]
    here, there = sorted((int(members[values.argmax()]), int(members[values.argmin()])))
    pair = SensitivePair(
        seen.inputs[here],  # type: ignore[arg-type]
        seen.inputs[there],  # type: ignore[arg-type]
        seen.outputs[int(column)],
        (float(seen.matrix[here, column]), float(seen.matrix[there, column])),
    )
    reason = (
        f"output {pair.output!r} has probability {pair.probabilities[0]:.6g} for {pair.first!r} and "
        f"{pair.probabilities[1]:.6g} for {pair.second!r}"
    )
    return Verdict(FAILS, reason, pair)


def focus(channel: Channel | Mechanism, tol: float = 0.0) -> str:
    """Return the properties that a channel on pairs depends on: ``"utility"``, ``"secrecy"``, ``"both"`` or
    ``"nothing"``.
    """
    no_secret, no_useful = (bool(insensitive(channel, part, tol)) for part in PARTS)
    if no_secret:
        return "nothing" if no_useful else "utility"
    return "secrecy" if no_useful else "both"


def placements(
    correlation: Correlation, on_useful: Channel | Mechanism, on_secret: Channel | Mechanism
) -> tuple[Placement, Placement]:
    """Noise on the useful property against noise on the secret one, for secrets that go with it as the correlation says.

    The information that a release about one property gives about the other is the Dalenius vulnerability through the
    correlation.
    """
    on_u, on_s = as_channel(on_useful), as_channel(on_secret)
    known = as_correlation(correlation, on_u)
    turned = known.turned()
    unchanged, mirrored = _itself(known.input_prior, known.inputs), _itself(known.prior, known.secrets)
    utility = Inference(guess_through(known, on_u), guess_through(unchanged, on_u))
    secrecy = Inference(guess_through(mirrored, on_s), guess_through(turned, on_s))
    return Placement("utility", utility), Placement("secrecy", secrecy)


def _itself(prior: Floats, names: tuple[Hashable, ...]) -> Correlation:
    """The correlation of a property with itself."""
    return Correlation(np.diag(prior), names, names)


def _components(channel: Channel) -> tuple[list[Hashable], list[Hashable]]:
    if not all(isinstance(x, tuple) and len(x) == 2 for x in channel.inputs):
        raise ParameterError(
            "the inputs of such a channel are pairs (secret, useful); build one with utility_focussed or secrecy_focussed."
        )
    secrets, useful = zip(*channel.inputs, strict=True)
    return list(secrets), list(useful)
