"""The best mechanism there is for a metric, a budget, a loss and a prior, and why nothing is better."""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from noisewright.cli.commands.design.optimal import secrets_and_metric
from noisewright.cli.shared.metrics import check_number
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.channels.channel import Channel
from noisewright.core.errors import ParameterError
from noisewright.core.metrics.metric import Metric
from noisewright.optimality.design.mechanism import OptimalMechanism
from noisewright.optimality.design.optimal import optimal
from noisewright.studio.answers.design import python_of, read_prior

__all__ = ["LOSSES", "Best", "best", "best_code", "best_command"]

LOSSES = ("absolute", "squared", "zero-one", "parity")
HEAD = r"label,probability\n"
LARGEST = 50
"""More secrets take longer than someone who moves a slider waits."""


@dataclass(frozen=True)
class Best:
    """The best mechanism and the known facts about it."""

    mechanism: OptimalMechanism
    channel: Channel
    certificate: Certificate
    proved: str


def best(given: Mapping[str, str]) -> Best:
    """Solve the problem in the options: ``metric`` with its secrets, ``epsilon``, ``loss``, ``objective``, ``shape``,
    ``prior``.
    """
    secrets, metric = _space(given)
    made = optimal(
        secrets,
        epsilon=check_number(given.get("epsilon", ""), "epsilon"),
        loss=given.get("loss") or ("zero-one" if any(isinstance(s, str) for s in secrets) else "absolute"),
        metric=metric,
        prior=read_prior(given.get("prior", ""), secrets),
        shape=tuple(filter(None, (part.strip() for part in given.get("shape", "").split(",")))),
        objective=given.get("objective") or "bayes",  # type: ignore[arg-type]
    )
    certificate = made.certificate()
    return Best(made, made.channel(), certificate, certificate.verify())


def best_code(given: Mapping[str, str]) -> str:
    """Lines of Python that find the same."""
    secrets, metric = _space(given)
    listed = repr(secrets) if isinstance(secrets, range) else repr(list(secrets))
    asked = [f"epsilon={given['epsilon']!r}", f"metric={python_of(metric)}"]
    asked += [f"{name}={given[name]!r}" for name in ("loss", "objective") if given.get(name)]
    if given.get("shape"):
        asked.append(f"shape={tuple(part.strip() for part in given['shape'].split(','))!r}")
    if given.get("prior"):
        asked.append(f"prior={read_prior(given['prior'], secrets)}")
    return f"import noisewright as nw\n\nbest = nw.optimal({listed}, {', '.join(asked)})\nprint(best.in_words())"


def best_command(given: Mapping[str, str]) -> str:
    """The command that finds the same; a prior is a file there."""
    names = ("metric", "epsilon", "loss", "objective", "shape")
    options = [f"--{name} {shlex.quote(given[name])}" for name in names if given.get(name)]
    line = f"noisewright design optimal {' '.join(options)}"
    if not given.get("prior"):
        return line
    secrets, _ = _space(given)
    rows = "".join(f"{s},{p}\\n" for s, p in zip(secrets, read_prior(given["prior"], secrets) or (), strict=True))
    return f"printf {shlex.quote(HEAD + rows)} > prior.csv\n{line} --prior prior.csv"


def _space(given: Mapping[str, str]) -> tuple[Sequence[Hashable], Metric]:
    text = given.get("metric", "")
    if text.strip().startswith("table"):
        raise ParameterError("a table of distances is read by the command line; write the metric and the secrets here.")
    secrets, metric = secrets_and_metric(text)
    if len(secrets) > LARGEST:
        raise ParameterError(f"up to {LARGEST} secrets are solved here; the command line takes more.")
    return secrets, metric
