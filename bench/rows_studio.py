"""Rows about the studio: how long people wait for an answer while others move their sliders, too."""

from __future__ import annotations

from bench.rows import Row, Task

__all__ = ["ROWS"]

USERS, SECRETS, MOVES, SECONDS = 20, 50, 8, 0.3

ROWS = [
    Row(
        name="studio, sliding",
        compares=f"the median wait from a move of a slider to its answer on the page, against {1000 * SECONDS:g} ms",
        size=f"{USERS} people at once, {SECRETS} x {SECRETS} channels",
        ours=Task("bench.ours.studio:sliding", {"users": USERS, "secrets": SECRETS, "moves": MOVES}),
        peer=Task("bench.ours.studio:allowed", {"seconds": SECONDS, "answers": USERS * MOVES}),
        target=1.0,
        unit="answers",
        own_peer=True,
        rounds=2,
    )
]
