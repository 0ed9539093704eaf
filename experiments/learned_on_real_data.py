"""A private value hidden in real tables: a learned privatiser beside noise of equal distortion, and what attackers find.

Run:  noisewright reproduce learned_on_real_data [--quick] [--json] [--plot FILE.png]

The publication has synthetic data alone; the numbers that ours are compared with are those of a recomputation, whose splits and
seeds are not known: shares of right guesses agree within 0.04. What it learned on digits had a network of twice the width and
twice the steps, and is shown beside ours without having to agree. **Digits** (1,797 small pictures of scikit-learn) hide
whether the digit is odd, and should keep whether it is 5 or more. **Votes** (944 people of the American National Election
Study of 1996, public domain, carried by statsmodels) hide the vote; for one column the optimum is known. **Adult** (a
census of 1994; used where ``adult.csv`` lies in ``shared/data`` beside the checkout, or in a folder that
``NOISEWRIGHT_RESOURCES`` names) hides the income; six of its nine columns are categories. **Gaussian**: three classes in
five dimensions.

Privatisers learn from six tenths of the records; attackers know those, and are judged on releases of the others, three draws
each. Noise is that of the house: exact Laplace noise on every number and k-ary randomised response on every category, of the
same expected distortion. Distortion is the sum of squared changes (digits, Gaussian: as they are; Adult: in variances) and of
shares of changed categories.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import noisewright as nw
from experiments.report import Result, Row, Table, command
from experiments.shared_data import shared_data
from noisewright.attacks import Attack, attack_release
from noisewright.context_aware import FiniteGame, Joint, Mixture, direction_noise
from noisewright.context_aware import distributions as estimates

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SECONDS = (25, 900)
KNOWN, DRAWS, CLOSE = 0.6, 3, 0.04
STRONG = {
    "hidden": 128,
    "adversary_hidden": 128,
    "epochs": 200,
    "rate": 1e-3,
    "adversary_rate": 1e-3,
    "adversary_steps": 6,
    "batch": 200,
}
"""For digits: few records and many columns."""
BUDGETS = {"digits": (0.5, 1, 2, 4), "adult": (0.5, 1, 2, 4), "gaussian": (1, 2, 3.67)}
VOTES = (0.05, 0.1, 0.15, 0.2)
SOURCE = "a recomputation"
DIGITS: Mapping[tuple[str, float], tuple[float, float]] = {
    ("noise", 2): (0.971, 0.957),
    ("learned", 2): (0.719, 0.780),
    ("learned", 4): (0.565, 0.700),
}
"""Parity, and 5 or more, guessed right."""
RAW = (0.986, 0.965)
GAUSSIAN: Mapping[float, tuple[float, ...]] = {
    1: (0.703, 0.654, 0.905),
    2: (0.605, 0.555, 0.880),
    3.67: (0.514, 0.501, 0.845),
}
"""Given the record alone, given both, and plain noise."""
CALIBRATION = {
    "optimum at D = 5": (0.2013, 0.2008, 0.2068, 0.2086),
    "saturated, D = 7": (0.1096, 0.1079, 0.1135, 0.1093),
}
"""Exact information, and estimates by quadratic logistic, neighbours and bins."""
ANSWERS = {"education": 16, "workclass": 9, "marital-status": 7, "occupation": 15, "relationship": 6, "race": 5}
NUMBERS = ("age", "education-num", "hours-per-week")
PEOPLE = 4_000
RUN: set[str] = set()
"""The curves that were computed in this process; these are drawn."""


@dataclass(frozen=True)
class Data:
    """Records by column, what is private, what should be kept, and which records privatisers learn from."""

    records: Any
    private: Any
    useful: Any
    known: Any
    units: str = "sd"


def divided(count: int) -> Any:
    """Six tenths of the records, at random."""
    return np.random.default_rng(0).permutation(count) < KNOWN * count


@cache
def digits() -> Data:
    """Pixels from 0 to 1; those that are lit in fewer than twenty pictures are left out."""
    from sklearn.datasets import load_digits

    found = load_digits()
    pixels = found.data / 16
    target = found.target
    return Data(
        pixels[:, (pixels > 0).sum(axis=0) >= 20], target % 2, (target >= 5).astype(int), divided(len(target)), "raw"
    )


@cache
def votes() -> dict[str, Any] | None:
    """Columns of the election study; None if the package that carries it is not installed."""
    found = find_spec("statsmodels")
    if found is None or found.origin is None:
        return None
    with (Path(found.origin).parent / "datasets/anes96/anes96.csv").open(encoding="ascii") as lines:
        names = [name.strip("'") for name in next(lines).split()]
        rows = np.loadtxt(lines)
    return {name: rows[:, i].astype(int) for i, name in enumerate(names)}


@cache
def adult() -> Data | None:
    """Some of the people, with the private income; None where the file is not."""
    file = shared_data("adult.csv")
    if file is None:
        return None
    import pyarrow.csv

    table = pyarrow.csv.read_csv(file)
    some = np.sort(np.random.default_rng(1).permutation(table.num_rows)[:PEOPLE])
    columns = {name: table.column(name).to_numpy(zero_copy_only=False)[some] for name in (*NUMBERS, *ANSWERS)}
    records = {name: c.astype(float) if name in NUMBERS else common(c.astype(str)) for name, c in columns.items()}
    income, sex = (table.column(n).to_numpy(zero_copy_only=False)[some].astype(str) for n in ("income-per-year", "sex"))
    return Data(records, income, sex, divided(PEOPLE))


def common(column: Any) -> Any:
    """Answers of fewer than forty people become the most frequent one: every answer must be among those learned from."""
    names, counts = np.unique(column, return_counts=True)
    return np.where(np.isin(column, names[counts < 40]), names[counts.argmax()], column)


@cache
def gaussian() -> Data:
    """Three classes in five dimensions that differ in two; the best guess is right 92.8 % of the time."""
    rng = np.random.default_rng(3)
    y = rng.choice(3, 20_000, p=(0.5, 0.3, 0.2))
    means = np.zeros((3, 5))
    means[:, :2] = ((2, 0), (-1, 1.7), (-1, -1.7))
    return Data(means[y] + rng.normal(size=(20_000, 5)), y, None, divided(20_000), "raw")


# Releases -----------------------------------------------------------------------------------------------------------------


def laplace(column: Any, variance: float, rng: Any) -> Any:
    """Exact Laplace noise of this variance."""
    scale = math.sqrt(variance / 2)
    return column + nw.laplace(epsilon=str(round(1 / scale, 6)), sensitivity=1).release(np.zeros(len(column)), rng)


def noise(data: Data, distortion: float) -> Callable[[], Any]:
    """Noise of the house with this expected distortion, the same share of it on every column."""
    rng = np.random.default_rng(6)
    if isinstance(data.records, np.ndarray):
        each = distortion / data.records.shape[1]
        return lambda: np.stack([laplace(column, each, rng) for column in data.records.T], axis=1)
    each = distortion / len(data.records)

    def released() -> dict[str, Any]:
        found = {}
        for name, column in data.records.items():
            if column.dtype.kind == "f":
                found[name] = laplace(column, each * column.var(), rng)
            else:
                labels = np.unique(column).tolist()
                found[name] = response(labels, min(each, 1 - 1.001 / len(labels))).release(column, rng)
        return found

    return released


def response(labels: list[Any], changed: float) -> Any:
    """Randomised response that changes a value with this probability."""
    epsilon = math.log((1 - changed) * (len(labels) - 1) / changed)
    return nw.randomised_response(labels, epsilon=str(round(epsilon, 9)))


def in_one_direction(data: Data, distortion: float) -> Callable[[], Any]:
    """Normal noise along the direction in which two normal classes are told apart best."""
    x, y = data.records[data.known], data.private[data.known]
    means = [x[y == c].mean(axis=0) for c in (0, 1)]
    inside = np.concatenate([x[y == c] - means[c] for c in (0, 1)])
    made = direction_noise(
        inside.T @ inside / len(x) + 1e-3 * np.eye(x.shape[1]), means[1] - means[0], distortion=distortion
    )
    rng = np.random.default_rng(5)
    size = math.sqrt(distortion)
    return lambda: data.records + size * rng.normal(size=(len(data.records), 1)) * made.direction


@cache
def learned(name: str, given: str = "x", quick: bool = False) -> Any:
    """A privatiser for each budget, trained together; None without PyTorch."""
    if find_spec("torch") is None:
        return None
    from noisewright.learning import GAPPrivatiser

    data = {"digits": digits, "adult": adult, "gaussian": gaussian}[name]()
    assert data is not None
    settings: dict[str, Any] = dict(STRONG) if name == "digits" else {"epochs": 40}
    if quick:
        settings = {"epochs": 2, "hidden": 32, "adversary_hidden": 32}
    rows = np.flatnonzero(data.known)
    quickly = ["nearest neighbours"]  # attackers come later, on records that no privatiser saw
    made = GAPPrivatiser(BUDGETS[name], given=given, units=data.units, attackers=quickly, settings=settings)
    return made.fit(part(data.records, rows), np.asarray(data.private)[rows])


def part(records: Any, rows: Any) -> Any:
    return records[rows] if isinstance(records, np.ndarray) else {n: c[rows] for n, c in records.items()}


def attacked(data: Data, release: Callable[[], Any], value: Any, quick: bool = False) -> Attack:
    """Attackers that learn from draws of known records, and are asked about others; fewer of them about what may be known."""
    draws = [release() for _ in range(1 if quick else DRAWS)]
    few = quick or value is data.useful
    names = ["gradient boosting", "nearest neighbours"] if few else None
    return attack_release(draws, value, original=None, fresh=~data.known, attackers=names)


def releases(name: str, data: Data, budget: float) -> dict[str, Callable[[], Any]]:
    """Everything of one distortion that is compared."""
    found = {"noise": noise(data, budget)}
    if name == "digits":
        found["one direction"] = in_one_direction(data, budget)
    made = learned(name)
    if made is not None:
        one, rng = made.at(budget), np.random.default_rng(7)
        found["learned"] = lambda: one.release(data.records, rng=rng)
    return found


@cache
def curve(name: str) -> list[tuple[float, str, Attack, Attack | None]]:
    """For each budget and kind of release: what is guessed of the private value, and of the useful one."""
    data = {"digits": digits, "adult": adult}[name]()
    assert data is not None
    RUN.add(name)
    found = []
    for budget in BUDGETS[name]:
        for kind, release in releases(name, data, budget).items():
            useful = None if data.useful is None else attacked(data, release, data.useful)
            found.append((budget, kind, attacked(data, release, data.private), useful))
    return found


def better(name: str) -> tuple[int, int]:
    """At how many budgets the learned privatiser is guessed from less than noise, interval below interval."""
    found = {(budget, kind): private for budget, kind, private, _ in curve(name)}
    return sum(found[b, "learned"].accuracy.high < found[b, "noise"].accuracy.low for b in BUDGETS[name]), len(
        BUDGETS[name]
    )


def unsettled(name: str) -> str:
    """Which trainings had not come to rest when they ended."""
    found = [f"{point.distortion:g}" for point in learned(name).points_ if not point.converged]
    return (
        f"{name}: trainings that had not come to rest: distortion {', '.join(found)}."
        if found
        else f"{name}: all trainings came to rest."
    )


# Tables -------------------------------------------------------------------------------------------------------------------


def result(quick: bool = False) -> Result:
    """All tables; a quick run trains nothing large."""
    tables = [digit_table(quick), *vote_tables(quick), calibration(quick)]
    notes, findings = [], {}
    if votes() is None:
        notes.append("Votes are skipped: pip install statsmodels brings the table.")
    if find_spec("torch") is None:
        notes.append("Nothing was learned: pip install noisewright[networks] brings PyTorch.")
    elif not quick:
        tables.append(gaussian_table())
        count, of = better("digits")
        findings["parity of digits is guessed less from learned releases than from noise, at three budgets or more"] = (
            count >= 3
        )
        notes.append(f"Digits: interval below interval at {count} of {of} budgets. What should be kept suffers too.")
        notes.append(unsettled("digits"))
        if adult() is None:
            notes.append("Adult is skipped: put adult.csv into shared/data beside the checkout.")
        else:
            tables.append(adult_table())
            count, of = better("adult")
            verdict = "beats noise" if count >= 3 else "does NOT beat noise by more than its interval at three budgets"
            notes.append(f"Adult: the learned privatiser {verdict} ({count} of {of}).")
            notes.append(unsettled("adult"))
    return Result(tables, findings, notes)


def shown(private: Attack, useful: Attack | None) -> tuple[float, ...]:
    own = (private.accuracy.value, private.accuracy.low, private.accuracy.high, max(private.information.value, 0.0))
    return own if useful is None else (*own, useful.accuracy.value)


NAMES = ("private", "at least", "at most", "nats told", "kept")


def digit_table(quick: bool) -> Table:
    data = digits()
    raw = [attacked(data, lambda: data.records, value, quick) for value in (data.private, data.useful)]
    rows = [Row(("none", "-"), shown(*raw), (RAW[0], None, None, None, RAW[1]), close=CLOSE)]
    if quick:
        told = DIGITS["noise", 2]
        private, useful = (attacked(data, noise(data, 2), value, quick) for value in (data.private, data.useful))
        rows.append(Row(("noise", "2"), shown(private, useful), (told[0], None, None, None, told[1]), close=CLOSE))
    else:
        for budget, kind, private, useful in curve("digits"):
            told = DIGITS.get((kind, budget))
            compared = None if told is None else (told[0], None, None, None, told[1])
            loose = (0, 4) if kind == "learned" else ()  # a larger network, trained for longer, was reported
            rows.append(Row((kind, f"{budget:g}"), shown(private, useful), compared, loose, CLOSE))
    title = f"Digits: odd or even is hidden, 5 or more is kept; a blind guess of the first is right {raw[0].prior:.3f}"
    return Table(title, ("release", "distortion"), NAMES, rows, SOURCE, 3)


def adult_table() -> Table:
    data = adult()
    assert data is not None
    raw = [attacked(data, lambda: data.records, value) for value in (data.private, data.useful)]
    rows = [Row(("none", "-"), shown(*raw))]
    rows += [Row((kind, f"{budget:g}"), shown(private, useful)) for budget, kind, private, useful in curve("adult")]
    title = f"Adult: the income is hidden, the sex is kept; a blind guess of the income is right {raw[0].prior:.3f}"
    return Table(title, ("release", "distortion"), NAMES, rows, SOURCE, 3)


@cache
def vote_curve() -> list[tuple[float, tuple[float, ...]]]:
    """How often a vote is guessed from a party, counted exactly: best mechanism, learned table, randomised response."""
    found = votes()
    assert found is not None
    law = Joint.of(found["PID"].tolist(), found["vote"].tolist())
    game, rows = FiniteGame(law), []
    for budget in VOTES:
        best = game.optimum(str(budget))
        plain = game.mechanism(response(list(law.public), budget).channel().matrix)
        numbers = [float(best.accuracy), float(plain.accuracy)]
        if find_spec("torch") is not None:
            from noisewright.learning import GAPPrivatiser

            made = GAPPrivatiser(budget, categorical=["x0"], loss="alpha:20", held_out=0.05).fit(
                found["PID"], found["vote"]
            )
            numbers.insert(1, float(counted(made, law).accuracy))
        rows.append((budget, tuple(numbers)))
    return rows


def counted(made: Any, law: Joint) -> Any:
    """A learned table as a mechanism of the game, from its draws: 20,000 of each value."""
    rng, matrix = np.random.default_rng(0), []
    for value in law.public:
        out = made.release(np.full(20_000, value), rng=rng)
        matrix.append([float((out == other).mean()) for other in law.public])
    return FiniteGame(law).mechanism(matrix)


def vote_tables(quick: bool) -> list[Table]:
    if votes() is None:
        return []
    names = ("best possible", "learned", "randomised\nresponse")
    if find_spec("torch") is None:
        names = (names[0], names[2])
    rows = [Row((f"{budget:g}",), numbers) for budget, numbers in vote_curve()]
    return [
        Table("Votes: how often the vote is guessed right from the released party", ("changed",), names, rows, SOURCE)
    ]


@cache
def gaussian_rows() -> list[tuple[float, tuple[float, ...]]]:
    data, rows = gaussian(), []
    alone, both = learned("gaussian"), learned("gaussian", "xy")
    rng = np.random.default_rng(9)
    for budget in BUDGETS["gaussian"]:
        kinds = (
            lambda b=budget: alone.at(b).release(data.records, rng=rng),
            lambda b=budget: both.at(b).release(data.records, data.private, rng=rng),
            noise(data, budget),
        )
        rows.append((budget, tuple(attacked(data, kind, data.private).accuracy.value for kind in kinds)))
    return rows


def gaussian_table() -> Table:
    rows = [Row((f"{b:g}",), found, GAUSSIAN[b], close=CLOSE) for b, found in gaussian_rows()]
    title = "Three Gaussian classes in five dimensions: the class is guessed right; blind 0.5, raw 0.928"
    return Table(title, ("distortion",), ("given the\nrecord", "given\nboth", "noise"), rows, SOURCE, 3)


def calibration(quick: bool) -> Table:
    """Estimates of information beside the exact value: 20,000 releases of two laws."""
    laws = (
        Mixture(py1=0.5, mean0=-1, mean1=1, sd0=math.sqrt(2), sd1=math.sqrt(2)),
        Mixture(py1=0.75, mean0=0.2148, mean1=1.9282, sd0=math.hypot(1, 0.6938), sd1=math.hypot(1, 2.1403)),
    )
    rows, rng = [], np.random.default_rng(11)
    for (name, told), law in zip(CALIBRATION.items(), laws, strict=True):
        y = (rng.random(20_000) < law.py1).astype(int)
        x = np.where(y, law.mean1 + law.sd1 * rng.normal(size=20_000), law.mean0 + law.sd0 * rng.normal(size=20_000))
        bound = attack_release(x[:, None], y, attackers=["quadratic logistic"]).information.value
        found = (law.information, bound, estimates.nearest_neighbours(x, y), estimates.binned(x, y))
        rows.append(Row((name,), found, told, close=(1e-4, 0.02, 0.02, 0.02)))
    names = ("exact", "H - cross-\nentropy", "neighbours", "32 bins")
    return Table("Estimates of mutual information, in nats", ("releases",), names, rows, SOURCE)


def figure(quick: bool = False) -> Figure:
    """What is guessed of votes, and of what was learned in this run: by distortion, beside noise and the best possible."""
    import matplotlib.pyplot as plt

    made = [name for name in ("digits", "adult") if name in RUN]
    drawn, axes = plt.subplots(1, 1 + len(made), figsize=(5 * (1 + len(made)), 4), squeeze=False, layout="constrained")
    _draw_votes(axes[0][0])
    titles = {"digits": "Digits: odd or even is private", "adult": "Adult: the income is private"}
    for name, axis in zip(made, axes[0][1:], strict=True):
        found = curve(name)
        for kind, colour in (("noise", "tab:grey"), ("one direction", "tab:blue"), ("learned", "tab:red")):
            mine = [(b, private, useful) for b, k, private, useful in found if k == kind]
            if not mine:
                continue
            at, middle = [b for b, _, _ in mine], np.array([p.accuracy.value for _, p, _ in mine])
            ends = np.array([[p.accuracy.low, p.accuracy.high] for _, p, _ in mine]).T
            axis.errorbar(
                at, middle, np.abs(ends - middle), fmt="o-", color=colour, capsize=3, label=f"private, {kind}"
            )
            kept = [u.accuracy.value for _, _, u in mine if u is not None]
            axis.plot(at, kept, "s:", color=colour, alpha=0.5, markersize=4, label=f"useful, {kind}")
        axis.axhline(found[0][2].prior, color="black", linewidth=0.8, linestyle="--", label="private, blind guess")
        axis.set(xlabel="distortion", title=titles[name], xscale="log")
        axis.set_xticks(BUDGETS[name], [f"{b:g}" for b in BUDGETS[name]])
        axis.minorticks_off()
        axis.legend(fontsize=7, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=3)
    axes[0][0].set_ylabel("guessed right")
    return drawn


def _draw_votes(axis: Any) -> None:
    if votes() is None:
        return
    rows = vote_curve()
    names = (
        ("best possible", "learned", "randomised response") if len(rows[0][1]) == 3 else ("best possible", "response")
    )
    for place, name in enumerate(names):
        axis.plot([b for b, _ in rows], [numbers[place] for _, numbers in rows], "ox^"[place] + "-", label=name)
    axis.set(xlabel="share of answers that change", title="Votes, from the party alone")
    axis.legend(fontsize=7, frameon=False)


def main(given: list[str] | None = None) -> int:
    """Run it as a command."""
    return command("learned_on_real_data", given)


if __name__ == "__main__":
    raise SystemExit(main())
