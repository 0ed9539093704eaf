"""Mechanisms for places, vectors and curves."""
