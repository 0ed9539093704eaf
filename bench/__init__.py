"""Side by side with the peers: how fast, in how much memory, and is that what was aimed at.

``python -m bench`` measures every row; see ``bench/README.md``. This package imports nothing at the top, because parts of
it also run in the peers' environment, where the library is not installed.
"""
