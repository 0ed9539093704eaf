"""Noisewright designs, proves, compares and runs privacy mechanisms.

>>> import noisewright as nw
>>> count = nw.geometric(epsilon=1, within=(0, 100))
>>> 0 <= count.release(42) <= 100
True
>>> nw.audit(count).value <= 1.0000001
True
>>> count.certificate().verify()
'epsilon = 1 per unit of line'

The verbs, the main types and the mechanisms of the tutorial are here; all mechanisms are in ``nw.mechanisms``, all metrics in
``nw.metrics``, everything else in its room.
"""

from typing import TYPE_CHECKING

from noisewright.core import VERSION
from noisewright.core.loading.doors import door

__version__ = VERSION

if TYPE_CHECKING:
    from noisewright import (
        adversary as adversary,
    )
    from noisewright import (
        core as core,
    )
    from noisewright import (
        estimation as estimation,
    )
    from noisewright import (
        images as images,
    )
    from noisewright import (
        learned as learned,
    )
    from noisewright import (
        matching as matching,
    )
    from noisewright import (
        mechanisms as mechanisms,
    )
    from noisewright import (
        noise as noise,
    )
    from noisewright import (
        optimality as optimality,
    )
    from noisewright import (
        plots as plots,
    )
    from noisewright import (
        releases as releases,
    )
    from noisewright import (
        testing as testing,
    )
    from noisewright import (
        text as text,
    )
    from noisewright import (
        unsafe as unsafe,
    )
    from noisewright.adversary.measures.gain import Gain as Gain
    from noisewright.adversary.measures.vulnerability import leakage as leakage
    from noisewright.adversary.orders.compare import compare as compare
    from noisewright.core import metrics as metrics
    from noisewright.core.certificates.certificate import Certificate as Certificate
    from noisewright.core.channels.channel import Channel as Channel
    from noisewright.core.errors import NoisewrightError as NoisewrightError
    from noisewright.core.guarantee import Guarantee as Guarantee
    from noisewright.estimation.population.estimate import estimate as estimate
    from noisewright.estimation.survey.plan import survey as survey
    from noisewright.files.channels import save as save
    from noisewright.mechanisms.auditing import audit as audit
    from noisewright.mechanisms.categories.exponential import exponential as exponential
    from noisewright.mechanisms.categories.finite import mechanism as mechanism
    from noisewright.mechanisms.categories.response import randomised_response as randomised_response
    from noisewright.mechanisms.numbers.geometric import geometric as geometric
    from noisewright.mechanisms.numbers.laplace import laplace as laplace
    from noisewright.mechanisms.places.planar import planar_laplace as planar_laplace
    from noisewright.optimality.design.optimal import optimal as optimal
    from noisewright.optimality.losses.gallery import Loss as Loss
    from noisewright.optimality.priors import Prior as Prior
    from noisewright.releases.ledger.ledger import Ledger as Ledger
    from noisewright.releases.output.proving import verify as verify
    from noisewright.releases.planning import plan as plan
    from noisewright.releases.policy.policy import Policy as Policy
    from noisewright.releases.recipient.loading import load as load
    from noisewright.releases.run import release as release
else:
    __getattr__, __dir__ = door(__name__)
