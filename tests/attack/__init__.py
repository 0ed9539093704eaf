"""Attacks that take longer than a test may: ``python -m tests.attack NAME``."""
