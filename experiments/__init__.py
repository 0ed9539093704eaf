"""Published tables and figures that can be run again, one module each, with the numbers they are compared with."""
