"""May one mechanism replace another? Every order, both ways, each with its witness.

============  ===================================================================================================
average       against every gain and prior, on the average over outputs: B is a post-processing of A
max           against every quasi-convex measure of the worst output: B's posteriors are mixtures of A's
privacy       for every metric: B has each guarantee that A has
metric        for the one metric that is given: the smallest epsilon of B is at most A's
============  ===================================================================================================

Each implies the next, and a failure of one is a failure of all before it; no comparison says otherwise, although within
a tolerance each order alone might: a rare output hardly changes an average. ``forward`` is "B may replace A" and
``backward`` "A may replace B"; where both hold, no adversary of that kind can distinguish which of them leaks more.

>>> geometric = [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]
>>> response = [["3/5", "1/5", "1/5"], ["1/5", "3/5", "1/5"], ["1/5", "1/5", "3/5"]]
>>> found = compare(geometric, response, metric="line")
>>> for row in found.table():
...     print(*row, sep=" | ")
average | fails (witness) | fails (witness)
max | fails (witness) | fails (witness)
privacy | fails (witness) | fails (witness)
line metric | fails (witness) | holds (exact)
>>> bool(found.average.forward), found.average.forward.witness.gap
(False, Fraction(1, 30))

Reference: Fernandes, *Differential privacy for metric spaces: information-theoretic models for privacy and utility with new
applications to metric domains* (2021); Chatzikokolakis, Fernandes and Palamidessi (2019).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from noisewright.certificates.certificate import Certificate
from noisewright.exceptions import ChannelError, NoChannelError, ParameterError
from noisewright.guarantees import EXACT, FAILS, SAID, UNDECIDED, WITHIN, card
from noisewright.mechanisms.from_certificate import source_of
from noisewright.metrics.base import Metric, as_metric, encode_number, named_metric
from noisewright.numerics.linear_algebra import Vector
from noisewright.qif.refinement.average_case import average_refined
from noisewright.qif.refinement.decisions import Pair, check_tolerance, pair_direction, prepare
from noisewright.qif.refinement.exact_channel import Read, common_secrets, lattice_for_both, lattice_step, read
from noisewright.qif.refinement.max_case import max_refined
from noisewright.qif.refinement.privacy import metric_refined, privacy_refined
from noisewright.qif.refinement.reduced_channel import Refinement, bet, beyond, separating
from noisewright.qif.refinement.witness import GainWitness, MetricWitness, PosteriorWitness

__all__ = ["Comparison", "Directions", "compare"]


WHOM = {
    "average": "every adversary, on average",
    "max": "every adversary, at worst",
    "privacy": "every pair of secrets",
}
"""Against whom an order is, for a person."""


@dataclass(frozen=True, eq=False)
class Directions:
    """One order, both ways: ``forward`` is "B may replace A", ``backward`` "A may replace B"."""

    forward: Refinement
    backward: Refinement

    def __iter__(self) -> Iterator[Refinement]:
        return iter((self.forward, self.backward))


@dataclass(frozen=True, eq=False)
class Comparison:
    """All orders between two channels; ``fixed`` is the order for ``metric``, None where none was given."""

    average: Directions
    max: Directions
    privacy: Directions
    fixed: Directions | None
    metric: Metric | None
    names: tuple[str, str]

    def orders(self) -> dict[str, Directions]:
        """The orders by name, the strongest first."""
        found = {"average": self.average, "max": self.max, "privacy": self.privacy}
        return found if self.fixed is None else {**found, f"{self.metric} metric": self.fixed}

    def table(self) -> list[tuple[str, str, str]]:
        """The order, whether B may replace A, and whether A may replace B."""
        return [(name, both.forward.status, both.backward.status) for name, both in self.orders().items()]

    def answers(self) -> list[tuple[str, str, str, str]]:
        """Return a row for each order, for a person: its name, against whom it is, and both answers."""
        rows = self.table()
        return [(name, WHOM.get(name, "this metric"), SAID[there], SAID[back]) for name, there, back in rows]

    def evidence(self) -> list[tuple[str, str, str]]:
        """Return a title, a status, and the reason with its witness for each order and direction."""
        return [
            (f"{name}: {one.direction}", one.status, self._shown(one))
            for name, both in self.orders().items()
            for one in both
        ]

    def _shown(self, one: Refinement) -> str:
        reason = f"{self.named(one, one.reason)}."
        return reason if one.witness is None else f"{reason}\n{self.named(one, str(one.witness))}"

    def in_words(self) -> list[str]:
        """Describe the consequences, in a sentence for each direction."""
        return [_in_words(self, way) for way in (0, 1)]

    def __str__(self) -> str:
        first, second = self.names
        rows = [("order", f"{second} may replace {first}", f"{first} may replace {second}"), *self.table()]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        lines += [f"\n{title}: {status}; {text}" for title, status, text in self.evidence()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Comparison: {' '.join(self.in_words())}>"

    def _repr_html_(self) -> str:
        first, second = self.names
        head = ("order", "against", f"{second} may replace {first}", f"{first} may replace {second}")
        rows = self.answers()
        return card("Comparison", [("in words", text) for text in self.in_words()], head, rows)

    def named(self, one: Refinement, text: str) -> str:
        """A reason or a witness in words, with the names of the two channels in place of "the old one" and "the new one"."""
        old, new = self.names if any(one is both.forward for both in self.orders().values()) else self.names[::-1]
        return text.replace("the old one", old).replace("the new one", new)

    def to_json(self) -> dict[str, Any]:
        """The comparison as plain data, with every witness."""
        return {
            "names": list(self.names),
            "metric": None if self.metric is None else str(self.metric),
            "orders": {
                name: {"forward": _refinement_json(both.forward), "backward": _refinement_json(both.backward)}
                for name, both in self.orders().items()
            },
            "reading": self.in_words(),
        }


def compare(
    a: Any, b: Any, *, metric: Metric | str | None = None, tol: float = 1e-8, names: tuple[str, str] = ("A", "B")
) -> Comparison:
    """Every order between two channels, both ways, with witnesses; ``metric`` adds the order for that metric.

    ``a`` and ``b`` are channels, mechanisms with finitely many secrets, certificates, members of families, or rows of
    numbers; fractions, integers and text such as ``"1/3"`` are taken exactly, and answers about exact numbers are exact.
    ``tol`` matters to floats alone.
    """
    check_tolerance(tol)
    if not isinstance(names, tuple) or len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise ParameterError("names are two pieces of text, such as ('old', 'new'), for the two that are compared.")
    a, b = _behind(a), _behind(b)
    measure = None if metric is None else named_metric(metric) if isinstance(metric, str) else as_metric(metric)
    first, second = _both(a, b)
    ways = [f"{names[1]} may replace {names[0]}", f"{names[0]} may replace {names[1]}"]
    # What two orders need of one pair is found out once; a closed form needs none of it.
    pairs = [cache(lambda: prepare(first, second, tol)), cache(lambda: prepare(second, first, tol))]
    given = [(a, b), (b, a)]
    both = [(first, second), (second, first)]
    averages = [average_refined(*given[k], tol, direction=ways[k], pair=pairs[k]) for k in (0, 1)]
    worsts = [max_refined(*given[k], tol, direction=ways[k], pair=pairs[k]) for k in (0, 1)]
    privacies = [privacy_refined(*given[k], tol, direction=ways[k]) for k in (0, 1)]
    metrics = [] if measure is None else [metric_refined(*both[k], measure, tol, direction=ways[k]) for k in (0, 1)]
    worsts = [_implied(averages[k], worsts[k]) for k in (0, 1)]
    privacies = [_implied(worsts[k], privacies[k]) for k in (0, 1)]
    metrics = [_implied(privacies[k], metrics[k]) for k in (0, 1)] if metrics else []
    # And the other way round: a failure of a weaker order is one of every stronger order.
    privacies = [_refuted(metrics[k], privacies[k], pairs[k]) for k in (0, 1)] if metrics else privacies
    worsts = [_refuted(privacies[k], worsts[k], pairs[k]) for k in (0, 1)]
    averages = [_refuted(worsts[k], averages[k], pairs[k]) for k in (0, 1)]
    fixed = Directions(*metrics) if metrics else None
    return Comparison(Directions(*averages), Directions(*worsts), Directions(*privacies), fixed, measure, names)


def _behind(thing: Any) -> Any:
    """Return the mechanism behind a certificate, for which closed forms are known; anything else as it is."""
    found = source_of(thing) if isinstance(thing, Certificate) else ""
    return thing if isinstance(found, str) else found[0]


def _both(a: Any, b: Any) -> tuple[Read, Read]:
    """Two channels over the same secrets; where lattices are in the way, the refusal names one that works for both."""
    try:
        first, second = read(a), read(b)
        common_secrets(first, second)
    except (ChannelError, NoChannelError):
        step = lattice_for_both(a, b)
        if step is None:
            raise
        own = list(dict.fromkeys(str(lattice_step(thing)) for thing in (a, b)))
        what = "more secrets than can be compared" if len(own) == 1 else "different secrets"
        raise ChannelError(
            f"these mechanisms round to steps of {' and '.join(own)}, which gives {what}; make both again with the lattice "
            f"{step} (--lattice {step}), which works for both."
        ) from None
    return first, second


def _implied(stronger: Refinement, weaker: Refinement) -> Refinement:
    """The weaker order holds exactly where the stronger does, also where floats alone would leave it within a tolerance."""
    if stronger.status != EXACT or weaker.status not in (WITHIN, UNDECIDED):
        return weaker
    return replace(weaker, status=EXACT, reason=f"it follows from the {stronger.order} order", residual=0.0)


def _refuted(weaker: Refinement, stronger: Refinement, pair: Callable[[], Pair]) -> Refinement:
    """The stronger order fails where the weaker does, also where each entry alone is within the tolerance.

    A rare output hardly changes an average, but anyone who sees it may know everything.
    """
    if weaker.status != FAILS or stronger.status not in (WITHIN, UNDECIDED):
        return stronger
    near = "" if stronger.status == UNDECIDED else f", although {stronger.reason}"
    witness = _lifted(weaker.witness, stronger.order, pair()) or weaker.witness
    reason = f"the {weaker.order} order fails, which follows from this one{near}"
    return replace(stronger, status=FAILS, reason=reason, witness=witness)


def _lifted(witness: object, order: str, pair: Pair) -> GainWitness | PosteriorWitness | None:
    """Return the witness against a weaker order as an adversary of a stronger one; None where it stays as it is."""
    directions: list[Vector] = []
    if isinstance(witness, PosteriorWitness):
        directions = [witness.direction]
    elif isinstance(witness, MetricWitness) and order != "privacy":
        x, z = (pair.first.inputs.index(secret) for secret in witness.pair)
        directions = [one for one in (pair_direction(pair.a, x, z), pair_direction(pair.a, z, x)) if one is not None]
    for direction in directions:
        found = separating(direction, pair.a, pair.b)
        if found is not None and order == "average":
            return bet(found[1], pair.first, pair.second)
        if found is not None and order == "max":
            return beyond(found[1], pair.a, pair.b)
    return None


_AGAINST = {
    "average": "against every adversary, on average over the outputs, and so under every other order here",
    "max": "against every adversary who waits for the worst output",
    "privacy": "as far as guarantees go, for every metric",
}

_BEYOND = {
    "max": "adversaries who play the average over the outputs",
    "privacy": "adversaries who wait for the worst output",
}
"""Subject of the next stronger order, for each order that has one."""


def _in_words(found: Comparison, way: int) -> str:
    """The strongest order that holds in one direction, in words."""
    new, old = found.names[1 - way], found.names[way]
    above = ""
    for name, both in found.orders().items():
        one = tuple(both)[way]
        if one:
            sure = "" if one.status == EXACT else " (within the tolerance)"
            if name in _AGAINST:
                limit = f", but not against {_BEYOND[name]}" if above == FAILS else ""
                limit = f"; whether also against {_BEYOND[name]} is not decided" if above and not limit else limit
                return f"{new} may replace {old} {_AGAINST[name]}{sure}{limit}."
            limit = " only, and not behind every query" if above == FAILS else ""
            return f"{new} may replace {old} for the {found.metric} metric{limit}{sure}."
        above = one.status
    open_orders = [name for name, both in found.orders().items() if tuple(both)[way].status != FAILS]
    if open_orders:
        return f"Whether {new} may replace {old} is not decided in full ({', '.join(open_orders)})."
    return f"{new} may not replace {old} under any of these orders."


def _refinement_json(one: Refinement) -> dict[str, Any]:
    data = {
        "status": one.status,
        "reason": one.reason,
        "residual": None if one.residual is None else encode_number(one.residual),
        "witness": None if one.witness is None else one.witness.to_json(),
    }
    if isinstance(one.witness, GainWitness):
        data["correlation"] = one.witness.correlation().to_json()
    return data
