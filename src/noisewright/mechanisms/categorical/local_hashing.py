r"""Local hashing: everyone hashes the category with a hash function of their own, and reports which bucket it fell in, privately.

A report is a pair: the number of a hash function, drawn uniformly and independently of the secret, and the answer of
randomised
response over the ``g`` buckets to the secret's own bucket. The variance is least at ``g = e^epsilon + 1``, which is the
default,
rounded.

The functions are :math:`h(v) = \lfloor g \, ((a v + b) \bmod P) / 2^{31} \rfloor` with the prime ``P = 2^31 - 1``, ``0 < a <
P``
and ``0 <= b < P``. Two categories have every pair of different remainders equally often, so all pairs of categories collide
with
one and the same probability, ``sum_c n_c (n_c - 1) / (P (P - 1))`` for buckets of ``n_c`` remainders: the estimate is unbiased
exactly, not only for ideal hash functions.

**Guarantee.** ``epsilon`` for the discrete metric, exactly. *Proof.* The hash function has one law under all secrets,
and given it a report depends on the secret through its bucket alone, to which randomised response is
``epsilon``-private; the certificate proves this, in integers.

>>> word = local_hashing(50_000, epsilon=2)
>>> word.buckets, word.release([17, 17, 40_000]).shape
(8, (3, 2))
>>> word.certificate().verify()
'epsilon = 2 per unit of discrete'

Reference: Wang, Blocki, Li and Jha, *Locally differentially private protocols for frequency estimation* (2017); Carter and
Wegman, *Universal classes of hash functions* (1979).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from noisewright._utils.validation import is_whole
from noisewright.base import CATEGORIES, EPSILON, Entry, MechanismAudit, Parameter, Takes
from noisewright.certificates.certificate import Certificate
from noisewright.channels.channel import Channel
from noisewright.columns.adapters import in_kind, list_rows, plain_column
from noisewright.columns.arrow import arrow_array
from noisewright.columns.label_encoder import COLUMNS
from noisewright.exceptions import DataError, NoChannelError, ParameterError
from noisewright.mechanisms.categorical.base import OverCategories, distinct_categories
from noisewright.mechanisms.categorical.frequency_oracle import (
    Support,
    discrete_audit,
    no_error,
    numbered_response,
    oracle_certificate,
    rare_variance,
    read_domain,
)
from noisewright.mechanisms.categorical.randomised_response import ResponseMechanism, randomised_response
from noisewright.numerics.exact import Exact
from noisewright.sampling.random_bits import uniform_below

__all__ = ["LocalHashingMechanism", "local_hashing"]


BUCKETS = Parameter("Number of values of the hash functions. Default: the best number for this epsilon.")

PRIME = (1 << 31) - 1
MOST_BUCKETS = 1 << 20
LARGEST_LISTED = 5000
"""Reports up to which a channel lists them: only for primes far below the usual one."""

BLOCK = 1 << 14
"""Reports whose remainders are kept in the processor's cache at once."""

FEW = 256
"""Reports below which all categories of one report are hashed at once, rather than one category of all reports."""

FIELDS = ("hash", "bucket")
"""Names of the two parts of a report, in tables."""
_WANTED = (
    "each report of local hashing is two whole numbers, the hash function and the bucket; give an array with two columns, "
    "pairs, structs, or a table with the columns hash and bucket."
)

Words = NDArray[np.uint32]


def local_hashing(
    categories: Annotated[Iterable[Hashable] | int, CATEGORIES],
    *,
    epsilon: Annotated[Exact, EPSILON],
    buckets: Annotated[int | None, BUCKETS] = None,
) -> LocalHashingMechanism:
    """Local hashing over the given categories (or ``0`` to ``k - 1`` for a number ``k``), with ``buckets`` values of the hash."""
    names = distinct_categories(categories, "local hashing")
    if buckets is None:
        # Only how good the estimate is depends on these floats, not the guarantee.
        ideal = math.exp(min(float(randomised_response(2, epsilon=epsilon).epsilon), 20.0)) + 1
        near = {min(max(round(f), 2), MOST_BUCKETS) for f in (math.floor(ideal), math.ceil(ideal))}
        found = [LocalHashingMechanism(names, randomised_response(g, epsilon=epsilon)) for g in near]
        return min(found, key=lambda one: rare_variance(*one.support_probabilities))
    try:
        count = operator.index(buckets)
    except TypeError:
        raise ParameterError(f"buckets must be a whole number, not {type(buckets).__name__}.") from None
    if isinstance(buckets, bool) or not 2 <= count <= MOST_BUCKETS:
        raise ParameterError(f"local hashing takes 2 to {MOST_BUCKETS} buckets; about e^epsilon + 1 is best.")
    return LocalHashingMechanism(names, randomised_response(count, epsilon=epsilon))


@dataclass(frozen=True)
class LocalHashingMechanism(OverCategories):
    """Local hashing with integer probabilities; build it with :func:`local_hashing`."""

    name = "local-hashing"

    response: ResponseMechanism
    """Randomised response over the buckets."""
    prime: int = PRIME

    @property
    def epsilon(self) -> Fraction:
        """The guaranteed epsilon, exactly."""
        return self.response.epsilon

    @property
    def buckets(self) -> int:
        """Return how many values the hash functions have."""
        return len(self.response.categories)

    @cached_property
    def collision(self) -> Fraction:
        """The probability that two given categories fall into one bucket, the same for all of them."""
        starts = self._starts.astype(np.int64)
        sizes = starts[1:] - starts[:-1]
        return Fraction(int((sizes * (sizes - 1)).sum()), self.prime * (self.prime - 1))

    @property
    def support_probabilities(self) -> tuple[Fraction, Fraction]:
        """The probability that a report is the truth's bucket, and that it is another given category's; exactly."""
        total = 1 << self.response.width
        keep, other = Fraction(self.response.keep, total), Fraction(self.response.other, total)
        return keep, keep * self.collision + other * (1 - self.collision)

    @property
    def report_fields(self) -> tuple[str, ...]:
        """Names of the parts of a report."""
        return FIELDS

    @in_kind
    def release(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """One report for every value: the number of a hash function and a bucket."""
        codes, form = self._labels.encode(values)
        a = 1 + np.asarray(uniform_below(self.prime - 1, codes.shape, rng)).astype(np.uint64)
        b = np.asarray(uniform_below(self.prime, codes.shape, rng)).astype(np.uint64)
        own = (a * codes.astype(np.uint64) + b) % np.uint64(self.prime) * np.uint64(self.buckets) >> self._shift
        hashed = (a << self._shift | b).astype(np.int64)
        told = np.asarray(self.response.release(own.astype(np.int64), rng))
        if form == "one":
            return int(hashed), int(told)
        if form in COLUMNS:
            return pa.StructArray.from_arrays([arrow_array(hashed), arrow_array(told)], names=FIELDS)
        return np.stack([hashed, told], axis=-1)

    def support(self, reports: Any) -> Support:
        """Return how many reports name the bucket of each category; every report is compared with every category."""
        hashed, told = _pairs(reports)
        a, b = hashed >> int(self._shift), hashed & ((1 << int(self._shift)) - 1)
        there = (a > 0) & (a < self.prime) & (b < self.prime) & (told >= 0) & (told < self.buckets) & (hashed >= 0)
        a, b, told = (part if there.all() else part[there] for part in (a, b, told))
        low, wide = self._starts[told], np.diff(self._starts)[told]
        counts = np.zeros(len(self.categories), dtype=np.int64)
        parts = a.astype(np.uint32), b.astype(np.uint32), low, wide
        if len(told) < FEW:
            self._by_report(counts, *parts)
        else:
            for start in range(0, len(told), BLOCK):
                self._by_category(counts, *(part[start : start + BLOCK] for part in parts))
        return Support(counts, len(told), int(there.size - there.sum()))

    def certificate(self, rng: np.random.Generator | None = None) -> Certificate:
        """The two integer probabilities of the response over buckets, and the claim they prove."""
        return oracle_certificate(self, self.response.proof(), rng, reads={"prime": self.prime})

    def audit(self) -> MechanismAudit:
        """The loss of a report of one category's bucket, where another is in a different one; from the integers themselves."""
        words = "a hash function that tells two categories apart, and the bucket of one of them"
        return discrete_audit(Fraction(self.response.keep, self.response.other), words)

    def error(self, loss: str = "absolute") -> float:
        """Raise `NoLossError`: a report is a hash function and a bucket."""
        return no_error("local hashing", loss)

    def channel(self) -> Channel:
        """The channel, where there are few hash functions."""
        count = self.prime * (self.prime - 1) * self.buckets
        if count > LARGEST_LISTED:
            raise NoChannelError(
                "there are 2^62 hash functions, so the channel of local hashing is not listed; estimates "
                "need no channel."
            )
        a, b, told = (part.ravel() for part in np.mgrid[1 : self.prime, 0 : self.prime, 0 : self.buckets])
        codes = np.arange(len(self.categories))[:, None]
        own = ((a * codes + b) % self.prime * self.buckets) >> int(self._shift)
        total = (1 << self.response.width) * self.prime * (self.prime - 1)
        matrix = np.where(own == told, self.response.keep / total, self.response.other / total)
        names = list(zip((a << int(self._shift) | b).tolist(), told.tolist(), strict=True))
        return Channel(matrix, self.categories, names, normalise=True)

    # Counting ------------------------------------------------------------------------------------------------------

    def _by_category(self, counts: NDArray[np.int64], a: Words, b: Words, low: Words, wide: Words) -> None:
        """One category after another: the remainder grows by ``a``, modulo the prime; a bucket is an interval of remainders."""
        prime, rest, work, hit = np.uint32(self.prime), b.copy(), np.empty_like(b), np.empty(len(b), dtype=bool)
        for code in range(len(counts)):
            np.subtract(rest, low, out=work)  # below the interval this wraps around, and is large
            np.less(work, wide, out=hit)
            counts[code] += np.count_nonzero(hit)
            np.add(rest, a, out=rest)
            np.subtract(rest, prime, out=work)  # wraps around, and is large, where nothing is subtracted
            np.minimum(rest, work, out=rest)

    def _by_report(self, counts: NDArray[np.int64], a: Words, b: Words, low: Words, wide: Words) -> None:
        codes = np.arange(len(counts), dtype=np.uint64)
        for slope, shift, first, length in zip(a.tolist(), b.tolist(), low.tolist(), wide.tolist(), strict=True):
            rest = (np.uint64(slope) * codes + np.uint64(shift)) % np.uint64(self.prime)
            counts += (rest >= first) & (rest < first + length)

    @property
    def _shift(self) -> np.uint64:
        return np.uint64(self.prime.bit_length())

    @cached_property
    def _starts(self) -> Words:
        """Return where the interval of remainders of each bucket starts; the end of the last one is the prime."""
        bits, g = self.prime.bit_length(), self.buckets
        starts = -(-(np.arange(g + 1, dtype=np.int64) << bits) // g)
        return np.asarray(np.minimum(starts, self.prime), dtype=np.uint32)

    def __repr__(self) -> str:
        return f"local_hashing({len(self.categories)} categories, {self.buckets} buckets, {self.guarantee})"


def _pairs(reports: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Hash functions and buckets; -1 for a report that is missing."""
    named = reports.column_names if isinstance(reports, pa.Table) else list(getattr(reports, "columns", ()))
    if set(FIELDS) <= set(named):  # a table of Arrow, pandas or Polars
        hashed, told = (_whole(plain_column(reports[name], _WANTED)) for name in FIELDS)
        return hashed, told
    column = plain_column([reports] if isinstance(reports, tuple) and _is_pair(reports) else reports, _WANTED)
    if isinstance(column, pa.StructArray) and column.type.num_fields == 2:
        turned = (column.type.field(1).name, column.type.field(0).name) == FIELDS
        hashed, told = map(_whole, column.flatten()[:: -1 if turned else 1])
        return hashed, told
    if isinstance(column, pa.Array):
        found = list_rows(column, 2)
        if found is None:
            raise DataError(_WANTED)
        rows = np.where(found[1][:, None], found[0].astype(np.int64), -1)
    elif isinstance(column, np.ndarray):
        rows = np.atleast_2d(column)
        if rows.shape[1] != 2:
            raise DataError(_WANTED)
    else:
        rows = _listed(column)
    return rows[:, 0].astype(np.int64), rows[:, 1].astype(np.int64)


def _listed(reports: list[Any]) -> NDArray[Any]:
    try:
        rows = np.array(reports)  # the usual case, in one step
    except (TypeError, ValueError, OverflowError):
        rows = np.zeros(0)
    if rows.dtype.kind in "iu" and rows.ndim == 2 and rows.shape[1] == 2:
        return rows
    if not all(report is None or _is_pair(report) for report in reports):
        raise DataError(_WANTED)
    listed = [(-1, -1) if report is None else tuple(report) for report in reports]
    return np.array(listed, dtype=np.int64).reshape(-1, 2)


def _is_pair(report: Any) -> bool:
    """Return whether these are two 64-bit integers; numpy would cut 1.5 to 1, and read text."""
    if isinstance(report, np.ndarray):
        report = report.tolist()
    return (
        isinstance(report, (list, tuple))
        and len(report) == 2
        and all(is_whole(part) and abs(int(part)) < 1 << 63 for part in report)
    )


def _whole(field: Any) -> NDArray[np.int64]:
    if not isinstance(field, pa.Array) or not pa.types.is_integer(field.type):
        raise DataError("the parts of reports of local hashing are whole numbers; convert the columns first.")
    return np.asarray(field.cast(pa.int64(), safe=False).fill_null(-1).to_numpy(zero_copy_only=False))


def _rebuilt(certificate: Certificate) -> LocalHashingMechanism:
    """The mechanism behind its certificate."""
    names = read_domain(certificate.document["oracle"]["domain"])
    return LocalHashingMechanism(names, numbered_response(certificate, MOST_BUCKETS))


ENTRY = Entry(
    "local-hashing",
    local_hashing,
    Takes("category", form="arrow", purpose="report", secrets="categories"),
    summary="a private answer about one's own hash function",
    words="categories",
    rebuild=_rebuilt,
)
