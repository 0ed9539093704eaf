"""Releases: policies, plans, ledgers, engines, certificates and reports.

``nw.release(policy, data)`` is :func:`noisewright.release.run.release`.
"""

from noisewright.core.rooms import make_callable

make_callable(__name__, "noisewright.release.run", "release")
