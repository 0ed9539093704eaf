"""Disclosure control from before formal guarantees, as attackers see it: rows that stand out, joined tables, gaps,
maskings.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.adversary.disclosure.linkage import Anonymity as Anonymity
    from noisewright.adversary.disclosure.linkage import Linked as Linked
    from noisewright.adversary.disclosure.linkage import anonymity as anonymity
    from noisewright.adversary.disclosure.linkage import link as link
    from noisewright.adversary.disclosure.masking import rank_swapped as rank_swapped
    from noisewright.adversary.disclosure.masking import rounded as rounded
    from noisewright.adversary.disclosure.suppression import CellBounds as CellBounds
    from noisewright.adversary.disclosure.suppression import SuppressedTable as SuppressedTable
else:
    __getattr__, __dir__ = door(__name__)
