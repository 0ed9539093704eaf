"""``noisewright seed``: the module of a command is thin, because the list of commands loads it."""

import json

from noisewright.cli import Command


def seed(as_json: bool = False) -> None:
    """Print a fresh public seed."""
    from noisewright.resources import Seed

    fresh = Seed.fresh().hex
    print(json.dumps({"seed": fresh}) if as_json else fresh)


COMMAND = Command(seed)
