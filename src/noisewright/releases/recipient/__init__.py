"""Code for recipients: the folder opened, and estimates of the original distribution of its columns."""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.releases.recipient.estimating import ColumnEstimate as ColumnEstimate
    from noisewright.releases.recipient.estimating import Interval as Interval
    from noisewright.releases.recipient.estimating import Share as Share
    from noisewright.releases.recipient.estimating import estimate_column as estimate_column
    from noisewright.releases.recipient.loading import load as load
    from noisewright.releases.recipient.received import Received as Received
    from noisewright.releases.recipient.received import receive as receive
    from noisewright.releases.recipient.words import in_lines as in_lines
else:
    __getattr__, __dir__ = door(__name__)
