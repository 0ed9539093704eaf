r"""Frequency oracles: mechanisms whose reports each support some categories, so that counts of support estimate the
frequencies.

A report *supports* a category when it counts for it: its bit is 1, its hash is the reported one, it is in the reported
set. If the truth is supported with probability ``p`` and every other category with the same probability ``q < p``,
then ``(count / reports - q) / (p - q)`` is an unbiased estimate of the share of a category, whatever the population.

Such a mechanism has ``categories``, ``support_probabilities`` (``p`` and ``q``, as exact fractions), and ``support(reports)``,
which counts. :mod:`noisewright.estimation.frequencies` does the rest.

The certificate of an oracle proves the guarantee on the integers that are drawn from, and states them there only; next
to them it names the categories and what else reports are read by, on which the guarantee does not depend.

Reference: Wang, Blocki, Li and Jha (2017), who call these protocols *pure*.

Category ``i`` is bit ``i % 8`` of byte ``i // 8``, so a report over ``k`` categories is ``ceil(k / 8)`` bytes, and the bits
after the last category are 0. A column of reports is an array of bytes with one row each, or a column of Arrow of fixed-size
binary values.

>>> reports = np.array([[0b101, 0b1], [0b001, 0b0]], dtype=np.uint8)
>>> support_counts(reports, 9).tolist()
[2, 0, 1, 0, 0, 0, 0, 0, 1]
>>> read_packed([b"\x05\x01", b"\x01\x02", None], 9)[1].tolist()  # a bit after the last category; no report at all
[True, False, False]

The truth is a row of zeros with a 1 at its category. That bit is reported as 1 with probability ``p``, every other bit with
probability ``q < p``, all coins independent:

* ``"optimised"``: ``p = 1/2`` and ``q = 1/(e^epsilon + 1)``, the choice with the least variance for rare categories;
* ``"symmetric"``: ``p = 1 - q = e^(epsilon/2) / (e^(epsilon/2) + 1)``, the same coin for ones and zeros (basic RAPPOR).

**Guarantee.** ``epsilon`` for the discrete metric, exactly. *Proof.* Two secrets differ in the laws of two bits only, so the
probabilities of a report differ by at most ``p (1-q) / ((1-p) q)``. Both probabilities are integers over ``2**width``, and the
certificate proves ``p (1-q) <= e^epsilon (1-p) q`` on the table of those two bits: two secrets, four pairs of bits. All other
bits have the same law under both and are independent of them.

A report is ``ceil(k / 8)`` bytes whatever the category; see :mod:`noisewright.mechanisms.categorical.frequency_oracle`.

>>> page = unary_encoding(1000, epsilon=1)
>>> reports = page.release([17, 17, 503])
>>> reports.shape, reports.dtype.name
((3, 125), 'uint8')
>>> page.certificate().verify()
'epsilon = 1 per unit of discrete'

Reference: Wang, Blocki, Li and Jha, *Locally differentially private protocols for frequency estimation* (2017); Erlingsson,
Pihur and Korolova, *RAPPOR* (2014).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, NoReturn, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright._utils.validation import one_of
from noisewright.base import CATEGORIES, EPSILON, Entry, MechanismAudit, Parameter, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.certificates.checker.checker import exp_below
from noisewright.channels.channel import Channel
from noisewright.channels.integer_table import check_budget
from noisewright.claims.figures import ceil_div, exp_bounds, float_up
from noisewright.columns.adapters import byte_rows, in_kind, list_rows, plain_column
from noisewright.columns.label_encoder import COLUMNS, Form
from noisewright.exceptions import DataError, NoChannelError, NoLossError, ParameterError
from noisewright.guarantees import Guarantee
from noisewright.mechanisms.categorical.base import OverCategories, discrete_certificate, distinct_categories
from noisewright.mechanisms.categorical.randomised_response import ResponseMechanism, response_of
from noisewright.metrics.base import Discrete, decode_label, encode_label
from noisewright.numerics.exact import Exact, log_bounds
from noisewright.sampling.bernoulli_bits import bernoulli, packed_coins
from noisewright.sampling.random_bits import Rng

__all__ = [
    "LARGEST_SETS",
    "ORACLES",
    "Oracle",
    "Support",
    "UnaryMechanism",
    "check_room",
    "coin_rows",
    "discrete_audit",
    "domain_json",
    "give_packed",
    "log_of",
    "no_error",
    "numbered_response",
    "oracle_certificate",
    "rare_variance",
    "read_domain",
    "read_packed",
    "set_matrix",
    "set_sizes",
    "support_counts",
    "support_of",
    "unary_encoding",
]


ORACLES = {"unary-encoding", "local-hashing", "subset-selection", "hadamard-response"}
"""Mechanisms whose reports are not categories: they are for estimates, and cannot replace the values of a column."""

SMALLEST_LOG = -600
"""Probabilities of reports below ``e`` to this power are kept as logarithms in a channel: they may be too small for a float."""


@dataclass(frozen=True)
class Support:
    """Number of reports that support each category, number of reports, and number of invalid reports."""

    counts: NDArray[np.int64]
    reports: int
    outside: int = 0

    def __add__(self, other: Support) -> Support:
        """Counts of two batches together."""
        return Support(self.counts + other.counts, self.reports + other.reports, self.outside + other.outside)


@runtime_checkable
class Oracle(Protocol):
    """A mechanism whose reports support the truth with one probability, and every other category with another."""

    @property
    def name(self) -> str:
        """The name in the registry."""

    @property
    def categories(self) -> tuple[Hashable, ...]:
        """The secrets."""

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of a report."""

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probability that the truth is supported, and that any other given category is."""

    def support(self, reports: Any) -> Support:
        """Return how many reports support each category."""

    def channel(self) -> Channel:
        """All reports with their probabilities, where there are few."""


def oracle_certificate(
    made: OverCategories,
    proof: dict[str, Any],
    rng: np.random.Generator | None,
    *,
    reads: dict[str, Any] | None = None,
    **named: Any,
) -> Certificate:
    """The claim of an oracle for the discrete metric, with its proof and the data needed to read its reports."""
    oracle = {**(reads or {}), "domain": domain_json(made.categories)}
    return discrete_certificate(made, proof, rng, oracle=oracle, **named)


def discrete_audit(ratio: Fraction, words: str) -> MechanismAudit:
    """The logarithm of the largest ratio of probabilities, rounded up, and in words the report that has it."""
    loss = float_up(Fraction(log_bounds(ratio, 128)[1], 1 << 128))
    return MechanismAudit(loss, Discrete(), None, None, None, words=words)


def rare_variance(p: Fraction, q: Fraction) -> Fraction:
    """The variance of the estimate for a category that no one has, for one report: by it oracles are compared."""
    return q * (1 - q) / (p - q) ** 2


def log_of(p: Fraction) -> float:
    """The logarithm of a probability, however near to 0 or to 1."""
    return math.log1p(-float(1 - p)) if 2 * p > 1 else math.log(p.numerator) - math.log(p.denominator)


def no_error(what: str, loss: str) -> NoReturn:
    """Raise `NoLossError`: reports that are not categories have no error of their own."""
    raise NoLossError(
        f"a report of {what} is not a category, so it has no {loss} loss; estimates from many reports have a variance, see "
        "noisewright.estimation.frequencies.variance."
    )


def domain_json(categories: tuple[Hashable, ...]) -> Any:
    """The categories for a certificate: the number of them where they are 0, 1, 2 and so on."""
    if categories == tuple(range(len(categories))) and all(type(label) is int for label in categories):
        return len(categories)  # 0.0 and False are equal to 0, but other labels
    return [encode_label(label) for label in categories]


def numbered_response(certificate: Certificate, most: int) -> ResponseMechanism:
    """The response over 0, 1, 2 and so on, ``most`` of them at most, that the proof of an oracle is about."""
    proof = certificate.document["proof"]
    if proof["size"] > most or int(proof["keep"], 16) <= int(proof["other"], 16):
        raise ValueError("no response that an oracle uses")
    return response_of(proof, certificate.epsilon, None)


def read_domain(stated: Any) -> tuple[Hashable, ...]:
    """The categories that a certificate names."""
    return distinct_categories(
        stated if isinstance(stated, int) else [decode_label(x) for x in stated], "a certificate"
    )


# Packed -------------------------------------------------------------------------------------------------------------------
#
# Reports that are sets of categories, one bit each: how they are packed, read, checked and counted.


Bytes = NDArray[np.uint8]

_WANTED = (
    "reports are rows of bytes, one for each person; give one column of them, a list, or an array with a row for each."
)

MOST_BYTES = 4 << 30
"""Reports of one call may take this much memory; more of them are released batch by batch."""

LARGEST_SETS = 12
"""Categories up to which all sets are listed as the outputs of a channel."""

AT_ONCE = 1 << 22
"""Bytes that are counted at once."""

TILE = 1 << 12
"""Number of bytes unpacked at once: few enough reports that their bits stay in the processor's cache."""


def check_room(reports: int, size: int) -> None:
    """Refuse to make more reports at once than memory holds."""
    if reports * -(-size // 8) > MOST_BYTES:
        raise ParameterError(
            f"{reports} reports over {size} categories would take more than {MOST_BYTES >> 30} gigabytes at once; release the "
            "column in batches, or use local hashing or Hadamard response, whose reports are a few bytes."
        )


def coin_rows(p: Fraction, reports: int, size: int, rng: Rng) -> Bytes:
    """``reports`` rows of ``size`` independent bits with probability ``p``, exactly; the bits after them are 0."""
    width = -(-size // 8)
    words = packed_coins(p, -(-reports * width // 8), rng)
    rows = words.view(np.uint8)[: reports * width].reshape(reports, width)
    if size % 8:
        rows[:, -1] &= np.uint8((1 << size % 8) - 1)
    return rows


def give_packed(rows: Bytes, shape: tuple[int, ...], form: Form) -> Any:
    """Return reports in the requested form: one row of bytes, an array with a row for each value, or a column of Arrow."""
    if form not in COLUMNS:
        return rows.reshape(*shape, rows.shape[1])
    kind = pa.binary(rows.shape[1])
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))])


def read_packed(reports: Any, size: int) -> tuple[Bytes, NDArray[np.bool_]]:
    """Rows of bytes, and which of them can be reports over ``size`` categories."""
    width = -(-size // 8)
    rows, there = _rows(reports, width)
    if size % 8:
        there = there & (rows[:, -1] < 1 << size % 8)
    return rows, there


def set_sizes(rows: Bytes) -> NDArray[np.int64]:
    """Return how many categories each report holds."""
    sizes = np.zeros(len(rows), dtype=np.int64)
    words = rows.shape[1] // 8 * 8  # most bytes are counted eight at a time
    step = max(1, AT_ONCE // max(rows.shape[1], 1))
    for start in range(0, len(rows), step):
        part = np.ascontiguousarray(rows[start : start + step])
        found = np.bitwise_count(part[:, words:]).sum(axis=1, dtype=np.int64)
        if words:
            found += np.bitwise_count(part[:, :words].view(np.uint64)).sum(axis=1, dtype=np.int64)
        sizes[start : start + step] = found
    return sizes


def support_counts(rows: Bytes, size: int) -> NDArray[np.int64]:
    """Return how many reports hold each category."""
    counts = np.zeros(rows.shape[1] * 8, dtype=np.int64)
    for left in range(0, rows.shape[1], TILE):
        found = counts[8 * left : 8 * (left + TILE)]
        for start in range(0, len(rows), 255):  # no more, so that a byte holds the sum
            bits = np.unpackbits(rows[start : start + 255, left : left + TILE], axis=1, bitorder="little")
            found += np.add.reduce(bits, axis=0, dtype=np.uint8)
    return counts[:size]


def support_of(rows: Bytes, there: NDArray[np.bool_], size: int) -> Support:
    """The counts over those rows that can be reports, and how many rows cannot."""
    kept = rows if there.all() else rows[there]
    return Support(support_counts(kept, size), len(kept), len(rows) - len(kept))


def set_matrix(size: int) -> tuple[NDArray[np.bool_], list[tuple[int, ...]]]:
    """All sets of a few categories: which category is in which, and the reports that they are."""
    if size > LARGEST_SETS:
        raise NoChannelError(
            f"there are 2^{size} sets of {size} categories; a channel lists those of up to {LARGEST_SETS}; "
            "estimates need no channel."
        )
    numbers = np.arange(1 << size)
    held = (numbers[:, None] >> np.arange(size)) & 1 == 1
    packed = np.packbits(held, axis=1, bitorder="little")
    return held, [tuple(row) for row in packed.tolist()]


def _rows(reports: Any, width: int) -> tuple[Bytes, NDArray[np.bool_]]:
    column = plain_column(reports, _WANTED)
    if isinstance(column, pa.Array):
        found = byte_rows(column, width) or list_rows(column, width)
        if found is None:
            raise DataError(_WANTED)
        return _in_bytes(*found)
    if isinstance(column, np.ndarray):
        rows = column if column.ndim == 2 else column[None, :]
        if rows.shape[1] != width:
            return np.zeros((len(rows), width), dtype=np.uint8), np.zeros(len(rows), dtype=bool)
        return _in_bytes(rows, np.ones(len(rows), dtype=bool))
    listed = [_bytes(report, width) for report in column]
    there = np.array([report is not None for report in listed], dtype=bool)
    joined = b"".join(report if report is not None else bytes(width) for report in listed)
    return np.frombuffer(joined, dtype=np.uint8).reshape(len(listed), width), there


def _in_bytes(rows: NDArray[Any], there: NDArray[np.bool_]) -> tuple[Bytes, NDArray[np.bool_]]:
    """Integers that are bytes, as such."""
    if rows.dtype == np.uint8 or not len(rows):
        return rows.astype(np.uint8, copy=False), there
    return rows.astype(np.uint8), there & (rows.min(axis=1) >= 0) & (rows.max(axis=1) < 256)


def _bytes(report: Any, width: int) -> bytes | None:
    """One report as bytes: given as such, or as a row of integers. Bytes that some other object has in memory are rejected."""
    if isinstance(report, np.ndarray):
        report = report.tolist()
    try:
        found = bytes(report) if isinstance(report, (bytes, bytearray, memoryview, list, tuple)) else None
    except (TypeError, ValueError):
        return None
    return found if found is not None and len(found) == width else None


# Unary --------------------------------------------------------------------------------------------------------------------
#
# Unary encoding: one bit for each category, every bit reported through a coin of its own.


VARIANT = Parameter("Flip probabilities: optimised for the error at this epsilon, or symmetric for ones and zeros.")

Variant = Literal["optimised", "symmetric"]


def unary_encoding(
    categories: Annotated[Iterable[Hashable] | int, CATEGORIES],
    *,
    epsilon: Annotated[Exact, EPSILON],
    variant: Annotated[Variant, VARIANT] = "optimised",
) -> UnaryMechanism:
    """Unary encoding over the given categories (or over ``0`` to ``k - 1`` for a number ``k``)."""
    names = distinct_categories(categories, "unary encoding")
    budget = check_budget(epsilon)
    one_of(variant, "variant", ("optimised", "symmetric"))
    fine = ceil_div(budget.denominator, budget.numerator).bit_length()
    width = 64 + math.ceil(budget * 3 / 2) + fine
    precision = 2 * width + 64
    part = min(budget if variant == "optimised" else budget / 2, Fraction(precision))
    factor = exp_bounds(part, precision)[0]
    other = ceil_div(1 << (width + precision), factor + (1 << precision))
    while True:
        one = 1 << (width - 1) if variant == "optimised" else (1 << width) - other
        found = UnaryMechanism(names, budget, variant, width, precision, one, other)
        if found.private():  # the next integer is, where rounding left none to spare
            return found
        other += 1


@dataclass(frozen=True)
class UnaryMechanism(OverCategories):
    """Unary encoding with integer probabilities; build it with :func:`unary_encoding`."""

    name = "unary-encoding"

    epsilon: Fraction
    variant: str
    width: int
    precision: int
    one: int
    """``p 2**width``: a 1 for the bit of the truth."""
    other: int
    """``q 2**width``: a 1 for any other bit."""

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probability that a report holds the truth, and that it holds another given category; exactly."""
        return Fraction(self.one, 1 << self.width), Fraction(self.other, 1 << self.width)

    def private(self) -> bool:
        """Return whether ``p (1-q) <= e^epsilon (1-p) q``, in integers."""
        total = 1 << self.width
        limit = exp_below(self.epsilon, self.precision)
        return self.one * (total - self.other) << self.precision <= limit * (total - self.one) * self.other

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One report for every value: rows of bytes, with an exact coin for every bit."""
        codes, form = self._labels.encode(values)
        flat = codes.reshape(-1)
        check_room(flat.size, len(self.categories))
        truth, lie = self.support_probabilities
        rows = coin_rows(lie, flat.size, len(self.categories), rng)
        mine = np.asarray(bernoulli(truth, flat.shape, rng))
        people, place, bit = np.arange(flat.size), flat >> 3, np.uint8(1) << (flat & 7).astype(np.uint8)
        rows[people, place] = np.where(mine, rows[people, place] | bit, rows[people, place] & ~bit)
        return give_packed(rows, codes.shape, form)

    def support(self, reports: Any) -> Support:
        """Return how many reports hold each category."""
        return support_of(*read_packed(reports, len(self.categories)), len(self.categories))

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The integer table of the two bits in which two secrets differ, and the claim it proves."""
        total, p, q = 1 << self.width, self.one, self.other
        own, foreign = (p, total - p), (q, total - q)
        rows = [[a * b for a in own for b in foreign], [a * b for a in foreign for b in own]]
        return oracle_certificate(
            self,
            {
                "kind": "table",
                "width": 2 * self.width,
                "precision": self.precision,
                "table": [[f"{entry:x}" for entry in row] for row in rows],
            },
            rng,
            inputs=["one category", "another category"],
            change=0.0,
            outputs=["both bits 1", "1 and 0", "0 and 1", "both bits 0"],
        )

    def audit(self) -> MechanismAudit:
        """The loss of a report with a 1 for one category and a 0 for another, from the integers themselves."""
        p, q = self.support_probabilities
        words = "a report with a 1 for one category and a 0 for another, whatever its other bits"
        return discrete_audit(p * (1 - q) / ((1 - p) * q), words)

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: a report is a set of categories."""
        return no_error("unary encoding", loss)

    def channel(self) -> Channel:
        """The channel to all sets, for a few categories."""
        held, names = set_matrix(len(self.categories))
        p, q = self.support_probabilities
        if len(self.categories) * log_of(q) < SMALLEST_LOG:
            others = np.where(held, log_of(q), log_of(1 - q))
            logs = others.sum(axis=1) - others.T + np.where(held.T, log_of(p), log_of(1 - p))
            return Channel.from_logs(logs, self.categories, names)
        others = np.where(held, float(q), float(1 - q))
        matrix = np.empty((len(self.categories), len(names)))
        for x in range(len(self.categories)):
            rest = np.delete(others, x, axis=1).prod(axis=1)
            matrix[x] = rest * np.where(held[:, x], float(p), float(1 - p))
        return Channel(matrix, self.categories, names, normalise=True)

    def __repr__(self) -> str:
        return f"unary_encoding({len(self.categories)} categories, {self.variant}, {self.guarantee})"


def _rebuilt(certificate: Certificate) -> UnaryMechanism:
    """The mechanism behind its certificate.

    The table of two bits has the probability of the truth's bit in its first two entries, and of the other in every second.
    """
    proof, names = certificate.document["proof"], read_domain(certificate.document["oracle"]["domain"])
    width = proof["width"] // 2
    both, first, second, _ = (int(entry, 16) for entry in proof["table"][0])
    one, other = (both + first) >> width, (both + second) >> width
    variant: Variant = "optimised" if 2 * one == 1 << width else "symmetric"
    if not 0 < other < one < 1 << width or (variant == "symmetric" and one + other != 1 << width):
        raise ValueError("no probabilities of unary encoding")
    return UnaryMechanism(names, certificate.epsilon, variant, width, proof["precision"], one, other)


ENTRY = Entry(
    "unary-encoding",
    unary_encoding,
    Takes("category", form="arrow", purpose="report", secrets="categories"),
    summary="one private bit for each category",
    words="categories",
    rebuild=_rebuilt,
)
