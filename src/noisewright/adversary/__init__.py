"""Information that adversaries gain from a mechanism, and whether one mechanism may safely replace another.

``nw.leakage(...)`` is :func:`noisewright.adversary.measures.vulnerability.leakage`, ``nw.compare(...)`` is
:func:`noisewright.adversary.orders.compare.compare`.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.adversary import disclosure as disclosure
    from noisewright.adversary import exact as exact
    from noisewright.adversary import families as families
    from noisewright.adversary import inference as inference
    from noisewright.adversary import measures as measures
    from noisewright.adversary import orders as orders
    from noisewright.adversary import replacement as replacement
    from noisewright.adversary.families.neighbours import neighbours as neighbours
    from noisewright.adversary.inference.cross_table import cross_table as cross_table
    from noisewright.adversary.inference.insensitive import insensitive as insensitive
    from noisewright.adversary.measures.gain import Gain as Gain
    from noisewright.adversary.measures.hiding import hiding as hiding
    from noisewright.adversary.measures.uncertainty import uncertainty as uncertainty
    from noisewright.adversary.measures.vulnerability import leakage as leakage
    from noisewright.adversary.orders.compare import compare as compare
    from noisewright.adversary.orders.deficiency import deficiency as deficiency
    from noisewright.adversary.orders.earth_move import earth_move as earth_move
    from noisewright.adversary.refinement import Refinement as Refinement
    from noisewright.adversary.replacement.hasse import hasse as hasse
    from noisewright.adversary.replacement.hexagon import hexagon as hexagon
    from noisewright.adversary.replacement.replacement import safe_replacement as safe_replacement
    from noisewright.adversary.witness import OWN as OWN
    from noisewright.adversary.witness import CorrelationWitness as CorrelationWitness
    from noisewright.adversary.witness import GainWitness as GainWitness
    from noisewright.adversary.witness import MetricWitness as MetricWitness
    from noisewright.adversary.witness import PosteriorWitness as PosteriorWitness
    from noisewright.adversary.witness import PostProcessing as PostProcessing
    from noisewright.adversary.witness import gain_witness as gain_witness
    from noisewright.adversary.witness import vulnerability as vulnerability
    from noisewright.adversary.workflows import Local as Local
    from noisewright.adversary.workflows import Oblivious as Oblivious
else:
    __getattr__, __dir__ = door(__name__)
