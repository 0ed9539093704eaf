"""``noisewright images get``: the small networks that find faces, from a package registry."""

from __future__ import annotations

import sys

from noisewright.cli.shared.commands import Command
from noisewright.cli.shared.output import AsJson, emit, facts, heading, say

__all__ = ["COMMAND", "get"]


def get(as_json: AsJson = False) -> None:
    """Fetch the networks that find faces (1.7 MB, Apache-2.0) with pip, so that the mirror it is set up for is asked; keep them.

    They lie in a wheel of mediapipe. It is compared with a known SHA-256, and no code in it is run or installed.
    """
    from noisewright.images.pipeline.networks import NETWORKS, fetch_networks

    places = fetch_networks(_say)
    found = [
        {"name": name, "path": str(path), "sha256": NETWORKS[name].sha256, "about": NETWORKS[name].about}
        for name, path in places.items()
    ]
    rows = [(one["name"], f"{one['about']}; {one['path']}") for one in found]
    emit({"networks": found}, lambda: [heading("networks", "here"), facts(rows)], as_json)


def _say(step: str) -> None:
    if sys.stderr.isatty():
        say(f"{step} ...")


COMMAND = Command(get)
