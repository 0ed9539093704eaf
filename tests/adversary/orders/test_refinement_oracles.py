"""Thousands of random pairs: exact answers are proved by their witnesses, floats agree with them, and qif agrees with both."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from refinement_support import Rows, floats, product, random_rows, worth

from noisewright.channels.channel import Channel
from noisewright.guarantees import EXACT, FAILS, UNDECIDED
from noisewright.qif.refinement.average_case import average_refined
from noisewright.qif.refinement.compare import compare
from noisewright.qif.refinement.max_case import max_refined
from noisewright.qif.refinement.privacy import privacy_refined
from noisewright.qif.refinement.reduced_channel import shortfall

qif = pytest.importorskip("qif")


def pairs(seed: int, count: int, sizes: tuple[int, int]) -> list[tuple[Rows, Rows]]:
    """Half of the pairs are refinements by construction; zeros, equal and impossible outputs are frequent."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        n = int(rng.integers(1, sizes[0]))
        m, k = (int(v) for v in rng.integers(1, sizes[1], 2))
        a = random_rows(rng, n, m)
        found.append((a, product(a, random_rows(rng, m, k)) if i % 2 else random_rows(rng, n, k)))
    return found


@pytest.mark.parametrize(("seed", "count", "sizes"), [(1, 1200, (6, 6)), (2, 500, (4, 9)), (3, 120, (8, 12))])
def test_average_refinement_agrees_with_qif_and_is_proved(seed: int, count: int, sizes: tuple[int, int]) -> None:
    seen: Counter[str] = Counter()
    for a, b in pairs(seed, count, sizes):
        found = average_refined(a, b)
        seen[found.status] += 1
        assert found.status in (EXACT, FAILS)
        if found.status == EXACT:
            between = found.witness.exact
            assert product(a, between) == b
            assert all(v >= 0 for row in between for v in row)
            assert all(sum(row) == 1 for row in between)
        else:
            gain = found.witness.exact
            assert worth(gain, b) - worth(gain, a) == found.witness.gap > 0
            assert all(0 <= v <= 1 for row in gain for v in row)
        assert bool(found) == bool(qif.refinement.refined_by(floats(a), floats(b)))
    assert min(seen[EXACT], seen[FAILS]) > count // 5


@pytest.mark.parametrize(("seed", "count", "sizes"), [(4, 800, (6, 6)), (5, 300, (4, 9))])
def test_max_refinement_agrees_with_qif_and_is_proved(seed: int, count: int, sizes: tuple[int, int]) -> None:
    seen: Counter[str] = Counter()
    for a, b in pairs(seed, count, sizes):
        found = max_refined(a, b)
        seen[found.status] += 1
        assert found.status in (EXACT, FAILS)
        columns = [[[row[y] for row in c] for y in range(len(c[0])) if any(row[y] for row in c)] for c in (a, b)]
        if found.status == FAILS:
            h = found.witness.direction
            means = [[sum(u * v for u, v in zip(h, p, strict=True)) / sum(p) for p in side] for side in columns]
            assert max(means[1]) - max(means[0]) == found.witness.gap > 0
        elif hasattr(found.witness, "weights"):
            mixed = found.witness.exact
            posteriors = [
                [v / sum(row[y] for row in a) if any(row[y] for row in a) else 0 for y, v in enumerate(line)]
                for line in a
            ]
            for w, weights in enumerate(mixed):
                height = sum(row[w] for row in b)
                if height:
                    assert [sum(p * v for p, v in zip(line, weights, strict=True)) for line in posteriors] == [
                        r[w] / height for r in b
                    ]
                    assert min(weights) >= 0
        kept = [
            np.array([[float(v) for v in p] for p in side]).T for side in columns
        ]  # qif divides by impossible outputs
        assert bool(found) == bool(qif.refinement.max_refined_by(*kept))
    assert min(seen[EXACT], seen[FAILS]) > count // 6


def test_privacy_refinement_agrees_with_qif() -> None:
    rng = np.random.default_rng(6)
    seen: Counter[bool] = Counter()
    for _ in range(400):
        n, m, k = (int(v) for v in rng.integers(2, 5, 3))
        a, b = rng.dirichlet(np.ones(m), n), rng.dirichlet(np.full(k, 8.0), n)
        ours = bool(privacy_refined(Channel(a), Channel(b)))
        assert ours == bool(qif.refinement.priv_refined_by(a, b))
        seen[ours] += 1
    assert min(seen.values()) > 40


def test_floats_get_the_answer_of_the_fractions_they_round() -> None:
    seen: Counter[str] = Counter()
    for a, b in pairs(7, 600, (6, 7)):
        for order in (average_refined, max_refined, privacy_refined):
            exact, rounded = order(a, b), order(Channel(floats(a)), Channel(floats(b)))
            assert bool(exact) == bool(rounded)
            assert rounded.status != UNDECIDED
            seen[rounded.status] += 1
    assert set(seen) == {EXACT, "holds within tol", FAILS}


def test_random_floats_of_every_shape_agree_with_qif() -> None:
    rng = np.random.default_rng(8)
    seen: Counter[str] = Counter()
    for i in range(300):
        n, m, k = (int(v) for v in rng.integers(2, 9, 3))
        a = rng.dirichlet(np.full(m, 0.7), n)
        b = a @ rng.dirichlet(np.full(k, 0.7), m) if i % 2 else rng.dirichlet(np.full(k, 5.0), n)
        found = average_refined(Channel(a), Channel(b))
        assert found.status != UNDECIDED
        seen[str(bool(found))] += 1
        if bool(found) != bool(qif.refinement.refined_by(a, b)):
            # qif's tolerance lets a miss of about 1e-4 pass; ours is a failure whose gap is exact.
            assert found.status == FAILS
            assert shortfall(Channel(a), Channel(b)) < 1e-4
            gain = found.witness.exact
            given = [tuple(tuple(Fraction(v) for v in row) for row in c.tolist()) for c in (a, b)]
            assert worth(gain, given[1]) - worth(gain, given[0]) == found.witness.gap > 1e-6
            seen["close"] += 1
        if found.status == "holds within tol":
            assert np.abs(a @ found.witness.channel.matrix - b).max() <= found.residual <= 1e-8
    assert min(seen["True"], seen["False"]) > 100
    assert seen["close"] <= 3


def test_large_random_channels_both_ways() -> None:
    rng = np.random.default_rng(9)
    for n, m, k in ((40, 40, 40), (30, 45, 20)):
        a = rng.dirichlet(np.ones(m), n)
        b = a @ rng.dirichlet(np.ones(k), m)
        found = compare(Channel(a), Channel(b))
        assert [bool(one) for one in (found.average.forward, found.max.forward, found.privacy.forward)] == [True] * 3
        assert found.average.backward.status == found.max.backward.status == FAILS
        assert found.average.backward.witness.gap > 0
