"""Orders of channels: refinement on average, in the worst case and by privacy; each answer with a witness."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.adversary.orders.average import average_refined as average_refined
    from noisewright.adversary.orders.compare import Comparison as Comparison
    from noisewright.adversary.orders.compare import Directions as Directions
    from noisewright.adversary.orders.deficiency import Deficiency as Deficiency
    from noisewright.adversary.orders.deficiency import best_gain as best_gain
    from noisewright.adversary.orders.deficiency import least_total as least_total
    from noisewright.adversary.orders.deficiency import least_worst as least_worst
    from noisewright.adversary.orders.deficiency import shortfall as shortfall
    from noisewright.adversary.orders.earth_move import MeanWitness as MeanWitness
    from noisewright.adversary.orders.earth_move import Transport as Transport
    from noisewright.adversary.orders.max_case import MixtureWitness as MixtureWitness
    from noisewright.adversary.orders.max_case import hull_shortfall as hull_shortfall
    from noisewright.adversary.orders.max_case import max_refined as max_refined
    from noisewright.adversary.orders.privacy import metric_refined as metric_refined
    from noisewright.adversary.orders.privacy import privacy_refined as privacy_refined
    from noisewright.adversary.orders.projection import Projection as Projection
    from noisewright.adversary.orders.projection import project as project
else:
    __getattr__, __dir__ = door(__name__)
