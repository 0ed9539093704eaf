"""A Spark session of our own: silent, without a web page, and on a local master reachable from this machine alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from noisewright.core.errors import DataError, MissingPartError, NoisewrightError
from noisewright.releases.engines.spark._java import java_home
from noisewright.releases.kinds.kind import BLOCK
from noisewright.releases.sources.spark import silent_python

__all__ = ["start_spark"]

SETTINGS = {
    "spark.app.name": "noisewright",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.speculation": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BLOCK),
}
LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.sql.shuffle.partitions": "8"}


def start_spark(master: str) -> tuple[Any, bool]:
    """The session of this process, and whether it was started here (and so must be stopped by the caller)."""
    try:
        import pandas  # noqa: F401  (Spark's Arrow functions ask for it)
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingPartError('the engine spark needs Spark: pip install "noisewright[spark]".') from None
    active = SparkSession.getActiveSession()
    if active is not None:
        return active, False
    settings = {"spark.master": master, **SETTINGS, **(LOCAL if master.startswith("local") else {})}
    with _environment(), silent_python():
        try:
            conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
            if SparkContext._gateway is None:
                # What Java and the workers print could quote a cell; what matters comes back as an exception.
                silent = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
                gateway = launch_gateway(conf, silent)  # type: ignore[no-untyped-call]
            else:
                gateway = SparkContext._gateway
            return SparkSession(SparkContext(conf=conf, gateway=gateway)), True
        except NoisewrightError:
            raise
        except Exception:  # py4j and Spark raise many kinds, with pages of text
            raise DataError(
                f"Spark could not be started with the master {master!r}; is there one, as in local[2]?"
            ) from None


@contextmanager
def _environment() -> Iterator[None]:
    """The runtime and the Python that Spark is to use, for as long as it starts."""
    wanted = {"JAVA_HOME": str(java_home()), "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable)}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
