"""Options that people guess: what to say about one that a command does not have.

>>> from types import SimpleNamespace as It
>>> release = It(params=[
...     It(param_type_name="option", opts=["--output", "-o"], name="output", hidden=False),
...     It(param_type_name="option", opts=["--replace"], name="replace", hidden=False),
...     It(param_type_name="argument", opts=["policy"], name="policy", metavar="POLICY"),
... ])
>>> [meant_by(word, release) for word in ("--ouput", "--overwrite", "--policy", "--unknown")]
['did you mean --output?', 'did you mean --replace?', 'POLICY is given without a name before it.', None]
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

__all__ = ["meant_by"]

GUESSES = {
    "--replace": ("--overwrite", "--force", "--clobber", "--yes"),
    "--again": ("--redraw", "--rerun", "--repeat"),
    "--raise-budget": ("--increase-budget", "--more-budget", "--budget"),
    "--output": ("--out", "--to", "--outdir", "--output-dir", "--save", "--destination"),
    "--epsilon": ("--eps", "--privacy", "--level"),
    "--within": ("--lower", "--upper", "--low", "--high", "--min", "--max", "--bounds", "--range", "--limits"),
    "--categories": ("--values", "--labels", "--classes", "--choices", "--domain"),
    "--sensitivity": ("--delta-f", "--distance"),
    "--details": ("--verbose", "--full", "--all"),
    "--column": ("--columns", "--field", "--name"),
    "--json": ("--as-json", "--machine"),
    "--format": ("--output-format", "--type", "--csv", "--parquet", "--xlsx"),
    "--seed": ("--random-state", "--rng"),
    "--inspect": ("--check", "--check-data", "--look"),
}
"""Each option, and what other programs call it."""


def meant_by(word: str, command: Any) -> str | None:
    """Return the likely meaning of an option that a command does not have; None if nothing is like it."""
    options = [name for p in command.params if p.param_type_name == "option" for name in p.opts if name[:2] == "--"]
    for option, guesses in GUESSES.items():
        if option in options and word in guesses:
            return f"did you mean {option}?"
    for place in command.params:
        shown = str(getattr(place, "metavar", None) or place.name).strip("[]{}.")
        if place.param_type_name == "argument" and word.removeprefix("--").lower() in (shown.lower(), place.name):
            return f"{shown} is given without a name before it."
    plain = word[:100].lower().replace("_", "-").strip("-")
    near = get_close_matches(plain, [name.strip("-") for name in options], n=1, cutoff=0.7)
    return f"did you mean --{near[0]}?" if near else None
