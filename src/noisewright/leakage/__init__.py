"""Leakage: what adversaries learn from a mechanism, and when one mechanism may safely replace another.

``nw.leakage(...)`` is :func:`noisewright.leakage.vulnerability.leakage`.
"""

from noisewright.core.rooms import make_callable

make_callable(__name__, "noisewright.leakage.vulnerability", "leakage")
