"""Profiles and noisy codes of them: whom codes find, next to the true neighbours, and how often a code is given from
all others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from noisewright._typing import Floats
from noisewright.cli.arguments import check_number
from noisewright.exceptions import DataError, ParameterError
from noisewright.matching.evaluation import AS_NEAR, Evaluation, all_distances, evaluate, taken, with_direction
from noisewright.matching.guarantees import scheme_promise
from noisewright.matching.scheme import Scheme
from noisewright.matching.service import Client, Profiles, Server, read_profiles
from noisewright.numerics.exact import as_fraction
from noisewright.resources import Seed

__all__ = [
    "EXAMPLE",
    "Matched",
    "Matching",
    "Returned",
    "example_file",
    "example_profiles",
    "given_profiles",
    "matching_code",
]


EXAMPLE = {"bits": "256", "epsilon": "2", "neighbours": "5", "radius": "0.05", "delta": "0.01"}
MOST_PEOPLE, MOST_BITS = 400, 2048
CURVE = ("0.1", "0.25", "0.5", "1", "2", "4", "8")
"""The epsilons of a bit over which curves are drawn."""
SAMPLED = 20
"""Number of people whose odds are computed for the expectation."""
FILMS, FANS = 40, 240


@dataclass(frozen=True)
class Returned:
    """Someone whom a search returned, or should have."""

    name: str
    distance: float
    """Distance between the true profiles."""
    both: bool
    """True if it is among the true ones and among those returned."""
    known: str = ""
    """Server's knowledge of the distance, as an interval."""


@dataclass(frozen=True)
class Matched:
    """Findings from codes, and the disclosure by the codes."""

    person: str
    epsilon: float
    true: tuple[Returned, ...]
    returned: tuple[Returned, ...]
    found: Evaluation
    promises: tuple[tuple[str, str], ...]
    curve: tuple[tuple[float, Evaluation], ...]


@dataclass
class Matching:
    """Profiles that someone brought, with a public seed that was drawn after them."""

    profiles: Profiles
    left_out: int = 0
    """Profiles of zeros, and those beyond the limits here."""
    seed: Seed = field(default_factory=Seed.fresh)
    _curves: dict[tuple[int, int], tuple[tuple[float, Evaluation], ...]] = field(default_factory=dict)

    def at(self, given: Mapping[str, str], person: str = "") -> Matched:
        """Encode everyone once, search for one person, and try the scheme on all."""
        bits, neighbours = (_whole(given, name, most) for name, most in (("bits", MOST_BITS), ("neighbours", 20)))
        scheme = self._scheme(bits, check_number(given.get("epsilon", ""), "epsilon"))
        who = person.strip() or self.profiles.names[0]
        if who not in self.profiles.names:
            raise ParameterError("nobody here has that name; take one of the names in the file.")
        true, returned = self._neighbours(scheme, who, min(neighbours, len(self.profiles) - 1))
        return Matched(
            who,
            float(scheme.epsilon),
            true,
            returned,
            self._tried(scheme, neighbours),
            _promises(scheme, given),
            self._curve(bits, neighbours),
        )

    def _scheme(self, bits: int, epsilon: str) -> Scheme:
        rows = self.profiles.rows
        sets = not hasattr(rows, "shape")
        return Scheme(
            dimension=None if sets else rows.shape[1],
            bits=bits,
            epsilon=epsilon,
            seed=self.seed,
            family="minhash" if sets else "projection",
        )

    def _tried(self, scheme: Scheme, neighbours: int) -> Evaluation:
        rng = np.random.default_rng()
        return evaluate(scheme, self.profiles.rows, neighbours=neighbours, rng=rng, sampled=SAMPLED)

    def _curve(self, bits: int, neighbours: int) -> tuple[tuple[float, Evaluation], ...]:
        """Kept for as long as the page is there."""
        if (bits, neighbours) not in self._curves:
            self._curves[bits, neighbours] = tuple(
                (float(epsilon), self._tried(self._scheme(bits, epsilon), neighbours)) for epsilon in CURVE
            )
        return self._curves[bits, neighbours]

    def _neighbours(self, scheme: Scheme, who: str, many: int) -> tuple[tuple[Returned, ...], tuple[Returned, ...]]:
        names, own = list(self.profiles.names), self.profiles.names.index(who)
        distances = next(all_distances(self.profiles.rows, np.array([own]), scheme.family))[0]
        others = np.delete(np.arange(len(names)), own)
        nearest = others[np.argsort(distances[others], kind="stable")][:many]
        server = Server(scheme)
        server.add(names, Client(scheme).encode(self.profiles.rows))
        matches = server.neighbours([who], many)
        found = [str(name) for name in matches.names[0]]
        last = distances[nearest[-1]] + AS_NEAR
        true = tuple(Returned(names[i], float(distances[i]), names[i] in found) for i in nearest)
        ends = zip(found, matches.low[0], matches.high[0], strict=True)
        returned = []
        for name, low, high in ends:
            apart = float(distances[names.index(name)])
            returned.append(Returned(name, apart, bool(apart <= last), f"{low:.2f} to {high:.2f}"))
        return true, tuple(returned)


def example_profiles() -> Matching:
    """Return the ratings of 40 films by 240 made-up people; each is a fan of one of twelve kinds."""
    return _matching(Profiles(*_made_up()))


def example_file() -> bytes:
    """The same as a file: names first, then a column for each film."""
    names, ratings = _made_up()
    head = ",".join(["person", *(f"film {number}" for number in range(1, FILMS + 1))])
    rows = (",".join([name, *(f"{rating:g}" for rating in row)]) for name, row in zip(names, ratings, strict=True))
    return "\n".join([head, *rows, ""]).encode()


def _made_up() -> tuple[list[str], Floats]:
    rng = np.random.default_rng(5)
    kinds = rng.gamma(1.0, 2.0, (12, FILMS))
    ratings = np.clip(np.round(kinds[rng.integers(12, size=FANS)] + rng.normal(0, 0.6, (FANS, FILMS))), 0, 5)
    return [f"person {number}" for number in range(1, FANS + 1)], ratings


def given_profiles(where: Path, names: str = "") -> Matching:
    """The profiles in a file that someone gave."""
    return _matching(read_profiles(where, names=names.strip() or None))


def _matching(found: Profiles) -> Matching:
    """Those that can be tried: with a direction, under different names, and not more than a page can compare at once."""
    if len(set(found.names)) < len(found):
        raise DataError("two profiles have one name; give everybody a name of their own.")
    rows, there = with_direction(found.rows)
    some = np.sort(np.random.default_rng().permutation(len(there))[:MOST_PEOPLE])
    if len(some) < 2:
        raise DataError("neighbours are found among 2 profiles or more, and there are fewer that are not all zeros.")
    kept = Profiles([found.names[i] for i in there[some]], taken(rows, some))
    return Matching(kept, len(found) - len(some))


def matching_code(name: str, given: Mapping[str, str]) -> str:
    """Lines of Python that try the same scheme on the profiles in a file."""
    return (
        "import numpy as np\nimport noisewright as nw\n\n"
        f"profiles = nw.matching.read_profiles({name!r}).rows\n"
        f"scheme = nw.matching.Scheme(dimension=profiles.shape[1], bits={given.get('bits')}, "
        f"epsilon={given.get('epsilon', '')!r})\n"
        f"print(nw.matching.evaluate(scheme, profiles, neighbours={given.get('neighbours')}, "
        "rng=np.random.default_rng()))"
    )


def _promises(scheme: Scheme, given: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    radius, delta = (
        float(as_fraction(check_number(given.get(name) or EXAMPLE[name], name), name)) for name in ("radius", "delta")
    )
    near = scheme_promise(scheme, radius=radius, delta=delta)
    return (("To everybody", Client(scheme).promise), ("By distance", near.in_words()))


def _whole(given: Mapping[str, str], name: str, most: int) -> int:
    text: Any = given.get(name, "").strip()
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= most:
        raise ParameterError(f"{name} must be a whole number from 1 to {most} here.")
    return int(text)
