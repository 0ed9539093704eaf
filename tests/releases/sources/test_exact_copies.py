"""A copy of a release in another format has the same values to the last bit, or is refused before anything is spent."""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.exceptions import DataError
from noisewright.ledger.ledger import Ledger
from noisewright.tables.files import read_written

INF, UTC = float("inf"), dt.UTC
TEXTS = ["=1+1", "007", "+3", "-3", "@x", " lead", "trail ", "", "'", "'=", "a\nb", "a\r\nb", "\r", "\t", "1e5", "TRUE"]
TEXTS += ["2024-01-01", "é😀", "_x0041_", "a,b;c", '"q"', "\x00", "\ufffe", "\ufeffb", "NULL", "nan", "#N/A"]
VALUES: dict[str, pa.Array] = {
    "double": pa.array([-0.0, 0.0, 1e308, 5e-324, 0.1, 1 / 3, 2.0**53 + 2, -1e16, 1e22, INF, -INF, float("nan"), None]),
    "single": pa.array([-0.0, 0.1, 3.4e38, 1e-45, INF, None], pa.float32()),
    "half": pa.array([-0.0, 0.1, 65504.0, 6e-8], pa.float16()),
    "long": pa.array([2**53 + 1, -(2**63), 2**63 - 1, 0, 10**15, None]),
    "unsigned": pa.array([2**64 - 1, 2**53 + 1, 0], pa.uint64()),
    "cents": pa.array([Decimal("12345678901234567890.12"), Decimal("-0.01")], pa.decimal128(30, 2)),
    "day": pa.array([dt.date(1, 1, 1), dt.date(1899, 12, 31), dt.date(1900, 2, 28), dt.date(1900, 3, 1), None]),
    "micros": pa.array([dt.datetime(1, 1, 1), dt.datetime(1899, 1, 1, 1, 2, 3, 4), None], pa.timestamp("us")),
    "nanos": pa.array([1_700_000_000_123_456_789, -1, None], pa.timestamp("ns")),
    "moment": pa.array([1_700_000_000_123_456_789, -1], pa.timestamp("ns", "UTC")),
    "zoned": pa.array([dt.datetime(2024, 10, 27, hour, 30, tzinfo=UTC) for hour in (0, 1)], pa.timestamp("us", "CET")),
    "clock": pa.array([dt.time(1, 2, 3, 4), None], pa.time64("us")),
    "fine clock": pa.array([1_234_567_891, None], pa.time64("ns")),
    "span": pa.array([5, -7, None], pa.duration("us")),
    "truth": pa.array([True, False, None]),
    "text": pa.array([*TEXTS, None]),
}


def bits(column: Any) -> list[Any]:
    """The values; floats as their bits, moments of nanoseconds as numbers."""
    if pa.types.is_temporal(column.type):
        width = pa.int32() if column.type.bit_width == 32 else pa.int64()
        column = column.cast(width)
    return [struct.pack("d", one) if isinstance(one, float) else one for one in column.to_pylist()]


def policy(name: str) -> dict[str, Any]:
    return {
        "dataset": "copies",
        "order": "kept",
        "budget": {"epsilon": 1},
        "columns": [
            {"name": "smoker", "mechanism": "randomised-response", "categories": ["y", "n"], "epsilon": 1},
            {"name": name, "keep": True},
        ],
    }


@pytest.mark.parametrize("kind", VALUES)
def test_copies_have_the_same_bits(kind: str, tmp_path: Path) -> None:
    values = VALUES[kind]
    table = pa.table({"smoker": ["y"] * len(values), kind: values})
    first = nw.release(policy(kind), table, output=tmp_path / "parquet", ledger=tmp_path / "ledger")
    assert bits(first.data[kind]) == bits(values)
    for form in ("csv", "xlsx", "arrow"):
        copy = nw.release(policy(kind), table, output=tmp_path / form, ledger=tmp_path / "ledger", format=form)
        assert copy.converted is not None
        read = read_written(tmp_path / form / f"data.{form}", copy.plan.output_types)
        assert read.schema.types == [pa.string(), values.type]
        assert bits(read[kind]) == bits(values)
        assert read["smoker"].to_pylist() == first.data["smoker"].to_pylist()


@pytest.mark.parametrize(
    ("value", "form", "words"),
    [
        (b"\x89PNG\xff", "csv", "which csv cannot hold"),
        (b"ab", "xlsx", "which xlsx cannot hold"),
        ([1.0], "csv", "which csv cannot hold"),
        ([1.0], "xlsx", "which xlsx cannot hold"),
        ("x" * 32_768, "xlsx", "more than 32,767 characters"),
        ("😀" * 16_384, "xlsx", "more than 32,767 characters"),
        ("x" * 1_900_001, "csv.gz", "more than 1,900,000 bytes"),
        ('"' * 950_001, "csv", "more than 1,900,000 bytes"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_before_the_spend(
    value: Any, form: Any, words: str, tmp_path: Path
) -> None:
    table = pa.table({"smoker": ["y"], "own": [value]})
    with pytest.raises(DataError, match=words):
        nw.release(policy("own"), table, output=tmp_path / "out", ledger=tmp_path / "ledger", format=form)
    assert not list(tmp_path.iterdir())
    nw.release(policy("own"), table, output=tmp_path / "out", ledger=tmp_path / "ledger")
    with pytest.raises(DataError, match=words):
        nw.release(policy("own"), table, output=tmp_path / "copy", ledger=tmp_path / "ledger", format=form)
    assert Ledger(tmp_path / "ledger").remaining("copies").spent_epsilon == 1


@pytest.mark.parametrize(("value", "form"), [("x" * 32_767, "xlsx"), ("😀" * 16_383, "xlsx"), ("x" * 1_899_999, "csv")])
def test_the_longest_texts_have_room(value: str, form: Any, tmp_path: Path) -> None:
    table = pa.table({"smoker": ["y"], "own": [value]})
    nw.release(policy("own"), table, output=tmp_path / "out", ledger=tmp_path / "ledger", format=form)
    assert nw.verify(tmp_path / "out").proved
    read = read_written(tmp_path / "out" / f"data.{form}", {"smoker": pa.string(), "own": pa.string()})
    assert read["own"].to_pylist() == [value]
