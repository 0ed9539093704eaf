"""Conformance suites: what every mechanism and every kind of column must satisfy, ours and anyone's.

A failed check raises :class:`ConformanceError`, which names the check and its findings.
"""

from typing import TYPE_CHECKING

from noisewright.core.loading.doors import door

if TYPE_CHECKING:
    from noisewright.testing.entries import LARGEST_PLAN as LARGEST_PLAN
    from noisewright.testing.entries import check_entry as check_entry
    from noisewright.testing.kinds import check_kind as check_kind
    from noisewright.testing.mechanisms import check_mechanism as check_mechanism
    from noisewright.testing.report import Check as Check
    from noisewright.testing.report import ConformanceError as ConformanceError
    from noisewright.testing.report import Report as Report
    from noisewright.testing.report import require as require
    from noisewright.testing.report import run as run
else:
    __getattr__, __dir__ = door(__name__)
