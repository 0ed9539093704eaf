"""The laws behind the mechanisms for numbers: densities, calibration, feasible sets, exact errors, lattice metrics."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.mechanisms.laws.additive import SPREADS as SPREADS
    from noisewright.mechanisms.laws.additive import LaplaceLaw as LaplaceLaw
    from noisewright.mechanisms.laws.additive import Law as Law
    from noisewright.mechanisms.laws.additive import lattice_delta as lattice_delta
    from noisewright.mechanisms.laws.additive import smallest_epsilon as smallest_epsilon
    from noisewright.mechanisms.laws.calibrate import Calibration as Calibration
    from noisewright.mechanisms.laws.calibrate import LatticeCalibration as LatticeCalibration
    from noisewright.mechanisms.laws.calibrate import continuous as continuous
    from noisewright.mechanisms.laws.calibrate import on_lattice as on_lattice
    from noisewright.mechanisms.laws.calibrate import ranged_proof as ranged_proof
    from noisewright.mechanisms.laws.cell_masses import CellMasses as CellMasses
    from noisewright.mechanisms.laws.cell_masses import from_cdf as from_cdf
    from noisewright.mechanisms.laws.cell_masses import from_density as from_density
    from noisewright.mechanisms.laws.feasible import Feasible as Feasible
    from noisewright.mechanisms.laws.feasible import Interval as Interval
    from noisewright.mechanisms.laws.feasible import Range as Range
    from noisewright.mechanisms.laws.half_line import SWITCH as SWITCH
    from noisewright.mechanisms.laws.half_line import AsymmetricLaw as AsymmetricLaw
    from noisewright.mechanisms.laws.half_line import near_rate as near_rate
    from noisewright.mechanisms.laws.lattice import LatticeLaw as LatticeLaw
    from noisewright.mechanisms.laws.lattice import feasible_shares as feasible_shares
    from noisewright.mechanisms.laws.lattice import geometric_moments as geometric_moments
    from noisewright.mechanisms.laws.lattice import shifted as shifted
    from noisewright.mechanisms.laws.lattice_metrics import LatticeLine as LatticeLine
    from noisewright.mechanisms.laws.lattice_metrics import LatticePoints as LatticePoints
    from noisewright.mechanisms.laws.lattice_metrics import loss_before_rounding as loss_before_rounding
    from noisewright.mechanisms.laws.lattice_metrics import metric_of as metric_of
    from noisewright.mechanisms.laws.lattice_metrics import rounding as rounding
    from noisewright.mechanisms.laws.roots import root as root
    from noisewright.mechanisms.laws.truncated import TruncatedLaplace as TruncatedLaplace
    from noisewright.mechanisms.laws.worst_answer import RoundingCells as RoundingCells
else:
    __getattr__, __dir__ = door(__name__)
