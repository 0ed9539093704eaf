"""Neighbours that noisy codes find, beside what is expected, and what the same codes tell about a user's gender.

Run:  noisewright reproduce recall_and_attributes [--quick] [--runs N] [--json] [--plot FILE.png]

Nothing of this is published; what is reported beside every recall is its closed form (:mod:`noisewright.matching.evaluation`),
which is computed from the distances alone before anything is drawn. It takes candidates for independent, and the seed of a run
is common to all of them, so that the two agree on average and not to the last digit.

The second table is an attack: somebody who knows the gender of four users in five learns it from their codes (a linear model,
with its ridge chosen on those users alone) and ranks the fifth. What counts is how often a woman is ranked above a man: 0.5 is a
coin. It is done with the ratings themselves, with hashes without noise, and with noisy codes at several epsilons of a bit. A code
that finds neighbours tells what neighbours have in common; the promise is about a single user's profile, not about what is true
of users.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from experiments import ratings
from experiments.report import Result, Row, Table, command
from experiments.vanilla_hashing import public_seed
from experiments.visits import visits
from noisewright.matching import Client, Scheme, evaluate, unpacked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEIGHBOURS = 10
BITS, QUICK_BITS = (64, 256, 1024), (64, 256)
EPSILONS, QUICK_EPSILONS = ("0.25", "0.5", "1", "2", "4"), ("1", "4")
ATTACKED, ATTACK_EPSILONS = 256, ("0.1", "0.5", "1", "2", "4")
FILMS, VISITORS, PLACES = 1000, 250, 300
CLOSE = 0.04
"""How far recall may be from its closed form: candidates are not independent, and a run has one seed."""
RIDGES = (0.1, 1.0, 10.0)
"""In units of the mean squared singular value."""
FOLDS = 5
SAMPLED = {"ratings": 60, "visits": VISITORS}
"""So many users' odds are computed; those of visitors differ much, so that all of them are needed."""
SECONDS = (10, 90)
RUNS = (1, 3)


def recalls(
    name: str, profiles: NDArray[np.float64], choices: Sequence[int], epsilons: Sequence[str], runs: int
) -> list[Row]:
    """Recall with noise beside its closed form, without noise, and by chance: means over seeds."""
    rng, rows = np.random.default_rng(3), []
    for bits, epsilon in product(choices, epsilons):
        found = []
        for number in range(runs):
            scheme = Scheme(dimension=profiles.shape[1], bits=bits, epsilon=epsilon, seed=public_seed(number))
            found.append(evaluate(scheme, profiles, neighbours=NEIGHBOURS, rng=rng, sampled=SAMPLED[name] // runs))
        means = np.mean([(one.recall, one.hashed_recall, one.random_recall, one.expected) for one in found], axis=0)
        *numbers, expected = means.tolist()
        rows.append(Row((name, str(bits), epsilon), tuple(numbers), (expected, None, None), close=CLOSE))
    return rows


def ranked_above(features: NDArray[np.float64], women: NDArray[np.bool_]) -> float:
    """How often a linear model that was learned from the others ranks a woman above a man; a tie counts half."""
    fold = np.random.default_rng(4).permutation(len(women)) % FOLDS
    found = []
    for part in range(FOLDS):
        known, asked = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
        inner, learning = known[::4], np.setdiff1d(known, known[::4])
        tried = [_auc(scores, women[inner]) for scores in _scores(features, women, learning, inner)]
        found.append(_auc(_scores(features, women, known, asked)[int(np.argmax(tried))], women[asked]))
    return float(np.mean(found))


def _scores(
    features: NDArray[np.float64], women: NDArray[np.bool_], known: NDArray[np.int64], asked: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Ridge regression with each of the ridges, from one singular value decomposition."""
    mean = features[known].mean(axis=0)
    rows, new = features[known] - mean, features[asked] - mean
    target = women[known] - women[known].mean()
    left, values, right = np.linalg.svd(rows, full_matrices=False)
    scale = np.mean(values**2)
    shrunk = [values / (values**2 + ridge * scale) * (left.T @ target) for ridge in RIDGES]
    return np.array([new @ (right.T @ weights) for weights in shrunk])


def _auc(scores: NDArray[np.float64], women: NDArray[np.bool_]) -> float:
    above = scores[women][:, None] - scores[~women][None]
    return float(np.mean((above > 0) + 0.5 * (above == 0)))


def attacks(profiles: NDArray[np.float64], women: NDArray[np.bool_], epsilons: Sequence[str], runs: int) -> list[Row]:
    """The attack on noisy codes at some epsilons of a bit, on hashes without noise, and on the ratings: means over seeds."""
    rng, rows = np.random.default_rng(5), []
    for epsilon in (*epsilons, None):
        found = []
        for number in range(runs):
            scheme = Scheme(dimension=profiles.shape[1], bits=ATTACKED, epsilon=epsilon or 0, seed=public_seed(number))
            codes = scheme.hash(profiles) if epsilon is None else Client(scheme).encode(profiles, rng)
            found.append(ranked_above(2.0 * unpacked(codes, ATTACKED) - 1, women))
        rows.append(Row((str(ATTACKED), epsilon or "no noise"), (float(np.mean(found)),)))
    return [*rows, Row(("-", "the ratings themselves"), (ranked_above(profiles, women),))]


def result(quick: bool = False, runs: int | None = None) -> Result:
    """Recall for all data, bits and epsilons, and the attack where genders are known."""
    draws = runs or RUNS[0 if quick else 1]
    choices, epsilons = (QUICK_BITS, QUICK_EPSILONS) if quick else (BITS, EPSILONS)
    made_up = quick and not ratings.place().exists()
    rows, attacked = [], []
    if not made_up:
        profiles, women = ratings.ratings(ratings.fetched()).profiles(FILMS)
        rows = recalls("ratings", profiles, choices, epsilons, draws)
        attacked = attacks(profiles, women, ("0.1", "4") if quick else ATTACK_EPSILONS, draws)
    if made_up or not quick:
        rows += recalls("visits", visits(VISITORS, PLACES, np.random.default_rng(6)), QUICK_BITS, epsilons, draws)
    title, heads = f"Recall of {NEIGHBOURS} neighbours", ("recall", "without noise", "by chance")
    tables = [Table(title, ("data", "bits", "epsilon a bit"), heads, rows, "its closed form", decimals=3)]
    if attacked:
        title = "How often a woman is ranked above a man"
        tables.append(Table(title, ("bits", "epsilon a bit"), ("share",), attacked, "not published", decimals=3))
    notes = ["Made-up visits alone, without an attack; a whole run fetches ratings."] if made_up else []
    return Result(tables, _claims(rows, attacked), notes)


def _claims(rows: list[Row], attacked: list[Row]) -> dict[str, bool]:
    curves: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        curves.setdefault(row.label[:2], []).append(row.found[0])
    claims = {
        "A larger epsilon finds more neighbours": all(
            b > a - 0.01 for one in curves.values() for a, b in pairwise(one)
        ),
        "No noise finds most": all(row.found[0] <= row.found[1] + 0.01 for row in rows),
    }
    if attacked:
        share = {row.label[1]: row.found[0] for row in attacked}
        plain, most = share["the ratings themselves"], share["no noise"]
        claims["Hashes without noise tell a good part of what the ratings do"] = most - 0.5 > 0.5 * (plain - 0.5)
        claims["At an epsilon of 0.1 for every bit codes tell less than half of that"] = (
            share["0.1"] - 0.5 < (most - 0.5) / 2
        )
    return claims


def figure(quick: bool = False) -> Figure:
    """Recall against epsilon beside its closed form, and the attack: one seed."""
    from noisewright.plotting.mechanisms import COLOURS, blank_figure

    here = ratings.place().exists()
    picture = blank_figure(9.5 if here else 5, 3.8)
    left, *right = np.atleast_1d(picture.subplots(1, 2 if here else 1))
    if here:
        profiles, women = ratings.ratings(ratings.fetched()).profiles(FILMS)
    else:
        profiles = visits(VISITORS, PLACES, np.random.default_rng(6))
    rows = recalls("ratings" if here else "visits", profiles, QUICK_BITS, EPSILONS, 1)
    for colour, bits in zip(COLOURS, QUICK_BITS, strict=False):
        mine = [row for row in rows if row.label[1] == str(bits)]
        at = [float(row.label[2]) for row in mine]
        left.plot(at, [row.found[0] for row in mine], "o", color=colour, label=f"{bits} bits, found")
        left.plot(at, [row.told[0] for row in mine], "-", color=colour, label="expected")
        left.axhline(mine[0].found[1], color=colour, linestyle=":", linewidth=1)
    left.set(xscale="log", xlabel="epsilon of a bit", ylabel=f"recall of {NEIGHBOURS} neighbours ({rows[0].label[0]})")
    left.set_ylim(0, 1.5 * max(row.found[1] for row in rows))
    _ticks(left, EPSILONS)
    left.legend(frameon=False, fontsize=8, title="dotted: without noise", title_fontsize=8)
    for axes in right:
        *noisy, plain, most = attacks(profiles, women, ATTACK_EPSILONS, 1)
        axes.plot(
            [float(row.label[1]) for row in noisy],
            [row.found[0] for row in noisy],
            "o-",
            color=COLOURS[1],
            label=f"{ATTACKED} bits",
        )
        axes.axhline(plain.found[0], color=COLOURS[1], linestyle=":", linewidth=1, label="without noise")
        axes.axhline(most.found[0], color="black", linewidth=1, label="the ratings themselves")
        axes.axhline(0.5, color="grey", linestyle="--", linewidth=1, label="a coin")
        axes.set(xscale="log", xlabel="epsilon of a bit", ylabel="a woman is ranked above a man")
        _ticks(axes, ATTACK_EPSILONS)
        axes.legend(frameon=False, fontsize=8)
    return picture


def _ticks(axes: Any, epsilons: Sequence[str]) -> None:
    axes.minorticks_off()
    axes.set_xticks([float(epsilon) for epsilon in epsilons], epsilons)


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("recall_and_attributes", given)


if __name__ == "__main__":
    raise SystemExit(main())
