"""False certificates, and how the checker answers: it never proves a false claim, and it answers soon.

Truth comes from sums in decimals of 60 digits, or from plain counting, which share no code with the checker.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import time
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import noisewright as nw
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker, checker_noise
from noisewright.certificates.checker.checker import NotProved, check, digest
from noisewright.channels.channel import Channel
from noisewright.claims.phrases import rounded
from noisewright.metrics.base import Discrete, Line
from noisewright.metrics.composite import Maximum, Scaled, Sum

Document = dict[str, Any]
STEPS = {"shape": "steps", "distance": "1"}
NEAR = {"shape": "adjacent", "distance": "1"}
TABLE = {"kind": "table", "width": 2, "precision": 100, "table": [["3", "1"], ["1", "3"]]}
PLACES = {"shape": "line", "places": ["0", "1"]}
UNIFORM = {"shape": "uniform", "distance": "1"}
RANGED = {"kind": "ranged", "rate": "1000", "precision": 64, "ranges": [[0, 10]], "inputs": [[0, 10]], "reach": 1}
RESPONSE = {"kind": "response", "size": 2, "width": 2, "precision": 64, "keep": "3", "other": "1"}
LAPLACE = {"kind": "law", "law": "discrete laplace", "scale": "1"}
STAIRS = {"kind": "law", "law": "staircase", "rate": "1", "width": 1, "first": 1}
GAUSS = {"kind": "law", "law": "discrete gaussian", "sigma": "100", "stride": 1}
HALF = {"kind": "half line", "tail": "1/2", "near": ["1/2"], "precision": 64}
ENDS: Document = {"step": "1", "within": [["0", "10"]], "answers": [["0", "10"]]}
WALL: Document = {"step": "1", "within": [["0", None]], "answers": [["0", None]]}
OPEN: Document = {"within": [[None, None]], "answers": [[None, None]]}
HUGE: Document = {"within": [["0", "1e1000"]], "answers": [["0", "1e1000"]]}
PLANAR = {"kind": "planar", "rate": "1/8"}
EIGHTHS = {"shape": "steps", "distance": "1/8"}
FLAT, GLOBE = "euclidean between points of the lattice 2^-3", "metres around (1, 2) between points of the lattice 2^-3"


def forged(
    proof: Any, distances: Any, epsilon: Any = "1/10", metric: Any = "line", delta: Any = "0", **more: Any
) -> Document:
    claim = {"epsilon": epsilon, "delta": delta, "metric": metric, "distances": distances, **more.pop("claim", {})}
    head = {"made_by": "a forger", "mechanism": "forged", "randomness": checker.RELEASED}
    made = {"format": checker.FORMAT, "version": 1, "numerics": "exact", "claim": claim, "proof": proof, **head, **more}
    return {**made, "digest": digest(made)}


def ranged(change: Any = None, distances: Any = NEAR, epsilon: Any = "1/10", **more: Any) -> Document:
    """Ranges with the ends that they follow from; a field of None is left out."""
    fields = {name: value for name, value in {**ENDS, **more}.items() if value is not None}
    return forged({**RANGED, **(change or {})}, distances, epsilon, **fields)


def level(
    level: Any = "2", radius: Any = "1", metric: Any = FLAT, proof: Any = PLANAR, distances: Any = EIGHTHS, **more: Any
) -> Document:
    """Epsilon 1 in the plane in steps of 1/8, and a level within a radius: 1 + 99/560 is about 1.1768."""
    return forged(proof, distances, "1", metric, claim={"level": level, "radius": radius, **more})


def half(change: Any = None, distances: Any = STEPS, epsilon: Any = "2", metric: Any = "line", **more: Any) -> Document:
    """Noise on the half line from 0 on; a field of None is left out."""
    fields = {name: value for name, value in {**WALL, **more}.items() if value is not None}
    return forged({**HALF, **(change or {})}, distances, epsilon, metric, **fields)


def rising(places: Any, epsilon: Any, metric: Any, inputs: Any, shape: str = "line") -> Document:
    """Three rows whose first output grows by a factor of two from row to row: ln 2 < 0.6932, ln 4 < 1.3863."""
    rows = {**TABLE, "width": 3, "table": [["1", "7"], ["2", "6"], ["4", "4"]]}
    distances = {"shape": shape, "places" if shape == "line" else "distances": places}
    return forged(rows, distances, epsilon, metric, inputs=inputs)


def table(distances: Any = None, epsilon: Any = "2", metric: Any = "line", **more: Any) -> Document:
    return forged(
        {**TABLE, **more.pop("proof", {})}, distances or PLACES, epsilon, metric, **{"inputs": [0, 1], **more}
    )


def modern(document: Any) -> Any:
    """The same forgery in version 2, if its words can be put into a record at all."""
    claim, proof = document["claim"], document["proof"]
    if document["version"] != 1 or type(document["version"]) is bool or type(claim["metric"]) is not str:
        return None
    *factors, name = claim["metric"].split(" * ")
    base, *lattices = name.split(" between points of the lattice 2^")
    if len(factors) > 1 or len(lattices) > 1 or not all(lattice.lstrip("-").isdigit() for lattice in lattices):
        return None
    metric: Document = {"base": base}
    if "around" in proof:
        metric, proof = {"base": "metres", "around": ["1", "2"]}, {**proof, "around": ["1", "2"]}
    elif base.startswith(("sum of ", "largest of ")):
        metric = {"base": base.split()[0], "count": int(base.split()[2])}
    metric |= {"factor": factors[0]} if factors else {}
    metric |= {"lattice": int(lattices[0])} if lattices else {}
    made = {**document, "version": 2, "claim": {**claim, "metric": metric}, "proof": proof}
    return {**made, "digest": digest(made)}


def test_the_bases_of_the_forgeries_are_honest() -> None:
    assert check(table()) == "epsilon = 2 per unit of line"
    assert check(forged(RESPONSE, UNIFORM, "2", "discrete", inputs=["a", "b"])) == "epsilon = 2 per unit of discrete"
    assert check(ranged({"rate": "1/2"}, epsilon="1")) == "epsilon = 1 between neighbours (line at most 1)"
    assert check(forged(LAPLACE, STEPS, "1")) == "epsilon = 1 per unit of line"
    assert check(forged(STAIRS, NEAR, "1")) == "epsilon = 1 between neighbours (line at most 1)"
    assert check(forged(GAUSS, NEAR, "1", delta="1/100")).endswith(", delta = 0.01")
    assert check(half()) == "epsilon = 2 per unit of line"
    assert check(half(within=[[None, "7/2"]], answers=[[None, "7/2"]])) == "epsilon = 2 per unit of line"
    assert check(rising(["0", "1", "2"], "0.6932", "line", [0, 1, 2])) == "epsilon = 0.6932 per unit of line"
    assert check(rising(["0", "1", "2"], "0.6932", "line", [5, 4, 3])) == "epsilon = 0.6932 per unit of line"
    assert (
        check(rising(["0", "1/2", "1"], "1.3864", "discrete", ["x", "y", "z"]))
        == "epsilon = 1.3864 per unit of discrete"
    )
    assert check(forged(PLANAR, EIGHTHS, "1", FLAT)) == f"epsilon = 1 per unit of {FLAT}"
    kept = "between any two points within 1 of each other, rounding included"
    assert check(level()) == f"epsilon = 1 per unit of {FLAT}; level = 2 {kept}"
    assert check(level(level="659/560")) == f"epsilon = 1 per unit of {FLAT}; level = 1.17679 {kept}"
    assert check(level(metric=GLOBE, proof={**PLANAR, "around": "(1, 2)"}, on_map="1.01")) == (
        f"epsilon = 1 per unit of {GLOBE}; level = 2 between any two places within 1 m of each other, rounding included, "
        "if the map makes at most 1.01 m of that (stated, not proved here)"
    )


FORGERIES: dict[str, Document] = {
    "an upper bound above 1": half({"tail": "1e-30", "near": ["1000000"]}, epsilon="1/10"),
    "a near rate of nothing": half({"tail": "1/20", "near": ["1e-30"]}, epsilon="1/10"),
    "reach is not a number": ranged({"reach": float("nan")}),
    "reach is infinite": ranged({"reach": float("inf")}),
    "reach is a float": ranged({"rate": "1/100", "reach": 1.0}, epsilon="5"),
    "reach is true": ranged({"rate": "1/100", "reach": True}, epsilon="5"),
    "ranges without ends": ranged({"ranges": [[None, None]], "inputs": [[None, None]]}, **OPEN),
    "ranges without ends, in steps": ranged({"ranges": [[None, None]], "inputs": [[None, None]]}, STEPS, **OPEN),
    "few bits": ranged({"rate": "1/100", "precision": 63}, epsilon="5"),
    "few bits of a half line": half({"precision": 8}),
    "few bits of a table": table(proof={"precision": 20}),
    "few bits of a response": forged({**RESPONSE, "precision": 20}, UNIFORM, "2", "discrete"),
    "an infinite distance on a line": table({"shape": "table", "distances": ["inf"]}, "1/10"),
    "a negative factor": table({"shape": "line", "places": ["0", "5"]}, "1", "-5 * line"),
    "a factor of nothing": table({"shape": "line", "places": ["0", "0"]}, "1", "0 * line"),
    "a negative factor of steps": forged(LAPLACE, STEPS, "1", "-5 * line"),
    "no ends of ranges": ranged({"rate": "1/2"}, epsilon="1", within=None, answers=None, step=None),
    "no ends of the set": ranged({"rate": "1/2"}, epsilon="1", within=None),
    "no ends of the answers": ranged({"rate": "1/2"}, epsilon="1", answers=None),
    "no step of the ends": ranged({"rate": "1/2"}, epsilon="1", step=None),
    "other ends of the set": ranged({"rate": "1/2"}, epsilon="1", within=[["0", "11"]]),
    "other ends of the answers": ranged({"rate": "1/2"}, epsilon="1", answers=[["1", "10"]]),
    "another step of the ends": ranged(
        {"rate": "1/2"}, epsilon="1", step="2", within=[["0", "20"]], answers=[["0", "20"]]
    ),
    "another lattice of the plane": forged(PLANAR, EIGHTHS, "1", "euclidean between points of the lattice 2^-4"),
    "another lattice of vectors": forged(LAPLACE, STEPS, "1", "manhattan between points of the lattice 2^-1"),
    "a lattice that is no power of two": forged(PLANAR, EIGHTHS, "1", "euclidean between points of the lattice 2^-3.0"),
    "a lattice of neighbours": forged(LAPLACE, NEAR, "1", "line between points of the lattice 2^0"),
    "a lattice of a half line": half(metric="line between points of the lattice 2^0"),
    "two lattices": forged(PLANAR, EIGHTHS, "1", f"{FLAT} between points of the lattice 2^-3"),
    "a lattice in the name of the map": forged(
        {**PLANAR, "around": "(1, 2) between points of the lattice 2^-9"},
        EIGHTHS,
        "1",
        "metres around (1, 2) between points of the lattice 2^-9",
    ),
    "a radius a little too large": level(level="659/560", radius="1.0000001"),
    "a level a little too low": level(level="1.1767"),
    "a level without rounding": level(level="1"),
    "a level without a radius": forged(PLANAR, EIGHTHS, "1", FLAT, claim={"level": "2"}),
    "a radius without a level": forged(PLANAR, EIGHTHS, "1", FLAT, claim={"radius": "1"}),
    "a negative radius": level(radius="-1"),
    "a level that is no number": level(level="low"),
    "a level in a scaled plane": level(metric=f"1/8 * {FLAT.replace('-3', '0')}"),
    "a level without a lattice": level(metric="euclidean"),
    "a level of noise on a line": level(
        proof=LAPLACE, distances=STEPS, metric="line between points of the lattice 2^0"
    ),
    "places for the discrete metric": rising(["0", "1", "2"], "0.6932", "discrete", ["x", "y", "z"]),
    "places for the discrete metric, no labels": rising(["0", "1", "2"], "0.6932", "discrete", None),
    "places for the euclidean metric": rising(
        ["0", "1", "2"], "0.6932", "euclidean", [{"tuple": [0, 0]}, {"tuple": [0, 1]}, {"tuple": [0, 0.001]}]
    ),
    "places for the manhattan metric": rising(
        ["0", "1", "2"], "0.6932", "manhattan", [{"tuple": [0, 0]}, {"tuple": [0, 1]}, {"tuple": [1, 0]}]
    ),
    "labels that turn back": rising(["0", "1", "2"], "0.6932", "line", [0, 1, 0.5]),
    "labels that turn back far": rising(["0", "1", "2"], "0.6932", "3 * line", [0, 1, {"fraction": "1/3"}]),
    "labels in another order than the places": rising(["0", "1", "2"], "0.6932", "line", [0, 2, 1]),
    "a distance table too large at its end": rising(["1", "3/2", "1"], "0.93", "discrete", ["x", "y", "z"], "table"),
    "a distance table without end": rising(["1", "inf", "1"], "0.6932", "discrete", None, "table"),
    "a level of a response": forged(
        RESPONSE, UNIFORM, "2", "discrete", claim={"level": "0", "radius": "1000000"}, inputs=["a", "b"]
    ),
    "a radius of a constant": forged(
        {"kind": "constant", "outputs": 3}, UNIFORM, "0", "discrete", claim={"radius": "1000000"}
    ),
    "a level of a law": forged(LAPLACE, STEPS, "1", claim={"level": "0", "radius": "9"}),
    "a level of ranges": ranged({"rate": "1/2"}, epsilon="1", claim={"level": "0", "radius": "9"}),
    "a level of a delta": forged(GAUSS, NEAR, "1", delta="1/100", claim={"level": "0", "radius": "9"}),
    "a map of a table": table(claim={"on_map": "9"}),
    "another claim of a table": table(claim={"utility": "9"}),
    "another claim of a plane": forged(PLANAR, EIGHTHS, "1", FLAT, claim={"utility": "9"}),
    "a level and another claim": level(utility="9"),
    "a map of a plane": level(on_map="9"),
    "a half line without its ends": half(within=None, answers=None, step=None),
    "a half line without its set": half(within=None),
    "a half line without its answers": half(answers=None),
    "a half line without its step": half(step=None),
    "a half line with another step": half(step="2"),
    "a half line that ends": half(within=[["0", "50"]], answers=[["0", "50"]]),
    "a half line without a wall": half(within=[[None, None]], answers=[[None, None]]),
    "two half lines": half(within=[[None, "0"], ["9", None]], answers=[[None, "0"], ["9", None]]),
    "a half line of three ends": half(within=[["0", "9", None]], answers=[["0", "9", None]]),
    "a half line of other answers": half(answers=[["-3", None]]),
    "a half line of no set": half(within=[], answers=[]),
    "a level of a table": table(claim={"level": "9", "radius": "1"}),
    "a level on the globe as on a plane": level(metric=GLOBE, proof={**PLANAR, "around": "(1, 2)"}),
    "a map that shrinks": level(metric=GLOBE, proof={**PLANAR, "around": "(1, 2)"}, on_map="0.99"),
    "a map that stretches too much": level(metric=GLOBE, proof={**PLANAR, "around": "(1, 2)"}, on_map="1.9"),
    "control characters": table(metric="line\nother.json: proved: epsilon = 1 per unit of line\x1b[8m"),
    "unicode digits in a name": table({"shape": "line", "places": ["0", "5"]}, "1", "\u0665 * line"),
    "no name": table(metric=""),
    "a name that is a number": table(metric=5),
    "underscores": table(epsilon="1_0"),
    "a space": table(epsilon=" 2"),
    "a plus sign": table(epsilon="+2"),
    "unicode digits": table(epsilon="\u0662"),
    "a float": table(epsilon=2.5),
    "true for 1": forged(RESPONSE, UNIFORM, True, "discrete"),
    "infinity": table(epsilon="inf"),
    "hex with a prefix": table(proof={"table": [["0x3", "1"], ["1", "3"]]}),
    "hex in capitals": table(proof={"table": [["3", "1"], ["1", "3"]], "width": 2.0}),
    "hex with spaces": table(proof={"table": [[" 3", "1"], ["1", "+3"]]}),
    "true for a width": forged({**RESPONSE, "width": True, "keep": "1", "other": "1"}, UNIFORM, "1", "discrete"),
    "a broken size": forged({**RESPONSE, "size": 2.9}, UNIFORM, "2", "discrete"),
    "a negative distance": forged({**TABLE, "table": [["2", "2"]] * 2}, {**UNIFORM, "distance": "-1"}, "2", "discrete"),
    "too many labels": table(inputs=[0, 1, 2]),
    "no labels": table(inputs=[]),
    "labels that are no list": table(inputs="01"),
    "labels twice": forged(TABLE, UNIFORM, "2", "discrete", inputs=["a", "a"]),
    "labels twice in other words": forged(TABLE, UNIFORM, "2", "discrete", inputs=[1, {"fraction": "1"}]),
    "outputs twice": table(outputs=["a", "a"]),
    "too many outputs": table(outputs=["a", "b", "c"]),
    "labels of a response": forged(RESPONSE, UNIFORM, "2", "discrete", inputs=list(range(50))),
    "labels of noise": forged(LAPLACE, STEPS, "1", inputs=[0, 1]),
    "labels of several coordinates on a line": table(inputs=[{"tuple": [0, 0]}, {"tuple": [1, 9]}]),
    "coordinates that are missing": table(
        {"shape": "table", "distances": ["1"]}, metric="euclidean", inputs=[{"tuple": [0, 0]}, 1]
    ),
    "deep labels": table(inputs=[json.loads('{"tuple":[' * 300 + "1" + "]}" * 300), 1], metric="line"),
    "coordinates in the euclidean metric": forged({**LAPLACE, "coordinates": 2}, STEPS, "1", "euclidean"),
    "noise and the discrete metric": forged(LAPLACE, STEPS, "1", "discrete"),
    "the plane and a line": forged({"kind": "planar", "rate": "1"}, STEPS, "1", "hamming"),
    "vectors as neighbours": forged(STAIRS, NEAR, "1", "manhattan"),
    "stairs of vectors": forged(
        {**STAIRS, "width": 9, "first": 1, "norm": "l1", "coordinates": 3}, NEAR, "1", "sum of 3 differences"
    ),
    "a negative sigma": forged({**GAUSS, "sigma": "-100"}, NEAR, "1", delta="1/100"),
    "version true": {**forged(LAPLACE, STEPS, "1"), "version": True},
    # files that would run for ever
    "a huge epsilon": table(epsilon="1e30000000"),
    "a long number": table(epsilon="9" * 100_000),
    "a tiny distance": table({"shape": "line", "places": ["0", "1e-30000000"]}),
    "a huge precision": table(proof={"precision": 1 << 20}),
    "a huge precision of a half line": half({"precision": 1 << 17}),
    "a huge precision of ranges": ranged({"precision": 1 << 17}),
    "a huge width": table(proof={"width": 1 << 40}),
    "a huge size": forged({**RESPONSE, "size": 10**1000}, UNIFORM, "2", "discrete"),
    "a huge range": ranged({"ranges": [[0, 10**1000]], "inputs": [[0, 10**1000]]}, **HUGE),
    "a fine step of a gaussian": forged(GAUSS, {**NEAR, "distance": "1/100000000000"}, "1", delta="1/2"),
    "a wide gaussian": forged({**GAUSS, "sigma": "1e30"}, NEAR, "1", delta="1/2"),
    "many distances in many bits": forged(
        {**TABLE, "precision": 1 << 17, "table": [["2", "2"]] * 99},
        {"shape": "line", "places": [f"{i * i}/7" for i in range(99)]},
        "1",
    ),
}
FORGERIES["version true"]["digest"] = digest(FORGERIES["version true"])


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused_soon_and_with_a_sentence(name: str) -> None:
    begun = time.process_time()  # of this process alone, however busy the machine is
    for document in filter(None, (FORGERIES[name], modern(FORGERIES[name]))):
        with pytest.raises(NotProved) as refusal:
            check(document)
        assert time.process_time() - begun < 25
        assert 10 < len(str(refusal.value)) < 300


def test_most_forgeries_are_tried_in_both_versions() -> None:
    assert sum(modern(one) is not None for one in FORGERIES.values()) > 0.9 * len(FORGERIES)
    for good in (table(), half(), level(), level(metric=GLOBE, proof={**PLANAR, "around": "(1, 2)"}, on_map="1.01")):
        assert check(modern(good)) == check(good)


RECORDS: dict[str, Document] = {  # what version 1 had no place for
    "an unknown field of the metric": {"metric": {"base": "line", "unit": "year"}},
    "an unknown base": {"metric": {"base": "lines"}},
    "a metric without a base": {"metric": {}},
    "a metric in words": {"metric": "line"},
    "a metric that is called and has a base": {"metric": {"base": "line", "called": "line"}},
    "a factor of a metric that is only called something": {"metric": {"called": "line", "factor": "1/2"}},
    "a factor that is a float": {"metric": {"base": "line", "factor": 0.5}},
    "a factor of nothing": {"metric": {"base": "line", "factor": "0"}},
    "a count of a line": {"metric": {"base": "line", "count": 3}},
    "an order of a line": {"metric": {"base": "line", "order": "matched"}},
    "a lattice that is true": {"metric": {"base": "line", "lattice": True}},
    "a condition in words": {"conditions": ["for nobody"]},
    "an unknown condition": {"conditions": [{"code": "for-nobody"}]},
    "a condition with a remark": {"conditions": [{"code": "not-a-training-record", "remark": "or any"}]},
    "conditions that are no list": {"conditions": {"code": "not-a-training-record"}},
    "a secret of a law": {"secret": {"kind": "picture"}},
    "a sentence": {"sentence": "epsilon = 0"},
}


@pytest.mark.parametrize("name", RECORDS)
def test_forged_records_are_refused(name: str) -> None:
    good = modern(forged(LAPLACE, STEPS, "1"))
    assert check(good) == "epsilon = 1 per unit of line"
    made = {**good, "claim": {**good["claim"], **RECORDS[name]}}
    with pytest.raises(NotProved) as refusal:
        check({**made, "digest": digest(made)})
    assert 10 < len(str(refusal.value)) < 300


def test_the_name_of_a_mechanism_means_nothing() -> None:
    for name in ("faces", "faces-recognised", "pixel-laplace", "differentially private", "lshrr-2"):
        assert check(modern(forged(LAPLACE, STEPS, "1", mechanism=name))) == "epsilon = 1 per unit of line"


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, "[NaN]", '{"a": 1, "a": 2}'])
def test_json_that_is_not_read(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        checker.read(text)
    assert checker.read('[0.1, -2, 1e3, "NaN"]') == [0.1, -2, 1000.0, "NaN"]


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (lambda: nw.geometric(epsilon=1), "epsilon = 1 per unit of line"),
        (lambda: nw.geometric(epsilon=1, sensitivity=5), "epsilon = 1 per unit of 1/5 * line"),
        (
            lambda: nw.laplace(epsilon=1, lattice="1/512", scope="metric"),
            "epsilon = 1 per unit of line between points of the lattice 2^-9",
        ),
        (
            lambda: nw.laplace(epsilon=1, sensitivity=3, lattice="1/4", scope="adjacent", within=(0, 9)),
            "epsilon = 1 between neighbours (1/3 * line at most 1), in steps of 1/4",
        ),
        (
            lambda: nw.mechanisms.gaussian(epsilon=1, delta="1e-5", lattice="1/8"),
            "epsilon = 1 between neighbours (line at most 1), delta = 0.00001, in steps of 1/8",
        ),
    ],
)
def test_the_step_is_said_unless_it_is_one_unit_of_the_base(mechanism: Any, words: str) -> None:
    assert mechanism().certificate().verify() == words


def test_an_edited_step_is_seen() -> None:
    assert check(forged({**LAPLACE, "scale": "1/1000"}, {**STEPS, "distance": "1000"}, "1")).endswith(
        " per unit of line, between points in steps of 1000"
    )
    assert check(forged(LAPLACE, {**NEAR, "distance": "1000"}, "1")).endswith(", in steps of 1000")


def test_a_claim_about_lattice_points_says_so_whatever_the_metric_is_called() -> None:
    """Noise in steps says nothing about the numbers between them, which are rounded first, unless neighbours are meant."""
    assert check(forged(PLANAR, EIGHTHS, "1", "euclidean")).endswith("euclidean, between points in steps of 1/8")
    whole = {"kind": "planar", "rate": "1"}
    assert check(forged(whole, STEPS, "1", "euclidean")).endswith("euclidean, between points in steps of 1")
    assert check(ranged({"rate": "1/2"}, STEPS, "1")).endswith("line, between points in steps of 1")
    fine = {"step": "1/4", "distances": {**STEPS, "distance": "1/4"}, "change": {"tail": "1/8", "near": ["1/8"]}}
    assert (
        check(half(**fine)) == "epsilon = 2 per unit of line, in steps of 1/4"
    )  # rounded at random, proved in between


@pytest.mark.parametrize(
    ("within", "answers", "words"),
    [
        ([[None, "4"], ["9", None]], [[None, "0"], ["13", None]], "from -inf to 0 or from 13 to inf"),
        ([[None, "4"], ["9", None]], [[None, "4"], ["9", None]], "from -inf to 4 or from 9 to inf"),
        ([["0", "4"], ["5", "10"]], [["0", "3"], ["8", "10"]], "from 0 to 3 or from 8 to 10"),
        ([["0", "10"]], [["1/3", "29/3"]], "from 0.333333333334 to 9.66666666666"),
        ([[str(9 * i), str(9 * i + 1)] for i in range(12)],) * 2 + ("in the 12 intervals that the file states",),
    ],
)
def test_all_answers_that_are_covered_are_said_and_no_others(within: Any, answers: Any, words: str) -> None:
    points = [
        [[lo and math.ceil(Fraction(lo)), hi and math.floor(Fraction(hi))] for lo, hi in ends]
        for ends in (within, answers)
    ]
    change = {"rate": "1/4", "ranges": points[0], "inputs": points[1], "reach": 2}
    proved = check(ranged(change, epsilon="2", within=within, answers=answers))
    assert proved == f"epsilon = 2 between neighbours (line at most 1), for answers {words}"


@pytest.mark.parametrize(
    "words", ["numpy generator: simulation, not for release", "a SIMULATION", "dice; Not for release"]
)
def test_a_simulation_is_proved_as_what_it_is(words: str) -> None:
    assert check(forged(LAPLACE, STEPS, "1", randomness=words)) == (
        "epsilon = 1 per unit of line; a simulation with a known seed: NOT FOR RELEASE"
    )
    assert check(forged(LAPLACE, STEPS, "1", randomness="system seed, AES-256-CTR")) == "epsilon = 1 per unit of line"
    seeded = nw.laplace(epsilon=1).certificate(np.random.default_rng(1))
    assert seeded.verify().endswith("; a simulation with a known seed: NOT FOR RELEASE")


@pytest.mark.parametrize(
    "name",
    [
        "1/2 * line + 1 * discrete",
        "max(line, max(discrete, 0.5 * line))",
        "2e-05 * earth-movers (line)",
        "my_own",
        "angular",
        "line; level = 0.001 between any two points within 1000 of each other",
        "line, between any two secrets",
        "line) and more (discrete",
        "max(line, discrete), or less",
        "max(line; level = 1)",
        "line: proved",
    ],
)
def test_a_name_that_is_not_read_is_quoted(name: str) -> None:
    assert check(table(metric=name)) == f"epsilon = 2 per unit of '{name}'; distances as stated in the file"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Fraction(0.1), "0.10000000000000001"),
        (Fraction(0.3), "0.3"),
        (Fraction(1, 10), "0.1"),
        (Fraction("1.0000000009"), "1.00001"),
        (Fraction(2000000001), "2000010000"),
        (Fraction(1, 3), "0.333334"),
        (Fraction(1 / 3), "0.333334"),
        (Fraction(0), "0"),
        (Fraction(1e-5), "0.000010000000000000001"),
        (Fraction(1e-6), "0.000001"),
        (Fraction(0.1) + Fraction(1, 10**30), "0.100001"),
        (Fraction(1, 10**400), "1e-400"),
    ],
)
def test_numbers_are_rounded(value: Fraction, shown: str) -> None:
    assert rounded(value) == shown


# Against other arithmetic: claims a little below and a little above the truth ---------------------------------------------

BELOW, ABOVE = (Fraction(9, 10), 1 - Fraction(1, 10**6), 1 - Fraction(1, 10**14)), 1 + Fraction(1, 10**9)


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def proved(function: Any, *arguments: Any) -> bool:
    try:
        function(*arguments)
    except NotProved:
        return False
    return True


def fuzzed(function: Any, truth: Decimal, distances: Any, proof: Any, tight: bool = True) -> None:
    """No claim below the truth is proved; one above it is, if there are bits enough."""
    for share in BELOW:
        assert not proved(function, Fraction(truth) * share, distances, proof), (distances, proof, share)
    if proof["precision"] >= 128 and tight:
        assert proved(function, Fraction(truth) * ABOVE, distances, proof), (distances, proof)


@pytest.mark.parametrize("adjacent", [True, False])
def test_ranges_against_brute_force(adjacent: bool) -> None:
    rng = random.Random(11)
    with localcontext() as context:
        context.prec = 60
        for _ in range(60):
            ends = sorted(rng.sample(range(-12, 25), 2 * rng.randint(1, 3)))
            ranges = [[lo, hi] for lo, hi in zip(ends[::2], ends[1::2], strict=True)]
            inputs = [
                sorted(rng.choices(range(lo, hi + 1), k=2)) if rng.random() < 0.5 else [lo, hi] for lo, hi in ranges
            ]
            rate = Fraction(rng.randint(1, 300), rng.choice([1, 100, 10**6]))
            reach, bits = rng.randint(1, 6), rng.choice([64, 80, 128, 320])
            outputs, secrets = ([i for lo, hi in r for i in range(lo, hi + 1)] for r in (ranges, inputs))
            logs = {}
            for i in secrets:
                weights = [-decimal(rate) * abs(i - j) for j in outputs]
                total = sum(w.exp() for w in weights).ln()
                logs[i] = [w - total for w in weights]
            losses = [
                max(abs(a - b) for a, b in zip(logs[i], logs[j], strict=True)) / (1 if adjacent else j - i)
                for i, j in itertools.combinations(secrets, 2)
                if not adjacent or j - i <= reach
            ]
            if not losses:
                continue
            distances = {"shape": "adjacent", "distance": f"1/{reach}"} if adjacent else STEPS
            proof = {"rate": str(rate), "precision": bits, "ranges": ranges, "inputs": inputs, "reach": reach}
            fuzzed(checker_noise.check_ranged, max(losses), distances, proof)


def test_half_lines_against_brute_force() -> None:
    rng = random.Random(12)
    with localcontext() as context:
        context.prec = 60
        for _ in range(80):
            count, bits = rng.randint(1, 5), rng.choice([64, 80, 128, 320])
            unit = rng.choice([1, 100, 10**4])
            tail, *near = (Fraction(rng.randint(1, 300), unit) for _ in range(count + 1))
            a, rows = decimal(tail), []
            for i in range(count + 7):
                b = decimal(near[min(i, count) - 1])
                total = (1 / (1 - (-a).exp()) + sum((-b * k).exp() for k in range(1, i + 1))).ln()
                rows.append([(-a * (j - i) if j >= i else -b * (i - j)) - total for j in range(count + 10)])
            losses = [abs(x - y) for here, there in itertools.pairwise(rows) for x, y in zip(here, there, strict=True)]
            truth = max(*losses, a).exp() - 1  # neighbouring steps are allowed a factor of 1 + budget
            proof = {"tail": str(tail), "near": [*map(str, near)], "precision": bits}
            fuzzed(checker_noise.check_half_line, truth, STEPS, proof, tight=unit > 1)


NAMED: dict[str, Any] = {
    "line": lambda x, y: abs(x[0] - y[0]),
    "discrete": lambda x, y: int(x != y),
    "manhattan": lambda x, y: sum(abs(a - b) for a, b in zip(x, y, strict=True)),
    "euclidean": lambda x, y: Fraction((decimal(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))).sqrt()),
}


def loss(here: list[int], there: list[int]) -> Decimal:
    """The largest log-ratio of two rows; infinite where a zero stands beside another number."""
    both = [(a, b) for a, b in zip(here, there, strict=True) if a or b]
    if any(0 in pair for pair in both):
        return Decimal("inf")
    return max(abs((Decimal(a) / b).ln()) for a, b in both)


def random_claim(rng: random.Random) -> tuple[Document, list[list[int]], Any]:
    """A small table with random distances and labels, and an epsilon that just suffices, or nearly, for the distances stated.
    The last result gives the distance of two rows by the name of the metric and the labels alone."""
    size, factor, base = (
        rng.randint(2, 4),
        rng.choice([Fraction(1), Fraction(1, 2), Fraction(3)]),
        rng.choice(list(NAMED)),
    )
    spots = rng.sample([(x, y) for x in range(4) for y in ((0,) if base == "line" else range(3))], size)
    points = [tuple(Fraction(c, 2) for c in (spot[:1] if base == "line" else spot)) for spot in spots]
    labels = [{"tuple": [{"fraction": str(c)} for c in p]} if len(p) > 1 else {"fraction": str(p[0])} for p in points]
    rows = [[rng.randint(1, 15)] for _ in range(size)]
    rows = [[a, 16 - a] for (a,) in rows]

    def named(i: int, j: int) -> Fraction:
        return factor * Fraction(NAMED[base](points[i], points[j]))

    shape, pairs = rng.choice(["line", "table", "uniform"]), list(itertools.combinations(range(size), 2))
    honest = rng.random() < 0.5
    if shape == "uniform":
        distance = min(named(i, j) for i, j in pairs) if honest else Fraction(rng.randint(1, 6), 2)
        stated, distances = dict.fromkeys(pairs, distance), {"distance": str(distance)}
    elif shape == "line":
        places = [factor * p[0] if honest else Fraction(rng.randint(0, 6), 2) for p in points]
        stated, distances = {(i, j): abs(places[i] - places[j]) for i, j in pairs}, {"places": [*map(str, places)]}
    else:
        values = [named(i, j) if honest else Fraction(rng.randint(1, 6), 2) for i, j in pairs]
        values = [Fraction(math.floor(v * 10**9), 10**9) for v in values]
        stated, distances = dict(zip(pairs, values, strict=True)), {"distances": [*map(str, values)]}
    needed = max(loss(rows[i], rows[j]) / decimal(max(d, Fraction(1, 1000))) for (i, j), d in stated.items())
    epsilon = Fraction(needed) * rng.choice([1 + Fraction(1, 10**9), 1 + Fraction(1, 10**9), 1 - Fraction(1, 10**9), 2])
    proof = {"kind": "table", "width": 4, "precision": 128, "table": [[f"{v:x}" for v in row] for row in rows]}
    made = forged(
        proof,
        {"shape": shape, **distances},
        str(Fraction(math.ceil(epsilon * 10**30), 10**30)),
        base if factor == 1 else f"{factor} * {base}",
        inputs=labels,
    )
    return made, rows, named


def test_whatever_is_proved_of_a_table_holds_in_the_named_metric_between_the_labels() -> None:
    rng, outcomes = random.Random(18), set()
    with localcontext() as context:
        context.prec = 60
        for _ in range(3000):
            made, rows, named = random_claim(rng)
            kind = (made["claim"]["metric"].rpartition(" ")[2], made["claim"]["distances"]["shape"])
            try:
                said = check(made)
            except NotProved:
                outcomes.add((*kind, False))
                continue
            assert "as stated" not in said
            outcomes.add((*kind, True))
            epsilon = decimal(Fraction(made["claim"]["epsilon"]))
            for i, j in itertools.combinations(range(len(rows)), 2):
                assert loss(rows[i], rows[j]) <= epsilon * decimal(named(i, j)) * (1 + Decimal("1e-50")), made
    both = {(*kind, answer) for kind in itertools.product(NAMED, ["table"]) for answer in (True, False)}
    both |= {("line", "line", True), ("line", "line", False), ("discrete", "uniform", True), ("discrete", "line", True)}
    assert both <= outcomes


def test_extreme_rates_are_never_proved_for_too_little() -> None:
    """Where bounds lose their meaning: exponents from 1e-40 to 1e7 at every precision; the loss is at least the rate."""
    rng = random.Random(13)
    for _ in range(400):
        high = Fraction(rng.randint(1, 99)) * Fraction(10) ** rng.randint(-3, 6)
        low = Fraction(rng.randint(1, 99)) * Fraction(10) ** rng.randint(-42, -1)
        bits = rng.choice([0, 1, 63, 64, 65, 128, 1024])
        tail, near = rng.sample([high, low], 2)
        budget = Fraction(str(float(high))) * rng.choice([Fraction(1, 1000), Fraction(1, 3)])
        proof = {"tail": str(tail), "near": [str(near)], "precision": bits}
        # Output 0 from 0 and from 1: Z(1) / Z(0) > 1 and a weight of e^-near; the tail loses at least tail - ln Z(1)/Z(0).
        if near == high or high > 2:
            assert not proved(checker_noise.check_half_line, min(budget, high / 4), STEPS, proof)
        ranged = {"rate": str(high), "precision": bits, "ranges": [[0, 3]], "inputs": [[0, 3]], "reach": 2}
        assert not proved(checker_noise.check_ranged, budget, STEPS, ranged)
        assert not proved(checker_noise.check_ranged, budget, {**NEAR, "distance": "1/2"}, ranged)


def test_deltas_against_brute_force() -> None:
    rng = random.Random(14)
    with localcontext() as context:
        context.prec = 60
        for _ in range(40):
            law, steps = rng.choice(["discrete laplace", "discrete gaussian"]), rng.randint(1, 6)
            scale, epsilon = Fraction(rng.randint(8, 200), 40), Fraction(rng.randint(0, 300), 100)
            s, reach = decimal(scale), int(scale * (150 if law == "discrete laplace" else 18)) + 20
            powers = [
                k / s if law == "discrete laplace" else k * k / (2 * s * s) for k in map(Decimal, range(reach + 8))
            ]
            weights = [(-p).exp() for p in powers]
            factor = decimal(epsilon).exp()
            found = sum(max(weights[abs(k - steps)] - factor * weights[abs(k)], 0) for k in range(-reach, reach))
            truth = Fraction(Decimal(found) / (2 * sum(weights) - 1))
            stride = rng.choice([1, 1, 2, 3])
            proof = {"kind": "law", "law": law, "scale": str(scale), "sigma": str(scale), "stride": stride}
            distances = {"shape": "adjacent", "distance": f"1/{steps}"}
            if not 0 < truth < 1:
                continue
            for share in (Fraction(1, 2), 1 - Fraction(1, 10**6), 1 - Fraction(1, 10**12)):
                assert not proved(checker_noise.check_delta, epsilon, truth * share, distances, proof)
            if stride == 1 and 10**-9 < truth < Fraction(99, 100):
                assert proved(checker_noise.check_delta, epsilon, truth * ABOVE, distances, proof)


def test_laws_against_brute_force() -> None:
    """The largest change of the exponent over the steps of neighbours, counted."""
    rng = random.Random(15)
    for _ in range(300):
        width, steps, adjacent = rng.randint(1, 5), rng.randint(1, 6), rng.random() < 0.5
        first, rate = rng.randint(1, width), Fraction(rng.randint(1, 30), 10)
        stairs = rng.random() < 0.5
        shift = range(1, steps + 1) if adjacent else [1]
        power = [rate * ((n + width - first) // width) if stairs else rate * n for n in range(60)]
        truth = max(abs(power[abs(k - s)] - power[abs(k)]) for k in range(-40, 40) for s in shift)
        proof = {"law": "staircase", "width": width, "first": first, "rate": str(rate)}
        proof = proof if stairs else {"law": "discrete laplace", "scale": str(1 / rate)}
        shape = {"shape": "adjacent", "distance": f"1/{steps}"} if adjacent else {"shape": "steps", "distance": "1/3"}
        for share in (*BELOW, Fraction(1)):
            claim = truth * share * (1 if adjacent else 3)
            found = proved(checker_noise.check_staircase if stairs else checker.check_law, claim, shape, proof)
            assert not (found and share < 1)
            assert found or share < 1 or (stairs and adjacent and steps > width)


def test_exponentials_enclose_the_truth_at_every_precision() -> None:
    rng = random.Random(16)
    with localcontext() as context:
        context.prec = 450
        for _ in range(400):
            bits = rng.choice([0, 1, 2, 5, 17, 64, 200, 384])
            exponent = Fraction(rng.randint(-(10**9), 10**9), 10 ** rng.randint(7, 40))
            truth, inverse = ((decimal(e).exp() * 2**bits) for e in (exponent, -exponent))
            assert checker.exp_below(exponent, bits) <= truth
            assert checker_noise.minus_below(exponent, bits) <= inverse
            assert not checker.exp_below(exponent, bits) or checker_noise.minus_above(exponent, bits) >= inverse


def test_honest_mechanisms_keep_their_certificates() -> None:
    rng = random.Random(17)
    for _ in range(12):
        epsilon, size = Fraction(rng.randint(1, 400), 100), rng.choice([1, 3, 0.1, "1/7", 250])
        made = [
            nw.laplace(epsilon=epsilon, sensitivity=size, scope="metric"),
            nw.laplace(epsilon=epsilon, sensitivity=size, scope="metric", within=(0, None)),
            nw.laplace(epsilon=epsilon, sensitivity=size, scope="adjacent", within=(0, 1000)),
            nw.mechanisms.staircase(epsilon=epsilon, sensitivity=size),
            nw.mechanisms.snapped_laplace(epsilon=epsilon, sensitivity=size),
            nw.mechanisms.approximate_laplace(epsilon=epsilon, delta="1e-6", sensitivity=size),
            nw.planar_laplace(epsilon=epsilon),
            nw.mechanisms.product_laplace(epsilon=epsilon, dimension=3),
            nw.randomised_response(rng.randint(2, 9), epsilon=epsilon),
            nw.exponential(range(4), epsilon=epsilon),
            nw.geometric(epsilon=epsilon, sensitivity=2),
        ]
        for mechanism in made:
            text = mechanism.certificate().to_json()
            assert Certificate.from_json(text).verify().startswith(f"epsilon = {rounded(epsilon)} "), mechanism


@pytest.mark.parametrize(
    "metric",
    [
        Scaled(Line(), Fraction(0.1)),
        Scaled(Line(), Fraction(1000003, 3000017)),
        Sum((Scaled(Line(), Fraction(1, 2)), Discrete())),
        Maximum((Line(), Discrete())),
    ],
)
def test_honest_metrics_with_long_names(metric: Any) -> None:
    channel = Channel([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]], [0, 3, 4])
    read = isinstance(metric, Scaled)
    words = str(metric) if read else f"'{metric}'; distances as stated in the file"
    assert Certificate.of(channel.certify(40, metric)).verify() == f"epsilon = 40 per unit of {words}"
