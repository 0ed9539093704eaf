"""Two made-up tables to try things with, and the public facts about them. Nothing in them is about a real person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

__all__ = ["EXAMPLES", "Example"]

TOWNS = {"north": (53.52, -2.21), "west": (53.44, -2.29), "south": (53.41, -2.16), "east": (53.38, -2.09)}
DIAGNOSES = ("asthma", "back pain", "diabetes", "fracture", "infection", "other")


@dataclass(frozen=True)
class Example:
    """Table that is made on the spot, with the public facts about it."""

    title: str
    words: str
    make: Callable[[], pa.Table]
    known: Mapping[str, Mapping[str, str]]
    """Public facts, by the names of columns and of fields."""


def _clinic() -> pa.Table:
    """Last visits of patients; the older, the more often diabetes and the less often smoking."""
    rng, rows = np.random.default_rng(2025), 5000
    age = np.clip(rng.normal(52, 21, rows), 0, 104).astype(np.int64)
    town = rng.integers(len(TOWNS), size=rows)
    place = np.array(list(TOWNS.values()))[town] + rng.normal(0, 0.012, (rows, 2))
    usual = rng.integers(len(DIAGNOSES), size=rows)
    diagnosis = np.where((age > 60) & (rng.random(rows) < 0.3), DIAGNOSES.index("diabetes"), usual)
    days = np.datetime64("2025-01-07") + rng.integers(340, size=rows)
    return pa.table(
        {
            "patient_id": pa.array(np.char.add("P", (100_000 + rng.permutation(rows)).astype(str))),
            "age": pa.array(age),
            "town": pa.array(np.array(list(TOWNS))[town]),
            "diagnosis": pa.array(np.array(DIAGNOSES)[diagnosis]),
            "visit_date": pa.array(days),
            "smoker": pa.array(rng.random(rows) < np.where(age > 60, 0.09, 0.23)),
            "latitude": pa.array(place[:, 0].round(5)),
            "longitude": pa.array(place[:, 1].round(5)),
        }
    )


def _commuters() -> pa.Table:
    """Return a table of commuting: minutes of travel by means, and days at home."""
    rng, rows = np.random.default_rng(7), 2000
    means = rng.choice(4, rows, p=[0.45, 0.25, 0.2, 0.1])
    minutes = rng.gamma(4, np.array([8.0, 11.0, 5.0, 4.0])[means])
    return pa.table(
        {
            "means": pa.array(np.array(["car", "train", "bicycle", "on foot"])[means]),
            "minutes": pa.array(np.clip(minutes, 1, 180).round(1)),
            "days_at_home": pa.array(rng.binomial(5, 0.35, rows)),
        }
    )


EXAMPLES = {
    "clinic": Example(
        "A clinic",
        "5,000 made-up patients: age, town, diagnosis, day of the visit, smoking, where they live",
        _clinic,
        {
            "age": {"low": "0", "high": "110", "protect": "5"},
            "town": {"categories": "north,west,south,east"},
            "diagnosis": {"categories": ",".join(DIAGNOSES)},
            "visit_date": {"low": "2025-01-01", "high": "2025-12-31", "protect": "7 days"},
            "latitude": {"latitude": "53.45", "longitude": "-2.2", "protect": "500"},
        },
    ),
    "commuters": Example(
        "Commuters",
        "2,000 made-up people: how they come to work, how long it takes, days at home",
        _commuters,
        {
            "means": {"categories": "car,train,bicycle,on foot"},
            "minutes": {"low": "0", "high": "180", "protect": "15"},
            "days_at_home": {"low": "0", "high": "5", "protect": "1"},
        },
    ),
}
