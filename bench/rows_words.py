"""Rows about noisy words: against the bare product, loops over words, prepared sums and an index; and moved documents."""

from __future__ import annotations

from bench.rows import MB, Row, Task
from noisewright.text.nearest_words import LOOKED_AT

__all__ = ["ROWS"]

LARGE, LONG = {"size": 341_479, "dimension": 100}, {"size": 33_860, "dimension": 300}
SMALL = {"size": 20_000, "words": 64}
WITHIN = 1 / 1.5
NOISY = {**LARGE, "words": 1024}
MOVED = {"size": 4000, "dimension": 300}


def _row(name: str, compares: str, what: str, sizes: dict[str, int], other: str, few: int, target: float) -> Row:
    return Row(
        name=f"{name}, {sizes['size'] // 1000}k x {sizes['dimension']}",
        compares=compares,
        size=f"512 words, vocabulary of {sizes['size']} x {sizes['dimension']}",
        ours=Task(f"bench.ours.words:{what}", {**sizes, "words": 512}, SMALL),
        peer=Task(f"bench.ours.words:{other}", {**sizes, "words": few}, {**SMALL, "words": min(few, 64)}),
        target=target,
        agree=float("inf") if few != 512 else 0.0,
        unit="words",
        own_peer=True,
        memory_limit=(2 * sizes["size"] * sizes["dimension"] + 200 * MB),
    )


ROWS = [
    *(
        _row(
            f"{label} vs the bare product",
            f"{made}(...).release_rows, from words to words, against the product with all vectors in single precision",
            what,
            sizes,
            "bare_product",
            512,
            WITHIN,
        )
        for sizes in (LARGE, LONG)
        for label, made, what in (("noisy words", "laplace_words", "noise"), ("exact words", "exact_words", "choice"))
    ),
    *(
        _row(
            f"{label} vs a loop",
            f"{made} against the least norm of all differences, word by word",
            what,
            sizes,
            "plain_loop",
            4,
            50,
        )
        for sizes in (LARGE, LONG)
        for label, made, what in (("noisy words", "laplace_words", "noise"), ("exact words", "exact_words", "choice"))
    ),
    _row(
        "noisy words vs mldp-text's way",
        "laplace_words against the steps of mldp-text without an index, word by word, ending with a look through all keys",
        "noise",
        LONG,
        "keyed_loop",
        4,
        50,
    ),
    _row(
        "exact words with prepared sums vs without",
        "WordChoice.prepare, then release_rows, against the same without; the draws are the same",
        "prepared_choice",
        LONG,
        "choice",
        512,
        2,
    ),
    *(
        Row(
            name=f"index of words looking at {looked_at}, epsilon {epsilon}",
            compares=f"laplace_words(decoding='index') against the nearest words; at least {1 - missed:.1%} of them agree",
            size="1024 noisy vectors, vocabulary of 341479 x 100",
            ours=Task("bench.ours.words:index", {**NOISY, "epsilon": epsilon, "looked_at": looked_at}, SMALL),
            peer=Task("bench.ours.words:nearest_words", {**NOISY, "epsilon": epsilon}, SMALL),
            target=2 if looked_at == LOOKED_AT else None,
            agree=missed,
            unit="words",
            own_peer=True,
            memory_limit=2 * LARGE["size"] * LARGE["dimension"] + 200 * MB,
        )
        for epsilon, looked_at, missed in (
            *((epsilon, LOOKED_AT, 0.02) for epsilon in (6, 10, 15)),
            (6, 25, 0.2),
            (6, 50, 0.1),
            (6, 400, 0.01),
        )
    ),
    *(
        Row(
            name=f"Earth Mover's distance, {label}",
            compares=f"earth_movers of two documents against distances by scipy and {solver} alone",
            size=f"{words} and {other} words, 300 dimensions",
            ours=Task("bench.ours.words:transport", {**MOVED, "words": words, "other": other, "vectors": vectors}),
            peer=Task("bench.ours.words:bare_transport", {**MOVED, "words": words, "other": other, "vectors": vectors}),
            target=WITHIN,
            agree=1e-6,
            unit="pairs of documents",
            own_peer=True,
        )
        for label, words, other, vectors, solver in (
            ("words", 300, 300, False, "its assignment"),
            ("vectors", 300, 300, True, "its assignment"),
            ("different sizes", 300, 250, True, "POT's network simplex"),
        )
    ),
    Row(
        name="true epsilon of 34k words",
        compares="exact_words(epsilon=4): the largest beta whose epsilon over all pairs of words is within it",
        size="33,860 x 300",
        ours=Task("bench.ours.words:calibration", LONG, {"size": 4000}),
        unit="calibrations",
        fresh=True,
        rounds=1,
        seconds_limit=1200,
    ),
]
