"""Every registered mechanism passes the public conformance suite, and broken mechanisms do not."""

import dataclasses
import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from face_support import face_files, tiny_model
from picture_support import small_picture
from word_support import clusters

import noisewright as nw
from noisewright.exceptions import DataError, ParameterError
from noisewright.mechanisms import registry
from noisewright.mechanisms.categorical.base import FiniteMechanism
from noisewright.mechanisms.categorical.local_hashing import LocalHashingMechanism
from noisewright.mechanisms.numeric.geometric import GeometricMechanism
from noisewright.resources import Seed
from noisewright.testing import ConformanceError, check_mechanism, mechanisms

GRID = [(i, j) for i in range(3) for j in range(3)]

CASES = {
    "geometric": (
        lambda: nw.geometric(epsilon="1/2", within=(-3, 12)),
        range(-3, 13),
        [13, 0.5, math.nan],
        [
            lambda: nw.geometric(epsilon=-1),
            lambda: nw.geometric(epsilon=math.inf),
            lambda: nw.geometric(epsilon=1, sensitivity=0),
            lambda: nw.geometric(epsilon=1, within=(5, 5)),
            lambda: nw.geometric(epsilon=1, within=(0.5, 5)),
            lambda: nw.geometric(epsilon=1, within=(0, 5), outside="ignore"),
            lambda: nw.geometric(epsilon=1e-300),
        ],
    ),
    "geometric, sensitivity 3": (lambda: nw.geometric(epsilon=2, sensitivity=3, within=(0, 9)), range(10), [10], []),
    "geometric, unbounded": (lambda: nw.geometric(epsilon=0.3), [-5, 0, 10**6], [0.25], []),
    "laplace": (
        lambda: nw.laplace(epsilon="0.7", sensitivity=2, within=(0, 9), lattice="1/4"),
        [k / 4 for k in range(37)],
        [9.01, -0.5, math.nan],
        [
            lambda: nw.laplace(epsilon=0),
            lambda: nw.laplace(epsilon=1, sensitivity=-1),
            lambda: nw.laplace(epsilon=1, within=(3, 3)),
            lambda: nw.laplace(epsilon=1, within=[(0, 2), (1, 3)]),
            lambda: nw.laplace(epsilon=1, excluding=[(0, 1), (1, 2)]),
            lambda: nw.laplace(epsilon=1, within=(0, math.nan)),
            lambda: nw.laplace(epsilon=1, within=(0, 9), lattice="0.3"),
            lambda: nw.laplace(epsilon=1, within=(0, 3), lattice=4),
            lambda: nw.laplace(epsilon=1, within=[(0, 2), (3, 5)], outside="clamp"),
            lambda: nw.laplace(epsilon=1, within=(0, 9), margin=5),
            lambda: nw.laplace(epsilon=1, within=(0, 9), scope="local"),
            lambda: nw.laplace(epsilon=1, within=(0, 9), shape="asymmetric"),
            lambda: nw.laplace(epsilon=1, lattice=2.0**-60),
        ],
    ),
    "laplace, gaps": (
        lambda: nw.laplace(epsilon=1, within=[(0, 2), (3, 4), (6, 9)], scope="metric", lattice="1/4"),
        [0.0, 0.25, 2.0, 3.5, 4.0, 6.0, 9.0],
        [2.5, 4.01, math.inf],
        [],
    ),
    "laplace, unbounded": (lambda: nw.laplace(epsilon="0.1"), [-5.5, 0.0, 1e6], [math.nan, 1e300], []),
    "laplace, metric": (
        lambda: nw.laplace(epsilon=1, sensitivity="1/3", scope="metric"),
        [-4.5, 0.0, 1e5],
        [math.nan, "x"],
        [lambda: nw.laplace(epsilon=1, scope="near")],
    ),
    "laplace, half line": (
        lambda: nw.laplace(epsilon=1, within=(0, None), scope="metric"),
        [0.0, 0.5, 3.0, 70.0],
        [-0.01, math.inf],
        [],
    ),
    "randomised-response": (
        lambda: nw.randomised_response(["a", "b", "c"], epsilon=1),
        ["a", "b", "c"],
        ["d", ""],
        [
            lambda: nw.randomised_response(["a"], epsilon=1),
            lambda: nw.randomised_response(["a", "a"], epsilon=1),
            lambda: nw.randomised_response(3, epsilon=0),
        ],
    ),
    "randomised-response, mixed labels": (
        lambda: nw.randomised_response([None, True, "x", (1, 2)], epsilon=2),
        ["x", (1, 2), True],
        ["y"],
        [],
    ),
    "exponential": (
        lambda: nw.exponential([0, 1, 3, 7.5], epsilon=1),
        [0, 1, 3, 7.5],
        [2, math.inf],
        [lambda: nw.exponential([1], epsilon=1), lambda: nw.exponential(["a", "b"], epsilon=1)],
    ),
    "exponential, plane": (
        lambda: nw.exponential(GRID, epsilon=1, metric=nw.metrics.Euclidean()),
        GRID,
        [(9, 9)],
        [lambda: nw.exponential(GRID, epsilon=math.nan, metric=nw.metrics.Euclidean())],
    ),
    "selection": (
        lambda: nw.mechanisms.selection(["soup", "salad", "cake"], epsilon=1, sensitivity=2),
        [(3, 0, 7), (0, 0, 0), (-5, 12, 12)],
        [(3, 0.5, 7), (math.nan, 1.0, 1.0), (1, 2)],
        [
            lambda: nw.mechanisms.selection(["soup"], epsilon=1),
            lambda: nw.mechanisms.selection(["soup", "soup"], epsilon=1),
            lambda: nw.mechanisms.selection(["soup", "cake"], epsilon=math.inf),
            lambda: nw.mechanisms.selection(["soup", "cake"], epsilon=1, sensitivity=0),
        ],
    ),
    "metric-realising": (
        lambda: nw.mechanisms.metric_realising(range(5), epsilon=1, metric=nw.metrics.Line()),
        range(5),
        [5],
        [
            lambda: nw.mechanisms.metric_realising([], epsilon=1, metric=nw.metrics.Line()),
            lambda: nw.mechanisms.metric_realising(["*", "b"], epsilon=1, metric=nw.metrics.Discrete()),
            lambda: nw.mechanisms.metric_realising(range(3), epsilon=1, metric=nw.metrics.Line(), share=0.6),
        ],
    ),
    "unary-encoding": (
        lambda: nw.mechanisms.unary_encoding(["a", "b", "c", "d"], epsilon=1),
        ["a", "b", "c", "d"],
        ["e", ""],
        [
            lambda: nw.mechanisms.unary_encoding(["a"], epsilon=1),
            lambda: nw.mechanisms.unary_encoding(["a", "a"], epsilon=1),
            lambda: nw.mechanisms.unary_encoding(3, epsilon=0),
            lambda: nw.mechanisms.unary_encoding(3, epsilon=1, variant="plain"),
        ],
    ),
    "unary-encoding, symmetric": (
        lambda: nw.mechanisms.unary_encoding(9, epsilon="1/2", variant="symmetric"),
        range(9),
        [9],
        [],
    ),
    "local-hashing": (
        lambda: nw.mechanisms.local_hashing(["a", "b", "c"], epsilon=1),
        ["a", "b", "c"],
        ["d"],
        [
            lambda: nw.mechanisms.local_hashing(1, epsilon=1),
            lambda: nw.mechanisms.local_hashing(5, epsilon=-1),
            lambda: nw.mechanisms.local_hashing(5, epsilon=1, buckets=1),
            lambda: nw.mechanisms.local_hashing(5, epsilon=1, buckets=2.5),
            lambda: nw.mechanisms.local_hashing(5, epsilon=1, buckets=10**9),
        ],
    ),
    "local-hashing, few hash functions": (
        lambda: LocalHashingMechanism(tuple("abcde"), nw.randomised_response(3, epsilon=1), prime=7),
        list("abcde"),
        ["f"],
        [],
    ),
    "subset-selection": (
        lambda: nw.mechanisms.subset_selection(["a", "b", "c", "d", "e"], epsilon="1/2"),
        ["a", "b", "e"],
        ["f"],
        [
            lambda: nw.mechanisms.subset_selection(["a"], epsilon=1),
            lambda: nw.mechanisms.subset_selection(4, epsilon=math.nan),
            lambda: nw.mechanisms.subset_selection(4, epsilon=1, size=0),
            lambda: nw.mechanisms.subset_selection(4, epsilon=1, size=4),
            lambda: nw.mechanisms.subset_selection(4, epsilon=1, size=1.5),
            lambda: nw.mechanisms.subset_selection(4, epsilon="1e-30"),
        ],
    ),
    "subset-selection, many bytes": (
        lambda: nw.mechanisms.subset_selection(10, epsilon=1, size=4),
        range(10),
        [10, 0.5],
        [],
    ),
    "hadamard-response": (
        lambda: nw.mechanisms.hadamard_response(["a", "b", "c", "d", "e"], epsilon="1/2"),
        ["a", "c", "e"],
        ["f"],
        [
            lambda: nw.mechanisms.hadamard_response(1, epsilon=1),
            lambda: nw.mechanisms.hadamard_response([1, 1], epsilon=1),
        ],
    ),
    "hadamard-response, blocks": (lambda: nw.mechanisms.hadamard_response(11, epsilon=2), range(11), [11], []),
    "curve": (
        lambda: nw.mechanisms.curve(epsilon=1, sensitivity=2, grid=(0, 1), within=(0, 4), lattice=1),
        [(0.0, 4.0), (1.0, 1.0), (4.0, 3.0)],
        [(0.0, 5.0), (math.nan, 1.0), (1.0, 2.0, 3.0)],
        [
            lambda: nw.mechanisms.curve(epsilon=0, sensitivity=1, grid=[0, 1]),
            lambda: nw.mechanisms.curve(epsilon=1, sensitivity=-1, grid=[0, 1]),
            lambda: nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=[]),
            lambda: nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=[1, 1]),
            lambda: nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=[0, math.inf]),
            lambda: nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=[0, 1], norm="l2"),
            lambda: nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=[0, 1], within=(3, 3)),
            lambda: nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=[0, 1], within=(0, 1e300)),
            lambda: nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=[0, 1], lattice="0.3"),
            lambda: nw.mechanisms.curve(epsilon=1, sensitivity=1, grid=[0, 1], outside="drop"),
            lambda: nw.mechanisms.curve(epsilon=1e-300, sensitivity=1, grid=[0, 1], lattice=1),
        ],
    ),
    "channel": (
        lambda: nw.mechanism(nw.Channel([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3]], ["u", "v"], [1, 2, 3])),
        ["u", "v"],
        ["w"],
        [lambda: nw.mechanism(nw.Channel(np.eye(2)), epsilon=1)],
    ),
    "planar-laplace": (
        lambda: nw.planar_laplace(epsilon="1.4", radius=200),
        [(0.0, 0.0), (-120.5, 3e5), (0.013, 0.117)],
        [(math.nan, 0.0), (1.0, math.inf), (1.0, 2.0, 3.0), ("a", "b"), (1e300, 0.0)],
        [
            lambda: nw.planar_laplace(epsilon=0),
            nw.planar_laplace,
            lambda: nw.planar_laplace(epsilon=1, radius=-3),
            lambda: nw.planar_laplace(epsilon=1, radius=0),
            lambda: nw.planar_laplace(epsilon=1, lattice=0.3),
            lambda: nw.planar_laplace(epsilon=1, lattice=2.0**-60),
            lambda: nw.planar_laplace(epsilon=1, remap=nw.mechanisms.Polygon([(0, 0), (1, 1)])),
        ],
    ),
    "planar-laplace, polygon": (
        lambda: nw.planar_laplace(epsilon=1, remap=nw.mechanisms.Polygon([(0, 0), (9, 0), (9, 5), (4, 8), (0, 5)])),
        [(1.0, 1.0), (8.5, 4.5)],
        [(math.nan, 0.0)],
        [],
    ),
    "planar-geometric": (
        lambda: nw.mechanisms.planar_geometric(nw.mechanisms.Grid(4, 3, step=2, origin=(1, -1)), epsilon="1/3"),
        [(x, y) for x in (1, 3, 5, 7) for y in (-1, 1, 3)],
        [(0, 0), (1, 0.5), (math.nan, 1.0)],
        [
            lambda: nw.mechanisms.planar_geometric([(0, 0)], epsilon=1),
            lambda: nw.mechanisms.planar_geometric([(0, 0), (0, 0)], epsilon=1),
            lambda: nw.mechanisms.planar_geometric([1, 2], epsilon=1),
            lambda: nw.mechanisms.planar_geometric([(0.1, 0), (0.7, 0.3)], epsilon=1),
            lambda: nw.mechanisms.planar_geometric(GRID),
        ],
    ),
    "planar-geometric, places": (
        lambda: nw.mechanisms.planar_geometric([(0, 0), (4, 1), (2.5, -3), (-1, 6)], epsilon=1),
        [(0, 0), (4, 1), (2.5, -3), (-1, 6)],
        [(4, 0)],
        [],
    ),
    "geo-laplace": (
        lambda: nw.mechanisms.geo_laplace(epsilon="1.4", radius=200, reference=(48.8566, 2.3522)),
        [(48.86, 2.34), (48.8, 2.4)],
        [(91.0, 2.3), (48.8, 181.0), (math.nan, 2.0), (2.3522, 48.8566), (48.8, -177.6)],
        [
            lambda: nw.mechanisms.geo_laplace(epsilon=1, radius=0, reference=(0, 0)),
            lambda: nw.mechanisms.geo_laplace(epsilon=1, radius=1, reference=(90, 0)),
            lambda: nw.mechanisms.geo_laplace(epsilon=1, radius=1, reference=(0, 200)),
            lambda: nw.mechanisms.geo_laplace(epsilon=1, radius=1, reference=7),
            lambda: nw.mechanisms.geo_laplace(
                epsilon=1, radius=1, reference=(0, 0), remap=nw.mechanisms.Grid(3, 3, 1.0, (89, 0))
            ),
            lambda: nw.mechanisms.geo_laplace(epsilon=1, radius=1, reference=(0, 0), outside="drop"),
        ],
    ),
    "spherical-laplace": (
        lambda: nw.mechanisms.spherical_laplace(epsilon="1/2", dimension=3),
        [(0.0, 0.0, 0.0), (1.0, -2.5, 1e6)],
        [(1.0, math.nan, 0.0), (1.0, 2.0)],
        [
            lambda: nw.mechanisms.spherical_laplace(epsilon=0, dimension=3),
            lambda: nw.mechanisms.spherical_laplace(epsilon=1, dimension=0),
            lambda: nw.mechanisms.spherical_laplace(epsilon=1, dimension=2.5),
        ],
    ),
    "product-laplace": (
        lambda: nw.mechanisms.product_laplace(epsilon=2, dimension=4),
        [(0.0, 0.0, 0.0, 0.0), (1.0, -2.5, 1e6, 0.3)],
        [(1.0, math.nan, 0.0, 0.0), (1.0, 2.0)],
        [
            lambda: nw.mechanisms.product_laplace(epsilon=-1, dimension=3),
            lambda: nw.mechanisms.product_laplace(epsilon=1, dimension=True),
            lambda: nw.mechanisms.product_laplace(epsilon=1, dimension=2, lattice=2.0**-70),
        ],
    ),
    "staircase": (
        lambda: nw.mechanisms.staircase(epsilon=1, sensitivity=3, within=(-2, 9), lattice=1),
        range(-2, 10),
        [10.0, math.nan, -math.inf],
        [
            lambda: nw.mechanisms.staircase(epsilon=0),
            lambda: nw.mechanisms.staircase(epsilon=1, sensitivity=-2),
            lambda: nw.mechanisms.staircase(epsilon=1, within=(3, 3)),
            lambda: nw.mechanisms.staircase(epsilon=1, within=(0, 9), outside="drop"),
            lambda: nw.mechanisms.staircase(epsilon=1, lattice="0.3"),
            lambda: nw.mechanisms.staircase(epsilon=1e-300),
            lambda: nw.mechanisms.staircase(epsilon=1, sensitivity=1, lattice=2.0**-60),
        ],
    ),
    "staircase, unbounded": (lambda: nw.mechanisms.staircase(epsilon="0.3"), [0.0, -17.25, 1e5], [math.nan, 1e300], []),
    "snapped-laplace": (
        lambda: nw.mechanisms.snapped_laplace(epsilon="0.7", sensitivity=2, within=[(0, 3), (6, 9)], lattice=1),
        [0, 1, 2, 3, 6, 7, 8, 9],
        [4, 10.5, math.nan],
        [
            lambda: nw.mechanisms.snapped_laplace(epsilon=-1),
            lambda: nw.mechanisms.snapped_laplace(epsilon=1, within=[(0, 1), (1, 2)]),
            lambda: nw.mechanisms.snapped_laplace(epsilon=1, within=[(0, 1), (3, 4)], outside="clamp"),
            lambda: nw.mechanisms.snapped_laplace(epsilon=1, scope="local"),
            lambda: nw.mechanisms.snapped_laplace(epsilon=1, within=(0, "0.5"), lattice=1),
        ],
    ),
    "snapped-laplace, half line": (
        lambda: nw.mechanisms.snapped_laplace(epsilon=1, within=(0, None), scope="metric"),
        [0.0, 0.25, 70.0],
        [-0.1],
        [],
    ),
    "snapped geometric": (
        lambda: nw.mechanisms.snapped(nw.geometric(epsilon=1, within=(0, 9)), (2, 7)),
        range(10),
        [10],
        [],
    ),
    "gaussian": (
        lambda: nw.mechanisms.gaussian(epsilon=1, delta="0.01", sensitivity=2, within=(0, 12), lattice=1),
        range(13),
        [12.5, -1, math.nan],
        [
            lambda: nw.mechanisms.gaussian(epsilon=1, delta=0),
            lambda: nw.mechanisms.gaussian(epsilon=1, delta=1),
            lambda: nw.mechanisms.gaussian(epsilon=-1, delta=0.1),
            lambda: nw.mechanisms.gaussian(epsilon=1, delta=1e-40),
            lambda: nw.mechanisms.gaussian(epsilon=1, delta=1e-5, sensitivity=math.inf),
        ],
    ),
    "gaussian, unbounded": (lambda: nw.mechanisms.gaussian(epsilon="0.5", delta=1e-6), [0.0, 12.5], [math.inf], []),
    "approximate-laplace": (
        lambda: nw.mechanisms.approximate_laplace(
            epsilon="0.5", delta="0.05", sensitivity=3, within=(0, 20), lattice=1
        ),
        range(21),
        [21.0, math.nan],
        [
            lambda: nw.mechanisms.approximate_laplace(epsilon=1, delta=0),
            lambda: nw.mechanisms.approximate_laplace(epsilon=1, delta=1.5),
            lambda: nw.mechanisms.approximate_laplace(epsilon=-0.5, delta=0.1),
            lambda: nw.mechanisms.approximate_laplace(epsilon=1, delta=0.1, rule="best"),
        ],
    ),
    "truncated-laplace": (
        lambda: nw.mechanisms.truncated_laplace(epsilon=4, within=(0, 1), lattice="1/64"),
        [k / 64 for k in range(65)],
        [1.01, -0.01, math.nan],
        [
            lambda: nw.mechanisms.truncated_laplace(epsilon=4, within=(0, None)),
            lambda: nw.mechanisms.truncated_laplace(epsilon=4, within=(1, 0)),
            lambda: nw.mechanisms.truncated_laplace(epsilon=0, within=(0, 1)),
            lambda: nw.mechanisms.truncated_laplace(epsilon=4, within=[(0, 1), (2, 3)]),
        ],
    ),
    "explicit-fair": (
        lambda: nw.mechanisms.explicit_fair(epsilon="0.5", within=(-1, 8)),
        range(-1, 9),
        [9, 0.5],
        [
            lambda: nw.mechanisms.explicit_fair(epsilon=0, within=(0, 5)),
            lambda: nw.mechanisms.explicit_fair(epsilon=1, within=(5, 5)),
            lambda: nw.mechanisms.explicit_fair(epsilon=1, within=(0, 10**6)),
            lambda: nw.mechanisms.explicit_fair(epsilon=1, within=(0.5, 5)),
        ],
    ),
    "uniform": (
        lambda: nw.mechanisms.uniform([0, 0.5, 1, 4]),
        [0, 0.5, 1, 4],
        [2, math.nan],
        [
            lambda: nw.mechanisms.uniform(0),
            lambda: nw.mechanisms.uniform([]),
            lambda: nw.mechanisms.uniform(["a", "a"]),
        ],
    ),
    "geometric, over-truncated": (
        lambda: nw.geometric(epsilon="0.6", within=(1, 4), outside="keep"),
        range(1, 5),
        [0.5, math.inf],
        [lambda: nw.geometric(epsilon=1, within=(4, 1), outside="keep")],
    ),
}

WORDS = ("exact-words", "laplace-words", "mahalanobis-words", "truncated-exponential-words", "vickrey-words")
CASES |= {
    name: (
        functools.partial(registry.build, name, clusters(), epsilon=2),
        clusters().words(),
        ["nope", 3.5, -1, None],
        [
            functools.partial(registry.build, name, clusters(), epsilon=0),
            functools.partial(registry.build, name, clusters(), epsilon=1, limit=1),
        ],
    )
    for name in WORDS
}

CASES |= {
    f"private-documents{', in floats' if way == 'laplace' else ''}": (
        functools.partial(registry.build, "private-documents", clusters(), epsilon=2, size=3, words=way),
        ["w1 w2 w3", "w7", "w1 w1 w1 w1 w9", ""],
        [3.5, -1, None],
        [
            functools.partial(registry.build, "private-documents", clusters(), epsilon=0, size=3),
            functools.partial(registry.build, "private-documents", clusters(), epsilon=1, size=0),
        ],
    )
    for way in ("exact", "laplace")
}

SEED = Seed(bytes(range(32)))
CASES |= {
    name: (
        functools.partial(registry.build, kind, **{**more, "epsilon": "1/2", "dimension": 3, "seed": SEED}),
        [(1.5, 0.0, 3.0), (2.5, 0.0, 3.0), (2.5, 0.0, 4.0)],
        [(1.5, 2.5), (math.nan, 1.5, 2.5), *([] if kind == "laplace-hash" else [(0.0, 0.0, 0.0)])],
        [
            functools.partial(registry.build, kind, **{**more, "epsilon": -1, "dimension": 3, "seed": SEED}),
            functools.partial(registry.build, kind, **{**more, "epsilon": 1, "dimension": 0, "seed": SEED}),
            functools.partial(registry.build, kind, **{**more, "epsilon": 1, "dimension": 3, "seed": "00"}),
            functools.partial(
                registry.build, kind, **{**dict.fromkeys(more, 0), "epsilon": 1, "dimension": 3, "seed": SEED}
            ),
        ],
    )
    for name, kind, more in (
        ("lshrr", "lshrr", {"bits": 37}),
        ("lshrr, fast", "lshrr", {"bits": 37, "family": "fast-projection"}),
        ("lshrr, sets", "lshrr", {"bits": 37, "family": "minhash"}),
        ("hashed-sets", "hashed-sets", {"hashes": 13, "answer_bits": 3}),
        ("laplace-hash", "laplace-hash", {"bits": 37}),
    )
}

PICTURES = [small_picture(seed) for seed in range(3)]
CASES |= {
    f"{name}, {between}": (
        functools.partial(registry.build, name, epsilon=9, width=8, height=6, block=2, between=between),
        PICTURES,
        [3.5, None, b"", b"no picture", PICTURES[0][:40]],
        [
            functools.partial(registry.build, name, epsilon=0, width=8, height=6),
            functools.partial(registry.build, name, epsilon=1, width=0, height=6),
            functools.partial(registry.build, name, epsilon=1, width=8, height=6, block=9),
            functools.partial(registry.build, name, epsilon=1, width=8, height=6, between="nothing"),
        ],
    )
    for name in ("pixel-laplace", "pixel-exponential", "pixel-windows")
    for between in ("pictures", "pixels")
}

CASES |= {
    f"faces, {weights}": (
        functools.partial(registry.build, "faces", tiny_model(), epsilon=60, weights=weights),
        face_files(3),
        [3.5, None, b"", b"no picture", face_files(1)[0][:40], small_picture(1)],
        [
            functools.partial(registry.build, "faces", tiny_model(), epsilon=0),
            functools.partial(registry.build, "faces", tiny_model(), epsilon="1/1000"),
            functools.partial(registry.build, "faces", tiny_model(), epsilon=60, components=99),
            functools.partial(registry.build, "faces", "a path", epsilon=60),
            functools.partial(registry.build, "faces", tiny_model(), epsilon=60, fit="crop"),
        ],
    )
    for weights in ("even", "least-error")
}

WITHOUT_CHANNEL = {
    "faces, even",
    "faces, least-error",
    "lshrr",
    "lshrr, fast",
    "lshrr, sets",
    "hashed-sets",
    "laplace-hash",
    *(
        f"{name}, {between}"
        for name in ("pixel-laplace", "pixel-exponential", "pixel-windows")
        for between in ("pictures", "pixels")
    ),
    "private-documents",
    "private-documents, in floats",
    "laplace-words",
    "mahalanobis-words",
    "vickrey-words",
    "staircase, unbounded",
    "snapped-laplace, half line",
    "gaussian, unbounded",
    "geometric, unbounded",
    "laplace, unbounded",
    "laplace, metric",
    "laplace, half line",
    "planar-laplace",
    "planar-laplace, polygon",
    "geo-laplace",
    "spherical-laplace",
    "product-laplace",
    "selection",
    "local-hashing",
}


ROUNDED = {
    "lshrr",
    "lshrr, fast",
    "laplace, gaps",
    "laplace, metric",
    "planar-laplace",
    "planar-laplace, polygon",
    "geo-laplace",
    "product-laplace",
    "snapped-laplace, half line",
    "truncated-laplace",
}
"""Those whose promise grows with distance and is about the lattice points that secrets are rounded to, or about their hashes."""


@pytest.mark.parametrize("case", CASES)
def test_map_takes_a_distance_and_refuses_anything_else(case):
    mechanism = CASES[case][0]()
    for bad in ("a", None, [1], 10**400, np.array([1.0, 2.0]), math.nan, -1, True):
        with pytest.raises(ParameterError, match="a distance is"):
            mechanism.map(bad)
    assert mechanism.map(np.float32(0.5)) == mechanism.map(Fraction(1, 2)) == mechanism.map(0.5)


@pytest.mark.parametrize("case", CASES)
def test_conforms(case):
    make, secrets, unknown, refused = CASES[case]
    report = check_mechanism(make(), secrets=secrets, unknown=unknown, refused=refused)
    needed = {"protocol", "certificate", "shapes", "pickling", "forking", "unknown values"}
    assert needed <= set(report.passed)
    assert "law" in report.passed or case in WITHOUT_CHANNEL
    assert ("rounding" in report.passed) == (case in ROUNDED)


def test_every_registered_mechanism_is_in_the_cases():
    assert set(registry.names()) <= {case.partition(",")[0] for case in CASES}


def test_registry_refuses_a_taken_name_and_an_unknown_one():
    with pytest.raises(nw.NoisewrightError, match="registered already"):
        registry.register(registry.registry["geometric"])
    with pytest.raises(nw.NoisewrightError, match="there is no mechanism called 'laplacian'"):
        registry.build("laplacian", epsilon=1)
    assert isinstance(registry.build("geometric", epsilon=1), GeometricMechanism)


@dataclasses.dataclass(frozen=True)
class Broken(GeometricMechanism):
    """A geometric mechanism with one thing broken."""

    fault: str = ""

    def release(self, values, rng=None):
        if self.fault == "law":
            return super().release(np.clip(np.asarray(values) + 1, 0, 9), rng)
        if self.fault == "shape" and np.ndim(values):
            return super().release(np.append(values, 0), rng)
        if self.fault == "message":
            try:
                return super().release(values, rng)
            except DataError:
                raise DataError(f"the value {np.ravel(values)[0]} is bad") from None
        if self.fault == "fork":
            return super().release(values, rng or np.random.default_rng(0))
        return super().release(values, rng)

    @property
    def guarantee(self):
        promise = super().guarantee
        return dataclasses.replace(promise, epsilon=promise.epsilon / 2) if self.fault == "guarantee" else promise

    def certificate(self, rng=None):
        found = super().certificate(None if self.fault == "simulation" else rng)
        if self.fault == "certificate":
            found = nw.Certificate({**found.document, "proof": {**found.document["proof"], "scale": "1/2"}})
        return found

    def error(self, loss="absolute"):
        return super().error(loss) / (3 if self.fault == "error" else 1)


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("law", "law"),
        ("shape", "law|shapes|released"),
        ("message", "unknown values"),
        ("fork", "pickling|forking"),
        ("guarantee", "guarantee"),
        ("simulation", "certificate"),
        ("certificate", "digest"),
        ("error", "error"),
    ],
)
def test_a_broken_mechanism_does_not_conform(fault, check):
    good = nw.geometric(epsilon=1, within=(0, 9))
    broken = Broken(good.epsilon, good.sensitivity, good.within, good.outside, fault)
    with pytest.raises((ConformanceError, nw.NoisewrightError), match=check):
        check_mechanism(broken, secrets=range(10), unknown=[10])


class Forgetful:
    """A mechanism whose ``map`` is about lattice points, as if nothing had been rounded."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def map(self, distance):
        return self.inner.guarantee.bound(distance)


@pytest.mark.parametrize("case", sorted(ROUNDED))
def test_a_map_that_leaves_rounding_out_does_not_conform(case):
    make, secrets, *_ = CASES[case]
    with pytest.raises(ConformanceError, match=r"rounding: two secrets .* apart can be told apart by"):
        mechanisms._rounding(Forgetful(make()), list(secrets))


def test_a_sound_subclass_conforms():
    good = nw.geometric(epsilon=1, within=(0, 9))
    same = Broken(good.epsilon, good.sensitivity, good.within, good.outside)
    assert "law" in check_mechanism(same, secrets=range(10), unknown=[10]).passed


def test_an_accepted_bad_parameter_is_reported():
    with pytest.raises(ConformanceError, match="call 0 was accepted"):
        check_mechanism(nw.geometric(epsilon=1), secrets=[0], refused=[lambda: nw.geometric(epsilon=1)])


def test_finite_mechanism_keeps_its_table_when_pickled():
    import pickle

    mechanism = nw.exponential(range(4), epsilon=1)
    mechanism.release([1, 2])
    copy = pickle.loads(pickle.dumps(mechanism))
    assert isinstance(copy, FiniteMechanism)
    assert copy.certified.table.tolist() == mechanism.certified.table.tolist()
