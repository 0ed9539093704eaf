"""Channels as operators: products and inverses by their structure, for a million secrets."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.estimation.operators.inverses import Alone as Alone
    from noisewright.estimation.operators.inverses import DenseInverse as DenseInverse
    from noisewright.estimation.operators.inverses import GeometricInverse as GeometricInverse
    from noisewright.estimation.operators.inverses import Inverse as Inverse
    from noisewright.estimation.operators.inverses import ProductInverse as ProductInverse
    from noisewright.estimation.operators.inverses import ResponseInverse as ResponseInverse
    from noisewright.estimation.operators.inverses import StackedInverse as StackedInverse
    from noisewright.estimation.operators.operator import DenseOperator as DenseOperator
    from noisewright.estimation.operators.operator import GeometricOperator as GeometricOperator
    from noisewright.estimation.operators.operator import Operator as Operator
    from noisewright.estimation.operators.operator import ProductOperator as ProductOperator
    from noisewright.estimation.operators.operator import ResponseOperator as ResponseOperator
    from noisewright.estimation.operators.operator import StackedOperator as StackedOperator
    from noisewright.estimation.operators.operator import dense_matrix as dense_matrix
    from noisewright.estimation.operators.planar import PlanarOperator as PlanarOperator
    from noisewright.estimation.operators.walsh import HadamardInverse as HadamardInverse
    from noisewright.estimation.operators.walsh import HadamardOperator as HadamardOperator
    from noisewright.estimation.operators.walsh import walsh_hadamard as walsh_hadamard
else:
    __getattr__, __dir__ = door(__name__)
