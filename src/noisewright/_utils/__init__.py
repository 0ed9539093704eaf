"""Lazy loading of public names, checks of arguments, and the opening of files that users name."""
