"""What Spark says is kept from the user's screen and logs, because it quotes cells; what matters comes back as one sentence.

Three mouths are shut for as long as a call to Spark lasts: Python warnings, the loggers that PySpark opens by itself whenever an
error comes back, and the log of the Java side, where that is a session of the user's own (one of ours has no output at all).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from noisewright.core import errors
from noisewright.core.errors import DataError, NoisewrightError

__all__ = ["sentences", "silent_python"]

LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")


@contextmanager
def sentences(otherwise: str, session: Any = None) -> Iterator[None]:
    """Turn what Spark raises into one sentence; a sentence of ours that a worker raised is carried over."""
    try:
        with ExitStack() as silent:
            silent.enter_context(silent_python())
            if session is not None:
                silent.enter_context(_java(session))
            yield
    except NoisewrightError:
        raise
    except Exception as problem:  # py4j, Spark and Python in workers: many kinds, and their texts may quote cells
        with silent_python():  # asking for the text is what makes PySpark log it
            found = re.search(r"noisewright\.core\.errors\.(\w+): ([^\n]+)", str(problem))
        kind = getattr(errors, found[1], None) if found else None
        if found and isinstance(kind, type) and issubclass(kind, NoisewrightError):
            raise kind(found[2]) from None
        raise DataError(f"{otherwise}.") from None


@contextmanager
def silent_python() -> Iterator[None]:
    """No warnings, and no records of PySpark's loggers. They are opened before, so that Spark finds them shut."""
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(name) for name in LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@contextmanager
def _java(session: Any) -> Iterator[None]:
    """No records of the Java side; its level comes back afterwards."""
    context = session.sparkContext
    root = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger()
    before = str(root.getLevel().toString())
    if before == "OFF":
        yield
        return
    context.setLogLevel("OFF")
    try:
        yield
    finally:
        context.setLogLevel(before)
