"""Adversary of ``noisewright audit --prior --gain``: their gain from the output, and the maximum gain of anyone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.cli.app import Command
from noisewright.cli.arguments import METRIC_HELP, default_metric, exact_or_none, explain, parse_metric
from noisewright.render.claims import audit_meaning, short, smallest
from noisewright.render.text import AsJson, chance, emit, facts, heading, label, labels, plural, round_up, working

if TYPE_CHECKING:
    from rich.console import RenderableType

    from noisewright.certificates.certificate import Certificate
    from noisewright.channels.audit import Audit
    from noisewright.channels.channel import Channel
    from noisewright.metrics.base import Metric
    from noisewright.qif.vulnerability import Leakage

__all__ = ["COMMAND", "GAIN_HELP", "PRIOR_HELP", "audit", "audit_leakage", "read_gain", "worst_rows"]


PRIOR_HELP = (
    "What an adversary believes before the output: uniform, or a file with a first row label,probability. "
    "Default with --gain: uniform."
)
GAIN_HELP = (
    "What an adversary is after: identity (the secret in one guess), property:A,B or property:LOW..HIGH (whether it is one of "
    "these), partition:FILE.csv (its block; a first row secret,block), metric:line or any other metric (a guess near it), or "
    "FILE.csv with a row for each action and a column for each secret. Default with --prior: identity."
)
MOST_SHOWN = 6
"""Channels with at most this many outputs have the best action for each of them shown."""

Rows = list[tuple[str, str]]


def audit_leakage(channel: Channel, prior: str, gain: str) -> tuple[dict[str, Any], Rows]:
    """The leakage to one adversary as plain data, and as rows of a page."""
    from noisewright.channels.hyper import as_prior
    from noisewright.cli.commands.design import read_prior
    from noisewright.exceptions import ParameterError
    from noisewright.qif.max_case import max_vulnerability
    from noisewright.qif.vulnerability import bayes_capacity, leakage

    if not prior:
        raise ParameterError("--prior is uniform, or a file with a first row label,probability; it was empty.")
    belief = as_prior(None if prior == "uniform" else read_prior(prior), channel.inputs)
    wanted = read_gain(gain, channel)
    found = leakage(channel, belief, wanted)
    worst = max_vulnerability(belief, channel, wanted)
    capacity = bayes_capacity(channel)
    data = {
        "adversary": {"prior": prior, "gain": gain},
        **found.to_json(),
        "worst_output": {"output": worst.output, "value": worst.value},
        "capacity": capacity,
    }
    possible = int((belief.probabilities > 0).sum())
    rows = [
        ("Adversary", f"believes {_belief(prior, possible)}, and is after {_aim(gain)}"),
        ("Before the output", f"gains {chance(found.prior)}; best action: {label(found.best_guess)}"),
        ("After the output", f"gains {chance(found.posterior)}: {_more(found)}"),
        *_actions(found),
        ("Luckiest output", f"{label(worst.output)}: gains {chance(worst.value)}"),
        (
            "Any adversary",
            f"at most {round_up(capacity, 4)} times as much, whatever they believe, with gains of 0 or more",
        ),
    ]
    return data, rows


def read_gain(text: str, channel: Channel) -> Any:
    """The gain that an option names, over the secrets of the channel."""
    from noisewright.cli.arguments import parse_metric
    from noisewright.exceptions import ParameterError
    from noisewright.io.serialization import load_blocks_csv, load_labelled_csv
    from noisewright.qif.gains import Gain, as_gain, metric_gain, partition

    kind, colon, rest = text.partition(":")
    if rest.strip() and kind == "partition":
        blocks = load_blocks_csv(rest.strip())
        return partition(channel.inputs, blocks)
    if rest.strip() and kind == "metric":
        return metric_gain(channel.inputs, parse_metric(rest))
    if text.lower().endswith(".csv") and not colon:
        actions, secrets, values = load_labelled_csv(text)
        return as_gain(Gain(values, actions, secrets, "custom"), channel.inputs)
    if text != "identity" and not (kind == "property" and rest.strip()):
        raise ParameterError(
            f"there is no gain called {text[:40]!r}; choose identity, property:A,B, partition:FILE.csv, metric:NAME, or a "
            "FILE.csv."
        )
    return as_gain(text, channel.inputs)


def _belief(prior: str, possible: int) -> str:
    if prior == "uniform":
        return f"that all {plural(possible, 'secret')} are equally likely" if possible > 1 else "in the only secret"
    return f"what {prior} says ({plural(possible, 'possible secret')})"


def _aim(gain: str) -> str:
    return "the secret itself (identity)" if gain == "identity" else gain


def _more(found: Leakage) -> str:
    if found.signed:
        return f"{chance(found.additive)} more"
    return f"{chance(found.multiplicative)} times as much ({chance(found.bits)} bits), {chance(found.additive)} more"


def _actions(found: Leakage) -> Rows:
    if len(found.best_actions) > MOST_SHOWN:
        return []
    words = "; ".join(f"at output {label(output)}: {label(action)}" for output, action in found.best_actions.items())
    return [("Best actions", words)]


# Audit --------------------------------------------------------------------------------------------------------------------
#
# ``noisewright audit``: the smallest guarantee that a channel really has, with the worst case as evidence.


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
    from noisewright.certificates.certificate import claimed
    from noisewright.channels.channel import Channel
    from noisewright.exceptions import ParameterError
    from noisewright.io.serialization import load_either
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
    from noisewright.certificates.certificate import distances_in_words, prove
    from noisewright.claims.phrases import metric_name

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
