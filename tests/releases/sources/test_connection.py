"""Queries end with the exception of a signal, and the connection is used on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pytest

from noisewright.exceptions import DataError
from noisewright.tables.duckdb import Connection, connected, quiet
from noisewright.tables.reading import source_of

LONG = "SELECT sum(sin(x * y)) FROM range(1000000) a(x), range(1000000) b(y)"  # hours

WAYS: dict[str, Callable[[Connection], Any]] = {
    "fetchall": lambda duck: duck.sql(LONG).fetchall(),
    "execute": lambda duck: duck.execute(LONG),
    "table": lambda duck: duck.sql(LONG).to_arrow_table(),
    "reader": lambda duck: list(duck.sql(LONG).to_arrow_reader(1000)),
}


class OwnError(Exception):
    """The exception of a handler of a program."""


def own(number: int, frame: object) -> None:
    raise OwnError


@contextmanager
def handled(number: signal.Signals, handler: Any, after: float) -> Iterator[None]:
    before = signal.signal(number, handler)
    timer = threading.Timer(after, lambda: os.kill(os.getpid(), number))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.signal(number, before)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("number", "handler", "error"),
    [(signal.SIGINT, signal.default_int_handler, KeyboardInterrupt), (signal.SIGALRM, own, OwnError)],
)
def test_a_signal_ends_a_query_with_its_own_exception(
    way: str, number: signal.Signals, handler: Any, error: type[BaseException]
) -> None:
    with connected() as duck:
        begun = time.monotonic()
        with pytest.raises(error), handled(number, handler, 0.1), quiet("it cannot be read"):
            WAYS[way](duck)
        assert time.monotonic() - begun < 30
        assert duck.sql("SELECT 7").fetchall() == [(7,)]


def test_a_relation_of_the_caller_is_ended_by_ctrl_c() -> None:
    theirs = duckdb.connect()
    with pytest.raises(KeyboardInterrupt), handled(signal.SIGINT, signal.default_int_handler, 0.1):
        source_of(theirs.sql(LONG))
    theirs.interrupt()  # what runs on is theirs


def test_errors_of_queries_are_what_they_were_and_other_threads_ask_by_themselves() -> None:
    with connected() as duck:
        with pytest.raises(DataError, match="this is not a number"), quiet("this is not a number"):
            duck.sql("SELECT CAST('x' AS INTEGER)").fetchall()
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.extend(duck.sql("SELECT 1").fetchall()))
        thread.start()
        thread.join()
        assert found == [(1,)]


def test_no_progress_is_drawn_on_the_terminal() -> None:
    """DuckDB takes a process without a file as its main module, such as a job, for a prompt."""
    code = (
        "from noisewright.tables.duckdb import connected\n"
        "asked = \"SELECT current_setting('enable_progress_bar')\"\n"
        "with connected() as duck:\n    print(duck.sql(asked).fetchall(), duck.cursor().sql(asked).fetchall())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[(False,)] [(False,)]"
