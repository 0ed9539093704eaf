"""The theoretical optimum next to an attack: the least that anyone could be left to guess, at the same distortion.

* Few different records: the finite game of the counted joint law, whose optimum no mechanism with these outputs goes below.
  Where one column holds numbers, numbers between them are outputs, too.
* One column of many numbers: the finite game on a grid.
* Several columns of numbers and two private values: the best additive noise, if the classes were normal with one
  covariance. A mechanism other than additive noise may do better.

The law is counted from the records at hand; the mechanism is given the public columns alone, or both (``given="xy"``:
additive noise is not optimal then, so several columns of numbers have no optimum to show).

>>> vote = ["left"] * 500 + ["right"] * 500
>>> town = ["a"] * 400 + ["b"] * 500 + ["a"] * 100  # 80 % are guessed right from it
>>> print(optimum_beside({"town": town}, vote, 0.1))
74.0 % (the best mechanism of this distortion on the counted joint law)

Records are divided by private value into three parts, all draws of a record in one. Attackers learn from every draw of
the first part; the second calibrates the confidence of each, and which is best; that one learns once more from both,
and is right as often as reported on the third, of which one draw each is asked about. Therefore the interval (Clopper
and Pearson) is of independent records by which nothing was chosen. ``H(Y)`` minus the lowest cross-entropy bounds the
mutual information from below.

>>> rng = np.random.default_rng(1)
>>> y = rng.integers(0, 2, 3000)
>>> x = np.stack([2.0 * y + rng.normal(size=3000), rng.normal(size=3000)], axis=1)
>>> noisy = x + rng.normal(size=x.shape)
>>> found = attack_release(noisy, y, original=x, attackers=["quadratic logistic", "nearest neighbours"])
>>> found.prior < 0.53, found.finds_something, found.accuracy.high > 0.76 > found.accuracy.low
(True, True, True)

None of it is an upper bound: someone cleverer, or who knows more, may find more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from noisewright._typing import Floats, Indices
from noisewright._utils.validation import is_whole
from noisewright.attacks.classifiers import (
    Columns,
    Distortion,
    Encoder,
    Fitted,
    chosen_attackers,
    classes_of,
    cross_entropy,
    distortion_of,
    unrelated,
)
from noisewright.context_aware.distributions import Estimate, Joint, Mixed, accuracy_interval, chance, from_beliefs
from noisewright.context_aware.games import FiniteGame
from noisewright.context_aware.gaussian import direction_noise
from noisewright.exceptions import DataError, ParameterError

__all__ = ["Attack", "Optimum", "Tried", "attack_mechanism", "attack_release", "optimum_beside"]


MOST_RECORDS, CELLS = 60, 41
"""Maximum number of different records in a finite game; cells of a grid."""
MOST_PROBABILITIES = 30_000
"""A game of more of them is not solved next to a training."""
RIDGE = 1e-6


@dataclass(frozen=True)
class Optimum:
    """Accuracy of the best guess under the best mechanism, and the class of mechanisms."""

    accuracy: float
    of: str
    distortion: float

    def __str__(self) -> str:
        return f"{100 * self.accuracy:.1f} % ({self.of})"

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data for JSON."""
        return {"accuracy": self.accuracy, "of": self.of, "distortion": self.distortion}


def optimum_beside(
    original: Any,
    private: Any,
    distortion: float,
    *,
    bins: int | None = None,
    given: str = "x",
    weights: Mapping[str, float] | None = None,
) -> Optimum | None:
    """The optimum at a distortion in variances and changed shares, summed over columns; None if it cannot be computed.

    ``given``: inputs of the mechanism, the public columns or both; ``weights``: of columns in the distortion, 1 if not
    named.
    """
    table, (names, classes) = Columns.of(original, "the original"), classes_of(private, bins)
    if len(table) != len(classes):
        raise ParameterError("give a private value for each record.")
    if not np.isfinite(distortion) or distortion < 0:
        return None
    varied = [name for name in table.names if len(np.unique(table.values[name])) > 1]
    if not varied:
        return Optimum(float(np.bincount(classes).max() / len(classes)), "nothing is told by constant columns", 0.0)
    variances = tuple(float(table.values[n].var()) if table.numeric(n) else None for n in varied)
    cost = Mixed(weights=tuple(float((weights or {}).get(name, 1.0)) for name in varied), variances=variances)
    codes = [np.unique(table.values[name], return_inverse=True) for name in varied]
    keys, places = _different([c[1] for c in codes])
    if len(keys) <= MOST_RECORDS:
        records = [tuple(c[0][k].item() for c, k in zip(codes, key, strict=True)) for key in keys]
        law = "counted joint law" + (", of those that release records that there are" if len(varied) > 1 else "")
        outputs = records
        if len(varied) == 1 and variances[0] is not None:  # the best number to release may lie between two others
            between = np.linspace(records[0][0], records[-1][0], 2 * CELLS - 1)
            outputs = [(float(value),) for value in np.unique(np.concatenate([between, [r[0] for r in records]]))]
        return _finite(records, places, classes, cost, float(distortion), given, law, outputs)
    if len(varied) == 1 and table.numeric(varied[0]):
        values = table.values[varied[0]]
        edges = np.linspace(values.min(), values.max(), CELLS + 1)
        cells = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, CELLS - 1)
        used, places = np.unique(cells, return_inverse=True)
        middles = [(float(edges[k] + edges[k + 1]) / 2,) for k in used]
        return _finite(middles, places, classes, cost, float(distortion), given, f"counted law on {CELLS} cells")
    if len(names) == 2 and all(table.numeric(name) for name in varied) and given == "x":
        sizes = [np.sqrt(weight / (v or 1.0)) for weight, v in zip(cost.weights, variances, strict=True)]
        points = np.stack([table.values[n] * size for n, size in zip(varied, sizes, strict=True)], axis=1)
        first, second = (points[classes == y] for y in (0, 1))
        inside = np.concatenate([first - first.mean(axis=0), second - second.mean(axis=0)])
        pooled = inside.T @ inside / max(len(points) - 2, 1) + RIDGE * np.eye(len(varied))
        noise = direction_noise(pooled, second.mean(axis=0) - first.mean(axis=0), distortion=float(distortion))
        share = float((classes == 1).mean())
        return Optimum(noise.accuracy(py1=share), "the best plain noise, were both classes normal", float(distortion))
    return None


def _different(codes: list[Indices]) -> tuple[Indices, Indices]:
    """Different rows of these columns, and which of them each row is; where one column has too many values, those of that one."""
    most = max(codes, key=lambda column: int(column.max()))
    if int(most.max()) >= MOST_RECORDS:
        return np.arange(int(most.max()) + 1), most
    keys, places = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    return keys, places.ravel()


def _finite(
    records: list[tuple[Any, ...]],
    places: Indices,
    classes: Indices,
    cost: Mixed,
    distortion: float,
    given: str,
    law: str,
    outputs: list[tuple[Any, ...]] | None = None,
) -> Optimum | None:
    counts = np.zeros((len(records), int(classes.max()) + 1))
    np.add.at(counts, (places, classes), 1.0)
    if counts.size * len(outputs or records) > MOST_PROBABILITIES and given == "xy":
        return None
    best = FiniteGame(Joint.from_counts(counts, records), cost, outputs=outputs, given=given).optimum(distortion)
    return Optimum(float(best.accuracy), f"the best mechanism of this distortion on the {law}", distortion)


# Found --------------------------------------------------------------------------------------------------------------------
#
# Result of an attack: every attacker, the best one on records not used for its choice, and values to compare it with.


@dataclass(frozen=True)
class Tried:
    """One attacker, on the records by which the best was chosen: its accuracy, and its cross-entropy in nats."""

    name: str
    accuracy: float
    cross_entropy: float


@dataclass(frozen=True)
class Attack:
    """The outcome of an attack on a private value; accuracy and information are of held-out records.

    ``best`` guessed right most often, ``surest`` had the lowest cross-entropy, both on records apart from the held-out
    ones, so that the intervals do not favour a lucky one.
    """

    tried: tuple[Tried, ...]
    best: str
    accuracy: Estimate
    surest: str
    cross_entropy: Estimate
    information: Estimate
    prior: float
    """Accuracy of always naming the most frequent value, without seeing anything."""
    entropy: float
    """Entropy of the private value, in nats."""
    records: tuple[int, int, int]
    """Numbers of records for training, choice, and test."""
    draws: int
    classes: int
    raw: Attack | None = None
    """The same attack on the original records."""
    distortion: Distortion | None = None
    optimum: Optimum | None = None
    cautions: tuple[str, ...] = ()

    @property
    def finds_something(self) -> bool:
        """Return whether the best attacker is better than a blind guess, by more than its interval."""
        return self.accuracy.low > self.prior

    @property
    def kept(self) -> float | None:
        """Remaining share of the raw data's advantage over a blind guess: 0 nothing, 1 all; None if it was zero."""
        if self.raw is None or not self.raw.finds_something:
            return None
        return min(1.0, max(0.0, self.accuracy.value - self.prior) / (self.raw.accuracy.value - self.prior))

    def in_words(self, name: str = "the private value") -> str:
        """Return the accuracy of the best attacker and of the others, in words."""
        found = f"{name} is guessed right {_percent(self.accuracy.value)} of the time"
        between = f"({_percent(self.accuracy.low)} to {_percent(self.accuracy.high)})"
        blind = f"{_percent(self.prior)} without seeing anything"
        raw = f", {_percent(self.raw.accuracy.value)} from the original records" if self.raw is not None else ""
        verdict = (
            "" if self.finds_something else " The attackers found nothing that is surely better than a blind guess."
        )
        return f"By the best attacker {found} {between}; {blind}{raw}.{verdict}"

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON takes it."""
        return {
            "attackers": [
                {"name": one.name, "accuracy": one.accuracy, "cross_entropy": one.cross_entropy} for one in self.tried
            ],
            "best": self.best,
            "accuracy": _told(self.accuracy),
            "surest": self.surest,
            "cross_entropy": _told(self.cross_entropy),
            "information": _told(self.information),
            "prior": self.prior,
            "entropy": self.entropy,
            "better_than_blind": self.finds_something,
            "kept": self.kept,
            "records": dict(zip(("learned_from", "chosen_by", "held_out"), self.records, strict=True)),
            "draws": self.draws,
            "private_values": self.classes,
            "raw": None if self.raw is None else self.raw.to_json(),
            "distortion": None
            if self.distortion is None
            else {"total": self.distortion.total, "columns": dict(self.distortion.columns)},
            "optimum": None if self.optimum is None else self.optimum.to_json(),
            "cautions": list(self.cautions),
        }

    def __repr__(self) -> str:
        return f"Attack({self.best}: right {self.accuracy.value:.4f}, blind {self.prior:.4f})"


def _told(found: Estimate) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high, "confidence": found.confidence}


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if math.isfinite(share) else "?"


# Attack -------------------------------------------------------------------------------------------------------------------
#
# The attack on a private value: learn from some released records, choose the best attacker on others, report on the rest.


FEWEST_RECORDS = 60
PARTS = (0.55, 0.15)
"""Learned from, and chosen by; the rest is held out."""
MOST_ROWS = 40_000
"""Maximum number of rows that attackers learn from; they are tested on half as many records."""
UNRELATED = (
    "no column of the release goes with its own column in the original: either nothing is left of the records, or the rows are "
    "in another order, and then this attack says nothing; put both in one order first"
)
HANDED_OUT = "the release has the private column as it is; whoever sees it need not guess"


def attack_release(
    released: Any,
    private: Any,
    *,
    original: Any = None,
    fresh: Any = None,
    bins: int | None = None,
    attackers: Iterable[str] | None = None,
    optimum: Optimum | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> Attack:
    """Return the result of fresh attackers on ``private`` from a released table, or from a list of several draws of
    one release.

    Rows are the same records in the same order. ``original``: the original records, which are attacked as well.
    ``fresh``: for each record whether anyone who made the release never learned from it; attackers are then judged on
    these alone, because a learned mechanism may hide its training records better than others. ``bins``: a private
    number is cut into that number of ranges.
    """
    tables = [Columns.of(one, "the release") for one in (released if _several(released) else [released])]
    before = None if original is None else Columns.of(original, "the original")
    classes = _classes(private, bins)
    for table in (*tables, *([] if before is None else [before])):
        if len(table) != len(classes):
            raise DataError(
                f"there are {len(classes)} private values and a table of {len(table)} rows; give the same records in the same "
                "order."
            )
    makers, level = chosen_attackers(attackers), chance(confidence, "confidence", inside=True)
    if not is_whole(seed) or seed < 0:
        raise ParameterError("seed is a whole number of 0 or more.")
    parts = _parts(classes, int(seed), fresh)
    changed = None if before is None else distortion_of(before, tables[0])
    found = _attacked(tables, classes, parts, makers, level, int(seed))
    cautions = []
    if before is None:
        return replace(found, optimum=optimum)
    if unrelated(before, tables[0]):
        cautions.append(UNRELATED)
    if any(_same(column, classes) for column in tables[0].values.values()):
        cautions.append(HANDED_OUT)
    raw = _attacked([before], classes, parts, makers, level, int(seed))
    return replace(found, raw=raw, distortion=changed, optimum=optimum, cautions=tuple(cautions))


def attack_mechanism(
    release: Callable[[Any], Any],
    original: Any,
    private: Any,
    *,
    draws: int = 5,
    raw: bool = True,
    **options: Any,
) -> Attack:
    """Draw several releases of the original records, and attack them: who knows the mechanism draws as often as he likes.

    ``release`` takes the original and gives one release of it. The options are those of :func:`attack_release`.
    """
    if not is_whole(draws) or draws < 1:
        raise ParameterError("the number of draws is a whole number of 1 or more.")
    made = [Columns.of(release(original), "the release") for _ in range(int(draws))]
    if raw:
        return attack_release(made, private, original=original, **options)
    found = attack_release(made, private, **options)
    return replace(found, distortion=distortion_of(original, made[0]))


def _attacked(
    tables: Sequence[Columns],
    classes: Indices,
    parts: tuple[Indices, Indices, Indices],
    makers: dict[str, Callable[[int, int], Any]],
    confidence: float,
    seed: int,
) -> Attack:
    encoder = Encoder(*tables)
    matrices = [encoder.matrix(table) for table in tables]
    learn, choose, held = parts
    prior = np.bincount(classes) / len(classes)

    def rows(places: Indices, number: int, most: int) -> tuple[Floats, Indices]:
        """Rows of the first draws of these records, up to a maximum."""
        if number * len(places) <= most:
            return np.concatenate([m[places] for m in matrices[:number]]), np.tile(classes[places], number)
        taken = np.random.default_rng(seed).choice(number * len(places), most, replace=False)
        stacked = np.concatenate([m[places] for m in matrices[:number]])
        return stacked[taken], np.tile(classes[places], number)[taken]

    known, deciding = rows(learn, len(tables), MOST_ROWS), rows(choose, len(tables), MOST_ROWS // 2)
    tried = []
    for name, make in makers.items():
        fitted = Fitted(make, seed, *known, prior)
        fitted.settle(*deciding)
        beliefs = fitted.beliefs(deciding[0])
        right = float((beliefs.argmax(axis=1) == deciding[1]).mean())
        tried.append((Tried(name, right, float(cross_entropy(beliefs, deciding[1]).mean())), fitted.temperature))
    best = max(tried, key=lambda one: (one[0].accuracy, -one[0].cross_entropy))[0].name
    surest, temperature = min(tried, key=lambda one: one[0].cross_entropy)
    both = rows(np.concatenate([learn, choose]), len(tables), MOST_ROWS)
    asked = rows(held, 1, MOST_ROWS // 2)
    strongest = {name: Fitted(makers[name], seed, *both, prior) for name in {best, surest.name}}
    guesses = strongest[best].beliefs(asked[0]).argmax(axis=1)
    strongest[surest.name].temperature = temperature
    stated = strongest[surest.name].beliefs(asked[0])
    lost = cross_entropy(stated, asked[1])
    gained = from_beliefs(np.exp(-lost), asked[1], confidence)
    side = (gained.high - gained.low) / 2
    return Attack(
        tuple(one for one, _ in tried),
        best,
        accuracy_interval(int((guesses == asked[1]).sum()), len(asked[1]), confidence),
        surest.name,
        Estimate(float(lost.mean()), float(lost.mean()) - side, float(lost.mean()) + side, confidence),
        gained,
        float(prior.max()),
        float(-(prior * np.log(prior)).sum()),
        (len(learn), len(choose), len(asked[1])),
        len(tables),
        len(prior),
    )


def _parts(classes: Indices, seed: int, fresh: Any = None) -> tuple[Indices, Indices, Indices]:
    """Records learned from, chosen by and held out, each private value divided alike; the last two of fresh ones alone."""
    if len(classes) < FEWEST_RECORDS:
        raise DataError(
            f"an attack needs {FEWEST_RECORDS} records or more: some to learn from, some to choose the best attacker by, and "
            "some to be asked about."
        )
    new = None if fresh is None else np.asarray(fresh)
    if new is not None and (new.shape != classes.shape or new.dtype != np.bool_):
        raise DataError(
            "fresh says True or False for each record: whether the release was made without learning from it."
        )
    rng = np.random.default_rng(seed)
    found: tuple[list[Indices], ...] = ([], [], [])
    for y in range(int(classes.max()) + 1):
        mine = rng.permutation(np.flatnonzero(classes == y))
        if new is None:
            first, rest = round(PARTS[0] * len(mine)), PARTS[1] * len(mine)
        else:
            mine = mine[np.argsort(new[mine], kind="stable")]  # known ones first
            first = int((~new[mine]).sum())
            rest = PARTS[1] / (1 - PARTS[0]) * (len(mine) - first)
        second = first + max(1, round(rest))
        if first < 1 or second >= len(mine):
            raise DataError("every private value needs records that are known and several that are fresh.")
        for part, places in zip(found, np.split(mine, [first, second]), strict=True):
            part.append(places)
    learn, choose, held = (np.sort(np.concatenate(part)) for part in found)
    return learn, choose, held


def _classes(private: Any, bins: int | None) -> Indices:
    if bins is not None and (not is_whole(bins) or bins < 2):
        raise ParameterError("bins is a whole number of 2 or more.")
    return classes_of(private, bins)[1]


def _several(released: Any) -> bool:
    """Return whether this is a list of tables, not one table as a list of rows."""
    return (
        isinstance(released, (list, tuple))
        and bool(released)
        and not np.isscalar(released[0])
        and (
            np.ndim(released[0]) == 2
            or isinstance(released[0], Columns)
            or hasattr(released[0], "keys")
            or hasattr(released[0], "__arrow_c_stream__")
        )
    )


def _same(column: Any, classes: Indices) -> bool:
    """Return whether a column names the private value of each record."""
    known, places = np.unique(column, return_inverse=True)
    if len(known) != int(classes.max()) + 1:
        return False
    return len(np.unique(places * len(known) + classes)) == len(known)
