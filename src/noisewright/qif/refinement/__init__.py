"""When one mechanism may replace another, whatever the adversary wants."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.qif.refinement.average_case import average_refined as average_refined
    from noisewright.qif.refinement.average_case import earth_move as earth_move
    from noisewright.qif.refinement.average_case import project as project
    from noisewright.qif.refinement.closed_forms import closed_margin as closed_margin
    from noisewright.qif.refinement.closed_forms import closed_post_processing as closed_post_processing
    from noisewright.qif.refinement.closed_forms import closed_refined as closed_refined
    from noisewright.qif.refinement.families import exponential_family as exponential_family
    from noisewright.qif.refinement.families import from_callable as from_callable
    from noisewright.qif.refinement.families import geometric_family as geometric_family
    from noisewright.qif.refinement.families import response_family as response_family
    from noisewright.qif.refinement.lattice import hasse as hasse
    from noisewright.qif.refinement.lattice import hexagon as hexagon
    from noisewright.qif.refinement.lattice import max_join as max_join
    from noisewright.qif.refinement.lattice import max_meet as max_meet
    from noisewright.qif.refinement.lattice import privacy_join as privacy_join
    from noisewright.qif.refinement.lattice import privacy_meet as privacy_meet
    from noisewright.qif.refinement.max_case import hull_shortfall as hull_shortfall
    from noisewright.qif.refinement.reduced_channel import deficiency as deficiency
    from noisewright.qif.refinement.reduced_channel import shortfall as shortfall
    from noisewright.qif.refinement.replacement import safe_replacement as safe_replacement
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "average_refined": "average_case",
            "closed_margin": "closed_forms",
            "closed_post_processing": "closed_forms",
            "closed_refined": "closed_forms",
            "deficiency": "reduced_channel",
            "earth_move": "average_case",
            "exponential_family": "families",
            "from_callable": "families",
            "geometric_family": "families",
            "hasse": "lattice",
            "hexagon": "lattice",
            "hull_shortfall": "max_case",
            "max_join": "lattice",
            "max_meet": "lattice",
            "privacy_join": "lattice",
            "privacy_meet": "lattice",
            "project": "average_case",
            "response_family": "families",
            "safe_replacement": "replacement",
            "shortfall": "reduced_channel",
        },
    )
