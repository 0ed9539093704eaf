"""Distance of bags of words: Earth Mover's distance, the guarantee of lifting to bags, movement of a bag by noise."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.text.transport.lifting import LiftedAudit as LiftedAudit
    from noisewright.text.transport.lifting import audit_lifted as audit_lifted
    from noisewright.text.transport.lifting import lift as lift
    from noisewright.text.transport.moving import Transport as Transport
    from noisewright.text.transport.moving import earth_movers as earth_movers
    from noisewright.text.transport.moving import lower_bound as lower_bound
    from noisewright.text.transport.moving import vector_distances as vector_distances
    from noisewright.text.transport.noisy_bags import hit_radius as hit_radius
    from noisewright.text.transport.noisy_bags import hit_rate as hit_rate
else:
    __getattr__, __dir__ = door(__name__)
