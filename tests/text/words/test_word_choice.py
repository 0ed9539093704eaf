"""The exact choice of words: its integers, its true epsilon by brute force, its draws."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from word_support import clusters, squares, written

from noisewright.claims.figures import exp_bounds
from noisewright.exceptions import DataError, NoChannelError, NoisewrightError, ParameterError, ResourceError
from noisewright.mechanisms.registry import registry
from noisewright.testing import check_entry
from noisewright.text import exact_words, true_epsilons, truncated_exponential_words
from noisewright.text.nearest_words import Tiles, cache_folder
from noisewright.text.partition_sums import Weights, all_sums, block_sums, locate

FALSE_ALARM = 1e-8
"""The probability with which a statistical test fails although nothing is wrong."""


def level_by_hand(square: int) -> int:
    """The whole part of 16 times a root that is rounded to the 24 bits of single precision, in whole numbers."""
    if not square:
        return 0
    spare = 24 - math.isqrt(square).bit_length()
    exact = square << 2 * spare
    root = math.isqrt(exact)
    root += 4 * exact > (2 * root + 1) ** 2
    return (16 * root) >> spare


def table_by_hand(weights: Weights, embedding) -> list[list[int]]:
    """The weights of all pairs, from integers alone."""
    table = weights.table.tolist()
    return [[table[min(level_by_hand(d), len(table) - 1)] for d in row] for row in squares(embedding)]


@pytest.mark.parametrize("make", [exact_words, truncated_exponential_words])
@pytest.mark.parametrize("epsilon", ["1/2", 2, 9])
def test_the_claimed_epsilon_holds_for_all_pairs_and_outputs(make, epsilon) -> None:
    """In exact arithmetic, from the integers alone: no ratio of two probabilities is above e^(epsilon d)."""
    embedding = clusters()
    words = make(embedding, epsilon=epsilon)
    rows = table_by_hand(words.weights, embedding)
    assert words.integers(np.arange(embedding.size)).tolist() == rows
    sums, apart, step = [sum(row) for row in rows], squares(embedding), Fraction(embedding.step)
    needed = 0.0
    for x in range(embedding.size):
        for y in range(x):
            ratio = max(
                max(Fraction(a * sums[y], b * sums[x]), Fraction(b * sums[x], a * sums[y]))
                for a, b in zip(rows[x], rows[y], strict=True)
            )
            if apart[x][y] == 0:
                assert ratio == 1
                continue
            below = Fraction(math.isqrt(apart[x][y] << 80), 1 << 40) * step  # a distance rounded down
            assert ratio <= Fraction(exp_bounds(words.true_epsilon * below, 80)[1], 1 << 80)
            needed = max(needed, math.log(ratio) / float(below))
    assert words.true_epsilon <= words.epsilon
    if make is exact_words:
        assert needed > 0.97 * float(words.true_epsilon)  # what is claimed is reached but for rounding and the cap
        assert float(words.true_epsilon) > 0.98 * float(words.epsilon)  # and the budget is used


def test_true_epsilon_is_between_beta_and_twice_beta() -> None:
    betas = [Fraction(1, 2), Fraction(2), Fraction(6)]
    for beta, found in zip(betas, true_epsilons(clusters(), betas), strict=True):
        assert beta < found < Weights.of(clusters(), beta).bound


@given(st.integers(1, 2000), st.fractions("1/64", 8, max_denominator=64), st.integers(1, 12))
def test_rounding_of_weights_is_within_eta(root: int, beta: Fraction, power: int) -> None:
    """For any two words: |ln W - ln 2^k + min(beta d, cap)| <= eta, with rational bounds of exponentials."""
    weights = Weights(beta, Fraction(14), 45, Fraction(1, 1 << power))
    square = root * root - root // 3
    weight = int(weights.at(np.array([square], np.float32))[0])
    low, high = (Fraction(math.isqrt(square << 80) + more, 1 << 40) * weights.step for more in (0, 1))
    exponents = [min(beta * d, weights.cap) for d in (high, low)]
    least = Fraction(exp_bounds(-exponents[0] - weights.eta, 100)[0], 1 << 100)
    most = Fraction(exp_bounds(-exponents[1] + weights.eta, 100)[1], 1 << 100)
    assert least <= Fraction(weight, 1 << 45) <= most


def test_sums_are_the_same_integers_however_they_are_added_up() -> None:
    embedding = clusters(700, 20, 5)
    tiles, several = Tiles(embedding), [Weights.of(embedding, Fraction(b)) for b in (1, 3)]
    by_block = all_sums(tiles, several, by_block=True)
    assert tiles.count == 3
    for number, weights in enumerate(several):
        rows = np.array(
            [weights.at(embedding.squares([x], np.arange(700)))[0] for x in range(0, 700, 50)], dtype=object
        )
        assert by_block[number, ::50].sum(axis=1).tolist() == rows.sum(axis=1).tolist()
        assert np.array_equal(by_block[number], block_sums(tiles, weights, np.arange(700)))
        assert np.array_equal(by_block[number].sum(axis=1), all_sums(tiles, [weights])[0, :, 0])


def test_threads_and_products_of_other_libraries_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from noisewright.text import nearest_words as _tiles

    embedding = clusters(700, 20, 5)
    weights, rows = Weights.of(embedding, Fraction(2)), np.arange(0, 700, 3)
    one = block_sums(Tiles(embedding), weights, rows)
    monkeypatch.setattr(_tiles, "ALONE", 1)
    assert np.array_equal(one, block_sums(Tiles(embedding), weights, rows))
    exact = embedding.codes[rows].astype(np.int64) @ embedding.codes.astype(np.int64).T
    norms = embedding.norms.astype(np.int64)
    assert np.array_equal(embedding.squares(rows, np.arange(700)), norms[rows, None] + norms - 2 * exact)


@given(st.lists(st.tuples(st.integers(0, 59), st.floats(0, 1, exclude_max=True)), min_size=1, max_size=30))
def test_a_draw_is_where_its_number_falls(draws: list[tuple[int, float]]) -> None:
    embedding = clusters()
    tiles, weights = Tiles(embedding), Weights.of(embedding, Fraction(1))
    rows = np.arange(60)
    sums = block_sums(tiles, weights, rows)
    table = table_by_hand(weights, embedding)
    words = np.array([word for word, _ in draws])
    below = [int(Fraction(share) * sum(table[word])) for word, share in draws]
    found = locate(tiles, weights, sums, rows, words, np.array(below, np.uint64))
    for word, number, place in zip(words, below, found, strict=True):
        assert sum(table[word][:place]) <= number < sum(table[word][: place + 1])


def test_draws_follow_the_integers() -> None:
    """Chi-square over words; a true law would fail with probability 1e-8, and the seed is fixed."""
    embedding = clusters()
    words, count, rng = exact_words(embedding, epsilon=2), 40_000, np.random.default_rng(8)
    for word in (0, 5, 37):
        expected = np.array(table_by_hand(words.weights, embedding)[word], float)
        expected *= count / expected.sum()
        seen = np.bincount(words.release_rows(np.full(count, word), rng), minlength=60)
        often = expected >= 10
        wanted, got = (np.append(v[often], v[~often].sum()) for v in (expected, seen))
        statistic = ((got - wanted) ** 2 / np.maximum(wanted, 1e-9)).sum()
        assert statistic < chi2.isf(FALSE_ALARM / 3, len(wanted) - 1)


def test_prepared_sums_give_the_same_draws_and_wrong_ones_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOISEWRIGHT_CACHE", str(tmp_path))
    embedding = clusters(300, 6, 9)
    plain, rows = exact_words(embedding, epsilon=3), np.arange(300).repeat(2)
    expected = plain.release_rows(rows, np.random.default_rng(4))
    plain.prepare()
    again = exact_words(embedding, epsilon=3)
    assert again._prepared is not None  # from the cache folder
    assert np.array_equal(again.release_rows(rows, np.random.default_rng(4)), expected)
    [kept] = Path(cache_folder()).glob("*.npy")
    content = np.load(kept)
    np.save(kept, content + np.uint64(1))
    with pytest.raises(ResourceError, match="not those of this embedding"):
        exact_words(embedding, epsilon=3).release_rows(rows)


def test_what_is_remembered_of_words_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from noisewright.text import partition_sums as _sums

    words, rows = truncated_exponential_words(clusters(), epsilon=3), np.arange(60)
    expected = block_sums(Tiles(clusters()), words.weights, rows)
    monkeypatch.setattr(_sums, "MOST", 25)
    for part in (rows[:20], rows[10:30], rows[5:25], rows, rows[::-1], rows[:3]):
        assert np.array_equal(words._sums_of(part), expected[part])


@pytest.mark.parametrize("name", ["exact-words", "truncated-exponential-words"])
def test_entries_are_true(name: str) -> None:
    import pyarrow as pa

    embedding, entry = clusters(), registry[name]
    place = embedding.resource.place()
    checked = check_entry(
        entry, {"embedding": str(place), "epsilon": 2, "protect": 1}, [pa.array(embedding.words()[:20])]
    )
    assert not checked.not_applicable


def test_a_small_vocabulary_has_a_certified_table() -> None:
    words = exact_words(clusters(), epsilon=2)
    table = words.certify()
    assert table.epsilon == 2
    assert np.allclose(table.channel().matrix, words.channel().matrix, atol=1e-9)


def test_a_large_vocabulary_has_no_channel() -> None:
    rng = np.random.default_rng(0)
    words = truncated_exponential_words(written(rng.normal(size=(2001, 2))), epsilon=5)
    with pytest.raises(NoChannelError, match="2001 words"):
        words.channel()


def test_a_reach_makes_farther_words_alike() -> None:
    embedding = clusters()
    words = truncated_exponential_words(embedding, epsilon=4, reach=3)
    apart, weights = embedding.distances([0], np.arange(60))[0], words.integers(np.array([0]))[0]
    far = weights[apart > 3.01].tolist()
    near = words.integers(np.array([0]))[0].max()
    assert len(set(far)) == 1
    assert math.log(near / far[0]) == pytest.approx(3 * float(words.beta), abs=0.05)


def test_a_limit_keeps_the_first_words() -> None:
    words = exact_words(clusters(), epsilon=1, limit=10)
    assert set(words.release(["w3"] * 500)) <= {f"w{i}" for i in range(10)}
    with pytest.raises(DataError, match="not in the vocabulary"):
        words.release("w10")


def test_a_copy_is_small_and_the_same() -> None:
    words = exact_words(clusters(), epsilon=2)
    words.release(["w1"] * 5)
    content = pickle.dumps(words)
    assert len(content) < 1000
    assert pickle.loads(content) == words


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": "1e-9"}, "epsilon"),
        ({"epsilon": 10**9}, "choose another one"),
        ({"epsilon": 1, "limit": 0}, "whole number"),
    ],
)
def test_bad_parameters_get_one_sentence(bad, says: str) -> None:
    with pytest.raises((ParameterError, NoisewrightError), match=says):
        exact_words(clusters(), **bad)


@pytest.mark.parametrize(
    "damaged",
    [
        "{}",
        '{"beta": "x", "slope": "1"}',
        '{"beta": 1, "slope": null}',
        '{"beta": "1/0", "slope": "0"}',
        '{"beta": "-1", "slope": "0"}',
        '{"beta": "5", "slope": "0"}',
    ],
)
def test_a_damaged_cache_is_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: str) -> None:
    monkeypatch.setenv("NOISEWRIGHT_CACHE", str(tmp_path))
    embedding = clusters()
    words = exact_words(embedding, epsilon=2)
    (place,) = tmp_path.iterdir()
    place.write_text(damaged)
    again = exact_words(embedding, epsilon=2)
    assert (again.beta, again.slope) == (words.beta, words.slope)
    assert again.true_epsilon <= 2


def test_an_interrupted_preparation_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOISEWRIGHT_CACHE", str(tmp_path))
    words = truncated_exponential_words(clusters(), epsilon=2)

    def interrupted(file: Any, *_: Any, **__: Any) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(np, "save", interrupted)
        with pytest.raises(KeyboardInterrupt):
            words.prepare()
    assert list(tmp_path.iterdir()) == []
    words.prepare()
    assert [path.suffix for path in tmp_path.iterdir()] == [".npy"]
