"""Appearance of the studio: the frame of every page, its panels, fields and figures."""
