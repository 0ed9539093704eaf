"""The tests. A package, so that ``python -m tests.attack`` is this one wherever it runs."""
