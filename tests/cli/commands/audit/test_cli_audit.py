from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import noisewright as nw

FIELDS = {
    "file",
    "kind",
    "certificate",
    "secrets",
    "outputs",
    "metric",
    "metric_from",
    "smallest",
    "reading",
    "at_epsilon",
    "at_delta",
    "leakage",
}


def test_a_channel_of_words_is_audited_for_the_discrete_metric(call, files):
    answer = call("audit", files / "response.csv", "--json")
    assert answer.code == 0
    assert set(answer.json) == FIELDS
    assert answer.json["kind"] == "channel"
    assert (answer.json["secrets"], answer.json["outputs"]) == (2, 2)
    assert (answer.json["metric"], answer.json["metric_from"]) == ("discrete", "default")
    smallest = answer.json["smallest"]
    assert set(smallest) == {"epsilon", "metric", "delta", "pair", "output", "probabilities"}
    assert math.log(3) <= smallest["epsilon"] <= math.log(3) * (1 + 1e-12)
    assert sorted(smallest["pair"]) == ["no", "yes"]
    assert smallest["probabilities"] == [0.75, 0.25]
    assert answer.json["at_epsilon"] is None
    assert answer.json["at_delta"] is None
    assert answer.json["leakage"] is None


def test_a_channel_of_numbers_is_audited_along_the_line(call, files):
    data = call("audit", files / "line.csv", "--json").json
    assert data["metric"] == "line"
    assert data["smallest"]["epsilon"] == pytest.approx(math.log(2))
    assert "any two secrets at most 1 apart" in data["reading"]


def test_the_page_names_the_metric_the_pair_and_the_output(call, files):
    answer = call("audit", files / "response.csv", "--epsilon", "1", "--delta", "0.1")
    page = answer.words
    assert "2 secrets to 2 outputs" in page
    assert "1.099 between any two answers" in page  # ln 3 = 1.098612..., rounded up
    assert "no and yes" in page
    assert "probability 0.75 against 0.25" in page
    assert "At epsilon = 1" in page
    assert "At delta = 0.1" in page
    assert "75.1%" in page  # (2.6 + 0.1) / 3.6, from an epsilon that was rounded up
    assert max(map(len, answer.out.splitlines()[1:])) <= 100


def test_delta_at_epsilon_and_epsilon_at_delta_agree_with_the_library(call, files):
    channel = nw.load(files / "response.csv")
    data = call("audit", files / "response.csv", "--epsilon", "1/2", "--delta", "0.1", "--json").json
    assert set(data["at_epsilon"]) == {"epsilon", "metric", "delta", "pair", "outputs"}
    assert data["at_epsilon"]["delta"] == channel.delta("1/2")
    assert data["at_delta"]["epsilon"] == channel.epsilon_at("0.1").value
    assert data["at_delta"]["delta"] == 0.1
    assert "times as likely under one as under the other, plus 0.1." in data["at_delta"]["reading"]


def test_an_infinite_epsilon_is_said_in_words_and_as_a_string(call, files):
    assert call("audit", files / "leaky.csv", "--json").json["smallest"]["epsilon"] == "inf"
    page = call("audit", files / "leaky.csv").out
    assert "infinite: no epsilon will do" in page
    assert "No promise holds" in page


def test_a_channel_that_tells_nothing(call, files):
    data = call("audit", files / "constant.csv", "--json").json
    assert data["smallest"]["epsilon"] == 0
    assert data["smallest"]["pair"] is None
    assert call("audit", files / "constant.csv").code == 0


@pytest.mark.parametrize(
    ("metric", "factor"),
    [("line", 1), ("0.5*line", 2), ("1/4 * line", 4), ("discrete", 1), ("euclidean", 1), ("manhattan", 1)],
)
def test_metrics_on_numbers(call, files, metric, factor):
    data = call("audit", files / "line.csv", "--metric", metric, "--json").json
    assert data["metric_from"] == "option"
    assert data["smallest"]["epsilon"] == pytest.approx(factor * math.log(2))


@pytest.mark.parametrize("metric", ["hamming", "angular", "euclidean", "manhattan"])
def test_metrics_on_tuples(call, files, metric):
    channel = nw.Channel([[0.75, 0.25], [0.25, 0.75]], inputs=[(0, 1), (1, 0)])
    nw.save(channel, files / "tuples.npz")
    data = call("audit", files / "tuples.npz", "--metric", metric, "--json").json
    assert data["smallest"]["pair"] == [[0, 1], [1, 0]]
    assert data["smallest"]["epsilon"] == channel.epsilon(getattr(nw.metrics, metric.title())()).value


def test_a_table_of_distances_from_a_file_whatever_its_order(call, files):
    (files / "distances.csv").write_text(",yes,no\nno,2,0\nyes,0,2\n")
    data = call("audit", files / "response.csv", "--metric", f"table:{files / 'distances.csv'}", "--json").json
    assert data["metric"] == "table distances.csv"
    assert data["smallest"]["epsilon"] == pytest.approx(math.log(3) / 2)


def test_every_format_gives_the_same_audit(call, files):
    channel = nw.load(files / "line.csv")
    found = []
    for suffix in ("json", "csv", "npz"):
        nw.save(channel, files / f"again.{suffix}")
        found.append(call("audit", files / f"again.{suffix}", "--json").json["smallest"])
    assert found[0] == found[1] == found[2]


def test_a_certificate_of_a_table_is_proved_and_audited(call, certificate):
    data = call("audit", certificate, "--json").json
    assert data["kind"] == "certificate"
    assert data["certificate"]["proved"] is True
    assert data["certificate"]["epsilon"] == "1/3"
    assert data["metric_from"] == "certificate"
    assert data["smallest"]["epsilon"] <= 1 / 3 + 1e-9
    assert "proved: epsilon 0.3334 for each 1 of difference" in call("audit", certificate).words


@pytest.mark.parametrize(
    ("words", "secrets"),
    [
        (("geometric", "--epsilon", "1", "--within", "-5:5"), 11),
        (("geometric", "--epsilon", "1", "--sensitivity", "5", "--within", "0:50"), 51),
        (("randomised-response", "--epsilon", "0.5", "--categories", "a,b,c"), 3),
        (("metric-realising", "--epsilon", "1", "--points", "0:0,3:4", "--metric", "euclidean"), 2),
    ],
)
def test_every_kind_of_certificate_with_finitely_many_secrets_is_audited(call, files, words, secrets):
    path = files / "made.json"
    made = call("design", *words, "-o", path, "--json").json
    data = call("audit", path, "--json").json
    assert data["secrets"] == secrets
    assert data["metric"] == made["guarantee"]["metric"]
    assert data["smallest"]["epsilon"] == pytest.approx(made["guarantee"]["epsilon"], rel=1e-9)


def test_a_certificate_without_a_finite_channel_shows_its_claim_alone(call, files):
    path = files / "unbounded.json"
    call("design", "geometric", "--epsilon", "1", "-o", path)
    answer = call("audit", path, "--json")
    assert answer.code == 0
    assert answer.json["certificate"]["proved"] is True
    assert answer.json["smallest"] is None
    assert "infinitely many outputs" in call("audit", path).words
    assert "infinitely many outputs" in call("audit", path, "--metric", "line").err
    assert call("audit", path, "--epsilon", "1").code == 2


def test_an_edited_certificate_is_not_audited(call, certificate):
    document = json.loads(certificate.read_text())
    document["claim"]["epsilon"] = "1/4"
    certificate.write_text(json.dumps(document))
    answer = call("audit", certificate, "--json")
    assert answer.code == 1
    assert answer.json["certificate"]["proved"] is False
    assert answer.json["smallest"] is None
    assert "NOT PROVED" in call("audit", certificate).words


def test_names_from_a_file_cannot_command_the_terminal(call, files):
    path = files / "names.csv"
    path.write_text(f',"\x1b[2Jx",b\n[red]a,0.75,0.25\n{"long" * 50},0.25,0.75\n')
    page = call("audit", path).out
    assert "\x1b" not in page
    assert "\\x1b[2Jx" in page
    assert "[red]a" in page
    assert "long" * 20 not in page


def test_channels_are_only_read(call, files):
    before = {p: p.read_bytes() for p in Path(files).iterdir()}
    call("audit", files / "line.csv", "--epsilon", "1")
    assert {p: p.read_bytes() for p in Path(files).iterdir()} == before
