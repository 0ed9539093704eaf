"""The attack on a private value: learn from some released records, choose the best attacker on others, report on the rest.

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

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from noisewright.core.arrays import Floats, Indices
from noisewright.core.choices import is_whole
from noisewright.core.errors import DataError, ParameterError
from noisewright.learned.evaluation.attackers import Fitted, chosen_attackers, cross_entropy
from noisewright.learned.evaluation.changes import distortion_of, unrelated
from noisewright.learned.evaluation.found import Attack, Tried
from noisewright.learned.evaluation.optima import Optimum
from noisewright.learned.evaluation.tables import Columns, Encoder, classes_of
from noisewright.learned.theory.estimates import Estimate, accuracy_interval, from_beliefs
from noisewright.learned.theory.joint import chance

__all__ = ["attack_mechanism", "attack_release"]

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
