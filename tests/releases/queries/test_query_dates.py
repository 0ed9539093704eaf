"""Ranges and bins of queries on dates and times, written as dates."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.exceptions import NoisewrightError, PolicyError
from noisewright.policy.policy import Policy, as_policy
from noisewright.releases.plan import make_plan

HEAD = 'dataset = "clinic"\nbudget = { epsilon = 1e7 }\n'
DAY = datetime.date(2025, 3, 10)


def query(text: str) -> Policy:
    return Policy.from_toml(HEAD + '[[queries]]\nname = "visits"\ncolumn = "day"\nepsilon = 1e6\n' + text)


def days(*numbers: int) -> list[datetime.date]:
    return [datetime.date(2025, 1, 1) + datetime.timedelta(days=n) for n in numbers]


def answer(policy: Policy, values: list[Any], kind: pa.DataType) -> pa.Table:
    """With so large an epsilon the noise is zero but for a chance of e^-1000 and the like."""
    done = nw.release(policy, pa.table({"day": pa.array(values, type=kind)}), seed=1)
    return done.answers["visits"]


def test_a_histogram_over_edges_that_are_dates_counts_days() -> None:
    policy = query('aggregate = "histogram"\nbins = [2025-01-01, 2025-02-01, 2025-03-01]')
    found = answer(policy, [*days(0, 30, 31, 58), datetime.date(2025, 12, 1)], pa.date32())
    assert found.column(0).to_pylist() == [datetime.date(2025, 1, 1), datetime.date(2025, 2, 1)]
    assert found.column(2).to_pylist() == [2, 2]


def test_a_mean_within_dates_is_a_date_and_clamps() -> None:
    policy = query('aggregate = "mean"\nwithin = [2025-01-01, 2025-01-11]')
    found = answer(policy, [*days(0, 10), datetime.date(2025, 6, 1), datetime.date(2024, 6, 1)] * 50, pa.date32())
    assert found.column(0).to_pylist() == [datetime.date(2025, 1, 6)]


def test_dates_and_their_day_numbers_mean_the_same() -> None:
    first = (datetime.date(2025, 1, 1) - datetime.date(1970, 1, 1)).days
    types = {"day": pa.date32()}
    for text in ('aggregate = "mean"\nwithin = {}', 'aggregate = "histogram"\nbins = {}'):
        dates, numbers = (
            make_plan(query(text.format(ends)), types, 100).queries[0]
            for ends in ("[2025-01-01, 2025-12-31]", f"[{first}, {first + 364}]")
        )
        assert dates.statistics == numbers.statistics


def test_a_date_as_the_upper_end_for_times_is_its_last_second() -> None:
    policy = query('aggregate = "quantile"\nquantile = 0.5\nwithin = [2025-01-01, 2025-01-02]')
    (statistic,) = make_plan(policy, {"day": pa.timestamp("us")}, 10).queries[0].statistics
    assert statistic.value is not None
    assert statistic.value.within is not None
    low, high = statistic.value.within
    assert high - low == 2 * 86_400 - 1


def test_times_with_an_offset_fit_columns_with_a_time_zone_only() -> None:
    policy = query('aggregate = "mean"\nwithin = [2025-01-01T00:00:00Z, 2025-01-02T00:00:00Z]')
    moments = [datetime.datetime(2025, 1, 1, 12, tzinfo=datetime.UTC)] * 100
    found = answer(policy, moments, pa.timestamp("us", tz="UTC"))
    assert abs((found.column(0)[0].as_py() - moments[0]).total_seconds()) < 1
    with pytest.raises(NoisewrightError, match="without an offset"):
        make_plan(policy, {"day": pa.timestamp("us")}, 10)


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.bool_()])
def test_dates_for_a_column_of_numbers_are_refused_without_a_value(kind: pa.DataType) -> None:
    policy = query('aggregate = "mean"\nwithin = [2025-01-01, 2025-12-31]')
    with pytest.raises(NoisewrightError, match="within of the query 'visits' has a date, but the column is"):
        make_plan(policy, {"day": kind}, 10)


@pytest.mark.parametrize(
    "ends",
    ["[2025-01-01, 2025-01-01]", "[2025-02-01, 2025-01-01]", "[0, 2025-01-01]", "[2025-01-01, 2025-01-02T00:00:00]"],
)
def test_ends_that_do_not_rise_or_are_of_two_kinds_are_refused(ends: str) -> None:
    with pytest.raises(PolicyError, match=r"line 8: queries.0..within .* must be two numbers or two dates"):
        query(f'aggregate = "mean"\nwithin = {ends}')
    with pytest.raises(PolicyError, match="must be a whole number or rising edges"):
        query(f'aggregate = "histogram"\nbins = {ends}')


def test_a_policy_with_dates_survives_json(tmp_path: Path) -> None:
    policy = query(
        'aggregate = "quantile"\nquantile = 0.5\nwithin = [2025-01-01, 2025-12-31]\nbins = [2025-01-01, 2025-07-01]'
    )
    again = as_policy(json.loads(json.dumps(policy.to_json())))
    assert again.digest() == policy.digest()
    assert again.queries[0].within == (datetime.date(2025, 1, 1), datetime.date(2025, 12, 31))
    assert again.queries[0].bins == policy.queries[0].bins


def test_the_report_says_the_range_as_dates(tmp_path: Path) -> None:
    policy = query('aggregate = "mean"\nwithin = [2025-01-01, 2025-12-31]')
    done = nw.release(policy, pa.table({"day": pa.array([DAY] * 100)}), seed=1)
    assert "values within 2025-01-01 to 2025-12-31" in done.page
