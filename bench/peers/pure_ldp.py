# mypy: disable-error-code="import-untyped,import-not-found"
"""pure-ldp: its client and server for each protocol, called for each user, which is the only way that it offers."""

from __future__ import annotations

import numpy as np
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

from bench.work import Work

__all__ = ["oracle"]

PROTOCOLS = {
    "response": (DEClient, DEServer, {}),
    "unary": (UEClient, UEServer, {"use_oue": True}),
    "hashing": (LHClient, LHServer, {"use_olh": True}),
}


def oracle(kind: str, categories: int, users: int, epsilon: str) -> Work:
    """Everybody's value made private and all shares estimated; the answer is 1 plus the share of the first fifth."""
    make_client, make_server, more = PROTOCOLS[kind]
    first = max(categories // 5, 1)
    weights = np.ones(categories)
    weights[:first] = 4.0
    values = np.random.default_rng(1).choice(categories, users, p=weights / weights.sum()).tolist()
    same = {"index_mapper": lambda value: value, **more}

    def run() -> list[float]:
        client, server = (make(float(epsilon), categories, **same) for make in (make_client, make_server))
        for value in values:
            server.aggregate(client.privatise(value))
        return [server.estimate(v, suppress_warnings=True) / users for v in range(categories)]

    return Work(run, users, lambda shares: 1.0 + float(np.sum(shares[:first])))
