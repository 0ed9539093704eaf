"""Channels: from a secret to a distribution over outputs, with their audits, posteriors and integer tables.

``Channel(matrix).epsilon(metric)`` is the smallest guarantee a channel has; ``.certify(...)`` makes the table that is drawn from.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.core.channels.audit import Audit as Audit
    from noisewright.core.channels.audit import Event as Event
    from noisewright.core.channels.audit import d_leakage as d_leakage
    from noisewright.core.channels.audit import d_vulnerability as d_vulnerability
    from noisewright.core.channels.audit import directed as directed
    from noisewright.core.channels.audit import distinguishability as distinguishability
    from noisewright.core.channels.audit import epsilon_at as epsilon_at
    from noisewright.core.channels.audit import smallest_epsilon as smallest_epsilon
    from noisewright.core.channels.audit import worst_event as worst_event
    from noisewright.core.channels.certified import LARGEST_EPSILON as LARGEST_EPSILON
    from noisewright.core.channels.certified import CertifiedChannel as CertifiedChannel
    from noisewright.core.channels.certified import certify as certify
    from noisewright.core.channels.certified import check_budget as check_budget
    from noisewright.core.channels.channel import Channel as Channel
    from noisewright.core.channels.envelope import Breach as Breach
    from noisewright.core.channels.envelope import Envelope as Envelope
    from noisewright.core.channels.hyper import Hyper as Hyper
    from noisewright.core.channels.hyper import as_prior as as_prior
else:
    __getattr__, __dir__ = door(__name__)
