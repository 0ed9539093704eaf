"""Engines: they draw the noise for a whole table, on this machine or on Spark."""
