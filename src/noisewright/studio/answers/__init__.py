"""Content of pages, computed by the library: no page, no browser, so that every number can be tested without one."""
