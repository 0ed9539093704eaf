r"""Placement of the noise: on the useful property, or on the secret.

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

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from noisewright.adversary.inference.correlation import Correlation, as_correlation
from noisewright.adversary.inference.loss_and_accuracy import Inference, guess_through
from noisewright.adversary.measures.vulnerability import as_channel
from noisewright.core.arrays import Floats
from noisewright.core.channels.channel import Channel
from noisewright.core.choices import as_slack, one_of
from noisewright.core.errors import ParameterError
from noisewright.core.labels import as_labels
from noisewright.core.mechanism import Mechanism
from noisewright.core.verdict import EXACT, FAILS, WITHIN, Verdict

__all__ = [
    "Placement",
    "SensitivePair",
    "focus",
    "insensitive",
    "placements",
    "secrecy_focussed",
    "utility_focussed",
]


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
