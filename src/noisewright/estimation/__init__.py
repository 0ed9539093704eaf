"""What was true of a population, estimated from noisy data, with its uncertainty."""
