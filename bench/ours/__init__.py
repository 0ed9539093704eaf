"""What is measured of this library: one function for each kind of work, run in the library's own environment."""
