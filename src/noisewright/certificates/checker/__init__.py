"""The checker of certificates and releases: plain Python files that work without the library."""
