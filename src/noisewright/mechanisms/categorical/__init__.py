"""Mechanisms for categories, among them the frequency oracles of local privacy."""
