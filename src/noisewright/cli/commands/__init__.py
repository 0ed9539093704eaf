"""One module, or folder, for each word a user types."""
