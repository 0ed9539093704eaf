"""The checker: three files of plain Python that prove a certificate with integers alone.

They keep their names because ``noisewright verify --export-checker`` hands them out; ``checker.py`` is where to begin reading.
"""
