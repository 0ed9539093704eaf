"""``noisewright estimate``: from files of reports to a population, on a page and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import noisewright as nw

TRAVEL = ["car", "bike", "foot"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Mechanisms that were designed, and reports that they made."""
    place = tmp_path_factory.mktemp("reports")
    rng = np.random.default_rng(0)
    response = nw.randomised_response(TRAVEL, epsilon=1)
    answers = response.release(rng.choice(TRAVEL, 5000, p=[0.5, 0.3, 0.2]), rng)
    nw.save(response, place / "response.json")
    nw.save(response.channel(), place / "response.csv")
    pq.write_table(pa.table({"who": np.arange(5000), "travel": answers}), place / "travel.parquet", row_group_size=512)
    (place / "travel.csv").write_text("travel\n" + "\n".join(answers) + "\n")
    (place / "typos.csv").write_text("travel\n" + "\n".join(answers) + "\ntrain\n\nboat\n")
    line = nw.geometric(epsilon="0.5", within=(0, 20))
    nw.save(line, place / "line.json")
    ages = line.release(rng.binomial(20, 0.4, 4000), rng)
    (place / "ages.csv").write_text("age\n" + "\n".join(map(str, ages)) + "\n")
    (place / "odd.csv").write_text("age\n" + "\n".join(map(str, ages)) + "\n77\nabc\n3.5\n")
    nw.save(nw.geometric(epsilon="0.5"), place / "free.json")
    free = nw.geometric(epsilon="0.5").release(rng.binomial(20, 0.4, 4000), rng)
    pq.write_table(pa.table({"age": free}), place / "free.parquet")
    plane = nw.mechanisms.planar_geometric(nw.mechanisms.Grid(4, 3, step=50), epsilon="1/50")
    nw.save(plane, place / "plane.json")
    spots = plane.release(np.array(plane.points)[rng.integers(0, 12, 3000)], rng)
    pq.write_table(pa.table({"x": spots[:, 0], "y": spots[:, 1]}), place / "places.parquet")
    codes = nw.randomised_response(["007", "12", "x"], epsilon=2)
    nw.save(codes, place / "codes.json")
    (place / "codes.csv").write_text("code\n" + "\n".join(codes.release(["12"] * 300, rng)) + "\n")
    return place


def shares(document):
    return dict(zip(map(str, document["secrets"]), document["probabilities"], strict=True))


def test_categories_with_intervals(call, folder):
    answer = call(
        "estimate", folder / "travel.parquet", "--mechanism", folder / "response.json", "--column", "travel",
        "--intervals", "asymptotic",
    )  # fmt: skip
    assert answer.code == 0
    for word in (*TRAVEL, "95 % interval", "5,000 reports", "certified", "epsilon 1 between any two answers"):
        assert word in answer.words


def test_json_holds_the_whole_estimate(call, folder):
    arguments = ["estimate", folder / "travel.csv", "--mechanism", folder / "response.json", "--json"]
    found = call(*arguments).json
    assert shares(found)["car"] == pytest.approx(0.5, abs=0.06)
    assert (found["reports"], found["dropped"], found["method"]) == (5000, 0, "mle")
    assert found["gap_units"] < 1e-6
    by_parquet = call("estimate", folder / "travel.parquet", "--column", "travel", *arguments[2:]).json
    assert by_parquet["probabilities"] == found["probabilities"]
    by_channel = call("estimate", folder / "travel.csv", "--mechanism", folder / "response.csv", "--json").json
    assert by_channel["probabilities"] == pytest.approx(found["probabilities"], abs=1e-6)
    reports = pq.read_table(folder / "travel.parquet").column("travel")
    ours = nw.estimate(reports, nw.randomised_response(TRAVEL, epsilon=1))
    assert found["probabilities"] == ours.probabilities.tolist()


def test_numbers_with_a_picture(call, folder, tmp_path):
    picture = tmp_path / "ages.png"
    answer = call(
        "estimate", folder / "ages.csv", "--mechanism", folder / "line.json", "--iterations", "100",
        "--intervals", "bootstrap", "--confidence", "0.9", "--plot", picture,
    )  # fmt: skip
    assert answer.code == 0
    assert "iterative Bayesian update, 100 steps" in answer.words
    assert "90 % interval" in answer.words
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_noise_without_bounds_needs_its_range(call, folder):
    arguments = ["estimate", folder / "free.parquet", "--mechanism", folder / "free.json"]
    refused = call(*arguments)
    assert refused.code == 2
    assert "range" in refused.err
    found = call(*arguments, "--within", "0:20", "--json").json
    assert len(found["probabilities"]) == 21
    mean = float(np.array(found["probabilities"]) @ np.arange(21))
    assert mean == pytest.approx(8, abs=0.4)


def test_places_are_in_two_columns(call, folder):
    arguments = ["estimate", folder / "places.parquet", "--mechanism", folder / "plane.json", "--within"]
    found = call(*arguments, "0:150,0:100", "--column", "x,y", "--json").json
    assert found["secrets"][4] == {"tuple": [50, 50]}
    assert sum(found["probabilities"]) == pytest.approx(1)
    wrong = call(*arguments, "0:150,0:100", "--column", "x")
    assert wrong.code == 2
    assert "2 parts" in wrong.err
    for within in ("0:150", "0:150,0:100,0:3", "many", "5:1,0:100"):
        assert call(*arguments, within, "--column", "x,y").code == 2


def test_text_that_looks_like_numbers_stays_text(call, folder):
    found = call("estimate", folder / "codes.csv", "--mechanism", folder / "codes.json", "--json").json
    assert shares(found)["12"] > 0.9


@pytest.mark.parametrize(
    ("reports", "mechanism", "dropped"), [("typos.csv", "response.json", 3), ("odd.csv", "line.json", 3)]
)
def test_reports_that_are_no_outputs(call, folder, reports, mechanism, dropped):
    arguments = ["estimate", folder / reports, "--mechanism", folder / mechanism]
    refused = call(*arguments)
    assert refused.code == 2
    assert f"{dropped} of " in refused.err
    for value in ("train", "boat", "77", "abc"):
        assert value not in refused.err
    kept = call(*arguments, "--outside", "drop")
    assert f"{dropped} reports that are no outputs" in kept.words
    assert call(*arguments, "--outside", "drop", "--json").json["dropped"] == dropped


def test_nothing_is_drawn_when_something_is_wrong(call, folder, tmp_path):
    picture = tmp_path / "never.png"
    answer = call("estimate", folder / "typos.csv", "--mechanism", folder / "response.json", "--plot", picture)
    assert answer.code == 2
    assert not picture.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["travel.parquet", "--mechanism", "response.json"], "2 columns"),
        (["travel.parquet", "--mechanism", "response.json", "--column", "car"], "no column 'car'"),
        (["travel.csv", "--mechanism", "line.json"], "5000 of 5000 reports are not outputs"),
        (["ages.csv", "--mechanism", "line.json", "--within", "0:20"], "known"),
        (["ages.csv", "--mechanism", "line.json", "--method", "em"], "--method"),
        (["ages.csv", "--mechanism", "line.json", "--intervals", "exact"], "--intervals"),
        (["ages.csv", "--mechanism", "line.json", "--outside", "keep"], "--outside"),
        (["ages.csv", "--mechanism", "line.json", "--engine", "ray"], "--engine"),
        (["ages.csv", "--mechanism", "line.json", "--master", "local[1]"], "--engine spark"),
        (
            ["ages.csv", "--mechanism", "line.json", "--confidence", "95", "--intervals", "asymptotic"],
            "above 0 and below 1",
        ),
        (["ages.csv", "--mechanism", "line.json", "--plot", "a.txt"], ".png"),
        (["ages.csv", "--mechanism", "ages.csv"], "ages.csv"),
        (["none.csv", "--mechanism", "line.json"], "none.csv"),
        (["ages.csv", "--mechanism", "none.json"], "none.json"),
        (["ages.csv"], "--mechanism"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_bad_arguments_are_one_sentence(call, folder, monkeypatch, arguments, words, as_json):
    monkeypatch.chdir(folder)
    answer = call("estimate", *arguments, *(["--json"] if as_json else []))
    assert answer.code == 2
    assert words in (answer.json["error"] if as_json else answer.err)


def test_a_forged_certificate_is_refused(call, folder, tmp_path):
    document = json.loads((folder / "line.json").read_text())
    document["claim"]["epsilon"] = "1/10"
    forged = tmp_path / "forged.json"
    forged.write_text(json.dumps(document))
    answer = call("estimate", folder / "ages.csv", "--mechanism", forged)
    assert answer.code == 2
    assert "does not prove its claim" in answer.err


def test_what_cannot_be_told_is_noted(call, folder, tmp_path):
    (tmp_path / "blind.csv").write_text(",yes,no\na,0.6,0.4\nb,0.4,0.6\nc,0.5,0.5\n")
    (tmp_path / "answers.csv").write_text("answer\nyes\nno\nyes\n")
    answer = call("estimate", tmp_path / "answers.csv", "--mechanism", tmp_path / "blind.csv")
    assert answer.code == 0
    assert "fix 2 of 3 directions" in answer.words


@pytest.mark.parametrize("name", ["unary-encoding", "local-hashing", "subset-selection", "hadamard-response"])
def test_frequency_oracles(call, tmp_path, name):
    """Their reports are bits, sets or hashes, counted by the categories that they support."""
    from noisewright.mechanisms.registry import registry

    rng = np.random.default_rng(2)
    mechanism = registry[name].make(TRAVEL, epsilon=2)
    nw.save(mechanism, tmp_path / "m.json")
    told = mechanism.release(pa.array(rng.choice(TRAVEL, 8000, p=[0.6, 0.3, 0.1]).tolist()), rng)
    pq.write_table(pa.table({"report": told}), tmp_path / "reports.parquet")
    arguments = ["estimate", tmp_path / "reports.parquet", "--mechanism", tmp_path / "m.json"]
    found = call(*arguments, "--intervals", "asymptotic", "--json").json
    assert found["probabilities"] == pytest.approx([0.6, 0.3, 0.1], abs=0.06)
    assert found["probabilities"] == nw.estimate(told, mechanism).probabilities.tolist()
    page = call(*arguments)
    assert page.code == 0
    assert "8,000 reports" in page.words
    assert call(*arguments, "--within", "0:9").code == 2
    if name != "hadamard-response":
        refused = call(*arguments, "--engine", "spark")
        assert refused.code == 2
        assert "engine local" in refused.err


@pytest.mark.xdist_group("spark")
def test_spark_counts_the_same(call, folder):
    """Only a GROUP BY runs on Spark; the estimate is the same number for number."""
    arguments = ["estimate", folder / "travel.parquet", "--mechanism", folder / "response.json", "--column", "travel"]
    local = call(*arguments, "--json").json
    spark = call(*arguments, "--engine", "spark", "--master", "local[1]", "--json").json
    assert spark == local
