"""Claims as data: records of codes, exact numbers and quoted names, and the one table of phrases that puts them into English.

This package is the lowest layer: plain standard Python, which the exported checker and everything above can use.
"""
