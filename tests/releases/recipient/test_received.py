"""A release as its recipient has it: opened from the folder alone, and estimated with intervals that hold."""

from __future__ import annotations

import csv
import datetime
import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw
from noisewright.cli import run
from noisewright.exceptions import CertificateError, FileFormatError, ParameterError
from noisewright.releases.column_estimates import ColumnEstimate, Interval, Share, facts_of

ROWS = 4000
DAY, HOUR = datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1)


@cache
def table() -> pa.Table:
    rng = np.random.default_rng(5)
    return pa.table(
        {
            "age": rng.integers(18, 90, ROWS),
            "income": np.round(rng.gamma(3, 10, ROWS), 2),
            "debt": rng.normal(5, 2, ROWS),
            "sex": np.array(["f", "m"])[(rng.random(ROWS) > 0.3).astype(int)],
            "smoker": rng.random(ROWS) > 0.8,
            "visit": pa.array([DAY + datetime.timedelta(int(d)) for d in rng.integers(0, 300, ROWS)], pa.date32()),
            "seen": pa.array([HOUR + datetime.timedelta(hours=int(h)) for h in rng.integers(0, 3000, ROWS)]),
            "lat": 48.85 + rng.random(ROWS) / 100,
            "lon": 2.35 + rng.random(ROWS) / 100,
            "ward": ["north", "south"] * (ROWS // 2),
        }
    )


YEAR = [datetime.date(2024, 1, 1), datetime.date(2024, 12, 31)]
POLICY: dict[str, Any] = {
    "dataset": "clinic",
    "budget": {"epsilon": 20},
    "columns": [
        {"name": "age", "mechanism": "geometric", "within": [0, 120], "protect": 10, "epsilon": 1},
        {"name": "income", "mechanism": "laplace", "within": [0, 200], "protect": 5, "epsilon": 1},
        {"name": "debt", "mechanism": "laplace", "protect": 1, "epsilon": 1},
        {"name": "sex", "mechanism": "randomised-response", "categories": ["f", "m"], "epsilon": 1},
        {
            "name": "smoker",
            "mechanism": "randomised-response",
            "categories": [True, False],
            "epsilon": 1,
            "rename": "smokes",
        },
        {"name": "visit", "mechanism": "laplace", "within": YEAR, "protect": "7 days", "epsilon": 1},
        {"name": "seen", "mechanism": "laplace", "within": YEAR, "protect": "1 day", "epsilon": 1},
        {"name": ["lat", "lon"], "mechanism": "geo-laplace", "reference": [48.85, 2.35], "protect": 100, "epsilon": 1},
        {"name": "ward", "keep": True},
    ],
    "queries": [
        {
            "name": "visits",
            "aggregate": "histogram",
            "column": "sex",
            "values": ["f", "m"],
            "epsilon": 1,
        }
    ],
}
POLICY["columns"][6]["within"] = [HOUR, datetime.datetime(2024, 12, 31)]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    nw.release(POLICY, table(), output=folder / "released", ledger=folder / "ledger")
    return folder / "released"


def holds(found: Interval | None, truth: Any) -> bool:
    assert found is not None
    return (found.low is None or found.low <= truth) and (found.high is None or truth <= found.high)


def test_a_folder_is_all_that_is_needed(released: Path, tmp_path: Path) -> None:
    shutil.copytree(released, tmp_path / "copy")
    got = nw.load(tmp_path / "copy")
    assert got.columns == ("age", "income", "debt", "sex", "smokes", "visit", "seen", "lat", "lon", "ward")
    assert got.rows == ROWS
    assert got.table.equals(pq.read_table(released / "data.parquet"))
    assert got.answers["visits"].column_names == ["sex", "visits", "visits_low", "visits_high"]
    assert got.policy.dataset == "clinic"
    assert float(got.plan.epsilon) == 9
    assert got.verify().proved
    assert repr(got) == f"Received('clinic', 4,000 rows, from {tmp_path / 'copy'})"


def test_categories_are_those_of_estimate(released: Path) -> None:
    found = nw.load(released).estimate("sex")
    column = nw.load(released).table["sex"]
    own = nw.estimate(column, nw.randomised_response(["f", "m"], epsilon=1), intervals="asymptotic")
    assert {s.label: s.share for s in found.shares} == pytest.approx(
        dict(zip(own.secrets, own.probabilities, strict=True))
    )
    assert [s.label for s in found.shares] == ["m", "f"]  # the largest first
    assert found.promise == "epsilon 1 between any two values"
    assert (found.mean, found.quartiles, found.reason) == (None, (), "")
    assert nw.load(released).estimate("smokes").shares[0].label is False


def test_intervals_hold(tmp_path: Path) -> None:
    """Under one seed. Of all seeds, fewer than one in 100,000 would fail: a mean adds up the noise of 4,000 rows, and is normal.

    An interval of 95 % reaches 1.96 standard errors to each side. Three means within 2.5 times that, 4.9 of them: each is farther
    off with a probability of 1e-6. A day has noise of 10 days (the square root of 2, times 7), a mean 0.16, and 8 days are 50 of
    these; an hour of one day, 1.4 days, and 5 days are 220. What the dates themselves are, is fixed.
    """
    nw.release({**POLICY, "queries": []}, table(), output=tmp_path / "released", seed=11)
    got, before = nw.load(tmp_path / "released"), table()
    for name in ("age", "income", "debt"):
        found, truth = got.estimate(name), before[name].to_numpy()
        assert found.mean is not None
        wide = max(found.mean.high - found.mean.value, found.mean.value - found.mean.low)
        assert abs(found.mean.value - truth.mean()) < 2.5 * wide
        assert sum(share.share for share in found.shares) == pytest.approx(1, abs=0.1)
        for share in found.shares[1:-1]:
            assert share.low <= share.share <= share.high
    days = got.estimate("visit").mean
    assert days is not None
    assert abs(days.value - datetime.date(2024, 5, 29)) < datetime.timedelta(8)
    hours = got.estimate("seen").mean
    assert hours is not None
    assert abs(hours.value - datetime.datetime(2024, 3, 3, 12)) < datetime.timedelta(5)


def estimates(seed: int, folder: Path, name: str) -> ColumnEstimate:
    policy = {**POLICY, "columns": [c for c in POLICY["columns"] if c["name"] == name], "queries": []}
    nw.release(policy, table(), output=folder / f"{seed}", seed=seed)
    found: ColumnEstimate = nw.load(folder / f"{seed}").estimate(name)
    assert found.simulated
    return found


@pytest.mark.parametrize("name", ["age", "income", "debt"])
def test_intervals_cover_under_many_seeds(name: str, tmp_path: Path) -> None:
    """8 seeds; intervals of 95 % cover a mean fewer than 6 times with a probability of 0.006, and the others, which count what is
    left of bias, cover more often."""
    truth = table()[name].to_numpy()
    found = [estimates(seed, tmp_path, name) for seed in range(8)]
    assert sum(holds(one.mean, truth.mean()) for one in found) >= 6
    for place, q in enumerate((0.25, 0.5, 0.75)):
        assert sum(holds(one.quartiles[place], np.quantile(truth, q)) for one in found) >= 7
    middle = [
        np.mean([one.quartiles[1].value for one in found]),
        np.mean([one.mean.value for one in found if one.mean]),
    ]
    assert middle == pytest.approx([np.quantile(truth, 0.5), truth.mean()], abs=0.06 * (truth.max() - truth.min()))


def test_values_that_were_moved_to_the_ends_are_estimated_as_these(tmp_path: Path) -> None:
    """8 seeds: an interval of 95 % covers fewer than 6 times with a probability of 0.006."""
    clamped = {"name": "income", "mechanism": "laplace", "within": [0, 40], "protect": 5, "epsilon": 1}
    policy = {**POLICY, "columns": [{**clamped, "outside": "clamp"}], "queries": []}
    truth = table()["income"].to_numpy().clip(0, 40).mean()
    found = []
    for seed in range(8):
        nw.release(policy, table(), output=tmp_path / str(seed), seed=seed)
        found.append(nw.load(tmp_path / str(seed)).estimate("income"))
    assert sum(holds(one.mean, truth) for one in found) >= 6
    assert all((one.shares[0].start, one.shares[-1].end) == (0, 40) for one in found)
    assert all("values out of range, if there were any, count as its ends" in str(one) for one in found)


def test_what_cannot_be_estimated_says_why(released: Path) -> None:
    got = nw.load(released)
    assert got.estimate("lon").names == ("lat", "lon")
    places = (
        "no honest bounds are known for the cells of a map; take the released places as they are, each with its noise"
    )
    assert got.estimate("lon").reason == places
    with pytest.raises(ParameterError, match="'ward' was kept as it is: its values are the true ones"):
        got.estimate("ward")
    with pytest.raises(ParameterError, match=r"^released has no released column 'sxe'; did you mean 'sex'\?$"):
        got.estimate("sxe")


def test_another_certificate_is_refused(released: Path, tmp_path: Path) -> None:
    shutil.copytree(released, tmp_path / "copy")
    path = tmp_path / "copy" / "certificate.json"
    document = json.loads(path.read_text())
    document["parts"][3]["certificate"]["claim"]["epsilon"] = "1/2"
    path.write_text(json.dumps(document))
    with pytest.raises(
        CertificateError, match="copy is not proved, so nothing is estimated from it: the file was changed"
    ):
        nw.load(tmp_path / "copy").estimate("sex")
    with pytest.raises(FileFormatError, match="is no folder of a release"):
        nw.load(tmp_path)


def _no_certificate(folder: Path) -> None:
    (folder / "certificate.json").write_text('{"format": "noisewright-release-certificate", "parts": [1, null, {}]}')


def _another_digest(folder: Path) -> None:
    text = (folder / "certificate.json").read_text()
    digest = json.loads(text)["digest"]
    (folder / "certificate.json").write_text(text.replace(digest, "0" * 64))


def _another_table(folder: Path) -> None:
    table = pq.read_table(folder / "data.parquet")
    pq.write_table(table.slice(0, ROWS - 1), folder / "data.parquet")


def _another_file(folder: Path) -> None:
    (folder / "more.txt").write_text("more")


def _another_lock(folder: Path) -> None:
    text = (folder / "policy.lock").read_text()
    (folder / "policy.lock").write_text(text.replace('"clinic"', '"other"'))


@pytest.mark.parametrize("change", [_no_certificate, _another_digest, _another_table, _another_file, _another_lock])
def test_nothing_is_estimated_from_what_verify_does_not_prove(released: Path, tmp_path: Path, change: Any) -> None:
    shutil.copytree(released, tmp_path / "copy")
    change(tmp_path / "copy")
    with pytest.raises(CertificateError):
        nw.verify(tmp_path / "copy")
    with pytest.raises(CertificateError):
        nw.load(tmp_path / "copy").estimate("sex")


def test_missing_values_and_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = {
        "dataset": "clinic",
        "budget": {"epsilon": 2},
        "columns": [
            {
                "name": "sex",
                "mechanism": "randomised-response",
                "categories": ["=f", "m"],
                "epsilon": 1,
                "missing": "keep",
            },
            {"name": "age", "mechanism": "geometric", "within": [0, 9], "epsilon": 1, "missing": "keep"},
        ],
    }
    rows = pa.table({"sex": ["=f", "m", None, "m"] * 500, "age": pa.array([1, None, 3, 4] * 500)})
    nw.release(policy, rows, output=tmp_path / "out", ledger=tmp_path / "ledger", format="csv")
    sex, age = nw.load(tmp_path / "out").estimates()
    assert (sex.rows, sex.missing, age.rows, age.missing) == (1500, 500, 1500, 500)
    assert {share.label for share in sex.shares} == {"=f", "m"}
    assert "500 missing, shown as they are" in str(sex)
    assert run(["estimate", str(tmp_path / "out"), "--json"]) == 0
    assert [one["columns"] for one in json.loads(capsys.readouterr().out)["columns"]] == [["sex"], ["age"]]


def test_the_command(released: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["estimate", str(released), "--column", "age", "-o", str(tmp_path / "age.csv")]) == 0
    page = capsys.readouterr().out
    assert "age: 4,000 rows of geometric, epsilon 1 between values at most 10 apart" in page
    assert "median" in page
    found = nw.load(released).estimate("age")
    with (tmp_path / "age.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["share"]) for row in rows] == [share.share for share in found.shares]
    assert (rows[0]["column"], rows[0]["from"], rows[0]["value"]) == ("age", str(found.shares[0].start), "")
    assert run(["estimate", str(released), "--column", "age", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["columns"][0]["mean"] == {"value": found.mean.value, "low": found.mean.low, "high": found.mean.high}
    for words, told in (
        (["--within", "0:9"], "--within is for reports of a mechanism, not for a release"),
        (["--confidence", "0.99"], "--confidence is for reports of a mechanism, not for a release"),
        (["--method", "mle"], "--method is for reports of a mechanism, not for a release"),
        (["--joint"], "--joint is for reports of a mechanism, not for a release"),
        (["--column", "heigth"], "has no released column 'heigth'"),
    ):
        assert run(["estimate", str(released), *words]) == 2
        assert told in capsys.readouterr().err
    assert run(["estimate", str(released), "--column", "sex, lat,lon,age", "--json"]) == 0
    several = json.loads(capsys.readouterr().out)["columns"]
    assert [one["columns"] for one in several] == [["sex"], ["lat", "lon"], ["age"]]
    assert run(["estimate", str(released / "data.parquet")]) == 2
    assert f"is in the folder of a release, which is enough: noisewright estimate {released}" in capsys.readouterr().err


def test_shares_of_reports_are_sorted_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    names = ["rail", "bus", "car"]
    truth = pa.array(rng.choice(names, 9000, p=[0.1, 0.3, 0.6]).tolist())
    maker = nw.mechanisms.local_hashing(names, epsilon=2)
    nw.save(maker, tmp_path / "m.json")
    reports = maker.release(truth, rng)
    pq.write_table(
        pa.table({"day": ["monday"] * 9000, "bucket": reports.field("bucket"), "hash": reports.field("hash")}),
        tmp_path / "reports.parquet",
    )
    words = ["estimate", str(tmp_path / "reports.parquet"), "--mechanism", str(tmp_path / "m.json")]
    assert run([*words, "-o", str(tmp_path / "shares.csv")]) == 0
    page = capsys.readouterr().out
    assert page.index("car") < page.index("bus") < page.index("rail")
    with (tmp_path / "shares.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["secret"] for row in rows] == ["car", "bus", "rail"]
    assert [float(row["share"]) for row in rows] == pytest.approx([0.6, 0.3, 0.1], abs=0.06)
    pq.write_table(pa.table({"a": reports.field("hash"), "b": reports.field("bucket")}), tmp_path / "reports.parquet")
    assert run(words) == 2
    assert capsys.readouterr().err == (
        "noisewright: reports.parquet has 2 columns ('a', 'b'); say which one holds the reports with --column, for "
        "local-hashing first the hash, then the bucket: --column hash,bucket.\n"
    )
    assert run([*words, "--column", "a,b"]) == 0


def test_estimates_stay_in_the_declared_range(tmp_path: Path) -> None:
    """Bars and quartiles end where the range does, numbers have no powers of ten, and the short form is short."""
    rng = np.random.default_rng(3)
    rule = {"name": "pay", "mechanism": "geometric", "within": [0, 90_000], "protect": 5000, "epsilon": 0.4}
    policy = {"dataset": "c", "budget": {"epsilon": 1}, "columns": [{**rule, "missing": "keep"}]}
    nw.release(policy, pa.table({"pay": rng.integers(0, 90_001, 500)}), output=tmp_path / "out", seed=2)
    found = nw.load(tmp_path / "out").estimate("pay")
    assert (found.shares[0].start, found.shares[-1].end) == (0, 90_000)
    assert all(0 <= one.low <= one.value <= one.high <= 90_000 for one in found.quartiles)
    text = str(found)
    assert "values at most 5000 apart (whether one is missing is shown)" in text
    assert "e+" not in text
    assert "20,000" in text
    assert repr(found).startswith("<Estimate of 'pay': 500 rows, mean ")
    assert len(repr(found)) < 120
    assert ">median</th>" in found._repr_html_()


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ({"queries": POLICY["queries"]}, "has no released table, only answers, which have their intervals with them"),
        ({"columns": [{"name": "ward", "keep": True}]}, "has no column with noise of a known law"),
    ],
)
def test_a_release_with_nothing_to_estimate_says_so(
    policy: dict[str, Any], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = {"dataset": "clinic", "budget": {"epsilon": 20}, **policy}
    nw.release(whole, table(), output=tmp_path / "out", seed=1)
    for words in ([], ["-o", str(tmp_path / "shares.csv")]):
        assert run(["estimate", str(tmp_path / "out"), *words]) == 2
        assert told in capsys.readouterr().err
    assert not (tmp_path / "shares.csv").exists()


def test_shares_that_do_not_add_up_are_said_to_be_estimated_one_by_one() -> None:
    def of(*shares: float) -> ColumnEstimate:
        bars = tuple(Share(one, 0.0, 1.0, start=place, end=place + 1) for place, one in enumerate(shares))
        return ColumnEstimate(("height",), "laplace", "epsilon 1", 100, 0, bars)

    assert "(each share is estimated on its own; all of them add up to 114 %)" in str(of(0.6, 0.54))
    assert ("all shares add up to", "85 %") in facts_of(of(0.6, 0.25))
    assert "add up" not in str(of(0.6, 0.41))
