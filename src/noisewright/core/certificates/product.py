r"""The certificate of a product: independent parts, each with its own proof, and losses that add up.

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
:mod:`noisewright.core.certificates.checker.checker_release` proves the parts one by one, and then the sums.

>>> from noisewright.mechanisms.categories.response import randomised_response
>>> bit = randomised_response([0, 1], epsilon="1/4").certificate()
>>> product_certificate("packed bits", [Part(bit, 1_000_000)]).verify()
'epsilon = 0.25 per unit of hamming, over 1000000 independent parts'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.checker import checker, checker_release
from noisewright.core.errors import ParameterError
from noisewright.core.metrics.algebra import with_factor

__all__ = ["Part", "parts_of", "product_certificate"]

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
    parts. Refused with a :class:`~noisewright.core.errors.ParameterError` where the parts do not prove anything for the
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
    """The public files and the public seed that any of these state; see :func:`~noisewright.core.resource.public_keys`."""
    files: list[Any] = []
    for document in documents:
        files += [file for file in document.get("resources", []) if file not in files]
    seeds = {document["seed"] for document in documents if "seed" in document}
    if len(seeds) > 1:
        raise ParameterError("the parts of a product use different public seeds; give them all the same one.")
    return {**({"resources": files} if files else {}), **({"seed": seeds.pop()} if seeds else {})}
