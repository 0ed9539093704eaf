"""Long work in a process of its own, so that the page goes on, sees how far it is, and can end it.

A job is a function of a module, called as ``function(*arguments, told=told)``; it may call ``told(done, of)`` as it goes on.
What it returns must be plain: it comes back through a pipe. A cancelled job is ended, and so is
a job of a server that is gone, unless the job ``outlives`` it; its writes are atomic. A job that takes longer than
its limit is ended, too.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from noisewright.core.errors import NoisewrightError

__all__ = ["Job", "State"]

_spawn = multiprocessing.get_context("spawn")


@dataclass(frozen=True)
class State:
    """Progress of a job: ``done`` of ``of`` (0: unknown); at the end its ``result``, or why none exists."""

    done: float = 0.0
    of: float = 0.0
    ended: bool = False
    result: Any = None
    refused: str | None = None


class Job:
    """One function at work in a process.

    A job that ``outlives`` its server goes on when the server is stopped or killed. ``held`` are open files that its process
    keeps open until it ends.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        limit: float | None = None,
        outlives: bool = False,
        held: Sequence[Connection] = (),
    ) -> None:
        self._begun, self._limit = time.monotonic(), limit
        self._here, there = _spawn.Pipe(duplex=False)
        self._process = _spawn.Process(
            target=_work, args=(there, function, arguments, outlives, tuple(held)), daemon=not outlives
        )
        self._process.start()
        for end in (there, *held):
            end.close()
        self._looking = threading.Lock()
        self.state = State()

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._begun

    def wait(self) -> State:
        """Wait for its end."""
        while not self.look().ended:
            time.sleep(0.1)
        return self.state

    def look(self) -> State:
        """Return the current progress."""
        with self._looking:  # a thread may wait for the job while a page looks at it
            return self._look()

    def _look(self) -> State:
        while not self.state.ended:
            try:
                if not self._here.poll():
                    break
                kind, *told = self._here.recv()
            except (EOFError, OSError):
                self._end(
                    State(ended=True, refused="the work ended before it was done; there may be too little memory.")
                )
                break
            if kind == "told":
                self.state = State(*told)
            elif kind == "done":
                self._end(State(1, 1, True, told[0]))
            else:
                self._end(State(ended=True, refused=told[0]))
        if self._limit is not None and self.seconds > self._limit:
            self._cancel(
                f"this takes longer than the {self._limit / 60:g} minutes that the studio gives it; use the command line for it."
            )
        return self.state

    def cancel(self, why: str = "cancelled.") -> None:
        """End it."""
        with self._looking:
            self._cancel(why)

    def _cancel(self, why: str) -> None:
        if not self.state.ended:
            self._process.terminate()
            self._end(State(ended=True, refused=why))

    def _end(self, state: State) -> None:
        self.state = state
        self._process.join(2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._here.close()


def _work(
    there: Connection,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    outlives: bool,
    held: tuple[Connection, ...],
) -> None:
    """Call the function and send its result; ``held`` stays open as long as this process."""

    def tell(*what: Any) -> None:
        with suppress(BrokenPipeError) if outlives else nullcontext():
            there.send(what)

    if outlives:
        for ending in (signal.SIGINT, signal.SIGHUP):  # Ctrl-C, and a closed terminal, are for the server
            signal.signal(ending, signal.SIG_IGN)
    else:
        threading.Thread(target=_end_with_server, daemon=True).start()
    try:
        result = function(*arguments, told=lambda done, of=0.0: tell("told", float(done), float(of)))
        tell("done", result)
    except NoisewrightError as refused:
        tell("refused", str(refused))
    except MemoryError:
        tell("refused", "this needs more memory than there is.")
    except Exception as problem:
        tell("refused", f"this went wrong inside Noisewright ({type(problem).__name__}); the terminal says where.")
        raise
    finally:
        there.close()


def _end_with_server() -> None:
    """A server that was killed ends nothing any more."""
    server = multiprocessing.parent_process()
    if server is not None:
        wait([server.sentinel])
        os._exit(1)
