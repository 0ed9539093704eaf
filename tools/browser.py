"""Finds a Chromium for the tests of the studio; where there is none, installs one.  Run:  python -m tools.browser"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""For a Chromium that nobody sits at: as root, and silent on the network."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def browser() -> str | None:
    """Where a Chromium is; ``NOISEWRIGHT_BROWSER`` names another one."""
    return os.environ.get("NOISEWRIGHT_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


def install() -> str:
    """Install Chromium from the distribution, as root or by ``sudo``."""
    found = browser()
    if found is not None:
        return found
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if shutil.which("apt-get") is None or (root and shutil.which("sudo") is None):
        raise SystemExit("the tests of the studio need Chromium; install it, or name one in NOISEWRIGHT_BROWSER.")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (
        ["update", "-qq"],
        ["install", "-y", "-qq", "--no-install-recommends", "chromium", "fonts-dejavu-core"],
    ):
        if subprocess.run([*root, "apt-get", *words], env=quiet, stdout=subprocess.DEVNULL, check=False).returncode:
            raise SystemExit("Chromium could not be installed; install it, or name one in NOISEWRIGHT_BROWSER.")
    found = browser()
    if found is None:
        raise SystemExit("Chromium was installed, and is not found; name it in NOISEWRIGHT_BROWSER.")
    return found


if __name__ == "__main__":
    sys.stdout.write(install() + "\n")
