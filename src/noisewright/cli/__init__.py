"""The ``noisewright`` command: one thin module a command; everything it states comes from the library."""

import sys
from typing import TYPE_CHECKING, NoReturn

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.cli.app import run as run
    from noisewright.cli.shared.commands import Command as Command
else:
    __getattr__, __dir__ = door(__name__)


def main() -> NoReturn:
    """Run the command with the arguments of this process, and end the process; Ctrl-C may come while modules are loaded."""
    try:
        from noisewright.files.endings import interrupt_outside_imports

        interrupt_outside_imports()
        from noisewright.cli.app import main as whole

        whole()
    except KeyboardInterrupt:
        sys.stderr.write("noisewright: interrupted.\n")
        raise SystemExit(130) from None
