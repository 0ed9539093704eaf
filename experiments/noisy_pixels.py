"""Faces under noise on every pixel: the exponential choice against Laplace noise, with and without blocks and a blur.

Run:  noisewright reproduce noisy_pixels [--quick] [--json]

Published in a doctoral thesis as figures without numbers, for faces that are not named and with an epsilon that is not told to be
for a pixel or for a picture. So what is compared with numbers of a recomputation is the squared error of one value at a budget of
its own, averaged over all values, computed from the tables that are drawn from. The claims are tried on made-up faces of 48 x 48
pixels, with epsilon between any two pictures, and attackers who learned from obfuscated faces.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache

import numpy as np

from experiments.report import Result, Row, Table, command
from noisewright.attacks import FaceAttacks, Risk, Trial
from noisewright.images import Picture
from noisewright.images.pipeline.methods import PixelMethod
from noisewright.images.pixel_noise import level_table

ERRORS: Mapping[str, tuple[float, float]] = {
    "0.01": (10901, 10897),
    "1": (8923, 8522),
    "20": (1381, 289),
    "100": (303, 12.5),
}
"""The mean squared error of a value by its budget, for the squared and for the absolute quality."""
BLOCKS, EPSILONS, BLUR = (1, 2, 4), (700, 2_000, 7_000), 1.0
SECONDS = (10, 60)
KINDS = {"squared": ("exponential", {"quality": "squared"}), "Laplace": ("laplace", {})}


@cache
def attacks() -> FaceAttacks:
    """Made-up people, of whom attackers obfuscate all known faces once."""
    trial = Trial.of().attacks
    return FaceAttacks(trial.known, trial.asked, copies=2, taught=1)


@cache
def tried(name: str, epsilon: int, block: int, blur: float) -> Risk:
    """A mechanism on all pixels of a picture."""
    kind, more = KINDS[name]
    method = PixelMethod(kind, Fraction(epsilon), {"block": block, "blur": blur, **more})
    rng = np.random.default_rng(block)

    def obfuscate(faces: Picture) -> Picture:
        return np.stack([method.obfuscated(face, rng) for face in faces])

    return attacks().drawn(obfuscate, name)


def errors() -> list[Row]:
    """Mean squared errors of one value, from the tables themselves."""
    apart = np.subtract.outer(np.arange(256), np.arange(256)) ** 2
    rows = []
    for share, told in ERRORS.items():
        tables = (level_table(Fraction(share), quality, 256) for quality in ("squared", "absolute"))
        found = tuple(float((table.channel().matrix * apart).sum(1).mean()) for table in tables)
        rows.append(Row((share,), found, told, (), tuple(max(0.06, 0.002 * error) for error in told)))
    return rows


def result(quick: bool = False) -> Result:
    """All rows; a quick run has errors and one kind of picture."""
    rows = []
    for epsilon in EPSILONS[-1:] if quick else EPSILONS:
        for block in (4,) if quick else BLOCKS:
            for name in KINDS:
                plain, soft = (tried(name, epsilon, block, blur) for blur in (0.0, BLUR))
                both = [(r.attacks["parrot"], r.kept["ssim"], r.kept["mse"] / 1000) for r in (plain, soft)]
                rows.append(Row((f"{epsilon:,}", str(block), name), (*both[0], *both[1])))
    names = ("parrot", "SSIM", "error", "parrot,\nblur", "SSIM,\nblur", "error,\nblur")
    tables = [
        Table(
            "Squared error of one value by its budget",
            ("budget",),
            ("squared quality", "absolute quality"),
            errors(),
            "a recomputation",
            decimals=1,
        ),
        Table(
            "Faces: right guesses, SSIM and squared errors in thousands",
            ("epsilon", "block", "noise"),
            names,
            rows,
            "nothing but figures",
            decimals=3,
        ),
    ]
    note = (
        "The source sees no pattern in what a blur does to risk; here it helps the attacker. Between any two pictures, the "
        "exponential choice by squared errors hides more than Laplace noise at equal epsilon, and keeps less."
    )
    return Result(tables, _claims(rows, quick), [] if quick else [note])


def _claims(rows: list[Row], quick: bool) -> dict[str, bool]:
    """What the source says of its figures."""
    claims = {
        "A blur raises SSIM and lowers the squared error, always": all(
            row.found[4] > row.found[1] and row.found[5] < row.found[2] for row in rows
        ),
    }
    if not quick:
        by = {row.label: row.found for row in rows}
        pairs = [(by[(e, b, "squared")], by[(e, b, "Laplace")]) for e, b, name in by if name == "squared"]
        claims["At the stronger privacy the exponential choice has the smaller squared error"] = all(
            one[2] < other[2] for one, other in pairs[: len(BLOCKS)]
        )
    return claims


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("noisy_pixels", given)


if __name__ == "__main__":
    raise SystemExit(main())
