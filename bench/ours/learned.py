"""Our optima of finite games."""

from __future__ import annotations

import numpy as np

from bench.work import Work
from noisewright.learned.theory.games import FiniteGame
from noisewright.learned.theory.joint import Joint

__all__ = ["game"]


def game(public: int, private: int, loss: str, given: str, distortion: str, budget: str) -> Work:
    """The optimum of a random game; the answer is what the best adversary loses, and the gap to its bound must be small."""
    table = np.random.default_rng(0).dirichlet(np.full(public * private, 0.3)).reshape(public, private)
    law = Joint(table)

    def run() -> float:
        made = FiniteGame(law, distortion, given=given).optimum(budget, loss)
        if not made.gap < 1e-6:
            raise ValueError(f"the bound is {made.gap:.3g} away from the optimum")
        return made.loss_value

    return Work(run, 1, float)
