"""The order of released rows: uniformly random, in constant memory, the same for a seed; or kept, and then said to be public."""

from __future__ import annotations

import json
import os
from collections import Counter
from fractions import Fraction
from itertools import permutations
from math import factorial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from engine_support import plans, table
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2

import noisewright as nw
from noisewright.certificates.checker import checker
from noisewright.columns import BLOCK
from noisewright.engines import shuffling as _shuffling
from noisewright.engines.local import LocalEngine
from noisewright.engines.shuffling import in_random_order, keyed, order_words, random_places
from noisewright.exceptions import PolicyError
from noisewright.policy.policy import Policy, UnitPolicy, as_policy
from noisewright.releases.certificate import ReleaseCertificate
from noisewright.releases.folder import verify_folder
from noisewright.sampling.random_bits import Bits, bits_from
from noisewright.tables.reading import source_of

ENGINE = LocalEngine()
NOBODY = UnitPolicy()
AGES: dict[str, Any] = {
    "dataset": "clinic",
    "budget": {"epsilon": 3},
    "columns": [{"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": "1/2"}],
}
KEEP: dict[str, Any] = {"dataset": "d", "budget": {"epsilon": 1}, "columns": [{"name": "n", "keep": True}]}


@pytest.fixture
def small_runs(monkeypatch: pytest.MonkeyPatch) -> int:
    """Runs of a few thousand bytes, so that small tables are scattered, and large buckets scattered again."""
    monkeypatch.setattr(_shuffling, "RUN", 4_000)
    monkeypatch.setattr(_shuffling, "LARGE", 6_000)
    return 4_000


# Uniform ------------------------------------------------------------------------------------------------------------------


class WantingError(Exception):
    """More words are wanted than were spelled out."""


class SpelledBits:
    """Words that are spelled out beforehand."""

    for_release, label = False, "a test"

    def __init__(self, words: tuple[int, ...]) -> None:
        self.left = list(words)

    def words(self, count: int) -> NDArray[np.uint64]:
        if count > len(self.left):
            raise WantingError
        taken, self.left = self.left[:count], self.left[count:]
        return np.array(taken, dtype=np.uint64)


@pytest.mark.parametrize(("rows", "values", "depth"), [(2, 2, 8), (3, 2, 12), (3, 3, 8), (4, 3, 8)])
def test_every_order_is_equally_likely_with_tiny_keys(rows: int, values: int, depth: int) -> None:
    """All sequences of words, each of ``values`` equally likely ones, are spelled out: with so few values ties are the rule. What
    has ended after ``depth`` words ended in every order with exactly the same probability."""
    mass: Counter[tuple[int, ...]] = Counter()
    open_ends: list[tuple[int, ...]] = [()]
    while open_ends:
        spelled = open_ends.pop()
        bits = SpelledBits(spelled)
        try:
            keys = bits.words(rows).view(np.int64)
            found = tuple(random_places(keys, bits).tolist())
            mass[found] += Fraction(1, values ** len(spelled))  # type: ignore[assignment]
        except WantingError:
            if len(spelled) < depth:
                open_ends += [(*spelled, word) for word in range(values)]
    assert set(mass) == set(permutations(range(rows)))
    assert len(set(mass.values())) == 1
    assert sum(mass.values()) > Fraction(1, 2)


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), max_size=60), st.integers(0, 9))
def test_keys_are_sorted_whatever_they_are(given_keys: list[int], seed: int) -> None:
    keys = np.array(given_keys, dtype=np.int64)
    found = random_places(keys, bits_from(np.random.default_rng(seed)))
    assert sorted(found.tolist()) == list(range(keys.size))
    assert keys[found].tolist() == sorted(given_keys)


@pytest.mark.parametrize("size", [1, 40])
def test_all_orders_of_a_table_are_equally_often_drawn(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """4 rows through the whole path, in memory (rows of one run) and through buckets (a run a row), 720 times with seeds: chi
    square over 24 orders, false alarm with probability 1e-4 for each; the seeds are fixed, so it holds or fails for ever."""
    monkeypatch.setattr(_shuffling, "RUN", size)
    rows = pa.record_batch({"n": [0, 1, 2, 3]})
    counts: Counter[tuple[int, ...]] = Counter()
    times = 720
    for seed in range(times):
        blocks = (
            [keyed(rows.slice(place, 1), place, seed) for place in range(4)] if size == 1 else [keyed(rows, 0, seed)]
        )
        counts[tuple(n for batch in in_random_order(blocks, seed) for n in batch.column("n").to_pylist())] += 1
    expected = times / factorial(4)
    assert sum((counts[order] - expected) ** 2 / expected for order in permutations(range(4))) < chi2.isf(1e-4, 23)


@pytest.mark.parametrize("large", [1 << 20, 1])
def test_all_orders_are_equally_often_drawn_where_keys_come_later(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """3 rows without a seed, 480 times, each a run of its own, and but 8 buckets: so rows often share one, and are then
    sorted, or scattered again. System bits: chi square over 6 orders, false alarm with probability 1e-12."""
    monkeypatch.setattr(_shuffling, "RUN", 1)
    monkeypatch.setattr(_shuffling, "LARGE", large)
    drawn = _shuffling._Scattered._digits
    monkeypatch.setattr(_shuffling._Scattered, "_digits", lambda *given: drawn(*given) & 0x380)
    rows = pa.record_batch({"n": [0, 1, 2]})
    counts: Counter[tuple[int, ...]] = Counter()
    times = 480
    for _ in range(times):
        blocks = [keyed(rows.slice(place, 1), place, None) for place in range(3)]
        assert blocks[0].schema == rows.schema
        counts[tuple(n for batch in in_random_order(blocks, None) for n in batch.column("n").to_pylist())] += 1
    expected = times / factorial(3)
    assert set(counts) == set(permutations(range(3)))
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < chi2.isf(1e-12, 5)


@pytest.mark.parametrize("run", [8 << 20, 200_000])
def test_places_before_and_after_are_independent_without_a_seed(run: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """400,000 rows, in memory and through buckets, cut into 8 parts by their place before and after: chi square over the 64 cells
    with 49 degrees of freedom, as both sums are fixed; system bits, false alarm with probability 1e-12."""
    monkeypatch.setattr(_shuffling, "RUN", run)
    rows = 400_000
    released = ENGINE.frame(source_of(pa.table({"n": np.arange(rows)})), keep("n"), NOBODY).column("n").to_numpy()
    assert np.array_equal(np.sort(released), np.arange(rows))
    cells = np.histogram2d(released, np.arange(rows), bins=8)[0]
    assert ((cells - rows / 64) ** 2 / (rows / 64)).sum() < chi2.isf(1e-12, 49)


def keep(*names: str) -> list[Any]:
    types = dict.fromkeys(names, pa.int64())
    return plans(types, columns=[{"name": name, "keep": True} for name in names])


# In constant memory, and repeatable ---------------------------------------------------------------------------------------


def by_keys(rows: pa.Table, seed: int, size: int = BLOCK) -> pa.Table:
    """The oracle: one key for each row, block by block, and a stable sort."""
    starts = range(0, rows.num_rows, size)
    keys = [next(order_words(min(size, rows.num_rows - at), place, seed)) for place, at in enumerate(starts)]
    return rows.take(np.argsort(np.concatenate(keys), kind="stable"))


@pytest.mark.parametrize("format", ["parquet", "arrow", "csv"])
def test_a_seed_gives_one_order_in_files_and_frames(tmp_path: Path, format: Any) -> None:
    rows = 2 * BLOCK + 1234
    source, seen = source_of(table(rows)), list[tuple[int, int | None]]()
    found = plans(source.types)
    expected = by_keys(ENGINE.frame(source, found, NOBODY, 7, "kept"), 7)
    target = tmp_path / f"out.{format}"
    assert ENGINE.perturb(source, found, NOBODY, target, format, 7, lambda *told: seen.append(told)) == rows
    back = source_of(target)
    written = pa.Table.from_batches(back.batches(back.schema.names))
    assert written.cast(expected.schema).equals(expected)
    assert ENGINE.frame(source, found, NOBODY, 7).equals(expected)
    assert not ENGINE.frame(source, found, NOBODY, 8).equals(ENGINE.frame(source, found, NOBODY, 9))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (rows, rows)
    assert any(0 < done <= rows // 2 for done, _ in seen)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 150), max_size=5), st.sampled_from([1, 300, 4_000, 10**6]))
def test_any_memory_gives_the_same_order(sizes: list[int], run: int) -> None:
    """Sorted in memory, scattered, and scattered again, with types that Arrow moves itself and those that it does not. Without a
    seed the order is another one, and the rows are the same."""
    whole = everything(sum(sizes))
    blocks, start = [], 0
    for place, size in enumerate(sizes):
        blocks.append(keyed(whole.slice(start, size), place, 5))
        start += size
    keys = np.concatenate([[], *(block.column(block.num_columns - 1).to_numpy() for block in blocks)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_shuffling, "RUN", run)
        patch.setattr(_shuffling, "LARGE", 2 * run)
        found = [row for batch in in_random_order(blocks, 5) for row in batch.to_pylist()]
        plain = [block.select(whole.schema.names) for block in blocks]
        free = [row for batch in in_random_order(plain, None) for row in batch.to_pylist()]
    assert sorted(free, key=lambda row: row["n"]) == whole.to_pylist()
    assert found == [whole.slice(place, 1).to_pylist()[0] for place in np.argsort(keys)]


def everything(rows: int) -> pa.RecordBatch:
    texts = [None if n % 5 == 0 else f"row {n}" for n in range(rows)]
    return pa.record_batch(
        {
            "n": pa.array(range(rows), pa.int64()),
            "text": pa.array(texts, pa.string()),
            "view": pa.array(texts, pa.string_view()),
            "listed": pa.array([[n, None] for n in range(rows)], pa.list_(pa.int8() if rows < 128 else pa.int64())),
            "nested": pa.array([{"a": text} for text in texts], pa.struct([("a", pa.string_view())])),
            "yes": pa.array([n % 3 == 0 for n in range(rows)], pa.bool_()),
        }
    )


@pytest.mark.usefixtures("small_runs")
def test_wide_rows_are_bounded_by_their_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than a few runs' bytes are sorted at once, however few rows that is; a row that is larger alone is one piece."""
    sizes: list[int] = []
    sort = _shuffling._sorted
    monkeypatch.setattr(
        _shuffling,
        "_sorted",
        lambda batches, *rest: (sizes.append(sum(b.nbytes for _, b in batches)), sort(batches, *rest))[1],
    )
    rng = np.random.default_rng(1)
    pictures = [bytes(rng.bytes(1_500)) for _ in range(200)] + [bytes(50_000)]
    batch = pa.record_batch({"picture": pa.array(pictures)})
    blocks = [keyed(batch.slice(at, 3), place, 1) for place, at in enumerate(range(0, 201, 3))]
    found = [picture for batch in in_random_order(blocks, 1) for picture in batch.column("picture").to_pylist()]
    assert sorted(found) == sorted(pictures)
    assert found != pictures
    assert sorted(sizes)[-2] < 8_000
    assert sorted(sizes)[-1] < 60_000


@pytest.mark.parametrize("times", [1, 6])
def test_no_more_is_sorted_at_once_for_a_longer_table(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of 10 and 60 runs, with 16 buckets instead of 1,024, so that those of the second are scattered again: never is more
    than a run sorted."""
    sizes: list[int] = []
    sort = _shuffling._sorted
    monkeypatch.setattr(_shuffling, "RUN", 4_000)
    monkeypatch.setattr(_shuffling, "LARGE", 4_000)
    monkeypatch.setattr(_shuffling, "DIGIT", 4)
    monkeypatch.setattr(
        _shuffling,
        "_sorted",
        lambda parts, narrow, seed, digit: (
            sizes.append(sum(narrow.size(rows) for _, rows in parts)),
            sort(parts, narrow, seed, digit),
        )[1],
    )
    rows = 5_000 * times
    whole = pa.record_batch({"n": np.arange(rows)})
    blocks = [keyed(whole.slice(at, 250), 0, None) for at in range(0, rows, 250)]
    found = np.concatenate([batch.column("n").to_numpy() for batch in in_random_order(blocks, None)])
    assert not np.array_equal(found, np.arange(rows))
    assert np.array_equal(np.sort(found), np.arange(rows))
    assert 1_000 < max(sizes) <= 4_000


@pytest.mark.usefixtures("small_runs")
def test_nothing_is_left_when_the_reader_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that hold rows have no name while they are there, and are closed when an error or an interrupt ends the reading."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = len(os.listdir("/proc/self/fd"))
    blocks = [keyed(pa.record_batch({"n": np.arange(500)}), place, 1) for place in range(20)]
    reader = in_random_order(blocks, 1)
    next(reader)
    assert len(os.listdir("/proc/self/fd")) > before
    assert list(tmp_path.iterdir()) == []
    reader.close()

    def interrupted() -> Any:
        yield from blocks
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(in_random_order(interrupted(), 1))
    assert len(os.listdir("/proc/self/fd")) == before
    assert list(tmp_path.iterdir()) == []


def test_small_tables_need_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_shuffling, "Spool", None)
    assert ENGINE.frame(source_of(pa.table({"n": np.arange(100_000)})), keep("n"), NOBODY, 1).num_rows == 100_000


# The attack ---------------------------------------------------------------------------------------------------------------


def recovered(policy: dict[str, Any], ages: NDArray[Any]) -> float:
    """The share of true ages that are found within a year by a running mean over the released ages, row by row."""
    released = nw.release(policy, pa.table({"age": ages}), seed=4).data.column("age").to_numpy()
    wide = 301
    around = np.convolve(np.pad(released, wide // 2, mode="edge"), np.ones(wide) / wide, mode="valid")
    return float(np.mean(np.abs(np.round(around) - ages) <= 1))


def test_smoothing_a_sorted_table_finds_its_ages_only_where_the_order_is_kept() -> None:
    """20,000 sorted ages from 20 to 90, epsilon 1/2 within 5 years (noise of about 10 years): along the rows it averages out. In
    random order that says no more than the best constant guess, which finds 3 of 71 ages."""
    ages = np.sort(np.random.default_rng(1).integers(20, 91, 20_000))
    blind = max(np.mean(np.abs(guess - ages) <= 1) for guess in range(20, 91))
    assert recovered({**AGES, "order": "kept"}, ages) > 0.75
    assert recovered(AGES, ages) < blind + 0.02


# Frames -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pandas", "polars", "duckdb", "arrow"])
def test_frames_come_back_shuffled_and_with_a_fresh_index(kind: str) -> None:
    rows = pa.table({"n": np.arange(1_000)})
    if kind == "pandas":
        frame = rows.to_pandas()
        frame.index = frame.index[::-1]
    elif kind == "polars":
        frame = pytest.importorskip("polars").from_arrow(rows)
    elif kind == "duckdb":
        frame = pytest.importorskip("duckdb").from_arrow(rows)
    else:
        frame = rows
    for order in ("random", "kept"):
        released = nw.release({**KEEP, "order": order}, frame, seed=3).data
        found = released.fetchnumpy()["n"] if kind == "duckdb" else np.asarray(released["n"])
        assert np.array_equal(np.sort(found), np.arange(1_000))
        assert np.array_equal(found, np.arange(1_000)) == (order == "kept")
        if kind == "pandas":
            assert released.index.equals(type(released)(range(1_000)).index)


def test_the_first_rows_of_a_unit_are_those_of_the_table() -> None:
    rows = pa.table({"who": [1, 2, 1, 1, 2, 3], "n": [10, 20, 11, 12, 21, 30]})
    policy = {**KEEP, "unit": {"column": "who", "rows": 2, "excess": "first"}}
    assert sorted(nw.release(policy, rows, seed=2).data.column("n").to_pylist()) == [10, 11, 20, 21, 30]


def test_groups_of_answers_stand_in_the_order_of_the_policy() -> None:
    """Whatever the order of the table, and also where a group has no rows."""
    wards = ["south", "north", "west", "east"]
    policy = {
        "dataset": "d",
        "budget": {"epsilon": 2},
        "queries": [{"name": "visits", "aggregate": "count", "by": {"ward": wards}, "epsilon": 1}],
    }
    for rows in (["east", "north", "south"], ["south", "north", "east"]):
        answer = nw.release(policy, pa.table({"ward": rows}), seed=1).answers["visits"]
        assert answer.column("ward").to_pylist() == wards


# Words --------------------------------------------------------------------------------------------------------------------


def test_what_is_said_of_the_order(tmp_path: Path) -> None:
    rows = pa.table({"age": [30, 40, 50]})
    said = {}
    for order in ("random", "kept"):
        policy = {**AGES, "order": order}
        plan = nw.plan(policy, rows, ledger=tmp_path / "ledger")
        done = nw.release(policy, rows, output=tmp_path / order, ledger=tmp_path / "ledger")
        lock = json.loads((tmp_path / order / "policy.lock").read_text())
        certificate = json.loads((tmp_path / order / "certificate.json").read_text())
        assert plan.to_json()["order"] == certificate["order"] == order
        assert lock["policy"].get("order", "random") == order
        assert verify_folder(tmp_path / order).problems == ()
        said[order] = (
            [text for text in plan.warnings if "order" in text],
            [line for line in done.certificate.verify() if "order" in line],
            "the order of the rows, which is that of the table" in done.page,
            "Released rows stand in a random order" in done.page,
        )
    assert said["random"] == ([], [], False, True)
    warnings, lines, *page = said["kept"]
    assert warnings[0].startswith("the rows keep the order of the table, so the order is public")
    assert lines == ["  the order of the rows is that of the table, NOT protected"]
    assert page == [True, False]


def test_a_certificate_that_hides_the_order_says_less_not_more(tmp_path: Path) -> None:
    """Not stated, it is to be taken for public; another one is refused; the folder knows which it is."""
    out = tmp_path / "out"
    nw.release({**AGES, "order": "kept"}, pa.table({"age": [30, 40]}), output=out, ledger=tmp_path / "ledger")
    document = json.loads((out / "certificate.json").read_text())

    def signed(**changes: Any) -> dict[str, Any]:
        found = {**document, **changes}
        return {**found, "digest": checker.digest(found)}

    assert "order of the rows is not stated: take it for that of the table, NOT protected" in checker.check(
        signed(order="unsaid")
    )
    for wrong in (None, "shuffled", 1, ["kept"]):
        with pytest.raises(checker.NotProved, match="order of the rows"):
            checker.check(signed(order=wrong))
    (out / "certificate.json").write_text(ReleaseCertificate(signed(order="random")).to_json())
    assert any("another order" in problem for problem in verify_folder(out).problems)


def test_order_in_a_policy() -> None:
    plain = as_policy(AGES)
    assert plain.order == "random"
    assert Policy.from_dict({**AGES, "order": "random"}).digest() == plain.digest()
    kept = Policy.from_dict({**AGES, "order": "kept"})
    assert kept.digest() != plain.digest()
    assert Policy.from_dict(kept.to_json()).order == "kept"
    with pytest.raises(PolicyError, match='order = "sorted"'):
        Policy.from_dict({**AGES, "order": "sorted"})


def test_bits_of_a_test_are_a_source() -> None:
    assert isinstance(SpelledBits(()), Bits)
