"""Mechanisms side by side: may one replace another, what each costs, and what an adversary gains from each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright._utils.validation import is_number
from noisewright.base import Mechanism, certificate_once
from noisewright.channels.channel import Channel
from noisewright.claims.figures import decimals, float_down
from noisewright.design.utility import UtilityTable, compare_utility
from noisewright.exceptions import ParameterError
from noisewright.mechanisms.from_certificate import channel_of
from noisewright.mechanisms.registry import registry
from noisewright.qif.refinement.compare import Comparison, compare
from noisewright.qif.refinement.lattice import hull_corners
from noisewright.qif.refinement.replacement import safe_replacement
from noisewright.qif.refinement.witness import PosteriorWitness
from noisewright.qif.vulnerability import posterior_vulnerability, prior_vulnerability
from noisewright.studio.services.design import Designed, choices, code_of, designed, options_of, read_option

__all__ = [
    "CORNERS",
    "LETTERS",
    "Compared",
    "Triangle",
    "commands_of",
    "compared",
    "finite_choices",
    "script_of",
    "triangle_of",
]


CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
"""Positions of the three secrets of a triangle of beliefs."""

FACTORS = np.geomspace(1 / 8, 8, 13)
"""Curves over epsilon go this far to both sides of the epsilon that is chosen."""

LARGEST = 60
LETTERS = "ABCD"
"""Names of the items that are compared, and so their maximum number."""

FAMILIES = {"geometric": "geometric", "randomised-response": "response", "exponential": "exponential"}
"""Mechanisms whose members for every epsilon are known as a family."""


@dataclass(frozen=True)
class Compared:
    """Two mechanisms or more, and all statements about them."""

    names: tuple[str, ...]
    channels: tuple[Channel, ...]
    orders: tuple[Comparison, ...]
    """Orders between every two of them."""
    utility: UtilityTable
    curves: tuple[tuple[str, Floats, Floats], ...]
    """Epsilons for each mechanism, and the probability of guessing the secret after an output."""
    blind: float
    """Probability without any output."""
    safe: tuple[tuple[str, float], ...]
    """Largest epsilon at which the kind of each other mechanism may replace the first, against everyone on average."""

    @property
    def beyond(self) -> tuple[Floats, ...]:
        """Lines in the triangle from beliefs that no mixture of the replaced mechanism gives, to the nearest that one gives."""
        found = [one.witness for pair in self.orders for one in pair.max if isinstance(one.witness, PosteriorWitness)]
        lines = (np.asarray([one.posterior, one.nearest], np.float64) for one in found if len(one.secrets) == 3)
        return tuple(line.dot(CORNERS) for line in lines)

    @property
    def costs(self) -> list[tuple[str, str, str, str]]:
        """A row for each mechanism and loss: the expected loss at face value and after the best guess, rounded up."""
        return [
            (name, loss, "-" if (face := row.face[loss]) is None else decimals(face), decimals(row.bayes[loss]))
            for name, row in zip(self.names, self.utility.rows, strict=True)
            for loss in row.bayes
        ]


@dataclass(frozen=True)
class Triangle:
    """The beliefs that outputs lead to, as points of a triangle whose corners are the three secrets."""

    name: str
    points: Floats
    weights: Floats
    corners: Floats
    """Corners of the smallest area that holds all points, in order around it."""


def finite_choices() -> list[str]:
    """The mechanisms that can have finitely many secrets and outputs."""
    return [e.name for e in (*choices("category"), *choices("number")) if e.takes.secrets or e.takes.within]


def compared(names: Sequence[str], given: Sequence[Mapping[str, str]], metric: str = "") -> Compared:
    """Build all of them and compare every two."""
    built = [designed(name, options) for name, options in zip(names, given, strict=True)]
    made, channels = [one.mechanism for one in built], tuple(map(_channel, built))
    shown = tuple(
        name if names.count(name) == 1 else f"{name} {letter}" for name, letter in zip(names, LETTERS, strict=False)
    )
    exact = [_exact(one, channel) for one, channel in zip(made, channels, strict=True)]
    orders = tuple(
        compare(exact[i], exact[j], metric=metric or None, names=(shown[i], shown[j]))
        for i, j in combinations(range(len(exact)), 2)
    )
    secrets = channels[0].inputs
    losses = ("absolute", "squared") if all(map(is_number, secrets)) else ("zero-one",)
    safe = ((label, _safe(channels[0], name)) for label, name in zip(shown[1:], names[1:], strict=True))
    return Compared(
        shown,
        channels,
        orders,
        compare_utility(dict(zip(shown, made, strict=True)), losses),
        tuple((label, *_curve(name, options)) for label, name, options in zip(shown, names, given, strict=True)),
        float(prior_vulnerability(np.full(len(secrets), 1 / len(secrets)), "identity", secrets)),
        tuple((label, epsilon) for label, epsilon in safe if epsilon is not None),
    )


def triangle_of(name: str, channel: Channel) -> Triangle | None:
    """The beliefs of someone who held three secrets equally likely; None for another number of secrets."""
    if len(channel.inputs) != 3:
        return None
    hyper = channel.push().reduce()
    corners = hull_corners(hyper.inners.T) @ CORNERS
    turn = np.argsort(np.arctan2(*(corners - corners.mean(axis=0)).T[::-1]))
    return Triangle(name, hyper.inners.T @ CORNERS, hyper.outers, corners[turn])


def script_of(names: Sequence[str], given: Sequence[Mapping[str, str]], metric: str = "") -> str:
    """Lines of Python that compare the same."""
    lines, letters = ["import noisewright as nw", ""], LETTERS.lower()[: len(names)]
    for letter, name, options in zip(letters, names, given, strict=True):
        call = code_of(designed(name, options), registry[name]).split("mechanism = ")[1].split("\n")[0]
        lines.append(f"{letter} = {call}")
    asked = f', metric="{metric}"' if metric else ""
    lines += [f"print(nw.compare({i}, {j}{asked}))" for i, j in combinations(letters, 2)]
    each = ", ".join(f'"{letter.upper()}": {letter}' for letter in letters)
    return "\n".join([*lines, f"print(nw.design.compare_utility({{{each}}}))"])


def commands_of(designs: Sequence[str], metric: str = "") -> str:
    """The commands that compare the same; ``designs`` are those that design each."""
    asked, letters = f" --metric {metric}" if metric else "", LETTERS.lower()[: len(designs)]
    made = [f"{line} -o {letter}.json" for line, letter in zip(designs, letters, strict=True)]
    pairs = (f"noisewright compare {i}.json {j}.json{asked} --details" for i, j in combinations(letters, 2))
    return "\n".join([*made, *pairs])


def _safe(first: Channel, name: str) -> float | None:
    if name not in FAMILIES or len(first.inputs) > 12:
        return None
    return float_down(Fraction(safe_replacement(first, FAMILIES[name], accuracy=1e-4).epsilon))


def _channel(made: Designed) -> Channel:
    if made.channel is None or max(made.channel.shape) > LARGEST:
        raise ParameterError(
            f"{made.mechanism.name} has no list of up to {LARGEST} secrets and outputs here; give it a short range of whole "
            "numbers or a short list, or choose another."
        )
    return made.channel


def _exact(mechanism: Mechanism, channel: Channel) -> Any:
    """Return the object of the command: the certificate, or the channel where that names no mechanism with a channel."""
    certificate = certificate_once(mechanism)
    return channel if isinstance(channel_of(certificate), str) else certificate


def _curve(name: str, given: Mapping[str, str]) -> tuple[Floats, Floats]:
    options = {p.name: p for p in options_of(name)}
    values = {key: read_option(options[key], text) for key, text in given.items() if key in options and text.strip()}
    at = float(Fraction(str(values["epsilon"]))) if "epsilon" in values else 1.0
    epsilons = at * FACTORS
    found = []
    for epsilon in epsilons:
        channel = registry[name].make(**{**values, "epsilon": round(float(epsilon), 6)}).channel()
        uniform = np.full(len(channel.inputs), 1 / len(channel.inputs))
        found.append(float(posterior_vulnerability(uniform, channel, "identity")))
    return epsilons, np.array(found)
