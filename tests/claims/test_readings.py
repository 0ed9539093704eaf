"""Short readings and prices are true: the numbers in them are read back from the English, and held against exact ones."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.attack.forge import proved
from tests.attack.forge_honest import honest
from tests.attack.mutants import DEFECTS_OF_CLAIMS, planted_claims
from tests.attack.reading_prices import (
    CLAIMS,
    prices_of,
    read_level,
    read_prices,
    read_rest,
    read_short,
)
from tests.attack.truth import UntrueError

from noisewright.certificates.checker import checker
from noisewright.claims import readings, totals
from noisewright.claims.figures import downward, percent, upward

KEPT = sorted((Path(__file__).parents[1] / "fixtures" / "kept" / "certificates").glob("*.json"))


def numbers(seed: int, count: int) -> list[Fraction]:
    """Return epsilons: round ones, floats, and those that are next to a round one."""
    rng, found = random.Random(seed), []
    for place in range(count):
        size = rng.choice([rng.random(), 40 * rng.random(), 900 * rng.random(), 10 ** rng.uniform(-9, 4)])
        exact = Fraction(size) if place % 3 else Fraction(f"{size:.{rng.randint(1, 4)}g}")
        found.append(exact if place % 4 else exact * (1 + Fraction(rng.choice([-1, 1]), 10**13)))
    return found


def records() -> Iterator[dict[str, Any]]:
    """Return claims that no honest certificate above has."""
    metrics: list[dict[str, Any]] = [
        *({"base": "discrete", "factor": factor} for factor in ("1/3", "5/2")),
        *({"base": base, "factor": "1/7"} for base in ("line", "euclidean", "manhattan", "hamming")),
        {"base": "largest", "count": 3, "factor": "1/12"},
        {"base": "metres", "around": ["53", "-2"], "factor": "1/300", "lattice": -3},
        {"called": "of my own"},
    ]
    for place, metric in enumerate(metrics * 2):
        scope = "adjacent" if place >= len(metrics) else "metric"
        yield {"epsilon": "7/3", "delta": "0", "scope": scope, "metric": metric, "conditions": []}


def read_all(tool: Any, count: int) -> None:
    """Read every sentence for many numbers, and for all honest certificates."""
    for place, epsilon in enumerate(numbers(5, count)):
        delta = Fraction(0) if place % 2 else Fraction(f"{10 ** -(place % 13 / 2 + 0.1):.3g}")
        read_prices(epsilon, delta, tool)
        read_rest(epsilon, 1 + place * 37 % 300, delta or Fraction(1, 7), epsilon * 9, tool)
    for record in records():
        read_short(tool.readings.reading(record), record, {})
    for document in honest().values():
        record = proved(document, checker)
        if "parts" not in record:
            read_short(tool.readings.reading(record), record, checker.current(document))
        elif record["parts"]:
            for price in prices_of(record):
                read_prices(*price, tool)
        for level in (one for one in record.get("conditions", ()) if one["code"] == "level"):
            read_level(tool.readings.level_reading(level), tool.readings.level_meaning(level), level)


def test_every_sentence_with_a_number_is_true() -> None:
    read_all(CLAIMS, 400)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_kept_certificates_are_read_truly(path: Path) -> None:
    document = json.loads(path.read_text())
    release = document["format"] == checker.RELEASE
    record = proved(document, checker) if release else checker.claim_of(checker.current(document))
    if not release:
        read_short(readings.reading(record), record, checker.current(document))
    elif record["parts"]:
        for price in prices_of(record):
            read_prices(*price)


@pytest.mark.parametrize("name", DEFECTS_OF_CLAIMS)
def test_a_defect_is_found(name: str, tmp_path: Path) -> None:
    with pytest.raises(UntrueError):
        read_all(planted_claims(name, tmp_path), 120)


def test_a_copy_without_a_defect_is_read_truly(tmp_path: Path) -> None:
    read_all(planted_claims(None, tmp_path), 60)


def test_an_exact_number_is_never_on_the_wrong_side() -> None:
    """Only a float may be shown without its last digits."""
    above = 1 + Fraction(1, 10**13)
    assert totals.total(above, Fraction(0)) == "epsilon = 1.0000000000001"
    assert totals.price(Fraction(1, 10), above / 1000) == "epsilon 0.1, delta 0.0010000000000001"
    assert (downward(2 - Fraction(1, 10**13)), upward(0.3), upward(0.1 + 0.2)) == ("1.9999999999999", "0.3", "0.3")
    assert percent(Fraction(1, 2) + Fraction(1, 10**11)) == "50.1 %"
    half = {"epsilon": str(above), "delta": "0", "scope": "metric", "conditions": [], "metric": {"base": "line"}}
    assert readings.reading(half) == "epsilon 1.0000000000001 for each 1 of difference"
