"""Optimal mechanisms: losses, linear programs, private posteriors, kernels, extreme points and universal optimality.

``nw.optimal(...)`` is :func:`noisewright.optimal.design.optimal`.
"""

from noisewright.core.rooms import make_callable

make_callable(__name__, "noisewright.optimal.design", "optimal")
