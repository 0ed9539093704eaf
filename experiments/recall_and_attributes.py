"""Neighbours that noisy codes find, beside what is expected, and what the same codes tell about a user's gender.

Run:  noisewright reproduce recall_and_attributes [--quick] [--runs N] [--json] [--plot FILE.png]

Nothing of this is published; what is reported beside every recall is its closed form (:mod:`noisewright.matching.search.odds`), which is
computed from the distances alone before anything is drawn. It takes candidates for independent, and the seed of a run is common to
all of them, so that the two agree on average and not to the last digit.

The second table is an attack: somebody who knows the gender of four users in five learns it from their codes (a linear model, with its
ridge chosen on those users alone) and ranks the fifth. What counts is how often a woman is ranked above a man: 0.5 is a coin. It is
done with the ratings themselves, with hashes without noise, and with noisy codes at several epsilons of a bit. A code that finds
neighbours tells what neighbours have in common; the promise is about a single user's profile, not about what is true of users.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from experiments import ratings
from experiments.report import Result, Row, Table, command
from experiments.vanilla_hashing import public_seed
from experiments.visits import visits
from noisewright.matching import Client, Scheme, evaluate
from noisewright.matching.hashing import unpacked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEIGHBOURS = 10
BITS = {True: (64, 256), False: (64, 256, 1024)}
EPSILONS = {True: ("1", "4"), False: ("0.25", "0.5", "1", "2", "4", "8")}
FILMS, VISITORS, PLACES = 1000, 600, 300
CLOSE = 0.04
"""How far recall may be from its closed form: candidates are not independent, and a run has one seed."""
RIDGES = (0.1, 1.0, 10.0)
"""In units of the mean squared singular value."""
FOLDS = 5
SAMPLED = {True: 50, False: 200}
"""So many users' odds are computed."""
SECONDS = (15, 150)
RUNS = (1, 4)


def recall(
    profiles: NDArray[np.float64], bits: int, epsilon: str, runs: int, sampled: int
) -> tuple[float, float, float, float]:
    """Recall with noise, its closed form, recall without noise and by chance: means over seeds."""
    rng = np.random.default_rng(3)
    found = []
    for number in range(runs):
        scheme = Scheme(dimension=profiles.shape[1], bits=bits, epsilon=epsilon, seed=public_seed(number))
        one = evaluate(scheme, profiles, neighbours=NEIGHBOURS, rng=rng, sampled=sampled if number == 0 else 1)
        found.append((one.recall, one.expected, one.hashed_recall, one.random_recall))
    means = np.mean(found, axis=0)
    return float(means[0]), found[0][1], float(means[2]), float(means[3])


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


def attacked(profiles: NDArray[np.float64], women: NDArray[np.bool_], bits: int, epsilon: str | None, runs: int) -> float:
    """The attack on codes, noisy at this epsilon of a bit or without noise; a mean over seeds."""
    rng, found = np.random.default_rng(5), []
    for number in range(runs):
        scheme = Scheme(dimension=profiles.shape[1], bits=bits, epsilon=epsilon or 0, seed=public_seed(number))
        codes = scheme.hash(profiles) if epsilon is None else Client(scheme).encode(profiles, rng)
        found.append(ranked_above(2.0 * unpacked(codes, bits) - 1, women))
    return float(np.mean(found))


@cache
def _profiles(quick: bool) -> dict[str, tuple[NDArray[np.float64], NDArray[np.bool_] | None]]:
    made_up = visits(VISITORS, PLACES, np.random.default_rng(6))
    if quick and not ratings.place().exists():
        return {"visits": (made_up, None)}
    found = ratings.ratings(ratings.fetched()).profiles(FILMS)
    return {"ratings": found} if quick else {"ratings": found, "visits": (made_up, None)}


def result(quick: bool = False, runs: int | None = None) -> Result:
    """Recall for all data, bits and epsilons, and the attack where genders are known."""
    draws = runs or RUNS[0 if quick else 1]
    rows, attacks = [], []
    for name, (profiles, women) in _profiles(quick).items():
        for bits in BITS[quick]:
            for epsilon in EPSILONS[quick]:
                found, expected, hashed, chance = recall(profiles, bits, epsilon, draws, SAMPLED[quick])
                reported = (expected, None, None)
                rows.append(Row((name, str(bits), epsilon), (found, hashed, chance), reported, close=CLOSE))
            if women is not None and bits > min(BITS[quick]):
                epsilons = ("0.1", *EPSILONS[quick])
                told = [attacked(profiles, women, bits, epsilon, draws) for epsilon in (*epsilons, None)]
                labels = (*epsilons, "no noise")
                attacks += [Row((str(bits), label), (one,)) for label, one in zip(labels, told, strict=True)]
        if women is not None:
            attacks.append(Row(("-", "the ratings themselves"), (ranked_above(profiles, women),)))
    heads = ("recall", "without noise", "by chance")
    tables = [
        Table(f"Recall of {NEIGHBOURS} neighbours", ("data", "bits", "epsilon a bit"), heads, rows, "its closed form", decimals=3)
    ]
    if attacks:
        title = "How often a woman is ranked above a man"
        tables.append(Table(title, ("bits", "epsilon a bit"), ("share",), attacks, "nothing", decimals=3))
    notes = [] if attacks else ["Made-up visits alone, without an attack; a whole run fetches ratings."]
    return Result(tables, _claims(rows, attacks), notes)


def _claims(rows: list[Row], attacks: list[Row]) -> dict[str, bool]:
    by = {row.label: row.found for row in rows}
    more = {
        (name, bits): [found[0] for (one, two, _), found in by.items() if (one, two) == (name, bits)]
        for name, bits, _ in by
    }
    claims = {
        "A larger epsilon finds more neighbours": all(b > a - 0.01 for one in more.values() for a, b in zip(one, one[1:], strict=False)),
        "No noise finds most": all(found[0] <= found[1] + 0.01 for found in by.values()),
    }
    if attacks:
        share = {row.label: row.found[0] for row in attacks}
        most = max(int(bits) for bits, _ in share if bits != "-")
        plain = share["-", "the ratings themselves"]
        few, many = share[str(most), "0.1"], share[str(most), "no noise"]
        claims["Hashes without noise tell genders nearly as well as the ratings do"] = many > 0.5 + 0.6 * (plain - 0.5)
        claims["At an epsilon of 0.1 for every bit codes tell less than half of that"] = few - 0.5 < (many - 0.5) / 2
    return claims


def figure() -> Figure:
    """Recall against epsilon beside its closed form, and the attack."""
    from noisewright.plots.figure import COLOURS, blank_figure

    tables = result(quick=not ratings.place().exists(), runs=2).tables
    picture = blank_figure(9.5, 3.8)
    panels = np.atleast_1d(picture.subplots(1, len(tables)))
    first = tables[0].rows[0].label[0]
    for colour, bits in zip(COLOURS, dict.fromkeys(row.label[1] for row in tables[0].rows), strict=False):
        rows = [row for row in tables[0].rows if row.label[:2] == (first, bits)]
        at = [float(row.label[2]) for row in rows]
        panels[0].plot(at, [row.found[0] for row in rows], "o", color=colour, label=f"{bits} bits, found")
        panels[0].plot(at, [row.told[0] for row in rows], "-", color=colour, label="expected")
        panels[0].axhline(rows[0].found[1], color=colour, linestyle=":", linewidth=1)
    panels[0].set(xscale="log", xlabel="epsilon of a bit", ylabel=f"recall of {NEIGHBOURS} neighbours ({first})", ylim=(0, 1))
    panels[0].legend(frameon=False, fontsize=8, title="dotted: without noise", title_fontsize=8)
    if len(tables) > 1:
        for colour, bits in zip(COLOURS, dict.fromkeys(row.label[0] for row in tables[1].rows if row.label[0] != "-"), strict=False):
            rows = [row for row in tables[1].rows if row.label[0] == bits]
            noisy = [row for row in rows if row.label[1] != "no noise"]
            panels[1].plot([float(row.label[1]) for row in noisy], [row.found[0] for row in noisy], "o-", color=colour, label=f"{bits} bits")
            panels[1].axhline(rows[-1].found[0], color=colour, linestyle=":", linewidth=1)
        panels[1].axhline(tables[1].rows[-1].found[0], color="black", linewidth=1, label="the ratings themselves")
        panels[1].set(xscale="log", xlabel="epsilon of a bit", ylabel="a woman is ranked above a man", ylim=(0.45, 0.85))
        panels[1].legend(frameon=False, fontsize=8, title="dotted: without noise", title_fontsize=8)
    return picture


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("recall_and_attributes", given)


if __name__ == "__main__":
    raise SystemExit(main())
