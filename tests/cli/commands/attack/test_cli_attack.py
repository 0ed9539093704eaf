"""``noisewright attack``: the list of attacks, and inference from a noisy count."""

from __future__ import annotations

import math

import pyarrow as pa
import pyarrow.parquet
import pytest

from noisewright.attacks.new_row import NewRow
from noisewright.cli.app import ATTACKS

SECRET = "Zebulon-7"
COLUMNS = {
    "illness": ["none"] * 60 + ["flu"] * 40,
    "visits": [0] * 50 + [1] * 10 + [1] * 5 + [2] * 35,
    "colour": ["red"] * 50 + ["green"] * 20 + ["blue"] * 30,
    "age": ["15-24", "25-34"] * 50,
}


@pytest.fixture
def clinic(files):
    path = files / "clinic.csv"
    rows = zip(*COLUMNS.values(), strict=True)
    path.write_text("\n".join([",".join(COLUMNS), *(",".join(map(str, row)) for row in rows)]) + "\n")
    pa.parquet.write_table(pa.table(COLUMNS), files / "clinic.parquet")
    return path


def asked(path, *more, useful="visits", value="2", epsilon="1,2,5"):
    return (
        "attack", "inference", path, "--sensitive", "illness", "--useful", useful, "--value", value, "--epsilon", epsilon, *more
    )  # fmt: skip


def test_attack_alone_lists_the_attacks(call):
    words = call("attack").words
    assert list(ATTACKS) == ["inference", "linkage", "suppression", "author", "faces", "private-attribute"]
    for name in ATTACKS:
        assert f"{name} {ATTACKS.load(name).summary}" in words
    listed = call("attack", "--json").json
    assert [attack["name"] for attack in listed["attacks"]] == list(ATTACKS)
    assert call("attack", "guessing").code == 2


def test_the_numbers_are_those_of_the_library(call, clinic):
    attack = NewRow.from_table(COLUMNS, "illness", "visits", 2)
    for path in (clinic, clinic.with_suffix(".parquet")):
        for words in (asked(path, "--json"), ("attack", "--json", *asked(path)[1:])):
            data = call(*words).json
            assert [(r["epsilon"], r["place"]) for r in data["results"]] == [
                (e, place) for e in (1.0, 2.0, 5.0) for place in ("count", "rows")
            ]
            for pair, epsilon in zip(zip(*[iter(data["results"])] * 2, strict=True), (1, 2, 5), strict=True):
                for found, expected in zip(
                    pair, (attack.oblivious(epsilon=epsilon), attack.local(epsilon=epsilon)), strict=True
                ):
                    assert found["privacy_loss"] == expected.privacy_loss
                    assert found["utility"] == expected.utility
            assert data["minimum"] == pytest.approx({"privacy_loss": 1.0, "utility": 0.65})
            assert data["maximum"]["privacy_loss"] == pytest.approx(0.95 / 0.6)
            assert data["full_leak"] == pytest.approx(1 / 0.6)
            assert (data["rows"], data["guessed_before"], data["share_counted"]) == pytest.approx((100, 0.6, 0.35))
            assert data["private"] is False
            assert "not private" in data["note"]


def test_the_page_says_it_in_plain_words(call, clinic):
    answer = call(*asked(clinic))
    assert answer.code == 0
    for words in (
        "what a noisy count would tell about one new row",
        "100 rows, known to the adversary; one more is added",
        "illness: guessed 60% of the time before the count",
        "rows with visits = 2; the new row is one of them with probability 35%",
        "on the count 1.180 70.8 % 73.1 %",
        "how many times as often illness is guessed right as before the count",
        "Minimum privacy loss 1 (nothing learned), utility 65% (a blind guess): endless noise",
        "Maximum privacy loss 1.583, utility 100%: the count without noise",
        "Full leak privacy loss 1.667: telling illness outright",
        "on the count: for each row that is added or taken away; on each row: for each place between two values",
        "numbers count as neighbours in their order",
        "NOT private these numbers are computed from the table as it is, without noise, on this machine",
    ):
        assert words in answer.words
    assert max(map(len, answer.out.splitlines()[1:])) <= 100
    assert "flu" not in answer.out
    assert "on each row 1.000 60 % 65 %" in call(*asked(clinic, "--noise", "response", epsilon="1/10")).words
    told = call(*asked(clinic, "--noise", "response", "--json", epsilon="1/10")).json
    assert told["results"][1]["words"] == "illness is guessed no better than before; whether the row was counted: 65 %"


def test_every_outcome_is_one_line_of_a_narrow_page(call, clinic, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = call(*asked(clinic)).out.splitlines()
    assert sum("on the count " in line or "on each row " in line for line in lines) == 6
    assert max(map(len, lines[1:])) <= 80


def test_nominal_values_are_warned_about_until_their_order_is_given(call, clinic):
    colours = {"useful": "colour", "value": "red"}
    told = call(*asked(clinic, "--json", **colours)).json
    assert told["nominal"] is True
    assert "no order of their own" in told["warnings"][0]
    assert "no order of their own" in call(*asked(clinic, **colours)).words
    ordered = call(*asked(clinic, "--json", "--order", "green,red,blue", **colours)).json
    assert (ordered["nominal"], ordered["warnings"]) == (False, [])
    response = call(*asked(clinic, "--json", "--noise", "response", **colours)).json
    assert response["warnings"] == []
    expected = NewRow.from_table(COLUMNS, "illness", "colour", "red", order=["green", "red", "blue"])
    assert ordered["results"][1]["utility"] == expected.local(epsilon=1).utility
    same = expected.local(epsilon=1, noise="response").utility  # whatever the order
    assert response["results"][1]["utility"] == pytest.approx(same, abs=1e-12)
    two = call(*asked(clinic, "--json", useful="age", value="15-24")).json
    assert two["warnings"] == []


def test_numbers_and_truth_values_are_named_as_they_are_written(call, files):
    table = pa.table({"illness": ["a", "b", "a", "b"], "n": [1.0, 2.0, 2.0, 3.5], "t": [True, False, True, True]})
    pa.parquet.write_table(table, files / "t.parquet")
    path = files / "t.parquet"
    spelled = [call(*asked(path, "--json", useful="n", value=text)).json["share_counted"] for text in ("2", "2.0")]
    assert spelled == [0.5, 0.5]
    assert call(*asked(path, "--json", useful="n", value="1", epsilon="1")).json["share_counted"] == 0.25
    for text in ("true", "True"):
        assert call(*asked(path, "--json", useful="t", value=text)).json["share_counted"] == 0.75
    assert call(*asked(path, "--order", "3.5,2,1", "--json", useful="n", value="2")).json["share_counted"] == 0.5


def test_moments_are_named_as_iso_dates(call, files):
    from datetime import datetime

    days = [datetime(2026, 1, 1)] * 3 + [datetime(2026, 1, 2, 12)] * 2
    path = files / "days.parquet"
    pa.parquet.write_table(pa.table({"illness": ["none", "flu", "flu", "none", "none"], "day": days}), path)
    for spelled in ("2026-01-01", "2026-01-01 00:00:00", "2026-01-01T00:00"):
        assert call(*asked(path, "--json", useful="day", value=spelled)).json["share_counted"] == pytest.approx(0.6)
    assert call(*asked(path, "--json", useful="day", value="2026-01-02T12:00:00")).json[
        "share_counted"
    ] == pytest.approx(0.4)
    assert call(*asked(path, useful="day", value="2026-01-02")).code == 2


def test_rows_without_a_value(call, files):
    path = files / "gaps.csv"
    path.write_text("illness,visits\nflu,1\nnone,\n,2\nnone,1\n")
    refused = call(*asked(path, value="1"))
    assert refused.code == 2
    assert "--missing drop" in refused.err
    data = call(*asked(path, "--missing", "drop", "--json", value="1")).json
    assert (data["rows"], data["left_out"]) == (2, 2)
    assert "2 rows without a value left out" in call(*asked(path, "--missing", "drop", value="1")).words


def test_a_picture_is_drawn(call, clinic, files):
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml")):
        answer = call(*asked(clinic, "--plot", files / name))
        assert answer.code == 0
        assert (
            f"drawn to {files / name}" in answer.words.replace(" /", "/").replace("to/", "to /") or name in answer.out
        )
        assert (files / name).read_bytes().startswith(start)
    single = call(*asked(clinic, "--plot", files / "b.png", epsilon="1"))
    assert single.code == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"--useful": "height"}, "clinic.csv has no column 'height'"),
        ({"--sensitive": "wealth"}, "clinic.csv has no column 'wealth'"),
        ({"--value": "17"}, "--value names no value of the useful column"),
        ({"--epsilon": "1,,2"}, "is not a number"),
        ({"--epsilon": "0"}, "epsilon must be greater than 0"),
        ({"--epsilon": "1e999999"}, "far too long"),
        ({"--noise": "laplace"}, "--noise must be"),
        ({"--missing": "guess"}, "--missing must be"),
        ({"--order": "1,2"}, "leaves out; list all values"),
        ({"--order": "1,,2"}, "must be a list of values"),
        ({"--plot": "picture.txt"}, "a picture is written to"),
        ({"--plot": "nowhere/picture.png"}, "cannot be written"),
    ],
)
def test_bad_requests_are_one_sentence(call, clinic, change, words):
    given = dict(zip(asked("x")[3::2], asked("x")[4::2], strict=True))
    arguments = [part for pair in {**given, **change}.items() for part in pair]
    answer = call("attack", "inference", clinic, *arguments)
    assert answer.code == 2
    assert words in answer.err
    assert call("attack", "inference", clinic, *arguments, "--json").code == 2


def test_no_data_value_is_in_an_error(call, files):
    path = files / "secret.csv"
    path.write_text(f"illness,visits\n{SECRET},1\nnone,{SECRET}\n")
    for more in (("--value", "5"), ("--value", "1", "--order", "1,2"), ("--value", "1", "--epsilon", "x")):
        answer = call(
            "attack", "inference", path, "--sensitive", "illness", "--useful", "visits",
            *(() if "--epsilon" in more else ("--epsilon", "1")), *more,
        )  # fmt: skip
        assert answer.code == 2
        assert SECRET not in answer.err
    missing = call(*asked(files / "nothing.csv"))
    assert missing.code == 2
    damaged = files / "damaged.parquet"
    damaged.write_bytes(b"PAR1 not really")
    assert call(*asked(damaged)).code == 2


def test_the_real_command(shell, clinic):
    answer = shell(*asked(clinic, epsilon="1"))
    assert answer.code == 0
    assert "NOT private" in answer.out
    found = shell(*asked(clinic, "--json", epsilon="1")).json["results"][0]["utility"]
    assert found == pytest.approx(1 / (1 + math.exp(-1)))
