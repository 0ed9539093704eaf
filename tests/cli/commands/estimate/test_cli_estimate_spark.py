"""``noisewright estimate --engine spark``: one GROUP BY in a real session, and the same answer as the local engine gives."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import made_by

import noisewright as nw

pytestmark = pytest.mark.xdist_group("spark")

TRAVEL = ["car", "bike", "foot"]
BY = ["--by", "device", *made_by("cards=cards.json,dice=dice.json")]
DROP = ["--outside", "drop"]
GRID = ["--mechanism", "plane.json", "--within", "0:150,0:100", "--column", "x,y"]
ODD_NAMES = ["a b", "it's", "x.y", 'say "hi"', "back`tick", "nw_count", "a,b", " pad ", "Größe"]


@pytest.fixture(scope="module", autouse=True)
def session() -> Iterator[None]:
    """One session for all calls, which find it."""
    from noisewright.engines.spark_session import start_spark

    started, own = start_spark("local[2]")
    yield
    if own:
        started.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("spark reports")
    rng = np.random.default_rng(0)
    cards, dice = (nw.randomised_response(TRAVEL, epsilon=epsilon) for epsilon in (1, "0.5"))
    ages = nw.geometric(epsilon="0.5", within=(0, 20))
    plane = nw.mechanisms.planar_geometric(nw.mechanisms.Grid(4, 3, step=50), epsilon="1/50")
    for name, mechanism in {"cards": cards, "dice": dice, "ages": ages, "plane": plane}.items():
        nw.save(mechanism, place / f"{name}.json")
    nw.save(nw.geometric(epsilon="0.5"), place / "free.json")
    nw.save(nw.randomised_response(["2024-01-01", "2024-01-02"], epsilon=1), place / "days.json")
    first = cards.release(rng.choice(TRAVEL, 3000), rng).tolist()
    second = dice.release(rng.choice(TRAVEL, 2000), rng).tolist()

    def text(name: str, *lines: object) -> None:
        (place / name).write_text("".join(f"{line}\n" for line in lines))

    text("travel.csv", "travel", *first)
    text("typos.csv", "travel", *first, "train", '""', "", ' "x"', "")
    numbers = ages.release(rng.binomial(20, 0.4, 1000), rng).tolist()
    text("ages.csv", "age", *numbers)
    text("odd.csv", "age", *numbers, 77, "abc", 3.5, '""', " 5", "5 ", "+5", "05", "1e1", "NaN", "inf")
    text("header.csv", "travel")
    text("blank.csv", "travel", "")
    text("lines.csv", "travel,device", '"car",cards', '"bike\nx",cards', 'foot,"a,b"', ",dice", "car,", "car,dice")
    text("days.jsonl", *(json.dumps({"day": f"2024-01-0{1 + n % 2}", "device": n % 3}) for n in range(90)))
    with gzip.open(place / "packed.csv.gz", "wt") as file:
        file.write("travel\r\ncar\r\nbike\r\n")
    spots = plane.release(np.array(plane.points)[rng.integers(0, 12, 500)], rng)
    x, y = (pa.array([None, 7, *spots[:, 0].tolist()]), pa.array([1, None, *spots[:, 1].tolist()]))
    pq.write_table(pa.table({"x": x, "y": y}).slice(2), place / "places.parquet")
    pq.write_table(pa.table({"x": x, "y": y}), place / "nowhere.parquet")
    text("places.csv", "x;y", *(f"{a};{b}" for a, b in spots.tolist()))
    both = pa.table({"travel": [*first, *second], "device": ["cards"] * 3000 + ["dice"] * 2000})
    pq.write_table(both, place / "both.parquet")
    pq.write_table(both.slice(0, 0), place / "none.parquet")
    strange = {"travel": ["car", None, "boat", "car", "foot"], "device": ["cards", "dice", "cards", None, "Dice"]}
    pq.write_table(pa.concat_tables([both, pa.table(strange)]), place / "strange.parquet")
    coded = {"travel": both["travel"].combine_chunks().dictionary_encode(), "device": pa.array([1] * 3000 + [2] * 2000)}
    pq.write_table(pa.table(coded), place / "coded.parquet")
    (place / "many").mkdir()
    pq.write_table(both.slice(0, 3500), place / "many" / "b.parquet")
    pq.write_table(both.slice(3500), place / "many" / "a.parquet")
    (place / "texts").mkdir()
    text("texts/1.csv", "travel", *first[:10], "")
    text("texts/2.csv", "travel", *first[10:20])
    named = dict.fromkeys(ODD_NAMES, both["travel"]) | {"de.vi ce`": both["device"]}
    pq.write_table(pa.table(named), place / "names.parquet")
    with open(place / "names.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(named)
        rows.writerows(zip(*(column.to_pylist() for column in named.values()), strict=True))
    pq.write_table(pa.table({"Travel": first, "travel": first}), place / "twins.parquet")
    text("twins.csv", "Travel,travel", "car,car")
    free = nw.geometric(epsilon="0.5").release([3] * 500, rng)
    pq.write_table(pa.table({"age": free}), place / "free.parquet")
    pq.write_table(pa.table({"age": [1.0, 2.0, float("nan"), -0.0, 0.0, None, 3.5]}), place / "floats.parquet")
    pq.write_table(pa.table({"travel": second}), place / "second.parquet")
    return place


def both_engines(call, folder, monkeypatch, *arguments):
    """The answer of the local engine, after it was found that Spark gives the same, number for number and word for word."""
    monkeypatch.chdir(folder)
    local = call("estimate", *arguments, "--json")
    spark = call("estimate", *arguments, "--engine", "spark", "--json")
    assert spark == local
    return local


@pytest.mark.parametrize(
    ("arguments", "reports", "dropped", "unnamed"),
    [
        (["travel.csv", "--mechanism", "cards.json"], 3000, 0, 0),
        (["typos.csv", "--mechanism", "cards.json", *DROP], 3000, 5, 0),
        (["ages.csv", "--mechanism", "ages.json"], 1000, 0, 0),
        (["odd.csv", "--mechanism", "ages.json", *DROP], 1005, 6, 0),
        (["packed.csv.gz", "--mechanism", "cards.json"], 2, 0, 0),
        (["texts", "--mechanism", "cards.json", *DROP], 20, 1, 0),
        (["places.parquet", *GRID], 500, 0, 0),
        (["places.csv", *GRID], 500, 0, 0),
        (["nowhere.parquet", *GRID, *DROP], 500, 2, 0),
        (["both.parquet", *BY], 5000, 0, 0),
        (["many", *BY], 5000, 0, 0),
        (["strange.parquet", *BY, *DROP], 5001, 4, 2),
        (["lines.csv", *BY, *DROP], 2, 4, 2),
        (["coded.parquet", "--by", "device", *made_by("1=cards.json,2=dice.json")], 5000, 0, 0),
        (["coded.parquet", "--by", "device", "--mechanism", "2=dice.json", *DROP], 2000, 3000, 3000),
        (["days.jsonl", "--column", "day", "--mechanism", "days.json"], 90, 0, 0),
        (["days.jsonl", "--by", "device", *made_by("0=days.json,1=days.json,2=days.json")], 90, 0, 0),
        (["free.parquet", "--mechanism", "free.json", "--within", "0:10"], 500, 0, 0),
        (["floats.parquet", "--mechanism", "ages.json", *DROP], 4, 3, 0),
        (["travel.csv", "second.parquet", *made_by("cards.json,dice.json")], 5000, 0, 0),
        (["travel.csv", "second.parquet", "--mechanism", "cards.json"], 5000, 0, 0),
        (["both.parquet", "many", *BY], 10000, 0, 0),
    ],
)
def test_spark_and_local_give_the_same(call, folder, monkeypatch, arguments, reports, dropped, unnamed):
    found = both_engines(call, folder, monkeypatch, *arguments).json
    assert (found["reports"], found["dropped"], found["unnamed"]) == (reports, dropped, unnamed)
    assert sum(part["reports"] for part in found["parts"]) == reports
    assert sum(found["probabilities"]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("file", "name"),
    [*(("names.parquet", name) for name in ODD_NAMES), *(("names.csv", name) for name in ("x.y", "back`tick", "a,b"))],
)
def test_names_of_columns_hold_anything(call, folder, monkeypatch, file, name):
    mechanisms = made_by("cards=cards.json,dice=dice.json")
    found = both_engines(call, folder, monkeypatch, file, "--column", name, "--by", "de.vi ce`", *mechanisms).json
    assert [part["reports"] for part in found["parts"]] == [3000, 2000]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["typos.csv", "--mechanism", "cards.json"], "5 of 3005 reports are not outputs"),
        (["odd.csv", "--mechanism", "ages.json"], "6 of 1011 reports are not outputs"),
        (["strange.parquet", *BY], "2 of 5005 rows name none of the mechanisms"),
        (["strange.parquet", "--column", "travel", "--mechanism", "cards.json"], "2 of 5005 reports are not outputs"),
        (["nowhere.parquet", *GRID], "2 of 502 reports are not outputs"),
        (["header.csv", "--mechanism", "cards.json"], "no reports to estimate from"),
        (["blank.csv", "--mechanism", "cards.json", *DROP], "1 of 1 reports are not outputs"),
        (["none.parquet", *BY], "no reports to estimate from"),
        (["twins.parquet", "--column", "travel", "--mechanism", "cards.json"], "two columns of the same name"),
        (["twins.csv", "--column", "travel", "--mechanism", "cards.json"], "two columns of the same name"),
        (["names.parquet", "--column", "A B", "--mechanism", "cards.json"], "no column 'A B'"),
        (["floats.parquet", "--by", "age", "--mechanism", "1=ages.json"], "0 columns beside 'age'"),
    ],
)
def test_spark_and_local_refuse_the_same(call, folder, monkeypatch, arguments, words):
    answer = both_engines(call, folder, monkeypatch, *arguments)
    assert answer.code == 2
    assert words in answer.json["error"]
    for value in ("train", "boat", "Dice", "abc", "77"):
        assert value not in answer.json["error"]


def test_one_group_by_for_each_table(call, folder, monkeypatch):
    """Whatever the number of mechanisms, and nothing but counts comes back."""
    from noisewright.engines.spark import SparkEngine

    asked: list[tuple[str, tuple[str, ...], int]] = []
    aggregate = SparkEngine.aggregate

    def watched(self, source, statistic, unit):
        found = aggregate(self, source, statistic, unit)
        asked.append((source.name, statistic.columns, found.num_rows))
        return found

    monkeypatch.setattr(SparkEngine, "aggregate", watched)
    monkeypatch.chdir(folder)
    assert call("estimate", "both.parquet", "many", *BY, "--engine", "spark").code == 0
    assert asked == [("both.parquet", ("travel", "device"), 6), ("many", ("travel", "device"), 6)]
