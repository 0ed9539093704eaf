"""Groups of ten in a household survey: what five mechanisms cost where answers are far from equally likely.

Run:  noisewright reproduce survey_microdata [--quick] [--json]

Published as figures 5.13 and 5.14 of a doctoral thesis on range-adherent mechanisms: the Canadian household survey of 2011,
341,253 records of Ontario in groups of ten, with 1000 noisy draws for each group; the mean family size (1 to 7, 2.02 on
average), and the number of people with a university degree (2.27). That file may not be passed on. Here groups are ten
independent draws with shares that have those averages, so that the law of their answers is known and nothing is drawn:
errors are computed from matrices. Family sizes are counted from 0, which changes no error.

The published guesses are made as if all answers were equally likely, which in a survey they are not. The last column has what
somebody guesses who knows the shares, which are public.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from experiments.comparison import SOURCE, answers, mechanisms
from experiments.report import Result, Row, Table, command
from noisewright._typing import Floats
from noisewright.channels.channel import Channel
from noisewright.channels.hyper import uniform
from noisewright.design.optimal import optimal
from noisewright.design.utility import face_value_loss, posterior_loss, prior_loss

SECONDS = (1, 30)
GROUP = 10
SIZES = (0.48, 0.26, 0.105, 0.10, 0.038, 0.012, 0.005)
"""How often a family has one to seven members."""
DEGREES = 0.227
NAMES = ("face value", "guessed as if\nall were alike", "guessed knowing\nthe shares")
DESIGNED = "variant 1 for the shares"
CASES = (("mean", "0.1"), ("mean", "0.2"), ("mean", "1"), ("count", "0.2"), ("count", "1"))
REPORTED: dict[tuple[str, str], str] = {
    ("mean", "snapped Laplace"): "2.1504 1.8023 | 1.6327 1.4391 | .5309 .4614",
    ("mean", "snapped staircase"): "2.1496 1.8017 | 1.6300 1.4367 | .5094 .4458",
    ("mean", "normalised Laplace"): "2.0103 1.9532 | 1.8306 1.8548 | .8868 .8419",
    ("mean", "variant 1"): "1.8024 1.8024 | 1.4426 1.4426 | .4552 .4552",
    ("mean", "variant 2"): "1.7942 1.8325 | 1.4521 1.4604 | .4678 .4600",
    ("count", "truncated geometric"): "2.7866 2.1485 | .7600 .7600",
    ("count", "explicit fair"): "2.8186 2.5012 | .9404 .9404",
    ("count", "normalised Laplace"): "2.9889 2.6036 | 1.5083 1.4310",
    ("count", "variant 1"): "2.1485 2.1485 | .7600 .7600",
    ("count", "variant 2"): "2.4409 2.2109 | .7665 .7665",
}


def law(query: str) -> Floats:
    """How likely each answer of a group is."""
    if query == "mean":
        sums = np.ones(1)
        for _ in range(GROUP):
            sums = np.convolve(sums, SIZES)
        return np.asarray(sums / sums.sum())
    ways = [math.comb(GROUP, k) * DEGREES**k * (1 - DEGREES) ** (GROUP - k) for k in range(GROUP + 1)]
    return np.array(ways) / math.fsum(ways)


def errors(query: str, channel: Channel) -> tuple[float, float, float]:
    """Expected absolute errors over the groups: of the output, of the guess if all answers were alike, and of the best guess."""
    prior = law(query)
    remap = posterior_loss(uniform(channel.inputs), channel, "absolute").remap
    places, guesses = (np.array([float(v) for v in values]) for values in (channel.inputs, remap))
    guessed = float(prior @ (channel.matrix * np.abs(places[:, None] - guesses)).sum(axis=1))
    return (
        face_value_loss(prior, channel, "absolute"),
        guessed,
        posterior_loss(prior, channel, "absolute").value,
    )


def run(query: str, epsilon: str, *, shaped: bool = True) -> Iterator[Row]:
    """One row for each mechanism, and one for the program that knows the shares; ``shaped`` includes variant 2, the slowest."""
    place = [e for q, e in CASES if q == query].index(epsilon)
    for name, build in mechanisms(query, GROUP, epsilon, highest=len(SIZES) - 1).items():
        if name != "variant 2" or shaped:
            told = tuple(float(v) for v in REPORTED[query, name].split("|")[place].split())
            # The programs fix the error where all answers are alike, which is another; only on counts has the first one solution.
            loose = (0, 1) if name == "variant 2" or (query, name) == ("mean", "variant 1") else ()
            yield Row((query, epsilon, name), errors(query, build()), (*told, None), loose)
    asked = answers(query, GROUP, len(SIZES) - 1)
    made = optimal(asked.points, epsilon=epsilon, loss="absolute", metric=asked.metric, prior=law(query))
    yield Row((query, epsilon, DESIGNED), errors(query, made.channel()))


def blind(query: str) -> float:
    """The error of the best guess at a group without any output."""
    asked = answers(query, GROUP, len(SIZES) - 1)
    return prior_loss(law(query), "absolute", asked.points).value


def result(quick: bool = False) -> Result:
    """Both queries; a quick run has one case of each, without variant 2."""
    cases = (("mean", "0.2"), ("count", "1")) if quick else CASES
    rows = [row for query, epsilon in cases for row in run(query, epsilon, shaped=not quick)]
    found = {row.label: row.found for row in rows}
    never = all(
        found[query, epsilon, DESIGNED][0]
        <= min(f[0] for label, f in found.items() if label[:2] == (query, epsilon)) + 1e-9
        for query, epsilon in cases
    )
    worse = all(
        f[1] > blind("mean") for (query, epsilon, name), f in found.items() if query == "mean" and name != DESIGNED
    )
    findings = {
        f"no mechanism has a smaller error at face value than {DESIGNED}": never,
        f"of means every published error is above {blind('mean'):.4f}, that of a guess without looking": worse,
    }
    if not quick:
        at = {name: found["mean", "0.1", name][0] for name in ("variant 1", "variant 2")}
        findings["of means variant 2 beats variant 1 at face value at epsilon 0.1"] = at["variant 2"] < at["variant 1"]
    title = "Expected absolute errors over groups of ten"
    notes = [
        f"Without any output, the best guess at the mean is off by {blind('mean'):.4f}, at the count by {blind('count'):.4f}."
    ]
    table = Table(title, ("query", "epsilon", "mechanism"), NAMES, rows, f"{SOURCE}, on the same substitute")
    return Result([table], findings, notes)


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("survey_microdata", given)


if __name__ == "__main__":
    raise SystemExit(main())
