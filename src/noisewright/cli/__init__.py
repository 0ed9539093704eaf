"""The ``noisewright`` command: one thin module a command; everything it says comes from the library."""

from noisewright.cli.app import main, run
from noisewright.cli.shared.commands import Command

__all__ = ["Command", "main", "run"]
