"""A table from its policy to a checked release: the form, the release, the spends and the recipient's proof."""
