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

What is proved is a record of codes, exact numbers and quoted names (see prove_record). It is printed as JSON, or in English where
the phrase table, phrases.py, lies beside this file. No English is read. A field or a code that this program does not know is
refused, and no comparison has a tolerance. Certificates of version 1 state some of this in English: checker_version1.py, which
must lie beside this file for them, reads that and hands on a record of version 2.

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
from fractions import Fraction
from itertools import combinations, permutations
from types import ModuleType
from typing import Any

FORMAT = "noisewright-certificate"
VERSION = 2
CLAIM = {"epsilon", "delta", "metric", "distances", "conditions"}
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*|(\.[0-9]+)?(e[+-]?[0-9]{1,3})?)")
PLAIN = ("discrete", "hamming", "line", "euclidean", "manhattan")  # metrics without parameters
CONDITIONS = ("not-a-training-record",)  # that a claim may state itself: each makes it weaker
BASES = {  # metrics, and the fields of each; a metric that is only "called" something is not compared with anything
    **{name: set() for name in PLAIN},
    "metres": {"around"},
    "largest": {"count"},
    "sum": {"count"},
    "words": {"file"},
}
ON_LATTICE = ("line", "euclidean", "manhattan", "metres")
RELEASED, SIMULATED = "system seed, AES-256-CTR", "numpy generator: simulation, not for release"
LONGEST, MOST_WORK = 1 << 28, 1 << 32  # characters of a file; words that are compared with each other
SECOND_FILE = "checker_noise.py"
RELEASE_FILE = "checker_release.py"
WORDS_FILE = "checker_words.py"
EARLIER_FILE = "checker_version1.py"
PHRASES_FILE = "phrases.py"
BESIDE = {  # the SHA-256 of these very files; `python -m tools.seal_checker` writes it
    SECOND_FILE: "a4cbe807e7e432a0a822a2503ef5d42b0eba95c446efd119bc5c1f164ecccae0",
    RELEASE_FILE: "39aeb821d5fcde42703295d291a38b5c7eaeb2109ac7d9c582dda95650bfd5ab",
    WORDS_FILE: "03d28319ffbe0bbdea7519590b2c9e87471442a34359f9c281a4940c54873f77",
    EARLIER_FILE: "c464ced71f8f6f66e5d7fa1abb0a72dc80f4a32f33b6ff7e4ba1ed5587d07952",
    PHRASES_FILE: "6aa07d977e1b1221783f8690798f0bd601a65acec215e63fb029bf98b63678f2",
}
RELEASE = "noisewright-release"


HEAD = "format version made_by mechanism claim proof numerics randomness digest resources seed count"
FIELDS = {  # of a certificate beside those, and of its proof, by the kind of it
    "table": ("inputs outputs change oracle", "width precision table"),
    "response": ("inputs answers oracle", "size width precision keep other"),
    "chances": ("inputs outputs oracle", "total precision table"),
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
    **{shape: {"distance"} for shape in ("uniform", "steps", "adjacent")},
    **{"line": {"places"}, "table": {"distances"}, "product": set(), "words": set()},
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
    """Prove a certificate (a dict as read from JSON) and return what is proved, in words if the phrase table is here."""
    return said(prove_record(document))


def said(record: Any) -> str:
    """A record in English, or as JSON where the phrase table does not lie beside this program."""
    try:
        phrases = file_beside(PHRASES_FILE)
    except NotProved:
        return json.dumps(record)
    return "\n".join(phrases.release_lines(record)) if "parts" in record else str(phrases.line(record))


def prove_record(document: Any) -> "dict[str, Any]":
    """Prove a certificate and return the record of what is proved, or raise NotProved."""
    try:
        document = current(document)
        if isinstance(document, dict) and document.get("format") == RELEASE:
            return dict(file_beside(RELEASE_FILE).check_release(document))
        return prove(document)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, MemoryError, RecursionError) as why:
        problem = "".join(c for c in str(why)[:80] if c.isprintable())
        raise NotProved(f"the file is incomplete or malformed ({type(why).__name__}: {problem}).") from None


def current(document: Any) -> Any:
    """A certificate as one of this version: as it is, or what another file makes of one of version 1."""
    version = document.get("version") if isinstance(document, dict) else None
    return file_beside(EARLIER_FILE).upgraded(document) if version == 1 and type(version) is int else document


def prove(document: Any) -> "dict[str, Any]":
    """The claim of one mechanism, with its conditions: what else is proved, and between which secrets only."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise NotProved("this is not a Noisewright certificate.")
    if type(document.get("version")) is not int or document["version"] != VERSION:
        raise NotProved(f"this checker reads version {VERSION}, the file says {document.get('version')!r:.40}.")
    if document.get("digest") != digest(document):
        raise NotProved("the file was changed or cut after it was written: its digest does not match its content.")
    if document.get("numerics") != "exact":
        raise NotProved("floating: a theorem holds for real numbers, but nothing is proved about the floats drawn.")
    for name in ("made_by", "mechanism"):
        if not is_text(document[name]):
            raise NotProved(f"the field {name} is not a short text in one line.")
    if "count" in document:
        raise NotProved("a count is for the parts of a product.")
    product = document["proof"]["kind"] == "product"
    found = file_beside(RELEASE_FILE).check_product(document) if product else check_claim(document)
    end = [{"code": "simulation"}] if simulated(document["randomness"]) else []
    record = claim_of(document)
    return {**record, "conditions": [*found, *record["conditions"], *public_of(document), *end]}


def claim_of(document: Any) -> "dict[str, Any]":
    """The claim of a certificate as a record, with the conditions that it states itself."""
    claim, secret = document["claim"], document["claim"].get("secret")
    if claim["metric"].get("order"):
        alike = any(part["count"] is None for part in document["proof"]["parts"])
        secret = {"kind": "document", **({"same_length": True} if alike else {})}
    elif "hashing" in document:
        (part,), family = document["proof"]["parts"], document["hashing"]["family"]
        secret = {"kind": "hash", "family": family, "bits": part["count"], "answers": part["proof"]["size"]}
    return {
        "epsilon": str(number(claim["epsilon"])),
        "delta": str(number(claim["delta"])),
        "scope": "adjacent" if claim["distances"]["shape"] == "adjacent" else "metric",
        "metric": claim["metric"],
        **({"secret": secret} if secret else {}),
        "conditions": claim.get("conditions", []),
    }


def check_claim(document: Any) -> "list[dict[str, Any]]":
    """Prove a claim by any proof but a product. The result: what else is proved, and between which secrets only."""
    claim, proof = document["claim"], document["proof"]
    distances, metric, kind = claim["distances"], claim["metric"], proof["kind"]
    epsilon, delta, shape = *budget_of(claim), distances["shape"]
    if kind != "planar" and not set(claim) <= CLAIM:
        raise NotProved("it claims more than an epsilon, a delta, a metric and distances; a level is for planes only.")
    check_fields(document)
    if kind == "words":
        return list(file_beside(WORDS_FILE).check_words(epsilon, document))

    kinds = {"table": check_table, "law": check_law, "weights": check_weights, "constant": check_constant}
    other_law = kind == "law" and (proof["law"] != "discrete laplace" or "norm" in proof)
    sizes, bases, found = (0, 0), [{"base": name} for name in ("line", "manhattan")][: 1 + (shape == "steps")], []
    if kind in ("response", "chances"):
        sizes = (check_response if kind == "response" else check_chances)(epsilon, delta, distances, proof)
    elif delta or other_law or kind in ("planar", "ranged", "half line"):
        bases, found = file_beside(SECOND_FILE).check_noise(epsilon, delta, document)
    else:
        sizes = kinds[kind](epsilon, distances, proof)

    factor, base = unit_of(metric)
    labels = [labels_of(document.get(name), size) for name, size in zip(("inputs", "outputs"), sizes)]
    if shape in ("steps", "adjacent"):
        steps = check_step(factor, base, bases, distances, kind)
        check_stated(document, factor)
        return steps + found
    if "answers" in document:
        check_answers(document["answers"], sizes[1])
    return found + check_distances(factor, base, distances, labels[0])


def budget_of(claim: Any) -> tuple[Fraction, Fraction]:
    epsilon, delta, further = number(claim["epsilon"]), number(claim["delta"]), claim.get("conditions", [])
    if type(further) is not list or any(set(one) != {"code"} or one["code"] not in CONDITIONS for one in further):
        raise NotProved("the conditions of the claim are not stated as this checker knows them.")
    if not 0 <= epsilon < 10**308 or not 0 <= delta < 1:
        raise NotProved("this checker proves claims with epsilon >= 0 and delta from 0 to below 1 only.")
    return epsilon, delta


def simulated(randomness: Any) -> bool:
    """Whether draws with this randomness are not for release; lots that a person draws by hand are named."""
    lots = type(randomness) is dict and set(randomness) == {"lots"} and is_text(randomness["lots"])
    if not lots and randomness not in (RELEASED, SIMULATED):
        raise NotProved("where the random bits come from is not stated as this checker knows it.")
    return bool(randomness == SIMULATED)


def public_of(document: Any) -> "list[dict[str, Any]]":
    """The public files and the public seed that the draw uses, as the certificate states them; no file is looked at here."""
    uses = []
    for file in document.get("resources", []):
        if not (
            is_text(file["name"]) and len(file["name"]) <= 255 and is_digest(file["sha256"], 64) and len(file) == 3
        ):
            raise NotProved("a public file is not stated by a short name, a SHA-256 and a number of bytes.")
        if whole(file["bytes"]) < 0:
            raise NotProved("a public file has at least 0 bytes.")
        uses.append({"code": "public-file", "name": file["name"], "sha256": file["sha256"]})
    if "seed" in document:
        if not is_digest(document["seed"], 64):
            raise NotProved("the public seed is not stated in 64 hexadecimal digits.")
        uses.append({"code": "public-seed", "seed": document["seed"]})
    return uses


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
    known = (
        (document, more | set(HEAD.split())),
        (proof, inside | {"kind"}),
        (claim["distances"], {"shape", *SHAPES[shape]}),
    )
    strange = sorted(field for part, fields in known for field in set(part) - fields)
    if strange:
        raise NotProved(f"this checker does not know the field {strange[0]!r:.40} of such a certificate.")
    if not is_text(name) or any(name in names.split() for names in NAMES.values()) > (
        name in NAMES.get(kind, "").split()
    ):
        raise NotProved(f"the mechanism {name!r:.40} does not prove itself by a {kind}.")
    if "oracle" in document or name in ORACLES:
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
    line = unit_of(claim["metric"])[1].get("base") == "line"
    if "norm" not in proof and not 1 <= whole(count) <= (1 if line else count):
        raise NotProved("a proof of so many coordinates says nothing about the metric 'line'; it has one.")


def check_stated(document: Any, factor: Fraction) -> None:
    """That what is stated beside a proof in steps says the same as the proof: the step, the scope, names of secrets."""
    claim, proof = document["claim"], document["proof"]
    distance, adjacent = number(claim["distances"]["distance"]), claim["distances"]["shape"] == "adjacent"
    step = number(document.get("step", str(distance / factor)))
    size = number(document.get("sensitivity", str(1 / factor)))
    wrong = step != distance / factor or size * factor != 1
    if wrong or ("lattice" in document and power_of_two(document["lattice"]) != distance / factor):
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


def unit_of(metric: Any) -> "tuple[Fraction, dict[str, Any]]":
    """The factor of a metric, and its base without it; the base of a metric that is only called something is empty."""
    if type(metric) is not dict or (factor := number(metric.get("factor", "1"))) <= 0:
        raise NotProved("a metric is stated by its base, and by a factor above 0.")
    fields = set(metric) - {"factor"}
    if fields == {"called"}:
        if not is_text(metric["called"]) or not metric["called"].isascii() or factor != 1:
            raise NotProved("the name of a metric is not a short text of printable ASCII.")
        return factor, {}
    base, more = metric["base"], fields - {"base", "lattice", "order"}
    known = type(base) is str and base in BASES and more == BASES[base]
    known = known and ("lattice" not in metric or (base in ON_LATTICE and power_of_two(metric["lattice"]) > 0))
    known = known and ("order" not in metric or (base == "words" and metric["order"] in ("matched", "aligned")))
    known = known and ("count" not in metric or whole(metric["count"]) > 0)
    known = known and ("file" not in metric or is_digest(metric["file"], 12))
    if not known or ("around" in metric and not all(abs(number(d)) <= 360 for d in pair_of(metric["around"]))):
        raise NotProved("the metric is not stated as this checker knows it.")
    return factor, {name: value for name, value in metric.items() if name != "factor"}


def check_step(factor: Fraction, base: Any, bases: "list[Any]", distances: Any, kind: str) -> "list[dict[str, Any]]":
    """Noise in steps has no labels: the size of a step, in units of the base, is part of the claim.

    The metric has it where secrets are rounded to a lattice first and distances are those after it. Otherwise it is said here:
    as a fact where secrets may lie between the steps (neighbours; the random rounding of a half line), or else as a limit of
    the claim, and only a law in steps of 1, which is about integers, needs no such condition.
    """
    rounding = "lattice" in base
    if {**base, "lattice": 0} not in [{**one, "lattice": 0} for one in bases]:
        raise NotProved("a proof of this kind says nothing about the metric.")
    if rounding and distances["shape"] != "steps":
        raise NotProved("a proof between neighbours says nothing about the points of a lattice.")
    step = number(distances["distance"]) / factor
    if rounding and step != power_of_two(base["lattice"]):
        raise NotProved("the lattice of the metric is not the one that the noise is on.")
    between = distances["shape"] == "adjacent" or kind == "half line"
    if rounding or (step == 1 and (between or kind == "law")):
        return []
    return [{"code": "steps" if between else "points-in-steps", "step": str(step)}]


def check_distances(factor: Fraction, base: Any, distances: Any, labels: "list[Any] | None") -> "list[dict[str, Any]]":
    """Check that no distance is larger than the metric's between the labels; return a condition where the metric does not say.

    A smaller distance only makes the claim stronger. Between rows that are infinitely far apart nothing is claimed.
    """
    values = distances.get("distances", [])
    if base == {"base": "discrete"}:  # one unit between any two rows, whatever their labels
        if (most := farthest(distances)) is None or most > factor:
            raise NotProved("the distances are larger than those of the discrete metric.")
        return []
    if not base:
        endless = {"code": "infinitely-apart", "pairs": values.count("inf"), "of": len(values)}
        return [{"code": "stated-distances"}, *([endless] if "inf" in values else [])]
    if set(base) != {"base"} or base["base"] not in PLAIN or labels is None:
        raise NotProved(
            "distances of this metric are compared with labels that it fits, and the file has no such labels."
        )
    name = base["base"]
    if name == "hamming":
        return check_hamming(factor, distances, labels)
    points = [coordinates(label) for label in labels]
    if any(len(point) != (1 if name == "line" else len(points[0])) for point in points):
        raise NotProved("the labels do not have as many coordinates as the metric needs, or not all as many.")
    compared = pairs(distances, len(points))
    if distances["shape"] == "line":
        if name != "line":
            raise NotProved(f"places on a line are not distances of the {name} metric.")
        # Neighbours among the labels: their distances add up to those of the others, and differences of places to no less.
        places = [number(place) for place in distances["places"]]
        order = sorted(range(len(points)), key=points.__getitem__)
        compared = ((x, other, abs(places[x] - places[other])) for x, other in zip(order, order[1:]))
    for x, other, distance in compared:
        if distance is None or distance**2 > factor**2 * apart_squared(name, points[x], points[other]):
            raise NotProved(f"rows {x} and {other} are nearer in the {name} metric than the file says.")
    return []


def check_hamming(factor: Fraction, distances: Any, labels: "list[Any]") -> "list[dict[str, Any]]":
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
    return []


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


def is_digest(value: Any, length: int) -> bool:
    return type(value) is str and len(value) == length and not set(value) - set("0123456789abcdef")


def pair_of(value: Any) -> "list[Any]":
    if type(value) is list and len(value) == 2:
        return value
    raise NotProved("the file is incomplete or malformed: two values are expected.")


def power_of_two(exponent: Any) -> Fraction:
    if type(exponent) is int and abs(exponent) < 1100:
        return Fraction(2) ** exponent
    raise NotProved("the step of a lattice is a power of two, stated by an integer.")


def hexadecimal(value: Any) -> int:
    if type(value) is str and value and not set(value) - set("0123456789abcdef"):
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


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of everything but the digest itself, in a fixed spelling."""
    content = {key: value for key, value in document.items() if key != "digest"}
    spelled = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(spelled.encode()).hexdigest()


# The program --------------------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=3)
def file_beside(name: str) -> Any:
    """A file beside this one with other kinds of proof: exactly that file, wherever Python looks for modules."""
    if __name__ == "noisewright.certificates.checker.checker":
        folder = "noisewright.claims" if name == PHRASES_FILE else "noisewright.certificates.checker"
        return __import__(f"{folder}.{name[:-3]}", fromlist=["one"])
    path = re.sub(r"[^/\\]*$", "", __file__) + name
    module = ModuleType(name[: -len(".py")])
    module.__dict__.update({key: value for key, value in globals().items() if not key.startswith("__")})
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
