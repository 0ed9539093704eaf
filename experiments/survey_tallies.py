"""A survey of two people or more: noise on every answer against noise on the tally, with the same promise to everybody.

Run:  noisewright reproduce survey_tallies [--quick] [--json]

Published for two people in a doctoral thesis on metric privacy and information flow; the larger surveys are a
recomputation. Each participant tells the truth with probability 1/2 and otherwise throws a coin; or a trusted curator adds
geometric noise to the tally. Both promise ln 3 to every participant. The numbers are how likely one participant's answer
and the true tally are guessed, with every answer equally likely beforehand: the randomised tally is safer for the
participants and less accurate for everybody else.
"""

from __future__ import annotations

from experiments.report import Result, Row, Table, command
from noisewright.attacks.local_and_central import TallySurvey
from noisewright.claims.figures import upward

MEASURES = ("one participant", "the tally")
REPORTED = {
    (2, "randomised tally"): (0.625, 0.59375),
    (2, "noisy tally"): (0.6667, 0.625),
    (3, "randomised tally"): (0.625, 0.492188),
    (3, "noisy tally"): (0.666667, 0.5625),
    (4, "randomised tally"): (0.59375, 0.436523),
    (4, "noisy tally"): (0.638889, 0.5625),
    (6, "randomised tally"): (0.578125, 0.360359),
    (6, "noisy tally"): (0.622685, 0.53125),
    (10, "randomised tally"): (0.561523, 0.282560),
    (10, "noisy tally"): (0.603090, 0.511230),
}
SIZES = tuple(dict.fromkeys(size for size, _ in REPORTED))
SOURCE = "two people as published, larger surveys from a recomputation"
SECONDS = (1, 1)


def run(size: int) -> list[Row]:
    """One row for each way to publish the tally."""
    return [
        Row((str(size), row.name), (row.participant, row.tally), REPORTED.get((size, row.name)))
        for row in TallySurvey(size).compare()
    ]


def result(quick: bool = False) -> Result:
    """All sizes; a quick run has the two smallest."""
    rows = [row for size in (SIZES[:2] if quick else SIZES) for row in run(size)]
    notes = [
        f"Both promise epsilon = {upward(TallySurvey(2).epsilon, 7)} (ln 3) per answer that differs (Hamming distance)."
    ]
    title = "How likely the best guess is right"
    return Result([Table(title, ("people", "tally"), MEASURES, rows, SOURCE)], notes=notes)


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("survey_tallies", given)


if __name__ == "__main__":
    raise SystemExit(main())
