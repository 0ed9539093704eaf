"""Frequency oracles: reports about one of many categories from which only the population can be read."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.mechanisms.oracles.hadamard import HadamardMechanism as HadamardMechanism
    from noisewright.mechanisms.oracles.hadamard import hadamard_response as hadamard_response
    from noisewright.mechanisms.oracles.local_hashing import LocalHashingMechanism as LocalHashingMechanism
    from noisewright.mechanisms.oracles.oracle import ORACLES as ORACLES
    from noisewright.mechanisms.oracles.oracle import Oracle as Oracle
    from noisewright.mechanisms.oracles.oracle import Support as Support
    from noisewright.mechanisms.oracles.oracle import discrete_audit as discrete_audit
    from noisewright.mechanisms.oracles.oracle import domain_json as domain_json
    from noisewright.mechanisms.oracles.oracle import log_of as log_of
    from noisewright.mechanisms.oracles.oracle import no_error as no_error
    from noisewright.mechanisms.oracles.oracle import oracle_certificate as oracle_certificate
    from noisewright.mechanisms.oracles.oracle import rare_variance as rare_variance
    from noisewright.mechanisms.oracles.oracle import read_domain as read_domain
    from noisewright.mechanisms.oracles.subset import SubsetMechanism as SubsetMechanism
    from noisewright.mechanisms.oracles.subset import subset_selection as subset_selection
    from noisewright.mechanisms.oracles.unary import UnaryMechanism as UnaryMechanism
    from noisewright.mechanisms.oracles.unary import unary_encoding as unary_encoding
else:
    __getattr__, __dir__ = door(__name__)
