"""``noisewright audit``: the smallest guarantee that a channel really has, with the worst case as evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright.cli.commands.audit._leakage import GAIN_HELP, PRIOR_HELP, audit_leakage
from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.metrics import METRIC_HELP, default_metric, exact_or_none, explain, parse_metric
from noisewright.cli.shared.output import (
    AsJson,
    chance,
    emit,
    facts,
    heading,
    label,
    labels,
    plural,
    printable,
    round_up,
    working,
)
from noisewright.render import audit_meaning, short, smallest

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.core.certificates.certificate import Certificate
    from noisewright.core.channels.audit import Audit
    from noisewright.core.channels.channel import Channel
    from noisewright.core.metrics.metric import Metric

__all__ = ["COMMAND", "audit", "worst_rows"]

Rows = list[tuple[str, str]]

FIELDS = (
    "certificate",
    "secrets",
    "outputs",
    "metric",
    "metric_from",
    "smallest",
    "reading",
    "at_epsilon",
    "at_delta",
    "leakage",
)
"""Keys that the JSON object always has: null where one does not apply or was not requested."""


def audit(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A channel (.json, .csv, .npz) or a certificate.")],
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            help=METRIC_HELP + " Default: line if every secret is a number, otherwise discrete; a certificate's own "
            "metric for a certificate.",
        ),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(metavar="E", help="Also find the smallest delta for this epsilon.")
    ] = None,
    delta: Annotated[
        str | None, typer.Option(metavar="D", help="Also find the smallest epsilon for this delta.")
    ] = None,
    prior: Annotated[str | None, typer.Option(metavar="uniform|FILE.csv", help=PRIOR_HELP)] = None,
    gain: Annotated[str | None, typer.Option(metavar="GAIN", help=GAIN_HELP)] = None,
    as_json: AsJson = False,
) -> None:
    """Find the smallest epsilon that a channel really has, with the worst pair of secrets as evidence.

    Epsilon bounds how much likelier any output is under one secret than under another: a factor of at most e^epsilon for
    each unit of distance between them. Delta is an extra probability that any event may have beyond that.

    With --prior or --gain also measure what one adversary gains from the output: somebody who believes the prior and is after
    the gain. It is compared with what anybody can gain.
    """
    from noisewright.core.certificates.claims import claimed
    from noisewright.core.channels.channel import Channel
    from noisewright.core.errors import ParameterError
    from noisewright.files.channels import load_either
    from noisewright.mechanisms.from_certificate import channel_of

    at_epsilon, at_delta = exact_or_none(epsilon, "epsilon"), exact_or_none(delta, "delta")
    chosen = None if metric is None else parse_metric(metric)
    data: dict[str, Any] = {"file": file, "kind": "channel", **dict.fromkeys(FIELDS)}
    rows: Rows = []
    with working("auditing"):
        found = load_either(file)
        if isinstance(found, Channel):
            channel, measure = found, chosen or default_metric(found.inputs)
            origin = "option" if chosen else "default"
        else:
            data["kind"], data["certificate"] = "certificate", _certificate(found, rows)
            behind = channel_of(found) if data["certificate"]["proved"] else "it is not proved."
            if isinstance(behind, str):
                if data["certificate"]["proved"] and (chosen or epsilon or delta or prior or gain):
                    raise ParameterError(f"{file}: only the certificate's own claim can be shown here: {behind}")
                if data["certificate"]["proved"]:
                    data["reading"] = claimed(dict(found.document)).in_words()
                    rows += [("In words", data["reading"]), ("Channel", f"none to audit: {behind}")]
                emit(data, lambda: _page(file, rows), as_json)
                if not data["certificate"]["proved"]:
                    raise typer.Exit(1)
                return
            channel, measure = behind[0], chosen or behind[1]
            origin = "option" if chosen else "certificate"
        data.update(secrets=channel.shape[0], outputs=channel.shape[1], metric=str(measure), metric_from=origin)
        size = f"{plural(channel.shape[0], 'secret')} to {plural(channel.shape[1], 'output')}"
        rows += [("Channel", size), ("Metric", _metric_row(measure, origin))]
        worst = _smallest(channel, measure, data, rows)
        if at_epsilon is not None:
            _delta_at(channel, measure, at_epsilon, str(epsilon), data, rows)
        if at_delta is not None:
            _epsilon_at(channel, worst, at_delta, str(delta), data, rows)
        if prior is not None or gain is not None:
            data["leakage"], more = audit_leakage(
                channel, "uniform" if prior is None else prior, "identity" if gain is None else gain
            )
            rows += more
    emit(data, lambda: _page(file, rows), as_json)


def _certificate(certificate: Certificate, rows: Rows) -> dict[str, Any]:
    from noisewright.claims.phrases import metric_name
    from noisewright.core.certificates.claims import distances_in_words, prove

    document, bits = dict(certificate.document), certificate.randomness
    claim, reason = prove(document)
    if claim is None:
        rows.append(("Certificate", f"NOT PROVED: {reason}"))
        return {"proved": False, "claim": None, "reason": reason}
    rows.append(("Certificate", f"proved: {short(claim)}"))
    rows.append(("Distances", distances_in_words(document)))
    rows.append(("Random bits", f"{bits} (as stated)"))
    return {
        "proved": True,
        "claim": claim,
        "reason": None,
        "mechanism": document.get("mechanism"),
        "epsilon": str(document["claim"]["epsilon"]),
        "metric": metric_name(document["claim"]["metric"]),
        "distances": distances_in_words(document),
        "randomness": bits,
    }


def _smallest(channel: Channel, metric: Metric, data: dict[str, Any], rows: Rows) -> Audit:
    found = channel.epsilon(metric)
    reading = audit_meaning(found, found)
    data.update(smallest=_audit_json(found), reading=reading)
    rows += [*worst_rows(found), ("In words", reading)]
    return found


def worst_rows(found: Audit) -> Rows:
    """Return the smallest epsilon, and the pair of secrets and the output that need it."""
    rows = [("Smallest epsilon", smallest(found))]
    if found.pair is not None:
        rows.append(("Worst pair", f"{label(found.pair[0])} and {label(found.pair[1])}"))
    if found.probabilities is not None:
        here, there = found.probabilities
        rows.append(("Worst output", f"{label(found.output)}: probability {chance(here)} against {chance(there)}"))
    return rows


def _delta_at(channel: Channel, metric: Metric, epsilon: Any, given: str, data: dict[str, Any], rows: Rows) -> None:
    event = channel.worst_event(epsilon, metric)
    data["at_epsilon"] = {
        "epsilon": event.epsilon,
        "metric": str(metric),
        "delta": event.delta,
        "pair": event.pair,
        "outputs": event.outputs,
    }
    needs = ""
    if event.pair is not None:
        needs = f", needed by {label(event.pair[0])} against {label(event.pair[1])} on outputs {labels(event.outputs)}"
    rows.append((f"At epsilon = {given}", f"delta = {round_up(event.delta, 4)}{needs}"))


def _epsilon_at(channel: Channel, worst: Audit, delta: Any, given: str, data: dict[str, Any], rows: Rows) -> None:
    metric = worst.metric
    found = channel.epsilon_at(delta, metric)
    reading = audit_meaning(found, worst)
    data["at_delta"] = {**_audit_json(found), "reading": reading}
    needs = "" if found.pair is None else f", needed by {label(found.pair[0])} against {label(found.pair[1])}"
    rows.append((f"At delta = {given}", f"{smallest(found)}{needs}"))
    rows.append(("", reading))


def _audit_json(found: Audit) -> dict[str, Any]:
    return {
        "epsilon": found.value,
        "metric": str(found.metric),
        "delta": found.delta,
        "pair": found.pair,
        "output": found.output,
        "probabilities": found.probabilities,
    }


def _metric_row(metric: Metric, origin: str) -> str:
    why = {
        "option": "as asked",
        "default": "chosen because every secret is a number" if str(metric) == "line" else "chosen by default",
        "certificate": "the certificate's own",
    }[origin]
    words = explain(metric)
    return f"{metric}: {words} ({why})" if words else f"{metric} ({why})"


def _page(file: str, rows: Rows) -> list[RenderableType]:
    return [heading(file), facts((what, printable(value)) for what, value in rows)]


COMMAND = Command(audit)
