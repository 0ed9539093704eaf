"""Rows in a random order, in constant memory: every row is given a random key, and the rows are sorted by their keys.

**Why the order is uniform.** Keys are independent and have one law. Therefore all orders of the keys are equally
likely, whatever the rows hold and anyone who sorts them, as long as no two are equal. Rows with equal keys are given
fresh ones, which are compared among them alone, and so on: as if keys had infinitely many bits, of which only those are
drawn that matter. For the same reason it does not matter when bits are drawn, as long as each is drawn once and
whatever else is decided (which rows are read together, what is scattered again) changes no comparison. Keys are words
of 64 bits from the one doorway to randomness (:mod:`noisewright.sampling.random_bits`); no bound is drawn below, so there is
no
bias to remove.

**How it is done in constant memory.** Rows come in blocks, in few bytes
(:mod:`noisewright.engines.blocks`), and are collected to *runs* of ``RUN`` bytes. A table of one run is
sorted in memory. Otherwise every run is scattered by the first bits of the keys (ten, or fewer where few rows are
expected) into buckets, which are independent of the rows, and written to a file without a name
(:class:`~noisewright.io.atomic.Spool`), which the system frees however the process ends. Then neighbouring buckets,
together about half a run, are read and sorted. A bucket of more than a run, in a table of many gigabytes, is scattered
by the next ten bits. Therefore no more than a run is ever sorted, and what stays in memory of a run is where it begins.
Only released values are ever written there: without a seed not even keys, whose first bits are known from the bucket,
and whose others are drawn when it is read.

Under a test seed keys follow from the seed and the number of the block, so that every engine finds the same order.

>>> block = keyed(pa.record_batch({"age": [31, 47, 62]}), number=0, seed=7)
>>> [batch.to_pydict() for batch in in_random_order(iter([block]), seed=7)]
[{'age': [31, 62, 47]}]
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain
from threading import Lock

import numpy as np
import pyarrow as pa
import pyarrow.ipc
from numpy.typing import NDArray

from noisewright.columns.arrow import arrow_array, numpy_array
from noisewright.engines.blocks import Narrow, through
from noisewright.exceptions import FileFormatError
from noisewright.io.atomic import Spool
from noisewright.sampling.random_bits import Bits, bits_from, quarter_words

__all__ = ["in_random_order", "keyed", "order_words", "random_places"]


RUN = 8 << 20
"""Bytes of rows that are scattered, or sorted, at once, as they lie in memory."""
LARGE = RUN
"""A bucket of more bytes is scattered once more; no less than the buckets that are sorted together, which never are."""
DIGIT = 10
"""Bits of a key that rows are scattered by at once, at most."""
KEY_BITS = 64
AHEAD = 2
ORDER = 3
"""The first number of the order's place among all streams of a seed; the columns and the answers have others."""
KEY = pa.field("nw_key", pa.int64(), nullable=False)


def order_words(rows: int, number: int, seed: int | None) -> Iterator[NDArray[np.int64]]:
    """Independent random words, one for each row of block ``number``, as often as they are requested."""
    bits = _bits(seed, number)
    while True:
        yield bits.words(rows).view(np.int64)


def keyed(block: pa.RecordBatch, number: int, seed: int | None) -> pa.RecordBatch:
    """The block with a last column of random keys; as it is without a seed, where keys are drawn when they are needed."""
    if seed is None:
        return block
    keys = arrow_array(next(order_words(block.num_rows, number, seed)))
    return pa.RecordBatch.from_arrays([*block.columns, keys], schema=pa.schema([*block.schema, KEY]))


def in_random_order(
    blocks: Iterable[pa.RecordBatch],
    seed: int | None,
    told: Callable[[int], None] = lambda rows: None,
    rows: int | None = None,
) -> Generator[pa.RecordBatch]:
    """The rows of keyed blocks without their keys, in the order of these; ``told`` hears of rows that were read.

    ``rows``: about how many there are, if that is known, which saves time and changes nothing else.
    """
    rest = iter(blocks)
    for first in rest:
        narrow = Narrow(pa.schema([*list(first.schema)[: None if seed is None else -1], KEY]))
        yield from _ordered(_narrowed(chain([first], rest), narrow, told), narrow, seed, 0, rows)


def random_places(keys: NDArray[np.int64], more: Bits) -> NDArray[np.int64]:
    """The rows with these keys one after the other: sorted, and equal ones in the order of fresh words from ``more``."""
    places = _by_first_half(keys)
    half = keys[places] >> 32
    same = half[1:] == half[:-1]
    tied = np.flatnonzero(np.append(False, same) | np.append(same, False))
    if tied.size:
        among = places[tied]
        among = among[np.argsort(keys[among])]
        for first, last in _equal(keys[among]):
            equal = among[first:last]
            among[first:last] = equal[random_places(more.words(equal.size).view(np.int64), more)]
        places[tied] = among
    return places


def _by_first_half(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """The places of keys sorted by their upper 32 bits, which distinguish nearly all: in two passes, each as fast as
    counting.
    """
    lower, upper = (keys >> 32).astype(np.uint16), (keys >> 48).astype(np.int16)
    places = np.argsort(lower, kind="stable")
    return places[np.argsort(upper[places], kind="stable")]


def _equal(found: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the stretches of equal neighbours: the first place of each, and the place after its last."""
    same = np.concatenate(([0], found[1:] == found[:-1], [0]))
    edges = np.flatnonzero(np.diff(same)).reshape(-1, 2)
    return [(first, last + 1) for first, last in edges.tolist()]


def _bits(seed: int | None, *place: int) -> Bits:
    if seed is None:
        return bits_from(None)
    return bits_from(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(ORDER, *place))))


def _narrowed(
    blocks: Iterable[pa.RecordBatch], narrow: Narrow, told: Callable[[int], None]
) -> Iterator[pa.RecordBatch]:
    for block in blocks:
        yield narrow.narrow(block)
        told(block.num_rows)


def _ordered(
    batches: Iterable[pa.RecordBatch], narrow: Narrow, seed: int | None, used: int, rows: int | None = None
) -> Generator[pa.RecordBatch]:
    """Narrow rows that agree in the first ``used`` bits of their keys, in order, as they were and without keys."""
    runs, ended = _runs(batches, narrow), used + DIGIT > KEY_BITS
    first = list(_few(runs, None if ended else 2))
    if len(first) < 2 or ended:
        if first:
            yield _sorted([(0, run) for run in first], narrow, seed, DIGIT)
        return
    with _Scattered(narrow, seed, used, _digit(narrow, first[0], rows)) as scattered:
        for written in through(lambda run, _: scattered.write(run), chain(first, runs), AHEAD):
            scattered.add(*written)
        first.clear()
        pa.default_memory_pool().release_unused()  # blocks were larger than the part that is sorted now

        def work(group: range, _: int) -> pa.RecordBatch | range:
            if scattered.size(group) > LARGE:
                return group
            return _sorted(list(scattered.read(group)), narrow, seed, scattered.digit)

        with closing(through(work, scattered.groups(), AHEAD)) as found:
            for one in found:
                if isinstance(one, range):
                    yield from _ordered((part for _, part in scattered.read(one)), narrow, seed, scattered.used_here)
                else:
                    yield one


def _digit(narrow: Narrow, run: pa.RecordBatch, rows: int | None) -> int:
    """Return the number of bits by which to scatter rows like these: into buckets sorted one by one, or as many as can be."""
    if rows is None:
        return DIGIT
    expected = narrow.size(run) * rows // run.num_rows
    return min(DIGIT, max(1, int(2 * expected // RUN).bit_length()))


def _few(runs: Iterator[pa.RecordBatch], most: int | None) -> Iterator[pa.RecordBatch]:
    """The first runs, or all of them."""
    for number, run in enumerate(runs, 1):
        yield run
        if number == most:
            return


def _runs(batches: Iterable[pa.RecordBatch], narrow: Narrow) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of about ``RUN`` bytes."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        waiting.append(batch)
        size += narrow.size(batch)
        if size >= RUN:
            yield narrow.joined(waiting)
            waiting, size = [], 0
    if waiting:
        yield narrow.joined(waiting)


def _sorted(parts: list[tuple[int, pa.RecordBatch]], narrow: Narrow, seed: int | None, digit: int) -> pa.RecordBatch:
    """The rows of some buckets, each part with the number of its own, in the order of their keys."""
    whole = narrow.joined([rows for _, rows in parts])
    if seed is None:
        rest, middle = KEY_BITS - digit, 1 << digit - 1
        begin = np.repeat([bucket - middle << rest for bucket, _ in parts], [rows.num_rows for _, rows in parts])
        keys = _words(whole.num_rows) & (1 << rest) - 1 | begin
    else:
        keys, whole = _keys(whole), whole.select(range(whole.num_columns - 1))
    return narrow.widen(_taken(whole, random_places(keys, _bits(seed))))


def _words(rows: int) -> NDArray[np.int64]:
    return next(order_words(rows, 0, None))


def _keys(batch: pa.RecordBatch) -> NDArray[np.int64]:
    found: NDArray[np.int64] = numpy_array(batch.column(batch.num_columns - 1))
    return found


class _Scattered:
    """Runs in a file without a name, where each lies by the ``digit`` bits of its keys that follow the first ``used`` ones: a
    stream with a batch for each bucket.

    Before the stream of a run it is written where that has its head and its buckets. Without a seed the digit is drawn
    here, and the others when a bucket is read; none of them is written.
    """

    def __init__(self, narrow: Narrow, seed: int | None, used: int, digit: int) -> None:
        self.narrow, self.seed, self.used, self.digit = narrow, seed, used, digit
        self.buckets = 1 << digit
        self.used_here = used + digit
        """The bits in which the rows of a bucket agree."""
        self._index = 8 * (self.buckets + 1)
        """Bytes before a run that state where its buckets begin, and where the last one ends."""
        self.runs: list[int] = []
        """Beginning of each run."""
        self.sizes = np.zeros(self.buckets)
        """The bytes of each bucket in all runs, as they will lie in memory."""
        self._length, self._lock = 0, Lock()

    def __enter__(self) -> _Scattered:
        self._spool = Spool()
        self._file = os.open(self._spool.path, os.O_RDWR)
        return self

    def __exit__(self, *problem: object) -> None:
        os.close(self._file)
        del self._spool

    def add(self, begin: int, sizes: NDArray[np.float64]) -> None:
        """Count a run that was written."""
        self.runs.append(begin)
        self.sizes += sizes

    def write(self, run: pa.RecordBatch) -> tuple[int, NDArray[np.float64]]:
        """Write a run, and say where it begins and how large its buckets are; other threads may do so at the same time."""
        digits = self._digits(run)
        rows = _taken(run, np.argsort(digits, kind="stable"))
        sink, start = pa.BufferOutputStream(), 0
        with pa.ipc.new_stream(sink, run.schema) as writer:
            writer.write_batch(rows.slice(0, 0))
            places = [sink.tell()]
            for count in np.bincount(digits, minlength=self.buckets).tolist():
                if count:
                    writer.write_batch(rows.slice(start, count))
                start += count
                places.append(sink.tell())
        content, index = sink.getvalue(), np.array(places)
        with self._lock:
            begin, self._length = self._length, self._length + self._index + len(content)
        self._put(memoryview(index.tobytes()), begin)
        self._put(memoryview(content), begin + self._index)
        return begin, np.diff(index) * (self.narrow.size(run) / len(content))

    def _digits(self, run: pa.RecordBatch) -> NDArray[np.uint16]:
        if self.seed is None:
            return quarter_words(_bits(None), run.num_rows) & np.uint16(self.buckets - 1)
        middle = self.buckets // 2 if self.used == 0 else 0  # keys have a sign, so their first digit begins below zero
        found = (_keys(run) >> KEY_BITS - self.used_here) + middle
        return (found & (self.buckets - 1)).astype(np.uint16)

    def _put(self, content: memoryview, place: int) -> None:
        try:
            while content:
                written = os.pwrite(self._file, content, place)
                content, place = content[written:], place + written
        except OSError as problem:
            raise FileFormatError(
                f"rows cannot be shuffled in {tempfile.gettempdir()}: {os.strerror(problem.errno or 0)}; set TMPDIR to a folder "
                "with room for the released table."
            ) from None

    def size(self, group: range) -> float:
        """The bytes of some neighbouring buckets in all runs."""
        return float(self.sizes[group.start : group.stop].sum())

    def groups(self) -> Iterator[range]:
        """Neighbouring buckets that together make about half a run: sorted rows meet those that wait to be written."""
        start = 0
        for stop in range(1, self.buckets + 1):
            if stop == self.buckets or self.size(range(start, stop + 1)) > RUN // 2:
                if self.size(range(start, stop)):
                    yield range(start, stop)
                start = stop

    def read(self, group: range) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows of some neighbouring buckets, run by run, with the numbers of their buckets."""
        for begin in self.runs:
            (head,) = self._places(begin, 0, 1)
            places = self._places(begin, group.start, len(group) + 1)
            first, last = int(places[0]), int(places[-1])
            if first < last:
                content = pa.allocate_buffer(int(head) + last - first)
                os.preadv(self._file, [memoryview(content)[:head]], begin + self._index)
                os.preadv(self._file, [memoryview(content)[head:]], begin + self._index + first)
                _, *batches = pa.ipc.open_stream(content)
                filled = np.flatnonzero(np.diff(places)) + group.start
                yield from zip(filled.tolist(), batches, strict=True)

    def _places(self, begin: int, first: int, count: int) -> NDArray[np.int64]:
        """Return the positions at which the buckets of a run begin in its stream, the first right after the head of the
        stream.
        """
        return np.frombuffer(os.pread(self._file, 8 * count, begin + 8 * first), dtype=np.int64)


# Moving rows --------------------------------------------------------------------------------------------------------------


def _taken(batch: pa.RecordBatch, places: NDArray[np.int64]) -> pa.RecordBatch:
    """The rows in these places."""
    chosen = arrow_array(places)
    return pa.RecordBatch.from_arrays([_moved(column, chosen) for column in batch.columns], schema=batch.schema)


def _moved(column: pa.Array, places: pa.Array) -> pa.Array:
    """Some rows of a column; Arrow cannot take those of every type, but cut and join them all."""
    try:
        return column.take(places)
    except pa.ArrowNotImplementedError:
        pass
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}.get(column.type)
    if plain is not None:
        return column.cast(plain).take(places).cast(column.type)
    return pa.concat_arrays([column.slice(place, 1) for place in places.to_pylist()] or [column.slice(0, 0)])
