"""Photographs and videos: detection of faces, their replacement, and methods to compare with."""
