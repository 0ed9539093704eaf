"""``noisewright compare --families``."""

from __future__ import annotations

import pytest

WORDS = ("compare", "--families", "geometric,response,exponential", "--epsilon", "1", "--size", "5")


def test_the_table_has_all_pairs_under_all_orders(call):
    answer = call(*WORDS)
    assert answer.code == 0
    for words in (
        "geometric 1 response 0.7353 0.7353 1",
        "response 1 geometric 0.1381 0.1381 0.25",
        "exponential 1 geometric 0.5873 0.5873 0.7936",
        "5 secrets",
        "for each 1 of difference",
    ):
        assert words in answer.words


def test_json_has_the_same_numbers_and_says_how_they_were_found(call):
    data = call(*WORDS, "--json").json
    assert data["families"] == ["geometric", "response", "exponential"]
    assert data["picture"] is None
    rows = {(row["first"], row["second"], row["order"]): row for row in data["replacements"]}
    assert len(rows) == len(data["replacements"]) == 18
    first = rows["geometric", "response", "average"]
    assert first["epsilon"] == pytest.approx(0.7353256640555)
    assert (first["method"], first["status"], first["at"]) == ("closed form", "holds (exact)", "1")
    assert first["metric"] == "discrete"
    assert rows["geometric", "exponential", "max"]["method"] == "bisection"


def test_several_epsilons_and_a_picture(call, files):
    path = files / "safe.png"
    answer = call("compare", "--families", "geometric, response", "--epsilon", "1/2,4", "--size", "3", "--plot", path)
    assert answer.code == 0
    assert "1/2" in answer.words
    assert "3.981" in answer.words
    assert str(path) in "".join(answer.out.split())  # a long path is wrapped
    assert path.read_bytes().startswith(b"\x89PNG")


def test_refusals_are_one_sentence_and_write_nothing(call, files):
    before = sorted(files.iterdir())
    plot = ["--plot", str(files / "p.png")]
    for words, arguments in (
        ("give --epsilon and --size", ["--families", "geometric,response"]),
        ("give --epsilon and --size", ["--families", "geometric,response", "--epsilon", "1"]),
        ("no family called 'gauss'", ["--families", "geometric,gauss", "--epsilon", "1", "--size", "3", *plot]),
        ("two or more different", ["--families", "geometric", "--epsilon", "1", "--size", "3", *plot]),
        ("two or more different", ["--families", "geometric,geometric", "--epsilon", "1", "--size", "3"]),
        ("greater than 0", ["--families", "geometric,response", "--epsilon", "0", "--size", "3", *plot]),
        ("not a number", ["--families", "geometric,response", "--epsilon", "1,two", "--size", "3"]),
        ("between 1e-100 and 10000", ["--families", "geometric,response", "--epsilon", "20000", "--size", "3"]),
        ("from 2 to 2000", ["--families", "geometric,response", "--epsilon", "1", "--size", "1", *plot]),
        ("50 epsilons at most", ["--families", "geometric,response", "--epsilon", ",".join("1" * 51), "--size", "3"]),
        (".png", ["--families", "geometric,response", "--epsilon", "1", "--size", "3", "--plot", "p.txt"]),
    ):
        answer = call("compare", *arguments)
        assert answer.code == 2, arguments
        assert words in answer.err, answer.err
    assert sorted(files.iterdir()) == before
