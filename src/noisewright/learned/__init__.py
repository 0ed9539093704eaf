"""Learning from private data, what learned privatisers can reach at best, and what attackers find out from any release."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.learned import evaluation as evaluation
    from noisewright.learned import theory as theory
    from noisewright.learned.naive_bayes import PrivateGaussianNB as PrivateGaussianNB
else:
    __getattr__, __dir__ = door(__name__)
