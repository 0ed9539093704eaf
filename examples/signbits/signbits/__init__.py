"""An example of a package that adds a mechanism and a command to Noisewright."""
