"""``python -m tools.lock requirements.lock``: every package that Noisewright needs, with its version and its SHA-256.

``pip install --dry-run --report`` asks the index that pip is set up with which files it would install, within
``constraints.txt``; their hashes are kept, and where they came from is not. The hashes are of the files for the Python and the
system that this runs on.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.sbom import canonical

__all__ = ["EXTRAS", "locked", "main"]

ROOT = Path(__file__).parents[1]
EXTRAS = ("attackers", "images", "matching", "plots", "postgresql", "spark", "studio", "text", "transport")
"""What is locked besides the base: the extras that something uses and that carry no copyleft licence."""


def main(arguments: list[str]) -> int:
    """Write the lock file that is named."""
    if len(arguments) != 1:
        print("name one file, such as requirements.lock", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        wanted = f"{ROOT}[{','.join(EXTRAS)}]"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        asked = [
            "--dry-run",
            "--ignore-installed",
            "--report",
            str(report),
            "-c",
            str(ROOT / "constraints.txt"),
            wanted,
        ]
        done = subprocess.run([*pip, *asked], stdout=subprocess.DEVNULL, check=False)
        if done.returncode:
            return done.returncode
        text = locked(json.loads(report.read_text(encoding="utf-8")))
    Path(arguments[0]).write_text(text, encoding="utf-8")
    print(f"{arguments[0]}: {text.count('--hash')} packages")
    return 0


def locked(report: dict[str, Any]) -> str:
    """A requirements file with hashes from pip's report; packages that are no archives (Noisewright itself) are left out."""
    lines = []
    for item in report["install"]:
        hashes = item["download_info"].get("archive_info", {}).get("hashes", {})
        if "sha256" in hashes:
            name, version = canonical(item["metadata"]["name"]), item["metadata"]["version"]
            lines.append(f"{name}=={version} \\\n    --hash=sha256:{hashes['sha256']}")
    made = f"Python {'.'.join(platform.python_version_tuple()[:2])} on {platform.system()} {platform.machine()}"
    head = f"# Made by `make lock` for {made}. Install with: pip install --require-hashes -r requirements.lock\n"
    return head + "\n".join(sorted(lines)) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
