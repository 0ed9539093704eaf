"""Learning from private data, learned privatisers, their optima, and attacks on them."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.learned import evaluation as evaluation
    from noisewright.learned import theory as theory
    from noisewright.learned import training as training
    from noisewright.learned.certified_noise import CertifiedPrivatiser as CertifiedPrivatiser
    from noisewright.learned.columns import Columns as Columns
    from noisewright.learned.drawing import Drawer as Drawer
    from noisewright.learned.in_policies import ChangedColumns as ChangedColumns
    from noisewright.learned.in_policies import changed_columns as changed_columns
    from noisewright.learned.measuring import Point as Point
    from noisewright.learned.model_files import read_privatiser as read_privatiser
    from noisewright.learned.naive_bayes import PrivateGaussianNB as PrivateGaussianNB
    from noisewright.learned.privatiser import GAPPrivatiser as GAPPrivatiser
else:
    __getattr__, __dir__ = door(__name__)
