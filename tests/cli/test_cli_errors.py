"""Whatever is given, a bad request ends as one sentence and code 2, and nothing is written.

The rules themselves (one sentence, no traceback, JSON alone) are asserted for every call in ``conftest.py``.
"""

from __future__ import annotations

import numpy as np
import pytest

NUMBERS = ["abc", "", "nan", "inf", "-inf", "1/0", "1e999999999", "1" * 5000, "0x10", "--", "½"]

BAD_CHANNELS = {
    "text.csv": b",a,b\nx,one,0\ny,0,1\n",
    "sums.csv": b",a,b\nx,0.5,0.6\ny,0.5,0.5\n",
    "nan.csv": b",a,b\nx,nan,0.5\ny,0.5,0.5\n",
    "infinite.csv": b",a,b\nx,inf,0.5\ny,0.5,0.5\n",
    "negative.csv": b",a,b\nx,-0.5,1.5\ny,0.5,0.5\n",
    "ragged.csv": b",a,b\nx,0.5\ny,0.5,0.5\n",
    "short.csv": b",a,b\n",
    "empty.csv": b"",
    "twice.csv": b",a,b\nx,0.5,0.5\nx,0.5,0.5\n",
    "binary.csv": b"\xff\xfe\x00",
    "truncated.json": b'{"format": "noisewright-channel", "inp',
    "empty.json": b"",
    "other.json": b'{"hello": "world"}',
    "list.json": b"[]",
    "number.json": b"7",
    "incomplete.json": b'{"format": "noisewright-channel", "version": 1}',
    "future.json": b'{"format": "noisewright-channel", "version": 9}',
    "odd.npz": b"PK\x03\x04 not really",
    "empty.npz": b"",
    "channel.txt": b",a\nx,1\n",
    "channel": b",a\nx,1\n",
}


def everything(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("name", sorted(BAD_CHANNELS))
def test_files_that_are_no_channels(call, files, name, as_json):
    (files / name).write_bytes(BAD_CHANNELS[name])
    before = everything(files)
    answer = call("audit", files / name, *(["--json"] if as_json else []))
    assert answer.code == 2
    assert name in answer.out + answer.err
    assert everything(files) == before


def test_an_npz_that_holds_something_else(call, files):
    np.savez(files / "other.npz", a=np.zeros(3))
    assert call("audit", files / "other.npz").code == 2


@pytest.mark.parametrize(
    "name", ["missing.csv", "missing.json", "missing.npz", "no\nsuch.csv", "\x1b[31m.csv", "a" * 300 + ".csv"]
)
def test_missing_files(call, files, name):
    answer = call("audit", files / name)
    assert answer.code == 2
    assert "\x1b" not in answer.err


@pytest.mark.parametrize("name", ["folder.csv", "folder.json", "folder.npz", "folder"])
def test_directories(call, files, name):
    (files / name).mkdir()
    assert call("audit", files / name).code == 2


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers_that_are_none(call, files, value):
    for option in ("--epsilon", "--delta"):
        assert option.strip("-") in call("audit", files / "line.csv", f"{option}={value}").err
    out = files / "out.json"
    assert "epsilon" in call("design", "geometric", f"--epsilon={value}", "-o", out).err
    assert "sensitivity" in call("design", "geometric", "--epsilon=1", f"--sensitivity={value}", "-o", out).err
    assert "within" in call("design", "geometric", "--epsilon=1", f"--within=0:{value}", "-o", out).err
    assert call("design", "geometric", f"--epsilon={value}", "--json").code == 2
    assert not out.exists()


@pytest.mark.parametrize("value", ["0", "-1", "-1/2", "0.0"])
@pytest.mark.parametrize("name", ["geometric", "randomised-response", "exponential", "metric-realising"])
def test_epsilons_that_are_not_above_zero(call, files, name, value):
    more = {
        "geometric": [],
        "randomised-response": ["--categories", "2"],
        "exponential": ["--points", "0..3"],
        "metric-realising": ["--points", "0..3", "--metric", "line"],
    }[name]
    answer = call("design", name, "--epsilon", value, *more, "-o", files / "out.json")
    assert answer.code == 2
    assert "epsilon must be greater than 0" in answer.err
    assert not (files / "out.json").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--epsilon", "-1"],
        ["--delta", "-0.1"],
        ["--delta", "1.1"],
        ["--metric", "unknown"],
        ["--metric", ""],
        ["--metric", "0*line"],
        ["--metric", "-1*line"],
        ["--metric", "x*line"],
        ["--metric", "inf*line"],
        ["--metric", "1e99999999*line"],
        ["--metric", "hamming"],
        ["--metric", "table:"],
        ["--metric", "table:missing.csv"],
        ["--unknown"],
        ["another.csv"],
        ["--metric"],
    ],
)
def test_bad_options_of_audit(call, files, words):
    assert call("audit", files / "line.csv", *words).code == 2
    assert call("audit", files / "line.csv", *words, "--json").code == 2


@pytest.mark.parametrize(
    "table",
    [
        ",no,yes\nno,0,1\n",
        ",no,maybe\nno,0,1\nmaybe,1,0\n",
        ",a,b\nno,0,1\nyes,1,0\n",
        ",no,yes\nno,0,1\nyes,2,0\n",
        ",no,yes\nno,1,1\nyes,1,0\n",
        ",no,yes\nno,0,-1\nyes,-1,0\n",
        ",no,yes\nno,0,nan\nyes,nan,0\n",
        ",no,yes\nno,0,far\nyes,far,0\n",
        ",no,no\nno,0,0\nno,0,0\n",
    ],
)
def test_tables_that_are_no_distances(call, files, table):
    (files / "odd.csv").write_text(table)
    assert call("audit", files / "response.csv", "--metric", f"table:{files / 'odd.csv'}").code == 2


@pytest.mark.parametrize(
    "words",
    [
        ["unknown"],
        ["unknown", "--epsilon", "1"],
        ["geometric"],
        ["geometric", "--epsilon"],
        ["geometric", "--epsilon", "1", "--unknown", "1"],
        ["geometric", "--epsilon", "1", "more"],
        ["geometric", "--epsilon", "1", "--within", "9:0"],
        ["geometric", "--epsilon", "1", "--within", "3:3"],
        ["geometric", "--epsilon", "1", "--within", "9"],
        ["geometric", "--epsilon", "1", "--within", "0.5:3"],
        ["geometric", "--epsilon", "1", "--within", "0:1:2"],
        ["geometric", "--epsilon", "1", "--within", "0:1e100"],
        ["geometric", "--epsilon", "1", "--outside", "drop"],
        ["geometric", "--epsilon", "1e-900"],
        ["geometric", "--epsilon", "1e900"],
        ["randomised-response", "--epsilon", "1", "--categories", "one"],
        ["randomised-response", "--epsilon", "1", "--categories", "1"],
        ["randomised-response", "--epsilon", "1", "--categories", "a,a"],
        ["randomised-response", "--epsilon", "1", "--categories", "a,,b"],
        ["randomised-response", "--epsilon", "1", "--categories", "99999999999999"],
        ["exponential", "--epsilon", "1", "--points", "3"],
        ["exponential", "--epsilon", "1", "--points", "3..1"],
        ["exponential", "--epsilon", "1", "--points", "0..99999999999"],
        ["exponential", "--epsilon", "1", "--points", "0..100000"],
        ["exponential", "--epsilon", "1", "--points", "a,b"],
        ["exponential", "--epsilon", "1", "--points", "0..3", "--metric", "unknown"],
        ["exponential", "--epsilon", "1", "--points", "1,1"],
        ["metric-realising", "--epsilon", "1", "--points", "0..3"],
        ["metric-realising", "--epsilon", "1", "--points", "a,*", "--metric", "discrete"],
        ["metric-realising", "--epsilon", "1", "--points", "0..100000", "--metric", "line"],
        ["metric-realising", "--epsilon", "1", "--points", "0..3", "--metric", "line", "--share", "0.9"],
    ],
)
def test_bad_designs(call, files, words):
    before = everything(files)
    assert call("design", *words, "-o", files / "out.json").code == 2
    assert call("design", *words, "-o", files / "out.json", "--json").code == 2
    assert everything(files) == before


@pytest.mark.parametrize(
    "name", ["out.txt", "out", "out.json.csv", "none/out.json", "line.csv/out.json", "folder.json", ""]
)
def test_places_that_cannot_take_a_certificate(call, files, name):
    (files / "folder.json").mkdir()
    before = everything(files)
    assert call("design", "geometric", "--epsilon", "1", "-o", f"{files}/{name}").code == 2
    assert everything(files) == before


@pytest.mark.parametrize("words", [["unknown"], ["--unknown"], ["doctor", "more"], ["audit"], ["verify", "--unknown"]])
def test_bad_commands(call, words):
    assert call(*words).code == 2
    assert call(*words, "--json").code == 2


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["design", "laplace", "--epsilon", "1", "--within", "0:1", "--within", "2:3"], "--within"),
        (["design", "laplace", "--epsilon=1", "--within=0:1", "--within=2:3"], "--within"),
        (["design", "laplace", "--epsilon", "1", "--epsilon=2"], "--epsilon"),
        (["design", "geometric", "--epsilon", "1", "-o", "a.json", "-ob.json"], "--output"),
        (["design", "geometric", "--epsilon", "1", "-o", "a.json", "--output", "b.json"], "--output"),
        (["design", "geometric", "--epsilon", "1", "--json", "--json"], "--json"),
        (["design", "--json", "--json"], "--json"),
        (["audit", "x.csv", "--metric", "line", "--metric", "discrete"], "--metric"),
        (["audit", "--epsilon", "1", "x.csv", "--epsilon", "1"], "--epsilon"),
        (["verify", "x.json", "--export-checker", "a.py", "--export-checker", "b.py"], "--export-checker"),
        (["doctor", "--json", "--json"], "--json"),
    ],
)
def test_an_option_that_is_given_twice(call, words, option):
    answer = call(*words)
    assert answer.code == 2
    assert f"{option} was given more than once; give it once." in answer.out + answer.err


def test_the_value_of_an_option_is_not_an_option(call):
    assert "is not a number" in call("design", "geometric", "--epsilon", "--epsilon").err
    assert "more than once" not in call("verify", "--", "--json", "--json").err


@pytest.mark.parametrize("value", ["1e400", "1e308", "1e-400", "9" * 400, "-1e999", "1/" + "9" * 400])
@pytest.mark.parametrize("name", ["planar-laplace", "laplace", "geometric"])
def test_absurd_sizes_are_refused_as_such(call, name, value):
    answer = call("design", name, f"--epsilon={value}")
    assert answer.code == 2
    assert "epsilon is far too long, too large or too small a number" in answer.err


def test_a_reference_is_a_place(call):
    start = ("design", "geo-laplace", "--epsilon", "1", "--radius", "100", "--reference")
    assert "such as 48.85:2.35" in call(*start, "48.85,2.35").err
    assert "such as 48.85:2.35" in call(*start, "48.85").err
    assert "LATITUDE:LONGITUDE" in call("design", "geo-laplace", "--help").out
    assert (
        call(*start, "48.85:2.35", "--json")
        .json["reading"]
        .startswith("Whatever the output, the odds between any two places within 100 m of each other")
    )


@pytest.mark.parametrize(
    "words", [["--help"], ["audit", "-h"], ["verify", "-h"], ["doctor", "-h"], ["design", "laplace", "-h"]]
)
def test_help_shows_no_types_of_switches(call, words):
    text = call(*words).out
    assert "<bool>" not in text
    assert "...]..." not in text


def test_an_unexpected_failure_is_one_sentence_too(capsys, monkeypatch, files):
    from noisewright.cli import run

    def broken(_: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("noisewright.io.serialization.load_either", broken)
    assert run(["audit", str(files / "line.csv")]) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert "RuntimeError: two lines" in printed.err
    monkeypatch.setenv("NOISEWRIGHT_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        run(["audit", str(files / "line.csv")])


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (MemoryError(), "memory"),
        (OverflowError(), "too large"),
        (PermissionError(13, "Permission denied", "x"), "x: Permission"),
    ],
)
def test_other_failures_in_words(call, monkeypatch, files, problem, words):
    def broken(_: object) -> None:
        raise problem

    monkeypatch.setattr("noisewright.io.serialization.load_either", broken)
    assert words in call("audit", files / "line.csv").err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("release p.toml t.csv --ouput x", "no such option: --ouput; did you mean --output?"),
        ("release p.toml t.csv --overwrite", "no such option: --overwrite; did you mean --replace?"),
        ("release --policy p.toml", "no such option: --policy; POLICY is given without a name before it."),
        ("ledger show --ledger book", "no such option: --ledger; LEDGER is given without a name before it."),
        ("plan p.toml --raise_budget", "no such option: --raise_budget; did you mean --raise-budget?"),
        ("design geometric --lower 0", "no such option: --lower; did you mean --within?"),
        ("design geometric --eps 1", "no such option: --eps; did you mean --epsilon?"),
        ("verify --folder x", "no such option: --folder."),
        ("init t.csv --force", "no such option: --force."),
        ("--verison", "no such option: --verison; did you mean --version?"),
    ],
)
def test_options_that_people_guess(call, words, told):
    answer = call(*words.split())
    assert answer.code == 2
    assert told in answer.err


def test_a_ledger_alone_is_shown(call, files):
    answer = call("ledger", files / "book.sqlite")
    assert answer.code == 2
    assert "no such command" not in answer.err
