"""Our codes and our search among them, and what they are measured against: the bare product, and faiss itself."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from bench.work import Work
from noisewright.matching import Client, Projection, Scheme, Server
from noisewright.matching.scheme import flipped
from noisewright.resources import Seed

__all__ = ["bare_product", "encode", "faiss_alone", "flips", "search"]

BLOCK, HELD = 8192, 4
"""Users of a block, and how many different blocks go round and round: a stream that is made once."""


def encode(users: int, dimension: int, bits: int, family: str = "projection") -> Work:
    """From profiles to noisy codes, block by block, with the same random bits as a release."""
    client = Client(Scheme(dimension=dimension, bits=bits, epsilon=1, seed=_seed(), family=family))
    blocks = _blocks(dimension)
    client.encode(blocks[0])

    def run() -> int:
        return sum(len(client.encode(block)) for block in _stream(blocks, users))

    return Work(run, users, float)


def bare_product(users: int, dimension: int, bits: int) -> Work:
    """Nothing but the product with all directions in single precision, into one place."""
    directions = np.ascontiguousarray(Projection(dimension, bits, _seed()).directions[:, :bits])
    blocks = _blocks(dimension)
    room = np.empty((BLOCK, bits), dtype=np.float32)

    def run() -> int:
        return sum(len(np.matmul(block, directions, out=room[: len(block)])) for block in _stream(blocks, users))

    return Work(run, users, float)


def flips(codes: int, bits: int) -> Work:
    """Every bit flipped by an exact coin, with epsilon 1; the share that is kept."""
    scheme = Scheme(dimension=1, bits=bits, epsilon=1, seed=_seed())
    given = np.random.default_rng(1).integers(0, 256, (codes, scheme.code_bytes), dtype=np.uint8)

    def kept(noisy: Any) -> float:
        return 1 - float(np.bitwise_count(noisy ^ given).sum()) / (codes * bits)

    return Work(lambda: flipped(given, bits, scheme.flip), codes * bits, kept)


def search(codes: int, queries: int, bits: int, neighbours: int) -> Work:
    """``Server.search``: a fresh order of all codes, names, distances and their intervals."""
    server = Server(Scheme(dimension=1, bits=bits, epsilon=4, seed=_seed()))
    given, asked = _codes(codes, queries, bits)
    server.add([f"user {i}" for i in range(codes)], given)
    return Work(lambda: server.search(asked, neighbours), queries, lambda found: float(found.differ.mean()))


def faiss_alone(codes: int, queries: int, bits: int, neighbours: int) -> Work:
    """The faster of faiss's exact searches among binary codes; ties by the order of the list."""
    import faiss

    given, asked = _codes(codes, queries, bits)
    return Work(lambda: faiss.knn_hamming(asked, given, neighbours), queries, lambda found: float(found[0].mean()))


def _seed() -> Seed:
    return Seed.from_hex("01" * 32)


def _blocks(dimension: int) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.standard_normal((BLOCK, dimension), dtype=np.float32) for _ in range(HELD)]


def _stream(blocks: list[np.ndarray], users: int) -> Any:
    for start, block in zip(range(0, users, BLOCK), itertools.cycle(blocks), strict=False):
        yield block[: users - start]


def _codes(codes: int, queries: int, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Random codes, and queries a few flips away from some of them."""
    rng = np.random.default_rng(2)
    given = rng.integers(0, 256, (codes, bits // 8), dtype=np.uint8)
    return given, given[:queries] ^ np.packbits(rng.random((queries, bits)) < 0.1, axis=1)
