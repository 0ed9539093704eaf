"""``noisewright estimate`` with several mechanisms: one for each table, or named by the rows of a table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_support import made_by

import noisewright as nw
from noisewright.mechanisms.registry import registry

TRAVEL = ["car", "bike", "foot"]
CARDS = nw.randomised_response(TRAVEL, epsilon=1)
DICE = nw.randomised_response(TRAVEL, epsilon="0.5")
BOTH = "cards=cards.json,dice=dice.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two mechanisms, a table of reports of each, and one of both."""
    place = tmp_path_factory.mktemp("mixtures")
    rng = np.random.default_rng(0)
    nw.save(CARDS, place / "cards.json")
    nw.save(DICE, place / "dice.json")
    nw.save(DICE.channel(), place / "channel.csv")
    nw.save(nw.randomised_response(["car", "foot", "bike"], epsilon=1), place / "other.json")
    nw.save(nw.geometric(epsilon=1, within=(0, 9)), place / "bounded.json")
    nw.save(nw.geometric(epsilon="0.5"), place / "free.json")
    spring = CARDS.release(rng.choice(TRAVEL, 3000, p=[0.5, 0.3, 0.2]), rng).tolist()
    autumn = DICE.release(rng.choice(TRAVEL, 2000, p=[0.5, 0.3, 0.2]), rng).tolist()
    pq.write_table(pa.table({"answer": spring}), place / "spring.parquet", row_group_size=700)
    (place / "autumn.csv").write_text("answer\n" + "\n".join(autumn) + "\n")
    device = ["cards"] * 3000 + ["dice"] * 2000
    order = rng.permutation(5000)
    both = pa.table({"who": np.arange(5000), "answer": spring + autumn, "device": device}).take(order)
    pq.write_table(both, place / "both.parquet", row_group_size=512)
    pq.write_table(both.select(["device", "answer"]), place / "two.parquet")
    strange = pa.table({"answer": [*spring, "secret-a", "car", "car"], "device": ["cards"] * 3001 + ["secret-b", None]})
    pq.write_table(strange, place / "strange.parquet")
    pq.write_table(both.slice(0, 0), place / "none.parquet")
    codes = [{"cards": "01", "dice": "1"}[name] for name in device]
    lines = [f"{a},{c}" for a, c in zip(spring + autumn, codes, strict=True)]
    (place / "codes.csv").write_text("answer,device\n" + "\n".join(lines) + "\n")
    rows = ({"answer": a, "device": len(d)} for a, d in zip(spring + autumn, device, strict=True))
    (place / "numbers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def expected(folder: Path):
    spring = pq.read_table(folder / "spring.parquet").column("answer")
    autumn = (folder / "autumn.csv").read_text().split()[1:]
    return nw.estimate([spring, autumn], [CARDS, DICE], intervals="asymptotic")


def test_a_mechanism_for_each_table(call, folder):
    arguments = ["estimate", "spring.parquet", "autumn.csv", *made_by("cards.json,dice.json")]
    found = call(*arguments, "--intervals", "asymptotic", "--json").json
    ours = expected(folder)
    assert found["probabilities"] == ours.probabilities.tolist()
    assert (found["low"], found["high"]) == (ours.low.tolist(), ours.high.tolist())
    assert (found["files"], found["by"], found["reports"]) == (["spring.parquet", "autumn.csv"], None, 5000)
    assert found["parts"] == [
        {
            "name": None,
            "file": file,
            "mechanism": "randomised-response",
            "mechanism_file": mechanism,
            "promise": f"epsilon = {epsilon} per unit of discrete",
            "reports": reports,
            "dropped": 0,
        }
        for file, mechanism, epsilon, reports in (
            ("spring.parquet", "cards.json", "1", 3000),
            ("autumn.csv", "dice.json", "0.5", 2000),
        )
    ]
    page = call(*arguments)
    assert page.code == 0
    for words in (
        "spring.parquet, autumn.csv",
        "5,000 reports",
        "3,000",
        "2,000",
        "epsilon 0.5 between any two answers",
    ):
        assert words in page.words
    assert "of each report: that of its own mechanism, as listed; several reports of one person add up" in page.words


def test_the_promise_of_a_mixture_is_not_the_best_of_them(call):
    found = call("estimate", "spring.parquet", "autumn.csv", *made_by("cards.json,channel.csv"), "--json").json
    assert found["promise"] == "spring.parquet: epsilon = 1 per unit of discrete; autumn.csv: no promise known"
    page = call("estimate", "spring.parquet", "autumn.csv", *made_by("cards.json,channel.csv"))
    assert "none is known" in page.words


def test_one_mechanism_for_several_tables(call, folder):
    found = call("estimate", "spring.parquet", "autumn.csv", "--mechanism", "cards.json", "--json").json
    spring = pq.read_table(folder / "spring.parquet").column("answer").to_pylist()
    autumn = (folder / "autumn.csv").read_text().split()[1:]
    assert found["probabilities"] == nw.estimate(spring + autumn, CARDS).probabilities.tolist()
    assert [part["reports"] for part in found["parts"]] == [3000, 2000]
    assert found["promise"] == "epsilon = 1 per unit of discrete"
    assert found["iterations"] == 0


@pytest.mark.parametrize(
    ("file", "mechanisms"),
    [
        ("both.parquet", BOTH),
        ("two.parquet", BOTH),
        ("codes.csv", "01=cards.json,1=dice.json"),
        ("numbers.jsonl", "5=cards.json,4=dice.json"),
    ],
)
def test_rows_that_name_their_mechanism(call, folder, file, mechanisms):
    found = call(
        "estimate", file, "--column", "answer", "--by", "device", *made_by(mechanisms), "--json"
    ).json  # fmt: skip
    assert found["probabilities"] == expected(folder).probabilities.tolist()
    assert [part["reports"] for part in found["parts"]] == [3000, 2000]
    assert [part["name"] for part in found["parts"]] == [one.partition("=")[0] for one in mechanisms.split(",")]
    assert (found["by"], found["unnamed"], found["dropped"]) == ("device", 0, 0)


def test_each_table_is_read_once(call, monkeypatch):
    """Whatever the number of mechanisms."""
    from noisewright.tables.source import Source

    asked: list[tuple[str, ...]] = []
    batches = Source.batches

    def watched(self, columns, every=1):
        asked.append((self.name, *columns))
        return batches(self, columns, every)

    monkeypatch.setattr(Source, "batches", watched)
    found = call("estimate", "both.parquet", "two.parquet", "--column", "answer", "--by", "device", *made_by(BOTH))
    assert "10,000 reports" in found.words
    assert asked == [("both.parquet", "answer", "device"), ("two.parquet", "answer", "device")]


def test_progress_is_about_the_rows_of_all_tables():
    from noisewright.engines.report_counts import count_into
    from noisewright.estimation.mixture import Mixture

    seen: list[tuple[int, int | None]] = []
    mixture = Mixture({"cards": CARDS, "dice": DICE})
    files = ["both.parquet", "two.parquet"]
    count_into(mixture, files, "answer", "device", engine="local", progress=lambda *now: seen.append(now))
    assert seen[-1] == (10_000, 10_000)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    assert {total for _, total in seen} == {10_000}


def test_the_column_of_the_reports_is_the_only_other_one(call):
    assert call("estimate", "two.parquet", "--by", "device", *made_by(BOTH), "--json").json["reports"] == 5000
    refused = call("estimate", "both.parquet", "--by", "device", *made_by(BOTH))
    assert "both.parquet has 2 columns beside 'device'" in refused.err


def test_rows_without_a_mechanism_are_refused_or_left_out(call):
    arguments = ["estimate", "strange.parquet", "--by", "device", *made_by(BOTH)]
    refused = call(*arguments)
    assert refused.code == 2
    assert "2 of 3003 rows name none of the mechanisms" in refused.err
    page = call(*arguments, "--outside", "drop")
    assert "1 report that is no output of their mechanism" in page.words
    assert "2 rows that name none of the mechanisms" in page.words
    assert "there are no reports of dice; the estimate is from the others" in page.words
    found = call(*arguments, "--outside", "drop", "--json").json
    assert (found["reports"], found["dropped"], found["unnamed"]) == (3000, 3, 2)
    assert [part["dropped"] for part in found["parts"]] == [1, 0]
    assert found["promise"] == "epsilon = 1 per unit of discrete"
    for answer in (refused, page, call(*arguments, "--json")):
        assert "secret-" not in answer.out + answer.err


def test_reports_that_are_no_outputs_are_told_with_the_table(call, folder, tmp_path):
    table = tmp_path / "typos.csv"
    table.write_text("answer\ncar\nboat\n")
    refused = call("estimate", "spring.parquet", table, *made_by("cards.json,dice.json"))
    assert refused.code == 2
    assert f"{table}: 1 of 2 reports are not outputs of this mechanism" in refused.err
    assert "boat" not in refused.err


def test_a_table_without_rows_is_noted_unless_all_are_empty(call, tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("answer\n")
    found = call("estimate", "spring.parquet", empty, *made_by("cards.json,dice.json"), "--json").json
    assert found["reports"] == 3000
    assert f"there are no reports of {empty}; the estimate is from the others." in found["warnings"]
    nothing = call("estimate", "none.parquet", "--column", "answer", "--by", "device", *made_by(BOTH))
    assert nothing.code == 2
    assert "there are no reports to estimate from" in nothing.err


def test_signs_in_names_and_files(call, folder, tmp_path, monkeypatch):
    """``=`` and ``,`` may be part of a name or of a file."""
    monkeypatch.chdir(tmp_path)
    nw.save(CARDS, tmp_path / "epsilon=1.json")
    nw.save(DICE, tmp_path / "a,b.json")
    pq.write_table(pa.table({"answer": ["car", "foot"], "device": ["e=1", "x"]}), "r.parquet")
    found = call("estimate", "r.parquet", "--by", "device", *made_by("e=1=epsilon=1.json,x=epsilon=1.json"), "--json")
    assert [part["name"] for part in found.json["parts"]] == ["e=1", "x"]
    pq.write_table(pa.table({"answer": ["car", "foot"]}), "s.parquet")
    assert call("estimate", "s.parquet", "--mechanism", "a,b.json", "--json").json["reports"] == 2


def test_a_range_is_for_those_without_bounds(call, tmp_path):
    pq.write_table(pa.table({"age": [3, 12], "device": ["b", "f"]}), tmp_path / "ages.parquet")
    arguments = ["estimate", tmp_path / "ages.parquet", "--by", "device"]
    assert call(*arguments, *made_by("b=bounded.json,f=free.json"), "--within", "0:9", "--json").json["reports"] == 2
    assert "range" in call(*arguments, *made_by("b=bounded.json,f=free.json")).err
    assert "without bounds" in call(*arguments, *made_by("b=bounded.json,f=bounded.json"), "--within", "0:9").err


@pytest.mark.parametrize("name", ["unary-encoding", "local-hashing", "subset-selection", "hadamard-response"])
def test_mixtures_of_oracles(call, tmp_path, name):
    rng = np.random.default_rng(2)
    makers = [registry[name].make(TRAVEL, epsilon=epsilon) for epsilon in (2, 1)]
    told = [m.release(pa.array(rng.choice(TRAVEL, 4000, p=[0.6, 0.3, 0.1]).tolist()), rng) for m in makers]
    for number, (maker, reports) in enumerate(zip(makers, told, strict=True)):
        nw.save(maker, tmp_path / f"{number}.json")
        pq.write_table(pa.table({"report": reports}), tmp_path / f"{number}.parquet")
    ours = nw.estimate(told, makers)
    mechanisms = f"{tmp_path / '0.json'},{tmp_path / '1.json'}"
    tables = call("estimate", tmp_path / "0.parquet", tmp_path / "1.parquet", *made_by(mechanisms), "--json").json
    assert tables["probabilities"] == ours.probabilities.tolist()
    if told[0].type == told[1].type:  # so that both fit into one column
        by = pa.table({"report": pa.concat_arrays(told), "device": ["a"] * 4000 + ["b"] * 4000})
        pq.write_table(by, tmp_path / "by.parquet")
        named = f"a={tmp_path / '0.json'},b={tmp_path / '1.json'}"
        rows = call("estimate", tmp_path / "by.parquet", "--by", "device", *made_by(named), "--json").json
        assert rows["probabilities"] == ours.probabilities.tolist()
    if name != "hadamard-response":
        mixed = call(
            "estimate", tmp_path / "0.parquet", "spring.parquet", *made_by(f"{tmp_path / '0.json'},cards.json")
        )  # fmt: skip
        assert mixed.code == 2
        assert f"reports of {name} are counted by the categories that they support" in mixed.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["spring.parquet", *made_by("cards.json,dice.json")], "given 2 times for 1 table;"),
        (
            ["spring.parquet", "autumn.csv", "two.parquet", *made_by("cards.json,dice.json")],
            "2 times for 3 tables",
        ),
        (["spring.parquet", "spring.parquet", "--mechanism", "cards.json"], "spring.parquet is given more than once"),
        (["spring.parquet", "autumn.csv", *made_by("cards.json,other.json")], "same secrets, in the same order"),
        (["spring.parquet", "autumn.csv", *made_by("cards.json,none.json")], "none.json"),
        (["spring.parquet", "none.csv", *made_by("cards.json,dice.json")], "none.csv"),
        (["spring.parquet", "two.parquet", *made_by("cards.json,dice.json")], "two.parquet has 2 columns"),
        (["two.parquet", "--by", "device", "--mechanism", "cards.json"], "NAME=FILE"),
        (["two.parquet", "--by", "device", "--mechanism", "cards="], "NAME=FILE"),
        (
            ["two.parquet", "--by", "device", *made_by("cards=cards.json,cards=dice.json")],
            "'cards' more than once",
        ),
        (["two.parquet", "--by", "tool", *made_by(BOTH)], "no column 'tool'"),
        (["two.parquet", "--by", "device", "--column", "device", *made_by(BOTH)], "different columns"),
        (["two.parquet", "--by", "device", "--column", "answer,answer", *made_by(BOTH)], "different columns"),
        (["both.parquet", "--by", "device", "--column", "answer,who", *made_by(BOTH)], "has 1 part"),
        (["--mechanism", "cards.json"], "REPORTS"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_bad_mixtures_are_one_sentence(call, arguments, words, as_json):
    answer = call("estimate", *arguments, *(["--json"] if as_json else []))
    assert answer.code == 2
    assert words in (answer.json["error"] if as_json else answer.err)


def test_joint_intervals_are_said_and_wider(call, folder):
    arguments = [
        "estimate",
        "spring.parquet",
        "autumn.csv",
        *made_by("cards.json,dice.json"),
        "--intervals",
        "asymptotic",
    ]
    alone, together = (call(*arguments, *more, "--json").json for more in ([], ["--joint"]))
    assert (alone["joint"], together["joint"]) == (False, True)
    assert all(a < b for a, b in zip(together["low"], alone["low"], strict=True))
    assert "asymptotic, for all secrets together" in call(*arguments, "--joint").words
    refused = call("estimate", "spring.parquet", "--mechanism", "cards.json", "--joint")
    assert refused.code == 2
    assert "--joint is about intervals" in refused.err


def test_the_unbiased_estimate_is_shown_beside_its_projection(call, folder):
    page = call("estimate", "spring.parquet", "--mechanism", "cards.json", "--method", "inversion")
    assert "Unbiased" in page.out
    assert "Unbiased" not in call("estimate", "spring.parquet", "--mechanism", "cards.json").out
