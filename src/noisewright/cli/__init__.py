"""The ``noisewright`` command: one thin module a command; everything it says comes from the library."""

from noisewright.cli.app import app, main, run

__all__ = ["app", "main", "run"]
