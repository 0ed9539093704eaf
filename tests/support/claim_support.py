"""Records of metrics from short names, for tests that forge certificates."""

from __future__ import annotations

from typing import Any

from noisewright.certificates.checker import checker

LATTICE = " between points of the lattice 2^"


def record_of(name: str) -> dict[str, Any]:
    """Return the record of a metric that the phrase table would call so, whether the checker knows it or not.

    >>> record_of("1/8 * euclidean between points of the lattice 2^-3"), record_of("my own")
    ({'base': 'euclidean', 'lattice': -3, 'factor': '1/8'}, {'called': 'my own'})
    """
    factor, star, rest = name.partition(" * ")
    factor, rest = (factor, rest) if star else ("1", name)
    base, on, lattice = rest.partition(LATTICE)
    found: dict[str, Any] = {"base": base}
    if base.startswith(("sum of ", "largest of ")):
        found = {"base": base.split()[0], "count": int(base.split()[2])}
    elif base.startswith("metres around "):
        found = {"base": "metres", "around": base[len("metres around (") : -1].split(", ")}
    elif base not in checker.PLAIN:
        return {"called": name}
    return {**found, **({"lattice": int(lattice)} if on else {}), **({"factor": factor} if factor != "1" else {})}
