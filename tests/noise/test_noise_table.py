from __future__ import annotations

import copy
import pickle
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noise_support import LEVEL, Scripted, chi_square

from noisewright.exceptions import DataError, ParameterError
from noisewright.sampling import TableSampler
from noisewright.sampling import categorical as table


def truncated_geometric(size: int, width: int, numerator: int = 4, denominator: int = 5) -> list[list[int]]:
    """Rows proportional to (4/5)**|x - y|, rounded down to integers over 2**width, what is missing given to y = x."""
    rows = []
    for x in range(size):
        weights = [numerator ** abs(x - y) * denominator ** (size - abs(x - y)) for y in range(size)]
        row = [(w << width) // sum(weights) for w in weights]
        row[x] += (1 << width) - sum(row)
        rows.append(row)
    return rows


@given(st.integers(1, 9), st.data())
@settings(max_examples=60, deadline=None)
def test_every_word_of_a_small_width_goes_where_the_table_says(width: int, data: st.DataObject) -> None:
    """All 2**width prefixes are fed in: the number that gives outcome c must be table[row][c]. This is a proof."""
    total = 1 << width
    columns = data.draw(st.integers(1, 6))
    rows = []
    for _ in range(data.draw(st.integers(1, 3))):
        cuts = sorted(data.draw(st.lists(st.integers(0, total), min_size=columns - 1, max_size=columns - 1)))
        rows.append([b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)])
    sampler = TableSampler(rows, width)
    for index, row in enumerate(rows):
        for low_bits in (0, 1, (1 << (64 - width)) - 1):
            words = [(prefix << (64 - width)) | low_bits for prefix in range(total)]
            drawn = sampler.draw(np.full(total, index), rng=Scripted(words))  # the script has no bits to spare
            assert np.bincount(drawn, minlength=columns).tolist() == row
            assert (np.diff(drawn) >= 0).all()


@pytest.mark.parametrize("width", [65, 68, 72])
def test_ties_share_out_every_remaining_prefix(width: int) -> None:
    """Words on a threshold are extended by all 2**(width - 64) continuations; words between are settled at once."""
    rng = np.random.default_rng(51)
    extra = width - 64
    for _ in range(4):
        cuts = sorted(int(c) << extra | int(d) for c, d in rng.integers([1, 0], [2**63, 1 << extra], (5, 2)))
        cuts.insert(3, cuts[2] + 1)  # an outcome of a single prefix
        cuts.insert(2, cuts[1])  # an outcome of none
        row = [b - a for a, b in zip([0, *cuts], [*cuts, 1 << width], strict=True)]
        sampler = TableSampler([[1 << width] + [0] * (len(row) - 1), row], width)
        share = [0] * len(row)
        previous = -1
        for word in sorted({c >> extra for c in cuts}):
            # all words strictly between two borders behave alike; their ends are probed
            gap = word - previous - 1
            if gap:
                ends = sampler.draw([1, 1], rng=Scripted([previous + 1, word - 1]))
                assert ends[0] == ends[1]
                share[ends[0]] += gap << extra
            for suffix in range(1 << extra):
                bits = Scripted([word], filler=suffix << (64 - extra) | 12345)
                share[sampler.draw(1, rng=bits)] += 1
            previous = word
        ends = sampler.draw([1, 1], rng=Scripted([previous + 1, 2**64 - 1]))
        assert ends[0] == ends[1]
        share[ends[0]] += (2**64 - 1 - previous) << extra
        assert share == row


def test_deep_ties_of_a_wide_table() -> None:
    width = 1000
    rng = np.random.default_rng(52)
    cut = int.from_bytes(rng.bytes(125), "big") | 1
    sampler = TableSampler([[cut, (1 << width) - cut]], width)
    padded = cut << (64 * 16 - width)
    words = [(padded >> (64 * (15 - i))) & (2**64 - 1) for i in range(16)]
    for depth in range(16):
        assert sampler.draw(0, rng=Scripted([*words[:depth], words[depth] + 1], filler=0)) == 1
        assert sampler.draw(0, rng=Scripted([*words[:depth], words[depth] - 1], filler=2**64 - 1)) == 0
    assert sampler.draw(0, rng=Scripted(words)) == 1  # U equal to the threshold on all bits belongs above it


def test_outcomes_of_weight_zero_at_the_top_word() -> None:
    """Thresholds of exactly 1 have no 64-bit word; the largest word must still not reach what follows them."""
    for width in (3, 64, 70):
        sampler = TableSampler([[0, 1 << width, 0, 0]], width)
        words = [0, 1, 2**64 - 2, 2**64 - 1]
        assert sampler.draw([0] * 4, rng=Scripted(words, filler=2**64 - 1)).tolist() == [1] * 4


@pytest.mark.parametrize(("size", "width"), [(2, 64), (101, 64), (101, 128), (101, 700), (300, 90)])
def test_law(size: int, width: int) -> None:
    rows = truncated_geometric(size, width)
    sampler = TableSampler(rows, width)
    secrets = np.array([0, size // 2, size - 1])
    drawn = sampler.draw(np.tile(secrets, (300_000, 1)), rng=np.random.default_rng(53))
    assert drawn.shape == (300_000, 3)
    for column, secret in enumerate(secrets):
        expected = [entry / (1 << width) for entry in rows[secret]]
        assert chi_square(drawn[:, column], expected.__getitem__, range(size)) > LEVEL


def test_a_whole_column_of_mixed_secrets() -> None:
    rows = truncated_geometric(20, 80)
    secrets = np.random.default_rng(1).integers(0, 20, 1_000_000)
    drawn = TableSampler(rows, 80).draw(secrets, rng=np.random.default_rng(54))
    joint = secrets * 20 + drawn
    counts = np.bincount(secrets, minlength=20) / secrets.size
    expected = [counts[i // 20] * rows[i // 20][i % 20] / 2**80 for i in range(400)]
    assert chi_square(joint, expected.__getitem__, range(400)) > LEVEL


def test_a_rare_outcome_is_drawn_as_often_as_it_should() -> None:
    from scipy import stats

    width = 90
    sampler = TableSampler([[(1 << width) - (1 << (width - 20)), 1 << (width - 20)]], width)
    rng, zeros = np.random.default_rng(55), np.zeros(2_000_000, dtype=np.int64)
    hits = sum(int(sampler.draw(zeros, rng=rng).sum()) for _ in range(15))
    expected = 30_000_000 / 2**20
    assert stats.poisson.cdf(hits, expected) > LEVEL / 2
    assert stats.poisson.sf(hits - 1, expected) > LEVEL / 2


@given(st.integers(1, 200), st.integers(2, 30), st.integers(0, 2**32))
@settings(max_examples=80, deadline=None)
def test_only_outcomes_of_positive_weight_are_drawn(width: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cuts = sorted(int.from_bytes(rng.bytes(26), "big") % ((1 << width) + 1) for _ in range(columns // 2))
    weights = [b - a for a, b in zip([0, *cuts], [*cuts, 1 << width], strict=True)]
    row = [0] * columns
    for place, weight in zip(rng.permutation(columns), weights, strict=False):
        row[place] = weight
    row[int(np.argmax(row))] += (1 << width) - sum(row)
    drawn = TableSampler([row], width).draw(np.zeros(300, dtype=np.int8), rng=rng)
    assert all(row[c] > 0 for c in np.unique(drawn))


@pytest.mark.parametrize("block", [1, 7, 4096])
def test_results_do_not_depend_on_the_block_size(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = truncated_geometric(9, 100)
    sampler = TableSampler(rows, 100)
    secrets = np.random.default_rng(2).integers(0, 9, 5000)
    words = [int(w) for w in np.random.default_rng(3).integers(0, 2**64, 5000, dtype=np.uint64)]
    for position in (3, 10, 4999):  # and some ties, whose further words come after all first words
        words[position] = list(accumulate(rows[secrets[position]]))[4] >> 36
    script = [*words, 0, 2**64 - 1, 1 << 63]
    plain = sampler.draw(secrets, rng=Scripted(script))
    monkeypatch.setattr(table, "BLOCK", block)
    bits = Scripted(script)
    assert (sampler.draw(secrets, rng=bits) == plain).all()
    assert bits.used == 5003
    assert plain[3] == 4  # the tie continued with zeros, which is below the threshold
    assert plain[10] == 5


def test_large_tables() -> None:
    size, width = 2000, 64
    rng = np.random.default_rng(56)
    weights = rng.integers(0, 2**40, (size, size))
    rows = weights.tolist()
    for row in rows:
        row[7] += (1 << width) - sum(row)
        row[7], row[1999] = row[7] // 2, row[1999] + row[7] - row[7] // 2
    sampler = TableSampler(rows, width)
    assert sampler._lookup._guide.nbytes <= 32 << 20
    for secret in (0, 1234, 1999):
        drawn = sampler.draw(np.full(200_000, secret), rng=rng)
        pooled = [sum(rows[secret][i : i + 250]) / 2**64 for i in range(0, 2000, 250)]
        assert chi_square(drawn // 250, pooled.__getitem__, range(8)) > LEVEL
    # the finer half of the law is 2**-13 of it: feed words that lie there
    thresholds = list(accumulate(rows[1234]))
    words = [thresholds[c] - 1 for c in range(0, 1999, 13)]
    assert sampler.draw(np.full(len(words), 1234), rng=Scripted(words)).tolist() == list(range(0, 1999, 13))
    assert sampler.draw(np.full(len(words), 1234), rng=Scripted([w + 1 for w in words])).tolist() == [
        next(j for j in range(c + 1, 2000) if rows[1234][j]) for c in range(0, 1999, 13)
    ]


def test_shapes_and_types() -> None:
    sampler = TableSampler(np.array([[3, 1], [0, 4]], dtype=object), np.int64(2))
    assert (sampler.rows, sampler.columns, sampler.width) == (2, 2, 2)
    assert repr(sampler) == "TableSampler(2 rows, 2 columns, width=2)"
    assert type(sampler.draw(1)) is int
    assert sampler.draw(np.uint64(1)) == 1
    assert sampler.draw([]).shape == (0,)
    for dtype in (np.int8, np.uint16, np.uint64, np.int64):
        drawn = sampler.draw(np.ones((2, 3), dtype=dtype))
        assert drawn.tolist() == [[1, 1, 1], [1, 1, 1]]
        assert drawn.dtype == np.int64
    assert TableSampler([[4]], 2).draw([0, 0]).tolist() == [0, 0]
    strided = np.arange(20).reshape(4, 5)[:, ::2] % 2
    assert sampler.draw(strided).shape == (4, 3)


def test_pickles_and_copies_draw_the_same_law_from_the_same_seed() -> None:
    sampler = TableSampler(truncated_geometric(30, 128), 128)
    secrets = np.arange(30).repeat(50)
    plain = sampler.draw(secrets, rng=np.random.default_rng(9))
    for other in (pickle.loads(pickle.dumps(sampler)), copy.deepcopy(sampler)):
        assert (other.draw(secrets, rng=np.random.default_rng(9)) == plain).all()
        assert (other.draw(secrets) != sampler.draw(secrets)).any()


def test_the_table_is_copied() -> None:
    rows = [[1, 1], [0, 2]]
    sampler = TableSampler(rows, 1)
    rows[1][0], rows[1][1] = 2, 0
    assert sampler.draw([1] * 50).tolist() == [1] * 50


@pytest.mark.parametrize(
    ("rows", "width", "message"),
    [
        ([[2, 2], [1, 2]], 2, r"row 1 of the table does not sum to 2\*\*2"),
        ([[2, 2], [5, -1]], 2, "row 1 of the table has a negative entry"),
        ([[2, 2], [1, 1, 2]], 2, "row 1 of the table has 3 columns, but row 0 has 2"),
        ([[0.5, 0.5]], 2, "row 0 of the table is not a list of whole numbers"),
        (np.array([0.5, 0.5]), 2, "row 0 of the table is not a list of whole numbers"),
        ([], 2, "the table is empty"),
        ([[]], 2, "the table is empty"),
        (7, 2, "the table must be a list of rows, not int"),
        ([[1]], 0, "width = 0 is too small"),
        ([[2]], 1.0, "width must be a whole number of bits, not float"),
    ],
)
def test_bad_tables(rows: object, width: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TableSampler(rows, width)


@pytest.mark.parametrize("bad", [[0, 77123], [-77123, 0], np.array([77123], dtype=np.uint64)])
def test_a_row_out_of_range_is_refused_without_showing_it(bad: object) -> None:
    sampler = TableSampler([[1, 1], [0, 2]], 1)
    silent = Scripted([])
    with pytest.raises(DataError, match="a row index is outside 0 to 1") as caught:
        sampler.draw(bad, rng=silent)
    assert "77123" not in str(caught.value)
    assert silent.used == 0


@pytest.mark.parametrize("bad", [[0.0, 1.0], ["a"], [True, False], [None]])
def test_rows_that_are_not_indices(bad: object) -> None:
    with pytest.raises(DataError, match="row indices must be whole numbers"):
        TableSampler([[1, 1], [0, 2]], 1).draw(bad)
