"""Forge certificates, releases and locks, with digests that fit, and hold what ``verify`` then says against the truth.

Each forgery is an honest document with one to three changes: numbers nudged by as little as 2^-60, rounded to floats or to twelve
digits, scaled, swapped; names padded or exchanged; rows and fields removed, doubled, renamed, taken from another document; types
changed. :mod:`tests.attack.truth` decides, by arithmetic of its own. Nothing that is proved may be untrue.
"""

from __future__ import annotations

import copy
import json
import math
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import noisewright as nw
from noisewright.core.certificates import Part, product_certificate
from noisewright.core.certificates.checker import checker
from noisewright.core.errors import CertificateError, NoisewrightError
from noisewright.images.faces import CodeSpace, NoisyCodes, cartoon_faces, train_eigenfaces
from noisewright.images.pixels import WindowChoice
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
from noisewright.releases.ledger.ledger import Ledger
from noisewright.releases.output.certificate import ReleaseCertificate
from noisewright.releases.output.folder_check import verify_folder
from noisewright.releases.output.proving import verify
from noisewright.text import exact_words, private_documents, write_embedding
from noisewright.text.words import truncated_exponential_words
from tests.attack.truth import CannotTellError, is_true

__all__ = ["forge"]

Document = dict[str, Any]
KEPT = Path(__file__).parents[1] / "fixtures" / "kept"
NUDGES = [
    Fraction(1, 1 << 60),
    Fraction(1, 1 << 52),
    Fraction(1, 1 << 50),
    Fraction(1, 10**13),
    Fraction(4, 10**13),
    Fraction(1, 10**6),
]
METRICS = [
    *("discrete", "line", "euclidean", "manhattan", "hamming", "angular", "my own", "2 * line", "1/2 * discrete"),
    *(
        "line between points of the lattice 2^-2",
        "largest of 3 differences",
        "sum of 3 differences",
        "metres around (1, 2)",
    ),
]
PADS = [
    " {}",
    "{} ",
    "*{}",
    "1 * {}",
    "1.0 * {}",
    "{}\t",
    "{}\u200b",
    "2*{}",
    "{} * 1",
    "- {}",
    "'{}'",
    "({})",
    "0.5 * {}",
    "{}, or less",
]
FIELDS = [
    "notes",
    "oracle",
    "about",
    "scope",
    "simulated",
    "inputs",
    "secrets",
    "answers",
    "step",
    "level",
    "within",
    "change",
    "norm",
    "clamp",
]


@cache
def honest() -> tuple[Document, ...]:
    """Documents of every kind of proof, small enough that the truth about them can be computed."""
    bit, thirds = nw.randomised_response([0, 1], epsilon="1/4"), nw.exponential([0, Fraction(1, 3), 1, 2.5], epsilon=1)
    grid = [(0, 0), (0, 1), (1, 1), (2, 0)]
    cube = nw.Channel([[0.4, 0.3, 0.2, 0.1], [0.3, 0.4, 0.1, 0.2], [0.2, 0.1, 0.4, 0.3]], ["ab", "aa", "ba"])
    made = [
        thirds,
        nw.exponential(grid, epsilon="0.7", metric=nw.metrics.Euclidean()),
        nw.exponential(grid, epsilon="0.7", metric=nw.metrics.Manhattan()),
        nw.exponential([0, 1, 3], epsilon=1, metric="1/3" * nw.metrics.Line()),
        nw.exponential([0, 1, 3], epsilon=1, metric=nw.metrics.Line() + nw.metrics.Discrete()),
        nw.randomised_response(["a", "b", "c"], epsilon=1),
        nw.geometric(epsilon=0.1, within=(0, 9)),
        nw.geometric(epsilon=1, sensitivity=0.3),
        nw.laplace(epsilon="0.7", sensitivity=2, within=(0, 9), lattice="1/4"),
        nw.laplace(epsilon=1, within=[(0, 2), ("3.1", 4), (6, 9)], lattice="1/2"),
        nw.laplace(epsilon=1, within=(0, 5), scope="metric", lattice="1/4"),
        nw.laplace(epsilon=1, sensitivity="1/3", scope="metric"),
        nw.laplace(epsilon=1, sensitivity=0.1),
        nw.laplace(epsilon=1, within=(0, None), scope="metric", lattice="1/2"),
        staircase(epsilon=1, sensitivity=3, lattice=1),
        gaussian(epsilon=1, delta="1/100", sensitivity=2, lattice=1),
        approximate_laplace(epsilon="1/2", delta="1/20", sensitivity=3, lattice=1),
        selection(["a", "b", "c"], epsilon=1, sensitivity=2),
        curve(epsilon=1, sensitivity=2, grid=range(2), lattice=1),
        curve(epsilon=1, sensitivity=2, grid=range(4), norm="l1", lattice="1/2"),
        nw.planar_laplace(epsilon=1, radius=20, lattice="1/2"),
        planar_geometric(nw.mechanisms.Grid(3, 3), epsilon=1),
        geo_laplace(epsilon=1, radius=200, reference=(48.85, 2.35)),
        product_laplace(epsilon=2, dimension=3, lattice="1/4"),
        uniform(4),
        unary_encoding(["a", "b", "c"], epsilon=1),
        hadamard_response(["a", "b", "c", "d", "e"], epsilon=1),
        local_hashing(["a", "b", "c"], epsilon=1),
        subset_selection(["a", "b", "c", "d", "e"], epsilon="1/2"),
        WindowChoice(Fraction(3), cells=4, levels=4),
        nw.images.pixel_windows(epsilon=9, width=9, height=8, block=2, levels=2),
        nw.images.pixel_windows(epsilon=9, width=9, height=8, block=2, window=2, between="pixels"),
        nw.images.pixel_laplace(epsilon=9, width=9, height=8, block=2, between="pixels"),
        nw.images.pixel_exponential(epsilon=9, width=3, height=2, levels=3),
        NoisyCodes(Fraction(5), CodeSpace.of([0, 0, 0], [1, 1, 1], steps=4, weights=[1, 2, 1])),
        nw.mechanisms.product([(bit, 7)]),
        nw.mechanisms.product([(nw.geometric(epsilon="1/10", within=(0, 255)), None)], metric="manhattan"),
    ]
    certificates = [one.certificate() for one in made] + _of_words() + [_of_faces()]
    certificates += [
        nw.Certificate.of(cube.certify(2, nw.metrics.Hamming())),
        product_certificate("both", [Part(bit.certificate(), 2), Part(thirds.certificate(), 3)], metric="discrete"),
    ]
    kept = [
        "survey_delta",
        "survey_dice",
        "optimal_line",
        "optimal_delta",
        "release_of_columns",
        "release_of_queries",
        "geometric_simulated",
    ]
    documents = [json.loads(one.to_json()) for one in certificates]
    documents += [json.loads((KEPT / "certificates" / f"{name}.json").read_text()) for name in kept]
    return tuple(documents)


def _of_faces() -> nw.Certificate:
    """Noisy codes of a tiny model, with what was measured on its public faces; where the file lies is forgotten."""
    with tempfile.TemporaryDirectory() as place:
        public, people = cartoon_faces(6, 2, size=4)
        model = train_eigenfaces(Path(place) / "tiny.nwm", public, people=people)
        return nw.images.private_faces(model, epsilon=60, components=2).certificate()


def _of_words() -> list[nw.Certificate]:
    """Choices of words from a tiny file, and documents of them; where the file lies is forgotten."""
    with tempfile.TemporaryDirectory() as place:
        vectors = np.array([[1, 0], [1, 0.5], [-3, 4]])
        tiny = write_embedding(Path(place) / "tiny.nwe", ["tea", "coffee", "ship"], vectors, licence="CC0-1.0")
        words = [exact_words(tiny, epsilon=2), truncated_exponential_words(tiny, epsilon="1/2", reach=9)]
        one, other = (choice.certificate() for choice in words)
        return [
            one,
            other,
            private_documents(tiny, epsilon=2).certificate(),
            product_certificate("bags", [Part(other, 2)], metric="matched"),
            product_certificate(
                "lines", [Part(other, 1), Part(other, 1)], metric="aligned", in_the_clear=["the order of words"]
            ),
        ]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield (*path, key)
        yield from paths(one, (*path, key))


def mutated(document: Document, rng: random.Random) -> Document:
    """One to three changes, and digests that fit."""
    made = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 2, 3])):
        places = [path for path in paths(made) if path[-1] != "digest"]
        if not places:
            break
        claim = [
            path
            for path in places
            if "claim" in path or path[-1] in ("price", "epsilon", "distance", "metric", "times", "step")
        ]
        *way, last = rng.choice(claim if claim and rng.random() < 0.45 else places)
        inside = made
        for key in way:
            inside = inside[key]
        change(inside, last, rng)
    return sealed(made)


def change(inside: Any, last: Any, rng: random.Random) -> None:
    """Change one thing."""
    value, dice = inside[last], rng.random()
    if dice < 0.06:
        inside.pop(last)
    elif dice < 0.1 and isinstance(inside, dict):
        inside[rng.choice(FIELDS)] = copy.deepcopy(rng.choice([value, None, 0, "0", [], "metric", [[None, None]]]))
    elif dice < 0.14 and isinstance(inside, list):
        inside.insert(last, copy.deepcopy(rng.choice(inside)))
    elif dice < 0.2 and isinstance(inside, list):
        rng.shuffle(inside)
    elif dice < 0.26:  # the same from another document
        donor = rng.choice(honest())
        same = [path for path in paths(donor) if path[-1] == last]
        for key in rng.choice(same) if same else ():
            donor = donor[key]
        inside[last] = copy.deepcopy(donor) if same else value
    elif dice < 0.31:
        inside[last] = rng.choice(
            [
                None,
                True,
                0,
                1,
                -1,
                1.5,
                -0.0,
                "",
                "x",
                [],
                {},
                [value],
                {"tuple": [value]},
                {"fraction": "1", "tuple": [1]},
                str(value),
            ]
        )
    elif last == "metric" or (last == "protects" and isinstance(value, str)):
        inside[last] = renamed(str(value), rng)
    else:
        inside[last] = nudged(value, last, rng)


def renamed(name: str, rng: random.Random) -> str:
    """Another name of a metric, or one that looks like this one."""
    head, star, base = name.rpartition(" * ")
    choice = rng.randrange(5)
    if choice == 0:
        return rng.choice(PADS).format(name)
    if choice == 1 and star:
        try:
            near = float(Fraction(head))
            return f"{rng.choice([repr(near), f'{near:.12g}', str(nudged(head, '', rng))])} * {base}"
        except (ValueError, ZeroDivisionError):
            return name
    if choice == 2:
        return re.sub("2\\^(-?[0-9]+)", lambda m: f"2^{int(m[1]) + rng.choice([-1, 1])}", name)
    return f"{nudged('1', '', rng)} * {base}" if choice == 3 else rng.choice(METRICS)


def nudged(value: Any, last: Any, rng: random.Random) -> Any:
    """A number a little or a lot different; text in other words."""
    if isinstance(value, bool) or value is None or isinstance(value, (dict, list)):
        return rng.choice([value, None, not value])
    if isinstance(value, int):
        return rng.choice(
            [
                value + 1,
                value - 1,
                2 * value,
                -value,
                0,
                value << 64,
                str(value),
                float(value) if abs(value) < 1 << 53 else 0,
            ]
        )
    if isinstance(value, float):
        return rng.choice([math.nextafter(value, math.inf), 2 * value, -value, str(value), int(value)])
    if re.fullmatch("[0-9a-f]{9,}", value):  # an entry of a table
        return f"{max(int(value, 16) + rng.choice([-1, 1, 1 << 20, -(1 << 20), int(value, 16)]), 0):x}"
    try:
        number = Fraction(value)
    except (ValueError, ZeroDivisionError):
        return rng.choice(
            [
                value.upper(),
                f" {value}",
                f"{value} ",
                rng.choice(METRICS),
                value[:-1],
                f"{value}\u200b",
                "any",
                "radius",
                "adjacent",
                "steps",
                "uniform",
            ]
        )
    way = rng.choice([-1, 1])
    made = rng.choice(
        [
            number * (1 + way * rng.choice(NUDGES)),
            number * 2,
            number / 2,
            number + way,
            -number,
            Fraction(float(number)),
            Fraction(f"{float(number):.12g}"),
            Fraction(math.nextafter(float(number), way * math.inf)),
            number * rng.randint(2, 1000),
        ]
    )
    return rng.choice([str(made), str(made), str(made), f"{float(made)!r}", f"0{made}", int(made)])


def sealed(document: Document) -> Document:
    """With digests that fit."""
    for part in document.get("parts", []) if isinstance(document.get("parts"), list) else []:
        if isinstance(part, dict) and isinstance(part.get("certificate"), dict):
            part["certificate"]["digest"] = checker.digest(part["certificate"])
    total = document.get("total")
    try:
        if isinstance(total, dict) and hash(json.dumps(total)) % 2:  # as often as not, the total follows
            total.update(
                {
                    to: str(sum(Fraction(part[of]) for part in document["parts"]))
                    for to, of in (("epsilon", "price"), ("delta", "delta"))
                }
            )
    except (LookupError, TypeError, ValueError, ArithmeticError):
        pass
    return {**document, "digest": checker.digest(document)}


def judged(document: Document) -> tuple[str, str]:
    """``refused``, ``true`` or ``FALSE``, and what is said."""
    try:
        read = checker.read(json.dumps(document))
        said = checker.check(read)
    except (checker.NotProved, ValueError) as why:
        return ("refused" if len(str(why)) > 10 else "FALSE"), str(why)
    try:
        true = is_true(said, document)
    except (CannotTellError, ArithmeticError, LookupError, TypeError, ValueError) as why:
        return "FALSE", f"{said} ({type(why).__name__}: {why})"
    if not true:
        return "FALSE", said
    made: Any = ReleaseCertificate(document) if document["format"] == checker.RELEASE else nw.Certificate(document)
    try:
        found = verify(made)
    except (CertificateError, NoisewrightError) as why:
        return "refused", str(why)
    reading = str(found.facts.get("reading", ""))
    return ("true" if odds_hold(reading, document) else "FALSE"), f"{said} {reading}"


def odds_hold(reading: str, document: Document) -> bool:
    """Whether the odds and the belief in a reading are not below e^epsilon and what follows from it."""
    factor = re.search(r"factor of at most (e\^)?([0-9.e]+[0-9])", reading)
    if factor is None:
        return True
    with localcontext() as context:
        context.prec = 60
        epsilon = Fraction(document["claim"]["epsilon"])
        real = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        odds = Decimal(factor[2]) if not factor[1] else Decimal(factor[2]).exp()
        belief = re.search(r"can become at most ([0-9.]+) %", reading)
        true = 100 / (1 + (-real).exp())
        return odds >= real.exp() * (1 - Decimal("1e-50")) and (
            belief is None or Decimal(belief[1]) >= true * (1 - Decimal("1e-50"))
        )


def forge(count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """So many forgeries: how many were refused, were true, were false; and the false ones."""
    rng, outcomes, false = random.Random(seed), Counter[str](), []
    documents = honest()
    for turn in range(count):
        if turn % 50 == 49:
            outcome, said = _lock(rng)
        else:
            document = documents[turn % len(documents)]
            made = mutated(document, rng)
            outcome, said = judged(made)
        outcomes[outcome] += 1
        if outcome == "FALSE":
            false.append(f"{turn}: {said} {json.dumps(made)[:1500]}")
    return outcomes, false


def _lock(rng: random.Random) -> tuple[str, str]:
    """A lock with a digest that fits, in a folder that a ledger recorded: the seal of the ledger does not fit."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "recorded"
        shutil.copytree(KEPT / "release" / "recorded", folder)
        shutil.copy(KEPT / "release" / "ledger.sqlite", place)
        text = (folder / "policy.lock").read_text()
        before = json.loads(text)
        made = copy.deepcopy(before)
        places = [path for path in paths(made) if path[-1] not in ("digest", "seal")]
        *way, last = rng.choice(places)
        inside = made
        for key in way:
            inside = inside[key]
        change(inside, last, rng)
        if json.dumps(made, sort_keys=True) == json.dumps(before, sort_keys=True):
            return "true", "nothing changed"
        made["digest"] = checker.digest({key: value for key, value in made.items() if key not in ("digest", "seal")})
        (folder / "policy.lock").write_text(json.dumps(made))
        try:
            problems = verify_folder(folder, Ledger(Path(place) / "ledger.sqlite")).problems
        except NoisewrightError as why:
            problems = (str(why),)
        return ("refused" if problems else "FALSE"), " ".join(problems) or f"a lock: {way} {last}"
