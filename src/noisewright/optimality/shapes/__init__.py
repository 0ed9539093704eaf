"""Mechanisms that must have a shape: symmetric, fair, monotone; and the cost of the shape."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.optimality.shapes.categories import Answers as Answers
    from noisewright.optimality.shapes.categories import Categories as Categories
    from noisewright.optimality.shapes.categories import ContinuousNoise as ContinuousNoise
    from noisewright.optimality.shapes.categories import NoShapeError as NoShapeError
    from noisewright.optimality.shapes.categories import StaircaseNoise as StaircaseNoise
    from noisewright.optimality.shapes.categories import Validity as Validity
    from noisewright.optimality.shapes.categories import discretise as discretise
    from noisewright.optimality.shapes.categories import exact_number as exact_number
    from noisewright.optimality.shapes.categories import laplace_law as laplace_law
    from noisewright.optimality.shapes.categories import truncated_laplace_law as truncated_laplace_law
    from noisewright.optimality.shapes.categories import validate as validate
    from noisewright.optimality.shapes.checks import ShapeCheck as ShapeCheck
    from noisewright.optimality.shapes.checks import as_shapes as as_shapes
    from noisewright.optimality.shapes.checks import check_shape as check_shape
    from noisewright.optimality.shapes.checks import constraints as constraints
    from noisewright.optimality.shapes.checks import deviations as deviations
    from noisewright.optimality.shapes.checks import shapes_of as shapes_of
    from noisewright.optimality.shapes.tables import evened as evened
    from noisewright.optimality.shapes.tables import mended as mended
    from noisewright.optimality.shapes.tables import settled as settled
else:
    __getattr__, __dir__ = door(__name__)
