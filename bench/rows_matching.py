"""Rows about matching: codes against the bare product, exact flips against diffprivlib, and search against faiss itself."""

from __future__ import annotations

from bench.rows import MB, Row, Task

__all__ = ["ROWS"]

WITHIN = 1 / 1.2
STREAM = {"users": 1_000_000, "dimension": 1000, "bits": 128}
FEW = {"users": 50_000}
LONG, FEWER = {"users": 32_768, "dimension": 4096, "bits": 4096}, {"users": 8192}
SEARCH = {"codes": 1_000_000, "queries": 1000, "bits": 128, "neighbours": 10}
SMALL = {"codes": 100_000, "queries": 200}

ROWS = [
    Row(
        name="codes of a million profiles",
        compares="Client.encode with bits of the system, block by block, against the product with all directions alone",
        size="1,000,000 x 1000 numbers, 128 bits",
        ours=Task("bench.ours.matching:encode", STREAM, FEW),
        peer=Task("bench.ours.matching:bare_product", STREAM, FEW),
        target=WITHIN,
        agree=0.0,
        unit="profiles",
        own_peer=True,
        memory_limit=600 * MB,
        rounds=3,
    ),
    Row(
        name="long codes by a fast projection",
        compares="Client.encode under a structured projection, which has another law, against the product with all directions",
        size="32,768 x 4096 numbers, 4096 bits",
        ours=Task("bench.ours.matching:encode", {**LONG, "family": "fast-projection"}, FEWER),
        peer=Task("bench.ours.matching:bare_product", LONG, FEWER),
        agree=0.0,
        unit="profiles",
        own_peer=True,
        rounds=3,
    ),
    Row(
        name="exact flips of bits",
        compares="exact coins for packed bits against diffprivlib's Binary, one bit a call",
        size="128,000,000 bits (peer: 100,000)",
        ours=Task("bench.ours.matching:flips", {"codes": 1_000_000, "bits": 128}, {"codes": 50_000}),
        peer=Task("bench.peers.diffprivlib:binary_response", {"categories": 2, "size": 100_000}, {"size": 5000}),
        target=100,
        unit="bits",
    ),
    Row(
        name="search among a million codes",
        compares="Server.search (a fresh order, names, distances with intervals) against the faster of faiss's exact searches",
        size="1000 queries, 1,000,000 codes of 128 bits, 10 neighbours",
        ours=Task("bench.ours.matching:search", SEARCH, SMALL),
        peer=Task("bench.ours.matching:faiss_alone", SEARCH, SMALL),
        target=WITHIN,
        agree=1e-9,
        unit="queries",
        own_peer=True,
        rounds=3,
    ),
]
