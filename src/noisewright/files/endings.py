"""Signals that end a process, as exceptions: what is half made is then removed on the way out, as after any error."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

__all__ = ["endings_as_exceptions"]

ENDINGS = ("SIGTERM", "SIGHUP")


@contextmanager
def endings_as_exceptions() -> Iterator[None]:
    """Let signals to end the process come as exceptions, unless the program has its own way with them.

    Only the main thread hears of signals; in another one nothing changes.
    """
    handlers: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for name in ENDINGS:
            ending = getattr(signal, name, None)
            if ending is not None and signal.getsignal(ending) is signal.SIG_DFL:
                handlers[ending] = signal.signal(ending, _end)
    try:
        yield
    finally:
        for ending, handler in handlers.items():
            signal.signal(ending, handler)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
