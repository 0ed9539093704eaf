"""Witnesses: evidence that one mechanism may replace another, or that it may not.

==========================  ==========================================================================================
:class:`PostProcessing`     the channel ``R`` with ``A R = B``: anyone who has A's output can make B's from it
:class:`GainWitness`        an adversary (gain and prior) who is better off with B than with A
:class:`CorrelationWitness` something else, correlated with the secret, that B reveals more about than A
:class:`PosteriorWitness`   a belief that B leads to and that no mixture of the beliefs after A is
:class:`MetricWitness`      a metric for which A has the smaller epsilon, with the pair of secrets
==========================  ==========================================================================================

All numbers of a failure are re-evaluated in integers before it is reported: ``gap`` is exact, also where ``before`` and
``after`` agree in every digit of a float.

>>> from fractions import Fraction
>>> from noisewright.qif.refinement.exact_channel import read
>>> identity, coin = read([[1, 0], [0, 1]]), read([["1/2", "1/2"], ["1/2", "1/2"]])
>>> found = gain_witness([[Fraction(2), Fraction(0)], [Fraction(0), Fraction(2)]], ["one", "two"], coin, identity)
>>> found.before, found.after, found.gap
(0.5, 1.0, Fraction(1, 2))
>>> found.correlation().joint
((Fraction(1, 2), Fraction(0, 1)), (Fraction(0, 1), Fraction(1, 2)))

Reference: Chatzikokolakis, Fernandes and Palamidessi, *Comparing systems: max-case refinement orders and application to
differential privacy* (2019); Alvim et al., *The science of quantitative information flow* (2020), chapters 9 and 10.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright.channels.channel import Channel
from noisewright.claims.figures import upward
from noisewright.metrics.base import Metric, Table, encode_label, encode_number
from noisewright.numerics.linear_algebra import Rows
from noisewright.qif.gains import Gain
from noisewright.qif.refinement.exact_channel import Read, whole_columns

__all__ = [
    "OWN",
    "CorrelationWitness",
    "GainWitness",
    "MetricWitness",
    "PostProcessing",
    "PosteriorWitness",
    "gain_witness",
    "vulnerability",
]


MOST_SHOWN = 8
"""Tables wider or longer than this are cut in text."""
WIDEST = 70
"""Maximum number of characters of a table that fits on a page; columns beyond are left out."""
ROUNDING = 1e-12
"""Numbers below this are what rounding leaves of zero."""

OWN = "the old one's own metric"
"""The name of a channel's own metric, as a witness."""

LONGEST = 6_000
"""Fractions of more bits than this are not written out."""


@dataclass(frozen=True, eq=False)
class PostProcessing:
    """``channel`` is R with ``A R = B``, up to ``residual`` in the worst entry; ``exact`` has its fractions where it is exact."""

    channel: Channel
    residual: float
    exact: Rows | None = None

    def __str__(self) -> str:
        numbers = self.exact if self.exact is not None else self.channel.matrix.tolist()
        off = "" if self.exact is not None else f" It misses by at most {self.residual:.2g} in any entry."
        head = f"Post-processing that makes the new one from the old one, a row for each output of the old one.{off}"
        return f"{head}\n{_table(numbers, self.channel.inputs, self.channel.outputs)}"

    def to_json(self) -> dict[str, Any]:
        """The post-processing as plain data."""
        return {
            "kind": "post-processing",
            "inputs": [encode_label(x) for x in self.channel.inputs],
            "outputs": [encode_label(y) for y in self.channel.outputs],
            "matrix": self.channel.matrix.tolist(),
            "exact": _fractions_as_text(self.exact),
            "residual": self.residual,
        }


@dataclass(frozen=True, eq=False)
class GainWitness:
    """An adversary to whom the first channel is worth ``before`` and the second ``after``, which is more, by ``gap`` exactly.

    ``gain`` has values in ``[0, 1]``; ``exact`` has the same as fractions, ``exact[w][x]``. The prior is uniform.
    """

    gain: Gain
    prior: tuple[float, ...]
    before: float
    after: float
    gap: Fraction
    exact: Rows

    def confirm(self, a: Read, b: Read) -> Fraction:
        """Return the value of the second channel beyond the first, computed again in integers."""
        return vulnerability(self.exact, b) - vulnerability(self.exact, a)

    def correlation(self) -> CorrelationWitness:
        """Return a correlated secret that the second channel reveals more about: ``Pi[w, x]`` in proportion to the
        gain.
        """
        total = sum((v for row in self.exact for v in row), Fraction(0))
        share = len(self.gain.secrets) / total
        joint = tuple(tuple(v / total for v in row) for row in self.exact)
        before, after = float(share * Fraction(self.before)), float(share * Fraction(self.after))
        return CorrelationWitness(joint, self.gain.actions, self.gain.secrets, before, after, share * self.gap)

    def __str__(self) -> str:
        return (
            f"An adversary with a uniform prior over {len(self.gain.secrets)} secrets and this gain gets "
            f"{_pair(self.before, self.after, self.gap)}:\n"
            f"{_table(self.exact, self.gain.actions, self.gain.secrets)}"
        )

    def to_json(self) -> dict[str, Any]:
        """The adversary as plain data."""
        return {
            "kind": "gain",
            "actions": [encode_label(w) for w in self.gain.actions],
            "secrets": [encode_label(x) for x in self.gain.secrets],
            "gain": _fractions_as_text(self.exact),
            "prior": list(self.prior),
            **_more(self.before, self.after, self.gap),
        }


@dataclass(frozen=True, eq=False)
class CorrelationWitness:
    """A secret ``z`` with joint distribution ``joint[z][x]``: guessing z succeeds more often after the second channel."""

    joint: Rows
    correlated: tuple[Hashable, ...]
    secrets: tuple[Hashable, ...]
    before: float
    after: float
    gap: Fraction

    def __str__(self) -> str:
        return (
            "Something that is distributed jointly with the secret as below is guessed in one try with probability "
            f"{_pair(self.before, self.after, self.gap)}:\n{_table(self.joint, self.correlated, self.secrets)}"
        )

    def to_json(self) -> dict[str, Any]:
        """The correlation as plain data."""
        return {
            "kind": "correlation",
            "correlated": [encode_label(z) for z in self.correlated],
            "secrets": [encode_label(x) for x in self.secrets],
            "joint": _fractions_as_text(self.joint),
            **_more(self.before, self.after, self.gap),
        }


@dataclass(frozen=True, eq=False)
class PosteriorWitness:
    """A posterior of the second channel, from a uniform prior, outside the hull of the first channel's posteriors.

    ``distance`` is its Euclidean distance from that hull and ``nearest`` the point there. ``direction`` (values in
    ``[-1, 1]``) separates it: its mean under ``posterior`` is larger than under any posterior of the first, by ``gap`` exactly.
    """

    posterior: Floats
    output: Hashable
    distance: float
    nearest: Floats
    direction: tuple[Fraction, ...]
    gap: Fraction
    secrets: tuple[Hashable, ...]

    def __str__(self) -> str:
        rows = [self.posterior.tolist(), self.nearest.tolist(), self.direction]
        return (
            f"After output {self.output!r} of the new one, the belief below is {self.distance:.6g} away from every mixture "
            f"of beliefs after outputs of the old one; along the direction below it is beyond them by {float(self.gap):.6g}:\n"
            f"{_table(rows, ('belief', 'nearest', 'direction'), self.secrets)}"
        )

    def to_json(self) -> dict[str, Any]:
        """The posterior as plain data."""
        return {
            "kind": "posterior",
            "secrets": [encode_label(x) for x in self.secrets],
            "output": encode_label(self.output),
            "posterior": self.posterior.tolist(),
            "nearest": self.nearest.tolist(),
            "direction": [str(v) for v in self.direction],
            "distance": self.distance,
            "gap": float(self.gap),
        }


@dataclass(frozen=True, eq=False)
class MetricWitness:
    """A metric for which the first needs epsilon ``before`` and the second ``after``, because of ``pair`` at ``output``."""

    metric: Metric
    pair: tuple[Hashable, Hashable]
    output: Hashable
    before: float
    after: float

    def __str__(self) -> str:
        name = str(self.metric) if str(self.metric) == OWN else f"the {self.metric} metric"
        return (
            f"For {name} the old one needs epsilon {upward(self.before)} and the new one {upward(self.after)}, because of "
            f"secrets {self.pair[0]!r} and {self.pair[1]!r} at output {self.output!r}."
        )

    def to_json(self) -> dict[str, Any]:
        """The metric as plain data."""
        table = self.metric if isinstance(self.metric, Table) else None
        return {
            "kind": "metric",
            "metric": str(self.metric),
            "points": None if table is None else [encode_label(x) for x in table.points],
            "distances": None
            if table is None
            else [[encode_number(v) for v in row] for row in table.distances.tolist()],
            "pair": [encode_label(x) for x in self.pair],
            "output": encode_label(self.output),
            "before": encode_number(self.before),
            "after": encode_number(self.after),
        }


def vulnerability(gain: Sequence[Sequence[Fraction]], given: Read) -> Fraction:
    """``V_g`` at the uniform prior, exactly: ``sum_y max_w sum_x C[x, y] g[w, x] / n``."""
    worth, scale = whole_columns(gain)
    whole, total = given.whole
    return Fraction(int(np.dot(worth, whole).max(axis=0).sum()), scale * total * len(given.inputs))


def gain_witness(gain: Sequence[Sequence[Fraction]], actions: Sequence[Hashable], a: Read, b: Read) -> GainWitness:
    """Return the adversary with this gain, shifted for each secret and scaled to ``[0, 1]``, and the values of the
    channels to it.

    ``gain`` must distinguish its actions somewhere; ``gap`` shows whether it is a witness at all (it must be above
    zero).
    """
    lowest = [min(row[x] for row in gain) for x in range(len(a.inputs))]
    shifted = [[v - low for v, low in zip(row, lowest, strict=True)] for row in gain]
    largest = max(v for row in shifted for v in row)
    exact = tuple(tuple(v / largest for v in row) for row in shifted)
    before, after = vulnerability(exact, a), vulnerability(exact, b)
    size = len(a.inputs)
    matrix = Gain([[float(v) for v in row] for row in exact], tuple(actions), a.inputs, name="witness")
    return GainWitness(matrix, (1 / size,) * size, float(before), float(after), after - before, exact)


def _in_words(value: Fraction | float) -> str:
    """A number for a table: a short fraction as such, anything else in four digits."""
    if isinstance(value, Fraction) and value.denominator < 1000:
        return str(value)
    number = float(value)
    return f"{number:.4g}" if abs(number) >= ROUNDING else "0"


def _more(before: float, after: float, gap: Fraction) -> dict[str, float]:
    """Return the gain with the old one, with the new one, and their difference, as plain data."""
    return {"before": before, "after": after, "gap": float(gap)}


def _pair(before: float, after: float, gap: Fraction) -> str:
    more = f" ({float(gap):.3g} more)" if math.isclose(before, after, rel_tol=1e-5) else ""
    return f"{before:.6g} with the old one and {after:.6g} with the new one{more}"


def _table(numbers: Sequence[Sequence[Fraction | float]], down: Sequence[Hashable], along: Sequence[Hashable]) -> str:
    """Numbers with the names of rows and columns, aligned; cut where there are many."""
    cut_rows, cut_columns = len(down) > MOST_SHOWN, len(along) > MOST_SHOWN
    lines = [["", *(_name(y) for y in along[:MOST_SHOWN]), *(["..."] if cut_columns else [])]]
    for name, row in zip(down[:MOST_SHOWN], numbers, strict=False):
        lines.append([_name(name), *(_in_words(v) for v in row[:MOST_SHOWN]), *(["..."] if cut_columns else [])])
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    if sum(widths) + 2 * len(widths) > WIDEST:
        fits = sum(total <= WIDEST - 5 for total in accumulate(width + 2 for width in widths))
        lines = [[*line[:fits], "..."] for line in lines]
        widths = [*widths[:fits], 3]
    text = ["  " + "  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([*text, f"  ... and {len(down) - MOST_SHOWN} more rows"] if cut_rows else text)


def _name(label: Hashable) -> str:
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(label))
    return text if len(text) <= 16 else text[:13] + "..."


def _fractions_as_text(rows: Rows | None) -> list[list[str]] | None:
    if rows is None or any(v.denominator.bit_length() > LONGEST for row in rows for v in row):
        return None
    return [[str(v) for v in row] for row in rows]
