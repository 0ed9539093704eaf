"""Ledgers: what was spent of a privacy budget, only ever added to."""
