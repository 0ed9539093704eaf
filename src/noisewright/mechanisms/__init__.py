"""Mechanisms: one file each, one line each in the registry."""
