"""Parameters that several mechanisms for vectors and sets share."""

from noisewright.core.loading.parameters import Parameter

BITS = Parameter("Number of bits of a code.", "bits = 128")
ZERO = Parameter(
    "Treatment of a vector of zeros: refuse the column, or give the vector one fixed code.", 'zero = "fixed"'
)
