"""One module a page of the studio."""
