"""A privatiser that is learned from a table: trained and tried by a process of its own, next to the optimum."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from noisewright.attacks.attribute_inference import attack_release
from noisewright.cli.arguments import check_number
from noisewright.exceptions import MissingPartError, ParameterError
from noisewright.learning.evaluation import Point
from noisewright.learning.privatiser import GAPPrivatiser
from noisewright.numerics.exact import as_fraction
from noisewright.tables.reading import source_of, table_of

__all__ = [
    "EXAMPLE",
    "Learned",
    "Reached",
    "columns_of",
    "example_table",
    "learning_code",
    "learning_commands",
    "train_privatiser",
]


EXAMPLE = {"private": "at_home", "distortion": "0.1,0.2,0.4", "epochs": "40"}
MODEL = "hide.nwm"
MOST_EPOCHS, MOST_BUDGETS = 1000, 12


@dataclass(frozen=True)
class Reached:
    """Results for one budget: the training, the attackers, and the optimum."""

    point: Point
    promise: str
    optimum: float | None
    """Probability of a right guess of the private value under the best mechanism of this distortion, where that can be
    computed.
    """
    optimum_of: str


@dataclass(frozen=True)
class Learned:
    """Result of a training."""

    file: str
    rows: int
    columns: tuple[str, ...]
    family: str
    reached: tuple[Reached, ...]
    blind: float
    raw: float | None
    """Probability of a right guess by the best attacker from the records as they are; None where there are no attackers
    here.
    """
    missing: str
    """Why none was tried."""
    against: str
    """The adversary that the guarantees are about."""


def columns_of(path: str) -> list[str]:
    """The columns of a table."""
    return list(source_of(path).schema.names)


def example_table(folder: Path) -> Path:
    """Return the use of 1,500 made-up homes in an evening, in half kilowatt hours, and whether someone is at home."""
    rng = np.random.default_rng(11)
    there = rng.random(1500) < 0.6
    used = np.clip(np.round(2 * rng.normal(np.where(there, 2.6, 1.1), 0.8)) / 2, 0, 6)
    path = folder / "evenings.csv"
    rows = (f"{kwh},{'yes' if home else 'no'}" for kwh, home in zip(used, there, strict=True))
    path.write_text("kwh,at_home\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


def train_privatiser(path: str, given: Mapping[str, str], folder: str, told: Callable[..., None]) -> Learned:
    """Train for all budgets together, with attackers tried on each, and keep the privatiser in a folder."""
    records = table_of(path)
    private = given.get("private", "").strip()
    names = _columns(given, records.column_names, private)
    budgets = _budgets(given.get("distortion", ""))
    made = GAPPrivatiser(budgets, given="xy" if "both" in given else "x", settings=_settings(given))
    public, hidden = records.select(names), records.select([private])
    made.fit(public, hidden, progress=lambda done, of: told(done, of or 0))
    target = Path(folder) / MODEL
    target.unlink(missing_ok=True)
    made.save(target)
    truth = records[private].to_numpy(zero_copy_only=False)
    raw, missing = None, ""
    try:
        raw = attack_release(public, truth).accuracy.value
    except MissingPartError as problem:
        missing = str(problem)
    points = [made.at(point.distortion) for point in made.points_]
    return Learned(
        str(target),
        made.rows_,
        tuple(names),
        made.family_,
        tuple(_reached(one) for one in points),
        made.points_[0].prior[0],
        raw,
        missing,
        points[0].guarantee.adversary,
    )


def _reached(made: GAPPrivatiser) -> Reached:
    (point,) = made.points_
    (best,) = point.optimum
    return Reached(
        point,
        str(made.guarantee),
        None if best is None else best.accuracy,
        "" if best is None else best.of,
    )


def learning_code(name: str, given: Mapping[str, str]) -> str:
    """Lines of Python that train the same."""
    private = given.get("private", "")
    asked = [f"[{given.get('distortion', '')}]"]
    asked += ['given="xy"'] if "both" in given else []
    asked += [f"settings={{'epochs': {given['epochs']}}}"] if given.get("epochs") else []
    chosen = _listed(given.get("columns", ""))
    public = f"table.select({chosen!r})" if chosen else f"table.drop_columns([{private!r}])"
    return (
        "import noisewright as nw\n\n"
        f"table = nw.tables.table_of({name!r})\n"
        f"public, private = {public}, table.select([{private!r}])\n"
        f"made = nw.learning.GAPPrivatiser({', '.join(asked)}).fit(public, private)\n"
        "for point in made.points_:\n"
        "    print(point.in_words())\n"
        f"made.save({MODEL!r})"
    )


def learning_commands(name: str, given: Mapping[str, str]) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """The words and options of the commands that train, and attack, the same."""
    private = {"private": given.get("private", "")}
    more = {key: given[key] for key in ("columns", "epochs") if given.get(key)}
    more |= {"given": "xy"} if "both" in given else {}
    learn = {**private, "distortion": given.get("distortion", ""), **more, "output": MODEL}
    budgets = _listed(given.get("distortion", ""))
    one = {"distortion": budgets[len(budgets) // 2]} if len(budgets) > 1 else {}
    return [(("learn", name), learn), (("attack", "private-attribute", name, MODEL), {**private, **one})]


def _columns(given: Mapping[str, str], there: list[str], private: str) -> list[str]:
    if private not in there:
        raise ParameterError("choose the private column: the one that is to be hidden.")
    names = _listed(given.get("columns", "")) or [name for name in there if name != private]
    unknown = [name for name in names if name not in there or name == private]
    if unknown or not names:
        raise ParameterError("the columns that are changed are other columns of the table, separated by commas.")
    return names


def _budgets(text: str) -> list[float]:
    parts = _listed(text)
    if not 1 <= len(parts) <= MOST_BUDGETS:
        raise ParameterError(f"give 1 to {MOST_BUDGETS} budgets of distortion, such as 0.1,0.2,0.4.")
    return [float(as_fraction(check_number(part, "distortion"), "distortion")) for part in parts]


def _settings(given: Mapping[str, str]) -> dict[str, int] | None:
    text = given.get("epochs", "").strip()
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= MOST_EPOCHS:
        raise ParameterError(f"epochs must be a whole number from 1 to {MOST_EPOCHS}.")
    return {"epochs": int(text)}


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
