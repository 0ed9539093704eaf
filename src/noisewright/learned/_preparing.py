"""Preparation of a training: budgets, private classes, families, settings and attackers, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisewright.core.arrays import Floats
from noisewright.core.choices import is_number, one_of
from noisewright.core.errors import DataError, MissingPartError, ParameterError
from noisewright.learned.columns import Category, Codes, Columns, as_columns, codes_of, labels_of
from noisewright.learned.evaluation.attack import FEWEST_RECORDS
from noisewright.learned.evaluation.attackers import chosen_attackers
from noisewright.learned.evaluation.tables import MOST_CLASSES

__all__ = ["attackers_of", "budgets_of", "check_free", "family_of", "private_of", "settings_of", "truth_of"]

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
    from noisewright.learned.training.settings import Settings

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
