# mypy: disable-error-code="import-untyped,import-not-found"
"""multi-freq-ldpy: its clients, compiled where it compiles them, called for each user, and its aggregators."""

from __future__ import annotations

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

from bench.work import Work

__all__ = ["oracle"]


def oracle(kind: str, categories: int, users: int, epsilon: str) -> Work:
    """Everybody's value made private and all shares estimated; the answer is 1 plus the share of the first fifth."""
    first, k, budget = max(categories // 5, 1), categories, float(epsilon)
    weights = np.ones(categories)
    weights[:first] = 4.0
    values = np.random.default_rng(1).choice(categories, users, p=weights / weights.sum()).tolist()

    def run(values: list[int] = values) -> np.ndarray:
        if kind == "unary":
            return np.asarray(UE_Aggregator_MI([UE_Client(v, k, budget) for v in values], budget))
        client, aggregator = {"response": (GRR_Client, GRR_Aggregator_MI), "hashing": (LH_Client, LH_Aggregator_MI)}[
            kind
        ]
        return np.asarray(aggregator([client(v, k, budget) for v in values], k, budget))

    run(values[:10])  # so that compiling is not timed
    return Work(run, users, lambda shares: 1.0 + float(shares[:first].sum()))
