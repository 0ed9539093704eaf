"""``noisewright survey``."""

from __future__ import annotations

import json

import pytest

import noisewright as nw

USUAL = ("survey", "--epsilon", "1", "--delta", "0", "--respondents", "1000", "--prevalence", "0.1")


def test_the_page_has_the_device_the_promise_the_margin_and_the_comparison(call):
    answer = call(*USUAL, "--target-margin", "0.03")
    assert answer.code == 0
    for words in (
        "use 11 cards",
        "Ace to 5: answer truthfully.",
        '9 to jack: say "yes", whatever the truth is.',
        "epsilon 1 between any two answers; proved in whole numbers",
        "± 0.0635 with 1,000 respondents, at prevalence 0.1",
        "4,482 respondents for a margin of 0.03",
        "3.89% more respondents than the best design, for the same margin; without a delta",
        "direct question none 1 1 0.0186 385 1.000",
        "11 cards 0.9809 8/11 8/11 0.0635 4,482 0.229",
    ):
        assert words in answer.words


def test_json_is_the_plan(call):
    data = call(*USUAL, "--json").json
    plan = nw.survey(epsilon=1, respondents=1000, prevalence="0.1").to_json()
    assert data["format"] == "noisewright-survey"
    assert data["proved"] == "epsilon = 1 per unit of discrete"
    assert data["device"] == plan["device"]
    assert data["margin"] == plan["margin"]
    assert data["options"][0]["epsilon"] == "inf"
    assert data["file"] is None


def test_files_are_written_and_proved(call, files):
    path, picture = files / "cards.json", files / "plan.png"
    answer = call(*USUAL, "-o", path, "--plot", picture)
    assert answer.code == 0
    assert str(path) in "".join(answer.out.split())
    assert picture.read_bytes().startswith(b"\x89PNG")
    shown = call("verify", path)
    assert shown.code == 0
    assert "proved" in shown.words
    assert "every chance of its device" in shown.words
    assert json.loads(path.read_text())["randomness"] == {"lots": "11 cards"}
    audited = call("audit", path, "--json").json
    assert audited["smallest"]["epsilon"] == pytest.approx(0.980829253, abs=1e-9)


def test_a_changed_certificate_is_not_proved(call, files):
    path = files / "cards.json"
    assert call(*USUAL, "-o", path).code == 0
    document = json.loads(path.read_text())
    document["proof"]["table"] = [[10, 1], [1, 10]]
    path.write_text(json.dumps(document))
    assert call("verify", path).code == 1


def test_a_stranger_proves_the_device(shell, files):
    import subprocess
    import sys

    path, checker = files / "cards.json", files / "checker.py"
    assert shell(*USUAL, "-o", path).code == 0
    assert shell("verify", path, "--export-checker", checker).code == 0
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(checker), str(path)], capture_output=True, text=True, env={}, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "proved: epsilon = 1 per unit of discrete" in done.stdout


def test_categories_by_number_and_by_name(call):
    assert "one of 5 slips" in call("survey", "--epsilon", "1", "--respondents", "100", "--categories", "5").words
    named = call("survey", "--epsilon", "1", "--respondents", "100", "--categories", "clean,doped")
    assert 'say "doped"' in named.words
    data = call("survey", "--epsilon", "1", "--respondents", "9", "--categories", "a,b,c", "--json").json
    assert data["answers"] == ["a", "b", "c"]
    hostile = call("survey", "--epsilon", "1", "--respondents", "9", "--categories", "no,\x1b[31myes")
    assert "\x1b" not in hostile.out


def test_markup_in_answers_is_only_text(call):
    page = call("survey", "--epsilon", "1", "--respondents", "900", "--categories", "clean,[red]doped").words
    assert '9 to jack: say "[red]doped", whatever the truth is.' in page


def test_a_plan_that_tells_nothing_says_so(call):
    assert "tell next to nothing" in call("survey", "--epsilon", "0.01", "--respondents", "10").words
    assert "tell next to nothing" not in call(*USUAL).words


def test_the_reason_is_no_threshold_that_cannot_be(call):
    page = call("survey", "--epsilon", "1", "--delta", "0.05", "--respondents", "9", "--prevalence", "0.1").words
    assert "it is the best for every prevalence, among designs with probabilities of 1/2 or more" in page
    assert "-0.4" not in page


def test_of_more_answers_the_best_response_is_compared(call):
    page = call("survey", "--epsilon", "1", "--respondents", "9", "--categories", "12").words
    assert "more respondents than the best response, for the same margin" in page
    assert "best response 1 0.0729 0.1982" in page


def test_where_the_ideal_leaves_no_error_no_percentage_is_told(call):
    words = (
        "--epsilon",
        "1",
        "--delta",
        "0.4",
        "--prevalence",
        "0",
        "--whole-population",
        "--allow-certain-disclosure",
    )
    page = call("survey", *words, "--respondents", "9", "--device", "spinner").words
    assert "inf" not in page
    data = call("survey", *words, "--respondents", "9", "--device", "spinner", "--json").json
    assert data["loss_against_ideal"] == 0


@pytest.mark.parametrize("answers", ["$x$,$\\frac{$", "\u85ac,\u306a\u3044", "x" * 200 + "1," + "x" * 200 + "2"])
def test_answers_of_any_sort_are_drawn_or_numbered(call, files, answers):
    picture = files / "plan.png"
    answer = call("survey", "--epsilon", "1", "--respondents", "9", "--categories", answers, "--plot", picture)
    assert (answer.code, answer.err) == (0, "")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_disclosure_is_said_aloud(call):
    words = ("survey", "--epsilon", "1", "--delta", "0.4", "--respondents", "100", "--prevalence", "0.1")
    assert "Beware" not in call(*words).words
    frank = call(*words, "--allow-certain-disclosure")
    assert "some answers give the truth away for certain" in frank.words
    assert "delta 0.4" in frank.words


def test_devices_confidence_and_whole_populations(call):
    data = call(*USUAL, "--device", "dice", "--confidence", "0.99", "--whole-population", "--json").json
    assert data["device"]["name"] == "two ten-sided dice"
    assert data["confidence"] == 0.99
    assert data["whole_population"] is True


def test_refusals_say_what_to_do_and_leave_nothing(call, files):
    before = sorted(files.iterdir())
    out, picture = str(files / "a.json"), str(files / "a.png")
    for words, arguments in (
        ("how many respondents", ["--epsilon", "1"]),
        ("both 0", ["--epsilon", "0", "--respondents", "9", "-o", out]),
        ("promises nothing", ["--epsilon", "1", "--delta", "1", "--respondents", "9", "--plot", picture]),
        ("let a computer draw", ["--epsilon", "0.0001", "--respondents", "9"]),
        ("from 0 to 1", ["--epsilon", "1", "--respondents", "9", "--prevalence", "3"]),
        ("1 or more", ["--epsilon", "1", "--respondents", "0"]),
        ("target margin", ["--epsilon", "1", "--target-margin", "0"]),
        ("confidence", ["--epsilon", "1", "--respondents", "9", "--confidence", "2"]),
        ("is not a number", ["--epsilon", "one", "--respondents", "9"]),
        ("confidence", ["--epsilon", "1", "--respondents", "9", "--confidence", "0.99999999999999999"]),
        ("more than 1e+12", ["--epsilon", "1", "--target-margin", "1e-200"]),
        ("at most 10^12", ["--epsilon", "1", "--respondents", "1000000000000000000"]),
        ("a larger epsilon", ["--epsilon", "1e-300", "--respondents", "9"]),
        ("without double quotes", ["--epsilon", "1", "--respondents", "9", "--categories", 'no,say "yes"']),
        ("coins, dice, cards", ["--epsilon", "1", "--respondents", "9", "--device", "hat"]),
        ("from 2 to 100", ["--epsilon", "1", "--respondents", "9", "--categories", "1"]),
        ("ends in .json", ["--epsilon", "1", "--respondents", "9", "-o", str(files / "a.txt")]),
        ("ends in .png", ["--epsilon", "1", "--respondents", "9", "--plot", str(files / "a.gif")]),
        ("more than once", ["--epsilon", "1", "--epsilon", "2", "--respondents", "9"]),
    ):
        answer = call("survey", *arguments)
        assert answer.code == 2, arguments
        assert words in answer.err
    assert sorted(files.iterdir()) == before


def test_it_is_explained(shell):
    page = shell("survey", "--help", COLUMNS="150").words
    for option in ("--target-margin", "--allow-certain-disclosure", "--categories", "--device", "--plot"):
        assert option in page


# A harmless answer -------------------------------------------------------------------------------------------------------

HARMLESS = ("survey", "--harmless", "none", "--categories", "cannabis,none,opioids")


def test_03_rr11_a_plan_says_that_it_is_not_private(call, files):
    path = files / "harmless.csv"
    answer = call(*HARMLESS, "--respondents", "1000", "-o", path)
    assert "NOT private no epsilon holds" in answer.words
    assert 'If "none" is true of you: draw one of 3 slips' in answer.words
    assert path.read_text().splitlines()[0] == ",none,cannabis,opioids"
    data = call(*HARMLESS, "--respondents", "1000", "--json").json
    worst = {name: (margin / 1.959963984540054) ** 2 * 1000 for name, margin in data["margins"].items()}
    assert worst == pytest.approx({"harmless": 2.0, "sensitive": (1 / 2 + 1 / 3) ** 2})  # RR-11, m = 3
    assert (data["private"], data["smallest_delta"]) == (False, 1.0)


def test_03_rr11_counts_are_in_the_order_of_the_categories(call):
    data = call(*HARMLESS, "--counts", "380,300,320", "--json").json
    shares = {row["answer"]: row["share"] for row in data["estimates"]}
    assert shares == pytest.approx({"none": 0.9, "cannabis": 0.08, "opioids": 0.02})
    assert all(row["low"] <= row["share"] <= row["high"] for row in data["estimates"])
    known = {row["answer"]: row["true_of_those_who_say_it"] for row in data["estimates"]}
    assert known["none"] is None
    assert known["cannabis"] == pytest.approx(0.08 / (0.08 + 0.3))
    assert "cannabis 8.0 %" in call(*HARMLESS, "--counts", "380,300,320").words
    certain = call(*HARMLESS, "--counts", "0,0,10", "--json").json["estimates"]
    assert all(row["high"] > row["low"] for row in certain)  # ten answers make nothing certain


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("one of them", HARMLESS),
        ("one of them", (*HARMLESS, "--respondents", "5", "--counts", "1,2,3")),
        ("promises no epsilon", (*HARMLESS, "--respondents", "5", "--epsilon", "1")),
        ("3 whole numbers", (*HARMLESS, "--counts", "1,2")),
        ("3 whole numbers", (*HARMLESS, "--counts", "1,2,-3")),
        ("no answers", (*HARMLESS, "--counts", "0,0,0")),
        ("answers by name", ("survey", "--harmless", "none", "--respondents", "5")),
        ("none of the --categories", ("survey", "--harmless", "no", "--categories", "a,b", "--respondents", "5")),
        ("missing option '--epsilon'", ("survey", "--respondents", "5")),
        ("--counts goes with --harmless", ("survey", "--epsilon", "1", "--counts", "1,2")),
    ],
)
def test_a_harmless_survey_that_cannot_be(call, words, arguments):
    answer = call(*arguments)
    assert answer.code == 2
    assert words in answer.err


def test_counts_that_no_harmless_survey_explains_have_sane_ends_and_a_caution(call):
    words = ("survey", "--harmless", "no", "--categories", "no,yes", "--counts")
    for counts, strange in (("100,40", True), ("40,100", False), ("0,100", False)):
        found = call(*words, counts, "--json").json
        assert all(0 <= row["low"] <= row["high"] <= 1 for row in found["estimates"])
        assert found["strange"] is strange
        assert ("hardly ever come from this survey" in call(*words, counts).words) is strange
