"""The ``noisewright`` command: thin modules; everything it says comes from the library."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.cli.app import Command as Command
    from noisewright.cli.app import run as run
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "Command": "app",
            "run": "app",
        },
    )
