r"""Exact answers about members with powers of e in them, through neighbours in their family that are fractions.

The member with ``a = e^(-epsilon)`` lies between two members of its family whose decays are fractions as near to it as
one likes: a *sharper* one, which reveals a little more, and a *safer* one. Smaller epsilons of a family refine larger
ones (which the closed forms check each time), and the orders are transitive, so that for any A

* if the sharper one may replace A, the member may;
* if not even the safer one may, the member may not, with the same witness: the member reveals at least as much.

Only where A lies exactly between the two does this leave an answer open.

>>> from noisewright.adversary.families.families import geometric_family
>>> sharper, safer = neighbours(geometric_family.member(epsilon=1, size=3))
>>> sharper.decay.compare(safer.decay), sharper.exact, safer.exact
(-1, True, True)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from noisewright.adversary.exact.enclosures import Enclosure
from noisewright.adversary.families.closed_refinement import closed_refined
from noisewright.adversary.families.families import FAMILIES
from noisewright.adversary.families.member import EXPONENTIAL, Member
from noisewright.adversary.refinement import Refinement
from noisewright.core.verdict import EXACT, FAILS

__all__ = ["neighbours", "through_neighbours"]

BITS = 96
"""Significant bits of the decays of the neighbours."""
MOST_ENTRIES = 150
"""Members with more entries than this have fractions too long to decide orders in."""


def neighbours(member: Member) -> tuple[Member, Member] | None:
    """Return a member of the family that reveals a little more, and one that reveals a little less; None where no such
    member exists.
    """
    if member.made is not None or member.family not in FAMILIES or member.exact or member.size**2 > MOST_ENTRIES:
        return None
    base = member.base(BITS)
    if not isinstance(base, Enclosure):
        return None
    low, high = base.ends()
    if not 0 < low < high < 1:
        return None
    family = FAMILIES[member.family]
    weighted = member.family == EXPONENTIAL and member.size > 2
    kind = "weight" if weighted else "decay"
    sharper, safer = (family.member(**{kind: end}, secrets=member.secrets) for end in (low, high))  # type: ignore[arg-type]
    return sharper, safer


def through_neighbours(member: Member, decide: Callable[[Member], Refinement]) -> Refinement | None:
    """Return whether ``member`` may replace what ``decide`` compares its argument with; None where that stays open."""
    found = neighbours(member)
    if found is None:
        return None
    sharper, safer = found
    above = decide(sharper)
    if above.status == EXACT and _refines(sharper, member):
        return replace(
            above, reason="so may a member of its family that tells a little more, in fractions", witness=None
        )
    below = decide(safer)
    if below.status == FAILS and _refines(member, safer):
        return replace(below, reason=f"{below.reason}, and even from a member of its family that tells a little less")
    return None


def _refines(first: Member, second: Member) -> bool:
    found = closed_refined(first, second)
    return found is not None and found.status == EXACT
