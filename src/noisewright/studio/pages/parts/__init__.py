"""Larger parts of pages."""
