"""``python -m noisewright`` is the ``noisewright`` command."""

from noisewright.cli import main

if __name__ == "__main__":
    main()
