"""What the commands share: parameters, metrics, output, progress."""
