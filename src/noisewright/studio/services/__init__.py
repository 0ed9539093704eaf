"""What the pages of the studio ask the library, without a page."""
