"""The certificate of a product: independent parts, each with its own proof, and losses that add up.

A secret has coordinates (the bits of a packed vector, the tokens of a document, the blocks of a picture), and each is drawn on
its own, by the mechanism of its part. Probabilities multiply, so the losses of coordinates add up. What that is for the whole
secret depends on the metric between two of them:

===============  =====================================================  ============================================
metric           what a part must prove                                 epsilon of the whole
===============  =====================================================  ============================================
``hamming``      a loss between any two of finitely many values, or     the largest loss of a part
                 of all integers that noise is clamped to
``manhattan``    a loss for each unit of the line, or of manhattan      the largest loss for a unit
``discrete``     a loss between any two of finitely many values         the sum of all losses; deltas add up as well
``matched``      a loss for each unit of distance between words         the largest; distances of matched words add up
``aligned``      the same                                               the largest; those at the same places add up
===============  =====================================================  ============================================

The Manhattan distance is between the lattice points that numbers are rounded to, if the metric of the parts says so.
:mod:`noisewright.certificates.checker.checker_release` proves the parts one by one, and then the sums.

>>> from noisewright.mechanisms.categorical.randomised_response import randomised_response
>>> bit = randomised_response([0, 1], epsilon="1/4").certificate()
>>> product_certificate("packed bits", [Part(bit, 1_000_000)]).verify()
'epsilon = 0.25 per unit of hamming, over 1000000 independent parts'

Losses of independent (or adaptively chosen) releases add. Adding the symmetric losses ``d_C`` is safe but may overstate
the loss: the worst output of one release may favour ``x`` and the worst output of the next ``x'``. The accountant adds
*directed* losses ``max_y ln C[x,y]/C[x',y]`` and symmetrises once, at the end, which is exactly the loss of the product
channel without building it. Deltas add too, for each pair of secrets its own: between secrets some steps apart a
guarantee between neighbours has a larger one.

>>> from noisewright.channels.channel import Channel
>>> first = Channel([[0.8, 0.2], [0.4, 0.6]])
>>> second = Channel([[0.6, 0.4], [0.2, 0.8]])
>>> account = Accountant([0, 1]).add(first).add(second)
>>> round(account.epsilon().value, 6), round(first.epsilon().value + second.epsilon().value, 6)
(1.791759, 2.197225)
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np

from noisewright._typing import Floats
from noisewright._utils.validation import is_whole
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker, checker_release
from noisewright.channels.audit import Audit
from noisewright.channels.channel import Channel
from noisewright.claims.figures import float_up
from noisewright.claims.readings import Condition, all_of
from noisewright.exceptions import ChannelError, ParameterError
from noisewright.guarantees import NO_BUDGET, ContextAware, Guarantee
from noisewright.metrics.base import Discrete, Metric, as_labels, as_metric
from noisewright.metrics.composite import with_factor

__all__ = ["Accountant", "Part", "parts_of", "product_certificate"]


Whole = Literal["hamming", "manhattan", "discrete", "matched", "aligned"]


@dataclass(frozen=True)
class Part:
    """The certificate of one coordinate, and how many coordinates are drawn alike; None for any number of them."""

    certificate: Certificate
    count: int | None = 1


def product_certificate(
    mechanism: str,
    parts: Sequence[Part],
    *,
    metric: Whole = "hamming",
    unit: Fraction = Fraction(1),
    simulated: bool = False,
    **more: Any,
) -> Certificate:
    """The certificate of independent parts with the smallest epsilon that their claims give; ``more`` are further fields.

    ``unit``: epsilon is for this multiple of the metric's own unit, as where one pixel of an image has three
    coordinates. It belongs to a simulation if any part does, and states the public files and the public seed of all
    parts. Refused with a :class:`~noisewright.exceptions.ParameterError` where the parts do not prove anything for the
    metric.
    """
    if metric not in get_args(Whole):
        raise ParameterError(f"the metric of a product is {', '.join(get_args(Whole))}, not {metric!r}.")
    if not 0 < len(parts) <= checker_release.MOST_PARTS:
        raise ParameterError(
            f"a product has 1 to {checker_release.MOST_PARTS} parts, not {len(parts)}; count those that are alike."
        )
    if metric == "matched" and len(parts) > 1:
        raise ParameterError("words whose order is forgotten must be drawn alike; give one part, with its count.")
    stated, documents = _metric(metric, parts), [dict(part.certificate.document) for part in parts]
    if any(document["numerics"] != "exact" for document in documents):
        raise ParameterError(
            "the parts of a product are proved one by one, and a floating one is not; use exact parts."
        )
    found = []
    for place, (part, document) in enumerate(zip(parts, documents, strict=True)):
        if part.count is not None and (
            isinstance(part.count, bool) or not isinstance(part.count, int) or part.count < 1
        ):
            raise ParameterError("the count of a part is a whole number from 1, or None for any number.")
        try:
            loss, delta = checker_release.part_loss(place, document, stated)
        except checker.NotProved as problem:
            raise ParameterError(f"these parts make no product for the {metric} metric: {problem}") from None
        if delta and metric != "discrete":
            raise ParameterError(
                "a product of parts with a delta is proved for any two secrets; use metric='discrete'."
            )
        if part.count is None and metric == "discrete":
            raise ParameterError("the loss between any two secrets is a sum over all parts; say how many there are.")
        found.append((loss, delta, part.count or 1))
    summed = metric == "discrete"
    return Certificate.build(
        mechanism=mechanism,
        epsilon=unit
        * (sum((loss * n for loss, _, n in found), Fraction(0)) if summed else max(loss for loss, _, _ in found)),
        delta=sum((delta * n for _, delta, n in found), Fraction(0)),
        metric=with_factor(stated, 1 / unit),
        distances={"shape": "product"},
        proof={
            "kind": "product",
            "parts": [
                {
                    "count": part.count,
                    **{key: value for key, value in document.items() if key not in checker_release.HEAD},
                }
                for part, document in zip(parts, documents, strict=True)
            ],
        },
        simulated=simulated or any(part.certificate.simulated for part in parts),
        **_public([*documents, more]),
        **{key: value for key, value in more.items() if key not in ("resources", "seed")},
    )


def parts_of(certificate: Certificate) -> Iterator[Part]:
    """Return the certificates of the parts of a product; each states about its draws the same as the whole."""
    document = certificate.document
    head = {key: document[key] for key in ("format", "version", "made_by") if key in document}
    tail = {"numerics": document["numerics"], "randomness": document["randomness"]}
    for part in document["proof"]["parts"]:
        own = {"mechanism": part.get("mechanism"), **{key: value for key, value in part.items() if key != "count"}}
        body = {key: own.pop(key) for key in ("mechanism", "claim", "proof")}
        whole = {**head, **body, **tail, **own}
        yield Part(Certificate.from_document({**whole, "digest": checker.digest(whole)}), part["count"])


def _metric(metric: Whole, parts: Sequence[Part]) -> dict[str, Any]:
    """The metric of the whole, with the lattice that the parts round to, or the words that they are about."""
    if metric in ("hamming", "discrete"):
        return {"base": metric}
    base = checker.unit_of(parts[0].certificate.document["claim"]["metric"])[1]
    if metric != "manhattan":
        return {**base, "order": metric}
    return {"base": "manhattan", **({"lattice": base["lattice"]} if "lattice" in base else {})}


def _public(documents: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The public files and the public seed that any of these state; see :func:`~noisewright.resources.public_keys`."""
    files: list[Any] = []
    for document in documents:
        files += [file for file in document.get("resources", []) if file not in files]
    seeds = {document["seed"] for document in documents if "seed" in document}
    if len(seeds) > 1:
        raise ParameterError("the parts of a product use different public seeds; give them all the same one.")
    return {**({"resources": files} if files else {}), **({"seed": seeds.pop()} if seeds else {})}


# Accountant ---------------------------------------------------------------------------------------------------------------
#
# The composition accountant: what several releases about one secret cost together.


MOST_RELEASES = 2**53
"""More releases than this are not counted at once: floats would not hold the number."""


class Accountant:
    """Sum of the privacy losses of releases about the same secrets; ``add`` takes channels or stated guarantees."""

    def __init__(self, inputs: Iterable[Hashable]) -> None:
        self.inputs = as_labels(inputs, "the secrets of an accountant")
        if not self.inputs:
            raise ParameterError("an accountant needs at least one secret.")
        if len(set(self.inputs)) < len(self.inputs):
            raise ParameterError(
                "the secrets of an accountant must be different from each other; name each of them once."
            )
        self.releases = 0
        self.conditions: tuple[Condition, ...] = ()
        """Under which the sum holds: all conditions of the guarantees that were added."""
        self._directed: Floats = np.zeros((len(self.inputs),) * 2)
        self._deltas: Floats = np.zeros((len(self.inputs),) * 2)

    @property
    def delta(self) -> float:
        """The extra probability of everything added so far, for the pair of secrets where it is largest; rounded up."""
        return float(self._deltas.max())

    def add(self, release: Channel | Guarantee, times: int = 1) -> Accountant:
        """Account for a release, ``times`` over. A guarantee counts with the whole loss and delta that it allows each pair."""
        if not is_whole(times):
            raise ParameterError(f"a release happens a whole number of times, not {type(times).__name__}.")
        times = int(times)
        if times < 0 or times > MOST_RELEASES:
            shown = times if times < 0 else "more than 2^53"
            raise ParameterError(f"a release happens 0 or more times, not {shown}.")
        if isinstance(release, ContextAware):
            raise ParameterError(NO_BUDGET)
        if not isinstance(release, (Channel, Guarantee)):
            raise ParameterError(f"an accountant adds a Channel or a Guarantee, not {type(release).__name__}.")
        if isinstance(release, Channel):
            if release.inputs != self.inputs:
                raise ChannelError("the release must have the accountant's secrets, in the same order.")
            losses, deltas = release.directed(), np.zeros(self._deltas.shape)
        else:
            apart, place = np.unique(release.metric.matrix(self.inputs), return_inverse=True)
            bounds = [release.bound(distance) for distance in apart.tolist()]
            # Where nothing is guaranteed, the loss is infinite and needs no delta.
            extra = [0.0 if math.isinf(b) else release.delta_at(d) for b, d in zip(bounds, apart.tolist(), strict=True)]
            sums = [float_up(times * (Fraction(delta) + Fraction(release.seed_failure))) for delta in extra]
            losses, deltas = (np.array(found)[place].reshape(self._deltas.shape) for found in (bounds, sums))
        if times:
            with np.errstate(over="ignore"):
                self._directed = self._directed + times * losses
        self._deltas = np.minimum(_sum_up(self._deltas, deltas), 1.0)
        if times and isinstance(release, Guarantee):
            self.conditions = all_of(self.conditions, release.conditions)
        self.releases += times
        return self

    def distinguishability(self) -> Floats:
        """The loss of everything added so far, for every pair of secrets, rounded up."""
        both = np.maximum(self._directed, self._directed.T)
        # Each addition rounds by at most half a unit, and a directed loss carries a few units of its own.
        with np.errstate(over="ignore"):
            return np.where(both == 0, 0.0, both * (1 + (self.releases + 8) * 2.0**-52))

    def epsilon(self, metric: Metric | None = None) -> Audit:
        """The smallest epsilon of everything added so far, and the pair that needs it."""
        metric = as_metric(metric, Discrete())
        distances = metric.matrix(self.inputs)
        losses = self.distinguishability()
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratios = np.where((losses == 0) | np.isinf(distances), 0.0, losses / distances)
        first, second = (int(i) for i in np.unravel_index(int(ratios.argmax()), ratios.shape))
        value = float(ratios[first, second])
        delta = float(self._deltas[np.isfinite(distances)].max())
        pair = (self.inputs[first], self.inputs[second]) if value else None
        if value and math.isfinite(value):
            value = math.nextafter(value, math.inf)
        return Audit(value, metric, pair, None, None, delta)

    def guarantee(self, metric: Metric | None = None) -> Guarantee:
        """Return the guarantee of everything added so far."""
        audit = self.epsilon(metric)
        if math.isinf(audit.value):
            raise ParameterError(
                "nothing can be promised: two secrets can be told apart for certain, or are too far apart for what was added."
            )
        return Guarantee(audit.value, audit.metric, audit.delta, conditions=self.conditions)


def _sum_up(first: Floats, second: Floats) -> Floats:
    """Return sums rounded up: Knuth's two-sum gives the error of each float sum."""
    total = first + second
    part = total - first
    rest = (first - (total - part)) + (second - part)
    return np.where(rest > 0, np.nextafter(total, np.inf), total)
