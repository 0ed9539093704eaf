"""Guarantees: what noisy hashes lose between two profiles, before and after the seed is known; and how many bits, at
which cost, keep a guarantee."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.matching.promises.about_seeds import SeedPromise as SeedPromise
    from noisewright.matching.promises.about_seeds import scheme_promise as scheme_promise
    from noisewright.matching.promises.about_seeds import seed_promise as seed_promise
    from noisewright.matching.promises.accountants import BY_SEED as BY_SEED
    from noisewright.matching.promises.accountants import alpha as alpha
    from noisewright.matching.promises.accountants import binomial as binomial
    from noisewright.matching.promises.accountants import chernoff as chernoff
    from noisewright.matching.promises.accountants import differing_bits as differing_bits
    from noisewright.matching.promises.accountants import exact_pxdp as exact_pxdp
    from noisewright.matching.promises.accountants import exact_xdp as exact_xdp
    from noisewright.matching.promises.accountants import hoeffding as hoeffding
    from noisewright.matching.promises.accountants import per_hash as per_hash
    from noisewright.matching.promises.accountants import worst_case as worst_case
    from noisewright.matching.promises.angles import angular as angular
    from noisewright.matching.promises.angles import angular_distances as angular_distances
    from noisewright.matching.promises.angles import euclidean as euclidean
    from noisewright.matching.promises.angles import euclidean_epsilon as euclidean_epsilon
    from noisewright.matching.promises.calibration import BestBits as BestBits
    from noisewright.matching.promises.calibration import best_bits as best_bits
    from noisewright.matching.promises.calibration import most_bits as most_bits
    from noisewright.matching.promises.calibration import price_of_a_bit as price_of_a_bit
    from noisewright.matching.promises.concentrated import Concentrated as Concentrated
    from noisewright.matching.promises.concentrated import concentrated_hashes as concentrated_hashes
    from noisewright.matching.promises.concentrated import printed_spread as printed_spread
    from noisewright.matching.promises.concentrated import smallest_spread as smallest_spread
    from noisewright.matching.promises.extended import needed_deltas as needed_deltas
    from noisewright.matching.promises.loss_law import LossLaw as LossLaw
    from noisewright.matching.promises.ranking import ranked_first as ranked_first
else:
    __getattr__, __dir__ = door(__name__)
