"""Records of claims and the library's own objects: metrics, columns released unchanged, random bits.

>>> from noisewright.channels.channel import Channel
>>> from noisewright.certificates.certificate import Certificate
>>> document = Certificate.of(Channel([[0.75, 0.25], [0.5, 0.5]]).certify(1)).document
>>> prove(document)
('epsilon = 1 per unit of discrete', None)
>>> distances_in_words(document)
'1 between any two secrets'
>>> print(claimed(document))
epsilon = 1 per unit of discrete
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

import numpy as np

from noisewright._version import VERSION as PROGRAM
from noisewright.certificates.checker import checker
from noisewright.channels.integer_table import CertifiedChannel
from noisewright.claims import phrases
from noisewright.claims.figures import float_down
from noisewright.claims.phrases import CLEAR, metric_name
from noisewright.claims.readings import Condition
from noisewright.exceptions import CertificateError, MetricError
from noisewright.guarantees import Guarantee, Scope
from noisewright.metrics.base import Metric, Table, decode_label, encode_label, metric_or_none, named_metric
from noisewright.metrics.distances import Distances, LineDistances, TableDistances, UniformDistances
from noisewright.numerics.exact import as_fraction, fraction_or_none
from noisewright.sampling.random_bits import RELEASE_RANDOMNESS, SIMULATION_RANDOMNESS

__all__ = [
    "Certificate",
    "Claim",
    "Stating",
    "claimed",
    "clear_record",
    "distances_in_words",
    "guarantee_of",
    "metric_called",
    "metric_of",
    "metric_record",
    "named_only",
    "prove",
    "randomness_phrase",
    "read_document",
]


def metric_record(metric: Metric | Mapping[str, Any] | str) -> Mapping[str, Any]:
    """Return a metric as a certificate states it; a text is the name of one.

    >>> metric_record("1/5 * line"), metric_record("my own")
    ({'base': 'line', 'factor': '1/5'}, {'called': 'my own'})
    """
    if isinstance(metric, Mapping):
        return metric
    if isinstance(metric, Metric):
        return metric.record()
    return {"called": metric} if metric_or_none(metric) is None else named_metric(metric).record()


def metric_of(stated: Mapping[str, Any]) -> Metric | None:
    """Return the metric of a record, or None where the record alone does not give its distances."""
    base = named_only(stated)
    known = metric_or_none(str(base)) if base is not None else None
    factor = Fraction(stated.get("factor", 1))
    return known if known is None or factor == 1 else factor * known


def named_only(stated: Mapping[str, Any]) -> str | None:
    """Return the base of a metric without parameters, or the name of one that is only called something."""
    if set(stated) <= {"base", "factor"}:
        return str(stated["base"])
    return str(stated["called"]) if set(stated) == {"called"} else None


def clear_record(what: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what an output shows as a record: a code of the phrase table, or a name that is quoted."""
    if not isinstance(what, str):
        return what
    return {"code": what} if what in CLEAR else {"called": what}


def randomness_phrase(stated: Any) -> str:
    """Return where random bits come from, in words."""
    return f"drawn by each respondent with {stated['lots']}" if isinstance(stated, Mapping) else str(stated)


# Certificate --------------------------------------------------------------------------------------------------------------
#
# Certificates: a claim, the integers that are drawn from, and how the draw was made, as one JSON document.
#
# ``numerics`` is ``"exact"`` when the claim was proved about the integers that are sampled, and ``"floating"`` when a theorem
# holds for real numbers but the draw is made in floats. ``randomness`` says where random bits come from; a certificate for a
# simulation says ``not for release``.
#
# :meth:`Certificate.verify` runs :mod:`noisewright.certificates.checker.checker`, the small program that anyone can
# read and run alone; :mod:`noisewright.certificates.checker.checker_noise` adds the laws of noise that it leaves
# out.


class Stating(Protocol):
    """A mechanism with one exact epsilon for the metric of its guarantee."""

    @property
    def name(self) -> str:
        """The name in certificates."""

    @property
    def epsilon(self) -> Fraction:
        """The guaranteed epsilon, exactly."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee, in floats."""


@dataclass(frozen=True)
class Certificate:
    """A certificate as the JSON document it is; build one with :meth:`build` or :meth:`of`."""

    document: Mapping[str, Any]

    @classmethod
    def build(
        cls,
        *,
        mechanism: str,
        epsilon: Fraction,
        metric: Metric | Mapping[str, Any] | str,
        distances: Mapping[str, Any],
        proof: Mapping[str, Any],
        delta: Fraction = Fraction(0),
        simulated: bool = False,
        numerics: Literal["exact", "floating"] = "exact",
        further: Mapping[str, Fraction] | None = None,
        secret: Mapping[str, Any] | None = None,
        conditions: Sequence[Condition] = (),
        **more: Any,
    ) -> Certificate:
        """A certificate with a claim and its proof; ``more`` are further plain fields.

        ``further`` are numbers that are claimed as well and proved with the rest: a ``level`` within a ``radius``.
        ``secret`` states the subject of the claim, and ``conditions`` restrict it. ``numerics="floating"`` says that
        the draw is made in floats; :meth:`verify` then answers that nothing is proved.
        """
        stated = _of_a_table(metric_record(metric)) if distances["shape"] == "table" else metric_record(metric)
        claim = {"epsilon": str(epsilon), "delta": str(delta), "metric": stated, "distances": dict(distances)}
        document = {
            "format": checker.FORMAT,
            "version": checker.VERSION,
            "made_by": f"noisewright {PROGRAM}",
            "mechanism": mechanism,
            "claim": {
                **claim,
                **{name: str(value) for name, value in (further or {}).items()},
                **({} if secret is None else {"secret": dict(secret)}),
                **({"conditions": [one.record() for one in conditions]} if conditions else {}),
            },
            "proof": dict(proof),
            "numerics": numerics,
            "randomness": SIMULATION_RANDOMNESS if simulated else RELEASE_RANDOMNESS,
            **more,
        }
        return cls({**document, "digest": checker.digest(document)})

    @classmethod
    def of_mechanism(
        cls,
        made: Stating,
        rng: object | None,
        *,
        distances: Mapping[str, Any],
        proof: Mapping[str, Any],
        **more: Any,
    ) -> Certificate:
        """Build the certificate of a mechanism by its name, epsilon and metric; ``rng`` is its source of randomness,
        None for a release.

        ``more`` is as in :meth:`build`.
        """
        return cls.build(
            mechanism=made.name,
            epsilon=made.epsilon,
            metric=made.guarantee.metric,
            distances=distances,
            proof=proof,
            simulated=rng is not None,
            **more,
        )

    @classmethod
    def of(cls, certified: CertifiedChannel, mechanism: str = "finite channel", simulated: bool = False) -> Certificate:
        """The certificate of an integer table."""
        return cls.build(
            mechanism=mechanism,
            epsilon=certified.epsilon,
            metric=certified.metric,
            distances=certified.distances.to_json(),
            proof={
                "kind": "table",
                "width": certified.width,
                "precision": certified.precision,
                "table": [[f"{entry:x}" for entry in row] for row in certified.table],
            },
            simulated=simulated,
            inputs=[encode_label(label) for label in certified.inputs],
            outputs=[encode_label(label) for label in certified.outputs],
            change=certified.change,
        )

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate; it is checked for shape only, :meth:`verify` proves it."""
        return cls.from_document(read_document(text))

    @classmethod
    def from_document(cls, document: Any) -> Certificate:
        """Read a certificate from the object in its JSON, and bring one of an earlier version to the present one.

        Only its shape is checked, as in :meth:`from_json`; one that was changed is left as it is, and :meth:`verify` says so.
        """
        with suppress(checker.NotProved, LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
            document = checker.current(document)
        if not isinstance(document, dict) or document.get("format") != checker.FORMAT:
            raise CertificateError("this is JSON, but not a Noisewright certificate.")
        problem = _misshapen(document)
        if problem:
            raise CertificateError(f"the certificate is incomplete or malformed: {problem}.")
        return cls(document)

    def with_clear(self, clear: Sequence[str | Mapping[str, Any]]) -> Certificate:
        """Return the certificate stating that the entries of ``clear`` are released unchanged; it must contain the
        entries listed before.
        """
        stated = [dict(clear_record(one)) for one in clear]
        if stated == list(self.document.get("in_the_clear", ())):
            return self
        document = {**self.document, "in_the_clear": stated}
        return Certificate({**document, "digest": checker.digest(document)})

    def under(self, conditions: Sequence[Condition]) -> Certificate:
        """Return the certificate with a weaker claim: one that holds under these conditions as well."""
        stated = [*self.document["claim"].get("conditions", []), *(one.record() for one in conditions)]
        document = {**self.document, "claim": {**self.document["claim"], "conditions": stated}}
        return Certificate({**document, "digest": checker.digest(document)})

    def to_json(self) -> str:
        """The certificate as JSON text."""
        return json.dumps(self.document, indent=1, ensure_ascii=True)

    def __repr__(self) -> str:
        """Short, and without a verdict: :meth:`verify` gives that, and :attr:`document` has everything.

        >>> import noisewright as nw
        >>> nw.geometric(epsilon=1, within=(0, 9)).certificate()
        <Certificate of 'geometric': claims epsilon 1, metric line; verify() proves it>
        """
        try:
            told = (
                f"epsilon {self.document['claim']['epsilon']}, metric {metric_name(self.document['claim']['metric'])}"
            )
        except (LookupError, TypeError, ValueError):
            told = "nothing"
        return f"<Certificate of {self.document.get('mechanism')!r}: claims {told[:200]}; verify() proves it>"

    def verify(self) -> str:
        """Prove the claim again, with integers alone; a :class:`CertificateError` where that fails.

        The claim is a text in exact terms; its ``record`` has the same as data.
        """
        claim, reason = prove(self.document)
        if claim is None:
            raise CertificateError(f"the certificate does not prove its claim: {reason}")
        return claim

    @property
    def numerics(self) -> str:
        """``exact`` or ``floating``."""
        return str(self.document["numerics"])

    @property
    def randomness(self) -> str:
        """Source of the random bits."""
        return randomness_phrase(self.document["randomness"])

    @property
    def simulated(self) -> bool:
        """Return whether the certificate states that its draws are not for release."""
        return checker.simulated(self.document["randomness"])

    @property
    def epsilon(self) -> Fraction:
        """The claimed epsilon, exactly."""
        return as_fraction(self.document["claim"]["epsilon"], "the claimed epsilon")

    def table(self) -> CertifiedChannel:
        """The integer table that this certificate is about; its claim is proved first."""
        self.verify()
        proof, claim = self.document["proof"], self.document["claim"]
        if proof["kind"] != "table":
            raise CertificateError(f"this certificate is about a {proof['kind']}, not about a table.")
        entries = np.array([[int(entry, 16) for entry in row] for row in proof["table"]], dtype=object)
        entries.flags.writeable = False
        try:
            inputs = tuple(decode_label(label) for label in self.document["inputs"])
            outputs = tuple(decode_label(label) for label in self.document["outputs"])
            change = float(self.document["change"])
        except (KeyError, TypeError, ValueError):
            raise CertificateError(
                "the certificate does not name its rows, its columns or its change properly."
            ) from None
        if entries.shape != (len(inputs), len(outputs)):
            raise CertificateError("the certificate does not name each row and each column of its table once.")
        distances = _distances(claim["distances"], len(inputs))
        return CertifiedChannel(
            table=entries,
            width=int(proof["width"]),
            inputs=inputs,
            outputs=outputs,
            epsilon=self.epsilon,
            metric=_metric(claim["metric"], distances, inputs),
            distances=distances,
            precision=int(proof["precision"]),
            change=change,
        )


def _misshapen(document: Mapping[str, Any]) -> str | None:
    """Return what a document lacks of the shape of a certificate, or None; whether it proves anything is not checked
    here.
    """
    kinds = {"mechanism": str, "numerics": str, "randomness": str | dict, "digest": str, "claim": dict, "proof": dict}
    for name, kind in kinds.items():
        if not isinstance(document.get(name), kind):
            return f"it has no {name}, or one of another kind"
    claim, proof = document["claim"], document["proof"]
    if any(fraction_or_none(claim.get(name)) is None for name in ("epsilon", "delta")):
        return "its claim has no epsilon or no delta, or one that is not a number"
    distances = claim.get("distances")
    if not isinstance(claim.get("metric"), dict | str) or not isinstance(distances, dict) or "shape" not in distances:
        return "its claim has no metric or no distances"
    return None if isinstance(proof.get("kind"), str) else "its proof does not say of which kind it is"


def _distances(stated: Mapping[str, Any], size: int) -> Distances:
    if stated["shape"] == "uniform":
        return UniformDistances(size, Fraction(stated["distance"]))
    if stated["shape"] == "line":
        return LineDistances(tuple(Fraction(p) for p in stated["places"]))
    return TableDistances(size, tuple(None if d == "inf" else Fraction(d) for d in stated["distances"]))


def _metric(stated: Mapping[str, Any], distances: Distances, inputs: tuple[Any, ...]) -> Metric:
    """The stated metric where its record and the labels suffice to rebuild it, otherwise the distances as a table."""
    metric, name = metric_of(stated), str(stated.get("called", "")) or metric_name(stated)
    try:
        if metric is not None and metric.exact(inputs) == distances:
            return metric
    except MetricError:
        pass
    values = [[distances.between(i, j) for j in range(len(inputs))] for i in range(len(inputs))]
    return Table(
        np.array([[np.inf if d is None else float_down(d) for d in row] for row in values]),
        inputs,
        name=name,
        tolerance=1e-6,
    )


def read_document(text: str) -> Any:
    """Return the object in the text of a certificate, of one mechanism or of a release; reject text that is not
    JSON.
    """
    try:
        return checker.read(text)
    except (TypeError, ValueError, RecursionError):
        raise CertificateError("this is not a certificate: it is not JSON, or it was cut short.") from None


def _of_a_table(metric: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record of the metric of listed distances: one that the checker cannot compare with labels is only called so.

    >>> _of_a_table({"base": "euclidean"}), _of_a_table({"base": "metres", "around": ["48.9", "2.4"]})
    ({'base': 'euclidean'}, {'called': 'metres around (48.9, 2.4)'})
    """
    compared = "called" in metric or (metric["base"] in checker.PLAIN and "lattice" not in metric)
    return metric if compared else {"called": metric_name(metric)}


# Claims -------------------------------------------------------------------------------------------------------------------
#
# Claims of certificates: whether one is proved, the claim as a guarantee, and its distances in words.


class Claim(str):
    """A proved claim in exact terms, with the record that was proved.

    Parameters
    ----------
    record : mapping
        What the checker proved: codes, exact numbers and quoted names.
    """

    record: Mapping[str, Any]

    def __new__(cls, record: Mapping[str, Any]) -> Claim:
        found = super().__new__(cls, checker.said(record))
        found.record = record
        return found

    def __getnewargs__(self) -> tuple[Mapping[str, Any]]:  # type: ignore[override]
        return (self.record,)


def prove(document: Any) -> tuple[Claim | None, str | None]:
    """The claim if the checker proves it, otherwise the reason why not."""
    try:
        return Claim(checker.prove_record(dict(document) if isinstance(document, Mapping) else document)), None
    except checker.NotProved as problem:
        return None, str(problem)
    except (ArithmeticError, MemoryError, RecursionError):
        return None, "it holds numbers that are too large to check."


def claimed(document: Mapping[str, Any]) -> Guarantee:
    """The claim of a proved certificate as a guarantee."""
    document = checker.current(dict(document))
    inputs = document["proof"].get("inputs", ())  # several ranges of them: no chain of neighbours leads across a gap
    return guarantee_of(checker.claim_of(document), broken=len(inputs) > 1)


def guarantee_of(record: Mapping[str, Any], broken: bool = False) -> Guarantee:
    """Return the claim of a record as a guarantee; ``broken``: chains of neighbours do not lead to all secrets."""
    epsilon, delta = (Fraction(record[name]) for name in ("epsilon", "delta"))
    scope: Scope = record["scope"]
    radius = 1.0 if broken and scope == "adjacent" else None
    conditions = tuple(Condition(one["code"]) for one in record["conditions"] if one["code"] in checker.CONDITIONS)
    metric = metric_called(record["metric"], record.get("secret"))
    return Guarantee.exactly(epsilon, metric, delta, scope=scope, radius=radius, conditions=conditions)


def distances_in_words(document: Mapping[str, Any]) -> str:
    """The distances that the proof is about. They are part of the claim, and a metric's name alone does not give them."""
    return phrases.distances(checker.current(dict(document))["claim"]["distances"])


class StatedMetric(Metric):
    """A metric of which a certificate has the record, and which the record alone does not rebuild."""

    def __init__(self, stated: Mapping[str, Any], secret: Mapping[str, Any] | None) -> None:
        self.stated, self.name, self._secret = dict(stated), metric_name(stated), secret

    def record(self) -> dict[str, Any]:
        return self.stated

    @property
    def secret(self) -> Mapping[str, Any] | None:
        return self._secret


def metric_called(stated: Mapping[str, Any], secret: Mapping[str, Any] | None = None) -> Metric:
    """Return the metric of a record; one that only has the record where that alone does not give the distances."""
    known = metric_of(stated) if "base" in stated and secret is None else None
    return StatedMetric(stated, secret) if known is None else known
