"""Adversary of ``noisewright audit --prior --gain``: their gain from the output, and the maximum gain of anyone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from noisewright.cli.shared.output import chance, label, plural, round_up

if TYPE_CHECKING:
    from noisewright.adversary.measures.vulnerability import Leakage
    from noisewright.core.channels.channel import Channel

__all__ = ["GAIN_HELP", "PRIOR_HELP", "audit_leakage", "read_gain"]

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
    from noisewright.adversary.measures.max_case import max_vulnerability
    from noisewright.adversary.measures.vulnerability import bayes_capacity, leakage
    from noisewright.cli.commands.design.optimal import read_prior
    from noisewright.core.errors import ParameterError
    from noisewright.optimality.priors import as_prior

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
    from noisewright.adversary.measures.gallery import Gain, as_gain, metric_gain, partition
    from noisewright.cli.shared.metrics import parse_metric
    from noisewright.core.errors import ParameterError
    from noisewright.files.channels import load_blocks_csv, load_labelled_csv

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
