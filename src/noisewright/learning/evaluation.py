"""Measurement of a trained privatiser on held-out records: its distortion, and the accuracy of attackers.

Everything is measured on releases as they come out, rounded and clipped. Fresh attackers (:mod:`.evaluation`) learn
from releases of the records that the privatiser learned from; the best is chosen on a third of the others, and judged
on the rest. What is stated is the better of that one and of the adversary that watched the training. For one column of
labels the latter knows the mechanism and counted the records: no attacker can learn more from few outputs, and no
attackers are trained. Next to it stands the theoretical optimum at the same distortion, where there is one to compute.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright._typing import Floats
from noisewright._utils.validation import is_number, one_of
from noisewright.attacks.attribute_inference import FEWEST_RECORDS, Optimum, optimum_beside
from noisewright.attacks.classifiers import MOST_CLASSES, chosen_attackers
from noisewright.context_aware.distributions import Estimate, accuracy_interval, from_beliefs
from noisewright.exceptions import DataError, MissingPartError, ParameterError
from noisewright.learning.columns import Category, Codes, Columns, as_columns, codes_of, labels_of
from noisewright.learning.sampling import Drawer
from noisewright.numerics.polyhedra import UnsolvedError
from noisewright.sampling.random_bits import Bits

__all__ = [
    "WATCHING",
    "Guessed",
    "Point",
    "attackers_of",
    "best_beside",
    "budgets_of",
    "check_free",
    "costs_of",
    "draws_of",
    "family_of",
    "guessed",
    "measured_rows",
    "private_of",
    "released",
    "settings_of",
    "spent_of",
    "truth_of",
]


WATCHING = "the adversary of the training"
MOST_LEARNED = 10_000
"""Approximate number of rows that attackers learn from: for few records several draws of each, at most :data:`MOST_DRAWS`."""
MOST_DRAWS = 5
MOST_MEASURED = 12_000
"""Maximum number of training records, and of held-out ones, that are released to measure."""
NORMAL = 1.959964
MUCH = 0.9
"""Who surely spends less than this share of a budget leaves much of it."""


@dataclass(frozen=True)
class Point:
    """One budget of a curve: its distortion, and the accuracy on releases of held-out records.

    ``spent``: the mean distortion of releases, with an interval of 95 %, and ``by_column``; ``accuracy``: the best
    adversary's accuracy for each private variable (``best``, of those that were ``tried``), with such an interval, on
    ``judged`` records; ``told``: how many nats of it were found in releases, which is at most their information,
    likewise; ``optimum``: the accuracy that the best mechanism leaves at the distortion that is spent, None where it
    is not computed; ``prior``: how often a blind guess is right; ``loss``: what the adversary of the training lost,
    all variables together, ``prior_loss`` blindly; ``rested``: whether the training came to rest.
    """

    distortion: float
    spent: float
    spent_between: tuple[float, float]
    by_column: tuple[tuple[str, float], ...]
    accuracy: tuple[float, ...]
    accuracy_between: tuple[tuple[float, float], ...]
    best: tuple[str, ...]
    judged: tuple[int, ...]
    tried: tuple[str, ...]
    told: tuple[float, ...]
    told_between: tuple[tuple[float, float], ...]
    optimum: tuple[Optimum | None, ...]
    prior: tuple[float, ...]
    loss: float
    prior_loss: float
    held_out: int
    rested: bool
    epochs: int

    @property
    def over_budget(self) -> bool:
        """Return whether more is spent than allowed, by more than the interval."""
        return self.spent_between[0] > self.distortion

    @property
    def missed(self) -> bool:
        """True if much of the budget is left although attackers succeed: the training missed their attack."""
        found = any(low > blind for (low, _), blind in zip(self.accuracy_between, self.prior, strict=True))
        return found and self.spent_between[1] < MUCH * self.distortion

    @property
    def converged(self) -> bool:
        """Return whether the training came to rest with its budget spent, and its adversary saw what fresh attackers
        see.

        This is not a proof of being the best: compare ``accuracy`` with ``optimum``, where that is known.
        """
        return self.rested and not self.over_budget and not self.missed

    @property
    def advice(self) -> str:
        """Settings to change if the training did not converge; empty if it did."""
        if self.over_budget:
            return "raise the settings penalty and most_penalty, or epochs"
        if self.missed:
            return "raise the settings adversary_steps and adversary_hidden, or epochs"
        return "" if self.converged else "raise the setting epochs, or rate if little of the budget is spent"

    def in_words(self) -> str:
        """One line; numbers of several private variables in their order."""
        right = " and ".join(
            f"{100 * one:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)"
            for one, (low, high) in zip(self.accuracy, self.accuracy_between, strict=True)
        )
        blind = " and ".join(f"{100 * one:.1f} %" for one in self.prior)
        rest = "; MORE than allowed is spent" if self.over_budget else ""
        rest = "; perhaps more than allowed" if self.spent > self.distortion and not rest else rest
        rest += "; much of it is left although something is found" if self.missed else ""
        rest += "" if self.converged else f"; it did NOT converge: {self.advice}"
        low, high = self.spent_between
        best = dict.fromkeys(f"{100 * one.accuracy:.1f} % with {one.of}" for one in self.optimum if one is not None)
        beside = f", {' and '.join(best)}" if best else ""
        return (
            f"distortion {self.spent:.4g} ({low:.4g} to {high:.4g}) of {self.distortion:.4g} allowed; {right} are guessed "
            f"right by {' and '.join(dict.fromkeys(self.best))}, {blind} blindly{beside}{rest}"
        )


@dataclass(frozen=True)
class Guessed:
    """Attack on one private variable: the attacker, its accuracy, number of records, and nats."""

    best: str
    accuracy: Estimate
    judged: int
    told: Estimate


def released(
    columns: Columns, drawer: Drawer, table: Mapping[str, NDArray[Any]], truth: Codes | None, bits: Bits
) -> dict[str, NDArray[Any]]:
    """One release of these columns, as it comes out."""
    numeric, codes = columns.encode(table)
    return dict(columns.decode(table, *drawer.draw(numeric, codes, truth, bits)))


def costs_of(columns: Columns, costs: Sequence[float], before: Any, after: Any) -> Floats:
    """The distortion of every record and column (numbers first)."""
    (numeric, codes), (other, new) = columns.encode(before), columns.encode(after)
    return np.asarray(np.concatenate([(other - numeric) ** 2, codes != new], axis=1) * np.asarray(costs))


def spent_of(each: Floats) -> Estimate:
    """The mean of the distortions of records, with an interval by the normal law."""
    mean, side = float(each.mean()), NORMAL * float(each.std(ddof=1)) / len(each) ** 0.5
    return Estimate(mean, max(0.0, mean - side), mean + side, 0.95)


def measured_rows(apart: NDArray[np.bool_], seed: int) -> Codes:
    """The rows that are released to measure: all, or some of each part where there are very many."""
    rng = np.random.default_rng((seed, 2))
    parts = [rng.permutation(np.flatnonzero(which))[:MOST_MEASURED] for which in (~apart, apart)]
    return np.sort(np.concatenate(parts))


def draws_of(rows: int) -> int:
    """Return how often every record is released for attackers to learn from."""
    return int(np.clip(MOST_LEARNED // max(rows, 1), 1, MOST_DRAWS))


def guessed(
    columns: Columns,
    tables: Sequence[Mapping[str, NDArray[Any]]],
    truth: Codes,
    apart: NDArray[np.bool_],
    watched: Sequence[float],
    attackers: Sequence[str],
    seed: int,
) -> list[Guessed]:
    """Return the attack on each private variable, on held-out records.

    ``watched`` is the accuracy of the training's adversary for all of them. Without attackers, the release has one
    column of labels and its information is counted.
    """
    from noisewright.attacks.attribute_inference import attack_release

    many, found = int(apart.sum()), []
    seen = [_seen(columns, one) for one in tables]
    for place, right in enumerate(watched):
        best = (WATCHING, accuracy_interval(round(right * many), many), many)
        if attackers:
            attack = attack_release(seen, truth[:, place], fresh=apart, attackers=attackers, seed=seed)
            best = max(best, (attack.best, attack.accuracy, attack.records[2]), key=lambda one: one[1].high)
        told = attack.information if attackers else _counted(columns, tables, truth[:, place], apart)
        found.append(Guessed(*best, told))
    return found


def best_beside(
    columns: Columns, costs: Sequence[float], table: Any, truth: Codes, given: str, spent: float
) -> tuple[Optimum | None, ...]:
    """Return for each private variable the optimum at a distortion under the empirical law of these records."""
    numeric, codes = columns.encode(table)
    parts: dict[str, Any] = {number.name: numeric[:, place] for place, number in enumerate(columns.numbers)}
    parts |= {label.name: codes[:, place].astype(str) for place, label in enumerate(columns.labels)}
    sizes = [*numeric.var(axis=0), *[1.0] * len(columns.labels)]  # costs are of the deviations of all records
    weights = {name: float(cost * size) for name, cost, size in zip(parts, costs, sizes, strict=True)}
    try:
        return tuple(optimum_beside(parts, classes, spent, given=given, weights=weights) for classes in truth.T)
    except UnsolvedError:
        return tuple(None for _ in truth.T)


def _seen(columns: Columns, table: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """A release as attackers take it: labels are words, though they may look like numbers."""
    labels = {label.name for label in columns.labels}
    return {name: values.astype(str) if name in labels else values for name, values in table.items()}


def _counted(columns: Columns, tables: Sequence[Any], truth: Codes, apart: NDArray[np.bool_]) -> Estimate:
    """Return the accuracy for a class from one column of labels: releases of known records are counted, held-out ones
    believed from that."""
    (label,), classes = columns.labels, int(truth.max()) + 1
    counts = np.full((len(label.labels), classes), 1 / classes)
    outputs = [columns.encode(one)[1][:, 0] for one in tables]
    for codes in outputs:
        np.add.at(counts, (codes[~apart], truth[~apart]), 1.0)
    beliefs = counts / counts.sum(axis=1, keepdims=True)
    return from_beliefs(beliefs[outputs[0][apart], truth[apart]], truth[apart])


# Preparing ----------------------------------------------------------------------------------------------------------------
#
# Preparation of a training: budgets, private classes, families, settings and attackers, checked.


FAMILIES = ("auto", "shifts", "table", "network")
LEAST_ROWS = 20
"""A class with fewer rows is not learned about."""
MOST_OUTPUTS = 64
"""A column of more labels is left to a network."""
LIKE_THE_FAMILY: dict[str, dict[str, Any]] = {
    "shifts": {
        "rate": 0.02,
        "adversary_rate": 0.01,
        "momentum": 0.9,
        "penalty": 0.2,
        "batch": 1000,
        "adversary_hidden": 10,
    },
    "table": {
        "rate": 0.05,
        "momentum": 0.9,
        "penalty": 0.2,
        "batch": 1 << 40,
        "epochs": 150,
        "warm_up": 0,
        "cap": False,
    },
    "network": {},
}
"""Settings that worked for each family; those given by name go before."""


def budgets_of(distortion: Any) -> list[float]:
    given = (
        list(distortion)
        if isinstance(distortion, (Sequence, np.ndarray)) and not isinstance(distortion, str)
        else [distortion]
    )
    for budget in given:
        if is_number(budget) and budget == 0:
            raise ParameterError(
                "a distortion of 0 leaves every record as it is, so nothing is learned, and no privatiser is made that hides "
                "nothing; ask for more than 0, and measure what untouched records tell with attack private-attribute, which "
                "has them beside every release."
            )
        if not is_number(budget) or not 0 < budget < math.inf:
            shown = f"{budget:g}" if is_number(budget) else f"a thing of type {type(budget).__name__}"
            raise ParameterError(f"distortion must be a finite number above 0, or a list of such, not {shown}.")
    if not given or len(set(given)) < len(given):
        raise ParameterError("the budgets of a curve are one or more different numbers.")
    return [float(budget) for budget in given]


def private_of(y: Any) -> tuple[Category, ...]:
    """The private variables."""
    found = []
    for name, values in _private_columns(y).items():
        if values.dtype.kind == "f" and len(values) and len(np.unique(values)) > MOST_OUTPUTS:
            raise DataError(
                f"the private column {name!r} has too many different values for classes; cut it into bins first."
            )
        labels = labels_of(name, values)
        if len(labels) < 2:
            raise DataError(
                f"the private column {name!r} has one class only, so there is nothing to hide; leave it out."
            )
        if len(labels) > MOST_CLASSES:
            raise DataError(f"the private column {name!r} has more than {MOST_CLASSES} classes; group them first.")
        if np.bincount(codes_of(name, values, labels)).min() < LEAST_ROWS:
            raise DataError(
                f"the private column {name!r} has a class with fewer than {LEAST_ROWS} rows; merge classes, or "
                "leave such rows out."
            )
        found.append(Category(name, labels))
    return tuple(found)


def truth_of(y: Any, private: tuple[Category, ...]) -> Codes:
    given = _private_columns(y)
    if len(given) != len(private):
        raise DataError(f"there are {len(private)} private columns, and {len(given)} were given.")
    return np.column_stack(
        [codes_of(one.name, values, one.labels) for one, values in zip(private, given.values(), strict=True)]
    )


def _private_columns(y: Any) -> dict[str, NDArray[Any]]:
    name = getattr(y, "name", None)
    if name is not None and hasattr(y, "to_numpy"):
        return as_columns({str(name): y.to_numpy()})
    plain = np.asarray(y) if isinstance(y, (list, tuple, np.ndarray)) else y
    if isinstance(plain, np.ndarray) and plain.ndim == 1:
        return as_columns({"y": plain})
    if isinstance(plain, np.ndarray) and plain.ndim == 2:
        return as_columns({f"y{place}": plain[:, place] for place in range(plain.shape[1])})
    if plain is None:
        raise DataError("fit needs the private values as well; pass them as the second argument.")
    return as_columns(y)


def family_of(family: str, columns: Columns, private: tuple[Category, ...]) -> str:
    one_of(family, "family", FAMILIES)
    single = not columns.numbers and len(columns.categories) == 1
    if family == "auto":
        return "table" if single and columns.categories[0] <= MOST_OUTPUTS else "network"
    if family == "table" and not single:
        raise ParameterError("the family 'table' is for one column of labels; others are for 'network'.")
    line = len(columns.numbers) == 1 and not columns.categories and [len(one.labels) for one in private] == [2]
    if family == "shifts" and not line:
        raise ParameterError("the family 'shifts' is for one column of numbers and a private value of two classes.")
    return family


def settings_of(family: str, loss: str, seed: int, rows: int, own: Mapping[str, Any] | None) -> Any:
    """The settings of a family, with those that were named."""
    from noisewright.learning.objectives import Settings

    plain = {"batch": int(np.clip(rows // 20, 32, 500)), **LIKE_THE_FAMILY[family], "loss": loss, "seed": seed}
    for name in own or {}:
        if name not in Settings.__dataclass_fields__ or name in ("loss", "seed"):
            raise ParameterError(
                f"{name} is not a setting of training; there are "
                f"{', '.join(one for one in Settings.__dataclass_fields__ if one not in ('loss', 'seed'))}."
            )
    return Settings(**{**plain, **(own or {})})


def check_free(budgets: list[float], costs: list[float], numeric: Floats, codes: Codes) -> None:
    """Refuse a budget that a constant satisfies: a constant reveals nothing."""
    parts = [float(column.var()) for column in numeric.T]
    parts += [1 - float(np.bincount(column).max()) / len(column) for column in codes.T]
    free = sum(cost * part for cost, part in zip(costs, parts, strict=True))
    for budget in budgets:
        if budget >= free:
            raise ParameterError(
                f"a distortion of {budget:g} is free of any choice: releasing the same constant for every record costs "
                f"{free:.6g} and tells nothing at all; ask for less, or do not release these columns."
            )


def attackers_of(names: Sequence[str] | None, family: str, rows: int) -> tuple[str, ...]:
    """The fresh attackers that will be tried; none on a table, where counting does all that they could."""
    chosen = chosen_attackers(names)
    if family == "table":
        return ()
    if find_spec("sklearn") is None:
        raise MissingPartError(
            "what is learned is tried by attackers of scikit-learn; install noisewright[attackers], which brings it."
        )
    if rows < FEWEST_RECORDS:
        raise DataError(
            f"{FEWEST_RECORDS} records or more are needed: some to learn from, and some for attackers to be tried on."
        )
    return tuple(chosen)
