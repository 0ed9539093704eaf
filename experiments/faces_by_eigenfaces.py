"""Faces by noisy components: attackers on pictures, the best one on codes, and what is kept.

Run:  noisewright reproduce faces_by_eigenfaces [--quick] [--json]

Published in a doctoral thesis as figures without numbers, for a large network and half a million photographs that cannot be
had without a licence. The numbers that ours are compared with are those of a recomputation: made-up faces of the generator
facesjs, principal components of 68 people (eight expressions each) as the public model, and 67 others who are hidden;
attackers know seven expressions of each, and ten releases of the neutral face are asked about. How its faces were made is
known, its faces are not, and 67 other people differ by chance: a share of p has a standard error of sqrt(p (1 - p) / 67), up
to 0.06, in either run. Shares agree within 0.08, SSIM within 0.05, numbers of components within an eighth. Which recogniser
it had is not told either: components that are whitened before the linear discriminants come out as reported. Our own
recogniser, which does not whiten, is the stronger attacker. Ours have 196 components in all, since eight mouths are small at
48 x 48 pixels, and theirs had 300: where all are kept, epsilon is lowered so that each has the same noise.

Where photographs of 40 people (the ORL faces of AT&T Laboratories Cambridge) are at hand, as a folder ``orl`` in ``shared/data``
beside the checkout, a whole run attacks 20 of them, hidden by a model of the others; nothing is reported of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial

import numpy as np

from experiments.report import Result, Row, Table, command
from experiments.shared_data import shared_data
from noisewright.attacks.face_risk import Risk, Trial
from noisewright.images import LatentObfuscator
from noisewright.images.faces.reidentification import Recogniser

REPORTED: Mapping[int, tuple[float, ...]] = {
    10: (1, 0.015, 0.037, 0.000, 0.015, 0.670, 0.496),
    25: (4, 0.021, 0.106, 0.045, 0.030, 0.709, 0.493),
    50: (7, 0.087, 0.307, 0.119, 0.093, 0.754, 0.517),
    100: (12, 0.224, 0.504, 0.552, 0.251, 0.781, 0.538),
    200: (24, 0.370, 0.746, 0.866, 0.388, 0.840, 0.553),
    300: (36, 0.494, 0.864, 0.985, 0.536, 0.849, 0.539),
    500: (54, 0.697, 0.973, 0.985, 0.725, 0.875, 0.571),
    1000: (79, 0.867, 0.999, 1.000, 0.888, 0.915, 0.653),
    3000: (172, 0.961, 1.000, 1.000, 0.978, 0.958, 0.709),
}
"""Components, then shares of right guesses of naive, parrot, reverse and composed attacks, right genders, and SSIM."""
ALL, KEPT = {100: (0.021, 0.184), 300: (0.054, 0.232), 1000: (0.299, 0.350)}, 300
"""With all components, of which there were so many: naive, and SSIM."""
K_SAME: Mapping[int, tuple[float, ...]] = {
    2: (0.483, 0.884, 1.2, 0.721, 0.920),
    3: (0.308, 0.857, 1.3, 0.680, 0.866),
    5: (0.159, 0.599, 2.2, 0.631, 0.831),
    10: (0.055, 0.313, 4.3, 0.580, 0.791),
    20: (0.025, 0.082, 17.8, 0.543, 0.731),
}
"""Naive on one release, on two of overlapping galleries, people left after two, SSIM, right genders."""
NAMES = ("com-\nponents", "naive", "parrot", "reverse", "two\nnaive", "gender", "SSIM", "best", "two\nbest")
SHARES, SSIM, PART = 0.08, 0.05, 1 / 8
CLUSTERED, APART = 0.05, {3: 0.11}
"""Two random galleries decide how many are told apart: at k = 3 ours leave 1.5 people on average, and theirs left 1.3."""
SECONDS = (15, 90)
QUICK, WIDEST = 50, 3000
PHOTOGRAPHED = (10, 30, 100, 300)
ATTACKER = partial(Recogniser, 100, whitened=True)


@cache
def trial() -> Trial:
    """The people, the model, and the attacks."""
    found = Trial.of()
    return replace(found, attacks=replace(found.attacks, recogniser=ATTACKER))


@cache
def noisy(epsilon: int | Fraction, components: int | None = None) -> Risk:
    """All attacks at an epsilon."""
    return trial().noisy(Fraction(epsilon), components)


def result(quick: bool = False) -> Result:
    """All rows; a quick run has a few of them."""
    rows = [_noisy_row(epsilon) for epsilon in ((QUICK,) if quick else REPORTED)]
    same = [_k_same_row(k) for k in ((5,) if quick else K_SAME)]
    every = len(trial().model.low)
    whole = []
    for epsilon in () if quick else ALL:
        risk = noisy(Fraction(epsilon * every, KEPT), every)
        whole.append(Row((f"{epsilon:,}",), (risk.attacks["naive"], risk.kept["ssim"]), ALL[epsilon], (), SHARES))
    source = "a recomputation on made-up faces of the same generator"
    tables = [
        Table("Noise on components", ("epsilon",), NAMES, rows, source, decimals=3),
        Table(
            "k-same: NO guarantee", ("k",), ("naive", "two, naive", "left", "SSIM", "gender"), same, source, decimals=3
        ),
    ]
    if whole:
        tables.append(Table("Noise on all components", ("epsilon",), ("naive", "SSIM"), whole, source, decimals=3))
    between, closest, own = distances(noisy(QUICK).components or 1)
    note = (
        f"Distances of codes at epsilon {QUICK}: {between:.2f} between two people, {closest:.3f} between the closest two, "
        f"{own:.3f} between expressions of one."
    )
    claims, notes = _claims(rows, same, quick), [note]
    people = None if quick else photographed()
    if people is not None:
        found = _photographs(people)
        tables += found
        claims["On photographs the best attacker on the code is above the others, and k-same breaks, too"] = all(
            row.found[3] > max(row.found[1:3]) for row in found[0].rows
        ) and all(row.found[0] <= 1 / int(row.label[0]) < row.found[1] for row in found[1].rows)
    elif not quick:
        notes.append("Photographs are skipped: put the folder orl into shared/data beside the checkout.")
    return Result(tables, claims, notes)


@cache
def photographed() -> Trial | None:
    """Photographs of 40 people, of whom 20 are attacked; None where they are not at hand."""
    place = shared_data("orl")
    return None if place is None else Trial.of(place, copies=5)


def _photographs(people: Trial) -> list[Table]:
    """The same attacks on them."""
    risks = {epsilon: people.noisy(Fraction(epsilon)) for epsilon in PHOTOGRAPHED}
    noisy = [
        Row(
            (f"{epsilon:,}",),
            (
                float(risk.components or 0),
                *(risk.attacks[name] for name in ("naive", "parrot", "best", "best of two")),
                risk.kept["ssim"],
            ),
        )
        for epsilon, risk in risks.items()
    ]
    same = []
    for k in (2, 5):
        risk = people.k_same(k)
        same.append(
            Row((str(k),), (risk.attacks["naive"], risk.attacks["composed"], risk.left or 0.0, risk.kept["ssim"]))
        )
    names, nothing = ("com-\nponents", "naive", "parrot", "best", "two\nbest", "SSIM"), "nothing"
    return [
        Table("Photographs: noise on components", ("epsilon",), names, noisy, nothing, decimals=3),
        Table(
            "Photographs: k-same, NO guarantee",
            ("k",),
            ("naive", "two, naive", "left", "SSIM"),
            same,
            nothing,
            decimals=3,
        ),
    ]


def _noisy_row(epsilon: int) -> Row:
    risk, told = noisy(epsilon), REPORTED[epsilon]
    attacks = tuple(risk.attacks[name] for name in ("naive", "parrot", "reverse", "composed"))
    best = (risk.attacks["best"], risk.attacks["best of two"])
    found = (float(risk.components or 0), *attacks, risk.kept["gender"], risk.kept["ssim"], *best)
    close = (max(1, told[0] * PART), *(SHARES,) * 5, SSIM, 0, 0)
    return Row((f"{epsilon:,}",), found, (*told, None, None), (0,) if epsilon == WIDEST else (), close)


def _k_same_row(k: int) -> Row:
    risk, told = trial().k_same(k), K_SAME[k]
    attacks = (risk.attacks["naive"], risk.attacks["composed"], risk.left or 0.0)
    close = (0.05, APART.get(k, CLUSTERED), 0.22 * told[2], SSIM, SHARES)
    return Row((str(k),), (*attacks, risk.kept["ssim"], risk.kept["gender"]), told, (), close)


def _claims(rows: list[Row], same: list[Row], quick: bool) -> dict[str, bool]:
    """What the source and the recomputation say of their figures."""
    stronger = replace(trial(), attacks=replace(trial().attacks, recogniser=Recogniser)).noisy(Fraction(QUICK))
    claims = {
        "The parrot attack is above the naive one at every epsilon": all(row.found[2] > row.found[1] for row in rows),
        "The best attacker on the code is above both at every epsilon": all(
            row.found[7] >= max(row.found[1:3]) - 0.01 for row in rows
        ),
        "k-same keeps 1/k for one release and breaks it for two": all(
            row.found[0] <= 1 / int(row.label[0]) < row.found[1] for row in same
        ),
        "A recogniser that does not whiten is the stronger attacker": stronger.attacks["naive"]
        > noisy(QUICK).attacks["naive"] + SHARES,
    }
    if not quick:
        filled = next(risk for risk in trial().adhoc() if risk.method == "box, filled in")
        claims["Where image attackers are right half the time, the best is right nearly always"] = (
            noisy(300).attacks["naive"] < 0.6 and noisy(300).attacks["best"] > 0.95
        )
        claims["Fewer components are worth it: at epsilon 100, dropping gives a higher SSIM"] = (
            noisy(100).kept["ssim"] > 2 * noisy(100, len(trial().model.low)).kept["ssim"]
        )
        claims["A box that is filled in has the highest SSIM, and by far the highest risk"] = (
            filled.kept["ssim"] > max(row.found[6] for row in rows)
            and filled.attacks["naive"] > rows[-1].found[1] - 0.05
        )
    return claims


def distances(components: int) -> tuple[float, float, float]:
    """Between identities the mean and the least distance, and between expressions of one the mean."""
    people = trial()
    hidden = LatentObfuscator(people.model, epsilon=1, components=components)
    places = hidden.space.points(people.model.encode(people.attacks.asked.pictures, components))
    apart = hidden.space.apart(places, places)[np.triu_indices(len(places), 1)]
    known = hidden.space.points(people.model.encode(people.attacks.known.pictures, components))
    own = hidden.space.apart(places, known)[
        np.asarray(people.attacks.asked.people)[:, None] == people.attacks.known.people
    ]
    return float(apart.mean()), float(apart.min()), float(own.mean())


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("faces_by_eigenfaces", given)


if __name__ == "__main__":
    raise SystemExit(main())
