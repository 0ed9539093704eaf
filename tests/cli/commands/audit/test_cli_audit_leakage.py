"""``noisewright audit --prior --gain``: one adversary, and what anybody can gain."""

from __future__ import annotations

import json

import pytest

import noisewright as nw
from noisewright.qif.gains import Gain, partition

FIELDS = {
    "adversary",
    "gain",
    "prior",
    "posterior",
    "additive",
    "multiplicative",
    "bits",
    "best_guess",
    "best_actions",
    "worst_output",
    "capacity",
}


@pytest.fixture
def sure(files):
    path = files / "sure.csv"
    path.write_text("label,probability\nyes,0.1\nno,0.9\n")
    return path


@pytest.fixture
def treat(files):
    path = files / "treat.csv"
    path.write_text(",no,yes\nwait,1,0\ntreat,0.5,8\n")
    return path


def test_a_prior_alone_means_one_guess_of_the_secret(call, files, sure):
    data = call("audit", files / "response.csv", "--prior", sure, "--json").json["leakage"]
    assert set(data) == FIELDS
    assert data["adversary"] == {"prior": str(sure), "gain": "identity"}
    assert (data["prior"], data["posterior"]) == pytest.approx((0.9, 0.9))  # too sure to learn anything
    assert (data["multiplicative"], data["bits"], data["capacity"]) == (1, 0, 1.5)
    assert data["best_actions"] == [["no", "no"], ["yes", "no"]]
    assert data["worst_output"] == {"output": "no", "value": pytest.approx(0.675 / 0.7)}


def test_a_gain_alone_means_a_uniform_prior(call, files):
    data = call("audit", files / "line.csv", "--gain", "identity", "--json").json["leakage"]
    found = nw.leakage(nw.load(files / "line.csv"))
    assert data["adversary"] == {"prior": "uniform", "gain": "identity"}
    assert (data["prior"], data["posterior"], data["multiplicative"]) == (
        found.prior,
        found.posterior,
        found.multiplicative,
    )
    assert data["multiplicative"] == pytest.approx(data["capacity"])


def test_a_gain_from_a_file_is_matched_by_its_names(call, files, sure, treat):
    data = call("audit", files / "response.csv", "--prior", sure, "--gain", treat, "--json").json["leakage"]
    gain = Gain([[1, 0], [0.5, 8]], ["wait", "treat"], ["no", "yes"])
    found = nw.leakage(nw.load(files / "response.csv"), {"no": 0.9, "yes": 0.1}, gain)
    assert (data["prior"], data["posterior"]) == (found.prior, found.posterior)
    assert data["best_guess"] == "treat"
    assert data["best_actions"] == [["no", "wait"], ["yes", "treat"]]
    treat.write_text(",yes,no\nwait,0,1\ntreat,8,0.5\n")
    assert call("audit", files / "response.csv", "--prior", sure, "--gain", treat, "--json").json["leakage"] == data


def test_properties_partitions_and_metrics(call, files):
    channel = nw.load(files / "line.csv")
    blocks = files / "blocks.csv"
    blocks.write_text("secret,block\n0,low\n1,high\n2,high\n")
    for option, gain in (
        ("property:1,2", "property:1,2"),
        ("property:1..2", "property:1,2"),
        (f"partition:{blocks}", partition(channel.inputs, {0: "low", 1: "high", 2: "high"})),
        ("metric:line", "metric:line"),
        ("metric:0.5*line", "metric:line"),
    ):
        data = call("audit", files / "line.csv", "--gain", option, "--json").json["leakage"]
        assert data["posterior"] == pytest.approx(nw.leakage(channel, None, gain).posterior)
    table = call("audit", files / "response.csv", "--gain", f"metric:table:{files / 'distances.csv'}", "--json").json
    assert table["leakage"]["posterior"] == pytest.approx(0.75)


def test_the_page_tells_it_in_words(call, files, sure, treat, monkeypatch):
    monkeypatch.chdir(files)  # so that no line is broken within a long path
    page = call("audit", "response.csv", "--prior", sure.name, "--gain", treat.name).words
    assert "sure.csv says (2 possible secrets), and is after" in page
    assert "Before the output gains 1.25; best action: treat" in page
    assert "After the output gains 1.388: 1.11 times as much (0.1506 bits), 0.1375 more" in page
    assert "Best actions at output no: wait; at output yes: treat" in page
    assert "Luckiest output yes: gains 2.375" in page
    assert "Any adversary at most 1.5 times as much" in page
    plain = call("audit", files / "response.csv", "--gain", "property:yes").words
    assert "believes that all 2 secrets are equally likely, and is after property:yes" in plain
    assert "Adversary" not in call("audit", files / "response.csv").words


def test_signed_gains_have_no_ratio(call, files, treat):
    treat.write_text(",no,yes\nbet,1,-1\npass,0,0\n")
    data = call("audit", files / "response.csv", "--gain", treat, "--json").json["leakage"]
    assert (data["multiplicative"], data["bits"]) == (None, None)
    assert data["additive"] == pytest.approx(0.25)
    assert "gains 0.25: 0.25 more" in call("audit", files / "response.csv", "--gain", treat).words


def test_a_certificate_is_proved_and_its_table_measured(call, certificate):
    data = call("audit", certificate, "--gain", "metric:line", "--json").json
    assert data["certificate"]["proved"]
    channel = nw.load(certificate).channel()
    assert data["leakage"]["posterior"] == pytest.approx(nw.leakage(channel, None, "metric:line").posterior)


def test_many_outputs_are_not_listed_on_the_page(call, files):
    channel = nw.geometric(epsilon=1, within=(0, 9)).channel()
    nw.save(channel, files / "ten.json")
    assert "Best actions" not in call("audit", files / "ten.json", "--gain", "identity").words
    assert len(call("audit", files / "ten.json", "--gain", "identity", "--json").json["leakage"]["best_actions"]) == 10


REFUSED = [
    (("--gain", "identiti"), "choose identity, property:A,B, partition:FILE.csv, metric:NAME, or a FILE.csv"),
    (("--gain", "property:maybe"), "'maybe' is not one of the 2 secrets"),
    (("--gain", "property:no,yes"), "leaves a block empty"),
    (("--gain", "partition:gone.csv"), "there is no file gone.csv"),
    (("--gain", "metric:line"), "needs finite numbers"),
    (("--gain", "gone.csv"), "there is no file gone.csv"),
    (("--prior", "gone.csv"), "there is no file gone.csv"),
    (("--prior", ""), "--prior is uniform, or a file with a first row label,probability; it was empty"),
    (("--gain", ""), "there is no gain called ''"),
    (("--gain", "partition:"), "there is no gain called 'partition:'; choose identity"),
    (("--gain", "property:"), "there is no gain called 'property:'; choose identity"),
    (("--gain", "identity:"), "there is no gain called 'identity:'; choose identity"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_cannot_be_read_is_refused_in_a_sentence(call, files, options, words):
    answer = call("audit", files / "response.csv", *options)
    assert answer.code == 2
    assert words in answer.err
    assert call("audit", files / "response.csv", *options, "--json").code == 2


FILES = [
    ("prior.csv", "label,probability\nno,0.9\nmaybe,0.1\n", "--prior", "not among the 2 given ones"),
    ("prior.csv", "label,probability\nno,0.9\nyes,0.3\n", "--prior", "must sum to 1"),
    ("prior.csv", "no,0.9\nyes,0.1\n", "--prior", "label,probability"),
    ("gain.csv", ",no\nbet,1\n", "--gain", "no column for 1 of the 2 secrets (the one at place 1"),
    ("gain.csv", ",no,yes\nbet,1\n", "--gain", "a first row of names, then rows that start with a name of their own"),
    ("prior.csv", "", "--prior", "a first row of names"),
    ("gain.csv", ",no,yes\nbet,1,much\n", "--gain", "an entry is not a number"),
    ("blocks.csv", "secret,block\nno,one\n", "partition", "there is none for 1 of the 2 secrets (the one at place 1"),
    ("blocks.csv", "secret,block\nno,one\nno,two\nyes,one\n", "partition", "a secret occurs twice"),
    ("blocks.csv", "secret,block,why\nno,one,x\nyes,two,y\n", "partition", "two columns"),
    ("blocks.csv", "secret,block\nno,NaN\nyes,2\n", "partition", "NaN"),
]


@pytest.mark.parametrize(("name", "content", "option", "words"), FILES, ids=[words for *_, words in FILES])
def test_files_that_do_not_fit_are_refused_in_a_sentence(call, files, name, content, option, words):
    (files / name).write_text(content)
    given = ("--gain", f"partition:{files / name}") if option == "partition" else (option, files / name)
    answer = call("audit", files / "response.csv", *given)
    assert answer.code == 2
    assert words in answer.err


def test_a_certificate_without_a_channel_has_no_adversary_to_measure(call, files):
    path = files / "law.json"
    nw.save(nw.geometric(epsilon=1), path)
    answer = call("audit", path, "--gain", "identity")
    assert answer.code == 2
    assert "only the certificate's own claim can be shown" in answer.err
    assert json.loads(call("audit", path, "--json").out)["leakage"] is None
