"""The version of this program, for everything below the top of the package."""

__all__ = ["VERSION"]

VERSION = "0.1.0"
