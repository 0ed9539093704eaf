"""The certificate of a release: one document with the certificate of every part, the privacy cost of each, and the total.

``certificate.json`` of a release can be checked by anyone, with ``noisewright verify certificate.json`` or with the exported
checker alone: :mod:`noisewright.core.certificates.checker.checker_release` proves every part again and that the privacy
costs and the total follow.

A part says ``times``, ``distance`` and ``price``: one unit is in it at most ``times`` times, and two values that are
protected are at most ``distance`` apart in the metric of the part's certificate ("any": any two values that the
certificate is about; "radius": places within the radius that the certificate names). Kept columns and answers that are
exact are listed, as not protected; so is the order of the rows, where it is kept. Where nothing is protected there are
no parts, and no total.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.core import VERSION as PROGRAM
from noisewright.core.certificates.certificate import (
    RELEASE_RANDOMNESS,
    SIMULATION_RANDOMNESS,
    read_document,
)
from noisewright.core.certificates.checker import checker, checker_release
from noisewright.core.errors import CertificateError
from noisewright.core.exact import upward
from noisewright.files.inputs import check_nesting, read_input
from noisewright.releases.output.layout import CERTIFICATE

if TYPE_CHECKING:
    from noisewright.releases.columns.plan import ColumnPlan
    from noisewright.releases.plan import Plan
    from noisewright.releases.queries.compile import QueryPlan

__all__ = ["ReleaseCertificate"]


@dataclass(frozen=True)
class ReleaseCertificate:
    """A release certificate as the JSON document it is; build one with :meth:`build`."""

    document: Mapping[str, Any]

    @classmethod
    def build(cls, plan: Plan, simulated: bool) -> ReleaseCertificate:
        """The certificate of a planned release; ``simulated`` says that its draws are not for release."""
        parts = [part for column in plan.columns if column.protected for part in _column(column, simulated)]
        parts += [part for query in plan.queries for part in _query(query, simulated)]
        document: dict[str, Any] = {
            "format": checker_release.FORMAT,
            "version": checker_release.VERSION,
            "made_by": f"noisewright {PROGRAM}",
            "dataset": plan.policy.dataset,
            "neighbours": plan.policy.relation,
            "floating": plan.policy.floating,
            "parts": parts,
            "kept": list(plan.kept),
            "context_aware": [_context(column) for column in plan.context_aware],
            "order": plan.order if plan.columns else None,
            "exact": [q.name for q in plan.queries if q.exact],
            "total": {"epsilon": str(plan.epsilon), "delta": str(plan.delta)} if parts else None,
            "randomness": SIMULATION_RANDOMNESS if simulated else RELEASE_RANDOMNESS,
        }
        return cls({**document, "digest": checker.digest(document)})

    @classmethod
    def from_json(cls, text: str) -> ReleaseCertificate:
        """Read a release certificate; :meth:`verify` proves it."""
        try:
            check_nesting(text.encode())
        except ValueError:
            raise CertificateError("this is not a certificate: its JSON is nested too deeply.") from None
        document = read_document(text)
        if not isinstance(document, dict) or document.get("format") != checker_release.FORMAT:
            raise CertificateError("this is JSON, but not the certificate of a release.")
        return cls(document)

    @classmethod
    def of_folder(cls, folder: Path) -> ReleaseCertificate:
        """Read the certificate of a release; :class:`OSError` or :class:`UnicodeError` if it cannot be read."""
        return cls.from_json(read_input(folder / CERTIFICATE).decode())

    def to_json(self) -> str:
        """The certificate as JSON text."""
        return json.dumps(self.document, indent=1, ensure_ascii=True) + "\n"

    def verify(self) -> list[str]:
        """Prove everything again, with integers alone; the proof, sentence by sentence, or a :class:`CertificateError`.

        A release with floating parts is not proved as a whole; the error then lists the proved and the unproved parts.
        """
        try:
            return checker.check(dict(self.document)).splitlines()
        except checker.NotProved as problem:
            raise CertificateError(f"the certificate does not prove its claim: {problem}") from None

    def __repr__(self) -> str:
        """Short, and without a verdict: :meth:`verify` gives that, and :attr:`document` has everything."""
        parts, total = self.document.get("parts") or (), self.document.get("total") or {}
        claims = f"claims epsilon {total.get('epsilon')} in {len(parts)} part{'' if len(parts) == 1 else 's'}"
        return f"<ReleaseCertificate of {self.document.get('dataset')!r}: {claims}; verify() proves it>"

    @property
    def digest(self) -> str:
        """The SHA-256 that names this certificate."""
        return str(self.document["digest"])


def _context(column: ColumnPlan) -> dict[str, Any]:
    """Columns that were changed without an epsilon: by which file, the guarantee in its place, and what was measured."""
    stated: Any = None if column.mechanism is None else column.mechanism.guarantee
    return {
        "columns": list(column.names),
        "measured": {
            "private": list(stated.private),
            **{
                name: upward(getattr(stated, name), 4)
                for name in ("accuracy", "prior", "distortion", "most_distortion")
            },
            "adversaries": list(stated.adversaries),
            "rows": stated.rows,
            "converged": stated.converged,
        },
        "resources": [resource.to_json() for resource in column.resources],
    }


def _column(column: ColumnPlan, simulated: bool) -> Iterator[dict[str, Any]]:
    from noisewright.releases.columns.words import distance_said

    for certificate in column.certificates(simulated):
        yield {
            "name": ", ".join(column.outputs),
            "kind": "column",
            "columns": list(column.names),
            "protects": dict(column.protection or {}),
            "times": column.times,
            "distance": distance_said(certificate, column.distance, column.protect is None),
            "price": str(column.price),
            "delta": str(column.delta),
            "certificate": dict(certificate.document),
        }


def _query(query: QueryPlan, simulated: bool) -> Iterator[dict[str, Any]]:
    for statistic in query.statistics:
        if statistic.noise is not None:
            yield {
                "name": query.name,
                "kind": "query",
                "statistic": statistic.name,
                "times": statistic.noise.times,
                "distance": "1",
                "price": str(statistic.noise.price),
                "delta": str(statistic.noise.delta),
                "certificate": dict(statistic.noise.certificate(simulated).document),
            }
