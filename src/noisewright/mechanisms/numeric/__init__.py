"""Mechanisms for numbers, and the distributions of their noise."""
