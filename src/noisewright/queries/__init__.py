"""Queries about a table: filters in SQL, statistics, noisy answers and their intervals."""
