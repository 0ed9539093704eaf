"""Certificates: a claim and its proof as JSON, and the program that proves it again.

``checker/`` leaves the package as loose files; it needs only the standard library.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.core.certificates.certificate import RELEASE_RANDOMNESS as RELEASE_RANDOMNESS
    from noisewright.core.certificates.certificate import SIMULATION_RANDOMNESS as SIMULATION_RANDOMNESS
    from noisewright.core.certificates.certificate import Certificate as Certificate
    from noisewright.core.certificates.certificate import Stating as Stating
    from noisewright.core.certificates.certificate import read_document as read_document
    from noisewright.core.certificates.claims import claimed as claimed
    from noisewright.core.certificates.claims import distances_in_words as distances_in_words
    from noisewright.core.certificates.claims import metric_called as metric_called
    from noisewright.core.certificates.claims import prove as prove
    from noisewright.core.certificates.product import Part as Part
    from noisewright.core.certificates.product import parts_of as parts_of
    from noisewright.core.certificates.product import product_certificate as product_certificate
    from noisewright.core.certificates.records import metric_record as metric_record
else:
    __getattr__, __dir__ = door(__name__)
