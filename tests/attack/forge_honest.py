"""Honest certificates to forge: every kind of proof, every kind of part of a release, of both versions, and all of them small.

They are small enough that :mod:`tests.attack.truth` can compute what holds. The name of a document begins with its kind.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import noisewright as nw
from noisewright.certificates import Part, product_certificate
from noisewright.claims.phrases import metric_name
from noisewright.images import CodeSpace, NoisyCodes, WindowChoice, cartoon_faces, train_eigenfaces
from noisewright.images.base import of_all_draws
from noisewright.images.pictures import Inside, Region
from noisewright.images.pipeline.methods import FaceMethod, PixelMethod
from noisewright.matching import hashed_sets, lshrr
from noisewright.mechanisms import (
    approximate_laplace,
    curve,
    gaussian,
    geo_laplace,
    hadamard_response,
    local_hashing,
    planar_geometric,
    product_laplace,
    selection,
    staircase,
    subset_selection,
    unary_encoding,
    uniform,
)
from noisewright.policy.policy import Policy
from noisewright.releases.certificate import ReleaseCertificate
from noisewright.releases.plan import make_plan
from noisewright.resources import Seed
from noisewright.text import exact_words, private_documents, truncated_exponential_words, write_embedding

__all__ = ["Document", "honest", "sealed"]

Document = dict[str, Any]
KEPT = Path(__file__).parents[1] / "fixtures" / "kept" / "certificates"
SEED = "5eed" * 16
EARLIER = (  # certificates of version 1, each small enough for the truth to be computed
    *(
        "after_query",
        "approximate_laplace",
        "certified_channel",
        "certified_channel_infinite",
        "certified_channel_line",
    ),
    *("curve_l1", "curve_sup", "exponential_duplicates_far", "exponential_plane", "exponential_scaled", "gaussian"),
    *("exponential_product_metric", "exponential_table_metric", "geo_laplace", "geometric_keep", "geometric_open"),
    *(
        "geometric_sensitivity",
        "geometric_simulated",
        "hadamard_response",
        "laplace_gaps_metric",
        "laplace_open_metric",
    ),
    *("laplace_within", "local_hashing", "mechanism_hamming", "optimal_delta", "optimal_line", "planar_laplace"),
    *(
        "planar_laplace_level",
        "product_laplace",
        "release_of_columns",
        "release_of_queries",
        "selection",
        "snapped_laplace",
    ),
    *("staircase", "subset_selection", "survey_delta", "survey_dice", "truncated_laplace", "unary_encoding", "uniform"),
)
DERIVED = (
    *("product, hamming", "product, manhattan", "product, discrete", "product, lattice", "product, hashes"),
    *("words, free", "documents, size", "documents, order"),
)
TYPES = {
    "patient": pa.string(),
    "age": pa.int64(),
    "weight": pa.float64(),
    "smoker": pa.bool_(),
    "ward": pa.string(),
    "day": pa.date32(),
    "seen": pa.timestamp("s"),
    "latitude": pa.float64(),
    "longitude": pa.float64(),
    "taste": pa.list_(pa.float64()),
}
COLUMNS: dict[str, dict[str, Any]] = {
    "age": {"mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": "1/2"},
    "weight": {"mechanism": "geometric", "within": [0, 50], "protect": "any", "epsilon": 4},
    "smoker": {"mechanism": "randomised-response", "categories": [True, False], "missing": "keep", "epsilon": 1},
    "ward": {
        "mechanism": "randomised-response",
        "categories": ["north", "south", "east"],
        "other": "south",
        "epsilon": 2,
    },
    "day": {"mechanism": "laplace", "within": ["2025-01-01", "2025-12-31"], "protect": "7 days", "epsilon": 1},
    "seen": {"mechanism": "laplace", "protect": "1 hour", "epsilon": 1},
    "taste": {"mechanism": "lshrr", "dimension": 6, "bits": 8, "seed": SEED, "epsilon": 8},
}
PLACE: dict[str, Any] = {
    **{"name": ["latitude", "longitude"], "mechanism": "geo-laplace", "reference": [53.45, -2.2]},
    **{"protect": 500, "epsilon": "1.4"},
}
QUERIES: list[dict[str, Any]] = [
    {"name": "visits", "aggregate": "count", "epsilon": "1/2"},
    {"name": "smokers", "aggregate": "histogram", "column": "smoker", "values": [True, False], "epsilon": "1/2"},
    {"name": "mean age", "aggregate": "mean", "column": "age", "within": [0, 110], "epsilon": "1/4"},
    {
        "name": "sums",
        "aggregate": "sum",
        "column": "age",
        "within": [0, 110],
        "by": {"ward": ["north", "south"]},
        "epsilon": 1,
    },
]


@cache
def honest() -> dict[str, Document]:
    """Return documents by name; each is a dict as read from JSON."""
    with tempfile.TemporaryDirectory() as place:
        found = {
            **_mechanisms(),
            **_products(),
            **_of_words(Path(place)),
            **_of_pictures(Path(place)),
            **_releases(Path(place)),
        }
    documents = {name: json.loads(one.to_json()) for name, one in found.items()}
    for name in EARLIER:
        documents[f"version 1, {name}"] = json.loads((KEPT / f"{name}.json").read_text())
    for name in DERIVED:
        documents[f"version 1, {name} (derived)"] = _earlier(documents[name])
    documents |= _with_own_columns(documents)
    return documents


def _mechanisms() -> dict[str, Any]:
    grid = [(0, 0), (0, 1), (1, 1), (2, 0)]
    cube = nw.Channel([[0.4, 0.3, 0.2, 0.1], [0.3, 0.4, 0.1, 0.2], [0.2, 0.1, 0.4, 0.3]], ["ab", "aa", "ba"])
    made: dict[str, Any] = {
        "table, line": nw.exponential([0, Fraction(1, 3), 1, 2.5], epsilon=1),
        "table, euclidean": nw.exponential(grid, epsilon="0.7", metric=nw.metrics.Euclidean()),
        "table, manhattan": nw.exponential(grid, epsilon="0.7", metric=nw.metrics.Manhattan()),
        "table, third of a line": nw.exponential([0, 1, 3], epsilon=1, metric="1/3" * nw.metrics.Line()),
        "table, called": nw.exponential([0, 1, 3], epsilon=1, metric=nw.metrics.Line() + nw.metrics.Discrete()),
        "table, oracle": unary_encoding(["a", "b", "c"], epsilon=1),
        "response": nw.randomised_response(["a", "b", "c"], epsilon=1),
        "response, hadamard": hadamard_response(["a", "b", "c", "d", "e"], epsilon=1),
        "response, hashing": local_hashing(["a", "b", "c"], epsilon=1),
        "chances": subset_selection(["a", "b", "c", "d", "e"], epsilon="1/2"),
        "weights": WindowChoice(Fraction(3), cells=4, levels=4),
        "constant": uniform(4),
        "law, clamped": nw.geometric(epsilon=0.1, within=(0, 9)),
        "law, kept": nw.geometric(epsilon="0.6", within=(1, 4), outside="keep"),
        "law, sensitivity": nw.geometric(epsilon=1, sensitivity=0.3),
        "law, lattice": nw.laplace(epsilon=1, sensitivity="1/3", scope="metric"),
        "law, neighbours": nw.laplace(epsilon=1, sensitivity=0.1),
        "law, manhattan": product_laplace(epsilon=2, dimension=3, lattice="1/4"),
        "law, staircase": staircase(epsilon=1, sensitivity=3, lattice=1),
        "law, gaussian": gaussian(epsilon=1, delta="1/100", sensitivity=2, lattice=1),
        "law, laplace with delta": approximate_laplace(epsilon="1/2", delta="1/20", sensitivity=3, lattice=1),
        "law, choice": selection(["a", "b", "c"], epsilon=1, sensitivity=2),
        "law, several": curve(epsilon=1, sensitivity=2, grid=range(2), lattice=1),
        "law, several added up": curve(epsilon=1, sensitivity=2, grid=range(4), norm="l1", lattice="1/2"),
        "planar, level": nw.planar_laplace(epsilon=1, radius=20, lattice="1/2"),
        "planar, grid": planar_geometric(nw.mechanisms.Grid(3, 3), epsilon=1),
        "planar, globe": geo_laplace(epsilon=1, radius=200, reference=(48.85, 2.35)),
        "ranged, neighbours": nw.laplace(epsilon="0.7", sensitivity=2, within=(0, 9), lattice="1/4"),
        "ranged, gaps": nw.laplace(epsilon=1, within=((0, 2), ("3.1", 4), (6, 9)), lattice="1/2"),
        "ranged, metric": nw.laplace(epsilon=1, within=(0, 5), scope="metric", lattice="1/4"),
        "half line": nw.laplace(epsilon=1, within=(0, None), scope="metric", lattice="1/2"),
    }
    return {
        **{name: one.certificate() for name, one in made.items()},
        "law, simulated": nw.geometric(epsilon=1, within=(0, 9)).certificate(np.random.default_rng(0)),
        "table, hamming": nw.Certificate.of(cube.certify(2, nw.metrics.Hamming())),
    }


def _products() -> dict[str, Any]:
    bit, thirds = nw.randomised_response([0, 1], epsilon="1/4"), nw.exponential([0, Fraction(1, 3), 1, 2.5], epsilon=1)
    noise = nw.geometric(epsilon="1/10", within=(0, 255))
    return {
        "product, hamming": nw.mechanisms.product([(bit, 7)]).certificate(),
        "product, manhattan": nw.mechanisms.product([(noise, None)], metric="manhattan").certificate(),
        "product, discrete": product_certificate(
            "both", [Part(bit.certificate(), 2), Part(thirds.certificate(), 3)], metric="discrete"
        ),
        "product, lattice": product_certificate(
            "lattices",
            [Part(nw.laplace(epsilon=1, sensitivity="1/3", scope="metric").certificate(), 2)],
            metric="manhattan",
        ),
        "product, hashes": lshrr(epsilon="0.8", dimension=5, bits=12, seed=Seed(bytes.fromhex(SEED))).certificate(),
        "product, sets": hashed_sets(epsilon=1, dimension=5, hashes=6, seed=Seed(bytes.fromhex(SEED))).certificate(),
        "product, minhash": lshrr(
            epsilon=1, dimension=5, bits=4, seed=Seed(bytes.fromhex(SEED)), family="minhash", zero="fixed"
        ).certificate(),
    }


def _of_words(place: Path) -> dict[str, Any]:
    """Return choices of words from a tiny file, and documents of them; the file itself is deleted."""
    vectors = np.array([[1, 0], [1, 0.5], [-3, 4]])
    tiny = write_embedding(place / "tiny.nwe", ["tea", "coffee", "ship"], vectors, licence="CC0-1.0")
    free = exact_words(tiny, epsilon=2).certificate()
    sloped = truncated_exponential_words(tiny, epsilon="1/2", reach=9).certificate()
    return {
        "words, free": free,
        "words, slope": sloped,
        "documents, any length": product_certificate(
            *("bags", [Part(free, None)]), metric="matched", in_the_clear=[{"code": "word-count"}]
        ),
        "documents, order": product_certificate(
            *("lines", [Part(free, None)]),
            metric="aligned",
            in_the_clear=[{"code": "word-count"}, {"code": "word-order"}],
        ),
        "documents, size": private_documents(tiny, epsilon=2, size=3).certificate(),
        "documents, matched": product_certificate("bags", [Part(sloped, 2)], metric="matched"),
        "documents, aligned": product_certificate(
            *("lines", [Part(sloped, 1), Part(sloped, 1)]), metric="aligned", in_the_clear=[{"code": "word-order"}]
        ),
    }


def _of_pictures(place: Path) -> dict[str, Any]:
    """Return pictures on pixels, in regions and masks, hidden places drawn several times, and faces of a tiny model."""
    public, people = cartoon_faces(6, 2, size=4)
    model = train_eigenfaces(place / "tiny.nwm", public, people=people)
    model_faces = nw.images.private_faces(model, epsilon=60, components=2)
    faces = model_faces.certificate()
    within = FaceMethod(model_faces, (Region(0, 0, 4, 4),)).certificate(8, 9, 3)
    windows = PixelMethod("windows", Fraction(9), {"block": 2, "levels": 2}).certificate(8, 9, 3)
    mask = np.zeros((8, 9), bool)
    mask[2:4, 1:7] = True
    regions = (Region(0, 0, 4, 4), Region(5, 0, 4, 4))
    return {
        "pictures, any two": windows,
        "pictures, pixels by windows": nw.images.pixel_windows(
            epsilon=9, width=9, height=8, block=2, window=2, between="pixels"
        ).certificate(),
        "pictures, pixels": nw.images.pixel_laplace(
            epsilon=9, width=9, height=8, block=2, between="pixels"
        ).certificate(),
        "pictures, steps": nw.images.pixel_laplace(
            epsilon=9, width=9, height=8, block=2, between="steps"
        ).certificate(),
        "pictures, exponential": nw.images.pixel_exponential(epsilon=9, width=3, height=2, levels=3).certificate(),
        "pictures, regions": PixelMethod("laplace", Fraction(9), {"block": 2}, regions).certificate(8, 9, 3),
        "pictures, mask": PixelMethod("laplace", Fraction(9), {"block": 2}, mask=mask, pixels=2).certificate(8, 9, 3),
        "pictures, places": of_all_draws(windows, Inside("place", 3, 3, 1)),
        "pictures, track": of_all_draws(windows, Inside("track", 1, 12, 12)),
        "faces": faces,
        "faces, places": of_all_draws(within, Inside("place", 2, 6, 3)),
        "faces, codes": NoisyCodes(
            Fraction(5), CodeSpace.of([0, 0, 0], [1, 1, 1], steps=4, weights=[1, 2, 1])
        ).certificate(),
    }


def _releases(place: Path) -> dict[str, Any]:
    """Return releases of columns of each type and of answers, for rows and for patients, in both relations."""
    age, weight, smoker, ward, day, seen, taste = ({"name": name, **stated} for name, stated in COLUMNS.items())
    patients = {"unit": {"column": "patient", "rows": 3}}
    delta = {"name": "age", "mechanism": "gaussian", "within": [0, 40], "protect": 3, "epsilon": 1, "delta": "1e-3"}
    stairs = {"name": "age", "mechanism": "staircase", "within": [0, 40], "protect": 3, "epsilon": 1}
    table = {"name": "age", "mechanism": "explicit-fair", "within": [0, 5], "protect": 2, "epsilon": 1}
    far = {"name": "weight", "mechanism": "laplace", "within": [0, 9], "lattice": "1/2", "protect": "any", "epsilon": 3}
    pair = {"name": ["latitude", "longitude"], "mechanism": "product-laplace", "protect": 2, "epsilon": 1}
    sphere = {**pair, "mechanism": "spherical-laplace"}
    made: dict[str, dict[str, Any]] = {
        "release, numbers": {"columns": [age, weight]},
        "release, categories": {"columns": [smoker, ward], **patients},
        "release, dates": {"columns": [day, {"name": "note", "keep": True}], "order": "kept"},
        "release, times": {"columns": [seen, smoker]},
        "release, places": {"columns": [PLACE, age], **patients},
        "release, hashes": {"columns": [taste]},
        "release, delta": {"columns": [delta, ward], "queries": QUERIES[:1]},
        "release, stairs": {"columns": [stairs]},
        "release, tables": {"columns": [table, far]},
        "release, pairs": {"columns": [pair]},
        "release, queries": {"queries": QUERIES[:3]},
        "release, counts": {"queries": QUERIES[:2], "neighbours": "add-remove"},
        "release, patients there or not": {"queries": QUERIES, "neighbours": "add-remove", **patients},
        "release, floating": {"columns": [sphere, age], "floating": True},
    }
    return {name: _release(f"a {name}", policy) for name, policy in made.items()}


def _release(name: str, policy: dict[str, Any]) -> ReleaseCertificate:
    stated = {"dataset": name, "budget": {"epsilon": 100, "delta": "0.01"}, **policy}
    return ReleaseCertificate.build(make_plan(Policy.from_dict(stated), {**TYPES, "note": pa.string()}), False)


# Documents that no constructor makes in one go -----------------------------------------------------------------------------


def _with_own_columns(documents: dict[str, Document]) -> dict[str, Document]:
    """Return releases of words, documents, pictures and faces, and one with a column that was changed without an epsilon."""
    near: dict[str, Any] = {"kind": "near", "distance": "1/2"}
    columns = {
        "words": ("words, slope", "3", {**near, "type": "number"}),
        "documents": ("documents, matched", "4", {**near, "type": "number"}),
        "pictures": ("pictures, any two", "any", {"kind": "any"}),
        "pixels": ("pictures, pixels by windows", "2", {**near, "distance": "2", "type": "picture", "unit": "pixel"}),
        "steps": ("pictures, steps", "5", {**near, "distance": "5", "type": "picture", "unit": "step"}),
        "faces": ("faces", "1", {**near, "distance": "1", "type": "face", "unit": "code unit"}),
        "bits": ("product, hashes", "3", {**near, "distance": "2", "type": "hash", "unit": "differing bit"}),
    }
    found, base = {}, documents["release, numbers"]
    for name, (of, distance, protects) in columns.items():
        certificate = documents[of]
        price = str(Fraction(certificate["claim"]["epsilon"]) * (1 if distance == "any" else Fraction(distance)))
        part = {**base["parts"][0], "columns": [name], "name": name, "protects": protects, "distance": distance}
        parts = [{**part, "price": price, "certificate": certificate}]
        found[f"release, {name}"] = sealed({**base, "parts": parts, "total": {"epsilon": price, "delta": "0"}})
    measured = {
        **{"private": ["income"], "accuracy": "0.71", "prior": "0.62", "distortion": "0.1", "most_distortion": "0.12"},
        **{"adversaries": ["forest", "network"], "rows": 500, "converged": True},
    }
    changed = [{"columns": ["habits"], "measured": measured, "resources": []}]
    found["release, context-aware"] = sealed({**base, "context_aware": changed})
    training = {**documents["law, clamped"]["claim"], "conditions": [{"code": "not-a-training-record"}]}
    found["law, conditions"] = sealed({**documents["law, clamped"], "claim": training})
    found["chances, lots"] = sealed({**documents["chances"], "randomness": {"lots": "two dice"}})
    return found


EARLIER_CLEAR = {"word-count": "the number of words", "word-order": "the order of words"}


def _earlier(document: Document) -> Document:
    """Return the certificate as version 1 would have stated it; the kept ones have no products, words or documents."""
    claim = {**document["claim"], "metric": metric_name(document["claim"]["metric"])}
    made = {**document, "claim": claim, "proof": {**document["proof"]}}
    if "version" in made:
        made["version"] = 1
    if "parts" in made["proof"]:
        made["proof"]["parts"] = [_earlier(part) for part in made["proof"]["parts"]]
    if "in_the_clear" in made:
        clear = made["in_the_clear"]
        made["in_the_clear"] = [one["called"] if "called" in one else EARLIER_CLEAR[one["code"]] for one in clear]
    return sealed(made) if "version" in made else made


def sealed(document: Document) -> Document:
    """Return a document with a digest that fits: the SHA-256 of the rest, in a fixed form."""
    content = {key: value for key, value in document.items() if key != "digest"}
    spelled = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return {**content, "digest": hashlib.sha256(spelled.encode()).hexdigest()}


if __name__ == "__main__":
    from noisewright.certificates.checker import checker

    for _name, _document in honest().items():
        print(f"{_name} ({len(json.dumps(_document))}): {checker.check(_document)}")
