r"""Choice of the number of components: each further component adds noise to all.

With c components the noise on component i has the scale ``c range_i / epsilon``. It is worth while as long as that is
below ``alpha`` standard deviations, for all kept components; the result is the largest c with

.. math:: c\, \text{range}_i / \varepsilon < \alpha\, \text{sd}_i \qquad \text{for every } i \le c.

Both the factor c and the set of conditions grow with c, so the counts that satisfy it come first, and the answer is how many
of ``c * cummax(range / sd)`` are below ``alpha epsilon``. It depends on epsilon and public numbers alone. A published search
by halving returns one too many; this one does not.

>>> component_count([1] * 5, [9] * 5, epsilon=25)  # 2 * 9 / 25 = 0.72, and 3 * 9 / 25 = 1.08
2
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from noisewright.core.choices import is_number
from noisewright.core.errors import ParameterError
from noisewright.core.exact import Exact, positive_fraction

__all__ = ["ALPHA", "component_count"]

ALPHA = 0.9
"""Largest noise on a component, in its standard deviations."""


def component_count(spreads: ArrayLike, ranges: ArrayLike, *, epsilon: Exact, alpha: float = ALPHA) -> int:
    """The largest number of leading components whose noise stays below ``alpha`` standard deviations of each.

    Refused where even one component has more noise than that.
    """
    sds, wide = np.asarray(spreads, np.float64), np.asarray(ranges, np.float64)
    if sds.ndim != 1 or not len(sds) or sds.shape != wide.shape or not ((sds > 0) & (wide > 0)).all():
        raise ParameterError(
            "components have standard deviations and ranges above 0, as many of the one as of the other."
        )
    if not is_number(alpha) or not 0 < alpha < np.inf:
        raise ParameterError("alpha is a finite number of standard deviations above 0.")
    limit = float(positive_fraction(epsilon, "epsilon")) * alpha
    worst = np.maximum.accumulate(wide / sds)
    found = int((np.arange(1, len(sds) + 1) * worst < limit).sum())
    if not found:
        raise ParameterError(
            f"at this epsilon even one component has noise above alpha = {alpha:g} of its standard deviations; take a larger "
            "epsilon, or say components=1 and expect faces that have little to do with the original."
        )
    return found
