"""Channel or certificate of a user: its real guarantee, and a repaired one that is proved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noisewright.cli.shared.metrics import check_number, default_metric, parse_metric
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.claims import claimed, prove
from noisewright.core.channels.audit import Audit
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import DataError, ParameterError
from noisewright.files.channels import load_either
from noisewright.mechanisms.from_certificate import channel_of
from noisewright.render import audit_meaning
from noisewright.studio.answers.design import python_of

__all__ = ["Audited", "Repaired", "audit_code", "audited", "example_channel", "repaired"]

LARGEST = 2000


@dataclass(frozen=True)
class Audited:
    """Real guarantee of a file."""

    claim: str | None
    """Claim of a certificate, if it is proved."""
    reason: str | None
    """Why a certificate is not proved, or has no channel."""
    channel: Channel | None
    found: Audit | None
    reading: str


@dataclass(frozen=True)
class Repaired:
    """A channel with the guarantee that was requested, and how much of its probability had to move."""

    channel: Channel
    certificate: Certificate
    proved: str
    change: float


def example_channel() -> Channel:
    """A channel that someone rounded by hand: it looks like a geometric mechanism, and is not quite one."""
    return Channel([[0.7, 0.2, 0.1], [0.26, 0.5, 0.24], [0.1, 0.2, 0.7]], inputs=["low", "middle", "high"])


def audited(thing: Path | Channel, metric: str = "") -> Audited:
    """The smallest epsilon of a channel, or of the one behind a certificate."""
    chosen = parse_metric(_named(metric)) if metric.strip() else None
    found = thing if isinstance(thing, Channel) else load_either(thing)
    claim = reason = None
    if isinstance(found, Certificate):
        claim, reason = prove(dict(found.document))
        if claim is None:
            return Audited(None, reason, None, None, "Nothing is proved by this certificate.")
        behind = channel_of(found)
        if isinstance(behind, str):
            return Audited(claim, behind, None, None, claimed(dict(found.document)).in_words())
        channel, measure = behind[0], chosen or behind[1]
    else:
        channel, measure = found, chosen or default_metric(found.inputs)
    if max(channel.shape) > LARGEST:
        raise DataError(f"up to {LARGEST} secrets and outputs are audited here; the command line takes more.")
    smallest = channel.epsilon(measure)
    return Audited(claim, None, channel, smallest, audit_meaning(smallest))


def repaired(channel: Channel, epsilon: str, metric: Any) -> Repaired:
    """Return the nearest channel of Noisewright that has this guarantee, proved with integers."""
    if not epsilon.strip():
        raise ParameterError("say which epsilon the repaired channel must have.")
    made = channel.certify(check_number(epsilon, "epsilon"), metric, max_change=1.0)
    certificate = Certificate.of(made)
    return Repaired(made.channel(), certificate, certificate.verify(), made.change)


def audit_code(name: str, metric: str, epsilon: str, found: Audited) -> str:
    """Lines of Python that audit a file, and with an ``epsilon`` repair it."""
    asked = f", metric={metric!r}" if metric.strip() else ""
    behind = "" if found.claim is None or found.channel is None else ".channel()"
    lines = ["import noisewright as nw", "", f"channel = nw.load({name!r}){behind}", f"print(nw.audit(channel{asked}))"]
    measure = None if found.found is None else found.found.metric
    if epsilon:
        lines.append(f"repaired = channel.certify({epsilon!r}, {python_of(measure)}, max_change=1)")
        lines.append('nw.save(nw.Certificate.of(repaired), "certificate.json")')
    return "\n".join(lines)


def _named(metric: str) -> str:
    if metric.strip().startswith("table"):
        raise ParameterError("a table of distances is read by the command line; choose a metric by its name here.")
    return metric
