r"""No free lunch: guarantees about inference that no mechanism can keep for every correlation, each with one that
breaks it.

Three impossibility results, as checks. Each returns a :class:`~noisewright.core.verdict.Verdict`; where a guarantee is
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
``p_x >= v_x p_c`` with ``v_x = e^(-epsilon d(x, c))`` for every centre ``c``, and equals ``p_c v`` if there is equality for all
``x``. Let ``m_c`` be the mass at ``c`` of the columns that are multiples of ``v``. The channel with the two columns ``k v`` and
``1 - k v`` is epsilon-private for ``k = 1/(1 + e^(-epsilon d_min(c)))``, ``d_min(c)`` being the distance to the nearest other
secret. If ``m_c < k``, that channel is better than the given one at telling whether the secret is ``c``, for a prior that makes
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
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from noisewright.adversary.inference.correlation import Correlation, dalenius_vulnerability, states_of
from noisewright.adversary.inference.loss_and_accuracy import best_guess
from noisewright.adversary.measures.gallery import Blocks, identity, partition
from noisewright.adversary.measures.vulnerability import as_channel, prior_vulnerability
from noisewright.claims.readings import rate
from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, as_fraction
from noisewright.core.labels import as_labels
from noisewright.core.mechanism import Mechanism
from noisewright.core.metrics.metric import Discrete, Metric, as_metric, named_metric
from noisewright.core.verdict import EXACT, FAILS, UNDECIDED, WITHIN, Verdict
from noisewright.optimality.priors import as_prior

__all__ = [
    "Counterexample",
    "check_promise",
    "check_secrecy_focussed",
    "check_utility_focussed",
    "smallest_promise",
]


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
