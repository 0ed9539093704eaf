"""The adversary with a stopwatch, on times that are made up: he finds what is there, and nothing where nothing is. And the docs
tell what the source says about time."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from bench.timing import CASES, Guessing, gain, guessing, timed
from scipy.stats import norm

ROOT = Path(__file__).parents[2]
NOISE = ROOT / "src" / "noisewright" / "sampling"


@pytest.mark.parametrize("shift", [0.0, 0.5, 1.0, 3.0])
def test_the_adversary_is_about_as_good_as_the_best_one(shift: float) -> None:
    """Normal times, one standard deviation each: nobody is right more often than Phi(shift / 2). Seed fixed, 4 errors."""
    rng = np.random.default_rng(3)
    found = guessing(rng.normal(0, 1, 40_000), rng.normal(shift, 1, 40_000))
    best = float(norm.cdf(shift / 2))
    assert found.of == 40_000
    assert best - 0.012 - 4 * (0.25 / found.of) ** 0.5 < found.share < best + 4 * (0.25 / found.of) ** 0.5
    low, high = found.interval
    assert (low > 0.5) == (shift > 0)
    assert low < found.share < high


def test_times_that_come_in_two_kinds_are_told_apart_without_a_threshold() -> None:
    rng = np.random.default_rng(4)
    middle, sides = rng.normal(0, 0.1, 5000), rng.choice([-1, 1], 5000) + rng.normal(0, 0.1, 5000)
    assert guessing(middle, sides).share > 0.95


def test_wilsons_interval_covers_as_often_as_it_says() -> None:
    """2,000 runs of 400 guesses at 53 %: 95 % are covered, give or take 4 standard errors. Seed fixed."""
    rights = np.random.default_rng(5).binomial(400, 0.53, 2000)
    covered = np.mean([low <= 0.53 <= high for low, high in (Guessing(int(r), 400).interval for r in rights)])
    assert abs(covered - 0.95) < 4 * (0.95 * 0.05 / 2000) ** 0.5 + 0.005


def test_the_time_of_a_sampler_that_works_longer_for_larger_noise_is_a_gain() -> None:
    """Integers 0 and 1 with geometric noise: the time |noise| gives every secret away; the output alone gives e/(1+e) of them."""
    rng = np.random.default_rng(6)
    which = np.repeat([0, 1], 20_000)
    noise = rng.geometric(1 - np.exp(-1), 40_000) - rng.geometric(1 - np.exp(-1), 40_000)
    output = which + noise
    seen = gain(np.abs(noise).astype(float), output, which)
    assert seen.without == pytest.approx(np.e / (1 + np.e), abs=0.02)
    assert seen.without + seen.value > 0.95
    blind = gain(rng.exponential(1, 40_000), output, which)
    assert abs(blind.value) < 0.01
    assert blind.value - blind.half < 0.001


def test_every_release_is_timed_and_its_output_kept() -> None:
    ticks = iter(range(10**6))
    times, outputs, order = timed(lambda secret: secret, ("x", "y"), 50, clock=lambda: next(ticks))
    assert times.tolist() == [1] * 100
    assert outputs == ["xy"[which] for which in order]
    assert sorted(order.tolist()) == [0] * 50 + [1] * 50


@pytest.mark.parametrize("name", CASES)
def test_every_case_releases_its_three_secrets(name: str) -> None:
    make, *secrets = CASES[name]
    mechanism = make()
    assert len(secrets) == 3
    for secret in secrets:
        assert np.shape(mechanism.release(secret)) == np.shape(secret)
        assert len(mechanism.release([secret] * 4)) == 4


def test_what_the_source_says_about_time_stands_in_the_docs() -> None:
    """Every module whose page or comments speak of the time that it takes is in the table of docs/noise.md, and no other is."""
    speak = re.compile(r"\bthe time\b|constant-time|how long|same work|never on data", re.IGNORECASE)

    def page(path: Path) -> str:
        text = path.read_text()
        return text.split('"""')[1] + " ".join(line[2:] for line in text.splitlines() if line.startswith("# "))

    paths = [path for path in NOISE.rglob("*.py") if speak.search(page(path))]
    section = (ROOT / "docs" / "noise.md").read_text().partition("## What the time tells")[2]
    told = set(re.findall(r"`sampling/([a-z_/]+\.py)`", section))
    assert told == {path.relative_to(NOISE).as_posix() for path in paths}
