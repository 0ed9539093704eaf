"""Code that the commands share: parameters, metrics, output, progress."""
