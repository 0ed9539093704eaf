#!/usr/bin/env python3
"""Re-proves a Noisewright certificate. Standard library only; run it alone:  python checker.py FILE...

A certificate claims: whatever the output, its probabilities under two secrets x and x' differ by a factor of at most
e^(epsilon * d(x, x')), where d is the stated distance. This program believes nothing in the file but the claim and the
integers that are drawn from, and proves the one from the other with integers alone. The kinds of proof in this file:

  table     output y has probability table[x][y] / 2^width. Proved: every row sums to 2^width, and for every two secrets and
            every output  table[x][y] <= L * table[x'][y],  L being a fraction below e^(epsilon d).
  response  as a table whose diagonal entries are all `keep` and all others `other`; d is one distance for every pair.
  chances   output y happens in table[x][y] of `total` equally likely cases, as with dice and cards; one distance for every pair.
  law       discrete Laplace noise, added to a number that was rounded to whole steps; perhaps clamped. Proved: the loss for
            one step, or for neighbours, which are at distance at most 1.
  weights   output y has probability w(x, y) / sum of w(x, y') over all outputs y', w being whole numbers from `least` to `most`,
            whatever x and y are. Proved: most^2 <= L * least^2, since the numerator and the sum differ by most / least at most.
  constant  the output does not depend on the secret; nothing is left to prove.

To judge one certificate read prove, check_fields, then
  for a table               check_table, compare, pairs, exp_below, and check_distances: does the metric's name fit the distances?
  for a response, constant  check_response or check_constant, exp_below, check_distances
  for chances, weights      check_chances or check_weights, exp_below, check_distances
  for a law                 check_law, allowance, check_step: does the metric's name fit the step?
and the readers of numbers and names at the end. All other noise is proved in checker_noise.py, choices of words by the distance
of their vectors in checker_words.py, and what is made of parts, a product or a whole release, in checker_release.py, with the
fields of oracles. Each must lie beside this file when it is needed,
is looked for only then, and must be the very file that belongs to this one, by its SHA-256. Nothing else comes from that folder.

Names are read exactly or not at all: what is said is put together from what was proved. A name that is not read is in quotation
marks. A field that this program does not know is refused. No comparison has a tolerance; numbers are said as they are, or rounded
so that less is claimed.

The only analysis used is e^z = 1 + z + z^2/2! + ..., where a cut is below e^z if z >= 0 and misses at most the first term left
out if -1 <= z < 0, and e^z = (e^(z/2))^2. Every bound is a whole number that errs to one known side whatever the precision.
"""

import sys

if __name__ == "__main__":  # before anything else is imported: no module comes from the folder that this file lies in
    if not sys.flags.isolated and not getattr(sys.flags, "safe_path", False):
        del sys.path[:1]
    sys.path[:] = [p for p in sys.path if p.rstrip("/\\") not in ("", ".", __file__.rpartition("/")[0] or ".")]

import functools
import hashlib
import json
import math
import re
from collections.abc import Iterator
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from itertools import combinations, permutations
from types import ModuleType
from typing import Any

FORMAT = "noisewright-certificate"
VERSION = 1
CLAIM = {"epsilon", "delta", "metric", "distances"}
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*|(\.[0-9]+)?(e[+-]?[0-9]{1,3})?)")
LATTICE = " between points of the lattice 2^"
DEGREES = r"-?[0-9]{1,3}(\.[0-9]{1,17})?(e-[0-9]{2})?"
BASE = re.compile(
    rf"discrete|hamming|(line|euclidean|manhattan|metres around \({DEGREES}, {DEGREES}\))"
    rf"({re.escape(LATTICE)}(0|-?[1-9][0-9]{{0,3}}))?|(largest|sum) of [1-9][0-9]{{0,17}} differences"
    r"|((matched|aligned) )?euclidean between word vectors \(sha256 [0-9a-f]{12}\)"
)
PLAIN = ("discrete", "hamming", "line", "euclidean", "manhattan")
RELEASED, SIMULATED = "system seed, AES-256-CTR", "numpy generator: simulation, not for release"
LONGEST, MOST_WORK = 1 << 28, 1 << 32  # characters of a file; words that are compared with each other
SECOND_FILE = "checker_noise.py"
RELEASE_FILE = "checker_release.py"
WORDS_FILE = "checker_words.py"
BESIDE = {  # the SHA-256 of these very files; `python -m tools.seal_checker` writes it
    SECOND_FILE: "546b3b19332e0031adf5139ec7548e30b5ac7401cfd203291e1f69f995ee1b86",
    RELEASE_FILE: "27663d0f79a7e21496fcad6ebdcdbe33c2de497fcef6c360c5a5d5f201c336f4",
    WORDS_FILE: "8bbb0ec06c166d84bbd84561a5343b76fd7465db523b18c64f4d11274f49c896",
}
RELEASE = "noisewright-release"


HEAD = {
    "format",
    "version",
    "made_by",
    "mechanism",
    "claim",
    "proof",
    "numerics",
    "randomness",
    "digest",
    "resources",
    "seed",
    "count",
}
FIELDS = {  # of a certificate beside those, and of its proof, by the kind of it
    "table": ("inputs outputs change about oracle", "width precision table"),
    "response": ("inputs answers about oracle", "size width precision keep other"),
    "chances": ("inputs outputs about oracle", "total precision table"),
    "weights": ("", "least most precision"),
    "constant": ("", "outputs"),
    "discrete laplace": (
        "step within answers outside scope snapped_to secrets lattice sensitivity",
        "law scale clamp coordinates norm",
    ),
    "discrete gaussian": ("step outside snapped_to", "law sigma stride"),
    "staircase": ("step outside snapped_to", "law rate width first"),
    "exponential choice": ("", "law rate candidates"),
    "planar": ("outside", "rate around"),
    "ranged": ("step within answers outside scope snapped_to", "rate ranges inputs reach precision"),
    "half line": ("step within answers outside scope snapped_to", "tail near precision"),
    "words": ("", "beta cap width step words weights slope eta"),
    "product": ("in_the_clear measured hashing", "parts"),
}
SHAPES = {  # and the fields of distances
    "line": {"places"},
    "table": {"distances"},
    "product": set(),
    "words": set(),
    "uniform": {"distance"},
    "steps": {"distance"},
    "adjacent": {"distance"},
}
NAMES = {  # mechanisms that prove themselves so; a name that is in no line is anybody's
    "table": "exponential explicit-fair metric-realising unary-encoding optimal",
    "response": "randomised-response hadamard-response local-hashing optimal",
    "chances": "subset-selection",
    "constant": "uniform",
    "discrete laplace": "geometric laplace snapped-laplace truncated-laplace approximate-laplace product-laplace curve optimal",
    "discrete gaussian": "gaussian",
    "staircase": "staircase",
    "exponential choice": "selection",
    "planar": "planar-laplace planar-geometric geo-laplace",
    "ranged": "laplace",
    "half line": "laplace",
    "words": "exact-words truncated-exponential-words",
    "product": "lshrr hashed-sets",
}
ORACLES = ("unary-encoding", "hadamard-response", "local-hashing", "subset-selection")


class NotProved(Exception):
    """The certificate does not prove its claim; the message says where."""


def check(document: Any) -> str:
    """Prove the claim of a certificate (a dict as read from JSON) and return it in words, or raise NotProved."""
    try:
        if isinstance(document, dict) and document.get("format") == RELEASE:
            return str(file_beside(RELEASE_FILE).check_release(document))
        beware = "; a simulation with a known seed: NOT FOR RELEASE"
        claim = "".join(prove(document)) + public_of(document)
        return claim + (beware if simulated(document["randomness"]) else "")
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, MemoryError, RecursionError) as why:
        said = "".join(c for c in str(why)[:80] if c.isprintable())
        raise NotProved(f"the file is incomplete or malformed ({type(why).__name__}: {said}).") from None


def prove(document: Any) -> "tuple[str, str]":
    """What is proved, and between which secrets only, if not between all that the metric is about."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise NotProved("this is not a Noisewright certificate.")
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise NotProved(f"this checker reads version {VERSION}, the file says {document.get('version')!r:.40}.")
    if document.get("digest") != digest(document):
        raise NotProved("the file was changed or cut after it was written: its digest does not match its content.")
    if document.get("numerics") != "exact":
        raise NotProved("floating: a theorem holds for real numbers, but nothing is proved about the floats drawn.")
    for name in ("made_by", "mechanism", "randomness"):
        if not is_text(document[name]):
            raise NotProved(f"the field {name} is not a short text in one line.")
    if "count" in document:
        raise NotProved("a count is for the parts of a product.")
    document = restated(document)
    product = document["proof"]["kind"] == "product"
    more, only = file_beside(RELEASE_FILE).check_product(document) if product else check_claim(document)
    claim = document["claim"]
    metric, delta = metric_in_words(claim["metric"]), number(claim["delta"])
    adjacent = claim["distances"]["shape"] == "adjacent"
    per = f"between neighbours ({metric} at most 1)" if adjacent else f"per unit of {metric}"
    extra = f", delta = {rounded(delta)}" if delta else ""
    return f"epsilon = {rounded(number(claim['epsilon']))} {per}{extra}{more}", only


def restated(document: Any) -> Any:
    """The same, with an exact factor in the name of its metric: where that was long, earlier versions wrote the float below it.

    The step of the noise gives the exact factor, and the next float above is one that claims less. Whatever it is, it is in what
    is proved, and in what is said.
    """
    claim = document["claim"]
    metric, distances = claim["metric"], claim["distances"]
    head, star, base = metric.partition(" * ") if type(metric) is str else ("", "", "")
    if not star or not BASE.fullmatch(base) or not re.fullmatch("[0-9]+(\\.[0-9]+|(\\.[0-9]+)?e[+-][0-9]{2,3})", head):
        return document
    above = math.nextafter(float(head), math.inf)
    exact = Fraction(above)
    if distances["shape"] in ("steps", "adjacent"):
        power = base.partition(LATTICE)[2]
        exact = number(distances["distance"]) / (
            number(document["step"]) if "step" in document else Fraction(2) ** int(power or 0)
        )
    if not Fraction(float(head)) <= exact <= Fraction(above):
        raise NotProved("the factor of the metric is not the float below the one that the distances are about.")
    return {**document, "claim": {**claim, "metric": f"{exact} * {base}"}}


def check_claim(document: Any) -> "tuple[str, str]":
    """Prove a claim by any proof but a product. The result: what else is proved, and between which secrets only."""
    claim, proof = document["claim"], document["proof"]
    distances, metric, kind = claim["distances"], claim["metric"], proof["kind"]
    epsilon, delta, shape = *budget_of(claim), distances["shape"]
    if kind != "planar" and not set(claim) <= CLAIM:
        raise NotProved("it claims more than an epsilon, a delta, a metric and distances; a level is for planes only.")
    check_fields(document)
    if kind == "words":
        return "", str(file_beside(WORDS_FILE).check_words(epsilon, document))

    kinds = {"table": check_table, "law": check_law, "weights": check_weights, "constant": check_constant}
    other_law = kind == "law" and (proof["law"] != "discrete laplace" or "norm" in proof)
    sizes, names, more, only = (0, 0), ["line", "manhattan"] if shape == "steps" else ["line"], "", ""
    if kind in ("response", "chances"):
        sizes = (check_response if kind == "response" else check_chances)(epsilon, delta, distances, proof)
    elif delta or other_law or kind in ("planar", "ranged", "half line"):
        names, more, only = file_beside(SECOND_FILE).check_noise(epsilon, delta, document)
    else:
        sizes = kinds[kind](epsilon, distances, proof)

    factor, base = unit_of(metric)
    labels = [labels_of(document.get(name), size) for name, size in zip(("inputs", "outputs"), sizes)]
    if shape in ("steps", "adjacent"):
        steps, points = check_step(factor, base, names, distances, kind)
        check_stated(document, factor)
        return steps + more, points + only
    if "answers" in document:
        check_answers(document["answers"], sizes[1])
    return more, check_distances(factor, base, distances, labels[0])


def budget_of(claim: Any) -> tuple[Fraction, Fraction]:
    epsilon, delta = number(claim["epsilon"]), number(claim["delta"])
    if not 0 <= epsilon < 10**308 or not 0 <= delta < 1:
        raise NotProved("this checker proves claims with epsilon >= 0 and delta from 0 to below 1 only.")
    return epsilon, delta


def simulated(randomness: Any) -> bool:
    """Whether these words say that the draws are not for release."""
    return bool(re.search("simulation|not for release", str(randomness).lower()))


def public_of(document: Any) -> str:
    """The public files and the public seed that the draw uses, as the certificate states them; no file is looked at here."""
    uses = []
    for file in document.get("resources", []):
        name = file["name"]
        if (
            not is_text(name)
            or len(name) > 255
            or not re.fullmatch("[0-9a-f]{64}", file["sha256"])
            or whole(file["bytes"]) < 0
            or len(file) != 3
        ):
            raise NotProved("a public file is not stated by a short name, a SHA-256 and a number of bytes.")
        uses.append(f"the public file {name!r} (sha256 {file['sha256'][:12]}...)")
    if "seed" in document:
        if not re.fullmatch("[0-9a-f]{64}", document["seed"]):
            raise NotProved("the public seed is not stated in 64 hexadecimal digits.")
        uses.append(f"the public seed {document['seed'][:12]}...")
    return f"; uses {' and '.join(uses)}, as stated" if uses else ""


# Fields -------------------------------------------------------------------------------------------------------------------


def check_fields(document: Any) -> None:
    """That a certificate, or a part of a product, has the fields of its kind and no others, each of the shape it should have."""
    claim, proof, name = document["claim"], document["proof"], document["mechanism"]
    kind = proof["law"] if proof["kind"] == "law" else proof["kind"]
    if type(kind) is not str or kind not in FIELDS:
        raise NotProved(
            f"unknown law {kind!r:.40}." if proof["kind"] == "law" else f"unknown kind of proof {kind!r:.40}."
        )
    more, inside = (set(names.split()) for names in FIELDS[kind])
    if type(shape := claim["distances"]["shape"]) is not str or shape not in SHAPES:
        raise NotProved(f"unknown shape of distances {shape!r:.40}.")
    known = ((document, HEAD | more), (proof, inside | {"kind"}), (claim["distances"], {"shape", *SHAPES[shape]}))
    strange = sorted(field for part, fields in known for field in set(part) - fields)
    if strange:
        raise NotProved(f"this checker does not know the field {strange[0]!r:.40} of such a certificate.")
    if not is_text(name) or any(name in names.split() for names in NAMES.values()) > (
        name in NAMES.get(kind, "").split()
    ):
        raise NotProved(f"the mechanism {name!r:.40} does not prove itself by a {kind}.")
    if ("oracle" in document or "about" in document) or name in ORACLES:
        file_beside(RELEASE_FILE).check_oracle(document)
    change = document.get("change", 0.0)
    if (
        document.get("outside", "refuse") not in ("refuse", "clamp", "keep")
        or type(change) is not float
        or not 0 <= change <= 1
    ):
        raise NotProved("what is done to values outside, or the change of the table, is not stated properly.")
    if "snapped_to" in document and document["snapped_to"] is not None:
        ends_of(document["snapped_to"])
    clamp, count = proof.get("clamp"), proof.get("coordinates", 1)
    if clamp is not None and (len(clamp) != 2 or whole(clamp[0]) > whole(clamp[1])):
        raise NotProved("the ends of the range are not two whole numbers in order.")
    line = unit_of(claim["metric"])[1].partition(LATTICE)[0] == "line"
    if "norm" not in proof and not 1 <= whole(count) <= (1 if line else count):
        raise NotProved("a proof of so many coordinates says nothing about the metric 'line'; it has one.")


def check_stated(document: Any, factor: Fraction) -> None:
    """That what is stated beside a proof in steps says the same as the proof: the step, the scope, names of secrets."""
    claim, proof = document["claim"], document["proof"]
    distance, adjacent = number(claim["distances"]["distance"]), claim["distances"]["shape"] == "adjacent"
    step = number(document.get("step", str(distance / factor)))
    power = re.fullmatch("multiples of 2\\^(0|-?[1-9][0-9]{0,3})", document.get("lattice", "multiples of 2^0"))
    size = number(document.get("sensitivity", str(1 / factor)))
    wrong = step != distance / factor or size * factor != 1 or power is None
    if wrong or ("lattice" in document and power and Fraction(2) ** int(power[1]) != distance / factor):
        raise NotProved("the step of the lattice is not the one that the distances are about.")
    if document.get("scope", "adjacent" if adjacent else "metric") != ("adjacent" if adjacent else "metric"):
        raise NotProved("the scope that is stated is not that of the claim.")
    if proof["kind"] == "law" and "within" in document:
        if any(ends_of(document[name]) != [[None, None]] for name in ("within", "answers")):
            raise NotProved("a law without ranges is about all numbers, not about those between ends.")
    elif proof["kind"] == "law" and {"answers", "secrets"} & set(document):
        low, high = proof["clamp"]
        check_answers(document["answers"], high + 1)
        secrets = [value_of(label) for label in document.get("secrets", [])]
        apart = [(after - before) * factor for before, after in zip(secrets, secrets[1:])]
        ordered = not secrets or (len(secrets) == high + 1 and (min(apart) >= distance or max(apart) <= -distance))
        if low != 0 or not ordered:
            raise NotProved("the secrets are not as far apart as the steps that the claim is about.")


def check_answers(answers: Any, size: int) -> None:
    """Pairs of an output and the answer from that one on: outputs rise from 0."""
    starts = [whole(start) for start, _ in answers]
    if starts[:1] != [0] or starts != sorted(set(starts)) or starts[-1] >= size:
        raise NotProved("the answers to outputs are not listed in the order of outputs.")
    for _, label in answers:
        value_of(label)


def ends_of(stated: Any) -> "list[list[Fraction | None]]":
    """Intervals in rising order; None is an end at infinity, and only the outermost ends may be."""
    ends = [[None if end is None else number(end) for end in pair] for pair in stated]
    inner = [end for pair in ends for end in pair][1:-1] if ends else [None]
    known = [end for pair in ends for end in pair if end is not None]
    if any(len(pair) != 2 for pair in ends) or None in inner or known != sorted(known):
        raise NotProved("the ends of a set are not in order.")
    return ends


# The kinds of proof; each returns how many inputs and outputs there are to label ------------------------------------------


def check_table(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    width, precision = bits_of(proof["width"], 0, 1 << 20), bits_of(proof["precision"], 64, 1 << 17)
    rows = rows_of(proof, hexadecimal)
    for x, row in enumerate(rows):
        if sum(row) != 1 << width:
            raise NotProved(f"row {x} of the table does not sum to 2^{width}.")
    if distances["shape"] == "uniform":  # the largest entry of a column against the smallest covers every pair
        columns = list(zip(*rows))
        limit = exp_below(epsilon * length_of(distances), precision)
        compare(list(map(max, columns)), list(map(min, columns)), limit, precision, "two rows")
    else:
        every = list(pairs(distances, len(rows)))
        work = len(every) * len(rows[0]) * (1 + (width + precision) // 64)
        if work > MOST_WORK or (precision > 1024 and len({d for _, _, d in every}) * precision**2 > 1 << 35):
            raise NotProved("so many distances at such a precision would take too long.")
        for x, other, distance in every:
            if distance is not None:
                limit = exp_below(epsilon * distance, precision)
                compare(rows[x], rows[other], limit, precision, f"rows {x} and {other}")
    return len(rows), len(rows[0])


def check_response(epsilon: Fraction, delta: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    """Two rows differ at two outputs only, and each row is the larger one at one of them: delta may be used once."""
    width, precision = bits_of(proof["width"], 0, 1 << 20), bits_of(proof["precision"], 64, 1 << 17)
    size, keep, other = whole(proof["size"]), hexadecimal(proof["keep"]), hexadecimal(proof["other"])
    if size < 2 or keep + (size - 1) * other != 1 << width:
        raise NotProved(f"keep + (size - 1) * other is not 2^{width}.")
    if distances["shape"] != "uniform":
        raise NotProved("a response needs one distance for every pair.")
    allowed = exp_below(epsilon * length_of(distances), precision) * min(keep, other) + delta * 2 ** (width + precision)
    if max(keep, other) << precision > allowed:
        raise NotProved("the promise is broken between two rows at the output that is likelier in one of them.")
    return size, size


def check_chances(epsilon: Fraction, delta: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    """What a row has beyond e^(epsilon d) times another, added up over the outputs, is the most that any event has: delta."""
    total, precision = whole(proof["total"]), bits_of(proof["precision"], 64, 1 << 17)
    rows = rows_of(proof, whole)
    if total < 1 or any(min(row) < 0 or sum(row) != total for row in rows):
        raise NotProved("the cases of a row do not sum to the total, or some are negative, or there are none.")
    if distances["shape"] != "uniform" or len(rows) ** 2 * len(rows[0]) * precision > 1 << 32:
        raise NotProved("chances need one distance for every pair, and few enough pairs to look at each.")
    limit, allowed = exp_below(epsilon * length_of(distances), precision), delta * total * 2**precision
    for (x, here), (other, there) in permutations(enumerate(rows), 2):
        if sum(max((a << precision) - limit * b, 0) for a, b in zip(here, there)) > allowed:
            raise NotProved(f"the promise is broken between rows {x} and {other}.")
    return len(rows), len(rows[0])


def rows_of(proof: Any, read_entry: Any) -> "list[list[int]]":
    """The rows of a table. One row alone would prove nothing about anything."""
    rows = [[read_entry(entry) for entry in row] for row in proof["table"]]
    if len(rows) < 2 or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise NotProved(
            "the table has rows of different lengths, or fewer than two, between which nothing is promised."
        )
    return rows


def compare(here: "list[int]", there: "list[int]", limit: int, precision: int, rows: str) -> None:
    for y, (a, b) in enumerate(zip(here, there)):
        if max(a, b) << precision > limit * min(a, b):
            raise NotProved(f"the promise is broken between {rows} at output {y}.")


def check_weights(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    """A choice by weights within bounds. Nothing else about them is believed: not what they are computed from, nor how."""
    least, most, precision = whole(proof["least"]), whole(proof["most"]), bits_of(proof["precision"], 64, 1 << 17)
    if distances["shape"] != "uniform" or not 0 < least <= most:
        raise NotProved("weights need one distance for every pair, and bounds above 0 in order.")
    if most**2 << precision > exp_below(epsilon * length_of(distances), precision) * least**2:
        raise NotProved("the weights differ by too much for the claim.")
    return None, None


def check_constant(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    """Two equal distributions: any epsilon from 0 on."""
    if distances["shape"] != "uniform" or whole(proof["outputs"]) < 1:
        raise NotProved("a constant needs one distance for every pair, and outputs.")
    return None, whole(proof["outputs"])


def check_law(epsilon: Fraction, distances: Any, proof: Any) -> tuple[Any, Any]:
    """P(k) ~ e^(-|k|/scale): a step changes the exponent by at most 1/scale. Losses of several coordinates add up, and so do
    Manhattan distances."""
    steps, allowed = allowance(epsilon, distances)
    scale = number(proof["scale"])
    if scale <= 0 or allowed * scale < steps:
        raise NotProved("the scale of the noise is too small for the claim.")
    return 0, 0


def allowance(epsilon: Fraction, distances: Any) -> tuple[int, Fraction]:
    """So many steps are allowed so much: one step its distance, or as many as part neighbours all of epsilon."""
    if distances["shape"] == "steps":
        return 1, epsilon * length_of(distances)
    if distances["shape"] == "adjacent":
        return neighbouring_steps(distances), epsilon
    raise NotProved(f"a law needs distances in steps, not {distances['shape']!r:.40}.")


# A bound of e^x -----------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1 << 14)
def exp_below(exponent: Fraction, precision: int) -> int:
    """An integer at most e^exponent * 2^precision: the series for a small part of the exponent, squared many times."""
    if exponent < -precision:
        return 0
    exponent = min(exponent, Fraction(precision))  # a smaller exponent is still below, and keeps the number short
    halvings = int(abs(exponent)).bit_length() + 4 + math.isqrt(precision)
    work = precision + 2 * halvings + 32
    argument = (exponent.numerator << work) // (exponent.denominator << halvings)
    total, term, order = 0, 1 << work, 0
    while term:
        total, order = total + term, order + 1
        term = (term * argument // order) >> work
    if exponent < 0:  # terms of both signs, each rounded by less than three units; the rest is below three more
        total -= 3 * order + 3
    for _ in range(halvings):
        total = total * total >> work
    return total >> (work - precision)


# What the claim is about --------------------------------------------------------------------------------------------------


def unit_of(metric: Any) -> "tuple[Fraction, str]":
    """The factor and the base of a name such as "1/5 * line"; the base is empty where the name is not one that is read.

    A name is read as a whole and to the letter, or not at all. One that only looks like such a name is refused.
    """
    if type(metric) is not str or not metric.isascii() or not metric.isprintable() or not 0 < len(metric) <= 5000:
        raise NotProved("the name of the metric is not a short text of printable ASCII.")
    head, star, base = metric.partition(" * ")
    head, base = (head, base) if star else ("1", metric)
    if BASE.fullmatch(base) and NUMBER.fullmatch(head):
        if (factor := number(head)) <= 0:
            raise NotProved("the factor of a metric must be above 0.")
        return factor, base
    bare = re.sub("[^a-z]", "", metric.lower())
    if bare in PLAIN or re.match(
        "metresaround|.*between(pointsofthelattice|wordvectors)|(largest|sum)ofdifferences", bare
    ):
        raise NotProved(f"the metric is called {metric!r:.100}, which only looks like a name that this checker reads.")
    return Fraction(1), ""


def metric_in_words(metric: Any) -> str:
    """What was read of a name, said again: a long factor is rounded up, which claims less. What was not is in quotation marks."""
    factor, base = unit_of(metric)
    if not base:
        return repr(metric)
    return base if factor == 1 else f"{str(factor) if len(str(factor)) <= 40 else rounded(factor, digits=12)} * {base}"


def check_step(factor: Fraction, base: str, names: "list[str]", distances: Any, kind: str) -> "tuple[str, str]":
    """Noise in steps has no labels: the size of a step, in units of the base, is part of the claim.

    The name says it where secrets are rounded to a lattice first and distances are those after it. Otherwise it is said here:
    as a fact where secrets may lie between the steps (neighbours; the random rounding of a half line), or else as a limit of
    the claim, and only a law in steps of 1, which is about whole numbers, goes without saying.
    """
    plain, rounding, power = base.partition(LATTICE)
    if plain not in names or (rounding and distances["shape"] != "steps"):
        raise NotProved(f"a proof of this kind says nothing about the metric {base!r}.")
    step = number(distances["distance"]) / factor
    if rounding and step != Fraction(2) ** int(power):
        raise NotProved("the lattice in the name of the metric is not the one that the noise lives on.")
    between = distances["shape"] == "adjacent" or kind == "half line"
    if rounding or (step == 1 and (between or kind == "law")):
        return "", ""
    return (f", in steps of {step}", "") if between else ("", f", between points in steps of {step}")


def check_distances(factor: Fraction, base: str, distances: Any, labels: "list[Any] | None") -> str:
    """That no distance is larger than the named metric's between the labels, or a note that the name does not say.

    A smaller distance only makes the promise stronger. Between rows that are infinitely far apart nothing is promised.
    """
    values = distances.get("distances", [])
    endless = (
        f", nothing between {values.count('inf')} of {len(values)} pairs, infinitely far apart"
        if "inf" in values
        else ""
    )
    if base == "discrete":  # one unit between any two rows, whatever their labels
        if (most := farthest(distances)) is None or most > factor:
            raise NotProved("the distances are larger than those of the discrete metric.")
        return ""
    if not base:
        return f"; distances as stated in the file{endless}"
    if base not in PLAIN or labels is None:
        raise NotProved(
            f"distances of the metric {base!r:.60} are compared with labels that it fits, and there are none."
        )
    if base == "hamming":
        return check_hamming(factor, distances, labels)
    points = [coordinates(label) for label in labels]
    if any(len(point) != (1 if base == "line" else len(points[0])) for point in points):
        raise NotProved("the labels do not have as many coordinates as the metric needs, or not all as many.")
    compared = pairs(distances, len(points))
    if distances["shape"] == "line":
        if base != "line":
            raise NotProved(f"places on a line are not distances of the {base} metric.")
        # Neighbours among the labels: their distances add up to those of the others, and differences of places to no less.
        places = [number(place) for place in distances["places"]]
        order = sorted(range(len(points)), key=points.__getitem__)
        compared = ((x, other, abs(places[x] - places[other])) for x, other in zip(order, order[1:]))
    for x, other, distance in compared:
        if distance is None or distance**2 > factor**2 * apart_squared(base, points[x], points[other]):
            raise NotProved(f"rows {x} and {other} are nearer in the {base} metric than the file says.")
    return ""


def check_hamming(factor: Fraction, distances: Any, labels: "list[Any]") -> str:
    """The number of places in which two tuples, or two texts, of one length differ."""
    if any(
        type(label) is not type(labels[0]) or not isinstance(label, (str, tuple)) or len(label) != len(labels[0])
        for label in labels
    ):
        raise NotProved("the labels are not tuples or texts of one length, as the hamming metric needs.")
    every = combinations(range(len(labels)), 2)
    if distances["shape"] == "table":
        compared = pairs(distances, len(labels))
    elif (most := farthest(distances)) is None or distances["shape"] == "line":
        raise NotProved("places on a line are not distances of the hamming metric.")
    else:
        compared = ((x, other, most) for x, other in every)
    for x, other, distance in compared:
        if distance is None or distance > factor * sum(i != j for i, j in zip(labels[x], labels[other])):
            raise NotProved(f"rows {x} and {other} are nearer in the hamming metric than the file says.")
    return ""


def apart_squared(base: str, here: Any, there: Any) -> Any:
    """The square of the distance between two points, or two labels for hamming: a rational number, as they are."""
    if base == "hamming":
        return sum(i != j for i, j in zip(here, there)) ** 2
    apart = [abs(i - j) for i, j in zip(here, there)]
    return sum(apart) ** 2 if base == "manhattan" else sum(a * a for a in apart)


def farthest(distances: Any) -> "Fraction | None":
    """The largest distance between two rows; None if it is infinite."""
    if distances["shape"] == "line":
        places = [number(place) for place in distances["places"]]
        return max(places) - min(places)
    if distances["shape"] != "table":
        return length_of(distances)
    values = distances["distances"]
    return None if "inf" in values else max((length_of({"distance": value}) for value in values), default=Fraction(0))


def pairs(distances: Any, size: int) -> "Iterator[tuple[int, int, Fraction | None]]":
    """Pairs (x, x', distance) whose losses imply all others; the distance None is infinite."""
    if distances["shape"] == "line":  # distances on a line add up, so neighbours suffice
        places = [number(place) for place in distances["places"]]
        if len(places) != size:
            raise NotProved("there must be one place for each row.")
        order = sorted(range(size), key=places.__getitem__)
        for x, other in zip(order, order[1:]):
            yield x, other, places[other] - places[x]
    elif distances["shape"] == "table":  # the part above the diagonal, row by row
        values = distances["distances"]
        if len(values) != size * (size - 1) // 2:
            raise NotProved("there must be one distance for each pair of rows.")
        for (x, other), value in zip(combinations(range(size), 2), values):
            yield x, other, None if value == "inf" else length_of({"distance": value})
    else:
        raise NotProved(f"unknown shape of distances {distances['shape']!r:.40}, or one that does not fit.")


def labels_of(labels: Any, size: "int | None") -> "list[Any] | None":
    """The labels as exact numbers, texts and tuples of those: one for each row or column, no two alike.

    A text that spells what is no text, as "1" does 1 and "true" does true, is alike to it.
    """
    if labels is None:
        return None
    found = [value_of(label) for label in labels] if isinstance(labels, list) else []
    kinds = {spelt(label): kind_of(label) for label in found}
    alike = any(kinds[spelt(label)] != kind_of(label) for label in found)
    if not found or alike or len(set(found)) < len(found) or size not in (None, len(found)):
        raise NotProved("there must be one label for each row and each column, and no two alike.")
    return found


def spelt(label: Any) -> Any:
    """What a label looks like, whatever it is."""
    if isinstance(label, (tuple, Fraction)):
        return tuple(map(spelt, label)) if isinstance(label, tuple) else label
    text = str(label).strip().lower().replace("null", "none")
    return Fraction(text) if len(text) <= 4000 and NUMBER.fullmatch(text) else text


def kind_of(label: Any) -> Any:
    return tuple(map(kind_of, label)) if isinstance(label, tuple) else type(label)


def value_of(label: Any) -> Any:
    if isinstance(label, dict):
        if list(label) == ["tuple"] and isinstance(label["tuple"], list):
            return tuple(map(value_of, label["tuple"]))
        if list(label) == ["fraction"] and type(label["fraction"]) is str:
            return number(label["fraction"])
        raise NotProved("a label is neither a number, a text nor a tuple of those.")
    if label is None or type(label) in (str, bool):
        return label
    if type(label) not in (int, float):
        raise NotProved("a label is neither a number, a text nor a tuple of those.")
    return Fraction(label)


def coordinates(label: Any) -> "list[Any]":
    found = list(label) if isinstance(label, tuple) else [label]
    if not all(isinstance(value, Fraction) for value in found):
        raise NotProved("the labels are not numbers or tuples of numbers, as the metric needs.")
    return found


def length_of(distances: Any) -> Fraction:
    """The one distance of a claim, or of one step."""
    if (distance := number(distances["distance"])) < 0:
        raise NotProved("a distance is negative.")
    return distance


def neighbouring_steps(distances: Any) -> int:
    """Numbers at distance at most 1 are at most this many steps apart when both are rounded to steps of that distance."""
    if (step := length_of(distances)) == 0:
        raise NotProved("the distance of one step must be above 0.")
    return -(-1 // step)


# Reading and writing ------------------------------------------------------------------------------------------------------


def number(value: Any) -> Fraction:
    """A whole number, or a text such as "1/3", "0.1" or "1e-9": short, so that no file makes this program run for ever."""
    if type(value) is int and abs(value) < 1 << 1024:
        return Fraction(value)
    if type(value) is str and len(value) <= 4000 and NUMBER.fullmatch(value):
        return Fraction(value)
    raise NotProved(f"the file is incomplete or malformed: {value!r:.40} is not a number like 1, 1/3 or 0.1.")


def whole(value: Any) -> int:
    if type(value) is int and abs(value) < 1 << 128:
        return value
    raise NotProved(f"the file is incomplete or malformed: {value!r:.40} is not a whole number below 2^128.")


def is_text(value: Any) -> bool:
    """Whether this is a short text that a terminal shows in one line."""
    return type(value) is str and 0 < len(value) <= 1000 and value.isprintable()


def hexadecimal(value: Any) -> int:
    if type(value) is str and re.fullmatch("[0-9a-f]+", value):
        return int(value, 16)
    raise NotProved(f"the file is incomplete or malformed: {value!r:.40} is not a number in hexadecimal digits.")


def bits_of(value: Any, least: int, most: int) -> int:
    if type(value) is int and least <= value <= most:
        return value
    raise NotProved(f"width and precision must be whole numbers of bits, at most {most} and here at least {least}.")


def read(text: str) -> Any:
    """The document of a JSON text. A name that occurs twice is refused, since two readers could see two claims, and so are
    numbers that are not finite or too long. Floats occur in labels only: no field of a claim or proof may be one."""
    if len(text) > LONGEST:
        raise ValueError("the file is too long.")

    def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(members)) < len(members):
            raise ValueError("a name occurs twice.")
        return dict(members)

    def finite(text: str) -> Any:
        if len(text) > 4000 or not math.isfinite(float(text)):
            raise ValueError("a number is not finite, or too long.")
        if text.startswith("-") and not float(text):
            raise ValueError("a number is minus zero.")
        return float(text) if "." in text or "e" in text.lower() else int(text)

    return json.loads(text, object_pairs_hook=once, parse_constant=finite, parse_float=finite, parse_int=finite)


def rounded(value: Fraction, way: str = ROUND_CEILING, digits: int = 6) -> str:
    """A number in six digits, rounded up (or another way); in seventeen if it is the float beyond a number of fewer digits."""
    short = f"{float(value):.{digits}g}"
    beyond = Fraction(short) < value if way == ROUND_CEILING else Fraction(short) > value
    digits = 17 if beyond and Fraction(float(short)) == value else digits
    found = Context(prec=digits, rounding=way).divide(*map(Decimal, value.as_integer_ratio()))
    return f"{found.normalize():f}"


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of everything but the digest itself, in a fixed spelling."""
    content = {key: value for key, value in document.items() if key != "digest"}
    spelled = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(spelled.encode()).hexdigest()


# The program --------------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=3)
def file_beside(name: str) -> Any:
    """A file beside this one with other kinds of proof: exactly that file, wherever Python looks for modules."""
    if __name__ == "noisewright.core.certificates.checker.checker":
        from noisewright.core.certificates.checker import checker_noise, checker_release, checker_words

        return {SECOND_FILE: checker_noise, RELEASE_FILE: checker_release, WORDS_FILE: checker_words}[name]
    path = re.sub(r"[^/\\]*$", "", __file__) + name
    module = ModuleType(name[: -len(".py")])
    sys.modules["checker"] = sys.modules[__name__]  # where it imports from: this very program, whatever it is called
    try:
        with open(path, "rb") as file:
            content = file.read()
        if hashlib.sha256(content).hexdigest() != BESIDE[name]:
            raise OSError("another file")
        exec(compile(content, path, "exec"), module.__dict__)
    except (OSError, ImportError, SyntaxError, ValueError):
        raise NotProved(
            f"a claim of this kind is proved in a second file, {name}, which must lie beside this program, as it was written "
            "with it; noisewright verify --export-checker writes both."
        ) from None
    return module


def main(paths: "list[str]") -> int:
    failed = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                print(f"{path}: proved: {check(read(file.read(LONGEST + 1)))}")
        except NotProved as problem:
            failed += 1
            print(f"{path}: NOT PROVED: {problem}")
        except (OSError, ValueError, RecursionError) as problem:
            failed += 1
            print(f"{path}: NOT PROVED: it cannot be read as JSON ({type(problem).__name__}).")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
