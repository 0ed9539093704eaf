"""``noisewright compare``: files of every kind, exact where they are exact, and one sentence where it cannot be done."""

from __future__ import annotations

from fractions import Fraction

import pytest

import noisewright as nw
from noisewright.io.serialization import load_exact_csv

GEOMETRIC = ",0,1,2\n0,2/3,1/6,1/6\n1,1/3,1/3,1/3\n2,1/6,1/6,2/3\n"
RESPONSE = ",0,1,2\n0,0.6,0.2,0.2\n1,0.2,0.6,0.2\n2,0.2,0.2,0.6\n"


@pytest.fixture
def pair(files):
    (files / "g.csv").write_text(GEOMETRIC)
    (files / "r.csv").write_text(RESPONSE)
    return files / "g.csv", files / "r.csv"


def statuses(data):
    return {name: (both["forward"]["status"], both["backward"]["status"]) for name, both in data["orders"].items()}


def test_decimals_and_fractions_in_a_csv_are_compared_exactly(call, pair):
    answer = call("compare", *pair, "--metric", "line", "--json")
    assert answer.code == 0
    fails = ("fails (witness)", "fails (witness)")
    assert statuses(answer.json) == {
        "average": fails,
        "max": fails,
        "privacy": fails,
        "line metric": ("fails (witness)", "holds (exact)"),
    }
    gain = answer.json["orders"]["average"]["forward"]["witness"]
    assert gain["kind"] == "gain"
    assert gain["gap"] == pytest.approx(1 / 30)
    assert (answer.json["tol"], answer.json["metric"]) == (1e-8, "line")


def test_fractions_in_a_csv_are_read_by_everything(call, pair, files):
    assert nw.load(pair[0]).matrix.tolist() == [[2 / 3, 1 / 6, 1 / 6], [1 / 3, 1 / 3, 1 / 3], [1 / 6, 1 / 6, 2 / 3]]
    assert load_exact_csv(pair[0])[0] == [Fraction(2, 3), Fraction(1, 6), Fraction(1, 6)]
    assert load_exact_csv(pair[1])[0][0] == Fraction(3, 5)
    (files / "rounded.csv").write_text(",0,1\n0,0.3333333,0.6666666\n1,1,0\n")
    assert load_exact_csv(files / "rounded.csv") is None
    (files / "zero.csv").write_text(",0,1\n0,1/0,1\n1,1,0\n")
    answer = call("compare", pair[0], files / "zero.csv")
    assert answer.code == 2
    assert "an entry is not a number" in answer.err


def test_the_page_has_a_table_what_follows_and_a_witness_for_each_answer(call, pair):
    page = call("compare", *pair, "--metric", "line", "--details")
    short = call("compare", *pair, "--metric", "line")
    assert len(short.out.splitlines()) <= 16
    assert "with --details: what shows each answer" in short.words
    assert "gets 0.333333" not in short.words
    words = page.words
    assert "average every adversary, on average no, and shown no, and shown" in words
    assert "average every adversary, on average no, and shown no, and shown" in short.words
    assert "A may replace B for the line metric only" in words
    assert "B may not replace A under any of these orders." in words
    assert "gets 0.333333 with A and 0.366667 with B" in words
    assert "For A's own metric A needs epsilon 1 and B 1.58497, because of secrets 0 and 1 at output 0." in words
    assert "the old one" not in words
    assert max(map(len, page.out.splitlines()[2:])) <= 100


def test_a_safe_replacement_shows_the_post_processing(call, pair, files):
    (files / "merged.csv").write_text(",low,high\n0,5/6,1/6\n1,2/3,1/3\n2,1/3,2/3\n")
    answer = call("compare", pair[0], files / "merged.csv", "--json")
    average = answer.json["orders"]["average"]
    assert average["forward"]["status"] == "holds (exact)"
    assert average["forward"]["witness"]["exact"] == [["1", "0"], ["1", "0"], ["0", "1"]]
    assert (
        "Post-processing that makes B from A, a row for each output of A."
        in call("compare", pair[0], files / "merged.csv", "--details").words
    )


def test_certificates_and_channel_files_of_every_kind(call, files):
    count, coarse = nw.geometric(epsilon=1, within=(0, 3)), nw.geometric(epsilon="1/2", within=(0, 3))
    best = nw.exponential(range(4), epsilon="1/4", metric=nw.metrics.Line())
    answer = nw.randomised_response(range(4), epsilon="1/8")
    for mechanism, name in ((count, "count"), (coarse, "coarse"), (best, "best"), (answer, "answer")):
        nw.save(mechanism, files / f"{name}.json")
    for name in ("coarse", "best", "answer"):
        data = call("compare", files / "count.json", files / f"{name}.json", "--json").json
        assert data["orders"]["average"]["forward"]["status"] == "holds (exact)"
        assert data["orders"]["average"]["backward"]["status"] == "fails (witness)"
    for suffix in ("json", "npz", "csv"):
        nw.save(coarse.channel(), files / f"floats.{suffix}")
        data = call("compare", files / "coarse.json", files / f"floats.{suffix}", "--json").json
        assert data["orders"]["average"]["forward"]["status"].startswith("holds")
        assert data["orders"]["average"]["backward"]["status"].startswith("holds")


def test_tol_decides_about_floats(call, files):
    nw.save(nw.Channel([[0.7, 0.3], [0.2, 0.8]]), files / "a.npz")
    nw.save(nw.Channel([[0.7000001, 0.2999999], [0.2, 0.8]]), files / "b.npz")
    strict = call("compare", files / "a.npz", files / "b.npz", "--json").json
    loose = call("compare", files / "a.npz", files / "b.npz", "--tol", "1e-6", "--json").json
    assert statuses(strict)["average"][0] == "fails (witness)"
    assert set(statuses(loose)["average"]) <= {"holds within tol", "holds (exact)"}


def test_an_undecided_answer_has_exit_code_1(call, files):
    matrix = nw.geometric(epsilon="0.1", within=(0, 5)).channel()
    nw.save(matrix, files / "a.npz")
    nw.save(nw.geometric(epsilon="0.05", within=(0, 5)).channel(), files / "b.npz")
    answer = call("compare", files / "a.npz", files / "b.npz", "--tol", "0", "--json")
    assert statuses(answer.json)["average"][0] == "undecided"
    assert answer.code == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["g.csv"], "give two channels"),
        ([], "give two channels"),
        (["g.csv", "response.csv"], "0, 1, 2 in the first only and 'no', 'yes' in the second only"),
        (["g.csv", "none.csv"], "none.csv"),
        (["g.csv", "r.csv", "--tol", "2"], "tol is the largest entry"),
        (["g.csv", "r.csv", "--tol", "x"], "is not a number"),
        (["g.csv", "r.csv", "--metric", "far"], "metric"),
        (["g.csv", "r.csv", "--epsilon", "1"], "go with --families"),
        (["g.csv", "r.csv", "--families", "geometric,response"], "takes the place of two files"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(call, pair, files, arguments, words):
    answer = call("compare", *(files / a if a.endswith(".csv") else a for a in arguments))
    assert answer.code == 2
    assert words in answer.err


def test_a_certificate_that_is_not_proved_is_not_compared(call, files):
    nw.save(nw.randomised_response([0, 1, 2], epsilon=1), files / "c.json")
    text = (files / "c.json").read_text()
    document = text.replace('"epsilon": "1"', '"epsilon": "1/2"')
    assert document != text
    (files / "c.json").write_text(document)
    (files / "r.csv").write_text(RESPONSE)
    answer = call("compare", files / "c.json", files / "r.csv")
    assert answer.code == 2
    assert "is not proved" in answer.err


def test_noise_without_bounds_has_no_channel_to_compare(call, files):
    nw.save(nw.geometric(epsilon=1), files / "c.json")
    (files / "r.csv").write_text(RESPONSE)
    answer = call("compare", files / "c.json", files / "r.csv")
    assert answer.code == 2
    assert "infinitely many outputs" in answer.err


def test_families_are_compared_by_the_same_command(call):
    data = call("compare", "--families", "geometric,response", "--epsilon", "1", "--size", "3", "--json").json
    assert data["families"] == ["geometric", "response"]
    assert data["replacements"]


@pytest.mark.parametrize(
    ("first", "second", "step"),
    [
        ("laplace --epsilon 1 --within 0:10 --lattice 1/4", "laplace --epsilon 2 --within 0:10 --lattice 1/2", "1/2"),
        ("laplace --epsilon 1 --within 0:10", "geometric --epsilon 1 --within 0:10", "1"),
        (
            "staircase --epsilon 1 --within 0:6 --lattice 1/8",
            "snapped-laplace --epsilon 1 --within 0:6 --lattice 1/4",
            "1/4",
        ),
    ],
)
def test_mechanisms_on_different_lattices_are_told_which_one_works(call, files, first, second, step):
    """The advice is followed, and then the comparison works."""
    a, b = files / "a.json", files / "b.json"
    call("design", *first.split(), "-o", a)
    call("design", *second.split(), "-o", b)
    refused = call("compare", a, b)
    assert refused.code == 2
    assert f"make both again with the lattice {step} (--lattice {step}), which works for both." in refused.err
    for words, path in ((first, a), (second, b)):
        if "geometric" not in words:
            assert call("design", *words.split(" --lattice")[0].split(), "--lattice", step, "-o", path).code == 0
    assert call("compare", a, b).code == 0


def test_a_lattice_with_too_many_points_is_made_coarser(call, files):
    for name, epsilon in (("a.json", "1"), ("b.json", "3/4")):
        call("design", "laplace", "--epsilon", epsilon, "--within", "0:10", "--lattice", "1/1024", "-o", files / name)
    refused = call("compare", files / "a.json", files / "b.json")
    assert "steps of 1/1024, which gives more secrets than can be compared" in refused.err
    assert "--lattice 1/16" in refused.err


def test_no_lattice_helps_where_ranges_differ(call, files):
    for name, within in (("a.json", "0:10"), ("b.json", "0:12")):
        call("design", "laplace", "--epsilon", "1", "--within", within, "--lattice", "1", "-o", files / name)
    refused = call("compare", files / "a.json", files / "b.json")
    assert "11.0, 12.0 in the second only" in refused.err
    assert "--lattice" not in refused.err


def test_details_fit_on_a_narrow_page_and_show_no_rounding(call, files, monkeypatch):
    """A post-processing found in floats: what rounding leaves of zero is zero, and rows of a table are not folded."""
    monkeypatch.setenv("COLUMNS", "80")
    for name, epsilon in (("a.json", "1/2"), ("b.json", "1/3")):
        call("design", "geometric", "--epsilon", epsilon, "--within", "0:20", "-o", files / name)
    page = call("compare", files / "b.json", files / "b.json", "--details").out
    table = page[page.index("Post-processing") :].splitlines()
    rows = [line for line in table if line.split()[:1] in ([str(k)] for k in range(8))]
    assert rows
    assert all(line.endswith("...") for line in rows)
    assert not any("e-1" in line for line in rows)
    mixed = call("compare", files / "a.json", files / "b.json", "--details").out
    assert max(len(line) for line in mixed.splitlines()[3:]) <= 80
