"""A DuckDB connection whose queries a signal can end: :class:`Connection`.

DuckDB asks for signals while a query runs in the main thread, and replaces what their handlers raise (``KeyboardInterrupt``
after Ctrl-C) by an error of its own. Therefore the main thread hands every query to another thread and waits for it. An
exception that arrives meanwhile ends the query and is raised as it is.

>>> connection = Connection(duckdb.connect())
>>> connection.sql("SELECT 1 + 1").fetchall()
[(2,)]
>>> connection.close()
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import duckdb
import pyarrow as pa

__all__ = ["Batches", "Connection", "Result"]

PATIENCE = 0.05
"""Seconds until a query that has not ended is interrupted again: one that was about to begin does not hear of it."""

T = TypeVar("T")


class Waiting:
    """Work that another thread does while the main thread waits for it and hears of signals."""

    def __init__(self, interrupt: Callable[[], None] | None = None) -> None:
        """``interrupt`` makes the work end; without it, work that a signal ends for the main thread is left to itself."""
        self._interrupt = interrupt
        self._task: _Task | None = None

    def wait_for(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns; an exception that a signal raises meanwhile ends it first."""
        if threading.current_thread() is not threading.main_thread():
            return work()
        task = self._task = _Task(work)
        try:
            _thread.start_new_thread(
                task.run, ()
            )  # a signal can come between any two steps; no Thread is left half begun
            task.ended.wait()
        except BaseException:
            self.end()
            raise
        self._task = None  # which holds the result
        if task.problem is not None:
            raise task.problem
        return cast(T, task.result)

    def end(self) -> None:
        """Have the last work end, or not begin at all."""
        task = self._task
        if task is not None:
            task.cancelled = True
            while self._interrupt is not None and task.begun and not task.ended.wait(PATIENCE):
                self._interrupt()


class _Task:
    """Work for another thread, which is not begun once it is cancelled."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.begun = self.cancelled = False
        self.ended = threading.Event()
        self.result: Any = None
        self.problem: BaseException | None = None

    def run(self) -> None:
        self.begun = True  # before the question whether it is cancelled: who cancels asks in the other order
        try:
            if not self.cancelled:
                self.result = self.work()
        except BaseException as problem:
            self.problem = problem
        self.ended.set()


class Connection:
    """A connection of DuckDB, for one thread at a time."""

    def __init__(self, duck: duckdb.DuckDBPyConnection) -> None:
        self._duck, self._waiting = duck, Waiting(duck.interrupt)

    def sql(self, query: str) -> Result:
        """Return the result of a query, which may be computed only when it is fetched."""
        return Result(self._waiting.wait_for(lambda: self._duck.sql(query)), self._waiting)

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Result:
        """Run a statement at once."""
        return Result(self._waiting.wait_for(lambda: self._duck.execute(statement, list(parameters))), self._waiting)

    def register(self, name: str, table: Any) -> None:
        """Make an Arrow table or data set known by a name."""
        self._duck.register(name, table)

    def cursor(self) -> Connection:
        """Return another connection to the same database."""
        return Connection(self._duck.cursor())

    def close(self) -> None:
        """Close the connection, after the end of what still runs."""
        self._waiting.end()
        self._duck.close()


class Result:
    """The result of a query, or a relation of a caller, whose connection cannot be interrupted here."""

    def __init__(self, result: Any, waiting: Waiting | None = None) -> None:
        self._result, self._waiting = result, Waiting() if waiting is None else waiting

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows."""
        found: list[tuple[Any, ...]] = self._waiting.wait_for(self._result.fetchall)
        return found

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, if there is one."""
        found: tuple[Any, ...] | None = self._waiting.wait_for(self._result.fetchone)
        return found

    def to_arrow_table(self) -> pa.Table:
        """Return all rows as an Arrow table."""
        return self._waiting.wait_for(self._result.to_arrow_table)

    def to_arrow_reader(self, rows: int) -> Batches:
        """Return the rows in batches of at most ``rows`` each."""
        return Batches(self._waiting, self._waiting.wait_for(lambda: self._result.to_arrow_reader(rows)))


class Batches:
    """The rows of a query in batches, each fetched when it is requested."""

    def __init__(self, waiting: Waiting, reader: Any) -> None:
        self._waiting, self._reader = waiting, reader
        self.schema: pa.Schema = reader.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while (batch := self._waiting.wait_for(self._next)) is not None:
            yield batch

    def _next(self) -> pa.RecordBatch | None:
        try:
            return self._reader.read_next_batch()
        except StopIteration:
            return None
