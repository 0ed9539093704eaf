"""Input and output of a ledger: charges in; spends, balances and entries out. All numbers are exact fractions.

>>> stored({"relation": "add-remove", "unit": None, "rows": 1})
'{"relation": "add-remove", "rows": 1, "unit": null}'
>>> neighbours_of("two tables that differ in one row, there or not"), neighbours_of("two tables of my own")
({'relation': 'add-remove', 'unit': None, 'rows': 1}, None)
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from hashlib import blake2b, sha256
from math import ceil, floor
from struct import Struct
from struct import error as StructError  # noqa: N812
from typing import Any, Literal

from noisewright.certificates.checker import checker_version1
from noisewright.claims import phrases
from noisewright.claims.figures import upward
from noisewright.exceptions import ParameterError
from noisewright.ledger.database import Database
from noisewright.numerics.exact import LARGEST_SPELLED, Exact, as_fraction, positive_fraction

__all__ = [
    "DELTA_GRAINS",
    "EPSILON_GRAINS",
    "Apart",
    "Balance",
    "BudgetEvent",
    "BudgetScope",
    "Charge",
    "Checked",
    "Earlier",
    "Input",
    "LedgerRecord",
    "Protected",
    "Spend",
    "State",
    "Terms",
    "agree",
    "amount",
    "charge",
    "check_budget",
    "check_name",
    "check_text",
    "checked",
    "checked_terms",
    "count",
    "downward",
    "gather",
    "neighbours_of",
    "record_totals",
    "refusal",
    "sentence",
    "stored",
]


BudgetScope = Literal["dataset", "unit"]
State = Literal["started", "finished"]
UNBOUNDED = ("kept", "changed")


@dataclass(frozen=True)
class Protected:
    """Maximum distance at which two values of a column, or of several that form one secret, are still protected.

    ``distance`` None: any two values, however far apart. ``unit``: of the distance, or the name of its metric.

    >>> Protected(("visit",), Fraction(7), "day").words, Protected(("x", "y"), Fraction(1, 3), "euclidean").words
    ('values at most 7 days apart', 'values at most 1/3 (euclidean) apart')
    """

    columns: tuple[str, ...]
    distance: Fraction | None
    unit: str = ""

    @property
    def record(self) -> dict[str, Any]:
        """The same as a record of the phrase table; a unit that it does not know is the name of a metric."""
        if self.distance is None:
            return {"kind": "any"}
        if self.unit == "second":
            from noisewright.columns.column_type import largest_unit

            size, unit = largest_unit(self.distance)
            return {"kind": "near", "distance": str(size), "unit": unit}
        if self.unit in phrases.UNITS:
            return {"kind": "near", "distance": str(self.distance), "unit": self.unit}
        metric = {"metric": {"base": self.unit}} if self.unit else {}
        return {"kind": "near", "distance": str(self.distance), **metric}

    @property
    def words(self) -> str:
        """Description of the protected values."""
        return phrases.apart(self.record)


@dataclass(frozen=True)
class Terms:
    """The budget of a dataset as a policy states it: what all releases may cost one unit, and between which tables.

    ``between``: a record of neighbours, as a certificate has it, or a description in free words.
    """

    epsilon: Exact
    delta: Exact = 0
    scope: BudgetScope = "dataset"
    between: str | Mapping[str, Any] = phrases.ONE_UNIT
    raise_budget: bool = False
    """A budget that is larger than the recorded one is recorded instead of refused."""
    also: tuple[str, ...] = ()
    """Further datasets about the same people; a release is charged to them, too."""


@dataclass(frozen=True)
class Charge:
    """One part of a release: its privacy cost for one unit, and between which values that is guaranteed (``guarantee``,
    in words).

    ``protected``: the same for columns, so that a dataset keeps to it. A column that is released as it is has the kind "kept",
    one that is changed without an epsilon the kind "changed"; neither is bounded by anything.
    """

    name: str
    kind: str
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    guarantee: str = ""
    protected: Protected | None = None


@dataclass(frozen=True)
class Input:
    """The data of a release: the SHA-256 of its data (empty: not known), and where its output goes (nowhere: memory).

    ``apart``: why a dataset with the same data is about other people.
    """

    content: bytes
    place: str = ""
    apart: str = ""


@dataclass(frozen=True)
class Earlier:
    """A finished release of the same data under the same policy, and where its output went."""

    release_id: str
    time: str
    place: str

    def in_words(self) -> str:
        """Describe when it was made, and where it went."""
        return f"{self.time}, {f'to {self.place}' if self.place else 'into memory'}"


@dataclass(frozen=True)
class Spend:
    """A spend that is on the disk. With scope ``unit``, the remaining budget is that of a unit that took part in every
    release.
    """

    release_id: str
    dataset: str
    time: str
    epsilon: Fraction
    delta: Fraction
    left_epsilon: Fraction
    left_delta: Fraction


@dataclass(frozen=True)
class Balance:
    """Budget, spent and left of one unit, between :attr:`between`: neighbours, and how far apart they are in each
    column so far.

    With scope ``unit``, ``spent`` is that of a unit that took part in every release, and every unit has at least ``left``.
    """

    dataset: str
    scope: BudgetScope
    neighbours: str
    releases: int
    epsilon: Fraction
    delta: Fraction
    spent_epsilon: Fraction
    spent_delta: Fraction
    protected: tuple[Protected, ...] = ()
    """Protected distances of each column that was released so far."""
    same: tuple[str, ...] = ()
    """The columns that were released without protection, in which the tables do not differ."""

    @property
    def between(self) -> str:
        """The tables that the budget is about, column by column, and that each release says more about their values."""
        return self.recorded + (phrases.NOT_RECORDED if self.protected else "")

    @property
    def recorded(self) -> str:
        """The tables that the budget is about, as far as they are recorded: column by column."""
        differ = [(one.record, one.columns) for one in self.protected if not set(one.columns) <= set(self.same)]
        told = phrases.ways(differ, self.same)
        return f"{self.neighbours}: {told}" if told else self.neighbours

    @property
    def left_epsilon(self) -> Fraction:
        return max(self.epsilon - self.spent_epsilon, Fraction(0))

    @property
    def left_delta(self) -> Fraction:
        return max(self.delta - self.spent_delta, Fraction(0))


@dataclass(frozen=True)
class Checked:
    """A ledger that was checked as a whole: the records of its chain (None: it has none yet) and the digest of the last."""

    records: int | None
    head: str
    releases: int
    accounts: int


@dataclass(frozen=True)
class BudgetEvent:
    """Date of a budget that was set or changed, and its new value."""

    time: str
    event: Literal["set", "raised", "lowered"]
    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True)
class Apart:
    """Two datasets with the same data whose people differ, as their owner said at a release of the first."""

    time: str
    release_id: str
    dataset: str
    other: str
    reason: str


@dataclass(frozen=True)
class LedgerRecord:
    """One part of one recorded release. ``started``: something may have been drawn; ``finished``: the output is complete."""

    time: str
    dataset: str
    release_id: str
    state: State
    finished: str | None
    name: str
    kind: str
    epsilon: Fraction
    delta: Fraction
    guarantee: str
    policy: str
    output: str | None

    @property
    def bounded(self) -> bool:
        """True if an epsilon was claimed: it is neither kept as it is nor changed without one."""
        return self.kind not in UNBOUNDED


def downward(value: Fraction, digits: int = 6) -> str:
    """A number in at most ``digits`` digits, rounded down: for statements about a budget that is left.

    >>> downward(Fraction(2, 3)), downward(Fraction(1, 4))
    ('0.666666', '0.25')
    """
    context = Context(prec=digits, rounding=ROUND_FLOOR)
    shown = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    return f"{shown:f}" if not shown or -5 <= shown.adjusted() < digits + 2 else f"{shown:e}".replace("e+", "e")


# Neighbours ---------------------------------------------------------------------------------------------------------------
#
# Neighbouring datasets of a budget, as a ledger records them: a record in JSON. Ledgers of earlier versions hold a sentence.


def stored(neighbours: str | Mapping[str, Any]) -> str:
    """Return the text that a ledger writes: a record as JSON, a text as it is."""
    return neighbours if isinstance(neighbours, str) else json.dumps(dict(neighbours), sort_keys=True)


def neighbours_of(text: str) -> dict[str, Any] | None:
    """Return the record that a ledger holds, or the one that an earlier version worded; None for any other text."""
    if (found := checker_version1.neighbours(text)) is not None:
        return found
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if _is_record(record) else None


def _is_record(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and set(found) == {"relation", "unit", "rows"}
        and found["relation"] in ("same-rows", "add-remove")
        and isinstance(found["unit"], str | None)
        and type(found["rows"]) is int
    )


def sentence(text: str) -> str:
    """Describe the record of a ledger: the same words for the same neighbours, whichever version wrote them."""
    record = neighbours_of(text)
    return text if record is None else phrases.neighbours(record)


# Units --------------------------------------------------------------------------------------------------------------------
#
# Budgets of single units: millions of small accounts in one table, charged all together or not at all.
#
# An account holds the spends of its unit, as whole *grains*: epsilon in steps of 1/3 of 10^-12, delta in steps of 10^-18.
# Decimals and thirds are exact; everything else is rounded up when it is charged, and budgets are rounded down. A unit that was
# never seen has no account yet and the whole budget. Accounts are named by 16 bytes of a keyed hash; should two units ever
# share one, they pay for each other, which protects them no less.
#
# Memory does not grow with the number of units: identifiers go through a temporary table on the disk, and are sorted there so
# that the accounts are visited in the order in which they lie.


EPSILON_GRAINS, DELTA_GRAINS = 3 * 10**12, 10**18
"""Grains in one."""
MOST = 2**62 - 1
"""No account and no charge is larger, so their sum stays within 64 bits, beyond which SQLite would turn to floats."""
NAME_BYTES = 16
PACKED = Struct(f">{NAME_BYTES}sqqqq").pack
"""An account as bytes."""
MODULUS = 2**256


def check_budget(epsilon: Fraction) -> None:
    """Refuse a budget that an account cannot hold."""
    if epsilon * EPSILON_GRAINS > MOST:
        raise ParameterError(
            f"the epsilon of a budget with the scope unit must be at most {MOST // EPSILON_GRAINS}; such an epsilon protects "
            "nobody anyway."
        )


def gather(db: Database, key: bytes, units: Iterable[bytes]) -> None:
    """Put the units that take part into a temporary table, once each and in order; nothing is locked meanwhile."""
    db.execute(f"CREATE TEMP TABLE arrived (unit {db.BLOB} NOT NULL)")
    db.execute("BEGIN")
    db.fill("arrived", _names(key, units))
    db.execute("CREATE TEMP TABLE taking_part AS SELECT DISTINCT unit FROM arrived ORDER BY unit")
    db.execute("DROP TABLE arrived")
    db.execute("COMMIT")


def charge(
    db: Database,
    key: bytes,
    dataset: int,
    release: int,
    price: tuple[Fraction, Fraction],
    budget: tuple[Fraction, Fraction],
) -> bool:
    """Charge every gathered unit once; False if one of them lacks budget, and then the caller rolls back.

    All accounts are charged before the question is asked, so the duration of a refusal does not disclose who lacked
    budget. The total of all accounts is recorded with them (``key``: what it is made with), so that no account can be
    lost or changed unseen.
    """
    epsilon, delta = ceil(price[0] * EPSILON_GRAINS), ceil(price[1] * DELTA_GRAINS)
    most_epsilon, most_delta = floor(budget[0] * EPSILON_GRAINS), floor(budget[1] * DELTA_GRAINS)
    if epsilon > most_epsilon or delta > most_delta:
        return False
    known, total = _recorded(db).get(dataset, (0, 0))
    own = "SELECT u.dataset, u.unit, u.epsilon, u.delta, u.latest FROM"
    total -= _total(
        key, db.execute(f"{own} taking_part t {db.JOIN} units u ON u.dataset = ? AND u.unit = t.unit", (dataset,))
    )
    db.execute(
        "UPDATE units SET epsilon = epsilon + ?, delta = delta + ?, latest = ? "
        "WHERE dataset = ? AND unit IN (SELECT unit FROM taking_part)",
        (epsilon, delta, release, dataset),
    )
    known += db.execute(
        "INSERT INTO units (dataset, unit, epsilon, delta, latest) SELECT ?, unit, ?, ?, ? FROM taking_part t "
        "WHERE NOT EXISTS (SELECT 1 FROM units u WHERE u.dataset = ? AND u.unit = t.unit)",
        (dataset, epsilon, delta, release, dataset),
    ).rowcount
    charged = "units u WHERE u.dataset = ? AND u.latest = ?"
    total += _total(key, db.execute(f"{own} {charged}", (dataset, release)))
    _record(db, dataset, known, total)
    found = db.execute(f"SELECT max(u.epsilon), max(u.delta) FROM {charged}", (dataset, release)).fetchone()
    return found[0] is None or bool(found[0] <= most_epsilon and found[1] <= most_delta)


def count(db: Database) -> int:
    """Return the number of accounts."""
    return int(db.execute("SELECT count(*) FROM units").fetchone()[0])


def agree(db: Database, key: bytes) -> bool:
    """Return whether the accounts of every dataset agree in number and in total with the last record."""
    recorded = _recorded(db)
    try:
        return all(
            (_number_of(db, dataset), _total_of(db, key, dataset)) == recorded.get(dataset, (0, 0))
            for dataset in {*recorded, *_datasets(db)}
        )
    except (StructError, TypeError):  # something that is not an account
        return False


def record_totals(db: Database, key: bytes) -> None:
    """Record the totals of accounts that were made before there were totals."""
    for dataset in _datasets(db):
        _record(db, dataset, _number_of(db, dataset), _total_of(db, key, dataset))


def _datasets(db: Database) -> list[int]:
    """The numbers of datasets that have accounts; a look at each dataset's first, not at all of them."""
    found, last = [], -(2**63)
    while (row := db.execute("SELECT min(dataset) FROM units WHERE dataset > ?", (last,)).fetchone())[0] is not None:
        last = row[0]
        found.append(last)
    return found


def _number_of(db: Database, dataset: int) -> int:
    return int(db.execute("SELECT count(*) FROM units WHERE dataset = ?", (dataset,)).fetchone()[0])


def _total_of(db: Database, key: bytes, dataset: int) -> int:
    rows = db.execute("SELECT dataset, unit, epsilon, delta, latest FROM units WHERE dataset = ?", (dataset,))
    return _total(key, rows) % MODULUS


def _total(key: bytes, rows: Iterable[tuple[int, bytes, int, int, int]]) -> int:
    """The sum of a keyed hash of each account: what changes can be taken out and put in without looking at the rest.

    The key goes first, which is a sound way to key BLAKE2 and half the work of its own one.
    """
    return sum(
        int.from_bytes(blake2b(key + PACKED(unit, dataset, epsilon, delta, latest), digest_size=32).digest(), "big")
        for dataset, unit, epsilon, delta, latest in rows
    )


def _recorded(db: Database) -> dict[int, tuple[int, int]]:
    """Return, for each dataset, the number of accounts and their total, as they were recorded last."""
    rows = db.execute("SELECT dataset, accounts, digest FROM totals ORDER BY number")
    return {dataset: (accounts, int(digest, 16)) for dataset, accounts, digest in rows}


def _record(db: Database, dataset: int, accounts: int, total: int) -> None:
    db.execute(
        "INSERT INTO totals (dataset, accounts, digest) VALUES (?, ?, ?)",
        (dataset, accounts, f"{total % MODULUS:064x}"),
    )


def _names(key: bytes, units: Iterable[bytes]) -> Iterator[tuple[bytes]]:
    """HMAC-SHA256, written out: its two padded keys are hashed once instead of once a unit, which halves the time."""
    block = key.ljust(64, b"\0")
    inner, outer = (sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))
    for unit in units:
        if not isinstance(unit, bytes):
            raise ParameterError("units are named by bytes; encode their identifiers first.")
        first, second = inner.copy(), outer.copy()
        first.update(unit)
        second.update(first.digest())
        yield (second.digest()[:NAME_BYTES],)


# Checks -------------------------------------------------------------------------------------------------------------------
#
# Checks of the input of a ledger, and its message when a budget does not suffice.
#
# Names of datasets must look as different as they are: anyone who reads a ledger must not take two for one, nor spend one
# budget twice under names that look alike.


LONGEST_NAME = 1000
LOOKALIKES = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "COPTIC", "CHEROKEE", "LISU", "GEORGIAN")
"""Scripts with letters that look the same; a name has letters of one of them at most."""
INVISIBLE = (
    "VARIATION SELECTOR",
    "COMBINING GRAPHEME JOINER",
    "FILLER",
    "KHMER VOWEL INHERENT",
    "BRAILLE PATTERN BLANK",
)


def check_name(value: object, what: str = "the name of a dataset") -> None:
    """Refuse names that could be taken for another one."""
    check_text(value, what)
    assert isinstance(value, str)
    if value != " ".join(value.split()):
        raise ParameterError(f"{what}, {value!r}, begins or ends with a blank or has two in a row; leave it out.")
    if unicodedata.normalize("NFKC", value) != value:
        raise ParameterError(
            f"{what}, {value!a}, has characters that can be written in several ways; write it in its usual form (Unicode NFKC)."
        )
    names = [unicodedata.name(character, "") for character in value]
    if any(name.startswith(INVISIBLE) or name.endswith(INVISIBLE) for name in names):
        raise ParameterError(f"{what}, {value!a}, has an invisible character; leave it out.")
    scripts = sorted({script for script in LOOKALIKES for name in names if name.startswith(f"{script} ")})
    if len(scripts) > 1:
        raise ParameterError(
            f"{what}, {value!a}, mixes letters of several scripts ({', '.join(map(str.capitalize, scripts))}) that look alike; "
            "use letters of one."
        )


def checked_terms(terms: Terms) -> tuple[Fraction, Fraction]:
    """The epsilon and delta of a budget, exactly."""
    check_text(stored(terms.between), "the description of the neighbours")
    if terms.scope not in ("dataset", "unit"):
        raise ParameterError(f"the scope of a ledger is dataset or unit, not {terms.scope!r}.")
    epsilon = positive_fraction(terms.epsilon, "the epsilon of the budget")
    delta = _at_least_zero(terms.delta, "the delta of the budget")
    if delta >= 1:
        raise ParameterError("the delta of the budget must be below 1: with 1, nothing at all is promised.")
    if terms.scope == "unit":
        check_budget(epsilon)
    return epsilon, delta


def checked(item: Charge) -> Charge:
    """A charge with exact numbers."""
    check_text(item.name, "the name of a part")
    epsilon = _at_least_zero(item.epsilon, f"the epsilon of {item.name}")
    delta = _at_least_zero(item.delta, f"the delta of {item.name}")
    return replace(item, epsilon=epsilon, delta=delta, protected=_checked_distance(item.name, item.protected))


def _checked_distance(name: str, protected: Protected | None) -> Protected | None:
    if protected is None or protected.distance is None:
        return protected
    distance = _at_least_zero(protected.distance, f"the protected distance of {name}")
    if not distance:
        raise ParameterError(f"the protected distance of {name} must be above 0.")
    return replace(protected, distance=distance)


def refusal(balance: Balance, epsilon: Fraction, delta: Fraction) -> str:
    """A release that does not fit, in one sentence."""
    advice = (
        "ask for less, or raise the budget, which is recorded: write a larger one into the policy, and say raise_budget=True, "
        "--raise-budget."
    )
    if epsilon > balance.left_epsilon:
        return (
            f"this release asks for epsilon {upward(epsilon)}, but only {downward(balance.left_epsilon)} of the budget of "
            f"{upward(balance.epsilon)} for {balance.dataset!r} is left; {advice}"
        )
    return (
        f"this release asks for delta {upward(delta)}, but only {downward(balance.left_delta)} of the budget of "
        f"{upward(balance.delta)} for {balance.dataset!r} is left; {advice}"
    )


def amount(epsilon: Fraction, delta: Fraction) -> str:
    """A privacy cost or a budget in words."""
    return f"epsilon {upward(epsilon)}" + (f" and delta {upward(delta)}" if delta else "")


def _at_least_zero(value: object, name: str) -> Fraction:
    number = as_fraction(value, name)
    if number < 0:
        raise ParameterError(f"{name} must be at least 0.")
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > LARGEST_SPELLED:
        raise ParameterError(f"{name} is far too long or too large a number; write it like 0.5 or 1/2.")
    return number


def check_text(value: object, what: str) -> None:
    """Refuse anything except a short printable text."""
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_NAME or not value.isprintable():
        raise ParameterError(f"{what} must be text of 1 to {LONGEST_NAME} printable characters.")
