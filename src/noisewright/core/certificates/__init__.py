"""Certificates: a claim and its proof as JSON, and the program that proves it again.

``checker/`` leaves the package as loose files; it needs nothing but the standard library.
"""

from typing import TYPE_CHECKING

from noisewright.core.doors import door

if TYPE_CHECKING:
    from noisewright.core.certificates.certificate import RELEASE_RANDOMNESS as RELEASE_RANDOMNESS
    from noisewright.core.certificates.certificate import SIMULATION_RANDOMNESS as SIMULATION_RANDOMNESS
    from noisewright.core.certificates.certificate import Certificate as Certificate
    from noisewright.core.certificates.product import Part as Part
    from noisewright.core.certificates.product import parts_of as parts_of
    from noisewright.core.certificates.product import product_certificate as product_certificate
else:
    __getattr__, __dir__ = door(__name__)
