"""The ``noisewright`` command: one thin module a command; everything it states comes from the library."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command with the arguments of this process, and end the process; Ctrl-C may come while modules are loaded."""
    try:
        from noisewright.io.atomic import interrupt_outside_imports

        interrupt_outside_imports()
        from noisewright.cli.app import main as whole

        whole()
    except KeyboardInterrupt:
        sys.stderr.write("noisewright: interrupted.\n")
        raise SystemExit(130) from None


# Main ---------------------------------------------------------------------------------------------------------------------
#
# ``python -m noisewright`` is the ``noisewright`` command.


if __name__ == "__main__":
    main()
