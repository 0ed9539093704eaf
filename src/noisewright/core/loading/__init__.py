"""Lazy loading: public members of packages, and tables of addresses with entry points."""
