"""Rows about whole releases: a table through a policy, with everything that is written beside it."""

from __future__ import annotations

from bench.rows import MB, Row, Task

__all__ = ["ROWS"]

MILLION = 1_000_000
LIMIT = 800 * MB
"""With the libraries themselves, less than 1 GB."""

SHUFFLED = 190 * MB
"""With the libraries themselves, about 330 MB, however many rows are shuffled."""

EVERYTHING = "nw.release from Parquet to a folder with table, certificate, report and lock, the ledger included"

ROWS = [
    Row(
        name="release of 1e7 rows vs diffprivlib",
        compares=f"{EVERYTHING}; five columns (whole numbers, two of categories, dates with a gap, floats), against a call "
        "for each cell of GeometricTruncated, ExponentialCategorical, Binary and LaplaceBoundedDomain, in memory; aimed at: 3 "
        "million cells a second",
        size="1e7 rows, 5 columns",
        ours=Task("bench.ours.release:local", {"rows": 10 * MILLION}, {"rows": MILLION}),
        peer=Task("bench.peers.diffprivlib:visits_columns", {"rows": 20_000}),
        target=100.0,
        memory_limit=LIMIT,
        unit="cells",
        rounds=2,
    ),
    Row(
        name="release of 1e7 rows vs OpenDP",
        compares=f"{EVERYTHING}, against OpenDP's make_laplace on vectors of whole numbers (ages, days) and floats and "
        "make_randomized_response for each category, in memory and without ranges",
        size="1e7 rows, 5 columns",
        ours=Task("bench.ours.release:local", {"rows": 10 * MILLION}, {"rows": MILLION}),
        peer=Task("bench.peers.opendp:visits_columns", {"rows": 20_000}),
        target=30.0,
        memory_limit=LIMIT,
        unit="cells",
        rounds=2,
    ),
    Row(
        name="release on Spark vs local",
        compares="the same release with Spark on two threads of this machine, started before, against our local engine: at "
        "most five times as long",
        size="1e7 rows, 5 columns",
        ours=Task("bench.ours.release:spark", {"rows": 10 * MILLION}, {"rows": MILLION}),
        peer=Task("bench.ours.release:local", {"rows": 10 * MILLION}, {"rows": MILLION}),
        own_peer=True,
        target=0.2,
        unit="cells",
        rounds=2,
        seconds_limit=300.0,
    ),
    Row(
        name="release of 1e7 rows vs 1e6",
        compares="time grows no faster than the table: our rate on 1e7 rows against our rate on 1e6",
        size="1e7 rows, 5 columns",
        ours=Task("bench.ours.release:local", {"rows": 10 * MILLION}, {"rows": 2 * MILLION}),
        peer=Task("bench.ours.release:local", {"rows": MILLION}),
        own_peer=True,
        target=0.9,
        memory_limit=LIMIT,
        unit="cells",
        rounds=2,
    ),
    Row(
        name="release of 1e8 rows vs 1e7",
        compares="time grows no faster than the table, and memory not at all: our rate on 1e8 rows against our rate on 1e7",
        size="1e8 rows, 5 columns",
        ours=Task("bench.ours.release:local", {"rows": 100 * MILLION}, {"rows": 4 * MILLION}),
        peer=Task("bench.ours.release:local", {"rows": 10 * MILLION}, {"rows": 2 * MILLION}),
        own_peer=True,
        target=0.9,
        memory_limit=LIMIT,
        unit="cells",
        rounds=1,
        seconds_limit=600.0,
    ),
    *(
        Row(
            name=f"random order against kept, {said} rows",
            compares="rows in random order, the default, against rows in the order of the table: at most 1.6 times as long, "
            "in constant memory",
            size=f"{said} rows, 5 columns",
            ours=Task("bench.ours.release:local", {"rows": rows}, {"rows": 2 * MILLION}),
            peer=Task("bench.ours.release:kept", {"rows": rows}, {"rows": 2 * MILLION}),
            own_peer=True,
            target=0.625,
            memory_limit=SHUFFLED,
            unit="cells",
            rounds=rounds,
            seconds_limit=600.0,
        )
        for said, rows, rounds in (("1e7", 10 * MILLION, 3), ("1e8", 100 * MILLION, 1))
    ),
    *(
        Row(
            name=f"certified release against unsafe numpy, {said}",
            compares=f"{EVERYTHING}, {said}, against the same table read from Parquet, numpy's noise, cut off at the ranges and "
            f"written to Parquet: at most {most} times its processor time",
            size="1e7 rows, 5 columns",
            ours=Task("bench.ours.release:processor", {"rows": 10 * MILLION, "order": order}, {"rows": 2 * MILLION}),
            peer=Task("bench.ours.release:unsafe", {"rows": 10 * MILLION}, {"rows": 2 * MILLION}),
            own_peer=True,
            target=1 / most,
            memory_limit=LIMIT,
            unit="cells",
            rounds=3,
        )
        for said, order, most in (("rows in their order", "kept", 1.6), ("rows in random order", "random", 2.2))
    ),
]
