"""Signals that end a process, as exceptions: what is half made is then removed on the way out, as after any error."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

__all__ = ["endings_as_exceptions", "interrupt_outside_imports", "was_interrupted"]

ENDINGS = ("SIGTERM", "SIGHUP")
IMPORTING = "<frozen importlib._bootstrap>"
_interrupts: list[int] = []
LATER = 0.02
"""Seconds until it is asked again whether an import is over."""


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


def interrupt_outside_imports() -> None:
    """Have Ctrl-C wait for the end of an import: compiled modules turn it into another error, or end the process at once.

    For a command, whose process is its own. Where Ctrl-C is ignored, it stays so.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGALRM, _interrupt)
        signal.signal(signal.SIGINT, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code.co_filename == IMPORTING:
            signal.setitimer(signal.ITIMER_REAL, LATER)
            return
        frame = frame.f_back
    _interrupts.append(number)
    raise KeyboardInterrupt


def was_interrupted() -> bool:
    """Return whether Ctrl-C was raised: compiled code that calls Python may have made another error of it.

    It is known after :func:`interrupt_outside_imports` alone.
    """
    return bool(_interrupts)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
