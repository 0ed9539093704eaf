"""The sums over a square lattice that the moments of planar noise are worked out with."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from noisewright.mechanisms.spatial.planar_laplace import LATTICE_SUMS


@pytest.mark.parametrize("j", range(len(LATTICE_SUMS)))
def test_lattice_sums_are_those_of_zeta_and_beta_and_of_the_lattice(j):
    s = 3 + 2 * j
    beta = (scipy.special.zeta(s / 2, 0.25) - scipy.special.zeta(s / 2, 0.75)) / 4 ** (s / 2)
    known = scipy.special.binom(-1.5, j) * 4 * scipy.special.zeta(s / 2) * beta
    assert LATTICE_SUMS[j] == pytest.approx(known, rel=1e-14)
    axis = np.arange(-300, 301, dtype=np.float64)
    squares = (axis[:, None] ** 2 + axis[None, :] ** 2).ravel()
    near = (squares[(squares > 0) & (squares <= 300**2)] ** (-s / 2)).sum()
    beyond = 2 * np.pi * 300.0 ** (2 - s) / (s - 2)  # the plane outside the circle
    assert scipy.special.binom(-1.5, j) * (near + beyond) == pytest.approx(LATTICE_SUMS[j], rel=1e-4)
