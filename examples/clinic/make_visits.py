"""A made-up clinic: one row for each patient's last visit, 100,000 of them, as a Parquet file.

Run:  python examples/clinic/make_visits.py out/clinic/visits.parquet [ROWS]

Nothing in it is about a real person; the badge photographs, which one patient in fifty has, are drawn faces. Ages, diagnoses,
smoking and places hang together, as they do in real tables: older patients smoke less and have other complaints, and most live
near one of four towns. The clinic is closed in August and over new year.
"""

import sys
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from noisewright.images import png_of, sprite_faces

DIAGNOSES = ["asthma", "back pain", "diabetes", "fracture", "hypertension", "infection", "migraine", "skin", "other"]
COMMON = np.array(
    [  # how common each diagnosis is under 30, under 60, and above
        [14, 10, 2, 9, 2, 28, 12, 15, 8],
        [8, 20, 9, 7, 14, 16, 9, 8, 9],
        [5, 14, 19, 9, 27, 12, 2, 4, 8],
    ]
)
TOWNS = {"N1": (53.52, -2.21, 0.35), "N2": (53.44, -2.29, 0.25), "S1": (53.41, -2.16, 0.25), "S2": (53.38, -2.09, 0.15)}
FIRST, LAST = date(2025, 1, 7), date(2025, 12, 19)
HOLIDAY = (date(2025, 8, 1), date(2025, 8, 31))
HIDDEN, WITH_BADGE = range(68, 135), 0.02
"""Drawn people who are not public faces of the policy's model; and the share of patients with a photograph."""
NOTES = ["first visit", "follow-up in two weeks", "referred to a specialist", "prescription renewed", "no complaints"]


def visits(rows: int, seed: int = 2025) -> pa.Table:
    """The table; the same for the same number of rows and seed."""
    rng = np.random.default_rng(seed)
    age = np.clip(np.concatenate([rng.gamma(3, 9, rows // 3), rng.normal(58, 17, rows - rows // 3)]), 0, 104)
    age = rng.permutation(age).astype(np.int64)
    band = np.digitize(age, [30, 60])
    shares = COMMON / COMMON.sum(axis=1, keepdims=True)
    diagnosis = (rng.random(rows)[:, None] > shares.cumsum(axis=1)[band]).sum(axis=1)
    smoker = rng.random(rows) < np.array([0.24, 0.21, 0.09])[band]
    town = rng.choice(len(TOWNS), rows, p=[share for *_, share in TOWNS.values()])
    centre = np.array([(lat, lon) for lat, lon, _ in TOWNS.values()])[town]
    place = centre + rng.normal(0, 1, (rows, 2)) * [0.012, 0.02]
    open_days = [d for d in _days(FIRST, LAST) if not HOLIDAY[0] <= d <= HOLIDAY[1] and d.weekday() < 5]
    season = np.array([1.5 if d.month in (1, 2, 11, 12) else 1.0 for d in open_days])
    day = rng.choice(len(open_days), rows, p=season / season.sum())
    return pa.table(
        {
            "patient": pa.array(np.char.add("P", (10_000_000 + rng.permutation(rows)).astype(str))),
            "age": pa.array(age),
            "postcode": pa.array(np.array(list(TOWNS))[town]),
            "diagnosis": pa.array(np.array(DIAGNOSES)[diagnosis]),
            "visit_date": pa.array(np.array(open_days, dtype="datetime64[D]")[day]),
            "smoker": pa.array(smoker),
            "latitude": pa.array(place[:, 0].round(5)),
            "longitude": pa.array(place[:, 1].round(5)),
            "note": pa.array(np.array(NOTES)[rng.integers(len(NOTES), size=rows)]),
            "badge": _badges(rows, rng),
        }
    )


def _badges(rows: int, rng: np.random.Generator) -> pa.Array:
    """Files of photographs, and nothing for most patients."""
    files = [png_of(face) for face in sprite_faces().of(HIDDEN).pictures]
    whose = pa.array(rng.integers(len(files), size=rows), mask=rng.random(rows) >= WITH_BADGE)
    return pa.array(files, pa.binary()).take(whose)


def _days(first: date, last: date) -> list[date]:
    return [first + timedelta(days=k) for k in range((last - first).days + 1)]


def main(path: Path, rows: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(visits(rows), path)
    print(f"{rows:,} made-up visits in {path}")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("make_visits.py: give the file to write, and perhaps the number of rows.")
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100_000)
