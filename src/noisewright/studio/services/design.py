"""A mechanism that is being designed: its guarantee, what it does to a value, and what an observer can still believe."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright._utils.validation import is_number
from noisewright.base import Entry, Mechanism, certificate_once, described, named_errors
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.claims.totals import given_away
from noisewright.cli import parameters
from noisewright.cli.arguments import check_number
from noisewright.cli.commands.design import secrets_and_metric
from noisewright.cli.parameters import Option
from noisewright.design.bounds import delta_for, epsilon_for
from noisewright.design.mechanism import OptimalMechanism
from noisewright.design.optimal import optimal
from noisewright.design.utility import face_value_loss, posterior_loss
from noisewright.exceptions import NoChannelError, NoisewrightError, NoLossError, ParameterError
from noisewright.mechanisms.registry import entries, registry
from noisewright.mechanisms.spatial.curves import CurveMechanism
from noisewright.mechanisms.spatial.geographic import GeoLaplace
from noisewright.mechanisms.spatial.planar_laplace import PlanarLaplace
from noisewright.mechanisms.spatial.vectors import ProductLaplace, SphericalLaplace
from noisewright.metrics.base import Metric
from noisewright.numerics.exact import as_fraction, fraction_or_none, in_words
from noisewright.studio.figures import Map

__all__ = [
    "KINDS",
    "LOSSES",
    "LOSS_WORDS",
    "PRIORS",
    "Best",
    "Designed",
    "Law",
    "best",
    "best_code",
    "best_command",
    "choices",
    "code_of",
    "cost_of",
    "delta_words",
    "designed",
    "distance_of",
    "enough_for",
    "gaps_of",
    "law_of",
    "listed_map",
    "loss_of",
    "open_map",
    "options_of",
    "posterior_of",
    "python_of",
    "reach_of",
    "read_option",
    "read_prior",
]


KINDS = {
    "number": ("Numbers", ("number", "integer")),
    "category": ("Categories", ("category",)),
    "place": ("Places", ("place",)),
    "vector": ("Vectors", ("vector",)),
}
"""Words for the kinds of secrets that are designed for here, and their names in the registry."""

LOSS_WORDS = {
    "absolute": "distance from the truth",
    "squared": "its square",
    "zero-one": "whether it is wrong",
    "parity": "whether even is taken for odd",
}
"""Ways to measure an error, in words."""

PRIORS = (0.01, 0.1, 0.5)
"""Prior beliefs for which the table states the possible posteriors."""

MOST_SHOWN = 200
"""A heat map of more rows or columns than this shows nothing that an eye could see."""
CELLS = 400
"""Number of cells of the axis of a density."""
WIDEST = 120
"""Maximum width of a range drawn as a whole, in scales of the noise; of a wider one the part about the true value."""
MOST_LISTED = 500
"""More secrets in a list take longer than someone who moves a slider waits."""


@dataclass(frozen=True)
class Designed:
    """A mechanism and the known facts about it."""

    mechanism: Mechanism
    given: Mapping[str, str]
    reading: str
    proved: str | None
    """Claim that was proved again just now; None where the guarantee is a theorem about real numbers."""
    errors: Mapping[str, float]
    beliefs: tuple[tuple[float, float], ...]
    """Beliefs before, and at most after; empty where a delta bounds no belief."""
    guess: float
    channel: Channel | None

    @property
    def certificate(self) -> Certificate:
        """The certificate."""
        return certificate_once(self.mechanism)


@dataclass(frozen=True)
class Law:
    """Distribution for one secret: probabilities of outputs, or of the cells between edges."""

    secret: Any
    at: Sequence[Any] | Floats
    probability: Floats
    edges: bool


def choices(kind: str) -> list[Entry]:
    """The mechanisms for secrets of this kind that text can describe."""
    wanted = KINDS[kind][1]
    return [e for e in entries() if e.takes.kind in wanted and _described_by_text(e)]


def _described_by_text(entry: Entry) -> bool:
    found = parameters.options_of(entry.make)
    return not isinstance(found, str) and not any(p.required and p.shape == "FILE" for p in found)


def options_of(name: str) -> list[Option]:
    """The parameters of a mechanism that text can give. A link names no files of this machine."""
    found = parameters.options_of(registry[name].make)
    return [] if isinstance(found, str) else [p for p in found if p.shape != "FILE"]


def read_option(parameter: Option, text: str) -> Any:
    """Return typed text as the library takes it."""
    if parameter.flag:
        return True
    if parameter.shape == "METRIC" and text.strip().startswith("table"):
        raise ParameterError("a table of distances is read by the command line; choose a metric by its name here.")
    return parameter.read(text)


def enough_for(name: str, given: Mapping[str, str], error: str, loss: str, word: str) -> str:
    """The epsilon (or level, or delta) that it takes for an expected error, as it is typed."""
    options = {p.name: p for p in options_of(name)}
    rest = {
        key: read_option(options[key], text)
        for key, text in given.items()
        if key in options and key != word and (text.strip() or options[key].flag)
    }
    wanted = float(as_fraction(check_number(error, "the error"), "the error"))
    return in_words((delta_for if word == "delta" else epsilon_for)(name, wanted, loss, **rest))


def designed(name: str, given: Mapping[str, str], apart: float = 1.0) -> Designed:
    """Build the mechanism that the options describe; ``apart``: the distance of the two secrets that beliefs are about."""
    if name not in registry:
        raise ParameterError(f"there is no mechanism called {name!r}.")
    options = {p.name: p for p in options_of(name)}
    missing = [p.name for p in options.values() if p.required and not given.get(p.name, "").strip()]
    if missing:
        raise ParameterError(f"{name} still needs {', '.join(missing)}.")
    known = {key: text for key, text in given.items() if key in options and (text.strip() or options[key].flag)}
    values = {key: read_option(options[key], text) for key, text in known.items()}
    secrets = _secrets(values)
    if ("points" in values or "categories" in values) and secrets > MOST_LISTED:
        raise ParameterError(f"up to {MOST_LISTED} listed secrets are shown here; the command line takes more.")
    mechanism = registry[name].make(**values)
    promise, more = mechanism.guarantee, described(mechanism)
    certificate = certificate_once(mechanism)
    return Designed(
        mechanism,
        known,
        promise.in_words(apart) if apart != 1 or more.in_words is None else more.in_words(),
        certificate.verify() if certificate.numerics == "exact" else None,
        named_errors(mechanism),
        () if promise.delta else tuple((prior, promise.posterior(prior, apart)) for prior in PRIORS),
        promise.guess(apart),
        _channel(mechanism) if secrets <= MOST_SHOWN else None,
    )


def distance_of(text: str) -> float:
    """A distance between two secrets, as it is typed."""
    try:
        return float(as_fraction(check_number(text, "the distance"), "the distance"))
    except OverflowError:
        raise ParameterError("the distance of two secrets is a number that is not too large to compute with.") from None


def law_of(made: Designed, secret: Any = None) -> Law | None:
    """Return the exact law of the outputs for a secret; None where a mechanism has none.

    For a vector, the law of one coordinate, where each has noise of its own.
    """
    channel, below = made.channel, described(made.mechanism).below
    if channel is not None:
        chosen = channel.inputs[len(channel.inputs) // 2] if secret is None else secret
        if chosen not in channel.inputs:
            numbers: list[Any] = [x for x in channel.inputs if is_number(x)]
            if not numbers or not is_number(chosen):
                raise ParameterError(f"the chosen secret must be one of {len(channel.inputs)} listed ones.")
            wanted: Any = chosen
            chosen = min(numbers, key=lambda x: abs(float(x) - float(wanted)))
        return Law(chosen, channel.outputs, channel.row(chosen), edges=False)
    one = _coordinate(made.mechanism)
    if one is not None:
        return law_of(one, secret[0] if isinstance(secret, tuple) else secret)
    if below is None:
        return None
    chosen = _middle(made.mechanism) if secret is None else secret
    if not is_number(chosen) or not math.isfinite(float(chosen)):
        raise ParameterError("the true value is a number here.")
    chosen = float(chosen)
    low, high = _span(made, chosen)
    edges = np.linspace(low, high, CELLS + 1)
    chances = below(np.array([chosen]), edges)[0]
    return Law(chosen, edges, np.diff(chances), edges=True)


def reach_of(made: Designed) -> tuple[Floats, Floats] | None:
    """Return distances from the truth, and the probability that noise is at most that long; None without such a law."""
    noise = made.mechanism
    if not isinstance(noise, SphericalLaplace):
        return None
    lengths = np.linspace(0, noise.quantile(0.999), CELLS // 2)
    return lengths, np.array([noise.cdf(length) for length in lengths])


def gaps_of(made: Designed, low: float, high: float) -> list[tuple[float, float]]:
    """The parts between two ends where nothing may come out."""
    feasible = getattr(made.mechanism, "feasible", None)
    if feasible is None:
        return []
    ends = [low, *(min(max(float(e), low), high) for part in feasible.components for e in part if e is not None), high]
    if feasible.components[0][0] is None:
        ends = ends[1:]
    if feasible.components[-1][1] is None:
        ends = ends[:-1]
    return [(a, b) for a, b in zip(ends[::2], ends[1::2], strict=False) if b > a]


def read_prior(text: str, secrets: Sequence[Any]) -> list[float] | None:
    """A prior as it is typed: a number for each secret, between commas; None for nothing, which is all alike."""
    if not text.strip():
        return None
    parts = [check_number(part.strip(), "a probability") for part in text.split(",")]
    if len(parts) != len(secrets):
        raise ParameterError(f"a prior has a number for each of {len(secrets)} secrets, not {len(parts)}.")
    return [float(as_fraction(part, "a probability")) for part in parts]


def loss_of(made: Designed, asked: str) -> str:
    """Return the requested loss, or whether a guess is wrong where secrets are not numbers or places."""
    return asked if asked in made.errors else "zero-one"


def cost_of(made: Designed, loss: str, prior: list[float] | None) -> tuple[float | None, float] | None:
    """The expected loss at a prior: of outputs taken at face value, and after the best guess; None without a channel."""
    if made.channel is None:
        return None
    best = posterior_loss(prior, made.channel, loss).value
    try:
        return face_value_loss(prior, made.channel, loss), best
    except NoLossError:  # an output is not a secret
        return None, best


def delta_words(made: Designed) -> str | None:
    """Describe the meaning of a delta, for someone who decides about it; None without one."""
    delta = Fraction(made.mechanism.guarantee.record()["delta"])
    if not delta:
        return None
    return given_away(delta)


def posterior_of(
    made: Designed, observed: Any, prior: list[float] | None = None
) -> tuple[tuple[Any, ...], Floats] | None:
    """Return the posterior after an output for this prior (all secrets alike without one); None without a channel."""
    if made.channel is None or observed not in made.channel.outputs:
        return None
    hyper = made.channel.push(prior)
    if observed not in hyper.outputs:  # it never comes out
        return None
    return made.channel.inputs, hyper.inners[:, hyper.outputs.index(observed)]


def code_of(made: Designed, entry: Entry, loss: str = "", apart: float = 1.0) -> str:
    """Lines of Python that build the same mechanism, and print its guarantee and its error."""
    import noisewright

    options = {p.name: p for p in options_of(entry.name)}
    values = {k: read_option(options[k], text) for k, text in made.given.items()}
    asked = ", ".join(f"{name}={python_of(value)}" for name, value in values.items())
    room, name = entry.make.__module__.split(".")[1], entry.make.__name__
    if getattr(noisewright, name, None) is entry.make:
        call = f"nw.{name}({asked})"
    elif getattr(getattr(noisewright, room, None), name, None) is entry.make:
        call = f"nw.{room}.{name}({asked})"
    else:
        call = f'nw.mechanisms.build("{entry.name}", {asked})'
    return (
        "import noisewright as nw\n\n"
        f"mechanism = {call}\n"
        f"print(mechanism.guarantee.in_words({'' if apart == 1 else f'{apart:g}'}))\n"
        "print(mechanism.certificate().verify())"
        + (f'\nprint(mechanism.error("{loss}"))' if loss in made.errors else "")
    )


def python_of(value: Any) -> str:
    """A value as it is written in Python, with ``nw`` for the library."""
    if isinstance(value, Fraction):
        decimal = in_words(value)
        exact = decimal if fraction_or_none(decimal) == value else str(value)
        return repr(exact) if value.denominator != 1 else str(value.numerator)
    if isinstance(value, list) and (grid := _as_grid(value)) is not None:
        return f"[(x, y) for x in {grid[0]} for y in {grid[1]}]"
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(python_of, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, Metric):
        return re.sub(r"\b([A-Z]\w+)\(", r"nw.metrics.\1(", repr(value))
    return repr(value)


def _as_grid(values: list[Any]) -> tuple[range, range] | None:
    """The two ranges whose places a list has in order, where it has."""
    if len(values) < 6 or not all(isinstance(v, tuple) and len(v) == 2 for v in values):
        return None
    axes = []
    for place in (0, 1):
        steps = list(dict.fromkeys(value[place] for value in values))
        if len(steps) < 2 or not all(isinstance(step, int) for step in steps) or steps[1] <= steps[0]:
            return None
        axes.append(range(steps[0], steps[-1] + 1, steps[1] - steps[0]))
    return (axes[0], axes[1]) if values == [(x, y) for x in axes[0] for y in axes[1]] else None


def _secrets(values: Mapping[str, Any]) -> float:
    """Return the number of secrets, as far as the parameters determine it."""
    ends = [float(end) for end in values.get("within", ()) if isinstance(end, (int, Fraction))]
    listed = values.get("points", values.get("categories", ()))
    return max(ends[1] - ends[0] if len(ends) == 2 else 0.0, listed if isinstance(listed, int) else len(listed))


def _channel(mechanism: Mechanism) -> Channel | None:
    try:
        channel = mechanism.channel()
    except (NoChannelError, NoisewrightError):
        return None
    return channel if max(channel.shape) <= MOST_SHOWN else None


def _coordinate(mechanism: Mechanism) -> Designed | None:
    """The noise of one coordinate as a mechanism on numbers; None for all but vectors with noise of its own on each."""
    if isinstance(mechanism, ProductLaplace) or (isinstance(mechanism, CurveMechanism) and mechanism.within is None):
        return designed("laplace", {"epsilon": str(1 / mechanism.scale), "lattice": str(mechanism.lattice.step)})
    return None


def _middle(mechanism: Mechanism) -> float:
    """A value in the middle of the first part of the range, or zero."""
    feasible = getattr(mechanism, "feasible", None)
    for low, high in feasible.components if feasible is not None else ():
        ends = [float(end) for end in (low, high) if end is not None]
        return sum(ends) / len(ends) if ends else 0.0
    return 0.0


def _span(made: Designed, secret: float) -> tuple[float, float]:
    """Return the range of outputs about a secret: the whole range, or the part of it where noise can be seen."""
    scale = float(described(made.mechanism).scale or 1.0)
    low, high = secret - 6 * scale, secret + 6 * scale
    feasible = getattr(made.mechanism, "feasible", None)
    if feasible is not None and feasible.components:
        first, last = feasible.components[0][0], feasible.components[-1][1]
        if first is not None and last is not None and float(last) - float(first) <= WIDEST * scale:
            return float(first), float(last)
        low = low if first is None else max(low, float(first))
        high = high if last is None else min(high, float(last))
    return low, high


# Places -------------------------------------------------------------------------------------------------------------------
#
# Laws and beliefs about places, as cells of a map: of a list of places, or about a true one on the open plane.


MAP_CELLS = 61
SHOWN = 0.95
"""A map of the open plane goes as far as noise does with this probability."""


def listed_map(labels: Sequence[Any], numbers: Floats, place: Any, what: str, words: str) -> Map | None:
    """Return numbers of listed places; None where the labels are not pairs of numbers."""
    if not all(_is_place(label) for label in (*labels, place)):
        return None
    east, north = (np.unique([float(label[i]) for label in labels]) for i in (0, 1))
    values: list[list[float | None]] = [[None] * len(east) for _ in north]
    for label, number in zip(labels, numbers, strict=True):
        values[int(np.searchsorted(north, float(label[1])))][int(np.searchsorted(east, float(label[0])))] = float(
            number
        )
    return Map(
        east, north, values, (float(place[0]), float(place[1])), what, ("first coordinate", "second coordinate"), words
    )


def open_map(mechanism: Mechanism, place: Any) -> Map | None:
    """The density about a true place; None for mechanisms that are not about places of the plane."""
    on_earth = isinstance(mechanism, GeoLaplace)
    plane = mechanism.plane if isinstance(mechanism, GeoLaplace) else mechanism
    if not isinstance(plane, PlanarLaplace):
        return None
    if place is not None and not _is_place(place):
        raise ParameterError("the true place is two numbers joined by a colon, such as 120:35.")
    true = (0.0, 0.0) if place is None or on_earth else (float(place[0]), float(place[1]))
    half, most = plane.quantile(0.5), plane.quantile(SHOWN)
    steps = np.linspace(-most, most, MAP_CELLS)
    away = np.stack(np.meshgrid(steps, steps), axis=-1)
    unit = "metres" if on_earth else "units"
    return Map(
        true[0] + steps,
        true[1] + steps,
        [[float(value) for value in row] for row in plane.density(away)],
        true,
        f"per square {unit.removesuffix('s')}",
        ("metres east of the true place", "metres north of it")
        if on_earth
        else ("first coordinate", "second coordinate"),
        f"Half of what comes out is within {half:.4g} {unit} of the true place, 95 % within {most:.4g}.",
    )


def _is_place(label: Any) -> bool:
    return isinstance(label, tuple) and len(label) == 2 and all(is_number(part) for part in label)


# Best ---------------------------------------------------------------------------------------------------------------------
#
# The best mechanism there is for a metric, a budget, a loss and a prior, and why nothing is better.


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
