"""Safe replacement of one mechanism by another; joins, meets and pictures of the order."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.adversary.replacement.hasse import Hasse as Hasse
    from noisewright.adversary.replacement.hexagon import Hexagon as Hexagon
    from noisewright.adversary.replacement.hulls import MOST_FACES as MOST_FACES
    from noisewright.adversary.replacement.hulls import Hull as Hull
    from noisewright.adversary.replacement.hulls import hull_corners as hull_corners
    from noisewright.adversary.replacement.hulls import hull_of as hull_of
    from noisewright.adversary.replacement.hulls import intersection as intersection
    from noisewright.adversary.replacement.hulls import positive_weights as positive_weights
    from noisewright.adversary.replacement.hulls import posteriors as posteriors
    from noisewright.adversary.replacement.joins import ChannelBound as ChannelBound
    from noisewright.adversary.replacement.joins import max_join as max_join
    from noisewright.adversary.replacement.joins import max_meet as max_meet
    from noisewright.adversary.replacement.privacy_lattice import MetricBound as MetricBound
    from noisewright.adversary.replacement.privacy_lattice import privacy_join as privacy_join
    from noisewright.adversary.replacement.privacy_lattice import privacy_meet as privacy_meet
    from noisewright.adversary.replacement.replacement import ORDERS as ORDERS
    from noisewright.adversary.replacement.replacement import Replacement as Replacement
    from noisewright.adversary.replacement.replacement import may_replace as may_replace
    from noisewright.adversary.replacement.replacement import safe_replacement as safe_replacement
    from noisewright.adversary.replacement.table import ReplacementTable as ReplacementTable
    from noisewright.adversary.replacement.table import replacement_table as replacement_table
else:
    __getattr__, __dir__ = door(__name__)
