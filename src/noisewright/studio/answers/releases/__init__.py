"""A table from its policy to a checked release: what the form says, what is made, what was spent, what a recipient proves."""
