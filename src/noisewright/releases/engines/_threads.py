"""Work on a stream by all cores: in order, and a bounded number of pieces ahead, so that memory does not grow with the
stream.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

__all__ = ["through"]

S = TypeVar("S")
T = TypeVar("T")


def through(work: Callable[[S, int], T], pieces: Iterable[S], ahead: int | None = None) -> Generator[T]:
    """The results of ``work(piece, number)`` in order, made by all cores, ``ahead`` pieces before the reader.

    >>> list(through(lambda piece, number: piece * number, [5, 6, 7]))
    [0, 6, 14]
    """
    from concurrent.futures import Future, ThreadPoolExecutor

    cores = os.cpu_count() or 1
    waiting: deque[Future[T]] = deque()
    pool = ThreadPoolExecutor(cores, thread_name_prefix="noisewright")
    try:
        for number, piece in enumerate(pieces):
            waiting.append(pool.submit(work, piece, number))
            if len(waiting) > (2 * cores if ahead is None else ahead):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
