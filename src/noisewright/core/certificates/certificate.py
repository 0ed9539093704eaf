"""Certificates: a claim, the integers that are drawn from, and how the draw was made, as one JSON document.

``numerics`` is ``"exact"`` when the claim was proved about the integers that are sampled, and ``"floating"`` when a theorem
holds for real numbers but the draw is made in floats. ``randomness`` says where random bits come from; a certificate for a
simulation says ``not for release``.

:meth:`Certificate.verify` runs :mod:`noisewright.core.certificates.checker.checker`, the small program that anyone can
read and run alone; :mod:`noisewright.core.certificates.checker.checker_noise` adds the laws of noise that it leaves
out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from noisewright.claims.phrases import metric_name
from noisewright.claims.record import Condition
from noisewright.core import VERSION as PROGRAM
from noisewright.core.certificates.checker import checker
from noisewright.core.certificates.records import clear_record, metric_of, metric_record, randomness_phrase
from noisewright.core.channels.certified import CertifiedChannel
from noisewright.core.errors import CertificateError, MetricError
from noisewright.core.exact import as_fraction, float_down, fraction_or_none
from noisewright.core.labels import decode_label, encode_label
from noisewright.core.metrics.distances import Distances, LineDistances, TableDistances, UniformDistances
from noisewright.core.metrics.metric import Metric, Table

if TYPE_CHECKING:
    from noisewright.core.guarantee import Guarantee

__all__ = ["RELEASE_RANDOMNESS", "SIMULATION_RANDOMNESS", "Certificate", "Stating", "read_document"]

RELEASE_RANDOMNESS = "system seed, AES-256-CTR"
SIMULATION_RANDOMNESS = "numpy generator: simulation, not for release"


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
        from noisewright.core.certificates.claims import prove

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
