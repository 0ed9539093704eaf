"""Certificates of mechanisms, and what follows for several together."""

from typing import TYPE_CHECKING

from noisewright._utils.lazy import attach

if TYPE_CHECKING:
    from noisewright.certificates import checker as checker
    from noisewright.certificates.composition import Accountant as Accountant
    from noisewright.certificates.composition import Part as Part
    from noisewright.certificates.composition import product_certificate as product_certificate
else:
    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "Accountant": "composition",
            "Part": "composition",
            "checker": "checker:",
            "product_certificate": "composition",
        },
    )
