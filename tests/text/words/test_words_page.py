"""The tables of the page about words are what the code computes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from test_word_audits import LONG, audited
from word_support import written

from noisewright.mechanisms.registry import registry
from noisewright.text import exact_words, laplace_words, least_epsilon, measure, shipped, truncated_exponential_words

PAGE = (Path(__file__).parents[3] / "docs" / "mechanisms" / "words.md").read_text(encoding="utf-8")
KEPT = re.findall(
    r"^\| (\d+) \| ([\d.]+), ([\d.]+) \| ([\d.]+), ([\d.]+) \| ([\d.]+), ([\d.]+) \| ([\d.]+) \|$", PAGE, re.M
)
AUDITED = dict(re.findall(r"^\| `([\w-]+)` \| (?:exact|floating) \| .* \| ([\d.]+) \|$", PAGE, re.M))


def test_the_tables_are_found() -> None:
    assert [row[0] for row in KEPT] == ["1", "2", "4", "8", "16"]
    assert len(AUDITED) == 5


@pytest.mark.parametrize("row", KEPT, ids=lambda row: f"epsilon {row[0]}")
def test_shares_of_words_kept(row: tuple[str, ...]) -> None:
    """The choices are computed; noise is drawn 1000 times, so that shares are within 0.06 (four standard errors), and distances
    within 0.4. Of the exact choice, whose calibration takes longest, one row is computed."""
    epsilon, *told = map(float, row)
    small, rows, rng = shipped().first(2000), np.arange(500), np.random.default_rng(7)
    makers = [exact_words, truncated_exponential_words] if epsilon == 2 else [truncated_exponential_words]
    for make, (kept, away) in zip(makers, (told[:2], told[2:4])[-len(makers) :], strict=True):
        found = measure(make(small, epsilon=int(epsilon)), rows)
        assert (found.kept, found.distance) == (pytest.approx(kept, abs=0.006), pytest.approx(away, abs=0.06))
    words = laplace_words(small, epsilon=int(epsilon))
    drawn = measure(words, rows, rng)
    assert drawn.kept == pytest.approx(told[4], abs=0.06)
    assert drawn.distance == pytest.approx(told[5], abs=0.4)
    assert least_epsilon(words, rng=rng) == pytest.approx(told[6], abs=0.05)


@pytest.mark.parametrize("name", AUDITED)
def test_the_smallest_epsilon_on_seven_words(name: str) -> None:
    assert audited(registry[name].make(written(LONG), epsilon=2)) == pytest.approx(float(AUDITED[name]), abs=0.006)
