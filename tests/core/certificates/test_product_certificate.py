"""Products of independent parts: what is proved is never less than the truth, equals it where it is tight, and cannot be forged.

Truth is counted: all pairs of secrets, all outputs, in fractions, and logarithms in decimals of 60 digits.
"""

from __future__ import annotations

import itertools
import json
import math
import random
import shutil
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from claim_support import record_of

import noisewright as nw
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker import checker, checker_noise, checker_release
from noisewright.certificates.checker.checker import NotProved, check, digest
from noisewright.certificates.composition import Part, parts_of, product_certificate
from noisewright.claims import phrases
from noisewright.exceptions import ParameterError

Document = dict[str, Any]
Rows = list[list[Fraction]]
METRICS = ["hamming", "manhattan", "discrete"]


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def log_ratio(here: list[Fraction], there: list[Fraction]) -> Decimal:
    """The largest log-ratio of two laws; infinite where a zero stands beside another number."""
    both = [(a, b) for a, b in zip(here, there, strict=True) if a or b]
    if any(0 in pair for pair in both):
        return Decimal("inf")
    return max(decimal(max(a / b, b / a)).ln() for a, b in both)


def law_of(part: Document) -> tuple[list[int], Rows]:
    """The values and the law of a part, read from its integers alone."""
    proof = part["proof"]
    if proof["kind"] == "response":
        size, total = proof["size"], 1 << proof["width"]
        pair = [Fraction(int(proof[name], 16), total) for name in ("keep", "other")]
        rows = [[pair[x != y] for y in range(size)] for x in range(size)]
    elif proof["kind"] == "chances":
        rows = [[Fraction(entry, proof["total"]) for entry in row] for row in proof["table"]]
    else:
        rows = [[Fraction(int(entry, 16), 1 << proof["width"]) for entry in row] for row in proof["table"]]
    return part.get("inputs") or list(range(len(rows))), rows


def distance(metric: str, x: tuple[Any, ...], y: tuple[Any, ...]) -> int:
    if metric == "hamming":
        return sum(a != b for a, b in zip(x, y, strict=True))
    return int(x != y) if metric == "discrete" else sum(abs(a - b) for a, b in zip(x, y, strict=True))


def enumerated(document: Document, metric: str) -> Decimal:
    """The smallest epsilon that the product really has: every two secrets, every output."""
    parts = [law_of(part) for part in document["proof"]["parts"] for _ in range(part["count"])]
    secrets = list(itertools.product(*(range(len(rows)) for _, rows in parts)))
    outputs = list(itertools.product(*(range(len(rows[0])) for _, rows in parts)))
    laws = {
        x: [
            math.prod((rows[i][j] for (_, rows), i, j in zip(parts, x, y, strict=True)), start=Fraction(1))
            for y in outputs
        ]
        for x in secrets
    }
    named = {x: tuple(labels[i] for (labels, _), i in zip(parts, x, strict=True)) for x in secrets}
    return max(
        log_ratio(laws[x], laws[y]) / distance(metric, named[x], named[y])
        for x, y in itertools.combinations(secrets, 2)
    )


def above(value: Decimal) -> Fraction:
    """A short fraction just above a number."""
    return Fraction(math.ceil(Fraction(value) * 10**12), 10**12)


def random_part(rng: random.Random, metric: str) -> Certificate:
    """A table, response or device over 0, 1, ... with the smallest epsilon it has for a unit of the line or any two values."""
    kind, size = rng.choice(["table", "response", "chances"] if metric != "manhattan" else ["table"]), rng.randint(2, 3)
    proof: Document
    if kind == "response":
        other = rng.randint(1, 60 // size)
        proof = {
            "size": size,
            "width": 7,
            "precision": 128,
            "keep": f"{128 - (size - 1) * other:x}",
            "other": f"{other:x}",
        }
    else:
        table = [[rng.randint(1, 12) for _ in range(rng.choice([2]))] for _ in range(size)]
        table = [[*row, 32 - sum(row)] for row in table]
        proof = {"width": 5, "precision": 128, "table": [[f"{n:x}" for n in row] for row in table]}
        if kind == "chances":
            proof = {"total": 32, "precision": 128, "table": table}
    proof = {"kind": kind, **proof}
    labels, rows = law_of({"proof": proof})
    line = metric == "manhattan"
    need = max(
        log_ratio(rows[i], rows[j]) / (abs(labels[i] - labels[j]) if line else 1)
        for i, j in itertools.combinations(range(size), 2)
    )
    stated = {"shape": "line", "places": [str(x) for x in labels]} if line else {"shape": "uniform", "distance": "1"}
    return Certificate.build(
        mechanism="part",
        epsilon=above(need),
        metric="line" if line else "discrete",
        distances=stated,
        proof=proof,
        inputs=labels,
    )


def random_product(rng: random.Random, metric: Any) -> Certificate:
    counts = rng.choice([[1], [2], [3], [1, 1], [2, 1]])
    return product_certificate("made", [Part(random_part(rng, metric), n) for n in counts], metric=metric)


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_proved_is_the_truth(metric: str) -> None:
    rng = random.Random(31)
    with localcontext() as context:
        context.prec = 60
        for _ in range(25):
            made = random_product(rng, metric)
            parts = sum(part["count"] for part in made.document["proof"]["parts"])
            assert made.verify().endswith(f"per unit of {metric}, over {parts} independent parts")
            truth = Fraction(enumerated(dict(made.document), metric))
            assert truth <= made.epsilon <= truth + Fraction(4, 10**12)


@pytest.mark.parametrize("metric", METRICS)
def test_less_than_the_truth_is_not_proved(metric: str) -> None:
    rng = random.Random(32)
    for _ in range(25):
        document = dict(random_product(rng, metric).document)
        less = Fraction(document["claim"]["epsilon"]) - Fraction(1, 10**11)
        with pytest.raises(NotProved, match="add up to more than the claim"):
            check(sealed({**document, "claim": {**document["claim"], "epsilon": str(less)}}))


def sealed(document: Document) -> Document:
    return {**document, "digest": digest(document)}


# Forgeries ----------------------------------------------------------------------------------------------------------------


def truth_of(document: Document) -> tuple[Fraction, Fraction]:
    """The smallest epsilon times factor for a product of any size, part by part, and the claimed one."""
    factor, record = checker.unit_of(document["claim"]["metric"])
    base = record.get("base")
    needs = []
    for part in document["proof"]["parts"]:
        labels, rows = law_of(part)
        pairs = list(itertools.combinations(range(len(rows)), 2))
        per = [abs(Fraction(labels[i]) - Fraction(labels[j])) if base == "manhattan" else 1 for i, j in pairs]
        needs.append(
            max(
                (log_ratio(rows[i], rows[j]) / decimal(Fraction(d)) for (i, j), d in zip(pairs, per, strict=True)),
                default=Decimal(0),
            )
        )
    if base == "discrete":
        total = sum((n * part["count"] for n, part in zip(needs, document["proof"]["parts"], strict=True)), Decimal(0))
    else:
        total = max(needs)
    return Fraction(total) if total.is_finite() else Fraction(10**400), factor * Fraction(document["claim"]["epsilon"])


SMALL: list[Any] = [
    "0",
    "1/3",
    "1",
    "2",
    "-1",
    "1e-9",
    "1/2",
    0,
    1,
    2,
    7,
    -1,
    None,
    True,
    1.5,
    "x",
    [],
    {},
    "inf",
    10**40,
]
RECORDS = [
    record_of(name)
    for name in (
        *("hamming", "manhattan", "discrete", "1/2 * hamming", "2 * manhattan", "line", "euclidean"),
        *("manhattan between points of the lattice 2^0", "my own"),
    )
]
WORDS = [
    *("hamming", "manhattan", "discrete", "line", "euclidean", "uniform", "table", "steps", "adjacent", "product"),
    *("response", "chances", "law", "constant"),
]


def mutated(document: Document, rng: random.Random) -> Document:
    """The document with one or two of its members, anywhere below the claim or the proof, replaced, dropped or copied."""
    made: Document = json.loads(json.dumps(document))
    for _ in range(rng.choice([1, 1, 2])):
        path: Any = made
        place: Any = rng.choice([name for name in ("claim", "proof") if name in made])
        while isinstance(path[place], (dict, list)) and path[place] and rng.random() < 0.93:
            path = path[place]
            place = rng.choice(list(path)) if isinstance(path, dict) else rng.randrange(len(path))
        value, dice = path[place], rng.random()
        if dice < 0.12 and isinstance(path, dict):
            del path[place]
        elif dice < 0.2 and isinstance(path, list):
            path.insert(place, json.loads(json.dumps(rng.choice(path))))
        elif isinstance(value, int) and dice < 0.7:
            path[place] = value + rng.choice([-1, 1, 5, -value + 1])
        elif isinstance(value, str) and dice < 0.45 and value[:1].isdigit():
            path[place] = rng.choice(
                [f"{rng.randint(0, 127):x}", value[1:] or "0", str(Fraction(rng.randint(0, 40), 8))]
            )
        else:
            path[place] = rng.choice(WORDS if isinstance(value, str) and dice < 0.85 else SMALL + RECORDS)
    return sealed(made)


def test_two_thousand_forgeries_are_refused_or_true() -> None:
    rng, passed = random.Random(33), 0
    with localcontext() as context:
        context.prec = 60
        for turn in range(2000):
            metric = METRICS[turn % 3]
            forged = mutated(dict(random_product(rng, metric).document), rng)
            try:
                said = check(forged)
            except NotProved:
                continue
            passed += 1
            deltas = [Fraction(part["claim"]["delta"]) for part in forged["proof"]["parts"]]
            if any(deltas) or "as stated" in said:
                continue  # claims that the named metric alone does not settle
            truth, claimed = truth_of(forged)
            assert truth <= claimed, forged
    assert passed > 20  # harmless ones: a count or an epsilon that is larger, a name that is not used


HONEST = nw.randomised_response([0, 1], epsilon=1).certificate()


def product(parts: Any = None, metric: str = "hamming", epsilon: str = "1", delta: str = "0", **more: Any) -> Document:
    made = dict(product_certificate("made", [Part(HONEST, 3)]).document)
    claim = {**made["claim"], "metric": record_of(metric), "epsilon": epsilon, "delta": delta, **more.pop("claim", {})}
    chosen = made["proof"]["parts"] if parts is None else parts
    return sealed({**made, "claim": claim, "proof": {"kind": "product", "parts": chosen}, **more})


BIT: Document = dict(product_certificate("made", [Part(HONEST, 3)]).document)["proof"]["parts"][0]


def coordinates(certificate: Certificate, count: int) -> Document:
    return {"count": count, **{k: v for k, v in certificate.document.items() if k not in checker_release.HEAD}}


NOISE = coordinates(nw.geometric(epsilon=1).certificate(), 2)
NEAR = coordinates(nw.laplace(epsilon=1).certificate(), 2)
FILE = {"name": "words.bin", "sha256": "0" * 64, "bytes": 3}


@pytest.mark.parametrize(
    ("forged", "sentence"),
    [
        (product(metric="euclidean"), "proved for hamming, manhattan, discrete"),
        (product([]), "a list of 1 to 10000"),
        (product([BIT] * 10001), "a list of 1 to 10000"),
        (product([{**BIT, "count": 0}]), "at least once"),
        (product([{**BIT, "count": True}]), "not a whole number"),
        (product([{**BIT, "count": None}], "discrete", "99"), "by the counts"),
        (product([BIT], "discrete", "2"), "more than the claim"),
        (product([BIT], "2 * hamming", "1/3"), "more than the claim"),
        (product([BIT], "manhattan"), "every distance on the line"),
        (product([NOISE]), "finitely many values"),
        (product([NEAR], "manhattan"), "every distance on the line"),
        (product([NOISE, {**NEAR, "claim": {**NEAR["claim"], "metric": {"base": "line"}}}], "manhattan"), "every distance"),
        (product([{**BIT, "proof": {"kind": "product", "parts": [BIT]}}]), "product itself"),
        (product(inputs=["a", "b"]), "does not know the field 'inputs'"),
        (product(claim={"distances": {"shape": "uniform", "distance": "1"}}), "those of its parts"),
        (product(claim={"level": "1"}), "those of its parts"),
        (product([{**BIT, "proof": {**BIT["proof"], "keep": "0"}}]), "keep"),
        (product([{**BIT, "proof": {**BIT["proof"], "precision": 1 << 17}}] * 3), "too long"),
        (product([{**BIT, "claim": {**BIT["claim"], "delta": "1/10"}}], delta="1/2"), "by the counts"),
        (product([{**BIT, "randomness": "simulation"}]), "on its own how it is drawn"),
        (product([{**BIT, "numerics": "floating"}]), "on its own how it is drawn"),
        (product([{**BIT, "resources": [FILE]}]), "the whole does not state"),
        (product([{**BIT, "seed": "1" * 64}], seed="2" * 64), "the whole does not state"),
    ],
)  # fmt: skip
def test_refused_in_a_sentence(forged: Document, sentence: str) -> None:
    with pytest.raises(NotProved, match=sentence):
        check(forged)


def test_deltas_add_up_between_any_two_secrets() -> None:
    coin = nw.survey(epsilon=1, delta="0.2", prevalence="0.1", respondents=1000).certificate()
    made = product_certificate("coins", [Part(coin, 3)], metric="discrete")
    assert made.verify() == "epsilon = 3 per unit of discrete, delta = 0.6, over 3 independent parts"
    (labels, rows), (epsilon, delta) = law_of(made.document["proof"]["parts"][0]), (made.epsilon, Fraction(3, 5))
    secrets = list(itertools.product(range(len(labels)), repeat=3))
    laws = {
        x: [math.prod((rows[i][j] for i, j in zip(x, y, strict=True)), start=Fraction(1)) for y in secrets]
        for x in secrets
    }
    factor = Fraction(math.e) ** 3 * (1 - Fraction(1, 10**12))
    assert epsilon == 3
    assert all(
        sum(max(a - factor * b, Fraction(0)) for a, b in zip(laws[x], laws[y], strict=True)) <= delta
        for x in secrets
        for y in secrets
    )
    with pytest.raises(ParameterError, match="any two secrets"):
        product_certificate("coins", [Part(coin, 3)])


def test_lattices_and_answers_are_those_of_all_parts() -> None:
    rounded, plain = nw.laplace(epsilon=1, scope="metric").certificate(), nw.geometric(epsilon=1).certificate()
    made = product_certificate("noise", [Part(rounded, 4)], metric="manhattan")
    assert (
        made.verify()
        == "epsilon = 1 per unit of manhattan between points of the lattice 2^-10, over 4 independent parts"
    )
    with pytest.raises(ParameterError, match="same lattice"):
        product_certificate("noise", [Part(rounded), Part(plain)], metric="manhattan")
    one, other = (
        nw.laplace(epsilon=1, within=(0, 9), margin=m, scope="metric", lattice="1/1024").certificate() for m in (1, 2)
    )
    mixed = product_certificate("noise", [Part(one), Part(other)], metric="manhattan")
    with pytest.raises(nw.exceptions.CertificateError, match="different answers"):
        mixed.verify()


def test_any_number_of_parts() -> None:
    made = product_certificate("tokens", [Part(HONEST, None)])
    assert made.verify() == "epsilon = 1 per unit of hamming, over any number of independent parts"
    with pytest.raises(NotProved, match="may be far apart"):
        checker_release.loss_of(made.document, "any")


def said(found: tuple[Fraction, Document]) -> tuple[Fraction, str]:
    """Return a loss and, in words, the pair that it is for."""
    return found[0], phrases.pair(found[1])


def test_a_release_counts_all_coordinates() -> None:
    made = product_certificate("bits", [Part(HONEST, 8)])
    assert checker_release.loss_of(made.document, "any") == (8, {"code": "any-listed", "metric": {"base": "hamming"}})
    assert said(checker_release.loss_of(made.document, "2")) == (2, "values at most 2 apart (hamming)")
    whole = product_certificate("bits", [Part(HONEST, 8)], metric="discrete")
    assert said(checker_release.loss_of(whole.document, "any")) == (8, "any two values that differ")


def test_a_release_pays_for_one_coordinate_at_least_and_says_whole_numbers() -> None:
    bits = product_certificate("bits", [Part(HONEST, 8)])
    for less in ("1/2", "1/1000"):
        with pytest.raises(NotProved, match="as near as the distance that is paid for"):
            checker_release.loss_of(bits.document, less)
    noise = product_certificate("noise", [Part(nw.geometric(epsilon=1).certificate(), 3)], metric="manhattan")
    assert said(checker_release.loss_of(noise.document, "2")) == (2, "whole numbers at most 2 apart (manhattan)")


def test_simulated_parts_make_a_simulation() -> None:
    drawn = nw.randomised_response([0, 1], epsilon=1).certificate(np.random.default_rng(0))
    assert product_certificate("bits", [Part(HONEST), Part(drawn)]).verify().endswith("NOT FOR RELEASE")


def test_public_files_and_seeds_of_parts_are_those_of_the_whole() -> None:
    more = {key: value for key, value in HONEST.document.items() if key != "digest"} | {"seed": "1" * 64}
    parts = [Part(Certificate.from_document(sealed({**more, "resources": [FILE]})), 2), Part(HONEST)]
    made = product_certificate("bits", parts)
    assert made.verify().endswith("; uses the public file 'words.bin' (sha256 000000000000...) and the public seed "
                                  "111111111111..., as stated")  # fmt: skip
    assert [part.certificate.document.get("seed") for part in parts_of(made)] == ["1" * 64, None]
    other = Certificate.from_document(sealed({**more, "seed": "2" * 64}))
    with pytest.raises(ParameterError, match="different public seeds"):
        product_certificate("bits", [*parts, Part(other)])


def test_the_parts_come_back() -> None:
    made = product_certificate(
        "bits", [Part(HONEST, 8), Part(nw.randomised_response(["a", "b", "c"], epsilon=1).certificate())]
    )
    (first, second), again = parts_of(made), list(parts_of(Certificate.from_json(made.to_json())))
    assert (first.count, second.count) == (8, 1)
    assert first.certificate.to_json() == HONEST.to_json()
    assert [part.certificate.document for part in again] == [first.certificate.document, second.certificate.document]


def test_what_makes_no_product_is_refused() -> None:
    floating = nw.mechanisms.spherical_laplace(epsilon=1, dimension=2).certificate()
    for parts, metric, sentence in [
        ([], "hamming", "1 to 10000 parts"),
        ([Part(HONEST)], "euclidean", "the metric of a product is"),
        ([Part(floating)], "hamming", "a floating one is not"),
        ([Part(HONEST, 0)], "hamming", "a whole number from 1"),
        ([Part(HONEST, None)], "discrete", "how many"),
        ([Part(nw.geometric(epsilon=1).certificate())], "hamming", "finitely many values"),
    ]:
        with pytest.raises(ParameterError, match=sentence):
            product_certificate("made", parts, metric=metric)  # type: ignore[arg-type]


def test_the_exported_checker_proves_products_alone(tmp_path: Path) -> None:
    """All three files lie side by side; without the third one sentence says that it is needed."""
    noise = nw.laplace(epsilon=1, within=(0, 9), scope="metric")  # its proof is in the second file
    made = {
        "bits": product_certificate("bits", [Part(HONEST, 8)]),
        "noise": product_certificate("noise", [Part(noise.certificate(), 2)], metric="manhattan"),
    }
    for name, certificate in made.items():
        (tmp_path / f"{name}.json").write_text(certificate.to_json(), encoding="utf-8")
    for module in (checker, checker_noise, checker_release, phrases):
        shutil.copy(module.__file__, tmp_path)
    command = [sys.executable, "-I", "checker.py", *(f"{name}.json" for name in made)]
    alone = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert alone.stdout.splitlines() == [f"{name}.json: proved: {c.verify()}" for name, c in made.items()]
    assert (alone.returncode, alone.stderr) == (0, "")
    (tmp_path / "checker_release.py").unlink()
    alone = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert alone.returncode == 1
    assert alone.stdout.count("is proved in a second file, checker_release.py, which must lie beside this program") == 2
